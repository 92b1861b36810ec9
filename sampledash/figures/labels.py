"""Where the name of a line goes: beside it, clear of the other lines and names."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

# A narrow plot in pixels: what fits there fits a wide one too.
WIDTH, HEIGHT = 420.0, 300.0
_LETTER, _LINE, _GAP = 7.6, 18.0, 5.0
_SPOTS = 30  # tried along each line


def beside(names: Sequence[str], lines: Sequence[tuple[Floats, Floats]]) -> list[dict[str, Any]]:
    """Find a place for each name at its line.

    Parameters
    ----------
    names
        Text of each line; an empty one gets a place too, of no width.
    lines
        x and y of each line as shares of the plot, 0..1, x increasing.

    Returns
    -------
    For each name ``at`` (index of the point it stands at) and the anchors and shifts of a Plotly
    annotation.
    """
    pixels = [_dense(x, y) for x, y in lines]
    taken: list[tuple[float, float, float, float]] = []
    found = []
    for i, (name, (x, y)) in enumerate(zip(names, lines, strict=True)):
        others = [p for j, p in enumerate(pixels) if j != i]
        best: tuple[float, Any, Any] | None = None
        spots = np.unique(np.searchsorted(x, np.linspace(x[0], x[-1], _SPOTS)))
        for at, right, up in product(spots.tolist(), (True, False), (True, False)):
            px, py = float(x[at]) * WIDTH, float(y[at]) * HEIGHT
            wide = _LETTER * len(name)
            left = px + _GAP if right else px - _GAP - wide
            low = py + _GAP / 2 if up else py - _GAP / 2 - _LINE
            box = (left, low, left + wide, low + _LINE)
            score = sum(_points_in(p, box) for p in pixels) * 30.0
            score += 1000.0 * sum(_overlap(box, other) for other in taken)
            score += 1000.0 * (box[0] < 0 or box[2] > WIDTH or box[1] < 0 or box[3] > HEIGHT)
            near = min((_distance(p, px, py) for p in others), default=60.0)
            score -= min(near, 60.0)
            if best is None or score < best[0]:
                place = {
                    "at": at, "xanchor": "left" if right else "right", "yanchor":
                    "bottom" if up else "top", "xshift": _GAP if right else -_GAP,
                    "yshift": _GAP / 2 if up else -_GAP / 2,
                }  # fmt: skip
                best = (score, place, box)
        assert best is not None  # a line has at least one point
        found.append(best[1])
        taken.append(best[2])
    return found


def _dense(x: Floats, y: Floats) -> Floats:
    """The line in pixels at even steps of x, shape (p, 2); steep parts get the points between."""
    steps = np.linspace(x[0], x[-1], 100)
    values = np.interp(steps, x, y)
    finer = np.linspace(0, 99, 400)
    return np.column_stack(
        [
            np.interp(finer, np.arange(100), steps) * WIDTH,
            np.interp(finer, np.arange(100), values) * HEIGHT,
        ]
    )


def _points_in(points: Floats, box: tuple[float, float, float, float]) -> int:
    x, y = points[:, 0], points[:, 1]
    return int(np.sum((x > box[0]) & (x < box[2]) & (y > box[1]) & (y < box[3])))


def _overlap(a: tuple[float, float, float, float], b: tuple[float, float, float, float]) -> bool:
    return a[0] < b[2] and b[0] < a[2] and a[1] < b[3] and b[1] < a[3]


def _distance(points: Floats, x: float, y: float) -> float:
    return float(np.sqrt(np.min((points[:, 0] - x) ** 2 + (points[:, 1] - y) ** 2)))
