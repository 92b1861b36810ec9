"""How pictures get on the screen, the same on every page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import plotly.graph_objects as go
import streamlit as st

from sampledash.dashboard import theme

# Only what helps: a picture to take away. Zooming is done by the controls of the page.
_CONFIG: dict[str, Any] = {
    "displaylogo": False,
    "modeBarButtons": [["toImage"]],
    "toImageButtonOptions": {"format": "svg", "filename": "sampledash"},
}


def is_dark() -> bool:
    """Whether the page is dark now; pass it to the functions of ``figures``."""
    return bool(st.context.theme.type == "dark")


def show(
    fig: go.Figure,
    *,
    key: str,
    alt: str,
    dim: bool = False,
    on_select: Callable[[], None] | None = None,
) -> None:
    """Draw a figure.

    Parameters
    ----------
    key
        The same from run to run, so that the picture changes instead of blinking.
    alt
        What it shows, for a screen reader.
    dim
        Whether it is the last good picture behind an error.
    on_select
        Called when the reader clicks on a point; ``st.session_state[key]`` tells which.
    """
    # A picture that hears no clicks is drawn without a word to the server.
    chosen: dict[str, Any] = {}
    if on_select is not None:
        chosen = {"on_select": on_select, "selection_mode": "points"}
    st.plotly_chart(
        theme.dimmed(fig) if dim else fig,
        width="stretch",
        theme=None,
        key=key,
        config=_CONFIG,
        alt=alt,
        **chosen,
    )
