"""Thirty readers at once: sessions without a browser that move m on ranks of their own.

``python -m tests.benchmarks.load [--sessions 30] [--changes 15] [--every 2] [--quick]`` starts a
server of its own, opens one session alone, then all at the same moment. Every session pastes ranks
nobody else has, under names nobody else has; each number it is shown is compared with the core,
and everything it is sent is searched for the names of the others.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import socket
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import websockets
from streamlit.proto.BackMsg_pb2 import BackMsg
from streamlit.proto.ForwardMsg_pb2 import ForwardMsg

import sampledash as sd
from sampledash.explain.text import count, in_runs

ROOT = Path(__file__).parents[2]
N = 1000
HOW = {"scheme": "without-replacement"}
METRICS = ("Recall@10", "NDCG", "AP")  # the chips that are on at the start
STARTS_AT, STEP = 40, 7  # of m; every session moves through values of its own


@dataclass
class Reader:
    """One session: what it pastes, and what it has been shown."""

    number: int
    port: int
    waits: list[float] = field(default_factory=list)  # seconds a change took
    opening: float = 0.0
    wrong: list[str] = field(default_factory=list)
    foreign: set[str] = field(default_factory=set)
    ident: str = ""  # of the widget of m
    seen: list[tuple[list[object], int]] = field(default_factory=list)  # what was shown at which m

    @property
    def names(self) -> list[str]:
        return [f"{letter}reader{self.number:03d}" for letter in "ABC"]

    @property
    def ranks(self) -> list[list[int]]:
        rng = np.random.default_rng(self.number)
        return [(1 + rng.random(10) ** power * (N - 1)).astype(int).tolist() for power in (2, 3, 4)]

    @property
    def text(self) -> str:
        rows = zip(self.names, self.ranks, strict=True)
        return "; ".join(
            [*(f"{name}: {', '.join(map(str, row))}" for name, row in rows), f"n = {N}"]
        )

    def wanted(self, m: int) -> dict[str, str]:
        """The strip of numbers at m, by the core alone."""
        sets = [sd.RankSet(x, r, n=N) for x, r in zip(self.names, self.ranks, strict=True)]
        verdict = sd.verdict(METRICS, sets, m, **HOW)
        strips = {}
        for metric, rows in verdict.groupby("metric", sort=False):
            ordered = rows[rows["state"] != "tied"]
            right = ordered["right_from"]
            strips[metric] = {
                "Pairs in true order": f"{(ordered['sampled'] > 1e-12).sum()} of {len(ordered)}",
                "All right from m": "–"
                if right.isna().any() or not len(right)
                else count(right.max()),
                "Lowest chance": in_runs(float(ordered["probability"].min())),
                "Instances": "10",
            }
        return strips

    async def run(self, m: int | None) -> list[object]:
        """One run of the page, until it is finished; what the page then shows."""
        message = BackMsg()
        message.rerun_script.query_string = self.query
        message.rerun_script.page_name = "consistency"
        if m is not None:
            widget = message.rerun_script.widget_states.widgets.add()
            widget.id, widget.double_value = self.ident, m
        begun = time.perf_counter()
        await self.socket.send(message.SerializeToString())
        shown = []
        while True:
            data = await self.socket.recv()
            self.foreign |= {
                name for name in re.findall(rb"[ABC]reader\d{3}", data)
                if name.decode() not in self.names
            }  # fmt: skip
            got = ForwardMsg.FromString(data)
            kind = got.WhichOneof("type")
            if kind == "delta" and got.delta.WhichOneof("type") == "new_element":
                element = got.delta.new_element
                shown.append(getattr(element, element.WhichOneof("type")))
            elif kind == "page_info_changed":
                self.query = got.page_info_changed.query_string
            elif kind == "script_finished" and got.script_finished == 0:
                break
        took = time.perf_counter() - begun
        if m is None:
            self.opening = took
        else:
            self.waits.append(took)
        return shown

    def check(self, shown: list[object], m: int) -> None:
        """Compare the strip and the sentence at one m with the core."""
        strip = {x.label: x.body for x in shown if type(x).__name__ == "Metric"}
        said = next((x.body for x in shown if getattr(x, "body", "").startswith("### ")), "")
        if any(type(x).__name__ == "Exception" for x in shown):
            self.wrong.append(f"m = {m}: a traceback")
        metric = next((x for x in METRICS if f" {x} " in said.replace("\u00a0", " ")), "")
        wanted = self.wanted(m).get(metric)
        if wanted is None or f"{m} negatives" not in said.replace("\u00a0", " ") or strip != wanted:
            self.wrong.append(f"m = {m}: {strip} for {wanted}, said {said[:80]!r}")

    async def read(self, changes: int, every: float, begin: float) -> None:
        """Open the page, then change m every so often."""
        self.query = urlencode(
            {"v": 1, "source": "Paste ranks", "ranks": self.text, "m": STARTS_AT}
        )
        uri = f"ws://127.0.0.1:{self.port}/_stcore/stream"
        async with websockets.connect(
            uri, subprotocols=["streamlit"], max_size=None
        ) as self.socket:
            shown = await self.run(None)
            self.seen.append((shown, STARTS_AT))
            self.ident = next(x.id for x in shown if getattr(x, "id", "").endswith("-m"))
            await asyncio.sleep(max(0.0, begin - time.perf_counter()))
            for change in range(changes):
                due = begin + every * (change + (self.number % 30) / 30)
                await asyncio.sleep(max(0.0, due - time.perf_counter()))
                m = STARTS_AT + STEP * (change + 1) + self.number % STEP
                self.seen.append((await self.run(m), m))


def processor_seconds(pid: int) -> float:
    """Processor time of a process so far."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def serve() -> tuple[subprocess.Popen[str], int]:
    """A server as the README starts it, on a free port."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    process = subprocess.Popen(
        [sys.executable, "-m", "streamlit", "run", "app.py", "--server.headless=true",
         "--server.address=127.0.0.1", f"--server.port={port}", "--server.fileWatcherType=none"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    for line in process.stdout:
        if "URL" in line:
            return process, port
    raise RuntimeError("the server did not start")


async def together(readers: list[Reader], changes: int, every: float) -> None:
    """All of them, opening at the same moment."""
    begin = time.perf_counter() + (0.5 if len(readers) == 1 else 0.5 * len(readers))
    await asyncio.gather(*(reader.read(changes, every, begin) for reader in readers))
    for reader in readers:
        for shown, m in reader.seen:
            reader.check(shown, m)


def report(name: str, readers: list[Reader], seconds: float) -> float:
    """Print one line; the 95th percentile of a change."""
    waits = np.array([wait for reader in readers for wait in reader.waits])
    p50, p95 = np.quantile(waits, [0.5, 0.95])
    opening = max(reader.opening for reader in readers)
    wrong = [text for reader in readers for text in reader.wrong]
    foreign = sum(len(reader.foreign) for reader in readers)
    print(
        f"{name:14} opening, slowest {opening:6.2f} s   change p50 {p50:5.3f} s, p95 {p95:5.3f} s"
        f"   processor {seconds / len(waits):5.3f} s a change"
        f"   wrong {len(wrong)}, foreign names {foreign}",
        flush=True,
    )
    for text in wrong[:5]:
        print("  ", text)
    return float(p95)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sessions", type=int, default=30)
    parser.add_argument("--changes", type=int, default=15, help="of m, per session")
    parser.add_argument("--every", type=float, default=2.0, help="seconds between changes")
    parser.add_argument("--quick", action="store_true", help="three sessions, two changes")
    args = parser.parse_args()
    if args.quick:
        args.sessions, args.changes, args.every = 3, 2, 0.5
    process, port = serve()
    try:
        asyncio.run(together([Reader(900, port)], 2, 0.1))  # the first reader of a process
        crowds = {}
        for name, size in (("alone", 1), (f"{args.sessions} at once", args.sessions)):
            readers = [Reader(number, port) for number in range(size)]
            before = processor_seconds(process.pid)
            asyncio.run(together(readers, args.changes, args.every))
            spent = processor_seconds(process.pid) - before
            crowds[name] = readers, report(name, readers, spent)
    finally:
        process.terminate()
        process.communicate(timeout=20)
    (_, alone), (readers, crowd) = crowds.values()
    bad = sum(len(x.wrong) + len(x.foreign) for r, _ in crowds.values() for x in r)
    print(f"p95 at once / p95 alone: {crowd / alone:.2f}")
    return 0 if not bad and (args.quick or crowd <= 3 * alone) else 1


if __name__ == "__main__":
    raise SystemExit(main())
