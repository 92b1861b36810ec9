"""Uploaded files, kept in the session: Streamlit forgets them on a page switch."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import DeletedFile

from sampledash.dashboard.page import Problem
from sampledash.dashboard.words import escaped
from sampledash.readers import Opened, open_sources


@dataclass(frozen=True)
class Held:
    """What was uploaded last.

    Attributes
    ----------
    ident
        Text that is the same only for the same files.
    names, contents
        Of each file.
    """

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


LOST = (
    "The server has been restarted, or has ended this session: it no longer has the file that is "
    "listed here. Remove it from the list and choose it again."
)


def lost(widget: str) -> bool:
    """Whether an uploader lists files in the browser that this server has never been given."""
    listed = st.session_state.get(widget)
    return any(
        isinstance(file, DeletedFile) for file in (listed if isinstance(listed, list) else [listed])
    )


def nothing_held(widget: str, asking: str) -> Problem:
    """Ask for a file; or say why one that was given has to be given again."""
    return Problem(LOST) if lost(widget) else Problem(asking, asking=True)


def held(files: list[Any] | None, key: str) -> Held | None:
    """The files of an uploader, or those that it has forgotten, which is told; None if none."""
    if files:
        ident = "-".join(file.file_id for file in files)
        known: Held | None = st.session_state.get(key)
        if known is None or known.ident != ident:
            names, contents = [file.name for file in files], [file.getvalue() for file in files]
            st.session_state[key] = Held(ident, names, contents)
    found: Held | None = st.session_state.get(key)
    if found is not None and not files:
        st.caption(escaped(f"Still using {found.called}."))
    return found
