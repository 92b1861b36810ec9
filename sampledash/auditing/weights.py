r"""The most likely power of popularity by which lists of items were drawn.

Items are drawn with weights w = popularity^α. With replacement, an item has the probability w / W,
where W is the total weight of the candidates of its list. Without replacement, drawing is a race:
the clock of each candidate rings after an exponential time with the rate w, and the first m make
the list (Rosén, J. Statist. Plann. Inference 62, 1997). A file does not tell in which order they
rang. The probability of a list is that its clocks ring before the clocks of all other candidates,
whose total weight is R:

.. math:: \int_0^\infty R e^{-R t} \prod_{j} (1 - e^{-w_j t}) \, dt.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtri

from sampledash.types import Floats, Ints

#: Chance with which each test of clean lists raises a false alarm; there are at most six tests.
LEVEL = 5e-4
_STEPS, _NEAR, _FAR = 25, 1e-3, 5.0  # steps of Newton's method, their end, and the largest |α|
# The integrand is log-concave in log t. The trapezoid rule sums it over these numbers of standard
# deviations from the mode; for a single item, it falls off as slowly as t² towards the left.
_NODES = np.arange(-9.0, 6.0, 0.75)[:, None]
_Step = tuple[float, float, Floats]


class Draws(NamedTuple):
    """The drawn items of ``size`` lists, and the items (lists × items) that are no candidates."""

    size: int
    row: Ints  # list of each draw
    item: Ints
    excluded: csr_array

    def sums(self, values: Floats) -> Floats:
        """Return the sum of the values of each list's draws."""
        return np.bincount(self.row, values, self.size).astype(np.float64)

    def totals(self, values: Floats) -> Floats:
        """Return the sum of the values (items, ...) of each list's candidates."""
        return np.asarray(values.sum(axis=0) - self.excluded @ values)

    @property
    def lengths(self) -> Floats:
        """Number of draws of each list."""
        return self.sums(np.ones(len(self.row)))


class Fitted(NamedTuple):
    """The most likely power of popularity and its standard error; both NaN if nothing tells them.

    With replacement, list u is expected to hold item j ``weights[j] * times[u]`` times. Without,
    the item is in the list with the probability 1 - exp(-weights[j] * times[u]).
    """

    alpha: float
    error: float
    weights: Floats
    times: Floats

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % interval of α."""
        half = float(ndtri(0.975)) * self.error
        return self.alpha - half, self.alpha + half

    @property
    def popular(self) -> bool:
        """Whether α differs from 0, as it would in uniform draws with the chance ``LEVEL``."""
        return bool(abs(self.alpha) > -ndtri(LEVEL / 2) * self.error)


def fit(draws: Draws, popularity: Floats, once: bool, alpha: float = 0.0) -> Fitted:
    """Return the most likely α, by Newton's method from ``alpha``.

    ``once`` is whether a list holds each item at most once. No drawn item has the popularity 0.
    """
    log = np.log(popularity, where=popularity > 0, out=np.zeros(len(popularity)))
    times = np.log((draws.lengths + 1) / (draws.totals((popularity > 0).astype(float)) + 1))
    derivatives = _distinct if once else _repeated
    for _ in range(_STEPS):
        weights = np.where(popularity > 0, np.exp(alpha * (log - log.mean())), 0.0)
        moments = weights[:, None] * log[:, None] ** [0, 1, 2]
        score, info, times = derivatives(draws, moments, log, times)
        if not info > 1e-9:
            return Fitted(np.nan, np.nan, weights, np.exp(times))
        step = float(np.clip(score / info, -0.5, 0.5))
        alpha = float(np.clip(alpha + step, -_FAR, _FAR))
        if abs(step) < _NEAR * info**-0.5:
            break
    return Fitted(alpha, float(info**-0.5), weights, np.exp(times))


def _repeated(draws: Draws, moments: Floats, log: Floats, times: Floats) -> _Step:
    """Return the derivative by α of the log-likelihood, minus the second, and log m/W."""
    m, (w, w1, w2) = draws.lengths, np.maximum(draws.totals(moments), [1e-300, 0, 0]).T
    mean = w1 / w
    score = log[draws.item].sum() - m @ mean
    return score, m @ (w2 / w - mean**2), np.log(np.maximum(m, 1e-300) / w)


def _distinct(draws: Draws, moments: Floats, log: Floats, times: Floats) -> _Step:
    """Return the derivatives as :func:`_repeated` does, and the mode of log t of each list."""
    w, x = moments[draws.item, 0], log[draws.item]
    rest = draws.totals(moments).T - [draws.sums(column) for column in moments[draws.item].T]
    on = rest[0] > 1e-9 * moments[:, 0].max()  # the list does not hold all its candidates
    r, r1, r2 = np.where(on, rest, 1.0)

    def ringing(logs: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return t, P(clock has rung), its log-derivative by log t, and that one's derivative."""
        hazard = np.exp(logs)
        rates = w * hazard[draws.row]
        rung = -np.expm1(-rates)
        q = rates * (1 - rung) / rung
        return hazard, rung, q, q * (1 - rates - q)

    for _ in range(_STEPS):
        t, _, q, dq = ringing(times)
        bend = r * t - draws.sums(dq)
        step = np.clip((1 - r * t + draws.sums(q)) / bend, -1, 1)
        times = times + step
        if np.abs(step[on]).max(initial=0) < 1e-4:
            break
    values = []
    for logs in times + _NODES / np.sqrt(bend):
        t, rung, q, dq = ringing(logs)
        height = logs - r * t + draws.sums(np.log(rung))
        score = r1 / r - r1 * t + draws.sums(x * q)
        values.append((height, score, r2 / r - (r1 / r) ** 2 - r2 * t + draws.sums(x**2 * dq)))
    heights, scores, bends = np.array(values).transpose(1, 0, 2)
    shares = np.exp(heights - heights.max(axis=0))
    shares *= on / shares.sum(axis=0)
    mean = (shares * scores).sum(axis=0)
    info = mean**2 - (shares * (bends + scores**2)).sum(axis=0)
    return float(mean.sum()), float(info.sum()), times
