"""What sampled ranks tell of the real metric, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

import pandas as pd

from sampledash.estimation.bounds import Range, decided
from sampledash.report.escape import short_name
from sampledash.report.numbers import count, gamma, percent
from sampledash.report.sentences import MOST_NAMED, first_named, ranking
from sampledash.sampled_rank_sets import READINGS
from sampledash.sampling import Sampling

# Word of the headline -> icon, colour.
VERDICTS = {
    "decided": (":material/check_circle:", "green"),
    "if falling": (":material/rule:", "orange"),
    "cannot tell": (":material/help:", "gray"),
}
WIDE = (
    "Wide bar: every value for these instances that the data allow at 95 %, without an assumption."
)
NARROW = " Narrow bar: if ranks fall off, that is, no rank is more frequent than a better one."
NO_GAMMA = (
    "Where what was drawn decided m, or may have, no vector corrects the metric: the distribution "
    "of the sampled rank at each m, which it is fitted to, depends on the rule."
)
Reason = Literal["contradicted", "n", "m", "range", "adaptive"]  # why another estimator is shown
DOT = " Dot: the estimate."
TICK = " Upright line: the value on all items, known here."


def printed(instances: int, sampling: Sampling) -> str:
    """What the bars of a printed table are; ``instances`` is 0 where they are not known."""
    off = (
        f"each taken to be off by its rounding and two standard errors over {count(instances)} "
        f"instance{'s' if instances > 1 else ''}"
        if instances
        else "taken as expectations, off by their rounding alone"
    )
    return (
        f"Wide bar: every value that the printed numbers allow, {off}, with {count(sampling.m)} of "
        f"{count(sampling.n - 1)} negatives drawn.{NARROW}"
    )


def contradicts(system: str) -> str:
    """A system without a narrow bar."""
    return f"{system}: these numbers contradict that ranks fall off."


def instead(asked: str, shown: str, why: Reason) -> str:
    """Another estimator than the one that was asked for, and why."""
    how = asked if asked == "side by side" else f"by {asked}"
    reasons = {
        "contradicted": f"These numbers contradict what {asked} assumes",
        "n": f"{asked.capitalize()} takes systems with the same candidates, but n differs",
        "m": f"{asked.capitalize()} takes m to be independent of the rank, but they go together",
        "adaptive": f"What was drawn decided m, or may have, where {asked} is not valid",
        "range": f"Estimated {how}, a system would lie outside its range",
    }
    return f"{reasons[why]}: shown is {'' if shown == 'side by side' else 'the '}{shown}."


def goes_with_rank(systems: Sequence[str], chance: float | None) -> str:
    """What follows where m goes with the rank for some systems.

    ``chance``: of so much dependence if m is independent of the rank; None where the data say that
    what was drawn decided m.
    """
    names = first_named(systems)
    if chance is None:
        return (
            f"The data say that what was drawn decided m ({names}). Only maximum likelihood is "
            "valid then, where the rule cancels; other estimators, and ranges with an assumption, "
            "are left out."
        )
    return (
        f"Items of {names} with more negatives stand unlike those with fewer, as they would less "
        f"often than once in {count(round(1 / max(chance, 1e-6)))} evaluations if m were "
        "independent of the rank: m goes with the rank. "
        "Either m was set beforehand by something that goes with the rank, such as the platform "
        "or how active a user is; or what was drawn decided m, as where more are drawn while "
        "nothing ranks above the item. The sampled ranks cannot tell which. Until you say, ranges "
        "hold in both cases, and estimates are those of maximum likelihood in either."
    )


def by_reading(values: Mapping[str, Sequence[float]], method: str) -> str:
    """Estimates of each system under both explanations of an m that goes with the rank."""
    systems = (
        f"{short_name(name)} " + ", ".join(f"{percent(x)} if {y}" for x, y in pairs)
        for name, pairs in ((n, zip(both, READINGS, strict=True)) for n, both in values.items())
    )
    return f"By {method}: {'; '.join(systems)}."


def repeated(entries: int, instances: int) -> str:
    """Several sampled ranks for one instance."""
    return (
        f"{count(entries)} sampled ranks of {count(instances)} instance{'s' * (instances != 1)}: "
        "those of one instance count as independent in the estimates, not in the ranges."
    )


def few(system: str, instances: float, left_open: float) -> str:
    """What so few instances leave open, in a share."""
    return (
        f"From {count(instances)} sampled rank{'s' * (instances != 1)} of {system} little follows: "
        f"{100 * left_open:.2f} points are left open at 95 %. From hundreds only what m negatives "
        "cannot tell stays open."
    )


def understood(systems: Sequence[str], entries: int) -> str:
    """What was read."""
    names = first_named(systems)
    ranks, many = "s" * (entries != 1), "s" * (len(systems) != 1)
    return f"Read: {count(entries)} sampled rank{ranks} of {len(systems)} system{many}, {names}."


def unlike(metric: str, n: Mapping[str, int], m: Mapping[str, int]) -> Iterator[str]:
    """What to know where candidates ``n`` or negatives ``m`` differ between systems."""
    of_n = f"{metric} is then over different candidate sets, and a difference is not one of the "
    of_m = "uncorrected values are then over candidate sets of different size and do not compare; "
    then = (of_n + "systems alone.", of_m + "ranges and estimates take m into account.")
    for symbol, sizes, follows in zip("nm", (n, m), then, strict=True):
        low, high = (pick(sizes, key=lambda name: sizes[name]) for pick in (min, max))
        if sizes[low] != sizes[high]:
            between = f"from {count(sizes[low])} ({low}) to {count(sizes[high])} ({high})"
            yield f"{symbol} differs, {between}: {follows}"


def told_apart(free: Sequence[Range], falling: Sequence[Range | None]) -> str:
    """Whether ranges decide every pair, and by what: a word of :data:`VERDICTS`."""
    if decided(free) == len(free):
        return "decided"
    return "if falling" if decided(falling) == len(falling) else "cannot tell"


def sentence(
    metric: str,
    word: str,
    systems: Sequence[str],
    values: Sequence[float],
    method: str,
    range_of_first: tuple[float, float],
) -> str:
    """The page in at most 25 words; names and estimates in the order of the data."""
    order = ranking(systems, values)
    if len(systems) == 1:
        return (
            f"{alone(metric, systems[0], range_of_first)} Estimated ({method}): "
            f"{percent(values[0])}."
        )
    if word == "decided":
        return f"{metric} orders {order}, whatever the ranks behind these samples were."
    if word == "if falling":
        return (
            f"{metric} orders {order} if no rank is more frequent than a better one; these samples "
            "alone cannot tell."
        )
    hidden = f" Estimated ({method}): {order}." if len(systems) <= MOST_NAMED else ""
    higher = "higher" if len(systems) == 2 else "highest"
    return f"These samples cannot tell which system has the {higher} {metric}.{hidden}"


def alone(metric: str, system: str, span: tuple[float, float]) -> str:
    """What is known of one system."""
    low, high = map(percent, span)
    where = f"is {low}" if low == high else f"lies between {low} and {high}"
    return f"{metric} of {system} {where}."


def table_sentence(metric: str, word: str, best: str | None) -> str:
    """The same of a printed table of several systems; ``best`` is ahead of all others."""
    if best is not None and word == "decided":
        return f"{best} has the highest {metric}, whatever the ranks were."
    if best is not None:
        return (
            f"{best} has the highest {metric} if no rank is more frequent than a better one; "
            "the table alone cannot tell."
        )
    return f"This table cannot tell which system has the highest {metric} on all items."


def span(low: float, high: float) -> str:
    """A range of differences, in percentage points."""
    return f"{100 * low:+.2f} to {100 * high:+.2f} points".replace("-", "−")


def told(first: str, second: str, low: float, high: float) -> str:
    """What a range of the difference decides."""
    return f"{first} is better" if low > 0 else f"{second} is better" if high < 0 else "cannot tell"


def best_gamma(table: pd.DataFrame, metric: str) -> str:
    """Which γ of the table serves best, and how 1/|D| compares, its first."""
    suggested, best = table.iloc[0], table.iloc[int(table["mse"].argmin())]
    return (
        f"The mean {metric} is off by least, {percent(best['mse'] ** 0.5)}, at γ = "
        f"{best['gamma']:.2g}; at γ = 1/|D| = {suggested['gamma']:.2g} by "
        f"{percent(suggested['mse'] ** 0.5)}."
    )


def price_of_gamma(table: pd.DataFrame) -> str:
    """What the smallest γ of the table costs."""
    smallest = table.iloc[int(table["gamma"].argmin())]
    return (
        "For ranks distributed as estimated here (shape-constrained MLE); vectors fitted to "
        f"equally likely ranks. The price at γ = {gamma(smallest['gamma'])}: a largest entry of "
        f"{smallest['largest']:,.3g} and a condition number of {smallest['condition']:.1e}."
    )


def about_example(users: int, m: int, seed: int) -> str:
    """What the bundled sample is."""
    return (
        f"One run: for each of {count(users)} users {count(m)} negatives drawn from their own "
        f"candidates, seed {seed}. Ranks by three recommenders on MovieLens 1M."
    )


def scores(low: float, high: float) -> str:
    """A range of scores of candidates."""
    return f"{count(round(low))} to {count(round(high))}"


def price(metric: str, system: str, own: tuple[float, float], more: tuple[float, float]) -> str:
    """What stopping when decided costs, as a pilot tells."""
    return (
        f"Stopping when decided, the exact {metric} of {short_name(system)} takes {scores(*own)} "
        f"scores for each of these instances on average, {scores(*more)} for each of many like "
        "them (95 %): the samples leave open who is just beyond the cutoff. How it is done: "
        "Consistency, What to do instead."
    )
