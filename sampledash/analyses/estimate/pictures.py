"""Pictures of estimates and of possible ranges of the exact metric, given sampled ranks."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from sampledash.analyses import theme
from sampledash.analyses.estimate.result import Row
from sampledash.report.escape import plain
from sampledash.report.numbers import percent
from sampledash.types import Floats, Ints

_ROW = 58  # height of the row of a system, in pixels


def ranges(title: str, rows: Sequence[Row], *, dark: bool = False) -> theme.Picture:
    """Draw the ranges in which a quantity, named by ``title``, can lie; a row for each system."""
    c = theme.look(dark)
    data: list[dict[str, Any]] = []
    dot = {"symbol": "circle", "size": 11, "color": c.ink, "line": {"width": 0}}
    tick = dot | {"symbol": "line-ns", "size": 26, "line": {"width": 3, "color": c.ink}}
    for place, row in enumerate(rows):
        color = theme.system_line(place, dark)["color"]
        for name, span, opacity, width in (
            ("no assumption", row.free, 0.22, 0.5),
            ("falling", row.falling, 0.65, 0.22),
        ):
            if span is not None:
                hover = f"{name}: {percent(span[0])} to {percent(span[1])}<extra></extra>"
                style = {"color": theme.faded(color, opacity), "name": name, "hovertemplate": hover}
                data.append(theme.spans([span], [place], width, **style))
        of_readings = row.readings if len(row.readings) > 1 else (row.value,)
        estimates = [("estimate", value, dot) for value in of_readings]
        for name, value, marker in (*estimates, ("on all items", row.exact, tick)):
            if value is not None:
                hover = f"{name}: {percent(value)}<extra></extra>"
                at = [100 * value], [place]
                data.append(theme.dots(*at, marker, name=name, hovertemplate=hover))
    known = [x for row in rows for x in (*row.free, row.value, row.exact) if x is not None]
    low, top = min(known), max(known)
    if top - low < 1e-6:  # all ranges and values to draw are the same single number
        low, top = low - 0.01, top + 0.01
    axis = theme.percent_axis(100 * top, low=100 * low, title=title)
    return theme.figure(
        data,
        dark=dark,
        height=96 + _ROW * len(rows),
        barmode="overlay",
        hovermode="closest",
        margin={"l": 8, "r": 16, "t": 8, "b": 8},
        xaxis=axis | {"showgrid": True, "gridcolor": c.grid},
        yaxis=theme.rows_axis([plain(row.name) for row in rows], c.ink, 15) | {"showgrid": False},
    )


def ranks_below(
    ranks: Ints, estimated: Mapping[str, Floats], exact: Mapping[str, Floats], *, dark: bool = False
) -> theme.Picture:
    """Draw the estimated cumulative distribution of each system's true ranks.

    The exact distributions are drawn too, if known.
    """
    data = []
    for place, (name, shares) in enumerate(estimated.items()):
        line = theme.system_line(place, dark)
        data.append(theme.curve(ranks, theme.in_percent(shares), line, plain(name)))
        if name in exact:
            thin = {"color": line["color"], "width": 1.5, "dash": theme.EXACT_DASH}
            label, known = f"{plain(name)}, on all items", theme.in_percent(exact[name])
            data.append(theme.curve(ranks, known, thin, label, showlegend=False))
    return theme.figure(
        data,
        dark=dark,
        height=340,
        showlegend=True,
        xaxis=theme.rank_axis(int(ranks[-1])),
        yaxis=theme.percent_axis(title="of relevant items up to it"),
    )


def errors_over_gamma(table: pd.DataFrame, *, dark: bool = False) -> theme.Picture:
    """Draw bias, standard deviation and root mean squared error of a mean corrected metric over γ.

    γ is the weight of the variance in the bias-variance correction. ``table`` has a row per γ; the
    first row is for the suggested γ, one divided by the number of instances |D|.
    """
    c = theme.look(dark)
    suggested, best = table["gamma"].iloc[[0, int(table["mse"].argmin())]].tolist()
    table = table.sort_values("gamma")
    bias, scatter, error = table["bias"].abs(), table["variance"] ** 0.5, table["mse"] ** 0.5
    gammas = table["gamma"].to_numpy()
    data = [
        theme.curve(gammas, theme.in_percent(y), line, name)
        for name, y, line in (
            ("bias", bias, {"color": c.vermillion, "width": 2}),
            ("scatter", scatter, {"color": c.blue, "width": 2, "dash": "dot"}),
            ("both", error, {"color": c.ink, "width": 3}),
        )
    ]
    top = 2.5 * float(error.max())
    low = max(float(min(error.min(), scatter.min())) / 2, top / 1e5)
    if not top:  # if all negatives were drawn, every error is 0, and a log axis cannot show 0
        low, top = 1e-5, 1.0
    digits = {"nticks": 5, "hoverformat": ".3g"}
    log, ends = {"type": "log"}, [float(np.log10(100 * x)) for x in (low, top)]
    marks = [(suggested, "1/|D|", c.muted), (best, "best", c.ink)]
    return theme.figure(
        data,
        dark=dark,
        height=330,
        showlegend=True,
        legend={"y": 1.08},
        margin={"t": 48},
        shapes=[theme.upright(at, color) for at, _, color in marks],
        annotations=[
            theme.note(float(np.log10(at)), 1, text, yref="paper", yanchor="bottom")
            | {"font": {"color": color, "size": 13}, "yshift": 2 + 14 * place}
            for place, (at, text, color) in enumerate(marks)
        ],
        xaxis=log | {"title": {"text": "γ (log scale)"}, "nticks": 7, "exponentformat": "power"},
        yaxis=log | {"range": ends, "ticksuffix": " %", "dtick": 1, **digits},
    )
