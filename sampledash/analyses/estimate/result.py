"""Estimates and ranges of the exact metric from sampled ranks."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import combinations_with_replacement
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
import pandas as pd

from sampledash.analyses import memory
from sampledash.comparison.means import mean
from sampledash.correction import USABLE, Correction, usable
from sampledash.estimation import bounds as allowed
from sampledash.estimation import rank_distribution as laws
from sampledash.estimation.bounds import Range
from sampledash.estimation.estimate import METHODS as estimators
from sampledash.estimation.estimate import point
from sampledash.estimation.linear_programme import Shape
from sampledash.estimation.rank_distribution import LEARNED, SHAPED
from sampledash.estimation.stopping_range import stopping_range
from sampledash.estimation.vectors import gamma_table
from sampledash.grids import rank_grid
from sampledash.metrics import Metric
from sampledash.rank_sets import RankSet
from sampledash.report import estimates as words
from sampledash.report.escape import system_name
from sampledash.report.sentences import cutoff_holds_all, outside, ranking
from sampledash.rows import Live
from sampledash.sampled_rank_sets import READINGS, SampledRankSet
from sampledash.types import Floats, Ints, Progress

Q = TypeVar("Q")
T = TypeVar("T")

TOGETHER = "side by side"
FALLING: Shape = "non-increasing"
MOST_CANDIDATES = 10**6  # largest number of candidates for a picture whose x axis is the rank
DATA = "movielens-xyz"
_ROUNDING = 1e-9  # tolerance for rounding errors when values are compared with ends of ranges


def plainer() -> list[str]:
    """Return the estimators that are valid even if m depends on the drawn negatives.

    m is the number of negatives of an instance. Estimators with the strongest assumptions come
    first.
    """
    rows = sorted(LEARNED.values(), key=lambda row: not row.stepped)
    return [TOGETHER, *(row.label for row in rows if row.cancels)]


def _methods() -> dict[str, None]:
    learned = [row.label for row in estimators.values() if row.label]
    return dict.fromkeys((*plainer(), *learned, *reversed(list(USABLE))))


METHODS = Live(_methods)


class Row(NamedTuple):
    """What is known about the exact metric of a system, or about the difference of two systems."""

    name: str
    other: str  # for a difference: the system that is subtracted; "" for a single system
    free: Range  # range of the exact metric that the samples allow, without any assumption
    # Range of exact values under the assumption that no rank is rarer than the next worse rank.
    # None if the samples contradict this, or if the number of negatives may depend on the draws.
    falling: Range | None
    # Estimate of the exact value. For sampled ranks, it is the mean of all ``readings`` below.
    value: float | None = None
    exact: float | None = None
    # For a printed table: range of the estimate, because printed values are rounded and random.
    interval: Range | None = None
    # Estimates of the exact value. There is a single estimate or, if it is unknown how the number
    # of negatives m was set, two: for m set beforehand, and for m that depends on the draws.
    readings: tuple[float, ...] = ()


def narrowed(span: Range, other: Range) -> Range:
    """Return the part of the range ``span`` inside the range ``other``; ``span`` if disjoint."""
    low = other[0] if other[0] > span[0] + _ROUNDING else span[0]
    high = other[1] if other[1] < span[1] - _ROUNDING else span[1]
    return (low, high) if low <= high else span


@dataclass(frozen=True)
class Question:
    """The settings on which all results for sampled ranks depend."""

    sets: tuple[SampledRankSet, ...]  # one per system
    metric: Metric
    method: str
    gamma: float
    true: tuple[RankSet, ...] = ()  # the true ranks, known for bundled data only
    #: Whether items were ranked among all candidates of a test, which are a sample of a larger
    #: corpus, instead of among sampled negatives.
    corpus: bool = False

    @property
    def adaptive(self) -> bool:
        """Whether m, for at least one system, may depend on the drawn negatives."""
        return any(ranks.readings[-1].adaptive for ranks in self.sets)

    @property
    def readings(self) -> tuple[Question, ...]:
        """Copies of these settings, one for each way in which m may have been set (``READINGS``).

        The number of negatives m was set beforehand, or it depended on the drawn negatives.
        """
        if all(len(ranks.readings) == 1 for ranks in self.sets):
            return (self,)
        places = range(len(READINGS))
        every = [tuple(x.readings[i % len(x.readings)] for x in self.sets) for i in places]
        return tuple(replace(self, sets=sets) for sets in every)

    @property
    def methods(self) -> list[str]:
        """Names of the estimators that are valid for these ranks.

        The estimator ``TOGETHER`` learns the rank distributions of all systems at once, so it needs
        several systems. It is left out if a single rank distribution cannot represent all instances
        of a system (``laws.obstacle`` gives the reason).
        """
        offered = plainer() if self.adaptive else METHODS
        together = len(self.sets) > 1 and not any(laws.obstacle(q.sets) for q in self.readings)
        return [name for name in offered if together or name != TOGETHER]

    def values(self, place: int, method: str) -> list[float]:
        """Return estimates of the exact metric of the system with index ``place``.

        There is an estimate for each way in which m, the number of negatives, may have been set
        (:attr:`readings`).
        """
        return [question._value(place, method) for question in self.readings]

    def _value(self, place: int, method: str) -> float:
        ranks = self.sets[place]
        if method == TOGETHER:  # this estimator learns the distributions of all systems at once
            fits = self.cached((method, self.sets), lambda: laws.fitted_side_by_side(self.sets))
            return float(fits[place].expected(self.metric))
        asked: Correction | str = usable(method, self.gamma) if method in USABLE else method
        return self.cached((asked, ranks), lambda: point(self.metric, ranks, asked))

    def span(self, i: int, j: int, shape: Shape | None) -> Any:
        """Return the range of the exact metric's difference between the systems i and j.

        If i = j, return the range of the exact metric of system i. A ``shape`` is an assumption on
        the distribution of true ranks, such as "non-increasing". With a shape, return None if the
        samples contradict it, or if m may depend on the drawn negatives.
        """
        ranks, other = self.sets[i], self.sets[j]

        def make() -> Range:
            versus = None if i == j else other
            return allowed.confidence_range(self.metric, ranks, versus, shape, 0.95)

        if shape is not None and (ranks.readings[-1].adaptive or other.readings[-1].adaptive):
            return None
        span = self.cached((shape, ranks, other), lambda: allowed.unless_contradicted(shape, make))
        # With few ranks, the range under the assumption ``shape`` can reach beyond the range
        # without an assumption. Then the part beyond is cut off.
        return span if shape is None or span is None else narrowed(span, self.span(i, j, None))

    def gammas(self, ranks: SampledRankSet) -> pd.DataFrame:
        """Return a table of bias and variance of the corrected metric, a row per γ.

        γ is the weight of the variance in the bias-variance correction.
        """
        of = self.metric, ranks.outcomes.samplings[-1], ranks.n_instances
        method = self.learned_by(ranks)
        return self.cached(("gammas", ranks), lambda: gamma_table(*of, laws.fitted(ranks, method)))

    def learned_by(self, ranks: SampledRankSet) -> laws.DistributionMethod:
        """Return the name of the method by which the rank distribution of a system is learned.

        The method ``SHAPED`` assumes that no rank is rarer than the next worse rank. It is replaced
        by maximum likelihood without an assumption, "mle", if the samples contradict this.
        """
        i = self.sets.index(ranks)
        return SHAPED if self.adaptive or self.span(i, i, FALLING) else "mle"

    def shares_below(self) -> tuple[Ints, dict[str, Floats]]:
        """Return true ranks, and each system's estimated cumulative distribution at these ranks.

        Raise ValueError if there are too many candidates for a picture.
        """
        if (n := max(x.n for ranks in self.sets for x in ranks.strata)) > MOST_CANDIDATES:
            raise ValueError(f"n = {n} is too large to draw: take n <= {MOST_CANDIDATES}")
        grid = rank_grid(n)

        def below(ranks: SampledRankSet) -> Floats:
            shares = np.cumsum(laws.rank_distribution(ranks, self.learned_by(ranks)))
            return np.asarray(shares[np.minimum(grid, len(shares)) - 1])

        shares = {x.system: self.cached(("below", x, n), partial(below, x)) for x in self.sets}
        return grid, shares

    def price(self, ranks: SampledRankSet) -> tuple[Range, Range]:
        """Return ranges of the cost of the exact metric: the mean number of scores per instance.

        An instance needs no further scores once its metric is known. The first range is for these
        instances, the second for infinitely many instances.
        """

        def make() -> tuple[Range, Range]:
            for_these, more = (stopping_range(self.metric, ranks, x) for x in (None, np.inf))
            return for_these, more

        return self.cached(("price", ranks), make)

    def cached(self, name: tuple[Hashable, ...], make: Callable[[], T]) -> T:
        """Return a result for this metric from the cache, or compute it by ``make`` if missing."""
        return memory.cached(("estimate", self.metric, *name), make, shared=bool(self.true))


@dataclass(frozen=True)
class Result(Generic[Q]):
    """Results of the page "Correct" for sampled ranks or for a printed table.

    Each entry of ``rows`` is a system, and each entry of ``pairs`` is a pair of systems.
    """

    question: Q
    rows: tuple[Row, ...]
    pairs: tuple[Row, ...]
    notes: tuple[str, ...]
    word: str
    sentence: str
    legend: str
    method: str = ""  # the estimator used: the chosen one, or one with weaker assumptions


def ranges(
    span: Callable[[int, int, Shape | None], Any], names: Sequence[str], report: Progress
) -> tuple[list[Row], list[Row]]:
    """Return rows with ranges: of each system's metric, and of each pair of systems' difference.

    ``span(i, j, shape)`` returns the range of system i's metric if i = j, otherwise of the
    difference between the systems i and j. ``shape`` is an assumption on the true ranks, or None.
    """
    places = list(combinations_with_replacement(range(len(names)), 2))
    rows, pairs = list[Row](), list[Row]()
    for done, (i, j) in enumerate(places):
        spans = []
        for half, shape in enumerate((None, FALLING), 1):
            spans.append(span(i, j, shape))
            report((done + half / 2) / len(places))
        other, of = ("", rows) if i == j else (names[j], pairs)
        of.append(Row(names[i], other, *spans))
    return rows, pairs


def compute(
    q: Question, report: Progress, name: Callable[[str], str] = system_name
) -> Result[Question]:
    """Return the result for the sampled ranks in ``q``.

    ``name`` formats the names of systems in the result's ``sentence``.
    """
    names = [ranks.system for ranks in q.sets]
    rows, pairs = ranges(q.span, names, report)
    both = zip(q.sets, rows, strict=True)
    against = [row.name for x, row in both if not (row.falling or x.readings[-1].adaptive)]
    drawn = [m for ranks in q.sets for m in ranks.outcomes.m]
    notes = [words.say.corpus((min(drawn), max(drawn)), q.sets[0].population)] * q.corpus
    notes += [*_to_know(q), *map(words.say.contradicts, against)]
    method, why = _allowed_method(q, rows, contradicted=bool(against))
    if method != q.method and (len(names) > 1 or method != LEARNED[SHAPED].label):
        notes.append(words.say.instead(q.method, method, why))
    of_readings = [q.values(i, method) for i in range(len(names))]
    values = [float(np.mean(both)) for both in of_readings]
    if len(q.readings) > 1:
        notes.append(words.by_reading(dict(zip(names, of_readings, strict=True)), method))
    notes += outside({name: [value] for name, value in zip(names, values, strict=True)}, method)
    exact: list[Any] = [mean(q.metric, ranks) for ranks in q.true] or [None] * len(names)
    known = zip(rows, values, exact, map(tuple, of_readings), strict=True)
    rows = [row._replace(value=x, exact=on_all, readings=both) for row, x, on_all, both in known]
    word = words.told_apart([pair.free for pair in pairs], [pair.falling for pair in pairs])
    spans = [pair.falling if word == "if falling" and pair.falling else pair.free for pair in pairs]
    shown = list(map(name, names))
    order, estimated = (ranking(shown, x) for x in (words.wins(spans, len(names)), values))
    sentence = words.say.sentence(str(q.metric), word, order, estimated, len(names), method)
    if not pairs:
        sentence = words.alone(str(q.metric), shown[0], rows[0].free, sampled=True)
        sentence += f" {words.say.estimated(method, values[0])}"
    legend = words.say.legend(any(row.falling for row in rows), q.true)
    return Result(q, tuple(rows), tuple(pairs), tuple(notes), word, sentence, legend, method)


def _allowed_method(
    q: Question, rows: Sequence[Row], *, contradicted: bool
) -> tuple[str, words.Reason]:
    """Return the estimator to use, and the reason if it is not the chosen one, ``q.method``.

    If the chosen estimator is not valid for the samples, an estimator that assumes less is used.
    """
    method, order = q.method, plainer()
    plainest = order[-1]
    why: words.Reason = "range"
    if method not in order:
        if not q.adaptive:
            return method, why
        method, why = order[0], "adaptive"
    elif contradicted:
        return plainest, "contradicted"
    n = [ranks.population for ranks in q.sets]
    rest = order[order.index(method) : -1]
    if TOGETHER in rest and (TOGETHER not in q.methods or max(n) > 1.1 * min(n)):
        rest.remove(TOGETHER)
        reason: words.Reason = "n" if max(n) > 1.1 * min(n) or len(n) == 1 else "m"
        why = reason if why == "range" else why
    for method in rest:
        ranges = [row.free if row.falling is None else row.falling for row in rows]
        inside = ((q.values(i, method), *span) for i, span in enumerate(ranges))
        if all(
            low - _ROUNDING <= x <= high + _ROUNDING for values, low, high in inside for x in values
        ):
            return method, why
    return plainest, why if why == "adaptive" else "range"


def _to_know(q: Question) -> Iterator[str]:
    """Yield notes for the user of the page, such as that systems differ in n (candidates)."""
    sizes = {ranks.system: ranks.population for ranks in q.sets}
    least = min(q.sets, key=lambda ranks: ranks.population)
    for sentence in cutoff_holds_all(q.metric, least.population, least.outcomes.m[-1]):
        yield f"{least.system}: {sentence}" if len(set(sizes.values())) > 1 else sentence
    drawn = {x.system: round(float(np.average(x.m, weights=x.counts))) for x in q.sets}
    yield from words.unlike(str(q.metric), sizes, drawn)
    if any(ranks.mean_rank and ranks.ties.any() for ranks in q.sets):
        yield words.say.mean_rank()
    for ranks in q.sets:
        if ranks.instances is not None and len(np.unique(ranks.instances)) < len(ranks):
            yield words.say.repeated(ranks.system, len(ranks), len(np.unique(ranks.instances)))
            return


def estimates(result: Result[Question]) -> pd.DataFrame:
    """Return a table with a row per system: every valid estimate and, if known, the exact value."""
    q, rows = result.question, []
    for i, row in enumerate(result.rows):
        values = {label: ask._value(i, name) for label, (ask, name) in offered(q).items()}
        low, high = row.falling or (None, None)
        beyond = " ".join(outside({x: [y] for x, y in values.items()}))
        rows.append(
            {"metric": str(q.metric), "system": row.name, **_drawn(q.sets[i]), **values}
            | {"exact": row.exact, "low": row.free[0], "high": row.free[1]}
            | {"low_if_falling": low, "high_if_falling": high, "outside 0 to 100 %": beyond}
        )
    return pd.DataFrame(rows)


def offered(q: Question) -> dict[str, tuple[Question, str]]:
    """Map the label of each valid estimate to the settings and the estimator that give it.

    An estimator gives two estimates if it is unknown how m, the number of negatives, was set.
    """
    if len(q.readings) == 1:
        return {name: (q, name) for name in q.methods}
    both = list(zip(q.readings, READINGS, strict=True))
    return {f"{name}, if {why}": (ask, name) for name in q.methods for ask, why in both}


def pair_ranges(result: Result[Question]) -> pd.DataFrame:
    """Return a table of ranges of the exact metric's difference, for each pair of systems.

    There is a range without an assumption, and a range under the assumption that no rank is rarer
    than the next worse rank.
    """
    drawn = {ranks.system: ranks for ranks in result.question.sets}
    return pd.DataFrame(
        {"first": pair.name, "second": pair.other, "assumption": name, "low": span[0]}
        | {"high": span[1], **_drawn(drawn[pair.name], drawn[pair.other])}
        | {"metric": str(result.question.metric)}
        for pair in result.pairs
        for name, span in (("none", pair.free), ("ranks fall off", pair.falling))
        if span is not None
    )


def _drawn(*sets: SampledRankSet) -> dict[str, Any]:
    """Return columns of a downloaded table: how the negatives of these rank sets were sampled."""

    def listed(sizes: set[Any]) -> Any:
        return sizes.pop() if len(sizes) == 1 else ", ".join(map(str, sorted(sizes)))

    n, m = {ranks.population for ranks in sets}, {m for ranks in sets for m in ranks.outcomes.m}
    adaptive = {ranks.readings[-1].adaptive if len(ranks.readings) == 1 else None for ranks in sets}
    return {"n": listed(n), "m": listed(m), "scheme": sets[0].scheme, "adaptive": listed(adaptive)}
