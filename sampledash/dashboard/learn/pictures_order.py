"""Pictures of lessons 5 to 9."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from sampledash.comparison import curve, mean, std_of_mean
from sampledash.dashboard import theme
from sampledash.dashboard.consistency.pictures import m_grid
from sampledash.dashboard.grid import rank_grid
from sampledash.dashboard.learn import (
    drawn as learn,
)
from sampledash.dashboard.learn import (
    drawn_curves as learn_curves,
)
from sampledash.dashboard.learn import (
    drawn_rows as learn_rows,
)
from sampledash.dashboard.learn import words_order as learn_order
from sampledash.dashboard.learn import words_repair as learn_repair
from sampledash.dashboard.learn.drawn_curves import Curve, Place
from sampledash.dashboard.learn.words import points
from sampledash.dashboard.learn.words_order import METRIC, TABLE_M
from sampledash.dashboard.words import negatives, plain, ranking
from sampledash.metrics import parse_metric
from sampledash.ranksets import RankSet
from sampledash.readers import example
from sampledash.report.numbers import count, gamma, percent
from sampledash.sampling import Scheme

WITHOUT: Scheme = "without-replacement"
ABC_M = (1, 2, 5, 10, 20, 50, 99, 150, 200, 300, 500, 1000, 2000, 3000, 5000, 9999)
RUNS_M = (20, 50, 100, 200, 500, 1500)
GAMMAS = (1.0, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01, 0.005, 0.002, 0.001, 0.0005, 0.0001)
RANGES_M = (5, 10, 20, 50, 100, 500)
PAPER_M = (10, 20, 50, 100, 200, 300, 500, 700, 1500, 2000, 3000)


def flips(look: str, revealed: bool, dark: bool) -> go.Figure:
    """Lesson 5: expected metric of A, B and C over m (Figure 2)."""
    sets, metric = example("paper-abc"), parse_metric(look)
    names, exact = [rs.system for rs in sets], [mean(metric, rs) for rs in sets]
    lines = [theme.system_line(place, dark) | {"width": 3.5} for place in range(len(sets))]
    if not revealed:
        bare = [
            Curve(n, np.array([v]), line) for n, v, line in zip(names, exact, lines, strict=True)
        ]
        title = learn_curves.live(bare, exact, f"{metric} on all items")
        return learn_rows.truths(look, names, exact, top=1.1 * max(exact), title=title, dark=dark)
    m_max = int(sets[0].n.max()) - 1
    grid = m_grid(m_max, ABC_M)
    table = curve(metric, sets, grid.tolist(), scheme="with-replacement").to_numpy()
    curves = [Curve(n, table[:, i], lines[i]) for i, n in enumerate(names)]
    true = ranking(names, exact)
    at = [int(np.searchsorted(grid, m)) for m in ABC_M]
    places = []
    for m, i in zip(ABC_M, at, strict=True):
        shown = ranking(names, table[i].tolist())
        sign = "✓" if shown == true else "⇅"
        places.append(Place(count(m), f"{sign} {negatives(m)}: {shown}"))
    thin = theme.exact_line(dark, 1.2)
    truth = [Curve(f"{n} on all", np.full(len(grid), v), thin)
             for n, v in zip(names, exact, strict=True)]  # fmt: skip
    axes = {
        "xaxis": theme.rank_axis(m_max, title="m, negatives (log scale)", most=5),
        "yaxis": theme.percent_axis(float(max(100 * table.max(), 100 * max(exact)))),
    }
    return learn_curves.along(
        grid, curves, at, places, ABC_M.index(TABLE_M), still_lines=truth, prefix="m = ",
        dark=dark, axes=axes, revision=f"flips-{look}",
    )  # fmt: skip


def steadiness(look: str, revealed: bool, dark: bool) -> go.Figure:
    """Lesson 6: repeated runs of each recommender, and the truth."""
    sets = example("movielens-xyz")
    names, exact = [rs.system for rs in sets], [mean(METRIC, rs) for rs in sets]
    if not revealed:
        title = f"<b>{METRIC} on all movies</b>: {ranking(names, exact)}"
        return learn_rows.truths(METRIC, names, exact, top=1.0, title=title, dark=dark)
    m_values = _with(RUNS_M, int(learn_order.right()["m"].max()), _most(sets))
    found = [learn_order.runs(m) for m in m_values]
    true, worst = ranking(names, exact), int(np.argmin(exact))
    titles = []
    for m, values in zip(m_values, found, strict=True):
        first = int((values.argmax(axis=0) == worst).sum())
        right = sum(ranking(names, run.tolist()) == true for run in values.T)
        std = std_of_mean(METRIC, sets[worst], m, scheme=WITHOUT)
        titles.append(
            f"<b>{names[worst]} first in {first} of {values.shape[1]} runs</b>, {true} in {right}"
            f"<br>{names[worst]} scatters by {points(std)}; ┃ on all movies"
        )
    return learn_rows.runs(
        METRIC, names, exact, m_values, found, titles, at=learn_order.M, dark=dark
    )


def _with(m_values: tuple[int, ...], *more: int) -> tuple[int, ...]:
    """Places of a slider, with those at which something happens to these data."""
    return tuple(sorted({*m_values, *more}))


def _most(sets: list[RankSet]) -> int:
    """All negatives that anybody has."""
    return max(int(rs.n.max()) for rs in sets) - 1


def corrections(look: str, revealed: bool, dark: bool) -> go.Figure:
    """Lesson 7: expected corrected AP against the exact one, γ from 1 down (Figure 4)."""
    n = learn_repair.N
    ranks, metric = rank_grid(n), parse_metric("AP")
    exact = Curve("exact", metric(ranks, n), theme.exact_line(dark, 2.5))
    raw_fit = learn_repair.fit(None)
    raw = Curve("uncorrected", raw_fit.expected(ranks), theme.correction_line("uncorrected", dark))
    axes = {
        "xaxis": theme.rank_axis(n, title="true rank (log scale)", most=5),
        "yaxis": theme.percent_axis(100.0, title="expected AP"),
    }
    head = learn.broken(
        [f"╌╌ all items   {learn.colored('━ uncorrected', str(raw.line['color']))}"]
    )
    if not revealed:
        return learn_curves.still(
            ranks, [exact, raw], title=head, dark=dark, axes=axes, revision="corrections"
        )
    line = theme.correction_line("bias-variance", dark) | {"width": 3.5}
    moving = [[Curve("corrected", learn_repair.fit(g).expected(ranks), line)] for g in GAMMAS]
    titles = []
    for weight in GAMMAS:
        bias, std = learn_repair.errors(weight)
        said = f"━ γ = {gamma(weight)}: bias {percent(bias)}, scatter {percent(std)}"
        titles.append(f"{head}<br><b>{learn.colored(said, str(line['color']))}</b>")
    return learn_curves.changing(
        ranks, [exact, raw], moving, [gamma(g) for g in GAMMAS], titles,
        GAMMAS.index(learn_repair.GAMMA), prefix="γ = ", dark=dark, axes=axes,
        revision="corrections",
    )  # fmt: skip


def limits(look: str, revealed: bool, dark: bool) -> go.Figure:
    """Lesson 8: what one run leaves open."""
    sets = example("movielens-xyz")
    names, exact = [rs.system for rs in sets], [mean(METRIC, rs) for rs in sets]
    if not revealed:
        title = f"<b>{METRIC} on all movies</b>,<br>which the sampled ranks do not show"
        return learn_rows.truths(METRIC, names, exact, top=0.3, title=title, dark=dark)
    found = [learn_repair.ranges(m) for m in RANGES_M]
    titles = [
        f"<b>{names[0]}, m = {count(m)}: {percent(each[0][0][0])} to "
        f"{percent(each[0][0][1])}</b><br>wide: no assumption, narrow: with it, ┃ truth"
        for m, each in zip(RANGES_M, found, strict=True)
    ]
    return learn_rows.ranges(
        METRIC, names, exact, RANGES_M, found, titles, at=learn_repair.M, dark=dark
    )


def your_paper(look: str, revealed: bool, dark: bool) -> go.Figure:
    """Lesson 9: from which m on which pair is right."""
    sets = example("movielens-xyz")
    names, exact = [rs.system for rs in sets], [mean(METRIC, rs) for rs in sets]
    m_max, (right_from, needed, _) = _most(sets), learn_repair.settled()
    m_values = _with(PAPER_M, right_from - 1, right_from, needed, m_max)
    grid = m_grid(m_max, m_values)
    table = curve(METRIC, sets, grid.tolist(), scheme=WITHOUT).to_numpy()
    order = np.argsort(exact)[::-1]
    pairs = [(order[0], order[1]), (order[1], order[2]), (order[0], order[2])]
    c = theme.look(dark)
    colors = ({"color": c.green, "width": 3.5}, {"color": c.vermillion, "width": 3.5},
              {"color": c.purple, "width": 3.5})  # fmt: skip
    curves = [
        Curve(f"{plain(names[a])} − {plain(names[b])}", table[:, a] - table[:, b], line)
        for (a, b), line in zip(pairs, colors, strict=True)
    ]
    low, top = (100 * float(f([each.y for each in curves])) for f in (np.min, np.max))
    axes = {
        "xaxis": theme.rank_axis(m_max, title="m, negatives (log scale)", most=5),
        "yaxis": theme.percent_axis(top, low=low, title="expected difference"),
        "shapes": [{"type": "line", "x0": 0, "x1": 1, "xref": "paper", "y0": 0, "y1": 0,
                    "line": {"color": c.ink, "width": 1.5, "dash": "dot"}, "layer": "below"}],
    }  # fmt: skip
    if not revealed:
        gaps = [exact[a] - exact[b] for a, b in pairs]
        title = learn_curves.live(curves, gaps, f"{METRIC} on all movies")
        rows = [each.name for each in curves]
        return learn_rows.truths(
            f"{METRIC}, difference", rows, gaps, top=1.2 * max(gaps), title=title, dark=dark
        )
    at = [int(np.searchsorted(grid, m)) for m in m_values]
    places = []
    for m, i in zip(m_values, at, strict=True):
        right = sum(float(each.y[i]) > 0 for each in curves)
        places.append(
            Place(count(m), f"{negatives(m)}: {right} of {len(pairs)} pairs right (above 0)")
        )
    return learn_curves.along(
        grid, curves, at, places, m_values.index(learn_repair.M), prefix="m = ", dark=dark,
        axes=axes, revision="your-paper",
    )  # fmt: skip
