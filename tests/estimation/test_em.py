"""Expectation maximisation as printed, its likelihood, and the shape-constrained mixture."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sampledash as sd
from sampledash.estimation import distribution, em, fitted, fitted_side_by_side
from sampledash.sampledranks import SampledRankSet
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
            distribution.rank_distribution(srs)
        return
    ours = distribution.rank_distribution(srs, iterations=iterations)
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
    n, m, rng = 300, 15, np.random.default_rng(2)
    ranks = np.minimum(1 + (n * rng.beta(0.5, 2, 400)).astype(int), n)
    srs = SampledRankSet("S", sd.Sampling(n, m, scheme).draw(ranks, rng), n, m, scheme=scheme)
    share = srs.draws[0].counts / 400
    for iterations in (1, 50, 500):
        ours = distribution.rank_distribution(srs, "monotone-mle", iterations=iterations)
        printed = monotone_as_printed(dense_law(n, m, scheme), share, iterations)
        np.testing.assert_allclose(ours, printed, rtol=1e-9, atol=1e-15)
        assert np.all(np.diff(ours) <= 1e-18)
    assert np.array_equal(
        distribution.rank_distribution(srs, "monotone-mle"),
        distribution.rank_distribution(srs, "monotone-mle", iterations=50),
    )


def test_likelihood_never_falls() -> None:
    n, m = 500, 20
    rng = np.random.default_rng(5)
    srs = SampledRankSet("S", rng.integers(1, m + 2, 300), n, m)
    law, share = dense_law(n, m, WITH), srs.draws[0].counts / 300
    for method in ("mle", "monotone-mle"):
        values = []
        for i in range(1, 40):
            p = distribution.rank_distribution(srs, method, iterations=i)
            values.append(float(share[share > 0] @ np.log((p @ law)[share > 0])))
        assert np.all(np.diff(values) >= -1e-13)


def test_runs_together_are_runs_alone() -> None:
    rng = np.random.default_rng(1)
    rows = rng.dirichlet(np.ones(9), 30)
    shares = rng.dirichlet(np.ones(9), 4)
    shares[0, 3:] = 0
    shares /= shares.sum(axis=1, keepdims=True)
    start = np.full(30, 1 / 30)
    many = em.most_likely(rows, shares, start, 25)
    for share, found in zip(shares, many, strict=True):
        np.testing.assert_allclose(found, em.most_likely(rows, share, start, 25), rtol=1e-12)


def test_perfect_data_are_reproduced() -> None:
    # A histogram that some distribution explains exactly: in the limit the fit explains it too.
    n, m = 60, 8
    truth = 0.9 ** np.arange(n)
    truth /= truth.sum()
    law = dense_law(n, m, WITHOUT)
    srs = SampledRankSet("S", np.arange(1, m + 2), n, m, scheme=WITHOUT, counts=truth @ law)
    for method in ("mle", "monotone-mle"):
        p = distribution.rank_distribution(srs, method, iterations=20_000)
        # The approach is slow: about 1 / iterations.
        np.testing.assert_allclose(p @ law, truth @ law, rtol=0, atol=1e-4)


def test_pooling_adds_the_counts() -> None:
    a = SampledRankSet("A", [1, 2, 2, 5], 400, 10)
    b = SampledRankSet("B", [1, 1, 9], 400, [10, 10, 20])
    both = SampledRankSet("AB", [1, 2, 2, 5, 1, 1, 9], 400, [10] * 6 + [20])
    for method in ("mle", "mes", "monotone-mle"):
        np.testing.assert_allclose(
            distribution.rank_distribution([a, b], method),
            distribution.rank_distribution(both, method),
            rtol=1e-10,
        )


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
    shares = [s.draws[0].counts / 300 for s in sets]
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
        (lambda: distribution.rank_distribution([]), "sets is empty"),
        (lambda: distribution.rank_distribution([srs, "x"]), "give SampledRankSets"),
        (lambda: distribution.rank_distribution(srs, "ml"), "method must be one of mle, mes"),
        (lambda: distribution.rank_distribution(srs, iterations=0), "iterations must be at least"),
        (lambda: distribution.rank_distribution(srs, "mes", iterations=5), "no effect on 'mes'"),
        (
            lambda: distribution.rank_distribution(
                [srs, SampledRankSet("T", [1], 50, 4, scheme=WITHOUT)]
            ),
            "pool sets drawn in the same way",
        ),
        (
            lambda: distribution.rank_distribution(SampledRankSet("S", [1], 10**7 + 1, 4)),
            "n = 10000001 is too large to write out",
        ),
        (lambda: fitted(SampledRankSet("S", [2], 2, 2), "mle"), "sampled_rank 2 cannot occur"),
    ]  # fmt: skip
    for call, words in cases:
        with pytest.raises(ValueError, match=words):
            call()
