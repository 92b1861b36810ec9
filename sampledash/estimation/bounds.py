"""Bounds on an exact metric: all values that the sampled ranks, or a printed table, allow.

No estimator can narrow these bounds.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from itertools import product
from typing import get_args

import numpy as np
from scipy.special import betaincinv

from sampledash import checks
from sampledash.estimation import confidence as intervals
from sampledash.estimation.linear_metric import interval_of_mean
from sampledash.estimation.linear_programme import Columns, Programme, Shape, clipped
from sampledash.metrics import Metric, as_metric, parse_metric
from sampledash.sampled_rank_sets import DOUBTFUL, LEVEL, Outcomes, SampledRankSet
from sampledash.sampling import Sampling
from sampledash.schemes import DEFAULT_SCHEME, SCHEMES, Scheme, uniform
from sampledash.types import Floats, Ints

Range = tuple[float, float]
_CONSTRAINTS = 200  # largest number of t, for each m, at which P(sampled rank <= t) is constrained
MOST_DECIMALS = 12
ERRORS = 2.0  # number of standard errors by which a printed mean may differ from its expectation


def bounds(
    metric: Metric | str,
    srs: SampledRankSet,
    versus: SampledRankSet | None = None,
    shape: Shape | None = None,
    tolerance: float | None = None,
) -> tuple[float, float]:
    """Smallest and largest exact metric over all rank distributions that agree with a sample.

    Parameters
    ----------
    metric
        A metric, or text such as ``"Recall@10"``.
    srs
        Sampled ranks of one system.
    versus
        Sampled ranks of another system: the result then bounds the difference of the metrics,
        ``srs`` minus ``versus``.
    shape
        ``"non-increasing"`` admits only distributions in which no rank is more probable than a
        better rank: an assumption about the system. If None, all distributions are admitted.
    tolerance
        How far the share of sampled ranks up to each t = 1..m may be from the observed share, in
        0..1. Near 0, the bounds are those of infinitely many instances. If None, the bounds are a
        95 % confidence interval, which allows for the sampling error of the given instances.

    Returns
    -------
    The two bounds, in the metric's units. Without a tolerance they hold for the mean metric of the
    given instances, even if their ranks do not have the assumed shape exactly. With a tolerance
    they hold for the mean metric of the rank distribution.

    Raises
    ------
    ValueError
        If no rank distribution is within the tolerance of the sample, or the sample contradicts the
        shape; if a shape or a tolerance is given although m depended on the drawn negatives.

    Notes
    -----
    The sampled ranks determine only m + 1 averages of the rank distribution, which has n - 1 free
    parameters. Therefore only an assumption can narrow the bounds.

    With a tolerance, the bounds are the solution of a linear programme over all ranks, exact to
    1e-8. If m is above 200, the programme constrains only 200 of the m shares; the bounds still
    hold, but are slightly wider. The bounds of a difference follow exactly from the bounds of the
    two systems, because the two distributions vary independently. For the method without a
    tolerance, see :mod:`sampledash.estimation.confidence`.

    Instances with nearly the same n form a stratum with its own rank distribution. Within a stratum
    the bounds allow for any n between the smallest and the largest. Where m correlates with the
    rank and ``srs.adaptive`` is None, the bounds hold whether m was set beforehand or depended
    on the drawn negatives.
    """
    metric, both = _checked(metric, srs, versus, shape)
    if tolerance is None:
        return confidence_range(metric, srs, versus, shape, 0.95)
    allowed = checks.real("tolerance", tolerance, low=0, high=1)
    ranges = []
    for sampled in both:
        sampled.require_set("a tolerance", "leave it out")
        means = (_at_tolerance(metric, x, shape, allowed, sampled.system) for x in sampled.strata)
        ranges.append(_over_strata(sampled, list(means)))
    return difference(ranges)


def require_sampled(name: str, value: object) -> None:
    """Raise a ValueError if the value is not a SampledRankSet."""
    remedy = "true ranks need no estimate and no bounds"
    checks.of_kind(name, value, SampledRankSet, "SampledRankSet", remedy)


def _checked(
    metric: Metric | str, srs: SampledRankSet, versus: SampledRankSet | None, shape: Shape | None
) -> tuple[Metric, list[SampledRankSet]]:
    """Check the arguments; return the metric and a list of the one or two given sets."""
    metric = as_metric(metric)
    _check_shape(shape)
    require_sampled("srs", srs)
    if versus is None:
        return metric, [srs]
    require_sampled("versus", versus)
    return metric, [srs, versus]


def _check_shape(shape: Shape | None) -> None:
    if shape is not None:
        checks.choice("shape", shape, get_args(Shape))


def difference(ranges: Sequence[tuple[float, float]]) -> tuple[float, float]:
    """Return the range of x - y for x and y in two ranges; return a single range unchanged."""
    if len(ranges) == 1:
        return ranges[0]
    (low, high), (least, most) = ranges
    return low - most, high - least


def unless_contradicted(shape: Shape | None, make: Callable[[], Range]) -> Range | None:
    """Return the range of a metric that ``make`` computes.

    ``shape`` is what ``make`` assumes about the rank distribution ("non-increasing"), or None for
    no assumption. With an assumption, return None if ``make`` raises a ValueError: usually the
    sampled ranks or the printed values contradict the assumption.
    """
    try:
        return make()
    except ValueError:
        if shape is None:
            raise
        return None


def side(span: Range) -> int | None:
    """Return the sign of a difference, -1, 0 or 1, or None if its range does not tell the sign.

    The ends of a range have rounding errors: they count as 0 up to 5e-10.
    """
    low, high = (round(end, 9) for end in span)
    return 1 if low > 0 else -1 if high < 0 else 0 if low == high else None


def decided(spans: Iterable[Range | None]) -> int:
    """Return how many ranges tell the sign of a difference; a range of None does not count."""
    return sum(span is not None and side(span) is not None for span in spans)


def ahead(spans: Sequence[Range | None]) -> int | None:
    """Return the index of the range above all others; None if there is none or a range is None."""
    known = [span for span in spans if span is not None]
    if len(known) < 2 or len(known) < len(spans):
        return None
    first = max(range(len(known)), key=lambda i: known[i][0])
    rest = max(high for i, (_, high) in enumerate(known) if i != first)
    return first if side((known[first][0] - rest, 1)) == 1 else None


def confidence_range(
    metric: Metric | str,
    srs: SampledRankSet,
    versus: SampledRankSet | None,
    shape: Shape | None,
    confidence: float,
) -> tuple[float, float]:
    """Return the confidence interval of the metric of ``srs``, or of ``srs`` minus ``versus``.

    Where nearly all sampled ranks of a stratum (instances of nearly equal n) are equal, the
    chi-square approximation fails. Exact binomial limits of the shares of sampled ranks replace it.
    Where all negatives are drawn, the metric is known exactly.

    ``srs.adaptive`` says whether m depended on the drawn negatives; None means unknown. Without a
    ``shape``, the interval covers both cases if ``adaptive`` is None and m correlates with the rank
    (test at the 5 % level). With a shape, raise a ValueError if ``adaptive`` is true, or if
    ``adaptive`` is None and m correlates with the rank (test at the 0.1 % level).
    """
    metric, sets = _checked(metric, srs, versus, shape)
    confidence = checks.confidence(confidence)
    if all(SCHEMES[s.scheme].distinct and np.all(s.m == s.n - 1) for s in sets):
        drawn = [s.outcomes for s in sets]
        values = (np.concatenate([metric.of_one(np.arange(m + 1), m) for m in x.m]) for x in drawn)
        means = [float(x.shares @ value) for x, value in zip(drawn, values, strict=True)]
        return difference([(value, value) for value in means])
    if shape is not None:
        for sampled in sets:
            sampled.require_set(f"shape {shape!r}", "leave shape out")
    level = DOUBTFUL if shape is None else LEVEL
    readings = product(*(s.read_at(level) for s in sets))
    return _hull([_as_read(metric, read, shape, confidence) for read in readings])


def _as_read(
    metric: Metric, sets: Sequence[SampledRankSet], shape: Shape | None, confidence: float
) -> Range:
    """Return the confidence interval of the metric of a set, or of the difference of two sets.

    Each set's ``adaptive`` (whether m depended on the drawn negatives) is taken as correct; None
    is taken as False.
    """
    linear = metric.linear and not any(s.adaptive for s in sets)
    # AUC and ATOP need no fitted rank distribution, unless m depended on the drawn negatives. If a
    # shape ("non-increasing") is assumed, a distribution is fitted nevertheless: ``best_fits`` then
    # raises an error for sampled ranks that contradict the shape.
    needless = linear and shape is None
    fits, alike = [], []
    for srs, sign in zip(sets, (1.0, -1.0), strict=False):
        each_fit = [None] * len(srs.strata) if needless else intervals.best_fits(metric, srs, shape)
        for observed, fit in zip(srs.strata, each_fit, strict=True):
            if fit is not None:
                fits.append(replace(fit, weight=sign * fit.weight))
            elif not needless or intervals.all_alike(observed):
                alike.append((srs, observed, sign * float(observed.total) / srs.n_instances))
    # The interval is a sum of intervals: one for each stratum in ``alike``, in which nearly all
    # sampled ranks are equal, and one for all fitted strata together. Each of these intervals gets
    # an equal share of the error probability.
    part_confidence = 1 - (1 - confidence) / max(len(alike) + bool(fits), 1)
    ends = []
    # AUC and ATOP do not use ``ends``. ``_within_limits`` is called for them nevertheless, because
    # it raises an error for impossible sampled ranks.
    for srs, observed, weight in alike:
        span = _within_limits(metric, observed, shape, part_confidence, srs.system)
        ends.append((min(weight * x for x in span), max(weight * x for x in span)))
    if linear:  # the assumption of a shape does not change the interval of AUC or ATOP
        return interval_of_mean([s.strata for s in sets], confidence)
    if fits:
        ends.append(intervals.profile_interval(fits, part_confidence))
    possible = difference([possible_range(metric, s) for s in sets])
    return clipped(sum(low for low, _ in ends), sum(high for _, high in ends), *possible)


def possible_range(metric: Metric, srs: SampledRankSet) -> Range:
    """Return the smallest and largest mean metric that any ranks of the instances can give."""
    return _over_strata(srs, [intervals.worst_and_best(metric, stratum) for stratum in srs.strata])


def _over_strata(srs: SampledRankSet, ranges: Sequence[Range]) -> Range:
    """Return the range of the mean over all instances from the ranges of the strata's means.

    A stratum holds instances of nearly equal n.
    """
    shares = [float(stratum.total) / srs.n_instances for stratum in srs.strata]
    low, high = np.asarray(shares) @ np.asarray(ranges)
    return float(low), float(high)


def constrained(m: int) -> Ints:
    """Return the values t in 1..m, at most 200, at which P(sampled rank <= t) is constrained."""
    if m <= _CONSTRAINTS:
        return np.arange(1, m + 1)
    angles = np.linspace(0, np.pi / 2, _CONSTRAINTS + 1)[1:]
    return np.unique(np.maximum(1, (m * np.sin(angles) ** 2).round().astype(np.int64)))


def _up_to(
    metric: Metric, observed: Outcomes, shape: Shape | None, places: Callable[[Floats], Ints]
) -> tuple[Columns, list[Floats]]:
    """Return the columns of a linear programme that limits P(sampled rank <= t) for some t.

    A column belongs to one true rank or, with a ``shape``, to ranks that are uniform on 1..j.

    Also return the observed shares of sampled ranks <= t, for each m. ``places`` returns the values
    of t for one m, given the counts of the sampled ranks at this m.
    """
    readings, shares = [], []
    for m, counts in zip(observed.m, observed.counts, strict=True):
        up_to = np.arange(1, m + 2)[:, None] <= places(counts)
        readings.append(up_to.astype(np.float64))
        shares.append(counts @ up_to / counts.sum())
    return Columns(observed.samplings, tuple(readings), metric, shape), shares


def _at_tolerance(
    metric: Metric, stratum: Outcomes, shape: Shape | None, tolerance: float, system: str
) -> Range:
    spans, nearest = [], np.inf
    # Compute one range for the smallest n in the stratum, and one for the largest n if n differs.
    for observed in stratum.at_extremes:
        columns, shares_by_m = _up_to(metric, observed, shape, lambda x: constrained(len(x) - 1))
        shares = np.concatenate(shares_by_m)
        programme = Programme(columns, shares - tolerance, shares + tolerance)
        if (span := programme.mean_range()) is not None:
            spans.append(span)
        else:
            nearest = min(nearest, float(np.abs(programme.nearest()[0] - shares).max()))
    if not spans:
        assumed = "" if shape is None else f" {shape}"
        none = f"tolerance = {tolerance:g} leaves no{assumed} rank distribution that agrees with"
        enough = f"{max(nearest, tolerance) * 1.01:.3g}, or None for their sampling error"
        raise ValueError(f"{none} the sampled ranks of system {system!r}: take {enough}")
    return _hull(spans)


def _hull(ranges: Sequence[Range]) -> Range:
    return min(low for low, _ in ranges), max(high for _, high in ranges)


def _within_limits(
    metric: Metric, stratum: Outcomes, shape: Shape | None, confidence: float, system: str
) -> Range:
    """Return the range of the mean metric, given exact limits of P(sampled rank <= t) for some t.

    The limits are those of Clopper and Pearson: exact limits of a binomial probability.
    """
    # With a shape, the limits hold for the distribution that the instances' true ranks are drawn
    # from. Therefore leave half of the error probability for the difference between the mean metric
    # of this distribution and the mean metric of the instances.
    half = (1 + confidence) / 2
    level = confidence if shape is None else half

    def about(counts: Floats) -> Ints:
        """Return the t in 1..m for which to limit P(sampled rank <= t).

        These are the observed sampled ranks, and the rank before each of them.
        """
        seen = np.flatnonzero(counts) + 1
        return np.unique(np.clip(np.concatenate([seen - 1, seen]), 1, len(counts) - 1))

    spans = []
    for observed in stratum.at_extremes:
        columns, shares = _up_to(metric, observed, shape, about)
        lows, highs = [], []
        for counts, share in zip(observed.counts, shares, strict=True):
            total = counts.sum() / observed.design_effect
            below = share * total  # for each t, effective number of sampled ranks <= t
            # All limits must hold together, so the upper and the lower limits at all t and all m
            # share the error probability.
            tail = (1 - level) / (2 * len(share) * len(shares))
            low = betaincinv(below, total - below + 1, tail)
            high = betaincinv(below + 1, total - below, 1 - tail)
            lows.append(np.where(below > 0, low, 0.0))
            highs.append(np.where(below < total, high, 1.0))
        spans.append(Programme(columns, np.concatenate(lows), np.concatenate(highs)).mean_range())
    ranges = [span for span in spans if span is not None]
    if not ranges:
        assumed, remedy = ("", "") if shape is None else (f" {shape}", ", or leave shape out")
        ranks = f"the sampled ranks of system {system!r}"
        alike = f"nearly all are {int(np.argmax(stratum.counts[0])) + 1}; check n and m{remedy}"
        raise ValueError(f"no{assumed} rank distribution shows {ranks}: {alike}")
    low, high = _hull(ranges)
    if shape is None:
        return low, high
    possible = intervals.worst_and_best(metric, stratum)
    return clipped(*intervals.mean_of_some(metric, stratum, low, high, half), *possible)


def bounds_from_table(
    metric: Metric | str,
    observed: Mapping[str, float],
    n: int,
    m: int,
    decimals: int | Mapping[str, int],
    versus: Mapping[str, float] | None = None,
    shape: Shape | None = None,
    scheme: Scheme = DEFAULT_SCHEME,
    *,
    instances: float | None = None,
) -> tuple[float, float]:
    r"""Smallest and largest exact metric of a system for which a table prints sampled metrics only.

    Parameters
    ----------
    metric
        The exact metric to bound: a metric or its text.
    observed
        Sampled metrics as printed, in 0..1, by name: ``{"HR@10": 0.6624, "NDCG@10": 0.41}``. With
        one relevant item, HR is equal to Recall and MRR to AP.
    n
        Number of candidates, the relevant item included.
    m
        Number of sampled negatives ("100 samples" may be 99 negatives and the relevant item).
    decimals
        Number of decimals of the printed values: one number, or one per name.
    versus
        Printed values of another system of the same table: the result then bounds the difference,
        ``observed`` minus ``versus``.
    shape
        ``"non-increasing"`` admits only distributions in which no rank is more probable than a
        better rank. If None, all distributions are admitted.
    scheme
        ``"without-replacement"``, ``"with-replacement"``, or ``"collapsed"`` (with replacement,
        duplicates removed).
    instances
        Number of instances in each printed mean. If given, a mean may differ from its expected
        value by rounding and two standard errors; if None, by rounding only.

    Returns
    -------
    The two bounds, in 0..1. With ``instances`` they hold for the mean metric of these instances.
    If a ``shape`` of the distribution of ranks is given too, the bounds allow for a difference of
    two standard errors between the mean of the instances and the mean of the distribution.

    Raises
    ------
    ValueError
        If a value cannot be a printed metric, or no ranks can produce all values together: the
        message then names a value and the range that the other values allow for it.

    Notes
    -----
    The bounds cover every rank distribution whose *expected* sampled metrics round to the printed
    values. A printed mean differs from its expected value: a mean v over U instances has a standard
    deviation of at most :math:`\sqrt{v (1 - v) / U}`. ``instances`` allows for this error.
    """
    wanted = as_metric(metric)
    _check_shape(shape)
    sampling, over = table_protocol(n, m, scheme, instances)
    ranges = [_printed_range(wanted, "observed", observed, decimals, sampling, shape, over)]
    if versus is not None:
        ranges.append(_printed_range(wanted, "versus", versus, decimals, sampling, shape, over))
    return difference(ranges)


def table_protocol(
    n: int, m: int, scheme: Scheme, instances: float | None
) -> tuple[Sampling, float]:
    """Check n, m and the scheme of a table; return them as a Sampling, and the number of instances.

    The number of instances is infinite if ``instances`` is None.
    """
    size = checks.integer("n", n, low=2)
    checks.choice("scheme", scheme, uniform())
    sampling = Sampling(size, checks.integer("m", m, low=1), scheme)
    return sampling, np.inf if instances is None else checks.real("instances", instances, low=1)


def _printed_range(
    metric: Metric,
    name: str,
    observed: Mapping[str, float],
    decimals: int | Mapping[str, int],
    sampling: Sampling,
    shape: Shape | None,
    over: float,
) -> tuple[float, float]:
    """Return the range of the exact metric, given means that are printed for ``over`` instances."""
    metrics, values, half = printed_values(name, observed, decimals)
    half += printed_error(values, over)

    def programme(shape: Shape | None, free: int | None = None) -> Programme:
        """Return the linear programme over rank distributions that agree with the printed values.

        The printed value with the index ``free`` is ignored, to find the range that the other
        values allow for this value.
        """
        columns = _of_table(sampling, tuple(metrics), metric, shape)
        room = half if free is None else np.where(np.arange(len(half)) == free, np.inf, half)
        return Programme(columns, values - room, values + room)

    span = _mean_range(sampling, tuple(metrics), metric, shape, tuple(values), tuple(half))
    if span is not None:
        # Without a shape, ``span`` holds for the mean of the instances. With a shape, it holds for
        # the distribution that their ranks are drawn from: add the instances' sampling error.
        if shape is None:
            return span
        below, above = printed_error(np.array(span), over).tolist()
        return max(span[0] - below, 0.0), min(span[1] + above, 1.0)
    protocol, keys = f"n = {sampling.n} and m = {sampling.m}", list(observed)
    off = programme(shape).nearest()[1]
    listed = " and ".join(f"{keys[i]!r} = {values[i]:g}" for i in np.flatnonzero(off))
    if shape and np.all(programme(None).nearest()[1] == 0):
        others = "other rank distributions can produce the table, so leave shape out"
        raise ValueError(f"shape {shape!r} contradicts {name} {listed} with {protocol}: {others}")
    for i in np.argsort(-np.abs(off)).tolist():
        left = programme(shape, free=i).mean_range(i)
        if left is not None:
            digits = max(0, round(-np.log10(2 * half[i])))
            value, low, high = (f"{x:.{digits}f}" for x in (values[i], *left))
            rest = f"with {protocol} the other values leave it {low} to {high}"
            advice = "check it, the others, n and m"
            raise ValueError(f"{name} {keys[i]!r} is {value}, but {rest}: {advice}")
    impossible = f"{name} holds values that no ranks can produce together with {protocol}"
    raise ValueError(f"{impossible}, nearest to it without {listed}: check them, n and m")


@lru_cache(maxsize=1024)
def _mean_range(
    sampling: Sampling,
    printed: tuple[Metric, ...],
    metric: Metric,
    shape: Shape | None,
    values: tuple[float, ...],
    half: tuple[float, ...],
) -> Range | None:
    """Return the exact metric's range, or None if no rank distribution agrees with the values.

    They agree if the expected value of the metric ``printed[i]`` differs from ``values[i]`` by at
    most ``half[i]``, for all i. The range is cached, because the bounds and the estimate of a table
    both need it.
    """
    columns = _of_table(sampling, printed, metric, shape)
    middle, room = np.array(values), np.array(half)
    return Programme(columns, middle - room, middle + room).mean_range()


@lru_cache(maxsize=8)
def _of_table(
    sampling: Sampling, printed: tuple[Metric, ...], metric: Metric, shape: Shape | None
) -> Columns:
    """Return the columns of the linear programme that bounds a metric, given printed metrics.

    A column holds the expected printed metrics and the exact metric at one true rank. With a
    ``shape``, it holds their averages over the ranks 1..j. All systems of a table use the same
    columns, which are therefore cached.
    """
    values = [x.of_one(np.arange(sampling.m + 1), sampling.m) for x in printed]
    return Columns((sampling,), (np.column_stack(values),), metric, shape)


def printed_error(values: Floats, instances: float) -> Floats:
    """Return twice the largest possible standard error of each mean in ``values``.

    A metric in 0..1 with mean v has a standard deviation of at most sqrt(v (1 - v)).
    """
    return np.asarray(ERRORS * np.sqrt(values * (1 - values) / instances))


def printed_values(
    name: str, observed: object, decimals: int | Mapping[str, int]
) -> tuple[list[Metric], Floats, Floats]:
    """Check printed values; return their metrics, the values, and their largest rounding errors."""
    if not isinstance(observed, Mapping) or not observed:
        printed = "printed values by name, such as {'HR@10': 0.6624}"
        raise ValueError(f"{name} must hold {printed}, got {checks.shown(observed)}")
    metrics, values, half = [], [], []
    for key, given in observed.items():
        places = decimals.get(key) if isinstance(decimals, Mapping) else decimals
        if places is None:
            raise ValueError(f"decimals has no entry for {key!r}: give one for each printed value")
        digits = checks.integer(f"decimals of {key!r}", places, low=0, high=MOST_DECIMALS)
        metrics.append(parse_metric(key))
        where = f"{name} {key!r}"
        value = checks.real(where, given, low=-1e9, high=1e9)
        if 1 < value <= 100:
            needed = len(f"{value:.{MOST_DECIMALS}f}".rstrip("0").partition(".")[2])
            share = f"give {value / 100:g} and decimals = {min(digits, needed) + 2}"
            outside = f"{where} is {value:g}, but a metric lies in 0..1"
            raise ValueError(f"{outside}: if the table prints percent, {share}")
        if not 0 <= value <= 1:
            raise ValueError(f"{where} is {value:g}, but a metric lies in 0..1: check it")
        if abs(value - round(value, digits)) > 1e-9:
            more = f"which has more than decimals = {digits}: give the decimals that are printed"
            raise ValueError(f"{where} is {value!r}, {more}")
        values.append(value)
        half.append(0.5 * 10.0**-digits)
    return metrics, np.array(values), np.array(half)
