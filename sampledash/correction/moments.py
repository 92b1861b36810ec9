"""Sums of products of two laws, or of a law and a metric, over all true ranks.

Their cost does not depend on n, see :mod:`sampledash.quadrature`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from sampledash import laws, quadrature
from sampledash.metrics import Metric
from sampledash.sampling import Sampling
from sampledash.types import Floats

_ROOM = 1 << 22  # entries of a matrix that is kept for the next metric


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
        if cut is not None and cut <= quadrature.HEAD:
            cut = None  # the head is summed rank by rank anyway
        grid = _uniform(sampling, cut)
    else:
        above = np.flatnonzero(prior).astype(np.float64)
        grid = Grid(sampling, above, prior[prior > 0])
    target = metric.of_above(grid.above, sampling.n - 1, position)
    return Nodes(grid, target, metric, position)


@lru_cache(maxsize=4)
def _uniform(sampling: Sampling, cut: int | None) -> Grid:
    above, weights = quadrature.law_nodes(sampling, cut)
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
