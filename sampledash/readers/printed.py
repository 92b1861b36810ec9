"""A table as a paper prints it, pasted: LaTeX, Markdown, CSV, or columns of a PDF."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from sampledash.metrics import parse_metric
from sampledash.readers.errors import ReadError
from sampledash.readers.typeset import typeset_rows

_DECORATION = re.compile(r"(?:±|\+/-|\\pm).*$|[*†‡§^_]+|\((?:[^)]*)\)\s*$")
_MARKS = re.compile(r"(?:±|\+/-|\\pm).*$|[*†‡§^]+|(?<![^\W_])_+|_+(?![^\W_])|\((?:[^)]*)\)\s*$")
_NUMBER = re.compile(r"[+-]?(\d*)(?:[.,](\d+))?\s*%?")
_RULE = re.compile(r"[\s|:+=-]*")  # between header and body
_ABOVE = 4  # lines in which the names are looked for


@dataclass(frozen=True)
class PrintedRow:
    """One system of a printed table.

    Attributes
    ----------
    system
        Its name.
    values, decimals
        Sampled values in 0..1 by the metric's name as printed, and how many decimals that is:
        a value in percent has two more.
    """

    system: str
    values: dict[str, float]
    decimals: dict[str, int]


def read_printed(text: str) -> tuple[list[PrintedRow], list[str]]:
    r"""Read a pasted table: a line of names, then a system on each line.

    Parameters
    ----------
    text
        Cells separated by ``&``, ``|``, tabs, semicolons, commas or spaces; values as printed,
        their digits say how far they were rounded. A column with values above 1 is in percent.
        Bold, daggers and ``± ...`` are dropped; columns that are no metric are left out.

    Returns
    -------
    The systems, and what the reader should know of how it was read.

    Raises
    ------
    ReadError
        A ``ValueError`` that names the line, the column, the value and the remedy.

    Examples
    --------
    >>> rows, notes = read_printed("Model & HR@10 & NDCG@10 \\\\ \nBPR & 66.24 & 0.392 \\\\")
    >>> rows[0].values, rows[0].decimals, notes
    ({'HR@10': 0.6624, 'NDCG@10': 0.392}, {'HR@10': 4, 'NDCG@10': 3}, ['HR@10 is read in percent.'])
    """
    lines = [row for row in typeset_rows(text) if not _RULE.fullmatch(row[1])]
    if len(lines) < 2:
        raise ReadError("the table has no values: write a line of names and one line per system")
    lines, above = _from_names(lines)
    cells = _splitter(lines[0][1])
    header = _names(lines[0][1])
    metrics = [i for i, name in enumerate(header) if i and _is_metric(name)]
    if twice := [header[i] for i in metrics if header.count(header[i]) > 1]:
        raise ReadError(
            f"line {lines[0][0]} of the table names {twice[0]} more than once: keep the columns of "
            "one evaluation"
        )
    names, raw = [], []
    for place, line in lines[1:]:
        row = cells(line)
        if len(row) != len(header):
            raise ReadError(
                f"line {place} of the table has {len(row)} cells, but the first line names "
                f"{len(header)} columns: complete it, or separate the columns by tabs or &"
            )
        name = _MARKS.sub("", row[0]).strip() or f"line {place}"
        if name in names:
            raise ReadError(f"line {place} of the table names {name!r} again: give it another name")
        names.append(name)
        raw.append({header[i]: _number(row[i], place, header[i]) for i in metrics})
    left = [header[i] for i in range(1, len(header)) if i not in metrics]
    notes = [f"Above the names, left out: {', '.join(above)}."] if above else []
    notes += [f"Left out, no metric known here: {', '.join(left)}."] if left else []
    percent = _in_percent(raw, [place for place, _ in lines[1:]])
    if percent:
        verb = "is" if len(percent) == 1 else "are"
        notes.append(f"{', '.join(percent)} {verb} read in percent.")
    return [
        PrintedRow(
            name,
            {x: v[0] / (100 if x in percent else 1) for x, v in row.items() if v is not None},
            {x: v[1] + 2 * (x in percent) for x, v in row.items() if v is not None},
        )
        for name, row in zip(names, raw, strict=True)
    ], notes


def _names(line: str) -> list[str]:
    """Cells of a line of names."""
    return [re.sub(r"\s*@\s*", "@", name) for name in _splitter(line)(line)]


def _from_names(lines: list[tuple[int, str]]) -> tuple[list[tuple[int, str]], list[str]]:
    """The lines from the one that names metrics on, and what stands above it."""
    for i, (_, line) in enumerate(lines[:_ABOVE]):
        if any(_is_metric(name) for name in _names(line)[1:]):
            above = [", ".join(filter(None, _names(each))) for _, each in lines[:i]]
            return lines[i:], above
    place, line = lines[0]
    raise ReadError(
        f"line {place} of the table names no metric: found "
        f"{', '.join(map(repr, _names(line)[:8]))}; a line of names such as HR@10, NDCG@10, MRR or "
        "AUC stands above the values"
    )


def _splitter(header: str) -> Callable[[str], list[str]]:
    """How lines split into cells: by the sign that the header has most of."""
    mark = max("&|\t;", key=header.count)
    if not header.count(mark):
        mark = "," if "," in header else ""

    def cells(line: str) -> list[str]:
        if mark == "|":
            line = line.strip().strip("|")
        if mark:
            return [cell.strip() for cell in line.split(mark)]
        wide = re.split(r"\t|\s{2,}", line.strip())
        plain = re.sub(r"\s*@\s*", "@", line)
        width = len(re.sub(r"\s*@\s*", "@", header).split())
        if len(wide) == width:
            return [cell.strip() for cell in wide]
        words = plain.split()  # a name may have several words: values stand at the end
        return [" ".join(words[: len(words) - width + 1]), *words[len(words) - width + 1 :]]

    return cells


def _is_metric(name: str) -> bool:
    try:
        parse_metric(name)
    except ValueError:
        return False
    return True


def _number(cell: str, place: int, column: str) -> tuple[float, int, bool] | None:
    """Value, printed decimals and whether a percent sign stands there; None for no value."""
    text = _DECORATION.sub("", cell.strip()).strip()
    if text in ("", "-", "–", "—", "n/a", "N/A"):
        return None
    found = _NUMBER.fullmatch(text)
    if found is None or not (found[1] or found[2]):
        raise ReadError(
            f"line {place}, column {column!r} of the table: {cell[:40]!r} is not a number; write "
            "it as printed, such as 0.6624"
        )
    return float(text.rstrip(" %").replace(",", ".")), len(found[2] or ""), "%" in text


def _in_percent(
    rows: list[dict[str, tuple[float, int, bool] | None]], places: list[int]
) -> list[str]:
    """Columns whose values are percentages: with a sign, or mostly above 1."""
    found = []
    for name in rows[0]:
        column = [row[name] for row in rows]
        values = [v for v in column if v is not None]
        above = [v for v in values if v[0] > 1]
        if any(v[2] for v in values) or 2 * len(above) > len(values):
            found.append(name)
        elif above:
            place = places[column.index(above[0])]
            raise ReadError(
                f"line {place}, column {name!r} of the table: {above[0][0]:g} is above 1, but the "
                "other values of the column are not: correct it, or write all of them in percent"
            )
    return found
