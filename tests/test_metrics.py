"""Metrics against their definitions, eq. 2-13 of Krichene & Rendle (KDD 2020)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sampledash as sd
from tests.oracles import METRICS, by_definition, item_scale, item_value

NAMES = ["auc", "precision", "recall", "ap", "ndcg", "rr", "hit_rate"]


@st.composite
def relevant_sets(draw: st.DrawFn) -> tuple[int, list[int]]:
    n = draw(st.integers(2, 12))
    size = draw(st.integers(1, n - 1))
    return n, draw(st.permutations(range(1, n + 1)))[:size]


@given(relevant_sets(), st.integers(1, 15))
@example((5, [1, 2, 3, 4]), 7)  # k beyond n: Recall 1, Precision still hits / k
def test_of_set_is_the_definition(case: tuple[int, list[int]], k: int) -> None:
    n, ranks = case
    for name in NAMES:
        cutoffs = [None] if name == "auc" else [k]
        if name in ("ap", "ndcg", "rr"):
            cutoffs.append(None)
        for cutoff in cutoffs:
            ours = sd.metric(name, k=cutoff).of_set(ranks, n)
            assert ours == pytest.approx(by_definition(name, cutoff, ranks, n), abs=1e-14)


@pytest.mark.parametrize(("name", "k"), METRICS)
def test_one_relevant_item_is_the_simplified_form(name: str, k: int | None) -> None:
    n = 9
    values = sd.metric(name, k=k)(list(range(1, n + 1)), n)
    assert values.dtype == np.float64
    assert values == pytest.approx([by_definition(name, k, [r], n) for r in range(1, n + 1)])


@pytest.mark.parametrize(("name", "k"), METRICS)
@pytest.mark.parametrize("position", [1, 2, 4])
def test_of_above_and_scale(name: str, k: int | None, position: int) -> None:
    metric, value = sd.metric(name, k=k), item_value(name, k, position, 20)
    ours = metric.of_above(np.arange(21), 20, position)
    assert ours == pytest.approx([value(a) for a in range(21)], abs=1e-15)
    for size in (1, 2, 3, 5):
        assert metric.scale(size) == pytest.approx(item_scale(name, k, size), rel=1e-15)


def test_values_by_hand() -> None:
    # Section 3.1: for NDCG rank 1 is 1.58 times as valuable as rank 2, for AP twice.
    ndcg, ap = sd.parse_metric("NDCG"), sd.parse_metric("AP")
    assert round(float(ndcg(1, 10) / ndcg(2, 10)), 2) == 1.58
    assert float(ap(1, 10) / ap(2, 10)) == 2.0
    assert float(sd.parse_metric("AUC")(4, 10)) == 6 / 9
    assert float(sd.parse_metric("Precision@5")(5, 10)) == 0.2
    # k beyond n: Recall is then 1, Precision stays hits / k.
    assert float(sd.parse_metric("Recall@20")(10, 10)) == 1.0
    assert float(sd.parse_metric("Precision@20")(10, 10)) == 0.05


def test_shapes_and_broadcast() -> None:
    metric = sd.parse_metric("AP")
    assert metric(3, 10).shape == ()
    assert metric([[1, 2], [3, 4]], 10).shape == (2, 2)
    assert metric([[1], [2]], [3, 4]).tolist() == [[1, 1], [0.5, 0.5]]
    assert sd.parse_metric("AUC")([1, 1, 3], [2, 5, 3]).tolist() == [1.0, 1.0, 0.0]
    assert metric(np.array([1.0, 4.0]), 4).tolist() == [1.0, 0.25]  # whole floats are ranks


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("k", [None, 1, 2, 10, 1000])
def test_text_reads_back(name: str, k: int | None) -> None:
    if (name == "auc") != (k is None) and name not in ("ap", "ndcg", "rr"):
        return  # refused
    metric = sd.metric(name, k=k)
    assert sd.parse_metric(str(metric)) == metric
    assert hash(sd.parse_metric(str(metric))) == hash(metric)


@pytest.mark.parametrize(
    ("text", "name", "k"),
    [
        ("HR@10", "hit_rate", 10), ("hit@5", "hit_rate", 5), ("MRR", "rr", None),
        ("mrr@10", "rr", 10), ("MAP", "ap", None), ("MAP@5", "ap", 5), ("P@3", "precision", 3),
        ("Prec@3", "precision", 3), ("R@3", "recall", 3), ("recall_at_20", "recall", 20),
        ("recall at 20", "recall", 20), ("NDCG 5", "ndcg", 5), ("ndcg_10", "ndcg", 10),
        ("nDCG @ 10", "ndcg", 10),
        ("ROC-AUC", "auc", None), ("hit ratio@7", "hit_rate", 7), (" AP ", "ap", None),
        ("accuracy", "recall", 1), ("Reciprocal Rank", "rr", None),
    ],
)  # fmt: skip
def test_spellings_of_the_field(text: str, name: str, k: int | None) -> None:
    assert sd.parse_metric(text) == sd.metric(name, k=k)


def test_immutable() -> None:
    metric = sd.parse_metric("AP")
    with pytest.raises(AttributeError):
        metric.k = 3
