"""Samples and slow ways to the same bounds, shared by the tests of estimation."""

import numpy as np
from scipy.optimize import linprog

import sampledash as sd
from sampledash.rank_sets import RankSet
from sampledash.sampled_rank_sets import SampledRankSet
from sampledash.sampling import pmf
from sampledash.types import Floats, Ints
from tests.oracles import WITH, dense_law, exact_metric


def averaged(ranks: RankSet, n: int, m: int) -> SampledRankSet:
    """Mean counts of infinitely many runs without replacement at each instance's own n."""
    own, times = np.unique(np.stack([ranks.n, ranks.ranks]), axis=1, return_counts=True)
    above = own[1].astype(float) - 1
    p = pmf("without-replacement", m, above, own[0] - 1 - above)
    return SampledRankSet(ranks.system, np.arange(1, m + 2), n, m, counts=times @ p, scheme=WITH)


def beta_drawn(n, m, scheme=WITH, size=700, a=0.4, seed=9):
    """Ranks spread as Beta(a, 2) over 1..n, most of them at the top, and one draw of each."""
    rng = np.random.default_rng(seed)
    ranks = np.minimum(1 + (n * rng.beta(a, 2, size)).astype(int), n)
    return SampledRankSet("S", sd.Sampling(n, m, scheme).draw(ranks, rng), n, m, scheme=scheme)


def drawn(ranks: Ints, n: int, m: int | Ints, rng: np.random.Generator) -> SampledRankSet:
    return SampledRankSet("A", 1 + rng.binomial(m, (ranks - 1) / (n - 1)), n, m, scheme=WITH)


def own_n_drawn(ranks: RankSet, n: int, m: int, rng: np.random.Generator) -> SampledRankSet:
    """One run without replacement at each instance's own n, to be modelled with replacement."""
    above = rng.hypergeometric(ranks.ranks - 1, ranks.n - ranks.ranks, m)
    return SampledRankSet(ranks.system, above + 1, n, m, scheme=WITH)


def least_held(runs: int) -> float:
    """Share of runs that 95 % intervals hold at least, but for 4 standard errors."""
    return float(0.95 - 4 * np.sqrt(0.95 * 0.05 / runs))


def falling(kind: str, n: int) -> Floats:
    """A non-increasing rank distribution: all equal, flat and then zero, or exponential."""
    r = np.arange(1, n + 1)
    weights = {
        "uniform": np.ones(n),
        "flat then zero": (2 * r <= n) * 1.0,
        "exponential": np.exp(-r / (0.05 * n)),
    }[kind]
    return np.asarray(weights / weights.sum())


FALLING = ("uniform", "flat then zero", "exponential")


def shaped(rows: Floats, shape: str | None) -> Floats:
    """Rows of point masses, or of uniform distributions on 1..j."""
    if shape is None:
        return rows
    places = np.arange(1, len(rows) + 1).reshape(-1, *[1] * (rows.ndim - 1))
    return np.cumsum(rows, axis=0) / places


def extremes(rows: Floats, low: Floats, high: Floats, values: Floats) -> tuple[float, float] | None:
    """Bounds by one programme over all distributions, as inequalities; ``None`` if infeasible."""
    found = []
    for sign in (1, -1):
        result = linprog(
            sign * values,
            A_ub=np.vstack([rows.T, -rows.T]),
            b_ub=np.append(high, -low),
            A_eq=np.ones((1, len(values))),
            b_eq=[1.0],
            method="highs-ds",
            options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
        )
        if result.status != 0:
            return None
        found.append(sign * result.fun)
    return found[0], found[1]


def brute(name, k, srs, shape, tolerance):
    """Bounds from the laws of all n ranks and every cumulative share."""
    n, rows, shares = srs.outcomes.n, [], []
    for m, counts in zip(srs.outcomes.m, srs.outcomes.counts, strict=True):
        rows.append(np.cumsum(dense_law(n, m, srs.scheme), axis=1)[:, :-1])
        shares.append(np.cumsum(counts)[:-1] / counts.sum())
    observed = np.concatenate(shares)
    values = shaped(exact_metric(name, k, n), shape)
    every = shaped(np.hstack(rows), shape)
    return extremes(every, observed - tolerance, observed + tolerance, values)


def adaptive(share, rng, start, cap, stop):
    """m and how many are above: twice as many until ``stop`` are above, or ``cap`` are drawn."""
    m = np.full(len(share), start)
    above = rng.binomial(start, share)
    while np.any(more := (above < stop) & (m < cap)):
        added = np.minimum(m[more], cap - m[more])
        above[more] += rng.binomial(added, share[more])
        m[more] += added
    return m, above
