"""Quick benchmarks find no difference between our and obvious computations."""

import pytest

from tests.benchmarks import core, estimators, stopping, verdict

# All benchmarks but those that only measure time, and those that other tests import.
COMPARED = [
    *(core.laws, core.bias_variance, stopping.plan, stopping.budgets, estimators.large),
    *(verdict.budget, verdict.ten_million, verdict.upload),
]


@pytest.mark.parametrize("benchmark", COMPARED, ids=lambda b: b.__name__)
def test_nothing_differs(benchmark) -> None:
    found = list(benchmark(quick=True))
    assert found
    for result in found:
        assert result.difference is not None
        assert result.exact, result
