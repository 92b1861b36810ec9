r"""How much of each polynomial component of a metric the bias-variance correction keeps.

A metric is a function of the true rank, thus a weighted sum of orthogonal polynomials of degree 0,
1, 2, ... Each term of this sum is a *component* of the metric. The correction keeps mostly the
components of low degree, like a low-pass filter. Numbers of equations are those of Krichene &
Rendle, and :math:`\gamma` is the weight of the variance in their eq. 25.

Let A hold P(sampled rank | true rank), and let the prior be uniform. Divide the columns of A by the
square roots of their sums: :math:`S_{rs} = A_{rs} / \sqrt{c_s}`, :math:`c_s = \sum_r A_{rs}`. The
n x n matrix :math:`K = S S^T` is symmetric, its rows sum to 1 and its eigenvalues :math:`\lambda_j`
lie in 0..1. The corrected metric :math:`\hat M` of the exact metric M has the expected value

.. math:: A \hat M = K ((1 - \gamma) K + \gamma)^{-1} M,

because :math:`\hat M = C^{-1/2} ((1-\gamma) S^T S + \gamma)^{-1} S^T M`, where C is diagonal with
entries :math:`c_s`. So the part of M along the j-th eigenvector of K is multiplied by
:math:`\lambda_j / ((1 - \gamma) \lambda_j + \gamma)`.

*Without replacement* the eigenvectors are the discrete Chebyshev (Hahn) polynomials. Given the
sampled rank, a polynomial of degree j in the true rank has a mean that is a polynomial of degree j
in the sampled rank, and vice versa. So K maps polynomials of degree j to polynomials of degree j;
since K is symmetric, its eigenvectors are the orthogonal polynomials. Comparing the leading
coefficients gives

.. math:: \lambda_j = \prod_{i<j} \frac{(m - i)(n + 1 + i)}{(m + 2 + i)(n - 1 - i)}.

The orthonormal polynomials :math:`u_j` over the n true ranks and :math:`v_j` over the m + 1 sampled
ranks are the singular vectors of A, with singular values proportional to
:math:`\sqrt{\lambda_j}`, so that eq. 25 has the solution

.. math:: \hat M = \sqrt{(m+1)/n} \; \sum_j
          \frac{\sqrt{\lambda_j}}{(1 - \gamma) \lambda_j + \gamma} \langle u_j, M \rangle v_j .

As functions of the number of items above, x = 0..N - 1 with N = n or m + 1, these polynomials obey

.. math:: B_x (u_{x+1} - u_x) = B_{x-1} (u_x - u_{x-1}) - j (j + 1) u_x, \quad
          B_x = (x + 1)(N - 1 - x).

Polynomials of high degree are tiny at the ends of the list. From there to the middle, their values
grow or oscillate. So a recursion in x is accurate at any degree, whereas a recursion in j fails
beyond degree 2 √N.

*With replacement* these results hold in the limit of large n. At finite n the eigenvectors are
close to the polynomials, and the eigenvalues are computed numerically.

:class:`Resolution` says what a corrected metric resolves at the top of the list. Let d be the
largest degree of a component of which the correction keeps at least half.

* ``width``: the rank of the first zero of the polynomial of degree d, at about
  :math:`\sin^2(2.405 / (2 d + 1)) \, n` ranks, as for a Legendre polynomial. This is the finest
  detail at the top among the components that are mostly kept: about 3 ranks for m = 1,000,
  n = 10,000 and γ = 0.01.
* ``blind``: the first rank that has a probability above 0 in a certain distribution of the true
  rank. This distribution agrees with the uniform distribution in *every* component up to degree d,
  so no method that uses only these components can distinguish the two. Its ranks are the nodes of
  the Gauss rule for sums over 1..n with ⌊d/2⌋ + 1 nodes, which is exact up to degree d; its
  probabilities are the weights of the rule, divided by n. (A node that is not a whole number stands
  for a distribution over the two neighbouring ranks.)

References
----------
Krichene & Rendle, KDD 2020, eq. 25; Karlin & McGregor, The Hahn Polynomials, 1961.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.linalg import eigvalsh_tridiagonal

from sampledash import checks, least_squares
from sampledash.metrics import Metric
from sampledash.quadrature import off_diagonal
from sampledash.sampling import Sampling, require_sampling
from sampledash.types import Floats, frozen

LARGEST = 10_000  # largest n for which this module sums over all ranks
#: A table of values of orthogonal polynomials is cached for the next metric if it has at most this
#: many entries.
_ROOM = 1 << 23
_ROUNDING = 2e-15  # corrected values below this factor times the largest value are rounded to 0
#: The recursion for values of orthogonal polynomials rescales them after this many ranks, because
#: they might overflow.
_ROWS = 16


@dataclass(frozen=True)
class Resolution:
    """The finest detail that a corrected metric resolves.

    Attributes
    ----------
    degree
        Largest degree of a component of which the correction keeps at least half. A component is
        the metric's part along the discrete Chebyshev polynomial of one degree in the true rank.
    width
        Rank of the first zero of the polynomial of this degree: about the finest detail at the top
        of the list that the correction keeps.
    blind
        First rank with a probability above 0 in a certain distribution of the true rank. Under this
        distribution, all polynomials up to ``degree`` have the same means as under the uniform
        distribution. (A fraction stands for the two neighbouring ranks.)
    """

    degree: int
    width: float
    blind: float


def eigenvalues(sampling: Sampling) -> Floats:
    """Return, for each component of a metric, the share that the correction with γ = 1 keeps.

    A component is the metric's part along the orthogonal polynomial (discrete Chebyshev) of one
    degree in the true rank. The shares are the eigenvalues of a matrix K, which turns the exact
    metric, as a function of the true rank, into the expected value of the corrected metric (module
    docstring).

    Parameters
    ----------
    sampling
        A sampling with a uniform scheme.

    Returns
    -------
    Shape (m + 1,), read-only, decreasing from 1: entry j is for degree j. Entries from degree n on
    are 0, because functions of n ranks have no such components.

    Raises
    ------
    ValueError
        If the scheme is popularity-weighted, or draws a varying number of different items.
    """
    require_sampling(sampling)
    if sampling.design.weighted:
        raise ValueError("sampling is by popularity, which has no components: use a uniform scheme")
    if sampling.design.varies:
        drawn = f"drawn {sampling.design.words} items have a law without components by degree"
        raise ValueError(f"{drawn}: use a scheme with a fixed number of items")
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
        values[n:] = 0  # at most n eigenvalues are not 0; the others are rounding errors
    return frozen(values)


def retained(sampling: Sampling, gamma: float) -> Floats:
    """Return the share of each component of a metric that the bias-variance correction keeps.

    A component is the metric's part along the orthogonal polynomial (discrete Chebyshev) of one
    degree in the true rank.

    Parameters
    ----------
    sampling
        A sampling with a uniform scheme.
    gamma
        Weight γ of the variance, in 0..1.

    Returns
    -------
    Shape (m + 1,): entry j is λ_j / ((1 - γ) λ_j + γ), where λ_j is entry j of :func:`eigenvalues`.
    It is for degree j; degrees above m are lost. Entries from degree n on are 0, because such
    components do not exist.

    Raises
    ------
    ValueError
        If :func:`eigenvalues` refuses the scheme, or if gamma is out of range.

    Notes
    -----
    The shares are those of the expected corrected metric, under the uniform prior. At γ = 0 every
    component up to degree m is kept, but with a variance that grows as 1 / λ_j.
    """
    gamma = checks.real("gamma", gamma, low=0, high=1)
    values = eigenvalues(sampling)
    if gamma == 0:
        return (np.arange(len(values)) < sampling.n).astype(np.float64)
    return values / ((1 - gamma) * values + gamma)


def resolution(sampling: Sampling, gamma: float) -> Resolution:
    """Return the finest detail at the top of the list that a bias-variance correction resolves.

    The scheme of ``sampling`` must be uniform and draw a fixed number of items. ``gamma`` is the
    weight γ of the variance, above 0 and up to 1. Other values raise ValueError.
    """
    gamma = checks.real("gamma", gamma, low=0, high=1, above=True)
    shares = retained(sampling, gamma)
    degree = min(int(np.flatnonzero(shares >= 0.5)[-1]), sampling.n - 1)
    if degree == 0:
        return Resolution(0, float(sampling.n), (sampling.n + 1) / 2)
    return Resolution(degree, *(first_zero(sampling.n, d) for d in (degree, degree // 2 + 1)))


def first_zero(n: int, degree: int) -> float:
    """Return the first zero, a real number, of a discrete Chebyshev polynomial on ranks 1..n."""
    lowest = eigvalsh_tridiagonal(np.zeros(degree), off_diagonal(n, degree), "i", (0, 0))
    return float(lowest[0] + (n + 1) / 2)


def rows(size: int, degrees: int, *, summed: bool = False) -> Iterator[tuple[slice, Floats]]:
    """Yield the values of orthonormal polynomials at the points 0..size - 1, in blocks of points.

    These are discrete Chebyshev polynomials: sums of products over the points are 0 for two
    different degrees, and 1 for equal degrees. A block is (slice of the points, values of shape
    (points, degrees)). Only the first half of the points is evaluated: the second half mirrors the
    first, with sign (-1)^degree. If ``summed``, yield cumulative sums of the values over the
    points; those for degree 0 are invalid.
    """
    j = np.arange(degrees)
    # ``first`` holds the base-2 logarithms of the values of the polynomials at the first point. The
    # square of the value for degree j is a product of j + 1 factors.
    steps = np.log((2 * j[1:] + 1) / (2 * j[1:] - 1) * ((size - j[1:]) / (size + j[1:])))
    first = np.cumsum(np.r_[-np.log(size), steps], dtype=np.longdouble) / np.log(np.longdouble(4))
    # The values at the first point would underflow at high degrees. They are therefore stored as
    # ``value`` * 2^``power``.
    power = np.floor(first).astype(np.int64)
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
    """Split ``values`` into an even and an odd part about the middle; return their first halves."""
    half = (len(values) + 1) // 2
    other = values[::-1][:half]
    return (values[:half] + other) / 2, (values[:half] - other) / 2


@lru_cache(maxsize=64)
def components(metric: Metric, n: int, position: int, degrees: int) -> Floats:
    """Return the scalar product of the exact metric with each orthonormal polynomial: (degrees,).

    Metric and polynomials (discrete Chebyshev) are functions of the true rank 1..n, and the product
    is a sum over these ranks.
    """
    parts = np.array(_both_ends(metric.of_above(np.arange(n), n - 1, position)))
    parts[:, : n // 2] *= 2
    total = np.zeros((2, degrees))
    for some, block in rows(n, degrees):
        total += parts[:, some] @ block
    total[0, 1::2] = total[1, 1::2]
    return np.asarray(total[0])


@lru_cache(maxsize=8)
def _legendre(n: int, degrees: int) -> list[tuple[Floats, Floats]]:
    """Return QR factorisations of the matrices of even and of odd Legendre polynomials on n ranks.

    The matrices have a row for each rank of the first half of the list. The row also stands for the
    mirror image of this rank, where an even polynomial has the same value, and an odd polynomial
    the opposite sign. So the weight of a row is 2/n, but 1/n for a rank in the middle. Return the
    orthonormal polynomials under these weights, multiplied by the weights, and the factor R.
    """
    at = 1 - 2 * np.arange((n + 1) // 2) / (n - 1)
    weights = np.full(len(at), 2 / n)
    weights[n // 2 :] = 1 / n
    table = np.empty((degrees, len(at)))
    table[0], table[1:2] = 1, at
    for j in range(1, degrees - 1):
        table[j + 1] = ((2 * j + 1) * at * table[j] - j * table[j - 1]) / (j + 1)
    table *= np.sqrt(weights)
    halves = (np.linalg.qr(table[parity::2].T) for parity in (0, 1))
    return [(np.sqrt(weights)[:, None] * q, r) for q, r in halves]


@lru_cache(maxsize=2)
def _seen(sampling: Sampling, least: float) -> list[Floats]:
    """Return the matrix A of P(sampled rank | true rank) in bases of orthonormal polynomials.

    These are discrete Chebyshev polynomials, orthonormal under equal weights of all ranks: one of
    each degree over the true ranks, and one over the sampled ranks. In these bases, A is diagonal
    without replacement, and triangular with replacement. Each degree has a singular value. Degrees
    whose singular value is up to ``least`` times the largest are left out. (With replacement, the
    limit of the singular value for large n is taken instead, times sqrt(2 j + 1) for degree j.)

    The matrix is given in two parts, for even and for odd degrees: diagonals or triangular
    matrices. Even and odd degrees do not mix, because polynomials of even degree are symmetric
    about the middle of the list, and those of odd degree antisymmetric.
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
    return 1 << degrees.bit_length()  # a power of 2, so that similar m share a cached result


def _targets(
    metric: Metric, sampling: Sampling, position: int, parts: Sequence[Floats]
) -> list[Floats]:
    """Return the coefficients of the exact metric in orthonormal polynomials of the true rank.

    They are discrete Chebyshev polynomials, orthonormal if all n ranks have weight 1/n. There is
    one array for the polynomials of even degree, and one for those of odd degree.
    """
    n, size = sampling.n, sum(part.shape[-1] for part in parts)
    if sampling.design.distinct:
        target = components(metric, n, position, min(n, _rounded(size)))[:size] / np.sqrt(n)
        return [target[::2], target[1::2]]
    halves = _both_ends(metric.of_above(np.arange(n), n - 1, position))
    every = zip(halves, _legendre(n, _rounded(size)), parts, strict=True)
    return [(half @ q)[: len(part)] for half, (q, _), part in every]


def _over_sample(m: int, even: Floats, odd: Floats) -> Floats:
    """Return a weighted sum of the discrete Chebyshev polynomials on the m + 1 sampled ranks.

    These polynomials are orthonormal: all sampled ranks have weight 1. In the sum, polynomials of
    even degree have the factors ``even``, and those of odd degree the factors ``odd``.
    """
    values, factors = np.empty(m + 1), np.zeros((len(even) + len(odd), 2))
    factors[::2, 0], factors[1::2, 1] = even, odd
    blocks = _kept if (m + 1) * len(factors) <= _ROOM else rows
    for some, block in blocks(m + 1, len(factors)):
        first, second = (block @ factors).T
        values[::-1][some] = first - second
        values[some] = first + second
    values[np.abs(values) < _ROUNDING * np.abs(values).max()] = 0  # remove rounding errors
    return values


def filtered(
    metric: Metric, sampling: Sampling, position: int, gamma: float, cutoff: float
) -> tuple[Floats, int]:
    """Return the values of the bias-variance correction for sampling without replacement.

    The values solve eq. 25 of Krichene & Rendle or, if γ = 0, eq. 22. Eq. 22 uses only singular
    values of P(sampled rank | true rank) above ``cutoff`` times the largest.

    Returns
    -------
    Corrected values, (m + 1,), a sum of Chebyshev polynomials, and the number of polynomials.
    """
    parts = _seen(sampling, 1e-17 * gamma or cutoff)
    targets, level = _targets(metric, sampling, position, parts), gamma / (sampling.m + 1)
    both = zip(targets, parts, strict=True)
    even, odd = (target * root / ((1 - gamma) * root**2 + level) for target, root in both)
    return _over_sample(sampling.m, even, odd), len(even) + len(odd)


def minimum_norm(
    metric: Metric, sampling: Sampling, position: int, cutoff: float
) -> tuple[Floats, int]:
    """Return the least-squares correction (Krichene & Rendle, eq. 22) of smallest norm.

    Singular values of P(sampled rank | true rank) up to ``cutoff`` times the largest are not used.
    Also return how many singular values were used.
    """
    parts, triples = _directions(sampling, cutoff)
    both = zip(_targets(metric, sampling, position, parts), triples, strict=True)
    even, odd = (((target @ left) / values) @ right for target, (left, values, right) in both)
    return _over_sample(sampling.m, even, odd), sum(len(values) for _, values, _ in triples)


@lru_cache(maxsize=2)
def _directions(
    sampling: Sampling, cutoff: float
) -> tuple[list[Floats], list[tuple[Floats, Floats, Floats]]]:
    """Return the two parts of P(sampled rank | true rank) by :func:`_seen`, and their SVDs.

    A singular value decomposition (SVD) is (U, S, Vᵀ). Singular values up to ``cutoff`` times the
    largest are left out.
    """
    parts = _seen(sampling, 1e-7 * cutoff)
    decompositions = [np.linalg.svd(part, full_matrices=False) for part in parts]
    least = cutoff * max(x.S[0] for x in decompositions)
    sizes = [int(np.sum(least < x.S)) for x in decompositions]
    triples = [(x.U[:, :k], x.S[:k], x.Vh[:k]) for x, k in zip(decompositions, sizes, strict=True)]
    return parts, triples


def cumulative(metric: Metric, sampling: Sampling, position: int) -> tuple[Floats, Floats]:
    """Return coefficients of P(sampled rank <= t | true rank), and of the exact metric.

    Both are functions of the true rank, here written as sums of orthonormal polynomials (discrete
    Chebyshev) with these coefficients. The probability has one row of coefficients for each t =
    1..m + 1. Polynomials of negligible singular value (:func:`_seen`) are left out.
    """
    parts = _seen(sampling, 1e-17)
    entries = (sampling.m + 1) * sum(part.shape[-1] for part in parts)
    steps = (_steps if entries <= _ROOM else _steps.__wrapped__)(sampling)
    target = np.empty(steps.shape[1])
    target[::2], target[1::2] = _targets(metric, sampling, position, parts)
    return steps, target


@lru_cache(maxsize=2)
def _steps(sampling: Sampling) -> Floats:
    """Write P(sampled rank <= t | true rank) as a sum of orthonormal polynomials of the true rank.

    They are discrete Chebyshev polynomials. Return the coefficients: a row for each t = 1..m + 1,
    and a column for each polynomial.
    """
    m, parts = sampling.m, _seen(sampling, 1e-17)
    size = sum(part.shape[-1] for part in parts)
    every, sign = np.empty((m + 1, size)), (-1.0) ** np.arange(size)
    # The second half of a polynomial's cumulative sums mirrors the first half, because the sum of a
    # polynomial (of degree above 0) over all points is 0.
    for some, block in rows(m + 1, size, summed=True):
        every[::-1][1:][some] = -block[: m - some.start] * sign
        every[some] = block
    every[m, 1:] = 0
    every[:, 0] = np.arange(1, m + 2) / np.sqrt(m + 1)
    if parts[0].ndim == 1:
        every *= np.ravel(np.column_stack([parts[0], np.resize(parts[1], len(parts[0]))]))[:size]
        return every
    # ``every`` cannot be overwritten: if n is smaller than m, the result has fewer columns.
    seen = np.empty((m + 1, sum(map(len, parts))))
    for i, part in enumerate(parts):
        seen[:, i::2] = every[:, i::2] @ part.T
    return seen
