r"""The exact metric, estimated from sampled ranks, with its interval.

An estimate is a smooth function :math:`\theta` of the shares of the sampled ranks. With slope
:math:`\psi_s = \partial \theta / \partial \hat p_s` its variance over |D| instances is, to first
order, that of :math:`\psi` over the observed shares, divided by |D| (the delta method). The slope
of the learned vectors passes through their prior, that of the prior through every iteration.

That scatter is what resampling the instances would show, not how far the estimate is from the
truth: the interval also spans what the sampled ranks leave open (:func:`~sampledash.bounds`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from scipy.special import ndtri

from sampledash import checks
from sampledash.correction import Correction, as_correction
from sampledash.estimation import vectors
from sampledash.estimation.bounds import check_shape, confidence_range, require_sampled
from sampledash.estimation.linear_programme import Shape
from sampledash.estimation.nodes import exact_at, worst_and_best
from sampledash.estimation.rank_distribution import (
    DISTRIBUTIONS,
    DistributionMethod,
    Model,
    RankDistribution,
    fitted,
    require_valid,
)
from sampledash.estimation.vectors import VectorMethod
from sampledash.metrics import Metric, as_metric
from sampledash.sampledranks import Outcomes, SampledRankSet
from sampledash.types import Floats

Method = DistributionMethod | VectorMethod
METHODS = (*DISTRIBUTIONS, *vectors.VECTORS)
OVERSHOOT = (
    "entries of a corrected vector lie outside 0 to 100 % where that lessens its bias, and then so "
    "may their mean"
)
_ROUNDING = 1e-9
_RUNS = 200  # bootstrap samples: their standard deviation is then known to 5 %


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


@dataclass(frozen=True)
class Compared:
    """The interval of the exact metric of the first system minus that of the second."""

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


def outside(value: float) -> str:
    """Why an estimate lies outside 0..1, as means of a corrected vector can; empty where not.

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


def as_method(method: Correction | str) -> Correction | Method:
    """The name of an estimator, or a correction; refuses a text that is neither."""
    if not isinstance(method, str):
        return as_correction(method)
    plain = method.strip().lower().replace("_", "-")
    if plain in METHODS:
        return cast(Method, plain)
    try:
        return as_correction(method)
    except ValueError:
        raise ValueError(
            f"method {checks.shown(method)} is not understood: use {', '.join(METHODS)}, or a "
            "correction such as 'BV 0.1' or 'CLS'"
        ) from None


def _prior_of(plan: Method) -> DistributionMethod:
    if plan in DISTRIBUTIONS:
        return cast(DistributionMethod, plan)
    return vectors.prior_method(cast(VectorMethod, plan))


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
    metric
        A metric or its text.
    srs
        Sampled ranks of one system.
    method
        A correction or its text, or ``"mle" "mes" "monotone-mle"`` (the mean over that rank
        distribution), ``"bv-mle" "bv-mes" "bv-monotone-mle" "mn"`` (a vector learned from it).
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

    Where an instance has another number of negatives, distributions use all instances together;
    vectors are fitted for each number and averaged by weight. Where what was drawn decided that
    number, only ``"mle"`` and ``"monotone-mle"`` are right: the rule cancels in the likelihood,
    while the law at each m, which all others rest on, is no longer that of the sampled rank.
    """
    value = point(metric, srs, method)
    low, high = interval(metric, srs, method, confidence, rng)
    return Estimate(value, float(low), float(high))


def point(metric: Metric | str, srs: SampledRankSet, method: Correction | str) -> float:
    """Estimate as :func:`estimate` does, without an interval."""
    require_sampled("srs", srs)
    require_valid([srs], as_method(method))
    return float(_estimated(metric, srs.outcomes, method, lambda prior: fitted(srs, prior)))


def points(metric: Metric | str, outcomes: Outcomes, method: Correction | str) -> Floats:
    """Estimate the exact metric as :func:`point` does, for each run: shape (runs,)."""
    return _estimated(metric, outcomes, method, lambda x: Model(outcomes, x).distribution())


def _estimated(
    metric: Metric | str,
    outcomes: Outcomes,
    method: Correction | str,
    learn: Callable[[DistributionMethod], RankDistribution],
) -> Floats:
    metric, plan = as_metric(metric), as_method(method)
    if isinstance(plan, Correction):
        return _averaged(outcomes, _fitted_values(plan, metric, outcomes))
    found = learn(_prior_of(plan))
    if plan in DISTRIBUTIONS:
        return found.expected(metric)
    gamma = vectors.gamma_of(cast(VectorMethod, plan), None, 1)
    priors = [RankDistribution(found.support, mass) for mass in np.atleast_2d(found.mass)]
    of_runs = list(zip(priors, np.atleast_1d(outcomes.total).tolist(), strict=True))
    values = [
        np.stack([vectors.learned_values(metric, prior, m, gamma, size) for prior, size in of_runs])
        for m in outcomes.m
    ]
    return _averaged(outcomes, values).reshape(outcomes.total.shape)


def _fitted_values(plan: Correction, metric: Metric, outcomes: Outcomes) -> list[Floats]:
    return [plan.fit(metric, sampling).values for sampling in outcomes.samplings]


def _averaged(outcomes: Outcomes, values: Sequence[Floats]) -> Floats:
    """Mean over the instances of a vector per m: shape (m + 1,), or one for each run."""
    sums = [np.sum(c * v, axis=-1) for c, v in zip(outcomes.counts, values, strict=True)]
    return np.asarray(np.sum(sums, axis=0) / outcomes.total)


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

    With a ``method``, as for :func:`estimate`, it also spans the scatter of that estimate over
    instances: from its derivatives (delta method), or, given ``rng``, from 200 bootstrap samples,
    which agree. With a ``shape`` it is narrower, and only as honest as that assumption.

    An interval from the scatter of an estimator alone does not hold the exact metric with any
    confidence: its bias does not shrink with the number of instances. The exact metric is that of
    the instances at hand; what others would have, :func:`~sampledash.significance` asks. Coverage
    and its limits: :mod:`sampledash.estimation.confidence`.
    """
    metric = as_metric(metric)
    check_shape(shape)
    require_sampled("srs", srs)
    inside = _level(confidence)
    if method is not None:
        require_valid([srs], as_method(method))
    low, high = confidence_range(metric, [srs], shape, inside)
    if method is None:
        return low, high
    value = float(points(metric, srs.outcomes, method))
    if rng is None:
        error = standard_error(metric, srs.outcomes, method)
    else:
        checks.generator(rng)
        error = float(np.std(points(metric, _resampled(srs.outcomes, rng), method), ddof=1))
    reach = float(ndtri((1 + inside) / 2)) * error
    worst, best = worst_and_best(metric, srs.outcomes.n)
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
    low, high = confidence_range(metric, [srs, versus], shape, _level(confidence))
    return Compared(srs.system, versus.system, low, high)


def _level(confidence: float) -> float:
    level = checks.real("confidence", confidence, low=0, high=1, above=True)
    if level == 1:
        raise ValueError(
            "confidence must be below 1, got 1: only 0..1 holds the metric for certain"
        )
    return level


def _samples(outcomes: Outcomes) -> tuple[Floats, ...]:
    """Counts of instances that are a sample of their own: all, if what was drawn decided m."""
    return (np.concatenate(outcomes.counts),) if outcomes.adaptive else outcomes.counts


def _resampled(outcomes: Outcomes, rng: np.random.Generator) -> Outcomes:
    """Draw instances with replacement: counts (runs, m + 1) for each number of negatives."""
    drawn = []
    for one in _samples(outcomes):
        total = one.sum()
        size = max(1, round(float(total)))
        drawn.append(rng.multinomial(size, one / total, _RUNS) * (total / size))
    ends = np.cumsum([m + 1 for m in outcomes.m])[:-1]
    return replace(outcomes, counts=tuple(np.split(np.concatenate(drawn, axis=1), ends, axis=1)))


def standard_error(metric: Metric | str, outcomes: Outcomes, method: Correction | str) -> float:
    """Standard deviation of :func:`~sampledash.estimation.point` over the choice of instances."""
    slope = slopes(as_metric(metric), outcomes, method)
    total, start, variance = float(outcomes.total), 0, 0.0
    for counts in _samples(outcomes):
        here = slope[start : start + len(counts)]
        if size := float(counts.sum()):
            mean = float(counts @ here) / size
            variance += float(counts @ (here - mean) ** 2) / total**2
        start += len(counts)
    return float(np.sqrt(variance))


def slopes(metric: Metric, outcomes: Outcomes, method: Correction | str) -> Floats:
    """Derivatives of the estimate in the shares that occur, as :meth:`Model.slopes`."""
    plan = as_method(method)
    if isinstance(plan, Correction):
        return np.concatenate(_fitted_values(plan, metric, outcomes))
    cut = metric.cut(outcomes.n - 1)
    prior = Model(outcomes, _prior_of(plan), cut if cut and cut < outcomes.n else None)
    target = exact_at(metric, prior.support.above, outcomes.n)
    if plan in DISTRIBUTIONS:
        return prior.slopes(target)
    return _through_vectors(prior, target, vectors.gamma_of(cast(VectorMethod, plan), None, 1))


def _through_vectors(prior: Model, target: Floats, gamma: float | None) -> Floats:
    """Derivatives of a learned vector's mean: those of the shares, and through its prior."""
    outcomes, mass = prior.outcomes, prior.mass(prior.weights())
    noise = prior.support.ranks / float(outcomes.total) if gamma is None else gamma * mass
    start, direct, slope = 0, [], np.zeros(len(target))
    for m in outcomes.m:
        law, share = prior.support.law(m), outcomes.shares[start : start + m + 1]
        start += m + 1
        solve = vectors.solver(law, mass, noise)
        values, adjoint = solve((mass * target) @ law), solve(share)
        off = law @ adjoint
        if gamma is None:
            slope += off * (target - law @ values)
        else:
            slope += off * (target - (1 - gamma) * (law @ values))
            slope -= gamma * (law @ (adjoint * values))
        direct.append(values)
    return np.concatenate(direct) + prior.slopes(slope)
