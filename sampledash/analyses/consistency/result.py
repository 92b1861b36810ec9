"""What the Consistency page shows: the question, what was found pair by pair, and its tables."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, product
from typing import Any

import numpy as np
import pandas as pd

from sampledash.analyses import memory
from sampledash.analyses.memory import remembered
from sampledash.analyses.source import Source
from sampledash.comparison.chance import probability_of_order
from sampledash.comparison.means import exact_means
from sampledash.comparison.order import TIED, Orders
from sampledash.comparison.planning import instances_needed, negatives_needed
from sampledash.comparison.run_distribution import Run, law_of_mean
from sampledash.comparison.shared import probability_if_shared
from sampledash.comparison.significance import significance
from sampledash.comparison.user_resampling import probability_if_redrawn
from sampledash.comparison.verdict import Pairs, verdict_at_m, where_to_look
from sampledash.correction import Correction
from sampledash.metrics import Metric
from sampledash.protocol import Options, Protocol
from sampledash.rank_sets import RankSet
from sampledash.types import Floats, Ints, Progress

MOST_PAIRS = 10  # of the tile map, and of a list of pairs to choose from
MOST_CURVES = 10  # systems drawn
MOST_SYSTEMS = 5  # whose pairs are all looked at in the tabs
MOST_OVER_M = 6  # pairs whose chance is drawn over m
SEED = 1  # of the resamples


@dataclass(frozen=True)
class Question:
    """Everything the page depends on, checked."""

    source: Source
    metrics: tuple[Metric, ...]
    m: int
    options: Options

    @property
    def sets(self) -> tuple[RankSet, ...]:
        """The rank sets that are compared."""
        return self.source.sets

    @cached_property
    def protocol(self) -> Protocol:
        """The options, checked."""
        return Protocol.of(self.options)

    @property
    def key(self) -> tuple[Hashable, ...]:
        """The same only for the same question, m apart."""
        return self.source.key, self.metrics, self.protocol

    @property
    def fits(self) -> bool:
        """Whether each m takes a fit of its own."""
        return self.protocol.anew

    @property
    def shared(self) -> bool:
        """Whether all readers may have the results."""
        return self.source.bundled

    def orders(self, progress: Progress | None = None) -> Orders:
        """The order of every pair over m: every m, or a quick look where each m takes a fit."""
        m_max, m_values = where_to_look(self.sets, self.m, self.protocol)
        return memory.orders(
            self.metrics,
            self.sets,
            m_max,
            self.protocol,
            shared=self.shared,
            progress=progress,
            m_values=m_values,
        )

    @remembered
    def exact(self) -> Floats:
        """Means on all items: (systems, metrics)."""
        return memory.frozen(exact_means(self.metrics, self.sets, self.protocol))

    @remembered
    def verdict_at(self, m: int) -> dict[str, list[Any]]:
        """The verdict at the present m: metric by metric, pair by pair."""
        q = self.metrics, self.sets, m, self.protocol
        return verdict_at_m(self.orders(), *q, self.exact())

    def corrected(self, correction: Correction) -> Question:
        """The same under another correction."""
        return replace(self, options={**self.options, "correction": correction})


@dataclass(frozen=True)
class Result(Pairs):
    """What the page shows. Pairs are numbered as in ``ends``, for all metrics."""

    question: Question

    def few_pairs(self, *marked: int) -> list[int]:
        """All pairs, or those marked and the worst."""
        if self.pairs <= MOST_PAIRS:
            return list(range(self.pairs))
        return list(dict.fromkeys([*marked, *self.worst_pairs(MOST_PAIRS)]))

    def few_systems(self, pairs: Sequence[int], most: int) -> list[int]:
        """All systems, or the first of these pairs."""
        if len(self.systems) <= most:
            return list(range(len(self.systems)))
        return list(dict.fromkeys(end for pair in pairs for end in self.ends[pair]))[:most]

    def drawn(self, pair: int) -> list[int]:
        """The systems of the curves: all, or the marked pair and those of the worst pairs."""
        return self.few_systems([pair, *self.worst_pairs(MOST_PAIRS)], MOST_CURVES)

    def std_of(self, sets: Sequence[RankSet]) -> Floats:
        """Standard deviations of the means of some systems, from the cache."""
        key = "std_of", self.question.key, self.m, memory.digests(sets)
        std_of = super().std_of
        return memory.cached(key, lambda: memory.frozen(std_of(sets)), shared=self.question.shared)

    def flips(self, pairs: Sequence[int], every: Mapping[str, Orders]) -> pd.DataFrame:
        """Where the order changes: one row per metric, pair and correction by its name."""
        rows = []
        for x, metric in enumerate(self.metrics):
            for p in pairs:
                i, j, truth = self.truths[x][p]
                for name, orders in every.items():
                    right = orders.right_from(i, j, x) if truth else None
                    flips = " ".join(map(str, orders.flips(i, j, x)))
                    rows.append((str(metric), name, *self.names(p), flips, right))
        columns = ["metric", "correction", "first", "second", "flips", "right_from"]
        return pd.DataFrame(rows, columns=columns).astype({"right_from": "Int64"})


def compute(question: Question, progress: Progress | None = None) -> Result:
    """Compute, or take from the cache, what is shown. Only the verdict depends on m."""
    orders, exact = question.orders(progress), question.exact()
    q = question
    more = q.verdict_at(q.m), q.source.name, q.source.python
    return Result(q.metrics, q.sets, q.m, q.protocol, orders, exact, *more, q)


@dataclass(frozen=True)
class Focus:
    """What the tabs look at: a metric, the marked pair, and all systems or those worth a look."""

    result: Result
    x: int
    pair: int

    @property
    def metric(self) -> Metric:
        """The metric in focus."""
        return self.result.metrics[self.x]

    @property
    def tile_pairs(self) -> list[int]:
        """The pairs of the tile map: all, or the worst and the marked one."""
        pairs = self.result.few_pairs()
        return pairs if self.pair in pairs else [*pairs, self.pair]

    @property
    def tied(self) -> bool:
        """Whether the marked pair is tied on all items."""
        return not self.result.truths[self.x][self.pair][2]

    @cached_property
    def systems(self) -> list[int]:
        """All systems, or those of the marked and the worst pairs."""
        r = self.result
        pairs = [self.pair, r.worst_pair(self.x), *r.worst_pairs(MOST_SYSTEMS)]
        return sorted(r.few_systems(pairs, MOST_SYSTEMS))

    @property
    def sets(self) -> list[RankSet]:
        """The rank sets of ``systems``."""
        return [self.result.question.sets[i] for i in self.systems]

    @cached_property
    def pairs(self) -> list[int]:
        """Numbers of the pairs: the marked one, then those least likely to be shown."""
        every = [self.result.ends.index(ends) for ends in combinations(self.systems, 2)]
        chances = np.nan_to_num(self.result.chances[self.x], nan=1.0)
        return sorted(every, key=lambda p: (p != self.pair, chances[p]))

    def ordered(self, pair: int, name: Callable[[str], str] = str) -> tuple[str, str]:
        """The names of a pair, the better one first."""
        i, j, _ = self.result.truths[self.x][pair]
        return name(self.result.systems[i]), name(self.result.systems[j])

    def label(self, pair: int, name: Callable[[str], str] = str) -> str:
        """``better > worse``, or ``one = other``."""
        sign = " > " if self.result.truths[self.x][pair][2] else " = "
        return sign.join(self.ordered(pair, name))

    @property
    def key(self) -> tuple[Hashable, ...]:
        """The same only for the same metric and systems at the same m."""
        return self.result.question.key, self.x, self.result.m, *self.systems

    @property
    def shared(self) -> bool:
        """Whether all readers may have the results."""
        return self.result.question.shared

    def rows(self, table: pd.DataFrame) -> pd.DataFrame:
        """The rows of a table with columns better and worse, in the order of ``pairs``."""
        named = list(map(frozenset, zip(table["better"], table["worse"], strict=True)))
        names = (frozenset(self.result.names(pair)) for pair in self.pairs)
        return table.iloc[[named.index(pair) for pair in names]]

    def tests(self, progress: Progress | None = None) -> pd.DataFrame:
        """Difference, interval, p and Holm's p of every pair, whatever m is."""
        sets, protocol = self.sets, self.result.question.protocol
        how: dict[str, Any] = {"ties": protocol.ties, "weighting": protocol.weighting}

        def make() -> pd.DataFrame:
            rng = np.random.default_rng(SEED)
            return significance(self.metric, sets, rng, progress=progress, **how)

        key = "tests", self.metric, memory.digests(sets), *how.values()
        return memory.cached(key, make, shared=self.shared)

    @remembered
    def significance(self, *, progress: Progress | None = None) -> pd.DataFrame:
        """The tests, and the chance of the order when all is redrawn, of every pair."""
        q = self.result.question
        again = probability_if_redrawn(self.metric, self.sets, q.m, **q.options)
        both = self.tests(progress).merge(again, on=["better", "worse"])
        return both.assign(metric=str(self.metric))

    @remembered
    def bounds(self, pair: int) -> tuple[float, float]:
        """Bounds of the chance where both systems of a pair see the same negatives."""
        q = self.result.question
        sets = [q.sets[end] for end in self.result.ends[pair]]
        row = probability_if_shared(self.metric, sets, q.m, **q.options).iloc[0]
        return float(row["low"]), float(row["high"])

    @remembered
    def over_m(self, probability: float, *, progress: Progress) -> tuple[Ints, dict[int, Floats]]:
        """Chance of the true order at some values of m: those values, and a curve per pair.

        Among them is the m from which a pair has this probability, and the one before: there the
        curves of the other pairs are NaN.
        """
        r, known = self.result, self.result.orders.m_values
        picked = np.unique(np.geomspace(1, len(known), 12).round().astype(int)) - 1
        at = {m: set(self.pairs) for m in [*known[picked].tolist(), r.m]}
        needed = self.rows(self.needed(probability))["m"]
        for pair, crossing in zip(self.pairs[:MOST_OVER_M], needed, strict=False):
            if not pd.isna(crossing):
                for m in range(max(int(crossing) - 1, 1), int(crossing) + 1):
                    at.setdefault(m, set()).add(pair)
        ms = np.array(sorted(at))
        curves = {pair: np.full(len(ms), np.nan) for pair in self.pairs}
        for done, m in enumerate(ms.tolist()):
            progress(done / len(ms))
            systems = {end for pair in at[m] for end in r.ends[pair]}
            sets = [r.question.sets[i] for i in sorted(systems)]
            table = probability_of_order(self.metric, sets, m, **r.question.options)
            names = map(frozenset, zip(table["better"], table["worse"], strict=True))
            chances = dict(zip(names, table["probability"], strict=True))
            for pair in at[m]:
                curves[pair][done] = chances[frozenset(r.names(pair))]
        return ms, curves

    @remembered
    def needed(self, probability: float, *, progress: Progress | None = None) -> pd.DataFrame:
        """Negatives and instances needed for a probability, per pair."""
        q, about, top = self.result.question, (self.metric, self.sets), self.result.m_max
        negatives = negatives_needed(*about, probability, top, progress=progress, **q.options)
        instances = instances_needed(*about, q.m, probability, **q.options)
        return negatives.merge(instances, on=["better", "worse"])

    def plan(self, probability: float) -> pd.DataFrame:
        """What is needed, for every metric."""
        correction = str(self.result.question.protocol.correction)
        tables = [
            replace(self, x=x).needed(probability).assign(metric=str(metric))
            for x, metric in enumerate(self.result.metrics)
        ]
        table = pd.concat(tables, ignore_index=True)
        columns = ["metric", "correction", "better", "worse", "probability", "m", "instances"]
        return table.assign(correction=correction, probability=probability)[columns]

    @remembered
    def law_of_mean(self, system: int) -> tuple[Floats, Floats] | None:
        """The exact law of the mean of one run of a system, None where it is normal."""
        q = self.result.question
        return law_of_mean(Run(self.metric, q.sets[system], q.m, q.protocol), stream=system)

    def runs(self, values: Floats) -> pd.DataFrame:
        """Mean and scatter over runs (systems, runs, metrics) beside the exact ones."""
        r, ddof = self.result, min(values.shape[1] - 1, 1)
        columns = {
            "mean_of_runs": values.mean(axis=1),
            "std_of_runs": values.std(axis=1, ddof=ddof),
            "expected_sampled": r.sampled[self.systems],
            "std_of_mean": r.std_of(self.sets),
        }
        names = product(map(str, r.metrics), (r.systems[i] for i in self.systems))
        table = pd.DataFrame(names, columns=["metric", "system"])
        return table.assign(**{name: part.T.ravel() for name, part in columns.items()})

    def seen(self, values: Floats) -> pd.DataFrame:
        """Share of runs that show the true order of each pair beside its exact chance."""
        rows, r, of = [], self.result, dict(zip(self.systems, values, strict=True))
        for x, metric in enumerate(r.metrics):
            for pair in self.pairs:
                i, j, truth = r.truths[x][pair]
                share = np.mean(of[i][:, x] - of[j][:, x] > TIED) if truth else np.nan
                names = r.systems[i], r.systems[j]
                rows.append((str(metric), *names, float(share), float(r.chances[x, pair])))
        columns = ["metric", "better", "worse", "share_of_runs", "probability"]
        return pd.DataFrame(rows, columns=columns)
