"""A table as a paper prints it, pasted: LaTeX, Markdown, CSV, or columns of a PDF."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sampledash.checks import not_a_number
from sampledash.readers.errors import ReadError
from sampledash.readers.headings import Heading, compares
from sampledash.readers.limits import MOST_PRINTED, check_typed
from sampledash.readers.parted import MISSING, Parting, parting
from sampledash.readers.said import lines_aside
from sampledash.readers.typeset import typeset_rows
from sampledash.readers.units import Cell, in_percent

_DECORATION = re.compile(r"(?:±|\+/-|\\pm).*$|[*†‡§^_↑↓]+|\((?:[^)]*)\)\s*$")
_MARKS = re.compile(r"(?:±|\+/-|\\pm).*$|[*†‡§^]+|(?<![^\W_])_+|_+(?![^\W_])|\((?:[^)]*)\)\s*$")
_NUMBER = re.compile(r"[+-]?([0-9]*)(?:[.,]([0-9]+))?\s*%?")
_ASIDE = re.compile(r"\([^)]*\)")
_RULE = re.compile(r"[\s|:+=-]*")  # between header and body
_ABOVE = 4  # lines in which the names are looked for
_MOST_DECIMALS = 12  # more are those of a computer, not of a paper


@dataclass(frozen=True)
class PrintedRow:
    """One system of a printed table.

    Attributes
    ----------
    system
        Its name.
    values, decimals
        Sampled values in 0..1 by the metric's name as printed, and how many decimals that is:
        a value in percent has two more. A name that only papers use stands in full: ``"NDCG@10"``
        for N@10.
    """

    system: str
    values: dict[str, float]
    decimals: dict[str, int]


@dataclass(frozen=True)
class PrintedTable:
    """A printed table, and what was understood of it.

    Attributes
    ----------
    rows
        The systems.
    notes
        What the reader should know of how it was read.
    n, m
        Candidates and sampled negatives, where a line says so; None where none does.
    """

    rows: list[PrintedRow]
    notes: list[str]
    n: int | None = None
    m: int | None = None


def read_printed(text: str) -> PrintedTable:
    r"""Read a pasted table, and the n and m that a line above or below it says.

    Parameters
    ----------
    text
        Cells separated by ``&``, ``|``, tabs, semicolons, commas or spaces; values as printed,
        their digits say how far they were rounded. Bold, daggers and ``± ...`` are dropped; columns
        that are no metric, and lines that are no system (Improv., p-value), are left out. A cell
        without a value is blank, a dash or N/A. A line of its own may say ``m = 99, n = 1000``.

    Raises
    ------
    ReadError
        A ``ValueError`` that names the line, the column, the value and the remedy.

    Notes
    -----
    Percent goes by column: by its signs, by ``(%)`` in its name, or by values above 1. A column
    with no value above 1 beside others in percent is read in the unit in which its metric can
    stand beside theirs: HR@1 = 0.85 is 0.85 % beside HR@10 = 6.50, and NDCG@10 = 0.392 is 39.2 %
    beside HR@10 = 66.2. If it can in both, one table has one unit, if it prints as many decimals;
    what stays unclear is refused.

    Examples
    --------
    >>> table = read_printed("m = 99, n = 1000\nModel H@10\nBPR 0.66\nImprov. 3%")
    >>> table.rows[0].values, table.n, table.m
    ({'HR@10': 0.66}, 1000, 99)
    >>> table.notes
    ['H@10 is read as HR@10.', 'Left out, no system: Improv.']
    >>> row = read_printed("Model & HR@10 & NDCG@10 \\\\ \nBPR & 66.24 & 0.392 \\\\").rows[0]
    >>> row.values, row.decimals
    ({'HR@10': 0.6624, 'NDCG@10': 0.392}, {'HR@10': 4, 'NDCG@10': 3})
    """
    check_typed(len(text), "the table", MOST_PRINTED)
    text, n, m = lines_aside(text, "the table")
    lines = [row for row in typeset_rows(text) if not _RULE.fullmatch(row[1])]
    if len(lines) < 2:
        raise ReadError("the table has no values: write a line of names and one line per system")
    parts, lines, above = _from_names(lines)
    metrics = [x for x in parts.names[1:] if x.metric is not None]
    _check_distinct(metrics, parts.place)
    names: list[str] = []
    raw: list[dict[str, Cell | None]] = []
    no_systems: list[str] = []
    for place, line in lines:
        if compared := [name for name in parts.leading(line) if compares(name)]:
            no_systems.append(compared[0])
            continue
        row = parts.cells(line, place)
        name = _MARKS.sub("", row[0]).strip()
        if not name and not any(map(_holds_value, parts.names[1:], row[1:])):
            _refuse_names(row, place, parts)
            continue
        name = name or f"line {place}"
        if name in names:
            raise ReadError(f"line {place} of the table names {name!r} again: give it another name")
        names.append(name)
        pairs = list(zip(parts.names, row, strict=True))[1:]
        raw.append({x.name: _number(cell, place, x) for x, cell in pairs if x.metric is not None})
    if not names:
        raise ReadError("the table has no values: write one line per system below the names")
    percent = in_percent(metrics, raw)
    return PrintedTable(
        [_row(name, row, percent) for name, row in zip(names, raw, strict=True)],
        _notes(parts, above, no_systems, percent),
        n,
        m,
    )


def _holds_value(column: Heading, cell: str) -> bool:
    """Whether a cell is a value of a metric, and no cutoff that belongs to its name."""
    return (
        column.metric is not None
        and re.search(r"\d", cell) is not None
        and bool(re.search("[.,%]", cell))
    )


def _refuse_names(row: list[str], place: int, parts: Parting) -> None:
    """Refuse the second line of names, which would hide what the first one leaves open."""
    if said := [cell for cell in row if not MISSING.fullmatch(cell.strip())]:
        raise ReadError(
            f"line {place} of the table has no name and no value of a metric, but {said[0][:40]!r}:"
            f" if it goes on with the names of line {parts.place}, write them in one line"
        )


def _row(name: str, row: dict[str, Cell | None], percent: list[str]) -> PrintedRow:
    values, decimals = {}, {}
    for metric, cell in row.items():
        if cell is not None:
            value = cell.value / (100 if metric in percent else 1)
            values[metric] = round(value, _MOST_DECIMALS)
            decimals[metric] = min(cell.decimals + 2 * (metric in percent), _MOST_DECIMALS)
    return PrintedRow(name, values, decimals)


def _notes(
    parts: Parting, above: list[str], no_systems: list[str], percent: list[str]
) -> list[str]:
    """What the reader should know."""
    known = [x for x in parts.names[1:] if x.metric is not None]
    left = [x.printed for x in parts.names[1:] if x.metric is None]
    short = [f"{x.printed} is read as {x.name}" for x in known if x.name not in x.printed]
    notes = [f"Above the names, left out: {', '.join(above)}."] if above else []
    notes += [f"{', '.join(short)}."] if short else []
    notes += [f"Left out, no metric known here: {', '.join(left).rstrip('.')}."] if left else []
    notes += [f"Left out, no system: {', '.join(no_systems).rstrip('.')}."] if no_systems else []
    if percent:
        verb = "is" if len(percent) == 1 else "are"
        notes.append(f"{', '.join(percent)} {verb} read in percent.")
    return notes


def _from_names(
    lines: list[tuple[int, str]],
) -> tuple[Parting, list[tuple[int, str]], list[str]]:
    """How the line of names parts the table, the lines below it, and what stands above it."""
    for i, (place, line) in enumerate(lines[:_ABOVE]):
        parts = parting(line, place)
        if any(x.metric is not None for x in parts.names[1:]):
            names = [_printed(above, at) for at, above in lines[:i]]
            return parts, lines[i + 1 :], [", ".join(filter(None, each)) for each in names]
    place, line = lines[0]
    raise ReadError(
        f"line {place} of the table names no metric: found "
        f"{', '.join(map(repr, _printed(line, place)[:8]))}; a line of names such as HR@10, "
        "NDCG@10, MRR or AUC stands above the values"
    )


def _printed(line: str, place: int) -> list[str]:
    return [x.printed for x in parting(line, place).names]


def _check_distinct(metrics: list[Heading], place: int) -> None:
    for i, one in enumerate(metrics):
        first = next((x for x in metrics[:i] if x.metric == one.metric), None)
        if first is not None:
            also = "" if first.printed == one.printed else f", as {first.printed} and {one.printed}"
            raise ReadError(
                f"line {place} of the table names {one.name} more than once{also}: keep the "
                "columns of one evaluation"
            )


def _number(text: str, place: int, column: Heading) -> Cell | None:
    """A printed value, None for no value."""
    plain = _DECORATION.sub("", text.strip()).strip()
    if MISSING.fullmatch(plain) and not re.search(r"\d", text):
        return None
    where = f"line {place}, column {column.printed!r} of the table"
    found = _NUMBER.fullmatch(plain)
    if found is None or not (found[1] or found[2]):
        raise ReadError(
            f"{where}: {not_a_number(text)}; write it as printed, such as 0.6624, or - where there "
            "is none"
        )
    value = float(plain.rstrip(" %").replace(",", "."))
    if not 0 <= value <= 100:
        why = "below 0" if value < 0 else "above 100, too large even for percent"
        raise ReadError(f"{where}: {text[:40]!r} is {why}; correct it, or remove it")
    return Cell(value, len(found[2] or ""), "%" in _ASIDE.sub("", text), place)
