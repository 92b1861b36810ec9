"""Figures 1-6 of the paper as ours."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import streamlit as st

from sampledash.comparison.means import mean
from sampledash.comparison.run_distribution import rank_distribution_at
from sampledash.correction import Correction, parse_correction
from sampledash.dashboard import cache, page, theme
from sampledash.dashboard.consistency import pictures as consistency
from sampledash.dashboard.correct import pictures as correct
from sampledash.dashboard.correct.result import MOVIELENS, Prior, expected
from sampledash.dashboard.correct.tabs import movielens_curves
from sampledash.dashboard.explore import pictures as explore
from sampledash.dashboard.explore.result import curves as expected_curves
from sampledash.dashboard.grid import rank_grid
from sampledash.dashboard.paper import checked
from sampledash.metrics import Metric, parse_metric
from sampledash.protocol import Protocol
from sampledash.sampling import Sampling, Scheme

N, M = 10_000, 100
_METRICS = tuple(map(parse_metric, ("AUC", "AP", "NDCG", "Recall@10")))
_HEIGHT = 300


def _pairs(draw: Callable[[Metric], None], metrics: Sequence[Metric]) -> None:
    """Panels, two in a row."""
    for start in range(0, len(metrics), 2):
        for place, metric in zip(st.columns(2), metrics[start : start + 2], strict=False):
            with place:
                draw(metric)


def figure_1() -> None:
    """Metrics over the rank."""
    dark, ranks = page.is_dark(), rank_grid(N, keep=[10, 11])
    data = [
        theme.curve(ranks, theme.in_percent(x(ranks, N)), theme.metric_line(x, dark), str(x))
        for x in _METRICS
    ]
    fig = theme.figure(
        data, dark=dark, showlegend=True, revision="paper-1",
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        xaxis=theme.rank_axis(N, title="true rank (log scale)"), yaxis=theme.percent_axis(),
    )  # fmt: skip
    page.picture(fig, key="paper_figure_1", alt="AUC, AP, NDCG and Recall@10 over the rank.")


def _over_m(name: str, metric: Metric, recipe: Correction, m_max: int, at: int) -> None:
    sets = list(checked.load(name))
    scheme: Scheme = "with-replacement" if name == "paper-abc" else "without-replacement"
    protocol = Protocol.of({"scheme": scheme, "correction": recipe})
    found = cache.orders((metric,), sets, m_max, protocol, shared=True)
    grid = consistency.m_grid(m_max, [at])
    page.picture(
        consistency.curves(
            str(metric), grid, [x.system for x in sets],
            found.means[np.searchsorted(found.m_values, grid), :, 0],
            [mean(metric, x) for x in sets], at=at, dark=page.is_dark(), height=_HEIGHT,
        ),
        key=f"paper_{name}_{metric}", alt=f"{metric} of {len(sets)} systems over m.",
    )  # fmt: skip


def figure_2() -> None:
    """The toy recommenders over m."""
    systems = [x.system for x in checked.load("paper-abc")]
    st.html(consistency.legend(systems, dark=page.is_dark()))
    _pairs(lambda x: _over_m("paper-abc", x, Correction(), N - 1, 99), _METRICS)


def figure_3() -> None:
    """Expected sampled metrics over the rank, for several m."""

    def draw(metric: Metric) -> None:
        ranks = rank_grid(N, keep=[10, 11])
        curves = {}
        for m in (1, 10, 100, 1000):
            sampling = Sampling(N, m)
            curves[m] = expected_curves((metric,), sampling, ranks)[1][0]
        page.picture(
            explore.family(
                metric, ranks, metric(ranks, N), curves, at=100, dark=page.is_dark(),
                height=_HEIGHT,
            ),
            key=f"paper_3_{metric}", alt=f"Expected {metric} over the rank for four m.",
        )  # fmt: skip

    _pairs(draw, _METRICS)


def figure_4() -> None:
    """Expected corrected metrics over the rank."""
    sampling = Sampling(N, M)
    names = ("uncorrected", "rank estimate", "CLS", "BV 0.1", "BV 0.01")

    def draw(metric: Metric) -> None:
        ranks = rank_grid(N, keep=[10, 11])
        found = {
            recipe: expected(metric, recipe, sampling, Prior(), ranks)
            for recipe in map(parse_correction, names)
        }
        page.picture(
            correct.expectation(
                metric, ranks, metric(ranks, N), found, focus=parse_correction("BV 0.1"),
                dark=page.is_dark(), height=_HEIGHT,
            ),
            key=f"paper_4_{metric}", alt=f"Expected corrected {metric} over the rank.",
        )  # fmt: skip

    _pairs(draw, _METRICS[1:])


def figure_5() -> None:
    """Where the relevant items of X, Y and Z stand."""
    sets = checked.load(MOVIELENS)
    edges = consistency.rank_edges(max(int(x.n.max()) for x in sets), top=False)
    shares = np.column_stack([rank_distribution_at(x, edges, ties="expected") for x in sets])
    page.picture(
        consistency.distribution(
            edges, [x.system for x in sets], np.diff(shares, axis=0, prepend=0.0),
            dark=page.is_dark(),
        ),
        key="paper_5", alt="Share of relevant items in stretches of ranks, per recommender.",
    )  # fmt: skip


def figure_6() -> None:
    """X, Y and Z over m, uncorrected and corrected."""
    st.html(consistency.legend([x.system for x in checked.load(MOVIELENS)], dark=page.is_dark()))
    recall = parse_metric("Recall@10")
    for place, name in zip(st.columns(2), ("uncorrected", "BV 0.1"), strict=True):
        with place:
            movielens_curves(recall, parse_correction(name), M)


DRAW = {f"Figure {i}": draw for i, draw in enumerate(
    (figure_1, figure_2, figure_3, figure_4, figure_5, figure_6), start=1)}  # fmt: skip
