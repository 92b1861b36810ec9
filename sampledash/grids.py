"""Ranks and numbers of negatives at which curves are evaluated, few enough for a picture."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from sampledash.metrics import Metric
from sampledash.sampling import Sampling
from sampledash.types import Ints

LIVE, MOST = 2_000, 10_000  # largest m for instant recomputation, and for any picture
LIMIT = 400  # largest number of points of one curve
_HEAD = 60  # ranks 1.._HEAD are all included, because metrics change most at the top
_BODY = 220  # number of ranks beyond _HEAD
MOST_POINTS = 160  # points of a curve over m, besides the flips


def rank_grid(n: int, *, top: int | None = None, keep: Iterable[int] = ()) -> Ints:
    """Return fewer than 400 increasing ranks for a curve over 1..n, or over 1..top if given.

    Beyond rank 60 the spacing is logarithmic, or even if ``top`` is given. The ranks in ``keep``
    (jumps, the chosen rank) that are in range are included, as far as there is room.
    """
    last = n if top is None else min(n, top)
    head = np.arange(1, min(last, _HEAD) + 1)
    if last <= _HEAD:
        return head.astype(np.int64)
    space = np.geomspace if top is None else np.linspace
    body = np.rint(space(_HEAD, last, _BODY)).astype(np.int64)
    wanted = np.array([r for r in keep if 1 <= r <= last], dtype=np.int64)
    room = LIMIT - _HEAD - _BODY - 1  # leave room for the chosen rank that a page may add
    if len(wanted) > room:
        wanted = wanted[np.linspace(0, len(wanted) - 1, room).astype(np.int64)]
    return np.unique(np.concatenate([head, body, wanted])).astype(np.int64)


def jumps(sampling: Sampling, metric: Metric) -> list[int]:
    """Return the ranks k and k + 1 at a cutoff, and ranks on the slope of the sampled metric."""
    n, m = sampling.n, sampling.m
    last, k = metric.cut(n - 1), metric.cut(m)
    if last is None or k is None:
        return []
    ranks = [last, last + 1]
    share = (k - 0.5) / m  # about half of the samples hit at this share of the weight above
    if share < 1:
        odds = sampling.odds
        weight = share + odds * (1 - share)  # solves share = odds a / (odds a + b) for a
        middle = 1 + (n - 1) * share / weight
        spread = (n - 1) * odds / weight**2 * (share * (1 - share) / m) ** 0.5
        ranks += [round(x) for x in np.linspace(middle - 5 * spread, middle + 5 * spread, 61)]
    return sorted({r for r in ranks if 1 <= r <= n})


def m_grid(m_max: int, keep: Sequence[int] = ()) -> Ints:
    """Return logarithmically spaced values of m from 1 to ``m_max``, and those in ``keep``."""
    ladder = np.geomspace(1, m_max, MOST_POINTS).round().astype(np.int64)
    return np.unique([*ladder, *(m for m in keep if 1 <= m <= m_max)])
