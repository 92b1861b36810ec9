"""Lesson 1: metrics give different weights to the positions of a ranked list."""

from typing import Any

import sampledash as sd
from sampledash.analyses import sliding, theme
from sampledash.analyses.learn.lesson import N, Numbers
from sampledash.grids import rank_grid

VISITED = (1, 2, 3, 5, 10, 11, 20, 50, 100, 101, 200, 500, 1000)
TOP = 1_000


def numbers(variant: str) -> Numbers:
    values: dict[str, str | float] = {}
    for name in ("Recall@10", "NDCG", "AUC", "AP"):
        metric, short = sd.parse_metric(name), name.partition("@")[0]
        first, second, tenth, eleventh, late, later = metric([1, 2, 10, 11, 100, 101], N).tolist()
        values |= {f"up_{short}": first - second, f"late_{short}": late - later}
        values |= {f"tenth_{short}": tenth - eleventh, f"ratio_{short}": first / second}
        values |= {f"first_{short}": first, f"second_{short}": second}
        if first == 2 * second:
            values["right"] = name
    return values


def picture(variant: str, revealed: bool, dark: bool) -> theme.Picture:
    """Draw four metrics over the rank, in grey until the answer to the question is ``revealed``."""
    ranks = rank_grid(TOP, keep=VISITED)
    grey = {"color": theme.look(dark).muted, "width": 2.5}
    curves = []
    for metric in map(sd.parse_metric, ("AUC", "NDCG", "AP", "Recall@10")):
        line = theme.metric_line(metric, dark) if revealed else grey
        curves.append(sliding.Curve(str(metric), metric(ranks, N), line))
    axes = {"xaxis": theme.rank_axis(TOP, title="rank"), "yaxis": theme.percent_axis()}
    layout: dict[str, Any] = {**axes, "dark": dark}
    if not revealed:
        title = "Four metrics over the rank. <b>Which is which?</b>"
        return sliding.before(ranks, curves, title, **layout)
    return sliding.along(ranks, curves, dict.fromkeys(VISITED, ""), 2, prefix="rank ", **layout)
