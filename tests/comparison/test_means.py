"""Means over rank sets against row by row sums."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache
from math import comb

import numpy as np
import pytest

import sampledash as sd
from tests.comparison.made import options_of
from tests.oracles import SCHEMES, UNIFORM, WITHOUT, dense_law

METRIC = ["AUC", "Recall@10", "Precision@10", "NDCG@10", "NDCG", "AP", "AP@20", "RR", "HitRate@5"]


law_of = lru_cache(maxsize=2)(dense_law)


def by_rows(
    metric: str, rs: sd.RankSet, m: int, scheme: str, odds: float = 1.0
) -> tuple[float, float]:
    """Mean and standard deviation of the mean: one n, one relevant item, ties spelled out."""
    law = law_of(int(rs.n[0]), m, scheme, odds)
    values = sd.parse_metric(metric)(np.arange(1, m + 2), m + 1)
    mean = spread = 0.0
    for r, t, w in zip(rs.ranks, rs.ties, rs.counts, strict=True):
        p = law[r - 1 : r + t].mean(axis=0)
        e = p @ values
        mean += w * e
        spread += w * (p @ (values - e) ** 2)
    return mean / rs.counts.sum(), np.sqrt(spread) / rs.counts.sum()


# Blocks of ties from a few to all of the candidates, at either end and in the middle.
BLOCKS = sd.RankSet(
    "S",
    [1, 1, 3, 900, 5000, 1, 2999, 5990, 6000, 17, 17],
    6000,
    ties=[0, 5999, 2500, 4000, 1000, 20, 2, 10, 0, 0, 30],
    counts=[1, 2, 1, 1, 3, 1, 1, 1, 1, 2, 1],
)
LARGE = sd.RankSet("S", [1, 40, 1500, 2990, 7], 3000, ties=[2999, 2500, 60, 10, 0])
TIED = [(BLOCKS, x, m, scheme) for m in (1, 9, 60) for scheme in SCHEMES for x in METRIC]
SOME = ("AUC", "Recall@10", "NDCG", "AP")
TIED += [(LARGE, x, m, scheme) for m in (500, 2990, 2999) for scheme in UNIFORM for x in SOME]


@pytest.mark.parametrize(("rs", "metric", "m", "scheme"), TIED)
def test_large_blocks_of_ties(rs: sd.RankSet, metric: str, m: int, scheme: str) -> None:
    n, options = int(rs.n[0]), options_of(scheme, 2.5)
    mean, std = by_rows(metric, rs, m, scheme, options.get("odds", 1.0))
    assert sd.expected_mean(metric, rs, m, **options) == pytest.approx(mean, rel=1e-9)
    assert sd.std_of_mean(metric, rs, m, **options) == pytest.approx(std, rel=1e-8, abs=1e-12)
    exact = [
        np.mean(sd.parse_metric(metric)(np.arange(r, r + t + 1), n))
        for r, t in zip(rs.ranks, rs.ties, strict=True)
    ]
    assert sd.mean(metric, rs) == pytest.approx(np.average(exact, weights=rs.counts), rel=1e-12)


def test_few_negatives_are_exact() -> None:
    # Own n: an instance with fewer than m negatives uses all it has; its metric is then exact.
    rs = sd.RankSet("S", [2, 3, 30], [5, 9, 100])
    law = dense_law(100, 20, WITHOUT)[29]
    sampled = law @ (1 / np.arange(1, 22))
    ours = sd.expected_mean("AP", rs, 20, scheme=WITHOUT)
    assert ours == pytest.approx((1 / 2 + 1 / 3 + sampled) / 3, rel=1e-12)
    assert sd.std_of_mean("AP", rs, 20, scheme=WITHOUT) == pytest.approx(
        np.sqrt(law @ (1 / np.arange(1, 22) - sampled) ** 2) / 3, rel=1e-10
    )
    # Whatever the correction: theirs is the exact metric; corrections see only the third.
    vector = sd.correction("BV").fit("AP", sd.Sampling(38, 20, WITHOUT)).values
    corrected = sd.expected_mean("AP", rs, 20, scheme=WITHOUT, correction="BV 0.1")
    assert corrected == pytest.approx((1 / 2 + 1 / 3 + law @ vector) / 3, rel=1e-11)
    for m in (99, 5000):
        ours = sd.expected_mean("AP", rs, m, scheme=WITHOUT)
        assert ours == pytest.approx(sd.mean("AP", rs), rel=1e-14)
    assert sd.std_of_mean("AP", rs, 5000, scheme=WITHOUT) == 0.0


@pytest.mark.parametrize("scheme", SCHEMES)
def test_many_negatives_and_many_ranks(scheme: str) -> None:
    # Enough ranks and draws that laws are evaluated in windows, and binomial ones compressed.
    n, m, options = 4000, 950, options_of(scheme, 0.5)
    rng = np.random.default_rng(5)
    ranks = np.r_[1, 2, n, np.ceil(n * rng.random(8000) ** 1.5).astype(int)]
    distinct, counts = np.unique(ranks, return_counts=True)
    assert len(distinct) > 2500
    p = counts @ dense_law(n, m, scheme, options.get("odds", 1.0))[distinct - 1] / len(ranks)
    for metric in ("AUC", "Recall@10", "Recall@400", "NDCG@100", "AP"):
        true = p @ sd.parse_metric(metric)(np.arange(1, m + 2), m + 1)
        ours = sd.expected_mean(metric, sd.RankSet("S", ranks, n), m, **options)
        assert ours == pytest.approx(true, rel=1e-11)


@pytest.mark.parametrize("m", [1, 20])
def test_few_ties_among_very_many_candidates(m: int) -> None:
    # A difference of cumulative laws would lose eight digits here.
    n = 10**8
    blocks = [(1, 20), (7, 300), (40_000_000, 1000), (n - 200, 150)]
    rs = sd.RankSet("S", [r for r, _ in blocks], n, ties=[t for _, t in blocks])
    ways = comb(n - 1, m)
    law = []
    for r, t in blocks:
        sums = [
            sum(comb(a, s) * comb(n - 1 - a, m - s) for a in range(r - 1, r + t))
            for s in range(m + 1)
        ]
        law.append([float(Fraction(x, ways * (t + 1))) for x in sums])
    p = np.mean(law, axis=0)
    for metric in ("AP", "NDCG", "Recall@1", "AUC"):
        values = sd.parse_metric(metric)(np.arange(1, m + 2), m + 1)
        spread = np.mean([x @ (values - x @ values) ** 2 for x in np.array(law)]) / len(blocks)
        ours = sd.expected_mean(metric, rs, m, scheme=WITHOUT)
        assert ours == pytest.approx(p @ values, rel=1e-13)
        std = sd.std_of_mean(metric, rs, m, scheme=WITHOUT)
        assert std == pytest.approx(np.sqrt(spread), rel=1e-10)
    # The small block at the top alone, where nearly nothing is drawn above.
    top = sd.RankSet("T", [1], n, ties=[20])
    assert 1 - sd.expected_mean("Recall@1", top, m, scheme=WITHOUT) == pytest.approx(
        sum(law[0][1:]), rel=1e-7
    )
