"""Pictures of the Consistency page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import plotly.graph_objects as go
from numpy.typing import NDArray

from sampledash.dashboard import theme
from sampledash.dashboard.consistency.words import MOST_FLIPS, tile
from sampledash.dashboard.words import plain
from sampledash.report.numbers import count, in_runs, percent
from sampledash.types import Floats, Ints

WIDE = 4  # metrics up to which a tile holds words, on a phone too
MOST_POINTS = 160  # of a curve over m, besides its flips


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
