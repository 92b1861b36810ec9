"""Free the memory of a session once its reader has left.

Three things would keep this memory. Streamlit keeps the session of a closed tab, with its files,
until a later tab is closed. Reference cycles hold a session, and Python searches for cycles only
while it makes new objects. The C library does not return freed memory to the system by itself.
"""

from __future__ import annotations

import asyncio
import ctypes
import gc
from contextlib import suppress
from typing import Any

import streamlit as st
from streamlit.runtime import get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state import SessionState

LOOK = 45.0  # seconds between checks; the session ends if the reader is absent at two in a row
_DUE: list[asyncio.TimerHandle] = []


def watch() -> None:
    """Register the current session, so that the checks begin when its connection is lost."""
    if context := get_script_run_ctx():
        _connected(context.session_id)


def _disconnected(ident: str) -> None:
    session = get_instance().get_app_session(ident)
    asyncio.get_running_loop().call_later(LOOK, _look, session, 0)


def _look(session: Any, absent: int) -> None:
    """End a session whose reader is absent at two checks in a row; otherwise check again later.

    Checks go on while the reader is there, as a later loss of connection may not be reported.
    """
    loop, runtime = asyncio.get_running_loop(), get_instance()
    absent = 0 if runtime.is_active_session(session.id) else absent + 1
    if absent < 2:
        loop.call_later(LOOK, _look, session, absent)
        return
    runtime.close_session(session.id)
    # Streamlit's loop holds the last session until it serves another. The state is replaced, since
    # clearing it would keep the descriptions of widgets, whose functions hold ranks and results.
    session._session_state = SessionState()
    session._fragment_storage.clear()
    if not _DUE:  # free memory once for all sessions that end at about the same time
        _DUE.append(loop.call_later(2, _give_back))


@st.cache_resource(scope="session", show_spinner=False, on_release=_disconnected)
def _connected(session: str) -> str:
    return session  # Streamlit calls ``on_release`` when the connection is lost


def _give_back() -> None:
    """Return unused memory to the system; the GNU C library does so only on request."""
    _DUE.clear()
    gc.collect()
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
