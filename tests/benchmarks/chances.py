"""The chance that a run shows the true order, against the share of simulated runs that do.

Pairs of systems are drawn so that the chance lies inside 0.02..0.98 for most metrics: the ranks of
both follow a power law of a uniform number, and the powers differ by a normal factor of about one
standard error, 1 / sqrt(instances). A pair drawn without that would be decided at 5,000 instances.
Half of the pairs rank the same instances alike (the second system is the first one, perturbed), the
other half do not, and so differ in skewness too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

import sampledash as sd
from sampledash.comparison.chance import pair_chances
from sampledash.comparison.means import expected_means
from sampledash.comparison.order import true_order
from sampledash.protocol import Protocol
from sampledash.simulation import batches
from sampledash.types import Ints
from tests.benchmarks.frame import Result, timed
from tests.oracles import POPULARITY, WITH, WITHOUT

MASS = "mass above"  # popularity with the weight above each item given
SCHEMES = (WITH, WITHOUT, POPULARITY, MASS)
METRICS = ("Recall@10", "Precision@5", "NDCG@10", "AP", "AUC", "RR", "HitRate@5")
CORRECTIONS = (None, "rank estimate", "CLS", "BV 0.1")
#: Rare: ranks so deep that a run has few hits; all that is not normal shows there.
KINDS = ("plain", "own n", "ties", "several", "several with ties", "counts", "micro")
KINDS += ("rare", "rare several")
RUNS = 2000
SEEDED = 20_000  # runs behind the chances of few instances with several relevant items
SIZES = (30, 100, 400, 1500, 5000)
LOW, HIGH = 0.02, 0.98


@dataclass(frozen=True)
class Case:
    """One pair of systems and how it is sampled."""

    kind: str
    scheme: str
    size: int
    m: int = 50
    seed: int = 0

    @property
    def possible(self) -> bool:
        """With the weight above given, that of the tied items is not known."""
        weighed = (MASS, POPULARITY) if self.kind == "several with ties" else (MASS,)
        return not ("ties" in self.kind and self.scheme in weighed)

    def options(self, correction: str | None) -> dict[str, Any]:
        """Options of the comparison functions."""
        options: dict[str, Any] = {"scheme": self.scheme, "correction": correction}
        if self.scheme == MASS:
            options["scheme"] = POPULARITY
        if self.scheme == POPULARITY:
            options["odds"] = 2.0
        if self.kind == "micro":
            options["weighting"] = "relevant-items"
        return options

    @property
    def corrections(self) -> tuple[str | None, ...]:
        """Where the rank does not determine the law there are no corrections."""
        return (None,) if self.scheme == MASS else CORRECTIONS

    def sets(self) -> list[sd.RankSet]:
        """The two systems."""
        key = [self.size, KINDS.index(self.kind), SCHEMES.index(self.scheme), self.seed]
        rng = np.random.default_rng(key)
        rare = "rare" in self.kind
        n = np.full(self.size, 3000 if rare else 400)
        if self.kind in ("own n", "several", "several with ties", "micro"):
            n = rng.integers(40, 400, self.size)  # m = 50 is all that some instances have
        several = self.kind in ("several", "several with ties", "micro", "rare several")
        relevant = 1 + rng.binomial(4, 0.35, self.size) if several else np.ones(self.size, int)
        instance = np.repeat(np.arange(self.size), relevant)
        counts = rng.integers(1, 5, self.size) if self.kind == "counts" else np.ones(self.size, int)
        power = 1.15 if rare else 3.0
        powers = [power, power * np.exp(rng.normal() / np.sqrt(self.size))]
        chance = rng.random(len(instance))
        chances = [chance, chance if rng.random() < 0.5 else rng.random(len(instance))]
        sets = []
        for name, power, u in zip("PQ", powers, chances, strict=True):
            raw = np.minimum(1 + (n[instance] * u**power).astype(np.int64), n[instance])
            ranks = _distinct(raw, instance, n[instance])
            more: dict[str, Any] = {}
            if "ties" in self.kind:
                tied = rng.integers(1, 30, len(ranks)) * (rng.random(len(ranks)) < 0.5)
                more["ties"] = np.minimum(tied, _room(ranks, instance, n[instance]))
            if self.scheme == MASS:
                more["mass_above"] = ((ranks - 1) / n[instance]) ** 0.7
            sets.append(
                sd.RankSet(
                    name, ranks, n[instance], instances=instance, counts=counts[instance], **more
                )
            )
        return sets


def _room(ranks: Ints, instance: Ints, n: Ints) -> Ints:
    """Places between each relevant item and the next one of its instance, or the end."""
    order = np.lexsort((ranks, instance))
    following = np.r_[ranks[order][1:], 0]
    last = np.r_[instance[order][1:] != instance[order][:-1], True]
    room = np.empty(len(ranks), dtype=np.int64)
    room[order] = np.where(last, n[order], following - 1) - ranks[order]
    return room


def _distinct(ranks: Ints, instance: Ints, n: Ints) -> Ints:
    """Ranks moved down, and then up, until those of an instance differ."""
    order = np.lexsort((ranks, instance))
    sorted_ranks, owner = ranks[order].tolist(), instance[order].tolist()
    for i in range(1, len(owner)):
        if owner[i] == owner[i - 1]:
            sorted_ranks[i] = max(sorted_ranks[i], sorted_ranks[i - 1] + 1)
    for i in range(len(owner) - 1, -1, -1):
        last = i == len(owner) - 1 or owner[i] != owner[i + 1]
        sorted_ranks[i] = min(sorted_ranks[i], n[order[i]] if last else sorted_ranks[i + 1] - 1)
    result = np.empty(len(owner), dtype=np.int64)
    result[order] = sorted_ranks
    return result


@dataclass(frozen=True)
class Cell:
    """One metric of one case: the chance, and the share of runs."""

    case: Case
    correction: str | None
    metric: str
    chance: float
    share: float
    ties: float
    z: float

    @property
    def inside(self) -> bool:
        """Whether the chance tells something."""
        return max(self.chance, self.share) > LOW and min(self.chance, self.share) < HIGH


def cells(case: Case, correction: str | None, runs: int = RUNS) -> Iterator[Cell]:
    """All metrics of one case; those that the exact metric ties are left out."""
    protocol = Protocol.of(case.options(correction))
    sets, metrics = case.sets(), [sd.parse_metric(text) for text in METRICS]
    means = expected_means(metrics, sets, [case.m], protocol)[0]
    pairs = [true_order(metric, sets, protocol) for metric in metrics]
    chances = pair_chances(metrics, sets, case.m, pairs, means, protocol)
    rng = np.random.default_rng([7, case.size, case.seed])
    drawn = [np.concatenate(list(batches(metrics, rs, case.m, runs, rng, protocol))) for rs in sets]
    seeded = any(rs.max_relevant > 1 for rs in sets) and len(sets[0]) * SEEDED <= 4_000_000
    for x, text in enumerate(METRICS):
        better, worse, truth = pairs[x][0]
        if not truth:
            continue
        chance = chances[x][0]
        gap = drawn[better][:, x] - drawn[worse][:, x]
        share = float(np.mean(gap > 1e-12))
        spread = max(chance * (1 - chance), share * (1 - share), LOW * HIGH)
        error = np.sqrt(spread * (1 / runs + (1 / SEEDED if seeded else 0)))
        tied = float(np.mean(np.abs(gap) <= 1e-12))
        yield Cell(case, correction, text, chance, share, tied, (share - chance) / error)


def grid(sizes: tuple[int, ...]) -> list[Case]:
    """Every kind and scheme at every size."""
    every = [Case(k, s, size) for size in sizes for k in KINDS for s in SCHEMES]
    return [case for case in every if case.possible]


def simulated_chances(quick: bool) -> Iterator[Result]:
    """Worst distance in standard errors of 2,000 runs: at most 4."""
    for size in (30,) if quick else SIZES:
        found: list[Cell] = []

        def run(size: int = size, found: list[Cell] = found) -> None:
            for x, case in enumerate(grid((size,))[:: 6 if quick else 1]):
                chosen = case.corrections
                if quick or size > 1000:  # uncorrected, and one of the others in turn
                    chosen = chosen[:1] + chosen[1:][x % 3 :][:1]
                for correction in chosen:
                    found.extend(cells(case, correction))

        seconds, _ = timed(run)
        inside = [cell for cell in found if cell.inside]
        worst = max(inside, key=lambda cell: abs(cell.z))
        far = np.mean([abs(cell.z) > 2 for cell in inside])
        name = f"chances, {size:,} instances, against {RUNS:,} runs (standard errors)"
        note = (
            f"{len(inside)} of {len(found)} cells inside; {far:.1%} beyond 2; worst: "
            f"{worst.metric}, {worst.correction}, {worst.case.kind}, {worst.case.scheme}: "
            f"{worst.chance:.3f} against {worst.share:.3f}"
        )
        yield Result(name, seconds, None, abs(worst.z), 4, note=note)


BENCHMARKS = (simulated_chances,)
