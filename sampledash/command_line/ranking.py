"""The commands ``rank`` (true ranks from scores) and ``count`` (a histogram from ranks).

Tables of scores, folders, URLs, and everything with ``--engine`` go to a database engine, by
default DuckDB; other files are read into memory.
"""

import argparse
import io
from collections import defaultdict
from collections.abc import Mapping
from math import inf
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from sampledash.by_weight import ABOVE, NEGATIVES, TIED, WEIGHT, parts_of
from sampledash.checks import shown, written
from sampledash.command_line.options import refuse_unused
from sampledash.command_line.streams import Answer, aside, opened, rank_sets, read
from sampledash.lab.ranking import COUNTED, DIGITS, popularity
from sampledash.leftovers import Scratch
from sampledash.rank_sets import RankSet
from sampledash.readers import queries, warehouse
from sampledash.readers import upload_limits as limits
from sampledash.readers.columns import bare
from sampledash.readers.tables import headers_of
from sampledash.readers.upload_limits import load
from sampledash.report.tables import ranks_table
from sampledash.types import Progress

_WEIGHT = "weight"  # column of sampling weights in a table of scores


def rank(args: argparse.Namespace, progress: Progress) -> Answer:
    """Run the command ``rank``: return the true ranks of relevant items.

    The files are tables of scores, TREC runs or lists of recommendations.
    """
    pairs = (args.relevant, args.seen)
    sources = [] if _engine(args, *pairs) else [opened(path) for path in args.files]
    if len(sources) == 1 and args.qrels is None:
        data, name = load(*sources[0])
        headers = set(map(bare, headers_of(data, limits.kind_of(data, name))))
        if headers & {"score", *["relevant"] * (args.relevant is None)}:
            refuse_unused(args, "a table of scores")
            with Scratch() as folder:
                path = args.files[0]
                if path == "-":
                    path = f"{folder}/{name}"
                    Path(path).write_bytes(data)
                return _ranked(path, args, progress)
        sources = [(io.BytesIO(data), name)]
    if not sources:
        return _ranked(_only(args), args, progress)
    where = f"{sources[0][1]}, which is no table of scores; for runs and lists give --qrels"
    refuse_unused(args, where, ("relevant", "seen", "negatives", "overlaps"))
    return Answer((), {"ranks": ranks_table(read(sources, args))})


def _ranked(source: str, args: argparse.Namespace, progress: Progress) -> Answer:
    """Return the ranks of a table of scores, computed by a database engine, by default DuckDB."""
    engine, pairs = warehouse.connect(args.engine or warehouse.DUCKDB), (args.relevant, args.seen)
    every, seen, sentences = warehouse.checked(engine, source, *pairs, progress)
    if args.negatives is None and not args.overlaps:
        return _kept(engine, queries.rank(every), args, "ranks", sentences)
    name = Path(source).name
    if args.negatives is None:
        with warehouse.one_sentence(name):
            table = queries.rank(every).to_pyarrow().to_pandas()
        names = {"rank": "ranks", "n_candidates": "n", "instance": "instances"}
        by_system: Any = table.rename(columns=names).groupby("system")
        sets = [RankSet(str(x), **rows.drop(columns="system")) for x, rows in by_system]
    elif "=" in args.negatives:
        sets = _by_stratum(name, every, args.negatives)
    else:
        by_column = args.negatives.partition("^")[0] == _WEIGHT
        table = warehouse.opened(engine, source) if by_column else None
        sets = _by_weight(name, every, _weights(name, table, seen, args.negatives))
    if args.overlaps:
        sets = _overlapping(name, every, sets)
    return Answer(sentences, {"ranks": ranks_table(sets)})


def _weights(
    name: str, table: queries.Table, seen: queries.Table, negatives: str
) -> dict[str, float]:
    """Return the sampling weight of each item.

    The weight is a number raised to the exponent in ``negatives``, such as 0.75 in
    ``popularity^0.75``. If ``table`` (the table of scores) is given, its column ``weight`` holds
    the number. Otherwise the number is how many rows the item has in ``seen``, the table of
    training interactions.
    """
    if table is not None:
        with warehouse.one_sentence(name):
            rows = queries.item_weights(table, name).to_pyarrow().to_pandas()
        for row in rows[rows["low"] != rows["high"]].itertuples():
            both = f"the weights {row.low:g} and {row.high:g}; write one"
            wrong = both if row.low < row.high else "a weight that is no number; write a number"
            raise ValueError(f"{name}: item {row.item} has {wrong}")
        negatives, known = negatives.replace(_WEIGHT, COUNTED, 1), rows["low"]
    elif seen is not None:
        with warehouse.one_sentence(name):
            rows = seen.group_by("item").agg(times=seen.count()).to_pyarrow().to_pandas()
        known = rows["times"]
    else:
        popularity(negatives, [1.0])  # refuses a text that names no popularity
        raise ValueError(f"--negatives {negatives}: popularity is counted in --seen; give --seen")
    *values, unseen = popularity(negatives, [*known, 0])
    return defaultdict(lambda: unseen, zip(rows["item"].astype(str), values, strict=True))


def _by_weight(name: str, every: queries.Table, weights: Mapping[str, float]) -> list[RankSet]:
    """Return for each system a rank set that counts negatives separately by sampling weight."""
    with warehouse.one_sentence(name):
        items = every.select("item").distinct().to_pyarrow().to_pandas()
    first, parts, weight = parts_of([weights[str(item)] for item in items["item"]])
    columns = {f"part{j}": part for j, part in enumerate(parts.T)}
    return _grouped(name, every, items.assign(first=first, **columns), {"classes": weight})


def _by_stratum(name: str, every: queries.Table, negatives: str) -> list[RankSet]:
    """Return for each system a rank set that counts the negatives of each stratum separately.

    A stratum is a group of items from which a fixed number is drawn. The column ``stratum`` of the
    scores names the group of each negative. ``negatives`` says how many are drawn from each group,
    such as ``history=50,rest=49``, or ``hard=all``.
    """
    if queries.STRATUM not in every.columns:
        raise ValueError(f"{name} has no column stratum: add it, or draw by weight or popularity")
    pairs = (map(str.strip, part.rpartition("=")[::2]) for part in negatives.split(","))
    drawn = dict[str, float]()
    for label, number in pairs:
        if label in drawn:
            raise ValueError(f"--negatives {negatives}: {shown(label)} is named twice; keep one")
        drawn[label] = inf if number == "all" else written(f"--negatives {label}=", number, low=0)
    with warehouse.one_sentence(name):
        labels = every.filter(~every["relevant"]).select(queries.STRATUM).distinct()
        strata = labels.to_pyarrow()[0].to_pylist()
    for label in sorted({*strata} ^ {*drawn}):
        why = "no negative has" if label in drawn else "say how many are drawn (0 or more) from"
        raise ValueError(f"--negatives {negatives}: {why} the stratum {shown(label)}")
    groups = pd.DataFrame({queries.STRATUM: [*drawn], "first": range(len(drawn)), "part0": 1})
    return _grouped(name, every, groups, {"strata": [*drawn.values()]})


def _overlapping(name: str, every: queries.Table, sets: list[RankSet]) -> list[RankSet]:
    """Add overlaps to the rank sets.

    An overlap is the number of items that two systems both rank above a relevant item, or tie with
    it.
    """
    with warehouse.one_sentence(name):
        table = queries.overlaps(every).to_pyarrow().to_pandas()
    overlaps = [
        {other.system: np.zeros((len(ranks), 2, 2), dtype=np.int64) for other in sets[i + 1 :]}
        for i, ranks in enumerate(sets)
    ]
    place = {ranks.system: i for i, ranks in enumerate(sets)}
    for (system, other), rows in table.groupby(["system", "other"]):
        i = place[str(system)]
        at = pd.Index(sets[i].instances).get_indexer(pd.Index(rows["instance"]))
        overlaps[i][str(other)][at, *rows[["tied", "tied_there"]].to_numpy(int).T] = rows["size"]
    return [ranks.with_overlaps(x) for ranks, x in zip(sets, overlaps, strict=True)]


def _grouped(
    name: str, every: queries.Table, groups: pd.DataFrame, last: Mapping[str, ArrayLike]
) -> list[RankSet]:
    """Return for each system a rank set that counts the negatives of each group separately.

    ``groups`` is a table of the groups, as :func:`~sampledash.readers.queries.class_sums` expects.
    ``last`` maps ``"classes"`` to the sampling weights of the groups, or ``"strata"`` to the
    numbers of negatives that are drawn from the groups.
    """
    with warehouse.one_sentence(name):
        wanted = queries.wanted_items(every).order_by("system", "instance").to_pyarrow().to_pandas()
    for instance in wanted["instance"][wanted.duplicated(["system", "instance"])]:
        advice = "leave the option out, or keep one relevant item of each instance"
        several = f"one relevant item for each instance, and {instance} has several"
        raise ValueError(f"--negatives needs {several}: {advice}")
    with warehouse.one_sentence(name):
        sums = queries.class_sums(every, groups, groups.columns[0]).to_pyarrow().to_pandas()
    sizes = np.zeros((len(wanted), 4), dtype=np.int64)
    np.add.at(sizes, (sums["row"], sums["side"]), sums["size"])
    columns, ((field, final),) = groups.columns[2:], last.items()
    classes = np.zeros((*sizes.shape, np.size(final) + len(columns)))
    for j, column in enumerate(columns):
        classes[sums["row"], sums["side"], sums["first"] + j] += sums[column]
    classes[:, NEGATIVES] += classes[:, ABOVE] + classes[:, TIED]
    classes = classes[..., : np.size(final)].round(DIGITS)
    classes[:, WEIGHT] = final
    return [
        RankSet(
            str(system),
            sizes[rows.index, ABOVE] + 1,
            sizes[rows.index, :WEIGHT].sum(axis=1) + 1,
            ties=sizes[rows.index, TIED],
            instances=rows["instance"],
            **{field: classes[rows.index]},
        )
        for system, rows in wanted.groupby("system")
    ]


def count(args: argparse.Namespace, progress: Progress) -> Answer:
    """Run the command ``count``: return a histogram of ranks.

    It has one row for each combination of system, n (candidates), rank and ties (items tied with
    the relevant item). Rows of instances with several relevant items are not combined.
    """
    if url := _engine(args):
        engine = warehouse.connect(url)
        return _kept(engine, warehouse.count_ranks(engine, _only(args)), args, "counts", [])
    sets = rank_sets(args)
    table = ranks_table(sets)
    table = table if "count" in table else table.assign(count=1)
    keys = [name for name in table.columns if name not in ("count", "instance")]
    several, totals = table[:0], {"count": ("count", "sum")}
    if max(ranks.max_relevant for ranks in sets) > 1:
        of = table.groupby(["system", "instance"])["count"].transform("size")
        table, several = table[of == 1], table[of > 1]
        totals = {"instance": ("instance", "min"), **totals}
    counts = table.groupby(keys, sort=False, dropna=False).agg(**totals).reset_index()
    return Answer((), {"counts": pd.concat([counts, several[counts.columns]], ignore_index=True)})


def _engine(args: argparse.Namespace, *others: str | None) -> str | None:
    """Return the URL of the database engine, or None if the files can be read into memory.

    Without the option ``--engine``, folders and URLs need DuckDB.
    """
    given = [path for path in (*args.files, *others) if path]
    folders = [path for path in given if Path(path).is_dir() or "://" in path]
    return args.engine or (warehouse.DUCKDB if folders else None)


def _only(args: argparse.Namespace) -> str:
    """Return the one file, folder or table for the database engine to read.

    Raise a ValueError if several are given, or if an option is set that engines do not use.
    """
    refuse_unused(args, "an engine: it reads tables of scores or ranks that say all")
    if len(args.files) > 1 or "-" in args.files:
        raise ValueError("an engine reads one table: give one folder, file or name of a table")
    return str(args.files[0])


def _kept(
    engine: Any, table: queries.Table, args: argparse.Namespace, name: str, sentences: list[str]
) -> Answer:
    """Return the rows of an engine's table; if the output is a Parquet file, write them there."""
    if args.output is not None and args.output.endswith(".parquet"):
        with aside(args.output) as part:
            warehouse.save(engine, table, part, name)
        return Answer(sentences, text="", saved=True)
    return Answer(sentences, {name: warehouse.fetched(table, name, limits.ROWS.most)})
