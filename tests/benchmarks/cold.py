"""What a first visit costs: ``python -m tests.benchmarks.cold [--visits 5] [--quick]``. A new
server and browser open the page Explore and, in turn, a page with only a Plotly chart of 200
points. Explore's first picture may take 1.4 times as long as the chart. Then sessions without a
browser open the page Consistency: ten may use 1.5 times the server's memory with one session."""

import tempfile
import time
from contextlib import AsyncExitStack
from pathlib import Path

import numpy as np

from tests.benchmarks.frame import options
from tests.benchmarks.live import PICTURE
from tests.benchmarks.servers import chromium, processor_seconds, resident, served
from tests.session import Session, finished

SLOWER, LARGER = 1.4, 1.5
DRAWN = ".js-plotly-plot .main-svg .trace"


def visit(script: str, page: str) -> tuple[float, float]:
    """Return the seconds until the first picture, and the processor seconds of the server."""
    with served(script) as (address, pid), chromium() as browser:
        tab, start = browser.new_page(viewport={"width": 1280, "height": 900}), time.perf_counter()
        tab.goto(f"{address}/{page}")
        tab.locator(DRAWN).first.wait_for(state="attached", timeout=60_000)
        return time.perf_counter() - start, processor_seconds(pid)


async def memory(address: str, pid: int, sessions: int) -> list[float]:
    """Open sessions one after another; return the server's memory in MiB after each of them."""
    held = []
    async with AsyncExitStack() as stack:
        for _ in range(sessions):
            session = await stack.enter_async_context(Session(address, "consistency"))
            await session.run()
            held.append(resident(pid))
    return held


def main() -> int:
    args = options(__doc__, visits=5, quick="one visit, three sessions")
    with tempfile.TemporaryDirectory() as folder:
        (blank := Path(folder) / "blank.py").write_text(PICTURE)
        pages = {"blank": (str(blank), ""), "explore": ("app.py", "explore")}
        visits = range(1 if args.quick else args.visits)
        took = [[visit(*page) for page in pages.values()] for _ in visits]
    medians = np.median(took, axis=0)
    for name, (seconds, python) in zip(pages, medians, strict=True):
        print(f"{name:8} first picture after {seconds:5.2f} s, python {python:5.2f} s")
    slower = medians[1, 0] / medians[0, 0]
    with served() as (address, pid):
        held = finished(memory(address, pid, 3 if args.quick else 10))
    larger = held[-1] / held[0]
    print(f"{slower:.2f} times the blank page (at most {SLOWER})")
    line = f"memory {held[0]:.0f} MiB with one session, {held[-1]:.0f} with {len(held)}"
    print(f"{line}: {larger:.2f} times (at most {LARGER})")
    return 0 if args.quick or (slower <= SLOWER and larger <= LARGER) else 1


if __name__ == "__main__":
    raise SystemExit(main())
