"""Costs of scoring until a metric is certain: by all orders of candidates, and from a pilot."""

from functools import cache
from itertools import combinations, permutations

import numpy as np
import pytest

import sampledash as sd
from sampledash.comparison.user_resampling import instance_values


def looked_at(order: tuple[int, ...], above: int, k: int) -> int:
    """Return how many candidates are scored until k above the relevant item are found, or all."""
    seen = 0
    for place, item in enumerate(order, start=1):
        seen += item < above
        if seen == k:
            return place
    return len(order)


@cache
def law(above: int, negatives: int, k: int) -> tuple[float, float]:
    costs = [looked_at(order, above, k) if k else 0 for order in permutations(range(negatives))]
    return float(np.mean(costs)), float(np.var(costs))


CASES = [
    ("Recall@2", 0), ("NDCG@2", 0), ("HitRate@1", 0.5), ("TOPK@0.4", 0), ("TOPK@0.2", 0.5),
    ("Recall@3", 0.5), ("Precision@5", 0.6), ("Recall@2", 1),
    ("AP", 0.3), ("RR", 0.26), ("NDCG", 0.5), ("AP@3", 0.25), ("NDCG@2", 0.65), ("AP", 1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "tolerance"), CASES)
def test_mean_over_instances_that_differ_in_all(name: str, tolerance: float) -> None:
    """``mean_stopping_cost`` is right with ties, several relevant items, and a tolerance."""
    rng, metric = np.random.default_rng(6), sd.parse_metric(name)
    how = {"tolerance": tolerance} if tolerance else {}
    for _ in range(25):
        rows, means, variances, least, weights = [], [], [], [], []
        for label in range(int(rng.integers(1, 5))):
            n, count = int(rng.integers(2, 7)), int(rng.integers(1, 4))
            relevant, above = int(rng.integers(1, n)), int(rng.integers(n))
            above = min(above, n - relevant)
            tied = int(rng.integers(n - relevant - above + 1)) if relevant == 1 else 0
            places = (np.arange(a + 1, a + relevant + 1) for a in range(n - relevant + 1))
            best = [metric.of_set(each, n) for each in places]
            k = next((a for a, value in enumerate(best) if value <= tolerance + 1e-12), None)
            assert k == sd.deciding_cutoff(name, n, relevant=relevant, **how)
            k = n if k is None else k
            rows += [(label, above + 1 + i, n, tied, count) for i in range(relevant)]
            mean, variance = law(above, n - relevant, k)
            one = sd.stopping_cost(name, [above + 1], n, relevant=relevant, **how)
            assert one.mean.tolist() == pytest.approx([mean], abs=1e-12)
            assert one.std.tolist() == pytest.approx([np.sqrt(variance)], abs=1e-12)
            means.append(mean)
            variances.append(variance)
            least.append(k if above >= k else n - relevant)
            weights.append(count)
        labels, ranks, n, ties, counts = zip(*rows, strict=True)
        rs = sd.RankSet("S", ranks, n, instances=labels, ties=ties, counts=counts)
        total = sum(weights)
        expected = np.dot(means, weights) / total, np.sqrt(np.dot(variances, weights)) / total
        found = sd.mean_stopping_cost(name, rs, **how)
        assert found == pytest.approx(expected, abs=1e-12)
        found = sd.mean_stopping_cost(name, rs, **how, order="best")
        assert found == pytest.approx((np.dot(least, weights) / total, 0), abs=1e-12)


def test_order_of_a_proxy_against_looking_one_by_one() -> None:
    rng = np.random.default_rng(8)
    for _ in range(200):
        n, size = int(rng.integers(4, 30)), int(rng.integers(1, 3))
        scores, proxy = rng.integers(0, 9, n), rng.integers(0, 5, n)
        relevant, k = rng.choice(n, size, replace=False), int(rng.integers(1, 6))
        order = [i for i in sorted(range(n), key=lambda i: -proxy[i]) if i not in relevant]
        above = [scores[i] > scores[relevant].max() for i in order]
        places = [place for place, one in enumerate(above, start=1) if one]
        expected = places[k - 1] if len(places) >= k else len(order)
        assert sd.proxy_cost(f"Recall@{k}", scores, proxy, relevant) == expected
    # One item, even if it is given twice: AP is at most 1/2 as soon as one other item is above.
    assert sd.proxy_cost("AP", [5, 4, 3], [1, 9, 5], [2, 2], tolerance=0.5) == 1


def test_a_small_tolerance_is_not_rounded() -> None:
    assert sd.deciding_cutoff("RR", 10**12, tolerance=1e-9) == 10**9 - 1


def test_range_holds_the_cost_of_the_pilot_and_of_all(xyz: list[sd.RankSet]) -> None:
    rng, held = np.random.default_rng(4), 0
    for ranks in xyz:
        truth = sd.mean_stopping_cost("NDCG@10", ranks).mean
        for size in (400, 6040):
            at = rng.choice(6040, size, replace=False)
            some = sd.RankSet("S", ranks.ranks[at], ranks.n[at])
            low, high = sd.stopping_range("NDCG@10", sd.sample_ranks(some, 100, rng), 6040)
            held += low <= truth <= high
            assert high - low < (truth if size == 6040 else 1.5 * truth)
    assert held >= 5  # 5 of 6 suffice for 95 % intervals


def test_more_of_others_is_less_certain_and_all_ranks_tell_all() -> None:
    ranks = sd.RankSet("S", np.arange(1, 201), 201)
    pilot = sd.sample_ranks(ranks, 40, np.random.default_rng(1))
    own, more, any_ = (sd.stopping_range("RR@5", pilot, size) for size in (None, 400, np.inf))
    assert any_[0] < more[0] < own[0] < own[1] < more[1] < any_[1]
    whole = sd.SampledRankSet("S", ranks.ranks, 201, 200, scheme="without-replacement")
    cost = sd.mean_stopping_cost("RR@5", ranks).mean
    assert sd.stopping_range("RR@5", whole) == pytest.approx((cost, cost), abs=1e-9)


def test_a_pilot_without_a_hit_leaves_the_cost_open() -> None:
    ranks = sd.RankSet("S", np.where(np.arange(1_000) < 50, 1, 200), 200)
    truth = float(sd.mean_stopping_cost("Recall@3", ranks).mean)
    assert truth == pytest.approx(0.05 * 199 + 0.95 * 3)  # a hit needs all, a last rank k = 3
    rng, missed = np.random.default_rng(2), 0
    for _ in range(200):  # 36 % of the pilots have no hit
        pilot = sd.SampledRankSet("S", rng.choice(ranks.ranks, 20, replace=False), 200, 199)
        low, high = sd.stopping_range("Recall@3", pilot, 1_000)
        missed += not low <= truth <= high
    assert missed <= 22  # 5 % of 200, and four standard errors


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
