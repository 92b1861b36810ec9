"""A reader beside one who trains: how long a change on Explore takes, alone and while it goes on.

``python -m tests.benchmarks.beside_training [--changes 30]`` starts a server of its own. The Lab
trains recommenders that take minutes; their steps are as long as on large data. Fails where the
median of a change is more than 3 times that without training.
"""

from __future__ import annotations

import argparse
import asyncio
import time

import numpy as np

from tests.session import Session, serve, widget

#: Chip and knobs of what is trained.
TRAINED = {
    "X: iALS": ("knobs_x_ials", "iALS d=64 sweeps=1000"),
    "Binary-Logistic": ("knobs_binary_logistic", "AllRank-Binary-Logistic steps=1000"),
    "Observed, λ .05": ("knobs_observed_λ_05", "observed-only sweeps=1000"),
    "Y: itemCF": ("knobs_y_itemcf", "itemCF q=3 k=all"),
}
PAUSE = 0.2  # seconds between two changes


async def changes(explore: Session, moved: object, values: list[int]) -> list[float]:
    """Seconds that each change of m takes."""
    waits = []
    for m in values:
        moved.double_value = m
        clock = time.perf_counter()
        await explore.run(moved)
        waits.append(time.perf_counter() - clock)
        await asyncio.sleep(PAUSE)
    return waits


async def measured(address: str, size: int) -> float:
    """Print the waits alone and beside each training; the worst ratio of medians."""
    values = iter(range(20, 100_000))
    worst = 0.0
    async with Session(address, "explore") as explore:
        moved = widget(await explore.run(), "m")
        await changes(explore, moved, [next(values) for _ in range(5)])  # what is loaded once
        for chip, (key, knobs) in TRAINED.items():
            alone = await changes(explore, moved, [next(values) for _ in range(size)])
            async with Session(address, "lab", recommenders=chip, **{key: knobs}) as lab:
                button = widget(await lab.run(), "train")
                button.trigger_value = True
                training = asyncio.create_task(lab.run(button))
                await asyncio.sleep(1)
                beside = await changes(explore, moved, [next(values) for _ in range(size)])
                going, sent = not training.done(), len(lab.sent)
                training.cancel()
            ratio = float(np.median(beside) / np.median(alone))
            worst = max(worst, ratio if going else 0)
            (p50, p95), (q50, q95) = (np.quantile(x, [0.5, 0.95]) for x in (alone, beside))
            print(
                f"{chip:18} alone p50 {p50:.3f} p95 {p95:.3f} s   beside p50 {q50:.3f} p95 "
                f"{q95:.3f} s   ratio {ratio:.2f}, p95 {q95 / p95:.2f}   "
                f"{sent} messages, {'still training' if going else 'ended before'}",
                flush=True,
            )
    return worst


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--changes", type=int, default=30, help="of m, alone and beside")
    asked = parser.parse_args()
    process, address = serve()
    try:
        worst = asyncio.run(measured(address, asked.changes))
    finally:
        process.terminate()
        process.communicate(timeout=20)
    print(f"worst ratio of medians: {worst:.2f}")
    return 0 if worst <= 3 else 1


if __name__ == "__main__":
    raise SystemExit(main())
