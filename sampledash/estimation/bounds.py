"""What no estimator can know: every value of a metric that the sampled ranks allow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import get_args

import numpy as np
from scipy.special import betaincinv

from sampledash import checks
from sampledash.estimation.confidence import (
    all_alike,
    best_fit,
    interval_of_mean,
    mean_of_some,
    profile_interval,
)
from sampledash.estimation.linear_programme import Columns, Programme, Shape, part_of
from sampledash.estimation.nodes import clipped, worst_and_best
from sampledash.metrics import Metric, as_metric
from sampledash.sampledranks import Outcomes, SampledRankSet
from sampledash.types import Floats, Ints, Progress

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
    still hold. Without one, see :mod:`sampledash.estimation.confidence`.

    The law is that of ``srs.outcomes``, with one n for all instances. Where the negatives were
    drawn in another way, or n differs between instances, the sampled shares are off by more than a
    tolerance of 1e-4 may allow for; on 6,000 instances that is far less than their sampling error.
    """
    metric = as_metric(metric)
    check_shape(shape)
    require_sampled("srs", srs)
    if versus is not None:
        require_sampled("versus", versus)
    both = [srs] if versus is None else [srs, versus]
    if tolerance is None:
        found = confidence_range(metric, both, shape, 0.95)
        if progress is not None:
            progress(1.0)
        return found
    allowed = checks.real("tolerance", tolerance, low=0, high=1)
    for one in both:
        one.require_set("a tolerance", "leave it out")
    told = [part_of(progress, i, len(both)) for i in range(len(both))]
    pairs = zip(both, told, strict=True)
    return difference([_at_tolerance(metric, one, shape, allowed, tell) for one, tell in pairs])


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


def difference(ranges: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Range of the first minus the second, where nothing ties one to the other; or of the only."""
    if len(ranges) == 1:
        return ranges[0]
    (low, high), (least, most) = ranges
    return low - most, high - least


def confidence_range(
    metric: Metric, sets: list[SampledRankSet], shape: Shape | None, confidence: float
) -> tuple[float, float]:
    """Range of the metric of one set, or of the difference of two, at a confidence.

    Where nearly all sampled ranks are one and the same, chi-squares say nothing: exact binomial
    limits of the shares take their place, for each set on its own. Where the negatives are all
    other items the sampled ranks are the ranks, and the metric is known.
    """
    if all(one.scheme == "without-replacement" and np.all(one.m == one.n - 1) for one in sets):
        found = [float(np.average(metric(s.sampled_ranks, s.n), weights=s.counts)) for s in sets]
        return difference([(value, value) for value in found])
    if shape is not None:
        for one in sets:
            one.require_set(f"shape {shape!r}", "leave shape out")
    adaptive = any(one.is_adaptive for one in sets)
    alike = [not adaptive and all_alike(one.outcomes) for one in sets]
    if metric.linear and not adaptive:
        for one, same in zip(sets, alike, strict=True):
            # What shows no such ranks is refused as for any metric.
            if same:
                _within_limits(metric, one, shape, confidence)
            elif shape is not None:
                best_fit(metric, one, shape)
        return interval_of_mean([one.outcomes for one in sets], confidence)
    if not any(alike):
        low, high = profile_interval([best_fit(metric, s, shape) for s in sets], confidence)
        possible = difference([worst_and_best(metric, one.outcomes.n) for one in sets])
        return clipped(low, high, *possible)
    each, ranges = 1 - (1 - confidence) / len(sets), []
    for one, same in zip(sets, alike, strict=True):
        if same:
            ranges.append(_within_limits(metric, one, shape, each))
        else:
            ranges.append(profile_interval([best_fit(metric, one, shape)], each))
    return difference(ranges)


def constrained(m: int) -> Ints:
    """Which sampled ranks t = 1..m have a constraint on the share up to them: at most 200."""
    if m <= _CONSTRAINTS:
        return np.arange(1, m + 1)
    angles = np.linspace(0, np.pi / 2, _CONSTRAINTS + 1)[1:]
    return np.unique(np.maximum(1, (m * np.sin(angles) ** 2).round().astype(np.int64)))


def _up_to(
    metric: Metric, observed: Outcomes, shape: Shape | None, places: Callable[[Floats], Ints]
) -> tuple[Columns, list[Floats]]:
    """Columns that show the shares up to some places, and those observed for each m."""
    readings, shares = [], []
    for m, counts in zip(observed.m, observed.counts, strict=True):
        up_to = np.arange(1, m + 2)[:, None] <= places(counts)
        readings.append(up_to.astype(np.float64))
        shares.append(counts @ up_to / counts.sum())
    return Columns(observed.samplings, tuple(readings), metric, shape), shares


def _at_tolerance(
    metric: Metric,
    srs: SampledRankSet,
    shape: Shape | None,
    tolerance: float,
    progress: Progress | None,
) -> tuple[float, float]:
    observed = srs.outcomes
    columns, each = _up_to(metric, observed, shape, lambda counts: constrained(len(counts) - 1))
    shares = np.concatenate(each)
    programme = Programme(columns, shares - tolerance, shares + tolerance)
    found = programme.mean_range(progress=progress)
    if found is None:
        off = max(float(np.abs(programme.nearest()[0] - shares).max()), tolerance)
        assumed = "" if shape is None else f" {shape}"
        raise ValueError(
            f"tolerance = {tolerance:g} leaves no{assumed} rank distribution that agrees with "
            f"the sampled ranks of system {srs.system!r}: take {off * 1.01:.3g}, or None "
            "for their sampling error"
        )
    return clipped(*found, *worst_and_best(metric, observed.n))


def _within_limits(
    metric: Metric, srs: SampledRankSet, shape: Shape | None, confidence: float
) -> tuple[float, float]:
    """Bounds by Clopper-Pearson limits of the cumulative shares about each sampled rank seen."""
    # With a shape they are those of the distribution that ranks come from: half of the chance to
    # miss is left to the ranks of these instances, which scatter about it.
    observed, half = srs.outcomes, (1 + confidence) / 2
    level = confidence if shape is None else half

    def about(counts: Floats) -> Ints:
        seen = np.flatnonzero(counts) + 1
        return np.unique(np.clip(np.concatenate([seen - 1, seen]), 1, len(counts) - 1))

    columns, shares = _up_to(metric, observed, shape, about)
    lows, highs = [], []
    for counts, share in zip(observed.counts, shares, strict=True):
        total = counts.sum() / observed.design_effect
        below = share * total
        tail = (1 - level) / (2 * len(share) * len(shares))
        lows.append(np.where(below > 0, betaincinv(below, total - below + 1, tail), 0.0))
        highs.append(np.where(below < total, betaincinv(below + 1, total - below, 1 - tail), 1.0))
    found = Programme(columns, np.concatenate(lows), np.concatenate(highs)).mean_range()
    if found is None:
        assumed, remedy = ("", "") if shape is None else (f" {shape}", ", or leave shape out")
        raise ValueError(
            f"no{assumed} rank distribution shows the sampled ranks of system {srs.system!r}: "
            f"nearly all are {int(np.argmax(observed.counts[0])) + 1}; check n and m{remedy}"
        )
    if shape is not None:
        found = mean_of_some(metric, observed, *found, half)
    return clipped(*found, *worst_and_best(metric, observed.n))
