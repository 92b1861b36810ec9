"""The chance of the true order against simulated runs: a spread sample of random rank sets.

All of them, up to 5,000 instances, run with ``python -m tests.benchmarks``.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

import sampledash as sd
from tests.benchmarks.chances import KINDS, RUNS, SCHEMES, Case, cells
from tests.oracles import WITH, WITHOUT

CASES = [
    (Case(kind, scheme, size=(12, 40, 120)[(x + y) % 3], seed=1), (x + y) % 4)
    for x, kind in enumerate(KINDS)
    for y, scheme in enumerate(SCHEMES)
    if Case(kind, scheme, 30).possible
]


@pytest.mark.parametrize(
    ("case", "which"), CASES, ids=[f"{c.kind}-{c.scheme}-{c.size}" for c, _ in CASES]
)
def test_chances_are_those_of_simulated_runs(case: Case, which: int) -> None:
    correction = case.corrections[which % len(case.corrections)]
    for cell in cells(case, correction):
        assert abs(cell.z) <= 4, cell


def test_the_sample_lies_inside() -> None:
    # Chances near 0 or 1 would agree whatever the law: most cells must not be of that sort.
    found = [cell.inside for case, _ in CASES[::5] for cell in cells(case, None, runs=100)]
    assert np.mean(found) > 0.5


@pytest.mark.parametrize("size", [1500, 5000])
def test_thousands_of_instances(size: int) -> None:
    for kind, scheme in (("plain", WITHOUT), ("own n", WITH)):
        for cell in cells(Case(kind, scheme, size, m=20), None, runs=500):
            assert abs(cell.z) <= 4, cell


N, M, USERS = 40, 9, 32


def test_systems_of_different_size() -> None:
    # Other users, and other many: lattices that do not meet.
    rng = np.random.default_rng(9)
    sets = [
        sd.RankSet("P", 1 + (60 * rng.random(35) ** 2).astype(int), 60),
        sd.RankSet("Q", 1 + (90 * rng.random(80) ** 2.2).astype(int), 90),
    ]
    for metric in ("Recall@5", "NDCG@5", "AUC", "AP"):
        for options in ({"scheme": WITHOUT}, {"scheme": WITH, "correction": "BV 0.1"}):
            row = sd.probability_of_order(metric, sets, 20, **options).iloc[0]
            runs = {
                rs.system: sd.simulate(metric, rs, 20, RUNS, np.random.default_rng(i), **options)
                for i, rs in enumerate(sets)
            }
            share = np.mean(runs[row.better] - runs[row.worse] > 1e-12)
            p = row.probability
            assert abs(share - p) <= 4 * np.sqrt(max(p * (1 - p), 0.01) / RUNS)


def test_fractional_counts_take_the_normal_law() -> None:
    # Half an instance cannot be drawn: the mean and the variance are all there is.
    ranks, more = [1, 4, 9, 30, 2], {"counts": [8.5, 10.25, 12.5, 20.0, 3.5]}
    sets = [sd.RankSet("P", ranks, 50, **more), sd.RankSet("Q", [2, 3, 12, 25, 2], 50, **more)]
    for metric in ("AP", "NDCG"):
        row = sd.probability_of_order(metric, sets, 12, scheme=WITHOUT).iloc[0]
        by_name = {rs.system: rs for rs in sets}
        both = [by_name[row.better], by_name[row.worse]]
        mean = [sd.expected_mean(metric, rs, 12, scheme=WITHOUT) for rs in both]
        std = [sd.std_of_mean(metric, rs, 12, scheme=WITHOUT) for rs in both]
        z = (mean[0] - mean[1]) / np.hypot(*std)
        assert row.probability == pytest.approx(norm.cdf(z), abs=1e-12)
