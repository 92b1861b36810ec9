"""With which weights lists were drawn: the most likely power of popularity, and a test of evenness.

Items are drawn with weights w = popularity^α. With replacement, an item has the probability w / W,
where W is the total weight of the candidates of its list. Without replacement, drawing is a race:
the clock of each candidate rings after an exponential time with the rate w, and the first m make
the list (Rosén, J. Multivariate Anal. 1997). A file does not say in which order they rang, so that
the probability of a list is that all its clocks ring before the first of the others does:

.. math:: \\int_0^\\infty R e^{-R t} \\prod_{j \\in list} (1 - e^{-w_j t}) \\, dt,

where R is the total weight of the other candidates.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import chdtrc

from sampledash.types import Flags, Floats, Ints

_STEPS, _NEAR, _FAR = 25, 1e-3, 5.0  # steps of Newton's method, their end, and the largest |α|
# The integrand is log-concave in log t. The trapezoid rule sums it at whole standard deviations
# from the mode; for one item, the integrand falls off as slowly as t² towards the left.
_NODES = np.arange(-7.0, 5.0)


class Draws(NamedTuple):
    """The drawn items of ``size`` lists, and the items (lists × items) that are no candidates."""

    size: int
    row: Ints  # list of each draw
    item: Ints
    excluded: csr_array

    def sums(self, values: Floats) -> Floats:
        """Return the sum of the values of each list's draws."""
        return np.bincount(self.row, values, self.size)

    def totals(self, values: Floats) -> Floats:
        """Return the sum of the values (items, ...) of each list's candidates."""
        whole: Floats = values.sum(axis=0) - self.excluded @ values
        return whole

    def lengths(self) -> Floats:
        """Return the number of draws of each list."""
        return self.sums(np.ones(len(self.row)))


class Fitted(NamedTuple):
    """The most likely power of popularity and its standard error; both NaN if nothing tells them.

    An item j of list u is expected ``weights[j] * times[u]`` times with replacement, and without
    replacement it is in the list with the probability 1 - exp(-weights[j] * times[u]).
    """

    alpha: float
    error: float
    weights: Floats
    times: Floats


def fit(draws: Draws, popularity: Floats, once: bool, start: float = 0.0) -> Fitted:
    """Return the most likely α; ``once`` is whether a list holds each item at most once.

    Items of popularity 0 are left out: given how many of the others a list holds, they tell
    nothing about α.
    """
    known = popularity > 0
    log = np.log(np.where(known, popularity, 1.0))
    log -= log[known].mean() if known.any() else 0.0
    at = known[draws.item]
    draws = draws._replace(row=draws.row[at], item=draws.item[at])
    alpha, times = start, draws.lengths() + 1
    times = np.log(times / (draws.totals(known.astype(float)) + 1))
    info = 0.0
    for _ in range(_STEPS):
        weights = np.where(known, np.exp(alpha * log), 0.0)
        score, info, times = (_distinct if once else _repeated)(draws, weights, log, times)
        if not info > 0:
            return Fitted(np.nan, np.nan, weights, np.exp(times))
        step = float(np.clip(score / info, -0.5, 0.5))
        alpha = float(np.clip(alpha + step, -_FAR, _FAR))
        if abs(step) < _NEAR * info**-0.5:
            break
    return Fitted(alpha, float(info**-0.5), weights, np.exp(times))


def _repeated(
    draws: Draws, weights: Floats, log: Floats, times: Floats
) -> tuple[float, float, Floats]:
    """Return the derivative by α of the log-likelihood, minus the second, and log m/W."""
    w, w1, w2 = draws.totals(np.column_stack([weights, weights * log, weights * log**2])).T
    lengths = draws.lengths()
    on = (w > 0) & (lengths > 0)
    m, mean, square = lengths[on], w1[on] / w[on], w2[on] / w[on]
    score = log[draws.item].sum() - m @ mean
    times = np.where(on, np.log(np.where(on, lengths / np.where(on, w, 1), 1)), -np.inf)
    return score, m @ (square - mean**2), times


def _distinct(
    draws: Draws, weights: Floats, log: Floats, times: Floats
) -> tuple[float, float, Floats]:
    """Return the derivatives as :func:`_repeated` does, and the mode of log t of each list."""
    w, x = weights[draws.item], log[draws.item]
    moments = np.column_stack([weights, weights * log, weights * log**2])
    rest = draws.totals(moments).T - [draws.sums(values) for values in (w, w * x, w * x**2)]
    on = rest[0] > 1e-9 * weights.max()  # the list does not hold all its candidates
    r, r1, r2 = np.where(on, rest, 1.0)
    for _ in range(_STEPS):
        hazard = np.exp(times)
        rates = w * hazard[draws.row]
        gone = -np.expm1(-rates)
        q = rates * (1 - gone) / gone
        slope = 1 - r * hazard + draws.sums(q)
        bend = r * hazard - draws.sums(q * (1 - rates - q))
        step = np.clip(slope / bend, -1, 1)
        times = times + step
        if np.abs(step[on]).max(initial=0) < 1e-4:
            break
    logs, scores, bends = [], [], []
    for node in _NODES:
        hazard = np.exp(times + node / np.sqrt(bend))
        rates = w * hazard[draws.row]
        gone = -np.expm1(-rates)
        q = rates * (1 - gone) / gone
        logs.append(np.log(hazard) - r * hazard + draws.sums(np.log(gone)))
        scores.append(r1 / r - r1 * hazard + draws.sums(x * q))
        bends.append(
            r2 / r - (r1 / r) ** 2 - r2 * hazard + draws.sums(x**2 * q * (1 - rates - q))
        )
    share = np.exp(np.array(logs) - np.max(logs, axis=0)) * on
    share /= np.maximum(share.sum(axis=0), 1e-300)
    first, s = (share * scores).sum(axis=0), np.array(scores)
    info = first**2 - (share * (bends + s**2)).sum(axis=0)
    return float(first.sum()), float(info.sum()), times
