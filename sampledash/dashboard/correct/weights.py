"""Weights of the true ranks as a user gives them: typed, pasted or in a file."""

from __future__ import annotations

import re
from io import BytesIO

import numpy as np

from sampledash.checks import is_numeral, not_a_number, shown
from sampledash.readers.arrays import load_array
from sampledash.readers.contents import check_utf8, kind_of, load
from sampledash.readers.errors import ReadError
from sampledash.types import Floats

_LONGEST = 10_000_000  # characters: a hundred for each of the most ranks
_MOST = 200_000  # numbers: a rank and a weight for each of the most ranks
_APART = re.compile(r"[,;\s]+")
_HEADERS = {"rank", "ranks", "r", "weight", "weights", "prior", "p", "probability", "count"}


def weights_of_file(source: bytes, name: str, n: int) -> Floats:
    """Weights of the ranks 1..n from a file: text, or a numpy array of one dimension.

    Raises
    ------
    ReadError
        As :func:`weights_of_text`.
    """
    data, _ = load(BytesIO(source), name)
    kind = kind_of(data, name)
    if kind == "text":
        check_utf8(data, name)
        return weights_of_text(data.decode().removeprefix("\ufeff"), n, name=name)
    if kind == "parquet":
        raise ReadError(f"{name} is a Parquet file: save the weights as CSV")
    array = load_array(data, name)
    if array.dtype.names is not None or array.ndim != 1:
        raise ReadError(f"{name} has shape {array.shape}: save one weight for each rank 1..{n}")
    return _checked(array.astype(np.float64), n, name, list(range(1, len(array) + 1)), "value")


def weights_of_text(text: str, n: int, *, name: str = "pasted text") -> Floats:
    """Weights of the ranks 1..n, the largest of them 1: shape (n,).

    Parameters
    ----------
    text
        One number for each rank, in order, apart by commas, semicolons, spaces or lines; or a line
        ``rank,weight`` for each rank that has a weight, the others weighing nothing. A header line
        is skipped.
    n
        Candidates.
    name
        How messages call the text.

    Raises
    ------
    ReadError
        A ``ValueError`` that names the line, the value and the remedy.

    Examples
    --------
    >>> weights_of_text("4, 2, 1", 3), weights_of_text("1,2\\n3,0.5", 3)
    (array([1.  , 0.5 , 0.25]), array([1.  , 0.  , 0.25]))
    """
    if len(text) > _LONGEST:
        raise ReadError(f"{name} is longer than {_LONGEST} characters: round the weights")
    lines = [
        (place, [cell for cell in _APART.split(line) if cell])
        for place, line in enumerate(text.splitlines(), start=1)
    ]
    lines = [(place, cells) for place, cells in lines if cells]
    if sum(len(cells) for _, cells in lines) > _MOST + 2:
        raise ReadError(
            f"{name} holds more than {_MOST:,} numbers: give a weight for each rank 1..{n}"
        )
    header = bool(lines) and {cell.lower() for cell in lines[0][1]} <= _HEADERS
    pairs = header and len(lines[0][1]) == 2
    lines = lines[header:]
    places = [place for place, cells in lines for _ in cells]
    values = np.array(
        [_number(cell, place, name) for place, cells in lines for cell in cells], dtype=np.float64
    )
    if not values.size:
        raise ReadError(f"{name} holds no number: give a weight for each rank 1..{n}")
    if pairs or (len(lines) > 1 and all(len(cells) == 2 for _, cells in lines)):
        odd = next((place for place, cells in lines if len(cells) != 2), None)
        if odd is not None:
            raise ReadError(
                f"{name}, line {odd}: write two numbers, a rank and its weight, such as 12,0.5"
            )
        rows = [place for place, _ in lines]
        return _by_rank(values[::2], values[1::2], n, name, rows)
    return _checked(values, n, name, places, "line")


def _number(cell: str, place: int, name: str) -> float:
    if not is_numeral(cell):
        raise ReadError(f"{name}, line {place}: {not_a_number(cell)}; write weights as 0.5 or 2e-3")
    return float(cell)


def _by_rank(ranks: Floats, given: Floats, n: int, name: str, places: list[int]) -> Floats:
    off = (ranks != np.floor(ranks)) | (ranks < 1) | (ranks > n)
    if np.any(off):
        i = int(np.argmax(off))
        raise ReadError(
            f"{name}, line {places[i]}: {shown(float(ranks[i]))} is not a rank; write a whole "
            f"number in 1..{n}, or change n"
        )
    whole = ranks.astype(np.int64)
    _, first, times = np.unique(whole, return_index=True, return_counts=True)
    if np.any(times > 1):
        again = int(whole[first[times > 1][0]])
        raise ReadError(f"{name} gives rank {again} twice: keep one")
    found = np.zeros(n)
    found[whole - 1] = _finite(given, name, places, "line")
    return _scaled(found, name)


def _checked(values: Floats, n: int, name: str, places: list[int], what: str) -> Floats:
    _finite(values, name, places, what)
    if len(values) != n:
        raise ReadError(
            f"{name} holds {len(values)} weights, but n = {n} needs {n}, one for each rank: "
            "complete them, change n, or write a line rank,weight for each rank that has one"
        )
    return _scaled(values, name)


def _finite(values: Floats, name: str, places: list[int], what: str) -> Floats:
    bad = ~(np.isfinite(values) & (values >= 0))
    if np.any(bad):
        i = int(np.argmax(bad))
        wrong = "is negative" if values[i] < 0 else "is not a number of usual size"
        raise ReadError(f"{name}, {what} {places[i]}: {values[i]:g} {wrong}; weights are 0 or more")
    return values


def _scaled(values: Floats, name: str) -> Floats:
    """The same with largest weight 1: sums of very large or small ones stay numbers."""
    largest = float(values.max())
    if largest == 0:
        raise ReadError(f"{name} holds only zeros: give weight to the ranks that occur")
    return values / largest
