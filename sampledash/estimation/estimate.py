"""The exact metric, estimated from sampled ranks, with its interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampledash.correction import Correction
from sampledash.estimation.intervals import interval
from sampledash.estimation.points import point
from sampledash.metrics import Metric
from sampledash.sampledranks import SampledRankSet


@dataclass(frozen=True)
class Estimate:
    """An estimate of the exact metric with its interval.

    Attributes
    ----------
    value
        The estimate.
    low, high
        Where the exact metric lies, as far as the sampled ranks can tell.
    """

    value: float
    low: float
    high: float


def estimate(
    metric: Metric | str,
    srs: SampledRankSet,
    method: Correction | str,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
) -> Estimate:
    """Estimate the exact metric from sampled ranks, with an interval.

    Parameters
    ----------
    metric, srs, method
        As for :func:`~sampledash.estimation.point`.
    confidence
        Chance that the interval holds the exact metric, in 0..1.
    rng
        For resampling the instances; ``None`` gives the same interval every time.

    Returns
    -------
    Estimate
        ``.value``, ``.low`` and ``.high``, in the metric's units.

    Raises
    ------
    ValueError
        If the method is not understood, a sampled rank is impossible or the confidence is out of
        range.

    Notes
    -----
    The interval holds what the sampled ranks leave open, however many instances there are: it is
    wide for metrics of the first few ranks, and no method makes it narrower. Estimates of different
    systems can be in the right order although their intervals overlap.
    """
    value = point(metric, srs, method)
    low, high = interval(metric, srs, method, confidence, rng)
    return Estimate(value, float(low), float(high))
