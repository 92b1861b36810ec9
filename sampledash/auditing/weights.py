r"""The most likely power of popularity by which lists of items were drawn.

Items are drawn with weights w = popularity^α. With replacement, an item has the probability w / W,
where W is the total weight of the candidates of its list. Draws without replacement are equivalent
to a race: each candidate has a clock that rings after an exponential time with the rate w, and the
list consists of the first m candidates (Rosén, J. Statist. Plann. Inference 62, 1997). The order of
a list is unknown. The probability of a list is therefore the probability that the clocks of its m
items ring before the clocks of all other candidates. Let :math:`w_j` be the weight of the j-th item
of the list, and R the total weight of the other candidates, of which the first rings at the time t:

.. math:: \int_0^\infty R e^{-R t} \prod_{j} (1 - e^{-w_j t}) \, dt.
"""

from typing import NamedTuple

import numpy as np
from scipy.sparse import csr_array
from scipy.special import ndtri

from sampledash.types import Floats, Ints

#: Probability that a test reports a fault in faultless lists; an audit has at most six tests.
LEVEL = 5e-4
# Settings of Newton's method for α, the power of popularity: largest number of steps, shortest step
# (in standard errors of α), and largest |α|.
_STEPS, _NEAR, _FAR = 25, 1e-3, 5.0
# Where the trapezoid rule evaluates the integral of the module docstring, over the log of time t.
# These nodes are in standard deviations from the mode of the integrand. More nodes are below
# the mode, because there the integrand of a list with a single item decreases only as t².
_NODES = np.arange(-9.0, 6.0, 0.75)[:, None]
_Step = tuple[float, float, Floats]


class Draws(NamedTuple):
    """The drawn items of ``size`` lists of negatives; items are given by index.

    ``excluded``, of shape (lists, items), is 1 where an item is not a candidate of the list.
    """

    size: int
    row: Ints  # index of the list to which each draw belongs
    item: Ints
    excluded: csr_array

    def sums(self, values: Floats) -> Floats:
        """Return, for each list, the sum over its draws of ``values`` (one value per draw)."""
        return np.bincount(self.row, values, self.size).astype(np.float64)

    def totals(self, values: Floats) -> Floats:
        """Return, for each list, the sum over its candidates of ``values``, shape (items, ...)."""
        return np.asarray(values.sum(axis=0) - self.excluded @ values)

    @property
    def lengths(self) -> Floats:
        """Number of draws of each list."""
        return self.sums(np.ones(len(self.row)))


class Fitted(NamedTuple):
    """The most likely α and its standard error; NaN if the data give neither.

    ``weights`` are the items' sampling weights, popularity^α; ``times`` has a number for each list.
    For draws with replacement, the expected number of times that list u holds item j is
    ``weights[j] * times[u]``. For draws without replacement, the probability that list u holds item
    j is 1 - exp(-weights[j] * times[u]).
    """

    alpha: float
    error: float
    weights: Floats
    times: Floats

    @property
    def interval(self) -> tuple[float, float]:
        """The 95 % confidence interval of α; items are drawn with weights popularity^α."""
        half = float(ndtri(0.975)) * self.error
        return self.alpha - half, self.alpha + half

    @property
    def popular(self) -> bool:
        """Whether α differs significantly from 0; items are drawn with weights popularity^α.

        With α = 0, all items are equally likely. The level of the test is LEVEL.
        """
        return bool(abs(self.alpha) > -ndtri(LEVEL / 2) * self.error)


def fit(draws: Draws, popularity: Floats, once: bool, alpha: float = 0.0) -> Fitted:
    """Return the most likely power α, if items are drawn with weights popularity^α.

    Newton's method starts at ``alpha``. ``once`` says whether a list holds each item at most once.
    The popularity of drawn items must be above 0.
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
    """Return derivatives of the log-likelihood by the power α, for draws with replacement.

    α is the power of popularity that gives items their weights. Return the first derivative, minus
    the second derivative and, for each list, log(number of draws / total weight of the candidates).
    """
    m, (w, w1, w2) = draws.lengths, np.maximum(draws.totals(moments), [1e-300, 0, 0]).T
    mean = w1 / w
    score = log[draws.item].sum() - m @ mean
    return score, m @ (w2 / w - mean**2), np.log(np.maximum(m, 1e-300) / w)


def _distinct(draws: Draws, moments: Floats, log: Floats, times: Floats) -> _Step:
    """Return derivatives of the log-likelihood by the power α, for draws without replacement.

    α is the power of popularity that gives items their weights. Return the first derivative, minus
    the second derivative and, for each list, log t, where the time t maximizes the integrand of the
    list's probability (module docstring).
    """
    w, x = moments[draws.item, 0], log[draws.item]
    rest = draws.totals(moments).T - [draws.sums(column) for column in moments[draws.item].T]
    # ``on`` says whether a list leaves out candidates. A list of all candidates tells nothing about
    # the power α of popularity by which items are drawn.
    on = rest[0] > 1e-9 * moments[:, 0].max()
    r, r1, r2 = np.where(on, rest, 1.0)

    def ringing(logs: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """Return times t = exp(logs), and for each draw the probability p of ringing before t.

        Each item has a clock, which rings after an exponential time with the item's weight as rate.
        Also return the first and the second derivative of log p by log t.
        """
        hazard = np.exp(logs)
        rates = w * hazard[draws.row]
        rung = -np.expm1(-rates)
        q = rates * (1 - rung) / rung
        return hazard, rung, q, q * (1 - rates - q)

    # Find the maximum over t of t^power times the integrand of the module docstring. Power 0 would
    # give the mode over t. This mode is 0 for a list without draws, and log 0 is infinite: use the
    # power 0.001 instead. Power 1 gives the mode over log t, around which the integral is computed
    # below.
    for power in (1e-3, 1):
        likely = times
        for _ in range(_STEPS):
            t, _, q, dq = ringing(times)
            bend = r * t - draws.sums(dq)
            step = np.clip((power - r * t + draws.sums(q)) / bend, -1, 1)
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
    return float(mean.sum()), float(info.sum()), likely
