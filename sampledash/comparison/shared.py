r"""Chance of the true order when both systems see the same sampled negatives.

Take a relevant item. Of the N negatives, the first system ranks a set A of :math:`a` negatives
above the item, and the second system a set B of b negatives. The two ranks determine a and b, but
not the overlap o: the number of negatives in both A and B, between max(0, a + b - N) and min(a, b).
Of the drawn negatives, s are in A and t are in B; f(s) and g(t) are the sampled values. If f and g
decrease, the covariance of the values increases with o.

Proof: let negative x be in A only, and negative y in B only. Now replace y by x in B, so that o
grows by 1. In samples with both or neither of x and y, s and t do not change. Take a sample with x
only, and the equally likely sample with y instead of x. Let i and j be the numbers of their other
negatives in A and B. Then (s, t) changes from (i + 1, j) to (i + 1, j + 1) in the first sample, and
from (i, j + 1) to (i, j) in the second. So E[f(s) g(t)] grows in proportion to
(f(i+1) - f(i)) (g(j+1) - g(j)) >= 0. (For draws with replacement, this holds for each draw.)

At the largest overlap, A contains B or B contains A. At the smallest overlap, the same holds for A
and the complement of B. If B contains A, and t drawn items are in B, the number of them in A is
hypergeometric without replacement (t draws from b items, of which a are in A); with replacement,
the number is Binomial(t, p), where p is the share of A in the sampling weight of B.
"""

from collections.abc import Mapping, Sequence
from itertools import permutations, product
from typing import Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampledash import checks
from sampledash.comparison.chance import common_step, normal_chances
from sampledash.comparison.order import TIED, check_sets, pair_table, true_order
from sampledash.comparison.overlap import (
    STRAIGHT,
    WIDER,
    Overlap,
    bounds_if_known,
    covariance_of_counts,
)
from sampledash.comparison.run_distribution import FEW, Run, law_of_mean
from sampledash.comparison.scatter import CHUNK, conditional_means
from sampledash.comparison.sums import Law
from sampledash.comparison.user_resampling import Sampled, match_instances, sampled_values
from sampledash.metrics import Metric, as_metric
from sampledash.protocol import Options, Protocol
from sampledash.rank_counts import RankCounts, unique_rows
from sampledash.rank_sets import RankSet
from sampledash.sampling import pmf
from sampledash.types import Floats, Ints, blocks

# Bounds from simulated runs are widened by this: four standard errors of the difference of two
# shares of 20,000 runs.
_ERROR = 0.02
# A sampled count is the number of sampled negatives above a relevant item.
_NOTHING = 1e-20  # sampled counts with a smaller probability are left out of a covariance
_CACHE = 1 << 15  # number of probabilities that are processed together, so that they stay in cache
# To save time, the covariance of the two systems' values of an instance is not computed where it is
# small, but bounded by the inequality of Cauchy-Schwarz. The sum of these bounds is at most this
# share of the sum of the variances of both mean metrics.
_NEGLIGIBLE = 1e-3


def probability_if_shared(
    metric: Metric | str,
    sets: Sequence[RankSet],
    m: int,
    *,
    overlaps: Sequence[Overlap] = (),
    **options: Unpack[Options],
) -> pd.DataFrame:
    """Return bounds on the chance of the true order if both systems rank the same negatives.

    The parameters are those of :func:`~sampledash.probability_of_order`, and ``overlaps``: at most
    one result of :func:`~sampledash.overlaps` for each pair of systems. For a pair without such a
    result, the overlap that the pair's rank sets hold is used, if any.

    Returns
    -------
    DataFrame with columns ``better``, ``worse`` (by the exact metric), ``low`` and ``high``, NaN
    where the exact metric ties the pair. A run that ties the pair does not show its order.

    Raises
    ------
    ValueError
        If two systems do not rank the same instances among equally many negatives, or the variance
        of an instance's metric is unknown (see :func:`~sampledash.probability_if_redrawn`).

    Notes
    -----
    Ranks determine the distribution of each system's mean, but not how the means of two systems
    depend on each other; for this, the ranked lists would be needed. A shared draw tends to affect
    both systems alike, which usually raises the chance. ``high`` is the chance if, for each
    relevant item, the negatives above under one system include those above under the other. ``low``
    is the chance if these two sets overlap as little as possible. (If the expected sampled means
    have the wrong order, ``low`` and ``high`` are exchanged.)

    From 30 instances on, the difference of the means is taken as normal. In each of these two
    cases, the variance is exact if there are no ties and values decrease with the sampled rank
    (uncorrected, rank estimate, CLS); otherwise the variance is a bound. The normal distribution
    ignores skewness and equal means. Both bounds are therefore widened by 0.2 c / d: c is the
    largest change of a mean by one sampled value, and d the standard deviation of the difference.
    (If c is unknown, the largest share of an instance in the mean replaces c.) In 300 random pairs
    of 30 to 200 instances, no simulated chance was outside the bounds. Below 30 instances, the
    bounds of Makarov and Cantelli are used, which hold for any dependence; the bounds are widened
    by 0.02 if runs have to be simulated. Each system has its own random order of tied items.

    If the overlap of a pair is given, ``low`` equals ``high`` in two cases: relevant items only hit
    or miss; or each instance has one relevant item, and either there are fewer than 30 instances,
    or the two values of an instance have at most 1,000 possible differences. Otherwise, from 30
    instances on, the variance of the difference is exact, and the bounds allow for its unknown
    skewness and for ties; below 30 instances, the bounds without an overlap are used. In 200 random
    pairs of score matrices, no chance that was simulated by 20,000 runs lay more than 4 standard
    errors outside the bounds.

    References
    ----------
    Makarov, Estimates for the distribution function of a sum of two random variables when the
    marginal distributions are fixed, 1982.
    """
    check_sets(sets)
    metric, m, protocol = as_metric(metric), checks.integer("m", m, low=1), Protocol.of(options)
    pairs = true_order(metric, sets, protocol)
    values = sampled_values(metric, sets, m, protocol)
    known = _by_pair(overlaps, sets, protocol)
    ends = [_bounds(values[i], values[j], truth, known) for i, j, truth in pairs]
    low, high = zip(*ends, strict=True)
    return pair_table(sets, pairs, low=low, high=high)


def _by_pair(
    overlaps: Sequence[Overlap], sets: Sequence[RankSet], protocol: Protocol
) -> dict[frozenset[str], Overlap]:
    """Return a map from the names of two systems to their overlap.

    Overlaps in ``overlaps`` replace those that the rank sets hold. If negatives are not drawn
    uniformly, the overlaps of the rank sets are left out. Raise ValueError if ``overlaps`` is then
    not empty, or if it names a system that is not in ``sets``.
    """
    known: dict[frozenset[str], Overlap] = {}
    for first, second in permutations(sets, 2):
        if second.system in first.overlaps and protocol.design.by_degree:
            known[frozenset((first.system, second.system))] = Overlap.between(first, second)
    for overlap in () if overlaps == () else checks.several("overlaps", overlaps, "overlap"):
        checks.of_kind("overlaps", overlap, Overlap, "Overlap", "make one with sampledash.overlaps")
        known[frozenset(overlap.systems)] = overlap
        if others := frozenset(overlap.systems) - {ranks.system for ranks in sets}:
            raise ValueError(f"overlaps are about system {min(others)!r}, which is not in sets")
    if overlaps != () and not protocol.design.by_degree:
        raise ValueError(
            f"about negatives drawn {protocol.design.words} overlaps say nothing: take a uniform "
            "scheme with or without replacement, or leave the overlaps out"
        )
    return known


def _bounds(
    first: Sampled, second: Sampled, truth: int, known: Mapping[frozenset[str], Overlap]
) -> tuple[float, float]:
    items, there = _aligned(first.run, second.run)
    overlap = known.get(frozenset([first.run.ranks.system, second.run.ranks.system]))
    if overlap is not None and truth:
        ends = bounds_if_known(first, second, items, there, overlap)
        if ends[0] < ends[1]:  # the bounds from the ranks alone hold too, and may be narrower
            others = _bounds(first, second, truth, {})
            ends = max(ends[0], others[0]), min(ends[1], others[1])
        return ends
    shares = first.weights * first.counts
    back = np.argsort(first.order)
    weight = (first.weights * shares)[back] / shares.sum() ** 2
    apart = (first.variance + second.variance)[back]
    # Upper bounds on the absolute covariance of the two systems' values of each instance, by the
    # inequality of Cauchy-Schwarz.
    limit = np.sqrt(first.variance * second.variance)[back]
    matters = np.ones(len(weight), dtype=bool)
    smallest = np.argsort(limit * weight)
    left_out = np.cumsum((limit * weight)[smallest]) <= _NEGLIGIBLE * float(apart @ weight)
    matters[smallest[left_out]] = False
    least, most = covariance_bounds(first.run, second.run, matters)
    if not truth:
        return float("nan"), float("nan")
    least = np.where(matters, np.maximum(least, -limit), -limit)
    most = np.where(matters, np.minimum(most, limit), limit)
    difference = first.average - second.average
    variances = np.array([(apart - 2 * c) @ weight for c in (most, least)])
    if first.size < FEW:
        laws = [law_of_mean(x.run, i) for i, x in enumerate((first, second))]
        if laws[0] is not None and laws[1] is not None:
            error = _ERROR * (not all(x.run.is_sum or x.run.law_of_hits() for x in (first, second)))
            return _any_coupling(laws[0], laws[1], error, difference, max(variances[1], 0.0))
    step = common_step(first.run.half_unit, second.run.half_unit)
    # Replace variances that are 0 up to rounding errors by 0.
    deviations = np.sqrt(np.where(variances <= 1e-13 * (apart @ weight), 0.0, variances))
    chances = normal_chances(np.full(2, difference), deviations, step)
    # Widen the bounds, because the normal distribution allows neither for skewness nor for ties.
    move = np.max([first.largest_move, second.largest_move])
    move = np.nan_to_num(move, nan=float(first.weights.max() / shares.sum()))
    certain = deviations == 0
    off = np.where(certain, 0.0, WIDER * move / np.where(certain, 1.0, deviations))
    return max(float((chances - off).min()), 0.0), min(float((chances + off).max()), 1.0)


def _any_coupling(
    first: Law, second: Law, error: float, difference: float, variance: float
) -> tuple[float, float]:
    """Return bounds on P(X > Y) for any dependence of X and Y.

    The bounds use the distributions (Makarov), and the mean and variance of the difference
    (Cantelli). ``error`` allows for simulated distributions, whose probabilities are not exact.
    """
    low, high = np.add(makarov(first, second), [-error, error]).tolist()
    slack = difference**2 + variance
    if difference > TIED:
        low = max(low, difference**2 / slack)
    elif difference < -TIED:
        high = min(high, variance / slack)
    high = min(max(high, 0.0), 1.0)
    # Equal bounds could be swapped by rounding, so the lower bound is limited by the upper one.
    return min(max(low, 0.0), high), high


def makarov(first: Law, second: Law) -> tuple[float, float]:
    """Return bounds on P(X > Y) for X ~ ``first`` and Y ~ ``second``, whatever their dependence."""
    x, y = first[0], second[0] + TIED  # X > Y means that X exceeds Y by more than TIED
    points = np.concatenate([x, y])

    def up_to(law: Law, values: Floats, side: str) -> Floats:
        total = np.r_[0.0, np.cumsum(law[1])]
        place = np.searchsorted(values, points, side="right" if side == "<=" else "left")
        return np.asarray(total[place])

    # For every number z, X > z >= Y implies X > Y, so P(X > Y) >= P(Y <= z) - P(X <= z). Likewise,
    # X <= z <= Y implies that X is not above Y.
    low = float(np.max(up_to(second, y, "<=") - up_to(first, x, "<=")))
    return low, 1 - float(np.max(up_to(first, x, "<=") - up_to(second, y, "<")))


def covariance_bounds(
    first: Run, second: Run, wanted: NDArray[np.bool_] | None = None
) -> tuple[Floats, Floats]:
    """Return bounds on the covariance of two systems' sampled values, for each instance.

    Instances are in the order of ``first``; those that are not ``wanted`` get 0. Corrected values
    may both rise and fall with the sampled rank. Each system's values are therefore written as a
    rising function of the sampled rank plus a falling one. Each function of the first system has a
    covariance with each function of the second system. These four covariances, whose sum is the
    covariance of the values, are bounded one by one. With ties, ``_coupled`` gives the bounds.
    """
    metric, m, protocol = first.metric, first.m, first.protocol
    protocol.require_fixed(first.ranks.system)
    items, there = _aligned(first, second)
    starts = np.flatnonzero(items.position == 1)
    owner = np.repeat(np.arange(len(starts)), items.relevant[starts])
    low, high = np.zeros((2, len(starts)))
    atoms = [ranks.counted(protocol.ties) for ranks in (first.ranks, second.ranks)]
    last = 1 if metric.first_only else int(items.relevant.max())
    sampled = items.negatives >= m if protocol.design.distinct else np.ones(len(items), dtype=bool)
    if wanted is not None:
        sampled &= wanted[owner]
    for i, j in product(range(1, last + 1), repeat=2):
        left = np.flatnonzero((items.position == i) & (items.relevant >= j) & sampled)
        if not len(left):
            continue
        right = left + (j - i)
        vectors = [
            protocol.vector(metric, rows, m, k) for rows, k in zip(atoms, (i, j), strict=True)
        ]
        scale = metric.scales(items.relevant[left]) ** 2
        least, most = _item_bounds(items[left], there[right], vectors, m, protocol)
        low += np.bincount(owner[left], scale * least, len(starts))
        high += np.bincount(owner[left], scale * most, len(starts))
    return low, high


def _aligned(first: Run, second: Run) -> tuple[RankCounts, RankCounts]:
    """Return the relevant items of both systems, in the instance order of ``first``.

    Raise ValueError if the systems do not rank the same instances among equally many negatives.
    """
    at = match_instances(first.ranks, second.ranks, first.protocol)
    items, there = (x.ranks.rows(x.protocol.ties) for x in (first, second))
    if at is not None:
        starts, begin = np.flatnonzero(items.position == 1), np.flatnonzero(there.position == 1)[at]
        size = items.relevant[starts]
        if np.array_equal(size, there.relevant[begin]):
            offset = np.arange(len(items)) - np.repeat(starts, size)
            there = there[np.repeat(begin, size) + offset]
            if np.array_equal(items.negatives, there.negatives):
                return items, there
    raise ValueError(
        f"systems {first.ranks.system!r} and {second.ranks.system!r} cannot share negatives: they "
        "do not rank the same instances among equally many negatives"
    )


def _item_bounds(
    left: RankCounts, right: RankCounts, vectors: Sequence[Floats], m: int, protocol: Protocol
) -> tuple[Floats, Floats]:
    """Return lower and upper bounds on the covariances of sampled values: (rows,) each.

    Each covariance is between the sampled values of two relevant items of an instance: one under
    the first system (a row of ``left``), and one under the second (the same row of ``right``).
    """
    above, below = protocol.weights(left)
    other, rest = protocol.weights(right)
    distinct, inverse = unique_rows([above, below, other, rest, left.tied, right.tied])
    a, below_a, b, below_b = (x[distinct] for x in (above, below, other, rest))
    low, high = np.zeros((2, len(distinct)))
    tied = (left.tied[distinct] > 0) | (right.tied[distinct] > 0)
    if np.any(tied):
        low[tied], high[tied] = _coupled(
            left[distinct[tied]], right[distinct[tied]], vectors, m, protocol
        )
    free = np.flatnonzero(~tied)
    f, g = (_parts(vector) for vector in vectors)
    largest, smallest = np.zeros((2, len(free), f.shape[1], g.shape[1]))

    def of(at: Ints, inner: Floats, outer: Floats, outside: Floats, x: Floats, y: Floats) -> Floats:
        return nested_covariances(protocol.scheme, m, inner[at], outer[at], outside[at], x, y)

    for result, inside, sets, h in (
        (largest, a[free] <= b[free], (b, below_b), g),
        # At the smallest overlap, the set of items above the relevant item under the first system
        # contains the set of items *below* it under the second system, or is inside that set. If t
        # drawn items are above the relevant item under the second system, m - t are below it, so
        # the values of g are in reverse order.
        (smallest, a[free] <= below_b[free], (below_b, b), g[::-1]),
    ):
        yes, no = np.flatnonzero(inside), np.flatnonzero(~inside)
        result[yes] = of(free[yes], a, *sets, f, h)
        result[no] = of(free[no], sets[0], a, below_a, h, f).transpose(0, 2, 1)
    same = np.equal.outer(np.arange(f.shape[1]), np.arange(g.shape[1]))
    high[free] = np.where(same, largest, smallest).sum(axis=(1, 2))
    low[free] = np.where(same, smallest, largest).sum(axis=(1, 2))
    return low[inverse], high[inverse]


def nested_covariances(
    scheme: str, m: int, inner: Floats, outer: Floats, rest: Floats, first: Floats, second: Floats
) -> Floats:
    """Return covariances of functions of the numbers of drawn items in two sets: (pairs, c, d).

    One set contains the other. For each pair of sets, ``inner``, ``outer`` and ``rest`` are the
    numbers of items (or their sampling weights) in the smaller set, in the larger set, and outside
    the larger set. ``first`` holds the values of c functions at 0..m drawn items in the smaller
    set: (m + 1, c). ``second`` holds the values of d functions at 0..m drawn items in the larger
    set: (m + 1, d).
    """
    if max(float(np.ptp(np.diff(v, axis=0), axis=0).max()) for v in (first, second)) <= STRAIGHT:
        # The functions are linear, as for AUC, so the covariance has a closed form.
        common = covariance_of_counts(scheme, m, inner, outer, inner, outer + rest)
        slopes = np.multiply.outer(first[1] - first[0], second[1] - second[0])
        return np.asarray(common[:, None, None] * slopes)
    result = np.zeros((len(inner), first.shape[1], second.shape[1]))
    live = np.flatnonzero(inner > 0)
    live = live[np.lexsort((inner[live], outer[live]))]
    for some in blocks(len(live), CHUNK, m + 1):
        at = live[some]
        p = _distinct_laws(scheme, m, outer[at], rest[at])
        inside = _distinct_laws(scheme, m, inner[at], outer[at] - inner[at] + rest[at])
        tops, widths = (1 + m - np.argmax(law[:, ::-1] > _NOTHING, axis=1) for law in (p, inside))
        weighted = second[None] - np.einsum("pt,td->pd", p, second)[:, None]
        weighted *= p[:, :, None]
        centred = first[None] - np.einsum("ps,sc->pc", inside, first)[:, None]
        begin = 0
        while begin < len(at):
            size = max(1, _CACHE // int(widths[begin : begin + _CACHE].max()))
            rows = slice(begin, begin + size)
            top, width = int(tops[rows].max()), int(widths[rows].max())
            given = conditional_means(
                scheme, inner[at[rows]], outer[at[rows]], centred[rows, :width], top
            )
            result[at[rows]] = np.einsum("ptd,ptc->pcd", weighted[rows, :top], given)
            begin += size
    return result


def _distinct_laws(scheme: str, m: int, above: Floats, below: Floats) -> Floats:
    """Return the distributions of the number of drawn items above a relevant item: (rows, m + 1).

    ``above`` and ``below`` hold the numbers (or weights) of all items above and below it. Rows in
    which both are the same are computed only once.
    """
    first, inverse = unique_rows([above, below])
    return pmf(scheme, m, above[first], below[first])[inverse]


def _parts(vector: Floats) -> Floats:
    """Return a falling and a rising part whose sum is ``vector`` - ``vector[0]``: (m + 1, 2)."""
    steps = np.diff(vector, prepend=vector[0])
    return np.column_stack([np.cumsum(np.minimum(steps, 0)), np.cumsum(np.maximum(steps, 0))])


def _coupled(
    left: RankCounts, right: RankCounts, vectors: Sequence[Floats], m: int, protocol: Protocol
) -> tuple[Floats, Floats]:
    """Return, for each row, the smallest and the largest possible covariance of two sampled values.

    The two values are those of the relevant items in the same row of ``left`` and ``right``. The
    bounds are those of Fréchet and Hoeffding: the covariance is smallest if large values of one
    item occur with small values of the other item, and largest if large values occur together.
    """
    size = m + 1
    laws = []
    for atoms in (left, right):
        p = np.empty((len(atoms), size))
        for rows, block in protocol.laws(atoms, m):
            p[rows] = block
        laws.append(p)
    orders = [np.argsort(vector, kind="stable") for vector in vectors]
    covariances = []
    for second in (orders[1][::-1], orders[1]):
        f, g = vectors[0][orders[0]], vectors[1][second]
        p, q = laws[0][:, orders[0]], laws[1][:, second]
        edges = np.concatenate([np.cumsum(p, axis=1), np.cumsum(q, axis=1)], axis=1)
        order = np.argsort(edges, axis=1, kind="stable")
        width = np.diff(np.take_along_axis(edges, order, axis=1), axis=1, prepend=0.0)
        # The cumulative probabilities of p and q divide 0..1 into intervals. ``first`` and
        # ``place`` are, for each interval, the indices of the values of f and g.
        first: Ints = np.cumsum(order < size, axis=1) - (order < size)
        place = np.arange(2 * size) - first
        mean_f, mean_g = (p @ f)[:, None], (q @ g)[:, None]
        values = (f[np.minimum(first, m)] - mean_f) * (g[np.minimum(place, m)] - mean_g)
        covariances.append((width * values).sum(axis=1))
    return covariances[0], covariances[1]
