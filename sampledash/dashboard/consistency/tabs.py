"""The tabs of the Consistency page; only the open one is computed. And the tab of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from sampledash.comparison.order import Orders
from sampledash.comparison.run_distribution import rank_distribution_at
from sampledash.dashboard import cache, page
from sampledash.dashboard.consistency import pictures as figures
from sampledash.dashboard.consistency import repeat, sure, words
from sampledash.dashboard.consistency.ask import CORRECTIONS, find, recipe
from sampledash.dashboard.consistency.choices import MOST_PAIRS
from sampledash.dashboard.consistency.parts import drawn
from sampledash.dashboard.consistency.result import Scene
from sampledash.dashboard.state import current
from sampledash.dashboard.words import escaped, outside, system_name
from sampledash.report.numbers import count, percent
from sampledash.types import Floats

NAMES = ("How sure", "Repeat it", "Numbers")
NUMBERS = ("Means", "Flips", "Distribution")
RANKS = ("whole range", "the top")
# What a link carries besides the choices of the page.
DEFAULTS: dict[str, Any] = {
    "answers": NAMES[0], "why": False, "numbers_view": NUMBERS[0], "distribution_view": RANKS[0],
    **sure.DEFAULTS, **repeat.DEFAULTS,
}  # fmt: skip
_EVERY = "_consistency_every_correction"


def show(scene: Scene, x: int, pair: int) -> None:
    """Draw the tabs about metric x and a pair."""
    first, second, table = st.tabs(list(NAMES), key="answers", bind="query-params")
    if first.open:
        with first:
            sure.tab(scene, x, pair)
    if second.open:
        with second:
            repeat.tab(scene, x, pair)
    if table.open:
        with table:
            view = st.segmented_control(
                "Numbers", list(NUMBERS), default=NUMBERS[0], required=True, key="numbers_view",
                bind="query-params", label_visibility="collapsed",
            )  # fmt: skip
            if view == "Flips":
                flips_view(scene, x, pair)
            elif view == "Distribution":
                distribution_view(scene, pair)
            else:
                means_view(scene, x)


def stds(scene: Scene) -> Floats:
    """Standard deviation of every mean of one run: (systems, metrics); NaN where not known."""
    asked = scene.asked
    try:
        return cache.scatter(
            asked.metrics, asked.sets, asked.m, asked.protocol,
            shared=asked.source.bundled,
        )  # fmt: skip
    except ValueError:  # several tied relevant items in one instance
        return np.full(scene.exact.shape, np.nan)


def means_table(scene: Scene) -> pd.DataFrame:
    """Exact mean, expected sampled mean and its scatter: one row per metric and system."""
    metrics, sampled, scatter = scene.asked.metrics, scene.sampled(), stds(scene)
    size = len(scene.systems)
    return pd.DataFrame(
        {
            "metric": [str(metric) for metric in metrics for _ in range(size)],
            "system": scene.systems * len(metrics),
            "exact": scene.exact.T.ravel(),
            "expected_sampled": sampled.T.ravel(),
            "std_of_mean": scatter.T.ravel(),
        }
    )


def means_view(scene: Scene, x: int) -> None:
    """Tables 1-3: printed as the papers print them, the metric in focus first."""
    with st.spinner("The scatter of one run", show_time=True):
        table = means_table(scene)
    size = len(scene.systems)
    order = [x, *(y for y in range(len(scene.asked.metrics)) if y != x)]
    most = max(1, page.MOST_ROWS // size)  # no metric is cut in two
    rows = pd.concat([table.iloc[y * size : (y + 1) * size] for y in order[:most]])
    rows = rows.head(page.MOST_ROWS)
    what = str(scene.asked.recipe) if scene.asked.recipe.by_rank else "Sampled"
    printed = pd.DataFrame(
        {
            "Metric": rows["metric"],
            "System": rows["system"].map(escaped),
            "Exact": rows["exact"].map(percent),
            f"{what}, m = {count(scene.asked.m)}": [
                f"{percent(e)[:-2]} ± {percent(s)}"
                for e, s in zip(rows["expected_sampled"], rows["std_of_mean"], strict=True)
            ],
        }
    )
    page.table(printed, table, "means", rows=len(table))
    beyond = {
        f"{metric} of {system}": [value]
        for metric, system, value in zip(
            table["metric"], table["system"], table["expected_sampled"], strict=True
        )
    }
    for note in outside(beyond, what):
        st.caption(escaped(note))
    here = table.iloc[x * size : (x + 1) * size]
    st.caption(words.scatter_note(list(here["expected_sampled"]), list(here["std_of_mean"])))


def flips_view(scene: Scene, x: int, pair: int) -> None:
    """Where the order of every pair changes and from where it is right, per correction."""
    key = scene.asked.key, scene.asked.m, current().gamma
    everything = st.session_state.get(_EVERY) == key
    table = flips_table(scene, pair, every=everything)
    here = table["metric"] == str(scene.asked.metrics[x])
    i, j = (scene.systems[end[pair]] for end in scene.ends)
    marked = (table["first"] == i) & (table["second"] == j)
    rows = table.iloc[np.lexsort((~marked, ~here))].head(page.MOST_ROWS)
    printed = pd.DataFrame(
        {
            "Metric": rows["metric"],
            "Correction": rows["correction"],
            "Pair": [
                f"{system_name(a)}, {system_name(b)}"
                for a, b in zip(rows["first"], rows["second"], strict=True)
            ],
            "Order changes at m": [words.flip_list(text) for text in rows["flips"]],
            "Right from m": ["–" if pd.isna(m) else count(m) for m in rows["right_from"]],
        }
    )
    page.table(printed, table, "flips", rows=len(table))
    if scene.pairs > MOST_PAIRS:
        st.caption(f"The marked and the {MOST_PAIRS} worst of {count(scene.pairs)} pairs.")
    if not everything:
        st.button(
            "Every correction", icon=":material/calculate:", key="flips_every",
            on_click=lambda: st.session_state.update({_EVERY: key}),
            help="The same for rank estimate, CLS and BV; takes some seconds.",
        )  # fmt: skip
    else:
        st.caption(
            "Uncorrected and rank estimate at every m; CLS and BV at 40 values of m up to 1,000, "
            "and between where the order changes."
        )


def flips_table(scene: Scene, pair: int, *, every: bool) -> pd.DataFrame:
    """One row per correction, metric and pair; of many pairs the marked and the worst."""
    pairs = list(range(scene.pairs))
    if len(pairs) > MOST_PAIRS:
        pairs = list(dict.fromkeys([pair, *scene.worst_pairs(MOST_PAIRS)]))
    found = {str(scene.asked.recipe): scene.found}
    if every:
        gamma = current().gamma or 0.1
        for name in CORRECTIONS:
            which = recipe(name, gamma)
            asked = scene.asked.with_correction(which)
            if str(which) not in found:
                found[str(which)] = find(asked)[0]
    rows = [
        _flip_row(scene, name, orders, x, p)
        for x in range(len(scene.asked.metrics))
        for p in pairs
        for name, orders in found.items()
    ]
    columns = ["metric", "correction", "first", "second", "flips", "right_from"]
    table = pd.DataFrame(rows, columns=columns)
    return table.astype({"right_from": "Int64"})


def _flip_row(scene: Scene, name: str, orders: Orders, x: int, p: int) -> tuple[object, ...]:
    i, j, truth = scene.pair(x, p)
    right = orders.right_from(i, j, x, 1) if truth else None
    a, b = (scene.systems[end[p]] for end in scene.ends)
    flips = " ".join(map(str, orders.flips(i, j, x)))
    return str(scene.asked.metrics[x]), name, a, b, flips, pd.NA if right is None else right


def distribution_view(scene: Scene, pair: int) -> None:
    """Where the relevant items stand (Figure 5)."""
    systems = drawn(scene, pair)
    sets = [scene.asked.sets[i] for i in systems]
    names = [scene.systems[i] for i in systems]
    largest = max(int(ranks.n.max()) for ranks in sets)
    view = st.segmented_control(
        "Ranks shown", list(RANKS), default=RANKS[0], required=True,
        key="distribution_view", bind="query-params",
    )  # fmt: skip
    edges = figures.rank_edges(largest, top=view == RANKS[1])
    ties = scene.asked.protocol.ties
    shares = np.column_stack([rank_distribution_at(ranks, edges, ties=ties) for ranks in sets])
    shares = np.diff(shares, axis=0, prepend=0.0)
    page.picture(
        figures.distribution(edges, names, shares, dark=page.is_dark()),
        key="consistency_distribution",
        alt=f"Share of relevant items in {len(edges)} stretches of ranks, per system.",
    )
    st.markdown(escaped(words.leaders(edges, names, shares)))
    table = pd.DataFrame({"rank_up_to": edges} | dict(zip(names, shares.T, strict=True)))
    page.take(table, "distribution")
