"""Frames that are sent ahead for each step of a slider hold the numbers of the core."""

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
from tests.dashboard.driver import worst_states

HEADLINE = ".st-key-headline [data-heading-text]"


@pytest.mark.parametrize("m", [1, 99, 2000])
def test_frames_of_m_on_explore_hold_what_the_core_says(m):
    frames = page._follows(page._first(), None, dark=False)[0].packed()
    frame, sampling = frames[f"{m:,}"], sd.Sampling(10_000, m, "without-replacement")
    traces = frame["pictures"][page.PICTURE]["traces"]
    for panel, metric in enumerate(("Recall@10", "NDCG", "AP")):
        band, exact, mean, here = traces[4 * panel : 4 * panel + 4]
        x = np.array(mean[0]).astype(int)
        expected = 100 * np.asarray(sd.expected(metric, x, sampling))
        assert np.allclose(mean[1], expected, rtol=1e-5, atol=1e-9)
        std, top = 100 * np.sqrt(sd.variance(metric, x, sampling)), max(exact[1])
        edge = np.minimum(expected + std, top), np.maximum(expected - std, 0)[::-1]
        assert np.allclose(band[1], np.concatenate(edge), rtol=1e-4, atol=1e-5)
        at = list(x).index(100)
        assert here == [[100.0, 100.0], [mean[1][at], exact[1][at]]]
    mean = float(sd.expected("Recall@10", 100, sampling))
    (said,), numbers = frame["texts"].values()
    assert unbroken(f"Recall@10 {equals(mean)}") in said
    assert numbers[1] == percent(mean)


def test_frames_of_the_rank_move_points_alone_and_are_of_one_question():
    frames = page._follows(page._first(), None, dark=False)[1].packed()
    assert "20,000" not in frames  # 20,000 is beyond n
    traces = frames["500"]["pictures"][page.PICTURE]["traces"]
    assert traces[8:11] == [None] * 3
    sampling = sd.Sampling(10_000, 100, "without-replacement")
    expected = 100 * float(sd.expected("AP", 500, sampling))
    exact = 100 * float(sd.metric("AP")(500, 10_000))
    assert traces[11] == [[500, 500], pytest.approx([expected, exact], rel=1e-5)]
    one, other = (live.Follows("m", depends, dict).version for depends in (("n", 10), ("n", 11)))
    assert one != other


@pytest.mark.parametrize(("slider", "said"), [("gamma", "0.001"), ("m", "20")])
def test_frames_on_correct_hold_what_the_core_says(slider, said):
    asked = check(state.DEFAULTS, DEFAULTS)
    (frames,) = (x for x in correct._follows(asked, None, dark=False) if x.name == slider)
    frame = frames.packed()[said]
    sampling = sd.Sampling(10_000, 20 if slider == "m" else 100, "without-replacement")
    fit = sd.correction("BV", gamma=0.1 if slider == "m" else 0.001).fit("Recall@10", sampling)
    *_, (x, y) = frame["pictures"][correct.EXPECTED]["traces"]
    assert np.allclose(y, 100 * fit.expected(np.array(x, int)), rtol=1e-5, atol=1e-6)
    *_, (_, vector), (_, dots) = frame["pictures"][correct.VECTOR]["traces"]
    assert np.allclose(vector[:20], 100 * fit.values[:20], rtol=1e-5)
    assert dots == vector[:20]
    bias2, variance = fit.risk()
    *_, (ends, _), (more, _) = frame["pictures"][correct.RISKS]["traces"]
    both = bias2 + variance / 6_040
    plain = sd.correction("uncorrected").fit("Recall@10", sampling).risk()
    longest = max(both, plain[0] + plain[1] / 6_040)
    shares = np.array([0, bias2, bias2, both]) / longest
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
        frames = consistency._follows(focus, None, pictures.DIFFERENCE, dark=False).frames
        for m in (1, 1_000):
            texts = frames[f"{m:,}"]().texts
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
        follows = consistency._follows(focus, None, view, dark=False)
        drawn.add(follows.depends)
        frame = follows.frames["100"]()
        own = pictures.tile_map(focus, focus.tile_pairs, dark=False).as_written()["layout"]
        moved = frame.pictures[consistency.TILES].as_written()["layout"]
        assert moved["yaxis"]["ticktext"] == own["yaxis"]["ticktext"]
        lines = pictures.curve(focus, view, dark=False).as_written()["data"]
        live_lines = frame.pictures[consistency.CURVE].as_written()["data"]
        assert [x.get("name") for x in live_lines] == [x.get("name") for x in lines]
    assert len(drawn) > 1
