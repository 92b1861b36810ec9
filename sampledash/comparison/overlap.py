r"""Chance of the true order with shared negatives, if two systems' ranked lists are known.

Take a relevant item of an instance, ranked by two systems. Each irrelevant item is above, tied with
or below the relevant item under the first system, and above, tied or below under the second system.
The numbers of irrelevant items in these nine combinations are called *cells*.

After tied items have been put in a random order, a, b and o are the numbers of irrelevant items
above the relevant item under the first system, under the second, and under both. Of m drawn items,
let s be above the relevant item under the first system, and t under the second. Then t = x + z,
where x of the s items are among the o items, and z of the other m - s drawn items are among the
b - o items. Given s, the numbers x and z are independent and hypergeometric (binomial for draws
with replacement). This gives the joint distribution of s and t, and thereby of the two sampled
values of the instance.

Tied items have independent random orders under the two systems. Of the items that are tied with the
relevant item, u come above it, where u = 0, 1, ... have equal chances. A Gauss rule approximates
the mean over u. Given u for each system, o is replaced by three numbers with the mean and the
variance of o.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.linalg import hankel

from sampledash.comparison.chance import chance_above, common_step, normal_chances
from sampledash.comparison.order import TIED
from sampledash.comparison.run_distribution import FEW
from sampledash.comparison.scatter import CHUNK
from sampledash.comparison.sums import waves_of
from sampledash.comparison.user_resampling import Sampled
from sampledash.quadrature import panels
from sampledash.rank_counts import RankCounts
from sampledash.rank_sets import RankSet, Ties
from sampledash.sampling import pmf
from sampledash.schemes import SCHEMES
from sampledash.types import Complex, Floats, Ints, blocks

# Numbers of drawn items above a relevant item are left out if they are less probable than this.
_NOTHING = 1e-14
# A function of the number of drawn items above a relevant item is treated as linear if its steps
# from 0 to 1, 1 to 2, ... such items differ by at most this.
STRAIGHT = 1e-14
_NODES = 8  # smallest number of nodes of the Gauss rule for the mean over random orders of ties
_SKEWNESS = 2.0  # assumed largest skewness of the metric difference of two systems on an instance
# From 30 instances on, the difference of two mean metrics is taken as normal if the difference on
# an instance can have more values than this.
_MANY = 1_000
# The normal distribution ignores that the means X and Y of two systems can be equal. Bounds on
# P(X > Y) are therefore widened by about half of P(X = Y): this number (half the normal density at
# 0) times the largest effect of one sampled value on a mean, in standard deviations of the
# difference.
WIDER = 0.2
MISFIT = (
    "the overlap of systems {!r} and {!r} does not fit their ranks: make it by sampledash.overlaps "
    "from the scores that were ranked"
)
_SMALL = 1e-9  # this number of items is used instead of 0, so that no share of items is 0 / 0
# For each rule for ties, a matrix that moves items from above, tied and below (columns) to above,
# tied and below (rows): in the optimistic rule, for example, tied items count as below.
_READ = {
    "expected": np.eye(3, dtype=np.int64),
    "optimistic": np.array([[1, 0, 0], [0, 0, 0], [0, 1, 1]]),
    "pessimistic": np.array([[1, 1, 0], [0, 0, 0], [0, 0, 1]]),
}


@dataclass(frozen=True, eq=False)
class Overlap:
    """Numbers of irrelevant items above, tied with and below relevant items under two systems.

    A row is about a relevant item in the ranking of the first system, and a relevant item of the
    same instance in the ranking of the second system.

    Attributes
    ----------
    systems
        Names of the two systems.
    instances
        Label of the instance of each row, shape (rows,).
    positions
        Positions of the two relevant items among the relevant items of the instance under the first
        and the second system, from 1, shape (rows, 2).
    cells
        Numbers of irrelevant items, shape (rows, 3, 3). The second axis tells whether they are
        above, tied with or below the relevant item under the first system; the third axis tells the
        same for the second system.
    """

    systems: tuple[str, str]
    instances: NDArray[Any]
    positions: Ints
    cells: Ints

    @classmethod
    def between(cls, first: RankSet, second: RankSet) -> Overlap:
        """Return the overlap of two systems, from the counts in ``first.overlaps``."""
        pair = first.system, second.system
        at = -np.ones(1)
        if second.max_relevant == 1:
            at = pd.Index(second.instances).get_indexer(pd.Index(first.instances))
        if np.any(at < 0):
            raise ValueError(MISFIT.format(*pair))
        ends = [np.stack([x.ranks - 1, x.ties], axis=1) for x in (first, second)]
        cells = cells_of(pair, first.overlaps[second.system], ends[0], ends[1][at], first.n - 1)
        return cls(pair, first.instances, np.ones((len(at), 2), dtype=np.int64), cells)

    def of(
        self, system: str, labels: NDArray[Any], left: RankCounts, right: RankCounts, ties: Ties
    ) -> Ints:
        """Return numbers of irrelevant items above, tied and below: (items, 3, 3).

        These are the rows of the attribute ``cells`` for given relevant items. The second axis is
        about the first system, the third axis about the second system.

        ``left`` are relevant items in the ranking of ``system``, ``right`` those of the same
        instances in the ranking of the other system, and ``labels`` the labels of the instances.
        Raise ValueError if ``cells`` contradicts the ranks of these items.
        """
        pair, every = (int(left.position[0]), int(right.position[0])), self.cells
        if self.systems[0] != system:
            pair, every = pair[::-1], every.transpose(0, 2, 1)
        rows = np.flatnonzero(np.all(self.positions == pair, axis=1))
        at = pd.Index(self.instances[rows]).get_indexer(pd.Index(labels))
        if np.all(at >= 0):
            cells: Ints = _READ[ties] @ every[rows[at]] @ _READ[ties].T
            sides = cells.sum(axis=2), cells.sum(axis=1)
            ranks = (np.array([x.above, x.tied, x.negatives]).T for x in (left, right))
            if all(map(np.array_equal, (x @ _TOTAL for x in sides), ranks)):
                return cells
        raise ValueError(MISFIT.format(*self.systems))


def cells_of(
    systems: tuple[str, str], inner: Ints, first: Ints, second: Ints, negatives: Ints
) -> Ints:
    """Return numbers of irrelevant items above, tied and below under two systems: (rows, 3, 3).

    This is the array ``cells`` of an :class:`Overlap`. The arguments are numbers of irrelevant
    items. ``inner``, (rows, 2, 2), counts those that are above or tied (second axis) under the
    first system, and above or tied (third axis) under the second system. ``first`` and ``second``,
    (rows, 2), count the items above and the items tied under one system. ``negatives`` counts all
    irrelevant items. Raise ValueError if these numbers contradict each other.
    """
    cells = np.zeros((len(inner), 3, 3), dtype=np.int64)
    cells[:, :2, :2] = inner
    cells[:, :2, 2] = first - inner.sum(axis=2)
    cells[:, 2, :2] = second - inner.sum(axis=1)
    cells[:, 2, 2] = negatives - cells.sum(axis=(1, 2))
    if np.any(cells < 0):
        raise ValueError(MISFIT.format(*systems))
    return cells


# Matrix that turns numbers of items above, tied and below into numbers above, tied and in all.
_TOTAL = np.array([[1, 0, 1], [0, 1, 1], [0, 0, 1]])


def bounds_if_known(
    first: Sampled, second: Sampled, items: RankCounts, there: RankCounts, overlap: Overlap
) -> tuple[float, float]:
    """Return bounds on P(mean of ``first`` > mean of ``second``) if negatives are shared.

    The two bounds are equal if the distribution of the difference of the means can be computed.
    This is possible in two cases: each relevant item either hits or misses; or each instance has
    one relevant item, and there are fewer than 30 instances or few values of the sampled metric.
    Otherwise the difference is taken as normal, and the bounds allow for its skewness; below 30
    instances the bounds are 0 and 1. ``items`` holds each relevant item with its rank under the
    first system, and ``there`` the same items with their ranks under the second system.
    """
    run, back, few = first.run, np.argsort(first.order), first.size < FEW
    metric, m, protocol, runs = run.metric, run.m, run.protocol, (run, second.run)
    starts, labels = np.flatnonzero(items.position == 1), pd.unique(run.ranks.instances)
    size, last = items.relevant[starts], 1 if metric.first_only else run.ranks.max_relevant
    # If all negatives of an instance are drawn, its values do not depend on the draw.
    drawn = protocol.design.distinct & (items.negatives[starts] < m)
    atoms = [x.ranks.counted(protocol.ties) for x in runs]
    vectors = [
        np.array([protocol.vector(metric, x, m, j + 1) for j in range(last)]).T for x in atoms
    ]
    # ``functions[system][j]`` holds functions of the number of drawn negatives above the relevant
    # item at position j + 1. The bounds follow from the expected values of the products of two
    # functions, one for each system.
    functions, values = [list((v - v[-1]).T[..., None]) for v in vectors], list[Floats]()
    if not np.any(drawn) and np.all(first.counts == 1):
        tops = [int(np.max(np.nonzero(some[0])[0], initial=0)) + 1 for some in functions]
        if run.one_each and (few or tops[0] * tops[1] <= _MANY):
            # The first function is 1 if the sampled metric is at least its second lowest value, the
            # next is 1 if it is at least the third lowest, and so on up to the best value.
            # Otherwise, a function is 0.
            places = np.arange(m + 1)[:, None]
            functions = [[(places + np.arange(top) < top).astype(np.float64)] for top in tops]
            values = [v[top::-1, 0] for v, top in zip(vectors, tops, strict=True)]
        elif all(np.all((v == 0) | (v == 1)) and not np.any(v[-1]) for v in vectors):
            # Up to a factor, an instance's value is its number of hits. The j-th function is 1 if
            # the j-th best relevant item hits, that is, if the instance has at least j hits.
            values = [np.arange(last + 1.0)] * 2
    shape = (sum(f.shape[1] for f in some) + 1 for some in functions)
    moments = np.zeros((len(size), *shape))
    moments[:, 0, 0] = 1
    for i, j in product(range(last), repeat=2):
        at = np.flatnonzero(size > max(i, j))
        pair = items[starts[at] + i], there[starts[at] + j]
        free = ~drawn[at]
        cells = overlap.of(run.ranks.system, labels[at], *pair, protocol.ties)[free]
        f, g = functions[0][i], functions[1][j]
        x, y = (k + 1 + np.arange(h.shape[1]) for k, h in ((i, f), (j, g)))
        row, x, y = np.ix_(at[free], x, y)
        if metric.linear and not values and np.ptp(np.diff(f, axis=0)) <= STRAIGHT:
            moments[row, x, y] = _linear(protocol.scheme, m, cells, f, g)
        else:
            moments[row, x, y], moments[row, x, 0], moments[row, 0, y] = _moments(
                protocol.scheme, m, cells, f, g
            )
    weight = first.weights[back] / (first.weights * first.counts)[back].sum()
    scale, step = weight * metric.scales(size), common_step(*(x.half_unit for x in runs))
    if values:
        joint = np.diff(np.diff(moments, axis=1, append=0.0), axis=2, append=0.0)
        return (_inverted(joint, scale[:, None, None] * np.subtract.outer(*values), step),) * 2
    together = moments[:, 1:, 1:] - moments[:, 1:, :1] * moments[:, :1, 1:]
    apart = weight**2 * (first.variance + second.variance)[back]
    each = np.maximum(apart - 2 * scale**2 * together.sum(axis=(1, 2)), 0.0)
    variance, difference = float(each @ first.counts[back]), first.average - second.average
    deviation = np.sqrt(variance) if variance > 1e-13 * float(apart @ first.counts[back]) else 0.0
    chance = float(normal_chances(difference, deviation, step))
    if few or not deviation:
        return (0.0, 1.0) if few else (chance, chance)
    # Allow for skewness by the first term of Edgeworth's series. The skewness of each instance's
    # difference is assumed to be at most _SKEWNESS. Allow for ties by about half of the
    # probability of equal means: half the normal density at 0, times ``step`` if means are evenly
    # spaced, and otherwise times the largest weight of an instance in the mean.
    z = difference / deviation
    skewness = _SKEWNESS * float(each**1.5 @ first.counts[back]) / deviation**3
    off = skewness / 6 * max(abs(z**2 - 1), 1.0) * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    off += WIDER * float(step or weight.max()) / deviation
    return max(chance - off, 0.0), min(chance + off, 1.0)


def _linear(scheme: str, m: int, cells: Ints, f: Floats, g: Floats) -> Floats:
    """Return the covariance of f(s) and g(t) for each relevant item: (items, 1, 1).

    Of m drawn items, s are above the relevant item under the first system, and t under the second.
    Both functions are linear; ``f`` and ``g`` hold their values at 0..m. ``cells``, (items, 3, 3),
    counts the irrelevant items above, tied and below under the first and under the second system.
    """
    row, weight, a, b, both = _orders(cells, 1)
    covariances = covariance_of_counts(scheme, m, a, b, both, cells.sum(axis=(1, 2))[row])
    slopes = (f[1] - f[0]) * (g[1] - g[0])
    return np.asarray(np.bincount(row, weight * covariances, len(cells))[:, None, None] * slopes)


def covariance_of_counts(
    scheme: str, m: int, a: Floats, b: Floats, both: Floats, total: Floats | Ints
) -> Floats:
    """Return the covariance of the numbers of drawn items in two sets of items.

    The sets have ``a`` and ``b`` of the ``total`` items, and ``both`` items in common.
    """
    covariance = m * (both / total - (a / total) * (b / total))
    if SCHEMES[scheme].distinct:
        covariance *= (total - m) / np.maximum(total - 1, 1)
    return np.asarray(covariance)


def _moments(scheme: str, m: int, cells: Ints, first: Floats, second: Floats) -> list[Floats]:
    """Return the expected values E[f(s) g(t)], E[f(s)] and E[g(t)] for each relevant item.

    Of m drawn items, s are above the relevant item under the first system, and t under the second.
    ``first`` and ``second`` hold the values of several functions f of s, and of several functions g
    of t, at 0..m: (m + 1, functions). ``cells``, (items, 3, 3), counts the irrelevant items above,
    tied and below under the first and under the second system. The results have the shapes (items,
    f, g), (items, f, 1) and (items, 1, g).
    """
    owner, weight, a, b, both = _orders(cells, m)
    total, sizes = cells.sum(axis=(1, 2))[owner], (first.shape[1], second.shape[1])
    result = [np.zeros((len(cells), *x)) for x in (sizes, (sizes[0], 1), (1, sizes[1]))]
    top = [int(np.max(np.nonzero(values)[0], initial=0)) + 1 for values in (first, second)]
    order = np.lexsort((b, a))
    for some in blocks(len(order), CHUNK, top[0] * (m + 1)):
        at = order[some]
        p, q = (pmf(scheme, m, x[at], total[at] - x[at]) for x in (a, b))
        wide, high = (
            int(np.max(np.nonzero(law[:, :most] > _NOTHING)[1], initial=0)) + 1
            for law, most in zip((p, q), top, strict=True)
        )
        # Let s = 0, 1, ... drawn items be above the relevant item under the first system. ``x`` is
        # the distribution of the number of these s items that are above it under the second system.
        # ``z`` is the same distribution for the other m - s drawn items.
        s = np.tile(np.arange(wide), len(at))
        inner, rest, o, less = (np.repeat(x[at], wide) for x in (a, total - a, both, b - both))
        x = pmf(scheme, s, o, np.maximum(inner - o, _SMALL))
        z = pmf(scheme, m - s, less, np.maximum(rest - less, _SMALL))
        joint, both_above = np.empty((len(at), *sizes)), x[:, :high]
        for j, g in enumerate(second.T):
            # Let t = u + v drawn items be above the relevant item under the second system: u items
            # that are also above it under the first system, and v items that are not. The entry in
            # row v and column u of ``sums`` is g(u + v).
            sums = hankel(g[:high], 0 * g[:high])[:, : both_above.shape[1]]
            given = np.einsum("sx,sx->s", both_above, z[:, :high] @ sums)
            joint[..., j] = (given.reshape(-1, wide) * p[:, :wide]) @ first[:wide]
        parts = joint, (p @ first)[:, :, None], (q @ second)[:, None]
        for whole, part in zip(result, parts, strict=True):
            np.add.at(whole, owner[at], weight[at, None, None] * part)
    return result


def _orders(cells: Ints, m: int) -> tuple[Ints, Floats, Floats, Floats, Floats]:
    """Return the nodes of a Gauss rule for the mean over the random orders of tied items.

    ``m`` items are drawn. A row of ``cells`` counts the items above, tied with and below a relevant
    item under two systems. The arrays have an entry for each node: the index of its row in
    ``cells``, its weight, and the numbers of items that are above the relevant item under the first
    system, under the second system, and under both.
    """
    nodes = []
    tied = np.column_stack([cells[:, 1].sum(axis=1), cells[:, :, 1].sum(axis=1)])
    for row, (t, u) in enumerate(tied.tolist()):
        share = m / cells[row].sum()
        (x, p), (y, q) = (_nodes(k, _NODES + int(3 * (share * k) ** 0.5)) for k in (t, u))
        where = np.full(len(x) * len(y), row)
        nodes.append([where, np.outer(p, q).ravel(), np.repeat(x, len(y)), np.tile(y, len(x))])
    where, weight, x, y = (np.concatenate(column) for column in zip(*nodes, strict=True))
    some = cells[where]
    a, b = some[:, 0].sum(axis=1) + x, some[:, :, 0].sum(axis=1) + y
    # A node stands for an order of the tied items. Let ``x`` and ``y`` be, for the two systems, the
    # share of the tied items that come above the relevant item.
    x, y = (z / np.maximum(k, 1) for z, k in zip((x, y), tied[where].T, strict=True))
    # The indicator of a tied item is 1 if the item is above the relevant item, and otherwise 0. For
    # the two systems, p and q are the covariances of the indicators of two tied items, given how
    # many tied items are above. The variance of ``both`` follows.
    p, q = (z * (z - 1) / np.maximum(k - 1, 1) for z, k in zip((x, y), tied[where].T, strict=True))
    # Numbers of items that are tied under the first system and above under the second, above under
    # the first and tied under the second, and tied under both.
    one, other, two = some[:, 1, 0], some[:, 0, 1], some[:, 1, 1]
    both = some[:, 0, 0] + one * x + other * y + two * x * y
    variance = one * (x * (1 - x) + (one - 1) * p) + other * (y * (1 - y) + (other - 1) * q)
    variance += two * (x * y * (1 - x * y) + (two - 1) * ((x**2 + p) * (y**2 + q) - (x * y) ** 2))
    variance += 2 * two * (one * y * p + other * x * q)
    # Three values with the mean and the variance of ``both`` take its place. They are whole numbers
    # if ``a`` and ``b`` are.
    whole = np.abs(a - np.rint(a)) + np.abs(b - np.rint(b)) < _SMALL
    a, b, middle = (np.where(whole, np.rint(z), z) for z in (a, b, both))
    spread = np.maximum(variance, 0) + (both - middle) ** 2
    step = np.maximum(np.ceil(np.sqrt(spread) - _SMALL), 1)
    outer, tilt = spread / step**2, (both - middle) / step
    weights = weight * [(outer - tilt) / 2, 1 - outer, (outer + tilt) / 2]
    low, high = np.maximum(a + b - some.sum(axis=(1, 2)), 0), np.minimum(a, b)
    values = np.clip(middle + step * [[-1], [0], [1]], low, high)
    part, at = np.nonzero(np.abs(weights) > _NOTHING * weight)
    return where[at], weights[part, at], a[at], b[at], values[part, at]


@lru_cache(maxsize=4096)
def _nodes(tied: int, size: int) -> tuple[Floats, Floats]:
    """Return nodes and weights of a Gauss rule for the mean of a function over 0..``tied``."""
    nodes, weights, _ = panels([0], [tied + 1], size)
    return nodes, weights / (tied + 1)


def _inverted(joint: Floats, differences: Floats, step: Floats) -> float:
    """Return P(sum of the differences of all instances > 0) by Fourier inversion.

    Each instance has a sampled value of each system. For each instance and each pair of these two
    values, ``joint`` holds the probability, and ``differences`` the weighted difference.
    """
    size = len(joint)
    values, place = np.unique(np.round(differences, 15), return_inverse=True)
    p = np.zeros((size, len(values)))
    np.add.at(p, (np.arange(size)[:, None], place.reshape(size, -1)), joint.reshape(size, -1))
    variance = float(np.sum(p @ values**2 - (p @ values) ** 2))
    if variance < _NOTHING * float(values @ values):
        return float(np.sum(p @ values) > TIED)

    def transform(frequencies: Floats) -> Complex:
        waves, parts = waves_of(values, frequencies), np.array_split(p, size // 500 + 1)
        return np.asarray(np.prod([np.prod(part @ waves, axis=0) for part in parts], axis=0))

    difference, deviation = float(np.sum(p @ values) - step), float(np.sqrt(variance))
    return chance_above(transform, size, difference, deviation, float(step))
