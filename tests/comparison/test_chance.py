"""Chance that one run shows the true order: enumeration, convolution and simulation."""

from fractions import Fraction
from functools import reduce
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

import sampledash as sd
from sampledash.comparison.run_distribution import Run, law_of_mean
from sampledash.protocol import Protocol
from tests.benchmarks.chances import KINDS, Case, cells
from tests.benchmarks.chances import SCHEMES as DRAWN
from tests.comparison import made
from tests.comparison.made import of_ranks, options_of, skewed
from tests.oracles import POPULARITY, SCHEMES, UNIFORM, WITHOUT, chance_above, dense_law, law_of_sum


def ordered(metric: Any, sets: list[sd.RankSet], m: int, **options: Any) -> tuple[Any, list]:
    row = sd.probability_of_order(metric, sets, m, **options).iloc[0]
    by_name = {rs.system: rs for rs in sets}
    return row, [by_name[row.better], by_name[row.worse]]


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=25)
@given(data=st.data())
def test_full_enumeration(scheme: str, data: st.DataObject) -> None:
    odds = Fraction(5, 2) if scheme == POPULARITY else Fraction(1)
    weighting = data.draw(st.sampled_from(["instances", "relevant-items"]))
    relevant = 1 if scheme == POPULARITY else data.draw(st.sampled_from([1, 1, 3]))
    both = [data.draw(made.instances(3, relevant, tied=True)) for _ in range(2)]
    m = data.draw(st.integers(1, min(4, *(made.most(rows, scheme) for rows in both))))
    sets = [made.rank_set(rows, x) for x, rows in zip("PQ", both, strict=True)]
    weights = made.odds_of(odds) if scheme == POPULARITY else None
    draws = [[made.drawn(row, m, scheme, weights=weights) for row in rows] for rows in both]
    parts = [made.shares(rows, weighting) for rows in both]
    options = options_of(scheme, float(odds)) | {"weighting": weighting}
    for metric, value in made.each_metric():
        each = [[np.mean([value(x, n[0]) for x in made.orders(n)]) for n in rows] for rows in both]
        exact = [np.dot(x, y) for x, y in zip(parts, each, strict=True)]
        row = sd.probability_of_order(metric, sets, m, **options).iloc[0]
        if abs(exact[0] - exact[1]) <= 1e-12:
            assert np.isnan(row.probability)
            continue
        better = int(exact[1] > exact[0])
        assert row.better == "PQ"[better]
        laws = [
            law_of_sum(
                [(w * value(*what), p) for p, what in law] for w, law in zip(*x, strict=True)
            )
            for x in zip(parts, draws, strict=True)
        ]
        true = chance_above(laws[better], laws[1 - better])
        # Hits of several items are exact too; sums of theirs are 20,000 seeded runs a system.
        exactly = max(rs.max_relevant for rs in sets) == 1
        exactly |= metric.name in ("recall", "precision", "rr", "hit_rate")
        error = 1e-9 if exactly else 4 * np.sqrt(max(true * (1 - true), 1e-9) / 10_000)
        assert row.probability == pytest.approx(true, abs=error)


@pytest.mark.parametrize("scheme", UNIFORM)
@pytest.mark.parametrize(
    ("metric", "correction", "sizes", "n", "m", "error"),
    [
        ("Recall@10", "uncorrected", 29, 500, 50, 1e-9),
        ("HitRate@10", "uncorrected", 200, 500, 50, 1e-9),
        ("Precision@10", "rank estimate", 200, 500, 50, 1e-9),
        ("Recall@10", "rank estimate", 3000, 500, 50, 1e-9),
        # By inversion: many ties are the hardest for it.
        ("AP@2", "uncorrected", 30, 100, 50, 1e-4),
        ("RR@2", "uncorrected", 100, 1000, 50, 1e-4),
        ("NDCG@3", "uncorrected", 30, 100, 50, 1e-4),
        ("NDCG@2", "rank estimate", 100, 1000, 50, 1e-4),
        # Other users, and other many: lattices that do not meet. Or as many, each with its own n.
        ("Recall@5", "uncorrected", (35, 80), (60, 90), 20, 1e-9),
        ("AP", "BV 0.1", (35, 35), (60, 70), 2, 5e-4),
        ("NDCG", "uncorrected", (35, 80), (60, 90), 2, 1e-4),
        # The mean of 150 is as good as normal, that of 2 has a few values: the coarser decides.
        ("AP@2", "uncorrected", (150, 2), 60, 12, 1e-4),
        # Their lattices rarely meet, and yet the means are equal in one run of forty.
        ("AP@2", "uncorrected", (150, 4), 60, 12, 1e-4),
    ],
)
def test_convolutions(metric, correction, sizes, n, m, error, scheme):
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
        chances = (dense_law(own.n, m, scheme) @ np.eye(len(distinct))[group])[rs.ranks - 1]
        if len(distinct) > 2:
            total = law_of_sum(zip(distinct, p, strict=True) for p in chances)
            laws.append({value / len(rs): p for value, p in total.items()})
        else:  # how many there are of the larger one
            law = reduce(np.convolve, chances)
            laws.append(dict(zip(np.linspace(*distinct, len(law)).tolist(), law, strict=True)))
    true = chance_above(*laws)
    assert 0.02 < true < 0.98
    assert row.probability == pytest.approx(true, abs=error)


def test_all_negatives_show_the_order(xyz: list[sd.RankSet]) -> None:
    table = sd.probability_of_order("NDCG@10", xyz, 3686, scheme=WITHOUT)
    assert table.probability.tolist() == [1.0, 1.0, 1.0]


CASES = [
    (Case(kind, scheme, size=(12, 40, 120)[(x + y) % 3], seed=1), (x + y) % 4)
    for x, kind in enumerate(KINDS)
    for y, scheme in enumerate(DRAWN)
    if Case(kind, scheme, 30).possible
]


@pytest.mark.parametrize(("case", "which"), CASES, ids=lambda x: str(getattr(x, "size", x)))
def test_chances_are_those_of_simulated_runs(case: Case, which: int) -> None:
    # All of them, up to 5,000 instances, run with ``python -m tests.benchmarks``.
    correction = case.corrections[which % len(case.corrections)]
    for cell in cells(case, correction):
        assert abs(cell.z) <= 4, cell


HALVES = [8.5, 10.25, 12.5, 20.0, 3.5]  # half an instance cannot be drawn


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
    # Values too many to keep apart: put on a grid.
    rs, options = skewed(np.random.default_rng(8), 3000, 25, [3.0])[0], options_of(scheme)
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
    """Where both runs have it equally often, differences a thousandth of it decide."""
    drawn = cells(Case("rare", POPULARITY, 40), "CLS", 40_000)
    assert [abs(cell.z) <= 4 for cell in drawn if cell.metric in ("AP", "RR")] == [True, True]


def test_a_lump_is_a_step_that_nearly_all_of_the_range_is() -> None:
    for rest, lump in ((0.09, True), (0.11, False)):  # 5 % of it on either side are allowed
        law = Run(sd.parse_metric("AP"), sd.RankSet("S", [1, 2], 9), 3, Protocol.of({}))
        vars(law)["vector"] = np.array([1 + rest, rest, 0.0])
        assert law.has_lump == lump


@pytest.mark.parametrize(
    ("metric", "options", "m", "half"),
    [
        ("AP", {}, 1, 0.5 / 3 / 2),  # 1 or 1/2
        ("AP", {}, 2, 0.0),  # 1, 1/2 or 1/3
        ("AUC", {}, 4, 1 / 4 / 3 / 2),
        ("AUC", {"scheme": POPULARITY, "odds": 2.0, "correction": "CLS"}, 4, 0.0),  # unequal steps
        ("Recall@1", {}, 4, 1 / 3 / 2),
    ],
)
def test_means_lie_on_a_lattice_where_values_do(metric, options, m, half) -> None:
    run = Run(sd.parse_metric(metric), sd.RankSet("S", [1, 5, 9], 20), m, Protocol.of(options))
    assert run.half_unit == pytest.approx(half, abs=1e-15)
    values = {sum(draw) / 3 for draw in product(np.round(run.vector, 14), repeat=3)}
    gaps = np.diff(sorted(values))
    if half:
        assert gaps[gaps > 1e-12].min() == pytest.approx(2 * half)


def test_the_largest_part_of_a_mean_is_that_of_a_draw_where_draws_add_alike() -> None:
    ranks = sd.RankSet("S", [1, 5, 2], [20, 20, 20])
    run = Run(sd.parse_metric("AUC"), ranks, 4, Protocol.of({}))
    assert run.largest_term() == pytest.approx(1 / 4 / 3)
    assert run.largest_term(by_draw=False) == pytest.approx(1 / 3)
    of_two = sd.RankSet("S", [1, 5, 2], [20, 20, 3])
    run = Run(sd.parse_metric("AP"), of_two, 4, Protocol.of({"scheme": WITHOUT}))
    assert run.largest_term() == pytest.approx(1 / 3)  # an exact value may be anything in 0..1


def test_an_instance_with_fewer_negatives_is_exact_beside_corrected_ones() -> None:
    protocol = Protocol.of({"scheme": "without-replacement", "correction": "BV 1e-6"})
    ranks = sd.RankSet("S", [1, 30, 2], [60, 60, 5])
    run = Run(sd.parse_metric("AP"), ranks, 9, protocol)
    low, high = run.vector.min(), run.vector.max()
    assert low < 0
    assert run.largest_term() == pytest.approx((max(high, 1) - low) / 3)
