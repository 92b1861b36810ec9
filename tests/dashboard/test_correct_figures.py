"""Pictures of the Correct page: what is drawn, and that names can be read."""

import numpy as np
import pytest

import sampledash as sd
from sampledash.dashboard import labels
from sampledash.dashboard.correct import pictures as figures
from sampledash.dashboard.correct.result import Curve
from sampledash.dashboard.grid import LIMIT, jumps, rank_grid

SAMPLING = sd.Sampling(10_000, 100, "without-replacement")
RECIPES = [sd.parse_correction(x) for x in ("uncorrected", "rank estimate", "CLS", "BV 0.1")]
BV = RECIPES[-1]


def expectation(metric="Recall@10", sampling=SAMPLING, recipes=RECIPES, **options):
    metric = sd.parse_metric(metric)
    ranks = rank_grid(sampling.n, keep=jumps(sampling, metric))
    curves = {x: x.fit(metric, sampling).expected(ranks) for x in recipes}
    exact = metric(ranks, sampling.n)
    return figures.expectation(metric, ranks, exact, curves, focus=BV, **options), ranks, curves


def named(fig):
    return {trace.name: trace for trace in fig.data}


def test_expectation_draws_every_correction_and_the_exact_metric():
    fig, ranks, curves = expectation()
    traces = named(fig)
    assert set(traces) == {"exact", "uncorrected", "rank estimate", "CLS", "BV 0.1"}
    assert all(len(trace.x) <= LIMIT for trace in fig.data)
    np.testing.assert_allclose(np.asarray(traces["BV 0.1"].y), 100 * curves[BV])
    assert {10, 11} <= set(ranks.tolist())
    assert traces["exact"].line.dash == "6px,4px"
    assert fig.data[-1].name == "BV 0.1"  # on top
    assert {a.text for a in fig.layout.annotations} == set(traces)


def test_names_do_not_cover_each_other():
    for metric in ("Recall@10", "AP", "NDCG", "NDCG@10"):
        for dark in (False, True):
            fig, _, _ = expectation(metric, dark=dark)
            boxes = [_box(note, fig) for note in fig.layout.annotations]
            for i, a in enumerate(boxes):
                for b in boxes[:i]:
                    assert not (a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3])


def _box(note, fig, width=500.0, height=380.0):
    """The name in pixels on a wide screen."""
    x0, x1 = fig.layout.xaxis.range
    y0, y1 = fig.layout.yaxis.range
    wide = 7.0 * len(note.text)
    left = (note.x - x0) / (x1 - x0) * width + note.xshift
    low = (note.y - y0) / (y1 - y0) * height + note.yshift
    left -= wide if note.xanchor == "right" else 0
    low -= 16 if note.yanchor == "top" else 0
    return left, low, left + wide, low + 16


@pytest.mark.parametrize("m", [1, 20, 100, 2_000])
def test_vector_draws_at_most_400_points(m):
    sampling = sd.Sampling(10_000, m)
    vectors = {x: x.fit("AP", sampling).values for x in RECIPES}
    fig = figures.vector(sd.metric("ap"), vectors, focus=BV)
    shown = np.asarray(named(fig)["BV 0.1"].x)
    assert shown[0] == 1
    assert shown[-1] == m + 1
    assert all(len(trace.x) <= LIMIT for trace in fig.data)
    np.testing.assert_allclose(np.asarray(named(fig)["BV 0.1"].y), 100 * vectors[BV][shown - 1])


def test_exploding_vector_does_not_flatten_the_one_in_focus():
    ls = sd.correction("LS")
    vectors = {x: x.fit("AP", SAMPLING).values for x in (*RECIPES, ls)}
    fig = figures.vector(sd.metric("ap"), vectors, focus=BV)
    assert abs(fig.layout.yaxis.range[1]) < 200


def test_bars_are_bias_squared_and_variance_over_the_instances():
    fig = figures.risks({RECIPES[0]: (0.08, 0.04), BV: (0.0004, 0.0009)}, instances=9)
    bias2, variance = fig.data
    np.testing.assert_allclose(np.asarray(bias2.x), [800, 4])
    np.testing.assert_allclose(np.asarray(variance.x), [400 / 9, 1])
    assert fig.layout.annotations[1].text == "<b>BV 0.1</b>  2.00² + 1.00²"


def test_one_exploding_variance_is_cut_off():
    fig = figures.risks({RECIPES[0]: (0.08, 0.04), BV: (0.0004, 1e12)}, instances=1)
    assert fig.layout.xaxis.range[1] < 5_000


@pytest.mark.parametrize("symbol", ["γ", "m", "n", "|D|"])
def test_tradeoff_survives_zeros_and_marks_what_is_in_range(symbol):
    x = np.geomspace(1e-6, 1, 7) if symbol == "γ" else np.geomspace(10, 10_000, 7)
    zero = Curve(RECIPES[0], "uncorrected", np.zeros(7), np.full(7, 0.1))
    other = Curve(BV, "BV 0.1", np.full(7, 0.02), np.geomspace(0.001, 0.5, 7))
    fig = figures.tradeoff(symbol, x, [zero, other], marks={"here": x[3], "outside": 1e12})
    texts = [a.text for a in fig.layout.annotations]
    assert "here" in texts
    assert "outside" not in texts
    assert len(fig.layout.shapes) == 1
    first, last = fig.layout.xaxis.range
    assert (first > last) == (symbol == "γ")


def test_all_zero_tradeoff_is_drawn_empty():
    nothing = Curve(BV, "BV 0.1", np.zeros(3), np.zeros(3))
    assert figures.tradeoff("m", np.array([1.0, 10, 100]), [nothing], marks={}).data


def test_labels_keep_clear_of_upright_lines():
    line = (np.linspace(0, 1, 50), np.full(50, 0.5))
    (place,) = labels.beside(["uncorrected"], [line], 300, clear=[0.3])
    for width in labels.WIDTHS:
        x = line[0][place["at"]] * width
        left = x + 5 if place["xanchor"] == "left" else x - 5 - 7.6 * 11
        assert not left < 0.3 * width < left + 7.6 * 11
