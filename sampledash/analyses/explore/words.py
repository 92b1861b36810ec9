"""Explore in words: what sampling does to a metric at one rank, and why."""

from __future__ import annotations

from pathlib import Path

from sampledash.metrics import Metric
from sampledash.report.numbers import SAME, count, decimal, equals, percent
from sampledash.report.sentences import drawn
from sampledash.report.templates import inline, template
from sampledash.sampling import Sampling


def sentence(metric: Metric, rank: int, sampling: Sampling, exact: float, mean: float) -> str:
    """The page in at most 25 words."""
    start = f"{drawn(sampling)}, rank {count(rank)} scores {metric} {equals(mean)}"
    if abs(exact - mean) < SAME:
        return f"{start} in expectation, the same as on all items."
    return f"{start} in expectation; on all items {percent(exact)}."


def looks_like(metric: Metric, rank: int, sampling: Sampling) -> str:
    """What happens to the rank: how many of the items above are drawn."""
    above = rank - 1
    if above == 0:
        return "Nothing is ranked above rank 1, so every sample shows it at rank 1."
    share = float(sampling.share_above(rank))
    items = f"{count(above)} items above" if above > 1 else "1 item above"
    if sampling.design.distinct and sampling.m == sampling.n - 1:
        return f"The sample holds every one of the {items}: nothing is lost."
    drawn = sampling.drawn * share
    start = (
        f"Of the {items}, on average {decimal(drawn)} enter the sample, so true rank "
        f"{count(rank)} looks like rank {decimal(1 + drawn)}."
    )
    if metric.linear or metric.share is not None:
        which = "the same" if not sampling.design.weighted else "another"
        return f"{start} As a share of the list that is {which}, and {metric} looks at the share."
    return f"{start} The metric is then taken at a rank that is too good."


def formula(metric: Metric, rank: int, sampling: Sampling, exact: float, mean: float) -> list[str]:
    """The steps from the true rank to the expected sampled metric, as TeX with the numbers."""
    above, below = (float(x) for x in sampling.weights(rank))
    numbers = {"n": sampling.n, "m": sampling.m, "rank": rank, "above": above, "below": below}
    numbers |= {"share": float(sampling.share_above(rank)), "drawn": sampling.drawn}
    law = inline(sampling.design.law).render(numbers)
    steps = template(Path(__file__).with_name("formula.tex.jinja")).render(
        numbers, law=law, design=sampling.design, metric=metric, exact=exact, mean=mean
    )
    return steps.splitlines()


def source(metric: Metric) -> str:
    """Where the formulas come from."""
    steck = "Steck, Training and Testing of Recommender Systems, KDD 2010, eq. 1-5; "
    rendle = "Krichene & Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, eq. 7-19."
    return (steck if metric.of_others else "") + rendle


def one_draw(metric: Metric, above: int, sampling: Sampling) -> str:
    """One sample, counted: negatives above, sampled rank, value."""
    m, seen = sampling.m, above + 1
    value = float(metric.of_above(above, m)) * metric.scale(1)
    if above == 0:
        start = f"None of the {count(m)} drawn negatives is ranked above the item"
    elif m == 1:
        start = "The one drawn negative is ranked above the item"
    else:
        verb = "is" if above == 1 else "are"
        start = f"{count(above)} of the {count(m)} drawn negatives {verb} ranked above the item"
    return f"{start}: **sampled rank {count(seen)}**, {metric} {equals(value)}."


def many_draws(metric: Metric, mean_drawn: float, expected: float, draws: int) -> str:
    """How far the average of the draws is from the expectation."""
    return (
        f"Over {count(draws)} draws {metric} averages {percent(mean_drawn)}; "
        f"its expectation is {percent(expected)}."
    )


def law(metric: Metric, rank: int, sampling: Sampling, p: list[float]) -> str:
    """What the law of the sampled rank says about the metric."""
    k = metric.cut(sampling.m) or 1
    chance = min(1.0, sum(p[:k]))
    place = "at the top" if k == 1 else f"among the first {count(k)}"
    return (
        f"True rank {count(rank)} of {count(sampling.n)} appears {place} of "
        f"{count(sampling.m + 1)} with probability {percent(chance)}."
    )


def turned_round(seen: int, low: int, high: int) -> str:
    """What one sampled rank says about the true one: a 90 % interval."""
    return (
        f"Sampled rank {count(seen)} says: the true rank lies in {count(low)} to {count(high)} "
        "with 90 % probability, if every rank is equally likely beforehand."
    )


def family(metric: Metric, rank: int, values: dict[int, float], exact: float) -> str:
    """How the expected value at one rank moves with m."""
    steps = ", ".join(f"{percent(v)} with m = {count(m)}" for m, v in values.items())
    return f"{metric} of rank {count(rank)}: {steps}; on all items {percent(exact)}."


def picture(metric: Metric, rank: int, sampling: Sampling, exact: float, mean: float) -> str:
    """The big picture for a screen reader."""
    return (
        f"{metric} against the true rank of the relevant item, n = {count(sampling.n)}: exact and "
        f"expected with m = {count(sampling.m)} sampled negatives. At rank {count(rank)} exact "
        f"{percent(exact)}, sampled {percent(mean)}."
    )
