"""Metrics against their definitions, eq. 2-13 of Krichene & Rendle (KDD 2020)."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sampledash as sd
from tests.oracles import METRICS, by_definition, exact_metric, item_scale, item_value


@st.composite
def relevant_sets(draw: st.DrawFn) -> tuple[int, list[int]]:
    n = draw(st.integers(2, 12))
    size = draw(st.integers(1, n - 1))
    return n, draw(st.permutations(range(1, n + 1)))[:size]


@given(relevant_sets(), st.integers(1, 15))
@example((5, [1, 2, 3, 4]), 7)  # k beyond n: Recall 1, Precision still hits / k
def test_of_set_is_the_definition(case: tuple[int, list[int]], k: int) -> None:
    n, ranks = case
    cut = [(name, k) for name in ("precision", "recall", "ap", "ndcg", "rr", "hit_rate")]
    for name, cutoff in [*cut, *((name, None) for name in ("auc", "ap", "ndcg", "rr"))]:
        ours = sd.metric(name, k=cutoff).of_set(ranks, n)
        assert ours == pytest.approx(by_definition(name, cutoff, ranks, n), abs=1e-14)


@pytest.mark.parametrize(("name", "k"), METRICS)
def test_one_relevant_item_is_the_simplified_form(name: str, k: int | None) -> None:
    rank = list(range(1, 10))
    values = sd.metric(name, k=k)(rank, 9)
    assert values.dtype == np.float64
    assert values == pytest.approx([by_definition(name, k, [r], 9) for r in rank])
    assert values == pytest.approx(exact_metric(name, k, 9))  # the oracle of larger n


@pytest.mark.parametrize(("name", "k"), METRICS)
@pytest.mark.parametrize("position", [1, 2, 4])
def test_of_above_and_scale(name: str, k: int | None, position: int) -> None:
    metric, value = sd.metric(name, k=k), item_value(name, k, position, 20)
    ours = metric.of_above(np.arange(21), 20, position)
    assert ours == pytest.approx([value(a) for a in range(21)], abs=1e-15)
    for size in (1, 2, 3, 5):
        assert metric.scale(size) == pytest.approx(item_scale(name, k, size), rel=1e-15)


def test_shapes_and_broadcast() -> None:
    metric = sd.parse_metric("AP")
    assert metric(3, 10).shape == ()
    assert metric([[1], [2]], [3, 4]).tolist() == [[1, 1], [0.5, 0.5]]
    assert sd.parse_metric("AUC")([1, 1, 3], [2, 5, 3]).tolist() == [1.0, 1.0, 0.0]
    assert metric(np.array([1.0, 4.0]), 4).tolist() == [1.0, 0.25]  # whole floats are ranks
    with pytest.raises(AttributeError):
        metric.k = 3


@pytest.mark.parametrize(
    ("name", "k"), [*METRICS, ("recall", 1000), ("topk", 0.02), ("atop", None)]
)
def test_text_reads_back(name: str, k: float | None) -> None:
    metric = sd.metric(name, k=k)
    assert sd.parse_metric(str(metric)) == metric
    assert hash(sd.parse_metric(str(metric))) == hash(metric)


@pytest.mark.parametrize(
    ("metric", "texts"),
    [
        ("HitRate@10", ["HR@10", "hit@10", "hit ratio@10"]),
        ("RR", ["MRR", "Reciprocal Rank"]),
        ("RR@10", ["mrr@10"]),
        ("AP", ["MAP", " AP "]),
        ("AP@5", ["MAP@5"]),
        ("Precision@3", ["P@3", "Prec@3"]),
        ("Recall@20", ["R@20", "recall_at_20", "recall at 20"]),
        ("NDCG@10", ["NDCG 10", "ndcg_10", "nDCG @ 10"]),
        ("AUC", ["ROC-AUC"]),
        ("Recall@1", ["accuracy"]),
        ("TOPK@0.02", ["topk@2%"]),
        ("TOPK@0.5", ["TOPK at .5"]),
        ("TOPK@0", ["TOPK@0.0"]),
        ("TOPK@0.001", ["TOPK@1e-3"]),
        ("TOPK@1", ["TOPK@100 %"]),
        ("TOPK@0.007", ["TOPK@0.7%"]),
        ("TOPK@1e-11", ["TOPK@1e-9%"]),
    ],
)
def test_spellings_of_the_field(metric: str, texts: list[str]) -> None:
    for text in (metric, *texts):
        assert str(sd.parse_metric(text)) == metric
