"""What a person waits for: verdicts, files of ten million rows, a moved control."""

from __future__ import annotations

import io
from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from scipy import stats

import sampledash as sd
from sampledash.comparison.order import quick_ladder
from sampledash.report.numbers import percent
from tests.benchmarks.frame import Result, alone, fresh, timed
from tests.oracles import UNIFORM, WITHOUT

METRICS = ("Recall@10", "NDCG@10", "NDCG", "AP", "AUC")
CHIPS = ("Recall@10", "NDCG", "AP")  # that are on at the start
FITTED = ("Recall@10", "NDCG@10", "AP")
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


def whole(number: int, instances: int, n: int, corrected: bool) -> Any:
    """Verdict of systems: at every m, or corrected too and then on the quick ladder."""
    sets = systems(number, instances, n, np.random.default_rng(corrected))
    corrections = ("uncorrected", *CORRECTIONS)[: None if corrected else 1]
    how = {"scheme": WITHOUT, "m_values": quick_ladder(n - 1) if corrected else None}

    def work(progress: Any) -> list[int]:
        table = sd.verdict(METRICS, sets, 100, corrections, progress=progress, **how)
        rows = len(corrections) * len(METRICS) * number * (number - 1) // 2
        return [len(table), rows, int(table.right_from.notna().sum())]

    return work


def budget(quick: bool) -> Iterator[Result]:
    """Ten systems, 100,000 instances, n = 10,000: under 10 s and 1 GiB, with progress.

    And all pairs of 200 systems of 6,000 instances.
    """
    small = (4, 300, 200, True), (20, 600, 370, False)
    large = (10, 100_000, 10_000, True), (200, 6_000, 3_706, False)
    for number, instances, n, corrected in small if quick else large:
        run = alone(whole, number, instances, n, corrected)
        rows, wanted, found = run.result
        wrong = (rows != wanted) + (not run.rising) + (corrected and run.peak > GIB)
        how = "5 metrics, 4 corrections" if corrected else "5 metrics, every m"
        name = f"verdict, {number} systems x {instances:,}, {how}"
        note = (
            f"peak {run.peak:.0f} MiB, {run.calls:,} progress calls, longest pause "
            f"{run.longest:.1f} s, {found:,} of {rows:,} right from some m"
        )
        limit = 10.0 if corrected and not quick else None
        yield Result(name, run.seconds, None, float(wrong), 0, within=limit, note=note)


def corrected(quick: bool) -> Iterator[Result]:
    """Flips of one and verdicts of three corrected metrics, at every m up to 400 and 65 beyond."""
    sets, top = sd.example("movielens-xyz"), 40 if quick else None
    limit = None if quick else 8.0
    for scheme, recipe in product(UNIFORM, ("CLS", "BV 0.1", "LS")):
        fresh()
        run = partial(sd.flips, "Recall@10", sets, top, correction=recipe, scheme=scheme)
        seconds, flips = timed(run)
        name, note = f"flips of Recall@10, {recipe}, {scheme}", f"at {[flip.m for flip in flips]}"
        yield Result(name, seconds, None, None, 0, within=limit, note=note)
        fresh()
        work = partial(sd.verdict, FITTED, sets, 100, [recipe], m_max=top, scheme=scheme)
        seconds, table = timed(work)
        # No order is right from an m below its last flip.
        last = {frozenset(flip[:2]): flip.m for flip in flips}
        rows = table[(table.metric == "Recall@10") & table.right_from.notna()]
        told = zip(rows.better, rows.worse, rows.right_from, strict=True)
        wrong = sum(m < last.get(frozenset(pair), 0) for *pair, m in told)
        name, note = f"verdict of 3 metrics, {recipe}, {scheme}", f"{rows.right_from.tolist()}"
        yield Result(name, seconds, None, float(wrong), 0, within=limit, note=note)


def many_ranks(quick: bool) -> Iterator[Result]:
    """Ten systems, a different rank for most instances: verdict on three metrics in seconds."""
    instances = 3_000 if quick else 300_000
    n, m, rng = 10 * instances, 100, np.random.default_rng(4)
    for vary, scheme in product((False, True), UNIFORM):
        sizes = n - rng.integers(0, n // 10, instances) if vary else np.full(instances, n)
        shares = [rng.random(instances) ** (3 + 0.4 * s) for s in range(10)]
        above = [np.floor(sizes * share).astype(np.int64) for share in shares]
        sets = [sd.RankSet(f"S{s}", x + 1, sizes) for s, x in enumerate(above)]
        fresh()
        ours, table = timed(partial(sd.verdict, CHIPS, sets, m, m_max=1_000, scheme=scheme))
        # Of the first metric and pair, from the law of every instance.
        row = table.iloc[0]
        pair = [above[int(row[end][1:])] for end in ("better", "worse")]

        def recalls(pair: list[Any] = pair, sizes: Any = sizes, scheme: str = scheme) -> Any:
            if scheme == WITHOUT:
                return [stats.hypergeom.cdf(9, sizes - 1, x, m).mean() for x in pair]
            return [stats.binom.cdf(9, m, x / (sizes - 1)).mean() for x in pair]

        obvious, (better, worse) = timed(recalls)
        how = f"{scheme}, {'different' if vary else 'one'} n"
        name = f"verdict, 10 systems x {instances:,} ranks, m to 1,000, {how}"
        note = f"obvious: the law of one metric and m for 2 of 10 systems, {obvious:.1f} s"
        yield Result(name, ours, None, abs(row["sampled"] - better + worse), 1e-12, note=note)


def read_file(kind: str, size: int) -> Any:
    """Read a file: instances over the rows, its AP, and what that is by numpy alone."""
    rng, weight = np.random.default_rng(3), 1.0
    ranks = np.minimum(1 + (3_706 * rng.beta(0.4, 2.0, 1000)).astype(np.int64), 3_706)
    mean, times, stream = np.mean(1 / ranks), size // 1000, io.BytesIO()
    if kind == "npy":
        np.save(stream, np.tile(ranks, times))
    elif kind == "one rank a row":
        stream.write(b"rank\n" + b"".join(b"%d\n" % r for r in ranks.tolist()) * times)
    else:
        counts = 1 + np.arange(1000) % 3
        rows = zip(ranks.tolist(), counts.tolist(), strict=True)
        stream.write(b"rank,count\n" + b"".join(b"%d,%d\n" % row for row in rows) * times)
        mean, weight = np.average(1 / ranks, weights=counts), float(counts.mean())
    name = "ranks.npy" if kind == "npy" else "ranks.csv"

    def work(progress: Any) -> list[float]:
        (found,) = sd.read_rank_sets(stream, name=name, n=3_706)
        return [found.n_instances / weight, sd.mean("AP", found), float(mean)]

    return work


def ten_million(quick: bool) -> Iterator[Result]:
    """A file of 10,000,000 rows until its first mean: under 5 s."""
    size = 100_000 if quick else 10_000_000
    for what in ("one rank a row", "npy", "rank,count")[: 1 if quick else None]:
        run = alone(read_file, what, size)
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
    share = rng.random((4, instances))
    ranks = [
        1 + (u**power * n).astype(np.int64) for u, power in zip(share, (2, 3, 4, 5), strict=True)
    ]
    table = {"system": np.repeat(list("ABCD"), instances), "user": user * 4}
    table |= {"rank": np.concatenate(ranks), "n_candidates": np.tile(n, 4)}
    return pd.DataFrame(table).to_csv(index=False).encode()


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
    from tests.dashboard.driver import Page

    at, steps = Page("explore"), iter(range(99, 99 + 8))
    seconds, _ = timed(lambda: at.put("m", next(steps)), 2 if quick else 8)
    sampling = sd.Sampling(10_000, int(at.number_input(key="m").value), "without-replacement")
    wanted = percent(float(sd.expected("Recall@10", 100, sampling)))
    shown = at.numbers["Recall@10, sampled"]
    yield Result("Explore, m moved, whole rerun", seconds, None, float(shown != wanted), 0)


BENCHMARKS = (budget, corrected, many_ranks, ten_million, upload, moved_control)
