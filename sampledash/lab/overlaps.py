"""Overlaps of two systems: the irrelevant items that both rank above a relevant item."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from sampledash import checks
from sampledash.comparison.overlap import Overlap, cells_of
from sampledash.lab.marks import Bits, common, compared, packed, remove, users_of
from sampledash.lab.ranking import ScoresOf, blocks, read_scores, without
from sampledash.rank_sets import RankSet, require_several
from sampledash.types import Flags, Ints


def overlaps(
    sets: Sequence[RankSet], scores: Sequence[ArrayLike | ScoresOf], relevant: Any, seen: Any = None
) -> list[Overlap]:
    """Count, for each pair of systems, the irrelevant items that both rank above a relevant item.

    If both systems rank the same sampled negatives, the counts determine or bound the probability
    that a sampled metric orders the systems correctly.

    Parameters
    ----------
    sets
        Rank sets of at least two systems, made by :func:`ranks_from_scores`.
    scores, relevant, seen
        The arguments of :func:`ranks_from_scores` from which the rank sets were made; ``scores``
        holds the scores of each system, in the order of ``sets``.

    Returns
    -------
    An overlap for each pair, which :func:`~sampledash.probability_if_shared` takes together with
    the rank sets. If a user has several relevant items with the same score, all items with this
    score are put in a random order that agrees with the ranks in ``sets``.

    Raises
    ------
    ValueError
        If an argument is invalid, or an item is a candidate of one system only.

    Examples
    --------
    >>> scores, relevant = ([[0.5, 0.9, 0.7, 0.1]], [[0.5, 0.8, 0.2, 0.7]]), [0]
    >>> from sampledash import ranks_from_scores
    >>> sets = [ranks_from_scores(x, relevant, system=y) for x, y in zip(scores, "AB", strict=True)]
    >>> # Irrelevant items above, tied with and below item 0 in A (rows) and in B (columns).
    >>> overlaps(sets, scores, relevant)[0].cells[0].tolist()
    [[1, 0, 1], [0, 0, 0], [1, 0, 0]]
    """
    require_several(sets)
    tables = checks.several("scores", scores, "table of scores")
    read = [read_scores(table, relevant, seen) for table in tables]
    _, wanted, known = read[0]
    others, ends = None if known is None else without(known, wanted), wanted.indptr
    if len(sets) != len(tables) or any(len(ranks) != wanted.nnz for ranks in sets):
        raise ValueError(
            f"sets hold ranks of {', '.join(str(len(x)) for x in sets)} relevant items, but there "
            f"are {len(tables)} tables of scores, and relevant names {wanted.nnz:,} items"
        )
    # Sort the relevant items of each user by their rank, separately for each system. The overlap of
    # two systems has a row for each pair of a relevant item in the first system's list (index
    # ``left``) and a relevant item of the same user in the second system's list (``right``).
    user, sizes = users_of(wanted), np.diff(ends)
    place = np.arange(len(user)) - ends[user]
    orders = [np.lexsort((ranks.ranks, user)) for ranks in sets]
    numbers = [
        np.stack([x.ranks[order] - 1 - place, x.ties[order]], axis=1)
        for x, order in zip(sets, orders, strict=True)
    ]
    last = np.r_[0, np.cumsum(sizes**2)]
    owner = np.repeat(np.arange(len(sizes)), sizes**2)
    within = np.divmod(np.arange(last[-1]) - last[owner], sizes[owner])
    left, right = (ends[owner] + x for x in within)
    pairs = list(combinations(range(len(sets)), 2))
    inner = {pair: list[Ints]() for pair in pairs}
    masked = any(np.any(ranks.n < wanted.shape[1]) for ranks in sets)
    for several in zip(*(blocks(some, wanted, others) for some, _, _ in read), strict=True):
        start, stop, first, _ = several[0]
        rows, marks = np.arange(ends[start], ends[stop]), list[Bits]()
        for i, (_, _, block, threshold) in enumerate(several):
            if masked and not np.array_equal(block == -np.inf, first == -np.inf):
                raise ValueError(
                    f"systems {sets[0].system!r} and {sets[i].system!r} rank different candidates "
                    f"of the users {start} to {stop - 1}: give -inf to the same items in both"
                )
            bits = []
            own = threshold[orders[i][rows] - rows[0]]
            for some, above, tied in compared(block, own, user[rows] - start):
                at = rows[some]
                remove(wanted[user[at]], above, tied)
                _draw(above, tied, numbers[i][at], user[at], i)
                bits.append(packed(above, tied))
            marks.append(np.concatenate(bits, axis=1))
        part = slice(last[start], last[stop])
        for i, j in pairs:
            both = marks[i][:, left[part] - rows[0]], marks[j][:, right[part] - rows[0]]
            inner[i, j].append(common(*both))
    labels, positions = sets[0].instances[orders[0]][left], np.stack(within, axis=1) + 1
    negatives = sets[0].n[orders[0]][left] - sizes[owner]
    made = []
    for i, j in pairs:
        names, sides = (sets[i].system, sets[j].system), (numbers[i][left], numbers[j][right])
        cells = cells_of(names, np.concatenate(inner[i, j]), *sides, negatives)
        made.append(Overlap(names, labels, positions, cells))
    return made


def _draw(above: Flags, tied: Flags, numbers: Ints, user: Ints, seed: int) -> None:
    """Draw the order of relevant and irrelevant items of a user that have the same score.

    This is needed if several relevant items have this score. Their ranks have been drawn before,
    and give the number of irrelevant items above each of them: ``numbers[:, 0]``. The flags
    ``above`` may mark fewer items. Draw the missing items among those that ``tied`` marks, and add
    them to ``above``. The other items with this score are then below.
    """
    for row in np.flatnonzero(tied.any(axis=1) & (numbers[:, 1] == 0)):
        items = np.flatnonzero(tied[row])
        place = np.random.default_rng((user[row], seed)).random(np.shape(tied[row]))
        number = numbers[row, 0] - np.count_nonzero(above[row])
        above[row, items[np.argsort(place[items])[:number]]] = True
        tied[row] = False
