"""Numbers are written with the digits 0 to 9, in whatever is read; words of names are words."""

from __future__ import annotations

import io

import pytest

from sampledash.dashboard import state
from sampledash.dashboard.correct.custom_prior import weights_of_text
from sampledash.metrics import parse_metric
from sampledash.readers import ReadError, parse_rank_text, read_printed, read_rank_sets
from sampledash.readers.limits import PRINTED, TYPED
from sampledash.sampling import parse_sampling

OTHERS = ["٣", "３", "३", "3٣"]


@pytest.mark.parametrize("number", OTHERS)
def test_other_digits_are_refused_by_the_value_and_the_rule(number):
    def table(text):
        return read_rank_sets(io.BytesIO(text.encode()), name="x.csv", n=9)

    for read in (
        lambda: table(f"rank\n1\n{number}\n"), lambda: table(f"rank,n\n1,{number}\n"),
        lambda: table(f"A,B\n1,2\n2,{number}\n"), lambda: parse_rank_text(f"A: 1 {number}", n=9),
        lambda: parse_rank_text(f"A: 1\nn = {number}"), lambda: weights_of_text(f"1 {number}", 2),
        lambda: read_printed(f"Model,HR@1\nA,0.1{number}"),
        lambda: read_printed(f"Model HR@1\nA 0.1{number}"),
        lambda: read_printed(f"Model,HR@1\nA,0.1\nn = {number}"),
    ):  # fmt: skip
        with pytest.raises(ReadError, match="with the digits 0 to 9") as info:
            read()
        assert number in str(info.value)
    assert parse_metric("HR@3").k == 3
    for read in (
        lambda: parse_metric(f"HR@{number}"), lambda: parse_metric(f"TOPK@0.{number}"),
        lambda: parse_sampling(f"n = {number}, m = 1, with-replacement"),
        lambda: table(f"q Q0 d 1 3 A\nq Q0 e 2 2 A\nq Q0 f {number} 1 A\n"),
        lambda: parse_sampling(f"n = 9, m = 1, popularity, odds = {number}"),
    ):  # fmt: skip
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
    ],
)
def test_words_in_names_make_no_table(text, names):
    assert [s.system for s in parse_rank_text(text, n=9)] == names


def test_what_is_wrong_with_a_rank_line_is_said_of_it():
    with pytest.raises(ReadError, match="system 'model B', value 2: 'x' is not a number"):
        parse_rank_text("model A: 5 6\nmodel B: 5 x", n=9)
    with pytest.raises(ReadError, match="no ranks for system 'run 2'"):
        parse_rank_text("run 1: 5 6\nrun 2:", n=9)
    with pytest.raises(ReadError, match="'run 2' without a name"):
        parse_rank_text("run 1: 5 6\nrun 2", n=9)


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


def test_pasted_text_that_is_too_long():
    with pytest.raises(ReadError, match="paste less"):
        read_printed("Model,HR@10\n" + "A,0.5\n" * PRINTED.most)
    with pytest.raises(ReadError, match="paste less"):
        parse_rank_text("A: " + "1 " * TYPED.most)
