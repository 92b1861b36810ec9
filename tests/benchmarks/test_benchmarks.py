"""The benchmarks run, and what they compare agrees; the least width of intervals is right."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import binom

from sampledash.metrics import as_metric
from sampledash.sampledranks import SampledRankSet
from tests.benchmarks import core, counterexamples, estimators, verdict
from tests.benchmarks.bounds_floor import floor, rejected
from tests.oracles import WITH, dense_law


@pytest.mark.parametrize(
    ("share", "other"), [(0.3, 0.32), (0.3, 0.335), (0.02, 0.025), (0.5, 0.48)]
)
def test_power_is_that_of_the_binomial_test(share: float, other: float) -> None:
    size, t = 5000, np.arange(5001)
    tail = binom.cdf(t, size, other) if share < other else binom.sf(t - 1, size, other)
    power = binom.cdf(t, size, share) if share < other else binom.sf(t - 1, size, share)
    exact = np.interp(0.05, *(a[np.argsort(tail)] for a in (tail, power)))
    shares = (np.array([p, 1 - p]) for p in (share, other))
    assert rejected(*shares, size, 0.95) == pytest.approx(exact, abs=0.02)


def sampled(mass: np.ndarray, m: int) -> SampledRankSet:
    counts = mass @ dense_law(len(mass), m, WITH)
    return SampledRankSet("S", np.arange(1, m + 2), len(mass), m, counts=counts)


def test_no_width_where_nothing_is_left_open() -> None:
    """All relevant items in the first place: HR@10 is 1, and no sample contradicts it."""
    mass = np.zeros(400)
    mass[0] = 1.0
    # Instances below place 10 that all 5,000 draws of 200 negatives overlook are fewer than 0.1 %.
    width = floor(as_metric("Recall@10"), sampled(mass, 200), 5000, None, 0.95)
    assert 0 <= width < 1e-3


def test_a_single_negative_leaves_everything_open() -> None:
    """With m = 1 only the mean rank is known, here 200.5 of 400: HR@10 from 0 to nearly 1/2."""
    mass = np.full(400, 1 / 400)
    width = floor(as_metric("Recall@10"), sampled(mass, 1), 10**9, None, 0.95)
    # The mean rank is 200.5: as many as possible at place 10, the others at place 400.
    assert width == pytest.approx((400 - 200.5) / 390, abs=1e-3)


# What only times is left out, and what has its tests in tests/comparison and tests/estimation.
COMPARED = [
    *(core.laws, core.bias_variance, core.curves),
    *(verdict.budget, verdict.ten_million, verdict.upload, verdict.moved_control),
    *(counterexamples.every_setting, estimators.large),
]


@pytest.mark.parametrize("benchmark", COMPARED, ids=lambda b: b.__name__)
def test_nothing_differs(benchmark) -> None:
    found = list(benchmark(quick=True))
    assert found
    for result in found:
        assert result.difference is not None
        assert result.exact, result
