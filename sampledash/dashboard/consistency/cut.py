"""Results for lists that end early: values and orders on all items, but no sampled metrics."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import chain, pairwise
from typing import Any

import numpy as np
import pandas as pd
import streamlit as st

from sampledash.analyses import memory
from sampledash.analyses.consistency import pictures
from sampledash.analyses.consistency.result import SEED
from sampledash.analyses.source import Source
from sampledash.comparison.means import mean_range
from sampledash.comparison.order import TIED
from sampledash.comparison.significance import significance
from sampledash.dashboard import page
from sampledash.dashboard.page import Problem
from sampledash.metrics import Metric
from sampledash.report.escape import escaped, system_name
from sampledash.report.html import exact_report
from sampledash.report.numbers import bare_points, count, listed, p_value, percent, points
from sampledash.report.script import exact_script
from sampledash.report.sentences import cutoff_holds_all


@dataclass(frozen=True)
class Known:
    """Exact means, or their ranges, and tests of the metrics that are exact for all systems."""

    means: pd.DataFrame  # metric, system, exact, low, high
    tests: pd.DataFrame  # metric, better, worse, difference, interval, p, p_holm, paired

    def of(self, metric: Metric) -> pd.DataFrame:
        """The means of one metric, the best system first."""
        rows = self.means[self.means["metric"] == str(metric)]
        return rows.sort_values("high", ascending=False, kind="stable")


def compute(source: Source, metrics: Sequence[Metric]) -> Known:
    """Return means of every metric and system, and tests of the metrics exact for all systems."""
    rows, tests = [], [pd.DataFrame()]
    for metric in metrics:
        for ranks in source.sets:
            low, high = mean_range(metric, ranks)
            rows.append((str(metric), ranks.system, low if low == high else np.nan, low, high))
        try:
            table = significance(metric, source.sets, np.random.default_rng(SEED))
        except ValueError:  # the metric needs unknown ranks, or counts are fractions
            continue
        tests.append(table.assign(metric=str(metric))[["metric", *table.columns]])
    columns = ["metric", "system", "exact", "low", "high"]
    return Known(pd.DataFrame(rows, columns=columns), pd.concat(tests, ignore_index=True))


# ------------------------------------------------------------------------------------------- words


def sentence(known: Known, metric: Metric, k: int) -> str:
    """Sentence with the values of a metric on all items, or with their ranges."""
    rows, order = known.of(metric), ""
    names = list(map(system_name, rows["system"]))
    if rows["exact"].isna().any():
        ranges = map(_range, rows["low"], rows["high"])
        phrases = [f"{name} has {each}" for name, each in zip(names, ranges, strict=True)]
        return f"{metric} needs ranks beyond {count(k)}: {listed(phrases)}."
    values = rows["exact"].tolist()
    for name, (one, other) in zip(names[1:], pairwise(values), strict=True):
        order += f" {'and' if one - other <= TIED else 'before'} {name} ({percent(other)})"
    return f"{metric} on all items: {names[0]} ({percent(values[0])}){order}."


def _range(low: float, high: float) -> str:
    return percent(low) if low == high else f"{percent(low)} to {percent(high)}"


def about(metrics: Sequence[Metric], known: Known, k: int) -> str:
    """Sentences on which metrics are exact and which need more ranks."""
    known_ones = known.means.groupby("metric", sort=False)["exact"].count()
    open_ones = [str(x) for x in metrics if known_ones[str(x)] < len(known.of(x))]
    most = f"take a cutoff, k = {count(k)} at most" if k else "rank more items"
    more = f" {listed(open_ones)} need more: {most}." if open_ones else ""
    exact = f"Metrics cut at {count(k)} or before are exact." if k else ""
    return (
        f"Some ranks are only known to lie beyond {count(k)}. {exact}{more} What sampled negatives "
        "would show depends on every rank: m, the scheme and the tabs about them are left out."
    )


# --------------------------------------------------------------------------------------- the page


def show(source: Source, metrics: Sequence[Metric], defaults: Mapping[str, Any]) -> None:
    """Draw the known values and tests; a Problem if no metric is chosen."""
    if not metrics:
        raise Problem("no metric is chosen: pick at least one above the picture")
    k = source.largest_cutoff or 0
    make = partial(compute, source, metrics)
    known: Known = memory.cached(("cut", source.key, tuple(metrics)), make, shared=source.bundled)
    tested = set(known.tests["metric"]) if len(known.tests) else set()
    metric = next((x for x in metrics if str(x) in tested), metrics[0])
    st.markdown(f"### {escaped(sentence(known, metric, k))}")
    st.caption(about(metrics, known, k))
    n = max(int(ranks.n.max()) for ranks in source.sets)
    for note in chain.from_iterable(cutoff_holds_all(each, n, n) for each in metrics):
        st.caption(note)
    if metric.k is not None and metric.k > k > 0:

        def take() -> None:
            st.session_state["k"] = k

        st.button(f"Take k = {count(k)}", key="take_k", on_click=take, type="primary")
    if str(metric) in tested:
        rows = known.tests[known.tests["metric"] == str(metric)].head(page.MOST_ROWS)
        fig = pictures.differences(rows, dark=page.is_dark())
        page.picture(fig, key="consistency_cut", alt=sentence(known, metric, k))
    printed: dict[str, Any] = {
        "Metric": known.means["metric"],
        "System": known.means["system"].map(system_name),
        "On all items": list(map(_range, known.means["low"], known.means["high"])),
    }
    page.table(pd.DataFrame(printed), known.means, "means")
    if len(known.tests):
        rows = known.tests.head(page.MOST_ROWS)
        printed = {
            "Metric": rows["metric"],
            "Pair": rows["better"].map(system_name) + " − " + rows["worse"].map(system_name),
            "Difference": rows["difference"].map(points),
            "95 % interval": [" to ".join(map(bare_points, x)) for x in rows["interval"]],
            "p, Holm": rows["p_holm"].map(p_value),
        }
        page.table(pd.DataFrame(printed), known.tests, "significance", rows=len(known.tests))
    with st.container(horizontal=True):
        page.copy_link(defaults)
        script = partial(exact_script, source.name, source.python, metrics)
        tables = {"Means": known.means, "Over instances": known.tests}
        whole = partial(exact_report, source.name, source.python, source.sets, metrics, tables, k)
        page.download("HTML report", whole, "sampledash-report.html", "text/html")
        page.download("Script", script, "sampledash_exact.py", "text/x-python")
