"""Ranks and counts of 100,000,000 scores by DuckDB within 1 GiB, compared with handwritten SQL."""

import tempfile
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import parquet

from tests.benchmarks.frame import Result, alone

ENGINE = "duckdb://?memory_limit=1GiB&threads=2"
_CANDIDATES, _PART = 1_000, 1_000_000  # candidates per instance, rows per file

#: Handwritten SQL. REFUSED counts rows to refuse or to mention, TWICE counts repeated items, RANKS
#: ranks the items, and COUNTS counts how often each rank occurs.
REFUSED = """
SELECT count(*) FILTER (isnan(score)), count(*) FILTER (instance IS NULL OR item IS NULL),
       count(*) FILTER (relevant NOT IN (0, 1)) FROM scores;
SELECT system, count(DISTINCT instance), count(DISTINCT instance) FILTER (relevant = 1),
       count(*) FILTER (relevant = 1 AND score IS NOT NULL) FROM scores GROUP BY system;
"""
TWICE = """
SELECT sum(times - 1) FROM (SELECT count(*) AS times FROM scores
       WHERE instance % {slices} = {number}
       GROUP BY system, instance, item HAVING count(*) > 1)
"""
RANKS = """
COPY (SELECT t.system, t.instance, count(*) FILTER (s.score > t.score) + 1 AS rank,
             count(*) AS n_candidates, count(*) FILTER (s.score = t.score) - 1 AS ties
      FROM scores s JOIN (SELECT * FROM scores WHERE relevant = 1) t
      ON s.system = t.system AND s.instance = t.instance
      GROUP BY t.system, t.instance, t.item ORDER BY ALL) TO '{folder}/ranks.parquet'
"""
COUNTS = """
COPY (SELECT system, n_candidates, rank, ties, count(*) AS count FROM '{folder}/ranks.parquet'
      GROUP BY ALL) TO '{folder}/counts.parquet'
"""


def write_scores(folder: Path, rows: int) -> None:
    """Write Parquet files with random scores of two systems; some of the 20-bit scores are tied."""
    rng, places = np.random.default_rng(17), np.arange(_PART)
    item = (places % _CANDIDATES).astype(np.int32)
    for part in range(rows // _PART):
        lists = (part * _PART + places) // _CANDIDATES
        system = pa.array(np.where(lists % 2, "B", "A")).dictionary_encode()
        columns = {"system": system, "instance": (lists // 2).astype(np.int32), "item": item}
        columns["score"] = rng.integers(2**20, size=_PART).astype(np.float32)
        columns["relevant"] = (item == lists % _CANDIDATES).astype(np.int8)
        parquet.write_table(pa.table(columns), folder / f"part-{part:03}.parquet")


def ours(folder: str, rows: int) -> Callable[[Any], Any]:
    """Return a job that computes ranks and counts with sampledash.readers.warehouse."""
    from sampledash.readers import queries, warehouse

    def work(_: Any) -> Any:
        engine, ranks = warehouse.connect(ENGINE), f"{folder}/ranks.parquet"
        every, *_ = warehouse.checked(engine, f"{folder}/scores", None, None, lambda share: None)
        warehouse.save(engine, queries.rank(every), ranks, "scores")
        counted = warehouse.count_ranks(engine, ranks)
        warehouse.save(engine, counted, f"{folder}/counts.parquet", "ranks")
        return checked(folder)

    return work


def by_hand(folder: str, rows: int) -> Callable[[Any], Any]:
    """Return a job that computes ranks and counts with the SQL above, without sampledash."""
    import duckdb

    def work(_: Any) -> Any:
        engine = duckdb.connect(config={"memory_limit": "1GiB", "threads": 2})
        engine.execute(f"SET temp_directory = '{folder}/spilled'")
        engine.execute(f"CREATE VIEW scores AS FROM '{folder}/scores/*.parquet'")
        slices = rows // 12_500_000 + 1  # TWICE on all rows at once would exceed the memory
        twice = [TWICE.format(slices=slices, number=number) for number in range(slices)]
        for query in [*REFUSED.split(";")[:2], *twice, RANKS, COUNTS]:
            engine.execute(query.format(folder=folder)).fetchall()
        return checked(folder)

    return work


def checked(folder: str) -> list[float]:
    """Return the sums of ranks, ties and n over all instances, which must agree for both jobs."""
    found = parquet.read_table(f"{folder}/counts.parquet").to_pydict()
    size = np.asarray(found["count"])
    return [float(size @ np.asarray(found[name])) for name in ("rank", "ties", "n_candidates")]


def scores_to_counts(quick: bool) -> Iterator[Result]:
    """Compare :func:`ours` with :func:`by_hand`: time, peak memory, and sums (which must agree)."""
    rows = 1_000_000 if quick else 100_000_000
    if find_spec("ibis") is None:
        yield Result("scores to counts: sampledash[warehouse] is not installed", 0, None, None, 0)
        return
    with tempfile.TemporaryDirectory() as place:
        Path(place, "scores").mkdir()
        write_scores(Path(place, "scores"), rows)
        mine, theirs = (alone(job, place, rows) for job in (ours, by_hand))
    apart = float(np.abs(np.subtract(mine.result, theirs.result)).max())
    name = f"{rows:,} scores to ranks to counts on DuckDB, 1 GiB; obvious: SQL by hand"
    note = f"{mine.told()}, by hand {theirs.peak:,.0f}"
    yield Result(name, mine.seconds, theirs.seconds, apart, 0, at_least=1 / 1.3, note=note)


BENCHMARKS = (scores_to_counts,)
