"""Learned vectors against their definition; bias and variance against gamma, over every rank."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import sampledash as sd
from sampledash.estimation import fit_learned, fitted, gamma_table
from sampledash.sampledranks import SampledRankSet
from tests.estimation.cases import beta_drawn
from tests.oracles import METRICS, UNIFORM, WITH, WITHOUT, dense_law, item_scale


@pytest.mark.parametrize("scheme", UNIFORM)
@pytest.mark.parametrize("method", ["bv-mle", "bv-mes", "bv-monotone-mle"])
def test_learned_prior_is_that_of_the_correction(method: str, scheme: str) -> None:
    srs = beta_drawn(400, 15, scheme, 900, seed=6)
    prior = sd.rank_distribution(srs, method.removeprefix("bv-"))
    for name, k in METRICS:
        for gamma in (None, 0.1):
            fit = fit_learned(method, sd.metric(name, k=k), srs, gamma=gamma)
            used = 0.01 if gamma is None else gamma
            recipe = sd.correction("BV", gamma=used, prior=prior)
            again = recipe.fit(sd.metric(name, k=k), sd.Sampling(400, 15, scheme))
            close = 1e-9 * np.abs(again.values).max()
            np.testing.assert_allclose(fit.values, again.values, atol=close, rtol=0)
            assert fit.correction == again.correction
            assert fit.method == method
            assert fit.risk() == pytest.approx(again.risk(), rel=1e-6)
            assert not fit.values.flags.writeable


@pytest.mark.parametrize("scheme", UNIFORM)
def test_mn_is_the_printed_matrix(scheme: str) -> None:
    n, m, size = 400, 15, 900
    srs = beta_drawn(n, m, scheme, size, seed=6)
    pi, law = sd.rank_distribution(srs), dense_law(n, m, scheme)
    d = law * pi[:, None]
    left = law.T @ d - law.T @ law / size + np.diag(law.sum(axis=0)) / size
    rank = np.arange(1, n + 1)
    for name, k in METRICS:
        target = sd.metric(name, k=k)(rank, n)
        printed = np.linalg.solve(left, d.T @ target)
        fit = fit_learned("mn", sd.metric(name, k=k), srs)
        np.testing.assert_allclose(fit.values, printed, rtol=0, atol=1e-8 * np.abs(printed).max())
        assert item_scale(name, k, 1) > 0


def test_mn_minimises_what_it_says() -> None:
    n, m, size = 400, 15, 900
    srs = beta_drawn(400, 15, size=900, seed=6)
    pi, law = sd.rank_distribution(srs), dense_law(n, m, WITH)
    target = sd.parse_metric("AP")(np.arange(1, n + 1), n)

    def loss(values: np.ndarray) -> float:
        mean = law @ values
        variance = (law * (values - mean[:, None]) ** 2).sum(axis=1)
        return float(pi @ (mean - target) ** 2 + variance.sum() / size)

    values = fit_learned("mn", "AP", srs).values
    rng = np.random.default_rng(0)
    for _ in range(100):
        assert loss(values) <= loss(values + rng.normal(size=m + 1) * 10 ** rng.uniform(-5, -1))


def test_one_vector_for_all_is_learned_from_all() -> None:
    a, b = beta_drawn(400, 15, size=900, seed=6), SampledRankSet("T", [1, 1, 4, 16], 400, 15)
    prior = sd.rank_distribution([a, b], "monotone-mle")
    fit = fit_learned("bv-monotone-mle", "NDCG@10", [a, b])
    again = sd.correction("BV", gamma=0.1, prior=prior).fit("NDCG@10", sd.Sampling(400, 15))
    np.testing.assert_allclose(fit.values, again.values, atol=1e-10, rtol=0)


def test_any_n_and_a_cutoff_between_the_nodes() -> None:
    # Panels against every rank: the values of the correction itself, which sums over all ranks.
    n, m = 9_000, 30
    srs = beta_drawn(n, m, WITHOUT, 900, seed=6)
    prior = sd.rank_distribution(srs, "mle")
    for text in ("Recall@700", "NDCG@2500", "AP"):
        fit = fit_learned("bv-mle", text, srs, gamma=0.1)
        again = sd.correction("BV", gamma=0.1, prior=prior).fit(text, sd.Sampling(n, m, WITHOUT))
        np.testing.assert_allclose(
            fit.values, again.values, rtol=0, atol=1e-9 * np.abs(again.values).max()
        )


def test_several_numbers_of_negatives() -> None:
    srs = SampledRankSet("S", [1, 2, 3, 1, 4, 9], 100, [5, 5, 5, 20, 20, 20])
    assert srs.outcomes.m == (5, 20)
    assert fit_learned("bv-mle", "AP", srs, m=20).values.shape == (21,)


def test_all_items_drawn_leave_nothing_to_estimate() -> None:
    # No noise at all: the equations of MN have many solutions.
    for rank in (1, 2, 3):
        srs = SampledRankSet("A", [rank], 3, 2, scheme=WITHOUT)
        assert sd.estimate("AUC", srs, "mn").value == pytest.approx((3 - rank) / 2)


@pytest.mark.parametrize("scheme", UNIFORM)
def test_every_column_of_the_gamma_table_by_definition(scheme: str) -> None:
    n, m, size = 300, 12, 500.0
    sampling, truth = sd.Sampling(n, m, scheme), fitted(beta_drawn(n, m, scheme), "monotone-mle")
    pi, law, rank = truth.probabilities(), dense_law(n, m, scheme), np.arange(1, n + 1)
    table = gamma_table("NDCG@10", sampling, size, truth, gammas=(0.5, 0.01, 1e-5))
    assert table.gamma.tolist() == [1 / size, 0.5, 0.01, 1e-5]
    scaled = law / np.sqrt(law.sum(axis=0))
    for row in table.itertuples():
        values = sd.correction("BV", gamma=row.gamma).fit("NDCG@10", sampling).values
        mean = law @ values
        bias = pi @ (mean - sd.parse_metric("NDCG@10")(rank, n))
        variance = pi @ (law * (values - mean[:, None]) ** 2).sum(axis=1) / size
        assert row.bias == pytest.approx(bias, rel=1e-6, abs=1e-12)
        assert row.variance == pytest.approx(variance, rel=1e-6)
        assert row.mse == pytest.approx(bias**2 + variance, rel=1e-6)
        assert row.largest == np.abs(values).max()
        matrix = (1 - row.gamma) * scaled.T @ scaled + row.gamma * np.eye(m + 1)
        assert row.condition == pytest.approx(np.linalg.cond(matrix), rel=1e-6)


def test_uniform_ranks_leave_no_bias() -> None:
    # The mean over the prior is exact at every gamma: multiply eq. 25 by a row of ones.
    n, m = 200, 6
    flat = fitted(SampledRankSet("S", np.arange(1, m + 2), n, m, scheme=WITHOUT), "mle")
    np.testing.assert_allclose(flat.mass, 1 / n, rtol=1e-9)  # equal counts: the start is the fit
    table = gamma_table("AP", sd.Sampling(n, m, WITHOUT), 100, flat)
    assert np.abs(table.bias).max() <= 1e-10
    assert np.all(np.diff(table.variance[1:]) >= 0)


def test_weights_of_every_rank_do_as_well() -> None:
    srs = SampledRankSet("S", [1, 2, 3, 4, 4], 20, 5)
    found = fitted(srs, "mle")
    sampling = sd.Sampling(20, 5)
    every = gamma_table("AP", sampling, 5, sd.rank_distribution(srs))
    pd.testing.assert_frame_equal(every, gamma_table("AP", sampling, 5, found), rtol=1e-12)


def test_refusals() -> None:
    srs = beta_drawn(400, 15, size=900, seed=6)
    flat, law = fitted(SampledRankSet("S", [1, 2], 50, 4), "mle"), sd.Sampling(50, 4)
    several = SampledRankSet("S", [1, 2, 3, 1, 4, 9], 100, [5, 5, 5, 20, 20, 20])
    for call, words in [
        (lambda: fit_learned("bv", "AP", srs), "method must be one of bv-mle"),
        (lambda: fit_learned("mn", "AP", srs, gamma=0.1), "gamma = 0.1 does not apply to 'mn'"),
        (lambda: fit_learned("bv-mle", "AP", srs, gamma=0), "gamma must be above 0"),
        (lambda: fit_learned("bv-mle", "AP", SampledRankSet("S", [1], 10**9, 3)), "too large"),
        (lambda: sd.correction("BV", prior=[1, -1, 1]), "prior of rank 2 is -1"),
        (lambda: sd.correction("BV", prior=[1, 1]).fit("AP", sd.Sampling(5, 2)), "prior has shape"),
        (lambda: sd.correction("BV", prior=[1, 0]).fit("AP", sd.Sampling(2, 1)), "no probability"),
        (lambda: fit_learned("bv-mle", "AP", several), "say which one"),
        (lambda: fit_learned("bv-mle", "AP", several, m=7), "m = 7 is not among .* sets: 5, 20"),
        (lambda: gamma_table("AP", sd.Sampling(60, 4), 10, flat), "distribution over 50 ranks"),
        (lambda: gamma_table("AP", law, 0, flat), "instances must be above 0"),
        (lambda: gamma_table("AP", law, 9, flat, gammas=[0]), "gamma must be above"),
        (lambda: gamma_table("AP", sd.Sampling(50, 4, "popularity", 2.0), 9, flat), "popularity"),
        (lambda: gamma_table("AP", law, 5, np.ones(9)), r"shape \(9,\): give one weight for each"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
