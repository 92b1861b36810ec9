"""A reader beside one who trains: how long a change on Explore takes, alone and while it goes on.

``python -m tests.benchmarks.beside_training [--changes 20] [--only EASE]`` starts a server of its
own, whose synthetic world is as large as MovieLens 1M. Every recommender of the Lab is trained
with the knobs of the papers, with one seed after the other, as often as the changes take. Fails
where the median of a change is more than 3 times that without training, or where the first bar or
a halt takes more than a second.
"""

import asyncio
import time
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from sampledash.analyses.lab.result import OFFERED
from tests.benchmarks.frame import options
from tests.benchmarks.servers import served
from tests.session import ROOT, Session, widget

PAUSE = 0.2  # seconds between two changes
ROUNDS = 8  # trainings at most, of what is trained in no time
LARGE = f"""import runpy
import sampledash.lab.interactions as world
world._USERS, world._ITEMS, world._MORE = 6000, 3700, 160
runpy.run_path({str(ROOT / "app.py")!r}, run_name="__main__")
"""


async def changes(explore, moved, values, size: int, going: asyncio.Task[Any]) -> list[float]:
    """Seconds that each change of m takes, as long as something goes on."""
    waits: list[float] = []
    while len(waits) < size and not going.done():
        moved.double_value = next(values)
        clock = time.perf_counter()
        await explore.run(moved)
        waits.append(time.perf_counter() - clock)
        await asyncio.sleep(PAUSE)
    return waits


async def until(ends: str, lab: Session, going: asyncio.Task[Any]) -> float:
    """Seconds until something of a kind or key that ends so is shown, or all is."""
    clock = time.perf_counter()
    while not going.done():
        if any(f"{type(x).__name__}{getattr(x, 'id', '')}".endswith(ends) for x in lab.shown):
            break
        await asyncio.sleep(0.002)
    return time.perf_counter() - clock


async def training(lab: Session) -> asyncio.Task[Any]:
    """Press the button that begins."""
    begin = widget(await lab.run(), "train")
    begin.trigger_value = True
    return asyncio.create_task(lab.run(begin))


async def bar_and_halt(lab: Session) -> tuple[float, float]:
    """Seconds from the button to the first bar, and from a halt until it is one."""
    going = await training(lab)
    first = await until("Progress", lab, going)
    await until("-halt", lab, going)
    await asyncio.wait([going], timeout=first)
    halt = widget(lab.shown, "halt")
    halt.trigger_value = True
    await lab.ask(halt)
    halted = await until("-go_on", lab, going)
    going.cancel()
    return first, halted


async def measured(address: str, chips: list[str], size: int) -> bool:
    """Print the waits alone and beside each training, of a bar and of a halt; whether all do."""
    values, seeds = count(20), count(1)
    good = True
    async with Session(address, "explore") as explore:
        moved, nothing = widget(await explore.run(), "m"), asyncio.create_task(asyncio.sleep(3600))
        await changes(explore, moved, values, 5, nothing)  # what is loaded once
        for chip in chips:
            alone = await changes(explore, moved, values, size, nothing)
            beside, rounds = list[float](), 0
            while len(beside) < size and rounds < ROUNDS:
                rounds += 1
                async with Session(address, "lab", recommenders=chip, lab_seed=next(seeds)) as lab:
                    going = await training(lab)
                    beside += await changes(explore, moved, values, size - len(beside), going)
                    going.cancel()
            async with Session(address, "lab", recommenders=chip, lab_seed=next(seeds)) as lab:
                bar, halted = await bar_and_halt(lab)
            ratio = float(np.median(beside) / np.median(alone))
            good &= ratio <= 3 and max(bar, halted) <= 1
            p95 = [np.quantile(x, 0.95) for x in (alone, beside)]
            line = f"{chip:18} {ratio:.2f} times, p95 {p95[0]:.3f} s alone, {p95[1]:.3f} s beside, "
            line += f"{len(beside)} changes   bar after {bar:.2f} s, halted after {halted:.2f} s"
            print(line, flush=True)
        nothing.cancel()
    return good


def main() -> int:
    args = options(__doc__, OFFERED, changes=20)
    with TemporaryDirectory() as folder:
        script = Path(folder) / "large.py"
        script.write_text(LARGE, encoding="utf-8")
        with served(script) as (address, _):
            good = asyncio.run(measured(address, args.only, args.changes))
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
