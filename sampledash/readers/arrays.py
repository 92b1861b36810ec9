"""numpy arrays in .npy files, read without numpy's loader: it would allocate what they claim."""

from __future__ import annotations

import io
import math
import sys
import warnings
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampledash.readers.errors import ReadError
from sampledash.readers.limits import LONGEST_NAME, check_ranks, check_rows, check_systems
from sampledash.readers.unpack import plain

MAGIC = b"\x93NUMPY"


def load_array(data: bytes, name: str) -> NDArray[Any]:
    """Return the array of a .npy file, as a view of its bytes.

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
        if (
            version not in ((1, 0), (2, 0), (3, 0))
            or dtype.itemsize == 0
            or not all(type(extent) is int and extent >= 0 for extent in shape)
        ):
            raise ValueError("nothing in it")
        start = stream.tell()
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
    size = math.prod(shape)
    if size * dtype.itemsize > len(data) - start:
        raise ReadError(f"{name} is cut off: its header promises {size:,} entries; write it again")
    check_rows(shape[0] if shape else 1, name)
    if dtype.names is None and not _plain(dtype):
        raise ReadError(
            f"{name} holds {_KINDS.get(dtype.kind, 'what no rank is')}, not ranks; save integers, "
            "or an array with named fields such as system, rank and count"
        )
    if size == 0:
        raise ReadError(f"{name} is empty: its shape is {_shape(shape)}; save at least one rank")
    array = np.frombuffer(data, dtype=dtype, count=size, offset=start)
    return array.reshape(shape, order="F" if fortran else "C")


_KINDS = {"b": "true and false", "c": "complex numbers", "U": "text", "S": "text"}


def _shape(shape: tuple[int, ...]) -> str:
    return " × ".join(f"{size:,}" for size in shape) or "a single number"


def array_frame(array: NDArray[Any], name: str) -> tuple[list[str], pd.DataFrame]:
    """Headers and columns of an array.

    Named fields are columns. A 1-D array is one system named after the file, a 2-D one has an
    instance in each row and a system in each column.
    """
    if array.dtype.names is not None:
        if array.ndim != 1:
            raise ReadError(
                f"{name} has named fields in the shape {_shape(array.shape)}; save one dimension"
            )
        fields = [str(field) for field in array.dtype.names]
        columns = [_column(array[field], field, name) for field in fields]
        return fields, pd.DataFrame(dict(enumerate(columns)))
    if array.ndim == 1:
        return ["rank"], pd.DataFrame({0: _native(array)})
    if array.ndim != 2:
        raise ReadError(
            f"{name} has the shape {_shape(array.shape)}; save one dimension (the ranks of one "
            "system) or two (instances × systems)"
        )
    check_systems(array.shape[1], name)
    check_ranks(array.size, name)
    headers = [f"{stem_of(name)} {i + 1}" for i in range(array.shape[1])]
    return headers, pd.DataFrame({i: _native(array[:, i]) for i in range(array.shape[1])})


def stem_of(name: str) -> str:
    """What a file's only system is called: its name without the endings."""
    last = plain(name).replace("\\", "/").rsplit("/", 1)[-1]
    stem, dot, _ = last.rpartition(".")
    return stem if dot and stem else last


def _column(values: NDArray[Any], field: str, name: str) -> Any:
    if values.ndim != 1:
        raise ReadError(
            f"{name}: the field {field!r} holds {_shape(values.shape[1:])} values in each row; "
            "save one"
        )
    if values.dtype.kind in "US":
        return _text(values, field, name)
    if not _plain(values.dtype) and values.dtype.kind != "b":
        raise ReadError(f"{name}: the field {field!r} holds neither numbers nor text; leave it out")
    return _native(values)


def _plain(dtype: np.dtype[Any]) -> bool:
    """Whether these are numbers that every machine has: at most 8 bytes."""
    return dtype.kind in "iuf" and dtype.itemsize <= 8


def _native(values: NDArray[Any]) -> NDArray[Any]:
    """As this machine stores numbers, and in one piece."""
    if values.dtype == np.float16:
        return values.astype(np.float64)
    return np.ascontiguousarray(values, dtype=values.dtype.newbyteorder("="))


def _text(values: NDArray[Any], field: str, name: str) -> Any:
    """Fixed-width text as categories. Compared as machine words: no Python object for each row."""
    if values.dtype.itemsize > 4 * LONGEST_NAME:
        raise ReadError(
            f"{name}: the field {field!r} holds text of more than {LONGEST_NAME:,} characters; "
            "shorten it"
        )
    padding = -values.dtype.itemsize % 8
    packed = np.zeros(len(values), dtype=[("text", values.dtype), ("pad", f"V{padding}")])
    packed["text"] = values
    words = np.ascontiguousarray(packed).view(np.uint64).reshape(len(values), -1)
    codes = np.zeros(len(values), dtype=np.int64)
    for i in range(words.shape[1]):
        word, distinct = pd.factorize(words[:, i])
        codes, _ = pd.factorize(codes * len(distinct) + word)
    first = np.empty(int(codes.max()) + 1, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes))[::-1]  # the last one written is the first row
    try:
        if values.dtype.kind == "U":  # code points, which may be none
            points = _native(np.ascontiguousarray(values[first])).view(np.uint32)
            points.tobytes().decode(f"utf-32-{sys.byteorder[0]}e")
        found = values[first].tolist()
        labels = [cell.decode() if isinstance(cell, bytes) else cell for cell in found]
    except UnicodeDecodeError:
        raise ReadError(
            f"{name}: the field {field!r} holds text that is not UTF-8; write it anew"
        ) from None
    return pd.Categorical.from_codes(codes, pd.Index(labels))
