"""What a first visit costs: ``python -m tests.benchmarks.cold [--visits 5] [--quick]``.

A fresh server and a fresh browser open Explore, in turn with a blank Streamlit page of one Plotly
chart of 200 points, until the first picture stands: at most 1.4 times as long. Then readers without
a browser open Consistency: 10 may take 1.5 times the memory of one.
"""

import argparse
import subprocess
import sys
import tempfile
import time
from contextlib import AsyncExitStack, closing
from pathlib import Path
from typing import Any

import numpy as np
from playwright.sync_api import sync_playwright

from tests.benchmarks.live import PICTURE
from tests.benchmarks.load import processor_seconds, served
from tests.browser.conftest import QUIET, chromium_path
from tests.session import Session, finished

SLOWER, LARGER = 1.4, 1.5
DRAWN = ".js-plotly-plot .main-svg .trace"


def visit(playwright: Any, script: str, page: str) -> tuple[float, float]:
    """Seconds from the address to the first picture, and processor seconds of the server."""
    how = {"executable_path": chromium_path(), "args": QUIET}
    with served(script) as (address, pid), closing(playwright.chromium.launch(**how)) as browser:
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        start = time.perf_counter()
        tab.goto(f"{address}/{page}")
        tab.locator(DRAWN).first.wait_for(state="attached", timeout=60_000)
        return time.perf_counter() - start, processor_seconds(pid)


def resident(pid: int) -> float:
    """MiB of a process."""
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0]) / 1024


async def memory(address: str, pid: int, sessions: int) -> list[float]:
    """MiB of the server with one open session after the other."""
    found = []
    async with AsyncExitStack() as stack:
        for _ in range(sessions):
            session = await stack.enter_async_context(Session(address, "consistency"))
            await session.run()
            found.append(resident(pid))
    return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--visits", type=int, default=5)
    parser.add_argument("--quick", action="store_true", help="one visit, three sessions")
    args = parser.parse_args()
    took: dict[str, list[tuple[float, float]]] = {"blank": [], "explore": []}
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        (blank := Path(folder) / "blank.py").write_text(PICTURE)
        for _ in range(1 if args.quick else args.visits):
            took["blank"].append(visit(playwright, str(blank), ""))
            took["explore"].append(visit(playwright, "app.py", "explore"))
    medians = {name: np.median(each, axis=0) for name, each in took.items()}
    for name, (seconds, python) in medians.items():
        print(f"{name:8} first picture after {seconds:5.2f} s, python {python:5.2f} s")
    slower = medians["explore"][0] / medians["blank"][0]
    with served() as (address, pid):
        found = finished(memory(address, pid, 3 if args.quick else 10))
    larger = found[-1] / found[0]
    print(f"{slower:.2f} times the blank page (at most {SLOWER})")
    print(
        f"memory {found[0]:.0f} MiB with one session, {found[-1]:.0f} with {len(found)}: "
        f"{larger:.2f} times (at most {LARGER})"
    )
    starts = [imported() for _ in range(1 if args.quick else args.visits)]
    seconds, python = np.median(starts, axis=0)
    print(f"import sampledash: {seconds:.2f} s, processor {python:.2f} s")
    return 0 if args.quick or (slower <= SLOWER and larger <= LARGER) else 1


def imported() -> tuple[float, float]:
    """Wall and processor seconds of a process that imports sampledash."""
    told = "import time, sampledash; print(time.process_time())"
    start = time.perf_counter()
    done = subprocess.run([sys.executable, "-c", told], capture_output=True, text=True, check=True)
    return time.perf_counter() - start, float(done.stdout)


if __name__ == "__main__":
    raise SystemExit(main())
