"""Every wrong file raises an error of one sentence with the file, row, column, value and remedy."""

import pickle
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

from sampledash.command_line import main
from sampledash.readers import tables, trec, upload_limits
from sampledash.readers.files import read_rank_sets, read_sampled_ranks
from sampledash.readers.pasted import open_text, parse_rank_text, weights_of_text
from sampledash.readers.printed_table import read_printed
from sampledash.readers.upload_limits import DifferentInstances
from tests.hostile import npy, npz, saved
from tests.readers.reading import complaint, read, refused, sampled

HEADER = "system,user,rank,n\n"
SHORT = {
    "HEAD": HEADER,
    "RUN": "1 Q0 a 1 3.0 A\n1 Q0 b 2 2.0 A\n2 Q0 c 1 9 A\n2 Q0 b 2 1e0 A\n",
    "QRELS": "1 0 b 1\n2 0 c 2\n2 0 x 0\n",
    "SAMPLED": "system,sampled_rank,n_candidates,m\nX,1,900,5\n",
    "ADAPTIVE": "system,sampled_rank,n,m,adaptive\nA,1,100,20,yes\nA,4,100,10",
    "NO_RANKS": "has no rank column … rank, or sampled_rank for ranks among sampled",
    "FORTY": "h" * 40,
    "LONG": "1000000000" * 4,
    "\\ud800": "\ud800",
    "TEN": "".join(f"{i},99,{90 - i}\n" for i in range(1, 11)),
    "\\n": "\n",
    "\\r": "\r",
    "\\t": "\t",
}

#: Sections begin with ``== call | facts in all messages | error class``. Each entry below is ``text
#: that the call gets as X | facts in the message``; || separates several entries in a line.
TABLE = (Path(__file__).parents[1] / "data" / "wrong_files.txt").read_text("utf-8")


def after_a_good_row(row):
    """Read a file with a header, a blank line, a good row, and ``row`` in line 4."""
    return read(f"{HEADER}\nA,t,1,9\n{row}\n")


READERS = (after_a_good_row, open_text, parse_rank_text, read, read_printed, sampled)
NAMES = {x.__name__: x for x in (*READERS, read_sampled_ranks, weights_of_text)} | SHORT
NAMES |= {x.__name__: x for x in (np.array, np.ones, np.zeros)}


def rows():
    for section in f"\n{TABLE}".replace("\n    | ", " | ").split("\n== ")[1:]:
        head, *texts = section.strip("\n").split("\n")
        call, every, kind = [*head.split(" | "), "", ""][:3]
        for text, facts in (case.split(" | ") for line in texts for case in line.split(" || ")):
            yield call, text, f"{every} … {facts}" if every else facts, kind


def filled(text):
    for name, value in SHORT.items():
        text = text.replace(name, value)
    return text


ROWS = list(rows())
assert len(ROWS) == len(set(ROWS)) > 150  # no entry of TABLE is lost or repeated


@pytest.mark.parametrize(("call", "text", "facts", "kind"), ROWS)
def test_what_is_refused(call, text, facts, kind, monkeypatch):
    names = {**NAMES, "X": filled(text)}
    which = getattr(upload_limits, kind or "ReadError")
    for small in (tables.SMALL, 0):  # with 0, the fast parser of large files is tried first
        for module in (tables, trec):
            monkeypatch.setattr(module, "SMALL", small)
        refused(lambda: eval(call, names), filled(facts), which)


def column(*values):
    return saved({"user": ["a", "b"], "rank": values, "n": [9, 9]})


NINE, PARQUET, THOUSAND = {"n": 9}, {"name": "x.parquet"}, saved({"rank": range(1000)})
BPR = NINE | {"name": "BPR.npy"}
WRONG = [
    ("run,rank\n" + "".join(f"u{i},3\n" for i in range(1001)), NINE, "1,001 systems … instance"),
    ("1 Q0 ü 1 3 A\n".encode("latin-1"), {"name": "my.run"}, "line 1: the text is not UTF-8"),
    ("user,rank\nu,3\nBjörn,4\n".encode("latin-1"), {},
     "ranks.csv, line 3 … not UTF-8 … 0xf6 … save it so"),
    (column(1.0, 2.5), PARQUET, "row 2, column 'rank': 2.5 is not a whole number"),
    (column(1.0, None), PARQUET, "row 2, column 'rank': the cell is blank"),
    (column("1", "x"), PARQUET, "row 2, column 'rank': 'x' is not a number"),
    (column(1, 12), PARQUET, "x.parquet, row 2, column 'rank': rank 12"),
    (b"ab\0\0cd", PARQUET, "neither text nor Parquet nor a numpy array"),
    (THOUSAND[:4] + b"\xff" * 60 + THOUSAND[64:], PARQUET, "x.parquet cannot be read as Parquet"),
    (saved({"rank": [], "n": []}), PARQUET, "x.parquet has columns but no rows"),
    (b"PAR1....PAR1", {}, "ranks.csv cannot be read as Parquet: it is damaged"),
    (b"rank\n\0\0\0\n", {}, "zero bytes"),
]  # fmt: skip
NAMED, LETTERS = ([("system", kind), ("rank", "i8")] for kind in ("U1", "S1"))
ARRAYS = [
    (np.array([("A", 3), ("A", 12)], NAMED), "BPR.npy, row 2, column 'rank': rank 12"),
    (np.array([1, np.inf]), "row 2, column 'rank': inf is not a number"),
    (np.array([np.nan]), "row 1, column 'rank': the cell is blank"),
    (np.array([[1, 2], [-4, 3]]), "row 2, column 'BPR 1': rank -4"),
    (np.array(3), "the shape ()"), (np.ones((2, 2, 2), dtype=int), "the shape (2, 2, 2)"),
    (np.array([], dtype=int), "is empty: its shape is (0,)"),
    (np.array([True, False]), "of the type bool"), (np.array(["a"]), "type <U1, not ranks"),
    (np.array([1j]), "complex128"),
    (np.array([[0.1, np.nan]]), "BPR.npy: neg, row 1, holds nan, which is no score"),
    (np.array([[0.1, 0.2]]), "BPR.npy holds sampled ranks (its columns say so)"),
    (np.array(["2020"], dtype="M8[D]"), "datetime64[D], not ranks"),
    (np.ones(2, np.longdouble), "BPR.npy holds values of the type"),
    (np.zeros(2, dtype=[("rank", np.longdouble)]), "field 'rank' holds neither numbers nor"),
    (np.zeros((2, 2), dtype=[("rank", "i8")]), "the shape (2, 2); save one dimension or two"),
    (np.zeros(2, dtype=[("rank", "i8", 2)]), "field 'rank' holds neither"),
    (np.zeros(2, dtype=[("rank", "M8[s]")]), "field 'rank' holds neither"),
    (np.array([(b"\xff", 1)], LETTERS), "nor text in UTF-8"),
    (np.zeros(2, dtype=[("score", "i8"), ("user", "i8"), ("ties", "i8")]), "no rank column"),
]  # fmt: skip
GOOD = npy(np.arange(1, 9))
HUGE = GOOD.replace(b"(8,), }", b"(999999999999,), }").replace(b" " * 11 + b"\n", b"\n")
assert len(HUGE) == len(GOOD)
SHADE = GOOD.replace(b"'shape'", b"'shade'")
NEGATIVE = GOOD.replace(b"(8,)", b"(-8,)").replace(b" \n", b"\n")
DAMAGED = (HUGE, GOOD[:-1], GOOD[:20], GOOD + b"\0", SHADE, NEGATIVE)
BLANK = [
    ({"rank": pa.nulls(2)}, "row 1, column 'rank': the cell is blank"),
    ({"system": pa.nulls(2), "rank": [1, 2]}, "row 1, column 'system': the cell is blank"),
    ({"A": pa.nulls(2)}, "has no rank column"),
    ({"user": [1, None], "rank": [1, 2]}, "row 2, column 'user': the cell is blank"),
]
SIGNATURES = {
    "an Excel workbook, a zip, or cut off; save": b"PK\x03\x04",
    "an old Excel workbook; save the table as CSV": b"\xd0\xcf\x11\xe0",
    "a picture or a PDF document; save the table as CSV": b"\x89PNG|\xff\xd8\xff|GIF8|%PDF",
    "compressed, but not with gzip; save the table as CSV": b"BZh|\xfd7zXZ|\x28\xb5\x2f\xfd",
    "an Arrow file or a database; save the table as CSV": b"ARROW1|SQLite format 3",
    "text in UTF-16; save the table as CSV in UTF-8": b"\xff\xfe|\xfe\xff",
    "a web page, or a sheet saved as one; ": b" <!DOCTYPE html|<html|<table|<meta|<?xml",
    "JSON that cannot be read: JSON lines have": b'{"a"|{"pos": 1, "neg": [2, "x"]}',
    "JSON; save the table as CSV": b'[{"a"|[[1, 2]|{\n "A": [1]|[\n  {\n    "rank": 1',
}
EMPTY = [(x, name) for x in (b"", b"\n", b" \r\n \n") for name in ("x.parquet", "r.csv", "r")]
WRONG += [(npy(array), BPR, facts) for array, facts in ARRAYS]
ZIPS = [
    (dict(pos=[1.0], neg=[[np.inf]]), "S.npz: neg, row 1, holds inf"),
    (dict(pos=[None], neg=[[1]]), "S.npz holds Python objects, not numbers; save scores as"),
    (dict(a=[1.0]), "S.npz holds a; save CSV, or arrays named pos and neg"),
    (dict(pos=[0.1], neg=np.zeros((2**25, 1))), "S.npz unpacks to more than 256 MiB; save scores"),
]
LISTS = [
    (
        {"pos": [1, 2], "neg": [[1, 2], [3]]},
        "row 2, column 'neg': 1 scores, but row 1 has 2; write",
    ),
    ({"pos": [1, 2], "neg": [[1], None]}, "row 2, column 'neg': 0 scores, but row 1 has 1"),
    ({"pos": [1, 2], "neg": [[1], [None]]}, "neg, row 2, holds nan"),
]
WRONG += [(npz(**arrays), {"name": "S.npz"}, facts) for arrays, facts in ZIPS]
WRONG += [(saved(pa.table(table)), PARQUET, facts) for table, facts in LISTS]
WRONG += [(data, BPR, "BPR.npy cannot be read … damaged or cut off") for data in DAMAGED]
WRONG += [(saved(table), PARQUET | NINE, facts) for table, facts in BLANK]
for _what, _begins in SIGNATURES.items():
    WRONG += [(x + b"....", {}, f"ranks.csv is {_what}") for x in _begins.split(b"|")]
WRONG += [(data, {"name": name}, f"{name} is empty … header") for data, name in EMPTY]


@pytest.mark.parametrize(("content", "options", "facts"), WRONG, ids=range(len(WRONG)))
def test_wrong_files(content, options, facts):
    complaint(content, facts=facts, **options)


def test_no_such_file(tmp_path):
    for source, said in (
        (tmp_path / "nowhere.csv", "'nowhere.csv': there is no such file"),
        (tmp_path, "holds no file *.parquet"),
        (5, "parse_rank_text"),
    ):
        refused(lambda source=source: read_rank_sets(source), said)


def test_a_missing_extra_is_named(tmp_path, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "ibis", None)
    assert main(["rank", str(tmp_path)]) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n"), "pip install '.[warehouse]'" in err) == ("", 1, True)
    (tmp_path / "part.parquet").touch()
    refused(lambda: read_rank_sets(tmp_path), ".[warehouse]", ValueError)


COVER = HEADER + "".join(f"A,u{i},3,9\n" for i in range(8))
COVER += "".join(f"B,u{i},4,9\n" for i in (0, 1, 2, 8))


def test_different_instances():
    facts = "'u3' has 1 relevant item in 'A' and 0 in 'B'. All share 3 of 9"
    sentence = complaint(COVER, facts=f'{facts} … instances="shared"', kind=DifferentInstances)
    with pytest.raises(DifferentInstances) as info:
        read(COVER)
    ways = {"Compare the 3 instances they share": {"instances": "shared"}}
    for error in (info.value, pickle.loads(pickle.dumps(info.value))):
        assert (str(error), error.ways) == (sentence, ways)
    assert [len(s) for s in read(COVER, instances="any")] == [8, 4]
    said = "instances must be one of same, shared, any"
    refused(lambda: read(COVER, instances="some"), said, ValueError)
    for text, way, options in (
        (f"{HEADER}A,u,1,9\nA,u,2,9\nA,v,1,9\nB,u,4,9\nB,v,4,9\n",
         "Compare the 1 instance they share", {"instances": "shared"}),
        (f"{HEADER}A,u,1,9\nB,v,1,9\n", "Compare them as they are", {"instances": "any"}),
        ("rank,system,n\n3,A,9\n3,B,9\n4,B,9\n", "Compare them as they are", {"instances": "any"}),
    ):  # fmt: skip
        with pytest.raises(DifferentInstances) as info:
            read(text)
        assert info.value.ways == {way: options}
