"""Consistency in words: the order that sampling shows, the true one, and how sure it is."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from sampledash.analyses.consistency.result import Focus
from sampledash.correction import Correction
from sampledash.report.escape import system_name
from sampledash.report.numbers import count, in_runs, listed, percent, points, tex_count
from sampledash.report.sentences import negatives
from sampledash.report.templates import texts
from sampledash.types import Floats, Ints

MOST_FLIPS = 6  # flips that a sentence can name one by one
STATES = {  # state -> icon, colour name, sign
    "right": ("check_circle", "green", "✓"),
    "wrong": ("cancel", "red", "⇅"),
    "undecided": ("help", "orange", "?"),
    "tied": ("drag_handle", "gray", "="),
}
TEXTS = texts(Path(__file__).with_suffix(".txt"))
OWN = "Dot: every system is ranked against negatives of its own, as in the paper. "


def looked_at(values: int, m_max: int, capped: bool) -> str:
    """Where the order was evaluated, if not at every m there is; "" if it was."""
    if values:
        return (
            f"Looked at {values} values of m up to {count(m_max)}, "
            "and between where the order changes."
        )
    return f"Every m up to {count(m_max)} is looked at; the data go further." if capped else ""


def flips(first: str, second: str, ms: Sequence[int], right_from: int | None) -> str:
    """Where the order of a pair changes.

    Examples
    --------
    >>> flips("X", "Y", [11, 970], 970)
    'X and Y change order at m = 11 and 970.'
    """
    if not ms:
        return f"{first} and {second} never change order."
    if len(ms) > MOST_FLIPS:
        end = f", settled right from {count(right_from)}" if right_from is not None else ""
        return f"{first} and {second} change order {len(ms)} times{end}."
    return f"{first} and {second} change order at m = {listed(list(map(count, ms)))}."


def flip_list(text: str) -> str:
    """Values of m as a table has them, for reading: ``"11 970"`` becomes ``11 · 970``.

    Examples
    --------
    >>> flip_list(""), flip_list("11 1970"), flip_list("1 2 3 4 5 6 7")
    ('never', '11 · 1,970', '7 times, last at 7')
    """
    ms = text.split()
    if len(ms) > MOST_FLIPS:
        return f"{len(ms)} times, last at {count(int(ms[-1]))}"
    return " · ".join(count(int(m)) for m in ms) or "never"


def tile(state: str, right_from: int | None, m_max: int, *, narrow: bool = False) -> str:
    """Text of a tile: sign, state and from which m it is right; only sign and m in narrow ones.

    ``m_max``: the largest m looked at, by which some are not right.
    """
    sign = STATES[state][2]
    if state == "tied":
        return sign if narrow else f"{sign} tied"
    if narrow:
        end = "–" if right_from is None else count(right_from)
    else:
        end = f"not by {count(m_max)}" if right_from is None else f"right from {count(right_from)}"
        sign = f"{sign} {state}"
    return f"{sign}<br><span style='font-size:12px'>{end}</span>"


def leaders(edges: Ints, systems: Sequence[str], shares: Floats) -> str:
    """Who has most relevant items in the first and in the last stretch of ranks."""

    def most(row: Floats) -> str:
        if row.max() == 0:
            return "none"
        return f"{systems[int(np.argmax(row))]} ({percent(float(row.max()))})"

    first = "1" if edges[0] == 1 else f"1 to {count(edges[0])}"
    last = f"{count(edges[-2] + 1)} to {count(edges[-1])}"
    return f"Most at rank {first}: {most(shares[0])}. Most at rank {last}: {most(shares[-1])}."


def scatter_note(means: Sequence[float], stds: Sequence[float]) -> str:
    """What the scatter says, and what it does not."""
    gaps = np.abs(np.subtract.outer(means, means))[np.triu_indices(len(means), 1)]
    largest = float(max(stds)) if len(stds) else 0.0
    if len(gaps) and largest > 0 and gaps.min() > 3 * largest:
        return "Repeated runs would agree with each other: steady, which does not mean right."
    return "Repeated runs scatter about as much as the systems differ."


def formula(metric: str, m: int, size: float) -> list[str]:
    """The comparison as TeX: eq. 14 with the numbers of the picture."""
    mean = r"\frac{1}{|D|}\sum_{x \in D} M(%s)"
    exact = " > ".join(mean % f"R({name},x)" for name in "AB")
    sampled = " > ".join(r"E\Big[" + mean % rf"\tilde R({name},x)" + r"\Big]" for name in "AB")
    return [
        exact,
        rf"\iff {sampled}",
        rf"M = \text{{{metric}}},\quad |D| = {tex_count(size)},\quad m = {tex_count(m)}",
    ]


def one_run(better: str, worse: str, drawn: str, chance: float, low: float, high: float) -> str:
    """What one evaluation with so many negatives says about a pair."""
    sentence = (
        f"One evaluation with {drawn} shows {better} ahead of {worse} with a chance "
        f"of **{in_runs(chance)}**"
    )
    if not math.isfinite(low):
        return sentence + "."
    if in_runs(low) == in_runs(high):
        return sentence + ", also with shared negatives."
    return sentence + f"; with shared negatives between {in_runs(low)} and {in_runs(high)}."


def tied(focus: Focus) -> str:
    """What is said of the marked pair where the exact metric ties it; else ""."""
    if not focus.tied:
        return ""
    names = " and ".join(focus.ordered(focus.pair, system_name))
    return f"{names} have the same exact value: there is no order to show."


def anything_to_order(
    better: str, worse: str, difference: float, interval: Sequence[float], p: float, pairs: int
) -> str:
    """Whether a pair differs by more than other instances would."""
    size = (
        f"{better} is ahead of {worse} by {points(difference)} "
        f"(95 % interval {bare_points(interval[0])} to {points(interval[1])})"
    )
    after = f"p = {p_value(p)}" + (f" after Holm over {pairs} pairs" if pairs > 1 else "")
    some = "There is something to order"
    start = some if p <= 0.05 else "Nothing to order beyond chance over instances"
    return f"**{start}**: {size}; {after}."


def over_instances(focus: Focus, tests: pd.DataFrame, place: int = 0) -> str:
    """The same of a pair in focus, of which the first is the marked one; from the tests of all."""
    row, names = focus.rows(tests).iloc[place], focus.ordered(focus.pairs[place], system_name)
    if place == 0 and focus.tied:
        return tied(focus)
    return anything_to_order(*names, row["difference"], row["interval"], row["p_holm"], len(tests))


def weakest_order(focus: Focus, tests: pd.DataFrame) -> str:
    """The same of the pair that other instances turn round most easily, and how many they may."""
    p = focus.rows(tests)["p_holm"].to_numpy()
    weak, many = int((p > 0.05).sum()), ""
    if 0 < weak < len(p):
        many = f"Other instances may turn round {weak} of {len(p)} pairs."
    parts = some_systems(focus), many, over_instances(focus, tests, int(p.argmax()))
    return " ".join(filter(None, parts))


def bare_points(value: float) -> str:
    """A difference of shares in percentage points, where these are said beside it."""
    return points(value).removesuffix(" points")


def p_value(value: float) -> str:
    """A p-value; something positive never reads as zero."""
    if not math.isfinite(value):
        return "–"
    return "< 0.0001" if value < 5e-5 else f"{value:.4f}"


def plan(
    better: str,
    worse: str,
    probability: float,
    m: int,
    needed: int | None,
    instances: int | None,
    has: float,
) -> str:
    """What it takes to see the order of a pair."""
    start = f"To show {better} ahead of {worse} in {100 * probability:.0f} % of runs: "
    if needed is None and instances is None:
        return (
            f"{start}not reachable for good, neither with the negatives looked at nor with more "
            f"instances at m = {count(m)}."
        )
    more = "no number of negatives looked at is enough for good"
    if needed is not None:
        more = f"**{negatives(needed)}** with these {count(has)} instances"
    other = f"; with {negatives(m)} no number of instances is enough"
    if instances is not None:
        other = f", or **{count(instances)} instances** with {negatives(m)}"
    return f"{start}{more}{other}."


def repeated(better: str, worse: str, seen: float, runs: int, exact: float) -> str:
    """How often the runs showed the true order, and how often they should."""
    return (
        f"{count(round(seen * runs))} of {count(runs)} runs show {better} ahead of {worse} "
        f"({percent(seen)}); the exact chance is {in_runs(exact)}."
    )


def counterexample(systems: Sequence[str], metric: str, m: int) -> str:
    """What the smallest counterexample shows."""
    first, second = systems
    return (
        f"On all items {first} is ahead of {second} by {metric}; with {negatives(m, 'sampled')} "
        f"{second} is ahead in expectation."
    )


def needed(value: int) -> str:
    """A number that is needed; <NA> where none is enough."""
    return "not reachable" if pd.isna(value) else count(value)


def plus_minus(means: Iterable[float], stds: Iterable[float]) -> list[str]:
    """Means and their scatter, in percent."""
    return [f"{percent(a)[:-2]} ± {percent(b)}" for a, b in zip(means, stds, strict=True)]


def looking(correction: Correction) -> str:
    """What takes its time."""
    return f"Fitting {correction} over m" if correction.kind.fitted else "Looking at every m"


def marked_flips(focus: Focus, x: int, name: Callable[[str], str] = str) -> str:
    """Where the marked pair changes its order by metric x."""
    r = focus.result
    i, j, _ = r.truths[x][focus.pair]
    right = r.rights[x, focus.pair]
    late = int(right) if np.isfinite(right) else None
    return flips(name(r.systems[i]), name(r.systems[j]), r.orders.flips(i, j, x), late)


def some_systems(focus: Focus) -> str:
    """Which systems the tabs look at, if not all."""
    total, here = len(focus.result.systems), len(focus.systems)
    if here == total:
        return ""
    return f"{here} of {count(total)} systems: those of the marked and the worst pairs."
