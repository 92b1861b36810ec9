"""Frames, the pictures that are sent ahead for a slider's steps, show the library's numbers."""

import numpy as np
import pytest

import sampledash as sd
from sampledash.analyses.consistency import pictures
from sampledash.analyses.consistency.result import Focus, Question, compute
from sampledash.analyses.correct.result import DEFAULTS, check
from sampledash.analyses.correct.words import size
from sampledash.analyses.source import Source
from sampledash.dashboard import explore as page
from sampledash.dashboard import judged, live, state
from sampledash.dashboard.consistency import page as consistency
from sampledash.dashboard.correct import page as correct
from sampledash.report.numbers import equals, percent, unbroken
from tests.dashboard.driver import frames_of, worst_states

HEADLINE = ".st-key-headline [data-heading-text]"


QUESTION = page._check()


def follows_of(slider, every):
    (follows,) = (x for x in every if x.name == slider)
    return follows


@pytest.mark.parametrize(
    ("slider", "number"), [("m", 1), ("m", 300), ("m", 2000), ("n", 500), ("n", 10**9), ("k", 200)]
)
def test_frames_on_explore_hold_what_the_core_says(slider, number):
    frame = frames_of(follows_of(slider, page._follows(QUESTION, (), (), dark=False)), number)
    n, m, k = (
        number if name == slider else x for name, x in (("n", 10_000), ("m", 100), ("k", 10))
    )
    sampling, traces = sd.Sampling(n, m, "without-replacement"), frame["pictures"][page.PICTURE]
    for panel, metric in enumerate((f"Recall@{k}", "NDCG", "AP")):
        band, exact, mean, here = traces["traces"][4 * panel : 4 * panel + 4]
        x = np.unique(np.geomspace(1, n, 300).astype(int))
        expected = 100 * np.asarray(sd.expected(metric, x, sampling))
        # The line through the points that are sent is within a pixel of the exact curve.
        drawn = np.interp(np.log(x), np.log(mean[0]), mean[1])
        assert np.abs(drawn - expected).max() < 0.4
        at, exactly = np.array(exact[0]).astype(int), sd.parse_metric(metric)
        last = np.diff(at, append=n + 1) > 0  # a jump has two points at one rank
        assert np.abs(exact[1] - 100 * np.asarray(exactly(at, n)))[last].max() < 0.06
        std, top = 100 * np.sqrt(sd.variance(metric, x, sampling)), max(exact[1])
        half = int(np.argmax(band[0])) + 1
        upper = np.interp(np.log(x), np.log(band[0][:half]), band[1][:half])
        assert np.abs(upper - np.minimum(expected + std, top)).max() < 0.8
        values = [sd.expected(metric, 100, sampling), exactly(100, n)]
        assert here == [[100, 100], pytest.approx(100 * np.array(values, float), rel=1e-5)]
    mean = float(sd.expected(f"Recall@{k}", 100, sampling))
    (said,), numbers = frame["texts"].values()
    assert unbroken(f"Recall@{k} {equals(mean)}") in said
    assert unbroken(f"With {m:,} of {n - 1:,} negatives") in said
    assert numbers[1] == percent(mean)


def test_frames_of_the_rank_move_points_alone_and_are_of_one_question():
    follows = follows_of("rank", page._follows(QUESTION, (), (), dark=False))
    assert max(follows.numbers) == 10_000  # n
    traces = frames_of(follows, 500)["pictures"][page.PICTURE]["traces"]
    assert traces[8:11] == [None] * 3
    sampling = sd.Sampling(10_000, 100, "without-replacement")
    expected = 100 * float(sd.expected("AP", 500, sampling))
    exact = 100 * float(sd.metric("AP")(500, 10_000))
    assert traces[11] == [[500, 500], pytest.approx([expected, exact], rel=1e-5)]
    one, other = (
        live.Follows("m", depends, (), dict).version for depends in (("n", 10), ("n", 11))
    )
    assert one != other


def test_a_thinned_line_keeps_its_corners_and_stays_near():
    x = np.arange(1, 401.0)
    y = np.where(x <= 10, 100.0, 3 * np.sin(x / 40))
    thin, values = live.thinned(x, y, 0.3, log=True)
    assert {1, 10, 11, 400} <= set(thin)
    assert len(thin) < 60
    assert np.abs(np.interp(np.log(x), np.log(thin), values) - y).max() < 0.3


@pytest.mark.parametrize(("slider", "number"), [("gamma", 0.001), ("m", 20), ("n", 500), ("k", 50)])
def test_frames_on_correct_hold_what_the_core_says(slider, number):
    now = state.current()
    asked = check(now.sampling(), now.k, now.gamma, DEFAULTS)
    frame = frames_of(follows_of(slider, correct._follows(asked, (), (), dark=False)), number)
    values = {"n": 10_000, "m": 100, "k": 10, "gamma": 0.1, slider: number}
    sampling = sd.Sampling(values["n"], values["m"], "without-replacement")
    metric = f"Recall@{values['k']}"
    fit = sd.correction("BV", gamma=values["gamma"]).fit(metric, sampling)
    *_, (x, y) = frame["pictures"][correct.EXPECTED]["traces"]
    assert np.abs(y - 100 * fit.expected(np.array(x, int))).max() < 0.06
    *_, (_, vector), (_, dots) = frame["pictures"][correct.VECTOR]["traces"]
    assert np.allclose(dots, 100 * fit.values[:20], rtol=1e-5)
    assert max(vector) == pytest.approx(100 * fit.values.max(), abs=0.1)
    bias2, variance = fit.risk()
    *_, (ends, _), (more, _) = frame["pictures"][correct.RISKS]["traces"]
    both = bias2 + variance / 6_040
    plain = sd.correction("uncorrected").fit(metric, sampling).risk()
    longest = max(both, plain[0] + plain[1] / 6_040)
    shares = np.sqrt(np.array([0, bias2, bias2, both]) / longest)
    assert [*ends, *more] == pytest.approx(shares, rel=1e-5)
    (sentence,), numbers = frame["texts"].values()
    assert size(bias2**0.5) in sentence.replace("\u00a0", " ")
    assert numbers[0] == size(bias2**0.5)


def test_frames_of_m_keep_the_metric_of_the_sentence_and_say_what_the_others_are():
    source = Source(tuple(sd.example("movielens-xyz")), "bundled", True)
    asked = tuple(map(sd.parse_metric, ("Recall@10", "NDCG", "AP")))
    result = compute(Question(source, asked, 100, {"scheme": "without-replacement"}))
    for x in (0, 2):
        focus = Focus(result, x, 0)
        follows = consistency._follows(focus, (), (), pictures.DIFFERENCE, dark=False)
        for m in (1, 1_000):
            texts = follows.draw(m).texts
            (said,), (others,) = (texts[at] for at in (HEADLINE, f".st-key-{judged.OTHERS} p"))
            assert f"{m:,} negative{'s' * (m > 1)} {asked[x]}" in said[2]
            rows = sd.verdict(asked, source.sets, m, scheme="without-replacement")
            worst = worst_states(rows)
            assert said[1] == f" {worst[str(asked[x])]}"
            for y, metric in enumerate(map(str, asked)):
                told = [part.lower() for part in others.split(".") if metric in part]
                assert len(told) == (x != y)
                assert x == y or worst[metric] in told[0]


def many(systems):
    """Return systems whose order depends on m, so that the worst pairs differ from m to m."""
    rng = np.random.default_rng(3)
    powers = rng.uniform(1, 5, systems)
    ranks = [(1 + rng.random(20) ** power * 899).astype(int) for power in powers]
    return [sd.RankSet(f"S{place}", each, n=900) for place, each in enumerate(ranks)]


@pytest.mark.parametrize("view", pictures.VIEWS)
def test_what_follows_is_of_the_picture_it_moves(view):
    # Of many systems only the worst pairs are drawn, which depend on m.
    source, drawn = Source(tuple(many(14)), "pasted", False), set()
    asked = (sd.parse_metric("Recall@10"),)
    for m in (5, 50, 500):
        result = compute(Question(source, asked, m, {"scheme": "without-replacement"}))
        focus = Focus(result, 0, result.worst_pair(0))
        follows = consistency._follows(focus, (), (), view, dark=False)
        drawn.add(follows.depends)
        frame = follows.draw(100)
        own = pictures.tile_map(result, focus.tile_pairs, focus, dark=False).as_written()["layout"]
        moved = frame.pictures[consistency.TILES].as_written()["layout"]
        assert moved["yaxis"]["ticktext"] == own["yaxis"]["ticktext"]
        lines = pictures.curve(focus, view, dark=False).as_written()["data"]
        live_lines = frame.pictures[consistency.CURVE].as_written()["data"]
        assert [x.get("name") for x in live_lines] == [x.get("name") for x in lines]
    assert len(drawn) > 1
