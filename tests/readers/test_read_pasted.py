"""Typed and pasted text; numbers are written with the digits 0 to 9 in whatever is read."""

from __future__ import annotations

import io

import pytest

from sampledash.dashboard import state
from sampledash.dashboard.correct.custom_prior import weights_of_text
from sampledash.metrics import parse_metric
from sampledash.readers import (
    MissingCandidates,
    ZeroBasedRanks,
    example,
    parse_rank_text,
    read_printed,
    read_rank_sets,
)
from sampledash.readers.upload_limits import PRINTED, TYPED
from sampledash.sampling import parse_sampling
from tests.readers.reading import refused

FIRST, SECOND, LAST = "100 100 100 100 100", "40 40 8437 9266 4482", "212 2 743 5342 1548"
COLUMNS = zip(FIRST.split(), SECOND.split(), LAST.split(), strict=True)
WIDE = "A,B,C\n" + "\n".join(map(",".join, COLUMNS))
LONG = "".join(f"{s},{r},10000\n" for s, x in zip("ABC", (FIRST, SECOND, LAST), strict=True)
               for r in x.split())  # fmt: skip


@pytest.mark.parametrize(
    "text",
    [
        f"A: {FIRST.replace(' ', ', ')}; B: {SECOND}; C: {LAST.replace(' ', ',')}; n = 10000",
        f"n = 10,000\nA: {FIRST}\nB: {SECOND.replace(' ', ', ')}\n\nC: {LAST}\n",
        f"A:{FIRST};\r\nB:{SECOND.replace(' ', ',')},\r\nC:{LAST}\r\nN=10_000",
        f"{WIDE}\nn = 10 000",
        "n = 10000\n" + WIDE.replace(",", "\t"),
        "system,rank,n\n" + LONG,
    ],
)
def test_table_1_in_many_spellings(text):
    # Table 1 of Krichene & Rendle (KDD 2020); see the tests of the bundled sets.
    assert parse_rank_text(text) == example("paper-abc")


def test_bare_ranks_and_n_of_the_text():
    for text in ("3 17 250", "3, 17, 250", "3\n17\n250\n", "3;17;250"):
        (ranks,) = parse_rank_text(text, n=300)
        assert (ranks.system, ranks.ranks.tolist()) == ("ranks", [3, 17, 250])
    assert parse_rank_text("A: 3; n = 9", n=500)[0].n.tolist() == [9]


def test_too_much_text():
    refused(lambda: parse_rank_text("A: " + "1 " * TYPED.most), "pasted text … paste less")


def test_missing_n():
    with pytest.raises(MissingCandidates, match="n = 10000") as info:
        parse_rank_text("A: 3 77")
    assert info.value.largest_rank == 77


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
        refused(read, f"with the digits 0 to 9 … {number}")
    assert parse_metric("HR@3").k == 3
    for read in (
        lambda: parse_metric(f"HR@{number}"),
        lambda: parse_metric(f"TOPK@0.{number}"),
        lambda: parse_sampling(f"n = {number}, m = 1, with-replacement"),
        lambda: table(f"q Q0 d 1 3 A\nq Q0 e 2 2 A\nq Q0 f {number} 1 A\n"),
        lambda: parse_sampling(f"n = 9, m = 1, popularity, odds = {number}"),
    ):
        refused(read, number, ValueError)


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
    refused(lambda: read_printed(text), "line 2 of the table … with the names of line 1, write")


def test_nameless_lines_of_a_printed_table():
    assert [r.system for r in read_printed("Model,HR@10\n,\n,0.5\nB,0.6").rows] == ["line 3", "B"]


def test_a_printed_table_that_is_too_long():
    refused(lambda: read_printed("Model,HR@10\n" + "A,0.5\n" * PRINTED.most), "paste less")
