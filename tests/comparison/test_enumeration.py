"""Rank sets with several relevant items, ties and weights: every sample, one by one."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

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
    moments,
    samples,
    tied_orders,
)

Instance = tuple[int, list[int]]


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


def enumerated(
    rows: list[Instance],
    m: int,
    scheme: str,
    value: Callable[[Instance, tuple[int, ...], int], float],
    full: Callable[[Instance], float],
) -> tuple[float, float]:
    """Mean and standard deviation of the mean; ``full`` where fewer than m negatives exist."""
    mean = spread = 0.0
    for row in rows:
        n, relevant = row
        if scheme == WITHOUT and n - len(relevant) < m:
            mean += full(row)
            continue
        e, v = moments(lambda s, row=row: value(row, s, m), samples(relevant, n, m, scheme))
        mean, spread = mean + e, spread + v
    return mean / len(rows), float(np.sqrt(spread)) / len(rows)


@pytest.mark.parametrize("scheme", UNIFORM)
@given(rows=instances(), data=st.data())
def test_every_metric_by_full_enumeration(
    scheme: str, rows: list[Instance], data: st.DataObject
) -> None:
    m = data.draw(st.integers(1, most(rows, scheme)))
    rs = rank_set(rows)
    for name, k in METRICS:
        metric = sd.metric(name, k=k)

        def value(row: Instance, sampled: tuple[int, ...], m: int, name=name, k=k) -> float:
            return by_definition(name, k, sampled, m + len(sampled))

        def full(row: Instance, name=name, k=k) -> float:
            return by_definition(name, k, row[1], row[0])

        mean, std = enumerated(rows, m, scheme, value, full)
        assert sd.expected_mean(metric, rs, m, scheme=scheme) == pytest.approx(mean, abs=1e-12)
        assert sd.std_of_mean(metric, rs, m, scheme=scheme) == pytest.approx(std, abs=2e-8)
        assert sd.std_of_mean(metric, rs, m, scheme=scheme) ** 2 == pytest.approx(std**2, abs=1e-12)
        exact = np.mean([full(row) for row in rows])
        assert sd.mean(metric, rs) == pytest.approx(exact, abs=1e-13)


@pytest.mark.parametrize("scheme", UNIFORM)
@settings(max_examples=25)
@given(rows=instances(2), data=st.data())
def test_corrections_of_several_items_by_full_enumeration(
    scheme: str, rows: list[Instance], data: st.DataObject
) -> None:
    m = data.draw(st.integers(1, most(rows, scheme)))
    rs, gamma = rank_set(rows), 0.3
    fit_scheme = data.draw(st.sampled_from(UNIFORM))
    for name, k in METRICS:
        vectors = []
        for j in range(1, max(len(relevant) for _, relevant in rows) + 1):
            negatives = [n - len(relevant) for n, relevant in rows if len(relevant) >= j]
            n = int(np.floor(np.mean(negatives) + 0.5)) + 1
            if fit_scheme == WITHOUT:
                n = max(n, m + 1)
            if n < m + 1:
                return  # with replacement from so few, a sampled rank may be impossible
            vectors.append(
                dense_bias_variance(
                    dense_law(n, m, fit_scheme), dense_target(name, k, n, j), gamma, None
                )
            )

        def value(
            row: Instance, sampled: tuple[int, ...], m: int, name=name, k=k, vectors=vectors
        ) -> float:
            total = sum(vectors[j - 1][t - j] for j, t in enumerate(sampled, start=1))
            return float(total * item_scale(name, k, len(sampled)))

        def full(row: Instance, name=name, k=k) -> float:
            return by_definition(name, k, row[1], row[0])

        mean, std = enumerated(rows, m, scheme, value, full)
        options = {"scheme": scheme, "fit_scheme": fit_scheme, "correction": f"BV {gamma}"}
        metric = sd.metric(name, k=k)
        assert sd.expected_mean(metric, rs, m, **options) == pytest.approx(mean, abs=1e-11)
        assert sd.std_of_mean(metric, rs, m, **options) ** 2 == pytest.approx(std**2, abs=1e-11)


@settings(max_examples=30)
@given(
    st.integers(3, 8),
    st.data(),
    st.sampled_from([Fraction(1, 3), Fraction(2), Fraction(10)]),
)
def test_popularity_odds_by_full_enumeration(n: int, data: st.DataObject, odds: Fraction) -> None:
    # The odds model for one relevant item: whatever is above weighs ``odds``, whatever is below 1.
    r, m = data.draw(st.integers(1, n)), data.draw(st.integers(1, 4))
    weights = [odds if item < r else Fraction(1) for item in range(1, n + 1) if item != r]
    rs = sd.RankSet("S", [r], n)
    for name, k in METRICS:
        mean, spread = moments(
            lambda s, name=name, k=k: by_definition(name, k, s, m + 1),
            samples([r], n, m, WITH, weights),
        )
        options = {"scheme": POPULARITY, "odds": float(odds)}
        metric = sd.metric(name, k=k)
        assert sd.expected_mean(metric, rs, m, **options) == pytest.approx(mean, abs=1e-12)
        assert sd.std_of_mean(metric, rs, m, **options) ** 2 == pytest.approx(spread, abs=1e-12)


@settings(max_examples=40)
@given(rows=instances(2), data=st.data())
def test_mass_above_by_full_enumeration(rows: list[Instance], data: st.DataObject) -> None:
    m = data.draw(st.integers(1, 3))
    weighted, masses = [], []
    for n, relevant in rows:
        others = [r for r in range(1, n + 1) if r not in relevant]
        popular = [Fraction(data.draw(st.integers(1, 9))) for _ in others]
        weighted.append(popular)
        for r in relevant:
            above = sum(w for item, w in zip(others, popular, strict=True) if item < r)
            masses.append(float(above / sum(popular)))
    rs = rank_set(rows, mass_above=masses)
    for name, k in METRICS:
        mean = spread = 0.0
        for (n, relevant), weights in zip(rows, weighted, strict=True):
            e, v = moments(
                lambda s, name=name, k=k: by_definition(name, k, s, m + len(s)),
                samples(relevant, n, m, WITH, weights),
            )
            mean, spread = mean + e / len(rows), spread + v / len(rows) ** 2
        metric = sd.metric(name, k=k)
        assert sd.expected_mean(metric, rs, m, scheme=POPULARITY) == pytest.approx(mean, abs=1e-12)
        assert sd.std_of_mean(metric, rs, m, scheme=POPULARITY) ** 2 == pytest.approx(
            spread, abs=1e-12
        )


@st.composite
def tied_instances(draw: st.DrawFn) -> tuple[list[Instance], list[int]]:
    """Instances whose relevant items may be tied with the irrelevant ones right below them."""
    rows = draw(instances(2))
    ties = []
    for n, relevant in rows:
        for r, following in zip(relevant, [*relevant[1:], n + 1], strict=True):
            ties.append(draw(st.integers(0, following - r - 1)))
    return rows, ties


@pytest.mark.parametrize("scheme", UNIFORM)
@settings(max_examples=40)
@given(case=tied_instances(), data=st.data())
def test_ties_by_full_enumeration(
    scheme: str, case: tuple[list[Instance], list[int]], data: st.DataObject
) -> None:
    rows, ties = case
    m = data.draw(st.integers(1, most(rows, scheme)))
    rs = rank_set(rows, ties=ties)
    for name, k in METRICS:
        metric = sd.metric(name, k=k)
        expected, exact, scatter = {}, {}, {}
        for reading in ("optimistic", "pessimistic", "expected"):
            mean = truth = spread = 0.0
            start = 0
            for n, relevant in rows:
                tied = ties[start : start + len(relevant)]
                start += len(relevant)
                orders = list(tied_orders(relevant, tied))
                orders = {"optimistic": orders[:1], "pessimistic": orders[-1:]}.get(reading, orders)
                values: list[tuple[float, float]] = []  # probability, value
                for order in orders:
                    truth += by_definition(name, k, order, n) / len(orders)
                    if scheme == WITHOUT and n - len(relevant) < m:
                        values.append((1 / len(orders), by_definition(name, k, order, n)))
                    else:
                        values += [
                            (float(p) / len(orders), by_definition(name, k, s, m + len(s)))
                            for p, s in samples(order, n, m, scheme)
                        ]
                e = sum(p * v for p, v in values)
                mean, spread = mean + e, spread + sum(p * (v - e) ** 2 for p, v in values)
            expected[reading], exact[reading] = mean / len(rows), truth / len(rows)
            scatter[reading] = spread / len(rows) ** 2
        for reading, mean in expected.items():
            options = {"scheme": scheme, "ties": reading}
            assert sd.mean(metric, rs, ties=reading) == pytest.approx(exact[reading], abs=1e-13)
            assert sd.expected_mean(metric, rs, m, **options) == pytest.approx(mean, abs=1e-12)
            ours = sd.std_of_mean(metric, rs, m, **options)
            assert ours**2 == pytest.approx(scatter[reading], abs=1e-12)
