"""Splits beside lists of each user's interactions."""

from functools import partial

import numpy as np

import sampledash as sd
from sampledash.lab.splits import SplitRule
from tests.readers.reading import refused

#: User a takes four items, b two, c one. Times run against the order of the file for a.
TAKES = [0, 0, 1, 0, 2, 1, 0], [0, 1, 1, 2, 3, 0, 3]
DATA = sd.Interactions(["a", "b", "c"], ["p", "q", "r", "s"], *TAKES, time=[9, 8, 1, 7, 2, 3, 7])


def by_lists(data, how, amount, halved=False, seed=0):
    """Which interactions are in training, in validation and in test, each user by itself."""
    rng, every, users = np.random.default_rng(seed), range(data.size), data.user.tolist()
    time = np.arange(data.size) if data.time is None else data.time
    if how == "random":
        time = np.argsort(rng.permutation(data.size))
    order = sorted(every, key=time.__getitem__)
    if how == "latest":
        first = order[: max(data.size - max(round(data.size * amount / 100), 1), 1)]
        held = set(every) - set(first)
        test = sorted(i for i in held if users[i] in {users[i] for i in first})
    else:
        lists = [[i for i in order if users[i] == user] for user in set(users)]
        test = sorted(i for taken in lists if len(taken) > amount for i in taken[-amount:])
        held = set(test)
    chosen = set(rng.permutation(len(test))[: len(test) // 2].tolist()) if halved else ()
    parts = [i in chosen for i in range(len(test))]
    validation, test = ([i for i, x in zip(test, parts, strict=True) if x == y] for y in (1, 0))
    return [i for i in every if i not in held], validation if halved else None, test


def test_parts_are_those_of_each_user_by_itself():
    for text, rule in (
        ("last 1", ("last", 1)),
        ("last 3 seen=kept", ("last", 3)),
        ("random 1 seed=0", ("random", 1)),
        ("random 2 seed=5", ("random", 2, False, 5)),
        ("last 2 halved seed=1", ("last", 2, True, 1)),
        ("random 1 halved seed=0 seen=kept", ("random", 1, True)),
        ("latest 25% seen=kept", ("latest", 25)),
        *((f"latest {share}%", ("latest", share)) for share in (0.1, 10, 40.5, 95)),
    ):
        for seed in range(9):
            rng = np.random.default_rng(seed)
            size = int(rng.integers(26, 50))
            columns = rng.integers(0, 5, size), rng.integers(0, 6, size), rng.integers(1, 6, size)
            time = rng.integers(0, 9, size) if seed % 3 else None
            data = sd.Interactions(range(10, 16), range(6), *columns, time=time)
            result = sd.split(data, text if seed % 2 else sd.parse_split(text))
            parts = result.training, result.validation, result.test
            for part, which in zip(parts, by_lists(data, *rule), strict=True):
                assert part == (None if which is None else data.take(which))
            assert (result.text, result.data) == (text, data.digest)
            assert result.exclude_seen == ("kept" not in text)
        spaced = text.replace(" seed=0", "").replace("%", " %").replace(" ", "  ")
        assert str(sd.parse_split(spaced)) == text


def test_a_rule_that_is_none_is_refused():
    for rule, facts in (
        ("first 1", "split must be one of last 1, random 1 seed=0 … got 'first 1'"),
        ("latest 10% seed=1", "got 'latest 10% seed=1'"),
        ("last 0", "amount must be at least 1, got 0"),
        ("latest 0%", "amount must be above 0 and at most 100, got 0"),
        ("latest 100%", "amount must be below 100 percent, got 100"),
        ("latest 100.5%", "at most 100, got 100.5"),
        ("last 1 seed=2", "seed goes with random and halved, got 2: leave it out"),
        ("last 4", "split 'last 4' holds out … more than 4 interactions, so at most 3 of each"),
        ("latest 60%", "split 'latest 60%' holds out … nobody in it has an earlier interaction"),
        (("latest", 5, True), "halved goes with last and random, not with latest"),
        (("first", 1), "how must be one of last, random, latest; got 'first'"),
        (("last", 1.5), "amount must be a whole number, got 1.5"),
        (("random", 1, False, -1), "seed must be at least 0, got -1"),
    ):
        call = partial(sd.split, DATA, rule) if isinstance(rule, str) else partial(SplitRule, *rule)
        refused(call, facts, ValueError)


def test_one_interaction_a_user_leaves_nothing_to_learn_from():
    data = sd.Interactions(range(3), range(3), [0, 1, 2], [0, 1, 2])
    refused(lambda: sd.split(data, "last 1"), "every user has one interaction only", ValueError)
    assert sd.split(data.take([0, 1, 1]), "last 1").test.size == 1
    assert str(SplitRule("last", 1, exclude_seen=False)) == "last 1 seen=kept"
    assert SplitRule("random", 2) == sd.parse_split("random 2")
