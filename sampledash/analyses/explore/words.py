"""Sentences of the Explore page: what sampling does to a metric at one rank, and why."""

from pathlib import Path

from sampledash.catalogue import Catalogue, Drawing
from sampledash.metrics import Metric
from sampledash.report import sentences
from sampledash.report.numbers import SAME
from sampledash.report.templates import Sentences, inline, template

say = Sentences(Path(__file__).with_suffix(".jinja"))


def sentence(metric: Metric, rank: int, sampling: Drawing, *values: float) -> str:
    """Return a sentence of at most 25 words on a metric at one true rank, exact and sampled.

    ``values`` are the exact metric, the expected sampled metric and the further values that the
    method ``at_rank`` of the page's result returns.
    """
    if isinstance(sampling, Catalogue):
        return say.by_popularity(metric, rank, sampling, *values)
    exact, mean = values[:2]
    start = sentences.say.drawn(sampling)
    return say.sentence(metric, rank, start, exact, mean, same=abs(exact - mean) < SAME)


def looks_like(metric: Metric, rank: int, sampling: Drawing) -> str:
    """Return sentences on the expected sampled rank of an item, and on the metric at this rank."""
    drawn = sampling.drawn * float(sampling.share_above(rank))
    return say.looks_like(metric, rank, sampling, drawn, metric.linear or metric.share is not None)


def formula(metric: Metric, rank: int, sampling: Drawing, exact: float, mean: float) -> list[str]:
    """Return lines of TeX that compute the expected sampled metric from the true rank."""
    above, below = (float(x) for x in sampling.weights(rank))
    numbers = {"n": sampling.n, "m": sampling.m, "rank": rank, "above": above, "below": below}
    if isinstance(sampling, Catalogue):
        numbers["top"] = sampling.bestsellers * (rank - 1)
    numbers |= {"share": float(sampling.share_above(rank)), "drawn": sampling.drawn}
    law = inline(sampling.design.law).render(numbers)
    steps = template(Path(__file__).with_name("formula.tex.jinja")).render(
        numbers, law=law, design=sampling.design, metric=metric, exact=exact, mean=mean
    )
    return steps.splitlines()


def one_draw(metric: Metric, above: int, sampling: Drawing) -> str:
    """Return a sentence on the sampled rank and the metric in one sample of negatives.

    ``above`` is the number of its negatives that rank above the relevant item.
    """
    value = float(metric.of_above(above, sampling.m)) * metric.scale(1)
    return say.one_draw(metric, above, sampling.m, value)


def law(metric: Metric, rank: int, sampling: Drawing, p: list[float]) -> str:
    """Return a sentence on the chance that the sampled rank is within the metric's cutoff.

    For a metric without a cutoff, the sentence is on the chance of sampled rank 1. ``p`` holds the
    probabilities of the sampled ranks 1, 2, ...
    """
    k = metric.cut(sampling.m) or 1
    return say.law(rank, sampling, k, min(1.0, sum(p[:k])))
