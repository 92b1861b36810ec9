"""Ranks that are only known to lie beyond a list: exact where they can be, refused elsewhere."""

from itertools import combinations

import numpy as np
import pytest

import sampledash as sd
from sampledash.comparison.user_resampling import instance_values

ROWS = {"n": 12, "instances": list("aabbcd"), "ties": [1, 0, 0, 0, 0, 0]}
CUT = sd.RankSet("cut", [2, 7, 6, 1, 6, 3], **ROWS, beyond=[False, True, True, False, True, False])


def test_metrics_that_are_cut_in_time_are_exact() -> None:
    assert CUT.largest_cutoff == 5
    assert CUT.ranks.tolist() == [2, 7, 6, 1, 6, 3]
    for ends in ([9, 8, 11], [12, 12, 12], [7, 6, 6]):
        whole = sd.RankSet("whole", [2, ends[0], ends[1], 1, ends[2], 3], **ROWS)
        for name in ["Recall@5", "NDCG@5", "AP@4", "Precision@3", "RR@5", "HitRate@1", "TOPK@0.3"]:
            assert sd.mean(name, CUT) == sd.mean(name, whole)
            assert sd.mean_range(name, CUT) == (sd.mean(name, whole),) * 2


def test_range_holds_every_completion_and_is_sharp() -> None:
    rows = {"instances": [0, 0, 0], "mass_above": [0, 0.2, 0.4], "beyond": [False, True, True]}
    one = sd.RankSet("S", [1, 4, 4], 8, **rows)
    for name in ("AP", "NDCG", "AUC", "Recall@6", "RR", "Precision@5"):
        metric, ends = sd.parse_metric(name), combinations(range(4, 9), 2)
        every = [metric.of_set([1, *rest], 8) for rest in ends]
        assert sd.mean_range(name, one) == pytest.approx((min(every), max(every)), abs=1e-15)


def test_significance_of_a_cut_metric_needs_no_more() -> None:
    other = sd.RankSet("other", [1, 3, 2, 4, 9, 8], 12, instances=list("aabbcd"))
    found = sd.significance("Recall@5", [CUT, other], np.random.default_rng(1), resamples=100)
    assert found["paired"].all()
    values = instance_values(sd.parse_metric("Recall@5"), CUT, "expected")
    assert values.tolist() == [0.5, 0.5, 0, 1]
