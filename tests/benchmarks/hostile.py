"""Hostile files and addresses: ``python -m tests.benchmarks.hostile [--small | --addresses]``.

Each file is read in a process of its own, which is measured: seconds, and peak memory.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import resource
import signal
import sys
import tempfile
import time
import warnings
from pathlib import Path

from tests.hostile import Case, corpus, read, wrong_result, wrong_sentence
from tests.hostile_addresses import addresses
from tests.hostile_addresses import wrong as wrong_page

MOST_SECONDS, MOST_MIB = 10.0, 1024.0


def judged(case: Case, data: bytes) -> tuple[str, str, float]:
    """What is wrong, what was said, and how long it took."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        try:
            found, said = read(case, data), ""
        except Exception as error:
            found, said, wrong = None, str(error), wrong_sentence(case, error)
        seconds = time.perf_counter() - start
    if found is not None:
        wrong = wrong_result(case, data, found)
    if caught:
        wrong = f"{wrong} warning: {caught[0].message}"
    return wrong, said, seconds


def _child(case: Case, path: Path, write: int) -> None:
    """Read one file and report; the process ends here."""
    signal.alarm(120)
    data = path.read_bytes()
    wrong, said, seconds = judged(case, data)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    os.write(write, json.dumps([wrong[:900], said[:900], seconds, peak / 1024]).encode())
    os._exit(0)


def _forked(job) -> tuple[int, bytes]:
    """The state a process ends in, and what it writes."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        try:
            job(writing)
        finally:
            os._exit(1)
    os.close(writing)
    with os.fdopen(reading, "rb") as stream:
        answer = stream.read()
    return os.waitpid(child, 0)[1], answer


def _write(case: Case, path: Path) -> None:
    with path.open("wb") as file:
        for piece in case.write():
            file.write(piece)


def measured(case: Case, folder: Path) -> tuple[str, str, float, float]:
    """What is wrong, what was said, seconds, MiB."""
    path = folder / "file"
    _forked(lambda _: _write(case, path) or os._exit(0))
    state, answer = _forked(lambda out: _child(case, path, out))
    if not answer:
        return f"the process ended in state {state}", "", 120.0, 0.0
    wrong, said, seconds, peak = json.loads(answer)
    if seconds > MOST_SECONDS or peak > MOST_MIB:
        wrong = f"{wrong} {seconds:.1f} s, {peak:.0f} MiB"
    return wrong, said, seconds, peak


def files(small: bool, verbose: bool, only: str) -> int:
    """Judge the corpus; how many files are not handled."""
    cases = [c for c in corpus() if not (small and c.large) and c.kind.startswith(only)]
    bad = refused = 0
    worst: list[tuple[float, float, str]] = []
    with tempfile.TemporaryDirectory() as folder:
        for case in cases:
            wrong, said, seconds, peak = measured(case, Path(folder))
            bad += bool(wrong)
            refused += bool(said)
            worst.append((seconds, peak, f"{case.kind} {case.number}"))
            if wrong:
                print(f"{case.kind} {case.number} ({case.name}): {wrong.strip()}", flush=True)
            elif verbose:
                print(
                    f"  {case.kind} {case.number}: {seconds:.2f} s {peak:.0f} MiB {said or 'read'}"
                )
    kinds = len({case.kind for case in cases})
    good = len(cases) - refused
    print(f"{len(cases)} files of {kinds} kinds: {refused} refused, {good} read, {bad} wrong")
    slow, large = max(worst), max(worst, key=lambda each: each[1])
    print(f"longest {slow[0]:.1f} s ({slow[2]}), most memory {large[1]:.0f} MiB ({large[2]})")
    return bad


def pages() -> int:
    """Judge the addresses; how many are not handled."""
    logging.disable(logging.CRITICAL)  # Streamlit misses its server at every run
    every = addresses()
    bad, slow = 0, 0.0
    for address in every:
        start = time.perf_counter()
        said = wrong_page(address)
        seconds = time.perf_counter() - start
        slow = max(slow, seconds)
        if said or seconds > MOST_SECONDS:
            bad += 1
            print(f"{address.page} {address.query}: {said} {seconds:.1f} s", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{len(every)} addresses, {bad} wrong; longest {slow:.1f} s, memory of all {peak:.0f} MiB"
    )
    return bad


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--small", action="store_true", help="without the large files")
    parser.add_argument("--verbose", action="store_true", help="every file and its sentence")
    parser.add_argument("--only", default="", help="kinds that begin so")
    parser.add_argument("--addresses", action="store_true", help="addresses, not files")
    options = parser.parse_args()
    if options.addresses:
        return 1 if pages() else 0
    return 1 if files(options.small, options.verbose, options.only) else 0


if __name__ == "__main__":
    sys.exit(main())
