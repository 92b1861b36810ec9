"""Pictures of the Consistency page: metrics over m, verdicts, chances of the true order.

m is the number of sampled negatives. Values are passed as shares (0 to 1) and drawn in percent.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any

import numpy as np
import pandas as pd

from sampledash.analyses import theme
from sampledash.analyses.consistency.result import Focus, Result
from sampledash.analyses.consistency.words import MOST_FLIPS, say, tile
from sampledash.comparison.order import TIED
from sampledash.grids import MOST_POINTS, m_grid
from sampledash.rank_sets import RankSet, Ties, rank_distribution_at
from sampledash.report.escape import plain
from sampledash.report.numbers import bare_points, count, in_runs, points
from sampledash.types import Flags, Floats, Ints

_PHONE, _WORDS = 350, 96  # width in pixels of a picture on a phone, and of a tile with words
WIDE = 4  # with more metrics (columns), tiles of :func:`tile_map` are too narrow on a phone
_ROW = 34  # height of one row of a dot plot, in pixels
_BARS = 30  # number of bars of a histogram
_PAIR_DASH = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")
_QUARTERS = {"tickvals": [0, 25, 50, 75, 100], "ticktext": [f"{q} %" for q in range(0, 101, 25)]}

DIFFERENCE = "Difference"
VIEWS = (DIFFERENCE, "Values", "Order")  # ways to draw a metric over m, the number of negatives
CURVE = 340  # height in pixels of a picture whose x axis is m, the number of negatives
_M_AXIS = "m, negatives"
# Verdict on the sampled order of two systems -> name of its colour.
_STATE = {"right": "green", "wrong": "vermillion", "undecided": "orange", "tied": "muted"}


def stretches(m_values: Ints, inside: Flags) -> list[tuple[int, int]]:
    """Return the first and last value of m in each stretch of consecutive True in ``inside``.

    Examples
    --------
    >>> stretches(np.arange(1, 6), np.array([False, True, True, False, True]))
    [(2, 3), (5, 5)]
    """
    edges = np.flatnonzero(np.diff(np.r_[0, inside.astype(int), 0]))
    starts, ends = m_values[edges[::2]], m_values[edges[1::2] - 1]
    return [(int(a), int(b)) for a, b in zip(starts, ends, strict=True)]


def rank_edges(largest: int, *, top: bool) -> Ints:
    """Return the last rank of each bar of a histogram of ranks, which has at most 20 bars.

    If ``top``, the histogram shows only the first 200 ranks.

    Examples
    --------
    >>> rank_edges(3687, top=False)[:2].tolist(), rank_edges(3687, top=True)[-1:].tolist()
    ([200, 400], [200])
    """
    if top:
        steps = np.array([1, 2, 3, 5, 10, 20, 50, 100, 200])
        return np.append(steps[steps < largest], largest) if largest < 200 else steps
    if largest <= 20:
        return np.arange(1, largest + 1)
    width = largest / 20
    decade = 10.0 ** np.floor(np.log10(width))
    step = int(next(f * decade for f in (1, 2, 5, 10) if f * decade >= width))
    return np.append(np.arange(step, largest, step), largest)


def rank_shares(sets: Sequence[RankSet], ties: Ties, *, top: bool = False) -> tuple[Ints, Floats]:
    """Return a histogram of each system's true ranks.

    For each bar, return the last of its ranks (see :func:`rank_edges`) and its height. Heights are
    shares of the system's relevant items, with shape (bars, systems).
    """
    edges = rank_edges(max(int(ranks.n.max()) for ranks in sets), top=top)
    up_to = np.column_stack([rank_distribution_at(ranks, edges, ties=ties) for ranks in sets])
    return edges, np.diff(up_to, axis=0, prepend=0.0)


def curves(
    metric: str,
    m_values: Ints,
    systems: Sequence[str],
    means: Floats,
    exact: Sequence[float] | Floats,
    marks: Mapping[str, Any],
    *,
    dark: bool = False,
    height: int = theme.HEIGHT,
) -> theme.Picture:
    """Draw the expected sampled metric of each system over m, the number of negatives.

    Figures 2 and 6 of Krichene & Rendle are such pictures. ``means`` has shape (m_values, systems).
    Dashed lines show the ``exact`` metrics. In ``marks``, "at" is the m of a vertical line. "flips"
    are the m at which the order of two chosen systems changes (triangles), and "wrong" are the
    ranges of m (first, last) in which the order of these systems is wrong (shading).
    """
    y, truth = theme.in_percent(means), [100 * float(v) for v in exact]
    ends, dashed = [1, int(m_values[-1])], theme.exact_line(dark, 1.2)
    lines = [theme.system_line(place, dark) for place in range(len(systems))]
    data = [theme.curve(m_values, *drawn) for drawn in zip(y.T, lines, systems, strict=True)]
    data += [
        theme.curve(ends, [x, x], dashed | {"color": line["color"]}, f"{system} on all items")
        for system, x, line in zip(systems, truth, lines, strict=True)
    ]
    up = theme.percent_axis(max(float(y.max()), max(truth)))
    return _over(m_values, data, metric, up, marks, dark=dark, height=height)


def _over(
    m_values: Ints,
    data: list[dict[str, Any]],
    title: str,
    up: dict[str, Any],
    marks: Mapping[str, Any],
    *,
    dark: bool,
    height: int = CURVE,
    names: Sequence[dict[str, Any]] = (),
    shapes: Sequence[dict[str, Any]] = (),
) -> theme.Picture:
    """Return a figure of ``data`` over m, the number of negatives, with ``marks``.

    The marks are those of :func:`curves`: the page's m, each m at which the sampled order of two
    systems changes, and the ranges of m in which this order is wrong.
    """
    at, wrong, flips = marks["at"], marks["wrong"], marks["flips"]
    c = theme.look(dark)
    pale = {"fillcolor": theme.faded(c.vermillion, 0.10), "yref": "paper"}
    shaded = [theme.box(max(low - 0.5, 0.9), end + 0.5, 0, 1, **pale) for low, end in wrong]
    place = {"yref": "paper", "yanchor": "bottom", "font": {"color": c.vermillion, "size": 12}}
    ticks, triangles = list(flips) if len(flips) <= MOST_FLIPS else [flips[-1]], []
    for m, after in zip_longest(ticks, ticks[1:], fillvalue=np.inf):
        # A triangle marks each m (number of negatives) at which two systems change order. Above it
        # stands m, unless the next triangle is too near for the text.
        text = f"{count(m)}<br>▾" if after > 2.5 * m else "▾"
        triangles.append(theme.note(float(np.log10(m)), 1, text, **place))
    return theme.figure(
        data,
        dark=dark,
        height=height,
        title=title,
        shapes=[theme.upright(at, c.ink), *shapes, *shaded],
        annotations=[*names, *triangles],
        xaxis=theme.rank_axis(int(m_values[-1]), title=_M_AXIS, most=5),
        yaxis=up,
        margin={"t": 54},
    )


def curve(
    focus: Focus, view: str, systems: list[int] | None = None, *, dark: bool
) -> theme.Picture:
    """Draw the chosen metric over m, the number of negatives, in one of the ``VIEWS``.

    ``systems`` are drawn in the views "Values" and "Order". The view "Difference" shows the pair of
    systems that the user marked.
    """
    systems = focus.result.drawn(focus.pair) if systems is None else systems
    if view == DIFFERENCE:
        return difference(focus, dark=dark)
    if view == "Values":
        return panel(focus, focus.x, systems, dark=dark)
    return order(focus, focus.x, systems, dark=dark)


def _over_m(focus: Focus, x: int) -> tuple[Ints, Floats, dict[str, Any]]:
    """Return numbers of negatives m to draw, the systems' mean metrics at these m, and marks.

    The means have shape (number of values of m, systems). Marks are for the pair of systems that
    the user chose: the page's m, each m at which the sampled order of the two systems changes, and
    the ranges of m in which this order is wrong. ``x`` is the index of the metric.
    """
    r, orders = focus.result, focus.result.orders
    m = orders.m_values
    i, j, truth = r.truths[x][focus.pair]
    flips = orders.flips(i, j, x)
    grid = m
    if len(m) > MOST_POINTS:
        grid = m_grid(r.m_max, [r.m, *flips, *(f - 1 for f in flips)])
    means = orders.means[np.searchsorted(m, grid)][:, :, x]
    wrong = stretches(m, orders.signs(i, j, x) == -1) if truth else []
    return grid, means, {"at": r.m, "wrong": wrong, "flips": flips}


def panel(focus: Focus, x: int, systems: list[int], *, dark: bool) -> theme.Picture:
    """Draw the metric with index ``x`` of ``systems`` over m, the number of negatives.

    Each m at which the sampled order of the two chosen systems changes is marked.
    """
    r = focus.result
    exact = r.exact[systems, x]
    grid, means, marks = _over_m(focus, x)
    metric, names = str(r.metrics[x]), [r.systems[s] for s in systems]
    return curves(metric, grid, names, means[:, systems], exact, marks, dark=dark, height=CURVE)


def difference(focus: Focus, *, dark: bool) -> theme.Picture:
    """Draw the expected difference of the two chosen systems over m, the number of negatives.

    It is the metric of the truly better system minus that of the truly worse system.
    """
    r, x, c = focus.result, focus.x, theme.look(dark)
    i, j, truth = r.truths[x][focus.pair]
    grid, means, marks = _over_m(focus, x)
    y = 100 * (means[:, i] - means[:, j])
    y[np.abs(y) <= 100 * TIED] = 0
    exact, at_m = 100 * float(r.exact[i, x] - r.exact[j, x]), float(y[np.searchsorted(grid, r.m)])
    better, worse = plain(r.systems[i], 16), plain(r.systems[j], 16)
    silent: dict[str, Any] = {"hoverinfo": "skip", "hovertemplate": None, "fill": "tozeroy"}
    none, ends = {"width": 0, "color": c.ink}, [1, int(grid[-1])]
    tell = theme.hover(f"{better} ahead by", " points")
    mode = "lines" if r.every_m else "lines+markers"  # dots mark the evaluated m
    data = [
        theme.curve(grid, part, none, "", fillcolor=theme.faded(hue, 0.3), **silent)
        for part, hue in ((np.maximum(y, 0), c.green), (np.minimum(y, 0), c.vermillion))
    ]
    data += [
        theme.curve(grid, y, {"color": c.ink, "width": 2.5}, "", hovertemplate=tell, mode=mode),
        theme.curve(ends, [exact, exact], theme.exact_line(dark, 1.2), "on all items"),
        theme.dots([r.m], [at_m], {"color": c.ink, "size": 10}, hoverinfo="skip"),
    ]
    room = 0.16 * (max(float(y.max()) - float(y.min()), abs(exact)) or 1.0)
    low, high = min(float(y.min()), exact, 0) - room, max(float(y.max()), exact, 0) + room
    edge: dict[str, Any] = {"xref": "paper", "xanchor": "left", "xshift": 6}
    right, wrong = (": right", ": wrong") if truth else ("", "")
    above, below = ({"size": 13, "color": hue} for hue in (c.green, c.vermillion))
    names = [
        theme.note(0, high, f"{better} ahead{right}", yanchor="top", font=above, **edge),
        theme.note(0, low, f"{worse} ahead{wrong}", yanchor="bottom", font=below, **edge),
    ]
    up: dict[str, Any] = {"title": {"text": "percentage points"}, "range": [low, high]}
    up |= {"tickformat": ",.2~f", "nticks": 6}
    title, shapes = f"{focus.metric}: {better} − {worse}", [theme.level(0, c.ink)]
    return _over(grid, data, title, up, marks, dark=dark, names=names, shapes=shapes)


def order(focus: Focus, x: int, systems: list[int], *, dark: bool) -> theme.Picture:
    """Draw each system's position in the expected order over m, the number of negatives.

    Position 1, the best, is on top. ``x`` is the index of the metric.
    """
    r = focus.result
    grid, means, marks = _over_m(focus, x)
    places = 1 + np.sum(means[:, None, :] > means[:, systems, None] + TIED, axis=2)
    data = []
    for place, i in enumerate(systems):
        line = theme.system_line(place, dark) | {"shape": "hv", "width": 5}
        tell = theme.hover(r.systems[i], "", 0)
        data.append(theme.curve(grid, places[:, place], line, r.systems[i], hovertemplate=tell))
    most = int(places.max())
    ticks = list(range(1, most + 1, -(-most // 10)))
    up: dict[str, Any] = {"title": {"text": "place"}, "range": [most + 0.5, 0.5]}
    up |= {"tickvals": ticks, "ticktext": list(map(str, ticks))}
    return _over(grid, data, f"{r.metrics[x]}: order", up, marks, dark=dark)


def legend(systems: Sequence[str], *, more: int = 0, dark: bool = False) -> str:
    """Return one legend for all pictures as HTML; ``more`` is the number of systems not drawn."""
    strokes = {"solid": "━━", "dot": "┅┅", "dashdot": "━╍", "longdash": "╍╍"}
    lines = []
    for place, system in enumerate(systems):
        style = theme.system_line(place, dark)
        lines.append((plain(system), style["color"], strokes[style["dash"]]))
    return say.legend(lines, theme.look(dark).ink, more)


def badge(state: str, dark: bool) -> dict[str, str]:
    """Return the CSS colours of a badge with a verdict on two systems, such as ``"right"``."""
    hue = getattr(theme.look(dark), _STATE[state])
    return {"color": hue, "backgroundColor": theme.faded(hue, 0.1)}


def tile_map(
    r: Result, pairs: list[int], focus: Focus | None = None, *, dark: bool = False
) -> theme.Picture:
    """Draw a tile for each pair of systems (row) and metric (column): is the sampled order right?

    A click on a tile reports the metric and the pair. The tile of the metric and the pair in
    ``focus`` is marked.
    """
    c, metrics = theme.look(dark), list(map(str, r.metrics))
    verdict = [row for x in range(len(metrics)) for row in r.rows(x, pairs)]
    narrow, m_max = len(metrics) > WIDE, r.m_max
    in_focus = (focus.x, pairs.index(focus.pair)) if focus else None
    names = theme.rows_axis([pair_name(*r.names(pair)) for pair in pairs], c.ink)
    tight = (_PHONE - theme.room({}, names)["l"]) / len(metrics) < _WORDS
    places = [divmod(place, len(pairs)) for place in range(len(verdict))]
    shapes, annotations = [], []
    for (x, y), row in zip(places, verdict, strict=True):
        hue, marked = getattr(c, _STATE[row["state"]]), in_focus == (x, y)
        edge = {"color": c.ink if marked else hue, "width": 2.5 if marked else 1.5}
        fill = theme.faded(hue, 0.34 if marked else 0.2)
        tile_at = x - 0.48, x + 0.48, y - 0.46, y + 0.46
        shapes.append(theme.box(*tile_at, fillcolor=fill, line=edge))
        text = tile(row["state"], row["right_from"], m_max, narrow=narrow, tight=tight)
        annotations.append(theme.note(x, y, text, font={"size": 14, "color": c.ink}))
    unseen = {"marker": {"opacity": 0}}
    data = theme.dots(
        [x for x, _ in places],
        [y for _, y in places],
        {"size": 40, "opacity": 0, "symbol": "square"},
        customdata=[[str(row["metric"]), int(row["pair"])] for row in verdict],
        selected=unseen,
        unselected=unseen,
        text=[_hover(row, m_max) for row in verdict],
        hovertemplate="%{text}<extra></extra>",
    )
    bare = {"showgrid": False, "zeroline": False, "showline": False, "ticks": ""}
    above = {"side": "top", "tickangle": -40 if narrow else 0, "range": [-0.5, len(metrics) - 0.5]}
    return theme.figure(
        [data],
        dark=dark,
        height=(96 if narrow else 44) + (46 if len(pairs) > 4 else 56) * len(pairs),
        shapes=shapes,
        annotations=annotations,
        hovermode="closest",
        hoverdistance=-1,  # show the hover text anywhere on a tile, not only near its centre
        margin={"l": 8, "r": 8, "t": 30, "b": 4},
        xaxis=bare | theme.rows_axis(metrics, c.ink, 13 if narrow else 14) | above,
        yaxis=bare | names,
    )


def _hover(row: Mapping[str, Any], m_max: int) -> str:
    text = tile(row["state"], row["right_from"], m_max)
    return say.hover(row, plain(row["better"]), plain(row["worse"]), text)


def pair_name(first: str, second: str) -> str:
    """Return a label that names two systems, with a line break between them if it is long."""
    shortened, other = plain(first, 12), plain(second, 12)
    return f"{shortened},{'<br>' if len(shortened) + len(other) > 10 else ' '}{other}"


def distribution(
    edges: Ints, systems: Sequence[str], shares: Floats, *, dark: bool = False
) -> theme.Picture:
    """Draw the share of relevant items in each range of ranks (Krichene & Rendle, Figure 5).

    ``edges`` are the last ranks of the ranges; ``shares``, of shape (edges, systems), are shares of
    a system's relevant items.
    """
    stretch = zip(np.r_[1, edges[:-1] + 1], edges, strict=True)
    labels = [f"{count(a)}-{count(b)}" if a < b else count(b) for a, b in stretch]
    y, data = theme.in_percent(shares), []
    for place, system in enumerate(systems):
        line, name = theme.system_line(place, dark), plain(system)
        pattern = {"shape": "" if line["dash"] == "solid" else "/"}
        marker = {"color": line["color"], "pattern": pattern}
        hover = f"{name}: %{{y:.2f}} %<extra></extra>"
        data.append(theme.bars(labels, y[:, place], name, marker=marker, hovertemplate=hover))
    return theme.figure(
        data,
        dark=dark,
        height=320,
        barmode="group",
        showlegend=True,
        bargap=0.15,
        margin={"t": 34 + 22 * (len(systems) // 8)},
        # On a phone, Plotly rotates the labels, which then need more room below the axis.
        xaxis={"title": {"text": "true rank"}, "type": "category", "automargin": True},
        yaxis=theme.percent_axis(float(y.max()), title="of relevant items"),
    )


def chances(
    pairs: Sequence[str],
    chance: Sequence[float],
    ends: Sequence[tuple[float, float]],
    *,
    dark: bool = False,
) -> theme.Picture:
    """Draw for each pair of systems a dot: the chance that one run shows their true order.

    Bars between ``ends`` show the range of this chance if both systems share the negatives.
    """
    c = theme.look(dark)
    colors = {"own negatives": c.blue, "shared negatives": theme.faded(c.blue, 0.35)}
    axis = {"title": {"text": "runs that show the true order"}, "range": [-3, 103], **_QUARTERS}
    half, texts = [theme.upright(50, c.muted, dash="dot")], [in_runs(float(p)) for p in chance]
    look: Any = {"width": 10, "dark": dark, "xaxis": axis, "shapes": half}
    return _rows(pairs, chance, ends, colors, texts, **look)


def differences(rows: pd.DataFrame, *, dark: bool = False) -> theme.Picture:
    """Draw the exact difference of each pair of systems, with its confidence interval.

    ``rows`` is the result of ``comparison.significance``.
    """
    c, ends = theme.look(dark), rows["interval"].tolist()
    colors = [c.green if low > 0 or high < 0 else c.orange for low, high in ends]
    title = "difference on all items, better − worse (percentage points)"
    axis = {"title": {"text": title}, "tickformat": ",.2f", "nticks": 6}
    pairs = (rows["better"].map(plain) + " − " + rows["worse"].map(plain)).tolist()
    values, texts = rows["difference"].tolist(), rows["difference"].map(points).tolist()
    look: Any = {"width": 3, "dark": dark, "xaxis": axis, "shapes": [theme.upright(0, c.ink)]}
    return _rows(pairs, values, ends, {"difference": colors, "interval": colors}, texts, **look)


def _rows(
    pairs: Sequence[str],
    values: Sequence[float],
    ends: Sequence[tuple[float, float]],
    colors: Mapping[str, Any],
    texts: Sequence[str],
    *,
    width: int,
    dark: bool,
    xaxis: dict[str, Any],
    **layout: Any,
) -> theme.Picture:
    """Return a plot with a row for each pair of systems: a dot at the pair's value, on a bar.

    ``ends`` are the lower and the upper end of each bar. ``colors`` maps the names of dots and bars
    to their colours; ``texts`` are the values as text.
    """
    (dot, hue), (bar, shade) = colors.items()
    c, y = theme.look(dark), list(range(len(pairs)))
    spans = [f"{bare_points(low)} to {bare_points(high)}" for low, high in ends]
    x, marker = theme.in_percent(values), {"size": 11, "color": hue}
    data = [
        theme.spans(ends, y, width / _ROW, shade, name=bar, customdata=spans),
        theme.dots(x, y, marker, name=dot, customdata=texts),
    ]
    hover = {"hovertemplate": "%{fullData.name}: %{customdata}<extra></extra>"}
    return theme.figure(
        [trace | hover for trace in data],
        dark=dark,
        height=88 + _ROW * len(pairs),
        hovermode="closest",
        margin={"t": 8},
        xaxis=xaxis | {"showgrid": True, "gridcolor": c.grid},
        yaxis=theme.rows_axis(pairs, c.ink) | {"showgrid": False},
        **layout,
    )


def chance_over_m(
    m_values: Ints, series: Mapping[str, Floats], *, at: int, target: float, dark: bool = False
) -> theme.Picture:
    """Draw a line for each pair of systems: the chance that one run shows their true order, over m.

    m is the number of sampled negatives. ``series`` maps the name of a pair to its chances at
    ``m_values``; NaN is skipped. Straight lines mark the current m, ``at``, and the wanted chance,
    ``target``.
    """
    c, data = theme.look(dark), []
    for place, (name, y) in enumerate(series.items()):
        # Colours stand for systems, so lines for pairs of systems differ in dash pattern instead.
        line = {"color": c.muted if place else c.ink, "width": 1.8 if place else 3}
        line |= {"dash": _PAIR_DASH[place % len(_PAIR_DASH)]}
        style = {"mode": "lines+markers", "marker": {"size": 5}, "connectgaps": True}
        data.append(theme.curve(m_values, theme.in_percent(y), line, name, **style))
    wanted = theme.level(100 * target, c.green, width=1.5, dash="dot")
    return theme.figure(
        data,
        dark=dark,
        height=320,
        shapes=[theme.upright(at, c.ink), wanted],
        showlegend=True,
        xaxis=theme.rank_axis(int(m_values[-1]), title=_M_AXIS, most=5),
        yaxis=theme.percent_axis(title="of runs") | _QUARTERS,
    )


@dataclass(frozen=True)
class MeanLaw:
    """Distribution of a system's mean metric over runs, which draw new negatives.

    ``values`` are the possible means, and ``mass`` their probabilities. If both are None, a normal
    distribution is used.
    """

    mean: float
    std: float
    values: Floats | None = None
    mass: Floats | None = None

    def between(self, edges: Floats) -> Floats:
        """Return for each bin between ``edges`` the probability that the mean metric lies in it."""
        if self.values is None or self.mass is None:
            spread = max(self.std, 1e-300) * math.sqrt(2)
            return np.diff([math.erf((float(edge) - self.mean) / spread) / 2 for edge in edges])
        sums = np.r_[0.0, np.cumsum(self.mass)]
        return np.diff(sums[np.searchsorted(self.values, edges, side="left")])


def histogram(
    metric: str, systems: Sequence[tuple[str, Floats, MeanLaw, int]], *, dark: bool = False
) -> theme.Picture:
    """Draw each system's mean metric in repeated runs as bars, and its distribution as a line.

    ``systems`` holds for each system its name, its means in simulated runs, their exact
    distribution, and its position in the legend, which determines its colour.
    """
    data: list[dict[str, Any]] = []
    top = 0.0
    for name, values, law, place in systems:
        line, edges = theme.system_line(place, dark), bin_edges(values, law)
        middle = theme.in_percent((edges[:-1] + edges[1:]) / 2)
        shown = theme.in_percent(np.histogram(values, edges)[0] / max(len(values), 1))
        exact = theme.in_percent(law.between(edges))
        top = max(top, float(shown.max()), float(exact.max()))
        marker = {"color": theme.faded(line["color"], 0.4), "line": {"width": 0}}
        hover = f"{name}: %{{y:.1f}} % of runs near %{{x:.2f}} %<extra></extra>"
        width = np.diff(theme.in_percent(edges))
        data += [
            theme.bars(middle, shown, name, width=width, marker=marker, hovertemplate=hover),
            theme.curve(middle, exact, line, f"{name}, exact law", showlegend=False),
        ]
    across = {"title": {"text": "mean of one sampled run"}, "ticksuffix": " %", "nticks": 8}
    up = {"title": {"text": "of runs"}, "range": [0, 1.08 * top], "ticksuffix": " %", "nticks": 5}
    return theme.figure(
        data,
        dark=dark,
        height=320,
        title=metric,
        barmode="overlay",
        showlegend=True,
        hovermode="closest",
        legend={"x": 1, "xanchor": "right"},
        xaxis=across,
        yaxis=up,
    )


def bin_edges(values: Floats, law: MeanLaw) -> Floats:
    """Return the edges of the equally wide bars of a histogram of a mean metric.

    If the values that the mean can take are equally spaced, no edge is at such a value.
    """
    low = min(float(values.min(initial=law.mean)), law.mean - 4 * law.std)
    high = max(float(values.max(initial=law.mean)), law.mean + 4 * law.std)
    if high - low < 1e-9:
        return np.array([low - 5e-4, high + 5e-4])
    step = (high - low) / _BARS
    if law.values is not None and len(law.values) > 1:
        gaps = np.diff(law.values)
        gap = float(gaps.min())
        if np.allclose(gaps, gap, rtol=1e-6):
            # The possible means are equally spaced: let each bar cover the same number of them.
            width = max(1, round(step / gap)) * gap
            first = law.values[0] - gap / 2
            first += np.floor((low - first) / width) * width
            return np.arange(first, high + width, width)
    return np.linspace(low - step, high + step, _BARS + 3)
