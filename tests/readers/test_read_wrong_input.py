"""Every wrong file gets one sentence that names file, row, column, value and remedy."""

from __future__ import annotations

import io
import pickle

import pandas as pd
import pytest

from sampledash.readers import DifferentInstances, ReadError, ZeroBasedRanks, read_rank_sets

HEADER = "system,user,rank,n\n"


def complaint(content: str | bytes, name: str = "ranks.csv", kind=ReadError, **options) -> str:
    data = content.encode() if isinstance(content, str) else content
    with pytest.raises(kind) as info:
        read_rank_sets(io.BytesIO(data), name=name, **options)
    sentence = str(info.value)
    assert isinstance(info.value, ValueError)
    assert "\n" not in sentence
    assert len(sentence) < 400
    for leak in ("Traceback", "pandas", "Arrow", "tokeniz", "dtype", "Error"):
        assert leak not in sentence
    return sentence


@pytest.mark.parametrize(
    ("row", "facts"),
    [
        ("A,u,-3,9", ["column 'rank'", "-3", "below 1", "correct it"]),
        ("A,u,2.5,9", ["column 'rank'", "2.5", "not a whole number", "from 1"]),
        ("A,u,12,9", ["column 'rank'", "rank 12", "n = 9", "correct the rank or the n"]),
        ("A,u,NaN,9", ["column 'rank'", "'NaN' is not a number", "from 1"]),
        ("A,u,,9", ["column 'rank'", "blank", "from 1"]),
        ("A,u,first,9", ["column 'rank'", "'first' is not a number", "from 1"]),
        ("A,u,inf,9", ["column 'rank'", "inf", "not a whole number"]),
        ('A,u,"1,000",9', ["column 'rank'", "'1,000' is not a number"]),
        ("A,u,True,9", ["column 'rank'", "True"]),
        ("A,u,99999999999999999999,9", ["column 'rank'", "1e+20 is too large"]),
        ("A,u,3,", ["column 'n'", "blank", "number of candidates"]),
        ("A,u,3,many", ["column 'n'", "'many' is not a number", "number of candidates"]),
        ("A,u,1,1", ["column 'n'", "at least 2", "got 1"]),
        ("A,,3,9", ["column 'user'", "blank", "label of the user"]),
        (",u,3,9", ["column 'system'", "blank", "name of the system"]),
        ("A,u,3,9,7", ["5 cells", "4 columns", "quote"]),
    ],
)
def test_bad_cells(row, facts):
    # header, a blank line, one good row, the bad one: line 4
    sentence = complaint(f"{HEADER}\nA,t,1,9\n{row}\n")
    for fact in ["ranks.csv, line 4", *facts]:
        assert fact in sentence


def test_line_numbers_count_what_an_editor_shows():
    text = 'system,user,rank,n\n\nA,"two\nlines",1,9\n\n   \nA,v,99,9\n'
    assert "line 7, column 'rank': rank 99" in complaint(text)


def test_parquet_names_the_row():
    buffer = io.BytesIO()
    pd.DataFrame({"user": ["a", "b"], "rank": [1, 12], "n": [9, 9]}).to_parquet(buffer)
    sentence = complaint(buffer.getvalue(), "ranks.parquet")
    assert "ranks.parquet, row 2, column 'rank': rank 12" in sentence


@pytest.mark.parametrize(
    ("column", "fact"),
    [
        ([1.0, 2.5], "row 2, column 'rank': 2.5 is not a whole number"),
        ([1.0, None], "row 2, column 'rank': the cell is blank"),
        (["1", "x"], "row 2, column 'rank': 'x' is not a number"),
        ([True, False], "row 1, column 'rank': True is not a number"),
        ([[1], [2]], "row 1, column 'rank'"),
    ],
)
def test_parquet_bad_cells(column, fact):
    buffer = io.BytesIO()
    pd.DataFrame({"rank": column, "n": 9}).to_parquet(buffer)
    assert fact in complaint(buffer.getvalue(), "ranks.parquet")


def test_rank_beyond_the_given_n():
    sentence = complaint("rank\n3\n12\n", n=9)
    for fact in ("ranks.csv, line 3, column 'rank'", "rank 12", "n = 9", "give a larger n"):
        assert fact in sentence


def test_zero_based_is_said():
    sentence = complaint(f"{HEADER}A,u,4,9\nA,v,0,9\n", kind=ZeroBasedRanks)
    for fact in ("ranks.csv, line 3, column 'rank'", "count from 0", "add 1", "zero_based=True"):
        assert fact in sentence


def test_zero_based_must_fit_n():
    sentence = complaint("rank\n0\n9\n", n=9, zero_based=True)
    for fact in ("line 3", "rank 9 counting from 0", "n = 9"):
        assert fact in sentence
    assert "rank -1 is below 0" in complaint("rank\n0\n-1\n", n=9, zero_based=True)


@pytest.mark.parametrize("data", [b"", b"\n", b" \r\n \n"])
@pytest.mark.parametrize("name", ["ranks.csv", "ranks.parquet", "ranks"])
def test_empty(data, name):
    sentence = complaint(data, name)
    assert f"{name} is empty" in sentence
    assert "header" in sentence


def test_header_only():
    assert "ranks.csv has a header line but no rows" in complaint(HEADER)
    buffer = io.BytesIO()
    pd.DataFrame({"rank": [], "n": []}).to_parquet(buffer)
    assert "x.parquet has columns but no rows" in complaint(buffer.getvalue(), "x.parquet")


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("system,user,score\nA,u,0.5\n", ["'system', 'user', 'score'", "system column"]),
        ("user,comment\nu,a\n", ["'user', 'comment'", "no column holds ranks"]),
        ("user,n\nu,9\n", ["'user', 'n'", "no column holds ranks"]),
        ("ties,A\n0,5\n", ["'ties', 'A'", "'ties' needs one"]),
        ("system rank\nA 5\n", ["'system rank'", "commas, semicolons or tabs"]),
    ],
)
def test_no_rank_column(text, facts):
    sentence = complaint(text)
    accepted = "rank, ranks, position, true_rank, best_rank"
    for fact in ["ranks.csv has no rank column", accepted, *facts]:
        assert fact in sentence


def test_wide_bad_cell():
    sentence = complaint("user,n,A,B\nu,9,1,2\nv,9,3,7.5\n")
    for fact in ("ranks.csv, line 3, column 'B'", "7.5", "remove the column"):
        assert fact in sentence
    assert "line 3, column 'B': 'x' is not a number" in complaint("A,B\n1,2\n3,x\n", n=9)
    assert "line 4, column 'A': rank 12" in complaint("A,B\n1,2\n,3\n12,4\n", n=9)
    assert "line 3, column 'n': n must be at least 2" in complaint("n,A\n9,1\n0,1\n")


@pytest.mark.parametrize("first", ["1,2,3", "X,0,43"])
def test_no_header(first):
    sentence = complaint(f"{first}\nX,1,74\n")
    for fact in ("ranks.csv, line 1", "add a header line", "system,instance,rank"):
        assert fact in sentence


def test_repeated_columns():
    assert "ranks.csv, line 1: the column 'A' appears twice" in complaint("A,B,A\n1,2,3\n")
    sentence = complaint("user,user_id,rank\n1,1,3\n")
    assert "'user' and 'user_id' both mean 'instance'" in sentence
    assert "keep one" in sentence


def test_repeated_rank_of_one_instance():
    sentence = complaint(f"{HEADER}A,u,5,9\nB,u,5,9\nA,v,5,9\n\nA,u,5,9\nB,v,1,9\n")
    for fact in (
        "ranks.csv, line 6, column 'rank'", "system 'A'", "instance 'u'", "rank 5 twice",
        "first in line 2", "remove one",
    ):  # fmt: skip
        assert fact in sentence


def test_two_values_of_n_in_one_instance():
    sentence = complaint(f"{HEADER}A,u,1,9\nA,u,2,8\n")
    for fact in ("ranks.csv", "instance 'u'", "system 'A'", "9 and 8"):
        assert fact in sentence


@pytest.mark.parametrize(("ties", "value"), [("ties", "7"), ("tied", "-1")])
def test_ties_that_do_not_fit(ties, value):
    sentence = complaint(f"rank,n,{ties}\n3,9,0\n3,9,{value}\n")
    for fact in (f"ranks.csv, line 3, column '{ties}'", "rank 3", f"with {value} others", "n = 9"):
        assert fact in sentence


@pytest.mark.parametrize("value", ["1.5", "-0.1", "inf"])
def test_mass_above_that_is_no_share(value):
    sentence = complaint(f"rank,n,mass_above\n3,9,{value}\n")
    for fact in ("ranks.csv, line 2, column 'mass_above'", value, "0..1"):
        assert fact in sentence


@pytest.mark.parametrize(
    ("data", "fact"),
    [
        (b"PAR1....PAR1", "Parquet file; rename it"),
        (b"PK\x03\x04....", "Excel workbook; save the sheet as CSV"),
        (b"\xd0\xcf\x11\xe0....", "old Excel workbook"),
        (b"\x89PNG\r\n\x1a\n", "PNG picture"),
        (b"%PDF-1.7", "PDF document"),
        (b"\x1f\x8b\x08", "gzip but cut off; copy or download"),
        ("\ufeffrank\n3\n".encode("utf-16-le"), "UTF-16; save it as UTF-8"),
        (b'{"rank": [1]}', "JSON"),
        (b"<!DOCTYPE html><html>", "web page"),
        (b"rank\n\0\0\0\n", "zero bytes"),
    ],
)
def test_not_what_its_name_says(data, fact):
    assert fact in complaint(data)


def test_not_parquet():
    sentence = complaint("rank\n3\n", "x.parquet")
    for fact in ("x.parquet is not what its name says", "plain text", ".csv"):
        assert fact in sentence
    assert "zip archive" in complaint(b"PK\x03\x04....", "x.parquet")
    assert "not Parquet" in complaint(b"ab\0\0cd", "x.parquet")
    buffer = io.BytesIO()
    pd.DataFrame({"rank": range(1000)}).to_parquet(buffer)
    assert "x.parquet cannot be read as Parquet" in complaint(buffer.getvalue()[:-200], "x.parquet")


def test_not_utf8():
    sentence = complaint("user,rank\nu,3\nBjörn,4\n".encode("latin-1"))
    for fact in ("ranks.csv, line 3", "not UTF-8", "0xf6", "save the file as UTF-8"):
        assert fact in sentence


def test_quotation_mark_that_is_not_closed():
    sentence = complaint(f'{HEADER}A,t,1,9\nA,"u,1,9\nA,v,2,9\n')
    for fact in ("ranks.csv, line 3", "quotation mark"):
        assert fact in sentence


def test_no_such_file(tmp_path):
    with pytest.raises(ReadError, match=r"^nowhere.csv: there is no such file"):
        read_rank_sets(tmp_path / "nowhere.csv")
    with pytest.raises(ReadError, match="cannot be opened"):
        read_rank_sets(tmp_path)
    with pytest.raises(ReadError, match="parse_rank_text"):
        read_rank_sets(5)


COVER = (
    "system,user,rank,n\n"
    + "".join(f"A,u{i},3,9\n" for i in range(8))
    + "".join(f"B,u{i},4,9\n" for i in (0, 1, 2, 8))
)


def test_different_instances():
    with pytest.raises(DifferentInstances) as info:
        read_rank_sets(io.BytesIO(COVER.encode()), name="ranks.csv")
    assert info.value.shared == 3
    assert info.value.missing == {"A": ("u8",), "B": ("u3", "u4", "u5")}
    sentence = str(info.value)
    for fact in (
        "ranks.csv", "'A' lacks 'u8'", "'B' lacks 'u3', 'u4', 'u5' and 2 more",
        "share 3 of 9", 'instances="shared"',
    ):  # fmt: skip
        assert fact in sentence
    again = pickle.loads(pickle.dumps(info.value))
    assert (str(again), again.shared, again.missing) == (sentence, 3, info.value.missing)


def test_different_instances_can_be_kept():
    shared = read_rank_sets(io.BytesIO(COVER.encode()), instances="shared")
    assert [s.instances.tolist() for s in shared] == [["u0", "u1", "u2"]] * 2
    everything = read_rank_sets(io.BytesIO(COVER.encode()), instances="any")
    assert [len(s) for s in everything] == [8, 4]
    with pytest.raises(ValueError, match="instances must be one of same, shared, any"):
        read_rank_sets(io.BytesIO(COVER.encode()), instances="some")


def test_no_shared_instance():
    text = f"{HEADER}A,u,1,9\nB,v,1,9\n"
    for choice in ("same", "shared"):
        sentence = complaint(text, kind=DifferentInstances, instances=choice)
        assert "share none" in sentence
        assert 'instances="any"' in sentence


def test_many_systems_with_different_instances_name_two():
    rows = "".join(f"S{i},u{i},1,9\n" for i in range(6))
    sentence = complaint(HEADER + rows, kind=DifferentInstances)
    assert "'S0' lacks 'u1', 'u2', 'u3' and 2 more; 'S1' lacks" in sentence
    assert "4 more lack some" in sentence


def test_different_numbers_of_relevant_items():
    text = f"{HEADER}A,u,1,9\nA,u,2,9\nA,v,1,9\nB,u,4,9\nB,v,4,9\n"
    sentence = complaint(text, kind=DifferentInstances)
    assert "instance 'u' has 2 relevant items in 'A' and 1 in 'B'" in sentence
    shared = read_rank_sets(io.BytesIO(text.encode()), instances="shared")
    assert [s.instances.tolist() for s in shared] == [["v"], ["v"]]


def test_unlabelled_systems_of_different_length():
    text = "system,rank,n\nA,1,9\nA,2,9\nB,3,9\n"
    sentence = complaint(text, kind=DifferentInstances)
    for fact in ("'A' has 2 ranks", "'B' has 1", "instance column", 'instances="any"'):
        assert fact in sentence
    assert [len(s) for s in read_rank_sets(io.BytesIO(text.encode()), instances="any")] == [2, 1]


def test_a_wide_row_that_is_blank_for_all_is_nobodys_lack():
    sentence = complaint("user,A,B\nu,1,2\nv,,\nw,3,\n", n=9, kind=DifferentInstances)
    assert "'B' lacks 'w'. All share 1 of 2" in sentence


def test_too_many_systems():
    rows = "".join(f"u{i},3\n" for i in range(1001))
    sentence = complaint("run,rank\n" + rows, n=9)
    assert "1,001 systems" in sentence
    assert "instance" in sentence
