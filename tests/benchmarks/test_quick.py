"""The benchmarks run, and what they compare agrees; their times are for people to read."""

from __future__ import annotations

import pytest

from tests.benchmarks.core import BENCHMARKS, any_n

COMPARED = [benchmark for benchmark in BENCHMARKS if benchmark is not any_n]  # that only times


@pytest.mark.parametrize("benchmark", COMPARED, ids=lambda b: b.__name__)
def test_nothing_differs(benchmark) -> None:  # type: ignore[no-untyped-def]
    found = list(benchmark(quick=True))
    assert found
    for result in found:
        assert result.difference is not None
        assert result.exact, result
