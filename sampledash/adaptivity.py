"""Whether the number of negatives depends on what was drawn.

If m was set beforehand, alike for items that stand high and low, then dropping negatives at random
until all instances have as few as the one with the fewest leaves counts above the item that are
independent of m. An evaluation that draws on while nothing ranks above the item makes these counts
small where m is large.

The test is that of Cochran, Mantel & Haenszel: two scores of the count above (its mean, and whether
it is 0) are correlated with the midrank of m, among instances of the same or neighbouring n, and
held against all permutations. Each instance takes its share of every outcome of the dropping, the
mean over all of them, so that the answer is the same every time; the scatter allowed for is that of
one, which is larger, so that nothing is flagged more often than stated.

Where m follows n (all candidates there are, or a share of them) nothing is flagged: m was set by n.

References
----------
Landis, Heyman & Koch, Average partial association in three-way contingency tables, International
Statistical Review 1978 (correlation with several mean scores).
"""

from __future__ import annotations

import numpy as np
from scipy.special import chdtrc, gammaln

from sampledash.types import Floats, Ints

#: Chance to be flagged where m was set beforehand, at most.
LEVEL = 1e-3
_STRATUM = 50.0  # instances of neighbouring n that are compared with one another, about


def chance_if_set(n: Ints, m: Ints, above: Ints, weight: Floats) -> float:
    """Chance of so much dependence if m was set beforehand: 1 where that cannot be tested.

    Parameters
    ----------
    n, m
        Candidates and negatives of each instance.
    above
        Its negatives that rank above the item.
    weight
        How many instances it stands for, above 0.
    """
    if np.ptp(m) == 0 or _follows(n, m):
        return 1.0
    stratum = _strata(n, weight)
    order = np.lexsort((m, stratum))
    stratum, m, s, w = stratum[order], m[order], above[order], weight[order]
    first = np.flatnonzero(np.r_[True, np.diff(stratum) > 0])
    fewest = m[first][stratum]
    size = np.bincount(stratum, w)
    kept = size > 1
    place = _midranks(stratum, m, w, first)

    def mean(values: Floats) -> Floats:
        return np.asarray(np.bincount(stratum, w * values) / size)

    # After dropping: mean share above, its second moment, and the chance that none is above.
    share = s / m
    square = share / fewest
    square += (1 - 1 / fewest) * share * (s - 1) / np.maximum(m - 1, 1)
    none = np.exp(_log_binomial(m - s, fewest) - _log_binomial(m, fewest))
    place = place - mean(place)[stratum]
    total = np.array([np.sum((w * place * y)[kept[stratum]]) for y in (share, none)])
    a, b = mean(share), mean(none)
    apart = mean(place**2) * size**2 / np.maximum(size - 1, 1e-300)
    covariance = [[mean(square) - a**2, -a * b], [-a * b, b - b**2]]
    spread = np.array([[np.sum((apart * c)[kept]) for c in row] for row in covariance])
    # Where a single negative is left both scores say the same.
    values, vectors = np.linalg.eigh(spread)
    told = values > 1e-9 * max(float(values.max()), 1e-300)
    if not np.any(told):
        return 1.0
    along = vectors[:, told].T @ total
    return float(chdtrc(int(told.sum()), np.sum(along**2 / values[told])))


def _follows(n: Ints, m: Ints) -> bool:
    """Whether each n has one m, which rises or falls with n."""
    pairs = np.unique(np.stack([n, m]), axis=1)
    steps = np.diff(pairs[1])
    alone = bool(np.all(np.diff(pairs[0]) > 0))
    return alone and bool(np.all(steps >= 0) or np.all(steps <= 0))


def _strata(n: Ints, weight: Floats) -> Ints:
    """Number of the stratum of each instance: equal n together, neighbours up to some size."""
    _, place = np.unique(n, return_inverse=True)
    sizes = np.bincount(place, weight)
    before = np.cumsum(sizes) - sizes
    _, block = np.unique((before / _STRATUM).astype(np.int64), return_inverse=True)
    return np.asarray(block[place])


def _midranks(stratum: Ints, m: Ints, weight: Floats, first: Ints) -> Floats:
    """Share of the stratum with a smaller m, and half of those with this one; both are sorted."""
    new = np.r_[True, (np.diff(stratum) > 0) | (np.diff(m) > 0)]
    group = np.cumsum(new) - 1
    sizes = np.bincount(group, weight)
    middle = np.cumsum(sizes) - sizes / 2
    start = (np.cumsum(weight) - weight)[first]
    whole = np.bincount(stratum, weight)
    return np.asarray((middle[group] - start[stratum]) / whole[stratum])


def _log_binomial(n: Ints, k: Ints) -> Floats:
    """Logarithm of n over k, minus infinity where k is larger."""
    some = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(np.maximum(n - k, 0) + 1.0)
    return np.where(k > n, -np.inf, some)
