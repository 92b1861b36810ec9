"""Typed and pasted text; numbers are written with the digits 0 to 9 in whatever is read."""

from __future__ import annotations

import io

import pytest

from sampledash.dashboard import state
from sampledash.dashboard.correct.custom_prior import weights_of_text
from sampledash.metrics import parse_metric
from sampledash.readers import (
    DifferentInstances,
    MissingCandidates,
    ReadError,
    ZeroBasedRanks,
    example,
    parse_rank_text,
    read_printed,
    read_rank_sets,
)
from sampledash.readers.upload_limits import PRINTED, TYPED
from sampledash.sampling import parse_sampling
from tests.readers.reading import refused

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


def test_bare_ranks_and_n_of_the_text():
    for text in ("3 17 250", "3, 17, 250", "3\n17\n250\n", "3;17;250"):
        (ranks,) = parse_rank_text(text, n=300)
        assert (ranks.system, ranks.ranks.tolist()) == ("ranks", [3, 17, 250])
    assert parse_rank_text("A: 3; n = 9", n=500)[0].n.tolist() == [9]


WRONG = {
    "A: 1 x 3": "system 'A', value 2 … 'x' is not a number … from 1",
    "A: 1; B: 2.5": "system 'B', value 1 … '2.5' is not a whole number",
    "A: 3 NaN": "system 'A', value 2 … 'NaN'",
    "A: 3 -4": "system 'A', value 2 … -4 … below 1",
    "A: 3 12; n = 9": "system 'A', value 2 … rank 12 … n = 9 … larger n",
    "A: 10,000": "system 'A', value 2 … '000' … without separators",
    "A: 99999999999999999999": "system 'A', value 1",
    "A: 1; A: 2": "system 'A' twice",
    "A:": "no ranks for system 'A'",
    "A 3 4": "'A 3 4' … NAME: ranks",
    "A: 3\n4 5": "'4 5' … NAME: ranks",
    "3 4\n5 6": "'3 4' … NAME: ranks",
    "": "no ranks … A: 3, 17, 250",
    " ; \n": "no ranks",
    "n = 9": "no ranks",
    "A: 3; n = many": "n = many … whole number from 2",
    "A: 3; n = 1": "n = 1 … whole number from 2",
    "A: 3; n = 8; n = 9": "n twice, 8 and 9",
    "system,rank\nA,x": "line 2, column 'rank' … 'x'",
    "system,rank": "header line but no rows",
    "n = 9\nsystem,rank\nA,3\nA,12\n": "line 4, column 'rank': rank 12",  # counts the line of n
    "model A: 5 6\nmodel B: 5 x": "system 'model B', value 2: 'x' is not a number",
    "run 1: 5 6\nrun 2:": "no ranks for system 'run 2'",
    "run 1: 5 6\nrun 2": "'run 2' without a name",
    "A: " + "1 " * TYPED.most: "paste less",
}


@pytest.mark.parametrize("text", WRONG, ids=range(len(WRONG)))
def test_wrong_text(text):
    refused(lambda: parse_rank_text(text), f"pasted text … {WRONG[text]}")


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


OTHERS = ["٣", "３", "३", "3٣"]


@pytest.mark.parametrize("number", OTHERS)
def test_other_digits_are_refused_by_the_value_and_the_rule(number):
    def table(text):
        return read_rank_sets(io.BytesIO(text.encode()), name="x.csv", n=9)

    for read in (
        lambda: table(f"rank\n1\n{number}\n"),
        lambda: table(f"rank,n\n1,{number}\n"),
        lambda: table(f"A,B\n1,2\n2,{number}\n"),
        lambda: parse_rank_text(f"A: 1 {number}", n=9),
        lambda: parse_rank_text(f"A: 1\nn = {number}"),
        lambda: weights_of_text(f"1 {number}", 2),
        lambda: read_printed(f"Model,HR@1\nA,0.1{number}"),
        lambda: read_printed(f"Model HR@1\nA 0.1{number}"),
        lambda: read_printed(f"Model,HR@1\nA,0.1\nn = {number}"),
    ):
        with pytest.raises(ReadError, match="with the digits 0 to 9") as info:
            read()
        assert number in str(info.value)
    assert parse_metric("HR@3").k == 3
    for read in (
        lambda: parse_metric(f"HR@{number}"),
        lambda: parse_metric(f"TOPK@0.{number}"),
        lambda: parse_sampling(f"n = {number}, m = 1, with-replacement"),
        lambda: table(f"q Q0 d 1 3 A\nq Q0 e 2 2 A\nq Q0 f {number} 1 A\n"),
        lambda: parse_sampling(f"n = 9, m = 1, popularity, odds = {number}"),
    ):
        with pytest.raises(ValueError, match=number):
            read()


@pytest.mark.parametrize("raw", [*OTHERS, "1_000", " 5", "nan", "inf", "0x10", "1e400", "1e16"])
def test_numbers_in_links(raw):
    for key in ("n", "gamma"):
        said = state.link_complaints({key: [raw]})
        plain = raw == " 5"  # spaces around a number are not part of it
        assert bool(said) != plain
        assert all(key in each and raw in each for each in said)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("run 1: 5 6", ["run 1"]),
        ("run 1: 5 6\nrun 2: 7 8", ["run 1", "run 2"]),
        ("model A: 5 6\nsystem B: 5 7\n# n: 9", ["model A", "system B"]),
        ("user 1: 5 6; rank 2: 7 8", ["user 1", "rank 2"]),
        ("model, run 2: 5, 6\nB: 3 4", ["model, run 2", "B"]),
        ("count: 5 6\nB: 3 4", ["count", "B"]),
        ("BPR: k=8, reg: 3 4\nNA: 5 6", ["BPR: k=8, reg", "NA"]),
    ],
)
def test_words_in_names_make_no_table(text, names):
    assert [s.system for s in parse_rank_text(text, n=9)] == names


@pytest.mark.parametrize(
    "text",
    [
        "Model,Recall,AUC\n,@10,\nBPR,0.5,0.3",
        "Model,HR@10,NDCG@\n,,10\nBPR,0.5,0.3",
        "Model,NDCG,MRR\n,10,10\nBPR,0.5,0.3",
        "Model\tAUC\tHit\n\t\tRatio@10\nA\t0.7\t0.2",
        "Model & Recall@10 & NDCG \\\\\n & & @10 \\\\\nBPR & 0.5 & 0.3 \\\\",
    ],
)
def test_a_second_line_of_names_is_refused_and_hides_nothing(text):
    with pytest.raises(ReadError, match=r"line 2 of the table.*with the names of line 1, write"):
        read_printed(text)


def test_nameless_lines_of_a_printed_table():
    assert [r.system for r in read_printed("Model,HR@10\n,\n,0.5\nB,0.6").rows] == ["line 3", "B"]


def test_a_printed_table_that_is_too_long():
    with pytest.raises(ReadError, match="paste less"):
        read_printed("Model,HR@10\n" + "A,0.5\n" * PRINTED.most)
