"""Every wrong file gets one sentence that names file, row, column, value and remedy."""

from __future__ import annotations

import pickle

import pytest

from sampledash.readers import DifferentInstances, ReadError, ZeroBasedRanks, read_rank_sets
from tests.hostile import saved
from tests.readers.reading import complaint, read

HEADER = "system,user,rank,n\n"


BAD_CELLS = {
    "A,u,-3,9": "column 'rank' … -3 … below 1 … correct it",
    "A,u,2.5,9": "column 'rank' … 2.5 … not a whole number … from 1",
    "A,u,12,9": "column 'rank' … rank 12 … n = 9 … correct the rank or the n",
    "A,u,NaN,9": "column 'rank' … 'NaN' is not a number … from 1",
    "A,u,,9": "column 'rank' … blank … from 1",
    "A,u,first,9": "column 'rank' … 'first' is not a number … from 1",
    "A,u,inf,9": "column 'rank' … inf … not a whole number",
    'A,u,"1,000",9': "column 'rank' … '1,000' is not a number",
    "A,u,True,9": "column 'rank' … True",
    "A,u,99999999999999999999,9": "column 'rank' … 1e+20 is too large",
    "A,u,3,": "column 'n' … blank … number of candidates",
    "A,u,3,many": "column 'n' … 'many' is not a number … number of candidates",
    "A,u,1,1": "column 'n' … at least 2 … got 1",
    "A,,3,9": "column 'user' … blank … label of the user",
    ",u,3,9": "column 'system' … blank … name of the system",
    "A,u,3,9,7": "5 cells … 4 columns … quote",
}


@pytest.mark.parametrize("row", BAD_CELLS)
def test_bad_cells(row):
    # header, a blank line, one good row, the bad one: line 4
    complaint(f"{HEADER}\nA,t,1,9\n{row}\n", facts=f"ranks.csv, line 4 … {BAD_CELLS[row]}")


def column(*values):
    """A Parquet file with these ranks."""
    return saved({"user": ["a", "b"], "rank": values, "n": [9, 9]})


NO_RANKS = "has no rank column … rank, ranks, position, true_rank, best_rank … "
NINE, PARQUET, THOUSAND = {"n": 9}, {"name": "x.parquet"}, saved({"rank": range(1000)})
ZEROS = NINE | {"zero_based": True}
DIFFER = {"kind": DifferentInstances}
WRONG = [
    (f'{HEADER}\nA,"two\nlines",1,9\n\n   \nA,v,99,9\n', {}, "line 7, column 'rank': rank 99"),
    ("rank\n3\n12\n", NINE, "line 3, column 'rank' … rank 12 … n = 9 … give a larger n"),
    (
        f"{HEADER}A,u,4,9\nA,v,0,9\n",
        {"kind": ZeroBasedRanks},
        "line 3, column 'rank' … count from 0 … add 1 … zero_based=True",
    ),
    ("rank\n0\n9\n", ZEROS, "line 3 … rank 9 counting from 0 … n = 9"),
    ("rank\n0\n-1\n", ZEROS, "rank -1 is below 0"),
    (HEADER, {}, "ranks.csv has a header line but no rows"),
    ("system,user,score\nA,u,1\n", {}, NO_RANKS + "'system', 'user', 'score' … system column"),
    ("user,comment\nu,a\n", {}, NO_RANKS + "'user', 'comment' … no column holds ranks"),
    ("user,n\nu,9\n", {}, NO_RANKS + "'user', 'n' … no column holds ranks"),
    ("ties,A\n0,5\n", {}, NO_RANKS + "'ties', 'A' … 'ties' needs one"),
    ("system rank\nA 5\n", {}, NO_RANKS + "'system rank' … commas, semicolons or tabs"),
    ("user,n,A,B\nu,9,1,2\nv,9,3,7.5\n", {}, "line 3, column 'B' … 7.5 … remove the column"),
    ("A,B\n1,2\n3,x\n", NINE, "line 3, column 'B': 'x' is not a number"),
    ("A,B\n1,2\n,3\n12,4\n", NINE, "line 4, column 'A': rank 12"),
    ("n,A\n9,1\n0,1\n", {}, "line 3, column 'n': n must be at least 2"),
    ("1,2,3\nX,1,74\n", {}, "line 1 … add a header line … system,instance,rank"),
    ("X,0,43\nX,1,74\n", {}, "line 1 … add a header line … system,instance,rank"),
    ("A,B,A\n1,2,3\n", {}, "ranks.csv, line 1: the column 'A' appears twice"),
    ("user,user_id,rank\n1,1,3\n", {}, "'user' and 'user_id' both mean 'instance' … keep one"),
    (
        f"{HEADER}A,u,5,9\nB,u,5,9\nA,v,5,9\n\nA,u,5,9\nB,v,1,9\n",
        {},
        "line 6, column 'rank' … system 'A' … instance 'u' … rank 5 twice … first in line 2 … "
        "remove one",
    ),
    (f"{HEADER}A,u,1,9\nA,u,2,8\n", {}, "instance 'u' … system 'A' … 9 and 8"),
    ("rank,n,ties\n3,9,0\n3,9,7\n", {}, "line 3, column 'ties' … rank 3 … with 7 others … n = 9"),
    ("rank,n,tied\n3,9,0\n3,9,-1\n", {}, "line 3, column 'tied' … rank 3 … with -1 others … n = 9"),
    ("rank,n,mass_above\n3,9,1.5\n", {}, "line 2, column 'mass_above' … 1.5 … 0..1"),
    ("rank,n,mass_above\n3,9,-0.1\n", {}, "line 2, column 'mass_above' … -0.1 … 0..1"),
    ("rank,n,mass_above\n3,9,inf\n", {}, "line 2, column 'mass_above' … inf … 0..1"),
    (
        "rank,count\n1,1\n3,-1\n",
        NINE,
        "line 3, column 'count' … how many instances … -1 is below 0",
    ),
    ("count,A\n1,2\n", {}, "no rank column … 'count' needs one"),
    ("rank,count\n1,1\n3,\n", NINE, "line 3, column 'count' … how many instances … blank"),
    ("rank,count\n1,1\n3,a\n", NINE, "column 'count' … how many instances … 'a' is not a number"),
    ("rank,count\n1,1\n3,inf\n", NINE, "line 3, column 'count' … 'inf' is not a number"),
    ("rank,count\n1,1\n3,1e308\n", NINE, "line 3, column 'count' … 1e+308 is too large"),
    (
        "user,rank\nu,3\nBjörn,4\n".encode("latin-1"),
        {},
        "ranks.csv, line 3 … not UTF-8 … 0xf6 … save the file as UTF-8",
    ),
    (f'{HEADER}A,t,1,9\nA,"u,1,9\nA,v,2,9\n', {}, "ranks.csv, line 3 … quotation mark"),
    (f"{HEADER}A,u,1,9\nB,v,1,9\n", DIFFER, 'share none … instances="any"'),
    (f"{HEADER}A,u,1,9\nB,v,1,9\n", DIFFER | {"instances": "shared"}, "share none"),
    (
        HEADER + "".join(f"S{i},u{i},1,9\n" for i in range(6)),
        DIFFER,
        "'S0' lacks 'u1', 'u2', 'u3' and 2 more; 'S1' lacks … 4 more lack some",
    ),
    ("user,A,B\nu,1,2\nv,,\nw,3,\n", NINE | DIFFER, "'B' lacks 'w'. All share 1 of 2"),
    ("run,rank\n" + "".join(f"u{i},3\n" for i in range(1001)), NINE, "1,001 systems … instance"),
    (column(1.0, 2.5), PARQUET, "row 2, column 'rank': 2.5 is not a whole number"),
    (column(1.0, None), PARQUET, "row 2, column 'rank': the cell is blank"),
    (column("1", "x"), PARQUET, "row 2, column 'rank': 'x' is not a number"),
    (column(True, False), PARQUET, "row 1, column 'rank': True is not a number"),
    (column([1], [2]), PARQUET, "row 1, column 'rank'"),
    (column(1, 12), PARQUET, "x.parquet, row 2, column 'rank': rank 12"),
    (b"rank\n3\n", PARQUET, "x.parquet is not what its name says … plain text … .csv"),
    (b"PK\x03\x04....", PARQUET, "zip archive"),
    (b"ab\0\0cd", PARQUET, "not Parquet"),
    (THOUSAND[:-200], PARQUET, "x.parquet cannot be read as Parquet"),
    (THOUSAND[:4] + b"\xff" * 60 + THOUSAND[64:], PARQUET, "x.parquet cannot be read as Parquet"),
    (saved({"rank": [], "n": []}), PARQUET, "x.parquet has columns but no rows"),
    (b"PAR1....PAR1", {}, "Parquet file; rename it"),
    (b"PK\x03\x04....", {}, "Excel workbook; save the sheet as CSV"),
    (b"\xd0\xcf\x11\xe0....", {}, "old Excel workbook"),
    (b"\x89PNG\r\n\x1a\n", {}, "PNG picture"),
    (b"%PDF-1.7", {}, "PDF document"),
    (b"\x1f\x8b\x08", {}, "gzip but cut off; copy or download"),
    ("\ufeffrank\n3\n".encode("utf-16-le"), {}, "UTF-16; save it as UTF-8"),
    (b'{"rank": [1]}', {}, "JSON"),
    (b"<!DOCTYPE html><html>", {}, "web page"),
    (b"rank\n\0\0\0\n", {}, "zero bytes"),
    (b"BZh91AY&SY", {}, "bzip2; unpack it, or use gzip"),
    (b"\xfd7zXZ\0\0", {}, "xz; unpack it"),
    (b"\x28\xb5\x2f\xfd....", {}, "zstd; unpack it"),
]
WRONG += [
    (data, {"name": name}, f"{name} is empty … header")
    for name in ("x.parquet", "r.csv", "r")
    for data in (b"", b"\n", b" \r\n \n")
]


@pytest.mark.parametrize(("content", "options", "facts"), WRONG, ids=range(len(WRONG)))
def test_wrong_files(content, options, facts):
    complaint(content, facts=facts, **options)


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
        read(COVER)
    facts = "'A' lacks 'u8' … 'B' lacks 'u3', 'u4', 'u5' and 2 more … share 3 of 9"
    sentence = complaint(COVER, facts=f'{facts} … instances="shared"', kind=DifferentInstances)
    assert info.value.missing == {"A": ("u8",), "B": ("u3", "u4", "u5")}
    again = pickle.loads(pickle.dumps(info.value))
    assert (str(again), again.shared, again.missing) == (sentence, 3, info.value.missing)


def test_different_instances_can_be_kept():
    shared = read(COVER, instances="shared")
    assert [s.instances.tolist() for s in shared] == [["u0", "u1", "u2"]] * 2
    assert [len(s) for s in read(COVER, instances="any")] == [8, 4]
    with pytest.raises(ValueError, match="instances must be one of same, shared, any"):
        read(COVER, instances="some")


def test_different_numbers_of_relevant_items():
    text = f"{HEADER}A,u,1,9\nA,u,2,9\nA,v,1,9\nB,u,4,9\nB,v,4,9\n"
    fact = "instance 'u' has 2 relevant items in 'A' and 1 in 'B'"
    complaint(text, facts=fact, kind=DifferentInstances)
    assert [s.instances.tolist() for s in read(text, instances="shared")] == [["v"], ["v"]]


def test_unlabelled_systems_of_different_length():
    text = "system,rank,n\nA,1,9\nA,2,9\nB,3,9\n"
    facts = "'A' has 2 ranks … 'B' has 1 … instance column … instances=\"any\""
    complaint(text, facts=facts, kind=DifferentInstances)
    assert [len(s) for s in read(text, instances="any")] == [2, 1]
