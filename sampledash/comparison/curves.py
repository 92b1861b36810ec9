"""Expected sampled metrics of rank sets at many m, exactly, from one pass over m.

Dropping one of m negatives at random leaves m - 1 negatives drawn by the same scheme. So the
histogram of sampled counts thins from m to m - 1 by

    H[m-1](s) = ((m - s) H[m](s) + (s + 1) H[m](s + 1)) / m,

a sum of positive terms that loses no digits. Without replacement an instance enters, as one point,
when m reaches the number of its negatives: no law is evaluated at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampledash import checks
from sampledash.comparison import ties
from sampledash.metrics import Metric, as_metric
from sampledash.protocol import Options, Protocol, as_ranked_by
from sampledash.ranksets import RankCounts, RankSet, require_several
from sampledash.sampling import weighted_pmf_sums
from sampledash.types import Floats, Ints, Progress

_TINY = 1e-290  # thinner tails are dropped: subnormal arithmetic is a hundred times slower


@dataclass(frozen=True)
class _Lane:
    """Atoms of one system and position, weighted by their share in the mean."""

    system: int
    position: int
    atoms: RankCounts
    weight: Floats


def step_of(progress: Progress | None, number: int, steps: int) -> Progress:
    """Progress of one of several pieces of work that count the same."""

    def report(part: float) -> None:
        if progress is not None:
            progress((number + part) / steps)

    return report


def expected_means(
    metrics: Sequence[Metric],
    sets: Sequence[RankSet],
    m_values: Sequence[int],
    protocol: Protocol,
    progress: Progress | None = None,
) -> Floats:
    """Expected mean of every metric and system at every m: shape (len(m_values), systems, metrics).

    ``m_values`` may come in any order and repeat.
    """
    wanted = np.unique(np.asarray(m_values, dtype=np.int64))
    m_max = int(wanted[-1])
    for ranks in sets:
        protocol.check(ranks, m_max)
    all_atoms = [ranks.counted(protocol.ties) for ranks in sets]
    result = np.zeros((len(wanted), len(sets), len(metrics)))
    # One group of lanes for all metrics that weigh |R| relevant items alike.
    groups: dict[tuple[object, ...], list[int]] = {}
    sizes = np.unique(np.concatenate([np.unique(atoms.relevant) for atoms in all_atoms]))
    for i, metric in enumerate(metrics):
        key = metric.of_others, *metric.scales(sizes).tolist()
        groups.setdefault(key, []).append(i)
    for done, members in enumerate(groups.values()):
        lanes, ranked = [], [as_ranked_by(metrics[members[0]], atoms) for atoms in all_atoms]
        for system, atoms in enumerate(all_atoms):
            share = metrics[members[0]].scales(atoms.relevant) * atoms.count
            share = share * protocol.shares(atoms)
            here = ranked[system]
            lanes += [
                _Lane(system, j, here[here.position == j], share[here.position == j])
                for j in here.positions
            ]

        report = step_of(progress, done, len(groups))
        chosen = [metrics[i] for i in members]
        result[:, :, members] = _sweep(chosen, len(sets), lanes, ranked, wanted, protocol, report)
    return result[np.searchsorted(wanted, np.asarray(m_values, dtype=np.int64))]


def _sweep(
    metrics: Sequence[Metric],
    systems: int,
    lanes: Sequence[_Lane],
    all_atoms: Sequence[RankCounts],
    wanted: Ints,
    protocol: Protocol,
    report: Progress,
) -> Floats:
    """Thin all lanes together from the largest m to the smallest; see the module's text."""
    m_max = int(wanted[-1])
    result = np.zeros((len(wanted), systems, len(metrics)))
    sampled = [
        lane.atoms.negatives > m_max if protocol.without else np.ones(len(lane.atoms), dtype=bool)
        for lane in lanes
    ]
    parts = [(lane.atoms[now], lane.weight[now]) for lane, now in zip(lanes, sampled, strict=True)]
    thinned = _histograms(parts, m_max, protocol)
    active = np.array([weight.sum() for _, weight in parts])  # the rest is exact
    arrivals: dict[int, list[tuple[int, NDArray[np.intp]]]] = {}
    for row, lane in enumerate(lanes):
        late = ~sampled[row]
        if not np.any(late):
            continue
        # Above its number of negatives an instance is exact.
        order = np.flatnonzero(late)[np.argsort(lane.atoms.negatives[late], kind="stable")]
        sizes = lane.atoms.negatives[order]
        at, starts = np.unique(sizes, return_index=True)
        for m, members in zip(at.tolist(), np.split(order, starts[1:]), strict=True):
            arrivals.setdefault(m, []).append((row, members))
        for i, metric in enumerate(metrics):
            exact = ties.exact_values(metric, lane.atoms[order]) * lane.weight[order]
            total = np.r_[0.0, np.cumsum(exact)]
            result[:, lane.system, i] += total[np.searchsorted(sizes, wanted, side="left")]
    systems_of = np.array([lane.system for lane in lanes])
    static = None
    if not protocol.correction.by_rank:
        # Of each count above; AUC and ATOP, whose column is the count itself, and TOPK depend on m
        # besides.
        counts = np.arange(m_max + 1.0)
        static = {}
        for j in {lane.position for lane in lanes}:
            each = [counts if x.linear else x.of_above(counts, m_max, j) for x in metrics]
            static[j] = np.column_stack(each)
    s = np.arange(m_max + 1, dtype=np.float64)
    top = m_max
    if protocol.without:  # beyond all numbers of negatives everything is exact
        top = min(m_max, max(int(lane.atoms.negatives.max()) for lane in lanes))
    low, index = int(wanted[0]), int(np.searchsorted(wanted, top, side="right")) - 1
    for m in range(top, low - 1, -1):
        for row, members in arrivals.get(m, ()):
            active[row] += _arrive(
                thinned[row], lanes[row].atoms[members], lanes[row].weight[members]
            )
        if m == wanted[index]:
            if static is not None:
                values = _uncorrected(metrics, lanes, thinned, active, static, m)
            else:
                values = _corrected(metrics, lanes, all_atoms, thinned, protocol, m)
            np.add.at(result[index], systems_of, values)
            report(1 - index / len(wanted))
            index -= 1
        above_dropped = thinned[:, 1 : m + 1] * ((s[:m] + 1) / m)
        thinned[:, :m] *= (m - s[:m]) / m
        thinned[:, :m] += above_dropped
        thinned[:, m] = 0.0
        if m % 32 == 0:
            thinned[thinned < _TINY] = 0.0
    return result


def _arrive(histogram: Floats, atoms: RankCounts, weight: Floats) -> float:
    """Add instances whose negatives are now all sampled: their count above is the true one."""
    if not atoms.tied.any():
        histogram += np.bincount(atoms.above, weights=weight, minlength=len(histogram))
    else:
        each = weight / (atoms.tied + 1)
        for a, t, w in zip(atoms.above.tolist(), atoms.tied.tolist(), each.tolist(), strict=True):
            histogram[a : a + t + 1] += w
    return float(weight.sum())


def _histograms(parts: Sequence[tuple[RankCounts, Floats]], m: int, protocol: Protocol) -> Floats:
    """Histogram of the sampled count above of each part (atoms, weight): (parts, m + 1)."""
    total = np.zeros((len(parts), m + 1))
    smooth = []
    for row, (atoms, weight) in enumerate(parts):
        plain = atoms.tied == 0
        above, below = protocol.weights(atoms[plain])
        weights = weight[plain]
        if not np.all(plain) and protocol.without:
            for picked, p in ties.atom_laws(protocol, m, atoms[~plain]):
                total[row] += weight[~plain][picked] @ p
        elif not np.all(plain):
            owner, *tied, part = ties.nodes(protocol, m, atoms[~plain])
            above, below = np.r_[above, tied[0]], np.r_[below, tied[1]]
            weights = np.r_[weights, weight[~plain][owner] * part]
        smooth.append((above, below, weights))
    return total + weighted_pmf_sums(protocol.scheme, m, smooth)


def _uncorrected(
    metrics: Sequence[Metric],
    lanes: Sequence[_Lane],
    thinned: Floats,
    active: Floats,
    static: dict[int, Floats],
    m: int,
) -> Floats:
    """Expected contribution of each lane to each metric at m: (lanes, metrics)."""
    if len(static) == 1:
        values = thinned[:, : m + 1] @ next(iter(static.values()))[: m + 1]
    else:
        each = zip(thinned, lanes, strict=True)
        values = np.array([row[: m + 1] @ static[lane.position][: m + 1] for row, lane in each])
    for i, metric in enumerate(metrics):
        if metric.linear:
            values[:, i] = active - values[:, i] / m
        elif metric.share is not None:
            values[:, i] = thinned[:, : metric.cut(m)].sum(axis=1)
    return np.asarray(values)


def _corrected(
    metrics: Sequence[Metric],
    lanes: Sequence[_Lane],
    all_atoms: Sequence[RankCounts],
    thinned: Floats,
    protocol: Protocol,
    m: int,
) -> Floats:
    """The same with the vector of the correction fitted at m."""
    values = np.zeros((len(lanes), len(metrics)))
    for row, lane in enumerate(lanes):
        for i, metric in enumerate(metrics):
            if metric.first_only and lane.position > 1:
                continue
            fitted = protocol.vector(metric, all_atoms[lane.system], m, lane.position)
            values[row, i] = thinned[row, : m + 1] @ fitted
    return values


def curve(
    metric: Metric | str,
    sets: Sequence[RankSet],
    m_values: Iterable[int],
    *,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> pd.DataFrame:
    """Expected mean of the metric at each m (Figures 2 and 6).

    Parameters
    ----------
    metric
        A metric or its text.
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
    require_several(sets)
    values = [checks.integer("m", m, low=1) for m in checks.several("m_values", m_values, "m")]
    means = expected_means([as_metric(metric)], sets, values, Protocol.of(options), progress)
    index = pd.Index(values, name="m")
    return pd.DataFrame(means[:, :, 0], index=index, columns=[rs.system for rs in sets])
