"""Files of sampled ranks: what they say of n and m, and what they cannot be."""

from __future__ import annotations

import gzip
import io
import pickle

import numpy as np
import pytest

import sampledash as sd
from sampledash.readers import (
    MissingCandidates,
    MissingNegatives,
    NoRankColumn,
    ReadError,
    ZeroBasedRanks,
    lacks,
    open_sources,
    open_text,
    sampled_sets,
)
from sampledash.readers import read_sampled_ranks as read
from tests.readers.reading import refused

LONG = b"system,user,sampled_rank,n_candidates,m\nX,u1,1,900,5\nX,u2,6,1000,5\nY,u1,3,900,5\n"


def given(text: bytes, **options: object) -> list[sd.SampledRankSet]:
    file = io.BytesIO(text)
    file.name = "s.csv"
    return read(file, **options)


def test_long_file_with_its_own_n_and_m() -> None:
    x, y = given(LONG)
    assert (x.system, y.system) == ("X", "Y")
    assert x.sampled_ranks.tolist() == [1, 6]
    assert x.n.tolist() == [900, 1000]
    assert x.m.tolist() == [5, 5]
    assert x.population == 950
    assert list(x.instances) == ["u1", "u2"]
    assert x.scheme == "with-replacement"
    (x,) = given(b"system,rank\nX,1\nX,100\n", n=3706, m=99, scheme="without-replacement")
    assert (x.population, x.outcomes.m, x.scheme) == (3706, (99,), "without-replacement")
    (x,) = given(b"system,sampled_rank,m\nX,1,9\nX,15,99\nX,2,9\n", n=500)
    assert (x.outcomes.m, [c.sum() for c in x.outcomes.counts]) == ((9, 99), [2, 1])


def test_wide_counts_and_packed_files() -> None:
    x, m = given(b"X,m\n1,2\n3,100\n", n=500, m=99)  # one column per system: m is one
    assert (x.system, m.system) == ("X", "m")
    assert m.sampled_ranks.tolist() == [2, 100]
    counted = b"system,sampled_rank,count\nX,1,2.5\nX,4,0\nX,7,1\n"
    (x,) = read(io.BytesIO(gzip.compress(counted)), name="s.csv.gz", n=50, m=9)
    assert x.counts.tolist() == [2.5, 1]
    assert x.outcomes.counts[0].tolist() == [2.5, 0, 0, 0, 0, 0, 1, 0, 0, 0]


def test_a_million_rows_by_the_fast_parser_as_by_the_careful_one() -> None:
    rng = np.random.default_rng(3)
    ranks = rng.integers(1, 101, 120_000)
    text = "system,sampled_rank,m,n\n" + "".join(f"X,{r},99,3706\n" for r in ranks)
    assert len(text) > 2**20
    (x,) = given(text.encode())
    assert np.array_equal(x.sampled_ranks, ranks)
    assert (set(x.m), set(x.n)) == ({99}, {3706})


RANKED = "system,sampled_rank\n"
WRONG = {
    RANKED + "X,3\nX,-1\n": "s.csv, line 3 … -1 … below 1",
    RANKED + "X,3\nX,0\n": "line 3 … add 1",
    "system,rank\nX,3\nX,2500\n": "s.csv, line 3 … 2,500 … m + 1 = 100 … true ranks … Consistency",
    RANKED + "X,0.5\n": "line 2 … 0.5 … whole number",
    "system,sampled_rank,count\nX,1,-2\n": "line 2 … -2 … below 0",
}


@pytest.mark.parametrize("text", WRONG)
def test_wrong_sampled_ranks_are_named(text: str) -> None:
    kind = ZeroBasedRanks if ",0\n" in text else ReadError
    refused(lambda: given(text.encode(), n=3000, m=99), WRONG[text], kind)


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


@pytest.mark.parametrize(
    "text",
    [
        "m = 100\nn = 3706\nA: 1, 1, 7",
        "m=100, n=3,706\nA: 1 1 7",
        "# m: 100\n# n: 3706\nsystem,sampled_rank\nA,1\nA,1\nA,7",
        "# negatives = 100, n_items: 3706; A: 1, 1, 7",
        "n = 3706\nsystem,sampled_rank,m\nA,1,100\nA,1,100\nA,7,100",
    ],
)
def test_pasted_text_says_n_and_m_of_all(text: str) -> None:
    opened = open_text(text)
    (a,) = sampled_sets(opened)
    assert lacks(opened) == (False, False)
    assert (a.system, a.sampled_ranks.tolist()) == ("A", [1, 1, 7])
    assert (set(a.n), set(a.m)) == ({3706}, {100})


def test_systems_called_m_or_n_keep_their_ranks() -> None:
    m, n = sampled_sets(open_text("m: 1 7\nn: 2, 3\nm = 9; n = 50"))
    assert (m.system, m.sampled_ranks.tolist()) == ("m", [1, 7])
    assert (n.system, n.sampled_ranks.tolist()) == ("n", [2, 3])
    assert (set(n.n), set(n.m)) == ({50}, {9})


UNCLEAR = {
    "m: 100\nA: 1 7": "'m: 100' … write m = 100 if it is the number of sampled negatives … another "
    "name",
    "n = 50: 1 7": "'n = 50: 1 7' … give n a line of its own",
    "# hello\nA: 1 7": "'# hello' … may say n = 3706 and m = 100",
    "m = many; A: 1": "says m = many … whole number from 1",
    "m = 0; A: 1": "says m = 0 … whole number from 1",
    "m = 9; m = 10; A: 1": "m twice, 9 and 10",
    "m = 3\nn = 9\nsystem,sampled_rank,m\nA,1,3\nA,7,9": "line 5, column 'm' … "
    "9 differs from m = 3",
}


@pytest.mark.parametrize("text", UNCLEAR)
def test_unclear_n_and_m_of_all_get_one_sentence(text: str) -> None:
    refused(lambda: open_text(text), f"pasted text … {UNCLEAR[text]}")


def test_m_said_of_true_ranks_is_told_to_be_unused() -> None:
    reading = open_text("m = 100; n = 3706; A: 3, 250").read()
    assert reading.sets[0].ranks.tolist() == [3, 250]
    assert any("m = 100 is not used" in doubt for doubt in reading.summary.doubts)


@pytest.mark.parametrize("header", ["true_rank", "Best Rank", "worst_rank"])
@pytest.mark.parametrize("form", ["system,{}\nX,3\n", "user,{}\nu,3\n", "{}\n3\n"])
def test_true_ranks_by_their_name_are_refused(header: str, form: str) -> None:
    if header == "worst_rank" and form.startswith("system"):
        form = "{}\n3\n"  # no column of ranks is called so: it is one of a system
    facts = f"s.csv … column {header!r} … Consistency page … rename the column to sampled"
    refused(lambda: given(form.format(header).encode(), n=3000, m=99), facts)
    with pytest.raises(ReadError, match="these are true ranks by their name"):
        sampled_sets(open_text(form.format(header)), n=3000, m=99)


def test_a_file_without_ranks_is_told_what_columns_sampled_ones_need() -> None:
    facts = "s.csv has no column of sampled ranks … Write columns system,sampled_rank … "
    facts += "'system', 'score' … rank, ranks, position"
    said = refused(lambda: given(b"system,score\nX,0.5\n", n=9, m=3), facts)
    assert "true_rank" not in said
    assert "best_rank" not in said
    with pytest.raises(ReadError, match=r"add a header line such as system,sampled_rank$"):
        given(b"1,2,3\nX,0,43\n", n=9, m=3)
    with pytest.raises(NoRankColumn) as unread:  # what a page opens it shows in its own words
        open_sources(io.BytesIO(b"system,score\nX,0.5\n"), name="s.csv")
    assert unread.value.sampled == said
    again = pickle.loads(pickle.dumps(unread.value))
    assert (str(again), again.sampled) == (str(unread.value), unread.value.sampled)


BELOW = "m must be at least 1, got"
MOST = "n must be at most 1,000,000,000,000, got 10,000,000,000,000"
NUMBERS = {
    "X,1,900,0": f"line 3, column 'm' … {BELOW} 0",
    "X,1,900,-5": f"line 3, column 'm' … {BELOW} -5 … correct it",
    "X,1,1,5": "line 3, column 'n_candidates' … n must be at least 2, got 1",
    "X,7,900,3": "line 3 … m + 1 = 4",
    "X,1,1e13,5": f"line 3, column 'n_candidates' … {MOST}",
}


@pytest.mark.parametrize("row", NUMBERS)
def test_n_and_m_that_cannot_be_are_named_by_their_line(row: str) -> None:
    text = f"system,sampled_rank,n_candidates,m\nX,1,900,5\n{row}\n"
    refused(lambda: given(text.encode()), NUMBERS[row])
    refused(lambda: sampled_sets(open_text(text)), NUMBERS[row])


def test_no_n_beyond_the_largest_is_taken() -> None:
    text = b"system,rank,n\nX,1,900\nX,2,1e13\n"
    with pytest.raises(ReadError, match=r"line 3, column 'n': n must be at most 1,000,0"):
        sd.read_rank_sets(io.BytesIO(text), name="s.csv")
    with pytest.raises(ReadError, match="whole number from 2 to 1,000,000,000,000"):
        open_text("n = 9,000,000,000,000; A: 1")
    with pytest.raises(ValueError, match="n must be at most"):
        given(b"system,sampled_rank\nX,1\n", n=10**13, m=9)


def test_files_of_one_name_are_told_apart() -> None:
    text = b"system,sampled_rank\nA,1\n"
    others = [io.BytesIO(text) for _ in range(3)]
    sets = read(others, name=["tiny.csv", "tiny.csv", "b.csv"], n=50, m=9)
    assert [one.system for one in sets] == ["A", "A (tiny.csv, 2nd)", "A (b.csv)"]


ADAPTIVE = "system,sampled_rank,n,m,adaptive\nA,1,100,20,{}\nA,4,100,10,{}\n"


@pytest.mark.parametrize(("cell", "said"), [("yes", True), ("No", False), ("TRUE", True)])
def test_a_column_says_whether_the_draw_decided_m(cell, said):
    text = ADAPTIVE.format(cell, cell).encode()
    (one,) = given(text)
    assert (one.adaptive, one.is_adaptive) == (said, said)
    (other,) = given(text, adaptive=not said)
    assert other.is_adaptive is not said


SAYS_NOT = {
    "maybe": "line 3 … adaptive … 'maybe' is not yes or no",
    "no": "line 3 … adaptive … system 'A' is said to be adaptive and not to be",
    "": "line 3 … adaptive",
}


@pytest.mark.parametrize("second", SAYS_NOT)
def test_a_column_that_does_not_say_it(second):
    refused(lambda: given(ADAPTIVE.format("yes", second).encode()), SAYS_NOT[second])


def test_a_system_or_a_true_rank_may_be_called_adaptive():
    wide = b"instance,adaptive,B\nu1,3,4\nu2,1,2\n"
    assert [one.system for one in given(wide, n=100, m=20)] == ["adaptive", "B"]
    long = b"system,rank,n,adaptive\nA,3,100,perhaps\n"
    assert len(sd.read_rank_sets(io.BytesIO(long))) == 1
