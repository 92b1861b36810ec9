"""Each error message is one sentence that names the parameter, the value and the remedy."""

import math
import re
from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path

import numpy as np
import pytest

import sampledash as sd
from sampledash import metrics
from sampledash.estimation import estimate
from sampledash.estimation.estimate import METHODS
from sampledash.estimation.rank_distribution import fitted
from sampledash.papers import krichene as tables
from tests import wrong_calls

A, B = sd.RankSet("A", [1, 2, 5], 10), sd.RankSet("B", [2, 3, 4], 10)

#: Calls of the functions that take scheme, odds, ties, weighting and correction.
CALLS: dict[str, Callable[..., object]] = {
    "expected_mean": lambda m=3, **o: sd.expected_mean("AP", A, m, **o),
    "std_of_mean": lambda m=3, **o: sd.std_of_mean("AP", A, m, **o),
    "curve": lambda m=3, **o: sd.curve("AP", [A, B], [1, m], **o),
    "flips": lambda m=3, **o: sd.flips("AP", [A, B], m, **o),
    "right_from": lambda m=3, **o: sd.right_from("AP", [A, B], m, **o),
    "probability_of_order": lambda m=3, **o: sd.probability_of_order("AP", [A, B], m, **o),
    "simulate": lambda m=3, **o: sd.simulate("AP", A, m, 3, np.random.default_rng(0), **o),
    "verdict": lambda m=3, correction=None, **o: sd.verdict(["AP"], [A, B], m, [correction], **o),
}


def decided(
    score: object = lambda items: items, relevant: object = 4, k: int = 2, **more: object
) -> object:
    return sd.rank_until_decided(score, relevant, **{"candidates": ITEMS, "k": k} | more)


def evaluated(users: object, systems: object = None, **more: object) -> object:
    return sd.evaluate(users, {"A": lambda user, x: x} if systems is None else systems, 2, **more)


def json(**changes: object) -> str:
    content = {"metric": "AP", "n": 50, "m": 2, "scheme": WITH, "odds": 1.0, "prior": None}
    content |= {"correction": "BV 0.1", "values": [1, 0.5, 0.2], **changes}
    return str(content).replace("'", '"').replace("None", "null")


def nan_at(place: int) -> Callable[[object], object]:
    return lambda items: np.where(items == place, np.nan, items * 1.0)


ITEMS = np.arange(30)
USER = ("u", 4, ITEMS)
X = {"HR@1": 0.1746, "HR@5": 0.4892, "HR@10": 0.6622, "NDCG@10": 0.3921}
ranks = partial(sd.RankSet, system="S", ranks=[3, 1], n=10)
listed = partial(sd.RankSet, system="S", ranks=[3, 11], n=30, instances=["u", "u"])
sampled = partial(sd.SampledRankSet, system="X", sampled_ranks=[1, 2], n=50, m=10)
law = partial(sd.Sampling, n=10, m=3)
printed = partial(sd.bounds_from_table, "Recall@10", observed=X, n=3541, m=100, decimals=4)


def cell(name: str, value: object) -> object:
    return printed(observed=X | {name: value})


BOTH, AP, AUC, BV = [A, B], sd.parse_metric("AP"), sd.parse_metric("AUC"), sd.correction("BV")
WITH, WITHOUT = "with-replacement", "without-replacement"
POPULARITY, FALLING = "popularity", "non-increasing"
RNG, MANY, FIT = np.random.default_rng(0), 10**12 + 1, BV.fit("AP", sd.Sampling(50, 9))
SEVERAL = sd.RankSet("S", [1, 5], 10, instances=["a", "a"])
HALVES = sd.RankSet("S", [1], 9, counts=[1.5])
KNOWN = sd.RankSet("M", [2, 5], 10, mass_above=[0.3, 0.9])
TIED = sd.RankSet("M", [2, 5], 10, mass_above=[0.3, 0.9], ties=[1, 0])
MIXED = sampled(sampled_ranks=[1, 2, 3, 1, 4, 9], m=[5, 5, 5, 20, 20, 20])
#: Most sampled ranks are in the middle, which no non-increasing rank distribution allows.
MIDDLE = sd.SampledRankSet("A", 1 + np.random.default_rng(8).binomial(100, 0.5, 500), 1000, 100)
# For n = 2, the rounded mean of n, the last 20 sampled ranks would be impossible.
MIXED_UP = sampled(
    sampled_ranks=[1] * 40 + [3] * 40 + [2] * 20, n=[2] * 80 + [3] * 20, m=2, scheme=WITH
)
FLAT = fitted(sd.SampledRankSet("S", [1, 2], 50, 4), "mle")
SAID = sampled(adaptive=True)
# Instance a has two relevant items, and one of them is tied with two irrelevant items.
BLOCKS = [sd.RankSet(x, [1, 4, 2], 9, instances=list("aab"), ties=[0, 2, 0]) for x in "PQ"]

CUT = sd.RankSet("cut", [2, 6, 7], 12, instances=list("aab"), beyond=[False, True, True])
OTHER = sd.RankSet("other", [1, 3, 2], 12, instances=list("aab"))
THREE = [sd.RankSet("A", [1, 2, 3], 9), sd.RankSet("B", [1, 2, 3], 9, instances=list("xyz"))]
PILOT = sd.SampledRankSet("S", [1, 2], 9, 3)

PARTS = (math, wrong_calls, metrics, tables, estimate, sd)
NAMES = {name: getattr(part, name) for part in PARTS for name in dir(part)} | globals()

#: Lines of ``call | beginning of the message | values that replace "?"``. <a/b> makes a call for
#: each of a and b; EVERY calls all functions of CALLS.
TABLE = (Path(__file__).parent / "data" / "refusals.txt").read_text("utf-8")


def rows() -> Iterator[tuple[str, str]]:
    hidden = ".*only known to lie beyond 5, .* k = 5 at most"
    table = TABLE.replace("\n    |", " |").replace("HIDDEN", hidden)
    unread = "system 'M' has mass_above, which .* does not read: draw by .*without_mass"
    table = table.replace("UNREAD", unread)
    table = table.replace("EVERY", f"CALLS['<{'/'.join(CALLS)}>']")
    refused = [name for name in METHODS if name not in ("mle", "monotone-mle")]
    for line in filter(None, table.replace("LIMITED", f"<{'/'.join(refused)}>").splitlines()):
        calls, sentence, *values = re.split(r" \| (?!{)", line)
        for call in expanded(calls):
            for value in values[0].split(" ; ") if values else [""]:
                yield call.replace("?", value), "^" + sentence.replace("?", re.escape(value))


def expanded(text: str) -> Iterator[str]:
    if found := re.search("<(.*?)>", text):
        for each in found[1].split("/"):
            yield from expanded(text.replace(found[0], each, 1))
    else:
        yield text


@pytest.mark.parametrize(("call", "sentence"), list(rows()))
def test_what_is_refused(call: str, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence) as caught:
        eval(call, NAMES)
    assert len(str(caught.value)) < 300


def test_the_table_is_read_whole() -> None:
    # A call would be repeated if its line had a value twice, or several values but no "?".
    every = list(rows())
    assert len(set(every)) == len(every) > 350


@pytest.mark.parametrize("name", CALLS)
def test_unknown_option(name: str) -> None:
    with pytest.raises(TypeError, match="scheem"):
        CALLS[name](scheem="with-replacement")


def test_every_public_name_is_called() -> None:
    assert (
        set(sd.__all__)
        == {name for name in wrong_calls.valid() if name in sd.__all__} | wrong_calls.RESULTS
    )


@pytest.mark.parametrize("name", wrong_calls.valid())
def test_the_calls_that_are_changed_are_valid(name: str) -> None:
    function, arguments = wrong_calls.valid()[name]
    function(**arguments)


def test_a_wrong_argument_is_refused_in_a_sentence_of_ours() -> None:
    # This is a sample; python -m tests.benchmarks --only wrong_arguments makes 3,000 calls.
    calls = islice(wrong_calls.wrong_calls(1), 400)
    quick = [call for call in calls if call.name != "synthetic"]  # synthetic takes seconds
    assert [f"{call}: {found}" for call in quick if (found := call.judged())] == []


def test_whole_numbers_are_scores_and_a_tolerance_that_nothing_exceeds_costs_nothing() -> None:
    found = sd.ranks_from_scores([[3, 1, 2], [5, 5, 9]], [2, 0])
    assert (found.ranks.tolist(), found.ties.tolist()) == ([2, 2], [0, 1])
    assert sd.deciding_cutoff("RR@2", 3, tolerance=1) == 0
    assert sd.proxy_cost("RR@2", [1, 2, 3], [3, 1, 2], 0, tolerance=1) == 0
