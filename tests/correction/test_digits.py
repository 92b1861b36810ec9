"""Vectors with any prior and weight of the variance: eq. 25 in 120 digits."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from functools import cache

import numpy as np
import pytest

import sampledash as sd
from sampledash import laws
from tests.oracles import METRICS, UNIFORM, WITH, WITHOUT, exact_law

DIGITS = 120
SIZES = ((211, 17), (211, 3), (40, 17), (10, 9))


@cache
def law_in_digits(n: int, m: int, scheme: str) -> np.ndarray:
    with localcontext() as context:
        context.prec = DIGITS
        rows = [exact_law(n, r, m, scheme) for r in range(1, n + 1)]
        return np.array([[Decimal(p.numerator) / p.denominator for p in row] for row in rows])


def gain(name: str, k: int | None, r: int, n: int) -> Decimal:
    """Eq. 7-13 at true rank r, for one relevant item."""
    if name == "auc":
        return Decimal(n - r) / (n - 1)
    if k is not None and r > k:
        return Decimal(0)
    if name in ("ap", "rr"):
        return Decimal(1) / r
    if name == "ndcg":
        return Decimal(2).ln() / Decimal(r + 1).ln()
    return Decimal(1) / k if name == "precision" else Decimal(1)


def solved(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """Gauss elimination of a positive definite matrix."""
    left, right = left.copy(), right.copy()
    for i in range(len(left)):
        factor = left[i + 1 :, i] / left[i, i]
        left[i + 1 :] -= np.outer(factor, left[i])
        right[i + 1 :] -= np.outer(factor, right[i])
    for i in reversed(range(len(left))):
        right[i] = (right[i] - left[i, i + 1 :] @ right[i + 1 :]) / left[i, i]
    return right.astype(float)


def vectors(
    n: int,
    m: int,
    scheme: str,
    prior: Sequence[float],
    gammas: Sequence[str],
    metrics: Sequence[tuple[str, int | None]] = METRICS,
) -> dict[str, np.ndarray]:
    """((1-γ) A'A + γ diag(c)) x = A'b, rows of A and b times sqrt(p): a column for each metric."""
    with localcontext() as context:
        context.prec = DIGITS
        weight = np.array([Decimal(w) for w in prior])
        seen = weight > 0
        law = law_in_digits(n, m, scheme)[seen]
        weighted = law * (weight / weight.sum())[seen, None]
        gains = [
            [gain(*each, r, n) for each in metrics] for r in (np.flatnonzero(seen) + 1).tolist()
        ]
        gram, moment = weighted.T @ law, weighted.T @ np.array(gains)
        marginal = np.diag(weighted.sum(axis=0))
        return {g: solved((1 - Decimal(g)) * gram + Decimal(g) * marginal, moment) for g in gammas}


def priors(n: int) -> dict[str, list[float]]:
    """Weights of the ranks: as a user or an estimator would give them."""
    r = np.arange(1, n + 1)
    weights = {
        "uniform": np.ones(n),
        "power law": 1.0 / r**1.5,
        "holes": np.where(r % 3 == 1, 0.0, 1.0 / r),
        "at the top": np.exp(-30.0 * (r - 1) / n),
        "in the middle": np.exp(-0.5 * ((r - n / 2) / (n / 25)) ** 2),
        "steeply at the top": np.exp(-60.0 * (r - 1) / n),
        "steeply at the end": np.exp(-60.0 * (n - r) / n),
        "very steeply at the top": np.exp(-80.0 * (r - 1) / n),
        "very steeply at the end": np.exp(-80.0 * (n - r) / n),
        "three atoms": np.isin(r, [1, n // 2, n]).astype(float),
    }
    return {name: each.tolist() for name, each in weights.items()}


@pytest.mark.parametrize("scheme", UNIFORM)
def test_laws_in_extended_precision(scheme: str) -> None:
    n, m = 40, 17
    above = np.arange(n, dtype=np.float64)
    ours = laws.pmf_longdouble(scheme, m, above, n - 1 - above)
    for r, row in enumerate(ours, start=1):
        exact = [np.longdouble(p.numerator) / p.denominator for p in exact_law(n, r, m, scheme)]
        assert np.all(np.abs(row - exact) <= 50 * np.finfo(np.longdouble).eps * np.array(exact))


@pytest.mark.parametrize("scheme", UNIFORM)
@pytest.mark.parametrize(("n", "m"), SIZES)
def test_any_prior(n: int, m: int, scheme: str) -> None:
    sampling = sd.Sampling(n, m, scheme)
    for label, prior in priors(n).items():
        if not np.all(np.asarray(prior) @ law_in_digits(n, m, scheme).astype(float) > 0):
            with pytest.raises(ValueError, match="no probability"):
                sd.correction("BV", gamma=0.1, prior=prior).fit("AP", sampling)
            continue
        gammas = ("1", "0.1", "0.01", "0.001", "0.000001")
        for gamma, truth in vectors(n, m, scheme, prior, gammas).items():
            recipe = sd.correction("bias-variance", gamma=float(gamma), prior=prior)
            for (name, k), exact in zip(METRICS, truth.T, strict=True):
                values = recipe.fit(sd.metric(name, k=k), sampling).values
                error, size = np.abs(values - exact).max(), np.abs(exact).max()
                assert error <= 1e-7 * size, (label, gamma, name, k, error / size)


@pytest.mark.parametrize(("n", "m", "steep"), [(200, 30, 0), (200, 30, 2), (20, 30, 0)])
def test_small_gammas_keep_their_digits(n: int, m: int, steep: int) -> None:
    prior = [10**9 // r**steep for r in range(1, n + 1)]
    metrics, gammas = [("ap", None), ("recall", 10)], ("5e-7", "1e-8", "1e-10", "1e-12", "1e-16")
    for gamma, truth in vectors(n, m, WITH, prior, gammas, metrics).items():
        recipe = sd.correction("BV", gamma=float(gamma), prior=prior if steep else None)
        for (name, k), exact in zip(metrics, truth.T, strict=True):
            fit = recipe.fit(sd.metric(name, k=k), sd.Sampling(n, m))
            # Half of the digits that gamma costs: normal equations lose 1e-16 / gamma.
            error = np.abs(fit.values - exact).max()
            assert error <= 2e-15 / np.sqrt(float(gamma)) * np.abs(exact).max()
            assert fit.note is None


@pytest.mark.parametrize(("n", "m", "k"), [(2, 1, 1), (12, 5, 3), (40, 30, 4), (60, 45, 10)])
def test_least_squares_without_replacement(n: int, m: int, k: int) -> None:
    # Entries to 1e3 times the metric.
    exact = vectors(n, m, WITHOUT, [1] * n, "0", [("recall", k)])["0"][:, 0]
    found = sd.correction("LS").fit(sd.metric("recall", k=k), sd.Sampling(n, m, WITHOUT)).values
    assert np.abs(found - exact).max() <= 1e-12 * np.abs(exact).max()


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
