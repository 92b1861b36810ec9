"""Tables that are no text: Parquet, by pyarrow, and numpy arrays, by no more than their header."""

from __future__ import annotations

import io
import math
import re
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import compute, parquet, types

from sampledash.readers.columns import Role, compact, source_of
from sampledash.readers.contents import stem_of
from sampledash.readers.errors import ReadError
from sampledash.readers.limits import (
    BYTES,
    COLUMNS,
    GROUPS,
    LABELS,
    LONGEST_NAME,
    RANKS,
    ROWS,
    SYSTEMS,
)
from sampledash.readers.tables import Table

_LABELS: tuple[Role | None, ...] = ("system", "instance", "repetition")
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")  # as pandas writes it


def parquet_table(data: bytes, name: str) -> Table:
    """Parse Parquet: only the columns that mean something, and only of types that can.

    Columns of numbers are numbers, blank where they are null; those of labels are numbers or
    categories. Without a column of ranks, all columns that hold numbers or text are there.
    """
    damaged = ReadError(
        f"{name} cannot be read as Parquet: it is damaged, cut off, or names a column twice; "
        "write it again, or use CSV"
    )
    try:
        file = parquet.ParquetFile(io.BytesIO(data))
        head = file.metadata
        rows = head.num_rows
    except Exception as error:  # pyarrow raises many kinds, also OSError and KeyError
        raise damaged from error
    ROWS.check(rows, name)
    COLUMNS.check(head.num_columns, name)
    GROUPS.check(head.num_row_groups, name)
    try:
        fields = [f for f in file.schema_arrow if not _UNNAMED_INDEX.fullmatch(f.name)]
    except Exception as error:
        raise damaged from error
    source = source_of(name, [field.name for field in fields])
    source.check_rows(rows)
    if rows == 0:
        raise ReadError(f"{name} has columns but no rows: add one row per rank")
    wanted: list[int] = []
    for i, (header, role) in enumerate(zip(source.headers, source.roles, strict=True)):
        odd = _odd(fields[i].type, label=role in _LABELS)
        if role is not None and odd:
            what = "numbers or text" if role in _LABELS else "numbers"
            raise ReadError(f"{name}, row 1, column {header!r}: it holds {odd}; save it as {what}")
        if role is not None or ("rank" not in source.roles and not odd):
            wanted.append(i)
    if "rank" not in source.roles:
        RANKS.check(rows * len(wanted), name)
    names = [fields[i].name for i in wanted]
    paths = [head.schema.column(i).path for i in range(head.num_columns)]
    sizes = (
        head.row_group(group).column(i).total_uncompressed_size
        for group in range(head.num_row_groups)
        for i, path in enumerate(paths)
        if path in names
    )
    BYTES.check(sum(sizes), name, holds="holds")
    found: dict[int, pd.Series[Any]] = {}
    try:
        # Text that repeats is kept once: written out, a small file could fill the memory.
        text = [fields[i].name for i in wanted if _is_text(fields[i].type)]
        file = parquet.ParquetFile(io.BytesIO(data), metadata=head, read_dictionary=text)
        for i, each in zip(wanted, names, strict=True):  # one after the other take less room
            column = file.read(columns=[each])
            if column.column_names != [each] or len(column) != rows:
                raise ValueError("not what its footer says")
            where = f"{name}, column {source.headers[i]!r}"
            found[i] = _series(column.column(0), where, label=source.roles[i] in _LABELS)
            del column
            pa.default_memory_pool().release_unused()
    except ReadError:
        raise
    except Exception as error:
        raise damaged from error
    return Table(source, pd.DataFrame(found, index=range(rows), copy=False), "Parquet")


def _odd(kind: Any, *, label: bool) -> str:
    """What a column holds if that is nothing to us; else nothing."""
    if types.is_dictionary(kind):
        kind = kind.value_type
    dated = types.is_date(kind) or types.is_timestamp(kind)
    number = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    if number or _is_text(kind) or types.is_null(kind) or types.is_boolean(kind):
        return ""
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
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _series(column: Any, where: str, *, label: bool) -> pd.Series[Any]:
    """A column as numbers or categories."""
    kind = column.type
    if types.is_dictionary(kind) and not _is_text(kind.value_type):
        column, kind = column.cast(kind.value_type), kind.value_type
    numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    if types.is_dictionary(kind) or _is_text(kind) or (label and not numeric):
        if not types.is_dictionary(kind):
            column = column.cast(pa.large_string()).dictionary_encode()
        encoded = column.unify_dictionaries().combine_chunks()
        LABELS.check(len(encoded.dictionary), where)
        return pd.Series(encoded.to_pandas(), copy=False)
    if not numeric or types.is_float16(kind):
        column = column.cast(pa.float64())
    if column.null_count or types.is_boolean(column.type):
        return pd.Series(column.to_pandas(), copy=False)
    return pd.Series(compact([piece.to_numpy() for piece in column.chunks]), copy=False)


def array_table(data: bytes, name: str) -> Table:
    """Parse a .npy file.

    Named fields are columns. A 1-D array is one system named after the file, a 2-D one has an
    instance in each row and a system in each column.
    """
    array = load_array(data, name)
    shape = _shape(array.shape)
    if array.dtype.names is not None:
        if array.ndim != 1:
            raise ReadError(f"{name} has named fields in the shape {shape}; save one dimension")
        headers = [str(field) for field in array.dtype.names]
        columns = [_field(array[field], field, name) for field in headers]
    elif array.ndim == 1:
        headers, columns = ["rank"], [_native(array)]
    elif array.ndim == 2:
        SYSTEMS.check(array.shape[1], name)
        RANKS.check(array.size, name)
        headers = [f"{stem_of(name)} {i + 1}" for i in range(array.shape[1])]
        columns = [_native(column) for column in array.T]
    else:
        raise ReadError(
            f"{name} has the shape {shape}; save one dimension (the ranks of one system) or two "
            "(instances × systems)"
        )
    source = source_of(name, headers)
    source.check_rows(len(array))
    return Table(source, pd.DataFrame(dict(enumerate(columns)), copy=False), "a numpy array")


def load_array(data: bytes, name: str) -> NDArray[Any]:
    """Return the array of a .npy file, as a view of its bytes: numpy would allocate what it claims.

    Raises
    ------
    ReadError
        If it holds Python objects (a pickle, which could run code), is damaged or cut off, or holds
        anything but numbers, or named fields of numbers and text.
    """
    try:
        stream = io.BytesIO(data)
        version = np.lib.format.read_magic(stream)
        read = np.lib.format.read_array_header_1_0
        if version != (1, 0):
            read = np.lib.format.read_array_header_2_0
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of old spellings in the header
            shape, fortran, dtype = read(stream)
        if version == (3, 0) and dtype.names:  # as 2.0, but the names are in UTF-8
            dtype.names = tuple(field.encode("latin-1").decode() for field in dtype.names)
        whole = all(type(extent) is int and extent >= 0 for extent in shape)
        if version not in ((1, 0), (2, 0), (3, 0)) or dtype.itemsize == 0 or not whole:
            raise ValueError("nothing in it")
    except Exception as error:  # the header is parsed as Python: many kinds
        raise ReadError(
            f"{name} cannot be read as a numpy array: its header is damaged; "
            "write it again with numpy.save"
        ) from error
    if dtype.hasobject:
        raise ReadError(
            f"{name} holds Python objects (a pickle), which could run code and are never read; "
            "save an array of integers, or one with named fields"
        )
    size, start = math.prod(shape), stream.tell()
    if size * dtype.itemsize > len(data) - start:
        raise ReadError(f"{name} is cut off: its header promises {size:,} entries; write it again")
    ROWS.check(shape[0] if shape else 1, name)
    if dtype.names is None and not _is_number(dtype):
        kinds = {"b": "true and false", "c": "complex numbers", "U": "text", "S": "text"}
        raise ReadError(
            f"{name} holds {kinds.get(dtype.kind, 'what no rank is')}, not ranks; save integers, "
            "or an array with named fields such as system, rank and count"
        )
    if size == 0:
        raise ReadError(f"{name} is empty: its shape is {_shape(shape)}; save at least one rank")
    array = np.frombuffer(data, dtype=dtype, count=size, offset=start)
    return array.reshape(shape, order="F" if fortran else "C")


def _shape(shape: tuple[int, ...]) -> str:
    return " × ".join(f"{size:,}" for size in shape) or "a single number"


def _field(values: NDArray[Any], field: str, name: str) -> Any:
    where = f"{name}: the field {field!r}"
    if values.ndim != 1:
        each = _shape(values.shape[1:])
        raise ReadError(f"{where} holds {each} values in each row; save one")
    if values.dtype.kind not in "US":
        if not _is_number(values.dtype) and values.dtype.kind != "b":
            raise ReadError(f"{where} holds neither numbers nor text; leave it out")
        return _native(values)
    if values.dtype.itemsize > 4 * LONGEST_NAME:
        raise ReadError(f"{where} holds text of more than {LONGEST_NAME:,} characters; shorten it")
    length = compute.utf8_length if values.dtype.kind == "U" else compute.binary_length
    try:
        text = pa.array(_native(values))
        if np.any(np.strings.str_len(values) != length(text).to_numpy()):
            raise ReadError(f"{where} holds text with zero bytes; write it anew")
        return text.cast(pa.large_string()).dictionary_encode().to_pandas()
    except (UnicodeDecodeError, pa.ArrowException):
        raise ReadError(f"{where} holds text that is not UTF-8; write it anew") from None


def _is_number(dtype: np.dtype[Any]) -> bool:
    """Whether these are numbers that every machine has: at most 8 bytes."""
    return dtype.kind in "iuf" and dtype.itemsize <= 8


def _native(values: NDArray[Any]) -> NDArray[Any]:
    """As this machine stores them, and in one piece."""
    if values.dtype == np.float16:
        return values.astype(np.float64)
    return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))
