"""Steady is not right."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import plotly.graph_objects as go

import sampledash as sd
from sampledash.dashboard import sliding, theme
from sampledash.dashboard.cache import frozen
from sampledash.dashboard.learn.lesson import METRIC, WITHOUT, M, Numbers, movielens
from sampledash.report.numbers import count, points
from sampledash.report.sentences import ranking
from sampledash.types import Floats

TEXT = r"""
title: Steady is not right
setup: $metric of three recommenders on MovieLens 1M. On all movies $worst is the worst. Each run
    draws $m new negatives for each of $users users.
question: In how many of $runs runs with $m negatives does $worst, the worst of the three, come
    first?
choice: 0 of $runs | In $seen of $runs: its true place is the last, but every run shows the
    expectation of the sample.
choice: $half of $runs | In $seen of $runs: the runs scatter by $std:points only: chance has no say
    here.
choice: $runs of $runs | In $seen of $runs: the runs agree, to $std:points, on a wrong order.
right: $right of $runs
most: $runs
sentence: In $seen of $runs runs $worst comes first. It scatters by $std:points around $center; the
    truth, $exact, is $bias:points away.
formula: \text{error}^2 = \text{bias}^2 + \text{variance}
formula: ($bias:bare)^2 + ($std:bare)^2 = ($error:bare)^2\quad\text{points}^2
why: Repeating with new seeds and reporting a small deviation shows that the sample is large enough
    for its own expectation. It says nothing about the metric.
source: Section 6.2, Table 3
link: consistency | m=$m&metrics=Recall@k&answers=Repeat it
    | The three recommenders in Consistency
minutes: 7
misconception: “Five seeds with a small deviation make it reliable.” Reliable and wrong.
misconception: “A significance test between the sampled values would reveal it.” It would confirm
    the wrong order with great confidence.
exercise: One run scatters by $std:points, the bias is $bias:points. How much of the squared error
    remains if $runs runs are averaged? | $left:chance of it.
"""

RUNS, SEED = 20, 1
VISITED = (20, 50, 100, 200, 500, 1500)
LIFT = 0.3  # of a row: how far the dots of one row are spread


@lru_cache(maxsize=16)
def runs(m: int) -> Floats:
    """Repeated sampled evaluations of the bundled recommenders: shape (systems, RUNS)."""
    found = [
        sd.simulate(METRIC, rs, m, RUNS, np.random.default_rng([SEED, place, m]), scheme=WITHOUT)
        for place, rs in enumerate(movielens().sets)
    ]
    return frozen(np.array(found))


def numbers(look: str) -> Numbers:
    sets, names, exact, *_ = movielens()
    worst = int(np.argmin(exact))
    seen = int((runs(M).argmax(axis=0) == worst).sum())
    center = sd.expected_mean(METRIC, sets[worst], M, scheme=WITHOUT)
    std, bias = sd.std_of_mean(METRIC, sets[worst], M, scheme=WITHOUT), center - exact[worst]
    return {
        "worst": names[worst],
        "users": len(sets[0]),
        "runs": RUNS,
        "half": RUNS // 2,
        "seen": seen,
        "right": min((0, RUNS // 2, RUNS), key=lambda option: abs(option - seen)),
        "std": std,
        "bias": bias,
        "error": float(np.hypot(bias, std)),
        "center": center,
        "exact": exact[worst],
        "left": (bias**2 + std**2 / RUNS) / (bias**2 + std**2),
    }


def picture(look: str, revealed: bool, dark: bool) -> go.Figure:
    """Repeated runs of each recommender, and the truth."""
    sets, names, exact, *_ = movielens()
    true, worst = ranking(names, exact), int(np.argmin(exact))
    if not revealed:
        title = f"<b>{METRIC} on all movies</b>: {true}"
        return sliding.truths(METRIC, names, exact, 1.0, title, dark)
    m_values, lift, steps = movielens().visited(*VISITED), np.linspace(-LIFT, LIFT, RUNS), []
    for m in m_values:
        dots = []
        for place, row in enumerate(runs(m)):
            marker = {"size": 8, "color": theme.system_line(place, dark)["color"]}
            x, y = np.round(100 * row, 4).tolist(), (place + lift).tolist()
            dots.append(sliding.scatter("markers", x, y, marker=marker))
        first = int((runs(m).argmax(axis=0) == worst).sum())
        right = sum(ranking(names, run.tolist()) == true for run in runs(m).T)
        std = points(sd.std_of_mean(METRIC, sets[worst], m, scheme=WITHOUT))
        title = (
            f"<b>{names[worst]} first in {first} of {RUNS} runs</b>, {true} in {right}"
            f"<br>{names[worst]} scatters by {std}; ┃ on all movies"
        )
        steps.append(sliding.Step(count(m), dots, title))
    axes = sliding.rows(METRIC, names, 1.05 * max(float(runs(m).max()) for m in m_values), dark)
    layout = {"revision": f"runs-{METRIC}", **axes}
    return sliding.sliding(
        [sliding.ticks(exact, dark)], steps, m_values.index(M), dark=dark, **layout
    )
