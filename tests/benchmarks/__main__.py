"""Run the benchmarks: ``python -m tests.benchmarks [--quick] [--only shaped]``."""

from __future__ import annotations

import argparse

from tests.benchmarks import (
    adaptive,
    bounds,
    chances,
    core,
    counterexamples,
    estimators,
    every_m,
    redrawn,
    screen,
    verdict,
)
from tests.benchmarks.core import Result


def line(result: Result) -> str:
    obvious = "" if result.obvious is None else f"{result.obvious:10.3f} s"
    ratio = "" if result.ratio is None else f"{result.ratio:9.3g} x"
    difference = "" if result.difference is None else f"{result.difference:8.1e}"
    verdict = "" if result.exact else " - DIFFERS"
    verdict += "" if result.fast else " - TOO SLOW"
    return (
        f"{result.name:74}{result.ours:9.4f} s{obvious:>12}{ratio:>11}{difference:>10}"
        f"  {result.note}{verdict}"
    )


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small samples, differences only")
    parser.add_argument("--only", metavar="NAME", help="one benchmark, by its function's name")
    chosen = parser.parse_args()
    quick, only = chosen.quick, chosen.only
    print(f"{'comparison':74}{'ours':>11}{'obvious':>12}{'ratio':>11}{'largest':>10}")
    good = True
    parts = (
        core, screen, verdict, every_m, chances, counterexamples, redrawn, estimators, bounds,
        adaptive,
    )  # fmt: skip
    every = [benchmark for part in parts for benchmark in part.BENCHMARKS]
    if only is not None:
        every = [one for one in every if one.__name__ == only] or parser.error(
            f"no benchmark is called {only!r}: take one of {', '.join(b.__name__ for b in every)}"
        )
    for benchmark in every:
        for result in benchmark(quick):
            print(line(result), flush=True)
            good &= result.exact and (quick or result.fast)
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
