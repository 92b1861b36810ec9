"""Bounds at a tolerance: against programmes over all ranks, and what they must obey."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampledash.estimation import linear_programme
from sampledash.estimation.bounds import bounds, constrained
from sampledash.metrics import metric
from sampledash.ranksets import RankSet
from sampledash.sampledranks import SampledRankSet
from tests.estimation.cases import averaged, brute
from tests.oracles import METRICS, UNIFORM

N, M = 3541, 100


@pytest.fixture(scope="module")
def averages(xyz) -> dict[str, SampledRankSet]:
    return {one.system: averaged(one, N, M) for one in xyz}


@pytest.mark.parametrize(
    ("shape", "low", "high"), [(None, 0.00945, 0.18362), ("non-increasing", 0.07918, 0.10375)]
)
def test_what_infinitely_many_instances_tell_about_y(averages, shape, low, high) -> None:
    # From the dense programme over all 3,541 ranks, computed elsewhere; five digits.
    found = bounds("Recall@10", averages["Y"], shape=shape, tolerance=1e-4)
    assert found == pytest.approx((low, high), abs=6e-6)


@pytest.mark.parametrize("shape", [None, "non-increasing"])
def test_few_places_are_as_good_as_all_ranks(xyz, shape) -> None:
    y = xyz[1].ranks[xyz[1].ranks <= 1000]
    some = averaged(RankSet("Y", y, 1000), 1000, 40)
    found = bounds("NDCG@10", some, shape=shape, tolerance=1e-3)
    every = brute("ndcg", 10, some, 1000, shape, 1e-3)
    assert found == pytest.approx(every, abs=1e-6)


@given(st.integers(0, 10**6))
def test_small_cases_against_all_ranks(seed) -> None:
    rng = np.random.default_rng(seed)
    name, k = METRICS[rng.integers(len(METRICS))]
    n, scheme = int(rng.integers(5, 70)), UNIFORM[rng.integers(2)]
    shape = (None, "non-increasing")[rng.integers(2)]
    sizes = rng.integers(1, min(n, 9), rng.integers(1, 3))
    rank = 1 + (n * rng.beta(0.5, 1.5, 60)).astype(int)
    m = rng.choice(sizes, 60)
    t = 1 + rng.binomial(m, (rank - 1) / (n - 1))
    srs = SampledRankSet("A", t, n, m, scheme=scheme)
    how = {"shape": shape, "tolerance": float(rng.choice([0.02, 0.1, 0.3]))}
    every = brute(name, k, srs, n, **how)
    if every is None:
        with pytest.raises(ValueError, match="tolerance"):
            bounds(metric(name, k=k), srs, **how)
    else:
        assert bounds(metric(name, k=k), srs, **how) == pytest.approx(every, abs=1e-6)


@pytest.mark.parametrize("scheme", UNIFORM)
@pytest.mark.parametrize("shape", [None, "non-increasing"])
def test_without_room_for_all_places(scheme, shape, monkeypatch) -> None:
    n, m = 3000, 40
    t = 1 + np.random.default_rng(0).binomial(m, np.linspace(0, 0.9, 400) ** 3)
    srs = SampledRankSet("A", t, n, m, scheme=scheme)
    monkeypatch.setattr(linear_programme, "_ROOM", 0)
    found = bounds("Recall@20", srs, shape=shape, tolerance=0.03)
    assert found == pytest.approx(brute("recall", 20, srs, n, shape, 0.03), abs=1e-6)


def test_auc_is_known_to_the_tolerance(averages) -> None:
    # AUC is 1 - E[above]/m, and E[above] the sum of the m shares beyond each t.
    counts = averages["Y"].outcomes.counts[0]
    auc = 1 - counts @ np.arange(M + 1) / counts.sum() / M
    found = bounds("AUC", averages["Y"], tolerance=1e-4)
    assert found == pytest.approx((auc - 1e-4, auc + 1e-4), abs=1e-8)


def test_differences_are_bounded_side_by_side(averages) -> None:
    x, y = (bounds("AP", averages[name], tolerance=1e-3) for name in "XY")
    found = bounds("AP", averages["X"], averages["Y"], tolerance=1e-3)
    assert found == pytest.approx((x[0] - y[1], x[1] - y[0]), abs=1e-12)


def test_many_negatives_are_constrained_at_some_places() -> None:
    n, m = 600, 300
    t = 1 + np.random.default_rng(1).binomial(m, np.linspace(0, 1, 500) ** 2)
    srs = SampledRankSet("A", t, n, m)
    low, high = bounds("NDCG@10", srs, tolerance=0.02)
    narrow = brute("ndcg", 10, srs, n, None, 0.02)
    assert narrow is not None
    assert low <= narrow[0] + 1e-8
    assert high >= narrow[1] - 1e-8
    assert high - low <= 1.05 * (narrow[1] - narrow[0])
    assert len(constrained(m)) <= 200
    assert constrained(m)[0] == 1
    assert constrained(m)[-1] == m


def test_a_tolerance_that_is_too_small_names_one_that_is_not(averages) -> None:
    with pytest.raises(ValueError, match=r"tolerance = 1e-05 leaves no non-increasing") as caught:
        bounds("Recall@10", averages["X"], shape="non-increasing", tolerance=1e-5)
    enough = float(str(caught.value).split("take ")[1].split(",")[0])
    low, high = bounds("Recall@10", averages["X"], shape="non-increasing", tolerance=enough)
    assert 0 < low < high < 0.2


def test_refusals(averages, xyz) -> None:
    y, x = averages["Y"], xyz[0]
    for sets, options, words in [
        *(((y,), {"tolerance": t}, "tolerance must be") for t in (-0.1, 1.5, np.nan, "much")),
        ((y,), {"shape": "convex"}, "shape must be one of non-increasing"),
        ((x,), {}, "srs must be a SampledRankSet"),
        ((y, x), {}, "versus must be a SampledRankSet"),
    ]:
        with pytest.raises(ValueError, match=words):
            bounds("AP", *sets, **options)
