"""Laws of the sampled rank (eq. 15 and section 4.3) against exact fractions."""

from __future__ import annotations

from fractions import Fraction
from math import comb

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sampledash as sd
from sampledash.sampling import pmf, pmf_window
from tests.oracles import POPULARITY, SCHEMES, WITH, WITHOUT, dense_law, exact_law


@st.composite
def samplings(draw: st.DrawFn) -> tuple[sd.Sampling, Fraction]:
    n = draw(st.integers(2, 40))
    scheme = draw(st.sampled_from(SCHEMES))
    m = draw(st.integers(1, n - 1 if scheme == WITHOUT else 60))
    odds = Fraction(1)
    if scheme == POPULARITY:
        odds = draw(st.sampled_from([Fraction(1, 128), Fraction(1, 2), 1, 2, Fraction(19, 2), 64]))
    return sd.Sampling(n, m, scheme, float(odds)), Fraction(odds)


@given(samplings())
@example((sd.Sampling(2, 1, WITHOUT), Fraction(1)))
@example((sd.Sampling(2, 50, WITH), Fraction(1)))
def test_pmf_is_the_exact_law(case: tuple[sd.Sampling, Fraction]) -> None:
    s, odds = case
    rank = np.arange(1, s.n + 1)
    ours = s.pmf(rank)
    assert ours.shape == (s.n, s.m + 1)
    exact = np.array(
        [[float(p) for p in exact_law(s.n, r, s.m, s.scheme, odds)] for r in range(1, s.n + 1)]
    )
    assert ours == pytest.approx(exact, rel=2e-13, abs=1e-300)
    mean = exact @ np.arange(s.m + 1)
    assert s.m * s.share_above(rank) == pytest.approx(mean, rel=1e-13, abs=1e-15)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_pmf_at_a_thousand_million_candidates(scheme: str) -> None:
    n, m = 10**9, 1000
    odds = Fraction(5, 2) if scheme == POPULARITY else Fraction(1)
    s = sd.Sampling(n, m, scheme, float(odds))
    rank = [1, 2, 7, 10**6 + 3, 987_654, 5 * 10**8, 10**9 - 10, 10**9]
    ours = s.pmf(rank)
    for row, r in zip(ours, rank, strict=True):
        for t in (0, 1, 2, 10, 399, 500, 501, 990, 1000):
            if scheme == WITHOUT:
                value = Fraction(comb(r - 1, t) * comb(n - r, m - t), comb(n - 1, m))
            else:
                q = odds * (r - 1) / (odds * (r - 1) + n - r)
                value = comb(m, t) * q**t * (1 - q) ** (m - t)
            assert row[t] == pytest.approx(float(value), rel=1e-12, abs=1e-290)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_second_method_on_a_large_grid(scheme: str) -> None:
    odds = 3.0 if scheme == POPULARITY else 1.0
    ours = sd.Sampling(3706, 100, scheme, odds).pmf(np.arange(1, 3707))
    np.testing.assert_allclose(ours, dense_law(3706, 100, scheme, odds), rtol=1e-11, atol=1e-280)


@pytest.mark.parametrize("scheme", [WITH, WITHOUT])
def test_window_holds_the_law(scheme: str) -> None:
    n, m, width = 100_000, 4000, 1000
    above = np.array([0, 1, 50, 20_000, 50_000, 99_000, 99_999], dtype=float)
    below = n - 1 - above
    full = pmf(scheme, m, above, below)
    first, part = pmf_window(scheme, m, above, below, width)
    assert part.shape == (len(above), width)
    for i, start in enumerate(first):
        assert 0 <= start <= m - width + 1
        assert part[i] == pytest.approx(full[i, start : start + width], rel=1e-12, abs=1e-30)
        assert part[i].sum() == pytest.approx(1)


def test_rows_may_have_their_own_number_of_draws() -> None:
    m = np.array([0, 1, 3, 5])
    above = np.full(4, 4.0)
    p = pmf(WITHOUT, m, above, np.full(4, 5.0))
    for row, draws in zip(p, m, strict=True):
        exact = [float(x) for x in exact_law(10, 5, int(draws), WITHOUT)]
        assert row == pytest.approx(exact + [0.0] * (5 - draws), rel=1e-14)


@pytest.mark.parametrize(
    ("n", "m", "scheme", "odds"),
    [
        (50, 8, WITH, 1.0),
        (50, 8, WITHOUT, 1.0),
        (50, 8, POPULARITY, 3.0),
        (3 * 10**9, 30, WITHOUT, 1.0),
    ],
)
def test_draws_follow_the_law(n: int, m: int, scheme: str, odds: float) -> None:
    s = sd.Sampling(n, m, scheme, odds)
    repeats = 4000 if n > 10**9 else 40_000
    for r in (n // 4, n) if n > 10**9 else (1, n // 4, n // 2 + 1, n):
        drawn = s.draw(np.full(repeats, r), np.random.default_rng(7))
        assert drawn.dtype == np.int64
        assert drawn.min() >= 1
        assert drawn.max() <= m + 1
        share = np.bincount(drawn - 1, minlength=m + 1) / repeats
        p = np.array([float(x) for x in exact_law(n, r, m, scheme, Fraction(odds))])
        assert np.all(np.abs(share - p) <= 4 * np.sqrt(p * (1 - p) / repeats) + 1.5 / repeats)


def test_draw_is_reproducible_and_keeps_shape() -> None:
    s = sd.Sampling(100, 10)
    first = s.draw([[1, 50], [99, 100]], np.random.default_rng(3))
    assert first.shape == (2, 2)
    assert np.array_equal(first, s.draw([[1, 50], [99, 100]], np.random.default_rng(3)))
    assert s.pmf(5).shape == (11,)
    assert s.pmf([[1, 2, 3]]).shape == (1, 3, 11)
    everything = sd.Sampling(100, 99, WITHOUT)
    rank = np.arange(1, 101)
    assert np.array_equal(everything.draw(rank, np.random.default_rng(0)), rank)


@given(samplings())
def test_text_reads_back(case: tuple[sd.Sampling, Fraction]) -> None:
    s, _ = case
    assert sd.parse_sampling(str(s)) == s


@given(st.floats(1e-300, 1e300))
def test_any_odds_read_back(odds: float) -> None:
    s = sd.Sampling(10, 3, POPULARITY, odds)
    assert sd.parse_sampling(str(s)) == s
