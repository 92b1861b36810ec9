"""Parsing and printing of corrections, rank estimates, and the bias and variance of corrections."""

from fractions import Fraction
from math import comb, factorial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sampledash as sd
from sampledash.checks import LARGEST_N as N
from tests.oracles import METRICS, POPULARITY, SCHEMES, UNIFORM, WITH, WITHOUT, dense_law

MOST = [(10**12, 50), (10**12 - 1, 1000), (3 * 2**38 + 5, 10_000)]


@pytest.mark.parametrize("scheme", UNIFORM)
@pytest.mark.parametrize(("name", "k"), METRICS)
def test_rank_estimate_in_exact_arithmetic(scheme: str, name: str, k: int | None) -> None:
    # Ranks by eq. 20 of Krichene & Rendle, in integers: floats would round four ranks wrongly.
    metric = sd.metric(name, k=k)
    for n, m in ((10_000, 99), (3706, 100), (50, 7), (9, 8), *MOST):
        sampling, t = sd.Sampling(n, m, scheme), range(m + 1)
        low, rest = np.array([divmod((n - 1) * above, m) for above in t]).T
        floor, next_one = (metric(np.minimum(low + step, n), n) for step in (1, 2))
        found = sd.correction("rank-estimate").fit(metric, sampling).values
        np.testing.assert_allclose(found, floor, rtol=1e-14, atol=0)
        linear = floor + rest / m * (next_one - floor)
        found = sd.correction("rank-estimate", rounding="linear").fit(metric, sampling).values
        np.testing.assert_allclose(found, linear, rtol=1e-13, atol=0)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_uncorrected_is_the_metric_of_the_sampled_list(scheme: str) -> None:
    for text in ("AUC", "AP", "NDCG@3", "Precision@4"):
        fit = sd.correction("uncorrected").fit(text, sd.Sampling(50, 9, scheme))
        assert fit.values == pytest.approx(sd.parse_metric(text)(np.arange(1, 11), 10), rel=1e-15)
        assert (fit.note, fit.values.flags.writeable) == (None, False)


@pytest.mark.parametrize("correction", ["uncorrected", "rank estimate", "CLS", "BV 0.1", "LS"])
def test_all_negatives_drawn_need_no_correction(correction: str) -> None:
    fit = sd.parse_correction(correction).fit("AP", sd.Sampling(1200, 1199, WITHOUT))
    assert fit.values.tolist() == [1 / r for r in range(1, 1201)]
    assert not fit.variance(np.arange(1, 1201)).any()


@given(st.floats(0, 1))
def test_any_gamma_reads_back(gamma: float) -> None:
    recipe = sd.correction("bias-variance", gamma=gamma)
    assert sd.parse_correction(str(recipe)) == recipe
    assert sd.correction("BV", gamma=np.float64(gamma)) == recipe


@pytest.mark.parametrize(
    ("recipe", "text", "others"),
    [
        (sd.correction("uncorrected"), "uncorrected", ["none"]),
        (sd.correction("rank-estimate"), "rank estimate",
         ["Rank Estimate", "rank-estimate (floor)", "RE"]),
        (sd.correction("rank-estimate", rounding="linear"), "rank estimate (linear)", []),
        (sd.correction("LS"), "LS", ["least squares"]),
        (sd.correction("CLS"), "CLS", ["monotone"]),
        (sd.correction("monotone", nonnegative=False), "CLS (any sign)", []),
        (sd.correction("BV"), "BV 0.1", ["bias-variance 0.1", "BV"]),
        (sd.correction("BV", gamma=1e-6), "BV 1e-06", ["bv γ = 0.000001"]),
    ],
)  # fmt: skip
def test_text_reads_back(recipe: sd.Correction, text: str, others: list[str]) -> None:
    assert str(recipe) == text
    for each in (text, *others):
        assert sd.parse_correction(each) == recipe
        assert hash(sd.parse_correction(each)) == hash(recipe)


def test_prior_weights_of_any_size_are_normalised_and_copied() -> None:
    prior = np.array([1.0, 2.0, 3.0, 2.0])
    recipe = sd.correction("BV", prior=prior)
    assert recipe == sd.correction("BV", prior=prior * 7) != sd.correction("BV")
    prior[0] = 100
    assert recipe.prior == pytest.approx(np.array([1, 2, 3, 2]) / 8)
    with pytest.raises(ValueError, match="read-only"):
        recipe.prior[0] = 1
    for each in (1e308, 1.0, 5e-324):
        assert np.array_equal(sd.correction("BV", prior=[each] * 10).prior, np.full(10, 0.1))
    steep = sd.correction("BV", prior=[1e308, 1e308, 5e307]).prior
    np.testing.assert_allclose(steep, [0.4, 0.4, 0.2], rtol=1e-15)


def summed(fit: sd.Fit, law: np.ndarray, prior: np.ndarray | None = None) -> tuple[float, float]:
    n = fit.sampling.n
    weights = np.full(n, 1 / n) if prior is None else prior / prior.sum()
    mean = law @ fit.values
    spread = (law * (fit.values - mean[:, None]) ** 2).sum(axis=1)
    bias = mean - fit.metric(np.arange(1, n + 1), n)
    return float(weights @ bias**2), float(weights @ spread)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_risk_is_the_average_over_every_rank_with_few_nodes(scheme: str) -> None:
    sampling = sd.Sampling(5_000, 40, scheme, 2.0 if scheme == POPULARITY else 1.0)
    law = dense_law(5_000, 40, scheme, sampling.odds)
    for text in ("Recall@10", "Precision@7", "NDCG@10", "AP", "AUC"):
        for recipe in ("uncorrected", "rank estimate", "CLS", "BV 0.1", "BV 0.001"):
            fit = sd.parse_correction(recipe).fit(text, sampling)
            assert fit.risk() == pytest.approx(summed(fit, law), rel=1e-9, abs=1e-15)


#: Large m, where distributions change abruptly with the true rank.
LARGE = (1501, 1000), (1501, 1300), (1501, 1490), (1501, 1499), (3541, 300), (3541, 2000)


def test_risk_of_large_samples_and_with_a_prior() -> None:
    for n, m in LARGE:
        law, sampling = dense_law(n, m, WITHOUT), sd.Sampling(n, m, WITHOUT)
        for text, recipe in (("NDCG", "BV 0.1"), ("AUC", "BV 1"), ("Recall@10", "uncorrected")):
            fit = sd.parse_correction(recipe).fit(text, sampling)
            assert fit.risk() == pytest.approx(summed(fit, law), rel=1e-9, abs=1e-15)
    prior, law = 1.0 / np.arange(1, 301), dense_law(300, 20, WITH)
    recipes = (sd.correction("BV", prior=p) for p in (prior, None))
    own, uniform = (recipe.fit("NDCG", sd.Sampling(300, 20, WITH)) for recipe in recipes)
    assert own.risk() == pytest.approx(summed(own, law, prior), rel=1e-12)
    assert uniform.risk(prior) == pytest.approx(summed(uniform, law, prior), rel=1e-12)
    assert own.risk() != pytest.approx(uniform.risk(), rel=0.1)


M = 50


def beta(a: int, b: int) -> Fraction:
    return Fraction(factorial(a - 1) * factorial(b - 1), factorial(a + b - 1))


def limit() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (gram, moment, marginal) of eq. 25 for Recall@(n/4), divided by n, at n = infinity."""
    counts, q = range(M + 1), Fraction(1, 4)
    betas = [[beta(s + t + 1, 2 * M - s - t + 1) for t in counts] for s in counts]
    ways = np.array([comb(M, s) for s in counts], dtype=object)
    gram = np.outer(ways, ways) * betas
    law = [comb(M + 1, i) * q**i * (1 - q) ** (M + 1 - i) for i in range(M + 2)]
    moment = [sum(law[s + 1 :]) / (M + 1) for s in counts]
    return gram.astype(float), np.array(moment, float), np.full(M + 1, 1 / (M + 1))


RECALL = sd.metric("recall", k=N // 4)


@pytest.mark.parametrize("scheme", UNIFORM)
def test_the_largest_n_is_like_its_limit(scheme: str) -> None:
    (gram, moment, marginal), sampling = limit(), sd.Sampling(N, M, scheme)
    expected = np.linalg.solve(0.9 * gram + 0.1 * np.diag(marginal), moment)
    found = sd.correction("BV", gamma=0.1).fit(RECALL, sampling).values
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)
    # The conditions of Karush, Kuhn and Tucker: see ``kkt_residual`` in test_bias_variance.
    values = sd.correction("CLS").fit(RECALL, sampling).values
    along_steps = np.cumsum(gram @ values - moment)
    steps = np.append(values[:-1] - values[1:], values[-1])
    assert steps.min() >= 0
    assert along_steps.min() >= -1e-10
    assert np.abs(along_steps[steps > 1e-9]).max() <= 1e-10
    # At γ = 1, by eq. 26, the entry for s items above is the mean of 1/r given s: with beta
    # functions B, B(s, m-s+1) / (n B(s+1, m-s+1)), or if s = 0, (m + 1)(ln n + 0.577 - sum of 1/i
    # to m) / n.
    values = sd.correction("BV", gamma=1).fit("AP", sampling).values
    s = np.arange(1, M + 1)
    np.testing.assert_allclose(values[1:], (M + 1) / (s * N), rtol=1e-8)
    harmonic = sum(1 / i for i in range(1, M + 1))
    first = (M + 1) * (np.log(N) + 0.5772156649015329 - harmonic) / N
    assert values[0] == pytest.approx(first, rel=1e-9)
