"""The parts of the Consistency page: its sentence, pictures, numbers and tables."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from sampledash.comparison.distribution import rank_distribution_at
from sampledash.comparison.order import TIED
from sampledash.dashboard import cache, charts, controls
from sampledash.dashboard.consistency_scene import Scene
from sampledash.dashboard.rank_source import escaped
from sampledash.dashboard.rank_source import shown as shown_name
from sampledash.explain import consistency as words
from sampledash.explain.text import count, percent
from sampledash.figures import consistency as figures
from sampledash.setting import Setting

CUTOFFS = (1, 5, 10, 20, 50, 100)
DEFAULTS: dict[str, Any] = {"also_k": [], "shown": None, "distribution_view": "whole range"}
MOST_PAIRS = 10  # of the tile map
MOST_EXACT = 4  # systems whose exact lines are all drawn
MOST_ROWS = 8  # of a table on the page


def more_cutoffs() -> None:
    """Further cutoffs, next to the one of the sidebar."""
    st.pills(
        "Also at k =", list(CUTOFFS), selection_mode="multi", default=DEFAULTS["also_k"],
        key="also_k", bind="query-params", help="Several cutoffs at once, for metrics with @k.",
    )  # fmt: skip


def focus_controls(scene: Scene) -> tuple[int, int]:
    """Which metric the sentence is about and which pair the curves mark: two indices."""
    metrics = [str(metric) for metric in scene.asked.metrics]
    shown = 0
    left, right = st.columns([3, 2], vertical_alignment="bottom")
    if len(metrics) > 1:
        picked = left.segmented_control(
            "In words and numbers", metrics, default=metrics[0], required=True, key="shown",
            bind="query-params", help="The metric of the sentence and of the numbers.",
        )  # fmt: skip
        shown = metrics.index(picked) if picked in metrics else 0
    pairs = scene.pairs(shown)
    labels = [f"{scene.systems[i]}, {scene.systems[j]}" for i, j, _ in pairs]
    worst = scene.worst_pair(shown)
    with right:
        pair = st.selectbox(
            "Marked pair", range(len(pairs)), index=worst, format_func=lambda i: labels[i],
            key=f"pair_{len(pairs)}_{shown}_{scene.asked.source.key[:12]}",
            help="Red stretches of the curves: where sampling orders this pair wrongly.",
        )  # fmt: skip
    return shown, int(pair)


def headline(scene: Scene, shown: int) -> None:
    """The verdict on the metric in focus."""
    rows = scene.rows(shown)
    icon, color, _ = words.STATES[words.overall(list(rows["state"]))]
    sampled = scene.sampled()[:, shown]
    names = [shown_name(name) for name in scene.systems]
    sentence = words.sentence(
        str(scene.asked.metrics[shown]), scene.asked.m, names, scene.exact[:, shown], sampled,
        rows, scene.m_max,
    )  # fmt: skip
    word = words.overall(list(rows["state"]))
    st.markdown(f"### :{color}-badge[{icon} {word}] {sentence}")
    if note := scene.note():
        st.caption(note)
    if scene.capped:
        st.caption(f"Every m up to {count(scene.m_max)} is looked at; the data go further.")


def tiles(scene: Scene, *, dim: bool) -> None:
    """Pairs by metrics; of many pairs the worst."""
    table = scene.table
    if len(scene.systems) > 5:
        # Which of a pair is better depends on the metric; the pair does not.
        named = [frozenset(pair) for pair in zip(table["better"], table["worse"], strict=True)]
        badness = table["state"].map({"wrong": 0, "undecided": 1, "right": 2, "tied": 3})
        order = np.lexsort((table["probability"].fillna(1.0), badness))
        worst = list(dict.fromkeys(named[i] for i in order))[:MOST_PAIRS]
        total = len(set(named))
        table = table[[pair in worst for pair in named]]
        st.caption(f"The {len(worst)} worst of {count(total)} pairs.")
    charts.show(
        figures.tiles(table, dark=charts.is_dark()), key="consistency_tiles", dim=dim,
        alt="; ".join(
            f"{r.metric}: {r.better} over {r.worse}: {r.state}" for r in table.head(12).itertuples()
        ),
    )  # fmt: skip


def curves(scene: Scene, pair: int, *, dim: bool) -> None:
    """One panel a metric, three in a row."""
    metrics = scene.asked.metrics
    per_row = 2 if len(metrics) == 4 else min(len(metrics), 3)
    st.html(figures.legend(scene.systems, dark=charts.is_dark()))
    panels = st.container(key="panels")
    for start in range(0, len(metrics), per_row):
        columns = panels.columns(per_row)
        for x, place in zip(
            range(start, min(start + per_row, len(metrics))), columns, strict=False
        ):
            with place:
                _panel(scene, x, pair, dim)


def _panel(scene: Scene, x: int, pair: int, dim: bool) -> None:
    m = scene.found.m_values
    i, j, truth = scene.pairs(x)[pair]
    flips = scene.found.flips(i, j, x)
    exact = scene.exact[:, x]
    if len(scene.systems) > MOST_EXACT:  # more dashed lines than anyone could tell apart
        exact = np.where(np.isin(np.arange(len(exact)), (i, j)), exact, np.nan)
    grid = figures.m_grid(scene.m_max, [scene.asked.m, *flips, *(f - 1 for f in flips)])
    means = scene.found.means[np.searchsorted(m, grid), :, x]
    signs = scene.found.signs(i, j, x)
    wrong = figures.stretches(m, signs == -1) if truth else []
    charts.show(
        figures.curves(
            str(scene.asked.metrics[x]), grid, scene.systems, means, exact,
            at=scene.asked.m, wrong=wrong, flips=flips, dark=charts.is_dark(),
            height=380 if len(scene.asked.metrics) <= 3 else 300,
        ),
        key=f"consistency_{scene.asked.metrics[x]}", dim=dim,
        alt=words.flips(scene.systems[i], scene.systems[j], flips, scene.right_from(x, pair)),
    )  # fmt: skip
    if not dim:
        first, second = shown_name(scene.systems[i]), shown_name(scene.systems[j])
        st.caption(words.flips(first, second, flips, scene.right_from(x, pair)))


def numbers(scene: Scene, shown: int) -> None:
    """The strip: four numbers of the metric in focus."""
    rows = scene.rows(shown)
    ordered = rows[rows["state"] != "tied"]
    last = ordered["right_from"]
    right_from = "–" if not len(ordered) or last.isna().any() else count(last.max())
    chance = ordered["probability"].min() if len(ordered) else float("nan")
    true_now = int((ordered["sampled"] > TIED).sum())
    instances = max(ranks.n_instances for ranks in scene.asked.source.sets)
    for place, (label, value, about) in zip(
        st.container(key="strip").columns(4),
        (
            ("Pairs in true order", f"{true_now} of {len(ordered)}", "In expectation, at this m."),
            ("Right from m", right_from, "From here on every pair stays in its true order."),
            ("Chance, worst pair", percent(chance),
             "That one sampled run shows the true order of the pair least likely to be shown."),
            ("Instances", count(instances), "Each with its relevant items and its negatives."),
        ),
        strict=True,
    ):  # fmt: skip
        place.metric(label, value, help=about)


def distribution_tab(scene: Scene) -> None:
    """Where the relevant items stand (Figure 5)."""
    largest = max(int(ranks.n.max()) for ranks in scene.asked.source.sets)
    view = st.segmented_control(
        "Ranks shown", ["whole range", "the top"], default="whole range", required=True,
        key="distribution_view", bind="query-params",
    )  # fmt: skip
    edges = figures.rank_edges(largest, top=view == "the top")
    shares = np.column_stack([rank_distribution_at(x, edges) for x in scene.asked.source.sets])
    shares = np.diff(shares, axis=0, prepend=0.0)
    charts.show(
        figures.distribution(edges, scene.systems, shares, dark=charts.is_dark()),
        key="consistency_distribution",
        alt=f"Share of relevant items in {len(edges)} stretches of ranks, per system.",
    )
    best = words.leaders(edges, scene.systems, shares)
    st.markdown(escaped(best))


def numbers_table(scene: Scene) -> pd.DataFrame:
    """Exact mean, expected sampled mean and its scatter: one row per metric and system."""
    asked = scene.asked
    setting = Setting.of(asked.options)
    scatter = cache.scatter(
        f"{asked.source.key}|{asked.metrics}|{setting}|{asked.m}",
        asked.metrics, asked.source.sets, asked.m, setting, shared=asked.source.bundled,
    )  # fmt: skip
    sampled = scene.sampled()
    return pd.DataFrame(
        [
            (str(metric), name, scene.exact[i, x], sampled[i, x], scatter[i, x])
            for x, metric in enumerate(asked.metrics)
            for i, name in enumerate(scene.systems)
        ],
        columns=["metric", "system", "exact", "expected_sampled", "std_of_mean"],
    )


def numbers_tab(scene: Scene, shown: int) -> None:
    """Tables 1-3, left: printed as the papers print them."""
    table = numbers_table(scene)
    here = table[table["metric"] == str(scene.asked.metrics[shown])]
    others = table.drop(here.index)
    whole = max(MOST_ROWS - len(here), 0) // len(here) * len(here)  # no metric is cut in two
    order = pd.concat([here, others.head(whole)]).head(MOST_ROWS)
    printed = pd.DataFrame(
        {
            "Metric": order["metric"],
            "System": order["system"].map(escaped),
            "Exact": order["exact"].map(percent),
            f"Sampled, m = {count(scene.asked.m)}": [
                f"{percent(e)[:-2]} ± {percent(s)}"
                for e, s in zip(order["expected_sampled"], order["std_of_mean"], strict=True)
            ],
        }
    )
    st.table(printed, hide_index=True)
    if len(table) > len(order):
        st.caption(f"{len(order)} of {len(table)} rows; all of them are in the download.")
    st.caption(words.scatter_note(list(here["expected_sampled"]), list(here["std_of_mean"])))
    controls.download("Download the table", lambda: csv(table), "sampledash-means.csv", "text/csv")


def csv(table: pd.DataFrame) -> str:
    """Render a table as CSV; a leading sign that a spreadsheet would run gets an apostrophe."""
    safe = table.copy()
    for name in safe.columns[safe.dtypes.map(str).isin(["str", "object"])]:
        safe[name] = [f"'{v}" if str(v)[:1] in "=+-@" and str(v) else v for v in safe[name]]
    return str(safe.to_csv(index=False))


def why(scene: Scene, shown: int) -> None:
    """Definition 1 of the paper, with the numbers of the page."""
    st.markdown(
        "Consistent means: whichever of two systems is ahead on all items is ahead on the sample "
        "too, in expectation. It is not so when the left side holds and the right does not:"
    )
    instances = max(ranks.n_instances for ranks in scene.asked.source.sets)
    for step in words.formula(str(scene.asked.metrics[shown]), scene.asked.m, instances):
        st.latex(step)
    st.caption(
        "Krichene & Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, Definition 1. "
        "MovieLens ranks: Harper & Konstan 2015."
    )
