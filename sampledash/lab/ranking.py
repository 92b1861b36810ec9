"""Full ranking: the rank of every relevant item among all its candidates, from blocks of scores.

No scores are sorted. The best rank of an item with the score t is 1 plus the number of scores above
t; the number of scores equal to t, minus 1, is the number of items tied with it. Items that the
user has seen are no candidates and get the score −inf.
"""

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse

from sampledash import checks
from sampledash.by_weight import ABOVE, NEGATIVES, TIED, WEIGHT, classes_of
from sampledash.lab.interactions import Interactions
from sampledash.lab.marks import Bits, compared, packed, remove, users_of
from sampledash.lab.models import Part, TrainingProgress, finish
from sampledash.lab.splits import Split
from sampledash.rank_sets import RankSet, draw_shared_ties
from sampledash.types import Floats, Ints

#: Function of ``start`` and ``stop`` that returns the scores of the users start..stop - 1, shape
#: (stop - start, n_items).
ScoresOf = Callable[[int, int], NDArray[Any]]
HeldOut = Literal["test", "validation"]
COUNTED = "popularity"  # option: an item's sampling weight is its number of training interactions

# Size of the scores of a block of users in bytes; most models compute a block in hundredths of a
# second.
_BLOCK = 4 * 2**20
# Smallest number of users in a block, even if their scores then exceed _BLOCK bytes: products of
# matrices with fewer rows (users) are inefficient.
_FEWEST = 16
# Largest size of the scores of a block in bytes; with very many items, a block has fewer than
# _FEWEST users.
_LARGEST = 64 * 2**20
# Number of decimals of the counts in ``RankSet.classes``. A class groups items of similar sampling
# weight. Counts may be fractions: if an item's weight lies between the weights of two classes, the
# item is divided over several classes.
DIGITS = 5


def rank(
    scores_of: ScoresOf,
    split: Split,
    *,
    system: str,
    part: HeldOut = "test",
    least_rating: float | None = None,
    recommender: str = "",
    seed: int | None = None,
    weights: ArrayLike | str | None = None,
    marks: list[Bits] | None = None,
) -> Part[RankSet]:
    """Rank the held-out items of a split among all candidates of their user, as a generator.

    Parameters
    ----------
    scores_of
        Function that returns the scores of users start..stop - 1, shape (stop - start, n_items).
    split
        Training and held-out interactions, and whether seen items are candidates.
    system
        Name of the recommender.
    part
        The held-out part to rank, ``"test"`` or ``"validation"``.
    least_rating
        Lowest rating of a relevant interaction. If None, all held-out interactions are relevant.
    recommender, seed
        Text of the recommender and seed of its training, which are recorded in the provenance.
    weights
        As in :func:`ranks_from_scores`, or a text such as ``"popularity"`` or
        ``"popularity^0.75"``: the number of training interactions of each item, to this power.
    marks
        A list to which marks are added, for :func:`sampledash.lab.marks.with_overlaps`. Marks are
        bits that tell which irrelevant items are above a relevant item, or tied with it. The
        relevant items are in the order of the rank set.

    Yields
    ------
    The progress; with most models, at least ten times a second.

    Returns
    -------
    A rank set with ``provenance``. It has one instance, with the user's label, for each user with
    relevant items.

    Raises
    ------
    ValueError
        If a score is not a number, the scores have the wrong shape, no item is relevant, or a user
        has no candidates except a single relevant item.

    Notes
    -----
    A relevant item is a candidate even if the user has seen it before. Items that nobody took in
    training are candidates too. If relevant items of one user have equal scores, their order is
    drawn at random, always with the same seed.
    """
    made = "make one with sampledash.split(interactions, rule)"
    checks.of_kind("split", split, Split, "Split", made)
    checks.of_kind("scores_of", scores_of, Callable, "function", "give model.scores")
    checks.of_kind("marks", marks, list | None, "list", "give an empty list")
    checks.choice("part", part, get_args(HeldOut))
    held = split.validation if part == "validation" else split.test
    if held is None:
        raise ValueError(f"split {split.text!r} has no validation part: add halved to its rule")
    if least_rating is not None:
        if held.rating is None:
            raise ValueError("least_rating needs ratings, and these interactions have none")
        least_rating = checks.real("least_rating", least_rating, low=-np.inf)
        held = held.take(held.rating >= least_rating)
        if not held.size:
            raise ValueError(f"no held-out interaction is rated {least_rating:g} or more: lower it")
    require_candidates(split, held)
    seen = split.training.matrix if split.exclude_seen else None
    if isinstance(weights, str):
        taken = np.bincount(split.training.item, minlength=split.training.n_items)
        weights = popularity(weights, taken)
    about = scores_of, held.matrix, seen, held.n_items, weights
    user, columns = yield from _count(*about, marks=marks)
    facts = {
        "data": split.data[:16],
        "split": split.text + ", validation" * (part == "validation"),
        "relevant": "" if least_rating is None else f"rated {least_rating:g} or more",
        "recommender": checks.text("recommender", recommender),
        "seed": "" if seed is None else str(checks.integer("seed", seed, low=0)),
    }
    provenance = "; ".join(f"{what}: {value}" for what, value in facts.items() if value)
    return RankSet(system, **columns, instances=held.users[user], provenance=provenance)


def popularity(text: str, taken: ArrayLike) -> Floats:
    """Return the sampling weights of all items for a text such as ``popularity^0.75``.

    ``taken`` is the number of training interactions of each item.
    """
    name, sign, power = text.partition("^")
    if name != COUNTED:
        raise ValueError(
            f'weights must be "popularity", "popularity^0.75" or the weight of each item, got '
            f"{checks.shown(text)}"
        )
    alpha = checks.written("power of popularity", power if sign else "1", low=0, high=10)
    return np.asarray(taken, dtype=np.float64) ** alpha


def require_candidates(split: Split, held: Interactions) -> None:
    """Raise a ValueError if the user of a held-out item has no candidates but this item."""
    if not split.exclude_seen:
        return
    taken = np.diff(without(split.training.matrix, held.matrix).indptr)
    alone = taken[held.user] >= held.n_items - 1
    if np.any(alone):
        user = checks.shown(held.users[held.user[np.argmax(alone)]])
        raise ValueError(
            f"user {user} took every other item in training, so that what is held out of his has "
            "nothing to be ranked among: keep seen items in (seen=kept), or leave such users out"
        )


def ranks_from_scores(
    scores: ArrayLike | ScoresOf,
    relevant: Any,
    seen: Any = None,
    *,
    system: str = "scores",
    instances: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    strata: tuple[ArrayLike, Mapping[Any, ArrayLike]] | None = None,
) -> RankSet:
    """Return the ranks of relevant items, given the scores of a model for all items.

    Parameters
    ----------
    scores
        Array or sparse array of shape (n_users, n_items), or a function of ``start`` and ``stop``
        that returns the scores of the users start..stop - 1, shape (stop - start, n_items). An
        entry missing from a sparse array is the score 0.
    relevant
        The relevant items: an array of one item for each user, shape (n_users,); or for each user a
        sequence of items, which may be empty; or a boolean or sparse array (n_users, n_items) that
        is true or nonzero at relevant items. Items are column numbers of the scores, from 0.
    seen
        Items that are not candidates of the user, in any form that ``relevant`` allows; a relevant
        item is always a candidate. All other items are candidates, except items with the score
        −inf, by which frameworks mark items that are not candidates.
    system
        Name of the recommender.
    instances
        Labels of the users, shape (n_users,); by default 1, 2, 3 ...
    weights
        Sampling weight of each item, shape (n_items,), at least 0. The rank set then has
        ``classes``, so that negatives can be drawn by weight; users have one relevant item each.
    strata
        Two values. The first holds the label of the stratum of each item, shape (n_items,) or, if
        strata differ between users, (n_users, n_items). The second maps each label to the number of
        negatives drawn from this stratum, or to one number per user; infinity stands for all. The
        rank set then has ``strata``. Users have one relevant item each.

    Returns
    -------
    A rank set with one instance for each user with relevant items.

    Raises
    ------
    ValueError
        The message names the parameter, the user and the value.

    Examples
    --------
    >>> ranks = ranks_from_scores([[0.5, 0.9, 0.5, 0.1], [0.3, 0.2, 0.1, 0.0]], [0, 3], [[1], [0]])
    >>> ranks.ranks.tolist(), ranks.ties.tolist(), ranks.n.tolist()
    ([1, 3], [1, 0], [3, 3])
    """
    block, wanted, known = read_scores(scores, relevant, seen)
    users, items = wanted.shape
    labels = np.arange(1, users + 1) if instances is None else checks.labels("instances", instances)
    checks.length("instances", labels, users, f"one label for each of the {users:,} users")
    groups = None if strata is None else _strata_of(strata, wanted)
    user, columns = finish(_count(block, wanted, known, items, weights, groups))
    return RankSet(system, **columns, instances=labels[user])


def read_scores(
    scores: ArrayLike | ScoresOf, relevant: Any, seen: Any
) -> tuple[ScoresOf, csr_array, csr_array | None]:
    """Convert arguments of :func:`ranks_from_scores`: scores to a function, items to matrices."""
    if not _is_matrix(relevant):
        relevant = checks.several("relevant", relevant, "user")
    users = relevant.shape[0] if _is_matrix(relevant) else len(relevant)
    block: ScoresOf
    if callable(scores):
        items, block = _checked(scores(0, 1), None, 0).shape[1], scores
    else:
        given = csr_array(scores) if issparse(scores) else checks.array_of("scores", scores)
        if given.ndim != 2 or given.shape[0] != users:
            raise ValueError(
                f"scores has shape {given.shape}, but relevant is given for {users:,} users: give "
                "a row for each user and a column for each item"
            )
        items = given.shape[1]

        def block(start: int, stop: int) -> NDArray[Any]:
            rows = given[start:stop]
            return rows if isinstance(rows, np.ndarray) else rows.toarray()

    wanted = _matrix("relevant", relevant, (users, items))
    if not wanted.nnz:
        raise ValueError("relevant names no item: give at least one user a relevant item")
    return block, wanted, None if seen is None else _matrix("seen", seen, (users, items))


def blocks(
    scores_of: ScoresOf, relevant: csr_array, others: csr_array | None
) -> Iterator[tuple[int, int, NDArray[Any], NDArray[Any]]]:
    """Yield (start, stop, scores, scores of relevant items) for blocks of users start..stop - 1.

    Blocks without relevant items are left out. The items in ``others``, which are seen and not
    relevant, get the score −inf.
    """
    ends, (users, n_items) = relevant.indptr, relevant.shape
    user, step = users_of(relevant), _users_at_once(n_items)
    for start in range(0, users, step):
        stop = min(start + step, users)
        rows = slice(int(ends[start]), int(ends[stop]))
        if rows.start == rows.stop:
            continue
        scores = _checked(scores_of(start, stop), (stop - start, n_items), start)
        threshold = scores[user[rows] - start, relevant.indices[rows]]
        _refuse_masked(threshold, user[rows], relevant.indices[rows])
        if others is not None:  # these items are no candidates: change their score to −inf
            scores = scores.astype(np.result_type(scores, np.float32))  # a copy, changed below
            block = slice(others.indptr[start], others.indptr[stop])
            scores[users_of(others[start:stop]), others.indices[block]] = -np.inf
        yield start, stop, scores, threshold


def _count(
    scores_of: ScoresOf,
    relevant: csr_array,
    seen: csr_array | None,
    n_items: int,
    weights: ArrayLike | None,
    strata: tuple[Ints, Floats] | None = None,
    marks: list[Bits] | None = None,
) -> Part[tuple[Ints, dict[str, Any]]]:
    """Rank every relevant item; return the user of each item, and columns for a :class:`RankSet`.

    Relevant items are in the order of ``relevant``: user by user. If ``marks`` is a list, bits are
    added to it that tell which irrelevant items are above each relevant item, or tied with it.
    """
    users, ends = relevant.shape[0], relevant.indptr.astype(np.int64)
    user, item = users_of(relevant), relevant.indices.astype(np.int64)
    rank, ties = np.empty((2, len(item)), np.int64)
    n = np.full(len(item), n_items, np.int64)
    classes, parts = None, np.empty((0, 0), np.float32)
    if weights is not None:
        parts, weight = _classes_of(weights, relevant)
        mine = parts[item]
        classes = np.zeros((len(item), 4, len(weight)))
        classes[:, NEGATIVES], classes[:, WEIGHT] = parts.sum(axis=0) - mine, weight
    if strata is not None:
        label, drawn = strata
        groups = np.empty((len(item), 4, drawn.shape[1]))
        groups[:, WEIGHT] = drawn[user]
    others = None if seen is None else without(seen, relevant)
    for start, stop, scores, threshold in blocks(scores_of, relevant, others):
        first, last = int(ends[start]), int(ends[stop])
        absent, row = scores == -np.inf, user[first:last] - start
        n[first:last] -= np.count_nonzero(absent, axis=1)[row]
        if classes is not None:
            gone: Any = absent
            if others is not None and np.count_nonzero(absent) == others[start:stop].nnz:
                gone = others[start:stop]  # the same items in a sparse matrix, for a faster product
                gone.data = np.ones(gone.nnz, bool)
            classes[first:last, NEGATIVES] -= (gone.astype(np.float32) @ parts)[row]
        for some, higher, equal in compared(scores, threshold, row):
            a, b = first + some.start, first + some.stop
            rank[a:b] = np.count_nonzero(higher, axis=1) + 1
            ties[a:b] = np.count_nonzero(equal, axis=1) - 1
            if classes is not None:
                classes[a:b, ABOVE] = higher.astype(np.float32) @ parts
                if np.any(ties[a:b]):
                    classes[a:b, TIED] = equal.astype(np.float32) @ parts - mine[a:b]
            if strata is not None:
                equal[np.arange(b - a), item[a:b]] = False
                real = ~absent[row[some]]
                real[np.arange(b - a), item[a:b]] = False
                for c in range(groups.shape[2]):
                    inside = (label if label.ndim == 1 else label[user[a:b]]) == c
                    for part, those in ((ABOVE, higher), (TIED, equal), (NEGATIVES, real)):
                        groups[a:b, part, c] = np.count_nonzero(those & inside, axis=1)
            if marks is not None:
                remove(relevant[user[a:b]], higher, equal)
                marks.append(packed(higher, equal))
        yield TrainingProgress(stop / users)
    if len(user) > np.count_nonzero(np.diff(ends)):  # some users have several relevant items
        rank, ties = draw_shared_ties(user, rank, ties)
    if classes is not None:
        classes[:, :WEIGHT] = classes[:, :WEIGHT].round(DIGITS)
    more = {"classes": classes, "strata": None if strata is None else groups}
    return user, {"ranks": rank, "n": n, "ties": ties, **more}


def _refuse_several(what: str, relevant: csr_array) -> None:
    if (user := checks.first(np.diff(relevant.indptr) > 1)) is not None:
        raise ValueError(
            f"{what} need one relevant item for each user, and user {user} has several: leave the "
            f"{what} out, or keep one relevant item of each user"
        )


def _strata_of(strata: Any, relevant: csr_array) -> tuple[Ints, Floats]:
    """Return the index of each item's stratum, and how many negatives are drawn from each stratum.

    The first array has the shape of the given labels, the second (users, strata).
    """
    _refuse_several("strata", relevant)
    pair = isinstance(strata, tuple) and len(strata) == 2 and isinstance(strata[1], Mapping)
    given = checks.array_of("strata", strata[0] if pair else [])
    users, items = relevant.shape
    if given.shape not in ((items,), (users, items)):
        raise ValueError(
            f"strata must be a pair: a label for each of {items:,} items, or for each user and "
            f"item, and a dictionary of the numbers drawn; got labels of shape {given.shape}"
        )
    labels, label = np.unique(given, return_inverse=True)
    drawn = np.zeros((users, len(labels)))
    for c, name in enumerate(labels.tolist()):
        number = checks.array_of("strata", strata[1].get(name))
        if number.shape not in ((), (users,)) or number.dtype.kind not in "iuf":
            raise ValueError(
                f"strata gives {checks.shown(number.tolist())} as drawn from {checks.shown(name)}: "
                f"give a number, or one for each of the {users:,} users; 0 if none is drawn"
            )
        drawn[:, c] = number
    return label.reshape(given.shape), drawn


def _classes_of(weights: ArrayLike, relevant: csr_array) -> tuple[NDArray[np.float32], Floats]:
    """Check the items' weights; divide the items into classes of nearly equal weights.

    An item whose weight is between the weights of two classes is divided over several classes.
    Return the shares into which each item is divided, one for each class, and the weights of the
    classes. The shares of an item add up to 1, and a share may be negative. The array of all shares
    has the shape (items, classes) and the type float32.
    """
    _refuse_several("weights", relevant)
    array, items = checks.numbers("weights", weights), relevant.shape[1]
    checks.length("weights", array, items, f"a weight for each of the {items:,} items")
    parts, weight = classes_of(array)
    return parts.astype(np.float32), weight


def _users_at_once(n_items: int) -> int:
    """Return the number of users in a block.

    It depends only on the number of items, so that rounding errors are reproducible.
    """
    row = 4 * n_items
    return max(_BLOCK // row, min(_FEWEST, _LARGEST // row), 1)


def _checked(scores: object, shape: tuple[int, int] | None, start: int) -> NDArray[Any]:
    """Return scores as an array; raise a ValueError for a wrong shape, type or NaN."""
    block = np.asarray(scores)
    if block.ndim != 2 or (shape is not None and block.shape != shape):
        rows = "users × items" if shape is None else " × ".join(f"{x:,}" for x in shape)
        which = f"scores of the users from {start} on have shape {block.shape}"
        raise ValueError(f"{which}: give {rows}")
    if block.dtype.kind not in "iuf":
        raise ValueError(f"scores must be numbers, got the type {block.dtype}")
    if np.isnan(block.min(initial=0)):  # NaN if any score is NaN
        u, i = np.argwhere(np.isnan(block))[0].tolist()
        raise ValueError(
            f"scores of user {start + u} hold NaN for item {i}: a rank needs numbers; was the "
            "training stable? Give −inf to what is no candidate"
        )
    return block


def _refuse_masked(threshold: NDArray[Any], user: Ints, item: Ints) -> None:
    if (i := checks.first(threshold == -np.inf)) is not None:
        raise ValueError(
            f"scores of user {user[i]} hold −inf for the relevant item {item[i]}, which marks what "
            "is no candidate: give the score it has, also where the user has seen it before"
        )


def without(seen: csr_array, relevant: csr_array) -> csr_array:
    """Return ``seen`` without the entries of ``relevant``; both have sorted indices."""
    keys, wanted = (users_of(pairs) * pairs.shape[1] + pairs.indices for pairs in (seen, relevant))
    at = np.searchsorted(keys, wanted)
    at = at[np.append(keys, -1)[at] == wanted]
    if not len(at):
        return seen
    left = np.ones(len(keys), dtype=bool)
    left[at] = False
    ends = np.r_[0, np.cumsum(left)][seen.indptr]
    return csr_array((seen.data[left], seen.indices[left], ends), shape=seen.shape)


def _is_matrix(given: object) -> bool:
    return issparse(given) or (isinstance(given, np.ndarray) and given.ndim == 2)


def _matrix(name: str, given: Any, shape: tuple[int, int]) -> csr_array:
    """Return a sparse matrix (users, items) that stores one entry for each given item of a user."""
    if _is_matrix(given):
        if not issparse(given) and given.dtype != bool:
            raise ValueError(f"{name} as an array users × items must hold true and false")
        if given.shape != shape:
            shapes = f"{name} has shape {given.shape}, the scores have {shape}"
            raise ValueError(f"{shapes}: give one for the other")
        matrix = csr_array(given)
        some = matrix.data != 0
        user, item = users_of(matrix)[some], matrix.indices[some]
    else:
        rows = checks.several(name, given, "user")
        if len(rows) != shape[0]:
            raise ValueError(f"{name} has {len(rows):,} rows for {shape[0]:,} users: give as many")
        try:
            single = np.ndim(rows[0]) == 0
            sizes = [1] * len(rows) if single else [len(row) for row in rows]
            items = rows if single else list(chain.from_iterable(rows))
        except (TypeError, ValueError):
            needed = "an item, or a list of items, of each user"
            raise ValueError(f"{name} must hold {needed}") from None
        item = checks.integers(name, items, low=0, high=shape[1] - 1)
        checks.length(name, item, sum(sizes), "whole numbers, columns of the scores")
        user = np.repeat(np.arange(len(rows)), sizes)
    pattern = csr_array((np.ones(len(item), np.int8), (user, item)), shape=shape)
    pattern.sum_duplicates()
    return pattern
