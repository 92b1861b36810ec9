"""Send messages to readers at once, and free the memory of a session once its reader has left.

Without this module, memory stays in use for three reasons. Streamlit holds the session of a
closed tab, with its files, until a later tab is closed. Sessions are part of reference cycles, and
Python searches for cycles only while it makes new objects. The C library does not return freed
memory to the operating system by itself.
"""

import asyncio
import ctypes
import gc
from contextlib import suppress
from functools import cache
from socket import IPPROTO_TCP, SOCK_STREAM, TCP_NODELAY, socket
from typing import Any

import streamlit as st
from streamlit.runtime import get_instance
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.runtime.state import SessionState

# Seconds between two checks of a session. If two checks in a row find no reader, the session ends.
LOOK = 45.0
_DUE: list[asyncio.TimerHandle] = []


@cache
def send_at_once() -> None:
    """Let the server send small messages without delay (TCP_NODELAY); once per process.

    Without this option, a message waits until the browser has acknowledged the message before it,
    which takes up to 40 ms. New connections inherit the option from the socket that listens for
    them. Streamlit gives no access to this socket, so it is found among all objects of Python.
    """
    for each in gc.get_objects():
        if type(each) is socket and each.type == SOCK_STREAM:
            with suppress(OSError):  # the option fails for other sockets than TCP
                each.setsockopt(IPPROTO_TCP, TCP_NODELAY, 1)


def watch() -> None:
    """Register the reader's session, so that ``_look`` ends it once the browser is gone."""
    send_at_once()
    if context := get_script_run_ctx():
        _connected(context.session_id)


def _disconnected(ident: str) -> None:
    asyncio.get_running_loop().call_later(LOOK, _look, get_instance().get_app_session(ident), 0)


def _look(session: Any, absent: int) -> None:
    """End a session whose reader is absent at two checks in a row; otherwise check again later.

    ``absent`` counts the last checks in a row that found no reader. The checks go on while the
    reader is connected, because Streamlit may not report a later loss of the connection.
    """
    loop, runtime = asyncio.get_running_loop(), get_instance()
    absent = 0 if runtime.is_active_session(session.id) else absent + 1
    if absent < 2:
        loop.call_later(LOOK, _look, session, absent)
        return
    runtime.close_session(session.id)
    # Streamlit's event loop keeps a reference to the last session until the loop serves another
    # session. Replacing the session's state frees the old state. Clearing the state would keep the
    # widgets, whose functions refer to ranks and results.
    session._session_state = SessionState()
    session._fragment_storage.clear()
    if not _DUE:  # one call frees the memory of all sessions that end at about the same time
        _DUE.append(loop.call_later(2, _give_back))


@st.cache_resource(scope="session", show_spinner=False, on_release=_disconnected)
def _connected(session: str) -> str:
    # When the connection is lost, Streamlit drops this cached value and calls _disconnected.
    return session


def _give_back() -> None:
    """Return unused memory to the operating system; the GNU C library does so only if asked."""
    _DUE.clear()
    gc.collect()
    with suppress(AttributeError):
        ctypes.CDLL(None).malloc_trim(0)
