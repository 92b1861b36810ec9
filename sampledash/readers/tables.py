"""Parse the bytes of a file into a table of named columns.

Text is parsed by pyarrow if it is large and plain, and otherwise by pandas. Parquet is parsed by
pyarrow, and numpy arrays are loaded by numpy.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from itertools import zip_longest
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import csv as arrow_csv
from pyarrow import parquet, types

from sampledash.checks import Refusal, is_numeral
from sampledash.readers import columns as parsing
from sampledash.readers import score_files
from sampledash.readers import upload_limits as limits
from sampledash.readers.columns import QUOTING, ROLES, Holds, Layout, compact, records, source_of
from sampledash.readers.upload_limits import FileKind, ReadError, check_utf8, stem_of

#: The headers of a table with what its columns hold, and its cells.
Table = tuple[Layout, pd.DataFrame]
SMALL = 2**20  # bytes; below this size, pyarrow is not faster than pandas
_BLOCK = 4 * 2**20  # number of bytes that pyarrow parses at a time
FORMAT = {",": "CSV", ";": "semicolon-separated text", "\t": "TSV"}

_ARROW = {
    "whole": pa.int64(),
    "real": pa.float64(),
    "few": pa.dictionary(pa.int32(), pa.string()),
    "many": pa.string(),
    "unknown": pa.dictionary(pa.int32(), pa.string()),
}
# Role of a column, such as "rank" -> the kind of its content, such as "whole" for whole numbers.
_HOLDS: dict[Any, Holds] = {role: column.holds for role, column in ROLES.items()}
_HOLDS |= {"user": "many", "item": "many", "score": "real", "rating": "real", "time": "whole"}
# Roles of columns that pandas must read as text, and not as numbers: labels must stay as written,
# and some versions of pandas misround fractions.
_EXACT = {role for role, holds in _HOLDS.items() if holds != "whole"}
_LABELS = {role for role, column in ROLES.items() if column.read in (parsing.labels, parsing.texts)}
_LABELS |= {"user", "item", "time"}
_OPEN = "is a quotation mark not closed?"
_BROKEN = re.compile(r"[\n\r]")  # a line break in a header
# A number such as 1.000 between semicolons. Where semicolons separate cells, a dot may separate
# thousands, so the number may be 1 or 1000.
_THOUSANDS = re.compile(rb'[;\n]"?([1-9]\d{0,2}(?:\.000)+)"?(?=[;\r\n]|$)')
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")  # pandas gives this name to an unnamed index


def read_table(
    data: bytes, name: str, kind: FileKind, find: Callable[..., Layout] = source_of
) -> Table:
    """Parse CSV, TSV, other separated text, Parquet or a numpy array.

    Return the headers with what their columns hold, and a data frame of the cells. The columns of
    the data frame are 0, 1, 2 ...; columns whose header is unknown may be missing.
    """
    read = {"text": text_table, "columns": parquet_table, "array": _array_table}
    try:
        return read[kind](data, name, find)
    except Refusal as error:
        raise error if isinstance(error, ReadError) else ReadError(*error.parts) from None


def text_table(
    data: bytes,
    name: str,
    find: Callable[..., Layout] = source_of,
    delimiter: str = "",
    *,
    quoted: bool = True,
    heading: Callable[[list[str]], tuple[list[str], bool]] = lambda cells: (cells, True),
) -> Table:
    """Parse separated text. Without a ``delimiter``, the header decides: comma, semicolon or tab.

    ``find`` finds out what each column holds, from its header. ``heading`` takes the cells of the
    first record, and returns the headers and whether this record is a header line.
    """
    check_utf8(data, name)
    delimiter = delimiter or delimiter_of(data)
    rest = records(data, delimiter, quoted)
    line, first = next(rest, (1, [""]))
    if not first:
        raise ReadError(f"{name}, line {line}: a name of a column is too long; {_OPEN}")
    headers, headed = heading(first)
    kind = FORMAT.get(delimiter, "text") if headed else "text without a header line"
    text = {"data": data, "delimiter": delimiter, "headed": headed, "quoted": quoted}
    source = find(name, kind, headers, line, **text)
    source.check_rows(limits.lines_of(data) - line)
    wide = not {"rank", "user"} & {*source.roles}
    if wide:
        limits.RANKS.check(data.count(delimiter.encode()), name)
    if delimiter == ";" and "user" not in source.roles and (match := _THOUSANDS.search(data)):
        place = data.count(b"\n", 0, match.start(1)) + 1
        unclear = f"{match[1].decode()} may mean thousands; write digits only"
        raise ReadError(f"{name}, line {place}: {unclear}")
    second = next(rest, None) if headed else (line, first)
    if second is None:
        raise ReadError(f"{name} has a header line but no rows: add at least one")
    check_width(source, second)
    fast = len(data) >= SMALL and not wide and not any(map(_BROKEN.search, first))
    frame = None
    if fast:
        merged = "rank" in source.roles and not {"system", "user"} & {*source.roles}
        kinds: dict[Any, Holds | None] = {
            i: _HOLDS[role] if role else "unknown" if merged and not is_numeral(cell) else None
            for i, (role, cell) in enumerate(zip_longest(source.roles, second[1], fillvalue=""))
        }
        frame = arrow_frame(data, delimiter, kinds, skip=line - (not headed), quoted=quoted)
    if frame is None:
        limits.CAREFUL.check(limits.lines_of(data) - headed, name)
        frame = careful_frame(source, second, rest)
    return source, frame


def delimiter_of(data: bytes) -> str:
    """Return the separator of the first line: comma, semicolon or tab."""
    return max(",;\t", key=next((line for line in parsing.stream(data) if line.strip()), "").count)


def headers_of(data: bytes, kind: FileKind) -> list[str]:
    """Return the headers of a table; an empty list if the file has no headers or is damaged."""
    try:
        if kind == "columns":
            names: list[str] = parquet.read_schema(io.BytesIO(data)).names
            return names
        return [] if kind == "array" else next(records(data, delimiter_of(data)), (1, []))[1]
    except Exception:  # pyarrow raises many types of errors; other readers report the damage
        return []


def arrow_frame(
    data: bytes, delimiter: str, holds: Mapping[Any, Holds | None], *, skip: int = 0, quoted: bool
) -> pd.DataFrame | None:
    """Parse text with pyarrow, which is several times as fast as pandas.

    Return None if a cell is blank or unusual: the caller must then parse the text in another way,
    for example with :func:`careful_frame`.

    ``holds`` gives the content of each column, or None for a column to skip. The first ``skip``
    lines, up to the header, are not parsed. Without ``quoted``, quotation marks are ordinary
    characters. Numbers are returned as :func:`compact` arrays, text as categories, plain integer
    labels as integers.
    """
    wanted = {str(name): _ARROW[kind] for name, kind in holds.items() if kind is not None}
    numeric = {name for name, kind in wanted.items() if kind in (pa.int64(), pa.float64())}
    full = [str(name) for name, kind in holds.items() if kind not in (None, "unknown")]
    # Search for x before 0x, because the search for a single byte is much faster.
    if numeric and any(x in data and b"0" + x in data for x in (b"x", b"X")):
        return None  # pyarrow accepts hexadecimal numbers such as 0x1F, which the readers refuse
    quotes = quoted and b'"' in data
    names = list(map(str, holds))
    read = arrow_csv.ReadOptions(column_names=names, skip_rows=skip, block_size=_BLOCK)
    quoting: Any = {"quote_char": '"' if quotes else False, "newlines_in_values": quotes}
    parse = arrow_csv.ParseOptions(delimiter=delimiter, **quoting)
    blank = {"null_values": [""], "strings_can_be_null": True}
    convert = arrow_csv.ConvertOptions(include_columns=[*wanted], column_types=wanted, **blank)
    pool = pa.system_memory_pool()  # this pool returns freed memory to the operating system
    pieces: dict[str, list[Any]] = {name: [] for name in wanted}
    try:
        # Read block by block: reading all text at once is faster, but takes three times the memory.
        with arrow_csv.open_csv(pa.BufferReader(data), read, parse, convert, pool) as reader:
            for block in reader:
                if any(block[name].null_count for name in full):
                    return None
                for name, chunks in pieces.items():
                    column = block[name]
                    chunks.append(compact([column.to_numpy()]) if name in numeric else column)
    except pa.ArrowException:
        return None
    columns: dict[Any, Any] = {}
    for name, kind in holds.items():
        if kind is None:
            continue
        chunks = pieces.pop(str(name))
        if str(name) in numeric:
            columns[name] = compact(chunks)
            if kind == "real" and np.isnan(columns[name]).any():
                return None  # a cell holds the text "nan", which the readers refuse
        else:
            column = pa.chunked_array(chunks)
            if kind == "many":
                if (numbers := parsing.plain_integers(column)) is not None:
                    columns[name] = numbers
                    continue
                column = column.dictionary_encode()
            columns[name] = column.combine_chunks().to_pandas()
    pa.default_memory_pool().release_unused()
    return pd.DataFrame(columns, copy=False)


def careful_frame(
    source: Layout, second: tuple[int, list[str]], rest: Iterator[tuple[int, list[str]]]
) -> pd.DataFrame:
    """Parse text with pandas; labels and real numbers (columns in ``_EXACT``) remain text.

    If pandas fails, the error names the line of a record with too many cells, or else the last
    line. ``second`` is the first record after the header, ``rest`` yields the later records.
    """
    try:
        return pd.read_csv(
            parsing.stream(source.data or b""),
            sep=source.delimiter,
            header=0 if source.headed else None,
            names=list(range(len(source.headers))),
            # Only blank cells are missing values; by default, the user "NA" would be missing too.
            keep_default_na=False,
            na_values=[""],
            dtype={i: str for i, role in enumerate(source.roles) if role in _EXACT},
            quoting=QUOTING[source.quoted],
            low_memory=False,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError, csv.Error) as error:
        last = second
        for last in rest:
            check_width(source, last)
        raise ReadError(f"{source.name}, line {last[0]}: the rest is not read; {_OPEN}") from error


def check_width(source: Layout, record: tuple[int, list[str]]) -> None:
    """Refuse a record with more cells than there are columns."""
    line, cells = record
    if len(cells) > len(source.headers):
        sizes = f"{len(cells)} cells for {len(source.headers)} columns of the header"
        advice = "complete it, or quote cells that hold the separator"
        raise ReadError(f"{source.name}, line {line}: {sizes}; {advice}")


def parquet_table(data: bytes, name: str, find: Callable[..., Layout] = source_of) -> Table:
    """Parse the columns of a Parquet file whose headers are known.

    Raise a ReadError if such a column has a type that cannot be read.

    Columns of numbers are read as numbers, with NaN for null, and columns of labels as numbers or
    categories. If no column has the role rank or user, all columns of numbers or text are read,
    because each may hold the ranks of a system.
    """
    try:
        return _parquet_columns(data, name, find)
    except Refusal:
        raise
    except Exception as error:  # pyarrow raises many types of errors
        why = "it is damaged, or names a column twice; use CSV"
        raise ReadError(f"{name} cannot be read as Parquet: {why}") from error


def _parquet_columns(data: bytes, name: str, find: Callable[..., Layout]) -> Table:
    head = parquet.read_metadata(io.BytesIO(data))
    rows = head.num_rows
    limits.ROWS.check(rows, name)
    limits.COLUMNS.check(head.num_columns, name)
    limits.GROUPS.check(head.num_row_groups, name)
    schema = head.schema.to_arrow_schema()
    pair = score_files.named(schema.names)
    if pair and types.is_nested(schema.field(pair[1]).type):
        groups = [head.row_group(i) for i in range(head.num_row_groups)]
        size = sum(group.column(i).num_values for group in groups for i in range(head.num_columns))
        limits.check_size(8 * size, name, "unpacks to")
        data = score_files.ranked(parquet.read_table(io.BytesIO(data)), pair, name)
        return _parquet_columns(data, name, find)
    fields = [field for field in schema if not _UNNAMED_INDEX.fullmatch(field.name)]
    index = (schema.pandas_metadata or {}).get("index_columns", ())
    source = find(name, "Parquet", [field.name for field in fields], index=index)
    source.check_rows(rows)
    if rows == 0:
        raise ReadError(f"{name} has columns but no rows: add at least one")
    pairs = zip(fields, source.roles, strict=True)
    # Dates in a column with an unknown header are read as labels.
    label = [role in _LABELS or (role is None and _is_dated(f.type)) for f, role in pairs]
    wide = not {"rank", "user"} & set(source.roles)
    # In a table of ranks without a system column, text columns are read too, because the readers
    # refuse text columns that may name systems.
    merged = "rank" in source.roles and "system" not in source.roles
    wanted: list[int] = []
    for i, role in enumerate(source.roles):
        odd = _odd(fields[i].type, label=label[i])
        if role is not None and odd:
            what = "numbers or text" if label[i] else "numbers"
            where = f"{name}, row 1, column {source.headers[i]!r}"
            raise ReadError(f"{where}: it holds values of the type {odd}; save it as {what}")
        if role is not None or (wide and not odd) or (merged and _is_text(fields[i].type)):
            wanted.append(i)
    if wide:
        limits.RANKS.check(rows * len(wanted), name)
    names = [fields[i].name for i in wanted]
    size = sum(head.row_group(i).total_byte_size for i in range(head.num_row_groups))
    limits.check_size(size, name)
    # Read text as dictionaries, which store a repeated text once: otherwise, a small file with
    # much repeated text could fill the memory.
    text = [fields[i].name for i in wanted if _is_text(fields[i].type)]
    file = parquet.ParquetFile(io.BytesIO(data), metadata=head, read_dictionary=text)
    columns: dict[int, pd.Series[Any]] = {}
    for i, field_name in zip(wanted, names, strict=True):  # one column at a time, to save memory
        column = file.read(columns=[field_name])
        if column.column_names != [field_name] or len(column) != rows:
            raise ValueError("not what its footer says")
        columns[i] = _series(column.column(0), label=label[i])
        del column
        pa.default_memory_pool().release_unused()
    return source, pd.DataFrame(columns, index=range(rows), copy=False)


def _odd(kind: Any, *, label: bool) -> str:
    """Return the name of a column's type if it cannot be used, otherwise an empty string."""
    if types.is_dictionary(kind):
        kind = kind.value_type
    number = types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind)
    plain = number or _is_text(kind) or types.is_null(kind) or types.is_boolean(kind)
    return "" if plain or (label and _is_dated(kind)) else str(kind).split("<")[0]


def _is_dated(kind: Any) -> bool:
    return bool(types.is_date(kind) or types.is_timestamp(kind))


def _is_text(kind: Any) -> bool:
    kind = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_string_view(kind))


def _series(column: Any, *, label: bool) -> pd.Series[Any]:
    """Return a column of pyarrow as a series of numbers or categories."""
    kind = column.type
    if types.is_dictionary(kind) and not _is_text(kind):
        column, kind = column.cast(kind.value_type), kind.value_type
    numeric = types.is_integer(kind) or types.is_floating(kind) or types.is_boolean(kind)
    if types.is_dictionary(kind) or _is_text(kind) or (label and not numeric):
        if not types.is_dictionary(kind):
            column = column.cast(pa.large_string()).dictionary_encode()
        return pd.Series(column.unify_dictionaries().combine_chunks().to_pandas(), copy=False)
    if not numeric or types.is_float16(kind):
        column = column.cast(pa.float64())
    if column.null_count or types.is_boolean(column.type):
        return pd.Series(column.to_pandas(), copy=False)
    return pd.Series(compact([piece.to_numpy() for piece in column.chunks]), copy=False)


def _array_table(data: bytes, name: str, find: Callable[..., Layout]) -> Table:
    """Parse a .npy file.

    Named fields become columns. A 1-D array holds the ranks of one system, named after the file; a
    2-D array has an instance in each row and a system in each column. Mean ranks of ties may have
    the fraction 0.5. A 2-D array with other fractions holds scores: the score of the relevant item
    in the first column, and the scores of its negatives in the other columns.
    """
    array = load_array(data, name)
    fields = array.dtype.names
    if fields is not None and array.ndim == 1:
        columns = {field: array[field] for field in fields}
    elif fields is None and array.ndim == 1:
        columns = {"rank": array}
    elif array.ndim == 2 and array.dtype.kind == "f" and np.any(2 * array % 1 > 0):
        columns = score_files.ranks_of_scores(array[:, 0], array[:, 1:], name)
    elif fields is None and array.ndim == 2:
        limits.SYSTEMS.check(array.shape[1], name)
        limits.RANKS.check(array.size, name)
        columns = {f"{stem_of(name)} {i + 1}": column for i, column in enumerate(array.T)}
    else:
        shapes = "one dimension or two (instances × systems)"
        raise ReadError(f"{name} has the shape {array.shape}; save {shapes}")
    source = find(name, "a numpy array", list(map(str, columns)))
    source.check_rows(len(array))
    cells = {}
    for i, (header, values) in enumerate(columns.items()):
        try:
            cells[i] = _series(pa.chunked_array([pa.array(_plain(values))]), label=False)
        except Exception as error:  # numpy and pyarrow raise many types of errors
            holds = f"field {header!r} holds neither numbers nor text in UTF-8"
            raise ReadError(f"{name}: {holds}; leave it out") from error
    return source, pd.DataFrame(cells, copy=False)


def load_array(data: bytes, name: str) -> NDArray[Any]:
    """Return the array of a .npy file, of numbers or of named fields of numbers and text."""
    stream = io.BytesIO(data)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # numpy warns about files that old versions wrote
            array: NDArray[Any] = np.load(stream, allow_pickle=False)
        if stream.tell() < len(data):
            raise ValueError("something behind it")
    except Exception as error:  # numpy's parser of the file header raises many types of errors
        raise ReadError(
            f"{name} cannot be read as a numpy array: it is damaged or cut off, or holds Python "
            "objects (a pickle), which are never read; write numbers again with numpy.save"
        ) from error
    shape, dtype = array.shape, array.dtype
    limits.ROWS.check(shape[0] if shape else 1, name)
    # Refuse real numbers of more than 8 bytes, which not every machine supports.
    if dtype.names is None and not (dtype.kind in "iuf" and dtype.itemsize <= 8):
        values = f"values of the type {dtype}, not ranks"
        raise ReadError(f"{name} holds {values}; save integers or named fields")
    if array.size == 0:
        raise ReadError(f"{name} is empty: its shape is {shape}; save at least one rank")
    return array


def _plain(values: NDArray[Any]) -> Any:
    """Return text as a list, and numbers in this machine's byte order."""
    if values.dtype.kind == "S":
        return [text.decode() for text in values.tolist()]
    if values.dtype.kind == "U":
        return values.tolist()
    return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))
