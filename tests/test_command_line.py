"""The command line: exit codes, error messages, files, JSON, and the numbers of the page."""

import csv
import datetime as dt
import io
import itertools
import json
import os
import re
import runpy
import shlex
import signal
import subprocess
import sys
from collections import Counter
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
from sampledash.command_line.options import PAGES, TEXTS, masked
from sampledash.command_line.serving import results
from sampledash.command_line.streams import Answer, Told, written
from sampledash.estimation.estimate import compare, interval
from sampledash.report.numbers import percent, points
from tests.dashboard.driver import Page

ROOT = Path(__file__).parents[1]
DATA = ROOT / "sampledash" / "data"
MOVIELENS = str(DATA / "movielens_xyz.csv")
SCHEMA = json.loads(Path(command_line.__file__).with_name("schema.json").read_text("utf-8"))
#: A has no rank within 10 and B has one, but with 100 negatives A is ahead in Recall@10.
TOY = "system,rank,n_candidates\nA,11,200\nA,11,200\nB,4,200\nB,150,200\n"


@pytest.fixture
def toy(tmp_path):
    path = tmp_path / "toy.csv"
    path.write_text(TOY)
    return str(path)


def asked(capsys, *words):
    """Run a command; return its exit code and its JSON output, which must match the schema."""
    code = main([*words, "--json"])
    found = json.loads(capsys.readouterr().out)
    jsonschema.validate(found, SCHEMA)
    return code, found


@pytest.mark.parametrize("name", sorted({*COMMANDS} - {"lessons"}))  # see test_learn.py
def test_the_example_of_each_help_runs(name, capsys, monkeypatch, tmp_path):
    program, command, *rest = shlex.split(TEXTS[f"{name}: example"])
    assert (program, command) == ("sampledash", name)
    rest = [str(ROOT / word) if word.startswith("sampledash/data/") else word for word in rest]
    monkeypatch.chdir(tmp_path)
    if name == "serve":  # the server would not end
        calls = []
        monkeypatch.setattr(runpy, "run_module", lambda *_, **__: calls.append((*sys.argv,)))
        monkeypatch.setattr(sys, "argv", [])
        monkeypatch.setenv("SAMPLEDASH_RESULTS", "")
        assert main([command, *rest]) == 0
        options = {"port": 8501, "address": "127.0.0.1"}  # the server listens only on this machine
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


OPTIONS = {
    "metric": ["AP"], "m": 9, "n": 8, "scheme": "popularity", "odds": 2.5, "correction": "CLS",
    "ties": "optimistic", "weighting": "relevant-items", "qrels": "q.txt", "zero_based": True,
    "instances": "any", "runs": "apart", "censored": "tied", "probability": 0.5, "over": 70,
    "train": "t.csv", "ranks": "t.csv",
    "relevant": "r.csv", "seen": "s.csv", "negatives": "popularity", "overlaps": True,
    "engine": "duckdb://", "port": 80, "address": "0.0.0.0", "base_path": "a", "output": "o.txt",
    "sample_of": 10**6, "files": ["f.csv", "-"],
}  # fmt: skip
DEFAULTS = dict.fromkeys([*OPTIONS, "files"]) | {
    "scheme": "without-replacement", "ties": "expected", "weighting": "instances",
    "zero_based": False, "overlaps": False, "instances": "same", "runs": "averaged",
    "censored": "refuse",
    "probability": 0.95, "metric": [], "port": 8501, "address": "127.0.0.1",
}  # fmt: skip
READING = "n qrels zero_based instances runs censored output"
COMPARING = f"metric m scheme odds correction ties weighting {READING}"
TAKES = {  # the options of a command, its required options, its default format
    "check": (COMPARING, "files", "text"),
    "plan": (f"{COMPARING} probability", "metric m files", "text"),
    "report": (COMPARING, "metric m files", "text"),
    "rank": (f"{READING} relevant seen negatives overlaps engine", "files", "csv"),
    "count": (f"{READING} engine", "files", "csv"),
    "correct": ("metric n m sample_of scheme odds correction ties output", "metric", "text"),
    "table": ("metric n m sample_of over scheme output", "metric files", "text"),
    "audit": ("train ranks metric scheme output", "files", "text"),
    "lessons": ("output", "", "text"),
    "serve": ("port address base_path", "", "text"),
}


@pytest.mark.parametrize("command", COMMANDS)
def test_options_of_each_command_and_what_they_are_unless_given(command, capsys):
    given = OPTIONS | ({"files": ["-"]} if command in ("table", "audit") else {})

    def words(names):
        for name in names.split():
            value, flag = given[name], "instances" if name == "over" else name.replace("_", "-")
            every = map(str, value if isinstance(value, list) else [value])
            yield from every if name == "files" else [f"--{flag}", *every][: 2 - (value is True)]

    def parsed(*more):
        return vars(command_line.parser().parse_args([command, *more]))

    takes, needs, form = TAKES[command]
    files = "files" * (command != "lessons")
    every = {name: given[name] for name in f"{takes} {files}".split()}
    assert parsed(*words(f"{takes} {files}")) == {**every, "command": command, "form": form} | (
        {"output": None} if command == "serve" else {}
    )
    left = {name: DEFAULTS[name] for name in every} | {name: given[name] for name in needs.split()}
    left |= {} if files in needs else {"files": []}
    assert parsed(*words(needs)) == {"output": None, "command": command, "form": form, **left}
    for kind in ["json", "csv", "markdown", "latex"] * (command not in (*PAGES, "serve")):
        assert parsed(*words(needs), f"--{kind}")["form"] == kind
    assert main([command, "--help"]) == 0
    said = capsys.readouterr().out
    assert TEXTS[command] in said
    assert f"example:\n  {TEXTS[f'{command}: example']}" in said
    rest = " ".join(said.split())
    assert ("--output FILE write to this file" in rest) == (command != "serve")
    assert ("--latex as latex" in rest) == (command not in (*PAGES, "serve"))


def test_help_names_the_commands(capsys):
    assert main(["--help"]) == 0
    said = " ".join(capsys.readouterr().out.split())
    usage = "sampledash [-h] [--version] COMMAND ... Check, plan and correct metrics on sampled"
    assert usage in said
    assert "every command reads as ranks correct The vector of a correction: the value to" in said
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"sampledash {sd.__version__}\n"
    assert main([]) == 2
    said = "sampledash: the following arguments are required: COMMAND; see sampledash --help\n"
    assert capsys.readouterr().err == said
    assert main(["count", "x", "--csv", "--json"]) == 2
    assert "--json: not allowed with argument --csv" in capsys.readouterr().err


#: User a has three relevant items, b has ties, and c has ties and another n.
RANKS = "system,user,rank,n,ties\n" + "".join(
    f"{system},{user},{rank},{n},{ties}\n"
    for system, ranks in {"P": (1, 3, 5, 7, 13), "Q": (2, 4, 6, 1, 9)}.items()
    for user, rank, (n, ties) in zip(
        "aaabc", ranks, [(12, 0)] * 3 + [(12, 3), (16, 2)], strict=True
    )
)
HOW = [
    {},
    {"ties": "pessimistic", "weighting": "relevant-items"},
    {"scheme": "with-replacement", "correction": "BV 0.1"},
    {"scheme": "popularity", "odds": 3.0, "weighting": "relevant-items"},
    {"scheme": "popularity", "odds": 1.0, "ties": "optimistic"},
]


def plain(table, *names):
    """Return the rows of a table; missing values are None."""
    rows = table[list(names) or list(table)].to_dict("records")
    return [{name: None if pd.isna(x) else x for name, x in row.items()} for row in rows]


@pytest.mark.parametrize("how", HOW, ids=range(len(HOW)))
def test_check_and_plan_answer_what_the_functions_do(how, tmp_path, capsys, shares):
    path = tmp_path / "ranks.csv"
    path.write_text(RANKS)
    sets, metrics, m = sd.read_rank_sets(path), ["Recall@3", "AP"], 4
    words = [x for name in metrics for x in ("--metric", name)] + ["--m", str(m)]
    words += [x for name, value in how.items() for x in (f"--{name}", str(value))]
    code, told = asked(capsys, "check", str(path), *words)
    options = {name: value for name, value in how.items() if name != "correction"}
    corrections = [how.get("correction", "uncorrected")]
    assert shares[-1] == 1
    assert told["pairs"] == plain(sd.verdict(metrics, sets, m, corrections, **options))
    states = {row["state"] for row in told["pairs"]}
    assert code == bool(states & {"wrong", "undecided"})
    worst = next(x for x in ("wrong", "undecided", "tied", "right") if x in states)
    facts = {"m": m, "scheme": how.get("scheme", "without-replacement"), "state": worst}
    assert {name: told[name] for name in facts} == facts
    shares.clear()
    _, told = asked(capsys, "plan", str(path), *words, "--probability", "0.7")
    assert shares
    assert (told["m"], told["scheme"], told["probability"]) == (m, facts["scheme"], 0.7)
    wanted = []
    for name in metrics:
        negatives = plain(sd.negatives_needed(name, sets, 0.7, **how))
        instances = plain(sd.instances_needed(name, sets, m, 0.7, **how))
        pairs = zip(negatives, instances, strict=True)
        wanted += [{"metric": name, **one, **other} for one, other in pairs]
    assert told["needed"] == wanted
    costs = {s.system: sd.mean_stopping_cost("Recall@3", s) for s in sets}
    assert [(x["system"], x["scores"], x["std_of_scores"]) for x in told["stopping"]] == [
        (name, pytest.approx(cost.mean), pytest.approx(cost.std)) for name, cost in costs.items()
    ]
    every = pytest.approx((9 + 11 + 15) / 3)  # mean number of negatives of the three users
    assert [row["scores_of_full_ranking"] for row in told["stopping"]] == [every] * 2


def test_what_is_read_is_read_as_options_say(tmp_path, capsys, monkeypatch):
    seeds = "system,seed,user,rank\nA,1,u,0\nA,2,u,3\nB,1,u,1\nB,2,u,5\nA,1,v,2\n"
    run = "u Q0 a 1 3 A\nu Q0 b 2 2 A\nv Q0 c 1 1 A\n"
    for name, text in {"seeds": seeds, "my.run": run, "qrels": "u 0 b 1\nu 0 z 1\nv 0 c 1"}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.chdir(tmp_path)
    for words, options in (
        ("seeds --zero-based --n 41 --instances shared",
         {"zero_based": True, "instances": "shared"}),
        ("seeds --zero-based --n 40 --instances any --runs apart",
         {"zero_based": True, "instances": "any", "runs": "apart"}),
        ("my.run --qrels qrels --n 40 --censored tied", {"censored": "tied"}),
        ("my.run --qrels qrels --n 40 --censored beyond", {"censored": "beyond"}),
    ):  # fmt: skip
        file, *rest = words.split()
        options |= {"n": int(rest[rest.index("--n") + 1])}
        options |= {"qrels": "qrels"} if file == "my.run" else {}
        assert main(["rank", file, *rest, "-o", "out.csv"]) == 0
        assert capsys.readouterr() == ("", "")
        sets = [read_back(one) for one in sd.read_rank_sets("out.csv", instances="any")]
        assert sets == [read_back(one) for one in sd.read_rank_sets(file, **options)]


def read_back(ranks):
    columns = ranks.instances.astype(str), ranks.ranks, ranks.ties, ranks.n, ranks.beyond
    return ranks.system, sorted(zip(*(column.tolist() for column in columns), strict=True))


LINKS = [  # (options of check, query of the Consistency page with the same settings)
    ("--metric AP --metric NDCG@5 --m 50 --scheme with-replacement",
     {"m": "50", "metrics": ["NDCG@k", "AP"], "k": "5", "scheme": "with replacement"}),
    ("--metric Recall@10 --m 30 --correction CLS",
     {"m": "30", "metrics": ["Recall@k"], "correction": "CLS"}),
]  # fmt: skip
TILE = re.compile(
    r"(.+): (.+) is better than (.+) by ([^<]+)<br>sampled difference ([^<]+)<br>"
    r"(?:one run shows it: (< [^<]+|[^<]+)<br>)?. (\w+)(?:, .*?>(?:mean|right) from ([\d,]+))?"
)


@pytest.mark.parametrize(("words", "link"), LINKS)
def test_it_says_what_the_page_shows(words, link, capsys):
    source = "Three toy recommenders" if "CLS" in words else "MovieLens 1M: X, Y, Z"
    file = MOVIELENS.replace("movielens_xyz", "paper_abc") if "CLS" in words else MOVIELENS
    found, told = asked(capsys, "check", file, *words.split())
    assert found == 1
    page = Page("consistency", source=source, **link)
    assert any(sentence in page.headline for sentence in told["sentences"]), page.headline
    assert told["state"].lower() in page.headline.lower()
    (tiles,) = page.specs[0]["data"]  # a tile for each metric and pair
    shown = [TILE.match(text.replace("\u00a0", " ")).groups() for text in tiles["text"]]
    rows = {(row["metric"], row["better"], row["worse"]): row for row in told["pairs"]}
    assert {each[:3] for each in shown} == set(rows)
    for *pair, exact, sampled, probability, state, late in shown:
        row = rows[tuple(pair)]
        differences = [points(row[x]).replace("\u00a0", " ") for x in ("exact", "sampled")]
        assert [*differences, row["state"]] == [exact, sampled, state]
        chance = None if state == "tied" else percent(row["probability"], chance=True)
        assert chance == probability
        assert row["right_from"] == (None if late is None else int(late.replace(",", "")))


#: Lines of ``command | parts of its output``; XYZ, SRS and TABLE are names for files.
PEOPLE = """
check XYZ --metric Recall@10 --m 100 | Shown by one run (%) … <0.01
check XYZ --metric Recall@10 --m 3,000 | Shown by one run (%) … >99.99
check XYZ --metric Recall@10 --m 1e4 | With all negatives Recall@10 ranks Z > Y > X, as it does
check XYZ --metric Recall@20000 --m 9 | The cutoff holds all 3,687 candidates: Recall@20000 is 100
check SAME --metric AP --m 9 | the exact values are equal, and a run that shows a winner is wrong.
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
    (same := tmp_path / "same.csv").write_text("system,rank,n\nA,3,99\nA,7,99\nB,7,99\nB,3,99\n")
    files = {"XYZ": MOVIELENS, "SRS": str(sampled), "TABLE": str(printed), "SAME": str(same)}
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


def drawn_ranks(rng, several, counted):
    """Yield two files of ranks; only one has mass_above, both have ties or both lack them."""
    users, weights = rng.permutation(9), rng.integers(1, 4, 9)
    places = {user: [*range(1 + several * (user % 4 == 0))] for user in users.tolist()}
    ties = int(rng.integers(2))
    for name, mass in (("B", ",mass_above"), ("A", "")):
        rows = [f"user,rank,n{',ties' * ties}{mass}{',count' * counted}"]
        for user in users.tolist():
            for place in places[user]:
                row = [user, place * 3 + rng.integers(2, 4), 9, *[int(rng.integers(2))] * ties]
                row += [*[rng.integers(1, 3) / 10] * bool(mass), *[weights[user]] * counted]
                rows.append(",".join(map(str, row)))
        yield name, "\n".join(rows)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize("counted", [False, True])
def test_counts_are_those_of_the_ranks_in_their_order(several, counted, tmp_path, capsys):
    for seed in range(3):
        files = []
        for name, text in drawn_ranks(np.random.default_rng(seed), several, counted):
            files.append(str(tmp_path / f"{name}.csv"))
            Path(files[-1]).write_text(text)
        assert main(["rank", *files]) == 0
        rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
        lists = Counter((row["system"], row["instance"]) for row in rows)
        kinds, labels, kept = Counter(), {}, []
        for row in rows:
            size, label = float(row.pop("count", 1)), row["instance"]
            if lists[row["system"], label] > 1:
                kept.append({**row, "count": size})
                continue
            kind = tuple((name, x) for name, x in row.items() if name != "instance")
            kinds[kind] += size
            labels[kind] = min(labels.get(kind, label), label)
        wanted = [{**dict(kind), "count": size} for kind, size in kinds.items()]
        if kept:
            pairs = zip(wanted, labels.values(), strict=True)
            wanted = [{**row, "instance": label} for row, label in pairs] + kept
        for name in ("rank", "count"):
            code, told = asked(capsys, name, *files)
            assert (code, told["command"]) == (0, name)
        assert main(["count", *files]) == 0
        found = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
        assert [{**row, "count": float(row["count"])} for row in found] == wanted


#: Contents of the files named in REFUSED, lines of ``command | parts of the message``; the fixture
#: ``toy`` writes toy.csv.
WRONG = {
    "alien.csv": "a,b\nx,y\n", "bare.csv": "system,rank\nA,1\nB,2\n",
    "one.csv": "system,rank,n\nA,1,20\n", "beside.csv": "instance,item\n1,2\n",
    "apart.csv": "system,instance,rank,n\nA,1,2,9\nA,2,2,9\nB,1,3,9\nB,3,3,9\n",
    "pairs.negative": "(0,2)\t5\t6\n1,3\t4\n", "twos.csv": "user,item,relevant\n1,2,2\n",
    "lone.csv": "user,item,relevant\n1,2,1\n1,3,0\n4,5,0\n",
    "scores.csv": "system,user,item,score\nA,1,2,0.5\nA,1,3,0.5\n",
    "marked.csv": "system,user,item,score,relevant\nA,1,2,0.5,1\nA,1,3,0.5,0\n",
    "latin.csv": "Mod\udce8le,MRR\nA,0.5\n", "printed.csv": "system, HR@1\nA, 0.5\n",
    "zero.csv": "system,sampled_rank\nA,0\nA,1\n",
    "20240101.csv": "system,rank,n\nA,1,9\nB,two,9\n", "broken.parquet": "PAR1" + "\0" * 60,
}  # fmt: skip
REFUSED = (Path(__file__).parent / "data" / "refused_commands.txt").read_text("utf-8")


@pytest.mark.parametrize("line", REFUSED.strip().splitlines())
@pytest.mark.usefixtures("toy")
def test_what_is_wrong_is_one_sentence_and_nothing_is_written(line, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    for name, text in WRONG.items():
        (tmp_path / name).write_bytes(text.encode(errors="surrogateescape"))

    def files():
        return {path: path.is_file() and path.read_bytes() for path in tmp_path.rglob("*")}

    before, (words, said) = files(), line.replace("LONG", "a" * 300).split(" | ")
    assert main(shlex.split(words)) == 2
    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    for part in said.split(" … "):
        assert part in err
    assert "Traceback" not in err
    assert files() == before


def test_sampled_ranks_and_a_printed_table_say_what_the_page_says(tmp_path, capsys):
    rows = [f"A,{rank},200,20\n" for rank in (1, 1, 2, 5, 9, 1)]
    rows += [f"B,{rank},200,20\n" for rank in (3, 8, 15, 2, 20, 4)]
    file, text = tmp_path / "sampled.csv", "system,sampled_rank,n_candidates,m\n" + "".join(rows)
    file.write_text(text)
    more = {"estimator": "shape-constrained MLE", "scheme": "with replacement", "sampled": text}
    pasted = {"what": "Sampled ranks", "sampled_source": "Paste sampled ranks"}
    page = Page("correct", **pasted, **more)
    words = ["--metric", "Recall@10", "--scheme", "with-replacement"]
    _, told = asked(capsys, "correct", str(file), *words)
    assert told["sentences"][0] in page.headline
    # For few ranks, assuming a non-increasing distribution must not widen the range (to 0..1).
    file.write_text("system,sampled_rank,n,m\nA,1,200,20\nA,5,200,20\nA,21,200,20\n")
    (row,) = asked(capsys, "correct", str(file), *words)[1]["estimates"]
    assert 0.9 < row["high_if_falling"] == row["high"] < 1
    scores = tmp_path / "scores.npz"
    np.savez(scores, y_pred_pos=np.array([0.5, 0.9]), y_pred_neg=np.full((2, 4), 0.5))
    for rule, mrr in {"mean-rank": (1 / 3 + 1) / 2, "pessimistic": (1 / 5 + 1) / 2}.items():
        how = ["--metric", "MRR", "--n", "50", "--correction", "uncorrected", "--ties", rule]
        _, told = asked(capsys, "correct", str(scores), *how)
        assert told["estimates"][0]["estimate"] == pytest.approx(mrr)
        assert any("mean rank of ties" in x for x in told["sentences"]) == (rule == "mean-rank")
    printed = "system, HR@1, HR@10\nA, 0.2, 0.6\nB, 0.1, 0.5\nm = 20, n = 200"
    page = Page("correct", what="A printed table", printed=printed, scheme="with replacement")
    file.write_text(printed)
    _, told = asked(capsys, "table", str(file), *words)
    assert told["sentences"][0] in page.headline
    # --n and --m override the table's numbers. A table of a single system gives ranges too.
    file.write_text("system, HR@1, HR@10\nA, 0.2, 0.6\nm = 20, n = 200")
    given = {"HR@1": 0.2, "HR@10": 0.6}
    for option, value, n, m in (("--n", "300", 300, 20), ("--m", "30", 200, 30)):
        _, told = asked(capsys, "table", str(file), *words, option, value)
        ends = sd.bounds_from_table("Recall@10", given, n, m, 1, scheme="with-replacement")
        assert (told["ranges"][0]["low"], told["ranges"][0]["high"]) == ends
        assert all(percent(end) in told["sentences"][0] for end in ends)


VECTORS = [  # (options beside --n 60 --m 5, correction, scheme and odds)
    ("", "CLS", ("without-replacement",)),
    ("--correction BV:0.1", "BV 0.1", ("without-replacement",)),
    ("--scheme popularity --odds 2 --correction BV:0.1", "BV 0.1", ("popularity", 2.0)),
]


@pytest.mark.parametrize(("words", "recipe", "law"), VECTORS)
def test_a_vector_is_that_of_the_function_and_is_read_back(words, recipe, law, capsys):
    words = [word.replace(":", " ") for word in ["--n", "60", "--m", "5", *words.split()]]
    _, told = asked(capsys, "correct", "--metric", "NDCG@90", *words)
    made = sd.parse_correction(recipe).fit("NDCG@90", sd.Sampling(60, 5, *law))
    assert sd.read_vector_json(json.dumps(told)).values.tolist() == made.values.tolist()
    assert made.values.tolist() == told["values"]
    first, second = told["sentences"]
    assert f"NDCG@90 by {recipe}, to report at each sampled rank." in first
    assert second.startswith("The cutoff holds all 60 candidates")
    assert main(["correct", "--metric", "NDCG@90", *words, "--csv"]) == 0
    rows = [f"{i},{x!r}" for i, x in enumerate(told["values"], start=1)]
    assert capsys.readouterr().out.splitlines() == ["sampled_rank,value", *rows]


@pytest.fixture
def shares(monkeypatch):
    """Return a list that collects all reported shares of progress."""
    told = []
    monkeypatch.setattr(Told, "__call__", lambda self, share: told.append(share))
    return told


def ranges(make, *about, **options):
    """Return both ends that ``make`` gives without and with a shape; None if it raises an error."""
    ends = []
    for shape in (None, "non-increasing"):
        try:
            found = make(*about, shape=shape, **options)
        except ValueError:
            assert shape
            found = (None, None)
        ends += found if isinstance(found, tuple) else (found.low, found.high)
    return dict(zip(("low", "high", "low_if_falling", "high_if_falling"), ends, strict=True))


SAMPLED = {"A": [1, 1, 1, 2, 2, 3, 4, 5], "B": [3, 2, 4, 1, 5, 1, 1, 2], "C": [5] * 8}


@pytest.mark.parametrize(
    ("words", "systems", "method"),
    [  # the ranks of system C contradict a non-increasing distribution
        ("", "AB", "monotone-mle"),
        ("", "ABC", "mle"),
        ("--correction BV:0.1", "ABC", "BV 0.1"),
        ("--correction BV", "AB", "BV 0.1"),
        ("--scheme with-replacement", "AB", "monotone-mle"),
    ],
)
def test_estimates_are_those_of_the_functions(words, systems, method, tmp_path, capsys, shares):
    path, metrics = tmp_path / "sampled.csv", ["Recall@30", "AP"]
    rows = [f"{name},{rank}" for name in systems for rank in SAMPLED[name] * 20]
    path.write_text("\n".join(["system,sampled_rank", *rows]))
    words = [word.replace(":", " ") for word in ["--n", "25", "--m", "4", *words.split()]]
    _, told = asked(capsys, "correct", str(path), "--metric", metrics[0], "--metric", "AP", *words)
    scheme = words[-1] if "--scheme" in words else "without-replacement"
    assert shares == sorted(shares)
    assert (shares[len(shares) // 2 - 1], shares[-1]) == (1 / 2, 1)  # each metric takes one half
    sets = sd.read_sampled_ranks(path, n=25, m=4, scheme=scheme)
    estimates, differences = [], []
    for metric in metrics:
        for one in sets:
            row = {"metric": metric, "system": one.system}
            row["estimate"] = sd.estimate(metric, one, method).value
            estimates.append(row | ranges(interval, metric, one))
        for one, other in itertools.combinations(sets, 2):
            row = {"metric": metric, "first": one.system, "second": other.system}
            differences.append(row | ranges(compare, metric, one, other))
    assert (told["estimates"], told["differences"]) == (estimates, differences)
    assert (estimates[0]["low"], estimates[0]["high"]) == (1, 1)  # Recall@30 of 25 candidates is 1
    labels = {"mle": "MLE", "monotone-mle": "shape-constrained MLE"}
    shown = words[-1] if "--correction" in words else labels[method]
    assert (told["scheme"], told["method"]) == (scheme, shown)
    said = [x for x in told["sentences"] if x.endswith("contradict that ranks fall off.")]
    assert said == ["C: these numbers contradict that ranks fall off."] * ("C" in systems)
    assert sum("The cutoff holds all 25 candidates" in x for x in told["sentences"]) == 1


def test_several_titled_tables_are_a_column(tmp_path, capsys):
    path = tmp_path / "tables.txt"
    path.write_text("m = 20\n# A\nn = 200\nx,HR@1\ny,0.50\n# B\nn = 300\nx,HR@1\ny,0.50\n")
    _, made = asked(capsys, "table", str(path), "--metric", "Recall@1")
    for row, (title, n) in zip(made["ranges"], (("A", 200), ("B", 300)), strict=True):
        low, high = sd.bounds_from_table("Recall@1", {"HR@1": 0.5}, n, 20, 2)
        assert (row["table"], row["n"], row["low"], row["high"]) == (title, n, low, high)


@pytest.mark.parametrize("over", [None, 70])
@pytest.mark.parametrize("second", ["0.50", "0.89", "0.1"])
def test_ranges_of_a_table_are_those_of_the_function(over, second, tmp_path, capsys, shares):
    path, metrics = tmp_path / "table.txt", ["Recall@10", "AUC", "Recall@200"]
    path.write_text(f"\ufeffm = 20, n = 200\nsystem,HR@1,HR@10\nA,0.50,0.90\nB,0.10,{second}\n")
    words = [word for metric in metrics for word in ("--metric", metric)]
    words += ["--scheme", "with-replacement"]
    words += [] if over is None else ["--instances", str(over)]
    _, told = asked(capsys, "table", str(path), *words)
    assert shares == sorted(shares)
    assert (shares[len(shares) // 3 - 1], shares[-1]) == (1 / 3, 1)  # each metric takes a third
    facts = {"n": 200, "m": 20, "scheme": "with-replacement", "instances": over}
    assert {name: told[name] for name in facts} == facts
    values, wanted = {"A": (0.5, 0.9), "B": (0.1, float(second))}, []
    for metric in metrics:
        for name, pair in values.items():
            row, decimals = dict(zip(("HR@1", "HR@10"), pair, strict=True)), {"HR@1": 2, "HR@10": 2}
            decimals["HR@10"] = len(second) - 2 if name == "B" else 2
            about = (metric, row, 200, 20, decimals)
            ends = ranges(sd.bounds_from_table, *about, scheme="with-replacement", instances=over)
            # With few instances, the range with the shape is limited to that without.
            for end, inner in (("low", max), ("high", min)):
                if (assumed := ends[f"{end}_if_falling"]) is not None:
                    ends[f"{end}_if_falling"] = inner(assumed, ends[end])
            point = sd.estimate_from_table(*about, scheme="with-replacement", instances=over)
            point = [None] * 3 if point.contradiction else [point.value, point.low, point.high]
            points = dict(zip(("estimate", "estimate_low", "estimate_high"), point, strict=True))
            wanted.append({"metric": metric, "system": name, **points, **ends})
    assert told["ranges"] == wanted
    assert sum("to be log-logistic or log-normal" in x for x in told["sentences"]) == 1
    for place, metric in enumerate(metrics):
        (first, other), word = wanted[2 * place : 2 * place + 2], "This table cannot tell"
        for kind, end in (("_if_falling", "alone cannot tell."), ("", "whatever the ranks were.")):
            if None not in (first[f"low{kind}"], other[f"high{kind}"]):
                word = end if first[f"low{kind}"] > other[f"high{kind}"] else word
        assert any(f"est {metric}" in x and word in x for x in told["sentences"])
    against = [row["system"] for row in wanted if row["low_if_falling"] is None]
    said = [x.split(":")[0] for x in told["sentences"] if "contradict" in x]
    assert said == sorted(set(against))
    assert sum("The cutoff holds all 200 candidates" in x for x in told["sentences"]) == 1


def test_costs_are_those_of_the_mean_and_of_the_dearest(tmp_path, capsys):
    # 9, 9, 9 and 49 negatives have the mean 19. Sentences give the cost of the costlier system.
    counted, words = tmp_path / "counted.csv", "--metric AUC --metric Recall@5 --metric Recall@1"
    counted.write_text("system,rank,n,count\nA,3,10,3\nA,3,50,1\nB,9,10,3\nB,40,50,1\n")
    _, told = asked(capsys, "plan", str(counted), *words.split(), "--m", "9")
    assert [row["scores_of_full_ranking"] for row in told["stopping"]] == [19.0] * 4
    dearest = [max(each["scores"] for each in told["stopping"][i : i + 2]) for i in (0, 2)]
    assert dearest[0] > dearest[1]
    for cost, sentence in zip(dearest, told["sentences"][1:], strict=False):
        assert f"up to {round(cost)} scores an instance" in sentence
        assert sentence.endswith("of 19.")
    assert told["sentences"][0].startswith("AUC")


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


def arrow(**columns):
    """Return a table of scores of one instance, in which item 1 is relevant."""
    whole = {"system": ["A"] * 3, "instance": [2**60] * 3, "item": [1, 2, 3], "score": [1, 3, 2]}
    return pa.table({**whole, "relevant": [1, None, None], **columns})


def test_scores_of_parquet_keep_their_order_and_are_numbers(tmp_path, capsys):
    path = str(tmp_path / "scores.parquet")
    parquet.write_table(arrow(score=[2**60 + x for x in (1, 3, 2)]), path)
    assert main(["rank", path, "--csv"]) == 0
    assert capsys.readouterr().out == f"system,instance,rank,n_candidates,ties\nA,{2**60},3,3,0\n"
    for columns, said in (
        ({"score": [dt.date(2024, 1, 1)] * 3}, "column 'score' holds"),
        ({"score": [True, False, True]}, "column 'score' holds boolean"),
        ({"item": [[1], [2], [3]]}, "column 'item' holds array"),
    ):
        parquet.write_table(arrow(**columns), path)
        assert main(["rank", path]) == 2
        assert said in capsys.readouterr().err


def test_progress_is_told_after_a_second_where_a_person_looks_and_taken_away(monkeypatch, capsys):
    for looked_at, said in ((True, "\r  0 %\r 25 %\r 26 %\r100 %\r      \r"), (False, "")):
        now = iter([5.0, 5.5, 6.0, 6.125, 6.25, 6.25, 7.0, 8.0])
        monkeypatch.setattr("time.monotonic", lambda now=now: next(now))
        monkeypatch.setattr(sys.stderr, "isatty", lambda looked_at=looked_at: looked_at)
        told = Told()
        for share in (0.0, 0.0, 0.001, 0.25, 0.259, 0.261, 1.0):  # 0.259 is 25 % again: not printed
            told(share)
        told.end()
        assert capsys.readouterr().err == said


FIRST = pd.DataFrame(
    {"system": ["Ä", "=x  y", None], "n": [9, 1200, None], "exact": [0.5, 0.125, None]}
)
SECOND = pd.DataFrame({"metric": ["AP"], "m": [3]})
FORMS = {
    "text": "One.\nTwo.\n\nSystem     n  Exact (%)\nÄ          9      50.00\n"
    "=x y    1200      12.50\n–          –          –\n\nMetric  m\nAP      3\n",
    "csv": "system,n,exact\nÄ,9.0,0.5\n'=x  y,1200.0,0.125\n,,\n\nmetric,m\nAP,3\n",
}


def test_forms_of_an_answer():
    answer = Answer(["One.", "Two."], {"pairs": FIRST, "more": SECOND}, {"m": 3})
    for form, text in FORMS.items():
        assert written("check", answer, form) == text
    assert written("rank", answer, "csv").startswith("system,n,exact\nÄ,9.0,0.5\n=x  y,1200.0,")
    found = {"command": "check", "sentences": ["One.", "Two."], "pairs": plain(FIRST)}
    text = json.dumps({**found, "more": plain(SECOND), "m": 3}, indent=1, ensure_ascii=False)
    assert written("check", answer, "json") == text + "\n"
    assert written("check", Answer(tables={"pairs": SECOND}), "text") == "Metric  m\nAP      3\n"
    assert written("report", Answer(text="<p>"), "json") == "<p>"


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_who_reads_may_stop_reading_and_a_full_disk_is_told(toy):
    call = [sys.executable, "-m", "sampledash", "check", toy, "--metric", "Recall@10", "--m", "100"]

    def run(stdout):
        done = subprocess.run(call, cwd=ROOT, stdout=stdout, stderr=subprocess.PIPE, text=True)
        os.close(stdout)
        return done.returncode, done.stderr

    reader, writer = os.pipe()
    os.close(reader)
    assert run(writer) == (1, "")  # exit code of the verdict, without an error message
    code, err = run(os.open("/dev/full", os.O_WRONLY))
    assert (code, err.count("\n"), "no space left" in err) == (2, 1, True)


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
    path, places = tmp_path / "scores.csv", {"A": (11, 11), "B": (4, 150)}  # the ranks of TOY
    rows = [
        f"{system},{user},{i},{-i},{int(i == place)}\n"
        for system, ranks in places.items() for user, place in enumerate(ranks)
        for i in range(1, 201)
    ]  # fmt: skip
    path.write_text("system,instance,item,score,relevant\n" + "".join(rows))
    check = tmp_path / "check.py"  # also prints the loaded modules
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
    rate, part = tmp_path / "lr=0.1.csv", tmp_path / "part-time.csv"
    for each in (rate, part):
        each.write_text(TOY)
    assert results([str(tmp_path)]) == [str(rate), str(other), str(part), toy]
    lake = tmp_path / "lake"
    for name in ("system=A", "system=iALS d=16"):
        (lake / name).mkdir(parents=True)
        (lake / name / "0.parquet").touch()
    assert results([str(lake)]) == [str(lake)]
    (tmp_path / "a" / "logs").mkdir(parents=True)
    assert results([str(tmp_path)]) == [str(rate), str(other), str(part), toy, str(lake)]
    assert main(["serve", str(tmp_path / "nowhere")]) == 2


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
    before = sorted(tmp_path.rglob("*"))
    assert capsys.readouterr().out == ""
    refused = {"loop": "a loop of links", "folder": "a folder", "input": "what is read"}
    for name, said in {**refused, "pipe": "a pipe"}.items():
        assert main([*words, str(tmp_path / name)]) == 2
        message = capsys.readouterr().err
        assert said in message
        assert message.count("\n") == 1
    assert sorted(tmp_path.rglob("*")) == before
    assert Path(toy).read_text() == TOY


def test_what_may_not_be_written_is_left_alone(toy, tmp_path, monkeypatch, capsys):
    out = tmp_path / "out.txt"
    out.write_text("old")

    def refuse(*_, **__):  # as in a read-only folder
        raise PermissionError(13, "Permission denied")

    for name, other in {"access": lambda path, mode: Path(path) != out, "mkdir": refuse}.items():
        with monkeypatch.context() as patch:
            patch.setattr(os, name, other)
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
        ["check", toy, "--metric", "AP", "--m", "9", "--engine", url],
    ):
        assert main(words) == 2
        message = capsys.readouterr().err
        assert "***" in message or url not in message
        assert not any(secret in message for secret in secrets), message
    text = f"connection failed: password {secrets[-1]!r} is wrong"
    assert secrets[-1] not in masked(text, url)


@pytest.mark.parametrize(
    ("module", "number"),
    [*((x, signal.SIGINT) for x in ("numpy", "pandas", "scipy", "pyarrow")), ("numpy", 15)],
)
def test_a_signal_while_importing_is_one_line(module, number, tmp_path):
    # A fake module is interrupted while it is imported, and raises another error instead.
    (tmp_path / f"{module}.py").write_text(
        f"import os\ntry:\n    os.kill(os.getpid(), {int(number)})\n    for _ in range(999): pass\n"
        "except BaseException:\n    raise ImportError('failed to import') from None\n"
    )
    how = {"cwd": ROOT, "capture_output": True, "text": True}
    path = {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    program = "import sys; from sampledash.__main__ import main; sys.exit(main())"
    for start in (["-m", "sampledash"], ["-c", program]):
        call = [sys.executable, *start, "check", MOVIELENS, "--metric", "AP", "--m", "9"]
        done = subprocess.run(call, env=os.environ | path, **how)
        assert done.returncode == 128 + number
        assert (done.stdout, done.stderr.count("\n")) == ("", 1)
        assert "stopped; nothing is written" in done.stderr
