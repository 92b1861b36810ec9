"""What a person waits for: a large upload until its verdict, and a moved control."""

from __future__ import annotations

import io
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from streamlit.testing.v1 import AppTest

import sampledash as sd
from sampledash.report.numbers import percent
from tests.benchmarks.core import Result, timed

APP = str(Path(__file__).parents[2] / "app.py")
METRICS = ("Recall@10", "NDCG", "AP")  # the chips that are on at the start


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
    judge, table = timed(lambda: sd.verdict(METRICS, sets, 100, scheme="without-replacement"))
    # The order of the exact means, from numpy alone.
    means = {s.system: np.mean(s.ranks <= 10) for s in sets}
    recall = table[table["metric"] == "Recall@10"]
    truth = recall["better"].map(means) - recall["worse"].map(means)
    gap = float(np.abs(truth - recall["exact"]).max())
    yield Result(f"{rows:,} rows to the verdict", read + judge, None, gap, 1e-12, within=4.0)


def moved_control(quick: bool) -> Iterator[Result]:
    """Whole reruns of the Explore page, the test driver's own work included."""
    at = AppTest.from_file(APP, default_timeout=60)
    at.switch_page("sampledash/dashboard/pages/explore.py").run()
    steps = iter(range(99, 99 + 8))

    def move() -> AppTest:
        return at.number_input(key="m").set_value(next(steps)).run()

    seconds, _ = timed(move, 2 if quick else 8)
    sampling = sd.Sampling(10_000, int(at.number_input(key="m").value), "without-replacement")
    wanted = percent(float(sd.expected("Recall@10", 100, sampling)))
    shown = next(number.value for number in at.metric if number.label == "Recall@10, sampled")
    yield Result("Explore, m moved, whole rerun", seconds, None, float(shown != wanted), 0)


BENCHMARKS = (upload, moved_control)
