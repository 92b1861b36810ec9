"""A sample of the hostile files, and a second reader; ``tests.benchmarks.hostile`` reads all."""

from __future__ import annotations

import io

import numpy as np
import pytest

from sampledash.readers import ReadError, read_rank_sets, read_sampled_ranks
from tests import hostile
from tests.benchmarks.hostile import judged

CASES = [case for case in hostile.corpus() if not case.large]
KINDS = sorted({case.kind for case in CASES})
EACH = 6  # of a kind


def test_the_corpus_is_as_large_as_it_says():
    assert len(CASES) >= 300
    assert len(KINDS) >= 20


@pytest.mark.parametrize("kind", KINDS)
def test_hostile_files_end_in_a_sentence_or_a_right_result(kind):
    of_kind = [case for case in CASES if case.kind == kind]
    for case in of_kind[:: max(1, len(of_kind) // EACH)]:
        wrong, _, _ = judged(case, case.data)
        assert not wrong, (case.kind, case.number, case.data[:200])


@pytest.mark.parametrize("form", ["long", "counts", "wide", "sampled"])
@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_what_both_readers_accept_is_equal(form, mark):
    rng = np.random.default_rng([len(form), ord(mark)])
    both = 0
    for i in range(60):
        if form == "wide":
            data = hostile.wide_csv(rng, mark)
        else:
            data = hostile.long_csv(rng, mark, counts=form == "counts", sampled=form == "sampled")
        if i % 4:
            data = hostile.mutated(rng, data)
        try:
            if form == "sampled":
                found = read_sampled_ranks(io.BytesIO(data), name="x.csv")
            else:
                found = read_rank_sets(io.BytesIO(data), name="x.csv", instances="any")
        except ReadError:
            continue
        assert hostile.compared(data, found, "x") == "", data
        both += hostile.accepted(data, "x")
    assert both >= 20


def test_the_second_reader_notices_a_difference():
    data = b"system,rank,n,count\nA,3,9,0.1\n"
    found = read_rank_sets(io.BytesIO(data), name="x.csv")
    assert hostile.compared(data, found, "x") == ""
    for old, new in ((b"3,9", b"4,9"), (b"3,9", b"3,8"), (b"0.1", b"0.2"), (b"A", b"B")):
        assert hostile.compared(data.replace(old, new), found, "x")
