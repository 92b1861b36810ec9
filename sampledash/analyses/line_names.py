"""Names of lines, written beside the lines in their colours: a reader need not look up a legend."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np

from sampledash.analyses import theme
from sampledash.types import Flags, Floats


def name_at(
    x: float, y: float, text: str, color: str, *, log: bool, side: str = "right", shift: int = 6
) -> dict[str, Any]:
    """Name of a line, written beside a point of the line and in its colour, as an annotation."""
    away = {"right": ("left", shift), "left": ("right", -shift), "center": ("center", 0)}
    anchor, by = away[side]
    style = {"font": {"color": color, "size": 14}, "yanchor": "middle"}
    return theme.note(float(np.log10(x)) if log else x, y, text, xanchor=anchor, xshift=by, **style)


def names_at(
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
    """Place each name beside its line, clear of other lines and names, on a logarithmic x axis.

    Parameters
    ----------
    names, colors
        Names and colours of the lines.
    x, curves
        The x of all lines, and the y of each line, in data units; a curve may hold NaN.
    across, up
        Ranges of the axes: ``across`` as exponents of 10, from left to right, ``up`` in data units.
    height
        Height of the plot, in pixels.
    log
        Whether the y axis is logarithmic too.
    clear
        Values of x at which upright lines are kept clear of names.
    """
    shares, points = [], []  # points of each line: as shares of the plot, and in axis units
    low, top = np.log10(up) if log else up
    uprights = [(np.log10(at) - across[0]) / (across[1] - across[0]) for at in clear]
    for y in curves:
        keep = np.isfinite(y)
        px, py = np.log10(np.asarray(x, dtype=np.float64)[keep]), y[keep]
        py = np.log10(py) if log else py
        order = slice(None, None, -1) if across[0] > across[1] else slice(None)
        px, py = px[order], py[order]
        share = (px - across[0]) / (across[1] - across[0])
        shares.append((share, np.clip((py - low) / (top - low), 0, 1)))
        points.append((px, np.clip(py, low, top)))
    plots = {_Plot(shares, uprights, width, height): weight for width, weight in WIDTHS.items()}
    notes = []
    for line, (name, color) in enumerate(zip(names, colors, strict=True)):
        sx, sy = shares[line]
        along = length(sx, sy)
        spots = np.unique(np.searchsorted(along, np.linspace(0, along[-1], _SPOTS)))
        places = list(product(spots.tolist(), (True, False), (True, False)))
        at, *side = map(np.array, zip(*places, strict=True))
        boxes = [plot.boxes(sx[at], sy[at], name, *side) for plot in plots]
        weighed = zip(plots.items(), boxes, strict=True)
        at_spots = sx[spots], sy[spots]
        costs = [weight * plot.costs(line, *at_spots, box) for (plot, weight), box in weighed]
        best = int(np.argmin(np.sum(costs, axis=0)))
        for plot, tried in zip(plots, boxes, strict=True):
            plot.taken.append(tried[best])
        spot, right, above = places[best]
        x_at, y_at = (float(part[spot]) for part in points[line])
        anchors = {"xanchor": "left" if right else "right", "yanchor": "bottom" if above else "top"}
        shifts = {"xshift": _GAP if right else -_GAP, "yshift": _GAP / 2 if above else -_GAP / 2}
        font = {"color": color, "size": 14}
        notes.append(theme.note(x_at, y_at, name, font=font, **anchors, **shifts))
    return notes


def length(x: Floats, y: Floats) -> Floats:
    """Length of a line up to each of its points."""
    return np.insert(np.cumsum(np.hypot(np.diff(x), np.diff(y))), 0, 0.0)


# Plot width in pixels, on a phone and on a desktop -> weight of its cost. A name is placed once,
# where the weighted sum of both costs is smallest.
WIDTHS = {250.0: 1.0, 480.0: 2.0}
_LETTER, _LINE, _GAP = 7.6, 18.0, 5.0
_SPOTS = 24  # positions tried along each line
_STEP = 6.0  # distance in pixels between the points of a line that names should not cover


class _Plot:
    """Lines and the names placed so far, in pixels, for a plot of one width."""

    def __init__(
        self,
        lines: Sequence[tuple[Floats, Floats]],
        clear: Sequence[float],
        width: float,
        height: float,
    ) -> None:
        self.width, self.height = width, height
        self.lines = []  # points at equal distances along each line: shape (points, 2)
        for x, y in lines:
            along = length(x * width, y * height)
            steps = np.arange(0.0, along[-1] + _STEP, _STEP)
            dense = [np.interp(steps, along, part) for part in (x * width, y * height)]
            self.lines.append(np.column_stack(dense))
        self.clear = [x * width for x in clear]
        self.taken: list[Floats] = []

    def boxes(self, x: Floats, y: Floats, name: str, right: Flags, above: Flags) -> Floats:
        """Edges of the name's box beside each point: left, low, right, high; shape (points, 4)."""
        wide = _LETTER * len(name)
        left = x * self.width + np.where(right, _GAP, -_GAP - wide)
        low = y * self.height + np.where(above, _GAP / 2, -_GAP / 2 - _LINE)
        return np.stack([left, low, left + wide, low + _LINE], axis=1)

    def costs(self, line: int, x: Floats, y: Floats, boxes: Floats) -> Floats:
        """Cost of each box: high if the name covers something or another line is close.

        ``boxes`` holds equally many boxes for each of the points ``x``, ``y``, point by point.
        """
        left, low, right, high = boxes.T
        pixels = np.stack([x * self.width, y * self.height], axis=1)
        cost, near = np.zeros(len(boxes)), np.full(len(x), 60.0)
        for place, points in enumerate(self.lines):
            across, up = points.T[:, None]
            covered = (across > left[:, None]) & (across < right[:, None])
            covered &= (up > low[:, None]) & (up < high[:, None])
            cost += 30.0 * covered.sum(axis=1)
            if place != line:
                away = (across - pixels[:, :1]) ** 2 + (up - pixels[:, 1:]) ** 2
                near = np.minimum(near, np.sqrt(away.min(axis=1)))
        for upright in self.clear:
            cost += 200.0 * ((left < upright) & (upright < right))
        for a in self.taken:
            cost += 1000.0 * ((a[0] < right) & (left < a[2]) & (a[1] < high) & (low < a[3]))
        outside = (left < 0) | (right > self.width) | (low < 0) | (high > self.height)
        costs: Floats = cost + 1000.0 * outside - np.repeat(near, len(boxes) // len(x))
        return costs
