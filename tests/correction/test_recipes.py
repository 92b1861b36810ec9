"""Corrections as data, and their vectors against the dense matrix of eq. 21-26."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sampledash as sd
from tests.oracles import (
    METRICS,
    POPULARITY,
    SCHEMES,
    UNIFORM,
    WITH,
    dense_bias_variance,
    dense_law,
    dense_target,
    exact_law,
    item_scale,
)


@pytest.mark.parametrize("scheme", SCHEMES)
@given(data=st.data())
def test_bias_variance_is_equation_25(scheme: str, data: st.DataObject) -> None:
    n = data.draw(st.integers(3, 40))
    m = data.draw(st.integers(1, min(n - 1, 12)))
    odds = data.draw(st.sampled_from([0.5, 3.0])) if scheme == POPULARITY else 1.0
    gamma = data.draw(st.sampled_from([1.0, 0.5, 0.1, 0.01, 0.001]))
    name, k = data.draw(st.sampled_from(METRICS))
    prior = data.draw(st.none() | st.lists(st.sampled_from([0.5, 1, 3]), min_size=n, max_size=n))
    fit = sd.correction("bias-variance", gamma=gamma, prior=prior).fit(
        sd.metric(name, k=k), sd.Sampling(n, m, scheme, odds)
    )
    law = dense_law(n, m, scheme, odds)
    dense = dense_bias_variance(law, dense_target(name, k, n), gamma, prior) * item_scale(
        name, k, 1
    )
    np.testing.assert_allclose(fit.values, dense, rtol=0, atol=1e-11 / gamma * np.abs(dense).max())
    spread = np.einsum("rs,rs->r", law, (dense - (law @ dense)[:, None]) ** 2)
    rank = np.arange(1, n + 1)
    np.testing.assert_allclose(fit.expected(rank), law @ dense, rtol=0, atol=1e-10 / gamma)
    np.testing.assert_allclose(fit.variance(rank), spread, rtol=0, atol=1e-9 / gamma)
    assert np.array_equal(fit(np.arange(1, m + 2)), fit.values)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("name", "k"), METRICS)
def test_gamma_one_is_the_posterior_mean(scheme: str, name: str, k: int | None) -> None:
    n, m, odds = 30, 6, 2.0 if scheme == POPULARITY else 1.0
    prior = [Fraction(i % 4) for i in range(1, n + 1)]
    for weights in ([Fraction(1)] * n, prior):
        laws = [exact_law(n, r, m, scheme, Fraction(odds)) for r in range(1, n + 1)]
        metric, sampling = sd.metric(name, k=k), sd.Sampling(n, m, scheme, odds)
        exact = metric(np.arange(1, n + 1), n)
        given_ = None if weights is not prior else [float(w) for w in prior]
        values = sd.correction("BV", gamma=1, prior=given_).fit(metric, sampling).values
        for t in range(m + 1):
            joint = [w * law[t] for w, law in zip(weights, laws, strict=True)]
            bayes = sum(float(p / sum(joint)) * v for p, v in zip(joint, exact, strict=True))
            assert values[t] == pytest.approx(bayes, abs=1e-14)
            posterior = sd.posterior(t + 1, sampling, given_)
            assert posterior @ exact == pytest.approx(bayes, abs=1e-13)


@pytest.mark.parametrize("scheme", UNIFORM)
@pytest.mark.parametrize(("name", "k"), METRICS)
def test_rank_estimate_in_exact_arithmetic(scheme: str, name: str, k: int | None) -> None:
    # Eq. 20; in floats four ranks are wrong at n = 10,000, m = 99.
    metric = sd.metric(name, k=k)
    for n, m in ((10_000, 99), (3706, 100), (50, 7), (9, 8)):
        sampling = sd.Sampling(n, m, scheme)
        exact = metric(np.arange(1, n + 1), n)
        estimate = [1 + Fraction((n - 1) * t, m) for t in range(m + 1)]
        floor = [exact[int(r) - 1] for r in estimate]
        assert sd.correction("rank-estimate").fit(metric, sampling).values == pytest.approx(
            floor, rel=1e-14
        )
        linear = [
            exact[int(r) - 1] + float(r - int(r)) * (exact[min(int(r), n - 1)] - exact[int(r) - 1])
            for r in estimate
        ]
        fit = sd.correction("rank-estimate", rounding="linear").fit(metric, sampling)
        assert fit.values == pytest.approx(linear, rel=1e-13, abs=1e-16)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_uncorrected_is_the_metric_of_the_sampled_list(scheme: str) -> None:
    s = sd.Sampling(50, 9, scheme)
    for text in ("AUC", "AP", "NDCG@3", "Precision@4"):
        fit = sd.correction("uncorrected").fit(text, s)
        assert fit.values == pytest.approx(sd.parse_metric(text)(np.arange(1, 11), 10), rel=1e-15)
        assert fit.note is None


@pytest.mark.parametrize("scheme", UNIFORM)
def test_least_squares_attains_the_least_squares(scheme: str) -> None:
    n, m = 60, 6  # small enough for the exact solution
    for text in ("AP", "NDCG@5", "Recall@10"):
        metric, law = sd.parse_metric(text), dense_law(n, m, scheme)
        target = metric(np.arange(1, n + 1), n)
        best, *_ = np.linalg.lstsq(law, target, rcond=None)
        values = sd.correction("LS").fit(metric, sd.Sampling(n, m, scheme)).values
        assert values == pytest.approx(best, rel=1e-7, abs=1e-8)
        assert np.sum((law @ values - target) ** 2) <= np.sum((law @ best - target) ** 2) + 1e-12
    assert sd.correction("LS").fit("AUC", sd.Sampling(n, m, scheme)).values == pytest.approx(
        1 - np.arange(m + 1) / m, abs=1e-12
    )


def test_least_squares_warns_of_what_it_costs() -> None:
    fit = sd.correction("LS").fit("AP", sd.Sampling(10_000, 100))
    assert "ill-conditioned" in str(fit.note)
    assert sd.correction("BV").fit("AP", sd.Sampling(10_000, 100)).note is None
    zero = sd.correction("BV", gamma=0).fit("AP", sd.Sampling(50, 4)).values
    assert zero == pytest.approx(
        sd.correction("LS").fit("AP", sd.Sampling(50, 4)).values, rel=1e-12
    )


def test_values_are_read_only() -> None:
    for recipe in ("uncorrected", "BV 0.1", "CLS", "LS", "rank estimate"):
        fit = sd.parse_correction(recipe).fit("AP", sd.Sampling(50, 9))
        assert fit.values.shape == (10,)
        with pytest.raises(ValueError, match="read-only"):
            fit.values[0] = 1
        again = sd.parse_correction(recipe).fit("AP", sd.Sampling(50, 9))
        assert np.array_equal(fit.values, again.values)


@given(st.floats(0, 1))
def test_any_gamma_reads_back(gamma: float) -> None:
    recipe = sd.correction("bias-variance", gamma=gamma)
    assert sd.parse_correction(str(recipe)) == recipe
    assert sd.correction("BV", gamma=np.float64(gamma)) == recipe


@pytest.mark.parametrize(
    ("recipe", "text"),
    [
        (sd.correction("uncorrected"), "uncorrected"),
        (sd.correction("rank-estimate"), "rank estimate"),
        (sd.correction("rank-estimate", rounding="linear"), "rank estimate (linear)"),
        (sd.correction("LS"), "LS"),
        (sd.correction("CLS"), "CLS"),
        (sd.correction("monotone", nonnegative=False), "CLS (any sign)"),
        (sd.correction("BV"), "BV 0.1"),
        (sd.correction("BV", gamma=1), "BV 1"),
        (sd.correction("BV", gamma=1e-6), "BV 1e-06"),
    ],
)
def test_text_reads_back(recipe: sd.Correction, text: str) -> None:
    assert str(recipe) == text
    assert sd.parse_correction(text) == recipe
    assert hash(sd.parse_correction(text)) == hash(recipe)


@pytest.mark.parametrize(
    ("text", "same"),
    [("bias-variance 0.1", "BV 0.1"), ("BV", "BV 0.1"), ("bv γ = 0.01", "BV 0.01"),
     ("monotone", "CLS"),
     ("least squares", "LS"), ("none", "uncorrected"), ("Rank Estimate", "rank estimate"),
     ("rank-estimate (floor)", "rank estimate"), ("RE", "rank estimate")],
)  # fmt: skip
def test_other_spellings(text: str, same: str) -> None:
    assert sd.parse_correction(text) == sd.parse_correction(same)


@pytest.mark.parametrize("gamma", [-0.1, 1.1, float("nan"), float("inf"), "x"])
def test_gamma_out_of_range(gamma: object) -> None:
    with pytest.raises(ValueError, match=r"^gamma must be .*got"):
        sd.correction("bias-variance", gamma=gamma)


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("magic", {}, "correction must be one of .*got 'magic'"),
        ("CLS", {"gamma": 0.1}, "gamma = 0.1 applies to 'bias-variance'"),
        ("BV", {"rounding": "linear"}, "rounding applies to 'rank-estimate'"),
        ("rank-estimate", {"rounding": "up"}, "rounding must be one of .*got 'up'"),
        ("BV", {"nonnegative": False}, "nonnegative applies to 'monotone'"),
        ("uncorrected", {"prior": [1, 2]}, "prior has no effect on 'uncorrected'"),
        ("BV", {"prior": [1, -2]}, "prior of rank 2 is -2"),
        ("BV", {"prior": [0, 0]}, "prior is zero"),
        ("BV", {"prior": [1, float("nan")]}, "prior of rank 2 is nan"),
        ("BV", {"prior": "flat"}, "prior"),
    ],
)
def test_wrong_options(name: str, options: dict[str, object], sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        sd.correction(name, **options)


@pytest.mark.parametrize("name", ["BV", "CLS", "LS"])
def test_prior_of_another_length(name: str) -> None:
    recipe = sd.correction(name, prior=[1, 2, 3])
    with pytest.raises(ValueError, match=r"prior has shape \(3,\)"):
        recipe.fit("AP", sd.Sampling(10, 4))


def test_prior_that_leaves_a_sampled_rank_impossible() -> None:
    # Only ranks 1 and 10 of 10: with 4 draws one sees sampled rank 1 or 5, never 2, 3 or 4.
    prior = np.zeros(10)
    prior[[0, 9]] = 1
    with pytest.raises(ValueError, match=r"prior gives sampled rank [234] no probability"):
        sd.correction("BV", prior=prior).fit("AP", sd.Sampling(10, 4))


def test_prior_with_zeros_does_not_see_those_ranks() -> None:
    n, m = 40, 5
    prior = np.arange(n) % 3 == 0
    for scheme in UNIFORM:
        law, target = dense_law(n, m, scheme), dense_target("ndcg", None, n)
        fit = sd.correction("BV", gamma=0.05, prior=prior).fit("NDCG", sd.Sampling(n, m, scheme))
        few = dense_bias_variance(law[prior], target[prior], 0.05, None)
        assert fit.values == pytest.approx(few, rel=1e-10)


def test_prior_weights_are_normalised_and_copied() -> None:
    prior = np.array([1.0, 2.0, 3.0, 2.0])
    recipe = sd.correction("BV", prior=prior)
    assert recipe == sd.correction("BV", prior=prior * 7)
    assert recipe != sd.correction("BV")
    prior[0] = 100
    assert recipe.prior is not None
    assert recipe.prior == pytest.approx(np.array([1, 2, 3, 2]) / 8)
    with pytest.raises(ValueError, match="read-only"):
        recipe.prior[0] = 1


@pytest.mark.parametrize("t", [0, 11, 1.5, "a", float("nan")])
def test_wrong_sampled_rank(t: object) -> None:
    fit = sd.correction("BV").fit("AP", sd.Sampling(50, 9))
    with pytest.raises(ValueError, match=r"^sampled_rank must be"):
        fit(t)


@pytest.mark.parametrize("rank", [0, 51, 1.5, "a"])
def test_wrong_rank(rank: object) -> None:
    fit = sd.correction("BV").fit("AP", sd.Sampling(50, 9))
    for call in (fit.expected, fit.variance):
        with pytest.raises(ValueError, match=r"^rank "):
            call(rank)


def test_more_draws_than_candidates_with_replacement() -> None:
    # n = 3: only ranks 1, 2, 3; any sampled rank can still come from rank 2.
    law = dense_law(3, 10, WITH)
    dense = dense_bias_variance(law, dense_target("ap", None, 3), 0.1, None)
    fit = sd.correction("BV").fit("AP", sd.Sampling(3, 10))
    assert fit.values == pytest.approx(dense, rel=1e-9)


def test_prior_weights_of_any_size() -> None:
    for each in (1e308, 1.0, 5e-324):
        assert np.array_equal(sd.correction("BV", prior=[each] * 10).prior, np.full(10, 0.1))
    steep = sd.correction("BV", prior=[1e308, 1e308, 5e307]).prior
    np.testing.assert_allclose(steep, [0.4, 0.4, 0.2], rtol=1e-15)
