r"""Sampled ranks if a number of negatives is drawn from each stratum, without replacement.

The candidates of an instance fall into strata, such as items of the user's history and all others.
Stratum c has :math:`N_c` negatives, of which :math:`a_c` are above the relevant item and
:math:`t_c` are tied with it; :math:`m_c` of the :math:`N_c` are drawn. Put each tied item above
with probability u: then :math:`J_c` of the :math:`t_c` tied items are above, where :math:`J_c` is
binomial, and the number of drawn items above is

.. math:: A \mid u = \sum_c \mathrm{Hypergeometric}(N_c,\, a_c + J_c,\, m_c).

The mean of this distribution over u in 0..1 is the distribution for tied items in random order.
Each probability is a polynomial in u, so a Gauss-Legendre rule gives its exact mean.
"""

import numpy as np
import scipy
from scipy.special import gammaln, xlog1py, xlogy

from sampledash.types import Floats, blocks

_ROOM = 1 << 22  # approximate largest number of probabilities in memory
_NOTHING = 1e-15  # smaller probabilities are rounding errors of the Fourier transforms
_EXACT = 1e-9  # a number of draws this close to the next whole number is rounded up, not down


def allot(negatives: Floats, drawn: Floats, m: int) -> Floats:
    """Return how many of m negatives come from each stratum: (instances, strata).

    ``negatives`` holds the sizes of the strata, and ``drawn`` the numbers of negatives that the
    evaluation draws from them. If these numbers add up to m, return them. Otherwise, divide m among
    the strata in three steps, until nothing is left: first among strata of which the evaluation
    draws all negatives; then among the others, in proportion to ``drawn``; last among strata with
    ``drawn`` = 0, in proportion to their size. No stratum gets more than its size. Fractions are
    rounded down, and the strata with the largest fractions get one more.
    """
    result, left = np.zeros(negatives.shape), np.full(len(negatives), float(m))
    whole, never = drawn >= negatives, drawn == 0
    for members in (whole, ~whole & ~never, ~whole & never):
        size = np.where(members, negatives, 0)
        weight = np.where(whole | never, size, np.where(members, drawn, 0))
        wanted = np.minimum(left, size.sum(axis=1))
        result += _in_proportion(wanted, weight, size)
        left -= wanted
    return result


def _in_proportion(total: Floats, weight: Floats, size: Floats) -> Floats:
    """Divide the ``total`` of each instance among strata, in proportion to their ``weight``.

    Return whole numbers. The number of a stratum is at most its ``size``.
    """
    quota = np.zeros(size.shape)
    for _ in range(size.shape[1]):
        share = np.where(quota < size, weight, 0)
        share /= np.maximum(share.sum(axis=1, keepdims=True), 1e-300)
        quota = np.minimum(quota + (total - quota.sum(axis=1))[:, None] * share, size)
    numbers = np.floor(quota + _EXACT)
    place = np.argsort(np.argsort(numbers - quota, axis=1, kind="stable"), axis=1)
    return np.asarray(numbers + (place < np.rint(total - numbers.sum(axis=1))[:, None]))


def law(strata: Floats, m: int) -> Floats:
    """Return the distribution of the number of sampled items above the relevant item.

    The result has shape (instances, m + 1).

    Parameters
    ----------
    strata
        For each instance and stratum, four numbers: the number of negatives above the relevant
        item, the number tied with it, the number of all negatives, and the number that is drawn:
        (instances, 4, strata). Tied items are in random order.
    m
        Number of sampled negatives, which :func:`allot` divides among the strata. If an instance
        has fewer negatives, all are sampled.
    """
    above, tied, negatives, drawn = (strata[:, part] for part in range(4))
    drawn = allot(negatives, drawn, m)
    rows = np.empty((len(strata), m + 1))
    patterns, pattern = np.unique(tied, axis=0, return_inverse=True)
    for number, ties in enumerate(patterns.astype(np.int64)):
        nodes, weights = np.polynomial.legendre.leggauss(min(ties.sum(), m) // 2 + 1)
        members = np.flatnonzero(pattern.ravel() == number)
        for block in blocks(len(members), _ROOM, (int(ties.max()) + len(nodes) + 1) * (m + 1)):
            at = members[block]
            waves = np.ones((len(nodes), len(at), (m + 1) // 2 + 1), dtype=complex)
            for c, most in enumerate(ties.tolist()):
                high = above[at, c, None] + np.arange(most + 1)
                p = _hypergeometric(m, drawn[at, c], high, negatives[at, c])
                waves *= scipy.fft.rfft(np.tensordot(_binomial(most, (nodes + 1) / 2), p, (1, 1)))
            rows[at] = np.tensordot(weights / 2, scipy.fft.irfft(waves, m + 1), 1)
    rows[rows < _NOTHING] = 0.0
    return rows


def _binomial(n: int, p: Floats) -> Floats:
    """Return the probabilities of 0, ..., n under Binomial(n, p) for each p: (len(p), n + 1)."""
    j, p = np.arange(n + 1), p[:, None]
    ways = gammaln(n + 1) - gammaln(j + 1) - gammaln(n - j + 1)
    return np.asarray(np.exp(ways + xlogy(j, p) + xlog1py(n - j, -p)))


def _hypergeometric(m: int, drawn: Floats, high: Floats, negatives: Floats) -> Floats:
    """Return P(s of the ``drawn`` items are above the relevant item) for s in 0..m.

    The items are drawn from the ``negatives`` of one stratum, without replacement. If the relevant
    item is tied, several numbers of negatives may be above it: ``high`` holds them, shape
    (instances, numbers). The result has shape (instances, numbers, m + 1).
    """
    drawn, negatives, high = drawn[:, None, None], negatives[:, None, None], high[..., None]
    others = negatives - high
    low, top = np.maximum(drawn - others, 0), np.minimum(drawn, high)
    s = np.arange(m + 1)
    # Numerator and denominator of P(s) / P(s - 1). For s = low + 1, ..., top, neither is 0.
    steps = (high - s + 1) * (drawn - s + 1), s * (others - drawn + s)
    within = (s > low) & (s <= top)
    logs = np.cumsum(np.log(np.divide(*steps, out=np.ones(within.shape), where=within)), axis=-1)
    p = np.exp(logs - logs.max(axis=-1, keepdims=True)) * ((s >= low) & (s <= top))
    return np.asarray(p / p.sum(axis=-1, keepdims=True))
