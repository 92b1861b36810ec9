"""Rank distributions: the printed iterations, the conditions of the minimum, panels of ranks."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sampledash as sd
from sampledash.estimation import fitted, fitted_side_by_side
from sampledash.estimation.rank_distribution import _ETA, Model, _step_rows, step_ends, support_of
from sampledash.sampledranks import SampledRankSet
from tests.estimation.cases import beta_drawn
from tests.oracles import UNIFORM, WITH, WITHOUT, dense_law, exact_law


def as_printed(laws: list[np.ndarray], counts: list[np.ndarray], iterations: int) -> np.ndarray:
    """Note by instance: pi_r <- (1/U) sum_u pi_r B_u(r) / sum_q pi_q B_u(q), from uniform."""
    pi = np.full(len(laws[0]), 1 / len(laws[0]))
    for _ in range(iterations):
        new, total = np.zeros_like(pi), 0.0
        for law, count in zip(laws, counts, strict=True):
            for s in np.flatnonzero(count):
                joint = pi * law[:, s]
                new += count[s] * joint / joint.sum()
                total += count[s]
        pi = new / total
    return pi


@pytest.mark.parametrize("scheme", UNIFORM)
@given(data=st.data())
def test_mle_is_the_printed_iteration(scheme: str, data: st.DataObject) -> None:
    n = data.draw(st.integers(3, 60))
    sizes = data.draw(st.lists(st.integers(1, min(n - 1, 12)), min_size=1, max_size=3))
    ranks, m = [], []
    for size in sizes:
        found = data.draw(st.lists(st.integers(1, size + 1), min_size=1, max_size=8))
        ranks += found
        m += [size] * len(found)
    weights = [data.draw(st.sampled_from([0.25, 1.0, 3.0])) for _ in m]
    iterations = data.draw(st.integers(1, 30))
    laws = {x: np.array([exact_law(n, r, x, scheme) for r in range(1, n + 1)], float) for x in m}
    counts = {x: np.zeros(x + 1) for x in m}
    for r, x, w in zip(ranks, m, weights, strict=True):
        counts[x][r - 1] += w
    srs = SampledRankSet("S", ranks, n, m, scheme=scheme, counts=weights)
    if any(laws[x][:, r - 1].max() == 0 for r, x in zip(ranks, m, strict=True)):
        with pytest.raises(ValueError, match=r"sampled_rank .* cannot occur with n = "):
            sd.rank_distribution(srs)
        return
    ours = sd.rank_distribution(srs, iterations=iterations)
    printed = as_printed(list(laws.values()), list(counts.values()), iterations)
    np.testing.assert_allclose(ours, printed, rtol=1e-9, atol=1e-14)


def monotone_as_printed(law: np.ndarray, share: np.ndarray, iterations: int) -> np.ndarray:
    """Non-increasing pi = sum_j w_j 1[r <= j] / j by the same iteration on w, every j."""
    n = len(law)
    uniform = np.tril(np.ones((n, n))) / np.arange(1, n + 1)[:, None]
    b, w = uniform @ law, np.full(n, 1 / n)
    for _ in range(iterations):
        w = w * (b @ (share / (w @ b)))
    return w @ uniform


@pytest.mark.parametrize("scheme", UNIFORM)
def test_monotone_is_the_mixture_of_uniforms(scheme: str) -> None:
    n, m = 300, 15
    srs = beta_drawn(n, m, scheme, 400)
    share = srs.outcomes.counts[0] / 400
    for iterations in (1, 50, 500):
        ours = sd.rank_distribution(srs, "monotone-mle", iterations=iterations)
        printed = monotone_as_printed(dense_law(n, m, scheme), share, iterations)
        np.testing.assert_allclose(ours, printed, rtol=1e-9, atol=1e-15)
        assert np.all(np.diff(ours) <= 1e-18)
    assert np.array_equal(
        sd.rank_distribution(srs, "monotone-mle"),
        sd.rank_distribution(srs, "monotone-mle", iterations=50),
    )


def test_pooling_adds_the_counts() -> None:
    a = SampledRankSet("A", [1, 2, 2, 5], 400, 10)
    b = SampledRankSet("B", [1, 1, 9], 400, [10, 10, 20])
    both = SampledRankSet("AB", [1, 2, 2, 5, 1, 1, 9], 400, [10] * 6 + [20])
    for method in ("mle", "mes", "monotone-mle"):
        found = sd.rank_distribution([a, b], method)
        np.testing.assert_allclose(found, sd.rank_distribution(both, method), rtol=1e-10)


def test_side_by_side_begins_at_the_common_distribution() -> None:
    # By the printed iteration: 50 steps on all, then 10 on the system's own.
    n, m = 200, 12
    rng = np.random.default_rng(3)
    sets = [
        SampledRankSet(name, rng.binomial(m, rng.beta(a, 2, 300)) + 1, n, m)
        for name, a in (("A", 0.4), ("B", 0.7))
    ]
    law = dense_law(n, m, WITH)
    uniform = np.tril(np.ones((n, n))) / np.arange(1, n + 1)[:, None]
    b, w = uniform @ law, np.full(n, 1 / n)
    shares = [s.outcomes.counts[0] / 300 for s in sets]
    for _ in range(50):
        w = w * (b @ ((shares[0] + shares[1]) / 2 / (w @ b)))
    for share, found in zip(shares, fitted_side_by_side(sets), strict=True):
        own = w
        for _ in range(10):
            own = own * (b @ (share / (own @ b)))
        np.testing.assert_allclose(found.mass, own @ uniform, rtol=1e-9, atol=1e-15)


def test_refusals() -> None:
    srs = SampledRankSet("S", [1, 3], 50, 4)
    cases = [
        (lambda: sd.rank_distribution([]), "sets is empty"),
        (lambda: sd.rank_distribution([srs, "x"]), "give SampledRankSets"),
        (lambda: sd.rank_distribution(srs, "ml"), "method must be one of mle, mes"),
        (lambda: sd.rank_distribution(srs, iterations=0), "iterations must be at least"),
        (lambda: sd.rank_distribution(srs, "mes", iterations=5), "no effect on 'mes'"),
        (
            lambda: sd.rank_distribution([srs, SampledRankSet("T", [1], 50, 4, scheme=WITHOUT)]),
            "pool sets drawn in the same way",
        ),
        (
            lambda: sd.rank_distribution(SampledRankSet("S", [1], 10**7 + 1, 4)),
            "n = 10000001 is too large to write out",
        ),
        (lambda: fitted(SampledRankSet("S", [2], 2, 2), "mle"), "sampled_rank 2 cannot occur"),
    ]
    for call, words in cases:
        with pytest.raises(ValueError, match=words):
            call()


def slope(law: np.ndarray, share: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Gradient in x of (m+1) sum_s p_s ((xA)_s - p_s)^2 - eta H(x), as the note prints it."""
    return 2 * len(share) * law @ (share * (x @ law - share)) + _ETA * (
        1 + np.log(np.maximum(x, 1e-300))
    )


@pytest.mark.parametrize("scheme", UNIFORM)
def test_the_gradient_is_the_same_at_every_rank(scheme: str) -> None:
    # On the simplex a convex function is at its minimum where all partial derivatives agree.
    for n, m, size in ((3541, 100, 6040), (50, 3, 10), (200, 60, 1)):
        srs = beta_drawn(n, m, scheme, size)
        x = sd.rank_distribution(srs, "mes")
        g = slope(dense_law(n, m, scheme), srs.outcomes.counts[0] / size, x)
        # Near the end of the scale of floats log(x) is lost: only ranks with weight count.
        assert np.ptp(g[x > 1e-200]) <= 1e-9 * np.abs(g).max()


def test_groups_add_their_errors() -> None:
    # Two numbers of negatives: the objective is the mean over the instances of each group's.
    n = 80
    srs = SampledRankSet(
        "S", [1, 1, 4, 2, 9, 1], n, [5, 5, 5, 12, 12, 12], counts=[1, 1, 1, 2, 1, 1]
    )
    x = sd.rank_distribution(srs, "mes")
    g = _ETA * (1 + np.log(np.maximum(x, 1e-300)))
    for m, counts in zip(srs.outcomes.m, srs.outcomes.counts, strict=True):
        law, share = dense_law(n, m, WITH), counts / counts.sum()
        part = counts.sum() / srs.n_instances
        g += part * 2 * (m + 1) * law @ (share * (x @ law - share))
    assert np.ptp(g) <= 1e-10 * np.abs(g).max()


@pytest.mark.parametrize("scheme", UNIFORM)
@pytest.mark.parametrize("method", ["mle", "mes", "monotone-mle"])
def test_panels_are_as_good_as_every_rank(scheme, method, monkeypatch) -> None:
    n, m = 9_000, 40
    observed = beta_drawn(n, m, scheme, 3000).outcomes
    few = Model(observed, method).distribution()
    assert len(few.support.above) < n / 1.9
    for cached in (support_of, _step_rows):
        cached.cache_clear()
    monkeypatch.setattr(sys.modules[Model.__module__], "EVERY_RANK", 10**6)
    every = Model(observed, method).distribution()
    for cached in (support_of, _step_rows):
        cached.cache_clear()
    assert len(every.support.above) == n
    # One rank a node: nothing is interpolated, the sums are the definition.
    exact = every.mass
    np.testing.assert_allclose(few.probabilities(), exact, rtol=1e-9, atol=1e-13 * exact.max())
    rank = np.arange(1, n + 1)
    for text in ("Recall@10", "Recall@777", "NDCG@1500", "AP", "AUC", "NDCG", "Precision@9000"):
        metric = sd.parse_metric(text)
        assert few.expected(text) == pytest.approx(exact @ metric(rank, n), rel=1e-12), text


@pytest.mark.parametrize("scheme", UNIFORM)
def test_laws_at_nodes_sum_up(scheme: str) -> None:
    # Sum over all ranks of the law: n / (m + 1) for each sampled rank without replacement,
    # and for every polynomial sum with replacement the Gauss rule is exact.
    for n, m in ((10**7, 200), (5_000, 2_000), (4_001, 4_000)):
        support = support_of(n, m, scheme)
        assert support.ranks.sum() == pytest.approx(n, rel=1e-13)
        assert support.ranks @ support.above == pytest.approx(n * (n - 1) / 2, rel=1e-13)
        if scheme == "without-replacement":
            total = support.ranks @ support.law(m)
            np.testing.assert_allclose(total, n / (m + 1), rtol=1e-11)


def test_step_ends() -> None:
    for n in (2, 300, 501, 3541, 10**9):
        ends = step_ends(n)
        assert ends[0] == 1
        assert ends[-1] == n
        assert np.all(np.diff(ends) > 0)
        assert len(ends) <= 501


def test_extreme_samples() -> None:
    # Everything first, everything last: mass underflows far away, nothing breaks.
    for rank in (1, 201):
        srs = SampledRankSet("S", [rank] * 50, 100_000, 200)
        for method in ("mle", "mes", "monotone-mle"):
            p = sd.rank_distribution(srs, method)
            assert p.shape == (srs.population,)
            assert not p.flags.writeable
            assert np.all(np.isfinite(p))
            assert p.sum() == pytest.approx(1, abs=1e-12)
            where = p @ np.arange(100_000) / 99_999
            assert (where < 0.1) if rank == 1 else (where > 0.45)
