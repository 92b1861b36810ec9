"""Metrics weigh positions differently."""

from __future__ import annotations

from typing import Any

import plotly.graph_objects as go

import sampledash as sd
from sampledash.dashboard import sliding, theme
from sampledash.dashboard.explore.result import rank_grid
from sampledash.dashboard.learn.lesson import N, Numbers
from sampledash.dashboard.sliding import Curve

TEXT = r"""
title: Metrics weigh positions differently
setup: One relevant item among n = $n candidates.
question: The relevant item climbs from rank 2 to rank 1. Which metric doubles?
choice: AP | AP: it is 1/r, so rank 1 is worth twice rank 2.
choice: NDCG | NDCG: it falls with the logarithm: rank 1 is worth $ratio_NDCG:2f times rank 2.
choice: Recall@10 | Recall@10: ranks 1 to 10 are worth the same to it, and all others nothing.
choice: AUC | AUC: every step is worth the same to it, $up_AUC:points, wherever it happens.
right: $right
sentence: From rank 2 to 1 AP doubles, $second_AP to $first_AP; NDCG gains $up_NDCG:points,
    AUC $up_AUC:points, Recall@10 nothing. From rank 101 to 100 AP gains $late_AP:points,
    NDCG $late_NDCG:points, AUC $late_AUC:points.
formula: \mathrm{AP}(r) = \tfrac1r,\quad \mathrm{NDCG}(r) = \tfrac{1}{\log_2(r+1)},\qquad
    \mathrm{Recall}_{10}(r) = \delta(r \le 10),\quad \mathrm{AUC}(r) = \tfrac{n-r}{n-1}
formula: \frac{\mathrm{AP}(1)}{\mathrm{AP}(2)} = $ratio_AP:0f,\quad
    \frac{\mathrm{NDCG}(1)}{\mathrm{NDCG}(2)} = $ratio_NDCG:2f,\qquad
    \frac{\mathrm{AUC}(1)}{\mathrm{AUC}(2)} = $ratio_AUC:4f
why: Users look at the top of a list. A metric is chosen for how much it cares about the top;
    sampling is about to change exactly that.
source: Section 3.1, Figure 1, eq. 7-13
link: explore | metrics=Recall@k&metrics=NDCG&metrics=AP&metrics=AUC | The four metrics in Explore
minutes: 5
misconception: “All metrics measure the same, more or less.” They agree on perfect and on hopeless
    rankings, and weigh everything between differently.
misconception: “Recall@10 cares about the order in the top ten.” It does not.
exercise: An item climbs from rank 11 to rank 10. What do Recall@10, AP and AUC (n = $n) gain?
    | Recall@10 $tenth_Recall:points, AP $tenth_AP:points, AUC $tenth_AUC:points.
"""

VISITED = (1, 2, 3, 5, 10, 11, 20, 50, 100, 101, 200, 500, 1000)
TOP = 1_000


def numbers(look: str) -> Numbers:
    found: dict[str, str | float] = {}
    for name in ("Recall@10", "NDCG", "AUC", "AP"):
        metric, short = sd.parse_metric(name), name.partition("@")[0]
        first, second, tenth, eleventh, late, later = metric([1, 2, 10, 11, 100, 101], N).tolist()
        found |= {f"up_{short}": first - second, f"late_{short}": late - later}
        found |= {f"tenth_{short}": tenth - eleventh, f"ratio_{short}": first / second}
        found |= {f"first_{short}": first, f"second_{short}": second}
        if first == 2 * second:
            found["right"] = name
    return found


def picture(look: str, revealed: bool, dark: bool) -> go.Figure:
    """Four metrics over the rank."""
    ranks = rank_grid(TOP, keep=VISITED)
    grey = {"color": theme.look(dark).muted, "width": 2.5}
    curves = []
    for metric in map(sd.parse_metric, ("AUC", "NDCG", "AP", "Recall@10")):
        line = theme.metric_line(metric, dark) if revealed else grey
        curves.append(Curve(str(metric), metric(ranks, N), line))
    axes = {"xaxis": theme.rank_axis(TOP, title="rank (log scale)"), "yaxis": theme.percent_axis()}
    layout: dict[str, Any] = {**axes, "revision": "weights", "dark": dark}
    if not revealed:
        title = "Four metrics over the rank. <b>Which is which?</b>"
        return sliding.before(ranks, curves, title, **layout)
    return sliding.along(ranks, curves, dict.fromkeys(VISITED, ""), 2, prefix="rank ", **layout)
