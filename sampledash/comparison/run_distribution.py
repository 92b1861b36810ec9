r"""Distribution of the mean metric of one sampled run, in which negatives are drawn once.

**Hits.** Some metrics, such as Recall, give each relevant item one of two values: one value if the
item is within the cutoff (a hit), the other value if not (a miss). Sampling does not change the
order of the relevant items of an instance. So the instance has at least j hits if and only if its
j-th best relevant item hits. The hit probabilities of the items therefore determine the
distribution of the number of hits, although the items of an instance depend on each other.

**Sums.** If one relevant item determines the value of each instance, the mean is a sum of
independent terms with known distributions, also if an item can have more than two values. With few
instances and few possible values, the distribution of the sum is computed exactly. Otherwise its
characteristic function is a product, from which :mod:`~sampledash.comparison.chance` computes
probabilities.

Other means are simulated if this is fast enough.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sampledash import simulation
from sampledash.comparison import sums
from sampledash.comparison.scatter import atom_moments
from sampledash.comparison.sums import Law, ValueLaws
from sampledash.metrics import Metric
from sampledash.protocol import Protocol, as_ranked_by
from sampledash.rank_counts import RankCounts, distinct_over_systems, unique_rows
from sampledash.rank_sets import RankSet
from sampledash.types import Complex, Floats, Ints

FEW = 30  # with fewer instances, the normal approximation is not used
# The distribution of the number of hits is a convolution of distributions, one for each instance.
_MOST = 20_000  # largest number of instances whose hits are convolved exactly
# If relevant items only hit or miss, the distribution of the mean metric is computed exactly if the
# mean has fewer values than this.
_LATTICE = 1 << 20
RUNS = 20_000  # number of runs that are simulated if no other method applies
# Number of draws (one per relevant item and run) that take about half a second. If RUNS runs need
# more than twice as many draws, fewer runs are simulated.
DRAWS = 4_000_000
# Up to SIMULATED relevant items, runs are simulated if one item can change the mean by more than
# _LOPSIDED standard deviations. The mean is then not normal.
_LOPSIDED, SIMULATED = 0.4, 2_000
# ``largest_term`` returns NaN if there are more than _LAWS distinct relevant items, and the number
# of items times the number of their possible values exceeds _WORK.
_LAWS, _WORK = 500, 300_000
# ``chance.by_lumps`` is used if the sampled values that a relevant item can have form two groups,
# small and large values, each no wider than this share of the gap between the two groups.
TOP = 0.05


class Hits(NamedTuple):
    """Instances with equally many relevant items, each of which hits or misses."""

    law: Floats  # P(0, 1, ... hits), a row for one instance or several equal ones: (rows, hits + 1)
    times: Ints  # number of instances, with the same ranks, for which each row of ``law`` stands
    values: Floats  # contribution of 0, 1, ... hits to the mean, shape (hits + 1,)
    #: For each row of ``law``, the index of its instance in the rank set. If each instance has a
    #: single relevant item, a row stands for all instances with the same rank, and the entry is
    #: the index of this rank in ``Run.atoms``, which holds the distinct relevant items.
    instances: Ints


@dataclass(frozen=True, eq=False)
class Run:
    """One sampled run of a system, evaluated by one metric."""

    metric: Metric
    ranks: RankSet
    m: int
    protocol: Protocol
    #: Expected sampled value of each distinct relevant item, or None if it has not been computed.
    #: It is not multiplied by ``metric.scale``, such as 1 / (number of relevant items).
    means: Floats | None = None

    @cached_property
    def atoms(self) -> RankCounts:
        """Relevant items of all instances, each with the number of its occurrences.

        Items with the same numbers of negatives above, tied and in all share one entry.

        For TOPK and ATOP, each relevant item is a separate instance, because these metrics rank it
        among all other items, including the other relevant items.
        """
        return as_ranked_by(self.metric, self.ranks.counted(self.protocol.ties))

    @cached_property
    def weights(self) -> Floats:
        """Weight of each distinct relevant item's value in the mean metric."""
        atoms = self.ranks.counted(self.protocol.ties)
        return np.asarray(self.metric.scales(atoms.relevant) * self.protocol.shares(atoms))

    @cached_property
    def vector(self) -> Floats:
        """Value of the best relevant item, for 0..m sampled negatives above it: (m + 1,).

        The value may be corrected. It is not yet multiplied by the item's entry in ``weights``.
        """
        return self.protocol.vector(self.metric, self.atoms, self.m, 1)

    def _vectors(self, positions: Sequence[int]) -> Floats:
        vector = partial(self.protocol.vector, self.metric, self.atoms, self.m)
        return np.array([vector(j) for j in positions])

    @cached_property
    def complete(self) -> NDArray[np.bool_]:
        """For each item, whether all its negatives are drawn because they are fewer than m."""
        return self.protocol.design.distinct & (self.atoms.negatives < self.m)

    @cached_property
    def whole(self) -> bool:
        """Whether all instance counts are whole numbers."""
        return bool(np.all(self.ranks.counts == np.floor(self.ranks.counts)))

    @property
    def one_each(self) -> bool:
        """Whether one relevant item determines an instance's metric, and all counts are whole."""
        return self.whole and (self.ranks.max_relevant == 1 or self.metric.first_only)

    @property
    def is_sum(self) -> bool:
        """Whether the mean is a sum of independent terms, and all instance counts are whole.

        There are two such sums. If the best relevant item determines an instance's metric, there
        is a term for each instance. If the metric is TOPK or ATOP, there is a term for each
        relevant item, as if each relevant item had an instance of its own.
        """
        return self.one_each or (self.whole and self.metric.of_others)

    @property
    def _counts_hits(self) -> bool:
        recipe = self.protocol.correction
        return self.metric.on_lattice and not recipe.kind.fitted and recipe.rounding == "floor"

    @cached_property
    def hit_unit(self) -> float:
        """Half the distance of neighbouring values of the mean if relevant items hit or miss.

        It is the continuity correction if the distribution of the mean is replaced by the normal
        distribution. It is 0 for other metrics, if the values are not evenly spaced, and for
        corrections that make their distance depend on m.
        """
        if not (self.whole and self._counts_hits):
            return 0.0
        first, _ = unique_rows([self.ranks.counted(self.protocol.ties).relevant])
        common = sums.lattice([self.weights[i, None] for i in first])
        return 0.0 if common is None else common[0] / 2

    @cached_property
    def half_unit(self) -> float:
        """Half the distance of neighbouring values of the mean, 0 if they are not evenly spaced.

        Unlike ``hit_unit``, this property also covers means whose spacing depends on m: means of
        AUC, and means of corrected metrics that give each relevant item one of two values.
        """
        if not self.whole or self._counts_hits:
            return self.hit_unit
        weight = float(self.weights[0])
        if np.any(self.complete) or np.ptp(self.weights) > 1e-12 * weight:
            return 0.0
        if not self.metric.linear:
            levels = np.unique(np.round(self.vector, 12)) if self.one_each else ()
            return weight * float(np.ptp(levels)) / 2 if len(levels) == 2 else 0.0
        steps = np.diff(self._vectors(self.atoms.positions))
        # Means of AUC are evenly spaced if each sampled negative above a relevant item changes them
        # by the same amount. With several relevant items per instance, means of corrected AUC are
        # not taken as evenly spaced.
        single = self.ranks.max_relevant == 1 or not self.protocol.correction.by_rank
        alike = single and np.ptp(steps) <= 1e-12 * np.abs(steps).max()
        return weight * float(np.abs(steps[0, 0])) / 2 if alike else 0.0

    @cached_property
    def has_lump(self) -> bool:
        """Whether the sampled values that a relevant item can have are separated by a wide gap.

        The gap must be nearly as wide as the range of the values, because ``chance.by_lumps`` needs
        small values and much larger values.
        """
        jumps = np.diff(np.unique(self.vector))
        return bool(len(jumps)) and bool(jumps.sum() <= (1 + 2 * TOP) * jumps.max())

    def largest_term(self, *, by_draw: bool = True) -> float:
        """Return the largest change of the mean by one of its independent terms.

        A term is the contribution of an instance. With ``by_draw``, it is the contribution of one
        drawn negative, if all negatives above change the value by the same amount. (Like a binomial
        count, a hypergeometric count has the distribution of a sum of independent 0-1 variables.)
        Return NaN if the mean is no sum of independent terms, or has too many distinct terms.
        """
        if not self.is_sum:
            hits = self.hits
            return np.nan if hits is None else float(max(np.ptp(part.values) for part in hits))
        atoms, vector = self.atoms, self.vector
        if len(atoms) > _LAWS and len(atoms) * len(np.unique(vector)) > _WORK:
            return np.nan
        steps = np.diff(vector)
        straight = np.ptp(steps) <= 1e-14 * np.abs(steps).max() and not np.any(atoms.tied)
        span = float(np.abs(steps[0]) if by_draw and straight else np.ptp(vector))
        if np.any(self.complete):
            # Items whose negatives are all drawn have exact values, which can be anywhere in 0..1.
            span = max(float(vector.max()), 1.0) - min(float(vector.min()), 0.0)
        return span * float(self.weights[atoms.position == 1].max())

    def worth_simulating(self, deviation: float) -> bool:
        """Whether runs should be simulated to get the distribution of the mean.

        They should if the mean is not a sum of independent terms, its relevant items do not simply
        hit or miss, and their number is at most DRAWS / RUNS, so that simulation is fast. This
        limit is SIMULATED if one item can change the mean by more than _LOPSIDED times
        ``deviation``, because the mean is then not normal. ``deviation`` is the standard deviation
        of the mean, or of the difference of two means.
        """
        uneven = float(self.weights.max()) > _LOPSIDED * deviation
        rows, most = float(np.sum(self.ranks.counts)), SIMULATED if uneven else DRAWS / RUNS
        return rows <= most and not (self.is_sum or self.hits)

    @property
    def counts_items(self) -> bool:
        """Whether there are few instances, each with one relevant item, which hits or misses."""
        few = self.ranks.n_instances <= _MOST and self.ranks.max_relevant == 1
        return few and self.whole and self._levels(1) is not None

    @cached_property
    def hits(self) -> list[Hits] | None:
        """Distributions of instances' numbers of hits; an entry for each number of relevant items.

        None if relevant items do not simply hit or miss (:meth:`_levels`), or if counts are
        fractions.
        """
        last = 1 if self.metric.first_only or self.metric.of_others else self.ranks.max_relevant
        levels = self._levels(last) if self.whole else None
        if levels is None:
            return None
        low, gap = levels
        rows, mean = self.ranks.counted(self.protocol.ties), self.means
        if self.ranks.max_relevant > 1:
            rows, mean = self.ranks.rows(self.protocol.ties), None
        ranked = as_ranked_by(self.metric, rows)
        starts = np.flatnonzero(ranked.position == 1)
        if mean is None:
            joined, (at,) = distinct_over_systems([ranked], self.protocol.design.uniform)
            mean = atom_moments([self.metric], joined, self.m, self.protocol)[0][0][at]
        share = self.protocol.shares(rows)
        result = []
        for size in np.unique(rows.relevant).tolist():
            instances = np.flatnonzero(rows.relevant[starts] == size)
            firsts = starts[instances]
            items = min(size, last)
            worth = np.where(gap[:items] == 0, 1.0, gap[:items])
            # P(at least 1 hit), P(at least 2 hits), ... of each instance.
            least = (mean[firsts[:, None] + np.arange(items)] - low[:items]) / worth
            law = -np.diff(np.clip(least, 0.0, 1.0), axis=1, prepend=1.0, append=0.0)
            values = low[:items].sum() + np.r_[0.0, np.cumsum(gap[:items])]
            values *= self.metric.scale(size) * share[firsts[0]]
            times = rows.count[firsts].astype(np.int64)
            result.append(Hits(np.maximum(law, 0.0), times, values, instances))
        return result

    def _levels(self, last: int) -> tuple[Floats, Floats] | None:
        """Return the value of a miss, and how much more a hit is worth, for positions 1..``last``.

        Position j is that of the j-th best relevant item of an instance. Hit and miss are the two
        values that an item can have. Return None if an item can have more than two values, or if
        an item can hit while a better relevant item of the same instance misses.
        """
        vectors = self._vectors(range(1, last + 1))
        if self.metric.on_lattice and np.all((vectors == 0) | (vectors == 1)):
            low, gap = np.zeros(last), np.ones(last)
        elif np.any(self.complete):
            # Items whose negatives are all drawn have exact values, which may differ from the
            # corrected values of other items.
            return None
        else:
            low, gap = vectors[:, -1], vectors[:, 0] - vectors[:, -1]
        if np.any((gap < 0) | (np.ptp(vectors, axis=1) > np.maximum(gap, 0))):
            return None
        hit = vectors > (low + gap / 2)[:, None]
        two = np.where(hit, (low + gap)[:, None], low[:, None])
        falling = np.all(hit[:, 1:] <= hit[:, :-1]) and np.all(hit[1:] <= hit[:-1])
        return (low, gap) if falling and np.all(vectors == two) else None

    def law_of_hits(self) -> Law | None:
        """Return the distribution of the mean, if each relevant item adds one of two values to it.

        The distribution is exact: the distributions of the instances' hits are convolved. Return
        None if an item can add a third value, if there are too many instances or values, or if the
        values are not multiples of one unit.
        """
        hits = self.hits if self.ranks.n_instances <= _MOST else None
        common = None if hits is None else sums.lattice([np.diff(part.values) for part in hits])
        if hits is None or common is None:
            return None
        unit, steps = common
        lengths = [(part.law.shape[1] - 1) * int(part.times.sum()) for part in hits]
        if np.dot(steps, lengths) >= _LATTICE:
            return None
        total = sums.Counts(0, np.ones(1))
        for part, step in zip(hits, steps, strict=True):
            law = sums.sum_of_counts(np.repeat(part.law, part.times, axis=0))
            total = sums.plus_multiple(total, law, step)
        base = sum(float(part.values[0] * part.times.sum()) for part in hits)
        values = np.asarray(base + unit * (total.first + np.arange(len(total.mass))))
        return values[total.mass > 0], total.mass[total.mass > 0]

    def item_laws(self, atoms: RankCounts) -> Iterator[ValueLaws]:
        """Yield the distributions of the sampled values of best relevant items, some at a time.

        Each tuple holds the indices of these items in ``atoms``, the possible values, (values,),
        and the probability of each value for each item, (items, values). The values are not yet
        multiplied by the items' weights.
        """
        full = self.protocol.design.distinct & (atoms.negatives < self.m)
        for i in np.flatnonzero(full):
            above = np.arange(atoms.above[i], atoms.above[i] + atoms.tied[i] + 1)
            values = self.metric.of_above(above, atoms.negatives[i])
            yield np.array([i]), values, np.full((1, len(values)), 1 / len(values))
        at = np.flatnonzero(~full)
        for picked, p in self.protocol.laws(atoms[at], self.m):
            yield at[picked], self.vector, p

    def terms(self) -> list[tuple[Floats, Floats, int]]:
        """Return the independent terms of the mean, as tuples (values, probabilities, count).

        A term is the contribution of the best relevant item of an instance (:attr:`atoms` of
        position 1). Items with the same numbers of negatives (above, tied and in all) have one
        tuple, and ``count`` is their number.
        """
        first = self.atoms.position == 1
        atoms = self.atoms[first]
        laws = self._terms_of(atoms, self.weights[first])
        return [(*law, int(count)) for law, count in zip(laws, atoms.count, strict=True)]

    def instance_terms(self, order: Ints) -> list[Law]:
        """Return the distribution of the metric of each instance whose index is in ``order``."""
        atoms, at = self._instances(order)
        laws = self._terms_of(atoms, np.full(len(atoms), self.metric.scale(1)))
        return [laws[i] for i in at]

    def _terms_of(self, atoms: RankCounts, weights: Floats) -> list[Law]:
        """Return the distribution of each relevant item's sampled value times its weight.

        Values with a probability up to ``sums.NOTHING`` are left out.
        """
        terms: dict[int, Law] = {}
        for some, values, laws in self.item_laws(atoms):
            for i, p in zip(some.tolist(), laws, strict=True):
                terms[i] = values[p > sums.NOTHING] * weights[i], p[p > sums.NOTHING]
        return [terms[i] for i in range(len(atoms))]

    def value_laws(self, atoms: RankCounts) -> Iterator[ValueLaws]:
        """Yield the distributions of :meth:`item_laws` with equal values joined.

        They are the distributions of the sampled values of best relevant items.
        """
        levels, level = np.unique(self.vector, return_inverse=True)
        order = np.argsort(level, kind="stable")
        starts = np.searchsorted(level[order], np.arange(len(levels)))
        for some, values, p in self.item_laws(atoms):
            if values is self.vector:
                yield some, levels, np.add.reduceat(p[:, order], starts, axis=1)
            else:
                yield some, values, p

    def instance_waves(self, order: Ints, frequencies: Floats) -> Complex:
        """Return the characteristic function of each instance's value, (instances, frequencies).

        If instances have several relevant items, each item must hit or miss, and all instances must
        have equal weights.
        """
        if self.is_sum:
            atoms, at = self._instances(order)
            laws, frequencies = self.value_laws(atoms), self.metric.scale(1) * frequencies
        else:
            # ``x.values`` are contributions to the mean. Undo the division by n_instances.
            size, at = self.ranks.n_instances, order
            laws = ((x.instances, x.values * size, x.law) for x in self.hits or ())
        items, waves = map(np.concatenate, zip(*sums.item_waves(laws, frequencies), strict=True))
        return waves[np.argsort(items)[at]]

    def _instances(self, order: Ints) -> tuple[RankCounts, Ints]:
        """Return the best relevant item of each instance whose index is in ``order``.

        Best items of several instances are joined into one if they have the same numbers of
        negatives above them, tied with them and in all. Also return, for each instance in
        ``order``, the index of its item among the joined items.
        """
        rows = as_ranked_by(self.metric, self.ranks.rows(self.protocol.ties))
        best = rows[np.flatnonzero(rows.position == 1)[order]]
        atoms, (at,) = distinct_over_systems([best], self.protocol.design.uniform)
        return atoms, at


def law_of_mean(run: Run, stream: int = 0) -> Law | None:
    """Return the distribution of a run's mean metric.

    None if instance counts are fractions, or if the computation would take too long.

    ``stream`` is part of the seed of simulated runs, and should differ from system to system.
    """
    (law,) = exact_laws([run], stream)
    if law is None and run.ranks.n_instances < FEW and run.is_sum:
        return sums.on_grid(run.terms())
    return law


def exact_laws(runs: Sequence[Run], stream: int, *, simulate: bool = False) -> list[Law | None]:
    """Return the distribution of each run's mean, or None where this would take too long.

    The runs are of one system, each with a different metric. With ``simulate``, means that are not
    sums of independent terms are simulated, however long this takes.
    """
    ranks, protocol = runs[0].ranks, runs[0].protocol
    laws = [run.law_of_hits() for run in runs]
    if not runs[0].whole:
        return laws
    few = ranks.n_instances < FEW
    left = []
    for x, run in enumerate(runs):
        if laws[x] is None and few and run.is_sum:
            laws[x] = sums.convolved(run.terms(), int(ranks.n_instances))
        elif laws[x] is None and not run.is_sum:
            left.append(x)
    rows = float(np.sum(ranks.counts))
    if left and (simulate or few or rows * RUNS <= DRAWS):
        rng = np.random.default_rng([0, stream])
        number = int(np.clip(2 * DRAWS / rows, RUNS // 10, RUNS))
        chosen = [runs[x].metric for x in left]
        means = simulation.batches(chosen, ranks, runs[0].m, number, rng, protocol)
        for column, x in zip(np.concatenate(list(means)).T, left, strict=True):
            laws[x] = sums.merged_values(column, np.full(number, 1 / number))
    return laws
