"""Values of single instances: exact, sampled (mean and scatter), and how two systems pair up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampledash.comparison import ties as tied
from sampledash.comparison.means import atom_moments
from sampledash.comparison.nested import nested_covariances
from sampledash.counts import RankCounts, Ties, codes_of, resolve_ties
from sampledash.metrics import Metric
from sampledash.protocol import Protocol, as_ranked_by, group_by_candidate_set
from sampledash.ranksets import RankSet
from sampledash.types import Floats, Ints


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
    """Exact metric of each instance.

    Parameters
    ----------
    metrics
        Metrics.
    ranks
        True ranks.
    ties
        How tied items are read: ``"expected"`` averages over their order.

    Returns
    -------
    Array of shape (metrics, D), instances in the order of their first rows in ``ranks``.
    """
    rows = resolve_ties(ranks.rows(), ties)
    atoms, inverse = _distinct(rows)
    starts = _starts(rows)
    values = np.empty((len(metrics), len(starts)))
    for i, metric in enumerate(metrics):
        each = tied.exact_values(metric, atoms) * metric.scales(atoms.relevant)
        values[i] = np.add.reduceat(each[inverse], starts)
    return values


def instance_moments(
    metrics: Sequence[Metric], ranks: RankSet, m: int, protocol: Protocol
) -> tuple[Floats, Floats]:
    """Mean and variance of the sampled, possibly corrected, metric of each instance.

    Parameters
    ----------
    metrics
        Metrics.
    ranks
        True ranks.
    m
        Sampled negatives per instance.
    protocol
        How the evaluation samples and corrects.

    Returns
    -------
    Two arrays of shape (metrics, D), instances in the order of their first rows in ``ranks``.

    Raises
    ------
    ValueError
        If the sampling is impossible, or the scatter unknown: ties read as ``"expected"`` in
        instances with several relevant items.

    Notes
    -----
    Laws are evaluated once for each distinct relevant item, and covariances once for each distinct
    pair of relevant items of one instance.
    """
    protocol.check(ranks, m)
    rows = resolve_ties(ranks.rows(), protocol.ties)
    mean, variance = np.empty((2, len(metrics), len(_starts(rows))))
    for x in group_by_candidate_set(metrics):
        mean[x], variance[x] = _moments([metrics[i] for i in x], ranks, rows, m, protocol)
    return mean, np.maximum(variance, 0.0)


def _moments(
    metrics: Sequence[Metric], ranks: RankSet, rows: RankCounts, m: int, protocol: Protocol
) -> tuple[Floats, Floats]:
    """The same for metrics that rank the relevant items alike."""
    atoms, inverse = _distinct(as_ranked_by(metrics[0], rows))
    starts = _starts(rows)
    means, variances = atom_moments(metrics, atoms, m, protocol)
    scales = np.array([metric.scales(rows.relevant) for metric in metrics])
    mean = np.add.reduceat(means[:, inverse] * scales, starts, axis=1)
    variance = np.add.reduceat(variances[:, inverse] * scales**2, starts, axis=1)
    several = [i for i, metric in enumerate(metrics) if not (metric.first_only or metric.of_others)]
    if ranks.max_relevant > 1 and several:
        if ranks.has_ties and protocol.ties == "expected":
            raise ValueError(
                f"system {ranks.system!r} has ties and several relevant items in one instance: the "
                "scatter is available for ties='optimistic' or 'pessimistic'"
            )
        chosen = [metrics[i] for i in several]
        variance[several] += 2 * _covariances(chosen, rows, atoms, m, protocol)
    return mean, variance


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


def unique_rows(columns: Sequence[NDArray[Any]]) -> tuple[Ints, Ints]:
    """Distinct rows of a table: index of one row of each, and the class of every row."""
    code = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        if np.all(column == column[0]):
            continue
        values, inverse = np.unique(column, return_inverse=True)
        code = np.unique(code * len(values) + inverse, return_inverse=True)[1]
    _, first, inverse = np.unique(code, return_index=True, return_inverse=True)
    return first.astype(np.int64), inverse.astype(np.int64)


def _columns(rows: RankCounts) -> list[NDArray[Any]]:
    columns: list[NDArray[Any]] = [
        rows.position, rows.relevant, rows.tied, rows.negatives, rows.above,
    ]  # fmt: skip
    return columns if rows.mass is None else [*columns, rows.mass]


def _distinct(rows: RankCounts) -> tuple[RankCounts, Ints]:
    """Distinct atoms with their counts, and which of them each row is."""
    first, inverse = unique_rows(_columns(rows))
    count = np.bincount(inverse, rows.count, len(first)).astype(np.float64)
    return replace(rows[first], count=count), inverse


def _covariances(
    metrics: Sequence[Metric], rows: RankCounts, atoms: RankCounts, m: int, protocol: Protocol
) -> Floats:
    """Summed covariances between the relevant items of each instance: (metrics, D)."""
    starts = _starts(rows)
    owner = np.repeat(np.arange(len(starts)), rows.relevant[starts])
    total = np.zeros((len(metrics), len(starts)))
    vectors = {
        j: np.column_stack([protocol.vector(metric, atoms, m, j) for metric in metrics])
        for j in atoms.positions
    }
    above, below = protocol.weights(rows)
    sampled = rows.negatives >= m if protocol.without else np.ones(len(rows), dtype=bool)
    for i in atoms.positions:
        upper = np.flatnonzero((rows.position == i) & (rows.relevant > i) & sampled)
        for j in range(i + 1, int(rows.relevant.max()) + 1):
            upper = upper[rows.relevant[upper] >= j]
            if not len(upper):
                break
            lower = upper + (j - i)
            first, inverse = unique_rows([above[upper], above[lower], below[lower]])
            a, b, outside = above[upper][first], above[lower][first], below[lower][first]
            found = nested_covariances(
                protocol.scheme, m, np.minimum(a, b), b, outside, vectors[i], vectors[j]
            )
            each = np.einsum("pcc->cp", found)[:, inverse]
            for x, metric in enumerate(metrics):
                scaled = each[x] * metric.scales(rows.relevant[upper]) ** 2
                total[x] += np.bincount(owner[upper], scaled, len(starts))
    return total
