"""Overlaps of two systems: the irrelevant items that both rank above a relevant item."""

from collections.abc import Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sampledash import checks
from sampledash.comparison.overlap import Overlap
from sampledash.lab.ranking import ScoresOf, blocks, read_scores, users_of, without
from sampledash.rank_sets import RankSet, require_several
from sampledash.types import Ints


def overlaps(
    sets: Sequence[RankSet], scores: Sequence[ArrayLike | ScoresOf], relevant: Any, seen: Any = None
) -> list[Overlap]:
    """Count, for each pair of systems, the irrelevant items that both rank above a relevant item.

    The counts give the probability of the true order if both systems share their negatives.

    Parameters
    ----------
    sets
        Rank sets of at least two systems, made by :func:`ranks_from_scores`.
    scores, relevant, seen
        The arguments of :func:`ranks_from_scores` from which the rank sets were made; ``scores``
        holds those of each system, in the order of ``sets``.

    Returns
    -------
    An overlap for each pair, which :func:`~sampledash.probability_if_shared` takes together with
    the rank sets. If relevant items are tied with each other, their order and the tied items
    between them are drawn at random.

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
    pairs = list(combinations(range(len(sets)), 2))
    cells = {pair: list[Ints]() for pair in pairs}
    for several in zip(*(blocks(x, wanted, others) for x, _, _ in read), strict=True):
        start, stop, _, _ = several[0]
        for user in range(start, stop):
            rows = slice(ends[user], ends[user + 1])
            marks = [
                _marks(x[user - start], wanted.indices[rows], ranks, rows, (user, i))
                for i, (ranks, (_, _, x, _)) in enumerate(zip(sets, several, strict=True))
            ]
            for i, j in pairs:
                counts = np.einsum("ixn,jyn->ijxy", marks[i], marks[j], optimize=True)
                cells[i, j].append(counts.reshape(-1, 3, 3).astype(np.int64))
    sizes = np.diff(ends)
    labels = np.repeat(sets[0].instances, sizes[users_of(wanted)])
    positions = np.concatenate([np.argwhere(np.ones((size, size))) + 1 for size in sizes])
    return [
        Overlap((sets[i].system, sets[j].system), labels, positions, np.concatenate(cells[i, j]))
        for i, j in pairs
    ]


def _marks(
    scores: NDArray[Any], relevant: Ints, ranks: RankSet, rows: slice, seed: tuple[int, int]
) -> NDArray[np.float32]:
    """Return which candidates are above, tied with, and below each relevant item, as 1 or 0.

    The shape is (relevant items, 3, items): the best relevant item is first, and the second index
    is 0 for above, 1 for tied and 2 for below. ``rows`` are the rows of the relevant items in
    ``ranks``.
    """
    rank, ties = ranks.ranks[rows], ranks.ties[rows]
    order = np.argsort(rank)
    threshold, others = scores[relevant[order], None], scores > -np.inf
    others[relevant] = False
    above, tied = others & (scores > threshold), others & (scores == threshold)
    if len(relevant) > 1:
        place = np.random.default_rng(seed).random(len(scores))  # random order of all tied items
        for j in np.flatnonzero(tied.any(axis=1) & (ties[order] == 0)):
            # Several relevant items are tied. Their ranks were drawn at random, so draw also which
            # tied items are between them.
            number = rank[order[j]] - j - 1 - np.count_nonzero(above[j])
            block = np.flatnonzero(tied[j])
            above[j, block[np.argsort(place[block])[:number]]] = True
            tied[j] = False
    marks = np.stack([above, tied, others & ~above & ~tied], axis=1)
    return marks.astype(np.float32)
