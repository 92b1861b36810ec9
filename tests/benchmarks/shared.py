"""The chance of the true order with shared negatives, and the share of simulated runs that show it.

Pairs of score matrices with and without ties, with one or several relevant items of an instance.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd

import sampledash as sd
from sampledash.types import Floats, Ints
from tests.benchmarks.frame import Result, timed
from tests.oracles import UNIFORM, WITH

METRICS = ("Recall@5", "NDCG@10", "RR", "AP", "AUC", "NDCG", "HitRate@3", "Precision@5")
PAIRS, RUNS = 200, 20_000


@dataclass(frozen=True)
class Scores:
    """Two score matrices (users, items), the relevant items of each user, and an evaluation."""

    tables: tuple[Floats, Floats]
    relevant: list[Ints]
    metric: str
    m: int
    scheme: str

    @classmethod
    def of(cls, seed: int, most: int = 120) -> "Scores":
        rng = np.random.default_rng([7, seed])
        users, items = int(rng.integers(4, most)), int(rng.integers(25, 160))
        m, several = int(rng.integers(5, max(items // 2, 6))), seed % 3 == 0
        common, alike = rng.normal(size=(users, items)), rng.random()
        relevant = [
            rng.choice(items, 1 + several * int(rng.integers(3)), replace=False)
            for _ in range(users)
        ]
        tables = []
        for lift in 1.5 + rng.normal(0, 0.5 / np.sqrt(users), 2):
            scores = alike * common + (1 - alike) * rng.normal(size=(users, items))
            for row, mine in zip(scores, relevant, strict=True):
                row[mine] += lift * scores.std()
            tables.append(scores)
        if seed % 2:
            # Irrelevant items tie, and relevant items with irrelevant ones, not with each other.
            tables = [x.round(1) for x in tables]
            for (u, mine), x in ((each, x) for x in tables for each in enumerate(relevant)):
                while len(np.unique(x[u, mine])) < len(mine):
                    x[u, mine] += rng.integers(0, 3, len(mine)) / 10
                    x[u] = x[u].round(1)
        metric = METRICS[seed % len(METRICS)]
        return cls((tables[0], tables[1]), relevant, metric, m, UNIFORM[seed // 8 % 2])

    def answer(self) -> tuple[Any, Any]:
        """Return the row of bounds from the ranks, and the row if the overlap is known."""
        sets = [
            sd.ranks_from_scores(x, self.relevant, system=name)
            for name, x in zip("PQ", self.tables, strict=True)
        ]
        known = sd.overlaps(sets, self.tables, self.relevant)
        about: Any = {"metric": self.metric, "sets": sets, "m": self.m, "scheme": self.scheme}
        first = sd.probability_if_shared(**about)
        return first.iloc[0], sd.probability_if_shared(**about, overlaps=known).iloc[0]

    def runs(self, runs: int, rng: np.random.Generator) -> Floats:
        """Return mean of P minus mean of Q in runs that draw one sample for both systems."""
        metric, total = sd.parse_metric(self.metric), np.zeros(runs)
        for u, mine in enumerate(self.relevant):
            rest = np.setdiff1d(np.arange(self.tables[0].shape[1]), mine)
            if self.scheme == WITH:
                drawn = rng.integers(0, len(rest), (runs, self.m))
            else:
                drawn = rng.random((runs, len(rest))).argpartition(self.m - 1)[:, : self.m]
            for sign, scores in zip((1, -1), self.tables, strict=True):
                threshold, others = np.sort(scores[u, mine])[::-1], scores[u, rest]
                for j, score in enumerate(threshold.tolist(), start=1):
                    above = (others > score)[drawn].sum(axis=1)
                    if np.any(equal := others == score):
                        order = rng.random((runs, len(rest))) < rng.random((runs, 1))
                        above += np.take_along_axis(order & equal, drawn, axis=1).sum(axis=1)
                    value = metric.of_above(above, self.m, j) * metric.scale(len(mine))
                    total += sign * value / len(self.relevant)
        return total


def overlapping(seed: int, names: str = "PQR") -> tuple[list[Floats], Ints, list[sd.RankSet]]:
    """Return score tables with ties, relevant items, and rank sets that hold counted overlaps."""
    rng = np.random.default_rng(seed)
    common, relevant = rng.random((40, 30)), rng.integers(0, 30, 40)
    tables = [(common + rng.random((40, 30))).round(1) for _ in names]
    sets = []
    for i, (name, scores) in enumerate(zip(names, tables, strict=True)):
        ranks = sd.ranks_from_scores(scores, relevant, system=name)
        overlaps = {}
        for other, there in list(zip(names, tables, strict=True))[i + 1 :]:
            inner = np.zeros((40, 2, 2), int)
            for u, item in product(range(40), range(30)):
                mine, theirs = scores[u, item], there[u, item]
                own, other_own = scores[u, relevant[u]], there[u, relevant[u]]
                if item != relevant[u] and mine >= own and theirs >= other_own:
                    inner[u, int(mine == own), int(theirs == other_own)] += 1
            overlaps[other] = inner
        sets.append(ranks.with_overlaps(overlaps))
    return tables, relevant, sets


def off(case: Scores, runs: int) -> tuple[float, float]:
    """Return how far the chance is from the share of runs, in standard errors, and from bounds."""
    bounds, row = case.answer()
    if np.isnan(row.low):
        return 0.0, 0.0
    differences = case.runs(runs, np.random.default_rng(case.m))
    share = float(np.mean((differences if row.better == "P" else -differences) > 1e-12))
    error = np.sqrt(max(share * (1 - share), 0.02) / runs)
    outside = max(bounds.low - row.low, row.high - bounds.high, 0.0)
    return max(row.low - share, share - row.high, 0.0) / error, outside


def known_overlaps(quick: bool) -> Iterator[Result]:
    """Report how far chances are from shares of runs: 4 standard errors are allowed."""
    cases = [Scores.of(seed) for seed in range(12 if quick else PAIRS)]
    seconds, away = timed(lambda: [off(case, RUNS) for case in cases])
    table = pd.DataFrame(away)
    worst = cases[int(table[0].argmax())]
    name = f"shared negatives, overlap known, {len(cases)} pairs (standard errors)"
    note = f"worst: {worst.metric}, {len(worst.relevant)} instances, m = {worst.m}"
    yield Result(name, seconds, None, table[0].max(), 4, note=note)
    yield Result("outside the bounds from ranks", 0.0, None, table[1].max(), 1e-9)


BENCHMARKS = (known_overlaps,)
