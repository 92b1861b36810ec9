"""Pictures of the Consistency page: what is drawn, where."""

from itertools import pairwise

import numpy as np
import pandas as pd
from scipy.stats import binom, norm

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
    told = dict(
        zip(zip(fig.data[0].x, fig.data[0].y, strict=True), fig.data[0].customdata, strict=True)
    )
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


def test_chances_put_dots_and_bounds_on_the_rows_of_their_pairs():
    fig = figures.chances(["Y > X", "Z > X"], [0.3, 0.9], [0.2, np.nan], [0.45, np.nan])
    bar, dots = fig.data
    assert np.allclose(dots.x, [30, 90])
    assert np.isclose(bar.base[0], 20)
    assert np.isclose(bar.base[0] + bar.x[0], 45)
    assert np.isnan(bar.x[1])
    assert list(fig.layout.yaxis.ticktext) == ["Y > X", "Z > X"]


def test_differences_away_from_zero_have_another_colour():
    fig = figures.differences(["a", "b"], [0.01, 0.02], [-0.01, 0.01], [0.03, 0.03])
    colors = fig.data[1].marker.color
    assert colors[0] != colors[1]


def test_chance_over_m_draws_one_line_a_pair_and_the_target():
    m = np.array([1, 10, 100])
    series = {"Y > X": np.array([0, 0.5, 1.0]), "Z > X": np.array([0, 0.2, 0.9])}
    fig = figures.chance_over_m(m, series, at=10, target=0.95)
    assert [t.name for t in fig.data] == list(series)
    assert np.allclose(fig.data[0].y, [0, 50, 100])
    assert any(s.y0 == s.y1 == 95 for s in fig.layout.shapes)


def test_a_histogram_of_hits_holds_as_many_values_in_every_bar():
    # 400 hits or misses with chance 0.3: the law from scipy.
    values, mass = np.arange(401) / 400, binom.pmf(np.arange(401), 400, 0.3)
    law = figures.Law(0.3, float(np.sqrt(0.21 / 400)), values, mass)
    runs = binom.rvs(400, 0.3, size=500, random_state=1) / 400
    edges = figures.bin_edges(runs, law)
    assert edges[0] < runs.min()
    assert edges[-1] > runs.max()
    inside = np.histogram(values, edges)[0]
    assert len(set(inside[1:-1])) == 1
    exact = law.between(edges)
    assert np.isclose(exact.sum(), 1, atol=1e-4)
    counted = [mass[(values > a) & (values < b)].sum() for a, b in pairwise(edges)]
    assert np.allclose(exact, counted)


def test_a_normal_law_and_one_without_scatter():
    law = figures.Law(0.5, 0.01)
    edges = figures.bin_edges(np.array([0.49, 0.52]), law)
    assert np.allclose(law.between(edges), np.diff(norm.cdf(edges, 0.5, 0.01)))
    still = figures.Law(0.4, 0.0)
    edges = figures.bin_edges(np.full(3, 0.4), still)
    assert np.isclose(still.between(edges).sum(), 1)
    fig = figures.histogram("AP", ["B"], [np.full(3, 0.4)], [still], [1])
    assert np.isclose(np.sum(fig.data[0].y), 100)
