"""``eigenvalues``, ``retained`` and ``resolution``, against dense matrices and fitted vectors."""

from fractions import Fraction
from math import factorial, sqrt

import numpy as np
import pytest

import sampledash as sd
from tests.oracles import UNIFORM, WITH, WITHOUT, dense_law


def chebyshev(n: int, degree: int) -> np.ndarray:
    """Return orthonormal polynomials of degree 0..degree on 1..n, shape (n, degree+1)."""
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
    # scaled.T @ scaled has the non-zero eigenvalues of the larger (n, n) matrix scaled @ scaled.T.
    ours, law = sd.eigenvalues(sd.Sampling(n, m, scheme)), dense_law(n, m, scheme)
    scaled = law / np.sqrt(law.sum(axis=0))
    dense = np.linalg.eigvalsh(scaled.T @ scaled)[::-1]
    np.testing.assert_allclose(ours, dense, rtol=0, atol=1e-9)
    assert np.all(np.diff(ours) <= 1e-14)


def test_closed_form_in_exact_arithmetic() -> None:
    # Eigenvalue j is L(m, j) / L(n-1, j) with L(m, j) = m! (m+1)! / ((m-j)! (m+j+1)!).
    def big(m: int, j: int) -> Fraction:
        return Fraction(factorial(m) * factorial(m + 1), factorial(m - j) * factorial(m + j + 1))

    exact = [float(big(40, j) / big(299, j)) for j in range(41)]
    np.testing.assert_allclose(sd.eigenvalues(sd.Sampling(300, 40, WITHOUT)), exact, rtol=1e-12)
    one, other = (sd.eigenvalues(sd.Sampling(10**9, 200, scheme)) for scheme in UNIFORM)
    np.testing.assert_allclose(one, other, atol=1e-6)


@pytest.mark.parametrize("gamma", [1.0, 0.1, 0.001])
def test_what_a_fitted_vector_keeps(gamma: float) -> None:
    # The expected corrected metric has ``retained`` times the metric's polynomial coefficients.
    n, m = 400, 20
    sampling, p, rank = sd.Sampling(n, m, WITHOUT), chebyshev(n, m), np.arange(1, n + 1)
    for text in ("AP", "Recall@10", "NDCG@10"):
        found = sd.correction("BV", gamma=gamma).fit(text, sampling).expected(rank)
        kept = sd.retained(sampling, gamma) * (p.T @ sd.parse_metric(text)(rank, n))
        np.testing.assert_allclose(found, p @ kept, atol=1e-9)  # degrees above m vanish


def test_retained_at_the_ends_of_gamma() -> None:
    s = sd.Sampling(1000, 30)
    assert np.array_equal(sd.retained(s, 0), np.ones(31))
    np.testing.assert_allclose(sd.retained(s, 1), sd.eigenvalues(s))
    at = [sd.retained(s, g) for g in (1, 0.1, 0.01)]
    assert np.all(np.diff(at, axis=0) >= -1e-12)
    assert np.all((np.array(at) >= 0) & (np.array(at) <= 1))
    # However small the last eigenvalues, all 101 components are retained at γ = 0.
    assert np.array_equal(sd.retained(sd.Sampling(500, 100), 0), np.ones(101))


@pytest.mark.parametrize("scheme", UNIFORM)
@pytest.mark.parametrize("gamma", [1.0, 0.1, 0.01, 1e-4])
def test_resolution_is_where_half_is_kept(scheme: str, gamma: float) -> None:
    n, s = 3706, sd.Sampling(3706, 100, scheme)
    found, kept = sd.resolution(s, gamma), sd.retained(s, gamma)
    assert kept[found.degree] >= 0.5
    assert found.degree == 100 or kept[found.degree + 1] < 0.5
    # Rule of thumb: the last degree that is half retained is about sqrt(m ln(1/gamma)).
    assert gamma == 1 or abs(found.degree - sqrt(100 * np.log(1 / gamma))) <= 1.5
    p = chebyshev(n, found.degree)[:, found.degree]
    # The polynomial's sign first changes between the ranks ``change`` + 1 and ``change`` + 2.
    change = int(np.argmax(np.sign(p[1:]) != np.sign(p[:-1])))
    assert change + 1 <= found.width <= change + 2 or found.degree == 0
    assert found.blind > found.width or found.degree == 0


def test_the_blind_spot_shows_two_distributions_that_agree() -> None:
    # ``places`` are the nodes of the Gauss rule for sums over 1..n: eigenvalues of a Jacobi matrix.
    n, m = 1000, 100
    found = sd.resolution(sd.Sampling(n, m, WITHOUT), 0.1)
    nodes = found.degree // 2 + 1
    scaled = (2 * np.arange(1.0, n + 1) - n - 1) / (n - 1)
    p = chebyshev(n, nodes)
    jacobi = np.diag([p[:, i] @ (scaled * p[:, i + 1]) for i in range(nodes - 1)], 1)
    places, vectors = np.linalg.eigh(jacobi + jacobi.T)
    # Uniform ranks and ranks at ``places`` have equal means of each polynomial of retained degree.
    for j in range(found.degree + 1):
        legendre = np.polynomial.Legendre.basis(j)
        same = pytest.approx(legendre(scaled).mean(), abs=1e-10)
        assert vectors[0] ** 2 @ legendre(places) == same
    assert (places[0] * (n - 1) + n + 1) / 2 == pytest.approx(found.blind, rel=1e-9)
    assert found.blind > 20  # a distribution may have no mass on the first 20 ranks, unnoticed


@pytest.mark.parametrize(("n", "m"), [(3, 6), (2, 5), (7, 7), (5, 40)])
def test_there_are_no_degrees_from_n_on(n: int, m: int) -> None:
    # The matrix of sampled rank distributions has n rows and full rank: n eigenvalues above 0.
    sampling = sd.Sampling(n, m, WITH)
    assert np.all(sd.eigenvalues(sampling)[:n] > 1e-12)
    for beyond in (sd.eigenvalues(sampling), sd.retained(sampling, 0), sd.retained(sampling, 0.1)):
        assert beyond[n:].tolist() == [0] * (m + 1 - n)
    assert sd.retained(sampling, 0)[:n].tolist() == [1.0] * n
    assert 0 <= sd.resolution(sampling, 1.0).degree < n
