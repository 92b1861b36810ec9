"""The Consistency page for truncated ranked lists: exact metrics only, and no sampled metrics."""

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import chain
from typing import Any

import streamlit as st

from sampledash.analyses import memory
from sampledash.analyses.consistency import cut, pictures, tables
from sampledash.analyses.consistency.report import exact
from sampledash.analyses.source import Source
from sampledash.dashboard import page
from sampledash.metrics import Metric
from sampledash.report.escape import escaped
from sampledash.report.script import exact_script
from sampledash.report.sentences import cutoff_holds_all


def show(source: Source, metrics: Sequence[Metric], defaults: Mapping[str, Any]) -> None:
    """Draw exact metrics, and significance tests of the differences between systems.

    Where a metric depends on unknown ranks, draw the range that contains it.
    """
    k = source.largest_cutoff or 0
    make = partial(cut.compute, source, metrics)
    key = "cut", source.key, tuple(metrics)
    known: cut.Known = memory.cached(key, make, shared=source.bundled)
    tested = set(known.tests["metric"]) if len(known.tests) else set()
    metric = next((x for x in metrics if str(x) in tested), metrics[0])
    st.markdown(f"### {escaped(cut.sentence(known, metric, k))}")
    st.caption(cut.about(metrics, known, k))
    n = max(int(ranks.n.max()) for ranks in source.sets)
    relevant = max(ranks.max_relevant for ranks in source.sets)
    for note in chain.from_iterable(cutoff_holds_all(x, n, n, relevant) for x in metrics):
        st.caption(note)
    if str(metric) in tested:
        rows = known.tests[known.tests["metric"] == str(metric)].head(page.MOST_ROWS)
        fig = pictures.differences(rows, dark=page.is_dark())
        page.picture(fig, key="consistency_cut", alt=cut.sentence(known, metric, k))
    page.table(cut.means_table(known), known.means, "means")
    if len(known.tests):
        head = tables.significance(known.tests.head(page.MOST_ROWS))
        page.table(head, known.tests, "significance", rows=len(known.tests))
    with st.container(horizontal=True):
        page.copy_link(defaults)
        script = partial(exact_script, source.name, source.python, metrics)
        whole = partial(exact, source, metrics, known)
        page.download("HTML report", whole, "sampledash-report.html", "text/html")
        page.download("Script", script, "sampledash_exact.py", "text/x-python")
