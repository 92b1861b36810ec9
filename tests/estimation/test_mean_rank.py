"""AUC from the mean sampled rank: Newcombe's examples, exact variances, coverage."""

from __future__ import annotations

import numpy as np
import pytest

from sampledash.comparison import mean
from sampledash.estimation.bounds import bounds
from sampledash.estimation.intervals import compare
from sampledash.ranksets import RankSet
from sampledash.sampledranks import SampledRankSet
from tests.oracles import WITH, WITHOUT


def hits(below: int, of: int) -> SampledRankSet:
    """One draw for each of many instances: AUC is then a proportion."""
    return SampledRankSet("A", [1] * below + [2] * (of - below), 1000, 1)


def test_one_negative_each_is_a_proportion() -> None:
    # Newcombe, Two-sided confidence intervals for the single proportion (1998), table I, method 3:
    # 81 of 263 is 0.2553 to 0.3662, 15 of 148 is 0.0624 to 0.1605, 0 of 20 is 0 to 0.1611.
    for below, of, low, high in ((81, 263, 0.2553, 0.3662), (15, 148, 0.0624, 0.1605),
                                 (0, 20, 0.0, 0.1611)):  # fmt: skip
        assert bounds("AUC", hits(below, of)) == pytest.approx((low, high), abs=5e-5)


def test_differences_are_newcombes() -> None:
    # Newcombe, Interval estimation for the difference (1998), table II, method 10: 56/70 - 48/80 is
    # 0.0524 to 0.3339, 9/10 - 3/10 is 0.1705 to 0.8090.
    for first, second, low, high in (((56, 70), (48, 80), 0.0524, 0.3339),
                                     ((9, 10), (3, 10), 0.1705, 0.8090)):  # fmt: skip
        found = compare("AUC", hits(*first), hits(*second))
        assert (found.low, found.high) == pytest.approx((low, high), abs=5e-5)


@pytest.mark.parametrize("scheme", [WITH, WITHOUT])
@pytest.mark.parametrize("m", [1, 5, (3, 40)])
def test_coverage(scheme, m) -> None:
    rng = np.random.default_rng(1)
    n, runs, held = 200, 400, 0
    ranks = np.unique(1 + (n * rng.random(150) ** 3).astype(int), return_inverse=True)
    ranks = ranks[0][ranks[1]]
    exact = mean("AUC", RankSet("A", ranks, n))
    for _ in range(runs):
        negatives = rng.choice(np.atleast_1d(m), len(ranks))
        if scheme == WITH:
            above = rng.binomial(negatives, (ranks - 1) / (n - 1))
        else:
            above = rng.hypergeometric(ranks - 1, n - ranks, negatives)
        low, high = bounds("AUC", SampledRankSet("A", above + 1, n, negatives, scheme=scheme))
        held += low <= exact <= high
    assert held / runs >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / runs)


def test_it_is_narrower_than_if_all_instances_were_alike() -> None:
    # Half the items above or none: the shares vary little within an instance that has none.
    srs = SampledRankSet("A", [1] * 500 + [51] * 500, 10_001, 100)
    low, high = bounds("AUC", srs)
    # 0.75 with variance (1/4 · 100/99 · 500)/100 / 1000², plus a quarter of one instance's.
    error = np.sqrt((500 * 50 * 50 / (100 * 99) + 0.25) / 100) / 1000
    assert (high - low) / 2 == pytest.approx(1.959964 * error, rel=1e-3)


def test_all_negatives_drawn_is_exact() -> None:
    srs = SampledRankSet("A", [1, 5, 9], 11, 10, scheme=WITHOUT)
    assert bounds("AUC", srs) == pytest.approx((0.6, 0.6))


def test_copies_of_an_instance_tell_no_more() -> None:
    once = SampledRankSet("A", [1, 5, 9], 11, 9)
    four = SampledRankSet("A", [1, 5, 9] * 4, 11, 9, instances=[1, 2, 3] * 4)
    low, high = bounds("AUC", once)
    least, most = bounds("AUC", four)
    assert (least, most) == pytest.approx((low, high))


def test_a_shape_adds_nothing_and_may_be_refused() -> None:
    rng = np.random.default_rng(2)
    good = SampledRankSet("A", 1 + rng.binomial(50, rng.random(800) ** 3), 1000, 50)
    assert bounds("AUC", good, shape="non-increasing") == bounds("AUC", good)
    bad = SampledRankSet("A", 1 + rng.binomial(50, 0.5, 800), 1000, 50)
    with pytest.raises(ValueError, match="shape 'non-increasing' contradicts"):
        bounds("AUC", bad, shape="non-increasing")


@pytest.mark.parametrize("scheme", [WITH, WITHOUT])
def test_a_sample_without_scatter_is_still_a_sample(scheme) -> None:
    # Every instance has all drawn items above it, or none: the sample shows no scatter at all. One
    # of the ten might be at the middle: 0.25 c / m of variance in one of ten values, as 1,000 / c
    # draws of a share of one half have, and Wilson's interval for those.
    n, m, z = 101, 10, 1.959963984540054
    srs = SampledRankSet("A", [1] * 5 + [m + 1] * 5, n, m, scheme=scheme)
    c = 1.0 if scheme == WITH else (n - 1 - m) / (n - 2)
    draws = 10 * 10 * m / c
    reach = z * np.sqrt(0.25 / draws + z**2 / (4 * draws**2)) / (1 + z**2 / draws)
    assert bounds("AUC", srs) == pytest.approx((0.5 - reach, 0.5 + reach), abs=1e-12)
