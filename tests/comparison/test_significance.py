"""Tests over instances: enumeration of all swaps, binomial tails, textbook Holm, resampling."""

from __future__ import annotations

from itertools import combinations, product
from math import comb, erf

import numpy as np
import pandas as pd
import pytest

import sampledash as sd
from sampledash.comparison import significance
from sampledash.comparison.significance import holm


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def swapped(values: np.ndarray) -> float:
    """Two-sided p-value over all sign vectors."""
    observed = abs(values.sum()) - 1e-12
    signs = product([-1, 1], repeat=len(values))
    return float(np.mean([abs(np.dot(s, values)) >= observed for s in signs]))


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("metric", ["AP", "NDCG@4", "AUC"])
def test_every_swap_is_counted(metric: str, seed: int) -> None:
    draw = rng(seed)
    ranks = draw.integers(1, 31, (2, 11))
    ranks[1, :2] = ranks[0, :2]  # some instances do not differ
    table = significance(
        metric, [sd.RankSet(x, r, 30) for x, r in zip("PQ", ranks, strict=True)], rng()
    )
    values = [sd.parse_metric(metric)(r, 30) for r in ranks]
    assert table.p[0] == pytest.approx(swapped(values[0] - values[1]), abs=1e-12)
    assert abs(table.difference[0]) == pytest.approx(abs(values[0].mean() - values[1].mean()))
    assert table.difference[0] > 0
    assert bool(table.paired[0])


def test_hits_are_the_sign_test() -> None:
    draw = rng(1)
    ranks = np.where(draw.random((2, 900)) < [[0.30], [0.25]], 3, 40)
    sets = [sd.RankSet(x, r, 50) for x, r in zip("PQ", ranks, strict=True)]
    up, down = (int(np.sum((ranks[i] == 3) & (ranks[1 - i] == 40))) for i in range(2))
    total, fewer = up + down, min(up, down)
    true = min(1.0, 2 * sum(comb(total, i) for i in range(fewer + 1)) / 2**total)
    for metric in ("Recall@10", "Precision@10"):
        assert significance(metric, sets, rng()).p[0] == pytest.approx(true, rel=1e-9)


def test_counts_are_repeated_instances() -> None:
    first, second, counts = [1, 5, 9], [2, 4, 8], [4, 3, 2]
    label = ["a", "b", "c"]
    short = [
        sd.RankSet(x, r, 20, instances=label, counts=counts)
        for x, r in (("P", first), ("Q", second))
    ]
    long = [sd.RankSet(x, np.repeat(r, counts), 20) for x, r in (("P", first), ("Q", second))]
    tables = [significance("AP", sets, rng()) for sets in (short, long)]
    assert tables[0].p[0] == pytest.approx(tables[1].p[0], abs=1e-12)
    values = 1 / np.repeat(first, counts) - 1 / np.repeat(second, counts)
    assert tables[0].p[0] == pytest.approx(swapped(values), abs=1e-12)


def test_random_swaps_approach_the_normal_law() -> None:
    # 400 differences: the law of the swapped sum is normal to some thousandths.
    draw = rng(2)
    ranks = np.ceil(200 * draw.random((2, 400)) ** np.array([[1.5], [1.7]])).astype(int)
    sets = [sd.RankSet(x, r, 200) for x, r in zip("PQ", ranks, strict=True)]
    d = 1 / ranks[0] - 1 / ranks[1]
    z = abs(d.sum()) / np.sqrt(np.sum(d**2))
    true = float(2 * (1 - 0.5 * (1 + erf(z / np.sqrt(2)))))
    table = significance("AP", sets, rng(), resamples=20_000)
    assert abs(table.p[0] - true) <= 4 * np.sqrt(true * (1 - true) / 20_000) + 0.01


def test_interval_of_hits_is_binomial() -> None:
    # One system always misses: resampled means are Binomial(D, p) / D, quantiles known.
    size, hits = 200, 60
    sets = [
        sd.RankSet("P", np.r_[np.full(hits, 1), np.full(size - hits, 50)], 50),
        sd.RankSet("Q", np.full(size, 50), 50),
    ]
    law = np.cumsum([comb(size, i) * 0.3**i * 0.7 ** (size - i) for i in range(size + 1)])
    for paired in (True, False):
        if not paired:
            sets[1] = sd.RankSet("Q", [50], 50, counts=[size])
        table = significance("Recall@1", sets, rng(3), resamples=20_000, confidence=0.9)
        low, high = table.interval[0]
        assert bool(table.paired[0]) is paired
        for value, level in ((low, 0.05), (high, 0.95)):
            true = np.searchsorted(law, level) / size
            assert abs(value - true) <= 1.01 / size  # one step of the lattice


def test_interval_covers_what_a_second_resampler_covers() -> None:
    draw = rng(4)
    size = np.repeat([1, 3], 60)
    labels = np.repeat(np.arange(120), size)
    ranks = [
        np.concatenate([draw.choice(60, s, replace=False) + 1 for s in size]) for _ in range(2)
    ]
    sets = [sd.RankSet(x, r, 60, instances=labels) for x, r in zip("PQ", ranks, strict=True)]
    metric = sd.metric("recall", k=10)
    each = np.array([[metric.of_set(r[labels == u], 60) for u in range(120)] for r in ranks])
    for weighting, weight in (("instances", np.ones(120)), ("relevant-items", size)):
        table = significance(metric, sets, rng(), resamples=20_000, weighting=weighting)
        means = [sd.mean(metric, rs, weighting=weighting) for rs in sets]
        d = (each[0] - each[1]) * (1 if means[0] > means[1] else -1)
        drawn = draw.integers(0, 120, (20_000, 120))
        runs = (weight * d)[drawn].sum(axis=1) / np.asarray(weight)[drawn].sum(axis=1)
        spread = runs.std()
        for mine, theirs in zip(table.interval[0], np.quantile(runs, [0.025, 0.975]), strict=True):
            assert abs(mine - theirs) <= 0.08 * spread  # 4 SE of a quantile of 20,000 runs, twice


def test_unpaired_hits_are_fishers_test() -> None:
    # Two histograms of unequal size: the hits of the first are hypergeometric.
    sets = [
        sd.RankSet("P", [1, 30], 50, counts=[14, 26]),
        sd.RankSet("Q", [1, 30], 50, counts=[9, 51]),
    ]
    table = significance("Recall@10", sets, rng(), resamples=40_000)
    assert not table.paired[0]
    law = {i: comb(23, i) * comb(77, 40 - i) / comb(100, 40) for i in range(24)}
    gap = 14 / 40 - 9 / 60
    true = sum(p for i, p in law.items() if abs(i / 40 - (23 - i) / 60) >= gap - 1e-12)
    assert abs(table.p[0] - true) <= 4 * np.sqrt(true * (1 - true) / 40_000)


def test_unpaired_by_all_divisions() -> None:
    draw = rng(5)
    first, second = draw.integers(1, 30, 5), draw.integers(1, 30, 7)
    sets = [
        sd.RankSet("P", first, 30, instances=[f"p{i}" for i in range(5)]),
        sd.RankSet("Q", second, 30, instances=[f"q{i}" for i in range(7)]),
    ]
    values = 1 / np.r_[first, second]
    gap = abs(values[:5].mean() - values[5:].mean()) - 1e-12
    found = []
    for chosen in combinations(range(12), 5):
        mask = np.isin(np.arange(12), chosen)
        found.append(abs(values[mask].mean() - values[~mask].mean()) >= gap)
    table = significance("AP", sets, rng(), resamples=40_000)
    assert abs(table.p[0] - np.mean(found)) <= 4 * 0.5 / np.sqrt(40_000)


def test_many_unpaired_instances() -> None:
    # More than 64 values and 5,000 instances: the normal law, against permutations done here.
    draw = rng(6)
    ranks = [np.ceil(300 * draw.random(s) ** p).astype(int) for s, p in ((2600, 1.9), (3000, 2.0))]
    sets = [
        sd.RankSet(x, r, 300, instances=[f"{x}{i}" for i in range(len(r))])
        for x, r in zip("PQ", ranks, strict=True)
    ]
    values = 1 / np.concatenate(ranks)
    gap = abs(values[:2600].mean() - values[2600:].mean())
    found = []
    for _ in range(4000):
        draw.shuffle(values)
        found.append(abs(values[:2600].mean() - values[2600:].mean()) >= gap)
    p = significance("AP", sets, rng()).p[0]
    assert abs(p - np.mean(found)) <= 4 * np.sqrt(p * (1 - p) / 4000) + 0.005


def test_holm() -> None:
    # Holm (1979): ordered p times (number left), made increasing, capped at 1.
    assert holm(np.array([0.01, 0.04, 0.03, 0.005])) == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm(np.array([0.6, 0.9])).tolist() == [1.0, 1.0]


def test_equal_systems_and_single_instances() -> None:
    same = [sd.RankSet(x, [3, 7, 7], 20) for x in "PQ"]
    row = significance("AP", same, rng()).iloc[0]
    assert (row.p, row.p_holm, row.difference) == (1.0, 1.0, 0.0)
    assert row.interval == (0.0, 0.0)
    assert (row.better, row.worse) == ("P", "Q")
    one = [sd.RankSet("P", [9], 20), sd.RankSet("Q", [3], 20)]
    row = significance("AP", one, rng()).iloc[0]
    assert (row.better, row.p) == ("Q", 1.0)
    assert row.interval == pytest.approx((1 / 3 - 1 / 9,) * 2)
    apart = [sd.RankSet("P", [9], 20, instances=["a"]), sd.RankSet("Q", [3], 20, instances=["b"])]
    row = significance("AP", apart, rng()).iloc[0]
    assert (row.p, bool(row.paired)) == (1.0, False)


def test_table_and_progress(xyz: list[sd.RankSet]) -> None:
    seen: list[float] = []
    table = significance("NDCG@10", xyz, rng(1), resamples=500, progress=seen.append)
    assert table.columns.tolist() == [
        "better", "worse", "difference", "interval", "p", "p_holm", "paired",
    ]  # fmt: skip
    assert isinstance(table.index, pd.RangeIndex)
    assert table.dtypes[["difference", "p", "p_holm"]].eq(np.float64).all()
    assert table.paired.dtype == bool
    assert seen == sorted(seen)
    assert seen[-1] == pytest.approx(1)
    low, high = table.interval[0]
    assert low < table.difference[0] < high
    assert table.interval[0].low == low
    again = significance("NDCG@10", xyz, rng(1), resamples=500)
    assert again.equals(table)
    assert table.p_holm.tolist() == pytest.approx(holm(table.p.to_numpy()).tolist())


def test_what_is_refused() -> None:
    sets = [sd.RankSet("P", [1, 2], 9, counts=[1, 2.5]), sd.RankSet("Q", [1, 2], 9)]
    with pytest.raises(ValueError, match=r"counts of system 'P' must be whole numbers.*2\.5"):
        significance("AP", sets, rng())
    good = [sd.RankSet("P", [1, 2], 9), sd.RankSet("Q", [3, 2], 9)]
    with pytest.raises(ValueError, match="resamples must be at least 100, got 10"):
        significance("AP", good, rng(), resamples=10)
    with pytest.raises(ValueError, match="confidence"):
        significance("AP", good, rng(), confidence=1)
    with pytest.raises(ValueError, match="at least two systems"):
        significance("AP", good[:1], rng())
