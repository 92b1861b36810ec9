"""Read a table of results pasted from a paper: LaTeX, Markdown, CSV, or columns of a PDF."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import NamedTuple

from sampledash.checks import not_a_number
from sampledash.metrics import Metric, parse_metric
from sampledash.readers.pasted import settings_aside
from sampledash.readers.upload_limits import PRINTED, ReadError

# Patterns of LaTeX, which are used to turn the rows of a typeset table into plain text.
_GROUP = r"\{(?:[^{}]|\{[^{}]*\})*\}"
_OPTION = r"(?:\[[^]]*\])?"
_ENDS = re.compile(rf"\\\\{_OPTION}")  # the end of a row in LaTeX
_COMMENT = re.compile(r"(?<!\\)%.*")
# LaTeX commands that are removed together with their arguments.
_NOTHING = re.compile(
    rf"\\(?:begin|end)\{{[^}}]*\}}{_OPTION}(?:{_GROUP})*"
    rf"|\\(?:caption|label|cite\w*|ref|footnote\w*|rowcolor|cellcolor|vspace|hspace|cline|cmidrule"
    rf"|setlength|renewcommand|resizebox|scalebox|color)\*?{_OPTION}(?:\([^)]*\))?(?:\s*{_GROUP})*"
)
_ACROSS = re.compile(rf"\\multicolumn\s*\{{(\d+)\}}\s*{_GROUP}\s*({_GROUP})")
_DOWN = re.compile(rf"\\multirow\s*{_OPTION}{_GROUP}\s*{_GROUP}\s*({_GROUP})")
_NAMED = re.compile(r"\\(?!pm\b)[a-zA-Z]+\*?")
# Patterns in the names of columns: arrows and a percent sign.
_ARROWS = re.compile(r"\(\s*[↑↓⬆⬇]\s*\)|[↑↓⬆⬇]\ufe0f?")
_PERCENT = re.compile(r"(?i)\s*[(\[]\s*(?:in\s+)?(?:%|percent)\s*[)\]]")
# Patterns of short names of metrics, and their replacements: H@10 becomes HR@10, N@10 becomes
# NDCG@10, and HR10 becomes HR@10.
_ALSO = ((r"(?i)^h@", "HR@"), (r"(?i)^n@", "NDCG@"), (r"^([A-Za-z]{2,})(\d+)$", r"\1@\2"))
# Matches the first cell of lines that hold no system, such as "Improv.", "Rel. Gain" and "p-value".
_COMPARED = re.compile(
    r"(?i)\W*((?:(?:rel|abs|av|max)[a-z]*\.?\s+)?"
    r"(?:(?:improv(?:ements?)?|impr?|gains?|delta|significance)\b(?!-)|[Δ∆]|p[\s-]?val)"
    r"[^\t,;&|\d+-]*)"
)
_MISSING = re.compile(r"(?i)(?:\\?[-–—−]+|n\.?/?a\.?|nan)?")  # matches a cell without a value
# A standard deviation after a value.
_BEHIND = re.compile(r"(?<=[\d%])\s*(?:\([\d.,±%]+\)|(?:±|\+/-|\\pm)\s*[\d.,]+)")
# Footnote marks and emphasis in a name or value; standard deviation or parentheses at its end.
_MARKS = re.compile(r"(?:±|\+/-|\\pm).*$|[*†‡§^↑↓]+|(?<![^\W_])_+|_+(?![^\W_])|\((?:[^)]*)\)\s*$")
_DECIMAL = re.compile(r"[\W_]*\d*[.,]\d")  # the beginning of a number with a decimal point
_NUMBER = re.compile(r"[+-]?[0-9]*(?:[.,][0-9]+)?\s*%?")
_ASIDE = re.compile(r"\([^)]*\)")
_RULE = re.compile(r"[\s|:+=,;&-]*")  # a line without words, such as |---|---|
_TITLE = re.compile(r"\s*#+\s*(?![nm]\s*[=:])(.*\S)\s*")  # the title of a table, such as "# Yelp"
_ABOVE = 4  # the column names must be in one of the first four lines
_MOST_DECIMALS = 12  # papers print fewer decimals; further decimals are floating-point errors


@dataclass(frozen=True)
class PrintedRow:
    """One system of a printed table.

    ``values`` maps the name of each metric to a value in 0..1; short names are replaced by full
    names, such as ``"NDCG@10"`` for N@10. ``decimals`` gives the number of decimals of each value
    in 0..1, such as 4 for 66.24 %, which is 0.6624.
    """

    system: str
    values: dict[str, float]
    decimals: dict[str, int]


@dataclass(frozen=True)
class PrintedTable:
    """A printed table, notes on how it was read, and n and m if the text gives them.

    n is the number of candidates, and m the number of sampled negatives.
    """

    rows: list[PrintedRow]
    notes: list[str]
    n: int | None = None
    m: int | None = None
    title: str = ""  # title of the table, from a line such as "# Yelp" above it


def read_tables(text: str) -> list[PrintedTable]:
    r"""Read one or several pasted tables, such as one for each data set.

    A line such as ``# Yelp`` gives the title of the table below. Lines above the first title may
    set n and m for every table.

    Examples
    --------
    >>> tables = read_tables("m = 99\n# A\nModel HR@1\nx 0.2\n# B\nn = 500\nModel AUC\nx 0.9")
    >>> [(table.title, table.n, table.m, table.rows[0].values) for table in tables]
    [('A', None, 99, {'HR@1': 0.2}), ('B', 500, 99, {'AUC': 0.9})]
    """
    lines = text.splitlines()
    titles = {place: match[1] for place, x in enumerate(lines) if (match := _TITLE.fullmatch(x))}
    if not titles:
        return [read_printed(text)]
    starts = list(titles)
    if len({*titles.values()}) < len(titles):
        raise ReadError("two tables have the same title: give each line # a title of its own")
    above, n, m = settings_aside("\n".join(lines[: starts[0]]), "the text above the first table")
    if above.strip():
        raise ReadError(f"line 1 to {starts[0]} of the text: write a title, # and a name, above it")
    tables = []
    for start, end in pairwise([*starts, len(lines)]):
        # Put empty lines in place of the text above, so that errors name the right line numbers.
        table = read_printed("\n" * (start + 1) + "\n".join(lines[start + 1 : end]))
        tables.append(replace(table, n=table.n or n, m=table.m or m, title=titles[start]))
    return tables


def read_printed(text: str) -> PrintedTable:
    r"""Read a pasted table, and n and m if a line above or below the table gives them.

    Parameters
    ----------
    text
        Cells separated by ``&``, ``|``, tabs, semicolons, commas or spaces. Values are as printed:
        their digits tell how they were rounded. Bold, daggers and ``± ...`` are dropped. Columns of
        unknown metrics, and lines that hold no system (Improv., p-value), are left out. A
        cell without a value is blank, a dash or N/A. A line may set ``m = 99, n = 1000``.

    Raises
    ------
    ReadError
        A ``ValueError`` that names the line, the column, the value and the remedy.

    Notes
    -----
    A column is in percent if its name has ``(%)``, if one of its values has a percent sign, or if
    one of its values is above 1. All other columns hold fractions.

    A positive value up to 1 without a percent sign could be a fraction or in percent. If the name
    of its column has ``(%)``, it is read as percent. If its column is in percent for another
    reason, it is refused. In a column of fractions, it is read as a fraction; but it is refused if
    another column has values above 1 and the whole table has no percent sign.

    Examples
    --------
    >>> table = read_printed("m = 99, n = 1000\nModel H@10\nBPR 0.66\nImprov. 3%")
    >>> table.rows[0].values, table.n, table.m
    ({'HR@10': 0.66}, 1000, 99)
    >>> table.notes
    ['H@10 is read as HR@10.', 'Left out, no system: Improv.']
    >>> row = read_printed("Model & HR@10 (\\%) & NDCG@10 \\\\ \nBPR & 66.24 & 0.392 \\\\").rows[0]
    >>> row.values, row.decimals
    ({'HR@10': 0.6624, 'NDCG@10': 0.392}, {'HR@10': 4, 'NDCG@10': 3})
    """
    PRINTED.check(len(text), "the table")
    text, n, m = settings_aside(text, "the table")
    lines = [row for row in typeset_rows(text) if not _RULE.fullmatch(row[1])]
    if len(lines) < 2:
        raise ReadError("the table has no values: write a line of names and one line per system")
    partings = [parting(line, place) for place, line in lines[:_ABOVE]]
    parts = next((x for x in partings if x.metrics), None)
    if parts is None:
        there = f"found {lines[0][1][:80]!r}; a line such as Model, HR@10, MRR is needed"
        raise ReadError(f"line {lines[0][0]} of the table names no metric: {there}")
    metrics = [x.metric for x in parts.metrics]
    if twice := [x.printed for x in parts.metrics if metrics.count(x.metric) > 1]:
        again = f"names a metric twice, {', '.join(twice)}: keep one"
        raise ReadError(f"line {parts.place} of the table {again}")
    above = partings.index(parts)
    rows: dict[str, Row] = {}
    no_systems, no_values = list[str](), list[str]()
    for place, line in lines[above + 1 :]:
        if compared := _COMPARED.match(line):
            no_systems.append(compared[1].strip())
            continue
        row = parts.cells(line, place)
        name = _MARKS.sub("", row[0]).strip()
        if not name:
            advice = "name it, or write all column names in one line"
            raise ReadError(f"line {place} of the table, {line[:40]!r}, names no system: {advice}")
        if name in rows:
            raise ReadError(f"line {place} of the table names {name!r} again: give it another name")
        cells = list(zip(parts.names, row, strict=True))[1:]
        values = {x: _number(cell, place, x) for x, cell in cells if x.metric is not None}
        if any(values.values()):
            rows[name] = {x: cell for x, cell in values.items() if cell is not None}
        else:
            no_values.append(name)
    if not rows:
        raise ReadError("the table has no values: write one line per system below the names")
    percent = in_percent(parts.metrics, list(rows.values()))
    printed = [_row(name, row, percent) for name, row in rows.items()]
    renamed = [f"{x.printed} is read as {x.name}" for x in parts.metrics if x.name not in x.printed]
    listed = {
        "Above the names, left out: ": [line.strip("& |") for _, line in lines[:above]],
        "": renamed,
        "Left out, no metric known here: ": [x.printed for x in parts.names[1:] if not x.metric],
        "Left out, no system: ": no_systems,
        "Left out, no value: ": no_values,
        "Read in percent: ": [x.name for x in percent],
    }
    notes = [f"{what}{', '.join(names).rstrip('.')}." for what, names in listed.items() if names]
    return PrintedTable(printed, notes, n, m)


def _row(name: str, row: Row, percent: list[Heading]) -> PrintedRow:
    """Return one system of the table.

    Values in the columns ``percent``, which are printed in percent, are converted to 0..1.
    """
    more = {x: 2 * (x in percent) for x in row}
    values = {x.name: round(c.value / 10 ** more[x], _MOST_DECIMALS) for x, c in row.items()}
    decimals = {x.name: min(c.decimals + more[x], _MOST_DECIMALS) for x, c in row.items()}
    return PrintedRow(name, values, decimals)


def _number(text: str, place: int, column: Heading) -> Cell | None:
    """Parse the value in a cell of a printed table; None if the cell is blank, a dash or N/A."""
    plain = _MARKS.sub("", text.strip()).strip()
    if _MISSING.fullmatch(plain) and not re.search(r"\d", text):
        return None
    if not re.search("[0-9]", plain) or not _NUMBER.fullmatch(plain):
        wrong = f"{not_a_number(text)}; write 0.6624, or - for none"
        raise ReadError(f"{_where(place, column)}: {wrong}")
    number = plain.rstrip(" %").replace(",", ".")
    if not 0 <= float(number) <= 100:
        wrong = f"{text[:40]!r} is not in 0..100 %; correct or remove it"
        raise ReadError(f"{_where(place, column)}: {wrong}")
    return Cell(float(number), len(number.partition(".")[2]), "%" in _ASIDE.sub("", text), place)


def typeset_rows(text: str) -> list[tuple[int, str]]:
    r"""Return the rows of a pasted table with their line numbers; in LaTeX, ``\\`` ends a row."""
    latex = _ENDS.search(text) is not None
    rows, place = [], 1
    for row in _ENDS.split(_COMMENT.sub("", text)) if latex else text.split("\n"):
        pieces = [_plain(line) for line in row.split("\n")]
        if filled := [i for i, piece in enumerate(pieces) if piece.strip()]:
            rows.append((place + filled[0], " ".join(pieces[i] for i in filled)))
        place += row.count("\n") if latex else 1
    return rows


def _plain(line: str) -> str:
    """Return a line as plain text, without the commands of LaTeX."""
    line = _NOTHING.sub(" ", line)
    line = _ACROSS.sub(lambda match: match[2] + " &" * (int(match[1]) - 1), line)
    line = _DOWN.sub(r"\1", line)
    line = line.replace(r"\&", "and").replace(r"\Delta", "Δ")
    line = re.sub(r"\\([%_#])", r"\1", re.sub(r"\\[, ]|~", " ", line))
    return re.sub(r" +(?=[&|])", " ", re.sub(r"\\?[${}]", "", _NAMED.sub("", line))).strip(" ")


@dataclass(frozen=True)
class Heading:
    """A column: name as printed and in full, metric or None, whether ``(%)`` is in the header."""

    printed: str
    name: str
    metric: Metric | None
    percent: bool = False


def heading(printed: str) -> Heading:
    """Return the :class:`Heading` of a column from its printed name, such as ``N@10 (%)``."""
    plain = _ARROWS.sub(" ", printed).strip()
    name, signs = _PERCENT.subn("", plain)
    name = name.strip()
    for known in (name, *(re.sub(short, full, name) for short, full in _ALSO)):
        try:
            return Heading(plain, known, parse_metric(known), bool(signs))
        except ValueError:
            continue
    return Heading(plain, plain, None)


@dataclass(frozen=True)
class Parting:
    """The columns of a printed table, and the separator of its cells.

    ``names`` holds the headings of the columns; the first column holds the systems. ``mark`` is the
    separator; if empty, spaces separate cells. ``place`` is the line number of the column names.
    """

    names: list[Heading]
    mark: str
    place: int

    @property
    def metrics(self) -> list[Heading]:
        """The headings of the columns that hold values of a metric."""
        return [x for x in self.names[1:] if x.metric is not None]

    def cells(self, line: str, place: int) -> list[str]:
        """Return the cells of a line; refuse a line that does not have one cell per column."""
        width = len(self.names)
        if self.mark:
            cells = _marked(line, self.mark)
        else:
            words = _BEHIND.sub("", line).split()
            name, values = words[: 1 - width], words[1 - width :]
            more = len(words) > width and _DECIMAL.match(name[-1])
            cells = [" ".join(name), *values] if name and not more else []
        if len(cells) != width:
            raise ReadError(
                f"line {place} of the table has not one cell for each of the {width} columns that "
                f"line {self.place} names ({', '.join(x.printed for x in self.names[:8])}): "
                "complete it, or separate the cells with tabs or commas"
            )
        return cells


def parting(line: str, place: int) -> Parting:
    """Find the columns of a table, and the separator of cells, in its line of column names."""
    mark = max("&|\t;", key=line.count)
    if not line.count(mark):
        mark = "," if "," in line else ""
    if mark:
        return Parting([heading(cell) for cell in _marked(line, mark)], mark, place)
    names = [heading(word) for word in _PERCENT.sub("(%)", _ARROWS.sub(" ", line)).split()]
    # All words before the first metric form the name of the first column.
    before = next((i for i, x in enumerate(names) if x.metric is not None), 1)
    name = " ".join(x.printed for x in names[:before])
    return Parting([Heading(name, name, None), *names[before:]], mark, place)


def _marked(line: str, mark: str) -> list[str]:
    if mark == "|":
        line = line.strip().strip("|")
    return [cell.strip().strip('"').strip() for cell in line.split(mark)]


class Cell(NamedTuple):
    """A printed value, its number of decimals, whether it has a percent sign, and its line."""

    value: float
    decimals: int
    signed: bool
    place: int


Row = Mapping[Heading, Cell]


def in_percent(columns: Sequence[Heading], rows: Sequence[Row]) -> list[Heading]:
    """Return the columns whose values are in percent, by the rule in :func:`read_printed`."""
    cells = {x: [row[x] for row in rows if x in row] for x in columns}
    signed = [x for x in columns if x.percent or any(cell.signed for cell in cells[x])]
    above = [x for x in columns if any(cell.value > 1 for cell in cells[x])]
    for x in columns:
        low = next((c for c in cells[x] if 0 < c.value <= 1 and not c.signed), None)
        unclear = x in signed or x in above or (above and not signed)
        if low is not None and unclear and not x.percent:
            high = next(c for y in (x, *above) for c in cells[y] if c.signed or c.value > 1)
            raise ReadError(
                f"{_where(low.place, x)}: {low.value:g} may be a fraction or percent, as "
                f"{high.value:g} in line {high.place} is: write % with every value that is in "
                "percent, or (%) behind the name of a column that is, and the others in 0..1"
            )
    return [x for x in columns if x in signed or x in above]


def _where(place: int, column: Heading) -> str:
    return f"line {place}, column {column.printed!r} of the table"
