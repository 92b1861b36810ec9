"""Splits by hand, and what holds for all of them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sampledash as sd
from tests.readers.reading import refused

#: User a takes four items, b two, c one. Times run against the order of the file for a.
TAKES = [0, 0, 1, 0, 2, 1, 0], [0, 1, 1, 2, 3, 0, 3]
DATA = sd.Interactions(["a", "b", "c"], ["p", "q", "r", "s"], *TAKES, time=[9, 8, 1, 7, 2, 3, 7])


def pairs(part):
    labels = part.users[part.user].astype(str), part.items[part.item].astype(str)
    return list(zip(*(x.tolist() for x in labels), strict=True))


def test_the_last_in_time_is_held_out_and_equal_times_keep_the_order_of_the_file():
    found = sd.split(DATA, "last 1")
    assert pairs(found.test) == [("a", "p"), ("b", "p")]
    assert pairs(sd.split(DATA, "last 3").test) == [("a", "p"), ("a", "q"), ("a", "s")]
    untimed = sd.Interactions(DATA.users, DATA.items, DATA.user, DATA.item)
    assert pairs(sd.split(untimed, "last 1").test) == [("b", "p"), ("a", "s")]
    assert found.exclude_seen
    assert not sd.split(DATA, "last 1 seen=kept").exclude_seen


def test_the_latest_share_tests_whom_something_is_known_of():
    found = sd.split(DATA, "latest 40%")  # 3 of 7: times 7 (the second of them) to 9
    assert pairs(found.training) == [("b", "q"), ("a", "r"), ("c", "s"), ("b", "p")]
    assert pairs(found.test) == [("a", "p"), ("a", "q"), ("a", "s")]
    refused(lambda: sd.split(DATA, "latest 60%"), "nobody", ValueError)
    # Of the last user nothing is known: that user is not tested.
    late = sd.Interactions(["a", "b"], ["p", "q"], [0, 0, 1], [0, 1, 0], time=[1, 2, 2])
    assert pairs(sd.split(late, "latest 67%").test) == [("a", "q")]


PAIRS = st.tuples(st.integers(0, 4), st.integers(0, 5))


@given(
    st.lists(PAIRS, min_size=12, max_size=40, unique=True),
    st.sampled_from(["last 1", "random 2 seed=5", "last 3 halved seed=1", "random 1 halved"]),
)
def test_nothing_is_lost_and_of_each_user_so_many_are_held_out(taken, rule):
    user, item = np.array(taken).T
    data = sd.Interactions(range(5), range(6), user, item)
    amount = sd.parse_split(rule).amount
    found = sd.split(data, rule)
    parts = [part for part in (found.training, found.validation, found.test) if part is not None]
    assert sorted(pair for part in parts for pair in pairs(part)) == sorted(pairs(data))
    before = np.bincount(data.user, minlength=5)
    left = np.bincount(found.training.user, minlength=5)
    np.testing.assert_array_equal(before - left, np.where(before > amount, amount, 0))
    if found.validation is not None:
        assert 0 <= found.test.size - found.validation.size <= 1
    again = sd.split(data, found.text)
    assert again.test == found.test
    assert again.text == found.text


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("last 1", "last 1"),
        ("random 1", "random 1 seed=0"),
        ("last  5 halved seed=7 seen=kept", "last 5 halved seed=7 seen=kept"),
        ("latest 2.5 % seen=kept", "latest 2.5% seen=kept"),
    ],
)
def test_a_rule_is_its_text(text, said):
    rule = sd.parse_split(text)
    assert str(rule) == said
    assert sd.parse_split(said) == rule


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("first 1", "'first 1'"),
        ("last 0", "at least 1, got 0"),
        ("latest 100%", "below 100"),
        ("last 1 seed=2", "seed … 2"),
        ("last 4", "more than 4 interactions … at most 3"),
    ],
)
def test_a_rule_that_is_none_is_refused(text, facts):
    refused(lambda: sd.split(DATA, text), facts, ValueError)


def test_one_interaction_a_user_leaves_nothing_to_learn_from():
    data = sd.Interactions(range(3), range(3), [0, 1, 2], [0, 1, 2])
    refused(lambda: sd.split(data, "last 1"), "every user has one interaction only", ValueError)
