"""Lesson 6: repeated sampled runs can agree with each other and still be wrong."""

from functools import lru_cache

import numpy as np

import sampledash as sd
from sampledash.analyses import sliding, theme
from sampledash.analyses.learn.lesson import METRIC, WITHOUT, M, Numbers, movielens
from sampledash.report.numbers import count, points
from sampledash.report.sentences import ranking
from sampledash.types import Floats, frozen

RUNS, SEED = 20, 1
VISITED = (20, 50, 100, 200, 500, 1500)
LIFT = 0.3  # dots (one per run) are at most this share of the row height above or below their row


@lru_cache(maxsize=16)
def runs(m: int) -> Floats:
    """Return the mean metric of each bundled recommender in each of ``RUNS`` simulated runs.

    A run draws m negatives per user. The result has shape (systems, RUNS).
    """
    means = [
        sd.simulate(METRIC, rs, m, RUNS, np.random.default_rng([SEED, place, m]), scheme=WITHOUT)
        for place, rs in enumerate(movielens().sets)
    ]
    return frozen(np.array(means))


def numbers(variant: str) -> Numbers:
    sets, names, exact, *_ = movielens()
    worst = int(np.argmin(exact))
    seen = int((runs(M).argmax(axis=0) == worst).sum())
    center = sd.expected_mean(METRIC, sets[worst], M, scheme=WITHOUT)
    std, bias = sd.std_of_mean(METRIC, sets[worst], M, scheme=WITHOUT), center - exact[worst]
    return {
        "worst": names[worst],
        "users": len(sets[0]),
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


def picture(variant: str, revealed: bool, dark: bool) -> theme.Picture:
    """Draw each recommender's exact metric and, if ``revealed``, its metric in repeated runs.

    ``revealed`` says whether the answer to the lesson's question is shown.
    """
    sets, names, exact, *_ = movielens()
    true, worst = ranking(names, exact), int(np.argmin(exact))
    if not revealed:
        title = f"<b>{METRIC} on all movies</b>: {true}"
        return sliding.truths(METRIC, names, exact, 1.0, title, dark)
    m_values, lift, steps = movielens().visited(*VISITED), np.linspace(-LIFT, LIFT, RUNS), {}
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
        steps[count(m)] = dots, title
    axes = sliding.rows(METRIC, names, 1.05 * max(float(runs(m).max()) for m in m_values), dark)
    return sliding.sliding([sliding.ticks(exact, dark)], steps, count(M), dark=dark, **axes)
