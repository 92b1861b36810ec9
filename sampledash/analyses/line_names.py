"""Names of the curves in a plot, written beside the curves in their colours, without a legend.

In this module, a "line" is always a curve of the plot. A name consists of "rows" of text.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np

from sampledash.analyses import theme
from sampledash.types import Floats

# Pixels: width of a plot, width of a letter, height of a line of text, gap between name and line.
# Names are placed for a plot as wide as a phone; on wider plots, they cover less of the lines.
_WIDTH, _LETTER, _LINE, _GAP = 260, 7.6, 18, 6
_PLACES = 60  # number of positions along the x axis at which a name is tried
# Each place for a name has a cost, and the place with the least cost is chosen. ``_BLOCKED`` is the
# cost of covering another name or a vertical line, or of leaving the plot. ``_FAR`` is the cost of
# standing one row of text away from the line. Covering a short piece of a line costs 1.
_BLOCKED, _FAR = 100, 5
_WRONG = 30  # cost of a place for a name that is nearer to another line than to the named line


def name_at(
    x: float, y: float, text: str, color: str, *, log: bool, side: str = "right"
) -> dict[str, Any]:
    """Return the name of a line, ``text``, as an annotation beside (x, y)."""
    anchor, shift = {"right": ("left", _GAP), "left": ("right", -_GAP)}.get(side, ("center", 0))
    at = float(np.log10(x)) if log else x
    font = theme.halo(color)
    return theme.note(at, y, text, xanchor=anchor, xshift=shift, yanchor="middle", font=font)


def names_at(
    names: Sequence[str],
    colors: Sequence[str],
    x: Floats,
    curves: Sequence[Floats],
    across: Sequence[float],
    up: Sequence[float],
    *,
    height: float,
    only: float | None = None,
    clear: Sequence[float] = (),
) -> list[dict[str, Any]]:
    """Return the name of each line as an annotation, placed to cover as little as possible.

    All coordinates are those of Plotly's axes: exponents of 10 if an axis is logarithmic.

    Parameters
    ----------
    names, colors
        Names and colours of the lines.
    x, curves
        The increasing x values of all lines, and the y values of each line (NaN is skipped).
    across, up
        Ranges of the x axis, left end first, and of the y axis.
    height
        Height of the plotting area, in pixels.
    only
        The x at which all names stand; if None, each name may stand anywhere along its line.
    clear
        Values of x with vertical lines, which the names should not cover.
    """
    at, lines = np.linspace(across[0], across[1], _PLACES), []
    if only is not None:
        at = np.union1d(at, only)
    columns = _pixels(at, across, _WIDTH)
    for y in curves:
        known = np.isfinite(y)
        drawn = np.interp(at, x[known], y[known], left=np.nan, right=np.nan)
        lines.append(_pixels(np.clip(drawn, up[0], up[1]), up, height))
    # Boxes that a name should not cover: pieces of the lines, vertical lines, and names placed
    # before. The array has a column per box; its rows are the left, low, right and high edges.
    first, last = columns[:-1], columns[1:]
    pieces = [(first, np.fmin(y[:-1], y[1:]), last, np.fmax(y[:-1], y[1:])) for y in lines]
    upright = _pixels(clear, across, _WIDTH)
    uprights = upright, np.zeros(len(upright)), upright, np.full(len(upright), height)
    boxes = np.concatenate([*pieces, uprights], axis=1)
    costs = np.repeat([1.0, _BLOCKED], [boxes.shape[1] - len(upright), len(upright)])
    notes = []
    for y, name, color in zip(lines, names, colors, strict=True):
        # A name begins or ends at a point of its line. Row 0 is the row of text above this point,
        # row -1 that below. If all names stand at the same x, rows 1 and -2 are tried too.
        places = np.flatnonzero(np.isfinite(y) if only is None else at == only)
        rows = (0, -1) if only is None else (0, -1, 1, -2)
        # Axes of the arrays below: point of the line, whether the name begins there, row of text.
        place, right, row = np.meshgrid(places, (True, False), rows, indexing="ij", sparse=True)
        texts = re.sub("</?b>", "", name).split("<br>")
        wide, high = _LETTER * max(map(len, texts)), _LINE * len(texts)
        left = columns[place] + np.where(right, _GAP, -_GAP - wide)
        low = y[place] + row * high + np.where(row < 0, -2, 2)
        beside = (left[..., None] < boxes[2]) & (boxes[0] < left[..., None] + wide)
        level_with = (low[..., None] < boxes[3]) & (boxes[1] < low[..., None] + high)
        outside = (left < 0) | (left + wide > _WIDTH) | (low < 0) | (low + high > height)
        away = np.array([np.abs(other - y) for other in lines if other is not y])
        near = np.fmin.reduce(away, axis=0, initial=60)[place]
        far = (row > 0) | (row < -1)
        cost = (beside & level_with) @ costs + _BLOCKED * outside + _FAR * far - 0.1 * near
        if only is not None:
            # All names stand at the same x. A place nearer to another line than to the line that
            # the name belongs to costs ``_WRONG``.
            away = np.abs(low + high / 2 - np.array(lines)[:, place])
            cost += _WRONG * (np.nanmin(away, axis=0) < np.abs(low + high / 2 - y[place]))
        i, j, k = np.unravel_index(int(np.argmin(cost)), cost.shape)
        spot, begins, below = places[i], not j, rows[k] < 0
        left, low = left[i, j, 0], low[i, 0, k]
        box = left, low, left + wide, low + high
        boxes, costs = np.column_stack([boxes, box]), np.append(costs, _BLOCKED)
        side, shift = ("left", _GAP) if begins else ("right", -_GAP)
        style = {"font": theme.halo(color), "align": "left", "xanchor": side, "xshift": shift}
        style["yanchor"] = "top" if below else "bottom"
        style["yshift"] = float(low - y[spot] + high * below)
        level = float(up[0] + y[spot] / height * (up[1] - up[0]))
        notes.append(theme.note(float(at[spot]), level, name, **style))
    return notes


def _pixels(values: Any, ends: Sequence[float], size: float) -> Floats:
    """Convert axis values to pixels: ``ends[0]`` becomes 0, and ``ends[1]`` becomes ``size``."""
    return (np.asarray(values, dtype=np.float64) - ends[0]) / (ends[1] - ends[0]) * size
