"""The tabs of the Correct page on sampled ranks: estimates, true ranks, and which γ."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from sampledash.comparison.run_distribution import rank_distribution_at
from sampledash.dashboard import controls, page
from sampledash.dashboard.estimate import pictures, words
from sampledash.dashboard.estimate.result import Question, Result, estimates, pair_ranges
from sampledash.dashboard.grid import rank_grid
from sampledash.dashboard.words import NO_GAMMA, escaped, outside, system_name
from sampledash.report.numbers import percent

NAMES = ("Estimates", "True ranks", "Which γ")
VIEWS = ("Every estimator", "Pairs")
OFFERED = {"estimate_tab": NAMES, "estimates_view": VIEWS}
DEFAULTS: dict[str, Any] = {key: names[0] for key, names in OFFERED.items()}


def show(found: Result[Question]) -> None:
    """Only the open tab is computed."""
    draws = (_estimates, _true_ranks, _which_gamma)
    page.tabs({x: partial(f, found) for x, f in zip(NAMES, draws, strict=True)}, "estimate_tab")


def _estimates(found: Result[Question]) -> None:
    """All estimators side by side, or all pairs."""
    if controls.segments("Estimates", VIEWS, "estimates_view", hidden=True) == VIEWS[1]:
        _pairs(found)
        return
    table, wanted = estimates(found), found.question.methods
    printed = {"Estimator": wanted}
    for row, values in zip(found.rows, table[wanted].to_numpy(dtype=float), strict=True):
        printed[system_name(row.name)] = [percent(float(x)) for x in values]
    frame = pd.DataFrame(printed)
    if found.rows[0].exact is not None:
        known = [percent(row.exact or 0.0) for row in found.rows]
        frame.loc[len(frame)] = ["**on all items**", *known]
    st.table(frame, hide_index=True)
    for note in outside({name: table[name].tolist() for name in wanted}):
        st.caption(escaped(note))
    page.take(table, "estimates")


def _pairs(found: Result[Question]) -> None:
    """Every pair: the range of its difference, without and with the assumption."""
    if not found.pairs:
        lacking = "One system alone has no pair: add the sampled ranks of a second one."
        st.info(lacking, icon=":material/info:")
        return
    table = pair_ranges(found)
    first, second = table["first"].map(system_name), table["second"].map(system_name)
    low, high = table["low"], table["high"]
    printed = pd.DataFrame(
        {
            "Pair": first + " − " + second,
            "Assumption": table["assumption"],
            "Difference lies in": list(map(words.span, low, high)),
            "So": list(map(words.told, first, second, low, high)),
        }
    )
    page.table(printed, table, "pairs")


def _true_ranks(found: Result[Question]) -> None:
    """Where the relevant items stand, as estimated."""
    q = found.question
    grid = rank_grid(max(one.population for one in q.sets))
    try:
        estimated = q.shares_below(grid)
    except ValueError as error:
        st.info(escaped(str(error)), icon=":material/info:")
        return
    exact = {
        ranks.system: np.asarray(rank_distribution_at(ranks, grid, ties="expected"))
        for ranks in q.source.true
    }
    page.picture(
        pictures.ranks_below(grid, estimated, exact, dark=page.is_dark()),
        key="estimate_below",
        alt=f"Share of relevant items up to each true rank of {len(estimated)} systems.",
    )
    st.caption(
        "Estimated as the most likely distribution in which no rank is more frequent than a better "
        "one." + (" Dashed: as it is." if exact else "")
    )


def _which_gamma(found: Result[Question]) -> None:
    """Bias, scatter and error of the corrected mean against γ, for one system's ranks."""
    q = found.question
    names = [one.system for one in q.sets]
    place = names.index(st.selectbox("System", names, key="gamma_of")) if len(names) > 1 else 0
    if q.sets[place].is_adaptive:
        st.info(NO_GAMMA, icon=":material/info:")
        return
    table = q.gammas(q.sets[place])
    suggested, best = table.iloc[0], table.iloc[int(table["mse"].to_numpy().argmin())]
    st.markdown(f"**{words.best_gamma(dict(best), dict(suggested), str(q.metric))}**")
    ordered = table.sort_values("gamma")
    page.picture(
        pictures.errors_over_gamma(
            ordered,
            suggested=float(suggested["gamma"]),
            best=float(best["gamma"]),
            dark=page.is_dark(),
        ),
        key="estimate_gamma",
        alt=f"Bias, scatter and error over γ; least at γ = {best['gamma']:g}.",
    )
    st.caption(words.price_of_gamma(dict(ordered.iloc[0])))
    page.take(table, "gamma")
