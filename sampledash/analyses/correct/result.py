"""Settings and results of the page "Correct": a corrected metric, its bias and its variance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sampledash.analyses import choices, memory
from sampledash.comparison.order import Orders, largest_m, true_order
from sampledash.correction import CORRECTIONS, LABELS, Correction, Fit, correction, labelled
from sampledash.expectation import resize_prior
from sampledash.grids import LIVE, MOST, jumps, rank_grid
from sampledash.metrics import Metric
from sampledash.protocol import Options, Protocol
from sampledash.rank_sets import RankSet
from sampledash.readers.files import example
from sampledash.report.numbers import count, gamma
from sampledash.rows import Live
from sampledash.sampling import Sampling
from sampledash.spectral import retained
from sampledash.types import Floats, Ints, Progress

TAKEN = Live(lambda: {x: name for x, name in LABELS.items() if CORRECTIONS[name].by_rank})
SIZES = {count(d): d for d in (1, 10, 100, 1_000, 6_040, 10_000, 100_000, 1_000_000)}

UNIFORM, REAL, OWN = "uniform", "as X, Y, Z rank", "own weights"
TEX = {  # name of a prior p(r) of the true rank r -> TeX that follows "p(r)"
    UNIFORM: r"\propto 1",
    "1/√rank": r"\propto 1/\sqrt{r}",
    "1/rank": r"\propto 1/r",
    REAL: r"\text{ as X, Y, Z rank}",
    OWN: r"\text{ as given}",
}
POWERS = {"1/√rank": 0.5, "1/rank": 1.0}
PRIORS = (UNIFORM, *POWERS, REAL, OWN)
MOST_N = 100_000  # largest number of candidates n for a prior that has a weight for each rank

# Name of a setting of the page "Correct" -> its options, and the default.
OFFERED: dict[str, tuple[Any, Any]] = {
    "metric": (choices.CHIPS, choices.METRIC),
    "take": (TAKEN, "BV"),
    "drawn": (LABELS, ["uncorrected", "rank estimate", "CLS", "BV"]),
    "instances": (SIZES, "6,040"),
    "prior": (PRIORS, UNIFORM),
}
DEFAULTS = {key: default for key, (_, default) in OFFERED.items()}

# Values on the x axes of :func:`tradeoffs`: γ (weight of the variance in the correction), m
# (negatives), n (candidates) and |D| (instances). Then values of γ and m for :func:`spectrum`.
GAMMAS = (1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 3e-4, 1e-4, 3e-5, 1e-5, 3e-6, 1e-6)
MS = (10, 20, 50, 100, 200, 500, 1_000)
NS = (100, 1_000, 10_000, 100_000, 10**6, 10**7, 10**8, 10**9)
INSTANCES = np.geomspace(1, 10**6, 7)
SPECTRUM_GAMMAS, SPECTRUM_MS = (1.0, 0.1, 0.01, 0.001, 1e-6), (10, 30, 100, 300, 1000)

MOVIELENS = "movielens-xyz"
MOVIELENS_M = 2_000  # largest number of negatives in pictures of a corrected metric on MovieLens

Point = tuple[Correction, Sampling]


class Prior(NamedTuple):
    """Prior distribution of the true rank, by name or given by the user's weights."""

    name: str = UNIFORM
    custom: bytes = b""  # the user's weights of the ranks 1, 2, ... as float64; empty if none

    def weights(self, n: int) -> Floats | None:
        """Return the weights of the ranks 1..n, or None if they are uniform.

        The user's weights, which may be for another number of ranks, are stretched to n ranks.
        """
        return resize_prior(np.frombuffer(self.custom), n) if self.custom else _named(self.name, n)


@lru_cache(maxsize=8)
def _named(name: str, n: int) -> Floats | None:
    if name == UNIFORM:
        return None
    if name == REAL:
        return stretched(example(MOVIELENS), n)
    return np.asarray(np.arange(1, n + 1.0) ** -POWERS[name])


def stretched(sets: list[RankSet], n: int) -> Floats:
    """Return the histogram of all ranks in ``sets``, rescaled to n candidates: shape (n,).

    The ranked lists differ in length, so each list is stretched to the interval from 0 to 1. In a
    list of ``size`` candidates, a rank is spread evenly from (rank - 1) / size to rank / size.
    """
    first = np.concatenate([(x.ranks - 1) / x.n for x in sets])
    size = np.concatenate([x.n for x in sets])
    edges = np.r_[first, first + 1 / size]
    order = np.argsort(edges)
    # The cumulative histogram is piecewise linear: each rank increases the slope between the two
    # edges of the rank.
    total = np.r_[0.0, np.cumsum(np.cumsum(np.r_[size, -size][order])[:-1] * np.diff(edges[order]))]
    return np.maximum(np.diff(np.interp(np.arange(n + 1) / n, edges[order], total)), 0.0)


def fitted(
    metric: Metric, recipe: Correction, sampling: Sampling, prior: Prior
) -> tuple[Fit, float, float]:
    """Return the fitted correction ``recipe``, and its squared bias and variance.

    Both are for a single sampled rank, averaged over the prior distribution of the true rank.
    """

    def make() -> tuple[Fit, float, float]:
        weights = prior.weights(sampling.n)
        takes = weights is not None and recipe.kind.fitted
        fit = (replace(recipe, prior=weights) if takes else recipe).fit(metric, sampling)
        return fit, *fit.risk(weights)

    return memory.cached(("fitted", metric, recipe, sampling, prior), make, shared=not prior.custom)


@dataclass(frozen=True)
class Question:
    """The validated settings on which all results for a corrected metric depend."""

    metric: Metric
    sampling: Sampling
    drawn: tuple[Correction, ...]  # corrections in the pictures, including ``taken``
    taken: Correction  # the correction whose corrected metric the user exports
    gamma: float
    instances: int
    prior: Prior
    note: str  # sentence on corrections that are left out of the pictures; "" if none

    @cached_property
    def ranks(self) -> Ints:
        """True ranks at which the curves are drawn."""
        return rank_grid(self.sampling.n, keep=jumps(self.sampling, self.metric))

    def fit(self, recipe: Correction | None = None) -> Fit:
        """Return the fitted correction ``recipe``; if None, the one that the user exports."""
        return fitted(self.metric, recipe or self.taken, self.sampling, self.prior)[0]

    def risk(self, recipe: Correction | None = None) -> tuple[float, float]:
        """Return squared bias and variance of the corrected metric of one sampled rank.

        Both are averaged over the prior distribution of the true rank.
        """
        return fitted(self.metric, recipe or self.taken, self.sampling, self.prior)[1:]

    def weighed(self, weight: float) -> Question:
        """Return a copy of these settings with ``weight`` as γ.

        γ is the weight of the variance in the bias-variance correction.
        """

        def other(recipe: Correction) -> Correction:
            return recipe if recipe.gamma is None else replace(recipe, gamma=weight)

        drawn = tuple(map(other, self.drawn))
        return replace(self, drawn=drawn, taken=other(self.taken), gamma=weight)

    def expected(self, recipe: Correction) -> Floats:
        """Return the expected value of the corrected metric at each of :attr:`ranks`."""
        key = "expected", self.metric, recipe, self.sampling, self.prior, self.ranks.tobytes()
        shared = not self.prior.custom
        return memory.cached(key, lambda: self.fit(recipe).expected(self.ranks), shared=shared)


def check(
    sampling: Sampling,
    k: int,
    weight: float,
    chosen: Mapping[str, Any],
    custom: Callable[[int], Floats] | None = None,
) -> Question:
    """Check the settings and return them as a :class:`Question`; raise ValueError if invalid.

    ``k`` is the cutoff of metrics that have one. ``weight`` is γ, the weight of the variance in the
    bias-variance correction. ``chosen`` are settings of ``OFFERED``. ``custom(n)`` returns the
    user's weights of the ranks 1..n.
    """
    metric = choices.chip_metric(chosen["metric"], k, sampling.n)
    recipes = {label: labelled(label, weight) for label in LABELS}
    if sampling.m > MOST:
        advice = f"take m ≤ {MOST}, or call sampledash.correction from Python"
        raise ValueError(f"m = {sampling.m} is more than this page fits: {advice}")
    if chosen["prior"] != UNIFORM and sampling.n > MOST_N:
        large = f"n = {sampling.n} is too large for the prior {chosen['prior']}"
        raise ValueError(f"{large}: take n ≤ {MOST_N}, or the uniform prior")
    names = [x for x in LABELS if x in chosen["drawn"] or x == chosen["take"]]
    note = ""
    if sampling.m > LIVE:
        slow = [x for x in names if recipes[x].kind.slow]
        if chosen["take"] in slow:
            long = f"{chosen['take']} takes minutes beyond m = {LIVE}"
            raise ValueError(f"{long}: take BV away, or fit it from Python")
        if slow:
            note = f"{' and '.join(slow)} left out: drawn up to m = {count(LIVE)}."
            names = [x for x in names if x not in slow]
    drawn, taken = tuple(recipes[x] for x in names), recipes[chosen["take"]]
    prior = Prior(chosen["prior"], b"" if custom is None else custom(sampling.n).tobytes())
    instances = SIZES[chosen["instances"]]
    return Question(metric, sampling, drawn, taken, weight, instances, prior, note)


class Tradeoff(NamedTuple):
    """Curves of bias and standard deviation of a mean corrected metric, as shares (0 to 1).

    The x axis is γ (weight of the variance in the correction), m (negatives), n (candidates), or
    |D| (number of instances).
    """

    recipe: Correction
    label: str
    bias: Floats
    scatter: Floats


def tradeoffs(q: Question, report: Progress) -> dict[str, tuple[Floats, list[Tradeoff]]]:
    """Return curves of bias and standard deviation of a mean corrected metric.

    There are four x axes: γ (weight of the variance in the correction), m (negatives), n
    (candidates) and |D| (instances). The result maps the symbol of an axis to the values of x and
    to :class:`Tradeoff` curves.
    """
    s, plain = q.sampling, Correction()
    without = s.design.distinct
    gammas = sorted({*GAMMAS, *([q.gamma] if q.gamma >= min(GAMMAS) else [])})
    ms = sorted({*(m for m in MS if not without or m < s.n), s.m})
    largest = NS[-1] if q.prior.name == UNIFORM else MOST_N
    ns = sorted({*(n for n in NS if n <= largest and (not without or s.m < n)), s.n})

    def both(samplings: list[Sampling]) -> list[list[Point]]:
        return [[(recipe, x) for x in samplings] for recipe in (q.taken, plain)]

    weighed: list[Point] = [(correction("BV", gamma=g), s) for g in gammas]
    axes: dict[str, tuple[ArrayLike, list[list[Point]]]] = {
        "γ": (gammas, [weighed, [(plain, s)] * len(gammas)]),
        "m": (ms, both([replace(s, m=m) for m in ms])),
        "n": (ns, both([replace(s, n=n) for n in ns])),
        "|D|": (INSTANCES, both([s] * len(INSTANCES))),
    }
    points = {point for _, lines in axes.values() for line in lines for point in line}
    risks: dict[Point, tuple[float, float]] = {}
    for point in sorted(points, key=str):
        try:
            risks[point] = fitted(q.metric, *point, q.prior)[1:]
        except ValueError:  # some sampled rank has probability 0 under the prior: leave a gap
            risks[point] = np.nan, np.nan
        report(len(risks) / len(points))

    def curve(symbol: str, line: list[Point]) -> Tradeoff:
        bias2, variance = np.array([risks[point] for point in line]).T
        instances = INSTANCES if symbol == "|D|" else q.instances
        label = "BV" if line is weighed else str(line[0][0])
        return Tradeoff(line[0][0], label, np.sqrt(bias2), np.sqrt(variance / instances))

    return {
        symbol: (np.asarray(x, dtype=np.float64), [curve(symbol, line) for line in lines])
        for symbol, (x, lines) in axes.items()
    }


def spectrum(s: Sampling, weight: float, *, over_m: bool) -> list[tuple[str, Floats]]:
    """Return how much of a metric the bias-variance correction recovers from samples.

    A metric, as a function of the rank, is a sum of orthogonal polynomials. For several γ (weight
    of the variance) or, if ``over_m``, several m, return a label and an array. Its entry j says how
    much of the polynomial of degree j is recovered, from 0 to 1
    (:func:`sampledash.spectral.retained`).
    """
    if over_m:
        most = s.n - 1 if s.design.distinct else max(SPECTRUM_MS)
        ms = sorted({m for m in (*SPECTRUM_MS, s.m) if m <= most})
        return [(f"m = {count(m)}", retained(replace(s, m=m), weight)) for m in ms]
    gammas = sorted({*SPECTRUM_GAMMAS, weight}, reverse=True)
    return [(f"γ = {gamma(g)}", retained(s, g)) for g in gammas]


def movielens_orders(metric: Metric, recipe: Correction) -> tuple[Orders, list[tuple[int, int]]]:
    """Return the expected orders of the MovieLens systems by m, and the pairs to compare.

    As in Krichene & Rendle, negatives are drawn without replacement, while the correction is fitted
    for draws with replacement. The orders are those for every number of negatives m or, if the
    correction ``recipe`` must be fitted for each m, for few m. A pair holds the index of the better
    system, then that of the worse. Systems with equal exact metrics are not paired.
    """
    options: Options = {"scheme": "without-replacement", "fit_scheme": "with-replacement"}
    sets, protocol = example(MOVIELENS), Protocol.of({**options, "correction": recipe})
    m_max = largest_m(sets, None, protocol) if recipe == Correction() else MOVIELENS_M
    pairs = [(i, j) for i, j, truth in true_order(metric, sets, protocol) if truth]
    return memory.orders((metric,), sets, m_max, protocol, shared=True), pairs
