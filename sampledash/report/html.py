"""The report: one HTML file that needs nothing else, on screen, on a phone and on paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import pandas as pd

import sampledash
from sampledash.comparison.findings import Findings
from sampledash.report.bibtex import bibtex
from sampledash.report.escape import html_text, one_line
from sampledash.report.numbers import count
from sampledash.report.paragraph import paragraph
from sampledash.report.script import python_script
from sampledash.report.tables import printed

MOST_ROWS = 200  # of a table: a pair of a hundred systems is not read on paper
_STATES = ("right", "wrong", "undecided", "tied")
_TIES = {
    "expected": "in random order",
    "optimistic": "relevant item first",
    "pessimistic": "relevant item last",
}
_WEIGHTS = {"instances": "the same for all", "relevant-items": "its number of relevant items"}

# Nothing may be fetched, whatever a browser or a name in the data would like to.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:"
)


class Picture(Protocol):
    """A Plotly figure, as far as the report needs one."""

    def to_html(self, *args: object, **options: object) -> str:
        """Write the figure as HTML."""


def html_report(
    findings: Findings,
    figures: Sequence[tuple[str, Picture]] = (),
    tables: Mapping[str, pd.DataFrame] | None = None,
    *,
    legend: str = "",
) -> str:
    """Write a report that opens anywhere, without a network.

    Parameters
    ----------
    findings
        What was computed.
    figures
        Titles and Plotly figures for a light background. Plotly's own script is put in once.
    tables
        Titles and tables; ``None`` shows the means and the verdict. Of a long table the first 200
        rows are shown, and it says so.
    legend
        HTML that tells the lines of the pictures apart, put above them as it is.

    Returns
    -------
    HTML, the same for the same input. Names are plain text wherever they stand; a policy in the
    file forbids every request.
    """
    if tables is None:
        # There is one correction, and the settings name it.
        verdict = findings.verdict.drop(columns="correction")
        tables = {"Means": findings.means_table(), "Verdict": verdict}
    title = f"Sampled metrics of {one_line(findings.source) or 'ranks'}"
    parts = [
        f"<h1>{html_text(title)}</h1>",
        f"<p>{html_text(_headline(findings))}</p>",
        f'<p class="note">Made with sampledash {html_text(sampledash.__version__)}.</p>',
        "<h2>For the paper</h2>",
        f"<p>{html_text(paragraph(findings))}</p>",
        *_figures(figures, legend),
        *([f"<h2>{'Tables' if len(tables) > 1 else 'Table'}</h2>"] if tables else []),
        *(f"<h3>{html_text(name)}</h3>\n{_table(table)}" for name, table in tables.items()),
        "<h2>Settings</h2>",
        _table(_settings(findings)),
        "<h3>Ranks</h3>",
        _table(_systems(findings)),
        '<p class="note">Exact and expected means are computed, not simulated. The chance that one '
        "run shows the true order comes from the exact law of hit counts, or below 30 instances of "
        "the mean, and otherwise from the normal law with the exact mean and variance. A pair is "
        "undecided when that chance lies between 5 % and 95 % or the expected values are tied.</p>",
        "<h2>LaTeX</h2>",
        _block(paragraph(findings, latex=True)),
        "<h2>BibTeX</h2>",
        _block(bibtex(findings)),
        "<h2>Python</h2>",
        "<p>This script prints the same numbers.</p>",
        _block(python_script(findings)),
    ]
    body = "\n".join(parts)
    style = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n<title>{html_text(title)}</title>\n'
        f"<style>\n{style}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _headline(findings: Findings) -> str:
    """How many comparisons are right, wrong, undecided and tied."""
    states = findings.verdict["state"]
    found = {state: int((states == state).sum()) for state in _STATES}
    told = [f"{count(number)} {state}" for state, number in found.items() if number]
    kind = "pairs" if len(findings.metrics) == 1 else "comparisons of a pair by a metric"
    if len(states) == 1:
        return f"At m = {count(findings.m)} the order of the two systems is {states.iloc[0]}."
    return f"At m = {count(findings.m)}, of {count(len(states))} {kind}: {', '.join(told)}."


def _figures(figures: Sequence[tuple[str, Picture]], legend: str) -> list[str]:
    if not figures:
        return []
    parts = ["<h2>Pictures</h2>", *([f'<div class="picture">{legend}</div>'] if legend else [])]
    for place, (title, figure) in enumerate(figures):
        how = {"full_html": False, "include_mathjax": False, "default_width": "100%"}
        bare = {"displayModeBar": False, "responsive": True}
        name, first = f"picture-{place + 1}", place == 0
        drawn = figure.to_html(include_plotlyjs=first, div_id=name, config=bare, **how)
        parts.append(
            f'<figure aria-label="{html_text(title)}"><figcaption>{html_text(title)}</figcaption>\n'
            f'<div class="picture">{drawn}</div></figure>'
        )
    return parts


def _table(table: pd.DataFrame) -> str:
    columns = printed(table.head(MOST_ROWS))
    kinds = ["number" if column.number else "name" for column in columns]
    head = "".join(
        f'<th scope="col" class="{kind}">{html_text(column.header)}</th>'
        for column, kind in zip(columns, kinds, strict=True)
    )
    lines = []
    for row in zip(*(column.cells for column in columns), strict=True):
        cells = []
        for cell, column, kind in zip(row, columns, kinds, strict=True):
            known = f" {cell}" if column.name == "state" and cell in _STATES else ""
            cells.append(f'<td class="{kind}{known}">{html_text(cell) or "–"}</td>')
        lines.append(f"<tr>{''.join(cells)}</tr>")
    body = "\n".join(lines)
    more = ""
    if len(table) > MOST_ROWS:
        more = f'\n<p class="note">The first {MOST_ROWS} of {count(len(table))} rows.</p>'
    return (
        f'<div class="scroll"><table>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n'
        f"</table></div>{more}"
    )


def _settings(findings: Findings) -> pd.DataFrame:
    protocol = findings.protocol
    scheme = protocol.scheme.replace("-", " ")
    if protocol.scheme == "popularity":
        scheme = f"by popularity, with replacement, odds {protocol.odds:g}"
    rows = {
        "Metrics": ", ".join(map(str, findings.metrics)),
        "Negatives m": count(findings.m),
        "Drawn": scheme,
        "Correction": str(protocol.correction),
    }
    if protocol.correction.by_rank:
        rows["Correction fitted to"] = (
            f"the law of sampling {protocol.fit_scheme.replace('-', ' ')}"
        )
    if any(ranks.has_ties for ranks in findings.sets):
        rows["Ties"] = _TIES[protocol.ties]
    if any(ranks.max_relevant > 1 for ranks in findings.sets):
        rows["Weight of an instance"] = _WEIGHTS[protocol.weighting]
    rows["Largest m looked at"] = count(findings.m_max)
    return pd.DataFrame({"Setting": list(rows), "Value": list(rows.values())})


def _systems(findings: Findings) -> pd.DataFrame:
    """What was read; the digest tells whether another file holds the same ranks."""
    rows = []
    for ranks in findings.sets:
        low, high = count(ranks.n.min()), count(ranks.n.max())
        n = low if low == high else f"{low} to {high}"
        users, size = count(ranks.n_instances), count(len(ranks))
        rows.append((ranks.system, users, size, n, ranks.digest[:12]))
    return pd.DataFrame(rows, columns=["System", "Instances", "Ranks", "Candidates n", "Digest"])


def _block(text: str) -> str:
    """Text to copy, line by line."""
    return f"<pre>{html_text(text)}</pre>"
