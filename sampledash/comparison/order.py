"""Order of systems: where it flips over m, and from which m it is right."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import NamedTuple, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampledash import checks
from sampledash.comparison.curves import Progress, expected_means
from sampledash.comparison.means import mean
from sampledash.metrics import Metric, as_metric
from sampledash.ranksets import RankSet
from sampledash.setting import Options, Setting

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

TIED = 1e-12  # differences of means up to this are ties
M_CAP = 20_000  # largest m looked at unless asked for
EVERY = 400  # corrections that need a fit are evaluated at every m up to here
BEYOND = 64  # and at this many values of m beyond, with bisection between


class Flip(NamedTuple):
    """The order of two systems becomes the opposite at m."""

    first: str
    second: str
    m: int


def sign(difference: Floats) -> Ints:
    """Order of a difference: 1, -1, or 0 for tied."""
    return np.where(np.abs(difference) <= TIED, 0, np.sign(difference)).astype(np.int64)


def check_sets(sets: Sequence[RankSet]) -> None:
    """Refuse comparisons that have no meaning."""
    if len(sets) < 2:
        raise ValueError(f"a comparison needs at least two systems, got {len(sets)}")
    names = [ranks.system for ranks in sets]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise ValueError(f"system {twice!r} occurs twice: give each rank set its own name")


def largest_m(sets: Sequence[RankSet], m_max: int | None, setting: Setting) -> int:
    """Default and limit of m: the largest n - 1, capped at 20,000.

    Without replacement no more than there are negatives, where a system has one n for all.
    """
    top = max(int(ranks.n.max()) - 1 for ranks in sets)
    if setting.without:
        negatives = [ranks.atoms().negatives for ranks in sets]
        same = [int(size[0]) for size in negatives if np.all(size == size[0])]
        top = min([max(int(size.max()) for size in negatives), *same])
    if m_max is None:
        return min(top, M_CAP)
    m_max = checks.integer("m_max", m_max, low=1)
    return min(m_max, top) if setting.without else m_max


@dataclass(frozen=True)
class Orders:
    """Signs of the pairwise differences over m, per metric.

    Attributes
    ----------
    m_values
        Increasing, shape (M,).
    means
        Expected means, shape (M, systems, metrics).
    """

    m_values: Ints
    means: Floats

    def at(self, m: int) -> Floats | None:
        """Expected means at m, shape (systems, metrics), if m is among the values."""
        i = int(np.searchsorted(self.m_values, m))
        return self.means[i] if i < len(self.m_values) and self.m_values[i] == m else None

    def signs(self, first: int, second: int, metric: int) -> Ints:
        """Order of a pair at each m: 1 where the first is ahead."""
        return sign(self.means[:, first, metric] - self.means[:, second, metric])

    def flips(self, first: int, second: int, metric: int) -> list[int]:
        """Each m where the strict order differs from the last strict order before it."""
        signs = self.signs(first, second, metric)
        strict = np.flatnonzero(signs)
        changed = np.flatnonzero(np.diff(signs[strict])) + 1
        return [int(m) for m in self.m_values[strict[changed]]]

    def right_from(self, first: int, second: int, metric: int, truth: int) -> int | None:
        """Smallest m from which the order stays ``truth``; None if it is not right at the end."""
        wrong = np.flatnonzero(self.signs(first, second, metric) != truth)
        if not len(wrong):
            return int(self.m_values[0])
        return None if wrong[-1] == len(self.m_values) - 1 else int(self.m_values[wrong[-1] + 1])


def orders(
    metrics: Sequence[Metric],
    sets: Sequence[RankSet],
    m_max: int,
    setting: Setting,
    progress: Progress | None = None,
) -> Orders:
    """Evaluate the order of all pairs at every m that can matter.

    Uncorrected and rank estimate: every m. Others: every m up to 400, then a log ladder, refined
    by bisection wherever the order of a pair changes between neighbours.
    """
    fitted = setting.correction.name not in ("uncorrected", "rank-estimate")
    if not fitted or m_max <= EVERY:
        m_values = np.arange(1, m_max + 1)
    else:
        ladder = np.geomspace(EVERY, m_max, BEYOND + 1).round().astype(np.int64)
        m_values = np.unique(np.r_[np.arange(1, EVERY + 1), ladder])
    result = Orders(m_values, expected_means(metrics, sets, m_values.tolist(), setting, progress))
    while True:
        middle = _between_changes(result, len(sets), len(metrics))
        if not len(middle):
            return result
        means = expected_means(metrics, sets, middle.tolist(), setting)
        m_values = np.r_[result.m_values, middle]
        order = np.argsort(m_values)
        result = Orders(m_values[order], np.concatenate([result.means, means])[order])


def _between_changes(found: Orders, systems: int, metrics: int) -> Ints:
    """Midpoints of the gaps over which some pair changes its order."""
    m = found.m_values
    gaps = np.flatnonzero(np.diff(m) > 1)
    changes = np.zeros(len(gaps), dtype=bool)
    for metric in range(metrics):
        for i, j in combinations(range(systems), 2):
            signs = found.signs(i, j, metric)
            changes |= signs[gaps] != signs[gaps + 1]
    return (m[gaps[changes]] + m[gaps[changes] + 1]) // 2


def flips(
    metric: Metric | str,
    sets: Sequence[RankSet],
    m_max: int | None = None,
    *,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> list[Flip]:
    """Every m at which the expected order of a pair becomes the opposite.

    Parameters
    ----------
    metric
        A metric or its text.
    sets
        At least two rank sets, one per system.
    m_max
        Largest m looked at; ``None`` is the largest n - 1, capped at 20,000.
    progress
        Called with the share of the work that is done.
    **options
        See :class:`~sampledash.Options`.

    Returns
    -------
    One :class:`Flip` per pair and m, pairs in the order of ``sets``, m increasing. Differences up
    to 1e-12 are ties; leaving a tie is no flip.
    """
    check_sets(sets)
    setting = Setting.of(options)
    found = orders([as_metric(metric)], sets, largest_m(sets, m_max, setting), setting, progress)
    return [
        Flip(sets[i].system, sets[j].system, m)
        for i, j in combinations(range(len(sets)), 2)
        for m in found.flips(i, j, 0)
    ]


def true_order(
    metric: Metric, sets: Sequence[RankSet], setting: Setting
) -> list[tuple[int, int, int]]:
    """Pairs (better, worse, truth): truth 1, or 0 where the exact metric ties them."""
    exact = [mean(metric, ranks, ties=setting.ties) for ranks in sets]
    pairs = []
    for i, j in combinations(range(len(sets)), 2):
        truth = int(sign(np.asarray(exact[i] - exact[j])))
        pairs.append((j, i, 1) if truth < 0 else (i, j, truth))
    return pairs


def as_table(columns: dict[str, list[object]]) -> pd.DataFrame:
    """Build a DataFrame with a plain index whose whole-number columns may hold <NA>."""
    table = pd.DataFrame(
        {name: pd.Series(values, dtype=object) for name, values in columns.items()}
    )
    for name in ("m", "right_from"):
        if name in table:
            table[name] = pd.array([pd.NA if v is None else v for v in table[name]], dtype="Int64")
    for name in ("exact", "sampled", "probability"):
        if name in table:
            table[name] = table[name].astype(float)
    return table


def right_from(
    metric: Metric | str,
    sets: Sequence[RankSet],
    m_max: int | None = None,
    *,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> pd.DataFrame:
    """Smallest m from which the expected order of each pair stays right.

    Same parameters as :func:`flips`.

    Returns
    -------
    DataFrame with columns ``better``, ``worse`` (by the exact metric) and ``m``; ``<NA>`` where
    the order is not right at the largest m, or where the exact metric ties the pair.
    """
    check_sets(sets)
    metric, setting = as_metric(metric), Setting.of(options)
    found = orders([metric], sets, largest_m(sets, m_max, setting), setting, progress)
    pairs = true_order(metric, sets, setting)
    return as_table(
        {
            "better": [sets[i].system for i, _, _ in pairs],
            "worse": [sets[j].system for _, j, _ in pairs],
            "m": [found.right_from(i, j, 0, 1) if truth else None for i, j, truth in pairs],
        }
    )
