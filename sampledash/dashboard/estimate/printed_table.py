"""The page "Correct" for a printed table: what sampled metrics tell about metrics on all items."""

from collections.abc import Mapping
from typing import Any, NamedTuple

import pandas as pd
import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from sampledash.analyses.estimate import printed, review
from sampledash.analyses.estimate.result import Result
from sampledash.dashboard import page, state
from sampledash.dashboard.estimate import shared
from sampledash.readers.printed_table import PrintedTable
from sampledash.report import estimates as words
from sampledash.report.escape import escaped, system_name
from sampledash.report.numbers import count, percent

_NO_TABLE = "Paste a table: a line of names, then one system a line."


TABS = ("Ranges", "For a review", "What would decide it")
OFFERED: state.Offered = {"table_tab": (TABS, TABS[0])}


class Shown(NamedTuple):
    """The result for the table that the reader chose, and a question for each pasted table.

    A question holds a table and the page's settings. If ``answer`` is outdated, ``questions`` holds
    only the question of ``answer``.
    """

    answer: Result[printed.TableQuestion]
    questions: tuple[printed.TableQuestion, ...]


def show(row: DeltaGenerator, defaults: Mapping[str, Any]) -> None:
    """Draw the page "Correct" for a printed table.

    ``row`` is the container of the choice of what to correct. ``defaults`` holds the default of
    this choice.
    """
    headline, place, found = shared.places()
    (left, right), options = st.columns([4, 1]), st.container()
    with options:
        shared.ask_candidates()
    example_ = printed.example_table()
    choices = {"printed": example_, "table_instances": 0, "table_tab": TABS[0]}
    bound = page.bound("printed", shared.HELP["printed"])
    text = left.text_area("The printed table", example_, 150, **bound) or ""
    label, about = "Instances, if known", shared.HELP["table_instances"]
    with right:
        instances = page.whole_number(label, "table_instances", 0, help=about)
    tables, wrong = list[PrintedTable](), page.Problem(_NO_TABLE, asking=True)
    try:
        tables = printed.read_tables(text) if text.strip() else []
    except ValueError as error:
        wrong = page.Problem.of(error)
    table = tables[0] if tables else None
    if len(tables) > 1:
        titles = [table.title for table in tables]
        with row:
            chosen = page.segments("Table", titles, "table", help=shared.HELP["table"])
        table = tables[titles.index(chosen)]
        choices["table"] = titles[0]
    page_defaults = {**defaults, **choices, **shared.DEFAULTS}
    lock = shared.mean_n() if text == example_ else None
    if lock is None and table is not None and table.n is not None:
        lock = table.n, f"{count(table.n)}, from the table"
    m = f"{count(table.m)}, from the table" if table and table.m else ""
    shared.bar(place, page_defaults, lock, m)

    def question(table: PrintedTable) -> printed.TableQuestion:
        settings = state.current()
        n = settings.n if text == example_ else table.n or settings.n
        metric, m = shared.metric_asked(), table.m or settings.m
        sampling = printed.sampling_of(n, m, shared.scheme(), corpus=shared.is_corpus())
        return printed.TableQuestion(table, metric, sampling, instances, shared.is_corpus())

    def check() -> printed.TableQuestion:
        if table is None:
            raise wrong
        return question(table)

    doing = "What this table leaves open"
    answer, dim = shared.answered(headline, found, "table", check, printed.compute_table, doing)
    if answer is None:
        return
    known, now = answer.question.table, state.current()
    assumed = None if known.n else now.n, None if known.m else now.m
    if text != example_ and any(assumed) and not dim:
        headline.caption(words.say.assumed(*assumed))
    questions = (answer.question,) if dim else tuple(map(question, tables))
    with st.container(key="given_dimmed" if dim else "given"):
        page.tabs(TABS, (_ranges, _review, _deciding), "table_tab", Shown(answer, questions))


def _ranges(shown: Shown) -> None:
    """Draw ranges and estimates of the exact metric, and of the differences between systems."""
    rows = (*shown.answer.rows, *shown.answer.pairs)
    estimates = [
        "" if row.value is None else f"{percent(row.value)} ({shared.range_text(row.interval)})"
        for row in rows
    ]
    columns = {
        "System": [" − ".join(map(system_name, filter(None, row[:2]))) for row in rows],
        "No assumption": [shared.range_text(row.free, row.other) for row in rows],
        "If ranks fall off": [shared.range_text(row.falling, row.other) for row in rows],
        "Estimate": estimates,
    }
    page.table(pd.DataFrame(columns), printed.bounds(shown.answer), "table-bounds")


def _review(shown: Shown) -> None:
    """Draw sentences for a review of the paper that prints the tables.

    For several tables, also draw how many pairs of systems each table decides. A table decides a
    pair if it proves which system has the better exact metric.
    """
    results = []
    with page.progress("What these tables leave open") as report:
        for done, question in enumerate(shown.questions):
            report(done / len(shown.questions))
            results.append(printed.compute_table(question, lambda share: None))
    page.code(review.sentence(results), "review_text")
    if len(results) > 1:
        _decided(review.standings(results), "table", "Table")


def _deciding(shown: Shown) -> None:
    """Draw, on request, what the table should print to prove which system is better.

    Tables with more decimals, cutoffs or negatives are listed, each with the number of pairs of
    systems that it would decide.
    """
    q = shown.answer.question
    if not shown.answer.pairs:
        raise ValueError("one system alone has no pair to decide")
    label, about = "What would decide it?", shared.HELP["decide"]
    if not page.asked(repr(q), "decide", label, about):
        return
    with page.progress("What larger tables would leave open") as report:
        table = review.options(q, report)
    st.markdown(f"**{escaped(review.best_option(table))}**")
    _decided(table, "printed", "If the table printed")


def _decided(table: pd.DataFrame, name: str, header: str) -> None:
    """Draw the number of pairs of systems that each printed table decides.

    A table decides a pair if it proves which system has the better exact metric. ``table`` has a
    row for each printed table, with its label in the column ``name``, which is shown under
    ``header``.
    """
    columns = {header: table[name].map(escaped)}
    kinds = {"decided": "Pairs decided", "decided_if_falling": "If ranks fall off"}
    for kind, label in kinds.items():
        columns[label] = table[kind].astype(str) + " of " + table["pairs"].astype(str)
    page.table(pd.DataFrame(columns), table, name)
