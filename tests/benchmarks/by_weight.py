"""Negatives drawn by popularity without replacement: exact means beside true evaluations by item,
on MovieLens 1M (its ratings are not part of the repository) or on simulated interactions."""

from collections.abc import Iterator
from functools import partial

import numpy as np

import sampledash as sd
from tests.benchmarks.frame import Result, timed
from tests.benchmarks.lab import there
from tests.lab.movielens import movielens

SYSTEMS, DRAWN = ("bestsellers-count", "EASE"), (20, 100)
SCHEME = {"scheme": "popularity-without-replacement"}


def evaluations_by_item(quick: bool) -> Iterator[Result]:
    """Compare Recall@10 with runs that draw items, within .001 and 4 standard errors."""
    runs, real = 5 if quick else 100, not quick and there("ml1m")
    parts = sd.split(movielens("ml1m") if real else sd.synthetic(), "last 1")
    models = [sd.finish(sd.parse_recommender(x).train(parts.training)) for x in SYSTEMS]
    users, test = len(parts.test.users), parts.test.item[np.argsort(parts.test.user)]
    popularity = np.bincount(parts.training.item, minlength=parts.training.n_items)
    negative = parts.training.matrix.toarray() == 0
    negative[np.arange(users), test] = False
    for alpha in (1, 0.75):
        how = {"weights": f"popularity^{alpha}"}
        sets = [
            sd.finish(sd.rank(model.scores, parts, system=name, **how))
            for name, model in zip(SYSTEMS, models, strict=True)
        ]
        rate = np.maximum(popularity, 1e-9) ** float(alpha)
        rng, values = np.random.default_rng(7), np.empty((runs, len(SYSTEMS), len(DRAWN)))
        for run in range(runs):
            ring = np.where(negative, rng.standard_exponential(negative.shape) / rate, np.inf)
            first = np.argpartition(ring, DRAWN[-1], axis=1)[:, : DRAWN[-1]]
            first = np.take_along_axis(first, np.argsort(np.take_along_axis(ring, first, 1)), 1)
            for i, model in enumerate(models):
                scores = np.asarray(model.scores(0, users), dtype=np.float64)
                mine = scores[np.arange(users), test][:, None]
                drawn = np.take_along_axis(scores, first, axis=1)
                tied = (drawn == mine) & (rng.random(drawn.shape) < rng.random((users, 1)))
                above = np.cumsum((drawn > mine) | tied, axis=1)
                values[run, i] = [np.mean(above[:, m - 1] < 10) for m in DRAWN]
        for i, m in np.ndindex(len(SYSTEMS), len(DRAWN)):
            mean = partial(sd.expected_mean, "Recall@10", sets[i], DRAWN[m], **SCHEME)
            ours, exact = timed(mean)
            simulated, error = values[:, i, m].mean(), values[:, i, m].std() / runs**0.5
            name = (
                f"{SYSTEMS[i]}, popularity^{alpha}, m = {DRAWN[m]}: {exact:.5f} ({simulated:.5f})"
            )
            yield Result(name, ours, None, abs(simulated - exact), min(4 * error, 1e-3) + quick)


BENCHMARKS = (evaluations_by_item,)
