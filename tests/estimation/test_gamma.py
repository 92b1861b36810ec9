"""Bias and variance against gamma, summed over every rank."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import sampledash as sd
from sampledash.estimation import fitted, gamma_table
from sampledash.sampledranks import SampledRankSet
from tests.oracles import UNIFORM, dense_law


@pytest.mark.parametrize("scheme", UNIFORM)
def test_every_column_by_definition(scheme: str) -> None:
    n, m, size = 300, 12, 500.0
    rng = np.random.default_rng(1)
    ranks = np.minimum(1 + (n * rng.beta(0.4, 2, 500)).astype(int), n)
    sampling = sd.Sampling(n, m, scheme)
    srs = SampledRankSet("S", sampling.draw(ranks, rng), n, m, scheme=scheme)
    truth = fitted(srs, "monotone-mle")
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
    flat = fitted(
        SampledRankSet("S", np.arange(1, m + 2), n, m, scheme="without-replacement"), "mle"
    )
    np.testing.assert_allclose(flat.mass, 1 / n, rtol=1e-9)  # equal counts: the start is the fit
    table = gamma_table("AP", sd.Sampling(n, m, "without-replacement"), 100, flat)
    assert np.abs(table.bias).max() <= 1e-10
    assert np.all(np.diff(table.variance[1:]) >= 0)


def test_refusals() -> None:
    flat = fitted(SampledRankSet("S", [1, 2], 50, 4), "mle")
    for call, words in [
        (lambda: gamma_table("AP", sd.Sampling(60, 4), 10, flat), "distribution over 50 ranks"),
        (lambda: gamma_table("AP", sd.Sampling(50, 4), 0, flat), "instances must be above 0"),
        (lambda: gamma_table("AP", sd.Sampling(50, 4), 9, flat, gammas=[0]), "gamma must be above"),
        (lambda: gamma_table("AP", sd.Sampling(50, 4, "popularity", 2.0), 9, flat), "popularity"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()


def test_weights_of_every_rank_do_as_well() -> None:
    srs = SampledRankSet("S", [1, 2, 3, 4, 4], 20, 5)
    found = fitted(srs, "mle")
    sampling = sd.Sampling(20, 5)
    every = gamma_table("AP", sampling, 5, sd.rank_distribution(srs))
    pd.testing.assert_frame_equal(every, gamma_table("AP", sampling, 5, found), rtol=1e-12)
    with pytest.raises(ValueError, match=r"ranks has shape \(9,\): give one weight for each"):
        gamma_table("AP", sampling, 5, np.ones(9))
