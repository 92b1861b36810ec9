"""Counterexamples: they are ones, none is smaller, and there is none where there is none."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

import sampledash as sd
from sampledash.comparison import counterexample
from tests.oracles import METRICS, POPULARITY, SCHEMES, WITHOUT, exact_law, item_scale, item_value

BIG = [("auc", None), ("precision", 3), ("recall", 1), ("recall", 10), ("ap", None), ("ap", 5),
       ("ndcg", None), ("ndcg", 10), ("rr", None), ("hit_rate", 2)]  # fmt: skip


def options_of(scheme: str, odds: float) -> dict[str, object]:
    return {"scheme": scheme, "odds": odds} if scheme == POPULARITY else {"scheme": scheme}


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("name", "k"), BIG)
def test_of_the_usual_size(name: str, k: int | None, scheme: str) -> None:
    odds = 2.5 if scheme == POPULARITY else 1.0
    metric, sampling = sd.metric(name, k=k), sd.Sampling(10_000, 100, scheme, odds)
    found = counterexample(metric, sampling)
    if name == "auc" and scheme != POPULARITY:
        assert found is None
        return
    assert found is not None
    a, b = found
    assert (a.system, b.system) == ("A", "B")
    assert a.n_instances == b.n_instances == 2
    exact = sd.mean(metric, a) - sd.mean(metric, b)
    options = options_of(scheme, odds)
    sampled = sd.expected_mean(metric, b, 100, **options) - sd.expected_mean(
        metric, a, 100, **options
    )
    assert exact > 0.1 * float(metric(1, 10_000)) / 2  # both gaps can be seen
    assert sampled > 0.1 / (2 if name != "precision" else 6)


def smallest(f: np.ndarray, g: np.ndarray, most: int) -> int | None:
    """Fewest instances of any counterexample, by trying all pairs of rank sets."""
    for size in range(1, most + 1):
        sets = np.array(list(combinations_with_replacement(range(len(f)), size)))
        exact, sampled = f[sets].sum(axis=1), g[sets].sum(axis=1)
        order = np.argsort(exact)
        exact, sampled = exact[order], sampled[order]
        largest = np.maximum.accumulate(sampled)  # of all sets that are not better
        below = np.searchsorted(exact, exact - 1e-11 * size, side="right")
        if np.any((below > 0) & (largest[below - 1] - sampled > 1e-11 * size)):
            return size
    return None


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
        fewest = smallest(f, g, most)
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


def test_nearly_complete_samples_need_many_instances() -> None:
    # One negative is left out: the rank drops by one with chance 10 / 9,999 at rank 11.
    sampling = sd.Sampling(10_000, 9_998, WITHOUT)
    found = counterexample("Recall@10", sampling)
    assert found is not None
    a, b = found
    assert a.n_instances == b.n_instances == 1000
    assert len(a) <= 3
    assert sd.mean("Recall@10", a) > sd.mean("Recall@10", b)
    assert sd.expected_mean("Recall@10", a, 9_998, scheme=WITHOUT) < sd.expected_mean(
        "Recall@10", b, 9_998, scheme=WITHOUT
    )


@pytest.mark.parametrize(
    ("metric", "n", "m", "options"),
    [
        ("AP", 160, 158, {"scheme": WITHOUT}),
        ("RR", 483, 481, {"scheme": WITHOUT}),
        ("AP", 3000, 2998, {"scheme": WITHOUT}),
        ("AUC", 120, 10, {"scheme": POPULARITY, "odds": 1 + 1e-9}),
    ],
)
def test_where_the_sampled_metric_is_nearly_an_affine_function(
    metric: str, n: int, m: int, options: dict[str, object]
) -> None:
    # Some multiples of two gaps differ by next to nothing in both means, and do not count.
    found = counterexample(metric, sd.Sampling(n, m, **options))
    assert found is not None
    a, b = found
    assert a.n_instances == b.n_instances
    assert sd.mean(metric, a) - sd.mean(metric, b) > 1e-11
    sampled = [sd.expected_mean(metric, rs, m, **options) for rs in found]
    assert sampled[1] - sampled[0] > 1e-11


def test_too_near_an_affine_function_to_be_seen() -> None:
    assert counterexample("AUC", sd.Sampling(10_000, 100, POPULARITY, 1 + 1e-11)) is None


def test_huge_catalogues() -> None:
    found = counterexample("NDCG@20", sd.Sampling(10**9, 500))
    assert found is not None
    a, b = found
    assert a.n_instances == 2
    assert sd.mean("NDCG@20", a) > sd.mean("NDCG@20", b) + 0.05
    assert sd.expected_mean("NDCG@20", a, 500) < sd.expected_mean("NDCG@20", b, 500) - 0.05
    flips = sd.flips("NDCG@20", [a, b], 600)
    assert all((flip.first, flip.second) == ("A", "B") for flip in flips)
