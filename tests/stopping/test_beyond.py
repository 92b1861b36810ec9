"""Ranks that are only known to lie beyond a list: exact where they can be, refused elsewhere."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

import sampledash as sd
from sampledash.comparison.user_resampling import instance_values

ROWS = {
    "ranks": [2, 7, 6, 1, 6, 3],
    "n": 12,
    "instances": list("aabbcd"),
    "ties": [1, 0, 0, 0, 0, 0],
}
CUT = sd.RankSet("cut", **ROWS, beyond=[False, True, True, False, True, False])
EXACT = ["Recall@5", "NDCG@5", "AP@4", "Precision@3", "RR@5", "HitRate@1", "TOPK@0.3"]


def test_metrics_that_are_cut_in_time_are_exact() -> None:
    assert CUT.largest_cutoff == 5
    assert CUT.ranks.tolist() == [2, 7, 6, 1, 6, 3]
    for ends in ([9, 8, 11], [12, 12, 12], [7, 6, 6]):
        whole = sd.RankSet("whole", [2, ends[0], ends[1], 1, ends[2], 3], 12, **{
            name: ROWS[name] for name in ("instances", "ties")})  # fmt: skip
        for name in EXACT:
            assert sd.mean(name, CUT) == sd.mean(name, whole)
            assert sd.mean_range(name, CUT) == (sd.mean(name, whole),) * 2


def test_range_holds_every_completion_and_is_sharp() -> None:
    one = sd.RankSet("S", [1, 4, 4], 8, instances=[0, 0, 0], beyond=[False, True, True])
    for name in ("AP", "NDCG", "AUC", "Recall@6", "RR", "Precision@5"):
        every = [
            sd.parse_metric(name).of_set([1, *rest], 8) for rest in combinations(range(4, 9), 2)
        ]
        assert sd.mean_range(name, one) == pytest.approx((min(every), max(every)), abs=1e-15)


def test_items_of_one_instance_take_places_one_behind_the_other() -> None:
    given = sd.RankSet("S", [11, 3, 11, 11, 2], 30, instances=list("uuuvv"),
                       beyond=[True, False, True, True, False])  # fmt: skip
    assert given.ranks.tolist() == [11, 3, 12, 11, 2]
    again = sd.RankSet("S", given.ranks, 30, instances=given.instances, beyond=given.beyond)
    assert again.digest == given.digest
    assert given.digest != sd.RankSet("S", given.ranks, 30, instances=given.instances).digest
    # Place 11 is taken: what lies beyond 10 is no better than 12th.
    both = sd.RankSet("S", [11, 11], 30, instances=[1, 1], beyond=[True, False])
    assert both.ranks.tolist() == [12, 11]
    # Items of one instance share no block of ties: what is beyond is behind that of the other.
    tied = sd.RankSet("S", [9, 11], 30, instances=[1, 1], ties=[5, 0], beyond=[False, True])
    assert tied.ranks.tolist() == [9, 15]


RNG = np.random.default_rng(1)
OTHER = sd.RankSet("other", [1, 3, 2, 4, 9, 8], 12, instances=list("aabbcd"))


@pytest.mark.parametrize("call", [
    lambda: sd.mean("Recall@6", CUT),
    lambda: sd.mean("AUC", CUT),
    lambda: sd.mean("NDCG", CUT),
    lambda: sd.mean("TOPK@0.5", CUT),
    lambda: sd.significance("AP", [CUT, OTHER], RNG),
    lambda: sd.expected_mean("Recall@3", CUT, 5),
    lambda: sd.std_of_mean("Recall@3", CUT, 5),
    lambda: sd.curve("Recall@3", [CUT], [5]),
    lambda: sd.flips("Recall@3", [CUT, OTHER], 5),
    lambda: sd.right_from("Recall@3", [OTHER, CUT], 5),
    lambda: sd.probability_of_order("Recall@3", [OTHER, CUT], 5),
    lambda: sd.probability_if_redrawn("Recall@3", [OTHER, CUT], 5),
    lambda: sd.probability_if_shared("Recall@3", [OTHER, CUT], 5),
    lambda: sd.negatives_needed("Recall@3", [OTHER, CUT]),
    lambda: sd.instances_needed("Recall@3", [OTHER, CUT], 5),
    lambda: sd.verdict(["Recall@3"], [OTHER, CUT], 5),
    lambda: sd.simulate("Recall@3", CUT, 5, 10, RNG),
    lambda: sd.sample_ranks(CUT, 5, RNG),
    lambda: sd.designs("Recall@3", [CUT], 5),
])  # fmt: skip
def test_what_needs_the_rank_is_refused_with_the_largest_cutoff(call) -> None:
    with pytest.raises(ValueError, match=r"only known to lie beyond 5, .* k = 5 at most"):
        call()


def test_a_cost_says_what_it_needs() -> None:
    with pytest.raises(ValueError, match="beyond 5, and the cost of stopping needs every rank"):
        sd.mean_stopping_cost("Recall@3", CUT)


def test_significance_of_a_cut_metric_needs_no_more() -> None:
    found = sd.significance("Recall@5", [CUT, OTHER], np.random.default_rng(1), resamples=100)
    assert found["paired"].all()
    assert instance_values(sd.parse_metric("Recall@5"), CUT, "expected").tolist() == [
        0.5,
        0.5,
        0,
        1,
    ]


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"ranks": [3, 11], "ties": [0, 2], "beyond": [False, True]},
            "ties of system 'S': 2 others",
        ),
        ({"ranks": [12, 11], "beyond": [False, True]}, "known rank after one that lies beyond 10"),
        ({"ranks": [11, 11], "n": 11, "beyond": [True, True]}, "more items beyond its list than n"),
        (
            {"ranks": [3, 11], "beyond": [0, 1]},
            "beyond of system 'S' must hold true or false, got 0",
        ),
        ({"ranks": [3, 11], "beyond": [True]}, "beyond of system 'S' has shape"),
    ],
)
def test_wrong_input(changes, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        sd.RankSet("S", **({"n": 30, "instances": ["u", "u"]} | changes))


def test_where_nothing_is_known_it_says_to_rank_more() -> None:
    with pytest.raises(ValueError, match=r"beyond 0, .*rank more items"):
        sd.mean("Recall@1", sd.RankSet("S", [1], 9, beyond=True))
