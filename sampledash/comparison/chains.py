r"""Covariances of the relevant items of one list, along the list instead of pair by pair.

Of the items drawn above a relevant item, those above the better ranked one before it are a
binomial or hypergeometric draw. So with :math:`N_j` the number drawn above the j-th, and centred
contributions :math:`v_j`, the sums over all pairs follow from one item to the next:

.. math:: C_{j+1}(t) = E[C_j(N_j) \mid N_{j+1} = t] + v_{j+1}(t)\, E[S_j(N_j) \mid N_{j+1} = t],

where S is the sum of the contributions so far. With R relevant items that is R - 1 steps for
R (R - 1) / 2 pairs.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sampledash import laws
from sampledash.counts import RankCounts
from sampledash.protocol import Protocol
from sampledash.types import Floats

Late = dict[int, list[tuple[int, int, int]]]

_CHUNK = 1 << 19  # entries of conditional sums held at a time


def summed_covariances(
    rows: RankCounts, starts: NDArray[np.intp], m: int, protocol: Protocol, vectors: Floats
) -> Floats:
    """Sum of the covariances of all pairs of relevant items, per instance.

    Parameters
    ----------
    rows
        One atom per relevant item, sorted by instance and position; without ties.
    starts
        First row of each instance asked for; without replacement with at least m negatives.
    m, protocol
        Number and scheme of draws.
    vectors
        Values of the counts 0..m above the first, second, ... item: shape (items, m + 1, c).

    Returns
    -------
    Array of shape (instances, c).
    """
    above, below = protocol.weights(rows)
    width = vectors.shape[2]
    found = np.empty((len(starts), width))
    longest = np.argsort(-rows.relevant[starts], kind="stable")
    step = max(1, _CHUNK // ((m + 1) * 2 * width))
    for start in range(0, len(starts), step):
        chosen = longest[start : start + step]
        first, size = starts[chosen], rows.relevant[starts[chosen]]
        # Column by column: sums so far, and sums over pairs so far.
        both = np.zeros((len(chosen), m + 1, 2 * width))
        for j in range(int(size[0])):
            live = int(np.sum(size > j))  # the others are done
            at = first[:live] + j
            if j:
                both = given(protocol.scheme, m, above[at - 1], above[at], both[:live])
            p = laws.pmf(protocol.scheme, m, above[at], below[at])
            value = vectors[j] - (p @ vectors[j])[:, None]
            both[:, :, width:] += value * both[:, :, :width]
            both[:, :, :width] += value
            found[chosen[:live]] = np.einsum("pt,ptc->pc", p, both[:, :, width:])
    return found


def given(scheme: str, m: int, inner: Floats, outer: Floats, values: Floats) -> Floats:
    """Expected value of the count in the inner set, given that t = 0..m draws lie in the outer one.

    Parameters
    ----------
    scheme, m
        How the negatives are drawn.
    inner, outer
        Items (or weight) in either set, the first within the second: shape (p,).
    values
        Value of the counts 0..m in the inner set, shape (p, m + 1, c).

    Returns
    -------
    Array of shape (p, m + 1, c); without replacement 0 where t is more than ``outer``.
    """
    law = np.zeros((len(inner), m + 1))
    now = outer >= (m if scheme == "without-replacement" else np.finfo(float).tiny)
    if np.any(now):
        law[now] = laws.pmf(scheme, m, inner[now], np.maximum(outer[now] - inner[now], 0.0))
    late: Late = {m: [(row, 0, 0) for row in np.flatnonzero(outer == 0).tolist()]}
    for row in np.flatnonzero(~now & (outer > 0)).tolist():
        late.setdefault(int(outer[row]), []).append((row, int(inner[row]), int(inner[row])))
    return thinned(law, late, values)


def thinned(law: Floats, late: Late, values: Floats, *, beyond: bool = False) -> Floats:
    """Expected value of a count after m, m - 1, ..., 0 draws, from its law after m.

    Parameters
    ----------
    law
        Laws after m draws, shape (p, m + 1); overwritten.
    late
        Where m draws are too many: rows (row, first, last) that enter with that many draws, when
        the count is one of first..last.
    values
        Value of each count, shape (p, m + 1, c).
    beyond
        The count is added to the m - t draws that went elsewhere.

    Returns
    -------
    Array of shape (p, m + 1, c): entry t is that of t draws, or with ``beyond`` of m - t.
    """
    result = np.zeros(values.shape)
    m = law.shape[1] - 1
    for t in range(m, -1, -1):
        for row, first, last in late.get(t, ()):
            law[row] = 0.0
            law[row, first : last + 1] = 1 / (last - first + 1)
        at, counted = (m - t, values[:, m - t :]) if beyond else (t, values[:, : t + 1])
        result[:, at] = np.matmul(law[:, None, : t + 1], counted)[:, 0]
        if t:
            s = np.arange(t)
            law[:, :t] = law[:, :t] * ((t - s) / t) + law[:, 1 : t + 1] * ((s + 1) / t)
    return result
