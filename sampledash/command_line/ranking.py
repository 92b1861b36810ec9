"""The commands ``rank`` (true ranks from scores) and ``count`` (a histogram from ranks).

Tables of scores, folders, URLs, and everything with ``--engine`` go to a database engine, by
default DuckDB; other files are read into memory.
"""

import argparse
import io
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from sampledash.command_line.options import READING, parser
from sampledash.command_line.streams import Answer, aside, opened, rank_sets, read
from sampledash.lab.ranking import popularity, ranks_from_scores
from sampledash.leftovers import Scratch
from sampledash.rank_sets import RankSet
from sampledash.readers import upload_limits as limits
from sampledash.readers import warehouse
from sampledash.readers.columns import bare
from sampledash.readers.tables import headers_of
from sampledash.readers.upload_limits import load
from sampledash.report.tables import ranks_table
from sampledash.types import Floats, Ints, Progress


def rank(args: argparse.Namespace, progress: Progress) -> Answer:
    """Return the true ranks of relevant items in tables of scores, TREC runs or lists."""
    pairs = (args.relevant, args.seen)
    if args.negatives is not None and _engine(args, *pairs):
        raise ValueError("--negatives needs the scores in memory: give one file, and no --engine")
    sources = [] if _engine(args, *pairs) else [opened(path) for path in args.files]
    if len(sources) == 1 and args.qrels is None:
        data, name = load(*sources[0])
        headers = set(map(bare, headers_of(data, limits.kind_of(data, name))))
        if headers & {"score", *["relevant"] * (args.relevant is None)}:
            _refuse_unused(args, "a table of scores")
            with Scratch() as folder:
                path = args.files[0]
                if path == "-":
                    path = f"{folder}/{name}"
                    Path(path).write_bytes(data)
                return _ranked(path, args, progress)
        sources = [(io.BytesIO(data), name)]
    if not sources:
        return _ranked(_only(args), args, progress)
    named = ("--relevant", "--seen", "--negatives")
    for option, given in zip(named, (*pairs, args.negatives), strict=True):
        if given is not None:
            what = f"a table of scores, which {sources[0][1]} is not"
            raise ValueError(f"{option} is for {what}; for runs and lists give --qrels")
    return Answer((), {"ranks": ranks_table(read(sources, args))})


def _ranked(source: str, args: argparse.Namespace, progress: Progress) -> Answer:
    """Return the ranks of a table of scores, which an engine ranks, by default DuckDB."""
    engine, pairs = warehouse.connect(args.engine or warehouse.DUCKDB), (args.relevant, args.seen)
    if args.negatives is not None:
        every, seen, sentences = warehouse.checked(engine, source, *pairs, progress)
        return Answer(sentences, {"ranks": ranks_table(_by_weight(every, seen, args.negatives))})
    ranks, sentences = warehouse.rank_scores(engine, source, *pairs, progress=progress)
    return _kept(engine, ranks, args, "ranks", sentences)


def _by_weight(every: warehouse.Table, seen: warehouse.Table, negatives: str) -> list[RankSet]:
    """Return ranks with classes of items, whose weight is how often they are ``seen``."""
    if seen is None:
        raise ValueError("--negatives counts how often each item is in --seen: give --seen")
    times = seen.group_by("item").agg(times=seen.count()).to_pandas()
    taken = dict(zip(times["item"].astype(str), times["times"], strict=True))
    table = every.order_by("system", "instance").to_pyarrow().to_pandas(categories=warehouse.KEYS)
    item, names = pd.factorize(table["item"])
    weights = popularity(negatives, [taken.get(str(name), 0) for name in names])
    score = table["score"].fillna(np.finfo(np.float64).min).to_numpy(np.float64)
    relevant = (table["relevant"] & table["score"].gt(-np.inf)).to_numpy(bool)
    sets = []
    for system, rows in pd.Series(range(len(table))).groupby(table["system"].to_numpy()):
        user, instances = pd.factorize(table["instance"].iloc[rows])
        starts = np.searchsorted(user, np.arange(len(instances) + 1))
        mine = user, item[rows], score[rows], starts, len(names)
        wanted = np.split(np.where(relevant[rows], item[rows], -1), starts[1:-1])
        options: Any = {"system": str(system), "instances": instances.tolist(), "weights": weights}
        each = [items[items >= 0] for items in wanted]
        sets.append(ranks_from_scores(partial(_block, *mine), each, **options))
    return sets


def _block(
    user: Ints, item: Ints, score: Floats, starts: Ints, items: int, first: int, last: int
) -> Floats:
    """Return the scores of all items for the users first..last - 1; -inf is no candidate."""
    some, result = slice(starts[first], starts[last]), np.full((last - first, items), -np.inf)
    result[user[some] - first, item[some]] = score[some]
    return result


def count(args: argparse.Namespace, progress: Progress) -> Answer:
    """Return a histogram of ranks: one row for each combination of system, n, rank and ties.

    Rows of instances with several relevant items are not combined.
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
    counts = pd.concat([counts, several[counts.columns]], ignore_index=True)
    return Answer((), {"counts": counts})


def _engine(args: argparse.Namespace, *others: str | None) -> str | None:
    """Return ``--engine``; without it, DuckDB's URL if a path is a folder or a URL, else None."""
    given = [path for path in (*args.files, *others) if path]
    folders = [path for path in given if Path(path).is_dir() or "://" in path]
    return args.engine or (warehouse.DUCKDB if folders else None)


def _only(args: argparse.Namespace) -> str:
    """Return the one file, folder or table to read; ValueError for several or an unused option."""
    _refuse_unused(args, "an engine: it reads tables of scores or ranks that say all")
    if len(args.files) > 1 or "-" in args.files:
        raise ValueError("an engine reads one table: give one folder, file or name of a table")
    source: str = args.files[0]
    return source


def _refuse_unused(args: argparse.Namespace, where: str) -> None:
    """Raise a ValueError if an option in :data:`READING` is set, which ``where`` does not use."""
    usual = vars(parser().parse_args(["rank", "-"]))
    if given := [name for name in READING if getattr(args, name) != usual[name]]:
        raise ValueError(f"--{given[0].replace('_', '-')} is not for {where}")


def _kept(
    engine: object,
    table: warehouse.Table,
    args: argparse.Namespace,
    name: str,
    sentences: list[str],
) -> Answer:
    """Write an engine's table if the output is a Parquet file; otherwise, return its rows."""
    if args.output is not None and args.output.endswith(".parquet"):
        with aside(args.output) as part:
            warehouse.save(engine, table, part, name)
        return Answer(sentences, text="", saved=True)
    return Answer(sentences, {name: warehouse.fetched(table, name, limits.ROWS.most)})
