"""Grids of ranks and of numbers of negatives m, at which the curves of pictures are evaluated."""

from collections.abc import Iterable, Sequence

import numpy as np

from sampledash.catalogue import Drawing
from sampledash.metrics import Metric
from sampledash.types import Ints

# LIVE is the largest m for which pages recompute without a click after an input changes. MOST is
# the largest m for which pages compute at all.
LIVE, MOST = 2_000, 10_000
LIMIT = 400  # largest number of points of one curve
_HEAD = 60  # all ranks 1.._HEAD are in the grid, because metrics change most at the top
_BODY = 220  # number of spaced ranks in the grid beyond _HEAD
MOST_POINTS = 160  # largest number of spaced values of m in a grid


def rank_grid(n: int, *, top: int | None = None, keep: Iterable[int] = ()) -> Ints:
    """Return fewer than 400 increasing ranks for a curve over 1..n, or over 1..top if given.

    Beyond rank 60 the ranks are spaced logarithmically; if ``top`` is given, they are spaced
    evenly. The ranks in ``keep`` that are in range are included, or 119 of them if there are more.
    """
    last = n if top is None else min(n, top)
    head = np.arange(1, min(last, _HEAD) + 1)
    if last <= _HEAD:
        return head.astype(np.int64)
    space = np.geomspace if top is None else np.linspace
    body = np.rint(space(_HEAD, last, _BODY)).astype(np.int64)
    wanted = np.array([r for r in keep if 1 <= r <= last], dtype=np.int64)
    room = LIMIT - _HEAD - _BODY - 1  # -1, because a page may add one more rank to the grid
    if len(wanted) > room:
        wanted = wanted[np.linspace(0, len(wanted) - 1, room).astype(np.int64)]
    return np.unique(np.concatenate([head, body, wanted])).astype(np.int64)


def jumps(sampling: Drawing, metric: Metric) -> list[int]:
    """Return the ranks where a metric with a cutoff k changes most, such as k and k + 1.

    The exact metric jumps after rank k; the expected sampled metric falls gradually. The list is
    empty if the metric has no cutoff.
    """
    n, m = sampling.n, sampling.m
    last, k = metric.cut(n - 1), metric.cut(m)
    if last is None or k is None:
        return []
    ranks = [last, last + 1]
    # Here, k is the cutoff in a sample of m negatives. If the items above the relevant item have
    # this share of the sampling weight, about half of the samples give a sampled rank of at most k.
    share = (k - 0.5) / m
    if share < 1:
        grid, spread = rank_grid(n), (share * (1 - share) / m) ** 0.5
        above, below = sampling.weights(grid)
        near = np.linspace(share - 5 * spread, share + 5 * spread, 61)
        ranks += np.rint(np.interp(near, above / (above + below), grid)).astype(int).tolist()
    return sorted({r for r in ranks if 1 <= r <= n})


def m_grid(m_max: int, keep: Sequence[int] = ()) -> Ints:
    """Return values of m in 1..m_max: logarithmically spaced values, and the values in ``keep``."""
    ladder = np.geomspace(1, m_max, MOST_POINTS).round().astype(np.int64)
    return np.unique([*ladder, *(m for m in keep if 1 <= m <= m_max)])
