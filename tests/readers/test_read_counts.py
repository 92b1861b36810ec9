"""Pre-counted histograms, and large files: the same as writing every instance out."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sampledash as sd
from sampledash.comparison.significance import significance
from sampledash.readers import DifferentInstances, ReadError, read_rank_sets, tables


def read(text: str, name: str = "ranks.csv", **options):
    return read_rank_sets(io.BytesIO(text.encode()), name=name, **options)


def atoms(ranks):
    found = ranks.atoms()
    columns = (found.above, found.negatives, found.tied, found.position, found.relevant)
    return sorted(zip(*(c.tolist() for c in (*columns, found.count)), strict=True))


@pytest.mark.parametrize("header", ["count", "Counts", "frequency", "freq"])
def test_a_row_stands_for_so_many_instances(header):
    counted = read(f"system,rank,{header},n\nA,3,2,9\nA,5,1,9\nB,1,3,9\n")
    written = read("system,rank,n\nA,3,9\nA,3,9\nA,5,9\nB,1,9\nB,1,9\nB,1,9\n")
    assert [s.n_instances for s in counted] == [3, 3]
    assert [atoms(s) for s in counted] == [atoms(s) for s in written]
    for metric in ("AP", "Recall@3", "AUC"):
        for some, same in zip(counted, written, strict=True):
            assert sd.mean(metric, some) == pytest.approx(sd.mean(metric, same), abs=1e-15)


@given(
    st.lists(
        st.tuples(st.sampled_from("AB"), st.integers(1, 20), st.integers(0, 4)),
        min_size=1, max_size=30,
    )
)  # fmt: skip
def test_any_histogram_is_its_instances(rows):
    text = "system,rank,count\n" + "".join(f"{s},{r},{c}\n" for s, r, c in rows)
    if not any(c for *_, c in rows):
        with pytest.raises(ReadError, match="every count is 0"):
            read(text, n=20)
        return
    written = "system,rank\n" + "".join(f"{s},{r}\n" * c for s, r, c in rows)
    counted = read(text, n=20, instances="any")
    plain = {s.system: atoms(s) for s in read(written, n=20, instances="any")}
    assert {s.system: atoms(s) for s in counted} == plain


def test_counts_of_zero_say_nothing():
    (ranks,) = read("rank,count,n\n3,0,9\n5,2,9\n99,0,9\n")
    assert (ranks.ranks.tolist(), ranks.counts.tolist()) == ([5], [2])
    with pytest.raises(ReadError, match=r"line 5, column 'rank': rank 12"):
        read("rank,count,n\n3,0,9\n5,2,9\n\n12,1,9\n")  # places survive the rows left out
    sets = read("system,rank,count,n\nA,3,0,9\nB,5,2,9\nC,5,2,9\n")
    assert [s.system for s in sets] == ["B", "C"]


def test_fractions_are_allowed_where_nothing_is_drawn():
    a, b = read("system,rank,count\nA,3,0.5\nA,5,1.5\nB,1,2\n", n=9)
    assert a.n_instances == 2
    # (0.5/3 + 1.5/5) / 2
    assert sd.mean("AP", a) == pytest.approx((0.5 / 3 + 1.5 / 5) / 2, abs=1e-15)
    with pytest.raises(ValueError, match="counts of system 'A' must be whole numbers"):
        sd.simulate("AP", a, 3, 1, np.random.default_rng(0))
    assert b.counts.tolist() == [2]


def test_systems_need_not_have_the_same_rows_but_as_many_instances():
    a, b = read("system,rank,count\nA,1,3\nA,2,4\nB,5,7\n", n=9)
    assert (a.n_instances, b.n_instances) == (7, 7)
    text = "system,rank,count\nA,1,3\nA,2,4\nB,5,8\n"
    with pytest.raises(DifferentInstances, match="'A' has 7 instances by its counts and 'B' has 8"):
        read(text, n=9)
    assert [s.n_instances for s in read(text, n=9, instances="any")] == [7, 8]


def test_rows_of_a_histogram_belong_to_nobody():
    # Equal counts do not make the rows of two systems the same instances.
    a, b = read("system,rank,count\nA,1,30\nA,2,30\nB,2,30\nB,5,30\n", n=9)
    table = significance("AP", [a, b], np.random.default_rng(0), resamples=100)
    assert not table["paired"].any()


def test_labels_join_the_relevant_items_of_counted_instances():
    text = "system,instance,rank,count\nA,p,1,3\nA,p,4,3\nA,q,2,4\nB,x,5,7\n"
    a, b = read(text, n=9)
    assert (a.n_instances, a.max_relevant, b.n_instances) == (7, 2, 7)
    with pytest.raises(ReadError, match=r"instance 'p'.*different counts"):
        read(text.replace("4,3", "4,2"), n=9)


def test_counts_of_one_are_no_histogram():
    text = "system,user,rank,count,n\nA,u,1,1,9\nA,v,2,1,9\nB,u,3,1,9\nB,w,4,1,9\n"
    with pytest.raises(DifferentInstances, match="'A' lacks 'w'"):
        read(text)


def test_counts_need_a_rank_column():
    with pytest.raises(ReadError, match=r"no rank column.*'count' needs one"):
        read("count,A\n1,2\n")


LABELS = st.lists(
    st.sampled_from(["5", "17", "007", "7", "-3", "u", "ü v", "x,y", 'q"q', "1e3", "0x1", "a\nb"]),
    min_size=1, max_size=8, unique=True,
)  # fmt: skip


@given(LABELS, LABELS, st.sampled_from(",;\t"), st.sampled_from(["\n", "\r\n"]))
def test_the_fast_parser_reads_what_the_careful_one_reads(systems, users, delimiter, newline):
    rows = [(s, u, i % 9 + 1, 9, i % 3 + 0.5) for i, s in enumerate(systems) for u in users]
    frame = pd.DataFrame(rows, columns=["system", "user", "rank", "n", "score"])
    text = frame.to_csv(index=False, sep=delimiter, lineterminator=newline)
    careful = read(text)
    small, tables.SMALL = tables.SMALL, 0
    try:
        quick = read("\ufeff" + text)
    finally:
        tables.SMALL = small
    assert quick == careful
    assert [s.instances.dtype.kind for s in quick] == [s.instances.dtype.kind for s in careful]


@pytest.mark.parametrize(
    ("text", "fact"),
    [
        ("system,rank,n\nA,1,9\n\nA,0x3,9\n", "line 4, column 'rank': '0x3' is not a number"),
        ("system,rank,n\nA,1,9\nA,,9\n", "line 3, column 'rank': the cell is blank"),
        ("system,rank,n\nA,1,9\nA,2\n", "line 3, column 'n': the cell is blank"),
        ("system,rank,n\nA,1,9\nA,2.5,9\n", "line 3, column 'rank': 2.5 is not a whole"),
        ("system,rank,n\nA,1,9\n ,2,9\n", "line 3, column 'system': the cell is blank"),
        ("system,rank,n\nA,1,9\nA,2,9,1\n", "line 3: 4 cells"),
        ("system,rank,count\nA,1,9\nA,2,nan\n", "line 3, column 'count': 'nan' is not a number"),
        ("system,rank,n\nA,1,9\n\r\n\nA,12,9\n", "line 5, column 'rank': rank 12"),
        ('system,rank,n\nA,1,9\n"A,2,9\n', "line 3.*quotation mark"),
    ],
)
def test_the_fast_parser_leaves_complaints_to_the_careful_one(text, fact, monkeypatch):
    monkeypatch.setattr(tables, "SMALL", 0)
    with pytest.raises(ReadError, match=fact):
        read(text)


def test_large_files_are_read_alike_by_both_parsers(monkeypatch):
    rows = "".join(f"{'AB'[i % 2]},{i // 2},{i % 97 + 1}\n" for i in range(100_000))
    text = "system,user,rank\n" + rows
    assert len(text) > tables.SMALL
    quick = read(text, n=100)
    monkeypatch.setattr(tables, "arrow_frame", lambda *a, **k: None)
    assert read(text, n=100) == quick
