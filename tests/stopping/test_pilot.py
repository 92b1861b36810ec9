"""What a pilot run says of the cost."""

import numpy as np
import pytest

import sampledash as sd


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
