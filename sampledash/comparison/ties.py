"""Relevant items tied with irrelevant ones: averages over the order in which a tie may fall.

An item with ``above`` certain items above and ``tied`` more beside it stands, with equal chance,
below above, above + 1, ..., above + tied of them. Sums over that range cost no loop over it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from sampledash import quadrature
from sampledash.metrics import Metric, places_within
from sampledash.protocol import Protocol, as_ranked_by
from sampledash.ranksets import RankCounts
from sampledash.sampling import modes, pmf, pmf_chunks
from sampledash.types import Floats

_TABLE = 10_000_000  # longest table of a metric over all counts above
_FEW = 16  # tied items summed one by one
_CHUNK = 1 << 20  # entries of a block of laws
_CANCELS = 1e3  # largest factor on a difference of two cumulative laws


def exact_values(metric: Metric, atoms: RankCounts) -> Floats:
    """Exact metric of each atom (before ``scale``), averaged over the order of its ties."""
    atoms = as_ranked_by(metric, atoms)
    values = np.empty(len(atoms))
    for j in atoms.positions:
        at = atoms.position == j
        above, tied, total = atoms.above[at], atoms.tied[at], atoms.negatives[at]
        if metric.linear:
            values[at] = metric.of_above(above + tied / 2, total, j)
        elif not tied.any():
            values[at] = metric.of_above(above, total, j)
        elif metric.share is not None:
            last = places_within(metric.share, total) - j  # of the counts that hit
            values[at] = np.clip(last - above + 1, 0, tied + 1) / (tied + 1)
        else:
            values[at] = _range_mean(metric, above, tied, j)
    return values


def exact_variances(metric: Metric, atoms: RankCounts) -> Floats:
    """Variance of the exact metric (before ``scale``) over the order of the ties."""
    atoms = as_ranked_by(metric, atoms)
    values = np.zeros(len(atoms))
    for i in np.flatnonzero(atoms.tied):
        above, tied = int(atoms.above[i]), int(atoms.tied[i])
        total, j = int(atoms.negatives[i]), int(atoms.position[i])
        counts, weights = _integers(above, tied, _cut(metric, j, total))
        each = metric.of_above(counts, total, j)
        mean = weights @ each
        values[i] = weights @ (each - mean) ** 2
    return values


def _range_mean(metric: Metric, above: Floats, tied: Floats, position: int) -> Floats:
    """Mean of the metric over above..above + tied, per row."""
    top = int((above + tied).max())
    if top < _TABLE:
        table = np.concatenate([[0.0], np.cumsum(metric.of_above(np.arange(top + 1), 1, position))])
        return np.where(
            tied == 0,
            metric.of_above(above, 1, position),
            (table[above + tied + 1] - table[above]) / (tied + 1),
        )
    means = np.empty(len(above))
    for i, (a, t) in enumerate(zip(above.tolist(), tied.tolist(), strict=True)):
        counts, weights = _integers(a, t, _cut(metric, position, 1))
        means[i] = weights @ metric.of_above(counts, 1, position)
    return means


def _cut(metric: Metric, position: int, others: int) -> int | None:
    last = metric.cut(others)
    return None if last is None else last - position + 1


def _integers(first: int, tied: int, cut: int | None) -> tuple[Floats, Floats]:
    """Nodes and weights (summing to 1) of the mean over first..first + tied of a metric."""
    ends, last = [first], first + tied
    while ends[-1] <= last:
        start = ends[-1]
        end = min(last, max(2 * start, start + _FEW - 1)) + 1
        ends.append(cut if cut is not None and start < cut < end else end)
    counts, weights, _ = quadrature.panels(np.array(ends[:-1]), np.array(ends[1:]))
    return counts, weights / (tied + 1)


def atom_laws(
    protocol: Protocol, m: int, atoms: RankCounts
) -> Iterator[tuple[NDArray[np.intp], Floats]]:
    """Yield blocks (indices of atoms, law of the sampled count above over 0..m).

    All atoms must have at least m negatives when sampling is without replacement.
    """
    plain = np.flatnonzero(atoms.tied == 0)
    above, below = protocol.weights(atoms[plain])
    order = np.argsort(modes(protocol.scheme, m, above, below), kind="stable")
    plain, above, below = plain[order], above[order], below[order]
    for rows, p in pmf_chunks(protocol.scheme, m, above, below):
        yield plain[rows], p
    tied = np.flatnonzero(atoms.tied)
    factor = (atoms.negatives[tied] + 1) / ((m + 1) * (atoms.tied[tied] + 1.0))
    closed = protocol.without & (atoms.tied[tied] >= _FEW) & (factor <= _CANCELS)
    step = max(1, _CHUNK // (m + 2))
    for start in range(0, int(closed.sum()), step):
        some = tied[closed][start : start + step]
        yield some, _tied_hypergeometric(m, atoms[some])
    # The others have some ten to some hundred nodes each.
    step = max(1, step // 64)
    for start in range(0, int((~closed).sum()), step):
        some = tied[~closed][start : start + step]
        owner, above, below, weights = nodes(protocol, m, atoms[some])
        total = np.zeros((len(some), m + 1))
        for part, p in pmf_chunks(protocol.scheme, m, above, below):
            first = np.flatnonzero(np.r_[True, np.diff(owner[part]) > 0])
            total[owner[part][first]] += np.add.reduceat(p * weights[part, None], first, axis=0)
        yield some, total


def nodes(
    protocol: Protocol, m: int, atoms: RankCounts
) -> tuple[NDArray[np.intp], Floats, Floats, Floats]:
    """Nodes for the laws of tied atoms: index of the atom, weight above, below, and of the node."""
    found = [_law_nodes(protocol, m, atoms[np.array([i])]) for i in range(len(atoms))]
    owner = np.repeat(np.arange(len(atoms)), [len(above) for above, _ in found])
    above = np.concatenate([above for above, _ in found])
    a, b = protocol.weights(atoms[owner], above)
    return owner, a, b, np.concatenate([weights for _, weights in found])


def _tied_hypergeometric(m: int, atoms: RankCounts) -> Floats:
    """Hypergeometric laws averaged over a range of counts above, in closed form.

    Summed over K <= x, C(K, s) C(N-K, m-s) counts the (m+1)-subsets of N+1 places whose (s+1)-th
    smallest is at most x: a tail of one more hypergeometric law.
    """
    places = atoms.negatives + 1

    def tail(x: NDArray[np.int64]) -> Floats:
        p = pmf("without-replacement", m + 1, x, places - x)
        return np.cumsum(p[:, :0:-1], axis=1)[:, ::-1]

    factor = places / ((m + 1) * (atoms.tied + 1.0))
    difference = tail(atoms.above + atoms.tied + 1) - tail(atoms.above)
    return np.maximum(difference * factor[:, None], 0.0)


def _law_nodes(protocol: Protocol, m: int, one: RankCounts) -> tuple[Floats, Floats]:
    """Nodes and weights for the mean over one tied range of a law, which is smooth in the count."""
    first, last = int(one.above[0]), int(one.above[0] + one.tied[0])
    total, odds = int(one.negatives[0]), protocol.odds
    ends = [first]
    while ends[-1] <= last:
        first = ends[-1]
        further = quadrature.reach(first, total, 1 / np.sqrt(m), odds)
        end = min(last, max(first + _FEW - 1, further))
        if protocol.without and (first < m or end > total - m):
            end = min(last, first + _FEW - 1)  # near the ends the law is no polynomial between
        # Few different lengths: each needs a Gauss rule of its own.
        drop = max((end - first + 1).bit_length() - 4, 0)
        ends.append(first + ((end - first + 1) >> drop << drop))
    above, weights, _ = quadrature.panels(np.array(ends[:-1]), np.array(ends[1:]))
    return above, weights / (one.tied[0] + 1)
