"""Tests over instances: enumeration of all swaps, binomial tails, textbook Holm, resampling."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, binomtest, hypergeom

import sampledash as sd
from sampledash.comparison.significance import holm, significance
from tests.comparison.made import of_ranks, skewed


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def outcome(metric: Any, sets: list[sd.RankSet], seed: int = 0, **options: Any) -> Any:
    return significance(metric, sets, rng(seed), **options).iloc[0]


def near(p: float, true: float, runs: int, more: float = 0.0) -> bool:
    return abs(p - true) <= 4 * np.sqrt(true * (1 - true) / runs) + more


def swapped(values: np.ndarray) -> float:
    sums = np.abs(np.array(list(product([-1, 1], repeat=len(values)))) @ values)
    return float(np.mean(sums >= abs(values.sum()) - 1e-12))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("metric", ["AP", "NDCG@4", "AUC"])
def test_every_swap_is_counted(metric: str, seed: int) -> None:
    ranks = rng(seed).integers(1, 31, (2, 11))
    ranks[1, :2] = ranks[0, :2]  # some instances do not differ
    row = outcome(metric, of_ranks(30, *ranks))
    values = [sd.parse_metric(metric)(r, 30) for r in ranks]
    assert row.p == pytest.approx(swapped(values[0] - values[1]), abs=1e-12)
    assert row.difference == pytest.approx(abs(values[0].mean() - values[1].mean()))
    assert row.difference > 0
    assert bool(row.paired)


def test_sums_that_tie_with_the_observed_one_count() -> None:
    # 40 differences of 1/2 and 1/6, too many to list, 16 of them against: sums are sixths.
    ranks = np.array([[1, 2] * 20, [2, 3] * 20])
    ranks[:, :16] = ranks[::-1, :16]
    sixths = np.round(6 * (1 / ranks[0] - 1 / ranks[1])).astype(int)
    law = np.ones(1)
    for size in abs(sixths):
        law = np.convolve(law, np.r_[0.5, np.zeros(2 * size - 1), 0.5])
    sums = np.arange(len(law)) - abs(sixths).sum()
    true = float(law[abs(sums) >= abs(sixths.sum())].sum())
    assert true - law[abs(sums) > abs(sixths.sum())].sum() > 0.02
    assert near(outcome("AP", of_ranks(30, *ranks), resamples=40_000).p, true, 40_000)


def test_hits_are_the_sign_test() -> None:
    ranks = np.where(rng(1).random((2, 900)) < [[0.30], [0.25]], 3, 40)
    up, down = (int(np.sum((ranks[i] == 3) & (ranks[1 - i] == 40))) for i in range(2))
    true = binomtest(up, up + down).pvalue
    for metric in ("Recall@10", "Precision@10"):
        assert outcome(metric, of_ranks(50, *ranks)).p == pytest.approx(true, rel=1e-9)


def test_counts_are_repeated_instances() -> None:
    ranks, counts = np.array([[1, 5, 9], [2, 4, 8]]), [4, 3, 2]
    short = outcome("AP", of_ranks(20, *ranks, instances=list("abc"), counts=counts))
    long = np.repeat(ranks, counts, axis=1)
    assert short.p == pytest.approx(outcome("AP", of_ranks(20, *long)).p, abs=1e-12)
    assert short.p == pytest.approx(swapped(1 / long[0] - 1 / long[1]), abs=1e-12)


@pytest.mark.parametrize("paired", [True, False])
def test_interval_of_hits_is_binomial(paired: bool) -> None:
    # One system always misses: resampled means are Binomial(D, p) / D, quantiles known.
    size, hits = 200, 60
    p, q = of_ranks(50, np.r_[np.full(hits, 1), np.full(size - hits, 50)], np.full(size, 50))
    other = q if paired else sd.RankSet("Q", [50], 50, counts=[size])
    row = outcome("Recall@1", [p, other], 3, resamples=20_000, confidence=0.9)
    assert bool(row.paired) is paired
    for value, level in zip(row.interval, (0.05, 0.95), strict=True):
        assert abs(value - binom.ppf(level, size, 0.3) / size) <= 1.01 / size  # a lattice step


def test_interval_covers_what_a_second_resampler_covers() -> None:
    draw, size = rng(4), np.repeat([1, 3], 60)
    labels = np.repeat(np.arange(120), size)
    ranks = [
        np.concatenate([draw.choice(60, s, replace=False) + 1 for s in size]) for _ in range(2)
    ]
    sets, metric = of_ranks(60, *ranks, instances=labels), sd.metric("recall", k=10)
    each = np.array([[metric.of_set(r[labels == u], 60) for u in range(120)] for r in ranks])
    for weighting, weight in (("instances", np.ones(120)), ("relevant-items", size)):
        row = outcome(metric, sets, resamples=20_000, weighting=weighting)
        d = (each[0] - each[1]) * (1 if row.better == "P" else -1)
        drawn = draw.integers(0, 120, (20_000, 120))
        runs = (weight * d)[drawn].sum(axis=1) / np.asarray(weight)[drawn].sum(axis=1)
        for mine, theirs in zip(row.interval, np.quantile(runs, [0.025, 0.975]), strict=True):
            # 4 SE of a quantile of 20,000 runs, twice.
            assert abs(mine - theirs) <= 0.08 * runs.std()


def unpaired(first: np.ndarray, second: np.ndarray, n: int) -> list[sd.RankSet]:
    return [
        sd.RankSet(x, r, n, instances=[f"{x}{i}" for i in range(len(r))])
        for x, r in (("P", first), ("Q", second))
    ]


def test_unpaired_hits_are_fishers_test() -> None:
    # Two histograms of unequal size: the hits of the first are hypergeometric.
    p, q = (
        sd.RankSet(x, [1, 30], 50, counts=counts) for x, counts in (("P", [14, 26]), ("Q", [9, 51]))
    )
    row, hits = outcome("Recall@10", [p, q], resamples=40_000), np.arange(24)
    assert not row.paired
    extreme = np.abs(hits / 40 - (23 - hits) / 60) >= 14 / 40 - 9 / 60 - 1e-12
    assert near(row.p, float(hypergeom.pmf(hits, 100, 23, 40)[extreme].sum()), 40_000)


@pytest.mark.parametrize("power", [2.0, 1.82])
def test_many_unpaired_instances(power: float) -> None:
    # More than 64 values and 5,000 instances: the normal law, against permutations done here.
    draw = rng(6)
    ranks = [rs.ranks for rs in skewed(draw, 300, (2600, 3000), (1.9, power))]
    values, gaps = 1 / np.concatenate(ranks), []
    for _ in range(4001):
        gaps.append(abs(values[:2600].mean() - values[2600:].mean()))
        draw.shuffle(values)
    true = np.mean(np.array(gaps[1:]) >= gaps[0])
    assert true > 0.1 or power == 2.0
    assert near(outcome("AP", unpaired(*ranks, 300)).p, true, 4000, 0.005)


@pytest.mark.parametrize("n", [12, 900])  # few distinct values; so many that cards are dealt
def test_unpaired_instances_of_unequal_weight(n: int) -> None:
    draw, sets, lists, size = rng(9), [], [], np.tile([1, 4, 5], 30)
    for name, mine, power in (("P", size[:60], 1.3), ("Q", size[:90], 1.2)):
        drawn = [
            np.sort(np.argsort(draw.random(n) * np.arange(1, n + 1) ** power)[:s]) for s in mine
        ]
        labels = [f"{name}{i}" for i in np.repeat(np.arange(len(mine)), mine)]
        sets.append(sd.RankSet(name, np.concatenate(drawn) + 1, n, instances=labels))
        lists += drawn
    values = np.array([np.mean(ranks < 4) for ranks in lists])  # Recall@4
    if n == 900:
        values = np.array([np.mean(np.arange(1, len(r) + 1) / (r + 1)) for r in lists])  # AP
    weights, gaps = np.array([len(ranks) for ranks in lists], dtype=float), []
    for _ in range(4001):
        first, second = (
            np.average(values[at], weights=weights[at]) for at in (slice(60), slice(60, None))
        )
        gaps.append(abs(first - second))
        order = draw.permutation(len(values))
        values, weights = values[order], weights[order]
    true = np.mean(np.array(gaps[1:]) >= gaps[0] - 1e-12)
    assert 0.01 < true < 0.99
    row = outcome("AP" if n == 900 else "Recall@4", sets, weighting="relevant-items")
    assert near(row.p, true, 4000, 0.005)


def test_equal_systems_single_instances_and_holm() -> None:
    # Holm (1979): ordered p times (number left), made increasing, capped at 1.
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm(np.array([0.6, 0.9])).tolist() == [1.0, 1.0]
    row = outcome("AP", of_ranks(20, [3, 7, 7], [3, 7, 7]))
    assert (row.p, row.p_holm, row.difference) == (1.0, 1.0, 0.0)
    # Three that do not differ are no proof that others would not.
    assert -1 < row.interval.low == -row.interval.high < -0.3
    assert (row.better, row.worse) == ("P", "Q")
    row = outcome("AP", of_ranks(20, [9], [3]))
    assert (row.better, row.p) == ("Q", 1.0)
    assert -1 < row.interval.low < 0 < row.difference < row.interval.high < 1
    always = outcome("Recall@1", of_ranks(20, [1] * 5, [9] * 5))
    assert 0 < always.interval.low < always.difference == always.interval.high == 1.0
    row = outcome("AP", unpaired(np.array([9]), np.array([3]), 20))
    assert (row.p, bool(row.paired)) == (1.0, False)


@pytest.mark.parametrize(
    ("labels", "counts", "by_items"),
    [
        (("abc", "cab"), None, True),
        (("abc", "abd"), None, None),
        (("abc", "abcd"), None, None),
        ((None, None), None, True),  # without labels: in their order,
        ((None, None), [5, 1, 1], None),  # but rows of a histogram are no instances
        (("abc", "abc"), [5, 1, 1], True),
        (("abc", "cabb"), None, False),  # two relevant items of one: other weights
    ],
)
def test_who_is_paired(labels: tuple, counts: Any, by_items: bool | None) -> None:
    sets = [
        sd.RankSet(x, np.arange(a, a + len(u or "abc")), 9, instances=u and list(u), counts=counts)
        for x, a, u in zip("PQ", (1, 4), labels, strict=True)
    ]
    for weighting, paired in (("instances", by_items is not None), ("relevant-items", by_items)):
        row = outcome("AP", sets, resamples=100, weighting=weighting)
        assert bool(row.paired) is bool(paired)


def test_several_pairs_and_progress(xyz: list[sd.RankSet]) -> None:
    seen: list[float] = []
    table = significance("NDCG@10", xyz, rng(1), resamples=500, progress=seen.append)
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1)
    assert table.interval[0].low < table.difference[0] < table.interval[0].high
    assert table.p_holm.tolist() == pytest.approx(holm(table.p.to_numpy()).tolist())
