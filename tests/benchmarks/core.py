"""Our way against the obvious way: time, ratio and the largest difference."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np

import sampledash as sd
from sampledash.types import Floats
from tests.benchmarks.frame import Result, alone, fresh, timed
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
    """The law for n = 10,000 ranks and m = 100 against scipy.stats on a grid."""
    n, m, step = 10_000, 100, 500 if quick else 20
    rank = np.arange(1, n + 1)
    for scheme in UNIFORM:
        ours, p = timed(partial(sd.Sampling(n, m, scheme).pmf, rank), 3)
        obvious, q = timed(partial(by_scipy, rank[::step, None] - 1, n - 1, m, scheme))
        name = f"law, 10,000 x 100, {scheme}"
        yield Result(name, ours, obvious * step, apart(p[::step], q), 1e-10)


def bias_variance(quick: bool) -> Iterator[Result]:
    """Eq. 25 against the n by m+1 matrix: at least 50 times faster, within 1e-9."""
    n, m = (10_000, 100) if quick else (100_000, 500)
    for scheme in UNIFORM:
        for name, k in (("ap", None), ("ndcg", 10)):
            metric, sampling = sd.metric(name, k=k), sd.Sampling(n, m, scheme)
            recipe = sd.correction("BV", gamma=0.1)

            def fit(recipe=recipe, metric=metric, sampling=sampling) -> Floats:
                fresh()
                return recipe.fit(metric, sampling).values

            ours, values = timed(fit, 3)
            obvious, true = timed(
                lambda name=name, k=k, scheme=scheme: dense_bias_variance(
                    dense_law(n, m, scheme), dense_target(name, k, n), 0.1, None
                )
            )
            name = f"bias-variance {metric}, n = {n:,}, m = {m}, {scheme}"
            least = None if quick else 50
            yield Result(name, ours, obvious, apart(values, true), 1e-9, at_least=least)


def one_fit(correction: str, metric: str, scheme: str, n: int, m: int) -> Any:
    recipe, sampling = sd.parse_correction(correction), sd.Sampling(n, m, scheme)
    recipe.fit("AP", sd.Sampling(2000, 10, scheme))

    def work(progress: Any) -> None:
        recipe.fit(metric, sampling)

    return work


def any_n(quick: bool) -> Iterator[Result]:
    """n = 1,000,000,000 in the time of n = 10,000: within three times, 1 s and 300 MiB."""
    m = 100 if quick else 1000
    few, many = 10_000, 10**9
    cases = [
        *(("BV 0.1", name, name) for name in ("AP", "NDCG@10", "Recall@10")),
        ("BV 0.1", f"Recall@{few // 3}", f"Recall@{many // 3}"),
        ("CLS", "AP", "AP"),
    ]
    for scheme in UNIFORM:
        for recipe, less, metric in cases[:1] if quick else cases:
            # The better of two.
            small, large = (
                [alone(one_fit, recipe, x, scheme, n, m) for _ in range(2)]
                for x, n in ((less, few), (metric, many))
            )
            first, second = (min(run.seconds for run in runs) for runs in (small, large))
            peak = max(run.peak for run in large)
            passed = second <= 3 * first and peak <= 300
            name = f"{recipe} {metric}, n = 10^9 (against 10^4), m = {m}, {scheme}"
            note = f"peak {peak:.0f} MiB" + ("" if passed or quick else " - TOO MUCH")
            yield Result(name, second, first, None, 0, at_least=1 / 3, within=1.0, note=note)


def curves(quick: bool) -> Iterator[Result]:
    """Curves of X, Y, Z: four metrics, 60 values of m, against scipy.stats row by row."""
    sets = sd.example("movielens-xyz")
    metrics = [sd.parse_metric(text) for text in ("Recall@10", "NDCG@10", "AP", "AUC")]
    m_values = np.unique(np.geomspace(1, 1000, 76).round().astype(int))[-60:]
    step = 2000 if quick else 100
    few = [sd.RankSet(rs.system, rs.ranks[::step], rs.n[::step]) for rs in sets]
    for scheme in UNIFORM:

        def ours_of(which: list[sd.RankSet], scheme: str = scheme) -> Floats:
            return np.array([sd.curve(x, which, m_values, scheme=scheme) for x in metrics])

        def by_rows(scheme: str = scheme) -> Floats:
            result = np.zeros((len(metrics), len(m_values), len(few)))
            for y, m in enumerate(m_values):
                values = np.array([metric(np.arange(1, m + 2), m + 1) for metric in metrics])
                for z, rs in enumerate(few):
                    for r, n in zip(rs.ranks, rs.n, strict=True):
                        result[:, y, z] += values @ by_scipy(r - 1, n - 1, m, scheme) / len(rs)
            return result

        ours, _ = timed(lambda: ours_of(few if quick else sets), 3)
        obvious, true = timed(by_rows)
        name = f"curves of X, Y, Z, 4 metrics x {len(m_values)} m, {scheme}"
        off, least = apart(ours_of(few), true), None if quick else 100
        yield Result(name, ours, obvious * step, off, 1e-9, at_least=least)


BENCHMARKS = (laws, bias_variance, any_n, curves)
