"""The exact metric, estimated from sampled ranks, with its interval."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sampledash.correction import Correction
from sampledash.estimation.intervals import interval
from sampledash.estimation.points import point
from sampledash.metrics import Metric
from sampledash.sampledranks import SampledRankSet

_ROUNDING = 1e-9
OVERSHOOT = (
    "entries of a corrected vector lie outside 0 to 100 % where that lessens its bias, and then so "
    "may their mean"
)


@dataclass(frozen=True)
class Estimate:
    """An estimate of the exact metric with its interval.

    Attributes
    ----------
    value
        The estimate; outside 0..1 where :attr:`reason` says why.
    low, high
        Where the exact metric lies, as far as the sampled ranks can tell.
    """

    value: float
    low: float
    high: float

    @property
    def reason(self) -> str:
        """Why the estimate lies outside 0..1, in one sentence; empty where it does not."""
        return outside(self.value)

    def __str__(self) -> str:
        value, low, high = (f"{100 * x:.2f}" for x in (self.value, self.low, self.high))
        said = f"{value} %, between {low} and {high} %"
        return f"{said} ({self.reason})" if self.reason else said


def outside(value: float) -> str:
    """Why an estimate lies outside 0..1, in one sentence; empty where it does not.

    Means over a rank distribution never do; means of a corrected vector can.

    Examples
    --------
    >>> outside(-0.061)
    'below 0 %, as no metric is: entries of a corrected vector lie outside 0 to 100 % where that \
lessens its bias, and then so may their mean'
    >>> outside(0.25)
    ''
    """
    if -_ROUNDING <= value <= 1 + _ROUNDING:
        return ""
    return f"{'below 0 %' if value < 0 else 'above 100 %'}, as no metric is: {OVERSHOOT}"


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
        ``.value``, ``.low`` and ``.high``, in the metric's units; its text is in percent.

    Raises
    ------
    ValueError
        If the method is not understood, a sampled rank is impossible or the confidence is out of
        range; where what was drawn decided m, for methods other than ``"mle"`` and
        ``"monotone-mle"``.

    Notes
    -----
    The interval holds what the sampled ranks leave open, however many instances there are: it is
    wide for metrics of the first few ranks, and no method makes it narrower. Estimates of different
    systems can be in the right order although their intervals overlap.
    """
    value = point(metric, srs, method)
    low, high = interval(metric, srs, method, confidence, rng)
    return Estimate(value, float(low), float(high))
