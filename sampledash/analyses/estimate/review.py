"""What a reviewer says about printed tables, and what would have to be printed to decide them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from sampledash.analyses.choices import stops
from sampledash.analyses.estimate.printed import TableQuestion
from sampledash.analyses.estimate.result import FALLING, Result
from sampledash.estimation.bounds import decided, difference
from sampledash.estimation.table_estimates import foretell
from sampledash.metrics import parse_metric
from sampledash.readers.printed_table import PrintedRow
from sampledash.report.numbers import count
from sampledash.report.templates import Sentences
from sampledash.sampling import Sampling
from sampledash.types import Progress

say = Sentences(Path(__file__).with_name("review.jinja"))
_MORE_DIGITS = 2  # a table could be printed with up to this many more decimals
_CUTOFFS = (1, 2, 3, 5, 10, 20, 50)  # of recalls that a table could print besides its own metrics
_DECIMALS = 4  # of these recalls


class Table(NamedTuple):
    """A table that would be printed: a label, names of metrics, their decimals, and m."""

    label: str
    decimals: dict[str, int]
    m: int


def larger_tables(row: PrintedRow, sampling: Sampling) -> Iterator[Table]:
    """Yield tables that would say more than what is printed of one system."""
    printed, m, n = row.decimals, sampling.m, sampling.n
    for more in range(1, _MORE_DIGITS + 1):
        yield Table(say.digits(more), {x: digits + more for x, digits in printed.items()}, m)
    known = {str(parse_metric(name)) for name in printed}
    recalls = [f"Recall@{k}" for k in _CUTOFFS if k <= m and f"Recall@{k}" not in known]
    yield Table(say.cutoffs(recalls), printed | dict.fromkeys(recalls, _DECIMALS), m)
    for size in stops(m, n - 1, (1, 2, 5))[1:]:
        yield Table(say.all_items(n) if size == n - 1 else say.larger_m(size), printed, size)


def options(q: TableQuestion, report: Progress) -> pd.DataFrame:
    """Return how many pairs of systems each larger table would decide.

    What would be printed is foretold by the estimate from what is printed. The columns are
    ``printed`` (the label of the larger table), ``pairs``, ``decided`` and, if no rank is more
    frequent than a better one, ``decided_if_falling``.
    """
    rows, s = q.table.rows, q.sampling
    tables = list(zip(*(larger_tables(row, s) for row in rows), strict=True))
    pairs, made = list(combinations(range(len(rows)), 2)), []
    for done, larger in enumerate(tables, 1):
        sampling = Sampling(s.n, larger[0].m, s.scheme)
        foretold = []
        for row, table in zip(rows, larger, strict=True):
            larger_values = foretell(row.values, s, list(table.decimals), sampling)
            values = {name: round(x, table.decimals[name]) for name, x in larger_values.items()}
            foretold.append(replace(row, values=values, decimals=table.decimals))
        asked = q._replace(table=replace(q.table, rows=foretold), sampling=sampling)
        counts = []
        for shape in (None, FALLING):
            spans = [asked.span(i, i, shape) for i in range(len(rows))]
            both = [[spans[i], spans[j]] for i, j in pairs]
            counts.append(decided(None if None in x else difference(x) for x in both))
        made.append((larger[0].label, len(pairs), *counts))
        report(done / len(tables))
    return pd.DataFrame(made, columns=["printed", "pairs", "decided", "decided_if_falling"])


def standings(results: Sequence[Result[TableQuestion]]) -> pd.DataFrame:
    """Return a row for each table: its pairs, how many are decided, and systems of no sure order.

    ``open`` names a pair that stays undecided even if ranks fall off, or is empty.
    """
    rows = []
    for result in results:
        undecided = [pair for pair in result.pairs if not decided([pair.falling or pair.free])]
        first = f"{undecided[0].name} and {undecided[0].other}" if undecided else ""
        rows.append(
            {"table": result.question.table.title, "pairs": len(result.pairs)}
            | {"decided": decided(pair.free for pair in result.pairs), "open": first}
            | {"decided_if_falling": decided(pair.falling for pair in result.pairs)}
        )
    return pd.DataFrame(rows)


def sentence(results: Sequence[Result[TableQuestion]]) -> str:
    """Return sentences for the review of a paper that prints these tables."""
    q = results[0].question
    metrics = list(dict.fromkeys(x for row in q.table.rows for x in row.values))
    table = standings(results)
    return say.review(
        metrics, str(q.metric), q, table.to_dict("records"), table.sum(numeric_only=True)
    )


def best_option(table: pd.DataFrame) -> str:
    """Return a sentence on the first larger table that decides every pair, or most pairs."""
    column = "decided" if table["decided"].max() == table["pairs"].iloc[0] else "decided_if_falling"
    best = table.iloc[int(table[column].argmax())]
    return say.best(best, column == "decided", count)
