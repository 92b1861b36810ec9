"""Where the order of systems changes with m: Figures 2 and 6."""

import pytest

import sampledash as sd
from tests.oracles import WITH, WITHOUT

#: X-Y, X-Z, Y-Z without replacement, every m: an independent computation.
FLIPS = {
    "Recall@10": {"XY": [11, 970], "XZ": [433], "YZ": [128]},
    "NDCG@10": {"XY": [566], "XZ": [240], "YZ": [83]},
    "AP": {"XY": [434], "XZ": [223], "YZ": [55]},
    "NDCG": {"XY": [1988], "XZ": [], "YZ": [142, 1805]},
    "Recall@1": {"XY": [111], "XZ": [50], "YZ": [15, 1877]},
    "AUC": {"XY": [], "XZ": [], "YZ": []},
}


def by_pair(found: list[sd.Flip]) -> dict[str, list[int]]:
    return {x: [f.m for f in found if f.first + f.second == x] for x in ("XY", "XZ", "YZ")}


@pytest.mark.parametrize("metric", FLIPS)
def test_movielens(metric: str, xyz: list[sd.RankSet]) -> None:
    assert by_pair(sd.flips(metric, xyz, scheme=WITHOUT)) == FLIPS[metric]
    # The m from which each order is right is the last flip.
    table = sd.right_from(metric, xyz, scheme=WITHOUT)
    ours = {"".join(sorted((row.better, row.worse))): row.m for row in table.itertuples()}
    assert ours == {pair: (flips or [1])[-1] for pair, flips in FLIPS[metric].items()}


def test_corrected_recall_flips_at_52(xyz: list[sd.RankSet]) -> None:
    # Figure 6, "Bias^2 + 0.1 Variance": far fewer samples than the 970 of the uncorrected metric.
    options = {"scheme": WITHOUT, "fit_scheme": WITH, "correction": "BV 0.1"}
    assert by_pair(sd.flips("Recall@10", xyz[:2], 200, **options))["XY"] == [52]
