"""Write a report as one self-contained HTML file for screen, phone and paper."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Protocol

import pandas as pd

import sampledash
from sampledash.comparison.verdict import Pairs
from sampledash.metrics import Metric
from sampledash.rank_sets import RankSet
from sampledash.report.escape import html_text, one_line
from sampledash.report.numbers import count, span
from sampledash.report.paragraph import bibtex, paragraph
from sampledash.report.script import exact_script, python_script
from sampledash.report.sentences import beware
from sampledash.report.tables import printed
from sampledash.schemes import SCHEMES

MOST_ROWS = 200  # tables end after this many rows, because long tables are hard to read on paper
_STATES = ("right", "wrong", "undecided", "tied")
_TIES = {
    "expected": "in random order",
    "optimistic": "relevant item first",
    "pessimistic": "relevant item last",
}
_WEIGHTS = {"instances": "the same for all", "relevant-items": "its number of relevant items"}

# This policy forbids the browser to load anything for the file, even if a name contains HTML code.
_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; font-src data:"
)


class Drawable(Protocol):
    """The part of a Plotly figure that the report needs."""

    def to_html(self, *args: object, **options: object) -> str:
        """Write the figure as HTML."""


def html_report(
    findings: Pairs,
    figures: Sequence[tuple[str, Drawable]] = (),
    tables: Mapping[str, pd.DataFrame] | None = None,
    *,
    legend: str = "",
) -> str:
    """Return the HTML of a report that needs no network; the same input gives the same report.

    Figures are Plotly figures for a light background, each with its title; the script of Plotly is
    included once. If ``tables`` is None, the report shows the means and the verdict; long tables
    end after 200 rows. The ``legend`` is HTML that explains the lines of the pictures. Names are
    always written as plain text, and a policy in the file forbids every request.
    """
    if tables is None:
        # A report is about a single correction, and the settings give its name. So drop the column.
        verdict = findings.verdict.drop(columns="correction")
        tables = {"Means": findings.means_table(), "Verdict": verdict}
    title = f"Sampled metrics of {one_line(findings.source) or 'ranks'}"
    parts = [
        f"<h1>{html_text(title)}</h1>",
        f"<p>{html_text(_headline(findings))}</p>",
        *(f'<p class="note">{html_text(note)}</p>' for note in beware(findings)),
        f'<p class="note">Made with sampledash {html_text(sampledash.__version__)}.</p>',
        "<h2>For the paper</h2>",
        f"<p>{html_text(paragraph(findings))}</p>",
        *_figures(figures, legend),
        *([f"<h2>{'Tables' if len(tables) > 1 else 'Table'}</h2>"] if tables else []),
        *(f"<h3>{html_text(name)}</h3>\n{_table(table)}" for name, table in tables.items()),
        "<h2>Settings</h2>",
        _table(_settings(findings)),
        "<h3>Ranks</h3>",
        _table(_systems(findings.sets)),
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
    return _document(title, parts)


def exact_report(
    source: str,
    python: str,
    sets: Sequence[RankSet],
    metrics: Sequence[Metric],
    tables: Mapping[str, pd.DataFrame],
    k: int,
) -> str:
    """Return an HTML report on ranks of which some are only known to be larger than ``k``."""
    title = f"Exact metrics of {one_line(source) or 'ranks'}"
    parts = [
        f"<h1>{html_text(title)}</h1>",
        f"<p>Some ranks are only known to lie beyond {count(k)}: metrics cut there or before are "
        "exact, others lie between the values with all of these at the end and at once behind the "
        "list. Means are over instances, ties in random order.</p>",
        f'<p class="note">Made with sampledash {html_text(sampledash.__version__)}.</p>',
        "<h2>Tables</h2>",
        *(f"<h3>{html_text(x)}</h3>\n{_table(table)}" for x, table in tables.items() if len(table)),
        "<h3>Ranks</h3>",
        _table(_systems(sets)),
        "<h2>Python</h2>",
        "<p>This script prints the same numbers.</p>",
        _block(exact_script(source, python, metrics)),
    ]
    return _document(title, parts)


def _document(title: str, parts: Sequence[str]) -> str:
    body = "\n".join(parts)
    style = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n<title>{html_text(title)}</title>\n'
        f"<style>\n{style}</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _headline(findings: Pairs) -> str:
    """Return a sentence with the numbers of right, wrong, undecided and tied comparisons."""
    states = findings.verdict["state"]
    numbers = {state: int((states == state).sum()) for state in _STATES}
    parts = [f"{count(number)} {state}" for state, number in numbers.items() if number]
    kind = "pairs" if len(findings.metrics) == 1 else "comparisons of a pair by a metric"
    if len(states) == 1:
        return f"At m = {count(findings.m)} the order of the two systems is {states.iloc[0]}."
    return f"At m = {count(findings.m)}, of {count(len(states))} {kind}: {', '.join(parts)}."


def _figures(figures: Sequence[tuple[str, Drawable]], legend: str) -> list[str]:
    if not figures:
        return []
    parts = ["<h2>Pictures</h2>", *([f'<div class="picture">{legend}</div>'] if legend else [])]
    for place, (title, figure) in enumerate(figures):
        options = {"full_html": False, "include_mathjax": False, "default_width": "100%"}
        bare = {"displayModeBar": False, "responsive": True}
        name, first = f"picture-{place + 1}", place == 0
        drawn = figure.to_html(include_plotlyjs=first, div_id=name, config=bare, **options)
        parts.append(
            f'<figure aria-label="{html_text(title)}"><figcaption>{html_text(title)}</figcaption>\n'
            f'<div class="picture">{drawn}</div></figure>'
        )
    return parts


def _table(table: pd.DataFrame) -> str:
    heads, cells = [], []
    for column in printed(table.head(MOST_ROWS)):
        kind = "number" if column.number else "name"
        heads.append(f'<th scope="col" class="{kind}">{html_text(column.header)}</th>')
        known = [f" {x}" if column.name == "state" and x in _STATES else "" for x in column.cells]
        pairs = zip(column.cells, known, strict=True)
        cells.append([f'<td class="{kind}{also}">{html_text(x) or "–"}</td>' for x, also in pairs])
    body = "\n".join(f"<tr>{''.join(row)}</tr>" for row in zip(*cells, strict=True))
    more = ""
    if len(table) > MOST_ROWS:
        more = f'\n<p class="note">The first {MOST_ROWS} of {count(len(table))} rows.</p>'
    return (
        f'<div class="scroll"><table>\n<thead><tr>{"".join(heads)}</tr></thead>\n<tbody>\n{body}\n'
        f"</tbody>\n</table></div>{more}"
    )


def _settings(findings: Pairs) -> pd.DataFrame:
    protocol, sets = findings.protocol, findings.sets
    scheme = protocol.design.words
    if protocol.design.weighted:
        scheme += f", with replacement, odds {protocol.odds:g}"
    law = f"the law of sampling {SCHEMES[protocol.fit_scheme].words}"
    rows = {
        "Metrics": ", ".join(map(str, findings.metrics)),
        "Negatives m": count(findings.m),
        "Drawn": scheme,
        "Correction": str(protocol.correction),
        "Correction fitted to": protocol.correction.by_rank and law,
        "Ties": any(ranks.has_ties for ranks in sets) and _TIES[protocol.ties],
        "Weight of an instance": any(ranks.max_relevant > 1 for ranks in sets)
        and _WEIGHTS[protocol.weighting],
        "Largest m looked at": count(findings.m_max),
    }
    return pd.DataFrame(
        [(name, value) for name, value in rows.items() if value], columns=["Setting", "Value"]
    )


def _systems(sets: Sequence[RankSet]) -> pd.DataFrame:
    """Return a table of the rank sets; two rank sets with equal digests hold the same ranks."""
    rows = [
        (x.system, count(x.n_instances), count(len(x)), span(x.n.min(), x.n.max()), x.digest[:12])
        for x in sets
    ]
    table = pd.DataFrame(rows, columns=["System", "Instances", "Ranks", "Candidates n", "Digest"])
    made = [ranks.provenance for ranks in sets]
    return table.assign(**{"Made from": made}) if any(made) else table


def _block(text: str) -> str:
    """Return the HTML of a block of text, such as LaTeX to copy, with its line breaks."""
    return f"<pre>{html_text(text)}</pre>"
