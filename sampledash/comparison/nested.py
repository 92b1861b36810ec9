r"""Covariance of two sampled counts when one set of items lies inside the other.

Let the smaller set have :math:`a` items above a relevant item and the larger one :math:`b`. Given
that t of the drawn items are in the larger set, those in the smaller one are Hypergeometric(b, a,
t) without replacement, and Binomial(t, share of the weight) otherwise. That is the situation of
two relevant items of one list, and the extreme one of two systems that see the same negatives.
"""

from __future__ import annotations

import numpy as np

from sampledash import laws
from sampledash.types import Floats

_NOTHING = 1e-20  # a less likely count adds nothing to a covariance
_STRAIGHT = 1e-14  # steps that differ by no more are equal
_CHUNK = 1 << 19  # entries of the laws held at a time
_CACHE = 1 << 15  # entries of the laws that are drawn on together: they stay in cache


def nested_covariances(
    scheme: str,
    m: int,
    inner: Floats,
    outer: Floats,
    outside: Floats,
    first: Floats,
    second: Floats,
) -> Floats:
    """Covariances of functions of two nested counts, one row per pair of sets.

    Parameters
    ----------
    scheme, m
        How the negatives are drawn.
    inner, outer
        Items (or sampling weight) in the smaller and in the larger set, shape (pairs,).
    outside
        Items (or weight) outside the larger set, shape (pairs,).
    first, second
        Values of the counts 0..m in the smaller and in the larger set, shapes (m + 1, c) and
        (m + 1, d).

    Returns
    -------
    Array of shape (pairs, c, d).
    """
    if max(float(np.ptp(np.diff(v, axis=0), axis=0).max()) for v in (first, second)) <= _STRAIGHT:
        # Linear in the counts, as AUC is: the covariance of the counts is known.
        total = outer + outside
        common = m * (inner / total) * (outside / total)
        if scheme == "without-replacement":
            common *= (total - m) / np.maximum(total - 1, 1)
        slopes = np.multiply.outer(first[1] - first[0], second[1] - second[0])
        return np.asarray(common[:, None, None] * slopes)
    result = np.zeros((len(inner), first.shape[1], second.shape[1]))
    live = np.flatnonzero((inner > 0) & (outside > 0) | (inner > 0) & (outer > inner))
    live = live[np.lexsort((inner[live], outer[live]))]
    step = max(1, _CHUNK // (m + 1))
    for start in range(0, len(live), step):
        at = live[start : start + step]
        p = _laws(scheme, m, outer[at], outside[at])
        own = _laws(scheme, m, inner[at], outer[at] - inner[at] + outside[at])
        tops, widths = (1 + m - np.argmax(law[:, ::-1] > _NOTHING, axis=1) for law in (p, own))
        weighted = second[None] - np.einsum("pt,td->pd", p, second)[:, None]
        weighted *= p[:, :, None]
        centred = first[None] - np.einsum("ps,sc->pc", own, first)[:, None]
        begin = 0
        while begin < len(at):
            size = max(1, _CACHE // int(widths[begin : begin + _CACHE].max()))
            rows = slice(begin, begin + size)
            top, width = int(tops[rows].max()), int(widths[rows].max())
            given = _conditional_means(
                scheme, inner[at[rows]], outer[at[rows]], centred[rows, :width], top
            )
            result[at[rows]] = np.einsum("ptd,tpc->pcd", weighted[rows, :top], given)
            begin += size
    return result


def _laws(scheme: str, m: int, above: Floats, below: Floats) -> Floats:
    """Laws of all rows, equal ones evaluated once: (rows, m + 1)."""
    _, first, inverse = np.unique(above + 1j * below, return_index=True, return_inverse=True)
    return laws.pmf(scheme, m, above[first], below[first])[inverse]


def _conditional_means(
    scheme: str, inner: Floats, outer: Floats, values: Floats, top: int
) -> Floats:
    """Mean value given t = 0..top - 1 draws from the larger set: (top, pairs, c).

    The law is followed from draw to draw: the next item comes from the smaller set with the share
    of it that is left. ``values`` of the counts that occur, shape (pairs, width, c).
    """
    width = values.shape[1]
    law = np.zeros((width + 1, len(inner)))
    law[0] = 1.0
    left = inner - np.arange(width + 1)[:, None] if scheme == "without-replacement" else inner
    moved = np.empty_like(law)
    means = np.empty((top, len(inner), values.shape[2]))
    by_count = values.transpose(2, 1, 0).copy()
    for t in range(top):
        used = min(t, width - 1) + 1  # counts that t draws can reach
        for c, column in enumerate(by_count):
            np.einsum("sp,sp->p", law[:used], column[:used], out=means[t, :, c])
        rest = np.maximum(outer - t, 1.0) if scheme == "without-replacement" else outer
        part = left[:used] if scheme == "without-replacement" else left
        np.multiply(law[:used], part / rest, out=moved[:used])
        law[:used] -= moved[:used]
        law[1 : used + 1] += moved[:used]
        law[width] = 0.0
    return means
