"""Arguments of the wrong type or size: a ValueError or TypeError with a sentence of ours."""

from itertools import islice

import numpy as np
import pandas as pd
import pytest

import sampledash as sd
from tests.wrong_calls import DATA, FIT, RESULTS, SPLIT, valid, wrong_calls


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


def json(**changes: object) -> str:
    content = {
        "metric": "AP", "n": 50, "m": 2, "scheme": "with-replacement", "odds": 1.0,
        "correction": "BV 0.1", "prior": None, "values": [1, 0.5, 0.2],
    }  # fmt: skip
    return str(content | changes).replace("'", '"').replace("None", "null")


CALLS = {
    "values is an object": (lambda: sd.read_vector_json(json(values={"a": 1})), "values must hold"),
    "values is huge": (lambda: sd.read_vector_json(json(values=[10**400, 1, 1])), "values must"),
    "n is huge": (lambda: sd.read_vector_json(json(n=10**400)), "n is too large"),
    "no object": (lambda: sd.read_vector_json("[1]"), "not a vector written by vector_json"),
    "deep nesting": (lambda: sd.read_vector_json("[" * 10**5), "not a vector written by"),
    "no fit": (lambda: sd.vector_json(1), "fit must be a Fit, got 1"),
    "no rank set": (lambda: sd.matching_cutoff(1, 1, 10), "ranks must be a RankSet, got 1"),
    "no rule": (lambda: sd.split(DATA, 50), "split must be one of last 1, .*got 50"),
    "nothing to split": (lambda: sd.split(50, "last 1"), "interactions must be a Interactions"),
    "no split": (
        lambda: sd.finish(sd.rank(FIT, 1, system="A")),
        "split must be a Split, got 1: make one with sampledash.split",
    ),
    "no part": (
        lambda: sd.finish(sd.rank(FIT, SPLIT, system="A", part="training")),
        "part must be one of test, validation",
    ),
    "no labels": (lambda: sd.Interactions(5, [1], [0], [0]), "users must be a list of labels"),
    "beyond": (lambda: DATA.take([0, 6]), "which must be at most 5, got 6"),
    "no scores": (lambda: sd.ranks_from_scores("Recall@10", [[0]]), r"scores has shape \(\)"),
    "nothing relevant": (lambda: sd.ranks_from_scores([[1, 2]], 5), "relevant must be a list"),
    "a table for a name": (
        lambda: sd.RankSet(pd.DataFrame({"a": [1]}), [1], 9),
        "system must be text, got",
    ),
    "an array for a metric": (lambda: sd.correction("LS").fit(np.eye(2), 1), "metric must be text"),
    "an array for a scheme": (
        lambda: sd.Sampling(9, 3, np.array(["popularity", "a"])),
        "scheme must be one of",
    ),
    "an array for a tie": (
        lambda: sd.mean("AP", sd.RankSet("A", [1], 9), ties=np.arange(3)),
        "ties must be one of",
    ),
    "a table for a number": (
        lambda: sd.mean_of_sample("AP", sd.RankSet("A", [1], 9), pd.DataFrame({"a": [1]})),
        "instances must be a number",
    ),
    "an endless list": (lambda: sd.parse_metric("x" * 10**5), "unknown metric 'xxx"),
}  # fmt: skip


@pytest.mark.parametrize("name", CALLS)
def test_what_was_a_fault_of_another_kind(name: str) -> None:
    call, sentence = CALLS[name]
    with pytest.raises(ValueError, match=sentence) as caught:
        call()
    assert len(str(caught.value)) < 300


def test_whole_numbers_are_scores_too() -> None:
    # They were refused as too large for a number without end.
    found = sd.ranks_from_scores([[3, 1, 2], [5, 5, 9]], [2, 0])
    assert (found.ranks.tolist(), found.ties.tolist()) == ([2, 2], [0, 1])


def test_a_tolerance_that_nothing_exceeds_costs_nothing() -> None:
    # RR is at most 1: it is decided before anything is looked at.
    assert sd.deciding_cutoff("RR@2", 3, tolerance=1) == 0
    assert sd.proxy_cost("RR@2", [1, 2, 3], [3, 1, 2], 0, tolerance=1) == 0
