"""Shared parts of benchmarks: options, results, timing, and separate processes."""

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

T = TypeVar("T")
HEAD = f"{'comparison':74}{'ours':>11}{'obvious':>12}{'ratio':>11}{'largest':>10}"


def options(doc: str, only: Iterable[str] = (), **more: Any) -> argparse.Namespace:
    """Parse the command line. ``more``: each flag with its help, each number with its default."""
    parser = argparse.ArgumentParser(description=doc)
    if only:
        parser.add_argument("--only", nargs="+", choices=[*only], default=[*only])
    for name, flag in more.items():
        say = {"action": "store_true", "help": flag}
        number = {"type": type(flag), "default": flag, "help": "%(default)s"}
        parser.add_argument(f"--{name}", **(say if isinstance(flag, str) else number))
    return parser.parse_args()


@dataclass(frozen=True)
class Result:
    """Seconds of our and of an obvious computation, and the largest difference of their results.
    ``obvious`` is extrapolated if only a part of it was computed. ``difference`` is relative to the
    largest entry, unless ``name`` has another unit, and may be at most ``allowed``. ``at_least`` is
    the lower limit of obvious / ours, and ``within`` the upper limit of ours."""

    name: str
    ours: float
    obvious: float | None
    difference: float | None
    allowed: float
    at_least: float | None = None
    within: float | None = None
    note: str = ""

    @property
    def ratio(self) -> float | None:
        return None if self.obvious is None else self.obvious / self.ours

    @property
    def exact(self) -> bool:
        return self.difference is None or self.difference <= self.allowed

    @property
    def fast(self) -> bool:
        enough = self.at_least is None or (self.ratio is not None and self.ratio >= self.at_least)
        return enough and (self.within is None or self.ours <= self.within)

    def __str__(self) -> str:
        obvious = "" if self.obvious is None else f"{self.obvious:10.3f} s"
        ratio = "" if self.ratio is None else f"{self.ratio:9.3g} x"
        difference = "" if self.difference is None else f"{self.difference:8.1e}"
        verdict = " - DIFFERS" * (not self.exact) + " - TOO SLOW" * (not self.fast)
        line = f"{self.name:74}{self.ours:9.4f} s{obvious:>12}{ratio:>11}{difference:>10}"
        return f"{line}  {self.note}{verdict}"


def timed(run: Callable[[], T], repeats: int = 1) -> tuple[float, T]:
    best = np.inf
    for _ in range(repeats):
        start, result = time.perf_counter(), run()
        best = min(best, time.perf_counter() - start)
    return best, result


#: A program for a separate process: it prepares a job, times the job, and records its progress.
SCRIPT = """
import importlib, json, sys, time
module, job, *arguments = json.loads(sys.argv[1])
work = getattr(importlib.import_module(module), job)(*arguments)
seen = []
start = time.perf_counter()
result = work(lambda part: seen.append((time.perf_counter() - start, part)))
spent = time.perf_counter() - start
# Not ru_maxrss, which a child inherits from the process that started it.
peak = int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024
times = [0.0, *(at for at, _ in seen), spent]
longest = max(after - before for before, after in zip(times, times[1:]))
rising = all(0 <= a <= b <= 1 for (_, a), (_, b) in zip(seen, seen[1:]))
print(json.dumps([spent, peak, len(seen), longest, rising, result]))
"""


class Run(NamedTuple):
    """A job's seconds, peak MiB, number of progress calls, longest time between calls, result."""

    seconds: float
    peak: float
    calls: int
    longest: float
    rising: bool  # whether the reported progress never falls
    result: Any

    def told(self, most: float = np.inf, longest: float = np.inf) -> str:
        silence = f", longest silence {self.longest:.2f} s" if self.calls else ""
        good = self.peak <= most and self.longest <= longest and self.rising
        return f"peak {self.peak:.0f} MiB{silence}" + ("" if good else " - TOO MUCH")


def alone(job: Callable[..., Callable[[Any], Any]], *arguments: object) -> Run:
    command = [sys.executable, "-c", SCRIPT]
    command.append(json.dumps([job.__module__, job.__name__, *arguments]))
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr)
    return Run(*json.loads(done.stdout.splitlines()[-1]))
