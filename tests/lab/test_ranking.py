"""Ranks from scores agree with ``scipy.stats.rankdata`` over each user's candidates."""

import io
import re
from functools import partial
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import rankdata

import sampledash as sd
from sampledash.lab import marks, ranking
from sampledash.readers.files import bundled
from tests.readers.reading import buffer, refused


def by_rankdata(scores, relevant, seen):
    """Return {(user, relevant item): (best rank, worst rank, number of candidates)}."""
    found = {}
    for user, (row, wanted) in enumerate(zip(scores, relevant, strict=True)):
        candidates = [i for i in range(len(row)) if i in wanted or i not in seen[user]]
        low, high = (rankdata(-row[candidates], method=how) for how in ("min", "max"))
        for item in wanted:
            at = candidates.index(item)
            found[user, item] = int(low[at]), int(high[at]), len(candidates)
    return found


@st.composite
def worlds(draw):
    """Draw scores with many ties, and lists of relevant and seen items that may overlap."""
    users, items = draw(st.integers(1, 6)), draw(st.integers(8, 12))
    rng = np.random.default_rng(draw(st.integers(0, 10**6)))
    scores = rng.integers(0, draw(st.sampled_from([2, 4, 100])), (users, items)) / 2
    most = draw(st.sampled_from([1, 3]))
    relevant = [rng.permutation(items)[: rng.integers(0, most + 1)].tolist() for _ in range(users)]
    relevant[0] = relevant[0] or [0]
    seen = [rng.permutation(items)[: rng.integers(0, 4)].tolist() for _ in range(users)]
    return scores, relevant, seen


def pattern(rows, shape):
    dense = np.zeros(shape, dtype=bool)
    for user, items in enumerate(rows):
        dense[user, items] = True
    return dense


def same(one, other):
    return one.digest == other.digest


@given(worlds())
def test_ranks_are_those_of_rankdata(world):
    scores, relevant, seen = world
    expected = by_rankdata(scores, relevant, seen)
    got = sd.ranks_from_scores(scores, relevant, seen)
    user, item = np.nonzero(pattern(relevant, scores.shape))  # in the order of the result
    assert got.instances.tolist() == (user + 1).tolist()
    blocks = [(u, expected[u, i][0]) for u, i in zip(user, item, strict=True)]
    for row, (u, i) in enumerate(zip(user, item, strict=True)):
        low, high, n = expected[u, i]
        assert got.n[row] == n
        if blocks.count((u, low)) == 1:
            assert (got.ranks[row], got.ties[row]) == (low, high - low)
        else:  # relevant items that are tied with each other get untied ranks in low..high
            assert low <= got.ranks[row] <= high
            assert got.ties[row] == 0


@given(worlds())
def test_classes_are_counts_by_weight(world):
    scores, relevant, seen = world
    relevant = [(row or [0])[0] for row in relevant]
    scores[np.random.default_rng(len(seen)).random(scores.shape) < 0.1] = -np.inf
    scores[np.arange(len(seen)), relevant] = 1
    weights = np.arange(scores.shape[1]) % 4
    for given_seen in (seen, None):
        ranks = sd.ranks_from_scores(scores, relevant, given_seen, weights=weights)
        for user, (row, item) in enumerate(zip(scores, relevant, strict=True)):
            others = set(np.flatnonzero(row > -np.inf)) - {item, *(given_seen or {user: ()})[user]}
            for *numbers, weight in ranks.classes[user].T:
                mine = [row[i] for i in others if np.isclose(weights[i], weight)]
                assert numbers == [sum(x > 1 for x in mine), mine.count(1), len(mine)]
        plain = sd.ranks_from_scores(scores, relevant, given_seen)
        assert same(ranks.without_classes, plain)


def test_means_from_scores_are_those_of_all_successive_draws():
    rng, m = np.random.default_rng(5), 3
    scores, relevant = rng.integers(0, 3, (6, 8)) / 1.0, rng.integers(0, 8, 6)
    weights = np.array([5, 1, 1, 2, 9, 2, 0.5, 5])
    ranks = sd.ranks_from_scores(scores, relevant, weights=weights)
    total = 0.0
    for row, item in zip(scores, relevant, strict=True):
        others = [i for i in range(8) if i != item]
        for draw in permutations(others, m):
            left, chance = weights[others].sum(), 1.0
            for i in draw:
                chance, left = chance * weights[i] / left, left - weights[i]
            drawn = row[[*draw]].tolist()
            above, tied = sum(x > row[item] for x in drawn), drawn.count(row[item])
            total += chance * np.mean([1 / (1 + above + t) for t in range(tied + 1)]) / 6
    mean = sd.expected_mean("RR", ranks, m, scheme="popularity-without-replacement")
    assert mean == pytest.approx(total, abs=1e-12)


@given(worlds())
def test_forms_of_one_thing_give_the_same(world):
    scores, relevant, seen = world
    whole = sd.ranks_from_scores(scores, relevant, seen)
    wanted, known = (pattern(rows, scores.shape) for rows in (relevant, seen))
    assert same(whole, sd.ranks_from_scores(csr_array(scores), csr_array(wanted), known))
    assert same(whole, sd.ranks_from_scores(lambda a, b: scores[a:b], wanted, csr_array(known)))
    masked = np.where(known & ~wanted, -np.inf, scores)  # as frameworks mask seen items
    assert same(whole, sd.ranks_from_scores(masked, relevant))
    assert same(whole, sd.ranks_from_scores(masked, relevant, seen))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "_users_at_once", lambda n_items: 1)
        patch.setattr(marks, "_COMPARED", 1)
        assert same(whole, sd.ranks_from_scores(lambda a, b: scores[a:b], relevant, seen))


def test_ranks_of_a_split(monkeypatch):
    takes = [0, 0, 0, 1, 1, 2], [0, 1, 2, 3, 0, 1], [5, 4, 3, 2, 5, 1]
    data = sd.Interactions(["a", "b", "c"], [10, 11, 12, 13], *takes)
    scores = np.array([[4, 3, 2, 2], [1, 5, 1, 7], [0, 0, 0, 0]], np.float32)

    def ranked(rule, **options):
        steps = sd.rank(lambda a, b: scores[a:b], sd.split(data, rule), system="R", **options)
        return sd.finish(steps)

    def columns(ranks):
        return [x.tolist() for x in (ranks.instances, ranks.ranks, ranks.ties, ranks.n)]

    begin = f"data: {data.digest[:16]}; split: last 1"
    ranks = ranked("last 1", recommender="none", seed=3)  # user c has no test item
    assert columns(ranks) == [["a", "b"], [1, 2], [1, 1], [2, 3]]
    assert ranks.provenance == f"{begin}; recommender: none; seed: 3"
    with_seen = ranked("last 1 seen=kept")
    assert columns(with_seen) == [["a", "b"], [3, 3], [1, 1], [4, 4]]
    assert with_seen.provenance == f"{begin} seen=kept"
    high = ranked("last 1", least_rating=5, seed=0)
    assert columns(high) == [["b"], [2], [1], [3]]
    assert high.provenance == f"{begin}; relevant: rated 5 or more; seed: 0"
    counts = np.bincount(sd.split(data, "last 1").training.item, minlength=4)
    assert same(ranked("last 1", weights="popularity^0.5"), ranked("last 1", weights=counts**0.5))
    halves = [ranked("last 1 halved", part=part) for part in ("validation", "test")]
    assert sorted(columns(half)[0] for half in halves) == [["a"], ["b"]]
    assert halves[0].provenance == f"{begin} halved seed=0, validation"
    for options, facts in (
        ({"least_rating": 6}, "no held-out interaction is rated 6 or more: lower it"),
        ({"part": "validation"}, "split 'last 1' has no validation part: add halved"),
        ({"seed": -1}, "seed must be at least 0, got -1"),
        ({"least_rating": np.inf}, "least_rating must be"),
        ({"weights": "pop"}, 'weights must be "popularity", "popularity^0.75" or the weight'),
        (
            {"weights": "popularity^-1"},
            "power of popularity must be at least 0 and at most 10, got",
        ),
        ({"weights": "popularity^"}, "power of popularity must be a number, got ''"),
    ):
        refused(lambda options=options: ranked("last 1", **options), facts, ValueError)
    implicit = sd.split(sd.Interactions(data.users, data.items, data.user, data.item), "last 1")
    rated = sd.rank(lambda a, b: scores[a:b], implicit, system="R", least_rating=1)
    refused(lambda: sd.finish(rated), "least_rating needs ratings", ValueError)
    monkeypatch.setattr(ranking, "_users_at_once", lambda n_items: 1)
    # With one user per block, there is no step for users without test items.
    for rule, ends in (("last 1", [1, 2]), ("latest 30%", [2])):
        steps = list(sd.rank(lambda a, b: scores[a:b], sd.split(data, rule), system="R"))
        assert [step.share for step in steps] == [end / 3 for end in ends]
    # User b took all items, the last one once or twice, so the test item is the only candidate.
    for times in (0, 1, 2, 3), (0, 1, 2, 3, 3):
        user = [0, 0, *[1] * len(times)]
        data = sd.Interactions(["a", "b"], [10, 11, 12, 13], user, [0, 1, *times])
        refused(lambda: ranked("last 1"), "'b' took every other item … seen=kept", ValueError)
        assert ranked("last 1 seen=kept").n.tolist() == [4, 4]


PAIR = [[1.0, 2.0], [4.0, 3.0]]
SPARSE = csr_array(np.eye(2, 3))


def test_what_cannot_be_ranked_is_refused(monkeypatch):
    for scores, relevant, more, facts in (
        ([[1, 2, 0], [1, 3.0, np.nan]], [0, 1], {}, "user 1 hold NaN for item 2: a rank needs"),
        ([[1, 2], [1, -np.inf]], [0, 1], {}, "user 1 hold −inf for the relevant item 1, which"),
        ([1.0, 2.0], [0], {}, "scores has shape (2,), but relevant is given for 1 users"),
        (PAIR, [0], {}, "scores has shape (2, 2), but relevant is given for 1 users"),
        (PAIR, [2, 0], {}, "relevant must be at most 1, got 2"),
        (PAIR, [[0], [-1]], {}, "relevant must be at least 0, got -1"),
        (PAIR, [[0], [0.5]], {}, "relevant must be a whole number, got 0.5"),
        (PAIR, [[0], 1], {}, "relevant must hold an item, or a list of items, of each user"),
        (PAIR, [[[0, 1]], [[1, 0]]], {}, "relevant has shape (2, 2): give whole numbers, columns"),
        (PAIR, np.eye(2), {}, "relevant as an array users × items must hold true and false"),
        (PAIR, SPARSE, {}, "relevant has shape (2, 3), the scores have (2, 2)"),
        (PAIR, [0, 1], {"seen": [[0]]}, "seen has 1 rows for 2 users: give as many"),
        (PAIR, [0, 1], {"seen": SPARSE}, "seen has shape (2, 3), the scores have (2, 2)"),
        (PAIR, [0, 1], {"seen": [[2], [0]]}, "seen must be at most 1, got 2"),
        (PAIR, [0, 1], {"instances": "abc"}, "instances has shape (): give one label for each"),
        (PAIR, [0, 1], {"instances": [7]}, "give one label for each of the 2 users"),
        ([["a", "b"]], [0], {}, "scores must be numbers, got the type"),
        (PAIR, [0, 1], {"weights": [1]}, "weights has shape (1,): give a weight for each of the 2"),
        (PAIR, [0, 1], {"weights": [1, -1]}, "weights hold -1 for item 1: give each item"),
        (PAIR, [0, 1], {"weights": [0, 0]}, "weights are all 0: give each item a weight of at"),
        (PAIR, [0, 1], {"weights": [1e-99, 1e99]}, "1e-99 and 1e+99 are too far apart: give"),
        (PAIR, [[0, 1]] * 2, {"weights": [1, 1]}, "one relevant item for each user, and user"),
        (PAIR, [[], []], {}, "relevant names no item: give at least one"),
        (lambda a, b: np.ones((1, 3)), [0] * 3, {}, "from 0 on have shape (1, 3): give 2 × 3"),
        (lambda a, b: np.ones((1 if a else b, 3)), [0] * 4, {}, "from 2 on have shape (1, 3)"),
        (lambda a, b: np.ones(3), [0], {}, "from 0 on have shape (3,): give users × items"),
    ):
        many, call = 2 if callable(scores) else 1, partial(sd.ranks_from_scores, scores, relevant)
        monkeypatch.setattr(ranking, "_users_at_once", lambda n_items, many=many: many)
        refused(partial(call, **more), facts, ValueError)


def test_stored_zeros_are_not_relevant_and_repeats_count_once():
    stored = csr_array(([0, 1, 1], ([0, 0, 1], [0, 1, 1])), shape=(2, 2))
    ranks = sd.ranks_from_scores(PAIR, stored)
    assert (ranks.ranks.tolist(), ranks.instances.tolist()) == ([1, 2], [1, 2])
    assert same(ranks, sd.ranks_from_scores(PAIR, [[1, 1], [1]]))
    whole = sd.ranks_from_scores(np.array(PAIR, int), [[1], []], instances=["x", "y"], system="S")
    assert (whole.instances.tolist(), whole.system) == (["x"], "S")
    assert ranks.system == "scores"


def test_a_block_of_scores_is_4_mib_or_16_users_up_to_64_mib():
    sizes = {1: 2**20, 3706: 282, 2**16: 16, 10**6: 16, 2**21: 8, 3 * 10**6: 5, 2**25: 1}
    assert {items: ranking._users_at_once(items) for items in sizes} == sizes


def test_the_lines_to_copy_write_the_ranks_of_the_same_scores():
    page = (bundled() / "templates" / "from_frameworks.md").read_text("utf-8")
    first, *others = re.findall(r"```python\n(.*?)```", page, re.S)
    space = {}
    exec(first, space)
    for lines in others:
        compile(lines, "page", "exec")
    rng = np.random.default_rng(0)
    scores = rng.integers(0, 5, (50, 20)).astype(float)
    test = rng.integers(0, 20, 50)
    seen = [rng.permutation(20)[: rng.integers(0, 6)] for _ in test]
    scores[3, (test[3] + 1) % 20] = -np.inf
    file, users = io.StringIO(), list(range(50))
    for header, system in ((True, "A"), (False, "B")):
        given = file, system, users, scores.__getitem__, test, seen
        space["write_ranks"](*given, header=header, block=7)
    expected = sd.ranks_from_scores(scores, test, seen, system="A", instances=users)
    found = sd.read_rank_sets(buffer(file.getvalue(), "ranks.csv"))
    assert found[0] == expected
    assert [x.system for x in found] == ["A", "B"]
