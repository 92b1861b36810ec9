"""Stop when it is decided."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import plotly.graph_objects as go

import sampledash as sd
from sampledash.dashboard import sliding, theme
from sampledash.dashboard.consistency.pictures import m_grid
from sampledash.dashboard.learn.lesson import METRIC, WITHOUT, M, Numbers, movielens
from sampledash.dashboard.sliding import Curve
from sampledash.report.numbers import count

TEXT = r"""
title: Stop when it is decided
setup: $first ranks one movie for each of $users users on MovieLens 1M. The other movies are scored
    one by one, in random order. Once $k are above it, $metric of this user is 0 for certain: stop.
    Else go on to the last.
question: What share of all scores gives the exact $metric of all users?
choice: All of them | Only the $hits of users with the movie within $k take all. For the others $k
    that are above come much earlier: $share in all.
choice: About a fifth | $mean scores a user instead of $full on average: most users are decided
    early.
choice: Hardly any | A user with the movie within $k, $hits of them, takes all scores, for only the
    last one can tell: $share in all.
right: About a fifth
sentence: The exact $metric of $first takes $mean scores a user, of $full, on average. After $m
    scores of each user $open are open: exactly the $metric that $m negatives would show.
formula: E[\text{scores}\,|\,r] = \frac{k\,n}{r}\quad(r > k)
formula: $one_k \cdot $one_n / $one_r = $one_cost:1f
why: $m negatives for everybody give a number that is wrong. The same money, spent until each of
    fewer users is decided, gives one that is right, with an honest interval.
source: Section 7 asks to avoid sampling; stopping is inverse sampling (Haldane, Biometrika 1945)
link: consistency | answers=What to do instead&metrics=Recall@k
    | Every design at one price in Consistency
minutes: 8
misconception: “Whoever stops early misses something.” Of a metric cut at k nothing is left to miss:
    no order of the rest changes it.
misconception: “So does AUC.” Every candidate counts in it, the last like the first: it is never
    decided, but a few random negatives estimate it without bias.
exercise: n = $one_n, the relevant item at rank $one_r. How many candidates are looked at on average
    until Recall@$one_k is decided, and until Recall@1 is?
    | $one_k · $one_n / $one_r = $one_cost:1f, and $one_n / $one_r = $one_first:1f.
exercise: Someone has $m scores for each user and stops when decided, until they are spent. How many
    of the $users users are reached on average? | $users · $m / $mean = $reached.
point: A metric cut at k: **stop when decided**, exact for about a fifth here.
point: Less money: fewer users, drawn at random, the same for all systems.
point: All scores from one matrix product: rank everything.
"""

LOOKS = ("One user", "A hit", "All users")
SEED, CANDIDATES, CUTOFF, ACROSS = 3, 50, 10, 10
RANK, HIT = 20, 4  # of the relevant items of two users
VISITED = (1, 5, 10, 20, 50, 100, 200, 500, 1000, 2000)


@cache
def order(rank: int) -> list[bool]:
    """Of the candidates of one user, in random order until it is decided, whether each is above."""
    mixed = np.random.default_rng(SEED).permutation(CANDIDATES - 1) < rank - 1
    last = CANDIDATES - 1 if rank <= CUTOFF else int(np.flatnonzero(mixed)[CUTOFF - 1]) + 1
    return [bool(above) for above in mixed[:last]]


def numbers(look: str) -> Numbers:
    sets, names, exact, *_ = movielens()
    best = int(np.argmax(exact))
    ranks, k = sets[best], sd.parse_metric(METRIC).k or 0
    mean, full = sd.mean_stopping_cost(METRIC, ranks).mean, float(np.mean(ranks.n - 1))
    cost = sd.stopping_cost(f"Recall@{CUTOFF}", RANK, CANDIDATES)
    return {
        "first": names[best],
        "users": len(ranks),
        "k": k,
        "hits": exact[best],
        "mean": round(mean),
        "full": round(full),
        "share": mean / full,
        "open": sd.expected_mean(METRIC, ranks, M, scheme=WITHOUT),
        "one_n": CANDIDATES,
        "one_r": RANK,
        "one_k": CUTOFF,
        "one_cost": float(cost.mean),
        "one_first": CANDIDATES / RANK,
        "reached": round(len(ranks) * M / mean),
    }


def picture(look: str, revealed: bool, dark: bool) -> go.Figure:
    """The candidates of one user as they are looked at; the users that are still open."""
    return (
        _all(dark) if look == LOOKS[2] else _one(HIT if look == LOOKS[1] else RANK, revealed, dark)
    )


def _one(rank: int, revealed: bool, dark: bool) -> go.Figure:
    c, total = theme.look(dark), CANDIDATES - 1
    rows, bare = -(-total // ACROSS), {"showgrid": False, "zeroline": False, "fixedrange": True}

    def marks(places: list[int], symbol: str, color: str, size: int) -> sliding.Trace:
        x, y = [p % ACROSS for p in places], [-(p // ACROSS) for p in places]
        return sliding.scatter(
            "markers", x, y, marker={"symbol": symbol, "color": color, "size": size}
        )

    layout: dict[str, Any] = {
        "revision": f"one-user-{rank}-{revealed}",
        "xaxis": {**bare, "range": [-0.7, ACROSS - 0.3], "visible": False},
        "yaxis": {**bare, "range": [0.7 - rows, 0.7], "visible": False},
        "dark": dark,
    }
    waiting = marks(list(range(total)), "circle-open", c.muted, 14)
    if not revealed:
        title = f"<b>{total} candidates</b> of one user beside the relevant item, none looked at"
        return sliding.still([waiting], title, height=sliding.HEIGHT - 110, **layout)
    looked, steps = order(rank), []
    for done in range(len(looked) + 1):
        above = [p for p in range(done) if looked[p]]
        below = [p for p in range(done) if not looked[p]]
        said = f"<b>{done} looked at, ▲ {len(above)} above, ▼ {len(below)} below</b><br>"
        said += f"Recall@{CUTOFF} among {CANDIDATES} is "
        first, last = len(above) + 1, CANDIDATES - len(below)
        if first > CUTOFF:
            said += f"0: {total - done} are never scored"
        elif last > CUTOFF:
            said += f"open: rank {first} to {last}"
        else:
            said += f"1: rank {first}" + f" to {last}" * (first < last)
        data = [
            marks(above, "triangle-up", c.vermillion, 18),
            marks(below, "triangle-down", c.blue, 18),
        ]
        steps.append(sliding.Step(count(done), data, said))
    return sliding.sliding([waiting], steps, 0, prefix="looked at: ", gap=20, **layout)


def _all(dark: bool) -> go.Figure:
    sets, names, _, most, _ = movielens()
    m_values = movielens().visited(*VISITED)
    grid = m_grid(m_values[-1], m_values)
    means = sd.curve(METRIC, sets, grid.tolist(), scheme=WITHOUT).to_numpy()
    curves = [Curve(name, means[:, i], theme.system_line(i, dark)) for i, name in enumerate(names)]
    says = {
        m: f"{count(m)} looked at: users still open"
        if m < most
        else "all looked at: only hits left"
        for m in m_values
    }
    return sliding.along(
        grid,
        curves,
        says,
        M,
        dark=dark,
        revision="all-users",
        prefix="looked at: ",
        xaxis=theme.rank_axis(m_values[-1], title="looked at for each user (log scale)", most=5),
        yaxis=theme.percent_axis(100.0, title="users still open"),
    )
