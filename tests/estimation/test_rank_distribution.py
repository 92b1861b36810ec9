"""Rank distributions: the printed iterations and the conditions of the minimum, at every rank."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sampledash as sd
from sampledash.estimation.rank_distribution import _ETA, fitted_side_by_side
from sampledash.sampled_rank_sets import SampledRankSet
from tests.estimation.cases import beta_drawn
from tests.oracles import UNIFORM, WITH, dense_law, exact_law

METHODS = ("mle", "mes", "monotone-mle")


def iterated(rows: np.ndarray, share: np.ndarray, w: np.ndarray, iterations: int) -> np.ndarray:
    """Note by instance: pi_r <- (1/U) sum_u pi_r B_u(r) / sum_q pi_q B_u(q)."""
    for _ in range(iterations):
        w = w * (rows @ (share / (w @ rows)))
    return w


def uniforms(n: int) -> np.ndarray:
    """Mixed to a non-increasing distribution: up to 200, and 300 more; shape (places, n)."""
    ends = np.arange(1, n + 1)
    if n > 500:
        beyond = np.geomspace(200, n, 301).round().astype(int)
        ends = np.union1d(np.arange(1, 201), beyond)
    return (np.arange(1, n + 1) <= ends[:, None]) / ends[:, None]


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
    rows = np.stack([laws[x][:, r - 1] for r, x in zip(ranks, m, strict=True)], axis=1)
    srs = SampledRankSet("S", ranks, n, m, scheme=scheme, counts=weights)
    ours = sd.rank_distribution(srs, iterations=iterations)
    share = np.array(weights) / np.sum(weights)
    printed = iterated(rows, share, np.full(n, 1 / n), iterations)
    np.testing.assert_allclose(ours, printed, rtol=1e-9, atol=1e-14)


@pytest.mark.parametrize("scheme", UNIFORM)
@pytest.mark.parametrize(("n", "m", "iterations"), [(300, 15, 1), (300, 15, 500), (9_000, 40, 50)])
def test_any_n(n: int, m: int, iterations: int, scheme: str) -> None:
    """Beyond 4,000 candidates panels of ranks are as good as every rank."""
    srs = beta_drawn(n, m, scheme, 400)
    law, share = dense_law(n, m, scheme), srs.outcomes.counts[0] / 400
    law, share = law[:, share > 0], share[share > 0]
    even = uniforms(n)
    start = np.full(len(even), 1 / len(even))
    for method, printed in (
        ("mle", iterated(law, share, np.full(n, 1 / n), iterations)),
        ("monotone-mle", iterated(even @ law, share, start, iterations) @ even),
    ):
        ours = sd.rank_distribution(srs, method, iterations=iterations)
        np.testing.assert_allclose(ours, printed, rtol=1e-9, atol=1e-13 * printed.max())
    assert np.all(np.diff(ours) <= 1e-13 * ours.max())
    if iterations == 50:
        assert np.array_equal(ours, sd.rank_distribution(srs, "monotone-mle"))


def test_pooling_adds_the_counts() -> None:
    a = SampledRankSet("A", [1, 2, 2, 5], 400, 10)
    b = SampledRankSet("B", [1, 1, 9], 400, [10, 10, 20])
    both = SampledRankSet("AB", [1, 2, 2, 5, 1, 1, 9], 400, [10] * 6 + [20])
    for method in METHODS:
        found = sd.rank_distribution([a, b], method)
        np.testing.assert_allclose(found, sd.rank_distribution(both, method), rtol=1e-10)
    # Of other n it is their mean over the instances.
    b = SampledRankSet("B", [1, 1, 9], 470, [10, 10, 20])
    both = SampledRankSet("AB", [1, 2, 2, 5, 1, 1, 9], 430, [10] * 6 + [20])
    assert sd.rank_distribution([a, b]) == pytest.approx(sd.rank_distribution(both), rel=1e-10)


def test_side_by_side_begins_at_the_common_distribution() -> None:
    # By the printed iteration: 50 steps on all, then 10 on the system's own.
    n, m, even = 200, 12, uniforms(200)
    rows = even @ dense_law(n, m, WITH)
    sets = [beta_drawn(n, m, size=300, a=a) for a in (0.4, 0.7)]
    shares = [s.outcomes.counts[0] / 300 for s in sets]
    common = iterated(rows, np.mean(shares, axis=0), np.full(n, 1 / n), 50)
    for share, found in zip(shares, fitted_side_by_side(sets), strict=True):
        own = iterated(rows, share, common, 10) @ even
        np.testing.assert_allclose(found.mass, own, rtol=1e-9, atol=1e-15)


SPREAD = SampledRankSet(
    "S", [1, 1, 4, 2, 9, 1], 80, [5, 5, 5, 12, 12, 12], counts=[1, 1, 1, 2, 1, 1]
)


@pytest.mark.parametrize(
    "srs",
    [beta_drawn(*case) for case in ((3541, 100, WITH, 6040), (50, 3, WITH, 10), (200, 60, WITH, 1))]
    + [beta_drawn(*case, "without-replacement", 3000) for case in ((3541, 100), (9_000, 40))]
    + [SPREAD],  # of two numbers of negatives: the mean over the instances of each one's errors
)
def test_the_gradient_is_the_same_at_every_rank(srs: SampledRankSet) -> None:
    # On the simplex a convex function, (m+1) sum_s p_s ((xA)_s - p_s)^2 - eta H(x) as the note
    # prints it, is at its minimum where all partial derivatives agree.
    x = sd.rank_distribution(srs, "mes")
    g = _ETA * (1 + np.log(np.maximum(x, 1e-300)))
    for m, counts in zip(srs.outcomes.m, srs.outcomes.counts, strict=True):
        law, share = dense_law(srs.population, m, srs.scheme), counts / counts.sum()
        part = counts.sum() / srs.n_instances
        g += part * 2 * (m + 1) * law @ (share * (x @ law - share))
    # Near the end of the scale of floats log(x) is lost: only ranks with weight count.
    assert np.ptp(g[x > 1e-200]) <= 1e-9 * np.abs(g).max()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rank", [1, 201])
def test_extreme_samples(rank: int, method: str) -> None:
    # Everything first, everything last: mass underflows far away, nothing breaks.
    p = sd.rank_distribution(SampledRankSet("S", [rank] * 50, 100_000, 200), method)
    assert p.shape == (100_000,)
    assert not p.flags.writeable
    assert np.all(np.isfinite(p))
    assert p.sum() == pytest.approx(1, abs=1e-12)
    where = p @ np.arange(100_000) / 99_999
    assert (where < 0.1) if rank == 1 else (where > 0.45)
