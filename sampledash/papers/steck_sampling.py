r"""What TOPK becomes when a relevant item is ranked among m sampled others (Steck, section 2.3).

Each pair of user and item is ranked on its own among Ñ - 1 = m of the N - 1 other items, drawn
without replacement. Sampled ATOP is unbiased, because the share above is. Sampled TOPK is another
measure: with j = ⌊k m⌋, an item at rank r counts when at most j of the drawn items are above it,
which is when the (j+1)-th smallest of m positions drawn from 1..N-1 is at least r. So

.. math:: E[\text{sampled TOPK}(j/m)] = E[\mathrm{Recall@}T], \quad E[T] = (j + 1) N / \tilde N,

T being that order statistic: a mixture of Recalls, most of them at a place that is not k's.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sampledash import checks, laws
from sampledash.metrics import places_within
from sampledash.papers.steck import shares
from sampledash.types import Floats

_TOO_MANY = ": the others are drawn without replacement, there are n - 1"


def expected_topk(share: float, rank: ArrayLike, n: ArrayLike, m: int) -> Floats:
    """Chance that an item counts in sampled TOPK, by the law of its sampled rank.

    Parameters
    ----------
    share
        His normalised k, in 0..1.
    rank
        True ranks among all n items, any shape.
    n
        All items, N: one number or one per rank.
    m
        Sampled others, Ñ - 1; at most n - 1.

    Returns
    -------
    Array of the shape of ``rank``. At m = n - 1 it is the exact TOPK of each item.
    """
    top = int(places_within(share, m))
    return _mean_over_samples((np.arange(m + 1) < top).astype(np.float64), rank, n, m)


def topk_bias(share: float, rank: ArrayLike, n: ArrayLike, m: int) -> Floats:
    """Expected sampled minus exact TOPK of each item, from -1 to 1; parameters as above."""
    return np.asarray(expected_topk(share, rank, n, m) - (shares(rank, n) <= share))


def expected_atop(rank: ArrayLike, n: ArrayLike, m: int) -> Floats:
    """Expected sampled ATOP of each item, by the law of its sampled rank: 1 minus its share."""
    return _mean_over_samples(1 - np.arange(m + 1) / m, rank, n, m)


def _mean_over_samples(values: Floats, rank: ArrayLike, n: ArrayLike, m: int) -> Floats:
    """Expectation of ``values[drawn items above]`` at each rank."""
    size = checks.integers("n", n, low=2)
    checks.integer("m", m, low=1, high=int(size.min()) - 1, why=_TOO_MANY)
    above = checks.ranks("rank", rank, size) - 1
    rows, below = above.ravel(), (size - 1 - above).ravel()
    mean = np.empty(len(rows))
    for picked, p in laws.pmf_chunks(
        "without-replacement", m, rows.astype(np.float64), below.astype(np.float64)
    ):
        mean[picked] = p @ values
    return mean.reshape(above.shape)


def threshold_law(j: int, n: int, m: int) -> Floats:
    r"""Law of T, the (j+1)-th smallest of m distinct positions among 1..n-1: shape (n - 1,).

    .. math:: P(T = t) = \binom{t-1}{j} \binom{n-1-t}{m-j-1} \Big/ \binom{n-1}{m}

    Parameters
    ----------
    j
        Drawn items that may be above, 0..m-1.
    n, m
        All items and sampled others; m <= n - 1.
    """
    n, m = _sizes(n, m)
    j = checks.integer("j", j, low=0, high=m - 1)
    first, last = j + 1, n - m + j
    t = np.arange(first, last, dtype=np.float64)
    up, down = t * (n - m + j - t), (t - j) * (n - 1 - t)  # P(t + 1) / P(t)
    top = int(np.sum(up >= down))  # the mode: ratios only fall, so rounding cannot build up
    law = np.zeros(n - 1)
    law[first - 1 : last] = np.r_[
        np.cumprod((down / up)[:top][::-1])[::-1], 1.0, np.cumprod((up / down)[top:])
    ]
    return np.asarray(law / law.sum())


def recall_at_threshold(j: int, rank: ArrayLike, n: int, m: int) -> Floats:
    """E[Recall@T] of each item, P(T >= r): the other side of the identity."""
    tail = np.r_[np.cumsum(threshold_law(j, n, m)[::-1])[::-1], 0.0]
    return np.asarray(tail[checks.ranks("rank", rank, np.asarray(n)) - 1])


def mean_threshold(j: int, n: int, m: int) -> float:
    """E[T] = (j + 1) N / Ñ: where sampled TOPK(j/m) looks on average."""
    n, m = _sizes(n, m)
    return (checks.integer("j", j, low=0, high=m - 1) + 1) * n / (m + 1)


def naive_threshold(j: int, n: int, m: int) -> float:
    """1 + j (N - 1) / m: where it seems to look, the rank estimate of eq. 20 without the floor."""
    n, m = _sizes(n, m)
    return 1 + checks.integer("j", j, low=0, high=m) * (n - 1) / m


def _sizes(n: int, m: int) -> tuple[int, int]:
    n = checks.integer("n", n, low=2)
    return n, checks.integer("m", m, low=1, high=n - 1, why=_TOO_MANY)
