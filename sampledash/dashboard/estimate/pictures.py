"""Pictures of what sampled ranks tell and what they leave open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from sampledash.dashboard import theme
from sampledash.dashboard.words import plain
from sampledash.report.numbers import percent
from sampledash.types import Floats, Ints

Range = tuple[float, float]

_ROW = 58  # pixels of a system
_WIDE, _NARROW = 0.5, 0.22  # of a row


@dataclass(frozen=True)
class Row:
    """What is known of the exact metric of one system, as shares.

    Attributes
    ----------
    name
        The system.
    free
        Range without an assumption.
    falling
        Range if no rank is more frequent than a better one; None if that contradicts the data.
    value
        The estimate, where there is one.
    exact
        The exact metric, where it is known.
    """

    name: str
    free: Range
    falling: Range | None
    value: float | None = None
    exact: float | None = None


def ranges(metric: str, rows: Sequence[Row], *, dark: bool = False) -> go.Figure:
    """Ranges of the exact metric, one row a system, the first on top.

    Parameters
    ----------
    metric
        Names the axis.
    rows
        Systems in the order of the data, which decides their colours.
    dark
        Whether the page is dark.
    """
    c = theme.look(dark)
    data: list[dict[str, Any]] = []
    for place, row in enumerate(rows):
        color = theme.system_line(place, dark)["color"]
        data.append(_bar(place, row.free, theme.faded(color, 0.22), _WIDE, "no assumption"))
        if row.falling is not None:
            data.append(_bar(place, row.falling, theme.faded(color, 0.65), _NARROW, "falling"))
        if row.value is not None:
            data.append(_mark(place, row.value, "estimate", symbol="circle", color=c.ink, size=11))
        if row.exact is not None:
            data.append(
                _mark(place, row.exact, "on all items", symbol="line-ns", color=c.ink, size=26)
            )
    known = [x for row in rows for x in (*row.free, row.value, row.exact) if x is not None]
    low, top = min(known), max(known)
    if 0 <= low <= top - low:  # near 0: from there
        low = 0.0
    axis = theme.percent_axis(100 * top, low=100 * low, title=f"{metric} on all items")
    return theme.figure(
        data, dark=dark, height=96 + _ROW * len(rows), barmode="overlay",
        revision=f"ranges-{metric}-{len(rows)}", hovermode="closest",
        margin={"l": 8, "r": 16, "t": 8, "b": 8},
        xaxis=axis | {"showgrid": True, "gridcolor": c.grid},
        yaxis={"tickvals": list(range(len(rows))), "ticktext": [plain(row.name) for row in rows],
               "showgrid": False, "range": [len(rows) - 0.5, -0.5],
               "tickfont": {"size": 15, "color": c.ink}},
    )  # fmt: skip


def _bar(place: int, span: Range, color: str, width: float, name: str) -> dict[str, Any]:
    low, high = 100 * span[0], 100 * span[1]
    return {
        "type": "bar", "orientation": "h", "y": [place], "base": [low], "x": [high - low],
        "width": width, "name": name, "marker": {"color": color, "line": {"width": 0}},
        "hovertemplate": f"{name}: {percent(span[0])} to {percent(span[1])}<extra></extra>",
    }  # fmt: skip


def _mark(
    place: int, value: float, name: str, *, symbol: str, color: str, size: int
) -> dict[str, Any]:
    line = {"width": 3, "color": color} if symbol == "line-ns" else {"width": 0}
    return {
        "type": "scatter", "mode": "markers", "y": [place], "x": [100 * value], "name": name,
        "marker": {"symbol": symbol, "size": size, "color": color, "line": line},
        "hovertemplate": f"{name}: {percent(value)}<extra></extra>",
    }  # fmt: skip


def ranks_below(
    ranks: Ints, estimated: Mapping[str, Floats], exact: Mapping[str, Floats], *, dark: bool = False
) -> go.Figure:
    """Share of relevant items up to each true rank, as estimated and, where known, as it is.

    Parameters
    ----------
    ranks
        Increasing true ranks, at most 400.
    estimated, exact
        Per system: cumulative shares at ``ranks``.
    dark
        Whether the page is dark.
    """
    data = []
    for place, (name, shares) in enumerate(estimated.items()):
        line = theme.system_line(place, dark)
        data.append(theme.curve(ranks, theme.in_percent(shares), line, plain(name)))
        if name in exact:
            thin = {"color": line["color"], "width": 1.5, "dash": theme.EXACT_DASH}
            known = theme.in_percent(exact[name])
            data.append(
                theme.curve(ranks, known, thin, f"{plain(name)}, on all items", showlegend=False)
            )
    return theme.figure(
        data, dark=dark, height=340, showlegend=True, revision=f"below-{ranks[-1]}",
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        margin={"l": 8, "r": 12, "t": 34, "b": 8},
        xaxis=theme.rank_axis(int(ranks[-1]), title="true rank (log scale)"),
        yaxis=theme.percent_axis(title="of relevant items up to it"),
    )  # fmt: skip


def errors_over_gamma(
    gammas: Floats, bias: Floats, scatter: Floats, error: Floats, *, suggested: float, best: float,
    dark: bool = False,
) -> go.Figure:  # fmt: skip
    """What a corrected mean is off by, over γ: bias, scatter, and both together.

    Parameters
    ----------
    gammas
        Increasing, above 0.
    bias, scatter, error
        Shares, not negative: |bias|, standard deviation and root mean squared error of the mean.
    suggested, best
        Values of γ to mark: 1/|D|, and that of the least error.
    dark
        Whether the page is dark.
    """
    c = theme.look(dark)
    lines = (
        ("bias", bias, {"color": c.vermillion, "width": 2}),
        ("scatter", scatter, {"color": c.blue, "width": 2, "dash": "dot"}),
        ("both", error, {"color": c.ink, "width": 3}),
    )
    data = [theme.curve(gammas, theme.in_percent(y), line, name) for name, y, line in lines]
    top = 2.5 * float(error.max())
    low = max(float(min(error.min(), scatter.min())) / 2, top / 1e5)
    marks = [(suggested, "1/|D|", c.muted), (best, "best", c.ink)]
    return theme.figure(
        data, dark=dark, height=330, showlegend=True, revision="errors-over-gamma",
        legend={"orientation": "h", "x": 0, "y": 1.08, "yanchor": "bottom"},
        margin={"l": 8, "r": 12, "t": 48, "b": 8},
        shapes=[theme.upright(at, color) for at, _, color in marks],
        annotations=[
            {"x": float(np.log10(at)), "y": 1, "yref": "paper", "text": text, "showarrow": False,
             "yanchor": "bottom", "font": {"color": color, "size": 13}, "yshift": 2 + 14 * place}
            for place, (at, text, color) in enumerate(marks)
        ],
        xaxis={"type": "log", "title": {"text": "γ (log scale)"}, "nticks": 7,
               "exponentformat": "power"},
        yaxis={"type": "log", "range": [float(np.log10(100 * low)), float(np.log10(100 * top))],
               "ticksuffix": " %", "nticks": 5, "hoverformat": ".3g", "dtick": 1},
    )  # fmt: skip
