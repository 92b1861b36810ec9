"""Own weights of the true ranks: typed, pasted or in a file, and what was understood."""

from __future__ import annotations

import re
from collections.abc import Callable
from io import BytesIO
from typing import Any

import numpy as np
import streamlit as st

from sampledash.checks import is_numeral, not_a_number, shown
from sampledash.dashboard import cache, state
from sampledash.dashboard.uploads import LOST, lost, pasted, uploaded
from sampledash.readers.tables import load_array
from sampledash.readers.upload_limits import ReadError, check_utf8, kind_of, load
from sampledash.report.escape import escaped
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
        return weights_of_file(data, n, name)

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


def weights_of_file(source: bytes, n: int, name: str) -> Floats:
    """Weights of the ranks 1..n from a file: text, or a numpy array of one dimension."""
    data, _ = load(BytesIO(source), name)
    kind = kind_of(data, name)
    if kind == "text":
        check_utf8(data, name)
        return weights_of_text(data.decode().removeprefix("\ufeff"), n, name)
    if kind == "parquet":
        raise ReadError(f"{name} is a Parquet file: save the weights as CSV")
    array = load_array(data, name)
    if array.dtype.names is not None or array.ndim != 1:
        raise ReadError(f"{name} has shape {array.shape}: save one weight for each rank 1..{n}")
    return _of_ranks(None, array.astype(np.float64), n, name, lambda i: f"{name}, value {i + 1}")


def weights_of_text(text: str, n: int, name: str = "pasted text") -> Floats:
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
    lines = [(f"{name}, line {i}", cells) for i, cells in enumerate(split, start=1) if cells]
    header = {cell.lower() for cell in lines[0][1]} if lines else {""}
    paired = False
    if header <= _HEADERS:
        paired = len(lines.pop(0)[1]) == 2
    cells = [(place, cell) for place, cells in lines for cell in cells]
    if not 0 < len(cells) <= _MOST:
        holds = f"more than {_MOST:,} numbers" if cells else "no number"
        raise ReadError(f"{name} holds {holds}: give a weight for each rank 1..{n}")
    values = np.array([_number(cell, place) for place, cell in cells], dtype=np.float64)
    odd = next((place for place, cells in lines if len(cells) != 2), None)
    if not paired and (odd is not None or len(lines) == 1):
        return _of_ranks(None, values, n, name, lambda i: cells[i][0])
    if odd is not None:
        raise ReadError(f"{odd}: write two numbers, a rank and its weight, such as 12,0.5")
    return _of_ranks(values[::2], values[1::2], n, name, lambda i: lines[i][0])


def _number(cell: str, place: str) -> float:
    if not is_numeral(cell):
        raise ReadError(f"{place}: {not_a_number(cell)}; write weights as 0.5 or 2e-3")
    return float(cell)


def _of_ranks(
    ranks: Floats | None, values: Floats, n: int, name: str, place: Callable[[int], str]
) -> Floats:
    """The weights by rank, checked; ``None``: one for each rank 1..n."""
    if ranks is not None:
        off = (ranks != np.floor(ranks)) | (ranks < 1) | (ranks > n)
        if np.any(off):
            i = int(np.argmax(off))
            raise ReadError(
                f"{place(i)}: {shown(float(ranks[i]))} is not a rank; write a whole number in "
                f"1..{n}, or change n"
            )
        _, first, times = np.unique(ranks, return_index=True, return_counts=True)
        if np.any(times > 1):
            again = int(ranks[first[times > 1][0]])
            raise ReadError(f"{name} gives rank {again} twice: keep one")
    bad = ~(np.isfinite(values) & (values >= 0))
    if np.any(bad):
        i = int(np.argmax(bad))
        wrong = "is negative" if values[i] < 0 else "is not a number of usual size"
        raise ReadError(f"{place(i)}: {values[i]:g} {wrong}; weights are 0 or more")
    if ranks is None and len(values) != n:
        raise ReadError(
            f"{name} holds {len(values)} weights, but n = {n} needs {n}, one for each rank: "
            "complete them, change n, or write a line rank,weight for each rank that has one"
        )
    found = np.zeros(n)
    found[slice(None) if ranks is None else ranks.astype(np.int64) - 1] = values
    if not found.any():
        raise ReadError(f"{name} holds only zeros: give weight to the ranks that occur")
    found /= found.max()  # sums of very large or small ones stay numbers
    return found
