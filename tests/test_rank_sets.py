"""Rank sets are values: immutable, told apart by their contents, reduced to counts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sampledash as sd
from tests.oracles import UNIFORM, WITHOUT

TRUE = {
    "system": "S", "ranks": [3, 1], "n": [9, 8], "instances": ["a", "b"], "ties": [0, 1],
    "mass_above": [0.5, 0.0], "counts": [1, 2],
}  # fmt: skip
SAMPLED = {
    "system": "S", "sampled_ranks": [1, 2], "n": [50, 50], "m": [10, 10], "instances": ["u", "v"],
    "counts": [1, 1],
}  # fmt: skip


@pytest.mark.parametrize(("kind", "given_"), [(sd.RankSet, TRUE), (sd.SampledRankSet, SAMPLED)])
def test_arrays_are_copied_and_read_only(kind, given_) -> None:
    columns = {name: np.array(value) for name, value in given_.items() if name != "system"}
    one = kind(given_["system"], **columns)
    for name, array in columns.items():
        array[0] = array[1]
        with pytest.raises(ValueError, match="read-only"):
            getattr(one, name)[0] = getattr(one, name)[1]
        assert getattr(one, name).tolist() == given_[name]
    with pytest.raises(AttributeError):
        one.system = "T"
    assert one.digest == kind(**given_).digest


@pytest.mark.parametrize(
    ("kind", "given_", "changes"),
    [
        (
            sd.RankSet,
            TRUE,
            {
                "system": "T",
                "ranks": [3, 2],
                "n": [10, 8],
                "instances": ["a", "c"],
                "ties": [1, 0],
                "mass_above": None,
                "counts": [2, 1],
            },
        ),
        (
            sd.SampledRankSet,
            SAMPLED,
            {
                "system": "T",
                "sampled_ranks": [2, 1],
                "n": 51,
                "m": 11,
                "instances": None,
                "counts": [1, 2],
                "scheme": "with-replacement",
                "adaptive": False,
            },
        ),
        # Labels that join alike, and numbers beside their texts.
        (sd.RankSet, TRUE | {"instances": ["a\nb", "c"]}, {"instances": ["a", "b\nc"]}),
        (sd.RankSet, TRUE | {"instances": [1, 2]}, {"instances": ["1", "2"]}),
    ],
)
def test_contents_tell_them_apart(kind, given_, changes) -> None:
    one = kind(**given_)
    same = kind(**{k: np.array(v) if isinstance(v, list) else v for k, v in given_.items()})
    assert one == same
    assert (hash(one), one.digest) == (hash(same), same.digest)
    assert one != "S"
    others = [kind(**given_ | {name: value}) for name, value in changes.items()]
    assert len({one.digest, *(other.digest for other in others)}) == 1 + len(others)
    assert one not in others
    assert len(one.digest) == 64


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
    result = []
    for metric in ("AUC", "Recall@3", "AP", "NDCG@5"):
        result.append(sd.mean(metric, rs))
        for scheme in UNIFORM:
            result.append(sd.expected_mean(metric, rs, 4, scheme=scheme, **options))
            if not (rs.has_ties and rs.max_relevant > 1):
                result.append(sd.std_of_mean(metric, rs, 4, scheme=scheme))
    return result


@settings(max_examples=10)
@given(st.permutations(range(5)), st.sampled_from([None, "BV 0.1"]))
def test_the_order_of_rows_does_not_matter(order: list[int], correction: str | None) -> None:
    rs, p = several(), np.array(order)
    other = sd.RankSet(
        "S", rs.ranks[p], rs.n[p], instances=rs.instances[p], ties=rs.ties[p], counts=rs.counts[p]
    )
    same = pytest.approx(numbers(rs, correction=correction), rel=1e-13)
    assert numbers(other, correction=correction) == same


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
    weights = sd.RankSet("S", [1, 3], 9, counts=[0.5, 1.5])
    assert sd.mean("AP", weights) == pytest.approx((0.5 * 1 + 1.5 / 3) / 2)


def test_shape_facts() -> None:
    rs = several()
    assert (len(rs), rs.n_instances, rs.max_relevant, rs.has_ties) == (5, 6, 3, True)
    assert rs.max_negatives == 11
    assert "6 instances" in repr(rs)
    plain = sd.RankSet("P", [5, 6], 10)
    assert (plain.instances.tolist(), plain.n.tolist()) == ([0, 1], [10, 10])
    assert (plain.mass_above, plain.has_ties) == (None, False)


@pytest.mark.parametrize("labels", [[1, 1, 2], ["x", "x", "y"], [1.5, 1.5, 2.5]])
def test_labels_of_any_kind_group_rows(labels: list[object]) -> None:
    rs = sd.RankSet("S", [2, 4, 3], 8, instances=labels)
    # AP of {2, 4}: (1/2 + 2/4) / 2; of {3}: 1/3.
    assert sd.mean("AP", rs) == pytest.approx((0.5 + 1 / 3) / 2)


def test_one_number_for_all_sampled_ranks() -> None:
    srs = sd.SampledRankSet("X", [1, 3, 3, 11], n=50, m=10)
    assert (len(srs), srs.n_instances, srs.population, srs.instances) == (4, 4, 50, None)
    (counts,) = srs.outcomes.counts
    assert counts.tolist() == [1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1]
    with pytest.raises(ValueError, match="read-only"):
        counts[0] = 1
    assert srs.outcomes.samplings == (sd.Sampling(50, 10, "without-replacement"),)
    assert repr(srs) == "SampledRankSet('X', 4 instances, n = 50, m = 10)"


@given(
    st.lists(
        st.tuples(st.integers(1, 10), st.sampled_from([1, 4, 9]), st.sampled_from([0.0, 0.5, 2.0])),
        min_size=1,
        max_size=20,
    ).filter(lambda rows: any(w for *_, w in rows))
)
def test_outcomes_hold_every_weight_once(rows: list[tuple[int, int, float]]) -> None:
    rows = [(min(t, m + 1), m, w) for t, m, w in rows]
    ranks, m, weights = zip(*rows, strict=True)
    srs = sd.SampledRankSet("X", ranks, 30, m, counts=weights)
    assert srs.outcomes.m == tuple(sorted({x for _, x, w in rows if w}))
    for size, counts in zip(srs.outcomes.m, srs.outcomes.counts, strict=True):
        by_hand = [sum(w for *row, w in rows if row == [t, size]) for t in range(1, size + 2)]
        assert counts.tolist() == by_hand
    assert srs.n_instances == sum(weights)


@pytest.mark.parametrize(
    ("n", "m", "counts", "population"),
    [([10, 20, 31], 5, [1, 1, 2], 23), ([10, 11], 5, None, 11)],  # (10 + 20 + 62) / 4; 10.5
)
def test_own_n_is_averaged_by_weight(n, m, counts, population) -> None:
    srs = sd.SampledRankSet("X", [1] * len(n), n=n, m=m, counts=counts)
    assert srs.population == population


def test_without_replacement_the_population_holds_the_negatives() -> None:
    srs = sd.SampledRankSet("X", [1, 1, 1], n=[5, 5, 30], m=[4, 4, 20], scheme=WITHOUT)
    assert srs.population == 13
    # One population for all of them, as estimates take it.
    assert [s.n for s in srs.outcomes.samplings] == [21, 21]


def test_ranks_without_their_sampling_weights_are_those_of_a_uniform_scheme() -> None:
    known = sd.RankSet("M", [1, 5, 10], 10, mass_above=[0, 0.9, 1 - 1e-9], counts=[1, 2, 1])
    plain = known.without_mass()
    assert plain == sd.RankSet("M", [1, 5, 10], 10, counts=[1, 2, 1])
    assert plain.without_mass() is plain
    # What weighs nothing may lie above, or below.
    sd.RankSet("M", [2, 9], 10, mass_above=[0, 1])
    # A rank that is only known to lie beyond 9 may be 10 or more.
    listed = sd.RankSet("L", [10], 12, beyond=[True], mass_above=[0.7])
    assert listed.without_mass() == sd.RankSet("L", [10], 12, beyond=[True])
