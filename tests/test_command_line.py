"""The command line: exit codes, what it refuses, its files, its JSON, and the page's numbers."""

import datetime as dt
import io
import json
import os
import re
import runpy
import shlex
import signal
import subprocess
import sys
from html import escape
from pathlib import Path

import jsonschema
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import sampledash as sd
from sampledash import command_line
from sampledash.command_line import COMMANDS, main
from sampledash.command_line.options import masked
from sampledash.command_line.serving import results
from sampledash.command_line.streams import Told
from sampledash.report.numbers import percent
from tests.dashboard.driver import Page

ROOT = Path(__file__).parents[1]
DATA = ROOT / "sampledash" / "data"
MOVIELENS = str(DATA / "movielens_xyz.csv")
SCHEMA = json.loads(Path(command_line.__file__).with_name("schema.json").read_text("utf-8"))
#: Of two instances each: A never within 10, B once; 100 negatives say A.
TOY = "system,rank,n_candidates\nA,11,200\nA,11,200\nB,4,200\nB,150,200\n"


@pytest.fixture
def toy(tmp_path):
    path = tmp_path / "toy.csv"
    path.write_text(TOY)
    return str(path)


def asked(capsys, *words):
    """Its exit code and the JSON it writes, which is as the schema says."""
    code = main([*words, "--json"])
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, SCHEMA)
    return code, found


@pytest.mark.parametrize("name", COMMANDS)
def test_the_example_of_each_help_runs(name, capsys, monkeypatch, tmp_path):
    program, command, *rest = shlex.split(COMMANDS[name].example)
    assert (program, command) == ("sampledash", name)
    rest = [str(ROOT / word) if word.startswith("sampledash/data/") else word for word in rest]
    monkeypatch.chdir(tmp_path)
    if name == "serve":  # which would not end
        calls = []
        monkeypatch.setattr(runpy, "run_module", lambda *_, **__: calls.append((*sys.argv,)))
        monkeypatch.setattr(sys, "argv", [])
        monkeypatch.setenv("SAMPLEDASH_RESULTS", "")
        assert main([command, *rest]) == 0
        # For this machine alone, and nobody edits the program while it runs.
        options = {"port": 8501, "address": "127.0.0.1", "fileWatcherType": "none"}
        words = [f"--server.{option}={value}" for option, value in options.items()]
        assert calls == [("streamlit", "run", str(ROOT / "app.py"), *words)]
        assert json.loads(os.environ["SAMPLEDASH_RESULTS"]) == [MOVIELENS]
        assert main([command, "--base-path", "a/b"]) == 0
        assert calls[1][-1] == "--server.baseUrlPath=a/b"
        assert os.environ["SAMPLEDASH_RESULTS"] == "[]"
        return
    # Recall@10 with 100 negatives orders X, Y, Z wrongly (Krichene & Rendle 2020, Table 3).
    assert main([command, *rest]) == (1 if name == "check" else 0)
    out = capsys.readouterr().out
    written = [path.read_text(encoding="utf-8") for path in tmp_path.iterdir()]
    assert len(out + "".join(written)) > 60
    with pytest.raises(SystemExit):
        command_line.parser().parse_args([name, "--help"])
    assert COMMANDS[name].example in capsys.readouterr().out


#: Words after the file, its exit code; the page's address.
LINKS = [
    ("--metric Recall@10 --m 100", 1, {"m": "100", "metrics": ["Recall@k"]}),
    ("--metric Recall@10 --m 1200", 0, {"m": "1200", "metrics": ["Recall@k"]}),
    (
        "--metric AP --metric NDCG@5 --m 50 --scheme with-replacement",
        1,
        {"m": "50", "metrics": ["NDCG@k", "AP"], "k": "5", "scheme": "with replacement"},
    ),
    (
        "--metric Recall@10 --m 200 --scheme popularity --odds 2",
        1,
        {"m": "200", "metrics": ["Recall@k"], "scheme": "popularity", "odds": "2.0"},
    ),
    (
        "--metric Recall@10 --m 30 --correction CLS",
        1,
        {"m": "30", "metrics": ["Recall@k"], "correction": "CLS"},
    ),
]


TILE = re.compile(
    r"(.+): (.+) is better than (.+) by ([^<]+)<br>sampled difference ([^<]+)<br>"
    r"(?:one run shows it: (< [^<]+|[^<]+)<br>)?. (\w+)(?:, .*?>right from ([\d,]+))?"
)


@pytest.mark.parametrize(("words", "code", "link"), LINKS)
def test_it_says_what_the_page_shows(words, code, link, capsys):
    source = "Three toy recommenders" if "CLS" in words else "MovieLens 1M: X, Y, Z"
    file = MOVIELENS.replace("movielens_xyz", "paper_abc") if "CLS" in words else MOVIELENS
    found, told = asked(capsys, "check", file, *words.split())
    assert found == code
    page = Page("consistency", source=source, **link)
    assert any(sentence in page.headline for sentence in told["sentences"]), page.headline
    assert told["state"].lower() in page.headline.lower()
    (tiles,) = page.specs[0]["data"]  # of every pair what its tile says
    shown = [TILE.match(text.replace("\u00a0", " ")).groups() for text in tiles["text"]]
    rows = {(row["metric"], row["better"], row["worse"]): row for row in told["pairs"]}
    assert {each[:3] for each in shown} == set(rows)
    for *pair, exact, sampled, probability, state, late in shown:
        row = rows[tuple(pair)]
        differences = [percent(row[x]).replace("−", "-") for x in ("exact", "sampled")]
        assert [*differences, row["state"]] == [exact, sampled, state]
        chance = None if state == "tied" else percent(row["probability"], chance=True)
        assert chance == probability
        assert row["right_from"] == (None if late is None else int(late.replace(",", "")))


@pytest.mark.parametrize("name", ["plan", "rank", "count"])
def test_json_is_as_the_schema_says(name, toy, capsys):
    words = ["--metric", "Recall@10", "--metric", "AUC", "--m", "20"] if name == "plan" else []
    code, told = asked(capsys, name, toy, *words)
    assert (code, told["command"]) == (0, name)
    if name == "plan":  # B is beyond 10 as often as not: all but the last 10 are looked at
        assert [row["system"] for row in told["stopping"]] == ["A", "B"]
        assert told["sentences"][0].startswith("Exact Recall@10 by stopping when decided: up to ")
        assert told["sentences"][1].startswith("AUC")


def test_other_forms_hold_the_same_rows(toy, capsys):
    words = ["check", toy, "--metric", "Recall@10", "--m", "100"]
    for form, sign in (("csv", ","), ("markdown", "|"), ("latex", "&")):
        assert main([*words, f"--{form}"]) == 1
        row = next(x for x in capsys.readouterr().out.splitlines() if "uncorrected" in x)
        assert row.count(sign) >= 8


#: A command on the bundled ranks or on sampled ranks; heads and cells that people read.
PEOPLE = """
check XYZ --metric Recall@10 --m 100 | Shown by one run (%) … <0.01
check XYZ --metric Recall@10 --m 3000 | Shown by one run (%) … >99.99
check XYZ --metric Recall@10 --m 10000 | With all negatives Recall@10 ranks Z > Y > X, as it does
check XYZ --metric Recall@20000 --m 9 | The cutoff holds all 3,687 candidates: Recall@20000 is 100
plan XYZ --metric Recall@10 --m 100 | No number of instances … not reachable … Std. of scores
correct SRS --metric Recall@10 | Estimate (%) … At least, if ranks fall off (%)
correct --metric Recall@10 --n 1000 --m 20 | With 20 of 999 negatives: Recall@10 by CLS … Sampled
correct --metric AP --n 90 --m 9 --correction BV --scheme popularity | by popularity … BV 0.1
table TABLE --metric Recall@10 --n 1000 --m 20 | At most (%)
"""


def test_what_people_read_has_heads_in_words_and_says_what_it_is(tmp_path, capsys):
    sampled, printed = tmp_path / "sampled.csv", tmp_path / "printed.txt"
    sampled.write_text("system,sampled_rank,n_candidates,m\nA,1,900,20\nA,3,900,20\nB,9,900,20\n")
    printed.write_text("system, HR@1, HR@10\nA, 0.3, 0.6\nB, 0.2, 0.55\n")
    files = {"XYZ": MOVIELENS, "SRS": str(sampled), "TABLE": str(printed)}
    for line in PEOPLE.strip().splitlines():
        call, _, wanted = line.partition(" | ")
        words = [files.get(word, word) for word in call.split()]
        words += [] if "--scheme" in words else ["--scheme", "without-replacement"]
        assert main(words) in (0, 1)
        out = capsys.readouterr().out
        for part in wanted.split(" … "):
            assert part in out, (call, out)
        _, *tables = out.split("\n\n")
        heads = [head.strip() for table in tables for head in table.splitlines()[0].split("  ")]
        assert any(heads)
        assert "_" not in "".join(heads)
        assert not [head for head in heads if head[:1].islower() and head not in "mn"]


def test_a_histogram_is_read_as_the_ranks_it_stands_for(tmp_path, capsys):
    ties, counts = str(DATA / "movielens_xyz_ties.csv"), str(tmp_path / "counts.csv")
    assert main(["count", ties, "-o", counts]) == 0
    assert len(Path(counts).read_text().splitlines()) < len(Path(ties).read_text().splitlines())
    both = zip(sd.read_rank_sets(ties), sd.read_rank_sets(counts), strict=True)
    for one, other in both:
        assert one.n_instances == other.n_instances
        assert sd.mean("AP", one) == pytest.approx(sd.mean("AP", other), rel=1e-12)
    several = tmp_path / "several.csv"
    several.write_text("system,user,rank,n,count\nA,1,2,9,1\nA,1,3,9,1\nA,2,4,9,2\n")
    assert main(["count", str(several), "-o", counts]) == 0
    (one,), (other,) = sd.read_rank_sets(counts), sd.read_rank_sets(several)
    assert (one.n_instances, one.max_relevant) == (other.n_instances, other.max_relevant) == (3, 2)
    assert sd.mean("AP", one) == sd.mean("AP", other)
    several.write_text("system,user,rank,n\n=A,@x,1,9\n")  # no apostrophe as for a spreadsheet
    assert main(["count", str(several), "-o", counts]) == 0
    assert [one.system for one in sd.read_rank_sets(counts)] == ["=A"]


@pytest.mark.parametrize("again", ["", "3,4,9"])  # another relevant item of the third user
def test_a_histogram_of_two_files_of_which_one_tells_the_mass(again, tmp_path, capsys):
    for name, mass in (("A", ",mass_above"), ("B", "")):
        rows = [f"{row}{',0.1' * bool(mass)}" for row in ("1,2,9", "2,2,9", "3,3,9", again) if row]
        (tmp_path / f"{name}.csv").write_text("\n".join([f"user,rank,n{mass}", *rows]))
    assert main(["count", *(str(tmp_path / f"{name}.csv") for name in "AB")]) == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out))
    assert table.groupby("system")["count"].sum().tolist() == [3 + bool(again)] * 2
    assert sorted(table["count"]) == [1, 1] + [1, 1] * bool(again) + [2, 2]


#: Words, and what is said of them; FILE is a good file.
REFUSED = """
check nowhere.csv --metric AP --m 9 | nowhere.csv … there is no such file
check FILE --metric Gini --m 9 | check: unknown metric 'Gini'
check FILE --metric AP --m 0 | must be at least 1
check FILE --metric AP | the following arguments are required: --m; see sampledash check --help
check FILE --m 9 | the following arguments are required: --metric
check FILE --metric AP --m 10000 | m = 10,000 is too large without replacement
check FILE --metric AP --m 9 --correction ALS | 'als'
check FILE --metric AP --m 9 --odds 2 | odds = 2 applies to scheme 'popularity' only
check ALIEN --metric AP --m 9 | alien.csv … column
check BARE --metric AP --m 9 | candidates … --n
check BROKEN --metric AP --m 9 | broken.parquet
check empty --metric AP --m 9 | 'empty' holds no file *.parquet
check FILE --metric AP --m 9 -o NOWHERE/out.txt | cannot be written
report FILE --metric AP --m 9 -o NOWHERE/out.html | cannot be written
check FILE --metric AP --m 9 -o FILE | toy.csv is in what is read
check FILE --metric AP --m 9 -o /dev/null | it is a folder or a device
check FILE --metric AP --m ten | argument --m: invalid int value: 'ten'; see sampledash check --help
check 20240101.csv --metric AP --m 9 | 20240101.csv, line 3 … 'two' is not a number
check APART --metric AP --m 9 | 'A' lacks '3' … compare those (here: --instances shared)
report ONE --metric AP --m 9 | at least two systems
correct ONE --metric AP --m 9 --odds 2 | --odds is for a vector
table BROKEN --metric AP | broken.parquet is no text
table FILE FILE --metric AP | a table is one file
rank SCORES | scores.csv has no column relevant … give --relevant
rank empty FILE | an engine reads one table: give one folder
rank - --engine duckdb:// | an engine reads one table
serve FILE --port 0 | --port 0 is no port
serve FILE --port 65536 | --port 65,536 is no port: give one from 1 to 65,535
rank FILE --relevant ONE | --relevant is for a table of scores … which toy.csv is not
rank FILE --seen ONE | --seen is for a table of scores
table PRINTED --metric AP --n 9 | printed.csv does not say n and m: give --n and --m
table PRINTED --metric AP --m 9 | printed.csv does not say n and m
check / --metric AP --m 9 | check: / holds all folders: give the one that
count / | count: / holds all folders: give the one that
serve / | serve: / holds all folders: give the one that
check '' --metric AP --m 9 | FILE is '', an empty path
rank '' | FILE is '', an empty path
serve '' | FILE is '', an empty path
check FILE --metric AP --m 9 -o '' | --output is '', an empty path
rank FILE --seen '' | --seen is '', an empty path
check LONG --metric AP --m 9 | check the path
verify | invalid choice: 'verify'
"""


@pytest.mark.parametrize("line", REFUSED.strip().splitlines())
def test_what_is_wrong_is_one_sentence_and_nothing_is_written(
    line, toy, tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    words, said = line.split(" | ")
    alien, bare, broken = (tmp_path / x for x in ("alien.csv", "bare.csv", "broken.parquet"))
    alien.write_text("a,b\nx,y\n")
    bare.write_text("system,rank\nA,1\nB,2\n")
    broken.write_bytes(b"PAR1" + bytes(60))
    one, apart, scores = (tmp_path / x for x in ("one.csv", "apart.csv", "scores.csv"))
    one.write_text("system,rank,n\nA,1,20\n")
    apart.write_text("system,instance,rank,n\nA,1,2,9\nA,2,2,9\nB,1,3,9\nB,3,3,9\n")
    scores.write_text("system,user,item,score\nA,1,2,0.5\nA,1,3,0.5\n")
    printed = tmp_path / "printed.csv"
    printed.write_text("system, HR@1\nA, 0.5\n")
    (tmp_path / "20240101.csv").write_text("system,rank,n\nA,1,9\nB,two,9\n")
    places = {"PRINTED": printed, "ONE": one, "APART": apart, "SCORES": scores}
    places |= {"FILE": toy, "ALIEN": alien, "BARE": bare, "BROKEN": broken}
    places |= {"NOWHERE": tmp_path / "no" / "such", "LONG": "a" * 300}
    for name, place in places.items():
        words = words.replace(name, str(place))
    before = sorted(tmp_path.rglob("*"))
    assert main(shlex.split(words)) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    for part in said.split(" … "):
        assert part in err
    assert "Traceback" not in err
    assert sorted(tmp_path.rglob("*")) == before


def test_help_names_the_commands(capsys):
    assert main(["--help"]) == 0
    assert "COMMAND" in capsys.readouterr().out


def test_a_vector_is_read_back(tmp_path, capsys):
    words = ["--metric", "NDCG@10", "--n", "1000", "--m", "20", "--correction", "BV 0.1"]
    _, told = asked(capsys, "correct", *words)
    fit = sd.read_vector_json(json.dumps(told))
    made = sd.correction("bias-variance", gamma=0.1).fit(
        "NDCG@10", sd.Sampling(1000, 20, "without-replacement")
    )
    assert fit.values.tolist() == told["values"] == made.values.tolist()
    assert main(["correct", "--metric", "AP", "--m", "9"]) == 2
    assert "give each, or a file" in capsys.readouterr().err


def test_sampled_ranks_and_a_printed_table_say_what_the_page_says(tmp_path, capsys):
    drawn = "m = 20, n = 200\nA: 1, 1, 2, 5, 9, 1\nB: 3, 8, 15, 2, 20, 4"
    rows = [line.split(": ") for line in drawn.splitlines()[1:]]
    file = tmp_path / "sampled.csv"
    lines = [f"{name},{rank},200,20" for name, ranks in rows for rank in ranks.split(", ")]
    file.write_text("\n".join(["system,sampled_rank,n_candidates,m", *lines]))
    page = Page(
        "correct",
        what="Sampled ranks",
        sampled_source="Paste sampled ranks",
        sampled=drawn,
        estimator="shape-constrained MLE",
        scheme="with replacement",
    )
    words = ["--metric", "Recall@10", "--scheme", "with-replacement"]
    _, told = asked(capsys, "correct", str(file), *words)
    assert told["sentences"][0] in page.headline
    sampled = sd.read_sampled_ranks(str(file), scheme="with-replacement")
    _, named = asked(capsys, "correct", str(file), *words, "--correction", "BV 0.1")
    for each, name in ((told, "shape-constrained MLE"), (named, "BV 0.1")):
        assert f"Estimated ({name}): " in each["sentences"][0]
    first = told["estimates"][0]
    assert (first["low"], first["high"]) == sd.bounds("Recall@10", sampled[0])
    printed = "system, HR@1, HR@10\nA, 0.2, 0.6\nB, 0.1, 0.5\nm = 20, n = 200"
    page = Page("correct", what="A printed table", printed=printed, scheme="with replacement")
    file.write_text(printed)
    _, told = asked(capsys, "table", str(file), *words)
    assert told["sentences"][-1] in page.headline
    given = {"HR@1": 0.2, "HR@10": 0.6}
    low, high = sd.bounds_from_table("Recall@10", given, 200, 20, 1, scheme="with-replacement")
    assert (told["ranges"][0]["low"], told["ranges"][0]["high"]) == (low, high)
    assert main(["table", MOVIELENS, *words]) == 2
    file.write_text("system, HR@1, HR@10\nA, 0.50, 0.90\nB, 0.10, 0.50\nm = 100, n = 1000")
    for metric, end in (("Recall@10", ", whatever the ranks were."), ("AUC", "cannot tell.")):
        _, told = asked(capsys, "table", str(file), "--metric", metric)
        assert told["sentences"][-1].startswith(f"A has the highest {metric}")
        assert told["sentences"][-1].endswith(end)
    file.write_text(printed)
    # What is given as an option counts, not what the table says.
    for option, value, n, m in (("--n", "300", 300, 20), ("--m", "30", 200, 30)):
        _, told = asked(capsys, "table", str(file), *words, option, value)
        ends = sd.bounds_from_table("Recall@10", given, n, m, 1, scheme="with-replacement")
        assert (told["ranges"][0]["low"], told["ranges"][0]["high"]) == ends


#: Three relevant items of one instance, one of two others: P is ahead by items, Q by instances.
SEVERAL = "system,instance,rank,n\n" + "".join(
    f"{system},{label},{rank},40\n"
    for system, ranks in {"P": (1, 2, 3, 30, 30), "Q": (20, 30, 31, 1, 1)}.items()
    for label, rank in zip("aaabc", ranks, strict=True)
)


def test_options_and_repeated_instances_count(tmp_path, capsys):
    several, counted = tmp_path / "several.csv", tmp_path / "counted.csv"
    several.write_text(SEVERAL)
    for weighting, better in (("instances", "Q"), ("relevant-items", "P")):
        words = [*["--metric", "Recall@5"] * 2, "--m", "9", "--weighting", weighting]
        _, told = asked(capsys, "check", str(several), *words)
        assert (told["pairs"][0]["better"], len(told["pairs"])) == (better, 1)
        # Recall@5 of P is that of one instance of three, or of three items of five.
        difference = 1 / 3 if weighting == "instances" else 1 / 5
        assert told["pairs"][0]["exact"] == pytest.approx(difference, abs=1e-12)
    # Of 3 instances with 9 negatives and 1 with 49 the mean is 19; of each metric its dearest.
    counted.write_text("system,rank,n,count\nA,3,10,3\nA,3,50,1\nB,9,10,3\nB,40,50,1\n")
    words = ["--metric", "Recall@5", "--metric", "Recall@1", "--m", "9"]
    _, told = asked(capsys, "plan", str(counted), *words)
    assert [row["scores_of_full_ranking"] for row in told["stopping"]] == [19.0] * 4
    dearest = [max(each["scores"] for each in told["stopping"][i : i + 2]) for i in (0, 2)]
    assert dearest[0] > dearest[1]
    for cost, sentence in zip(dearest, told["sentences"], strict=False):
        assert f"up to {round(cost)} scores an instance" in sentence
        assert sentence.endswith("of 19.")
    _, told = asked(capsys, "plan", str(several), *words[:2], "--m", "9")
    whole = [row["scores_of_full_ranking"] for row in told["stopping"]]
    assert whole == pytest.approx([115 / 3] * 2)  # 37, 39 and 39


@pytest.mark.parametrize("option", ["--relevant", "--seen", "--qrels"])
def test_no_file_that_is_read_is_written(option, toy, tmp_path, capsys):
    beside = tmp_path / "beside.csv"
    beside.write_text("instance,item\n1,2\n")
    words = {"--qrels": ["check", toy, "--metric", "AP", "--m", "9"]}.get(option, ["rank", toy])
    assert main([*words, option, str(beside), "-o", str(beside)]) == 2
    assert "beside.csv is in what is read: give another" in capsys.readouterr().err
    assert beside.read_text() == "instance,item\n1,2\n"


def test_standard_input_is_read(monkeypatch, capsys):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TOY.encode())))
    code, told = asked(capsys, "check", "-", "--metric", "Recall@10", "--m", "100", "-o", "-")
    assert (code, told["state"]) == (1, "wrong")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TOY.encode())))
    assert main(["report", "-", "--metric", "Recall@10", "--m", "100"]) == 0
    page = capsys.readouterr().out
    assert all(part in page for part in ("the two systems is wrong", "Pictures", "/dev/stdin"))
    monkeypatch.setattr(sys, "stdin", None)
    assert main(["count", "-"]) == 2
    assert "standard input is closed" in capsys.readouterr().err


def scored(rng):
    """Scores with ties of two systems for instances with differing candidates."""
    rows = []
    for system in "AB":
        for user in range(12):
            items = rng.permutation(30)[: rng.integers(12, 30)]
            chosen = set(rng.choice(items, user % 3).tolist())  # of none, one or two
            for item in items.tolist():
                rows.append((system, f"u{user}", item, int(rng.integers(9)), int(item in chosen)))
    return pd.DataFrame(rows, columns=["system", "user", "item", "score", "relevant"])


@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_scores_are_ranked_as_counting_says(kind, tmp_path, capsys):
    table, path = scored(np.random.default_rng(5)), tmp_path / f"scores.{kind}"
    table.to_csv(path, index=False) if kind == "csv" else table.to_parquet(path)
    assert main(["rank", str(path), "-o", str(tmp_path / "ranks.csv")]) == 0
    said = "A: 4 of 12 instances have no relevant item with a score and are left out."
    assert said in capsys.readouterr().err
    for rs in sd.read_rank_sets(tmp_path / "ranks.csv", instances="any"):
        for label in table["user"].unique():
            own = table[(table["system"] == rs.system) & (table["user"] == label)]
            target = own[own["relevant"] == 1]["score"]
            here = rs.instances == label
            assert here.sum() == len(target)
            if len(target) == 1:  # of several the order of those tied with each other is drawn
                score = target.iloc[0]
                assert rs.ranks[here][0] == 1 + (own["score"] > score).sum()
                assert rs.ties[here][0] == (own["score"] == score).sum() - 1
                assert rs.n[here][0] == len(own)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda t: t.assign(score=["nan"] * 3 + ["1"] * (len(t) - 3)), "3 of the scores are NaN"),
        (lambda t: t.assign(score="high"), "of the scores are no numbers, such as 'high'"),
        (lambda t: pd.concat([t, t.head(2)]), "2 rows score an item again"),
        (lambda t: t.assign(relevant=0), "no item that system 'A' scores is relevant"),
        (lambda t: t.assign(relevant="maybe"), "relevant is neither 1 nor 0 in"),
        (lambda t: t.drop(columns="item"), "no column item"),
    ],
)
def test_scores_that_cannot_be_ranked(change, said, tmp_path, capsys):
    path = tmp_path / "scores.csv"
    change(scored(np.random.default_rng(5))).to_csv(path, index=False)
    assert main(["rank", str(path)]) == 2
    out, err = capsys.readouterr()
    assert out == ""
    assert all(part in err for part in said.split(" … "))


def arrow(**columns):
    """Scores of one instance: item 1 is relevant."""
    whole = {"system": ["A"] * 3, "instance": [2**60] * 3, "item": [1, 2, 3], "score": [1, 3, 2]}
    return pa.table({**whole, "relevant": [1, None, None], **columns})


def test_scores_of_parquet_keep_their_order_and_are_numbers(tmp_path, capsys):
    path = str(tmp_path / "scores.parquet")
    parquet.write_table(arrow(score=[2**60 + x for x in (1, 3, 2)]), path)  # one number as floats
    assert main(["rank", path, "--csv"]) == 0
    assert capsys.readouterr().out == f"system,instance,rank,n_candidates\nA,{2**60},3,3\n"
    for columns, said in (
        ({"score": [dt.date(2024, 1, 1)] * 3}, "column 'score' holds"),
        ({"score": [True, False, True]}, "column 'score' holds bool"),
        ({"item": [[1], [2], [3]]}, "column 'item' holds list"),
    ):
        parquet.write_table(arrow(**columns), path)
        assert main(["rank", path]) == 2
        assert said in capsys.readouterr().err
    parquet.write_table(arrow()[:0], path)
    assert main(["rank", path]) == 2
    assert "holds no candidates" in capsys.readouterr().err


def test_who_reads_may_stop_reading(toy):
    reader, writer = os.pipe()
    os.close(reader)
    words = ["check", toy, "--metric", "Recall@10", "--m", "100"]
    call = [sys.executable, "-m", "sampledash", *words]
    done = subprocess.run(call, cwd=ROOT, stdout=writer, stderr=subprocess.PIPE, text=True)
    os.close(writer)
    assert (done.returncode, done.stderr) == (1, "")  # its verdict, and no complaint


def test_progress_is_told_where_a_person_looks_and_taken_away(monkeypatch, capsys):
    def said(patience, looked_at):
        monkeypatch.setattr("sampledash.command_line.streams._PATIENCE", patience)
        monkeypatch.setattr(sys.stderr, "isatty", lambda: looked_at)
        told = Told()
        for share in (0.0, 0.25, 0.259, 1.0):
            told(share)
        told.end()
        return capsys.readouterr().err

    # Of -1 s all patience is gone at once; a share is said once.
    assert said(-1.0, True) == "\r  0 %\r 25 %\r100 %\r      \r"
    assert said(-1.0, False) == said(999.0, True) == ""


def test_progress_goes_up_to_all_of_it(tmp_path, monkeypatch, capsys):
    shares, table, sampled = [], tmp_path / "printed.txt", tmp_path / "sampled.csv"
    monkeypatch.setattr(Told, "__call__", lambda self, share: shares.append(share))
    table.write_text("system, HR@1\nA, 0.3\nB, 0.2\n")
    assert main(["table", str(table), "--metric", "HR@1", "--n", "90", "--m", "9"]) == 0
    assert shares == pytest.approx([x / 6 for x in range(1, 7)])
    shares.clear()
    rows = "A,1,90,9\nB,3,90,9\nC,5,90,9\n"
    sampled.write_text(f"system,sampled_rank,n_candidates,m\n{rows}")
    assert main(["correct", str(sampled), "--metric", "AUC", "--metric", "AP"]) == 0
    assert shares == pytest.approx([x / 24 for x in range(1, 25)])


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_it_writes_where_there_is_room(toy):
    call = [sys.executable, "-m", "sampledash", "check", toy, "--metric", "AP", "--m", "9"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(call, cwd=ROOT, stdout=full, stderr=subprocess.PIPE, text=True)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)  # 1 would be a wrong order
    assert "no space left" in done.stderr


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (KeyboardInterrupt(), 130, "stopped; nothing is written."),
        (OSError("no such table"), 2, "a file: no such table; check the path."),
        (OSError(5, "Input/output error", "x"), 2, "x: input/output error; check the path."),
        (MemoryError(), 2, "the memory does not suffice for this file."),
        (RuntimeError("this should not be"), 2, None),
    ],
)
def test_what_goes_wrong_within_is_no_wrong_order(
    error, code, message, toy, tmp_path, monkeypatch, capsys
):
    def fail(_):
        raise error

    monkeypatch.setattr("sampledash.command_line.verdicts.rank_sets", fail)
    out = tmp_path / "out.txt"
    assert main(["check", toy, "--metric", "AP", "--m", "9", "-o", str(out)]) == code
    *traceback, last = capsys.readouterr().err.splitlines()
    if message is None:
        assert traceback
        assert "this is a fault of the program" in last
    else:
        assert (traceback, last) == ([], f"sampledash check: {message}")
    assert not out.exists()


def test_a_pipe_refuses_a_sampled_comparison_and_loads_little(tmp_path):
    rows = []  # A has its item at rank 11 for both, B at 4 and 150, as above
    for system, ranks in {"A": (11, 11), "B": (4, 150)}.items():
        for user, place in enumerate(ranks):
            rows += [(system, user, i, -i, int(i == place)) for i in range(1, 201)]
    path = tmp_path / "scores.csv"
    names = ["system", "instance", "item", "score", "relevant"]
    pd.DataFrame(rows, columns=names).to_csv(path, index=False)
    check = tmp_path / "check.py"  # which also says what it has loaded
    check.write_text(
        "import sys; from sampledash.command_line import main\n"
        "code = main(['check', '-', '--metric', 'Recall@10', '--m', '100'])\n"
        "heavy = {'streamlit', 'plotly', 'scipy.stats', 'scipy.optimize', 'ibis'}\n"
        "print(heavy & {*sys.modules}, file=sys.stderr)\n"
        "sys.exit(code)\n"
    )
    line = f"{sys.executable} -m sampledash rank {path} | {sys.executable} {check}"
    how = {"capture_output": True, "text": True, "cwd": ROOT, "shell": True}
    done = subprocess.run(line, env=os.environ | {"PYTHONPATH": str(ROOT)}, **how)
    assert (done.returncode, done.stderr) == (1, "set()\n")
    assert "ranks A > B; on all items B > A" in done.stdout


def test_served_results_are_a_source_of_the_page(toy, monkeypatch, tmp_path):
    from sampledash.dashboard import ranks

    other = tmp_path / "other.csv"
    other.write_text(TOY.replace("A,11", "A,3"))
    offer = (ranks.SERVED, *ranks.OFFER)
    monkeypatch.setattr(ranks, "RESULTS", {"toy.csv": toy, "other.csv": str(other)})
    monkeypatch.setattr(ranks, "OFFER", offer)
    monkeypatch.setitem(ranks.OFFERED, "source", (offer, offer[0]))
    first, second = (
        Page("consistency", source=ranks.SERVED, result=x) for x in ("toy.csv", "other.csv")
    )
    assert "ranks A > B; on all items B > A" in first.headline
    assert first.headline != second.headline
    assert results([str(tmp_path)]) == [str(other), toy]
    rate, part = tmp_path / "lr=0.1.csv", tmp_path / "part-time.csv"  # files, no partitions
    for each in (rate, part):
        each.write_text(TOY)
    assert results([str(tmp_path)]) == [str(rate), str(other), str(part), toy]
    lake = tmp_path / "lake"
    for name in ("system=A", "system=iALS d=16"):
        (lake / name).mkdir(parents=True)
        (lake / name / "0.parquet").touch()
    assert results([str(lake)]) == [str(lake)]
    assert main(["serve", str(tmp_path / "nowhere")]) == 2


CHECK = ("check", MOVIELENS, "--metric", "Recall@10", "--m", "100")


def test_a_link_is_written_through_and_a_loop_refused(toy, tmp_path, capsys):
    words = ["check", toy, "--metric", "Recall@10", "--m", "100", "-o"]
    far = tmp_path / "far"
    far.mkdir()
    (far / "old.txt").write_text("old")
    (far / "old.txt").chmod(0o640)
    links = {"link": "far/old.txt", "dangling": "far/new.txt"}
    links |= {"loop": "pool", "pool": "loop", "folder": "far", "input": "toy.csv"}
    for name, target in links.items():
        (tmp_path / name).symlink_to(target)
    os.mkfifo(tmp_path / "pipe")
    for name in ("link", "dangling"):
        assert main([*words, str(tmp_path / name)]) == 1
        assert (tmp_path / name).is_symlink()
        assert "ranks A > B" in (tmp_path / links[name]).read_text()
    assert (far / "old.txt").stat().st_mode & 0o777 == 0o640
    before, capsys_said = sorted(tmp_path.rglob("*")), capsys.readouterr().out
    assert capsys_said == ""
    refused = {"loop": "a loop of links", "folder": "a folder", "input": "what is read"}
    for name, said in {**refused, "pipe": "a pipe"}.items():
        assert main([*words, str(tmp_path / name)]) == 2
        message = capsys.readouterr().err
        assert said in message
        assert message.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before
    assert Path(toy).read_text() == TOY


def test_a_report_on_two_files_names_both(tmp_path, capsys):
    for system in "AB":
        (tmp_path / f"{system}.csv").write_text(f"rank,n\n{ord(system) % 7},20\n9,20\n")
    paths = [str(tmp_path / f"{system}.csv") for system in "AB"]
    assert main(["report", *paths, "--metric", "AP", "--m", "9"]) == 0
    page = capsys.readouterr().out
    assert "Sampled metrics of A.csv, B.csv" in page
    assert all(escape(repr(path)) in page for path in paths)


def test_what_may_not_be_written_is_left_alone(toy, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out.txt"
    out.write_text("old")
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != out)  # root may all
    assert main(["check", toy, "--metric", "AP", "--m", "9", "-o", str(out)]) == 2
    assert "out.txt cannot be written (permission denied)" in capsys.readouterr().err
    assert out.read_text() == "old"
    monkeypatch.undo()

    def refuse(*_, **__):  # as in a folder that may only be read
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(os, "mkdir", refuse)
    assert main(["check", toy, "--metric", "AP", "--m", "9", "-o", str(out)]) == 2
    assert "out.txt cannot be written (permission denied)" in capsys.readouterr().err
    assert out.read_text() == "old"


@pytest.mark.parametrize(
    ("url", "secrets"),
    [
        ("nosuch://reader:geh%40im@host/db", ("geh%40im", "geh@im")),
        ("nosuch://host/db?user=a&password=geheim&api_key=K1", ("geheim", "K1")),
        ("duckdb:///no/such.db?motherduck_token=T0ken", ("T0ken",)),
        ("duckdb:///no/gehe+im.db?password=gehe%2Bim", ("gehe%2Bim", "gehe+im")),
    ],
)
def test_what_a_url_keeps_secret_is_not_printed(url, secrets, toy, capsys):
    for words in (
        ["rank", toy, "--engine", url],
        ["count", url],
        ["check", toy, "--metric", "AP", "--m", "9", "--engine", url],  # which has no engine
    ):
        assert main(words) == 2
        message = capsys.readouterr().err
        assert "***" in message or url not in message
        assert not any(secret in message for secret in secrets), message
    # An engine that repeats it in its own words.
    text = f"connection failed: password {secrets[-1]!r} is wrong"
    assert secrets[-1] not in masked(text, url)


@pytest.mark.parametrize("module", ["numpy", "pandas", "scipy", "pyarrow"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_importing_is_one_line(module, number, tmp_path):
    # In place of the module stands one that is interrupted, and makes another error of that.
    (tmp_path / f"{module}.py").write_text(
        f"import os\ntry:\n    os.kill(os.getpid(), {int(number)})\n    for _ in range(999): pass\n"
        "except BaseException:\n    raise ImportError('failed to import') from None\n"
    )
    how = {"cwd": ROOT, "capture_output": True, "text": True}
    path = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    program = "import sys; from sampledash.__main__ import main; sys.exit(main())"  # the script
    for start in (["-m", "sampledash"], ["-c", program]):
        call = [sys.executable, *start, *CHECK]
        done = subprocess.run(call, env=os.environ | path, **how)
        assert done.returncode == 128 + number
        assert (done.stdout, done.stderr.count("\n")) == ("", 1)
        assert "stopped; nothing is written" in done.stderr


def test_a_vector_is_of_one_metric_n_and_m(capsys) -> None:
    every = {"--metric": "AP", "--n": "100", "--m": "9"}
    for left_out in ("--n", "--m"):
        words = [x for name, value in every.items() if name != left_out for x in (name, value)]
        assert main(["correct", *words]) == 2
        assert "one --metric, --n and --m: give each" in capsys.readouterr().err


def test_a_table_of_one_system_says_its_range(tmp_path, capsys) -> None:
    file = tmp_path / "table.txt"
    file.write_text("system, HR@1, HR@10\nAlone, 0.2, 0.6\nm = 20, n = 200")
    words = ["--metric", "Recall@10", "--scheme", "with-replacement"]
    _, answer = asked(capsys, "table", str(file), *words)
    ends = sd.bounds_from_table(
        "Recall@10", {"HR@1": 0.2, "HR@10": 0.6}, 200, 20, 1, scheme="with-replacement"
    )
    (sentence,) = answer["sentences"]
    assert "Alone" in sentence
    assert all(percent(end) in sentence for end in ends)


def test_a_vector_fitted_to_odds(capsys) -> None:
    words = ["--metric", "AP", "--n", "60", "--m", "5", "--scheme", "popularity", "--odds", "2"]
    _, answer = asked(capsys, "correct", *words)
    sampling = sd.Sampling(60, 5, "popularity", 2.0)
    assert answer["values"] == sd.correction("CLS").fit("AP", sampling).values.tolist()


def test_json_keeps_letters_as_they_are(tmp_path, capsys) -> None:
    file = tmp_path / "ranks.csv"
    file.write_text("system,rank,n\nÜ,1,9\nB,2,9\n", encoding="utf-8")
    main(["check", str(file), "--metric", "AP", "--m", "3", "--json"])
    assert '"Ü"' in capsys.readouterr().out


def test_relevant_items_in_a_table_of_their_own(tmp_path, capsys) -> None:
    scores, relevant = tmp_path / "scores.csv", tmp_path / "relevant.csv"
    values = {"u": (0.9, 0.5, 0.1), "v": (0.2, 0.8, 0.4)}
    rows = [
        f"A,{u},{i},{x}" for u, each in values.items() for i, x in zip("pqr", each, strict=True)
    ]
    scores.write_text("\n".join(["system,instance,item,score", *rows]) + "\n")
    relevant.write_text("instance,item\nu,q\nv,r\nv,p\n")
    assert main(["rank", str(scores), "--relevant", str(relevant)]) == 0
    table = pd.read_csv(io.StringIO(capsys.readouterr().out))
    ranks = table.groupby("instance")["rank"].apply(sorted).to_dict()
    assert ranks == {"u": [2], "v": [2, 3]}
