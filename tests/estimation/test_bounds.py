"""Bounds at a tolerance and from printed tables: programmes over all ranks, what they must obey."""

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampledash.comparison.means import expected_mean
from sampledash.estimation import linear_programme
from sampledash.estimation.bounds import ahead, bounds, bounds_from_table, confidence_range, decided
from sampledash.metrics import metric
from sampledash.rank_sets import RankSet
from sampledash.sampled_rank_sets import SampledRankSet
from tests import oracles
from tests.benchmarks.bounds import misses
from tests.estimation.cases import averaged, brute, extremes, least_held, shaped
from tests.oracles import METRICS, UNIFORM, WITH, WITHOUT

N, M = 3541, 100
FALLING = "non-increasing"
SHAPES = (None, FALLING)


@pytest.fixture(scope="module")
def averages(xyz) -> dict[str, SampledRankSet]:
    return {one.system: averaged(one, N, M) for one in xyz}


@pytest.fixture(scope="module")
def tables(xyz) -> dict[str, dict[str, float]]:
    def printed(one: RankSet) -> dict[str, float]:
        names = ("HR@1", "HR@5", "HR@10", "NDCG@10")
        return {name: round(expected_mean(name, one, M, scheme=WITHOUT), 4) for name in names}

    return {one.system: printed(one) for one in xyz}


@pytest.mark.parametrize(
    ("shape", "low", "high"), [(None, 0.00945, 0.18362), (FALLING, 0.07918, 0.10375)]
)
def test_what_infinitely_many_instances_tell_about_y(averages, shape, low, high) -> None:
    # From the dense programme over all 3,541 ranks, computed elsewhere; five digits.
    found = bounds("Recall@10", averages["Y"], shape=shape, tolerance=1e-4)
    assert found == pytest.approx((low, high), abs=6e-6)


@given(st.integers(0, 10**6))
def test_small_cases_against_all_ranks(seed) -> None:
    rng = np.random.default_rng(seed)
    name, k = METRICS[rng.integers(len(METRICS))]
    n, scheme, shape = int(rng.integers(5, 70)), rng.choice(UNIFORM), SHAPES[rng.integers(2)]
    sizes = rng.integers(1, min(n, 9), rng.integers(1, 3))
    rank = 1 + (n * rng.beta(0.5, 1.5, 60)).astype(int)
    m = rng.choice(sizes, 60)
    srs = SampledRankSet("A", 1 + rng.binomial(m, (rank - 1) / (n - 1)), n, m, scheme=scheme)
    how = {"shape": shape, "tolerance": float(rng.choice([0.02, 0.1, 0.3]))}
    every = brute(name, k, srs, **how)
    if every is None:
        with pytest.raises(ValueError, match="tolerance"):
            bounds(metric(name, k=k), srs, **how)
    else:
        assert bounds(metric(name, k=k), srs, **how) == pytest.approx(every, abs=1e-6)


@given(st.integers(0, 10**6))
def test_small_tables_against_all_ranks(seed) -> None:
    rng = np.random.default_rng(seed)
    n, scheme, shape = int(rng.integers(5, 70)), rng.choice(UNIFORM), SHAPES[rng.integers(2)]
    m = int(rng.integers(1, min(n, 12)))
    (name, k), *shown = [METRICS[i] for i in rng.permutation(len(METRICS))[:4]]
    mass = rng.dirichlet(np.full(n, 0.2))
    mass = mass if shape is None else np.sort(mass)[::-1]
    seen = [oracles.exact_metric(one, cut, m + 1) for one, cut in shown]
    every = oracles.dense_law(n, m, scheme) @ np.transpose(seen)
    values = np.round(mass @ every, 2)
    exact = shaped(oracles.exact_metric(name, k, n), shape)
    expected = extremes(shaped(every, shape), values - 0.005, values + 0.005, exact)
    printed = {
        str(metric(one, k=cut)): v for (one, cut), v in zip(shown, values.tolist(), strict=True)
    }
    found = bounds_from_table(metric(name, k=k), printed, n, m, 2, shape=shape, scheme=scheme)
    assert found == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("scheme", UNIFORM)
@pytest.mark.parametrize("shape", SHAPES)
def test_without_room_for_all_places(scheme, shape, monkeypatch) -> None:
    t = 1 + np.random.default_rng(0).binomial(40, np.linspace(0, 0.9, 400) ** 3)
    srs = SampledRankSet("A", t, 3000, 40, scheme=scheme)
    monkeypatch.setattr(linear_programme, "_ROOM", 0)
    found = bounds("Recall@20", srs, shape=shape, tolerance=0.03)
    assert found == pytest.approx(brute("recall", 20, srs, shape, 0.03), abs=1e-6)


def test_auc_is_known_to_the_tolerance(averages) -> None:
    # AUC is 1 - E[above]/m, and E[above] the sum of the m shares beyond each t.
    counts = averages["Y"].outcomes.counts[0]
    auc = 1 - counts @ np.arange(M + 1) / counts.sum() / M
    found = bounds("AUC", averages["Y"], tolerance=1e-4)
    assert found == pytest.approx((auc - 1e-4, auc + 1e-4), abs=1e-8)
    found = bounds_from_table("AUC", {"AUC": 0.85, "HR@10": 0.5}, N, M, 2)
    assert found == pytest.approx((0.845, 0.855), abs=1e-8)


def test_differences_are_bounded_side_by_side(averages, tables) -> None:
    x, y = (bounds("Recall@10", averages[name], tolerance=1e-3) for name in "XY")
    found = bounds("Recall@10", averages["X"], averages["Y"], tolerance=1e-3)
    assert found == pytest.approx((x[0] - y[1], x[1] - y[0]), abs=1e-12)
    x, y = (bounds_from_table("AP", tables[name], N, M, 4) for name in "XY")
    found = bounds_from_table("AP", tables["X"], N, M, 4, versus=tables["Y"])
    assert found == pytest.approx((x[0] - y[1], x[1] - y[0]), abs=1e-12)


def test_values_at_the_ends_of_0_to_1_are_values() -> None:
    assert bounds_from_table("AUC", {"AUC": 0.0, "HR@10": 0.0}, N, M, 3)[0] == 0
    assert bounds_from_table("AUC", {"AUC": 1.0, "HR@10": 1.0}, N, M, 3)[1] == 1
    for value in (-0.001, 100.5):
        with pytest.raises(ValueError, match=r"a metric lies in 0\.\.1: check it"):
            bounds_from_table("AUC", {"AUC": value}, N, M, 3)


@pytest.mark.parametrize(
    ("spans", "place"),
    [([(0.5, 0.6), (0.1, 0.2), (0.2, 0.4)], 0), ([(0.1, 0.2), (0.5, 0.6), (0.2, 0.4)], 1),
     ([(0.5, 0.6), (0.1, 0.2), (0.3, 0.5)], None),  # above one of two
     ([(0.5, 0.6), (0.1, 0.2), None], None), ([(0.5, 0.6)], None)],
)  # fmt: skip
def test_who_is_ahead_of_all_others(spans, place) -> None:
    assert ahead(spans) == place


def test_how_many_spans_decide() -> None:
    assert decided([(-0.2, -0.1), (0.1, 0.2), (-0.1, 0.1), (0.0, 0.1), None]) == 2


def test_many_negatives_are_constrained_at_some_places() -> None:
    n, m = 600, 300
    t = 1 + np.random.default_rng(1).binomial(m, np.linspace(0, 1, 500) ** 2)
    srs = SampledRankSet("A", t, n, m, scheme=WITH)
    low, high = bounds("NDCG@10", srs, tolerance=0.02)
    least, most = brute("ndcg", 10, srs, None, 0.02)
    assert low <= least + 1e-8
    assert high >= most - 1e-8
    assert high - low <= 1.05 * (most - least)


def test_a_tolerance_that_is_too_small_names_one_that_is_not(averages) -> None:
    with pytest.raises(ValueError, match=r"tolerance = 1e-05 leaves no non-increasing") as caught:
        bounds("Recall@10", averages["X"], shape=FALLING, tolerance=1e-5)
    enough = float(str(caught.value).split("take ")[1].split(",")[0])
    low, high = bounds("Recall@10", averages["X"], shape=FALLING, tolerance=enough)
    assert 0 < low < high < 0.2
    # It is within a factor of two of the least that will do.
    with pytest.raises(ValueError, match="leaves no non-increasing"):
        bounds("Recall@10", averages["X"], shape=FALLING, tolerance=enough / 1.8)


def test_one_printed_value_may_have_other_decimals(tables) -> None:
    decimals = {"HR@1": 4, "HR@5": 4, "HR@10": 2, "NDCG@10": 4}
    rough = tables["Y"] | {"HR@10": round(tables["Y"]["HR@10"], 2)}
    low, high = bounds_from_table("Recall@10", rough, N, M, decimals, shape=FALLING)
    fine = bounds_from_table("Recall@10", tables["Y"], N, M, 4, shape=FALLING)
    assert low <= fine[0] + 1e-9
    assert high >= fine[1] - 1e-9


def test_with_instances_a_shape_is_about_their_metric() -> None:
    """A mean over 200 drawn from equal ranks: half of them have nobody in the first ten."""
    n, size, rng = 3706, 200, np.random.default_rng(31)

    def draw() -> tuple[dict[str, float], float]:
        ranks = rng.integers(1, n + 1, size)
        t = 1 + rng.binomial(99, (ranks - 1) / (n - 1))
        printed = {f"HR@{k}": round(float(np.mean(t <= k)), 4) for k in (10, 50)}
        return printed, float(np.mean(ranks <= 10))

    how = {"n": n, "m": 99, "decimals": 4, "shape": FALLING, "instances": size}
    found = misses(60, draw, partial(bounds_from_table, "Recall@10", **how))
    assert found.seen >= 50  # the others are more than two standard errors off
    assert 1 - found.shares[0] >= least_held(found.seen)


def test_a_table_of_fewer_instances_says_less() -> None:
    spans = [
        bounds_from_table("Recall@10", {"Recall@1": 0.5}, 200, 20, 1, instances=size)
        for size in (1, 4, 100)
    ]
    assert 0 == spans[0][0] == spans[1][0] < spans[2][0]
    with pytest.raises(ValueError, match="instances must be at least 1, got 0"):
        bounds_from_table("Recall@10", {"Recall@1": 0.5}, 200, 20, 1, instances=0)


@pytest.mark.parametrize("shape", SHAPES)
def test_precision_is_a_part_of_recall(shape) -> None:
    """With one relevant item Precision@5 is a fifth of Recall@5, and so are its ranges."""
    for ranks in ([1] * 20, [1, 2, 2, 3, 4, 9] * 3):
        one = SampledRankSet("A", ranks, 50, 9, scheme=WITH)
        share, part = (
            confidence_range(text, one, None, shape, 0.95) for text in ("Recall@5", "Precision@5")
        )
        assert part == pytest.approx(np.divide(share, 5), rel=1e-3, abs=1e-6)
