"""Sentences of the Consistency page about the sampled and the true order of systems."""

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from sampledash.analyses.consistency.result import Focus
from sampledash.comparison.order import TIED
from sampledash.report.escape import system_name
from sampledash.report.numbers import count, span, tex_count
from sampledash.report.templates import Sentences, texts
from sampledash.types import Floats, Ints

# A flip is an m (number of negatives) at which two systems change order. A sentence lists at most
# this many flips.
MOST_FLIPS = 6
STATES = {  # verdict on the sampled order of two systems -> icon, colour name, sign
    "right": ("check_circle", "green", "✓"),
    "wrong": ("cancel", "red", "⇅"),
    "undecided": ("help", "orange", "?"),
    "tied": ("drag_handle", "gray", "="),
}
TEXTS = texts(Path(__file__).with_suffix(".txt"))
say = Sentences(Path(__file__).with_suffix(".jinja"), MOST_FLIPS=MOST_FLIPS, TIED=TIED)
OWN = "Dot: every system is ranked against negatives of its own, as in the paper. "


def flip_list(text: str) -> str:
    """Format the m at which the order of two systems changes: ``"11 970"`` becomes ``11 · 970``.

    Examples
    --------
    >>> flip_list(""), flip_list("11 1970"), flip_list("1 2 3 4 5 6 7")
    ('never', '11 · 1,970', '7 times, last at 7')
    """
    ms = text.split()
    if len(ms) > MOST_FLIPS:
        return f"{len(ms)} times, last at {count(int(ms[-1]))}"
    return " · ".join(count(int(m)) for m in ms) or "never"


def tile(
    state: str, right_from: int | None, m_max: int, *, narrow: bool = False, tight: bool = False
) -> str:
    """Return the text of a tile, which says whether the sampled order of two systems is right.

    The text is a sign, the verdict ``state``, such as "wrong", and the m from which the order is
    right. If this m, ``right_from``, is None, the text says "not by ``m_max``". If the order is
    undecided, only the order of the expected means is right. A ``narrow`` tile has only the sign
    and the number or a dash. A ``tight`` tile shows only these on a phone.
    """
    return say.tile(STATES[state][2], state, right_from, m_max, narrow, tight)


def leaders(edges: Ints, systems: Sequence[str], shares: Floats) -> str:
    """Return sentences: which systems have most relevant items at the first and the last ranks?

    The ranks are divided into ranges. ``edges`` holds the last rank of each range; ``shares``, of
    shape (ranges, systems), holds the share of a system's relevant items in the range.
    """
    ranks = span(1, edges[0]), span(edges[-2] + 1, edges[-1])
    best = [(systems[int(np.argmax(row))], float(row.max())) for row in (shares[0], shares[-1])]
    return say.leaders([(stretch, *most) for stretch, most in zip(ranks, best, strict=True)])


def scatter_note(means: Sequence[float], stds: Sequence[float]) -> str:
    """Return a sentence: do repeated runs agree on an order of the systems, right or wrong?

    ``means`` and ``stds`` are the systems' expected mean metrics and their standard deviations over
    runs. Runs agree if the smallest difference of two means is more than three times the largest
    standard deviation.
    """
    gaps = np.abs(np.subtract.outer(means, means))[np.triu_indices(len(means), 1)]
    largest = float(max(stds)) if len(stds) else 0.0
    return say.scatter_note(largest, len(gaps) > 0 and 3 * largest < gaps.min())


def formula(metric: str, m: int, size: float) -> list[str]:
    """Return the definition of a consistent metric (eq. 14 of Krichene & Rendle): lines of TeX.

    The last line gives the values of M, |D| and m; ``size`` is |D|, the number of instances.
    """
    mean = r"\frac{1}{|D|}\sum_{x \in D} M(%s)"
    exact = " > ".join(mean % f"R({name},x)" for name in "AB")
    sampled = " > ".join(r"E\Big[" + mean % rf"\tilde R({name},x)" + r"\Big]" for name in "AB")
    return [
        exact,
        rf"\iff {sampled}",
        rf"M = \text{{{metric}}},\quad |D| = {tex_count(size)},\quad m = {tex_count(m)}",
    ]


def tied(focus: Focus) -> str:
    """Return a sentence that the two chosen systems have equal exact metrics; "" if they differ."""
    return say.tied(*focus.ordered(focus.pair, system_name)) if focus.tied else ""


def one_list(focus: Focus) -> str:
    """Return a sentence on a run in which all instances share one list of negatives.

    Raise ValueError if the distribution of the mean metrics in such a run is not known.
    """
    first, second = focus.one_lists()
    names, ahead = focus.ordered(focus.pair, system_name), first.ahead_of(second)
    ends = [first.interval(), second.interval()]
    return say.one_list(focus.metric, focus.result.m, *names, *ends, () if focus.tied else ahead)


def over_instances(focus: Focus, tests: pd.DataFrame, place: int = 0) -> str:
    """Return a sentence: is the difference of two systems significant?

    The two systems are those of the pair with index ``place``.
    """
    row, names = focus.rows(tests).iloc[place], focus.ordered(focus.pairs[place], system_name)
    if place == 0 and focus.tied:
        return tied(focus)
    return say.anything_to_order(*names, *row[["difference", "interval", "p_holm"]], len(tests))


def weakest_order(focus: Focus, tests: pd.DataFrame) -> str:
    """Return sentences: how many differences are not significant, and the largest p-value."""
    p = focus.rows(tests)["p_holm"].to_numpy()
    weakest = over_instances(focus, tests, int(p.argmax()))
    return say.weakest_order(some_systems(focus), int((p > 0.05).sum()), len(p), weakest)


def needed(value: int) -> str:
    """Format how many negatives or instances are needed; <NA> means that no number is enough."""
    return "not reachable" if pd.isna(value) else count(value)


def marked_flips(focus: Focus, x: int, name: Callable[[str], str] = str) -> str:
    """Return a sentence on the numbers of negatives m at which the two chosen systems change order.

    ``x`` is the index of the metric; ``name`` formats the names of the systems.
    """
    r = focus.result
    i, j, _ = r.truths[x][focus.pair]
    right = r.rights[x, focus.pair]
    late = int(right) if np.isfinite(right) else None
    flips, looked_to = r.orders.flips(i, j, x), None if r.every_m and not r.capped else r.m_max
    return say.flips(name(r.systems[i]), name(r.systems[j]), flips, late, looked_to)


def some_systems(focus: Focus) -> str:
    """Return a sentence on which systems the page's tabs analyse, or "" if they analyse all."""
    return say.some_systems(len(focus.systems), len(focus.result.systems))
