"""Times of verdicts, files of ten million rows and the command line; effects of wrong arguments."""

import io
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import sampledash as sd
from sampledash.comparison.order import quick_ladder
from tests.benchmarks.frame import Result, alone, timed
from tests.oracles import WITHOUT
from tests.wrong_calls import wrong_calls

METRICS = ("Recall@10", "NDCG@10", "NDCG", "AP", "AUC")
CHIPS = ("Recall@10", "NDCG", "AP")  # metrics that the dashboard selects at first
CORRECTIONS = ("uncorrected", "rank estimate", "CLS", "BV 0.1")
MOST_SECONDS = 60  # limit for one call with wrong arguments
ROOT = Path(__file__).parents[2]
RANKS = "system,rank,n_candidates\nA,11,200\nA,11,200\nB,4,200\nB,150,200\n"


def judged(number: int, instances: int, n: int, corrected: bool) -> Any:
    """Return a job that computes a verdict on random systems. The verdict is for every m without
    correction or, if ``corrected``, for a few m with and without corrections."""
    rng, sets = np.random.default_rng(corrected), []
    for s in range(number):
        share = rng.beta(0.35 + 0.2 * s / number, 1.6 + s / number, instances)
        ranks = np.minimum(1 + (n * share).astype(np.int64), n)
        sets.append(sd.RankSet(f"S{s}", ranks, n, instances=np.arange(instances)))
    corrections = CORRECTIONS[: None if corrected else 1]
    how = {"scheme": WITHOUT, "m_values": quick_ladder(n - 1) if corrected else None}

    def work(progress: Any) -> list[int]:
        table = sd.verdict(METRICS, sets, 100, corrections, progress=progress, **how)
        rows = len(corrections) * len(METRICS) * number * (number - 1) // 2
        return [len(table), rows, int(table.right_from.notna().sum())]

    return work


def budget(quick: bool) -> Iterator[Result]:
    """Time a verdict on ten systems, 100,000 instances, n = 10,000: up to 10 s and 1 GiB. A
    verdict on 200 systems with 6,000 instances is measured too, without a limit."""
    small = (4, 300, 200, True), (20, 600, 370, False)
    large = (10, 100_000, 10_000, True), (200, 6_000, 3_706, False)
    for number, instances, n, corrected in small if quick else large:
        run = alone(judged, number, instances, n, corrected)
        rows, wanted, right = run.result
        wrong = (rows != wanted) + (not run.rising) + (corrected and run.peak > 1024)
        how = "5 metrics, 4 corrections" if corrected else "5 metrics, every m"
        name = f"verdict, {number} systems x {instances:,}, {how}"
        note = f"{run.told()}, {run.calls:,} progress calls, {right:,} of {rows:,} right from an m"
        limit = 10.0 if corrected else None
        yield Result(name, run.seconds, None, float(wrong), 0, None, limit, note)


def read_file(kind: str, size: int) -> Any:
    """Return a job that reads a file, and returns its number of rows, mean AP and true mean AP."""
    rng, counts = np.random.default_rng(3), 1 + np.arange(1000) % 3 * (kind == "rank,count")
    ranks = np.minimum(1 + (3_706 * rng.beta(0.4, 2.0, 1000)).astype(np.int64), 3_706)
    stream = io.BytesIO()
    if kind == "npy":
        np.save(stream, np.tile(ranks, size // 1000))
    else:
        rows = zip(ranks, *[counts] * kind.count(","), strict=True)
        lines = "".join(",".join(map(str, row)) + "\n" for row in rows)
        stream.write(b"%s\n" % kind.encode() + lines.encode() * (size // 1000))

    def work(progress: Any) -> list[float]:
        name = "ranks.npy" if kind == "npy" else "ranks.csv"
        (ours,) = sd.read_rank_sets(stream, name=name, n=3_706)
        mean = float(np.average(1 / ranks, weights=counts))
        return [ours.n_instances / float(counts.mean()), sd.mean("AP", ours), mean]

    return work


def ten_million(quick: bool) -> Iterator[Result]:
    """Read a file of 10,000,000 rows and compute its mean AP, within 5 s."""
    size = 100_000 if quick else 10_000_000
    for what in ("rank", "npy", "rank,count")[: 1 if quick else None]:
        run = alone(read_file, what, size)
        rows, ours, obvious = run.result
        name, off = f"read {size:,} rows, {what}, and their AP", abs(ours - obvious)
        yield Result(name, run.seconds, None, off + abs(rows - size), 1e-9, within=5.0)


def upload(quick: bool) -> Iterator[Result]:
    """Time the verdict on a file of a million rows: four systems, text labels, different n."""
    rows, rng = 10_000 if quick else 1_000_000, np.random.default_rng(20)
    instances = rows // 4
    n, share = rng.integers(2_000, 4_000, instances), rng.random((4, instances))
    ranks = 1 + (share ** [[2], [3], [4], [5]] * n).astype(np.int64)
    users = [f"user-{u}" for u in range(instances)] * 4
    table = {"system": np.repeat(list("ABCD"), instances), "user": users}
    table |= {"rank": ranks.ravel(), "n_candidates": np.tile(n, 4)}
    data = pd.DataFrame(table).to_csv(index=False).encode()
    read, sets = timed(lambda: sd.read_rank_sets(io.BytesIO(data), name="ranks.csv"), 3)
    yield Result(f"read {rows:,} rows", read, None, float(rows - sum(map(len, sets))), 0)
    judge, found = timed(lambda: sd.verdict(CHIPS, sets, 100, scheme="without-replacement"))
    # The verdict's differences of exact means are compared with those computed by numpy alone.
    means = dict(zip("ABCD", np.mean(ranks <= 10, axis=1), strict=True))
    recall = found[found["metric"] == "Recall@10"]
    truth = recall["better"].map(means) - recall["worse"].map(means)
    gap = float(np.abs(truth - recall["exact"]).max())
    yield Result(f"{rows:,} rows to the verdict", read + judge, None, gap, 1e-12, within=4.0)


def check_of_a_small_file(quick: bool) -> Iterator[Result]:
    """Time ``sampledash check``: up to a second longer than starting Python and importing NumPy."""

    def seconds(*words: str) -> float:
        how = {"cwd": ROOT, "stdout": subprocess.DEVNULL, "check": False}
        return timed(lambda: subprocess.run([sys.executable, *words], **how), 5)[0]

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "ranks.csv")
        path.write_text(RANKS, encoding="utf-8")
        both = seconds("-m", "sampledash", "check", str(path), "--metric", "AP", "--m", "100")
    own = both - seconds("-c", "import numpy")
    yield Result("sampledash check, beyond Python and NumPy", own, None, None, 0, within=1.0)


def wrong_arguments(quick: bool) -> Iterator[Result]:
    """Check that calls with wrong arguments raise ValueError or TypeError, within a minute each."""

    def too_long(*_: object) -> None:
        raise TimeoutError(f"longer than {MOST_SECONDS} s")

    def wrong() -> Iterator[str]:
        for call in islice(wrong_calls(2), count):
            signal.alarm(MOST_SECONDS)
            if fault := call.judged():
                yield f"{call}: {fault}"
        signal.alarm(0)

    count, before = 300 if quick else 3000, signal.signal(signal.SIGALRM, too_long)
    seconds, faults = timed(lambda: list(wrong()))
    signal.signal(signal.SIGALRM, before)
    note = f"{len(faults)} wrong {faults[:3] or ''}"
    yield Result(f"{count:,} calls with wrong arguments", seconds, None, len(faults), 0, note=note)


BENCHMARKS = budget, ten_million, upload, check_of_a_small_file, wrong_arguments
