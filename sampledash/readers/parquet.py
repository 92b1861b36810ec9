"""Parquet by pyarrow: only the columns that mean something, and only of types that can."""

from __future__ import annotations

import io
import re
from typing import Any

import pandas as pd

from sampledash.readers.cells import compact
from sampledash.readers.columns import Columns, Role, columns_of
from sampledash.readers.errors import ReadError
from sampledash.readers.limits import (
    check_bytes,
    check_columns,
    check_costly,
    check_groups,
    check_labels,
    check_ranks,
    check_rows,
)

_LABELS: tuple[Role, ...] = ("system", "instance", "repetition")
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")  # as pandas writes it


def parquet_frame(data: bytes, name: str) -> tuple[Columns, pd.DataFrame]:
    """Headers with their roles, and the columns that are needed.

    Returns
    -------
    Columns of numbers are numbers, blank where they are null; those of labels are numbers or
    categories. Without a column of ranks, all columns that hold numbers or text are there.

    Raises
    ------
    ReadError
        If the file is damaged or too large, or a column that is needed holds what is neither
        numbers nor text.
    """
    try:
        from pyarrow import default_memory_pool, parquet
    except ImportError as error:
        raise ReadError(f"{name}: reading Parquet needs pyarrow; install it or use CSV") from error
    damaged = (
        f"{name} cannot be read as Parquet: it is damaged, cut off, or names a column twice; "
        "write it again, or use CSV"
    )
    try:
        file = parquet.ParquetFile(io.BytesIO(data))
        rows, head = file.metadata.num_rows, file.metadata
    except Exception as error:  # pyarrow raises many kinds, also OSError and KeyError
        raise ReadError(damaged) from error
    check_rows(rows, name)
    check_columns(head.num_columns, name)
    check_groups(head.num_row_groups, name)
    try:
        schema = file.schema_arrow
        written: list[str] = schema.names
    except Exception as error:
        raise ReadError(damaged) from error
    kept = [i for i, each in enumerate(written) if not _UNNAMED_INDEX.fullmatch(each)]
    columns = columns_of([written[i].strip() for i in kept], name)
    check_costly(rows, name, columns.headers, columns.roles)
    if rows == 0:
        raise ReadError(f"{name} has columns but no rows: add one row per rank")
    wanted: list[int] = []
    for i, (header, role) in enumerate(zip(columns.headers, columns.roles, strict=True)):
        kind = schema.field(kept[i]).type
        odd = _odd(kind, label=role in _LABELS)
        if role is not None and odd:
            what = "numbers or text" if role in _LABELS else "numbers"
            raise ReadError(f"{name}, row 1, column {header!r}: it holds {odd}; save it as {what}")
        if role is not None or ("rank" not in columns.roles and not odd):
            wanted.append(i)
    if "rank" not in columns.roles:
        check_ranks(rows * len(wanted), name)
    if not wanted:
        return columns, pd.DataFrame(index=range(rows))
    names = [written[kept[i]] for i in wanted]
    check_bytes(_unpacked(file.metadata, set(names)), name)
    try:
        # Text that repeats is kept once: written out, a small file could fill the memory.
        text = [each for each in names if _is_text(schema.field(each).type)]
        file = parquet.ParquetFile(io.BytesIO(data), metadata=file.metadata, read_dictionary=text)
        found: dict[int, pd.Series[Any]] = {}
        for i, each in zip(wanted, names, strict=True):  # one after the other take less room
            table = file.read(columns=[each])
            if table.column_names != [each] or len(table) != rows:
                raise ValueError("not what its footer says")
            where = f"{name}, column {columns.headers[i]!r}"
            found[i] = _series(table.column(0), where, label=columns.roles[i] in _LABELS)
            del table
            default_memory_pool().release_unused()
    except ReadError:
        raise
    except Exception as error:
        raise ReadError(damaged) from error
    return columns, pd.DataFrame(found, copy=False)


def _unpacked(metadata: Any, names: set[str]) -> int:
    """Bytes that columns take once they are unpacked."""
    paths = [metadata.schema.column(i).path for i in range(metadata.num_columns)]
    wanted = [i for i, path in enumerate(paths) if path in names]
    groups = (metadata.row_group(i) for i in range(metadata.num_row_groups))
    return sum(group.column(i).total_uncompressed_size for group in groups for i in wanted)


def _odd(kind: Any, *, label: bool) -> str:
    """What a column holds if that is nothing to us; else nothing."""
    from pyarrow import types

    if types.is_dictionary(kind):
        kind = kind.value_type
    if _is_text(kind) or types.is_integer(kind) or types.is_floating(kind):
        return ""
    if types.is_decimal(kind) or types.is_null(kind) or types.is_boolean(kind):
        return ""
    dated = types.is_date(kind) or types.is_timestamp(kind)
    if label and dated:
        return ""
    for holds, what in (
        (dated or types.is_time(kind), "dates or times"),
        (types.is_duration(kind) or types.is_interval(kind), "durations"),
        (types.is_binary(kind) or types.is_large_binary(kind), "bytes"),
        (types.is_fixed_size_binary(kind), "bytes"),
        (types.is_map(kind), "maps"),
        (types.is_struct(kind), "structs"),
        (types.is_nested(kind), "lists"),
    ):
        if holds:
            return what
    return "values of another kind"


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _series(column: Any, where: str, *, label: bool) -> pd.Series[Any]:
    """A column as numbers or categories."""
    import pyarrow as pa
    from pyarrow import types

    kind = column.type
    if types.is_dictionary(kind) and not _is_text(kind.value_type):
        column, kind = column.cast(kind.value_type), kind.value_type
    numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    if types.is_dictionary(kind) or _is_text(kind) or (label and not numeric):
        if not types.is_dictionary(kind):
            column = column.cast(pa.large_string()).dictionary_encode()
        encoded = column.unify_dictionaries().combine_chunks()
        check_labels(len(encoded.dictionary), where)
        found: pd.Series[Any] = encoded.to_pandas()
        return pd.Series(found, copy=False)
    if not numeric or types.is_float16(kind):
        column = column.cast(pa.float64())
    if column.null_count or types.is_boolean(column.type):
        return pd.Series(column.to_pandas(), copy=False)
    return pd.Series(compact([piece.to_numpy() for piece in column.chunks]), copy=False)
