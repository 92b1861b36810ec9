r"""Covariances of sampled counts: of relevant items of one list, and of two nested sets of items.

**Along a list.** Of the items drawn above a relevant item, those above the better ranked one before
it are a binomial or hypergeometric draw. So with :math:`N_j` the number drawn above the j-th, and
centred contributions :math:`v_j`, the sums over all pairs follow from one item to the next:

.. math:: C_{j+1}(t) = E[C_j(N_j) \mid N_{j+1} = t] + v_{j+1}(t)\, E[S_j(N_j) \mid N_{j+1} = t],

where S is the sum of the contributions so far. With R relevant items that is R - 1 steps for
R (R - 1) / 2 pairs.

**Tied items.** Let W of the m drawn items be among those certainly above the lower of two. Given W,
what is drawn above the upper one and of the lower one's tied block are independent:

.. math:: \operatorname{cov}(f, g) = \operatorname{cov}_W\bigl(E[f \mid W],\, E[g \mid W]\bigr).

Both expectations are needed at every W, from laws of every number of draws: one law, thinned.

**Nested sets.** Of t items drawn from a set of b, those in a set of a inside it are
Hypergeometric(b, a, t) without replacement, and Binomial(t, share of the weight) otherwise. That is
the extreme case of two systems that see the same negatives.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sampledash import laws
from sampledash.comparison import ties
from sampledash.counts import RankCounts, unique_rows
from sampledash.metrics import Metric
from sampledash.protocol import Protocol
from sampledash.ranksets import RankSet
from sampledash.types import Floats

Late = dict[int, list[tuple[int, int, int]]]
_CHUNK = 1 << 19  # entries of conditional sums held at a time
_NOTHING = 1e-20  # a less likely count adds nothing to a covariance
_STRAIGHT = 1e-14  # steps that differ by no more are equal
_CACHE = 1 << 15  # entries of the laws that are drawn on together: they stay in cache
_HELD = 1 << 20  # entries of conditional expectations held at a time


def pair_covariances(
    metrics: Sequence[Metric], ranks: RankSet, m: int, protocol: Protocol
) -> Floats:
    """Sum of the covariances of the relevant items of each instance, before ``scale``: (D, c).

    Where all negatives are drawn nothing is left to vary together.
    """
    rows, atoms = ranks.rows(protocol.ties), ranks.atoms(protocol.ties)
    starts = np.flatnonzero(rows.position == 1)
    wanted = rows.relevant[starts] > 1
    if protocol.without:
        wanted &= rows.negatives[starts] >= m
    tied = wanted & (np.add.reduceat(rows.tied, starts) > 0)
    if protocol.scheme == "popularity" and np.any(tied):
        raise ValueError(
            f"system {ranks.system!r} has ties and several relevant items in one instance: with "
            "popularity the scatter is available for ties='optimistic' or 'pessimistic'"
        )
    vectors = np.array(
        [[protocol.vector(metric, atoms, m, j) for metric in metrics] for j in atoms.positions]
    ).swapaxes(1, 2)
    found = np.zeros((len(starts), len(metrics)))
    plain = wanted & ~tied
    found[plain] = _summed_covariances(rows, starts[plain], m, protocol, vectors)
    if np.any(tied):
        owner = np.cumsum(rows.position == 1) - 1
        upper, lower = [], []
        for gap in range(1, int(rows.relevant.max())):
            at = np.flatnonzero(tied[owner] & (rows.position + gap <= rows.relevant))
            upper.append(at)
            lower.append(at + gap)
        high, low = np.concatenate(upper), np.concatenate(lower)
        first, inverse = unique_rows([*rows[high].columns, *rows[low].columns])
        each = _tied_covariances(protocol, m, rows[high[first]], rows[low[first]], vectors)
        np.add.at(found, owner[high], each[inverse])
    return found


def _summed_covariances(
    rows: RankCounts, starts: NDArray[np.intp], m: int, protocol: Protocol, vectors: Floats
) -> Floats:
    """Sum of the covariances of all pairs of relevant items of instances without ties: (D, c).

    ``starts`` are their first rows; ``vectors`` (items, m + 1, c) hold the values of the counts
    0..m above the first, second, ... item.
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
                both = _given(protocol.scheme, m, above[at - 1], above[at], both[:live])
            p = laws.pmf(protocol.scheme, m, above[at], below[at])
            value = vectors[j] - (p @ vectors[j])[:, None]
            both[:, :, width:] += value * both[:, :, :width]
            both[:, :, :width] += value
            found[chosen[:live]] = np.einsum("pt,ptc->pc", p, both[:, :, width:])
    return found


def _given(scheme: str, m: int, inner: Floats, outer: Floats, values: Floats) -> Floats:
    """Expected value of the count in the inner set if t = 0..m draws lie in the outer: (p, m+1, c).

    ``inner`` and ``outer`` are items (or weight) in either set, (p,); ``values`` are those of the
    counts 0..m in the inner one. Without replacement 0 where t is more than ``outer``.
    """
    law = np.zeros((len(inner), m + 1))
    now = outer >= (m if scheme == "without-replacement" else np.finfo(float).tiny)
    if np.any(now):
        law[now] = laws.pmf(scheme, m, inner[now], np.maximum(outer[now] - inner[now], 0.0))
    late: Late = {m: [(row, 0, 0) for row in np.flatnonzero(outer == 0).tolist()]}
    for row in np.flatnonzero(~now & (outer > 0)).tolist():
        late.setdefault(int(outer[row]), []).append((row, int(inner[row]), int(inner[row])))
    return _thinned(law, late, values)


def _thinned(law: Floats, late: Late, values: Floats, *, beyond: bool = False) -> Floats:
    """Expected value of a count after t = 0..m draws, from its law (p, m + 1) after m.

    The law is overwritten. ``late`` has the rows (row, first, last) for which m draws are too many:
    they enter with that many draws, when the count is one of first..last. With ``beyond`` entry t
    is that of m - t draws, and the count is added to the t that went elsewhere.
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


def nested_covariances(
    scheme: str,
    m: int,
    inner: Floats,
    outer: Floats,
    outside: Floats,
    first: Floats,
    second: Floats,
) -> Floats:
    """Covariances of functions of two nested counts, for each pair of sets: (pairs, c, d).

    ``inner`` and ``outer`` are items (or sampling weight) in the smaller and in the larger set,
    ``outside`` those outside the larger; ``first`` (m + 1, c) and ``second`` (m + 1, d) the values
    of the counts 0..m in either set.
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
        p = _distinct_laws(scheme, m, outer[at], outside[at])
        own = _distinct_laws(scheme, m, inner[at], outer[at] - inner[at] + outside[at])
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


def _distinct_laws(scheme: str, m: int, above: Floats, below: Floats) -> Floats:
    """Laws of all rows, equal ones evaluated once: (rows, m + 1)."""
    first, inverse = unique_rows([above, below])
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


def _tied_covariances(
    protocol: Protocol, m: int, upper: RankCounts, lower: RankCounts, vectors: Floats
) -> Floats:
    """Covariances of pairs of relevant items whose ties fall in random order: (pairs, c)."""
    result = np.zeros((len(upper), vectors.shape[2]))
    step = max(1, _HELD // vectors[0].size)
    for start in range(0, len(upper), step):
        rows = np.arange(start, min(start + step, len(upper)))
        high, low = upper[rows], lower[rows]
        within = replace(high, negatives=high.above + high.tied)
        f = _conditional(protocol, m, within, vectors[high.position - 1])
        certain = replace(
            low, above=within.negatives, negatives=low.above, tied=np.zeros_like(low.tied)
        )
        f = _conditional(protocol, m, certain, f)
        rest = replace(low, above=np.zeros_like(low.above), negatives=low.negatives - low.above)
        g = _conditional(protocol, m, rest, vectors[low.position - 1], beyond=True)
        p = laws.pmf(protocol.scheme, m, low.above, low.negatives - low.above)
        f -= np.einsum("pw,pwc->pc", p, f)[:, None]
        g -= np.einsum("pw,pwc->pc", p, g)[:, None]
        result[rows] = np.einsum("pw,pwc,pwc->pc", p, f, g)
    return result


def _conditional(
    protocol: Protocol, m: int, atoms: RankCounts, values: Floats, *, beyond: bool = False
) -> Floats:
    """Expected value of the count above, given that t of the atoms' items are drawn: (p, m+1, c).

    Entry t is that of t draws; or, with ``beyond``, of m - t draws, which count from t on.
    """
    law = np.zeros((len(atoms), m + 1))
    now = atoms.negatives >= (m if protocol.without else 1)
    at = np.flatnonzero(now)
    for picked, p in ties.atom_laws(protocol, m, atoms[at]):
        law[at[picked]] = p
    late: Late = {m: [(row, 0, 0) for row in np.flatnonzero(atoms.negatives == 0).tolist()]}
    for row in np.flatnonzero(~now & (atoms.negatives > 0)).tolist():
        above, tied = int(atoms.above[row]), int(atoms.tied[row])
        # All are drawn: only the order of the ties is left open.
        late.setdefault(int(atoms.negatives[row]), []).append((row, above, above + tied))
    return _thinned(law, late, values, beyond=beyond)
