"""Files in many formats and layouts give the right ranks, and the preview describes them."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import sampledash as sd
from sampledash.readers import tables
from sampledash.readers.assemble import describe
from sampledash.readers.pasted import open_text
from sampledash.readers.upload_limits import MissingCandidates
from tests.readers.reading import outcome, ranks_of, read, refused, summary

LONG = "system,instance,rank,n_candidates\nA,u,3,9\nA,v,5,8\nB,u,1,9\nB,v,8,8\n"
EXPECTED = [sd.RankSet(s, r, [9, 8], instances=[*"uv"]) for s, r in (("A", [3, 5]), ("B", [1, 8]))]
NAMES = {
    "system": "system~model~run~tag~Recommender~ALGORITHM~method",
    "rank": "rank~Ranks~position~true_rank~True Rank~best-rank",
    "instance": "user~user_id~userid~UserId~uid~query~query_id~qid~session~Instance",
    "n_candidates": "n~N~n_items~candidates~num_candidates~N candidates",
}
HIDDEN = "\ufeffsystem~\u200bsystem~ｓｙｓｔｅｍ~sys\u00adtem~# system~'system'~[system]~`system`"
ENDS = [(mark, end) for mark in ",;\t" for end in ("\n", "\r\n", "\r")]
OTHERWISE = [
    '\ufeffsystem, instance ,"rank",n_candidates\n\n"A", u ,3,9\nA,v, 5,8\n  \nB,u,1,9\nB,v,8,8',
    "score,n,rank,item,qid,run\n0.1,9,3,i7,u,A\n0.2,8,5,i8,v,A\n0.3,9,1,,u,B\n0.4,8,8,,v,B\n",
    "user,n,A,B\nu,9,3,1\nv,8,5,8\n",
    *(LONG.replace(a, b) for a, names in NAMES.items() for b in names.split("~")),
    # The quoted name of a fifth column contains a line break and text that looks like a row.
    LONG.replace("\n", ",0\n").replace("tes,0", 'tes,"x\nA,w,7,9,4"'),
    *(LONG.replace("system", form) for form in HIDDEN.split("~")),
    *(LONG.replace(",", mark).replace("\n", end) for mark, end in ENDS),
]


@pytest.mark.parametrize("text", OTHERWISE)
def test_one_table_in_many_forms(text, monkeypatch):
    for name in ("ranks.csv", "ranks.tsv", "ranks.txt", "ranks"):  # the ending has no effect
        assert read(text, name) == EXPECTED
    monkeypatch.setattr(tables, "SMALL", 0)
    assert read("\ufeff" + text) == EXPECTED


def test_path_buffer_and_name(tmp_path: Path):
    path = tmp_path / "BPR.csv"
    path.write_text(LONG)
    assert sd.read_rank_sets(path) == sd.read_rank_sets(str(path)) == EXPECTED
    path.write_text("rank\n3\n")
    with path.open("rb") as stream:
        # The refusal leaves the stream open, so that it can be read again.
        refused(lambda: sd.read_rank_sets(stream), kind=MissingCandidates)
        assert ranks_of(sd.read_rank_sets(stream, n=9)) == {"BPR": [3]}
    assert sd.read_rank_sets(path, n=9, name="other.csv")[0].system == "other"


def test_parquet():
    frame = pd.read_csv(io.StringIO(LONG))
    indexed = frame.set_index(["system", "instance"])
    typed = frame.astype({"system": "category", "rank": "Int64", "n_candidates": "float64"})
    for each in (frame, indexed, typed):
        for name in ("ranks.parquet", "upload"):
            assert read(each.to_parquet(), name) == EXPECTED


READ = [
    ("rank,n\n4.0,100\n1e2,100\n", {}, {"ranks": [4, 100]}),
    ("rank,A,B\n3,1,2\n4,5,6\n", {"n": 9}, {"ranks": [3, 4]}),  # A and B are ignored beside rank
    ("rank\n2.000\n1\n", {"n": 5}, {"ranks": [2, 1]}),
    ("user,rank,n\n4,3,9\n", {"name": "My model.v2.csv"}, {"My model.v2": [3]}),
    ('rank,system,n\n3," <b>*A*</b> ",9\n4,NA,9\n5,007,9\n6,"=1+1",9\n7,[x](http://x),9\n', {},
     {"<b>*A*</b>": [3], "NA": [4], "007": [5], "=1+1": [6], "[x](http://x)": [7]}),
    (",A,comment,B\n0,3,fine,1\n1,5,,8\n", {"n": 9}, {"A": [3, 5], "B": [1, 8]}),
    ("user,A.rank,B.rank\nu,3,4\n", {"n": 9}, {"A.rank": [3], "B.rank": [4]}),
    ("user,genre,rank\nu,x,3\nv,y,4\nw,x,5\n", {"n": 9}, {"ranks": [3, 4, 5]}),
    ("user,seen on,A,B\nu,2024-01-05,3,4\n", {"n": 9}, {"A": [3], "B": [4]}),
    ("system,rank\nMedian,3\nMean,4\n", {"n": 9}, {"Median": [3], "Mean": [4]}),
    ("system,rank,count\nA,3,1e6\nB,4,1000000.0001\n", {"n": 9}, {"A": [3], "B": [4]}),
    (",A\nx,3\ny,1\n", {"n": 9}, {"A": [3, 1]}),
    ("modell,rank\nx,1\n,2\nx,3\n", {"n": 9}, {"ranks": [1, 2, 3]}),
    ("user,of,rank\nu,a,1\nu,b,2\nv,c,1\nv,d,2\n", {"n": 9}, {"ranks": [1, 2, 1, 2]}),
    ("system,rank\nA,3\nA,4\nA,5\nMean,1\nMean,2\n", {"n": 9, "instances": "any"},
     {"A": [3, 4, 5], "Mean": [1, 2]}),
    ("user,2,A,a\nu,3,4,5\n", {"n": 9}, {"2": [3], "A": [4], "a": [5]}),
]  # fmt: skip


@pytest.mark.parametrize(("text", "options", "expected"), READ)
def test_systems_and_their_ranks(text, options, expected):
    assert list(ranks_of(read(text, **options)).items()) == list(expected.items())


INDICES = "Unnamed: 0~index~level_0~id~row~#~rownames~...1~~__index_level_0__~ID"


@pytest.mark.parametrize("header", INDICES.split("~"))
@pytest.mark.parametrize("start", [0, 1])
def test_an_index_of_the_rows_is_no_system(header, start):
    ranks = [3, 1, 8, 2, 7]
    frame = pd.DataFrame({"A": ranks, "B": ranks[::-1]}, index=range(start, start + 5))
    text = frame.rename_axis(header).to_csv()
    assert ranks_of(read(text, n=9)) == {"A": ranks, "B": ranks[::-1]}
    (facts,) = summary(text, n=9).files
    assert facts.ignored == ((header,) if header else ())
    assert facts.notes == (f"{header or '(no name)'} numbers the rows, and is left out.",)
    for name in (header, "customer"):  # Parquet metadata say which column is the index
        data = frame.rename_axis(name or None).to_parquet()
        assert ranks_of(read(data, n=9)) == {"A": ranks, "B": ranks[::-1]}


@pytest.mark.parametrize(("header", "place", "values", "which"), [
    ("index", 0, [3, 5, 9], "left out"), ("index", 0, [3, 3, 9], "no system"),
    ("index", 1, [3, 5, 9], "left out"), ("index", 0, [3, 1], "no system"),
    ("Zeile", 0, range(1, 11), "no system"), ("Zeile", 0, range(10), "no system"),
    ("Zeile", 0, range(1, 10), "system"), ("Zeile", 0, range(2, 12), "system"),
])  # fmt: skip
def test_what_may_be_an_index_is_left_out_refused_or_a_system(header, place, values, which):
    ranks = list(range(20, 20 - len(values), -1))
    frame = pd.DataFrame({"A": ranks})
    frame.insert(place, header, list(values))
    text = frame.to_csv(index=False)
    said = f"ranks.csv, column {header!r}: an index of the rows is no system; remove it"
    sets = outcome(lambda: read(text, n=20), said * (which == "no system"))
    systems = {x: frame[x].tolist() for x in frame if x == "A" or which == "system"}
    assert which == "no system" or ranks_of(sets) == systems


def test_n_is_that_of_the_file_or_is_asked_for():
    assert read("rank,n\n3,9\n", n=500)[0].n.tolist() == [9]
    assert read("rank\n3\n812\n", n=812)[0].n.tolist() == [812, 812]
    for n in (1, 0, -4, 2.5, "ten"):
        refused(lambda n=n: read("rank\n1\n", n=n), "n must be", ValueError)


def test_what_was_understood_and_done_is_told():
    found = summary("Model,user,rank,score,n,Größe\nA,u,3,0.5,9,x\nB,u,1,0.5,9,y\n")
    (facts,) = found.files
    assert (facts.file, facts.kind) == ("r.csv", "CSV")
    roles = {"Model": "system", "user": "instance", "rank": "rank", "n": "n"}
    assert facts.columns == tuple(roles.items())
    assert facts.ignored == ("score", "Größe")
    assert (found.numbers["zero_based"], found.doubts) == (False, ())
    (facts,) = summary("rank,count,,n\n3,0,1,9\n4,1,1,9\n").files
    assert facts.notes == ("1 row with count 0 left out.",)
    assert facts.ignored == ()
    (wide,) = summary("user\tA\tcomment\tB\nu\t3\tfine\t1\n", n=9).files
    assert (wide.kind, wide.ignored) == ("TSV", ("comment",))
    assert wide.columns[1:] == (("A", "ranks of this system"), ("B", "ranks of this system"))
    assert open_text("A: 1 2; n = 9").read().files[0].kind == "typed ranks"
    found = summary("rank,count,seed\n0,2,5\n4,0,5\n3,1,5\n4,0,5\n", n=9, zero_based=True)
    assert (found.numbers["zero_based"], found.numbers["has_counts"]) == (True, True)
    assert set(found.files[0].notes) == {
        "2 rows with count 0 left out.",
        "Ranks were counted from 0: 1 was added to each.",
    }


DOUBTED = [  # instances of a system, instances at the largest rank, that rank, n, and the warning
    (20, 4, 11, 55, "The largest rank is 11 of n = 55: are these ranks among sampled negatives? "),
    (20, 9, 10, 50, "The largest rank is 10 of n = 50: "),
    (20, 3, 1010, 5050, "The largest rank is 1,010 of n = 5,050: "),
    (20, 4, 1011, 5055, ""), (19, 4, 11, 55, ""), (20, 4, 11, 54, ""),
]  # fmt: skip


@pytest.mark.parametrize(("size", "pile", "largest", "n", "doubt"), DOUBTED)
def test_ranks_that_look_sampled_or_cut_are_doubted(size, pile, largest, n, doubt):
    other = sd.RankSet("Z", [largest, *[2] * 39], n + 1)
    rows, tied = [largest] * pile + [1] * (size - pile), [3] * pile + [0] * (size - pile)
    for b in (
        sd.RankSet("B", rows, n),
        sd.RankSet("B", [largest, 1], n, counts=[pile, size - pile]),
        sd.RankSet(
            "B", np.subtract(rows, tied), [*[n] * pile, *[2 * n] * (size - pile)], ties=tied
        ),
    ):
        for sets in ([other, b], [b, other]):
            doubts = describe(sets).doubts
            assert len(doubts) == bool(doubt)
            assert all(said.startswith(doubt) for said in doubts)
            # If one system marks ranks as beyond the end of its list, no warning is given.
            cut = sd.RankSet("C", [1, largest], n, beyond=[False, True])
            assert not describe([*sets, cut]).doubts
    assert not describe(sd.example("movielens-xyz")).doubts


def test_systems_that_differ_are_described_together():
    a = sd.RankSet("A", [3, 5], [1000, 1200], ties=[0, 2], mass_above=[0.5, 0.5])
    b = sd.RankSet("B", [9, 4, 6], 900, instances=[*"uuv"], counts=[2, 2, 5])
    cut = [sd.RankSet(s, [2, k + 1], 1100, beyond=[False, True]) for s, k in (("C", 10), ("D", 7))]
    assert describe([a, b, *cut], censored=1200).numbers == {
        "rows": 9, "n_low": 900, "n_high": 1200, "smallest_rank": 2, "largest_rank": 11,
        "has_counts": True, "beyond": 2, "censored": 1200,
    }  # fmt: skip
