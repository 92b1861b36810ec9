"""The computed chance that a run shows the true order, and the share of simulated runs that do.

Systems P and Q are drawn so that this chance is in 0.02..0.98 for most metrics: the ranks of both
are n times a power of random numbers in 0..1. The exponents of P and Q differ by some
1 / sqrt(instances); if they differed more, the chances for 5,000 instances would be near 0 or 1.
The random numbers of Q are those of P in about half of the cases, else independent of them.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import pandas as pd

import sampledash as sd
from sampledash.comparison.chance import pair_chances
from sampledash.comparison.order import true_order
from sampledash.comparison.shared import probability_if_shared
from sampledash.comparison.user_resampling import probability_if_redrawn
from sampledash.protocol import Protocol
from sampledash.simulation import batches
from sampledash.types import Floats, Ints
from tests.benchmarks.frame import Result, timed
from tests.oracles import POPULARITY, UNIFORM, WITH, WITHOUT

MASS = "mass above"  # popularity sampling; rank sets give the sampling weight above each item
SCHEMES = (WITH, WITHOUT, POPULARITY, MASS)
METRICS = ("Recall@10", "Precision@5", "NDCG@10", "AP", "AUC", "RR", "HitRate@5")
CORRECTIONS = (None, "rank estimate", "CLS", "BV 0.1")
#: In "rare" kinds most items rank low, so a run has few hits, and its mean metric is not normal.
KINDS = ("plain", "own n", "ties", "several", "several with ties", "counts", "micro")
KINDS += ("rare", "rare several")
RUNS = 2000
SEEDED = 20_000  # runs that `pair_chances` simulates for few instances with several relevant items
SIZES = (30, 100, 400, 1500, 5000)
LOW, HIGH = 0.02, 0.98


@dataclass(frozen=True)
class Case:
    """A pair of systems, and how they are sampled."""

    kind: str
    scheme: str
    size: int
    m: int = 50
    seed: int = 0

    @property
    def possible(self) -> bool:
        """Return whether the scheme can sample the kind; popularity sampling excludes some ties."""
        weighed = (MASS, POPULARITY) if self.kind == "several with ties" else (MASS,)
        return not ("ties" in self.kind and self.scheme in weighed)

    def options(self, correction: str | None) -> dict[str, Any]:
        scheme = POPULARITY if self.scheme == MASS else self.scheme
        odds = {"odds": 2.0} if self.scheme == POPULARITY else {}
        weighting = {"weighting": "relevant-items"} if self.kind == "micro" else {}
        return {"scheme": scheme, "correction": correction, **odds, **weighting}

    @property
    def corrections(self) -> tuple[str | None, ...]:
        """Return the corrections to check: only None (uncorrected) is possible with MASS."""
        return (None,) if self.scheme == MASS else CORRECTIONS

    def sets(self) -> list[sd.RankSet]:
        size, kind, scheme = self.size, self.kind, SCHEMES.index(self.scheme)
        rng = np.random.default_rng([size, KINDS.index(kind), scheme, self.seed])
        n = np.full(size, 3000 if "rare" in kind else 400)
        if kind in ("own n", "several", "several with ties", "micro"):
            n = rng.integers(40, 400, size)  # some instances have fewer negatives than m
        several = kind == "micro" or "several" in kind
        relevant = 1 + rng.binomial(4, 0.35, size) if several else np.ones(size, int)
        instance = np.repeat(np.arange(size), relevant)
        counts = rng.integers(1, 5, size) if kind == "counts" else np.ones(size, int)
        power = 1.15 if "rare" in kind else 3.0
        powers = [power, power * np.exp(rng.normal() / np.sqrt(size))]
        chance = rng.random(len(instance))
        chances, sets = [chance, chance if rng.random() < 0.5 else rng.random(len(instance))], []
        for name, power, u in zip("PQ", powers, chances, strict=True):
            ranks, room = _distinct((n[instance] * u**power).astype(np.int64), relevant, n)
            more: dict[str, Any] = {"instances": instance, "counts": counts[instance]}
            if "ties" in kind:
                tied = rng.integers(1, 30, len(ranks)) * (rng.random(len(ranks)) < 0.5)
                more["ties"] = np.minimum(tied, room)
            if self.scheme == MASS:
                of_instance = pd.Series(ranks).groupby(instance)
                above, items = ranks - of_instance.rank(), of_instance.transform("size")
                more["mass_above"] = (above / (n[instance] - items)).to_numpy() ** 0.7
            sets.append(sd.RankSet(name, ranks, n[instance], **more))
        return sets


def _distinct(above: Ints, relevant: Ints, n: Ints) -> tuple[Ints, Ints]:
    """Return ranks, distinct within each instance, and how many unused ranks follow each rank."""
    ranks, room = [], []
    for each, size in zip(np.split(above, np.cumsum(relevant)[:-1]), n, strict=True):
        step = np.arange(len(each))
        place = np.maximum.accumulate(np.sort(each) - step)  # irrelevant items above each item
        ranks.append(1 + step + np.minimum(place, size - len(each)))
        room.append(np.diff([*ranks[-1], size + 1]) - 1)
    return np.concatenate(ranks), np.concatenate(room)


@dataclass(frozen=True)
class Cell:
    """Chance of the true order, share of runs that show it; z: their gap in standard errors."""

    case: Case
    correction: str | None
    metric: str
    chance: float
    share: float
    z: float

    @property
    def inside(self) -> bool:
        return max(self.chance, self.share) > LOW and min(self.chance, self.share) < HIGH


def cells(case: Case, correction: str | None, runs: int = RUNS) -> Iterator[Cell]:
    """Yield a :class:`Cell` for each metric by which the exact means of the systems differ."""
    protocol = Protocol.of(case.options(correction))
    sets, metrics = case.sets(), [sd.parse_metric(text) for text in METRICS]
    pairs = [true_order(metric, sets, protocol) for metric in metrics]
    chances = pair_chances(metrics, sets, case.m, pairs, protocol)
    rng = np.random.default_rng([7, case.size, case.seed])
    drawn = [np.concatenate(list(batches(metrics, rs, case.m, runs, rng, protocol))) for rs in sets]
    seeded = any(rs.max_relevant > 1 for rs in sets) and len(sets[0]) * SEEDED <= 4_000_000
    for x, text in enumerate(METRICS):
        (better, worse, truth), chance = pairs[x][0], chances[x][0]
        if truth:
            share = float(np.mean(drawn[better][:, x] - drawn[worse][:, x] > 1e-12))
            spread = max(chance * (1 - chance), share * (1 - share), LOW * HIGH)
            error = np.sqrt(spread * (1 / runs + (1 / SEEDED if seeded else 0)))
            yield Cell(case, correction, text, chance, share, (share - chance) / error)


def of_size(size: int, quick: bool) -> Iterator[Cell]:
    grid = [Case(kind, scheme, size) for kind in KINDS for scheme in SCHEMES]
    for x, case in enumerate([case for case in grid if case.possible][:: 6 if quick else 1]):
        chosen = case.corrections
        if quick or size > 1000:  # to save time: None and one correction in turn
            chosen = chosen[:1] + chosen[1:][x % 3 :][:1]
        for correction in chosen:
            yield from cells(case, correction)


def simulated_chances(quick: bool) -> Iterator[Result]:
    """Report the largest ``|z|`` of cells that are ``inside``, of 2,000 runs each; 4 is allowed."""
    for size in (30,) if quick else SIZES:
        seconds, every = timed(lambda size=size: list(of_size(size, quick)))
        inside = [cell for cell in every if cell.inside]
        worst = max(inside, key=lambda cell: abs(cell.z))
        far = np.mean([abs(cell.z) > 2 for cell in inside])
        name = f"chances, {size:,} instances, against {RUNS:,} runs (standard errors)"
        note = f"{len(inside)} of {len(every)} cells inside; {far:.1%} beyond 2; worst: {worst}"
        yield Result(name, seconds, None, abs(worst.z), 4, note=note)


# Metrics for :class:`Pair`: most have few values, so the means of P and Q are often tied in a run.
FEW_VALUES = ("AP@5", "AP", "NDCG@10", "NDCG", "Recall@5", "Precision@3", "RR", "AUC")
FEW_RARE = ("AP", "RR", "AP@5", "NDCG@10", "NDCG", "Recall@5")
RECIPES = ("uncorrected", "CLS", "BV 0.1", "rank estimate")
#: How many candidates rank above the relevant item in both systems: 0 stands for the fewest that
#: are possible, 1 for the most. If None, the number is random for each instance.
OVERLAPS = (1.0, 0.0, 0.7, None)
DRAWS = 5_000
CASES, QUICK = 300, 8


@dataclass(frozen=True)
class Pair:
    """Ranks of the same instances by two systems, P and Q, and how they are evaluated."""

    metric: str
    correction: str
    scheme: str
    n: int
    m: int
    ranks: Ints = field(repr=False)
    overlap: float | None = None
    seed: int = 0

    @classmethod
    def of(cls, seed: int) -> Self:
        rng = np.random.default_rng([3, seed])
        sizes = [30, 40, 60, 100, 200], [40, 67, 150, 400], [5, 20, 35]
        size, n, m = (int(rng.choice(some)) for some in sizes)
        ranks = _alike_or_not(rng, size, n, 0.05, lambda: float(rng.choice([1.5, 3.0])))
        chosen = (str(rng.choice(some)) for some in (FEW_VALUES, RECIPES, UNIFORM))
        return cls(*chosen, n, m, ranks, OVERLAPS[seed % 4], seed)

    @classmethod
    def rare(cls, seed: int) -> Self:
        """Return a random pair with low ranks, so that the few hits of a run dominate its mean."""
        rng = np.random.default_rng([9, seed])
        sizes = [30, 40, 60, 100], [67, 400, 3000], [10, 20, 50]
        size, n, m, power = (rng.choice(some).item() for some in (*sizes, [1.0, 1.15, 1.5]))
        ranks = _alike_or_not(rng, size, n, 0.03, lambda: power)
        recipes = ("CLS", "CLS", "CLS", "BV 0.1", "uncorrected")
        chosen = (str(rng.choice(some)) for some in (FEW_RARE, recipes, UNIFORM))
        return cls(*chosen, n, m, ranks, None, seed)

    @property
    def sets(self) -> list[sd.RankSet]:
        return [sd.RankSet(name, r, self.n) for name, r in zip("PQ", self.ranks, strict=True)]

    def row(self, chance: Callable[..., Any]) -> Any:
        how = {"scheme": self.scheme, "correction": self.correction}
        return chance(self.metric, self.sets, self.m, **how).iloc[0]

    @property
    def sampling(self) -> sd.Sampling:
        return sd.Sampling(self.n, self.m, self.scheme)

    @property
    def vector(self) -> Floats:
        """The corrected metric for 0..m sampled negatives above the relevant item."""
        return sd.parse_correction(self.correction).fit(self.metric, self.sampling).values

    def redrawn(self, rng: np.random.Generator, runs: int, paired: bool = True) -> Floats:
        """Return P's mean minus Q's in runs on redrawn instances; if ``paired``, on the same."""
        at, size = [], self.ranks.shape[1]
        for _ in "PQ":
            at.append(at[0] if at and paired else rng.integers(0, size, (runs, size)))
        drawn = (self.sampling.draw(r[x], rng) for r, x in zip(self.ranks, at, strict=True))
        first, second = (self.vector[ranks - 1].mean(axis=1) for ranks in drawn)
        return np.asarray(first - second)

    def shared(self, runs: int) -> Floats:
        """Return P's mean minus Q's in runs in which both systems rank the same negatives."""
        rng = np.random.default_rng([5, self.seed])
        others, vector = self.n - 1, self.vector
        total = np.zeros(runs)
        for a, b in (self.ranks - 1).T.tolist():
            least, most = max(0, a + b - others), min(a, b)
            share = rng.random() if self.overlap is None else self.overlap
            both = least + round(share * (most - least))
            parts = np.array([both, a - both, b - both, others - a - b + both])
            if self.scheme == WITH:
                drawn = rng.multinomial(self.m, parts / others, runs)
            else:
                drawn = rng.multivariate_hypergeometric(parts, self.m, runs)
            total += vector[drawn[:, 0] + drawn[:, 1]] - vector[drawn[:, 0] + drawn[:, 2]]
        return total / self.ranks.shape[1]


def _alike_or_not(rng, size: int, n: int, off: float, power_of: Callable[[], float]) -> Ints:
    """Return random ranks, similar or independent, of two systems: an array of shape (2, size)."""
    first = rng.random(size)
    alike = np.clip(first + rng.normal(0, off, size), 0, 0.9999)
    second = alike if rng.random() < 0.6 else rng.random(size)
    power = power_of()
    powers = np.array([[power], [power * np.exp(0.3 * rng.normal() / np.sqrt(size))]])
    return np.minimum(1 + (n * np.array([first, second]) ** powers).astype(np.int64), n)


def _off(row: Any, low: float, high: float, differences: Floats) -> float:
    """Return how far the share of runs in true order is outside low..high, in standard errors."""
    share = float(np.mean((differences if row.better == "P" else -differences) > 1e-12))
    error = np.sqrt(max(share * (1 - share), 0.02) / len(differences))
    return 0.0 if np.isnan(low) else max(low - share, share - high, 0.0) / error


def off_redrawn(case: Pair, runs: int = DRAWS) -> float:
    row, rng = case.row(probability_if_redrawn), np.random.default_rng([4, case.seed])
    return _off(row, row.probability, row.probability, case.redrawn(rng, runs))


def off_shared(case: Pair, runs: int = DRAWS) -> float:
    row = case.row(probability_if_shared)
    return _off(row, row.low, row.high, case.shared(runs))


def against_runs(quick: bool) -> Iterator[Result]:
    """Report how far computed chances are from shares of runs: 4 standard errors are allowed."""
    every = [("redrawn instances", Pair.of, off_redrawn), ("shared negatives", Pair.of, off_shared)]
    for what, make, off in (*every, ("redrawn instances, rare values", Pair.rare, off_redrawn)):
        some = [make(seed) for seed in range(QUICK if quick else CASES)]
        seconds, found = timed(lambda off=off, some=some: [off(case) for case in some])
        worst = some[int(np.argmax(found))]
        name = f"{what}, {len(some)} pairs, against {DRAWS:,} runs (standard errors)"
        yield Result(name, seconds, None, max(found), 4, note=f"worst: {worst}")


BENCHMARKS = (simulated_chances, against_runs)
