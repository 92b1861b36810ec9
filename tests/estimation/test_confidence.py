"""Confidence intervals of metrics, against general solvers and definitions."""

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize, nnls
from scipy.stats import binom, chi2, gamma, norm

import sampledash as sd
from sampledash.estimation import confidence
from sampledash.estimation.bounds import bounds
from sampledash.estimation.confidence import ChiSquareFit, least_misfit
from sampledash.estimation.estimate import compare, interval
from sampledash.estimation.vectors import fit_learned
from sampledash.metrics import parse_metric
from sampledash.sampled_rank_sets import Outcomes, SampledRankSet
from tests.benchmarks.bounds import CASES
from tests.estimation.cases import adaptive, drawn, shaped
from tests.oracles import METRICS, UNIFORM, WITH, WITHOUT, dense_law, exact_metric

SHAPES = (None, "non-increasing")


def by_solver(parts: list[ChiSquareFit], signs: list[float], sign: float) -> float:
    """Return the upper or lower end (``sign`` 1 or -1) of the interval, by a general solver."""
    ends = np.cumsum([0, *(len(p.values) for p in parts)])
    scatter = np.sqrt(sum(p.scatter for p in parts))

    def split(x):
        return [x[a:b] for a, b in pairwise(ends)]

    def value(x):
        terms = zip(signs, parts, split(x), strict=True)
        return sum(s * (p.values @ w + p.offset) for s, p, w in terms) + scatter * x[-1]

    def squared(p, w):
        """Return |w - fit|^2 of shares; if a likelihood, |w - observed|^2 - |fit - observed|^2."""
        if not p.likelihood:
            return np.sum((p.rows @ (w - p.weights)) ** 2)
        off, least = (np.sum((p.rows @ x - p.observed) ** 2) for x in (w, p.weights))
        return off - least

    def room(x):
        return chi2.isf(0.05, 1) - sum(map(squared, parts, split(x))) - x[-1] ** 2

    constraints = [{"type": "ineq", "fun": room}] + [
        {"type": "eq", "fun": lambda x, i=i: split(x)[i].sum() - 1} for i in range(len(parts))
    ]
    start = np.append(np.concatenate([p.weights for p in parts]), 0.0)
    limits = [(0, None)] * (len(start) - 1) + [(None, None)]
    how = {"bounds": limits, "constraints": constraints, "method": "SLSQP"}
    options = {"maxiter": 2000, "ftol": 1e-12}
    result = minimize(lambda x: -sign * value(x), start, options=options, **how)
    # Status 8: no step improves at working precision; the callers compare the result anyway.
    assert result.status in (0, 8), result.message
    return -sign * result.fun


# AUC has regions of this kind only if the draw decided m: see ``wilson`` below.
@pytest.mark.parametrize(
    ("name", "kind"),
    [*product(["Recall@3", "NDCG@10"], [*SHAPES, "adaptive"]), ("AUC", "adaptive")],
)
def test_region_against_a_general_solver(name, kind) -> None:
    rng, parts, metric = np.random.default_rng(3), [], parse_metric(name)
    for power in (2.0, 1.5):
        rank = 1 + (16 * rng.random(150) ** power).astype(int)
        outcomes = drawn(rank, 16, 5, rng).outcomes
        if kind == "adaptive":
            parts.append(confidence.maximum_likelihood(metric, outcomes))
        else:
            parts.append(least_misfit(metric, outcomes, kind))
    for some, signs in (([parts[0]], [1.0]), (parts, [1.0, -1.0])):
        spans = [sorted(s * e for e in p.extremes) for s, p in zip(signs, some, strict=True)]
        lowest, highest = np.sum(spans, axis=0)
        low, high = (by_solver(some, signs, sign) for sign in (-1.0, 1.0))
        expected = max(lowest, low), min(highest, high)
        signed = [replace(p, weight=s) for s, p in zip(signs, some, strict=True)]
        assert confidence.profile_interval(signed, 0.95) == pytest.approx(expected, abs=2e-4)


def observed(rng: np.random.Generator, scheme: str) -> tuple[Outcomes, list[int], str, int | None]:
    """Return random outcomes (one or two m and n; some ranks are absent), each n, and a metric."""
    n, sizes = int(rng.integers(12, 50)), sorted({int(x) for x in rng.integers(2, 11, 2)})
    ends = [n, n + 3] if rng.random() < 0.5 else [n]
    law = [np.mean(dense_law(n, m, scheme)[: n // 2 + 1], axis=0) for m in sizes]
    counts = tuple(rng.poisson(rng.choice([20, 400]) * p).astype(float) + (p > 0.2) for p in law)
    design, name = float(rng.choice([1, 1.5])), METRICS[rng.integers(len(METRICS))]
    at = tuple(ends) if len(ends) > 1 else ()
    return Outcomes(n, scheme, tuple(sizes), counts, False, design, at), ends, *name


def rare(seen: float) -> float:
    """Return the variance that puts a small count's Poisson limit 1.96 standard errors above it."""
    return ((gamma.isf(0.025, seen + 1) - seen) / norm.isf(0.025)) ** 2 if seen < 5 else 0.0


@pytest.mark.parametrize("scheme", UNIFORM)
@given(seed=st.integers(0, 10**6))
def test_misfit_by_definition(scheme, seed) -> None:
    """``least_misfit`` uses the covariances of counts and, with a shape, of counts and metric."""
    found, ends, name, k = observed(np.random.default_rng(seed), scheme)
    cells, metric = confidence.Cells.of(found), sd.metric(name, k=k)
    laws = [np.hstack([dense_law(n, m, scheme) for m in found.m]) for n in ends]
    exact = [exact_metric(name, k, n) for n in ends]
    worth = [c.sum() / found.design_effect for c in found.counts]
    size = np.repeat(worth, np.add(found.m, 1))[cells.starts]
    total = sum(worth)
    seen = np.add.reduceat(np.concatenate(found.counts), cells.starts) / found.design_effect
    share, least = seen / size, np.array([rare(x) for x in seen])
    assert cells.floor == pytest.approx(least / size**2, rel=1e-9)
    assert (cells.instances, cells.size.tolist()) == (pytest.approx(total), pytest.approx(size))
    law, values = np.add.reduceat(np.vstack(laws), cells.starts, axis=1), np.concatenate(exact)
    part = least_misfit(metric, found, None)
    near = np.concatenate([np.full(n, 1 / n) for n in ends]) / len(ends)
    for _ in range(30):
        near = near * (law @ (seen / (near @ law)))
        near /= near.sum()
    q = near @ law
    between = (law.T * near) @ law - np.outer(q, q)
    error = np.diag(q / size) - between / total
    left = 1 - np.diag(between) / q
    np.fill_diagonal(error, np.maximum(np.diag(error), least / size**2 * left))
    pull = np.linalg.solve(error, law.T).T
    for ours, expected in ((part.rows, pull @ law.T), (part.observed, pull @ share)):
        near = {"rtol": 1e-4, "atol": 1e-6 * np.abs(expected).max()}
        np.testing.assert_allclose(part.rows.T @ ours, expected, **near)
    np.testing.assert_allclose(part.values, values, rtol=1e-12)
    assert (part.offset, part.scatter, part.likelihood, part.weight) == (0, 0, False, 1)
    assert part.extremes == pytest.approx((values.min(), values.max()))
    # With a shape, the sampled ranks explain a part of the metric's variance over instances.
    part = least_misfit(metric, found, "non-increasing")
    pairs = [(x, y[:, None]) for x, y in zip(laws, exact, strict=True)]
    kinds = ((x, x * y, y, y**2) for x, y in pairs)
    kinds = [[shaped(rows, "non-increasing") for rows in four] for four in kinds]
    law, joint, value, square = map(np.vstack, zip(*kinds, strict=True))
    law, joint = (np.add.reduceat(x, cells.starts, axis=1) for x in (law, joint))
    chance = np.maximum(share, 1 / size)
    for _ in range(3):
        scale = np.sqrt(size / np.maximum(chance, least / size))
        stiff = 1e2 * (law * scale).max()
        rows = np.vstack([(law * scale).T, np.full(len(law), stiff)])
        weights = nnls(rows, np.append(share * scale, stiff))[0]
        chance = np.maximum(weights @ law, 0.1 / size)
    np.testing.assert_allclose(part.rows, (law * scale).T, rtol=1e-5)
    np.testing.assert_allclose(part.observed, share * scale, rtol=1e-5)
    b = size / total * (part.weights @ joint) / np.maximum(part.weights @ law, 0.1 / size)
    np.testing.assert_allclose(part.values, value[:, 0] - law @ b, rtol=1e-9, atol=1e-9)
    assert part.offset == pytest.approx(b @ share)
    scatter = part.weights @ square[:, 0] - b @ (part.weights @ joint)
    assert part.scatter == pytest.approx(max(scatter, 0) / total, rel=1e-6, abs=1e-12)


def wilson(srs: SampledRankSet, z: float) -> tuple[float, float, float]:
    """Return (low, mean, high) of AUC: Wilson's interval with an effective number of draws."""
    share = seen = alike = 0.0
    for one in srs.strata:
        n = max(one.extremes, default=one.n)
        for m, counts in zip(one.m, one.counts, strict=True):
            c = 1.0 if srs.scheme == WITH else (n - 1 - m) / (n - 2)
            for s, weight in enumerate(counts):
                share += weight * (1 - s / m)
                alike += weight * c / m
                seen += weight * (1 / 4 if m == c else c / m * s * (m - s) / (m * (m - c)))
    total, size = srs.counts.sum(), srs.counts.sum() / srs.design_effect
    p = share / total
    seen += alike / 4 / size  # one more instance, with the largest variance
    draws = total * size / (min(alike, seen / (p * (1 - p))) if 0 < p < 1 else alike)
    centre = (p + z**2 / (2 * draws)) / (1 + z**2 / draws)
    reach = z / (1 + z**2 / draws) * np.sqrt(p * (1 - p) / draws + z**2 / (4 * draws**2))
    return centre - reach, p, centre + reach


@pytest.mark.parametrize("scheme", UNIFORM)
@settings(max_examples=15)
@given(seed=st.integers(0, 10**6))
def test_range_of_the_mean_rank_instance_by_instance(scheme, seed) -> None:
    rng, sets = np.random.default_rng(seed), []
    for system in "AB":
        n, size = rng.choice([30, 34, 500][: rng.integers(1, 4)], 60), int(rng.integers(1, 60))
        m = rng.choice([1, 5, 7, 12][: rng.integers(1, 5)], 60)
        t = 1 + rng.binomial(m, rng.beta(0.3, 1, 60) if rng.random() < 0.8 else m % 2)
        more = {"scheme": scheme, "adaptive": False, "counts": rng.integers(1, 5, size) / 2}
        more["instances"] = np.arange(size) // int(rng.integers(1, 3))
        sets.append(SampledRankSet(system, t[:size], n[:size], m[:size], **more))
    (low, p, high), (least, q, most) = (wilson(one, norm.isf(0.05)) for one in sets)
    assert interval("AUC", sets[0], confidence=0.9) == pytest.approx((low, high), abs=1e-9)
    # Newcombe's method 10 (1998) for the difference of two proportions.
    reach = np.hypot(p - low, most - q), np.hypot(high - p, q - least)
    found = compare("AUC", *sets, confidence=0.9)
    assert (found.low, found.high) == pytest.approx((p - q - reach[0], p - q + reach[1]), abs=1e-9)


@pytest.mark.parametrize(
    ("counts", "starts"),
    [([5, 5, 5], [0, 1, 2]), ([4, 1, 5], [0, 2]), ([4.5, 0.4, 5], [0]),
     ([0, 0, 5, 0, 0, 4], [0, 2, 3]), ([0, 0, 5, 0, 0, 5], [0, 2, 3, 5]), ([0, 0, 3], [0]),
     ([9, 0, 2, 4, 1, 0], [0, 1, 2]), ([0, 0, 0, 9, 7, 0, 0, 0], [0, 3, 4, 5]), ([0] * 5, [0]),
     ([6] * 200, list(range(200))),  # up to 200 sampled ranks, each is a cell (group)
     ([6] * 401, sorted({int(401 * np.sin(i * np.pi / 400) ** 2) for i in range(200)}))],
)  # fmt: skip
def test_cells_hold_five_instances_or_none(counts, starts) -> None:
    assert confidence.joined_starts(np.array(counts, dtype=float)).tolist() == starts


def test_all_cells_together_are_few() -> None:
    """With 20 different m each sampled rank is a cell (group); with 21, two ranks share a cell."""
    for many, wide in ((20, 1), (21, 2)):
        sizes = tuple(range(190, 190 + many))
        counts = tuple(np.full(m + 1, 6.0) for m in sizes)
        starts = confidence.Cells.of(Outcomes(1000, WITH, sizes, counts)).starts
        assert starts[starts < 191].tolist() == list(range(0, 190 + (wide == 1), wide))


def test_a_shape_is_contradicted_beyond_one_in_a_million() -> None:
    refused = []
    for times in np.linspace(1, 6, 26):
        counts = times * np.array([10.0, 12, 20, 26, 12, 6])
        srs = SampledRankSet("A", np.arange(1, 7), 40, 5, counts=counts, scheme=WITH)
        part = least_misfit(parse_metric("AP"), srs.outcomes, "non-increasing")
        law = dense_law(40, 5, WITH).T
        share, scale = counts / counts.sum(), np.sqrt(counts.sum() / (counts / counts.sum()))
        for _ in range(3):
            rows = np.vstack([law * scale[:, None], np.full(40, 1e4)])
            weights = nnls(rows, np.append(share * scale, 1e4))[0]
            free = np.sum((rows[:-1] @ weights - share * scale) ** 2)
            scale = np.sqrt(counts.sum() / (law @ weights))
        excess = np.sum((part.rows @ part.weights - part.observed) ** 2) - free
        bends = np.count_nonzero(weights)
        refused.append(chi2.sf(excess, bends) < 1e-6)
        if refused[-1]:
            text = f"chi-square {excess:.0f} for at most {bends} bends"
            with pytest.raises(ValueError, match=text):
                interval("AP", srs, shape="non-increasing")
        else:
            interval("AP", srs, shape="non-increasing")
            # For AUC, a shape that is not contradicted does not narrow the interval.
            assert interval("AUC", srs, shape="non-increasing") == interval("AUC", srs)
    assert 5 < sum(refused) < 21


ALL = SampledRankSet("A", [5, 2, 9, 12, 30], 40, 39, scheme=WITHOUT)  # m = n - 1: true ranks
FEW = SampledRankSet("B", [1, 20, 30], 40, 39, scheme=WITHOUT)
TWO = SampledRankSet("A", [1] * 80 + [2] * 20, 2, 1, scheme=WITHOUT)  # the only negative is drawn


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("name", "sets", "exact"),
    [("Recall@10", [ALL], 0.6), ("Recall@10", [ALL, FEW], 0.6 - 1 / 3), ("AUC", [ALL], 28.4 / 39),
     ("AUC", [TWO], 0.8), ("AP", [TWO], 0.9), ("Recall@1", [TWO], 0.8)],
)  # fmt: skip
def test_ranks_among_all_items_are_known(name, sets, exact, shape) -> None:
    assert bounds(name, *sets, shape=shape) == pytest.approx((exact, exact), abs=1e-12)


def hits(below: int, of: int) -> SampledRankSet:
    """Return instances with one negative each, so that AUC is the proportion ``below / of``."""
    return SampledRankSet("A", [1] * below + [2] * (of - below), 1000, 1)


def test_one_negative_each_is_a_proportion() -> None:
    for sets, printed in (
        # Newcombe, Two-sided confidence intervals for a proportion (1998), table I, method 3.
        ([hits(81, 263)], (0.2553, 0.3662)),
        ([hits(15, 148)], (0.0624, 0.1605)),
        ([hits(0, 20)], (0.0, 0.1611)),
        # Newcombe, Interval estimation for the difference (1998), table II, method 10.
        ([hits(56, 70), hits(48, 80)], (0.0524, 0.3339)),
        ([hits(9, 10), hits(3, 10)], (0.1705, 0.8090)),
    ):
        assert bounds("AUC", *sets) == pytest.approx(printed, abs=5e-5)


def test_the_most_likely_distribution_against_a_general_solver() -> None:
    n, rng = np.repeat([24, 27], 75), np.random.default_rng(53)
    share = (rng.integers(1, n + 1) - 1) / (n - 1) * rng.random(150)
    m, above = adaptive(share, rng, 3, 12, 1)
    srs = SampledRankSet("A", above + 1, n, m, adaptive=True, scheme=WITH)
    shares = np.concatenate([np.arange(x) / (x - 1) for x in (24, 27)])
    law = binom.pmf(above[:, None], m[:, None], shares)

    def loss(w):
        return -np.log(law @ np.abs(w) / np.abs(w).sum() + 1e-300).sum()

    found = confidence.maximum_likelihood(sd.parse_metric("Recall@3"), srs.outcomes)
    how = {"method": "L-BFGS-B", "bounds": [(0, None)] * 51}
    best = min(minimize(loss, x, **how).fun for x in (np.ones(51), found.weights + 1e-6))
    assert loss(found.weights) == pytest.approx(best, abs=2e-3)
    # Near the maximum, the squared distance from ``found`` is twice the loss of log-likelihood.
    other = 0.97 * found.weights + 0.03 / 51
    squared = [np.sum((found.rows @ w - found.observed) ** 2) for w in (other, found.weights)]
    lost = loss(other) - loss(found.weights)
    assert squared[0] - squared[1] == pytest.approx(2 * lost, rel=0.1)
    # If each instance has two relevant items, they count as one: squared distances are halved.
    pairs = replace(srs, instances=np.arange(150) // 2)
    half = confidence.maximum_likelihood(sd.parse_metric("Recall@3"), pairs.outcomes)
    squared = [np.sum((half.rows @ w - half.observed) ** 2) for w in (other, found.weights)]
    assert squared[0] - squared[1] == pytest.approx(lost, rel=0.1)


SRS = CASES["n = 200 or 20,000"](np.random.default_rng(63))[0]
PARTS = [
    SampledRankSet("A", SRS.sampled_ranks[at], n, SRS.m[at], scheme=SRS.scheme)
    for n, at in ((n, SRS.n == n) for n in (200, 20_000))
]
SHARES = np.array([len(one) / len(SRS) for one in PARTS])


@pytest.mark.parametrize("method", ["mle", "monotone-mle", "BV 0.1", "bv-mes", "uncorrected"])
def test_instances_of_each_n_are_estimated_by_themselves(method: str) -> None:
    exact = SHARES @ [sd.estimate("NDCG@10", one, method).value for one in PARTS]
    found = sd.estimate("NDCG@10", SRS, method)
    assert found.value == pytest.approx(exact, rel=1e-9)
    assert found.low <= found.value <= found.high


def test_a_distribution_over_ranks_is_of_about_one_n() -> None:
    expected = np.zeros(20_000)
    for share, one in zip(SHARES, PARTS, strict=True):
        expected[: one.population] += share * sd.rank_distribution(one, "mle")
    assert sd.rank_distribution(SRS, "mle") == pytest.approx(expected, abs=1e-12)
    with pytest.raises(ValueError, match=r"n is 200 to 20000, .*: give a set for each n"):
        fit_learned("bv-mle", "AP", SRS, m=99)
