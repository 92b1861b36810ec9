"""Typed and pasted text."""

from __future__ import annotations

import pytest

from sampledash.readers import (
    DifferentInstances,
    MissingCandidates,
    ReadError,
    ZeroBasedRanks,
    example,
    parse_rank_text,
    read_rank_sets,
)

# Table 1 of Krichene & Rendle (KDD 2020).
TABLE_1 = {
    "A": [100, 100, 100, 100, 100],
    "B": [40, 40, 8437, 9266, 4482],
    "C": [212, 2, 743, 5342, 1548],
}


@pytest.mark.parametrize(
    "text",
    [
        "A: 100, 100, 100, 100, 100; B: 40 40 8437 9266 4482; C: 212,2,743,5342,1548; n = 10000",
        "n = 10,000\nA: 100 100 100 100 100\nB: 40, 40, 8437, 9266, 4482\n\n"
        "C: 212 2 743 5342 1548\n",
        "A:100 100 100 100 100;\r\nB:40,40,8437,9266,4482,\r\n"
        "C:212\t2\t743\t5342\t1548\r\nN=10_000",
        "A,B,C\n100,40,212\n100,40,2\n100,8437,743\n100,9266,5342\n100,4482,1548\nn = 10 000",
        "n = 10000\nA\tB\tC\n100\t40\t212\n100\t40\t2\n100\t8437\t743\n"
        "100\t9266\t5342\n100\t4482\t1548",
        "system,rank,n\n"
        + "\n".join(f"{s},{r},10000" for s, ranks in TABLE_1.items() for r in ranks),
    ],
)
def test_table_1_in_many_spellings(text):
    sets = parse_rank_text(text)
    assert {s.system: s.ranks.tolist() for s in sets} == TABLE_1
    assert all(s.n.tolist() == [10_000] * 5 for s in sets)
    assert all(s.instances.tolist() == [1, 2, 3, 4, 5] for s in sets)
    assert sets == example("paper-abc")


@pytest.mark.parametrize("text", ["3 17 250", "3, 17, 250", "3\n17\n250\n", "3;17;250"])
def test_bare_ranks(text):
    (ranks,) = parse_rank_text(text, n=300)
    assert (ranks.system, ranks.ranks.tolist()) == ("ranks", [3, 17, 250])


def test_names_may_hold_almost_anything():
    sets = parse_rank_text("BPR: k=8, reg: 3 4\nNA: 5 6", n=9)
    assert [s.system for s in sets] == ["BPR: k=8, reg", "NA"]


def test_n_in_the_text_wins():
    assert parse_rank_text("A: 3; n = 9", n=500)[0].n.tolist() == [9]


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("A: 1 x 3", ["system 'A', value 2", "'x' is not a number", "from 1"]),
        ("A: 1; B: 2.5", ["system 'B', value 1", "'2.5' is not a whole number"]),
        ("A: 3 NaN", ["system 'A', value 2", "'NaN'"]),
        ("A: 3 -4", ["system 'A', value 2", "-4", "below 1"]),
        ("A: 3 12; n = 9", ["system 'A', value 2", "rank 12", "n = 9", "larger n"]),
        ("A: 10,000", ["system 'A', value 2", "'000'", "without separators"]),
        ("A: 99999999999999999999", ["system 'A', value 1"]),
        ("A: 1; A: 2", ["system 'A' twice"]),
        ("A:", ["no ranks for system 'A'"]),
        ("A 3 4", ["'A 3 4'", "NAME: ranks"]),
        ("A: 3\n4 5", ["'4 5'", "NAME: ranks"]),
        ("3 4\n5 6", ["'3 4'", "NAME: ranks"]),
        ("", ["no ranks", "A: 3, 17, 250"]),
        (" ; \n", ["no ranks"]),
        ("n = 9", ["no ranks"]),
        ("A: 3; n = many", ["n = many", "whole number from 2"]),
        ("A: 3; n = 1", ["n = 1", "whole number from 2"]),
        ("A: 3; n = 8; n = 9", ["n twice, 8 and 9"]),
        ("system,rank\nA,x", ["line 2, column 'rank'", "'x'"]),
        ("system,rank", ["header line but no rows"]),
    ],
)
def test_wrong_text(text, facts):
    with pytest.raises(ReadError) as info:
        parse_rank_text(text)
    for fact in ["pasted text", *facts]:
        assert fact in str(info.value)


def test_line_numbers_of_a_pasted_table_count_the_line_with_n():
    with pytest.raises(ReadError, match="line 4, column 'rank': rank 12"):
        parse_rank_text("n = 9\nsystem,rank\nA,3\nA,12\n")


def test_missing_n():
    with pytest.raises(MissingCandidates, match="n = 10000") as info:
        parse_rank_text("A: 3 77")
    assert info.value.largest_rank == 77


def test_different_lengths():
    with pytest.raises(DifferentInstances, match=r"'A' has 3 ranks and 'B' has 2"):
        parse_rank_text("A: 1 2 3; B: 4 5", n=9)
    sets = parse_rank_text("A: 1 2 3; B: 4 5", n=9, instances="any")
    assert [len(s) for s in sets] == [3, 2]


def test_zero_based():
    with pytest.raises(ZeroBasedRanks, match="system 'A', value 2"):
        parse_rank_text("A: 3 0", n=9)
    assert parse_rank_text("A: 3 0", n=9, zero_based=True)[0].ranks.tolist() == [4, 1]


def test_pasted_table_reads_as_the_file(tmp_path):
    text = "user;n;A;B\n7;9;1;2\n8;9;3;4\n"
    path = tmp_path / "ranks.csv"
    path.write_text(text)
    assert parse_rank_text(text) == read_rank_sets(path)
