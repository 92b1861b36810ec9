"""Own weights of the true ranks: where they come from, and what was understood."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import streamlit as st

from sampledash.dashboard import cache, state
from sampledash.dashboard.correct.weights import weights_of_file, weights_of_text
from sampledash.dashboard.ranks.held import LOST, Held, held, lost
from sampledash.dashboard.ranks.trouble import escaped
from sampledash.report.numbers import count
from sampledash.types import Floats

KEY = "weights"  # of the typed text, in the session and the address
IN_LINK = 1_000  # characters up to which it travels in a link
_TEXT, _FILE, _USED = "_weights_typed", "_weights_file", "_weights_used"
PLACEHOLDER = "rank,weight\n1,40\n2,25\n10,5\n1000,1"


def digest(data: bytes, about: object = "") -> str:
    """Text that is the same only for the same data."""
    return hashlib.sha256(f"{about}\n".encode() + data).hexdigest()


@dataclass(frozen=True)
class Given:
    """Weights that were given, before n is known.

    Attributes
    ----------
    ident
        Text that is the same only for the same content.
    parse
        Weights of the ranks 1..n; a ValueError says why there are none.
    """

    ident: str
    parse: Callable[[int], Floats]

    def of(self, n: int) -> Floats:
        """Weights of the ranks 1..n, parsed once."""
        return cache.kept(f"weights|{self.ident}|{n}", lambda: self.parse(n), shared=False)


def choose() -> Given | None:
    """Draw the field and the uploader; None while nothing is given. What came last counts."""
    left, right = st.columns([3, 2])
    if KEY not in st.session_state:
        st.session_state[KEY] = st.session_state.get(_TEXT, st.query_params.get(KEY, ""))
    typed = left.text_area(
        "Weights of the true ranks", key=KEY, height=120, placeholder=PLACEHOLDER,
        on_change=_use, args=("text",),
        help="A number for each rank 1..n, or a line rank,weight for each rank that has one. They "
        "need not sum to 1.",
    )  # fmt: skip
    st.session_state[_TEXT] = typed
    with right:
        file = st.file_uploader(
            "or a file of them", key="weights_file", on_change=_use, args=("file",),
            help="The same as text, or a numpy array (.npy). It stays in this session.",
        )  # fmt: skip
        last = held([file] if file is not None else None, _FILE) if _from_file(file) else None
        if last is None and lost("weights_file"):
            st.caption(LOST)
    _put_in_address(typed if last is None else "")
    if last is not None:
        return _of_file(last)
    if not typed.strip():
        return None
    return Given(digest(typed.encode(errors="replace")), lambda n: weights_of_text(typed, n))


def in_link() -> dict[str, str]:
    """The typed weights with their default, where a link carries them."""
    return {KEY: ""} if KEY in st.query_params else {}


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


def leave() -> None:
    """Take the weights out of the address: another prior is chosen."""
    _put_in_address("")


def _use(what: str) -> None:
    st.session_state[_USED] = what
    if what == "file" and st.session_state.get("weights_file") is None:  # it was taken away
        st.session_state.pop(_FILE, None)


def _from_file(file: object) -> bool:
    known = file is not None or _FILE in st.session_state
    return known and st.session_state.get(_USED) == "file"


def _of_file(last: Held) -> Given:
    data, name = last.contents[0], last.names[0]
    return Given(digest(data, name), lambda n: weights_of_file(data, name, n))


def _put_in_address(typed: str) -> None:
    state.put_in_address(KEY, typed if typed.strip() and len(typed) <= IN_LINK else "")
