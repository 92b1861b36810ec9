"""Intervals where what was drawn decided m: how often they miss, also for the hardest ranks."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from sampledash.estimation import bounds
from sampledash.estimation.confidence import maximum_likelihood, nonnegative, profile_interval
from sampledash.estimation.linear_programme import Columns
from sampledash.metrics import Metric, as_metric
from sampledash.sampledranks import SampledRankSet
from sampledash.types import Floats, Ints
from tests.benchmarks.frame import Result
from tests.estimation.cases import adaptive, falling

N = 3706
RULES = ((100, 3200, 1), (20, 320, 2))
MISSES = 0.07  # share of 95 % intervals that may miss the metric of the instances
HARD = 0.15  # the same for ranks that are chosen against the interval
MANY = 300_000  # instances that stand for infinitely many


def drawn(ranks: Ints, rule: tuple[int, int, int], rng: np.random.Generator) -> SampledRankSet:
    m, above = adaptive((ranks - 1) / (N - 1), rng, *rule)
    return SampledRankSet("A", above + 1, N, m, adaptive=True)


def hardest(
    metric: Metric, mass: Floats, rule: tuple[int, int, int], size: int
) -> list[tuple[Ints, Floats]]:
    """Ranks and their shares at both ends of the interval of an expected sample."""
    rng = np.random.default_rng(9)
    many = drawn(1 + rng.choice(N, MANY, p=mass), rule, rng)
    srs = SampledRankSet(
        "A", many.sampled_ranks, N, many.m, counts=np.full(MANY, size / MANY), adaptive=True
    )
    fit = maximum_likelihood(metric, srs)
    samplings = srs.outcomes.samplings
    places = Columns(samplings, (None,) * len(samplings), metric, None).grid
    found = []
    for end in profile_interval([fit], 0.95):
        weights = nonnegative(
            np.vstack([fit.rows, 1e6 * fit.values]),
            np.append(fit.observed, 1e6 * end),
            np.ones((1, len(places))),
        )
        found.append((places, weights / weights.sum()))
    return found


def decided_by_the_draw(quick: bool) -> Iterator[Result]:
    """Misses for plain ranks, and for those that are hardest to tell from them."""
    runs = 2 if quick else 60
    for name in ("Recall@10",) if quick else ("Recall@10", "NDCG@10", "AUC"):
        metric = as_metric(name)
        for rule in RULES[1:] if quick else RULES:
            for kind in ("uniform", "exponential"):
                for size in (200,) if quick else (200, 3000):
                    mass = falling(kind, N)
                    cases = [("", np.arange(1, N + 1), mass)]
                    if not quick:
                        low, high = hardest(metric, mass, rule, size)
                        cases += [("lowest of ", *low), ("highest of ", *high)]
                    for which, places, weights in cases:
                        rng, spans, own = np.random.default_rng(5), [], []
                        start = time.perf_counter()
                        for _ in range(runs):
                            ranks = rng.choice(places, size, p=weights)
                            spans.append(bounds(metric, drawn(ranks, rule, rng)))
                            own.append(float(metric(ranks, N).mean()))
                        ends = np.transpose(spans)
                        missed = np.mean((own < ends[0] - 1e-9) | (own > ends[1] + 1e-9))
                        spent = (time.perf_counter() - start) / runs
                        title = f"misses, {name}, m by {rule}: {size} of {which}{kind}"
                        limit = 1.0 if quick else HARD if which else MISSES
                        note = f"width {np.median(ends[1] - ends[0]):.4f}"
                        yield Result(title, spent, None, float(missed), limit, note=note)


BENCHMARKS = (decided_by_the_draw,)
