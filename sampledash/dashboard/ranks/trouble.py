"""What is wrong with the ranks, in place of the sentence; and a user's text as it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import streamlit as st

from sampledash.report.numbers import shortened

LONGEST_NAME = 24


@dataclass(frozen=True)
class Trouble:
    """Why the ranks cannot be read, and what can be done about it here."""

    sentence: str
    button: str = ""
    remedy: Callable[[], None] | None = None
    asking: bool = False  # nothing is wrong: something is still to be given
    others: tuple[tuple[str, Callable[[], None]], ...] = ()  # further remedies

    def show(self) -> None:
        """Take the sentence's place."""
        say, icon = (st.info, ":material/info:") if self.asking else (st.error, ":material/error:")
        say(escaped(self.sentence), icon=icon)
        if self.remedy is None:
            return
        with st.container(horizontal=True):
            st.button(self.button, on_click=self.remedy, type="primary")
            for label, remedy in self.others:
                st.button(label, on_click=remedy)


def shown(name: str) -> str:
    """A system's name in a sentence: short, and as it is."""
    return escaped(shortened(name, LONGEST_NAME))


def escaped(text: str) -> str:
    """Text of a user for Markdown: shown as it is, also what looks like an address."""
    text = text.replace("://", ":\u2060//").replace("www.", "www\u2060.")
    for sign in "\\`*_{}[]<>#|~$:":
        text = text.replace(sign, "\\" + sign)
    return text
