"""Pictures of lessons 1 to 4."""

from __future__ import annotations

import numpy as np
import plotly.graph_objects as go

from sampledash.dashboard import theme
from sampledash.dashboard.explore import result as drawing
from sampledash.dashboard.grid import jumps, rank_grid
from sampledash.dashboard.learn import (
    drawn as learn,
)
from sampledash.dashboard.learn import (
    drawn_curves as learn_curves,
)
from sampledash.dashboard.learn import (
    drawn_rows as learn_rows,
)
from sampledash.dashboard.learn.drawn_curves import Curve, Place
from sampledash.dashboard.learn.words_rank import FAR, RANK, WITHOUT, M, N
from sampledash.expectation import expected
from sampledash.metrics import Metric, parse_metric
from sampledash.report.numbers import count, decimal, percent
from sampledash.sampling import Sampling
from sampledash.types import Floats, Ints

SHARP = ("AUC", "NDCG", "AP", "Recall@10")
VISITED = (1, 2, 3, 5, 10, 11, 20, 50, 100, 101, 200, 500, 1000)
SIZES = (1, 2, 5, 10, 100, 1_000, 10_000)
SEED, WIDEST = 3, 8
LADDER = (10, 20, 50, 99, 100, 200, 500, 1000, 2000, 5000, N - 1)
DOWN = (N - 1, 5000, 2000, 1000, 500, 200, 100, 50, 20, 10, 5, 3, 2, 1)
TOP = 1_000


def weights(look: str, revealed: bool, dark: bool) -> go.Figure:
    """Lesson 1: four metrics over the rank."""
    ranks = rank_grid(TOP, keep=VISITED)
    grey = {"color": theme.look(dark).muted, "width": 2.5}
    curves = [
        Curve(
            name, parse_metric(name)(ranks, N),
            theme.metric_line(parse_metric(name), dark) if revealed else grey,
        )
        for name in SHARP
    ]  # fmt: skip
    axes = {
        "xaxis": theme.rank_axis(TOP, title="rank (log scale)"),
        "yaxis": theme.percent_axis(100.0),
    }
    if not revealed:
        title = "Four metrics over the rank. <b>Which is which?</b>"
        return learn_curves.still(
            ranks, curves, title=title, dark=dark, axes=axes, revision="weights"
        )
    at = [int(np.searchsorted(ranks, rank)) for rank in VISITED]
    places = [Place(count(rank), "") for rank in VISITED]
    return learn_curves.along(
        ranks, curves, at, places, 1, prefix="rank ", dark=dark, axes=axes, revision="weights"
    )


def _expected(metric: Metric, ranks: Ints, m: int) -> Floats:
    """Expected sampled metric; with all negatives it is the exact one."""
    if m == N - 1:
        return metric(ranks, N)
    return np.asarray(expected(metric, ranks, Sampling(N, m, WITHOUT)))


def draws(look: str, revealed: bool, dark: bool) -> go.Figure:
    """Lesson 2: one draw, more draws, the law."""
    sampling = Sampling(N, M, WITHOUT)
    seen = drawing.sampled_ranks(sampling, RANK, SEED, SIZES[-1])
    if not revealed:
        negatives = drawing.negatives(sampling, RANK, int(seen[0]), SEED, 1)
        c = theme.look(dark)
        title = (
            f"{learn.colored(f'◆ the item at rank {count(RANK)}', c.vermillion)}<br>"
            f"{learn.colored(f'┃ {count(M)} drawn negatives', c.blue)}"
        )
        return learn_rows.strip(N, RANK, negatives, title=title, dark=dark)
    titles = []
    for size in SIZES:
        mean = float(seen[:size].mean())
        said = f"sampled rank {count(seen[0])}" if size == 1 else f"average {decimal(mean)}"
        titles.append(f"<b>{count(size)} draw{'s' * (size > 1)}</b>: {said}")
    at = 1 + M * float(sampling.share_above(RANK))
    titles.append(f"<b>The law</b> (dots): mean {decimal(at)}<br>true rank {count(RANK)}")
    observed = [seen[:size] for size in SIZES]
    return learn_rows.draws(sampling.pmf(RANK), SIZES, observed, titles, most=WIDEST, dark=dark)


def softness(look: str, revealed: bool, dark: bool) -> go.Figure:
    """Lesson 3: a sharp metric turns soft (Figure 3)."""
    metric = parse_metric(look)
    keep: set[int] = {FAR}
    for m in LADDER[:-1]:
        keep.update(jumps(Sampling(N, m, WITHOUT), metric)[::4])
    if metric.k is not None:
        keep |= {metric.k, metric.k + 1}
    ranks = rank_grid(N, top=TOP, keep=sorted(keep))
    style = theme.metric_line(metric, dark) | {"dash": "solid", "width": 3.5}
    exact = Curve("exact", metric(ranks, N), theme.exact_line(dark, 2.5))
    axes = {
        "xaxis": theme.rank_axis(TOP, log=False, title="true rank"),
        "yaxis": theme.percent_axis(100.0),
        "shapes": [theme.upright(FAR, theme.look(dark).muted, dash="dot")],
    }
    here = int(np.searchsorted(ranks, FAR))
    head = f"{metric} at rank {count(FAR)}"
    if not revealed:
        title = f"<b>{head}</b><br>╌╌ on all items {percent(float(exact.y[here]))}"
        return learn_curves.still(
            ranks, [exact], title=title, dark=dark, axes=axes, revision=f"soft-{look}"
        )
    moving = [[Curve("sampled", _expected(metric, ranks, m), style)] for m in LADDER]
    titles = [
        f"<b>{head}</b>   ╌╌ all items {percent(float(exact.y[here]))}<br>"
        + learn.colored(f"<b>{count(m)} negatives {percent(float(each.y[here]))}</b>",
                        str(style["color"]))
        for m, (each,) in zip(LADDER, moving, strict=True)
    ]  # fmt: skip
    return learn_curves.changing(
        ranks, [exact], moving, [count(m) for m in LADDER], titles, LADDER.index(M),
        prefix="m = ", dark=dark, axes=axes, revision=f"soft-{look}",
    )  # fmt: skip


def one_negative(look: str, revealed: bool, dark: bool) -> go.Figure:
    """Lesson 4: with fewer negatives every metric becomes the line of AUC."""
    chosen = [parse_metric(name) for name in ("AUC", "NDCG", "AP")]
    ranks = np.unique(np.r_[rank_grid(N), np.linspace(1, N, 100).round().astype(np.int64)])
    axes = {
        "xaxis": theme.rank_axis(N, log=False, title="true rank"),
        "yaxis": theme.percent_axis(100.0, title="rank 1 = 100 %, last = 0 %"),
    }

    def drawn(m: int) -> list[Curve]:
        found = []
        for width, metric in zip((9, 5, 2.5), chosen, strict=True):
            y = _expected(metric, ranks, m)
            line = theme.metric_line(metric, dark) | {"width": width}
            found.append(Curve(str(metric), (y - y[-1]) / (y[0] - y[-1]), line))
        return found

    first = drawn(DOWN[0])
    if not revealed:
        title = f"On all items<br>{learn_curves.names(first)}"
        return learn_curves.still(
            ranks, first, title=title, dark=dark, axes=axes, revision="one-negative"
        )
    moving = [drawn(m) for m in DOWN]
    titles = []
    for m, curves in zip(DOWN, moving, strict=True):
        apart = max(float(np.abs(each.y - curves[0].y).max()) for each in curves[1:])
        said = "one and the same line" if apart < 1e-9 else f"up to {100 * apart:.0f} points apart"
        drawn_as = f"{count(m)} negative{'s' * (m > 1)}"
        titles.append(f"<b>{drawn_as}: {said}</b><br>{learn_curves.names(curves)}")
    return learn_curves.changing(
        ranks, [], moving, [count(m) for m in DOWN], titles, DOWN.index(M),
        prefix="m = ", dark=dark, axes=axes, revision="one-negative",
    )  # fmt: skip
