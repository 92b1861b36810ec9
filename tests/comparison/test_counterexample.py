"""``counterexample`` returns two rank sets with as few instances as possible, or None."""

from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, pairwise
from math import isinf

import numpy as np
import pytest

import sampledash as sd
from sampledash.comparison.counterexample import _candidates, _rank_set, _simplest, counterexample
from tests.benchmarks.counterexamples import METRICS, check, whole_law, whole_values
from tests.comparison.made import options_of
from tests.oracles import POPULARITY, SCHEMES, WITHOUT

FEW = [metric for metric in METRICS if (metric.k or 0) <= 10]
BIG = "AUC Precision@3 Recall@1 Recall@10 AP AP@5 NDCG NDCG@10 RR HitRate@2"


def gaps(metric: str, n: int, m: int, options: dict) -> tuple[sd.RankSet, float, float] | None:
    """Return rank set A of a counterexample, and A - B of exact and of expected sampled means."""
    found = counterexample(metric, sd.Sampling(n, m, **options))
    if found is None:
        return None
    assert [rs.system for rs in found] == ["A", "B"]
    exact = [sd.mean(metric, rs) for rs in found]
    sampled = [sd.expected_mean(metric, rs, m, **options) for rs in found]
    return found[0], exact[0] - exact[1], sampled[0] - sampled[1]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("metric", BIG.split())
def test_of_the_usual_size(metric: str, scheme: str) -> None:
    found = gaps(metric, 10_000, 100, options_of(scheme, 2.5))
    if metric == "AUC" and scheme != POPULARITY:
        assert found is None
        return
    assert found is not None
    a, exact, sampled = found
    assert a.n_instances == 2
    best = float(sd.parse_metric(metric)(1, 10_000))
    assert exact > 0.1 * best / 2  # the differences are large enough to be visible
    assert -sampled > 0.1 / (2 if metric != "Precision@3" else 6)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("n", "m"), [(3, 1), (4, 2), (5, 3), (6, 2), (6, 4), (8, 3), (9, 8)])
def test_no_smaller_one_exists(n: int, m: int, scheme: str) -> None:
    odds = Fraction(5, 2) if scheme == POPULARITY else Fraction(1)
    most = 5 if n <= 6 else 4
    assert not [*check(n, m, scheme, FEW, Counter(), odds, most)]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("n", "m"), [(5, 2), (5, 3), (7, 3)])
def test_no_other_one_is_clearer(n: int, m: int, scheme: str) -> None:
    """No sets of two instances have a larger min(exact difference, -sampled difference)."""
    odds, checked = Fraction(5, 2) if scheme == POPULARITY else Fraction(1), 0
    law = whole_law(n, m, scheme, odds)
    for metric in FEW:
        pair = counterexample(metric, sd.Sampling(n, m, scheme, float(odds)))
        if pair is None or pair[0].n_instances > 2:
            continue
        values = np.array(whole_values(metric, n - 1), dtype=object)
        sampled = law @ np.array(whole_values(metric, m), dtype=object)
        shares = np.array([[x / (v[0] - v[-1]) for x in v - v[-1]] for v in (values, sampled)])
        sums = np.array([*combinations_with_replacement(range(n), 2)])
        f, g = shares[:, sums].astype(float).sum(axis=-1)
        clear = np.minimum(np.subtract.outer(f, f), -np.subtract.outer(g, g)).max()
        first, second = (shares[:, ranks.ranks - 1].sum(axis=1) for ranks in pair)
        mine = min(first[0] - second[0], second[1] - first[1])
        assert 0.998 * clear - 1e-12 <= mine <= clear + 1e-12, metric
        checked += 1
    assert checked


def test_ranks_that_are_tried() -> None:
    recall = sd.parse_metric("Recall@200")
    assert _candidates(recall, 128).tolist() == list(range(1, 129))
    for n in (201, 203, 10_000):
        tried = _candidates(recall, n).tolist()
        assert tried == sorted({*tried})
        assert {*range(1, 65), *range(198, min(n, 203) + 1), n - 2, n - 1, n} <= {*tried}
        assert tried[-1] == n
        between = [b / a for a, b in pairwise(tried[63:])]
        assert max(between) <= (n / 64) ** (1 / 63) * 1.02


def test_the_simplest_fraction_between_two_numbers() -> None:
    low, high = np.sort(np.random.default_rng(1).random((2, 300)) ** 3 * 4, axis=0)
    low[:6], high[:6] = [1, 0.5, 2, 0.75, 1.5, 3], [2, 1, 2, 0.5, 1.75, 3.5]
    for x, y, *ours in zip(low, high, *_simplest(low, high), strict=True):
        if x >= y:
            assert all(map(isinf, ours))
            continue
        q = next(q for q in range(1, 10**6) if (np.floor(x * q) + 1) / q < y)
        assert ours == [np.floor(x * q) + 1, q]


def test_more_than_64_instances_are_counts() -> None:
    assert _rank_set("A", 9, (7, 3), (5, 61)).ranks.tolist() == [7] * 3 + [5] * 61
    many = _rank_set("A", 9, (7, 4), (5, 61))
    assert (many.ranks.tolist(), many.counts.tolist()) == ([5, 7], [61, 4])


NONE = [
    ("AUC", sd.Sampling(50, 7)),
    ("NDCG@3", sd.Sampling(50, 49, WITHOUT)),  # all 49 negatives are drawn, so the metric is exact
    ("AP", sd.Sampling(10_000, 9_999, WITHOUT)),
    ("Recall@8", sd.Sampling(50, 7)),  # a sampled list has 8 items, so all are within the cutoff
    ("HitRate@60", sd.Sampling(50, 10)),
    ("NDCG", sd.Sampling(2, 5, "with-replacement")),  # n = 2: sampled means have the true order
    ("AUC", sd.Sampling(10_000, 100, POPULARITY, 1 + 1e-11)),  # nearly uniform sampling
]


@pytest.mark.parametrize(("metric", "sampling"), NONE)
def test_there_is_none(metric: str, sampling: sd.Sampling) -> None:
    assert counterexample(metric, sampling) is None


def test_extreme_settings():
    for metric, n, m, options, least, instances in (
        # One negative is left out: rank 11 becomes sampled rank 10 with probability 10 / 9,999.
        ("Recall@10", 10_000, 9_998, {"scheme": WITHOUT}, 0, 1000),
        # In the next four, sampled values are nearly affine in exact ones: differences are tiny.
        ("AP", 160, 158, {"scheme": WITHOUT}, 1e-11, None),
        ("RR", 483, 481, {"scheme": WITHOUT}, 1e-11, None),
        ("AP", 3000, 2998, {"scheme": WITHOUT}, 1e-11, None),
        ("AUC", 120, 10, {"scheme": POPULARITY, "odds": 1 + 1e-9}, 1e-11, None),
        ("NDCG@20", 10**9, 500, {}, 0.05, 2),
    ):
        found = gaps(metric, n, m, options)
        assert found is not None
        a, exact, sampled = found
        assert exact > least
        assert sampled < -least
        assert len(a) <= 64
        assert instances in (None, a.n_instances)
