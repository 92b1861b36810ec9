"""Where curves are evaluated: ranks and numbers of negatives, few enough for a picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from sampledash.metrics import Metric
from sampledash.sampling import Sampling
from sampledash.types import Ints

LIVE, MOST = 2_000, 10_000  # negatives: recomputed at once, and at all
LIMIT = 400  # points a trace
_HEAD = 60  # ranks 1.._HEAD are all there: the metrics live at the top
_BODY = 220
MOST_POINTS = 160  # of a curve over m, besides its flips


def rank_grid(n: int, *, top: int | None = None, keep: Iterable[int] = ()) -> Ints:
    """Increasing ranks, fewer than 400, for a curve over 1..n or, evenly spaced, over 1..top.

    Those to ``keep`` (jumps, the chosen rank) are among them where they are in range.
    """
    last = n if top is None else min(n, top)
    head = np.arange(1, min(last, _HEAD) + 1)
    if last <= _HEAD:
        return head.astype(np.int64)
    space = np.geomspace if top is None else np.linspace
    body = np.rint(space(_HEAD, last, _BODY)).astype(np.int64)
    wanted = np.array([r for r in keep if 1 <= r <= last], dtype=np.int64)
    room = LIMIT - _HEAD - _BODY - 1  # a page may put the rank it is about in
    if len(wanted) > room:
        wanted = wanted[np.linspace(0, len(wanted) - 1, room).astype(np.int64)]
    return np.unique(np.concatenate([head, body, wanted])).astype(np.int64)


def jumps(sampling: Sampling, metric: Metric) -> list[int]:
    """Ranks around which a truncated metric falls: k and k + 1, and its sampled version's slope."""
    n, m = sampling.n, sampling.m
    last, k = metric.cut(n - 1), metric.cut(m)
    if last is None or k is None:
        return []
    ranks = [last, last + 1]
    share = (k - 0.5) / m  # of the negatives above, where half of the samples hit
    if share < 1:
        odds = sampling.odds
        weight = share + odds * (1 - share)  # solves q = w a / (w a + b) for a
        middle = 1 + (n - 1) * share / weight
        spread = (n - 1) * odds / weight**2 * (share * (1 - share) / m) ** 0.5
        ranks += [round(x) for x in np.linspace(middle - 5 * spread, middle + 5 * spread, 61)]
    return sorted({r for r in ranks if 1 <= r <= n})


def m_grid(m_max: int, keep: Sequence[int] = ()) -> Ints:
    """Values of m for a curve: a log ladder from 1 to m_max with those to keep."""
    ladder = np.geomspace(1, m_max, MOST_POINTS).round().astype(np.int64)
    return np.unique([*ladder, *(m for m in keep if 1 <= m <= m_max)])
