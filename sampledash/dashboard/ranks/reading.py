"""Reading what was uploaded or typed, in the way the reader chose; all of it in the session.

The way of reading is a dictionary of options of :func:`sampledash.read_rank_sets`, one for each
content, changed by the buttons that answer a complaint and by the preview.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import streamlit as st

from sampledash.dashboard import state
from sampledash.dashboard.page import Problem
from sampledash.dashboard.ranks import preview
from sampledash.dashboard.words import escaped
from sampledash.readers import (
    CensoredItems,
    DifferentInstances,
    MissingCandidates,
    Opened,
    Reading,
    ZeroBasedRanks,
)
from sampledash.report.numbers import count

TIED, LEFT_OUT = "Tied behind the ranked items", "Leave those queries out"
_OPENED, _READINGS, _HOW = "_opened", "_readings", "_reading"
# Options of the reader in the order in which a script writes them.
_OPTIONS = ("n", "zero_based", "instances", "runs", "censored", "systems")


def options(ident: str) -> dict[str, Any]:
    """The way of reading one content; to be changed in place."""
    hows: dict[str, dict[str, Any]] = st.session_state.setdefault(_HOW, {})
    return hows.setdefault(ident, {})


def averaged(ident: str) -> bool:
    """Whether the content repeats its instances and the repetitions are averaged."""
    opened: Opened | None = st.session_state.get(_OPENED, {}).get(ident)
    return opened is not None and opened.repeated and options(ident).get("runs") != "apart"


def read(ident: str, parse: Callable[[], Opened]) -> tuple[Reading | None, Problem | None]:
    """Parse once per content, read once per way of reading; ask for what the content leaves open.

    Draws the field for n where it lacks, and the preview.
    """
    how = options(ident)
    try:
        opened = _opened(ident, parse)
    except ValueError as error:
        return None, Problem(state.spelled(error))
    if how.get("ask_n"):
        _ask_n(ident, how)
    try:
        reading = _read(ident, opened, how)
        trouble = None
    except MissingCandidates as error:
        if not how.get("ask_n"):
            how["ask_n"] = True
            st.rerun()
        reading, trouble = None, Problem(state.spelled(error), asking=True)
    except ValueError as error:
        reading, trouble = None, _remedies(error, how)
    if reading is not None:
        st.caption(escaped(f"Understood: {reading.summary}."))
    preview.preview(ident, opened, how, reading)
    return reading, trouble


def _opened(ident: str, parse: Callable[[], Opened]) -> Opened:
    held: dict[str, Opened] = st.session_state.setdefault(_OPENED, {})
    if ident not in held:
        with st.spinner("Reading the ranks", show_time=True):
            opened = parse()
        held.clear()  # one at a time: uploads can be large
        held[ident] = opened
    return held[ident]


def _read(ident: str, opened: Opened, how: dict[str, Any]) -> Reading:
    chosen = {key: how[key] for key in _OPTIONS if how.get(key) is not None}
    held: dict[tuple[str, str], Reading] = st.session_state.setdefault(_READINGS, {})
    key = (ident, repr(chosen))
    if key not in held:
        with st.spinner("Reading the ranks", show_time=True):
            reading = opened.read(**chosen)
        held.clear()
        held[key] = reading
    return held[key]


def _ask_n(ident: str, how: dict[str, Any]) -> None:
    how["n"] = st.number_input(
        "n, candidates of every instance", min_value=2, value=how.get("n"), step=1,
        key=f"n_of_{ident}", placeholder="for example 10000",
        help="The data do not say how many candidates a ranking held.",
    )  # fmt: skip


def _remedies(error: ValueError, how: dict[str, Any]) -> Problem:
    """The sentence, with a button for each way out."""
    said = state.spelled(error)

    def again(**more: Any) -> Callable[[], None]:
        return lambda: how.update(more)

    if isinstance(error, ZeroBasedRanks):
        return Problem(said, "The ranks count from 0: add 1", again(zero_based=True))
    if isinstance(error, CensoredItems):
        left: tuple[tuple[str, Callable[[], None]], ...] = ()
        if error.instances < error.queries:
            left = ((LEFT_OUT, again(censored="left-out")),)
        return Problem(said, TIED, again(censored="tied"), others=left)
    if isinstance(error, DifferentInstances):
        if error.shared:
            many = "instance they share" if error.shared == 1 else "instances they share"
            return Problem(
                said, f"Compare the {count(error.shared)} {many}", again(instances="shared")
            )
        return Problem(said, "Compare them as they are", again(instances="any"))
    return Problem(said)


def expression(call: str, argument: str, how: Mapping[str, Any]) -> str:
    """The Python expression that reads the same: ``sd.read_rank_sets("ranks.csv", n=3706)``."""
    plain: dict[str, Any] = {
        "zero_based": False,
        "instances": "same",
        "runs": "averaged",
        "censored": "refuse",
    }
    given = [
        f"{key}={how[key]!r}"
        for key in _OPTIONS
        if how.get(key) is not None and how[key] != plain.get(key)
    ]
    return f"sd.{call}({', '.join([argument, *given])})"
