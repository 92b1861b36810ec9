"""The first page in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sampledash.report.numbers import count
from sampledash.report.sentences import negatives, ranking
from sampledash.types import Floats

_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
# Page, name, icon, and what is behind the door.
DOORS = (
    (
        "explore",
        "Explore",
        ":material/show_chart:",
        "What does sampling do to a metric? Move n, m, k and watch it change.",
    ),
    (
        "consistency",
        "Check my ranks",
        ":material/rule:",
        "Is my comparison right? Upload ranks; get the verdict for every pair.",
    ),
    (
        "correct",
        "Correct",
        ":material/build:",
        "Only sampled ranks left? See what can be repaired, and what cannot.",
    ),
)

LAB = "Only ratings or clicks? Upload them, train recommenders, and see whether a sample misleads"


def number(value: int) -> str:
    """A small number as a word."""
    return _NUMBERS[value] if value < len(_NUMBERS) else count(value)


def headline(systems: Sequence[str], exact: Floats, sampled: Floats, m: int) -> str:
    """What sampling does to the order, as a headline."""
    best, size = np.argmax(sampled), number(len(systems))
    said = "the order is wrong"
    if ranking(systems, sampled) == ranking(systems, exact):
        said = "the order is right"
    elif best == np.argmin(exact):
        said = f"the worst of {size} looks best"
    elif best != np.argmax(exact):
        said = f"the best of {size} does not look best"
    return f"With {negatives(m)} {said}"


def about(metric: str, fewest: int, most: int, right_from: int) -> str:
    """What is drawn, and what to do."""
    return (
        f"{metric} of three recommenders on MovieLens 1M, {count(fewest)} to {count(most)} "
        "candidate movies a user; each side on its own scale. "
        f"**Move m: the order is right from m\u00a0=\u00a0{count(right_from)}.**"
    )
