"""Reading several files together, choosing and renaming systems, and runs, folds and seeds."""

import pytest

from sampledash.readers.files import open_sources, read_rank_sets
from sampledash.readers.upload_limits import (
    DifferentInstances,
    MissingCandidates,
    ReadError,
    ZeroBasedRanks,
)
from tests.readers.reading import files, labels_of, ranks_of, read, refused, summary, together


def instances_of(text, **options):
    return [s.n_instances for s in read(text, **options)]


A = "system,user,rank,n\nX,u,3,9\nX,v,5,8\nY,u,1,9\nY,v,8,8\n"
B = "system,user,rank,n\nZ,v,2,8\nZ,u,4,9\n"
OTHER = B.replace("Z,u,4,9", "Z,w,4,9")  # user w instead of u
BARE = "system,user,rank\nZ,v,2\nZ,u,4\n"
ONE, TWO = "user,rank,n\n1,3,9\n2,4,9\n", "user,rank,n\n2,3,9\n1,4,9\n"
LONGER = BARE + "Z,w,812\n"
SINGLE_N = A.replace(",8\n", ",900\n").replace(",9\n", ",900\n")  # one n for all instances
LACK = (
    "a.csv and b.csv: the systems cover different instances: 'u' has 1 relevant item in 'X' and 0"
)
UNLABELLED = "rank\n1\n2\n"
BESIDE = [
    ((A, OTHER), DifferentInstances, LACK),
    (("rank,n\n1,9\n2,9\n", "rank,n\n3,9\n"), DifferentInstances, "'a' has 2 instances and"),
    ((A, LONGER), MissingCandidates, "b.csv does not say n … (at least 812)"),
    ((SINGLE_N, LONGER), DifferentInstances, "'w' has 1 relevant item in 'Z' and 0 in 'X'. "),
    ((BARE, LONGER), MissingCandidates, "a.csv does not say n … (at least 812)"),
    ((UNLABELLED[:7],), MissingCandidates, "a.csv does not say n … (at least 2)"),
    ((A, BARE), MissingCandidates, "b.csv does not say n"),
    ((A, UNLABELLED, "user,rank\nw,3\nx,4\ny,5\n"), MissingCandidates, "b.csv does not say n"),
    ((A, B.replace("u,4", "u,12")), ReadError, "b.csv, line 3, column 'rank': rank 12"),
    ((A, B.replace("v,2", "v,0")), ZeroBasedRanks, "b.csv, line 2"),
]


@pytest.mark.parametrize(("texts", "kind", "facts"), BESIDE, ids=range(len(BESIDE)))
def test_files_that_do_not_go_together(texts, kind, facts):
    named = dict(zip(("a_csv", "b_csv", "c_csv"), texts, strict=False))
    refused(lambda: together(**named), facts, kind)


def test_two_files_are_as_one(tmp_path):
    joined = together(a_csv=A, b_csv=B)
    assert joined == read(A + B.split("\n", 1)[1])
    for name, text in {"a.csv": A, "b.tsv": B.replace(",", "\t")}.items():
        (tmp_path / name).write_text(text)
    assert read_rank_sets([tmp_path / "a.csv", str(tmp_path / "b.tsv")]) == joined


def test_equal_names_get_the_name_of_the_later_file():
    sets = together(a_csv=A, b_csv=A, c_csv=A.replace("X", "Z"))
    assert [*ranks_of(sets)] == ["X", "Y", "X (b.csv)", "Y (b.csv)", "Z", "Y (c.csv)"]
    often = files(a_csv=B, b_csv=B, c_csv=B, d_csv=B) | {"name": ["b.csv"] * 4}
    names = ["Z", "Z (b.csv)", "Z (b.csv, 2)", "Z (b.csv, 3)"]
    assert [*ranks_of(read_rank_sets(**often))] == names == list(open_sources(**often).systems())
    # The second Z is not renamed to "Z (b.csv)" if another system already has that name.
    sets = together(a_csv=B, b_csv=B + B.replace("Z", "Z (b.csv)").split("\n", 1)[1])
    assert [*ranks_of(sets)] == ["Z", "Z (b.csv, 2)", "Z (b.csv)"]


def test_instances_are_matched_by_label_over_files():
    refused(lambda: together(a_csv=A, b_csv=OTHER), "All share 1 of ", DifferentInstances)
    shared = {"instances": "shared"}
    assert labels_of(together(shared, a_csv=A, b_csv=OTHER)) == [["v"]] * 3
    # The label 1 of a file with whole numbers matches the label "1" of a file with text labels.
    sets = together(shared, a_csv=ONE, b_csv=TWO + "x,1,9\n")
    assert labels_of(sets) == [["1", "2"], ["2", "1"]]
    assert labels_of(together(a_csv=ONE, b_csv=TWO)) == [[1, 2], [2, 1]]
    # If one file has no instance labels, the rows of all files are numbered instead.
    assert labels_of(together({"n": 9}, a_csv=UNLABELLED, b_csv=TWO)) == [[1, 2]] * 2


def test_n_may_lack_in_one_file():
    assert together({"n": 50}, a_csv=A, b_csv=BARE)[2].n.tolist() == [50, 50]
    both = files(a_csv=SINGLE_N, b_csv=BARE, c_csv=SINGLE_N.replace("X", "W").replace("Y", "V"))
    reading = open_sources(**both).read()
    assert [set(ranks.n.tolist()) for ranks in reading.sets] == [{900}] * 5
    (note,) = reading.files[1].notes
    assert note == "n is taken from a.csv and c.csv: this file does not say it."


def test_ties_weights_counts_and_ranks_from_0_in_one_file_only():
    x, _, z = together(a_csv=A, b_csv="system,user,rank,n,ties\nZ,v,2,8,1\nZ,u,4,9,0\n")
    assert (x.ties.tolist(), z.ties.tolist(), x.mass_above) == ([0, 0], [1, 0], None)
    _, counted = together(a_csv="rank,n\n1,9\n2,9\n", b_csv="rank,count,n\n3,2,9\n")
    assert counted.n_instances == 2
    both = files(a_csv=A.replace("8,8", "7,8"), b_csv=B.replace("v,2", "v,0"))
    assert open_sources(**both).systems() == {"X": 2, "Y": 2, "Z": 2}
    doubts = open_sources(**both).read(zero_based=True).doubts
    assert doubts == ("No rank of a.csv is 0, though ranks are said to count from 0.",)


def test_names_must_fit():
    two, each = files(a_csv=A, b_csv=B)["source"], "one name for each of the 2 files"
    for source, name, said in (
        (two, "ab", each), (two, ["a.csv"], each), ([], None, "source is empty: give at least"),
        (two[0], ["a.csv"], "name must be text"),
    ):  # fmt: skip
        refused(lambda x=source, name=name: read_rank_sets(x, name=name), said, ValueError)


def test_systems_that_cannot_be():
    for systems, fact in (
        (["W"], "systems names 'W', which is not there; found 'X', 'Y'"),
        ([[3]], "systems must be text, got [3]"),
        ({"X": "x" * 201}, "a.csv: the name 'xxxxxxxxxxxxxxxxxxxx'... has 201 characters"),
        ([], "systems is empty"),
        ("X", "must be a list"),
        ({"X": "Y", "Y": "Y"}, "the name 'Y' twice"),
        ({"X": " "}, "gives 'X' the name ' '"),
        ({"X": 3}, "gives 'X' the name 3"),
    ):
        refused(lambda x=systems: together({"systems": x}, a_csv=A), fact, ValueError)


HEADER = "system,user,seed,rank,n\n"
SEEDS = "A,u,1,1~A,v,1,4~A,u,2,2~A,v,2,5~B,u,1,3~B,v,1,6~B,u,2,3~B,v,2,8~"
SEEDS = HEADER + SEEDS.replace("~", ",9\n")
FOLDS = "system,fold,seed,user,rank,n\n" + "".join(
    f"{s},{f},{k},u{f},3,9\n" for s in "AB" for f in (1, 2) for k in (7, 8)
)


@pytest.mark.parametrize("name", ["seed", "Fold", "split", "run", "run_id", "repetition", "repeat"])
def test_averaged_counts_every_instance_of_every_repetition(name):
    labels = [f"{user} ({name} {seed})" for seed in (1, 2) for user in "uv"]
    assert labels_of(read(SEEDS.replace("seed", name))) == [labels] * 2


def test_a_run_beside_nothing_is_the_system():
    assert [*ranks_of(read("run,user,rank,n\nA,u,1,9\nB,u,2,9\n"))] == ["A", "B"]
    for system in ("model", "tag", "algorithm"):  # beside such a column, run is a repetition
        assert instances_of(SEEDS.replace("seed", "run").replace("system", system)) == [4, 4]
    said = "'model' and 'tag' both mean 'system'"
    refused(lambda: read("model,tag,run,rank,n\nA,x,1,1,9\n"), said)


def test_labels_tell_the_repetition_within_which_a_rank_is_repeated():
    each = [f"u{f} (fold {f}, seed {k})" for f in (1, 2) for k in (7, 8)]
    assert labels_of(read(FOLDS)) == [each] * 2
    names = [*ranks_of(read(FOLDS, runs="apart", instances="any"))]
    assert names[:2] == ["A (fold 1, seed 7)", "A (fold 1, seed 8)"]
    (ranks,) = read(HEADER + "A,u,1,3,9\nA,v,1,3,9\n")  # a single seed is not in the labels
    assert ranks.instances.tolist() == ["u", "v"]
    said = "instance 'u (seed 2)' has rank 3 twice"
    refused(lambda: read(HEADER + "A,u,1,3,9\nA,u,2,3,9\nA,u,2,3,9\n"), said)


def test_the_preview_says_what_was_made_of_them():
    text = SEEDS + "".join(f"{s},{u},{k},{k},9\n" for s in "AB" for u in "uv" for k in range(3, 8))
    for runs, said in (
        ("averaged", "averaged: every instance of every repetition counts as one instance."),
        ("apart", "kept apart: each is a system."),
    ):
        (facts,) = summary(text, runs=runs).files
        assert ("seed", "repetition") in facts.columns
        few = "seed 1, seed 2, seed 3, seed 4, seed 5 and 2 more"
        assert facts.notes == (f"7 repetitions ({few}) are {said}",)
    said = "runs must be one of averaged, apart; got 'mean'"
    refused(lambda: read(SEEDS, runs="mean"), said, ValueError)
    refused(lambda: read(HEADER + "A,u,,3,9\n"), "line 2, column 'seed': the cell is blank")


def test_a_complaint_names_eight_systems() -> None:
    text = "system,rank,n\n" + "".join(f"{x},3,9\n" for x in "ABCDEFGHI")
    refused(lambda: summary(text, systems=["W"]), "'G', 'H' and 1 more", ValueError)
