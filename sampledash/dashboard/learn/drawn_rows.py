"""Moving pictures made of rows and bars: repeated runs, ranges, and draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go

from sampledash.dashboard import theme
from sampledash.dashboard.learn import drawn as learn
from sampledash.dashboard.words import plain
from sampledash.report.numbers import count
from sampledash.types import Floats, Ints

Range = tuple[float, float]

_LIFT = 0.3  # of a row: how far the dots of one row are spread


def truths(
    metric: str, systems: Sequence[str], exact: Sequence[float], *, top: float, title: str,
    dark: bool,
) -> go.Figure:  # fmt: skip
    """One row a system, with its value on all items only."""
    fig = theme.figure(
        _ticks(exact, dark), dark=dark, height=learn.HEIGHT - 110, hovermode=False,
        revision=f"truths-{metric}", **_rows(metric, systems, top, dark),
    )  # fmt: skip
    return learn.titled(fig, title)


def runs(
    metric: str,
    systems: Sequence[str],
    exact: Sequence[float],
    m_values: Sequence[int],
    values: Sequence[Floats],
    titles: Sequence[str],
    *,
    at: int,
    dark: bool,
) -> go.Figure:
    """Repeated sampled runs as dots, one row a system; the slider is m.

    Parameters
    ----------
    metric, systems, exact
        What is measured, of whom, and its value on all items.
    m_values, values, titles
        Places of the slider; for each the runs, shape (systems, runs), and what it says.
    at
        The m it begins at.
    dark
        Whether the page is dark.
    """
    top = 1.05 * max(float(each.max()) for each in values)
    steps = []
    for m, drawn, title in zip(m_values, values, titles, strict=True):
        lift = np.linspace(-_LIFT, _LIFT, drawn.shape[1])
        dots = [
            {"type": "scatter", "mode": "markers", "hoverinfo": "skip",
             "x": np.round(100 * row, 4).tolist(), "y": (place + lift).tolist(),
             "marker": {"size": 8, "color": theme.system_line(place, dark)["color"]}}
            for place, row in enumerate(drawn)
        ]  # fmt: skip
        steps.append(learn.Step(count(m), dots, title))
    return learn.sliding(
        _ticks(exact, dark), steps, list(m_values).index(at), prefix="m = ", dark=dark,
        revision=f"runs-{metric}", **_rows(metric, systems, top, dark),
    )  # fmt: skip


def ranges(
    metric: str,
    systems: Sequence[str],
    exact: Sequence[float],
    m_values: Sequence[int],
    found: Sequence[Sequence[tuple[Range, Range | None]]],
    titles: Sequence[str],
    *,
    at: int,
    dark: bool,
) -> go.Figure:
    """What one run leaves open, one row a system; the slider is m.

    Parameters
    ----------
    metric, systems, exact
        What is measured, of whom, and its value on all items.
    m_values, found, titles
        Places of the slider; for each the ranges of each system, without an assumption and, where
        the data allow it, with falling ranks; and what it says.
    at
        The m it begins at.
    dark
        Whether the page is dark.
    """
    top = max(free[1] for each in found for free, _ in each)
    colors = [theme.system_line(place, dark)["color"] for place in range(len(systems))]
    steps = []
    for m, each, title in zip(m_values, found, titles, strict=True):
        free = _bars([span for span, _ in each], [theme.faded(c, 0.25) for c in colors], 0.56)
        falling = [(0.0, 0.0) if span is None else span for _, span in each]
        narrow = _bars(falling, [theme.faded(c, 0.7) for c in colors], 0.26)
        steps.append(learn.Step(count(m), [free, narrow], title))
    # The ticks lie over the bars, so they move last though they never change.
    for step in steps:
        step.data.extend(_ticks(exact, dark))
    return learn.sliding(
        [], steps, list(m_values).index(at), prefix="m = ", dark=dark, barmode="overlay",
        revision=f"ranges-{metric}", **_rows(metric, systems, 1.03 * top, dark),
    )  # fmt: skip


def _bars(spans: Sequence[Range], colors: Sequence[str], width: float) -> dict[str, Any]:
    return {
        "type": "bar", "orientation": "h", "y": list(range(len(spans))), "width": width,
        "base": [100 * low for low, _ in spans], "x": [100 * (high - low) for low, high in spans],
        "marker": {"color": list(colors), "line": {"width": 0}}, "hoverinfo": "skip",
    }  # fmt: skip


def _ticks(exact: Sequence[float], dark: bool) -> list[dict[str, Any]]:
    c = theme.look(dark)
    return [
        {"type": "scatter", "mode": "markers", "x": [100 * v for v in exact], "hoverinfo": "skip",
         "y": list(range(len(exact))),
         "marker": {"symbol": "line-ns", "size": 40, "color": c.ink,
                    "line": {"width": 3, "color": c.ink}}}
    ]  # fmt: skip


def _rows(metric: str, systems: Sequence[str], top: float, dark: bool) -> dict[str, Any]:
    c = theme.look(dark)
    axis = theme.percent_axis(100 * top, title=metric)
    return {
        "xaxis": axis | {"showgrid": True, "gridcolor": c.grid, "tickformat": ",.2~f"},
        "yaxis": {"tickvals": list(range(len(systems))), "showgrid": False,
                  "ticktext": [f"<b>{plain(s)}</b>" for s in systems],
                  "range": [len(systems) - 0.5, -0.5], "tickfont": {"size": 17, "color": c.ink}},
    }  # fmt: skip


def strip(n: int, rank: int, negatives: Ints, *, title: str, dark: bool) -> go.Figure:
    """The catalogue as a strip: one relevant item, the drawn negatives as ticks."""
    c = theme.look(dark)
    data: list[dict[str, Any]] = [
        {"type": "scatter", "mode": "lines", "x": [1, n], "y": [0, 0], "hoverinfo": "skip",
         "line": {"color": c.grid, "width": 16}},
        {"type": "scatter", "mode": "markers", "x": negatives.tolist(), "hoverinfo": "skip",
         "y": [0] * len(negatives),
         "marker": {"symbol": "line-ns", "size": 22, "color": c.blue,
                    "line": {"color": c.blue, "width": 2}}},
        {"type": "scatter", "mode": "markers", "x": [rank], "y": [0], "hoverinfo": "skip",
         "cliponaxis": False,
         "marker": {"symbol": "diamond", "size": 18, "color": c.vermillion,
                    "line": {"color": c.page, "width": 2}}},
    ]  # fmt: skip
    fig = theme.figure(
        data, dark=dark, height=210, hovermode=False, revision=f"strip-{n}",
        xaxis=theme.rank_axis(n, log=False), yaxis={"visible": False, "range": [-1, 1]},
    )  # fmt: skip
    return learn.titled(fig, title)


def draws(
    law: Floats,
    sizes: Sequence[int],
    observed: Sequence[Ints],
    titles: Sequence[str],
    *,
    most: int,
    dark: bool,
) -> go.Figure:
    """Sampled ranks drawn so far as bars; the law as dots at the last place of the slider.

    Parameters
    ----------
    law
        Probability of the sampled ranks 1, 2, …
    sizes, observed
        How many draws at each place of the slider but the last, and the sampled ranks drawn.
    titles
        What each place says, the last one included.
    most
        Largest sampled rank on the axis.
    dark
        Whether the page is dark.
    """
    c = theme.look(dark)
    x = list(range(1, most + 1))
    counts = [np.bincount(seen, minlength=most + 1)[1 : most + 1] / len(seen) for seen in observed]
    labels = [*(count(size) for size in sizes), "law"]
    steps = []
    for label, share, title in zip(labels, [*counts, counts[-1]], titles, strict=True):
        shown = (100 * law[:most]).tolist() if label == "law" else [None] * most
        steps.append(
            learn.Step(
                label,
                [
                    {"type": "bar", "x": x, "y": (100 * share).tolist(), "hoverinfo": "skip",
                     "marker": {"color": theme.faded(c.blue, 0.45)}},
                    {"type": "scatter", "mode": "markers", "x": x, "y": shown,
                     "hoverinfo": "skip", "marker": {"color": c.ink, "size": 11}},
                ],
                title,
            )
        )  # fmt: skip
    return learn.sliding(
        [], steps, 0, prefix="draws: ", dark=dark, revision="learn-draws", bargap=0.2,
        xaxis={"title": {"text": "sampled rank"}, "range": [0.4, most + 0.6], "dtick": 1},
        yaxis=theme.percent_axis(100.0, title="of the draws"),
    )  # fmt: skip
