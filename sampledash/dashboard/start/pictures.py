"""The slope chart of the first page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import plotly.graph_objects as go

from sampledash.dashboard import theme
from sampledash.dashboard.sliding import Step, Trace, scatter, sliding
from sampledash.dashboard.start import words
from sampledash.report.escape import plain
from sampledash.report.numbers import count, percent
from sampledash.types import Floats

GAP = 0.17  # between the heights of two labels


def heights(values: Floats) -> Floats:
    """Places between 0 (worst) and 1 (best); all in the middle if they are equal."""
    span = float(np.ptp(values))
    return np.full(len(values), 0.5) if span == 0 else (values - values.min()) / span


def spread(places: Floats, gap: float) -> Floats:
    """Places moved apart so that no two labels are closer than ``gap``; the order stays."""
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
    sampled: Mapping[int, Floats],
    *,
    at: int,
    dark: bool,
    size: int = 18,
    reach: float = 0.62,
) -> go.Figure:
    """Exact metric on the left, expected sampled metric on the right; crossing lines are wrong.

    Expected means are those at each m that the slider visits, beginning ``at`` one of them. Names
    have letters of this ``size`` and, on each side, so much room, as a share of the lines' width.
    """
    lines = [theme.system_line(place, dark) | {"width": 5} for place in range(len(systems))]
    colors = [line["color"] for line in lines]
    pad = "\u2002\u2002"

    def side(x: float, values: Floats, head: str) -> list[Trace]:
        """The names with their values at one end, and what is ranked there."""
        texts = [f"<b>{plain(s)}</b>  {percent(v)}" for s, v in zip(systems, values, strict=True)]
        names = scatter(
            "text",
            [x] * len(systems),
            spread(heights(values), GAP).tolist(),
            text=[pad + text if x else text + pad for text in texts],
            textposition="middle right" if x else "middle left",
            cliponaxis=False,
            textfont={"size": size, "color": colors},
        )
        font = {"size": 15, "color": theme.look(dark).ink}
        above = scatter("text", [x], [1.26], text=[head], cliponaxis=False, textfont=font)
        return [names, above]

    steps = []
    for m, values in sampled.items():
        moving = []
        for a, b, line in zip(heights(exact), heights(values), lines, strict=True):
            marker = {"size": 15, "color": line["color"]}
            moving.append(scatter("lines+markers", [0, 1], [a, b], line=line, marker=marker))
        moving += side(1.0, values, f"{count(m)} sampled negatives")
        steps.append(Step(count(m), moving, words.step_title(systems, exact, values)))
    hidden = {"visible": False, "fixedrange": True}
    return sliding(
        side(0.0, exact, words.ALL),
        steps,
        list(sampled).index(at),
        dark=dark,
        height=410 if len(sampled) > 1 else 330,
        gap=30,
        xaxis={**hidden, "range": [-reach, 1 + reach]},
        yaxis={**hidden, "range": [-0.1, 1.4]},
        revision=f"slopes-{at}",
        margin={"l": 0, "r": 0, "t": 40},
    )
