"""From bytes to a table of named columns that still knows its line numbers."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from sampledash.readers.arrays import array_frame, load_array
from sampledash.readers.columns import Columns, columns_of
from sampledash.readers.contents import Kind, check_utf8
from sampledash.readers.errors import ReadError
from sampledash.readers.fast import fast_frame
from sampledash.readers.limits import check_careful, check_costly, check_ranks, lines_of
from sampledash.readers.parquet import parquet_frame

_FORMAT = {",": "CSV", ";": "semicolon-separated text", "\t": "TSV"}


@dataclass(frozen=True)
class Places:
    """Where the cells of a file are, as the user finds them.

    Attributes
    ----------
    name
        How messages call the file.
    headers
        Its columns.
    data, delimiter
        The source, kept to find line numbers; ``None`` where rows have none (Parquet, arrays).
    """

    name: str
    headers: tuple[str, ...]
    data: bytes | None = None
    delimiter: str = ","

    def place(self, row: int, column: int | None) -> str:
        """Where a cell is: ``ranks.csv, line 7, column 'rank'``."""
        where = f"{self.name}, {self.line(row)}"
        return where if column is None else f"{where}, column {self.headers[column]!r}"

    def line(self, row: int) -> str:
        """Line in an editor, header and blank lines included; otherwise the row from 1."""
        if self.data is None:
            return f"row {row + 1}"
        # Only needed for one message: the fast parser does not keep line numbers.
        records = itertools.islice(_records(self.data, self.delimiter), row + 1, None)
        line, _ = next(records, (row + 2, []))
        return f"line {line}"


@dataclass(frozen=True, eq=False)
class Table:
    """A parsed file.

    Attributes
    ----------
    columns
        Headers and their roles.
    frame
        The cells; its column labels are 0, 1, 2 ... A column that means nothing to us may lack.
    where
        Finds the place of a cell.
    kind
        What the file is, for the reader.
    """

    columns: Columns
    frame: pd.DataFrame
    where: Places
    kind: str

    @property
    def name(self) -> str:
        """How messages call it."""
        return self.where.name


def read_table(data: bytes, name: str, kind: Kind) -> Table:
    """Parse CSV, TSV, semicolon-separated text, Parquet or a numpy array."""
    if kind == "parquet":
        columns, frame = parquet_frame(data, name)
        return Table(columns, frame, Places(name, columns.headers), "Parquet")
    if kind == "array":
        headers, frame = array_frame(load_array(data, name), name)
        columns = columns_of([header.strip() for header in headers], name)
        check_costly(len(frame), name, columns.headers, columns.roles)
        return Table(columns, frame, Places(name, columns.headers), "a numpy array")
    return text_table(data, name)


def text_table(data: bytes, name: str) -> Table:
    """Parse separated text. The header decides the separator: comma, semicolon or tab."""
    check_utf8(data, name)
    start = next((line for line in _text(data) if line.strip()), "")
    delimiter = max(",;\t", key=start.count)
    records = _records(data, delimiter)
    line, header = next(records, (1, [""]))
    if not header:
        raise ReadError(
            f"{name}, line {line}: a name of a column is too long; look for a quotation mark that "
            "is not closed"
        )
    columns = columns_of([cell.strip() for cell in header], f"{name}, line {line}")
    rows = lines_of(data) - line
    check_costly(rows, name, columns.headers, columns.roles)
    if "rank" not in columns.roles:
        check_ranks(data.count(delimiter.encode()), name)
    first = next(records, None)
    if first is None:
        raise ReadError(f"{name} has a header line but no rows: add one line per rank")
    _check_width(name, first, len(header))
    frame = fast_frame(data, delimiter, columns, skip=line, name=name)
    if frame is None:
        check_careful(rows, name)
        frame = _careful(data, name, delimiter, columns, first, records)
    return Table(columns, frame, Places(name, columns.headers, data, delimiter), _FORMAT[delimiter])


def _careful(
    data: bytes,
    name: str,
    delimiter: str,
    columns: Columns,
    first: tuple[int, list[str]],
    records: Iterator[tuple[int, list[str]]],
) -> pd.DataFrame:
    """Parse whatever can be parsed; complain by the line about the rest."""
    # Labels stay as written, and so do fractions: not every pandas rounds them right.
    roles = ("system", "instance", "repetition", "count", "mass_above")
    text = {i: str for i, role in enumerate(columns.roles) if role in roles}
    width = len(columns.headers)
    try:
        return pd.read_csv(
            _text(data), sep=delimiter, header=0, names=list(range(width)),
            # Blank is missing and nothing else is: a user may be called "NA".
            keep_default_na=False, na_values=[""], dtype=text, low_memory=False,
        )  # fmt: skip
    except (pd.errors.ParserError, pd.errors.EmptyDataError, csv.Error) as error:
        last = first
        for last in records:
            _check_width(name, last, width)
        raise ReadError(
            f"{name}, line {last[0]}: the rest of the file cannot be split into columns; look for "
            "a quotation mark that is not closed"
        ) from error


def _text(data: bytes) -> io.TextIOWrapper:
    """The text as a stream, with or without a byte order mark; the bytes are not copied."""
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="")


def _records(data: bytes, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of each record; blank lines are skipped, as the fast parser does.

    A record with a cell longer than the csv module splits has none.
    """
    reader = csv.reader(_text(data), delimiter=delimiter)
    line = 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
            yield line, []
            line = reader.line_num + 1
            continue
        if len(cells) > 1 or (cells and cells[0].strip()):
            yield line, cells
        line = reader.line_num + 1


def _check_width(name: str, record: tuple[int, list[str]], width: int) -> None:
    line, cells = record
    if len(cells) > width:
        raise ReadError(
            f"{name}, line {line}: {len(cells)} cells where the header names {width} "
            "columns; quote cells that hold the separator, or complete the header"
        )
