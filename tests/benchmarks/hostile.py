"""Hostile files and addresses: ``python -m tests.benchmarks.hostile [--small | --addresses]``.
Each file is read in a separate process, whose time and peak memory are measured."""

import logging
import resource
import tempfile
import time
import warnings
from functools import cache, partial
from multiprocessing import TimeoutError, get_context
from pathlib import Path
from typing import Any

from tests.benchmarks.frame import options, timed
from tests.hostile import Case, corpus, read, wrong_result, wrong_sentence
from tests.hostile_addresses import addresses
from tests.hostile_addresses import wrong as wrong_page

MOST_SECONDS, MOST_MIB = 10.0, 1024.0


def judged(case: Case, data: bytes) -> tuple[str, str, float]:
    """Read a file; return the reader's fault or "", its error message or "", and the seconds."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        start = time.perf_counter()
        try:
            answer, said = read(case, data), ""
        except Exception as error:
            answer, said, wrong = None, str(error), wrong_sentence(case, error)
        seconds = time.perf_counter() - start
    if answer is not None:
        wrong = wrong_result(case, data, answer)
    return f"{wrong} warning: {caught[0].message}" if caught else wrong, said, seconds


every = cache(corpus)  # made once, and shared with all forked processes


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _write(number: int, path: Path) -> None:
    with path.open("wb") as file:
        file.writelines(every()[number].write())


def _judge(number: int, path: Path) -> tuple[str, str, float, float]:
    return *judged(every()[number], path.read_bytes()), peak()


def measured(pool: Any, number: int, path: Path) -> tuple[str, str, float, float]:
    """Write and read a file in separate processes; return fault, error message, seconds and MiB."""
    try:
        pool.apply(_write, (number, path))
        wrong, said, seconds, most = pool.apply_async(_judge, (number, path)).get(120)
    except TimeoutError:
        return "no answer", "", 120.0, 0.0
    if seconds > MOST_SECONDS or most > MOST_MIB:
        wrong = f"{wrong} {seconds:.1f} s, {most:.0f} MiB"
    return wrong, said, seconds, most


def files(small: bool, kinds: list[str]) -> int:
    cases = {i: case for i, case in enumerate(every()) if not (small and case.large)}
    cases = {i: case for i, case in cases.items() if case.kind in kinds}
    bad = refused = 0
    worst: list[tuple[float, float, str]] = []
    pools = get_context("fork").Pool(1, maxtasksperchild=1)
    with tempfile.TemporaryDirectory() as folder, pools as pool:
        for number, case in cases.items():
            wrong, said, seconds, peak = measured(pool, number, Path(folder) / "file")
            bad += bool(wrong)
            refused += bool(said)
            worst.append((seconds, peak, f"{case.kind} {case.number}"))
            if wrong:
                print(f"{worst[-1][2]} ({case.name}): {wrong.strip()}", flush=True)
    size, good = len({case.kind for case in cases.values()}), len(cases) - refused
    print(f"{len(cases)} files of {size} kinds: {refused} refused, {good} read, {bad} wrong")
    slow, large = max(worst), max(worst, key=lambda each: each[1])
    print(f"longest {slow[0]:.1f} s ({slow[2]}), most memory {large[1]:.0f} MiB ({large[2]})")
    return bad


def pages() -> int:
    logging.disable(logging.CRITICAL)  # otherwise, Streamlit would log that there is no server
    tried, bad, slow = addresses(), 0, 0.0
    for address in tried:
        seconds, said = timed(partial(wrong_page, address))
        slow = max(slow, seconds)
        if said or seconds > MOST_SECONDS:
            bad += 1
            print(f"{address.page} {address.query}: {said} {seconds:.1f} s", flush=True)
    print(f"{len(tried)} addresses, {bad} wrong; longest {slow:.1f} s, memory {peak():.0f} MiB")
    return bad


def main() -> int:
    kinds = dict.fromkeys(case.kind for case in every())
    flags = {"small": "without the large files", "addresses": "addresses, not files"}
    args = options(__doc__, kinds, **flags)
    return int((pages() if args.addresses else files(args.small, args.only)) > 0)


if __name__ == "__main__":
    raise SystemExit(main())
