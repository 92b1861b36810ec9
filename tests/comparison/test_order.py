"""Flips and the m from which the order is right, against evaluation at every m."""

from __future__ import annotations

from itertools import combinations, groupby

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sampledash as sd
from tests.oracles import METRICS, POPULARITY, SCHEMES, WITH, WITHOUT, dense_law, item_value


def order(difference: float) -> int:
    return 0 if abs(difference) <= 1e-12 else (1 if difference > 0 else -1)


def flips_of(signs: dict[int, int]) -> list[int]:
    """m at which the strict order differs from the last strict order before it."""
    strict = [(m, s) for m, s in sorted(signs.items()) if s != 0]
    runs = [next(group)[0] for _, group in groupby(strict, key=lambda item: item[1])]
    return runs[1:]


def right_from_of(signs: dict[int, int], truth: int) -> int | None:
    """Smallest m from which the order stays the true one."""
    found = None
    for m in sorted(signs, reverse=True):
        if signs[m] != truth:
            return found
        found = m
    return found


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=30)
@given(data=st.data())
def test_against_evaluation_at_every_m(scheme: str, data: st.DataObject) -> None:
    n = data.draw(st.integers(3, 60))
    size = data.draw(st.integers(1, 4))
    ranks = st.lists(st.integers(1, n), min_size=size, max_size=size)
    sets = [sd.RankSet(name, data.draw(ranks), n) for name in "PQR"]
    name, k = data.draw(st.sampled_from(METRICS))
    m_max = n - 1 if scheme == WITHOUT else data.draw(st.sampled_from([n - 1, n + 20]))
    options = {"scheme": scheme, "odds": 2.0} if scheme == POPULARITY else {"scheme": scheme}
    metric, odds = sd.metric(name, k=k), 2.0 if scheme == POPULARITY else 1.0
    means = {}
    for m in range(1, m_max + 1):
        value = item_value(name, k, 1, m)
        vector = dense_law(n, m, scheme, odds) @ [value(a) for a in range(m + 1)]
        means[m] = [float(np.mean(vector[rs.ranks - 1])) for rs in sets]
    found = sd.flips(metric, sets, m_max, **options)
    table = sd.right_from(metric, sets, m_max, **options)
    exact = [
        float(np.mean([item_value(name, k, 1, n - 1)(r - 1) for r in rs.ranks])) for rs in sets
    ]
    for row, (i, j) in enumerate(combinations(range(3), 2)):
        signs = {m: order(v[i] - v[j]) for m, v in means.items()}
        if any(0.99e-12 < abs(v[i] - v[j]) < 1.01e-12 for v in means.values()):
            continue  # right at the threshold of a tie: the last digits decide
        ours = [f.m for f in found if (f.first, f.second) == (sets[i].system, sets[j].system)]
        assert ours == flips_of(signs)
        truth = order(exact[i] - exact[j])
        expected = right_from_of(signs, truth) if truth else None
        assert table.m[row] is pd.NA if expected is None else table.m[row] == expected
        better, worse = (j, i) if truth < 0 else (i, j)
        assert (table.better[row], table.worse[row]) == (sets[better].system, sets[worse].system)


@pytest.mark.parametrize("correction", ["rank estimate", "BV 0.1", "CLS"])
def test_corrected_flips_against_every_m(correction: str) -> None:
    n, rng = 45, np.random.default_rng(2)
    sets = [sd.RankSet(name, rng.integers(1, n + 1, 5), n) for name in "PQRS"]
    options = {"scheme": WITHOUT, "correction": correction}
    for metric in ("Recall@5", "NDCG@5", "AP"):
        means = []
        for m in range(1, n):
            fit = sd.parse_correction(correction).fit(metric, sd.Sampling(n, m, WITHOUT))
            means.append(
                [
                    float(np.mean((dense_law(n, m, WITHOUT) @ fit.values)[rs.ranks - 1]))
                    for rs in sets
                ]
            )
        found = sd.flips(metric, sets, **options)
        for i, j in combinations(range(4), 2):
            signs = {m: order(v[i] - v[j]) for m, v in enumerate(means, start=1)}
            ours = [f.m for f in found if (f.first, f.second) == (sets[i].system, sets[j].system)]
            assert ours == flips_of(signs)


def test_flips_of_corrections_beyond_400_are_bracketed(xyz: list[sd.RankSet]) -> None:
    # Every m up to 400; beyond, bisection ends between neighbouring m of opposite order.
    sets = [sd.RankSet(rs.system, rs.ranks[:400], 3706) for rs in xyz]
    options = {"scheme": WITH, "correction": "BV 1"}
    found = sd.flips("NDCG@10", sets, 700, **options)
    beyond = [f for f in found if f.m > 400]
    for flip in beyond:
        pair = [rs for rs in sets if rs.system in (flip.first, flip.second)]
        table = sd.curve("NDCG@10", pair, [flip.m - 1, flip.m], **options)
        signs = [order(a - b) for a, b in table.to_numpy()]
        assert signs[0] == -signs[1]
    ends = sd.curve("NDCG@10", sets, [400, 700], **options).to_numpy()
    for i, j in combinations(range(3), 2):
        changed = order(ends[0, i] - ends[0, j]) != order(ends[1, i] - ends[1, j])
        count = sum((f.first, f.second) == (sets[i].system, sets[j].system) for f in beyond)
        assert count % 2 == changed


def test_leaving_a_tie_is_no_flip() -> None:
    # Recall@3 of one relevant item is 1 for both while m <= 2: tied; then 4 is ahead of 9 for good.
    sets = [sd.RankSet("P", [9], 12), sd.RankSet("Q", [4], 12)]
    assert sd.flips("Recall@3", sets, scheme=WITHOUT) == []
    # Both miss all of the exact list's top 3: equal systems, no order to be right about.
    table = sd.right_from("Recall@3", sets, scheme=WITHOUT)
    assert table.m.isna().all()
    hit = [sd.RankSet("P", [9], 12), sd.RankSet("Q", [3], 12)]
    assert sd.right_from("Recall@3", hit, scheme=WITHOUT).m.tolist() == [3]


def test_equal_systems_are_tied_everywhere() -> None:
    sets = [sd.RankSet("P", [3, 7], 12), sd.RankSet("Q", [7, 3], 12)]
    for metric in ("AUC", "AP", "NDCG@5"):
        assert sd.flips(metric, sets) == []
        table = sd.right_from(metric, sets)
        assert table.m.isna().all()
        assert sd.probability_of_order(metric, sets, 3).probability.isna().all()


def test_frame() -> None:
    sets = [sd.RankSet("P", [9, 1], 12), sd.RankSet("Q", [4, 4], 12), sd.RankSet("R", [5, 2], 12)]
    table = sd.right_from("AP", sets)
    assert table.columns.tolist() == ["better", "worse", "m"]
    assert isinstance(table.index, pd.RangeIndex)
    assert table.m.dtype == "Int64"
    assert all(type(name) is str for name in table.better.tolist() + table.worse.tolist())
    flip = sd.Flip("P", "Q", 3)
    assert (flip.first, flip.second, flip.m) == ("P", "Q", 3)
    with pytest.raises(AttributeError):
        flip.m = 4
    for found in sd.flips("AP", sets):
        assert type(found.m) is int
        assert type(found.first) is str


def test_without_replacement_the_complete_sample_is_always_right(xyz: list[sd.RankSet]) -> None:
    table = sd.right_from("NDCG", xyz, scheme=WITHOUT)
    assert table.m.notna().all()


def test_m_max_beyond_all_negatives_changes_nothing() -> None:
    sets = [sd.RankSet("P", [9, 1], [12, 14]), sd.RankSet("Q", [4, 4], [12, 14])]
    assert sd.flips("AP", sets, 500, scheme=WITHOUT) == sd.flips("AP", sets, scheme=WITHOUT)


def test_systems_with_different_n() -> None:
    # Nothing forbids it; without replacement the smaller n bounds m.
    sets = [sd.RankSet("P", [9, 1], 12), sd.RankSet("Q", [4, 4], 30)]
    top = 11
    curve = sd.curve("AP", sets, range(1, top + 1), scheme=WITHOUT)
    signs = {m: order(a - b) for m, (a, b) in zip(curve.index, curve.to_numpy(), strict=True)}
    assert [f.m for f in sd.flips("AP", sets, scheme=WITHOUT)] == flips_of(signs)


@pytest.mark.parametrize(
    "call", [sd.flips, sd.right_from, lambda *a: sd.probability_of_order(*a, 3),
             lambda metric, sets: sd.verdict([metric], sets, 3)],
)  # fmt: skip
def test_wrong_sets(call: object) -> None:
    one = sd.RankSet("P", [1], 9)
    with pytest.raises(ValueError, match="needs at least two systems, got 1"):
        call("AP", [one])
    with pytest.raises(ValueError, match="system 'P' occurs twice"):
        call("AP", [one, sd.RankSet("P", [2], 9)])
    with pytest.raises(ValueError, match="unknown metric 'foo'"):
        call("foo", [one, sd.RankSet("Q", [2], 9)])
