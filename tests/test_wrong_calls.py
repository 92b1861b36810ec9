"""Arguments of the wrong type or size: a ValueError or TypeError with a sentence of ours."""

from itertools import islice

import pytest

import sampledash as sd
from tests.wrong_calls import RESULTS, valid, wrong_calls


def test_every_public_name_is_called() -> None:
    assert set(sd.__all__) == {name for name in valid() if name in sd.__all__} | RESULTS


@pytest.mark.parametrize("name", valid())
def test_the_calls_that_are_changed_are_valid(name: str) -> None:
    function, arguments = valid()[name]
    function(**arguments)


def test_a_wrong_argument_is_refused_in_a_sentence_of_ours() -> None:
    # A sample: python -m tests.benchmarks --only wrong_arguments makes 3,000.
    calls = islice(wrong_calls(1), 400)
    quick = [call for call in calls if call.name != "synthetic"]  # seconds each
    assert [f"{call}: {found}" for call in quick if (found := call.judged())] == []


def test_whole_numbers_are_scores_and_a_tolerance_that_nothing_exceeds_costs_nothing() -> None:
    # They were refused as too large for a number without end.
    found = sd.ranks_from_scores([[3, 1, 2], [5, 5, 9]], [2, 0])
    assert (found.ranks.tolist(), found.ties.tolist()) == ([2, 2], [0, 1])
    # RR is at most 1: it is decided before anything is looked at.
    assert sd.deciding_cutoff("RR@2", 3, tolerance=1) == 0
    assert sd.proxy_cost("RR@2", [1, 2, 3], [3, 1, 2], 0, tolerance=1) == 0
