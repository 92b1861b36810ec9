"""What was found about one comparison: the values that texts, tables and scripts are made of."""

from __future__ import annotations

from dataclasses import dataclass

import pandas as pd

from sampledash.comparison.order import EVERY
from sampledash.metrics import Metric
from sampledash.protocol import Options, Protocol
from sampledash.rank_sets import RankSet
from sampledash.types import Floats


@dataclass(frozen=True, eq=False)
class Findings:
    """One comparison, how it was sampled and all that was computed about it."""

    source: str  # what the ranks are called: the name of an example or a file
    python: str  # expression that reads them, with ``import sampledash as sd``
    sets: tuple[RankSet, ...]
    metrics: tuple[Metric, ...]
    m: int
    options: Options
    m_max: int  # largest m looked at for ``right_from``
    #: Rows of :func:`sampledash.verdict`: metrics outermost, pairs in the order of ``sets``.
    verdict: pd.DataFrame
    exact: Floats  # means on all items: (systems, metrics), read-only, as the next two
    expected: Floats  # in a sampled run
    std: Floats  # of the mean of one run; NaN where it is not available
    m_values: tuple[int, ...] | None = None  # that a correction was evaluated at; None: by default

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
