"""Scatter of instances with several relevant items: dense sums over both counts."""

from __future__ import annotations

import numpy as np
import pytest

import sampledash as sd
from tests.oracles import WITH, WITHOUT, dense_law, item_scale, item_value

METRICS = ["Recall@5", "AP", "NDCG", "AUC", "Precision@3"]


def pair_variance(ranks: tuple[int, int], n: int, m: int, scheme: str, metric: sd.Metric) -> float:
    """Variance for two relevant items, from the law of (above both, between) by regions."""
    first, second = ranks[0] - 1, ranks[1] - 2  # irrelevant items above
    values = [item_value(metric.name, metric.k, j, m) for j in (1, 2)]
    f, g = (np.array([value(a) for a in range(m + 1)]) for value in values)
    joint = np.zeros((m + 1, m + 1))
    for t, p in enumerate(dense_law(n - 1, m, scheme)[second]):  # above the second, and of those
        if p:
            inner = dense_law(second + 1, t, scheme)[first] if t else [1.0]
            joint[t, : t + 1] = p * np.asarray(inner)
    total = g[:, None] + f[None, :]
    mean = np.sum(joint * total)
    return float(np.sum(joint * (total - mean) ** 2)) * item_scale(metric.name, metric.k, 2) ** 2


@pytest.mark.parametrize("scheme", [WITH, WITHOUT])
@pytest.mark.parametrize("text", METRICS)
def test_two_items_against_their_joint_law(scheme: str, text: str) -> None:
    n, m, metric = 60, 20, sd.parse_metric(text)
    for ranks in ((1, 2), (3, 4), (5, 40), (30, 31), (1, 60), (59, 60)):
        rs = sd.RankSet("S", ranks, n, instances=[0, 0])
        true = pair_variance(ranks, n, m, scheme, metric)
        assert sd.std_of_mean(text, rs, m, scheme=scheme) ** 2 == pytest.approx(true, abs=1e-14)


def test_instances_of_any_length_add_up() -> None:
    # Together as alone: lists of different lengths go side by side.
    rng = np.random.default_rng(5)
    sizes = [3, 1, 40, 5, 1, 12]
    ranks = [np.sort(rng.choice(200, k, replace=False)) + 1 for k in sizes]
    n = [200, 210, 220, 230, 40 + 200, 200]
    alone = [
        sd.std_of_mean("NDCG@20", sd.RankSet("S", r, k, instances=[0] * len(r)), 30) ** 2
        for r, k in zip(ranks, n, strict=True)
    ]
    together = sd.RankSet(
        "S", np.concatenate(ranks), np.repeat(n, sizes), instances=np.repeat(range(6), sizes)
    )
    found = sd.std_of_mean("NDCG@20", together, 30) ** 2
    assert found == pytest.approx(sum(alone) / 36, rel=1e-12)


@pytest.mark.parametrize(("scheme", "tied"), [(WITH, False), (WITHOUT, True)])
def test_long_lists_against_simulation(scheme: str, tied: bool) -> None:
    rng = np.random.default_rng(12)
    n, m, runs, sizes = 300, 25, 3000, [1, 2, 40, 7, 7, 3]
    ranks = [np.sort(rng.choice(n // 3, k, replace=False)) * 3 + 1 for k in sizes]
    rs = sd.RankSet(
        "S",
        np.concatenate(ranks),
        n,
        instances=np.repeat(range(len(sizes)), sizes),
        ties=rng.integers(0, 3, sum(sizes)) if tied else None,
    )
    for text in METRICS:
        drawn = sd.simulate(text, rs, m, runs, rng, scheme=scheme)
        fourth = np.mean((drawn - drawn.mean()) ** 4) / drawn.var() ** 2
        std = sd.std_of_mean(text, rs, m, scheme=scheme)
        # The variance of a variance: (kurtosis - 1) / runs.
        assert drawn.var() == pytest.approx(std**2, rel=4 * np.sqrt((fourth - 1) / runs))
