"""What is sent ahead of a hand: at each step of a slider the numbers of the core."""

import numpy as np
import pytest

import sampledash as sd
from sampledash.dashboard import live
from sampledash.dashboard.explore import page
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
