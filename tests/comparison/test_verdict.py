"""The verdict frame: its columns, states and meaning."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import sampledash as sd
from sampledash.comparison.order import quick_ladder
from sampledash.comparison.verdict import state_of
from tests.benchmarks.every_m import order
from tests.comparison.made import of_ranks
from tests.oracles import POPULARITY, WITH, WITHOUT

COLUMNS = "metric correction better worse exact sampled state right_from probability"


def test_movielens_at_100(xyz: list[sd.RankSet]) -> None:
    table = sd.verdict(
        ["Recall@10", "AUC"], xyz, 100, ("uncorrected", "rank estimate"), m_max=1000, scheme=WITHOUT
    )
    assert table.columns.tolist() == COLUMNS.split()
    assert isinstance(table.index, pd.RangeIndex)
    assert len(table) == 2 * 2 * 3
    assert table.right_from.dtype == "Int64"
    for name in ("exact", "sampled", "probability"):
        assert table[name].dtype == np.float64
    for name in ("metric", "correction", "better", "worse", "state"):
        assert all(type(x) is str for x in table[name].tolist())
    recall = table[(table.metric == "Recall@10") & (table.correction == "uncorrected")]
    # "At m = 100 Recall@10 ranks X > Y > Z; on all items it is Z > Y > X. Right from m = 970."
    assert (recall.state == "wrong").all()
    by_pair = dict(zip(recall.better + recall.worse, recall.right_from, strict=True))
    assert by_pair == {"YX": 970, "ZX": 433, "ZY": 128}
    assert (recall.exact > 0).all()
    assert (recall.sampled < 0).all()
    auc = table[(table.metric == "AUC") & (table.correction == "uncorrected")]
    assert (auc.state == "right").all()
    assert auc.right_from.tolist() == [1, 1, 1]
    assert auc.exact.to_numpy() == pytest.approx(auc.sampled.to_numpy(), rel=1e-11)
    assert auc.probability.to_numpy() == pytest.approx(1.0)


@pytest.mark.parametrize(
    "options", [{"scheme": WITHOUT}, {"scheme": POPULARITY, "odds": 3.0}, {"ties": "pessimistic"}]
)
def test_rows_repeat_the_single_functions(options: dict[str, Any]) -> None:
    rng = np.random.default_rng(8)
    sets = [
        sd.RankSet(name, rng.integers(1, 50, 40), 60, ties=rng.integers(0, 9, 40)) for name in "PQR"
    ]
    reading = {"ties": options["ties"]} if "ties" in options else {}
    table = sd.verdict(["AP", "Recall@5"], sets, 12, ("uncorrected", "BV 0.1"), **options)
    by_name = {rs.system: rs for rs in sets}
    for row in table.itertuples():
        both = [by_name[row.better], by_name[row.worse]]
        given = {**options, "correction": row.correction}
        exact = [sd.mean(row.metric, rs, **reading) for rs in both]
        sampled = [sd.expected_mean(row.metric, rs, 12, **given) for rs in both]
        assert row.exact == pytest.approx(exact[0] - exact[1], abs=1e-13)
        assert row.exact >= 0
        assert row.sampled == pytest.approx(sampled[0] - sampled[1], abs=1e-12)
        right = sd.right_from(row.metric, both, **given)
        assert (right.m[0] is pd.NA) == (row.right_from is pd.NA)
        if row.right_from is not pd.NA:
            assert right.m[0] == row.right_from
        chance = sd.probability_of_order(row.metric, both, 12, **given).probability[0]
        assert row.probability == pytest.approx(chance, abs=1e-9)


def test_states() -> None:
    for truth, sampled, chance, state in (
        (0, 1, 0.99, "tied"),
        (1, 0, 0.0, "undecided"),
        (1, 1, 0.95, "right"),
        (1, 1, 0.9499, "undecided"),
        (1, -1, 0.05, "wrong"),
        (1, -1, 0.0501, "undecided"),
        (1, 1, 0.0003, "undecided"),  # nearly every run is a tie
    ):
        assert state_of(truth, sampled, chance) == state


def test_equal_systems_are_tied() -> None:
    sets = of_ranks(12, [3, 7], [7, 3])
    table = sd.verdict(["AP", "AUC", "NDCG@5"], sets, 5)
    assert table.state.tolist() == ["tied"] * 3
    assert table.right_from.isna().all()
    assert table.probability.isna().all()
    assert table.exact.tolist() == [0, 0, 0]
    assert sd.flips("AP", sets) == []
    assert sd.right_from("AP", sets).m.isna().all()
    assert sd.probability_of_order("AP", sets, 3).probability.isna().all()
    # A tie in sampling is undecided: in a sampled list of three, Recall@4 is 1.
    table = sd.verdict(["Recall@4"], of_ranks(12, [3], [7]), 2)
    assert table.state.tolist() == ["undecided"]
    assert abs(table.sampled[0]) <= 1e-12


def test_recall_of_x_and_y_below_ten_negatives(xyz: list[sd.RankSet]) -> None:
    # Independently: "tied for m <= 9, right at m = 10 alone, wrong 11..969, right from 970".
    curve = sd.curve("Recall@10", xyz[:2], [1, 9, 10, 11, 969, 970], scheme=WITHOUT)
    assert [order(y - x) for x, y in curve[["X", "Y"]].to_numpy()] == [0, 0, 1, -1, -1, 1]


def test_progress() -> None:
    seen: list[float] = []
    sets = of_ranks(12, [3, 4], [7, 1])
    sd.verdict(["AP", "AUC"], sets, 3, ["uncorrected", "BV 1"], progress=seen.append)
    assert seen == sorted(seen)
    assert 0 < min(seen) <= max(seen) <= 1


def test_a_quick_look_finds_the_same_flips_where_it_looks(xyz: list[sd.RankSet]) -> None:
    # Recall@10 of Y and X with the rank estimate: compared with every m up to 400.
    ladder = quick_ladder(400)
    assert len(ladder) == 40
    options = {"scheme": WITHOUT, "fit_scheme": WITH}
    full, quick = (
        sd.verdict(["Recall@10"], xyz, 100, ("rank estimate",), m_max=400, m_values=m, **options)
        for m in (None, ladder)
    )
    same = ["better", "worse", "exact", "sampled", "state", "probability"]
    pd.testing.assert_frame_equal(full[same], quick[same], rtol=1e-12)
    curve = sd.curve("Recall@10", xyz, range(1, 401), correction="rank estimate", **options)
    for row in quick.itertuples():
        right = curve[row.better] - curve[row.worse] > 1e-12
        if pd.isna(row.right_from):
            assert not right[400]
        else:
            assert right[row.right_from]
            assert row.right_from == 1 or not right[row.right_from - 1]


def test_hundreds_of_systems() -> None:
    # 150 systems, 11,175 pairs: each row is that of the pair alone.
    rng = np.random.default_rng(3)
    sets = [sd.RankSet(f"S{i}", rng.integers(1, 300, 40), 300) for i in range(150)]
    table = sd.verdict(["Recall@10", "AP"], sets, 20, scheme=WITHOUT)
    assert len(table) == 2 * 150 * 149 // 2
    for row in table.sample(12, random_state=1).itertuples():
        pair = [rs for rs in sets if rs.system in (row.better, row.worse)]
        alone = sd.verdict([row.metric], pair, 20, scheme=WITHOUT).iloc[0]
        assert alone.probability == pytest.approx(row.probability, rel=1e-12, nan_ok=True)
        assert (alone.state, alone.better) == (row.state, row.better)
        assert alone.right_from is row.right_from or alone.right_from == row.right_from
