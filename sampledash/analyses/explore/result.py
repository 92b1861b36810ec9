"""Results of the Explore page: metrics over the true rank, and simulated draws of negatives."""

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from sampledash.analyses import memory
from sampledash.catalogue import Catalogue, Drawing
from sampledash.expectation import posterior as core_posterior
from sampledash.grids import MOST, jumps, rank_grid
from sampledash.metrics import Metric
from sampledash.report.tables import as_csv
from sampledash.sampling import Sampling, moments
from sampledash.types import Floats, Ints, Progress, frozen

# Arrays of shape (metrics, true ranks): exact metric, expected sampled metric, its standard
# deviation and, if negatives are drawn by popularity, the expectation with uniform negatives.
Curves = tuple[Floats, ...]
_PARTS = ("exact", "expected", "std", "uniform")

# Largest number of candidates n for which the posterior of the true rank is computed. The posterior
# has a probability for every rank 1..n.
LARGEST_POSTERIOR = 200_000


@dataclass(frozen=True)
class Question:
    """Valid settings of the Explore page.

    ``rank`` is the true rank that the user chose. Curves over the true rank end at rank ``top`` or,
    if it is None, at the last rank n.
    """

    metrics: tuple[Metric, ...]
    sampling: Drawing
    rank: int
    top: int | None
    focus: Metric

    @property
    def seen(self) -> float:
        """Expected sampled rank of a relevant item with the true rank that the user chose."""
        return 1 + self.sampling.drawn * float(self.sampling.share_above(self.rank))

    @cached_property
    def ranks(self) -> Ints:
        """True ranks at which the curves are evaluated."""
        both = {self.sampling, getattr(self.sampling, "uniform", self.sampling)}
        keep = {rank for x in both for metric in self.metrics for rank in jumps(x, metric)}
        return rank_grid(self.sampling.n, top=self.top, keep=sorted(keep))


@dataclass(frozen=True)
class Result:
    """The curves of all metrics over the true rank, and their values at the rank the user chose."""

    question: Question
    curves: Curves
    here: Curves

    def at_rank(self, metric: Metric) -> tuple[float, ...]:
        """Return a metric's values at the true rank the user chose, in the order of ``_PARTS``.

        These are the exact metric, its expected sampled value, its standard deviation and, if
        negatives are drawn by popularity, its expected value with uniform negatives.
        """
        return tuple(float(part[self.question.metrics.index(metric), 0]) for part in self.here)

    def drawn(self, metric: Metric) -> list[Any]:
        """Return the true ranks at which curves are drawn, and a metric's values at these ranks.

        The cached values do not depend on the rank that the user chose, so it is inserted here.
        """
        q, place = self.question, self.question.metrics.index(metric)
        parts = [q.ranks, *(part[place] for part in self.curves)]
        at = int(np.searchsorted(q.ranks, q.rank))
        if at == len(q.ranks) or q.ranks[at] == q.rank:
            return parts
        here = q.rank, *self.at_rank(metric)
        return [np.insert(part, at, value) for part, value in zip(parts, here, strict=True)]

    def csv(self) -> str:
        """Return the metrics over the true rank as CSV text, a row for each rank in the picture."""
        q = self.question
        columns: dict[str, Any] = {"rank": self.drawn(q.focus)[0]}
        for metric in q.metrics:
            parts = dict(zip(_PARTS, self.drawn(metric)[1:], strict=False))
            columns |= {f"{metric} {name}": part for name, part in parts.items()}
        return f"# {q.sampling}\n" + as_csv(pd.DataFrame(columns))


def compute(q: Question, progress: Progress | None = None) -> Result:
    """Return curves of metrics over the true rank, and their values at the rank the user chose."""
    everywhere = curves(q.metrics, q.sampling, q.ranks, progress)
    return Result(q, everywhere, curves(q.metrics, q.sampling, np.array([q.rank])))


def curves(
    metrics: tuple[Metric, ...], sampling: Drawing, ranks: Ints, progress: Progress | None = None
) -> Curves:
    """Return exact metrics, expected sampled metrics and their standard deviations at true ranks.

    If negatives are drawn by popularity (:class:`Catalogue`), also return the expected metrics with
    uniform negatives. The distributions of the sampled rank, which take the most time, are computed
    once for all metrics.
    """

    def make() -> Curves:
        values = [metric.of_one(np.arange(sampling.m + 1), sampling.m) for metric in metrics]
        mean, variance = np.empty((2, len(metrics), len(ranks)))
        for rows, p in sampling.laws(ranks - 1):
            if progress is not None:
                progress(rows.start / len(ranks))
            for place, vector in enumerate(values):
                mean[place, rows], variance[place, rows] = moments(p, vector)
        exact = np.array([metric(ranks, sampling.n) for metric in metrics])
        found = frozen(exact), frozen(mean), frozen(np.sqrt(variance))
        if isinstance(sampling, Catalogue):
            return *found, curves(metrics, sampling.uniform, ranks)[1]
        return found

    return memory.cached(("curves", metrics, sampling, ranks.tobytes()), make, shared=True)


def law(sampling: Drawing, rank: int) -> Floats:
    """Return the probabilities of the sampled ranks 1..m + 1, given the true rank ``rank``."""
    ((_, p),) = sampling.laws(np.array([rank - 1]))
    return frozen(p[0])


def posterior(sampling: Sampling, sampled_rank: int) -> Floats:
    """Return P(true rank <= r | sampled rank) for each r in 1..n, with n candidates."""

    def make() -> Floats:
        return frozen(np.minimum(np.cumsum(core_posterior(sampled_rank, sampling)), 1.0))

    return memory.cached(("posterior", sampling, sampled_rank), make, shared=True, large=True)


def family(q: Question, sizes: tuple[int, ...]) -> tuple[dict[int, Floats], dict[int, float]]:
    """Return two dictionaries that map m (number of negatives) to the expected metric ``q.focus``.

    The first holds the metric at all ``q.ranks``, the second at the rank that the user chose. With
    n candidates, the values of m are those of ``sizes`` below n - 1, and n - 1 (all negatives) if
    it is at most ``MOST``.
    """
    s, metric = q.sampling, q.focus
    both = np.append(q.ranks, q.rank)
    values: dict[int, Floats] = {}
    for m in [*(m for m in sizes if m < s.n - 1), *([s.n - 1] if s.n - 1 <= MOST else [])]:
        if m == s.n - 1 and s.design.distinct:
            values[m] = metric(both, s.n)  # the sample holds all negatives: the metric is exact
        else:
            values[m] = curves((metric,), replace(s, m=m), both)[1][0]
    return {m: y[:-1] for m, y in values.items()}, {m: float(y[-1]) for m, y in values.items()}


def sampled_ranks(sampling: Drawing, rank: int, seed: int, draws: int) -> Ints:
    """Return random sampled ranks of an item with true rank ``rank``, one for each draw.

    With the same ``seed``, more ``draws`` only append further ranks.
    """
    chances = law(sampling, rank)
    return np.random.default_rng(seed).choice(len(chances), draws, p=chances) + 1


def negatives(sampling: Sampling, rank: int, sampled_rank: int, seed: int, draw: int) -> Ints:
    """Return true ranks of negatives, drawn at random given the sampled rank.

    In every scheme, the negatives above the relevant item are a uniform sample of the items above,
    and the other negatives are a uniform sample of the items below. With replacement, an item may
    be drawn twice.
    """
    rng = np.random.default_rng([seed, draw])
    above = sampled_rank - 1
    below = sampling.draw_size(rank, above, rng) - above
    if sampling.design.once:
        up = rng.choice(rank - 1, above, replace=False) if above else np.empty(0)
        down = rng.choice(sampling.n - rank, below, replace=False) if below else np.empty(0)
    else:
        up = rng.integers(0, max(rank - 1, 1), above)
        down = rng.integers(0, max(sampling.n - rank, 1), below)
    return np.concatenate([np.asarray(up) + 1, np.asarray(down) + rank + 1]).astype(np.int64)
