"""Chances of redrawn instances and of shared negatives against runs drawn item by item.

Pairs of systems with 30 to 200 instances, where sampled means take few values: ties count, and so
does skewness. Runs are drawn with numpy alone, from the vector of the correction; for shared
negatives the items above under both systems are as many as can be, as few, or in between.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

import sampledash as sd
from sampledash.comparison import probability_if_redrawn, probability_if_shared
from sampledash.types import Floats, Ints
from tests.benchmarks.frame import Result, timed
from tests.oracles import UNIFORM, WITH

METRICS = ("AP@5", "AP", "NDCG@10", "NDCG", "Recall@5", "Precision@3", "RR", "AUC")
CORRECTIONS = ("uncorrected", "CLS", "BV 0.1", "rank estimate")
OVERLAPS = (1.0, 0.0, 0.7, None)  # share of the range of what both may have above; None: random
RUNS = 5_000
CASES, QUICK = 300, 8


@dataclass(frozen=True)
class Case:
    """Two systems, ranks of the same instances; the first one is named P."""

    metric: str
    correction: str
    scheme: str
    n: int
    m: int
    ranks: Ints
    overlap: float | None = None
    seed: int = 0

    @classmethod
    def of(cls, seed: int) -> Case:
        """A random one."""
        rng = np.random.default_rng([3, seed])
        size = int(rng.choice([30, 40, 60, 100, 200]))
        n, m = int(rng.choice([40, 67, 150, 400])), int(rng.choice([5, 20, 35]))
        first = rng.random(size)
        alike = np.clip(first + rng.normal(0, 0.05, size), 0, 0.9999)
        second = alike if rng.random() < 0.6 else rng.random(size)
        power = float(rng.choice([1.5, 3.0]))
        powers = power, power * np.exp(0.3 * rng.normal() / np.sqrt(size))
        each = [
            1 + (n * u**p).astype(np.int64) for u, p in zip((first, second), powers, strict=True)
        ]
        chosen = (str(rng.choice(some)) for some in (METRICS, CORRECTIONS, UNIFORM))
        return cls(*chosen, n, m, np.minimum(each, n), OVERLAPS[seed % 4], seed)

    @property
    def sets(self) -> list[sd.RankSet]:
        """The two systems."""
        return [sd.RankSet(name, r, self.n) for name, r in zip("PQ", self.ranks, strict=True)]

    @property
    def options(self) -> dict[str, str]:
        """Options of the comparison functions."""
        return {"scheme": self.scheme, "correction": self.correction}

    @property
    def vector(self) -> Floats:
        """What is reported for each sampled count above."""
        sampling = sd.Sampling(self.n, self.m, self.scheme)
        return sd.parse_correction(self.correction).fit(self.metric, sampling).values

    def redrawn(self, runs: int) -> Floats:
        """Differences P - Q of runs on redrawn instances."""
        rng = np.random.default_rng([4, self.seed])
        at = rng.integers(0, self.ranks.shape[1], (runs, self.ranks.shape[1]))
        means = []
        for ranks in self.ranks:
            above = ranks[at] - 1
            if self.scheme == WITH:
                counts = rng.binomial(self.m, above / (self.n - 1))
            else:
                counts = rng.hypergeometric(above, self.n - 1 - above, self.m)
            means.append(self.vector[counts].mean(axis=1))
        return np.asarray(means[0] - means[1])

    def shared(self, runs: int) -> Floats:
        """Differences P - Q of runs in which both systems rank the same negatives."""
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


def share_ahead(differences: Floats, better: str) -> tuple[float, float]:
    """Share of the runs that show the order, and its standard error."""
    ahead = differences if better == "P" else -differences
    share = float(np.mean(ahead > 1e-12))
    return share, float(np.sqrt(max(share * (1 - share), 0.02) / len(differences)))


def off_redrawn(case: Case, runs: int = RUNS) -> float:
    """Distance from the share of simulated runs in standard errors; 0 for equal systems."""
    row = probability_if_redrawn(case.metric, case.sets, case.m, **case.options).iloc[0]
    if np.isnan(row.probability):
        return 0.0
    share, error = share_ahead(case.redrawn(runs), row.better)
    return abs(float(row.probability) - share) / error


def off_shared(case: Case, runs: int = RUNS) -> float:
    """How far the share of simulated runs is outside the bounds, in standard errors."""
    row = probability_if_shared(case.metric, case.sets, case.m, **case.options).iloc[0]
    if np.isnan(row.low):
        return 0.0
    share, error = share_ahead(case.shared(runs), row.better)
    return max(float(row.low) - share, share - float(row.high), 0.0) / error


def against_runs(quick: bool) -> Iterator[Result]:
    """Largest distance over random cases: at most 4 standard errors."""
    some = [Case.of(seed) for seed in range(QUICK if quick else CASES)]
    for what, off in (("redrawn instances", off_redrawn), ("shared negatives", off_shared)):
        seconds, found = timed(lambda off=off: [off(case) for case in some])
        worst = some[int(np.argmax(found))]
        name = f"{what}, {len(some)} pairs, against {RUNS:,} runs (standard errors)"
        note = (
            f"worst: {worst.metric}, {worst.correction}, {worst.scheme}, "
            f"{worst.ranks.shape[1]} instances, n = {worst.n}, m = {worst.m}"
        )
        yield Result(name, seconds, None, max(found), 4, note=note)


BENCHMARKS = (against_runs,)
