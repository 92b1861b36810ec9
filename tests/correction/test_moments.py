"""Sums over ranks by Gauss panels against the sum over every rank."""

from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sampledash as sd
from sampledash.least_squares import nodes
from sampledash.quadrature import panels
from tests.oracles import (
    POPULARITY,
    SCHEMES,
    WITH,
    WITHOUT,
    dense_bias_variance,
    dense_law,
    dense_target,
    item_scale,
)

N, M = 10_000, 100
Dense = tuple[np.ndarray, np.ndarray, np.ndarray]


@cache
def dense_of(scheme: str, odds: float) -> Dense:
    """A (without its 1/sqrt(n)), A'A and c of eq. 23-25 from the whole matrix."""
    law = dense_law(N, M, scheme, odds)
    return law, law.T @ law / N, law.mean(axis=0)


@given(st.integers(-50, 10**6), st.integers(1, 5000), st.integers(0, 31))
def test_panel_sums_polynomials_over_integers(first: int, length: int, degree: int) -> None:
    middle = first + Fraction(length - 1, 2)
    half = max(Fraction(length, 2), 1)
    true = sum(((x - middle) / half) ** degree for x in range(first, first + min(length, 300)))
    if length > 300:  # keep the exact sum short
        return
    nodes, weights, _ = panels([first], [first + length])
    ours = weights @ ((nodes - float(middle)) / float(half)) ** degree
    assert ours == pytest.approx(float(true), rel=1e-11, abs=1e-11 * length)
    assert weights.sum() == pytest.approx(length, rel=1e-13)
    assert nodes.min() >= first
    assert nodes.max() <= first + length - 1


@pytest.mark.parametrize(
    ("scheme", "odds"),
    [(WITH, 1.0), (WITHOUT, 1.0), (POPULARITY, 0.01), (POPULARITY, 100.0), (POPULARITY, 3.0)],
)
@pytest.mark.parametrize(
    ("name", "k"),
    [("auc", None), ("recall", 1), ("recall", 10), ("recall", 65), ("recall", 100),
     ("recall", N // 3), ("precision", 10), ("ap", None), ("ap", 500), ("ndcg", None),
     ("ndcg", 10), ("ndcg", N // 3)],
)  # fmt: skip
def test_vectors_equal_the_dense_way(scheme: str, odds: float, name: str, k: int | None) -> None:
    """n = 10,000 is beyond the limit up to which all ranks are summed directly."""
    (law, gram, c), target = (
        dense_of(scheme, odds),
        dense_target(name, k, N) * item_scale(name, k, 1),
    )
    sampling = sd.Sampling(N, M, scheme, odds)
    d = 1 / np.sqrt(c)
    for gamma, allowed in ((1.0, 1e-11), (0.1, 1e-11), (0.01, 1e-10), (0.001, 1e-9)):
        left = (1 - gamma) * gram * d[:, None] * d + gamma * np.eye(M + 1)
        dense = d * np.linalg.solve(left, d * (law.T @ target) / N)
        ours = sd.correction("BV", gamma=gamma).fit(sd.metric(name, k=k), sampling).values
        assert np.abs(ours - dense).max() <= allowed * np.abs(dense).max()


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("n", "m"), [(1000, 60), (1001, 1000), (1001, 3), (1500, 400), (20_000, 30)]
)
def test_other_sizes(scheme: str, n: int, m: int) -> None:
    odds = 5.0 if scheme == POPULARITY else 1.0
    law = dense_law(n, m, scheme, odds)
    for name, k in (("ap", None), ("ndcg", 10), ("recall", n // 3)):
        dense = dense_bias_variance(law, dense_target(name, k, n), 0.1, None)
        ours = sd.correction("BV").fit(sd.metric(name, k=k), sd.Sampling(n, m, scheme, odds)).values
        assert np.abs(ours - dense).max() <= 1e-10 * np.abs(dense).max()


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_prior_is_summed_over_every_rank(scheme: str) -> None:
    odds = 3.0 if scheme == POPULARITY else 1.0
    prior = 1 / np.arange(1, N + 1) * (np.arange(N) % 7 != 3)
    law, target = dense_of(scheme, odds)[0], dense_target("ndcg", 10, N)
    dense = dense_bias_variance(law, target, 0.01, prior)
    ours = sd.correction("BV", gamma=0.01, prior=prior).fit(
        "NDCG@10", sd.Sampling(N, M, scheme, odds)
    )
    assert np.abs(ours.values - dense).max() <= 1e-9 * np.abs(dense).max()


@pytest.mark.parametrize("scheme", [WITH, WITHOUT])
def test_marginals_of_a_thousand_million_ranks(scheme: str) -> None:
    # gamma = 1 and AUC: M-hat = E[AUC | sampled rank], so 1 - E[share above | t of m drawn above].
    # Without replacement a negative hypergeometric mean, E[a] = (n + 1)(t + 1)/(m + 2) - 1; with
    # replacement a sum over the grid of shares, which inside 0 < t < m is the mean of a
    # Beta(t + 1, m - t + 1) but for terms of order (m/n)^2 (Euler and Maclaurin).
    n, m = 10**9, 200
    values = sd.correction("BV", gamma=1).fit("AUC", sd.Sampling(n, m, scheme)).values
    t = np.arange(m + 1)
    if scheme == WITHOUT:
        above = ((n + 1) * (t + 1) / (m + 2) - 1) / (n - 1)
        assert values == pytest.approx(1 - above, rel=1e-12)
    else:
        assert values[1:-1] == pytest.approx((1 - (t + 1) / (m + 2))[1:-1], rel=1e-11)


@pytest.mark.parametrize(("m", "scheme"), [(300, WITH), (300, WITHOUT), (2000, WITHOUT)])
def test_large_samples_take_fewer_nodes_than_unknowns(m: int, scheme: str) -> None:
    # What a law of width 1/sqrt(m) can tell apart grows as sqrt(m), and so must the sums.
    sampling = sd.Sampling(3541, m, scheme)
    at = nodes(sd.parse_metric("AP"), sampling)
    assert len(at.grid.above) < m + 1
    gram, moment = at.grid.gram, at.grid.mean_with(at.target)
    law, target = dense_law(3541, m, scheme), dense_target("ap", None, 3541)
    np.testing.assert_allclose(gram, law.T @ law / 3541, atol=2e-14 / m)
    np.testing.assert_allclose(moment, target @ law / 3541, atol=2e-15 / m)


RECIPES = ["uncorrected", "rank estimate", "CLS", "BV 1", "BV 0.1", "LS"]


@pytest.mark.parametrize("correction", RECIPES)
def test_all_negatives_drawn_need_no_correction(correction: str) -> None:
    fit = sd.parse_correction(correction).fit("AP", sd.Sampling(1200, 1199, WITHOUT))
    assert fit.values.tolist() == [1 / r for r in range(1, 1201)]
    assert not fit.variance(np.arange(1, 1201)).any()


@pytest.mark.parametrize("m", [1000, 1300, 1490, 1499])
def test_most_of_all_items_drawn(m: int) -> None:
    # Nearly all items above, or all below, may be in the sample: no smooth law to interpolate.
    sampling = sd.Sampling(1501, m, "without-replacement")
    for metric in ("NDCG", "Recall@10"):
        at = nodes(sd.parse_metric(metric), sampling)
        gram, marginal, moment = at.grid.gram, at.grid.marginal, at.grid.mean_with(at.target)
        law = sampling.pmf(np.arange(1, 1502))
        target = sd.parse_metric(metric)(np.arange(1, 1502), 1501)
        np.testing.assert_allclose(gram, law.T @ law / 1501, atol=1e-15)
        np.testing.assert_allclose(marginal, 1 / (m + 1), rtol=1e-11)
        np.testing.assert_allclose(moment, target @ law / 1501, atol=1e-14)
