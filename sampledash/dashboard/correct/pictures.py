"""Pictures of the Correct page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from sampledash.correction import Correction
from sampledash.dashboard import labels, theme
from sampledash.dashboard.correct.words import root
from sampledash.dashboard.grid import rank_grid
from sampledash.metrics import Metric
from sampledash.report.numbers import count, gamma, short_count
from sampledash.types import Floats, Ints

_FLOOR = 1e-3  # percent; less than that is nothing, and a logarithmic axis would stretch it


def sampled_ranks(m: int) -> Ints:
    """Sampled ranks at which a vector is drawn: at most 400, all of the first ones."""
    return rank_grid(m + 1)


def expectation(
    metric: Metric,
    ranks: Ints,
    exact: Floats,
    curves: Mapping[Correction, Floats],
    *,
    focus: Correction,
    dark: bool = False,
    height: int = 470,
) -> go.Figure:
    """Expectation of every correction over the true rank against the exact metric (Figure 4).

    Parameters
    ----------
    metric
        Names the picture.
    ranks, exact
        Increasing true ranks, at most 400, and the exact metric there.
    curves
        Correction -> its expectation at ``ranks``, as shares.
    focus
        The correction that is taken away: its line is thicker and on top.
    dark, height
        Look of the page and height in pixels.
    """
    c = theme.look(dark)
    ordered = sorted(curves, key=lambda x: x == focus)
    y = [theme.in_percent(curves[x]) for x in ordered]
    y_exact = theme.in_percent(exact)
    low, top = _range([y_exact, *y], about=float(np.ptp(y_exact)))
    data = [theme.curve(ranks, y_exact, theme.exact_line(dark, 2.5), "exact")]
    for recipe, values in zip(ordered, y, strict=True):
        data.append(theme.curve(ranks, values, _line(recipe, focus, dark), str(recipe)))
    names = ["exact", *map(str, ordered)]
    colors = [c.ink, *(_line(x, focus, dark)["color"] for x in ordered)]
    axis = theme.rank_axis(int(ranks[-1]), title="true rank (log scale)")
    marks = labels.named(
        names, colors, ranks, [y_exact, *y], axis["range"], (low, top), height=height - 90
    )
    return theme.figure(
        data, dark=dark, height=height, title=f"Expected {metric}", annotations=marks,
        revision=f"correct-{metric}-{ranks[-1]}", xaxis=axis, yaxis=_percent(low, top),
    )  # fmt: skip


def vector(
    metric: Metric,
    shown: Ints,
    vectors: Mapping[Correction, Floats],
    *,
    focus: Correction,
    dark: bool = False,
    height: int = 260,
) -> go.Figure:
    """The vectors over the sampled rank, the one in focus with a dot for each value.

    Parameters
    ----------
    metric
        Names the picture.
    shown
        Sampled ranks that are drawn, see :func:`sampled_ranks`.
    vectors
        Correction -> its m + 1 values, as shares.
    focus, dark, height
        As for :func:`expectation`.
    """
    data = []
    for recipe in sorted(vectors, key=lambda x: x == focus):
        line = _line(recipe, focus, dark)
        here = theme.in_percent(vectors[recipe][shown - 1])
        more: dict[str, Any] = {}
        if recipe == focus:
            more = {"mode": "lines+markers", "marker": {"size": 5, "color": line["color"]}}
        thin = line | {"width": 1.5}
        data.append(theme.curve(shown, here, thin, str(recipe), **more))
    # Another correction that explodes must not flatten the one in focus.
    about = max(float(np.abs(vectors[focus]).max()) * 100, 1e-9)
    low, top = _range([np.asarray(trace["y"]) for trace in data], about=about)
    return theme.figure(
        data, dark=dark, height=height, title=f"Vector for {metric}",
        revision=f"vector-{metric}-{shown[-1]}", yaxis=_percent(low, top),
        xaxis=theme.rank_axis(int(shown[-1]), title="sampled rank (log scale)", most=5),
    )  # fmt: skip


def risks(
    found: Mapping[Correction, tuple[float, float]],
    *,
    instances: int,
    dark: bool = False,
) -> go.Figure:
    """Bias² and variance / |D| of each correction as one stacked bar.

    Parameters
    ----------
    found
        Correction -> squared bias and variance of one draw, as shares squared.
    instances
        |D|, over which the variance is averaged.
    dark
        Whether the page is dark.
    """
    c = theme.look(dark)
    rows = list(found)
    bias2 = np.array([1e4 * found[x][0] for x in rows])
    variance = np.array([1e4 * found[x][1] / instances for x in rows])
    # One exploding variance is cut off rather than letting it hide the rest.
    end = min(float((bias2 + variance).max()), 4 * float(bias2.max()) + 1e-9)
    colors = [theme.correction_line(x.name, dark)["color"] for x in rows]
    place = np.arange(len(rows), dtype=np.float64)
    common = {"type": "bar", "orientation": "h", "y": place, "width": 0.3, "hoverinfo": "skip"}
    data: list[dict[str, Any]] = [
        {**common, "x": bias2, "marker": {"color": colors}, "name": "bias²"},
        {**common, "x": variance, "name": "variance",
         "marker": {"color": [theme.faded(x, 0.25) for x in colors],
                    "line": {"color": colors, "width": 1}}},
    ]  # fmt: skip
    marks = [
        {"x": 0, "y": i, "xanchor": "left", "yanchor": "bottom", "yshift": 7, "showarrow": False,
         "font": {"size": 13, "color": color},
         "text": f"<b>{recipe}</b>  {root(b)}² + {root(v)}²"}
        for i, (recipe, color, b, v) in enumerate(zip(rows, colors, bias2, variance, strict=True))
    ]  # fmt: skip
    return theme.figure(
        data, dark=dark, height=40 + 40 * len(rows), annotations=marks, barmode="stack",
        title=f"bias² + variance / {count(instances)}, in (%)²", revision="risks",
        hovermode=False, margin={"l": 8, "r": 8, "t": 34, "b": 4},
        xaxis={"visible": False, "range": [0, max(end, 1e-9) * 1.02]},
        yaxis={"visible": False, "range": [len(rows) - 0.7, -0.75]},
        shapes=[theme.upright(0, c.muted)],
    )  # fmt: skip


@dataclass(frozen=True)
class Tradeoff:
    """Bias and scatter of one correction along an axis, as shares (not squared)."""

    recipe: Correction
    label: str
    bias: Floats
    scatter: Floats


def tradeoff(
    symbol: str,
    x: Floats,
    series: Sequence[Tradeoff],
    *,
    marks: Mapping[str, float],
    dark: bool = False,
    height: int = 270,
) -> go.Figure:
    """Bias (solid) and scatter of the mean (dotted) against γ, m, n or |D| (section 5.5).

    Parameters
    ----------
    symbol, x
        What the axis is and its values, increasing; γ is drawn from large to small.
    series
        Corrections to draw.
    marks
        Text -> place of an upright line.
    dark, height
        Look of the page and height in pixels.
    """
    c = theme.look(dark)
    lines, names, colors, data = [], [], [], []
    for one in series:
        color = theme.correction_line(one.recipe.name, dark)["color"]
        for word, values, dash in (("bias", one.bias, "solid"), ("scatter", one.scatter, "dot")):
            y = theme.in_percent(values)
            y[y < _FLOOR] = np.nan
            label = f"{one.label} {word}"
            data.append(theme.curve(x, y, {"color": color, "dash": dash, "width": 2.5}, label))
            if np.isfinite(y).sum() > 1:
                lines.append(y)
                names.append(one.label if word == "bias" else "scatter")
                colors.append(color)
    finite = np.concatenate([y[np.isfinite(y)] for y in lines]) if lines else np.array([1.0])
    low, top = float(finite.min()) / 1.5, float(finite.max()) * 1.8
    sign = -1 if symbol == "γ" else 1
    ends = np.log10([x.min(), x.max()])
    across = [float(ends[0]) - 0.03, float(ends[1]) + 0.03][::sign]
    annotations = labels.named(
        names, colors, x, lines, across, (low, top), height=height - 75, log=True,
        clear=list(marks.values()),
    )  # fmt: skip
    shapes = []
    for text, at in marks.items():
        if x.min() <= at <= x.max():
            shapes.append(theme.upright(at, c.muted))
            share = (np.log10(at) - across[0]) / (across[1] - across[0])
            side = "left" if share < 0.15 else "right" if share > 0.85 else "center"
            annotations.append(
                theme.name_at(at, 1, text, c.muted, log=True)
                | {"yref": "paper", "yanchor": "bottom", "xshift": 0, "xanchor": side}
            )
    return theme.figure(
        data, dark=dark, height=height, annotations=annotations, shapes=shapes,
        revision=f"tradeoff-{symbol}", margin={"l": 8, "r": 12, "t": 24, "b": 8},
        xaxis={"title": {"text": f"{symbol} (log scale)"}, "type": "log", "range": across,
               "hoverformat": ".3~g" if symbol == "γ" else ",", **_decades(x, symbol)},
        yaxis=_log_percent(low, top),
    )  # fmt: skip


def _line(recipe: Correction, focus: Correction, dark: bool) -> dict[str, Any]:
    line = theme.correction_line(recipe.name, dark)
    return line | {"width": 3.5 if recipe == focus else 2}


def _range(curves: Sequence[Floats], *, about: float) -> tuple[float, float]:
    """Lowest and highest value shown, at most ``about`` beyond 0 and the first curve."""
    first = curves[0]
    low = min(0.0, *(float(y.min()) for y in curves))
    top = max(float(y.max()) for y in curves)
    limit = 1.25 * max(about, float(np.abs(first).max()))
    return max(low, -limit), min(top, limit)


def _percent(low: float, top: float) -> dict[str, Any]:
    axis = theme.percent_axis(top, low=low)
    if top - low > 1e5:
        axis["tickformat"] = ".2~s"
    elif top - low > 1e3:
        axis["tickformat"] = ",.0f"
    return axis


def _decades(x: Floats, symbol: str) -> dict[str, Any]:
    exponents = np.arange(
        int(np.ceil(np.log10(x.min()) - 1e-9)), int(np.floor(np.log10(x.max()) + 1e-9)) + 1
    )
    exponents = exponents[:: -(-len(exponents) // 7)]
    write = gamma if symbol == "γ" else short_count
    return {
        "tickvals": [10.0**e for e in exponents],
        "ticktext": [write(10.0 ** int(e)) for e in exponents],
    }


def _log_percent(low: float, top: float) -> dict[str, Any]:
    exponents = np.arange(int(np.ceil(np.log10(low))), int(np.floor(np.log10(top))) + 1)
    exponents = exponents[:: -(-len(exponents) // 5)] if len(exponents) else exponents
    return {
        "type": "log", "range": [float(np.log10(low)), float(np.log10(top))],
        "tickvals": [10.0**e for e in exponents],
        "ticktext": [f"{10.0 ** int(e):,g} %".replace("e+0", "e") for e in exponents],
        "hoverformat": ".3g",
    }  # fmt: skip
