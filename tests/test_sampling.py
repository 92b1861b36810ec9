"""Sampled rank distributions, moments (eq. 15-19 of Krichene & Rendle 2020) and posteriors. Small
cases are checked against exact fractions, large cases against a second method."""

from fractions import Fraction
from itertools import product
from math import comb

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sampledash as sd
from sampledash.protocol import Protocol
from sampledash.sampling import pmf_window
from sampledash.simulation import batches
from tests import oracles
from tests.oracles import METRICS, POPULARITY, SCHEMES, UNIFORM, WITH, WITHOUT, dense_law, exact_law


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
    metric, value, scale = (
        sd.metric(name, k=k),
        oracles.item_value(name, k, 1, s.m),
        oracles.item_scale(name, k, 1),
    )
    # Only the metric's values are floats; all other numbers are fractions.
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
    # Very small posterior probabilities, such as 1e-300, are only right to an absolute error.
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


REPEATS, M = 4000, 15

PLAIN = sd.RankSet("S", [1, 7, 30, 200, 3, 55], 200)
OWN_N = sd.RankSet("S", [1, 7, 3, 90], [5, 12, 60, 200], counts=[1, 3, 2, 1])
TIED = sd.RankSet("S", [1, 5, 40], [100, 90, 120], ties=[30, 0, 70])
USERS = [0, 0, 0, 1, 1, 2, 2, 2]
SEVERAL_N, COUNTS = np.array([120, 110, 6])[USERS], np.array([2, 1, 1])[USERS]
SEVERAL = sd.RankSet("S", [2, 9, 40, 1, 100, 3, 4, 5], SEVERAL_N, instances=USERS, counts=COUNTS)
SEVERAL_TIED = sd.RankSet("S", [2, 9, 40, 1], 60, instances=[0, 0, 0, 1], ties=[5, 0, 10, 3])
MASS = sd.RankSet("S", [2, 9, 40], 60, instances=[0, 0, 1], mass_above=[0.05, 0.7, 0.4])

CASES = {
    "with": (PLAIN, WITH, {}), "popularity": (PLAIN, POPULARITY, {"odds": 3.0}),
    "own n": (OWN_N, WITHOUT, {}), "ties": (TIED, WITHOUT, {}), "ties with": (TIED, WITH, {}),
    "pessimistic": (TIED, WITHOUT, {"ties": "pessimistic"}), "several": (SEVERAL, WITHOUT, {}),
    "several with": (SEVERAL, WITH, {}),
    "several popularity": (SEVERAL, POPULARITY, {"odds": 0.4}),
    "several tied": (SEVERAL_TIED, WITHOUT, {}), "mass": (MASS, POPULARITY, {}),
    "corrected": (PLAIN, WITHOUT, {"fit_scheme": WITH, "correction": "BV 0.1"}),
    "corrected own n": (OWN_N, WITHOUT, {"correction": "rank estimate"}),
    "corrected several": (SEVERAL, WITH, {"correction": "BV 0.5"}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("metric", ["AUC", "Recall@3", "AP", "NDCG@5", "RR"])
def test_moments(case: str, metric: str) -> None:
    rs, scheme, more = CASES[case]
    options = {"scheme": scheme, **more}
    runs = sd.simulate(metric, rs, M, REPEATS, np.random.default_rng(11), **options)
    assert runs.shape == (REPEATS,)
    mean, deviation = runs.mean(), runs.std(ddof=1)
    exact = sd.expected_mean(metric, rs, M, **options)
    assert abs(mean - exact) <= 4 * deviation / np.sqrt(REPEATS) + 1e-12
    if case == "several tied" and metric != "RR":
        return  # its exact standard deviation is not available
    spread, fourth = sd.std_of_mean(metric, rs, M, **options), np.mean((runs - mean) ** 4)
    error = np.sqrt(max(fourth - deviation**4, 0) / REPEATS)
    assert abs(deviation**2 - spread**2) <= 4 * error + 1e-12


def test_complete_samples_do_not_vary_and_of_others_the_generator_decides() -> None:
    for metric, rs in product(["AUC", "AP", "Recall@3"], [OWN_N, SEVERAL]):
        runs = sd.simulate(metric, rs, 500, 5, np.random.default_rng(0), scheme=WITHOUT)
        assert runs == pytest.approx(np.full(5, sd.mean(metric, rs)), rel=1e-14)
    five, seeded = sd.RankSet("S", [5], 9), map(np.random.default_rng, (0, 0, 1))
    one, same, other = (sd.simulate("AP", five, 3, 500, rng) for rng in seeded)
    assert set(np.round(1 / one, 9)) == {1.0, 2.0, 3.0, 4.0}
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_batches_are_the_runs_in_pieces_with_all_metrics_of_one_draw() -> None:
    rs = sd.RankSet("S", np.random.default_rng(0).integers(1, 2000, 3000), 2000)
    protocol = Protocol.of({"scheme": WITHOUT})
    metrics = [sd.parse_metric(name) for name in ("Recall@10", "Precision@10", "AP")]
    blocks = list(batches(metrics, rs, 50, 100, np.random.default_rng(4), protocol))
    assert len(blocks) > 1  # a dashboard page can stop between blocks of runs
    together = np.concatenate(blocks)
    assert together.shape == (100, 3)
    alone = sd.simulate("AP", rs, 50, 100, np.random.default_rng(4), scheme=WITHOUT)
    np.testing.assert_allclose(together[:, 2], alone, rtol=1e-14)
    # With one relevant item, Precision@10 is Recall@10 / 10, if both are computed on one draw.
    np.testing.assert_allclose(together[:, 1], together[:, 0] / 10, rtol=1e-14)


@pytest.mark.parametrize("scheme", UNIFORM)
def test_one_run_of_sampled_ranks_follows_the_law(scheme: str) -> None:
    # Sampled AUC is unbiased: the expected mean of 1 - (sampled rank - 1) / m is the exact AUC.
    rng = np.random.default_rng(8)
    rs = sd.RankSet("S", rng.integers(1, 101, 4000), rng.integers(100, 300, 4000))
    run = sd.sample_ranks(rs, 30, rng, scheme=scheme)
    mean, spread = sd.mean("AUC", rs), sd.std_of_mean("AUC", rs, 30, scheme=scheme)
    assert abs(np.mean(1 - (run.sampled_ranks - 1) / 30) - mean) < 4 * spread
    assert np.array_equal(run.n, rs.n)
    assert set(run.m) == {30}


def test_a_run_takes_no_more_negatives_than_there_are_and_puts_ties_in_any_order() -> None:
    rs = sd.RankSet("S", [3] * 3000, 10, ties=[4] * 3000, counts=[2.0] * 3000)
    run = sd.sample_ranks(rs, 50, np.random.default_rng(9))
    assert set(run.m) == {9}
    assert len(run) == 6000  # two instances per row
    found = np.bincount(run.sampled_ranks, minlength=8)[3:8] / 6000  # shares of ranks 3..7
    assert np.all(np.abs(found - 0.2) < 4 * np.sqrt(0.2 * 0.8 / 6000))


def test_defaults_and_the_note_of_least_squares() -> None:
    s = Protocol.of({})
    assert (s.scheme, s.odds, s.fit_scheme, s.ties) == (WITHOUT, 1.0, WITHOUT, "expected")
    assert (str(s.correction), Protocol.of({"scheme": WITH}).fit_scheme) == ("uncorrected", WITH)
    assert Protocol.of({"fit_scheme": WITH}).scheme == WITHOUT
    rs, metric = sd.RankSet("N", [5, 40, 60], 5000), sd.parse_metric("AP")
    assert "ill-conditioned" in str(Protocol.of({"correction": "LS"}).note(metric, rs, 100))
    assert Protocol.of({"correction": "BV 0.1"}).note(metric, rs, 100) is None


def test_a_correction_is_fitted_once_at_the_rounded_mean_and_mass_above_counts() -> None:
    # n of 90, 101 and 111 with counts 1, 1, 2: mean 103.25; the vector is fitted for 103.
    m, rs = 7, sd.RankSet("N", [5, 40, 60], [90, 101, 111], counts=[1, 1, 2])
    vector = oracles.dense_bias_variance(
        dense_law(103, m, WITH), oracles.exact_metric("ap", None, 103), 0.1, None
    )
    means = [dense_law(n, m, WITHOUT)[r - 1] @ vector for r, n in ((5, 90), (40, 101), (60, 111))]
    ours = sd.expected_mean("AP", rs, m, scheme=WITHOUT, fit_scheme=WITH, correction="BV 0.1")
    assert ours == pytest.approx((means[0] + means[1] + 2 * means[2]) / 4, rel=1e-11)
    known = sd.RankSet("M", [2, 5], 10, mass_above=[0.3, 0.9])
    tied, means = sd.RankSet("M", [2, 5], 10, mass_above=[0.3, 0.9], ties=[1, 0]), set()
    for ranks, more in ((known, {}), (known, {"odds": 3.0}), (tied, {"ties": "optimistic"})):
        means.add(sd.expected_mean("AP", ranks, 3, scheme=POPULARITY, **more))
    assert len(means) == 1
