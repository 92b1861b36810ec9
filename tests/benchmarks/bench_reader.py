"""Time to read a million ranks, written as long CSV, into rank sets.

Run: ``python tests/benchmarks/bench_reader.py``.
"""

from __future__ import annotations

import io
import time

import numpy as np
import pandas as pd

from sampledash.readers import read_rank_sets

ROWS = 1_000_000
SYSTEMS = ("A", "B", "C", "D")


def million_rows(*, text_labels: bool) -> pd.DataFrame:
    """Four systems, 250,000 instances, every instance with its own n."""
    rng = np.random.default_rng(20)
    instances = ROWS // len(SYSTEMS)
    n = rng.integers(2_000, 4_000, instances)
    user = np.arange(instances)
    frames = [
        pd.DataFrame(
            {
                "system": system,
                "user": [f"user-{u}" for u in user] if text_labels else user,
                "rank": 1 + (rng.random(instances) ** 3 * n).astype(np.int64),
                "n_candidates": n,
            }
        )
        for system in SYSTEMS
    ]
    return pd.concat(frames)


def seconds(data: bytes, name: str) -> float:
    """Best of three."""
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        sets = read_rank_sets(io.BytesIO(data), name=name)
        best = min(best, time.perf_counter() - start)
    if sum(map(len, sets)) != ROWS:
        raise RuntimeError("rows were lost")
    return float(best)


def main() -> None:
    """Print rows and seconds for each form."""
    for text_labels in (False, True):
        frame = million_rows(text_labels=text_labels)
        labels = "text labels" if text_labels else "integer labels"
        csv = frame.to_csv(index=False).encode()
        print(f"CSV, {labels}: {ROWS:,} rows in {seconds(csv, 'ranks.csv'):.2f} s")
        shuffled = frame.sample(frac=1, random_state=1).to_csv(index=False).encode()
        print(f"CSV, {labels}, rows in random order: {seconds(shuffled, 'ranks.csv'):.2f} s")
        buffer = io.BytesIO()
        frame.to_parquet(buffer)
        print(f"Parquet, {labels}: {seconds(buffer.getvalue(), 'ranks.parquet'):.2f} s")


if __name__ == "__main__":
    main()
