r"""Variance of the mean metric of one sampled run, over the draw of the negatives.

This variance is the sum of the variances of the relevant items' contributions and of the
covariances within an instance. All negatives above a relevant item are also above the next worse
relevant item. Given the number W of drawn negatives above the j-th best relevant item, the
contribution v_j of this item and the sum S of the contributions of better items are independent, so

.. math:: \operatorname{cov}(S, v_j) = \operatorname{cov}_W\bigl(E[S \mid W],\, E[v_j \mid W]\bigr),

and E[S | W] is computed for one relevant item after the other, from the best to the worst. The
contribution of an untied item is a function of W. The contribution of a tied item also depends on
the draws from the negatives that are tied with it, so E[v_j | W] is a mean over these draws.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np

from sampledash import checks
from sampledash.comparison.means import exact_values, merged
from sampledash.metrics import Metric, as_metric
from sampledash.protocol import Options, Protocol, as_ranked_by, group_by_candidate_set
from sampledash.rank_counts import RankCounts, distinct_over_systems
from sampledash.rank_sets import RankSet, first_items
from sampledash.sampling import moments, pmf
from sampledash.schemes import SCHEMES
from sampledash.types import Floats, Ints, blocks

CHUNK = 1 << 19  # number of entries of conditional means in memory at a time
_LEAST = np.finfo(float).tiny


def std_of_mean(metric: Metric | str, ranks: RankSet, m: int, **options: Unpack[Options]) -> float:
    """Return the standard deviation of a run's mean metric over draws of the negatives.

    The parameters are those of :func:`expected_mean`. Negatives are drawn independently for each
    instance. Tables 2 and 3 of Krichene & Rendle (KDD 2020) list such standard deviations.

    Notes
    -----
    The standard deviation measures how far a sampled run is from its expected value. It does not
    include the difference between the expected value and the exact metric.
    """
    m, protocol = checks.integer("m", m, low=1), Protocol.of(options)
    return float(np.sqrt(moments_of_means([as_metric(metric)], [ranks], m, protocol)[1][0, 0]))


def moments_of_means(
    metrics: Sequence[Metric],
    sets: Sequence[RankSet],
    m: int,
    protocol: Protocol,
    moments: Sequence[Floats] | None = None,
) -> tuple[Floats, Floats]:
    """Return the expected value and the variance of each system's mean of each sampled metric.

    Both arrays have the shape (systems, metrics). ``moments`` is the result of
    :func:`moments_of_systems`, if it has been computed before.
    """
    for ranks in sets:
        protocol.check(ranks, m)
    everyone = [ranks.counted(protocol.ties) for ranks in sets]
    if moments is None:
        everyone = [merged(atoms, m, protocol.scheme) for atoms in everyone]
        moments = moments_of_systems(metrics, everyone, m, protocol)
    means, total = np.empty((2, len(sets), len(metrics)))
    several = [x for x, metric in enumerate(metrics) if metric.sums_items]
    for i, (ranks, atoms) in enumerate(zip(sets, everyone, strict=True)):
        share = protocol.shares(atoms)
        for x, metric in enumerate(metrics):
            weight = metric.scales(atoms.relevant) * share
            means[i, x] = moments[i][0][x] @ (weight * atoms.count)
            total[i, x] = moments[i][1][x] @ (weight**2 * atoms.count)
        if ranks.max_relevant > 1 and several:
            chosen = [metrics[x] for x in several]
            first = first_items(ranks)
            scales = np.column_stack([metric.scales(first.relevant) for metric in chosen])
            weights = first.count[:, None] * (scales * protocol.shares(first)[:, None]) ** 2
            covariances = pair_covariances(chosen, ranks, m, protocol)
            total[i, several] += 2 * np.sum(weights * covariances, axis=0)
    return means, np.maximum(total, 0.0)


def exact_variances(metric: Metric, atoms: RankCounts) -> Floats:
    """Return the variance of each relevant item's exact metric over random orders of tied items.

    The metric is not multiplied by ``metric.scales``, such as 1 / (number of relevant items).
    """
    atoms = as_ranked_by(metric, atoms)
    values = np.zeros(len(atoms))
    for i in np.flatnonzero(atoms.tied):
        above = atoms.above[i] + np.arange(atoms.tied[i] + 1)
        values[i] = metric.of_above(above, atoms.negatives[i], int(atoms.position[i])).var()
    return values


def moments_of_systems(
    metrics: Sequence[Metric], everyone: Sequence[RankCounts], m: int, protocol: Protocol
) -> list[Floats]:
    """Return, for each system, mean and variance of each relevant item's sampled value.

    The array of a system has the shape (2, metrics, items). Items with the same numbers of
    negatives above, tied and in all are evaluated only once for all systems that have the same
    fitted correction.
    """
    result = [np.empty((2, len(metrics), len(atoms))) for atoms in everyone]
    for x in group_by_candidate_set(metrics):
        some, groups = [metrics[i] for i in x], dict[object, list[int]]()
        ranked = [as_ranked_by(some[0], atoms) for atoms in everyone]
        for i, atoms in enumerate(ranked):
            groups.setdefault(protocol.law_key(atoms, m), []).append(i)
        for members in groups.values():
            joined, places = ranked[members[0]], [np.arange(len(ranked[members[0]]))]
            if len(members) > 1:
                several = [ranked[i] for i in members]
                joined, places = distinct_over_systems(several, protocol.design.uniform)
            means, variances = atom_moments(some, joined, m, protocol)
            for i, at in zip(members, places, strict=True):
                result[i][:, x] = means[:, at], variances[:, at]
    return result


def atom_moments(
    metrics: Sequence[Metric], atoms: RankCounts, m: int, protocol: Protocol
) -> tuple[Floats, Floats]:
    """Return mean and variance of each relevant item's sampled value: (metrics, items) each.

    The values are not multiplied by ``metric.scales``, such as 1 / (number of relevant items).
    """
    means, variances = np.zeros((2, len(metrics), len(atoms)))
    full = protocol.design.distinct & (atoms.negatives < m)
    for i, metric in enumerate(metrics):
        if np.any(full):
            means[i, full] = exact_values(metric, atoms[full])
            variances[i, full] = exact_variances(metric, atoms[full])
    for j in atoms.positions:
        at_position = (atoms.position == j) & ~full
        at = np.flatnonzero(at_position)
        counted = [i for i, metric in enumerate(metrics) if j == 1 or not metric.first_only]
        if not len(at) or not counted:
            continue
        vectors = [protocol.vector(metrics[i], atoms, m, j) for i in counted]
        for picked, p in protocol.laws(atoms[at_position], m):
            rows = at[picked]
            for i, vector in zip(counted, vectors, strict=True):
                means[i, rows], variances[i, rows] = moments(p, vector)
    return means, variances


def pair_covariances(
    metrics: Sequence[Metric], ranks: RankSet, m: int, protocol: Protocol
) -> Floats:
    """Return the sum of the covariances of all pairs of relevant items of each instance.

    A covariance is that of two items' contributions to a metric, not multiplied by
    ``metric.scales``, such as 1 / (number of relevant items). The sum is 0 if all negatives are
    drawn. The result has the shape (instances, metrics).
    """
    rows, atoms = ranks.rows(protocol.ties), ranks.counted(protocol.ties)
    starts = np.flatnonzero(rows.position == 1)
    wanted = rows.relevant[starts] > 1
    if protocol.design.distinct:
        wanted &= rows.negatives[starts] >= m
    if protocol.design.weighted and np.any(np.add.reduceat(rows.tied, starts)[wanted]):
        what = f"system {ranks.system!r} has ties and several relevant items in one instance"
        raise ValueError(f"{what}: with popularity, take ties='optimistic' or 'pessimistic'")
    protocol.require_fixed(ranks.system if np.any(wanted) else "")
    vectors = np.array(
        [[protocol.vector(metric, atoms, m, j) for metric in metrics] for j in atoms.positions]
    ).swapaxes(1, 2)
    scheme, (above, below) = protocol.scheme, protocol.weights(rows)
    covariances = np.zeros((len(starts), len(metrics)))
    longest = np.flatnonzero(wanted)
    longest = longest[np.argsort(-rows.relevant[starts[longest]], kind="stable")]
    for part in blocks(len(longest), CHUNK, vectors[0].size):
        chosen = longest[part]
        first, size = starts[chosen], rows.relevant[starts[chosen]]
        # Expected sum of the contributions of all better relevant items, given the number of drawn
        # negatives above the current relevant item.
        sums = np.zeros((len(chosen), *vectors.shape[1:]))
        for j in range(1, int(size[0])):
            # Rows of the relevant item j + 1, counted from the best, of each instance that has
            # more than j relevant items.
            at = first[size > j] + j
            sums = sums[: len(at)]
            tied = rows.tied[at - 1] > 0
            sums[~tied] += vectors[j - 1]
            if np.any(tied):
                # If the current item is tied, first change ``sums`` to expected sums given the
                # number of drawn negatives that are above this item or tied with it.
                upper = rows[at[tied] - 1]
                block = replace(upper, negatives=upper.above + upper.tied)
                sums[tied] = conditional_means(scheme, upper.above, block.negatives, sums[tied])
                sums[tied] += _tied_means(protocol, m, block, vectors[j - 1])
            sums = conditional_means(scheme, above[at - 1] + rows.tied[at - 1], above[at], sums)
            values, tied = np.repeat(vectors[None, j], len(at), axis=0), rows.tied[at] > 0
            if np.any(tied):
                lower = rows[at[tied]]
                rest = lower.negatives - lower.above
                block = replace(lower, above=np.zeros_like(lower.above), negatives=rest)
                values[tied] = _tied_means(protocol, m, block, vectors[j], beyond=True)
            p = pmf(scheme, m, above[at], below[at])
            for centred in (sums, values):
                centred -= np.einsum("pt,ptc->pc", p, centred)[:, None]
            covariances[chosen[: len(at)]] += np.einsum("pt,ptc,ptc->pc", p, sums, values)
    return covariances


def _tied_means(
    protocol: Protocol, m: int, atoms: RankCounts, vector: Floats, *, beyond: bool = False
) -> Floats:
    """Return each relevant item's expected sampled metrics for t = 0..m: (items, m + 1, metrics).

    An item with s drawn negatives above it has the value ``vector[s]``. ``atoms`` counts only a
    part of its negatives. Without ``beyond``, t negatives are drawn, all from this part. With
    ``beyond``, m negatives are drawn: m - t from this part, and t others, all above the item.
    """
    law = np.zeros((len(atoms), m + 1))
    result = np.zeros((len(atoms), *vector.shape))
    most = protocol.design.drawn(m, atoms.negatives)
    enough = np.flatnonzero(most == m)
    for picked, p in protocol.laws(atoms[enough], m):
        law[enough[picked]] = p
    for t in range(m, -1, -1):
        for row in np.flatnonzero((most == t) & (t < m)):
            # All negatives of the item are drawn: only the order of the ties is random.
            above, tied = atoms.above[row], atoms.tied[row]
            law[row, above : above + tied + 1] = 1 / (tied + 1)
        at, counted = (m - t, vector[m - t :]) if beyond else (t, vector[: t + 1])
        result[:, at] = law[:, : t + 1] @ counted
        if t:
            s = np.arange(t)
            law[:, :t] = law[:, :t] * ((t - s) / t) + law[:, 1 : t + 1] * ((s + 1) / t)
    return result


def conditional_means(
    scheme: str, inner: Floats | Ints, outer: Floats | Ints, values: Floats, top: int | None = None
) -> Floats:
    """Return the mean of ``values[s]`` if t items of a set are drawn and s of them are in a subset.

    ``inner`` and ``outer`` are the sizes (or weights) of the subsets and of the sets. ``values``
    holds c functions of s = 0..width - 1 for each pair of subset and set: (pairs, width, c). The
    result holds their means for t = 0..top - 1: (pairs, top, c). By default, ``top`` is width. Each
    draw updates the distribution of s: the probability that the next item is in the subset is the
    subset's share of the remaining items.
    """
    width = values.shape[1]
    top = top or width
    law = np.zeros((width + 1, len(inner)))
    law[0] = 1.0
    without = SCHEMES[scheme].distinct
    left = inner - np.arange(width + 1)[:, None] if without else inner
    moved = np.empty_like(law)
    means = np.empty((top, len(inner), values.shape[2]))
    by_count = values.transpose(2, 1, 0).copy()
    for t in range(top):
        used = min(t, width - 1) + 1  # number of possible s after t draws, at most width
        for c, column in enumerate(by_count):
            np.einsum("sp,sp->p", law[:used], column[:used], out=means[t, :, c])
        rest = np.maximum(outer - t, 1.0) if without else np.maximum(outer, _LEAST)
        np.multiply(law[:used], (left[:used] if without else left) / rest, out=moved[:used])
        law[:used] -= moved[:used]
        law[1 : used + 1] += moved[:used]
        law[width] = 0.0
    return means.swapaxes(0, 1)
