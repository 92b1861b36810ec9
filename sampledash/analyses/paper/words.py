"""Sentences of the Paper page, which compare numbers printed in the papers with our numbers."""

from pathlib import Path
from typing import Any
from urllib.parse import parse_qs

import numpy as np
import pandas as pd

from sampledash.analyses.estimate.result import Result
from sampledash.analyses.paper import wild
from sampledash.report.numbers import count
from sampledash.report.templates import Sentences, texts

_HERE = Path(__file__).parent
TEXTS = texts(_HERE / "words.txt")
ON_BOTH, PUBLISHED = "MS-COCO", "NCF"


def tenths(share: float) -> str:
    """Write a share in percent with one decimal, as the papers on image retrieval print it."""
    return f"{100 * share:.1f}"


say = Sentences(_HERE / "words.jinja", tenths=tenths)
#: Table of a paper -> title, text, and the code that computed our numbers.
MADE = {
    item: (*TEXTS[f"made, {item}"].split(" | "), (_HERE / f"{item}.txt").read_text("utf-8"))
    for item in ("Table 3", "Steck, Table 2")
}
# Table or figure -> the page of the dashboard that reproduces it, and the page's settings. A table
# or figure without the name of a paper is from Krichene & Rendle. The settings for Steck are those
# of his test on Netflix: 17,770 items, 1,000 negatives, and the cutoff 356 (2 % of the items).
OPENS = {
    item: (page, parse_qs(query))
    for item, page, query in pd.read_csv(_HERE / "opens.csv").itertuples(index=False)
}


def cell(row: Any, decimals: int) -> str:
    """Return the text of a table cell: the printed value, our value, and ✓ if they match, or ≠.

    ``row`` is a row of the table of :func:`sampledash.papers.krichene.match`.
    """
    our_value = f"{row.ours:.{decimals}f}"
    if pd.notna(row.our_std):
        our_value += f"±{row.our_std:.{decimals}f}"
    # The spaces after the arrow are non-breaking, so that a narrow cell has at most two lines.
    text = f"{row.text} →\u00a0{our_value}\u00a0{'✓' if row.matched else '≠'}"
    return text if row.matched else f"**{text}**"


def ours(value: float, what: str) -> str:
    """Return our ``value`` and its meaning as text; a value within 1e-9 of 0 counts as 0."""
    number = count(round(value)) if value >= 1_000 else f"{0 if abs(value) < 1e-9 else value:.4g}"
    return f"{number}: {what}"


def on_both(cells: pd.DataFrame, summary: pd.DataFrame) -> list[str]:
    """Return sentences on the systems whose metrics are printed for 1,000 and for 5,000 images.

    ``cells`` and ``summary`` are tables of :mod:`sampledash.analyses.paper.wild`.
    """
    total = summary.sum().to_dict()
    errors = {guess: summary[f"off_{name}"].tolist() for name, guess in wild.GUESSES.items()}
    contradictions = []
    for cell in wild.outside(cells):
        on_sample = cells.loc[cells["place"] == cell["place"], "on_sample"].tolist()
        contradictions.append(say.contradicts(cell, on_sample))
    return [say.on_both(total), *contradictions, say.told_on_both(total, errors)]


def summary_rows(summary: pd.DataFrame) -> pd.DataFrame:
    """Return :func:`sampledash.analyses.paper.wild.summary` as text, with a column per cutoff."""

    def of(part: str, whole: str) -> list[str]:
        return [f"{x} of {y}" for x, y in zip(summary[part], summary[whole], strict=True)]

    lines: dict[str, list[str]] = {}
    for (low, _), assumed in zip(wild.SHAPES, ("no assumption", "if ranks fall off"), strict=True):
        lines[f"In the range, {assumed}"] = of(f"inside_{low}", "cells")
        lines[f"Pairs decided right, {assumed}"] = of(f"right_{low}", f"decided_{low}")
    for name, guess in wild.GUESSES.items():
        lines[f"{guess}: points off"] = [tenths(x) for x in summary[f"off_{name}"]]
        lines[f"{guess}: pairs in order"] = [f"{tenths(x)} %" for x in summary[f"order_{name}"]]
    table = pd.DataFrame(lines, index=[f"R@{k}" for k in summary["k"]]).T
    return table.reset_index(names="Printed on 5,000")


def from_samples(answer: Result[Any], methods: list[str]) -> str:
    """Return a sentence on estimates of the metric on all items from published sampled ranks.

    ``answer`` holds the exact metrics, and ``methods`` are the estimators.
    """
    q, exact = answer.question, [row.exact for row in answer.rows]
    estimates = {x: [q.values(i, x)[0] for i in range(len(exact))] for x in methods}
    orders = [np.argsort(np.array(x)).tolist() for x in (exact, *estimates.values())]
    undecided = all(pair.free[0] < 0 < pair.free[1] for pair in answer.pairs)
    names, right = [row.name for row in answer.rows], all(x == orders[0] for x in orders)
    return say.from_samples(str(q.metric), undecided, names, estimates, exact, right)
