"""Intervals and decisions: what they span, decide and refuse."""

from __future__ import annotations

import numpy as np
import pytest

from sampledash.comparison import mean
from sampledash.estimation.bounds import bounds
from sampledash.estimation.intervals import compare, interval
from sampledash.sampledranks import SampledRankSet
from tests.estimation.bounds_cases import drawn


@pytest.fixture(scope="module")
def runs(xyz) -> dict[str, SampledRankSet]:
    rng = np.random.default_rng(11)
    return {one.system: drawn(one, 3541, 100, rng) for one in xyz}


def test_without_an_estimator_it_is_what_sampling_error_leaves_open(runs) -> None:
    for shape in (None, "non-increasing"):
        found = interval("Recall@10", runs["Y"], shape=shape)
        assert found == bounds("Recall@10", runs["Y"], shape=shape)
    wide, narrow = (interval("AUC", runs["Y"], confidence=c) for c in (0.99, 0.8))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_with_an_estimator_it_spans_its_scatter_too(runs) -> None:
    # A mean of a vector scatters by the vector's standard deviation over the root of |D|.
    y = runs["Y"]
    low, high = interval("AUC", y, "uncorrected")
    inner = interval("AUC", y)
    above = y.sampled_ranks - 1
    value, error = 1 - above.mean() / 100, above.std() / 100 / np.sqrt(len(y))
    assert low == pytest.approx(min(inner[0], value - 1.96 * error), abs=0.25 * error)
    assert high == pytest.approx(max(inner[1], value + 1.96 * error), abs=0.25 * error)


def test_the_bootstrap_is_reproducible_and_agrees_with_the_derivatives(runs) -> None:
    def drawn(seed: int) -> tuple[float, float]:
        return interval("AUC", runs["X"], "uncorrected", rng=np.random.default_rng(seed))

    assert drawn(0) == drawn(0) != drawn(1)
    low, high = interval("AUC", runs["X"], "uncorrected")
    # 200 samples know a standard deviation to 5 %: 4 standard errors.
    assert np.ptp(drawn(0)) == pytest.approx(high - low, rel=0.2)


def test_what_a_sample_decides(runs, xyz) -> None:
    exact = {one.system: mean("AUC", one) for one in xyz}
    assert exact["X"] > exact["Y"] > exact["Z"]
    found = compare("AUC", runs["Y"], runs["X"])
    assert found.low <= exact["Y"] - exact["X"] <= found.high < 0
    assert (found.better, str(found)) == ("X", "X > Y")
    other = compare("AUC", runs["X"], runs["Y"])
    assert str(other) == "X > Y"
    assert (other.low, other.high) == pytest.approx((-found.high, -found.low), abs=1e-6)


def test_what_a_sample_leaves_open(runs, xyz) -> None:
    # Sampled Recall@10 has the order X, Y, Z; the exact one Z, Y, X: neither may be claimed.
    found = compare("Recall@10", runs["X"], runs["Z"])
    exact = mean("Recall@10", xyz[0]) - mean("Recall@10", xyz[2])
    assert found.low < exact < 0 < found.high
    assert (found.better, str(found)) == (None, "undecided")
    shaped = compare("Recall@10", runs["X"], runs["Z"], shape="non-increasing")
    assert found.low < shaped.low < exact < shaped.high < found.high


def test_two_numbers_of_negatives_and_a_learned_estimator() -> None:
    rng = np.random.default_rng(12)
    m = np.repeat([20, 50], 300)
    srs = SampledRankSet("A", 1 + rng.binomial(m, rng.random(600) ** 3), 300, m)
    low, high = interval("NDCG@10", srs, "mle")
    inner = interval("NDCG@10", srs)
    assert low <= inner[0] < inner[1] <= high


@pytest.mark.parametrize("confidence", [0, 1, -0.5, 2, float("nan"), "high"])
def test_confidence_must_be_a_chance(runs, confidence) -> None:
    with pytest.raises(ValueError, match="confidence must be"):
        interval("AUC", runs["X"], confidence=confidence)
    with pytest.raises(ValueError, match="confidence must be"):
        compare("AUC", runs["X"], runs["Y"], confidence=confidence)


def test_other_wrong_input(runs) -> None:
    with pytest.raises(ValueError, match="shape must be one of"):
        interval("AUC", runs["X"], shape="flat")
    with pytest.raises(ValueError, match="shape must be one of"):
        compare("AUC", runs["X"], runs["Y"], shape="flat")
    with pytest.raises(ValueError, match="method 'guess'"):
        interval("AUC", runs["X"], "guess")
