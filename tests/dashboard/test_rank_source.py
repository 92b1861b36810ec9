"""Sources of ranks: files, changes of how files are read, and the script that reads them."""

import gzip
from contextlib import nullcontext
from pathlib import Path

import pytest
import streamlit as st

import sampledash as sd
from sampledash.dashboard import uploads
from tests.dashboard.driver import Page

A = b"system,user,rank,n\nX,u,3,900\nX,v,5,800\nY,u,1,900\nY,v,800,800\n"
B = b"system,user,rank,n\nZ,v,2,800\nZ,u,4,900\n"
OTHER = B.replace(b"Z,u", b"Z,w")
RUN = "1 Q0 a 1 3 A\n1 Q0 b 2 2 A\n2 Q0 c 1 9 A\n2 Q0 b 2 1 A\n"
RUN = (RUN + RUN.replace(" A\n", " B\n").replace("a 1 3 B", "a 1 1 B")).encode()
QRELS = b"1 0 b 1\n2 0 c 2\n2 0 x 0\n"
MISSING = QRELS + b"1 0 z 1\n"


class Chooser(Page):
    def __init__(self, *files, source="Upload a file", **named):
        super().__init__(script=Path(__file__).with_name("chooser.py"))
        self.pick("source", source)
        if files or named:
            self.give(*files, **named)

    def give(self, *files, **named):
        """Upload files, given as (name, data), or as ``a_csv=data`` for the file ``a.csv``."""
        files = [*files, *((name.replace("_", "."), data) for name, data in named.items())]
        self.file_uploader(key="ranks_file").set_value([(*each, "") for each in files])
        return self.run()

    def say_n(self, n):
        self.number_input[0].set_value(n)
        return self.run()

    def choose(self, start, value):
        next(c for c in self.segmented_control if c.key.startswith(start)).set_value(value)
        return self.run()

    @property
    def source(self):
        return self.session_state["found"][0]

    @property
    def trouble(self):
        trouble = self.session_state["found"][1]
        return None if trouble is None else trouble.sentence

    @property
    def ranks(self):
        assert self.trouble is None
        return {s.system: s.ranks.tolist() for s in self.source.sets}

    @property
    def preview(self):
        (box,) = (e for e in self.expander if e.label == "What was understood")
        return box

    @property
    def understood(self):
        return " ".join(m.value for m in self.preview.markdown)

    def scripted(self, python, **files):
        for name, data in files.items():
            Path(name.replace("_", ".")).write_bytes(data)
        same = tuple(eval(self.source.python, {"sd": sd})) == self.source.sets
        return same and python in self.source.python


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_examples_say_how_a_script_reads_them_and_templates_are_offered():
    at = Chooser(source="MovieLens 1M: X, Y, Z")
    assert at.source.python == 'sd.example("movielens-xyz")'
    assert at.source.sets == tuple(sd.example("movielens-xyz"))
    assert at.source.bundled
    at = Chooser()
    labels = [b.label.split(":")[0] for b in at.get("download_button")]
    assert labels == ["Long", "Wide", "Counts", "TREC run", "TREC qrels"]
    assert any("def write_ranks(" in text.value for text in at.run().markdown)


def test_one_file_and_several(monkeypatch):
    doing = []
    monkeypatch.setattr(st, "spinner", lambda text, **_: doing.append(text) or nullcontext())
    at = Chooser(a_csv=A)
    assert doing[0] == "Reading a.csv"
    assert at.ranks == {"X": [3, 5], "Y": [1, 800]}
    said = (
        "Understood: 2 systems (X, Y), 4 ranks from 1 to 800 for 2 instances each, n = 800 to 900;"
    )
    assert said in at.captions
    assert not at.preview.proto.expanded
    assert at.scripted("sd.read_rank_sets('a.csv')", a_csv=A)
    assert not at.source.bundled
    both = {"a_csv": A, "b_csv_gz": gzip.compress(B)}
    at.give(**both)
    assert at.ranks == {"X": [3, 5], "Y": [1, 800], "Z": [2, 4]}
    assert at.source.name == "a.csv and b.csv.gz"
    assert at.scripted("sd.read_rank_sets(['a.csv', 'b.csv.gz'])", **both)
    assert list(at.give(a_csv=A, b_csv=A).ranks) == ["X", "Y", "X (b.csv)", "Y (b.csv)"]


def test_a_run_and_its_qrels_are_told_apart_and_missing_items_asked_about():
    at = Chooser(truth=QRELS, my_run=RUN)
    assert "n, the number of candidates, is missing" in at.trouble
    assert at.say_n(50).ranks == {"A": [2, 1], "B": [1, 1]}
    assert "as trec_eval and pytrec_eval order them" in at.understood.replace("\\", "")
    assert at.scripted("sd.read_rank_sets(['truth', 'my.run'], n=50)", my_run=RUN, truth=QRELS)
    assert "is a TREC run, which does not say what is relevant" in at.give(r=RUN).trouble
    assert "says what is relevant, but ranks nothing" in at.give(q=QRELS).trouble
    at = Chooser(my_run=RUN, truth=MISSING)
    assert "2 of 6 relevant items, in 1 of 2 queries, are missing" in at.trouble
    assert "Python" not in at.trouble
    at.click("Tied behind the ranked items").say_n(50)
    a = at.source.sets[0]
    assert (a.ranks.tolist(), a.ties.tolist()) == ([2, 3, 1], [0, 47, 0])
    assert "2 of 6 relevant items not in the run" in at.captions
    assert at.scripted("n=50, censored='tied'", my_run=RUN, truth=MISSING)
    assert at.choose("censored", "Their queries left out").ranks == {"A": [1], "B": [1]}
    at = Chooser(my_run=RUN, truth=MISSING).click("Leave those queries out")
    assert "n, the number of candidates" in at.trouble


def test_zero_based_can_be_said_and_taken_back():
    add, fits = "The ranks count from 0: add 1", A.replace(b"800,800", b"700,800")
    at = Chooser(a_csv=A.replace(b"u,1,", b"u,0,"))
    assert "count from 0" in at.trouble
    assert "rank 800 counting from 0" in at.click(add).trouble
    at = Chooser(a_csv=fits.replace(b"u,1,", b"u,0,")).click(add)
    assert at.ranks == {"X": [4, 6], "Y": [1, 701]}
    assert "zero_based=True" in at.source.python
    assert "1 was added" in at.captions
    assert "count from 0" in at.choose("zero_based", "1").trouble
    assert Chooser(a_csv=fits).choose("zero_based", "0").ranks == {"X": [4, 6], "Y": [2, 701]}


def test_repetitions_and_different_instances_can_be_chosen_again():
    runs = [("X", 1, 4), ("X", 2, 5), ("Y", 1, 6), ("Y", 2, 7)]
    rows = [f"{system},{seed},{user},{r},900" for system, seed, r in runs for user in "uv"]
    seeds = "\n".join(["system,seed,user,rank,n", *rows]).encode()
    at = Chooser(s_csv=seeds)
    assert {k: len(v) for k, v in at.ranks.items()} == {"X": 4, "Y": 4}
    assert "2 repetitions (seed 1, seed 2) are averaged" in at.understood
    at.choose("runs", "Each a system")
    assert list(at.ranks) == ["X (seed 1)", "X (seed 2)", "Y (seed 1)", "Y (seed 2)"]
    assert at.scripted("sd.read_rank_sets('s.csv', runs='apart')", s_csv=seeds)
    at = Chooser(a_csv=A, b_csv=OTHER).click("Compare the 1 instance they share")
    assert at.ranks == {"X": [5], "Y": [800], "Z": [2]}
    assert at.choose("instances", "As they are").ranks["Z"] == [2, 4]
    assert "cover different instances" in at.choose("instances", "All the same").trouble


def edit(at, monkeypatch, **rows):
    """Edit the table of systems as a reader would, which AppTest does not support."""
    changes = {int(row[1:]): change for row, change in rows.items()}

    def edited(data, *, editor=st.data_editor, **options):
        editor(data, **options)
        while changes:  # only once
            state = {**dict(st.session_state), options["key"]: {"edited_rows": {**changes}}}
            changes.clear()
            with monkeypatch.context() as patch:
                patch.setattr(st, "session_state", state)
                options["on_change"]()

    with monkeypatch.context() as patch:
        patch.setattr(st, "data_editor", edited)
        at.run()
    return at.run()


def test_systems_are_renamed_and_left_out_which_heals_what_does_not_fit(monkeypatch):
    at = edit(Chooser(a_csv=A, b_csv=B), monkeypatch, r1={"Use": False}, r2={"System": "=1+<b>1"})
    assert at.ranks == {"X": [3, 5], "=1+<b>1": [2, 4]}
    assert at.scripted("systems={'X': 'X', 'Z': '=1+<b>1'}", a_csv=A, b_csv=B)
    edit(at, monkeypatch, r1={"Use": True}, r2={"System": "X"})
    assert "gives the name 'X' twice" in at.trouble
    assert [s.system for s in at.source.sets] == ["X", "=1+<b>1"]
    at = Chooser(a_csv=A, b_csv=OTHER)
    assert "cover different instances" in at.trouble
    assert list(edit(at, monkeypatch, r2={"Use": False}).ranks) == ["X", "Y"]
    edit(at, monkeypatch, r2={"Use": False}, r0={"Use": False})
    assert "One system alone" in at.trouble


def test_one_system_keeps_its_preview_and_doubts_unfold_it():
    at = Chooser(z_csv=B)
    assert "One system alone has no order: add the ranks of a second one" in at.trouble
    assert "z.csv" in at.understood
    assert at.source is None or at.source.bundled
    rows = "".join(f"{s},{u},{(7 * u) % 101 + 1},3706\n" for s in "AB" for u in range(101))
    at = Chooser(sampled_csv=f"system,user,rank,n\n{rows}".encode())
    assert at.preview.proto.expanded
    said = at.preview.warning[0].value.replace("\\", "")
    assert "The largest rank is 101 of n = 3,706: are these ranks among sampled negatives?" in said
    at = Chooser(("*a*.csv", b"model,user_id,Rank,<b>score</b>,N\nX,u,1,2,9\nY,u,2,3,9\n"))
    for shown in ("model* → system", "\\<b\\>score", "\\*a\\*.csv"):
        assert shown in at.understood
    assert "ignored: *<b>score</b>*" in at.understood.replace("\\", "")


def test_wrong_files_leave_the_last_good_ones_which_outlive_the_uploader():
    at = Chooser(good_csv=A)
    good = at.source
    zipped = at.give(a_csv=A, t_xlsx=b"PK\x03\x04")
    assert "t.xlsx is an Excel workbook" in zipped.trouble
    assert (len(at.error), at.source) == (1, good)
    at.give(good_csv=A)
    assert (at.source, at.trouble) == (good, None)
    at = Chooser(a_csv=A, b_csv=B)
    at.pick("source", "Three toy recommenders").pick("source", "Upload a file")
    at.file_uploader(key="ranks_file").clear()
    assert "Still using a.csv and b.csv." in at.run().captions
    assert len(at.ranks) == 3


PASTED = {
    "n = 900\nA: 3, 5\nB: 4, 800": r"sd.parse_rank_text('n = 900\nA: 3, 5\nB: 4, 800')",
    "system,rank,n\nA,3,900\nB,4,900\n": "",
    'n = 900\n"A": 3, 5\nB\\x: 4, 800': "",
    "A: 3 5; B: 4 800": "n=900",
}


def test_pasted_ranks_have_a_script_too():
    at = Chooser(source="Paste ranks")
    for typed, python in PASTED.items():
        at.write("pasted", typed)
        if "900" not in typed:
            at.say_n(900)
        assert at.trouble is None
        assert at.scripted(python)
    at = Chooser().click("Load")
    assert at.segmented_control(key="source").value == "Paste ranks"
    assert at.ranks == {"P": [1], "Q": [2]}
    assert "n = 9" in at.text_area(key="pasted").value


def test_lost_files_are_asked_for(monkeypatch):
    at = Page("consistency").upload("a.csv", A)
    assert not at.error
    assert [*at.query_params["ranks_file_given"]] == ["1"]
    assert "ranks_file_given" not in at.link
    again = Page("consistency", source="Upload a file", ranks_file_given="1")
    assert again.complaint == uploads.GONE
    assert not again.upload("a.csv", A).error
    assert not Chooser(a_csv=A, b_csv=B).warning
    monkeypatch.setattr(uploads, "lost", lambda widget: widget == "ranks_file")
    at = Chooser(a_csv=A, b_csv=B)
    assert (list(at.ranks), [x.value for x in at.warning]) == (["X", "Y", "Z"], [uploads.LOST])
