"""Lesson 2: the rank of an item among sampled negatives is not its rank among all items."""

from typing import Any

import numpy as np

import sampledash as sd
from sampledash.analyses import sliding, theme
from sampledash.analyses.explore.result import negatives, sampled_ranks
from sampledash.analyses.learn.lesson import WITHOUT, M, N, Numbers
from sampledash.analyses.learn.lessons.lesson_03_softness import half_way
from sampledash.report.numbers import count, decimal

RANK = 100
SIZES = (1, 2, 5, 10, 100, 1_000, 10_000)
SEED, WIDEST = 3, 8


def numbers(variant: str) -> Numbers:
    sampling = sd.Sampling(N, M, WITHOUT)
    mean, p = 1 + M * float(sampling.share_above(RANK)), sampling.pmf(RANK)
    return {
        "above": RANK - 1,
        "others": N - 1,
        "share": (RANK - 1) / (N - 1),
        "one_in": round((N - 1) / M),
        "for_ten": 9 * (N - 1) // M,
        "mean": mean,
        "right": min((2, 10, RANK), key=lambda place: abs(place - mean)),
        "first": float(p[0]),
        "top_ten": float(p[:10].sum()),
        "half_way": half_way(sd.parse_metric("Recall@10"), M),
        "ten_m": 10 * M,
        "ten_mean": 1 + 10 * M * (RANK - 1) / (N - 1),
    }


def picture(variant: str, revealed: bool, dark: bool) -> theme.Picture:
    """Draw one sample; once the answer is ``revealed``, draw the ranks in many samples.

    The slider sets the number of samples. Its last step also shows the exact distribution.
    """
    sampling = sd.Sampling(N, M, WITHOUT)
    seen = sampled_ranks(sampling, RANK, SEED, SIZES[-1])
    if not revealed:
        return _catalogue(negatives(sampling, RANK, int(seen[0]), SEED, 1).tolist(), dark)
    c = theme.look(dark)
    faded, ink = {"color": theme.faded(c.blue, 0.45)}, {"color": c.ink, "size": 11}
    x = list(range(1, WIDEST + 1))
    bar: dict[str, Any] = {"type": "bar", "x": x, "hoverinfo": "skip", "marker": faded}
    steps = {}
    for size in SIZES:
        drawn = seen[:size]
        text = f"sampled rank {count(seen[0])}" if size == 1 else f"average {decimal(drawn.mean())}"
        share = np.bincount(drawn, minlength=WIDEST + 1)[1 : WIDEST + 1] / size
        bars = {**bar, "y": (100 * share).tolist()}
        hidden = sliding.scatter("markers", x, [None] * WIDEST, marker=ink)
        title = f"<b>{count(size)} draw{'s' * (size > 1)}</b>: {text}"
        steps[count(size)] = [bars, hidden], title
    mean = 1 + M * float(sampling.share_above(RANK))
    law = sliding.scatter("markers", x, (100 * sampling.pmf(RANK)[:WIDEST]).tolist(), marker=ink)
    title = f"<b>The law</b> (dots): mean {decimal(mean)}<br>true rank {count(RANK)}"
    steps["law"] = [bars, law], title
    layout: dict[str, Any] = {"bargap": 0.2, "dark": dark}
    layout["xaxis"] = {"title": {"text": "sampled rank"}, "range": [0.4, WIDEST + 0.6], "dtick": 1}
    layout["yaxis"] = theme.percent_axis(title="of the draws")
    return sliding.sliding([], steps, count(SIZES[0]), prefix="draws: ", **layout)


def _catalogue(negatives: list[int], dark: bool) -> theme.Picture:
    """Draw all items as a strip, with a diamond for the relevant item and ticks for negatives."""
    c = theme.look(dark)
    tick = {"symbol": "line-ns", "size": 22, "color": c.blue, "line": {"color": c.blue, "width": 2}}
    edge = {"color": c.page, "width": 2}
    diamond = {"symbol": "diamond", "size": 18, "color": c.vermillion, "line": edge}
    data = [
        sliding.scatter("lines", [1, N], [0, 0], line={"color": c.grid, "width": 16}),
        sliding.scatter("markers", negatives, [0] * len(negatives), marker=tick),
        sliding.scatter("markers", [RANK], [0], cliponaxis=False, marker=diamond),
    ]
    item = sliding.colored(f"◆ the item at rank {count(RANK)}", c.vermillion)
    title = f"{item}<br>{sliding.colored(f'┃ {count(M)} drawn negatives', c.blue)}"
    x, y = theme.rank_axis(N, log=False), {"visible": False, "range": [-1, 1]}
    return sliding.still(data, title, height=210, dark=dark, xaxis=x, yaxis=y)
