"""Sharp metrics turn soft."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

import sampledash as sd
from sampledash.dashboard import sliding, theme
from sampledash.dashboard.explore import words as explore
from sampledash.dashboard.explore.result import jumps, rank_grid
from sampledash.dashboard.learn.lesson import CHIPS, WITHOUT, M, N, Numbers
from sampledash.dashboard.sliding import Curve
from sampledash.report.numbers import count, percent
from sampledash.types import Floats, Ints

TEXT = """
title: Sharp metrics turn soft
setup: n = $n. On all items Recall@10 is 100 % up to rank 10, and nothing after it.
question: With m = $m negatives, what is the expected Recall@10 at rank $far?
choice: about 0 % | $recall: that is Recall@10 on all items. In the sample the item is far better
    placed.
choice: about 10 % | $recall: a tenth is right for an item at a random rank; only $better of the
    items are as good as rank $far.
choice: about 50 % | $recall: half is reached only at rank $recall_half.
choice: about 100 % | $recall: of $m negatives about $drawn_above are above it, so its sampled rank
    is about $sampled_rank: in the top ten.
right: $right
sentence: With $m negatives rank $far scores $metric = $value in expectation, on all items $exact.
    Half of its best value is reached at rank $half, on all items at rank $exact_half.
formula: $steps
why: The sampled metric rewards rank $far nearly as the top. A recommender that avoids bad ranks
    can beat one that finds good ones, under the name of a top-10 metric.
source: Section 4.3, Figure 3, eq. 16 and 18
link: explore | rank=$far&metrics=$chip&view=top 1,000 | $metric at rank $far in Explore
minutes: 8
misconception: “Sampling adds noise around the true metric.” It changes the expectation: no number
    of runs averages that away.
misconception: “1,000 negatives are enough.” Move m: the curve is still far from the dashed one.
exercise: At which rank does the expected Recall@10 fall to one half for m = $m and for m = $ten_m
    (n = $n)? | $recall_half and $ten_half: about n·k/m.
"""

LOOKS = ("Recall@10", "NDCG", "AP", "AUC")
FAR = 500
LADDER = (10, 20, 50, 99, 100, 200, 500, 1000, 2000, 5000, N - 1)
TOP = 1_000


def sampled(metric: sd.Metric, ranks: Ints, m: int) -> Floats:
    """Expected sampled metric; with all negatives it is the exact one."""
    if m == N - 1:
        return metric(ranks, N)
    return np.asarray(sd.expected(metric, ranks, sd.Sampling(N, m, WITHOUT)))


def half_way(metric: sd.Metric, m: int) -> int:
    """The last rank whose expected sampled metric is at least half of that of rank 1."""
    values = sampled(metric, np.arange(1, N + 1), m)
    return int(np.flatnonzero(values >= values[0] / 2)[-1]) + 1


def numbers(look: str) -> Numbers:
    recall, metric = sd.parse_metric("Recall@10"), sd.parse_metric(look)
    sampling = sd.Sampling(N, M, WITHOUT)
    asked, value = (float(sd.expected(x, FAR, sampling)) for x in (recall, metric))
    exact = float(metric(FAR, N))
    steps = explore.formula(metric, FAR, sampling, exact, value)
    right = min((0.0, 0.1, 0.5, 1.0), key=lambda share: abs(share - asked))
    return {
        "far": FAR,
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


def picture(look: str, revealed: bool, dark: bool) -> go.Figure:
    """A sharp metric turns soft (Figure 3)."""
    metric = sd.parse_metric(look)
    keep = {FAR, *([] if metric.k is None else [metric.k, metric.k + 1])}
    keep.update(x for m in LADDER[:-1] for x in jumps(sd.Sampling(N, m, WITHOUT), metric)[::4])
    ranks = rank_grid(N, top=TOP, keep=sorted(keep))
    here = int(np.searchsorted(ranks, FAR))
    exact = Curve("exact", metric(ranks, N), theme.exact_line(dark, 2.5))
    true = f"all items {percent(float(exact.y[here]))}"
    head = f"<b>{metric} at rank {count(FAR)}</b>"
    upright = theme.upright(FAR, theme.look(dark).muted, dash="dot")
    layout: dict[str, Any] = {"shapes": [upright], "revision": f"soft-{look}", "dark": dark}
    layout |= {"xaxis": theme.rank_axis(TOP, log=False), "yaxis": theme.percent_axis()}
    if not revealed:
        return sliding.before(ranks, [exact], f"{head}<br>╌╌ on {true}", **layout)
    line = theme.metric_line(metric, dark) | {"dash": "solid", "width": 3.5}
    steps = []
    for m in LADDER:
        curve = Curve("sampled", sampled(metric, ranks, m), line)
        said = f"<b>{count(m)} negatives {percent(float(curve.y[here]))}</b>"
        title = f"{head}   ╌╌ {true}<br>{sliding.colored(said, curve.color)}"
        steps.append(sliding.Step(count(m), sliding.lines(ranks, [curve]), title))
    return sliding.sliding(sliding.lines(ranks, [exact]), steps, LADDER.index(M), **layout)
