"""The benchmarks run, and what they compare agrees; their times are for people to read."""

from __future__ import annotations

import pytest

from tests.benchmarks import bounds, core, counterexamples, estimators, screen, verdict
from tests.benchmarks.core import any_n

# any_n and estimators.seconds only time; chances and every_m have their tests in tests/comparison.
COMPARED = [
    *(b for b in core.BENCHMARKS if b is not any_n), *screen.BENCHMARKS, *verdict.BENCHMARKS,
    counterexamples.every_setting, estimators.accuracy, estimators.large, bounds.programmes,
]  # fmt: skip


@pytest.mark.parametrize("benchmark", COMPARED, ids=lambda b: b.__name__)
def test_nothing_differs(benchmark) -> None:
    found = list(benchmark(quick=True))
    assert found
    for result in found:
        assert result.difference is not None
        assert result.exact, result
