"""Insert small faults, one at a time, and print those that no test detects.

``python -m tests.mutants [--draw 400] [--seed 1] [--rooms comparison readers] [--by-hand FILE]``

The suite runs once to record which test runs which line. Each fault is then tested by the tests
that run its line, up to 40 seconds of them, and then by 40 seconds of other tests in the same test
files; browser tests are left out. Undetected faults need a test, unless no test can detect them:
``equivalent.toml`` lists those, with reasons. 400 faults take half an hour on two cores.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from queue import Queue

from coverage.numbits import numbits_to_nums

from tests.mutants.faults import PACKAGE, ROOMS, ROOT, Fault, by_hand, drawn, equivalent

NOTES = ROOT / ".mutants"  # the recorded lines and seconds of each test
LEFT_OUT = ["--ignore=tests/browser"]
FIRST, THEN = 40.0, 40.0  # seconds of tests that run the line, and of other tests in their files


def note() -> None:
    """Run the suite once to record the lines and seconds of each test."""
    NOTES.mkdir(exist_ok=True)
    options = ["-n", "2", "--dist", "loadgroup", "-p", "tests.mutants.seconds"]
    cover = ["--cov=sampledash", "--cov-context=test", "--cov-report="]
    environment = {**os.environ, "COVERAGE_FILE": str(NOTES / "lines")}
    command = [sys.executable, "-m", "pytest", *options, *cover, *LEFT_OUT]
    subprocess.run(command, cwd=ROOT, env=environment)


@dataclass(frozen=True)
class Notes:
    """For each line of sampledash the tests that run it, and the seconds of each test."""

    by_line: dict[str, dict[int, set[str]]]
    seconds: dict[str, float]

    @classmethod
    @cache
    def read(cls) -> Notes:
        seconds, by_file = json.loads((NOTES / "seconds.json").read_text()), defaultdict(set)
        for test in seconds:
            by_file[test.split("::")[0]].add(test)
        base = sqlite3.connect(NOTES / "lines")
        query = "select path, context, numbits from line_bits join file on file.id = file_id "
        rows = base.execute(f"{query} join context on context.id = context_id where context != ''")
        by_line: dict[str, dict[int, set[str]]] = defaultdict(lambda: defaultdict(set))
        for path, context, bits in rows:
            test, _, phase = context.rpartition("|")
            tests = {test} if phase == "run" else by_file[test.split("::")[0]]
            for line in numbits_to_nums(bits):
                by_line[str(Path(path).relative_to(ROOT))][line] |= tests & seconds.keys()
        return cls(by_line, seconds)

    def tests(self, fault: Fault) -> tuple[list[str], list[str]]:
        """Return the tests that run the fault's line, and others of the same test files."""
        # Templates have no executed lines, so the tests of the module with the same name are used.
        lines = self.by_line[str(fault.path.with_suffix(".py").relative_to(ROOT))]
        reading = {x for x in self.seconds if x.startswith("tests/test_architecture.py")}
        near = lines.get(fault.line, set()) | reading  # architecture tests read all files
        files = {test.split("::")[0] for tests in lines.values() for test in tests}
        others = {x for x in self.seconds if x.split("::")[0] in files} - near
        return self.within(near, FIRST, fault.path), self.within(others, THEN, fault.path)

    def within(self, tests: set[str], limit: float, path: Path) -> list[str]:
        """Return tests of ``limit`` seconds in all, first those in files named as the module."""
        chosen, total = [], 0.0

        def order(test: str) -> tuple[bool, bool, float, str]:
            file = test.split("::")[0]
            return path.stem not in file, path.parent.name not in file, self.seconds[test], test

        for test in sorted(tests, key=order):
            total += self.seconds[test]
            if chosen and total > limit:
                break
            chosen.append(test)
        return chosen


class Worker:
    """A copy of the project, and a process that runs tests on one fault after another in it."""

    def __init__(self, folder: Path) -> None:
        command = ["git", "ls-files", "-co", "--exclude-standard"]
        for file in subprocess.check_output(command, cwd=ROOT, text=True).splitlines():
            if (ROOT / file).exists():
                (folder / file).parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(ROOT / file, folder / file)
        compiled = ["-m", "compileall", "-q", "--invalidation-mode", "checked-hash", "."]
        subprocess.run([sys.executable, *compiled], cwd=folder, check=True)
        self._process = subprocess.Popen(
            [sys.executable, str(Path(__file__).with_name("worker.py"))],
            cwd=folder, text=True, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            env={**os.environ, "OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": str(folder)},
        )  # fmt: skip

        # All tests on record must exist, and must be collected without a fault.
        path, every = PACKAGE / "__init__.py", list(Notes.read().seconds)
        if said := self.run(Fault("", path, 1, path.read_text()), every, "--collect-only"):
            raise SystemExit(f"the notes are of other tests, make them --anew: {said}")

    def run(self, fault: Fault, tests: list[str], *options: str) -> str:
        """Return the first test that fails with the fault, or ""."""
        if not tests:
            return ""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        expected = sum(Notes.read().seconds[test] for test in tests)
        task = {"file": str(fault.path.relative_to(ROOT)), "text": fault.text}
        task |= {"tests": [*options, *tests], "seconds": 3 * expected + 30}
        print(json.dumps(task), file=self._process.stdin, flush=True)
        answer = json.loads(self._process.stdout.readline())
        if not answer["exit"]:
            return ""
        if answer["exit"] < 0:
            return "ends too late"
        lines = [x for x in answer["log"].splitlines() if x.startswith(("FAILED", "ERROR"))]
        return lines[-1][:160] if lines else "is not imported"

    def noticed_by(self, fault: Fault) -> str:
        near, others = Notes.read().tests(fault)
        return self.run(fault, near) or self.run(fault, others)


def judged(faults: list[Fault]) -> Iterator[tuple[Fault, str]]:
    """Yield each fault with the test that detects it or ""; two workers run the tests."""
    with tempfile.TemporaryDirectory() as folder, ThreadPoolExecutor(2) as pool:
        workers: Queue[Worker] = Queue()
        for name in ("one", "two"):
            workers.put(Worker(Path(folder) / name))

        def judge(fault: Fault) -> str:
            worker = workers.get()
            try:
                return worker.noticed_by(fault)
            finally:
                workers.put(worker)

        yield from zip(faults, pool.map(judge, faults), strict=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--draw", type=int, default=400)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--rooms", nargs="*", choices=ROOMS, default=list(ROOMS))
    parser.add_argument("--by-hand", type=Path, help="faults of a TOML file instead")
    parser.add_argument("--anew", action="store_true", help="note anew which test runs what")
    args = parser.parse_args()
    if args.anew or not (NOTES / "seconds.json").exists():
        note()
    known = equivalent()
    faults = by_hand(args.by_hand) if args.by_hand else drawn(args.draw, args.seed, args.rooms)
    counts: dict[str, Counter[str]] = defaultdict(Counter)
    for done, (fault, test) in enumerate(judged(faults), start=1):
        file = str(fault.path.relative_to(PACKAGE))
        why = "" if test else known.get((file, fault.change), "")
        state = "noticed" if test else "equivalent" if why else "survives"
        counts[fault.room][state] += 1
        print(f"{done} of {len(faults)}", end="\r", file=sys.stderr, flush=True)
        if state != "noticed" or args.by_hand:
            print(f"{state}: {fault.name}\n{fault.change}\n{test or why}\n", flush=True)
    for room, each in [*counts.items(), ("all", sum(counts.values(), Counter()))]:
        share = each["noticed"] / max(1, each.total() - each["equivalent"])
        print(f"{room:14} {each.total():4} faults, {each['equivalent']:3} equivalent, "
              f"{each['survives']:3} survive: {100 * share:.1f} % noticed")  # fmt: skip
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
