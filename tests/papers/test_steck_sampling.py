"""Sampled TOPK and ATOP by enumeration, and the order statistic behind them."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from math import comb

import numpy as np
import pytest

import sampledash as sd
from sampledash.metrics import places_within
from sampledash.papers import steck_sampling
from tests.oracles import WITHOUT, exact_law

SIZES = [(n, m) for n in range(2, 11) for m in range(1, n)]


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_by_enumeration_of_all_subsamples(n: int, m: int) -> None:
    """Every set of m of the n - 1 others, all ranks, all shares j/m and one between."""
    ranks = list(range(1, n + 1))
    shares = [j / m for j in range(m + 1)] + [0.35]
    hits, area = np.zeros((len(shares), n)), np.zeros(n)
    samples = list(combinations(range(1, n), m))  # positions of the others among themselves
    for sample in samples:
        for r in ranks:
            above = sum(position < r for position in sample)
            area[r - 1] += 1 - above / m
            for i, share in enumerate(shares):
                hits[i, r - 1] += above / m <= share
    for i, share in enumerate(shares):
        mean = hits[i] / len(samples)
        ours = steck_sampling.expected_topk(share, ranks, n, m)
        assert ours == pytest.approx(mean, abs=1e-12)
        exact = np.array([(r - 1) / (n - 1) <= share for r in ranks])
        assert steck_sampling.topk_bias(share, ranks, n, m) == pytest.approx(
            mean - exact, abs=1e-12
        )
    assert steck_sampling.expected_atop(ranks, n, m) == pytest.approx(area / len(samples))


@pytest.mark.parametrize(("n", "m"), SIZES)
def test_threshold_by_enumeration(n: int, m: int) -> None:
    """T is the (j+1)-th smallest of m of 1..n-1; its law, its mean and the identity."""
    samples = list(combinations(range(1, n), m))
    for j in range(m):
        law = np.zeros(n - 1)
        for sample in samples:
            law[sample[j] - 1] += 1 / len(samples)
        assert steck_sampling.threshold_law(j, n, m) == pytest.approx(law, abs=1e-12)
        mean = float(law @ np.arange(1, n))
        assert steck_sampling.mean_threshold(j, n, m) == pytest.approx(mean, abs=1e-12)


@pytest.mark.parametrize(
    ("n", "m"), [(50, 7), (1001, 100), (3883, 100), (3883, 1000), (17_770, 1000), (200, 199)]
)
def test_order_statistic_identity(n: int, m: int) -> None:
    """E[sampled TOPK(j/m)] = E[Recall@T] to 1e-12, each side by its own law."""
    ranks = np.unique(np.geomspace(1, n, 60).astype(int))
    for j in sorted({0, 1, m // 50, m // 3, m - 1}):
        left = steck_sampling.expected_topk(j / m, ranks, n, m)
        right = steck_sampling.recall_at_threshold(j, ranks, n, m)
        assert left == pytest.approx(right, abs=1e-12)
        law = steck_sampling.threshold_law(j, n, m)
        mean = float(law @ np.arange(1, n))
        assert mean == pytest.approx(steck_sampling.mean_threshold(j, n, m), rel=1e-12)


def test_threshold_law_in_exact_fractions() -> None:
    n, m, j = 400, 60, 11
    exact = [
        Fraction(comb(t - 1, j) * comb(n - 1 - t, m - j - 1), comb(n - 1, m)) for t in range(1, n)
    ]
    assert sum(exact) == 1
    ours = steck_sampling.threshold_law(j, n, m)
    assert ours == pytest.approx([float(p) for p in exact], abs=1e-15)


def test_atop_is_unbiased_at_every_size() -> None:
    """Exact fractions for N = 25 and every Ñ; then N = 3,883 as in the MovieLens experiments."""
    n = 25
    for m in range(1, n):
        for r in range(1, n + 1):
            law = exact_law(n, r, m, WITHOUT)
            mean = 1 - sum(p * Fraction(s, m) for s, p in enumerate(law))
            assert mean == 1 - Fraction(r - 1, n - 1)
        ours = steck_sampling.expected_atop(range(1, n + 1), n, m)
        assert ours == pytest.approx(1 - np.arange(n) / (n - 1), abs=1e-13)
    ranks = np.arange(1, 3884, 97)
    for m in (100, 1000, 3882):
        ours = steck_sampling.expected_atop(ranks, 3883, m)
        assert ours == pytest.approx(1 - (ranks - 1) / 3882, abs=1e-12)


def test_netflix() -> None:
    # Section 6.2: N = 17,770 and Ñ = 1001: TOPK(0 %) looks at place 17.8 on average.
    assert round(steck_sampling.mean_threshold(0, 17_770, 1000), 1) == 17.8
    assert steck_sampling.naive_threshold(0, 17_770, 1000) == 1.0
    assert steck_sampling.naive_threshold(20, 17_770, 1000) == pytest.approx(1 + 0.02 * 17_769)


def test_it_is_recall_on_the_sample() -> None:
    n, m = 300, 40
    ranks = np.arange(1, n + 1)
    for share in (0.0, 0.05, 0.3, 0.999):
        recall = sd.metric("recall", k=int(places_within(share, m)))
        theirs = sd.expected(recall, ranks, sd.Sampling(n, m, WITHOUT))
        assert steck_sampling.expected_topk(share, ranks, n, m) == pytest.approx(theirs, abs=1e-13)


def test_it_is_the_rank_estimate() -> None:
    """s / m <= k exactly when 1 + (n - 1) s / m <= 1 + (n - 1) k: eq. 20 of Krichene & Rendle."""
    n, m = 1001, 100
    floored = sd.correction("rank-estimate", rounding="floor")
    for j in (0, 2, 10):
        k = int(places_within(j / m, n - 1))
        fit = floored.fit(sd.metric("recall", k=k), sd.Sampling(n, m, WITHOUT))
        ranks = np.arange(1, n + 1)
        ours = steck_sampling.expected_topk(j / m, ranks, n, m)
        assert ours == pytest.approx(fit.expected(ranks), abs=1e-13)


def test_own_n() -> None:
    both = steck_sampling.expected_topk(0.1, [3, 3], [20, 60], 10)
    assert both[0] == pytest.approx(float(steck_sampling.expected_topk(0.1, 3, 20, 10)))
    assert both[1] == pytest.approx(float(steck_sampling.expected_topk(0.1, 3, 60, 10)))
    assert steck_sampling.topk_bias(0.1, [3, 3], [20, 60], 19).shape == (2,)


def test_refusals() -> None:
    with pytest.raises(ValueError, match=r"m must be at most 9, got 10: .*without replacement"):
        steck_sampling.expected_topk(0.1, 3, 10, 10)
    with pytest.raises(ValueError, match=r"j must be at most 4, got 5"):
        steck_sampling.threshold_law(5, 10, 5)
    with pytest.raises(ValueError, match=r"rank 11 is larger than n = 10"):
        steck_sampling.expected_atop(11, 10, 3)
