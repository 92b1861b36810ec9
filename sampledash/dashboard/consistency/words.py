"""Consistency in words: the order that sampling shows, the true one, and when they agree."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampledash.dashboard.words import negatives, ranking
from sampledash.report.numbers import count, in_runs, percent, tex_count
from sampledash.types import Floats

MOST_FLIPS = 6  # flips that a sentence can name one by one
STATES = {  # state -> icon, colour name, sign
    "right": (":material/check_circle:", "green", "✓"),
    "wrong": (":material/cancel:", "red", "⇅"),
    "undecided": (":material/help:", "orange", "?"),
    "tied": (":material/drag_handle:", "gray", "="),
}


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


def metric_name(metric: str, correction: str = "uncorrected") -> str:
    """A metric and what is done to it: ``Recall@10 (CLS)``."""
    return metric if correction == "uncorrected" else f"{metric} ({correction})"


def sentence(
    metric: str,
    m: int,
    systems: Sequence[str],
    exact: Sequence[float] | Floats,
    sampled: Sequence[float] | Floats,
    verdict: Sequence[Mapping[str, Any]],
    m_max: int,
) -> str:
    """The verdict on one metric and up to three systems, in at most 25 words.

    Parameters
    ----------
    metric, m, systems
        What is compared, as text, a number and names.
    exact, sampled
        Means of the systems on all items and expected with m negatives.
    verdict
        Rows of the verdict for this metric, one per pair, names as in ``systems``; ``right_from``
        is None where there is no such m.
    m_max
        Largest m looked at.
    """
    shown, true = ranking(systems, sampled), ranking(systems, exact)
    start = f"With {negatives(m)} {metric}"
    if shown != true:
        return f"{start} ranks {shown}; on all items {true}. {settled(verdict, m_max)}"
    ordered = [row for row in verdict if row["state"] == "undecided"]
    if ordered:
        row = min(ordered, key=lambda row: float(row["probability"]))
        pair = f"{row['better']} > {row['worse']}"
        return (
            f"{start} rightly ranks {shown}; one run shows {pair} in {in_runs(row['probability'])}."
        )
    return f"{start} ranks {shown}, as it does on all items. {settled(verdict, m_max)}"


def sentence_of_many(
    metric: str,
    m: int,
    better: str,
    worse: str,
    states: Mapping[str, int],
    state: str,
    ahead: bool,
    probability: float,
    right_from: int | None,
    m_max: int,
) -> str:
    """The verdict on one metric and many pairs, in at most 25 words: the worst pair and a count.

    Parameters
    ----------
    metric, m
        As text, and a number.
    better, worse
        Names of the worst pair.
    states
        How many pairs are in each state.
    state, ahead, probability
        Of the worst pair: its state, whether the better one is ahead in expectation, and the
        chance that one run shows that.
    right_from, m_max
        From which m every pair is right (None: not all are), and the largest m looked at.
    """
    pairs = count(sum(states.values()))
    total = f"{count(states[state])} of {pairs} pairs"
    start = f"With {negatives(m)} {metric}"
    settles = (
        f"not right even at {count(m_max)}"
        if right_from is None
        else f"right from m = {count(right_from)}"
    )
    if state == "tied":
        return "Nothing to order: the exact values are equal."
    if state == "right":
        return f"{start} ranks all {pairs} pairs as on all items: {settles}."
    if not ahead:
        return (
            f"{start} ranks {worse} above {better}; on all items {better} wins. "
            f"{total} {state}, {settles}."
        )
    return (
        f"{start} rightly ranks {better} above {worse}; one run shows it in "
        f"{in_runs(probability)}. {total} undecided."
    )


def settled(verdict: Sequence[Mapping[str, Any]], m_max: int) -> str:
    """From which m all pairs are in their true order."""
    right = [row["right_from"] for row in verdict if row["state"] != "tied"]
    if not right:
        return "Nothing to order: the exact values are equal."
    if None in right:
        return f"Not right even at {count(m_max)}."
    return f"Right from m = {count(max(right))}."


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
    named = [count(m) for m in ms]
    listed = named[0] if len(named) == 1 else ", ".join(named[:-1]) + f" and {named[-1]}"
    return f"{first} and {second} change order at m = {listed}."


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
        return f"{sign}<br><span style='font-size:12px'>{end}</span>"
    end = f"not by {count(m_max)}" if right_from is None else f"right from {count(right_from)}"
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
