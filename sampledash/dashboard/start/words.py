"""The first page in words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sampledash.dashboard.words import negatives, ranking
from sampledash.report.numbers import count
from sampledash.types import Floats

ALL = "all candidates"
_NUMBERS = ("no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
# Page, name, icon, and what is behind the door.
DOORS = (
    ("explore", "Explore", ":material/show_chart:",
     "What does sampling do to a metric? Move n, m, k and watch it change."),
    ("consistency", "Check my ranks", ":material/rule:",
     "Is my comparison right? Upload ranks; get the verdict for every pair."),
    ("correct", "Correct", ":material/build:",
     "Only sampled ranks left? See what can be repaired, and what cannot."),
)  # fmt: skip


def number(value: int) -> str:
    """A small number as a word."""
    return _NUMBERS[value] if value < len(_NUMBERS) else count(value)


def learn(lessons: int) -> str:
    """The way to the course."""
    return f"Learn it in {number(lessons)} short lessons, one question each"


def headline(systems: Sequence[str], exact: Floats, sampled: Floats, m: int) -> str:
    """What sampling does to the order, as a headline."""
    size, start = number(len(systems)), f"With {negatives(m)}"
    if ranking(systems, sampled) == ranking(systems, exact):
        return f"{start} the order is right"
    if int(np.argmax(sampled)) == int(np.argmin(exact)):
        return f"{start} the worst of {size} looks best"
    if int(np.argmax(sampled)) != int(np.argmax(exact)):
        return f"{start} the best of {size} does not look best"
    return f"{start} the order is wrong"


def step_title(systems: Sequence[str], exact: Floats, sampled: Floats) -> str:
    """The order at one place of the slider, with a sign."""
    shown = ranking(systems, sampled)
    right = shown == ranking(systems, exact)
    return f"{'✓ <b>right</b>' if right else '⇅ <b>wrong</b>'}: {shown}"


def about(metric: str, fewest: int, most: int, right_from: int | None) -> str:
    """What is drawn, and what to do."""
    end = "the order is never right."
    if right_from is not None:
        end = f"the order is right from m\u00a0=\u00a0{count(right_from)}."
    return (
        f"{metric} of three recommenders on MovieLens 1M, {count(fewest)} to {count(most)} "
        f"candidate movies a user; each side on its own scale. **Move m: {end}**"
    )
