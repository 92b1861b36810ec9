"""Sampled ranks of a system: what is kept, what is reduced, and every complaint."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sampledash as sd
from sampledash.sampledranks import SampledRankSet
from tests.oracles import WITH, WITHOUT


def test_reads_one_number_for_all() -> None:
    given_ = np.array([1, 3, 3, 11])
    srs = SampledRankSet("X", given_, n=50, m=10)
    assert len(srs) == 4
    assert srs.system == "X"
    assert srs.n_instances == 4
    assert srs.population == 50
    assert srs.scheme == WITH
    assert srs.instances is None
    (counts,) = srs.outcomes.counts
    assert counts.tolist() == [1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1]
    assert srs.outcomes.samplings == (sd.Sampling(50, 10, WITH),)
    given_[0] = 5
    assert srs.sampled_ranks[0] == 1  # a copy
    for array in (srs.sampled_ranks, srs.n, srs.m, srs.counts, counts):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    assert repr(srs) == "SampledRankSet('X', 4 instances, n = 50, m = 10)"


@given(data=st.data())
def test_outcomes_hold_every_weight_once(data: st.DataObject) -> None:
    rows = data.draw(st.integers(1, 20))
    m = data.draw(st.lists(st.sampled_from([1, 4, 9]), min_size=rows, max_size=rows))
    ranks = [data.draw(st.integers(1, x + 1)) for x in m]
    weights = data.draw(
        st.lists(st.sampled_from([0.0, 0.5, 2.0]), min_size=rows, max_size=rows).filter(any)
    )
    srs = SampledRankSet("X", ranks, 30, m, counts=weights)
    rows_given = list(zip(ranks, m, weights, strict=True))
    assert srs.outcomes.m == tuple(sorted({x for _, x, w in rows_given if w}))
    for size, counts in zip(srs.outcomes.m, srs.outcomes.counts, strict=True):
        by_hand = [
            sum(w for r, x, w in rows_given if (r, x) == (s + 1, size)) for s in range(size + 1)
        ]
        assert counts.tolist() == by_hand
    assert srs.n_instances == sum(weights)


def test_own_n_is_averaged_by_weight() -> None:
    srs = SampledRankSet("X", [1, 2, 3], n=[10, 20, 31], m=5, counts=[1, 1, 2])
    assert srs.population == 23  # (10 + 20 + 62) / 4
    half = SampledRankSet("X", [1, 1], n=[10, 11], m=5)
    assert half.population == 11  # 10.5 rounds up


def test_without_replacement_the_population_holds_the_negatives() -> None:
    srs = SampledRankSet("X", [1, 1, 1], n=[5, 5, 30], m=[4, 4, 20], scheme=WITHOUT)
    assert srs.population == 13
    # One population for all of them, as estimates take it.
    assert [s.n for s in srs.outcomes.samplings] == [21, 21]


def test_equality_goes_by_content() -> None:
    base = {"system": "X", "sampled_ranks": [1, 2], "n": 50, "m": 10, "instances": ["u", "v"]}
    a = SampledRankSet(**base)
    again = {**base, "sampled_ranks": np.array([1.0, 2.0]), "n": [50, 50], "m": [10, 10]}
    assert a == SampledRankSet(**again)
    assert hash(a) == hash(SampledRankSet(**base))
    changes = [{"system": "Y"}, {"sampled_ranks": [2, 1]}, {"n": 51}, {"m": 11}]
    changes += [{"instances": ["u", "w"]}, {"instances": None}]
    changes += [{"scheme": WITHOUT}, {"counts": [1, 2]}]
    others = [SampledRankSet(**base | change) for change in changes]
    assert len({a.digest, *(o.digest for o in others)}) == 1 + len(others)
    assert a != "X"
