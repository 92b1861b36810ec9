"""Sampled ranks from the scores of relevant items and of their sampled negatives."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sampledash import checks
from sampledash.sampled_rank_sets import SampledRankSet, TieRule
from sampledash.schemes import DEFAULT_SCHEME, Scheme
from sampledash.types import Ints

_SHAPES = "give pos (P,) and neg (P, m), or neg (m,) for one list of negatives that serves all"


def from_scores(
    pos: ArrayLike,
    neg: ArrayLike,
    n: ArrayLike,
    *,
    ties: TieRule = "expected",
    system: str = "scores",
    scheme: Scheme = DEFAULT_SCHEME,
) -> SampledRankSet:
    """Return sampled ranks, computed from arrays of scores such as those of link prediction.

    Parameters
    ----------
    pos
        Score of the relevant item of each instance, shape (P,); larger is better. Tensors of torch
        are read as arrays.
    neg
        Scores of the negatives of each instance, shape (P, m), or of one list of negatives that
        serves all instances, shape (m,).
    n
        Number of candidates: the items that negatives were drawn from, plus the relevant item; one
        number, or one per instance.
    ties
        ``"expected"``: tied items are in random order. ``"optimistic"`` and ``"pessimistic"``: the
        relevant item is the first, or the last, of the tied items. ``"mean-rank"``: the uncorrected
        metric is computed from the mean of the first and the last rank, as OGB, TGB and PyKEEN
        publish it; all other results assume a random order.
    system
        Name of the system.
    scheme
        How the negatives were drawn, ``"without-replacement"`` or ``"with-replacement"``.

    Returns
    -------
    For each instance the sampled rank, 1 + (number of negatives with a larger score), and the
    number of negatives tied with the relevant item. If the relevant item itself is among the
    negatives, it counts as a tied negative, because scores do not identify items.

    Raises
    ------
    ValueError
        If a score is no finite number, an array has another shape or is empty, or n is too small.

    Notes
    -----
    ``estimate(metric, ..., "uncorrected").value`` is the number that such an evaluation publishes.
    In OGB, Hits@K with one list of negatives counts a relevant item as a hit only if its score is
    strictly larger than the K-th largest score of a negative: use ``ties="pessimistic"``.

    One list for all instances is a single draw of negatives, however many instances there are. All
    entries then have one label in ``instances``, and intervals are as wide as for one instance.

    References
    ----------
    Hu et al., Open Graph Benchmark, NeurIPS 2020; Huang et al., Temporal Graph Benchmark, NeurIPS
    2023; Berrendorf et al., On the Ambiguity of Rank-Based Evaluation, 2020 (mean rank).

    Examples
    --------
    >>> from sampledash import estimate
    >>> scores = [0.9, 0.4], [[0.3, 0.5, 0.1], [0.4, 0.8, 0.2]]
    >>> samples = from_scores(*scores, n=1000, ties="mean-rank")
    >>> samples.sampled_ranks.tolist(), samples.ties.tolist()
    ([1, 2], [0, 1])
    >>> estimate("MRR", samples, "uncorrected").value  # (1 + 1 / 2.5) / 2
    0.7
    """
    above, tied, m = above_and_tied(pos, neg)
    shared = np.zeros(len(above), dtype=int) if np.ndim(neg) == 1 else None
    samples = SampledRankSet(
        system, above + 1, n, m, scheme=scheme, instances=shared, adaptive=False, ties=tied
    )
    return samples.with_ties(ties)


def above_and_tied(pos: ArrayLike, neg: ArrayLike) -> tuple[Ints, Ints, int]:
    """Return how many negatives score higher than each positive, how many equal it, and m."""
    best, others = checks.array_of("pos", pos), _finite("neg", neg, (1, 2))
    best = _finite("pos", best[:, 0] if best.shape[1:] == (1,) else best, (1,))
    if others.ndim == 1:
        ordered = np.sort(others)
        first, last = (np.searchsorted(ordered, best, side) for side in ("left", "right"))
        return len(others) - last, last - first, len(others)
    if len(others) != len(best):
        sizes = f"pos has {len(best)} scores, but neg has {len(others)} rows"
        raise ValueError(f"{sizes}: give a row for each score")
    column = best[:, None]
    above, tied = (np.count_nonzero(x, axis=1) for x in (others > column, others == column))
    return above, tied, others.shape[1]


def _finite(name: str, scores: ArrayLike, dimensions: tuple[int, ...]) -> NDArray[Any]:
    """Return scores as an array; refuse a wrong or empty shape, and scores that are not finite."""
    array = checks.array_of(name, scores)
    if array.ndim not in dimensions or array.size == 0:
        empty = " and is empty" * (array.size == 0)
        raise ValueError(f"{name} has the shape {array.shape}{empty}: {_SHAPES}")
    if array.dtype.kind not in "iuf":
        raise ValueError(f"{name} must hold numbers, got values of the type {array.dtype}")
    if not np.all(finite := np.isfinite(array)):
        place = np.argwhere(~finite)[0]
        held = f"row {place[0] + 1}, holds {array[tuple(place)]}, which is no score"
        raise ValueError(f"{name}, {held}: give a finite number for each candidate")
    return array
