"""Learned vectors against their definition; bias and variance against gamma, over every rank."""

import numpy as np
import pandas as pd
import pytest

import sampledash as sd
from sampledash.estimation.rank_distribution import fitted
from sampledash.estimation.vectors import default_gamma, fit_learned, gamma_table, solver
from sampledash.sampled_rank_sets import SampledRankSet
from tests.estimation.cases import beta_drawn
from tests.oracles import METRICS, UNIFORM, WITH, WITHOUT, dense_law, exact_metric

SIZE = (400, 15)
OTHER = SampledRankSet("T", [1, 1, 4, 16], *SIZE, scheme=WITH)
LARGE = [("recall", 700), ("ndcg", 2500), ("ap", None)]  # cutoffs between the nodes


@pytest.mark.parametrize(
    ("sets", "method", "gammas", "metrics"),
    [([beta_drawn(*SIZE, scheme, 900)], method, (None, 0.1), METRICS)
     for scheme in UNIFORM for method in ("bv-mle", "bv-mes", "bv-monotone-mle")]
    + [([beta_drawn(*SIZE, WITH, 900), OTHER], "bv-monotone-mle", (None,), METRICS),
       ([beta_drawn(9_000, 30, WITHOUT, 900)], "bv-mle", (0.1,), LARGE)],
)  # fmt: skip
def test_learned_prior_is_that_of_the_correction(sets, method, gammas, metrics) -> None:
    prior = sd.rank_distribution(sets, method.removeprefix("bv-"))
    one = sets if len(sets) > 1 else sets[0]
    (sampling,) = sets[0].outcomes.samplings
    for name, k in metrics:
        for gamma in gammas:
            fit = fit_learned(method, sd.metric(name, k=k), one, gamma=gamma)
            used = gamma or (0.01 if len(sets) == 1 else 0.1)  # one vector for all: as printed
            again = sd.correction("BV", gamma=used, prior=prior).fit(fit.metric, sampling)
            close = 1e-9 * np.abs(again.values).max()
            np.testing.assert_allclose(fit.values, again.values, atol=close, rtol=0)
            assert fit.method == method
            assert not fit.values.flags.writeable
            if sampling.n == 400:
                assert fit.correction == again.correction
                assert fit.risk() == pytest.approx(again.risk(), rel=1e-6)


@pytest.mark.parametrize("scheme", UNIFORM)
def test_mn_is_the_printed_matrix(scheme: str) -> None:
    """Of one set, or of several with their mean number of instances, for each m."""
    first, other = beta_drawn(*SIZE, scheme, 900), beta_drawn(400, 9, scheme, 300, seed=2)
    for sets, size in (([first], 900), ([first, other], 600)):
        pi = sd.rank_distribution(sets)
        for m in {15, 15 if len(sets) == 1 else 9}:
            law = dense_law(400, m, scheme)
            d = law * pi[:, None]
            left = law.T @ d - law.T @ law / size + np.diag(law.sum(axis=0)) / size
            for name, k in METRICS:
                printed = np.linalg.solve(left, d.T @ exact_metric(name, k, 400))
                fit = fit_learned("mn", sd.metric(name, k=k), sets, m=m)
                close = 1e-8 * np.abs(printed).max()
                np.testing.assert_allclose(fit.values, printed, rtol=0, atol=close)
                assert fit.correction.gamma == pytest.approx(1 / size)
                assert fit.sampling == sd.Sampling(400, m, scheme)
    half = SampledRankSet("A", [1], *SIZE, counts=[0.5], scheme=scheme)  # no weight beyond 1
    assert fit_learned("mn", "AP", half).correction.gamma == 1


def test_sampled_ranks_that_cannot_occur_lie_between_their_neighbours() -> None:
    # Two nodes, at which none or all of three draws are above: 2 and 3 of 4 are never seen.
    rows, mass = np.array([[1.0, 0, 0, 0], [0, 0, 0, 1.0]]), np.array([0.25, 0.75])
    solve = solver(rows, mass, 0.1 * mass)
    moment = rows.T @ (mass[:, None] * [[1.0, 4.0], [0.4, 1.0]])
    assert solve(moment) == pytest.approx(np.linspace([1.0, 4.0], [0.4, 1.0], 4))
    assert solve(moment[:, 0]) == pytest.approx(np.linspace(1.0, 0.4, 4))
    gammas = [default_gamma(x, size) for x in ("bv-mes", "mn") for size in (1, 2)]
    assert gammas == [0.01, 0.1, None, None]


@pytest.mark.parametrize("scheme", UNIFORM)
def test_every_column_of_the_gamma_table_by_definition(scheme: str) -> None:
    n, m, size = 300, 12, 500.0
    sampling, truth = sd.Sampling(n, m, scheme), fitted(beta_drawn(n, m, scheme), "monotone-mle")
    pi, law = truth.probabilities(), dense_law(n, m, scheme)
    table = gamma_table("NDCG@10", sampling, size, truth, gammas=(0.5, 0.01, 1e-5))
    every = gamma_table("NDCG@10", sampling, size, pi, gammas=(0.5, 0.01, 1e-5))
    pd.testing.assert_frame_equal(table, every, rtol=1e-10)
    assert table.gamma.tolist() == [1 / size, 0.5, 0.01, 1e-5]
    usual = gamma_table("NDCG@10", sampling, 0.5, truth).gamma  # no instance weighs more than all
    assert usual.tolist() == [1.0, *(10 ** (-e / 4) for e in range(25))]
    scaled = law / np.sqrt(law.sum(axis=0))
    for row in table.itertuples():
        values = sd.correction("BV", gamma=row.gamma).fit("NDCG@10", sampling).values
        mean = law @ values
        bias = pi @ (mean - exact_metric("ndcg", 10, n))
        variance = pi @ (law * (values - mean[:, None]) ** 2).sum(axis=1) / size
        matrix = (1 - row.gamma) * scaled.T @ scaled + row.gamma * np.eye(m + 1)
        found = row.bias, row.variance, row.mse, row.largest, row.condition
        exact = bias, variance, bias**2 + variance, np.abs(values).max(), np.linalg.cond(matrix)
        assert found == pytest.approx(exact, rel=1e-6, abs=1e-12)
