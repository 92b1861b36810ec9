"""Too large input is refused before it is read, with advice on how to make it smaller."""

import gzip
import io
from functools import partial
from itertools import product

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from sampledash.readers import upload_limits as limits
from sampledash.readers.columns import compact
from sampledash.readers.files import open_sources
from sampledash.readers.pasted import parse_rank_text
from tests.hostile import named_fields, npy, saved
from tests.readers.reading import buffer, complaint, files, outcome, read, refused

NAMES = [f"S{i}" for i in range(2001)]
WIDE = ",".join(NAMES) + "\n" + ",".join(["3"] * 2001) + "\n"
FEWER = ",".join(NAMES[:1001]) + "\n" + ",".join(["3"] * 1001) + "\n"
GROUPS = io.BytesIO()
parquet.write_table(pa.table({"rank": np.ones(5001, dtype=int)}), GROUPS, row_group_size=1)
NESTED = pa.array([{name: 1 for name in NAMES}])
APART = {"runs": "apart"}
TOO_MUCH = [
    (WIDE, {}, "ranks.csv, line 1 holds 2,001 columns, more than 2,000"),
    (saved({name: [3] for name in NAMES}), {"name": "r.parquet"}, "r.parquet holds 2,001 columns"),
    (npy(np.ones((1, 1001), dtype=int)), {"name": "x.npy"}, "holds 1,001 systems"),
    (FEWER, {}, "1,001 systems"),
    ("model,rank\n" + "".join(f"{x},3\n" for x in NAMES[:1001]), {}, "1,001 systems"),
    ("".join(f"q Q0 d 1 1.0 {x}\n" for x in NAMES[:1001]), {"qrels": "q 0 d 1\n"}, "1,001 systems"),
    ("model,seed,rank\n" + "".join(f"A,{i},3\n" for i in range(1001)), APART, "1,001 systems"),
    ("seed,rank\n" + "".join(f"{i},3\n" for i in range(10_001)), {},
     "line 2, column 'seed' holds 10,001 different repetitions"),
    (gzip.compress(b"") * 100_001, {"name": "r.csv.gz"}, "a gzip of more than 100,000 pieces"),
    ("system,rank,n\nA,3,9\n" + "B" * 2**20 + ",3,9\n", {}, "line 3: the line is longer than"),
    (b"1 " * 2**20, {}, "line 1: the line is longer"),
    ('system,rank,n\nA,3,9\n"' + "B\n" * 1000 + '",3,9\n', {}, "line 3, column 'system': the name"),
    (b"A" * 2000 + b",B\n1,2\n", {}, "2,000 characters, more than 200"),
    ('"' + "A" * 200_000 + '",rank\n1,2\n', {}, "line 1: a name of a column is too long"),
    (GROUPS.getvalue(), {"name": "x.parquet"}, "holds 5,001 row groups, more than 5,000"),
    (saved({"rank": [1], "x": NESTED}), {"name": "x.parquet"}, "2,002 columns"),
]  # fmt: skip


@pytest.mark.parametrize(("content", "options", "facts"), TOO_MUCH, ids=range(len(TOO_MUCH)))
def test_too_much_of_anything(content, options, facts):
    complaint(content, facts=facts, n=9, **options)


def test_too_many_typed_systems():
    typed = "\n".join(f"{name}: 3 4" for name in NAMES[:1001])
    refused(lambda: parse_rank_text(typed, n=9), "1,001 systems")


FORMS = {
    "r.csv": lambda **c: pd.DataFrame(c).to_csv(index=False).encode(),
    "r.parquet": lambda **c: saved(c),
    "r.npy": lambda **c: named_fields(c),
}


@pytest.mark.parametrize("name", FORMS)
def test_rows_that_cost_more_are_fewer(monkeypatch, name):
    monkeypatch.setattr(limits.ROWS, "most", 4)
    monkeypatch.setattr(limits.LABELLED, "most", 3)
    for limit in (limits.CAREFUL, limits.TEXTS):
        monkeypatch.setattr(limit, "most", 2)
    monkeypatch.setattr("sampledash.readers.tables.SMALL", 0)
    plain = {"rank": [3, 1, 3, 5, 2], "n": [9] * 5}
    for more, most, said in (
        ({"system": ["A"] * 5, "count": [1, 4, 2, 1, 1]}, 4,
         " holds 5 rows, more than 4; reduce it to counts"),
        ({"user": [7, 8, 10, 11, 12]}, 3, ", column 'user', holds 4 rows, more than 3; leave"),
        ({"user": [*"uvwxy"]}, 2, ", column 'user' holds 3 rows with labels that are no whole"),
        ({"ties": [0] * 5}, 3, ", column 'ties', holds 4 rows, more than 3"),
    ):  # fmt: skip
        fits, beyond = (
            FORMS[name](**{key: values[:rows] for key, values in (plain | more).items()})
            for rows in (most, most + 1)
        )
        (found,) = read(fits, name)
        assert found.ranks.tolist() == plain["rank"][:most]
        complaint(beyond, name, name + said)


def test_the_second_block_may_hold_larger_numbers(monkeypatch):
    monkeypatch.setattr("sampledash.readers.tables._BLOCK", 64)
    monkeypatch.setattr("sampledash.readers.tables.SMALL", 0)
    ranks = [*range(1, 40), *range(10**11, 10**11 + 40), *range(40, 80)]
    text = "system,rank,n\n" + "".join(f"S{i // 100},{r},{10**12}\n" for i, r in enumerate(ranks))
    sets = read(text, "r.csv", instances="any")
    assert [rank for each in sets for rank in each.ranks.tolist()] == ranks
    assert [len(each) for each in sets] == [100, 19]


def test_files_together(monkeypatch):
    most = {"rank\n": 9, "user,rank\n{0},": 8, "user,rank\nu{0},": 7}
    for name, rows in zip(("ROWS", "LABELLED", "TEXTS"), most.values(), strict=True):
        monkeypatch.setattr(getattr(limits, name), "most", rows)
    monkeypatch.setattr(limits.LINES, "most", 6)

    def opened(said: str = "", **texts: str) -> None:
        outcome(lambda: open_sources(**files(**texts)), said and f"with the files before it {said}")

    def table(form: str, rows: int) -> str:
        head, row = form.split("\n")
        return f"{head}\n" + "".join(f"{row}{{0}}\n".format(i + 2) for i in range(rows))

    for one, other in product(most, repeat=2):  # two files: the smaller limit applies
        rows = min(most[one], most[other])
        opened(a_csv=table(one, 5), b_csv=table(other, rows - 5))
        said = f"holds {rows + 1} rows, more than {rows}; reduce it to counts"
        opened(said, a_csv=table(one, 5), b_csv=table(other, rows - 4))
    run = "q Q0 d1 1 1 A\nq Q0 d2 2 1 A\n"
    rest = {"b_qrels": "q 0 d1 1\n", "c_csv": "rank\n3\n4\n5\n"}
    opened(a_run=run, **rest)
    opened("holds 7 rows, more than 6; reduce it", a_run=f"{run}q Q0 d3 3 1 A\n", **rest)
    monkeypatch.setattr(limits.BYTES, "most", 14)
    opened(a_csv="rank\n3\n", b_csv="rank\n3\n")
    opened("holds more than 0 MiB; reduce it to counts", a_csv="rank\n3\n", b_csv="rank\n35\n")
    monkeypatch.setattr(limits.FILES, "most", 1)
    two = files(a_csv="rank\n3\n", b_csv="rank\n3\n")
    refused(lambda: open_sources(**two), "source holds 2 files, more than 1; give fewer")


def test_long_lines_by_a_loop_over_the_lines(monkeypatch):
    monkeypatch.setattr(limits, "LONGEST_LINE", 8)
    rng = np.random.default_rng(0)
    for _ in range(100):
        lines = [b"x" * size for size in rng.integers(0, 11, rng.integers(1, 6)).tolist()]
        long = [i for i, line in enumerate(lines, start=1) if len(line) > 8]
        said = f"r.csv, line {long[0]}: the line is longer than" if long else ""
        for end in (b"\n", b"\r"):
            outcome(partial(limits.check_lines, end.join(lines), "r.csv"), said)


def test_bytes_are_counted_to_the_last_one(monkeypatch, tmp_path):
    data = b"rank,n\n" + b"3,9\n" * 50
    packed = gzip.compress(data)
    (tmp_path / "r.csv").write_bytes(data)
    monkeypatch.setattr(limits, "_MOST_MEMBERS", 0)
    said = "r.csv is a gzip of more than 0 pieces"
    outcome(lambda: limits.load(io.BytesIO(packed), "r.csv"), said)
    monkeypatch.setattr(limits, "_MOST_MEMBERS", 1)
    for source, verb in ((tmp_path / "r.csv", "holds"), (packed, "unpacks to"), (data, "holds")):
        for fewer, said in enumerate(("", f"r.csv {verb} more than 0 MiB; reduce")):
            monkeypatch.setattr(limits.BYTES, "most", len(data) - fewer)
            given = io.BytesIO(source) if isinstance(source, bytes) else source
            found = outcome(partial(limits.load, given, "r.csv"), said)
            assert said or found == (data, "r.csv")


def test_buffers_and_names_of_every_kind():
    class Pipe:
        def read(self, size: int) -> str:
            return "rank,n\n3,9\n"[:size]

    numbered = buffer("rank,n\n3,9\n")
    numbered.name = 5
    for source in (Pipe(), numbered, io.StringIO("rank,n\n3,9\n")):
        assert limits.load(source) == (b"rank,n\n3,9\n", "ranks")
    assert limits.load(buffer("3", "b/c.csv"))[1] == "c.csv"
    stems = "a.csv a~a.csv.gz a~A.GZ A~.gz .gz~d/b.x.csv b.x~d\\e.csv e~.csv .csv~x. x~x/y/z z"
    for name, stem in map(str.split, stems.split("~")):
        assert limits.stem_of(name) == stem
    assert limits.kind_of(b"x" * 65_536 + b"\0", "r") == limits.kind_of(b" " * 5000 + b"3", "r")
    said = "r is neither text nor Parquet nor a numpy array … it holds zero bytes"
    refused(lambda: limits.kind_of(b"x" * 65_535 + b"\0", "r"), said)
    refused(lambda: limits.kind_of(b" " * 5000, "r"), "r is empty")


@pytest.mark.parametrize(("values", "kind"), [
    ([-(2**30), 2**30 - 1], np.int32), ([-(2**30) - 1, 0], np.int64), ([0, 2**30], np.int64),
    ([0, 2**62 - 1], np.int64), (np.array([0, 2**62], np.uint64), np.uint64),
    ([0.5, 2.0], np.float64), ([3, 3], np.int32), ([2.5, 2.5], np.float64),
])  # fmt: skip
def test_columns_of_numbers_are_compact(values, kind):
    array, none = np.asarray(values), np.empty(0, np.int64)
    for pieces in ([array], [array[:1], array[1:]], [none, array, array[1:], none]):
        found = compact(pieces)
        assert (found.dtype, found.tolist()) == (kind, [x for p in pieces for x in p.tolist()])
        assert (found.strides[0] == 0) == (values[0] == values[1])
    assert compact([none]).tolist() == []


def test_large_files_of_odd_cells_of_wide_ones_and_of_trec(monkeypatch):
    monkeypatch.setattr(limits.RANKS, "most", 5)
    complaint("A,B\n1,2\n3,4\n5,6\n", facts="6 cells in columns of systems", n=9)
    complaint(npy(np.ones((3, 2), dtype=int)), "x.npy", "6 cells in columns", n=9)
    complaint(saved({"A": [1, 2, 3], "B": [3, 4, 5]}), "x.parquet", "6 cells in columns", n=9)
    lists = "q Q0 d1 1 9 A\nq Q0 d1 1 9 B\nq Q0 d1 1 9 C\n"
    complaint(lists, "x.run", "6 cells in columns", qrels="q 0 d1 1\nq 0 d2 1\n", n=9)
    for limit in (limits.CAREFUL, limits.LINES):
        monkeypatch.setattr(limit, "most", 2)
    said = "ranks.csv holds 3 rows, some with a cell that is no plain number"
    complaint("rank,n\n3,9\n4,9\nx,9\n", facts=said)
    complaint("rank,n\n3,9\nx,9\n", facts="line 3, column 'rank': 'x' is not a number")
    run = "".join(f"q Q0 d{i} {i} {9 - i} A\n" for i in range(3))
    complaint(run, "run.txt", "run.txt holds 3 lines, more than 2")


def test_a_large_parquet_file_counts_unpacked(monkeypatch):
    rows = np.arange(1, 20_001)
    table = pa.table({"rank": rows, "value": np.zeros(len(rows)), "other": np.ones(len(rows))})
    content = io.BytesIO()
    parquet.write_table(table, content, compression="gzip", use_dictionary=False)
    assert len(content.getvalue()) < 90_000
    monkeypatch.setattr(limits.BYTES, "most", 500_000)
    (ranks,) = read(content.getvalue(), "r.parquet", n=20_000)
    assert len(ranks) == 20_000
    monkeypatch.setattr(limits.BYTES, "most", 470_000)
    complaint(content.getvalue(), "r.parquet", "reduce it to counts", n=20_000)
