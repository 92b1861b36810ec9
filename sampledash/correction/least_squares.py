"""The vectors of eq. 22, 25 and of the monotone problem of section 5.2."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

from sampledash import laws
from sampledash.correction.moments import Nodes, normal_equations, triangular
from sampledash.types import Flags, Floats

#: The smallest γ whose vector is right to 1e-5 of its largest entry; what is below counts as 0.
SMALLEST_GAMMA = 1e-16

_TINY = np.finfo(float).tiny
_RARE = 1e-6  # sampled ranks rarer than this, to the most frequent one, need refinement
_SMALL = 1e-6  # γ below which forming AᵀA would cost too many digits
_REFINABLE = 1e-10  # γ below which refinement need not converge
_ROUNDS = 4  # of refinement
_EXTENDED = 4_000_000  # steps up to which the law itself is computed in extended precision
SINGULAR_CUTOFF = 1e-10  # singular values below this share of the largest count as zero


def bias_variance(at: Nodes, gamma: float) -> Floats:
    """Minimise bias² + γ variance over the prior (eq. 25), 1e-16 <= γ <= 1: shape (m+1,).

    Solved in the unknowns scaled by the square root of the probability of their sampled rank, where
    the matrix has eigenvalues in γ..1; with fewer nodes than unknowns, in one unknown per node. For
    small γ from the triangular factor of A, which loses half as many digits.
    """
    if gamma < _SMALL:
        return _by_triangle(at, gamma)
    if gamma < 1 and len(at.above) < at.sampling.m + 1:
        return _by_nodes(at, gamma)
    gram, marginal, moment = normal_equations(at)
    seen = marginal >= _TINY
    if gamma == 1:
        return _filled(moment[seen] / marginal[seen], seen)  # eq. 26
    scale = 1 / np.sqrt(marginal[seen])
    if not np.all(seen):
        gram = gram[np.ix_(seen, seen)]
    gram *= (1 - gamma) * scale[:, None]
    gram *= scale
    gram.flat[:: len(gram) + 1] += gamma
    if marginal[seen].min() > _RARE * marginal.max():
        return _filled(scale * np.linalg.solve(gram, scale * moment[seen]), seen)
    return _filled(_refined(at, gamma, np.asarray(np.linalg.inv(gram)), scale, seen), seen)


def _refined(at: Nodes, gamma: float, inverse: Floats, scale: Floats, seen: Flags) -> Floats:
    """Solve with residuals in extended precision.

    Under a concentrated prior some sampled ranks are so rare that their entries are large and their
    part in the equations is lost to rounding. Each round of refinement gains about eight digits.
    """
    values = np.zeros(len(scale), dtype=np.longdouble)
    s = at.sampling
    extended: list[tuple[slice, NDArray[np.longdouble]]] | None = None
    target: NDArray[np.float64] | NDArray[np.longdouble] = at.target
    if len(at.above) * s.m**2 <= _EXTENDED:
        above, below = laws.weights(s.scheme, at.above, s.n - 1 - at.above, s.odds)
        extended = [(slice(None), laws.pmf_longdouble(s.scheme, s.m, above, below))]
        target = at.extended_target()
    for _ in range(_ROUNDS):
        rest = np.zeros(len(scale), dtype=np.longdouble)
        marginal = np.zeros(len(scale), dtype=np.longdouble)
        for rows, p in extended or at.laws():
            law, weight = p[:, seen].astype(np.longdouble), at.weights[rows].astype(np.longdouble)
            rest += (weight * (target[rows] - (1 - gamma) * (law @ values))) @ law
            marginal += weight @ law
        rest -= gamma * marginal * values
        values += scale * (inverse @ (scale * rest.astype(np.float64)))
    return values.astype(np.float64)


def _by_triangle(at: Nodes, gamma: float) -> Floats:
    """Find the same vector as least squares: rows √(1-γ) S, and √γ below, which see 0."""
    r, rhs = triangular(at)
    marginal = np.sum([at.weights[rows] @ p for rows, p in at.laws()], axis=0)
    seen = marginal >= _TINY
    scale = 1 / np.sqrt(marginal[seen])
    rows = np.vstack([np.sqrt(1 - gamma) * r[:, seen] * scale, np.sqrt(gamma) * np.eye(len(scale))])
    q, triangle = np.linalg.qr(rows)
    if gamma >= _REFINABLE and marginal[seen].min() <= _RARE * marginal.max():
        inverse = np.asarray(np.linalg.inv(triangle))
        return _filled(_refined(at, gamma, inverse @ inverse.T, scale, seen), seen)
    rhs = q[: len(r)].T @ (rhs / np.sqrt(1 - gamma))
    return _filled(scale * np.linalg.solve(triangle, rhs), seen)


def _by_nodes(at: Nodes, gamma: float) -> Floats:
    """Find the same vector by ((1-γ) SᵀS + γ)⁻¹Sᵀ = Sᵀ((1-γ) SSᵀ + γ)⁻¹, S the scaled A."""
    rows, kernel, marginal = at.grid.scaled()
    seen = marginal >= _TINY
    solution = _solve((1 - gamma) * kernel, gamma, np.sqrt(at.weights) * at.target)
    return _filled((solution @ rows)[seen] / np.sqrt(marginal[seen]), seen)


def _filled(values: Floats, seen: NDArray[np.bool_]) -> Floats:
    """Values between the neighbours for sampled ranks that no true rank can produce."""
    places = np.arange(len(seen))
    return np.asarray(np.interp(places, places[seen], values), dtype=np.float64)


def _solve(matrix: Floats, gamma: float, rhs: Floats) -> Floats:
    """Solve (matrix + γ) x = rhs; overwrites the matrix."""
    matrix.flat[:: len(matrix) + 1] += gamma
    # Not scipy's Cholesky: its BLAS has a thread pool of its own, which fights with numpy's.
    return np.asarray(np.linalg.solve(matrix, rhs), dtype=np.float64)


def require_reachable(at: Nodes) -> None:
    """Refuse a prior under which some sampled rank cannot occur."""
    marginal = np.sum([at.weights[rows] @ p for rows, p in at.laws()], axis=0)
    if np.any(marginal < _TINY):
        raise ValueError(
            f"prior gives sampled rank {int(np.argmin(marginal)) + 1} no probability: "
            "put weight on ranks that can produce it"
        )


def minimum_norm(at: Nodes) -> tuple[Floats, int]:
    """Least squares (eq. 22) of minimum norm, and how many directions the cutoff kept."""
    r, rhs = triangular(at)
    left, values, right = np.linalg.svd(r, full_matrices=False)
    kept = int(np.sum(values > SINGULAR_CUTOFF * values[0]))
    return right[:kept].T @ ((left[:, :kept].T @ rhs) / values[:kept]), kept


def monotone(at: Nodes, nonnegative: bool) -> Floats:
    """Least squares over non-increasing vectors, without or with the bound 0: shape (m+1,).

    A non-increasing vector is a sum of non-negative steps down, one after each sampled rank, so
    this is non-negative least squares in the cumulative columns of A. Isotonic regression of the
    unconstrained solution would be another, much worse vector.
    """
    r, rhs = triangular(at, cumulative=True)
    if not nonnegative:  # the last step carries the level, which may have either sign
        r = np.column_stack([r, -r[:, -1]])
    steps, _ = nnls(r, rhs, maxiter=30 * r.shape[1])
    if not nonnegative:
        steps = np.append(steps[:-2], steps[-2] - steps[-1])
    return np.asarray(np.cumsum(steps[::-1])[::-1])
