"""What is too large is refused before the work, by a sentence that says how to make it smaller."""

import gzip
import io

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

from sampledash.readers import upload_limits as limits
from sampledash.readers.pasted import parse_rank_text
from tests.hostile import npy, saved
from tests.readers.reading import complaint, ranks_of, read, refused, together

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
    (gzip.compress(b"") * 100_001, {"name": "r.csv.gz"}, "in more than 100,000 pieces"),
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


def test_too_many_typed_systems_and_many_pieces_of_gzip():
    typed = "\n".join(f"{name}: 3 4" for name in NAMES[:1001])
    refused(lambda: parse_rank_text(typed, n=9), "1,001 systems")
    data = gzip.compress(b"") * 1000 + gzip.compress(b"rank,n\n3,9\n")
    assert ranks_of(read(data, "r.gz")) == {"r": [3]}


@pytest.mark.parametrize(
    ("limit", "value", "said"),
    [(limits.ROWS, 2, "holds 3 rows, more than 2"), (limits.BYTES, 2**20, "holds more than 1 MiB")],
)
def test_large_files(monkeypatch, limit, value, said):
    monkeypatch.setattr(limit, "most", value)
    size = 1 if limit is limits.ROWS else 2**19
    complaint(b"rank\n" + b"3\n" * (2 + size), facts=said, n=9)


def named_fields(**columns) -> bytes:
    table = pd.DataFrame({name: np.asarray(values) for name, values in columns.items()})
    kinds = {name: np.asarray(values).dtype for name, values in columns.items()}
    return npy(table.to_records(index=False, column_dtypes=kinds))


FORMS = {
    "r.csv": lambda **c: pd.DataFrame(c).to_csv(index=False).encode(),
    "r.parquet": lambda **c: saved(c),
    "r.npy": named_fields,
}


@pytest.mark.parametrize("name", FORMS)
def test_rows_that_cost_more_are_fewer(monkeypatch, name):
    monkeypatch.setattr(limits.ROWS, "most", 4)
    monkeypatch.setattr(limits.LABELLED, "most", 3)
    for limit in (limits.CAREFUL, limits.TEXTS):
        monkeypatch.setattr(limit, "most", 2)
    write = FORMS[name]

    def reads(rows: int, **columns) -> None:
        data = write(**{key: values[:rows] for key, values in columns.items()})
        monkeypatch.setattr("sampledash.readers.tables.SMALL", 0)
        (found,) = read(data, name)
        assert found.ranks.tolist() == columns["rank"][:rows]

    def refuses(rows: int, said: str, **columns) -> None:
        data = write(**{key: values[:rows] for key, values in columns.items()})
        complaint(data, name, said)

    plain = {"system": ["A"] * 5, "rank": [3, 1, 3, 5, 2], "n": [9] * 5, "count": [1, 4, 2, 1, 1]}
    reads(4, **plain)
    refuses(5, f"{name} holds 5 rows, more than 4; reduce it to counts", **plain)
    known = {"rank": [3, 1, 3, 5, 2], "n": [9] * 5, "user": [7, 8, 10, 11, 12]}
    reads(3, **known)
    refuses(4, f"{name} holds 4 rows with a column 'user', more than 3; leave that", **known)
    text = known | {"user": ["u", "v", "w", "x", "y"]}
    reads(2, **text)
    refuses(3, f"{name}, column 'user' holds 3 rows with labels that are no whole", **text)
    tied = {"rank": [3, 1, 3, 5, 2], "n": [9] * 5, "ties": [0] * 5}
    refuses(4, f"{name} holds 4 rows with a column 'ties', more than 3", **tied)


def test_columns_take_little_room_and_keep_their_values(monkeypatch):
    monkeypatch.setattr("sampledash.readers.tables.SMALL", 0)
    for ranks, n in (
        ([1, 2**30 - 1, 2**30, 2**31, 2**32 + 5, 10**12], 10**12),
        ([1, 2**30 - 1, 2**30 - 2], 2**30),
        ([7, 7, 7], 9),
        ([2**30 - 1] * 2, 2**31 - 1),
    ):
        tied = [min(n - rank, 2**31) for rank in ranks]
        for name, write in FORMS.items():
            data = write(rank=ranks, n=[n] * len(ranks), ties=tied)
            (found,) = read(data, name)
            assert found.ranks.tolist() == ranks
            assert found.ties.tolist() == tied
            assert found.ranks.dtype == found.n.dtype == found.ties.dtype == np.int64
            assert not found.ranks.flags.writeable
    low = b"rank,n\n" + b"0,9\n" * 3
    (found,) = read(low, "r.csv", zero_based=True)
    assert found.ranks.tolist() == [1, 1, 1]


def test_the_second_block_may_hold_larger_numbers(monkeypatch):
    monkeypatch.setattr("sampledash.readers.tables._BLOCK", 64)
    monkeypatch.setattr("sampledash.readers.tables.SMALL", 0)
    ranks = [*range(1, 40), *range(10**11, 10**11 + 40), *range(40, 80)]
    text = "system,rank,n\n" + "".join(f"S{i // 100},{r},{10**12}\n" for i, r in enumerate(ranks))
    sets = read(text, "r.csv", instances="any")
    assert [rank for each in sets for rank in each.ranks.tolist()] == ranks
    assert [len(each) for each in sets] == [100, 19]


def test_files_together(monkeypatch):
    part, known = b"rank\n3\n4\n5\n", b"user,rank\n1,3\n2,4\n"

    def refuses(second: bytes, said: str) -> None:
        refused(lambda: together({"n": 9}, a_csv=part, b_csv=second), said)

    monkeypatch.setattr(limits.ROWS, "most", 5)
    refuses(part, "b.csv with the files before it holds 6 rows")
    monkeypatch.setattr(limits.LABELLED, "most", 4)
    refuses(known, "b.csv with the files before it holds 5 rows, more than 4")
    monkeypatch.setattr(limits.FILES, "most", 1)
    refuses(part, "holds 2 files, more than 1")


def test_large_files_of_odd_cells_of_wide_ones_and_of_trec(monkeypatch):
    monkeypatch.setattr(limits.RANKS, "most", 5)
    complaint("A,B\n1,2\n3,4\n5,6\n", facts="6 cells in columns of systems", n=9)
    complaint(npy(np.ones((3, 2), dtype=int)), "x.npy", "6 cells in columns", n=9)
    for limit in (limits.CAREFUL, limits.LINES):
        monkeypatch.setattr(limit, "most", 2)
    said = "ranks.csv holds 3 rows, some of them with a cell that is blank or no plain"
    complaint("rank,n\n3,9\n4,9\nx,9\n", facts=said)
    complaint("rank,n\n3,9\nx,9\n", facts="line 3, column 'rank': 'x' is not a number")
    run = "".join(f"q Q0 d{i} {i} {9 - i} A\n" for i in range(3))
    complaint(run, "run.txt", "run.txt holds 3 lines, more than 2")


def test_text_that_repeats_in_parquet_does_not_unfold():
    name = "A" * 190
    column = pa.array([name] * 200_000).dictionary_encode()
    table = pa.table({"system": column.cast(pa.string()), "rank": pa.array([3] * 200_000)})
    (ranks,) = read(saved(table), "r.parquet", n=9)
    assert (ranks.system, len(ranks)) == (name, 200_000)
