"""The items of the Paper page, one unfolded at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from sampledash.dashboard import page
from sampledash.dashboard.paper import checked, missing, words
from sampledash.dashboard.paper import redrawn as pictures
from sampledash.papers import Finding, Match, findings_as_table, matches_as_table
from sampledash.papers.printed import METRICS_34

FIGURES = tuple(f"Figure {i}" for i in range(1, 7))
ITEMS = (*(f"Table {t}" for t in checked.TABLES), *FIGURES, "The text", "Steck 2010")
DEFAULTS: dict[str, Any] = {"item": ITEMS[2], "cell_metric": METRICS_34[0], **missing.DEFAULTS}
PAGES = "sampledash/dashboard/pages/"
# Item -> page, label, and the settings that the page is opened with.
_TOY = {"source": "Three toy recommenders", "scheme": "with replacement", "m": "99"}
_REAL = {"source": "MovieLens 1M with ties", "m": "100"}
OPENS: dict[str, tuple[str, str, dict[str, Any]]] = {
    "Table 1": ("consistency", "Open in Consistency", {**_TOY, "answers": "Numbers"}),
    "Table 2": ("consistency", "Open in Consistency", {**_TOY, "answers": "Repeat it"}),
    "Table 3": ("consistency", "Open in Consistency", {**_REAL, "answers": "Numbers"}),
    "Table 4": ("consistency", "Open in Consistency", {**_REAL, "answers": "How sure"}),
    "Figure 1": ("explore", "Open in Explore", {"n": "10000"}),
    "Figure 2": ("consistency", "Open in Consistency", _TOY | {"m": "50"}),
    "Figure 3": ("explore", "Open in Explore", {"n": "10000", "tab": "Family"}),
    "Figure 4": ("correct", "Open in Correct", {"n": "10000", "m": "100"}),
    "Figure 5": (
        "consistency", "Open in Consistency",
        {**_REAL, "answers": "Numbers", "numbers_view": "Distribution"},
    ),
    "Figure 6": (
        "correct", "Open in Correct", {"sheet": "What it costs", "costs": "On real ranks"},
    ),
    "The text": ("consistency", "Open in Consistency", _REAL),
    # TOPK(2 %) of his Netflix test: 1,000 others of 17,770 items.
    "Steck 2010": (
        "explore", "Open in Explore",
        {"n": "17770", "m": "1000", "k": "356", "metrics": ["TOPK", "ATOP"], "rank": "400"},
    ),
}  # fmt: skip


def headline() -> None:
    """How much of it is matched."""
    cells = [match for table in checked.tables().values() for match in table]
    said = checked.statements()
    st.markdown(
        f"### {words.matched(sum(m.matched for m in cells), len(cells))} "
        f"{words.holding(sum(f.holds for f in said), len(said))}"
    )
    st.caption(words.RULE)


def show(item: str) -> None:
    """Draw one item."""
    if item.startswith("Table"):
        table(int(item[-1]))
    elif item.startswith("Figure"):
        pictures.DRAW[item]()
        findings([f for f in checked.statements() if f.where == item], item)
    elif item == "The text":
        findings([f for f in checked.statements() if not f.where.startswith("Fig")], item)
    else:
        st.markdown(words.STECK)
        missing.show()
        findings(checked.steck(), item)
        st.caption(words.STECK_LEFT_OUT)
    if item in OPENS:
        page, label, settings = OPENS[item]
        st.page_link(
            f"{PAGES}{page}.py", label=label, icon=":material/open_in_new:",
            query_params={"v": "1", **settings},
        )  # fmt: skip


def table(number: int) -> None:
    """Printed and ours, cell by cell; of Tables 3 and 4 one metric at a time."""
    found = checked.tables()[number]
    st.markdown(f"**{words.matched(sum(m.matched for m in found), len(found), short=True)}**")
    here = found
    if number >= 3:
        metric = st.segmented_control(
            "Metric", list(METRICS_34), default=METRICS_34[0], required=True, key="cell_metric",
            bind="query-params",
        )  # fmt: skip
        here = [m for m in found if m.cell.metric == metric]
    st.table(cells(here, across="metric" if number < 3 else "row"), hide_index=True)
    st.caption(words.CELL[number])
    left: dict[str, list[str]] = {}
    for m in found:
        if not m.matched:
            left.setdefault(m.reason, []).append(words.unmatched(m.cell.name, m.cell.text, m.ours))
    for reason, names in left.items():
        st.markdown(f"- {words.why(reason, names)}")
    page.take(matches_as_table(found), f"table-{number}")


def cells(found: Sequence[Match], *, across: str) -> pd.DataFrame:
    """One line per system and one column per metric, or a line per column of the paper."""
    down = "row" if across == "metric" else "column"
    rows: dict[str, dict[str, str]] = {}
    for m in found:
        line = rows.setdefault(getattr(m.cell, down), {})
        head = getattr(m.cell, across)
        head = head if across == "metric" or len(head) == 1 else f"{head[0]}, {head[1]}"
        line[head] = words.cell(
            m.cell.text, m.ours, m.our_spread, m.cell.decimals, matched=m.matched
        )
    frame = pd.DataFrame.from_dict(rows, orient="index")
    return frame.rename_axis("" if across == "metric" else "Column").reset_index()


def findings(found: Sequence[Finding], name: str) -> None:
    """Statements, ours, and whether they hold."""
    st.table(
        pd.DataFrame(
            {
                "Where": [f.where for f in found],
                "Statement": [words.quoted(f.quote) for f in found],
                "Ours": [words.ours(f.ours, f.what) for f in found],
                "": [words.verdict(f.holds, f.note) for f in found],
            }
        ),
        hide_index=True,
    )
    page.take(findings_as_table(found), name.lower().replace(" ", "-"))
