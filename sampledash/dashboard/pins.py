"""Settings that the reader pins, to compare their results with the current result.

The address holds the pins as ``pin=…|…``. The text of a pin is a query, ``key=value&...``, of those
pinned settings that differ from their defaults.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple, TypeVar
from urllib.parse import urlencode

import streamlit as st

from sampledash.analyses import theme
from sampledash.dashboard import state
from sampledash.report.escape import escaped
from sampledash.report.numbers import spell

Q = TypeVar("Q")
# In the address: the separator of pins, and the text of a pin in which all settings are defaults.
_BETWEEN, _DEFAULT = "|", "-"
_MOST = len(theme.PINNED)


class Pin(NamedTuple):
    """Settings that the reader pinned for comparison (question), and their result (answer)."""

    # Text such as "m = 50, k = 5": the number of negatives m, and each setting whose value in the
    # pin differs from its value now.
    name: str
    question: Any
    answer: Any


def pins(
    now: Q | None,
    check: Callable[[], Q],
    compute: Callable[[Q], Any],
    page_defaults: Mapping[str, Any],
    about: Callable[[Q], list[str]],
) -> tuple[list[Pin], Callable[[], None]]:
    """Return the pins, and a function that draws a button to add a pin and buttons to remove one.

    A pin holds settings that the reader keeps for comparison. ``check`` returns the settings in one
    value, the *question*, and ``compute`` computes the result of a question. ``about`` returns
    texts that describe a question, in addition to the settings that all pages share. ``now`` is the
    current question. If the settings have never been valid, ``now`` is None, and no pins are
    returned. A pin whose settings are the current ones, or for which ``check``, ``compute`` or
    ``about`` fails, is not returned, but has a button.
    """
    if now is None:
        return [], lambda: None
    place = f"_pins_{type(now).__module__}"
    if place not in st.session_state or state.went_back():
        st.session_state[place] = st.query_params.get(state.PIN, "")
    state.put_in_address(state.PIN, st.session_state[place])
    texts = [text for text in st.session_state[place].split(_BETWEEN) if text][-_MOST:]

    def put(kept: Sequence[str]) -> None:
        st.session_state[place] = _BETWEEN.join(kept[-_MOST:])

    def add() -> None:
        text = urlencode(state.changed(page_defaults)) or _DEFAULT
        put([*(x for x in texts if x != text), text])

    def described(question: Q) -> list[str]:
        parts, shared = about(question), state.setting()
        if any("@" in part for part in parts):
            shared.pop("k")  # the name of a metric, such as Recall@10, already shows the cutoff k
        return parts + [x if key == "scheme" else f"{key} = {x}" for key, x in shared.items()]

    read, problem = list[tuple[list[str], Q | None, Any]](), ""
    for text in texts:
        try:
            if text != _DEFAULT and "=" not in text:
                raise KeyError(text)
            with state.pinned(text, page_defaults):
                question = check()
                read.append((described(question), question, compute(question)))
        except (KeyError, TypeError, ValueError) as error:  # a link may hold invalid settings
            why = spell(error) if isinstance(error, ValueError) else "The link is not ours."
            read.append((["not shown"], None, None))
            problem = f"The pinned settings cannot be shown. {why}"
    ours, shown, names, labels = described(now), list[Pin](), list[str](), list[str]()
    for number, (parts, asked, answer) in enumerate(read):
        name = ", ".join(x for x in parts if x.startswith("m = ") or x not in ours)
        names.append(f"{name} ({number + 1})" if name in names else name)
        stroke = ""
        if answer is not None and asked != now:
            stroke = f"{list(theme.PINNED)[len(shown)]} "
            shown.append(Pin(names[-1], asked, answer))
        labels.append(f"{stroke}{escaped(names[-1])} :material/close:")

    def draw() -> None:
        words = f"Keeps what is shown, to compare it with other settings: the latest {_MOST}."
        st.button("Pin", icon=":material/keep:", key="pin", on_click=add, help=words)
        for number, (label, (parts, *_)) in enumerate(zip(labels, read, strict=True)):
            others = [*texts[:number], *texts[number + 1 :]]
            options: dict[str, Any] = {"key": f"unpin_{number}", "on_click": put, "args": (others,)}
            st.button(label, help=f"Removes this pin: {', '.join(parts)}.", **options)
        if problem:
            st.caption(escaped(problem))

    return shown, draw


def note(pins: Sequence[Pin]) -> None:
    """Write a caption that names the last pin, whose values are shown below the page's numbers."""
    if pins:
        st.caption(escaped(f"Below the numbers: {pins[-1].name}, the latest pin."))
