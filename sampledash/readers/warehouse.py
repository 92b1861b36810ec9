"""Rank scored items, or count ranks, in tables too large for memory; a database engine does this.

Ibis translates the queries for the engine.

An engine is given by its Ibis URL: ``duckdb://`` (embedded; the default),
``duckdb://lake.db?memory_limit=1GiB``, ``pyspark://?spark.master=spark://host:7077``, ... A table
is a Parquet file, a folder of Parquet files, which may be partitioned
(``system=A/part-0.parquet``), or the name of a table in the engine.
"""

import gzip
import io
import re
import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from tempfile import gettempdir
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit
from uuid import uuid4

from pyarrow import parquet

from sampledash.checks import NUMERAL
from sampledash.leftovers import Scratch
from sampledash.readers import queries
from sampledash.readers import upload_limits as limits
from sampledash.readers.columns import ROLES, bare, records, refuse_repeated, role_of
from sampledash.readers.queries import Table
from sampledash.readers.scores import left_out, refuse_cells, refuse_twice, roles_of
from sampledash.readers.tables import delimiter_of
from sampledash.readers.unknown_columns import NO_SYSTEMS, merged
from sampledash.readers.upload_limits import ReadError, stem_of
from sampledash.types import Progress

DUCKDB = "duckdb://"
_EXTRA = "this needs Ibis and DuckDB: in the clone, pip install '.[warehouse]'"
_SPARK = "Spark needs its client: in the clone, pip install '.[spark]'"
_NAMED = 3  # largest number of repeated items that an error names
_AT_ONCE = 12_500_000  # number of rows that are searched for repeated items at a time
_FILE = "sampledash_file"  # name of a column that DuckDB adds: the path of each row's file
_NULL = "__HIVE_DEFAULT_PARTITION__"  # stands for a missing value in the name of a folder


def connect(url: str = DUCKDB) -> Any:
    """Return a connection to the database engine at an Ibis URL."""
    try:
        import ibis
    except ImportError:
        raise ValueError(_EXTRA) from None
    try:
        engine = _spark(url) if url.startswith("pyspark://") else ibis.connect(url)
        if engine.name == "duckdb":
            # DuckDB writes data that exceed memory to this folder. Each process needs a new folder.
            engine.scratch = Scratch()
            engine.raw_sql(f"SET temp_directory = '{engine.scratch.name}'")
    except ImportError as error:
        kind = url.partition("://")[0]
        extra = _SPARK if "spark" in kind else f"pip install 'ibis-framework[{kind}]'"
        raise ValueError(f"engine '{url}': {_first_line(error)}; {extra}") from None
    except Exception as error:  # every engine raises its own types of errors
        lost = f"engine '{url}' cannot be reached ({_first_line(error)})"
        raise ValueError(f"{lost}; give a URL such as {DUCKDB}") from None
    return engine


def _spark(url: str) -> Any:
    """Start Spark with the settings of a URL.

    Ibis itself would set them after the start of Spark, which is too late for most settings.
    """
    import ibis
    from pyspark.sql import SparkSession

    settings: dict[str, bool | float | int | str | None] = {
        "spark.log.level": "OFF",
        # Read the values in folder names as text, because 007 is not 7.
        "spark.sql.sources.partitionColumnTypeInference.enabled": "false",
    }
    settings |= dict(parse_qsl(urlsplit(url).query))
    interrupt = signal.getsignal(signal.SIGINT)
    session = SparkSession.builder.config(map=settings).getOrCreate()
    signal.signal(signal.SIGINT, interrupt)  # restore the handler of Ctrl-C that Spark replaced
    return ibis.pyspark.connect(session)


def _first_line(error: BaseException) -> str:
    lines = [line.strip(": \t") for line in str(error).splitlines()]
    py4j = "An error occurred while calling"  # skip this line; the next one is Java's message
    line = next((x for x in lines if x and not x.startswith(py4j)), type(error).__name__)
    return line[:200].rstrip(".; ")


@contextmanager
def one_sentence(name: str) -> Iterator[None]:
    """Turn an exception of a running engine into a :class:`ReadError` of one sentence."""
    try:
        yield
    except (ReadError, MemoryError, OSError, KeyboardInterrupt):
        raise
    except Exception as error:
        remedy = "write the table again if it is damaged, or give the engine more memory"
        if re.search("No space left|File too large|failed to offload", str(error)):
            remedy = f"the disk is full: make room there, or set TMPDIR (now {gettempdir()})"
        raise ReadError(f"{name}: the engine stopped: {_first_line(error)}; {remedy}") from None


def parts_of(path: Path) -> list[Path]:
    """Return a file, or the Parquet files below a folder; skip names that begin with _ or a dot."""
    if not path.is_dir():
        return [path]
    if path.samefile("/"):
        raise ReadError(f"{path} holds all folders: give the one that holds the table")
    files = (file for file in sorted(path.rglob("*.parquet")) if file.is_file())
    parts = [f for f in files if not any(x[0] in "_." for x in f.relative_to(path).parts)]
    if not parts:
        empty = f"'{path.resolve().name}' holds no file *.parquet"
        raise ReadError(f"{empty}: write the table as Parquet")
    return parts


def opened(engine: Any, source: str) -> Table:
    """Return the table ``source``: a file, a folder of files, or a table in the engine."""
    path = Path(source)
    with one_sentence(path.name):
        if not path.exists():
            if "://" in source:
                return engine.read_parquet(source)
            if source not in engine.list_tables():
                raise ReadError(f"{source}: there is no such file, folder or table; check the name")
            return engine.table(source)
        path = path.absolute()
        if path.is_file() and limits.kind_of(_beginning(path), path.name) == "text":
            return _text_table(engine, path)
        files, columns = parts_of(path), None
        partitions: dict[str, set[str]] = {}
        for file in files:
            part = path.name if file == path else f"{path.name}/{file.relative_to(path)}"
            values = dict(x.split("=", 1) for x in part.split("/")[1:-1] if "=" in x)
            for key, value in values.items():
                partitions.setdefault(key, set()).add(value)
            try:
                names = [*values, *parquet.read_schema(file).names]
            except Exception as error:
                why = "it is damaged or no Parquet; write it anew"
                raise ReadError(f"{part} cannot be read as Parquet: {why}") from error
            used = {header for role, header in roles_of(names, (), part).items() if role}
            columns = used if columns is None else columns
            if other := sorted(used ^ columns):
                lacks = f"not every part has the column {other[0]!r}; write all with the same"
                raise ReadError(f"{part}: {lacks}")
        return _partitioned(_parts(engine, files, path), partitions)


def _beginning(path: Path) -> bytes:
    with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
        return file.read(limits.LONGEST_LINE)


def _text_table(engine: Any, path: Path) -> Table:
    """Return a file of separated text as a table of text, so that labels stay as written."""
    beginning = _beginning(path)
    delimiter = delimiter_of(beginning)
    refuse_repeated(next(records(beginning, delimiter), (1, []))[1], path.name)
    options = {"delim": delimiter, "header": True, "all_varchar": True, "null_padding": True}
    return engine.read_csv(str(path), **options).cache()


def _parts(engine: Any, files: list[Path], path: Path) -> Table:
    """Return one table of all files; wildcards such as ``*`` in their names are escaped."""
    if engine.name == "duckdb":
        # With union_by_name, DuckDB unifies the types of a column in several files without loss.
        names = [re.sub(r"[*?[]", r"[\g<0>]", str(file)) for file in files]
        options = {"union_by_name": True, "hive_partitioning": False, "filename": _FILE}
        table = engine.read_parquet(names, **options)
        return table.mutate(**{_FILE: table[_FILE].substr(len(str(path)))})
    if engine.name == "pyspark":
        names = [re.sub(r"[*?[\]{}\\]", r"\\\g<0>", str(file)) for file in files]
        folder = path if path.is_dir() else path.parent
        frame = engine._session.read.option("basePath", str(folder)).parquet(*names)
        frame.createOrReplaceTempView(view := f"parts_{uuid4().hex}")
        return engine.table(view)
    return engine.read_parquet(str(path))


def _partitioned(table: Table, partitions: Mapping[str, set[str]]) -> Table:
    """Return the table with a column per key in folder names, such as system in ``system=A``.

    The value is all text after the first ``=``, and may be percent-encoded. DuckDB's own parser is
    not used, because it would read 007 as 7 and cannot read values with ``=``.
    """
    by_file = _FILE in table.columns
    for key, values in partitions.items():
        column = table[_FILE].re_extract(rf"/\Q{key}\E=([^/]*)/", 1) if by_file else table[key]
        # Names of folders are percent-encoded. Spark has decoded them already, but wrongly: each
        # byte as one Latin-1 character.
        texts = {x if by_file else unquote(x, "latin-1"): unquote(x) for x in values}
        column = column.nullif(_NULL).substitute({a: b for a, b in texts.items() if a != b})
        whole = (role := ROLES.get(role_of(key) or "")) is not None and role.holds == "whole"
        table = table.mutate(**{key: column.cast("int64") if whole else column})
    return table.drop(_FILE) if by_file else table


def checked(
    engine: Any, source: str, relevant: str | None, seen: str | None, progress: Progress
) -> tuple[Table, Table | None, list[str]]:
    """Return the candidates with scores, the pairs in the table ``seen``, and sentences.

    ``seen`` holds pairs of instance and item. The item of a pair is no candidate of the instance,
    unless it is relevant. The sentences say how many instances and relevant items are left out.
    """
    name = Path(source).name
    scores = queries.score_table(opened(engine, source), name, marked=relevant is None)
    pairs = [
        None if x is None else queries.pairs_of(opened(engine, x), Path(x).name)
        for x in (relevant, seen)
    ]
    every = queries.candidates(scores, *pairs)
    with one_sentence(name):
        _refuse(scores, name, progress)
        sentences = left_out(name, _numbers_of(scores, every, pairs[0]))
        progress(0.7)
    return every, pairs[1], sentences


def _refuse(scores: Table, name: str, progress: Progress) -> None:
    """Raise an error if a table of scores has a row that cannot be ranked.

    Such a row names no system, no instance or no item, has the score NaN, has a relevance other
    than 1 and 0, or repeats an item of the same system and instance.
    """
    blank = [_blank(scores[key]) for key in queries.KEYS]
    bad = {"blank": blank[0] | blank[1] | blank[2]}
    if scores["score"].type().is_floating():
        bad["nan"] = scores["score"].isnan()
    if "relevant" in scores.columns:
        mark = scores["relevant"]
        bad["odd"] = ~(queries.means(mark, queries.YES) | queries.means(mark, queries.NO))
    sums = {name: scores.count(where=flag) for name, flag in bad.items()}
    totals = scores.agg(rows=scores.count(), **sums).to_pyarrow().to_pylist()[0]
    refuse_cells(name, totals)
    slices = totals["rows"] // _AT_ONCE + 1
    # Search for repeated items in one part of the rows at a time: grouping by item makes about one
    # group per row, and the groups of all rows would fill the memory.
    for number in range(slices):
        part = scores if slices == 1 else scores.filter(_slice(scores, slices) == number)
        again = part.group_by(queries.KEYS).agg(times=part.count())
        again = again.filter(again["times"] > 1)
        total = again.agg(rows=(again["times"] - 1).sum()).to_pyarrow().to_pylist()[0]["rows"]
        if total:
            refuse_twice(name, int(total), again.limit(_NAMED).to_pyarrow().to_pylist())
        progress(0.5 * (number + 1) / slices)


def _blank(label: Any) -> Any:
    return label.isnull() | (label == "") if label.type().is_string() else label.isnull()


def _slice(scores: Table, slices: int) -> Any:
    """Divide the rows into parts: return a number in 0..slices - 1 for each row.

    All rows of an instance get the same number.
    """
    instance = scores["instance"]
    return ((instance if instance.type().is_integer() else instance.hash()) % slices).abs()


def _numbers_of(scores: Table, every: Table, relevant: Table | None) -> list[dict[str, Any]]:
    """Return a dictionary per system, with the numbers of its instances and its relevant items.

    :func:`left_out` needs these numbers. ``size`` counts all instances with candidates, ``bare``
    the instances in which no relevant item has a score, and ``full`` the instances in which every
    candidate is relevant. ``asked`` counts all relevant items, and ``items`` the relevant items
    with a score.
    """
    real = queries.is_candidate(every["score"])
    wanted = every["relevant"] & every["score"].notnull() & real
    keys = ["system", "instance"]
    lists = every.group_by(keys).agg(n=every.count(where=real), items=every.count(where=wanted))
    n, items = lists["n"], lists["items"]
    counts = {"size": lists.count(where=n > 0), "items": items.sum()}
    counts["bare"] = lists.count(where=(n > 0) & (items == 0))
    counts["full"] = lists.count(where=(n > 0) & (items == n))
    rows = lists.group_by("system").agg(**counts).order_by("system").to_pyarrow().to_pylist()
    if relevant is None:
        marked = scores.filter(queries.means(scores["relevant"], queries.YES))
        asked = marked.group_by("system").agg(items=marked.count()).to_pyarrow().to_pylist()
        total = {row["system"]: row["items"] for row in asked}
    else:
        size = queries.number_of(relevant.distinct().count())
        total = dict.fromkeys([row["system"] for row in rows], size)
    return [row | {"asked": total.get(row["system"], 0)} for row in rows]


def ranks_table(table: Table, name: str) -> Table:
    """Return the columns of a table of ranks that a histogram needs: system, rank, n, ties, ..."""
    roles = roles_of(table.columns, ("rank",), name)
    if not (kind := table[roles["rank"]].type()).is_integer():
        wants = ROLES["rank"].write
        raise ReadError(f"{name}: column {roles['rank']!r} holds {kind}; write {wants}")
    if lost := next((roles[x] for x in ("repetition", "mass_above") if x in roles), None):
        raise ReadError(f"{name}: counts do not keep column {lost!r}; leave it out")
    import ibis

    wanted = (*queries.HISTOGRAM, "count", "instance")
    columns = {role: table[roles[role]] for role in wanted if role in roles}
    columns["system"] = queries.text_of(columns.get("system", ibis.literal(stem_of(name))))
    return table.select(**columns)


def save(engine: Any, table: Table, path: str | Path, name: str) -> None:
    """Write a table of the engine as one Parquet file."""
    with one_sentence(name):
        if engine.name == "pyspark":
            # Spark's own writer would write a folder of files, on the machines of its workers.
            parquet.write_table(table.to_pyarrow(), path)
        else:
            table.to_parquet(path)


def _refuse_ranks(ranks: Table, name: str) -> None:
    """Refuse ranks that are missing, below 1 or above n (candidates), and blank system names."""
    most = ranks["n_candidates"] if "n_candidates" in ranks.columns else ranks["rank"]
    good = ((ranks["rank"] >= 1) & (ranks["rank"] <= most)).fill_null(False)
    refuse_cells(name, {"blank": queries.number_of(ranks.count(where=_blank(ranks["system"])))})
    if bad := queries.number_of(ranks.count(where=~good)):
        raise ReadError(f"{name}: {bad:,} ranks are no number from 1 to n; correct these rows")


def _refuse_merged(table: Table, name: str) -> None:
    """If there is no system column, refuse a column of text that may name systems.

    Without this check, all systems would be read as one system.
    """
    roles = {header: role_of(header) for header in table.columns}
    for header, kind in table.schema().items() if "system" not in roles.values() else ():
        if roles[header] is None and kind.is_string() and bare(header) not in NO_SYSTEMS:
            words = ~table[header].re_search(rf"^\s*{NUMERAL}\s*$")
            if 1 < queries.number_of(table[header].nunique(where=words)) <= limits.SYSTEMS.most:
                raise merged(name, header)


def count_ranks(engine: Any, source: str) -> Table:
    """Return a histogram of ranks, with instance labels only if an instance has several ranks."""
    name = Path(source).name
    table = opened(engine, source)
    ranks = ranks_table(table, name)
    several = False
    with one_sentence(name):
        _refuse_merged(table, name)
        _refuse_ranks(ranks, name)
        if "instance" in ranks.columns:
            lists = ranks.group_by("system", "instance").agg(items=ranks.count())
            several = queries.number_of(lists.filter(lists["items"] > 1).limit(1).count()) > 0
    counted = queries.count(ranks if several else ranks.drop(*{"instance"} & {*ranks.columns}))
    return counted.order_by([key for key in queries.HISTOGRAM if key in counted.columns])


def fetched(table: Table, name: str, most: int) -> Any:
    """Return a database table as a data frame; refuse a table of more than ``most`` rows."""
    with one_sentence(name):
        if queries.number_of(table.limit(most + 1).count()) > most:
            raise ReadError(f"{name} are more than {most:,} rows: write them, -o {name}.parquet")
        return table.to_pandas()


def folder(path: Path) -> bytes:
    """Return the Parquet files of a folder as the bytes of one file.

    If there are too many ranks, the file holds a histogram: how often each rank occurs.
    """
    parts_of(path)  # raises an error for a folder without a table, before an engine is started
    engine = connect()
    table = opened(engine, str(path))
    with one_sentence(path.name):
        many = queries.number_of(table.count()) > limits.LABELLED.most
        if many and "rank" in map(str.lower, table.columns):
            table = count_ranks(engine, str(path))
        limits.ROWS.check(queries.number_of(table.count()), path.name)
        whole = io.BytesIO()
        parquet.write_table(table.to_pyarrow(), whole)
    return whole.getvalue()
