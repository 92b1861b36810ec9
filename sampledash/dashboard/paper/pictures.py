"""Figures 1-5 of the paper as ours, and Steck's theorem watched."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import plotly.graph_objects as go

from sampledash.comparison.means import mean
from sampledash.comparison.run_distribution import rank_distribution_at
from sampledash.correction import parse_correction
from sampledash.dashboard import cache, theme
from sampledash.dashboard.consistency import pictures as consistency
from sampledash.dashboard.correct import pictures as correct
from sampledash.dashboard.correct.result import MOVIELENS, Prior, expected
from sampledash.dashboard.explore import pictures as explore
from sampledash.dashboard.explore.result import curves as expected_curves
from sampledash.dashboard.grid import rank_grid
from sampledash.dashboard.paper.result import MOST_TIMES
from sampledash.dashboard.sliding import scatter
from sampledash.metrics import parse_metric
from sampledash.protocol import Protocol
from sampledash.readers import example
from sampledash.sampling import Sampling

N, M, DRAWN = 10_000, 100, 99
TOY = "paper-abc"
_METRICS = tuple(map(parse_metric, ("AUC", "AP", "NDCG", "Recall@10")))
_HEIGHT = 300


class Panel(NamedTuple):
    """A picture, its key on the page, and what it shows."""

    fig: go.Figure
    key: str
    alt: str


def figure_1(dark: bool) -> list[Panel]:
    """Metrics over the rank."""
    ranks = rank_grid(N, keep=[10, 11])
    data = [
        theme.curve(ranks, theme.in_percent(x(ranks, N)), theme.metric_line(x, dark), str(x))
        for x in _METRICS
    ]
    fig = theme.figure(
        data,
        dark=dark,
        showlegend=True,
        revision="paper-1",
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        xaxis=theme.rank_axis(N, title="true rank (log scale)"),
        yaxis=theme.percent_axis(),
    )
    return [Panel(fig, "paper_figure_1", "AUC, AP, NDCG and Recall@10 over the rank.")]


def figure_2(dark: bool) -> list[Panel]:
    """The toy recommenders over m."""
    sets, protocol = example(TOY), Protocol.of({"scheme": "with-replacement"})
    grid = consistency.m_grid(N - 1, [DRAWN])
    panels = []
    for metric in _METRICS:
        found = cache.orders((metric,), sets, N - 1, protocol, shared=True)
        means = found.means[np.searchsorted(found.m_values, grid), :, 0]
        names, exact = [x.system for x in sets], [mean(metric, x) for x in sets]
        look: dict[str, Any] = {"at": DRAWN, "dark": dark, "height": _HEIGHT}
        fig = consistency.curves(str(metric), grid, names, means, exact, **look)
        alt = f"{metric} of {len(sets)} systems over m."
        panels.append(Panel(fig, f"paper_{TOY}_{metric}", alt))
    return panels


def figure_3(dark: bool) -> list[Panel]:
    """Expected sampled metrics over the rank, for several m."""
    ranks = rank_grid(N, keep=[10, 11])
    panels = []
    for metric in _METRICS:
        curves = {
            m: expected_curves((metric,), Sampling(N, m), ranks)[1][0] for m in (1, 10, 100, 1000)
        }
        look: dict[str, Any] = {"at": 100, "dark": dark, "height": _HEIGHT}
        fig = explore.family(metric, ranks, metric(ranks, N), curves, **look)
        alt = f"Expected {metric} over the rank for four m."
        panels.append(Panel(fig, f"paper_3_{metric}", alt))
    return panels


def figure_4(dark: bool) -> list[Panel]:
    """Expected corrected metrics over the rank."""
    ranks, sampling = rank_grid(N, keep=[10, 11]), Sampling(N, M)
    names = ("uncorrected", "rank estimate", "CLS", "BV 0.1", "BV 0.01")
    focus = parse_correction("BV 0.1")
    panels = []
    for metric in _METRICS[1:]:
        found = {
            x: expected(metric, x, sampling, Prior(), ranks) for x in map(parse_correction, names)
        }
        look: dict[str, Any] = {"focus": focus, "dark": dark, "height": _HEIGHT}
        fig = correct.expectation(metric, ranks, metric(ranks, N), found, **look)
        alt = f"Expected corrected {metric} over the rank."
        panels.append(Panel(fig, f"paper_4_{metric}", alt))
    return panels


def figure_5(dark: bool) -> list[Panel]:
    """Where the relevant items of X, Y and Z stand."""
    sets = example(MOVIELENS)
    edges = consistency.rank_edges(max(int(x.n.max()) for x in sets), top=False)
    up_to = np.column_stack([rank_distribution_at(x, edges, ties="expected") for x in sets])
    shares = np.diff(up_to, axis=0, prepend=0.0)
    fig = consistency.distribution(edges, [x.system for x in sets], shares, dark=dark)
    return [
        Panel(fig, "paper_5", "Share of relevant items in stretches of ranks, per recommender.")
    ]


FIGURES: Mapping[str, Callable[[bool], list[Panel]]] = {
    f"Figure {number}": draw
    for number, draw in enumerate((figure_1, figure_2, figure_3, figure_4, figure_5), start=1)
}


def missing(times: int, found: pd.DataFrame, dark: bool) -> list[Panel]:
    """TOPK and ATOP of all relevant items and of the observed ones."""
    panels = []
    for row, measure in enumerate(found["measure"].unique()):
        each, line = (
            found[found["measure"] == measure],
            theme.metric_line(parse_metric(measure), dark),
        )
        color, ink = line["color"], theme.look(dark).ink
        at = each["times"].to_numpy()
        complete, seen = (100 * each[name].to_numpy() for name in ("complete", "observed"))
        marker = {"size": 11, "color": color}
        data = [
            theme.curve(at, complete, theme.exact_line(dark), "all relevant items"),
            theme.curve(at, seen, {**line, "dash": "solid"}, "observed ones"),
            scatter("markers", [times], [float(seen[times - 1])], marker=marker, showlegend=False),
        ]
        names = [
            theme.name_at(MOST_TIMES, float(y[-1]), name, shade, log=False, side="left")
            | {"yanchor": "bottom"}
            for name, y, shade in (("all", complete, ink), ("observed", seen, color))
        ]
        every = np.r_[seen, complete]
        low, high, room = float(every.min()), float(every.max()), 0.15 * float(np.ptp(every))
        fig = theme.figure(
            data,
            dark=dark,
            height=260,
            title=measure,
            title_color=color,
            revision=f"missing-{measure}",
            annotations=names,
            showlegend=False,
            xaxis={"title": {"text": "times as often"}, "range": [0.5, MOST_TIMES + 0.5]},
            yaxis=theme.percent_axis(high + room, low=low - room),
            shapes=[theme.upright(times, theme.look(dark).muted)],
        )
        alt = f"{measure} of the observed relevant items over how unevenly they are observed."
        panels.append(Panel(fig, f"paper_missing_{row}", alt))
    return panels
