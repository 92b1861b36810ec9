"""Run the benchmarks: ``python -m tests.benchmarks [--quick] [--only shaped]``."""

from dataclasses import replace
from importlib import import_module

from tests.benchmarks.frame import HEAD, options

PARTS = (
    "core verdict every_m chances shared counterexamples estimators bounds stopping lab warehouse "
    "printed audits by_weight"
)


def main() -> int:
    parts = [import_module(f"tests.benchmarks.{name}") for name in PARTS.split()]
    every = {benchmark.__name__: benchmark for part in parts for benchmark in part.BENCHMARKS}
    chosen = options(__doc__, every, quick="small samples, differences only")
    print(HEAD)
    good = True
    for name in chosen.only:
        for result in every[name](chosen.quick):
            if chosen.quick:
                result = replace(result, at_least=None, within=None)
            print(result, flush=True)
            good &= result.exact and result.fast
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
