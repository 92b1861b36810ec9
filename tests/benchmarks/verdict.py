"""Verdicts of large uploads: time, memory and progress, each in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import nnls

import sampledash as sd
from sampledash.comparison.order import quick_ladder
from tests.benchmarks.core import Result, fresh, timed
from tests.oracles import (
    UNIFORM,
    WITHOUT,
    dense_bias_variance,
    dense_column,
    dense_law,
    dense_target,
)  # fmt: skip

METRICS = ("Recall@10", "NDCG@10", "NDCG", "AP", "AUC")
CORRECTIONS = ("rank estimate", "CLS", "BV 0.1")
GIB = 1024.0  # in MiB

#: What a process of its own runs: builds its data, then times ``work()``.
SCRIPT = """
import io, json, sys, time
import numpy as np
import sampledash as sd
from tests.benchmarks import verdict as here
job, size = sys.argv[1], int(sys.argv[2])
work = getattr(here, job)(size)
seen = []
start = time.perf_counter()
result = work(lambda part: seen.append((time.perf_counter() - start, part)))
spent = time.perf_counter() - start
# Not ru_maxrss, which a child inherits from the process that started it.
peak = int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024
times = [0.0, *(at for at, _ in seen), spent]
longest = max(after - before for before, after in zip(times, times[1:]))
rising = all(0 <= a <= b <= 1 for (_, a), (_, b) in zip(seen, seen[1:]))
print(json.dumps([spent, peak, len(seen), longest, rising, result]))
"""


def alone(job: str, size: int) -> tuple[float, float, int, float, bool, Any]:
    """Seconds, peak MiB, progress calls, longest silence, whether they rise, and the result."""
    command = [sys.executable, "-c", SCRIPT, job, str(size)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    spent, peak, calls, longest, rising, result = json.loads(done.stdout.splitlines()[-1])
    return spent, peak, calls, longest, rising, result


def systems(number: int, instances: int, n: int, rng: np.random.Generator) -> list[sd.RankSet]:
    """Systems that rank the same instances, better and worse at the top in different ways."""
    sets = []
    for s in range(number):
        share = rng.beta(0.35 + 0.2 * s / number, 1.6 + s / number, instances)
        ranks = np.minimum(1 + (n * share).astype(np.int64), n)
        sets.append(sd.RankSet(f"S{s}", ranks, n, instances=np.arange(instances)))
    return sets


def whole(instances: int) -> Any:
    """Ten systems: uncorrected at every m, corrections on the quick ladder."""
    n = min(10_000, instances)
    sets = systems(10, instances, n, np.random.default_rng(0))

    def work(progress: Any) -> list[Any]:
        table = sd.verdict(
            METRICS, sets, 100, ("uncorrected", *CORRECTIONS), scheme=WITHOUT,
            m_values=quick_ladder(n - 1), progress=progress,
        )  # fmt: skip
        return [len(table), int(table.right_from.notna().sum())]

    return work


def many(number: int) -> Any:
    """Some hundred systems of 6,000 instances: all pairs."""
    sets = systems(number, 6_000, 3_706, np.random.default_rng(1))

    def work(progress: Any) -> list[Any]:
        table = sd.verdict(METRICS, sets, 100, scheme=WITHOUT, progress=progress)
        return [len(table), int((table.state == "wrong").sum())]

    return work


def budget(quick: bool) -> Iterator[Result]:
    """Ten systems, 100,000 instances, n = 10,000: under 10 s and 1 GiB, with progress.

    And all pairs of 200 systems.
    """
    instances = 300 if quick else 100_000
    spent, peak, calls, longest, rising, (rows, found) = alone("whole", instances)
    wrong = float(rows != 5 * 4 * 45) + float(not rising) + float(peak > GIB)

    yield Result(
        f"verdict, 10 systems x {instances:,}, 5 metrics, 4 corrections", spent, None,
        wrong, 0, within=None if quick else 10.0,
        note=f"peak {peak:.0f} MiB, {calls:,} progress calls, longest pause {longest:.1f} s, "
        f"{found} of {rows} right from some m",
    )  # fmt: skip
    number = 20 if quick else 200
    spent, peak, calls, longest, rising, (rows, wrong_rows) = alone("many", number)
    pairs = number * (number - 1) // 2
    yield Result(
        f"verdict, {number} systems x 6,000 instances, 5 metrics, every m", spent, None,
        float(rows != 5 * pairs) + float(not rising), 0,
        note=f"peak {peak:.0f} MiB, {rows:,} rows, {wrong_rows:,} wrong at m = 100",
    )  # fmt: skip


def same_numbers(quick: bool) -> Iterator[Result]:
    """A scaled-down verdict against the obvious way: dense laws, every m, every instance."""
    n, instances, m_max = 300, 200, 60 if quick else 299
    rng = np.random.default_rng(2)
    sets = systems(4, instances, n, rng)
    metrics = [sd.parse_metric(text) for text in METRICS]

    def ours() -> NDArray[np.float64]:
        table = sd.verdict(METRICS, sets, 50, scheme=WITHOUT, m_max=m_max)
        return table.right_from.fillna(0).to_numpy(dtype=float)

    def obvious() -> NDArray[np.float64]:
        means = np.zeros((m_max, len(metrics), len(sets)))
        for m in range(1, m_max + 1):
            values = np.array([x(np.arange(1, m + 2), m + 1) for x in metrics])
            law = np.stack([dense_column(n, m, s, WITHOUT) for s in range(m + 1)], axis=1)
            for i, ranks in enumerate(sets):
                means[m - 1, :, i] = (law[ranks.ranks - 1] @ values.T).mean(axis=0)
        exact = np.array([[np.mean(x(r.ranks, n)) for r in sets] for x in metrics])
        found = []
        for x in range(len(metrics)):
            for i in range(len(sets)):
                for j in range(i + 1, len(sets)):
                    a, b = (i, j) if exact[x, i] >= exact[x, j] else (j, i)
                    wrong = np.flatnonzero(means[:, x, a] - means[:, x, b] <= 1e-12)
                    last = wrong[-1] + 1 if len(wrong) else 0
                    found.append(0.0 if last == m_max else last + 1.0)
        return np.array(found)

    seconds, first = timed(ours)
    spent, second = timed(obvious)
    yield Result(
        f"verdict, 4 systems x {instances}, n = {n}, every m to {m_max}", seconds, spent,
        float(np.abs(first - second).max()), 0,
    )  # fmt: skip


def corrected(quick: bool) -> Iterator[Result]:
    """Flips of a corrected metric at every m up to 400 and 65 beyond, all of MovieLens.

    The obvious way has the law of all ranks and all their sums, at a tenth of the m; the difference
    is that of the expected corrected Recall at the first 100 ranks. γ = 0 has none: the entries of
    its vector reach 1e10 times the metric, and with them what rounding leaves of their mean.
    """
    sets, n, k = sd.example("movielens-xyz"), 3_541, 10
    top = 40 if quick else 3_705
    metric, target = sd.metric("recall", k=k), dense_target("recall", k, n)
    ladder = np.geomspace(1, min(top, 1_000), 6 if quick else 20).round().astype(int)
    for scheme in UNIFORM:
        for recipe in ("CLS", "BV 0.1", "LS"):
            fresh()

            def ours(recipe: str = recipe, scheme: str = scheme) -> list[sd.comparison.Flip]:
                return sd.flips(metric, sets, top, correction=recipe, scheme=scheme)

            def obvious(recipe: str = recipe, scheme: str = scheme) -> list[NDArray[np.float64]]:
                means = []
                for m in ladder.tolist():
                    law = dense_law(n, m, scheme)
                    if recipe == "CLS":
                        rows = np.linalg.qr(
                            np.column_stack([np.cumsum(law, axis=1), target]), mode="r"
                        )
                        steps = nnls(rows[:, :-1], rows[:, -1], maxiter=60 * m + 60)[0]
                        vector = np.cumsum(steps[::-1])[::-1]
                    elif recipe == "LS":
                        vector = np.linalg.lstsq(law, target, rcond=1e-10)[0]
                    else:
                        vector = dense_bias_variance(law, target, 0.1, None)
                    means.append(law[:100] @ vector)
                return means

            seconds, flips = timed(ours)
            spent, means = timed(obvious)
            correction, ranks = sd.parse_correction(recipe), np.arange(1, 101)
            apart = [
                np.abs(correction.fit(metric, sd.Sampling(n, m, scheme)).expected(ranks) - mean)
                for m, mean in zip(ladder.tolist(), means, strict=True)
                if recipe != "LS" or m <= 20
            ]
            yield Result(
                f"flips of {metric}, {recipe}, {scheme}, m to {top:,}", seconds,
                spent / len(ladder) * min(top, 465), float(np.max(apart)), 1e-10,
                within=None if quick else 8.0, note=f"at {[flip.m for flip in flips]}",
            )  # fmt: skip


def _rows(size: int) -> tuple[NDArray[np.int64], int]:
    n = 3_706
    rng = np.random.default_rng(3)
    return np.minimum(1 + (n * rng.beta(0.4, 2.0, size)).astype(np.int64), n), n


def read_csv(size: int) -> Any:
    """One rank a row, as text."""
    import io

    ranks, n = _rows(size)
    data = b"rank\n" + b"\n".join(np.char.mod(b"%d", ranks[:1000]).tolist()) + b"\n"
    data = b"rank\n" + data[5:] * (size // 1000)

    def work(progress: Any) -> list[Any]:
        (found,) = sd.read_rank_sets(io.BytesIO(data), name="ranks.csv", n=n)
        return [float(found.n_instances), sd.mean("AP", found), float(np.mean(1 / ranks[:1000]))]

    return work


def read_npy(size: int) -> Any:
    """One rank an entry of an array."""
    import io

    ranks, n = _rows(size)
    buffer = io.BytesIO()
    np.save(buffer, ranks)

    def work(progress: Any) -> list[Any]:
        (found,) = sd.read_rank_sets(io.BytesIO(buffer.getvalue()), name="ranks.npy", n=n)
        return [float(found.n_instances), sd.mean("AP", found), float(np.mean(1 / ranks))]

    return work


def read_counts(size: int) -> Any:
    """Rank and count: a histogram, counted before."""
    import io

    ranks, n = _rows(1000)
    lines = b"".join(b"%d,%d\n" % (r, 1 + i % 3) for i, r in enumerate(ranks.tolist()))
    data = b"rank,count\n" + lines * (size // 1000)
    weights = 1 + np.arange(1000) % 3

    def work(progress: Any) -> list[Any]:
        (found,) = sd.read_rank_sets(io.BytesIO(data), name="ranks.csv", n=n)
        mean = float(np.sum(weights / ranks) / weights.sum())
        return [float(found.n_instances) / weights.mean(), sd.mean("AP", found), mean]

    return work


def ten_million(quick: bool) -> Iterator[Result]:
    """A file of 10,000,000 rows until its first mean: under 5 s."""
    size = 100_000 if quick else 10_000_000
    for job, what in (
        ("read_csv", "one rank a row"), ("read_npy", "npy"), ("read_counts", "rank,count"),
    ):  # fmt: skip
        spent, peak, _, _, _, (rows, ours, obvious) = alone(job, size)
        yield Result(
            f"read {size:,} rows, {what}, and their AP", spent, None,
            abs(ours - obvious) + abs(rows - size), 1e-9, within=None if quick else 5.0,
            note=f"peak {peak:.0f} MiB",
        )  # fmt: skip


BENCHMARKS = (budget, same_numbers, corrected, ten_million)
