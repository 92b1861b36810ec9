"""Corrected curves of three real recommenders: a tab of the Correct page (Figure 6, Table 3)."""

from __future__ import annotations

import numpy as np
import pandas as pd
import streamlit as st

from sampledash.comparison.curves import expected_means
from sampledash.comparison.means import mean
from sampledash.comparison.order import Orders, largest_m, true_order
from sampledash.correction import Correction
from sampledash.dashboard import cache, caveats, charts
from sampledash.dashboard.consistency import pictures as figures
from sampledash.dashboard.correct import words
from sampledash.dashboard.correct.scene import Scene
from sampledash.metrics import Metric
from sampledash.protocol import Protocol
from sampledash.ranksets import RankSet
from sampledash.readers import example
from sampledash.report.numbers import count
from sampledash.types import Floats

DATA = "movielens-xyz"
MOST = 2_000  # largest m drawn, and at which corrections are fitted


@st.cache_resource(max_entries=1, show_spinner=False)
def _sets() -> list[RankSet]:
    return example(DATA)


def protocol(recipe: Correction) -> Protocol:
    """As in the paper: drawn without replacement, fitted with replacement."""
    return Protocol.of(
        {"scheme": "without-replacement", "fit_scheme": "with-replacement", "correction": recipe}
    )


def tab(scene: Scene) -> None:
    """Curves over m, uncorrected and corrected, and the numbers at the present m."""
    recipe = scene.taken
    if recipe.name == "least-squares" or recipe.gamma == 0:
        st.info(
            "γ = 0 has no usable vector beyond m of about 20: take another correction away.",
            icon=":material/info:",
        )
        return
    sets, metric = _sets(), scene.metric
    plain, fitted = _orders(metric, Correction()), _orders(metric, recipe)
    settled = [
        words.Settled(
            sets[i].system, sets[j].system, plain.right_from(i, j, 0, 1),
            fitted.right_from(i, j, 0, 1),
        )
        for i, j, truth in true_order(metric, sets, protocol(recipe)) if truth
    ]  # fmt: skip
    st.markdown(f"**{words.real_ranks(recipe, settled, MOST)}**")
    st.html(figures.legend([ranks.system for ranks in sets], dark=charts.is_dark()))
    for place, one in zip(st.columns(2), (Correction(), recipe), strict=True):
        with place:
            curves_of(metric, one, scene.sampling.m)
    st.caption(words.REAL_SETTING)
    _table(metric, recipe, min(scene.sampling.m, MOST))


def _orders(metric: Metric, recipe: Correction) -> Orders:
    """The orders over every m, or where each m takes a fit, up to ``MOST``."""
    chosen = protocol(recipe)
    m_max = largest_m(_sets(), None, chosen) if recipe == Correction() else MOST
    return cache.orders(
        f"{DATA}|{metric}|{chosen}|{m_max}", (metric,), _sets(), m_max, chosen, shared=True
    )


def curves_of(metric: Metric, recipe: Correction, m: int) -> None:
    """Draw one correction over m, with the present m; shaded where some pair is wrong."""
    sets, found, m = _sets(), _orders(metric, recipe), min(m, MOST)
    pairs = [(i, j) for i, j, truth in true_order(metric, sets, protocol(recipe)) if truth]
    keep = found.m_values <= MOST
    flips = sorted({x for i, j in pairs for x in found.flips(i, j, 0) if x <= MOST})
    wrong = np.any([found.signs(i, j, 0) != 1 for i, j in pairs], axis=0)[keep]
    known = found.m_values[keep]
    # The nearest known m to each of the ladder's: a fitted correction is not known at every one.
    wanted = np.searchsorted(known, figures.m_grid(MOST, [m, *flips]))
    grid = np.unique(known[np.minimum(wanted, len(known) - 1)])
    charts.show(
        figures.curves(
            f"{metric}, {recipe}", grid, [ranks.system for ranks in sets],
            found.means[np.searchsorted(found.m_values, grid), :, 0],
            [mean(metric, ranks) for ranks in sets], at=m, flips=flips,
            wrong=figures.stretches(known, wrong), dark=charts.is_dark(),
        ),
        key=f"correct_real_{'plain' if recipe == Correction() else 'fitted'}",
        alt="; ".join(
            f"{sets[i].system} and {sets[j].system} right from m = "
            f"{found.right_from(i, j, 0, 1) or 'none'}"
            for i, j in pairs
        ),
    )  # fmt: skip


def _table(metric: Metric, recipe: Correction, m: int) -> None:
    """Exact, sampled and corrected means with their scatter, as in Table 3."""
    sets = _sets()
    columns = {"recommender": [x.system for x in sets]}
    notes: list[str] = []
    columns["exact"] = [f"{100 * mean(metric, x):.2f}" for x in sets]
    for one in (Correction(), recipe):
        means, stds = _numbers(metric, one, m)
        columns[str(one)] = [words.plus_minus(a, b) for a, b in zip(means, stds, strict=True)]
        beyond = {each.system: [value] for each, value in zip(sets, means.tolist(), strict=True)}
        notes += caveats.outside(beyond, str(one))
    st.caption(f"{metric} in %, m = {count(m)}: expectation ± scatter of one run, as in Table 3.")
    st.dataframe(pd.DataFrame(columns), hide_index=True, key="correct_real_table")
    for note in notes:
        st.caption(note)


def _numbers(metric: Metric, recipe: Correction, m: int) -> tuple[Floats, Floats]:
    sets, chosen = _sets(), protocol(recipe)
    key = f"{DATA}|{metric}|{chosen}|{m}"
    scatter = cache.scatter(key, (metric,), sets, m, chosen, shared=True)
    return expected_means([metric], sets, [m], chosen)[0, :, 0], scatter[:, 0]
