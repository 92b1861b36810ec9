"""Tables on a page: a few rows to read, all of them to take away."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import pandas as pd
import streamlit as st

from sampledash.report import tables
from sampledash.report.numbers import count

MOST_ROWS = 9  # of a table on a page: three systems in three metrics
# What a table is taken away as: label, renderer, end of the file's name, type.
FORMATS: tuple[tuple[str, Callable[[pd.DataFrame], str], str, str], ...] = (
    ("CSV", tables.as_csv, "csv", "text/csv"),
    ("Markdown", tables.as_markdown, "md", "text/markdown"),
    ("LaTeX", tables.as_latex, "tex", "text/x-tex"),
)
Made = pd.DataFrame | Callable[[], pd.DataFrame]


def take(table: Made, name: str) -> None:
    """Draw the one control with which any table is taken away: CSV, Markdown or LaTeX.

    Parameters
    ----------
    table
        All rows, numbers unrounded, or a function that makes it when it is wanted.
    name
        Ends the file's name.
    """

    def render(how: Callable[[pd.DataFrame], str]) -> str:
        return how(table() if callable(table) else table)

    with st.container(horizontal=True, gap="small", key=f"take_{name}"):
        for label, how, end, mime in FORMATS:
            st.download_button(
                label, partial(render, how), file_name=f"sampledash-{name}.{end}", mime=mime,
                on_click="ignore", icon=":material/download:", type="tertiary",
                key=f"take_{name}_{end}", help=f"The whole table as {label}.",
            )  # fmt: skip


def show(printed: pd.DataFrame, table: Made, name: str, *, rows: int | None = None) -> None:
    """Draw the head of a table and the control that takes all of it away.

    Parameters
    ----------
    printed
        Cells as they are to be read, as Markdown; the first rows are shown.
    table, name
        As in :func:`take`.
    rows
        How many rows there are in all, if ``printed`` does not hold them.
    """
    cells = printed.head(MOST_ROWS).map(lambda cell: f"\\{cell}" if cell[:1] == ">" else cell)
    st.table(cells, hide_index=True)  # a leading > would be a quotation
    total, here = len(printed) if rows is None else rows, min(len(printed), MOST_ROWS)
    if total > here:
        st.caption(f"{here} of {count(total)} rows; all of them are in the downloads.")
    take(table, name)
