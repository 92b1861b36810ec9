"""TOPK and ATOP against their definitions; eq. 8 and 9 of Steck (KDD 2010) put right."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sampledash as sd
from sampledash.metrics import places_within
from sampledash.papers import steck


def order_of(scores: list[int], item: int, ties: str) -> Fraction:
    """Items above one item: those with a higher score, and of the equal ones none, half or all."""
    above = sum(other > scores[item] for other in scores)
    equal = sum(other == scores[item] for other in scores) - 1
    return above + equal * {"optimistic": Fraction(0), "mid": Fraction(1, 2)}.get(ties, Fraction(1))


@st.composite
def worlds(draw: st.DrawFn) -> list[tuple[list[int], list[int]]]:
    """Users with the scores of their items and which of them are relevant, no two alike."""
    users = []
    for _ in range(draw(st.integers(1, 4))):
        n = draw(st.integers(3, 9))
        relevant = sorted(draw(st.sets(st.integers(0, n - 1), min_size=1, max_size=n - 1)))
        # Relevant items have odd scores of their own; others even ones, or tie with a relevant one.
        scores = [2 * draw(st.integers(0, 6)) for _ in range(n)]
        for place, item in enumerate(draw(st.permutations(relevant))):
            scores[item] = 2 * place + 1
        for item in range(n):
            if item not in relevant and draw(st.booleans()) and len(relevant) == 1:
                scores[item] = scores[relevant[0]]
        users.append((scores, relevant))
    return users


@given(worlds(), st.sampled_from([0.0, 0.05, 0.2, 0.25, 0.5, 1.0]), st.sampled_from([0.1, 0.5, 1]))
def test_measures_by_definition(
    world: list[tuple[list[int], list[int]]], share: float, within: float
) -> None:
    """Eq. 1, 2, 4 and 5 with exact fractions: pair by pair, each among all other items."""
    rows = [
        (user, 1 + sum(other > scores[item] for other in scores),
         sum(other == scores[item] for other in scores) - 1, len(scores))
        for user, (scores, relevant) in enumerate(world) for item in relevant
    ]  # fmt: skip
    users, ranks, tied, n = zip(*rows, strict=True)
    ranked = sd.RankSet("S", ranks, n, instances=users, ties=tied)
    for ties in ("optimistic", "mid", "pessimistic"):
        x = [
            [order_of(scores, item, ties) / (len(scores) - 1) for item in relevant]
            for scores, relevant in world
        ]
        flat = [value for values in x for value in values]
        k = Fraction(str(share))
        hits = [Fraction(sum(v <= k for v in values), len(values)) for values in x]
        rank = [sum(1 - v for v in values) / len(values) for values in x]
        k0 = Fraction(str(within))
        part = sum(max(0, k0 - v) / k0 for v in flat) / len(flat)
        pairs = sum(v <= k for v in flat) / len(flat)
        assert steck.topk(share, ranked, ties=ties) == pytest.approx(pairs)
        assert steck.topk(share, ranked, ties=ties, weighting="instances") == pytest.approx(
            float(sum(hits) / len(hits))
        )
        mean = float(sum(1 - v for v in flat) / len(flat))
        assert steck.atop(ranked, ties=ties) == pytest.approx(mean)
        assert steck.atop(ranked, ties=ties, weighting="instances") == pytest.approx(
            float(sum(rank) / len(rank))
        )
        assert steck.atop(ranked, ties=ties, within=within) == pytest.approx(float(part))


def test_eq_8_and_9_on_1000_random_cases() -> None:
    rng = np.random.default_rng(8)
    for _ in range(1000):
        n = int(rng.integers(2, 25))
        size = int(rng.integers(1, n))
        ranks = rng.choice(np.arange(1, n + 1), size, replace=False)
        others = np.setdiff1d(np.arange(1, n + 1), ranks)
        auc = float(np.mean(ranks[:, None] < others))  # pairs in the right order
        atop = float(np.mean((n - ranks) / (n - 1)))  # eq. 4: his rank is n + 1 - r
        assert steck.auc_of_ranks(ranks, n) == pytest.approx(auc, abs=1e-12)
        assert steck.auc_of_atop(atop, size, n) == pytest.approx(auc, abs=1e-12)
        printed = (np.sum(n + 1 - ranks) + size * (size + 1) / 2) / (size * len(others))
        assert printed > auc  # eq. 8 as printed
        assert 1 - (size - 1) / (n - 1) / 2 == pytest.approx(steck.highest_atop(size, n))


@given(st.integers(1, 2000), st.integers(0, 1000))
def test_cutoff_is_exact(others: int, thousandths: int) -> None:
    share = Fraction(thousandths, 1000)
    expected = 1 + max(a for a in range(others + 1) if Fraction(a, others) <= share)
    assert places_within(thousandths / 1000, others) == expected


def test_cutoff_where_the_product_rounds() -> None:
    assert 0.29 * 100 < 29  # in floating point
    assert places_within(0.29, 100) == 30
    assert places_within(0.0, [1, 50]).tolist() == [1, 1]
    assert places_within(1.0, 50) == 51


def test_one_relevant_item_needs_no_new_metric() -> None:
    ranks = sd.RankSet("S", [1, 2, 9, 40, 77], 100)
    assert steck.atop(ranks) == pytest.approx(sd.mean("AUC", ranks))
    for share in (0.0, 0.01, 0.05, 0.5, 1.0):
        recall = sd.metric("recall", k=int(places_within(share, 99)))
        assert steck.topk(share, ranks) == pytest.approx(sd.mean(recall, ranks))


def test_a_constant_predictor() -> None:
    # Ten users, one relevant item of 50 each, all items tied.
    ranks = sd.RankSet("constant", [1] * 10, 50, ties=49)
    found = [steck.atop(ranks, ties=ties) for ties in ("optimistic", "mid", "pessimistic")]
    assert found == [1.0, 0.5, 0.0]


def test_area_of_the_curve() -> None:
    # Eq. 3 by a fine Riemann sum; the truncated area likewise.
    ranks = sd.RankSet("S", [3, 20, 31, 90], 101, instances=[0, 0, 1, 2])
    k = (np.arange(100_000) + 0.5) / 100_000
    curve = np.mean((np.array([3, 20, 31, 90]) - 1)[:, None] / 100 <= k, axis=0)
    assert steck.atop(ranks) == pytest.approx(float(curve.mean()), abs=1e-5)
    first = float(curve[k <= 0.25].mean())
    assert steck.atop(ranks, within=0.25) == pytest.approx(first, abs=1e-4)


def test_counts_are_users() -> None:
    some = sd.RankSet("S", [3, 20, 31], 101, instances=[0, 0, 1], counts=[2, 2, 5])
    same = sd.RankSet("S", [3, 20, 3, 20, *[31] * 5], 101, instances=[0, 0, 1, 1, 2, 3, 4, 5, 6])
    for weighting in ("relevant-items", "instances"):
        assert steck.topk(0.2, some, weighting=weighting) == pytest.approx(
            steck.topk(0.2, same, weighting=weighting)
        )
        assert steck.atop(some, weighting=weighting) == pytest.approx(
            steck.atop(same, weighting=weighting)
        )


def test_refusals() -> None:
    ranks = sd.RankSet("S", [1, 4], 9)
    with pytest.raises(ValueError, match=r"share must be at least 0 and at most 1, got 5"):
        steck.topk(5, ranks)
    with pytest.raises(ValueError, match=r"within must be above 0 and at most 1, got 0"):
        steck.atop(ranks, within=0)
    with pytest.raises(ValueError, match=r"ties must be one of optimistic, mid, pessimistic"):
        steck.atop(ranks, ties="expected")
    with pytest.raises(ValueError, match=r"weighting must be one of"):
        steck.topk(0.5, ranks, weighting="users")
    with pytest.raises(ValueError, match=r"relevant must be at most 8, got 9"):
        steck.highest_atop(9, 9)
