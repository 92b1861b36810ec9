"""What the preview shows: columns, doubts, and one line for all of it."""

from __future__ import annotations

import io

import numpy as np
import pytest

from sampledash import RankSet
from sampledash.readers import describe, example, open_sources, open_text


def summary(text: str, name: str = "r.csv", **options):
    return open_sources(io.BytesIO(text.encode()), name=name).read(**options).summary


def test_columns_understood_and_ignored():
    found = summary("Model,user,rank,score,n,Größe\nA,u,3,0.5,9,x\nB,u,1,0.5,9,y\n")
    (facts,) = found.files
    assert (facts.file, facts.kind) == ("r.csv", "CSV")
    assert facts.columns == (
        ("Model", "system"), ("user", "instance"), ("rank", "rank"), ("n", "n"),
    )  # fmt: skip
    assert facts.ignored == ("score", "Größe")
    assert (found.rows, found.instances, found.smallest_rank, found.largest_rank) == (
        2,
        (1, 1),
        1,
        3,
    )
    assert not found.zero_based
    assert not found.doubts


def test_wide_tables_name_their_systems():
    facts = summary("user\tA\tcomment\tB\nu\t3\tfine\t1\n", n=9).files[0]
    assert facts.kind == "TSV"
    assert facts.columns[1:] == (("A", "ranks of this system"), ("B", "ranks of this system"))
    assert facts.ignored == ("comment",)


def test_what_was_done_is_noted():
    found = summary("rank,count\n0,2\n4,0\n3,1\n", n=9, zero_based=True)
    assert found.zero_based
    assert found.files[0].notes == (
        "1 row with count 0 says nothing and was left out.",
        "Ranks were counted from 0: 1 was added to each.",
    )
    assert found.has_counts
    assert str(found) == "1 system (r), 3 instances each, n = 9, counted"
    constant = summary("rank,seed\n1,5\n4,5\n", n=9).files[0]
    assert constant.notes == ("seed is the same everywhere and says nothing.",)


def test_typed_ranks_are_described_too():
    found = open_text("A: 1 2; B: 3 4; n = 9").read().summary
    assert found.files[0].kind == "typed ranks"
    assert str(found) == "2 systems (A, B), 2 instances each, n = 9"


def test_sampled_ranks_are_suspected():
    rng = np.random.default_rng(0)
    sampled = [RankSet(s, rng.integers(1, 102, 500), 3706) for s in "AB"]
    (doubt,) = describe(sampled).doubts
    assert "largest rank is 101 of n = 3,706" in doubt
    assert "sampled negatives?" in doubt
    # True ranks reach far, few instances may all be good, and small n proves nothing.
    assert not describe(example("movielens-xyz")).doubts
    assert not describe([RankSet("A", rng.integers(1, 102, 5), 3706)]).doubts
    assert not describe([RankSet("A", rng.integers(1, 102, 500), 300)]).doubts


def test_a_pile_at_the_largest_rank_is_suspected():
    ranks = np.r_[np.arange(1, 101), np.full(50, 101)]
    (doubt,) = describe([RankSet("A", ranks, 3706)]).doubts
    assert "Rank 101 holds 33 % of A" in doubt
    assert "cut" in doubt
    counted = describe([RankSet("A", [1, 7, 101], 3706, counts=[50, 50, 50])]).doubts
    assert "33 %" in counted[0]
    # Tied beyond the end of a run is no pile: nobody claims to know the rank.
    assert not describe([RankSet("A", ranks, 3706, ties=np.where(ranks > 100, 3605, 0))]).doubts


@pytest.mark.parametrize("n", [1, 200])
def test_one_and_many_systems(n):
    header = ",".join(f"s{i}" for i in range(n))
    found = summary(f"{header}\n{','.join('3' * n)}\n", n=9)
    assert len(found.systems) == n
    assert str(found).startswith(f"{n} system")
    assert "1 instance each" in str(found)


@pytest.mark.parametrize("name", ["<b>x</b>", "**x**", "=1+1", "$x$", "[x](http://x)", "'; --"])
def test_any_name_is_kept_as_it_is(name):
    found = summary(f'system,rank\n"{name}",3\nB,4\n', n=9)
    assert found.systems == (name, "B")
