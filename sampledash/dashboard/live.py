"""Update pictures while the reader drags a slider, and draw details once the reader looks at them.

A frame holds what the pictures show at one step of a slider. The browser receives the frames of all
steps after the page has opened, and again when the pointer or the focus is on the slider. While the
reader drags the slider, a script puts the lines, points, names and numbers of the nearest frame
into the pictures that Plotly drew. This takes a few milliseconds, whereas drawing a picture anew
takes a hundred. When the reader releases the slider, the page runs as usual, and its address holds
the new value. The pages also work without frames. ``live.js`` asks for frames only while the reader
presses no key or button and Python is idle, so that no change of a setting is lost.

A change of a setting reruns only the upper part of the page, the *answer*. The details below the
answer are then dimmed. They are drawn anew once they are visible, or once the pointer or the focus
is on them.
"""

import time
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

import numpy as np
import streamlit as st

from sampledash.analyses import memory, theme
from sampledash.dashboard import page, scripts, state
from sampledash.report.numbers import unbroken
from sampledash.types import Floats

T = TypeVar("T")
_KEY, _BELOW, _SHOWN, _DRAWN = "live", "below", "_shown", "_drawn"
_COMPONENT = scripts.component("live.js")
# Component by which Python sends data to live.js, and by which live.js asks Python for frames.
_TELLING = scripts.short("telling.js")
# Component that receives the frames of a slider.
_FRAMES = scripts.short("frames.js")
_PIXELS = 300  # assumed height of a picture in pixels: frames round values to less than a pixel


@dataclass(frozen=True)
class Frame:
    """What the page shows at one step of a slider.

    The keys of ``pictures`` are the keys of page elements; the keys of ``texts`` and ``styles`` are
    CSS selectors. ``texts`` has one text for each element that the selector finds, in order, or a
    list of texts for an element with several parts, such as a badge and a sentence. ``styles`` has
    CSS properties for these elements.
    """

    pictures: Mapping[str, theme.Picture]
    texts: Mapping[str, Sequence[str | Sequence[str]]]
    styles: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def frame(
    pictures: Mapping[str, theme.Picture],
    sentence: str | Sequence[str],
    numbers: Iterable[tuple[str, str, str]],
    styles: Mapping[str, Mapping[str, str]] | None = None,
) -> Frame:
    """Return a frame from pictures, the headline ``sentence`` (or its parts), and numbers.

    A number has a label, a value and a meaning; the frame holds only its value.
    """
    whole = unbroken(sentence) if isinstance(sentence, str) else list(map(unbroken, sentence))
    texts: dict[str, Sequence[str | Sequence[str]]] = {
        ".st-key-headline [data-heading-text]": [whole],
        ".st-key-strip [data-testid=stMetricValue]": [value for _, value, _ in numbers],
    }
    return Frame(pictures, texts, styles or {})


@dataclass(frozen=True)
class Follows:
    """The frames (page content at each step) of a slider.

    Parameters
    ----------
    name
        Key of the number that the slider sets.
    depends
        Everything else that the frames depend on, as a key for the cache.
    numbers, draw
        The steps of the slider, and a function that makes the frame for one of them.
    lines
        Whether all traces (lines and points) move; if not, only traces of at most two points do.
    shared
        Whether other sessions may use the frames.
    """

    name: str
    depends: Hashable
    numbers: Sequence[float]
    draw: Callable[[Any], Frame]
    lines: bool = True
    shared: bool = True

    @property
    def version(self) -> str:
        return str(hash((self.name, self.depends)))

    def packed(self) -> bytes:
        """Return the frames in the form in which the browser receives them; they are cached."""

        def make() -> bytes:
            frames = {}
            for number in self.numbers:
                state.give_way()  # stop if the reader has changed a setting
                frame = self.draw(number)
                pictures = {x: _moving(fig, self.lines) for x, fig in frame.pictures.items()}
                frames[number] = {**vars(frame), "pictures": pictures}
            return page.packed({"version": self.version, "frames": frames})

        return memory.cached((_KEY, self.name, self.depends), make, shared=self.shared)


def listen() -> None:
    """Draw the component that reports when the reader looks at the lower part of the page.

    A fragment is a part of the page that Streamlit reruns alone. The browser may send this report
    and a change of a setting in one message, but a message can name only one fragment. This
    component is outside of all fragments, so that the message names the fragment of the setting.
    """
    _COMPONENT(key=_KEY, on_looked_change=lambda: None, height=1)


def controls(draw: Callable[[], T]) -> Callable[[], T]:
    """Return a function that draws controls, so that the page can draw its picture before them.

    The picture needs the values of the controls. These are known if the last run of the page drew
    the same controls. Otherwise draw the controls now; the returned function then does nothing.
    """
    drawn = cache(draw)
    if not state.in_fragment() or st.session_state.get(_DRAWN) != state.value("scheme"):
        st.session_state[_DRAWN] = None
        drawn()
    return drawn


@st.fragment
def below(draw: Callable[[Any], None]) -> None:
    """Draw the lower part of the page, for the result that was last passed to :func:`follow`."""
    number, shown, _ = st.session_state[_SHOWN]
    with st.container(key=_BELOW):
        if shown is not None:
            draw(shown)
    _tell(_BELOW, {_BELOW: {"number": number, "address": state.address()}})


def follow(shown: object = None, every: Sequence[Follows] = (), answers: Hashable = None) -> None:
    """Let pictures follow dragged sliders, and let the details below use the result ``shown``.

    Call this function in the fragment of the sliders, the part of the page that reruns when a
    slider changes. A change and a request for frames may arrive in one message. Streamlit then
    reruns only one fragment, so this fragment must handle both. ``answers`` identifies the result.
    While ``answers`` is the same, the details below are not dimmed.
    """
    number, before = st.session_state.get(_SHOWN, (0, None, None))[0::2]
    number += answers is None or answers != before
    st.session_state[_SHOWN] = number, shown, answers
    st.session_state[_DRAWN] = None if shown is None else state.value("scheme")
    asked = (st.session_state.get("tell_answer") or {}).get("asked") or {}
    versions = {follows.name: {"version": follows.version} for follows in every}
    _tell("answer", {"answer": {"number": number}, **versions})
    for follows in every:
        if asked.get(follows.name) == follows.version:
            _FRAMES(key=f"frames_{follows.name}", data=follows.packed(), height=1)


def _tell(name: str, data: Mapping[str, Any]) -> None:
    # Add the time of the run, so that the data differ in each run. Otherwise live.js would not
    # notice a run with an unchanged result, and would keep the frame of the dragged slider.
    data = {**data, name: {**data[name], "run": time.monotonic()}}
    _TELLING(key=f"tell_{name}", data=data, on_asked_change=lambda: None, height=1)


def _moving(fig: theme.Picture, lines: bool) -> dict[str, Any]:
    """Return the parts of a picture that a slider moves: traces, shapes, names of lines, axes.

    A trace is given by its x and y; for a trace that does not move, None is given.
    """
    written = fig.as_written()
    data, layout = written["data"], written["layout"]
    places = ("x", "y", "xanchor", "yanchor", "xshift", "yshift", "text")
    ends = {"range", "tickvals", "ticktext"}

    def axis(trace: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        drawn: Mapping[str, Any] = layout.get(f"{name}axis{trace.get(f'{name}axis', name)[1:]}", {})
        return drawn

    def moved(trace: Mapping[str, Any]) -> list[list[float]]:
        x, y = (np.asarray(trace[name], dtype=float) for name in "xy")
        low, high = axis(trace, "y").get("range") or (0.0, 0.0)
        if trace.get("mode") == "lines" and len(x) > 3 and high != low:
            x, y = thinned(x, y, abs(high - low) / _PIXELS, axis(trace, "x").get("type") == "log")
            y = np.round(y, 1 - int(np.floor(np.log10(abs(high - low) / _PIXELS))))
        return [[float(f"{value:.6g}") for value in part] for part in (x, y)]

    return {
        "traces": [moved(x) if lines or len(x["x"]) < 3 else None for x in data],
        "shapes": [
            [shape["x0"], shape.get("fillcolor"), shape["line"].get("color")]
            for shape in layout["shapes"]
        ],
        "names": [{key: note.get(key, 0) for key in places} for note in layout["annotations"]],
        "axes": {x: {y: v[y] for y in ends & v.keys()} for x, v in layout.items() if "axis" in x},
    }


def thinned(x: Floats, y: Floats, error: float, log: bool) -> tuple[Floats, Floats]:
    """Return x and y of a line without points that lie almost on the line through other points.

    For a smooth line, each removed point differs in y by less than ``error`` from the line through
    the remaining points. ``log`` says whether the x axis is logarithmic.
    """
    at = np.log(x) if log else x
    keep = np.arange(len(x))
    for turn in range(2 * int(np.log2(len(x)))):
        # Remove only every second point, so that neighbours are not removed at the same time.
        inner = np.arange(1 + turn % 2, len(keep) - 1, 2)
        a, b, c = keep[inner - 1], keep[inner], keep[inner + 1]
        between = (at[b] - at[a]) * (at[c] - at[b]) > 0
        share = (at[b] - at[a]) / np.where(between, at[c] - at[a], 1.0)
        missed = np.abs(y[a] + share * (y[c] - y[a]) - y[b])
        keep = np.delete(keep, inner[between & (missed < error / 4)])
    return x[keep], y[keep]
