"""What follows a change: pictures the hand at once, what stands below the answer when looked at.

What the pictures show at every step of a slider is sent ahead. While it is dragged, a script in
the browser puts the lines, points, names and numbers of its step into the pictures as Plotly drew
them, which takes a few milliseconds where drawing them anew takes a hundred. The frames are made
when a hand rests near the slider. When it is let go the page runs as ever, and holds the value in
its address. A step without a frame moves nothing. Frames are a convenience: they are asked for
where no change can be lost by it (``live.js``).

A change runs the answer alone. What stands below it is drawn anew once it is in sight, or a hand or
the focus comes to it; until then it is dimmed.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import plotly.graph_objects as go
import streamlit as st

from sampledash.analyses import memory
from sampledash.dashboard import state

_KEY, _BELOW, _SHOWN = "live", "below", "_shown"
_SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
_COMPONENT = st.components.v2.component("sampledash_live", js=_SCRIPT)
# What an element of the page tells the script, and by which it asks for frames.
_TELLING = st.components.v2.component(
    "sampledash_telling",
    js="""const elements = window.sampledashTold ??= new Map();
export default function ({ data, setStateValue }) {
  elements.set(data.of, { ...data, ask: (wanted) => setStateValue("asked", wanted) });
  window.sampledashLive?.hear?.();
  return () => elements.delete(data.of);
}""",
)


@dataclass(frozen=True)
class Frame:
    """One step: pictures by the key of their element, texts and styles by a CSS selector.

    The texts of a selector are those of the elements it finds, in their order; of an element in
    parts, such as a badge and a sentence, there is a list. Styles are properties of an element.
    """

    pictures: Mapping[str, go.Figure]
    texts: Mapping[str, Sequence[str | Sequence[str]]]
    styles: Mapping[str, Mapping[str, str]] = field(default_factory=dict)


def frame(
    pictures: Mapping[str, go.Figure],
    sentence: str | Sequence[str],
    numbers: Iterable[tuple[str, str, str]],
    styles: Mapping[str, Mapping[str, str]] | None = None,
) -> Frame:
    """A frame with the headline of the page, in parts if it has a badge, and its strip."""
    texts: dict[str, Sequence[str | Sequence[str]]] = {
        ".st-key-headline [data-heading-text]": [sentence],
        ".st-key-strip [data-testid=stMetricValue]": [value for _, value, _ in numbers],
    }
    return Frame(pictures, texts, styles or {})


@dataclass(frozen=True)
class Follows:
    """What follows the sliders of one number.

    Parameters
    ----------
    name
        Key of the number.
    depends
        What the frames depend on besides that number.
    frames
        By what the slider says at a step the function that makes its frame.
    lines
        Whether lines of many points move too.
    shared
        Whether they may serve other sessions.
    """

    name: str
    depends: Hashable
    frames: Mapping[str, Callable[[], Frame]]
    lines: bool = True
    shared: bool = True

    @property
    def version(self) -> str:
        return str(hash((self.name, self.depends)))

    def packed(self) -> dict[str, Any]:
        """The frames as they are sent."""

        def make() -> dict[str, Any]:
            frames = {}
            for text, draw in self.frames.items():
                state.give_way()  # a change comes first
                frame = draw()
                pictures = {key: _moving(x, self.lines) for key, x in frame.pictures.items()}
                frames[text] = {"pictures": pictures, "texts": frame.texts, "styles": frame.styles}
            return frames

        return memory.cached((_KEY, self.name, self.depends), make, shared=self.shared)


def listen() -> None:
    """Hear when what stands below the answer is looked at: above all fragments of a page.

    A browser sends what happens at the same moment in one message, for the fragment that comes
    first. From here a look names no fragment, so that a change that comes along keeps its own.
    """
    _COMPONENT(key=_KEY, on_looked_change=lambda: None, height=1)


@st.fragment
def below(draw: Callable[[Any], None]) -> None:
    """Draw what stands below the answer, of what it last showed (:func:`follow`)."""
    number, shown = st.session_state[_SHOWN]
    with st.container(key=_BELOW):
        if shown is not None:
            draw(shown)
    _tell(_BELOW, number=number)


def follow(shown: object = None, every: Sequence[Follows] = ()) -> None:
    """Let pictures follow the sliders, and what stands below the answer what it shows, if any.

    Called where the sliders are drawn: what the browser asks for may come with their change.
    """
    number = st.session_state.get(_SHOWN, (0, None))[0] + 1
    st.session_state[_SHOWN] = number, shown
    with st.container(key="follows", gap=None):
        _tell("answer", number=number)
        for follows in every:
            state_of = st.session_state.get(f"tell_{follows.name}") or {}
            wanted = (state_of.get("asked") or {}).get("version") == follows.version
            # Frames are an element of their own: sent once, however often the answer is.
            frames = follows.packed() if wanted else None
            _tell(follows.name, version=follows.version, frames=frames)


def _tell(name: str, **what: Any) -> None:
    _TELLING(key=f"tell_{name}", data={"of": name, **what}, on_asked_change=lambda: None, height=1)


def _moving(fig: go.Figure, lines: bool) -> dict[str, Any]:
    """What moves in a picture: traces, shapes over the whole height, and names at the lines."""
    written = fig.as_written()
    data, layout = written["data"], written["layout"]
    places = ("x", "y", "xanchor", "yanchor", "xshift", "yshift", "text", "bgcolor")
    return {
        "traces": [
            [_short(trace["x"]), _short(trace["y"])] if lines or len(trace["x"]) < 3 else None
            for trace in data
        ],
        "shapes": [
            [shape["x0"], shape.get("fillcolor"), shape["line"].get("color")]
            for shape in layout["shapes"]
        ],
        "names": [{key: note.get(key, 0) for key in places} for note in layout["annotations"]],
    }


def _short(values: Iterable[float]) -> list[float]:
    """Numbers to the precision a screen has."""
    return [float(f"{value:.6g}") for value in np.asarray(values, dtype=float)]
