r"""What a sample can see: corrections as low-pass filters (eq. 25 taken apart).

With the uniform prior let S be the law A with columns divided by the root of their sums,
:math:`S_{rs} = A_{rs} / \sqrt{c_s}`, :math:`c_s = \sum_r A_{rs}`. The n x n matrix
:math:`K = S S^T` averages over the ranks that share a sampled rank: it is symmetric, its rows sum
to 1 and its eigenvalues :math:`\lambda_j` lie in 0..1. The expectation of the corrected metric is

.. math:: A \hat M = K ((1 - \gamma) K + \gamma)^{-1} M,

because :math:`\hat M = C^{-1/2} ((1-\gamma) S^T S + \gamma)^{-1} S^T M`. So the part of M along the
j-th eigenvector is multiplied by :math:`\lambda_j / ((1 - \gamma) \lambda_j + \gamma)`.

*Without replacement* the eigenvectors are the discrete Chebyshev (Hahn) polynomials. Given a
sampled rank, the mean of a polynomial of degree j in the true rank is one of degree j in the
sampled rank, and the reverse; so K maps polynomials of degree j to such, and being symmetric has
the orthogonal ones as eigenvectors. Comparing leading coefficients gives

.. math:: \lambda_j = \prod_{i<j} \frac{(m - i)(n + 1 + i)}{(m + 2 + i)(n - 1 - i)}.

There A has the orthonormal polynomials over the ranks, :math:`u_j` over the n true and
:math:`v_j` over the m + 1 sampled ones, as singular vectors, and the roots of the
:math:`\lambda_j` as singular values, so that eq. 25 has the solution

.. math:: \hat M = \sqrt{(m+1)/n} \; \sum_j
          \frac{\sqrt{\lambda_j}}{(1 - \gamma) \lambda_j + \gamma} \langle u_j, M \rangle v_j .

The polynomials (discrete Chebyshev) obey a difference equation in x, the items above:

.. math:: B_x (u_{x+1} - u_x) = B_{x-1} (u_x - u_{x-1}) - j (j + 1) u_x, \quad
          B_x = (x + 1)(N - 1 - x).

From the end of the list, where those of a high degree are tiny, to its middle they grow or swing:
the recursion in x loses no digits at any degree, where the one in the degree fails beyond 2 √N.

*With replacement* that holds in the limit of large n. At finite n the eigenvectors are close to the
polynomials, and the eigenvalues are found numerically.

What follows for the top of the list. Let d be the largest degree of which at least half is kept.

* ``width``: the polynomial of degree d has its first zero here, at about
  :math:`\sin^2(2.405 / (2 d + 1)) \, n` ranks, as for a Legendre polynomial. It is the finest
  detail at the top among the components that are mostly kept; for m = 1,000 of n = 10,000 and
  γ = 0.01 about 4 ranks.
* ``blind``: two distributions of the true rank that agree in *every* component up to degree d, one
  uniform, the other without anything in the top ``blind`` ranks. The second is the Gauss rule for
  sums over 1..n with ⌊d/2⌋ + 1 nodes, which is exact to degree d and whose first node lies there.
  Nothing that reads only components up to degree d tells them apart. (Its nodes are real numbers:
  read it as a distribution over ranks in between, or up to rounding.)

References
----------
Krichene & Rendle, KDD 2020, eq. 25; Karlin & McGregor, The Hahn Polynomials, 1961.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.linalg import eigh_tridiagonal

from sampledash import checks, least_squares
from sampledash.metrics import Metric
from sampledash.quadrature import off_diagonal
from sampledash.sampling import Sampling, require_sampling
from sampledash.types import Floats

LARGEST = 10_000  # n up to which all ranks are summed
_ROOM = 1 << 23  # entries kept for the next metric
_ROUNDING = 2e-15  # of the largest value
_ROWS = 16  # between rescalings: entries grow by less than N from row to row


@dataclass(frozen=True)
class Resolution:
    """The finest that a corrected metric resolves.

    Attributes
    ----------
    degree
        Largest degree of a component of which at least half is kept.
    width
        Ranks above the first zero of that component: the finest detail at the top.
    blind
        Ranks at the top that may be empty or full without any component up to ``degree`` changing.
    """

    degree: int
    width: float
    blind: float


def eigenvalues(sampling: Sampling) -> Floats:
    """How much of each polynomial component of a metric one average over a sample leaves.

    Parameters
    ----------
    sampling
        A uniform scheme.

    Returns
    -------
    Shape (m + 1,), read-only, decreasing from 1: entry j is for degree j. From degree n on, where n
    ranks have no more components, it is 0.

    Raises
    ------
    ValueError
        For popularity-weighted samples.
    """
    require_sampling(sampling)
    if sampling.design.weighted:
        raise ValueError(
            "sampling is popularity-weighted: its law depends on which items are above, not on "
            "polynomials of the rank, so it has no such components; use a uniform scheme"
        )
    if sampling.design.varies:
        raise ValueError(
            f"sampling draws {sampling.design.words}: its law has no components by degree; use a "
            "scheme with a fixed number of items"
        )
    return _eigenvalues(sampling)


@lru_cache(maxsize=64)
def _eigenvalues(sampling: Sampling) -> Floats:
    n, m = sampling.n, sampling.m
    if sampling.design.distinct:
        i = np.arange(m)
        factors = (m - i) / (m + 2.0 + i) * ((n + 1.0 + i) / (n - 1.0 - i))
        values = np.concatenate([[1.0], np.cumprod(factors)])
    else:
        grid = least_squares.uniform(sampling)
        scale = 1 / np.sqrt(grid.marginal[grid.seen])
        gram = grid.gram[np.ix_(grid.seen, grid.seen)]
        known = np.linalg.eigvalsh(gram * scale[:, None] * scale)
        values = np.zeros(m + 1)
        values[: len(known)] = np.clip(known[::-1], 0, 1)
        values[n:] = 0  # but for rounding
    values.setflags(write=False)
    return values


def retained(sampling: Sampling, gamma: float) -> Floats:
    """Share of each polynomial component of a metric that its bias-variance correction keeps.

    Parameters
    ----------
    sampling
        A uniform scheme.
    gamma
        Weight γ of the variance, in 0..1.

    Returns
    -------
    Shape (m + 1,): entry j is λ_j / ((1 - γ) λ_j + γ), for degree j. Degrees above m are lost;
    those from n on do not exist, and are 0.

    Raises
    ------
    ValueError
        For popularity-weighted samples, or a gamma out of range.

    Notes
    -----
    It speaks of expectations under the uniform prior. At γ = 0 every component the sample holds is
    kept, but at a variance that grows as 1 / λ_j.
    """
    gamma = checks.real("gamma", gamma, low=0, high=1)
    values = eigenvalues(sampling)
    if gamma == 0:
        return (np.arange(len(values)) < sampling.n).astype(np.float64)
    return values / ((1 - gamma) * values + gamma)


def resolution(sampling: Sampling, gamma: float) -> Resolution:
    """Tell what top of the list a correction can resolve; see the notes of this module.

    Parameters and errors as for :func:`retained`; gamma above 0.
    """
    gamma = checks.real("gamma", gamma, low=0, high=1, above=True)
    shares = retained(sampling, gamma)
    degree = min(int(np.flatnonzero(shares >= 0.5)[-1]), sampling.n - 1)
    if degree == 0:
        return Resolution(0, float(sampling.n), (sampling.n + 1) / 2)
    return Resolution(
        degree, first_zero(sampling.n, degree), first_zero(sampling.n, degree // 2 + 1)
    )


def first_zero(n: int, degree: int) -> float:
    """Rank of the first zero of the discrete Chebyshev polynomial of a degree in 1..n-1."""
    lowest = eigh_tridiagonal(
        np.zeros(degree),
        off_diagonal(n, degree),
        eigvals_only=True,
        select="i",
        select_range=(0, 0),
    )
    return float(lowest[0] + (n + 1) / 2)


def rows(size: int, degrees: int, *, summed: bool = False) -> Iterator[tuple[slice, Floats]]:
    """Blocks of the first half of the orthonormal polynomials over ``size`` points, (x, degree).

    The other half is the same from the other end, with the sign (-1)^degree. Or ``summed`` from the
    first point up to each, but for degree 0.
    """
    j = np.arange(degrees)
    # Square of the first value: a product, whose logarithm loses less than it is long.
    steps = np.log((2 * j[1:] + 1) / (2 * j[1:] - 1) * ((size - j[1:]) / (size + j[1:])))
    first = np.cumsum(np.r_[-np.log(size), steps], dtype=np.longdouble) / np.log(np.longdouble(4))
    power = np.floor(first).astype(np.int64)  # of 2, apart: the first values are too small
    value, step = np.exp2(first - power).astype(np.float64), np.zeros(degrees)
    square, moved = j * (j + 1.0), np.empty(degrees)
    x = np.arange((size + 1) // 2, dtype=np.float64)
    between = np.maximum((x + 1) * (size - 1 - x), 1).tolist()
    for start in range(0, (size + 1) // 2, _ROWS):
        block = np.empty((min(_ROWS, (size + 1) // 2 - start), degrees))
        for row, length in zip(block, between[start : start + _ROWS], strict=True):
            row[:] = value
            step -= np.multiply(square, value, out=moved)
            if summed:
                np.negative(step, out=row)
            value += np.divide(step, length, out=moved)
        by = np.where(power < 0, np.frexp(value)[1], 0)
        block *= np.exp2(power) / (np.maximum(square, 1) if summed else 1.0)
        yield slice(start, start + len(block)), block
        value, step, power = np.ldexp(value, -by), np.ldexp(step, -by), power + by


@lru_cache(maxsize=1)
def _kept(size: int, degrees: int) -> list[tuple[slice, Floats]]:
    return list(rows(size, degrees))


def _both_ends(values: Floats) -> tuple[Floats, Floats]:
    """Even and odd part about the middle, the first half of each."""
    half = (len(values) + 1) // 2
    other = values[::-1][:half]
    return (values[:half] + other) / 2, (values[:half] - other) / 2


@lru_cache(maxsize=64)
def components(metric: Metric, n: int, position: int, degrees: int) -> Floats:
    """Component of the exact metric along each polynomial over 1..n: shape (degrees,)."""
    parts = np.array(_both_ends(metric.of_above(np.arange(n), n - 1, position)))
    parts[:, : n // 2] *= 2
    total = np.zeros((2, degrees))
    for some, block in rows(n, degrees):
        total += parts[:, some] @ block
    total[0, 1::2] = total[1, 1::2]
    return np.asarray(total[0])


@lru_cache(maxsize=8)
def _legendre(n: int, degrees: int) -> list[tuple[Floats, Floats]]:
    """QR factorisation of the even, and of the odd, Legendre polynomials over n ranks.

    Of the first half of the ranks, where a pair of them counts as one.
    """
    at = 1 - 2 * np.arange((n + 1) // 2) / (n - 1)
    weights = np.full(len(at), 2 / n)
    weights[n // 2 :] = 1 / n
    table = np.empty((degrees, len(at)))
    table[0], table[1:2] = 1, at
    for j in range(1, degrees - 1):
        table[j + 1] = ((2 * j + 1) * at * table[j] - j * table[j - 1]) / (j + 1)
    table *= np.sqrt(weights)
    return [
        (np.sqrt(weights)[:, None] * q, r) for q, r in (np.linalg.qr(table[i::2].T) for i in (0, 1))
    ]


@lru_cache(maxsize=2)
def _seen(sampling: Sampling, least: float) -> list[Floats]:
    """Even and odd part of A V in coordinates that are orthonormal over the ranks.

    Of the degrees of which a sample sees more than the share ``least``. Without replacement it is
    diagonal and stands for its diagonal; else it is triangular.
    """
    n, m = sampling.n, sampling.m
    if sampling.design.distinct:
        root = np.sqrt(eigenvalues(sampling))
    else:
        j = np.arange(1, m + 1)
        steps = (2 * j + 1) / (2 * j - 1) * ((m + 1 - j) / (m + 1 + j))
        root = np.sqrt(np.cumprod(np.r_[1.0, steps]))
    root = root[root > least] / np.sqrt(m + 1)
    parts = [root[::2], root[1::2]]
    if sampling.design.distinct:
        return parts
    triangles = [r for _, r in _legendre(n, _rounded(len(root)))]
    return [r[: len(x), : len(x)] * x for r, x in zip(triangles, parts, strict=True)]


def _rounded(degrees: int) -> int:
    return 1 << degrees.bit_length()  # some more, to be shared with the next m


def _targets(
    metric: Metric, sampling: Sampling, position: int, parts: Sequence[Floats]
) -> list[Floats]:
    """Even and odd part of the metric in the same coordinates."""
    n, size = sampling.n, sum(part.shape[-1] for part in parts)
    if sampling.design.distinct:
        target = components(metric, n, position, min(n, _rounded(size)))[:size] / np.sqrt(n)
        return [target[::2], target[1::2]]
    halves = _both_ends(metric.of_above(np.arange(n), n - 1, position))
    every = zip(halves, _legendre(n, _rounded(size)), parts, strict=True)
    return [(half @ q)[: len(part)] for half, (q, _), part in every]


def _over_sample(m: int, even: Floats, odd: Floats) -> Floats:
    """Sum of the polynomials over the m + 1 sampled ranks with these factors: (m + 1,)."""
    values, factors = np.empty(m + 1), np.zeros((len(even) + len(odd), 2))
    factors[::2, 0], factors[1::2, 1] = even, odd
    blocks = _kept if (m + 1) * len(factors) <= _ROOM else rows
    for some, block in blocks(m + 1, len(factors)):
        first, second = (block @ factors).T
        values[::-1][some] = first - second
        values[some] = first + second
    values[np.abs(values) < _ROUNDING * np.abs(values).max()] = 0  # its sign would say something
    return values


def filtered(
    metric: Metric, sampling: Sampling, position: int, gamma: float, cutoff: float
) -> tuple[Floats, int]:
    """Vector of eq. 25, or at γ = 0 of eq. 22 from singular values above ``cutoff``.

    Without replacement.

    Returns
    -------
    Shape (m + 1,), and how many components it has.
    """
    parts = _seen(sampling, 1e-17 * gamma or cutoff)
    targets, level = _targets(metric, sampling, position, parts), gamma / (sampling.m + 1)
    even, odd = (
        target * root / ((1 - gamma) * root**2 + level)
        for target, root in zip(targets, parts, strict=True)
    )
    return _over_sample(sampling.m, even, odd), len(even) + len(odd)


def minimum_norm(
    metric: Metric, sampling: Sampling, position: int, cutoff: float
) -> tuple[Floats, int]:
    """Vector of eq. 22 from singular values above ``cutoff``, and how many they are."""
    parts, triples = _directions(sampling, cutoff)
    targets = _targets(metric, sampling, position, parts)
    even, odd = (
        ((target @ left) / values) @ right
        for target, (left, values, right) in zip(targets, triples, strict=True)
    )
    return _over_sample(sampling.m, even, odd), sum(len(values) for _, values, _ in triples)


@lru_cache(maxsize=2)
def _directions(
    sampling: Sampling, cutoff: float
) -> tuple[list[Floats], list[tuple[Floats, Floats, Floats]]]:
    """Even and odd part of A V, and their singular values above ``cutoff`` with the vectors."""
    parts = _seen(sampling, 1e-7 * cutoff)
    decompositions = [np.linalg.svd(part, full_matrices=False) for part in parts]
    least = cutoff * max(each.S[0] for each in decompositions)
    sizes = [int(np.sum(least < each.S)) for each in decompositions]
    triples = [(x.U[:, :k], x.S[:k], x.Vh[:k]) for x, k in zip(decompositions, sizes, strict=True)]
    return parts, triples


def cumulative(metric: Metric, sampling: Sampling, position: int) -> tuple[Floats, Floats]:
    """The law of a sampled rank up to 1, 2, ... m + 1, one row each, and the metric.

    In coordinates over the ranks that are orthonormal, as many as a sample sees anything of.
    """
    parts = _seen(sampling, 1e-17)
    entries = (sampling.m + 1) * sum(part.shape[-1] for part in parts)
    steps = (_steps if entries <= _ROOM else _steps.__wrapped__)(sampling)
    target = np.empty(steps.shape[1])
    target[::2], target[1::2] = _targets(metric, sampling, position, parts)
    return steps, target


@lru_cache(maxsize=2)
def _steps(sampling: Sampling) -> Floats:
    m, parts = sampling.m, _seen(sampling, 1e-17)
    size = sum(part.shape[-1] for part in parts)
    every, sign = np.empty((m + 1, size)), (-1.0) ** np.arange(size)
    for some, block in rows(m + 1, size, summed=True):
        every[::-1][1:][some] = -block[: m - some.start] * sign  # all of it sums to nothing
        every[some] = block
    every[m, 1:] = 0
    every[:, 0] = np.arange(1, m + 2) / np.sqrt(m + 1)
    if parts[0].ndim == 1:
        every *= np.ravel(np.column_stack([parts[0], np.resize(parts[1], len(parts[0]))]))[:size]
        return every
    seen = np.empty((m + 1, sum(map(len, parts))))  # fewer where there are fewer ranks than m
    for i, part in enumerate(parts):
        seen[:, i::2] = every[:, i::2] @ part.T
    return seen
