"""Micro and macro means: instances that weigh as much as they have relevant items."""

from __future__ import annotations

import numpy as np
import pytest

import sampledash as sd
from tests.oracles import POPULARITY, WITH, WITHOUT

METRIC = ["Recall@3", "Precision@3", "AP", "NDCG@5", "AUC", "RR", "HitRate@5"]
MICRO = {"weighting": "relevant-items"}

# Instance label -> its ranks, n and count. Sizes 1, 2 and 4: weights 1, 2 and 4.
FIRST = {"u": ([2], 40, 1), "v": ([1, 9], 50, 3), "w": ([3, 4, 17, 30], 60, 2)}


def set_of(name: str, parts: dict[str, tuple[list[int], int, int]]) -> sd.RankSet:
    rows = [(r, n, label, c) for label, (ranks, n, c) in parts.items() for r in ranks]
    ranks, n, labels, counts = zip(*rows, strict=True)
    return sd.RankSet(name, ranks, n, instances=labels, counts=counts)


def shares(parts: dict[str, tuple[list[int], int, int]]) -> dict[str, float]:
    """Weight of one instance of each label in the micro mean."""
    total = sum(len(ranks) * count for ranks, _, count in parts.values())
    return {label: len(ranks) / total for label, (ranks, _, _) in parts.items()}


def alone(parts: dict[str, tuple[list[int], int, int]], label: str) -> sd.RankSet:
    ranks, n, _ = parts[label]
    return sd.RankSet("S", ranks, n, instances=[label] * len(ranks))


@pytest.mark.parametrize("metric", METRIC)
def test_the_exact_mean_weighs_each_instance_by_its_relevant_items(metric: str) -> None:
    parts = FIRST
    each = {u: sd.mean(metric, alone(parts, u)) for u in parts}
    weighted = sum(shares(parts)[u] * parts[u][2] * each[u] for u in parts)
    assert sd.mean(metric, set_of("S", parts), **MICRO) == pytest.approx(weighted, rel=1e-13)


def test_micro_recall_is_hits_over_relevant_items() -> None:
    # 3 of the ranks 2 | 1, 9 (three times) | 3, 4, 17, 30 (twice): 1 + 3 + 2 of 1 + 6 + 8.
    assert sd.mean("Recall@3", set_of("S", FIRST), **MICRO) == pytest.approx(6 / 15, rel=1e-15)
    assert sd.mean("Recall@3", set_of("S", FIRST)) == pytest.approx((1 + 3 / 2 + 2 / 4) / 6)


@pytest.mark.parametrize("scheme", [WITH, WITHOUT, POPULARITY])
@pytest.mark.parametrize("metric", METRIC)
def test_expected_mean_and_scatter_add_up_from_single_instances(scheme: str, metric: str) -> None:
    m = 12
    options = {"scheme": scheme} | ({"odds": 2.0} if scheme == POPULARITY else {})
    part, share = FIRST, shares(FIRST)
    rs = set_of("S", part)
    mean = sum(
        share[u] * part[u][2] * sd.expected_mean(metric, alone(part, u), m, **options) for u in part
    )
    variance = sum(
        share[u] ** 2 * part[u][2] * sd.std_of_mean(metric, alone(part, u), m, **options) ** 2
        for u in part
    )
    assert sd.expected_mean(metric, rs, m, **options, **MICRO) == pytest.approx(mean, rel=1e-12)
    found = sd.std_of_mean(metric, rs, m, **options, **MICRO)
    assert found == pytest.approx(np.sqrt(variance), rel=1e-11)


def test_the_order_can_depend_on_the_weighting() -> None:
    # P is better where there is one relevant item, Q where there are four.
    p = set_of("P", {"u": ([1], 40, 1), "w": ([11, 12, 13, 14], 60, 1)})
    q = set_of("Q", {"u": ([11], 40, 1), "w": ([1, 2, 13, 14], 60, 1)})
    macro, micro = (sd.right_from("Recall@2", [p, q], 5, **o) for o in ({}, MICRO))
    assert (macro.better[0], micro.better[0]) == ("P", "Q")
