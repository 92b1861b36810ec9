"""Order of systems by the exact metric, and by the expected sampled metric at many m.

m is the number of sampled negatives. A flip is an m at which the expected order of two systems is
the opposite of their order at the previous m. An m at which they are tied is skipped.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations, count
from typing import Any, NamedTuple, Unpack

import numpy as np
import pandas as pd

from sampledash import checks
from sampledash.comparison.means import MeansOverM, exact_means, step_of
from sampledash.metrics import Metric, as_metric
from sampledash.protocol import Options, Protocol
from sampledash.rank_sets import RankSet, require_several
from sampledash.types import Floats, Ints, Progress, blocks

TIED = 1e-12  # differences of means up to this are ties
M_CAP = 20_000  # largest m that is evaluated by default
# If a correction or a scheme needs a separate computation for each m, the order is evaluated at
# every m up to EVERY, and on a logarithmic grid of larger m. The grid has at most BEYOND values.
# Between the evaluated values, bisection finds where an order changes.
EVERY = 400
BEYOND = 64
QUICK_MOST, QUICK_TOP = 40, 1_000  # in quick_ladder: largest number of values of m, and largest m
_BLOCK = 1 << 22  # number of differences of means in memory at a time


def sign(difference: Floats) -> Ints:
    """Return the sign of a difference: 1, -1, or 0 for a tie."""
    return np.where(np.abs(difference) <= TIED, 0, np.sign(difference)).astype(np.int64)


def check_sets(sets: Sequence[RankSet]) -> None:
    """Raise an error unless ``sets`` are at least two rank sets with different names."""
    require_several(sets)
    if len(sets) < 2:
        raise ValueError(f"a comparison needs at least two systems, got {len(sets)}; add another")


def largest_m(sets: Sequence[RankSet], m_max: int | None, protocol: Protocol) -> int:
    """Return the largest m to evaluate: ``m_max``, or by default the largest n - 1, up to 20,000.

    If negatives are drawn without replacement, m cannot exceed the largest number of negatives of
    an instance nor, for a system whose instances all have equally many negatives, the number of
    negatives of this system. If negatives are drawn by weight without replacement, or from strata,
    m cannot exceed the smallest number of negatives of an instance.
    """
    top = max(int(ranks.n.max()) - 1 for ranks in sets)
    if protocol.design.distinct:
        negatives = [ranks.counted().negatives for ranks in sets]
        same = [int(size[0]) for size in negatives if np.all(size == size[0])]
        top = min([max(int(size.max()) for size in negatives), *same])
        if protocol.design.by_class is not None:
            top = min(int(size.min()) for size in negatives)
    if m_max is None:
        return min(top, M_CAP)
    m_max = checks.integer("m_max", m_max, low=1)
    return min(m_max, top) if protocol.design.distinct else m_max


@dataclass(frozen=True)
class Orders:
    """Expected sampled means at many m, which determine the order of each pair at each m."""

    m_values: Ints  # the evaluated m, increasing: shape (M,)
    means: Floats  # expected sampled means, shape (M, systems, metrics)

    def at(self, m: int) -> Floats | None:
        """Return the expected means at m, (systems, metrics), or None if m was not evaluated."""
        i = int(np.searchsorted(self.m_values, m))
        return self.means[i] if i < len(self.m_values) and self.m_values[i] == m else None

    def signs(self, first: int, second: int, metric: int) -> Ints:
        """Return 1 for each m at which ``first`` is ahead, -1 if ``second`` is, 0 for a tie."""
        return sign(self.means[:, first, metric] - self.means[:, second, metric])

    def flips(self, first: int, second: int, metric: int) -> list[int]:
        """Return each m at which the order is the opposite of the order at the m before.

        An m at which the pair is tied is skipped.
        """
        signs = self.signs(first, second, metric)
        strict = np.flatnonzero(signs)
        changed = np.flatnonzero(np.diff(signs[strict])) + 1
        return [int(m) for m in self.m_values[strict[changed]]]

    def right_from(self, better: int, worse: int, metric: int) -> int | None:
        """Return the smallest m from which on the better system stays ahead.

        Return None if the better system is not ahead at the largest m.
        """
        return int(self.all_right_from(np.array([better]), np.array([worse]), metric)[0]) or None

    def all_right_from(self, better: Ints, worse: Ints, metric: int) -> Ints:
        """Return :meth:`right_from` for many pairs at once, with 0 for None."""
        first = np.empty(len(better), dtype=np.int64)
        column = np.ascontiguousarray(self.means[:, :, metric])
        for rows in blocks(len(better), _BLOCK, len(self.m_values)):
            wrong = column[:, better[rows]] - column[:, worse[rows]] <= TIED
            # For each pair, index of the m after the last wrong order or tie; 0 if all m are right.
            last = len(wrong) - np.argmax(wrong[::-1], axis=0)
            last[~wrong.any(axis=0)] = 0
            first[rows] = np.r_[self.m_values, 0][last]
        return first


def quick_ladder(m_max: int, most: int = QUICK_MOST) -> list[int]:
    """Return at most ``most`` values of m up to 1,000, for evaluations that take long at each m.

    Examples
    --------
    >>> quick_ladder(3), len(quick_ladder(10**6)), quick_ladder(10**6)[-1]
    ([1, 2, 3], 40, 1000)
    """
    top = min(m_max, QUICK_TOP)
    if top <= most:
        return list(range(1, top + 1))
    # Small values of a logarithmic grid round to the same m, so refine the grid until it has
    # ``most`` different m.
    size = most
    while len(ladder := np.unique(np.geomspace(1, top, size).round().astype(np.int64))) < most:
        size += 1
    return [int(m) for m in ladder]


def orders(
    metrics: Sequence[Metric],
    sets: Sequence[RankSet],
    m_max: int,
    protocol: Protocol,
    progress: Progress | None = None,
    m_values: Sequence[int] | None = None,
) -> Orders:
    """Return the expected means of all systems at many m, which determine the order of all pairs.

    By default, every m up to ``m_max`` is evaluated. Some corrections and sampling schemes need a
    separate computation for each m, such as a fit. For these, every m up to 400 and a logarithmic
    grid of larger m are evaluated. If ``m_values`` is given, only ``m_values`` are evaluated for
    these schemes and for any correction; otherwise ``m_values`` is ignored. Where an order changes
    between two evaluated m, bisection finds the m of the change.
    """
    if m_values is not None and (protocol.correction.by_rank or protocol.anew):
        values = np.unique(np.asarray(m_values, dtype=np.int64))
    elif not protocol.anew or m_max <= EVERY:
        values = np.arange(1, m_max + 1)
    else:
        ladder = np.geomspace(EVERY, m_max, BEYOND + 1).round().astype(np.int64)
        values = np.unique(np.r_[np.arange(1, EVERY + 1), ladder])
    # Bisection takes about as many rounds as the widest gap between two m has binary digits.
    rounds = int(np.max(np.diff(values), initial=1)).bit_length() - 1
    first = 0.5 if rounds else 1.0
    report = step_of(progress, 0, 1)
    means = MeansOverM(metrics, sets, int(values[-1]), protocol)
    result = Orders(values, means.at(values.tolist(), lambda part: report(first * part)))
    for step in count(1):
        middle = _between_changes(result, len(sets))
        if not len(middle):
            break
        added = means.at(middle.tolist())
        report(min(first + (1 - first) * step / rounds, 1.0))
        values = np.r_[result.m_values, middle]
        order = np.argsort(values)
        result = Orders(values[order], np.concatenate([result.means, added])[order])
    report(1.0)
    return result


def _between_changes(evaluated: Orders, systems: int) -> Ints:
    """Return the midpoints between neighbouring evaluated m where the order of a pair changes."""
    m, means = evaluated.m_values, evaluated.means
    gaps = np.flatnonzero(np.diff(m) > 1)
    if not len(gaps):
        return m[:0]
    changes = np.zeros(len(gaps), dtype=bool)
    for i in range(systems - 1):
        left, right = (sign(means[at, i, None] - means[at, i + 1 :]) for at in (gaps, gaps + 1))
        changes |= np.any(left != right, axis=(1, 2))
    return (m[gaps[changes]] + m[gaps[changes] + 1]) // 2


def true_order(
    metric: Metric, sets: Sequence[RankSet], protocol: Protocol
) -> list[tuple[int, int, int]]:
    """Return (better, worse, truth) for each pair of systems, compared by their exact means.

    ``better`` and ``worse`` are indices in ``sets``. ``truth`` is 0 if the exact means are tied,
    otherwise 1.
    """
    return true_pairs(exact_means([metric], sets, protocol)[:, 0])


def true_pairs(exact: Floats) -> list[tuple[int, int, int]]:
    """Return the result of :func:`true_order`, given the exact means of the systems."""
    first, second = np.triu_indices(len(exact), 1)
    signs = sign(exact[first] - exact[second])
    better, worse = np.where(signs < 0, second, first), np.where(signs < 0, first, second)
    return list(zip(better.tolist(), worse.tolist(), np.abs(signs).tolist(), strict=True))


def pair_table(
    sets: Sequence[RankSet], pairs: Sequence[tuple[int, int, int]], **columns: Sequence[Any]
) -> pd.DataFrame:
    """Return a table with the names of each pair's systems (better, worse), and ``columns``."""
    names = np.array([ranks.system for ranks in sets], dtype=object)
    better, worse, _ = np.array(pairs).T
    table = pd.DataFrame({"better": names[better], "worse": names[worse]}, dtype=object)
    kinds = {"m": "Int64", "instances": "Int64", "interval": "object"}
    for name, values in columns.items():
        table[name] = pd.Series(values, dtype=kinds.get(name))
    return table


class Flip(NamedTuple):
    """An m at which the expected order of two systems is the opposite of that at the previous m.

    An m at which the two systems are tied does not count as previous.
    """

    first: str
    second: str
    m: int


def flips(
    metric: Metric | str,
    sets: Sequence[RankSet],
    m_max: int | None = None,
    *,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> list[Flip]:
    """Return every m at which the expected order of a pair is the opposite of its previous order.

    Parameters
    ----------
    metric
        A metric, or text such as ``"Recall@10"``.
    sets
        At least two rank sets, one per system.
    m_max
        Largest m that is evaluated. If None, the largest n - 1, at most 20,000.
    progress
        Called with the share of the work that is done.
    **options
        See :class:`~sampledash.Options`.

    Returns
    -------
    One :class:`Flip` per pair and m: pairs in the order of ``sets``, and m in increasing order.
    Differences up to 1e-12 are ties. The previous order of a pair is its order at the next smaller
    m at which the pair is not tied.
    """
    check_sets(sets)
    protocol = Protocol.of(options)
    signs = orders([as_metric(metric)], sets, largest_m(sets, m_max, protocol), protocol, progress)
    return [
        Flip(sets[i].system, sets[j].system, m)
        for i, j in combinations(range(len(sets)), 2)
        for m in signs.flips(i, j, 0)
    ]


def right_from(
    metric: Metric | str,
    sets: Sequence[RankSet],
    m_max: int | None = None,
    *,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> pd.DataFrame:
    """Return the smallest m from which on the expected order of each pair is always right.

    The parameters are those of :func:`flips`.

    Returns
    -------
    DataFrame with columns ``better``, ``worse`` (by the exact metric) and ``m``; ``<NA>`` where
    the order is not right at the largest m, or where the exact metric ties the pair.
    """
    check_sets(sets)
    metric, protocol = as_metric(metric), Protocol.of(options)
    result = orders([metric], sets, largest_m(sets, m_max, protocol), protocol, progress)
    pairs = true_order(metric, sets, protocol)
    found_m = [result.right_from(i, j, 0) if truth else None for i, j, truth in pairs]
    return pair_table(sets, pairs, m=found_m)
