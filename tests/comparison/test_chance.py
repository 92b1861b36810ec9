"""Chance that one run shows the true order: enumeration, convolution and simulation."""

from fractions import Fraction
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
from tests.benchmarks.chances import KINDS, RUNS, Case, cells
from tests.benchmarks.chances import SCHEMES as DRAWN
from tests.comparison.made import (
    drawn,
    instances,
    most,
    odds_of,
    of_ranks,
    options_of,
    orders,
    rank_set,
    shares,
    skewed,
)
from tests.oracles import (
    METRICS,
    POPULARITY,
    SCHEMES,
    UNIFORM,
    WITH,
    WITHOUT,
    by_definition,
    chance_above,
    dense_law,
    law_of_sum,
)


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
    both = [data.draw(instances(3, relevant, tied=True)) for _ in range(2)]
    m = data.draw(st.integers(1, min(4, *(most(rows, scheme) for rows in both))))
    sets = [rank_set(rows, x) for x, rows in zip("PQ", both, strict=True)]
    weights = odds_of(odds) if scheme == POPULARITY else None
    draws = [[drawn(row, m, scheme, weights=weights) for row in rows] for rows in both]
    parts = [shares(rows, weighting) for rows in both]
    for name, k in METRICS:

        def value(ranks: Any, size: int, name=name, k=k) -> float:
            return by_definition(name, k, ranks, size)

        each = [[np.mean([value(x, n[0]) for x in orders(n)]) for n in rows] for rows in both]
        exact = [np.dot(x, y) for x, y in zip(parts, each, strict=True)]
        options = options_of(scheme, float(odds)) | {"weighting": weighting}
        row = sd.probability_of_order(sd.metric(name, k=k), sets, m, **options).iloc[0]
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
        hits = max(rs.max_relevant for rs in sets) == 1 or name in ("recall", "precision", "rr")
        exact_law = hits or name == "hit_rate"
        error = 1e-9 if exact_law else 4 * np.sqrt(max(true * (1 - true), 1e-9) / 10_000)
        assert row.probability == pytest.approx(true, abs=error)


@pytest.mark.parametrize("scheme", UNIFORM)
@pytest.mark.parametrize(
    ("metric", "correction", "size", "n", "error"),
    [
        ("Recall@10", "uncorrected", 29, 500, 1e-9),
        ("HitRate@10", "uncorrected", 200, 500, 1e-9),
        ("Precision@10", "rank estimate", 200, 500, 1e-9),
        ("Recall@10", "rank estimate", 3000, 500, 1e-9),
        # By inversion: many ties are the hardest for it.
        ("AP@2", "uncorrected", 30, 100, 1e-4),
        ("RR@2", "uncorrected", 100, 1000, 1e-4),
        ("NDCG@3", "uncorrected", 30, 100, 1e-4),
        ("NDCG@2", "rank estimate", 100, 1000, 1e-4),
    ],
)
def test_convolutions(metric, correction, size, n, error, scheme):
    m = 50
    sets = skewed(np.random.default_rng(size), n, size, (2.0, 2.0 + 0.3 * size**-0.5))
    row, pair = ordered(metric, sets, m, scheme=scheme, correction=correction)
    values = sd.parse_correction(correction).fit(metric, sd.Sampling(n, m, scheme)).values
    distinct, group = np.unique(np.round(values, 12), return_inverse=True)
    chances = dense_law(n, m, scheme) @ np.eye(len(distinct))[group]
    laws = [chances[rs.ranks - 1] for rs in pair]
    if len(distinct) > 2:
        sums = [law_of_sum(zip(distinct, p, strict=True) for p in law) for law in laws]
        true = chance_above(*sums)
    else:
        counts = [np.ones(1), np.ones(1)]
        for i, law in enumerate(laws):
            for p in law:
                counts[i] = np.convolve(counts[i], p)
        true = counts[0] @ np.r_[0, np.cumsum(counts[1])[:-1]]
    assert 0.02 < true < 0.98
    assert row.probability == pytest.approx(true, abs=error)


def test_where_the_run_decides(xyz: list[sd.RankSet]) -> None:
    # All negatives show the order. Recall@2 with m = 1 is 1 for everybody: never the true order.
    table = sd.probability_of_order("NDCG@10", xyz, 3686, scheme=WITHOUT)
    assert table.probability.tolist() == [1.0, 1.0, 1.0]
    sets = of_ranks(9, [1], [5])
    assert sd.probability_of_order("Recall@2", sets, 1).probability.tolist() == [0.0]
    # m = 1, AUC: P's rank 1 is always 1; Q's is 0 when an item above is drawn, in 4 of 8.
    assert sd.probability_of_order("AUC", sets, 1).probability[0] == pytest.approx(0.5)


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


def test_the_sample_lies_inside() -> None:
    # Chances near 0 or 1 would agree whatever the law: most cells must not be of that sort.
    found = [cell.inside for case, _ in CASES[::5] for cell in cells(case, None, runs=100)]
    assert np.mean(found) > 0.5


def test_systems_of_different_size() -> None:
    # Other users, and other many: lattices that do not meet. Or as many, each with its own n.
    rng = np.random.default_rng(9)
    (p,), *others = skewed(rng, 60, 35, [2.0]), skewed(rng, 90, 80, [2.2])
    others.append(skewed(rng, 300, 35, [2.1]))
    for metric, (q,) in product(("Recall@5", "NDCG@5", "AUC", "AP"), others):
        for options in ({"scheme": WITHOUT}, {"scheme": WITH, "correction": "BV 0.1"}):
            row, pair = ordered(metric, [p, sd.RankSet("Q", q.ranks, q.n)], 20, **options)
            runs = [sd.simulate(metric, rs, 20, RUNS, rng, **options) for rs in pair]
            share = np.mean(runs[0] - runs[1] > 1e-12)
            assert abs(share - row.probability) <= 4 * np.sqrt(0.25 / RUNS)


def test_few_instances_against_many() -> None:
    # The mean of 150 is as good as normal, that of 3 has a few values: the coarser decides.
    n, m = 60, 12
    (p,), (q,) = (skewed(np.random.default_rng(3), n, x, [y]) for x, y in ((150, 2.6), (3, 1.8)))
    row, pair = ordered("AP@2", [p, sd.RankSet("Q", q.ranks, n)], m, scheme=WITHOUT)
    first, second = dense_law(n, m, WITHOUT)[:, :2].T
    law, values = np.stack([first, second, 1 - first - second], axis=1), np.array([1.0, 0.5, 0.0])
    sums = [
        law_of_sum(zip(values / len(x), law[r - 1], strict=True) for r in x.ranks) for x in pair
    ]
    assert row.probability == pytest.approx(chance_above(*sums), abs=1e-4)


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
