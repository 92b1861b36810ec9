"""Hostile files and addresses: ``python -m tests.benchmarks.hostile [--small | --addresses]``.

Each file is read in a process of its own, which is measured: seconds, and peak memory.
"""

import argparse
import logging
import resource
import sys
import tempfile
import time
import warnings
from functools import cache
from multiprocessing import TimeoutError, get_context
from pathlib import Path
from typing import Any

from tests.hostile import Case, corpus, read, wrong_result, wrong_sentence
from tests.hostile_addresses import addresses
from tests.hostile_addresses import wrong as wrong_page

MOST_SECONDS, MOST_MIB = 10.0, 1024.0


def judged(case: Case, data: bytes) -> tuple[str, str, float]:
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


every = cache(corpus)  # made once, before processes are forked


def _write(number: int, path: Path) -> None:
    with path.open("wb") as file:
        file.writelines(every()[number].write())


def _judge(number: int, path: Path) -> tuple[str, str, float, float]:
    wrong, said, seconds = judged(every()[number], path.read_bytes())
    return wrong, said, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def measured(pool: Any, number: int, path: Path) -> tuple[str, str, float, float]:
    """What is wrong, what was said, seconds, MiB; each step in a process of its own."""
    try:
        pool.apply(_write, (number, path))
        wrong, said, seconds, peak = pool.apply_async(_judge, (number, path)).get(120)
    except TimeoutError:
        return "no answer", "", 120.0, 0.0
    if seconds > MOST_SECONDS or peak > MOST_MIB:
        wrong = f"{wrong} {seconds:.1f} s, {peak:.0f} MiB"
    return wrong, said, seconds, peak


def files(small: bool, verbose: bool, only: str) -> int:
    cases = {i: c for i, c in enumerate(every()) if not (small and c.large)}
    cases = {i: case for i, case in cases.items() if case.kind.startswith(only)}
    bad = refused = 0
    worst: list[tuple[float, float, str]] = []
    pools = get_context("fork").Pool(1, maxtasksperchild=1)
    with tempfile.TemporaryDirectory() as folder, pools as pool:
        for number, case in cases.items():
            wrong, said, seconds, peak = measured(pool, number, Path(folder) / "file")
            bad += bool(wrong)
            refused += bool(said)
            name = f"{case.kind} {case.number}"
            worst.append((seconds, peak, name))
            if wrong:
                print(f"{name} ({case.name}): {wrong.strip()}", flush=True)
            elif verbose:
                print(f"  {name}: {seconds:.2f} s {peak:.0f} MiB {said or 'read'}")
    kinds, good = len({case.kind for case in cases.values()}), len(cases) - refused
    print(f"{len(cases)} files of {kinds} kinds: {refused} refused, {good} read, {bad} wrong")
    slow, large = max(worst), max(worst, key=lambda each: each[1])
    print(f"longest {slow[0]:.1f} s ({slow[2]}), most memory {large[1]:.0f} MiB ({large[2]})")
    return bad


def pages() -> int:
    logging.disable(logging.CRITICAL)  # Streamlit misses its server at every run
    tried, bad, slow = addresses(), 0, 0.0
    for address in tried:
        start = time.perf_counter()
        said = wrong_page(address)
        seconds = time.perf_counter() - start
        slow = max(slow, seconds)
        if said or seconds > MOST_SECONDS:
            bad += 1
            print(f"{address.page} {address.query}: {said} {seconds:.1f} s", flush=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"{len(tried)} addresses, {bad} wrong; longest {slow:.1f} s, memory {peak:.0f} MiB")
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
