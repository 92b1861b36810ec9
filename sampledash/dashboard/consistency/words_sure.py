"""How sure an order is, in words: one run, other instances, and what would be needed."""

from __future__ import annotations

import math

from sampledash.report import numbers as text
from sampledash.report.numbers import count

OWN = "Dot: every system is ranked against negatives of its own, as in the paper. "
SHARED = (
    "Bar: both are ranked against the same negatives; how often they then gain together is not in "
    "the ranks, so they leave bounds, with room for ties and skewness where instances are few."
)
REDRAWN = (
    "Difference: on all items. Interval and p: other instances of the same kind, same true ranks "
    "(paired by instance where the file tells); Holm: p corrected for the number of pairs. "
    "Redrawn: the chance that a run with new instances and new negatives shows the order."
)
REPEATED = (
    "Repetitions of an instance count here as instances of their own: the intervals are too narrow "
    "and p too small; keep one seed to test. "
)
NO_COUNTEREXAMPLE = (
    "**No two sets of ranks flip under AUC.** Its expected sampled value is its exact value, at "
    "every m: a negative is as likely to be above the relevant item on the sample as among all "
    "items. AUC is the one metric here that sampling leaves consistent; other metrics weigh the "
    "top, which a sample cannot see."
)
NONE = (
    "**No ranks flip under {metric} here**: with these negatives its expected value follows the "
    "exact one in a straight line, so the means keep their order."
)


def one_run(better: str, worse: str, m: int, chance: float, low: float, high: float) -> str:
    """What one evaluation says about a pair."""
    said = (
        f"One evaluation with {count(m)} negative{'s' * (m != 1)} shows {better} ahead of {worse} "
        "with a chance "
        f"of **{text.in_runs(chance)}**"
    )
    if not math.isfinite(low):
        return said + "."
    if text.in_runs(low) == text.in_runs(high):
        return said + ", also with shared negatives."
    return said + f"; with shared negatives between {text.in_runs(low)} and {text.in_runs(high)}."


def tied(first: str, second: str) -> str:
    """Of a pair that the exact metric ties."""
    return f"{first} and {second} have the same exact value: there is no order to show."


def anything_to_order(
    better: str, worse: str, difference: float, low: float, high: float, p: float, pairs: int
) -> str:
    """Whether a pair differs by more than other instances would."""
    size = (
        f"{better} is ahead of {worse} by {points(difference)} "
        f"(95 % interval {points(low, unit=False)} to {points(high)})"
    )
    after = f"p = {p_value(p)}" + (f" after Holm over {pairs} pairs" if pairs > 1 else "")
    if p <= 0.05:
        return f"**There is something to order**: {size}; {after}."
    return f"**Nothing to order beyond chance over instances**: {size}; {after}."


def points(value: float, *, unit: bool = True) -> str:
    """A difference of shares, in percentage points."""
    said = f"{100 * value:.2f}".replace("-", "−")
    return said + (" points" if unit else "")


def p_value(value: float) -> str:
    """A p-value; something positive never reads as zero."""
    if not math.isfinite(value):
        return "–"
    return "< 0.0001" if value < 5e-5 else f"{value:.4f}"


def plan(
    better: str, worse: str, probability: float, m: int, needed: int | None,
    instances: int | None, has: float,
) -> str:  # fmt: skip
    """What it takes to see the order of a pair."""
    start = f"To show {better} ahead of {worse} in {100 * probability:.0f} % of runs: "
    if needed is None and instances is None:
        return (
            f"{start}not reachable for good, neither with the negatives looked at nor with more "
            f"instances at m = {count(m)}."
        )
    more = (
        "no number of negatives looked at is enough for good"
        if needed is None
        else f"**{count(needed)} negatives** with these {count(has)} instances"
    )
    other = (
        f"with {count(m)} negatives no number of instances is enough"
        if instances is None
        else f"**{count(instances)} instances** with {count(m)} negatives"
    )
    return f"{start}{more}{', or' if instances is not None else ';'} {other}."


def repeated(better: str, worse: str, seen: float, runs: int, exact: float) -> str:
    """How often the runs showed the true order, and how often they should."""
    return (
        f"{count(round(seen * runs))} of {count(runs)} runs show {better} ahead of {worse} "
        f"({text.percent(seen)}); the exact chance is {text.in_runs(exact)}."
    )


def counterexample(first: str, second: str, metric: str, m: int) -> str:
    """What the smallest counterexample shows."""
    return (
        f"On all items {first} is ahead of {second} by {metric}; with {count(m)} sampled negatives "
        f"{second} is ahead in expectation."
    )
