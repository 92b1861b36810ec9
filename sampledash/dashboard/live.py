"""Update pictures while the reader drags a slider, and draw details once the reader looks at them.

A frame holds what the pictures show at one step of a slider. The frames of all steps are sent to
the browser when the pointer or the focus is on the slider. While the reader drags the slider, a
script puts the lines, points, names and numbers of a frame into the pictures that Plotly drew. This
takes a few milliseconds; drawing a picture anew takes a hundred. When the reader releases the
slider, the page runs as usual, and its address holds the new value. A step without a frame leaves
the pictures as they are. The pages work without frames too: the browser asks for frames only when
this request cannot make the page lose a change of a setting (``live.js``).

A change of a setting reruns only the answer. The details below the answer are then dimmed. They are
drawn anew once they are in sight, or once the pointer or the focus is on them.
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
from sampledash.report.numbers import unbroken

_KEY, _BELOW, _SHOWN = "live", "below", "_shown"
_SCRIPT = Path(__file__).with_suffix(".js").read_text(encoding="utf-8")
_COMPONENT = st.components.v2.component("sampledash_live", js=_SCRIPT)
# Component by which Python sends data to live.js, and by which live.js asks Python for frames.
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
    """What the page shows at one step of a slider.

    The keys of ``pictures`` are the keys of page elements; the keys of ``texts`` and ``styles`` are
    CSS selectors. ``texts`` has one text for each element that the selector finds, in order, or a
    list of texts for an element with several parts, such as a badge and a sentence. ``styles`` has
    CSS properties for these elements.
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
    """Return a frame with pictures, the headline ``sentence`` (or its parts), and numbers."""
    whole = unbroken(sentence) if isinstance(sentence, str) else list(map(unbroken, sentence))
    texts: dict[str, Sequence[str | Sequence[str]]] = {
        ".st-key-headline [data-heading-text]": [whole],
        ".st-key-strip [data-testid=stMetricValue]": [value for _, value, _ in numbers],
    }
    return Frame(pictures, texts, styles or {})


@dataclass(frozen=True)
class Follows:
    """The frames for the slider that sets one number.

    Parameters
    ----------
    name
        Key of the number.
    depends
        Everything else that the frames depend on, as a key for the cache.
    frames
        Text that the slider shows at a step -> function that makes the frame of this step.
    lines
        Whether all traces move; if not, only traces of at most two points move.
    shared
        Whether other sessions may use the frames.
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
        """Return the frames in the form in which the browser receives them; they are cached."""

        def make() -> dict[str, Any]:
            frames = {}
            for text, draw in self.frames.items():
                state.give_way()  # stop if the reader has changed a setting
                frame = draw()
                pictures = {key: _moving(x, self.lines) for key, x in frame.pictures.items()}
                frames[text] = {"pictures": pictures, "texts": frame.texts, "styles": frame.styles}
            return frames

        return memory.cached((_KEY, self.name, self.depends), make, shared=self.shared)


def listen() -> None:
    """Draw the component that reports when the reader looks at the details below the answer.

    The browser sends simultaneous events in one message, which can name only one fragment. This
    component is outside of all fragments. If its report shares a message with a change of a
    setting, the message therefore still names the fragment of this setting.
    """
    _COMPONENT(key=_KEY, on_looked_change=lambda: None, height=1)


@st.fragment
def below(draw: Callable[[Any], None]) -> None:
    """Draw the details below the answer, for the result that was last passed to :func:`follow`."""
    number, shown = st.session_state[_SHOWN]
    with st.container(key=_BELOW):
        if shown is not None:
            draw(shown)
    _tell(_BELOW, number=number)


def follow(shown: object = None, every: Sequence[Follows] = ()) -> None:
    """Send the frames that the browser asked for; store ``shown``, the result for the details.

    Call this in the fragment that draws the sliders, because a request for frames and a change of a
    slider may come in one message.
    """
    number = st.session_state.get(_SHOWN, (0, None))[0] + 1
    st.session_state[_SHOWN] = number, shown
    with st.container(key="follows", gap=None):
        _tell("answer", number=number)
        for follows in every:
            state_of = st.session_state.get(f"tell_{follows.name}") or {}
            wanted = (state_of.get("asked") or {}).get("version") == follows.version
            # The frames have their own element, so that they are not sent again with every answer.
            frames = follows.packed() if wanted else None
            _tell(follows.name, version=follows.version, frames=frames)


def _tell(name: str, **what: Any) -> None:
    _TELLING(key=f"tell_{name}", data={"of": name, **what}, on_asked_change=lambda: None, height=1)


def _moving(fig: go.Figure, lines: bool) -> dict[str, Any]:
    """Return the parts of a picture that a slider moves: traces, shapes, and names beside lines."""
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
    """Round numbers to six digits, which are enough for a screen."""
    return [float(f"{value:.6g}") for value in np.asarray(values, dtype=float)]
