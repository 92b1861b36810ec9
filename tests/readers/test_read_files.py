"""Formats, layouts, aliases: every file below holds ranks that are written out in the test."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from sampledash.readers import (
    MissingCandidates,
    ReadError,
    ZeroBasedRanks,
    describe,
    read_rank_sets,
)


def read(text: str, name: str = "ranks.csv", **options):
    return read_rank_sets(io.BytesIO(text.encode()), name=name, **options)


def parquet(frame: pd.DataFrame) -> io.BytesIO:
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    return buffer


def content(sets):
    return [(s.system, s.ranks.tolist(), s.n.tolist(), s.instances.tolist()) for s in sets]


LONG = "system,instance,rank,n_candidates\nA,u,3,9\nA,v,5,8\nB,u,1,9\nB,v,8,8\n"
EXPECTED = [("A", [3, 5], [9, 8], ["u", "v"]), ("B", [1, 8], [9, 8], ["u", "v"])]


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_separators_and_line_ends(delimiter, newline):
    text = LONG.replace(",", delimiter).replace("\n", newline)
    assert content(read(text)) == EXPECTED


@pytest.mark.parametrize("name", ["ranks.csv", "ranks.tsv", "ranks.txt", "ranks"])
def test_content_decides_the_separator_not_the_name(name):
    assert content(read(LONG.replace(",", "\t"), name)) == EXPECTED


def test_byte_order_mark_blank_lines_spaces_and_quotes():
    text = (
        '\ufeffsystem, instance ,"rank",n_candidates\n\n"A", u ,3,9\nA,v, 5,8\n  \nB,u,1,9\nB,v,8,8'
    )
    assert content(read(text)) == EXPECTED


def test_path_and_buffer(tmp_path: Path):
    path = tmp_path / "ranks.csv"
    path.write_text(LONG)
    assert content(read_rank_sets(path)) == EXPECTED
    assert content(read_rank_sets(str(path))) == EXPECTED
    with path.open("rb") as stream:
        stream.read(5)  # a buffer is read from its beginning
        assert content(read_rank_sets(stream)) == EXPECTED


def test_name_comes_from_the_buffer(tmp_path: Path):
    path = tmp_path / "BPR.csv"
    path.write_text("rank,n\n3,9\n")
    with path.open("rb") as stream:
        assert read_rank_sets(stream)[0].system == "BPR"
    assert read_rank_sets(path, name="other.csv")[0].system == "other"


def test_parquet():
    frame = pd.read_csv(io.StringIO(LONG))
    assert content(read_rank_sets(parquet(frame), name="ranks.parquet")) == EXPECTED
    assert content(read_rank_sets(parquet(frame), name="upload")) == EXPECTED
    indexed = frame.set_index(["system", "instance"])
    assert content(read_rank_sets(parquet(indexed), name="ranks.parquet")) == EXPECTED
    typed = frame.astype({"system": "category", "rank": "Int64", "n_candidates": "float64"})
    assert content(read_rank_sets(parquet(typed), name="ranks.parquet")) == EXPECTED


@pytest.mark.parametrize(
    "system", ["system", "model", "run", "tag", "Recommender", "ALGORITHM", "method"]
)
@pytest.mark.parametrize(
    "rank", ["rank", "Ranks", "position", "true_rank", "True Rank", "best-rank"]
)
def test_aliases_of_system_and_rank(system, rank):
    assert content(read(LONG.replace("system", system).replace("rank", rank))) == EXPECTED


@pytest.mark.parametrize(
    "instance",
    [
        "user",
        "user_id",
        "userid",
        "UserId",
        "uid",
        "query",
        "query_id",
        "qid",
        "session",
        "Instance",
    ],
)
@pytest.mark.parametrize("n", ["n", "N", "n_items", "candidates", "num_candidates", "N candidates"])
def test_aliases_of_instance_and_n(instance, n):
    text = LONG.replace("instance", instance).replace("n_candidates", n)
    assert content(read(text)) == EXPECTED


@pytest.mark.parametrize("ties", ["ties", "n_tied_others", "Tied"])
def test_ties_and_mass_above(ties):
    text = f"rank,n,{ties},mass_above\n3,9,0,0.25\n5,9,4,0.5\n"
    (ranks,) = read(text)
    assert ranks.ties.tolist() == [0, 4]
    assert ranks.mass_above.tolist() == [0.25, 0.5]


def test_columns_in_any_order_and_further_columns():
    text = "score,n,rank,item,qid,run\n0.1,9,3,i7,u,A\n0.2,8,5,i8,v,A\n0.3,9,1,,u,B\n0.4,8,8,,v,B\n"
    assert content(read(text)) == EXPECTED


def test_rows_of_one_instance_are_its_relevant_items():
    (ranks,) = read("system,user,rank,n\nA,u,7,9\nA,v,2,9\nA,u,3,9\n")
    assert ranks.n_instances == 2
    assert ranks.max_relevant == 2


def test_long_without_system_is_named_after_the_file():
    (ranks,) = read("user,rank,n\n4,3,9\n", "My model.v2.csv")
    assert ranks.system == "My model.v2"


def test_system_names_are_kept_and_only_stripped():
    sets = read('system,rank,n\n" <b>*A*</b> ",3,9\nNA,4,9\n007,5,9\n')
    assert [s.system for s in sets] == ["<b>*A*</b>", "NA", "007"]


@pytest.mark.parametrize(
    ("labels", "expected"),
    [
        (["5", "17"], [5, 17]),
        (["007", "7"], ["007", "7"]),  # two users, not two items of one
        (["NA", "nan"], ["NA", "nan"]),
        (["1", "u2"], ["1", "u2"]),
        (["-3", "12345678901234567890"], ["-3", "12345678901234567890"]),
    ],
)
def test_instance_labels_are_kept(labels, expected):
    (ranks,) = read(f"user,rank,n\n{labels[0]},3,9\n{labels[1]},4,9\n")
    assert ranks.instances.tolist() == expected


def test_wide():
    text = "user,n,A,B\nu,9,3,1\nv,8,5,8\n"
    assert content(read(text)) == EXPECTED


def test_wide_without_instance_numbers_the_rows():
    sets = read("A,B\n3,1\n5,8\n", n=9)
    assert content(sets) == [("A", [3, 5], [9, 9], [1, 2]), ("B", [1, 8], [9, 9], [1, 2])]


def test_wide_leaves_out_unnamed_and_text_columns():
    sets = read(",A,comment,B\n0,3,fine,1\n1,5,,8\n", n=9)
    assert [s.system for s in sets] == ["A", "B"]


def test_wide_blank_cells_are_instances_a_system_lacks():
    sets = read("user,A,B\nu,3,1\nv,,4\nw,5, \nx,6,7\n", n=9, instances="any")
    assert [s.instances.tolist() for s in sets] == [["u", "w", "x"], ["u", "v", "x"]]
    assert [s.ranks.tolist() for s in sets] == [[3, 5, 6], [1, 4, 7]]
    shared = read("user,A,B\nu,3,1\nv,,4\nw,5, \nx,6,7\n", n=9, instances="shared")
    assert [s.instances.tolist() for s in shared] == [["u", "x"], ["u", "x"]]


def test_a_file_with_a_rank_column_is_long():
    (ranks,) = read("rank,A,B\n3,1,2\n4,5,6\n", n=9)
    assert (ranks.system, ranks.ranks.tolist()) == ("ranks", [3, 4])


def test_systems_keep_the_order_of_the_file_and_rows_may_be_mixed():
    text = "system,user,rank\nZ,1,3\nA,1,4\nM,1,5\nA,2,6\nZ,2,7\nM,2,8\n"
    sets = read(text, n=9)
    assert [(s.system, s.ranks.tolist()) for s in sets] == [
        ("Z", [3, 7]),
        ("A", [4, 6]),
        ("M", [5, 8]),
    ]


def test_n_of_the_file_wins_over_the_argument():
    assert read("rank,n\n3,9\n", n=500)[0].n.tolist() == [9]


def test_missing_n_says_how_to_give_it_and_how_large_it_must_be():
    with pytest.raises(MissingCandidates, match=r"ranks.csv does not say n.*n_candidates") as info:
        read("rank\n3\n812\n")
    assert info.value.largest_rank == 812
    assert read("rank\n3\n812\n", n=812)[0].n.tolist() == [812, 812]


@pytest.mark.parametrize("n", [1, 0, -4, 2.5, "ten"])
def test_n_argument_must_be_a_whole_number_from_2(n):
    with pytest.raises(ValueError, match="n must be"):
        read("rank\n1\n", n=n)


def test_zero_based_ranks():
    with pytest.raises(ZeroBasedRanks):
        read("rank\n4\n0\n", n=5)
    assert read("rank\n4\n0\n", n=5, zero_based=True)[0].ranks.tolist() == [5, 1]


def test_whole_floats_are_ranks():
    assert read("rank\n4.0\n1e2\n", n=100)[0].ranks.tolist() == [4, 100]


def test_a_buffer_can_be_read_again_after_a_complaint():
    buffer = io.BytesIO(b"rank\n3\n")
    with pytest.raises(MissingCandidates):
        read_rank_sets(buffer)
    assert read_rank_sets(buffer, n=9)[0].ranks.tolist() == [3]


def test_describe():
    summary = describe(read(LONG))
    assert summary.systems == ("A", "B")
    assert (summary.rows, summary.instances) == (4, (2, 2))
    assert (summary.n_low, summary.n_high, summary.largest_rank) == (8, 9, 8)
    assert str(summary) == "2 systems (A, B), 2 instances each, n = 8 to 9"
    several = describe(read("user,rank,n,ties\nu,1,1000,0\nu,3,1000,2\n"))
    assert str(several) == (
        "1 system (ranks), 1 instance each, n = 1,000, up to 2 relevant items, with ties"
    )
    with pytest.raises(ValueError, match="sets is empty"):
        describe([])


def test_many_rows_keep_line_numbers_and_values():
    size = 200_000
    ranks = np.arange(size) % 997 + 1
    lines = [f"{'AB'[i % 2]},u{i // 2},{r},1000" for i, r in enumerate(ranks.tolist())]
    lines[123_456] = "A,u61728,5000,1000"
    with pytest.raises(ReadError, match=r"line 123458, column 'rank': rank 5000 .* n = 1000"):
        read("system,user,rank,n\n" + "\n".join(lines))
    lines[123_456] = "A,u61728,50,1000"
    a, b = read("system,user,rank,n\n" + "\n".join(lines))
    assert a.ranks[61_728] == 50
    assert b.ranks.tolist() == ranks[1::2].tolist()
