"""Names of the curves in a plot, written beside the curves in their colours, without a legend.

In this module, a line is a curve of the plot, and a row of text is what a name is written in.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from sampledash.analyses import theme
from sampledash.analyses.sliding import spread
from sampledash.types import Floats

# Pixels: height of a line of text, and gap between a name and its point of the line.
_LINE, _GAP = 18, 6


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
) -> list[dict[str, Any]]:
    """Return the name of each line as an annotation; all names stand at one x.

    All coordinates are those of Plotly's axes: exponents of 10 if an axis is logarithmic.

    Parameters
    ----------
    names, colors
        Names and colours of the lines. All names have the same number of lines of text.
    x, curves
        The increasing x values of all lines, and the y values of each line (NaN is skipped).
    across, up
        Ranges of the x axis, left end first, and of the y axis.
    height
        Height of the plotting area, in pixels.
    only
        The x of ``x`` at which the names stand; if None, that at which the lines are most apart.
    """
    if not names:
        return []
    known = [(x[np.isfinite(y)], y[np.isfinite(y)]) for y in curves]
    drawn = np.array([np.clip(np.interp(x, *points), up[0], up[1]) for points in known])
    y = (drawn - up[0]) / (up[1] - up[0]) * height
    high = _LINE * len(names[0].split("<br>"))
    apart = np.minimum(np.diff(np.sort(y, axis=0), axis=0), high).sum(axis=0)
    spot = int(np.argmax(apart if only is None else x == only))
    right = (x[spot] - across[0]) / (across[1] - across[0]) < 0.5
    # A name is not crossed by its own line: it stands above a line that falls away from the point.
    beside = y[:, np.clip(spot + (1 if right == (across[0] < across[1]) else -1), 0, len(x) - 1)]
    wanted = y[:, spot] + np.where(beside <= y[:, spot], 1, -1) * (high / 2 + 2)
    places = spread(np.clip(wanted, high / 2, height - high / 2), high)
    side, shift = ("left", _GAP) if right else ("right", -_GAP)
    style: dict[str, Any] = {"xanchor": side, "xshift": shift, "yanchor": "middle", "align": "left"}
    return [
        theme.note(x[spot], line[spot], name, font=theme.halo(color), yshift=shifted, **style)
        for name, color, line, shifted in zip(
            names, colors, drawn, places - y[:, spot], strict=True
        )
    ]
