"""Item-based recommenders: items that a user took vote for items that other users took with them.

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
from sampledash.types import Floats

#: Pairs of interactions that are counted for a block of co-occurrences: some hundredths of a
#: second of work.
PAIRS = 2**22
#: Most numbers in a block of co-occurrences, if it is dense.
BLOCK = 2**21
#: Rows of a dense matrix that are updated at once.
STRIPE = 1024
#: Columns in a block of weights: a block that fits the cache halves the time of scoring.
WIDTH = 512
#: Largest size in bytes of the weights between items.
LARGEST = 2**30


def _ones(history: Any) -> Any:
    """Return the matrix with all stored values replaced by 1."""
    ones = np.ones(history.nnz, np.float32)
    return csr_array((ones, history.indices, history.indptr), history.shape)


def _check_size(n: int, size: int, remedy: str = "") -> None:
    if size > LARGEST:
        raise ValueError(
            f"weights between {n:,} items take more than {LARGEST >> 20:,} MiB: {remedy}keep only "
            "items with more interactions"
        )


def cooccurrence(taken: Any) -> Generator[tuple[slice, Any, float]]:
    """Yield how many users took both of two items, by blocks of rows (CSR, float32, exact).

    ``taken`` is the CSR of users × items of ones. A step yields a slice of rows, counts, the share.
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
    r"""Sharpened cosine between items (Krichene & Rendle, eq. 27-30).

    :math:`s_{ij} = (C_{ij} / \sqrt{n_i n_j})^q`, where :math:`C_{ij}` users took both items and
    :math:`n_i` took i. A candidate i gets the score :math:`\sum_j s''_{ij}` over the items j that
    the user took, where each row of s'' is s scaled to the Euclidean length 1.

    Parameters
    ----------
    history
        Interactions, CSR of users × items; the values are ignored.
    q
        Exponent.
    k
        Number of nearest neighbours that an item votes for; infinite means every item.

    Notes
    -----
    These choices reproduce the ranks of the paper: the denominator of eq. 30 is not applied;
    without a limit k, s_ii counts in the length of row i; with a limit, an item is not its own
    neighbour, and s_ij is kept where i is one of the k nearest neighbours of j. Neighbours are
    compared exactly, by :math:`C_{ij}^2 / n_i`; among equal neighbours the smaller index wins.
    """
    taken = _ones(history)
    counts = np.bincount(taken.indices, minlength=taken.shape[1]).astype(np.float64)
    n, blocks, squares, size = len(counts), [], np.zeros(len(counts)), 0
    dense = not np.isfinite(k) and 8 * n * n <= LARGEST / 4
    whole: list[Any] = [np.empty((n, part.stop - part.start)) for part in _columns(n) if dense]
    for rows, block, share in cooccurrence(taken):
        # s is symmetric: row j holds the votes of item j for each candidate.
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
    """Return slices that split n columns into blocks."""
    return [slice(start, min(start + WIDTH, n)) for start in range(0, n, WIDTH)]


def _nearest(block: Any, counts: Floats, first: int, k: int) -> Any:
    """Keep the k largest C_ji² / n_i, i ≠ j, in each row j of counts C; rows begin at ``first``.

    In double precision, two fractions compare as equal only if the true fractions are equal, up to
    some 10⁵ users of one item.
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
    r"""Learn item weights that predict each item of a history from the others (Steck, WWW 2019).

    They minimise :math:`|X - X B|_F^2 + \lambda |B|_F^2` with a zero diagonal of B:
    :math:`B_{ij} = -P_{ij} / P_{jj}` for i ≠ j, :math:`P = (X^T X + \lambda I)^{-1}` (eq. 8).

    Parameters
    ----------
    history
        Interactions, CSR of users × items; the values are ignored.
    ridge
        The ridge λ.
    """
    taken = _ones(history)
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
    """Invert a positive definite matrix in place, by Gauss-Jordan steps on blocks."""
    n, width = len(matrix), 128
    for start in range(0, n, width):
        block = slice(start, stop := min(start + width, n))
        pivot = np.linalg.inv(matrix[block, block])
        column, row = matrix[:, block].copy(), pivot @ matrix[block]
        column[block], row[:, block] = 0, 0
        for top in range(0, n, STRIPE):
            matrix[top : top + STRIPE] -= column[top : top + STRIPE] @ row
            yield TrainingProgress((start + (stop - start) * top / n) / n)
        matrix[:, block], matrix[block], matrix[block, block] = -column @ pivot, row, pivot
