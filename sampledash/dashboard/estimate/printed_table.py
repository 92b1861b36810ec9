"""The Correct page for a printed table: what its numbers allow on all items."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sampledash.analyses.estimate import printed
from sampledash.dashboard import page, sliders, state
from sampledash.dashboard.estimate.answer import (
    HELP,
    SHARED,
    answered,
    ask_candidates,
    is_corpus,
    linked,
    mean_n,
    metric_asked,
    places,
    range_text,
    scheme,
)
from sampledash.dashboard.page import Problem
from sampledash.report.escape import system_name
from sampledash.report.numbers import count
from sampledash.sampling import Sampling

_NO_TABLE = "Paste a table: a line of names, then one system a line."


def show(row: DeltaGenerator, defaults: Mapping[str, Any]) -> None:
    """Draw the part of the page for a printed table."""
    (headline, place, found), example_ = places(), printed.example_table()
    choices = {"printed": example_, "table_instances": 0}
    page_defaults = {**defaults, **choices, **SHARED}
    left, right = st.columns([4, 1])
    text = left.text_area("The printed table", example_, 150, **linked("printed")) or ""
    label, about = "Instances, if known", HELP["table_instances"]
    with right:
        instances = page.whole_number(label, "table_instances", 0, help=about)
    ask_candidates()
    table, wrong = None, Problem(_NO_TABLE, asking=True)
    try:
        table = printed.read_table(text) if text.strip() else None
    except ValueError as error:
        wrong = Problem.of(error)
    lock = mean_n() if text == example_ else None
    if lock is None and table is not None and table.n is not None:
        lock = table.n, f"{count(table.n)}, from the table"
    m = f"{count(table.m)}, from the table" if table and table.m else ""
    with place:
        numbers = ["m", "n", *["k"] * sliders.uses_cutoff("metric")]
        row, _ = sliders.bar(*numbers, n=lock, m=m, late=numbers, sampled=not is_corpus())
    with row:
        page.copy_link(page_defaults)
    page.note(page_defaults)

    def check() -> printed.TableQuestion:
        metric, settings = metric_asked(), state.current()
        if table is None:
            raise wrong
        sampling = Sampling(settings.n, table.m or settings.m, scheme())
        return printed.TableQuestion(table, metric, sampling, instances, is_corpus())

    doing = "What this table leaves open"
    answer, dim = answered(headline, found, "table", check, printed.compute_table, doing)
    if answer is None:
        return
    rows = (*answer.rows, *answer.pairs)
    columns = {
        "System": [" − ".join(map(system_name, filter(None, row[:2]))) for row in rows],
        "No assumption": [range_text(row.free, row.other) for row in rows],
        "If ranks fall off": [range_text(row.falling, row.other) for row in rows],
    }
    with st.container(key="given_dimmed" if dim else "given"):
        page.table(pd.DataFrame(columns), printed.bounds(answer), "table-bounds")
