"""Interactions and their splits agree with plain lists, synthetic data with a simple simulation."""

from functools import partial

import numpy as np
import pytest

import sampledash as sd
from sampledash.lab.interactions import numbered
from sampledash.lab.recommenders import OF_THE_PAPERS, parse_recommender
from sampledash.lab.splits import SplitRule
from tests.readers.reading import refused

#: A user-item pair occurs twice, one user and one item never occur, and two times are equal.
GIVEN = {
    "users": ["b", "a", "c"], "items": [7, 5, 6, 9],
    "user": [2, 0, 2, 0, 2], "item": [1, 0, 1, 3, 0],
    "rating": [1.5, -1e9, 2, 0, 1e9], "time": [3, -(2**62), 2, 3, 2],
}  # fmt: skip


@pytest.mark.parametrize("left_out", [{}, {"rating": None}, {"time": None}])
def test_interactions_are_their_columns(left_out):
    data = sd.Interactions(**GIVEN | left_out)
    assert (len(data), data.size, data.n_users, data.n_items) == (5, 5, 3, 4)
    kind = "implicit" if left_out == {"rating": None} else "rated"
    assert repr(data) == f"Interactions(5 {kind}, 3 users, 4 items)"
    dense = np.zeros((3, 4))
    for user, item, rating in zip(GIVEN["user"], GIVEN["item"], GIVEN["rating"], strict=True):
        dense[user, item] += 1 if kind == "implicit" else rating
    assert data.matrix.toarray().tolist() == dense.tolist()
    assert (data.matrix.nnz, data.matrix.dtype) == (4, np.float32)
    time = [0] * 5 if data.time is None else GIVEN["time"]
    assert data.in_time.tolist() == sorted(range(5), key=time.__getitem__)
    columns = {x: GIVEN[x] for x in ("user", "item", "rating", "time") if x not in left_out}
    for which in ([4, 1, 1], [True, False, False, True, False]):
        at = np.arange(5)[which]
        part = {name: np.array(column)[at] for name, column in columns.items()}
        assert data.take(which) == sd.Interactions(**GIVEN | left_out | part)
    for name in columns:
        assert not getattr(data, name).flags.writeable


def test_all_that_is_in_them_tells_interactions_apart():
    changes = [{}, {"users": ["b", "a", "d"]}, {"items": [7, 5, 6, 8]}, {"rating": None}]
    changes += [{"time": None}, {"rating": [1.5, -1e9, 2, 0, 2]}, {"time": [3, 1, 2, 3, 2]}]
    changes += [{"user": [2, 0, 2, 0, 1]}, {"item": [1, 0, 1, 3, 1]}]
    changes += [{"user": [0] * k, "item": [0] * k, "rating": None, "time": None} for k in (2, 3)]
    made = [sd.Interactions(**GIVEN | change) for change in changes]
    assert len({data.digest for data in made}) == len(changes)
    assert len({*made, *(sd.Interactions(**GIVEN | change) for change in changes)}) == len(changes)
    table, code = numbered(np.array(["y", "x", "y", "z", "x"]))
    assert (table.tolist(), code.tolist()) == (["y", "x", "z"], [0, 1, 0, 2, 1])


EACH = "give one value for each of the 5 interactions"


def test_what_are_no_interactions_is_refused():
    for change, facts in (
        ({"users": ["z", "b", "a", "b", "a"]}, "users names 'b' twice: give each label once"),
        ({"items": [1, 2, 3, 3]}, "items names 3 twice"),
        ({"items": [["x"]]}, "items must be a list of labels, got [['x']]"),
        ({"users": []}, "users is empty: give at least one label"),
        ({"user": []}, "user is empty: give at least one interaction"),
        ({"user": [2, 0, 3, 0, 2]}, "user must be at most 2, got 3"),
        ({"item": [1, 0, 4, 0, 2]}, "item must be at most 3, got 4"),
        ({"item": [1, 0, -1, 0, 2]}, "item must be at least 0, got -1"),
        ({"item": [1, 0]}, f"item has shape (2,): {EACH}"),
        ({"rating": []}, f"rating has shape (0,): {EACH}"),
        ({"time": [[1, 2, 3, 4, 5]]}, f"time has shape (1, 5): {EACH}"),
        ({"rating": [1, -2e9, 2, 0, 1]}, "at most 1,000,000,000 in size, got 2e+09: rescale it"),
        ({"time": [3, 1, 2.5, 3, 2]}, "time must be a whole number, got 2.5"),
        ({"which": [True, False]}, "which has shape (2,): give indices, or True or False for"),
        ({"which": [[0, 1]]}, "which has shape (1, 2): give indices"),
        ({"which": [0, -1]}, "which must be at least 0, got -1"),
        ({"which": [5]}, "which must be at most 4, got 5"),
    ):
        which = change.pop("which", [])
        refused(lambda x=change, y=which: sd.Interactions(**GIVEN | x).take(y), facts, ValueError)


@pytest.fixture(scope="module")
def world():
    return sd.synthetic()


def test_the_small_world_is_skewed_as_movielens(world):
    """The top tenth of items, and 1 to 5 stars, have shares of ratings about as in MovieLens 1M."""
    counts = np.sort(np.bincount(world.item, minlength=world.n_items))[::-1]
    assert counts[: len(counts) // 10].sum() / world.size == pytest.approx(0.444, abs=0.04)
    stars = np.bincount(world.rating.astype(int), minlength=6)[1:] / world.size
    np.testing.assert_allclose(stars, [0.056, 0.108, 0.261, 0.349, 0.226], atol=0.06)
    assert world.matrix.nnz == world.size  # no user takes an item twice
    assert world != sd.synthetic(1)


def test_a_user_of_the_small_world_takes_by_popularity_taste_and_series(world):
    """A loop over users, with the random numbers of `synthetic`, gives the same items and stars."""
    rng = np.random.default_rng(0)
    popularity, kinds = rng.normal(scale=1.7, size=1200), rng.normal(size=(1200, 8))
    series, serial = rng.integers(0, 150, 1200), rng.random(1200) < 0.4
    tastes, drifts = rng.normal(size=(2, 1500, 8))
    sizes = [min(10 + int(more), 300) for more in rng.exponential(40, 1500)]
    assert np.bincount(world.user).tolist() == sizes
    some = [*range(0, 1500, 60), int(np.argmax(sizes))]
    rows = {user: [] for user in some}
    for stage in range(6):
        luck = rng.gumbel(size=(1500, 1200))
        many = [size * (stage + 1) // 6 - size * stage // 6 for size in sizes]
        noise = np.split(rng.normal(size=sum(many)), np.cumsum(many))
        for user, taken in rows.items():
            items = [item for item, *_ in taken]
            begun = np.isin(series, series[items]) if items else False
            fit = kinds @ (0.55 * tastes[user] + 0.2 * drifts[user] * stage / 5)
            chance = popularity + fit + 5 * (serial & begun) + luck[user]
            chance[items] = -np.inf
            new = np.argsort(-chance)[: many[user]].tolist()
            for place, (item, extra) in enumerate(zip(new, noise[user], strict=True)):
                stars = min(max(round(2.9 + 0.6 * (fit[item] + extra)), 1), 5)
                taken.append((item, stars, 300 * stage + place))
    for user, taken in rows.items():
        theirs = world.take(world.user == user)
        columns = (theirs.item, theirs.rating, theirs.time)
        assert list(zip(*(x.tolist() for x in columns), strict=True)) == taken
    assert world.users.tolist() == list(range(1, 1501))
    assert world.items.tolist() == list(range(1, 1201))


def test_a_hundred_negatives_mislead_about_two_pairs(world):
    parts = sd.split(world, "last 1")
    sets = {}
    for name, text in OF_THE_PAPERS.items():
        model = sd.finish(parse_recommender(text).train(parts.training))
        sets[name] = sd.finish(sd.rank(model.scores, parts, system=name))
    exact = {name: sd.mean("Recall@10", ranks) for name, ranks in sets.items()}
    sampled = {name: sd.expected_mean("Recall@10", ranks, 100) for name, ranks in sets.items()}
    assert min(exact["Y"], exact["Z"]) > exact["X"]
    assert max(sampled["Y"], sampled["Z"]) < sampled["X"]


#: User a takes four items, b two, c one. Later interactions of user a have earlier or equal times.
TAKES = [0, 0, 1, 0, 2, 1, 0], [0, 1, 1, 2, 3, 0, 3]
DATA = sd.Interactions(["a", "b", "c"], ["p", "q", "r", "s"], *TAKES, time=[9, 8, 1, 7, 2, 3, 7])


def by_lists(data, how, amount, halved=False, seed=0):
    """Return the indices of the interactions in training, validation and test, by plain lists."""
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
        ("last 4", "split 'last 4' holds out … no user, with 4 interactions at most"),
        ("latest 60%", "split 'latest 60%' holds out nothing that can be tested: no user, with"),
        (("latest", 5, True), "halved goes with last and random, not with latest"),
        (("first", 1), "how must be one of last, random, latest; got 'first'"),
        (("last", 1.5), "amount must be a whole number, got 1.5"),
        (("random", 1, False, -1), "seed must be at least 0, got -1"),
    ):
        call = partial(sd.split, DATA, rule) if isinstance(rule, str) else partial(SplitRule, *rule)
        refused(call, facts, ValueError)


def test_one_interaction_a_user_leaves_nothing_to_learn_from():
    data = sd.Interactions(range(3), range(3), [0, 1, 2], [0, 1, 2])
    refused(lambda: sd.split(data, "last 1"), "no user, with 1 interactions at most", ValueError)
    assert sd.split(data.take([0, 1, 1]), "last 1").test.size == 1
    assert str(SplitRule("last", 1, exclude_seen=False)) == "last 1 seen=kept"
    assert SplitRule("random", 2) == sd.parse_split("random 2")
