"""What is sent ahead of a hand: at each step of a slider the numbers of the core."""

import numpy as np
import pytest

import sampledash as sd
from sampledash.dashboard import live
from sampledash.dashboard.consistency import page as consistency
from sampledash.dashboard.consistency import pictures
from sampledash.dashboard.consistency.result import Focus, Question, compute
from sampledash.dashboard.explore import page
from sampledash.dashboard.ranks import Source
from sampledash.report.numbers import percent


@pytest.mark.parametrize("m", [1, 99, 2000])
def test_frames_of_m_on_explore_hold_what_the_core_says(m):
    frames = page._follows(page._first(), dark=False)[0].packed()
    frame, sampling = frames[f"{m:,}"], sd.Sampling(10_000, m, "without-replacement")
    for key, metric in (("recall_True", "Recall@10"), ("ndcg_False", "NDCG"), ("ap_False", "AP")):
        low, high, exact, mean, here, _ = frame["pictures"][f"explore_{key}"]["traces"]
        x = np.array(mean[0]).astype(int)
        expected = 100 * np.asarray(sd.expected(metric, x, sampling))
        assert np.allclose(mean[1], expected, rtol=1e-5, atol=1e-9)
        std = 100 * np.sqrt(sd.variance(metric, x, sampling))
        top = max(exact[1])
        assert np.allclose(high[1], np.minimum(expected + std, top), rtol=1e-4, atol=1e-5)
        assert np.allclose(low[1], np.maximum(expected - std, 0), rtol=1e-4, atol=1e-5)
        assert here == [[100.0], [mean[1][list(x).index(100)]]]
    mean = float(sd.expected("Recall@10", 100, sampling))
    (said,), numbers = frame["texts"].values()
    assert f"Recall@10 = {percent(mean)}" in said
    assert numbers[1] == percent(mean)


def test_frames_of_the_rank_move_points_alone():
    frames = page._follows(page._first(), dark=False)[1].packed()
    assert "20,000" not in frames  # beyond n
    traces = frames["500"]["pictures"]["explore_ap_False"]["traces"]
    assert traces[:4] == [None] * 4
    sampling = sd.Sampling(10_000, 100, "without-replacement")
    expected = 100 * float(sd.expected("AP", 500, sampling))
    assert traces[4] == [[500], pytest.approx([expected], rel=1e-5)]


def test_frames_are_of_one_question():
    one, other = (live.Follows("m", depends, dict).version for depends in (("n", 10), ("n", 11)))
    assert one != other


def many(systems):
    """Systems whose order over m differs, so that other pairs are the worst at other m."""
    rng = np.random.default_rng(3)
    powers = rng.uniform(1, 5, systems)
    ranks = [(1 + rng.random(20) ** power * 899).astype(int) for power in powers]
    return [sd.RankSet(f"S{place}", each, n=900) for place, each in enumerate(ranks)]


def test_what_follows_is_of_the_picture_it_moves():
    # Of many systems the tiles and curves are those of the worst pairs, which depend on m.
    source, drawn = Source(tuple(many(14)), "pasted", False), set()
    asked = (sd.parse_metric("Recall@10"),)
    for m in (5, 50, 500):
        result = compute(Question(source, asked, m, {"scheme": "without-replacement"}))
        focus = Focus(result, 0, result.worst_pair(0))
        follows = consistency._follows(focus, dark=False)
        drawn.add(follows.depends)
        frame = follows.frames()["100"]
        own = pictures.tile_map(focus, focus.tile_pairs, dark=False).as_written()["layout"]
        moved = frame.pictures[consistency.TILES].as_written()["layout"]
        assert moved["yaxis"]["ticktext"] == own["yaxis"]["ticktext"]
        lines = pictures.panel(focus, 0, result.drawn(focus.pair), dark=False).as_written()["data"]
        live_lines = frame.pictures[consistency._key(asked[0])].as_written()["data"]
        assert [x["name"] for x in live_lines] == [x["name"] for x in lines]
    assert len(drawn) > 1
