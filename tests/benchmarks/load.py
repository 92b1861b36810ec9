"""Thirty sessions at once, without browsers, that show ranks of their own and change m. ``python
-m tests.benchmarks.load [--sessions 30] [--changes 15] [--every 2] [--quick]`` starts a server.
First one session shows the bundled ranks, then one pastes ranks, then all paste different ranks,
of differently named systems, at the same time. The numbers that a session shows are compared with
those computed here, and no session may be sent a name that was pasted in another session.
``--nginx`` starts two servers behind nginx with the configuration of docs/pages/serving.md."""

import asyncio
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from urllib.parse import urlsplit

import numpy as np

import sampledash as sd
from sampledash.report.numbers import count, in_runs
from tests.benchmarks.frame import options
from tests.benchmarks.servers import processor_seconds, served
from tests.session import ROOT, Session, texts, widget

N = 1000
METRICS = ("Recall@10", "NDCG", "AP")  # metrics that are selected when the page opens
STARTS_AT, STEP = 40, 7  # the first m, and how much each change adds to m
NAME = re.compile(rb"[ABC]reader\d{3}")


@dataclass
class Reader:
    """One session: the ranks that it pastes, and what the page has shown."""

    number: int  # reader 0 shows the bundled ranks, all others paste ranks
    opening: float = 0.0  # seconds until the page is shown
    waits: list[float] = field(default_factory=list)  # seconds until each change of m is shown
    seen: list[tuple[list[Any], int]] = field(default_factory=list)  # per m: (shown elements, m)
    names_sent: set[str] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.names = [f"{letter}reader{self.number:03d}" for letter in "ABC"]
        ranks = 1 + np.random.default_rng(self.number).random((3, 10)) ** [[2], [3], [4]] * (N - 1)
        named = zip(self.names, ranks.astype(int), strict=True)
        self.sets = [sd.RankSet(name, own, n=N) for name, own in named]
        if not self.number:
            self.sets = sd.example("movielens-xyz")

    async def read(self, address: str, changes: int, every: float, begin: float) -> None:
        """Open the page, then change m at regular intervals."""
        query: dict[str, object] = {"m": STARTS_AT}
        if self.number:
            rows = [f"{one.system}: {', '.join(map(str, one.ranks))}" for one in self.sets]
            query |= {"source": "Paste ranks", "ranks": "; ".join([*rows, f"n = {N}"])}
        async with Session(address, "consistency", **query) as session:

            async def show(m: int, *moved: Any) -> float:
                clock = time.perf_counter()
                self.seen.append((await session.run(*moved), m))
                return time.perf_counter() - clock

            self.opening = await show(STARTS_AT)
            moved = widget(session.shown, "m")
            for change in range(changes):
                due = begin + every * (change + self.number % 30 / 30)
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                m = STARTS_AT + STEP * (change + 1) + self.number % STEP
                moved.double_value = m
                self.waits.append(await show(m, moved))
            self.names_sent = {x.decode() for data in session.sent for x in NAME.findall(data)}

    def wrong(self) -> list[str]:
        """Return a message for each m whose sentence or figures (:func:`strip_of`) were wrong."""
        found, sets = [], self.sets
        for shown, m in self.seen:
            strip = {x.label: x.body for x in shown if type(x).__name__ == "Metric"}
            said = next((x for x in texts(shown, "Markdown") if x.startswith("### ")), "")
            metric = next((x for x in METRICS if f" {x} " in said), METRICS[0])
            wanted = strip_of(metric, sets, m)
            if f"{m} negatives" not in said or strip != wanted:
                found.append(f"m = {m}: {strip} for {wanted}, said {said[:90]!r}")
        return found


def strip_of(metric: str, sets: list[sd.RankSet], m: int) -> dict[str, str]:
    """Compute the figures that the page must show above the chart; return them by label."""
    rows = sd.verdict([metric], sets, m, scheme="without-replacement")
    ordered = rows[rows["state"] != "tied"]
    right = ordered["right_from"]
    return {
        "Pairs in true order": f"{(ordered['sampled'] > 1e-12).sum()} of {len(ordered)}",
        "All right from m": "–" if not len(right) or right.hasnans else count(right.max()),
        "Lowest chance": in_runs(float(ordered["probability"].min())),
        "Instances": count(max(one.n_instances for one in sets)),
    }


@contextmanager
def balanced() -> Iterator[tuple[str, list[int]]]:
    """Start two servers behind nginx; yield the address of nginx and the servers' process ids."""
    blocks = (ROOT / "docs" / "pages" / "serving.md").read_text().split("```")
    (conf,) = (block[len("nginx") :] for block in blocks if "upstream sampledash" in block)
    with served() as (one, pid), served() as (two, other), TemporaryDirectory() as name:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
        conf = conf.replace("/sampledash/", "/").replace("listen 80", f"listen {address}")
        for port, url in (("8501", one), ("8502", two)):
            conf = conf.replace(f"127.0.0.1:{port}", urlsplit(url).netloc)
        head = "user root; daemon off; pid pid; events { worker_connections 2000; }"
        Path(name, "conf").write_text(f"{head} http {{ access_log off; {conf} }}")
        command = ["nginx", "-p", name, "-c", "conf", "-e", "stderr"]
        with subprocess.Popen(command) as process:
            time.sleep(1)  # nginx says nothing when it is ready
            yield f"http://{address}", [pid, other]
            process.terminate()


def measured(address: str, pids: list[int], readers: list[Reader], changes: int, every: float):
    """Let all readers change m; return the 95th percentile of waits, and if all was right."""

    def used() -> float:
        return sum(map(processor_seconds, pids))

    async def go() -> Any:
        begin, spent = time.perf_counter() + 0.5 + 0.3 * len(readers), [used()]
        tasks = [asyncio.create_task(x.read(address, changes, every, begin)) for x in readers]
        while not all(reader.seen for reader in readers):
            await asyncio.sleep(0.01)
        spent.append(used())
        await asyncio.gather(*tasks)
        return np.diff([*spent, used()])

    opening, changing = asyncio.run(go())
    waits = np.concatenate([reader.waits for reader in readers])
    p50, p95 = np.quantile(waits, [0.5, 0.95])
    wrong = [text for reader in readers for text in reader.wrong()]
    foreign = sum(len(reader.names_sent - set(reader.names)) for reader in readers)
    line = f"{len(readers):3} at once   opening: slowest {max(x.opening for x in readers):6.2f} s, "
    line += f"processor {opening / len(readers):5.3f} s   a change: p50 {p50:5.3f} s, "
    line += f"p95 {p95:5.3f} s, processor {changing / len(waits):5.3f} s   "
    print(f"{line}wrong {len(wrong)}, foreign names {foreign}", *wrong[:5], sep="\n", flush=True)
    return float(p95), not wrong and not foreign


def main() -> int:
    more = {"quick": "three sessions, two changes", "sessions": 30, "changes": 15, "every": 2.0}
    args = options(__doc__, nginx="two servers behind nginx", **more)
    if args.quick:
        args.sessions, args.changes, args.every = 3, 2, 0.5
    with balanced() if args.nginx else served() as (address, pid):
        pids = pid if args.nginx else [pid]
        # The first session is not measured, as it includes the start-up time of the server.
        asyncio.run(Reader(900).read(address, 2, 0.1, 0))
        crowds = [Reader(0)], [Reader(901)], [Reader(1 + number) for number in range(args.sessions)]
        each = [measured(address, pids, readers, args.changes, args.every) for readers in crowds]
    (_, alone, crowd), right = zip(*each, strict=True)
    print(f"p95 at once / p95 alone: {crowd / alone:.2f}")
    return 0 if all(right) and (args.quick or crowd <= 3 * alone) else 1


if __name__ == "__main__":
    raise SystemExit(main())
