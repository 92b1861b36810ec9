"""Pictures of the Explore page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from sampledash.explain.text import count, percent
from sampledash.figures import theme
from sampledash.metrics import Metric

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

AGREE = 0.005  # of the axis: closer than that two lines are one to the eye


def _crossing(ranks: Ints, values: Floats, level: float) -> int:
    """Index of the first rank whose value has fallen to ``level``."""
    below = np.flatnonzero(values <= level)
    return int(below[0]) if len(below) else len(values) - 1


def _axes(ranks: Ints, log: bool, top: float, most: int = 5) -> dict[str, Any]:
    title = "true rank (log scale)" if log else "true rank"
    return {
        "xaxis": theme.rank_axis(int(ranks[-1]), log=log, title=title, most=most),
        "yaxis": theme.percent_axis(top),
    }


def _in_frame(x: Any, y: Any, last: int, top: float, log: bool) -> Floats:
    """Points as shares of the width and height of the plot, shape (points, 2)."""
    across = np.log(x) / np.log(max(last, 2)) if log else np.asarray(x) / last
    return np.column_stack([across, np.asarray(y) / top])


def _dense(points: Floats) -> Floats:
    """The same broken line with points at even distances: a steep fall counts by its length."""
    steps = np.hypot(*np.diff(points, axis=0).T)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    even = np.linspace(0, along[-1], 300)
    return np.column_stack([np.interp(even, along, column) for column in points.T])


def _free_corner(point: Floats, taken: Floats, size: tuple[float, float]) -> tuple[str, str, bool]:
    """Side and anchor of the label at ``point`` that covers least of ``taken``, and if any."""
    best, least = ("right", "bottom", False), np.inf
    starts = {"right": 0.04, "left": -0.04 - size[0], "center": -size[0] / 2}
    # In the order of liking: a falling curve leaves room above on its right, below on its left.
    for side, anchor in (
        ("right", "bottom"), ("left", "top"), ("right", "top"), ("left", "bottom"),
        ("center", "top"), ("center", "bottom"),
    ):  # fmt: skip
        gap = 0.03 if side == "center" else 0.0
        x0 = point[0] + starts[side]
        y0 = point[1] + gap if anchor == "bottom" else point[1] - gap - size[1]
        outside = max(-x0, x0 + size[0] - 1.04, y0 + size[1] - 1.06, -0.04 - y0, 0.0)
        # A line along the edge of the box does not touch the letters in it.
        low, high = (x0, y0 + 0.02), (x0 + size[0], y0 + size[1] - 0.02)
        inside = np.all((taken >= low) & (taken <= high), axis=1)
        cost = float(inside.sum()) + 1e4 * outside
        if cost < least:
            best, least = (side, anchor, bool(inside.any())), cost
    return best


def _values_at(
    at: int,
    marks: Mapping[str, tuple[float, str]],
    lines: list[Floats],
    frame: tuple[int, float, bool],
    back: str,
) -> list[dict[str, Any]]:
    """Name and value beside the marked points, where the lines leave room."""
    last, top, log = frame
    taken = np.concatenate([_dense(line) for line in lines])
    parts = {
        name: f'<span style="color:{color}">{name} <b>{percent(y / 100)}</b></span>'
        for name, (y, color) in marks.items()
    }
    high, low = (f(y for y, _ in marks.values()) for f in (max, min))
    close = high - low < 0.17 * top
    # Two values too close for two labels share one.
    texts = {high: "<br>".join(parts.values())} if close else {
        y: parts[name].replace(" <b>", "<br><b>") for name, (y, _) in marks.items()
    }  # fmt: skip
    labels = []
    for y, text in texts.items():
        point = _in_frame(at, y, last, top, log)[0]
        size = (0.6, 0.15) if close else (0.33, 0.15)
        side, anchor, covers = _free_corner(point, taken, size)
        label = theme.name_at(at, y, text, "", log=log, side=side, shift=9)
        label |= {"yanchor": anchor, "align": "left", "font": {"size": 14}}
        if side == "center":
            label["yshift"] = 9 if anchor == "bottom" else -9
        if covers or side == "center":
            label["bgcolor"] = back
        labels.append(label)
    return labels


def expected_curve(
    metric: Metric,
    ranks: Ints,
    exact: Floats,
    mean: Floats,
    std: Floats,
    *,
    m: int,
    at: int,
    log: bool = True,
    dark: bool = False,
    height: int = theme.HEIGHT,
) -> go.Figure:
    """Expected sampled metric against the true rank, with the exact one and a band of one std.

    Parameters
    ----------
    metric
        The metric, which names and colours the picture.
    ranks, exact, mean, std
        Curves over increasing ranks, as shares; shape (r,) with r at most 400.
    m
        Number of sampled negatives.
    at
        The rank that is marked; must be one of ``ranks`` to be drawn.
    log
        Whether the rank axis is logarithmic.
    dark, height
        Look of the page and height in pixels.
    """
    # Alone in its panel the sampled line needs no dash to be told apart.
    c, style = theme.look(dark), theme.metric_line(metric, dark) | {"dash": "solid"}
    color = style["color"]
    y_exact, y_mean = theme.in_percent(exact), theme.in_percent(mean)
    top = float(y_exact.max())
    low, high = np.clip([y_mean - 100 * std, y_mean + 100 * std], 0, top)
    sampled, thin = f"sampled, m = {count(m)},", {"width": 0, "color": color}
    data = [
        theme.curve(ranks, low, thin, "", hoverinfo="skip", hovertemplate=None),
        theme.curve(ranks, high, thin, "", hoverinfo="skip", hovertemplate=None,
              fill="tonexty", fillcolor=theme.faded(color, 0.16)),
        theme.curve(ranks, y_exact, theme.exact_line(dark), "exact"),
        theme.curve(ranks, y_mean, style, sampled),
    ]  # fmt: skip
    here = np.flatnonzero(ranks == at)
    if len(here):
        h = int(here[0])
        marks = {"sampled": (float(y_mean[h]), color), "exact": (float(y_exact[h]), c.ink)}
        for y, fill in marks.values():
            data.append(
                {"type": "scatter", "mode": "markers", "x": [at], "y": [y], "hoverinfo": "skip",
                 "marker": {"color": fill, "size": 10, "line": {"color": c.paper, "width": 1.5}}}
            )  # fmt: skip
        frame = (int(ranks[-1]), top, log)
        lines = [_in_frame(ranks, y, *frame) for y in (y_exact, y_mean)]
        names = _values_at(at, marks, lines, frame, theme.faded(c.page, 0.75))
        shapes = [theme.upright(at, c.muted)]
    else:
        i, j = _crossing(ranks, y_mean, 0.62 * top), _crossing(ranks, y_exact, 0.35 * top)
        shapes = []
        names = [theme.name_at(ranks[i], float(y_mean[i]), "sampled", color, log=log)]
        if np.max(np.abs(y_exact - y_mean)) > AGREE * top:
            names.append(
                theme.name_at(ranks[j], float(y_exact[j]), "exact", c.ink, log=log, side="left")
            )
    return theme.figure(
        data, dark=dark, height=height, title=str(metric), title_color=color, annotations=names,
        shapes=shapes, revision=f"{metric}-{ranks[-1]}-{log}", **_axes(ranks, log, top),
    )  # fmt: skip


def family(
    metric: Metric,
    ranks: Ints,
    exact: Floats,
    curves: Mapping[int, Floats],
    *,
    at: int,
    log: bool = True,
    dark: bool = False,
    height: int = theme.HEIGHT,
) -> go.Figure:
    """Expected sampled metric for growing numbers of negatives, with the exact one (Figure 3)."""
    c = theme.look(dark)
    y_exact = theme.in_percent(exact)
    top = float(y_exact.max())
    data, names = [], []
    for (m, values), line in zip(
        sorted(curves.items()), theme.family_lines(len(curves), dark), strict=True
    ):
        y = theme.in_percent(values)
        data.append(theme.curve(ranks, y, line, f"m = {count(m)}"))
        i = _crossing(ranks, y, 0.6 * top)
        names.append(
            theme.name_at(ranks[i], float(y[i]), f"m = {count(m)}", line["color"], log=log)
        )
    data.append(theme.curve(ranks, y_exact, theme.exact_line(dark), "exact"))
    j = _crossing(ranks, y_exact, 0.25 * top)
    names.append(theme.name_at(ranks[j], 0.25 * top, "exact", c.ink, log=log, side="left"))
    shape = theme.upright(at, c.muted)
    return theme.figure(
        data, dark=dark, height=height, title=str(metric), annotations=names, shapes=[shape],
        revision=f"family-{metric}-{ranks[-1]}-{log}", **_axes(ranks, log, top, most=7),
    )  # fmt: skip
