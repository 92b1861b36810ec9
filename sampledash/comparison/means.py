r"""Mean of a metric over a rank set: the exact mean, and the expected mean at m sampled negatives.

The histogram H[m](s) is the expected total weight of the relevant items that have s of m sampled
negatives above them. If one of m negatives is dropped at random, the other m - 1 negatives are a
sample by the same scheme. The histogram can therefore be "thinned" from m to m - 1 by

    H[m-1](s) = ((m - s) H[m](s) + (s + 1) H[m](s + 1)) / m,

a sum of positive terms, which loses no precision. For draws without replacement, an item with only
N negatives enters the histogram at m = N, where the number s of negatives above it is known.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampledash import checks, rank_counts, rank_sets
from sampledash.metrics import Metric, as_metric, places_within
from sampledash.pmf_sums import merge_laws, weighted_pmf_sums
from sampledash.protocol import Options, Protocol, Weighting, as_ranked_by
from sampledash.quadrature import SIZE, mean_nodes
from sampledash.rank_counts import RankCounts
from sampledash.rank_sets import RankSet, Ties
from sampledash.sampling import check_metric
from sampledash.schemes import SCHEMES, Scheme
from sampledash.types import Floats, Ints, Progress, blocks

# Entries of a histogram that are smaller than this are set to 0: computing with subnormal numbers
# would be a hundred times slower.
_TINY = 1e-290
_ROOM = 1 << 23  # largest number of nodes in memory, and of histogram entries in the cache
# To average a metric over the random orders of tied items, a table of the metric at all ranks is
# used if the ranks are below this number, and otherwise numerical integration.
_TABLE = 10_000_000


def step_of(progress: Progress | None, number: int, steps: int) -> Progress:
    """Return the progress callback for step ``number`` (from 0) of ``steps`` equal steps."""
    checks.function("progress", progress)
    return lambda part: progress((number + part) / steps) if progress else None


def mean(
    metric: Metric | str,
    ranks: RankSet,
    *,
    ties: Ties = "expected",
    weighting: Weighting = "instances",
) -> float:
    """Return the exact mean of the metric over the instances (eq. 1 of Krichene & Rendle).

    Parameters
    ----------
    metric
        A metric, or text such as ``"Recall@10"``.
    ranks
        True ranks.
    ties
        How ties are resolved: ``"expected"`` averages over all orders of the tied items.
    weighting
        ``"instances"``: every instance has the same weight; ``"relevant-items"``: the weight of an
        instance is its number of relevant items.
    """
    rank_sets.require_ranks(ranks)
    protocol = Protocol.of({"ties": ties, "weighting": weighting})
    return float(exact_means([as_metric(metric)], [ranks], protocol)[0, 0])


def mean_range(
    metric: Metric | str, ranks: RankSet, *, weighting: Weighting = "instances"
) -> tuple[float, float]:
    """Return the smallest and largest exact mean if only the top of each ranked list is known.

    Parameters
    ----------
    metric
        A metric, or text such as ``"Recall@10"``.
    ranks
        True ranks, of which some are only known to be beyond the end of the list. The metric is
        averaged over all orders of tied items.
    weighting
        As in :func:`mean`.

    Returns
    -------
    The mean with all items of unknown rank at the last ranks, and the mean with all of them right
    after the known list. The range is sharp, because no metric increases with the rank. Both values
    equal the mean if all ranks are known, or if all unknown ranks lie beyond the cutoff.

    Examples
    --------
    >>> from sampledash import RankSet
    >>> mean_range("AP", RankSet("X", [1, 11], 100, beyond=[False, True]))
    (0.505, 0.5454545454545454)
    """
    rank_sets.require_ranks(ranks)
    metric, protocol = as_metric(metric), Protocol.of({"weighting": weighting})
    ends = [ranks.completed(best) for best in (False, True)]
    low, high = exact_means([metric], ends, protocol)[:, 0].tolist()
    return low, high


def exact_means(metrics: Sequence[Metric], sets: Sequence[RankSet], protocol: Protocol) -> Floats:
    """Return the exact mean of every metric for every system: shape (systems, metrics)."""
    means = np.empty((len(sets), len(metrics)))
    for i, ranks in enumerate(sets):
        atoms = ranks.counted(protocol.ties)
        weight = protocol.shares(atoms) * atoms.count
        for x, metric in enumerate(metrics):
            ranks.require_known(metric)
            means[i, x] = (exact_values(metric, atoms) * metric.scales(atoms.relevant)) @ weight
    return means


def exact_values(metric: Metric, atoms: RankCounts) -> Floats:
    """Return what each item adds to the exact metric, averaged over the orders of tied items.

    The values are not yet multiplied by ``metric.scales``, such as 1 / (number of relevant items).
    """
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
            # The rank is j plus the number of negatives above. It is within the cutoff if this
            # number is at most ``last``.
            last = places_within(metric.share, total) - j
            values[at] = np.clip(last - above + 1, 0, tied + 1) / (tied + 1)
        else:
            values[at] = _range_mean(metric, above, tied, j)
    return values


def _range_mean(metric: Metric, above: Ints, tied: Ints, position: int) -> Floats:
    """Return each item's metric, averaged over the ranks that it has in random orders of ties."""
    top = int((above + tied).max())
    if top < _TABLE:
        table = np.r_[0.0, np.cumsum(metric.of_above(np.arange(top + 1), 1, position))]
        mean = (table[above + tied + 1] - table[above]) / (tied + 1)
        return np.where(tied == 0, metric.of_above(above, 1, position), mean)
    cut = -1 if metric.k is None else metric.k - position + 1

    def end_of(_: Ints, first: Ints) -> Ints:
        end = np.maximum(2 * first, first + SIZE - 1)
        return np.where((first < cut) & (cut <= end), cut - 1, end)

    means = np.empty(len(above))
    for some in blocks(len(above), _ROOM, 64 * SIZE):
        owner, counts, weights = mean_nodes(above[some], (above + tied)[some], end_of)
        means[some] = np.bincount(owner, weights * metric.of_above(counts, 1, position))
    return means


def expected_mean(
    metric: Metric | str, ranks: RankSet, m: int, **options: Unpack[Options]
) -> float:
    """Return the expected mean of the sampled, possibly corrected, metric over the instances.

    Parameters
    ----------
    metric
        A metric, or text such as ``"Recall@10"``.
    ranks
        True ranks.
    m
        Sampled negatives per instance.
    **options
        See :class:`~sampledash.Options`.

    Notes
    -----
    The negatives of each instance are drawn from its own n candidates. A correction is fitted once,
    to the rounded mean number of candidates of all instances. Without replacement, an instance with
    fewer than m negatives is ranked among all of them and contributes its exact metric. If
    negatives are drawn by weight without replacement, or from strata, such an instance is refused.
    """
    rank_sets.require_ranks(ranks)
    m = checks.integer("m", m, low=1)
    return float(expected_means([as_metric(metric)], [ranks], [m], Protocol.of(options))[0, 0, 0])


def expected_means(
    metrics: Sequence[Metric],
    sets: Sequence[RankSet],
    m_values: Sequence[int],
    protocol: Protocol,
    progress: Progress | None = None,
) -> Floats:
    """Return the expected sampled mean at every m, shape (len(m_values), systems, metrics).

    ``m_values`` may be in any order and may repeat.
    """
    return MeansOverM(metrics, sets, max(m_values), protocol).at(m_values, progress)


class MeansOverM:
    """Expected sampled means of every metric and system at any m up to ``m_max``."""

    def __init__(
        self, metrics: Sequence[Metric], sets: Sequence[RankSet], m_max: int, protocol: Protocol
    ) -> None:
        for metric in metrics:
            check_metric(metric, protocol.scheme)
        for ranks in sets:
            protocol.check(ranks, m_max)
        atoms = [merged(ranks.counted(protocol.ties), m_max, protocol.scheme) for ranks in sets]
        sizes = np.unique(np.concatenate([np.flatnonzero(np.bincount(x.relevant)) for x in atoms]))
        # The metrics of a group use the same histograms (see :class:`_Pass`). They have the same
        # factors ``metric.scales``, and the same ``of_others``, which says whether a relevant item
        # is ranked among the other relevant items too.
        groups: dict[tuple[object, ...], list[int]] = {}
        for i, metric in enumerate(metrics):
            groups.setdefault((metric.of_others, *metric.scales(sizes).tolist()), []).append(i)
        self._shape = len(sets), len(metrics)
        self._passes = [
            (members, _Pass([metrics[i] for i in members], atoms, m_max, protocol))
            for members in groups.values()
        ]

    def at(self, m_values: Sequence[int], progress: Progress | None = None) -> Floats:
        """Return the expected means at ``m_values``: shape (len(m_values), systems, metrics)."""
        wanted, places = np.unique(np.asarray(m_values, dtype=np.int64), return_inverse=True)
        result = np.zeros((len(wanted), *self._shape))
        for done, (members, thinning) in enumerate(self._passes):
            result[:, :, members] = thinning.at(wanted, step_of(progress, done, len(self._passes)))
        return result[places]


@dataclass(frozen=True)
class _Lane:
    """The relevant items of one system at one position, each with its weight in the mean.

    A relevant item at position j is the j-th best relevant item of its instance.
    """

    system: int
    position: int
    atoms: RankCounts
    weight: Floats


class _Pass:
    """Expected means at many m, computed from histograms.

    A histogram is about a group of relevant items (:class:`_Lane`). For each number 0, 1, ..., m,
    it holds the expected total weight of the items that have this many sampled negatives above
    them. Under most sampling schemes, the histograms for m are computed from those for m + 1, from
    the largest m down to the smallest.
    """

    def __init__(
        self, metrics: Sequence[Metric], atoms: Sequence[RankCounts], m_max: int, protocol: Protocol
    ) -> None:
        self.metrics, self.protocol = metrics, protocol
        self.ranked = [as_ranked_by(metrics[0], x) for x in atoms]
        self.lanes, self.parts = list[_Lane](), list[tuple[RankCounts, Floats]]()
        #: For each m, tuples (row, items): ``lanes[row].atoms[items]`` are the relevant items of
        #: histogram ``row`` that have exactly m negatives.
        self.arrivals: dict[int, list[tuple[int, NDArray[np.intp]]]] = {}
        #: For each histogram, two arrays about the relevant items with at most m_max negatives: the
        #: sorted numbers of negatives, and the cumulative sums of the items' weighted exact
        #: metrics. One of these sums is what all items with fewer than m negatives add to the means
        #: at m.
        self.exact: dict[int, tuple[Ints, Floats]] = {}
        for system, (counts, ranked) in enumerate(zip(atoms, self.ranked, strict=True)):
            share = metrics[0].scales(counts.relevant) * counts.count * protocol.shares(counts)
            for j in ranked.positions:
                at_position = ranked.position == j
                lane = _Lane(system, j, ranked[at_position], share[at_position])
                drawn = protocol.design.distinct and not protocol.design.anew
                late = (lane.atoms.negatives <= m_max) & drawn
                self.parts.append((lane.atoms[~late], lane.weight[~late]))
                if np.any(late):
                    self._keep_exact(len(self.lanes), lane, np.flatnonzero(late))
                self.lanes.append(lane)
        top = m_max
        if protocol.design.distinct:
            # For m above the largest number of negatives, all negatives are drawn and all values
            # are exact: no histogram is needed.
            top = min(top, max(int(lane.atoms.negatives.max()) for lane in self.lanes))
        first = _histograms(self.parts, m_max, protocol)[:, : top + 1]
        for row, members in self.arrivals.get(top, ()):
            self._arrive(first[row], row, members)
        self.kept = {top: first}
        # For each j, two arrays about the j-th best relevant items: the rows of their histograms,
        # and the metrics' values if 0, 1, ... sampled negatives are above such an item. Values that
        # depend on m are computed by ``_values`` instead: those of the metrics in ``moving`` (AUC,
        # ATOP, TOPK), and all corrected values.
        self.static = list[tuple[Ints | slice, Floats]]()
        positions = np.array([lane.position for lane in self.lanes])
        for j in np.unique(positions[:0] if protocol.correction.by_rank else positions).tolist():
            table = [metric.of_above(np.arange(m_max + 1), m_max, j) for metric in metrics]
            rows = np.flatnonzero(positions == j)
            # A slice for all rows of the histograms avoids a copy of the histograms.
            every = len(rows) == len(positions)
            self.static.append((slice(None) if every else rows, np.column_stack(table)))
        self.moving = [(i, x) for i, x in enumerate(metrics) if x.linear or x.share is not None]
        # ``owned[i, row]`` is 1 if histogram ``row`` is about items of system i, and otherwise 0.
        owners = np.array([lane.system for lane in self.lanes])
        self.owned = (np.arange(len(atoms))[:, None] == owners).astype(np.float64)
        self.counts = np.arange(1.0, top + 2.0)

    def _keep_exact(self, row: int, lane: _Lane, late: NDArray[np.intp]) -> None:
        late = late[np.argsort(lane.atoms.negatives[late], kind="stable")]
        sizes = lane.atoms.negatives[late]
        at, starts = np.unique(sizes, return_index=True)
        for m, members in zip(at.tolist(), np.split(late, starts[1:]), strict=True):
            self.arrivals.setdefault(m, []).append((row, members))
        values = [exact_values(metric, lane.atoms[late]) for metric in self.metrics]
        sums = np.cumsum(np.column_stack(values) * lane.weight[late, None], axis=0)
        self.exact[row] = sizes, np.concatenate([np.zeros((1, len(self.metrics))), sums])

    def _arrive(self, histogram: Floats, row: int, members: NDArray[np.intp]) -> None:
        """Add items whose negatives are all sampled to a histogram of sampled ranks.

        The sampled ranks of these items are their true ranks.
        """
        atoms, weight = self.lanes[row].atoms[members], self.lanes[row].weight[members]
        # These items have whole numbers of negatives above. The array may still hold floats, if
        # ``merged`` has given other items fractional numbers.
        above = atoms.above.astype(np.int64)
        if not atoms.tied.any():
            histogram += np.bincount(above, weights=weight, minlength=len(histogram))
        else:
            size = atoms.tied + 1
            count = np.repeat(above + size - np.cumsum(size), size) + np.arange(size.sum())
            histogram += np.bincount(count, np.repeat(weight / size, size), len(histogram))

    def at(self, wanted: Ints, report: Progress) -> Floats:
        """Return the expected sampled means at each m in ``wanted``, an increasing array.

        The result has the shape (len(wanted), systems, metrics).
        """
        result = np.zeros((len(wanted), len(self.ranked), len(self.metrics)))
        for row, (sizes, total) in self.exact.items():
            result[:, self.lanes[row].system] += total[np.searchsorted(sizes, wanted)]
        if self.protocol.design.anew:  # histograms at m do not follow from those at m + 1
            for index, m in enumerate(wanted.tolist()):
                histograms = self.kept.get(m)
                if histograms is None:
                    histograms = _histograms(self.parts, m, self.protocol)
                result[index] = self.owned @ self._values(histograms, m)
                report((index + 1) / len(wanted))
            return result
        top = m = max(self.kept)
        thinned = self.kept[top].copy()
        for index in range(len(wanted) - 1, -1, -1):
            target = int(wanted[index])
            if target <= top:
                start = min(x for x in self.kept if x >= target)
                if start < m:
                    m, thinned = start, self.kept[start].copy()
                for below in range(m - 1, target - 1, -1):
                    self._thin(thinned, below)
                m, thinned = target, thinned[:, : target + 1]
                # Cache the histograms at ``target``, unless the cache would become too large: a
                # later call for an m that this call skips can start from these histograms.
                gap = index and target - wanted[index - 1] > 1
                if gap and sum(map(np.size, self.kept.values())) + thinned.size <= _ROOM:
                    self.kept[m] = thinned.copy()
                result[index] += self.owned @ self._values(thinned, m)
            report(1 - index / len(wanted))
        return result

    def _thin(self, thinned: Floats, m: int) -> None:
        """Turn histograms for m + 1 sampled negatives into histograms for m, in place.

        A row of ``thinned`` counts relevant items by the number of sampled negatives above them.
        """
        share = self.counts[: m + 1] / (m + 1)
        dropped = thinned[:, 1 : m + 2] * share
        rest = thinned[:, : m + 1]
        rest *= share[::-1]
        rest += dropped
        thinned[:, m + 1] = 0.0
        if m % 32 == 0:
            thinned[thinned < _TINY] = 0.0
        for row, members in self.arrivals.get(m, ()):
            self._arrive(thinned[row], row, members)

    def _values(self, thinned: Floats, m: int) -> Floats:
        """Return what the relevant items of each histogram add to each expected mean.

        A histogram (row of ``thinned``) counts relevant items by the number of sampled negatives
        above them. The result has the shape (histograms, metrics).
        """
        values = np.zeros((len(self.lanes), len(self.metrics)))
        if self.protocol.correction.by_rank:
            for row, lane in enumerate(self.lanes):
                atoms, j = self.ranked[lane.system], lane.position
                for i, metric in enumerate(self.metrics):
                    if j == 1 or not metric.first_only:
                        values[row, i] = thinned[row] @ self.protocol.vector(metric, atoms, m, j)
            return values
        for rows, table in self.static:
            values[rows] = thinned[rows] @ table[: m + 1]
        for i, metric in self.moving:
            if metric.linear:
                values[:, i] = thinned @ (1 - np.arange(m + 1) / m)
            else:
                values[:, i] = thinned[:, : metric.cut(m)].sum(axis=1)
        return values


def _histograms(parts: Sequence[tuple[RankCounts, Floats]], m: int, protocol: Protocol) -> Floats:
    """Return histograms of the number of sampled negatives above relevant items, (parts, m + 1).

    Each entry of ``parts`` holds the relevant items of one histogram, and the weights with which
    the items are counted.
    """
    total = np.zeros((len(parts), m + 1))
    smooth = []
    for row, (atoms, weight) in enumerate(parts):
        if protocol.design.by_class is not None:
            total[row] = sum(weight[picked] @ p for picked, p in protocol.laws(atoms, m))
            continue
        plain = atoms.tied == 0
        above, below = protocol.weights(atoms[plain])
        weights = weight[plain]
        if not np.all(plain) and protocol.design.distinct:
            for picked, p in protocol.laws(atoms[~plain], m):
                total[row] += weight[~plain][picked] @ p
        elif not np.all(plain):
            owner, *tied, part = protocol.tied_nodes(atoms[~plain], m)
            above, below = np.r_[above, tied[0]], np.r_[below, tied[1]]
            weights = np.r_[weights, weight[~plain][owner] * part]
        smooth.append((above, below, weights))
    return total + weighted_pmf_sums(protocol.scheme, m, smooth) if smooth else total


def curve(
    metric: Metric | str,
    sets: Sequence[RankSet],
    m_values: Iterable[int],
    *,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> pd.DataFrame:
    """Return the expected sampled mean of the metric at each m.

    Figures 2 and 6 of Krichene & Rendle (KDD 2020) show such curves.

    Parameters
    ----------
    metric
        A metric, or text such as ``"Recall@10"``.
    sets
        One rank set per system.
    m_values
        Numbers of negatives, each at least 1.
    progress
        Called with the share of the work that is done, in 0..1.
    **options
        See :class:`~sampledash.Options`.

    Returns
    -------
    DataFrame with index m (in the order given) and one column per system.
    """
    rank_sets.require_several(sets)
    values = [checks.integer("m", m, low=1) for m in checks.several("m_values", m_values, "m")]
    means = expected_means([as_metric(metric)], sets, values, Protocol.of(options), progress)
    index = pd.Index(values, name="m")
    return pd.DataFrame(means[:, :, 0], index=index, columns=[rs.system for rs in sets])


def merged(atoms: RankCounts, m: int, scheme: Scheme) -> RankCounts:
    """Replace relevant items by fewer items with the same histogram of sampled ranks at m.

    This saves time. The new items may have fractional numbers of negatives above them.
    """
    if not SCHEMES[scheme].by_degree or atoms.relevant.max() > 1:
        return atoms
    return atoms.cached((m, scheme), len(atoms), lambda: _merge(atoms, m, scheme))


def _merge(atoms: RankCounts, m: int, scheme: Scheme) -> RankCounts:
    plain = atoms.tied == 0
    some, rest = atoms[plain], atoms[~plain]
    above = some.above.astype(np.float64)
    ((above, below, count),) = merge_laws(scheme, m, [(above, some.negatives - above, some.count)])
    if len(count) == len(some):
        return atoms
    if not SCHEMES[scheme].distinct:
        # Only the share of the negatives that are above a relevant item matters. So set the number
        # of negatives of every relevant item to the same value: the mean over all of them.
        size = rank_counts.rounded_mean(some.negatives, some.count) / (above + below)
        above, below = size * above, size * below
    ones = np.ones(len(count), dtype=np.int64)
    columns: list[Any] = [above, above + below, 0 * ones, ones, ones, None, count]
    return rank_counts.all_of([RankCounts(*columns), replace(rest, mass=None)])
