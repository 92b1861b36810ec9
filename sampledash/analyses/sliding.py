"""Pictures that move in the browser: a Plotly slider with one frame for each step.

The browser needs no server while the slider is dragged. The axes are fixed, so that only the data
move. The title is a live legend: it holds the numbers of the step in the colours of the lines.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go

from sampledash.analyses import theme
from sampledash.report.escape import plain
from sampledash.report.numbers import count, percent
from sampledash.report.sentences import ranking
from sampledash.types import Floats, Ints

HEIGHT = 400
TITLE = 62  # height of a title of two lines, in pixels
LARGE = 1.5  # enlargement of notes and line widths when the picture is projected
Trace = dict[str, Any]


@dataclass(frozen=True)
class Step:
    """One step of the slider: the label of its value, the moving traces, and the title."""

    label: str
    data: list[Trace]
    title: str


@dataclass(frozen=True)
class Curve:
    """A line to draw: its name, its y values as shares, and its style as a Plotly ``line``."""

    name: str
    y: Floats
    line: dict[str, Any]

    @property
    def color(self) -> str:
        """The colour of the line."""
        return str(self.line["color"])


def scatter(mode: str, x: Sequence[Any], y: Sequence[Any], **more: Any) -> Trace:
    """Trace of lines, markers or text (``mode``) without hover text."""
    return {"type": "scatter", "mode": mode, "x": x, "y": y, "hoverinfo": "skip", **more}


def sliding(
    fixed: list[Trace],
    steps: Sequence[Step],
    active: int,
    *,
    prefix: str = "m = ",
    dark: bool,
    height: int = HEIGHT,
    gap: int = 48,
    **layout: Any,
) -> go.Figure:
    """Return a figure whose moving traces follow a slider; a single step has no slider.

    The ``fixed`` traces do not move. All ``steps`` have the same traces in the same order, and the
    slider begins at step number ``active``. ``prefix`` stands before the value above the slider.
    ``gap`` is the distance from the plot to the slider in pixels: room for the labels of the axis.
    """
    c, begun = theme.look(dark), steps[active]
    moving = list(range(len(fixed), len(fixed) + len(begun.data)))
    margin = {"l": 8, "r": 16, "t": TITLE, "b": 8, **layout.pop("margin", {})}
    data = [*fixed, *begun.data]
    fig = theme.figure(data, dark=dark, height=height, hovermode=False, margin=margin, **layout)
    still = {"duration": 0}
    at_once = {"mode": "immediate", "frame": {**still, "redraw": True}, "transition": still}
    frames, places = [], []
    for place, step in enumerate(steps):
        title = {"title": heading(step.title, height)}
        frames.append(go.Frame(name=str(place), data=step.data, traces=moving, layout=title))
        shown = {"method": "animate", "args": [[str(place)], at_once]}
        places.append({"label": step.label, **shown})
    fig.frames = frames
    slider = {
        "active": active,
        "steps": places,
        "currentvalue": {"prefix": prefix, "font": {"size": 17, "color": c.ink}, "offset": 10},
        "transition": still,
        "pad": {"l": 12, "r": 12, "t": gap, "b": 4},
        "font": {"size": 12, "color": c.muted},
        "ticklen": 4,
        "minorticklen": 4,
        "tickcolor": c.muted,
        "bgcolor": c.blue,
        "activebgcolor": c.vermillion,
        "bordercolor": c.grid,
    }
    # Let Plotly fit the margins: titles and labels change with the step, and grow when projected.
    fit = {"xaxis_automargin": True, "yaxis_automargin": True}
    return fig.update_layout(
        sliders=[slider] * (len(steps) > 1), title=heading(begun.title, height), **fit
    )


def still(data: list[Trace], title: str, *, height: int, dark: bool, **layout: Any) -> go.Figure:
    """A picture without a slider, with a title in the style of :func:`sliding`."""
    fig = theme.figure(data, dark=dark, height=height, hovermode=False, **layout)
    top = {"title": heading(title, height), "margin": {"l": 8, "t": TITLE, "b": 8}}
    return fig.update_layout(**top, xaxis_automargin=True, yaxis_automargin=True)


def heading(text: str, height: int, size: int = 16) -> dict[str, Any]:
    """A title of one or two lines; two lines are moved down, as Plotly anchors the second line."""
    down = 5 * size / 16 + 1.1 * size * ("<br>" in text)
    across = {"x": 0.0, "xref": "container", "xanchor": "left", "pad": {"t": 0, "l": 6}}
    up = {"y": 1 - down / height, "yref": "container", "yanchor": "top"}
    return {"text": text, **across, **up, "font": {"size": size}}


def large(fig: go.Figure) -> go.Figure:
    """Enlarge the letters of a picture for a lecture room, in place, and return the picture."""
    layout = fig.layout
    for axis in (layout.xaxis, layout.yaxis):
        axis.tickfont.size = 18
        axis.title.font.size = 20
    height = layout.height = round(1.1 * layout.height)
    for titled in (layout, *(frame.layout for frame in fig.frames)):
        titled.title = heading(titled.title.text, height, 23)
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


# ------------------------------------------------------------------------------------- titles


def colored(text: str, color: str) -> str:
    """Text in a colour, for a title."""
    return f'<span style="color:{color}">{text}</span>'


def broken(parts: Sequence[str], per_line: int) -> str:
    """Join the parts of a title, ``per_line`` on each line, because a phone is narrow."""
    lines = [parts[i : i + per_line] for i in range(0, len(parts), per_line)]
    return "<br>".join("   ".join(line) for line in lines)


def live(curves: Sequence[Curve], values: Sequence[float], says: str = "") -> str:
    """Title that names each curve in its colour, with its value, after the sentence ``says``."""
    parts = [
        colored(f"<b>{curve.name}</b> {percent(value)}", curve.color)
        for curve, value in zip(curves, values, strict=True)
    ]
    return f"<b>{says}</b><br>{broken(parts, 3)}" if says else broken(parts, 2)


# ------------------------------------------------------------------------------------- curves


def lines(x: Ints, curves: Sequence[Curve]) -> list[Trace]:
    """Traces of curves over a common x."""
    drawn = [(curve, *theme.steps(x, np.round(100 * curve.y, 5))) for curve in curves]
    return [
        scatter("lines", at.tolist(), y.tolist(), name=curve.name, line=curve.line)
        for curve, at, y in drawn
    ]


def before(x: Ints, curves: Sequence[Curve], title: str, **layout: Any) -> go.Figure:
    """The curves before the answer is shown, without a slider."""
    return still(lines(x, curves), title, height=HEIGHT - 70, **layout)


def along(
    x: Ints,
    curves: Sequence[Curve],
    says: dict[int, str],
    begin: int,
    *,
    beside: Sequence[Curve] = (),
    dark: bool,
    **layout: Any,
) -> go.Figure:
    """Fixed curves with a dot on each, all at one x, which the slider changes.

    ``says`` maps each x of the slider, which begins at ``begin``, to the first line of the title.
    The curves ``beside`` have no dot; ``layout`` is passed to :func:`sliding`.
    """
    c = theme.look(dark)
    low, top = layout["yaxis"]["range"]
    edge, thin = {"color": c.page, "width": 2}, {"color": c.muted, "width": 1.5}
    dot = {"color": [curve.color for curve in curves], "size": 13, "line": edge}
    steps = []
    for at, head in says.items():
        values = [float(curve.y[np.searchsorted(x, at)]) for curve in curves]
        heights = [100 * value for value in values]
        upright = scatter("lines", [at, at], [low, top], line=thin)
        dots = scatter("markers", [at] * len(values), heights, cliponaxis=False, marker=dot)
        steps.append(Step(count(at), [upright, dots], live(curves, values, head)))
    fixed = lines(x, [*beside, *curves])
    return sliding(fixed, steps, list(says).index(begin), dark=dark, **layout)


# --------------------------------------------------------------------------------------- rows


def ticks(values: Sequence[float], dark: bool) -> Trace:
    """Trace of one vertical tick per row, at the exact value of the row's system (a share)."""
    c = theme.look(dark)
    marker = {"symbol": "line-ns", "size": 40, "color": c.ink, "line": {"width": 3, "color": c.ink}}
    x = [100 * value for value in values]
    return scatter("markers", x, list(range(len(values))), marker=marker)


def rows(metric: str, systems: Sequence[str], top: float, dark: bool) -> dict[str, Any]:
    """Axes: one row per system (vertical), and the metric from 0 to the share ``top``."""
    c, names = theme.look(dark), [f"<b>{plain(s)}</b>" for s in systems]
    axis = theme.percent_axis(100 * top, title=metric)
    return {
        "xaxis": axis | {"showgrid": True, "gridcolor": c.grid},
        "yaxis": theme.rows_axis(names, c.ink, 17) | {"showgrid": False},
    }


def truths(
    metric: str, systems: Sequence[str], exact: Sequence[float], top: float, title: str, dark: bool
) -> go.Figure:
    """The picture before the answer: one row for each system, with its exact value only."""
    axes = rows(metric, systems, top, dark)
    data, revision = [ticks(exact, dark)], f"truths-{metric}"
    return still(data, title, height=HEIGHT - 110, dark=dark, revision=revision, **axes)


# ------------------------------------------------------------------------------------- slopes

ALL = "all candidates"
GAP = 0.17  # smallest distance between two labels, if the axis has length 1


def heights(values: Floats) -> Floats:
    """Values scaled to 0 (worst) to 1 (best); all 0.5 if they are equal."""
    span = float(np.ptp(values))
    return np.full(len(values), 0.5) if span == 0 else (values - values.min()) / span


def spread(places: Floats, gap: float) -> Floats:
    """Heights of labels, moved until neighbours are ``gap`` apart; their order stays the same."""
    moved, order = places.astype(np.float64), np.argsort(places, kind="stable")
    for _ in range(20):
        for low, high in pairwise(order.tolist()):
            short = gap - (moved[high] - moved[low])
            if short > 1e-9:
                moved[low] -= short / 2
                moved[high] += short / 2
    return moved


def slopes(
    metric: str,
    systems: Sequence[str],
    exact: Floats,
    sampled: Mapping[int, Floats],
    *,
    at: int,
    dark: bool,
    size: int = 18,
    reach: float = 0.62,
) -> go.Figure:
    """Slope chart from exact to expected sampled metric; where lines cross, the order is wrong.

    ``sampled`` maps each m of the slider, which begins at m = ``at``, to the expected means. Names
    have font size ``size``. On each side ``reach`` times the width of the lines is left for names.
    """
    lines = [theme.system_line(place, dark) | {"width": 5} for place in range(len(systems))]
    colors = [line["color"] for line in lines]
    pad = "\u2002\u2002"

    def side(x: float, values: Floats, head: str) -> list[Trace]:
        """Names and values at the left (x = 0) or right (x = 1) end, below the heading ``head``."""
        texts = [f"<b>{plain(s)}</b>  {percent(v)}" for s, v in zip(systems, values, strict=True)]
        names = scatter(
            "text",
            [x] * len(systems),
            spread(heights(values), GAP).tolist(),
            text=[pad + text if x else text + pad for text in texts],
            textposition="middle right" if x else "middle left",
            cliponaxis=False,
            textfont={"size": size, "color": colors},
        )
        font = {"size": 15, "color": theme.look(dark).ink}
        above = scatter("text", [x], [1.26], text=[head], cliponaxis=False, textfont=font)
        return [names, above]

    steps = []
    for m, values in sampled.items():
        moving = []
        for a, b, line in zip(heights(exact), heights(values), lines, strict=True):
            marker = {"size": 15, "color": line["color"]}
            moving.append(scatter("lines+markers", [0, 1], [a, b], line=line, marker=marker))
        moving += side(1.0, values, f"{count(m)} sampled negatives")
        steps.append(Step(count(m), moving, step_title(metric, systems, exact, values)))
    hidden = {"visible": False, "fixedrange": True}
    return sliding(
        side(0.0, exact, ALL),
        steps,
        list(sampled).index(at),
        dark=dark,
        height=410 if len(sampled) > 1 else 330,
        gap=30,
        xaxis={**hidden, "range": [-reach, 1 + reach]},
        yaxis={**hidden, "range": [-0.1, 1.4]},
        revision=f"slopes-{at}",
        margin={"l": 0, "r": 0, "t": 40},
    )


def step_title(metric: str, systems: Sequence[str], exact: Floats, sampled: Floats) -> str:
    """Title of a step: the sampled order of the systems, and whether this order is right."""
    shown = ranking(systems, sampled)
    right = shown == ranking(systems, exact)
    return f"{'✓ <b>right</b>' if right else '⇅ <b>wrong</b>'} by {metric}: {shown}"
