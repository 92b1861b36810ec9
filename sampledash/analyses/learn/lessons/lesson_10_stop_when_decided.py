"""Lesson 10: scoring the candidates of a user can stop once the user's metric is certain."""

from functools import cache
from typing import Any

import numpy as np

import sampledash as sd
from sampledash.analyses import sliding, theme
from sampledash.analyses.learn.lesson import METRIC, WITHOUT, M, Numbers, movielens
from sampledash.analyses.sliding import Curve
from sampledash.grids import m_grid
from sampledash.report.numbers import count

LOOKS = ("One user", "A hit", "All users")
SEED, CANDIDATES, CUTOFF, ACROSS = 3, 50, 10, 10
RANK, HIT = 20, 4  # true ranks of two users' relevant items: one beyond CUTOFF, the other within
VISITED = (1, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)


@cache
def order(rank: int) -> list[bool]:
    """Return whether each candidate, in random order, is above a relevant item at rank ``rank``.

    Once ``CUTOFF`` candidates are above the item, the metric is certain, and the list ends.
    """
    mixed = np.random.default_rng(SEED).permutation(CANDIDATES - 1) < rank - 1
    last = CANDIDATES - 1 if rank <= CUTOFF else int(np.flatnonzero(mixed)[CUTOFF - 1]) + 1
    return [bool(above) for above in mixed[:last]]


def numbers(variant: str) -> Numbers:
    sets, names, exact, *_ = movielens()
    best = int(np.argmax(exact))
    ranks, k = sets[best], sd.parse_metric(METRIC).k or 0
    mean, full = sd.mean_stopping_cost(METRIC, ranks).mean, float(np.mean(ranks.n - 1))
    return {
        "first": names[best],
        "users": len(ranks),
        "k": k,
        "hits": exact[best],
        "mean": round(mean),
        "full": round(full),
        "share": mean / full,
        "open": sd.expected_mean(METRIC, ranks, M, scheme=WITHOUT),
        "one_cost": float(sd.stopping_cost(f"Recall@{CUTOFF}", RANK, CANDIDATES).mean),
        "one_first": CANDIDATES / RANK,
        "reached": round(len(ranks) * M / mean),
    }


def picture(variant: str, revealed: bool, dark: bool) -> theme.Picture:
    """Draw one user's candidates, which are scored one by one, or a curve for all users.

    The curve is the share of users whose Recall@10 can still be 1, over the number of candidates
    that have been scored.
    """
    ranks = {LOOKS[0]: RANK, LOOKS[1]: HIT}
    return _one(ranks[variant], revealed, dark) if variant in ranks else _all(dark)


def _one(rank: int, revealed: bool, dark: bool) -> theme.Picture:
    c, total = theme.look(dark), CANDIDATES - 1
    rows, bare = -(-total // ACROSS), {"showgrid": False, "zeroline": False, "fixedrange": True}

    def marks(places: list[int], symbol: str, color: str, size: int) -> sliding.Trace:
        x, y = [p % ACROSS for p in places], [-(p // ACROSS) for p in places]
        marker = {"symbol": symbol, "color": color, "size": size}
        return sliding.scatter("markers", x, y, marker=marker)

    layout: dict[str, Any] = {
        "xaxis": {**bare, "range": [-0.7, ACROSS - 0.3], "visible": False},
        "yaxis": {**bare, "range": [0.7 - rows, 0.7], "visible": False},
        "dark": dark,
    }
    waiting = marks(list(range(total)), "circle-open", c.muted, 14)
    if not revealed:
        title = f"<b>{total} candidates</b> of one user<br>beside the relevant item, none looked at"
        return sliding.still([waiting], title, height=sliding.HEIGHT - 110, **layout)
    looked, steps = order(rank), {}
    for done in range(len(looked) + 1):
        above = [p for p in range(done) if looked[p]]
        below = [p for p in range(done) if not looked[p]]
        heading = f"<b>{done} looked at, ▲ {len(above)} above, ▼ {len(below)} below</b><br>"
        heading += f"Recall@{CUTOFF} among {CANDIDATES} is "
        first, last = len(above) + 1, CANDIDATES - len(below)
        if first > CUTOFF:
            heading += f"0: {total - done} are never scored"
        elif last > CUTOFF:
            heading += f"open: rank {first} to {last}"
        else:
            heading += f"1: rank {first}" + f" to {last}" * (first < last)
        up = marks(above, "triangle-up", c.vermillion, 18)
        steps[count(done)] = [up, marks(below, "triangle-down", c.blue, 18)], heading
    return sliding.sliding([waiting], steps, count(0), prefix="looked at: ", gap=20, **layout)


def _all(dark: bool) -> theme.Picture:
    sets, names, _, most, _ = movielens()
    m_values = movielens().visited(*VISITED)
    grid = m_grid(m_values[-1], m_values)
    means = sd.curve(METRIC, sets, grid.tolist(), scheme=WITHOUT).to_numpy()
    curves = [Curve(name, means[:, i], theme.system_line(i, dark)) for i, name in enumerate(names)]
    says = {m: f"{count(m)} looked at: users still open" for m in m_values}
    says[most] = "all looked at: only hits left"
    layout: dict[str, Any] = {"prefix": "looked at: ", "dark": dark}
    layout["xaxis"] = theme.rank_axis(m_values[-1], title="looked at for each user", most=5)
    layout["yaxis"] = theme.percent_axis(title="users still open")
    return sliding.along(grid, curves, says, M, **layout)
