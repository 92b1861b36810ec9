"""What was found about one comparison: the values that texts, tables and scripts are made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sampledash import checks
from sampledash.comparison.curves import expected_means
from sampledash.comparison.means import mean, variances_of_mean
from sampledash.comparison.order import EVERY, check_sets, largest_m
from sampledash.comparison.verdict import COLUMNS
from sampledash.comparison.verdict import verdict as judge
from sampledash.metrics import Metric, as_metrics
from sampledash.protocol import Options, Protocol
from sampledash.ranksets import RankSet
from sampledash.types import Floats, Progress


@dataclass(frozen=True, eq=False)
class Findings:
    """One comparison and all that was computed about it. Make one with :func:`findings`.

    Attributes
    ----------
    source
        What the ranks are called: the name of an example or a file.
    python
        Python expression that reads them, with ``import sampledash as sd``.
    sets, metrics, m, options
        What was compared and how it was sampled.
    m_max
        Largest m looked at for ``right_from``.
    verdict
        Rows of :func:`sampledash.verdict` for ``options["correction"]``: metrics outermost, pairs
        in the order of ``sets``.
    exact, expected, std
        Means on all items, expected in a sampled run, and their standard deviation in one run;
        shape (systems, metrics), read-only. ``std`` is NaN where it is not available.
    m_values
        The values of m that a correction was evaluated at, or ``None`` for the default.
    """

    source: str
    python: str
    sets: tuple[RankSet, ...]
    metrics: tuple[Metric, ...]
    m: int
    options: Options
    m_max: int
    verdict: pd.DataFrame
    exact: Floats
    expected: Floats
    std: Floats
    m_values: tuple[int, ...] | None = None

    @property
    def protocol(self) -> Protocol:
        """The options with their defaults."""
        return Protocol.of(self.options)

    @property
    def systems(self) -> list[str]:
        """Names in the order of the data."""
        return [ranks.system for ranks in self.sets]

    @property
    def every_m(self) -> bool:
        """Whether the order was evaluated at every m up to ``m_max``."""
        name = self.protocol.correction.name
        if name == "uncorrected":
            return True
        if self.m_values is None:
            return name == "rank-estimate" or self.m_max <= EVERY
        return len({m for m in self.m_values if 1 <= m <= self.m_max}) == self.m_max

    def rows(self, metric: int) -> pd.DataFrame:
        """The verdict on one metric, by its place: one row per pair."""
        size = len(self.verdict) // len(self.metrics)
        return self.verdict.iloc[metric * size : (metric + 1) * size]

    def means_table(self) -> pd.DataFrame:
        """Exact mean, expected sampled mean and its scatter: one row per metric and system."""
        return pd.DataFrame(
            [
                (str(metric), name, self.exact[i, x], self.expected[i, x], self.std[i, x])
                for x, metric in enumerate(self.metrics)
                for i, name in enumerate(self.systems)
            ],
            columns=["metric", "system", "exact", "expected_sampled", "std_of_mean"],
        )


def findings(
    source: str,
    python: str,
    sets: Sequence[RankSet],
    metrics: Sequence[Metric | str],
    m: int,
    options: Options,
    m_max: int | None = None,
    verdict: pd.DataFrame | None = None,
    *,
    exact: Floats | None = None,
    expected: Floats | None = None,
    std: Floats | None = None,
    m_values: Sequence[int] | None = None,
    progress: Progress | None = None,
) -> Findings:
    """Gather the findings about one comparison; what is not given is computed.

    Parameters
    ----------
    source, python, sets, metrics, m, options, m_max, verdict, exact, expected, std, m_values
        As in :class:`Findings`. ``m_max = None`` is the largest m that is looked at by default.
    progress
        Called with the share of the verdict that is done.

    Raises
    ------
    ValueError
        If there are fewer than two systems, no metric, or something given does not have one entry
        per system and metric, or one row per metric and pair.
    """
    check_sets(sets)
    chosen, m = tuple(as_metrics(metrics)), checks.integer("m", m, low=1)
    protocol = Protocol.of(options)
    m_max = largest_m(sets, None, protocol) if m_max is None else m_max
    if verdict is None:
        rest = options.copy()
        rest.pop("correction", None)
        verdict = judge(
            chosen, sets, m, [protocol.correction],
            m_max=m_max, m_values=m_values, progress=progress, **rest,
        )  # fmt: skip
    rows = len(chosen) * len(sets) * (len(sets) - 1) // 2
    if len(verdict) != rows or not set(COLUMNS) <= set(verdict.columns):
        raise ValueError(
            f"verdict has {len(verdict)} rows: {len(sets)} systems and {len(chosen)} metrics "
            f"need {rows}, with the columns of sampledash.verdict"
        )
    if exact is None:
        exact = np.array(
            [
                [mean(x, ranks, ties=protocol.ties, weighting=protocol.weighting) for x in chosen]
                for ranks in sets
            ]
        )
    if expected is None:
        expected = expected_means(chosen, sets, [m], protocol)[0]
    if std is None:
        std = np.array([_std(chosen, ranks, m, protocol) for ranks in sets])
    shape = len(sets), len(chosen)
    ladder = None if m_values is None else tuple(int(value) for value in m_values)
    return Findings(
        source, python, tuple(sets), chosen, m, options, int(m_max),
        verdict.reset_index(drop=True), _checked("exact", exact, shape),
        _checked("expected", expected, shape), _checked("std", std, shape), ladder,
    )  # fmt: skip


def _std(metrics: Sequence[Metric], ranks: RankSet, m: int, protocol: Protocol) -> Floats:
    try:
        return np.sqrt(variances_of_mean(metrics, ranks, m, protocol))
    except ValueError:  # several tied relevant items in one instance: no scatter, the rest holds
        return np.full(len(metrics), np.nan)


def _checked(name: str, values: Floats, shape: tuple[int, int]) -> Floats:
    array = np.array(values, dtype=np.float64)
    if array.shape != shape:
        raise ValueError(
            f"{name} has shape {array.shape}: {shape[0]} systems and {shape[1]} metrics need "
            f"{shape}"
        )
    array.setflags(write=False)
    return array
