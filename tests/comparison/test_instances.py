"""Values of single instances: definitions, enumeration of all samples, and how systems pair up."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sampledash as sd
from sampledash.comparison.user_resampling import (
    instance_counts,
    instance_moments,
    instance_values,
    instance_weights,
    match_instances,
)
from sampledash.protocol import Protocol
from tests.oracles import METRICS, POPULARITY, SCHEMES, WITH, WITHOUT, by_definition, samples


def _several(data: st.DataObject) -> list[tuple[list[int], int]]:
    found = []
    for _ in range(data.draw(st.integers(1, 3))):
        n = data.draw(st.integers(4, 8))
        size = data.draw(st.integers(1, 3))
        ranks = data.draw(st.lists(st.integers(1, n), min_size=size, max_size=size, unique=True))
        found.append((ranks, n))
    return found


def _set_of(name: str, rows: list[tuple[list[int], int]]) -> sd.RankSet:
    sizes = [len(ranks) for ranks, _ in rows]
    return sd.RankSet(
        name,
        np.concatenate([ranks for ranks, _ in rows]),
        np.repeat([n for _, n in rows], sizes),
        instances=np.repeat([f"u{i}" for i in range(len(rows))], sizes),
    )


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=15)
@given(data=st.data())
def test_moments_by_enumeration(scheme: str, data: st.DataObject) -> None:
    rows, m = _several(data), data.draw(st.integers(1, 3))
    if scheme == POPULARITY:  # odds hold for one relevant item: with several take odds 1
        rows = [(ranks[:1], n) for ranks, n in rows]
    if scheme == WITHOUT and len({n - len(ranks) for ranks, n in rows}) == 1:
        m = min(m, rows[0][1] - len(rows[0][0]))
    odds = 2.0 if scheme == POPULARITY else 1.0
    protocol = Protocol.of({"scheme": scheme, "odds": odds})
    metrics = [sd.metric(name, k=k) for name, k in METRICS]
    means, variances = instance_moments(metrics, _set_of("P", rows), m, protocol)
    exact = instance_values(metrics, _set_of("P", rows), "expected")
    for u, (ranks, n) in enumerate(rows):
        drawn = min(m, n - len(ranks)) if scheme == WITHOUT else m
        above = min(ranks) - 1
        weights = [Fraction(2)] * above + [Fraction(1)] * (n - 1 - above) if odds == 2 else None
        law = [(float(p), at) for p, at in samples(ranks, n, drawn, scheme, weights)]
        for x, (name, k) in enumerate(METRICS):
            values = [by_definition(name, k, at, drawn + len(ranks)) for _, at in law]
            p = np.array([chance for chance, _ in law])
            mean = p @ values
            assert means[x, u] == pytest.approx(mean, abs=1e-12)
            assert variances[x, u] == pytest.approx(p @ (values - mean) ** 2, abs=1e-12)
            assert exact[x, u] == pytest.approx(by_definition(name, k, ranks, n), abs=1e-12)


def test_ties_average_over_their_order() -> None:
    ranks = sd.RankSet("P", [2, 1, 5], 6, ties=[3, 0, 1])
    metrics = [sd.metric("ap"), sd.metric("recall", k=2)]
    found = instance_values(metrics, ranks, "expected")
    assert found[0] == pytest.approx([(1 / 2 + 1 / 3 + 1 / 4 + 1 / 5) / 4, 1, (1 / 5 + 1 / 6) / 2])
    assert found[1] == pytest.approx([1 / 4, 1, 0])
    assert instance_values(metrics, ranks, "pessimistic")[0] == pytest.approx([1 / 5, 1, 1 / 6])
    # m = 1 without replacement: the item is first unless the one drawn item lies above.
    protocol = Protocol.of({"scheme": WITHOUT})
    means, variances = instance_moments([metrics[0]], ranks, 1, protocol)
    chance = np.array([(1 + 2 + 3 + 4) / 4 / 5, 0, (4 + 5) / 2 / 5])
    assert means[0] == pytest.approx(1 - chance / 2)
    assert variances[0] == pytest.approx(chance * (1 - chance) / 4)


@pytest.mark.parametrize("scheme", [WITH, WITHOUT])
def test_tied_items_of_one_list_vary_together(scheme: str) -> None:
    n, m = 7, 3
    tied = sd.RankSet("P", [2, 5], n, instances=["a", "a"], ties=[1, 2])
    metrics = [sd.metric(name, k=k) for name, k in METRICS]
    means, variances = instance_moments(metrics, tied, m, Protocol.of({"scheme": scheme}))
    orders = [[first, second] for first in (2, 3) for second in (5, 6, 7)]
    law = [(float(p) / 6, at) for x in orders for p, at in samples(x, n, m, scheme)]
    for x, (name, k) in enumerate(METRICS):
        values = np.array([by_definition(name, k, at, m + 2) for _, at in law])
        p = np.array([chance for chance, _ in law])
        assert means[x, 0] == pytest.approx(p @ values, abs=1e-12)
        assert variances[x, 0] == pytest.approx(p @ (values - p @ values) ** 2, abs=1e-12)


def test_sums_are_those_of_the_mean(xyz: list[sd.RankSet]) -> None:
    protocol = Protocol.of({"scheme": WITHOUT, "correction": "BV 0.1"})
    metrics = [sd.parse_metric(x) for x in ("NDCG@10", "AUC")]
    means, variances = instance_moments(metrics, xyz[0], 50, protocol)
    size = len(means[0])
    for x, metric in enumerate(metrics):
        options = {"scheme": WITHOUT, "correction": "BV 0.1"}
        assert means[x].mean() == pytest.approx(sd.expected_mean(metric, xyz[0], 50, **options))
        spread = np.sqrt(variances[x].sum()) / size
        assert spread == pytest.approx(sd.std_of_mean(metric, xyz[0], 50, **options))


def test_what_is_refused() -> None:
    protocol = Protocol.of({"scheme": POPULARITY})
    tied = sd.RankSet("P", [1, 4, 2], 9, instances=["a", "a", "b"], ties=[0, 2, 0])
    with pytest.raises(ValueError, match="'P' has ties and several relevant items"):
        instance_moments([sd.metric("ap")], tied, 3, protocol)
    assert instance_moments([sd.metric("rr")], tied, 3, protocol)[0].shape == (1, 2)
    with pytest.raises(ValueError, match="m = 9 is too large"):
        instance_moments(
            [sd.metric("ap")], sd.RankSet("P", [1], 9), 9, Protocol.of({"scheme": WITHOUT})
        )


def test_counts_and_weights() -> None:
    ranks = sd.RankSet("P", [3, 1, 5], 9, instances=["b", "a", "b"], counts=[2, 1, 2])
    assert instance_counts(ranks).tolist() == [2, 1]
    assert instance_weights(ranks, Protocol.of({})).tolist() == [1, 1]
    by_items = Protocol.of({"weighting": "relevant-items"})
    assert instance_weights(ranks, by_items).tolist() == [2, 1]


def test_pairing() -> None:
    protocol, by_items = Protocol.of({}), Protocol.of({"weighting": "relevant-items"})
    first = sd.RankSet("P", [1, 2, 3], 9, instances=["a", "b", "c"])
    second = sd.RankSet("Q", [4, 5, 6], 9, instances=["c", "a", "b"])
    assert match_instances(first, second, protocol).tolist() == [1, 2, 0]
    assert (
        match_instances(first, sd.RankSet("Q", [4, 5, 6], 9, instances=list("abd")), protocol)
        is None
    )
    assert (
        match_instances(first, sd.RankSet("Q", [4, 5], 9, instances=list("ab")), protocol) is None
    )
    # Without labels: in their order, but rows of a histogram are no instances.
    bare = sd.RankSet("P", [1, 2], 9), sd.RankSet("Q", [3, 4], 9)
    assert match_instances(*bare, protocol).tolist() == [0, 1]
    counted = [sd.RankSet(name, [1, 2], 9, counts=[5, 1]) for name in "PQ"]
    assert match_instances(*counted, protocol) is None
    named = [sd.RankSet(x, [1, 2], 9, counts=[5, 1], instances=["u", "v"]) for x in "PQ"]
    assert match_instances(*named, protocol).tolist() == [0, 1]
    more = sd.RankSet("Q", [4, 5, 6, 7], 9, instances=["c", "a", "b", "b"])
    assert match_instances(first, more, protocol).tolist() == [1, 2, 0]
    assert match_instances(first, more, by_items) is None
