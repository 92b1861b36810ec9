"""Our way against the obvious way: time, ratio and the largest difference."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

import sampledash as sd
from sampledash.types import Floats
from tests.oracles import (
    WITH,
    WITHOUT,
    dense_bias_variance,
    dense_column,
    dense_law,
    dense_target,
)  # fmt: skip

T = TypeVar("T")


@dataclass(frozen=True)
class Result:
    """One comparison; ``difference`` is relative to the largest entry unless the name says else.

    ``obvious`` is in seconds, scaled up where only a sample of the rows was run; ``ratio`` and
    ``ours`` may have limits.
    """

    name: str
    ours: float
    obvious: float | None
    difference: float | None
    allowed: float
    at_least: float | None = None
    within: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        return None if self.obvious is None else self.obvious / self.ours

    @property
    def exact(self) -> bool:
        return self.difference is None or self.difference <= self.allowed

    @property
    def fast(self) -> bool:
        enough = self.at_least is None or (self.ratio is not None and self.ratio >= self.at_least)
        return enough and (self.within is None or self.ours <= self.within)


def timed(run: Callable[[], T], repeats: int = 1) -> tuple[float, T]:
    """Best time of some runs, and the result."""
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        result = run()
        best = min(best, time.perf_counter() - start)
    return best, result


def fresh() -> None:
    """Forget fitted vectors, so that a second run is not a look-up."""
    from sampledash.correction import recipes

    recipes.vector.cache_clear()


def apart(ours: Floats, other: Floats) -> float:
    return float(np.abs(ours - other).max() / np.abs(other).max())


def laws(quick: bool) -> Iterator[Result]:
    """The law for n = 10,000 ranks and m = 100 against scipy.stats on a grid."""
    from scipy.stats import binom, hypergeom

    n, m = 10_000, 100
    step = 500 if quick else 20
    rank = np.arange(1, n + 1)
    some, s = rank[::step, None] - 1, np.arange(m + 1)
    for scheme in (WITH, WITHOUT):
        sampling = sd.Sampling(n, m, scheme)
        ours, p = timed(lambda sampling=sampling: sampling.pmf(rank), 3)
        if scheme == WITH:
            obvious, q = timed(lambda: binom.pmf(s, m, some / (n - 1)))
        else:
            obvious, q = timed(lambda: hypergeom.pmf(s, n - 1, some, m))
        yield Result(
            f"law, 10,000 x 100, {scheme}", ours, obvious * step, apart(p[::step], q), 1e-10
        )


def bias_variance(quick: bool) -> Iterator[Result]:
    """Eq. 25 against the n by m+1 matrix: at least 50 times faster, within 1e-9."""
    n, m = (10_000, 100) if quick else (100_000, 500)
    for scheme in (WITH, WITHOUT):
        for name, k in (("ap", None), ("ndcg", 10)):
            metric, sampling = sd.metric(name, k=k), sd.Sampling(n, m, scheme)
            recipe = sd.correction("BV", gamma=0.1)

            def fit(recipe=recipe, metric=metric, sampling=sampling) -> Floats:
                fresh()
                return recipe.fit(metric, sampling).values

            def dense(name=name, k=k, scheme=scheme) -> Floats:
                law = dense_law(n, m, scheme)
                return dense_bias_variance(law, dense_target(name, k, n), 0.1, None)

            ours, values = timed(fit, 3)
            obvious, true = timed(dense)
            yield Result(
                f"bias-variance {metric}, n = {n:,}, m = {m}, {scheme}", ours, obvious,
                apart(values, true), 1e-9, at_least=None if quick else 50,
            )  # fmt: skip


ALONE = """
import json, sys, time
import sampledash as sd
metric, scheme, n, m = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
recipe, sampling = sd.correction("BV", gamma=0.1), sd.Sampling(n, m, scheme)
sd.correction("BV", gamma=0.1).fit("AP", sd.Sampling(2000, 10, scheme))  # load the libraries
start = time.perf_counter()
recipe.fit(metric, sampling)
spent = time.perf_counter() - start
# Not ru_maxrss, which a child inherits from the process that started it.
status = open("/proc/self/status").read()
print(json.dumps([spent, int(status.split("VmHWM:")[1].split()[0]) / 1024]))
"""


def alone(metric: str, scheme: str, n: int, m: int) -> tuple[float, float]:
    """Seconds and peak MiB of one fit in a process of its own, the better of two."""
    command = [sys.executable, "-c", ALONE, metric, scheme, str(n), str(m)]
    runs = [
        json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
        for _ in range(2)
    ]
    return min(run[0] for run in runs), max(run[1] for run in runs)


def any_n(quick: bool) -> Iterator[Result]:
    """n = 1,000,000,000 in the time of n = 10,000: within three times, 1 s and 300 MiB."""
    m = 100 if quick else 1000
    few, many = 10_000, 10**9
    cases = [
        ("AP",) * 2,
        ("NDCG@10",) * 2,
        ("Recall@10",) * 2,
        (f"Recall@{few // 3}", f"Recall@{many // 3}"),
    ]
    for scheme in (WITH, WITHOUT):
        for less, metric in cases[:1] if quick else cases:
            small, _ = alone(less, scheme, few, m)
            large, peak = alone(metric, scheme, many, m)
            passed = large <= 3 * small and peak <= 300
            yield Result(
                f"bias-variance {metric}, n = 10^9 (against 10^4), m = {m}, {scheme}", large, small,
                None, 0, at_least=1 / 3, within=1.0,
                note=f"peak {peak:.0f} MiB" + ("" if passed or quick else " - TOO MUCH"),
            )  # fmt: skip


def curves(quick: bool) -> Iterator[Result]:
    """Curves of X, Y, Z: four metrics, 60 values of m, against scipy.stats row by row."""
    from scipy.stats import binom, hypergeom

    sets = sd.example("movielens-xyz")
    metrics = [sd.parse_metric(text) for text in ("Recall@10", "NDCG@10", "AP", "AUC")]
    m_values = np.unique(np.geomspace(1, 1000, 76).round().astype(int))[-60:]
    step = 2000 if quick else 100
    few = [sd.RankSet(rs.system, rs.ranks[::step], rs.n[::step]) for rs in sets]
    for scheme in (WITH, WITHOUT):

        def ours_of(which: list[sd.RankSet], scheme: str = scheme) -> Floats:
            return np.array([sd.curve(x, which, m_values, scheme=scheme) for x in metrics])

        def by_rows(scheme: str = scheme) -> Floats:
            result = np.zeros((len(metrics), len(m_values), len(few)))
            for y, m in enumerate(m_values):
                s = np.arange(m + 1)
                values = [metric(s + 1, m + 1) for metric in metrics]
                for z, rs in enumerate(few):
                    for r, n in zip(rs.ranks, rs.n, strict=True):
                        law = (
                            binom(m, (r - 1) / (n - 1))
                            if scheme == WITH
                            else hypergeom(n - 1, r - 1, m)
                        )
                        p = law.pmf(s)
                        for x in range(len(metrics)):
                            result[x, y, z] += p @ values[x] / len(rs)
            return result

        ours, _ = timed(lambda: ours_of(sets), 1 if quick else 3)
        obvious, true = timed(by_rows)
        yield Result(
            f"curves of X, Y, Z, 4 metrics x {len(m_values)} m, {scheme}", ours, obvious * step,
            apart(ours_of(few), true), 1e-9, at_least=None if quick else 100,
        )  # fmt: skip


def monotone(quick: bool) -> Iterator[Result]:
    """CLS at n = 1,000,000, m = 1,000: its KKT residual by two passes over the whole matrix."""
    n, m = (20_000, 100) if quick else (1_000_000, 1000)
    for scheme in (WITH, WITHOUT):
        for text in ("AP",) if quick else ("AP", "Recall@10"):

            def fit(text: str = text, scheme: str = scheme) -> Floats:
                fresh()
                return sd.correction("CLS").fit(text, sd.Sampling(n, m, scheme)).values

            ours, values = timed(fit)
            target = sd.parse_metric(text)(np.arange(1, n + 1), n)
            start = time.perf_counter()
            fitted = np.zeros(n)
            for s in range(m + 1):
                fitted += values[s] * dense_column(n, m, s, scheme)
            gradient, size = np.empty(m + 1), 0.0
            for s in range(m + 1):
                column = dense_column(n, m, s, scheme)
                gradient[s] = column @ (fitted - target) / n
                size = max(size, column @ target / n)
            spent = time.perf_counter() - start
            along = np.cumsum(gradient)
            steps = np.append(values[:-1] - values[1:], values[-1])
            residual = (
                max((-along).max(), np.minimum(steps, np.abs(along)).max(), (-steps).max()) / size
            )
            yield Result(
                f"CLS {text}, n = {n:,}, m = {m}, {scheme}", ours, spent, float(residual), 1e-9,
                note="difference: KKT residual; obvious: two passes over the matrix, no solution",
            )  # fmt: skip


def explore(quick: bool) -> Iterator[Result]:
    """What one change on Explore computes: four metrics on 400 ranks, mean and deviation."""
    from scipy.stats import binom, hypergeom

    n, m = 10_000, 99
    grid = np.unique(np.geomspace(1, n, 560).round().astype(int))[:400]
    metrics = [sd.parse_metric(text) for text in ("AUC", "AP", "NDCG", "Recall@10")]
    for scheme in (WITH, WITHOUT):
        sampling, s = sd.Sampling(n, m, scheme), np.arange(m + 1)

        def page(sampling: sd.Sampling = sampling) -> Floats:
            return np.array(
                [[sd.expected(x, grid, sampling), sd.variance(x, grid, sampling)] for x in metrics]
            )

        def obvious_page(scheme: str = scheme, s: NDArray[np.int64] = s) -> Floats:
            a = grid[:: 20 if quick else 1, None] - 1
            p = binom.pmf(s, m, a / (n - 1)) if scheme == WITH else hypergeom.pmf(s, n - 1, a, m)
            result = []
            for metric in metrics:
                values = metric(s + 1, m + 1)
                mean = p @ values
                result.append([mean, np.einsum("rs,rs->r", p, (values - mean[:, None]) ** 2)])
            return np.array(result)

        ours, values = timed(page, 5)
        obvious, true = timed(obvious_page)
        step = 20 if quick else 1
        yield Result(
            f"Explore, {len(grid)} ranks, m = 99, {scheme}", ours, obvious * step,
            apart(values[:, :, ::step], true), 1e-10, within=None if quick else 0.03,
        )  # fmt: skip


BENCHMARKS = (laws, bias_variance, any_n, curves, monotone, explore)
