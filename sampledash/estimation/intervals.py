"""Honest intervals: what one sample leaves open, its scatter and its blindness together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri

from sampledash import checks
from sampledash.correction import Correction
from sampledash.estimation.bounds import check_shape, require_sampled, spanned
from sampledash.estimation.bounds_family import Shape
from sampledash.estimation.distribution import require_valid
from sampledash.estimation.points import as_method, points
from sampledash.estimation.sample import Sample, sample_of
from sampledash.estimation.scatter import standard_error
from sampledash.metrics import Metric, as_metric
from sampledash.sampledranks import SampledRankSet

_RUNS = 200  # bootstrap samples: their standard deviation is then known to 5 %


@dataclass(frozen=True)
class Compared:
    """What one sample of each tells about two systems.

    Attributes
    ----------
    first, second
        The systems.
    low, high
        Interval of the exact metric of the first minus that of the second.
    """

    first: str
    second: str
    low: float
    high: float

    @property
    def better(self) -> str | None:
        """The better system, or ``None`` where the sample does not decide."""
        return self.first if self.low > 0 else self.second if self.high < 0 else None

    def __str__(self) -> str:
        if self.better is None:
            return "undecided"
        other = self.second if self.better == self.first else self.first
        return f"{self.better} > {other}"


def interval(
    metric: Metric | str,
    srs: SampledRankSet,
    method: Correction | str | None = None,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
    *,
    shape: Shape | None = None,
) -> tuple[float, float]:
    """Interval that holds the exact metric with a stated confidence, whatever the true ranks.

    Parameters
    ----------
    metric
        A metric or its text.
    srs
        Sampled ranks of one system.
    method
        An estimator, as in :func:`~sampledash.estimate`: the interval then also spans the scatter
        of its value over instances. ``None``: what the sampled ranks leave open, alone.
    confidence
        Chance that the interval holds the exact metric, in 0..1.
    rng
        Given, the estimator's scatter comes from 200 bootstrap samples of the instances; ``None``
        takes it from the derivatives of the estimate (delta method), which agrees and is fast.
    shape
        ``"non-increasing"``: narrower, and only as honest as that assumption.

    Returns
    -------
    Low and high end, in the metric's units.

    Raises
    ------
    ValueError
        If the confidence is not in 0..1, the method is not understood, or the sample contradicts
        the shape; where what was drawn decided m, for a shape and for methods other than ``"mle"``
        and ``"monotone-mle"``.

    Notes
    -----
    An interval from the scatter of an estimator alone does not hold the exact metric with any
    confidence: its bias does not shrink with the number of instances. The part of the interval that
    remains on infinitely many instances is that of :func:`~sampledash.bounds` at a tolerance near
    0. On some hundred instances the scatter adds as much again; for AUC, whose bounds coincide, it
    is all there is.

    The exact metric is that of the instances at hand, as :func:`~sampledash.mean` computes it from
    their true ranks; what other instances would have, :func:`~sampledash.significance` asks.
    Coverage and its limits: :mod:`sampledash.estimation.bounds_region`, and where what was drawn
    decided m :mod:`sampledash.estimation.bounds_likelihood`.
    """
    metric = as_metric(metric)
    check_shape(shape)
    require_sampled("srs", srs)
    inside = _level(confidence)
    if method is not None:
        require_valid([srs], as_method(method))
    low, high = spanned(metric, [srs], shape, inside)
    if method is None:
        return low, high
    sample = sample_of((srs,))
    value = float(points(metric, sample, method))
    if rng is None:
        error = standard_error(metric, sample, method)
    else:
        checks.generator(rng)
        error = float(np.std(points(metric, _resampled(sample, rng), method), ddof=1))
    reach = float(ndtri((1 + inside) / 2)) * error
    worst, best = metric([srs.population, 1], srs.population).tolist()
    return max(min(low, value - reach), worst), min(max(high, value + reach), best)


def compare(
    metric: Metric | str,
    srs: SampledRankSet,
    versus: SampledRankSet,
    shape: Shape | None = None,
    confidence: float = 0.95,
) -> Compared:
    """Decide between two systems where their samples allow it.

    Parameters
    ----------
    metric
        A metric or its text.
    srs, versus
        Sampled ranks of the two systems.
    shape
        ``"non-increasing"``: both rank distributions are assumed to be.
    confidence
        Of the interval of the difference.

    Returns
    -------
    Compared
        ``.better`` names the better system, or is ``None``; ``.low .high`` is the interval of the
        difference; ``str`` gives "A > B" or "undecided".

    Raises
    ------
    ValueError
        As :func:`interval`.

    Notes
    -----
    The two samples count as independent, also where the systems rank the same instances. They then
    tend to do well on the same ones, and the interval is wider than it need be.

    Undecided is the usual answer for a metric of the top ranks without an assumption: the sampled
    ranks do not tell where in the first n/m ranks an item stands.
    """
    metric = as_metric(metric)
    check_shape(shape)
    require_sampled("srs", srs)
    require_sampled("versus", versus)
    low, high = spanned(metric, [srs, versus], shape, _level(confidence))
    return Compared(srs.system, versus.system, low, high)


def _level(confidence: float) -> float:
    level = checks.real("confidence", confidence, low=0, high=1, above=True)
    if level == 1:
        raise ValueError(
            "confidence must be below 1, got 1: only 0..1 holds the metric for certain"
        )
    return level


def _resampled(sample: Sample, rng: np.random.Generator) -> Sample:
    """Draw instances with replacement: counts (runs, m + 1) for each number of negatives."""
    ends = np.cumsum([len(one) for one in sample.counts])[:-1]
    groups = [np.concatenate(sample.counts)] if sample.adaptive else sample.counts
    found = []
    for one in groups:
        total = one.sum()
        size = max(1, round(float(total)))
        drawn = rng.multinomial(size, one / total, _RUNS)
        found.append(drawn * (total / size))
    counts = np.split(found[0], ends, axis=1) if sample.adaptive else found
    return Sample(sample.n, sample.scheme, sample.m, tuple(counts), sample.adaptive)
