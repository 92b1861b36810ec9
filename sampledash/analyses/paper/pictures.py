"""Our versions of Figures 1-5 of Krichene & Rendle, and a picture of Steck's theorem."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from sampledash.analyses import memory, theme
from sampledash.analyses.consistency import pictures as consistency
from sampledash.analyses.correct import pictures as correct
from sampledash.analyses.correct.result import MOVIELENS, Prior, fitted
from sampledash.analyses.explore import pictures as explore
from sampledash.analyses.explore.result import curves as expected_curves
from sampledash.analyses.line_names import name_at
from sampledash.analyses.paper.wild import SHAPES, inside
from sampledash.analyses.sliding import scatter
from sampledash.comparison.means import mean
from sampledash.correction import parse_correction
from sampledash.grids import m_grid, rank_grid
from sampledash.metrics import Metric, parse_metric
from sampledash.papers.krichene import WITH
from sampledash.protocol import Protocol
from sampledash.readers.files import example
from sampledash.report.escape import plain
from sampledash.sampling import Sampling

N, M, DRAWN = 10_000, 100, 99
# Largest x in the pictures of :func:`missing`. x is the probability that the best-ranked relevant
# item is observed, divided by the probability for the worst-ranked one.
MOST_TIMES = 20
TOY = "paper-abc"
_METRICS = tuple(map(parse_metric, ("AUC", "AP", "NDCG", "Recall@10")))
_HEIGHT = 300
_STRETCHES = "Share of relevant items in stretches of ranks, per recommender."
_ROW = 17  # height of a system's row in :func:`on_both`, in pixels


class Panel(NamedTuple):
    """A picture, the key of its page element, and its description for screen readers."""

    fig: theme.Picture
    key: str
    alt: str


def _exact(_: Metric, dark: bool) -> theme.Picture:
    ranks = rank_grid(N, keep=[10, 11])
    drawn = ((x, theme.steps(ranks, theme.in_percent(x(ranks, N)))) for x in _METRICS)
    data = [theme.curve(*at, theme.metric_line(x, dark), str(x)) for x, at in drawn]
    across, up = theme.rank_axis(N), theme.percent_axis()
    return theme.figure(data, dark=dark, showlegend=True, xaxis=across, yaxis=up)


def _toy(metric: Metric, dark: bool) -> theme.Picture:
    sets, protocol = example(TOY), Protocol.of({"scheme": WITH})
    grid = m_grid(N - 1, [DRAWN])
    orders = memory.orders((metric,), sets, N - 1, protocol, shared=True)
    means = orders.means[np.searchsorted(orders.m_values, grid), :, 0]
    names, exact = [x.system for x in sets], [mean(metric, x) for x in sets]
    options: Any = names, means, exact, {"at": DRAWN, "wrong": (), "flips": ()}
    return consistency.curves(str(metric), grid, *options, dark=dark, height=_HEIGHT)


def _sampled(metric: Metric, dark: bool) -> theme.Picture:
    ranks, negatives = rank_grid(N, keep=[10, 11]), (1, 10, 100, 1000)
    curves = {m: expected_curves((metric,), Sampling(N, m, WITH), ranks)[1][0] for m in negatives}
    options: dict[str, Any] = {"at": 100, "dark": dark, "height": _HEIGHT}
    return explore.family(metric, ranks, metric(ranks, N), curves, **options)


def _corrected(metric: Metric, dark: bool) -> theme.Picture:
    ranks, sampling = rank_grid(N, keep=[10, 11]), Sampling(N, M, WITH)
    names = ("uncorrected", "rank estimate", "CLS", "BV 0.1", "BV 0.01")
    recipes = [parse_correction(name) for name in names]
    curves = {x: fitted(metric, x, sampling, Prior())[0].expected(ranks) for x in recipes}
    options: dict[str, Any] = {"focus": parse_correction("BV 0.1"), "dark": dark, "height": _HEIGHT}
    return correct.expectation(metric, ranks, metric(ranks, N), curves, **options)


def _ranks(_: Metric, dark: bool) -> theme.Picture:
    sets = example(MOVIELENS)
    edges, shares = consistency.rank_shares(sets, "expected")
    return consistency.distribution(edges, [x.system for x in sets], shares, dark=dark)


# Figure of Krichene & Rendle -> function that draws a panel, metrics (a panel for each), key of the
# panel on the page, and text for screen readers, in which {} stands for the metric.
FIGURES: Mapping[str, tuple[Callable[..., theme.Picture], Sequence[Metric], str, str]] = {
    "Figure 1": (_exact, _METRICS[:1], "figure_1", "AUC, AP, NDCG and Recall@10 over the rank."),
    "Figure 2": (_toy, _METRICS, f"{TOY}_{{}}", "{} of 3 systems over m."),
    "Figure 3": (_sampled, _METRICS, "3_{}", "Expected {} over the rank for four m."),
    "Figure 4": (_corrected, _METRICS[1:], "4_{}", "Expected corrected {} over the rank."),
    "Figure 5": (_ranks, _METRICS[:1], "5", _STRETCHES),
}


def panels(item: str, dark: bool) -> list[Panel]:
    """Return our version of a figure of Krichene & Rendle: one panel for each metric."""
    draw, metrics, key, alt = FIGURES[item]
    return [Panel(draw(x, dark), f"paper_{key.format(x)}", alt.format(x)) for x in metrics]


def missing(times: int, table: pd.DataFrame, dark: bool) -> list[Panel]:
    """Draw two panels, for Steck's metrics TOPK and ATOP, with two curves each.

    TOPK is the recall in the first part of the list: how many of the relevant items are there, as a
    share of all relevant items. ATOP is the mean of TOPK over the length of this part. One curve
    is the mean of the metric over all relevant items, the other that over the observed items only.

    The x axis is the probability that the best-ranked relevant item is observed, divided by the
    probability for the worst-ranked one. A dot marks the x value ``times``.
    """
    panels = []
    for row, measure in enumerate(table["measure"].unique()):
        line = theme.metric_line(parse_metric(measure), dark)
        color, ink = line["color"], theme.look(dark).ink
        columns = table.loc[table["measure"] == measure, ["times", "complete", "observed"]]
        at, complete, seen = columns.to_numpy().T * [[1], [100], [100]]
        marker = {"size": 11, "color": color}
        data = [
            theme.curve(at, complete, theme.exact_line(dark), "all relevant items"),
            theme.curve(at, seen, {**line, "dash": "solid"}, "observed ones"),
            scatter("markers", [times], [float(seen[times - 1])], marker=marker, showlegend=False),
        ]
        names = [
            name_at(MOST_TIMES, float(y[-1]), name, shade, log=False, side="left")
            | {"yanchor": "bottom"}
            for name, y, shade in (("all", complete, ink), ("observed", seen, color))
        ]
        every = np.r_[seen, complete]
        low, high, room = float(every.min()), float(every.max()), 0.15 * float(np.ptp(every))
        fig = theme.figure(
            data,
            dark=dark,
            height=260,
            title=measure,
            title_color=color,
            annotations=names,
            showlegend=False,
            xaxis={"title": {"text": "times as often"}, "range": [0.5, MOST_TIMES + 0.5]},
            yaxis=theme.percent_axis(high + room, low=low - room),
            shapes=[theme.upright(times, theme.look(dark).muted)],
        )
        alt = f"{measure} of the observed relevant items over how unevenly they are observed."
        panels.append(Panel(fig, f"paper_missing_{row}", alt))
    return panels


def on_both(cells: pd.DataFrame, by: str, dark: bool) -> theme.Picture:
    """Draw a row per system: its metrics printed for 1,000 and for 5,000 images, and two ranges.

    The ranges are those that the numbers for 1,000 images allow for 5,000 images. ``cells`` is the
    table of :func:`sampledash.analyses.paper.wild.ranges` for one cutoff. Its rows are sorted by
    the column ``by``, the best system on top.
    """
    c, shown = theme.look(dark), cells.sort_values(by, ascending=False, kind="stable")
    at, names = list(range(len(shown))), list(map(plain, shown["system"]))
    data = []
    free, falling = theme.faded(c.muted, 0.4), theme.faded(c.blue, 0.5)
    looks = (("range, no assumption", free, 0.2), ("if ranks fall off", falling, 0.7))
    for ends, (name, color, width) in zip(SHAPES, looks, strict=True):
        spans = list(shown[list(ends)].itertuples(index=False, name=None))
        hover = [f"{name}: {100 * low:.1f} to {100 * high:.1f} %" for low, high in spans]
        data.append(theme.spans(spans, at, width, color, name=name, hovertext=hover))
    agrees = np.all([inside(shown, ends) for ends in SHAPES], axis=0)
    filled = {"size": np.where(agrees, 8, 12), "color": np.where(agrees, c.ink, c.vermillion)}
    hollow = {"size": 8, "symbol": "circle-open", "color": c.vermillion}
    solid = filled | {"opacity": 1, "line": {"width": 0}}
    tick = {"size": 11, "symbol": "line-ns", "line": {"width": 2, "color": c.green}}
    markers = {"on_sample": ("printed on 1,000", hollow), "estimate": ("estimate", tick)}
    markers["on_all"] = "printed on 5,000", solid
    for column, (name, marker) in markers.items():
        values = 100 * shown[column].to_numpy()
        hover = [f"{name}: {value:.1f} %" for value in values]
        data.append(theme.dots(values, at, marker, name=name, hovertext=hover))
    for trace in data:
        rows = zip(names, shown["note"], trace["hovertext"], strict=True)
        texts = [f"<b>{name}, {note}</b><br>{text}" for name, note, text in rows]
        trace |= {"hovertext": texts, "hoverinfo": "text", "customdata": shown["place"].tolist()}
    drawn = 100 * shown[["low", "high", "on_sample", "on_all"]].to_numpy()
    axis = theme.percent_axis(float(drawn.max()), low=float(drawn.min()))
    options: dict[str, Any] = {"barmode": "overlay", "hovermode": "closest", "showlegend": True}
    return theme.figure(
        data,
        dark=dark,
        height=110 + _ROW * len(shown),
        legend={"y": 1 + 30 / (_ROW * len(shown))},
        margin={"t": 96},
        xaxis=axis | {"side": "top", "showgrid": True, "gridcolor": c.grid},
        yaxis=theme.rows_axis(names, c.ink, 12) | {"showgrid": False},
        **options,
    )
