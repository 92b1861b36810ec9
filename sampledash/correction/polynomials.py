r"""Corrections without replacement under the uniform prior, in closed form.

There the law A has the orthonormal polynomials over the ranks, :math:`u_j` over the n true and
:math:`v_j` over the m + 1 sampled ones, as singular vectors, and the roots of the
:math:`\lambda_j` of :mod:`~sampledash.correction.spectral` as singular values, so that eq. 25 has
the solution

.. math:: \hat M = \sqrt{(m+1)/n} \; \sum_j
          \frac{\sqrt{\lambda_j}}{(1 - \gamma) \lambda_j + \gamma} \langle u_j, M \rangle v_j .

The polynomials (discrete Chebyshev) obey a difference equation in x, the items above:

.. math:: B_x (u_{x+1} - u_x) = B_{x-1} (u_x - u_{x-1}) - j (j + 1) u_x, \quad
          B_x = (x + 1)(N - 1 - x).

From the end of the list, where those of a high degree are tiny, to its middle they grow or swing:
the recursion in x loses no digits at any degree, where the one in the degree fails beyond 2 √N.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from sampledash.correction.spectral import eigenvalues
from sampledash.metrics import Metric
from sampledash.sampling import Sampling
from sampledash.types import Floats

LARGEST = 10_000  # n up to which all ranks are summed
_ROOM = 1 << 23  # entries kept for the next metric
_ROUNDING = 2e-15  # of the largest value
_ROWS = 16  # between rescalings: entries grow by less than N from row to row


def rows(size: int, degrees: int) -> Iterator[tuple[slice, Floats]]:
    """Blocks of the first half of the orthonormal polynomials over ``size`` points, (x, degree).

    The other half is the same from the other end, with the sign (-1)^degree.
    """
    j = np.arange(degrees)
    # Square of the first value: a product, whose logarithm loses less than it is long.
    steps = np.log((2 * j[1:] + 1) / (2 * j[1:] - 1) * ((size - j[1:]) / (size + j[1:])))
    first = np.cumsum(np.r_[-np.log(size), steps], dtype=np.longdouble) / np.log(np.longdouble(4))
    power = np.floor(first).astype(np.int64)  # of 2, apart: the first values are too small
    value, step = np.exp2(first - power).astype(np.float64), np.zeros(degrees)
    for start in range(0, (size + 1) // 2, _ROWS):
        block = np.empty((min(_ROWS, (size + 1) // 2 - start), degrees))
        for x, row in enumerate(block, start):
            row[:] = value
            step -= j * (j + 1.0) * value
            value = value + step / max((x + 1.0) * (size - 1 - x), 1)
        yield slice(start, start + len(block)), np.ldexp(block, power)
        by = np.where(power < 0, np.frexp(value)[1], 0)
        value, step, power = np.ldexp(value, -by), np.ldexp(step, -by), power + by


@lru_cache(maxsize=1)
def _kept(size: int, degrees: int) -> list[tuple[slice, Floats]]:
    return list(rows(size, degrees))


@lru_cache(maxsize=64)
def components(metric: Metric, n: int, position: int, degrees: int) -> Floats:
    """Component of the exact metric along each polynomial over 1..n: shape (degrees,)."""
    target = metric.of_above(np.arange(n), n - 1, position)
    folded = _folded(target)
    total = np.zeros((2, degrees))
    for some, block in rows(n, degrees):
        total += folded[:, some] @ block
    total[0, 1::2] = total[1, 1::2]
    return np.asarray(total[0])


def _folded(values: Floats) -> Floats:
    """Sum and difference of the two ends, (2, half): what even and odd polynomials meet."""
    half = (len(values) + 1) // 2
    other = values[::-1][:half].copy()
    if len(values) % 2:
        other[-1] = 0
    return np.array([values[:half] + other, values[:half] - other])


def filtered(
    metric: Metric, sampling: Sampling, position: int, gamma: float, cutoff: float
) -> tuple[Floats, int]:
    """Vector of eq. 25, or at γ = 0 of eq. 22 from singular values above ``cutoff``.

    Returns
    -------
    Shape (m + 1,), and how many components it has.
    """
    n, m = sampling.n, sampling.m
    share = eigenvalues(sampling)
    root = np.sqrt(share)
    kept = int(np.sum(root > (1e-17 * gamma or cutoff)))
    degrees = min(n, 1 << kept.bit_length())  # some more, to be shared with the next m
    gains = root[:kept] / ((1 - gamma) * share[:kept] + gamma)
    gains *= np.sqrt((m + 1) / n) * components(metric, n, position, degrees)[:kept]
    values = np.empty(m + 1)
    blocks = _kept if (m + 1) * kept <= _ROOM else rows
    for some, block in blocks(m + 1, kept):
        even, odd = block[:, ::2] @ gains[::2], block[:, 1::2] @ gains[1::2]
        values[::-1][some] = even - odd
        values[some] = even + odd
    values[np.abs(values) < _ROUNDING * np.abs(values).max()] = 0  # its sign would say something
    return values, kept
