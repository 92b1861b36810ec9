"""Times and results of the core, compared with those of obvious implementations."""

from collections.abc import Iterator
from functools import partial
from itertools import product
from typing import Any

import numpy as np

import sampledash as sd
from sampledash.correction import vector
from sampledash.types import Floats
from tests.benchmarks.frame import Result, alone, timed
from tests.oracles import UNIFORM, WITH, dense_bias_variance, dense_law, dense_target


def by_scipy(above: Any, others: int, m: int, scheme: str) -> Floats:
    from scipy.stats import binom, hypergeom

    s = np.arange(m + 1)
    if scheme == WITH:
        return binom.pmf(s, m, above / others)
    return hypergeom.pmf(s, others, above, m)


def apart(ours: Floats, other: Floats) -> float:
    return float(np.abs(ours - other).max() / np.abs(other).max())


def laws(quick: bool) -> Iterator[Result]:
    """Compare distributions of sampled ranks (m = 100) with scipy.stats at some of 10,000 ranks."""
    n, m, step = 10_000, 100, 500 if quick else 20
    rank = np.arange(1, n + 1)
    for scheme in UNIFORM:
        ours, p = timed(partial(sd.Sampling(n, m, scheme).pmf, rank), 3)
        obvious, q = timed(partial(by_scipy, rank[::step, None] - 1, n - 1, m, scheme))
        name = f"law, 10,000 x 100, {scheme}"
        yield Result(name, ours, obvious * step, apart(p[::step], q), 1e-10)


def fitted(recipe: sd.Correction, metric: sd.Metric, sampling: sd.Sampling) -> Floats:
    vector.cache_clear()  # otherwise, repeated timing would measure a look-up
    return recipe.fit(metric, sampling).values


def dense(name: str, k: int | None, n: int, m: int, scheme: str) -> Floats:
    return dense_bias_variance(dense_law(n, m, scheme), dense_target(name, k, n), 0.1, None)


def bias_variance(quick: bool) -> Iterator[Result]:
    """Compare bias-variance fits with dense algebra, which must take at least 50 times as long."""
    n, m = (10_000, 100) if quick else (100_000, 500)
    for scheme, (name, k) in product(UNIFORM, (("ap", None), ("ndcg", 10))):
        metric, recipe = sd.metric(name, k=k), sd.correction("BV", gamma=0.1)
        ours, values = timed(partial(fitted, recipe, metric, sd.Sampling(n, m, scheme)), 3)
        obvious, true = timed(partial(dense, name, k, n, m, scheme))
        title = f"bias-variance {metric}, n = {n:,}, m = {m}, {scheme}"
        yield Result(title, ours, obvious, apart(values, true), 1e-9, at_least=50)


def one_fit(correction: str, metric: str, scheme: str, n: int, m: int) -> Any:
    recipe, sampling = sd.parse_correction(correction), sd.Sampling(n, m, scheme)
    recipe.fit("AP", sd.Sampling(2000, 10, scheme))

    def work(progress: Any) -> None:
        recipe.fit(metric, sampling)

    return work


def any_n(quick: bool) -> Iterator[Result]:
    """Time fits at n = 10^9. Allowed are 1 s, 300 MiB, and three times the time at n = 10,000."""
    m, few, many = 100 if quick else 1000, 10_000, 10**9
    cases = [("BV 0.1", name, name) for name in ("AP", "NDCG@10", "Recall@10")]
    cases += [("BV 0.1", f"Recall@{few // 3}", f"Recall@{many // 3}"), ("CLS", "AP", "AP")]
    for scheme, (recipe, less, metric) in product(UNIFORM, cases[:1] if quick else cases):
        both = (recipe, less, scheme, few, m), (recipe, metric, scheme, many, m)
        # Each fit is timed in two processes, and the faster one is reported.
        small, large = (min(alone(one_fit, *asked) for _ in "12") for asked in both)
        name = f"{recipe} {metric}, n = 10^9 (against 10^4), m = {m}, {scheme}"
        limits = {"at_least": 1 / 3, "within": 1.0, "note": large.told(300)}
        yield Result(name, large.seconds, small.seconds, None, 0, **limits)


def curves(quick: bool) -> Iterator[Result]:
    """Compare curves of four metrics of X, Y, Z at 60 values of m with a loop over scipy.stats."""
    sets, metrics = sd.example("movielens-xyz"), ("Recall@10", "NDCG@10", "AP", "AUC")
    m_values = np.unique(np.geomspace(1, 1000, 76).round().astype(int))[-60:]
    step = 2000 if quick else 100
    few = [sd.RankSet(rs.system, rs.ranks[::step], rs.n[::step]) for rs in sets]

    def ours_of(which: list[sd.RankSet], scheme: str) -> Floats:
        return np.array([sd.curve(x, which, m_values, scheme=scheme) for x in metrics])

    def mean(m: int, rs: sd.RankSet, scheme: str) -> Floats:
        values = [sd.parse_metric(x)(np.arange(1, m + 2), m + 1) for x in metrics]
        rows = zip(rs.ranks - 1, rs.n - 1, strict=True)
        return np.mean([values @ by_scipy(*row, m, scheme) for row in rows], axis=0)

    def by_rows(scheme: str) -> Floats:
        rows = [[mean(m, rs, scheme) for rs in few] for m in m_values.tolist()]
        return np.moveaxis(rows, -1, 0)

    for scheme in UNIFORM:
        ours, _ = timed(partial(ours_of, few if quick else sets, scheme), 3)
        obvious, true = timed(partial(by_rows, scheme))
        name = f"curves of X, Y, Z, 4 metrics x {len(m_values)} m, {scheme}"
        off = apart(ours_of(few, scheme), true)
        yield Result(name, ours, obvious * step, off, 1e-9, at_least=100)


BENCHMARKS = (laws, bias_variance, any_n, curves)
