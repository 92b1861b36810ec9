"""Links to the same state on another page."""

from __future__ import annotations

import streamlit as st

from sampledash.dashboard import state
from sampledash.dashboard.learn.words import Link

# Said in full: what the reader chose elsewhere before must not change what the lesson shows.
_SHARED = ("n", "m", "k", "scheme")


def query(target: Link) -> dict[str, str | list[str]]:
    """The whole query of a link."""
    shared = {key: str(state.DEFAULTS[key]) for key in _SHARED}
    given = {k: v if isinstance(v, str) else list(v) for k, v in target.query.items()}
    return {"v": state.VERSION, **shared, **given}


def link(target: Link) -> None:
    """Draw a link."""
    st.page_link(
        f"sampledash/dashboard/pages/{target.page}.py", label=target.label,
        icon=":material/arrow_outward:", query_params=query(target),
    )  # fmt: skip
