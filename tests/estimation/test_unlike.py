"""Instances that differ in n: each n has a rank distribution of its own."""

import numpy as np
import pytest

import sampledash as sd
from sampledash.estimation.vectors import fit_learned
from sampledash.sampled_rank_sets import SampledRankSet
from tests.benchmarks.bounds import CASES

SRS = CASES["n = 200 or 20,000"](np.random.default_rng(63))[0]
PARTS = [
    SampledRankSet("A", SRS.sampled_ranks[at], n, SRS.m[at], scheme=SRS.scheme)
    for n, at in ((n, SRS.n == n) for n in (200, 20_000))
]
SHARES = np.array([len(one) / len(SRS) for one in PARTS])


@pytest.mark.parametrize("method", ["mle", "monotone-mle", "BV 0.1", "bv-mes", "uncorrected"])
def test_instances_of_each_n_are_estimated_by_themselves(method: str) -> None:
    exact = SHARES @ [sd.estimate("NDCG@10", one, method).value for one in PARTS]
    found = sd.estimate("NDCG@10", SRS, method)
    assert found.value == pytest.approx(exact, rel=1e-9)
    assert found.low <= found.value <= found.high


def test_a_distribution_over_ranks_is_of_about_one_n() -> None:
    expected = np.zeros(20_000)
    for share, one in zip(SHARES, PARTS, strict=True):
        expected[: one.population] += share * sd.rank_distribution(one, "mle")
    assert sd.rank_distribution(SRS, "mle") == pytest.approx(expected, abs=1e-12)
    with pytest.raises(ValueError, match=r"n is 200 to 20000, .*: give a set for each n"):
        fit_learned("bv-mle", "AP", SRS, m=99)
