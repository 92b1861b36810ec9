"""Reading a sampled cutoff as a full one: quadrature, enumeration and counting by hand."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom

import sampledash as sd
from sampledash.estimation.estimate import full_cutoff, matching_cutoff
from tests.oracles import UNIFORM, WITHOUT, dense_law


def test_linear() -> None:
    # The end of the sampled list is near that of the full one.
    assert [full_cutoff(k, 3706, 100) for k in (1, 2, 10, 101)] == [1, 38, 334, 3706]
    assert [full_cutoff(k, 10, 9) for k in (1, 4)] == [1, 4]


@pytest.mark.parametrize("a", [0.2, 0.5, 1.0, 2.5])
def test_beta_by_integration(a: float) -> None:
    # Chance of a sampled rank up to k if the share above has density a p^(a-1): u = p^a is uniform.
    n, m = 5000, 20
    for k in (1, 5, 20):
        total = quad(
            lambda u, k=k: binom.cdf(k - 1, m, u ** (1 / a)), 0, 1, epsabs=1e-13, limit=200
        )
        by_hand = 1 + (n - 1) * total[0] ** (1 / a)
        assert full_cutoff(k, n, m, beta=a) == pytest.approx(by_hand, rel=1e-8)
    assert full_cutoff(m + 1, n, m, beta=a) == n


@pytest.mark.parametrize("scheme", UNIFORM)
def test_matching_by_counting(scheme: str) -> None:
    n, rng = 120, np.random.default_rng(0)
    ranks = np.minimum(1 + (n * rng.beta(0.5, 2, 200)).astype(int), n)
    rs = sd.RankSet("S", ranks, n)
    for k, m in ((1, 15), (3, 15), (10, 15), (16, 15), (1, 1), (2, 1)):
        law = dense_law(n, m, scheme)[ranks - 1]
        expected = law[:, :k].sum(axis=1).mean()
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
