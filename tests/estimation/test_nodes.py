"""Panels of ranks give what every rank gives; impossible samples are refused."""

from __future__ import annotations

import numpy as np
import pytest

import sampledash as sd
from sampledash.estimation import distribution, nodes, sample, steps
from sampledash.sampledranks import SampledRankSet
from tests.oracles import UNIFORM


def drawn(n: int, m: int, scheme: str, size: int = 3000) -> SampledRankSet:
    rng = np.random.default_rng(8)
    ranks = np.minimum(1 + (n * rng.beta(0.4, 2.0, size)).astype(int), n)
    return SampledRankSet("S", sd.Sampling(n, m, scheme).draw(ranks, rng), n, m, scheme=scheme)


@pytest.mark.parametrize("scheme", UNIFORM)
@pytest.mark.parametrize("method", ["mle", "mes", "monotone-mle"])
def test_panels_are_as_good_as_every_rank(scheme, method, monkeypatch) -> None:
    n, m = 9_000, 40
    observed = sample.sample_of((drawn(n, m, scheme),))
    few = distribution.estimate_distribution(observed, method)
    assert len(few.support.above) < n / 1.9
    for cached in (nodes.support, steps._steps):
        cached.cache_clear()
    monkeypatch.setattr(nodes, "EVERY_RANK", 10**6)
    every = distribution.estimate_distribution(observed, method)
    for cached in (nodes.support, steps._steps):
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
        support = nodes.support(n, m, scheme)
        assert support.ranks.sum() == pytest.approx(n, rel=1e-13)
        assert support.ranks @ support.above == pytest.approx(n * (n - 1) / 2, rel=1e-13)
        if scheme == "without-replacement":
            total = support.ranks @ support.law(m)
            np.testing.assert_allclose(total, n / (m + 1), rtol=1e-11)


def test_step_ends() -> None:
    for n in (2, 300, 501, 3541, 10**9):
        ends = nodes.step_ends(n)
        assert ends[0] == 1
        assert ends[-1] == n
        assert np.all(np.diff(ends) > 0)
        assert len(ends) <= 501


def test_an_estimate_is_a_distribution_at_any_n() -> None:
    for n in (10**7, 10**9):
        for method in ("mle", "mes", "monotone-mle"):
            found = distribution.fitted(drawn(n, 100, "with-replacement"), method)
            assert found.mass.sum() == pytest.approx(1, abs=1e-12)
            assert np.all(found.mass >= 0)
            assert not found.mass.flags.writeable


def test_extreme_samples() -> None:
    # Everything first, everything last: mass underflows far away, nothing breaks.
    for rank in (1, 201):
        srs = SampledRankSet("S", [rank] * 50, 100_000, 200)
        for method in ("mle", "mes", "monotone-mle"):
            p = sd_rank_distribution(srs, method)
            assert np.all(np.isfinite(p))
            assert p.sum() == pytest.approx(1, abs=1e-12)
            where = p @ np.arange(100_000) / 99_999
            assert (where < 0.1) if rank == 1 else (where > 0.45)


def sd_rank_distribution(srs: SampledRankSet, method: str) -> np.ndarray:
    p = distribution.rank_distribution(srs, method)
    assert p.shape == (srs.population,)
    assert not p.flags.writeable
    return p
