"""The accuracy of estimates from sampled ranks of systems whose exact metrics are known. For X, Y
and Z on MovieLens 1M, negatives are drawn without replacement from each user's candidates;
estimates model sampling with replacement at the mean n, as in Krichene & Rendle."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import sampledash as sd
from sampledash.estimation.rank_distribution import Learner, side_by_side
from sampledash.estimation.vectors import VECTORS as ROWS
from sampledash.estimation.vectors import solver
from sampledash.sampled_rank_sets import Outcomes, SampledRankSet
from sampledash.types import Floats
from tests.benchmarks.frame import Result, alone, timed
from tests.oracles import WITH

METRICS = ("Recall@10", "NDCG@10", "AP")
EVERY_METRIC = METRICS + tuple(f"Recall@{k}" for k in range(1, 51))
PAIRS = ((0, 1), (0, 2), (1, 2))
RUNS = dict.fromkeys((50, 100, 200, 1000), 500)
CORRECTIONS = ("uncorrected", "CLS", "BV 0.1", "BV 0.01")
DISTRIBUTIONS = ("mle", "mes", "monotone-mle")
VECTORS = ("bv-mle", "bv-mes", "bv-monotone-mle", "mn")
SHARED = ("shared bv-mle, BV 0.1", "shared bv-monotone-mle, BV 0.1")
SIDE_BY_SIDE = "side by side, non-increasing"
EVERY = (*CORRECTIONS, *DISTRIBUTIONS, *VECTORS, *SHARED, SIDE_BY_SIDE)

#: Limits at m = 100: relative error of Recall@1..50 in a run, relative error of estimates averaged
#: over runs, and % of runs that order the pair X-Y, X-Z or Y-Z correctly by each of METRICS.
ANY = np.inf, np.inf, 0.0
ASKED = dict.fromkeys(("mle", "mes", "bv-mle", "bv-mes", "mn"), (0.09, np.inf, 0.0))
ASKED |= {"monotone-mle": (0.09, 0.03, 0.0), SIDE_BY_SIDE: (0.09, 0.03, 78.0)}
ASKED |= {SHARED[0]: (np.inf, np.inf, 78.0), SHARED[1]: (np.inf, 0.05, 74.0)}


def drawn(m: int, runs: int, rng: np.random.Generator) -> list[Outcomes]:
    """Return sampled ranks of X, Y, Z in many runs, drawn at each user's n, stored as n = 3541."""
    samples = []
    for rs in sd.example("movielens-xyz"):
        law = rs.ranks - 1, rs.n - rs.ranks, np.minimum(m, rs.n - 1)
        counts = [np.bincount(rng.hypergeometric(*law), minlength=m + 1) for _ in range(runs)]
        samples.append(Outcomes(3541, WITH, (m,), (np.array(counts, dtype=float),)))
    return samples


def values_of(method: str, samples: list[Outcomes]) -> Floats:
    """Return one method's estimates of EVERY_METRIC, shape (systems, runs, 53)."""
    (m,), n = samples[0].m, samples[0].n
    rank = np.arange(1, n + 1)
    target = np.stack([sd.parse_metric(text)(rank, n) for text in EVERY_METRIC], axis=1)
    counts = np.stack([s.counts[0] / s.total[:, None] for s in samples])
    if method in CORRECTIONS:
        recipe, law = sd.parse_correction(method), sd.Sampling(n, m, WITH)
        return counts @ np.stack([recipe.fit(text, law).values for text in EVERY_METRIC], axis=1)
    pooled = Outcomes(n, WITH, (m,), (sum(s.counts[0] for s in samples),))
    if method == SIDE_BY_SIDE:
        return np.stack([own.mass @ target for own in side_by_side(pooled, samples)])
    name = method.removeprefix("shared ").removesuffix(", BV 0.1")
    learn, prior = [pooled] if method in SHARED else samples, getattr(ROWS.get(name), "prior", name)
    priors = [Learner(s, prior).distribution() for s in learn]
    if name in DISTRIBUTIONS:
        return np.stack([own.mass @ target for own in priors])
    law, gamma = priors[0].support.law(m), 0.1 if method in SHARED else 0.01

    def vector(pi: Floats, size: float) -> Floats:
        noise = np.full(len(law), 1 / size) if name == "mn" else gamma * pi
        return solver(law, pi, noise)(law.T @ (pi[:, None] * target))

    vectors = [list(map(vector, own.mass, samples[0].total)) for own in priors]
    vectors *= len(samples) // len(vectors)  # a shared vector is repeated for each system
    return np.stack([np.einsum("rt,rtc->rc", *both) for both in zip(counts, vectors, strict=True)])


def quality(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Return relative errors of Recall@1..50 and of mean estimates, and % of runs in true order."""
    sets = sd.example("movielens-xyz")
    truth = np.array([[sd.mean(text, rs) for text in EVERY_METRIC] for rs in sets])
    relative = np.abs(values / truth[:, None] - 1)[:, :, 3:].mean(axis=(1, 2))
    mean = np.abs(values.mean(axis=1) / truth - 1)[:, :3].mean(axis=0)
    right = [np.sign(values[a] - values[b]) == np.sign(truth[a] - truth[b]) for a, b in PAIRS]
    return relative, mean, 100 * np.mean(right, axis=1)[:, :3]


def accuracy(quick: bool) -> Iterator[Result]:
    """Run all estimators on X, Y, Z; ``difference`` is the mean relative error of Recall@1..50."""
    for m, full in ((100, 10),) if quick else RUNS.items():
        samples = drawn(m, full, np.random.default_rng(100 + m))
        for method in EVERY:
            spent, values = timed(partial(values_of, method, samples))
            relative, mean, cells = quality(values)
            most, off, least = ASKED.get(method, ANY) if m == 100 else ANY
            # Ten runs (``quick``) suffice to check errors, but not the share of runs in true order.
            short = not quick and cells.min() < least
            missed = short or mean.mean() > off * (1.5 if quick else 1)
            errors, off = ([f"{100 * x:.1f}" for x in part] for part in (relative, mean))
            note = f"X/Y/Z {'/'.join(errors)}; error of the mean {100 * mean.mean():.1f} "
            note += f"({' '.join(off)}); order {' '.join(f'{x:.0f}' for x in cells.ravel())}, "
            note += f"worst {cells.min():.1f}"
            name, limit = f"{method}, m = {m}, {full} runs: errors in %", 0.0 if missed else most
            yield Result(name, spent / (3 * full), None, float(relative.mean()), limit, note=note)


def iterated(n: int, m: int, size: int) -> Any:
    """Return a job that fits a distribution to a large sample and returns the error of its AUC."""
    rng = np.random.default_rng(0)
    ranks = np.minimum(1 + (n * rng.beta(0.4, 2, size)).astype(np.int64), n)
    srs = SampledRankSet("S", sd.Sampling(n, m).draw(ranks, rng), n, m)
    exact = float(sd.parse_metric("AUC")(ranks, n).mean())

    def work(progress: Any) -> float:
        return abs(float(Learner(srs.outcomes, "mle").distribution().expected("AUC")) - exact)

    return work


def large(quick: bool) -> Iterator[Result]:
    """Time 100 EM iterations for 10^6 instances and m = 1,000: less than 2 s and 500 MiB."""
    for n in (10**6,) if quick else (10**6, 10**9):
        run = alone(iterated, n, 1000, 10**6)
        name = f"EM, 100 iterations, n = {n:,}, m = 1,000, 10^6 instances (off: AUC)"
        yield Result(name, run.seconds, None, run.result, 1e-3, within=2.0, note=run.told(500))


BENCHMARKS = (accuracy, large)
