"""Randomisation and bootstrap over the instances of systems that rank the same ones."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import bdtr, ndtr

from sampledash.comparison.instances import unique_rows
from sampledash.comparison.order import TIED
from sampledash.types import Floats, Ints, Progress

_ENUMERATED = 20  # instances with a difference: all 2^20 swaps are counted
_BLOCK = 1 << 21  # entries of a block of random signs or weights: some ten milliseconds
_GROUPED = 12  # drawing a count costs as much as so many single draws
_MANY, _DISTINCT = 5_000, 64  # instances and values from which a permutation law is normal


@dataclass(frozen=True, eq=False)
class Group:
    """Values of systems over common instances.

    Attributes
    ----------
    members
        Which systems these are.
    values
        Exact metric of each instance, shape (systems, D).
    weights
        Weight of each instance in the mean, shape (D,).
    counts
        How many instances each one stands for, shape (D,).
    """

    members: Sequence[int]
    values: Floats
    weights: Floats
    counts: Ints

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
