"""Stop when decided: plans of millions, the evaluator's own time, and 2,000 budgeted runs."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from itertools import product
from time import perf_counter

import numpy as np

import sampledash as sd
from sampledash.types import Floats
from tests.benchmarks.frame import Result, timed
from tests.comparison.test_designs import budgeted


def plan(quick: bool) -> Iterator[Result]:
    """The cost of 1,000,000 users with 10,000 candidates each, below one second."""
    users = 10_000 if quick else 1_000_000
    ranks = np.random.default_rng(1).integers(1, 10_001, users)
    ours, sets = timed(partial(sd.RankSet, "X", ranks, 10_000))
    again, cost = timed(partial(sd.mean_stopping_cost, "Recall@10", sets), 3)
    exact = np.where(ranks <= 10, 9_999, 10 * 10_000 / ranks).mean()
    name = f"cost of {users:,} users, n = 10,000, their rank set included"
    yield Result(name, ours + again, None, abs(cost.mean / exact - 1), 1e-12, within=1.0)


def table(quick: bool) -> Iterator[Result]:
    """All designs at 100 scores a user: 1 s without corrections, 5 s with them."""
    sets = sd.example("movielens-xyz")
    for corrections, limit in (
        (["uncorrected"], 1.0),
        (["uncorrected", "CLS", "BV", "BV 0.01"], 5.0),
    ):
        options = {"corrections": corrections, "scheme": "without-replacement"}
        ours, found = timed(partial(sd.designs, "Recall@10", sets, 100, **options))
        stopped = found.errors.query("design == 'stop when decided'")["bias"].abs().max()
        name = f"designs of movielens-xyz at 100 scores, {len(corrections)} ways to read a sample"
        yield Result(name, ours, None, stopped, 0.0, within=limit)


def overhead(quick: bool) -> Iterator[Result]:
    """The evaluator's own time beside that of the matrix products it asks for.

    Scores are stored and handed out, so that their noise does not hide what little is measured.
    Users whose item is within the cutoff are scored to the end; of the others most take one chunk,
    and there what is done once for a user weighs more. 512 factors are a chunk of 0.1 ms.
    """
    n, size, repeats = 10_000, 100, 3 if quick else 15
    for factors, within in product((64, 512), (True, False)):
        rng = np.random.default_rng(0)
        items, users = rng.normal(size=(n, factors)), rng.normal(size=(size, factors))
        rank = rng.integers(1, 11, size) if within else (n ** rng.uniform(0.3, 1, size)).astype(int)
        place, pool = [np.argsort(-items @ user) for user in users], np.arange(n)
        asked = [(u, place[u][r - 1], pool) for u, r in enumerate(rank)]
        calls: list[tuple[int, Floats]] = []
        made: list[Floats] = []

        def score(user: int, some: Floats, items=items, users=users, calls=calls, made=made):
            calls.append((user, some))
            made.append(items[some] @ users[user])
            return made[-1]

        def products(items=items, users=users, calls=calls) -> None:
            for user, some in calls:
                items[some] @ users[user]

        def stored(whole: bool, asked=asked, calls=calls, made=made) -> None:
            scores = iter(made)

            def ask(user: int, some: Floats) -> Floats:
                return next(scores)

            if whole:
                sd.evaluate(asked, {"dot": ask}, 10)
            else:
                for user, some in calls:
                    ask(user, some)

        found = sd.evaluate(asked, {"dot": score}, 10)
        off = abs(sd.mean("NDCG@10", found.sets[0]) - sd.mean("NDCG@10", sd.RankSet("S", rank, n)))
        own = cpu(partial(stored, True), repeats) - cpu(partial(stored, False), repeats)
        plain, which = cpu(products, repeats), "within" if within else "beyond"
        name = f"evaluator, {size} users {which} 10 of {n:,}, chunks of 256 by {factors}"
        note = (
            f"{100 * own / plain:.1f} % of {len(calls)} products: {1e6 * own / len(calls):.1f} µs "
            f"beside {1e6 * plain / len(calls):.0f} µs a chunk"
        )
        yield Result(name, own + plain, plain, off, 1e-12, note=note)


def cpu(run: partial[object], repeats: int) -> float:
    best = np.inf
    for _ in range(repeats):
        start = perf_counter()
        run()
        best = min(best, perf_counter() - start)
    return best


def budgets(quick: bool) -> Iterator[Result]:
    """2,000 runs at 100 scores a user: unbiased within 4 standard errors, 93 to 97 % covered.

    With five scores a user, some 44 of them, hits are few: intervals may then be too wide.
    """
    runs, sets = 20 if quick else 2_000, sd.example("movielens-xyz")
    for scores, metric, system in product((100, 5), ("Recall@10", "NDCG@10"), range(3)):
        ranks, other = sets[system], sets[(system + 1) % 3]
        rng, paired = np.random.default_rng([7, system]), (ranks, other)
        truths = sd.mean(metric, ranks), sd.mean(metric, ranks) - sd.mean(metric, other)
        found, covered = [], np.zeros(2)

        def run(
            paired=paired, rng=rng, metric=metric, scores=scores
        ) -> tuple[sd.InstanceMean, sd.InstanceMean]:
            at = budgeted(rng, paired[0], 10, scores * 6040)
            one, two = (
                sd.RankSet(name, x.ranks[at], x.n[at]) for name, x in zip("AB", paired, strict=True)
            )
            alone = sd.mean_of_sample(metric, one, 6040)
            return alone, sd.mean_of_sample(metric, one, 6040, two)

        ours, _ = timed(run, 3)
        for _ in range(runs):
            told = run()
            found.append(told[0].value)
            ends = zip(told, truths, strict=True)
            covered += [x.interval.low <= truth <= x.interval.high for x, truth in ends]
        errors = abs(np.mean(found) - truths[0]) / np.std(found) * np.sqrt(runs)
        alone, pair = covered / runs
        what = f"{ranks.system}, {metric} at {scores} scores a user"
        name = f"{runs:,} budgeted runs of {what}: bias in standard errors"
        note = (
            f"{100 * alone:.1f} % of intervals hold the metric, {100 * pair:.1f} % of those of "
            f"{ranks.system} - {other.system} the difference"
        )
        most = 0.97 if scores == 100 else 1.0
        allowed = 4.0 if quick or 0.93 <= min(alone, pair) <= max(alone, pair) <= most else -1.0
        yield Result(name, ours, None, float(errors), allowed, note=note)


BENCHMARKS = [plan, table, overhead, budgets]
