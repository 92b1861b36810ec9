"""Marks: which irrelevant items are above and which are tied with a relevant item, as bits.

The marks of two systems give the numbers of items that both rank above a relevant item.
"""

from collections.abc import Iterator, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sampledash.rank_sets import RankSet
from sampledash.types import Flags, Ints

#: Marks of relevant items, shape (2, rows, words): a bit of the words for each item, which is 1 for
#: items above (first axis: 0) or for items tied with the relevant item (first axis: 1).
Bits = NDArray[np.uint64]

_COMPARED = 2**18  # number of scores compared at a time, which fit into the processor's cache


def compared(
    scores: NDArray[Any], threshold: NDArray[Any], row: Ints
) -> Iterator[tuple[slice, Flags, Flags]]:
    """Yield groups of relevant items: their places, and which items have higher and equal scores.

    The scores of relevant item number i are in ``scores[row[i]]``; its own is ``threshold[i]``.
    """
    at_once = max(_COMPARED // scores.shape[1], 1)
    for start in range(0, len(row), at_once):
        some = slice(start, min(start + at_once, len(row)))
        theirs, score = scores[row[some]], threshold[some, None]
        yield some, theirs > score, theirs == score


def users_of(pairs: csr_array) -> Ints:
    """Return the row number (user) of each stored entry of a matrix of users × items."""
    return np.repeat(np.arange(pairs.shape[0]), np.diff(pairs.indptr))


def remove(relevant: csr_array, *flags: Flags) -> None:
    """Set flags of relevant items to False.

    ``relevant`` holds, in the rows of the flags, all relevant items of the user.
    """
    for some in flags:
        some[users_of(relevant), relevant.indices] = False


def packed(above: Flags, tied: Flags) -> Bits:
    """Return marks from flags of irrelevant items, shape (rows, items) each."""
    bits = np.zeros((2, len(above), -(-above.shape[1] // 64) * 8), dtype=np.uint8)
    for part, flags in zip(bits, (above, tied), strict=True):
        if np.any(flags):
            part[:, : -(-above.shape[1] // 8)] = np.packbits(flags, axis=1)
    return bits.view(np.uint64)


def common(first: Bits, second: Bits) -> Ints:
    """Return the numbers of items above or tied in both rankings: (rows, 2, 2).

    The second axis is that of the ``first`` ranking, the third axis that of the ``second``.
    """
    counts = [[np.bitwise_count(a & b).sum(axis=1, dtype=np.int64) for b in second] for a in first]
    return np.array(counts).transpose(2, 0, 1)


def with_overlaps(sets: Sequence[RankSet], marks: Sequence[Bits]) -> list[RankSet]:
    """Return rank sets that hold the overlaps of all pairs, from the marks of each system."""
    overlaps: list[dict[str, Ints]] = [{} for _ in sets]
    for i, j in combinations(range(len(sets)), 2):
        overlaps[i][sets[j].system] = common(marks[i], marks[j])
    return [ranks.with_overlaps(x) for ranks, x in zip(sets, overlaps, strict=True)]
