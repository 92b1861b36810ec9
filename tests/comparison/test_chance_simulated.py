"""The chance of the true order against simulated runs: a spread sample of random rank sets.

All of them, up to 5,000 instances, run with ``python -m tests.benchmarks``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import sampledash as sd
from tests.benchmarks.chances import KINDS, RUNS, SCHEMES, Case, cells
from tests.oracles import POPULARITY, WITH, WITHOUT, item_scale, item_value

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


# From here on the runs draw items, not counts: nothing of the package stands behind them.
SMALL = ("Recall@5", "Precision@3", "NDCG@5", "AP", "AUC", "RR", "HitRate@3")
N, M, USERS = 40, 9, 32


def drawn_above(
    ranks: NDArray[np.int64],
    ties: NDArray[np.int64],
    scheme: str,
    weights: NDArray[np.float64],
    rng: np.random.Generator,
) -> NDArray[np.int64]:
    """Sampled items above each relevant one in each run: (runs, users, items).

    ``ranks`` (users, items) are sorted; ``ties`` irrelevant items follow each as its equals.
    """
    above = np.empty((RUNS, *ranks.shape), dtype=np.int64)
    for u, (places, tied) in enumerate(zip(ranks, ties, strict=True)):
        others = np.setdiff1d(np.arange(1, N + 1), places)
        share = weights[others - 1] / weights[others - 1].sum()
        if scheme == WITHOUT:
            sample = others[np.argsort(rng.random((RUNS, len(others))), axis=1)[:, :M]]
        else:
            sample = others[rng.choice(len(others), (RUNS, M), p=share)]
        for j, (r, t) in enumerate(zip(places, tied, strict=True)):
            # A random order of the tied: each of them and the relevant item get a number.
            keys = rng.random((RUNS, N + 1))
            mine = rng.random((RUNS, 1))
            beside = (sample > r) & (sample <= r + t)
            first = np.take_along_axis(keys, sample, axis=1) < mine
            above[:, u, j] = np.sum((sample < r) | (beside & first), axis=1)
    return above


def means_of(above: NDArray[np.int64], text: str, micro: bool) -> NDArray[np.float64]:
    """Mean of the metric in each run."""
    metric = sd.parse_metric(text)
    size = above.shape[2]
    total = np.zeros(above.shape[:2])
    for j in range(size):
        value = item_value(metric.name, metric.k, j + 1, M)
        total += np.array([value(a) for a in range(M + 1)])[above[:, :, j]]
    return total.mean(axis=1) * item_scale(metric.name, metric.k, size)


@pytest.mark.parametrize("scheme", [WITH, WITHOUT, POPULARITY])
@pytest.mark.parametrize("kind", ["plain", "ties", "several"])
def test_chances_are_those_of_drawn_items(scheme: str, kind: str) -> None:
    rng = np.random.default_rng([len(scheme), len(kind)])
    items = 3 if kind == "several" else 1
    weights = np.arange(1, N + 1) ** -0.7 if scheme == POPULARITY else np.ones(N)
    sets, sampled = [], []
    for name, power in (("P", 1.6), ("Q", 1.75)):
        ranks = np.array(
            [
                np.sort(rng.choice(N, items, replace=False, p=_steep(power))) + 1
                for _ in range(USERS)
            ]
        )
        ties = np.zeros_like(ranks)
        if kind == "ties":
            ties = np.minimum(rng.integers(0, 6, ranks.shape), N - ranks)
        if scheme == POPULARITY and kind == "ties":
            ties[:] = 0  # refused: the weight of the tied items is not given
        more: dict[str, Any] = {}
        if scheme == POPULARITY:
            more["mass_above"] = [_mass(row, r, weights) for row in ranks for r in row]
        labels = np.repeat(np.arange(USERS), items)
        sets.append(sd.RankSet(name, ranks.ravel(), N, instances=labels, ties=ties.ravel(), **more))
        sampled.append(drawn_above(ranks, ties, scheme, weights, rng))
    for text in SMALL:
        row = sd.probability_of_order(text, sets, M, scheme=scheme).iloc[0]
        if np.isnan(row.probability):
            continue
        better, worse = ("PQ".index(name) for name in (row.better, row.worse))
        runs = [means_of(above, text, micro=False) for above in sampled]
        share = float(np.mean(runs[better] - runs[worse] > 1e-12))
        p = row.probability
        # 20,000 seeded runs stand behind some of the chances.
        error = np.sqrt(max(p * (1 - p), share * (1 - share), 0.01) * (1 / RUNS + 1 / 20_000))
        assert abs(share - p) <= 4 * error, (text, p, share)


def _steep(power: float) -> NDArray[np.float64]:
    chance = np.arange(1, N + 1) ** -(power - 1)
    return chance / chance.sum()


def _mass(row: NDArray[np.int64], r: int, weights: NDArray[np.float64]) -> float:
    """Share of the weight of the irrelevant items that lies above rank r."""
    others = np.setdiff1d(np.arange(1, N + 1), row)
    return float(weights[others[others < r] - 1].sum() / weights[others - 1].sum())


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
        from scipy.stats import norm

        assert row.probability == pytest.approx(norm.cdf(z), abs=1e-12)
