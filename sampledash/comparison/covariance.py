r"""Covariances of sampled counts: of relevant items of one list, and of two nested sets of items.

**Nested sets.** Of t items drawn from a set of b, those in a set of a inside it are
Hypergeometric(b, a, t) without replacement, and Binomial(t, share of the weight) otherwise. Two
systems that see the same negatives have nested sets at one extreme.

**Along a list.** The items above a relevant one are inside those above the next. Given how many
items W are drawn above the j-th, its own contribution and the sum S of those before it are
independent, so

.. math:: \operatorname{cov}(S, v_j) = \operatorname{cov}_W\bigl(E[S \mid W],\, E[v_j \mid W]\bigr),

and E[S | W] follows from one item to the next. The contribution of an untied item is a function
of W alone; that of a tied one also depends on what is drawn of its block, and E[v | W] takes its
law for every number of draws: one law, thinned.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sampledash.comparison import ties
from sampledash.metrics import Metric
from sampledash.protocol import Protocol
from sampledash.ranksets import RankCounts, RankSet, unique_rows
from sampledash.sampling import pmf
from sampledash.types import Floats, Ints

_CHUNK = 1 << 19  # entries of conditional sums held at a time
_LEAST = np.finfo(float).tiny
_NOTHING = 1e-20  # a less likely count adds nothing to a covariance
_STRAIGHT = 1e-14  # steps that differ by no more are equal
_CACHE = 1 << 15  # entries of the laws that are drawn on together: they stay in cache


def pair_covariances(
    metrics: Sequence[Metric], ranks: RankSet, m: int, protocol: Protocol
) -> Floats:
    """Sum of the covariances of the relevant items of each instance, before ``scale``: (D, c).

    Where all negatives are drawn nothing is left to vary together.
    """
    rows, atoms = ranks.rows(protocol.ties), ranks.counted(protocol.ties)
    starts = np.flatnonzero(rows.position == 1)
    wanted = rows.relevant[starts] > 1
    if protocol.without:
        wanted &= rows.negatives[starts] >= m
    if protocol.scheme == "popularity" and np.any(np.add.reduceat(rows.tied, starts)[wanted]):
        raise ValueError(
            f"system {ranks.system!r} has ties and several relevant items in one instance: with "
            "popularity the scatter is available for ties='optimistic' or 'pessimistic'"
        )
    vectors = np.array(
        [[protocol.vector(metric, atoms, m, j) for metric in metrics] for j in atoms.positions]
    ).swapaxes(1, 2)
    above, below = protocol.weights(rows)
    found = np.zeros((len(starts), len(metrics)))
    longest = np.flatnonzero(wanted)
    longest = longest[np.argsort(-rows.relevant[starts[longest]], kind="stable")]
    step = max(1, _CHUNK // vectors[0].size)
    for start in range(0, len(longest), step):
        chosen = longest[start : start + step]
        first, size = starts[chosen], rows.relevant[starts[chosen]]
        sums = np.zeros((len(chosen), *vectors.shape[1:]))  # by the count above the last item
        for j in range(1, int(size[0])):
            at = first[size > j] + j  # the others are done
            sums = sums[: len(at)]
            tied = rows.tied[at - 1] > 0
            sums[~tied] += vectors[j - 1]
            if np.any(tied):  # from here on by the count above the end of its block
                upper = rows[at[tied] - 1]
                block = replace(upper, negatives=upper.above + upper.tied)
                sums[tied] = _given(protocol.scheme, upper.above, block.negatives, sums[tied])
                sums[tied] += _tied_means(protocol, m, block, vectors[j - 1])
            sums = _given(protocol.scheme, above[at - 1] + rows.tied[at - 1], above[at], sums)
            values, tied = np.repeat(vectors[None, j], len(at), axis=0), rows.tied[at] > 0
            if np.any(tied):
                lower = rows[at[tied]]
                rest = lower.negatives - lower.above
                block = replace(lower, above=np.zeros_like(lower.above), negatives=rest)
                values[tied] = _tied_means(protocol, m, block, vectors[j], beyond=True)
            p = pmf(protocol.scheme, m, above[at], below[at])
            for each in (sums, values):
                each -= np.einsum("pt,ptc->pc", p, each)[:, None]
            found[chosen[: len(at)]] += np.einsum("pt,ptc,ptc->pc", p, sums, values)
    return found


def _given(scheme: str, inner: Floats | Ints, outer: Floats | Ints, values: Floats) -> Floats:
    """Expected value of the count in the inner set if t = 0..m draws lie in the outer: (p, m+1, c).

    ``inner`` and ``outer`` are items (or weight) in either set; ``values`` of the counts 0..m.
    """
    return _conditional_means(scheme, inner, outer, values, values.shape[1]).swapaxes(0, 1)


def _tied_means(
    protocol: Protocol, m: int, atoms: RankCounts, vector: Floats, *, beyond: bool = False
) -> Floats:
    """Expected value of the count above, if t = 0..m of the atoms' items are drawn: (p, m+1, c).

    Entry t is that of t draws; or, with ``beyond``, of m - t draws, and the count is added to the
    t that went elsewhere.
    """
    law = np.zeros((len(atoms), m + 1))
    result = np.zeros((len(atoms), *vector.shape))
    most = np.minimum(atoms.negatives, m) if protocol.without else np.full(len(atoms), m)
    enough = np.flatnonzero(most == m)
    for picked, p in ties.atom_laws(protocol, m, atoms[enough]):
        law[enough[picked]] = p
    for t in range(m, -1, -1):
        for row in np.flatnonzero((most == t) & (t < m)):
            # All are drawn: only the order of the ties is left open.
            above, tied = atoms.above[row], atoms.tied[row]
            law[row, above : above + tied + 1] = 1 / (tied + 1)
        at, counted = (m - t, vector[m - t :]) if beyond else (t, vector[: t + 1])
        result[:, at] = law[:, : t + 1] @ counted
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
    return pmf(scheme, m, above[first], below[first])[inverse]


def _conditional_means(
    scheme: str, inner: Floats | Ints, outer: Floats | Ints, values: Floats, top: int
) -> Floats:
    """Mean value given t = 0..top - 1 draws from the larger set: (top, pairs, c).

    The law is followed from draw to draw: the next item comes from the smaller set with the share
    of it that is left. ``values`` of the counts that occur, shape (pairs, width, c).
    """
    width = values.shape[1]
    law = np.zeros((width + 1, len(inner)))
    law[0] = 1.0
    without = scheme == "without-replacement"
    left = inner - np.arange(width + 1)[:, None] if without else inner
    moved = np.empty_like(law)
    means = np.empty((top, len(inner), values.shape[2]))
    by_count = values.transpose(2, 1, 0).copy()
    for t in range(top):
        used = min(t, width - 1) + 1  # counts that t draws can reach
        for c, column in enumerate(by_count):
            np.einsum("sp,sp->p", law[:used], column[:used], out=means[t, :, c])
        rest = np.maximum(outer - t, 1.0) if without else np.maximum(outer, _LEAST)
        part = left[:used] if without else left
        np.multiply(law[:used], part / rest, out=moved[:used])
        law[:used] -= moved[:used]
        law[1 : used + 1] += moved[:used]
        law[width] = 0.0
    return means
