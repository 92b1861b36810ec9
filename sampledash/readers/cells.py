"""Cells to arrays: vectorised checks that fall back to the first bad cell for the message."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampledash.checks import TOO_LARGE, is_numeral, not_a_number, shown
from sampledash.readers.errors import ReadError
from sampledash.readers.limits import LONGEST_NAME, check_labels, check_name
from sampledash.types import Floats, Ints

Place = Callable[[int], str]  # row of the series -> where that cell is


_EXACT = 1e15  # whole numbers below it are read alike by everybody
_SHORT = 2**30  # whole numbers below it have a sum in 32 bits


def compact(pieces: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Join pieces of a column of numbers in little room: a file has millions of rows.

    One value for all rows is a view of it; whole numbers take 32 bits where a sum of two fits.
    """
    filled = [piece for piece in pieces if piece.size]
    if not filled:
        return pieces[0]
    low, high = min(p.min() for p in filled), max(p.max() for p in filled)
    kind = filled[0].dtype
    if kind.kind in "iu" and high < TOO_LARGE:
        kind = np.dtype(np.int32 if low >= -_SHORT and high < _SHORT else np.int64)
    if low == high:
        return np.broadcast_to(np.asarray(low, dtype=kind), sum(p.size for p in filled))
    if len(filled) == 1:
        return filled[0].astype(kind, copy=False)
    return np.concatenate(filled, dtype=kind, casting="unsafe")


def numbers(series: pd.Series[Any], place: Place, what: str) -> NDArray[Any]:
    """Cells as an integer or float array; text and blanks are refused by their place."""
    if pd.api.types.is_bool_dtype(series.dtype):
        raise ReadError(f"{place(0)}: {not_a_number(series.iloc[0])}; write {what}")
    blank = series.isna().to_numpy()
    if pd.api.types.is_numeric_dtype(series.dtype):
        if not blank.any():
            array: NDArray[Any] = series.to_numpy()
            return array if array.dtype.kind in "iu" else array.astype(np.float64, copy=False)
        values = series.to_numpy(dtype=np.float64, na_value=np.nan)
    else:
        values = _parsed(series)
    bad = np.isnan(values)
    if bad.any():
        i = int(np.argmax(bad))
        cell = series.iloc[i]
        empty = blank[i] or (isinstance(cell, str) and not cell.strip())
        got = "the cell is blank" if empty else not_a_number(cell)
        raise ReadError(f"{place(i)}: {got}; write {what}")
    return values


def _parsed(series: pd.Series[Any]) -> Floats:
    """Text to floats, NaN where it is none; true/false, "nan" and "inf" are no numbers."""
    if isinstance(series.dtype, pd.CategoricalDtype):
        known = _parsed(pd.Series(series.cat.categories))
        return np.append(known, np.nan)[series.cat.codes.to_numpy()]  # the last one for blanks
    if series.dtype == object:  # of mixed types: 1 and True would be one
        series = series.map(_tagged)
    read = pd.to_numeric(series, errors="coerce")
    values = np.array(read.to_numpy(dtype=np.float64, na_value=np.nan))
    with np.errstate(invalid="ignore"):
        sure = (values == np.floor(values)) & (np.abs(values) < _EXACT)
    # pandas rounds some fractions, and calls more things numbers.
    odd = np.flatnonzero(~sure)
    codes, distinct = pd.factorize(series.iloc[odd])
    exact = [float(cell) if is_numeral(cell) else np.nan for cell in distinct.tolist()]
    values[odd] = np.append(exact, np.nan)[codes]
    return values


def _tagged(cell: object) -> str | None:
    """A cell as text; blanks are no text."""
    return None if cell is None or cell is pd.NA else str(cell)


def whole(series: pd.Series[Any], place: Place, what: str) -> Ints:
    """Cells as :func:`compact` integers; fractions and what is too large for sums are refused."""
    array = numbers(series, place, what)
    small = (array > -TOO_LARGE) & (array < TOO_LARGE)  # neither for what is not finite
    bad = ~small if array.dtype.kind in "iu" else ~(small & (array == np.floor(array)))
    if bad.any():
        i = int(np.argmax(bad))
        large = np.isfinite(array[i]) and not small[i]
        wrong = (
            f"{array[i]:.3g} is too large" if large else f"{shown(array[i])} is not a whole number"
        )
        raise ReadError(f"{place(i)}: {wrong}; write {what}")
    return compact([array if array.dtype.kind in "iu" else array.astype(np.int64)])


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
    small = found.dtype.kind in "iuf" and bool(np.all((found > -TOO_LARGE) & (found < TOO_LARGE)))
    if small and (found.dtype.kind != "f" or np.all(found == np.floor(found))):
        found = found.astype(np.int64)
        if (codes >= 0).all():
            return codes.astype(np.int64, copy=False), found
    check_labels(len(found), place(0))
    text = [str(label).strip() for label in found.tolist()]
    if text:
        longest = max(range(len(text)), key=lambda i: len(text[i]))
        if len(text[longest]) > LONGEST_NAME:
            check_name(text[longest], place(int(np.argmax(codes == longest))))
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
