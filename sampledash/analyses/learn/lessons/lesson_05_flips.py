"""Lesson 5: sampling can reverse the order of two systems."""

from typing import Any

import numpy as np

import sampledash as sd
from sampledash.analyses import sliding, theme
from sampledash.analyses.learn.lesson import CHIPS, WITHOUT, Link, M, N, Numbers, order
from sampledash.analyses.sliding import Curve
from sampledash.grids import m_grid
from sampledash.papers.krichene import WITH
from sampledash.readers.files import EXAMPLES
from sampledash.report.numbers import count, percent
from sampledash.report.sentences import negatives, ranking

LOOKS = ("AP", "NDCG", "Recall@10", "AUC")
TABLE_M = 99  # number of sampled negatives in Table 2 of Krichene & Rendle
VISITED = (1, 2, 5, 10, 20, 50, 99, 150, 200, 300, 500, 1000, 2000, 3000, 5000, 9999)


def numbers(variant: str) -> Numbers:
    sets, ap = sd.example("paper-abc"), sd.parse_metric("AP")
    names, n = [rs.system for rs in sets], int(sets[0].n.max())
    exact, sampled = _means(variant)
    exact_ap, sampled_ap = _means("AP")
    places = np.array([sets[2].ranks.min(), sets[0].ranks.max()])
    worth = [ap(places, n), np.asarray(sd.expected(ap, places, sd.Sampling(n, TABLE_M, WITH)))]
    true, shown = order(names, exact), order(names, sampled)
    flipped = sd.counterexample("Recall@10", sd.Sampling(N, M, WITHOUT)) or ()
    ap_texts = {
        f"ap_{name}": f"{percent(s)} on the sample, {percent(e)} on all items"
        for name, s, e in zip(names, sampled_ap, exact_ap, strict=True)
    }
    return ap_texts | {
        "n": n,
        "m": TABLE_M,
        "ranks": "; ".join(f"**{rs.system}**: {_ranks(rs.ranks)}" for rs in sets),
        "right": names[int(np.argmax(sampled_ap))],
        "best_C": places[0],
        "worst_A": places[1],
        "worth": worth[0][0] / worth[0][1],
        "sampled_worth": worth[1][0] / worth[1][1],
        "metric": variant,
        "chip": CHIPS[variant],
        "sampled": _named(sampled),
        "sampled_order": shown,
        "end": "as on all items" if shown == true else f"on all items {true}",
        "tex_sampled": _tex(sampled),
        "tex_exact": _tex(exact),
        "source": EXAMPLES["paper-abc"].title,
        "exact_ap": _named(exact_ap),
        "exact_ap_order": order(names, exact_ap),
        "pair": " and ".join(f"{rs.system} at ranks {_ranks(rs.ranks)}" for rs in flipped),
    }


def _means(metric: str) -> tuple[list[float], list[float]]:
    """Return the exact and the expected sampled mean metric of each of the systems A, B and C."""
    sets = sd.example("paper-abc")
    sampled = [sd.expected_mean(metric, x, TABLE_M, scheme=WITH) for x in sets]
    return [sd.mean(metric, x) for x in sets], sampled


def _ranks(ranks: np.ndarray) -> str:
    return ", ".join(count(r) for r in ranks)


def _named(values: list[float]) -> str:
    return ", ".join(f"{name} {percent(v)}" for name, v in zip("ABC", values, strict=True))


def _tex(values: list[float]) -> str:
    return r",\quad ".join(f"{name} = {v:.3f}" for name, v in zip("ABC", values, strict=True))


def picture(variant: str, revealed: bool, dark: bool) -> theme.Picture:
    """Draw the exact metric of the systems A, B and C or, if ``revealed``, the sampled metric.

    The sampled metric is drawn as its expected value over m, the number of negatives, as in
    Figure 2 of Krichene & Rendle.
    """
    sets, (exact, _) = sd.example("paper-abc"), _means(variant)
    names, m_max = [rs.system for rs in sets], int(sets[0].n.max()) - 1
    grid = m_grid(m_max, VISITED)
    means = sd.curve(variant, sets, grid.tolist(), scheme=WITH).to_numpy()
    curves = [
        Curve(name, means[:, place], theme.system_line(place, dark) | {"width": 3.5})
        for place, name in enumerate(names)
    ]
    if not revealed:
        title = sliding.live(curves, exact, f"{variant} on all items")
        return sliding.truths(variant, names, exact, 1.1 * max(exact), title, dark)
    says = {}
    for m, values in zip(grid.tolist(), means.tolist(), strict=True):
        if m in VISITED:
            shown = ranking(names, values)
            sign = "✓" if shown == ranking(names, exact) else "⇅"
            says[m] = f"{sign} {negatives(m)}: {shown}"
    thin = theme.exact_line(dark, 1.2)
    known = zip(names, exact, strict=True)
    beside = [Curve(f"{name} on all", np.full(len(grid), value), thin) for name, value in known]
    layout: dict[str, Any] = {"beside": beside, "dark": dark}
    layout["xaxis"] = theme.rank_axis(m_max, title="m, negatives", most=5)
    layout["yaxis"] = theme.percent_axis(100 * max(float(means.max()), *exact))
    return sliding.along(grid, curves, says, TABLE_M, **layout)


def _counterexample(metric: str, m: int) -> tuple[str, Link | None]:
    """Return a sentence on two rank sets that sampling orders wrongly, and a link to them.

    If there are no such rank sets, the link is None.
    """
    flipped = sd.counterexample(metric, sd.Sampling(N, m, WITHOUT))
    if flipped is None:
        none = f"There is none for {metric} with {negatives(m)}"
        return f"{none}: every order is kept in expectation.", None
    parts = [
        f"**{rs.system}** at ranks {_ranks(rs.ranks)}: "
        f"{percent(sd.mean(metric, rs))} on all items, "
        f"{percent(sd.expected_mean(metric, rs, m, scheme=WITHOUT))} with {negatives(m)}"
        for rs in flipped
    ]
    typed = [f"{rs.system}: {', '.join(map(str, rs.ranks.tolist()))}" for rs in flipped]
    ranks = "\n".join([f"n = {int(flipped[0].n.max())}", *typed])
    query = {"source": "Paste ranks", "ranks": ranks, "m": str(m), "metrics": CHIPS[metric]}
    return f"{'; '.join(parts)}.", Link("consistency", query, "Check these two in Consistency")


OFFER = "Find me a counterexample for {look} with", (10, 100, 1_000, 5_000), _counterexample
