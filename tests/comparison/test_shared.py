"""``probability_if_shared``, against all orders of the irrelevant items and all samples."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from itertools import combinations, permutations, product

import numpy as np
import pytest
from scipy.optimize import linprog
from scipy.stats import norm

import sampledash as sd
from sampledash.comparison import shared
from sampledash.comparison.run_distribution import Run
from sampledash.comparison.shared import covariance_bounds, probability_if_shared
from sampledash.protocol import Protocol
from tests.benchmarks.chances import Pair, off_shared
from tests.comparison.made import each_metric, of_ranks, options_of
from tests.oracles import POPULARITY, WITH, law_of_sum
from tests.oracles import UNIFORM as SCHEMES


def draws(items: int, m: int, scheme: str) -> np.ndarray:
    every = product(range(items), repeat=m) if scheme == WITH else combinations(range(items), m)
    return np.array(list(every))


def counted(above: Sequence[Sequence[int]], samples: np.ndarray) -> np.ndarray:
    """Return sampled ranks (samples, relevant items), given the items above each relevant item."""
    return np.array([np.isin(samples, x).sum(axis=1) + j for j, x in enumerate(above, start=1)]).T


def all_orders(ranks: list[int], n: int, samples: np.ndarray) -> Iterator[np.ndarray]:
    """Yield the sampled ranks of the relevant items for every order of the irrelevant items."""
    for order in permutations(range(n - len(ranks))):
        yield counted([order[: r - j] for j, r in enumerate(ranks, start=1)], samples)


def covariances(x: np.ndarray, others: Iterable[np.ndarray]) -> np.ndarray:
    return np.array([np.mean(x * y) - x.mean() * y.mean() for y in others])


def bounds_of(metric, sets, m, options):
    runs = (Run(metric, rs, m, Protocol.of(options)) for rs in sets)
    (low,), (high,) = covariance_bounds(*runs)
    return low, high


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("first", "second", "n", "m"),
    [([3], [4], 6, 2), ([1], [5], 6, 2), ([5], [5], 6, 3), ([2, 4], [3, 6], 7, 2),
     ([1, 6], [2, 3], 6, 2)],
)  # fmt: skip
def test_covariances_lie_between_attained_ends(first, second, n, m, scheme):
    sets = of_ranks(n, first, second, instances=["u"] * len(first))
    samples = draws(n - len(first), m, scheme)
    mine, theirs = next(all_orders(first, n, samples)), list(all_orders(second, n, samples))
    for metric, value in each_metric():
        of = cache(lambda *s, value=value: value(s, m + len(s)))
        x, *ys = (np.array([of(*s) for s in each.tolist()]) for each in (mine, *theirs))
        found = covariances(x, ys)
        ends = pytest.approx((found.min(), found.max()), abs=1e-12)
        assert bounds_of(metric, sets, m, {"scheme": scheme}) == ends


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("correction", ["BV 0.01", "CLS", "rank estimate"])
def test_corrected_values_and_ties_are_bounded(correction: str, scheme: str) -> None:
    n, m = 8, 3
    options = {"scheme": scheme, "correction": correction}
    fit = sd.parse_correction(correction).fit("Recall@2", sd.Sampling(n, m, scheme))
    samples = draws(n - 1, m, scheme)
    for first, second, tied in ((3, 4, 0), (2, 7, 0), (6, 6, 0), (2, 3, 2), (4, 3, 3)):
        # P's relevant item may be anywhere among its ties, Q's below any ``second - 1`` items.
        sets = [sd.RankSet("P", [first], n, ties=[tied]), sd.RankSet("Q", [second], n)]
        x = [fit(counted([range(first - 1 + t)], samples)[:, 0]) for t in range(tied + 1)]
        above = combinations(range(n - 1), second - 1)
        every = [fit(counted([some], samples)[:, 0]) for some in above]
        found = covariances(np.mean(x, axis=0), every)
        low, high = bounds_of(sd.metric("recall", k=2), sets, m, options)
        assert low <= found.min() + 1e-12
        assert high >= found.max() - 1e-12
        if tied:  # with ties, bounds are covariances of values sorted alike or oppositely
            x, y = np.sort(x, axis=None), np.sort(np.repeat(every[0], tied + 1))
            assert (low, high) == pytest.approx(covariances(x, [y[::-1], y]), abs=1e-12)
        if np.all(np.diff(fit.values) <= 0) and not tied:
            assert (low, high) == pytest.approx((found.min(), found.max()), abs=1e-12)


@pytest.mark.parametrize("metric", ["AP", "Recall@2", "NDCG@2"])
@pytest.mark.parametrize("seed", range(10))
def test_few_instances_by_linear_programming(metric, seed, monkeypatch):
    """Bounds on the chance are the tighter of a linear programme's and Cantelli's inequality's."""
    monkeypatch.setattr(shared, "_NEGLIGIBLE", 0.0)
    n, m, scheme = 6, 2, SCHEMES[seed % 2]
    rng = np.random.default_rng(seed)
    size = (1, 2, 3, 29 if metric == "Recall@2" else 4)[seed // 2 % 4]
    ranks, counts = rng.integers(1, n + 1, (2, size)), rng.integers(1, 3, size)
    counts = counts if size < 29 else np.ones(size, dtype=int)
    sets = of_ranks(n, *ranks, counts=counts, instances=[f"u{u}" for u in range(size)])
    row = probability_if_shared(metric, sets, m, scheme=scheme).iloc[0]
    if np.isnan(row.low):
        assert sd.mean(metric, sets[0]) == pytest.approx(sd.mean(metric, sets[1]), abs=1e-12)
        return
    ranks, score = ranks[:: 1 if row.better == "P" else -1], sd.parse_metric(metric)
    samples, total = draws(n - 1, m, scheme), counts.sum()

    def values(above: Sequence[int]) -> np.ndarray:
        return score(counted([above], samples)[:, 0], m + 1)

    every = [[values(range(r - 1)) for r in each] for each in ranks]
    laws, difference, variance = [], 0.0, 0.0
    for each in every:
        draw = [[(v / total, 1 / len(x)) for v in x] for x in np.repeat(each, counts, axis=0)]
        laws.append(np.array([*law_of_sum(draw).items()]).T)
    for x, y, count, (a, b) in zip(*every, counts, (ranks - 1).T, strict=True):
        overlaps = range(max(0, a + b - n + 1), min(a, b) + 1)
        least = covariances(x, [values(range(a - o, a - o + b)) for o in overlaps]).min()
        difference += count * (x.mean() - y.mean()) / total
        variance += count * (x.var() + y.var() - 2 * least) / total**2
    (x, p), (y, q) = laws
    rows = np.kron(np.eye(len(x)), np.ones(len(y))), np.kron(np.ones(len(x)), np.eye(len(y)))
    ahead = np.greater.outer(x, y + 1e-9).ravel().astype(float)
    found = [linprog(c * ahead, A_eq=np.vstack(rows), b_eq=np.r_[p, q]).fun for c in (1, -1)]
    low, high = found[0], -found[1]
    cantelli = difference**2 / (difference**2 + variance)
    low = max(low, cantelli) if difference > 1e-12 else low
    high = min(high, 1 - cantelli) if difference < -1e-12 else high
    assert (row.low, row.high) == pytest.approx((low, high), abs=1e-9)
    assert 0 <= row.low <= row.high <= 1


@pytest.mark.parametrize("seed", range(20))
def test_many_instances_by_the_covariances_of_each(seed: int, monkeypatch) -> None:
    rng, size = np.random.default_rng([seed, 1]), (30, 12 if seed % 8 == 1 else 41)[seed % 2]
    metric, scheme = ("AP", "NDCG@5", "Recall@3", "AUC")[seed % 4], (*SCHEMES, POPULARITY)[seed % 3]
    several, correction = seed % 5 == 0, (None, "CLS", "BV 0.1", None)[seed // 3 % 4]
    weighting = ("instances", "relevant-items")[seed // 2 % 2]
    options = options_of(scheme) | {"weighting": weighting, "correction": correction}
    m, n, items = 9, np.full(size, 30), np.full(size, 1 + several)
    if seed % 7 == 0:
        m = 29 - several  # all negatives are drawn
    elif correction is None:
        n, items = rng.integers(20, 40, size), rng.integers(1, 2 + several, size)
    # For 12 users, counts are halves, so that no exact distribution can be computed.
    counts = rng.integers(1, 4, size) / (1 + (size == 12))
    users, sets, alone = rng.permutation(size) + 100, [], []
    for name, part in ("P", 0.9), ("Q", 1.0):
        each = []
        for x, number in zip(n.tolist(), items, strict=True):
            ranks = 1 + rng.choice(int(part * x), number, replace=False)
            tied = 0 if several else min(max(rng.integers(-5, 4), 0), x - int(ranks[0]))
            each.append(sd.RankSet(name, ranks, x, ties=tied, instances=["u"] * number))
        alone.append(each)
        rows = [(r, x.n[0], x.ties[0], u) for u, x in enumerate(each) for r in x.ranks]
        ranks, of, ties, u = rng.permutation(rows).T
        more = {"ties": ties, "counts": counts[u], "instances": users[u]}
        sets.append(sd.RankSet(name, ranks, of, **more))
    default = probability_if_shared(metric, sets, m, **options).iloc[0]
    for name, value in ("_NEGLIGIBLE", 0.0), ("CHUNK", 100), ("_CACHE", 60):
        monkeypatch.setattr(shared, name, value)
    row = probability_if_shared(metric, sets, m, **options).iloc[0]
    if row.better == "Q":
        sets, alone = sets[::-1], alone[::-1]
    score, functions = sd.parse_metric(metric), (sd.expected_mean, sd.std_of_mean)
    mean, std = (
        np.array([[f(metric, x, m, **options) for x in y] for y in alone]) for f in functions
    )
    ends = np.array([bounds_of(score, both, m, options) for both in zip(*alone, strict=True)]).T
    share = items if weighting == "relevant-items" else np.ones(size)
    weight = counts * share / (share @ counts)
    difference, weight = weight @ (mean[0] - mean[1]), weight * share / (share @ counts)
    variance, limit = (std**2).sum(axis=0) @ weight, std[0] * std[1]
    spread = variance - 2 * np.clip(ends, -limit, limit) @ weight
    runs = [Run(score, rs, m, Protocol.of(options)) for rs in sets]
    step = runs[0].half_unit if np.isclose(runs[0].half_unit, runs[1].half_unit) else 0.0
    move = max(run.largest_term(by_draw=False) for run in runs)
    chance = norm.cdf((difference - step) / np.sqrt(spread))
    # If the effect of a sampled value is unknown, it is at most the instance's share of the mean.
    off = 0.2 * np.nan_to_num(move, nan=share.max() / (share @ counts)) / np.sqrt(spread)
    low, high = max((chance - off).min(), 0.0), min((chance + off).max(), 1.0)
    assert (row.low, row.high) == pytest.approx((low, high), abs=1e-9)
    assert low - 0.02 <= default.low <= low + 1e-12
    assert high - 1e-12 <= default.high <= high + 0.02


@pytest.mark.parametrize("seed", range(12))
def test_means_of_few_values_against_simulated_runs(seed: int) -> None:
    assert off_shared(Pair.of(seed)) <= 4
