"""Rank the relevant items of an evaluation exactly, scoring no more candidates than needed.

For each user, the relevant items are scored first, then the other candidates in chunks. Scoring
stops when k candidates (k is the cutoff) have a higher score than the best relevant item, or when
no candidate is left. :mod:`sampledash.stopping` explains why metrics stay exact, and how many
candidates are scored.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from contextlib import suppress
from csv import writer
from dataclasses import dataclass, field
from functools import partial
from hashlib import sha256
from io import StringIO
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sampledash import checks
from sampledash.rank_sets import RankSet, draw_shared_ties
from sampledash.types import Ints, Progress

Labels = NDArray[Any]


class Decided(NamedTuple):
    """Result of :func:`rank_until_decided`: the ranks of one instance's relevant items, up to k.

    Attributes
    ----------
    ranks
        Rank of each relevant item, in the order in which the items were given. Irrelevant
        candidates tied with an item count as below it. The rank is None if it is beyond k.
    ties
        Number of irrelevant candidates tied with each relevant item, 0 if its rank is beyond k.
    scored
        Number of irrelevant candidates that were scored. Relevant items are not counted.
    """

    ranks: tuple[int | None, ...]
    ties: tuple[int, ...]
    scored: int


def rank_until_decided(
    score: Callable[[Labels], ArrayLike] | Iterable[ArrayLike],
    relevant: ArrayLike,
    candidates: ArrayLike | int,
    k: int,
    *,
    order: np.random.Generator | ArrayLike | None = None,
    chunk: int = 256,
) -> Decided:
    """Return exact ranks up to k of one instance's relevant items, scoring few candidates.

    Scoring stops when k candidates are above the best relevant item: all ranks are then beyond k.

    Parameters
    ----------
    score
        Function of an array of items that returns one score per item, higher is better; or an
        iterable of arrays of scores: first those of the relevant items, then those of all other
        candidates.
    relevant
        The relevant item, or several relevant items.
    candidates
        All items to rank, relevant items included. If ``score`` is an iterable, their number is
        enough.
    k
        Cutoff: metrics with a cutoff of at most k are exact.
    order
        Order in which candidates are scored. A generator gives a random order. Numbers, one for
        each candidate, such as scores of a cheap proxy, give the order from the highest number to
        the lowest. None is the given order. All orders give the same ranks, at a different cost.
    chunk
        Number of candidates scored at a time. Scoring can stop only at the end of a chunk.

    Returns
    -------
    See :class:`Decided`.

    Raises
    ------
    ValueError
        If a score is NaN or not a number, the numbers of scores and items differ, a relevant item
        is not a candidate, or a candidate is given twice.

    Examples
    --------
    >>> import numpy as np
    >>> quality = np.arange(1000) % 500  # each score occurs twice; items 499 and 999 are best
    >>> rank_until_decided(lambda items: quality[items], 497, np.arange(1000), k=10)
    Decided(ranks=(5,), ties=(1,), scored=999)
    >>> rank_until_decided(lambda items: quality[items], 300, np.arange(1000), 10, chunk=64)
    Decided(ranks=(None,), ties=(0,), scored=320)
    """
    k, chunk = checks.integer("k", k, low=1), checks.integer("chunk", chunk, low=1)
    items, _ = _items("relevant", relevant)
    if not callable(score):
        checks.of_kind("score", score, Iterable, "function or scores", "give score(items)")
        pool = checks.array_of("candidates", candidates)
        given = len(pool) if pool.ndim else candidates
        n = checks.integer("candidates", given, low=len(items) + 1)
        if order is not None:
            raise ValueError("order must be None where score holds the scores: put them in order")
        return _from_scores(iter(score), items, n - len(items), k)
    pool = np.atleast_1d(checks.array_of("candidates", candidates))
    if isinstance(order, np.random.Generator):
        pool = order.permutation(pool)
    elif order is not None:
        pool = _by_proxy("order", pool, order)
    pool, places = _items("candidates", pool)
    others = np.delete(pool, _places(items, places))
    relevant_scores, best_first = _scored(items, score(items))
    counts = _looked(relevant_scores, _chunks(score, others, chunk, len(others)), k, others)
    return _decided(counts, best_first, k)


def _from_scores(chunks: Iterator[ArrayLike], items: Labels, total: int, k: int) -> Decided:
    relevant_scores, best_first = _scored(items, next(chunks, ()))
    rest = (_numbers(chunk, None, "a chunk of scores", "") for chunk in chunks)
    counts = _looked(relevant_scores, (scores for scores in rest if len(scores)), k)
    if counts.scored > total or (not counts.stopped and counts.scored < total):
        held = f"score holds {counts.scored} scores of other candidates"
        raise ValueError(f"{held}, but there are {total}: give one for each")
    return _decided(counts, best_first, k)


class _Found(NamedTuple):
    """Numbers of scored candidates above, and tied with, each relevant item, best item first."""

    above: Any  # one number for a single relevant item, an array of numbers for several
    tied: Any
    scored: int
    stopped: bool


def _looked(
    relevant_scores: NDArray[Any],
    chunks: Iterable[NDArray[Any]],
    k: int,
    others: Labels | None = None,
) -> _Found:
    """Count the candidates above each relevant item, and those tied with it.

    Stop when k candidates are above the best relevant item.
    """
    best, least = relevant_scores.item(0), relevant_scores.item(-1)
    # Comparing with a number takes half the time of comparing with an array of length 1.
    several = len(relevant_scores) > 1
    compared, axis = (relevant_scores[:, None], 1) if several else (best, None)
    above: Any = np.zeros(len(relevant_scores), dtype=np.int64) if several else 0
    tied, scored = above, 0
    for scores in chunks:
        scored += len(scores)
        top = scores.item(scores.argmax())  # if any score is NaN, ``argmax`` finds the first NaN
        if top < least:
            continue
        if top != top:
            place = scored - len(scores) + int(scores.argmax())
            which = f"number {place + 1}" if others is None else checks.shown(others[place])
            raise ValueError(f"score of candidate {which} is NaN: give it -inf, or leave it out")
        above = above + np.count_nonzero(scores > compared, axis=axis)
        if (above[0] if several else above) >= k:
            return _Found(above, tied, scored, True)
        tied = tied + np.count_nonzero(scores == compared, axis=axis)
    return _Found(above, tied, scored, False)


def _decided(counts: _Found, order: Ints, k: int) -> Decided:
    """Return ranks and ties in the order in which the relevant items were given.

    ``order`` holds the indices of these items, best item first.
    """
    ranks, ties = np.empty((2, len(order)), dtype=np.int64)
    ranks[order], ties[order] = counts.above + np.arange(1, len(order) + 1), counts.tied
    known = tuple(rank if rank <= k else None for rank in ranks.tolist())
    return Decided(known, tuple((ties * (ranks <= k)).tolist()), counts.scored)


def _items(name: str, given: ArrayLike) -> tuple[Labels, dict[Any, int]]:
    """Return item labels as an array, and a map from label to index; refuse repeated labels."""
    items = np.atleast_1d(checks.array_of(name, given))
    if not items.size:
        raise ValueError(f"{name} is empty: give at least one item")
    listed, places = items.tolist(), {}
    with suppress(TypeError):  # labels that cannot be hashed are refused below
        places = dict(zip(listed, range(len(items)), strict=True)) if items.ndim == 1 else {}
    if not places:
        needed = "a list of numbers or texts"
        raise ValueError(f"{name} must be {needed}, got {checks.shown(listed)}: number them")
    if len(places) < len(listed):
        twice = Counter(listed).most_common()[0][0]
        raise ValueError(f"{name} must hold each item once, got {checks.shown(twice)} again")
    return items, places


def _places(items: Labels, pool: dict[Any, int]) -> list[int]:
    """Return the indices of the relevant items; ``pool`` maps each candidate to its index."""
    wanted = items.tolist()
    for item in wanted:
        if item not in pool:
            lost = f"is not among the {len(pool)} candidates: add it"
            raise ValueError(f"relevant item {checks.shown(item)} {lost}")
    if len(wanted) == len(pool):
        raise ValueError(f"all {len(pool)} candidates are relevant: there is nothing to rank")
    return [pool[item] for item in wanted]


def _by_proxy(name: str, items: Labels, proxy: ArrayLike) -> Labels:
    """Return the items from the highest proxy score to the lowest; the sort is stable."""
    scores = checks.numbers(name, proxy)
    checks.length(name, scores, len(items), f"one number for each of {len(items)} candidates")
    return items[np.argsort(-scores, kind="stable")]


def _numbers(scores: ArrayLike, size: int | None, what: str, of: str) -> NDArray[Any]:
    """Return scores as an array; raise a ValueError if the shape or type is wrong.

    Error messages call the scores ``what`` and the scored items ``of``.
    """
    array = scores if type(scores) is np.ndarray else np.asarray(scores)
    if array.ndim != 1 or (size is not None and len(array) != size):
        shape = "one dimension" if size is None else f"one number for each of {size} {of}"
        raise ValueError(f"{what} has shape {array.shape}: {shape} is needed")
    if array.dtype.kind not in "fiub":
        raise ValueError(f"{what} must hold numbers, got {checks.shown(array[0])}")
    return array


def _scored(items: Labels, scores: ArrayLike) -> tuple[NDArray[Any], Ints]:
    """Return the relevant items' scores in decreasing order, and each item's index in ``items``."""
    values = _numbers(scores, len(items), "score of the relevant items", "of them")
    # Relevant items with equal scores stay in the order of ``items``.
    order = len(values) - 1 - values[::-1].argsort(kind="stable")[::-1]
    values = values[order]
    # If a score is NaN, it is first in this order.
    if values.item(0) != values.item(0):
        item = checks.shown(items[order[0]])
        raise ValueError(f"score of relevant item {item} is NaN: it has no rank")
    return values, order


def _chunks(
    score: Callable[[Labels], ArrayLike], others: Labels, chunk: int, room: float
) -> Iterator[NDArray[Any]]:
    """Yield scores of ``others`` in chunks; stop before more than ``room`` items are scored."""
    end = len(others) if room >= len(others) else int(room // chunk) * chunk
    for start in range(0, end, chunk):
        items = others[start : start + chunk]
        yield _numbers(score(items), len(items), "score", "candidates")


@dataclass(eq=False, repr=False)
class Evaluation:
    """Users evaluated so far, and ranks of their relevant items: the result of :func:`evaluate`.

    An evaluation that ended early can be continued with the parameter ``resume``.

    Attributes
    ----------
    k
        Metrics with a cutoff of at most k are exact.
    seed
        Determines the order of the users and of their candidates.
    systems
        Names of the recommenders.
    users
        Total number of users.
    finished
        Labels of the users whose evaluation is finished, a random sample of all users.
    scored
        Number of irrelevant candidates scored for the finished users, for each system. Relevant
        items are not counted, because a sampled evaluation must score them too.
    """

    k: int = 0
    seed: int = 0
    systems: tuple[str, ...] = ()
    users: int = 0
    finished: list[Any] = field(default_factory=list)
    scored: list[int] = field(default_factory=list)
    #: For each finished user, the number of candidates and the number of relevant items.
    _sizes: list[tuple[int, int]] = field(default_factory=list)
    #: For each system and finished user, how many of the scored irrelevant candidates are above
    #: each relevant item, and how many are tied with this item.
    _found: list[list[tuple[Any, Any]]] = field(default_factory=list)
    #: Hash of the users and their items; a resumed evaluation must have the same hash.
    _asked: str = ""

    def __repr__(self) -> str:
        done = f"{len(self.finished)} of {self.users} users finished, k = {self.k}"
        spent = zip(self.systems, self.scored, strict=True)
        return f"Evaluation({done}, scored: {', '.join(f'{x!r} {times}' for x, times in spent)})"

    @property
    def sets(self) -> list[RankSet]:
        """Rank sets of the finished users, one for each system.

        If a relevant item lies beyond rank k, its rank is not known: the rank set marks it in the
        array ``beyond``. The array ``ranks`` then holds the best possible rank of the item, k + 1
        (and k + 2, ... for further relevant items of the same user).
        """
        if not self.finished:
            raise ValueError("no user is finished: there are no ranks")
        n, relevant = np.array(self._sizes).T
        user = np.repeat(np.arange(len(relevant)), relevant)
        position = np.arange(len(user)) - np.repeat(np.cumsum(relevant) - relevant, relevant) + 1
        labels, sets = np.asarray(self.finished)[user], []
        for name, counts in zip(self.systems, self._found, strict=True):
            above, ties = (np.hstack(column) for column in zip(*counts, strict=True))
            # Relevant items of a user with equal scores form a block. Each has the best rank of the
            # block until ``draw_shared_ties`` puts them in random order.
            begins = np.r_[True, (np.diff(user) != 0) | (np.diff(above) != 0)]
            block = np.cumsum(begins) - 1
            ranks, others = (above + position)[begins][block], np.bincount(block)[block] - 1
            ranks, ties = draw_shared_ties(user, ranks, ties + others)
            beyond = ranks > self.k
            ranks, ties = np.minimum(ranks, self.k + 1), np.where(beyond, 0, ties)
            sets.append(RankSet(name, ranks, n[user], instances=labels, ties=ties, beyond=beyond))
        return sets

    @property
    def csv(self) -> str:
        """The rank sets as text of a CSV file, for ``read_rank_sets`` and the dashboard."""
        text = StringIO()
        rows = writer(text, lineterminator="\n")
        rows.writerow(["system", "instance", "rank", "ties", "n_candidates"])
        for rank_set in self.sets:
            ranks = np.where(rank_set.beyond, f">{self.k}", rank_set.ranks.astype(str))
            columns = (rank_set.instances, ranks, rank_set.ties, rank_set.n)
            cells = zip(*(column.tolist() for column in columns), strict=True)
            rows.writerows((rank_set.system, *row) for row in cells)
        return text.getvalue()


def evaluate(
    users: Iterable[tuple[Any, ArrayLike, ArrayLike]],
    systems: Mapping[str, Callable[[Any, Labels], ArrayLike]],
    k: int,
    *,
    budget: int | None = None,
    seed: int = 0,
    chunk: int = 256,
    proxy: Callable[[Any, Labels], ArrayLike] | None = None,
    progress: Progress | None = None,
    resume: Evaluation | None = None,
) -> Evaluation:
    """Return exact ranks up to k of the relevant items of as many users as a budget allows.

    Parameters
    ----------
    users
        A tuple for each user: label, relevant item or items, and all candidates, which include the
        relevant items.
    systems
        Map from each recommender's name to ``score(label, items)``, which returns a number per
        item.
    k
        Cutoff: metrics with a cutoff of at most k are exact for the finished users.
    budget
        Largest number of scores of irrelevant candidates over all users and systems, including
        those in ``resume``. If None, there is no limit. The budget must cover the largest possible
        cost of any user: all irrelevant candidates, scored by every system.
    seed
        Seed of the random order of the users and of their candidates, the same for all systems.
    chunk
        Number of candidates scored at a time.
    proxy
        A cheap ``score(label, items)``: candidates are scored from its highest score to its lowest.
    progress
        Called with the share of users finished or of the budget spent, whichever is larger.
    resume
        An evaluation to continue, or an empty one, ``Evaluation()``. Finished users are added to it
        one by one, so that they are not lost if a score function fails. Labels, relevant items,
        numbers of candidates, names of systems, k, seed and whether there is a proxy must be the
        same as before; a changed score function is not detected.

    Returns
    -------
    The evaluation; its ``sets`` are the rank sets of the finished users.

    Raises
    ------
    ValueError
        In the cases of :func:`rank_until_decided`, with the user in the message; or if the budget
        is smaller than the largest possible cost of a user.

    Notes
    -----
    The first user whose cost exceeds the rest of the budget is left out, with all scores of this
    user. This makes means over the finished users unbiased. Proof: let the users come in random
    order, and let user T be the first to exceed the budget. The users before user T may be
    reordered without any effect on T, so all their orders are equally likely. The expected mean of
    their values is therefore the expected value for the first user. This is the mean over all users
    if the budget covers the most expensive user (Murthy, Sankhya 1957). If user T were included,
    expensive users, whose relevant item is among the first k, would be too frequent.
    :func:`~sampledash.mean_of_sample` gives an interval for the mean over all users.

    A continued evaluation repeats all scores of the user that was left out. The result is the same
    as the result of a single evaluation with the larger budget.

    Apart from the score functions, the evaluation takes some 2 µs per chunk and 20 µs per user, and
    1 ms per list of 10,000 candidates (users may share a list). This is less than a twentieth of
    the total time if the scores of a chunk take 0.15 ms or longer, as for a neural network, but a
    sixth to a half if they are a matrix product of 256 by 64 numbers. If scores are that cheap, a
    full ranking of all candidates is the better choice.

    Examples
    --------
    >>> import numpy as np
    >>> factors = np.random.default_rng(1).normal(size=(1000, 8))
    >>> score = lambda user, items: factors[items] @ factors[user]
    >>> users = [(user, user + 1, np.arange(1000)) for user in range(50)]
    >>> run = evaluate(users, {"dot": score}, k=10, budget=5_000)
    >>> len(run.finished), run.sets[0].largest_cutoff
    (19, 10)
    """
    k, chunk = checks.integer("k", k, low=1), checks.integer("chunk", chunk, low=1)
    seed, everyone = checks.integer("seed", seed, low=0), checks.several("users", users, "user")
    if not isinstance(systems, Mapping) or not systems or not all(map(callable, systems.values())):
        raise ValueError("systems must hold a function score(user, items) by name, for each system")
    for user in everyone:
        if not isinstance(user, tuple | list) or len(user) != 3 or not isinstance(user[2], Sized):
            what = "(label, relevant item, candidates) for each user"
            raise ValueError(f"users must hold {what}, got {checks.shown(user)}")
    if len({user[0] for user in everyone}) < len(everyone):
        raise ValueError("users holds a label twice: give each user one, with all relevant items")
    checks.function("progress", progress)
    checks.function("proxy", proxy)
    if resume is not None:
        checks.of_kind("resume", resume, Evaluation, "Evaluation", "give what evaluate returned")
    names, asked = tuple(map(str, systems)), _digest(everyone, proxy is not None)
    run = Evaluation() if resume is None else resume
    if not run.systems:
        run.k, run.seed, run.systems, run.users, run._asked = k, seed, names, len(everyone), asked
        run.scored, run._found = [0] * len(names), [[] for _ in names]
    if (run.k, run.seed, run.systems, run._asked) != (k, seed, names, asked):
        before = f"{run.users} users by {', '.join(run.systems)}, k = {run.k}, seed = {run.seed}"
        raise ValueError(f"resume is an evaluation of {before}: go on with the same, or begin anew")
    room = _room(budget, everyone, len(names))
    lists = _Lists(seed)
    for i in np.random.default_rng(seed).permutation(len(everyone))[len(run.finished) :].tolist():
        label, relevant, candidates = everyone[i]
        left = room - sum(run.scored)
        if progress is not None:
            progress(max(len(run.finished) / run.users, 1 - left / room if budget else 0.0))
        try:
            others, items = lists.of(candidates, relevant)
            if proxy is not None:
                others = _by_proxy("proxy", others, proxy(label, others))
            counts = []
            for score in systems.values():
                ask = partial(score, label)
                relevant_scores, _ = _scored(items, ask(items))
                count = _looked(relevant_scores, _chunks(ask, others, chunk, left), k, others)
                left -= count.scored
                if not count.stopped and count.scored < len(others):
                    # The budget does not allow another chunk: leave this user out.
                    break
                counts.append(count)
        except ValueError as error:
            raise ValueError(f"user {checks.shown(label)}: {error}") from error
        if len(counts) < len(names):
            break
        for system, count in enumerate(counts):
            run._found[system].append((count.above, count.tied))
            run.scored[system] += count.scored
        run._sizes.append((len(others) + len(items), len(items)))
        run.finished.append(label)
    if progress is not None:
        progress(1.0)
    return run


def _room(budget: int | None, users: Sequence[Any], systems: int) -> float:
    """Return how many scores ``budget`` allows; refuse a budget below the largest cost of a user.

    A user costs at most one score for each irrelevant candidate and system.
    """
    if budget is None:
        return np.inf
    budget = checks.integer("budget", budget, low=1)
    prices = [systems * (len(candidates) - np.size(items)) for _, items, candidates in users]
    if budget < (price := max(prices)):
        dearest = f"user {checks.shown(users[prices.index(price)][0])} costs {price} scores"
        advice = f"{dearest}; give at least {price}"
        raise ValueError(f"budget = {budget} is smaller than one user: {advice}")
    return budget


def _digest(users: Sequence[Any], proxied: bool) -> str:
    """Return a hash of the users, their relevant items and numbers of candidates, and ``proxied``.

    ``proxied`` says whether the evaluation has a proxy.
    """
    state = sha256(repr(proxied).encode())
    for label, items, candidates in users:
        state.update(repr((label, np.asarray(items).tolist(), len(candidates))).encode())
    return state.hexdigest()


class _Lists:
    """Shuffles the irrelevant candidates of each user."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.given: ArrayLike | None = None
        self.twice = np.empty(0)
        self.places: dict[Any, int] = {}

    def of(self, candidates: ArrayLike, relevant: ArrayLike) -> tuple[Labels, Labels]:
        """Return all candidates except the relevant items, in random order, and the relevant items.

        If consecutive users have the same list of candidates, it is shuffled once. Each user's
        order starts after the user's first relevant item and wraps around at the end of the list.
        """
        if candidates is not self.given:
            pool = np.atleast_1d(checks.array_of("candidates", candidates))
            order = np.random.default_rng([self.seed, len(pool)]).permutation(len(pool))
            pool, self.places = _items("candidates", pool[order])
            self.twice, self.given = np.tile(pool, 2), candidates
        n = len(self.places)
        items, _ = _items("relevant", relevant)
        first, *more = _places(items, self.places)
        others = self.twice[first + 1 : first + n]
        return (np.delete(others, [(at - first - 1) % n for at in more]) if more else others), items
