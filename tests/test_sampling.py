"""Laws of the sampled rank (eq. 15, section 4.3), moments of the metric (eq. 16-19), posterior.

Small cases against exact fractions, large ones against a second method.
"""

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sampledash as sd
from sampledash.sampling import pmf_window
from tests.oracles import METRICS, SCHEMES, UNIFORM, dense_law, exact_law, item_scale, item_value

WITH, WITHOUT, POPULARITY = SCHEMES


@st.composite
def samplings(draw: st.DrawFn) -> sd.Sampling:
    n, scheme = draw(st.integers(2, 30)), draw(st.sampled_from(SCHEMES))
    m = draw(st.integers(1, n - 1 if scheme == WITHOUT else 50))
    odds = draw(st.sampled_from([1 / 128, 0.5, 1, 9.5, 100])) if scheme == POPULARITY else 1
    return sd.Sampling(n, m, scheme, odds)


def exact_laws(s: sd.Sampling) -> list[list[Fraction]]:
    return [exact_law(s.n, r, s.m, s.scheme, Fraction(s.odds)) for r in range(1, s.n + 1)]


@given(samplings())
@example(sd.Sampling(2, 1, WITHOUT))
@example(sd.Sampling(2, 50, WITH))
def test_pmf_is_the_exact_law(s: sd.Sampling) -> None:
    rank, exact = np.arange(1, s.n + 1), np.array(exact_laws(s), dtype=float)
    ours = s.pmf(rank)
    assert ours.shape == (s.n, s.m + 1)
    assert ours == pytest.approx(exact, rel=2e-13, abs=1e-300)
    mean = exact @ np.arange(s.m + 1)
    assert s.m * s.share_above(rank) == pytest.approx(mean, rel=1e-13, abs=1e-15)


@given(samplings(), st.sampled_from([*METRICS, ("recall", 40), ("ap", 40), ("ndcg", 7)]))
def test_mean_and_variance_are_the_sums(s: sd.Sampling, which: tuple[str, int | None]) -> None:
    (name, k), rank = which, np.arange(1, s.n + 1)
    metric, value, scale = sd.metric(name, k=k), item_value(name, k, 1, s.m), item_scale(name, k, 1)
    # Laws and moments as fractions; the metric's own values are the only floats.
    values = [Fraction(value(t)) * Fraction(scale) for t in range(s.m + 1)]
    means, spreads = [], []
    for law in exact_laws(s):
        means.append(sum(p * v for p, v in zip(law, values, strict=True)))
        spreads.append(sum(p * (v - means[-1]) ** 2 for p, v in zip(law, values, strict=True)))
    means, spreads = (np.array(each, dtype=float) for each in (means, spreads))
    assert sd.expected(metric, rank, s) == pytest.approx(means, rel=1e-12, abs=1e-15)
    assert sd.variance(metric, rank, s) == pytest.approx(spreads, rel=1e-11, abs=1e-30)


@given(samplings(), st.data())
def test_posterior_is_bayes(s: sd.Sampling, data: st.DataObject) -> None:
    some = st.lists(st.sampled_from([0, 1, 2, 7]), min_size=s.n, max_size=s.n)
    weights, t = data.draw(st.none() | some), data.draw(st.integers(1, s.m + 1))
    joint = [p * law[t - 1] for law, p in zip(exact_laws(s), weights or [1] * s.n, strict=True)]
    if sum(joint) == 0:
        with pytest.raises(ValueError, match=r"^prior "):
            sd.posterior(t, s, weights)
        return
    # A likelihood 1e-11 beside 1e-300 of another rank is absolute, not relative, in p(r).
    bayes = [float(p / sum(joint)) for p in joint]
    assert sd.posterior(t, s, weights) == pytest.approx(bayes, rel=1e-11, abs=1e-15)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_second_method_on_a_large_grid(scheme: str) -> None:
    n, m, odds = 5000, 150, 4.0 if scheme == POPULARITY else 1.0
    s, rank = sd.Sampling(n, m, scheme, odds), np.arange(1, n + 1)
    law = dense_law(n, m, scheme, odds)
    np.testing.assert_allclose(s.pmf(rank), law, rtol=1e-11, atol=1e-280)
    for text in ("AUC", "AP", "AP@7", "NDCG", "NDCG@10", "Recall@10", "RR", "HitRate@10"):
        values = sd.parse_metric(text).of_above(np.arange(m + 1), m)
        mean = law @ values
        spread = np.einsum("rs,rs->r", law, (values - mean[:, None]) ** 2)
        np.testing.assert_allclose(sd.expected(text, rank, s), mean, rtol=1e-11, atol=1e-15)
        np.testing.assert_allclose(sd.variance(text, rank, s), spread, rtol=1e-10, atol=1e-18)
    for t in (1, 2, 60, m + 1):
        bayes = law[:, t - 1] / law[:, t - 1].sum()
        np.testing.assert_allclose(sd.posterior(t, s), bayes, rtol=1e-10, atol=1e-25)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_pmf_at_a_thousand_million_candidates(scheme: str) -> None:
    n, m = 10**9, 1000
    odds = Fraction(5, 2) if scheme == POPULARITY else Fraction(1)
    rank = [1, 2, 7, 10**6 + 3, 987_654, 5 * 10**8, 10**9 - 10, 10**9]
    for row, r in zip(sd.Sampling(n, m, scheme, float(odds)).pmf(rank), rank, strict=True):
        for t in (0, 1, 2, 10, 399, 500, 501, 990, 1000):
            if scheme == WITHOUT:
                value = Fraction(comb(r - 1, t) * comb(n - r, m - t), comb(n - 1, m))
            else:
                q = odds * (r - 1) / (odds * (r - 1) + n - r)
                value = comb(m, t) * q**t * (1 - q) ** (m - t)
            assert row[t] == pytest.approx(float(value), rel=1e-12, abs=1e-290)


@pytest.mark.parametrize(("name", "k"), METRICS)
def test_all_negatives_give_back_the_exact_metric(name: str, k: int | None) -> None:
    metric = sd.metric(name, k=k)
    for n in (2, 3, 10, 700):
        rank, s = np.arange(1, n + 1), sd.Sampling(n, n - 1, WITHOUT)
        assert sd.expected(metric, rank, s) == pytest.approx(metric(rank, n), rel=1e-14)
        assert np.all(sd.variance(metric, rank, s) <= 1e-30)
        assert np.array_equal(s.draw(rank, np.random.default_rng(0)), rank)
        assert sd.posterior(2, s).tolist() == [0, 1] + [0] * (n - 2)


@pytest.mark.parametrize("scheme", UNIFORM)
def test_window_holds_the_law(scheme: str) -> None:
    n, m, width = 100_000, 4000, 1000
    above = np.array([0, 1, 50, 20_000, 50_000, 99_000, 99_999], dtype=float)
    full = sd.Sampling(n, m, scheme).pmf(above + 1)
    first, part = pmf_window(scheme, m, above, n - 1 - above, width)
    for row, start, law in zip(part, first, full, strict=True):
        assert 0 <= start <= m - width + 1
        assert row == pytest.approx(law[start : start + width], rel=1e-12, abs=1e-30)
        assert row.sum() == pytest.approx(1)


DRAWN = [sd.Sampling(50, 8, WITH), sd.Sampling(50, 8, WITHOUT)]
DRAWN += [sd.Sampling(50, 8, POPULARITY, 3.0), sd.Sampling(3 * 10**9, 30, WITHOUT)]


@pytest.mark.parametrize("s", DRAWN, ids=str)
def test_draws_follow_the_law(s: sd.Sampling) -> None:
    n, m = s.n, s.m
    repeats = 4000 if n > 10**9 else 40_000
    for r in (n // 4, n) if n > 10**9 else (1, n // 4, n // 2 + 1, n):
        drawn = s.draw(np.full(repeats, r), np.random.default_rng(7))
        assert drawn.dtype == np.int64
        share = np.bincount(drawn, minlength=m + 2) / repeats
        p = np.array([0.0, *map(float, exact_law(n, r, m, s.scheme, Fraction(s.odds)))])
        assert np.all(np.abs(share - p) <= 4 * np.sqrt(p * (1 - p) / repeats) + 1.5 / repeats)


def test_shapes_and_generator() -> None:
    s, rank = sd.Sampling(100, 10), [[1, 50], [99, 100]]
    first, same = (s.draw(rank, np.random.default_rng(3)) for _ in range(2))
    assert np.array_equal(first, same)
    assert first.shape == sd.expected("AUC", rank, s).shape == sd.variance("AP", rank, s).shape
    assert s.pmf(5).shape == (11,)
    assert s.pmf([[1, 2, 3]]).shape == (1, 3, 11)
    assert sd.expected("AP", 3, s).shape == ()


@given(samplings(), st.floats(1e-300, 1e300))
def test_text_reads_back(s: sd.Sampling, odds: float) -> None:
    for each in (s, sd.Sampling(10, 3, POPULARITY, odds)):
        assert sd.parse_sampling(str(each)) == each
