"""Pictures of the sampled rank: its law, its draws, and what it says about the true rank."""

from __future__ import annotations

from typing import Any

import numpy as np
import plotly.graph_objects as go

from sampledash.dashboard import theme
from sampledash.dashboard.grid import LIMIT
from sampledash.report.numbers import count
from sampledash.types import Floats, Ints

_FEW = 10  # bars


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
    p: Floats,
    *,
    k: int | None,
    mean: float,
    observed: Ints | None = None,
    dark: bool = False,
    height: int = 300,
) -> go.Figure:
    """Law of the sampled rank as bars, those within the cutoff lit, the mean marked.

    Parameters
    ----------
    p
        Probabilities of the sampled ranks 1..m+1.
    k
        Cutoff of the metric, ``None`` without one.
    mean
        Where the mean is marked, a sampled rank.
    observed
        Drawn sampled ranks: their shares become the bars and the law the dots over them.
    dark, height
        Look of the page and height in pixels.
    """
    c = theme.look(dark)
    window = law_window(p)
    if observed is not None and len(observed):
        window = slice(
            min(window.start, int(observed.min()) - 1), max(window.stop, int(observed.max()))
        )
        if window.stop - window.start > LIMIT:
            window = law_window(p)
    ranks = np.arange(window.start + 1, window.stop + 1)
    # Few bars would be wide ones: some room, but no ranks that there are not.
    left = max(int(ranks[0]) - max(_FEW - len(ranks), 0), 1)
    right = min(max(int(ranks[-1]), left + _FEW - 1), len(p))
    y = theme.in_percent(p[window])
    hit = ranks <= (k if k is not None else 0)
    colors = np.where(hit, c.vermillion, c.blue if k is None else c.muted)
    if observed is None:
        data = [_bars(ranks, y, colors, "probability")]
    else:
        shares = np.bincount(observed, minlength=len(p) + 1)[1:][window] / max(len(observed), 1)
        data = [
            _bars(ranks, theme.in_percent(shares), colors, "drawn"),
            {"type": "scatter", "mode": "markers", "x": ranks, "y": y, "name": "law",
             "marker": {"color": c.ink, "size": 6}, "hovertemplate": theme.hover("law")},
        ]  # fmt: skip
        y = np.maximum(y, theme.in_percent(shares))
    names = [theme.name_at(mean, 1.0, f"mean {mean:,.2f}", c.ink, log=False) | {
        "yref": "paper", "yanchor": "bottom", "xanchor": "center", "xshift": 0}]  # fmt: skip
    shapes = [theme.upright(mean, c.ink, dash="dot") | {"layer": "above"}]
    return theme.figure(
        data, dark=dark, height=height, annotations=names, shapes=shapes, bargap=0.15,
        revision=f"law-{len(p)}",
        xaxis={"title": {"text": "sampled rank"}, "tickformat": ",", "nticks": 12,
               "range": [min(left, int(ranks[0])) - 0.6, right + 0.6]},
        yaxis=theme.percent_axis(float(y.max()), title="probability"),
    )  # fmt: skip


def _bars(x: Ints, y: Floats, colors: Any, name: str) -> dict[str, Any]:
    return {
        "type": "bar", "x": x, "y": y, "marker": {"color": colors}, "name": name,
        "hovertemplate": theme.hover(name),
    }  # fmt: skip


def catalogue(
    n: int, rank: int, negatives: Ints, *, log: bool = True, dark: bool = False, height: int = 150
) -> go.Figure:
    """One draw: the catalogue as a strip, the relevant item, the drawn negatives lit.

    Parameters
    ----------
    n, rank
        Number of candidates and true rank of the relevant item.
    negatives
        True ranks of the drawn negatives. More than 400 above or below are thinned evenly.
    log
        Whether the rank axis is logarithmic.
    dark, height
        Look of the page and height in pixels.
    """
    c = theme.look(dark)
    ordered = np.sort(negatives)
    groups = (
        ("drawn, ranked above", ordered[ordered < rank], c.vermillion, 26),
        ("drawn, ranked below", ordered[ordered > rank], c.blue, 18),
    )
    data: list[dict[str, Any]] = [
        {"type": "scatter", "mode": "lines", "x": [1, n], "y": [0, 0], "hoverinfo": "skip",
         "line": {"color": c.grid, "width": 14}}
    ]  # fmt: skip
    for name, ranks, color, size in groups:
        shown = ranks
        if len(ranks) > LIMIT:
            shown = ranks[np.linspace(0, len(ranks) - 1, LIMIT).astype(np.int64)]
        data.append(
            {"type": "scatter", "mode": "markers", "x": shown, "y": np.zeros(len(shown)),
             "name": name, "hovertemplate": f"{name}: rank %{{x:,}}<extra></extra>",
             "marker": {"symbol": "line-ns", "size": size, "color": color,
                        "line": {"color": color, "width": 2}}}
        )  # fmt: skip
    data.append(
        {"type": "scatter", "mode": "markers", "x": [rank], "y": [0], "name": "relevant item",
         "hovertemplate": f"relevant item: rank {count(rank)}<extra></extra>",
         "marker": {"symbol": "diamond", "size": 17, "color": c.ink,
                    "line": {"color": c.paper, "width": 2}}}
    )  # fmt: skip
    above, below = len(groups[0][1]), len(groups[1][1])
    share = np.log(rank) / np.log(n) if log else rank / n
    anchor = "left" if share < 0.15 else "right" if share > 0.85 else "center"
    names = [
        theme.name_at(rank, 0, f"relevant item, rank {count(rank)}", c.ink, log=log)
        | {"yshift": 30, "xanchor": anchor, "xshift": 0},
        {"x": 0, "xref": "paper", "y": 1, "yref": "paper", "xanchor": "left", "yanchor": "top",
         "text": f"<b>{count(above)} drawn above</b>", "font": {"color": c.vermillion},
         "showarrow": False},
        {"x": 1, "xref": "paper", "y": 1, "yref": "paper", "xanchor": "right", "yanchor": "top",
         "text": f"<b>{count(below)} drawn below</b>", "font": {"color": c.blue},
         "showarrow": False},
    ]  # fmt: skip
    return theme.figure(
        data, dark=dark, height=height, annotations=names, hovermode="closest",
        margin={"l": 12, "r": 12, "t": 6, "b": 8}, revision=f"catalogue-{n}-{log}",
        xaxis=theme.rank_axis(n, log=log, title=f"the catalogue: {count(n)} items by true rank"),
        yaxis={"visible": False, "range": [-1, 1.6], "fixedrange": True},
    )  # fmt: skip


def posterior(
    ranks: Ints, density: Floats, *, at: int, dark: bool = False, height: int = 260
) -> go.Figure:
    """Which true ranks could show this sampled rank: probability that the rank is at most r."""
    c = theme.look(dark)
    y = theme.in_percent(density)
    shape = theme.upright(at, c.muted)
    i = int(np.searchsorted(y, 50.0))
    name = theme.name_at(ranks[i], 50, f"even odds at rank {count(ranks[i])}", c.blue, log=True)
    return theme.figure(
        [theme.curve(ranks, y, {"color": c.blue, "width": 3}, "at most this rank")],
        dark=dark, height=height, shapes=[shape], annotations=[name],
        revision=f"posterior-{ranks[-1]}",
        xaxis=theme.rank_axis(int(ranks[-1]), title="true rank (log scale)"),
        yaxis=theme.percent_axis(100.0, title="probability"),
    )  # fmt: skip
