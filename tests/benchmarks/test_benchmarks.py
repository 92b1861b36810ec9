"""The benchmarks run, and what they compare agrees; the least width of intervals is right."""

import numpy as np
import pytest

from sampledash.metrics import as_metric
from sampledash.sampled_rank_sets import SampledRankSet
from tests.benchmarks import core, estimators, stopping, verdict
from tests.benchmarks.bounds import hardest
from tests.oracles import WITH, dense_law

# All in the first place: HR@10 is 1. Instances below place 10 that all 5,000 draws of 200 negatives
# overlook are fewer than 0.1 %.
FIRST = (np.eye(400)[0], 200, 5000, 5e-4)
# Only the mean rank is known, 200.5: as many as possible at place 10, the others at 400.
EVEN = (np.full(400, 1 / 400), 1, 10**9, (400 - 200.5) / 390)


@pytest.mark.parametrize(("mass", "m", "size", "exact"), [FIRST, EVEN])
def test_the_least_width_by_hand(mass: np.ndarray, m: int, size: int, exact: float) -> None:
    counts = mass @ dense_law(400, m, WITH)
    infinite = SampledRankSet("S", np.arange(1, m + 2), 400, m, counts=counts, scheme=WITH)
    below, above = hardest(as_metric("Recall@10"), infinite, size, None)
    assert above.end - below.end == pytest.approx(exact, abs=1e-3)


# What only times is left out, and what has its tests in tests/comparison and tests/estimation.
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
