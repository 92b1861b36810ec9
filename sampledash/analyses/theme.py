"""The common look of all pictures: colours, axes and traces.

A kind of metric or of correction has the same colour on every page; the colour of a system depends
on its position in the legend. The hues are those of Okabe and Ito, which people with any colour
vision can distinguish. They are darker on white pages and lighter on dark pages, so that coloured
names are readable. Lines also differ in their dash patterns. A picture that compares sampled with
exact metrics shows the exact metric as a dashed line, mostly in "ink", the colour of text. The
background of pictures is transparent.
"""

from __future__ import annotations

import html
import json
import re
from base64 import b64encode
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from string import Template
from types import SimpleNamespace
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import ArrayLike

from sampledash.correction import CORRECTIONS
from sampledash.metrics import KINDS, Metric
from sampledash.report.numbers import short_count
from sampledash.types import Floats, Ints

HEIGHT = 360


# Colours, and parts of Plotly's layout in which a name such as $ink stands for a colour.
_STYLES = Path(__file__).with_suffix(".json").read_text(encoding="utf-8")
LIGHT, DARK = (SimpleNamespace(**json.loads(_STYLES)[name]) for name in ("light", "dark"))

_SYSTEM = ("blue", "vermillion", "green", "purple", "orange", "muted")
_SYSTEM_DASH = ("solid", "dot", "dashdot", "longdash")
# Dash pattern of lines to compare with, such as that of the exact metric beside sampled metrics.
EXACT_DASH = "6px,4px"
# Line styles of curves for earlier settings, which the user pinned for comparison. Captions show
# the keys of this dictionary, such as ┅┅, which look like the lines.
PINNED: dict[str, dict[str, Any]] = json.loads(_STYLES)["pinned"]


def look(dark: bool) -> SimpleNamespace:
    """Return the colours for a dark or a light background, by name.

    ``paper`` is the background of hover labels, ``page`` that of the page. ``family`` holds two
    colours for a picture with a curve for each of several m (numbers of negatives): those of the
    smallest and the largest m.
    """
    return DARK if dark else LIGHT


def exact_line(dark: bool, width: float = 2) -> dict[str, Any]:
    """Return the usual line style of the exact metric: dashed, in the colour of text."""
    return _line(dark, "ink", EXACT_DASH, width)


def _line(dark: bool, color: str, dash: str, width: float = 2.5) -> dict[str, Any]:
    return {"color": getattr(look(dark), color), "dash": dash, "width": width}


def metric_line(metric: Metric, dark: bool) -> dict[str, Any]:
    """Return the line style of a sampled metric, whose colour depends on the kind of metric.

    The line of NDCG@k is dash-dotted, because NDCG has the same colour. The same holds for some
    other metrics.
    """
    truncated = metric.of_others or (metric.k is not None and not metric.on_lattice)
    return _line(dark, KINDS[metric.name].color, "longdashdot" if truncated else "solid", 3)


def system_line(place: int, dark: bool) -> dict[str, Any]:
    """Return the line style of the system at position ``place`` of the legend, counted from 0."""
    lap, hue = divmod(place, len(_SYSTEM))
    return _line(dark, _SYSTEM[hue], _SYSTEM_DASH[lap % len(_SYSTEM_DASH)])


def correction_line(name: str, dark: bool) -> dict[str, Any]:
    """Return the line style of the correction with this name, such as ``"bias-variance"``."""
    kind = CORRECTIONS[name]
    return _line(dark, kind.color, kind.dash)


def family_lines(size: int, dark: bool) -> list[dict[str, Any]]:
    """Return styles of ``size`` curves, one for each number of negatives m, in increasing order.

    Curves of larger m stand out more.
    """
    start, end = (np.array(_rgb(color)) for color in look(dark).family)
    colors = (start + (end - start) * share for share in np.linspace(0, 1, max(size, 2))[:size])
    hexes = ("".join(f"{round(part):02x}" for part in color.tolist()) for color in colors)
    return [{"color": f"#{digits}", "width": 2.5} for digits in hexes]


def faded(color: str, opacity: float) -> str:
    """Return this colour with an opacity from 0 (invisible) to 1, as CSS text."""
    return f"rgba({','.join(str(c) for c in _rgb(color))},{opacity:g})"


def _rgb(color: str) -> list[int]:
    return [int(color[i : i + 2], 16) for i in (1, 3, 5)]


@cache
def styles(dark: bool) -> dict[str, Any]:
    """Return parts of Plotly's layout by name, such as the ``template`` that all pictures share."""
    parts: dict[str, Any] = json.loads(Template(_STYLES).substitute(vars(look(dark))))
    return parts


def figure(
    data: list[dict[str, Any]],
    *,
    dark: bool,
    height: int = HEIGHT,
    title: str = "",
    title_color: str | None = None,
    **layout: Any,
) -> Picture:
    """Return a figure of the traces ``data`` in the common look.

    Traces should be of types that Plotly draws as SVG, with at most 400 points. The user's changes,
    such as a zoom, last until the title or the x axis changes. ``layout`` holds more of Plotly's
    layout.
    """
    text = f"<b>{title}</b>" if title else ""
    across = layout.get("xaxis", {})
    needs = room(across, layout.get("yaxis", {}))
    margin = {"l": 8, "r": 12, "t": 34, "b": 8} | layout.pop("margin", {})
    return Picture(
        data,
        {
            "margin": margin | {side: max(margin[side], need) for side, need in needs.items()},
            "template": styles(dark)["template"],
            "height": height,
            "title": {"text": text, "font": {"size": 16, "color": title_color or look(dark).ink}},
            "uirevision": f"{title} {across.get('range')}",
            "annotations": [],
            "shapes": [],
            **layout,
        },
    )


def room(across: dict[str, Any], up: dict[str, Any]) -> dict[str, int]:
    """Return margins in pixels that fit the axis labels.

    Without given margins, Plotly would draw the figure twice to measure the labels.
    """
    labels = up.get("ticktext", ["100.0 %"])
    lines = [re.sub("<[^>]*>", "", line) for label in labels for line in label.split("<br>")]
    # A capital letter is a third wider than others.
    widths = (len(x) + sum(map(str.isupper, x)) / 3 for x in map(html.unescape, lines))
    longest = max(widths, default=0)
    letter = 0.55 * up.get("tickfont", {}).get("size", 13)
    titled = [24 * bool(axis.get("title", {}).get("text")) for axis in (across, up)]
    shown = [axis.get("visible", True) for axis in (across, up)]
    return {
        "l": (8 + round(letter * longest) + titled[1]) * shown[1],
        "t" if across.get("side") == "top" else "b": (32 + titled[0]) * shown[0],
    }


class Picture(go.Figure):
    """A figure stored as dictionaries; Plotly's objects are created when first needed.

    Creating these objects takes ten times as long as all other work on a figure, and only tests and
    code that changes the figure need the objects.
    """

    def __init__(self, data: list[dict[str, Any]], layout: dict[str, Any], **frames: Any) -> None:
        object.__setattr__(self, "_written", {"data": data, "layout": layout, **frames})

    def __getattr__(self, name: str) -> Any:
        """Create Plotly's objects, then return the attribute ``name`` of the figure.

        If the objects exist already, the figure has no such attribute: raise AttributeError.
        """
        written = self.__dict__.pop("_written", None)
        if written is None:
            raise AttributeError(name)
        super().__init__(**written, _validate=False)
        return getattr(self, name)

    def as_written(self) -> dict[str, Any]:
        """Return data and layout as dictionaries; raise KeyError if Plotly's objects exist."""
        return dict(self.__dict__["_written"])

    def to_dict(self) -> dict[str, Any]:
        """Return the figure as the dictionary that is sent to the browser."""
        written = self.__dict__.get("_written")
        if written is None:
            made: dict[str, Any] = super().to_dict()
            return made
        packed = [
            {key: _packed(part) for key, part in trace.items() if part is not None}
            for trace in written["data"]
        ]
        return {**written, "data": packed}


def _packed(part: Any) -> Any:
    """Convert an array to the form that Plotly reads fastest: base64 for floats, else a list."""
    if not isinstance(part, np.ndarray):
        return part
    if part.dtype != np.float64:
        return part.tolist()
    return {"dtype": "f8", "bdata": b64encode(part.tobytes()).decode()}


def behind(fig: Picture, pinned: Sequence[tuple[str, Picture]]) -> Picture:
    """Return ``fig`` with the lines of ``pinned`` added in the styles of ``PINNED``.

    ``pinned`` holds names and pictures of earlier settings, which the user compares with ``fig``. A
    pinned line is left out if it almost coincides with a line of ``fig``. The result's layout has
    an entry ``meta``: a caption, for saved pictures, that says which style belongs to which name.
    """
    written = fig.as_written()
    layout, data = dict(written["layout"]), list(written["data"])

    def differ(pin: dict[str, Any], as_shown: dict[str, Any]) -> bool:
        """Return whether the y values of two lines differ by over 0.5 % of the y range of ``pin``.

        ``pin`` is a line of earlier settings, ``as_shown`` the line of the current settings.
        """
        if pin.get("xaxis") != as_shown.get("xaxis") or len(as_shown["x"]) < 2:
            return True
        away = np.interp(pin["x"], as_shown["x"], as_shown["y"]) - pin["y"]
        # Where the line ``pin`` jumps, the line has two y values at one x: do not compare these.
        upright = np.diff(pin["x"], append=np.inf) == 0
        away[upright | np.roll(upright, 1)] = 0.0
        return bool(np.abs(away).max() > 0.005 * max(np.ptp(pin["y"]), 1e-12))

    for (stroke, style), (name, picture) in zip(PINNED.items(), pinned, strict=False):
        other, before = picture.as_written(), len(data)
        for trace in other["data"]:
            line = trace.get("line", {})
            drawn = trace["mode"] == "lines" and line.get("width") and "fill" not in trace
            if drawn and all(differ(trace, shown) for shown in written["data"]):
                hover = {"hovertemplate": f"{name}: {trace['hovertemplate']}", "opacity": 0.8}
                data.append(trace | hover | {"line": line | style})
        for axis in layout.keys() & other["layout"].keys() if len(data) > before else ():
            if axis.startswith("yaxis"):
                ends = *layout[axis]["range"], *other["layout"][axis]["range"]
                layout[axis] = layout[axis] | {"range": [min(ends), max(ends)]}
        layout["shapes"] = layout["shapes"] + [
            shape | {"line": shape["line"] | {"dash": style["dash"]}}
            for shape in other["layout"]["shapes"]
            if shape["x0"] == shape["x1"] and shape not in layout["shapes"]
        ]
        layout["meta"] = f"{layout.get('meta', 'Pinned:')} {stroke} {name}"
    return Picture(data, layout)


def across(panels: int) -> int:
    """Return the number of columns in which a figure shows this many panels."""
    return 2 if panels == 4 else min(panels, 3)


def beside(panels: Sequence[Picture]) -> Picture:
    """Join figures of equal height as panels of one figure: browsers draw one figure faster."""
    if len(panels) == 1:
        return panels[0]
    written = [panel.as_written() for panel in panels]
    columns, first = across(len(panels)), written[0]["layout"]
    edge = {side: max(panel["layout"]["margin"][side] for panel in written) for side in "lrtb"}
    height = first["height"] * -(-len(panels) // columns)
    plot, inner = height - edge["t"] - edge["b"], first["height"] - edge["t"] - edge["b"]
    width = (1 - _BETWEEN * (columns - 1)) / columns
    data: list[dict[str, Any]] = []
    layout = first | {"height": height, "margin": edge, "title": {}}
    layout |= {"annotations": [], "shapes": []}
    for place, panel in enumerate(written):
        end, panel_layout = str(place + 1) if place else "", panel["layout"]
        row, column = divmod(place, columns)
        left, top = column * (width + _BETWEEN), 1 - row * first["height"] / plot
        wide = {"domain": [left, left + width], "anchor": f"y{end}"}
        high = {"domain": [max(top - inner / plot, 0), top], "anchor": f"x{end}"}
        layout[f"xaxis{end}"] = panel_layout["xaxis"] | wide
        layout[f"yaxis{end}"] = panel_layout["yaxis"] | high
        data += [trace | {"xaxis": f"x{end}", "yaxis": f"y{end}"} for trace in panel["data"]]
        for kind in ("shapes", "annotations"):
            layout[kind] += [mark | _within(mark, end) for mark in panel_layout[kind]]
        head = panel_layout["title"]
        title = note(0, 1, head["text"], font=head["font"], xanchor="left")
        title |= {"yanchor": "bottom", "yshift": edge["t"] - 30, "xref": "paper", "yref": "paper"}
        layout["annotations"].append(title | _within(title, end))
    layout["uirevision"] = " ".join(panel["layout"]["uirevision"] for panel in written)
    return Picture(data, layout)


_BETWEEN = 0.075  # gap between two panels, as a share of the width of the figure


def _within(part: dict[str, Any], end: str) -> dict[str, str]:
    """Return names of Plotly's axes that put ``part``, a shape or text, into one panel of a figure.

    The names of the panel's axes end with ``end``: the panel's number, or "" for the first panel.
    """
    domains = {name: " domain" * (part.get(f"{name}ref") == "paper") for name in "xy"}
    return {f"{name}ref": f"{name}{end}{domain}" for name, domain in domains.items()}


def rank_axis(
    last: int, *, log: bool = True, title: str = "true rank", most: int = 6
) -> dict[str, Any]:
    """Return a horizontal axis over 1..last, for ranks or numbers of negatives.

    It has at most ``most`` labels.
    """
    if not log:
        ends = [0, last * 1.02]
        return {"title": {"text": title}, "range": ends, "tickformat": ",", "nticks": most}
    decades = np.arange(0, int(np.floor(np.log10(max(last, 1)))) + 1)
    ticks = [10 ** int(e) for e in decades[:: -(-len(decades) // most)]]
    end = max(float(np.log10(max(last, 2))), 0.3)
    return log_axis([-0.02 * end, end * 1.03], ticks, short_count, title, ",")


def log_axis(
    ends: Sequence[float],
    ticks: Sequence[float],
    write: Callable[[Any], str],
    title: str = "",
    hover: str = ".3g",
) -> dict[str, Any]:
    """Return a logarithmic axis.

    ``ends`` are exponents of 10, ``write`` formats a tick label, and ``hover`` is the format of
    values in hover labels.
    """
    return {
        "title": {"text": title and f"{title} (log scale)"},
        "type": "log",
        "range": list(map(float, ends)),
        "tickvals": list(ticks),
        "ticktext": list(map(write, ticks)),
        "hoverformat": hover,
    }


def percent_axis(top: float = 100.0, *, title: str = "", low: float = 0.0) -> dict[str, Any]:
    """Return an axis from ``low`` to ``top``, in percent; its labels have up to two decimals."""
    room = 0.04 * (top - low)
    ends = {"title": {"text": title}, "range": [low - room / 2, top + room]}
    return ends | {"tickformat": ",.2~f", "ticksuffix": " %", "nticks": 6}


def rows_axis(names: Sequence[str], color: str, size: int = 14) -> dict[str, Any]:
    """Return a vertical axis with named rows at 0, 1, ...; the first row is on top."""
    return {
        "tickvals": list(range(len(names))),
        "ticktext": list(names),
        "tickfont": {"size": size, "color": color},
        "range": [len(names) - 0.5, -0.5],
    }


def curve(x: Any, y: Any, line: dict[str, Any], name: str, **more: Any) -> dict[str, Any]:
    """Return the trace of a line with its hover text, for :func:`figure`."""
    drawn = {"type": "scatter", "mode": "lines", "x": x, "y": y, "line": line, "name": name}
    return drawn | {"hovertemplate": hover(name)} | more


def bars(x: Any, y: Any, name: str, **more: Any) -> dict[str, Any]:
    """Return a trace of bars, for :func:`figure`."""
    return {"type": "bar", "x": x, "y": y, "name": name, **more}


def spans(
    ends: Sequence[tuple[float, float]], rows: Sequence[int], width: float, color: Any, **more: Any
) -> dict[str, Any]:
    """Return a trace of horizontal bars; ``ends`` are shares (0 to 1), drawn in percent.

    A bar whose ends are equal is a short upright line.
    """
    at = {"base": [100 * low for low, _ in ends], "x": [100 * (high - low) for low, high in ends]}
    line = {"color": color, "width": [5 * (low == high) for low, high in ends]}
    fill = {"color": color, "line": line}
    flat = {"type": "bar", "orientation": "h", "y": list(rows), "width": width, "marker": fill}
    return {**flat, **at, **more}


def dots(x: Any, y: Any, marker: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a trace of markers at the points (x, y), for :func:`figure`."""
    return {"type": "scatter", "mode": "markers", "x": x, "y": y, "marker": marker, **more}


def upright(at: float, color: str, **line: Any) -> dict[str, Any]:
    """Return a thin vertical line over the whole height, as a shape for :func:`figure`."""
    style, ends = {"color": color, "width": 1, **line}, {"x0": at, "x1": at, "y0": 0, "y1": 1}
    return {"type": "line", "yref": "paper", "layer": "below", "line": style, **ends}


def level(at: float, color: str, **line: Any) -> dict[str, Any]:
    """Return a thin horizontal line over the whole width, as a shape for :func:`figure`."""
    style, ends = {"color": color, "width": 1, **line}, {"x0": 0, "x1": 1, "y0": at, "y1": at}
    return {"type": "line", "xref": "paper", "layer": "below", "line": style, **ends}


def box(x0: float, x1: float, y0: float, y1: float, **more: Any) -> dict[str, Any]:
    """Return a rectangle, as a shape for :func:`figure`."""
    corners = {"x0": x0, "x1": x1, "y0": y0, "y1": y1}
    return {"type": "rect", "layer": "below", "line": {"width": 0}, **corners, **more}


def halo(color: str) -> dict[str, Any]:
    """Return the font of a line's name in a plot; the pages' CSS turns its shadow into a halo."""
    return {"color": color, "size": 14, "shadow": "0 0 0 transparent"}


def note(x: float, y: float, text: str, **more: Any) -> dict[str, Any]:
    """Return a text at the point (x, y), as an annotation for :func:`figure`."""
    return {"x": x, "y": y, "text": text, "showarrow": False, **more}


def steps(x: Ints, y: Floats) -> tuple[Any, Any]:
    """Return the points of a line, with vertical jumps if y has exactly two different values.

    Examples
    --------
    >>> [part.tolist() for part in steps(np.array([1, 2, 3]), np.array([100.0, 100.0, 0.0]))]
    [[1, 2, 3, 3], [100.0, 100.0, 100.0, 0.0]]
    """
    if len(y) < 3 or y.min() == y.max() or np.any((y != y.min()) & (y != y.max())):
        return x, y
    ends = np.flatnonzero(np.diff(y)) + 1
    return np.insert(x, ends, x[ends]), np.insert(y, ends, y[ends - 1])


def hover(name: str, unit: str = " %", digits: int = 2) -> str:
    """Return the hover text of a trace, which Plotly shows when the pointer is near.

    It is one line of a label that all traces share: name, value and unit.
    """
    return f"{name} <b>%{{y:,.{digits}f}}{unit}</b><extra></extra>"


def in_percent(values: ArrayLike) -> np.ndarray[Any, Any]:
    """Convert shares (0 to 1) to percent, the unit of the pictures."""
    return 100.0 * np.asarray(values, dtype=np.float64)
