"""Sums over all true ranks at a cost that does not depend on n.

The corrections need sums over r = 1..n of products of two laws, or of a law and a metric. On a
stretch of ranks where these are smooth, a Gauss rule for *sums over integers* (the discrete
Chebyshev polynomials') with k nodes is exact for polynomials up to degree 2k - 1. A Gauss-Legendre
rule, which is for integrals, would be off in the third digit. Long panels with many nodes need
fewer nodes in all than short ones: about eight for each 1/sqrt(m) of arcsin(sqrt(p)), twice what
the law of that width can tell apart.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh_tridiagonal

from sampledash import laws
from sampledash.metrics import Metric
from sampledash.sampling import Sampling
from sampledash.types import Floats

_NODES = 16
# Nodes of a panel of a law, its length in widths of the law, and its end over its start: a law that
# is no polynomial of the rank takes short panels.
_POLYNOMIAL, _RATIONAL = (36, 6.0, 12), (_NODES, 1.0, 2)
_HEAD = 64  # ranks summed one by one at the top, where metrics are steepest
_ROOM = 1 << 22  # entries of a matrix that is kept for the next metric
_DIRECT = 1_000  # up to here all ranks are summed directly


@lru_cache(maxsize=4096)
def _rule(length: int, size: int) -> tuple[Floats, Floats]:
    """Nodes about the middle and weights of the Gauss rule for a sum over ``length`` integers."""
    k = np.arange(1, size)
    off = k * np.sqrt((float(length) ** 2 - k**2) / (4 * (4 * k**2 - 1)))
    nodes, vectors = eigh_tridiagonal(np.zeros(size), off)
    return nodes, length * vectors[0] ** 2


def integer_panel(first: int, last: int, size: int = _NODES) -> tuple[Floats, Floats]:
    """At most ``size`` nodes and weights for a sum over first..last of a smooth function."""
    length = last - first + 1
    if length <= size:
        return np.arange(first, last + 1, dtype=np.float64), np.ones(length)
    nodes, weights = _rule(length, size)
    return nodes + (first + last) / 2, weights


def above_nodes(sampling: Sampling, cut: int | None = None) -> tuple[Floats, Floats]:
    """Nodes and weights for sums over 0..n-1 irrelevant items above.

    Parameters
    ----------
    sampling
        Its law must be resolved: panels are so many 1/sqrt(m) wide in arcsin(sqrt(p)), narrower
        without replacement, where large samples scatter less.
    cut
        The summed function may jump between ``cut - 1`` and ``cut`` items above.
    """
    n, m = sampling.n, sampling.m
    if n <= _DIRECT:
        return np.arange(n, dtype=np.float64), np.ones(n)
    size, width, steep = _RATIONAL if sampling.scheme == "popularity" else _POLYNOMIAL
    head, tail, width = _HEAD, n, width / np.sqrt(m)
    if sampling.scheme == "without-replacement":
        # Where all items above may be drawn, or all below, the law is not smooth in their number.
        whole = _surely_left_out(m / (n - 1), n)
        head = max(_HEAD, whole)
        tail = max(head, n - whole)
        width *= np.sqrt(1 - m / (n - 1))
    ends = sorted({min(head, n), min(tail, n), n} | ({cut} if cut and 0 < cut < n else set()))
    panels = []
    first = 0
    for end in ends:  # [first, end)
        direct = end <= head or first >= tail
        while first < end:
            last = end - 1 if direct else min(end - 1, _panel_end(sampling, first, width, steep))
            if direct:
                panels.append((np.arange(first, end, dtype=np.float64), np.ones(end - first)))
            else:
                panels.append(integer_panel(first, last, size))
            first = last + 1
    above, weights = zip(*panels, strict=True)
    return np.concatenate(above), np.concatenate(weights)


def _surely_left_out(share: float, n: int) -> int:
    """How many items it takes until a drawn share leaves out one of them, but for 1e-18."""
    return n if share >= 1 else min(n, int(np.ceil(np.log(1e-18) / np.log(share))))


def _panel_end(sampling: Sampling, first: int, width: float, steep: int) -> int:
    """Last count above of the panel from ``first`` on: its width is in arcsin(sqrt(p))."""
    total, odds = sampling.n - 1, sampling.odds
    # arcsin(sqrt(p)) from both weights: p itself may round to more than 1.
    angle = np.arctan2(np.sqrt(odds * first), np.sqrt(total - first)) + width
    if angle >= np.pi / 2:
        return min(steep * first, total)
    q = np.sin(angle) ** 2
    return int(min(steep * first, max(first, total * q / (odds * (1 - q) + q))))


@dataclass(frozen=True)
class Grid:
    """Where the sums over true ranks are taken: all of it that does not depend on the metric.

    Attributes
    ----------
    above, weights
        Irrelevant items above and the prior probability a node stands for; weights sum to 1.
    """

    sampling: Sampling
    above: Floats
    weights: Floats

    def laws(self) -> Iterator[tuple[slice, Floats]]:
        """Blocks of rows of P(sampled rank | true rank) at the nodes."""
        if self._kept is not None:
            return iter([(slice(None), self._kept)])
        return self._evaluated()

    def _evaluated(self) -> Iterator[tuple[slice, Floats]]:
        s = self.sampling
        above, below = laws.weights(s.scheme, self.above, s.n - 1 - self.above, s.odds)
        return laws.pmf_chunks(s.scheme, s.m, above, below)

    @cached_property
    def _kept(self) -> Floats | None:
        """All laws, where there is room: metrics fitted one after the other share them."""
        if len(self.above) * (self.sampling.m + 1) > _ROOM:
            return None
        return np.concatenate([p for _, p in self._evaluated()])

    def gram(self) -> tuple[Floats, Floats]:
        """AᵀA and c of eq. 23-25: shapes (m+1, m+1) and (m+1,); copies."""
        if (self.sampling.m + 1) ** 2 > _ROOM:
            return self._summed()
        gram, marginal = self._kept_gram
        return gram.copy(), marginal.copy()

    @cached_property
    def _kept_gram(self) -> tuple[Floats, Floats]:
        return self._summed()

    def scaled(self) -> tuple[Floats, Floats, Floats]:
        """S and SSᵀ, S being A with its entries over the root of their column's sum, and c.

        Columns without weight are left at 0. Shapes (nodes, m+1), (nodes, nodes) and (m+1,).
        """
        if len(self.above) * (self.sampling.m + 1) > _ROOM:
            return self._over_marginal()
        return self._kept_scaled

    @cached_property
    def _kept_scaled(self) -> tuple[Floats, Floats, Floats]:
        return self._over_marginal()

    def _over_marginal(self) -> tuple[Floats, Floats, Floats]:
        root = np.sqrt(self.weights)
        rows = np.vstack([p for _, p in self.laws()]) * root[:, None]
        marginal = root @ rows
        seen = marginal >= np.finfo(float).tiny
        rows *= np.where(seen, 1 / np.sqrt(np.where(seen, marginal, 1.0)), 0.0)
        return rows, rows @ rows.T, marginal

    def _summed(self) -> tuple[Floats, Floats]:
        size = self.sampling.m + 1
        gram, marginal = np.zeros((size, size)), np.zeros(size)
        for rows, p in self.laws():
            root = p * np.sqrt(self.weights[rows])[:, None]
            gram += root.T @ root
            marginal += self.weights[rows] @ p
        return gram, marginal


@dataclass(frozen=True)
class Nodes:
    """A grid with ``target``, the exact metric at its nodes (before ``scale``)."""

    grid: Grid
    target: Floats
    metric: Metric
    position: int

    def extended_target(self) -> NDArray[np.longdouble]:
        """The same in extended precision."""
        above = self.above.astype(np.longdouble)
        found = self.metric.of_above(above, self.sampling.n - 1, self.position)
        return found.astype(np.longdouble, copy=False)

    @property
    def sampling(self) -> Sampling:
        """The sampling whose laws are summed."""
        return self.grid.sampling

    @property
    def above(self) -> Floats:
        """Irrelevant items above at each node."""
        return self.grid.above

    @property
    def weights(self) -> Floats:
        """Prior probability of each node."""
        return self.grid.weights

    def laws(self) -> Iterator[tuple[slice, Floats]]:
        """:meth:`Grid.laws`."""
        return self.grid.laws()


def nodes(
    metric: Metric, sampling: Sampling, position: int = 1, prior: Floats | None = None
) -> Nodes:
    """Choose the nodes: few for the uniform prior, every rank with weight for another."""
    if prior is None:
        cut = metric.cut(sampling.n - 1)
        cut = None if cut is None else cut - position + 1
        if cut is not None and cut <= _HEAD:
            cut = None  # the head is summed rank by rank anyway
        grid = _uniform(sampling, cut)
    else:
        above = np.flatnonzero(prior).astype(np.float64)
        grid = Grid(sampling, above, prior[prior > 0])
    target = metric.of_above(grid.above, sampling.n - 1, position)
    return Nodes(grid, target, metric, position)


@lru_cache(maxsize=4)
def _uniform(sampling: Sampling, cut: int | None) -> Grid:
    above, weights = above_nodes(sampling, cut)
    return Grid(sampling, above, weights / sampling.n)


def normal_equations(at: Nodes) -> tuple[Floats, Floats, Floats]:
    """AᵀA, c and Aᵀb of eq. 23-25: shapes (m+1, m+1), (m+1,), (m+1,)."""
    gram, marginal = at.grid.gram()
    moment = np.zeros(len(marginal))
    for rows, p in at.laws():
        moment += (at.weights[rows] * at.target[rows]) @ p
    return gram, marginal, moment


def triangular(at: Nodes, *, cumulative: bool = False) -> tuple[Floats, Floats]:
    """Rows with the AᵀA and Aᵀb of A and b (eq. 23), few: of the QR factorisation if that is less.

    ``cumulative`` replaces column i of A by the sum of its columns 0..i. Working with R keeps the
    digits that forming AᵀA would square away.
    """
    size = at.sampling.m + 1
    blocks: list[Floats] = []
    for rows, p in at.laws():
        columns = np.cumsum(p, axis=1) if cumulative else p
        root = np.sqrt(at.weights[rows])[:, None]
        blocks.append(np.column_stack([columns, at.target[rows]]) * root)
        if sum(map(len, blocks)) > 4 * (size + 1):
            blocks = [_upper(blocks)]
    r = np.vstack(blocks)
    if len(r) > 2 * size:
        r = _upper([r])
        r = r[:size]
    return r[:, :size], r[:, size]


def _upper(blocks: list[Floats]) -> Floats:
    return np.asarray(np.linalg.qr(np.vstack(blocks), mode="r"))
