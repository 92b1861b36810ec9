r"""Estimates of the exact metric from sampled ranks, with intervals; and cutoffs of the full list.

An estimate is a smooth function :math:`\theta` of the shares of the sampled ranks, with derivatives
:math:`\psi_s = \partial \theta / \partial \hat p_s`. Its variance over |D| instances is, to first
order, the variance of :math:`\psi` over the observed shares, divided by |D| (the delta method). The
derivatives of a learned correction include those of its prior, through every iteration for it.

This variance is what resampling the instances would show, not the distance of the estimate from the
truth: the interval also spans what the sampled ranks leave open (:func:`~sampledash.bounds`).
"""

from __future__ import annotations

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
from sampledash.estimation.bounds import confidence_range, possible_range, require_sampled
from sampledash.estimation.linear_programme import Shape
from sampledash.estimation.rank_distribution import LEARNED, DistributionMethod, Learned, Learner
from sampledash.metrics import Metric, as_metric
from sampledash.rank_sets import RankSet, require_ranks
from sampledash.rows import Live
from sampledash.sampled_rank_sets import READINGS, Outcomes, SampledRankSet
from sampledash.schemes import DEFAULT_SCHEME, SCHEMES, Scheme, uniform
from sampledash.types import Floats


def _rows() -> dict[str, Learned | vectors.Vector]:
    return {**LEARNED, **vectors.VECTORS}


#: Every estimator that is not a correction, by name.
METHODS = Live(_rows)
OVERSHOOT = (
    "entries of a corrected vector lie outside 0 to 100 % where that lessens its bias, and then so "
    "may their mean"
)
_ROUNDING = 1e-9
_RUNS = 200  # number of bootstrap samples: they give the standard deviation to within 5 %


@dataclass(frozen=True)
class Estimate:
    """An estimate of the exact metric with its interval.

    Attributes
    ----------
    value
        The estimate. It may lie outside 0..1; :attr:`reason` then says why.
    low, high
        Interval of the exact metric, as far as the sampled ranks can tell, under either reading.
    readings
        Empty, unless m correlates with the rank and ``adaptive`` does not say why. Then the two
        estimates for m set beforehand and for m decided by the draw; ``value`` is their mean.
    """

    value: float
    low: float
    high: float
    readings: tuple[float, ...] = ()

    @property
    def reason(self) -> str:
        """Why the estimate lies outside 0..1, in one sentence; empty where it does not."""
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
    """Return why an estimate lies outside 0..1, as a corrected mean can, or an empty text."""
    if -_ROUNDING <= value <= 1 + _ROUNDING:
        return ""
    return f"{'below 0 %' if value < 0 else 'above 100 %'}, as no metric is: {OVERSHOOT}"


def as_method(method: Correction | str) -> Correction | str:
    """Return the name of an estimator, or a correction; refuse a text that is neither."""
    if not isinstance(method, str):
        return as_correction(method)
    plain = method.strip().lower().replace("_", "-")
    for name, row in METHODS.items():
        if plain and plain in (name, row.label.lower()):
            return name
    try:
        return as_correction(method)
    except ValueError:
        raise ValueError(
            f"method {checks.shown(method)} is not understood: use {', '.join(METHODS)}, or a "
            "correction such as 'BV 0.1' or 'CLS'"
        ) from None


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
        distribution), ``"bv-mle" "bv-mes" "bv-monotone-mle" "mn"`` (a correction with this prior).
    confidence
        Chance that the interval holds the exact metric, in 0..1.
    rng
        Generator to resample the instances; ``None`` gives the same interval every time.

    Returns
    -------
    Estimate
        ``.value``, ``.low`` and ``.high``, in the metric's units; ``str`` gives percent.

    Raises
    ------
    ValueError
        If the method is not understood, a sampled rank is impossible or the confidence is out of
        range; if the draw decided m, for methods other than ``"mle"`` and ``"monotone-mle"``.

    Notes
    -----
    The interval spans what the sampled ranks leave open, however many instances there are: it is
    wide for metrics of the first few ranks, and no method makes it narrower. Estimates of different
    systems can be in the right order although their intervals overlap.

    Where m differs between instances, rank distributions are learned from all instances together;
    vectors are fitted for each m and averaged by weight. Where the draw decided m, only ``"mle"``
    and ``"monotone-mle"`` are right: the stopping rule cancels in the likelihood, but it changes
    the distribution of the sampled rank at each m, on which all other methods rest. Where m was set
    beforehand by something that correlates with the rank, the instances with each m have their own
    rank distribution. A sample cannot tell these two cases apart: see ``readings``.

    Each stratum, the instances with nearly the same number of candidates, is estimated separately.
    """
    values = by_reading(metric, srs, method)
    low, high = interval(metric, srs, method, confidence, rng)
    readings = values if len(values) > 1 else ()
    return Estimate(float(np.mean(values)), float(low), float(high), readings)


def point(metric: Metric | str, srs: SampledRankSet, method: Correction | str) -> float:
    """Estimate as :func:`estimate` does, without an interval."""
    return float(np.mean(by_reading(metric, srs, method)))


def by_reading(
    metric: Metric | str, srs: SampledRankSet, method: Correction | str
) -> tuple[float, ...]:
    """Return one estimate, or two where m may have been set beforehand or decided by the draw."""
    require_sampled("srs", srs)
    rank_distribution.require_valid([srs], as_method(method))
    return tuple(_of_strata(metric, reading, method) for reading in srs.readings)


def _of_strata(metric: Metric | str, srs: SampledRankSet, method: Correction | str) -> float:
    """Return the mean of the estimates of the strata, weighted by their instances."""

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
    """Estimate the exact metric as :func:`point` does, from each of several samples: (samples,)."""
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
    """Return the name of the rank distribution that an estimator learns."""
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
    """Return an interval that holds the exact metric at a confidence, whatever the true ranks.

    With a ``method``, as for :func:`estimate`, the interval also spans the sampling error of that
    estimate over instances: by the delta method or, given ``rng``, from 200 bootstrap samples; the
    two agree. A ``shape`` makes the interval narrower, and valid only if that assumption holds.

    The sampling error of an estimator alone gives no valid interval: the estimator's bias does not
    shrink with the number of instances. The exact metric is that of the instances at hand; for
    other instances, see :func:`~sampledash.significance`. Coverage and its limits:
    :mod:`sampledash.estimation.confidence`.
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
    """Decide between two systems where their samples allow it.

    Parameters
    ----------
    metric
        A metric or its text.
    srs, versus
        Sampled ranks of the two systems.
    shape
        ``"non-increasing"``: both rank distributions are assumed to be non-increasing.
    confidence
        Confidence of the interval of the difference.

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
    The two samples are treated as independent, even where the systems rank the same instances.
    Systems tend to do well on the same instances, so the interval is then wider than necessary.

    Undecided is the usual answer for a metric of the top ranks without an assumption: the sampled
    ranks do not tell where in the first n/m ranks an item stands.
    """
    require_sampled("versus", versus)
    low, high = confidence_range(metric, srs, versus, shape, confidence)
    return Compared(srs.system, versus.system, low, high)


def _samples(outcomes: Outcomes, values: Floats) -> list[Floats]:
    """Split values of outcomes into samples: one for each m, or only one if the draw decided m."""
    return [values] if outcomes.adaptive else outcomes.by_m(values)


def _resampled(outcomes: Outcomes, rng: np.random.Generator) -> Outcomes:
    """Draw 200 bootstrap samples of the instances: counts (200, m + 1) for each m."""
    drawn = []
    for counts in _samples(outcomes, np.concatenate(outcomes.counts)):
        total = counts.sum()
        size = max(1, round(float(total)))
        drawn.append(rng.multinomial(size, counts / total, _RUNS) * (total / size))
    return replace(outcomes, counts=tuple(outcomes.by_m(np.concatenate(drawn, axis=1))))


def standard_error(metric: Metric | str, outcomes: Outcomes, method: Correction | str) -> float:
    """Standard deviation of :func:`point` over the choice of instances."""
    slope, variance = slopes(as_metric(metric), outcomes, method), 0.0
    samples = _samples(outcomes, np.concatenate(outcomes.counts))
    for counts, sample_slope in zip(samples, _samples(outcomes, slope), strict=True):
        off = sample_slope - float(counts @ sample_slope) / float(counts.sum())
        variance += float(counts @ off**2)
    return float(np.sqrt(variance) / outcomes.total)


def slopes(metric: Metric, outcomes: Outcomes, method: Correction | str) -> Floats:
    """Return derivatives of the estimate by the share of each outcome, up to a constant per m."""
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
    """Return derivatives of a learned correction's mean by the shares, direct and via its prior."""
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
    r"""Map a cutoff of a sampled list to one of the full list.

    Parameters
    ----------
    k
        Cutoff in the list of the relevant item and m negatives, in 1..m+1.
    n, m
        Candidates and negatives.
    beta
        ``None`` is the linear mapping ⌊(k-1)(n-1)/m⌋ + 1. Else the mapping that is right if the
        share of items above is distributed as Beta(a, 1), a = ``beta`` above 0: 1 is uniform,
        smaller is nearer to the top.

    Returns
    -------
    Cutoff in 1..n; a whole number for the linear mapping.

    Notes
    -----
    The sampled rank is assumed to be drawn with replacement. With density :math:`a p^{a-1}` the
    probability of a sampled rank up to k is a sum of beta functions that telescopes to
    :math:`\prod_{j=k}^m j / (j + a)`, and :math:`p^a` is the probability of a share up to p. A
    mapping that is right for one system is wrong for another: see :func:`matching_cutoff`.

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
    log_chance = -np.log1p(a / np.arange(k, m + 1)).sum()
    return float(1 + (n - 1) * np.exp(log_chance / a))


def matching_cutoff(k: int, ranks: RankSet, m: int, *, scheme: Scheme = DEFAULT_SCHEME) -> int:
    """Find the full cutoff whose exact Recall equals the expected sampled Recall@k of a system.

    Parameters
    ----------
    k
        Cutoff in the sampled list, in 1..m+1.
    ranks
        True ranks, one relevant item per instance and no ties.
    m
        Sampled negatives. Without replacement, an instance with fewer has all of them drawn.
    scheme
        ``"without-replacement"`` or ``"with-replacement"``.

    Returns
    -------
    Smallest K whose exact Recall@K is at least the expected sampled Recall@k.

    Raises
    ------
    ValueError
        If the set has ties or several relevant items, or a number is out of range.

    Notes
    -----
    Systems have different K for the same k: that is why sampled metrics can change their order.
    """
    require_ranks(ranks)
    m = checks.integer("m", m, low=1)
    k = checks.integer("k", k, low=1, high=m + 1)
    checks.choice("scheme", scheme, uniform())
    if ranks.has_ties or ranks.max_relevant > 1:
        raise ValueError(
            f"ranks of system {ranks.system!r} has ties or several relevant items: give one "
            "relevant item per instance, with ties broken"
        )
    drawn = min(m, ranks.max_negatives) if SCHEMES[scheme].distinct else m
    sampled = expected_mean(Metric("recall", k), ranks, drawn, scheme=scheme)
    rank, place = np.unique(ranks.ranks, return_inverse=True)
    recall = np.cumsum(np.bincount(place, ranks.counts)) / ranks.counts.sum()
    return int(rank[min(int(np.searchsorted(recall, sampled - 1e-12)), len(rank) - 1)])
