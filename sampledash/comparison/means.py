"""Mean of a metric over a rank set: exact, expected under sampling, and its scatter."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from sampledash import checks, laws
from sampledash.atoms import Atoms, Ties, pairs, read_ties, union
from sampledash.comparison import ties
from sampledash.comparison.curves import expected_means
from sampledash.comparison.tied_pairs import tied_covariances
from sampledash.metrics import Metric, as_metric
from sampledash.ranksets import RankSet
from sampledash.setting import Options, Setting, Weighting

Floats = NDArray[np.float64]

_NOTHING = 1e-30  # a less likely count adds nothing to a covariance


def _scales(metric: Metric, relevant: NDArray[np.int64]) -> Floats:
    sizes, inverse = np.unique(relevant, return_inverse=True)
    return np.array([metric.scale(int(size)) for size in sizes])[inverse]


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
    setting = Setting.of({"ties": ties, "weighting": weighting})
    return float(exact_means([as_metric(metric)], [ranks], setting)[0, 0])


def exact_means(metrics: Sequence[Metric], sets: Sequence[RankSet], setting: Setting) -> Floats:
    """Exact mean of every metric (eq. 1), shape (systems, metrics)."""
    means = np.empty((len(sets), len(metrics)))
    for i, ranks in enumerate(sets):
        atoms = ranks.atoms(setting.ties)
        weight = setting.shares(atoms) * atoms.count
        for x, metric in enumerate(metrics):
            values = ties.exact_values(metric, atoms) * _scales(metric, atoms.relevant)
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
    m = checks.integer("m", m, low=1)
    return float(expected_means([as_metric(metric)], [ranks], [m], Setting.of(options))[0, 0, 0])


def std_of_mean(metric: Metric | str, ranks: RankSet, m: int, **options: Unpack[Options]) -> float:
    """Standard deviation of the mean over repeated draws of the negatives (Tables 2 and 3).

    Same parameters as :func:`expected_mean`. Instances are sampled independently.

    Notes
    -----
    This is the scatter of one sampled run about its expectation. It says nothing about how far
    that expectation is from the exact metric.
    """
    m, setting = checks.integer("m", m, low=1), Setting.of(options)
    return float(np.sqrt(variances_of_mean([as_metric(metric)], ranks, m, setting)[0]))


def variances_of_mean(
    metrics: Sequence[Metric], ranks: RankSet, m: int, setting: Setting
) -> Floats:
    """Variance of the mean of each metric in one run, shape (metrics,)."""
    return np.asarray(variances_of_means(metrics, [ranks], m, setting)[0])


def variances_of_means(
    metrics: Sequence[Metric], sets: Sequence[RankSet], m: int, setting: Setting
) -> Floats:
    """Variance of the mean of each system and metric in one run, shape (systems, metrics).

    Systems that share a correction share the laws of equal ranks.
    """
    total = np.empty((len(sets), len(metrics)))
    groups: dict[object, list[int]] = {}
    for i, ranks in enumerate(sets):
        setting.check(ranks, m)
        groups.setdefault(setting.law_key(ranks, m), []).append(i)
    several = [x for x, metric in enumerate(metrics) if not metric.first_only]
    for members in groups.values():
        parts = [sets[i].atoms(setting.ties) for i in members]
        joined, places = union(parts)
        _, variances = atom_moments(metrics, joined, m, setting)
        for i, atoms, at in zip(members, parts, places, strict=True):
            share = setting.shares(atoms)
            for x, metric in enumerate(metrics):
                weight = (_scales(metric, atoms.relevant) * share) ** 2 * atoms.count
                total[i, x] = variances[x, at] @ weight
            if sets[i].max_relevant > 1 and several:
                chosen = [metrics[x] for x in several]
                total[i, several] += 2 * _pair_covariances(chosen, sets[i], atoms, m, setting)
    return np.maximum(total, 0.0)


def atom_moments(
    metrics: Sequence[Metric], atoms: Atoms, m: int, setting: Setting
) -> tuple[Floats, Floats]:
    """Mean and variance of each atom's contribution (before ``scale``): (metrics, atoms) each."""
    means, variances = np.zeros((2, len(metrics), len(atoms)))
    full = atoms.negatives < m if setting.without else np.zeros(len(atoms), dtype=bool)
    for i, metric in enumerate(metrics):
        if np.any(full):
            means[i, full] = ties.exact_values(metric, atoms[full])
            variances[i, full] = ties.exact_variances(metric, atoms[full])
    for j in atoms.positions:
        at = np.flatnonzero((atoms.position == j) & ~full)
        counted = [i for i, metric in enumerate(metrics) if j == 1 or not metric.first_only]
        if not len(at) or not counted:
            continue
        vectors = [setting.vector(metrics[i], atoms, m, j) for i in counted]
        for picked, p in ties.atom_laws(setting, m, atoms[at]):
            rows = at[picked]
            for i, vector in zip(counted, vectors, strict=True):
                means[i, rows] = mean = p @ vector
                variances[i, rows] = np.einsum("rs,rs->r", p, (vector - mean[:, None]) ** 2)
    return means, variances


def _pair_covariances(
    metrics: Sequence[Metric], ranks: RankSet, atoms: Atoms, m: int, setting: Setting
) -> Floats:
    """Covariances between the relevant items of an instance, as they enter the mean: (metrics,).

    Given that t drawn items lie above the lower item, the number above the upper one is
    Binomial(t, share of the weight) or Hypergeometric with t draws.
    """
    tied = ranks.has_ties and setting.ties == "expected"
    if tied and setting.scheme == "popularity":
        raise ValueError(
            f"system {ranks.system!r} has ties and several relevant items in one instance: with "
            "popularity the scatter is available for ties='optimistic' or 'pessimistic'"
        )
    upper, lower = pairs(read_ties(ranks.rows(), setting.ties))
    keep = lower.negatives >= m if setting.without else np.ones(len(lower), dtype=bool)
    upper, lower = upper[keep], lower[keep]
    vectors = {
        j: np.column_stack([setting.vector(metric, atoms, m, j) for metric in metrics])
        for j in atoms.positions
    }
    scales = np.column_stack([_scales(metric, lower.relevant) for metric in metrics])
    weight = lower.count[:, None] * (scales * setting.shares(lower, atoms)[:, None]) ** 2
    a_upper, b_upper = setting.weights(upper)
    a_lower, b_lower = setting.weights(lower)
    total = np.zeros(len(metrics))
    either = (upper.tied > 0) | (lower.tied > 0)
    for i, j in combinations(atoms.positions, 2):
        here = (upper.position == i) & (lower.position == j) & either
        if np.any(here):
            found = tied_covariances(setting, m, upper[here], lower[here], vectors[i], vectors[j])
            total += np.sum(weight[here] * found, axis=0)
    for i in np.flatnonzero(~either).tolist():
        if a_lower[i] == 0:
            continue  # both counts are 0
        first, second = vectors[int(upper.position[i])], vectors[int(lower.position[i])]
        p_upper, p_lower = (
            laws.law(setting.scheme, m, a, b)[0]
            for a, b in ((a_upper[i], b_upper[i]), (a_lower[i], b_lower[i]))
        )
        t = np.flatnonzero(p_lower > _NOTHING)
        given = laws.law(setting.scheme, t, a_upper[i], max(a_lower[i] - a_upper[i], 0.0))
        conditional = given @ (first - p_upper @ first)[: given.shape[1]]
        total += weight[i] * (p_lower[t] @ ((second - p_lower @ second)[t] * conditional))
    return total
