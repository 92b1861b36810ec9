"""Large text files by pyarrow, which Streamlit brings along: several times as fast.

It only ever takes over what it reads exactly as the careful parser would; whatever looks unusual
is left to that one, which also finds the words for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampledash.readers.cells import compact
from sampledash.readers.columns import Columns, Role
from sampledash.readers.limits import check_labels

SMALL = 2**20  # bytes; below, nothing is gained
_BLOCK = 4 * 2**20  # bytes parsed at a time
_WHOLE: tuple[Role, ...] = ("rank", "n_candidates", "negatives", "ties")
_REAL: tuple[Role, ...] = ("count", "mass_above")
_FEW: tuple[Role, ...] = ("system", "repetition", "adaptive")


def fast_frame(
    data: bytes, delimiter: str, columns: Columns, *, skip: int, name: str
) -> pd.DataFrame | None:
    """Columns with a role of a large file with one row per rank, or None.

    Parameters
    ----------
    data
        UTF-8, with or without a byte order mark.
    delimiter
        What separates the cells.
    columns
        Headers and their roles; without a rank column every column counts, and None is returned.
    skip
        Lines up to and including the header.
    name
        How messages call the file.
    """
    if len(data) < SMALL or "rank" not in columns.roles or _broken(columns):
        return None
    wanted = [i for i, role in enumerate(columns.roles) if role is not None]
    table = arrow_table(
        data,
        delimiter,
        [str(i) for i in range(len(columns.headers))],
        skip=skip,
        whole=[str(i) for i in wanted if columns.roles[i] in _WHOLE],
        real=[str(i) for i in wanted if columns.roles[i] in _REAL],
        few=[str(i) for i in wanted if columns.roles[i] in _FEW],
        many=[str(i) for i in wanted if columns.roles[i] == "instance"],
        where=lambda i: f"{name}, column {columns.headers[int(i)]!r}",
    )
    if table is None:
        return None
    return pd.DataFrame({i: table[str(i)] for i in wanted}, copy=False)


def _broken(columns: Columns) -> bool:
    """Whether the header goes over several lines."""
    return any("\n" in header or "\r" in header for header in columns.headers)


def arrow_table(
    data: bytes,
    delimiter: str,
    names: list[str],
    *,
    skip: int = 0,
    whole: list[str],
    real: list[str],
    few: list[str],
    many: list[str],
    where: Callable[[str], str],
    quoted: bool = True,
) -> dict[str, Any] | None:
    """Parse columns of text by name; None where a cell is blank or not what is asked for.

    Returns
    -------
    For each name an array of integers (``whole``) or floats (``real``), a categorical (text of
    which there are ``few`` different), or, for ``many`` labels, integers if all of them are plain
    ones and a categorical otherwise; too many of those are refused ``where`` they are.
    """
    try:
        import pyarrow as pa
        from pyarrow import csv
    except ImportError:
        return None
    # Single bytes are found much faster than pairs.
    if any(x in data and b"0" + x in data for x in (b"x", b"X")):
        return None  # hexadecimal numbers would be understood
    quotes = quoted and b'"' in data
    types = {name: pa.int64() for name in whole} | {name: pa.float64() for name in real}
    types |= {name: pa.dictionary(pa.int32(), pa.string()) for name in few}
    types |= {name: pa.string() for name in many}
    lines = data.count(b"\n") + data.count(b"\r") + 1  # at least as many as rows
    numbers: dict[str, NDArray[Any]] = {name: np.empty(lines, np.int32) for name in whole}
    numbers |= {name: np.empty(lines) for name in real}
    text: dict[str, list[Any]] = {name: [] for name in (*few, *many)}
    rows = 0
    try:
        # Block by block: the whole of it at once is there sooner, but takes three times the room.
        with csv.open_csv(
            pa.BufferReader(data),
            read_options=csv.ReadOptions(column_names=names, skip_rows=skip, block_size=_BLOCK),
            parse_options=csv.ParseOptions(
                delimiter=delimiter,
                quote_char='"' if quotes else False,
                newlines_in_values=quotes,
            ),
            convert_options=csv.ConvertOptions(
                include_columns=list(types),
                column_types=types,
                null_values=[""],
                strings_can_be_null=True,
            ),
            memory_pool=pa.system_memory_pool(),  # which gives back what is free again
        ) as reader:
            for block in reader:
                if any(column.null_count for column in block.columns):
                    return None
                for name, room in numbers.items():
                    values = compact([block[name].to_numpy()])
                    if not np.can_cast(values.dtype, room.dtype):
                        numbers[name] = room = room.astype(values.dtype)
                    room[rows : rows + len(values)] = values
                for name, pieces in text.items():
                    pieces.append(block[name])
                rows += len(block)
    except pa.ArrowException:
        return None
    found: dict[str, Any] = {}
    for name, room in numbers.items():
        found[name] = compact([room[:rows]])
        if name in real and np.isnan(found[name]).any():
            return None  # written "nan"
    for name in few:
        found[name] = pa.chunked_array(text.pop(name)).combine_chunks().to_pandas()
    for name in many:
        column = pa.chunked_array(text.pop(name))
        found[name] = _integers(column)
        if found[name] is None:
            encoded = column.dictionary_encode().combine_chunks()
            check_labels(len(encoded.dictionary), where(name))
            found[name] = encoded.to_pandas()
    pa.default_memory_pool().release_unused()
    return found


def _integers(column: Any) -> NDArray[Any] | None:
    """Labels that are all plain integers; None otherwise: 007 is none, it differs from 7."""
    import pyarrow as pa
    from pyarrow import compute

    pieces = []
    for text in column.chunks:
        try:
            numbers = compute.cast(text, pa.int64())
        except pa.ArrowException:
            return None
        if not compute.all(compute.equal(compute.cast(numbers, pa.string()), text)).as_py():
            return None
        pieces.append(numbers.to_numpy())
    return compact(pieces)
