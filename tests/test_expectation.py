"""Moments of the sampled metric (eq. 16-19) and the posterior (eq. 26) by full sums."""

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
    WITHOUT,
    dense_law,
    exact_law,
    item_scale,
    item_value,
)

metrics = st.sampled_from([*METRICS, ("recall", 40), ("ap", 40), ("precision", 40), ("ndcg", 7)])


@st.composite
def cases(draw: st.DrawFn) -> tuple[sd.Sampling, Fraction]:
    n = draw(st.integers(2, 30))
    scheme = draw(st.sampled_from(SCHEMES))
    m = draw(st.integers(1, n - 1 if scheme == WITHOUT else 40))
    odds = draw(st.sampled_from([Fraction(1, 64), 3, 100])) if scheme == POPULARITY else 1
    return sd.Sampling(n, m, scheme, float(odds)), Fraction(odds)


@given(cases(), metrics)
def test_mean_and_variance_are_the_sums(
    case: tuple[sd.Sampling, Fraction], which: tuple[str, int | None]
) -> None:
    s, odds = case
    name, k = which
    metric, value = sd.metric(name, k=k), item_value(name, k, 1, s.m)
    rank = np.arange(1, s.n + 1)
    means, variances = sd.expected(metric, rank, s), sd.variance(metric, rank, s)
    scale = item_scale(name, k, 1)
    for r in rank:
        # Laws and moments as fractions; the metric's own values are the only floats.
        law = exact_law(s.n, int(r), s.m, s.scheme, odds)
        values = [Fraction(value(t)) * Fraction(scale) for t in range(s.m + 1)]
        mean = sum(p * v for p, v in zip(law, values, strict=True))
        spread = sum(p * (v - mean) ** 2 for p, v in zip(law, values, strict=True))
        assert means[r - 1] == pytest.approx(float(mean), rel=1e-12, abs=1e-15)
        assert variances[r - 1] == pytest.approx(float(spread), rel=1e-11, abs=1e-30)


@pytest.mark.parametrize(("name", "k"), METRICS)
def test_all_negatives_give_back_the_exact_metric(name: str, k: int | None) -> None:
    metric = sd.metric(name, k=k)
    for n in (2, 3, 10, 700):
        rank = np.arange(1, n + 1)
        s = sd.Sampling(n, n - 1, WITHOUT)
        assert sd.expected(metric, rank, s) == pytest.approx(metric(rank, n), rel=1e-14)
        assert np.all(sd.variance(metric, rank, s) <= 1e-30)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    "metric", ["AUC", "AP", "AP@7", "NDCG", "NDCG@10", "Recall@10", "RR", "HitRate@10"]
)
def test_second_method_on_a_large_grid(scheme: str, metric: str) -> None:
    n, m, odds = 5000, 150, 4.0 if scheme == POPULARITY else 1.0
    s, rank = sd.Sampling(n, m, scheme, odds), np.arange(1, n + 1)
    law = dense_law(n, m, scheme, odds)
    values = sd.parse_metric(metric).of_above(np.arange(m + 1), m)
    mean = law @ values
    spread = np.einsum("rs,rs->r", law, (values - mean[:, None]) ** 2)
    np.testing.assert_allclose(sd.expected(metric, rank, s), mean, rtol=1e-11, atol=1e-15)
    np.testing.assert_allclose(sd.variance(metric, rank, s), spread, rtol=1e-10, atol=1e-18)


def test_shapes() -> None:
    s = sd.Sampling(50, 8)
    for call in (sd.expected, sd.variance):
        assert call("AP", 3, s).shape == ()
        assert call("AUC", [[1, 2, 3]], s).shape == (1, 3)
    assert np.all(sd.variance("AP", [1], s) == 0)


@given(cases(), st.data())
def test_posterior_is_bayes(case: tuple[sd.Sampling, Fraction], data: st.DataObject) -> None:
    s, odds = case
    weights = data.draw(
        st.none() | st.lists(st.sampled_from([0, 1, 2, 7]), min_size=s.n, max_size=s.n)
    )
    prior = [1] * s.n if weights is None else weights
    t = data.draw(st.integers(1, s.m + 1))
    joint = [
        p * exact_law(s.n, r, s.m, s.scheme, odds)[t - 1] for r, p in enumerate(prior, start=1)
    ]
    total = sum(joint)
    if total == 0:
        with pytest.raises(ValueError, match=r"^prior "):
            sd.posterior(t, s, weights)
        return
    ours = sd.posterior(t, s, weights)
    assert ours.shape == (s.n,)
    # A likelihood 1e-11 beside 1e-300 of another rank is absolute, not relative, in p(r).
    assert ours == pytest.approx([float(p / total) for p in joint], rel=1e-11, abs=1e-15)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("t", [1, 2, 40, 101])
def test_posterior_on_many_candidates(scheme: str, t: int) -> None:
    n, m, odds = 20_000, 100, 0.2 if scheme == POPULARITY else 1.0
    column = dense_law(n, m, scheme, odds)[:, t - 1]
    ours = sd.posterior(t, sd.Sampling(n, m, scheme, odds))
    assert ours.sum() == pytest.approx(1)
    np.testing.assert_allclose(ours, column / column.sum(), rtol=1e-10, atol=1e-25)


def test_posterior_of_a_complete_sample_is_certain() -> None:
    assert sd.posterior(4, sd.Sampling(10, 9, WITHOUT)).tolist() == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0]
