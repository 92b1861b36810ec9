"""Bias-variance (eq. 25 of Krichene & Rendle), CLS and LS vectors, against dense algebra."""

from decimal import Decimal, localcontext
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sampledash as sd
from sampledash.least_squares import bias_variance, nodes
from tests import oracles
from tests.oracles import METRICS, POPULARITY, SCHEMES, UNIFORM, WITH, WITHOUT, dense_law


@cache
def law_in_digits(n: int, m: int, scheme: str) -> np.ndarray:
    rows = [oracles.exact_law(n, r, m, scheme) for r in range(1, n + 1)]
    return np.array([[Decimal(p.numerator) / p.denominator for p in row] for row in rows])


@cache
def gain(name: str, k: int | None, r: int, n: int) -> Decimal:
    """Return the metric of one relevant item at rank r (eq. 7-13 of Krichene & Rendle)."""
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
    """Solve linear equations with a positive definite matrix by Gaussian elimination."""
    left, right = left.copy(), right.copy()
    for i in range(len(left)):
        factor = left[i + 1 :, i] / left[i, i]
        left[i + 1 :] -= np.outer(factor, left[i])
        right[i + 1 :] -= np.outer(factor, right[i])
    for i in reversed(range(len(left))):
        right[i] = (right[i] - left[i, i + 1 :] @ right[i + 1 :]) / left[i, i]
    return right.astype(float)


def in_digits(sampling, prior, gammas, metrics=METRICS):
    """Return (γ, solution of eq. 25 in 120 digits) for each γ, with one column for each metric."""
    with localcontext() as context:
        context.prec = 120
        weight = np.array([Decimal(w) for w in prior])
        seen = weight > 0
        law = law_in_digits(sampling.n, sampling.m, sampling.scheme)[seen]
        weighted = law * (weight / weight.sum())[seen, None]
        ranks = (np.flatnonzero(seen) + 1).tolist()
        gains = np.array([[gain(*each, r, sampling.n) for each in metrics] for r in ranks])
        gram, marginal = weighted.T @ law, np.diag(weighted.sum(axis=0))
        left = [(1 - Decimal(g)) * gram + Decimal(g) * marginal for g in gammas]
        return [(g, solved(x, weighted.T @ gains)) for g, x in zip(gammas, left, strict=True)]


def furthest(gamma, prior, sampling, truth, metrics):
    """Return the largest error of fitted vectors, relative to the largest entry of ``truth``."""
    recipe = sd.correction("bias-variance", gamma=float(gamma), prior=prior)
    fits = [recipe.fit(sd.metric(name, k=k), sampling) for name, k in metrics]
    assert gamma == "0" or not any(fit.note for fit in fits)
    off = np.abs(np.stack([fit.values for fit in fits], axis=1) - truth).max(axis=0)
    return float((off / np.maximum(np.abs(truth).max(axis=0), 1e-300)).max())


def priors(n: int) -> dict[str, list[float]]:
    r = np.arange(1, n + 1)
    weights = {
        "uniform": np.ones(n),
        "holes": np.where(r % 3 == 1, 0.0, 1.0 / r),
        "at the top": np.exp(-30.0 * (r - 1) / n),
        "in the middle": np.exp(-0.5 * ((r - n / 2) / (n / 25)) ** 2),
        "very steeply at the top": np.exp(-80.0 * (r - 1) / n),
        "very steeply at the end": np.exp(-80.0 * (n - r) / n),
        "three atoms": np.isin(r, [1, n // 2, n]).astype(float),
    }
    return {name: each.tolist() for name, each in weights.items()}


@pytest.mark.parametrize("scheme", UNIFORM)
@pytest.mark.parametrize(("n", "m"), [(211, 17), (40, 17), (10, 9)])
def test_any_prior(n: int, m: int, scheme: str) -> None:
    sampling = sd.Sampling(n, m, scheme)
    for label, prior in priors(n).items():
        if not np.all(np.asarray(prior) @ law_in_digits(n, m, scheme).astype(float) > 0):
            with pytest.raises(ValueError, match="no probability"):
                sd.correction("BV", gamma=0.1, prior=prior).fit("AP", sampling)
            continue
        for gamma, truth in in_digits(sampling, prior, ("1", "0.001", "0.000001")):
            assert furthest(gamma, prior, sampling, truth, METRICS) <= 1e-7, (label, gamma)


@pytest.mark.parametrize(("n", "m", "steep"), [(200, 30, 0), (200, 30, 2), (20, 30, 0)])
def test_small_gammas_keep_their_digits(n: int, m: int, steep: int) -> None:
    prior, metrics = [10**9 // r**steep for r in range(1, n + 1)], [("ap", None), ("recall", 10)]
    sampling, gammas = sd.Sampling(n, m, WITH), ("5e-7", "1e-8", "1e-10", "1e-12", "1e-16")
    for gamma, truth in in_digits(sampling, prior, gammas, metrics):
        # Normal equations would have errors of 1e-16 / gamma; the errors allowed here are smaller.
        error = furthest(gamma, prior if steep else None, sampling, truth, metrics)
        assert error <= 2e-15 / np.sqrt(float(gamma))


@pytest.mark.parametrize(("n", "m", "k"), [(2, 1, 1), (12, 5, 3), (40, 30, 4), (60, 45, 10)])
def test_least_squares_without_replacement(n: int, m: int, k: int) -> None:
    # Entries of these vectors are up to 1,000 times the values of the metric.
    sampling, metrics = sd.Sampling(n, m, WITHOUT), [("recall", k)]
    [(_, truth)] = in_digits(sampling, [1] * n, "0", metrics)
    assert furthest("0", None, sampling, truth, metrics) <= 1e-12


@pytest.mark.parametrize("scheme", UNIFORM)
@pytest.mark.parametrize(("position", "k"), [(3, 67), (5, 300), (40, 120)])
def test_the_cutoff_of_a_later_item_is_nearer(position: int, k: int, scheme: str) -> None:
    # The item at ``position`` is within k if at most k - position irrelevant items are above it.
    # For 2,000 ranks quadrature is used; its intervals must end at k - position items above.
    n, m, gamma = 2000, 60, 0.01
    at = nodes(sd.metric("recall", k=k), sd.Sampling(n, m, scheme), position, None, gamma)
    law, target = oracles.dense_law(n, m, scheme), oracles.dense_target("recall", k, n, position)
    exact = oracles.dense_bias_variance(law, target, gamma, None)
    assert bias_variance(at, gamma) == pytest.approx(exact, abs=1e-9)


@pytest.mark.parametrize("scheme", SCHEMES)
@given(data=st.data())
def test_small_cases_and_their_moments(scheme: str, data: st.DataObject) -> None:
    n = data.draw(st.integers(3, 40))
    m = data.draw(st.integers(1, min(n - 1, 12) if scheme == WITHOUT else 12))
    odds = data.draw(st.sampled_from([0.5, 3.0])) if scheme == POPULARITY else 1.0
    gamma = data.draw(st.sampled_from([1.0, 0.5, 0.1, 0.01, 0.001]))
    name, k = data.draw(st.sampled_from(METRICS))
    prior = data.draw(st.none() | st.lists(st.sampled_from([0.5, 1, 3]), min_size=n, max_size=n))
    law, sampling = oracles.dense_law(n, m, scheme, odds), sd.Sampling(n, m, scheme, odds)
    fit = sd.correction("BV", gamma=gamma, prior=prior).fit(sd.metric(name, k=k), sampling)
    dense = oracles.dense_bias_variance(law, oracles.exact_metric(name, k, n), gamma, prior)
    np.testing.assert_allclose(fit.values, dense, rtol=0, atol=1e-11 / gamma * np.abs(dense).max())
    spread = np.einsum("rs,rs->r", law, (dense - (law @ dense)[:, None]) ** 2)
    rank = np.arange(1, n + 1)
    np.testing.assert_allclose(fit.expected(rank), law @ dense, rtol=0, atol=1e-10 / gamma)
    np.testing.assert_allclose(fit.variance(rank), spread, rtol=0, atol=1e-9 / gamma)
    assert np.array_equal(fit(np.arange(1, m + 2)), fit.values)


@pytest.mark.parametrize(
    ("n", "m", "scheme", "odds"),
    [(10_000, 100, scheme, 1.0) for scheme in UNIFORM]
    + [(10_000, 100, POPULARITY, odds) for odds in (0.01, 3.0, 100.0)]
    + [(n, m, scheme, 1.0) for n, m in ((1001, 1000), (20_000, 30)) for scheme in UNIFORM]
    + [(n, m, POPULARITY, 5.0) for n, m in ((1500, 400), (20_000, 30))]
    + [(1500, 400, WITH, 1.0)]
    + [(n, m, WITHOUT, 1.0) for n, m in ((2, 1), (9, 4), (300, 299), (301, 250), (1200, 90))],
)
def test_large_sizes(n: int, m: int, scheme: str, odds: float) -> None:
    """Vectors match the dense solution, also beyond 1,000 ranks, where quadrature is used."""
    law, sampling = oracles.dense_law(n, m, scheme, odds), sd.Sampling(n, m, scheme, odds)
    metrics = [("auc", None), ("precision", 10), ("ap", None), ("ap", 500), ("ndcg", None)]
    metrics += [(name, k) for name in ("recall", "ndcg") for k in (1, 10, 65, 100, n // 3 + 1)]
    targets = np.stack([oracles.exact_metric(name, k, n) for name, k in metrics], axis=1)
    for gamma in (1.0, 0.01, 1e-5):
        dense = oracles.dense_bias_variance(law, targets, gamma, None)
        if scheme == WITHOUT and m == n - 1:  # all negatives are drawn: the metric is exact
            dense = targets
        error = furthest(gamma, None, sampling, dense, metrics)
        assert error <= 1e-11 + 1e-12 / gamma, gamma


def test_what_counts_as_zero_says_so_and_the_two_ways_meet() -> None:
    zero, fit = (sd.correction("BV", gamma=g).fit("AP", sd.Sampling(200, 30)) for g in (0, 9e-17))
    assert str(fit.note).startswith("γ = 9e-17 counts as 0 and is ill-conditioned here: ")
    assert str(zero.note).startswith("γ = 0 is ill-conditioned here: ")
    assert np.array_equal(fit.values, zero.values)
    gammas = (1e-6 * (1 - 1e-9), 1e-6 * (1 + 1e-9))
    fits = [sd.correction("BV", gamma=g).fit("NDCG", sd.Sampling(3000, 100)) for g in gammas]
    low, high = (fit.values for fit in fits)
    np.testing.assert_allclose(low, high, rtol=0, atol=1e-8 * np.abs(high).max())


def test_sampled_ranks_that_cannot_occur_lie_between_their_neighbours() -> None:
    # For n = 2, both draws are of the only other item, so sampled rank 2 of 3 cannot occur.
    for gamma in (1.0, 0.1):
        fit = sd.correction("BV", gamma=gamma).fit("AP", sd.Sampling(2, 2, WITH))
        np.testing.assert_allclose(fit.values, [1.0, 0.75, 0.5], rtol=0, atol=1e-15)
    assert np.all(np.isfinite(sd.correction("BV").fit("AP", sd.Sampling(3, 1_100, WITH)).values))


def kkt_residual(law, target, values, nonnegative=True):
    """Return how far a monotone fit is from optimality, relative to max |law.T @ target|. A
    non-increasing vector of m + 1 entries is given by its m steps down and its last entry. At the
    minimum of the squared error no step is negative, and the derivative by each step is >= 0, and
    0 if the step is positive. If ``nonnegative``, the same holds for the last entry; else the
    derivative by the last entry is 0."""
    along_steps = np.cumsum(law.T @ (law @ values - target))
    steps = np.append(values[:-1] - values[1:], values[-1])
    slack = np.minimum(np.abs(steps), np.abs(along_steps))
    wrong = np.max([-along_steps, slack, -steps], axis=0)
    if not nonnegative:
        wrong[-1] = abs(along_steps[-1])
    return float(wrong.max() / np.abs(law.T @ target).max())


WITH_ODDS = [(WITH, 1.0), (POPULARITY, 5.0)]
SIZES = [(10_000, 100), (1_500, 500), (900, 850), (60, 30)]
DRAWN = [(*size, *scheme) for size in SIZES for scheme in ((WITHOUT, 1.0), *WITH_ODDS)]
MORE = [(38, 57), (37, 300), (5, 9), (2, 4)]  # more negatives than candidates
DRAWN += [(*size, *scheme) for size in MORE for scheme in WITH_ODDS]


@pytest.mark.parametrize("nonnegative", [True, False])
@pytest.mark.parametrize(("n", "m", "scheme", "odds"), DRAWN)
def test_kkt(n: int, m: int, scheme: str, odds: float, nonnegative: bool) -> None:
    law, recipe = dense_law(n, m, scheme, odds), sd.correction("monotone", nonnegative=nonnegative)
    for name in ("recall", "precision", "ndcg", "ap", "auc"):
        k = None if name in ("ap", "auc") else 10 if n > 40 else 1
        values = recipe.fit(sd.metric(name, k=k), sd.Sampling(n, m, scheme, odds)).values
        assert kkt_residual(law, oracles.exact_metric(name, k, n), values, nonnegative) <= 1e-9
        assert np.all(np.diff(values) <= 0)
        assert not nonnegative or values[-1] >= 0


@given(st.integers(2, 25), st.data())
def test_small_cases(n: int, data: st.DataObject) -> None:
    scheme = data.draw(st.sampled_from(UNIFORM))
    m = data.draw(st.integers(1, n - 1))
    nonnegative = data.draw(st.booleans())
    weights = data.draw(st.lists(st.integers(1, 5), min_size=n, max_size=n))
    text = data.draw(st.sampled_from(["AP", "NDCG@2", "Recall@1", "Recall@5", "AUC"]))
    recipe = sd.correction("CLS", nonnegative=nonnegative, prior=weights)
    values = recipe.fit(text, sd.Sampling(n, m, scheme)).values
    root = np.sqrt(np.array(weights) / sum(weights) * n)
    law = dense_law(n, m, scheme) * root[:, None]
    target = sd.parse_metric(text)(np.arange(1, n + 1), n) * root
    assert kkt_residual(law, target, values, nonnegative) <= 1e-9


@pytest.mark.parametrize("scheme", UNIFORM)
@pytest.mark.parametrize("n", [900, 1_500, 12_000])
def test_minimum_norm_over_all_ranks(scheme: str, n: int) -> None:
    law, target = dense_law(n, 100, scheme), oracles.exact_metric("recall", 10, n)
    left, sizes, right = np.linalg.svd(law, full_matrices=False)
    kept = sizes > 1e-10 * sizes[0]
    wanted = right[kept].T @ ((left[:, kept].T @ target) / sizes[kept])
    fit = sd.correction("LS").fit("Recall@10", sd.Sampling(n, 100, scheme))
    assert f"{kept.sum()} of 101 directions" in str(fit.note)
    assert np.abs(fit.values - wanted).max() <= 1e-4 * np.abs(wanted).max()
    assert np.abs(law @ (fit.values - wanted)).max() <= 1e-6
