"""Pictures of the Explore page."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from sampledash.dashboard import labels, theme
from sampledash.metrics import Metric
from sampledash.report.numbers import count, percent
from sampledash.types import Floats, Ints

Pair = tuple[float, float]

_LIFTS = (0.0, -0.001, 0.04, -0.04, 0.12, -0.12, 0.22, -0.22, 0.34, -0.34, 0.46)
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
    even = np.linspace(0, along[-1], 160)
    return np.column_stack([np.interp(even, along, column) for column in points.T])


def _free_place(
    point: Floats, taken: Floats, size: Pair, within: Pair
) -> tuple[str, float, Floats, bool]:
    """Where a label of this size covers least of ``taken``: side, lift, corner, covers any.

    A falling curve leaves room above on its right and below on its left; far from the point a
    label loses its meaning, so distance costs.
    """
    starts = {"right": 0.04, "left": -0.04 - size[0], "center": -size[0] / 2}
    places = [
        (side, lift)
        for side in starts
        for lift in _LIFTS
        if side != "center" or abs(lift) >= 0.03  # or it would sit on the point
    ]
    corners = point + [
        (starts[side], lift if lift >= 0 else lift - size[1]) for side, lift in places
    ]
    ends = corners + size
    low, high = within
    frame = [-corners[:, 0], ends[:, 0] - 1.09, low - corners[:, 1], ends[:, 1] - high]
    outside = np.maximum(np.max(frame, axis=0), 0.0)
    # A line along the edge of the box does not touch the letters in it.
    inside = np.ones((len(places), len(taken)), dtype=bool)
    for axis, edge in ((0, 0.0), (1, 0.02)):
        inside &= taken[:, axis] >= corners[:, axis, None] + edge
        inside &= taken[:, axis] <= ends[:, axis, None] - edge
    covered = inside.sum(axis=1)
    dislike = [22 * abs(lift) + 1 * (side == "center") for side, lift in places]
    best = int(np.argmin(covered + 1e4 * outside + dislike))
    return *places[best], corners[best], bool(covered[best])


def _values_at(
    at: int,
    marks: Mapping[str, tuple[float, str]],
    lines: list[Floats],
    frame: tuple[int, float, bool],
    *,
    back: str,
    narrow: bool,
) -> list[dict[str, Any]]:
    """Name and value beside the marked points, where the lines leave room."""
    last, top, log = frame
    taken = np.concatenate([_dense(line) for line in lines])
    high, low = (f(y for y, _ in marks.values()) for f in (max, min))
    broken = "<br>" if narrow else " "
    texts = {
        name: f'<span style="color:{color}">{name}{broken}<b>{percent(y / 100)}</b></span>'
        for name, (y, color) in marks.items()
    }
    size = (0.31, 0.15) if narrow else (0.2, 0.08)
    bottom, ceiling = -0.02, 1.06
    if high - low < size[1] * top:  # too close for two labels
        shown = [(high, "<br>".join(texts.values()), (bottom, ceiling))]
        size = (size[0], 2 * size[1])
    else:
        # The label of the lower value stays below the upper point, so that they read in order.
        shown = [
            (y, texts[name], (low / top, ceiling) if y == high else (bottom, high / top))
            for name, (y, _) in marks.items()
        ]
    labels = []
    for y, text, within in shown:
        point = _in_frame(at, y, last, top, log)[0]
        side, lift, corner, covers = _free_place(point, taken, size, within)
        label = theme.name_at(at, y + lift * top, text, "", log=log, side=side, shift=9)
        label |= {"yanchor": "bottom" if lift >= 0 else "top", "align": "left"}
        label["font"] = {"size": 14}
        if covers or side == "center":
            label["bgcolor"] = back
        labels.append(label)
        # The next label keeps away from this one: it counts more than any line.
        box = np.meshgrid(*(np.linspace(c, c + d, 16) for c, d in zip(corner, size, strict=True)))
        taken = np.vstack([taken, np.column_stack([part.ravel() for part in box])])
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
    narrow: bool = False,
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
    narrow
        Whether the panel shares its row: labels are then broken in two lines.
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
        back = theme.faded(c.page, 0.75)
        names = _values_at(at, marks, lines, frame, back=back, narrow=narrow)
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
    lines = theme.family_lines(len(curves), dark)
    texts = [f"m = {count(m)}" for m in sorted(curves)] + ["exact"]
    colors = [*(line["color"] for line in lines), c.ink]
    drawn = [theme.in_percent(curves[m]) for m in sorted(curves)] + [y_exact]
    data = [
        theme.curve(ranks, y, line, text)
        for y, line, text in zip(drawn, [*lines, theme.exact_line(dark)], texts, strict=True)
    ]
    axes = _axes(ranks, log, top, most=7)
    if log:
        names = labels.named(
            texts, colors, ranks, drawn, axes["xaxis"]["range"], axes["yaxis"]["range"],
            height=height - 90, clear=[at],
        )  # fmt: skip
    else:
        at_y = [0.6 * top] * len(curves) + [0.25 * top]
        places = [_crossing(ranks, y, level) for y, level in zip(drawn, at_y, strict=True)]
        names = [
            theme.name_at(ranks[i], float(y[i]), text, color, log=False)
            for i, y, text, color in zip(places, drawn, texts, colors, strict=True)
        ]
    shape = theme.upright(at, c.muted)
    return theme.figure(
        data, dark=dark, height=height, title=str(metric), annotations=names, shapes=[shape],
        revision=f"family-{metric}-{ranks[-1]}-{log}", **axes,
    )  # fmt: skip
