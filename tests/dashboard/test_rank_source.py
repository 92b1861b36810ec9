"""Where ranks come from: files, corrections of what was understood, and the script for it."""

from __future__ import annotations

import gzip
import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest

import sampledash as sd
from sampledash.dashboard import ranks as rank_source
from tests.dashboard.driver import captions, click, pick, run

SCRIPT = """
import streamlit as st
from sampledash.dashboard import ranks as rank_source
source, trouble = rank_source.choose()
if trouble is not None:
    trouble.show()
st.session_state["found"] = source, trouble
"""
A = b"system,user,rank,n\nX,u,3,900\nX,v,5,800\nY,u,1,900\nY,v,800,800\n"
B = b"system,user,rank,n\nZ,v,2,800\nZ,u,4,900\n"
RUN = "1 Q0 a 1 3 A\n1 Q0 b 2 2 A\n2 Q0 c 1 9 A\n2 Q0 b 2 1 A\n"
RUN = (RUN + RUN.replace(" A\n", " B\n").replace("a 1 3 B", "a 1 1 B")).encode()
QRELS = b"1 0 b 1\n2 0 c 2\n2 0 x 0\n"


def page(*files: tuple[str, bytes], source: str = "Upload a file"):
    at = run(AppTest.from_string(SCRIPT, default_timeout=60))
    pick(at, "source", source)
    return upload(at, *files) if files else at


def upload(at, *files: tuple[str, bytes]):
    at.file_uploader(key="ranks_file").set_value([(name, data, "") for name, data in files])
    return run(at)


def found(at):
    source, trouble = at.session_state["found"]
    return source, None if trouble is None else trouble.sentence


def ranks(at):
    source, trouble = found(at)
    assert trouble is None, trouble
    return {s.system: s.ranks.tolist() for s in source.sets}


def say_n(at, n):
    at.number_input[0].set_value(n)
    return run(at)


def choose(at, start, value):
    next(c for c in at.segmented_control if c.key.startswith(start)).set_value(value)
    return run(at)


def preview(at):
    (box,) = [e for e in at.expander if e.label == "What was understood"]
    return box


def text(at):
    return " ".join(m.value for m in preview(at).markdown).replace("\\", "")


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch):
    """Where a script finds the files that were uploaded."""
    monkeypatch.chdir(tmp_path)


def assert_scripted(at, python: str, **files: bytes):
    """The expression of the page reads what it shows, in a folder with the files."""
    for name, data in files.items():
        Path(name.replace("_", ".")).write_bytes(data)
    source, _ = found(at)
    assert python in source.python
    assert tuple(eval(source.python, {"sd": sd})) == source.sets


def test_examples_say_how_a_script_reads_them():
    at = run(AppTest.from_string(SCRIPT, default_timeout=60))
    source, _ = found(at)
    assert source.python == 'sd.example("movielens-xyz")'
    assert source.sets == tuple(sd.example("movielens-xyz"))
    assert source.bundled


def test_one_file_and_several():
    at = page(("a.csv", A))
    assert ranks(at) == {"X": [3, 5], "Y": [1, 800]}
    assert "Understood: 2 systems (X, Y), 2 instances each, n = 800 to 900." in captions(at)
    assert not preview(at).proto.expanded
    assert_scripted(at, "sd.read_rank_sets('a.csv')", a_csv=A)
    assert not found(at)[0].bundled
    at, packed = page(("a.csv", A), ("b.csv.gz", gzip.compress(B))), gzip.compress(B)
    assert ranks(at) == {"X": [3, 5], "Y": [1, 800], "Z": [2, 4]}
    assert found(at)[0].name == "a.csv and b.csv.gz"
    assert_scripted(at, "sd.read_rank_sets(['a.csv', 'b.csv.gz'])", a_csv=A, b_csv_gz=packed)
    at = page(("a.csv", A), ("b.csv", A))
    assert list(ranks(at)) == ["X", "Y", "X (b.csv)", "Y (b.csv)"]


def test_arrays():
    stream = io.BytesIO()
    np.save(stream, np.array([[3, 1], [5, 800]]))
    at = say_n(page(("model.npy", stream.getvalue())), 900)
    assert ranks(at) == {"model 1": [3, 5], "model 2": [1, 800]}


def test_a_run_and_its_qrels_are_told_apart_by_content():
    for files in ([("my.run", RUN), ("truth", QRELS)], [("truth", QRELS), ("my.run", RUN)]):
        at = page(*files)
        assert "does not say n" in found(at)[1]
        say_n(at, 50)
        assert ranks(at) == {"A": [2, 1], "B": [1, 1]}
        assert "as trec_eval and pytrec_eval order them" in text(at)
    assert_scripted(at, "sd.read_rank_sets(['truth', 'my.run'], n=50)", my_run=RUN, truth=QRELS)


def test_half_of_a_pair_is_asked_for_the_other():
    assert "is a TREC run, which does not say what is relevant" in found(page(("r", RUN)))[1]
    assert "holds qrels, which say what is relevant" in found(page(("q", QRELS)))[1]


MISSING = QRELS + b"1 0 z 1\n"


def test_missing_items_are_asked_about_and_can_be_read_otherwise():
    at = page(("my.run", RUN), ("truth", MISSING))
    assert "2 of 6 relevant items, in 1 of 2 queries, are missing" in found(at)[1]
    assert "Python" not in found(at)[1]
    click(at, "Tied behind the ranked items")
    say_n(at, 50)
    a = found(at)[0].sets[0]
    assert (a.ranks.tolist(), a.ties.tolist()) == ([2, 3, 1], [0, 47, 0])
    assert "2 of 6 relevant items not ranked" in captions(at)
    assert_scripted(at, "n=50, censored='tied'", my_run=RUN, truth=MISSING)
    choose(at, "censored", "Their queries left out")
    assert ranks(at) == {"A": [1], "B": [1]}
    at = page(("my.run", RUN), ("truth", MISSING))
    click(at, "Leave those queries out")
    assert "n, the number of candidates" in found(at)[1]


def test_zero_based_can_be_said_and_taken_back():
    data = A.replace(b"u,1,", b"u,0,")
    at = page(("a.csv", data))
    assert "count from 0" in found(at)[1]
    click(at, "The ranks count from 0: add 1")
    # 800 counted from 0 is beyond n = 800.
    assert "rank 800 counting from 0" in found(at)[1]
    at = page(("a.csv", data.replace(b"800,800", b"700,800")))
    click(at, "The ranks count from 0: add 1")
    assert ranks(at) == {"X": [4, 6], "Y": [1, 701]}
    assert "zero_based=True" in found(at)[0].python
    assert "1 was added" in text(at)
    choose(at, "zero_based", "1")
    assert "count from 0" in found(at)[1]
    # Also where no rank is 0, because nobody came first.
    at = page(("a.csv", A.replace(b"800,800", b"700,800")))
    choose(at, "zero_based", "0")
    assert ranks(at) == {"X": [4, 6], "Y": [2, 701]}


SEEDS = b"system,seed,user,rank,n\n" + b"".join(
    f"{s},{k},{u},{r + k},900\n".encode()
    for s, r in (("X", 3), ("Y", 5))
    for k in (1, 2)
    for u in "uv"
)


def test_repetitions_are_averaged_or_kept_apart():
    at = page(("s.csv", SEEDS))
    assert {k: len(v) for k, v in ranks(at).items()} == {"X": 4, "Y": 4}
    assert "2 repetitions (seed 1, seed 2) are averaged" in text(at)
    choose(at, "runs", "Each a system")
    assert list(ranks(at)) == ["X (seed 1)", "X (seed 2)", "Y (seed 1)", "Y (seed 2)"]
    assert_scripted(at, "sd.read_rank_sets('s.csv', runs='apart')", s_csv=SEEDS)


def test_different_instances_can_be_chosen_again():
    at = page(("a.csv", A), ("b.csv", B.replace(b"Z,u", b"Z,w")))
    click(at, "Compare the 1 instance they share")
    assert ranks(at) == {"X": [5], "Y": [800], "Z": [2]}
    choose(at, "instances", "As they are")
    assert ranks(at)["Z"] == [2, 4]
    choose(at, "instances", "All the same")
    assert "cover different instances" in found(at)[1]


def edit(at, monkeypatch, **rows):
    """Edit the table of systems as a reader would; AppTest cannot."""
    import streamlit as st

    editor = st.data_editor

    def edited(data, **options):
        editor(data, **options)
        if not edited.done:
            edited.done = True
            changes = {int(row[1:]): change for row, change in rows.items()}
            state = at_state({options["key"]: {"edited_rows": changes}})
            with monkeypatch.context() as patch:
                patch.setattr(st, "session_state", state)
                options["on_change"]()

    def at_state(own):
        return {**dict(st.session_state), **own}

    edited.done = False
    with monkeypatch.context() as patch:
        patch.setattr(st, "data_editor", edited)
        run(at)
    return run(at)


def test_systems_are_renamed_and_left_out(monkeypatch):
    at = page(("a.csv", A), ("b.csv", B))
    edit(at, monkeypatch, r1={"Use": False}, r2={"System": "=1+<b>1"})
    assert ranks(at) == {"X": [3, 5], "=1+<b>1": [2, 4]}
    assert_scripted(at, "systems={'X': 'X', 'Z': '=1+<b>1'}", a_csv=A, b_csv=B)
    edit(at, monkeypatch, r1={"Use": True}, r2={"System": "X"})
    assert "systems gives the name 'X' twice" in found(at)[1].lower().replace("'x'", "'X'")
    # The last good ones stay.
    assert [s.system for s in found(at)[0].sets] == ["X", "=1+<b>1"]


def test_leaving_out_heals_what_does_not_fit(monkeypatch):
    at = page(("a.csv", A), ("b.csv", B.replace(b"Z,u", b"Z,w")))
    assert "cover different instances" in found(at)[1]
    edit(at, monkeypatch, r2={"Use": False})
    assert list(ranks(at)) == ["X", "Y"]
    edit(at, monkeypatch, r2={"Use": False}, r0={"Use": False})
    assert "One system alone" in found(at)[1]


def test_edits_of_the_table():
    names = {"X": 2, "Y": 3}
    table = rank_source.table_of(names, None)
    assert table["Use"].tolist() == [True, True]
    # Drawn anew on top of earlier edits.
    again = rank_source.table_of(names, {"Y": "theirs"})
    assert again["Use"].tolist() == [False, True]
    assert again["System"].tolist() == ["X", "theirs"]
    for drawn, edits, wanted in (
        (table, {}, None),
        (table, {0: {"System": " ours "}}, {"X": "ours", "Y": "Y"}),
        (table, {0: {"System": None}}, None),
        (table, {1: {"Use": False}}, {"X": "X"}),
        (again, {0: {"Use": True}}, {"X": "X", "Y": "theirs"}),
    ):
        assert rank_source.chosen_of(drawn, edits, list(names)) == wanted


def test_one_system_keeps_its_preview_and_its_numbers():
    at = page(("z.csv", B))
    said = found(at)[1]
    assert "One system alone has no order: add the ranks of a second one" in said
    # Ranks 2 and 4, both within 10.
    assert "Its Recall@10 is 100.00 %" in said
    assert "z.csv" in text(at)
    assert found(at)[0] is None or found(at)[0].bundled


def test_one_instance_and_200_systems():
    header = ",".join(f"s{i}" for i in range(200))
    data = f"{header}\n{','.join(str(i + 1) for i in range(200))}\n".encode()
    at = page(("many.csv", data))
    say_n(at, 900)
    assert len(ranks(at)) == 200
    assert "200 systems (s0, s1, s2, s3, s4, ...), 1 instance each" in captions(at)


def test_the_preview_unfolds_when_something_is_doubtful():
    rows = "".join(f"{s},{u},{(7 * u) % 101 + 1},3706\n" for s in "AB" for u in range(101))
    at = page(("sampled.csv", ("system,user,rank,n\n" + rows).encode()))
    assert preview(at).proto.expanded
    said = preview(at).warning[0].value.replace("\\", "")
    assert "The largest rank is 101 of n = 3,706: are these ranks among sampled negatives?" in said


def test_columns_are_named_as_plain_text():
    data = b"model,user_id,Rank,<b>score</b>,N\nX,u,1,2,9\nY,u,2,3,9\n"
    at = page(("*a*.csv", data))
    shown = text(at)
    assert "model* → system" in shown
    assert "ignored: *<b>score</b>*" in shown
    raw = " ".join(m.value for m in preview(at).markdown)
    assert "\\<b\\>score" in raw
    assert "\\*a\\*.csv" in raw


@pytest.mark.parametrize(
    ("files", "fact"),
    [
        ([("p.npy", b"\x80\x04K\x01.")], "Python pickle, which could run code"),
        ([("a.csv", A), ("t.xlsx", b"PK\x03\x04")], "t.xlsx is a zip archive or an Excel"),
    ],
)
def test_wrong_files_leave_the_last_good_ones(files, fact):
    at = page(("good.csv", A))
    good = found(at)[0]
    upload(at, *files)
    assert fact in found(at)[1]
    assert len(at.error) == 1
    assert found(at)[0] == good
    upload(at, ("good.csv", A))
    assert found(at) == (good, None)


def test_files_outlive_the_uploader():
    at = page(("a.csv", A), ("b.csv", B))
    pick(at, "source", "Three toy recommenders")
    pick(at, "source", "Upload a file")
    at.file_uploader(key="ranks_file").clear()
    run(at)
    assert "Still using a.csv and b.csv." in captions(at)
    assert len(ranks(at)) == 3


def test_templates_are_offered():
    at = page()
    labels = [b.label.split(":")[0] for b in at.get("download_button")]
    assert labels == ["Long", "Wide", "Counts", "TREC run", "TREC qrels"]


@pytest.mark.parametrize(
    "typed",
    [
        "n = 900\nA: 3, 5\nB: 4, 800",
        'n = 900\n"A": 3, 5\nB\\x: 4, 800',
        "system,rank,n\nA,3,900\nB,4,900\n",
        "A: 3 5; B: 4 800",
    ],
)
def test_pasted_ranks_have_a_script_too(typed):
    at = page(source="Paste ranks")
    at.text_area(key="pasted").set_value(typed)
    run(at)
    if "900" not in typed:
        say_n(at, 900)
    source, trouble = found(at)
    assert trouble is None
    assert tuple(eval(source.python, {"sd": sd})) == source.sets
    if '"' not in typed and "900" in typed:
        assert source.python == f'sd.parse_rank_text("""{typed}""")'


def test_ranks_can_be_put_into_the_page():
    load = 'st.button("Load", on_click=rank_source.load_text, args=("n = 9\\nP: 1\\nQ: 2",))\n'
    at = click(run(AppTest.from_string(SCRIPT + load, default_timeout=60)), "Load")
    assert at.segmented_control(key="source").value == "Paste ranks"
    assert ranks(at) == {"P": [1], "Q": [2]}
    assert "n = 9" in at.text_area(key="pasted").value


def test_large_uploads_are_kept_for_the_session_only():
    size = 60_000
    table = pd.DataFrame(
        {"system": np.repeat(["X", "Y"], size), "rank": np.arange(2 * size) % 900 + 1, "n": 900}
    )
    at = page(("large.csv", table.to_csv(index=False).encode()))
    other = page(("a.csv", A))
    assert ranks(at).keys() == {"X", "Y"}
    assert len(found(other)[0].sets[0]) == 2
