"""Bounds within sampling error: against general solvers, their coverage, their edges."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binom

import sampledash as sd
from sampledash.estimation import confidence
from sampledash.estimation.bounds import bounds
from sampledash.estimation.confidence import ChiSquareFit, least_misfit
from sampledash.estimation.estimate import METHODS, compare, interval, point, standard_error
from sampledash.estimation.rank_distribution import fitted_side_by_side
from sampledash.metrics import parse_metric
from sampledash.rank_sets import RankSet
from sampledash.sampled_rank_sets import SampledRankSet
from tests.benchmarks.bounds import hardest, misses
from tests.estimation.cases import FALLING, adaptive, drawn, falling, least_held
from tests.oracles import UNIFORM, WITH, WITHOUT, dense_law

Z = 1.959963984540054
Range = tuple[float, float]
SHAPES = (None, "non-increasing")


def holds(runs: int, draw: Callable[[], Any], span: Callable[[SampledRankSet], Range]) -> None:
    """So many 95 % intervals hold what they are for often enough."""
    found = misses(runs, draw, span)
    assert found.seen == runs
    assert np.all(1 - found.shares >= least_held(runs))


def by_solver(parts: list[ChiSquareFit], signs: list[float], sign: float) -> float:
    """Largest or smallest signed metric near to the best fits, scatter as one more unknown."""
    ends = np.cumsum([0, *(len(p.values) for p in parts)])
    scatter = np.sqrt(sum(p.scatter for p in parts))

    def split(x):
        return [x[a:b] for a, b in pairwise(ends)]

    def value(x):
        terms = zip(signs, parts, split(x), strict=True)
        return sum(s * (p.values @ w + p.offset) for s, p, w in terms) + scatter * x[-1]

    def room(x):
        terms = zip(parts, split(x), strict=True)
        return Z**2 - sum(np.sum((p.rows @ (w - p.weights)) ** 2) for p, w in terms) - x[-1] ** 2

    constraints = [{"type": "ineq", "fun": room}] + [
        {"type": "eq", "fun": lambda x, i=i: split(x)[i].sum() - 1} for i in range(len(parts))
    ]
    start = np.append(np.concatenate([p.weights for p in parts]), 0.0)
    limits = [(0, None)] * (len(start) - 1) + [(None, None)]
    how = {"bounds": limits, "constraints": constraints, "method": "SLSQP"}
    options = {"maxiter": 2000, "ftol": 1e-12}
    result = minimize(lambda x: -sign * value(x), start, options=options, **how)
    # 8: no step improves at working precision; whether it is the solution, the bound decides.
    assert result.status in (0, 8), result.message
    return -sign * result.fun


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", ["Recall@3", "NDCG@10", "AUC"])
def test_region_against_a_general_solver(shape, name) -> None:
    rng, parts = np.random.default_rng(3), []
    for power in (2.0, 1.5):
        rank = 1 + (16 * rng.random(150) ** power).astype(int)
        parts.append(least_misfit(parse_metric(name), drawn(rank, 16, 5, rng).outcomes, shape))
    for some, signs in (([parts[0]], [1.0]), (parts, [1.0, -1.0])):
        spans = [sorted(s * e for e in p.extremes) for s, p in zip(signs, some, strict=True)]
        lowest, highest = np.sum(spans, axis=0)
        low, high = (by_solver(some, signs, sign) for sign in (-1.0, 1.0))
        expected = max(lowest, low), min(highest, high)
        signed = [replace(p, weight=s) for s, p in zip(signs, some, strict=True)]
        assert confidence.profile_interval(signed, 0.95) == pytest.approx(expected, abs=2e-4)


def test_what_the_sample_tells_about_its_instances() -> None:
    # Of the scatter of 24 ranks' metric, b(s) = E[metric | s] is told and E Var(metric | s) left.
    rng = np.random.default_rng(4)
    srs = drawn(1 + (24 * rng.random(4000) ** 1.5).astype(int), 24, 6, rng)
    part = least_misfit(parse_metric("AUC"), srs.outcomes, "non-increasing")
    law, auc = dense_law(24, 6, WITH), (24 - np.arange(1, 25)) / 23
    mass = part.weights @ (np.tril(np.ones((24, 24))) / np.arange(1, 25)[:, None])
    told = (mass * auc) @ law / (mass @ law)
    left = mass @ (law @ (told**2) - 2 * auc * (law @ told) + auc**2)
    assert part.scatter == pytest.approx(left / 4000, rel=1e-6)
    shares = srs.outcomes.counts[0] / 4000
    centre = part.offset + part.values @ part.weights
    assert centre == pytest.approx(mass @ auc + told @ (shares - mass @ law), abs=1e-9)


def test_misfit_of_the_own_ranks_is_chi_square() -> None:
    # The ranks are fixed, only negatives are drawn: chi-square with cells - 1 degrees of freedom
    # for each m. A multinomial error would be nearly twice as large, and the mean half of that.
    rng = np.random.default_rng(14)
    ranks = 1 + (24 * rng.random(3000) ** 1.5).astype(int)
    mass, found, free = np.bincount(ranks, minlength=25)[1:] / 3000, [], 0
    for _ in range(200):
        srs = drawn(ranks, 24, rng.choice([6, 15], 3000), rng)
        part = least_misfit(parse_metric("AUC"), srs.outcomes, None)
        found.append(float(np.sum((part.rows @ mass - part.observed) ** 2)))
        free = len(part.observed) - 2
    assert np.mean(found) == pytest.approx(free, abs=4 * np.sqrt(2 * free / 200))


@pytest.mark.parametrize("side", [0, 1])
def test_coverage_for_the_ranks_that_are_hardest_to_tell(side) -> None:
    """Even where everything is arranged to look like an evenly spread recommender."""
    n, m, size = 500, 100, 3000
    metric, rng = parse_metric("NDCG@10"), np.random.default_rng(16)
    mass = np.where(np.arange(1, n + 1) <= 50, 6 / n, 0.4 / n)
    expected = size * (mass / mass.sum() @ dense_law(n, m, WITH))
    even = SampledRankSet("A", np.arange(1, m + 2), n, m, counts=expected, scheme=WITH)
    hard = hardest(metric, even, size, None)[side]

    def draw() -> tuple[SampledRankSet, float]:
        ranks = rng.choice(hard.places, size, p=hard.weights)
        return drawn(ranks, n, m, rng), metric(ranks, n).mean()

    holds(60, draw, partial(bounds, metric))


@pytest.mark.parametrize("size", [3, 200, 3000])
@pytest.mark.parametrize("kind", FALLING)
def test_a_shape_holds_the_metric_of_the_instances_and_of_their_distribution(kind, size) -> None:
    """Drawn from equal ranks, six in ten samples have fewer in the first ten than expected."""
    n, mass, rng = 3706, falling(kind, 3706), np.random.default_rng(21)

    def draw() -> tuple[SampledRankSet, Range]:
        ranks = 1 + rng.choice(n, size, p=mass)
        return drawn(ranks, n, 100, rng), (np.mean(ranks <= 10), mass[:10].sum())

    holds(30, draw, partial(interval, "Recall@10", shape="non-increasing"))


@pytest.mark.parametrize("scheme", UNIFORM)
@pytest.mark.parametrize("m", [1, 5, (3, 40)])
def test_coverage_of_the_mean_rank(scheme, m) -> None:
    rng, n = np.random.default_rng(1), 200
    ranks = 1 + (n * rng.random(150) ** 3).astype(int)
    exact = sd.mean("AUC", RankSet("A", ranks, n))

    def draw() -> tuple[SampledRankSet, float]:
        negatives = rng.choice(np.atleast_1d(m), len(ranks))
        if scheme == WITH:
            return drawn(ranks, n, negatives, rng), exact
        t = 1 + rng.hypergeometric(ranks - 1, n - ranks, negatives)
        return SampledRankSet("A", t, n, negatives, scheme=scheme), exact

    holds(400, draw, partial(bounds, "AUC"))


@pytest.mark.parametrize("name", ["Recall@10", "AUC"])
@pytest.mark.parametrize("rule", [(50, 400, 1), (20, 320, 2)])
@pytest.mark.parametrize("kind", ["uniform", "exponential"])
def test_intervals_hold_the_metric_where_the_draw_decides_m(kind, rule, name) -> None:
    n, rng, mass = 1000, np.random.default_rng(52), falling(kind, 1000)

    def draw() -> tuple[SampledRankSet, float]:
        ranks = 1 + rng.choice(n, 200, p=mass)
        m, above = adaptive((ranks - 1) / (n - 1), rng, *rule)
        srs = SampledRankSet("A", above + 1, n, m, adaptive=True, scheme=WITH)
        return srs, parse_metric(name)(ranks, n).mean()

    holds(10, draw, partial(interval, name))


def test_more_instances_narrow_to_the_bounds_of_infinitely_many() -> None:
    n, m = 500, 30
    shares = 1 / np.arange(3, n + 3) @ dense_law(n, m, WITH) / np.sum(1 / np.arange(3, n + 3))

    def of(size: float) -> SampledRankSet:
        return SampledRankSet("A", np.arange(1, m + 2), n, m, counts=size * shares, scheme=WITH)

    spans = [bounds("Recall@10", of(size)) for size in (300, 3_000, 30_000, 1_000_000_000)]
    assert np.all(np.diff(spans, axis=0) * [1, -1] >= -1e-6)
    last = bounds("Recall@10", of(1), tolerance=1e-6)
    assert np.ptp(spans[-1]) <= 1.1 * np.ptp(last)


@pytest.mark.parametrize("name", ["Recall@10", "AUC"])
def test_entries_of_one_instance_are_worth_less(name) -> None:
    t = 1 + np.random.default_rng(7).binomial(50, np.linspace(0, 1, 600) ** 3)

    def of(t, instances=None):
        return bounds(name, SampledRankSet("A", t, 1000, 50, instances=instances, scheme=WITH))

    assert of(t, np.arange(600)) == of(t)
    assert np.ptp(of(t, np.arange(600) // 2)) > 1.05 * np.ptp(of(t))
    # The cells are finer where there are more entries, the bounds a little narrower.
    copies = of(np.tile(t, 4), np.tile(np.arange(600), 4))
    assert copies == pytest.approx(of(t), abs=5e-3 if name == "Recall@10" else 1e-12)


@pytest.mark.parametrize(
    ("counts", "cells"), [([0, 0, 0, 9, 7, 0, 0, 0], 4), ([9, 0, 2, 4, 1, 0], 3), ([0, 0, 3], 1)]
)
def test_cells_hold_five_instances_or_none(counts, cells) -> None:
    srs = SampledRankSet("A", np.arange(len(counts)) + 1, 2000, len(counts) - 1, counts=counts)
    assert len(least_misfit(parse_metric("AUC"), srs.outcomes, None).observed) == cells


@pytest.mark.parametrize(("size", "m"), [(50, 100), (200, 100), (1000, 100), (1000, 400)])
def test_what_no_instance_shows_is_rare(size, m) -> None:
    """True ranks 3,000 to 6,000 of 10,000: a place in the first 10 would have shown."""
    rng = np.random.default_rng(17)
    ranks = rng.integers(3000, 6001, size)
    t = 1 + rng.hypergeometric(ranks - 1, 10_000 - ranks, m)
    low, high = bounds("Recall@10", SampledRankSet("A", t, 10_000, m, scheme=WITHOUT))
    assert low == 0
    # Seen by nobody: a share of 1 - 0.025^(1/size) at most, here with some room for what it hides.
    assert 1 - 0.05 ** (1 / size) <= high <= 1.5 * (1 - 0.025 ** (1 / size))


ALL = SampledRankSet("A", [5, 2, 9, 12, 30], 40, 39, scheme=WITHOUT)  # true ranks
FEW = SampledRankSet("B", [1, 20, 30], 40, 39, scheme=WITHOUT)
TWO = SampledRankSet("A", [1] * 80 + [2] * 20, 2, 1, scheme=WITHOUT)  # one negative of one


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize(
    ("name", "sets", "exact"),
    [("Recall@10", [ALL], 0.6), ("Recall@10", [ALL, FEW], 0.6 - 1 / 3), ("AUC", [ALL], 28.4 / 39),
     ("AUC", [TWO], 0.8), ("AP", [TWO], 0.9), ("Recall@1", [TWO], 0.8)],
)  # fmt: skip
def test_ranks_among_all_items_are_known(name, sets, exact, shape) -> None:
    assert bounds(name, *sets, shape=shape) == pytest.approx((exact, exact), abs=1e-12)


def test_samples_of_one_instance_or_one_rank_have_exact_limits() -> None:
    assert bounds("Recall@10", SampledRankSet("A", [3], 1000, 50)) == (0.0, 1.0)
    # 300 instances, all with no negative above: P(none above) is at least 0.025^(1/300), two-sided.
    best = SampledRankSet("A", [1] * 300, 10_000, 100, scheme=WITH)
    # Of ranks beyond 10 the 11th hides best: it is drawn past with chance (1 - 10/9999)^100.
    share = (1 - 0.025 ** (1 / 300)) / (1 - (1 - 10 / 9999) ** 100)
    assert bounds("Recall@10", best) == (pytest.approx(1 - share, abs=2e-3), 1)
    worst = SampledRankSet("B", [101] * 300, 10_000, 100, scheme=WITH)
    assert bounds("AUC", worst)[1] < 0.02
    # Of two numbers of negatives each has half of the risk; with 100 less can hide.
    both = SampledRankSet("A", [1] * 300, 10_000, [100, 50] * 150, scheme=WITH)
    share = (1 - 0.0125 ** (1 / 150)) / (1 - (1 - 10 / 9999) ** 100)
    assert bounds("Recall@10", both) == (pytest.approx(1 - share, abs=2e-3), 1)
    # Of a difference each side has half of the risk; an item in the first ten is never 101st.
    share, top = ((1 - 0.0125 ** (1 / 300)) / x for x in (1 - (1 - 10 / 9999) ** 100, 1))
    assert bounds("Recall@10", best, worst)[0] == pytest.approx(1 - share - top, abs=2e-3)
    assert str(compare("Recall@10", best, worst)) == str(compare("AUC", worst, best)) == "A > B"


def hits(below: int, of: int) -> SampledRankSet:
    """One draw for each of many instances: AUC is then a proportion."""
    return SampledRankSet("A", [1] * below + [2] * (of - below), 1000, 1)


@pytest.mark.parametrize(
    ("sets", "printed"),
    [
        # Newcombe, Two-sided confidence intervals for the single proportion (1998), table I, 3.
        ([hits(81, 263)], (0.2553, 0.3662)),
        ([hits(15, 148)], (0.0624, 0.1605)),
        ([hits(0, 20)], (0.0, 0.1611)),
        # Newcombe, Interval estimation for the difference (1998), table II, method 10.
        ([hits(56, 70), hits(48, 80)], (0.0524, 0.3339)),
        ([hits(9, 10), hits(3, 10)], (0.1705, 0.8090)),
    ],
)
def test_one_negative_each_is_a_proportion(sets, printed) -> None:
    assert bounds("AUC", *sets) == pytest.approx(printed, abs=5e-5)


def test_the_mean_rank_knows_instances_and_no_shape() -> None:
    # Half the items above or none: the shares vary little within an instance that has none.
    srs = SampledRankSet("A", [1] * 500 + [51] * 500, 10_001, 100, scheme=WITH)
    # 0.75 with variance (1/4 · 100/99 · 500)/100 / 1000², plus a quarter of one instance's.
    error = np.sqrt((500 * 50 * 50 / (100 * 99) + 0.25) / 100) / 1000
    assert np.ptp(bounds("AUC", srs)) / 2 == pytest.approx(Z * error, rel=1e-3)
    t = 1 + np.random.default_rng(2).binomial(50, np.linspace(0, 1, 800) ** 3)
    srs = SampledRankSet("A", t, 1000, 50, scheme=WITH)
    assert bounds("AUC", srs, shape="non-increasing") == bounds("AUC", srs)


@pytest.mark.parametrize("scheme", UNIFORM)
def test_a_sample_without_scatter_is_still_a_sample(scheme) -> None:
    # Every instance has all drawn items above it, or none: the sample shows no scatter at all. One
    # of the ten might be at the middle: 0.25 c / m of variance in one of ten values, as 1,000 / c
    # draws of a share of one half have, and Wilson's interval for those.
    n, m = 101, 10
    srs = SampledRankSet("A", [1] * 5 + [m + 1] * 5, n, m, scheme=scheme)
    c = 1.0 if scheme == WITH else (n - 1 - m) / (n - 2)
    draws = 10 * 10 * m / c
    reach = Z * np.sqrt(0.25 / draws + Z**2 / (4 * draws**2)) / (1 + Z**2 / draws)
    assert bounds("AUC", srs) == pytest.approx((0.5 - reach, 0.5 + reach), abs=1e-12)


@pytest.fixture(scope="module")
def runs(xyz) -> list[SampledRankSet]:
    """As Li et al., from fewer on: twice as many, up to 320, until one is above."""
    rng, found = np.random.default_rng(51), []
    for one in xyz:
        m, above = adaptive((one.ranks - 1) / (one.n - 1), rng, 20, 320, 1)
        found.append(SampledRankSet(one.system, above + 1, 3541, m, scheme=WITH, adaptive=True))
    return found


def test_the_likelihood_is_right(runs, xyz) -> None:
    for srs, ranks, beside in zip(runs, xyz, fitted_side_by_side(runs), strict=True):
        recall, auc = sd.mean("Recall@50", ranks), sd.mean("AUC", ranks)
        assert beside.expected("Recall@50") == pytest.approx(recall, rel=0.08)
        for method, off in (("mle", 0.005), ("monotone-mle", 0.01)):
            assert point("Recall@50", srs, method) == pytest.approx(recall, rel=0.08)
            assert point("AUC", srs, method) == pytest.approx(auc, abs=off)


@pytest.mark.parametrize(
    "method", [*sorted(METHODS.keys() - {"mle", "monotone-mle"}), "BV 0.1", "CLS", "uncorrected"]
)
def test_what_rests_on_the_law_at_each_m_is_wrong(runs, xyz, method) -> None:
    # Said to be set beforehand it is not refused, and further off than the likelihood ever is.
    said = replace(runs[0], adaptive=False)
    recall, auc = (point(text, said, method) for text in ("Recall@50", "AUC"))
    relative = abs(recall / sd.mean("Recall@50", xyz[0]) - 1)
    assert relative > 0.08 or abs(auc - sd.mean("AUC", xyz[0])) > 0.005
    unsaid = replace(runs[0], adaptive=None)
    with pytest.raises(ValueError, match=r"'X': its m goes with the rank, and either m was set"):
        point("Recall@50", unsaid, method)
    with pytest.raises(ValueError, match=r"'X': what was drawn decided its m \(as adaptive says"):
        point("Recall@50", runs[0], method)


def test_the_most_likely_distribution_against_a_general_solver() -> None:
    n, rng = 24, np.random.default_rng(53)
    share = (rng.integers(1, n + 1, 150) - 1) / (n - 1) * rng.random(150)
    m, above = adaptive(share, rng, 3, 12, 1)
    srs = SampledRankSet("A", above + 1, n, m, adaptive=True, scheme=WITH)
    law = binom.pmf(above[:, None], m[:, None], np.arange(n) / (n - 1))

    def loss(w):
        return -np.log(law @ np.abs(w) / np.abs(w).sum() + 1e-300).sum()

    found = confidence.maximum_likelihood(sd.parse_metric("Recall@3"), srs.outcomes)
    how = {"method": "L-BFGS-B", "bounds": [(0, None)] * n}
    best = min(minimize(loss, x, **how).fun for x in (np.ones(n), found.weights + 1e-6))
    assert loss(found.weights) == pytest.approx(best, abs=2e-3)
    # Lost likelihood is a squared distance, to second order.
    other = 0.97 * found.weights + 0.03 / n
    squared = [np.sum((found.rows @ w - found.observed) ** 2) for w in (other, found.weights)]
    lost = loss(other) - loss(found.weights)
    assert squared[0] - squared[1] == pytest.approx(2 * lost, rel=0.1)
    # Two entries of one instance are worth one.
    pairs = replace(srs, instances=np.arange(150) // 2)
    half = confidence.maximum_likelihood(sd.parse_metric("Recall@3"), pairs.outcomes)
    squared = [np.sum((half.rows @ w - half.observed) ** 2) for w in (other, found.weights)]
    assert squared[0] - squared[1] == pytest.approx(lost, rel=0.1)


def test_how_many_have_which_m_scatters_too(xyz) -> None:
    rng, n = np.random.default_rng(54), 800
    share = (xyz[1].ranks[:n] - 1) / (xyz[1].n[:n] - 1)
    m, above = adaptive(share, rng, 10, 80, 1)

    def of(i, adaptive: bool = True) -> SampledRankSet:
        return SampledRankSet("Y", above[i] + 1, n, m[i], adaptive=adaptive, scheme=WITH)

    values = [point("Recall@50", of(rng.integers(0, n, n)), "mle") for _ in range(100)]
    pool, fixed = of(np.arange(n)), of(np.arange(n), adaptive=False)
    error = standard_error("Recall@50", pool.outcomes, "mle")
    # A standard deviation of 100 is known to 7 %.
    assert error == pytest.approx(np.std(values), rel=0.28)
    assert standard_error("Recall@50", fixed.outcomes, "mle") < 0.9 * error
    low, high = interval("Recall@50", pool, "mle", rng=np.random.default_rng(1))
    assert low < point("Recall@50", pool, "mle") < high
