"""Write a paragraph for the evaluation section of a paper, and the BibTeX entries that it cites.

The text comes from the template ``paragraph.txt.jinja`` beside this module, the entries from
``references.bib``.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

import sampledash
from sampledash.comparison.order import TIED
from sampledash.comparison.verdict import CONFIDENT, Pairs
from sampledash.readers.files import EXAMPLES
from sampledash.report.escape import one_line, tex
from sampledash.report.numbers import count, gamma, rounded, tex_count, tex_number
from sampledash.report.templates import template
from sampledash.schemes import SCHEMES
from sampledash.types import Floats

if TYPE_CHECKING:
    from jinja2 import Template

_HERE = Path(__file__).parent
#: Titles of the bundled examples that use the data set MovieLens; the paragraph then cites it.
_MOVIELENS = {entry.title for entry in EXAMPLES.values() if "MovieLens" in entry.title}
# The paragraph gives the mean metrics of all systems if there are at most _SYSTEMS systems and
# _VALUES numbers, and names all pairs of systems if there are at most _PAIRS. Names longer than
# _LONGEST characters are cut.
_SYSTEMS, _VALUES, _PAIRS, _LONGEST = 4, 6, 3, 60


def paragraph(findings: Pairs, *, latex: bool = False) -> str:
    r"""Return four or five sentences for a paper's evaluation section.

    The sentences give the setting and the metrics of the full ranking, the expected sampled
    metrics, the number of negatives from which the sampled order is right, the probability that one
    run shows the true order, and what these numbers do not say. All numbers come from ``findings``.
    In LaTeX, names are escaped, and citations use the keys of :func:`bibtex`.
    """
    return " ".join(_template(latex).render(_facts(findings), f=findings, latex=latex).split())


def bibtex(findings: Pairs) -> str:
    """Return BibTeX entries for the citations of :func:`paragraph`."""
    entries = (_HERE / "references.bib").read_text(encoding="utf-8").split("\n\n")
    paper, movielens, software = entries
    software = software.replace("VERSION", sampledash.__version__)
    cited = [paper, movielens, software] if findings.source in _MOVIELENS else [paper, software]
    return "\n\n".join(cited)


@cache
def _template(latex: bool) -> Template:
    """Return the template of the paragraph, with filters for plain text or for LaTeX."""

    def name(text: str) -> str:
        """Return a text of the user as a single line, shortened if it is too long."""
        line = one_line(text) or "(no name)"
        line = line if len(line) <= _LONGEST else line[: _LONGEST - 1] + "…"
        return tex(line).replace("…", r"\dots{}") if latex else line

    def share(value: float, *, chance: bool = False) -> str:
        """Write a value in percent; the signs < and > of :func:`rounded` become words."""
        sign, number = rounded(value, chance=chance)
        if sign == ">" and value < 0:
            sign, number = "just below ", "0.00"
        words = {"<": "less than ", ">": "more than "}.get(sign, sign)
        return words + percent(f"${number}$" if latex and number.startswith("-") else number)

    def percent(number: str) -> str:
        return rf"{number}\,\%" if latex else f"{number} %"

    def formula(text: str) -> str:
        return f"${text}$".replace("γ", r"\gamma") if latex else text

    return template(
        _HERE / "paragraph.txt.jinja",
        **{function.__name__: function for function in (name, share, percent, formula)},
        count_in_formula=tex_count if latex else count,
        gamma=tex_number if latex else gamma,
    )


def _facts(f: Pairs) -> dict[str, Any]:
    """Return the names and numbers that the paragraph's template uses, in addition to ``f``."""
    sets, distinct = f.sets, f.protocol.design.distinct
    n = np.concatenate([x.n for x in sets])
    # ``rows`` are the pairs of systems whose exact metrics differ. ``turned`` marks the pairs whose
    # order sampling reverses, ``level`` those whose expected sampled metrics are the same.
    rows = f.verdict[f.verdict["state"] != "tied"]
    rows = rows.assign(turned=rows["sampled"] < -TIED, level=rows["sampled"].abs() <= TIED)
    by_metric = {str(metric): part for metric, part in rows.groupby("metric", sort=False)}
    effects = _grouped(
        ((int(part["turned"].sum()), int(part["level"].sum()), len(part)), metric)
        if (part["turned"] | part["level"]).any()
        else ((0, 0, 0), metric)
        for metric, part in by_metric.items()
    )
    ends = [(part["right_from"].max(skipna=False), metric) for metric, part in by_metric.items()]
    wrong = rows[rows["right_from"].isna()]
    shown = rows if len(rows) <= _PAIRS else rows.nsmallest(1, "probability")
    chances = rows["probability"].to_numpy(dtype=np.float64)
    decided, misled = int((chances >= CONFIDENT).sum()), int((chances <= 1 - CONFIDENT).sum())
    one_metric = len(by_metric) == 1
    return {
        "fit_words": SCHEMES[f.protocol.fit_scheme].words,
        "candidates": (n.min(), n.max()),
        "movielens": f.source in _MOVIELENS,
        "short": distinct and any(np.any(x.counted().negatives < f.m) for x in sets),
        "by_odds": all(ranks.mass_above is None for ranks in sets),
        "version": sampledash.__version__,
        "few": len(sets) <= _SYSTEMS and f.exact.size <= _VALUES,
        "exact": _means(f, f.exact),
        "sampled": _means(f, f.sampled),
        "differ": bool((f.verdict["sampled"].abs() > TIED).any()),
        # First come the metrics for which sampling reverses the order of two systems, then those
        # for which it makes their expected metrics the same, then all others.
        "effects": sorted(effects, key=lambda group: (group[0][0] == 0, group[0][1] == 0)),
        "turned": _few_pairs(rows[rows["turned"]], "worse", "better") if one_metric else [],
        "starts": sorted(_grouped((int(m), metric) for m, metric in ends if m is not pd.NA)),
        "late": [metric for m, metric in ends if m is pd.NA],
        "wrong": len(wrong),
        "wrong_pairs": _few_pairs(wrong, "better", "worse") if one_metric else [],
        "comparisons": len(rows),
        "kind": "pairs" if one_metric else "comparisons",
        # The probability that one run shows the true order of two systems: for each pair if there
        # are at most _PAIRS pairs, otherwise only the smallest probability.
        "runs": list(shown[["probability", "better", "worse", "metric"]].itertuples(index=False)),
        "low": f"{100 * (1 - CONFIDENT):g}",
        "high": f"{100 * CONFIDENT:g}",
        "decided": decided,
        "open": len(rows) - decided - misled,
        "misled": misled,
    }


def _means(f: Pairs, means: Floats) -> list[tuple[str, list[tuple[float, str]], int]]:
    """Return for each metric its name, the pairs (mean, system), and the number of best systems.

    ``means`` has shape (systems, metrics). The best system comes first; several systems are best if
    their means are the same.
    """
    table = []
    for metric, column in zip(f.metrics, means.T, strict=True):
        values = [(column[i], f.systems[i]) for i in np.argsort(-column, kind="stable")]
        table.append((str(metric), values, int(np.sum(column >= column.max() - TIED))))
    return table


def _few_pairs(rows: pd.DataFrame, first: str, second: str) -> list[tuple[str, str]]:
    """Return the names of the two systems in each row; an empty list for more than _PAIRS rows."""
    return list(zip(rows[first], rows[second], strict=True)) if len(rows) <= _PAIRS else []


def _grouped(pairs: Iterable[tuple[Any, str]]) -> list[tuple[Any, list[str]]]:
    """Return each distinct value with the metrics that have it, in order of first occurrence.

    ``pairs`` holds values and names of metrics.
    """
    groups: dict[Any, list[str]] = {}
    for value, metric in pairs:
        groups.setdefault(value, []).append(metric)
    return list(groups.items())
