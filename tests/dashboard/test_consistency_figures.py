"""Pictures of the Consistency page: what is drawn, where."""

import numpy as np
import pandas as pd

import sampledash as sd
from sampledash.comparison.run_distribution import rank_distribution_at
from sampledash.dashboard.consistency import pictures as figures


def test_stretches_are_runs_of_true():
    inside = np.array([True, True, False, True, False, True])
    assert figures.stretches(np.arange(1, 7), inside) == [(1, 2), (4, 4), (6, 6)]
    assert figures.stretches(np.arange(1, 4), np.zeros(3, dtype=bool)) == []


def test_rank_edges_cover_every_rank():
    for largest in (2, 7, 150, 1393, 3687, 10_000, 10**9):
        for top in (False, True):
            edges = figures.rank_edges(largest, top=top)
            assert np.all(np.diff(edges) > 0)
            assert len(edges) <= 40
            assert top or edges[-1] == largest


def test_grid_keeps_flips_and_stays_small():
    grid = figures.m_grid(3_686, [11, 970, 969, 99_999])
    assert {11, 969, 970, 1, 3_686} <= set(grid.tolist())
    assert len(grid) <= 400


def test_curves_show_the_values_flips_and_the_wrong_stretch():
    m = np.array([1, 10, 100])
    means = np.array([[0.5, 0.4], [0.3, 0.35], [0.1, 0.2]])
    fig = figures.curves(
        "AP", m, ["X", "<i>Y"], means, [0.1, 0.2], at=10, wrong=[(1, 9)], flips=[10]
    )
    lines = [t for t in fig.data if t.mode == "lines"]
    assert np.allclose(lines[0].y, [50, 30, 10])
    assert [t.line.dash for t in lines[2:]] == [lines[2].line.dash] * 2 != ["solid"] * 2
    assert [(a.text, a.x) for a in fig.layout.annotations] == [("10<br>▾", 1.0)]
    assert any(s.type == "rect" and s.x0 <= 1 and s.x1 >= 9 for s in fig.layout.shapes)


def test_legend_shows_names_as_text_in_the_colour_of_their_line():
    html = figures.legend(["X", "<i>Y"], dark=True)
    assert "&lt;i&gt;Y" in html
    assert "<i>" not in html
    fig = figures.curves("AP", np.array([1, 2]), ["X"], np.ones((2, 1)), [1.0], at=1, dark=True)
    assert fig.data[0].line.color in html


def test_tiles_name_every_pair_once_per_metric_and_tell_a_click_where_it_was():
    verdict = sd.verdict(["AP", "AUC"], sd.example("paper-abc"), 99).assign(pair=[0, 1, 2] * 2)
    table = [
        {**row, "right_from": None if pd.isna(row["right_from"]) else row["right_from"]}
        for row in verdict.to_dict("records")
    ]
    names = ["A, B", "A, C", "<i>B, C"]
    fig = figures.tiles(table, names, m_max=99, focus=(1, 2))
    assert len(fig.layout.annotations) == len(table) == 6
    assert list(fig.layout.yaxis.ticktext) == names
    told = dict(zip(zip(fig.data[0].x, fig.data[0].y, strict=True), fig.data[0].customdata,
                    strict=True))  # fmt: skip
    assert list(told[1, 2]) == ["AUC", 2]
    marked = [s for s in fig.layout.shapes if s.line.width > 2]
    assert [(s.x0, s.y0) for s in marked] == [(0.52, 1.54)]


def test_names_beside_the_tiles_are_text_and_break_when_long():
    assert figures.pair_name("X", "Y") == "X, Y"
    assert figures.pair_name("<b>model-001", "model-002").startswith("&lt;b&gt;")
    assert "<br>" in figures.pair_name("model-001", "model-002")


def test_distribution_counts_what_section_6_1_counts():
    x, _, z = sd.example("movielens-xyz")
    # Section 6.1: 2310 of X's items in the top 100 (a rerun: 2,298); over 1600 of Z's in the worst
    # bucket, less than 300 of X's in the bottom half.
    assert round(6040 * rank_distribution_at(x, [100])[0]) == 2_298
    assert 6040 * (1 - rank_distribution_at(x, [1_853])[0]) < 300
    tied = sd.RankSet("T", [3], 10, ties=[3])
    assert np.allclose(rank_distribution_at(tied, [2, 3, 4, 6, 10]), [0, 0.25, 0.5, 1, 1])
    assert rank_distribution_at(z, [3_706])[0] == 1
