"""Files of sampled ranks: what they say of n and m, and what they cannot be."""

from __future__ import annotations

import gzip
import io

import numpy as np
import pytest

import sampledash as sd
from sampledash.readers import MissingCandidates, MissingNegatives, ReadError, ZeroBasedRanks
from sampledash.readers import read_sampled_ranks as read

LONG = b"system,user,sampled_rank,n_candidates,m\nX,u1,1,900,5\nX,u2,6,1000,5\nY,u1,3,900,5\n"


def given(text: bytes, **options: object) -> list[sd.SampledRankSet]:
    file = io.BytesIO(text)
    file.name = "s.csv"
    return read(file, **options)  # type: ignore[arg-type]


def test_long_file_with_its_own_n_and_m() -> None:
    x, y = given(LONG)
    assert (x.system, y.system) == ("X", "Y")
    assert x.sampled_ranks.tolist() == [1, 6]
    assert x.n.tolist() == [900, 1000]
    assert x.m.tolist() == [5, 5]
    assert x.population == 950
    assert list(x.instances) == ["u1", "u2"]  # type: ignore[arg-type]
    assert x.scheme == "with-replacement"


def test_one_n_and_m_for_a_file_that_says_neither() -> None:
    (x,) = given(b"system,rank\nX,1\nX,100\n", n=3706, m=99, scheme="without-replacement")
    assert (x.population, [d.m for d in x.draws], x.scheme) == (3706, [99], "without-replacement")


def test_wide_counts_and_packed_files() -> None:
    x, m = given(b"X,m\n1,2\n3,100\n", n=500, m=99)  # one column per system: m is one
    assert (x.system, m.system) == ("X", "m")
    assert m.sampled_ranks.tolist() == [2, 100]
    counted = b"system,sampled_rank,count\nX,1,2.5\nX,4,0\nX,7,1\n"
    (x,) = read(io.BytesIO(gzip.compress(counted)), name="s.csv.gz", n=50, m=9)
    assert x.counts.tolist() == [2.5, 1]
    assert x.draws[0].counts.tolist() == [2.5, 0, 0, 0, 0, 0, 1, 0, 0, 0]


def test_different_m_in_one_file() -> None:
    (x,) = given(b"system,sampled_rank,m\nX,1,9\nX,15,99\nX,2,9\n", n=500)
    assert [(d.m, d.counts.sum()) for d in x.draws] == [(9, 2), (99, 1)]


def test_a_million_rows_by_the_fast_parser_as_by_the_careful_one() -> None:
    rng = np.random.default_rng(3)
    ranks = rng.integers(1, 101, 120_000)
    text = "system,sampled_rank,m,n\n" + "".join(f"X,{r},99,3706\n" for r in ranks)
    assert len(text) > 2**20
    (x,) = given(text.encode())
    assert np.array_equal(x.sampled_ranks, ranks)
    assert (set(x.m), set(x.n)) == ({99}, {3706})


WRONG = {
    "low": (b"system,sampled_rank\nX,3\nX,-1\n", ReadError, ["s.csv, line 3", "-1", "below 1"]),
    "zero": (b"system,sampled_rank\nX,3\nX,0\n", ZeroBasedRanks, ["line 3", "add 1"]),
    "true": (b"system,rank\nX,3\nX,2500\n", ReadError,
             ["s.csv, line 3", "2,500", "m + 1 = 100", "true ranks", "Consistency"]),
    "half": (b"system,sampled_rank\nX,0.5\n", ReadError, ["line 2", "0.5", "whole number"]),
    "minus": (b"system,sampled_rank,count\nX,1,-2\n", ReadError, ["line 2", "-2", "below 0"]),
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG)
def test_wrong_sampled_ranks_are_named(name: str) -> None:
    text, kind, facts = WRONG[name]
    with pytest.raises(kind) as error:
        given(text, n=3000, m=99)
    for fact in facts:
        assert fact in str(error.value)


def test_ranks_from_0_can_be_shifted() -> None:
    (x,) = given(b"system,sampled_rank\nX,0\nX,99\n", n=3000, m=99, zero_based=True)
    assert x.sampled_ranks.tolist() == [1, 100]


def test_missing_and_contradictory_n_and_m() -> None:
    text = b"system,sampled_rank\nX,3\n"
    with pytest.raises(MissingCandidates, match="does not say n, the number of candidates"):
        given(text, m=99)
    with pytest.raises(MissingNegatives, match="does not say m, the number of sampled negatives"):
        given(text, n=99)
    with pytest.raises(ReadError, match="line 2, column 'm': the file says m = 5, but m = 99"):
        given(LONG, m=99)
    with pytest.raises(ReadError, match="the file says n = 900, but n = 99 is given"):
        given(LONG, n=99)
    with pytest.raises(ValueError, match="n = 50 leaves 49 negatives"):
        given(text, n=50, m=99, scheme="without-replacement")
    with pytest.raises(ValueError, match="only uniformly drawn negatives can be corrected"):
        given(text, n=50, m=9, scheme="popularity")


def test_true_and_sampled_ranks_are_not_taken_for_each_other() -> None:
    with pytest.raises(ReadError, match=r"s.csv holds sampled ranks.*read_sampled_ranks"):
        sd.read_rank_sets(io.BytesIO(LONG), name="s.csv")
    run = b"q1 Q0 d1 1 0.9 tag\n"
    qrels = b"q1 0 d1 1\n"
    with pytest.raises(ReadError, match="is a TREC run, which ranks whole lists"):
        read([io.BytesIO(run), io.BytesIO(qrels)], name=["a.run", "a.qrels"], n=9, m=3)
