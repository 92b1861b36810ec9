"""Write a report as one self-contained HTML file for screen, phone and paper.

The text of the reports is in the template ``html.jinja``, their style in ``html.css``.
"""

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

import sampledash
from sampledash.comparison.verdict import Pairs
from sampledash.metrics import Metric
from sampledash.rank_sets import RankSet
from sampledash.report.escape import html_text, one_line
from sampledash.report.paragraph import bibtex, paragraph
from sampledash.report.recheck import embedded
from sampledash.report.script import exact_script, python_script
from sampledash.report.sentences import beware
from sampledash.report.tables import printed
from sampledash.report.templates import on_one_line, template
from sampledash.schemes import SCHEMES

MOST_ROWS = 200  # tables end after this many rows, because long tables are hard to read on paper


@cache
def _reports() -> Any:
    """Return the loaded template, which has a macro for each report."""
    functions = html_text, on_one_line, printed, beware, paragraph, bibtex, python_script, embedded
    return template(
        Path(__file__).with_suffix(".jinja"),
        **{function.__name__: function for function in functions},
        style=Path(__file__).with_suffix(".css").read_text(encoding="utf-8"),
        version=sampledash.__version__,
        MOST_ROWS=MOST_ROWS,
        STATES=("right", "wrong", "undecided", "tied"),
    ).module


def html_report(
    findings: Pairs,
    figures: Sequence[tuple[str, Any]] = (),
    tables: Mapping[str, pd.DataFrame] | None = None,
    *,
    legend: str = "",
    pair: int = 0,
) -> str:
    """Return the HTML of a report that needs no network; the same input gives the same report.

    Figures are Plotly figures for a light background, each with its title; the script of Plotly is
    included once. If ``tables`` is None, the report shows the mean metrics and the verdicts on
    pairs of systems; long tables end after 200 rows. The ``legend`` is HTML that explains the lines
    of the pictures; ``pair`` is the index of the pair of systems that the pictures mark. Names are
    written as plain text, and a content security policy forbids all requests to the network. The
    file holds the ranks and the settings.
    """
    if tables is None:
        # A report is about a single correction, which its settings name: leave out the column.
        verdict = findings.verdict.drop(columns="correction")
        tables = {"Means": findings.means_table(), "Verdict": verdict}
    title = f"Sampled metrics of {one_line(findings.source) or 'ranks'}"
    fit_words = SCHEMES[findings.protocol.fit_scheme].words
    return str(_reports().verdict_report(title, findings, figures, tables, legend, fit_words, pair))


def document(title: str, body: str, style: str = "") -> str:
    """Return an HTML file in the style of the reports; ``style`` has further CSS rules.

    A policy in the file forbids every request. ``title`` is text, ``body`` is HTML.
    """
    return str(_reports().document(title, more_style=style, caller=lambda: body))


def exact_report(
    source: str,
    python: str,
    sets: Sequence[RankSet],
    metrics: Sequence[Metric],
    tables: Mapping[str, pd.DataFrame],
    k: int,
) -> str:
    """Return an HTML report on truncated ranked lists: ranks beyond ``k`` are unknown."""
    title = f"Exact metrics of {one_line(source) or 'ranks'}"
    filled = {name: table for name, table in tables.items() if len(table)}
    script = exact_script(source, python, metrics)
    inputs = embedded(sets, metrics, source=source, python=python)
    return str(_reports().exact_report(title, sets, filled, k, script, inputs))
