"""``significance``, against enumerated swaps and resamples, and textbook distributions."""

from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest, hypergeom, multinomial, norm

import sampledash as sd
from sampledash.comparison.significance import significance
from tests.comparison.made import case, of_ranks, skewed
from tests.oracles import METRICS


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def outcome(metric: Any, sets: list[sd.RankSet], seed: int = 0, **options: Any) -> Any:
    return significance(metric, sets, rng(seed), **options).iloc[0]


def near(p: float, true: float, runs: int, more: float = 0.0) -> bool:
    return abs(p - true) <= 4 * np.sqrt(true * (1 - true) / runs) + more


def whole(p: float, runs: int = 10_000) -> bool:
    """Return whether p is a multiple of 1 / (1 + runs), as a p-value from ``runs`` draws is."""
    return abs(p * (1 + runs) - round(p * (1 + runs))) < 1e-8


def swapped(values: np.ndarray) -> float:
    sums = np.abs(np.array(list(product([-1, 1], repeat=len(values)))) @ values)
    return float(np.mean(sums >= abs(values.sum()) - 1e-12))


@pytest.mark.parametrize("seed", range(len(METRICS)))
def test_every_swap_of_every_pair_is_counted(seed: int) -> None:
    (name, k), options, some, values, weights = case(seed, 7)
    total, p = some.counts @ weights, {}
    table = significance(sd.metric(name, k=k), some.sets, rng(), resamples=100, **options)
    for row, (i, j) in zip(table.itertuples(), combinations(range(3), 2), strict=True):
        gain = weights * (values[i] - values[j])
        difference = float(some.counts @ gain / total)
        names = "PQR"[i], "PQR"[j]
        assert (row.better, row.worse) == (names if difference > -1e-12 else names[::-1])
        assert row.difference == pytest.approx(abs(difference), abs=1e-12)
        assert row.paired
        p[row.Index] = row.p
        assert row.p == pytest.approx(swapped(np.repeat(gain, some.counts)), abs=1e-12)
    # Holm (1979): sorted p-values are multiplied by ``left``, made non-decreasing, and cut to 1.
    least = 0.0
    for left, x in zip((3, 2, 1), sorted(p, key=p.__getitem__), strict=True):
        least = max(least, min(left * p[x], 1.0))
        assert table.p_holm[x] == pytest.approx(least)


def resampled(values: np.ndarray, weights: np.ndarray, counts: np.ndarray) -> tuple:
    """Return the weighted mean of every bootstrap resample of instances, and its probability."""
    size, total = len(counts), int(counts.sum())
    bars = np.array(list(combinations(range(total + size - 1), size - 1)))
    times = np.diff(np.c_[np.full(len(bars), -1), bars, np.full(len(bars), total + size - 1)]) - 1
    chance = multinomial.pmf(times, total, counts / total)
    return times @ (weights * values) / (times @ weights), chance


@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize(("seed", "most"), [(0, 1), (7, 2), (9, 30), (17, 30), (10, 3), (6, 1)])
def test_intervals_are_those_of_all_resamples(seed: int, most: int, apart: bool) -> None:
    (name, k), options, some, values, weights = case(seed, 3, systems=2, most=most, apart=apart)
    level, runs = (0.95, 0.7)[seed % 2], 4000
    row = outcome(sd.metric(name, k=k), some.sets, confidence=level, resamples=runs, **options)
    assert row.paired == (not apart)
    assert row.difference > 0
    first, second = values if row.better == "P" else values[::-1]
    if apart:
        (a, p), (b, q) = (resampled(x, weights, some.counts) for x in (first, second))
        law, chance = np.subtract.outer(a, b).ravel(), np.multiply.outer(p, q).ravel()
    else:
        law, chance = resampled(first - second, weights, some.counts)
    for end, side in zip(row.interval, ((1 - level) / 2, (1 + level) / 2), strict=True):
        below, reached = chance[law < end - 1e-9].sum(), chance[law < end + 1e-9].sum()
        error = 4 * np.sqrt(side * (1 - side) / runs)
        assert below - error <= side <= reached + error


def of_whole(steps: np.ndarray) -> float:
    """Return the exact two-sided p-value of a sum of integers with random signs."""
    law = np.ones(1)
    for size in np.abs(steps):
        law = np.convolve(law, np.r_[0.5, np.zeros(2 * size - 1), 0.5] if size else [1.0])
    sums = np.arange(len(law)) - np.abs(steps).sum()
    return float(law[np.abs(sums) >= abs(steps.sum())].sum())


@pytest.mark.parametrize("kind", ["rows", "counts", "weights"])
def test_sums_of_drawn_swaps_that_tie_with_the_observed_one_count(kind: str) -> None:
    # Beyond 20 differences, swaps are random. Differences here are multiples of 1/6, or of a hit.
    draw, runs = rng(7), 20_000
    if kind == "weights":
        sizes = draw.integers(1, 4, 60)
        places = [[draw.choice(9, s, replace=False) + 1 for s in sizes] for _ in "PQR"]
        steps = np.array([[np.sum(x <= 4) for x in each] for each in places])
        labels = np.repeat(np.arange(60), sizes)
        sets = of_ranks(20, *map(np.concatenate, places), instances=labels)
        table = significance("Recall@4", sets, rng(), resamples=runs, weighting="relevant-items")
    else:
        size, counts = (40, None) if kind == "rows" else (3, np.array([15, 30, 14]))
        ranks = np.array([[1, 3, 2], [2, 1, 3], [2, 2, 1]])
        if kind == "rows":
            ranks = np.array([1, 2, 3])[draw.integers(0, 3, (3, size))]
        sets = of_ranks(30, *ranks, instances=[f"user {u}" for u in range(size)], counts=counts)
        table = significance("AP", sets, rng(), resamples=runs)
        steps = np.repeat(6 // ranks, 1 if counts is None else counts, axis=1)
    for row in table.itertuples():
        mine, other = ("PQR".index(x) for x in (row.better, row.worse))
        true = of_whole(steps[mine] - steps[other])
        assert true > 0.002
        assert near(row.p, true, runs)
        assert whole(row.p, runs)


def test_signs_are_drawn_as_often_up_as_down() -> None:
    # Swaps give as extreme a sum if the eight large differences have one sign: 2 of 256 cases.
    ranks = np.array([[1] * 8 + [21, 22] * 6 + [23], [30] * 8 + [20] * 13])
    for sets in (of_ranks(30, *ranks), of_ranks(30, *ranks[:, ::-1])):
        assert near(outcome("AP", sets, resamples=30_000).p, 2 / 256, 30_000)


def test_up_to_twenty_differences_are_swapped_in_all_ways() -> None:
    for size in (20, 21):
        ranks = np.arange(2, size + 2) + np.array([np.arange(size) % 2, np.arange(size) % 2 == 0])
        p, gain = outcome("RR", of_ranks(30, *ranks)).p, 1 / ranks[0] - 1 / ranks[1]
        assert whole(p) == (size == 21)
        sums = np.zeros(1)
        for each in gain:
            sums = np.r_[sums - each, sums + each]
        true = np.mean(np.abs(sums) >= abs(gain.sum()) - 1e-12)
        assert near(p, true, 10_000) if size == 21 else p == pytest.approx(true, abs=1e-12)


def test_hits_are_the_sign_test() -> None:
    ranks = np.where(rng(1).random((2, 900)) < [[0.30], [0.25]], 3, 40)
    up, down = (int(np.sum((ranks[i] == 3) & (ranks[1 - i] == 40))) for i in range(2))
    true = binomtest(up, up + down).pvalue
    for metric in ("Recall@10", "Precision@10"):
        assert outcome(metric, of_ranks(50, *ranks)).p == pytest.approx(true, rel=1e-9)


def unpaired(first: np.ndarray, second: np.ndarray, n: int) -> list[sd.RankSet]:
    return [
        sd.RankSet(x, r, n, instances=[f"{x}{i}" for i in range(len(r))])
        for x, r in (("P", first), ("Q", second))
    ]


def test_unpaired_hits_are_fishers_test() -> None:
    # Counts of 40 and 60 instances are unpaired: P's hits in random regroupings are hypergeometric.
    counts = {"P": [14, 26], "Q": [9, 51]}
    p, q = (sd.RankSet(x, [1, 30], 50, counts=own) for x, own in counts.items())
    row, hits = outcome("Recall@10", [p, q], resamples=40_000), np.arange(24)
    assert not row.paired
    extreme = np.abs(hits / 40 - (23 - hits) / 60) >= 14 / 40 - 9 / 60 - 1e-12
    assert near(row.p, float(hypergeom.pmf(hits, 100, 23, 40)[extreme].sum()), 40_000)


@pytest.mark.parametrize("seed", range(6))
def test_unpaired_instances_of_unequal_weight(seed: int) -> None:
    """The p-value is near that from all divisions of the ten instances into two groups of five."""
    (name, k), options, some, values, weights = case(seed, 5, systems=2, most=1, apart=True)
    value, weight = values.ravel(), np.r_[weights, weights]
    left = np.array([np.isin(np.arange(10), x) for x in combinations(range(10), 5)])
    means = [(x @ (weight * value)) / (x @ weight) for x in (left, ~left)]
    true = np.mean(np.abs(means[0] - means[1]) >= abs(means[0] - means[1])[0] - 1e-12)
    p = outcome(sd.metric(name, k=k), some.sets, **options).p
    assert near(p, true, 10_000)
    assert whole(p)


def test_many_unpaired_instances_of_many_values_are_normal() -> None:
    for size, n, power in [(2500, 64, 1.97), (2500, 65, 1.85), (2499, 90, 1.95), (2500, 200, 1.9)]:
        # From 5,000 instances and 65 distinct values on, p is that of a normal distribution.
        p, q = skewed(rng(6), n, (2500, size), (1.9, power))
        first, second = (np.r_[1 : n + 1, rs.ranks[n:]] for rs in (p, q))
        values = 1 / np.r_[first, second]
        spread = values.var(ddof=1) * (1 / 2500 + 1 / size)
        gap = abs(values[:2500].mean() - values[2500:].mean())
        normal = 2 * norm.sf(gap / np.sqrt(spread))
        mine = outcome("AP", unpaired(first, second, n), resamples=2000).p
        assert 0.002 < normal < 0.98
        if n > 64 and size == 2500:
            assert mine == pytest.approx(normal, rel=1e-9)
        else:
            assert whole(mine, 2000)
            assert near(mine, normal, 2000, 0.005)


def test_many_unpaired_instances_that_weigh_unequally() -> None:
    draw, sets, values, weights = rng(9), [], [], []
    for x, size, power in (("P", 2000, 1.2), ("Q", 3000, 1.22)):
        items = np.tile([1, 2, 2], size)[:size]
        places = np.ceil(400 * draw.random((size, 2)) ** power).astype(int) * 2
        places[:, 1] = places[:, 0] + 1  # the second relevant item is ranked right below the first
        labels = np.repeat([f"{x}{i}" for i in range(size)], items)
        two = np.arange(2) < items[:, None]
        sets.append(sd.RankSet(x, places[two], 900, instances=labels))
        both = (1 / places + [0, 1] / places) @ [1, 1] / 2
        values.append(np.where(items == 1, 1 / places[:, 0], both))
        weights.append(items)
    value, weight = np.concatenate(values), np.concatenate(weights)
    gap = np.average(values[0], weights=weights[0]) - np.average(values[1], weights=weights[1])
    off = weight * (value - np.average(value, weights=weight)) / weight.mean()
    deviation = np.sqrt(off.var(ddof=1) * (1 / 2000 + 1 / 3000))
    mine = outcome("AP", sets, weighting="relevant-items").p
    assert mine == pytest.approx(2 * norm.sf(abs(gap) / deviation), rel=1e-9)
    assert 0.01 < mine < 0.95


EQUAL = (["AUC", 20, [1, 2, 3, 8], [2, 3, 4, 9]], ["Precision@3", 20, [3, 7], [3, 7]])


@pytest.mark.parametrize(("metric", "n", "first", "second"), EQUAL)
def test_where_all_instances_differ_alike_resamples_tell_nothing(metric, n, first, second) -> None:
    p, q = of_ranks(n, first, second)
    for level in (0.95, 0.8):
        row = outcome(metric, [p, q], resamples=100, confidence=level)
        alone = sd.mean_of_sample(metric, p, np.inf, q, confidence=level)
        assert row.interval == pytest.approx(alone.interval, abs=1e-12)
        assert row.interval.high - row.interval.low > 0.03


def test_equal_systems_and_single_instances() -> None:
    row = outcome("AP", of_ranks(20, [3, 7, 7], [3, 7, 7]))
    assert (row.p, row.p_holm, row.difference) == (1.0, 1.0, 0.0)
    assert (row.better, row.worse) == ("P", "Q")
    row = outcome("AP", of_ranks(20, [9], [3]))
    assert (row.better, row.p) == ("Q", 1.0)
    p, q = unpaired(np.array([9, 9]), np.array([3, 3, 3]), 20)
    row = outcome("Precision@5", [p, q], confidence=0.9)
    ends = [sd.mean_of_sample("Precision@5", x, np.inf, confidence=0.9).interval for x in (q, p)]
    assert row.interval == pytest.approx((ends[0].low - ends[1].high, ends[0].high - ends[1].low))
    row = outcome("AP", unpaired(np.array([9]), np.array([3]), 20))
    assert (row.p, bool(row.paired)) == (1.0, False)


def test_who_is_paired() -> None:
    for labels, counts, by_items in (
        (("abc", "cab"), None, True),
        (("abc", "abd"), None, None),
        (("abc", "abcd"), None, None),
        ((None, None), None, True),  # no labels: paired by position
        ((None, None), [5, 1, 1], None),  # rows with counts cannot be paired
        (("abc", "abc"), [5, 1, 1], True),
        (("abc", "cabb"), None, False),  # in Q, b has two items: unequal weights
    ):
        sets = []
        for x, first, own in zip("PQ", (1, 4), labels, strict=True):
            ranks, more = first + np.arange(len(own or "abc")), {"instances": own and list(own)}
            sets.append(sd.RankSet(x, ranks, 9, counts=counts, **more))
        readings = {"instances": by_items is not None, "relevant-items": by_items}
        for weighting, paired in readings.items():
            row = outcome("AP", sets, resamples=100, weighting=weighting)
            assert bool(row.paired) is bool(paired)


def test_progress_of_groups_and_pairs() -> None:
    seen: list[float] = []
    p, q, r = of_ranks(20, [1, 5, 9], [2, 4, 8], [7, 7, 7])
    significance("AP", [p, q, r], rng(), resamples=100, progress=seen.append)
    assert sorted({*seen}) == pytest.approx([1 / 3, 2 / 3, 7 / 9, 8 / 9, 1])
    apart, more = sd.RankSet("S", [3, 4, 6], 20, instances=list("abc")), []
    significance("AP", [p, q, apart], rng(), resamples=100, progress=more.append)
    assert more == sorted(more)
    assert sorted({*more}) == pytest.approx([0.2, 0.4, 0.6, 0.8, 0.8 + 0.2 / 3, 0.8 + 0.4 / 3, 1])
    assert seen == sorted(seen)
