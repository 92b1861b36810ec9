"""Where the name of a line goes: beside it, clear of the other lines and names."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from sampledash.dashboard import theme
from sampledash.types import Floats

Box = tuple[float, float, float, float]  # left, low, right, high, in pixels

# Plots on a phone and on a desk, in pixels: a place must do for both, the desk counting more.
WIDTHS = {200.0: 1.0, 480.0: 2.0}
_LETTER, _LINE, _GAP = 7.6, 18.0, 5.0
_SPOTS = 24  # tried along each line
_STEP = 6.0  # between the points at which a line is compared with the boxes


class _Plot:
    """Lines and the names placed so far, at one width."""

    def __init__(
        self,
        lines: Sequence[tuple[Floats, Floats]],
        clear: Sequence[float],
        width: float,
        height: float,
    ) -> None:
        self.width, self.height = width, height
        self.pixels = [_dense(x * width, y * height) for x, y in lines]
        self.clear = [x * width for x in clear]
        self.taken: list[Box] = []

    def box(self, x: float, y: float, name: str, right: bool, up: bool) -> Box:
        """The room a name takes beside the point (x, y)."""
        wide = _LETTER * len(name)
        left = x * self.width + (_GAP if right else -_GAP - wide)
        low = y * self.height + (_GAP / 2 if up else -_GAP / 2 - _LINE)
        return left, low, left + wide, low + _LINE

    def cost(self, line: int, x: float, y: float, box: Box) -> float:
        """How bad a place is: what the name would cover, how close the next line is."""
        left, low, right, high = box
        cost = 30.0 * sum(_points_in(points, box) for points in self.pixels)
        cost += 200.0 * sum(left < at < right for at in self.clear)
        cost += 1000.0 * sum(_overlap(box, other) for other in self.taken)
        cost += 1000.0 * (left < 0 or right > self.width or low < 0 or high > self.height)
        others = [points for place, points in enumerate(self.pixels) if place != line]
        here = (x * self.width, y * self.height)
        return cost - min([60.0, *(_distance(points, *here) for points in others)])


def beside(
    names: Sequence[str],
    lines: Sequence[tuple[Floats, Floats]],
    height: float,
    clear: Sequence[float] = (),
) -> list[dict[str, Any]]:
    """Find a place for each name at its line.

    Lines are given as x and y in shares of the plot, x increasing; ``height`` is in pixels;
    ``clear`` are shares of the width at which an upright line is to be kept clear of names.

    Returns
    -------
    For each name ``at`` (index of the point it stands at) and the anchors and shifts of a Plotly
    annotation.
    """
    plots = {_Plot(lines, clear, width, height): weight for width, weight in WIDTHS.items()}
    found = []
    for line, (name, (x, y)) in enumerate(zip(names, lines, strict=True)):

        def cost(place: tuple[int, bool, bool], line: int = line, name: str = name) -> float:
            at, right, up = place
            px, py = float(lines[line][0][at]), float(lines[line][1][at])
            return sum(
                weight * plot.cost(line, px, py, plot.box(px, py, name, right, up))
                for plot, weight in plots.items()
            )

        along = np.r_[0.0, np.cumsum(np.hypot(np.diff(x), np.diff(y)))]
        spots = np.unique(np.searchsorted(along, np.linspace(0, along[-1], _SPOTS)))
        at, right, up = min(product(spots.tolist(), (True, False), (True, False)), key=cost)
        for plot in plots:
            plot.taken.append(plot.box(float(x[at]), float(y[at]), name, right, up))
        anchors = {"xanchor": "left" if right else "right", "yanchor": "bottom" if up else "top"}
        shifts = {"xshift": _GAP if right else -_GAP, "yshift": _GAP / 2 if up else -_GAP / 2}
        found.append({"at": at, **anchors, **shifts})
    return found


def named(
    names: Sequence[str],
    colors: Sequence[str],
    x: Any,
    curves: Sequence[Floats],
    across: Sequence[float],
    up: tuple[float, float],
    *,
    height: float,
    log: bool = False,
    clear: Sequence[float] = (),
) -> list[dict[str, Any]]:
    """Write each name beside its line, as Plotly annotations on a logarithmic x axis.

    Parameters
    ----------
    x, curves
        Common to all lines, and a line each, in data units; a curve may hold NaN.
    across, up
        Ranges of the axes: ``across`` in powers of ten and in drawing order, ``up`` in data units.
    height
        Of the plot, in pixels.
    log
        Whether the y axis is logarithmic too.
    clear
        Values of x at which upright lines are kept clear of names.
    """
    shares, points = [], []
    low, top = np.log10(up) if log else up
    uprights = [(np.log10(at) - across[0]) / (across[1] - across[0]) for at in clear]
    for y in curves:
        keep = np.isfinite(y)
        px, py = np.log10(np.asarray(x, dtype=np.float64)[keep]), y[keep]
        py = np.log10(py) if log else py
        order = slice(None, None, -1) if across[0] > across[1] else slice(None)
        px, py = px[order], py[order]
        shares.append(
            ((px - across[0]) / (across[1] - across[0]), np.clip((py - low) / (top - low), 0, 1))
        )
        points.append((px, np.clip(py, low, top)))
    notes = []
    places = beside(names, shares, height, uprights)
    for text, color, place, (px, py) in zip(names, colors, places, points, strict=True):
        at, font = place.pop("at"), {"color": color, "size": 14}
        notes.append(theme.note(float(px[at]), float(py[at]), text, font=font, **place))
    return notes


def _dense(x: Floats, y: Floats) -> Floats:
    """Points every few pixels along a line, steep parts too: shape (p, 2)."""
    along = np.r_[0.0, np.cumsum(np.hypot(np.diff(x), np.diff(y)))]
    steps = np.arange(0.0, along[-1] + _STEP, _STEP)
    return np.column_stack([np.interp(steps, along, x), np.interp(steps, along, y)])


def _points_in(points: Floats, box: Box) -> int:
    x, y = points[:, 0], points[:, 1]
    return int(np.sum((x > box[0]) & (x < box[2]) & (y > box[1]) & (y < box[3])))


def _overlap(a: Box, b: Box) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _distance(points: Floats, x: float, y: float) -> float:
    return float(np.sqrt(np.min((points[:, 0] - x) ** 2 + (points[:, 1] - y) ** 2)))
