"""Metrics weigh positions differently."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

from sampledash.dashboard import sliding, theme
from sampledash.dashboard.grid import rank_grid
from sampledash.dashboard.learn.lesson import N, Numbers
from sampledash.dashboard.sliding import Curve
from sampledash.metrics import parse_metric
from sampledash.report.numbers import percent, points

VISITED = (1, 2, 3, 5, 10, 11, 20, 50, 100, 101, 200, 500, 1000)
TOP = 1_000


def numbers(look: str) -> Numbers:
    found = {}
    ratios = {}
    for name in ("AP", "NDCG", "Recall@10", "AUC"):
        metric, short = parse_metric(name), name.partition("@")[0]
        first, second, tenth, eleventh, late, later = metric([1, 2, 10, 11, 100, 101], N).tolist()
        ratios[name] = first / second
        found[f"up_{short}"] = points(first - second)
        found[f"late_{short}"] = points(late - later)
        found[f"tenth_{short}"] = points(tenth - eleventh)
    first, second = parse_metric("AP")([1, 2], N).tolist()
    return found | {
        "first": percent(first),
        "second": percent(second),
        "right": next(name for name in ratios if abs(ratios[name] - 2) < 1e-12),
        "ratio_AP": f"{ratios['AP']:.0f}",
        "ratio_NDCG": f"{ratios['NDCG']:.2f}",
        "ratio_AUC": f"{ratios['AUC']:.4f}",
    }


def picture(look: str, revealed: bool, dark: bool) -> go.Figure:
    """Four metrics over the rank."""
    ranks = rank_grid(TOP, keep=VISITED)
    grey = {"color": theme.look(dark).muted, "width": 2.5}
    curves = []
    for metric in map(parse_metric, ("AUC", "NDCG", "AP", "Recall@10")):
        line = theme.metric_line(metric, dark) if revealed else grey
        curves.append(Curve(str(metric), metric(ranks, N), line))
    layout: dict[str, Any] = {
        "xaxis": theme.rank_axis(TOP, title="rank (log scale)"),
        "yaxis": theme.percent_axis(100.0),
        "revision": "weights",
        "dark": dark,
    }
    if not revealed:
        title = "Four metrics over the rank. <b>Which is which?</b>"
        return sliding.before(ranks, curves, title, **layout)
    says = dict.fromkeys(VISITED, "")
    return sliding.along(ranks, curves, says, 2, prefix="rank ", **layout)
