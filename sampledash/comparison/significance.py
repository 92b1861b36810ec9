"""Significance tests and confidence intervals for the exact difference of two systems.

The only randomness in this module is the choice of the instances; negatives are not sampled.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.special import bdtr, ndtr, ndtri

from sampledash import checks
from sampledash.comparison.means import exact_means, step_of
from sampledash.comparison.order import TIED, check_sets, pair_table, true_pairs
from sampledash.comparison.user_resampling import instance_values, paired_groups
from sampledash.metrics import Metric, as_metric
from sampledash.protocol import Protocol, Weighting
from sampledash.rank_counts import unique_rows
from sampledash.rank_sets import RankSet, Ties, first_items
from sampledash.types import Floats, Ints, Progress, blocks

# ``flip_test`` tries all possible swaps if the two systems differ on at most this many instances.
_ENUMERATED = 20
_BLOCK = 1 << 21  # number of random signs or weights drawn at a time, which takes about 10 ms
# Instances with the same weight, and the same metric for each system, can be drawn together, as one
# random count. Such a count takes about as long as drawing this many single instances.
_GROUPED = 12
# ``swap_test`` uses a normal distribution instead of random permutations if there are at least
# _MANY instances, with more than _DISTINCT different pairs of metric and weight.
_MANY, _DISTINCT = 5_000, 64


class Interval(NamedTuple):
    """Confidence interval of a mean metric, or of the difference of two mean metrics."""

    low: float
    high: float


def significance(
    metric: Metric | str,
    sets: Sequence[RankSet],
    rng: np.random.Generator,
    *,
    resamples: int = 10_000,
    confidence: float = 0.95,
    progress: Progress | None = None,
    ties: Ties = "expected",
    weighting: Weighting = "instances",
) -> pd.DataFrame:
    """Test whether the choice of the instances can explain the exact difference of each pair.

    Parameters
    ----------
    metric
        A metric, or text such as ``"Recall@10"``.
    sets
        At least two rank sets, one per system; counts must be whole numbers.
    rng
        Source of randomness; the same state gives the same table.
    resamples
        Number of random permutations, and of bootstrap resamples, at least 100.
    confidence
        Level of the interval, strictly between 0 and 1.
    progress
        Called with the share of the work that is done.
    ties, weighting
        As in :func:`~sampledash.mean`.

    Returns
    -------
    DataFrame with one row per pair: ``better``, ``worse`` (by the exact metric; a tied pair is
    listed in the order of ``sets``), ``difference`` (exact, better - worse), ``interval`` (an
    :class:`Interval`), ``p`` (two-sided), ``p_holm`` (Holm's adjustment over all pairs) and
    ``paired`` (whether the systems rank the same instances).

    Raises
    ------
    ValueError
        If counts are fractions, or a parameter is out of its range.

    Notes
    -----
    For paired systems, which rank the same instances, the randomisation test swaps the two systems
    in random instances. If at most 20 instances have a difference, all swaps are enumerated. If all
    differences have the same size, as with Recall of one item, this is the exact binomial (sign)
    test. Otherwise p = (1 + random swaps with at least the observed difference) / (1 + resamples),
    never 0. The interval resamples the same instances for both systems.

    For systems that rank different instances, the test permutes the instances between the two
    systems, and the interval resamples the instances of each system separately. From 5,000
    instances and 65 distinct values on, the permutation distribution is taken as normal.

    If all resamples have the same difference, the interval is computed as in
    :func:`~sampledash.mean_of_sample`.

    A small p means that other users of the same kind would probably show this order too. It does
    not mean that a sampled metric shows this order.

    References
    ----------
    Smucker, Allan & Carterette, A comparison of statistical significance tests for information
    retrieval evaluation, CIKM 2007. Holm, A simple sequentially rejective multiple test procedure,
    1979.
    """
    check_sets(sets)
    checks.generator(rng)
    metric, protocol = as_metric(metric), Protocol.of({"ties": ties, "weighting": weighting})
    resamples = checks.integer("resamples", resamples, low=100)
    confidence = checks.confidence(confidence)
    groups = [_group(metric, sets, members, protocol) for members in paired_groups(sets, protocol)]
    home = {i: (g, row) for g, group in enumerate(groups) for row, i in enumerate(group.members)}
    steps = len(groups) * 2 + 1
    exact = exact_means([metric], sets, protocol)[:, 0]
    pairs = true_pairs(exact)
    report = (step_of(progress, step, steps) for step in range(steps - 1))
    resampled = [resampled_means(group, resamples, rng, next(report)) for group in groups]
    flipped = [flip_tests(group, resamples, rng, next(report)) for group in groups]
    rows = []
    for done, (i, j, truth) in enumerate(pairs):
        (g, first), (h, second) = home[i], home[j]
        # Systems of a group rank the same instances, and get the same resamples of these instances.
        # Resamples of different groups are independent.
        draws = resampled[g][:, first] - resampled[h][:, second]
        if g == h:
            p = flipped[g][min(first, second), max(first, second)]
        else:
            p = swap_test(groups[g], first, groups[h], second, resamples, rng)
        if np.ptp(draws) > TIED:
            ends = np.quantile(draws, [(1 - confidence) / 2, 1 - (1 - confidence) / 2]).tolist()
        else:
            best = max(best_value(metric, sets[x]) for x in (i, j))
            ends = _of_equal(groups[g], first, groups[h], second, best, confidence)
        rows.append((float(exact[i] - exact[j]) if truth else 0.0, Interval(*ends), p, g == h))
        step_of(progress, steps - 1, steps)((done + 1) / len(pairs))
    difference, interval, alone, paired = zip(*rows, strict=True)
    about = {"difference": difference, "interval": interval, "p": alone}
    return pair_table(sets, pairs, **about, p_holm=holm(np.array(alone)).tolist(), paired=paired)


def interval_of_sample(
    value: float,
    off: Floats,
    counts: NDArray[Any],
    best: float,
    paired: bool,
    confidence: float,
    total: float = np.inf,
) -> Interval:
    """Return a confidence interval for the mean over ``total`` instances, from a random sample.

    The sample has the values ``value + off``, each as often as ``counts`` says; ``value`` is their
    mean. Values lie in 0..``best``, or are differences of two such values if ``paired``.

    Before the variance is computed, z^2 artificial instances (z is the normal quantile) are added
    to the sample: half with the value 0, half with ``best``. For paired differences, the values are
    -d and d; d is the sum of the squared differences divided by the sum of their absolute values,
    or ``best`` if all are 0. Equal values therefore still give an interval of positive length. See
    Agresti & Coull, Approximate is better than "exact", The American Statistician 1998; for paired
    differences, Agresti & Min, Statistics in Medicine 2005. The mean over the sampled instances is
    known, so only the other instances widen the interval.
    """
    seen, sizes = best, np.abs(off + value)
    if paired and np.any(sizes > TIED):
        seen = float(counts @ sizes**2 / (counts @ sizes))
    z2, size = float(ndtri((1 + confidence) / 2)) ** 2, float(counts.sum())
    more, rest, far = size + z2, 1 - size / total, np.array([-seen * paired, seen]) - value
    shift = z2 * float(far.mean()) / more
    variance = float(counts @ (off - shift) ** 2 + z2 / 2 * np.sum((far - shift) ** 2)) / more
    reach = float(np.sqrt(z2 * variance * rest * (rest / more + 1 / total)))
    ends = value + rest * shift + np.array([-reach, reach])
    # The mean is limited, because instances that were not sampled have values in 0..``best``, or in
    # -``best``..``best`` if they are paired differences.
    bounds = value + rest * (np.array([-best * paired, best]) - value)
    return Interval(*np.clip(ends, *bounds).tolist())


def best_value(metric: Metric, ranks: RankSet) -> float:
    """Return the largest value that the metric can have for an instance of ``ranks``."""
    rows = first_items(ranks)
    return max(
        metric.of_set(np.arange(1, size + 1), size + int(rows.negatives.max()))
        for size in {int(rows.relevant.min()), int(rows.relevant.max())}
    )


def _of_equal(
    left: Group, first: int, other: Group, second: int, best: float, confidence: float
) -> tuple[float, float]:
    """Return a confidence interval for two systems whose difference is equal in all resamples.

    The bootstrap then gives no interval.
    """

    def ends(values: Floats, group: Group, paired: bool = False) -> Interval:
        mean, counts = float(np.average(values, weights=group.counts)), group.counts
        return interval_of_sample(mean, values - mean, counts, best, paired, confidence)

    if left is other:
        return ends(left.values[first] - left.values[second], left, paired=True)
    interval, there = ends(left.values[first], left), ends(other.values[second], other)
    return interval.low - there.high, interval.high - there.low


def holm(p: Floats) -> Floats:
    """Return Holm's adjusted p-values, in the order of ``p``; they are at most 1."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate((len(p) - np.arange(len(p))) * p[order])
    return np.minimum(adjusted, 1.0)


def _group(
    metric: Metric, sets: Sequence[RankSet], members: Sequence[tuple[int, Ints]], protocol: Protocol
) -> Group:
    """Return exact metrics of systems with the same instances, in a common instance order."""
    first = first_items(sets[members[0][0]])
    for i, _ in members:
        bad = sets[i].counts[sets[i].counts != np.floor(sets[i].counts)]
        if len(bad):
            wrong = f"counts of system {sets[i].system!r} must be whole numbers, got {bad[0]:g}"
            raise ValueError(f"{wrong}: round them or leave them out")
    values = [instance_values(metric, sets[i], protocol.ties)[at] for i, at in members]
    weights, counts = protocol.instance_weights(first), first.count.astype(np.int64)
    return Group([i for i, _ in members], np.array(values), weights, counts)


@dataclass(frozen=True, eq=False)
class Group:
    """Exact metrics of several systems on the same instances.

    An entry of the arrays stands for one instance, or for several with equal metrics and weights.
    """

    members: Sequence[int]  # indices of the systems
    values: Floats  # exact metric of one instance: (systems, entries)
    weights: Floats  # weight of one instance in the mean metric: (entries,)
    counts: Ints  # number of instances that each array entry stands for: (entries,)

    @property
    def weighted(self) -> Floats:
        """Exact metrics of instances, times ``weights``: (systems, entries)."""
        return self.values * self.weights

    def reduced(self) -> Group:
        """Join instances of equal metrics and weight into one entry, if this makes drawing faster.

        Otherwise, return a group with an entry for each single instance.
        """
        first, inverse = unique_rows([*self.values, self.weights])
        counts = np.bincount(inverse, self.counts, len(first)).astype(np.int64)
        if _GROUPED * len(first) > counts.sum():
            first = np.repeat(np.arange(len(self.counts)), self.counts)
            counts = np.ones(len(first), dtype=np.int64)
        return Group(self.members, self.values[:, first], self.weights[first], counts)


def flip_test(group: Group, first: int, second: int) -> float | None:
    """Return the exact two-sided p-value of the paired randomisation test; None if it is slow."""
    magnitudes = np.abs((group.values[first] - group.values[second]) * group.weights)
    signs = np.sign(group.values[first] - group.values[second])
    differs = magnitudes > TIED
    sizes, counts = magnitudes[differs], group.counts[differs]
    observed = abs(float(signs[differs] * counts @ sizes))
    if observed <= TIED * float(group.counts @ group.weights):
        return 1.0
    total = int(counts.sum())
    if np.ptp(sizes) <= TIED:
        # All differences have one size: the number of instances that favour a system is binomial.
        return float(min(1.0, 2 * bdtr(round((total - observed / sizes[0]) / 2), total, 0.5)))
    if total > _ENUMERATED:
        return None
    sums = np.zeros(1)
    # The difference on the first instance keeps its sign. With the opposite sign, the sums would
    # only be the negatives of these sums.
    for size in np.repeat(sizes, counts)[1:]:
        sums = np.concatenate([sums - size, sums + size])
    whole = sums + np.repeat(sizes, counts)[0]
    return float(np.mean(np.abs(whole) >= observed - TIED * total))


def flip_tests(
    group: Group, resamples: int, rng: np.random.Generator, report: Progress
) -> dict[tuple[int, int], float]:
    """Return the two-sided p-value of the paired randomisation test of each pair.

    Swapping two systems in an instance changes the sign of their difference. So a random sign is
    drawn for each instance, and the metrics of each system are added with these signs. For every
    pair, the difference of the two sums is then the sum of the differences after random swaps.
    """
    exact = {pair: flip_test(group, *pair) for pair in combinations(range(len(group.members)), 2)}
    small = group.reduced()
    # Subtract the mean over the systems from the values of each instance. Differences stay the
    # same, and sums become more accurate.
    values = (small.weighted - small.weighted.mean(axis=0)).T.copy()
    size = len(values)

    def draw(runs: int) -> Floats:
        if np.all(small.counts == 1):
            drawn = rng.integers(0, 256, (runs, -(-size // 8)), dtype=np.uint8)
            up = np.unpackbits(drawn, axis=1, count=size).astype(np.float64)
        else:
            up = rng.binomial(small.counts, 0.5, (runs, size)).astype(np.float64)
        return np.asarray(2 * (up @ values) - small.counts @ values)

    if None in exact.values():
        sums = _in_blocks(draw, resamples, size, report)
    weighted = group.weighted @ group.counts
    slack = TIED * float(group.counts @ group.weights)

    def drawn(i: int, j: int) -> float:
        observed = abs(float(weighted[i] - weighted[j])) - slack
        return (1 + np.count_nonzero(np.abs(sums[:, i] - sums[:, j]) >= observed)) / (1 + resamples)

    report(1.0)
    return {pair: drawn(*pair) if p is None else p for pair, p in exact.items()}


def _in_blocks(
    draw: Callable[[int], Floats], resamples: int, size: int, report: Progress
) -> Floats:
    """Return ``resamples`` random rows, drawn in blocks of limited size.

    ``draw(k)`` returns k rows, and needs memory for ``size`` numbers for each of them.
    """
    parts = []
    for rows in blocks(resamples, _BLOCK, size):
        parts.append(draw(rows.stop - rows.start))
        report(rows.stop / resamples)
    return np.concatenate(parts)


def resampled_means(
    group: Group, resamples: int, rng: np.random.Generator, report: Progress
) -> Floats:
    """Return the weighted mean of each system over resampled instances: (resamples, systems).

    A resample draws as many instances as there are, with replacement, for all systems together.
    """
    small = group.reduced()
    columns = np.column_stack([*small.weighted, small.weights])
    size, total = len(columns), int(small.counts.sum())

    def draw(runs: int) -> Floats:
        if np.all(small.counts == 1):
            times = np.empty((runs, size))
            for row in times:
                row[:] = np.bincount(rng.integers(0, size, size), minlength=size)
        else:
            times = rng.multinomial(total, small.counts / total, runs).astype(np.float64)
        sums = times @ columns
        return np.asarray(sums[:, :-1] / sums[:, -1:])

    return _in_blocks(draw, resamples, size, report)


def swap_test(
    left: Group, first: int, right: Group, second: int, resamples: int, rng: np.random.Generator
) -> float:
    """Return the two-sided p-value of the permutation test for systems with different instances."""
    values = np.r_[left.values[first], right.values[second]]
    weights = np.r_[left.weights, right.weights]
    counts = np.r_[left.counts, right.counts]
    distinct, inverse = unique_rows([values, weights])
    pooled = np.bincount(inverse, counts, len(distinct)).astype(np.int64)
    value, weight = values[distinct], weights[distinct]
    if len(distinct) == 1:
        return 1.0
    n_left, total = int(left.counts.sum()), int(counts.sum())
    mass = float(pooled @ weight)
    centre = float(pooled @ (weight * value)) / mass
    excess = weight * (value - centre)  # its sum over all instances of both systems is 0

    def statistic(sums: ArrayLike, share: ArrayLike) -> Floats:
        """Return the difference of the two systems' means for an assignment of instances.

        Over the instances that are assigned to the left system, ``sums`` is the sum of ``excess``,
        and ``share`` is the total weight.
        """
        x, part = np.asarray(sums, dtype=np.float64), np.asarray(share, dtype=np.float64)
        return np.asarray(x / part + x / (mass - part))

    on_left = left.counts @ (left.weights * (left.values[first] - centre))
    observed = abs(float(statistic(on_left, left.counts @ left.weights)))
    if observed <= TIED:
        return 1.0
    if total >= _MANY and len(distinct) > _DISTINCT:
        # Variance of the sum of ``excess`` over the instances that a permutation assigns to the
        # left system, drawn without replacement. Their total weight is random too, but its mean is
        # used.
        spread = float(pooled @ excess**2) * n_left * (total - n_left) / (total * (total - 1))
        scale = statistic(1.0, mass * n_left / total)
        return float(2 * ndtr(-observed / (scale * np.sqrt(spread))))
    method: Any = "marginals" if len(distinct) <= _DISTINCT else "count"

    def draw(runs: int) -> Floats:
        # If there are many distinct values, the method "count", which shuffles all instances, is
        # faster.
        drawn = rng.multivariate_hypergeometric(pooled, n_left, runs, method=method)
        return statistic(drawn @ excess, drawn @ weight)

    differences = _in_blocks(draw, resamples, len(distinct), lambda part: None)
    return (1 + np.count_nonzero(np.abs(differences) >= observed - TIED)) / (1 + resamples)
