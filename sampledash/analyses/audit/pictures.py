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
    rng = np.random.default_rng(1)
    likely = rng.permutation(1 / np.arange(1, _ITEMS + 1))
    taken = [
        rng.choice(_ITEMS, _TAKEN, replace=False, p=likely / likely.sum()) for _ in "x" * _LISTS
    ]
    weights = np.bincount(np.concatenate(taken), minlength=_ITEMS) ** 0.75
    lists, relevant = [], [history[0] for history in taken]
    for history in taken:
        left = np.where(np.isin(np.arange(_ITEMS), history), 0, weights)
        lists.append(rng.choice(_ITEMS, _SIZE, replace=False, p=left / left.sum()))
    for row in range(0, _LISTS, 20):
        lists[row][0] = relevant[row]
    train = [(user, item) for user, history in enumerate(taken) for item in history[1:]]
    return audit(lists, relevant, train)


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
    return theme.figure(
        [bars],
        dark=dark,
        hovermode="closest",
        revision=f"audit-{len(tenths)}",
        shapes=[*bands, theme.level(1, c.ink, dash=theme.EXACT_DASH)],
        xaxis={
            "tickvals": x,
            "ticktext": labels,
            "title": {"text": "interactions of the items, a tenth of them each"},
        },
        yaxis={"range": [0, top], "title": {"text": "drawn / uniform"}, "ticksuffix": " ×"},
    )
