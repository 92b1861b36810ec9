"""Pictures of the Explore page: a metric over the true rank; the law of the sampled rank."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import plotly.graph_objects as go

from sampledash.dashboard import theme
from sampledash.dashboard.explore.result import LIMIT
from sampledash.metrics import Metric
from sampledash.report.numbers import count, percent
from sampledash.types import Floats, Ints

_LIFTS = (0.0, -0.001, 0.04, -0.04, 0.12, -0.12, 0.22, -0.22, 0.34, -0.34, 0.46)
AGREE = 0.005  # of the axis: closer than that two lines are one to the eye
_FEW = 10  # bars


def expected_curve(
    metric: Metric,
    ranks: Ints,
    exact: Floats,
    mean: Floats,
    std: Floats,
    *,
    m: int,
    at: int,
    log: bool = True,
    narrow: bool = False,
    dark: bool = False,
    height: int = theme.HEIGHT,
) -> theme.Picture:
    """Expected sampled metric against the true rank, with the exact one and a band of one std.

    Curves over increasing ranks are shares, at most 400 points; the rank ``at`` is marked if it is
    one of them; ``log``: a logarithmic rank axis; ``narrow``: labels break in two lines.
    """
    # Alone in its panel the sampled line needs no dash to be told apart.
    c, style = theme.look(dark), theme.metric_line(metric, dark) | {"dash": "solid"}
    color = style["color"]
    y_exact, y_mean = theme.in_percent(exact), theme.in_percent(mean)
    top = float(y_exact.max())
    low, high = np.clip([y_mean - 100 * std, y_mean + 100 * std], 0, top)
    band = np.concatenate([high, low[::-1]])
    data = [
        theme.area(np.concatenate([ranks, ranks[::-1]]), band, theme.faded(color, 0.16)),
        theme.curve(ranks, y_exact, theme.exact_line(dark), "exact"),
        theme.curve(ranks, y_mean, style, f"sampled, m = {count(m)},"),
    ]
    here, shapes = np.flatnonzero(ranks == at), []
    if len(here):
        h = int(here[0])
        marks = {"sampled": (float(y_mean[h]), color), "exact": (float(y_exact[h]), c.ink)}
        heights, fills = map(list, zip(*marks.values(), strict=True))
        marker = {"color": fills, "size": 10, "line": {"color": c.paper, "width": 1.5}}
        data.append(theme.dots([at, at], heights, marker, hoverinfo="skip"))
        back = theme.faded(c.page, 0.75)
        names = _values_at(at, marks, ranks, (y_exact, y_mean), log=log, narrow=narrow, back=back)
        shapes = [theme.upright(at, c.muted)]
    else:
        i, j = _crossing(y_mean, 0.62 * top), _crossing(y_exact, 0.35 * top)
        names = [theme.name_at(ranks[i], float(y_mean[i]), "sampled", color, log=log)]
        if np.max(np.abs(y_exact - y_mean)) > AGREE * top:
            place = ranks[j], float(y_exact[j])
            names.append(theme.name_at(*place, "exact", c.ink, log=log, side="left"))
    return theme.figure(
        data,
        dark=dark,
        height=height,
        title=str(metric),
        title_color=color,
        annotations=names,
        shapes=shapes,
        revision=f"{metric}-{ranks[-1]}-{log}",
        **_axes(ranks, log, top),
    )


def _axes(ranks: Ints, log: bool, top: float, most: int = 5) -> dict[str, Any]:
    title = "true rank (log scale)" if log else "true rank"
    return {
        "xaxis": theme.rank_axis(int(ranks[-1]), log=log, title=title, most=most),
        "yaxis": theme.percent_axis(top),
    }


def _crossing(values: Floats, level: float) -> int:
    """Index of the first value that has fallen to ``level``."""
    below = np.flatnonzero(values <= level)
    return int(below[0]) if len(below) else len(values) - 1


def _values_at(
    at: int,
    marks: Mapping[str, tuple[float, str]],
    ranks: Ints,
    curves: tuple[Floats, Floats],
    *,
    log: bool,
    narrow: bool,
    back: str,
) -> list[dict[str, Any]]:
    """Name and value beside the marked points, where the lines leave room."""
    last, top = max(int(ranks[-1]), 2) if log else int(ranks[-1]), float(curves[0].max())

    def in_frame(x: Any, y: Any) -> Floats:
        """Points as shares of the width and height of the plot, shape (points, 2)."""
        across = np.log(x) / np.log(last) if log else np.asarray(x) / last
        return np.column_stack([across, np.asarray(y) / top])

    lines = []
    for curve in curves:  # at even distances: a steep fall counts by its length
        points = in_frame(ranks, curve)
        along = theme.length(*points.T)
        even = np.linspace(0, along[-1], 160)
        lines.append(np.column_stack([np.interp(even, along, part) for part in points.T]))
    taken = np.concatenate(lines)
    high, low = (f(y for y, _ in marks.values()) for f in (max, min))
    broken = "<br>" if narrow else " "
    texts = {
        name: f'<span style="color:{color}">{name}{broken}<b>{percent(y / 100)}</b></span>'
        for name, (y, color) in marks.items()
    }
    size = (0.31, 0.15) if narrow else (0.2, 0.08)
    bottom, ceiling = -0.02, 1.06
    if high - low < size[1] * top:  # too close for two labels
        shown = [(high, "<br>".join(texts.values()), (bottom, ceiling))]
        size = (size[0], 2 * size[1])
    else:
        # The label of the lower value stays below the upper point, so that they read in order.
        shown = [
            (y, texts[name], (low / top, ceiling) if y == high else (bottom, high / top))
            for name, (y, _) in marks.items()
        ]
    labels = []
    for y, text, within in shown:
        side, lift, corner, covers = _free_place(in_frame(at, y)[0], taken, size, within)
        label = theme.name_at(at, y + lift * top, text, "", log=log, side=side, shift=9)
        label |= {"yanchor": "bottom" if lift >= 0 else "top", "align": "left"}
        label["font"] = {"size": 14}
        if covers or side == "center":
            label["bgcolor"] = back
        labels.append(label)
        # The next label keeps away from this one: it counts more than any line.
        box = np.meshgrid(*(np.linspace(c, c + d, 16) for c, d in zip(corner, size, strict=True)))
        taken = np.vstack([taken, np.column_stack([part.ravel() for part in box])])
    return labels


def _free_place(
    point: Floats, taken: Floats, size: tuple[float, float], within: tuple[float, float]
) -> tuple[str, float, Floats, bool]:
    """Where a label of this size covers least of ``taken``: side, lift, corner, covers any.

    A falling curve leaves room above on its right and below on its left; far from the point a
    label loses its meaning, so distance costs.
    """
    starts = {"right": 0.04, "left": -0.04 - size[0], "center": -size[0] / 2}
    places = [
        (side, lift)
        for side in starts
        for lift in _LIFTS
        if side != "center" or abs(lift) >= 0.03  # or it would sit on the point
    ]
    corners = point + [
        (starts[side], lift if lift >= 0 else lift - size[1]) for side, lift in places
    ]
    ends = corners + size
    low, high = within
    frame = [-corners[:, 0], ends[:, 0] - 1.09, low - corners[:, 1], ends[:, 1] - high]
    outside = np.maximum(np.max(frame, axis=0), 0.0)
    # A line along the edge of the box does not touch the letters in it.
    (x, y), (left, base), (right, up) = taken.T, corners.T[..., None], ends.T[..., None]
    inside = (x >= left) & (x <= right) & (y >= base + 0.02) & (y <= up - 0.02)
    covered = inside.sum(axis=1)
    dislike = [22 * abs(lift) + 1 * (side == "center") for side, lift in places]
    best = int(np.argmin(covered + 1e4 * outside + dislike))
    return *places[best], corners[best], bool(covered[best])


def family(
    metric: Metric,
    ranks: Ints,
    exact: Floats,
    curves: Mapping[int, Floats],
    *,
    at: int,
    log: bool = True,
    dark: bool = False,
    height: int = theme.HEIGHT,
) -> go.Figure:
    """Expected sampled metric for growing numbers of negatives, with the exact one (Figure 3)."""
    c, sizes = theme.look(dark), sorted(curves)
    drawn = [*(theme.in_percent(curves[m]) for m in sizes), theme.in_percent(exact)]
    texts = [*(f"m = {count(m)}" for m in sizes), "exact"]
    lines = [*theme.family_lines(len(sizes), dark), theme.exact_line(dark)]
    colors = [*(line["color"] for line in lines[:-1]), c.ink]
    top = float(drawn[-1].max())
    axes = _axes(ranks, log, top, most=7)
    if log:
        ranges = axes["xaxis"]["range"], axes["yaxis"]["range"]
        names = theme.names_at(texts, colors, ranks, drawn, *ranges, height=height - 90, clear=[at])
    else:
        levels = [0.6 * top] * len(sizes) + [0.25 * top]
        names = []
        for y, level, text, color in zip(drawn, levels, texts, colors, strict=True):
            i = _crossing(y, level)
            names.append(theme.name_at(ranks[i], float(y[i]), text, color, log=False))
    return theme.figure(
        [theme.curve(ranks, *each) for each in zip(drawn, lines, texts, strict=True)],
        dark=dark,
        height=height,
        title=str(metric),
        annotations=names,
        shapes=[theme.upright(at, c.muted)],
        revision=f"family-{metric}-{ranks[-1]}-{log}",
        **axes,
    )


def law_window(p: Floats, most: int = LIMIT - 1) -> slice:
    """The part of a law that can be seen: where it exceeds 1/2000 of its mode, at most ``most``."""
    seen = np.flatnonzero(p >= p.max() / 2000)
    first, last = int(seen[0]), int(seen[-1])
    if last - first + 1 > most:
        mode = int(np.argmax(p))
        first = min(max(first, mode - most // 2), len(p) - most)
        last = first + most - 1
    return slice(first, last + 1)


def law(
    p: Floats, *, k: int | None, mean: float, observed: Ints | None = None, dark: bool = False
) -> go.Figure:
    """Law of the sampled ranks 1..m+1 as bars, those within the cutoff lit, the mean marked.

    ``observed``: drawn sampled ranks; their shares become the bars and the law the dots over them.
    """
    c = theme.look(dark)
    window = law_window(p)
    if observed is not None:
        low, high = int(observed.min()) - 1, int(observed.max())
        wide = slice(min(window.start, low), max(window.stop, high))
        window = wide if wide.stop - wide.start <= LIMIT else window
    ranks = np.arange(window.start + 1, window.stop + 1)
    # Few bars would be wide ones: some room, but no ranks that there are not.
    left = max(int(ranks[0]) - max(_FEW - len(ranks), 0), 1)
    right = min(max(int(ranks[-1]), left + _FEW - 1), len(p))
    y = theme.in_percent(p[window])
    hit = ranks <= (k if k is not None else 0)
    colors = np.where(hit, c.vermillion, c.blue if k is None else c.muted)
    bars, name, data = y, "probability", []
    if observed is not None:
        shares = np.bincount(observed, minlength=len(p) + 1)[1:][window] / len(observed)
        bars, name, look = theme.in_percent(shares), "drawn", {"color": c.ink, "size": 6}
        data = [theme.dots(ranks, y, look, name="law", hovertemplate=theme.hover("law"))]
    hover = theme.hover(name)
    data.insert(0, theme.bars(ranks, bars, name, marker={"color": colors}, hovertemplate=hover))
    label = theme.name_at(mean, 1.0, f"mean {mean:,.2f}", c.ink, log=False, side="center")
    across = {"title": {"text": "sampled rank"}, "tickformat": ",", "nticks": 12}
    across["range"] = [min(left, int(ranks[0])) - 0.6, right + 0.6]
    return theme.figure(
        data,
        dark=dark,
        height=300,
        annotations=[label | {"yref": "paper", "yanchor": "bottom"}],
        shapes=[theme.upright(mean, c.ink, dash="dot") | {"layer": "above"}],
        bargap=0.15,
        revision=f"law-{len(p)}",
        xaxis=across,
        yaxis=theme.percent_axis(float(np.maximum(y, bars).max()), title="probability"),
    )


def catalogue(n: int, rank: int, negatives: Ints, *, dark: bool = False) -> go.Figure:
    """One draw: the catalogue as a strip, the relevant item, the drawn negatives lit.

    More than 400 ``negatives`` (their true ranks) above or below are thinned evenly.
    """
    c = theme.look(dark)
    ordered = np.sort(negatives)
    groups = (
        ("above", ordered[ordered < rank], c.vermillion, 26, "left"),
        ("below", ordered[ordered > rank], c.blue, 18, "right"),
    )
    share = np.log(rank) / np.log(n)
    anchor = "left" if share < 0.15 else "right" if share > 0.85 else "center"
    text = f"relevant item, rank {count(rank)}"
    name = theme.name_at(rank, 0, text, c.ink, log=True, side="center")
    names = [name | {"yshift": 30, "xanchor": anchor}]
    strip = theme.curve([1, n], [0, 0], {"color": c.grid, "width": 14}, "", hoverinfo="skip")
    del strip["name"], strip["hovertemplate"]
    data = [strip]
    for side, ranks, color, size, corner in groups:
        shown = ranks
        if len(ranks) > LIMIT:
            shown = ranks[np.linspace(0, len(ranks) - 1, LIMIT).astype(np.int64)]
        line = {"color": color, "width": 2}
        look = {"symbol": "line-ns", "size": size, "color": color, "line": line}
        said = f"drawn, ranked {side}"
        hover = f"{said}: rank %{{x:,}}<extra></extra>"
        data.append(theme.dots(shown, np.zeros(len(shown)), look, name=said, hovertemplate=hover))
        place = {"xref": "paper", "yref": "paper", "yanchor": "top", "xanchor": corner}
        text = f"<b>{count(len(ranks))} drawn {side}</b>"
        names.append(theme.note(float(side == "below"), 1, text, font={"color": color}, **place))
    look = {"symbol": "diamond", "size": 17, "color": c.ink, "line": {"color": c.paper, "width": 2}}
    hover = f"relevant item: rank {count(rank)}<extra></extra>"
    data.append(theme.dots([rank], [0], look, name="relevant item", hovertemplate=hover))
    return theme.figure(
        data,
        dark=dark,
        height=150,
        annotations=names,
        hovermode="closest",
        margin={"l": 12, "r": 12, "t": 6, "b": 8},
        revision=f"catalogue-{n}-True",
        xaxis=theme.rank_axis(n, title=f"the catalogue: {count(n)} items by true rank"),
        yaxis={"visible": False, "range": [-1, 1.6], "fixedrange": True},
    )


def posterior(ranks: Ints, below: Floats, *, at: int, dark: bool = False) -> go.Figure:
    """Which true ranks could show this sampled rank: probability that the rank is at most r."""
    c = theme.look(dark)
    y = theme.in_percent(below)
    i = int(np.searchsorted(y, 50.0))
    name = theme.name_at(ranks[i], 50, f"even odds at rank {count(ranks[i])}", c.blue, log=True)
    return theme.figure(
        [theme.curve(ranks, y, {"color": c.blue, "width": 3}, "at most this rank")],
        dark=dark,
        height=260,
        shapes=[theme.upright(at, c.muted)],
        annotations=[name],
        revision=f"posterior-{ranks[-1]}",
        xaxis=theme.rank_axis(int(ranks[-1]), title="true rank (log scale)"),
        yaxis=theme.percent_axis(100.0, title="probability"),
    )
