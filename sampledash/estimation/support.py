"""Nodes for an estimated distribution of the true rank: each represents one or more ranks."""

from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np
from scipy.sparse import csc_array

from sampledash import quadrature
from sampledash.sampling import Sampling
from sampledash.schemes import Scheme
from sampledash.types import Floats, Ints, frozen

EVERY_RANK = 4_000  # up to this number of candidates n, the probability of every rank is stored
_FINE = 200  # a non-increasing distribution may step down after each of the first _FINE ranks
_STEPS = 300  # number of ranks beyond _FINE after which a non-increasing distribution may step down
_TINY = np.finfo(float).tiny


@dataclass(frozen=True, eq=False)
class Support:
    """Nodes that represent the true ranks 1..n: all ranks where n is small, else fewer nodes.

    Within a panel of neighbouring ranks the distribution is assumed to be smooth: at most 16 nodes
    represent the panel, and interpolation gives the probability of every rank.
    """

    n: int
    scheme: Scheme
    ends: Ints  # last rank of each panel (range of neighbouring ranks)
    starts: Ints  # index of the first node of each panel (range of ranks)
    above: Floats  # rank of each node, minus 1; a node may lie between two whole ranks
    ranks: Floats  # number of ranks that each node represents; the numbers sum to n

    def panel(self, i: int) -> tuple[int, int, slice]:
        """Return the number of ranks before panel i, its last rank, and the slice of its nodes.

        A panel is a range of neighbouring ranks.
        """
        first, end, start = int(self.ends[i - 1]) if i else 0, int(self.ends[i]), self.starts[i]
        return first, end, slice(start, start + min(end - first, quadrature.SIZE))

    def law(self, m: int) -> Floats:
        """Return the probabilities of the sampled ranks 1..m+1, given each node's true rank.

        The shape is (nodes, m + 1).
        """
        return _law(self, m)

    @cached_property
    def step(self) -> Ints:
        """For each node, the index in ``step_ends(n)`` of the first rank >= the node's rank.

        A non-increasing rank distribution may step down only after the ranks in ``step_ends(n)``.
        """
        return np.searchsorted(step_ends(self.n), self.above, side="right")

    def under_uniforms(self, values: Floats) -> Floats:
        """Return the mean of a function of the true rank over the ranks 1..j, for several j.

        ``values`` holds the function at each node, (nodes, ...). The result has a row for each rank
        j in ``step_ends(n)``.
        """
        ends, size = step_ends(self.n), len(self.above)
        share = csc_array((self.ranks, (self.step, np.arange(size))), (len(ends), size))
        return np.asarray((np.cumsum(share @ values, axis=0).T / ends).T)


@lru_cache(maxsize=2)
def _law(support: Support, m: int) -> Floats:
    sampling = Sampling(support.n, m, support.scheme)
    return frozen(np.concatenate([p for _, p in sampling.laws(support.above)]))


@lru_cache(maxsize=4)
def step_rows(support: Support, drawn: tuple[int, ...]) -> Floats:
    """Return the probability of each sampled rank, if the true rank is uniform on 1..j.

    There is a row for each j in ``step_ends(n)``. The columns are the m + 1 sampled ranks for the
    first m in ``drawn``, then those for the next m, and so on.
    """
    return frozen(np.hstack([support.under_uniforms(support.law(m)) for m in drawn]))


@lru_cache(maxsize=8)
def support_of(n: int, m: int, scheme: Scheme, *, steps: bool, cut: int | None) -> Support:
    """Return nodes of a distribution of the true rank, for samples of up to m negatives.

    A panel (range of ranks) ends at the cutoff ``cut``, where the metric jumps. If ``steps`` is
    true, a panel also ends at each rank after which the distribution may fall (:func:`step_ends`).
    """
    stops = [*(step_ends(n).tolist() if steps else []), *([] if cut is None else [cut])]
    if n > EVERY_RANK:
        ends = np.array(quadrature.panel_ends(Sampling(n, m, scheme), quadrature.DENSITY, stops))
    else:
        ends = np.arange(1, n + 1)
    above, ranks, starts = quadrature.panels(np.concatenate([[0], ends[:-1]]), ends)
    return Support(n, scheme, frozen(ends), starts, frozen(above), frozen(ranks))


@lru_cache(maxsize=8)
def step_ends(n: int) -> Ints:
    """Return the ranks after which the probability of a non-increasing distribution may fall.

    The probability is constant between two of these ranks. If n is at most 500, all ranks are
    returned. Otherwise, the first 200 ranks are returned, and at most 300 others at growing
    distances.
    """
    every = n <= _FINE + _STEPS
    ends = np.arange(1, (n if every else _FINE) + 1)
    if not every:
        ends = np.union1d(ends, np.geomspace(_FINE, n, _STEPS + 1).round().astype(np.int64))
    return frozen(ends)


def interpolated(at: Floats, density: Floats, above: Floats) -> Floats:
    """Return the probabilities of the ranks ``above`` + 1, interpolated between nodes.

    The nodes are at the ranks ``at`` + 1, whose probabilities are ``density``, (..., nodes).
    """
    # A polynomial interpolates the logarithm of the probabilities (barycentric Lagrange formula).
    apart, gap = at[:, None] - at, above[:, None] - at
    np.fill_diagonal(apart, 1.0)
    gap[gap == 0] = 1e-300
    parts = 1 / np.prod(apart, axis=1) / gap
    parts /= parts.sum(axis=1, keepdims=True)
    smooth = np.exp(np.log(np.maximum(density, _TINY)) @ parts.T)
    lost = np.any(density <= _TINY, axis=-1, keepdims=True)
    if not np.any(lost):
        return np.asarray(smooth)
    # If a probability of a row is below the smallest float, its logarithm is useless: interpolate
    # the probabilities of this whole row linearly.
    hat = np.stack([np.interp(above, at, row) for row in np.eye(len(at))])
    return np.where(lost, density @ hat, smooth)
