"""Rank sets with several relevant items, ties and weights: every sample, one by one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sampledash as sd
from tests.oracles import (
    METRICS,
    POPULARITY,
    UNIFORM,
    WITH,
    WITHOUT,
    by_definition,
    dense_bias_variance,
    dense_law,
    dense_target,
    item_scale,
    samples,
    tied_orders,
)

Instance = tuple[int, list[int]]  # n and the ranks of the relevant items
#: Chances and what is drawn, given one instance; sampled ranks, and in a list of how many.
Drawn = list[tuple[float, tuple[Sequence[int], int]]]


@st.composite
def instances(draw: st.DrawFn, size: int = 3) -> list[Instance]:
    result = []
    for _ in range(draw(st.integers(1, size))):
        n = draw(st.integers(2, 9))
        relevant = draw(st.integers(1, min(n - 1, 4)))
        result.append((n, sorted(draw(st.permutations(range(1, n + 1)))[:relevant])))
    return result


def rank_set(rows: list[Instance], **options: object) -> sd.RankSet:
    ranks = [r for _, relevant in rows for r in relevant]
    n = [n for n, relevant in rows for _ in relevant]
    labels = [i for i, (_, relevant) in enumerate(rows) for _ in relevant]
    return sd.RankSet("S", ranks, n, instances=labels, **options)


def most(rows: list[Instance], scheme: str) -> int:
    """Largest m that is worth enumerating and not refused."""
    negatives = [n - len(relevant) for n, relevant in rows]
    if scheme == WITH:
        return 4
    return negatives[0] if len(set(negatives)) == 1 else max(negatives)


def drawn(
    row: Instance, m: int, scheme: str, orders: list[Sequence[int]] | None = None, weights=None
) -> Drawn:
    """All that can be drawn for an instance: all there is where it has fewer than m negatives."""
    n, relevant = row
    orders = [tuple(relevant)] if orders is None else orders
    if scheme == WITHOUT and n - len(relevant) < m:
        return [(1 / len(orders), (order, n)) for order in orders]
    found: Counter[tuple[int, ...]] = Counter()
    for order in orders:
        found.update(positions(order, n, m, scheme, weights))
    return [(float(p) / len(orders), (s, m + len(s))) for s, p in found.items()]


@cache
def positions(
    order: tuple[int, ...], n: int, m: int, scheme: str, weights: tuple[Fraction, ...] | None
) -> Counter[tuple[int, ...]]:
    found: Counter[tuple[int, ...]] = Counter()
    for p, s in samples(order, n, m, scheme, weights):
        found[s] += p
    return found


def check(
    metric: sd.Metric,
    rs: sd.RankSet,
    m: int,
    laws: list[Drawn],
    value: Callable[[Sequence[int], int], float],
    error: float = 1e-12,
    **options: object,
) -> None:
    """Mean and scatter of the mean over instances, each with its law."""
    mean = spread = 0.0
    for law in laws:
        values = [(p, value(*what)) for p, what in law]
        e = sum(p * v for p, v in values)
        mean, spread = mean + e, spread + sum(p * (v - e) ** 2 for p, v in values)
    mean, spread = mean / len(laws), spread / len(laws) ** 2
    assert sd.expected_mean(metric, rs, m, **options) == pytest.approx(mean, abs=error)
    std = sd.std_of_mean(metric, rs, m, **options)
    assert std == pytest.approx(np.sqrt(spread), abs=np.sqrt(error))
    assert std**2 == pytest.approx(spread, abs=error)


def each_metric():
    """Every metric, and its value of sampled ranks by definition."""
    for name, k in METRICS:
        yield (
            sd.metric(name, k=k),
            lambda ranks, size, name=name, k=k: by_definition(name, k, ranks, size),
        )


@pytest.mark.parametrize("scheme", UNIFORM)
@settings(max_examples=25)
@given(rows=instances(2), data=st.data())
def test_corrections_of_several_items(
    scheme: str, rows: list[Instance], data: st.DataObject
) -> None:
    m = data.draw(st.integers(1, most(rows, scheme)))
    rs, gamma = rank_set(rows), 0.3
    fit_scheme = data.draw(st.sampled_from(UNIFORM))
    laws = [drawn(row, m, scheme) for row in rows]
    for name, k in METRICS:
        vectors = []
        for j in range(1, max(len(relevant) for _, relevant in rows) + 1):
            negatives = [n - len(relevant) for n, relevant in rows if len(relevant) >= j]
            n = int(np.floor(np.mean(negatives) + 0.5)) + 1
            if fit_scheme == WITHOUT:
                n = max(n, m + 1)
            if n < m + 1:
                return  # with replacement from so few, a sampled rank may be impossible
            law, target = dense_law(n, m, fit_scheme), dense_target(name, k, n, j)
            vectors.append(dense_bias_variance(law, target, gamma, None))

        def value(ranks: Sequence[int], size: int, name=name, k=k, vectors=vectors, m=m) -> float:
            if size < m + len(ranks):  # all there are: the exact metric
                return by_definition(name, k, ranks, size)
            total = sum(vectors[j - 1][t - j] for j, t in enumerate(ranks, start=1))
            return float(total * item_scale(name, k, len(ranks)))

        options = {"scheme": scheme, "fit_scheme": fit_scheme, "correction": f"BV {gamma}"}
        check(sd.metric(name, k=k), rs, m, laws, value, 1e-11, **options)


@settings(max_examples=30)
@given(st.integers(3, 8), st.data(), st.sampled_from([Fraction(1, 3), Fraction(2), Fraction(10)]))
def test_popularity_odds(n: int, data: st.DataObject, odds: Fraction) -> None:
    # The odds model for one relevant item: whatever is above weighs ``odds``, whatever is below 1.
    r, m = data.draw(st.integers(1, n)), data.draw(st.integers(1, 4))
    weights = tuple(odds if item < r else Fraction(1) for item in range(1, n + 1) if item != r)
    law = drawn((n, [r]), m, WITH, weights=weights)
    for metric, value in each_metric():
        options = {"scheme": POPULARITY, "odds": float(odds)}
        check(metric, sd.RankSet("S", [r], n), m, [law], value, **options)


@settings(max_examples=25)
@given(rows=instances(2), data=st.data())
def test_mass_above(rows: list[Instance], data: st.DataObject) -> None:
    m = data.draw(st.integers(1, 3))
    laws, masses = [], []
    for n, relevant in rows:
        others = [r for r in range(1, n + 1) if r not in relevant]
        popular = [Fraction(data.draw(st.integers(1, 9))) for _ in others]
        laws.append(drawn((n, relevant), m, WITH, weights=tuple(popular)))
        for r in relevant:
            above = sum(w for item, w in zip(others, popular, strict=True) if item < r)
            masses.append(float(above / sum(popular)))
    for metric, value in each_metric():
        check(metric, rank_set(rows, mass_above=masses), m, laws, value, scheme=POPULARITY)


@st.composite
def tied_instances(draw: st.DrawFn) -> tuple[list[Instance], list[list[int]]]:
    """Instances whose relevant items may be tied with the irrelevant ones right below them."""
    rows = draw(instances())
    room = [np.diff([*relevant, n + 1]) - 1 for n, relevant in rows]
    return rows, [[draw(st.integers(0, int(most))) for most in each] for each in room]


@pytest.mark.parametrize("scheme", UNIFORM)
@settings(max_examples=25)
@given(case=tied_instances(), data=st.data())
def test_every_metric_and_reading_of_ties(
    scheme: str, case: tuple[list[Instance], list[list[int]]], data: st.DataObject
) -> None:
    rows, ties = case
    m = data.draw(st.integers(1, most(rows, scheme)))
    rs = rank_set(rows, ties=[t for each in ties for t in each])
    every = [list(tied_orders(row[1], tied)) for row, tied in zip(rows, ties, strict=True)]
    for reading, part in (
        ("optimistic", slice(1)),
        ("pessimistic", slice(-1, None)),
        ("expected", slice(None)),
    ):
        orders = [each[part] for each in every]
        laws = [drawn(row, m, scheme, each) for row, each in zip(rows, orders, strict=True)]
        for metric, value in each_metric():
            check(metric, rs, m, laws, value, scheme=scheme, ties=reading)
            exact = [
                np.mean([value(order, n) for order in each])
                for (n, _), each in zip(rows, orders, strict=True)
            ]
            assert sd.mean(metric, rs, ties=reading) == pytest.approx(np.mean(exact), abs=1e-13)
