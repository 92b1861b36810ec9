"""Values of single instances, and the chance of the true order when instances are drawn anew."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampledash import checks, simulation
from sampledash.comparison import ties as tied
from sampledash.comparison.chance import continuity_correction, normal_chances
from sampledash.comparison.covariance import pair_covariances
from sampledash.comparison.means import atom_moments
from sampledash.comparison.order import TIED, check_sets, pair_table, true_order
from sampledash.comparison.run_distribution import instance_span, instance_waves, inverted
from sampledash.counts import RankCounts, Ties, codes_of, distinct_over_systems
from sampledash.metrics import Metric, as_metric
from sampledash.protocol import Options, Protocol, as_ranked_by, group_by_candidate_set
from sampledash.ranksets import RankSet
from sampledash.types import Floats, Ints

FEW = 30  # below this many instances no normal approximation
_RUNS = 20_000  # simulated runs there
_ROUGH = 0.03  # a value that moves a mean by less, in deviations, leaves the normal law


def _starts(rows: RankCounts) -> NDArray[np.intp]:
    return np.flatnonzero(rows.position == 1)


def instance_counts(ranks: RankSet) -> Floats:
    """How many instances each one stands for: shape (D,)."""
    rows = ranks.rows()
    return rows.count[_starts(rows)]


def instance_weights(ranks: RankSet, protocol: Protocol) -> Floats:
    """Weight of each instance in the mean, 1 or its number of relevant items: shape (D,)."""
    rows = ranks.rows()
    return protocol.instance_weights(rows[_starts(rows)])


def instance_labels(ranks: RankSet) -> NDArray[Any]:
    """Label of each instance: shape (D,)."""
    codes, size = codes_of(ranks.instances)
    if size == len(codes):
        return ranks.instances
    return ranks.instances[np.unique(codes, return_index=True)[1]]


def instance_values(metrics: Sequence[Metric], ranks: RankSet, ties: Ties) -> Floats:
    """Exact metric of each instance, in the order of their first rows: shape (metrics, D)."""
    rows = ranks.rows(ties)
    starts = _starts(rows)
    values = np.empty((len(metrics), len(starts)))
    for i, metric in enumerate(metrics):
        atoms, (at,) = distinct_over_systems([as_ranked_by(metric, rows)])
        each = tied.exact_values(metric, atoms)[at] * metric.scales(rows.relevant)
        values[i] = np.add.reduceat(each, starts)
    return values


def instance_moments(
    metrics: Sequence[Metric], ranks: RankSet, m: int, protocol: Protocol
) -> tuple[Floats, Floats]:
    """Mean and variance of the sampled, possibly corrected, metric of each instance, (metrics, D).

    Instances are in the order of their first rows. Laws are evaluated once for each distinct
    relevant item.
    """
    protocol.check(ranks, m)
    rows = ranks.rows(protocol.ties)
    starts = _starts(rows)
    mean, variance = np.empty((2, len(metrics), len(starts)))
    for x in group_by_candidate_set(metrics):
        some = [metrics[i] for i in x]
        atoms, (at,) = distinct_over_systems([as_ranked_by(some[0], rows)])
        means, variances = atom_moments(some, atoms, m, protocol)
        scales = np.array([metric.scales(rows.relevant) for metric in some])
        mean[x] = np.add.reduceat(means[:, at] * scales, starts, axis=1)
        variance[x] = np.add.reduceat(variances[:, at] * scales**2, starts, axis=1)
    several = [i for i, metric in enumerate(metrics) if metric.sums_items]
    if ranks.max_relevant > 1 and several:
        chosen = [metrics[i] for i in several]
        scales = np.array([metric.scales(rows.relevant[starts]) for metric in chosen])
        variance[several] += 2 * scales**2 * pair_covariances(chosen, ranks, m, protocol).T
    return mean, np.maximum(variance, 0.0)


def match_instances(first: RankSet, second: RankSet, protocol: Protocol) -> Ints | None:
    """Index of each instance of ``first`` among those of ``second``; None: they do not pair up.

    Two rank sets pair up when they hold the same instance labels, each with the same count and
    weight. Rows without labels pair up in their order, if there are equally many; but not those
    of a histogram, whose rows say how often a rank occurs and not for whom.
    """
    labels = instance_labels(first), instance_labels(second)
    if len(labels[0]) != len(labels[1]):
        return None
    if np.array_equal(labels[0], labels[1]):
        at = np.arange(len(labels[0]))
    else:
        place = {label: i for i, label in enumerate(labels[1].tolist())}
        found = [place.get(label, -1) for label in labels[0].tolist()]
        at = np.array(found, dtype=np.int64)
        if np.any(at < 0):
            return None
    counts = instance_counts(first), instance_counts(second)
    weights = instance_weights(first, protocol), instance_weights(second, protocol)
    if not all(np.array_equal(x, y[at]) for x, y in (counts, weights)):
        return None
    unlabelled = np.array_equal(labels[0], np.arange(len(at)))
    return None if unlabelled and np.any(counts[0] != 1) else at


def paired_groups(sets: Sequence[RankSet], protocol: Protocol) -> list[list[tuple[int, Ints]]]:
    """Groups of rank sets that pair up: (index of the set, its instances in a common order)."""
    groups: list[list[tuple[int, Ints]]] = []
    for i, ranks in enumerate(sets):
        for group in groups:
            at = match_instances(sets[group[0][0]], ranks, protocol)
            if at is not None:
                group.append((i, at))
                break
        else:
            groups.append([(i, np.arange(len(instance_counts(ranks))))])
    return groups


@dataclass(frozen=True, eq=False)
class Sampled:
    """Sampled values of the instances of one system."""

    group: int  # systems of one number rank the same instances, in the same order here
    order: Ints  # which instance of its rank set each one is, shape (D,)
    mean: Floats  # of one sampled value, shape (D,)
    variance: Floats
    weights: Floats  # in the mean, shape (D,)
    counts: Floats  # how many instances each stands for, shape (D,)

    @property
    def size(self) -> float:
        """Number of instances."""
        return float(self.counts.sum())

    @property
    def average(self) -> float:
        """Expected mean."""
        return float(self.mean @ (self.weights * self.counts) / (self.weights @ self.counts))


def sampled_values(
    metric: Metric, sets: Sequence[RankSet], m: int, protocol: Protocol
) -> list[Sampled]:
    """Sampled values of each system, those of paired systems in a common order."""
    found: dict[int, Sampled] = {}
    for number, group in enumerate(paired_groups(sets, protocol)):
        for i, at in group:
            mean, variance = instance_moments([metric], sets[i], m, protocol)
            weights, counts = instance_weights(sets[i], protocol), instance_counts(sets[i])
            found[i] = Sampled(number, at, mean[0, at], variance[0, at], weights[at], counts[at])
    return [found[i] for i in range(len(sets))]


def spread_if_redrawn(first: Sampled, second: Sampled, one: bool = False) -> float:
    """Variance of the difference of two means over redrawn instances and negatives.

    With ``one``, were there a single instance of each system. Instances that weigh differently make
    a mean a ratio; its variance is that of the usual linear approximation, exact where all weigh
    the same.
    """
    if first.group != second.group:
        return sum(
            _spread(x, x.mean - x.average, x.variance) * (x.size if one else 1.0)
            for x in (first, second)
        )
    off = first.mean - second.mean - (first.average - second.average)
    return _spread(first, off, first.variance + second.variance) * (first.size if one else 1.0)


def _spread(one: Sampled, off: Floats, variance: Floats) -> float:
    shares = one.weights * one.counts
    return float((variance + off**2) @ (one.weights * shares)) / float(shares.sum()) ** 2


def probability_if_redrawn(
    metric: Metric | str, sets: Sequence[RankSet], m: int, **options: Unpack[Options]
) -> pd.DataFrame:
    """Chance that an evaluation on other instances, sampled anew, shows the true order.

    Parameters
    ----------
    metric
        A metric or its text.
    sets
        At least two rank sets, one per system.
    m
        Sampled negatives per instance.
    **options
        See :class:`~sampledash.Options`.

    Returns
    -------
    DataFrame with columns ``better``, ``worse`` (by the exact metric of the given instances) and
    ``probability`` in 0..1, NaN where the exact metric ties the pair. A tied run does not show it.

    Raises
    ------
    ValueError
        If m or a system cannot be sampled so, or the scatter of an instance is unknown (popularity,
        with ties read as ``"expected"`` in instances with several relevant items).

    Notes
    -----
    Instances are drawn with replacement from the given ones, as many as there are: the given sample
    stands for the users there might have been. Systems that rank the same instances keep doing so;
    negatives are drawn for each system independently. Below 30 instances 20,000 seeded runs; from
    there on the inversion of the characteristic function where one instance can move the difference
    by more than 0.03 of its standard deviation, for ties and skewness then count (one relevant item
    per instance, or a metric that looks at the first, whole counts, equal weights), else the normal
    law with the mean and variance of that draw.

    This chance is limited by the number of instances too: where the exact difference is not
    significant it stays near one half at any m.

    References
    ----------
    Krichene & Rendle, KDD 2020, section 7.
    """
    check_sets(sets)
    metric, m, protocol = as_metric(metric), checks.integer("m", m, low=1), Protocol.of(options)
    pairs = true_order(metric, sets, protocol)
    values = sampled_values(metric, sets, m, protocol)
    simulated: dict[int, Floats] = {}

    def chance(i: int, j: int) -> float:
        first, second = values[i], values[j]
        if min(first.size, second.size) < FEW and _whole(first) and _whole(second):
            for x in (i, j):
                if x not in simulated:
                    simulated[x] = _runs(metric, sets[x], values[x], m, protocol, x)
            return float(np.mean(simulated[i] - simulated[j] > TIED))
        both = [sets[i], sets[j]]
        deviation = float(np.sqrt(spread_if_redrawn(first, second)))
        step = continuity_correction(metric, both, protocol, m)
        alike = deviation > 0 and all(np.ptp(x.weights) == 0 for x in (first, second))
        if alike and largest_move(metric, both, (first, second), m, protocol) > _ROUGH * deviation:
            return _inverted(metric, both, (first, second), m, protocol, deviation, step)
        difference = np.array([first.average - second.average])
        return float(normal_chances(difference, np.array([deviation]), step)[0])

    chances = [chance(i, j) if truth else float("nan") for i, j, truth in pairs]
    return pair_table(sets, pairs, probability=chances)


def largest_move(
    metric: Metric, sets: Sequence[RankSet], values: Sequence[Sampled], m: int, protocol: Protocol
) -> float:
    """How far one sampled value can move the mean of a system; NaN where that is not known."""
    moves = [
        instance_span(metric, ranks, m, protocol) * float(x.weights.max() / (x.weights @ x.counts))
        for ranks, x in zip(sets, values, strict=True)
    ]
    return float(np.max(moves))


def _inverted(
    metric: Metric,
    sets: Sequence[RankSet],
    values: Sequence[Sampled],
    m: int,
    protocol: Protocol,
    deviation: float,
    step: float,
) -> float:
    """P(difference of the means > 0): the drawn instances are independent and alike."""

    def transform(frequencies: Floats) -> NDArray[np.complex128]:
        first, second = (
            instance_waves(metric, ranks, x.order, m, protocol, frequencies / x.size)
            for ranks, x in zip(sets, values, strict=True)
        )
        shares = [x.counts / x.size for x in values]
        if values[0].group == values[1].group:
            second = second.conj()
            both = (shares[0] @ (first * second)) ** values[0].size
            return np.vstack([both, np.ones(len(both))])
        return np.vstack(
            [(shares[0] @ first) ** values[0].size, (shares[1] @ second) ** values[1].size]
        )

    laws = sum(len(x.counts) for x in values)
    one, other = np.array([0]), np.array([1])
    chance = inverted(transform, laws, one, other, deviation, np.array([step]))
    return float(np.clip(chance[0], 0.0, 1.0))


def _whole(values: Sampled) -> bool:
    return bool(np.all(values.counts == np.floor(values.counts)))


def _runs(
    metric: Metric, ranks: RankSet, values: Sampled, m: int, protocol: Protocol, system: int
) -> Floats:
    """Means of simulated runs with redrawn instances, the same ones for paired systems."""
    negatives = np.random.default_rng([1, system])
    if values.size >= FEW:
        deviation = np.sqrt(_spread(values, values.mean - values.average, values.variance))
        return negatives.normal(values.average, deviation, _RUNS)
    size = int(values.size)
    # The group's generator: paired systems draw the same instances.
    drawn = np.random.default_rng([0, values.group]).choice(
        len(values.counts), (_RUNS, size), p=values.counts / values.size
    )
    atoms, rows = ranks.atoms(protocol.ties), ranks.rows(protocol.ties)
    ends = np.r_[np.flatnonzero(rows.position == 1), len(rows)]
    total, weight = np.zeros(_RUNS), np.zeros(_RUNS)
    for u, at in enumerate(values.order.tolist()):
        runs = np.nonzero(drawn == u)[0]
        if not len(runs):
            continue
        one = rows[np.arange(ends[at], ends[at + 1])]
        one = replace(one, count=np.ones(len(one)))
        value = simulation.contributions(metric, one, atoms, m, protocol)
        each = simulation.run_sums([value], one, m, len(runs), protocol, negatives)
        total += np.bincount(runs, values.weights[u] * each[:, 0], _RUNS)
        weight += np.bincount(runs, np.full(len(runs), values.weights[u]), _RUNS)
    return total / weight
