"""Eigenvalues against the dense matrix, the filter against fitted vectors, and the blind spot."""

from __future__ import annotations

from fractions import Fraction
from math import factorial, sqrt

import numpy as np
import pytest

import sampledash as sd
from sampledash import spectral
from tests.oracles import UNIFORM, WITHOUT, dense_law

J0 = 2.404825557695773  # first zero of the Bessel function J_0


def dense_kernel(n: int, m: int, scheme: str) -> np.ndarray:
    """S'S of shape (m+1, m+1) from every rank: same eigenvalues as the n by n matrix K."""
    law = dense_law(n, m, scheme)
    scaled = law / np.sqrt(law.sum(axis=0))
    return scaled.T @ scaled


def chebyshev(n: int, degree: int) -> np.ndarray:
    """Orthonormal polynomials of degree 0..degree on 1..n by Gram-Schmidt: shape (n, degree+1)."""
    x = np.linspace(-1, 1, n)
    found = [np.full(n, 1 / sqrt(n))]
    for _ in range(degree):
        new = x * found[-1]
        for _ in range(2):
            for old in found:
                new = new - (old @ new) * old
        found.append(new / np.linalg.norm(new))
    return np.array(found).T


@pytest.mark.parametrize("scheme", UNIFORM)
@pytest.mark.parametrize(("n", "m"), [(3706, 200), (3706, 100), (1000, 7), (60, 59), (12, 4)])
def test_eigenvalues_of_the_dense_matrix(n: int, m: int, scheme: str) -> None:
    ours = spectral.eigenvalues(sd.Sampling(n, m, scheme))
    dense = np.linalg.eigvalsh(dense_kernel(n, m, scheme))[::-1]
    np.testing.assert_allclose(ours, dense, rtol=0, atol=1e-9)
    assert np.all(np.diff(ours) <= 1e-14)


def test_closed_form_in_exact_arithmetic() -> None:
    # L(m, j) / L(n-1, j) with L(m, j) = m! (m+1)! / ((m-j)! (m+j+1)!).
    def big(m: int, j: int) -> Fraction:
        return Fraction(factorial(m) * factorial(m + 1), factorial(m - j) * factorial(m + j + 1))

    n, m = 300, 40
    exact = [float(big(m, j) / big(n - 1, j)) for j in range(m + 1)]
    ours = spectral.eigenvalues(sd.Sampling(n, m, WITHOUT))
    np.testing.assert_allclose(ours, exact, rtol=1e-12)


def test_polynomials_are_the_eigenvectors_without_replacement() -> None:
    n, m = 200, 12
    law = dense_law(n, m, WITHOUT)
    values = spectral.eigenvalues(sd.Sampling(n, m, WITHOUT))
    p = chebyshev(n, m)
    np.testing.assert_allclose((m + 1) / n * law @ (law.T @ p), p * values, atol=1e-11)


@pytest.mark.parametrize("gamma", [1.0, 0.1, 0.001])
def test_what_a_fitted_vector_keeps(gamma: float) -> None:
    # The expected corrected metric, component by component.
    n, m = 400, 20
    sampling = sd.Sampling(n, m, WITHOUT)
    p = chebyshev(n, m)
    kept = spectral.retained(sampling, gamma)
    rank = np.arange(1, n + 1)
    for text in ("AP", "Recall@10", "NDCG@10"):
        fit = sd.correction("BV", gamma=gamma).fit(text, sampling)
        ours, exact = p.T @ fit.expected(rank), p.T @ sd.parse_metric(text)(rank, n)
        np.testing.assert_allclose(ours, kept * exact, atol=1e-9)
        # Nothing beyond degree m.
        rest = fit.expected(rank) - p @ ours
        assert np.abs(rest).max() <= 1e-9


def test_retained_at_the_ends_of_gamma() -> None:
    s = sd.Sampling(1000, 30)
    assert np.array_equal(spectral.retained(s, 0), np.ones(31))
    np.testing.assert_allclose(spectral.retained(s, 1), spectral.eigenvalues(s))
    at = [spectral.retained(s, g) for g in (1, 0.1, 0.01)]
    assert np.all(np.diff(at, axis=0) >= -1e-12)
    assert np.all((np.array(at) >= 0) & (np.array(at) <= 1))


def test_the_end_of_what_is_seen() -> None:
    # The design's rule of thumb: what a sample can see ends near degree sqrt(m ln(1/gamma)).
    for m in (50, 100, 1000):
        for gamma in (0.1, 0.01, 0.001):
            d = spectral.resolution(sd.Sampling(10**6, m), gamma).degree
            assert abs(d - sqrt(m * np.log(1 / gamma))) <= 1.5


@pytest.mark.parametrize("degree", [1, 5, 21, 60])
def test_first_zero(degree: int) -> None:
    n = 3706
    p = chebyshev(n, degree)[:, degree]
    change = int(np.argmax(np.sign(p[1:]) != np.sign(p[:-1])))  # ranks change + 1, change + 2
    zero = spectral.first_zero(n, degree)
    assert change + 1 <= zero <= change + 2
    if degree >= 5:  # as of a Legendre polynomial, whose first zero is near a Bessel function's
        assert zero == pytest.approx(0.5 + n * np.sin(J0 / (2 * degree + 1)) ** 2, rel=0.03)


@pytest.mark.parametrize("scheme", UNIFORM)
def test_resolution_is_where_half_is_kept(scheme: str) -> None:
    s = sd.Sampling(3706, 100, scheme)
    for gamma in (1.0, 0.1, 0.01, 1e-4):
        found = spectral.resolution(s, gamma)
        kept = spectral.retained(s, gamma)
        assert kept[found.degree] >= 0.5
        assert found.degree == 100 or kept[found.degree + 1] < 0.5
        assert found.width == pytest.approx(spectral.first_zero(3706, found.degree))
        assert found.blind > found.width


def test_the_blind_spot_shows_two_distributions_that_agree() -> None:
    # Gauss rule for sums over 1..n: nodes and weights from the polynomials, not from the code.
    n, m = 1000, 100
    found = spectral.resolution(sd.Sampling(n, m, WITHOUT), 0.1)
    nodes = found.degree // 2 + 1
    x = np.arange(1, n + 1, dtype=float)
    scaled = (2 * x - n - 1) / (n - 1)
    p = chebyshev(n, nodes)
    k = np.arange(1, nodes)
    jacobi = np.diag([p[:, i] @ (scaled * p[:, i + 1]) for i in k - 1], 1)
    places, vectors = np.linalg.eigh(jacobi + jacobi.T)
    weights = vectors[0] ** 2
    # The same mean of every component up to the degree that is mostly kept.
    for j in range(found.degree + 1):
        legendre = np.polynomial.Legendre.basis(j)
        assert weights @ legendre(places) == pytest.approx(legendre(scaled).mean(), abs=1e-10)
    first = (places[0] * (n - 1) + n + 1) / 2
    assert first == pytest.approx(found.blind, rel=1e-9)
    assert found.blind > 20  # of 1,000 ranks, with 100 negatives


def test_large_populations_and_small_ones() -> None:
    big = spectral.eigenvalues(sd.Sampling(10**9, 200))
    closed = spectral.eigenvalues(sd.Sampling(10**9, 200, WITHOUT))
    np.testing.assert_allclose(big, closed, atol=1e-6)  # the schemes agree in the limit
    assert spectral.eigenvalues(sd.Sampling(3, 5)).shape == (6,)
    assert np.sum(spectral.eigenvalues(sd.Sampling(3, 5)) > 1e-9) == 3
    everything = spectral.resolution(sd.Sampling(2, 1), 1.0)
    assert everything.degree >= 0


def test_refusals() -> None:
    for call, words in [
        (lambda: spectral.retained(sd.Sampling(50, 5, "popularity", 2.0), 0.1), "popularity"),
        (lambda: spectral.retained(sd.Sampling(50, 5), 1.5), "gamma must be at least 0"),
        (lambda: spectral.resolution(sd.Sampling(50, 5), 0), "gamma must be above 0"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()


@pytest.mark.parametrize(("n", "m"), [(3, 6), (2, 5), (7, 7), (5, 40)])
def test_there_are_no_degrees_from_n_on(n: int, m: int) -> None:
    # The law is a matrix of n rows, of full rank: n eigenvalues above 0.
    values = sd.eigenvalues(sd.Sampling(n, m))
    assert np.all(values[:n] > 1e-12)
    assert np.array_equal(values[n:], np.zeros(m + 1 - n))
    assert sd.retained(sd.Sampling(n, m), 0).tolist() == [1.0] * n + [0.0] * (m + 1 - n)
    assert not sd.retained(sd.Sampling(n, m), 0.1)[n:].any()


def test_what_rounds_to_nothing_is_kept_by_no_gamma() -> None:
    # A law of 101 sampled ranks has rank 101, however small the last eigenvalues.
    assert np.array_equal(sd.retained(sd.Sampling(500, 100), 0), np.ones(101))
