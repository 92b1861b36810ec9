"""Pictures of how sure an order is: chances, differences with their intervals, repeated runs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import plotly.graph_objects as go

from sampledash.dashboard import theme
from sampledash.report.numbers import in_runs
from sampledash.types import Floats, Ints

_ROW = 34  # pixels of a pair in a dot plot
QUARTERS = [0, 25, 50, 75, 100]  # per cent
_BARS = 30  # of a histogram
_PAIR_DASH = ("solid", "dash", "dot", "dashdot", "longdash", "longdashdot")


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
