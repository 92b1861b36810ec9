"""Lists that end before an item: >10 in a file of ranks, and runs that miss what is relevant."""

import pytest

import sampledash as sd
from tests.readers.reading import read, refused

ROWS = "X,a,3~X,a,>10~X,a,> 10~X,b,1~Y,a,>10~Y,a,4~Y,a,9~Y,b,>10~"
LONG = "system,instance,rank,n\n" + ROWS.replace("~", ",50\n")
WIDE = "instance;X;Y;n\na;3;>10;50\nb;>10;1;50\nc;2;5;50\n"


def places(sets: list[sd.RankSet]) -> list[str]:
    """Ranks in words, with a > before those beyond the end."""
    return [
        " ".join(">" * late + str(rank) for rank, late in zip(ranks, beyond, strict=True))
        for ranks, beyond in ((one.ranks.tolist(), one.beyond.tolist()) for one in sets)
    ]


def test_of_files_long_and_wide_counted_from_zero_or_one() -> None:
    sets = read(LONG)
    assert places(sets) == ["3 >11 >12 1", ">11 4 9 >11"]
    assert sd.mean("Recall@10", sets[1]) == pytest.approx(1 / 3)
    refused(lambda: sd.mean("AUC", sets[1]), "k = 10 at most", ValueError)
    assert places(read(WIDE)) == ["3 >11 2", ">11 1 5"]
    zero = read(WIDE.replace("b;>10;1", "b;>10;0"), zero_based=True)[1]
    assert (zero.ranks.tolist(), zero.largest_cutoff) == ([12, 1, 6], 11)


def test_of_typed_ranks() -> None:
    assert places(sd.parse_rank_text("A: >10, 3, > 4\nB: >10 >10 2; n = 50")) == [
        ">11 3 >5",
        ">11 >11 2",
    ]
    (first,) = sd.parse_rank_text("A: >0, 0; n = 50", zero_based=True)
    assert places([first]) == [">2 1"]
    (zero,) = sd.parse_rank_text("A: >9, 0; n = 50", zero_based=True)
    assert (zero.ranks.tolist(), zero.largest_cutoff) == ([11, 1], 10)
    (bare,) = sd.parse_rank_text("> 10, 3\nn = 50")
    assert bare.beyond.tolist() == [True, False]
