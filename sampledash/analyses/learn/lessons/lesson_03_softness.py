"""Lesson 3: on sampled negatives, a metric with a sharp cutoff is a smooth function of the rank."""

from typing import Any

import numpy as np

import sampledash as sd
from sampledash.analyses import sliding, theme
from sampledash.analyses.explore import words as explore
from sampledash.analyses.learn.lesson import CHIPS, WITHOUT, M, N, Numbers
from sampledash.grids import jumps, rank_grid
from sampledash.report.numbers import count, percent
from sampledash.types import Floats, Ints

LOOKS = ("Recall@10", "NDCG", "AP", "AUC")
FAR = 500
LADDER = (10, 20, 50, 99, 100, 200, 500, 1000, 2000, 5000, N - 1)
TOP = 1_000


def sampled(metric: sd.Metric, ranks: Ints, m: int) -> Floats:
    """Return the expected sampled metric at each true rank, with m of all N - 1 negatives.

    If m = N - 1, all negatives are drawn, and the metric is exact.
    """
    if m == N - 1:
        return metric(ranks, N)
    return np.asarray(sd.expected(metric, ranks, sd.Sampling(N, m, WITHOUT)))


def half_way(metric: sd.Metric, m: int) -> int:
    """Return the last true rank at which the expected metric is at least half of that at rank 1."""
    values = sampled(metric, np.arange(1, N + 1), m)
    return int(np.flatnonzero(values >= values[0] / 2)[-1]) + 1


def numbers(variant: str) -> Numbers:
    recall, metric = sd.parse_metric("Recall@10"), sd.parse_metric(variant)
    sampling = sd.Sampling(N, M, WITHOUT)
    asked, value = (float(sd.expected(x, FAR, sampling)) for x in (recall, metric))
    exact = float(metric(FAR, N))
    steps = explore.formula(metric, FAR, sampling, exact, value)
    right = min((0.0, 0.1, 0.5, 1.0), key=lambda share: abs(share - asked))
    return {
        "recall": asked,
        "right": f"about {100 * right:.0f} %",
        "better": f"{100 * FAR / N:g} %",
        "recall_half": half_way(recall, M),
        "drawn_above": M * FAR // N,
        "sampled_rank": 1 + M * FAR // N,
        "metric": str(metric),
        "chip": CHIPS[str(metric)],
        "value": value,
        "exact": exact,
        "half": half_way(metric, M),
        "exact_half": half_way(metric, N - 1),
        "steps": (*steps[1:-1], steps[-1].split(r",\qquad ")[-1]),
        "ten_m": 10 * M,
        "ten_half": half_way(recall, 10 * M),
    }


def picture(variant: str, revealed: bool, dark: bool) -> theme.Picture:
    """Draw the exact metric over the rank; with the answer ``revealed``, also the sampled metric.

    The sampled metric is drawn as its expected value; the slider sets the number of negatives m.
    """
    metric = sd.parse_metric(variant)
    keep = {FAR, *([] if metric.k is None else [metric.k, metric.k + 1])}
    keep.update(x for m in LADDER[:-1] for x in jumps(sd.Sampling(N, m, WITHOUT), metric)[::4])
    ranks = rank_grid(N, top=TOP, keep=sorted(keep))
    place = int(np.searchsorted(ranks, FAR))
    exact = sliding.Curve("exact", metric(ranks, N), theme.exact_line(dark, 2.5))
    true = f"all items {percent(float(exact.y[place]))}"
    head = f"<b>{metric} at rank {count(FAR)}</b>"
    upright = theme.upright(FAR, theme.look(dark).muted, dash="dot")
    layout: dict[str, Any] = {"shapes": [upright], "dark": dark}
    layout |= {"xaxis": theme.rank_axis(TOP, log=False), "yaxis": theme.percent_axis()}
    if not revealed:
        return sliding.before(ranks, [exact], f"{head}<br>╌╌ on {true}", **layout)
    line = theme.metric_line(metric, dark) | {"dash": "solid", "width": 3.5}
    steps = {}
    for m in LADDER:
        curve = sliding.Curve("sampled", sampled(metric, ranks, m), line)
        legend = f"<b>{count(m)} negatives {percent(float(curve.y[place]))}</b>"
        title = f"{head}   ╌╌ {true}<br>{sliding.colored(legend, curve.color)}"
        steps[count(m)] = sliding.lines(ranks, [curve]), title
    return sliding.sliding(sliding.lines(ranks, [exact]), steps, count(M), **layout)
