"""The closed form without replacement: against exact fractions and the dense law."""

from __future__ import annotations

import numpy as np
import pytest

import sampledash as sd
from sampledash.spectral import rows
from tests.oracles import WITHOUT, dense_bias_variance, dense_law, dense_target


@pytest.mark.parametrize("size", [1, 2, 3, 8, 61, 400])
def test_polynomials_are_orthonormal_up_to_the_last_degree(size: int) -> None:
    half = np.vstack([block for _, block in rows(size, size)])
    other = (half * (-1.0) ** np.arange(size))[: size // 2][::-1]
    whole = np.vstack([half, other])
    np.testing.assert_allclose(whole.T @ whole, np.eye(size), rtol=0, atol=2e-13)


@pytest.mark.parametrize("gamma", [1.0, 0.1, 0.001, 1e-5])
@pytest.mark.parametrize(("n", "m"), [(2, 1), (9, 4), (300, 299), (301, 250), (1_200, 90)])
def test_bias_variance_is_the_dense_solution(n: int, m: int, gamma: float) -> None:
    law, recipe = dense_law(n, m, WITHOUT), sd.correction("BV", gamma=gamma)
    for name, k in (("recall", 10), ("ap", None), ("ndcg", 300), ("auc", None)):
        target = dense_target(name, k, n)
        found = recipe.fit(sd.metric(name, k=k), sd.Sampling(n, m, WITHOUT)).values
        if m < n - 1:  # else all are drawn, and the metric is exact as it is
            wanted = dense_bias_variance(law, target, gamma, None)
            np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-15 / gamma + 1e-13)


@pytest.mark.parametrize(("n", "m"), [(100, 20), (1_000, 100), (9_999, 500)])
def test_a_mean_of_the_metric_is_never_below_it(n: int, m: int) -> None:
    """At γ = 1 a value is the mean of the metric given the sampled rank (eq. 25): 0 at least."""
    for name in ("recall", "ap", "ndcg"):
        fit = sd.correction("BV", gamma=1).fit(sd.metric(name, k=10), sd.Sampling(n, m, WITHOUT))
        assert fit.values.min() >= 0
        assert (np.diff(fit.values) <= 0).all()
