"""``probability_of_order``, against enumeration, convolution and simulation of sampled runs."""

from collections.abc import Iterable
from fractions import Fraction
from functools import reduce
from itertools import chain
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom, hypergeom, norm

import sampledash as sd
from sampledash.comparison import chance, run_distribution
from sampledash.comparison.run_distribution import Run, law_of_mean
from sampledash.comparison.sums import lattice, waves_of
from sampledash.protocol import Protocol
from tests import oracles
from tests.benchmarks.chances import KINDS, Case, cells
from tests.benchmarks.chances import SCHEMES as DRAWN
from tests.comparison import made
from tests.comparison.made import of_ranks, options_of, skewed
from tests.oracles import POPULARITY, SCHEMES, UNIFORM, WITH, WITHOUT


def ordered(metric: Any, sets: list[sd.RankSet], m: int, **options: Any) -> tuple[Any, list]:
    row = sd.probability_of_order(metric, sets, m, **options).iloc[0]
    by_name = {rs.system: rs for rs in sets}
    return row, [by_name[row.better], by_name[row.worse]]


FREQUENCIES = 0.3 + 0.7 * np.arange(70)


def wave(law: Iterable[tuple[float, float]]) -> np.ndarray:
    """Return the characteristic function of a distribution, given as (value, probability) pairs."""
    values, p = np.array([*law], dtype=float).T
    return np.exp(1j * np.multiply.outer(FREQUENCIES, values)) @ p


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=12)
@given(data=st.data())
def test_full_enumeration(scheme: str, data: st.DataObject) -> None:
    odds = Fraction(5, 2) if scheme == POPULARITY else Fraction(1)
    weighting = data.draw(st.sampled_from(["instances", "relevant-items"]))
    reading = data.draw(st.sampled_from(list(made.READINGS)))
    relevant = data.draw(st.sampled_from([1, 1, 3]))
    tied = relevant == 1 or scheme != POPULARITY
    both = [data.draw(made.instances(4 - (relevant > 1), relevant, tied=tied)) for _ in range(2)]
    times = [[data.draw(st.integers(1, 1 + (len(rows) < 3))) for _ in rows] for rows in both]
    m = data.draw(st.integers(1, min(4, *(made.most(rows, scheme) for rows in both))))
    sets = []
    for name, rows, often in zip("PQ", both, times, strict=True):
        counts = np.repeat(often, [len(ranks) for _, ranks, _ in rows])
        sets.append(made.rank_set(rows, name, counts=counts))
    weights = made.odds_of(odds) if scheme == POPULARITY else None
    draws = [[made.drawn(row, m, scheme, reading, weights) for row in rows] for rows in both]
    options = options_of(scheme, float(odds)) | {"weighting": weighting, "ties": reading}
    protocol, pairs, true = Protocol.of(options), [], []
    for metric, value in made.each_metric():
        laws = []
        for rs, rows, often, all_drawn in zip(sets, both, times, draws, strict=True):
            shares = np.array(made.shares(rows, weighting))
            shares /= shares @ often
            values = [[(value(*what), p) for p, what in law] for law in all_drawn]
            parts = [[(w * v, p) for v, p in law] for w, law in zip(shares, values, strict=True)]
            several = zip(parts, often, strict=True)
            laws.append(oracles.law_of_sum(law for law, count in several for _ in range(count)))
            run, order = Run(metric, rs, m, protocol), np.arange(len(rows))[::-1]
            waves = np.array([wave(law) for law in values[::-1]])
            one, hits = rs.max_relevant == 1 or metric.first_only, metric.on_lattice
            if one or hits:
                support, mass = law_of_mean(run)
                assert np.all(np.diff(support) > 0)
                whole = wave(laws[-1].items())
                assert wave(zip(support, mass, strict=True)) == pytest.approx(whole, abs=1e-8)
            if one or (hits and weighting == "instances"):
                assert run.instance_waves(order, FREQUENCIES) == pytest.approx(waves, abs=1e-11)
            if one:
                terms = np.array([wave(zip(*x, strict=True)) for x in run.instance_terms(order)])
                assert terms == pytest.approx(waves, abs=1e-11)
                terms = [wave(zip(v, p, strict=True)) ** count for v, p, count in run.terms()]
                assert np.prod(terms, axis=0) == pytest.approx(whole, abs=1e-8)
        pairs.append([(0, 1, 1), (0, 0, 0), (1, 0, 1)])
        # With several relevant items, 20,000 runs are simulated for metrics that need all ranks.
        exactly = max(rs.max_relevant for rs in sets) == 1 or hits or metric.first_only
        for i, j, truth in pairs[-1]:
            p = oracles.chance_above(laws[i], laws[j]) if truth else np.nan
            error = 1e-9 if exactly else 4 * np.sqrt(max(p * (1 - p), 1e-9) / 10_000)
            true.append((p, error))
    metrics = [metric for metric, _ in made.each_metric()]
    found = chain(*chance.pair_chances(metrics, sets, m, pairs, protocol))
    for ours, (p, error) in zip(found, true, strict=True):
        assert ours == pytest.approx(p, abs=error, nan_ok=True)


@pytest.mark.parametrize("scheme", UNIFORM)
def test_convolutions(scheme):
    for metric, correction, sizes, n, m, error in (
        ("Recall@10", "uncorrected", 29, 500, 50, 1e-9),
        ("HitRate@10", "uncorrected", 200, 500, 50, 1e-9),
        ("Precision@10", "rank estimate", 200, 500, 50, 1e-9),
        ("Recall@10", "rank estimate", 3000, 500, 50, 1e-9),
        # The next four need inverted characteristic functions, which is hard if many runs are tied.
        ("AP@2", "uncorrected", 30, 100, 50, 1e-4),
        ("RR@2", "uncorrected", 100, 1000, 50, 1e-4),
        ("NDCG@3", "uncorrected", 30, 100, 50, 1e-4),
        ("NDCG@2", "rank estimate", 100, 1000, 50, 1e-4),
        # In the next three, P and Q have different n; in two, different numbers of users too.
        ("Recall@5", "uncorrected", (35, 80), (60, 90), 20, 1e-9),
        ("AP", "BV 0.1", (35, 35), (60, 70), 2, 5e-4),
        ("NDCG", "uncorrected", (35, 80), (60, 90), 2, 1e-4),
        # P's mean over 150 users is nearly normal; Q's mean over 2 users takes few values.
        ("AP@2", "uncorrected", (150, 2), 60, 12, 1e-4),
        # The means of P and Q have few values in common, yet they are equal in one run of forty.
        ("AP@2", "uncorrected", (150, 4), 60, 12, 1e-4),
    ):
        sizes, n = np.broadcast_to(sizes, 2).tolist(), np.broadcast_to(n, 2).tolist()
        rng, powers = np.random.default_rng(sizes[1]), (2.0, 2.0 + 0.3 * sizes[1] ** -0.5)
        sets = [
            sd.RankSet(name, np.ceil(own * rng.random(size) ** power).astype(int), own)
            for name, own, size, power in zip("PQ", n, sizes, powers, strict=True)
        ]
        row, pair = ordered(metric, sets, m, scheme=scheme, correction=correction)
        laws = []
        for rs in pair:
            own = sd.Sampling(int(rs.n[0]), m, scheme)
            values = sd.parse_correction(correction).fit(metric, own).values
            distinct, group = np.unique(np.round(values, 11), return_inverse=True)
            chances = (oracles.dense_law(own.n, m, scheme) @ np.eye(len(distinct))[group])[
                rs.ranks - 1
            ]
            if len(distinct) > 2:
                total = oracles.law_of_sum([zip(distinct, p, strict=True) for p in chances])
                laws.append({value / len(rs): p for value, p in total.items()})
            else:  # two values: convolve for the number of instances with the larger value
                law = reduce(np.convolve, chances)
                laws.append(dict(zip(np.linspace(*distinct, len(law)).tolist(), law, strict=True)))
        true = oracles.chance_above(*laws)
        assert 0.02 < true < 0.98
        assert row.probability == pytest.approx(true, abs=error)


def run_of(metric, m, ranks=(1, 5, 9), n=20, options=None, **more):
    ranks = sd.RankSet("S", ranks, n, **more)
    return Run(sd.parse_metric(metric), ranks, m, Protocol.of(options or {}))


@pytest.mark.parametrize(
    ("vector", "lump"),
    [([1.09, 0.09, 0], True), ([1.11, 0.11, 0], False), ([0, 1, 0.09], True), ([2, 2, 2], False),
     ([0.05, 1.05, 0, 1.1], True), ([0.06, 1.06, 0, 1.12], False)],
)  # fmt: skip
def test_a_lump_is_a_step_that_nearly_all_of_the_range_is(vector, lump) -> None:
    run = run_of("AP", 3)  # a lump is a gap between values of at least 1 / 1.1 of their range
    vars(run)["vector"] = np.array(vector)
    assert run.has_lump == lump


TWO, UNEQUAL = ({"ranks": [1, 4, 7, 9][: len(x)], "instances": list(x)} for x in ("uuvv", "uuv"))
HALF, SMALL = {"counts": [1.5, 1, 1]}, {"n": [20, 20, 3], "ranks": [1, 5, 2]}
MICRO, LINEAR = {"weighting": "relevant-items"}, {"correction": "rank estimate (linear)"}
FLOORED = {"correction": "rank estimate"}
BV, CLS = {"correction": "BV 0.1"}, {"scheme": POPULARITY, "odds": 2.0, "correction": "CLS"}


@pytest.mark.parametrize(
    ("metric", "m", "options", "more", "hits", "half", "largest", "by_draw"),
    [
        ("AP", 1, {}, {}, True, 0.5 / 3 / 2, 0.5 / 3, 0.5 / 3),  # AP is 1 or 1/2
        ("AP", 2, {}, {}, False, 0, 2 / 9, 2 / 9),  # AP is 1, 1/2 or 1/3
        ("AP@2", 2, {}, {}, False, 0, 1 / 3, 1 / 6),
        ("RR@1", 2, {}, {}, True, 1 / 6, 1 / 3, 1 / 3),
        ("AP@1", 40, {"scheme": WITH} | FLOORED, {}, True, 1 / 6, 1 / 3, 1 / 3),
        ("AUC", 4, {}, {}, False, 1 / 4 / 3 / 2, 1 / 3, 1 / 4 / 3),
        ("AUC", 4, LINEAR, {}, False, 1 / 4 / 3 / 2, 1 / 3, 1 / 4 / 3),
        ("AUC", 4, {}, {"ties": [0, 2, 0]}, False, 1 / 4 / 3 / 2, 1 / 3, 1 / 3),
        ("AUC", 4, CLS, {}, False, 0, 0.29, 0.29),
        ("Recall@1", 4, {}, {}, True, 1 / 6, 1 / 3, 1 / 3),
        ("Recall@1", 4, {}, {"counts": [1, 2, 1]}, True, 1 / 8, 1 / 4, 1 / 4),
        ("Recall@2", 4, BV, {}, False, 0, 0.34, 0.34),
        # HALF counts an instance 1.5 times, which no run can simulate: the largest term is NaN.
        *((x, 1, {}, HALF, False, 0, np.nan, np.nan) for x in ("Recall@1", "AP", "AUC")),
        # TWO: instances u and v have two relevant items each. UNEQUAL: u has two, v has one.
        ("AUC", 4, {}, TWO, False, 1 / 4 / 4 / 2, np.nan, np.nan),
        ("AUC", 4, LINEAR, TWO, False, 0, np.nan, np.nan),
        ("AUC", 4, {}, UNEQUAL, False, 0, np.nan, np.nan),
        ("AUC", 4, MICRO, UNEQUAL, False, 1 / 4 / 3 / 2, np.nan, np.nan),
        ("AP", 4, {}, TWO, False, 0, np.nan, np.nan),
        ("AP", 1, {}, TWO, True, 0, (1 / 2 + 1 / 3) / 4, (1 / 2 + 1 / 3) / 4),
        ("RR", 1, {}, TWO, True, 0.5 / 2 / 2, 0.5 / 2, 0.5 / 2),
        ("RR", 1, MICRO, UNEQUAL, True, 0, 0.5 * 2 / 3, 0.5 * 2 / 3),
        ("Recall@3", 4, {}, UNEQUAL, True, 1 / 8, 1 / 2, 1 / 2),
        ("Recall@3", 4, MICRO, UNEQUAL, True, 1 / 6, 2 / 3, 2 / 3),
        ("Recall@3", 4, FLOORED, TWO, True, 1 / 8, 1 / 2, 1 / 2),
        ("Precision@3", 4, {}, UNEQUAL, True, 1 / 12, 1 / 3, 1 / 3),
        ("HitRate@3", 4, MICRO, UNEQUAL, True, 1 / 6, 2 / 3, 2 / 3),
        # SMALL: without replacement, both negatives of the third instance are drawn: exact metric.
        ("AP", 4, {}, SMALL, False, 0, 1 / 3, 1 / 3),
        ("AP", 4, BV, SMALL, False, 0, 0.57, 0.57),
        ("AUC", 4, {}, SMALL, False, 0, 1 / 3, 1 / 3),
        ("Recall@1", 4, {}, SMALL, True, 1 / 6, 1 / 3, 1 / 3),
        ("Recall@1", 4, BV, SMALL, False, 0, 0.57, 0.57),
        ("AUC", 4, {"scheme": WITH}, SMALL, False, 1 / 24, 1 / 3, 1 / 12),
        ("AUC", 4, {}, SMALL | {"n": [20, 20, 5]}, False, 1 / 24, 1 / 3, 1 / 12),
    ],
)  # fmt: skip
def test_steps_and_largest_parts(metric, m, options, more, hits, half, largest, by_draw) -> None:
    run, error = run_of(metric, m, options=options, **more), 1e-14
    if options in (CLS, BV):
        low, high = run.vector.min(), run.vector.max()
        largest = by_draw = (high - low if "n" not in more else max(high, 1) - min(low, 0)) / 3
    assert (run.hits is not None) == hits
    assert run.half_unit == pytest.approx(half, abs=error)
    assert run.largest_term(by_draw=False) == pytest.approx(largest, abs=error, nan_ok=True)
    assert run.largest_term() == pytest.approx(by_draw, abs=error, nan_ok=True)
    if run.metric.on_lattice and options != BV:  # hit_unit does not depend on m
        assert run_of(metric, m + 1, options=options, **more).hit_unit == run.half_unit


@pytest.mark.parametrize(("ranks", "m", "known"), [(600, 500, 0), (600, 499, 1), (500, 700, 1)])
def test_the_largest_part_of_a_mean_is_left_open_where_that_takes_long(ranks, m, known) -> None:
    assert np.isnan(run_of("AP", m, np.arange(ranks) + 1, 800).largest_term()) != known


@pytest.mark.parametrize(
    ("worths", "unit", "steps"),
    [([1 / 2, 1 / 3], 1 / 6, [3, 2]), ([1 / 4, 1 / 2, 1 / 4], 1 / 4, [1, 2, 1]),
     ([6 / 35, 10 / 35, 15 / 35], 1 / 35, [6, 10, 15]), ([0.0, 0.0], 1, [0, 0]),
     ([1.0, 0.9999], 1e-4, [10_000, 9_999]), ([[0.5, 0.5], [0.25, 0.25]], 0.25, [2, 1]),
     ([1.0, 2**0.5], 1, None), ([0.0, 0.5], 1, None), ([[0.5, 0.5 + 1e-9], 0.25], 1, None)],
)  # fmt: skip
def test_the_largest_unit_of_all_hits(worths, unit, steps) -> None:
    found = lattice([np.atleast_1d(x) for x in worths])
    assert found == (None if steps is None else (pytest.approx(unit, rel=1e-12), steps))


@pytest.mark.parametrize("scheme", UNIFORM)
@pytest.mark.parametrize(("size", "two"), [(1, 0), (2, 1), (63, 20), (64, 64), (65, 1), (200, 40)])
def test_small_probabilities_of_many_hits(size: int, two: int, scheme: str) -> None:
    # The first ``two`` instances have two relevant items, so each of their hits counts half.
    rng, n, m, law, ranks = np.random.default_rng(size), 60, 12, np.ones(1), []
    items = 1 + (np.arange(size) < two)
    for each in items.tolist():
        ranks.append(np.sort(rng.choice(n, each, replace=False)) + 1)
        j, wide = np.arange(each), np.zeros(3)
        above, rest = ranks[-1] - 1 - j, n - each
        how = binom(m, above / rest) if scheme == WITH else hypergeom(rest, above, m)
        wide[:: 3 - each][: each + 1] = -np.diff(np.r_[1.0, how.cdf(3 - j), 0.0])
        law = np.convolve(law, wide)
    labels = np.repeat(np.arange(size), items)
    run = run_of("Recall@4", m, np.concatenate(ranks), n, {"scheme": scheme}, instances=labels)
    values, mass = law_of_mean(run)
    at = np.rint(values * 2 * size).astype(int)
    assert values == pytest.approx(at / 2 / size, abs=1e-14)
    assert mass == pytest.approx(law[at], rel=1e-8, abs=1e-24)
    assert np.delete(law, at).sum() < 1e-23


def test_hits_of_more_instances_than_are_convolved() -> None:
    size, m, laws = 12_000, 20, []  # there are two kinds of instances, u and v, 12,000 of each
    every = [4, 9, 30, 70], [4, 9, 30, 47]
    for ranks in every:
        transform = 1.0
        for first, second in (ranks[:2], ranks[2:]):
            p = binom.cdf([4, 3], m, np.array([first - 1, second - 2]) / 98)
            transform *= np.fft.rfft([1 - p[0], p[0] - p[1], p[1]], 1 << 16) ** size
        laws.append(np.fft.irfft(transform))
    true = laws[0] @ np.r_[0, np.cumsum(laws[1])[:-1]]
    sets = of_ranks(100, *every, instances=list("uuvv"), counts=[size] * 4)
    metrics, protocol = [sd.parse_metric("Recall@5")], Protocol.of({"scheme": WITH})
    ((ours,),) = chance.pair_chances(metrics, sets, m, [[(0, 1, 1)]], protocol)
    assert 0.05 < true < 0.95
    assert ours == pytest.approx(true, abs=1e-4)


@pytest.mark.parametrize(
    ("instances", "items", "runs", "part"),
    [(100, 2, 200, 100), (101, 2, 0, 100), (29, 30, 91, 100), (29, 150, 20, 100),
     (2, 3, 20_000, 1)],
)  # fmt: skip
def test_simulated_runs_stand_for_a_law(instances, items, runs, part, monkeypatch) -> None:
    # For speed, RUNS and DRAWS are divided by ``part``. Large sets get fewer runs, or none at all.
    for name in ("RUNS", "DRAWS"):
        monkeypatch.setattr(run_distribution, name, getattr(run_distribution, name) // part)
    ranks = np.tile(np.arange(1, 2 * items, 2), instances)
    run = run_of("NDCG", 30, ranks, 2000, instances=np.repeat(np.arange(instances), items))
    law = law_of_mean(run)
    assert (law is None) == (runs == 0)
    if law is not None:
        values, mass = law
        assert np.all(np.diff(values) > 0)
        times = np.rint(mass * runs).astype(int)
        assert mass * runs == pytest.approx(times, rel=1e-9)
        assert (times.sum(), np.gcd.reduce(times)) == (runs, 1)
        off = values @ mass - sd.expected_mean("NDCG", run.ranks, 30)
        assert abs(off) <= 4 * sd.std_of_mean("NDCG", run.ranks, 30) / runs**0.5
        same = [np.array_equal(law_of_mean(run, x)[0], values) for x in (0, 1)]
        assert same == [True, False]


@pytest.mark.parametrize(
    ("difference", "deviation", "step", "true"),
    [(0.3, 0.2, 0.0, norm.cdf(1.5)), (0.3, 0.2, 0.1, norm.cdf(1)), (-0.3, 0.2, 0.1, norm.cdf(-2)),
     (0.3, 0.0, 0.0, 1), (-0.3, 0.0, 0.0, 0), (0.0, 0.0, 0.0, 0), (1e-12, 0.0, 0.0, 0),
     (1.1e-12, 0.0, 0.0, 1), (0.3, 0.0, 0.4, 1)],
)  # fmt: skip
def test_chances_of_the_normal_law(difference, deviation, step, true) -> None:
    assert chance.normal_chances(difference, deviation, step) == pytest.approx(true, abs=1e-15)
    twice = chance.normal_chances(np.full(2, difference), np.array([deviation, 1.0]), step)
    assert twice == pytest.approx([true, norm.cdf(difference - step)], abs=1e-15)


def test_powers_and_waves_and_common_steps() -> None:
    first, second = np.array([0.1, 0.1, 0.1, 0, 0.1]), np.array([0.1, 0.2, 0, 0, 0.1 + 0.9e-10])
    assert chance.common_step(first, second).tolist() == [0.1, 0, 0, 0, 0.1]
    assert chance.common_step(0.1, 0.1 + 1.1e-10) == 0
    rng = np.random.default_rng(1)
    for counts in ([0, 0], [1], [1, 1], [5, 0, 1, 2, 3, 8, 13], [2, 2], [7, 7, 1]):
        values = np.exp(rng.normal(0, 0.1, (len(counts), 3)) + 1j * rng.normal(0, 1, 3))
        true = np.prod(values ** np.array(counts)[:, None], axis=0)
        assert chance.power_product(values, np.array(counts)) == pytest.approx(true, rel=1e-12)
    for size in (1, 2, 63, 64, 65, 128, 130):
        frequencies, values = 0.3 + 0.7 * np.arange(size), rng.normal(size=5)
        true = np.exp(1j * np.multiply.outer(values, frequencies))
        assert waves_of(values, frequencies) == pytest.approx(true, abs=1e-12)


@pytest.mark.parametrize("shift", [0.0, 0.5])
@pytest.mark.parametrize(
    "laws", [((3, 0.4), (2, 0.3), (9, 0.1)), ((500, 0.01), (400, 0.02), (3, 0.5)), ((1, 0.5),) * 3]
)
def test_inversion_of_counts_and_normal_laws(laws: Any, shift: float) -> None:
    """``inverted`` computes P(A > B + shift), where A and B are binomial or normal variables."""
    first, second = np.array([0, 1, 2, 0, 3, 3, 0]), np.array([1, 0, 0, 2, 4, 0, 3])
    counted = [(size * p, np.sqrt(size * p * (1 - p))) for size, p in laws]
    mean, std = np.array([*counted, (1, 0.7), (0.5, 1)]).T

    def transform(f: np.ndarray) -> np.ndarray:
        counts = [(1 - p + p * np.exp(1j * f)) ** size for size, p in laws]
        normal = np.exp(1j * np.outer(mean[3:], f) - 0.5 * np.outer(std[3:], f) ** 2)
        return np.vstack([counts, normal])

    deviation = np.hypot(std[first], std[second])
    shifts, at, pairs = shift * (np.arange(7) % 2), np.arange(501), ((0, 1), (1, 0), (2, 0), (0, 2))
    found = chance.inverted(transform, 5, first, second, deviation.max(), shifts)
    dense = [binom.pmf(at, *law) for law in laws]
    true = [dense[i] @ (np.cumsum(dense[j]) - dense[j]) for i, j in pairs]
    assert found[:4] == pytest.approx(true, abs=2e-4)
    normal = norm(mean[3], std[3])
    true = [norm.cdf((mean[3] - mean[4]) / deviation[4])]
    true += [dense[0] @ normal.sf(at + shift), dense[0] @ normal.cdf(at)]
    assert found[4:] == pytest.approx(true, abs=1e-9)


@pytest.mark.parametrize("shift", [0.0, 5e-4])
@pytest.mark.parametrize(
    ("rest", "often", "known"),
    [([], 1, 1), ([1], 1, 1), ([1, 2, 20], 1, 1), ([47], 1, 1), ([48], 1, 0), ([953], 1, 1),
     ([950, 975], 1, 0), ([47], 4, 0), ([1], 9, 1), ([1], 60, 0)],
)  # fmt: skip
def test_sums_of_lumps_and_small_values(rest: list[int], often: int, known: int, shift) -> None:
    """``by_lumps`` returns P(A > B + shift) or None; A, B are sums of 0, ``rest`` / 1000 and 1."""
    rng, law = np.random.default_rng(4), np.ones(1)
    values, times = np.array([0, *rest, 1000]), np.array([1, 2, 1, 1]) * often
    terms = [(values / 1000, p) for p in rng.dirichlet([3] * (len(values) - 1) + [1], 4)]
    for i, (_, p) in enumerate(terms):
        for _ in range(times[i] * known):
            law = np.convolve(law, np.bincount(values if i < 2 else 1000 - values, p))

    def transform(usual: np.ndarray, large: np.ndarray, turn: np.ndarray) -> np.ndarray:
        first = usual[:2] + turn[:, None] * large[:2]
        second = usual[2:].conj() + large[2:].conj() / turn[:, None]
        return np.prod(np.concatenate([first, second], axis=1) ** times[:, None], axis=1)

    found = chance.by_lumps(terms, times, transform, shift)
    assert (found is not None) == known
    if found is not None:
        assert found == pytest.approx(law[1 + 2000 * often :].sum(), abs=1e-4)


CASES = [
    (Case(kind, scheme, size=(12, 40, 80)[(x + y) % 3], seed=1), (x + y) % 4)
    for x, kind in enumerate(KINDS)
    for y, scheme in enumerate(DRAWN)
    if Case(kind, scheme, 30).possible
]


@pytest.mark.parametrize(("case", "which"), CASES, ids=lambda x: str(getattr(x, "size", x)))
def test_chances_are_those_of_simulated_runs(case: Case, which: int) -> None:
    # ``python -m tests.benchmarks`` runs all cases, up to 5,000 instances.
    correction = case.corrections[which % len(case.corrections)]
    for cell in cells(case, correction):
        assert abs(cell.z) <= 4, cell


HALVES = [8.5, 10.25, 12.5, 20.0, 3.5]  # fractional counts, with which no runs can be simulated


@pytest.mark.parametrize(
    ("metric", "sets", "error"),
    [
        *((x, of_ranks(50, [1, 4, 9, 30, 2], [2, 3, 12, 25, 2], counts=HALVES), 1e-12)
          for x in ("AP", "NDCG")),
        ("NDCG", skewed(np.random.default_rng(5), 500, 3000, (2.0, 2.02)), 0.003),
    ],
)  # fmt: skip
def test_the_normal_law(metric: str, sets: list[sd.RankSet], error: float) -> None:
    row, pair = ordered(metric, sets, 12, scheme=WITHOUT)
    mean = [sd.expected_mean(metric, rs, 12, scheme=WITHOUT) for rs in pair]
    std = [sd.std_of_mean(metric, rs, 12, scheme=WITHOUT) for rs in pair]
    z = (mean[0] - mean[1]) / np.hypot(*std)
    assert row.probability == pytest.approx(norm.cdf(z), abs=error)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_law_of_any_mean_has_its_mean_and_scatter(scheme: str) -> None:
    # For 25 instances ``law_of_mean`` rounds sums of metrics to a grid; for 30 it returns None.
    of_30, rs = (skewed(np.random.default_rng(8), 3000, size, [3.0])[0] for size in (30, 25))
    options = options_of(scheme)
    assert law_of_mean(Run(sd.parse_metric("AP"), of_30, 200, Protocol.of(options))) is None
    for metric in ("AP", "NDCG", "AUC", "NDCG@10"):
        law = law_of_mean(Run(sd.parse_metric(metric), rs, 200, Protocol.of(options)))
        assert law is not None
        values, mass = law
        assert mass.sum() == pytest.approx(1, abs=1e-12)
        mean = sd.expected_mean(metric, rs, 200, **options)
        assert values @ mass == pytest.approx(mean, abs=1e-10)
        spread = np.sqrt((values - mean) ** 2 @ mass)
        assert spread == pytest.approx(sd.std_of_mean(metric, rs, 200, **options), rel=1e-3)


def test_a_rare_value_that_dwarfs_all_others() -> None:
    """Chances are right if a rare metric value is 1,000 times as large as all other values."""
    drawn = cells(Case("rare", POPULARITY, 40), "CLS", 40_000)
    assert [abs(cell.z) <= 4 for cell in drawn if cell.metric in ("AP", "RR")] == [True, True]


@pytest.mark.parametrize("instances", [1, 29, 30, 500])
@pytest.mark.parametrize("metric", ["RR", "NDCG"])
def test_a_clear_but_lopsided_order_is_not_certain(metric: str, instances: int) -> None:
    # Only the last instance differs: it ties if neither of its two negatives is above, of which 279
    # of 300 are. The expected difference is nine to ten standard deviations from 0.
    scores = np.tile(np.arange(301.0, 0.0, -1.0), (2, instances, 1))
    scores[1, -1, 0] = 21.5
    relevant, names = np.zeros(instances, int), iter("AB")
    sets = [sd.ranks_from_scores(x, relevant, system=next(names)) for x in scores]
    true = float(1 - Fraction(21 * 20, 300 * 299))
    row = sd.probability_of_order(metric, sets, 2).iloc[0]
    assert (row.better, row.probability) == ("A", pytest.approx(true, abs=1e-6))
    overlaps = sd.overlaps(sets, scores, relevant)
    row = sd.probability_if_shared(metric, sets, 2, overlaps=overlaps).iloc[0]
    assert row.low == row.high == pytest.approx(true, abs=1e-6)
