"""Pictures of the page "Correct". Values are passed as shares (0 to 1) and drawn in percent."""

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sampledash.analyses import theme
from sampledash.analyses.consistency import pictures as over_m
from sampledash.analyses.correct import result
from sampledash.analyses.correct.words import root
from sampledash.analyses.explore.pictures import over_ranks
from sampledash.analyses.line_names import name_at, names_at
from sampledash.comparison.means import mean
from sampledash.correction import Correction
from sampledash.grids import m_grid, rank_grid
from sampledash.metrics import Metric
from sampledash.readers.files import example
from sampledash.report.numbers import count, gamma, short_count
from sampledash.types import Floats, Ints

# Number of sampled ranks, from 1, whose values :func:`vector` marks by dots. Further dots would
# touch, because the axis of the ranks is logarithmic.
_DOTS = 20
# Smallest bias or standard deviation that :func:`tradeoff` draws, in percent. Smaller values would
# stretch the logarithmic axis.
_FLOOR = 1e-3


def expectation(
    metric: Metric,
    ranks: Ints,
    exact: Floats,
    curves: Mapping[Correction, Floats],
    *,
    focus: Correction,
    height: int = 400,
    dark: bool = False,
) -> theme.Picture:
    """Draw the exact metric, and the expectation of each corrected metric, over the true rank.

    Figure 4 of Krichene & Rendle is such a picture. ``focus`` is the correction that the user
    chose, whose line stands out.
    """
    ordered = sorted(curves, key=lambda x: x == focus)
    y = [theme.in_percent(exact), *(theme.in_percent(curves[x]) for x in ordered)]
    lines = [theme.exact_line(dark, 2.5), *(_line(x, focus, dark) for x in ordered)]
    up = _range(y, about=float(np.ptp(y[0])))
    layout: dict[str, Any] = {"xaxis": theme.rank_axis(int(ranks[-1])), "yaxis": _percent(*up)}
    layout |= {"title": f"Expected {metric}", "height": height, "dark": dark}
    return over_ranks(ranks, y, lines, ["exact", *map(str, ordered)], up, **layout)


def vector(
    metric: Metric, vectors: Mapping[Correction, Floats], *, focus: Correction, dark: bool = False
) -> theme.Picture:
    """Draw the vector of each correction: the value to report for each sampled rank.

    At most 400 ranks are drawn. Dots mark the first ``_DOTS`` values of the chosen correction,
    ``focus``.
    """
    plain = (values for values in vectors.values() if len(np.unique(values)) == 2)
    falls = [place + 1 for values in plain for place in np.flatnonzero(np.diff(values)).tolist()]
    shown = rank_grid(len(vectors[focus]), keep=[*falls, *(place + 1 for place in falls)])
    data = []
    for recipe in sorted(vectors, key=lambda x: x == focus):
        line = _line(recipe, focus, dark) | {"width": 1.5}
        y = theme.in_percent(vectors[recipe][shown - 1])
        data.append(theme.curve(*theme.steps(shown, y), line, str(recipe)))
    dots = {"size": 5, "color": line["color"]}
    data.append(theme.dots(shown[:_DOTS], y[:_DOTS], dots, hoverinfo="skip"))
    # The y axis fits the values of the chosen correction, ``focus``. If it fitted the values of all
    # corrections, which can be huge, the line of the chosen correction would look flat.
    about = max(float(np.abs(vectors[focus]).max()) * 100, 1e-9)
    low, top = _range([np.asarray(trace["y"]) for trace in data], about=about)
    # The end of the x axis, m + 1 for m negatives, is rounded up, so that the axis does not change
    # with every m.
    last = int(np.ceil(10 ** (np.ceil(10 * np.log10(max(len(vectors[focus]) - 1, 1))) / 10)))
    return theme.figure(
        data,
        dark=dark,
        height=215,
        title=f"Vector for {metric}",
        yaxis=_percent(low, top),
        xaxis=theme.rank_axis(last, title="sampled rank", most=5),
    )


def risks(
    errors: Mapping[Correction, tuple[float, float]], *, instances: int, dark: bool = False
) -> theme.Picture:
    """Draw the root mean squared error of each correction as a bar, whose opaque part is the bias.

    ``errors`` holds squared bias and variance for one instance. The bar shows the error of a mean
    over ``instances``, whose variance is smaller by this factor.
    """
    rows = list(errors)
    bias2, variance = 1e4 * np.array(list(errors.values())).T
    variance = variance / instances
    bias, error = np.sqrt(bias2), np.sqrt(bias2 + variance)
    # The axis ends at ``end``: the bar of a huge error is cut off, so that the others stay visible.
    end = max(min(float(error.max()), 2 * float(bias.max()) + 1e-5), 1e-5)
    colors = [theme.correction_line(x.name, dark)["color"] for x in rows]
    beside = {"xanchor": "left", "yanchor": "bottom", "yshift": 7}
    bars, marks = [], []
    for i, (recipe, color) in enumerate(zip(rows, colors, strict=True)):
        parts = ((0.0, bias[i], color), (bias[i], error[i], theme.faded(color, 0.35)))
        bars += [
            theme.curve([start / end, stop / end], [i, i], {"width": 12, "color": hue}, "")
            for start, stop, hue in parts
        ]
        text = f"<b>{recipe}</b>  √({root(bias2[i])}² + {root(variance[i])}²)"
        marks.append(theme.note(0, i, text, font={"size": 13, "color": color}, **beside))
    return theme.figure(
        bars,
        dark=dark,
        height=40 + 36 * len(rows),
        annotations=marks,
        title=f"√(bias² + variance / {count(instances)}), in %",
        hovermode=False,
        margin={"l": 8, "r": 8, "t": 34, "b": 4},
        xaxis={"visible": False, "range": [0, 1.02]},
        yaxis={"visible": False, "range": [len(rows) - 0.7, -0.75]},
        shapes=[theme.upright(0, theme.look(dark).muted)],
    )


def tradeoff(
    symbol: str,
    x: Floats,
    series: Sequence[result.Tradeoff],
    *,
    marks: Mapping[str, float],
    dark: bool = False,
) -> theme.Picture:
    """Draw bias (solid) and standard deviation (dotted) of a mean corrected metric.

    ``symbol`` names the x axis: m (sampled negatives), n (candidates), |D| (instances), or γ, the
    weight of the variance in the bias-variance correction. Section 5.5 of Krichene & Rendle
    discusses this trade-off. The values ``x`` must increase, also for γ, although the axis of γ is
    reversed. ``marks`` maps the text of each vertical line to its x.
    """
    c, height = theme.look(dark), 270
    lines, names, colors, data = [], [], [], []
    for curve in series:
        color = theme.correction_line(curve.recipe.name, dark)["color"]
        both = ("bias", curve.bias, "solid"), ("scatter", curve.scatter, "dot")
        for word, values, dash in both:
            y = theme.in_percent(values)
            y[y < _FLOOR] = np.nan
            line = {"color": color, "dash": dash, "width": 2.5}
            data.append(theme.curve(x, y, line, f"{curve.label} {word}"))
            if np.isfinite(y).sum() > 1:
                lines.append(y)
                names.append(curve.label if word == "bias" else "scatter")
                colors.append(color)
    finite = np.concatenate([y[np.isfinite(y)] for y in lines]) if lines else np.array([1.0])
    low, top = float(finite.min()) / 1.5, float(finite.max()) * 1.8
    left, right = np.log10([x.min(), x.max()]).tolist()
    across = [left - 0.03, right + 0.03]
    if symbol == "γ":
        across.reverse()
    up, clear = np.log10([low, top]).tolist(), np.log10(list(marks.values())).tolist()
    options: dict[str, Any] = {"height": height - 75, "clear": clear}
    heights = list(map(np.log10, lines))
    annotations = names_at(names, colors, np.log10(x), heights, across, up, **options)
    shapes = []
    for text, at in marks.items():
        if x.min() <= at <= x.max():
            shapes.append(theme.upright(at, c.muted))
            share = (np.log10(at) - across[0]) / (across[1] - across[0])
            side = "left" if share < 0.15 else "right" if share > 0.85 else "center"
            above = {"yref": "paper", "yanchor": "bottom", "xshift": 0, "xanchor": side}
            annotations.append(name_at(at, 1, text, c.muted, log=True) | above)
    written, form = (gamma, ".3~g") if symbol == "γ" else (short_count, ",")
    return theme.figure(
        data,
        dark=dark,
        height=height,
        annotations=annotations,
        shapes=shapes,
        margin={"t": 24},
        xaxis=theme.log_axis(across, _decades(left, right, 7), written, symbol, form),
        yaxis=theme.log_axis(
            up, _decades(up[0], up[1], 5), lambda percent: f"{percent:,g} %".replace("e+0", "e")
        ),
    )


def spectrum(
    title: str, series: Sequence[tuple[str, Floats]], *, most: int, dark: bool = False
) -> theme.Picture:
    """Draw how well a correction recovers each component of a metric from samples.

    A metric, as a function of the rank, is a sum of polynomials (components) of degree 1, 2, ...;
    see :mod:`sampledash.spectral`. The picture ends at degree ``most``. Each entry of ``series`` is
    a line: its label, such as "m = 100", and how much of each degree is recovered (0 to 1).
    """
    data = []
    for (name, shares), line in zip(series, theme.family_lines(len(series), dark), strict=True):
        degree = np.arange(1, min(len(shares), most + 1))
        shown = np.unique(np.geomspace(1, max(len(degree), 1), 200).round().astype(int)) - 1
        data.append(theme.curve(degree[shown], theme.in_percent(shares[1:][shown]), line, name))
    return theme.figure(
        data,
        dark=dark,
        height=320,
        title=title,
        shapes=[theme.level(50, theme.look(dark).muted, dash="dot")],
        showlegend=True,
        legend={"x": 1, "xanchor": "right"},
        margin={"t": 60},
        xaxis=theme.rank_axis(most, title="degree of the component", most=4),
        yaxis=theme.percent_axis(title="kept"),
    )


def _line(recipe: Correction, focus: Correction, dark: bool) -> dict[str, Any]:
    return theme.correction_line(recipe.name, dark) | {"width": 3.5 if recipe == focus else 2}


def _range(curves: Sequence[Floats], *, about: float) -> tuple[float, float]:
    """Return the ends of a y axis that shows all curves, except for huge values.

    Both ends have an absolute value of at most a limit. The limit is 1.25 times ``about`` or, if
    larger, 1.25 times the first curve's largest absolute value.
    """

    # Round up to 1, 2 or 5 times a power of ten, so that the axis seldom changes with a setting.
    def room(beyond: float) -> float:
        beyond = max(beyond, about / 20)
        decade = 10.0 ** np.floor(np.log10(beyond)) if beyond > 0 else 0.0
        return float(next(x for x in (decade, 2 * decade, 5 * decade, 10 * decade) if x >= beyond))

    highest = float(curves[0].max())
    low = room(-min(float(y.min()) for y in curves))
    top = highest + room(max(float(y.max()) for y in curves) - highest)
    limit = 1.25 * max(about, float(np.abs(curves[0]).max()))
    return -min(low, limit), min(top, limit)


def _percent(low: float, top: float) -> dict[str, Any]:
    axis = theme.percent_axis(top, low=low)
    if top - low > 1e3:
        axis["tickformat"] = ".3~s"
    return axis


def _decades(low: float, top: float, most: int) -> list[float]:
    """Return at most ``most`` powers of ten for an axis; exponents are from ``low`` to ``top``."""
    exponents = range(math.ceil(low - 1e-9), math.floor(top + 1e-9) + 1)
    return [10.0**e for e in exponents[:: max(1, -(-len(exponents) // most))]]


def movielens_curves(
    metric: Metric, recipe: Correction, m: int, *, dark: bool = False
) -> tuple[theme.Picture, str]:
    """Return a picture of a corrected metric over m, the number of negatives, and a description.

    The systems are those on MovieLens. The picture is shaded at every m at which the expected order
    is not right for at least one pair of systems.
    """
    sets, (orders, pairs) = example(result.MOVIELENS), result.movielens_orders(metric, recipe)
    keep = orders.m_values <= result.MOVIELENS_M
    flips = sorted({x for i, j in pairs for x in orders.flips(i, j, 0) if x <= result.MOVIELENS_M})
    wrong = np.any([orders.signs(i, j, 0) != 1 for i, j in pairs], axis=0)[keep]
    known = orders.m_values[keep]
    # For a correction that is fitted for each m, only few m have results: replace each m to draw by
    # the next m that has results.
    wanted = np.searchsorted(known, m_grid(result.MOVIELENS_M, [m, *flips]))
    grid = np.unique(known[np.minimum(wanted, len(known) - 1)])
    right = ((sets[i].system, sets[j].system, orders.right_from(i, j, 0)) for i, j in pairs)
    sentences = (f"{better} and {other} right from m = {m or 'none'}" for better, other, m in right)
    systems, exact = [x.system for x in sets], [mean(metric, x) for x in sets]
    means = orders.means[np.searchsorted(orders.m_values, grid), :, 0]
    marks: dict[str, Any] = {"at": m, "flips": flips, "wrong": over_m.stretches(known, wrong)}
    fig = over_m.curves(f"{metric}, {recipe}", grid, systems, means, exact, marks, dark=dark)
    return fig, "; ".join(sentences)
