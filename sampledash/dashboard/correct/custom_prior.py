"""Own weights of the true ranks: typed, pasted or in a file, and what was understood."""

from __future__ import annotations

import re
from collections.abc import Callable
from io import BytesIO

import numpy as np
import streamlit as st

from sampledash.checks import is_numeral, not_a_number, shown
from sampledash.dashboard import cache, state
from sampledash.dashboard.uploads import LOST, lost, pasted, uploaded
from sampledash.dashboard.words import escaped
from sampledash.readers.binary import load_array
from sampledash.readers.contents import check_utf8, kind_of, load
from sampledash.readers.errors import ReadError
from sampledash.report.numbers import count
from sampledash.types import Floats

KEY = "weights"  # of the typed text, in the session and the address
IN_LINK = 1_000  # characters up to which it travels in a link
PLACEHOLDER = "rank,weight\n1,40\n2,25\n10,5\n1000,1"
_FILE, _USED = "_weights_file", "_weights_used"

Given = Callable[[int], Floats]  # weights of the ranks 1..n, once n is known


def choose() -> Given | None:
    """Draw the field and the uploader; None while nothing is given. What came last counts."""
    left, right = st.columns([3, 2])
    typed = pasted(
        "Weights of the true ranks",
        key=KEY,
        address=KEY,
        place=left,
        height=120,
        placeholder=PLACEHOLDER,
        on_change=_use,
        args=("text",),
        help="A number for each rank 1..n, or a line rank,weight for each rank that has one. They "
        "need not sum to 1.",
    )
    with right:
        file = st.file_uploader(
            "or a file of them",
            key="weights_file",
            on_change=_use,
            args=("file",),
            help="The same as text, or a numpy array (.npy). It stays in this session.",
        )
        from_file = st.session_state.get(_USED) == "file" and (file or _FILE in st.session_state)
        last = uploaded([file] if file else None, _FILE) if from_file else None
        if last is None and lost("weights_file"):
            st.caption(LOST)
    put_in_address("" if last else typed)
    if last is not None:
        data, name = last.contents[0], last.names[0]
        return lambda n: cache.cached(
            ("weights", data, name, n), lambda: weights_of_file(data, name, n), shared=False
        )
    if not typed.strip():
        return None
    return lambda n: cache.cached(
        ("weights", typed, n), lambda: weights_of_text(typed, n), shared=False
    )


def _use(what: str) -> None:
    st.session_state[_USED] = what
    if what == "file" and st.session_state.get("weights_file") is None:  # it was taken away
        st.session_state.pop(_FILE, None)


def put_in_address(typed: str) -> None:
    """Short typed weights travel in a link; none do while another prior is chosen."""
    state.put_in_address(KEY, typed if typed.strip() and len(typed) <= IN_LINK else "")


def note(weights: Floats) -> None:
    """Say what was understood, and whether a link carries it."""
    travels = (
        ""
        if KEY in st.query_params
        else f" They do not travel in a link: up to {count(IN_LINK)} typed characters do, files "
        "never."
    )
    st.caption(escaped(f"{understood(weights)}{travels}"))


def understood(weights: Floats) -> str:
    """What weights say of the ranks.

    Examples
    --------
    >>> understood(np.array([4.0, 0.0, 1.0, 1.0]))
    'Weights of the ranks 1 to 4, 3 of them above 0; rank 1 has half of their sum or more.'
    """
    half = int(np.searchsorted(np.cumsum(weights), weights.sum() / 2)) + 1
    first = f"rank {half} has" if half == 1 else f"the first {count(half)} have"
    above = int(np.count_nonzero(weights))
    return (
        f"Weights of the ranks 1 to {count(len(weights))}, {count(above)} of them above 0; "
        f"{first} half of their sum or more."
    )


_LONGEST = 10_000_000  # characters: a hundred for each of the most ranks
_MOST = 200_000  # numbers: a rank and a weight for each of the most ranks
_APART = re.compile(r"[,;\s]+")
_HEADERS = {"rank", "ranks", "r", "weight", "weights", "prior", "p", "probability", "count"}


def weights_of_file(source: bytes, name: str, n: int) -> Floats:
    """Weights of the ranks 1..n from a file: text, or a numpy array of one dimension."""
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
