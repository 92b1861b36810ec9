"""Cells to arrays: vectorised checks that fall back to the first bad cell for the message."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampledash.checks import shown
from sampledash.readers.errors import ReadError

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Place = Callable[[int], str]  # row of the series -> where that cell is

_TOO_LARGE = 2.0**62


def numbers(series: pd.Series[Any], place: Place, what: str) -> NDArray[Any]:
    """Cells as an integer or float array; text and blanks are refused by their place."""
    if pd.api.types.is_bool_dtype(series.dtype):
        raise ReadError(f"{place(0)}: {shown(series.iloc[0])} is not a number; write {what}")
    blank = series.isna().to_numpy()
    if pd.api.types.is_numeric_dtype(series.dtype):
        if not blank.any():
            array: NDArray[Any] = series.to_numpy()
            return array if array.dtype.kind in "iuf" else array.astype(np.float64)
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        values = _parsed(series)
    bad = np.isnan(values)
    if bad.any():
        i = int(np.argmax(bad))
        cell = series.iloc[i]
        empty = blank[i] or (isinstance(cell, str) and not cell.strip())
        got = "the cell is blank" if empty else f"{shown(cell)} is not a number"
        raise ReadError(f"{place(i)}: {got}; write {what}")
    return values


def _parsed(series: pd.Series[Any]) -> Floats:
    """Text to floats, NaN where it is none; true/false, "nan" and "inf" are no numbers."""
    text = series.astype(object)
    text = text.where(~text.map(lambda cell: isinstance(cell, bool)), None)
    values = pd.to_numeric(text, errors="coerce")
    return np.asarray(values, dtype=np.float64)


def whole(series: pd.Series[Any], place: Place, what: str) -> Ints:
    """Cells as int64; fractions and what is too large for it are refused."""
    array = numbers(series, place, what)
    if array.dtype.kind == "i":
        return array.astype(np.int64, copy=False)
    bad = ~(np.isfinite(array) & (array == np.floor(array)) & (np.abs(array) < _TOO_LARGE))
    if bad.any():
        i = int(np.argmax(bad))
        large = np.isfinite(array[i]) and abs(array[i]) >= _TOO_LARGE
        wrong = (
            f"{array[i]:.3g} is too large" if large else f"{shown(array[i])} is not a whole number"
        )
        raise ReadError(f"{place(i)}: {wrong}; write {what}")
    return array.astype(np.int64)


def has_numbers(series: pd.Series[Any]) -> bool:
    """Whether at least one cell is a number: what makes a column of a wide file a system."""
    if pd.api.types.is_bool_dtype(series.dtype):
        return False
    if pd.api.types.is_numeric_dtype(series.dtype):
        return bool(series.notna().any())
    return bool(np.isfinite(_parsed(series)).any())


def labels(series: pd.Series[Any], place: Place, what: str) -> tuple[Ints, NDArray[Any]]:
    """Give labels numbers in order of appearance; return codes and distinct labels.

    Labels stay what they are: integers if all of them are written as plain integers, otherwise
    stripped text, so that 007 and 7 remain two.
    """
    codes, distinct = pd.factorize(series)
    found = np.asarray(distinct)
    if found.dtype.kind in "iu" and (codes >= 0).all():
        return codes.astype(np.int64, copy=False), found
    if found.dtype.kind == "f" and np.all(found == np.floor(found)):
        found = found.astype(np.int64)
    text = [str(label).strip() for label in found.tolist()]
    empty = codes < 0
    if "" in text:
        blank = np.array([not label for label in text])
        empty = empty | blank[codes]
    if empty.any():
        raise ReadError(f"{place(int(np.argmax(empty)))}: the cell is blank; write {what}")
    merged, unique = pd.factorize(np.array(text, dtype=object))
    return merged[codes].astype(np.int64, copy=False), _as_integers(unique)


def _as_integers(text: NDArray[Any]) -> NDArray[Any]:
    if not all(t.isascii() and t.lstrip("-").isdigit() and len(t) <= 18 for t in text):
        return text
    array = np.array([int(t) for t in text], dtype=np.int64)
    canonical = all(str(v) == t for v, t in zip(array.tolist(), text, strict=True))
    return array if canonical else text
