"""gzip, and what hides in it."""

from __future__ import annotations

import gzip
import io
import tracemalloc
import zlib

import numpy as np
import pandas as pd
import pytest

from sampledash.readers import ReadError, limits, read_rank_sets

TABLE = b"system,user,rank,n\nA,u,3,9\nA,v,5,8\nB,u,1,9\nB,v,8,8\n"


def read(data: bytes, name: str, **options):
    return read_rank_sets(io.BytesIO(data), name=name, **options)


def complaint(data: bytes, name: str = "ranks.csv.gz") -> str:
    with pytest.raises(ReadError) as info:
        read(data, name)
    assert name in str(info.value)
    assert "\n" not in str(info.value)
    return str(info.value)


def npy(array) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


@pytest.mark.parametrize("name", ["ranks.csv.gz", "ranks.gz", "ranks.CSV.GZ", "ranks.csv", "ranks"])
def test_packed_text_reads_as_if_it_were_not(name):
    assert read(gzip.compress(TABLE), name) == read(TABLE, "ranks.csv")


def test_packed_parquet_and_arrays():
    stream = io.BytesIO()
    pd.read_csv(io.BytesIO(TABLE)).to_parquet(stream)
    assert read(gzip.compress(stream.getvalue()), "r.parquet.gz") == read(TABLE, "ranks.csv")
    (ranks,) = read(gzip.compress(npy(np.array([3, 5]))), "BPR.npy.gz", n=9)
    assert (ranks.system, ranks.ranks.tolist()) == ("BPR", [3, 5])


def test_endings_do_not_name_the_system():
    assert read(gzip.compress(b"rank,n\n3,9\n"), "My model.csv.gz")[0].system == "My model"


def test_members_are_joined_and_padding_is_ignored():
    data = gzip.compress(TABLE[:30]) + gzip.compress(TABLE[30:]) + b"\0" * 8
    assert read(data, "r.csv.gz") == read(TABLE, "r.csv")


def test_damage_is_said():
    packed = gzip.compress(TABLE * 50)
    assert "cut off; copy or download it again" in complaint(packed[:-9])
    assert "cut off" in complaint(packed[:5])
    broken = bytearray(packed)
    broken[len(packed) // 2] ^= 0x5A
    assert "damaged" in complaint(bytes(broken))
    assert "damaged" in complaint(packed[:-6] + b"\1\1" + packed[-4:])  # its checksum
    assert "followed by something else" in complaint(packed + b"system,rank\n")
    assert "twice; unpack it once" in complaint(gzip.compress(gzip.compress(TABLE)))
    assert "is empty" in complaint(gzip.compress(b""))


def test_complaints_within_name_the_lines_of_the_table():
    said = complaint(gzip.compress(b"rank,n\n3,9\n12,9\n"))
    assert "ranks.csv.gz, line 3, column 'rank': rank 12" in said


def test_a_bomb_is_refused_before_it_unfolds():
    member = zlib.compressobj(9, wbits=31)
    piece = member.compress(b"0" * 2**20)
    bomb = b"".join([piece, *(member.compress(b"0" * 2**20) for _ in range(2**8)), member.flush()])
    assert len(bomb) < 2**19  # a quarter of a gibibyte
    tracemalloc.start()
    said = complaint(bomb)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert "unpacks to more than 100 times its size" in said
    assert peak < 64 * 2**20


def test_the_limit_is_said(monkeypatch):
    monkeypatch.setattr(limits.BYTES, "most", 2**20)
    noise = np.random.default_rng(0).integers(0, 10, 2**20 + 1).astype(np.uint8) + 48
    assert "unpacks to more than 1 MiB" in complaint(gzip.compress(noise.tobytes()))


@pytest.mark.parametrize(
    ("data", "fact"),
    [
        (b"BZh91AY&SY", "bzip2; unpack it, or use gzip"),
        (b"\xfd7zXZ\0\0", "xz; unpack it"),
        (b"\x28\xb5\x2f\xfd....", "zstd; unpack it"),
    ],
)
def test_other_packers_are_named(data, fact):
    assert fact in complaint(data, "ranks.csv")
