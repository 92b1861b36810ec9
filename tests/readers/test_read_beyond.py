"""Lists that end before an item: >10 in a file of ranks, and runs that miss what is relevant."""

from __future__ import annotations

import io

import pytest

import sampledash as sd

LONG = """system,instance,rank,n
X,a,3,50
X,a,>10,50
X,a,> 10,50
X,b,1,50
Y,a,>10,50
Y,a,4,50
Y,a,9,50
Y,b,>10,50
"""
WIDE = "instance;X;Y;n\na;3;>10;50\nb;>10;1;50\nc;2;5;50\n"
RUN = "q1 Q0 a 1 3.0 X\nq1 Q0 b 2 2.0 X\nq2 Q0 c 1 1.0 X\n"
QRELS = "q1 0 b 1\nq1 0 z 1\nq1 0 y 1\nq2 0 z 1\n"


def read(text: str, name: str = "ranks.csv", **options) -> list[sd.RankSet]:
    return sd.read_rank_sets(io.BytesIO(text.encode()), name=name, **options)


def test_of_a_long_file() -> None:
    x, y = read(LONG)
    assert (x.ranks.tolist(), x.beyond.tolist()) == ([3, 11, 12, 1], [False, True, True, False])
    assert (y.ranks.tolist(), y.beyond.tolist()) == ([11, 4, 9, 11], [True, False, False, True])
    assert sd.mean("Recall@10", y) == pytest.approx(1 / 3)
    with pytest.raises(ValueError, match="k = 10 at most"):
        sd.mean("AUC", y)


def test_of_a_wide_file_counted_from_zero_or_one() -> None:
    x, y = read(WIDE)
    assert (x.ranks.tolist(), x.beyond.tolist()) == ([3, 11, 2], [False, True, False])
    assert (y.ranks.tolist(), y.beyond.tolist()) == ([11, 1, 5], [True, False, False])
    zero = read(WIDE.replace("b;>10;1", "b;>10;0"), zero_based=True)[1]
    assert (zero.ranks.tolist(), zero.largest_cutoff) == ([12, 1, 6], 11)


def test_of_a_run_that_misses_items() -> None:
    sources = [io.BytesIO(text.encode()) for text in (RUN, QRELS)]
    (x,) = sd.read_rank_sets(sources, name=["run.txt", "qrels.txt"], n=9, censored="beyond")
    rows = list(zip(x.instances.tolist(), x.ranks.tolist(), x.beyond.tolist(), strict=True))
    assert sorted(rows) == [("q1", 2, False), ("q1", 3, True), ("q1", 4, True), ("q2", 2, True)]
    assert x.largest_cutoff == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (LONG.replace("9,50", "4,50"), "instance 'a' has rank 4 twice"),
        (LONG.replace("> 10", "> ten"), "line 4, column 'rank': 'ten' is not a number"),
        (LONG.replace("> 10", "> 0"), "line 4, column 'rank': '>0' leaves every rank open"),
        (LONG.replace("> 10", "> -2"), "'>-2' leaves every rank open"),
        (LONG.replace("> 10", "> 50"), "rank >50 is beyond the last of n = 50"),
    ],
)
def test_wrong_input(text: str, told: str) -> None:
    with pytest.raises(ValueError, match=told):
        read(text)


def test_sampled_ranks_are_all_needed() -> None:
    text = "system,sampled_rank,n,m\nX,3,50,9\nX,>5,50,9\n"
    with pytest.raises(ValueError, match=r"line 3.*estimates need every sampled rank"):
        sd.read_sampled_ranks(io.BytesIO(text.encode()), name="s.csv")


def test_of_typed_ranks() -> None:
    a, b = sd.parse_rank_text("A: >10, 3, > 4\nB: >10 >10 2; n = 50")
    assert (a.ranks.tolist(), a.beyond.tolist()) == ([11, 3, 5], [True, False, True])
    assert (b.ranks.tolist(), b.beyond.tolist()) == ([11, 11, 2], [True, True, False])
    (zero,) = sd.parse_rank_text("A: >9, 0; n = 50", zero_based=True)
    assert (zero.ranks.tolist(), zero.largest_cutoff) == ([11, 1], 10)
    (bare,) = sd.parse_rank_text("> 10, 3\nn = 50")
    assert bare.beyond.tolist() == [True, False]
    for typed in (">>10", "3>10", ">x", ">"):
        with pytest.raises(ValueError, match=r"value 1: .* is not a number; .* or >10 for one"):
            sd.parse_rank_text(f"A: {typed}, 4; n = 50")
