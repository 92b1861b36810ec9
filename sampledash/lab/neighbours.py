"""Item-based recommenders, learned from how many users took (interacted with) both of two items.

References
----------
Walid Krichene, Steffen Rendle. On Sampled Metrics for Item Recommendation. KDD 2020, section 9.
Harald Steck. Embarrassingly Shallow Autoencoders for Sparse Data. WWW 2019.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import numpy as np
from scipy.sparse import csr_array, vstack

from sampledash.lab.models import ItemWeights, Part, Scores, TrainingProgress, within
from sampledash.types import Floats, blocks

#: Largest number of pairs (two items of one user) that are counted in a block of rows, so that a
#: block takes a few hundredths of a second.
PAIRS = 2**22
#: Largest number of elements (rows × columns) of a block of :func:`cooccurrence`.
BLOCK = 2**21
#: Number of rows of a matrix that :func:`_invert` updates between two reports of progress.
STRIPE = 1024
#: Number of columns in a block of the matrix of weights (items × items). A block fits into the
#: processor's cache, which halves the time of scoring.
WIDTH = 512
#: Largest memory in bytes for the weights between all items. More memory is refused by an error.
LARGEST = 2**30


def with_data(matrix: Any, data: Any) -> Any:
    """Return a sparse matrix (CSR) that stores ``data`` where ``matrix`` has stored entries."""
    return csr_array((np.asarray(data, np.float32), matrix.indices, matrix.indptr), matrix.shape)


def _check_size(n: int, size: int, remedy: str = "") -> None:
    if size > LARGEST:
        large = f"weights between {n:,} items take more than {LARGEST >> 20:,} MiB"
        raise ValueError(f"{large}: {remedy}keep only items with more interactions")


def cooccurrence(taken: Any) -> Generator[tuple[slice, Any, float]]:
    """Count for each pair of items how many users took both; yield the matrix by blocks of rows.

    ``taken`` (CSR, users × items) is 1 where a user took an item. Each step yields a slice of rows
    (items), their counts (CSR, float32, exact), and the share of the work that is done.
    """
    by_item = taken.T.tocsr()
    work = np.cumsum(by_item @ np.diff(taken.indptr).astype(np.float64))
    start, n = 0, len(work)
    while start < n:
        stop = int(np.searchsorted(work, (work[start - 1] if start else 0.0) + PAIRS))
        stop = min(max(stop, start + 1), start + max(1, BLOCK // n), n)
        yield slice(start, stop), by_item[start:stop] @ taken, stop / n
        start = stop


def item_cosine(history: Any, *, q: float, k: float) -> Part[ItemWeights]:
    r"""Train a recommender by powers of the cosine between items (Krichene & Rendle, eq. 27-30).

    :math:`s_{ij} = (C_{ij} / \sqrt{n_i n_j})^q`, where :math:`C_{ij}` users took both items and
    :math:`n_i` took i. A candidate i has the score :math:`\sum_j s''_{ij}` over the items j that
    the user took, where s'' is s with each row scaled to the Euclidean length 1.

    Parameters
    ----------
    history
        Interactions, CSR of users × items; the values are ignored.
    q
        Exponent of the cosine.
    k
        A taken item adds to the scores of its k nearest neighbours only; if k is infinite, to the
        scores of all items.

    Notes
    -----
    These choices reproduce the ranks of the paper. The denominator of eq. 30 is left out. If k is
    infinite, s_ii is included in the length of row i. If k is finite, an item is not its own
    neighbour, and s_ij is 0 unless i is one of the k nearest neighbours of j. The nearest
    neighbours are the items i with the largest :math:`C_{ij}^2 / n_i`, compared exactly; if two
    items are equally near, the item with the smaller index comes first.
    """
    taken = with_data(history, np.ones(history.nnz, np.float32))
    counts = np.bincount(taken.indices, minlength=taken.shape[1]).astype(np.float64)
    n, blocks, squares, size = len(counts), [], np.zeros(len(counts)), 0
    dense = not np.isfinite(k) and 8 * n * n <= LARGEST / 4
    whole: list[Any] = [np.empty((n, part.stop - part.start)) for part in _columns(n) if dense]
    for rows, block, share in cooccurrence(taken):
        # Row j of ``block`` holds the number C_ij of users who took both i and j, for all items i.
        # Replace each C_ij by s_ij, the cosine of i and j to the power q.
        if np.isfinite(k):
            block = _nearest(block, counts, rows.start, int(k))
        voter = np.repeat(np.arange(rows.start, rows.stop), np.diff(block.indptr))
        block.data = (block.data / np.sqrt(counts[voter] * counts[block.indices])) ** q
        squares += np.bincount(block.indices, block.data**2, minlength=n)
        if dense:
            for columns, weights in zip(_columns(n), whole, strict=True):
                weights[rows] = block[:, columns].toarray()
        else:
            blocks.append(block if np.isfinite(k) else block.astype(np.float32))
            size += 8 * block.nnz
            _check_size(n, size, "limit the neighbours, as with k=100, or ")
        yield TrainingProgress(share)
    length = np.sqrt(np.where(squares > 0, squares, 1))
    if not dense:
        whole = [vstack(blocks, format="csr")]
        whole[0].data /= length[whole[0].indices]
        return ItemWeights(taken, whole)
    for columns, weights in zip(_columns(n), whole, strict=True):
        weights /= length[columns]
    return ItemWeights(taken, whole)


def _columns(n: int) -> list[slice]:
    """Return slices that split n columns into blocks of at most ``WIDTH`` columns."""
    return list(blocks(n, WIDTH, 1))


def _nearest(block: Any, counts: Floats, first: int, k: int) -> Any:
    """Return a block of co-occurrence counts, 0 except at the k nearest neighbours of each item.

    The rows are the items j from ``first`` on. C_ji users took both j and i, and n_i users took i:
    ``counts[i]``. The nearest neighbours i ≠ j of j have the largest C_ji² / n_i. If only some of
    several equally near neighbours can be kept, the first are kept. If at most about 10⁵ users
    took an item, double precision shows exactly whether two neighbours are equally near.
    """
    near = block.toarray().astype(np.float64)
    near **= 2
    near /= np.maximum(counts, 1)
    rows = np.arange(len(near))
    near[rows, first + rows] = 0
    k = min(k, near.shape[1])
    least = np.partition(near, -k, axis=1)[:, -k, None]
    above, equal = near > least, near == least
    room = k - above.sum(axis=1, keepdims=True)
    keep = (above | (equal & (np.cumsum(equal, axis=1) <= room))) & (near > 0)
    return csr_array(np.where(keep, block.toarray(), 0).astype(np.float64))


def ease(history: Any, *, ridge: float) -> Part[ItemWeights]:
    r"""Learn weights that predict an item of a user from the user's other items (Steck, WWW 2019).

    X is the matrix of interactions, users × items. The weights B, whose diagonal is 0, minimise
    :math:`|X - X B|_F^2 + \lambda |B|_F^2`. The solution is :math:`B_{ij} = -P_{ij} / P_{jj}` for
    i ≠ j, with :math:`P = (X^T X + \lambda I)^{-1}` (eq. 8).

    Parameters
    ----------
    history
        Interactions, CSR of users × items; the values are ignored.
    ridge
        The ridge λ, above 0.
    """
    taken = with_data(history, np.ones(history.nnz, np.float32))
    n = taken.shape[1]
    _check_size(n, 4 * n * n)
    whole = np.empty((n, n), np.float64 if 8 * n * n <= LARGEST / 4 else np.float32)
    for rows, block, share in cooccurrence(taken):
        whole[rows] = block.toarray()
        yield TrainingProgress(0.4 * share)
    whole[np.arange(n), np.arange(n)] += ridge
    yield from within(_invert(whole), 0.4, 0.95)
    scale = -1 / whole.diagonal()
    blocks = []
    for columns in _columns(n):
        weights = (whole[:, columns] * scale[columns]).astype(np.float32)
        weights[np.arange(n)[columns], np.arange(weights.shape[1])] = 0
        blocks.append(weights)
        yield TrainingProgress(0.95 + 0.05 * columns.stop / n)
    return ItemWeights(taken, blocks)


def _invert(matrix: Scores) -> Part[None]:
    """Invert a positive definite matrix in place, by Gauss-Jordan elimination of blocks."""
    n = len(matrix)
    for block in blocks(n, 128, 1):
        pivot = np.linalg.inv(matrix[block, block])
        column, row = matrix[:, block].copy(), pivot @ matrix[block]
        column[block], row[:, block] = 0, 0
        for stripe in blocks(n, STRIPE, 1):
            matrix[stripe] -= column[stripe] @ row
            done = block.start + (block.stop - block.start) * stripe.start / n
            yield TrainingProgress(done / n)
        matrix[:, block], matrix[block], matrix[block, block] = -column @ pivot, row, pivot
