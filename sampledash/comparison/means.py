"""Mean of a metric over a rank set: exact, expected under sampling, and its scatter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Unpack

import numpy as np

from sampledash import checks
from sampledash.comparison import ties
from sampledash.comparison.covariance import pair_covariances
from sampledash.comparison.curves import expected_means
from sampledash.metrics import Metric, as_metric
from sampledash.protocol import Options, Protocol, Weighting, as_ranked_by, group_by_candidate_set
from sampledash.ranksets import RankCounts, RankSet, Ties, distinct_over_systems, require_ranks
from sampledash.sampling import moments
from sampledash.types import Floats


def mean(
    metric: Metric | str,
    ranks: RankSet,
    *,
    ties: Ties = "expected",
    weighting: Weighting = "instances",
) -> float:
    """Exact mean of the metric over the instances (eq. 1).

    Parameters
    ----------
    metric
        A metric or its text.
    ranks
        True ranks.
    ties
        How tied items are read: ``"expected"`` averages over their order.
    weighting
        ``"instances"``: every instance weighs the same, however many relevant items it has;
        ``"relevant-items"``: it weighs as much as it has relevant items.
    """
    require_ranks(ranks)
    protocol = Protocol.of({"ties": ties, "weighting": weighting})
    return float(exact_means([as_metric(metric)], [ranks], protocol)[0, 0])


def exact_means(metrics: Sequence[Metric], sets: Sequence[RankSet], protocol: Protocol) -> Floats:
    """Exact mean of every metric (eq. 1), shape (systems, metrics)."""
    means = np.empty((len(sets), len(metrics)))
    for i, ranks in enumerate(sets):
        atoms = ranks.counted(protocol.ties)
        weight = protocol.shares(atoms) * atoms.count
        for x, metric in enumerate(metrics):
            values = ties.exact_values(metric, atoms) * metric.scales(atoms.relevant)
            means[i, x] = values @ weight
    return means


def expected_mean(
    metric: Metric | str, ranks: RankSet, m: int, **options: Unpack[Options]
) -> float:
    """Expected mean of the sampled, possibly corrected, metric over the instances.

    Parameters
    ----------
    metric
        A metric or its text.
    ranks
        True ranks.
    m
        Sampled negatives per instance.
    **options
        See :class:`~sampledash.Options`.

    Notes
    -----
    Each instance is sampled from its own n; a correction is fitted once, at the rounded mean of n.
    Without replacement an instance with fewer than m negatives is ranked among all of them, and
    counts with its exact metric.
    """
    require_ranks(ranks)
    m = checks.integer("m", m, low=1)
    return float(expected_means([as_metric(metric)], [ranks], [m], Protocol.of(options))[0, 0, 0])


def std_of_mean(metric: Metric | str, ranks: RankSet, m: int, **options: Unpack[Options]) -> float:
    """Standard deviation of the mean over repeated draws of the negatives (Tables 2 and 3).

    Same parameters as :func:`expected_mean`. Instances are sampled independently.

    Notes
    -----
    This is the scatter of one sampled run about its expectation. It says nothing about how far
    that expectation is from the exact metric.
    """
    m, protocol = checks.integer("m", m, low=1), Protocol.of(options)
    return float(np.sqrt(variances_of_means([as_metric(metric)], [ranks], m, protocol)[0, 0]))


def variances_of_means(
    metrics: Sequence[Metric],
    sets: Sequence[RankSet],
    m: int,
    protocol: Protocol,
    moments: Sequence[Floats] | None = None,
) -> Floats:
    """Variance of the mean of each system and metric in one run, shape (systems, metrics).

    ``moments``: :func:`moments_of_sets` of the same, if they are known.
    """
    if moments is None:
        moments = moments_of_sets(metrics, sets, m, protocol)
    total = np.empty((len(sets), len(metrics)))
    several = [x for x, metric in enumerate(metrics) if metric.sums_items]
    for i, ranks in enumerate(sets):
        atoms = ranks.counted(protocol.ties)
        share = protocol.shares(atoms)
        for x, metric in enumerate(metrics):
            weight = (metric.scales(atoms.relevant) * share) ** 2 * atoms.count
            total[i, x] = moments[i][1][x] @ weight
        if ranks.max_relevant > 1 and several:
            chosen = [metrics[x] for x in several]
            first = ranks.rows()
            first = first[first.position == 1]
            scales = np.column_stack([metric.scales(first.relevant) for metric in chosen])
            weights = first.count[:, None] * (scales * protocol.shares(first)[:, None]) ** 2
            total[i, several] += 2 * np.sum(
                weights * pair_covariances(chosen, ranks, m, protocol), axis=0
            )
    return np.maximum(total, 0.0)


def moments_of_sets(
    metrics: Sequence[Metric], sets: Sequence[RankSet], m: int, protocol: Protocol
) -> list[Floats]:
    """:func:`atom_moments` of the atoms of each system, (2, metrics, atoms) each.

    Systems that share a correction share the laws of equal ranks.
    """
    for ranks in sets:
        protocol.check(ranks, m)
    everyone = [ranks.counted(protocol.ties) for ranks in sets]
    found = [np.empty((2, len(metrics), len(atoms))) for atoms in everyone]
    for x in group_by_candidate_set(metrics):
        some, groups = [metrics[i] for i in x], dict[object, list[int]]()
        ranked = [as_ranked_by(some[0], atoms) for atoms in everyone]
        for i, atoms in enumerate(ranked):
            groups.setdefault(protocol.law_key(atoms, m), []).append(i)
        for members in groups.values():
            joined, places = distinct_over_systems([ranked[i] for i in members])
            means, variances = atom_moments(some, joined, m, protocol)
            for i, at in zip(members, places, strict=True):
                found[i][:, x] = means[:, at], variances[:, at]
    return found


def atom_moments(
    metrics: Sequence[Metric], atoms: RankCounts, m: int, protocol: Protocol
) -> tuple[Floats, Floats]:
    """Mean and variance of each atom's contribution (before ``scale``): (metrics, atoms) each."""
    means, variances = np.zeros((2, len(metrics), len(atoms)))
    full = atoms.negatives < m if protocol.without else np.zeros(len(atoms), dtype=bool)
    for i, metric in enumerate(metrics):
        if np.any(full):
            means[i, full] = ties.exact_values(metric, atoms[full])
            variances[i, full] = ties.exact_variances(metric, atoms[full])
    for j in atoms.positions:
        at = np.flatnonzero((atoms.position == j) & ~full)
        counted = [i for i, metric in enumerate(metrics) if j == 1 or not metric.first_only]
        if not len(at) or not counted:
            continue
        vectors = [protocol.vector(metrics[i], atoms, m, j) for i in counted]
        for picked, p in ties.atom_laws(protocol, m, atoms[at]):
            rows = at[picked]
            for i, vector in zip(counted, vectors, strict=True):
                means[i, rows], variances[i, rows] = moments(p, vector)
    return means, variances
