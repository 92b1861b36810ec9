"""Own weights of the true ranks: typed, pasted or in a file, and what was understood."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from io import BytesIO
from typing import Any

import numpy as np
import streamlit as st

from sampledash.checks import is_numeral, not_a_number, shown
from sampledash.dashboard import cache, state
from sampledash.dashboard.uploads import LOST, lost, pasted, uploaded
from sampledash.dashboard.words import escaped
from sampledash.readers.contents import check_utf8, kind_of, load
from sampledash.readers.errors import ReadError
from sampledash.readers.tables import load_array
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
    about = "The same as text, or a numpy array (.npy). It stays in this session."
    changed: dict[str, Any] = {"on_change": _use, "args": ("file",)}
    with right:
        file = st.file_uploader("or a file of them", key="weights_file", help=about, **changed)
        from_file = st.session_state.get(_USED) == "file" and (file or _FILE in st.session_state)
        last = uploaded([file] if file else None, _FILE) if from_file else None
        if last is None and lost("weights_file"):
            st.caption(LOST)
    put_in_address("" if last else typed)
    if last is None and not typed.strip():
        return None
    data, name = (last.contents[0], last.names[0]) if last else (typed, "pasted text")

    def weights(n: int) -> Floats:
        if isinstance(data, str):
            return weights_of_text(data, n)
        return weights_of_file(data, name, n)

    return lambda n: cache.cached(("weights", data, name, n), lambda: weights(n), shared=False)


def _use(what: str) -> None:
    st.session_state[_USED] = what
    if what == "file" and st.session_state.get("weights_file") is None:  # it was taken away
        st.session_state.pop(_FILE, None)


def put_in_address(typed: str) -> None:
    """Short typed weights travel in a link; none do while another prior is chosen."""
    state.put_in_address(KEY, typed if typed.strip() and len(typed) <= IN_LINK else "")


def note(weights: Floats) -> None:
    """Say what was understood, and whether a link carries it."""
    half = int(np.searchsorted(np.cumsum(weights), weights.sum() / 2)) + 1
    first = f"rank {half} has" if half == 1 else f"the first {count(half)} have"
    above = count(int(np.count_nonzero(weights)))
    said = f"Weights of the ranks 1 to {count(len(weights))}, {above} of them above 0; "
    said += f"{first} half of their sum or more."
    if KEY not in st.query_params:
        said += f" They do not travel in a link: up to {count(IN_LINK)} typed characters do, files "
        said += "never."
    st.caption(escaped(said))


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
    return _checked(array.astype(np.float64), n, name, range(1, len(array) + 1), "value")


def weights_of_text(text: str, n: int, *, name: str = "pasted text") -> Floats:
    """Weights of the ranks 1..n, the largest of them 1: shape (n,).

    One number for each rank, in order, apart by commas, semicolons, spaces or lines; or a line
    ``rank,weight`` for each rank that has a weight, the others weighing nothing. A header line is
    skipped. A :class:`ReadError` names the line, the value and the remedy.

    Examples
    --------
    >>> weights_of_text("4, 2, 1", 3), weights_of_text("1,2\\n3,0.5", 3)
    (array([1.  , 0.5 , 0.25]), array([1.  , 0.  , 0.25]))
    """
    if len(text) > _LONGEST:
        raise ReadError(f"{name} is longer than {_LONGEST} characters: round the weights")
    split = ([x for x in _APART.split(line) if x] for line in text.splitlines())
    lines = [(place, cells) for place, cells in enumerate(split, start=1) if cells]
    header = {cell.lower() for cell in lines[0][1]} if lines else {""}
    paired = False
    if header <= _HEADERS:
        paired = len(lines.pop(0)[1]) == 2
    cells = [(place, cell) for place, cells in lines for cell in cells]
    if len(cells) > _MOST:
        raise ReadError(
            f"{name} holds more than {_MOST:,} numbers: give a weight for each rank 1..{n}"
        )
    if not cells:
        raise ReadError(f"{name} holds no number: give a weight for each rank 1..{n}")
    values = np.array([_number(cell, place, name) for place, cell in cells], dtype=np.float64)
    odd = next((place for place, cells in lines if len(cells) != 2), None)
    if not paired and (odd is not None or len(lines) == 1):
        return _checked(values, n, name, [place for place, _ in cells], "line")
    if odd is not None:
        raise ReadError(
            f"{name}, line {odd}: write two numbers, a rank and its weight, such as 12,0.5"
        )
    return _by_rank(values[::2], values[1::2], n, name, [place for place, _ in lines])


def _number(cell: str, place: int, name: str) -> float:
    if not is_numeral(cell):
        raise ReadError(f"{name}, line {place}: {not_a_number(cell)}; write weights as 0.5 or 2e-3")
    return float(cell)


def _by_rank(ranks: Floats, given: Floats, n: int, name: str, places: Sequence[int]) -> Floats:
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
    _refuse(given, name, places, "line")
    found = np.zeros(n)
    found[whole - 1] = given
    return _scaled(found, name)


def _checked(values: Floats, n: int, name: str, places: Sequence[int], what: str) -> Floats:
    _refuse(values, name, places, what)
    if len(values) != n:
        raise ReadError(
            f"{name} holds {len(values)} weights, but n = {n} needs {n}, one for each rank: "
            "complete them, change n, or write a line rank,weight for each rank that has one"
        )
    return _scaled(values, name)


def _refuse(values: Floats, name: str, places: Sequence[int], what: str) -> None:
    bad = ~(np.isfinite(values) & (values >= 0))
    if np.any(bad):
        i = int(np.argmax(bad))
        wrong = "is negative" if values[i] < 0 else "is not a number of usual size"
        raise ReadError(f"{name}, {what} {places[i]}: {values[i]:g} {wrong}; weights are 0 or more")


def _scaled(values: Floats, name: str) -> Floats:
    """The same with largest weight 1: sums of very large or small ones stay numbers."""
    largest = float(values.max())
    if largest == 0:
        raise ReadError(f"{name} holds only zeros: give weight to the ranks that occur")
    return values / largest
