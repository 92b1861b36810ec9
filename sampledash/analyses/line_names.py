"""Labels of lines in a plot, written beside the lines in their colours instead of in a legend."""

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
    """Return the name of a line, ``text``, as an annotation ``shift`` pixels beside (x, y)."""
    away = {"right": ("left", shift), "left": ("right", -shift), "center": ("center", 0)}
    anchor, by = away[side]
    style = {"font": theme.halo(color), "yanchor": "middle"}
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
    """Return the name of each line as an annotation, placed to cover as little as possible.

    Parameters
    ----------
    names, colors
        Names and colours of the lines.
    x, curves
        The x values of all lines, and the y values of each line (data units; NaN is skipped).
    across, up
        Ranges of the logarithmic x axis (exponents of 10, left first) and the y axis (data units).
    height
        Height of the plotting area, in pixels.
    log
        Whether the y axis is logarithmic too.
    clear
        Values of x with vertical lines, which the names should not cover.
    """
    # Points (x, y) of each line: as shares of the plot's width and height, and in axis units.
    shares, points = [], []
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
        notes.append(theme.note(x_at, y_at, name, font=theme.halo(color), **anchors, **shifts))
    return notes


def length(x: Floats, y: Floats) -> Floats:
    """Return the length of a line from its first point to each of its points."""
    return np.insert(np.cumsum(np.hypot(np.diff(x), np.diff(y))), 0, 0.0)


# Width of the plot in pixels, on a phone and on a desktop -> weight of costs at this width.
WIDTHS = {250.0: 1.0, 480.0: 2.0}
_LETTER, _LINE, _GAP = 7.6, 18.0, 5.0
_SPOTS = 24  # number of positions along a line at which its name is tried
# Each line is replaced by points that are this many pixels apart; names should cover few points.
_STEP = 6.0


class _Plot:
    """The lines of a plot and the names placed so far, in pixels, for one plot width."""

    def __init__(
        self,
        lines: Sequence[tuple[Floats, Floats]],
        clear: Sequence[float],
        width: float,
        height: float,
    ) -> None:
        self.width, self.height = width, height
        self.lines = []  # one array (points, 2) per line: points (x, y) that are _STEP pixels apart
        for x, y in lines:
            along = length(x * width, y * height)
            steps = np.arange(0.0, along[-1] + _STEP, _STEP)
            dense = [np.interp(steps, along, part) for part in (x * width, y * height)]
            self.lines.append(np.column_stack(dense))
        self.clear = [x * width for x in clear]
        self.taken: list[Floats] = []

    def boxes(self, x: Floats, y: Floats, name: str, right: Flags, above: Flags) -> Floats:
        """Return text boxes beside points, in pixels: (points, 4) left, low, right, high edges."""
        wide = _LETTER * len(name)
        left = x * self.width + np.where(right, _GAP, -_GAP - wide)
        low = y * self.height + np.where(above, _GAP / 2, -_GAP / 2 - _LINE)
        return np.stack([left, low, left + wide, low + _LINE], axis=1)

    def costs(self, line: int, x: Floats, y: Floats, boxes: Floats) -> Floats:
        """Return the cost of writing the name of line number ``line`` into each text box.

        A box should cover no line or name, and its point (x, y) should be far from other lines. All
        points have the same number of ``boxes``, which are listed point by point.
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
