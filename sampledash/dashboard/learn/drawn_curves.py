"""Moving pictures made of curves: dots that run along them, and curves that change."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from sampledash.dashboard import theme
from sampledash.dashboard.learn import drawn as learn
from sampledash.report.numbers import percent
from sampledash.types import Floats, Ints

Line = dict[str, Any]


@dataclass(frozen=True)
class Curve:
    """A line to draw: its name, values as shares, and Plotly line."""

    name: str
    y: Floats
    line: Line


@dataclass(frozen=True)
class Place:
    """One place of the slider: its label, and what the title says first."""

    label: str
    says: str = ""


def signed(value: float) -> str:
    """A share in percent, with a proper minus.

    Examples
    --------
    >>> signed(-0.02)
    '−2.00 %'
    """
    return percent(value).replace("-", "−")


def live(curves: Sequence[Curve], values: Sequence[float], says: str = "") -> str:
    """Title that names each curve in its colour, with its value."""
    parts = [
        learn.colored(f"<b>{curve.name}</b> {signed(value)}", str(curve.line["color"]))
        for curve, value in zip(curves, values, strict=True)
    ]
    return "<br>".join(
        [*([f"<b>{says}</b>"] if says else []), learn.broken(parts, 3 if says else 2)]
    )


def names(curves: Sequence[Curve]) -> str:
    """Title that names each curve in its colour."""
    return learn.broken(
        [learn.colored(f"<b>{curve.name}</b>", str(curve.line["color"])) for curve in curves], 4
    )


def still(
    x: Ints, curves: Sequence[Curve], *, title: str, dark: bool, axes: Line, revision: str
) -> go.Figure:
    """The same picture before the answer: nothing to drag."""
    fig = theme.figure(
        _drawn(x, curves), dark=dark, height=learn.HEIGHT - 70, hovermode=False,
        revision=revision, **axes,
    )  # fmt: skip
    return learn.titled(fig, title)


def along(
    x: Ints,
    curves: Sequence[Curve],
    at: Sequence[int],
    places: Sequence[Place],
    active: int,
    *,
    still_lines: Sequence[Curve] = (),
    prefix: str,
    dark: bool,
    axes: Line,
    revision: str,
) -> go.Figure:
    """Fixed curves with a dot on each, all at one x that the slider moves.

    Parameters
    ----------
    x, curves
        Common x, and the curves that carry dots.
    at, places
        Indices into ``x`` that the slider visits, and what it says there.
    active
        Where it begins.
    still_lines
        Curves without a dot.
    prefix, dark, axes, revision
        Of the slider's value; look of the page; Plotly axes; name of the picture.
    """
    c = theme.look(dark)
    low, top = axes["yaxis"]["range"]
    colors = [str(curve.line["color"]) for curve in curves]
    steps = []
    for i, place in zip(at, places, strict=True):
        values = [float(curve.y[i]) for curve in curves]
        moving = [
            learn.upright(float(x[i]), low, top, c.muted),
            learn.marker([float(x[i])] * len(values), [100 * v for v in values], colors, dark=dark),
        ]
        steps.append(learn.Step(place.label, moving, live(curves, values, place.says)))
    return learn.sliding(
        _drawn(x, [*still_lines, *curves]), steps, active, prefix=prefix, dark=dark,
        revision=revision, **axes,
    )  # fmt: skip


def changing(
    x: Ints,
    fixed: Sequence[Curve],
    moving: Sequence[Sequence[Curve]],
    labels: Sequence[str],
    titles: Sequence[str],
    active: int,
    *,
    prefix: str,
    dark: bool,
    axes: Line,
    revision: str,
) -> go.Figure:
    """Curves that change with the slider, beside others that stay.

    Parameters
    ----------
    x, fixed
        Common x, and the curves that stay.
    moving, labels, titles
        For each place of the slider its curves, its value as written, and what it says.
    active, prefix, dark, axes, revision
        As in :func:`along`.
    """
    steps = [
        learn.Step(label, _drawn(x, curves), title)
        for label, curves, title in zip(labels, moving, titles, strict=True)
    ]
    return learn.sliding(
        _drawn(x, fixed), steps, active, prefix=prefix, dark=dark, revision=revision, **axes
    )


def _drawn(x: Ints, curves: Sequence[Curve]) -> list[dict[str, Any]]:
    return [
        {"type": "scatter", "mode": "lines", "x": x.tolist(), "name": curve.name,
         "y": np.round(100 * curve.y, 5).tolist(), "line": curve.line, "hoverinfo": "skip"}
        for curve in curves
    ]  # fmt: skip
