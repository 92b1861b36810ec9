r"""How narrow an interval can be at all, whoever makes it.

Let the ranks of U instances come from a distribution of sampled shares q, and let an interval
[l, u] hold the metric T of the instances with probability 0.95 whatever distribution their ranks
come from. Take another one, :math:`\pi'`, of shares q'. Under it T is, given the sampled ranks,
nearly normal about :math:`\beta \cdot \hat p`, :math:`\beta_s` the mean metric of instances of
sampled rank s. So "u lies below a T drawn like this" is a test of :math:`\pi'` that errs in 5 % of
samples, and no such test rejects samples of q more often than Neyman and Pearson's. Where theirs
does so in half of the samples, the median of u is at least that of the T drawn,

.. math:: \pi' \cdot M + \beta \cdot (q - q').

The same holds for l; the two together are a floor under the median width (up to normal errors). It
follows Low, On nonparametric confidence intervals, Annals of Statistics 1997.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from sampledash.estimation.confidence import nonnegative
from sampledash.estimation.linear_programme import Columns, Shape
from sampledash.metrics import Metric
from sampledash.sampledranks import SampledRankSet
from sampledash.types import Floats, Ints


@dataclass(frozen=True)
class Hardest:
    """The distribution of ranks that is hardest to tell from another, to one side of its metric.

    Attributes
    ----------
    places, weights
        Ranks and their shares; with a shape, ends j of uniform distributions on 1..j and theirs.
    end
        What the end of an interval reaches in half of the samples, at least.
    """

    places: Ints
    weights: Floats
    end: float


def hardest(
    metric: Metric, infinite: SampledRankSet, size: int, shape: Shape | None, confidence: float
) -> tuple[Hardest, Hardest]:
    """Below and above: what intervals for ``size`` instances must allow at a confidence.

    Parameters
    ----------
    infinite
        Shares of sampled ranks on infinitely many instances.
    """
    (counts,) = infinite.outcomes.counts
    q = counts / counts.sum()
    columns = Columns(infinite.outcomes.samplings, (None,), metric, shape, joint=True)
    table = columns.on_grid()
    law, joint, exact = table[:, : len(q)], table[:, len(q) : -2], table[:, -1]
    errors = np.sqrt(np.maximum(q, 1e-12) / size)
    rows, goal = law.T / errors[:, None], q / errors
    one = np.ones((1, len(exact)))

    def nearest(value: float) -> Floats:
        firm = 1e4 / np.ptp(exact)
        found = nonnegative(np.vstack([rows, firm * exact]), np.append(goal, firm * value), one)
        return found / found.sum()

    inside = float(nonnegative(rows, goal, one) @ exact)

    def towards(end: float) -> Hardest:
        def excess(value: float) -> float:
            return rejected(q, nearest(value) @ law, size, confidence) - 0.5

        # An end of all values that is not rejected is as far as an interval has to go.
        value = end if excess(end) < 0 else float(brentq(excess, inside, end, xtol=1e-5))
        weights = nearest(value)
        told = (weights @ joint) / np.maximum(weights @ law, 1e-300)
        drawn = float(weights @ exact + told @ (q - weights @ law))
        return Hardest(columns.grid, weights, drawn)

    return towards(float(exact.min())), towards(float(exact.max()))


def floor(
    metric: Metric, infinite: SampledRankSet, size: int, shape: Shape | None, confidence: float
) -> float:
    """Least median width of an interval for ``size`` instances that is true at a confidence."""
    below, above = hardest(metric, infinite, size, shape, confidence)
    return above.end - below.end


def rejected(q: Floats, other: Floats, size: int, confidence: float) -> float:
    """Power of the likelihood ratio test of ``other`` against q, for counts of ``size`` draws."""
    seen = (q > 1e-300) & (other > 1e-300)
    ratio = np.log(q[seen] / other[seen])

    def mean_and_scatter(shares: Floats) -> tuple[float, float]:
        mean = float(shares[seen] @ ratio)
        return size * mean, float(np.sqrt(size * max(shares[seen] @ ratio**2 - mean**2, 1e-300)))

    (high, wide), (low, narrow) = mean_and_scatter(q), mean_and_scatter(other)
    return float(ndtr((high - low - ndtri(confidence) * narrow) / wide))
