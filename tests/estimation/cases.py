"""Sampled rank sets, and slow computations of bounds on metrics, for the tests in this folder."""

import numpy as np
from scipy.optimize import bisect, linprog
from scipy.stats import beta, entropy

import sampledash as sd
from sampledash.rank_sets import RankSet
from sampledash.sampled_rank_sets import SampledRankSet
from sampledash.sampling import pmf
from sampledash.types import Floats, Ints
from tests.oracles import WITH, dense_law, exact_metric


def averaged(ranks: RankSet, n: int, m: int) -> SampledRankSet:
    """Return the average sample of :func:`own_n_drawn` over all draws, with fractional counts."""
    own, times = np.unique(np.stack([ranks.n, ranks.ranks]), axis=1, return_counts=True)
    above = own[1].astype(float) - 1
    p = pmf("without-replacement", m, above, own[0] - 1 - above)
    return SampledRankSet(ranks.system, np.arange(1, m + 2), n, m, counts=times @ p, scheme=WITH)


def beta_drawn(n, m, scheme=WITH, size=700, a=0.4, seed=9):
    """Return sampled ranks of items whose true ranks follow Beta(a, 2) over 1..n, mostly near 1."""
    rng = np.random.default_rng(seed)
    ranks = np.minimum(1 + (n * rng.beta(a, 2, size)).astype(int), n)
    return SampledRankSet("S", sd.Sampling(n, m, scheme).draw(ranks, rng), n, m, scheme=scheme)


def drawn(ranks: Ints, n: int, m: int | Ints, rng: np.random.Generator) -> SampledRankSet:
    return SampledRankSet("A", 1 + rng.binomial(m, (ranks - 1) / (n - 1)), n, m, scheme=WITH)


def own_n_drawn(ranks: RankSet, n: int, m: int, rng: np.random.Generator) -> SampledRankSet:
    """Return ranks sampled without replacement at each instance's n, stored as WITH and one n."""
    above = rng.hypergeometric(ranks.ranks - 1, ranks.n - ranks.ranks, m)
    return SampledRankSet(ranks.system, above + 1, n, m, scheme=WITH)


def falling(kind: str, n: int) -> Floats:
    """Return a non-increasing rank distribution: uniform, flat and then zero, or exponential."""
    r = np.arange(1, n + 1)
    flat, exponential = (2 * r <= n) * 1.0, np.exp(-r / (0.05 * n))
    weights = dict(zip(FALLING, (np.ones(n), flat, exponential), strict=True))[kind]
    return np.asarray(weights / weights.sum())


FALLING = ("uniform", "flat then zero", "exponential")


def shaped(rows: Floats, shape: str | None) -> Floats:
    """Return rows (one per rank); for a non-increasing shape, row j is the mean of rows 1..j."""
    if shape is None:
        return rows
    places = np.arange(1, len(rows) + 1).reshape(-1, *[1] * (rows.ndim - 1))
    return np.cumsum(rows, axis=0) / places


def extremes(rows: Floats, low: Floats, high: Floats, values: Floats) -> tuple[float, float] | None:
    """Return the range of w @ values over distributions w with low <= w @ rows <= high, or None."""
    found = []
    for sign in (1, -1):
        least = {"A_ub": np.vstack([rows.T, -rows.T]), "b_ub": np.append(high, -low)}
        whole = {"A_eq": np.ones((1, len(values))), "b_eq": [1.0]}
        near = {f"{kind}_feasibility_tolerance": 1e-10 for kind in ("primal", "dual")}
        result = linprog(sign * values, **least, **whole, method="highs-ds", options=near)
        if result.status != 0:
            return None
        found.append(sign * result.fun)
    return found[0], found[1]


def brute(name, k, srs, shape, tolerance):
    """Return ``sd.bounds`` by a linear programme over all ranks; None if no ranks are possible."""
    ends = []
    for stratum in srs.strata:
        spans = []
        for n in stratum.extremes or (stratum.n,):
            rows, shares = [], []
            for m, counts in zip(stratum.m, stratum.counts, strict=True):
                rows.append(np.cumsum(dense_law(n, m, srs.scheme), axis=1)[:, :-1])
                shares.append(np.cumsum(counts)[:-1] / counts.sum())
            values = shaped(exact_metric(name, k, n), shape)
            every, observed = shaped(np.hstack(rows), shape), np.concatenate(shares)
            spans.append(extremes(every, observed - tolerance, observed + tolerance, values))
        if not any(spans):
            return None
        low, high = zip(*filter(None, spans), strict=True)
        ends.append(np.multiply((min(low), max(high)), float(stratum.total) / srs.n_instances))
    return tuple(np.sum(ends, axis=0))


def limited(name, k, stratum, shape, confidence):
    """Return bounds on the metric from Clopper-Pearson limits on the share of sampled ranks <= t,
    for each t that is an observed rank or one less. With a shape, half the error rate is for the
    difference between the mean metric of the instances and its expectation."""
    half, spans = (1 + confidence) / 2, []
    values = [exact_metric(name, k, n) for n in stratum.extremes or (stratum.n,)]
    for value in values:
        rows, limits = [], []
        for m, counts in zip(stratum.m, stratum.counts, strict=True):
            law = np.cumsum(dense_law(len(value), m, stratum.scheme), axis=1)
            seen = np.flatnonzero(counts) + 1
            places = sorted({min(max(int(t), 1), m) for t in (*seen, *(seen - 1))})
            total = counts.sum() / stratum.design_effect
            level = confidence if shape is None else half
            risk = (1 - level) / (2 * len(places) * len(stratum.m))
            for t in places:
                x = counts[:t].sum() / counts.sum() * total
                low = beta.ppf(risk, x, total - x + 1) if x > 0 else 0.0
                rows.append(law[:, t - 1])
                limits.append((low, beta.isf(risk, x + 1, total - x) if x < total else 1.0))
        every = shaped(np.transpose(rows), shape)
        spans.append(extremes(every, *np.transpose(limits), shaped(value, shape)))
    if not any(spans):
        return None
    lows, highs = zip(*filter(None, spans), strict=True)
    if shape is None:
        return min(lows), max(highs)
    worst, best = min(map(min, values)), max(map(max, values))
    allowed = np.log(2 / (1 - half)) * stratum.design_effect / stratum.total

    def beyond(end, expected):
        def room(x):
            return entropy([x, 1 - x], [expected, 1 - expected]) - allowed

        return end if room(end) <= 0 else bisect(room, expected, end, xtol=1e-13)

    width = best - worst or 1.0
    shares = (np.array([min(lows), max(highs)]) - worst) / width
    ends = zip((0, 1), np.clip(shares, 0, 1), strict=True)
    return tuple(worst + width * beyond(*end) for end in ends)


def adaptive(share, rng, start, cap, stop):
    """Return m, doubled up to cap until ``stop`` negatives rank above the item, and how many do."""
    m = np.full(len(share), start)
    above = rng.binomial(start, share)
    while np.any(more := (above < stop) & (m < cap)):
        added = np.minimum(m[more], cap - m[more])
        above[more] += rng.binomial(added, share[more])
        m[more] += added
    return m, above
