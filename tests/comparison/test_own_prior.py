"""A prior of n weights where relevant items are ranked among fewer, or n differs."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sampledash as sd
from sampledash.expectation import resize_prior
from tests.oracles import WITH, WITHOUT, dense_bias_variance, dense_law, dense_target

MIXED = sd.RankSet("M", [3, 5, 9], n=20, instances=["a", "a", "b"])
RISING = np.arange(1.0, 21.0)


@given(st.lists(st.integers(0, 5), min_size=2, max_size=9).filter(any), st.integers(2, 12))
def test_weight_is_spread_over_parts_of_the_list(prior: list[int], n: int) -> None:
    size = len(prior)

    def common(i: int, r: int) -> Fraction:
        low, high = max(Fraction(i, n), Fraction(r, size)), Fraction(i + 1, n)
        return max(min(high, Fraction(r + 1, size)) - low, Fraction(0)) * size

    true = [float(sum(p * common(i, r) for r, p in enumerate(prior))) for i in range(n)]
    found = resize_prior(np.array(prior, dtype=float), n)
    np.testing.assert_allclose(found, true, rtol=1e-14)
    assert found.sum() == pytest.approx(sum(prior))


def one_dropped(prior: np.ndarray) -> np.ndarray:
    """Law of the rank when one of the other candidates is dropped at random."""
    n = len(prior)
    above = np.arange(n - 1)
    return prior[:-1] * (n - 1 - above) / (n - 1) + prior[1:] * (above + 1) / (n - 1)


def test_one_candidate_less_is_one_dropped_at_random() -> None:
    np.testing.assert_allclose(resize_prior(RISING, 19), one_dropped(RISING), rtol=1e-14)


@pytest.mark.parametrize("scheme", [WITH, WITHOUT])
def test_several_relevant_items(scheme: str) -> None:
    # First items: 18 and 19 negatives, mean 18.5, so a population of 20; second: 18, so 19.
    m, gamma = 4, 0.1
    vectors = [
        dense_bias_variance(
            dense_law(size, m, scheme), dense_target("ap", None, size, j), gamma, prior
        )
        for j, size, prior in ((1, 20, RISING), (2, 19, one_dropped(RISING)))
    ]
    first, second, alone = (
        dense_law(negatives + 1, m, scheme)[above] @ vectors[j]
        for above, negatives, j in ((2, 18, 0), (3, 18, 1), (8, 19, 0))
    )
    found = sd.expected_mean(
        "AP", MIXED, m, correction=sd.correction("BV", gamma=gamma, prior=RISING), scheme=scheme
    )
    assert found == pytest.approx(((first + second) / 2 + alone) / 2, rel=1e-12)


# Of the latter mean n is 60, but second items are ranked among 99.
LONGER = sd.RankSet("L", [3, 5, 9], n=[100, 100, 20], instances=["a", "a", "b"])


@pytest.mark.parametrize(("rs", "n"), [(MIXED, 20), (LONGER, 60)])
@pytest.mark.parametrize("metric", ["AP", "Recall@3", "ATOP"])
def test_a_uniform_prior_is_none(metric: str, rs: sd.RankSet, n: int) -> None:
    for recipe in ("BV", "CLS"):
        own = sd.expected_mean(metric, rs, 4, correction=sd.correction(recipe, prior=[1] * n))
        assert own == pytest.approx(sd.expected_mean(metric, rs, 4, correction=recipe), rel=1e-9)
