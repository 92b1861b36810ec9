"""Widgets for uploaded files and pasted text, which this module stores in the session.

Otherwise Streamlit would forget the files and the text when the reader goes to another page.
"""

from collections.abc import Callable
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import DeletedFile

from sampledash.dashboard import page, state
from sampledash.readers.assemble import Opened
from sampledash.readers.files import bundled, open_sources
from sampledash.report.escape import escaped
from sampledash.report.numbers import listed
from sampledash.report.templates import texts

LOST, GONE = texts(Path(__file__).with_suffix(".txt")).values()


@dataclass(frozen=True)
class Upload:
    """The files of an upload; uploads with different files have different values of ``ident``."""

    ident: str
    names: list[str]
    contents: list[bytes]

    @property
    def called(self) -> str:
        """The names of the files in one phrase."""
        return listed(self.names)

    def parse(self) -> Opened:
        """Parse the files; the result is not cached."""
        return open_sources([BytesIO(data) for data in self.contents], name=self.names)


def uploaded(files: list[Any] | None, key: str) -> Upload | None:
    """Return the files of an uploader, or None if there are none.

    If the uploader is empty, for example after a change of pages, the files stored under ``key``
    are returned, and a caption says so.
    """
    last: Upload | None = st.session_state.get(key)
    if files:
        ident = "-".join(file.file_id for file in files)
        if last is None or last.ident != ident:
            names, contents = [file.name for file in files], [file.getvalue() for file in files]
            last = st.session_state[key] = Upload(ident, names, contents)
    elif last is not None:
        st.caption(escaped(f"Still using {last.called}."))
    return last


def uploaded_file(label: str, *, key: str, help: str) -> Upload | None:
    """Draw an uploader of a single file; return the file, or None if there is none."""
    file = st.file_uploader(label, key=key, help=help)
    return uploaded([file] if file else None, f"_{key}")


def upload(
    label: str, templates: Callable[[], None], *, key: str, help: str, asking: str
) -> Upload:
    """Draw an uploader of files; return the uploaded files.

    ``templates`` is called to draw downloads of templates below the uploader. Raise a Problem if no
    file is uploaded.
    """
    files = st.file_uploader(label, accept_multiple_files=True, key=key, help=help)
    templates()
    last = uploaded(files, f"_{key}")
    # The key ``given`` stays in the address after the session has ended, and shows that files were
    # uploaded.
    given = f"{key}_given"
    if last is None:
        gone = LOST if lost(key) else GONE if given in st.query_params else ""
        raise page.Problem(gone or asking, asking=not gone)
    state.put_in_address(given, "1")
    if lost(key):  # the reader has chosen only some of the lost files again
        st.warning(LOST)
    return last


def template(label: str, name: str, saved: str, mime: str) -> None:
    """Draw the button that downloads the bundled template ``name`` as the file ``saved``."""
    data = (bundled() / "templates" / name).read_bytes
    page.download(label, data, saved, mime, type="tertiary", key=f"template_{name}")


def lost(widget: str) -> bool:
    """Whether an uploader, the ``widget``, lists files that the server no longer has."""
    listed = st.session_state.get(widget)
    files = listed if isinstance(listed, list) else [listed]
    return any(isinstance(file, DeletedFile) for file in files)


def pasted(label: str, *, key: str, address: str, **field: Any) -> str:
    """Draw a text field and return its text.

    At first, the field contains the text typed earlier in this session. If there is none, it
    contains the text in the page's address. ``key`` is the key of the widget, and ``address`` is
    the key of the text in the address.
    """
    if key not in st.session_state:
        st.session_state[key] = st.session_state.get(f"_{key}") or st.query_params.get(address, "")
    typed: str = st.text_area(label, key=key, **field)
    st.session_state[f"_{key}"] = typed
    return typed


def carry(address: str, typed: str) -> None:
    """Put typed text into the address and into copied links; "" removes the text again."""
    st.session_state[address] = typed
    state.put_in_address(address, typed if typed.strip() else "")
