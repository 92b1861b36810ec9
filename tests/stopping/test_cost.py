"""What stopping when decided costs: all orders, the measured table; what a pilot says of it."""

from itertools import permutations
from math import factorial

import numpy as np
import pytest

import sampledash as sd


def looked_at(order: tuple[int, ...], above: int, k: int) -> int:
    """Candidates looked at until k of those numbered below ``above`` were seen, or all."""
    seen = 0
    for place, item in enumerate(order, start=1):
        seen += item < above
        if seen == k:
            return place
    return len(order)


@pytest.mark.parametrize("relevant", [1, 2, 3])
def test_mean_and_deviation_over_all_orders(relevant: int) -> None:
    for negatives in range(1, 8 - relevant + 1):
        n = negatives + relevant
        every = list(permutations(range(negatives)))
        assert len(every) == factorial(negatives)
        for above in range(negatives + 1):
            for k in range(1, negatives + 2):
                costs = np.array([looked_at(order, above, k) for order in every], dtype=float)
                found = sd.stopping_cost(f"Recall@{k}", above + 1, n, relevant=relevant)
                assert found.mean == pytest.approx(costs.mean(), abs=1e-12)
                assert found.std == pytest.approx(costs.std(), abs=1e-12)


def test_of_a_rank_set_with_ties_and_several_relevant_items() -> None:
    """Ties are not above; the best of several items decides; the mean counts every instance."""
    rows = {"instances": list("uuvw"), "ties": [1, 0, 3, 0], "counts": [2, 2, 1, 3]}
    ranks = sd.RankSet("S", [4, 6, 2, 3], n=[7, 7, 6, 5], **rows)
    mean, variance = 0.0, 0.0
    for above, negatives, count in ((3, 5, 2), (1, 5, 1), (2, 4, 3)):
        costs = [looked_at(order, above, 2) for order in permutations(range(negatives))]
        mean += count * np.mean(costs) / 6
        variance += count * np.var(costs) / 36
    found = sd.mean_stopping_cost("NDCG@2", ranks)
    assert found == pytest.approx((mean, np.sqrt(variance)), abs=1e-12)


#: Scores a user, and their share of full ranking in percent, as measured beforehand.
TABLE = {
    "X": [(3.8, 135), (12.4, None), (19.3, 684), (28.9, None), (45.4, None)],
    "Y": [(4.4, 156), (12.9, None), (19.2, 680), (27.4, None), (40.8, None)],
    "Z": [(4.5, 160), (13.7, None), (20.2, 714), (28.6, None), (41.8, None)],
}


def test_the_measured_table(xyz: list[sd.RankSet]) -> None:
    for ranks in xyz:
        full = float(np.mean(ranks.n - 1))
        for k, (share, scores) in zip((1, 5, 10, 20, 50), TABLE[ranks.system], strict=True):
            cost = sd.mean_stopping_cost(f"Recall@{k}", ranks).mean
            assert round(100 * cost / full, 1) == share
            assert scores is None or round(cost) == scores


@pytest.mark.parametrize("name", ["AP", "RR", "NDCG", "NDCG@20", "AP@15"])
@pytest.mark.parametrize("relevant", [1, 3])
def test_a_tolerance_holds_and_is_used_up(name: str, relevant: int) -> None:
    metric, n = sd.parse_metric(name), 60
    for tolerance in (0.5, 0.2, 0.07):
        k = sd.deciding_cutoff(metric, n, relevant=relevant, tolerance=tolerance)
        best = [
            metric.of_set(np.arange(above + 1, above + relevant + 1), n)
            for above in range(n - relevant + 1)
        ]
        small = [value <= tolerance for value in best]
        assert k == (small.index(True) if any(small) else None)


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


def test_share_cutoffs_stop_where_their_place_is() -> None:
    ranks = sd.RankSet("S", [3, 30, 12], n=[101, 101, 51])
    found = sd.mean_stopping_cost("TOPK@0.1", ranks).mean
    costs = [
        sd.stopping_cost(f"Recall@{k}", r, n).mean
        for k, r, n in ((11, 3, 101), (11, 30, 101), (6, 12, 51))
    ]
    assert found == pytest.approx(np.mean(costs), abs=1e-12)


def test_range_holds_the_cost_of_the_pilot_and_of_all(xyz: list[sd.RankSet]) -> None:
    rng, held = np.random.default_rng(4), 0
    for ranks in xyz:
        truth = sd.mean_stopping_cost("NDCG@10", ranks).mean
        for size in (400, 6040):
            for _ in range(3):
                at = rng.choice(6040, size, replace=False)
                some = sd.RankSet("S", ranks.ranks[at], ranks.n[at])
                low, high = sd.stopping_range("NDCG@10", sd.sample_ranks(some, 100, rng), 6040)
                held += low <= truth <= high
                assert high - low < (truth if size == 6040 else 1.5 * truth)
    assert held >= 17  # of 18, at 95 %


def test_more_of_others_is_less_certain_and_all_ranks_tell_all() -> None:
    ranks = sd.RankSet("S", np.arange(1, 201), 201)
    pilot = sd.sample_ranks(ranks, 40, np.random.default_rng(1))
    own, more, any_ = (sd.stopping_range("RR@5", pilot, size) for size in (None, 400, np.inf))
    assert any_[0] < more[0] < own[0] < own[1] < more[1] < any_[1]
    whole = sd.SampledRankSet("S", ranks.ranks, 201, 200, scheme="without-replacement")
    cost = sd.mean_stopping_cost("RR@5", ranks).mean
    assert sd.stopping_range("RR@5", whole) == pytest.approx((cost, cost), abs=1e-9)
