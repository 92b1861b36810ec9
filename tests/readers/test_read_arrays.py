"""numpy arrays: no pickles, and nothing allocated on their word."""

from __future__ import annotations

import contextlib
import io
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sampledash.readers import ReadError, read_rank_sets


def npy(array, **options) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array, **options)
    return stream.getvalue()


def read(data: bytes, name: str = "BPR.npy", **options):
    return read_rank_sets(io.BytesIO(data), name=name, **options)


def complaint(data: bytes, name: str = "BPR.npy", **options) -> str:
    with pytest.raises(ReadError) as info:
        read(data, name, **options)
    said = str(info.value)
    assert name in said
    assert "\n" not in said
    assert len(said) < 400
    return said


@pytest.mark.parametrize("dtype", ["i8", "i2", ">i4", "u1", "u8", "f8", "f2", ">f4"])
def test_one_dimension_is_one_system(dtype):
    for name in ("BPR.npy", "BPR"):
        (ranks,) = read(npy(np.array([3, 5, 200], dtype=dtype)), name, n=200)
        assert (ranks.system, ranks.ranks.tolist()) == ("BPR", [3, 5, 200])
        assert ranks.instances.tolist() == [1, 2, 3]


@pytest.mark.parametrize("order", ["C", "F"])
def test_two_dimensions_are_instances_by_systems(order):
    array = np.array([[3, 1], [5, 8], [2, 2]], order=order)
    sets = read(npy(array), n=9)
    assert [(s.system, s.ranks.tolist()) for s in sets] == [
        ("BPR 1", [3, 5, 2]),
        ("BPR 2", [1, 8, 2]),
    ]


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["A", "BPR (d=16)", "Ä", "a system with a long name"]),
            st.integers(1, 9),
            st.integers(1, 5),
        ),
        min_size=1, max_size=20,
    ),
    st.sampled_from(["U30", ">U25", "S40"]),
)  # fmt: skip
def test_named_fields_are_columns(rows, text):
    encoded = [(s.encode() if text[0] == "S" else s, r, c) for s, r, c in rows]
    array = np.array(encoded, dtype=[("system", text), ("rank", "i4"), ("count", ">f4")])
    table = "system,rank,count\n" + "".join(f"{s},{r},{c}\n" for s, r, c in rows)
    expected = read(table.encode(), "x.csv", n=9, instances="any")
    assert read(npy(array), n=9, instances="any") == expected


def test_named_fields_in_utf8():
    array = np.array([(3, 1.5)], dtype=[("rank", "i8"), ("Größe", "f8")])
    (ranks,) = read(npy(array), n=9)
    assert ranks.ranks.tolist() == [3]


def test_places_are_rows():
    array = np.array([("A", 3), ("A", 12)], dtype=[("system", "U1"), ("rank", "i8")])
    assert "BPR.npy, row 2, column 'rank': rank 12" in complaint(npy(array), n=9)
    assert "row 2, column 'rank': 2.5 is not a whole number" in complaint(npy(np.array([1, 2.5])))
    assert "row 1, column 'rank': the cell is blank" in complaint(npy(np.array([np.nan])))
    assert "row 2, column 'BPR 1': rank -4" in complaint(npy(np.array([[1, 2], [-4, 3]])), n=9)


class Trap:
    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def test_pickles_are_refused():
    for data in (npy(np.array([Trap()], dtype=object), allow_pickle=True),
                 npy(np.array([(Trap(),)], dtype=[("rank", "O")]), allow_pickle=True)):  # fmt: skip
        assert "Python objects (a pickle), which could run code" in complaint(data)
    for protocol in (2, 3, 4, 5):
        for name in ("BPR.npy", "ranks.csv", "ranks.pkl"):
            said = complaint(pickle.dumps(Trap(), protocol=protocol), name)
            assert "a Python pickle, which could run code and is never read" in said


def test_archives_of_arrays_are_refused():
    stream = io.BytesIO()
    np.savez(stream, ranks=np.arange(3))
    for name in ("BPR.npz", "BPR.npy"):
        assert "zip archive" in complaint(stream.getvalue(), name)
    assert "save one array with numpy.save" in complaint(stream.getvalue(), "BPR.npz")


@pytest.mark.parametrize(
    ("array", "fact"),
    [
        (np.array(3), "shape a single number"),
        (np.ones((2, 2, 2), dtype=int), "shape 2 × 2 × 2"),
        (np.array([], dtype=int), "is empty: its shape is 0"),
        (np.array([True, False]), "true and false"),
        (np.array(["a"]), "holds text"),
        (np.array([1j]), "complex numbers"),
        (np.array(["2020"], dtype="M8[D]"), "not ranks"),
        (np.zeros((2, 2), dtype=[("rank", "i8")]), "named fields in the shape 2 × 2"),
        (np.zeros(2, dtype=[("rank", "i8", 2)]), "field 'rank' holds 2 values in each row"),
        (np.zeros(2, dtype=[("rank", "M8[s]")]), "field 'rank' holds neither"),
        (np.array([(b"\xff", 1)], dtype=[("system", "S1"), ("rank", "i8")]), "not UTF-8"),
        (np.zeros(2, dtype=[("score", "i8"), ("user", "i8"), ("ties", "i8")]), "no rank column"),
    ],
)
def test_arrays_that_hold_no_ranks(array, fact):
    assert fact in complaint(npy(array))


def test_a_header_that_promises_too_much():
    good = npy(np.arange(1, 9))
    huge = good.replace(b"(8,), }", b"(999999999999,), }").replace(b" " * 11 + b"\n", b"\n")
    assert len(huge) == len(good)
    assert "cut off: its header promises 999,999,999,999 entries" in complaint(huge)
    assert "cut off" in complaint(good[:-1])
    assert "header is damaged" in complaint(good[:20])
    assert "header is damaged" in complaint(good.replace(b"'shape'", b"'shade'"))
    assert "header is damaged" in complaint(good.replace(b"(8,)", b"(-8,)").replace(b" \n", b"\n"))
    assert "rename it to end in .npy" in complaint(good, "ranks.csv")
    assert "not what its name says: it is plain text" in complaint(b"rank\n3\n")


@pytest.mark.parametrize("place", range(0, 200, 7))
def test_a_damaged_array_is_refused_or_read(place):
    data = bytearray(npy(np.arange(1, 20)))
    data[place % len(data)] ^= 0x5A
    with contextlib.suppress(ReadError):
        read(bytes(data), n=10**12)
