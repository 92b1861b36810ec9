"""Pictures show exact numbers with few points, keep jumps, and contain text instead of TeX."""

import json
from itertools import combinations, pairwise, product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binom, norm

import sampledash as sd
from sampledash import grids as grid
from sampledash.analyses import sliding, theme
from sampledash.analyses.consistency import pictures as consistency
from sampledash.analyses.consistency import result as verdicts
from sampledash.analyses.consistency import words
from sampledash.analyses.correct import pictures as correct
from sampledash.analyses.explore import pictures as explore
from sampledash.analyses.explore.result import Question, compute
from sampledash.analyses.source import Source
from sampledash.rank_sets import rank_distribution_at

N, M = 10_000, 100
SAMPLING = sd.Sampling(N, M, "without-replacement")
BV, PLAIN = sd.correction("BV", gamma=0.1), sd.correction("uncorrected")
RECIPES = [PLAIN, sd.correction("rank-estimate"), sd.correction("CLS"), BV]


def named(fig, name):
    return next(t for t in fig.data if t.name == name)


def written(fig):
    return [note.text for note in fig.layout.annotations]


def drawable(fig):
    for trace in fig.data:
        assert trace.type in ("scatter", "bar")
        there_and_back = trace.to_plotly_json().get("fill") == "toself"
        assert len(trace.x) <= grid.LIMIT * (1 + there_and_back)
    assert "$" not in json.dumps(fig.to_plotly_json(), default=lambda x: np.asarray(x).tolist())
    return fig


@pytest.mark.parametrize("n", [2, 3, 11, 59, 60, 61, 500, 10_000, 10**9])
@pytest.mark.parametrize("top", [None, 100, 1000])
def test_grid_holds_both_ends_and_the_jumps(n, top):
    last = n if top is None else min(n, top)
    keep = [r for r in (10, 11, 77, 78) if r <= last]
    ranks = grid.rank_grid(n, top=top, keep=keep)
    assert (ranks[0], ranks[-1]) == (1, last)
    assert len(ranks) <= grid.LIMIT
    assert np.all(np.diff(ranks) > 0)
    assert set(keep) <= set(ranks.tolist())


@pytest.mark.parametrize("k", [1, 10, 90, 1000])
@pytest.mark.parametrize("scheme", ["with-replacement", "without-replacement", "popularity"])
def test_the_fall_of_a_sampled_cutoff_is_resolved(k, scheme):
    sampling = sd.Sampling(10**6, 2000, scheme, 3.0 if scheme == "popularity" else 1.0)
    mean = curves(sd.metric("recall", k=k), sampling=sampling)[2]
    assert np.max(np.abs(np.diff(mean))) < 0.12


def test_the_grid_of_m_keeps_flips_and_the_edges_of_ranks_cover_every_rank():
    found = grid.m_grid(3_686, [11, 970, 969, 99_999])
    assert {11, 969, 970, 1, 3_686} <= set(found.tolist())
    assert len(found) <= 400
    for largest, top in product((2, 7, 150, 1393, 3687, 10_000, 10**9), (False, True)):
        edges = consistency.rank_edges(largest, top=top)
        assert np.all(np.diff(edges) > 0)
        assert len(edges) <= 40
        assert top or edges[-1] == largest


def contrast(one, other):
    """Return the contrast of two colours as WCAG 2.2 defines it."""
    parts = np.array([[int(c[i : i + 2], 16) / 255 for i in (1, 3, 5)] for c in (one, other)])
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    dark, light = sorted(linear @ [0.2126, 0.7152, 0.0722])
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("dark", [False, True])
def test_names_in_the_colour_of_their_line_can_be_read(dark):
    look = theme.look(dark)
    hues = [getattr(look, name) for name in (*theme._SYSTEM, "ink")]
    for hue in (*hues, *(line["color"] for line in theme.family_lines(4, dark))):
        for behind in (look.page, look.paper):
            assert contrast(hue, behind) >= 4.5


def curves(metric, *, at=100, sampling=SAMPLING):
    keep = [*grid.jumps(sampling, metric), min(at, sampling.n)]
    ranks = grid.rank_grid(sampling.n, keep=keep)
    laws = (metric(ranks, sampling.n), sd.expected(metric, ranks, sampling))
    return ranks, *laws, np.sqrt(sd.variance(metric, ranks, sampling))


def test_law_shows_the_probabilities_and_lights_the_hits():
    p = SAMPLING.pmf(800)
    bars = drawable(explore.law(p, k=10, mean=9.0)).data[0]
    np.testing.assert_allclose(bars.y, 100 * p[np.asarray(bars.x) - 1])
    colors = np.asarray(bars.marker.color)
    assert set(colors[np.asarray(bars.x) <= 10]) == {theme.LIGHT.vermillion}
    assert set(colors[np.asarray(bars.x) > 10]) == {theme.LIGHT.muted}
    fig = explore.law(p, k=None, mean=9.0, observed=np.array([1, 9, 9, 30]))
    shares = dict(zip(fig.data[0].x, fig.data[0].y, strict=True))
    assert (shares[1], shares[9], shares[30]) == (25, 50, 25)
    p = sd.Sampling(10**6, 10_000, "with-replacement").pmf(500_000)
    window = explore.law_window(p)
    assert window.stop - window.start <= grid.LIMIT
    assert p[window].sum() > 0.999
    drawable(explore.law(p, k=None, mean=5000.0))


def test_curves_show_values_flips_and_the_wrong_stretch_and_tiles_every_pair():
    inside = np.array([True, True, False, True, False, True])
    assert consistency.stretches(np.arange(1, 7), inside) == [(1, 2), (4, 4), (6, 6)]
    assert consistency.stretches(np.arange(1, 4), np.zeros(3, dtype=bool)) == []
    m, means = np.array([1, 10, 100]), np.array([[0.5, 0.4], [0.3, 0.35], [0.1, 0.2]])
    given = ("AP", m, ["X", "<i>Y"], means, [0.1, 0.2])
    fig = consistency.curves(*given, {"at": 10, "wrong": [(1, 9)], "flips": [10]}, dark=True)
    lines = [t for t in fig.data if t.mode == "lines"]
    assert np.allclose(lines[0].y, [50, 30, 10])
    assert [t.line.dash for t in lines[2:]] == [lines[2].line.dash] * 2 != ["solid"] * 2
    assert [(a.text, a.x) for a in fig.layout.annotations] == [("10<br>▾", 1.0)]
    assert any(s.type == "rect" and s.x0 <= 1 and s.x1 >= 9 for s in fig.layout.shapes)
    html = consistency.legend(["X", "<i>Y"], dark=True)
    assert "&lt;i&gt;Y" in html
    assert "<i>" not in html
    assert fig.data[0].line.color in html
    asked = tuple(map(sd.parse_metric, ("AP", "AUC")))
    question = verdicts.Question(Source(tuple(sd.example("paper-abc")), "abc", True), asked, 99, {})
    result = verdicts.compute(question)
    fig = consistency.tile_map(result, [0, 1, 2], verdicts.Focus(result, 1, 2))
    assert len(fig.layout.annotations) == 6
    assert list(fig.layout.yaxis.ticktext) == ["A, B", "A, C", "B, C"]
    x, y, told = fig.data[0].x, fig.data[0].y, fig.data[0].customdata
    assert list(dict(zip(zip(x, y, strict=True), told, strict=True))[1, 2]) == ["AUC", 2]
    marked = [s for s in fig.layout.shapes if s.line.width > 2]
    assert [(s.x0, s.y0) for s in marked] == [(0.52, 1.54)]
    assert consistency.pair_name("X", "Y") == "X, Y"
    assert consistency.pair_name("<b>model-001", "model-002").startswith("&lt;b&gt;")
    assert "<br>" in consistency.pair_name("model-001", "model-002")


def test_a_histogram_holds_as_many_values_in_every_bar_beside_its_law():
    values, mass = np.arange(401) / 400, binom.pmf(np.arange(401), 400, 0.3)
    law = consistency.MeanLaw(0.3, float(np.sqrt(0.21 / 400)), values, mass)
    runs = binom.rvs(400, 0.3, size=500, random_state=1) / 400
    edges = consistency.bin_edges(runs, law)
    assert edges[0] < runs.min() <= runs.max() < edges[-1]
    assert len(set(np.histogram(values, edges)[0][1:-1])) == 1
    assert np.isclose(law.between(edges).sum(), 1, atol=1e-4)
    counted = [mass[(values > a) & (values < b)].sum() for a, b in pairwise(edges)]
    assert np.allclose(law.between(edges), counted)
    # The distribution may be normal, or have a standard deviation of 0.
    law, still = consistency.MeanLaw(0.5, 0.01), consistency.MeanLaw(0.4, 0.0)
    edges = consistency.bin_edges(np.array([0.49, 0.52]), law)
    assert np.allclose(law.between(edges), np.diff(norm.cdf(edges, 0.5, 0.01)))
    edges = consistency.bin_edges(np.full(3, 0.4), still)
    assert np.isclose(still.between(edges).sum(), 1)
    fig = consistency.histogram("AP", [("B", np.full(3, 0.4), still, 1)])
    assert np.isclose(np.sum(fig.data[0].y), 100)
    tied = sd.RankSet("T", [3], 10, ties=[3])
    assert np.allclose(rank_distribution_at(tied, [2, 3, 4, 6, 10]), [0, 0.25, 0.5, 1, 1])


def boxes(fig, width=500.0, height=380.0):
    (x0, x1), (y0, y1) = fig.layout.xaxis.range, fig.layout.yaxis.range
    for note in fig.layout.annotations:
        wide, left = 7.0 * len(note.text), (note.x - x0) / (x1 - x0) * width + note.xshift
        low = (note.y - y0) / (y1 - y0) * height + note.yshift
        left -= wide if note.xanchor == "right" else 0
        low -= 16 if note.yanchor == "top" else 0
        yield left, low, left + wide, low + 16


@pytest.mark.parametrize("name", ["Recall@10", "AP", "NDCG", "NDCG@10"])
def test_names_do_not_cover_each_other(name):
    metric = sd.parse_metric(name)
    ranks, exact, _, _ = curves(metric)
    drawn = {x: x.fit(metric, SAMPLING).expected(ranks) for x in RECIPES}
    for dark in (False, True):
        fig = correct.expectation(metric, ranks, exact, drawn, focus=BV, dark=dark)
        for a, b in combinations(boxes(fig), 2):
            assert not (a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3])


def test_a_vector_in_focus_is_not_flat_beside_a_huge_one():
    recipes = (*RECIPES, sd.correction("LS"))
    vectors = {x: x.fit("AP", sd.Sampling(N, M)).values for x in recipes}
    fig = drawable(correct.vector(sd.metric("ap"), vectors, focus=BV))
    assert abs(fig.layout.yaxis.range[1]) < 200


def test_bars_of_risks_of_differences_and_chances_over_m():
    fig = correct.risks({PLAIN: (0.08, 0.04), BV: (0.0004, 0.0009)}, instances=9)
    ends, most = [line.x for line in fig.data], 800 + 400 / 9  # the bars end at √(square / most)
    squares = np.array([[0, 800], [800, most], [0, 4], [4, 5]])
    np.testing.assert_allclose(ends, np.sqrt(squares / most))
    assert written(fig)[1] == "<b>BV 0.1</b>  √(2.00² + 1.00²)"
    # A huge error is cut off at twice the largest bias.
    fig = correct.risks({PLAIN: (0.08, 0.04), BV: (0.0004, 1e12)}, instances=1)
    np.testing.assert_allclose(fig.data[0].x, [0, 0.5], rtol=1e-6)
    assert fig.layout.xaxis.range[1] < 1.1
    pairs = ["Y > X", "Z > X"]
    fig = consistency.chances(pairs, [0.3, 0.9], [(0.2, 0.45), (np.nan, np.nan)])
    bar, dots = fig.data
    assert np.allclose(dots.x, [30, 90])
    assert np.allclose([bar.base[0], bar.base[0] + bar.x[0]], [20, 45])
    assert np.isnan(bar.x[1])
    assert list(fig.layout.yaxis.ticktext) == pairs
    rows = {"better": ["a", "b"], "worse": ["c", "c"], "difference": [0.01, 0.02]}
    rows |= {"interval": [(-0.01, 0.03), (0.01, 0.03)]}
    fig = consistency.differences(pd.DataFrame(rows))
    assert len(set(fig.data[1].marker.color)) == 2
    series = {pairs[0]: np.array([0, 0.5, 1.0]), pairs[1]: np.array([0, 0.2, 0.9])}
    fig = consistency.chance_over_m(np.array([1, 10, 100]), series, at=10, target=0.95)
    assert [t.name for t in fig.data] == pairs
    assert np.allclose(fig.data[0].y, [0, 50, 100])
    assert any(s.y0 == s.y1 == 95 for s in fig.layout.shapes)


def upright(trace, after: int) -> bool:
    """Return whether a line falls vertically from its highest to its lowest value after a rank."""
    x, y = np.asarray(trace["x"]), np.asarray(trace["y"])
    at = np.flatnonzero(np.diff(y))
    return x[at].tolist() == x[at + 1].tolist() == [after + 1]


@pytest.mark.parametrize("k", [1, 10, 130])
@pytest.mark.parametrize("name", ["recall", "precision", "hit_rate"])
def test_a_cutoff_is_a_step_in_every_picture_over_ranks(name: str, k: int) -> None:
    metric, sampling = sd.metric(name, k=k), sd.Sampling(2000, 400, "without-replacement")
    ranks = grid.rank_grid(sampling.n, keep=grid.jumps(sampling, metric))
    exact, mean = metric(ranks, sampling.n), sd.expected(metric, ranks, sampling)
    fig = explore.expected_curve(compute(Question((metric,), sampling, 7, None, metric)), metric)
    assert [upright(named(fig, x), k) for x in ("exact", "sampled, m = 400,")] == [True, False]
    line = named(fig, "exact").line
    assert (line.dash, line.color) == (theme.EXACT_DASH, theme.LIGHT.ink)
    assert " ".join(written(fig)).count("%") == 2  # the values of both lines at the marked rank
    fig = explore.family(metric, ranks, exact, {400: mean, 1999: exact}, at=7)
    assert [upright(t, k) for t in fig.data] == [False, True, True]
    recipe = sd.correction("BV")
    fig = correct.expectation(metric, ranks, exact, {recipe: mean}, focus=recipe)
    assert [upright(t, k) for t in fig.data] == [True, False]
    # Uncorrected, a sampled rank has the metric of that rank as its value, with a step after k.
    vectors = {x: x.fit(metric, sampling).values for x in (sd.correction("uncorrected"), recipe)}
    fig = correct.vector(metric, vectors, focus=recipe)
    assert [upright(named(fig, x), k) for x in ("uncorrected", str(recipe))] == [True, False]
    drawn = sliding.lines(ranks, [sliding.Curve("exact", exact, {}), sliding.Curve("m", mean, {})])
    assert [upright(trace, k) for trace in drawn] == [True, False]


def test_a_tie_is_drawn_as_a_flat_line_on_an_axis_with_different_numbers():
    # With n = 10^12 and both true ranks within 10, Recall@10 is 1 for both, up to rounding.
    sets = sd.RankSet("A", [5], 10**12), sd.RankSet("B", [7], 10**12)
    question = verdicts.Question(
        Source(sets, "two", False), (sd.parse_metric("Recall@10"),), 100, {}
    )
    fig = consistency.difference(verdicts.Focus(verdicts.compute(question), 0, 0), dark=False)
    assert all(np.all(np.asarray(trace.y) == 0) for trace in fig.data)
    low, high = fig.layout.yaxis.range
    assert high - low > 0.1  # labels have two decimals


def test_room_for_labels_is_that_of_the_characters_shown():
    def left(*names):
        fig = theme.figure([], dark=False, yaxis=theme.rows_axis(names, "black"))
        return fig.as_written()["layout"]["margin"]["l"]

    assert left("&lt;a&gt; &amp; b,<br>c &lt; d") == left("<b>(a) + b,</b>") == left("(a) + b,")
    assert left("MATRIX") > left("matrix")


@pytest.mark.parametrize(
    ("scheme", "mode", "word"),
    [
        ("without-replacement", "lines", "never change order"),
        ("popularity-without-replacement", "lines+markers", "at the m looked at, up to 99"),
    ],
)
def test_few_evaluated_m_are_drawn_as_dots_and_do_not_say_never(scheme, mode, word):
    counts = {"A": [[1, 9], [0, 0], [20, 79], [5, 1]], "B": [[14, 13], [0, 0], [20, 79], [5, 1]]}
    sets = [
        sd.RankSet(name, [1 + sum(x[0])] * 8, 100, classes=[x] * 8) for name, x in counts.items()
    ]
    metrics, chosen = (sd.parse_metric("AUC"),), {"scheme": scheme}
    question = verdicts.Question(Source(tuple(sets), "two", False), metrics, 60, chosen)
    focus = verdicts.Focus(verdicts.compute(question), 0, 0)
    assert consistency.difference(focus, dark=False).data[2].mode == mode
    assert word in words.marked_flips(focus, 0)
