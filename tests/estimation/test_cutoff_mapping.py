"""Reading a sampled cutoff as a full one: quadrature, enumeration and counting by hand."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from scipy.integrate import quad

import sampledash as sd
from sampledash.estimation import full_cutoff, matching_cutoff
from tests.oracles import UNIFORM, WITHOUT, dense_law


def test_linear() -> None:
    # The end of the sampled list is near that of the full one.
    assert [full_cutoff(k, 3706, 100) for k in (1, 2, 10, 101)] == [1, 38, 334, 3706]
    assert full_cutoff(1, 10, 9) == 1
    assert full_cutoff(4, 10, 9) == 4


@pytest.mark.parametrize("a", [0.2, 0.5, 1.0, 2.5])
def test_beta_by_integration(a: float) -> None:
    # Chance of a sampled rank up to k if the share above has density a p^(a-1).
    n, m = 5000, 20
    for k in (1, 5, 20):

        def chance(u: float, k: int = k) -> float:  # u = p^a is uniform
            p = u ** (1 / a)
            return sum(comb(m, i) * p**i * (1 - p) ** (m - i) for i in range(k))

        total = quad(chance, 0, 1, epsabs=1e-13, limit=200)[0]
        assert full_cutoff(k, n, m, beta=a) == pytest.approx(
            1 + (n - 1) * total ** (1 / a), rel=1e-8
        )
    assert full_cutoff(m + 1, n, m, beta=a) == n


@pytest.mark.parametrize("scheme", UNIFORM)
def test_matching_by_counting(scheme: str) -> None:
    n, m = 120, 15
    rng = np.random.default_rng(0)
    ranks = np.minimum(1 + (n * rng.beta(0.5, 2, 200)).astype(int), n)
    rs = sd.RankSet("S", ranks, n)
    law = dense_law(n, m, scheme)
    for k in (1, 3, 10, 16):
        expected = law[ranks - 1, :k].sum() / len(ranks)
        by_hand = next(K for K in range(1, n + 1) if np.mean(ranks <= K) >= expected - 1e-12)
        assert matching_cutoff(k, rs, m, scheme=scheme) == by_hand
    # More negatives than there are: all are drawn, and ranks are what they are.
    assert matching_cutoff(100, rs, 5_000, scheme=WITHOUT) == ranks[ranks <= 100].max()


def test_own_n_and_few_negatives(xyz: list[sd.RankSet]) -> None:
    # The public mean, at the cutoff found and one below.
    for rs in xyz:
        for m in (100, 2_000):
            k = matching_cutoff(10, rs, m, scheme=WITHOUT)
            sampled = sd.expected_mean("Recall@10", rs, m, scheme=WITHOUT)
            assert sd.mean(f"Recall@{k}", rs) >= sampled - 1e-9
            assert k == 1 or sd.mean(f"Recall@{k - 1}", rs) < sampled
    assert len({matching_cutoff(10, rs, 100) for rs in xyz}) == 3  # one for each system


def test_refusals() -> None:
    rs = sd.RankSet("S", [1, 2], 9)
    for call, words in [
        (lambda: full_cutoff(0, 50, 5), "k must be at least 1"),
        (lambda: full_cutoff(7, 50, 5), "k must be at most 6"),
        (lambda: full_cutoff(1, 50, 5, beta=0), "beta must be above 0"),
        (lambda: matching_cutoff(1, rs, 5, scheme="popularity"), "scheme must be one of"),
        (lambda: matching_cutoff(1, sd.RankSet("S", [1, 2], 9, ties=[0, 3]), 5), "has ties"),
        (lambda: matching_cutoff(1, sd.RankSet("S", [1, 2], 9, instances=[1, 1]), 5), "several"),
    ]:
        with pytest.raises(ValueError, match=words):
            call()
