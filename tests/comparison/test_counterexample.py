"""Counterexamples: they are ones, none is smaller, and there is none where there is none."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import sampledash as sd
from sampledash.comparison import counterexample
from tests.benchmarks.counterexamples import smallest
from tests.comparison.made import options_of
from tests.oracles import METRICS, POPULARITY, SCHEMES, WITHOUT, exact_law, item_scale, item_value

BIG = ["AUC", "Precision@3", "Recall@1", "Recall@10", "AP", "AP@5", "NDCG", "NDCG@10", "RR",
       "HitRate@2"]  # fmt: skip


def gaps(metric: str, n: int, m: int, options: dict) -> tuple[sd.RankSet, float, float] | None:
    """The better one of a counterexample, and both means of it less those of the other."""
    found = counterexample(metric, sd.Sampling(n, m, **options))
    if found is None:
        return None
    a, b = found
    assert (a.system, b.system) == ("A", "B")
    assert a.n_instances == b.n_instances
    exact = sd.mean(metric, a) - sd.mean(metric, b)
    sampled = [sd.expected_mean(metric, rs, m, **options) for rs in found]
    return a, exact, sampled[0] - sampled[1]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("metric", BIG)
def test_of_the_usual_size(metric: str, scheme: str) -> None:
    found = gaps(metric, 10_000, 100, options_of(scheme, 2.5))
    if metric == "AUC" and scheme != POPULARITY:
        assert found is None
        return
    assert found is not None
    a, exact, sampled = found
    assert a.n_instances == 2
    best = float(sd.parse_metric(metric)(1, 10_000))
    assert exact > 0.1 * best / 2  # both gaps can be seen
    assert -sampled > 0.1 / (2 if metric != "Precision@3" else 6)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("n", "m"), [(3, 1), (4, 2), (5, 3), (6, 2), (6, 4), (8, 3), (9, 8)])
def test_no_smaller_one_exists(n: int, m: int, scheme: str) -> None:
    odds = Fraction(5, 2) if scheme == POPULARITY else Fraction(1)
    laws = [[float(p) for p in exact_law(n, r, m, scheme, odds)] for r in range(1, n + 1)]
    for name, k in METRICS:
        exact, sampled = item_value(name, k, 1, n - 1), item_value(name, k, 1, m)
        scale = item_scale(name, k, 1)
        f = np.array([exact(r - 1) for r in range(1, n + 1)]) * scale
        g = np.array([np.dot(p, [sampled(s) for s in range(m + 1)]) for p in laws]) * scale
        most = 5 if n <= 6 else 4
        fewest = smallest(f, g, most, 1e-11)
        found = counterexample(sd.metric(name, k=k), sd.Sampling(n, m, scheme, float(odds)))
        if fewest is not None:
            assert found is not None, (name, k)
            assert found[0].n_instances == fewest, (name, k)
        if found is None:
            # Affine: three points never span a triangle.
            points = np.column_stack([np.ones(n), f, g])
            assert np.linalg.matrix_rank(points, tol=1e-9) <= 2
            continue
        a, b = (rs.ranks - 1 for rs in found)
        count = [rs.counts for rs in found]
        assert fewest is None or len(a) >= 2
        assert f[a] @ count[0] > f[b] @ count[1] + 1e-11
        assert g[a] @ count[0] < g[b] @ count[1] - 1e-11
        assert found[0].n_instances == found[1].n_instances


@pytest.mark.parametrize(
    ("metric", "sampling"),
    [
        ("AUC", sd.Sampling(50, 7)),
        ("NDCG@3", sd.Sampling(50, 49, WITHOUT)),  # all negatives are drawn
        ("AP", sd.Sampling(10_000, 9_999, WITHOUT)),
        ("Recall@8", sd.Sampling(50, 7)),  # everything is within the cutoff
        ("HitRate@60", sd.Sampling(50, 10)),
        ("NDCG", sd.Sampling(2, 5)),  # two ranks only
    ],
)
def test_there_is_none(metric: str, sampling: sd.Sampling) -> None:
    assert counterexample(metric, sampling) is None


@pytest.mark.parametrize(
    ("metric", "n", "m", "options", "least", "instances"),
    [
        # One negative is left out: the rank drops by one with chance 10 / 9,999 at rank 11.
        ("Recall@10", 10_000, 9_998, {"scheme": WITHOUT}, 0, 1000),
        # Nearly affine: some multiples of two gaps differ by next to nothing in both means.
        ("AP", 160, 158, {"scheme": WITHOUT}, 1e-11, None),
        ("RR", 483, 481, {"scheme": WITHOUT}, 1e-11, None),
        ("AP", 3000, 2998, {"scheme": WITHOUT}, 1e-11, None),
        ("AUC", 120, 10, {"scheme": POPULARITY, "odds": 1 + 1e-9}, 1e-11, None),
        ("NDCG@20", 10**9, 500, {}, 0.05, 2),
    ],
)
def test_extreme_settings(
    metric: str, n: int, m: int, options: dict, least: float, instances: int | None
) -> None:
    found = gaps(metric, n, m, options)
    assert found is not None
    a, exact, sampled = found
    assert exact > least
    assert sampled < -least
    assert len(a) <= 64
    assert instances in (None, a.n_instances)


def test_too_near_an_affine_function_to_be_seen() -> None:
    assert counterexample("AUC", sd.Sampling(10_000, 100, POPULARITY, 1 + 1e-11)) is None
