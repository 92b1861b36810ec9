"""Vectors with a prior: eq. 25 against 50 digits."""

from __future__ import annotations

from decimal import Decimal, localcontext
from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest

import sampledash as sd
from sampledash import laws
from tests.oracles import METRICS, UNIFORM, exact_law

DIGITS = 80  # of a solution; with a condition of 1e20 more than 50 are right
GAMMAS = ("1", "0.1", "0.01", "0.001", "0.000001")
SIZES = ((211, 17), (211, 3), (40, 17), (10, 9))


def priors(n: int) -> dict[str, list[float]]:
    """Weights of the ranks: as a user or an estimator would give them."""
    r = np.arange(1, n + 1)
    holes = np.where(r % 3 == 1, 0.0, 1.0 / r)
    return {
        "uniform": [1.0] * n,
        "power law": (1.0 / r**1.5).tolist(),
        "holes": holes.tolist(),
        "at the top": np.exp(-30.0 * (r - 1) / n).tolist(),
        "in the middle": np.exp(-0.5 * ((r - n / 2) / (n / 25)) ** 2).tolist(),
        "steeply at the top": np.exp(-60.0 * (r - 1) / n).tolist(),
        "steeply at the end": np.exp(-60.0 * (n - r) / n).tolist(),
        "very steeply at the top": np.exp(-80.0 * (r - 1) / n).tolist(),
        "very steeply at the end": np.exp(-80.0 * (n - r) / n).tolist(),
        "three atoms": np.isin(r, [1, n // 2, n]).astype(float).tolist(),
    }


def digits(x: Fraction) -> Decimal:
    return Decimal(x.numerator) / Decimal(x.denominator)


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


@lru_cache
def digital_law(n: int, m: int, scheme: str) -> list[list[Decimal]]:
    with localcontext() as context:
        context.prec = DIGITS
        return [[digits(p) for p in exact_law(n, r, m, scheme)] for r in range(1, n + 1)]


def solved(matrix: list[list[Decimal]], rhs: list[list[Decimal]]) -> list[list[Decimal]]:
    """Gauss elimination with row pivots; rhs has one column per metric."""
    a = [row + more for row, more in zip(matrix, rhs, strict=True)]
    size = len(a)
    for i in range(size):
        best = max(range(i, size), key=lambda j: abs(a[j][i]))
        a[i], a[best] = a[best], a[i]
        a[i] = [x / a[i][i] for x in a[i]]
        for j in range(size):
            if j != i and a[j][i]:
                factor = a[j][i]
                a[j] = [x - factor * y for x, y in zip(a[j], a[i], strict=True)]
    return [row[size:] for row in a]


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
def test_any_prior_to_fifty_digits(n: int, m: int, scheme: str) -> None:
    sampling = sd.Sampling(n, m, scheme)
    for label, prior in priors(n).items():
        reachable = np.asarray(prior) @ np.array(digital_law(n, m, scheme), float) > 0
        if not np.all(reachable):
            with pytest.raises(ValueError, match="no probability"):
                sd.correction("BV", gamma=0.1, prior=prior).fit("AP", sampling)
            continue
        truth = vectors_in_digits(n, m, scheme, tuple(prior))
        for gamma, metrics in truth.items():
            recipe = sd.correction("bias-variance", gamma=float(gamma), prior=prior)
            for (name, k), exact in zip(METRICS, metrics, strict=True):
                values = recipe.fit(sd.metric(name, k=k), sampling).values
                error, size = np.abs(values - exact).max(), np.abs(exact).max()
                assert error <= 1e-7 * size, (label, gamma, name, k, error / size)


def vectors_in_digits(
    n: int, m: int, scheme: str, prior: tuple[float, ...]
) -> dict[str, list[np.ndarray]]:
    """Eq. 25 as printed: ((1-γ) A'A + γ diag(c)) x = A'b, rows of A and b times sqrt(p)."""
    law = digital_law(n, m, scheme)
    with localcontext() as context:
        context.prec = DIGITS
        weights = [Decimal(w) for w in prior]
        total = sum(weights)
        rows = [(w / total, law[r - 1], r) for r, w in enumerate(weights, start=1) if w]
        size = range(m + 1)
        marginal = [sum(w * p[i] for w, p, _ in rows) for i in size]
        gram = [[Decimal(0)] * (m + 1) for _ in size]
        moment = [[Decimal(0)] * len(METRICS) for _ in size]
        for w, p, r in rows:
            gains = [gain(name, k, r, n) for name, k in METRICS]
            for i in size:
                share = w * p[i]
                for j in range(i + 1):
                    gram[i][j] += share * p[j]
                moment[i] = [x + share * g for x, g in zip(moment[i], gains, strict=True)]
        found = {}
        for gamma in GAMMAS:
            g = Decimal(gamma)
            left = [[(1 - g) * gram[max(i, j)][min(i, j)] for j in size] for i in size]
            for i in size:
                left[i][i] += g * marginal[i]
            answer = solved(left, moment)
            found[gamma] = [
                np.array([float(answer[i][c]) for i in size]) for c in range(len(METRICS))
            ]
    return found
