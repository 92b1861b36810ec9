"""What a reader uploads or pastes, kept in the session: Streamlit forgets both on a page switch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import DeletedFile

from sampledash.dashboard import state
from sampledash.dashboard.page import Problem
from sampledash.dashboard.words import escaped
from sampledash.readers import Opened, open_sources

LOST = (
    "The server has been restarted, or has ended this session: it no longer has the file that is "
    "listed here. Remove it from the list and choose it again."
)


@dataclass(frozen=True)
class Upload:
    """What was uploaded last; ``ident`` is the same only for the same files."""

    ident: str
    names: list[str]
    contents: list[bytes]

    @property
    def called(self) -> str:
        """The names in one phrase."""
        *first, last = self.names
        return f"{', '.join(first)} and {last}" if first else last

    @property
    def parse(self) -> Callable[[], Opened]:
        """Parses the files anew."""
        return lambda: open_sources([BytesIO(data) for data in self.contents], name=self.names)


def uploaded(files: list[Any] | None, key: str) -> Upload | None:
    """The files of an uploader, or those that it has forgotten, which is told; None if none."""
    found: Upload | None = st.session_state.get(key)
    if files:
        ident = "-".join(file.file_id for file in files)
        if found is None or found.ident != ident:
            names, contents = [file.name for file in files], [file.getvalue() for file in files]
            found = st.session_state[key] = Upload(ident, names, contents)
    elif found is not None:
        st.caption(escaped(f"Still using {found.called}."))
    return found


def lost(widget: str) -> bool:
    """Whether an uploader lists files in the browser that this server has never been given."""
    listed = st.session_state.get(widget)
    files = listed if isinstance(listed, list) else [listed]
    return any(isinstance(file, DeletedFile) for file in files)


def nothing_uploaded(widget: str, asking: str) -> Problem:
    """Ask for a file; or say why one that was given has to be given again."""
    return Problem(LOST) if lost(widget) else Problem(asking, asking=True)


def pasted(label: str, *, key: str, address: str, place: Any = st, **field: Any) -> str:
    """Draw a field for typed text, begun with what was typed before or what a link brings.

    ``key`` is that of the widget, ``address`` that of the text in the address.
    """
    if key not in st.session_state:
        typed_before = st.session_state.get(f"_{key}")
        st.session_state[key] = typed_before or st.query_params.get(address, "")
    typed: str = place.text_area(label, key=key, **field)
    st.session_state[f"_{key}"] = typed
    return typed


def carry(address: str, typed: str) -> None:
    """Put typed text where the address and the copied link find it; "" takes it away."""
    st.session_state[address] = typed
    state.put_in_address(address, typed if typed.strip() else "")
