"""Evaluation that stops once the metric of an instance is certain: cost and bias."""

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import sampledash as sd
from tests.benchmarks.frame import Result, timed


def budgeted(rng: np.random.Generator, ranks: sd.RankSet, k: int, budget: float) -> np.ndarray:
    """Return instances in random order: as many as can be evaluated with ``budget`` scores."""
    order = rng.permutation(len(ranks))
    r, n = ranks.ranks[order], ranks.n[order]
    cost = np.asarray(n - 1.0)
    beyond = np.flatnonzero(r > k)
    # Scoring, in random order, stops at the k-th of the r - 1 candidates above the relevant item.
    # How many of the n - r candidates below it are scored by then is beta-binomial.
    marks, others = r[beyond] - 1, n[beyond] - r[beyond]
    cost[beyond] = k + rng.binomial(others, rng.beta(k, marks - k + 1))
    return order[: int(np.searchsorted(np.cumsum(cost), budget, side="right"))]


def plan(quick: bool) -> Iterator[Result]:
    """Time the computation of the mean expected number of scores of 1,000,000 users: up to 1 s."""
    users = 10_000 if quick else 1_000_000
    ranks = np.random.default_rng(1).integers(1, 10_001, users)
    ours, sets = timed(partial(sd.RankSet, "X", ranks, 10_000))
    again, cost = timed(partial(sd.mean_stopping_cost, "Recall@10", sets), 3)
    exact = np.where(ranks <= 10, 9_999, 10 * 10_000 / ranks).mean()
    name = f"cost of {users:,} users, n = 10,000, their rank set included"
    yield Result(name, ours + again, None, abs(cost.mean / exact - 1), 1e-12, within=1.0)


def table(quick: bool) -> Iterator[Result]:
    """Time ``designs`` at 100 scores a user: up to 1 s uncorrected, 5 s with three corrections."""
    sets, every = sd.example("movielens-xyz"), ["uncorrected", "CLS", "BV", "BV 0.01"]
    for size, limit in ((1, 1.0), (4, 5.0)):
        options = {"corrections": every[:size], "scheme": "without-replacement"}
        ours, told = timed(partial(sd.designs, "Recall@10", sets, 100, **options))
        stopped = told.errors.query("design == 'stop when decided'")["bias"].abs().max()
        name = f"designs of movielens-xyz at 100 scores, {size} ways to read a sample"
        yield Result(name, ours, None, stopped, 0.0, within=limit)


def budgets(quick: bool) -> Iterator[Result]:
    """Check 2,000 runs with 100 scores a user: bias up to 4 standard errors, intervals right in 93
    to 97 %. Five scores a user suffice for 44 users with few hits: then up to 100 %."""
    runs, sets = 20 if quick else 2_000, sd.example("movielens-xyz")

    def run(rng: np.random.Generator, metric: str, scores: int, pair: Any) -> list[Any]:
        at = budgeted(rng, pair[0], 10, scores * 6040)
        one, two = (sd.RankSet(x.system, x.ranks[at], x.n[at]) for x in pair)
        return [sd.mean_of_sample(metric, one, 6040, other) for other in (None, two)]

    for scores, metric, system in product((100, 5), ("Recall@10", "NDCG@10"), range(3)):
        pair, rng = (sets[system], sets[(system + 1) % 3]), np.random.default_rng([7, system])
        mean, other = (sd.mean(metric, x) for x in pair)
        once = partial(run, rng, metric, scores, pair)
        ours, _ = timed(once, 3)
        told = [once() for _ in range(runs)]
        values = [alone.value for alone, _ in told]
        errors = abs(np.mean(values) - mean) / np.std(values) * np.sqrt(runs)
        ends = np.array([[(x.interval.low, x.interval.high) for x in each] for each in told])
        truths = mean, mean - other
        held = np.mean((ends[..., 0] <= truths) & (truths <= ends[..., 1]), axis=0)
        what = f"{pair[0].system}, {metric} at {scores} scores a user"
        name = f"{runs:,} budgeted runs of {what}: bias in standard errors"
        own, both = 100 * held
        note = f"{own:.1f} % of intervals hold the metric, {both:.1f} % of those of "
        note += f"{pair[0].system} - {pair[1].system} the difference"
        most = 0.97 if scores == 100 else 1.0
        allowed = 4.0 if quick or 0.93 <= min(held) <= max(held) <= most else -1.0
        yield Result(name, ours, None, float(errors), allowed, note=note)


BENCHMARKS = (plan, table, budgets)
