"""DuckDB and Spark on two workers compute the ranks and counts that plain loops compute."""

import hashlib
import json
import os
import resource
import shutil
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from importlib.util import find_spec
from itertools import combinations
from urllib.parse import urlencode

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from pyarrow import parquet

import sampledash as sd
from sampledash.command_line import main
from sampledash.readers import queries, warehouse
from sampledash.readers import upload_limits as limits
from sampledash.report.numbers import in_runs
from tests.benchmarks.shared import overlapping

pytestmark = pytest.mark.skipif(
    find_spec("ibis") is None, reason="Ibis is not installed: pip install 'sampledash[warehouse]'"
)
INF, KINDS = float("inf"), ("system", "n_candidates", "rank", "ties")


def columns_of(rows, *names):
    return {name: list(cells) for name, cells in zip(names, zip(*rows, strict=True), strict=True)}


def drawn(seed):
    """Return a random table of scores, the relevant (user, item) pairs, and the seen pairs."""
    rng, rows, relevant, seen = np.random.default_rng(seed), [], [], []
    for user in range(40):
        few = rng.permutation(30)
        relevant += [(f"u{user}", int(i)) for i in few[: (user + 3) % 5]]  # 0 to 4 for each user
        seen += [(f"u{user}", int(i)) for i in few[user % 3 : rng.integers(3, 12)]]
    for system in "AB":
        for user in range(40):
            for item in rng.permutation(30)[: rng.integers(12, 31)].tolist():
                score = [float(rng.integers(6)), None, -INF][rng.choice(3, p=[0.9, 0.06, 0.04])]
                rows.append((system, f"u{user}", item, score))
    rows = [(*row, int((row[1], row[2]) in relevant)) for row in rows]
    table = columns_of(rows, "system", "user_id", "item_id", "score", "relevant")
    return table, *(columns_of(x, "user", "item") for x in (relevant + relevant[:9], seen))


def one_by_one(table, relevant, seen):
    """Return the count of each (system, n, rank, ties), and the expected notes, by slow loops."""
    away = set(zip(seen["user"], seen["item"], strict=True)) if seen else ()
    rows, lists, asked = pd.DataFrame(table).to_dict("records"), {}, Counter()
    for row in rows:
        score = None if pd.isna(row["score"]) else row["score"]
        asked[row["system"]] += row["relevant"]
        if score != -INF and (row["relevant"] or (row["user_id"], row["item_id"]) not in away):
            key = row["system"], row["user_id"]
            lists.setdefault(key, []).append((score, row["relevant"], str(row["item_id"])))
    found, bare, ranked = Counter(), Counter(), Counter()
    for (system, user), items in lists.items():
        known = [
            (score, hashlib.md5(f"{user}|{item}".encode()).hexdigest(), mark)
            for score, mark, item in items
            if score is not None
        ]
        mine = [(score, place) for score, place, mark in known if mark]
        bare[system] += not mine
        ranked[system] += len(mine)
        for score, place in mine:
            rank = 1 + sum(other > score for other, _, _ in known)
            block = sum(other == score for other, _, _ in known)
            if [other for other, _ in mine].count(score) > 1:
                rank += sum(other == score and above < place for other, above, _ in known)
                block = 1
            found[system, len(items), rank, block - 1] += 1
    said = []
    if relevant:
        asked = dict.fromkeys("AB", len(set(zip(relevant["user"], relevant["item"], strict=True))))
    for system in "AB":
        some = (
            f"{bare[system]} of {sum(key[0] == system for key in lists)} instances have no relevant"
        )
        said.append(f"{system}: {some} item with a score and are left out.")
        some = f"{asked[system] - ranked[system]} of {asked[system]} relevant items"
        said.append(f"{system}: {some} have no score and are left out.")
    return found, said


def histogram(ranks):
    """Return the count of each (system, n, rank, ties) in a table of ranks or of their counts."""
    counted, sizes = Counter(), ranks["count"] if "count" in ranks else [1] * len(ranks)
    for *kind, size in zip(*(ranks[name].tolist() for name in KINDS), sizes, strict=True):
        counted[tuple(kind)] += int(size)
    return counted


def written(path, table):
    path.parent.mkdir(parents=True, exist_ok=True)
    parquet.write_table(table if isinstance(table, pa.Table) else pa.table(table), path)
    return str(path)


def stored(folder, table, parts=2):
    """Write scores to a folder that has a subfolder of Parquet files for each system."""
    whole = pa.table({**table, "score": pa.array(table["score"], pa.float32())})
    for system in sorted(set(table["system"])):
        own = whole.filter(pa.compute.equal(whole["system"], system)).drop(["system"])
        size = -(-len(own) // parts)
        for part in range(parts):
            path = folder / f"system={system}" / f"part-{part}.parquet"
            written(path, own.slice(part * size, size))
    (folder / "_SUCCESS").touch()
    return str(folder)


def rank_scores(engine, source, relevant=None, seen=None, progress=lambda share: None):
    """Return a query for the true ranks, and sentences on what is left out."""
    every, _, said = warehouse.checked(engine, source, relevant, seen, progress)
    return queries.rank(every), said


def agree(engine, folder, seed, *, marked, without_seen):
    """Check that an engine gives the counts and notes of :func:`one_by_one`; return its counts."""
    table, relevant, seen = drawn(seed)
    relevant, seen = None if marked else relevant, None if without_seen else seen
    expected = one_by_one(table, relevant, seen)
    pairs = [
        each and written(folder / f"{place}.parquet", each)
        for place, each in enumerate((relevant, seen))
    ]
    ranks, said = rank_scores(engine, stored(folder / "scores", table), *pairs)
    path = str(folder / "ranks.parquet")
    warehouse.save(engine, ranks, path, "ranks")
    counted = warehouse.count_ranks(engine, path).to_pandas()
    assert (histogram(pd.read_parquet(path)), said) == (histogram(counted), said) == expected
    return counted


@pytest.mark.parametrize(("seed", "marked"), [(1, True), (2, False), (4, False)])
def test_duckdb_counts_as_one_by_one(seed, marked, tmp_path):
    engine = warehouse.connect()
    counted = agree(engine, tmp_path, seed, marked=marked, without_seen=seed == 2)
    counted.to_parquet(tmp_path / "counts.parquet")
    sets = sd.read_rank_sets(tmp_path / "counts.parquet", instances="any")
    assert [rs.max_relevant for rs in sets] == [4, 4]


@pytest.mark.parametrize("metric", ["RR", "HitRate@3", "AP", "NDCG@5", "Recall@3"])
def test_relevant_items_with_equal_scores_rank_as_in_a_random_order(metric, tmp_path):
    """Three of ten items are relevant and all scores are equal: every order is enumerated."""
    users, items = (x.ravel() for x in np.mgrid[:2000, :10])
    table = {"user": users, "item": items, "score": users * 0.0, "relevant": (items < 3) * 1}
    ranks, _ = rank_scores(warehouse.connect(), written(tmp_path / "scores.parquet", table))
    (rank_set,) = sd.read_rank_sets(written(tmp_path / "ranks.parquet", ranks.to_pyarrow()))
    orders = np.array(list(combinations(range(1, 11), 3)))
    hits = np.zeros((len(orders), 10))
    np.put_along_axis(hits, orders - 1, 1.0, axis=1)
    among, gains = np.arange(1, 11), 1 / np.log2(np.arange(2, 7))
    values = {
        "RR": 1 / orders[:, 0],
        "HitRate@3": orders[:, 0] <= 3,
        "AP": (hits * hits.cumsum(1) / among).sum(1) / 3,
        "NDCG@5": hits[:, :5] @ gains / gains[:3].sum(),
        "Recall@3": hits[:, :3].sum(1) / 3,
    }[metric]
    bound = 4 * np.std(values) / np.sqrt(2000)
    assert sd.mean(metric, rank_set) == pytest.approx(np.mean(values), abs=bound)


@pytest.mark.parametrize("kind", ["csv", "parquet", "csv.gz"])
@pytest.mark.parametrize(("seed", "marked"), [(11, True), (12, False)])
def test_files_are_ranked_one_by_one(kind, seed, marked, tmp_path, capsys):
    table, relevant, seen = drawn(seed)
    relevant, seen = None if marked else relevant, None if kind == "parquet" else seen
    for columns, name in ((table, "user_id"), (relevant or {}, "user"), (seen or {}, "user")):
        columns[name] = ["NA" if x == "u7" else x for x in columns.get(name, [])]
    expected, left = one_by_one(table, relevant, seen)
    frame, words = pd.DataFrame(table).astype({"item_id": str}), []
    if kind != "parquet":
        marks = {1: ["1", "1.0", "TRUE", "yes"], 0: ["0", "0.0", "False", "no", ""]}
        frame["relevant"] = [marks[x][i % len(marks[x])] for i, x in enumerate(frame["relevant"])]
    frame = frame if marked else frame.drop(columns="relevant")
    for name, pairs in {"scores": frame, "relevant": relevant, "seen": seen}.items():
        if pairs is not None:
            words += [f"--{name}", str(tmp_path / f"{name}.{kind}")]
            pairs = pd.DataFrame(pairs)
            (pairs.to_parquet if kind == "parquet" else pairs.to_csv)(words[-1], index=False)
    out = tmp_path / "ranks.csv"
    assert main(["rank", *words[1:], "-o", str(out)]) == 0
    assert capsys.readouterr() == ("", "".join(f"{line}\n" for line in left))
    assert histogram(pd.read_csv(out)) == expected


#: Each line is a table of scores, with / between its rows, and a part of the error that it gets.
SCORES = """
HEAD/u,a,1,1/u,b,high,0/u,c,nan,0/u,d,x,0 | 2 scores are no numbers, such as 'high'; write
HEAD/u,a,1,1/u,b, NaN,0/u,c,-nan,0/u,d,,0 | 2 of the scores are NaN; give each item a number
HEAD/u,a,1,1/u,,1,0/,c,1,0/u,d,1,0 | 2 rows lack a system, an instance or an item; name it
HEAD/u,a,1,1/u,b,1,2/u,c,1,maybe/u,d,1,0 | 2 rows are marked relevant by neither 1 nor 0; write
HEAD/u,a,1,1/u,b,2,0/u,b,3,0/u,a,3,0/u,a,3,1/v,c,3,0/v,c,3,0/u,b,1,0 | 5 rows repeat an item
HEAD/u,a,1,1/u,b,2,0/u,b,3,0 | 1 row repeats an item, such as item 'b' of instance
HEAD/u,a,1,1/u,b,1,1/v,a,1,1 | in 2 instances every item that system 's' scores is relevant
HEAD/u,a,1,1/v,a,1,1/v,b,1,0 | in 1 instance every item that system 's' scores is relevant
HEAD/u,a,-inf,1/u,b,1,0 | system 's' scores no relevant item: give each a score
HEAD/u,a,,1/u,b,1,0 | system 's' scores no relevant item: give each a score
user,item,score,a,b,c,d,e,f/u,a,1,1 | 'b', 'c', 'd', 'e'; add it, or give --relevant
user,score,relevant/u,1,1 | no column item: found 'user', 'score', 'relevant'; add it, or rename
uid,HEAD/u,u,a,1,1 | the columns 'uid' and 'user' both mean instance; keep one
model,system,HEAD/u,u,u,a,1,1 | the columns 'model' and 'system' both mean system; keep one
HEAD,score/u,a,1,1,1 | the column 'score' appears twice
HEAD | s.csv holds no candidates: write a row for each, with its score
"""


@pytest.mark.parametrize("line", SCORES.strip().splitlines())
def test_what_is_wrong_with_a_table_is_one_sentence(line, tmp_path, refused):
    text, said = line.replace("HEAD", "user,item,score,relevant").split(" | ")
    path = tmp_path / "s.csv"
    path.write_text(text.replace("/", "\n"))
    refused(said, "rank", path)


def classes_by_popularity_are_those_of_arrays(url, path):
    """Compare ``rank --negatives`` in an engine with ``ranks_from_scores`` of the same scores."""
    rng, (users, items) = np.random.default_rng(7), (300, 90)
    scores = rng.integers(0, 40, (users, items)) / 4
    scores[rng.random(scores.shape) < 0.05] = -np.inf
    relevant, seen = (
        rng.integers(0, items, users),
        rng.random((users, items)) < 0.01 * np.arange(items),
    )
    scores[np.arange(users), relevant] = 5
    seen[np.arange(users), relevant] = False
    assert len(np.unique(seen.sum(axis=0))) > 64  # so that weights between classes are divided
    user, item = np.indices(scores.shape).reshape(2, -1)
    marks = (item == relevant[user]).astype(int)
    labels = {"user": user + 1, "item": [f"i{x}" for x in item]}
    source = stored(
        path / "scores",
        {"system": ["S"] * len(user), **labels, "score": scores.ravel(), "relevant": marks},
    )
    pairs = {name: np.array(x)[seen.ravel()] for name, x in labels.items()}
    train = written(path / "train.parquet", pairs)
    how = ["--seen", train, "--negatives", "popularity^0.75", "--engine", url]
    assert main(["rank", source, *how, "-o", str(path / "r.csv")]) == 0
    (ranks,) = sd.read_rank_sets(path / "r.csv")
    weights = seen.sum(axis=0) ** 0.75
    expected = sd.ranks_from_scores(scores, relevant, seen, weights=weights, system="S")
    assert ranks.without_classes == expected.without_classes
    np.testing.assert_allclose(ranks.classes, expected.classes, atol=2e-4)


def test_classes_by_popularity_of_a_folder(tmp_path):
    classes_by_popularity_are_those_of_arrays("duckdb://", tmp_path)


def test_strata_of_a_column_are_those_of_arrays(tmp_path, refused):
    rng, (users, items) = np.random.default_rng(8), (60, 40)
    scores = rng.integers(0, 20, (users, items)) / 4
    scores[rng.random(scores.shape) < 0.05] = -np.inf
    relevant, label = rng.integers(0, items, users), rng.choice([*"abc"], scores.shape)
    scores[np.arange(users), relevant] = 3
    user, item = np.indices(scores.shape).reshape(2, -1)
    columns = {"system": ["S"] * len(user), "user": user, "item": item, "score": scores.ravel()}
    columns |= {"relevant": (item == relevant[user]).astype(int), "Stratum": label.ravel()}
    source, drawn = stored(tmp_path / "scores", columns), {"a": 5, "b": 0, "c": np.inf}
    out, negatives = str(tmp_path / "r.csv"), "a = 5,b=0, c=all"
    assert main(["rank", source, "--negatives", negatives, "-o", out]) == 0
    (ranks,) = sd.read_rank_sets(tmp_path / "r.csv")
    expected = sd.ranks_from_scores(
        scores, relevant, system="S", strata=(label, drawn), instances=range(users)
    )
    assert ranks == expected
    assert np.array_equal(ranks.strata, expected.strata)
    for negatives, said in {
        "a=5,c=9": "say how many are drawn (0 or more) from the stratum 'b'",
        "a=5,b=1,c=9,d=2": "no negative has the stratum 'd'",
        "a=5,b=few,c=9": "--negatives b= must be a number, got 'few'",
        "a=5,b=.5,c=9": "give whole numbers of items",
        "a=5,b=1,a=9,c=2": "'a' is named twice",
    }.items():
        refused(said, "rank", source, "--negatives", negatives)
    bare = written(tmp_path / "bare.parquet", {k: v for k, v in columns.items() if k != "Stratum"})
    refused("bare.parquet has no column stratum: add it", "rank", bare, "--negatives", "a=5")


def overlaps_are_those_of_arrays(url, path):
    """Compare ``rank --overlaps`` in an engine with loops over the same scores."""
    tables, relevant, sets = overlapping(4)
    user, item = np.indices(tables[0].shape).reshape(2, -1)
    labels = {"user": user + 1, "item": item, "relevant": (item == relevant[user]).astype(int)}
    frames = [
        pd.DataFrame({"system": ranks.system, **labels, "score": scores.ravel()})
        for ranks, scores in zip(sets, tables, strict=True)
    ]
    source = stored(path / "scores", pd.concat(frames).to_dict("list"))
    out = str(path / "r.csv")
    assert main(["rank", source, "--overlaps", "--engine", url, "-o", out]) == 0
    assert sd.read_rank_sets(out) == sets
    return tables, relevant, sets, out


def test_overlaps_of_a_folder_and_the_chances_that_check_computes(tmp_path, capsys):
    tables, relevant, sets, out = overlaps_are_those_of_arrays("duckdb://", tmp_path)
    assert main(["check", out, "--metric", "Recall@5", "--m", "9", "--json"]) in (0, 1)
    answer = json.loads(capsys.readouterr().out)
    given = {"overlaps": sd.overlaps(sets, tables, relevant)}
    expected = sd.probability_if_shared("Recall@5", sets, 9, **given)
    assert answer["shared"] == expected.assign(metric="Recall@5").to_dict("records")
    least = expected.loc[expected["low"].idxmin()]
    assert least["low"] == least["high"]
    ahead = (
        f"Recall@5 shows {least['better']} ahead of {least['worse']} in {in_runs(least['low'])}."
    )
    assert answer["sentences"][-1] == f"With the same negatives for both, {ahead}"


JAVA = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
SPARK = {
    "master": "local-cluster[2,1,1024]", "executor.memory": "512m",
    "driver.host": "127.0.0.1", "driver.bindAddress": "127.0.0.1",
    "ui.enabled": "false", "ui.showConsoleProgress": "false",
    "sql.shuffle.partitions": "2", "sql.adaptive.enabled": "false",
    "sql.codegen.wholeStage": "false", "sql.codegen.factoryMode": "NO_CODEGEN",
    "driver.extraJavaOptions": JAVA, "executor.extraJavaOptions": JAVA,
}  # fmt: skip


@pytest.mark.skipif(
    shutil.which("java") is None or find_spec("pyspark") is None,
    reason="Spark needs Java, and PySpark: pip install 'sampledash[spark]'",
)
def test_spark_on_two_workers_counts_as_one_by_one(tmp_path, monkeypatch):
    for name, value in {"IP": "127.0.0.1", "HOSTNAME": "localhost"}.items():
        monkeypatch.setenv(f"SPARK_LOCAL_{name}", value)
    monkeypatch.setenv("PYSPARK_PYTHON", sys.executable)
    settings = {"sql.warehouse.dir": tmp_path / "warehouse"} | SPARK
    url = "pyspark://?" + urlencode({f"spark.{name}": x for name, x in settings.items()})
    monkeypatch.chdir(tmp_path)  # workers write their logs into the current folder
    engine = warehouse.connect(url)
    try:
        agree(engine, tmp_path, 3, marked=False, without_seen=False)
        folders_are_what_they_are_named(engine, tmp_path)
        marks_may_be_yes_or_no(engine, tmp_path)
        classes_by_popularity_are_those_of_arrays(url, tmp_path / "classes")
        overlaps_are_those_of_arrays(url, tmp_path / "overlaps")
        status = engine._session.sparkContext._jsc.sc().statusTracker()
        assert len(status.getExecutorInfos()) == 1 + 2  # the driver and two workers
    finally:
        engine._session.stop()


def test_the_commands_take_folders(tmp_path, capsys):
    table, relevant, _ = drawn(4)
    source = stored(tmp_path / "scores", table)
    pairs = written(tmp_path / "relevant.parquet", relevant)
    ranks, counts = str(tmp_path / "ranks.parquet"), str(tmp_path / "counts.parquet")
    assert main(["rank", source, "--relevant", pairs, "-o", ranks]) == 0
    assert "are left out" in capsys.readouterr().err
    assert main(["count", ranks, "--engine", "duckdb://?threads=1", "-o", counts]) == 0
    found, _ = one_by_one(table, relevant, None)
    assert histogram(pd.read_parquet(ranks)) == histogram(pd.read_parquet(counts)) == found
    for system, frame in pd.read_parquet(ranks).groupby("system"):
        written(tmp_path / "parts" / f"{system}.parquet", frame.to_dict("list"))
    whole = sd.read_rank_sets(ranks, instances="any")
    assert sd.read_rank_sets(tmp_path / "parts", instances="any") == whole


@pytest.fixture
def refused(tmp_path, capsys):
    """Return a function that checks that a command fails with one sentence and writes nothing."""

    def call(said, *words):
        before = sorted(tmp_path.rglob("*"))
        assert main(list(map(str, words))) == 2
        out, err = capsys.readouterr()
        assert (out, err.count("\n")) == ("", 1)
        assert said in err
        assert sorted(tmp_path.rglob("*")) == before

    return call


def test_scores_of_an_engine_that_are_nan_are_refused(tmp_path, refused):
    cells = pa.array(np.array([np.nan, np.nan, 1, np.nan]), from_pandas=False)
    rows = {"user": [*"uuvv"], "item": [*"abab"], "score": cells, "relevant": [1, 0, 1, 0]}
    path = written(tmp_path / "a.parquet", rows)
    refused("3 of the scores are NaN", "rank", path, "-o", tmp_path / "ranks.parquet")


@pytest.mark.parametrize("labels", [[*"abcdefghij"], range(-5, 5)])
def test_repeats_are_looked_for_in_slices_of_all_rows(labels, tmp_path, monkeypatch):
    monkeypatch.setattr(warehouse, "_AT_ONCE", 5)
    shares, whole = [], np.repeat(np.array(labels), 2).tolist()
    rows = {
        "instance": whole,
        "item": [1, 2] * 10,
        "score": [1.0, 2.0] * 10,
        "relevant": [1, 0] * 10,
    }
    path, engine = written(tmp_path / "s.parquet", rows), warehouse.connect()
    ranks, said = rank_scores(engine, path, progress=shares.append)
    assert (warehouse.fetched(ranks, "ranks", 10)["rank"].tolist(), said) == ([2] * 10, [])
    assert shares == pytest.approx([0.1, 0.2, 0.3, 0.4, 0.5, 0.7])
    with pytest.raises(limits.ReadError, match="ranks are more than 9 rows: write them, -o ranks"):
        warehouse.fetched(ranks, "ranks", 9)
    for i in range(0, 20, 4):
        again = {name: [*cells, cells[i], cells[i]] for name, cells in rows.items()}
        path = written(tmp_path / f"{i}.parquet", again)  # a new name, as engines cache files
        said = f"2 rows repeat an item, such as item '1' of instance '{whole[i]}';"
        with pytest.raises(limits.ReadError, match=said):
            rank_scores(engine, path)


#: Text of an exception that an engine raises: beginning of the message that users get.
COMPLAINTS = {
    "": "RuntimeError; write the table again if it is damaged, or give the engine more memory",
    " :\t\n : a cell. ;\nmore": "a cell; write the table again",
    "An error occurred while calling o1.\n: java.X: y": "java.X: y; write the table again",
    "x" * 300: "x" * 200 + "; write the table again",
    "IO: No space left on device": "IO: No space left on device; the disk is full: make room there",
    "failed to offload": "failed to offload; the disk is full: make room there, or set TMPDIR",
}


@pytest.mark.parametrize("text", COMPLAINTS)
def test_complaints_of_an_engine_are_one_sentence(text):
    with pytest.raises(limits.ReadError) as info, warehouse.one_sentence("t"):
        raise RuntimeError(text)
    assert str(info.value).startswith(f"t: the engine stopped: {COMPLAINTS[text]}")
    for kind in (limits.ReadError, MemoryError, OSError, KeyboardInterrupt):
        with pytest.raises(kind, match=r"^as it is$"), warehouse.one_sentence("t"):
            raise kind("as it is")


def test_what_cannot_be_reached_read_or_written_is_one_sentence(tmp_path, refused):
    rank = ["rank", stored(tmp_path / "scores", drawn(6)[0]), "-o"]
    refused("cannot be written", *rank, tmp_path / "no" / "x.parquet")
    refused("cannot be written", *rank, tmp_path)
    away = "duckdb:///no/such/lake.db"
    refused(f"engine '{away}' cannot be reached", *rank, "x.parquet", "--engine", away)
    refused("there is no such file, folder or table", "rank", "nowhere", "--engine", "duckdb://")
    refused("--n is not for an engine", *rank, "x.parquet", "--n", "9")
    broken = tmp_path / "scores" / "system=B" / "part-1.parquet"
    broken.write_bytes(broken.read_bytes()[:-9])
    refused("scores/system=B/part-1.parquet cannot be read", *rank, "x.parquet")
    (tmp_path / "none").mkdir()
    refused("holds no file *.parquet", "rank", tmp_path / "none")


#: Folder names that engines write, and the system that each encodes; the last is Hive's blank cell.
PARTITIONS = {
    "system=iALS d=16": "iALS d=16", "system=a%2Fb%20c%3Dd": "a/b c=d", "system=%C3%9Cber": "Über",
    "system=100%": "100%", "system=007": "007", "system=a+b": "a+b", "system=it's": "it's",
    "system=x=system=y": "x=system=y", "system=NULL": "NULL", "system=1e3": "1e3",
    "system=__HIVE_DEFAULT_PARTITION__": None,
}  # fmt: skip


def partitioned(folder, table, names=PARTITIONS):
    """Write ``table`` into one subfolder for each of ``names``; return ``folder``."""
    for name in names:
        written(folder / name / "part-0.parquet", table)
    return str(folder)


def folders_are_what_they_are_named(engine, folder):
    """Check that folder names give systems, even if a path, as a glob pattern, matches another."""
    written(folder / "r1.parquet", {"rank": [7]})
    partitioned(folder / "seed=5" / "r1", {"rank": [7]}, ["system=X"])
    source = partitioned(folder / "seed=5" / "r[1]*?{b} =", {"rank": [3]})
    names = [f"{name}/n=9" for name in PARTITIONS]
    for place in (source, partitioned(folder / "[a]", {"rank": [3]}, names)):
        found = warehouse.opened(engine, place).to_pandas()
        assert set(found["rank"]) == {3}
        systems = {x if isinstance(x, str) else None for x in found["system"]}
        assert systems == {*PARTITIONS.values()}
        # seed=5 is in the name of a parent folder, so it does not become a column.
        assert set(found.columns) <= {"rank", "system", "n"}
    assert found["n"].tolist() == [9] * len(PARTITIONS)
    with pytest.raises(ValueError, match="1 rows lack a system"):
        warehouse.count_ranks(engine, source)


def marks_may_be_yes_or_no(engine, folder):
    """Check that the column ``relevant`` may hold booleans, words or numbers in Parquet."""
    rows = {"instance": ["u"] * 3, "item": [1, 2, 3], "score": [1.0, 2.0, 3.0]}
    for place, marks in enumerate(([False, True, None], ["false", "True", None], [0.0, 1, None])):
        path = written(folder / f"marks {place}.parquet", {**rows, "relevant": marks})
        table = queries.score_table(warehouse.opened(engine, path), "marks", marked=True)
        ranks = queries.rank(queries.candidates(table))
        assert ranks.to_pandas()[["rank", "n_candidates"]].to_numpy().tolist() == [[2, 3]]


def test_duckdb_reads_folders_and_marks_as_spark(tmp_path):
    folders_are_what_they_are_named(warehouse.connect(), tmp_path)
    marks_may_be_yes_or_no(warehouse.connect(), tmp_path)


def test_commands_and_readers_take_a_folder_for_itself(tmp_path, capsys):
    known = [name for name, system in PARTITIONS.items() if system]
    other = partitioned(tmp_path / "r1", {"user": ["u"], "rank": [7], "n": [9]}, ["system=X"])
    source = partitioned(tmp_path / "r[1]", {"user": ["u"], "rank": [3], "n": [9]}, known)
    systems = sorted(filter(None, PARTITIONS.values()))
    assert sorted(s.system for s in sd.read_rank_sets(source)) == systems
    with pytest.raises(ValueError, match="row 6, column 'system': the cell is blank"):
        sd.read_rank_sets(partitioned(tmp_path / "all", {"rank": [3], "n": [9]}))
    assert [(s.system, *s.ranks) for s in sd.read_rank_sets(other)] == [("X", 7)]
    assert main(["count", source, "--json"]) == 0
    counts = json.loads(capsys.readouterr().out)["counts"]
    assert sorted((row["system"], row["rank"]) for row in counts) == [(x, 3) for x in systems]
    how = ["--metric", "Recall@5", "--m", "3", "--scheme", "without-replacement", "--json"]
    assert main(["check", source, *how]) in (0, 1)
    pairs = json.loads(capsys.readouterr().out)["pairs"]
    assert {row[side] for row in pairs for side in ("better", "worse")} == {*systems}
    scores = {"user": ["u"] * 2, "item": [1, 2], "score": [1.0, 2.0], "relevant": [True, False]}
    assert main(["rank", partitioned(tmp_path / "s?", scores, known)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sorted(line.rpartition(",u,")[0] for line in lines[1:]) == systems


def test_parts_are_one_table(tmp_path, capsys, refused):
    source = tmp_path / "scores"
    rows = {"system": ["A"] * 3, "instance": ["u"] * 3, "item": [1, 2, 3], "relevant": [0, 1, 0]}
    first, other = source / "a.parquet", source / "b.parquet"
    written(first, {**rows, "score": [1, 2, 3]})
    more = pa.table({**rows, "item": [4, 5, 6], "relevant": [0] * 3, "score": [2.4, 1.5, 0]})
    written(other, more)  # 2.4 as an integer would tie with the relevant item's score of 2
    assert main(["rank", str(source)]) == 0
    assert capsys.readouterr().out.splitlines()[1] == "A,u,3,6,0"
    written(other, more.drop(["score"]))
    refused("scores/b.parquet: not every part has the column 'score'", "rank", source)
    written(other, more.set_column(1, "instance", pa.array(["", "u", "u"])))
    refused("1 rows lack a system, an instance or an item", "rank", source)
    other.write_text("system,instance,item,score\n")
    refused("it is damaged or no Parquet", "rank", source)
    other.unlink()
    bare = {name: cells for name, cells in rows.items() if name != "system"} | {"score": [1, 2, 3]}
    written(first, bare)
    deeper = written(source / "system=A" / "c.parquet", bare)
    refused("A/c.parquet: not every part has the column 'system'", "rank", source)
    os.remove(deeper)
    written(first, pa.table({**rows, "score": [1, 2, 3]})[:0])
    refused("scores holds no candidates", "rank", source)


def test_ranks_that_cannot_be_counted(tmp_path, refused):
    table = {"system": ["A"] * 3, "rank": [1, 2, 3], "n": [9] * 3}
    for columns, said in (
        ({"seed": [1, 2, 1]}, "counts do not keep column 'seed'"),
        ({"system": [None, "A", "A"]}, "1 rows lack a system"),
        ({"rank": [1, None, 3]}, "1 ranks are no number from 1 to n"),
        ({"rank": [0, 10, 3]}, "2 ranks are no number from 1 to n"),
    ):
        written(tmp_path / "part.parquet", table | columns)
        refused(said, "count", tmp_path)


def in_a_process(program, folder, **how):
    """Return exit code and standard error of a program that must leave no temporary file behind."""
    folder.mkdir()
    how |= {"env": os.environ | {"TMPDIR": str(folder)}, "capture_output": True, "text": True}
    done = subprocess.run([sys.executable, *program], **how)
    assert list(folder.iterdir()) == []
    return done.returncode, done.stderr


def test_a_full_disk_is_named_and_nothing_is_left(tmp_path):
    source = stored(tmp_path / "scores", drawn(7)[0])
    before = sorted(tmp_path.rglob("*"))
    code, said = in_a_process(
        ["-m", "sampledash", "rank", source, "-o", str(tmp_path / "ranks.parquet")],
        tmp_path / "temporary",
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64)),
    )
    assert (code, said.count("\n")) == (2, 1)
    assert "the disk is full: make room" in said
    assert "memory" not in said
    (tmp_path / "temporary").rmdir()
    assert sorted(tmp_path.rglob("*")) == before


#: A command with a query that runs until Ctrl-C or, if called with "full", until the disk is full.
ENDLESS = """
import os, signal, sys, threading
from sampledash import command_line
from sampledash.__main__ import main
from sampledash.readers import queries, warehouse

def work():
    engine = warehouse.connect("duckdb://?memory_limit=40MB&threads=2")
    if sys.argv[1] == "full":
        engine.raw_sql("SET max_temp_directory_size = '1MB'")
    with warehouse.one_sentence("scores"):
        engine.raw_sql("CREATE TABLE big AS SELECT hash(range) AS y FROM range(6000000)")
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    with warehouse.one_sentence("scores"):
        engine.raw_sql("SELECT max(hash(a.y, b.y)) FROM big a, big b").fetchall()

command_line.main = work
raise SystemExit(main())
"""


def test_an_engine_is_stopped_and_its_temporary_files_go(tmp_path):
    program = ["-c", ENDLESS, "rank"]
    code, said = in_a_process(program, tmp_path / "stopped")
    assert (code, said) == (130, "sampledash rank: stopped; nothing is written.\n")
    code, said = in_a_process([*program[:2], "full"], tmp_path / "full")
    assert code == 1  # Python's exit code for an uncaught exception
    assert "the disk is full" in said.splitlines()[-1]


def test_text_that_may_name_systems_is_not_counted_as_one_system(tmp_path, capsys, refused):
    table = {"user": [*"uuvv"], "rank": [1, 2, 3, 4], "n": [9] * 4}
    for name, values, wrong in (
        ("modell", ["A", "B"] * 2, True),
        ("item", [*"ijkl"], False),  # by its name, a column of relevant items
        ("bucket", ["0", "1"] * 2, False),
        ("origin", ["ours"] * 4, False),
    ):
        written(tmp_path / name / "part.parquet", {**table, name: values})
        if wrong:
            refused("column 'modell': it may name systems", "count", tmp_path / name)
        else:
            assert main(["count", str(tmp_path / name)]) == 0
            assert len(capsys.readouterr().out.splitlines()) == 1 + 4


def test_a_folder_of_too_many_ranks_is_counted(tmp_path, monkeypatch):
    monkeypatch.setattr(limits, "LABELLED", replace(limits.LABELLED, most=3))
    ranks = {"user": list("abcd"), "rank": [2, 1, 2, 2], "n": [9] * 4}
    (one,) = sd.read_rank_sets(partitioned(tmp_path / "r", ranks, ["system=X"]))
    assert sorted(zip(one.ranks.tolist(), one.counts.tolist(), strict=True)) == [(1, 1), (2, 3)]
