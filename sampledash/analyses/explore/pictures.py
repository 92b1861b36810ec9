"""Pictures of the Explore page: metrics over the true rank, and distributions of sampled ranks."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from sampledash.analyses import theme
from sampledash.analyses.explore.result import Result
from sampledash.analyses.line_names import name_at, names_at
from sampledash.grids import LIMIT
from sampledash.metrics import Metric
from sampledash.report.numbers import count, percent
from sampledash.types import Floats, Ints


def expected_curve(result: Result, metric: Metric, *, dark: bool = False) -> theme.Picture:
    """Draw the exact and the expected sampled metric over the true rank.

    A band shows the standard deviation of the sampled metric. If negatives are drawn by popularity,
    the expected metric with uniform negatives is drawn too. The rank that the user chose is marked
    if the picture reaches it.
    """
    q, (ranks, exact, mean, std, *more) = result.question, result.drawn(metric)
    at, log, panels = q.rank, q.top is None, len(q.metrics)
    height = 380 if panels <= 3 else 280
    # Each panel shows a single sampled metric, so no dash pattern is needed to distinguish metrics.
    c, style = theme.look(dark), theme.metric_line(metric, dark) | {"dash": "solid"}
    color = style["color"]
    y_exact, y_mean = theme.in_percent(exact), theme.in_percent(mean)
    top = float(y_exact.max())
    low, high = np.clip([y_mean - 100 * std, y_mean + 100 * std], 0, top)
    around = np.concatenate([ranks, ranks[::-1]])
    band = theme.curve(around, np.concatenate([high, low[::-1]]), {"width": 0}, "")
    band |= {"fill": "toself", "fillcolor": theme.faded(color, 0.16)}
    band |= {"hoverinfo": "skip", "hovertemplate": None}
    data = [
        band,
        theme.curve(*theme.steps(ranks, y_exact), theme.exact_line(dark), "exact"),
        theme.curve(*theme.steps(ranks, y_mean), style, f"sampled, m = {count(q.sampling.m)},"),
    ]
    names, heights, colors = ["sampled", "exact"], [y_mean, y_exact], [color, c.ink]
    for uniform in more:
        names = ["by popularity", "exact", "uniform"]
        heights.append(theme.in_percent(uniform))
        colors.append(c.muted)
        line = {"color": c.muted, "width": 1.5}
        data.append(theme.curve(*theme.steps(ranks, heights[-1]), line, "uniform negatives"))
    axes = {"xaxis": theme.rank_axis(int(ranks[-1]), log=log, most=5)}
    axes["yaxis"] = theme.percent_axis(top)
    place = np.log10 if log else np.asarray
    options: dict[str, Any] = {"height": height - 90}
    shapes = []
    if at in ranks:
        values = [float(y[np.searchsorted(ranks, at)]) for y in heights]
        marker = {"color": colors, "size": 10, "line": {"color": c.paper, "width": 1.5}}
        data.append(theme.dots([at, at], values, marker, hoverinfo="skip"))
        options |= {"only": float(place(at)), "clear": [float(place(at))]}
        shapes = [theme.upright(at, c.muted)]
        gap = "<br>" if panels > 1 else " "  # a line break, because several panels are narrow
        names = [f"{x}{gap}<b>{percent(y / 100)}</b>" for x, y in zip(names, values, strict=True)]
    ends = axes["xaxis"]["range"], axes["yaxis"]["range"]
    return theme.figure(
        data,
        dark=dark,
        height=height,
        title=str(metric),
        title_color=color,
        annotations=names_at(names, colors, place(ranks), heights, *ends, **options),
        shapes=shapes,
        **axes,
    )


def family(
    metric: Metric,
    ranks: Ints,
    exact: Floats,
    curves: Mapping[int, Floats],
    *,
    at: int,
    log: bool = True,
    height: int = theme.HEIGHT,
    dark: bool = False,
) -> theme.Picture:
    """Draw the exact metric over the true rank, and the expected metric for several m (negatives).

    Figure 3 of Krichene & Rendle is such a picture.
    """
    sizes = sorted(curves)
    names = [*(f"m = {count(m)}" for m in sizes), "exact"]
    y = [theme.in_percent(values) for values in (*(curves[m] for m in sizes), exact)]
    lines = [*theme.family_lines(len(sizes), dark), theme.exact_line(dark)]
    up = theme.percent_axis(float(y[-1].max()))
    layout: dict[str, Any] = {"title": str(metric), "height": height, "dark": dark, "yaxis": up}
    layout["xaxis"] = theme.rank_axis(int(ranks[-1]), log=log, most=7)
    return over_ranks(ranks, y, lines, names, up["range"], at=at, **layout)


def over_ranks(
    ranks: Ints,
    y: Sequence[Floats],
    lines: Sequence[dict[str, Any]],
    names: Sequence[str],
    up: Sequence[float],
    *,
    height: int,
    dark: bool,
    at: int | None = None,
    **layout: Any,
) -> theme.Picture:
    """Draw lines over the true rank, each with its name beside it, and mark the rank ``at``.

    ``y`` holds the values of each line in percent; ``up`` holds the two ends of the y axis.
    ``layout`` is passed to :func:`theme.figure`, and must contain both axes.
    """
    across = layout["xaxis"]
    place = np.log10 if across.get("type") == "log" else np.asarray
    marks, colors = [] if at is None else [at], [line["color"] for line in lines]
    options: dict[str, Any] = {"height": height - 90, "clear": place(marks)}
    drawn = zip(y, lines, names, strict=True)
    return theme.figure(
        [theme.curve(*theme.steps(ranks, values), line, name) for values, line, name in drawn],
        dark=dark,
        height=height,
        annotations=names_at(names, colors, place(ranks), y, across["range"], up, **options),
        shapes=[theme.upright(mark, theme.look(dark).muted) for mark in marks],
        **layout,
    )


def law_window(p: Floats) -> slice:
    """Return which part of a distribution ``p`` of ranks to draw, as a slice.

    Ranks outside the slice have a probability below max(p) / 2000. If this slice has ``LIMIT`` or
    more ranks, it is shortened.
    """
    most = LIMIT - 1
    seen = np.flatnonzero(p >= p.max() / 2000)
    first, last = int(seen[0]), int(seen[-1])
    if last - first + 1 > most:
        first = min(max(first, int(np.argmax(p)) - most // 2), len(p) - most)
        last = first + most - 1
    return slice(first, last + 1)


def law(
    p: Floats, *, k: int | None, mean: float, observed: Ints | None = None, dark: bool = False
) -> theme.Picture:
    """Draw the distribution ``p`` of the sampled rank, which is in 1..m+1 for m negatives, as bars.

    Bars up to the cutoff ``k`` are coloured. If ``observed`` ranks are given, the bars show these
    ranks, and dots show ``p``.
    """
    c = theme.look(dark)
    window = law_window(p)
    if observed is not None:
        low, high = int(observed.min()) - 1, int(observed.max())
        wide = slice(min(window.start, low), max(window.stop, high))
        window = wide if wide.stop - wide.start <= LIMIT else window
    ranks = np.arange(window.start + 1, window.stop + 1)
    y = theme.in_percent(p[window])
    hit = ranks <= (k if k is not None else 0)
    colors = np.where(hit, c.vermillion, c.blue if k is None else c.muted)
    bars, name, data = y, "probability", []
    if observed is not None:
        shares = np.bincount(observed, minlength=len(p) + 1)[1:][window] / len(observed)
        bars, name, marker = theme.in_percent(shares), "drawn", {"color": c.ink, "size": 6}
        data = [theme.dots(ranks, y, marker, name="law", hovertemplate=theme.hover("law"))]
    hover = theme.hover(name)
    data.insert(0, theme.bars(ranks, bars, name, marker={"color": colors}, hovertemplate=hover))
    label = name_at(mean, 1.0, f"mean {mean:,.2f}", c.ink, log=False, side="center")
    across = {"title": {"text": "sampled rank"}, "tickformat": ",", "nticks": 12}
    across["range"] = [int(ranks[0]) - 0.6, int(ranks[-1]) + 0.6]
    return theme.figure(
        data,
        dark=dark,
        height=300,
        annotations=[label | {"yref": "paper", "yanchor": "bottom"}],
        shapes=[theme.upright(mean, c.ink, dash="dot") | {"layer": "above"}],
        bargap=0.15,
        xaxis=across,
        yaxis=theme.percent_axis(float(np.maximum(y, bars).max()), title="probability"),
    )


def catalogue(n: int, rank: int, negatives: Ints, *, dark: bool = False) -> theme.Picture:
    """Draw all items as a strip along the true rank, with the relevant item and drawn negatives.

    At most 400 ``negatives``, given by true rank, are shown on each side of the relevant item.
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
    name = name_at(rank, 0, text, c.ink, log=True, side="center")
    names = [name | {"yshift": 30, "xanchor": anchor}]
    silent: dict[str, Any] = {"hoverinfo": "skip", "hovertemplate": None}
    data = [theme.curve([1, n], [0, 0], {"color": c.grid, "width": 14}, "", **silent)]
    for side, ranks, color, size, corner in groups:
        shown = ranks[np.linspace(0, len(ranks) - 1, min(len(ranks), LIMIT)).astype(np.int64)]
        line = {"color": color, "width": 2}
        marker = {"symbol": "line-ns", "size": size, "color": color, "line": line}
        label = f"drawn, ranked {side}"
        hover = f"{label}: rank %{{x:,}}<extra></extra>"
        flat = np.zeros(len(shown))
        data.append(theme.dots(shown, flat, marker, name=label, hovertemplate=hover))
        place = {"xref": "paper", "yref": "paper", "yanchor": "top", "xanchor": corner}
        text = f"<b>{count(len(ranks))} drawn {side}</b>"
        names.append(theme.note(float(side == "below"), 1, text, font={"color": color}, **place))
    edge = {"color": c.paper, "width": 2}
    marker = {"symbol": "diamond", "size": 17, "color": c.ink, "line": edge}
    hover = f"relevant item: rank {count(rank)}<extra></extra>"
    data.append(theme.dots([rank], [0], marker, name="relevant item", hovertemplate=hover))
    return theme.figure(
        data,
        dark=dark,
        height=150,
        annotations=names,
        hovermode="closest",
        margin={"l": 12, "r": 12, "t": 6, "b": 8},
        xaxis=theme.rank_axis(n, title=f"the catalogue: {count(n)} items by true rank"),
        yaxis={"visible": False, "range": [-1, 1.6], "fixedrange": True},
    )


def posterior(ranks: Ints, below: Floats, *, at: int, dark: bool = False) -> theme.Picture:
    """Draw the probability that the true rank is at most r, given the sampled rank.

    The x axis is r, whose values are ``ranks``; ``below`` holds the probabilities. The rank ``at``
    is marked.
    """
    c = theme.look(dark)
    y = theme.in_percent(below)
    i = int(np.searchsorted(y, 50.0))
    name = name_at(ranks[i], 50, f"even odds at rank {count(ranks[i])}", c.blue, log=True)
    return theme.figure(
        [theme.curve(ranks, y, {"color": c.blue, "width": 3}, "at most this rank")],
        dark=dark,
        height=260,
        shapes=[theme.upright(at, c.muted)],
        annotations=[name],
        xaxis=theme.rank_axis(int(ranks[-1])),
        yaxis=theme.percent_axis(100.0, title="probability"),
    )
