"""From bytes to a table of named columns that still knows its line numbers."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import pandas as pd

from sampledash.readers.columns import Columns, columns_of
from sampledash.readers.contents import kind_of, text_of
from sampledash.readers.errors import ReadError


@dataclass(frozen=True, eq=False)
class Table:
    """A parsed file.

    Attributes
    ----------
    name
        How messages call it.
    columns
        Headers and their roles.
    frame
        The cells; its column labels are 0, 1, 2 ...
    text, delimiter
        The source, kept to find line numbers; ``None`` for Parquet.
    """

    name: str
    columns: Columns
    frame: pd.DataFrame
    text: str | None = None
    delimiter: str = ","

    def place(self, row: int, column: int | None) -> str:
        """Where a cell is, as the user finds it: ``ranks.csv, line 7, column 'rank'``."""
        where = f"{self.name}, {self.line(row)}"
        return where if column is None else f"{where}, column {self.columns.headers[column]!r}"

    def line(self, row: int) -> str:
        """Line in an editor, header and blank lines included; for Parquet the row from 1."""
        if self.text is None:
            return f"row {row + 1}"
        # Only needed for one message: the fast parser does not keep line numbers.
        records = itertools.islice(_records(self.text, self.delimiter), row + 1, None)
        line, _ = next(records, (row + 2, []))
        return f"line {line}"


def read_table(data: bytes, name: str) -> Table:
    """Parse CSV, TSV, semicolon-separated text or Parquet, by content and name."""
    if kind_of(data, name) == "parquet":
        return _parquet(data, name)
    return text_table(text_of(data, name), name)


def text_table(text: str, name: str) -> Table:
    """Parse separated text. The header decides the separator: comma, semicolon or tab."""
    start = next((line for line in io.StringIO(text) if line.strip()), "")
    delimiter = max(",;\t", key=start.count)
    records = _records(text, delimiter)
    line, header = next(records, (1, []))
    columns = columns_of([cell.strip() for cell in header], f"{name}, line {line}")
    first = next(records, None)
    if first is None:
        raise ReadError(f"{name} has a header line but no rows: add one line per rank")
    _check_width(name, first, len(header))
    labels = {i: str for i in (columns.find("system"), columns.find("instance")) if i is not None}
    try:
        frame = pd.read_csv(
            io.StringIO(text), sep=delimiter, header=0, names=list(range(len(header))),
            # Blank is missing and nothing else is: a user may be called "NA".
            keep_default_na=False, na_values=[""], dtype=labels, low_memory=False,
        )  # fmt: skip
    except (pd.errors.ParserError, pd.errors.EmptyDataError, csv.Error) as error:
        last = first
        for last in records:
            _check_width(name, last, len(header))
        raise ReadError(
            f"{name}, line {last[0]}: the rest of the file cannot be split into columns; look for "
            "a quotation mark that is not closed"
        ) from error
    return Table(name, columns, frame, text, delimiter)


def _records(text: str, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Line number and cells of each record; blank lines are skipped, as the fast parser does."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    line = 1
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error:
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


def _parquet(data: bytes, name: str) -> Table:
    try:
        frame = pd.read_parquet(io.BytesIO(data))
    except ImportError as error:
        raise ReadError(f"{name}: reading Parquet needs pyarrow; install it or use CSV") from error
    except Exception as error:  # pyarrow raises many kinds, also OSError and KeyError
        raise ReadError(
            f"{name} cannot be read as Parquet: it is damaged, cut off, or names a column twice; "
            "write it again, or use CSV"
        ) from error
    if any(level is not None for level in frame.index.names):
        frame = frame.reset_index()
    headers = [str(column).strip() for column in frame.columns]
    columns = columns_of(headers, name)
    if len(frame) == 0:
        raise ReadError(f"{name} has columns but no rows: add one row per rank")
    frame.columns = pd.RangeIndex(len(headers))
    return Table(name, columns, frame)
