"""Lines of a printed table parted into cells, by a sign or by spaces."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sampledash.readers.errors import ReadError
from sampledash.readers.headings import Heading, heading, headings_of_words, systems_first
from sampledash.readers.rows import several

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


@dataclass(frozen=True)
class Parting:
    """How the lines of a table part.

    Attributes
    ----------
    names
        Of the columns, the first that of the systems.
    mark
        The sign between the cells; none: spaces.
    place
        The line of the names.
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
        raise ReadError(
            f"line {place} of the table does not end with {several(width - 1, 'value')}, one for "
            f"each column that line {self.place} names ({_listed(self.names[1:])}): separate the "
            "cells with tabs or commas"
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
    return Parting(wide if _metrics(wide) == _metrics(words) else words, mark, place)


def _metrics(names: list[Heading]) -> int:
    return sum(each.metric is not None for each in names)


def _marked(line: str, mark: str) -> list[str]:
    if mark == "|":
        line = line.strip().strip("|")
    return [cell.strip().strip('"').strip() for cell in line.split(mark)]


def _spaced(line: str) -> list[list[str]]:
    """Cells by wide spaces, and by any."""
    plain = _APART.sub("", _BEHIND.sub("", line))
    return [_WIDE.split(line.strip()), plain.split()]


def _listed(names: list[Heading]) -> str:
    return ", ".join(each.printed for each in names)
