r"""The chance of the true order with shared negatives, if it is known which items are above both.

For a relevant item under each of two systems, every irrelevant item is above, tied with or below
the one and the other: nine counts, the cells. Given the order of the tied items, o items are above
under both, and a and b under the first and the second system. If s of the m drawn items are above
under the first, x of them are from the o, and z of the other m - s drawn items are from the b - o:
two independent hypergeometric numbers (binomial with replacement). This is the distribution of the
pair (s, t = x + z), and with it the covariance of the two sampled values of an instance.

Tied items have independent random orders under the two systems. Of a block, u of the tied items
come above, with equal chances for u = 0, 1, ...: a Gauss rule sums over them. Given these numbers,
o is taken at its mean plus and minus its standard deviation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice, product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampledash.comparison.chance import common_step, inverted, normal_chances
from sampledash.comparison.order import TIED
from sampledash.comparison.run_distribution import FEW, Hits, Law, Run, law_of_parts, waves_of
from sampledash.comparison.scatter import CHUNK, distinct_laws, drawn_inside
from sampledash.comparison.user_resampling import Sampled
from sampledash.quadrature import panels
from sampledash.rank_counts import RankCounts, unique_rows
from sampledash.rank_sets import RankSet, Ties
from sampledash.schemes import SCHEMES
from sampledash.types import Complex, Floats, Ints

_NOTHING = 1e-14  # smaller probabilities are left out of a distribution of two sampled counts
_STRAIGHT = 1e-14  # values are linear in the sampled count if their steps differ by at most this
_ROUGH = 0.05  # the normal distribution is used if no instance moves a mean by more deviations
_ROUGH = 0.05  # the normal distribution is used if no instance moves a mean by more deviations
_NODES = 8  # smallest number of nodes for the number of tied items above
_MANY = 1_000  # the sum of 30 or more differences with more values than this is taken as normal


@dataclass(frozen=True, eq=False)
class Overlap:
    """How the irrelevant items of each instance lie under two systems.

    Attributes
    ----------
    systems
        Names of the two systems.
    instances
        Label of each instance, shape (instances,).
    relevant
        Number of relevant items of each instance, shape (instances,).
    cells
        Numbers of irrelevant items that are above, tied with, below (second axis) a relevant item
        under the first system, and (third axis) a relevant item under the second: for each instance
        all pairs of its i-th best item under the first and its j-th best item under the second
        system, i before j. Shape (sum of ``relevant`` squared, 3, 3).
    """

    systems: tuple[str, str]
    instances: NDArray[Any]
    relevant: Ints
    cells: Ints

    def _swapped(self) -> Overlap:
        """Return the overlap with the two systems exchanged."""
        ends, cells = np.cumsum(self.relevant**2), self.cells.transpose(0, 2, 1)
        turned = [np.arange(r * r).reshape(r, r).T.ravel() for r in self.relevant.tolist()]
        places = np.concatenate(turned) + np.repeat(ends - self.relevant**2, self.relevant**2)
        return Overlap(self.systems[::-1], self.instances, self.relevant, cells[places])

    def of(self, first: RankSet, ties: Ties, items: RankCounts, there: RankCounts) -> Ints:
        """Return the cells in the order of the first system's instances; check them by the ranks.

        ``items`` and ``there`` are the rows of both systems, in the same order of instances.
        """
        if self.systems[0] != first.system:
            return self._swapped().of(first, ties, items, there)
        starts, labels = np.flatnonzero(items.position == 1), pd.Index(pd.unique(first.instances))
        at = pd.Index(self.instances).get_indexer(labels)
        size = items.relevant[starts]
        if np.all(at >= 0) and np.array_equal(self.relevant[at], size):
            begin = (np.cumsum(self.relevant**2) - self.relevant**2)[at]
            ends = np.cumsum(size**2)
            within = np.arange(ends[-1]) - np.repeat(ends - size**2, size**2)
            cells = _read(self.cells[np.repeat(begin, size**2) + within], ties)
            each = np.repeat(size, size**2)
            start = np.repeat(starts, size**2)
            left, right = items[start + within // each], there[start + within % each]
            sides = cells.sum(axis=2), cells.sum(axis=1)
            if all(
                np.array_equal(side[:, :2], np.column_stack([x.above, x.tied]))
                and np.array_equal(side.sum(axis=1), x.negatives)
                for side, x in zip(sides, (left, right), strict=True)
            ):
                return cells
        raise ValueError(
            f"the overlap of systems {self.systems[0]!r} and {self.systems[1]!r} does not fit "
            "their ranks: make it by sampledash.overlap from the scores that were ranked"
        )


def _read(cells: Ints, ties: Ties) -> Ints:
    """Return the cells with tied items below (optimistic), above (pessimistic), or as they are."""
    if ties != "expected":
        to, cells = (0 if ties == "pessimistic" else 2), cells.copy()
        cells[:, to] += cells[:, 1]
        cells[:, 1] = 0
        cells[:, :, to] += cells[:, :, 1]
        cells[:, :, 1] = 0
    return cells


def chance_if_known(
    first: Sampled, second: Sampled, items: RankCounts, there: RankCounts, overlap: Overlap
) -> float | None:
    """Return the chance that a run with shared negatives has a larger mean of ``first``, or None.

    ``items`` and ``there`` are the rows of both systems, in the same order of instances. None below
    30 instances, unless the distribution of the difference can be computed.
    """
    run, other, back = first.run, second.run, np.argsort(first.order)
    metric, m, protocol = run.metric, run.m, run.protocol
    cells = overlap.of(run.ranks, protocol.ties, items, there)
    size = items.relevant[items.position == 1]
    begin, last = np.cumsum(size**2) - size**2, 1 if metric.first_only else int(size.max())
    open_ended = items.negatives[items.position == 1] >= (m if protocol.design.distinct else 0)
    vectors = [
        [protocol.vector(metric, x.ranks.counted(protocol.ties), m, j + 1) for j in range(last)]
        for x in (run, other)
    ]
    covariances = np.zeros((len(size), last, last))
    for i, j in product(range(last), repeat=2):
        # If all negatives of an instance are drawn, its values do not depend on the draw.
        at = np.flatnonzero((size > max(i, j)) & open_ended)
        some, f, g = cells[(begin + i * size + j)[at]], vectors[0][i], vectors[1][j]
        covariances[at, i, j] = _covariances(protocol.scheme, m, some, f, g)
    law = _law_of_hits(first, second, covariances, vectors)
    if law is not None:
        return float(law[1][law[0] > TIED].sum())
    shares = first.weights * first.counts
    weight = (first.weights * shares)[back] / shares.sum() ** 2
    apart = (first.variance + second.variance)[back]
    covariance = metric.scales(size) ** 2 * covariances.sum(axis=(1, 2))
    variance = float((apart - 2 * covariance) @ weight)
    deviation = 0.0 if variance <= 1e-13 * float(apart @ weight) else float(np.sqrt(variance))
    difference, step = first.average - second.average, common_step(run.half_unit, other.half_unit)
    alike = run.one_each and other.one_each and np.all(first.counts == 1)
    if alike and deviation and np.all(open_ended) and np.ptp(first.weights) == 0:
        move = max(run.largest_term(by_draw=False), other.largest_term(by_draw=False))
        if first.size < FEW or not move <= _ROUGH * deviation:
            some = cells[begin], vectors[0][0], vectors[1][0]
            chance = _inverted(protocol.scheme, m, *some, metric.scale(1) / first.size, deviation)
            if chance is not None:
                return chance
    return None if first.size < FEW else float(normal_chances(difference, deviation, step))


def _law_of_hits(
    first: Sampled, second: Sampled, covariances: Floats, vectors: list[list[Floats]]
) -> Law | None:
    """Return the distribution of the difference of two means of hits, or None.

    An instance has at least i hits if its i-th best relevant item hits, so that the covariances of
    the items give the joint distribution of the numbers of hits under both systems.
    """
    hits, others = _hits_of_each(first.run), _hits_of_each(second.run)
    if hits is None or others is None or not first.run.few:
        return None
    gaps = [np.array([v[0] - v[-1] for v in some]) for some in vectors]
    gap = np.multiply.outer(*(np.where(x == 0, 1.0, x) for x in gaps))
    place, parts = second.order[np.argsort(first.order)], []
    for x, y in zip(hits, others, strict=True):
        steps = np.r_[np.diff(x.values), np.diff(y.values)]
        if np.ptp(steps) > 1e-12 * steps.max():
            return None
        laws = x.law, y.law[np.searchsorted(y.instances, place[x.instances])]
        # P(at least 0, 1, ... hits) under each system, and of both together.
        least = [np.cumsum(law[:, ::-1], axis=1)[:, ::-1] for law in laws]
        both, most = np.einsum("ui,uj->uij", *least), x.law.shape[1] - 1
        both[:, 1:, 1:] += covariances[x.instances, :most, :most] / gap[:most, :most]
        joint = np.diff(np.diff(both, axis=1, append=0.0), axis=2, append=0.0)
        more = np.arange(-most, most + 1)
        law = np.array([np.trace(joint, -d, 1, 2) for d in more.tolist()]).T
        values = x.values[0] - y.values[0] + steps[0] * more
        parts.append(Hits(np.maximum(law, 0.0), x.times, values, x.instances))
    return law_of_parts(parts)


def _hits_of_each(run: Run) -> list[Hits] | None:
    """Return ``run.hits`` with a row for each instance, also for equal ones."""
    if run.hits is None or run.ranks.max_relevant > 1:
        return run.hits
    rows = run.ranks.rows(run.protocol.ties)
    every, times = np.arange(len(rows)), rows.count.astype(np.int64)
    law = run.hits[0].law[unique_rows(rows.columns)[1]]
    return [run.hits[0]._replace(law=law, times=times, instances=every)]


def _covariances(scheme: str, m: int, cells: Ints, f: Floats, g: Floats) -> Floats:
    """Return the covariance of f(s) and g(t) for each row of cells, given f(0), ..., f(m)."""
    if max(float(np.ptp(np.diff(v))) for v in (f, g)) <= _STRAIGHT:
        half = np.array([1.0, 0.5, 0.0])  # expected share of an item above, by its row of cells
        a, b, total = cells.sum(axis=2) @ half, cells.sum(axis=1) @ half, cells.sum(axis=(1, 2))
        common = m * (cells @ half @ half / total - a * b / total**2)
        if SCHEMES[scheme].distinct:
            common *= (total - m) / np.maximum(total - 1, 1)
        return np.asarray((f[1] - f[0]) * (g[1] - g[0]) * common)
    f, g = f - f[-1], g - g[-1]
    size, sums = len(cells), np.zeros((3, len(cells)))
    for owner, weight, p, q, s, t, table in _tables(scheme, m, cells, _width(f), _width(g)):
        there = np.einsum("str,s,t->r", table, f[s : s + len(table)], g[t : t + table.shape[1]])
        for total, part in zip(
            sums, (there, p @ f[: p.shape[1]], q @ g[: q.shape[1]]), strict=True
        ):
            total += np.bincount(owner, weight * part, size)
    return np.asarray(sums[0] - sums[1] * sums[2])


def _width(vector: Floats) -> int:
    """Return the number of sampled counts before the values are 0 for good."""
    return int(np.max(np.flatnonzero(vector), initial=-1)) + 1


def _tables(
    scheme: str, m: int, cells: Ints, wide: int, high: int
) -> Iterator[tuple[Ints, Floats, Floats, Floats, int, int, Floats]]:
    """Yield blocks of P(s and t of m drawn items are above), for s < ``wide`` and t < ``high``.

    A block: the row of cells and the weight of each order of the ties; P(s) and P(t), (orders,
    counts); the s and the t at which the table starts, and the table, (s, t, orders).
    """
    owner, weight, a, b, both = _orders(cells, m)
    total = cells.sum(axis=(1, 2))[owner].astype(np.float64)
    order = np.lexsort((both, b, a))
    step = max(1, CHUNK // (wide * high + m + 1))
    for start in range(0, len(order), step):
        at = order[start : start + step]
        inner, outer, o, size = a[at], b[at], both[at], total[at]
        p = distinct_laws(scheme, m, inner, size - inner)[:, :wide]
        q = distinct_laws(scheme, m, outer, size - outer)[:, :high]
        s, table, t = _span(p.T), np.zeros((0, 0, len(at))), slice(0, 0)
        if s.stop and high:
            drawn = drawn_inside(scheme, o, inner, s.stop, high)
            x = _padded([law.copy() for law in islice(drawn, s.start, None)])
            drawn = drawn_inside(scheme, outer - o, size - inner, m - s.start + 1, high)
            z = _padded([law.copy() for law in islice(drawn, m - s.stop + 1, None)][::-1])
            left, right = _span(x.swapaxes(0, 1)), _span(z.swapaxes(0, 1))
            t = slice(left.start + right.start, min(left.stop + right.stop - 1, high))
            table = np.zeros((s.stop - s.start, t.stop - t.start, len(at)))
            for i in range(left.start, left.stop):
                begin = i - left.start
                part = z[:, right][:, : max(table.shape[1] - begin, 0)]
                table[:, begin : begin + part.shape[1]] += x[:, i, None] * part
            table *= p.T[s, None]
        yield owner[at], weight[at], p, q, s.start, t.start, table


def _padded(laws: list[Floats]) -> Floats:
    """Return distributions (counts, orders) of different length as one array, padded with 0."""
    result = np.zeros((len(laws), max(map(len, laws)), laws[0].shape[1]))
    for row, law in zip(result, laws, strict=True):
        row[: len(law)] = law
    return result


def _span(p: Floats) -> slice:
    """Return the part of the first axis where some probability is not negligible."""
    weighs = np.flatnonzero(np.any(np.abs(p) > _NOTHING, axis=tuple(range(1, p.ndim))))
    return slice(int(weighs[0]), int(weighs[-1]) + 1) if len(weighs) else slice(0, 0)


def _orders(cells: Ints, m: int) -> tuple[Ints, Floats, Floats, Floats, Floats]:
    """Return orders of tied items: row, weight, items above first, second, and both systems."""
    total, rows = cells.sum(axis=(1, 2)), list[Floats]()
    tied, others = cells[:, 1].sum(axis=1), cells[:, :, 1].sum(axis=1)
    for row, (t, u, size) in enumerate(np.column_stack([tied, others, total]).tolist()):
        (x, p), (y, q) = (
            _nodes(number, _NODES + int(3 * (m * number / size) ** 0.5)) for number in (t, u)
        )
        weight = np.multiply.outer(p, q).ravel()
        above = np.repeat(x, len(y)), np.tile(y, len(x))
        rows.append(np.array([np.full(len(weight), row), weight, *above]))
    where, weight, x, y = np.concatenate(rows, axis=1)
    owner = where.astype(np.int64)
    c, t, u = cells[owner].astype(np.float64), tied[owner], others[owner]
    a, b = c[:, 0].sum(axis=1) + x, c[:, :, 0].sum(axis=1) + y
    x, y = x / np.maximum(t, 1), y / np.maximum(u, 1)

    def spread(share: Floats, block: Ints, total: Floats, squares: Floats) -> Floats:
        """Return the variance of a sum over a random share of a block, given its sums."""
        more = share * (1 - share) * block / np.maximum(block - 1, 1)
        return np.asarray(more * (squares - total**2 / np.maximum(block, 1)))

    # Items tied under the first system that are above under the second: mean and variance.
    mean, varies = c[:, 1, 0] + y * c[:, 1, 1], spread(y, u, c[:, 1, 1], c[:, 1, 1])
    both = c[:, 0, 0] + y * c[:, 0, 1] + x * mean
    variance = spread(y, u, c[:, 0, 1] + x * c[:, 1, 1], c[:, 0, 1] + x**2 * c[:, 1, 1])
    variance += spread(x, t, np.sqrt(mean**2 + varies), mean)
    off = np.sqrt(np.maximum(variance, 0.0))
    some = np.flatnonzero(off)
    every = np.r_[np.arange(len(owner)), some]
    weight = weight[every] / np.r_[1 + (off > 0), np.full(len(some), 2)]
    return owner[every], weight, a[every], b[every], np.r_[both + off, (both - off)[some]]


@lru_cache(maxsize=4096)
def _nodes(tied: int, size: int) -> tuple[Floats, Floats]:
    """Return nodes and weights for a mean over 0..tied items above."""
    nodes, weights, _ = panels([0], [tied + 1], size)
    return nodes, weights / (tied + 1)


def _inverted(
    scheme: str, m: int, cells: Ints, f: Floats, g: Floats, weight: float, deviation: float
) -> float | None:
    """Return P(sum of ``weight`` (f(s) - g(t)) over all rows > 0); None for too many values."""
    wide, high, size = _width(f - f[-1]), _width(g - g[-1]), len(cells)
    if size >= FEW and wide * high > _MANY:
        return None
    joint = np.zeros((wide + 1, high + 1, size))
    for owner, share, p, q, s, t, table in _tables(scheme, m, cells, wide, high):
        block = joint[s : s + len(table), t : t + table.shape[1]]
        np.add.at(block.transpose(2, 0, 1), owner, (share * table).transpose(2, 0, 1))
        np.add.at(joint[:wide, high].T, owner, share[:, None] * p)
        np.add.at(joint[wide, :high].T, owner, share[:, None] * q)
    # The last row and column are for the counts at which f and g are constant.
    joint[:wide, high] -= joint[:wide, :high].sum(axis=1)
    joint[wide, :high] -= joint[:wide, :high].sum(axis=0)
    joint[wide, high] = 1 - joint.sum(axis=(0, 1))
    differences = np.subtract.outer(f[: wide + 1], g[: high + 1])
    values, place = np.unique(np.round(weight * differences, 15), return_inverse=True)
    p = np.zeros((len(values), size))
    np.add.at(p, place.ravel(), joint.reshape(-1, size))

    def transform(frequencies: Floats) -> Complex:
        waves, blocks = waves_of(values, frequencies), np.array_split(p.T, size // 500 + 1)
        whole = np.prod([np.prod(block @ waves, axis=0) for block in blocks], axis=0)
        return np.vstack([whole, np.ones(len(whole))])

    one = np.array([0]), np.array([1]), deviation, np.zeros(1)
    return float(np.clip(inverted(transform, size, *one)[0], 0.0, 1.0))
