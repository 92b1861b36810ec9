"""The picture of an audit, and an example of lists of negatives."""

from typing import Any

import numpy as np

from sampledash.analyses import memory, theme
from sampledash.auditing.audit import Audit, audit
from sampledash.report.numbers import span

# Numbers in the example: lists (one per user), items, negatives in a list, interactions of a user.
_LISTS, _ITEMS, _SIZE, _TAKEN = 500, 400, 50, 20


@memory.once
def example() -> Audit:
    """Return the audit of simulated lists of negatives, drawn by popularity^0.75.

    25 of the lists wrongly contain the relevant item.
    """
    rng, rows = np.random.default_rng(1), np.arange(_LISTS)[:, None]
    # Weighted sampling without replacement: draw an exponential random number for each item, with
    # the item's sampling weight as rate, and take the items with the smallest numbers.
    clocks = rng.exponential(size=(2, _LISTS, _ITEMS))
    taken = np.argsort(clocks[0] * np.arange(1, _ITEMS + 1))[:, :_TAKEN]
    weights = np.bincount(taken[:, 1:].ravel(), minlength=_ITEMS) ** 0.75
    clocks[1][rows, taken] = np.inf
    lists = np.argsort(clocks[1] / np.maximum(weights, 1e-9))[:, :_SIZE]
    lists[::20, 0] = taken[::20, 0]
    train = np.column_stack([np.repeat(rows, _TAKEN - 1), taken[:, 1:].ravel()])
    return audit(lists, taken[:, 0], train)


def drawn(result: Audit, *, dark: bool = False) -> theme.Picture:
    """Plot how often items were drawn, relative to the expectation for uniform negatives.

    There is a bar for each tenth of the items, sorted by popularity. Dots show the expectation for
    the draws that fit best: by a power of popularity, or uniform.
    """
    c, tenths, x = theme.look(dark), result.deciles, list(range(len(result.deciles)))
    times, fitted = (tenths[name] / tenths["uniform"] for name in ("drawn", "fitted"))
    half = 1.96 * tenths["uniform_std"] / tenths["uniform"]
    top = 1.1 * max(times.max(), fitted.max(), 1 + half.max())
    labels = [span(*ends) for ends in tenths[["popularity_low", "popularity_high"]].to_numpy()]
    look: dict[str, Any] = {"customdata": labels, "marker": {"color": c.blue}}
    look["hovertemplate"] = "%{customdata} interactions: %{y:.2f} × uniform<extra></extra>"
    gray = {"fillcolor": theme.faded(c.ink, 0.25), "layer": "above"}
    bands = [theme.box(i - 0.5, i + 0.5, 1 - wide, 1 + wide, **gray) for i, wide in enumerate(half)]
    # A phone has room for four labels.
    ticks = {"tickvals": x[::3], "ticktext": labels[::3]}
    title = "interactions of items, a tenth of them each"
    dots = theme.dots(x, fitted.to_numpy(), {"color": c.orange, "size": 10}, hoverinfo="skip")
    return theme.figure(
        [theme.bars(x, times.to_numpy(), "drawn", **look), dots],
        dark=dark,
        hovermode="closest",
        shapes=[*bands, theme.level(1, c.ink, dash=theme.EXACT_DASH)],
        xaxis=ticks | {"title": {"text": title}},
        yaxis={"range": [0, top], "ticksuffix": " ×", "title": {"text": "drawn / uniform"}},
    )
