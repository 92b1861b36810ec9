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
