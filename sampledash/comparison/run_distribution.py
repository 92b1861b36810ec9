r"""Distribution of the mean of one sampled run: of hits exactly, of sums by their transform.

**Hits.** The sampled position of the next relevant item of a list is never above that of the one
before. So an instance has at least j hits exactly where its j-th relevant item hits, and the
chances of the single items give the law of the number of hits, whatever ties them together.

**Sums.** The mean is a sum over instances whose laws are known, so its characteristic function is a
product over them. With :math:`\varphi` that of the difference D of two runs, and a period P beyond
all of D that weighs anything,

.. math:: P(D > 0) = \frac12 + \frac2\pi \sum_{k\ \text{odd}}
          \frac{\operatorname{Im} \varphi(2 \pi k / P)}{k} - \frac12 P(D = 0),

the Fourier series of a square wave. That is exact but for the tails beyond the period, whatever
the skewness; the sum ends where :math:`\varphi` has died away. Where it does not, as for few or
rare hits, the last frequencies tell P(D = 0), and those before are tapered: against sixteen times
as many frequencies the result is then off by 2e-6 as a rule, 2e-4 at most (100 random cases).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from fractions import Fraction
from functools import partial
from itertools import pairwise
from math import gcd, lcm
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sampledash.comparison import ties
from sampledash.comparison.means import atom_moments
from sampledash.counts import RankCounts, Ties, distinct_over_systems
from sampledash.metrics import Metric
from sampledash.protocol import Protocol, as_ranked_by
from sampledash.ranksets import RankSet
from sampledash.types import Floats, Ints

Law = tuple[Floats, Floats]  # values, increasing, and their probabilities
_MOST = 20_000  # instances of which the hits are convolved exactly
_CELLS = 1 << 20  # longest lattice
_TOGETHER = 64  # laws up to this length are convolved all at once
_NOTHING = 1e-25  # tails of a convolution that weigh less are dropped
Complex = NDArray[np.complex128]
_REACH = 8.0  # standard deviations beyond which a difference weighs nothing
_STAGES = (0, 48, 512, 2048, 8192)  # frequencies evaluated in turn, until all died away
_ALWAYS = 2048  # so many are worth their time
_ROOM = 1 << 25  # more only for so few laws: entries of (laws, frequencies)
_ENOUGH = 512  # before so many nothing is taken to have died away for good
_FAINT = 1e-6  # died away
_ALIKE = 8.0  # pairs whose deviations differ by less share their frequencies
_LAWS, _WORK = 500, 300_000  # laws, and laws times values: some tenths of a second
_INSTANCES = 2_000  # each with a law of its own: at once there is room for so many
_BLOCK = 1 << 21  # entries of a matrix held at a time
_STEPS = 64  # frequencies that share a sine and a cosine
_TABLE = 1 << 22


class Hits(NamedTuple):
    """Instances with equally many relevant items, each of which hits or misses."""

    law: Floats  # P(0, 1, ... hits) per instance, shape (instances, hits + 1)
    times: Ints  # how often each occurs
    values: Floats  # what 0, 1, ... hits add to the mean, shape (hits + 1,)


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
        rows, mean = ranks.rows(protocol.ties), None
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
        lattice = _lattice(
            [np.array([w]) for w in np.unique(item_weights(metric, atoms, protocol))]
        )
        return 0.0 if lattice is None else lattice[0] / 2
    exact = protocol.without and m is not None and bool(np.any(atoms.negatives < m))
    worth = item_weights(metric, atoms, protocol)
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


def item_weights(metric: Metric, atoms: RankCounts, protocol: Protocol) -> Floats:
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


def is_sum_of_items(metric: Metric, ranks: RankSet) -> bool:
    """Whether the mean is a sum of independent terms, one per first relevant item."""
    alone = ranks.max_relevant == 1 or metric.first_only or metric.of_others
    return alone and bool(np.all(ranks.counts == np.floor(ranks.counts)))


def _span(metric: Metric, ranks: RankSet, m: int, protocol: Protocol, *, by_draw: bool) -> float:
    """Largest range of what a first relevant item adds, or a draw where all draws add alike.

    NaN where it would take too long, and there are so many instances that it need not.
    """
    atoms = as_ranked_by(metric, ranks.atoms(protocol.ties))
    vector = protocol.vector(metric, atoms, m, 1)
    if len(atoms) > _LAWS and len(atoms) * len(np.unique(vector)) > _WORK:
        return np.nan
    if protocol.without and np.any(atoms.negatives < m):  # those have exact values, in 0..1
        return max(float(vector.max()), 1.0) - min(float(vector.min()), 0.0)
    steps = np.diff(vector)
    straight = np.ptp(steps) <= 1e-14 * np.abs(steps).max() and not np.any(atoms.tied)
    return float(np.abs(steps[0]) if by_draw and straight else np.ptp(vector))


def largest_term(metric: Metric, ranks: RankSet, m: int, protocol: Protocol) -> float:
    """Largest range of an independent part of the mean; NaN where its law is not known.

    A part is what one instance adds, or what one draw does where all draws of an instance add
    alike: a hypergeometric count is a sum of independent hits too, as a binomial one is.
    """
    if not is_sum_of_items(metric, ranks):
        hits = hits_of(metric, ranks, m, protocol)
        return np.nan if hits is None else float(max(np.ptp(part.values) for part in hits))
    atoms = ranks.atoms(protocol.ties)
    first = as_ranked_by(metric, atoms).position == 1
    worth = item_weights(metric, atoms, protocol)[first]
    return float(worth.max()) * _span(metric, ranks, m, protocol, by_draw=True)


def chances_above(
    metric: Metric,
    sets: Sequence[RankSet],
    m: int,
    protocol: Protocol,
    first: Ints,
    second: Ints,
    difference: Floats,
    deviation: Floats,
    shift: Floats,
) -> Floats:
    """P(mean of a run of ``first`` exceeds that of ``second`` + shift), per pair of indices.

    For sums of items, or hits, and whole counts. ``difference`` is the expected one less the shift,
    ``deviation`` its standard deviation, not 0; ``shift`` half the step of a lattice that both
    means lie on, or 0.
    """
    found = np.empty(len(first))
    left = np.arange(len(first))
    while len(left):
        top = float(deviation[left].max())
        now = left[deviation[left] > top / _ALIKE]
        left = np.setdiff1d(left, now)
        near = np.abs(difference[now]) < _REACH * top
        found[now[~near]] = difference[now[~near]] > 0
        now = now[near]
        if len(now):
            used, at = np.unique(np.r_[first[now], second[now]], return_inverse=True)
            some = [sets[i] for i in used]
            laws = sum(len(ranks.atoms(protocol.ties)) for ranks in some)
            i, j = np.split(at, 2)
            transform = partial(_characteristic, metric, some, m, protocol)
            found[now] = inverted(transform, laws, i, j, top, shift[now])
    return np.clip(found, 0.0, 1.0)


def inverted(
    transform: Callable[[Floats], Complex],
    laws: int,
    first: Ints,
    second: Ints,
    deviation: float,
    shift: Floats,
) -> Floats:
    """P(sum of ``first`` exceeds that of ``second`` + shift), per pair of indices.

    ``transform`` gives the characteristic functions of the sums, (sums, frequencies), one
    evaluation of which takes so many ``laws``. ``deviation`` is the largest of the differences;
    none is much smaller.
    """
    base = 2 * np.pi / (4 * _REACH * deviation)
    phi = np.empty((max(first.max(), second.max()) + 1, 0), dtype=np.complex128)
    faint = False
    for start, end in pairwise(_STAGES):
        if end > _ALWAYS and end * laws > _ROOM:
            break
        here = np.asarray(base * (2 * np.arange(start, end) + 1))
        phi = np.column_stack([phi, transform(here)])
        last = np.sort(np.abs(phi[:, -end // 2 :]).max(axis=1))
        faint = bool(last[-1] * last[-2] < _FAINT)
        # Where few terms are large it may revive: look further, where ties would show.
        if faint and end >= _ENOUGH:
            break
    k = np.arange(phi.shape[1])
    step, hump = (2 / np.pi) / (2 * k + 1.0), np.zeros(len(k))
    if not faint:
        part = k / len(k)
        step *= np.exp(-0.5 * (4 * part) ** 2)
        # Over the last three quarters: D = 0 gives 1, and anything smooth about 0 nothing.
        hump = np.where(part < 0.25, 0.0, np.sin(np.pi * (part - 0.25) / 0.75) ** 2)
        hump /= hump.sum()
    found = np.empty(len(first))
    block = max(1, _BLOCK // len(k))
    for begin in range(0, len(first), block):
        rows = slice(begin, begin + block)
        pair = phi[first[rows]] * phi[second[rows]].conj()
        if np.any(shift[rows]):
            pair *= np.exp(-1j * np.multiply.outer(shift[rows], base * (2 * k + 1)))
        found[rows] = 0.5 + pair.imag @ step - 0.5 * np.maximum(pair.real @ hump, 0.0)
    return found


def _characteristic(
    metric: Metric, sets: Sequence[RankSet], m: int, protocol: Protocol, frequencies: Floats
) -> Complex:
    """Characteristic function of the mean of a run, at evenly spaced frequencies: (systems, f)."""
    product = np.ones((len(sets), len(frequencies)), dtype=np.complex128)
    # Systems with the same weights share the laws of equal ranks.
    groups: dict[tuple[Hashable, float], list[tuple[int, RankCounts]]] = {}
    for system, ranks in enumerate(sets):
        if not is_sum_of_items(metric, ranks):
            for part in hits_of(metric, ranks, m, protocol) or ():
                own = _waves(part.values, frequencies)
                product[system] *= _power_product(np.asarray(part.law @ own), part.times)
            continue
        everyone = ranks.atoms(protocol.ties)
        atoms = as_ranked_by(metric, everyone)
        factor = np.where(atoms.position == 1, item_weights(metric, everyone, protocol), np.nan)
        key = protocol.law_key(atoms, m)
        for weight in np.unique(factor[atoms.position == 1]).tolist():
            groups.setdefault((key, weight), []).append((system, atoms[factor == weight]))
    for (_, weight), members in groups.items():
        first = sets[members[0][0]].atoms(protocol.ties)
        vector = protocol.vector(metric, as_ranked_by(metric, first), m, 1)
        joined, places = distinct_over_systems([atoms for _, atoms in members])
        counts = np.zeros((len(members), len(joined)), dtype=np.int64)
        for row, (_, atoms), at in zip(counts, members, places, strict=True):
            np.add.at(row, at, atoms.count.astype(np.int64))
        for rows, waves in _transformed(metric, joined, vector, m, protocol, weight * frequencies):
            for row, (system, _) in zip(counts[:, rows], members, strict=True):
                product[system] *= _power_product(waves, row)
    return product


def instance_waves(
    metric: Metric, ranks: RankSet, order: Ints, m: int, protocol: Protocol, frequencies: Floats
) -> Complex:
    """Characteristic function of the sampled value of each instance, in an order: (D, f)."""
    vector = protocol.vector(metric, as_ranked_by(metric, ranks.atoms(protocol.ties)), m, 1)
    rows = as_ranked_by(metric, ranks.rows(protocol.ties))
    atoms, (at,) = distinct_over_systems([rows[np.flatnonzero(rows.position == 1)[order]]])
    waves = np.empty((len(atoms), len(frequencies)), dtype=np.complex128)
    scaled = metric.scale(1) * frequencies
    for some, block in _transformed(metric, atoms, vector, m, protocol, scaled):
        waves[some] = block
    return waves[at]


def instance_span(metric: Metric, ranks: RankSet, m: int, protocol: Protocol) -> float:
    """Largest difference of two sampled values of an instance; NaN where laws are too many.

    Or where the values do not follow from the first relevant items, or counts are not whole.
    """
    if not is_sum_of_items(metric, ranks) or len(ranks.ranks) > _INSTANCES:
        return np.nan
    return metric.scale(1) * _span(metric, ranks, m, protocol, by_draw=False)


def _power_product(values: Complex, counts: Ints) -> Complex:
    """Product of the rows of ``values``, each to the power of its count, by repeated squaring."""
    result = np.ones(values.shape[1], dtype=np.complex128)
    while np.any(counts > 0):
        if not np.all(counts > 0):
            values, counts = values[counts > 0], counts[counts > 0]
        odd = counts % 2 == 1
        result *= np.multiply.reduce(values if np.all(odd) else values[odd], axis=0)
        if np.all(counts == 1):
            break
        values, counts = values * values, counts // 2
    return result


def item_laws(
    metric: Metric, atoms: RankCounts, vector: Floats, m: int, protocol: Protocol
) -> Iterator[tuple[NDArray[np.intp], Floats, Floats]]:
    """Blocks of first relevant items: which, the values (v,) they take, and chances (some, v)."""
    full = atoms.negatives < m if protocol.without else np.zeros(len(atoms), dtype=bool)
    for i in np.flatnonzero(full):
        above = np.arange(atoms.above[i], atoms.above[i] + atoms.tied[i] + 1)
        each = metric.of_above(above, atoms.negatives[i])
        yield np.array([i]), each, np.full((1, len(each)), 1 / len(each))
    at = np.flatnonzero(~full)
    for picked, p in ties.atom_laws(protocol, m, atoms[at]):
        yield at[picked], vector, p


def _transformed(
    metric: Metric,
    atoms: RankCounts,
    vector: Floats,
    m: int,
    protocol: Protocol,
    frequencies: Floats,
) -> Iterator[tuple[Ints, Complex]]:
    """Blocks of atoms and their characteristic functions: (some,), (some, frequencies)."""
    levels, level = np.unique(vector, return_inverse=True)
    order = np.argsort(level, kind="stable")
    starts = np.searchsorted(level[order], np.arange(len(levels)))
    waves = _waves(levels, frequencies).view(np.float64)
    step = max(1, _BLOCK // (2 * len(frequencies)))
    for some, values, p in item_laws(metric, atoms, vector, m, protocol):
        if values is not vector:
            yield some, p @ _waves(values, frequencies)
            continue
        shares = np.add.reduceat(p[:, order], starts, axis=1)
        for start in range(0, len(some), step):
            rows = slice(start, start + step)
            yield some[rows], (shares[rows] @ waves).view(np.complex128)


def _waves(values: Floats, frequencies: Floats) -> Complex:
    """exp(i value frequency) for evenly spaced frequencies: (values, frequencies).

    A sine and a cosine for each block of frequencies and each step within one, and their products.
    """
    within = frequencies[:_STEPS] - frequencies[0]
    starts = np.exp(1j * np.multiply.outer(values, frequencies[::_STEPS]))
    steps = np.exp(1j * np.multiply.outer(values, within))
    every = (starts[:, :, None] * steps[:, None, :]).reshape(len(values), -1)
    return np.ascontiguousarray(every[:, : len(frequencies)])


def rank_distribution_at(ranks: RankSet, places: ArrayLike, *, ties: Ties = "expected") -> Floats:
    """Share of relevant items with a true rank of at most each place: increasing, in 0..1.

    A tied item counts with the share of its orders that put it there.
    """
    at = np.asarray(places, dtype=np.float64)
    atoms = ranks.atoms(ties)
    first = atoms.above + atoms.position
    total = np.zeros(len(at))
    step = max(1, _TABLE // max(len(at), 1))
    for start in range(0, len(atoms), step):
        rows = slice(start, start + step)
        inside = (at - first[rows, None] + 1) / (atoms.tied[rows, None] + 1)
        whole = np.floor(np.clip(inside, 0, 1) * (atoms.tied[rows, None] + 1) + 1e-9)
        total += atoms.count[rows] @ (whole / (atoms.tied[rows, None] + 1))
    return np.asarray(total / atoms.count.sum())
