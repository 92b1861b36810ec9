"""Pictures of the Consistency page: the order over m and by tiles, and how sure it is."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from sampledash.dashboard import theme
from sampledash.dashboard.consistency.result import Focus
from sampledash.dashboard.consistency.words import MOST_FLIPS, tile
from sampledash.dashboard.words import plain
from sampledash.report.numbers import count, in_runs, percent
from sampledash.types import Floats, Ints

WIDE = 4  # metrics up to which a tile holds words, on a phone too
MOST_POINTS = 160  # of a curve over m, besides its flips
MOST_EXACT = 4  # systems whose exact lines are all drawn
_ROW = 34  # pixels of a pair in a dot plot
QUARTERS = [0, 25, 50, 75, 100]  # per cent
_BARS = 30  # of a histogram
_PAIR_DASH = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


def m_grid(m_max: int, keep: Sequence[int] = ()) -> Ints:
    """Values of m for a curve: a log ladder from 1 to m_max with those to keep."""
    ladder = np.geomspace(1, m_max, MOST_POINTS).round().astype(np.int64)
    kept = [m for m in keep if 1 <= m <= m_max]
    return np.unique(np.r_[ladder, np.asarray(kept, dtype=np.int64)])


def stretches(m_values: Ints, inside: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """First and last m of each run of True.

    Examples
    --------
    >>> stretches(np.arange(1, 6), np.array([False, True, True, False, True]))
    [(2, 3), (5, 5)]
    """
    edges = np.flatnonzero(np.diff(np.r_[0, inside.astype(int), 0]))
    starts, ends = m_values[edges[::2]], m_values[edges[1::2] - 1]
    return [(int(a), int(b)) for a, b in zip(starts, ends, strict=True)]


def rank_edges(largest: int, *, top: bool) -> Ints:
    """Last rank of each bar: even stretches of the whole range, or the top in finer ones.

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


def curves(
    metric: str,
    m_values: Ints,
    systems: Sequence[str],
    means: Floats,
    exact: Sequence[float] | Floats,
    *,
    at: int,
    wrong: Sequence[tuple[int, int]] = (),
    flips: Sequence[int] = (),
    dark: bool = False,
    height: int = theme.HEIGHT,
) -> go.Figure:
    """Expected sampled metric of each system over m (Figures 2 and 6).

    Parameters
    ----------
    metric, systems
        Their texts: the title and the names of the lines.
    m_values
        Increasing, shape (M,).
    means
        Shape (M, systems), as shares.
    exact
        Exact mean of each system; NaN leaves its line out.
    at
        The present m, marked.
    wrong
        Stretches of m, first and last, in which the pair in question is in the wrong order.
    flips
        Values of m at which it changes, drawn as ticks.
    dark, height
        Look of the page and height in pixels.
    """
    c = theme.look(dark)
    y, truth = theme.in_percent(means), [100 * float(v) for v in exact]
    top = max(float(y.max()), float(np.nanmax(truth)))
    last = int(m_values[-1])
    data: list[dict[str, Any]] = []
    for place, system in enumerate(systems):
        data.append(theme.curve(m_values, y[:, place], theme.system_line(place, dark), system))
    for system, value in zip(systems, truth, strict=True):
        if np.isnan(value):
            continue
        data.append(
            theme.curve(
                [1, last], [value, value], theme.exact_line(dark, 1.2), f"{system} on all items"
            )
        )
    axis = theme.rank_axis(last, log=True, title="m, negatives (log scale)", most=5)
    upright = theme.percent_axis(top)
    shapes = [theme.upright(at, c.ink)]
    for first, end in wrong:
        shapes.append(
            {
                "type": "rect", "x0": max(first - 0.5, 0.9), "x1": end + 0.5, "y0": 0, "y1": 1,
                "yref": "paper", "line": {"width": 0}, "layer": "below",
                "fillcolor": theme.faded(c.vermillion, 0.10),
            }
        )  # fmt: skip
    ticks = list(flips) if len(flips) <= MOST_FLIPS else [flips[-1]]
    # A number needs room before the next; its tick does not.
    roomy = [i + 1 == len(ticks) or ticks[i + 1] > 2.5 * m for i, m in enumerate(ticks)]
    names = [
        {
            "x": float(np.log10(m)), "y": 1, "yref": "paper", "yanchor": "bottom",
            "text": f"{count(m)}<br>▾" if room else "▾", "showarrow": False,
            "font": {"color": c.vermillion, "size": 12},
        }
        for m, room in zip(ticks, roomy, strict=True)
    ]  # fmt: skip
    return theme.figure(
        data, dark=dark, height=height, title=metric, shapes=shapes, annotations=names,
        revision=f"curve-{metric}-{last}", xaxis=axis, yaxis=upright,
        margin={"l": 8, "r": 12, "t": 54, "b": 8},
    )  # fmt: skip


def panel(focus: Focus, x: int, systems: list[int], *, dark: bool) -> go.Figure:
    """Curves of one metric with the flips of the marked pair."""
    r, orders = focus.result, focus.result.orders
    m = orders.m_values
    i, j, truth = r.pair(x, focus.pair)
    flips = orders.flips(i, j, x)
    exact = r.exact[systems, x]
    if len(systems) > MOST_EXACT:  # more dashed lines than anyone could tell apart
        exact = np.where(np.isin(systems, (i, j)), exact, np.nan)
    grid = m
    if len(m) > MOST_POINTS:
        grid = m_grid(r.m_max, [r.m, *flips, *(f - 1 for f in flips)])
    return curves(
        str(r.metrics[x]),
        grid,
        [r.systems[s] for s in systems],
        orders.means[np.searchsorted(m, grid)][:, systems, x],
        exact,
        at=r.m,
        wrong=stretches(m, orders.signs(i, j, x) == -1) if truth else [],
        flips=flips,
        dark=dark,
        height=380 if len(r.metrics) <= 3 else 300,
    )


def legend(systems: Sequence[str], *, more: int = 0, dark: bool = False) -> str:
    """One legend for all pictures of the page, as HTML: a stroke in its colour, then the name.

    ``more`` systems are not drawn, and it says so.
    """
    strokes = {"solid": "━━", "dot": "┅┅", "dashdot": "━╍", "longdash": "╍╍"}
    parts = []
    for place, system in enumerate(systems):
        line = theme.system_line(place, dark)
        stroke = f'<span style="color:{line["color"]}">{strokes[line["dash"]]}</span>'
        parts.append(f'<span style="white-space:nowrap">{stroke}&nbsp;{plain(system)}</span>')
    ink = theme.look(dark).ink
    parts.append(f'<span style="white-space:nowrap;color:{ink}">╌╌&nbsp;on all items</span>')
    if more:
        parts.append(f"<span>{count(more)} more not drawn</span>")
    return '<div style="display:flex;flex-wrap:wrap;gap:0 1.4em">' + "".join(parts) + "</div>"


def tiles(
    verdict: Sequence[Mapping[str, Any]], pairs: Sequence[str], *, m_max: int,
    focus: tuple[int, int] | None = None, dark: bool = False,
) -> go.Figure:  # fmt: skip
    """Tile map: pairs down, metrics across; colour, sign and text say the same.

    Parameters
    ----------
    verdict
        Rows metric by metric, in each the pairs in one order; ``pair`` is what a click on the tile
        is to tell, ``right_from`` is None where there is no such m.
    pairs
        Names of the pairs, one per row of the map.
    m_max
        Largest m looked at.
    focus
        Metric and pair, as places in the map, whose tile is marked.
    dark
        Whether the page is dark.
    """
    c = theme.look(dark)
    color = {"right": c.green, "wrong": c.vermillion, "undecided": c.orange, "tied": c.muted}
    metrics = list(dict.fromkeys(row["metric"] for row in verdict))
    narrow = len(metrics) > WIDE
    shapes, annotations, hover, told = [], [], [], []
    for place, row in enumerate(verdict):
        x, y = divmod(place, len(pairs))
        marked = focus == (x, y)
        shapes.append(
            {
                "type": "rect", "x0": x - 0.48, "x1": x + 0.48, "y0": y - 0.46, "y1": y + 0.46,
                "fillcolor": theme.faded(color[row["state"]], 0.34 if marked else 0.2),
                "layer": "below",
                "line": {"color": c.ink if marked else color[row["state"]],
                         "width": 2.5 if marked else 1.5},
            }
        )  # fmt: skip
        right = row["right_from"]
        annotations.append(
            {
                "x": x, "y": y, "text": tile(row["state"], right, m_max, narrow=narrow),
                "showarrow": False, "font": {"size": 14, "color": c.ink},
            }
        )  # fmt: skip
        in_words = tile(row["state"], right, m_max).replace("<br>", ", ")
        chance = (
            ""
            if np.isnan(row["probability"])
            else f"<br>one run shows it: {in_runs(row['probability'])}"
        )
        hover.append(
            f"{row['metric']}: {plain(row['better'])} is better than {plain(row['worse'])} "
            f"by {percent(row['exact'])}<br>sampled difference {100 * row['sampled']:.2f} %"
            f"{chance}<br>{in_words}"
        )
        told.append([str(row["metric"]), int(row["pair"])])
    unseen = {"marker": {"opacity": 0}}
    data = [
        {
            "type": "scatter", "mode": "markers", "x": [i // len(pairs) for i in range(len(told))],
            "y": [i % len(pairs) for i in range(len(told))], "customdata": told,
            "marker": {"size": 40, "opacity": 0, "symbol": "square"},
            "selected": unseen, "unselected": unseen,
            "text": hover, "hovertemplate": "%{text}<extra></extra>",
        }
    ]  # fmt: skip
    bare = {"showgrid": False, "zeroline": False, "showline": False, "ticks": ""}
    height = (96 if narrow else 44) + (46 if len(pairs) > 4 else 56) * len(pairs)
    return theme.figure(
        data, dark=dark, height=height,
        shapes=shapes, annotations=annotations, revision="tiles", hovermode="closest",
        hoverdistance=-1,  # anywhere on a tile counts, not only near its middle
        margin={"l": 8, "r": 8, "t": 30, "b": 4},
        xaxis={**bare, "tickvals": list(range(len(metrics))), "ticktext": metrics, "side": "top",
               "range": [-0.5, len(metrics) - 0.5], "tickangle": -40 if narrow else 0,
               "tickfont": {"size": 13 if narrow else 14, "color": c.ink}},
        yaxis={**bare, "tickvals": list(range(len(pairs))),
               "tickfont": {"size": 14, "color": c.ink}, "ticktext": list(pairs),
               "range": [len(pairs) - 0.5, -0.5]},
    )  # fmt: skip


def pair_name(first: str, second: str) -> str:
    """Two names for the side of the tile map, long ones below each other."""
    one, other = plain(first, 12), plain(second, 12)
    return f"{one},{'<br>' if len(one) + len(other) > 10 else ' '}{other}"


def distribution(
    edges: Ints, systems: Sequence[str], shares: Floats, *, dark: bool = False
) -> go.Figure:
    """Share of relevant items per stretch of ranks, side by side (Figure 5).

    Parameters
    ----------
    edges
        Last rank of each stretch, shape (b,).
    systems, shares
        Names, and shares of shape (b, systems).
    dark
        Whether the page is dark.
    """
    first = np.r_[1, edges[:-1] + 1]
    labels = [
        f"{count(a)}-{count(b)}" if a < b else count(b) for a, b in zip(first, edges, strict=True)
    ]
    y = theme.in_percent(shares)
    data = []
    for place, system in enumerate(systems):
        line = theme.system_line(place, dark)
        data.append(
            {
                "type": "bar", "x": labels, "y": y[:, place], "name": plain(system),
                "marker": {
                    "color": line["color"],
                    "pattern": {"shape": "" if line["dash"] == "solid" else "/"},
                },
                "hovertemplate": f"{plain(system)}: %{{y:.2f}} %<extra></extra>",
            }
        )  # fmt: skip
    return theme.figure(
        data, dark=dark, height=320, revision="distribution", barmode="group", showlegend=True,
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"}, bargap=0.15,
        margin={"l": 8, "r": 12, "t": 34 + 22 * (len(systems) // 8), "b": 8},
        xaxis={"title": {"text": "true rank"}, "type": "category"},
        yaxis=theme.percent_axis(float(y.max()), title="of relevant items"),
    )  # fmt: skip


def chances(
    pairs: Sequence[str], chance: Sequence[float], low: Sequence[float], high: Sequence[float],
    *, dark: bool = False,
) -> go.Figure:  # fmt: skip
    """Chance of the true order of each pair, a dot, with its bounds, a bar.

    Parameters
    ----------
    pairs
        Names, the first on top.
    chance
        With negatives of one's own, as a share.
    low, high
        Bounds with shared negatives; NaN leaves them out.
    dark
        Whether the page is dark.
    """
    c = theme.look(dark)
    data = [
        _range(
            pairs, theme.in_percent(low), theme.in_percent(high), theme.faded(c.blue, 0.35), 10,
            "shared negatives",
        ),
        _dots(
            pairs, theme.in_percent(chance), c.blue, "own negatives",
            [in_runs(float(p)) for p in chance],
        ),
    ]  # fmt: skip
    axis = {
        "title": {"text": "runs that show the true order"}, "range": [-3, 103],
        "tickvals": QUARTERS, "ticktext": [f"{q} %" for q in QUARTERS],
        "showgrid": True, "gridcolor": c.grid,
    }  # fmt: skip
    return _rows(data, pairs, axis, [theme.upright(50, c.muted, dash="dot")], "chances", dark)


def differences(
    pairs: Sequence[str], difference: Sequence[float], low: Sequence[float],
    high: Sequence[float], *, dark: bool = False,
) -> go.Figure:  # fmt: skip
    """Exact difference of each pair with its interval over the instances; zero is marked.

    Parameters
    ----------
    pairs
        Names, the first on top.
    difference, low, high
        As shares.
    dark
        Whether the page is dark.
    """
    c = theme.look(dark)
    away = (np.asarray(low) > 0) | (np.asarray(high) < 0)
    color = [c.green if sure else c.orange for sure in away]
    data = [
        _range(pairs, theme.in_percent(low), theme.in_percent(high), color, 3, "interval"),
        _dots(
            pairs, theme.in_percent(difference), color, "difference",
            [f"{100 * d:.2f} points" for d in difference],
        ),
    ]  # fmt: skip
    axis = {
        "title": {"text": "difference on all items, better − worse (percentage points)"},
        "tickformat": ",.2f", "nticks": 6, "showgrid": True, "gridcolor": c.grid,
    }  # fmt: skip
    return _rows(data, pairs, axis, [theme.upright(0, c.ink)], "differences", dark)


def _range(
    pairs: Sequence[str], low: Floats, high: Floats, color: Any, width: int, name: str
) -> dict[str, Any]:
    """A bar from low to high on each row."""
    return {
        "type": "bar", "orientation": "h", "y": list(range(len(pairs))), "base": low,
        "x": np.asarray(high) - np.asarray(low), "width": width / _ROW, "name": name,
        "marker": {"color": color, "line": {"width": 0}},
        "customdata": np.column_stack([low, high]),
        "hovertemplate": name + ": %{customdata[0]:.2f} to %{customdata[1]:.2f}<extra></extra>",
    }  # fmt: skip


def _dots(
    pairs: Sequence[str], x: Floats, color: Any, name: str, texts: Sequence[str]
) -> dict[str, Any]:
    return {
        "type": "scatter", "mode": "markers", "y": list(range(len(pairs))), "x": x, "name": name,
        "marker": {"color": color, "size": 11, "line": {"width": 0}}, "text": list(texts),
        "hovertemplate": name + ": %{text}<extra></extra>",
    }  # fmt: skip


def _rows(
    data: list[dict[str, Any]], pairs: Sequence[str], axis: dict[str, Any],
    shapes: list[dict[str, Any]], revision: str, dark: bool,
) -> go.Figure:  # fmt: skip
    c = theme.look(dark)
    return theme.figure(
        data, dark=dark, height=88 + _ROW * len(pairs), shapes=shapes, revision=revision,
        hovermode="closest", margin={"l": 8, "r": 12, "t": 8, "b": 8}, xaxis=axis,
        yaxis={"tickvals": list(range(len(pairs))), "ticktext": list(pairs), "showgrid": False,
               "range": [len(pairs) - 0.5, -0.5], "tickfont": {"size": 14, "color": c.ink}},
    )  # fmt: skip


def chance_over_m(
    m_values: Ints, series: Mapping[str, Floats], *, at: int, target: float, dark: bool = False
) -> go.Figure:
    """Chance that one run shows the true order, per pair, over m.

    Parameters
    ----------
    m_values
        Increasing, shape (M,).
    series
        Name of each pair and its chances as shares, shape (M,).
    at, target
        The present m and the chance that is wanted, both marked.
    dark
        Whether the page is dark.
    """
    c = theme.look(dark)
    data = [
        theme.curve(
            m_values, theme.in_percent(y), _pair_line(place, dark), name,
            mode="lines+markers", marker={"size": 5},
        )
        for place, (name, y) in enumerate(series.items())
    ]  # fmt: skip
    line = {
        "type": "line", "x0": 0, "x1": 1, "xref": "paper", "y0": 100 * target, "y1": 100 * target,
        "line": {"color": c.green, "width": 1.5, "dash": "dot"}, "layer": "below",
    }  # fmt: skip
    return theme.figure(
        data, dark=dark, height=320, shapes=[theme.upright(at, c.ink), line], showlegend=True,
        revision=f"chance-{m_values[-1]}", margin={"l": 8, "r": 12, "t": 34, "b": 8},
        legend={"orientation": "h", "x": 0, "y": 1.02, "yanchor": "bottom"},
        xaxis=theme.rank_axis(int(m_values[-1]), title="m, negatives (log scale)", most=5),
        yaxis={**theme.percent_axis(title="of runs"), "tickvals": QUARTERS,
               "ticktext": [f"{q} %" for q in QUARTERS]},
    )  # fmt: skip


def _pair_line(place: int, dark: bool) -> dict[str, Any]:
    """Line of a pair: no colour, which would be that of a system; the first stands out."""
    c = theme.look(dark)
    dash = _PAIR_DASH[place % len(_PAIR_DASH)]
    return {"color": c.muted if place else c.ink, "dash": dash, "width": 1.8 if place else 3}


@dataclass(frozen=True)
class Law:
    """The law of a mean: its values and probabilities, or a normal law where they are None."""

    mean: float
    std: float
    values: Floats | None = None
    mass: Floats | None = None

    def between(self, edges: Floats) -> Floats:
        """Probability between each two edges."""
        if self.values is None or self.mass is None:
            spread = max(self.std, 1e-300) * math.sqrt(2)
            below = [math.erf((float(edge) - self.mean) / spread) / 2 for edge in edges]
            return np.diff(below)
        sums = np.r_[0.0, np.cumsum(self.mass)]
        return np.diff(sums[np.searchsorted(self.values, edges, side="left")])


def histogram(
    metric: str, systems: Sequence[str], runs: Sequence[Floats], laws: Sequence[Law],
    places: Sequence[int], *, dark: bool = False,
) -> go.Figure:  # fmt: skip
    """Repeated runs, as bars, against the exact law of the mean, as lines.

    Parameters
    ----------
    metric, systems
        Title, and the names of the systems.
    runs
        Mean of each run, per system.
    laws
        The exact law of one run, per system.
    places
        Place of each system in the legend of the page, for its colour.
    dark
        Whether the page is dark.
    """
    data: list[dict[str, Any]] = []
    top = 0.0
    for name, values, law, place in zip(systems, runs, laws, places, strict=True):
        line = theme.system_line(place, dark)
        edges = bin_edges(values, law)
        middle = theme.in_percent((edges[:-1] + edges[1:]) / 2)
        share = np.histogram(values, edges)[0] / max(len(values), 1)
        exact = law.between(edges)
        top = max(top, float(share.max()), float(exact.max()))
        data.append(
            {
                "type": "bar", "x": middle, "y": theme.in_percent(share), "name": name,
                "width": np.diff(theme.in_percent(edges)), "marker": {
                    "color": theme.faded(line["color"], 0.4), "line": {"width": 0},
                },
                "hovertemplate": f"{name}: %{{y:.1f}} % of runs near %{{x:.2f}} %<extra></extra>",
            }
        )  # fmt: skip
        data.append(
            theme.curve(
                middle, theme.in_percent(exact), line, f"{name}, exact law", showlegend=False
            )
        )
    return theme.figure(
        data, dark=dark, height=320, title=metric, barmode="overlay", showlegend=True,
        revision=f"repeat-{metric}", hovermode="closest",
        legend={"orientation": "h", "x": 1, "xanchor": "right", "y": 1.02, "yanchor": "bottom"},
        margin={"l": 8, "r": 12, "t": 34, "b": 8},
        xaxis={"title": {"text": "mean of one sampled run"}, "ticksuffix": " %", "nticks": 8},
        yaxis={"title": {"text": "of runs"}, "range": [0, 108 * top], "ticksuffix": " %",
               "nticks": 5},
    )  # fmt: skip


def bin_edges(values: Floats, law: Law) -> Floats:
    """Edges of the bars: between lattice points where the law has few, else of even width."""
    low = min(float(values.min(initial=law.mean)), law.mean - 4 * law.std)
    high = max(float(values.max(initial=law.mean)), law.mean + 4 * law.std)
    if high - low < 1e-9:
        return np.array([low - 5e-4, high + 5e-4])
    step = (high - low) / _BARS
    if law.values is not None and len(law.values) > 1:
        gaps = np.diff(law.values)
        gap = float(gaps.min())
        if np.allclose(gaps, gap, rtol=1e-6):  # whole hits: every bar holds the same number of them
            each = max(1, round(step / gap)) * gap
            first = law.values[0] - gap / 2
            first += np.floor((low - first) / each) * each
            return np.arange(first, high + each, each)
    return np.linspace(low - step, high + step, _BARS + 3)
