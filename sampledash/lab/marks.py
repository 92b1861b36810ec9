"""Marks: bits that tell which irrelevant items are above a relevant item, or tied with it.

The marks of two systems give the numbers of items that both rank above a relevant item.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sampledash.rank_sets import RankSet
from sampledash.types import Flags, Ints, blocks

#: Marks, shape (2, rows, words). There is a row for each relevant item, with a bit for each item.
#: The bit is 1 if the item is above the relevant item (index 0 of the first axis), or tied with the
#: relevant item (index 1).
Bits = NDArray[np.uint64]

_COMPARED = 2**18  # number of scores compared at a time, which fit into the processor's cache


def compared(
    scores: NDArray[Any], threshold: NDArray[Any], row: Ints
) -> Iterator[tuple[slice, Flags, Flags]]:
    """Compare the scores of all items with each relevant item's score, in blocks of relevant items.

    For each block, yield the slice of its relevant items, flags of the items with higher scores,
    and flags of the items with equal scores. Both arrays of flags have a row for each relevant
    item. ``scores[row[i]]`` are the scores of all items for the user of relevant item number i, and
    ``threshold[i]`` is the score of this relevant item.
    """
    for some in blocks(len(row), _COMPARED, scores.shape[1]):
        theirs, score = scores[row[some]], threshold[some, None]
        yield some, theirs > score, theirs == score


def users_of(pairs: csr_array) -> Ints:
    """Return the row number (user) of each stored entry of a matrix of users × items."""
    return np.repeat(np.arange(pairs.shape[0]), np.diff(pairs.indptr))


def remove(relevant: csr_array, *flags: Flags) -> None:
    """Set the flags of all relevant items to False.

    Each array of ``flags`` has the shape (rows, items), and each row belongs to a user. The same
    row of the matrix ``relevant`` stores an entry for each relevant item of this user.
    """
    for some in flags:
        some[users_of(relevant), relevant.indices] = False


def packed(above: Flags, tied: Flags) -> Bits:
    """Pack flags into bits. The flags say which items are above, or tied with, a relevant item.

    Both arrays of flags have a row for each relevant item: (rows, items).
    """
    bits = np.zeros((2, len(above), -(-above.shape[1] // 64) * 8), dtype=np.uint8)
    for part, flags in zip(bits, (above, tied), strict=True):
        if np.any(flags):
            part[:, : -(-above.shape[1] // 8)] = np.packbits(flags, axis=1)
    return bits.view(np.uint64)


def common(first: Bits, second: Bits) -> Ints:
    """Return the numbers of items that are above or tied in both rankings: (rows, 2, 2).

    Entry [row, i, j] counts the items that are above (i = 0) or tied (i = 1) in the ``first``
    ranking, and above (j = 0) or tied (j = 1) in the ``second`` ranking.
    """
    counts = [[np.bitwise_count(a & b).sum(axis=1, dtype=np.int64) for b in second] for a in first]
    return np.array(counts).transpose(2, 0, 1)


def with_overlaps(sets: Sequence[RankSet], marks: Sequence[Bits]) -> list[RankSet]:
    """Return copies of rank sets with the overlaps of all pairs of systems.

    An overlap holds the numbers of items that both systems rank above, or tied with, a relevant
    item. ``marks`` holds, for each system, the bits of the items above and tied with its relevant
    items.
    """
    overlaps: list[dict[str, Ints]] = [{} for _ in sets]
    for i, j in combinations(range(len(sets)), 2):
        overlaps[i][sets[j].system] = common(marks[i], marks[j])
    return [ranks.with_overlaps(x) for ranks, x in zip(sets, overlaps, strict=True)]
