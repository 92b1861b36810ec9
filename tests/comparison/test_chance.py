"""Chance that one run shows the true order: full enumeration, convolution and simulation."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sampledash as sd
from tests.oracles import (
    METRICS,
    POPULARITY,
    SCHEMES,
    WITH,
    WITHOUT,
    by_definition,
    dense_law,
    exact_law,
    item_scale,
    item_value,
)

Law = dict[float, float]


def law_of_mean(
    rows: list[tuple[int, int, int]], name: str, k: int | None, m: int, scheme: str, odds: Fraction
) -> Law:
    """Law of the mean over rows (rank, ties, n), keyed by its rounded value."""
    total: Law = {0.0: 1.0}
    for r, ties, n in rows:
        one: Law = {}
        for t in range(ties + 1):
            full = scheme == WITHOUT and n - 1 < m
            drawn = n - 1 if full else m
            value = item_value(name, k, 1, drawn)
            p = exact_law(n, r + t, drawn, scheme, odds)
            for s, chance in enumerate(p):
                v = value(s) * item_scale(name, k, 1)
                one[v] = one.get(v, 0.0) + float(chance) / (ties + 1)
        new: Law = {}
        for (a, p), (b, q) in product(total.items(), one.items()):
            new[round(a + b, 11)] = new.get(round(a + b, 11), 0.0) + p * q
        total = new
    return {v / len(rows): p for v, p in total.items()}


def chance_above(first: Law, second: Law) -> float:
    return float(
        sum(p * q for (a, p), (b, q) in product(first.items(), second.items()) if a - b > 1e-10)
    )


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=25)
@given(data=st.data())
def test_full_enumeration(scheme: str, data: st.DataObject) -> None:
    odds = Fraction(5, 2) if scheme == POPULARITY else Fraction(1)
    options = (
        {"scheme": scheme, "odds": float(odds)} if scheme == POPULARITY else {"scheme": scheme}
    )
    systems, top = [], 4
    for _ in range(2):
        rows = []
        for _ in range(data.draw(st.integers(1, 3))):
            n = data.draw(st.integers(2, 9))
            r = data.draw(st.integers(1, n))
            rows.append((r, data.draw(st.integers(0, n - r)), n))
        if scheme == WITHOUT and len({n for _, _, n in rows}) == 1:
            top = min(top, rows[0][2] - 1)
        systems.append(rows)
    m = data.draw(st.integers(1, top))
    sets = [
        sd.RankSet(
            name, [r for r, _, _ in rows], [n for _, _, n in rows], ties=[t for _, t, _ in rows]
        )
        for name, rows in zip("PQ", systems, strict=True)
    ]
    for name, k in METRICS:
        metric = sd.metric(name, k=k)
        exact = [
            np.mean(
                [
                    np.mean([by_definition(name, k, [r + t], n) for t in range(ties + 1)])
                    for r, ties, n in rows
                ]
            )
            for rows in systems
        ]
        table = sd.probability_of_order(metric, sets, m, **options)
        if abs(exact[0] - exact[1]) <= 1e-12:
            assert np.isnan(table.probability[0])
            continue
        better = 0 if exact[0] > exact[1] else 1
        assert table.better[0] == "PQ"[better]
        laws = [law_of_mean(rows, name, k, m, scheme, odds) for rows in systems]
        true = chance_above(laws[better], laws[1 - better])
        assert table.probability[0] == pytest.approx(true, abs=1e-9)


@pytest.mark.parametrize("scheme", [WITH, WITHOUT])
@pytest.mark.parametrize("size", [29, 200, 3000])
def test_hits_are_convolved_exactly(scheme: str, size: int) -> None:
    n, m = 500, 40
    rng = np.random.default_rng(size)
    ranks = [
        np.r_[1, 2, rng.integers(1, n + 1, size - 2)],
        np.ceil(n * rng.random(size) ** 1.05).astype(int),
    ]
    sets = [sd.RankSet(name, r, n) for name, r in zip("PQ", ranks, strict=True)]
    hit = dense_law(n, m, scheme)[:, :10].sum(axis=1)
    laws = []
    for r in ranks:
        law = np.ones(1)
        for p in hit[r - 1]:
            law = np.convolve(law, [1 - p, p])
        laws.append(law)
    for metric in ("Recall@10", "Precision@10", "HitRate@10"):
        table = sd.probability_of_order(metric, sets, m, scheme=scheme)
        means = [sd.mean(metric, rs) for rs in sets]
        assert means[0] != means[1]
        better = int(means[1] > means[0])
        true = sum(laws[better][i] * laws[1 - better][:i].sum() for i in range(size + 1))
        assert table.probability[0] == pytest.approx(true, abs=1e-9)


def test_complete_samples_decide(xyz: list[sd.RankSet]) -> None:
    table = sd.probability_of_order("NDCG@10", xyz, 3686, scheme=WITHOUT)
    assert table.probability.tolist() == [1.0, 1.0, 1.0]


def test_a_tie_in_the_run_does_not_show_the_order() -> None:
    # Recall@2 with m = 1 is 1 for everybody: never the true order.
    sets = [sd.RankSet("P", [1], 9), sd.RankSet("Q", [5], 9)]
    table = sd.probability_of_order("Recall@2", sets, 1)
    assert table.probability.tolist() == [0.0]
    # m = 1, AUC: P's rank 1 is always 1; Q's is 0 when an item above is drawn, in 4 of 8.
    assert sd.probability_of_order("AUC", sets, 1).probability[0] == pytest.approx(0.5)


def test_frame_and_reproducibility() -> None:
    sets = [
        sd.RankSet("P", [1, 4, 2, 3], 9, instances=[0, 0, 1, 1]),
        sd.RankSet("Q", [2, 5, 1, 6], 9, instances=[0, 0, 1, 1]),
    ]
    table = sd.probability_of_order("AP", sets, 3)
    assert table.columns.tolist() == ["better", "worse", "probability"]
    assert isinstance(table.index, pd.RangeIndex)
    assert table.probability.dtype == np.float64
    assert type(table.better[0]) is str
    assert 0 <= table.probability[0] <= 1
    assert table.equals(sd.probability_of_order("AP", sets, 3))
