"""A table as a paper prints it, pasted: LaTeX, Markdown, CSV, or columns of a PDF."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

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
_SHORT = {"h": "HR", "n": "NDCG"}  # with a cutoff
_NO_SIGN = re.compile(r"([A-Za-z]{2,})(\d+)")  # HR10
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
        pairs = list(zip(parts.names, row, strict=True))[1:]
        if not name and not any(x.metric and _HELD.search(cell) for x, cell in pairs):
            # A second line of names would hide what the first one leaves open.
            if said := [cell for cell in row if not MISSING.fullmatch(cell.strip())]:
                raise ReadError(
                    f"line {place} of the table has no name and no value of a metric, but "
                    f"{said[0][:40]!r}: if it goes on with the names of line {parts.place}, write "
                    "them in one line"
                )
            continue
        name = name or f"line {place}"
        if name in names:
            raise ReadError(f"line {place} of the table names {name!r} again: give it another name")
        names.append(name)
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


def _row(name: str, row: Row, percent: list[str]) -> PrintedRow:
    values, decimals = {}, {}
    for metric, cell in row.items():
        if cell is not None:
            hundred = metric in percent
            values[metric] = round(cell.value / (100 if hundred else 1), _MOST_DECIMALS)
            decimals[metric] = min(cell.decimals + 2 * hundred, _MOST_DECIMALS)
    return PrintedRow(name, values, decimals)


def _notes(
    parts: Parting, above: list[str], no_systems: list[str], percent: list[str]
) -> list[str]:
    """What the reader should know."""
    known = [x for x in parts.names[1:] if x.metric is not None]
    left = [x.printed for x in parts.names[1:] if x.metric is None]
    short = [f"{x.printed} is read as {x.name}" for x in known if x.name not in x.printed]
    said = {
        "Above the names, left out: ": above,
        "": short,
        "Left out, no metric known here: ": left,
        "Left out, no system: ": no_systems,
    }
    notes = [f"{what}{', '.join(each).rstrip('.')}." for what, each in said.items() if each]
    if percent:
        verb = "is" if len(percent) == 1 else "are"
        notes.append(f"{', '.join(percent)} {verb} read in percent.")
    return notes


def _from_names(lines: list[tuple[int, str]]) -> tuple[Parting, list[tuple[int, str]], list[str]]:
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
    plain = _MARKS.sub("", text.strip()).strip()
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


def typeset_rows(text: str) -> list[tuple[int, str]]:
    r"""Rows of a pasted table, each with its first line; with ``\\`` a row ends there."""
    found: list[tuple[int, str]] = []
    latex, begun, held = _ENDS.search(text) is not None, 0, ""
    for place, line in enumerate(text.splitlines(), start=1):
        if not latex:
            found.append((place, _plain(line)))
            continue
        *done, rest = _ENDS.split(_COMMENT.sub("", line))
        for part in [*done, None]:
            more = _plain(rest if part is None else part)
            if more.strip() and not held.strip():
                begun = place
            held = f"{held} {more}".strip()
            if part is not None:
                found.append((begun, held))
                held = ""
    return [row for row in [*found, (begun, held)] if row[1].strip(" ")]


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
    names = [name.strip()]
    short, _, cutoff = names[0].partition("@")
    if cutoff and short.lower() in _SHORT:
        names.append(f"{_SHORT[short.lower()]}@{cutoff}")
    if without := _NO_SIGN.fullmatch(names[0]):
        names.append(f"{without[1]}@{without[2]}")
    for known in names:
        try:
            return Heading(plain, known, parse_metric(known), bool(signs))
        except ValueError:
            continue
    return Heading(plain, plain, None)


def headings_of_words(line: str) -> list[Heading]:
    """Names parted by spaces, the first that of the systems: those of metrics may be of several."""
    words = _PERCENT.sub("(%)", _AT.sub("@", _ARROWS.sub(" ", line))).split()
    found, place = [], 0
    while place < len(words):
        parts = [" ".join(words[place : place + size]) for size in range(_LONGEST, 0, -1)]
        tried = [heading(part) for part in parts]
        sizes = [i for i, each in enumerate(tried) if each.metric is not None]
        taken = sizes[0] if sizes else _LONGEST - 1
        found.append(tried[taken])
        place += _LONGEST - taken
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


@dataclass(frozen=True)
class Cell:
    """A value and its decimals as printed, whether it has a percent sign, and its line."""

    value: float
    decimals: int
    signed: bool
    place: int


Row = Mapping[str, Cell | None]


def in_percent(columns: Sequence[Heading], rows: Sequence[Row]) -> list[str]:
    """Names of the columns in percent, by the rules that :func:`read_printed` tells."""
    cells = {x.name: [c for row in rows if (c := row[x.name]) is not None] for x in columns}
    sure = [x for x in columns if x.percent or _signed(x, cells[x.name])]
    free = [x for x in columns if x not in sure]
    above = [x for x in free if any(cell.value > 1 for cell in cells[x.name])]
    most = [x for x in above if 2 * sum(c.value > 1 for c in cells[x.name]) > len(cells[x.name])]
    for one in above:
        _check_mix(one, cells[one.name], alone=not sure and not most)
    percent = [*sure, *above]
    if percent:
        low = [x for x in free if x not in above and any(c.value for c in cells[x.name])]
        percent += [x for x in low if _as_others(x, percent, rows, bool(sure))]
    return [x.name for x in columns if x in percent]


def _signed(column: Heading, cells: list[Cell]) -> bool:
    """Whether percent signs decide the unit of a column."""
    sign = next((cell for cell in cells if cell.signed), None)
    for cell in cells:
        if sign is not None and not cell.signed and 0 < cell.value <= 1:
            raise ReadError(
                f"{_where(cell, column)}: {cell.value:g} has no percent sign, but {sign.value:g} % "
                f"in line {sign.place} has: {_REMEDY}"
            )
    return sign is not None


def _check_mix(column: Heading, cells: list[Cell], *, alone: bool) -> None:
    """Refuse values above 1 beside others that look like fractions."""
    above = [cell for cell in cells if cell.value > 1]
    few = alone and 2 * len(above) <= len(cells)
    values = [cell.value for cell in cells if cell.value]
    if few or (min(values) <= 1 and max(values) > _ABSURD * min(values)):
        least = min(cells, key=lambda cell: cell.value)
        raise ReadError(
            f"{_where(above[0], column)}: {above[0].value:g} is above 1, but {least.value:g} in "
            f"line {least.place} is not: correct one of them, or {_REMEDY}"
        )


def _as_others(
    column: Heading, percent: Sequence[Heading], rows: Sequence[Row], signs: bool
) -> bool:
    """Whether a column with no value above 1 is in percent as others are."""
    fraction, same = (
        all(_fits(column, scale, other, row) for other in percent for row in rows)
        for scale in (1.0, 0.01)
    )
    if fraction != same:
        return same
    if signs:  # those in percent are said to be
        return False
    own = [cell for row in rows if (cell := row[column.name]) is not None]
    theirs = [cell for row in rows for x in percent if (cell := row[x.name]) is not None]
    if same and max(c.decimals for c in own) == max(c.decimals for c in theirs):
        return True
    raise ReadError(
        f"{_where(own[0], column)}: {own[0].value:g} may be a fraction or percent, as "
        f"{percent[0].printed} is: {_REMEDY}"
    )


def _fits(column: Heading, scale: float, other: Heading, row: Row) -> bool:
    """Whether two metrics of a system can have these values together."""
    one, two = row[column.name], row[other.name]
    if one is None or two is None or column.metric is None or other.metric is None:
        return True
    a, half_a = scale * one.value, scale * 0.5 * 10.0**-one.decimals
    b, half_b = two.value / 100, 0.5 * 10.0 ** -(two.decimals + 2)
    most_a = _most(column.metric, other.metric) * _SLACK * (b + half_b)
    most_b = _most(other.metric, column.metric) * _SLACK * (a + half_a)
    return a - half_a <= most_a and b - half_b <= most_b


def _most(metric: Metric, other: Metric) -> float:
    """How many times another metric of one relevant item a metric can be."""
    ranks = np.arange(1, _RANKS + 1)
    values, others = (np.asarray(x(ranks, _RANKS), dtype=np.float64) for x in (metric, other))
    if np.any((others == 0) & (values > 0)):
        return np.inf
    seen = others > 0
    return float(np.max(values[seen] / others[seen]))


def _where(cell: Cell, column: Heading) -> str:
    return f"line {cell.place}, column {column.printed!r} of the table"
