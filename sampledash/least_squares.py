"""Corrected values by least squares (eq. 22, 25 and section 5.2 of Krichene & Rendle, KDD 2020).

The values minimise a sum over all true ranks. The sum is computed over few true ranks, the nodes of
:mod:`sampledash.quadrature`, at a cost that does not depend on n. The matrix A has a row per node,
which holds P(sampled rank | true rank). In this module, γ is the weight of the variance in eq. 25,
and b holds the exact metric at each node. All equation numbers are those of this paper.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from sampledash import quadrature
from sampledash.expectation import NO_WEIGHT
from sampledash.metrics import Metric
from sampledash.sampling import Sampling, item_weights, pmf_longdouble
from sampledash.types import Flags, Floats, Ints

#: Smallest weight γ of the variance in the bias-variance correction at which rounding errors of the
#: corrected values are below 1e-5 of the largest corrected value. Callers replace a smaller γ by 0.
SMALLEST_GAMMA = 1e-16

_ROOM = 1 << 22  # largest number of entries of a matrix of P(sampled rank | true rank) in the cache
_TINY = np.finfo(float).tiny
#: Corrected values are computed by iterative refinement if the least likely sampled rank is at most
#: this number times as probable as the most likely sampled rank.
_RARE = 1e-6
#: For a weight γ of the variance below _SMALL, the matrix A of P(sampled rank | true rank) is
#: factorised, because AᵀA would lose too many digits. Sums over true ranks then use as many nodes
#: (representative ranks) as a sample _FINER times as large would need.
_SMALL = 1e-6
_FINER = 4
_REFINABLE = 1e-10  # below this γ, iterative refinement is not used, as it may not converge
_ROUNDS = 4  # number of rounds of iterative refinement
#: Iterative refinement uses extended precision for probabilities if (number of true ranks that are
#: summed over) * m² is at most this number.
_EXTENDED = 4_000_000
#: Singular values of the matrix of P(sampled rank | true rank) are not used if they are smaller
#: than this factor times the largest singular value.
SINGULAR_CUTOFF = 1e-10
#: With up to this many sampled ranks, non-increasing corrected values may decrease after each
#: sampled rank. With more sampled ranks, the fit first allows a decrease after few ranks, then
#: after further ranks while this improves the fit.
_ALL = 400
#: The fit of non-increasing corrected values lets them fall after a further sampled rank only if
#: each unit of this fall lowers the squared error by more than twice this number.
_FLAT = 1e-13


@dataclass(frozen=True, eq=False)
class Grid:
    """The nodes of a fit, and results that are the same for all metrics.

    Nodes are the true ranks over which the fit sums. A few nodes can stand for all true ranks.
    """

    sampling: Sampling
    above: Floats  # number of irrelevant items above the relevant item, at each node
    weights: Floats  # prior probability of the ranks that each node represents

    def laws(self) -> Iterator[tuple[slice, Floats]]:
        """Yield blocks of A, the matrix P(sampled rank | true rank), with a row for each node.

        The nodes are the true ranks over which the fit sums. A block is (slice of the nodes, rows
        of A for these nodes).
        """
        whole = self._kept
        return self.sampling.laws(self.above) if whole is None else iter([(slice(None), whole)])

    @cached_property
    def _kept(self) -> Floats | None:
        if len(self.above) * (self.sampling.m + 1) > _ROOM:
            return None
        return np.concatenate([p for _, p in self.sampling.laws(self.above)])

    @cached_property
    def marginal(self) -> Floats:
        """Probability of each sampled rank under the prior of the true rank: shape (m+1,)."""
        return self.mean_with(np.ones(len(self.weights)))

    def mean_with(self, target: Floats) -> Floats:
        """Return Aᵀb for values b = ``target`` at the nodes (true ranks), weighted by the prior.

        A holds P(sampled rank | true rank), with a row per node. The entry of a sampled rank is a
        sum over the nodes: prior probability * P(sampled rank | node) * value at the node. The
        shape is (m+1,).
        """
        share = self.weights * target
        return np.asarray(np.sum([share[rows] @ p for rows, p in self.laws()], axis=0))

    @property
    def seen(self) -> Flags:
        """Whether each sampled rank can occur under the prior of the true rank: shape (m+1,)."""
        return self.marginal >= _TINY

    @cached_property
    def gram(self) -> Floats:
        """The matrix AᵀA, weighted by the prior: shape (m+1, m+1).

        A holds P(sampled rank | true rank), with a row per node (true rank). Each row is first
        multiplied by the square root of the node's prior probability. In eq. 23-25 of Krichene &
        Rendle, A contains this square root.
        """
        total = np.zeros((self.sampling.m + 1, self.sampling.m + 1))
        for rows, p in self.laws():
            root = p * np.sqrt(self.weights[rows])[:, None]
            total += root.T @ root
        return total

    @cached_property
    def scaled(self) -> tuple[Floats, Floats, Floats]:
        """S (nodes, m+1), SSᵀ and c = P(sampled rank) under the prior.

        A is the matrix P(sampled rank | true rank), with a row per node (true rank). For S, each
        row of A is multiplied by the square root of the node's prior probability, and each column
        is divided by √c. A column of S is 0 if the sampled rank cannot occur.
        """
        root = np.sqrt(self.weights)
        rows = np.vstack([p for _, p in self.laws()]) * root[:, None]
        marginal = root @ rows
        seen = marginal >= _TINY
        rows *= np.where(seen, 1 / np.sqrt(np.where(seen, marginal, 1.0)), 0.0)
        return rows, rows @ rows.T, marginal


def uniform(sampling: Sampling, cut: int | None = None, finer: int = 1) -> Grid:
    """Return the nodes for the uniform prior, cached for the next metric if m is below 5,000.

    Nodes are the few true ranks that represent all ranks in sums. The metric may jump between
    ``cut - 1`` and ``cut`` irrelevant items above. The number of nodes is the number that a sample
    of ``finer`` times m negatives would need.
    """
    return (_shared if sampling.m < 5_000 else _shared.__wrapped__)(sampling, cut, finer)


@lru_cache(maxsize=2)
def _shared(sampling: Sampling, cut: int | None, finer: int) -> Grid:
    m = max(sampling.m, min(finer * sampling.m, sampling.n - 1))
    above, weights = quadrature.law_nodes(replace(sampling, m=m), cut)
    return Grid(sampling, above, weights / sampling.n)


@dataclass(frozen=True, eq=False)
class Nodes:
    """The nodes (true ranks) of a fit, its metric, and the relevant item's position: 1 is best."""

    grid: Grid
    metric: Metric
    position: int

    @cached_property
    def target(self) -> Floats:
        """The exact metric at each node, before it is multiplied by ``metric.scale``."""
        return self.metric.of_above(self.grid.above, self.grid.sampling.n - 1, self.position)


def nodes(
    metric: Metric, sampling: Sampling, position: int, prior: Floats | None, gamma: float = 1.0
) -> Nodes:
    """Return the true ranks (nodes) over which a fit sums, with the fit's metric and ``position``.

    The fit is for the ``position``-th best relevant item of an instance. For the uniform prior, the
    nodes are few ranks that represent all ranks. For any other prior, they are all ranks with a
    weight above 0. A small γ needs more nodes, because the corrected values then amplify the errors
    of the sums.
    """
    if prior is not None:
        above = np.flatnonzero(prior).astype(np.float64)
        return Nodes(Grid(sampling, above, prior[prior > 0]), metric, position)
    cut = metric.cut(sampling.n - 1)
    if cut is not None:
        # In the sums over true ranks, each of the first HEAD ranks is a term (node) of its own.
        # Only beyond these ranks could a node stand for ranks on both sides of the cutoff.
        cut = cut - position + 1 if cut - position + 1 > quadrature.HEAD else None
    return Nodes(uniform(sampling, cut, 1 if gamma >= _SMALL else _FINER), metric, position)


def bias_variance(at: Nodes, gamma: float) -> Floats:
    """Return the corrected values that minimise the mean of bias² + γ variance: shape (m+1,).

    This is eq. 25 of Krichene & Rendle. The mean is over the prior distribution of the true rank.
    Each value is scaled by the square root of the probability of its sampled rank. The matrix of
    the linear system then has eigenvalues in γ..1 (1e-16 <= γ <= 1).

    A is the matrix P(sampled rank | true rank) with a row per node (true rank), and S in the
    comments is A scaled as in :attr:`Grid.scaled`. With fewer nodes than values, the dual system
    with one unknown per node is solved. For small γ, a triangular factor of A is used, which loses
    half as many digits as AᵀA.
    """
    if gamma < _SMALL:
        return _by_triangle(at, gamma)
    grid = at.grid
    # SciPy's Cholesky factorisation is not used here, because the threads of SciPy's BLAS would
    # compete with the threads of NumPy's BLAS.
    if gamma < 1 and len(grid.above) <= grid.sampling.m:
        # S (``rows``) is the scaled matrix P(sampled rank | true rank), and t is the exact metric
        # at each node (true rank), times the square root of the node's prior probability. The
        # scaled corrected values are ((1-γ) SᵀS + γI)⁻¹Sᵀt = Sᵀ((1-γ) SSᵀ + γI)⁻¹t. Compute the
        # right side by the dual system, which is smaller: one unknown per node.
        rows, kernel, marginal = grid.scaled
        seen = marginal >= _TINY
        kernel = (1 - gamma) * kernel + gamma * np.eye(len(kernel))
        solution = np.linalg.solve(kernel, np.sqrt(grid.weights) * at.target)
        return _filled((solution @ rows)[seen] / np.sqrt(marginal[seen]), seen)
    seen, marginal = grid.seen, grid.marginal[grid.seen]
    if gamma == 1:
        # The solution is the posterior mean of the metric given the sampled rank (eq. 26 of
        # Krichene & Rendle).
        return _filled(grid.mean_with(at.target)[seen] / marginal, seen)
    scale = 1 / np.sqrt(marginal)
    gram = grid.gram[np.ix_(seen, seen)]
    gram *= (1 - gamma) * scale[:, None]
    gram *= scale
    gram.flat[:: len(gram) + 1] += gamma
    if marginal.min() > _RARE * marginal.max():
        return _filled(scale * np.linalg.solve(gram, scale * grid.mean_with(at.target)[seen]), seen)
    return _filled(_refined(at, gamma, np.asarray(np.linalg.inv(gram)), scale), seen)


def _refined(at: Nodes, gamma: float, inverse: Floats, scale: Floats) -> Floats:
    """Return the bias-variance corrected values by iterative refinement in extended precision.

    They solve eq. 25 of Krichene & Rendle. If the prior distribution of the true rank has nearly
    all probability on few ranks, some sampled ranks are very rare. Their corrected values are large
    and have large rounding errors. Each round of refinement adds about eight correct digits.
    ``scale`` is 1 / √P(sampled rank). ``inverse`` is the inverse of the matrix of the normal
    equations, whose rows and columns are multiplied by ``scale``.
    """
    values = np.zeros(len(scale), dtype=np.longdouble)
    grid, s = at.grid, at.grid.sampling
    extended: list[tuple[slice, NDArray[np.longdouble]]] | None = None
    target: NDArray[Any] = at.target
    if len(grid.above) * s.m**2 <= _EXTENDED:
        above, below = item_weights(s.scheme, grid.above, s.n - 1 - grid.above, s.odds)
        extended = [(slice(None), pmf_longdouble(s.scheme, s.m, above, below))]
        target = at.metric.of_above(grid.above.astype(np.longdouble), s.n - 1, at.position)
    for _ in range(_ROUNDS):
        rest = np.zeros(len(scale), dtype=np.longdouble)
        marginal = np.zeros(len(scale), dtype=np.longdouble)
        for rows, p in extended or grid.laws():
            law = p[:, grid.seen].astype(np.longdouble)
            weight = grid.weights[rows].astype(np.longdouble)
            rest += (weight * (target[rows] - (1 - gamma) * (law @ values))) @ law
            marginal += weight @ law
        rest -= gamma * marginal * values
        values += scale * (inverse @ (scale * rest.astype(np.float64)))
    return values.astype(np.float64)


def _by_triangle(at: Nodes, gamma: float) -> Floats:
    """Return the corrected values (eq. 25 of Krichene & Rendle) for a small γ.

    The scaled values x minimise (1-γ) |S x - t / (1-γ)|² + γ |x|². S is the matrix P(sampled rank |
    true rank), scaled as in :attr:`Grid.scaled`. t holds the exact metric at each true rank, times
    the square root of the prior probability of this rank. A triangular factor of S, which has fewer
    rows, takes the place of S.
    """
    r, rhs = _triangular(at)
    seen, marginal = at.grid.seen, at.grid.marginal[at.grid.seen]
    scale = 1 / np.sqrt(marginal)
    rows = np.vstack([np.sqrt(1 - gamma) * r[:, seen] * scale, np.sqrt(gamma) * np.eye(len(scale))])
    q, triangle = np.linalg.qr(rows)
    if gamma >= _REFINABLE and marginal.min() <= _RARE * marginal.max():
        inverse = np.asarray(np.linalg.inv(triangle))
        return _filled(_refined(at, gamma, inverse @ inverse.T, scale), seen)
    rhs = q[: len(r)].T @ (rhs / np.sqrt(1 - gamma))
    return _filled(scale * np.linalg.solve(triangle, rhs), seen)


def _filled(values: Floats, seen: NDArray[np.bool_]) -> Floats:
    """Return a corrected value for each sampled rank, (m+1,).

    ``values`` are given for the sampled ranks where ``seen`` is true. The other sampled ranks
    cannot occur, and get interpolated values.
    """
    places = np.arange(len(seen))
    return np.asarray(np.interp(places, places[seen], values), dtype=np.float64)


def require_reachable(grid: Grid) -> None:
    """Raise ValueError if some sampled rank cannot occur under the prior of the true rank."""
    if not np.all(grid.seen):
        raise ValueError(NO_WEIGHT.format(int(np.argmin(grid.marginal)) + 1))


def minimum_norm(at: Nodes) -> tuple[Floats, int]:
    """Return the corrected values of smallest norm, and how many singular values are used.

    The corrected values are the least-squares solution of eq. 22 of Krichene & Rendle. A is the
    matrix of P(sampled rank | true rank). Its singular values below SINGULAR_CUTOFF times the
    largest singular value are not used.
    """
    r, rhs = _triangular(at)
    left, values, right = np.linalg.svd(r, full_matrices=False)
    size = int(np.sum(values > SINGULAR_CUTOFF * values[0]))
    return right[:size].T @ ((left[:, :size].T @ rhs) / values[:size]), size


def non_increasing(columns: Floats, rhs: Floats, nonnegative: bool) -> Floats:
    """Return the non-increasing vector x, shape (m+1,), with the least squared error of A x - rhs.

    A is not given. Row i of ``columns`` is instead the sum of the columns 0..i of A: the change of
    A x if the entries 0..i of x are raised by 1. So the heights of the steps by which x falls solve
    a non-negative least-squares problem. (Isotonic regression of the unconstrained solution would
    give a different, much worse vector.) For a long x, the fit starts with few steps down, and adds
    steps that improve it. If ``nonnegative``, x is at least 0.
    """
    size, seen = columns.shape
    if not nonnegative:
        # The last entry of x may be negative. It is therefore the difference of two non-negative
        # unknowns, whose rows in ``columns`` have opposite signs.
        columns = np.vstack([columns, -columns[-1:]])
    tried = np.arange(len(columns))
    dense = False
    if size > _ALL:
        tried = np.r_[_spread(size, int(3 * np.sqrt(size))), tried[size:]]
    while True:
        heights = _nonnegative(columns[tried], rhs)
        if size <= _ALL:
            break
        if not dense and 4 * seen > size and 3 * np.sum(heights > 0) > len(tried):
            # In this fit, x may fall only after the sampled ranks in ``tried``. But x does fall
            # after more than a third of these ranks. So start again with many more ``tried`` ranks.
            number = seen // 2 if 3 * seen > size else seen // 3
            tried, dense = np.r_[_spread(size, number), np.arange(size, len(columns))], True
            continue
        slope = columns @ (rhs - heights @ columns[tried])
        around = np.pad(slope, 1, constant_values=-1)
        peak = (slope > _FLAT) & (slope >= around[:-2]) & (slope >= around[2:])
        more = np.setdiff1d(np.flatnonzero(peak), tried)
        if not len(more):
            break
        tried = np.union1d(tried, more)
    steps = np.zeros(len(columns))
    steps[tried] = heights
    if not nonnegative:
        steps[size - 1] -= steps[size]
    return np.asarray(np.cumsum(steps[:size][::-1])[::-1])


def _spread(size: int, number: int) -> Ints:
    """Return about ``number`` indices in 0..size - 1, which are denser near both ends."""
    places = (size - 1) * np.sin(np.linspace(0, np.pi / 2, number)) ** 2
    return np.unique(np.rint(places).astype(np.int64))


def _nonnegative(few: Floats, rhs: Floats) -> Floats:
    """Return the step heights x >= 0 that minimise the sum of squares of ``few.T @ x - rhs``."""
    if len(few) < len(rhs):
        gram, target = few @ few.T, few @ rhs
        gram.flat[:: len(gram) + 1] += len(gram) * np.finfo(float).eps
        few = np.asarray(np.linalg.cholesky(gram), dtype=np.float64)
        rhs = np.asarray(np.linalg.solve(few, target), dtype=np.float64)
    return np.asarray(scipy.optimize.nnls(few.T, rhs, maxiter=30 * len(few))[0])


def monotone(at: Nodes, nonnegative: bool) -> Floats:
    """Return the non-increasing corrected values of least mean bias²: shape (m+1,).

    This is the constrained least-squares correction of section 5.2 of Krichene & Rendle.
    """
    r, rhs = _triangular(at, cumulative=True)
    return non_increasing(r.T, rhs, nonnegative)


def _triangular(at: Nodes, *, cumulative: bool = False) -> tuple[Floats, Floats]:
    """Return R and r with RᵀR = AᵀA and Rᵀr = Aᵀb; R has few rows even if A has many.

    A holds P(sampled rank | true rank), and b the exact metric, with a row per node (true rank).
    Each row is first multiplied by the square root of the node's prior probability. If
    ``cumulative``, each column i of A is then replaced by the sum of the columns 0..i. R is
    computed by QR, which keeps digits that AᵀA would lose.
    """
    size = at.grid.sampling.m + 1
    blocks: list[Floats] = []
    for rows, p in at.grid.laws():
        columns = np.cumsum(p, axis=1) if cumulative else p
        root = np.sqrt(at.grid.weights[rows])[:, None]
        blocks.append(np.column_stack([columns, at.target[rows]]) * root)
        if sum(map(len, blocks)) > 4 * (size + 1):
            blocks = [np.asarray(np.linalg.qr(np.vstack(blocks), mode="r"))]
    r = np.vstack(blocks)
    if len(r) > 2 * size:
        r = np.asarray(np.linalg.qr(r, mode="r"))[:size]
    return r[:, :size], r[:, size]
