"""Draws, ladders and links without a browser."""

import numpy as np
import pytest

from sampledash import Sampling
from sampledash.analyses import choices
from sampledash.analyses.explore import result as draws
from sampledash.dashboard import sliders, state


@pytest.mark.parametrize("scheme", ["with-replacement", "without-replacement", "popularity"])
@pytest.mark.parametrize(("rank", "seen"), [(500, 6), (1, 1), (1000, 100)])
def test_the_negatives_of_a_draw_give_its_sampled_rank_and_more_keep_the_earlier(
    scheme, rank, seen
):
    sampling = Sampling(1000, 99, scheme, 2.0 if scheme == "popularity" else 1.0)
    few, many = (draws.sampled_ranks(sampling, rank, 7, size) for size in (10, 200))
    np.testing.assert_array_equal(few, many[:10])
    found = draws.negatives(sampling, rank, seen, 1, 3)
    assert len(found) == 99
    assert 1 <= found.min() <= found.max() <= 1000
    assert rank not in found
    assert np.sum(found < rank) == seen - 1
    if scheme == "without-replacement":
        assert len(np.unique(found)) == 99


def test_ladders_hold_the_promised_steps_and_no_end_of_a_slider_is_an_error():
    for key in ("n", "m"):
        assert {50, 100, 200, 1000} <= set(choices.LADDERS[key])
    assert 99 in choices.LADDERS["m"]
    gamma = choices.LADDERS["gamma"]
    assert gamma[0] == 1
    assert gamma[-2:] == (1e-6, 0)
    assert list(gamma) == sorted(gamma, reverse=True)
    assert sliders.steps_up_to("m", 998)[-3:] == [200, 500, 998]
    assert sliders.steps_up_to("m", 10**6)[-1] == 10_000
    assert sliders.steps_up_to("n", float("inf"))[0] == 10
    assert sliders.steps_up_to("rank", 150) == [1, 2, 3, 5, 10, 20, 50, 100, 150]
    assert sliders.steps_up_to("m", 1) == [1]


def test_a_change_of_a_key_that_another_page_brought_can_be_undone_and_is_written_once(monkeypatch):
    kept = {"n": 10}
    monkeypatch.setattr(state.st, "session_state", kept)
    state.remember(["n"])
    kept["k"] = 5  # seen for the first time: no change
    state.remember(["n", "k"])
    assert not state.can_undo()
    kept["k"] = 7
    state.remember(["n", "k"])
    assert state.can_undo()
    state.undo()
    assert (kept["n"], kept["k"]) == (10, 5)
    # Every write gives the browser the address as the run began with it: one change behind.
    written = []

    class Address(dict):
        def __setitem__(self, key, value):
            written.append((key, value))
            super().__setitem__(key, value)

    monkeypatch.setattr(state.st, "query_params", Address(metric="AP"))
    for typed in ("A: 1, 2", "A: 1, 2", "A: 1, 3", "", ""):
        state.put_in_address("sampled", typed)
    assert written == [("sampled", "A: 1, 2"), ("sampled", "A: 1, 3")]
    assert state.st.query_params == {"metric": "AP"}
