"""A counterexample in words."""

from __future__ import annotations

from sampledash.comparison import expected_mean, mean
from sampledash.dashboard.learn.words_order import CHIPS
from sampledash.ranksets import RankSet
from sampledash.report.numbers import count, percent

ASK = "Find me a counterexample for {metric} with"


def size(m: int) -> str:
    """A number of negatives, on a button."""
    return f"{count(m)} negatives"


def chip(metric: str) -> str:
    """The metric as the other pages write it."""
    return CHIPS[metric]


def told(metric: str, m: int, found: tuple[RankSet, RankSet]) -> str:
    """Two rank sets, and how sampling exchanges them."""
    parts = []
    for rs in found:
        sampled = expected_mean(metric, rs, m, scheme="without-replacement")
        ranks = ", ".join(count(r) for r in rs.ranks)
        parts.append(
            f"**{rs.system}** at ranks {ranks}: {percent(mean(metric, rs))} on all items, "
            f"{percent(sampled)} with {count(m)} negatives"
        )
    return "; ".join(parts) + "."


def none(metric: str, m: int) -> str:
    """There is none."""
    return (
        f"There is none for {metric} with {count(m)} negatives: every order is kept in expectation."
    )


def typed(found: tuple[RankSet, RankSet]) -> str:
    """The two as they are typed on the Consistency page."""
    lines = [f"n = {int(found[0].n.max())}"]
    lines += [f"{rs.system}: {', '.join(str(r) for r in rs.ranks.tolist())}" for rs in found]
    return "\n".join(lines)
