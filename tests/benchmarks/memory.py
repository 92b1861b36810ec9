"""The server's memory after readers have left: ``python -m tests.benchmarks.memory [--quick]``. A
reader uploads a file of some 130 MiB and closes the tab: two minutes later the server may use 60
MiB more than before. Then 40 readers come and go in several rounds; after the last round the
server may use 20 MiB more than after the second, when shared results are already in memory."""

import asyncio
import time

import numpy as np

from tests.benchmarks.frame import options
from tests.benchmarks.load import Reader
from tests.benchmarks.servers import resident, served
from tests.session import Session

MORE_AFTER_UPLOAD, MORE_AFTER_ROUNDS = 60, 20  # MiB
PATIENCE = 120  # seconds


def table(rows: int) -> bytes:
    """Return a file with the ranks of two systems, one rank per row."""
    shares = np.random.default_rng(1).random((2, rows // 2)) ** [[2], [3]]
    both = zip("AB", (1 + shares * 99_999).astype(int), strict=True)
    lines = (f"{system},{rank},100000" for system, ranks in both for rank in ranks)
    return "\n".join(["system,rank,n", *lines]).encode()


async def uploaded(address: str, data: bytes, pid: int) -> float:
    """Upload a file, then close the page; return the server's memory in MiB before it is closed."""
    async with Session(address, "consistency", source="Upload a file") as session:
        await session.run()
        await session.upload("ranks_file", "ranks.csv", data)
        return resident(pid)


async def visited(address: str, *numbers: int) -> None:
    """Let readers with these numbers open the page, move m twice and close the page."""
    begin = time.perf_counter()
    await asyncio.gather(*(Reader(number).read(address, 2, 0.05, begin) for number in numbers))


def main() -> int:
    quick = options(__doc__, quick="a small file, two rounds of three").quick
    data = table(100_000 if quick else 9_900_000)
    rounds, size = (2, 3) if quick else (5, 40)
    with served() as (address, pid):
        for number in (0, 901):  # these visits fill the server's caches, and are not measured
            asyncio.run(visited(address, number))
        base = resident(pid)
        most = asyncio.run(uploaded(address, data, pid)) - base
        time.sleep(PATIENCE)
        after = resident(pid) - base
        line = f"an upload of {len(data) / 2**20:.0f} MiB: {most:+.0f} MiB while it is open, "
        line += f"{after:+.0f} MiB {PATIENCE} s after the tab is closed"
        print(f"{line} (at most {MORE_AFTER_UPLOAD})")
        held = []
        for number in range(rounds):
            asyncio.run(visited(address, *range(1 + size * number, 1 + size * (number + 1))))
            most, which = resident(pid) - base, f"round {number + 1} of {size} readers"
            time.sleep(PATIENCE)
            held.append(resident(pid) - base)
            print(f"{which}: {most:+.0f} MiB, then {held[-1]:+.0f} MiB")
    growth = held[-1] - held[1]
    print(f"after the last round {growth:+.0f} MiB (at most {MORE_AFTER_ROUNDS})")
    return 0 if after <= MORE_AFTER_UPLOAD and growth <= MORE_AFTER_ROUNDS else 1


if __name__ == "__main__":
    raise SystemExit(main())
