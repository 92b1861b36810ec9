"""The overlap of two systems: which irrelevant items are above a relevant item under both."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sampledash import checks
from sampledash.comparison.overlap import Overlap
from sampledash.lab.ranking import ScoresOf, blocks, ranks_from_scores, read_scores, without
from sampledash.types import Flags, Ints


def overlap(
    scores_a: ArrayLike | ScoresOf,
    scores_b: ArrayLike | ScoresOf,
    relevant: Any,
    seen: Any = None,
    *,
    systems: tuple[str, str] = ("A", "B"),
    instances: ArrayLike | None = None,
) -> Overlap:
    """Return how the irrelevant items of each user lie under two systems, for shared negatives.

    Parameters
    ----------
    scores_a, scores_b
        Scores of the two systems for all items, as in :func:`ranks_from_scores`.
    relevant, seen, instances
        As in :func:`ranks_from_scores`, the same for both systems.
    systems
        Names of the two systems, as their rank sets have them.

    Returns
    -------
    An overlap to give to :func:`~sampledash.probability_if_shared` with the rank sets of the same
    scores. Items tied with several relevant items have the order in which the rank sets were drawn.

    Raises
    ------
    ValueError
        If an argument is invalid, or an item is a candidate of one system only.

    Examples
    --------
    >>> scores, others = [[0.5, 0.9, 0.7, 0.1]], [[0.5, 0.8, 0.2, 0.7]]
    >>> overlap(scores, others, [0]).cells[0].tolist()   # item 1 is above item 0 under both systems
    [[1, 0, 1], [0, 0, 0], [1, 0, 0]]
    """
    names = [checks.text("systems", name) for name in checks.several("systems", systems, "name")]
    if len(set(names)) != 2:
        raise ValueError(f"systems must be two different names, got {', '.join(names)}")
    sets, read = [], []
    for name, scores in zip(names, (scores_a, scores_b), strict=True):
        sets.append(ranks_from_scores(scores, relevant, seen, system=name, instances=instances))
        read.append(read_scores(scores, relevant, seen))
    wanted, known = read[0][1:]
    if wanted.shape != read[1][1].shape:
        raise ValueError(
            f"scores of {names[1]} are for {read[1][1].shape[1]:,} items, of {names[0]} for "
            f"{wanted.shape[1]:,}: both systems rank the same items"
        )
    others = None if known is None else without(known, wanted)
    ends, cells = wanted.indptr, list[Ints]()
    both = (blocks(scores_of, wanted, others) for scores_of, _, _ in read)
    for (start, stop, first, _), (_, _, second, _) in zip(*both, strict=True):
        for user in range(start, stop):
            rows = slice(ends[user], ends[user + 1])
            marks = [
                _marks(scores[user - start], wanted.indices[rows], x.ranks[rows], x.ties[rows], key)
                for scores, x, key in zip(
                    (first, second), sets, ((user, 0), (user, 1)), strict=True
                )
            ]
            if np.any(marks[0].any(axis=1) != marks[1].any(axis=1)):
                raise ValueError(
                    f"user {user} has other candidates (scores above −inf) under {names[0]} than "
                    f"under {names[1]}: give both systems the same, or name them in seen"
                )
            left, right = (x.astype(np.float32).reshape(-1, x.shape[2]) for x in marks)
            size = rows.stop - rows.start
            counts = (left @ right.T).reshape(size, 3, size, 3).transpose(0, 2, 1, 3)
            cells.append(counts.reshape(-1, 3, 3).astype(np.int64))
    sizes = np.diff(ends)
    labels = sets[0].instances[ends[:-1][sizes > 0]]
    return Overlap((names[0], names[1]), labels, sizes[sizes > 0], np.concatenate(cells))


def _marks(
    scores: NDArray[Any], relevant: Ints, ranks: Ints, ties: Ints, seed: tuple[int, int]
) -> Flags:
    """Return which candidates are above, tied with, below each relevant item, best item first.

    Shape (relevant, 3, items). ``ranks`` and ``ties`` are those of the rank set.
    """
    order = np.argsort(ranks)
    threshold, rest = scores[relevant[order], None], np.array(scores)
    rest[relevant] = -np.inf
    above, tied = rest > threshold, rest == threshold
    if len(relevant) > 1:
        place = np.random.default_rng(seed).random(len(rest))  # the order of all tied items
        for j in np.flatnonzero(tied.any(axis=1) & (ties[order] == 0)):
            # Several relevant items are tied, and their ranks are drawn: so are the items between.
            number = ranks[order[j]] - j - 1 - np.count_nonzero(above[j])
            block = np.flatnonzero(tied[j])
            above[j, block[np.argsort(place[block])[:number]]] = True
            tied[j] = False
    return np.stack([above, tied, (rest > -np.inf) & ~above & ~tied], axis=1)
