"""Sentences for a reviewer: which pairs of systems a paper's tables of sampled metrics decide.

Other sentences say which further numbers in the tables would decide more pairs. To decide a pair is
to prove which system is better on all items.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import NamedTuple

import pandas as pd

from sampledash.analyses.choices import stops
from sampledash.analyses.estimate.printed import TableQuestion
from sampledash.analyses.estimate.result import FALLING, Result
from sampledash.estimation.bounds import MOST_DECIMALS, decided
from sampledash.estimation.table_estimates import foretell
from sampledash.metrics import parse_metric
from sampledash.report.templates import Sentences
from sampledash.types import Progress

say = Sentences(Path(__file__).with_suffix(".jinja"))
_MORE_DIGITS = (1, 2)  # numbers of additional decimals that a table could print
_CUTOFFS = (1, 2, 3, 5, 10, 20, 50)  # cutoffs k at which a table could also print Recall@k
_DECIMALS = 4  # number of decimals of the additional Recall@k
_MORE = 1.5  # a number of negatives is tried if it is more than 1.5 times that of the printed table
_MOST_M = 2_000  # largest number of negatives that is tried; a larger one takes over a second


class Larger(NamedTuple):
    """A hypothetical table: a paper's table with more numbers or more sampled negatives, m.

    ``digits`` is the number of additional decimals; ``recalls`` are additional metrics Recall@k.
    """

    label: str
    digits: int
    recalls: list[str]
    m: int


def larger_tables(q: TableQuestion) -> Iterator[Larger]:
    """Yield tables with more decimals, cutoffs or sampled negatives than the printed table."""
    m, n = q.sampling.m, q.sampling.n
    for digits in _MORE_DIGITS:
        yield Larger(say.digits(digits), digits, [], m)
    printed = {parse_metric(name) for row in q.table.rows for name in row.values}
    names = (f"Recall@{k}" for k in _CUTOFFS if k <= m)
    recalls = [name for name in names if parse_metric(name) not in printed]
    if recalls:
        yield Larger(say.cutoffs([x.partition("@")[2] for x in recalls]), 0, recalls, m)
    for size in stops(m, max(min(n - 1, _MOST_M), m), (1, 2, 5))[1:]:
        if size > _MORE * m or size == n - 1:
            yield Larger(say.larger_m(size, n, q.corpus), 0, [], size)


def options(q: TableQuestion, report: Progress) -> pd.DataFrame:
    """Return how many pairs of systems larger tables would decide, a row per larger table.

    A larger table has more decimals, metrics or sampled negatives; its numbers are predicted from
    the printed table. It decides a pair if it proves which system has the better exact metric. The
    columns are ``printed`` (label of the larger table), ``pairs`` (number of all pairs),
    ``decided`` (number of pairs decided without an assumption) and ``decided_if_falling`` (number
    of pairs decided if no rank is rarer than the next worse rank).
    """
    tables, pairs = list(larger_tables(q)), list(combinations(range(len(q.table.rows)), 2))
    rows = []
    for done, larger in enumerate(tables, 1):
        sampling, foretold = replace(q.sampling, m=larger.m), []
        for row in q.table.rows:
            digits = {x: min(d + larger.digits, MOST_DECIMALS) for x, d in row.decimals.items()}
            digits |= dict.fromkeys(larger.recalls, _DECIMALS)
            means = foretell(row.values, q.sampling, list(digits), sampling)
            values = {name: round(mean, digits[name]) for name, mean in means.items()}
            foretold.append(replace(row, values=values, decimals=digits))
        asked = q._replace(table=replace(q.table, rows=foretold), sampling=sampling)
        free, falling = ([asked.span(*pair, shape) for pair in pairs] for shape in (None, FALLING))
        either = sum(map(bool, map(decided, zip(free, falling, strict=True))))
        rows.append((larger.label, len(pairs), decided(free), either))
        report(done / len(tables))
    return pd.DataFrame(rows, columns=["printed", "pairs", "decided", "decided_if_falling"])


def standings(results: Sequence[Result[TableQuestion]]) -> pd.DataFrame:
    """Return for each printed table how many pairs of systems it decides.

    A table decides a pair if it proves which system has the better exact metric. The column
    ``open`` names a pair that stays undecided even under the assumption that no rank is rarer than
    the next worse rank. It is empty if there is no such pair.
    """
    rows = []
    for result in results:
        pairs = result.pairs
        undecided = [pair for pair in pairs if not decided([pair.falling, pair.free])]
        first = f"{undecided[0].name} and {undecided[0].other}" if undecided else ""
        rows.append(
            {"table": result.question.table.title, "pairs": len(pairs), "open": first}
            | {"decided": decided(pair.free for pair in pairs)}
            | {"decided_if_falling": len(pairs) - len(undecided)}
        )
    return pd.DataFrame(rows)


def sentence(results: Sequence[Result[TableQuestion]]) -> str:
    """Return sentences for a review: how many pairs of systems do a paper's tables decide?

    To decide a pair is to prove which system has the better exact metric.
    """
    q, tables = results[0].question, standings(results)
    metrics = list(dict.fromkeys(name for row in q.table.rows for name in row.values))
    total = tables[["pairs", "decided", "decided_if_falling"]].sum()
    sizes = {result.question.sampling.n for result in results}
    n = sizes.pop() if len(sizes) == 1 else None
    drawn = sorted({result.question.sampling.m for result in results})
    return say.review(metrics, str(q.metric), drawn, n, q.corpus, tables.to_dict("records"), total)


def best_option(table: pd.DataFrame) -> str:
    """Return a sentence: what should a table also print, to decide which systems are better?

    ``table`` is the result of :func:`options`.
    """
    sure = bool(table["decided"].max() > 0)
    counts = table["decided" if sure else "decided_if_falling"]
    best = table.iloc[int(counts.argmax())]
    return say.best(best["printed"], int(counts.max()), int(best["pairs"]), sure)
