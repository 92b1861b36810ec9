"""Pictures of how sure an order is."""

import numpy as np
from scipy.stats import binom, norm

from sampledash.dashboard.consistency import pictures as planning


def test_chances_put_dots_and_bounds_on_the_rows_of_their_pairs():
    fig = planning.chances(["Y > X", "Z > X"], [0.3, 0.9], [0.2, np.nan], [0.45, np.nan])
    bar, dots = fig.data
    assert np.allclose(dots.x, [30, 90])
    assert np.isclose(bar.base[0], 20)
    assert np.isclose(bar.base[0] + bar.x[0], 45)
    assert np.isnan(bar.x[1])
    assert list(fig.layout.yaxis.ticktext) == ["Y > X", "Z > X"]


def test_differences_away_from_zero_have_another_colour():
    fig = planning.differences(["a", "b"], [0.01, 0.02], [-0.01, 0.01], [0.03, 0.03])
    colors = fig.data[1].marker.color
    assert colors[0] != colors[1]


def test_chance_over_m_draws_one_line_a_pair_and_the_target():
    m = np.array([1, 10, 100])
    series = {"Y > X": np.array([0, 0.5, 1.0]), "Z > X": np.array([0, 0.2, 0.9])}
    fig = planning.chance_over_m(m, series, at=10, target=0.95)
    assert [t.name for t in fig.data] == list(series)
    assert np.allclose(fig.data[0].y, [0, 50, 100])
    assert any(s.y0 == s.y1 == 95 for s in fig.layout.shapes)


def test_a_histogram_of_hits_holds_as_many_values_in_every_bar():
    # 400 hits or misses with chance 0.3: the law from scipy.
    values, mass = np.arange(401) / 400, binom.pmf(np.arange(401), 400, 0.3)
    law = planning.Law(0.3, float(np.sqrt(0.21 / 400)), values, mass)
    runs = binom.rvs(400, 0.3, size=500, random_state=1) / 400
    edges = planning.bin_edges(runs, law)
    assert edges[0] < runs.min()
    assert edges[-1] > runs.max()
    inside = np.histogram(values, edges)[0]
    assert len(set(inside[1:-1])) == 1
    exact = law.between(edges)
    assert np.isclose(exact.sum(), 1, atol=1e-4)
    counted = [mass[(values > a) & (values < b)].sum() for a, b in zip(edges, edges[1:])]  # noqa: B905, RUF007
    assert np.allclose(exact, counted)


def test_a_normal_law_and_one_without_scatter():
    law = planning.Law(0.5, 0.01)
    edges = planning.bin_edges(np.array([0.49, 0.52]), law)
    assert np.allclose(law.between(edges), np.diff(norm.cdf(edges, 0.5, 0.01)))
    still = planning.Law(0.4, 0.0)
    edges = planning.bin_edges(np.full(3, 0.4), still)
    assert np.isclose(still.between(edges).sum(), 1)
    fig = planning.histogram("AP", ["B"], [np.full(3, 0.4)], [still], [1])
    assert np.isclose(np.sum(fig.data[0].y), 100)
