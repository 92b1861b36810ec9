"""Metrics of single instances, and the chance of the true order if instances are redrawn."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Unpack

import numpy as np
import pandas as pd

from sampledash import checks, simulation
from sampledash.comparison.chance import SURE, by_lumps, chance_above, common_step, normal_chances
from sampledash.comparison.means import exact_values
from sampledash.comparison.order import TIED, check_sets, pair_table, true_order
from sampledash.comparison.run_distribution import FEW, RUNS, SIMULATED, Run
from sampledash.comparison.scatter import atom_moments, pair_covariances
from sampledash.metrics import Metric, as_metric
from sampledash.protocol import Options, Protocol, as_ranked_by
from sampledash.rank_counts import codes_of, distinct_over_systems
from sampledash.rank_sets import RankSet, Ties, first_items
from sampledash.types import Complex, Floats, Ints

# The normal distribution is used if no value of one instance can change a mean by more than this
# many standard deviations of the difference of the two means.
_ROUGH = 0.03
# Largest number of rows of a rank set for which the distributions of all instances are computed:
# the distributions of more rows may not fit in memory.
_INSTANCES = 2_000


def instance_values(metric: Metric, ranks: RankSet, ties: Ties) -> Floats:
    """Return the exact metric of each instance, (instances,), in the order of ``ranks.rows()``."""
    ranks.require_known(metric)
    rows = ranks.rows(ties)
    atoms, (at,) = distinct_over_systems([as_ranked_by(metric, rows)], uniform=True)
    values = exact_values(metric, atoms)[at] * metric.scales(rows.relevant)
    return np.add.reduceat(values, np.flatnonzero(rows.position == 1))


def instance_moments(
    metric: Metric, ranks: RankSet, m: int, protocol: Protocol
) -> tuple[Floats, Floats]:
    """Return mean and variance of each instance's sampled (and possibly corrected) metric.

    Each result has shape (instances,), in the order of ``ranks.rows()``.
    """
    protocol.check(ranks, m)
    rows = ranks.rows(protocol.ties)
    starts, scales = np.flatnonzero(rows.position == 1), metric.scales(rows.relevant)
    atoms, (at,) = distinct_over_systems([as_ranked_by(metric, rows)], protocol.design.uniform)
    (mean,), (variance,) = atom_moments([metric], atoms, m, protocol)
    mean = np.add.reduceat(mean[at] * scales, starts)
    variance = np.add.reduceat(variance[at] * scales**2, starts)
    if ranks.max_relevant > 1 and metric.sums_items:
        covariances = pair_covariances([metric], ranks, m, protocol)[:, 0]
        variance += 2 * scales[starts] ** 2 * covariances
    return mean, np.maximum(variance, 0.0)


def match_instances(first: RankSet, second: RankSet, protocol: Protocol) -> Ints | None:
    """Return the index in ``second`` of each instance of ``first``, or None if they do not match.

    Sets match if they have the same instance labels, each with the same count and weight. Sets
    without labels match in the order of their rows, if they have equally many rows. The rows of a
    histogram never match, because they count how often a rank occurs, without naming the instances.
    """
    labels = first.instances, second.instances
    mine, theirs = (x[np.unique(codes_of(x)[0], return_index=True)[1]] for x in labels)
    at = pd.Index(theirs).get_indexer(pd.Index(mine))
    if len(mine) != len(theirs) or np.any(at < 0):
        return None
    items, there = first_items(first), first_items(second)[at]
    weights = protocol.instance_weights(items), protocol.instance_weights(there)
    if not (np.array_equal(items.count, there.count) and np.array_equal(*weights)):
        return None
    unlabelled = np.array_equal(mine, np.arange(len(at)))
    return None if unlabelled and np.any(items.count != 1) else at


def paired_groups(sets: Sequence[RankSet], protocol: Protocol) -> list[list[tuple[int, Ints]]]:
    """Return groups of rank sets whose instances match (:func:`match_instances`).

    A group has a tuple for each rank set: its index in ``sets``, and the indices of its instances,
    in an order that is common to all sets of the group.
    """
    groups: list[list[tuple[int, Ints]]] = []
    for i, ranks in enumerate(sets):
        for group in groups:
            at = match_instances(sets[group[0][0]], ranks, protocol)
            if at is not None:
                group.append((i, at))
                break
        else:
            groups.append([(i, np.arange(len(first_items(ranks))))])
    return groups


@dataclass(frozen=True, eq=False)
class Sampled:
    """Mean and variance of the sampled metric of each instance of a system.

    An entry of the arrays stands for one instance or, in a histogram of ranks, for all instances of
    a row, which have the same rank.
    """

    run: Run
    group: int  # systems with the same group number rank the same instances, in the same order
    #: Index of the instance (or row of a histogram) that each array entry stands for, in the order
    #: of ``run.ranks.rows()``: shape (entries,).
    order: Ints
    mean: Floats  # expected sampled metric of one instance: (entries,)
    variance: Floats  # variance of this sampled metric over the draws of negatives: (entries,)
    weights: Floats  # weight of one instance in the mean over all instances: (entries,)
    counts: Floats  # number of instances that each array entry stands for: (entries,)

    @property
    def size(self) -> float:
        """Number of instances."""
        return float(self.counts.sum())

    @property
    def average(self) -> float:
        """Expected mean of the sampled metric."""
        return float(self.mean @ (self.weights * self.counts) / (self.weights @ self.counts))

    @cached_property
    def largest_move(self) -> float:
        """Largest change of the mean that a change of one instance's sampled metric can cause.

        It is NaN if it is unknown, or would take too long to compute.
        """
        run = self.run
        known = run.one_each or (run.metric.sums_items and run.hits is not None)
        few = len(run.ranks) <= _INSTANCES
        return run.largest_term(by_draw=False) if few and known else np.nan

    @property
    def drawable(self) -> bool:
        """Whether runs can be simulated quickly: counts are whole, and there are few instances."""
        rows = float(np.sum(self.run.ranks.counts))
        return self.run.whole and (self.size < FEW or rows <= SIMULATED)


def sampled_values(
    metric: Metric, sets: Sequence[RankSet], m: int, protocol: Protocol
) -> list[Sampled]:
    """Return, for each system, mean and variance of the sampled metric of each instance.

    Systems that rank the same instances have the same order of instances.
    """
    values: dict[int, Sampled] = {}
    for number, group in enumerate(paired_groups(sets, protocol)):
        for i, at in group:
            mean, variance = instance_moments(metric, sets[i], m, protocol)
            items, run = first_items(sets[i])[at], Run(metric, sets[i], m, protocol)
            weights = protocol.instance_weights(items)
            values[i] = Sampled(run, number, at, mean[at], variance[at], weights, items.count)
    return [values[i] for i in range(len(sets))]


def spread_if_redrawn(first: Sampled, second: Sampled, single: bool = False) -> float:
    """Return the variance of the difference of two means over redrawn instances and negatives.

    With ``single``, the means are over one instance. With unequal weights a mean is a ratio, and
    the variance is that of its linear approximation; with equal weights the variance is exact.
    """
    if first.group != second.group:
        return sum(_spread(x, x.mean - x.average, x.variance, single) for x in (first, second))
    off = first.mean - second.mean - (first.average - second.average)
    return _spread(first, off, first.variance + second.variance, single)


def _spread(values: Sampled, off: Floats, variance: Floats, single: bool = False) -> float:
    """Return the variance of a mean over redrawn instances and negatives.

    ``off`` is the expected sampled metric of each instance minus the mean, and ``variance`` the
    variance of the instance's sampled metric over the draws of negatives. With ``single``, the mean
    is over one instance.
    """
    shares = values.weights * values.counts
    spread = float((variance + off**2) @ (values.weights * shares)) / float(shares.sum()) ** 2
    return spread * (values.size if single else 1.0)


def probability_if_redrawn(
    metric: Metric | str, sets: Sequence[RankSet], m: int, **options: Unpack[Options]
) -> pd.DataFrame:
    """Return the chance that an evaluation on other instances, sampled anew, shows the true order.

    The parameters are those of :func:`~sampledash.probability_of_order`.

    Returns
    -------
    DataFrame with columns ``better``, ``worse`` (by the exact metric of the given instances) and
    ``probability`` in 0..1, NaN where the exact metric ties the pair. A tie is not the true order.

    Raises
    ------
    ValueError
        If a system cannot be sampled by the scheme, or the variance of an instance is unknown
        (if negatives are drawn by popularity, ``ties`` is "expected", and an instance has ties and
        several relevant items).

    Notes
    -----
    Instances are drawn with replacement from the given instances, as many as there are, because the
    given instances represent the population of users. Systems that rank the same instances share
    the redrawn instances; negatives are drawn for each system independently.

    * Below 30 instances, 20,000 seeded runs are simulated; the standard error is at most 0.0036.
    * From 30 instances on, the characteristic function is inverted if one instance can change the
      difference by more than 0.03 of its standard deviation: the difference is then skewed, or is
      exactly 0 with a probability that matters. The inversion needs three things: the counts of a
      rank set are whole numbers, all instances have equal weight, and a rank set has at most 2,000
      rows. It also needs one of three conditions: instances have one relevant item, the metric uses
      only the best item, or items only hit or miss. The error is usually below 0.001. If an
      instance's sampled metric has a rare value much larger than its other values, the occurrences
      of this rare value are counted separately.
    * For other metrics of several relevant items (NDCG, AP), seeded runs are simulated as above, up
      to 200 relevant items in total; up to 2,000 if one of them can change the difference by more
      than 0.4 of its standard deviation.
    * Otherwise the normal distribution with the mean and variance of the redrawn difference is
      used. Its error decreases with the number of instances: it is at most 0.02 for 150 instances
      with 300 relevant items, of which 1 % hit or 1 % miss, and 0.006 for 400 instances.

    If the exact difference is not significant, this chance stays near one half at any m.

    References
    ----------
    Krichene & Rendle, KDD 2020, section 7.
    """
    check_sets(sets)
    metric, m, protocol = as_metric(metric), checks.integer("m", m, low=1), Protocol.of(options)
    pairs = true_order(metric, sets, protocol)
    values = sampled_values(metric, sets, m, protocol)
    simulated = cache(lambda x: _runs(values[x], x))

    def chance(i: int, j: int) -> float:
        first, second = both = values[i], values[j]
        largest = np.max([first.largest_move, second.largest_move])
        deviation = float(np.sqrt(spread_if_redrawn(first, second)))
        few = min(first.size, second.size) < FEW and first.run.whole and second.run.whole
        uneven = any(x.run.worth_simulating(deviation) for x in both)
        if few or (uneven and first.drawable and second.drawable):
            return float(np.mean(simulated(i) - simulated(j) > TIED))
        step = common_step(first.run.half_unit, second.run.half_unit)
        difference = first.average - second.average
        # Only redrawn instances of equal weight are independent terms with one distribution.
        near = abs(difference) < SURE * deviation and max(np.ptp(x.weights) for x in both) == 0
        if near and largest > _ROUGH * deviation:
            return _inverted(first, second, deviation, step)
        return float(normal_chances(difference, deviation, step))

    chances = [chance(i, j) if truth else float("nan") for i, j, truth in pairs]
    return pair_table(sets, pairs, probability=chances)


def _inverted(first: Sampled, second: Sampled, deviation: float, step: Floats) -> float:
    """Return P(difference of means > 0) by Fourier inversion.

    As redrawn instances are independent, the characteristic function of a mean is a power of the
    characteristic function of one random instance.
    """

    def transform(frequencies: Floats) -> Complex:
        x, y = (one.run.instance_waves(one.order, frequencies / one.size) for one in both)
        if first.group == second.group:
            return np.asarray((shares[0] @ (x * y.conj())) ** first.size)
        return np.vstack([(shares[0] @ x) ** first.size, (shares[1] @ y) ** second.size])

    both = first, second
    shares = [sample.counts / sample.size for sample in both]
    single = first.run.one_each and second.run.one_each and first.run.has_lump
    apart = _by_lumps(first, second, shares, float(step)) if single else None
    if apart is not None:
        return apart
    laws = sum(len(sample.counts) for sample in both)
    difference = first.average - second.average - float(step)
    return chance_above(transform, laws, difference, deviation, float(step))


def _by_lumps(
    first: Sampled, second: Sampled, shares: Sequence[Floats], step: float
) -> float | None:
    """Return P(difference of means > 0) by :func:`~sampledash.comparison.chance.by_lumps`.

    The sampled metric of an instance may have a rare value that is much larger than its other
    values. The mean with more of these rare values is larger; if both means have equally many, the
    other values decide. Return None if there is no such value.
    """
    both = first, second
    terms = [(x / one.size, p) for one in both for x, p in one.run.instance_terms(one.order)]
    split, paired = len(first.order), first.group == second.group
    times = np.concatenate([first.counts, second.counts])

    # A term is the sampled metric of an instance. ``usual`` and ``large`` are the parts of the
    # terms' characteristic functions that come from the small values and from the rare, large
    # value. To count the large values, each of them in the first mean multiplies the result by the
    # phase factor ``turn``, and each of them in the second mean divides the result by ``turn``.
    def transform(usual: Complex, large: Complex, turn: Complex) -> Complex:
        (x, y), (up, down) = ((waves[:split], waves[split:].conj()) for waves in (usual, large))
        if paired:
            same, more, less = (shares[0] @ z for z in (x * y + up * down, up * y, x * down))
            return (same + turn * more + less / turn) ** first.size
        ahead = (shares[0] @ x + turn * (shares[0] @ up)) ** first.size
        return ahead * (shares[1] @ y + (shares[1] @ down) / turn) ** second.size

    return by_lumps(terms, times, transform, step)


def _runs(values: Sampled, system: int) -> Floats:
    """Return the means of RUNS sampled runs, each on redrawn instances.

    The runs are simulated. If this would take too long, or if counts of instances are fractions,
    the means are drawn from a normal distribution. Systems that rank the same instances share the
    redrawn instances of simulated runs. ``system`` seeds the draws of the negatives.
    """
    negatives = np.random.default_rng([1, system])
    if not values.drawable:
        deviation = np.sqrt(_spread(values, values.mean - values.average, values.variance))
        return negatives.normal(values.average, deviation, RUNS)
    run, size = values.run, int(values.size)
    # The group is the seed: systems that rank the same instances get the same redrawn instances.
    users = np.random.default_rng([0, values.group])
    drawn = users.choice(len(values.counts), (RUNS, size), p=values.counts / values.size)
    atoms = run.ranks.counted(run.protocol.ties)
    rows = run.ranks.rows(run.protocol.ties)
    ends = np.r_[np.flatnonzero(rows.position == 1), len(rows)]
    total, weight = np.zeros(RUNS), np.zeros(RUNS)
    for u, at in enumerate(values.order.tolist()):
        runs = np.nonzero(drawn == u)[0]
        if not len(runs):
            continue
        instance = rows[np.arange(ends[at], ends[at + 1])]
        instance = replace(instance, count=np.ones(len(instance)))
        contribution = simulation.contributions(run.metric, instance, atoms, run.m, run.protocol)
        instance = as_ranked_by(run.metric, instance)
        about = instance, run.m, len(runs), run.protocol, negatives
        sums = simulation.run_sums([contribution], *about)[:, 0]
        total += np.bincount(runs, values.weights[u] * sums, RUNS)
        weight += values.weights[u] * np.bincount(runs, minlength=RUNS)
    return total / weight
