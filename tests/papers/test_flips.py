"""Where the order of systems changes with m: Figures 2 and 6."""

from __future__ import annotations

import pytest

import sampledash as sd
from tests.oracles import WITH, WITHOUT

#: (X-Y, X-Z, Y-Z) without replacement, every m: an independent computation.
FLIPS = {
    "Recall@10": ([11, 970], [433], [128]),
    "NDCG@10": ([566], [240], [83]),
    "AP": ([434], [223], [55]),
    "NDCG": ([1988], [], [142, 1805]),
    "Recall@1": ([111], [50], [15, 1877]),
}


def of_pair(found: list[sd.Flip], pair: str) -> list[int]:
    return [flip.m for flip in found if flip.first + flip.second == pair]


@pytest.mark.parametrize("metric", FLIPS)
def test_movielens(metric: str, xyz: list[sd.RankSet]) -> None:
    assert [rs.system for rs in xyz] == ["X", "Y", "Z"]
    found = sd.flips(metric, xyz, scheme=WITHOUT)
    assert tuple(of_pair(found, pair) for pair in ("XY", "XZ", "YZ")) == FLIPS[metric]
    # The m from which each order is right is the last flip.
    table = sd.right_from(metric, xyz, scheme=WITHOUT)
    ours = {frozenset((row.better, row.worse)): row.m for row in table.itertuples()}
    for pair, flips in zip(("XY", "XZ", "YZ"), FLIPS[metric], strict=True):
        assert ours[frozenset(pair)] == (flips[-1] if flips else 1)


def test_auc_never_flips(xyz: list[sd.RankSet]) -> None:
    assert sd.flips("AUC", xyz, scheme=WITHOUT) == []


def test_corrected_recall_flips_at_52(xyz: list[sd.RankSet]) -> None:
    # Figure 6, "Bias^2 + 0.1 Variance": far fewer samples than the 970 of the uncorrected metric.
    found = sd.flips(
        "Recall@10", xyz[:2], 200, scheme=WITHOUT, fit_scheme=WITH, correction="BV 0.1"
    )
    assert of_pair(found, "XY") == [52]


@pytest.mark.parametrize(("m", "order"), [(30, "ACB"), (200, "ABC"), (500, "CAB"), (9999, "CBA")])
def test_toy_orders_of_average_precision(m: int, order: str, abc: list[sd.RankSet]) -> None:
    # Figure 2 and section 4.2.
    values = {rs.system: sd.expected_mean("AP", rs, m, scheme=WITH) for rs in abc}
    assert "".join(sorted(values, key=values.get, reverse=True)) == order
    if m == 9999:
        # A and B are 0.000245 apart by eq. 19.
        ranks = {"A": [100] * 5, "B": [40, 40, 8437, 9266, 4482]}
        a, b = (
            sum((1 - (1 - q) ** (m + 1)) / (q * (m + 1)) for q in ((r - 1) / 9999 for r in x)) / 5
            for x in ranks.values()
        )
        assert values["B"] - values["A"] == pytest.approx(b - a, abs=1e-12)
        assert 0 < b - a < 0.0003


def test_figure_6_sampled_recall_needs_a_thousand(xyz: list[sd.RankSet]) -> None:
    # "The uncorrected metric needs m = 1000 samples" for the right order of all three.
    table = sd.curve("Recall@10", xyz, [900, 1000], scheme=WITHOUT)
    assert table.loc[900].sort_values().index.tolist() != ["X", "Y", "Z"]
    assert table.loc[1000].sort_values().index.tolist() == ["X", "Y", "Z"]
