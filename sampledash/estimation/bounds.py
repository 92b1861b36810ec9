"""What no estimator can know: every value of a metric that the sampled ranks allow."""

from __future__ import annotations

from typing import get_args

import numpy as np
from scipy.special import betaincinv

from sampledash import checks
from sampledash.estimation.bounds_cells import parts_of
from sampledash.estimation.bounds_family import Family, Shape
from sampledash.estimation.bounds_fit import Fitted, fitted, refuse_contradicted
from sampledash.estimation.bounds_likelihood import likely
from sampledash.estimation.bounds_programme import Programme
from sampledash.estimation.bounds_region import mean_of_some, region
from sampledash.estimation.mean_rank import interval_of_mean
from sampledash.metrics import Metric, as_metric
from sampledash.sampledranks import SampledRankSet
from sampledash.types import Ints, Progress

_CONSTRAINTS = 200  # cumulative shares of one number of negatives that are constrained, at most


def bounds(
    metric: Metric | str,
    srs: SampledRankSet,
    versus: SampledRankSet | None = None,
    shape: Shape | None = None,
    tolerance: float | None = None,
    *,
    progress: Progress | None = None,
) -> tuple[float, float]:
    """Smallest and largest exact metric over all rank distributions that agree with a sample.

    Parameters
    ----------
    metric
        A metric or its text.
    srs
        Sampled ranks of one system.
    versus
        Another system: the result bounds the difference, ``srs`` minus ``versus``.
    shape
        ``"non-increasing"``: only distributions in which no rank is more frequent than a better
        one. An assumption about the system, not a finding.
    tolerance
        How far the share of sampled ranks up to each t = 1..m may be from the observed one, in
        0..1: what infinitely many instances could tell is at a tolerance near 0. ``None``: as far
        as the sampling error of these instances goes, at 95 %.
    progress
        Called with the finished part, rising in 0..1.

    Returns
    -------
    The two bounds, in the metric's units. Within sampling error they are about the metric of the
    instances at hand, also with a shape, which their own ranks need not show; at a tolerance about
    that of the distribution.

    Raises
    ------
    ValueError
        If no rank distribution is that near to the sample, or the sample contradicts the shape; for
        a shape or a tolerance where what was drawn decided m.

    Notes
    -----
    The sampled ranks fix m + 1 means of the rank distribution, which has n - 1 free numbers; what
    the bounds leave open no estimator can close, only an assumption. Adding bounds of two systems
    at a tolerance is exact for their difference, for nothing ties one to the other.

    With a tolerance this is a linear programme, exact to 1e-8 over all ranks; with m above 200 it
    constrains 200 of the m shares, so that the bounds are slightly wider than they could be and
    still hold. Without one, see :mod:`sampledash.estimation.bounds_region`; for AUC, which the mean
    sampled rank determines up to its sampling error, :mod:`sampledash.estimation.mean_rank`.

    The law is that of ``srs.sampling``, with one n for all instances. Where the negatives were
    drawn in another way, or n differs between instances, the sampled shares are off by more than a
    tolerance of 1e-4 may allow for; on 6,000 instances that is far less than their sampling error.
    """
    metric = as_metric(metric)
    check_shape(shape)
    both = _sets(srs, versus)
    if tolerance is None:
        found = spanned(metric, both, shape, 0.95)
        if progress is not None:
            progress(1.0)
        return found
    allowed = checks.real("tolerance", tolerance, low=0, high=1)
    for one in both:
        one.require_set("a tolerance", "leave it out")
    ends: list[float] = []
    for i, one in enumerate(both):

        def part(done: float, i: int = i) -> None:
            if progress is not None:
                progress((i + done) / len(both))

        ends += _at_tolerance(metric, one, shape, allowed, part)
    if versus is None:
        return ends[0], ends[1]
    return ends[0] - ends[3], ends[1] - ends[2]


def _sets(srs: SampledRankSet, versus: SampledRankSet | None) -> list[SampledRankSet]:
    require_sampled("srs", srs)
    if versus is None:
        return [srs]
    require_sampled("versus", versus)
    return [srs, versus]


def require_sampled(name: str, value: object) -> None:
    """Refuse anything but sampled ranks."""
    if not isinstance(value, SampledRankSet):
        raise ValueError(
            f"{name} must be a SampledRankSet, got {checks.shown(value)}: true ranks need no "
            "estimate and no bounds"
        )


def check_shape(shape: Shape | None) -> None:
    """Refuse any shape but the known ones."""
    if shape is not None:
        checks.choice("shape", shape, get_args(Shape))


def spanned(
    metric: Metric, sets: list[SampledRankSet], shape: Shape | None, confidence: float
) -> tuple[float, float]:
    """Range of the metric of one set, or of the difference of two, at a confidence.

    Where nearly all sampled ranks are one and the same, chi-squares say nothing: exact binomial
    limits of the shares take their place, for each set on its own. Where the negatives are all
    other items the sampled ranks are the ranks, and the metric is known.
    """
    if all(map(_all_drawn, sets)):
        found = [float(np.average(metric(s.sampled_ranks, s.n), weights=s.counts)) for s in sets]
        known = found[0] - sum(found[1:])
        return known, known
    adaptive = any(one.is_adaptive for one in sets)
    if shape is not None:
        for one in sets:
            one.require_set(f"shape {shape!r}", "leave shape out")
    if metric.linear and not adaptive:
        for one in sets:  # what shows no such ranks is refused as for any metric
            if _alike(one):
                _within_limits(metric, one, shape, confidence)
            elif shape is not None:
                fits(metric, [one], shape)
        return interval_of_mean(sets, confidence)
    if adaptive or not any(map(_alike, sets)):
        signs = [1.0, -1.0][: len(sets)]
        return _in_order(metric, sets, *region(fits(metric, sets, shape), signs, confidence))
    each = 1 - (1 - confidence) / len(sets)
    ends = [
        _within_limits(metric, one, shape, each)
        if _alike(one)
        else region(fits(metric, [one], shape), [1.0], each)
        for one in sets
    ]
    if len(ends) == 1:
        return ends[0]
    (low, high), (least, most) = ends
    return low - most, high - least


def _all_drawn(srs: SampledRankSet) -> bool:
    """Whether no other item was left out of a sample."""
    return srs.scheme == "without-replacement" and bool(np.all(srs.m == srs.n - 1))


def _alike(srs: SampledRankSet) -> bool:
    """Whether all instances are in a single cell, for each number of negatives."""
    return all(np.count_nonzero(part.share) == 1 for part in parts_of(srs))


def _within_limits(
    metric: Metric, srs: SampledRankSet, shape: Shape | None, confidence: float
) -> tuple[float, float]:
    """Bounds by Clopper-Pearson limits of the cumulative shares about each sampled rank seen.

    With a shape they are those of the distribution that ranks come from; half of the chance to miss
    is left to the ranks of these instances, which scatter about it.
    """
    half = (1 + confidence) / 2
    level = confidence if shape is None else half
    readings, lows, highs = [], [], []
    for draws in srs.draws:
        seen = np.flatnonzero(draws.counts) + 1
        ends = np.unique(np.clip(np.concatenate([seen - 1, seen]), 1, draws.m))
        up_to = np.arange(1, draws.m + 2)[:, None] <= ends
        total = draws.counts.sum() / srs.repetition
        below = draws.counts @ up_to / draws.counts.sum() * total
        tail = (1 - level) / (2 * len(ends) * len(srs.draws))
        readings.append(up_to.astype(np.float64))
        lows.append(np.where(below > 0, betaincinv(below, total - below + 1, tail), 0.0))
        highs.append(np.where(below < total, betaincinv(below + 1, total - below, 1 - tail), 1.0))
    family = Family(tuple(srs.sampling(d.m) for d in srs.draws), tuple(readings), metric, shape)
    programme = Programme(family, np.concatenate(lows), np.concatenate(highs))
    cost = np.zeros(len(programme.low) + 1)
    values = []
    for sign in (1.0, -1.0):
        cost[-1] = sign
        found = programme.smallest(cost)
        if found is None:
            assumed = "" if shape is None else f" {shape}"
            raise ValueError(
                f"no{assumed} rank distribution shows the sampled ranks of system "
                f"{srs.system!r}: nearly all are {int(np.argmax(srs.draws[0].counts)) + 1}; check "
                "n and m" + ("" if shape is None else ", or leave shape out")
            )
        values.append(sign * found.value)
    if shape is not None:
        values = list(mean_of_some(metric, srs, values[0], values[1], half))
    return _in_order(metric, [srs], values[0], values[1])


def fits(metric: Metric, sets: list[SampledRankSet], shape: Shape | None) -> list[Fitted]:
    """Fit each set, refusing a shape that it contradicts."""
    found = []
    for one in sets:
        if one.is_adaptive:
            found.append(likely(metric, one))
            continue
        fit = fitted(metric, one, shape)
        if shape is not None:
            refuse_contradicted(metric, one, fit)
        found.append(fit)
    return found


def constrained(m: int) -> Ints:
    """Which sampled ranks t = 1..m have a constraint on the share up to them: at most 200."""
    if m <= _CONSTRAINTS:
        return np.arange(1, m + 1)
    angles = np.linspace(0, np.pi / 2, _CONSTRAINTS + 1)[1:]
    return np.unique(np.maximum(1, (m * np.sin(angles) ** 2).round().astype(np.int64)))


def _at_tolerance(
    metric: Metric,
    srs: SampledRankSet,
    shape: Shape | None,
    tolerance: float,
    progress: Progress,
) -> tuple[float, float]:
    readings, shares = [], []
    for draws in srs.draws:
        ends = constrained(draws.m)
        up_to = np.arange(1, draws.m + 2)[:, None] <= ends
        readings.append(up_to.astype(np.float64))
        shares.append(draws.counts @ up_to / draws.counts.sum())
    family = Family(tuple(srs.sampling(d.m) for d in srs.draws), tuple(readings), metric, shape)
    observed = np.concatenate(shares)
    programme = Programme(family, observed - tolerance, observed + tolerance)
    cost = np.zeros(len(observed) + 1)
    values = []
    for side, sign in enumerate((1.0, -1.0)):
        cost[-1] = sign
        found = programme.smallest(cost, lambda done, side=side: progress((side + done) / 2))  # type: ignore[misc]
        if found is None:
            off = max(float(np.abs(programme.nearest().shown - observed).max()), tolerance)
            assumed = "" if shape is None else f" {shape}"
            raise ValueError(
                f"tolerance = {tolerance:g} leaves no{assumed} rank distribution that agrees with "
                f"the sampled ranks of system {srs.system!r}: take {off * 1.01:.3g}, or None "
                "for their sampling error"
            )
        values.append(sign * found.value)
    return _in_order(metric, [srs], values[0], values[1])


def _in_order(
    metric: Metric, sets: list[SampledRankSet], low: float, high: float
) -> tuple[float, float]:
    """The ends of a range, where rounding has put them beyond what is possible or each other."""
    ends = [metric(np.array([s.population, 1]), s.population).tolist() for s in sets]
    worst, best = ends[0] if len(ends) == 1 else (ends[0][0] - ends[1][1], ends[0][1] - ends[1][0])
    low = min(max(low, worst), best)
    return low, min(max(high, low), best)
