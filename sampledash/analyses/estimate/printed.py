"""Ranges of the exact metric from a printed table of sampled metrics."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import pandas as pd

from sampledash.analyses import memory
from sampledash.analyses.estimate.result import DATA, FALLING, Result, Row, narrowed, ranges
from sampledash.comparison.means import expected_mean
from sampledash.estimation import bounds as allowed
from sampledash.estimation.linear_programme import Shape
from sampledash.estimation.table_estimates import TableEstimate, estimate_from_table
from sampledash.metrics import Metric
from sampledash.readers import printed_table as readers
from sampledash.readers.files import example
from sampledash.report import estimates as words
from sampledash.report.escape import system_name
from sampledash.report.sentences import cutoff_holds_all
from sampledash.sampling import Sampling
from sampledash.schemes import Scheme
from sampledash.types import Progress

MOST_PRINTED = 20  # largest number of systems that a printed table may have
PRINTED = ("HR@1", "HR@5", "HR@10", "NDCG@10")  # metrics in the example of a printed table


@memory.once
def example_table() -> str:
    """Return, as text, a printed table: the expected sampled metrics of the systems X, Y and Z."""
    lines = [", ".join(["system", *PRINTED])]
    for ranks in example(DATA):
        drawn: Any = {"m": 100, "scheme": "without-replacement"}
        values = [f"{expected_mean(name, ranks, **drawn):.4f}" for name in PRINTED]
        lines.append(", ".join([ranks.system, *values]))
    return "\n".join(lines)


def read_tables(text: str) -> list[readers.PrintedTable]:
    """Read printed tables; raise ValueError if a table has too many systems."""
    tables = readers.read_tables(text)
    for table in tables:
        which = f"the table {table.title!r}" if table.title else "the table"
        if len(table.rows) > MOST_PRINTED:
            size = f"{len(table.rows)} systems, more than {MOST_PRINTED}"
            raise ValueError(f"{which} has {size}: keep those that are compared")
    return tables


def sampling_of(n: int, m: int, scheme: Scheme, *, corpus: bool) -> Sampling:
    """Return how the negatives behind a printed table were drawn.

    If ``corpus``, the m negatives are all candidates of a test except the relevant item, and the
    candidates are a sample of a corpus of n items. Raise ValueError if the corpus has fewer items
    than there are candidates.
    """
    if corpus and n <= m:
        small = f"n = {n} is smaller than the {m + 1} candidates of the test"
        raise ValueError(f"{small}: give the size of the whole corpus")
    return Sampling(n, m, scheme)


class TableQuestion(NamedTuple):
    """The settings on which all results for a printed table depend."""

    table: readers.PrintedTable
    metric: Metric
    sampling: Sampling
    instances: int
    corpus: bool = False  # whether the table is of a test on a sample of a larger corpus

    def span(self, i: int, j: int, shape: Shape | None) -> Any:
        """Return the range of the metric's difference between the systems in rows i and j.

        If i = j, return the range of the metric of the system in row i. A ``shape`` is an
        assumption on the distribution of true ranks, such as "non-increasing". Return None if a row
        of the table contradicts this assumption.
        """
        if i != j:
            spans = [self.span(place, place, shape) for place in (i, j)]
            return None if None in spans else allowed.difference(spans)
        row, s = self.table.rows[i], self.sampling

        def make() -> allowed.Range:
            given: Any = (self.metric, row.values, s.n, s.m, row.decimals, None, shape, s.scheme)
            try:
                return allowed.bounds_from_table(*given, instances=self.instances or None)
            except ValueError as error:
                why = str(error).removeprefix("observed ")
                raise ValueError(f"{row.system}: {why}") from None

        key = ("table", self.metric, repr(row), shape, s, self.instances)
        span = memory.cached(key, partial(allowed.unless_contradicted, shape, make), shared=False)
        # ``span`` is the range of a metric under the assumption ``shape``. With few instances, it
        # can reach beyond the range without an assumption. Then the part beyond is cut off.
        return span if shape is None or span is None else narrowed(span, self.span(i, i, None))

    def point(self, i: int) -> TableEstimate:
        """Return the estimate of the exact metric of the system in row i."""
        row, s = self.table.rows[i], self.sampling
        given: Any = (self.metric, row.values, s.n, s.m, row.decimals, s.scheme)
        key = ("point", self.metric, repr(row), s, self.instances)
        estimate = partial(estimate_from_table, *given, instances=self.instances or None)
        return memory.cached(key, estimate, shared=False)


def compute_table(
    q: TableQuestion, report: Progress, name: Callable[[str], str] = system_name
) -> Result[TableQuestion]:
    """Return the result for a printed table; ``name`` formats names of systems in its sentence."""
    metric, s = q.metric, q.sampling
    rows, pairs = ranges(q.span, [row.system for row in q.table.rows], report)
    notes = [words.say.corpus((s.m, s.m), s.n)] * q.corpus
    notes += [*q.table.notes, *cutoff_holds_all(metric, s.n, s.m)]
    notes += [words.say.contradicts(row.name) for row in rows if row.falling is None]
    points = [q.point(i) for i in range(len(rows))]
    for i, x in enumerate(points):
        if x.contradiction:
            notes.append(words.say.not_fitted(rows[i].name, x.contradiction))
        else:
            rows[i] = rows[i]._replace(value=x.value, interval=(x.low, x.high))
    free, falling = [row.free for row in rows], [row.falling for row in rows]
    sure, likely = allowed.ahead(free), allowed.ahead(falling)
    best = likely if sure is None else sure
    word = "cannot tell" if best is None else "if falling" if sure is None else "decided"
    first = None if best is None else name(rows[best].name)
    sentence = words.say.table_sentence(str(metric), word, first, q.corpus)
    if not pairs:
        sentence = words.alone(str(metric), name(rows[0].name), rows[0].free)
    legend = words.say.printed(q.instances, s, q.corpus)
    if any(row.value is not None for row in rows):
        legend += f" {words.say.fitted(points[0].family)}"
    return Result(q, tuple(rows), tuple(pairs), tuple(notes), word, sentence, legend)


def bounds(result: Result[TableQuestion]) -> pd.DataFrame:
    """Return a table of ranges and estimates of the exact metric.

    Each system, and the difference of each pair of systems, has two rows: the range without an
    assumption, and the range if no rank is rarer than the next worse rank (column ``shape``). A
    system has a third row, for its estimate. A range is None if it needs an assumption that the
    printed numbers contradict.
    """
    q, s = result.question, result.question.sampling
    known = {"n": s.n, "m": s.m, "scheme": s.scheme, "instances": q.instances or None}
    spans: list[tuple[Row, str, allowed.Range | None, float | None]] = [
        (row, shape, span, None)
        for row in (*result.rows, *result.pairs)
        for shape, span in (("any", row.free), (FALLING, row.falling))
    ]
    spans += [(row, q.point(0).family, row.interval, row.value) for row in result.rows]
    rows = []
    for row, shape, span, estimate in spans:
        low, high = span or (None, None)
        facts = {"system": row.name, "minus": row.other, "metric": str(q.metric), **known}
        rows.append({**facts, "shape": shape, "low": low, "high": high, "estimate": estimate})
    return pd.DataFrame(rows)
