r"""Estimates of the exact metric from sampled ranks, with intervals.

An estimate is a smooth function :math:`\theta` of the shares :math:`\hat p_s` of the sampled ranks,
with derivatives :math:`\psi_s = \partial \theta / \partial \hat p_s`. Its variance over |D|
instances is, to first order, the variance of :math:`\psi` between these instances, divided by |D|
(the delta method). If the estimate uses a prior distribution of the ranks that is learned from the
shares, the derivatives include the change of this prior.

This variance does not include the bias of the estimate. Therefore the interval also spans all
values of the metric that the sampled ranks allow (:func:`~sampledash.bounds`).

:func:`full_cutoff` and :func:`matching_cutoff` return the cutoff in the full list of candidates
that corresponds to a cutoff in a sampled list.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import cast

import numpy as np
from scipy.special import ndtri

from sampledash import checks
from sampledash.comparison.means import expected_mean
from sampledash.correction import Correction, as_correction
from sampledash.estimation import rank_distribution, vectors
from sampledash.estimation.bounds import confidence_range, possible_range, require_sampled, side
from sampledash.estimation.linear_programme import Shape
from sampledash.estimation.rank_distribution import LEARNED, DistributionMethod, Learned, Learner
from sampledash.metrics import Metric, as_metric
from sampledash.rank_sets import RankSet, require_ranks
from sampledash.rows import Live
from sampledash.sampled_rank_sets import READINGS, Outcomes, SampledRankSet
from sampledash.schemes import DEFAULT_SCHEME, SCHEMES, Scheme, uniform
from sampledash.types import Floats

#: All estimators that learn a rank distribution from the sampled ranks, by name.
METHODS: Live[str, Learned | vectors.Vector] = Live(lambda: {**LEARNED, **vectors.VECTORS})
OVERSHOOT = (
    "entries of a corrected vector lie outside 0 to 100 % where that lessens its bias, and then so "
    "may their mean"
)
_ROUNDING = 1e-9
_RUNS = 200  # number of bootstrap samples; their standard deviation has an error of about 5 %


@dataclass(frozen=True)
class Estimate:
    """An estimate of the exact metric with its interval.

    Attributes
    ----------
    value
        The estimate. It may lie outside 0..1; :attr:`reason` then explains this.
    low, high
        Confidence interval of the exact metric. It is valid under both assumptions of ``readings``.
    readings
        Empty, unless m correlates with the sampled rank and ``adaptive`` of the rank set is None.
        Then two estimates, with the mean ``value``: the first assumes that m was set beforehand,
        the second that m depended on the drawn negatives.
    """

    value: float
    low: float
    high: float
    readings: tuple[float, ...] = ()

    @property
    def reason(self) -> str:
        """A sentence that explains why the estimate lies outside 0..1; empty if it is inside."""
        return outside(self.value)

    def __str__(self) -> str:
        value, low, high = (f"{100 * x:.2f}" for x in (self.value, self.low, self.high))
        if self.readings:
            both = zip(self.readings, READINGS, strict=True)
            of_each = ", ".join(f"{100 * x:.2f} % if {reading}" for x, reading in both)
            value = f"m goes with the rank: {of_each}; middle {value}"
        text = f"{value} %, between {low} and {high} %"
        return f"{text} ({self.reason})" if self.reason else text


@dataclass(frozen=True)
class Compared:
    """Result of :func:`compare`: confidence interval of the difference of two exact metrics.

    The difference is the metric of the system ``first`` minus the metric of the system ``second``.
    """

    first: str
    second: str
    low: float
    high: float

    @property
    def better(self) -> str | None:
        """The name of the better system; None if the interval of the difference contains 0."""
        return {1: self.first, -1: self.second}.get(side((self.low, self.high)) or 0)

    def __str__(self) -> str:
        if self.better is None:
            return "undecided"
        return f"{self.better} > {self.second if self.better == self.first else self.first}"


def outside(value: float) -> str:
    """Return a text that explains why an estimate lies outside 0..1; empty if it is inside."""
    if -_ROUNDING <= value <= 1 + _ROUNDING:
        return ""
    return f"{'below 0 %' if value < 0 else 'above 100 %'}, as no metric is: {OVERSHOOT}"


def as_method(method: Correction | str) -> Correction | str:
    """Convert ``method`` to an estimator's name or a correction; raise a ValueError if invalid."""
    if not isinstance(method, str):
        return as_correction(method)
    plain = method.strip().lower().replace("_", "-")
    for name, row in METHODS.items():
        if plain and plain in (name, row.label.lower()):
            return name
    try:
        return as_correction(method)
    except ValueError:
        known = f"{', '.join(METHODS)}, or a correction such as 'BV 0.1' or 'CLS'"
        odd = f"method {checks.shown(method)} is not understood"
        raise ValueError(f"{odd}: use {known}") from None


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
        A metric, or text such as ``"Recall@10"``.
    srs
        Sampled ranks of one system.
    method
        A correction or its text, or the name of an estimator: ``"mle"``, ``"mes"`` and
        ``"monotone-mle"`` average the metric over a learned rank distribution; ``"bv-mle"``,
        ``"bv-mes"``, ``"bv-monotone-mle"`` and ``"mn"`` are corrections with a learned prior.
    confidence
        Probability that the interval contains the exact metric, in 0..1.
    rng
        Generator for bootstrap samples of the instances, which give the error due to the choice of
        the instances. If None, the delta method gives this error.

    Returns
    -------
    Estimate
        ``.value``, ``.low`` and ``.high``, in the metric's units; ``str`` shows them in percent.

    Raises
    ------
    ValueError
        If the method is not understood, a sampled rank is impossible or the confidence is out of
        range; if m depended on the drawn negatives, for methods other than ``"mle"`` and
        ``"monotone-mle"``.

    Notes
    -----
    The interval spans all values that the sampled ranks allow, like :func:`~sampledash.bounds`. It
    also spans the error of the estimate that is due to the choice of the instances, and can
    therefore be somewhat wider than the bounds. Even with many instances, the interval is wide for
    metrics of the first few ranks, and no method makes it narrower. Estimates of different systems
    can be in the right order although their intervals overlap.

    Where m differs between instances, rank distributions are learned from all instances together; a
    correction is fitted for each m. Where m depended on the drawn negatives (a stopping rule), only
    ``"mle"`` and ``"monotone-mle"`` are valid. The rule multiplies the likelihood of every rank
    distribution by the same factor. But it changes the distribution of the sampled rank at each m,
    which all other methods use. Where m was set beforehand by something that correlates with the
    rank, the instances with each m have their own rank distribution. A sample cannot distinguish
    these two cases: see ``readings`` of :class:`Estimate`.

    Each stratum (instances with nearly the same number of candidates) is estimated separately.
    """
    values = by_reading(metric, srs, method)
    low, high = interval(metric, srs, method, confidence, rng)
    readings = values if len(values) > 1 else ()
    return Estimate(float(np.mean(values)), float(low), float(high), readings)


def point(metric: Metric | str, srs: SampledRankSet, method: Correction | str) -> float:
    """Return the value that :func:`estimate` gives, without computing an interval."""
    return float(np.mean(by_reading(metric, srs, method)))


def by_reading(
    metric: Metric | str, srs: SampledRankSet, method: Correction | str
) -> tuple[float, ...]:
    """Return one estimate of the exact metric, or two if it is unknown why m differs.

    The first of the two assumes that m was set before the draw of the negatives, the second that m
    depended on the drawn negatives.
    """
    require_sampled("srs", srs)
    rank_distribution.require_valid([srs], as_method(method))
    return tuple(_of_strata(metric, reading, method) for reading in srs.readings)


def _of_strata(metric: Metric | str, srs: SampledRankSet, method: Correction | str) -> float:
    """Return the mean of the estimates of all strata, weighted by their numbers of instances.

    A stratum holds instances of nearly equal n.
    """
    if srs.mean_rank and as_method(method) == Correction():
        of_each = as_metric(metric).of_one(srs.sampled_ranks - 1 + srs.ties / 2, srs.m)
        return float(np.average(of_each, weights=srs.counts))

    def learned(place: int, prior: DistributionMethod) -> rank_distribution.RankDistribution:
        return rank_distribution.by_stratum(srs, prior)[place]

    strata = enumerate(srs.strata)
    values = [points(metric, stratum, method, partial(learned, place)) for place, stratum in strata]
    return float(np.average(values, weights=[stratum.total for stratum in srs.strata]))


def points(
    metric: Metric | str,
    outcomes: Outcomes,
    method: Correction | str,
    learn: Callable[[DistributionMethod], rank_distribution.RankDistribution] | None = None,
) -> Floats:
    """Return the estimate from ``outcomes``: (), or (runs,) for several samples of instances."""
    metric, plan = as_metric(metric), as_method(method)
    if isinstance(plan, Correction):
        return np.asarray(outcomes.shares @ _corrected(plan, metric, outcomes))
    prior = _prior(plan)
    ranks = Learner(outcomes, prior).distribution() if learn is None else learn(prior)
    if plan in LEARNED:
        return ranks.expected(metric)
    of_runs = [
        (rank_distribution.RankDistribution(ranks.support, mass), size)
        for mass, size in zip(np.atleast_2d(ranks.mass), np.atleast_1d(outcomes.total), strict=True)
    ]
    gamma = vectors.default_gamma(plan)
    values = [
        np.stack([vectors.learned_values(metric, prior, m, gamma, size) for prior, size in of_runs])
        for m in outcomes.m
    ]
    shares = outcomes.shares
    outcome_values = np.concatenate(values, axis=1).reshape(shares.shape)
    return np.asarray(np.sum(shares * outcome_values, axis=-1))


def _prior(method: str) -> DistributionMethod:
    """Return the method by which the estimator named ``method`` learns its rank distribution."""
    row = METHODS[method]
    return cast(DistributionMethod, row.prior if isinstance(row, vectors.Vector) else method)


def _corrected(plan: Correction, metric: Metric, outcomes: Outcomes) -> Floats:
    return np.concatenate([plan.fit(metric, sampling).values for sampling in outcomes.samplings])


def interval(
    metric: Metric | str,
    srs: SampledRankSet,
    method: Correction | str | None = None,
    confidence: float = 0.95,
    rng: np.random.Generator | None = None,
    *,
    shape: Shape | None = None,
) -> tuple[float, float]:
    """Return a confidence interval of the exact metric that is valid for any true ranks.

    With a ``method``, as for :func:`estimate`, the interval also spans the error of the estimate
    that is due to the choice of instances. This error is computed by the delta method or, given
    ``rng``, from 200 bootstrap samples; both give nearly the same error. A ``shape`` makes the
    interval narrower, but valid only if no rank is more probable than a better rank.

    The sampling error of an estimator alone would not give a valid interval, because the bias of
    the estimator does not decrease with the number of instances. The interval is for the given
    instances; for other instances, see :func:`~sampledash.significance`. The module
    :mod:`sampledash.estimation.confidence` says how often intervals contain the metric.
    """
    metric = as_metric(metric)
    values = () if method is None else by_reading(metric, srs, method)
    low, high = confidence_range(metric, srs, None, shape, confidence)
    if method is None:
        return low, high
    if rng is not None:
        checks.generator(rng)
    worst, best = possible_range(metric, srs)
    for reading, value in zip(srs.readings, values, strict=True):
        variance = 0.0
        for x in reading.strata:
            if rng is None:
                error = standard_error(metric, x, method)
            else:
                error = float(np.std(points(metric, _resampled(x, rng), method), ddof=1))
            variance += (error * float(x.total) / reading.n_instances) ** 2
        reach = float(ndtri((1 + confidence) / 2)) * variance**0.5
        low, high = max(min(low, value - reach), worst), min(max(high, value + reach), best)
    return low, high


def compare(
    metric: Metric | str,
    srs: SampledRankSet,
    versus: SampledRankSet,
    shape: Shape | None = None,
    confidence: float = 0.95,
) -> Compared:
    """Return a confidence interval of the difference of two exact metrics, and the better system.

    Parameters
    ----------
    metric
        A metric, or text such as ``"Recall@10"``.
    srs, versus
        Sampled ranks of the two systems.
    shape
        ``"non-increasing"`` assumes that no rank is more probable than a better rank. If None,
        nothing is assumed.
    confidence
        Confidence of the interval of the difference.

    Returns
    -------
    Compared
        ``.low`` and ``.high`` are the interval of the exact metric of ``srs`` minus the exact
        metric of ``versus``. ``.better`` is the name of the better system, or None if the interval
        contains 0. The result converted to text is "A > B" or "undecided".

    Raises
    ------
    ValueError
        If an argument is invalid, or the samples contradict the shape.

    Notes
    -----
    The two samples are treated as independent, even where both systems rank the same instances.
    Systems tend to do well on the same instances, so the interval is then wider than necessary.

    For a metric that depends on the top ranks only, the usual result without a shape is
    "undecided": the sampled ranks do not show which of the first n/m ranks an item has.
    """
    require_sampled("versus", versus)
    low, high = confidence_range(metric, srs, versus, shape, confidence)
    return Compared(srs.system, versus.system, low, high)


def _samples(outcomes: Outcomes, values: Floats) -> list[Floats]:
    """Split an array with a value for each outcome (m and sampled rank) into an array for each m.

    If m depended on the drawn negatives, return the array undivided: all instances are then a
    single random sample, instead of one sample for each m.
    """
    return [values] if outcomes.adaptive else outcomes.by_m(values)


def _resampled(outcomes: Outcomes, rng: np.random.Generator) -> Outcomes:
    """Return 200 bootstrap samples of the instances: for each m, counts of shape (200, m + 1)."""
    drawn = []
    for counts in _samples(outcomes, np.concatenate(outcomes.counts)):
        total = counts.sum()
        size = max(1, round(float(total)))
        drawn.append(rng.multinomial(size, counts / total, _RUNS) * (total / size))
    return replace(outcomes, counts=tuple(outcomes.by_m(np.concatenate(drawn, axis=1))))


def standard_error(metric: Metric | str, outcomes: Outcomes, method: Correction | str) -> float:
    """Return the standard error of an estimate due to the choice of instances (delta method)."""
    slope, variance = slopes(as_metric(metric), outcomes, method), 0.0
    samples = _samples(outcomes, np.concatenate(outcomes.counts))
    for counts, sample_slope in zip(samples, _samples(outcomes, slope), strict=True):
        off = sample_slope - float(counts @ sample_slope) / float(counts.sum())
        variance += float(counts @ off**2)
    return float(np.sqrt(variance) / outcomes.total)


def slopes(metric: Metric, outcomes: Outcomes, method: Correction | str) -> Floats:
    """Return the derivatives of the estimate with respect to the share of each outcome.

    An outcome is a pair of m and a sampled rank. If m was set beforehand, the shares at one m have
    a fixed sum, so the derivatives at this m are determined only up to a constant.
    """
    plan = as_method(method)
    if isinstance(plan, Correction):
        return _corrected(plan, metric, outcomes)
    cut = metric.cut(outcomes.n - 1)
    prior = Learner(outcomes, _prior(plan), cut and min(cut, outcomes.n))
    target = metric.of_one(prior.support.above, outcomes.n - 1)
    if plan in LEARNED:
        return prior.slopes(target)
    return _through_vectors(prior, target, vectors.default_gamma(plan))


def _through_vectors(prior: Learner, target: Floats, gamma: float | None) -> Floats:
    """Return the derivatives of an estimate with respect to the shares of the sampled ranks.

    The estimate is a correction whose prior is learned from the same shares. ``target`` is the
    exact metric at each node of the prior; a node stands for one or several ranks.
    """
    outcomes, mass = prior.outcomes, prior.mass(prior.weights())
    noise = prior.support.ranks / float(outcomes.total) if gamma is None else gamma * mass
    part = gamma or 0.0
    direct, slope = [], np.zeros(len(target))
    for m, share in zip(outcomes.m, outcomes.by_m(outcomes.shares), strict=True):
        law = prior.support.law(m)
        solve = vectors.solver(law, mass, noise)
        values, adjoint = solve((mass * target) @ law), solve(share)
        off = law @ adjoint
        slope += off * (target - (1 - part) * (law @ values)) - part * (law @ (adjoint * values))
        direct.append(values)
    return np.concatenate(direct) + prior.slopes(slope)


def full_cutoff(k: int, n: int, m: int, *, beta: float | None = None) -> float:
    r"""Return the cutoff in the full list that corresponds to the cutoff k in a sampled list.

    Parameters
    ----------
    k
        Cutoff in the list of the relevant item and m negatives, in 1..m+1.
    n, m
        Numbers of candidates and of sampled negatives.
    beta
        If None, the result is ⌊(k-1)(n-1)/m⌋ + 1. Otherwise the result assumes that the share of
        items above the relevant item has the distribution Beta(a, 1) with a = ``beta`` > 0. This
        distribution is uniform if a = 1, and favours shares near 0 if a < 1.

    Returns
    -------
    Cutoff in 1..n; a whole number if ``beta`` is None.

    Notes
    -----
    Negatives are assumed to be drawn with replacement. Let the share of items above the relevant
    item have the density :math:`a p^{a-1}`. Then the probability of a sampled rank up to k is
    :math:`\prod_{j=k}^m j / (j + a)`, and the probability of a share up to p is :math:`p^a`. The
    result is the cutoff at which these two probabilities are equal. For other distributions, this
    cutoff is wrong: see :func:`matching_cutoff`.

    References
    ----------
    Li, Jin, Gao & Liu, On Sampling Top-K Recommendation Evaluation, KDD 2020.
    """
    m = checks.integer("m", m, low=1)
    n = checks.integer("n", n, low=2)
    k = checks.integer("k", k, low=1, high=m + 1)
    if beta is None:
        return float((k - 1) * (n - 1) // m + 1)
    a = checks.real("beta", beta, low=0, above=True)
    return float(1 + (n - 1) * np.exp(-np.log1p(a / np.arange(k, m + 1)).sum() / a))


def matching_cutoff(k: int, ranks: RankSet, m: int, *, scheme: Scheme = DEFAULT_SCHEME) -> int:
    """Return the cutoff K at which a system's exact Recall reaches its expected sampled Recall@k.

    Parameters
    ----------
    k
        Cutoff in the sampled list, in 1..m+1.
    ranks
        True ranks, one relevant item per instance and no ties.
    m
        Number of sampled negatives. Without replacement, an instance that has fewer negatives uses
        all of them.
    scheme
        ``"without-replacement"``, ``"with-replacement"``, or ``"collapsed"`` (with replacement,
        duplicates removed).

    Returns
    -------
    The smallest K whose exact Recall@K is at least the expected sampled Recall@k.

    Raises
    ------
    ValueError
        If the set has ties or several relevant items, or a number is out of range.

    Notes
    -----
    Systems have different K for the same k, so the sampled metric can order the systems differently
    from the exact metric.
    """
    require_ranks(ranks)
    m = checks.integer("m", m, low=1)
    k = checks.integer("k", k, low=1, high=m + 1)
    checks.choice("scheme", scheme, uniform())
    if ranks.has_ties or ranks.max_relevant > 1:
        advice = "give one relevant item per instance, with ties broken"
        several = f"ranks of system {ranks.system!r} has ties or several relevant items"
        raise ValueError(f"{several}: {advice}")
    drawn = min(m, ranks.max_negatives) if SCHEMES[scheme].distinct else m
    sampled = expected_mean(Metric("recall", k), ranks, drawn, scheme=scheme)
    rank, place = np.unique(ranks.ranks, return_inverse=True)
    recall = np.cumsum(np.bincount(place, ranks.counts)) / ranks.counts.sum()
    return int(rank[min(int(np.searchsorted(recall, sampled - 1e-12)), len(rank) - 1)])
