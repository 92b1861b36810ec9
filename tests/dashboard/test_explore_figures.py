"""Pictures of Explore: the numbers go in unchanged, few points, no jump lost, no TeX."""

import json

import numpy as np
import pytest

import sampledash as sd
from sampledash.dashboard import grid, theme
from sampledash.dashboard.explore import pictures as explore

N, M = 10_000, 100
SAMPLING = sd.Sampling(N, M, "without-replacement")


def curves(metric, *, top=None, at=100, sampling=SAMPLING):
    ranks = grid.rank_grid(
        sampling.n, top=top, keep=[*grid.jumps(sampling, metric), min(at, sampling.n)]
    )
    return (
        ranks,
        metric(ranks, sampling.n),
        sd.expected(metric, ranks, sampling),
        np.sqrt(sd.variance(metric, ranks, sampling)),
    )


def named(fig, name):
    return next(t for t in fig.data if t.name == name)


def check(fig):
    for trace in fig.data:
        assert trace.type in ("scatter", "bar")
        assert len(trace.x) <= grid.LIMIT
    assert "$" not in json.dumps(fig.to_plotly_json(), default=lambda x: np.asarray(x).tolist())


@pytest.mark.parametrize("name", ["AUC", "AP", "NDCG", "NDCG@10", "Recall@10", "Precision@5"])
@pytest.mark.parametrize("top", [None, 1000, 100])
def test_expected_curve(name, top):
    metric = sd.parse_metric(name)
    ranks, exact, mean, std = curves(metric, top=top)
    for dark in (False, True):
        how = {"m": M, "at": 100, "log": top is None, "dark": dark}
        fig = explore.expected_curve(metric, ranks, exact, mean, std, **how)
        check(fig)
        np.testing.assert_allclose(named(fig, "exact").y, 100 * exact)
        np.testing.assert_allclose(named(fig, f"sampled, m = {M},").y, 100 * mean)
        assert named(fig, "exact").line.dash == theme.EXACT_DASH
        assert named(fig, "exact").line.color == theme.look(dark).ink
        said = " ".join(a.text for a in fig.layout.annotations)
        assert "exact" in said
        assert "sampled" in said


def test_the_band_is_one_standard_deviation_within_the_metrics_range():
    metric = sd.parse_metric("AP")
    ranks, exact, mean, std = curves(metric)
    fig = explore.expected_curve(metric, ranks, exact, mean, std, m=M, at=100)
    for line, end in zip(fig.data, (mean - std, mean + std), strict=False):
        np.testing.assert_allclose(line.y, 100 * np.clip(end, 0, 1))
    fig = theme.dimmed(fig)  # keeps the picture
    assert all(t.opacity == 0.25 for t in fig.data)


@pytest.mark.parametrize("name", ["AUC", "AP", "Recall@10"])
def test_values_are_written_at_every_rank(name):
    metric = sd.parse_metric(name)
    for at in (1, 2, 10, 11, 700, 9_999, 10_000):
        fig = explore.expected_curve(metric, *curves(metric, at=at), m=M, at=at)
        said = " ".join(a.text for a in fig.layout.annotations)
        assert said.count("%") == 2


def test_family_is_sorted_and_named():
    metric = sd.parse_metric("Recall@10")
    ranks, exact, mean, _ = curves(metric)
    fig = explore.family(metric, ranks, exact, {1000: exact, 10: mean}, at=100)
    check(fig)
    assert [t.name for t in fig.data] == ["m = 10", "m = 1,000", "exact"]
    assert {a.text for a in fig.layout.annotations} == {"m = 10", "m = 1,000", "exact"}


def test_law_shows_the_probabilities_and_lights_the_hits():
    p = SAMPLING.pmf(800)
    fig = explore.law(p, k=10, mean=9.0)
    check(fig)
    bars = fig.data[0]
    np.testing.assert_allclose(bars.y, 100 * p[np.asarray(bars.x) - 1])
    colors = np.asarray(bars.marker.color)
    assert set(colors[np.asarray(bars.x) <= 10]) == {theme.LIGHT.vermillion}
    assert set(colors[np.asarray(bars.x) > 10]) == {theme.LIGHT.muted}


def test_law_of_many_negatives_stays_drawable():
    p = sd.Sampling(10**6, 10_000, "with-replacement").pmf(500_000)
    window = explore.law_window(p)
    assert window.stop - window.start <= grid.LIMIT
    assert p[window].sum() > 0.999
    check(explore.law(p, k=None, mean=5000.0))


def test_histogram_holds_every_draw():
    seen = np.array([1, 9, 9, 30])
    fig = explore.law(SAMPLING.pmf(800), k=None, mean=9.0, observed=seen)
    shares = dict(zip(fig.data[0].x, fig.data[0].y, strict=True))
    assert (shares[1], shares[9], shares[30]) == (25, 50, 25)


def test_catalogue_separates_above_and_below():
    negatives = np.concatenate([np.arange(1, 600), np.arange(5000, 5010)])
    fig = explore.catalogue(N, 1000, negatives)
    check(fig)
    assert np.max(named(fig, "drawn, ranked above").x) < 1000
    assert np.min(named(fig, "drawn, ranked below").x) > 1000
    said = " ".join(a.text for a in fig.layout.annotations)
    assert "599 drawn above" in said
    assert "10 drawn below" in said


def test_posterior_marks_even_odds():
    below = np.cumsum(sd.posterior(2, sd.Sampling(N, M)))
    ranks = grid.rank_grid(N)
    fig = explore.posterior(ranks, below[ranks - 1], at=100)
    check(fig)
    assert "even odds" in fig.layout.annotations[0].text


@pytest.mark.parametrize("n", [2, 3, 11, 59, 60, 61, 500, 10_000, 10**9])
@pytest.mark.parametrize("top", [None, 100, 1000])
def test_grid_holds_both_ends_and_the_jumps(n, top):
    last = n if top is None else min(n, top)
    keep = [r for r in (10, 11, 77, 78) if r <= last]
    ranks = grid.rank_grid(n, top=top, keep=keep)
    assert ranks[0] == 1
    assert ranks[-1] == last
    assert len(ranks) <= grid.LIMIT
    assert np.all(np.diff(ranks) > 0)
    assert set(keep) <= set(ranks.tolist())


@pytest.mark.parametrize("k", [1, 10, 90, 1000])
@pytest.mark.parametrize("scheme", ["with-replacement", "without-replacement", "popularity"])
def test_the_fall_of_a_sampled_cutoff_is_resolved(k, scheme):
    sampling = sd.Sampling(10**6, 2000, scheme, 3.0 if scheme == "popularity" else 1.0)
    metric = sd.metric("recall", k=k)
    _, _, mean, _ = curves(metric, sampling=sampling)
    assert np.max(np.abs(np.diff(mean))) < 0.12


def test_families_go_towards_ink():
    for dark in (False, True):
        colors = [line["color"] for line in theme.family_lines(4, dark)]
        assert len(set(colors)) == 4
        assert (colors[0], colors[-1]) == theme.look(dark).family


def test_systems_differ_by_colour_or_dash():
    lines = [theme.system_line(i, False) for i in range(12)]
    assert len({(line["color"], line["dash"]) for line in lines}) == 12
