"""Runs, folds and seeds."""

from __future__ import annotations

import io

import pytest

import sampledash as sd
from sampledash.readers import DifferentInstances, ReadError, open_sources, read_rank_sets


def read(text: str, **options):
    return read_rank_sets(io.BytesIO(text.encode()), name="ranks.csv", **options)


HEADER = "system,user,seed,rank,n\n"
TWO = HEADER + "".join(
    f"{s},{u},{seed},{r},9\n"
    for s, seed, u, r in [
        ("A", 1, "u", 1), ("A", 1, "v", 4), ("A", 2, "u", 2), ("A", 2, "v", 5),
        ("B", 1, "u", 3), ("B", 1, "v", 6), ("B", 2, "u", 3), ("B", 2, "v", 8),
    ]
)  # fmt: skip


@pytest.mark.parametrize("name", ["seed", "Fold", "split", "run", "run_id", "repetition", "repeat"])
def test_averaged_counts_every_instance_of_every_repetition(name):
    a, b = read(TWO.replace("seed", name))
    assert (a.system, b.system) == ("A", "B")
    assert a.n_instances == 4
    assert a.instances.tolist() == b.instances.tolist()
    assert a.instances.tolist()[:2] == [f"u ({name} 1)", f"v ({name} 1)"]
    # The mean over runs of the mean over users, by hand.
    assert sd.mean("AP", a) == pytest.approx((1 + 1 / 4 + 1 / 2 + 1 / 5) / 4, abs=1e-15)


def test_apart_makes_every_repetition_a_system():
    sets = read(TWO, runs="apart")
    assert {s.system: s.ranks.tolist() for s in sets} == {
        "A (seed 1)": [1, 4],
        "A (seed 2)": [2, 5],
        "B (seed 1)": [3, 6],
        "B (seed 2)": [3, 8],
    }
    assert [s.system for s in sets] == ["A (seed 1)", "A (seed 2)", "B (seed 1)", "B (seed 2)"]
    assert all(s.instances.tolist() == ["u", "v"] for s in sets)


def test_a_run_beside_nothing_is_the_system():
    sets = read("run,user,rank,n\nA,u,1,9\nB,u,2,9\n")
    assert [s.system for s in sets] == ["A", "B"]
    sets = read("run,seed,user,rank,n\nA,1,u,1,9\nA,2,u,1,9\nB,1,u,2,9\nB,2,u,2,9\n")
    assert [(s.system, s.n_instances) for s in sets] == [("A", 2), ("B", 2)]


@pytest.mark.parametrize("system", ["model", "tag", "algorithm"])
def test_a_run_beside_a_system_of_another_name_is_a_repetition(system):
    text = TWO.replace("seed", "run").replace("system", system)
    assert [s.n_instances for s in read(text)] == [4, 4]


def test_two_systems_are_still_refused():
    with pytest.raises(ReadError, match="'model' and 'tag' both mean 'system'"):
        read("model,tag,run,rank,n\nA,x,1,1,9\n")


def test_fold_and_seed_together():
    text = "system,fold,seed,user,rank,n\n" + "".join(
        f"{s},{f},{k},u{f},3,9\n" for s in "AB" for f in (1, 2) for k in (7, 8)
    )
    a, _ = read(text)
    assert a.instances.tolist() == [
        "u1 (fold 1, seed 7)", "u1 (fold 1, seed 8)", "u2 (fold 2, seed 7)", "u2 (fold 2, seed 8)",
    ]  # fmt: skip
    names = [s.system for s in read(text, runs="apart", instances="any")]
    assert names[:2] == ["A (fold 1, seed 7)", "A (fold 1, seed 8)"]


def test_without_instances_rows_are_numbered_in_each_repetition():
    rows = ["A,1,3", "A,1,4", "A,2,5", "A,2,6", "B,1,1", "B,1,2", "B,2,1", "B,2,2"]
    text = "system,seed,rank,n\n" + "".join(f"{row},9\n" for row in rows)
    a, b = read(text)
    assert a.instances.tolist() == b.instances.tolist()
    assert a.instances.tolist()[2] == "1 (seed 2)"
    apart = read(text, runs="apart")
    assert [s.ranks.tolist() for s in apart] == [[3, 4], [5, 6], [1, 2], [1, 2]]


def test_wide_files_can_be_repeated():
    text = "user,seed,n,A,B\nu,1,9,1,3\nv,1,9,4,6\nu,2,9,2,3\nv,2,9,5,8\n"
    assert [s.n_instances for s in read(text)] == [4, 4]
    assert {s.system: s.ranks.tolist() for s in read(text, runs="apart")}["A (seed 2)"] == [2, 5]
    unnamed = read("seed,A,B\n1,1,3\n1,4,6\n2,2,3\n2,5,8\n", n=9, runs="apart")
    assert all(s.instances.tolist() == [1, 2] for s in unnamed)


def test_a_repeated_rank_is_one_only_within_a_repetition():
    read(HEADER + "A,u,1,3,9\nA,u,2,3,9\n")
    with pytest.raises(ReadError, match=r"instance 'u \(seed 2\)' has rank 3 twice"):
        read(HEADER + "A,u,1,3,9\nA,u,2,3,9\nA,u,2,3,9\n")


def test_systems_with_different_seeds_are_said_to_differ():
    text = TWO + "C,u,1,1,9\nC,v,1,1,9\n"
    with pytest.raises(DifferentInstances, match=r"'C' lacks 'u \(seed 2\)'") as info:
        read(text)
    assert info.value.shared == 2
    assert [s.n_instances for s in read(text, instances="shared")] == [2, 2, 2]
    assert len(read(text, runs="apart")) == 5


def test_histograms_can_be_repeated():
    text = "system,seed,rank,count,n\nA,1,3,5,9\nA,2,4,5,9\nB,1,2,5,9\nB,2,1,5,9\n"
    assert [s.n_instances for s in read(text)] == [10, 10]
    assert [s.n_instances for s in read(text, runs="apart")] == [5] * 4


def test_one_repetition_is_none():
    (ranks,) = read(HEADER + "A,u,1,3,9\nA,v,1,3,9\n")
    assert ranks.instances.tolist() == ["u", "v"]


def test_the_preview_says_what_was_made_of_them():
    opened = open_sources(io.BytesIO(TWO.encode()), name="r.csv")
    facts = opened.read().summary.files[0]
    assert ("seed", "repetition") in facts.columns
    assert "2 repetitions (seed 1, seed 2) are averaged" in facts.notes[0]
    assert "kept apart" in opened.read(runs="apart").summary.files[0].notes[0]
    with pytest.raises(ValueError, match="runs must be one of averaged, apart; got 'mean'"):
        opened.read(runs="mean")
    with pytest.raises(ReadError, match="line 2, column 'seed': the cell is blank"):
        read(HEADER + "A,u,,3,9\n")
