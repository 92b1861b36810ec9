"""Lesson 9: how many sampled negatives an evaluation for one's own paper needs."""

from functools import cache
from typing import Any

import numpy as np

import sampledash as sd
from sampledash.analyses import sliding, theme
from sampledash.analyses.learn.lesson import METRIC, WITHOUT, M, Numbers, movielens, order
from sampledash.analyses.sliding import Curve
from sampledash.grids import m_grid
from sampledash.report.sentences import negatives

SURE = 0.95
VISITED = (10, 20, 50, 100, 200, 300, 500, 700, 1500, 2000, 3000)


@cache
def needed() -> int:
    """Return how many negatives m a run needs to show the true order of two systems.

    The run then shows the order with probability ``SURE``. :attr:`Recommenders.settled` names the
    systems: the pair that needs the most negatives.
    """
    sets = [rs for rs in movielens().sets if rs.system in movielens().settled]
    return int(sd.negatives_needed(METRIC, sets, SURE, scheme=WITHOUT)["m"].iloc[0])


def numbers(variant: str) -> Numbers:
    sets, names, exact, most, (better, worse, right_from) = movielens()
    return {
        "shown": order(names, [sd.expected_mean(METRIC, rs, M, scheme=WITHOUT) for rs in sets]),
        "true": order(names, exact),
        "right_from": right_from,
        "needed": needed(),
        "most": most,
        "pair": f"{better} and {worse}",
        "sure": f"{100 * SURE:.0f} %",
        "stop": round(max(sd.mean_stopping_cost(METRIC, rs).mean for rs in sets)),
        "full": round(float(np.mean(sets[0].n - 1))),
        "share": 100 * right_from / most,
    }


def picture(variant: str, revealed: bool, dark: bool) -> theme.Picture:
    """Draw the systems' differences in ``METRIC``: exact or, if ``revealed``, sampled differences.

    A sampled difference is drawn as its expected value over m, the number of negatives.
    """
    sets, names, exact, *_, (_, _, right_from) = movielens()
    m_values = movielens().visited(*VISITED, right_from - 1, needed())
    grid = m_grid(m_values[-1], m_values)
    means, c = sd.curve(METRIC, sets, grid.tolist(), scheme=WITHOUT).to_numpy(), theme.look(dark)
    first, second, third = np.argsort(exact)[::-1].tolist()
    pairs = {c.green: (first, second), c.vermillion: (second, third), c.purple: (first, third)}
    curves = [
        Curve(f"{names[a]} − {names[b]}", means[:, a] - means[:, b], {"color": color, "width": 3.5})
        for color, (a, b) in pairs.items()
    ]
    if not revealed:
        gaps = [exact[a] - exact[b] for a, b in pairs.values()]
        title = sliding.live(curves, gaps, f"{METRIC} on all movies")
        named = [curve.name for curve in curves]
        return sliding.truths(f"{METRIC}, difference", named, gaps, 1.2 * max(gaps), title, dark)
    says = {}
    for m in m_values:
        right = sum(float(curve.y[np.searchsorted(grid, m)]) > 0 for curve in curves)
        says[m] = f"{negatives(m)}: {right} of {len(pairs)} pairs right (above 0)"
    every = 100 * np.array([curve.y for curve in curves])
    low, top = float(every.min()), float(every.max())
    level = theme.level(0, c.ink, width=1.5, dash="dot")
    layout: dict[str, Any] = {"shapes": [level], "dark": dark}
    layout["xaxis"] = theme.rank_axis(m_values[-1], title="m, negatives", most=5)
    layout["yaxis"] = theme.percent_axis(top, low=low, title="expected difference")
    return sliding.along(grid, curves, says, M, **layout)
