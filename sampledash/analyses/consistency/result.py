"""Settings and results of the Consistency page, such as the verdict on each pair of systems."""

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations, pairwise, product
from typing import Any

import numpy as np
import pandas as pd

from sampledash.analyses import memory
from sampledash.analyses.memory import remembered
from sampledash.analyses.source import Source
from sampledash.comparison.chance import probability_of_order
from sampledash.comparison.means import exact_means
from sampledash.comparison.one_list import OneList, one_list
from sampledash.comparison.order import TIED, Orders
from sampledash.comparison.planning import instances_needed, negatives_needed
from sampledash.comparison.run_distribution import Run, law_of_mean
from sampledash.comparison.shared import probability_if_shared
from sampledash.comparison.significance import significance
from sampledash.comparison.user_resampling import probability_if_redrawn
from sampledash.comparison.verdict import Pairs, verdict_at_m, where_to_look
from sampledash.metrics import Metric
from sampledash.protocol import Options, Protocol
from sampledash.rank_sets import RankSet
from sampledash.simulation import batches
from sampledash.types import Floats, Ints, Progress, frozen

MOST_PAIRS = 10  # largest number of pairs of systems in the picture with a row of verdicts per pair
MOST_CURVES = 10  # largest number of systems whose curves are drawn
MOST_SYSTEMS = 5  # largest number of systems that the tabs of the Consistency page analyse
MOST_OVER_M = 6  # largest number of pairs of systems in the picture of chances over m (negatives)
# In the picture of chances over m: if the chances at neighbouring m differ by more than _STEEP, the
# chance between them is computed too. This is repeated _HALVED times.
_STEEP, _HALVED = 0.2, 3
SEED = 1  # seed for resampling the instances in significance tests


@dataclass(frozen=True)
class Question:
    """The validated settings of the Consistency page, on which all its results depend."""

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
        """How negatives are drawn, ties ranked and metrics corrected; ValueError if invalid."""
        return Protocol.of(self.options)

    @property
    def key(self) -> tuple[Hashable, ...]:
        """Cache key: it holds all settings except m, the number of negatives."""
        return self.source.key, self.metrics, self.protocol

    @property
    def shared(self) -> bool:
        """Whether the cache keeps the results for all users, not only for the current session."""
        return self.source.bundled

    def orders(self, progress: Progress | None = None) -> Orders:
        """Return the expected order of the systems at each number of negatives m.

        If computing the order for one m takes long, only few m are computed.
        """
        m_max, m_values = where_to_look(self.sets, self.m, self.protocol)
        q: Any = self.metrics, self.sets, m_max, self.protocol
        return memory.orders(*q, shared=self.shared, progress=progress, m_values=m_values)

    @remembered
    def exact(self) -> Floats:
        """Return the exact mean of each metric for each system: shape (systems, metrics)."""
        return frozen(exact_means(self.metrics, self.sets, self.protocol))

    @remembered
    def verdict_at(self, m: int) -> dict[str, list[Any]]:
        """Return verdicts for ``m`` negatives: is the order of two systems right?

        There is a verdict for each metric and each pair of systems. The result maps the column
        names of the table of verdicts to lists.
        """
        q = self.metrics, self.sets, m, self.protocol
        return verdict_at_m(self.orders(), *q, self.exact())


@dataclass(frozen=True)
class Result(Pairs):
    """Results of the Consistency page, which compares sampled and true order of systems.

    Methods take a pair of systems by number: its index in ``ends``, the list of all pairs.
    """

    question: Question

    def few_pairs(self, *marked: int) -> list[int]:
        """Return all pairs of systems or, if there are too many, the ``marked`` and worst pairs.

        In the worst pairs, the sampled order is wrong, or is most likely to be wrong.
        """
        if self.pairs <= MOST_PAIRS:
            return list(range(self.pairs))
        return list(dict.fromkeys([*marked, *self.worst_pairs(MOST_PAIRS)]))

    def few_systems(self, pairs: Sequence[int], most: int) -> list[int]:
        """Return all systems or, if there are more than ``most``, a selection of this size.

        The selection has the systems that occur first in ``pairs``. Systems and pairs are indices.
        """
        if len(self.systems) <= most:
            return list(range(len(self.systems)))
        return list(dict.fromkeys(end for pair in pairs for end in self.ends[pair]))[:most]

    def drawn(self, pair: int) -> list[int]:
        """Return the systems whose curves are drawn: all or, if there are too many, a selection.

        The selection has the systems of ``pair`` and of the pairs whose sampled order is wrong, or
        is most likely to be wrong.
        """
        return self.few_systems([pair, *self.worst_pairs(MOST_PAIRS)], MOST_CURVES)

    def std_of(self, sets: Sequence[RankSet]) -> Floats:
        """Return the standard deviation over runs of each system's sampled mean metric (cached)."""
        key = "std_of", self.question.key, self.m, memory.digests(sets)
        std_of = super().std_of
        return memory.cached(key, lambda: frozen(std_of(sets)), shared=self.question.shared)

    def flips(self, pairs: Sequence[int]) -> pd.DataFrame:
        """Return a table of flips: the numbers of negatives m at which two systems change order.

        The order of the systems is that of their expected sampled metrics.
        """
        rows, orders, name = [], self.orders, str(self.question.protocol.correction)
        for x, metric in enumerate(self.metrics):
            for p in pairs:
                i, j, truth = self.truths[x][p]
                right = orders.right_from(i, j, x) if truth else None
                flips = " ".join(map(str, orders.flips(i, j, x)))
                rows.append((str(metric), name, *self.names(p), flips, right))
        columns = ["metric", "correction", "first", "second", "flips", "right_from"]
        return pd.DataFrame(rows, columns=columns).astype({"right_from": "Int64"})


def compute(question: Question, progress: Progress | None = None) -> Result:
    """Return the results of the Consistency page; the results that take long are cached."""
    orders, exact = question.orders(progress), question.exact()
    q = question
    more = q.verdict_at(q.m), q.source.name, q.source.python
    return Result(q.metrics, q.sets, q.m, q.protocol, orders, exact, *more, q)


@dataclass(frozen=True)
class Focus:
    """What the tabs of the Consistency page analyse: one metric and one pair of systems.

    ``x`` is the index of the metric, and ``pair`` that of the pair which the user marked.
    """

    result: Result
    x: int
    pair: int

    @property
    def metric(self) -> Metric:
        """The metric that the tabs of the page analyse."""
        return self.result.metrics[self.x]

    @property
    def tile_pairs(self) -> list[int]:
        """Pairs of systems in the picture that has a tile with a verdict for each pair and metric.

        They are the pairs of :meth:`Result.few_pairs`, and the pair that the user marked.
        """
        pairs = self.result.few_pairs()
        return pairs if self.pair in pairs else [*pairs, self.pair]

    @property
    def tied(self) -> bool:
        """Whether the two systems of the marked pair have the same exact mean metric."""
        return not self.result.truths[self.x][self.pair][2]

    @cached_property
    def systems(self) -> list[int]:
        """Indices of the systems to analyse: all systems or, if there are too many, a selection.

        The selection has the systems of the marked pair and of the pairs whose sampled order is
        wrong, or is most likely to be wrong.
        """
        r = self.result
        pairs = [self.pair, r.worst_pair(self.x), *r.worst_pairs(MOST_SYSTEMS)]
        return sorted(r.few_systems(pairs, MOST_SYSTEMS))

    @property
    def sets(self) -> list[RankSet]:
        """The rank sets of ``systems``."""
        return [self.result.question.sets[i] for i in self.systems]

    @cached_property
    def pairs(self) -> list[int]:
        """Pairs of ``systems``: the one that the user marked, then the others, the worst first.

        The worst pair is the one that a run most likely puts in the wrong order.
        """
        every = [self.result.ends.index(ends) for ends in combinations(self.systems, 2)]
        chances = np.nan_to_num(self.result.chances[self.x], nan=1.0)
        return sorted(every, key=lambda p: (p != self.pair, chances[p]))

    def ordered(self, pair: int, name: Callable[[str], str] = str) -> tuple[str, str]:
        """Return the names of the two systems of a pair, the better system first."""
        i, j, _ = self.result.truths[self.x][pair]
        return name(self.result.systems[i]), name(self.result.systems[j])

    def label(self, pair: int, name: Callable[[str], str] = str) -> str:
        """Return a pair as ``better > worse``, or ``one = other`` if exact metrics are equal."""
        sign = " > " if self.result.truths[self.x][pair][2] else " = "
        return sign.join(self.ordered(pair, name))

    @property
    def key(self) -> tuple[Hashable, ...]:
        """Cache key: the page's settings, the metric, the number of negatives, and the systems."""
        return self.result.question.key, self.x, self.result.m, *self.systems

    @property
    def shared(self) -> bool:
        """Whether the cache keeps the results for all users, not only for the current session."""
        return self.result.question.shared

    def rows(self, table: pd.DataFrame) -> pd.DataFrame:
        """Return the rows of a table in the order of :attr:`pairs`.

        The columns ``better`` and ``worse`` of the table name the two systems of a pair.
        """
        named = list(map(frozenset, zip(table["better"], table["worse"], strict=True)))
        names = (frozenset(self.result.names(pair)) for pair in self.pairs)
        return table.iloc[[named.index(pair) for pair in names]]

    def tests(self, progress: Progress | None = None) -> pd.DataFrame:
        """Return a significance test of the exact metric's difference for each pair of systems."""
        sets, protocol = self.sets, self.result.question.protocol
        options: dict[str, Any] = {"ties": protocol.ties, "weighting": protocol.weighting}

        def make() -> pd.DataFrame:
            rng = np.random.default_rng(SEED)
            return significance(self.metric, sets, rng, progress=progress, **options)

        key = "tests", self.metric, memory.digests(sets), *options.values()
        return memory.cached(key, make, shared=self.shared)

    @remembered
    def significance(self, *, progress: Progress | None = None) -> pd.DataFrame:
        """Return for each pair of systems a significance test, and the chance of its true order.

        This is the chance that one run shows the true order if the run draws both its instances and
        its negatives at random.
        """
        q = self.result.question
        again = probability_if_redrawn(self.metric, self.sets, q.m, **q.options)
        both = self.tests(progress).merge(again, on=["better", "worse"])
        return both.assign(metric=str(self.metric))

    @remembered
    def bounds(self, pair: int) -> tuple[float, float]:
        """Return bounds of the chance that one run puts a pair of systems in their true order.

        In this run, both systems rank the relevant items among the same negatives.
        """
        q = self.result.question
        sets = [q.sets[end] for end in self.result.ends[pair]]
        row = probability_if_shared(self.metric, sets, q.m, **q.options).iloc[0]
        return float(row["low"]), float(row["high"])

    @remembered
    def one_lists(self) -> tuple[OneList, OneList]:
        """Return the distribution of the mean metric in one run, for both systems of the pair.

        In this run, all instances share one list of negatives.
        """
        q, (i, j, _) = self.result.question, self.result.truths[self.x][self.pair]
        if q.protocol.correction.by_rank:
            raise ValueError("one list of negatives is for metrics without correction")
        lists = [one_list(self.metric, q.sets[x], q.m, ties=q.protocol.ties) for x in (i, j)]
        return lists[0], lists[1]

    @remembered
    def over_m(self, probability: float, *, progress: Progress) -> tuple[Ints, dict[int, Floats]]:
        """Return numbers of negatives m, and for each pair of systems its chances at these m.

        The chance of a pair is the probability that one run has the true order of its two systems.
        For each pair, the values of m include the first m from which on the chance is at least
        ``probability``, and m - 1. Where a chance rises or falls steeply, values of m are added.
        """
        r, known = self.result, self.result.orders.m_values
        picked = np.unique(np.geomspace(1, len(known), 12).round().astype(int)) - 1
        needed = self.needed(probability)["m"].dropna().astype(int)
        at = {*known[picked].tolist(), r.m, *needed, *(needed - 1).clip(lower=1)}
        chances = dict[int, Floats]()
        for times in range(_HALVED + 1):
            for done, m in enumerate(at):
                progress((times + done / len(at)) / (_HALVED + 1))
                table = probability_of_order(self.metric, self.sets, m, **r.question.options)
                chances[m] = self.rows(table)["probability"].to_numpy(float)
            at = {
                round((low * high) ** 0.5)
                for (low, before), (high, after) in pairwise(sorted(chances.items()))
                if high > low + 1 and np.nan_to_num(np.abs(after - before)).max() > _STEEP
            }
        curves = np.array([chances[m] for m in sorted(chances)]).T
        return np.array(sorted(chances)), dict(zip(self.pairs, curves, strict=True))

    @remembered
    def needed(self, probability: float, *, progress: Progress | None = None) -> pd.DataFrame:
        """Return how many negatives, or how many instances, each pair of systems needs.

        With this number, one run shows the true order of the two systems with ``probability``.
        """
        q, about, top = self.result.question, (self.metric, self.sets), self.result.m_max
        negatives = negatives_needed(*about, probability, top, progress=progress, **q.options)
        instances = instances_needed(*about, q.m, probability, **q.options)
        return negatives.merge(instances, on=["better", "worse"])

    def plan(self, probability: float) -> pd.DataFrame:
        """Return how many negatives, or how many instances, each pair of systems needs.

        With this number, one run shows the true order of the two systems with ``probability``. The
        table has a row for each metric and pair of systems.
        """
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
        """Return the distribution of a system's mean metric over runs.

        Return None if computing the distribution would take too long, or if the ``counts`` of the
        rank set are not whole numbers. Pictures then use a normal distribution.
        """
        q = self.result.question
        return law_of_mean(Run(self.metric, q.sets[system], q.m, q.protocol), stream=system)

    def repeated(self, repeats: int, seed: int, progress: Progress) -> Floats:
        """Return the mean metrics in simulated runs: shape (systems, runs, metrics).

        Every system has its own random stream, so that systems share no negatives.
        """
        q, m = self.result.question, self.result.m

        def make() -> Floats:
            means = list[Floats]()
            for place, i in enumerate(self.systems):
                blocks, rng = list[Floats](), np.random.default_rng([seed, i])
                for block in batches(q.metrics, q.sets[i], m, repeats, rng, q.protocol):
                    blocks.append(block)
                    progress((place + sum(map(len, blocks)) / repeats) / len(self.systems))
                means.append(np.concatenate(blocks))
            return frozen(np.array(means))

        key = "repeated", q.key, m, *self.systems, repeats, seed
        return memory.cached(key, make, shared=self.shared)

    def runs(self, values: Floats) -> pd.DataFrame:
        """Return a table of the mean and standard deviation over runs: simulated and exact values.

        ``values`` holds the mean metrics in each simulated run: shape (systems, runs, metrics).
        """
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
        """Return how often simulated runs show the true order of each pair of systems.

        Also return the exact probability of the true order. ``values`` holds the mean metrics in
        each simulated run: shape (systems, runs, metrics).
        """
        rows, r, of = [], self.result, dict(zip(self.systems, values, strict=True))
        for x, metric in enumerate(r.metrics):
            for pair in self.pairs:
                i, j, truth = r.truths[x][pair]
                share = np.mean(of[i][:, x] - of[j][:, x] > TIED) if truth else np.nan
                names = r.systems[i], r.systems[j]
                rows.append((str(metric), *names, float(share), float(r.chances[x, pair])))
        columns = ["metric", "better", "worse", "share_of_runs", "probability"]
        return pd.DataFrame(rows, columns=columns)
