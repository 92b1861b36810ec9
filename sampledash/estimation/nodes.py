"""True ranks as nodes with laws: every rank where n is small, panels of ranks where it is not.

Where the unknown rank distribution is smooth between neighbouring ranks, 16 nodes stand for a whole
panel of ranks, and what is found at the nodes tells every rank by interpolation.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from sampledash import laws, quadrature
from sampledash.metrics import Metric
from sampledash.sampling import Sampling, Scheme
from sampledash.types import Floats, Ints

EVERY_RANK = 4_000  # candidates up to which every rank is a node
_FINE = 200  # steps of a non-increasing distribution: at every rank up to here
_STEPS = 300  # and as many beyond
_TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class Support:
    """The true ranks 1..n of one population, cut into panels."""

    n: int
    scheme: Scheme
    ends: Ints  # items above before which each panel ends, the last n
    above: Floats  # irrelevant items above, at each node
    ranks: Floats  # that the node stands for, n in all

    @cached_property
    def first(self) -> Ints:
        """Items above at the first rank of each panel."""
        return np.concatenate([[0], self.ends[:-1]])

    @cached_property
    def _starts(self) -> Ints:
        sizes = np.minimum(self.ends - self.first, quadrature.DENSITY.size)
        return np.concatenate([[0], np.cumsum(sizes)])

    def nodes_of(self, panel: int) -> slice:
        """Where the nodes of a panel are."""
        return slice(*self._starts[panel : panel + 2].tolist())

    def law(self, m: int) -> Floats:
        """P(sampled rank = column + 1) at each node: shape (nodes, m + 1), read-only."""
        return _law(self, m)

    def law_chunks(self, m: int) -> Iterator[tuple[slice, Floats]]:
        """The same in blocks of nodes, so that not all of it is held."""
        return laws.pmf_chunks(self.scheme, m, self.above, self.n - 1 - self.above)


@lru_cache(maxsize=2)
def _law(support: Support, m: int) -> Floats:
    rows = np.concatenate([p for _, p in support.law_chunks(m)])
    rows.setflags(write=False)
    return rows


@lru_cache(maxsize=8)
def support(
    n: int, m: int, scheme: Scheme, *, steps: bool = False, cut: int | None = None
) -> Support:
    """Nodes for laws of up to m negatives; panels end at each of ``steps`` and after ``cut``."""
    stops = [*(step_ends(n).tolist() if steps else []), *([] if cut is None else [cut])]
    if n <= EVERY_RANK:
        ends = np.arange(1, n + 1)
    else:
        ends = np.array(quadrature.panel_ends(Sampling(n, m, scheme), quadrature.DENSITY, stops))
    above, ranks = quadrature.within(ends)
    for array in (ends, above, ranks):
        array.setflags(write=False)
    return Support(n, scheme, ends, above, ranks)


def step_ends(n: int) -> Ints:
    """Where a non-increasing distribution may step down: after these many ranks, about 500."""
    if n <= _FINE + _STEPS:
        return np.arange(1, n + 1)
    beyond = np.geomspace(_FINE, n, _STEPS + 1).round().astype(np.int64)
    return np.union1d(np.arange(1, _FINE + 1), beyond)


def interpolated(support: Support, panel: int, density: Floats, above: Floats) -> Floats:
    """Probability per rank at (ranks,) ``above``, of the ``density`` (..., nodes of the panel)."""
    # What is interpolated is its logarithm.
    at = support.above[support.nodes_of(panel)]
    middle, half = (at[0] + at[-1]) / 2, max((at[-1] - at[0]) / 2, 0.5)
    points = (at - middle) / half
    apart = points[:, None] - points
    np.fill_diagonal(apart, 0.5)
    gap = (above[:, None] - middle) / half - points
    gap[gap == 0] = 1e-300
    parts = 1 / np.prod(2 * apart, axis=1) / gap
    parts /= parts.sum(axis=1, keepdims=True)
    smooth = np.exp(np.log(np.maximum(density, _TINY)) @ parts.T)
    lost = np.any(density <= _TINY, axis=-1, keepdims=True)
    if not np.any(lost):
        return np.asarray(smooth)
    # Below the smallest float the logarithm is lost; nothing of weight is there.
    hat = np.stack([np.interp(above, at, row) for row in np.eye(len(at))])
    return np.where(lost, density @ hat, smooth)


def exact_at(metric: Metric, above: Floats, n: int) -> Floats:
    """Exact metric with so many items above, which may be a fraction."""
    return metric.of_above(above, n - 1) * metric.scale(1)


def worst_and_best(metric: Metric, n: int) -> tuple[float, float]:
    """Exact metric of the last rank and of the first."""
    worst, best = metric([n, 1], n).tolist()
    return worst, best


def clipped(low: float, high: float, worst: float, best: float) -> tuple[float, float]:
    """A range, where rounding has put its ends beyond what is possible or each other."""
    low = min(max(low, worst), best)
    return low, min(max(high, low), best)
