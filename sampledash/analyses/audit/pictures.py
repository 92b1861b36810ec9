"""The picture of an audit, and an example of lists of negatives."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from sampledash.analyses import memory, theme
from sampledash.auditing.audit import Audit, audit
from sampledash.report.numbers import span

_LISTS, _ITEMS, _SIZE, _TAKEN = 500, 400, 50, 20  # of the example


@memory.once
def example() -> Audit:
    """Return the audit of simulated lists, drawn by popularity^0.75, of which 25 hold a fault."""
    rng, rows = np.random.default_rng(1), np.arange(_LISTS)[:, None]
    # Items whose exponential clocks ring first are a sample without replacement by weight.
    clocks = rng.exponential(size=(2, _LISTS, _ITEMS))
    taken = np.argsort(clocks[0] * np.arange(1, _ITEMS + 1))[:, :_TAKEN]
    weights = np.bincount(taken[:, 1:].ravel(), minlength=_ITEMS) ** 0.75
    clocks[1][rows, taken] = np.inf
    lists = np.argsort(clocks[1] / np.maximum(weights, 1e-9))[:, :_SIZE]
    lists[::20, 0] = taken[::20, 0]
    train = np.column_stack([np.repeat(rows, _TAKEN - 1), taken[:, 1:].ravel()])
    return audit(lists, taken[:, 0], train)


def drawn(result: Audit, *, dark: bool = False) -> go.Figure:
    """Draw how often each tenth of the items was drawn, as a multiple of uniform draws."""
    c, tenths = theme.look(dark), result.deciles
    times, width = (
        tenths["drawn"] / tenths["uniform"],
        1.96 * tenths["uniform_std"] / tenths["uniform"],
    )
    labels = [span(*ends) for ends in tenths[["popularity_low", "popularity_high"]].to_numpy()]
    hover = "%{customdata} interactions: %{y:.2f} times as often as uniform<extra></extra>"
    fill = {"color": c.blue, "line": {"width": 0}}
    x = list(range(len(tenths)))
    bars = theme.bars(
        x, times.to_numpy(), "drawn", customdata=labels, hovertemplate=hover, marker=fill
    )
    bands = [
        theme.box(place - 0.5, place + 0.5, 1 - half, 1 + half)
        | {"fillcolor": theme.faded(c.ink, 0.25), "layer": "above"}
        for place, half in enumerate(width)
    ]
    top = 1.1 * max(float(times.max()), float((1 + width).max()))
    shown = slice(None, None, 3)  # a phone has room for four labels
    ticks = {"tickvals": x[shown], "ticktext": labels[shown]}
    return theme.figure(
        [bars],
        dark=dark,
        hovermode="closest",
        revision=f"audit-{len(tenths)}",
        shapes=[*bands, theme.level(1, c.ink, dash=theme.EXACT_DASH)],
        xaxis=ticks | {"title": {"text": "interactions of items, a tenth of them each"}},
        yaxis={"range": [0, top], "title": {"text": "drawn / uniform"}, "ticksuffix": " ×"},
    )
