"""Counterexamples: they are ones, none is smaller, and there is none where there is none."""

from collections import Counter
from fractions import Fraction

import pytest

import sampledash as sd
from sampledash.comparison.counterexample import counterexample
from tests.benchmarks.counterexamples import METRICS, check
from tests.comparison.made import options_of
from tests.oracles import POPULARITY, SCHEMES, WITHOUT

BIG = "AUC Precision@3 Recall@1 Recall@10 AP AP@5 NDCG NDCG@10 RR HitRate@2"


def gaps(metric: str, n: int, m: int, options: dict) -> tuple[sd.RankSet, float, float] | None:
    """The better one of a counterexample, and both means of it less those of the other."""
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
    assert exact > 0.1 * best / 2  # both gaps can be seen
    assert -sampled > 0.1 / (2 if metric != "Precision@3" else 6)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(("n", "m"), [(3, 1), (4, 2), (5, 3), (6, 2), (6, 4), (8, 3), (9, 8)])
def test_no_smaller_one_exists(n: int, m: int, scheme: str) -> None:
    odds = Fraction(5, 2) if scheme == POPULARITY else Fraction(1)
    most = 5 if n <= 6 else 4
    assert not [*check(n, m, scheme, METRICS, Counter(), odds, most)]


NONE = [
    ("AUC", sd.Sampling(50, 7)),
    ("NDCG@3", sd.Sampling(50, 49, WITHOUT)),  # all negatives are drawn
    ("AP", sd.Sampling(10_000, 9_999, WITHOUT)),
    ("Recall@8", sd.Sampling(50, 7)),  # everything is within the cutoff
    ("HitRate@60", sd.Sampling(50, 10)),
    ("NDCG", sd.Sampling(2, 5, "with-replacement")),  # two ranks only
    # too near an affine function to be seen
    ("AUC", sd.Sampling(10_000, 100, POPULARITY, 1 + 1e-11)),
]


@pytest.mark.parametrize(("metric", "sampling"), NONE)
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
def test_extreme_settings(metric, n, m, options, least, instances):
    found = gaps(metric, n, m, options)
    assert found is not None
    a, exact, sampled = found
    assert exact > least
    assert sampled < -least
    assert len(a) <= 64
    assert instances in (None, a.n_instances)
