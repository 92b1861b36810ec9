"""Results of the Explore page: metrics over the true rank, and simulated draws of negatives."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from sampledash.analyses import memory
from sampledash.expectation import posterior as core_posterior
from sampledash.grids import MOST, jumps, rank_grid
from sampledash.metrics import Metric
from sampledash.report.tables import as_csv
from sampledash.sampling import Sampling, moments, pmf_chunks
from sampledash.types import Floats, Ints, Progress, frozen

# Exact metric, expected sampled metric, standard deviation: shape (metrics, ranks), or numbers.
Curves = tuple[Floats, Floats, Floats]
Numbers = tuple[float, float, float]

# Largest n for which the posterior, which has a probability for every rank 1..n, is computed.
LARGEST_POSTERIOR = 200_000


@dataclass(frozen=True)
class Question:
    """Valid settings of the page; curves end at rank ``top``, or at rank n if ``top`` is None."""

    metrics: tuple[Metric, ...]
    sampling: Sampling
    rank: int
    top: int | None
    focus: Metric

    @property
    def seen(self) -> float:
        """Expected sampled rank of a relevant item with the chosen true rank."""
        return 1 + self.sampling.m * float(self.sampling.share_above(self.rank))

    @cached_property
    def ranks(self) -> Ints:
        """True ranks at which the curves are evaluated."""
        keep = {rank for metric in self.metrics for rank in jumps(self.sampling, metric)}
        return rank_grid(self.sampling.n, top=self.top, keep=sorted(keep))


@dataclass(frozen=True)
class Result:
    """The curves of all metrics over the true rank, and their values at the chosen rank."""

    question: Question
    curves: Curves
    here: Curves

    def at_rank(self, metric: Metric) -> Numbers:
        """Return exact value, expected value and standard deviation at the chosen rank."""
        place = self.question.metrics.index(metric)
        exact, mean, std = (float(part[place, 0]) for part in self.here)
        return exact, mean, std

    def drawn(self, metric: Metric) -> tuple[Ints, Floats, Floats, Floats]:
        """Return the ranks of the picture, and a metric's three curves at these ranks.

        The chosen rank is inserted only here, because cached curves must not depend on it.
        """
        q, place = self.question, self.question.metrics.index(metric)
        exact, mean, std = (part[place] for part in self.curves)
        at = int(np.searchsorted(q.ranks, q.rank))
        if at == len(q.ranks) or q.ranks[at] == q.rank:
            return q.ranks, exact, mean, std
        pairs = zip((exact, mean, std), self.at_rank(metric), strict=True)
        exact, mean, std = (np.insert(part, at, value) for part, value in pairs)
        return np.insert(q.ranks, at, q.rank), exact, mean, std

    def csv(self) -> str:
        """Return the curves as CSV text, one row for each rank in the picture."""
        q = self.question
        columns: dict[str, Any] = {"rank": self.drawn(q.focus)[0]}
        for metric in q.metrics:
            _, exact, mean, std = self.drawn(metric)
            values = {"exact": exact, "expected": mean, "std": std}
            columns |= {f"{metric} {name}": part for name, part in values.items()}
        return f"# {q.sampling}\n" + as_csv(pd.DataFrame(columns))


def compute(q: Question, progress: Progress | None = None) -> Result:
    """Return the curves for these settings, and their values at the chosen rank."""
    everywhere = curves(q.metrics, q.sampling, q.ranks, progress)
    return Result(q, everywhere, curves(q.metrics, q.sampling, np.array([q.rank])))


def curves(
    metrics: tuple[Metric, ...], sampling: Sampling, ranks: Ints, progress: Progress | None = None
) -> Curves:
    """Return the curves at ``ranks``; all metrics share the distributions of the sampled rank."""

    def make() -> Curves:
        values = [metric.of_one(np.arange(sampling.m + 1), sampling.m) for metric in metrics]
        mean, variance = np.empty((2, len(metrics), len(ranks)))
        for rows, p in pmf_chunks(sampling.scheme, sampling.m, *sampling.weights(ranks)):
            if progress is not None:
                progress(rows.start / len(ranks))
            for place, vector in enumerate(values):
                mean[place, rows], variance[place, rows] = moments(p, vector)
        exact = np.array([metric(ranks, sampling.n) for metric in metrics])
        return frozen(exact), frozen(mean), frozen(np.sqrt(variance))

    return memory.cached(("curves", metrics, sampling, ranks.tobytes()), make, shared=True)


def law(sampling: Sampling, rank: int) -> Floats:
    """Return the distribution of the sampled rank, given the true rank: shape (m + 1,)."""
    key = "law", sampling, rank
    return memory.cached(key, lambda: frozen(sampling.pmf(rank)), shared=True)


def posterior(sampling: Sampling, sampled_rank: int) -> Floats:
    """Return for each r in 1..n the probability of a true rank up to r, given the sampled rank."""

    def make() -> Floats:
        return frozen(np.minimum(np.cumsum(core_posterior(sampled_rank, sampling)), 1.0))

    return memory.cached(("posterior", sampling, sampled_rank), make, shared=True, large=True)


def family(q: Question, sizes: tuple[int, ...]) -> tuple[dict[int, Floats], dict[int, float]]:
    """Return the expected metric in focus for each m in ``sizes`` below n - 1, and for m = n - 1.

    m = n - 1 is left out above ``MOST``. One dictionary is for ``q.ranks``, one for ``q.rank``.
    """
    s, metric = q.sampling, q.focus
    both = np.append(q.ranks, q.rank)
    values: dict[int, Floats] = {}
    for m in [*(m for m in sizes if m < s.n - 1), *([s.n - 1] if s.n - 1 <= MOST else [])]:
        if m == s.n - 1 and s.design.distinct:
            values[m] = metric(both, s.n)  # the sample holds all negatives: the metric is exact
        else:
            values[m] = curves((metric,), Sampling(s.n, m, s.scheme, s.odds), both)[1][0]
    return {m: y[:-1] for m, y in values.items()}, {m: float(y[-1]) for m, y in values.items()}


def sampled_ranks(sampling: Sampling, rank: int, seed: int, draws: int) -> Ints:
    """Return sampled ranks; for the same ``seed``, more ``draws`` only append further ranks."""
    return sampling.draw(np.full(draws, rank), np.random.default_rng(seed))


def negatives(sampling: Sampling, rank: int, sampled_rank: int, seed: int, draw: int) -> Ints:
    """Return random true ranks of the negatives in a draw that gave this sampled rank.

    In every scheme, the negatives above the relevant item are uniform among the items above, and
    the others among the items below. With replacement, an item may be drawn twice.
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
