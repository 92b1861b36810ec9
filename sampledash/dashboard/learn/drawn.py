"""Pictures that move in the browser: a slider of Plotly, one frame for each of its steps.

Nothing is asked of the server while the slider is dragged. Axes are fixed, so that only the data
move, and the title is a live legend: it holds the numbers of the step in the colours of the lines.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import plotly.graph_objects as go

from sampledash.dashboard import theme

HEIGHT = 400
TITLE = 62  # pixels for a title of two lines
LARGE = 1.5  # how much larger letters are when the picture is projected


@dataclass(frozen=True)
class Step:
    """One place of the slider.

    Attributes
    ----------
    label
        Its value, as written: ``"100"``.
    data
        The moving traces, always the same ones in the same order.
    title
        What the step says.
    """

    label: str
    data: list[dict[str, Any]]
    title: str


def sliding(
    fixed: list[dict[str, Any]],
    steps: Sequence[Step],
    active: int,
    *,
    prefix: str,
    dark: bool,
    height: int = HEIGHT,
    gap: int = 48,
    **layout: Any,
) -> go.Figure:
    """Put a figure together whose moving traces follow a slider.

    Parameters
    ----------
    fixed
        Traces that stay.
    steps, active
        The places of the slider and the one it begins at.
    prefix
        Before the value over the slider: ``"m = "``.
    gap
        Pixels between the plot and the slider, for the labels of the axis.
    dark, height, layout
        As for :func:`sampledash.dashboard.theme.figure`.
    """
    moving = list(range(len(fixed), len(fixed) + len(steps[active].data)))
    fig = theme.figure(
        [*fixed, *steps[active].data], dark=dark, height=height, **{"hovermode": False, **layout}
    )
    fig.frames = [
        go.Frame(
            name=str(place),
            data=step.data,
            traces=moving,
            layout={"title": heading(step.title, height)},
        )
        for place, step in enumerate(steps)
    ]
    c = theme.look(dark)
    at_once = {
        "mode": "immediate",
        "frame": {"duration": 0, "redraw": True},
        "transition": {"duration": 0},
    }
    slider = {
        "active": active,
        "steps": [
            {"label": step.label, "method": "animate", "args": [[str(place)], at_once]}
            for place, step in enumerate(steps)
        ],
        "currentvalue": {"prefix": prefix, "font": {"size": 17, "color": c.ink}, "offset": 10},
        "transition": {"duration": 0},
        "pad": {"l": 12, "r": 12, "t": gap, "b": 4},
        "font": {"size": 12, "color": c.muted},
        "ticklen": 4, "minorticklen": 4, "tickcolor": c.muted,
        "bgcolor": c.blue, "activebgcolor": c.vermillion, "bordercolor": c.grid,
    }  # fmt: skip
    fig.update_layout(
        sliders=[slider], title=heading(steps[active].title, height),
        margin={"l": 8, "r": 16, "t": TITLE, "b": 8, **layout.get("margin", {})},
    )  # fmt: skip
    return fig


def heading(text: str, height: int, size: int = 16) -> dict[str, Any]:
    """A title of one line or two; Plotly anchors two lines by the second one."""
    down = 5 + 1.1 * size * ("<br>" in text)
    return {
        "text": text, "x": 0.0, "xref": "container", "xanchor": "left", "y": 1 - down / height,
        "yref": "container", "yanchor": "top", "pad": {"t": 0, "l": 6}, "font": {"size": size},
    }  # fmt: skip


def titled(fig: go.Figure, text: str) -> go.Figure:
    """A picture that does not move, under the same kind of title."""
    return fig.update_layout(title=heading(text, fig.layout.height), margin={"t": TITLE})


def colored(text: str, color: str) -> str:
    """Text in a colour, for a title."""
    return f'<span style="color:{color}">{text}</span>'


def broken(parts: Sequence[str], per_line: int = 3) -> str:
    """Parts of a title, a few on a line: a phone is narrow."""
    lines = [parts[i : i + per_line] for i in range(0, len(parts), per_line)]
    return "<br>".join("   ".join(line) for line in lines)


def marker(
    x: Sequence[float], y: Sequence[float], colors: Sequence[str], *, dark: bool, **more: Any
) -> dict[str, Any]:
    """Dots on lines."""
    return {
        "type": "scatter", "mode": "markers", "x": list(x), "y": list(y), "hoverinfo": "skip",
        "cliponaxis": False,
        "marker": {"color": list(colors), "size": 13,
                   "line": {"color": theme.look(dark).page, "width": 2}},
        **more,
    }  # fmt: skip


def upright(x: float, low: float, top: float, color: str) -> dict[str, Any]:
    """An upright line that can move with the slider: a trace, not a shape."""
    return {
        "type": "scatter", "mode": "lines", "x": [x, x], "y": [low, top], "hoverinfo": "skip",
        "line": {"color": color, "width": 1.5},
    }  # fmt: skip


def large(fig: go.Figure) -> go.Figure:
    """The same picture with letters for the last row of a lecture room."""
    layout = fig.layout
    for axis in (layout.xaxis, layout.yaxis):
        axis.tickfont.size = 18
        axis.title.font.size = 20
    height = layout.height = round(1.1 * layout.height)
    layout.title = heading(layout.title.text, height, 23)
    for frame in fig.frames:
        frame.layout.title = heading(frame.layout.title.text, height, 23)
    layout.margin.t = 88
    for note in layout.annotations:
        note.font.size = LARGE * (note.font.size or 14)
    for slider in layout.sliders:
        slider.currentvalue.font.size = 26
        slider.font.size = 17
        slider.pad.t = 66
    for trace in [*fig.data, *(trace for frame in fig.frames for trace in frame.data)]:
        if trace.type == "scatter" and trace.line.width:
            trace.line.width = LARGE * trace.line.width
    return fig
