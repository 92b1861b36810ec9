"""Metrics against their definitions, eq. 2-13 of Krichene & Rendle (KDD 2020)."""

from typing import Any

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sampledash as sd
from tests import oracles
from tests.oracles import METRICS, WITH, WITHOUT, by_definition, exact_metric


@st.composite
def relevant_sets(draw: st.DrawFn) -> tuple[int, list[int]]:
    n = draw(st.integers(2, 12))
    size = draw(st.integers(1, n - 1))
    return n, draw(st.permutations(range(1, n + 1)))[:size]


@given(relevant_sets(), st.integers(1, 15))
@example((5, [1, 2, 3, 4]), 7)  # k > n: Recall is 1, Precision still hits / k
def test_of_set_is_the_definition(case: tuple[int, list[int]], k: int) -> None:
    n, ranks = case
    cut = [(name, k) for name in ("precision", "recall", "ap", "ndcg", "rr", "hit_rate")]
    for name, cutoff in [*cut, *((name, None) for name in ("auc", "ap", "ndcg", "rr"))]:
        ours = sd.metric(name, k=cutoff).of_set(ranks, n)
        assert ours == pytest.approx(by_definition(name, cutoff, ranks, n), abs=1e-14)


@pytest.mark.parametrize(("name", "k"), METRICS)
def test_one_relevant_item_positions_scale_and_text(name: str, k: int | None) -> None:
    rank, metric = list(range(1, 10)), sd.metric(name, k=k)
    values = metric(rank, 9)
    assert values.dtype == np.float64
    assert values == pytest.approx([by_definition(name, k, [r], 9) for r in rank])
    assert values == pytest.approx(exact_metric(name, k, 9))  # other tests rely on exact_metric
    for position in (1, 2, 4):
        value = oracles.item_value(name, k, position, 20)
        ours = metric.of_above(np.arange(21), 20, position)
        assert ours == pytest.approx([value(a) for a in range(21)], abs=1e-15)
    for size in (1, 2, 3, 5):
        assert metric.scale(size) == pytest.approx(oracles.item_scale(name, k, size), rel=1e-15)
    assert {sd.parse_metric(str(metric))} == {metric}  # equal metrics have equal hashes


def test_shapes_and_broadcast() -> None:
    metric = sd.parse_metric("AP")
    assert metric(3, 10).shape == ()
    assert metric([[1], [2]], [3, 4]).tolist() == [[1, 1], [0.5, 0.5]]
    assert sd.parse_metric("AUC")([1, 1, 3], [2, 5, 3]).tolist() == [1.0, 1.0, 0.0]
    assert metric(np.array([1.0, 4.0]), 4).tolist() == [1.0, 0.25]  # whole floats are accepted
    with pytest.raises(AttributeError):
        metric.k = 3


SPELLINGS = """
HitRate@10: HR@10|hit@10|hit ratio@10; RR: MRR|Reciprocal Rank; RR@10: mrr@10; AP: MAP| AP ;
AP@5: MAP@5; Precision@3: P@3|Prec@3; Recall@20: R@20|recall_at_20|recall at 20; AUC: ROC-AUC;
NDCG@10: NDCG 10|ndcg_10|nDCG @ 10; Recall@1: accuracy; TOPK@0.02: topk@2%; TOPK@0.5: TOPK at .5;
TOPK@0: TOPK@0.0; TOPK@0.001: TOPK@1e-3; TOPK@1: TOPK@100 %; TOPK@0.007: TOPK@0.7%;
TOPK@1e-11: TOPK@1e-9%; Recall@1000: R@1000
"""


@pytest.mark.parametrize("row", SPELLINGS.split(";"))
def test_spellings_of_the_field(row: str) -> None:
    metric, texts = row.split(": ")
    for text in (metric.strip(), *texts.split("|")):
        assert str(sd.parse_metric(text)) == metric.strip()


Entries = dict[str, list[dict[str, Any]]]
SCHEME = {"with": WITH, "without": WITHOUT}


def metric_of(entry: dict[str, Any]) -> sd.Metric:
    return sd.metric({"prec": "precision"}.get(entry["metric"], entry["metric"]), k=entry["k"])


def sampling_of(entry: dict[str, Any]) -> sd.Sampling:
    return sd.Sampling(entry["n"], entry["m"], SCHEME[entry["scheme"]])


def assert_close(values: object, texts: object) -> None:
    """Check for a relative error of 1e-11, or an absolute error of 1e-13 of values below 1e-3."""
    true = np.array(texts, dtype=float)
    allowed = np.where(np.abs(true) < 1e-3, 1e-13, 1e-11 * np.abs(true))
    assert np.all(np.abs(np.array(values) - true) <= allowed)


def test_the_file_is_complete_with_metrics_laws_and_moments(
    reference: Entries, abc: list[sd.RankSet]
) -> None:
    sizes = {key: len(entries) for key, entries in reference.items() if key != "_about"}
    assert sizes == {"exact": 80, "expected": 900, "pmf": 54, "corrections": 196, "table2": 48}
    for entry in reference["exact"]:
        assert_close(metric_of(entry)(entry["r"], entry["n"]), entry["value"])
    for entry in reference["pmf"]:
        assert_close(sampling_of(entry).pmf(entry["r"]), entry["pmf"])
    for entry in reference["expected"]:
        at = metric_of(entry), entry["r"], sampling_of(entry)
        moments = sd.expected(*at), np.sqrt(sd.variance(*at))
        assert_close(moments, (entry["expected"], entry["std"]))
    sets = {rs.system: rs for rs in abc}
    for entry in reference["table2"]:
        at, how = (metric_of(entry), sets[entry["system"]]), {"scheme": SCHEME[entry["scheme"]]}
        moments = (f(*at, entry["m"], **how) for f in (sd.expected_mean, sd.std_of_mean))
        known = [entry[key] for key in ("exact", "expected", "std")]
        assert_close([sd.mean(*at), *moments], known)


@pytest.mark.parametrize("method", ["bv", "cls_nonneg", "cls"])
def test_correction_vectors(reference: Entries, method: str) -> None:
    for entry in reference["corrections"]:
        if entry["method"] != method:
            continue
        metric, sampling = metric_of(entry), sampling_of(entry)
        true = np.array(entry["vector"], float)
        recipe = sd.correction("monotone", nonnegative=method == "cls_nonneg")
        if method == "bv":
            recipe = sd.correction("bias-variance", gamma=float(entry["gamma"]))
        fit = recipe.fit(metric, sampling)
        if recipe.gamma != 0:
            assert np.abs(fit.values - true).max() <= 1e-8 * np.abs(true).max(), entry
            continue
        # If γ = 0, dropping small singular values may change the vector, but not how well it fits.
        rank = np.arange(1, entry["n"] + 1)
        means = np.array([fit.expected(rank), sampling.pmf(rank) @ true])
        off, least = np.sqrt(np.mean((means - metric(rank, entry["n"])) ** 2, axis=1))
        assert off <= 1e-6 + least
