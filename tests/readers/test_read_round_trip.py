"""Whatever the form, the same ranks come back; whatever the bytes, only our own complaint.

A sample of the hostile files, and a second reader; ``tests.benchmarks.hostile`` reads all.
"""

from unittest.mock import patch

import pandas as pd
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

import sampledash as sd
from sampledash import RankSet, readers
from sampledash.readers.upload_limits import ReadError
from tests import hostile
from tests.benchmarks.hostile import judged
from tests.hostile import saved
from tests.readers.reading import read

NAME = st.sampled_from(["A", "NA", "x y", "Ä", "BPR (d=16)", "'q'", "007", "nan", "1e3x"])
ODD = ["5", "17", "007", "7", "-3", "ü v", "x,y", "x;y", 'q"q', "1e3", "0x1", "a\nb"]


@st.composite
def tables(draw):
    """System names, instance labels, n per instance, one rank per system and instance."""
    names = draw(st.lists(NAME, min_size=1, max_size=4, unique=True))
    labels = ["u", *draw(st.lists(st.sampled_from(ODD), max_size=10, unique=True))]
    size = len(labels)
    labels = draw(st.sampled_from([labels, [10 * i + 3 for i in range(size)]]))
    n = draw(st.lists(st.integers(2, 10**6), min_size=size, max_size=size))
    ranks = [[draw(st.integers(1, n[i])) for i in range(size)] for _ in names]
    return names, labels, n, ranks


@settings(max_examples=30)
@given(tables())
def test_every_form_of_a_table_is_the_same(table):
    names, labels, n, ranks = table
    columns = dict(zip(names, ranks, strict=True))
    expected = [RankSet(s, r, n, instances=labels) for s, r in columns.items()]
    wide = pd.DataFrame({"user": labels, "n": n, **columns})
    for frame in (wide.melt(["user", "n"], var_name="system", value_name="rank"), wide):
        csv = frame.to_csv(index=False)
        tabs, binary = frame.to_csv(index=False, sep="\t"), saved(frame.to_dict("list"))
        for form in (first := read(csv), read(tabs), read(binary), sd.parse_rank_text(csv)):
            assert form == expected
        with patch.object(readers.tables, "SMALL", 0):  # as large files are read
            for form in (read(csv), read(tabs)):
                assert form == expected
                assert form[0].instances.dtype.kind == first[0].instances.dtype.kind
    # Typed, and a wide file of ranks alone; one that begins with a number seems to lack its header.
    text = "\n".join(f"{s}: {' '.join(map(str, r))}" for s, r in columns.items())
    expected = [RankSet(s, r, max(n), instances=range(1, len(n) + 1)) for s, r in columns.items()]
    assert sd.parse_rank_text(f"{text}\nn = {max(n)}") == expected
    if "007" not in names:
        assert read(pd.DataFrame(columns).to_csv(index=False), n=max(n)) == expected


SOME = 'system~rank~user~n~A~B~,~;~\t~\n~\r\n~"~:~ ~0~1~7~-~.~e~nan~ä~\ufeff~=~True~n = 9~\x00~PAR1'
PIECES = st.sampled_from(SOME.split("~"))


def own_words(call, word: str) -> None:
    """It is read, or refused by a sentence that holds the word; all else is a failure."""
    try:
        sets, said = call(), word
    except ReadError as error:
        sets, said = [], str(error)
    assert word in said
    assert all(isinstance(s, RankSet) for s in sets)


@given(st.lists(PIECES, max_size=30).map("".join))
@example("rank,rank\n1,2")
@example('"\n')
@example("A\n\n\n")
@example("A,B\n1,2\n3\n,\n")
def test_any_text_is_read_or_refused_in_our_own_words(text):
    own_words(lambda: read(text, "x.csv", n=9), "x.csv")
    own_words(lambda: sd.parse_rank_text(text, n=9), "pasted text")


@given(st.binary(max_size=200), st.sampled_from(["x.csv", "x.parquet", "x"]))
def test_any_bytes_are_read_or_refused_in_our_own_words(data, name):
    own_words(lambda: read(data, name, n=9), name)


CASES: dict[str, list[hostile.Case]] = {}
for case in hostile.corpus():
    if not case.large:
        CASES.setdefault(case.kind, []).append(case)


@pytest.mark.parametrize("kind", CASES)
def test_hostile_files_end_in_a_sentence_or_a_right_result(kind):
    for case in CASES[kind]:
        wrong, _, _ = judged(case, case.data)
        assert not wrong, (case.kind, case.number, case.data[:200])


def test_the_second_reader_notices_a_difference():
    data = b"system,rank,n,count\nA,3,9,0.1\n"
    found = read(data, "x.csv")
    assert hostile.compared(data, found, "x") == ""
    for old, new in ((b"3,9", b"4,9"), (b"3,9", b"3,8"), (b"0.1", b"0.2"), (b"A", b"B")):
        assert hostile.compared(data.replace(old, new), found, "x")
