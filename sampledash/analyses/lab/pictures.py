"""Pictures of the Lab: hyperparameter sweeps, sampling schemes, and an example by Steck."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from sampledash.analyses import theme
from sampledash.analyses.lab.result import TOP
from sampledash.analyses.sliding import colored, scatter, sliding
from sampledash.lab.experiments import toy
from sampledash.metrics import parse_metric
from sampledash.report.escape import plain
from sampledash.report.numbers import percent
from sampledash.report.sentences import ranking
from sampledash.types import Floats

_HEIGHT = 280
_DESIGN = 52  # height in pixels of a row in :func:`designs`, which shows one sampling scheme
_MOVIES = 8


def swept(knob: str, table: pd.DataFrame, *, dark: bool) -> theme.Picture:
    """Draw metrics over the values of the hyperparameter ``knob``, a panel per metric.

    ``table`` is the result of ``result.swept``. Each panel marks the best value of ``knob``.
    """
    x, axis = _places(knob, table[knob].to_numpy())
    return theme.beside([_panel(x, axis, table[name], dark) for name in table.columns[1:]])


def _places(knob: str, values: Floats) -> tuple[Floats, dict[str, Any]]:
    """Return the x positions of ``values`` of the hyperparameter ``knob``, and the x axis.

    The axis of w_m, the weight of missing ratings, is logarithmic, but has a place for 0.
    """
    title = {"text": knob}
    if knob != "w_m":
        room = 0.05 * (float(np.ptp(values)) or 1)
        return values, {"title": title, "range": [values.min() - room, values.max() + room]}
    ticks = np.array([0, 0.001, 0.01, 0.1, 1])
    zero = -3.5
    x, at = (np.log10(y, out=np.full(len(y), zero), where=y > 0) for y in (values, ticks))
    shown = {"tickvals": at.tolist(), "ticktext": [f"{tick:g}" for tick in ticks]}
    return x, {"title": title, "range": [zero - 0.2, 0.2], **shown}


def _panel(x: Floats, axis: dict[str, Any], values: pd.Series[float], dark: bool) -> theme.Picture:
    """Draw ``values`` over ``x``: an RMSE, or a metric in percent and in the metric's colour."""
    name, error = str(values.name), values.name == "RMSE"
    line: dict[str, Any] = {"color": theme.look(dark).ink, "width": 2}
    if not error:
        line = theme.metric_line(parse_metric(name), dark) | {"dash": "solid"}
    y = values.to_numpy() if error else theme.in_percent(values)
    best = int(np.argmin(y) if error else np.argmax(y))
    low, high = float(y.min()), float(y.max())
    room = 0.12 * ((high - low) or 1)
    up = theme.percent_axis(high + room, low=low - room)
    if error:
        up |= {"ticksuffix": "", "tickformat": ",.3~f"}
    marker = {"color": line["color"], "size": 7}
    star = {"color": line["color"], "size": 13, "line": {"color": theme.look(dark).ink, "width": 2}}
    data = [
        theme.curve(x, y, line, name, hoverinfo="skip", hovertemplate=None),
        theme.dots(x, y, marker, name=name, hovertemplate=theme.hover(name, "" if error else " %")),
        theme.dots([x[best]], [y[best]], star, hoverinfo="skip"),
    ]
    return theme.figure(
        data,
        dark=dark,
        height=_HEIGHT,
        title=name,
        title_color=line["color"],
        shapes=[theme.upright(float(x[best]), theme.look(dark).muted)],
        hovermode="closest",
        xaxis=axis,
        yaxis=up,
    )


def designs(table: pd.DataFrame, metric: str, *, dark: bool) -> theme.Picture:
    """Draw the metric of each system on all items, and its expectation with each sampling scheme.

    ``table`` is the result of ``result.by_design``. Each row of the picture also names the order of
    the systems by the metric, with ✓ if it is the order on all items.
    """
    systems, rows, texts = list(map(str, table)), range(len(table)), []
    orders = [ranking(systems, row) for row in table.to_numpy()]
    for place, (label, order) in enumerate(zip(table.index, orders, strict=True)):
        mark = "✓ " if order == orders[0] else "⇅ "
        for x, text, side in ((0, label, "left"), (1, f"{mark}<b>{plain(order)}</b>", "right")):
            texts.append(theme.note(x, place, text, xref="paper", xanchor=side, yshift=17))
    data = []
    for i, system in enumerate(systems):
        marker = {"color": theme.system_line(i, dark)["color"], "size": 13, "symbol": i}
        hover = f"{plain(system)} <b>%{{x:,.2f}} %</b><extra></extra>"
        values = theme.in_percent(table[system])
        data.append(theme.dots(values, [*rows], marker, name=plain(system), hovertemplate=hover))
    return theme.figure(
        data,
        dark=dark,
        height=90 + _DESIGN * len(rows),
        annotations=texts,
        shapes=[theme.level(place, theme.look(dark).grid) for place in rows],
        hovermode="closest",
        showlegend=True,
        xaxis=theme.percent_axis(100 * float(table.to_numpy().max()), title=metric),
        yaxis={"visible": False, "range": [len(rows) - 0.6, -0.9]},
    )


def tops(table: pd.DataFrame, *, dark: bool) -> theme.Picture:
    """Draw TOPK over k in two panels: all k, and k up to ``TOP``.

    TOPK is the share of the relevant items that are in the first part of the list. k is the length
    of this part, as a share (0 to 1) of the list. ``table`` is the result of ``result.top_shares``;
    of two curves, the second is dashed.
    """
    panels = []
    for most in (1.0, TOP):
        k, *shares = 100 * table[table["k"] <= most].to_numpy().T
        line = theme.metric_line(parse_metric("TOPK@1"), dark)
        drawn = zip(table.columns[1:], shares, ("solid", "dash"), strict=False)
        data = [theme.curve(k, y, line | {"dash": dash}, name) for name, y, dash in drawn]
        panels.append(
            theme.figure(
                data,
                dark=dark,
                height=_HEIGHT,
                title="TOPK" if most == 1 else f"TOPK, the first {100 * most:g} %",
                title_color=line["color"],
                xaxis=theme.percent_axis(100 * most, title="k, share of the list"),
                yaxis=theme.percent_axis(max(float(y[-1]) for y in shares)),
            )
        )
    return theme.beside(panels)


def toys(dark: bool) -> theme.Picture:
    """Draw Table 1 of Steck (KDD 2010), with a slider.

    The slider sets the number of users whose favourite genre the recommender knows.
    """
    c = theme.look(dark)
    user, movie = (places.ravel().tolist() for places in np.indices((_MOVIES, _MOVIES)))
    steps = {}
    for known in range(_MOVIES + 1):
        world = toy(known)
        cells = np.where(world.predicted.ravel() == 5, theme.faded(c.blue, 0.6), c.grid)
        texts = ["" if np.isnan(rating) else f"{rating:g}" for rating in world.ratings.ravel()]
        marker = {"symbol": "square", "size": 25, "color": cells.tolist()}
        style = {"marker": marker, "text": texts, "textfont": {"color": c.ink, "size": 14}}
        grid = scatter("markers+text", movie, user, textposition="middle center", **style)
        error = f"<b>RMSE on the ratings {world.rmse_observed:.2f}</b>"
        ranks = colored(f"<b>ATOP {percent(world.atop)}</b>", c.purple)
        title = f"{error}   {ranks}<br>RMSE if all were rated {world.rmse_all:.2f}"
        steps[str(known)] = [grid], title
    middle = [_MOVIES / 4 - 0.5, 3 * _MOVIES / 4 - 0.5]
    plain: dict[str, Any] = {"tickvals": middle, "showgrid": False, "zeroline": False}
    edge = _MOVIES - 0.4
    return sliding(
        [],
        steps,
        "0",
        prefix="tastes known: ",
        dark=dark,
        height=430,
        gap=34,
        xaxis=plain | {"ticktext": ["horror movies", "romance movies"], "range": [-0.6, edge]},
        yaxis=plain | {"ticktext": ["horror fans", "romance fans"], "range": [edge, -0.6]},
    )
