"""Columns of every type that Parquet and numpy know: read as what they are, or refused by name."""

from __future__ import annotations

import datetime
import io
import warnings
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from sampledash import RankSet, SampledRankSet
from sampledash.readers import ReadError, read_rank_sets, read_sampled_ranks

DAY = datetime.date(2020, 1, 2)
ODD = [
    (pa.array([[1], [2]]), "lists"),
    (pa.array([[1], [2]], pa.large_list(pa.int64())), "lists"),
    (pa.array([[1], [2]], pa.list_(pa.int64(), 1)), "lists"),
    (pa.array([{"a": 1}, {"a": 2}]), "structs"),
    (pa.array([[{"a": [1]}], [{"a": [2]}]]), "lists"),
    (pa.array([[("k", 1)], [("k", 2)]], pa.map_(pa.string(), pa.int64())), "maps"),
    (pa.array([b"1", b"2"]), "bytes"),
    (pa.array([b"1", b"2"], pa.large_binary()), "bytes"),
    (pa.array([b"1", b"2"], pa.binary(1)), "bytes"),
    (pa.array([b"1", b"2"]).dictionary_encode(), "bytes"),
    (pa.array([1, 2], pa.duration("s")), "durations"),
    (pa.array([1, 2], pa.time64("us")), "dates or times"),
]
DATED = [pa.array([DAY, DAY]), pa.array([1, 2], pa.timestamp("ms")), pa.array([1, 2], pa.date64())]


def saved(**columns) -> io.BytesIO:
    stream = io.BytesIO()
    parquet.write_table(pa.table(columns), stream)
    return stream


def complaint(stream, **options) -> str:
    with pytest.raises(ReadError) as info:
        read_rank_sets(stream, name="r.parquet", **options)
    return str(info.value)


@pytest.mark.parametrize(("column", "what"), ODD, ids=lambda x: x if isinstance(x, str) else "")
@pytest.mark.parametrize("role", ["system", "instance", "rank", "n", "count", "seed"])
def test_columns_that_are_neither_numbers_nor_text(column, what, role):
    columns = {"system": ["A", "B"], "rank": [1, 2], "n": [9, 9], role: column}
    assert f"r.parquet, row 1, column '{role}': it holds {what}" in complaint(saved(**columns))
    wide = saved(A=[1, 2], B=column)  # by their name they mean nothing
    assert [s.system for s in read_rank_sets(wide, name="r.parquet", n=9)] == ["A"]
    extra = saved(rank=[1, 2], score=column)
    assert read_rank_sets(extra, name="r.parquet", n=9)[0].ranks.tolist() == [1, 2]


@pytest.mark.parametrize("column", DATED)
def test_dates_are_labels_and_no_numbers(column):
    assert "column 'rank': it holds dates" in complaint(saved(rank=column), n=9)
    (ranks,) = read_rank_sets(saved(user=pa.array([DAY, None, DAY]).slice(0, 1), rank=[3]), n=9)
    assert ranks.instances.tolist() == ["2020-01-02"]


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["3", "5"]), pa.array(["3", "5"], pa.large_string()),
        pa.array(["3", "5"]).dictionary_encode(), pa.array([3, 5]).dictionary_encode(),
        pa.array([Decimal(3), Decimal(5)]), pa.array([Decimal("3.00"), Decimal("5.00")]),
        pa.array([3, 5], pa.uint8()), pa.array([3, 5], pa.uint64()), pa.array([3.0, 5.0]),
        pa.array([3.0, 5.0], pa.float32()), pa.array(np.array([3, 5], dtype=np.float16)),
    ],
    ids=lambda column: str(column.type),
)  # fmt: skip
def test_numbers_of_every_type(column):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for stream in (saved(rank=column, n=[9, 9]), saved(S=column)):
            (ranks,) = read_rank_sets(stream, name="S.parquet", n=9)
            assert (ranks.system, ranks.ranks.tolist()) == ("S", [3, 5])
        (ranks,) = read_rank_sets(saved(user=column, rank=[3, 5]), name="S.parquet", n=9)
    assert [str(x)[0] for x in ranks.instances] == ["3", "5"]


def test_columns_without_a_value():
    assert "row 1, column 'rank': the cell is blank" in complaint(saved(rank=pa.nulls(2)))
    assert "row 1, column 'system': the cell is blank" in complaint(
        saved(system=pa.nulls(2), rank=[1, 2])
    )
    assert "no column holds ranks" in complaint(saved(A=pa.nulls(2)))
    assert "row 2, column 'user': the cell is blank" in complaint(
        saved(user=[1, None], rank=[1, 2]), n=9
    )


BIG = 2**63 - 1


@pytest.mark.parametrize("value", [BIG, 2**62, -BIG, -(2**62)])
@pytest.mark.parametrize("column", ["rank", "ties", "n"])
def test_whole_numbers_whose_sums_overflow(value, column):
    row = {"rank": 3, "ties": 0, "n": 9} | {column: value}
    text = ",".join(row) + "\n" + ",".join(map(str, row.values())) + "\n"
    for stream, name in ((io.BytesIO(text.encode()), "r.csv"),
                         (saved(**{k: [v] for k, v in row.items()}), "r.parquet")):  # fmt: skip
        with pytest.raises(ReadError, match=f"column '{column}'.*too large"):
            read_rank_sets(stream, name=name)
    said = "is too large" if value != -(2**62) else "must be at least"
    with pytest.raises(ValueError, match=said):
        RankSet("A", row["rank"], row["n"], ties=[row["ties"]])


def test_sampled_ranks_that_overflow():
    text = f"system,sampled_rank,m,n\nA,{BIG},{BIG},9\n"
    with pytest.raises(ReadError, match="too large"):
        read_sampled_ranks(io.BytesIO(text.encode()), name="r.csv")
    with pytest.raises(ValueError, match="is too large"):
        SampledRankSet("A", [1], 9, BIG)
    for m in (10**11, np.arange(1000, 9000)):  # places 1..m+1 are counted, for each m
        with pytest.raises(ValueError, match="sample fewer"):
            SampledRankSet("A", np.ones(np.size(m), dtype=int), 10**12, m)


def test_counts_whose_sum_is_no_number():
    text = "system,rank,count\nA,3,1e308\nA,4,1e308\n"
    with pytest.raises(ReadError, match=r"line 2, column 'count': 1e\+308 is too large"):
        read_rank_sets(io.BytesIO(text.encode()), name="r.csv", n=9)
    with pytest.raises(ReadError, match=r"r\.csv: counts of system 'r' sum to 2e-300"):
        read_rank_sets(io.BytesIO(b"rank,count\n3,1e-300\n4,1e-300\n"), name="r.csv", n=9)
    for big in (1e308, 1e15):
        with pytest.raises(ValueError, match="sum to"):
            RankSet("A", [3, 4], 9, counts=[big, big])
        with pytest.raises(ValueError, match="sum to"):
            SampledRankSet("A", [3, 4], 9, 5, counts=[big, big])


@pytest.mark.parametrize(
    "counts",
    [["1", "2"], [True, False], [1j, 2], np.array([1, 2], "m8[s]"), [10**400, 1], ["٣", "٣"],
     np.array(["1e4000", "1"], dtype=np.longdouble)],
    ids=str,
)  # fmt: skip
def test_counts_of_other_types_are_refused_without_a_warning(counts):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for make in (lambda: RankSet("A", [3, 4], 9, counts=counts),
                     lambda: SampledRankSet("A", [3, 4], 9, 5, counts=counts)):  # fmt: skip
            with pytest.raises(ValueError, match=r"must (hold|be)"):
                make()


def test_labels_that_are_no_integers_of_64_bits():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        text = "user,rank\n1e300,3\n2e300,4\ninf,5\n"
        (ranks,) = read_rank_sets(io.BytesIO(text.encode()), n=9)
        assert ranks.instances.tolist() == ["1e300", "2e300", "inf"]
        (ranks,) = read_rank_sets(saved(user=[1e300, 2e300, np.inf], rank=[3, 4, 5]), n=9)
        assert len(set(ranks.instances.tolist())) == 3
        users = pa.array([2**64 - 1, 2**64 - 2, 5], pa.uint64())
        (ranks,) = read_rank_sets(saved(user=users, rank=[3, 4, 5]), n=9)
        assert ranks.instances.tolist() == [str(2**64 - 1), str(2**64 - 2), "5"]
    high, low = np.array([2**64 - 1, 0], np.uint64), np.array([-1, 0])
    assert RankSet("A", [3, 4], 9, instances=high) != RankSet("A", [3, 4], 9, instances=low)


def header(text: str, body: bytes = b"\0" * 800) -> io.BytesIO:
    """An array with a header of our own."""
    raw = text.encode().ljust(117) + b"\n"
    return io.BytesIO(b"\x93NUMPY\x01\x00" + len(raw).to_bytes(2, "little") + raw + body)


HEAD = "{'descr': %s, 'fortran_order': False, 'shape': %s, }"


@pytest.mark.parametrize(
    ("descr", "shape"),
    [
        ("'<i8'", "(True,)"), ("'<i8'", "(False,)"), ("'<i8'", "(-1,)"), ("'<i8'", "(3L,)"),
        ("'<i8'", "(2, True)"), ("'<i8'", "(10**9,)"), ("'<i8'", "(1e2,)"), ("'<i8'", "3"),
        ("'<i8'", "None"), ("'<i8'", "(99999999999999999999999999,)"), ("'<i8'", "()"),
        ("'a5'", "(3,)"), ("'O'", "(3,)"), ("'|V8'", "(3,)"), ("'<f16'", "(3,)"),
        ("'<c16'", "(3,)"), ("'<i8, <i8'", "(3,)"), ("'(1)i8'", "(3,)"), ("'(2,)i8'", "(3,)"),
        ("[('rank', '<i8', (2,))]", "(3,)"), ("[('rank', 'O')]", "(3,)"),
        ("[('rank', [('a', '<i8')])]", "(3,)"), ("[]", "(3,)"), ("{}", "(3,)"),
        ("[('rank', '<f16')]", "(3,)"), ("[('\\ud800', '<i8'), ('rank', '<i8')]", "(3,)"),
        ("'\\d'", "(3,)"), ("'<U0'", "(3,)"), ("'<i8'", "(0,)"), ("'<i8'", "(1, 2, 3)"),
    ],
)  # fmt: skip
def test_headers_of_arrays_that_are_refused(descr, shape):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ReadError, match=r"^x\.npy"):
            read_rank_sets(header(HEAD % (descr, shape)), name="x.npy", n=9)


def test_text_in_arrays_that_is_none():
    for code in (0xD800, 0x110000, 0xFFFFFFFF):
        body = np.array([(code, 3)], dtype=[("c", "<u4"), ("r", "<i8")]).tobytes()
        stream = header(HEAD % ("[('system', '<U1'), ('rank', '<i8')]", "(1,)"), body)
        with pytest.raises(ReadError, match="holds text that is not UTF-8"):
            read_rank_sets(stream, name="x.npy", n=9)


@pytest.mark.parametrize("dtype", ["U3", "S3"])
def test_text_in_arrays_with_zero_bytes_is_not_cut_short(dtype):
    rows = [("b\0c", 3), ("b", 4)] if dtype == "U3" else [(b"b\0c", 3), (b"b", 4)]
    stream = io.BytesIO()
    np.save(stream, np.array(rows, dtype=[("system", dtype), ("rank", "i8")]))
    with pytest.raises(ReadError, match=r"x\.npy: the field 'system' holds text with zero bytes"):
        read_rank_sets(stream, name="x.npy", n=9)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "g", "u1", "u8", "i1"])
def test_rank_sets_of_numbers_of_every_type(dtype):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        numbers = np.array([1, 2], dtype=dtype), np.array([9, 9], dtype=dtype)
        assert RankSet("A", *numbers, counts=numbers[0]).ranks.tolist() == [1, 2]
        assert SampledRankSet("A", *numbers, 4, counts=numbers[0]).sampled_ranks.tolist() == [1, 2]


@pytest.mark.parametrize("label", [{1: 2}, [1, 2], {3}])
def test_labels_that_cannot_be_compared(label):
    labels = np.empty(2, dtype=object)
    labels[:] = [label, "u"]
    for make in (lambda: RankSet("A", [3, 4], 9, instances=labels),
                 lambda: SampledRankSet("A", [3, 4], 9, 5, instances=labels)):  # fmt: skip
        with pytest.raises(ValueError, match="instances of system 'A' must hold text or numbers"):
            make()
