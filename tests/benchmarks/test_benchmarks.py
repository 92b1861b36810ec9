"""With small samples, benchmarks find no difference between our and obvious computations."""

import pytest

from tests.benchmarks import core, estimators, stopping, verdict

# Some of the benchmarks that compare results; tests in other folders import further ones.
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
