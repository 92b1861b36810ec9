"""What every page has for those who hear it, use the keyboard, or change between light and dark.

The headline of a page is the third level of its headings: the two above it are heard, not seen.
What scrolls within the page, such as a long formula on a phone, can be reached by Tab. Colours of
pictures are chosen here, so another theme takes another run.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import streamlit as st

_SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
_COMPONENT = st.components.v2.component("sampledash_access", js=_SCRIPT, isolate_styles=False)


def outline(*titles: str) -> None:
    """Put the titles above the page, the highest level first."""
    look: dict[str, Any] = {"on_scheme_change": lambda: None, "height": 1}
    _COMPONENT(key="outline", data=list(titles), **look)
