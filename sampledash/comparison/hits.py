"""Exact law of the mean of one run where relevant items can only hit or miss.

The sampled position of the next relevant item of a list is never above that of the one before. So
an instance has at least j hits exactly where its j-th relevant item hits, and the chances of the
single items already give the law of the number of hits, whatever ties them together.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import gcd, lcm
from typing import NamedTuple

import numpy as np

from sampledash.comparison.means import atom_moments
from sampledash.counts import RankCounts, distinct_over_systems, resolve_ties
from sampledash.metrics import Metric
from sampledash.protocol import Protocol, as_ranked_by
from sampledash.ranksets import RankSet
from sampledash.types import Floats, Ints

Law = tuple[Floats, Floats]  # values, increasing, and their probabilities

_MOST = 20_000  # instances of which the hits are convolved exactly
_CELLS = 1 << 20  # longest lattice
_TOGETHER = 64  # laws up to this length are convolved all at once
_NOTHING = 1e-25  # tails of a convolution that weigh less are dropped


class Hits(NamedTuple):
    """Instances with equally many relevant items, each of which hits or misses.

    Attributes
    ----------
    law
        P(0, 1, ... hits) per instance, shape (instances, hits + 1).
    times
        How often each occurs.
    values
        What 0, 1, ... hits add to the mean, shape (hits + 1,).
    """

    law: Floats
    times: Ints
    values: Floats


class _Counts(NamedTuple):
    """Law of a whole number: ``mass[i]`` is the probability of ``first + i``."""

    first: int
    mass: Floats


def hits_of(
    metric: Metric, ranks: RankSet, m: int, protocol: Protocol, means: Floats | None = None
) -> list[Hits] | None:
    """Hits of the instances; ``None`` where items can do more, or counts are not whole.

    ``means``: those of the atoms, if they are known.
    """
    if np.any(ranks.counts != np.floor(ranks.counts)):
        return None
    last = 1 if metric.first_only or metric.of_others else ranks.max_relevant
    levels = _levels(metric, ranks, m, protocol, last)
    if levels is None:
        return None
    low, gap = levels
    if ranks.max_relevant == 1:
        rows = ranks.atoms(protocol.ties)
        mean = means
    else:
        rows, mean = resolve_ties(ranks.rows(), protocol.ties), None
    ranked = as_ranked_by(metric, rows)
    starts = np.flatnonzero(ranked.position == 1)
    if mean is None:
        joined, (at,) = distinct_over_systems([ranked])
        mean = atom_moments([metric], joined, m, protocol)[0][0][at]
    share = protocol.shares(rows)
    result = []
    for size in np.unique(rows.relevant).tolist():
        here = starts[rows.relevant[starts] == size]
        items = min(size, last)
        worth = np.where(gap[:items] == 0, 1.0, gap[:items])
        # P(at least 1, 2, ... hits)
        least = np.clip((mean[here[:, None] + np.arange(items)] - low[:items]) / worth, 0.0, 1.0)
        law = np.maximum(-np.diff(least, axis=1, prepend=1.0, append=0.0), 0.0)
        values = low[:items].sum() + np.r_[0.0, np.cumsum(gap[:items])]
        values *= metric.scale(size) * share[here[0]]
        result.append(Hits(law, rows.count[here].astype(np.int64), values))
    return result


def law_of_hits(
    metric: Metric, ranks: RankSet, m: int, protocol: Protocol, means: Floats | None = None
) -> Law | None:
    """Values of the mean of one run, increasing, and their probabilities.

    ``None`` where items can do more than hit or miss, hits have no common measure, counts are not
    whole, or there are too many. ``means``: those of the atoms, if they are known.
    """
    hits = hits_of(metric, ranks, m, protocol, means) if ranks.n_instances <= _MOST else None
    if hits is None:
        return None
    lattice = _lattice([np.diff(part.values) for part in hits])
    if lattice is None:
        return None
    unit, steps = lattice
    length = sum(
        step * (part.law.shape[1] - 1) * int(part.times.sum())
        for part, step in zip(hits, steps, strict=True)
    )
    if length >= _CELLS:
        return None
    total = _Counts(0, np.ones(1))
    for part, step in zip(hits, steps, strict=True):
        total = _joined(total, _sum_of(np.repeat(part.law, part.times, axis=0)), step)
    base = sum(float(part.values[0] * part.times.sum()) for part in hits)
    values = np.asarray(base + unit * (total.first + np.arange(len(total.mass))))
    return values[total.mass > 0], total.mass[total.mass > 0]


def half_unit(metric: Metric, ranks: RankSet, protocol: Protocol, m: int | None = None) -> float:
    """Half the lattice step of the mean of one run, 0 if it has none.

    Hits have one at any m; that of AUC, which counts items, and that of a corrected value, which
    may have two levels only, depend on ``m``.
    """
    if np.any(ranks.counts != np.floor(ranks.counts)):
        return 0.0
    recipe = protocol.correction
    counts = not recipe.by_rank or (recipe.name == "rank-estimate" and recipe.rounding == "floor")
    atoms = ranks.atoms(protocol.ties)
    if metric.on_lattice and counts:
        lattice = _lattice([np.array([w]) for w in np.unique(weights(metric, atoms, protocol))])
        return 0.0 if lattice is None else lattice[0] / 2
    exact = protocol.without and m is not None and bool(np.any(atoms.negatives < m))
    worth = weights(metric, atoms, protocol)
    if m is None or exact or np.ptp(worth) > 1e-12 * worth[0]:
        return 0.0
    ranked = as_ranked_by(metric, atoms)
    if not metric.linear and (ranks.max_relevant == 1 or metric.first_only):
        levels = np.unique(np.round(protocol.vector(metric, ranked, m, 1), 12))
        return float(worth[0] * np.ptp(levels)) / 2 if len(levels) == 2 else 0.0
    if not metric.linear:
        return 0.0
    steps = np.diff([protocol.vector(metric, ranked, m, j) for j in ranked.positions])
    # Corrected or not, every draw may count alike; of one item, or it would shift the lattice.
    alike = np.ptp(steps) <= 1e-12 * np.abs(steps).max() and (
        ranks.max_relevant == 1 or not recipe.by_rank
    )
    return float(worth[0] * np.abs(steps[0, 0])) / 2 if alike else 0.0


def weights(metric: Metric, atoms: RankCounts, protocol: Protocol) -> Floats:
    """Factor on what each atom contributes to the mean."""
    return np.asarray(metric.scales(atoms.relevant) * protocol.shares(atoms))


def _levels(
    metric: Metric, ranks: RankSet, m: int, protocol: Protocol, last: int
) -> tuple[Floats, Floats] | None:
    """Contribution of a miss and what a hit adds, per position, if there is nothing else.

    And if, where an item hits, those before it must hit too.
    """
    atoms = as_ranked_by(metric, ranks.atoms(protocol.ties))
    vectors = np.array([protocol.vector(metric, atoms, m, j) for j in range(1, last + 1)])
    if metric.on_lattice and np.all((vectors == 0) | (vectors == 1)):
        low, gap = np.zeros(last), np.ones(last)
    elif protocol.without and np.any(atoms.negatives < m):
        return None  # exact contributions are other ones
    else:
        low, gap = vectors[:, -1], vectors[:, 0] - vectors[:, -1]
    if np.any((gap < 0) | (np.ptp(vectors, axis=1) > np.maximum(gap, 0))):
        return None
    hit = vectors > (low + gap / 2)[:, None]
    two = np.where(hit, (low + gap)[:, None], low[:, None])
    falling = np.all(hit[:, 1:] <= hit[:, :-1]) and np.all(hit[1:] <= hit[:-1])
    return (low, gap) if falling and np.all(vectors == two) else None


def _lattice(worths: Sequence[Floats]) -> tuple[float, list[int]] | None:
    """Largest unit of which every hit is a multiple, and multiples: one for each sequence."""
    ends = np.array([[worth.min(), worth.max()] for worth in worths])
    if np.any(np.ptp(ends, axis=1) > 1e-12 * ends.max()) or (ends.min() <= 0 < ends.max()):
        return None
    if ends.max() == 0:
        return 1.0, [0] * len(worths)
    ratios = [Fraction(value / ends[0, 0]).limit_denominator(10_000) for value in ends[:, 0]]
    if not np.allclose(ends[:, 0], [float(x) * ends[0, 0] for x in ratios], rtol=1e-12):
        return None
    common = lcm(*(x.denominator for x in ratios))
    steps = [int(x * common) for x in ratios]
    shared = gcd(*steps)
    return float(ends[0, 0]) / common * shared, [step // shared for step in steps]


def _sum_of(laws: Floats) -> _Counts:
    """Law of a sum of independent counts, one row each, by pairwise convolution.

    Direct sums of positive terms: a Fourier transform would drown small probabilities in 1e-16.
    """
    while laws.shape[1] <= _TOGETHER < 2 * len(laws):  # many short ones: all pairs at once
        if len(laws) % 2:
            nothing = np.eye(1, laws.shape[1])
            laws = np.concatenate([laws, nothing])
        a, b = laws[::2], laws[1::2]
        laws = np.zeros((len(a), 2 * a.shape[1] - 1))
        for i in range(a.shape[1]):
            laws[:, i : i + a.shape[1]] += a[:, i, None] * b
    parts = [_Counts(0, law) for law in laws]
    while len(parts) > 1:
        odd = [parts.pop()] if len(parts) % 2 else []
        parts = [
            _trimmed(a.first + b.first, np.convolve(a.mass, b.mass))
            for a, b in zip(parts[::2], parts[1::2], strict=True)
        ] + odd
    return parts[0]


def _trimmed(first: int, mass: Floats) -> _Counts:
    if len(mass) < 64:
        return _Counts(first, mass)
    weighs = np.flatnonzero(mass > _NOTHING)
    return _Counts(first + int(weighs[0]), mass[weighs[0] : weighs[-1] + 1])


def _joined(total: _Counts, law: _Counts, step: int) -> _Counts:
    """Law of a sum of independent counts, the second times a step."""
    mass = np.zeros(len(total.mass) + step * (len(law.mass) - 1))
    for i, p in enumerate(law.mass.tolist()):
        mass[i * step : i * step + len(total.mass)] += p * total.mass
    return _Counts(total.first + step * law.first, mass)
