"""For your paper: a paragraph, what to cite, a script with the same numbers, a report."""

from __future__ import annotations

import pandas as pd
import streamlit as st

from sampledash.comparison.findings import Findings, findings
from sampledash.dashboard.consistency import pictures as figures
from sampledash.dashboard.consistency.ask import needs_fit
from sampledash.dashboard.consistency.choices import MOST_PAIRS
from sampledash.dashboard.consistency.closer import Part
from sampledash.dashboard.consistency.parts import drawn, flips_in_words, panel_figure, tile_rows
from sampledash.dashboard.consistency.result import Scene
from sampledash.dashboard.consistency.sure import significance_table
from sampledash.dashboard.consistency.tabs import flips_table, means_table, stds
from sampledash.report.bibtex import bibtex
from sampledash.report.html import html_report
from sampledash.report.numbers import count
from sampledash.report.paragraph import paragraph
from sampledash.report.script import python_script

MOST_TESTED = 50_000  # ranks whose instances are resampled for the report


def button(scene: Scene, pair: int) -> None:
    """Draw the button that opens all of it."""
    if st.button("For your paper", icon=":material/article:", key="paper", type="primary"):
        _dialog(scene, pair)


def found(scene: Scene) -> Findings:
    """The scene as texts, tables and scripts want it."""
    asked = scene.asked
    values = None
    if needs_fit(asked.recipe):
        values = [int(m) for m in scene.found.m_values]
    return findings(
        asked.source.name, asked.source.python, asked.sets, asked.metrics, asked.m, asked.options,
        scene.m_max, scene.table, exact=scene.exact, expected=scene.sampled(), std=stds(scene),
        m_values=values,
    )  # fmt: skip


def report(scene: Scene, pair: int) -> str:
    """The page as one HTML file: pictures and tables, on white."""
    every, systems = range(len(scene.asked.metrics)), drawn(scene, pair)
    pairs = list(range(scene.pairs))
    if len(pairs) > MOST_PAIRS:
        pairs = scene.worst_pairs(MOST_PAIRS)
    names = [figures.pair_name(*(scene.systems[end[p]] for end in scene.ends)) for p in pairs]
    few = "" if len(pairs) == scene.pairs else f", the {len(pairs)} worst of {count(scene.pairs)}"
    pictures = [
        (
            f"Verdict at m = {count(scene.asked.m)}{few}",
            figures.tiles(tile_rows(scene, pairs), names, m_max=scene.m_max),
        )
    ]
    pictures += [
        (
            f"{scene.asked.metrics[x]}. {flips_in_words(scene, x, pair)}",
            panel_figure(scene, x, pair, systems, dark=False),
        )
        for x in every
    ]
    facts = found(scene)
    tables: dict[str, pd.DataFrame] = {
        # There is one correction, and the settings name it.
        "Verdict": facts.verdict.drop(columns="correction"),
        "Means": means_table(scene),
        "Where the order changes": flips_table(scene, pair, every=False),
    }
    if sum(len(ranks) for ranks in scene.asked.sets) <= MOST_TESTED:
        try:
            tests = [significance_table(Part.of(scene, x, pair)) for x in every]
            table = pd.concat(tests, ignore_index=True)
            tables["Over instances"] = table[["metric", *table.columns.drop("metric")]]
        except ValueError:  # fractions as counts: the page says so where it is asked
            pass
    legend = figures.legend(
        [scene.systems[i] for i in systems], more=len(scene.systems) - len(systems)
    )
    return html_report(facts, pictures, tables, legend=legend)


@st.dialog("For your paper", width="large")
def _dialog(scene: Scene, pair: int) -> None:
    facts = found(scene)
    words, latex, cite, script = st.tabs(["Paragraph", "LaTeX", "BibTeX", "Python"])
    with words:
        st.code(paragraph(facts), language=None, wrap_lines=True)
        st.caption("For the evaluation section, from the numbers of this page. The copy button is "
                   "at the upper right of the text.")  # fmt: skip
    with latex:
        st.code(paragraph(facts, latex=True), language="latex", wrap_lines=True)
    with cite:
        st.code(bibtex(facts), language=None, wrap_lines=True)
    with script:
        st.code(python_script(facts), language="python", wrap_lines=True, height=360)
        st.caption("Prints the same numbers from Python.")
    with st.container(horizontal=True):
        for label, data, name, mime in (
            ("HTML report", lambda: report(scene, pair), "sampledash-report.html", "text/html"),
            ("BibTeX", lambda: bibtex(facts), "sampledash.bib", "application/x-bibtex"),
            ("Script", lambda: python_script(facts), "sampledash_verdict.py", "text/x-python"),
        ):
            st.download_button(
                label, data, file_name=name, mime=mime, on_click="ignore",
                icon=":material/download:",
            )  # fmt: skip
