"""What a person waits for: verdicts, files of ten million rows, a moved control."""

from __future__ import annotations

import io
from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.optimize import nnls

import sampledash as sd
from sampledash.comparison.order import quick_ladder
from sampledash.report.numbers import percent
from tests.benchmarks.frame import Result, alone, fresh, timed
from tests.oracles import (
    UNIFORM,
    WITHOUT,
    dense_bias_variance,
    dense_column,
    dense_law,
    dense_target,
)

METRICS = ("Recall@10", "NDCG@10", "NDCG", "AP", "AUC")
CHIPS = ("Recall@10", "NDCG", "AP")  # that are on at the start
CORRECTIONS = ("rank estimate", "CLS", "BV 0.1")
GIB = 1024.0  # in MiB


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
        how = {"scheme": WITHOUT, "m_values": quick_ladder(n - 1), "progress": progress}
        table = sd.verdict(METRICS, sets, 100, ("uncorrected", *CORRECTIONS), **how)
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
    run = alone(whole, instances)
    rows, found = run.result
    wrong = float(rows != 5 * 4 * 45) + float(not run.rising) + float(run.peak > GIB)
    name = f"verdict, 10 systems x {instances:,}, 5 metrics, 4 corrections"
    note = (
        f"peak {run.peak:.0f} MiB, {run.calls:,} progress calls, longest pause "
        f"{run.longest:.1f} s, {found} of {rows} right from some m"
    )
    limit = None if quick else 10.0
    yield Result(name, run.seconds, None, wrong, 0, within=limit, note=note)
    number = 20 if quick else 200
    run = alone(many, number)
    rows, wrong_rows = run.result
    wrong = float(rows != 5 * number * (number - 1) // 2) + float(not run.rising)
    name = f"verdict, {number} systems x 6,000 instances, 5 metrics, every m"
    note = f"peak {run.peak:.0f} MiB, {rows:,} rows, {wrong_rows:,} wrong at m = 100"
    yield Result(name, run.seconds, None, wrong, 0, note=note)


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
    name = f"verdict, 4 systems x {instances}, n = {n}, every m to {m_max}"
    yield Result(name, seconds, spent, float(np.abs(first - second).max()), 0)


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
            name = f"flips of {metric}, {recipe}, {scheme}, m to {top:,}"
            whole_spent, limit = spent / len(ladder) * min(top, 465), None if quick else 8.0
            off, note = float(np.max(apart)), f"at {[flip.m for flip in flips]}"
            yield Result(name, seconds, whole_spent, off, 1e-10, within=limit, note=note)


def _first_mean(name: str, data: bytes, mean: Any, weight: float = 1.0) -> Any:
    """Read a file: instances, each of a weight, its AP, and what that is by numpy alone."""

    def work(progress: Any) -> list[float]:
        (found,) = sd.read_rank_sets(io.BytesIO(data), name=name, n=3_706)
        return [found.n_instances / weight, sd.mean("AP", found), float(mean)]

    return work


def _rows(size: int) -> NDArray[np.int64]:
    share = np.random.default_rng(3).beta(0.4, 2.0, size)
    return np.minimum(1 + (3_706 * share).astype(np.int64), 3_706)


def read_csv(size: int) -> Any:
    """One rank a row, as text."""
    ranks = _rows(1000)
    lines = b"".join(b"%d\n" % r for r in ranks.tolist())
    return _first_mean("ranks.csv", b"rank\n" + lines * (size // 1000), np.mean(1 / ranks))


def read_npy(size: int) -> Any:
    """One rank an entry of an array."""
    ranks, buffer = _rows(size), io.BytesIO()
    np.save(buffer, ranks)
    return _first_mean("ranks.npy", buffer.getvalue(), np.mean(1 / ranks))


def read_counts(size: int) -> Any:
    """Rank and count: a histogram, counted before."""
    ranks, weights = _rows(1000), 1 + np.arange(1000) % 3
    lines = b"".join(b"%d,%d\n" % row for row in zip(ranks.tolist(), weights.tolist(), strict=True))
    mean, data = np.average(1 / ranks, weights=weights), b"rank,count\n" + lines * (size // 1000)
    return _first_mean("ranks.csv", data, mean, float(weights.mean()))


def ten_million(quick: bool) -> Iterator[Result]:
    """A file of 10,000,000 rows until its first mean: under 5 s."""
    size = 100_000 if quick else 10_000_000
    kinds = {"one rank a row": read_csv, "npy": read_npy, "rank,count": read_counts}
    for what, job in kinds.items():
        run = alone(job, size)
        rows, ours, obvious = run.result
        off, limit = abs(ours - obvious) + abs(rows - size), None if quick else 5.0
        name, note = f"read {size:,} rows, {what}, and their AP", f"peak {run.peak:.0f} MiB"
        yield Result(name, run.seconds, None, off, 1e-9, within=limit, note=note)


def long_csv(rows: int) -> bytes:
    """Four systems, text labels, every instance with its own n."""
    rng = np.random.default_rng(20)
    instances = rows // 4
    n = rng.integers(2_000, 4_000, instances)
    user = [f"user-{u}" for u in range(instances)]
    frames = [
        pd.DataFrame(
            {
                "system": system,
                "user": user,
                "rank": 1 + (rng.random(instances) ** power * n).astype(np.int64),
                "n_candidates": n,
            }
        )
        for system, power in zip("ABCD", (2, 3, 4, 5), strict=True)
    ]
    return pd.concat(frames).to_csv(index=False).encode()


def upload(quick: bool) -> Iterator[Result]:
    """Bytes to rank sets, and on to the verdict."""
    rows = 10_000 if quick else 1_000_000
    data = long_csv(rows)
    read, sets = timed(lambda: sd.read_rank_sets(io.BytesIO(data), name="ranks.csv"), 3)
    lost = float(rows - sum(map(len, sets)))
    yield Result(f"read {rows:,} rows", read, None, lost, 0)
    judge, table = timed(lambda: sd.verdict(CHIPS, sets, 100, scheme="without-replacement"))
    # The order of the exact means, from numpy alone.
    means = {s.system: np.mean(s.ranks <= 10) for s in sets}
    recall = table[table["metric"] == "Recall@10"]
    truth = recall["better"].map(means) - recall["worse"].map(means)
    gap = float(np.abs(truth - recall["exact"]).max())
    yield Result(f"{rows:,} rows to the verdict", read + judge, None, gap, 1e-12, within=4.0)


def moved_control(quick: bool) -> Iterator[Result]:
    """Whole reruns of the Explore page, the test driver's own work included."""
    from tests.dashboard.driver import numbers, open_page, put

    at, steps = open_page("explore"), iter(range(99, 99 + 8))
    seconds, _ = timed(lambda: put(at, "m", next(steps)), 2 if quick else 8)
    sampling = sd.Sampling(10_000, int(at.number_input(key="m").value), "without-replacement")
    wanted = percent(float(sd.expected("Recall@10", 100, sampling)))
    shown = numbers(at)["Recall@10, sampled"]
    yield Result("Explore, m moved, whole rerun", seconds, None, float(shown != wanted), 0)


BENCHMARKS = (budget, same_numbers, corrected, ten_million, upload, moved_control)
