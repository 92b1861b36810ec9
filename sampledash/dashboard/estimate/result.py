"""What sampled ranks, or a printed table, tell of the exact metric: values, ranges, pairs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from sampledash.comparison.means import expected_mean, mean
from sampledash.correction import correction
from sampledash.dashboard import cache
from sampledash.dashboard.estimate import words
from sampledash.dashboard.words import outside, repeated
from sampledash.estimation import (
    bounds_from_table,
    compare,
    fitted,
    fitted_side_by_side,
    gamma_table,
    interval,
    point,
)
from sampledash.metrics import Metric
from sampledash.ranksets import RankSet
from sampledash.readers import PrintedRow, PrintedTable, example, read_printed
from sampledash.sampledranks import SampledRankSet
from sampledash.sampling import Sampling
from sampledash.types import Floats, Ints, Progress

Range = tuple[float, float]
T = TypeVar("T")

# As shown -> as the core names it; BV takes the γ of the sidebar.
TOGETHER, SHAPED = "side by side", "shape-constrained MLE"
METHODS = {
    TOGETHER: TOGETHER,
    SHAPED: "monotone-mle",
    "MLE": "mle",
    "MES": "mes",
    "BV-MLE": "bv-mle",
    "BV-MES": "bv-mes",
    "MN": "mn",
    "BV": "BV",
    "CLS": "CLS",
    "rank estimate": "rank estimate",
    "uncorrected": "uncorrected",
}
PLAINER = (TOGETHER, SHAPED, "MLE")  # each assumes less than the one before
FALLING = "non-increasing"
MOST_PRINTED = 20  # systems of a table
MOST_CANDIDATES = 10**6  # of a picture of true ranks
PRINTED = ("HR@1", "HR@5", "HR@10", "NDCG@10")  # of the example
DATA = "movielens-xyz"


@dataclass(frozen=True)
class Sampled:
    """Sampled ranks to estimate from, one set per system.

    Attributes
    ----------
    bundled
        Whether results may serve other sessions.
    true
        The true ranks behind them, where they are known.
    whole
        All systems that were given, where these are some of them.
    """

    sets: tuple[SampledRankSet, ...]
    bundled: bool = False
    true: tuple[RankSet, ...] = ()
    whole: tuple[SampledRankSet, ...] = ()


class Row(NamedTuple):
    """What is known of the exact metric of one system, or of the difference of two.

    Attributes
    ----------
    name, other
        The system, and the one that is subtracted; none for a system alone.
    free
        Range without an assumption.
    falling
        Range if no rank is more frequent than a better one; None if that contradicts the data.
    value
        The estimate, where there is one.
    exact
        The exact metric, where it is known.
    """

    name: str
    other: str
    free: Range
    falling: Range | None
    value: float | None = None
    exact: float | None = None


@dataclass(frozen=True)
class Question:
    """Everything that is shown of sampled ranks depends on this."""

    source: Sampled
    metric: Metric
    method: str
    gamma: float

    @property
    def sets(self) -> tuple[SampledRankSet, ...]:
        """The sampled ranks."""
        return self.source.sets

    @property
    def adaptive(self) -> bool:
        """Whether what was drawn decided m, of some system."""
        return any(one.is_adaptive for one in self.sets)

    def value(self, place: int, method: str) -> float:
        """Estimate of one system by one of :data:`METHODS`."""
        one, name = self.sets[place], METHODS[method]
        if name == TOGETHER:  # from one distribution, learned from all systems together
            return self.cached((name, self.sets), self._side_by_side)[place]
        if name != "BV":
            return self.cached((name, one), lambda: point(self.metric, one, name))
        recipe = correction("bias-variance", gamma=self.gamma)
        return self.cached((recipe, one), lambda: point(self.metric, one, recipe))

    def _side_by_side(self) -> list[float]:
        return [float(each.expected(self.metric)) for each in fitted_side_by_side(self.sets)]

    def free(self, i: int, j: int) -> Range:
        """What one system's samples allow, or those of two of their difference."""
        return self.cached(("free", self.sets[i], self.sets[j]), lambda: self._span(i, j, None))

    def falling(self, i: int, j: int) -> Range | None:
        """The same if no rank is more frequent than a better one.

        None if they contradict it, or if what was drawn decided m.
        """
        if self.sets[i].is_adaptive or self.sets[j].is_adaptive:
            return None

        def make() -> Range | None:
            try:
                return self._span(i, j, FALLING)
            except ValueError:
                return None

        return self.cached(("falling", self.sets[i], self.sets[j]), make)

    def _span(self, i: int, j: int, shape: Any) -> Range:
        if i == j:
            return interval(self.metric, self.sets[i], shape=shape)
        told = compare(self.metric, self.sets[i], self.sets[j], shape)
        return told.low, told.high

    def gammas(self, one: SampledRankSet) -> pd.DataFrame:
        """What γ costs the mean over as many instances as this system has."""
        sampling = one.sampling(one.draws[-1].m)
        return self.cached(
            ("gammas", one),
            lambda: gamma_table(
                self.metric, sampling, one.n_instances, fitted(one, "monotone-mle")
            ),
        )

    def shares_below(self, grid: Ints) -> dict[str, Floats]:
        """Estimated share of relevant items up to each true rank, by system."""
        if (n := max(one.population for one in self.sets)) > MOST_CANDIDATES:
            raise ValueError(f"n = {n} is too large to draw: take n <= {MOST_CANDIDATES}")

        def make() -> dict[str, Floats]:
            found = {}
            for one in self.sets:
                shares = np.cumsum(fitted(one, "monotone-mle").probabilities())
                found[one.system] = shares[np.minimum(grid, len(shares)) - 1]
            return found

        return self.cached(("below", self.sets), make)

    def cached(self, name: tuple[object, ...], make: Callable[[], T]) -> T:
        """A result about this metric, kept.

        All of one source and metric are one entry of the cache: eight systems have more results
        than the cache has entries, and with one entry each they would push one another out.
        """
        key = ("estimate", self.metric, self.source.whole or self.sets)
        held: dict[tuple[object, ...], Any] = cache.cached(key, dict, shared=self.source.bundled)
        if name not in held:
            held[name] = make()
        found: T = held[name]
        return found


@dataclass(frozen=True)
class Result(ABC):
    """What is shown: systems, their pairs, and what to know."""

    metric: Metric
    rows: tuple[Row, ...]
    pairs: tuple[Row, ...]
    notes: tuple[str, ...]

    @property
    @abstractmethod
    def word(self) -> str:
        """The verdict."""

    @property
    @abstractmethod
    def legend(self) -> str:
        """What the bars are."""

    @abstractmethod
    def sentence(self, names: Sequence[str]) -> str:
        """The page in one sentence, with the systems called so."""


@dataclass(frozen=True)
class SampledResult(Result):
    """The same of sampled ranks, with estimates by one of :data:`METHODS`."""

    question: Question
    method: str

    @property
    def decided(self) -> int:
        """Pairs decided without an assumption."""
        return sum(decides(pair.free) for pair in self.pairs)

    @property
    def decided_if_falling(self) -> int:
        """Pairs decided if no rank is more frequent than a better one."""
        return sum(decides(pair.falling) for pair in self.pairs)

    @property
    def word(self) -> str:
        """Whether all pairs are decided."""
        return words.verdict(self.decided, self.decided_if_falling, len(self.pairs))

    @property
    def methods(self) -> list[str]:
        """Estimators that are valid and differ for these systems."""
        offered = PLAINER if self.question.adaptive else METHODS
        return [name for name in offered if len(self.rows) > 1 or name != TOGETHER]

    @property
    def legend(self) -> str:
        """What the marks are too."""
        bars = words.LEGEND if any(row.falling for row in self.rows) else words.WIDE
        return bars + words.DOT + (words.TICK if self.rows[0].exact is not None else "")

    def sentence(self, names: Sequence[str]) -> str:
        """The order, or what is estimated."""
        values = [row.value or 0.0 for row in self.rows]
        return words.sentence(
            str(self.metric), self.word, names, values, self.method, self.rows[0].free
        )


@dataclass(frozen=True)
class TableResult(Result):
    """The same of a printed table, over so many instances (0: not known)."""

    sampling: Sampling
    instances: int

    @property
    def word(self) -> str:
        """Whether it is decided which system is best."""
        if self._ahead("free") is not None:
            return "decided"
        return "cannot tell" if self._ahead("falling") is None else "if falling"

    @property
    def legend(self) -> str:
        """What the bars hold."""
        return words.printed(self.instances, self.sampling)

    def sentence(self, names: Sequence[str]) -> str:
        """Which system is best."""
        metric = str(self.metric)
        if not self.pairs:
            return words.alone(metric, names[0], self.rows[0].free)
        best = self._ahead("falling" if self._ahead("free") is None else "free")
        return words.table_sentence(metric, self.word, None if best is None else names[best])

    def _ahead(self, column: str) -> int | None:
        """Place of the system whose range lies above all others, if all are known."""
        known: list[Range | None] = [getattr(row, column) for row in self.rows]
        spans = [span for span in known if span is not None]
        if len(spans) < max(2, len(known)):
            return None
        first = max(range(len(spans)), key=lambda i: spans[i][0])
        ahead = all(spans[first][0] > span[1] for i, span in enumerate(spans) if i != first)
        return first if ahead else None


def decides(span: Range | None) -> bool:
    """Whether 0 is outside."""
    return span is not None and (span[0] > 0 or span[1] < 0)


def compute(q: Question, report: Progress) -> SampledResult:
    """What sampled ranks tell; results come from the cache where they are there."""
    sets, size = q.sets, len(q.sets)
    total = size * (size + 1) // 2
    notes = [*_cutoff(q), *_unlike(q), *_repeated(q)]
    spans: dict[tuple[int, int], tuple[Range, Range | None]] = {}
    for i in range(size):
        for j in range(i, size):
            free = q.free(i, j)
            report((len(spans) + 0.5) / total)
            spans[i, j] = free, q.falling(i, j)
            report(len(spans) / total)
        if spans[i, i][1] is None and not sets[i].is_adaptive:
            notes.append(words.contradicts(sets[i].system))
    method, why = _allowed_method(q, [spans[i, i] for i in range(size)])
    if method != q.method and (size > 1 or method != SHAPED):
        notes.append(words.instead(q.method, method, why))
    values = [q.value(i, method) for i in range(size)]
    named = {one.system: [value] for one, value in zip(sets, values, strict=True)}
    notes += outside(named, method)
    exact: list[Any] = [mean(q.metric, ranks) for ranks in q.source.true] or [None] * size
    rows = [Row(one.system, "", *spans[i, i], values[i], exact[i]) for i, one in enumerate(sets)]
    pairs = [
        Row(sets[i].system, sets[j].system, *spans[i, j]) for i, j in combinations(range(size), 2)
    ]
    return SampledResult(q.metric, tuple(rows), tuple(pairs), tuple(notes), q, method)


def _allowed_method(
    q: Question, spans: Sequence[tuple[Range, Range | None]]
) -> tuple[str, words.Reason]:
    """The estimator asked for or, where it assumes too much, a plainer one; and why."""
    why: words.Reason = "range"
    method, plainest = q.method, PLAINER[-1]
    if method not in PLAINER:
        if not q.adaptive:
            return method, why
        method, why = PLAINER[0], "adaptive"
    elif any(
        falling is None and not one.is_adaptive
        for one, (_, falling) in zip(q.sets, spans, strict=True)
    ):
        return plainest, "contradicted"
    n = [one.population for one in q.sets]
    plainer = list(PLAINER[PLAINER.index(method) : -1])
    if TOGETHER in plainer and (len(n) == 1 or max(n) > 1.1 * min(n)):
        plainer.remove(TOGETHER)
        why = "n" if why == "range" else why
    off = 1e-9  # of rounding, where a range is a single value
    for method in plainer:
        values = [q.value(i, method) for i in range(len(spans))]
        ranges = [free if falling is None else falling for free, falling in spans]
        inside = zip(values, ranges, strict=True)
        if all(low - off <= value <= high + off for value, (low, high) in inside):
            return method, why
    return plainest, why if why == "adaptive" else "range"


def _cutoff(q: Question) -> Iterable[str]:
    """What to know where the cutoff holds all candidates, of every system or of one."""
    least = min(q.sets, key=lambda one: one.population)
    m = max(draws.m for draws in least.draws)
    if said := words.cutoff_holds_all(q.metric, least.population, m):
        alone = any(one.population != least.population for one in q.sets)
        yield f"{least.system}: {said}" if alone else said


def _unlike(q: Question) -> list[str]:
    """What to know where candidates or negatives differ between systems, not only within them."""
    m = {one.system: round(float(np.average(one.m, weights=one.counts))) for one in q.sets}
    return words.unlike(str(q.metric), {one.system: one.population for one in q.sets}, m)


def _repeated(q: Question) -> list[str]:
    """What to know where an instance has several sampled ranks."""
    for one in q.sets:
        if one.instances is not None and len(np.unique(one.instances)) < len(one):
            return [repeated(len(one), len(np.unique(one.instances)))]
    return []


def estimates(result: SampledResult) -> pd.DataFrame:
    """Every estimate of every system; the exact value where it is known."""
    q, rows = result.question, []
    for i, row in enumerate(result.rows):
        values = {name: q.value(i, name) for name in result.methods}
        low, high = row.falling or (None, None)
        beyond = " ".join(outside({x: [y] for x, y in values.items()}))
        rows.append(
            {"metric": str(q.metric), "system": row.name, **_drawn(q.sets[i]), **values}
            | {"exact": row.exact, "low": row.free[0], "high": row.free[1]}
            | {"low if falling": low, "high if falling": high, "outside 0 to 100 %": beyond}
        )
    return pd.DataFrame(rows)


def pair_ranges(result: SampledResult) -> pd.DataFrame:
    """The range of each pair's difference, without and with the assumption."""
    drawn = {one.system: one for one in result.question.sets}
    return pd.DataFrame(
        {"first": pair.name, "second": pair.other, "assumption": name, "low": span[0]}
        | {"high": span[1], **_drawn(drawn[pair.name], drawn[pair.other])}
        | {"metric": str(result.metric)}
        for pair in result.pairs
        for name, span in (("none", pair.free), ("ranks fall off", pair.falling))
        if span is not None
    )


def _drawn(*sets: SampledRankSet) -> dict[str, Any]:
    """How these were sampled, for a table that is taken away."""

    def listed(sizes: set[int]) -> int | str:
        return sizes.pop() if len(sizes) == 1 else ", ".join(map(str, sorted(sizes)))

    n, m = {one.population for one in sets}, {draws.m for one in sets for draws in one.draws}
    adaptive = any(one.is_adaptive for one in sets)
    return {"n": listed(n), "m": listed(m), "scheme": sets[0].scheme, "adaptive": adaptive}


def example_table() -> str:
    """Sampled metrics of X, Y, Z as a paper would print them."""
    lines = [", ".join(["system", *PRINTED])]
    for ranks in example(DATA):
        values = [
            expected_mean(name.replace("HR", "Recall"), ranks, 100, scheme="without-replacement")
            for name in PRINTED
        ]
        lines.append(", ".join([ranks.system, *(f"{value:.4f}" for value in values)]))
    return "\n".join(lines)


def read_table(text: str) -> PrintedTable:
    """A printed table; a ValueError if it has too many systems, or one without a value."""
    found = read_printed(text)
    if len(found.rows) > MOST_PRINTED:
        raise ValueError(
            f"the table has {len(found.rows)} systems, more than {MOST_PRINTED}: keep those that "
            "are compared"
        )
    if bare := [one.system for one in found.rows if not one.values]:
        raise ValueError(
            f"the table gives no value for {bare[0]!r}: give it at least one, or remove its line"
        )
    return found


class TableQuestion(NamedTuple):
    """Everything that is shown of a printed table depends on this."""

    table: PrintedTable
    metric: Metric
    sampling: Sampling
    instances: int


def compute_table(q: TableQuestion, report: Progress) -> TableResult:
    """Bounds of every system, and with them of every pair: nothing ties one to the other."""
    table, metric, s, instances = q.table.rows, *q[1:]
    note = words.cutoff_holds_all(metric, s.n, s.m)
    notes = [*q.table.notes, *([note] if note else [])]
    rows: list[Row] = []

    def span(one: PrintedRow, shape: Any) -> Range:
        return cache.cached(
            ("table", metric, repr(one), shape, s, instances),
            lambda: bounds_from_table(
                metric,
                one.values,
                s.n,
                s.m,
                one.decimals,
                shape=shape,
                scheme=s.scheme,
                instances=instances or None,
            ),
            shared=False,
        )

    for one in table:
        try:
            free, falling = span(one, None), None
        except ValueError as error:
            raise ValueError(f"{one.system}: {str(error).removeprefix('observed ')}") from None
        report((len(rows) + 0.5) / len(table))
        try:
            falling = span(one, FALLING)
        except ValueError:
            notes.append(words.contradicts(one.system))
        rows.append(Row(one.system, "", free, falling))
        report(len(rows) / len(table))
    pairs = []
    for a, b in combinations(rows, 2):
        falling = a.falling and b.falling and _minus(a.falling, b.falling)
        pairs.append(Row(a.name, b.name, _minus(a.free, b.free), falling))
    return TableResult(metric, tuple(rows), tuple(pairs), tuple(notes), s, instances)


def _minus(a: Range, b: Range) -> Range:
    return a[0] - b[1], a[1] - b[0]


def bounds(result: TableResult) -> pd.DataFrame:
    """Every range with all that it follows from; none where the shape contradicts the table."""
    s = result.sampling
    known = {"n": s.n, "m": s.m, "scheme": s.scheme, "instances": result.instances or None}
    rows: list[dict[str, Any]] = []
    for row in (*result.rows, *result.pairs):
        for shape, span in (("any", row.free), (FALLING, row.falling)):
            low, high = span or (None, None)
            rows.append(
                {"system": row.name, "minus": row.other, "metric": str(result.metric), **known}
                | {"shape": shape, "low": low, "high": high}
            )
    return pd.DataFrame(rows)
