"""Lesson 4: with one sampled negative, every metric orders systems as AUC does."""

from typing import Any

import numpy as np

import sampledash as sd
from sampledash.analyses import sliding, theme
from sampledash.analyses.learn.lesson import METRIC, WITHOUT, M, N, Numbers, movielens, order
from sampledash.analyses.learn.lessons.lesson_03_softness import sampled
from sampledash.grids import rank_grid
from sampledash.report.numbers import count
from sampledash.report.sentences import negatives

RANK = 100
VISITED = (1, 2, 3, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, N - 1)


def numbers(variant: str) -> Numbers:
    (sets, names, *_), ap = movielens(), sd.parse_metric("AP")
    first, second = ap([1, 2], N).tolist()
    top, at_rank, last = sd.expected(ap, [1, RANK, N], sd.Sampling(N, 1, WITHOUT)).tolist()
    return {
        "flat": sd.expected_mean(METRIC, sets[0], 1, scheme=WITHOUT),
        "top": top,
        "last": last,
        "by_one": order(names, sd.curve(ap, sets, [1], scheme=WITHOUT).to_numpy()[0].tolist()),
        "by_auc": order(names, [sd.mean("AUC", rs) for rs in sets]),
        "by_ap": order(names, [sd.mean(ap, rs) for rs in sets]),
        "below": N - RANK,
        "others": N - 1,
        "step": first - second,
        "second": second,
        "here": at_rank,
        "ndcg": float(sd.parse_metric("NDCG")(2, N)),
    }


def picture(variant: str, revealed: bool, dark: bool) -> theme.Picture:
    """Draw AUC, NDCG and AP over the rank: exact or, if ``revealed``, expected for m negatives."""
    metrics = [sd.parse_metric(name) for name in ("AUC", "NDCG", "AP")]
    ranks = np.unique(np.r_[rank_grid(N), np.linspace(1, N, 100).round().astype(np.int64)])

    def drawn(m: int) -> list[sliding.Curve]:
        heights = (sampled(metric, ranks, m) for metric in metrics)
        shares = [(y - y[-1]) / (y[0] - y[-1]) for y in heights]
        return list(map(sliding.Curve, map(str, metrics), shares, lines))

    wide = zip((9, 5, 2.5), metrics, strict=True)
    lines = [theme.metric_line(metric, dark) | {"width": width} for width, metric in wide]
    first = drawn(N - 1)
    names = sliding.broken([sliding.colored(f"<b>{x.name}</b>", x.color) for x in first], 4)
    up = theme.percent_axis(title="rank 1 = 100 %, last = 0 %")
    layout: dict[str, Any] = {"xaxis": theme.rank_axis(N, log=False), "yaxis": up, "dark": dark}
    if not revealed:
        return sliding.before(ranks, first, f"On all items<br>{names}", **layout)
    steps = {}
    for m in VISITED:
        curves = drawn(m)
        apart = max(float(np.abs(x.y - curves[0].y).max()) for x in curves[1:])
        text = "one and the same line" if apart < 1e-9 else f"up to {100 * apart:.0f} points apart"
        title = f"<b>{negatives(m)}: {text}</b><br>{names}"
        steps[count(m)] = sliding.lines(ranks, curves), title
    return sliding.sliding([], steps, count(M), **layout)
