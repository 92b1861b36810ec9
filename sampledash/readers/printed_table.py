"""A table as a paper prints it, pasted: LaTeX, Markdown, CSV, or columns of a PDF."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from sampledash.checks import not_a_number
from sampledash.metrics import Metric, parse_metric
from sampledash.readers.errors import ReadError
from sampledash.readers.frame import several
from sampledash.readers.pasted import lines_aside
from sampledash.readers.upload_limits import PRINTED

# Of a row as it is typeset, without the commands of LaTeX.
_GROUP = r"\{(?:[^{}]|\{[^{}]*\})*\}"
_OPTION = r"(?:\[[^]]*\])?"
_ENDS = re.compile(rf"\\\\{_OPTION}")  # of a row
_COMMENT = re.compile(r"(?<!\\)%.*")
# Commands that leave nothing, with what belongs to them.
_NOTHING = re.compile(
    rf"\\(?:begin|end)\{{[^}}]*\}}{_OPTION}(?:{_GROUP})*"
    rf"|\\(?:caption|label|cite\w*|ref|footnote\w*|rowcolor|cellcolor|vspace|hspace|cline|cmidrule"
    rf"|setlength|renewcommand|resizebox|scalebox|color)\*?{_OPTION}(?:\([^)]*\))?(?:\s*{_GROUP})*"
)
_ACROSS = re.compile(rf"\\multicolumn\s*\{{(\d+)\}}\s*{_GROUP}\s*({_GROUP})")
_DOWN = re.compile(rf"\\multirow\s*{_OPTION}{_GROUP}\s*{_GROUP}\s*({_GROUP})")
_NAMED = re.compile(r"\\(?!pm\b)[a-zA-Z]+\*?")
_SIGNS = {
    r"\%": "%",
    r"\_": "_",
    r"\#": "#",
    r"\$": "",
    "~": " ",
    r"\,": " ",
    r"\ ": " ",
    r"\Delta": "Δ",
}
_AND = "\uff06"  # stands for an ampersand that parts no cells
# Of names.
_ARROWS = re.compile(r"\(\s*[↑↓⬆⬇]\s*\)|[↑↓⬆⬇]\ufe0f?")
_PERCENT = re.compile(r"(?i)\s*[(\[]\s*(?:in\s+)?(?:%|percent)\s*[)\]]")
_AT = re.compile(r"\s*@\s*")
# H@10, N@10 and HR10, as they are known.
_ALSO = ((r"(?i)^h@", "HR@"), (r"(?i)^n@", "NDCG@"), (r"^([A-Za-z]{2,})(\d+)$", r"\1@\2"))
_LONGEST = 4  # words of a name: mean average precision 10
# "Improv.", "Rel. Imp. (%)", "Gain over SASRec", "Δ", "p-value": what is computed from the others.
_COMPARED = re.compile(
    r"""(?ix) [%\s(]*
    (?: (?:rel|abs|avg|relative|absolute|average|max|min|maximum|minimum|overall)\b\.?\s* )* %?\s*
    (?: (?: improv(?:e|e?ments?)? | impr? | gains? | delta )\b \.? \s*
        (?: [^a-z]* | (?:over|vs|versus|to|w\.?r\.?t|against|of|on|above|from)\b.* )
      | [Δ∆] .*
      | p [\s-]? val(?:ues?)?\b .* | t-?test\b .* | sig\.
      | (?:statistical\s+)? significance\b .* )"""
)
# Of cells.
_WIDE = re.compile(r"\t|\s{2,}")
_MISSING = r"\\?[-–—−]+|n\.?/?a\.?|nan"
MISSING = re.compile(rf"(?i)(?:{_MISSING})?")
_DIGITS = r"[+-]?(?:\d+(?:[.,]\d+)?|[.,]\d+)\s*%?"
_AROUND = r"[*†‡§^_]*"
_VALUE = re.compile(rf"(?i){_AROUND}(?:{_MISSING}|{_DIGITS}){_AROUND}(?:\([^)]*\))?{_AROUND}")
_FRACTION = re.compile(rf"{_AROUND}[+-]?\d*[.,]\d+%?{_AROUND}")
# Scatter behind a value, and marks that belong to it though spaces stand between.
_BEHIND = re.compile(r"(?<=[\d%])\s*(?:\([^)a-zA-Z]*\d[^)a-zA-Z]*\)|(?:±|\+/-|\\pm)\s*[\d.,]+)")
_APART = re.compile(r"(?<=[\d%])\s+(?=%|[*†‡§]+(?:\s|$))")
# Around a name or a value: footnotes, emphasis, scatter.
_MARKS = re.compile(r"(?:±|\+/-|\\pm).*$|[*†‡§^↑↓]+|(?<![^\W_])_+|_+(?![^\W_])|\((?:[^)]*)\)\s*$")
_NUMBER = re.compile(r"[+-]?([0-9]*)(?:[.,]([0-9]+))?\s*%?")
_HELD = re.compile(r"\d.*[.,%]|[.,%].*\d")  # of a value, not of a cutoff
_ASIDE = re.compile(r"\([^)]*\)")
_RULE = re.compile(r"[\s|:+=-]*")  # between header and body
_ABOVE = 4  # lines in which the names are looked for
_MOST_DECIMALS = 12  # more are those of a computer, not of a paper
# Of percent.
_ABSURD = 20  # how many times another value of its column one in percent is at most
_RANKS = 1000  # among so many the metrics of one relevant item are compared
_SLACK = 1.02  # several relevant items, and runs that scatter
_REMEDY = (
    "write % with every value that is in percent, or (%) behind the name of a column that is, and "
    "the others in 0..1"
)


@dataclass(frozen=True)
class PrintedRow:
    """One system of a printed table.

    Values lie in 0..1, and are called by the metric's name as printed; one that only papers use
    stands in full: ``"NDCG@10"`` for N@10. Of a value in percent ``decimals`` are two more than
    printed.
    """

    system: str
    values: dict[str, float]
    decimals: dict[str, int]


@dataclass(frozen=True)
class PrintedTable:
    """A printed table, notes on how it was read, and n and m where a line says so."""

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
    A percent sign decides for its column, and so does ``(%)`` in the name: values without a sign
    beside signed ones must be above 1. Without a sign a column is in percent if most of its values
    are above 1 and none is less than a twentieth of the largest: 0.98 beside 51.23 is rather 98 %.
    A column with no value above 1 beside others in percent is read in the unit in which its metric
    can stand beside theirs: HR@1 = 0.85 is 0.85 % beside HR@10 = 6.50, and NDCG@10 = 0.392 is
    39.2 % beside HR@10 = 66.2. If it can in both, one table has one unit, if it prints as many
    decimals; what stays unclear is refused.

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
    PRINTED.check(len(text), "the table")
    text, n, m = lines_aside(text, "the table")
    lines = [row for row in typeset_rows(text) if not _RULE.fullmatch(row[1])]
    if len(lines) < 2:
        raise ReadError("the table has no values: write a line of names and one line per system")
    parts, above = _line_of_names(lines[:_ABOVE])
    rows: dict[str, Row] = {}
    no_systems: list[str] = []
    for place, line in lines[len(above) + 1 :]:
        if compared := [name for name in parts.leading(line) if compares(name)]:
            no_systems.append(compared[0])
            continue
        row = parts.cells(line, place)
        name = _MARKS.sub("", row[0]).strip()
        of_column = list(zip(parts.names, row, strict=True))[1:]
        cells = {x: cell for x, cell in of_column if x.metric is not None}
        if not name and not any(map(_HELD.search, cells.values())):
            # A second line of names would hide what the first one leaves open.
            if said := [cell for cell in row if not MISSING.fullmatch(cell.strip())]:
                raise ReadError(
                    f"line {place} of the table has no name and no value of a metric, but "
                    f"{said[0][:40]!r}: if it goes on with the names of line {parts.place}, write "
                    "them in one line"
                )
            continue
        name = name or f"line {place}"
        if name in rows:
            raise ReadError(f"line {place} of the table names {name!r} again: give it another name")
        found = {x: _number(cell, place, x) for x, cell in cells.items()}
        rows[name] = {x: cell for x, cell in found.items() if cell is not None}
    if not rows:
        raise ReadError("the table has no values: write one line per system below the names")
    percent = in_percent(parts.metrics, list(rows.values()))
    printed = [_row(name, row, percent) for name, row in rows.items()]
    return PrintedTable(printed, _notes(parts, above, no_systems, percent), n, m)


def _row(name: str, row: Row, percent: list[Heading]) -> PrintedRow:
    """A system with its values in 0..1."""
    more = {x: 2 * (x in percent) for x in row}
    values = {x.name: round(c.value / 10 ** more[x], _MOST_DECIMALS) for x, c in row.items()}
    decimals = {x.name: min(c.decimals + more[x], _MOST_DECIMALS) for x, c in row.items()}
    return PrintedRow(name, values, decimals)


def _notes(
    parts: Parting, above: list[str], no_systems: list[str], percent: list[Heading]
) -> list[str]:
    """What the reader should know."""
    said = {
        "Above the names, left out: ": above,
        "": [f"{x.printed} is read as {x.name}" for x in parts.metrics if x.name not in x.printed],
        "Left out, no metric known here: ": [
            x.printed for x in parts.names[1:] if x.metric is None
        ],
        "Left out, no system: ": no_systems,
    }
    notes = [f"{what}{', '.join(each).rstrip('.')}." for what, each in said.items() if each]
    if percent:
        verb = "is" if len(percent) == 1 else "are"
        notes.append(f"{', '.join(x.name for x in percent)} {verb} read in percent.")
    return notes


def _line_of_names(lines: list[tuple[int, str]]) -> tuple[Parting, list[str]]:
    """How the line of names parts the table, and what stands above it."""
    above: list[list[str]] = []
    for place, line in lines:
        parts = parting(line, place)
        if parts.metrics:
            _check_distinct(parts)
            return parts, [", ".join(filter(None, each)) for each in above]
        above.append([x.printed for x in parts.names])
    raise ReadError(
        f"line {lines[0][0]} of the table names no metric: found "
        f"{', '.join(map(repr, above[0][:8]))}; a line of names such as HR@10, NDCG@10, MRR or AUC "
        "stands above the values"
    )


def _check_distinct(parts: Parting) -> None:
    pairs = [(one, x) for i, x in enumerate(parts.metrics) for one in parts.metrics[:i]]
    for one, other in pairs:
        if one.metric == other.metric:
            same = one.printed == other.printed
            also = "" if same else f", as {one.printed} and {other.printed}"
            raise ReadError(
                f"line {parts.place} of the table names {other.name} more than once{also}: keep "
                "the columns of one evaluation"
            )


def _number(text: str, place: int, column: Heading) -> Cell | None:
    """A printed value, None for no value."""
    plain = _MARKS.sub("", text.strip()).strip()
    if MISSING.fullmatch(plain) and not re.search(r"\d", text):
        return None
    where = _where(place, column)
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


def typeset_rows(text: str) -> list[tuple[int, str]]:
    r"""Rows of a pasted table, each with its first line; with ``\\`` a row ends there."""
    latex = _ENDS.search(text) is not None
    found, place = [], 1
    for row in _ENDS.split(_COMMENT.sub("", text)) if latex else text.split("\n"):
        pieces = [_plain(line) for line in row.split("\n")]
        begun = next((i for i, piece in enumerate(pieces) if piece.strip()), 0)
        found.append((place + begun, " ".join(filter(str.strip, pieces))))
        place += row.count("\n") if latex else 1
    return [row for row in found if row[1]]


def _plain(line: str) -> str:
    """A piece of a line as it is read."""
    line = _NOTHING.sub(" ", line)
    line = _ACROSS.sub(lambda found: found[2] + " &" * (int(found[1]) - 1), line)
    line = _DOWN.sub(r"\1", line)
    line = line.replace(r"\&", _AND)
    for sign, plain in _SIGNS.items():
        line = line.replace(sign, plain)
    plain = re.sub(r"[${}]", "", _NAMED.sub("", line)).replace(_AND, "and")
    return re.sub(r" +(?=[&|])", " ", plain).strip(" ")


@dataclass(frozen=True)
class Heading:
    """A column: its name as printed, one that is known elsewhere, and what it says."""

    printed: str
    name: str
    metric: Metric | None
    percent: bool = False


def heading(printed: str) -> Heading:
    """What the name of a column means."""
    plain = _AT.sub("@", _ARROWS.sub(" ", printed)).strip()
    name, signs = _PERCENT.subn("", plain)
    name = name.strip()
    for known in (name, *(re.sub(short, full, name) for short, full in _ALSO)):
        try:
            return Heading(plain, known, parse_metric(known), bool(signs))
        except ValueError:
            continue
    return Heading(plain, plain, None)


def headings_of_words(line: str) -> list[Heading]:
    """Names parted by spaces, the first that of the systems: those of metrics may be of several."""
    words = _PERCENT.sub("(%)", _AT.sub("@", _ARROWS.sub(" ", line))).split()
    found = []
    while words:
        tried = ((size, heading(" ".join(words[:size]))) for size in range(_LONGEST, 0, -1))
        size, one = next((s, x) for s, x in tried if x.metric is not None or s == 1)
        found.append(one)
        words = words[size:]
    return systems_first(found)


def systems_first(found: list[Heading]) -> list[Heading]:
    """With one name for all that stands before the first metric."""
    before = next((i for i, each in enumerate(found) if each.metric is not None), 1)
    name = " ".join(each.printed for each in found[:before])
    return [Heading(name, name, None), *found[before:]]


def compares(name: str) -> bool:
    """Whether a line of this name compares systems and is none itself."""
    return _COMPARED.fullmatch(name.strip()) is not None


@dataclass(frozen=True)
class Parting:
    """How lines part: the columns, that of the systems first, and the sign between cells.

    Without a sign they part by spaces. ``place`` is the line of the names.
    """

    names: list[Heading]
    mark: str
    place: int

    @property
    def metrics(self) -> list[Heading]:
        """The columns that hold values."""
        return [x for x in self.names[1:] if x.metric is not None]

    def cells(self, line: str, place: int) -> list[str]:
        """The cells of a line, as many as there are names."""
        width = len(self.names)
        if self.mark:
            cells = _marked(line, self.mark)
            if len(cells) != width:
                raise ReadError(
                    f"line {place} of the table has {several(len(cells), 'cell')}, but line "
                    f"{self.place} names {several(width, 'column')}: complete it, or separate the "
                    "cells with tabs"
                )
            return cells
        for words in _spaced(line):
            name, values = words[: 1 - width], words[1 - width :]
            all_values = all(
                _VALUE.fullmatch(word)
                for word, column in zip(values, self.names[1:], strict=False)
                if column.metric is not None
            )
            if len(words) == width or (
                name and all_values and not any(map(_FRACTION.fullmatch, name[-1:]))
            ):
                return [" ".join(name), *values]
        named = ", ".join(each.printed for each in self.names[1:])
        raise ReadError(
            f"line {place} of the table does not end with {several(width - 1, 'value')}, one for "
            f"each column that line {self.place} names ({named}): separate the cells with tabs or "
            "commas"
        )

    def leading(self, line: str) -> list[str]:
        """What stands before the values of a line, however many there are."""
        if self.mark:
            first = next(i for i, each in enumerate(self.names) if i and each.metric is not None)
            return _marked(line, self.mark)[:first]
        words = _spaced(line)[-1]
        while words and _VALUE.fullmatch(words[-1]):
            words.pop()
        return [" ".join(words)]


def parting(line: str, place: int) -> Parting:
    """Part the table as this line of names parts."""
    mark = max("&|\t;", key=line.count)
    if not line.count(mark):
        mark = "," if "," in line else ""
    if mark:
        return Parting([heading(cell) for cell in _marked(line, mark)], mark, place)
    words = headings_of_words(line)
    wide = systems_first([heading(cell) for cell in _WIDE.split(line.strip())])
    metrics = [sum(each.metric is not None for each in names) for names in (wide, words)]
    return Parting(wide if metrics[0] == metrics[1] else words, mark, place)


def _marked(line: str, mark: str) -> list[str]:
    if mark == "|":
        line = line.strip().strip("|")
    return [cell.strip().strip('"').strip() for cell in line.split(mark)]


def _spaced(line: str) -> list[list[str]]:
    """Cells by wide spaces, and by any."""
    plain = _APART.sub("", _BEHIND.sub("", line))
    return [_WIDE.split(line.strip()), plain.split()]


class Cell(NamedTuple):
    """A value and its decimals as printed, whether it has a percent sign, and its line."""

    value: float
    decimals: int
    signed: bool
    place: int


Row = Mapping[Heading, Cell]


def in_percent(columns: Sequence[Heading], rows: Sequence[Row]) -> list[Heading]:
    """The columns in percent, by the rules that :func:`read_printed` tells."""
    cells = {x: [row[x] for row in rows if x in row] for x in columns}
    sure = [x for x in columns if x.percent or _signed(x, cells[x])]
    free = [x for x in columns if x not in sure]
    above = [x for x in free if any(cell.value > 1 for cell in cells[x])]
    most = [x for x in above if 2 * sum(c.value > 1 for c in cells[x]) > len(cells[x])]
    for one in above:
        _check_mix(one, cells[one], few=not sure and not most)
    percent = [*sure, *above]
    if percent:
        low = [x for x in free if x not in above and any(c.value for c in cells[x])]
        percent += [x for x in low if _as_others(x, percent, rows, bool(sure))]
    return [x for x in columns if x in percent]


def _signed(column: Heading, cells: list[Cell]) -> bool:
    """Whether percent signs decide the unit of a column."""
    sign = next((cell for cell in cells if cell.signed), None)
    bare = next((cell for cell in cells if not cell.signed and 0 < cell.value <= 1), None)
    if sign is not None and bare is not None:
        raise ReadError(
            f"{_where(bare.place, column)}: {bare.value:g} has no percent sign, but {sign.value:g} "
            f"% in line {sign.place} has: {_REMEDY}"
        )
    return sign is not None


def _check_mix(column: Heading, cells: list[Cell], *, few: bool) -> None:
    """Refuse values above 1 beside others that look like fractions, or if they are the fewer."""
    above = next(cell for cell in cells if cell.value > 1)
    values = [cell.value for cell in cells if cell.value]
    if few or (min(values) <= 1 and max(values) > _ABSURD * min(values)):
        least = min(cells, key=lambda cell: cell.value)
        raise ReadError(
            f"{_where(above.place, column)}: {above.value:g} is above 1, but {least.value:g} in "
            f"line {least.place} is not: correct one of them, or {_REMEDY}"
        )


def _as_others(
    column: Heading, percent: Sequence[Heading], rows: Sequence[Row], signs: bool
) -> bool:
    """Whether a column with no value above 1 is in percent as others are."""
    with_both = [(row, x) for row in rows for x in percent if column in row and x in row]
    pairs = [((column, row[column]), (x, row[x])) for row, x in with_both]
    fraction, same = (all(_fits(scale, *pair) for pair in pairs) for scale in (1.0, 0.01))
    if fraction != same:
        return same
    if signs:  # those in percent are said to be
        return False
    own = [row[column] for row in rows if column in row]
    theirs = [cell.decimals for row in rows for x, cell in row.items() if x in percent]
    if same and theirs and max(cell.decimals for cell in own) == max(theirs):
        return True
    raise ReadError(
        f"{_where(own[0].place, column)}: {own[0].value:g} may be a fraction or percent, as "
        f"{percent[0].printed} is: {_REMEDY}"
    )


def _fits(scale: float, one: tuple[Heading, Cell], other: tuple[Heading, Cell]) -> bool:
    """Whether a system can have these values: the first in a unit, the other in percent."""
    pair = [
        (x.metric, unit * cell.value, unit * 0.5 * 10.0**-cell.decimals)
        for (x, cell), unit in ((one, scale), (other, 0.01))
    ]
    return all(
        a - half <= _most(x, y) * _SLACK * (b + more)
        for (x, a, half), (y, b, more) in itertools.permutations(pair)
    )


def _most(metric: Metric | None, other: Metric | None) -> float:
    """How many times another metric of one relevant item a metric can be."""
    ranks = np.arange(1, _RANKS + 1)
    values, others = (np.asarray(x and x(ranks, _RANKS), float) for x in (metric, other))
    if np.any((others == 0) & (values > 0)):
        return np.inf
    seen = others > 0
    return float(np.max(values[seen] / others[seen]))


def _where(place: int, column: Heading) -> str:
    return f"line {place}, column {column.printed!r} of the table"
