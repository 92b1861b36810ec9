"""Consistency in words: the order that sampling shows, the true one, and when they agree."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampledash.comparison.order import TIED
from sampledash.explain.text import count, percent, tex_count

Floats = NDArray[np.float64]

MOST_NAMED = 4  # systems that a sentence can name one by one
MOST_FLIPS = 6  # flips that a sentence can name one by one
STATES = {  # state -> icon, colour name, sign
    "right": (":material/check_circle:", "green", "✓"),
    "wrong": (":material/cancel:", "red", "⇅"),
    "undecided": (":material/help:", "orange", "?"),
    "tied": (":material/drag_handle:", "gray", "="),
}


def ranking(systems: Sequence[str], means: Sequence[float] | Floats) -> str:
    """Systems from best to worst: ``X > Y = Z``; differences up to 1e-12 are ties.

    Examples
    --------
    >>> ranking(["A", "B", "C"], [0.1, 0.3, 0.1])
    'B > A = C'
    """
    order = sorted(range(len(systems)), key=lambda i: -means[i])
    if len(order) > MOST_NAMED:
        order = order[:MOST_NAMED]
    parts = [systems[order[0]]]
    for before, now in pairwise(order):
        sign = "=" if abs(means[before] - means[now]) <= TIED else ">"
        parts.append(f"{sign} {systems[now]}")
    return " ".join(parts) + (" > …" if len(systems) > MOST_NAMED else "")


def overall(states: Sequence[str]) -> str:
    """One state for several pairs: the worst of them.

    Examples
    --------
    >>> overall(["right", "tied"]), overall(["tied"]), overall(["right", "wrong"])
    ('right', 'tied', 'wrong')
    """
    for state in ("wrong", "undecided", "right"):
        if state in states:
            return state
    return "tied"


def sentence(
    metric: str,
    m: int,
    systems: Sequence[str],
    exact: Sequence[float] | Floats,
    sampled: Sequence[float] | Floats,
    verdict: pd.DataFrame,
    m_max: int,
) -> str:
    """The verdict on one metric in at most 25 words.

    Parameters
    ----------
    metric, m, systems
        What is compared, as text, a number and names.
    exact, sampled
        Means of the systems on all items and expected with m negatives.
    verdict
        Rows of the verdict for this metric, one per pair.
    m_max
        Largest m looked at.
    """
    shown, true = ranking(systems, sampled), ranking(systems, exact)
    start = f"At m = {count(m)} {metric} ranks {shown}"
    body = "as it does on all items" if shown == true else f"on all items it is {true}"
    glue = ", " if shown == true else "; "
    return f"{start}{glue}{body}. {settled(verdict, m_max)}"


def settled(verdict: pd.DataFrame, m_max: int) -> str:
    """From which m all pairs are in their true order."""
    ordered = verdict[verdict["state"] != "tied"]
    if not len(ordered):
        return "Nothing to order: the exact values are equal."
    if ordered["right_from"].isna().any():
        return f"Not right for every m up to {count(m_max)}."
    last = int(ordered["right_from"].max())
    return "Right from m = 1." if last == 1 else f"Right from m = {count(last)}."


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
    named = [count(m) for m in ms]
    listed = named[0] if len(named) == 1 else ", ".join(named[:-1]) + f" and {named[-1]}"
    return f"{first} and {second} change order at m = {listed}."


def tile(state: str, right_from: int | None) -> str:
    """Text of a tile: sign, state and from which m it is right."""
    sign = STATES[state][2]
    if state == "tied":
        return f"{sign} tied"
    end = "not right at the end" if right_from is None else f"right from {count(right_from)}"
    return f"{sign} {state}<br><span style='font-size:12px'>{end}</span>"


def leaders(edges: NDArray[np.int64], systems: Sequence[str], shares: Floats) -> str:
    """Who has most relevant items in the first and in the last stretch of ranks."""

    def most(row: Floats) -> str:
        if row.max() == 0:
            return "none"
        return f"{systems[int(np.argmax(row))]} ({percent(float(row.max()))})"

    first, last = f"1 to {count(edges[0])}", f"{count(edges[-2] + 1)} to {count(edges[-1])}"
    if edges[0] == 1:
        first = "1"
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
