"""Estimated rank distributions, against published iterations and conditions of optimality."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sampledash as sd
from sampledash.estimation import rank_distribution as learners
from sampledash.estimation.rank_distribution import fitted
from sampledash.estimation.support import interpolated, step_ends
from sampledash.sampled_rank_sets import SampledRankSet
from tests.estimation.cases import beta_drawn
from tests.oracles import UNIFORM, WITH, WITHOUT, dense_law, exact_law, exact_metric

METHODS = ("mle", "mes", "monotone-mle")


def iterated(rows: np.ndarray, share: np.ndarray, w: np.ndarray, iterations: int) -> np.ndarray:
    """Return w after repeating w_r <- w_r sum_s rows[r, s] share_s / sum_q w_q rows[q, s]."""
    for _ in range(iterations):
        w = w * (rows @ (share / (w @ rows)))
    return w


def uniforms(n: int) -> np.ndarray:
    """Return the uniform distributions on 1..j, for all j or, if n > 500, for about 500 of them."""
    ends = np.arange(1, n + 1)
    if n > 500:
        beyond = np.geomspace(200, n, 301).round().astype(int)
        ends = np.union1d(np.arange(1, 201), beyond)
    return (np.arange(1, n + 1) <= ends[:, None]) / ends[:, None]


@pytest.mark.parametrize("n", [2, 200, 201, 500, 501, 502, 9000])
def test_where_a_non_increasing_distribution_may_fall(n: int) -> None:
    assert step_ends(n).tolist() == np.count_nonzero(uniforms(n), axis=1).tolist()
    assert not step_ends(n).flags.writeable


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("n", [60, 9_000])
def test_means_of_metrics_with_any_cutoff(n: int, method: str) -> None:
    """Means are right for cutoffs inside panels (intervals of ranks), at their ends, or above n."""
    found = fitted(beta_drawn(n, 30 if n > 60 else 9), method)
    mass, panels = found.probabilities(), found.support.ends
    cuts = [1, 2, 64, 65, 700, 4321, n - 1, n, n + 5, *panels[-3:-1], panels[70 % len(panels)] + 1]
    metrics = [("auc", None), ("ap", None)]
    for name, k in metrics + [(x, int(k)) for k in cuts for x in ("ndcg", "recall")]:
        exact = mass @ exact_metric(name, k, n)
        assert float(found.expected(sd.metric(name, k=k))) == pytest.approx(exact, rel=1e-9)
        above, ranks, part = found.at(sd.metric(name, k=k))
        assert (ranks.sum(), part.sum()) == pytest.approx((n, 1))
        assert k is None or ranks[above < k].sum() == pytest.approx(min(k, n))


def test_between_nodes_of_a_panel_the_logarithm_is_a_polynomial() -> None:
    at, above = np.array([3.0, 5, 6, 9, 12]), np.arange(3.0, 13)
    lines = np.exp(np.stack([2 - above / 3, (above - 7) ** 2 / 9]))
    found = interpolated(at, lines[:, (at - 3).astype(int)], above)
    np.testing.assert_allclose(found, lines, rtol=1e-9)
    # If a value at a node underflows to 0, the interpolation between the nodes is linear.
    lost = np.array([4e-290, 1e-295, 1e-300, 0.0, 0.0])
    both = interpolated(at, np.stack([lost, lines[0, (at - 3).astype(int)]]), above)
    np.testing.assert_allclose(both, [np.interp(above, at, lost), lines[0]], rtol=1e-9)


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
    """Beyond 4,000 candidates, panels (intervals of ranks) are as accurate as all ranks."""
    srs = beta_drawn(n, m, scheme, 400)
    law, share = dense_law(n, m, scheme), srs.outcomes.counts[0] / 400
    law, share = law[:, share > 0], share[share > 0]
    even = uniforms(n)
    start = np.full(len(even), 1 / len(even))
    likeliest = iterated(law, share, np.full(n, 1 / n), iterations)
    falling = iterated(even @ law, share, start, iterations) @ even
    for method, printed in (("mle", likeliest), ("monotone-mle", falling)):
        ours = sd.rank_distribution(srs, method, iterations=iterations)
        np.testing.assert_allclose(ours, printed, rtol=1e-9, atol=1e-13 * printed.max())
    assert np.all(np.diff(ours) <= 1e-13 * ours.max())
    if iterations == 50:
        assert np.array_equal(ours, sd.rank_distribution(srs, "monotone-mle"))


def test_pooling_adds_the_counts() -> None:
    more = {"scheme": WITHOUT}
    a = SampledRankSet("A", [1, 2, 2, 5], 400, 10, **more)
    b = SampledRankSet("B", [1, 1, 9], 400, [10, 10, 20], counts=[1, 2, 0.5], **more)
    ranks, counts = [1, 2, 2, 5, 1, 1, 9], [1] * 5 + [2, 0.5]
    both = SampledRankSet("AB", ranks, 400, [10] * 6 + [20], counts=counts, **more)
    for method in METHODS:
        for steps in (None, 7)[: 1 + (method != "mes")]:
            found = sd.rank_distribution([a, b], method, iterations=steps)
            ours = sd.rank_distribution(both, method, iterations=steps)
            np.testing.assert_allclose(found, ours, rtol=1e-10)
            assert not found.flags.writeable
    # Sets with different n are estimated together at the mean n of their instances.
    b, both = (replace(x, n=n) for x, n in ((b, 475), (both, 435)))
    assert sd.rank_distribution([a, b]) == pytest.approx(sd.rank_distribution(both), rel=1e-10)


@pytest.mark.parametrize(
    ("n", "counts", "refused"),
    [([100, 161], [9, 1], False), ([100, 161], [8.9, 1.1], True), ([100, 149], [1, 1], False),
     ([50, 160], [5, 5], True), ([100, 144, 250], [4, 5, 1], False), ([60, 100], [0.99, 9], False),
     ([60, 100], [1.01, 9], True), ([100, 400], [9, 0], False)],
)  # fmt: skip
def test_nine_in_ten_are_near_the_mean_n(n, counts, refused) -> None:
    """At least nine in ten instances (by count) must have n within a factor of 1.5 of the mean."""
    sets = [SampledRankSet("S", [1] * len(n), n, 9, counts=counts, scheme=WITH)] * 2
    if refused:
        with pytest.raises(ValueError, match=f"n is {n[0]} to {n[-1]}, and a rank among few"):
            fitted(sets, "mle")
    else:
        fitted(sets, "mle")


def test_side_by_side_begins_at_the_common_distribution() -> None:
    # ``fitted_side_by_side`` does 50 iterations for all systems together, then 10 for each one.
    n, sizes, even = 200, (12, 17), uniforms(200)
    rows = [even @ dense_law(n, m, WITH) for m in sizes]
    sets = [beta_drawn(n, m, size=300, a=a) for a, m in zip((0.4, 0.7), sizes, strict=True)]
    shares = [x.outcomes.counts[0] / 300 for x in sets]
    start = np.full(n, 1 / n)
    common = iterated(np.hstack(rows), np.concatenate(shares) / 2, start, 50)
    for law, share, found in zip(rows, shares, learners.fitted_side_by_side(sets), strict=True):
        own = iterated(law, share, common, 10) @ even
        np.testing.assert_allclose(found.mass, own, rtol=1e-9, atol=1e-15)


M = [5, 5, 5, 12, 12, 12]
SPREAD = SampledRankSet("S", [1, 1, 4, 2, 9, 1], 80, M, counts=[1, 1, 1, 2, 1, 1])


@pytest.mark.parametrize(
    "srs",
    [beta_drawn(*case) for case in ((3541, 100, WITH, 6040), (50, 3, WITH, 10), (200, 60, WITH, 1))]
    + [beta_drawn(*case, "without-replacement", 3000) for case in ((3541, 100), (9_000, 40))]
    + [SPREAD],  # two m: their squared errors are averaged over instances
)
def test_the_gradient_is_the_same_at_every_rank(srs: SampledRankSet) -> None:
    # MES minimizes (m+1) sum_s p_s ((x @ law)_s - p_s)^2 - eta entropy(x), p the observed shares
    # of sampled ranks, over distributions x; at the minimum all partial derivatives are equal.
    x = sd.rank_distribution(srs, "mes")
    g = learners._ETA * (1 + np.log(np.maximum(x, 1e-300)))
    for m, counts in zip(srs.outcomes.m, srs.outcomes.counts, strict=True):
        law, share = dense_law(srs.population, m, srs.scheme), counts / counts.sum()
        part = counts.sum() / srs.n_instances
        g += part * 2 * (m + 1) * law @ (share * (x @ law - share))
    # log(x) is inaccurate near the smallest float, so only ranks with enough mass count.
    assert np.ptp(g[x > 1e-200]) <= 1e-9 * np.abs(g).max()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("rank", [1, 201])
def test_extreme_samples(rank: int, method: str) -> None:
    # Sampled ranks are all 1 or all m + 1: probabilities of distant ranks underflow without error.
    p = sd.rank_distribution(SampledRankSet("S", [rank] * 50, 100_000, 200), method)
    assert p.shape == (100_000,)
    assert not p.flags.writeable
    assert np.all(np.isfinite(p))
    assert p.sum() == pytest.approx(1, abs=1e-12)
    where = p @ np.arange(100_000) / 99_999
    assert (where < 0.1) if rank == 1 else (where > 0.45)
