"""Bounds within sampling error: against general solvers, their coverage, their edges."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binom

import sampledash as sd
from sampledash.comparison import mean
from sampledash.estimation import bounds, compare, fitted_side_by_side, interval, point
from sampledash.estimation.confidence import (
    ChiSquareFit,
    joined_starts,
    least_misfit,
    maximum_likelihood,
    profile_interval,
)
from sampledash.estimation.estimate import METHODS, standard_error
from sampledash.metrics import parse_metric
from sampledash.ranksets import RankSet
from sampledash.sampledranks import SampledRankSet
from tests.benchmarks.bounds_floor import hardest
from tests.estimation.cases import FALLING, adaptive, drawn, falling, own_n_drawn
from tests.oracles import WITH, WITHOUT, dense_law

Z2 = 1.959963984540054**2


def least_held(runs: int) -> float:
    """Share of runs that 95 % intervals hold at least, but for 4 standard errors."""
    return float(0.95 - 4 * np.sqrt(0.95 * 0.05 / runs))


def by_solver(parts: list[ChiSquareFit], signs: list[float], sign: float) -> float:
    """Largest or smallest signed metric near to the best fits, scatter as one more unknown."""
    sizes = [len(p.values) for p in parts]
    ends = np.cumsum([0, *sizes])
    scatter = np.sqrt(sum(p.scatter for p in parts))

    def split(x):
        return [x[a:b] for a, b in pairwise(ends)]

    def value(x):
        terms = zip(signs, parts, split(x), strict=True)
        return sum(s * (p.values @ w + p.offset) for s, p, w in terms) + scatter * x[-1]

    def room(x):
        terms = zip(parts, split(x), strict=True)
        return Z2 - sum(np.sum((p.rows @ (w - p.weights)) ** 2) for p, w in terms) - x[-1] ** 2

    totals = [
        {"type": "eq", "fun": lambda x, i=i: split(x)[i].sum() - 1} for i in range(len(parts))
    ]
    start = np.append(np.concatenate([p.weights for p in parts]), 0.0)
    limits = [(0, None)] * (len(start) - 1) + [(None, None)]
    constraints = [*totals, {"type": "ineq", "fun": room}]
    how = {"bounds": limits, "constraints": constraints, "method": "SLSQP"}
    options = {"maxiter": 2000, "ftol": 1e-12}
    result = minimize(lambda x: -sign * value(x), start, options=options, **how)
    # 8: no step improves at working precision; whether it is the solution, the bound decides.
    assert result.status in (0, 8), result.message
    return -sign * result.fun


@pytest.mark.parametrize("shape", [None, "non-increasing"])
@pytest.mark.parametrize("name", ["Recall@3", "NDCG@10", "AUC"])
def test_region_against_a_general_solver(shape, name) -> None:
    rng = np.random.default_rng(3)
    parts = []
    for power in (2.0, 1.5):
        rank = 1 + (16 * rng.random(150) ** power).astype(int)
        parts.append(least_misfit(parse_metric(name), drawn(rank, 16, 5, rng).outcomes, shape))
    for some, signs in (([parts[0]], [1.0]), (parts, [1.0, -1.0])):
        found = profile_interval(some, 0.95)
        spans = [sorted(s * e for e in p.extremes) for s, p in zip(signs, some, strict=True)]
        lowest, highest = np.sum(spans, axis=0)
        expected = (by_solver(some, signs, -1.0), by_solver(some, signs, 1.0))
        assert found[0] == pytest.approx(max(lowest, expected[0]), abs=2e-4)
        assert found[1] == pytest.approx(min(highest, expected[1]), abs=2e-4)


def test_what_the_sample_tells_about_its_instances() -> None:
    # Of the scatter of 24 ranks' metric, b(s) = E[metric | s] is told and E Var(metric | s) left.
    rng = np.random.default_rng(4)
    rank = 1 + (24 * rng.random(4000) ** 1.5).astype(int)
    srs = drawn(rank, 24, 6, rng)
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
    mass = np.bincount(ranks, minlength=25)[1:] / 3000
    m, found, free = (6, 15), [], 0
    for _ in range(200):
        negatives = rng.choice(m, 3000)
        part = least_misfit(parse_metric("AUC"), drawn(ranks, 24, negatives, rng).outcomes, None)
        found.append(float(np.sum((part.rows @ mass - part.observed) ** 2)))
        free = len(part.observed) - len(m)
    assert np.mean(found) == pytest.approx(free, abs=4 * np.sqrt(2 * free / 200))


def test_coverage_for_the_ranks_that_are_hardest_to_tell() -> None:
    """Even where everything is arranged to look like an evenly spread recommender."""
    n, m, size, runs = 500, 100, 3000, 100
    metric, rng = parse_metric("NDCG@10"), np.random.default_rng(16)
    mass = np.where(np.arange(1, n + 1) <= 50, 6 / n, 0.4 / n)
    mass /= mass.sum()
    even = SampledRankSet(
        "A", np.arange(1, m + 2), n, m, counts=size * (mass @ dense_law(n, m, WITH))
    )
    for side in hardest(metric, even, size, None, 0.95):
        held = 0
        for _ in range(runs):
            ranks = rng.choice(side.places, size, p=side.weights)
            low, high = bounds(metric, drawn(ranks, n, m, rng))
            held += low - 1e-9 <= metric(ranks, n).mean() <= high + 1e-9
        assert held / runs >= least_held(runs)


@pytest.mark.parametrize(
    ("name", "shape"), [("AUC", None), ("AUC", "non-increasing"), ("Recall@10", "non-increasing")]
)
def test_coverage(xyz, name, shape) -> None:
    rng = np.random.default_rng(5)
    some = RankSet("Y", xyz[1].ranks[::6], xyz[1].n[::6])
    exact, runs, held = mean(name, some), 40, 0
    for _ in range(runs):
        low, high = bounds(name, own_n_drawn(some, 3541, 100, rng), shape=shape)
        held += low <= exact <= high
    assert held / runs >= least_held(runs)


@pytest.mark.parametrize("size", [3, 200, 3000])
@pytest.mark.parametrize("kind", FALLING)
def test_a_shape_holds_the_metric_of_the_instances_and_of_their_distribution(kind, size) -> None:
    """Drawn from equal ranks, six in ten samples have fewer in the first ten than expected."""
    n, m, runs = 3706, 100, 30
    mass, rng = falling(kind, n), np.random.default_rng(21)
    metric, expected = parse_metric("Recall@10"), mass[:10].sum()
    own = population = 0
    for _ in range(runs):
        ranks = 1 + rng.choice(n, size, p=mass)
        low, high = interval(metric, drawn(ranks, n, m, rng), shape="non-increasing")
        own += low - 1e-9 <= metric(ranks, n).mean() <= high + 1e-9
        population += low - 1e-9 <= expected <= high + 1e-9
    assert min(own, population) / runs >= least_held(runs)


def test_more_instances_narrow_to_the_bounds_of_infinitely_many() -> None:
    n, m = 500, 30
    law = dense_law(n, m, WITH)
    mass = 1 / np.arange(3, n + 3) / np.sum(1 / np.arange(3, n + 3))
    spans = []
    for size in (300, 3_000, 30_000, 1_000_000_000):
        srs = SampledRankSet("A", np.arange(1, m + 2), n, m, counts=size * (mass @ law))
        spans.append(bounds("Recall@10", srs))
    lows, highs = np.transpose(spans)
    assert np.all(np.diff(lows) >= -1e-6)
    assert np.all(np.diff(highs) <= 1e-6)
    last = SampledRankSet("A", np.arange(1, m + 2), n, m, counts=mass @ law)
    low, high = bounds("Recall@10", last, tolerance=1e-6)
    assert highs[-1] - lows[-1] <= 1.1 * (high - low)


def test_entries_of_one_instance_are_worth_less() -> None:
    t = 1 + np.random.default_rng(7).binomial(50, np.linspace(0, 1, 600) ** 3)
    alone = SampledRankSet("A", t, 1000, 50)
    pairs = SampledRankSet("A", t, 1000, 50, instances=np.arange(600) // 2)
    own = SampledRankSet("A", t, 1000, 50, instances=np.arange(600))
    assert bounds("Recall@10", own) == bounds("Recall@10", alone)
    assert np.diff(bounds("Recall@10", pairs)) > 1.05 * np.diff(bounds("Recall@10", alone))


def test_a_contradicted_shape_is_refused() -> None:
    t = 1 + np.random.default_rng(8).binomial(100, 0.5, 500)
    with pytest.raises(ValueError, match=r"shape 'non-increasing' contradicts .* system 'A'"):
        bounds("Recall@10", SampledRankSet("A", t, 1000, 100), shape="non-increasing")


@pytest.mark.parametrize("counts", [[0, 0, 3], [100, 1, 1, 1, 1, 1, 1], [9.5] * 1001, [0.1] * 7])
def test_cells_hold_five_instances_if_there_are_any(counts) -> None:
    counts = np.asarray(counts, dtype=float)
    starts = joined_starts(counts)
    totals = np.add.reduceat(counts, starts)
    assert starts[0] == 0
    assert len(starts) <= 200
    assert totals.sum() == pytest.approx(counts.sum())
    assert np.all(totals >= min(5, counts.sum()) - 1e-9)


def test_a_stretch_without_instances_is_a_cell() -> None:
    assert joined_starts(np.array([0.0, 0, 0, 9, 7, 0, 0, 0])).tolist() == [0, 3, 4, 5]
    # 1 is too few of its own.
    assert joined_starts(np.array([9.0, 0, 2, 4, 1, 0])).tolist() == [0, 1, 2]


@pytest.mark.parametrize("size", [50, 200, 1000])
def test_what_no_instance_shows_is_rare(size) -> None:
    """True ranks 3,000 to 6,000 of 10,000: a place in the first 10 would have shown."""
    rng = np.random.default_rng(17)
    ranks = rng.integers(3000, 6001, size)
    t = 1 + rng.hypergeometric(ranks - 1, 10_000 - ranks, 100)
    srs = SampledRankSet("A", t, 10_000, 100, scheme=WITHOUT)
    low, high = bounds("Recall@10", srs)
    assert low == 0
    # Seen by nobody: a share of 1 - 0.025^(1/size) at most, here with some room for what it hides.
    assert 1 - 0.05 ** (1 / size) <= high <= 1.5 * (1 - 0.025 ** (1 / size))


@pytest.mark.parametrize("shape", [None, "non-increasing"])
def test_ranks_among_all_items_are_known(shape) -> None:
    ranks = [5, 2, 9, 12, 30]
    srs = SampledRankSet("A", ranks, 40, 39, scheme=WITHOUT)
    other = SampledRankSet("B", [1, 20, 30], 40, 39, scheme=WITHOUT)
    assert bounds("Recall@10", srs, shape=shape) == pytest.approx((0.6, 0.6), abs=1e-15)
    found = bounds("Recall@10", srs, other, shape=shape)
    assert found == pytest.approx((0.6 - 1 / 3, 0.6 - 1 / 3), abs=1e-15)


@pytest.mark.parametrize("shape", [None, "non-increasing"])
@pytest.mark.parametrize(("name", "exact"), [("AUC", 0.8), ("AP", 0.9), ("Recall@1", 0.8)])
def test_two_candidates(name, exact, shape) -> None:
    # One negative of one: the sampled rank is the rank.
    srs = SampledRankSet("A", [1] * 80 + [2] * 20, 2, 1, scheme=WITHOUT)
    assert bounds(name, srs, shape=shape) == pytest.approx((exact, exact), abs=1e-5)


def test_one_instance_leaves_everything_open() -> None:
    assert bounds("Recall@10", SampledRankSet("A", [3], 1000, 50)) == (0.0, 1.0)


def test_a_sample_of_one_and_the_same_rank_has_exact_limits() -> None:
    # 300 instances, all with no negative above: P(none above) is at least 0.025^(1/300), two-sided.
    best = SampledRankSet("A", [1] * 300, 10_000, 100)
    least = 0.025 ** (1 / 300)
    low, high = bounds("Recall@10", best)
    # Of ranks beyond 10 the 11th hides best: it is drawn past with chance (1 - 10/9999)^100.
    hidden = (1 - 10 / 9999) ** 100
    share = (1 - least) / (1 - hidden)
    assert low == pytest.approx(1 - share, abs=2e-3)
    assert high == 1
    worst = SampledRankSet("B", [101] * 300, 10_000, 100)
    assert bounds("AUC", worst)[1] < 0.02
    assert str(compare("Recall@10", best, worst)) == "A > B"
    assert str(compare("AUC", worst, best)) == "A > B"
    # No true rank puts exactly one negative above every time.
    with pytest.raises(ValueError, match=r"no rank distribution shows.*nearly all are 2"):
        bounds("AUC", SampledRankSet("C", [2] * 300, 10_000, 100))
    with pytest.raises(ValueError, match="leave shape out"):
        bounds("AUC", worst, shape="non-increasing")


def hits(below: int, of: int) -> SampledRankSet:
    """One draw for each of many instances: AUC is then a proportion."""
    return SampledRankSet("A", [1] * below + [2] * (of - below), 1000, 1)


def test_one_negative_each_is_a_proportion() -> None:
    # Newcombe, Two-sided confidence intervals for the single proportion (1998), table I, method 3.
    assert bounds("AUC", hits(81, 263)) == pytest.approx((0.2553, 0.3662), abs=5e-5)
    assert bounds("AUC", hits(15, 148)) == pytest.approx((0.0624, 0.1605), abs=5e-5)
    assert bounds("AUC", hits(0, 20)) == pytest.approx((0.0, 0.1611), abs=5e-5)
    # Newcombe, Interval estimation for the difference (1998), table II, method 10.
    found = bounds("AUC", hits(56, 70), hits(48, 80))
    assert found == pytest.approx((0.0524, 0.3339), abs=5e-5)
    assert bounds("AUC", hits(9, 10), hits(3, 10)) == pytest.approx((0.1705, 0.8090), abs=5e-5)


@pytest.mark.parametrize("scheme", [WITH, WITHOUT])
@pytest.mark.parametrize("m", [1, 5, (3, 40)])
def test_coverage_of_the_mean_rank(scheme, m) -> None:
    rng = np.random.default_rng(1)
    n, runs, held = 200, 400, 0
    ranks = np.unique(1 + (n * rng.random(150) ** 3).astype(int), return_inverse=True)
    ranks = ranks[0][ranks[1]]
    exact = mean("AUC", RankSet("A", ranks, n))
    for _ in range(runs):
        negatives = rng.choice(np.atleast_1d(m), len(ranks))
        if scheme == WITH:
            above = rng.binomial(negatives, (ranks - 1) / (n - 1))
        else:
            above = rng.hypergeometric(ranks - 1, n - ranks, negatives)
        low, high = bounds("AUC", SampledRankSet("A", above + 1, n, negatives, scheme=scheme))
        held += low <= exact <= high
    assert held / runs >= least_held(runs)


def test_it_is_narrower_than_if_all_instances_were_alike() -> None:
    # Half the items above or none: the shares vary little within an instance that has none.
    srs = SampledRankSet("A", [1] * 500 + [51] * 500, 10_001, 100)
    low, high = bounds("AUC", srs)
    # 0.75 with variance (1/4 · 100/99 · 500)/100 / 1000², plus a quarter of one instance's.
    error = np.sqrt((500 * 50 * 50 / (100 * 99) + 0.25) / 100) / 1000
    assert (high - low) / 2 == pytest.approx(1.959964 * error, rel=1e-3)


def test_all_negatives_drawn_is_exact() -> None:
    srs = SampledRankSet("A", [1, 5, 9], 11, 10, scheme=WITHOUT)
    assert bounds("AUC", srs) == pytest.approx((0.6, 0.6))


def test_copies_of_an_instance_tell_no_more() -> None:
    once = SampledRankSet("A", [1, 5, 9], 11, 9)
    four = SampledRankSet("A", [1, 5, 9] * 4, 11, 9, instances=[1, 2, 3] * 4)
    assert bounds("AUC", four) == pytest.approx(bounds("AUC", once))


def test_a_shape_adds_nothing_and_may_be_refused() -> None:
    rng = np.random.default_rng(2)
    good = SampledRankSet("A", 1 + rng.binomial(50, rng.random(800) ** 3), 1000, 50)
    assert bounds("AUC", good, shape="non-increasing") == bounds("AUC", good)
    bad = SampledRankSet("A", 1 + rng.binomial(50, 0.5, 800), 1000, 50)
    with pytest.raises(ValueError, match="shape 'non-increasing' contradicts"):
        bounds("AUC", bad, shape="non-increasing")


@pytest.mark.parametrize("scheme", [WITH, WITHOUT])
def test_a_sample_without_scatter_is_still_a_sample(scheme) -> None:
    # Every instance has all drawn items above it, or none: the sample shows no scatter at all. One
    # of the ten might be at the middle: 0.25 c / m of variance in one of ten values, as 1,000 / c
    # draws of a share of one half have, and Wilson's interval for those.
    n, m, z = 101, 10, 1.959963984540054
    srs = SampledRankSet("A", [1] * 5 + [m + 1] * 5, n, m, scheme=scheme)
    c = 1.0 if scheme == WITH else (n - 1 - m) / (n - 2)
    draws = 10 * 10 * m / c
    reach = z * np.sqrt(0.25 / draws + z**2 / (4 * draws**2)) / (1 + z**2 / draws)
    assert bounds("AUC", srs) == pytest.approx((0.5 - reach, 0.5 + reach), abs=1e-12)


REFUSED = [m for m in METHODS if m not in ("mle", "monotone-mle")]
REFUSED += ["BV 0.1", "CLS", "rank estimate", "uncorrected"]


@pytest.fixture(scope="module")
def runs(xyz) -> list[SampledRankSet]:
    """As Li et al., from fewer on: twice as many, up to 320, until one is above."""
    rng, found = np.random.default_rng(51), []
    for one in xyz:
        m, above = adaptive((one.ranks - 1) / (one.n - 1), rng, 20, 320, 1)
        found.append(SampledRankSet(one.system, above + 1, 3541, m))
    return found


def test_the_likelihood_is_right(runs, xyz) -> None:
    for srs, ranks, beside in zip(runs, xyz, fitted_side_by_side(runs), strict=True):
        recall, auc = sd.mean("Recall@50", ranks), sd.mean("AUC", ranks)
        assert beside.expected("Recall@50") == pytest.approx(recall, rel=0.08)
        for method, off in (("mle", 0.005), ("monotone-mle", 0.01)):
            assert point("Recall@50", srs, method) == pytest.approx(recall, rel=0.08)
            assert point("AUC", srs, method) == pytest.approx(auc, abs=off)


@pytest.mark.parametrize("method", REFUSED)
def test_what_rests_on_the_law_at_each_m_is_wrong_and_refused(runs, xyz, method) -> None:
    x = runs[0]
    for refused in (point, interval):
        with pytest.raises(ValueError, match=r"not valid for system 'X'.*'mle'.*adaptive=False"):
            refused("Recall@10", x, method)
    # Said to be set beforehand it is not refused, and further off than the likelihood ever is.
    said = SampledRankSet("X", x.sampled_ranks, x.n, x.m, adaptive=False)
    values = {text: point(text, said, method) for text in ("Recall@50", "AUC")}
    exact = {text: sd.mean(text, xyz[0]) for text in values}
    off = [
        abs(values["Recall@50"] / exact["Recall@50"] - 1) / 0.08,
        abs(values["AUC"] - exact["AUC"]) / 0.005,
    ]
    assert max(off) > 1


def test_everything_else_is_refused_with_the_remedy(runs) -> None:
    x, y, _ = runs
    fixed = SampledRankSet("F", [1, 5, 9], 3541, 100)
    for call in (
        lambda: sd.rank_distribution(x, "mes"),
        lambda: sd.rank_distribution([fixed, x], "mes"),
        lambda: sd.fit_learned("bv-mle", "AP", x, m=100),
        lambda: sd.bounds("AP", x, shape="non-increasing"),
        lambda: sd.bounds("AP", fixed, x, shape="non-increasing"),
        lambda: sd.bounds("AP", x, tolerance=0.1),
        lambda: sd.compare("AP", x, y, shape="non-increasing"),
    ):
        with pytest.raises(ValueError, match=r"system 'X': what was drawn decided its m \(m set"):
            call()
    said = SampledRankSet("X", [1, 5], 100, 20, adaptive=True)
    with pytest.raises(ValueError, match=r"decided its m \(as adaptive says\).*leave shape out"):
        sd.bounds("AP", said, shape="non-increasing")


def test_what_the_samples_decide(runs, xyz) -> None:
    x, _, z = runs
    assert str(sd.compare("AUC", x, z)) == "X > Z"
    low, high = sd.bounds("Recall@10", x, z)
    assert low < sd.mean("Recall@10", xyz[0]) - sd.mean("Recall@10", xyz[2]) < high


@pytest.mark.parametrize("rule", [(50, 400, 1), (20, 320, 2)])
@pytest.mark.parametrize("kind", ["uniform", "exponential"])
def test_intervals_hold_the_metric_of_the_instances(kind, rule) -> None:
    n, size, runs, rng = 1000, 200, 10, np.random.default_rng(52)
    held = {"Recall@10": 0, "AUC": 0}
    for _ in range(runs):
        ranks = RankSet("A", 1 + rng.choice(n, size, p=falling(kind, n)), n)
        m, above = adaptive((ranks.ranks - 1) / (n - 1), rng, *rule)
        srs = SampledRankSet("A", above + 1, n, m, adaptive=True)
        for text in held:
            low, high = interval(text, srs)
            held[text] += low - 1e-9 <= sd.mean(text, ranks) <= high + 1e-9
    assert min(held.values()) / runs >= least_held(runs)


def test_the_most_likely_distribution_against_a_general_solver() -> None:
    n, rng = 24, np.random.default_rng(53)
    share = (rng.integers(1, n + 1, 150) - 1) / (n - 1) * rng.random(150)
    m, above = adaptive(share, rng, 3, 12, 1)
    srs = SampledRankSet("A", above + 1, n, m, adaptive=True)
    law = binom.pmf(above[:, None], m[:, None], np.arange(n) / (n - 1))

    def loss(w):
        return -np.log(law @ np.abs(w) / np.abs(w).sum() + 1e-300).sum()

    found = maximum_likelihood(sd.parse_metric("Recall@3"), srs)
    how = {"method": "L-BFGS-B", "bounds": [(0, None)] * n}
    best = min(minimize(loss, x, **how).fun for x in (np.ones(n), found.weights + 1e-6))
    assert loss(found.weights) == pytest.approx(best, abs=2e-3)
    # Lost likelihood is a squared distance, to second order.
    other = 0.97 * found.weights + 0.03 / n
    squared = [np.sum((found.rows @ w - found.observed) ** 2) for w in (other, found.weights)]
    lost = loss(other) - loss(found.weights)
    assert squared[0] - squared[1] == pytest.approx(2 * lost, rel=0.1)


def test_how_many_have_which_m_scatters_too(xyz) -> None:
    rng = np.random.default_rng(54)
    some = sd.RankSet("Y", xyz[1].ranks[:800], xyz[1].n[:800])
    share = (some.ranks - 1) / (some.n - 1)
    m, above = adaptive(share, rng, 10, 80, 1)
    pool = SampledRankSet("Y", above + 1, 800, m, adaptive=True)
    values = []
    for _ in range(100):
        i = rng.integers(0, 800, 800)
        again = SampledRankSet("Y", pool.sampled_ranks[i], 800, pool.m[i], adaptive=True)
        values.append(point("Recall@50", again, "mle"))
    error = standard_error("Recall@50", pool.outcomes, "mle")
    # A standard deviation of 100 is known to 7 %.
    assert error == pytest.approx(np.std(values), rel=0.28)
    fixed = SampledRankSet("Y", pool.sampled_ranks, 800, pool.m, adaptive=False)
    assert standard_error("Recall@50", fixed.outcomes, "mle") < 0.9 * error
    low, high = interval("Recall@50", pool, "mle", rng=np.random.default_rng(1))
    assert low < point("Recall@50", pool, "mle") < high
