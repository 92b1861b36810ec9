"""Several files compared, systems renamed and left out; runs, folds and seeds."""

from __future__ import annotations

import gzip
import io

import numpy as np
import pytest

import sampledash as sd
from sampledash.readers import (
    DifferentInstances,
    MissingCandidates,
    ReadError,
    ZeroBasedRanks,
    open_sources,
    parse_rank_text,
    read_rank_sets,
)
from sampledash.readers.assemble import distinct_names
from tests.readers.reading import read


def files(**texts: str):
    names = [name.replace("_", ".") for name in texts]
    return {"source": [io.BytesIO(text.encode()) for text in texts.values()], "name": names}


def together(options=None, **texts: str):
    return read_rank_sets(**files(**texts), **(options or {}))


def ranks_of(sets):
    return {s.system: s.ranks.tolist() for s in sets}


def names_of(sets):
    return [s.system for s in sets]


A = "system,user,rank,n\nX,u,3,9\nX,v,5,8\nY,u,1,9\nY,v,8,8\n"
B = "system,user,rank,n\nZ,v,2,8\nZ,u,4,9\n"


def test_two_files_are_as_one(tmp_path):
    joined = together(a_csv=A, b_csv=B)
    assert joined == read_rank_sets(io.BytesIO((A + B.split("\n", 1)[1]).encode()))
    assert names_of(joined) == ["X", "Y", "Z"]
    (tmp_path / "a.csv").write_text(A)
    (tmp_path / "b.tsv.gz").write_bytes(gzip.compress(B.replace(",", "\t").encode()))
    assert read_rank_sets([tmp_path / "a.csv", str(tmp_path / "b.tsv.gz")]) == joined
    np.save(tmp_path / "W.npy", np.array([2, 3]))
    np.save(tmp_path / "V.npy", np.array([4, 1]))
    both = read_rank_sets([tmp_path / "W.npy", tmp_path / "V.npy"], n=9)
    assert ranks_of(both) == {"W": [2, 3], "V": [4, 1]}


def test_equal_names_get_the_name_of_the_later_file():
    sets = together(a_csv=A, b_csv=A, c_csv=A.replace("X", "Z"))
    assert names_of(sets) == ["X", "Y", "X (b.csv)", "Y (b.csv)", "Z", "Y (c.csv)"]
    assert sets[2].ranks.tolist() == sets[0].ranks.tolist()
    thrice = files(a_csv=B, b_csv=B, c_csv=B) | {"name": ["b.csv"] * 3}
    names = ["Z", "Z (b.csv, 2nd)", "Z (b.csv, 3rd)"]
    assert names_of(read_rank_sets(**thrice)) == names
    assert list(open_sources(thrice["source"], name=thrice["name"]).systems()) == names
    called = [name for (name,) in distinct_names([["X"]] * 23, ["b"] * 23)]
    assert called[9:13] == [f"X (b, {nth})" for nth in ("10th", "11th", "12th", "13th")]
    assert called[20:] == [f"X (b, {nth})" for nth in ("21st", "22nd", "23rd")]


def test_instances_are_matched_by_label_over_files():
    with pytest.raises(DifferentInstances) as info:
        together(a_csv=A, b_csv=B.replace("Z,u,4,9", "Z,w,4,9"))
    assert info.value.shared == 1
    assert "a.csv and b.csv" in str(info.value)
    assert "'X' lacks 'w'; 'Y' lacks 'w'; 1 more lack some" in str(info.value)
    sets = together({"instances": "shared"}, a_csv=A, b_csv=B.replace("Z,u,4,9", "Z,w,4,9"))
    assert [s.instances.tolist() for s in sets] == [["v"]] * 3


def test_labels_of_numbers_and_text_meet():
    one = "user,rank,n\n1,3,9\n2,4,9\n"
    two = "user,rank,n\n2,3,9\n1,4,9\nx,1,9\n"
    sets = together({"instances": "shared"}, a_csv=one, b_csv=two)
    assert [s.instances.tolist() for s in sets] == [["1", "2"], ["2", "1"]]
    numbers = together(a_csv=one, b_csv=two.replace("x,1,9\n", ""))
    assert [s.instances.dtype.kind for s in numbers] == ["i", "i"]


def test_unlabelled_files_must_be_as_long():
    assert len(together(a_csv="rank,n\n1,9\n2,9\n", b_csv="rank,n\n3,9\n4,9\n")) == 2
    with pytest.raises(DifferentInstances, match="'a' has 2 ranks and 'b' has 1"):
        together(a_csv="rank,n\n1,9\n2,9\n", b_csv="rank,n\n3,9\n")


def test_n_may_lack_in_one_file():
    bare = "system,user,rank\nZ,v,2\nZ,u,4\n"
    assert together(a_csv=A, b_csv=bare) == together(a_csv=A, b_csv=B)
    assert together(a_csv=bare, b_csv=A)[0].n.tolist() == [8, 9]
    assert together({"n": 50}, a_csv=A, b_csv=bare)[2].n.tolist() == [50, 50]
    both = files(a_csv=A, b_csv=bare)
    summary = open_sources(both["source"], name=both["name"]).read().summary
    assert summary.files[1].notes == ("n is taken from a.csv: b.csv does not say it.",)
    # An instance that the other file does not have leaves n open.
    with pytest.raises(MissingCandidates, match=r"b.csv does not say n") as info:
        together(a_csv=A, b_csv=bare + "Z,w,812\n")
    assert info.value.largest_rank == 812
    # One n for all there serves any instance here.
    same = A.replace(",8\n", ",900\n").replace(",9\n", ",900\n")
    with pytest.raises(DifferentInstances, match="lacks 'w'"):
        together(a_csv=same, b_csv=bare + "Z,w,812\n")
    with pytest.raises(MissingCandidates, match=r"a.csv does not say n"):
        together(a_csv=bare, b_csv=bare)


def test_n_stays_open_or_is_found_file_by_file():
    bare = "system,user,rank\nZ,v,2\nZ,u,4\n"
    differ = "system,user,rank,n\nX,u,3,9\nX,v,5,8\nY,u,1,9\nY,v,5,7\n"
    with pytest.raises(MissingCandidates):  # two values of n for an instance elsewhere
        together(a_csv=differ, b_csv=bare)
    with pytest.raises(MissingCandidates, match=r"b\.csv does not say n"):  # with no labels
        together(a_csv=A, b_csv="rank\n1\n2\n", c_csv="user,rank\nw,3\nx,4\ny,5\n")
    alike = files(a_csv=A, b_csv=bare, c_csv=bare + "W,u,1\nW,v,3\n")
    sets = read_rank_sets(alike["source"], name=["a.csv", "b.csv", "b.csv"])
    assert [s.n.tolist() for s in sets] == [[9, 8], [9, 8], [8, 9], [8, 9], [9, 8]]


def test_complaints_name_their_file():
    with pytest.raises(ReadError, match=r"^b.csv, line 3, column 'rank': rank 12"):
        together(a_csv=A, b_csv=B.replace("u,4", "u,12"))
    with pytest.raises(ZeroBasedRanks, match=r"^b.csv, line 2"):
        together(a_csv=A, b_csv=B.replace("v,2", "v,0"))
    both = files(a_csv=A.replace("8,8", "7,8"), b_csv=B.replace("v,2", "v,0"))
    opened = open_sources(both["source"], name=both["name"])
    doubts = opened.read(zero_based=True).summary.doubts
    assert doubts == ("No rank of a.csv is 0, though ranks are said to count from 0.",)


def test_ties_weights_and_counts_in_one_file_only():
    tied = "system,user,rank,n,ties,mass_above\nZ,v,2,8,1,0.5\nZ,u,4,9,0,0.25\n"
    x, _, z = together(a_csv=A, b_csv=tied)
    assert (x.ties.tolist(), z.ties.tolist()) == ([0, 0], [1, 0])
    assert x.mass_above is None
    assert z.mass_above.tolist() == [0.5, 0.25]
    _, counted = together(a_csv="rank,n\n1,9\n2,9\n", b_csv="rank,count,n\n3,2,9\n")
    assert counted.n_instances == 2


def test_names_must_fit():
    sources = files(a_csv=A, b_csv=B)["source"]
    for wrong in ("a.csv", ["a.csv"]):
        with pytest.raises(ValueError, match="one name for each of the 2 files"):
            read_rank_sets(sources, name=wrong)
    with pytest.raises(ValueError, match="source is empty"):
        read_rank_sets([])
    with pytest.raises(ValueError, match="name must be text"):
        read_rank_sets(sources[0], name=["a.csv"])


def test_systems_are_kept_left_out_and_renamed():
    assert names_of(together({"systems": ["Z", "X"]}, a_csv=A, b_csv=B)) == ["X", "Z"]
    sets = together({"systems": {"Y": "ours", "Z": "<b>theirs"}}, a_csv=A, b_csv=B)
    assert ranks_of(sets) == {"ours": [1, 8], "<b>theirs": [2, 4]}
    swapped = together({"systems": {"X": "Y", "Y": "X"}}, a_csv=A)
    assert ranks_of(swapped) == {"Y": [3, 5], "X": [1, 8]}
    # What is left out can do no harm.
    odd = B.replace("Z,u,4,9", "Z,w,4,9")
    assert len(together({"systems": ["X", "Y"]}, a_csv=A, b_csv=odd)) == 2
    sets = parse_rank_text("A: 3 4; B: 5; n = 9", systems={"A": "first"})
    assert ranks_of(sets) == {"first": [3, 4]}


@pytest.mark.parametrize(
    ("systems", "fact"),
    [
        (["W"], "names 'W', which is not there; found 'X', 'Y'"),
        ([], "systems is empty"),
        ("X", "must be a list"),
        ({"X": "Y", "Y": "Y"}, "the name 'Y' twice"),
        ({"X": " "}, "gives 'X' the name ' '"),
        ({"X": 3}, "gives 'X' the name 3"),
    ],
)
def test_systems_that_cannot_be(systems, fact):
    with pytest.raises(ValueError, match=fact):
        together({"systems": systems}, a_csv=A)


HEADER = "system,user,seed,rank,n\n"
ROWS = [f"{system},{user},{seed}" for system in "AB" for seed in (1, 2) for user in "uv"]
RANKS = [1, 4, 2, 5, 3, 6, 3, 8]
TWO = HEADER + "".join(f"{row},{rank},9\n" for row, rank in zip(ROWS, RANKS, strict=True))


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
    apart = {"A (seed 1)": [1, 4], "A (seed 2)": [2, 5], "B (seed 1)": [3, 6], "B (seed 2)": [3, 8]}
    assert list(ranks_of(sets).items()) == list(apart.items())
    assert all(s.instances.tolist() == ["u", "v"] for s in sets)


def test_a_run_beside_nothing_is_the_system():
    assert names_of(read("run,user,rank,n\nA,u,1,9\nB,u,2,9\n")) == ["A", "B"]
    sets = read("run,seed,user,rank,n\nA,1,u,1,9\nA,2,u,1,9\nB,1,u,2,9\nB,2,u,2,9\n")
    assert [(s.system, s.n_instances) for s in sets] == [("A", 2), ("B", 2)]
    for system in ("model", "tag", "algorithm"):  # beside one it is a repetition
        text = TWO.replace("seed", "run").replace("system", system)
        assert [s.n_instances for s in read(text)] == [4, 4]
    with pytest.raises(ReadError, match="'model' and 'tag' both mean 'system'"):
        read("model,tag,run,rank,n\nA,x,1,1,9\n")


def test_fold_and_seed_together():
    text = "system,fold,seed,user,rank,n\n" + "".join(
        f"{s},{f},{k},u{f},3,9\n" for s in "AB" for f in (1, 2) for k in (7, 8)
    )
    a, _ = read(text)
    assert a.instances.tolist() == [f"u{f} (fold {f}, seed {k})" for f in (1, 2) for k in (7, 8)]
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


def test_histograms_can_be_repeated_and_one_repetition_is_none():
    text = "system,seed,rank,count,n\nA,1,3,5,9\nA,2,4,5,9\nB,1,2,5,9\nB,2,1,5,9\n"
    assert [s.n_instances for s in read(text)] == [10, 10]
    assert [s.n_instances for s in read(text, runs="apart")] == [5] * 4
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
