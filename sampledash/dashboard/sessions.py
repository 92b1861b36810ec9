"""The end of a session: its memory goes back to the system once its reader has left.

Streamlit keeps the session of a closed tab, with its files, until a later one is closed; a session
is held by circles of references, which Python looks for only while it makes new objects; and the C
library keeps for itself what has been freed.
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

LOOK = 45.0  # seconds between looks whether a reader has come back; gone at two, the session ends
_DUE: list[asyncio.TimerHandle] = []


def watch() -> None:
    """Note the session that runs: when its connection is lost, the looks begin."""
    if context := get_script_run_ctx():
        _connected(context.session_id)


def _disconnected(ident: str) -> None:
    session = get_instance().get_app_session(ident)
    asyncio.get_running_loop().call_later(LOOK, _look, session, 0)


def _look(session: Any, absent: int) -> None:
    """End a session that was absent at two looks; one that came back may leave again, unnoted."""
    loop, runtime = asyncio.get_running_loop(), get_instance()
    absent = 0 if runtime.is_active_session(session.id) else absent + 1
    if absent < 2:
        loop.call_later(LOOK, _look, session, absent)
        return
    runtime.close_session(session.id)
    # Streamlit's loop holds the session that it served last, until the next one comes. To clear its
    # state would leave what describes the widgets, and functions there hold ranks and results.
    session._session_state = SessionState()
    session._fragment_storage.clear()
    if not _DUE:  # once for all sessions that end together
        _DUE.append(loop.call_later(2, _give_back))


@st.cache_resource(scope="session", show_spinner=False, on_release=_disconnected)
def _connected(session: str) -> str:
    return session  # Streamlit releases it where the connection is lost


def _give_back() -> None:
    """Give memory that nobody uses back to the system; the GNU C library must be asked to."""
    _DUE.clear()
    gc.collect()
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
