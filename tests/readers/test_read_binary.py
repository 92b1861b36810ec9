"""NumPy arrays, Parquet and gzip: values of each type are read, or the error names the type."""

import datetime
import gzip
import io
import pickle
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from sampledash import RankSet, SampledRankSet
from tests.hostile import HEAD, npy, npy_header, saved
from tests.readers.reading import complaint, labels_of, ranks_of, read, refused, sampled

pytestmark = pytest.mark.filterwarnings("error")
DAY = datetime.date(2020, 1, 2)
LISTS, BYTES = [[1], [2]], [b"1", b"2"]
ODD = [
    (pa.array(LISTS), "list"), (pa.array([{"a": 1}, {"a": 2}]), "struct"),
    (pa.array(BYTES), "binary"), (pa.array(BYTES, pa.binary(1)), "fixed_size_binary[1]"),
    (pa.array(BYTES).dictionary_encode(), "binary"),
    (pa.array([1, 2], pa.duration("s")), "duration[s]"),
]  # fmt: skip
DATED = [pa.array([DAY, DAY]), pa.array([1, 2], pa.timestamp("ms")), pa.array([1, 2], pa.date64())]


TABLE = b"system,user,rank,n\nA,u,3,9\nA,v,5,8\nB,u,1,9\nB,v,8,8\n"


@pytest.mark.parametrize("dtype", ["i8", "i2", ">i4", "u1", "u8", "f8", "f2", ">f4"])
def test_dimensions_are_instances_and_systems(dtype):
    for name in ("BPR.npy", "BPR", "BPR.csv"):  # the ending has no effect
        sets = read(npy(np.array([3, 5, 200], dtype=dtype)), name, n=200)
        assert ranks_of(sets) == {"BPR": [3, 5, 200]}
        assert labels_of(sets) == [[1, 2, 3]]
    for order in "CF":
        array = np.array([[3, 1], [5, 8], [2, 2]], dtype=dtype, order=order)
        sets = read(npy(array), "BPR.npy", n=9)
        assert ranks_of(sets) == {"BPR 1": [3, 5, 2], "BPR 2": [1, 8, 2]}


class Trap:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def test_pickles_are_refused():
    said = "Python objects (a pickle), which are never read"
    for dtype in ("O", [("rank", "O")]):
        complaint(npy(np.array([(Trap(),)], dtype=dtype), allow_pickle=True), "BPR.npy", said)
    said = "a pickle, which is never read"
    for protocol in (2, 3, 4, 5):
        for name in ("BPR.npy", "ranks.csv", "ranks.pkl"):
            complaint(pickle.dumps(Trap(), protocol=protocol), name, said)
    stream = io.BytesIO()
    np.savez(stream, ranks=np.arange(3))
    complaint(stream.getvalue(), "BPR.npy", "BPR.npy holds ranks; save CSV, or arrays named pos")


@pytest.mark.parametrize(("column", "what"), ODD, ids=lambda x: x if isinstance(x, str) else "")
@pytest.mark.parametrize("role", ["system", "instance", "rank", "n", "count", "seed"])
def test_columns_that_are_neither_numbers_nor_text(column, what, role):
    columns = {"system": ["A", "B"], "rank": [1, 2], "n": [9, 9], role: column}
    good = "numbers" if role in ("rank", "n", "count") else "numbers or text"
    said = f"row 1, column '{role}': it holds values of the type {what}; save it as {good}"
    complaint(saved(columns), "r.parquet", said)
    wide = saved({"A": [1, 2], "B": column})  # B holds no numbers, so it is not a system
    assert [s.system for s in read(wide, "r.parquet", n=9)] == ["A"]
    extra = saved({"rank": [1, 2], "score": column})
    assert read(extra, "r.parquet", n=9)[0].ranks.tolist() == [1, 2]


@pytest.mark.parametrize("column", DATED)
def test_dates_are_labels_and_no_numbers(column):
    complaint(saved({"rank": column}), "r.parquet", "it holds values of the type", n=9)
    day = pa.array([DAY, None, DAY]).slice(0, 1)
    assert labels_of(read(saved({"user": day, "rank": [3]}), "r.parquet", n=9)) == [["2020-01-02"]]


KINDS = [pa.string(), pa.large_string(), pa.int64(), pa.uint8(), pa.uint64(), pa.float32()]
KINDS += [pa.float64(), pa.decimal128(19, 0), pa.decimal128(21, 2)]
NUMBERS = [pa.array([3, 5]).cast(kind) for kind in KINDS]
NUMBERS += [NUMBERS[0].dictionary_encode(), NUMBERS[2].dictionary_encode()]
NUMBERS += [pa.array(np.array([3, 5], dtype=np.float16))]


@pytest.mark.parametrize("column", NUMBERS, ids=lambda column: str(column.type))
def test_numbers_of_every_type(column):
    for columns in ({"rank": column, "n": [9, 9]}, {"S": column}):
        (ranks,) = read(saved(columns), "S.parquet", n=9)
        assert (ranks.system, ranks.ranks.tolist()) == ("S", [3, 5])
    (ranks,) = read(saved({"user": column, "rank": [3, 5]}), "S.parquet", n=9)
    texts = [f"{x}.00" for x in (3, 5)] if str(column.type) == "decimal128(21, 2)" else [3, 5]
    assert ranks.instances.tolist() == texts


BIG = 2**63 - 1


@pytest.mark.parametrize("value", [BIG, 2**62, -BIG, -(2**62)])
@pytest.mark.parametrize("column", ["rank", "ties", "n"])
def test_whole_numbers_whose_sums_overflow(value, column):
    row = {"rank": 3, "ties": 0, "n": 9} | {column: value}
    text = ",".join(row) + "\n" + ",".join(map(str, row.values())) + "\n"
    binary = saved({name: [number] for name, number in row.items()})
    for data, name in ((text, "r.csv"), (binary, "r.parquet")):
        complaint(data, name, f"column '{column}' … too large")
    said = "is too large" if value != -(2**62) else "must be at least"
    refused(lambda: RankSet("A", row["rank"], row["n"], ties=[row["ties"]]), said, ValueError)


def test_sampled_ranks_that_overflow():
    refused(lambda: sampled(f"system,sampled_rank,m,n\nA,{BIG},{BIG},9\n"), "too large")
    refused(lambda: SampledRankSet("A", [1], 9, BIG), "is too large", ValueError)
    for m in (10**11, np.arange(1000, 9000)):  # the ranks 1..m+1 of all m are too many
        ones = np.ones(np.size(m), dtype=int)
        refused(lambda x=ones, m=m: SampledRankSet("A", x, 10**12, m), "sample fewer", ValueError)


@pytest.mark.parametrize("count", [1e308, 1e15])
def test_counts_that_sum_to_too_much(count):
    how = {"counts": [count] * 2}
    refused(lambda: RankSet("A", [3, 4], 9, **how), "sum to", ValueError)
    refused(lambda: SampledRankSet("A", [3, 4], 9, 5, **how), "sum to", ValueError)


def test_labels_that_are_no_integers_of_64_bits():
    text = "user,rank\n1e300,3\n2e300,4\ninf,5\n"
    assert labels_of(read(text, n=9)) == [["1e300", "2e300", "inf"]]
    halves = read(saved({"user": [2.5, 3.0], "rank": [3, 4]}), "r.parquet", n=9)
    assert labels_of(halves) == [["2.5", "3.0"]]
    floats = saved({"user": [1e300, 2e300, np.inf], "rank": [3, 4, 5]})
    assert len(set(*labels_of(read(floats, "r.parquet", n=9)))) == 3
    users = pa.array([2**64 - 1, 2**64 - 2, 5], pa.uint64())
    sets = read(saved({"user": users, "rank": [3, 4, 5]}), "r.parquet", n=9)
    assert labels_of(sets) == [[str(2**64 - 1), str(2**64 - 2), "5"]]
    high, low = np.array([2**64 - 1, 0], np.uint64), np.array([-1, 0])
    assert RankSet("A", [3, 4], 9, instances=high) != RankSet("A", [3, 4], 9, instances=low)


def test_text_in_arrays_is_neither_cut_short_nor_made_up():
    fields = "[('system', '<U1'), ('rank', '<i8')]"
    for kind, size in ((">U", 200), ("U", 201), ("S", 200), ("S", 201)):
        rows = np.array([("A" * size, 3)], dtype=[("system", f"{kind}{size}"), ("rank", "i8")])
        if size == 201:
            complaint(npy(rows), "x.npy", "has 201 characters, more than 200", n=9)
        else:
            assert ranks_of(read(npy(rows), "x.npy", n=9)) == {"A" * 200: [3]}
    for code in (0xD800, 0x110000, 0xFFFFFFFF):
        body = np.array([(code, 3)], dtype=[("c", "<u4"), ("r", "<i8")]).tobytes()
        data = npy_header(HEAD % (fields, "False", "(1,)"), body)
        complaint(data, "x.npy", "'system' holds neither numbers nor text in UTF-8", n=9)
    array = np.array([(3, 1.5)], dtype=[("rank", "i8"), ("Größe", "f8")])
    assert ranks_of(read(npy(array), "BPR.npy", n=9)) == {"BPR": [3]}


def test_packed_text_parquet_arrays_and_members():
    for name in ("ranks.csv.gz", "ranks.gz", "ranks.CSV.GZ", "ranks.csv", "ranks"):
        assert read(gzip.compress(TABLE), name) == read(TABLE, "ranks.csv")
    data = saved(pa.Table.from_pandas(pd.read_csv(io.BytesIO(TABLE))))
    assert read(gzip.compress(data), "r.parquet.gz") == read(TABLE, "ranks.csv")
    packed = read(gzip.compress(npy(np.array([3, 5]))), "BPR.npy.gz", n=9)
    assert ranks_of(packed) == {"BPR": [3, 5]}
    assert ranks_of(read(gzip.compress(b"rank,n\n3,9\n"), "My model.csv.gz")) == {"My model": [3]}
    data = gzip.compress(TABLE[:30]) + gzip.compress(TABLE[30:]) + b"\0" * 8
    assert read(data, "r.csv.gz") == read(TABLE, "r.csv")


def test_damage_is_said():
    packed = gzip.compress(TABLE * 50)
    broken = bytearray(packed)
    broken[len(packed) // 2] ^= 0x5A
    for data, said in (
        (packed[:-9], "or cut off; copy or download it again"),
        (packed[:5], "cut off"),
        (bytes(broken), "damaged"),
        (packed[:-6] + b"\1\1" + packed[-4:], "damaged"),  # a wrong checksum
        (packed + b"system,rank\n", "damaged"),
        (gzip.compress(gzip.compress(TABLE)), "zero bytes; save CSV"),
        (gzip.compress(b""), "is empty"),
        (gzip.compress(b"rank,n\n3,9\n12,9\n"), "r.csv.gz, line 3, column 'rank': rank 12"),
    ):
        complaint(data, "r.csv.gz", said)
    # Printing Arrow's description of this file's column crashes Python; the reader must refuse it.
    data = (Path(__file__).parent / "fixtures" / "damaged_histogram.parquet").read_bytes()
    complaint(data, "r.parquet", "r.parquet cannot be read as Parquet: it is damaged")
