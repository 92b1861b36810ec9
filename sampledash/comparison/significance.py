"""Is there anything to order? Tests and intervals for the exact difference of two systems.

All of it is about the choice of the instances: negatives are not sampled here at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import bdtr, ndtr

from sampledash import checks
from sampledash.comparison.curves import step_of
from sampledash.comparison.means import exact_means
from sampledash.comparison.order import TIED, check_sets, pair_table, true_pairs
from sampledash.comparison.user_resampling import (
    instance_counts,
    instance_values,
    instance_weights,
    paired_groups,
)
from sampledash.counts import Ties, unique_rows
from sampledash.metrics import Metric, as_metric
from sampledash.protocol import Protocol, Weighting
from sampledash.ranksets import RankSet
from sampledash.types import Floats, Ints, Progress

_ENUMERATED = 20  # instances with a difference: all 2^20 swaps are counted
_BLOCK = 1 << 21  # entries of a block of random signs or weights: some ten milliseconds
_GROUPED = 12  # drawing a count costs as much as so many single draws
_MANY, _DISTINCT = 5_000, 64  # instances and values from which a permutation law is normal


class Interval(NamedTuple):
    """Percentile interval of a difference."""

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
    """Whether the exact difference of each pair is larger than chance over the instances.

    Parameters
    ----------
    metric
        A metric or its text.
    sets
        At least two rank sets, one per system; counts must be whole numbers.
    rng
        Source of randomness; the same state gives the same table.
    resamples
        Random permutations and bootstrap resamples, at least 100.
    confidence
        Level of the interval, strictly between 0 and 1.
    progress
        Called with the share of the work that is done.
    ties, weighting
        As in :func:`~sampledash.mean`.

    Returns
    -------
    DataFrame with one row per pair: ``better``, ``worse`` (by the exact metric; a tied pair comes
    in the order of ``sets``), ``difference`` (exact, better - worse), ``interval`` (an
    :class:`Interval`), ``p`` (two-sided), ``p_holm`` (Holm's adjustment over all pairs) and
    ``paired``.

    Raises
    ------
    ValueError
        If counts are fractions, or a parameter is out of its range.

    Notes
    -----
    Paired systems, which rank the same instances: the randomisation test swaps the two systems in
    random instances. Up to 20 instances with a difference it counts every swap; where all
    differences have one size, as with Recall of one item, it is the exact binomial (sign) test;
    otherwise p = (1 + hits) / (1 + resamples), never 0. The interval resamples instances, the same
    for all systems. Systems that cannot be paired: instances are permuted between the two, and
    resampled apart; from 5,000 instances and 65 distinct values on, the permutation law is taken
    as the normal law it approaches.

    A small p says that other users of the same kind would probably show this order too. It does not
    say that a sampled metric shows it.

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
    confidence = checks.real("confidence", confidence, low=0, above=True)
    if confidence >= 1:
        raise ValueError(f"confidence must be below 1, got {confidence:g}")
    groups = [_group(metric, sets, members, protocol) for members in paired_groups(sets, protocol)]
    home = {i: (g, row) for g, group in enumerate(groups) for row, i in enumerate(group.members)}
    steps = len(groups) * 2 + 1
    exact = exact_means([metric], sets, protocol)[:, 0]
    pairs = true_pairs(exact)
    resampled = [
        resampled_means(group, resamples, rng, step_of(progress, i, steps))
        for i, group in enumerate(groups)
    ]
    shuffled = [
        _flips(group, resamples, rng, step_of(progress, len(groups) + i, steps))
        for i, group in enumerate(groups)
    ]
    tail = (1 - confidence) / 2
    differences, intervals, p_values, paired = [], [], [], []
    for done, (i, j, truth) in enumerate(pairs):
        (g, first), (h, second) = home[i], home[j]
        # Resamples of two groups are independent of each other.
        draws = resampled[g][:, first] - resampled[h][:, second]
        if g == h:
            p_values.append(shuffled[g](first, second))
        else:
            p_values.append(swap_test(groups[g], first, groups[h], second, resamples, rng))
        low, high = np.quantile(draws, [tail, 1 - tail])
        intervals.append(Interval(float(low), float(high)))
        differences.append(float(exact[i] - exact[j]) if truth else 0.0)
        paired.append(g == h)
        step_of(progress, steps - 1, steps)((done + 1) / len(pairs))
    return pair_table(
        sets,
        pairs,
        difference=differences,
        interval=intervals,
        p=p_values,
        p_holm=holm(np.array(p_values)).tolist(),
        paired=paired,
    )


def holm(p: Floats) -> Floats:
    """Holm's adjusted p-values: shape of ``p``, at most 1."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate((len(p) - np.arange(len(p))) * p[order])
    return np.minimum(adjusted, 1.0)


def _group(
    metric: Metric, sets: Sequence[RankSet], members: Sequence[tuple[int, Ints]], protocol: Protocol
) -> Group:
    """Values of the systems that pair up, in a common order of their instances."""
    first = sets[members[0][0]]
    for i, _ in members:
        bad = sets[i].counts[sets[i].counts != np.floor(sets[i].counts)]
        if len(bad):
            raise ValueError(
                f"counts of system {sets[i].system!r} must be whole numbers to test over "
                f"instances, got {bad[0]:g}: round them or leave them out"
            )
    values = [instance_values([metric], sets[i], protocol.ties)[0, at] for i, at in members]
    return Group(
        [i for i, _ in members],
        np.array(values),
        instance_weights(first, protocol),
        instance_counts(first).astype(np.int64),
    )


def _flips(
    group: Group, resamples: int, rng: np.random.Generator, report: Progress
) -> Callable[[int, int], float]:
    """p-value of each pair of one group."""
    exact = {pair: flip_test(group, *pair) for pair in combinations(range(len(group.members)), 2)}
    open_pairs = [pair for pair, p in exact.items() if p is None]
    found: dict[tuple[int, int], float] = {pair: p for pair, p in exact.items() if p is not None}
    if open_pairs:
        sums = flipped_sums(group, resamples, rng, report)
        weighted = group.weighted @ group.counts
        for i, j in open_pairs:
            observed = abs(float(weighted[i] - weighted[j]))
            slack = TIED * float(group.counts @ group.weights)
            hits = np.count_nonzero(np.abs(sums[:, i] - sums[:, j]) >= observed - slack)
            found[i, j] = (1 + hits) / (1 + resamples)
    report(1.0)
    return lambda i, j: found[min(i, j), max(i, j)]


@dataclass(frozen=True, eq=False)
class Group:
    """Values of systems over common instances."""

    members: Sequence[int]  # which systems these are
    values: Floats  # exact metric of each instance, shape (systems, D)
    weights: Floats  # weight of each instance in the mean, shape (D,)
    counts: Ints  # how many instances each one stands for, shape (D,)

    @property
    def weighted(self) -> Floats:
        """Values times weights, shape (systems, D)."""
        return self.values * self.weights

    def reduced(self) -> Group:
        """Join equal instances where that makes drawing them cheaper, else spread their counts."""
        first, inverse = unique_rows([*self.values, self.weights])
        counts = np.bincount(inverse, self.counts, len(first)).astype(np.int64)
        if _GROUPED * len(first) <= counts.sum():
            return Group(self.members, self.values[:, first], self.weights[first], counts)
        at = np.repeat(np.arange(len(self.counts)), self.counts)
        ones = np.ones(len(at), dtype=np.int64)
        return Group(self.members, self.values[:, at], self.weights[at], ones)


def flip_test(group: Group, first: int, second: int) -> float | None:
    """Two-sided p-value of the paired randomisation test where it is exact, else None."""
    each = np.abs((group.values[first] - group.values[second]) * group.weights)
    signs = np.sign(group.values[first] - group.values[second])
    differs = each > TIED
    sizes, counts = each[differs], group.counts[differs]
    observed = abs(float(signs[differs] * counts @ sizes))
    if observed <= TIED * float(group.counts @ group.weights):
        return 1.0
    total = int(counts.sum())
    if np.ptp(sizes) <= TIED:
        # Sums of equal steps: the number of instances that favour one side is binomial.
        fewer = round((total - observed / sizes[0]) / 2)
        return float(min(1.0, 2 * bdtr(fewer, total, 0.5)))
    if total > _ENUMERATED:
        return None
    sums = np.zeros(1)
    for size in np.repeat(sizes, counts)[1:]:  # the sign of one is free: both tails count
        sums = np.concatenate([sums - size, sums + size])
    whole = sums + np.repeat(sizes, counts)[0]
    return float(np.mean(np.abs(whole) >= observed - TIED * total))


def flipped_sums(
    group: Group, resamples: int, rng: np.random.Generator, report: Progress
) -> Floats:
    """Sum of each system's weighted values under random signs, (resamples, systems).

    Swapping two systems in an instance turns the sign of their difference there: the sum of the
    differences of any pair under random signs is the difference of the two systems' sums. So one
    matrix of signs serves all pairs.
    """
    small = group.reduced()
    # What all systems share cancels in every pair: without it sums lose fewer digits.
    values = (small.weighted - small.weighted.mean(axis=0)).T.copy()
    size = len(values)
    sums = np.empty((resamples, len(group.members)))
    single = bool(np.all(small.counts == 1))
    step = min(resamples, max(1, _BLOCK // size))
    up = np.empty((step, size))
    for start in range(0, resamples, step):
        runs = min(step, resamples - start)
        if single:
            drawn = rng.integers(0, 256, (runs, -(-size // 8)), dtype=np.uint8)
            up[:runs] = np.unpackbits(drawn, axis=1, count=size)
        else:
            up[:runs] = rng.binomial(small.counts, 0.5, (runs, size))
        sums[start : start + runs] = 2 * (up[:runs] @ values)
        report((start + runs) / resamples)
    return np.asarray(sums - small.counts @ values)


def resampled_means(
    group: Group, resamples: int, rng: np.random.Generator, report: Progress
) -> Floats:
    """Weighted mean of each system over resampled instances, (resamples, systems).

    The systems of a group see the same resample: as many instances, drawn with replacement.
    """
    small = group.reduced()
    columns = np.column_stack([*small.weighted, small.weights])
    size, total = len(columns), int(small.counts.sum())
    chances = small.counts / total
    single = bool(np.all(small.counts == 1))
    means = np.empty((resamples, len(group.members)))
    step = min(resamples, max(1, _BLOCK // size))
    times = np.empty((step, size))
    for start in range(0, resamples, step):
        runs = min(step, resamples - start)
        if single:
            for row in times[:runs]:
                row[:] = np.bincount(rng.integers(0, size, size), minlength=size)
        else:
            times[:runs] = rng.multinomial(total, chances, runs)
        sums = times[:runs] @ columns
        means[start : start + runs] = sums[:, :-1] / sums[:, -1:]
        report((start + runs) / resamples)
    return means


def swap_test(
    left: Group, first: int, right: Group, second: int, resamples: int, rng: np.random.Generator
) -> float:
    """Two-sided p-value of the difference of two means over unpaired instances."""
    values = np.r_[left.values[first], right.values[second]]
    weights = np.r_[left.weights, right.weights]
    counts = np.r_[left.counts, right.counts]
    distinct, inverse = unique_rows([values, weights])
    pooled = np.bincount(inverse, counts, len(distinct)).astype(np.int64)
    value, weight = values[distinct], weights[distinct]
    if len(distinct) == 1:
        return 1.0
    here, total = int(left.counts.sum()), int(counts.sum())
    mass = float(pooled @ weight)
    centre = float(pooled @ (weight * value)) / mass
    excess = weight * (value - centre)  # sums to 0 over the pool

    def statistic(sums: ArrayLike, share: ArrayLike) -> Floats:
        """Difference of the two means, from the sums of excess and weight on the left."""
        x, part = np.asarray(sums, dtype=np.float64), np.asarray(share, dtype=np.float64)
        return np.asarray(x / part + x / (mass - part))

    on_left = left.counts @ (left.weights * (left.values[first] - centre))
    observed = abs(float(statistic(on_left, left.counts @ left.weights)))
    slack = TIED
    if observed <= slack:
        return 1.0
    if total >= _MANY and len(distinct) > _DISTINCT:
        # Finite population: the excess of a random part, the mean weight being as good as fixed.
        spread = float(pooled @ excess**2) * here * (total - here) / (total * (total - 1))
        scale = statistic(1.0, mass * here / total)
        return float(2 * ndtr(-observed / (scale * np.sqrt(spread))))
    hits, step = 0, max(1, _BLOCK // (total if len(distinct) > _DISTINCT else len(distinct)))
    for start in range(0, resamples, step):
        runs = min(step, resamples - start)
        if len(distinct) <= _DISTINCT:
            drawn = rng.multivariate_hypergeometric(pooled, here, runs, method="marginals")
            sums, share = drawn @ excess, drawn @ weight
        else:
            deck = np.tile(np.repeat(np.arange(len(distinct)), pooled), (runs, 1))
            dealt = rng.permuted(deck, axis=1)[:, :here]
            sums, share = excess[dealt].sum(axis=1), weight[dealt].sum(axis=1)
        hits += int(np.count_nonzero(np.abs(statistic(sums, share)) >= observed - slack))
    return (1 + hits) / (1 + resamples)
