"""Rank sets are values: immutable, told apart by their contents, reduced to counts."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sampledash as sd
from tests.oracles import WITH, WITHOUT


def several() -> sd.RankSet:
    return sd.RankSet(
        "S",
        [4, 2, 9, 1, 3],
        [10, 10, 12, 8, 10],
        instances=["u", "u", "v", "w", "u"],
        ties=[0, 0, 2, 3, 0],
        counts=[2, 2, 1, 3, 2],
    )


def numbers(rs: sd.RankSet, **options: object) -> list[float]:
    """What the comparison functions make of a rank set."""
    result = []
    for metric in ("AUC", "Recall@3", "AP", "NDCG@5"):
        result.append(sd.mean(metric, rs))
        for scheme in (WITH, WITHOUT):
            result.append(sd.expected_mean(metric, rs, 4, scheme=scheme, **options))
            if not (rs.has_ties and rs.max_relevant > 1):
                result.append(sd.std_of_mean(metric, rs, 4, scheme=scheme))
    return result


def test_arrays_are_copied_and_read_only() -> None:
    given_ = {
        "ranks": np.array([3, 1]),
        "n": np.array([9, 8]),
        "ties": np.array([1, 0]),
        "counts": np.array([1.0, 2.0]),
        "mass_above": np.array([0.2, 0.0]),
        "instances": np.array([7, 8]),
    }
    rs = sd.RankSet("S", given_.pop("ranks"), given_.pop("n"), **given_)
    before = rs.digest
    for array in given_.values():
        array += 5
    for name in ("ranks", "n", "ties", "counts", "mass_above", "instances"):
        array = getattr(rs, name)
        with pytest.raises(ValueError, match="read-only"):
            array[0] = array[1]
    with pytest.raises(AttributeError):
        rs.system = "T"
    assert rs.counts.tolist() == [1.0, 2.0]
    assert rs.instances.tolist() == [7, 8]
    assert (
        sd.RankSet(
            "S", [3, 1], [9, 8], ties=[1, 0], counts=[1, 2], mass_above=[0.2, 0], instances=[7, 8]
        ).digest
        == before
    )


def test_ranks_given_as_an_array_are_not_shared() -> None:
    ranks = np.array([3, 1])
    rs = sd.RankSet("S", ranks, 9)
    ranks[0] = 9
    assert rs.ranks.tolist() == [3, 1]


def test_digest_tells_every_field_apart() -> None:
    base: dict[str, object] = {
        "system": "S", "ranks": [3, 1], "n": 9, "instances": ["a", "b"], "ties": [0, 1],
        "mass_above": [0.5, 0.25], "counts": [1, 2],
    }  # fmt: skip
    changes: dict[str, object] = {
        "system": "T", "ranks": [3, 2], "n": 10, "instances": ["a", "c"], "ties": [1, 0],
        "mass_above": None, "counts": [2, 1],
    }  # fmt: skip
    digests = {sd.RankSet(**base).digest}
    for name, value in changes.items():
        digests.add(sd.RankSet(**{**base, name: value}).digest)
    assert len(digests) == 1 + len(changes)
    assert all(len(d) == hashlib.sha256().digest_size * 2 for d in digests)
    same = sd.RankSet(**base)
    assert same.digest in digests
    assert same == sd.RankSet(**base)
    assert hash(same) == hash(sd.RankSet(**base))
    assert same != "S"


def test_digest_separates_labels_that_join_alike() -> None:
    one = sd.RankSet("S", [1, 2], 9, instances=["a\nb", "c"])
    other = sd.RankSet("S", [1, 2], 9, instances=["a", "b\nc"])
    assert one.digest != other.digest
    assert sd.RankSet("S", [1, 2], 9, instances=[1, 2]) != sd.RankSet(
        "S", [1, 2], 9, instances=["1", "2"]
    )


@settings(max_examples=15)
@given(st.permutations(range(5)))
def test_the_order_of_rows_does_not_matter(order: list[int]) -> None:
    rs, p = several(), np.array(order)
    other = sd.RankSet(
        "S", rs.ranks[p], rs.n[p], instances=rs.instances[p], ties=rs.ties[p], counts=rs.counts[p]
    )
    assert numbers(other) == pytest.approx(numbers(rs), rel=1e-13)
    assert numbers(other, correction="BV 0.1") == pytest.approx(
        numbers(rs, correction="BV 0.1"), rel=1e-13
    )


@settings(max_examples=15)
@given(
    st.lists(
        st.tuples(st.integers(1, 20), st.integers(0, 3), st.integers(1, 4)), min_size=1, max_size=8
    )
)
def test_counts_are_repeated_rows(rows: list[tuple[int, int, int]]) -> None:
    ranks, ties, counts = zip(*rows, strict=True)
    short = sd.RankSet("S", ranks, 23, ties=ties, counts=counts)
    long = sd.RankSet("S", np.repeat(ranks, counts), 23, ties=np.repeat(ties, counts))
    assert short.n_instances == long.n_instances == sum(counts)
    assert numbers(short) == pytest.approx(numbers(long), rel=1e-12)


def test_counts_of_instances_with_several_items() -> None:
    short = sd.RankSet("S", [1, 4, 2], 9, instances=[0, 0, 1], counts=[3, 3, 1])
    long = sd.RankSet("S", [1, 4] * 3 + [2], 9, instances=[0, 0, 5, 5, 6, 6, 1])
    assert short.n_instances == long.n_instances == 4
    assert numbers(short) == pytest.approx(numbers(long), rel=1e-13)


def test_fractional_counts_weigh() -> None:
    rs = sd.RankSet("S", [1, 3], 9, counts=[0.5, 1.5])
    assert sd.mean("AP", rs) == pytest.approx((0.5 * 1 + 1.5 / 3) / 2)


def test_shape_facts() -> None:
    rs = several()
    assert (len(rs), rs.n_instances, rs.max_relevant, rs.has_ties) == (5, 6, 3, True)
    assert rs.max_negatives == 11
    assert rs.system == "S"
    assert "6 instances" in repr(rs)
    plain = sd.RankSet("P", [5, 6], 10)
    assert plain.instances.tolist() == [0, 1]
    assert plain.n.tolist() == [10, 10]
    assert plain.mass_above is None
    assert not plain.has_ties


def test_labels_of_any_kind_group_rows() -> None:
    for labels in ([1, 1, 2], ["x", "x", "y"], np.array([1.5, 1.5, 2.5])):
        rs = sd.RankSet("S", [2, 4, 3], 8, instances=labels)
        # AP of {2, 4}: (1/2 + 2/4) / 2; of {3}: 1/3.
        assert sd.mean("AP", rs) == pytest.approx((0.5 + 1 / 3) / 2)
