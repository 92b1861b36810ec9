"""The slope chart of the first page."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
import plotly.graph_objects as go

from sampledash.dashboard import theme
from sampledash.dashboard.learn import drawn as learn
from sampledash.dashboard.words import plain
from sampledash.report.numbers import count, percent
from sampledash.types import Floats


def heights(values: Floats) -> Floats:
    """Places between 0 (worst) and 1 (best); all in the middle if they are equal.

    Examples
    --------
    >>> heights(np.array([1.0, 3.0, 2.0])).tolist()
    [0.0, 1.0, 0.5]
    """
    span = float(np.ptp(values))
    return np.full(len(values), 0.5) if span == 0 else (values - values.min()) / span


def spread(places: Floats, gap: float) -> Floats:
    """Places moved apart so that no two labels are closer than ``gap``; the order stays.

    Examples
    --------
    >>> spread(np.array([0.0, 0.02, 1.0]), 0.2).round(2).tolist()
    [-0.09, 0.11, 1.0]
    """
    moved, order = places.astype(np.float64), np.argsort(places, kind="stable")
    for _ in range(20):
        for low, high in pairwise(order.tolist()):
            short = gap - (moved[high] - moved[low])
            if short > 1e-9:
                moved[low] -= short / 2
                moved[high] += short / 2
    return moved


def slopes(
    systems: Sequence[str],
    exact: Floats,
    m_values: Sequence[int],
    sampled: Floats,
    titles: Sequence[str],
    *,
    everything: str,
    at: int,
    dark: bool = False,
    height: int = 410,
) -> go.Figure:
    """Exact metric on the left, expected sampled metric on the right; crossing lines are wrong.

    Parameters
    ----------
    systems, exact
        Names and exact means, as shares.
    m_values, sampled
        Places of the slider, and the expected means there: shape (M, systems).
    titles
        What each place says.
    everything
        What the exact metric ranks: ``"all candidates"``.
    at
        The m the slider begins at.
    dark, height
        Look of the page and height in pixels.
    """
    c = theme.look(dark)
    lines = [theme.system_line(place, dark) | {"width": 5} for place in range(len(systems))]
    left = heights(exact)
    column = _labels(0.0, spread(left, 0.17), systems, exact, lines, "middle left")
    fixed = [column, _header(0.0, everything, c.ink)]
    steps = []
    for m, values, title in zip(m_values, sampled, titles, strict=True):
        right = heights(values)
        moving: list[dict[str, Any]] = [
            {"type": "scatter", "mode": "lines+markers", "x": [0, 1], "hoverinfo": "skip",
             "y": [a, b], "line": line, "marker": {"size": 15, "color": line["color"]}}
            for a, b, line in zip(left.tolist(), right.tolist(), lines, strict=True)
        ]  # fmt: skip
        moving.append(_labels(1.0, spread(right, 0.17), systems, values, lines, "middle right"))
        moving.append(_header(1.0, f"{count(m)} sampled negatives", c.ink))
        steps.append(learn.Step(count(m), moving, title))
    hidden = {"visible": False, "fixedrange": True}
    return learn.sliding(
        fixed, steps, list(m_values).index(at), prefix="m = ", dark=dark, height=height, gap=30,
        xaxis={**hidden, "range": [-0.62, 1.62]}, yaxis={**hidden, "range": [-0.1, 1.4]},
        revision=f"slopes-{at}", margin={"l": 0, "r": 0, "t": 40},
    )  # fmt: skip


def _labels(
    x: float,
    places: Floats,
    systems: Sequence[str],
    values: Floats,
    lines: Sequence[dict[str, Any]],
    side: str,
) -> dict[str, Any]:
    pad = "\u2002\u2002"
    texts = [
        f"<b>{plain(s)}</b>  {percent(float(v))}" for s, v in zip(systems, values, strict=True)
    ]
    return {
        "type": "scatter", "mode": "text", "x": [x] * len(systems), "y": places.tolist(),
        "text": [text + pad if side == "middle left" else pad + text for text in texts],
        "textposition": side, "cliponaxis": False, "hoverinfo": "skip",
        "textfont": {"size": 18, "color": [line["color"] for line in lines]},
    }  # fmt: skip


def _header(x: float, text: str, color: str) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "text", "x": [x], "y": [1.26], "text": [text],
        "cliponaxis": False, "hoverinfo": "skip", "textfont": {"size": 15, "color": color},
    }  # fmt: skip
