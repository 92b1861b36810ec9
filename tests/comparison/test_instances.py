"""Values of single instances, and how systems pair up."""

from __future__ import annotations

from typing import Any

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
from tests.comparison.test_enumeration import Instance, most, rank_set, tied_instances
from tests.oracles import METRICS, POPULARITY, SCHEMES, WITH, WITHOUT


def _moments(metrics: list[sd.Metric], *how: Any) -> np.ndarray:
    return np.swapaxes([instance_moments(metric, *how) for metric in metrics], 0, 1)


@pytest.mark.parametrize("scheme", SCHEMES)
@settings(max_examples=15)
@given(case=tied_instances(), data=st.data())
def test_each_instance_is_a_rank_set_of_its_own(
    scheme: str, case: tuple[list[Instance], list[list[int]]], data: st.DataObject
) -> None:
    rows, ties = case
    options = {"scheme": scheme}
    if scheme == POPULARITY:  # odds hold for one relevant item
        rows, ties = [(n, ranks[:1]) for n, ranks in rows], [tied[:1] for tied in ties]
        options["odds"] = 2.0
    m = data.draw(st.integers(1, most(rows, scheme if scheme == WITHOUT else WITH)))
    metrics = [sd.metric(name, k=k) for name, k in METRICS]
    together = rank_set(rows, ties=[t for tied in ties for t in tied])
    means, variances = _moments(metrics, together, m, Protocol.of(options))
    exact = [instance_values(metric, together, "expected") for metric in metrics]
    for u, ((n, ranks), tied) in enumerate(zip(rows, ties, strict=True)):
        alone = rank_set([(n, ranks)], ties=tied)
        drawn = min(m, n - len(ranks)) if scheme == WITHOUT else m
        for x, metric in enumerate(metrics):
            assert exact[x][u] == pytest.approx(sd.mean(metric, alone), abs=1e-13)
            mean = sd.expected_mean(metric, alone, drawn, **options)
            assert means[x, u] == pytest.approx(mean, abs=1e-12)
            std = sd.std_of_mean(metric, alone, drawn, **options)
            assert variances[x, u] == pytest.approx(std**2, abs=1e-12)


def test_sums_are_those_of_the_mean(xyz: list[sd.RankSet]) -> None:
    protocol = Protocol.of({"scheme": WITHOUT, "correction": "BV 0.1"})
    metrics = [sd.parse_metric(x) for x in ("NDCG@10", "AUC")]
    means, variances = _moments(metrics, xyz[0], 50, protocol)
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
        instance_moments(sd.metric("ap"), tied, 3, protocol)
    assert instance_moments(sd.metric("rr"), tied, 3, protocol)[0].shape == (2,)
    with pytest.raises(ValueError, match="m = 9 is too large"):
        instance_moments(
            sd.metric("ap"), sd.RankSet("P", [1], 9), 9, Protocol.of({"scheme": WITHOUT})
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
