"""Small weights of the variance, against eq. 25 in 120 digits."""

from __future__ import annotations

from decimal import Decimal, localcontext
from math import comb

import numpy as np
import pytest

import sampledash as sd


def in_many_digits(n: int, m: int, gamma: str, name: str, prior: list[int]) -> np.ndarray:
    """The vector of eq. 25 with replacement, by Gauss elimination."""
    with localcontext() as context:
        context.prec = 120
        law = np.array(
            [
                [
                    comb(m, s) * Decimal(a**s * (n - 1 - a) ** (m - s)) / Decimal(n - 1) ** m
                    for s in range(m + 1)
                ]
                for a in range(n)
            ]
        )
        weight = np.array([Decimal(p) / sum(prior) for p in prior])[:, None]
        value = np.array(
            [1 / Decimal(a + 1) if name == "AP" else Decimal(a < 10) for a in range(n)]
        )
        left = (1 - Decimal(gamma)) * ((law * weight).T @ law)
        left += np.diag(Decimal(gamma) * (law * weight).sum(axis=0))
        right = (law * weight).T @ value
        for i in range(m + 1):
            factor = left[i + 1 :, i] / left[i, i]
            left[i + 1 :] -= np.outer(factor, left[i])
            right[i + 1 :] -= factor * right[i]
        found = np.zeros(m + 1, dtype=object)
        for i in range(m, -1, -1):
            found[i] = (right[i] - left[i, i + 1 :] @ found[i + 1 :]) / left[i, i]
        return found.astype(float)


@pytest.mark.parametrize("name", ["AP", "Recall@10"])
@pytest.mark.parametrize("gamma", ["5e-7", "1e-8", "1e-10", "1e-12", "1e-16"])
@pytest.mark.parametrize(("n", "m", "steep"), [(200, 30, 0), (200, 30, 2), (20, 30, 0)])
def test_entries_keep_their_digits(n: int, m: int, steep: int, gamma: str, name: str) -> None:
    prior = [10**9 // r**steep for r in range(1, n + 1)]
    true = in_many_digits(n, m, gamma, name, prior)
    fit = sd.correction("BV", gamma=float(gamma), prior=prior if steep else None).fit(
        name, sd.Sampling(n, m)
    )
    # Half of the digits that gamma costs: normal equations lose 1e-16 / gamma.
    error = np.abs(fit.values - true).max()
    assert error <= 2e-15 / np.sqrt(float(gamma)) * np.abs(true).max()
    assert fit.note is None


def test_what_counts_as_zero_says_so() -> None:
    sampling = sd.Sampling(200, 30)
    zero = sd.correction("BV", gamma=0).fit("AP", sampling)
    fit = sd.correction("BV", gamma=9e-17).fit("AP", sampling)
    assert str(fit.note).startswith("γ = 9e-17 counts as 0 and is ill-conditioned here: ")
    assert str(zero.note).startswith("γ = 0 is ill-conditioned here: ")
    assert np.array_equal(fit.values, zero.values)


def test_the_two_ways_meet() -> None:
    sampling = sd.Sampling(3000, 100)
    low, high = (
        sd.correction("BV", gamma=1e-6 * factor).fit("NDCG", sampling).values
        for factor in (1 - 1e-9, 1 + 1e-9)
    )
    np.testing.assert_allclose(low, high, rtol=0, atol=1e-8 * np.abs(high).max())
