"""The pages, in the order of the menu. Adding a page is one line."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from sampledash.dashboard import state

# file in pages/, title, icon; the first one opens at the bare address
PAGES = (
    ("start", "Start", ":material/home:"),
    ("explore", "Explore", ":material/show_chart:"),
    ("consistency", "Consistency", ":material/rule:"),
    ("correct", "Correct", ":material/build:"),
    ("paper", "Paper", ":material/article:"),
    ("learn", "Learn", ":material/school:"),
)


def run() -> None:
    """Show the menu and run the chosen page."""
    folder = Path(__file__).parent / "pages"
    pages = [
        st.Page(folder / f"{name}.py", title=title, icon=icon, url_path=name, default=not place)
        for place, (name, title, icon) in enumerate(PAGES)
    ]
    page = st.navigation(pages, position="top")
    state.entered(page.url_path)
    page.run()
