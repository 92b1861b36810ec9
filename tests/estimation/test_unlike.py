"""Instances that differ in n, or in m by what goes with the rank: ranges, estimates, refusals."""

from functools import partial

import numpy as np
import pytest

import sampledash as sd
from sampledash.estimation.bounds import bounds
from sampledash.estimation.vectors import fit_learned
from sampledash.metrics import as_metric
from sampledash.sampled_rank_sets import SampledRankSet
from tests.benchmarks.bounds import CASES, misses
from tests.estimation.cases import least_held


@pytest.mark.parametrize(
    ("case", "name"),
    [("m of a platform, 6,000 users", "AUC"), ("n = 200 or 20,000", "Recall@10"),
     ("m doubled by the draw", "Recall@10"), ("40 users, three n", "AUC")],
)  # fmt: skip
def test_ranges_hold_the_metric_of_instances_that_differ(case: str, name: str) -> None:
    metric, rng = as_metric(name), np.random.default_rng(61)

    def draw() -> tuple[SampledRankSet, float]:
        found = CASES[case](rng)
        return found.srs, float(metric(found.ranks, found.n).mean())

    found = misses(10, draw, partial(bounds, metric))
    assert found.seen == 10
    assert 1 - found.shares[0] >= least_held(10)


def parts(found, key):
    """The sample apart for each value of a column, and how many instances each has."""
    srs = found.srs
    for value in np.unique(key):
        here = key == value
        more = {"scheme": srs.scheme, "adaptive": srs.adaptive}
        yield (
            np.sum(here),
            SampledRankSet("A", srs.sampled_ranks[here], srs.n[here], srs.m[here], **more),
        )


@pytest.mark.parametrize("method", ["mle", "monotone-mle", "BV 0.1", "bv-mes", "uncorrected"])
def test_instances_of_each_n_are_estimated_by_themselves(method: str) -> None:
    found = CASES["n = 200 or 20,000"](np.random.default_rng(63))
    sizes, values = zip(
        *((size, sd.estimate("NDCG@10", one, method).value) for size, one in parts(found, found.n)),
        strict=True,
    )
    ours = sd.estimate("NDCG@10", found.srs, method)
    assert ours.value == pytest.approx(np.average(values, weights=sizes), rel=1e-9)
    assert ours.low <= ours.value <= ours.high


def test_a_distribution_over_ranks_is_of_about_one_n() -> None:
    found = CASES["n = 200 or 20,000"](np.random.default_rng(65))
    mixed = sd.rank_distribution(found.srs, "mle")
    expected = np.zeros(20_000)
    for size, one in parts(found, found.n):
        expected[: one.population] += size / len(found.n) * sd.rank_distribution(one, "mle")
    assert mixed == pytest.approx(expected, abs=1e-12)
    for call in (
        lambda: sd.rank_distribution([found.srs, found.srs], "mle"),
        lambda: fit_learned("bv-mle", "AP", found.srs, m=99),
    ):
        with pytest.raises(ValueError, match=r"n is 200 to 20000, .*: give a set for each n"):
            call()
