"""The items of the Paper page, one unfolded at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from sampledash.correction import parse_correction
from sampledash.dashboard import page, state
from sampledash.dashboard.consistency.pictures import legend
from sampledash.dashboard.correct.result import MOVIELENS
from sampledash.dashboard.correct.tabs import movielens_curves
from sampledash.dashboard.paper import pictures, result, words
from sampledash.dashboard.paper.pictures import Panel
from sampledash.metrics import parse_metric
from sampledash.papers import Finding, Match, findings_as_table, matches_as_table
from sampledash.papers.printed import METRICS_34

FIGURES = tuple(f"Figure {i}" for i in range(1, 7))
ITEMS = (*(f"Table {t}" for t in result.TABLES), *FIGURES, "The text", "Steck 2010")
DEFAULTS: dict[str, Any] = {"item": ITEMS[2], "cell_metric": METRICS_34[0], "times": 9}


def show() -> None:
    """Draw the page."""
    state.stamp({"item": (ITEMS, DEFAULTS["item"])})
    page.link_notes()
    cells = [match for table in result.tables().values() for match in table]
    said = result.statements()
    st.markdown(
        f"### {words.matched(sum(m.matched for m in cells), len(cells))} "
        f"{words.holding(sum(f.holds for f in said), len(said))}"
    )
    st.caption(words.RULE)
    item = st.pills(
        "Shown",
        list(ITEMS),
        default=DEFAULTS["item"],
        required=True,
        key="item",
        bind="query-params",
        wrap=True,
    )
    _item(item or DEFAULTS["item"])
    page.copy_link(DEFAULTS)


def _item(item: str) -> None:
    if item.startswith("Table"):
        _table(int(item[-1]))
    elif item in FIGURES:
        _figure(item)
        _findings([f for f in result.statements() if f.where == item], item)
    elif item == "The text":
        _findings([f for f in result.statements() if not f.where.startswith("Fig")], item)
    else:
        st.markdown(words.STECK)
        _missing()
        _findings(result.steck(), item)
        st.caption(words.STECK_LEFT_OUT)
    target, query = words.OPENS[item]
    st.page_link(
        f"sampledash/dashboard/pages/{target}.py",
        label=f"Open in {target.capitalize()}",
        icon=":material/open_in_new:",
        query_params={"v": "1", **query},
    )


def _figure(item: str) -> None:
    """Ours of a figure; its systems are told apart by one legend."""
    dark = page.is_dark()
    if item in ("Figure 2", "Figure 6"):
        sets = result.load(pictures.TOY if item == "Figure 2" else MOVIELENS)
        st.html(legend([x.system for x in sets], dark=dark))
    if item in pictures.FIGURES:
        _panels(pictures.FIGURES[item](dark))
        return
    for place, name in zip(st.columns(2), ("uncorrected", "BV 0.1"), strict=True):
        with place:
            movielens_curves(parse_metric("Recall@10"), parse_correction(name), pictures.M)


def _panels(panels: Sequence[Panel]) -> None:
    """Panels, two in a row; one takes all of it."""
    if len(panels) == 1:
        page.picture(panels[0].fig, key=panels[0].key, alt=panels[0].alt)
        return
    for start in range(0, len(panels), 2):
        for place, panel in zip(st.columns(2), panels[start : start + 2], strict=False):
            with place:
                page.picture(panel.fig, key=panel.key, alt=panel.alt)


def _missing() -> None:
    """The control that violates the theorem's assumption, and what becomes of the measures."""
    st.markdown(words.MISSING)
    times = st.slider(
        "The best-ranked relevant item is observed so many times as often as the worst",
        1,
        result.MOST_TIMES,
        DEFAULTS["times"],
        key="times",
        bind="query-params",
        format="%d times",
        help="1: ratings are missing at random, as the theorem assumes.",
    )
    found = result.missing()
    st.markdown(words.missing(times, found[times]))
    _panels(pictures.missing(times, found, page.is_dark()))


def _table(number: int) -> None:
    """Printed and ours, cell by cell; of Tables 3 and 4 one metric at a time."""
    found = result.tables()[number]
    st.markdown(f"**{words.matched(sum(m.matched for m in found), len(found), short=True)}**")
    here = found
    if number >= 3:
        metric = page.segments("Metric", METRICS_34, "cell_metric")
        here = [m for m in found if m.cell.metric == metric]
    st.table(_cells(here, across="metric" if number < 3 else "row"), hide_index=True)
    st.caption(words.CELL[number])
    left: dict[str, list[str]] = {}
    for m in found:
        if not m.matched:
            left.setdefault(m.reason, []).append(words.unmatched(m.cell.name, m.cell.text, m.ours))
    for reason, names in left.items():
        st.markdown(f"- {words.why(reason, names)}")
    page.take(matches_as_table(found), f"table-{number}")


def _cells(found: Sequence[Match], *, across: str) -> pd.DataFrame:
    """One line per system and one column per metric, or a line per column of the paper."""
    down = "row" if across == "metric" else "column"
    rows: dict[str, dict[str, str]] = {}
    for m in found:
        head = getattr(m.cell, across)
        head = head if across == "metric" else ", ".join(head)  # of a pair
        rows.setdefault(getattr(m.cell, down), {})[head] = words.cell(
            m.cell.text, m.ours, m.our_spread, m.cell.decimals, matched=m.matched
        )
    frame = pd.DataFrame.from_dict(rows, orient="index")
    return frame.rename_axis("" if across == "metric" else "Column").reset_index()


def _findings(found: Sequence[Finding], name: str) -> None:
    """Statements, ours, and whether they hold."""
    lines = {
        "Where": [f.where for f in found],
        "Statement": [f"“{f.quote}”" for f in found],
        "Ours": [words.ours(f.ours, f.what) for f in found],
        "": [words.verdict(f.holds, f.note) for f in found],
    }
    st.table(pd.DataFrame(lines), hide_index=True)
    page.take(findings_as_table(found), name.lower().replace(" ", "-"))
