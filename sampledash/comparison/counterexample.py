r"""The smallest pair of rank sets A, B whose sampled order is the opposite of their exact order.

Let f(r) be the exact metric at rank r and g(r) the expected sampled metric. Both are non-increasing
in r: f by definition, and g because an item further down has at least as many sampled negatives
above it in every draw.

* *One instance never suffices.* If rank a of A is better than rank b of B, that is f(a) > f(b),
  then a < b, so g(a) >= g(b).
* *No pair exists if g is affine in f* on the ranks 1..n: for AUC under a uniform scheme, and for
  any metric if all negatives are drawn. Then g = c + d f with d >= 0, so the expected sampled means
  of A and B have the same order as the exact means, or are tied.
* *Otherwise a pair exists.* Then 1, f and g are linearly independent functions of the rank, because
  g = c + d f with d < 0 is impossible: f and g are non-increasing. (If f is constant, its cutoff is
  k >= n > m, so g is constant too.) Let :math:`\mu(r)` be the count of rank r in A minus its count
  in B; the sum of :math:`\mu` is 0. Because of the independence, the two sums
  :math:`\sum \mu f` and :math:`\sum \mu g` can take any two values, also a positive and a negative
  one. With rational counts, they come arbitrarily close to any two values. Multiplied by their
  common denominator, rational counts are whole numbers of instances.

The search pairs each instance of A with an instance of B. The two ranks of a pair form a *gap*: a
gap of A if A has the better rank, otherwise a gap of B. The length of a gap in f (or g) is the
difference of f (or g) between the two ranks. The orders are opposite if the gaps of A are together
longer in f, and shorter in g, than the gaps of B. Two instances suffice if a single gap of A is
longer in f, and shorter in g, than a single gap of B.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sampledash.expectation import expected
from sampledash.metrics import Metric, as_metric
from sampledash.rank_sets import RankSet
from sampledash.sampling import Sampling, require_sampling
from sampledash.types import Floats, Ints

# Index of a gap (a pair of an instance of A and an instance of B), and the number of its copies.
_Copies = tuple[int, int]

_ALL = 128  # largest number of candidates for which every rank is tried
_STEPS = 64  # with more than _ALL candidates, this many logarithmically spaced ranks are tried
_VISIBLE = 1e-11  # smallest difference of two means that is not a tie
_PAIRED = 1_000  # ``_multiples`` tries at most this many gaps (pairs of instances) of A, and of B
# Up to this many instances, a rank set of the result has a row for each instance. With more
# instances, it has a row for each distinct rank, with the number of instances of this rank.
_ROWS = 64


@dataclass(frozen=True, eq=False)
class _Gaps:
    """Gaps: pairs of an instance of A and an instance of B, with differences of their metrics."""

    exact: Floats  # difference of the exact metrics f of the two instances of each gap
    sampled: Floats  # difference of their expected sampled metrics g
    places: Ints  # index of each pair of instances among all pairs

    def __getitem__(self, keep: NDArray[np.generic]) -> _Gaps:
        return _Gaps(self.exact[keep], self.sampled[keep], self.places[keep])

    def front(self, ahead: bool) -> _Gaps:
        """Return the Pareto-optimal gaps: no other gap is at least as good in both lengths.

        A gap is a pair of an instance of rank set A and an instance of rank set B. Its two lengths
        are the difference of the two instances' exact metrics, and that of their expected sampled
        metrics. With ``ahead``, A has the better rank in every gap: a gap is good if its exact
        length is large and its sampled length small. Otherwise B has the better rank: a gap is good
        if its exact length is small and its sampled length large.
        """
        side = 1 if ahead else -1
        order = np.lexsort((side * self.sampled, -side * self.exact))
        value = side * self.sampled[order]
        return self[order[value < np.minimum.accumulate(np.r_[np.inf, value[:-1]])]]


def counterexample(metric: Metric | str, sampling: Sampling) -> tuple[RankSet, RankSet] | None:
    """Return rank sets A, better by the exact mean, and B, better by the expected sampled mean.

    Parameters
    ----------
    metric
        A metric or its text; sampled values are not corrected.
    sampling
        Numbers of candidates and negatives, and the sampling scheme.

    Returns
    -------
    Two rank sets named ``"A"`` and ``"B"`` with equally many instances of one relevant item, as few
    as are found. If two instances suffice, the sets are those whose order is reversed most clearly:
    divide the exact and the sampled difference each by its largest possible value; the smaller of
    the two quotients is maximal (within 0.1 %). Differences up to 1e-11 are ties. The result is
    None if there are no such sets: for AUC under a uniform scheme, if all negatives are drawn, or
    for Recall or Precision with k > m.

    Notes
    -----
    One instance never suffices, and two nearly always do. Every rank is tried up to 128 candidates.
    With more candidates, the ranks 1 to 64, ranks around the cutoff, and logarithmically spaced
    ranks up to n are tried. If two instances do not suffice, only sets with two different ranks,
    each of them repeated, are tried.

    Examples
    --------
    >>> a, b = counterexample("Recall@10", Sampling(10_000, 100))
    >>> a.ranks.tolist(), b.ranks.tolist()
    ([10, 10000], [11, 11])
    """
    metric = as_metric(metric)
    require_sampling(sampling)
    ranks = _candidates(metric, sampling.n)
    f, g = metric(ranks, sampling.n), expected(metric, ranks, sampling)
    ranges = float(f[0] - f[-1]), float(g[0] - g[-1])
    if min(ranges) <= _VISIBLE:
        return None
    slope = ranges[1] / ranges[0]
    if 2 * np.abs(g - g[-1] - slope * (f - f[-1])).max() <= (1 + slope) * _VISIBLE:
        # If the sampled metric g is an affine function of the exact metric f (up to the tolerance
        # _VISIBLE), it never reverses the exact order.
        return None
    high, low = np.triu_indices(len(ranks), 1)
    # Sort the pairs of ranks by the distance of the two ranks. Of several pairs with equal
    # differences in f and in g (up to rounding), ``front`` keeps the first. This is the pair with
    # the closest ranks if A has the better rank, and with the most distant ranks if B has it.
    width = np.argsort(low - high, kind="stable")
    high, low = high[width], low[width]
    g = np.round(g, 14)
    every = _Gaps(f[high] - f[low], g[high] - g[low], np.arange(len(high)))
    ahead, behind = every.front(True), every[np.arange(len(high))[::-1]].front(False)
    copies = _clearest(ahead, behind, ranges) or _multiples(ahead, behind)
    if copies is None:
        return None
    ((first, p), (second, q)), n = copies, sampling.n
    return (
        _rank_set("A", n, (ranks[high[first]], p), (ranks[low[second]], q)),
        _rank_set("B", n, (ranks[low[first]], p), (ranks[high[second]], q)),
    )


def _candidates(metric: Metric, n: int) -> Ints:
    """Return the ranks that the counterexample may contain, in increasing order."""
    if n <= _ALL:
        return np.arange(1, n + 1)
    ladder = np.geomspace(_ALL // 2, n, _STEPS).round().astype(np.int64)
    about = np.arange(-2, 4) + (metric.cut(n - 1) or 1)
    chosen = np.unique(np.r_[1 : _ALL // 2 + 1, ladder, about, n - 2, n - 1, n])
    return chosen[(chosen >= 1) & (chosen <= n)]


def _clearest(
    ahead: _Gaps, behind: _Gaps, ranges: tuple[float, float]
) -> tuple[_Copies, _Copies] | None:
    """Return a gap of A and one of B: A's has the larger exact length, B's the larger sampled one.

    A gap is a pair of an instance of rank set A and an instance of rank set B; it is a gap of the
    set with the better rank. Its exact length is the difference of the two instances' exact
    metrics, its sampled length that of their expected sampled metrics. ``ranges`` holds the range
    of the exact and of the expected sampled metric. For two gaps, divide the difference of their
    exact lengths, and that of their sampled lengths, by the range of the same metric. Return the
    two gaps for which the smaller quotient is maximal, or None if no two gaps are like this.
    """
    order = np.argsort(behind.exact)
    exact = behind.exact[order]
    best = np.maximum.accumulate(behind.sampled[order])

    def reaches(share: float) -> NDArray[np.bool_]:
        """Return for each gap of A whether it goes with some gap of B.

        A gap is a pair of instances; its exact and its sampled length are the differences of their
        exact and of their sampled metrics. Two gaps go together if the gap of B has the smaller
        exact length and the larger sampled length. Each difference of lengths must be at least
        ``share`` times the range of its metric.
        """
        least = [max(share * whole, 2 * _VISIBLE) for whole in ranges]
        place = np.searchsorted(exact, ahead.exact - least[0], side="right") - 1
        return (place >= 0) & (best[place] - ahead.sampled >= least[1])

    if not np.any(reaches(0.0)):
        return None
    low, high = 0.0, 2.0
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if np.any(reaches(middle)) else (low, middle)
    # A gap is a pair of an instance of A and an instance of B. ``low`` is now nearly the largest
    # ``share`` for which ``reaches`` is true of some gap of A. Of the gaps of A for which it is
    # true, take the one whose two instances differ least in their sampled metrics.
    low *= 1 - 1e-3
    able = np.flatnonzero(reaches(low))
    i = int(able[np.argmin(ahead.sampled[able])])
    fits = np.flatnonzero(
        (ahead.exact[i] - behind.exact >= max(low * ranges[0], 2 * _VISIBLE))
        & (behind.sampled - ahead.sampled[i] >= max(low * ranges[1], 2 * _VISIBLE))
    )
    j = fits[np.argmax(behind.sampled[fits] / ranges[1] - behind.exact[fits] / ranges[0])]
    return (int(ahead.places[i]), 1), (int(behind.places[j]), 1)


def _multiples(ahead: _Gaps, behind: _Gaps) -> tuple[_Copies, _Copies] | None:
    """Return the fewest copies of a gap of A and of a gap of B that give opposite orders, or None.

    A gap is a pair of an instance of A and an instance of B. The gap of A has the length F by the
    exact metric and G by the sampled metric; the gap of B has the lengths F' and G'. Take p copies
    of the gap of A and q copies of the gap of B. The exact and the sampled means then differ by at
    least v = 1e-11 if p F - q F' and q G' - p G are at least (p + q) v. This is so if q / p lies
    between (G + v) / (G' - v) and (F - v) / (F' + v). The simplest fraction in between has the
    smallest p and q.
    """
    v = _VISIBLE
    ahead, behind = ahead[ahead.exact > v], behind[behind.sampled > v]
    # Prefer gaps (pairs of instances) for which the two bounds of the fraction q / p in the
    # docstring are far apart, because simpler fractions lie between bounds that are far apart.
    ahead = ahead[np.argsort((ahead.sampled + v) / (ahead.exact - v))[:_PAIRED]]
    behind = behind[np.argsort((behind.exact + v) / (behind.sampled - v))[:_PAIRED]]
    i, j = (x.ravel() for x in np.mgrid[: len(ahead.exact), : len(behind.exact)])
    low = (ahead.sampled[i] + v) / (behind.sampled[j] - v)
    q, p = _simplest(low, (ahead.exact[i] - v) / (behind.exact[j] + v))
    if not np.any(np.isfinite(p)):
        return None
    at = int(np.argmin(p + q))
    return (int(ahead.places[i[at]]), int(p[at])), (int(behind.places[j[at]]), int(q[at]))


def _simplest(low: Floats, high: Floats) -> tuple[Floats, Floats]:
    """Return the simplest fraction strictly between two positive numbers, by continued fractions.

    The results are the numerator and the denominator. Both are infinite if there is no such
    fraction, or if double precision does not suffice to find it.
    """
    numerator, denominator = np.full((2, len(low)), np.inf)
    # In each step of the loop, the result is (a x + c) / (b x + d), where x is the simplest
    # fraction between the current values of ``low`` and ``high``.
    a, b, c, d = np.multiply.outer([1.0, 0.0, 0.0, 1.0], np.ones(len(low)))
    at = np.arange(len(low))
    while len(at := at[low < high]):
        low, high = low[low < high], high[low < high]
        whole = np.floor(low) + 1
        between = whole < high
        settled = at[between]
        numerator[settled] = a[settled] * whole[between] + c[settled]
        denominator[settled] = b[settled] * whole[between] + d[settled]
        at, low, high = at[~between], low[~between], high[~between]
        base = np.floor(low)
        a[at], c[at] = a[at] * base + c[at], a[at]
        b[at], d[at] = b[at] * base + d[at], b[at]
        with np.errstate(divide="ignore"):
            low, high = 1 / (high - base), 1 / (low - base)
    return numerator, denominator


def _rank_set(name: str, n: int, *copies: tuple[int, int]) -> RankSet:
    """Return a rank set; each tuple of ``copies`` is a rank and its number of instances."""
    ranks, counts = np.array(copies).T
    if counts.sum() <= _ROWS:
        return RankSet(name, np.repeat(ranks, counts), n)
    distinct, which = np.unique(ranks, return_inverse=True)
    return RankSet(name, distinct, n, counts=np.bincount(which, counts))
