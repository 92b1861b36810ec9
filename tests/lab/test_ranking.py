"""Full ranking against ``scipy.stats.rankdata`` over each user's candidates, one user at a time."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.stats import rankdata

import sampledash as sd
from sampledash.lab import ranking
from tests.readers.reading import refused


def by_rankdata(scores, relevant, seen):
    """Best rank, worst rank and candidates of every relevant item, user by user."""
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
    """Scores of few values, so that many are tied, and what is relevant and seen, overlapping."""
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
    user, item = np.nonzero(pattern(relevant, scores.shape))  # the order of the rows
    assert got.instances.tolist() == (user + 1).tolist()
    blocks = [(u, expected[u, i][0]) for u, i in zip(user, item, strict=True)]
    for row, (u, i) in enumerate(zip(user, item, strict=True)):
        low, high, n = expected[u, i]
        assert got.n[row] == n
        if blocks.count((u, low)) == 1:
            assert (got.ranks[row], got.ties[row]) == (low, high - low)
        else:  # tied with another relevant item: each has a place of its own in the block
            assert low <= got.ranks[row] <= high
            assert got.ties[row] == 0


@given(worlds())
def test_forms_of_one_thing_give_the_same(world):
    scores, relevant, seen = world
    whole = sd.ranks_from_scores(scores, relevant, seen)
    wanted, known = (pattern(rows, scores.shape) for rows in (relevant, seen))
    assert same(whole, sd.ranks_from_scores(csr_array(scores), csr_array(wanted), known))
    assert same(whole, sd.ranks_from_scores(lambda a, b: scores[a:b], wanted, csr_array(known)))
    masked = np.where(known & ~wanted, -np.inf, scores)  # as frameworks do
    assert same(whole, sd.ranks_from_scores(masked, relevant))
    assert same(whole, sd.ranks_from_scores(masked, relevant, seen))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ranking, "_users_at_once", lambda n_items: 2)
        patch.setattr(ranking, "_COMPARED", 1)
        assert same(whole, sd.ranks_from_scores(lambda a, b: scores[a:b], relevant, seen))


def test_ranks_of_a_split():
    """Three users and four items by hand: what is learned from is left out, or kept in."""
    takes = [0, 0, 0, 1, 1, 2], [0, 1, 2, 3, 0, 1], [5, 4, 3, 2, 5, 1]
    data = sd.Interactions(["a", "b", "c"], [10, 11, 12, 13], *takes)
    scores = np.array([[4, 3, 2, 2], [1, 5, 1, 7], [0, 0, 0, 0]], np.float32)

    def ranked(rule, **options):
        steps = sd.rank(lambda a, b: scores[a:b], sd.split(data, rule), system="R", **options)
        return sd.finish(steps)

    found = ranked("last 1", recommender="none", seed=3)
    assert found.instances.tolist() == ["a", "b"]  # c has one interaction, which is learned from
    assert found.ranks.tolist() == [1, 2]
    assert found.ties.tolist() == [1, 1]
    assert found.n.tolist() == [2, 3]
    assert found.provenance == (
        f"data: {data.digest[:16]}; split: last 1; recommender: none; seed: 3"
    )
    kept = ranked("last 1 seen=kept")
    assert kept.ranks.tolist() == [3, 3]
    assert kept.n.tolist() == [4, 4]
    assert ranked("last 1", least_rating=5).instances.tolist() == ["b"]
    refused(lambda: ranked("last 1", least_rating=6), "rated 6 or more", ValueError)
    refused(lambda: ranked("last 1", part="validation"), "halved", ValueError)
    # Who took all but what is held out, or that too, has nothing to rank it among.
    for times in (0, 1, 2, 3), (0, 1, 2, 3, 3):
        user = [*[0] * len(times), 1, 1]
        data = sd.Interactions(["a", "b"], [10, 11, 12, 13], user, [*times, 0, 1])
        refused(lambda: ranked("last 1"), "'a' took every other item … seen=kept", ValueError)
        assert ranked("last 1 seen=kept").n.tolist() == [4, 4]


@pytest.mark.parametrize(
    ("scores", "relevant", "facts"),
    [
        ([[1.0, np.nan, 2.0]], [0], "user 0 … NaN for item 1"),
        ([[1.0, -np.inf]], [1], "−inf for the relevant item 1"),
        ([1.0, 2.0], [0], "(2,)"),
        ([[1.0, 2.0]], [2], "relevant must be at most 1, got 2"),
        ([[1.0, 2.0]], [0, 1], "2 users"),
        ([["a", "b"]], [0], "scores must be numbers"),
        ([[1.0, 2.0]], [[]], "at least one"),
        (lambda a, b: np.ones((1, 3 + a)), [0] * 1000, "(1, 3)"),
    ],
)
def test_what_cannot_be_ranked_is_refused(scores, relevant, facts):
    refused(lambda: sd.ranks_from_scores(scores, relevant), facts, ValueError)


def test_users_without_relevant_items_are_passed_over_block_by_block(monkeypatch) -> None:
    monkeypatch.setattr(ranking, "_users_at_once", lambda n_items: 1)
    scores = np.array([[0.9, 0.5, 0.1], [0.3, 0.2, 0.1], [0.2, 0.8, 0.4]])
    relevant = csr_array(np.array([[0, 1, 0], [0, 0, 0], [1, 0, 0]]))
    ranks = sd.ranks_from_scores(lambda start, stop: scores[start:stop], relevant)
    assert ranks.ranks.tolist() == [2, 3]
