"""From text to a table of named columns: by pyarrow if large and plain, otherwise by pandas."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute
from pyarrow import csv as arrow_csv

from sampledash.readers.columns import Role, Source, compact, records, source_of, stream
from sampledash.readers.contents import check_utf8
from sampledash.readers.errors import ReadError
from sampledash.readers.limits import CAREFUL, LABELS, RANKS, lines_of

SMALL = 2**20  # bytes; below, pyarrow gains nothing
_BLOCK = 4 * 2**20  # bytes parsed at a time
_FORMAT = {",": "CSV", ";": "semicolon-separated text", "\t": "TSV"}

Holds = Literal["whole", "real", "few", "many"]  # numbers, text of few kinds, labels
_HOLDS: dict[Role, Holds] = {
    "rank": "whole", "n_candidates": "whole", "negatives": "whole", "ties": "whole",
    "count": "real", "mass_above": "real", "system": "few", "repetition": "few",
    "adaptive": "few", "instance": "many",
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Table:
    """A parsed file.

    Attributes
    ----------
    source
        Its name, headers and lines.
    frame
        The cells; its column labels are 0, 1, 2 ... A column that means nothing to us may lack.
    kind
        What the file is, for the reader.
    """

    source: Source
    frame: pd.DataFrame
    kind: str


def text_table(data: bytes, name: str) -> Table:
    """Parse separated text. The header decides the separator: comma, semicolon or tab."""
    check_utf8(data, name)
    start = next((line for line in stream(data) if line.strip()), "")
    delimiter = max(",;\t", key=start.count)
    rest = records(data, delimiter)
    line, header = next(rest, (1, [""]))
    if not header:
        raise ReadError(
            f"{name}, line {line}: a name of a column is too long; look for a quotation mark that "
            "is not closed"
        )
    source = source_of(name, header, line, data=data, delimiter=delimiter)
    rows = lines_of(data) - line
    source.check_rows(rows)
    if "rank" not in source.roles:
        RANKS.check(data.count(delimiter.encode()), name)
    second = next(rest, None)
    if second is None:
        raise ReadError(f"{name} has a header line but no rows: add one line per rank")
    _check_width(source, second)
    frame = _fast_frame(source, line)
    if frame is None:
        CAREFUL.check(rows, name)
        frame = _careful_frame(source, second, rest)
    return Table(source, frame, _FORMAT[delimiter])


def _fast_frame(source: Source, skip: int) -> pd.DataFrame | None:
    """Columns with a role of a large file with one row per rank, by pyarrow."""
    data, headers = source.data or b"", source.headers
    broken = any("\n" in header or "\r" in header for header in headers)
    if len(data) < SMALL or "rank" not in source.roles or broken:
        return None
    holds = {i: None if role is None else _HOLDS[role] for i, role in enumerate(source.roles)}
    return arrow_frame(
        data, source.delimiter, holds, lambda i: f"{source.name}, column {headers[i]!r}", skip=skip
    )


def arrow_frame(
    data: bytes,
    delimiter: str,
    holds: Mapping[Any, Holds | None],
    where: Callable[[Any], str],
    *,
    skip: int = 0,
    quoted: bool = True,
) -> pd.DataFrame | None:
    """Parse text by pyarrow, several times as fast, where nothing is blank or unusual.

    It only ever takes over what it reads exactly as the careful parser would; the rest, for which
    that one also finds the words, is None.

    Parameters
    ----------
    data, delimiter
        UTF-8, with or without a byte order mark, and what separates its cells.
    holds
        What each column holds; ``None`` for one that is not read.
    where
        Column -> its place, to refuse too many labels.
    skip
        Lines up to and including the header.
    quoted
        Whether quotation marks are signs.

    Returns
    -------
    Numbers as :func:`compact` arrays, text as categories, and labels as integers if all of them are
    plain ones.
    """
    # Single bytes are found much faster than pairs.
    if any(x in data and b"0" + x in data for x in (b"x", b"X")):
        return None  # hexadecimal numbers would be understood
    quotes = quoted and b'"' in data
    types = {
        "whole": pa.int64(), "real": pa.float64(), "many": pa.string(),
        "few": pa.dictionary(pa.int32(), pa.string()),
    }  # fmt: skip
    wanted = {str(name): types[kind] for name, kind in holds.items() if kind is not None}
    pieces: dict[str, list[Any]] = {name: [] for name in wanted}
    try:
        # Block by block: the whole of it at once is there sooner, but takes three times the room.
        with arrow_csv.open_csv(
            pa.BufferReader(data),
            read_options=arrow_csv.ReadOptions(
                column_names=[str(name) for name in holds], skip_rows=skip, block_size=_BLOCK
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=delimiter, quote_char='"' if quotes else False, newlines_in_values=quotes
            ),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=list(wanted),
                column_types=wanted,
                null_values=[""],
                strings_can_be_null=True,
            ),
            memory_pool=pa.system_memory_pool(),  # which gives back what is free again
        ) as reader:
            for block in reader:
                if any(column.null_count for column in block.columns):
                    return None
                for name, kind in wanted.items():
                    number = kind in (pa.int64(), pa.float64())
                    piece = compact([block[name].to_numpy()]) if number else block[name]
                    pieces[name].append(piece)
    except pa.ArrowException:
        return None
    found: dict[Any, Any] = {}
    for name, kind in holds.items():
        if kind is None:
            continue
        column = pieces.pop(str(name))
        if kind in ("whole", "real"):
            found[name] = compact(column)
            if kind == "real" and np.isnan(found[name]).any():
                return None  # written "nan"
        elif kind == "few":
            found[name] = pa.chunked_array(column).combine_chunks().to_pandas()
        elif (numbers := _plain_integers(column)) is not None:
            found[name] = numbers
        else:
            encoded = pa.chunked_array(column).dictionary_encode().combine_chunks()
            LABELS.check(len(encoded.dictionary), where(name))
            found[name] = encoded.to_pandas()
    pa.default_memory_pool().release_unused()
    return pd.DataFrame(found, copy=False)


def _plain_integers(pieces: list[Any]) -> NDArray[Any] | None:
    """Labels that are all plain integers; None otherwise: 007 is none, it differs from 7."""
    found = []
    for text in pieces:
        try:
            numbers = compute.cast(text, pa.int64())
        except pa.ArrowException:
            return None
        if not compute.all(compute.equal(compute.cast(numbers, pa.string()), text)).as_py():
            return None
        found.append(numbers.to_numpy())
    return compact(found)


def _careful_frame(
    source: Source, second: tuple[int, list[str]], rest: Iterator[tuple[int, list[str]]]
) -> pd.DataFrame:
    """Parse whatever can be parsed; complain by the line about the rest."""
    # Labels stay as written, and so do fractions: not every pandas rounds them right.
    exact = ("system", "instance", "repetition", "count", "mass_above")
    try:
        return pd.read_csv(
            stream(source.data or b""),
            sep=source.delimiter,
            header=0,
            names=list(range(len(source.headers))),
            # Blank is missing and nothing else is: a user may be called "NA".
            keep_default_na=False,
            na_values=[""],
            dtype={i: str for i, role in enumerate(source.roles) if role in exact},
            low_memory=False,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, csv.Error) as error:
        last = second
        for last in rest:
            _check_width(source, last)
        raise ReadError(
            f"{source.name}, line {last[0]}: the rest of the file cannot be split into columns; "
            "look for a quotation mark that is not closed"
        ) from error


def _check_width(source: Source, record: tuple[int, list[str]]) -> None:
    line, cells = record
    if len(cells) > len(source.headers):
        raise ReadError(
            f"{source.name}, line {line}: {len(cells)} cells where the header names "
            f"{len(source.headers)} columns; quote cells that hold the separator, or complete the "
            "header"
        )
