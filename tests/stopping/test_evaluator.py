"""``rank_until_decided`` and ``evaluate`` against full ranking; costs, budget and errors."""

import copy
import io
import pickle
from collections import Counter
from functools import partial

import numpy as np
import pytest

import sampledash as sd


def full_ranking(scores, relevant, k: int) -> tuple[list[int | None], list[int]]:
    """Return each relevant item's rank (None beyond k) and the number of others tied with it."""
    others = [s for i, s in enumerate(scores) if i not in relevant]
    order = sorted(relevant, key=lambda i: -scores[i])
    ranks, ties = {}, {}
    for position, item in enumerate(order, start=1):
        rank = position + sum(s > scores[item] for s in others)
        ranks[item] = rank if rank <= k else None
        ties[item] = sum(s == scores[item] for s in others) if rank <= k else 0
    return [ranks[i] for i in relevant], [ties[i] for i in relevant]


def test_same_ranks_as_full_ranking_on_1000_problems() -> None:
    rng = np.random.default_rng(11)
    for problem in range(1000):
        n = int(rng.integers(2, 40))
        kinds = rng.integers(0, 6, n), rng.normal(size=n).astype(np.float32), rng.random(n).round(1)
        scores = kinds[problem % 3]
        relevant = rng.choice(n, int(rng.integers(1, min(4, n - 1) + 1)), replace=False)
        k, chunk = int(rng.integers(1, 13)), int(rng.integers(1, n + 1))
        labels = np.array([f"item {i}" for i in range(n)]) if problem % 2 else np.arange(n) * 7
        value = dict(zip(labels.tolist(), scores.tolist(), strict=True))
        asked: list[int] = []

        def score(items, value=value, asked=asked, kind=scores.dtype):
            asked.append(len(items))
            return np.array([value[x] for x in items.tolist()], dtype=kind)

        orders = None, np.random.default_rng(int(rng.integers(99))), rng.integers(0, 4, n)
        order = orders[problem % 3]
        ranked = partial(sd.rank_until_decided, score, labels[relevant], labels, k)
        found = ranked(order=copy.deepcopy(order), chunk=chunk)
        ranks, ties = full_ranking(scores.tolist(), relevant.tolist(), k)
        assert (list(found.ranks), list(found.ties)) == (ranks, ties)
        assert asked[0] == len(relevant)
        assert sum(asked[1:]) == found.scored
        # With chunk = 1 the evaluator stops at the deciding candidate, else when its chunk ends.
        least = ranked(order=copy.deepcopy(order), chunk=1).scored
        assert least <= found.scored <= min(least + chunk - 1, n - len(relevant))
        listed = np.arange(n)
        if isinstance(order, np.random.Generator):
            listed = order.permutation(n)
        elif order is not None:
            listed = np.argsort(-order, kind="stable")
        listed = listed[~np.isin(listed, relevant)]
        above = np.cumsum(scores[listed] > scores[relevant].max())
        assert least == (int(np.argmax(above >= k)) + 1 if above[-1] >= k else len(listed))


def test_scores_that_come_by_themselves() -> None:
    """Scores may come from an iterator, which is consumed only as far as needed."""
    chunks = iter([[5.0], [1, 2, 9], np.array([7.0]), [6, 5], [0]])
    assert sd.rank_until_decided(chunks, "i", 8, k=2) == ((None,), (0,), 4)
    assert list(chunks) == [[6, 5], [0]]
    chunks = [[5, 1], [1, 2, 9], [], [7], [5]]
    assert sd.rank_until_decided(chunks, ["i", "j"], 7, k=3) == ((3, None), (1, 0), 5)


@pytest.fixture(scope="module")
def problem():
    rng = np.random.default_rng(2)
    factors = rng.normal(size=(120, 4)).round(1)
    liked = [rng.choice(120, rng.integers(1, 4), replace=False).tolist() for _ in range(40)]
    users = [(f"u{u}", items, np.arange(120)) for u, items in enumerate(liked)]
    number = {user[0]: i for i, user in enumerate(users)}
    systems = {
        "dot": lambda user, items: factors[items] @ factors[number[user]],
        "few": lambda user, items: np.floor(factors[items, 0] * 2 + number[user]),
    }
    return users, systems


@pytest.mark.parametrize("proxy", [None, lambda user, items: -items])
def test_ranks_of_several_relevant_items_and_their_ties(problem, proxy) -> None:
    """Several relevant items tied with irrelevant ones get different ranks within the tie."""
    users, systems = problem
    systems = systems | {"coarse": lambda user, items: items % 7}
    cut, whole = (sd.evaluate(users, systems, k=k, chunk=9, proxy=proxy) for k in (40, 120))
    drawn = 0
    for ranks, all_ranks, score in zip(cut.sets, whole.sets, systems.values(), strict=True):
        for user, items, pool in users:
            scores, here = score(user, pool), all_ranks.instances == user
            blocks = Counter(scores[items].tolist())
            found = sorted(zip(*(x[here].tolist() for x in (all_ranks.ranks, all_ranks.ties)),
                               strict=True))  # fmt: skip
            for value in sorted(blocks, reverse=True):
                size, tied = blocks[value], int(np.sum(scores == value)) - blocks[value]
                first = 1 + int(np.sum(scores > value))
                block, found = found[:size], found[size:]
                places = [rank for rank, _ in block]
                if size > 1 and tied:
                    assert first <= places[0]
                    assert places[-1] < first + size + tied
                    assert len(set(places)) == size
                    drawn += 1
                else:
                    assert places == list(range(first, first + size))
                assert {ties for _, ties in block} == {tied if size == 1 else 0}
            within = all_ranks.ranks[here] <= 40
            assert np.array_equal(~ranks.beyond[ranks.instances == user], within)
            for name in ("ranks", "ties"):
                some = (getattr(x, name)[x.instances == user][within] for x in (ranks, all_ranks))
                assert np.array_equal(*some)
    assert drawn >= 10


def test_what_was_found_goes_into_a_file_and_back_and_is_shown_in_short(problem) -> None:
    users, systems = problem
    run = sd.evaluate(users, systems, k=7, budget=4000)
    again = sd.read_rank_sets(io.BytesIO(run.csv.encode()), name="run.csv")
    assert [x.digest for x in again] == [x.digest for x in run.sets]
    assert again[0].largest_cutoff == 7
    shown = f"{len(run.finished)} of 40 users finished, k = 7, scored: 'dot' {run.scored[0]}, 'few'"
    assert shown in repr(run)
    assert repr(run.sets[0]).endswith("n = 120, ranks beyond 7 unknown)")


def test_relevant_items_that_share_a_block_of_ties_get_places_by_chance() -> None:
    # Two relevant items and one other are tied; the fourth candidate is below them.
    rows = [(u, [0, 1], np.arange(4)) for u in range(900)]
    flat = sd.evaluate(rows, {"flat": lambda user, items: -(items // 3)}, k=2)
    first = flat.sets[0].rows().above[::2]
    hits = sd.mean("Recall@2", flat.sets[0])
    # One of three orders has both items at rank 1 or 2, two have one: mean 2/3, variance 1/18.
    assert abs(hits - 2 / 3) < 4 * np.sqrt(1 / 18 / 900)
    assert set(first.tolist()) == {0, 1}


def test_resumed_it_is_the_same_and_an_error_loses_nothing(problem) -> None:
    users, systems = problem
    whole = sd.evaluate(users, systems, 5, chunk=16, seed=4)
    parts = sd.evaluate(users, systems, 5, budget=1500, chunk=16, seed=4)
    assert 0 < len(parts.finished) < 40
    assert parts.finished == whole.finished[: len(parts.finished)]
    assert sum(parts.scored) <= 1500
    kept = pickle.loads(pickle.dumps(parts))
    more = sd.evaluate(users, systems, 5, budget=4000, chunk=16, seed=4, resume=kept)
    at_once = sd.evaluate(users, systems, 5, budget=4000, chunk=16, seed=4)
    assert [x.digest for x in more.sets] == [x.digest for x in at_once.sets]
    calls = 0

    def breaks(user, items):
        nonlocal calls
        calls += 1
        if calls > 100:
            raise OSError("the service is down")
        return systems["dot"](user, items)

    shaky = sd.Evaluation()
    with pytest.raises(OSError, match="down"):
        sd.evaluate(users, systems | {"dot": breaks}, 5, chunk=16, seed=4, resume=shaky)
    assert 0 < len(shaky.finished) < 40
    done = sd.evaluate(users, systems, 5, chunk=16, seed=4, resume=shaky)
    assert [x.digest for x in done.sets] == [x.digest for x in whole.sets]


def test_what_it_does_not_go_on_with(problem) -> None:
    for changes, told in (
        ({"k": 6}, "k = 5, seed = 4: go on with the same"),
        ({"seed": 5}, "k = 5, seed = 4: go on with the same"),
        ({"systems": {"dot": len}}, "of 40 users by dot, few, k = 5"),
        ({"items": 1}, "go on with the same, or begin anew"),
        ({"pool": 1}, "go on with the same"),
        ({"proxy": lambda user, items: items}, "go on with the same"),
    ):
        users, systems = problem
        part = sd.evaluate(users, systems, 5, budget=1500, seed=4)
        (label, items, pool), *rest = users
        items = [*items, 111][changes.pop("items", 0) :][: len(items)]
        changed = [(label, items, pool[: 120 - changes.pop("pool", 0)]), *rest]
        with pytest.raises(ValueError, match=told):
            sd.evaluate(changed, **({"systems": systems, "k": 5, "seed": 4} | changes), resume=part)


def test_users_are_finished_as_long_as_the_budget_lasts_whatever_the_last_one_would_cost(problem):
    """A user that exceeds the budget is dropped; to add it would favour expensive users."""
    users, systems = problem
    spent = Counter({label: -2 * len(items) for label, items, _ in users})

    def counted(score):
        return lambda user, items: spent.update({user: len(items)}) or score(user, items)

    both = {name: counted(score) for name, score in systems.items()}
    whole = sd.evaluate(users, both, 3, chunk=16, seed=4)
    costs = np.cumsum([spent[label] for label in whole.finished])
    assert costs[-1] == sum(whole.scored)
    for budget in (238, 500, 1001, *costs[[9, 14, 20]], *(costs[[9, 14, 20]] - 1)):
        run = sd.evaluate(users, systems, 3, budget=int(budget), chunk=16, seed=4)
        within = int(np.sum(costs <= budget))
        assert run.finished == whole.finished[:within]
        assert sum(run.scored) == [0, *costs][within]


def test_progress_is_the_share_of_the_users_or_of_the_budget(problem) -> None:
    users, systems = problem
    told, spent = [], []

    def counted(user, items):
        spent.append(len(items))
        return systems["dot"](user, items)

    def progress(share):
        # Each user's relevant items are scored first, outside the budget.
        relevant = sum(len(items) for label, items, _ in users if label in run.finished)
        told.append((share, len(run.finished) / 40, (sum(spent) - relevant) / 2000))

    for budget in (2000, None):
        run = sd.Evaluation()
        sd.evaluate(users, {"dot": counted}, 3, budget=budget, progress=progress, resume=run)
        *before, last = told
        for share, of_users, of_budget in before:
            assert share == pytest.approx(max(of_users, of_budget) if budget else of_users)
        assert (last[0], len(before) > 10) == (1, True)
        assert budget is None or max(x[2] for x in before) > 0.9
        told.clear()
        spent.clear()


def test_256_candidates_are_scored_at_a_time_and_users_come_in_the_order_of_seed_0() -> None:
    asked: list[int] = []

    def score(items):
        asked.append(len(items))
        return -items

    sd.rank_until_decided(score, 299, np.arange(600), 257)
    users = [(user, 599, np.arange(600)) for user in range(5)]
    found = sd.evaluate(users, {"A": lambda user, items: score(items)}, 1)
    assert asked == [1, 256, 256, *[1, 256] * 5]
    assert found.finished == np.random.default_rng(0).permutation(5).tolist()
    assert repr(found) == "Evaluation(5 of 5 users finished, k = 1, scored: 'A' 1280)"
