"""Results if ranks beyond a cutoff are unknown: exact metrics, or ranges that contain them."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from sampledash.analyses.consistency.result import SEED
from sampledash.analyses.consistency.words import say
from sampledash.analyses.source import Source
from sampledash.comparison.means import mean_range
from sampledash.comparison.significance import significance
from sampledash.metrics import Metric
from sampledash.report.escape import system_name


@dataclass(frozen=True)
class Known:
    """Mean metrics if some ranks are unknown: exact means or ranges, and significance tests.

    Only metrics whose means are exact are tested.
    """

    means: pd.DataFrame  # columns: metric, system, exact (NaN if unknown), low, high
    # Significance tests of pairs of systems. Columns: metric, better, worse, difference, interval,
    # p, p_holm (p-value with Holm's correction), paired.
    tests: pd.DataFrame

    def of(self, metric: Metric) -> pd.DataFrame:
        """Return the rows of ``means`` for one metric, in decreasing order of column ``high``."""
        rows = self.means[self.means["metric"] == str(metric)]
        return rows.sort_values("high", ascending=False, kind="stable")


def compute(source: Source, metrics: Sequence[Metric]) -> Known:
    """Return exact means or ranges of metrics, and significance tests of pairs of systems."""
    rows, tests = [], [pd.DataFrame()]
    for metric in metrics:
        for ranks in source.sets:
            low, high = mean_range(metric, ranks)
            rows.append((str(metric), ranks.system, low if low == high else np.nan, low, high))
        try:
            table = significance(metric, source.sets, np.random.default_rng(SEED))
        except ValueError:  # some ranks are unknown, or ``counts`` are not whole numbers
            continue
        tests.append(table.assign(metric=str(metric))[["metric", *table.columns]])
    columns = ["metric", "system", "exact", "low", "high"]
    return Known(pd.DataFrame(rows, columns=columns), pd.concat(tests, ignore_index=True))


def sentence(known: Known, metric: Metric, k: int) -> str:
    """Return a sentence with each system's exact metric, or with ranges if a metric is unknown."""
    rows = known.of(metric)
    systems = list(zip(map(system_name, rows["system"]), rows["low"], rows["high"], strict=True))
    if rows["exact"].notna().all():
        return say.exact_values(metric, systems)
    return say.ranges(metric, k, [f"{name} has {say.range(*ends)}" for name, *ends in systems])


def about(metrics: Sequence[Metric], known: Known, k: int) -> str:
    """Return sentences that ranks beyond k are unknown, and that some metrics are not exact."""
    exact = known.means.groupby("metric", sort=False)["exact"].count()
    open_metrics = [str(x) for x in metrics if exact[str(x)] < len(known.of(x))]
    return say.lists_end_early(k, open_metrics)


def means_table(known: Known) -> pd.DataFrame:
    """Return the systems' mean metrics as text: an exact mean, or the range that contains it."""
    means = known.means
    columns = {
        "Metric": means["metric"],
        "System": means["system"].map(system_name),
        "On all items": list(map(say.range, means["low"], means["high"])),
    }
    return pd.DataFrame(columns)
