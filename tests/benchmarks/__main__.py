"""Run the benchmarks: ``python -m tests.benchmarks [--quick] [--only shaped]``."""

import argparse
from importlib import import_module

from tests.benchmarks.frame import HEAD

PARTS = (
    "core verdict every_m chances counterexamples estimators bounds unlike stopping lab lab_data "
    "command_line warehouse wrong_arguments"
)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="small samples, differences only")
    parser.add_argument("--only", metavar="NAME", help="one benchmark, by its function's name")
    chosen = parser.parse_args()
    parts = [import_module(f"tests.benchmarks.{name}") for name in PARTS.split()]
    every = {benchmark.__name__: benchmark for part in parts for benchmark in part.BENCHMARKS}
    if chosen.only is not None and chosen.only not in every:
        parser.error(f"no benchmark is called {chosen.only!r}: take one of {', '.join(every)}")
    print(HEAD)
    good = True
    for name in every if chosen.only is None else [chosen.only]:
        for result in every[name](chosen.quick):
            print(result, flush=True)
            good &= result.exact and (chosen.quick or result.fast)
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
