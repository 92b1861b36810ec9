"""Bounds and intervals: against all ranks, how often they hold, how wide, what they decide."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

import sampledash as sd
from sampledash.estimation import bounds, compare, interval
from sampledash.metrics import as_metric
from sampledash.sampledranks import SampledRankSet
from sampledash.types import Floats
from tests.benchmarks.bounds_floor import floor, hardest
from tests.benchmarks.frame import Result, timed
from tests.estimation.cases import FALLING, averaged, brute, drawn, falling, own_n_drawn
from tests.oracles import WITH, dense_law

SHAPES = (None, "non-increasing")
METRICS = ("Recall@10", "NDCG@10", "AUC")
MISSES = 0.07  # share of 95 % intervals that may miss the exact metric
WRONG = 0.05  # share of definite verdicts that may be wrong
HARD = 0.15  # the same for ranks that are chosen against the interval; no proof promises 0.05
ROUNDING = 1e-9
WIDTH = 1.5  # asked of the median width, in widths on infinitely many instances


@dataclass(frozen=True)
class Case:
    """True ranks, the distribution they come from where it is known, and how they are sampled."""

    ranks: sd.RankSet
    n: int
    m: int
    mass: Floats | None

    @property
    def name(self) -> str:
        return f"{self.ranks.system}, {len(self.ranks.ranks)} of n = {self.n}, m = {self.m}"

    def draw(self, rng: np.random.Generator) -> SampledRankSet:
        if self.mass is None:
            return own_n_drawn(self.ranks, self.n, self.m, rng)
        return drawn(self.ranks.ranks, self.n, self.m, rng)

    def infinite(self) -> SampledRankSet:
        """What infinitely many instances would show."""
        if self.mass is None:
            return averaged(self.ranks, self.n, self.m)
        counts = self.mass @ dense_law(self.n, self.m, WITH)
        return SampledRankSet("", np.arange(1, self.m + 2), self.n, self.m, counts=counts)


def masses(kind: str, n: int, rng: np.random.Generator) -> Floats:
    """A rank distribution: Zipf-like, geometric, with two peaks, or of two uniform parts."""
    r = np.arange(1, n + 1)
    if kind == "Zipf":
        weights = (r + rng.integers(0, 10)) ** -rng.uniform(0.6, 1.2)
    elif kind == "geometric":
        weights = np.exp(-r / (n * rng.uniform(0.02, 0.2)))
    elif kind == "bimodal":
        top, middle = np.exp(-r / (0.03 * n)), np.exp(-0.5 * (r / n - 0.5) ** 2 / 0.01)
        weights = top / top.sum() + middle / middle.sum()
    else:
        weights = np.where(r <= 0.1 * n, 6 / n, 0.4 / n)
    return np.asarray(weights / weights.sum())


def cases() -> list[Case]:
    """X, Y, Z and 20 synthetic sets: 200 to 6,000 instances, n 500 to 20,000, m 20 to 200."""
    rng = np.random.default_rng(7)
    found = [Case(one, 3541, 100, None) for one in sd.example("movielens-xyz")]
    for i in range(20):
        kind = ("Zipf", "geometric", "bimodal", "uniform")[i % 4]
        n = (500, 1000, 3541, 10_000, 20_000)[i % 5]
        m = (20, 50, 99, 100, 200)[(i // 4 + i) % 5]
        size = (200, 400, 800, 1500, 3000, 6000)[(i * 5 + i // 6) % 6]
        mass = masses(kind, n, rng)
        ranks = 1 + rng.choice(n, size, p=mass)
        found.append(Case(sd.RankSet(f"{kind} {i}", ranks, n), n, m, mass))
    return found


def _infinite_width(case: Case, metric: str, shape: str | None) -> float | None:
    """Width on infinitely many instances, at the smallest tolerance of a ladder that allows one.

    AUC has none.
    """
    if as_metric(metric).linear:
        return None
    for tolerance in (1e-4, 1e-3):
        try:
            low, high = bounds(metric, case.infinite(), shape=shape, tolerance=tolerance)
        except ValueError:
            continue
        return high - low
    return None


def held(quick: bool) -> Iterator[Result]:
    """How often 95 % intervals hold the exact metric, and how wide they are."""
    runs, rng = 5 if quick else 200, np.random.default_rng(1)
    for metric in METRICS[:1] if quick else METRICS:
        for shape in SHAPES:
            ratios, least = [], []
            for case in cases()[:: 6 if quick else 1]:
                exact = sd.mean(metric, case.ranks)
                spans, refused, start = [], 0, time.perf_counter()
                for _ in range(runs):
                    try:
                        spans.append(interval(metric, case.draw(rng), shape=shape))
                    except ValueError:  # the sample contradicts the shape
                        refused += 1
                spent = (time.perf_counter() - start) / runs
                if not spans:
                    note = f"refused in all of {runs} runs"
                    yield Result(_title(metric, shape, case), spent, None, 0.0, 0.0, note=note)
                    continue
                low, high = np.transpose(spans)
                misses = 1 - float(np.mean((low <= exact) & (exact <= high)))
                width, infinite = float(np.median(high - low)), _infinite_width(case, metric, shape)
                note = f"width {width:.4f}, refused {refused}"
                if infinite:
                    size = len(case.ranks.ranks)
                    some = floor(as_metric(metric), case.infinite(), size, shape, 0.95)
                    ratios.append(width / infinite)
                    least.append(some / infinite)
                    note += f", {ratios[-1]:.2f} x infinite, no interval below {least[-1]:.2f} x"
                # In few runs a single miss is no finding.
                allowed = 1.0 if quick else MISSES
                yield Result(
                    _title(metric, shape, case), spent, None, misses, allowed, within=0.3, note=note
                )
            if not ratios:
                continue
            inside, could = (int(np.sum(np.array(r) <= WIDTH)) for r in (ratios, least))
            note = (
                f"median {np.median(ratios):.2f} x, {inside} of {len(ratios)} sets within "
                f"{WIDTH} x; of any interval {np.median(least):.2f} x, {could} sets"
            )
            yield Result(
                f"widths, {metric}, {shape or 'any'} shape", 0.0, None, 0.0, 0.0, note=note
            )


def _title(metric: str, shape: str | None, case: Case) -> str:
    return f"misses, {metric}, {shape or 'any'} shape: {case.name}"


def hard(quick: bool) -> Iterator[Result]:
    """How often 95 % intervals miss for the ranks that are hardest to tell from those of a case."""
    runs, rng = 5 if quick else 200, np.random.default_rng(4)
    for metric in METRICS[:1] if quick else METRICS[:2]:
        for shape in SHAPES:
            shares = []
            start = time.perf_counter()
            for case in cases()[:: 6 if quick else 1]:
                if _infinite_width(case, metric, shape) is None:  # it contradicts the shape
                    continue
                size = len(case.ranks.ranks)
                sides = hardest(as_metric(metric), case.infinite(), size, shape, 0.95)
                for place, side in zip(("lowest", "highest"), sides, strict=True):
                    missed, seen = 0, 0
                    for _ in range(runs):
                        ranks = rng.choice(side.places, size, p=side.weights)
                        if shape is not None:
                            ranks = 1 + (rng.random(size) * ranks).astype(np.int64)
                        try:
                            srs = drawn(ranks, case.n, case.m, rng)
                            low, high = interval(metric, srs, shape=shape)
                        except ValueError:  # the sample contradicts the shape
                            continue
                        exact = float(as_metric(metric)(ranks, case.n).mean())
                        seen += 1
                        missed += not low - ROUNDING <= exact <= high + ROUNDING
                    if seen:
                        shares.append((missed / seen, f"{place} of {case.name}"))
            share, worst = max(shares)
            average = float(np.mean([one for one, _ in shares]))
            spent = (time.perf_counter() - start) / (runs * len(shares))
            name, limit = f"misses, {metric}, {shape or 'any'} shape: hardest ranks", HARD
            note = f"average {average:.3f}, worst {worst}"
            yield Result(name, spent, None, share, 1.0 if quick else limit, note=note)


def decided(quick: bool) -> Iterator[Result]:
    """Share of pairs decided, and of definite verdicts that are wrong."""
    runs, rng = 2 if quick else 200, np.random.default_rng(2)
    every = cases()[:4] if quick else cases()
    for metric in ("Recall@10", "AUC"):
        for shape in SHAPES:
            wrong = definite = total = 0
            start = time.perf_counter()
            for a, b in pairwise(every):
                order = sd.mean(metric, a.ranks) - sd.mean(metric, b.ranks)
                for _ in range(runs):
                    try:
                        found = compare(metric, a.draw(rng), b.draw(rng), shape=shape)
                    except ValueError:
                        continue
                    total += 1
                    definite += found.better is not None
                    wrong += found.low > 0 > order or found.high < 0 < order
            spent = (time.perf_counter() - start) / max(total, 1)
            share = wrong / max(definite, 1)
            note = f"{definite} of {total} decided, {wrong} of them wrong"
            name = f"wrong verdicts, {metric}, {shape or 'any'} shape"
            yield Result(name, spent, None, share, 1.0 if quick else WRONG, note=note)


def programmes(quick: bool) -> Iterator[Result]:
    """Few places against all ranks: within 1e-6, and under 3 s."""
    y = sd.example("movielens-xyz")[1]
    n, m = (1000, 40) if quick else (3706, 100)
    some = sd.RankSet("Y", y.ranks[y.ranks <= n], n)
    srs = averaged(some, n, m)
    for name, k in (("recall", 10), ("ndcg", 10)):
        for shape in SHAPES:
            metric = sd.metric(name, k=k)
            ours, found = timed(
                lambda metric=metric, shape=shape: bounds(metric, srs, shape=shape, tolerance=1e-2)
            )
            obvious, every = timed(
                lambda name=name, k=k, shape=shape: brute(name, k, srs, n, shape, 1e-2)
            )
            assert every is not None
            apart = float(np.abs(np.subtract(found, every)).max())
            title = f"bounds of {metric}, {shape or 'any'} shape, n = {n}, m = {m}"
            yield Result(title, ours, obvious, apart, 1e-6, within=3.0)


def shaped(quick: bool) -> Iterator[Result]:
    """With the shape: misses of the metric of drawn instances, and of their distribution."""
    runs, n, m = 5 if quick else 100, 3706, 100
    for name in METRICS[:1] if quick else METRICS[:2]:
        metric = as_metric(name)
        values = metric(np.arange(1, n + 1), n)
        for kind in FALLING:
            mass = falling(kind, n)
            for size in (200, 3000):
                rng, spans, own = np.random.default_rng(3), [], []
                start = time.perf_counter()
                for _ in range(runs):
                    ranks = 1 + rng.choice(n, size, p=mass)
                    spans.append(interval(name, drawn(ranks, n, m, rng), shape="non-increasing"))
                    own.append(float(metric(ranks, n).mean()))
                spent = (time.perf_counter() - start) / runs
                low, high = np.transpose(spans)
                low, high = low - ROUNDING, high + ROUNDING
                missed = 1 - float(np.mean((low <= own) & (own <= high)))
                expected = float(mass @ values)
                others = 1 - float(np.mean((low <= expected) & (expected <= high)))
                note = f"width {np.median(high - low):.5f}, of the distribution {others:.2f}"
                title = f"misses, {name}, non-increasing shape: {size} of {kind}"
                limit = 1.0 if quick else MISSES
                yield Result(title, spent, None, missed, limit, within=0.3, note=note)


BENCHMARKS = (programmes, held, hard, decided, shaped)
