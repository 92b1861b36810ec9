"""Flips and the m from which the order is right, beside their comparison at every m."""

from __future__ import annotations

from itertools import combinations

import pandas as pd
import pytest

import sampledash as sd
from tests.benchmarks.every_m import flips_of, order
from tests.comparison.made import of_ranks
from tests.oracles import WITH, WITHOUT


def test_flips_of_corrections_beyond_400_are_bracketed(xyz: list[sd.RankSet]) -> None:
    # Every m up to 400; beyond, bisection ends between neighbouring m of opposite order.
    sets = [sd.RankSet(rs.system, rs.ranks[:400], 3706) for rs in xyz]
    options = {"scheme": WITH, "correction": "BV 1"}
    found = sd.flips("NDCG@10", sets, 500, **options)
    beyond = [f for f in found if f.m > 400]
    for flip in beyond:
        pair = [rs for rs in sets if rs.system in (flip.first, flip.second)]
        table = sd.curve("NDCG@10", pair, [flip.m - 1, flip.m], **options)
        signs = [order(a - b) for a, b in table.to_numpy()]
        assert signs[0] == -signs[1]
    ends = sd.curve("NDCG@10", sets, [400, 500], **options).to_numpy()
    for i, j in combinations(range(3), 2):
        changed = order(ends[0, i] - ends[0, j]) != order(ends[1, i] - ends[1, j])
        count = sum((f.first, f.second) == (sets[i].system, sets[j].system) for f in beyond)
        assert count % 2 == changed


def test_leaving_a_tie_is_no_flip() -> None:
    # Recall@3 of one relevant item is 1 for both while m <= 2: tied; then 4 is ahead of 9 for good.
    sets = of_ranks(12, [9], [4])
    assert sd.flips("Recall@3", sets, scheme=WITHOUT) == []
    # Both miss all of the exact list's top 3: equal systems, no order to be right about.
    table = sd.right_from("Recall@3", sets, scheme=WITHOUT)
    assert table.m.isna().all()
    hit = of_ranks(12, [9], [3])
    assert sd.right_from("Recall@3", hit, scheme=WITHOUT).m.tolist() == [3]


def test_frame() -> None:
    sets = of_ranks(12, [9, 1], [4, 4], [5, 2])
    table = sd.right_from("AP", sets)
    assert table.columns.tolist() == ["better", "worse", "m"]
    assert isinstance(table.index, pd.RangeIndex)
    assert table.m.dtype == "Int64"
    assert all(type(name) is str for name in table.better.tolist() + table.worse.tolist())
    for found in sd.flips("AP", sets):
        assert type(found.m) is int
        assert type(found.first) is str


@pytest.mark.parametrize(
    ("n", "m_max", "scheme"), [((12, 30), 11, WITHOUT), ((12, 12), 40, WITH), ((12, 30), 50, WITH)]
)
def test_systems_with_different_n_and_more_negatives_than_candidates(n, m_max, scheme) -> None:
    sets = [sd.RankSet("P", [9, 1], n[0]), sd.RankSet("Q", [4, 4], n[1])]
    curve = sd.curve("AP", sets, range(1, m_max + 1), scheme=scheme)
    signs = {m: order(a - b) for m, (a, b) in zip(curve.index, curve.to_numpy(), strict=True)}
    assert [f.m for f in sd.flips("AP", sets, m_max, scheme=scheme)] == flips_of(signs)


def test_m_max_beyond_all_negatives_changes_nothing() -> None:
    sets = of_ranks([12, 14], [9, 1], [4, 4])
    assert sd.flips("AP", sets, 500, scheme=WITHOUT) == sd.flips("AP", sets, scheme=WITHOUT)
