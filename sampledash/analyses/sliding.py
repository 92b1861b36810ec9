"""Plotly figures with a slider and one animation frame for each step of the slider.

The browser holds all frames and needs no server while the slider is dragged. The axes are fixed.
The title takes the place of a legend: it shows each line's name and current value in its colour.
"""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from sampledash.analyses import theme
from sampledash.report.escape import plain
from sampledash.report.numbers import count, percent
from sampledash.report.sentences import ranking
from sampledash.types import Floats, Ints

HEIGHT = 400
TITLE = 62  # height of a title of two lines, in pixels
LARGE = 1.5  # factor by which annotations and line widths are enlarged for a projector
Trace = dict[str, Any]
Range = tuple[float, float]
# Label of each step of a slider -> the traces and the title of the figure at this step.
Steps = Mapping[str, tuple[list[Trace], str]]


@dataclass(frozen=True)
class Curve:
    """A line to draw: its name, its y values (1 is 100 %), and its style as a Plotly ``line``."""

    name: str
    y: Floats
    line: dict[str, Any]

    @property
    def color(self) -> str:
        """The colour of the line."""
        return str(self.line["color"])


def scatter(mode: str, x: Sequence[Any], y: Sequence[Any], **more: Any) -> Trace:
    """Return a scatter trace without hover text; ``mode`` is a Plotly mode such as ``"lines"``."""
    return {"type": "scatter", "mode": mode, "x": x, "y": y, "hoverinfo": "skip", **more}


def sliding(
    fixed: list[Trace],
    steps: Steps,
    begin: str,
    *,
    prefix: str = "m = ",
    dark: bool,
    height: int = HEIGHT,
    gap: int = 48,
    **layout: Any,
) -> theme.Picture:
    """Return a figure whose traces change with a slider; with a single step it has no slider.

    The ``fixed`` traces do not change. All ``steps`` must have traces of the same types in the same
    order. The slider starts at the step with the label ``begin``, which is shown after ``prefix``.
    ``gap`` is the room in pixels for the labels of the x axis, above the slider.
    """
    begun, top = steps[begin]
    moving = list(range(len(fixed), len(fixed) + len(begun)))
    margin = {"l": 8, "r": 16, "t": TITLE, "b": 8, **layout.pop("margin", {})}
    data = [*fixed, *begun]
    fig = theme.figure(data, dark=dark, height=height, hovermode=False, margin=margin, **layout)
    still = {"duration": 0}
    at_once = {"mode": "immediate", "frame": {**still, "redraw": True}, "transition": still}
    frames, places = [], []
    for label, (moved, title) in steps.items():
        head = {"title": heading(title, height)}
        frames.append({"name": label, "data": moved, "traces": moving, "layout": head})
        places.append({"label": label, "method": "animate", "args": [[label], at_once]})
    fig.frames = frames
    # Copied, because all figures share ``styles``, and :func:`large` changes one figure's slider.
    slider = deepcopy(theme.styles(dark)["slider"])
    slider |= {"active": list(steps).index(begin), "steps": places}
    slider["currentvalue"]["prefix"], slider["pad"]["t"] = prefix, gap
    # Let Plotly fit the margins, because :func:`large` enlarges the axis labels.
    fit = {"xaxis_automargin": True, "yaxis_automargin": True, "title": heading(top, height)}
    fig.update_layout(sliders=[slider] * (len(steps) > 1), **fit)
    return theme.Picture(**fig.to_dict())  # without Plotly's objects: see Picture


def still(data: list[Trace], title: str, *, height: int, dark: bool, **more: Any) -> theme.Picture:
    """Return a figure without a slider, with a title in the style of :func:`sliding`."""
    fig = theme.figure(data, dark=dark, height=height, hovermode=False, **more)
    top = {"title": heading(title, height), "margin": {"l": 8, "t": TITLE, "b": 8}}
    fig.update_layout(**top, xaxis_automargin=True, yaxis_automargin=True)
    return fig


def heading(text: str, height: int, size: int = 16) -> dict[str, Any]:
    """Return a Plotly title of one or two lines; ``height`` and ``size`` are in pixels."""
    # A title of two lines is moved down, because Plotly places a title by its last line.
    down = 5 * size / 16 + 1.1 * size * ("<br>" in text)
    across = {"x": 0.0, "xref": "container", "xanchor": "left", "pad": {"t": 0, "l": 6}}
    up = {"y": 1 - down / height, "yref": "container", "yanchor": "top"}
    return {"text": text, **across, **up, "font": {"size": size}}


def large(fig: theme.Picture) -> theme.Picture:
    """Enlarge the text and the lines of a figure for a projector, in place; return the figure."""
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


# -------------------------------------------------------------------------- titles of figures


def colored(text: str, color: str) -> str:
    """Return HTML for a title: the text in this colour."""
    return f'<span style="color:{color}">{text}</span>'


def broken(parts: Sequence[str], per_line: int) -> str:
    """Join parts of a title, ``per_line`` parts on each line, so that the title fits on a phone."""
    lines = [parts[i : i + per_line] for i in range(0, len(parts), per_line)]
    return "<br>".join("   ".join(line) for line in lines)


def live(curves: Sequence[Curve], values: Sequence[float], says: str = "") -> str:
    """Return a figure's title: the sentence ``says``, then each curve's name and current value.

    Name and value are in the colour of the curve.
    """
    pairs = zip(curves, values, strict=True)
    parts = [colored(f"<b>{x.name}</b> {percent(value)}", x.color) for x, value in pairs]
    return f"<b>{says}</b><br>{broken(parts, 3)}" if says else broken(parts, 2)


# ------------------------------------------------------------------ figures with curves over x


def lines(x: Ints, curves: Sequence[Curve]) -> list[Trace]:
    """Return one Plotly trace per curve; all curves have the same x values."""
    drawn = [(curve, *theme.steps(x, np.round(100 * curve.y, 5))) for curve in curves]
    return [
        scatter("lines", at.tolist(), y.tolist(), name=curve.name, line=curve.line)
        for curve, at, y in drawn
    ]


def before(x: Ints, curves: Sequence[Curve], title: str, **layout: Any) -> theme.Picture:
    """Return a figure of the curves without a slider, shown before a lesson reveals the answer."""
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
) -> theme.Picture:
    """Return a figure of curves that do not change, and a slider that moves a dot on each curve.

    ``says`` maps each x of the slider to the first line of the title. The slider starts at x =
    ``begin``. The curves in ``beside`` have no dots. ``layout`` is passed to :func:`sliding`.
    """
    c = theme.look(dark)
    low, top = layout["yaxis"]["range"]
    edge, thin = {"color": c.page, "width": 2}, {"color": c.muted, "width": 1.5}
    dot = {"color": [curve.color for curve in curves], "size": 13, "line": edge}
    steps = {}
    for at, head in says.items():
        values = [float(curve.y[np.searchsorted(x, at)]) for curve in curves]
        heights = [100 * value for value in values]
        upright = scatter("lines", [at, at], [low, top], line=thin)
        dots = scatter("markers", [at] * len(values), heights, cliponaxis=False, marker=dot)
        steps[count(at)] = [upright, dots], live(curves, values, head)
    return sliding(lines(x, [*beside, *curves]), steps, count(begin), dark=dark, **layout)


# --------------------------------------------------------- figures with one row for each system


def ticks(values: Sequence[float], dark: bool) -> Trace:
    """Return a trace with a vertical tick in the row of each system, at its exact metric."""
    c = theme.look(dark)
    marker = {"symbol": "line-ns", "size": 40, "color": c.ink, "line": {"width": 3, "color": c.ink}}
    x = [100 * value for value in values]
    return scatter("markers", x, list(range(len(values))), marker=marker)


def from_to(ends: Range) -> str:
    """Return a range of shares (0 to 1) as text, such as "12 % to 34 %"."""
    return f"{percent(ends[0])} to {percent(ends[1])}"


def ranges(
    wide: Sequence[Range], narrow: Sequence[Range], marked: Sequence[float], dark: bool
) -> list[Trace]:
    """Return traces of a wide and a narrow bar in the row of each system, and ticks at ``marked``.

    All values are shares (0 to 1). The bars need a figure with the ``barmode`` "overlay".
    """
    places, data = range(len(marked)), []
    colors = [theme.system_line(place, dark)["color"] for place in places]
    for ends, width, opacity in ((wide, 0.56, 0.25), (narrow, 0.26, 0.7)):
        pale = [theme.faded(color, opacity) for color in colors]
        data.append(theme.spans(ends, places, width, pale, hoverinfo="skip"))
    # Plotly draws the ticks on top of the bars only if the ticks are the last trace of each step.
    return [*data, ticks(marked, dark)]


def rows(metric: str, systems: Sequence[str], top: float, dark: bool) -> dict[str, Any]:
    """Return the layout of both axes of a figure: y has a row per system, x is the metric.

    The x axis ends at ``top``.
    """
    c, names = theme.look(dark), [f"<b>{plain(s)}</b>" for s in systems]
    axis = theme.percent_axis(100 * top, title=metric)
    return {
        "xaxis": axis | {"showgrid": True, "gridcolor": c.grid},
        "yaxis": theme.rows_axis(names, c.ink, 17) | {"showgrid": False},
    }


def truths(
    metric: str, systems: Sequence[str], exact: Sequence[float], top: float, title: str, dark: bool
) -> theme.Picture:
    """Return a figure of each system's exact metric, shown before a lesson reveals the answer."""
    axes = rows(metric, systems, top, dark)
    return still([ticks(exact, dark)], title, height=HEIGHT - 110, dark=dark, **axes)


# ------------------------------------------------------------------------------- slope charts

ALL = "all candidates"
# Smallest vertical distance of two labels in a slope chart. The distance between the smallest and
# the largest value counts as 1.
GAP = 0.17


def heights(values: Floats) -> Floats:
    """Return the values scaled to 0 (smallest) to 1 (largest); if all are the same, return 0.5."""
    span = float(np.ptp(values))
    return np.full(len(values), 0.5) if span == 0 else (values - values.min()) / span


def spread(places: Floats, gap: float) -> Floats:
    """Return heights of labels, moved apart to at least ``gap`` without changing their order."""
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
) -> theme.Picture:
    """Return a slope chart: exact metrics at the left, expected sampled metrics at the right.

    If the lines of two systems cross, their sampled order is wrong. A slider sets m, the number of
    negatives, and starts at ``at``; ``sampled`` maps each m to the sampled metrics. ``size`` is the
    font size of the systems' names. The names on either side get a space whose width is ``reach``
    times the distance between the left and the right end of the lines.
    """
    lines = [theme.system_line(place, dark) | {"width": 5} for place in range(len(systems))]
    colors = [line["color"] for line in lines]
    pad = "\u2002\u2002"

    def side(x: float, values: Floats, head: str) -> list[Trace]:
        """Return traces of the heading ``head`` and of the systems' names and values.

        They stand at the left of the chart if x = 0, at the right if x = 1.
        """
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
        return [names, scatter("text", [x], [1.26], text=[head], cliponaxis=False, textfont=font)]

    steps = {}
    for m, values in sampled.items():
        moving = []
        for a, b, line in zip(heights(exact), heights(values), lines, strict=True):
            marker = {"size": 15, "color": line["color"]}
            moving.append(scatter("lines+markers", [0, 1], [a, b], line=line, marker=marker))
        moving += side(1.0, values, f"{count(m)} sampled negatives")
        shown = ranking(systems, values)
        sign = "✓ <b>right</b>" if shown == ranking(systems, exact) else "⇅ <b>wrong</b>"
        steps[count(m)] = moving, f"{sign} by {metric}: {shown}"
    hidden = {"visible": False, "fixedrange": True}
    return sliding(
        side(0.0, exact, ALL),
        steps,
        count(at),
        dark=dark,
        height=410 if len(sampled) > 1 else 330,
        gap=30,
        xaxis={**hidden, "range": [-reach, 1 + reach]},
        yaxis={**hidden, "range": [-0.1, 1.4]},
        margin={"l": 0, "r": 0, "t": 40},
    )
