"""Shared negatives: every pair of item sets and every draw, enumerated."""

from collections.abc import Iterable, Iterator, Sequence
from functools import cache, reduce
from itertools import combinations, permutations, product

import numpy as np
import pytest

import sampledash as sd
from sampledash.comparison.run_distribution import Run
from sampledash.comparison.shared import covariance_bounds, probability_if_shared
from sampledash.protocol import Protocol
from tests.benchmarks.chances import Pair, off_shared, share_ahead
from tests.comparison.made import each_metric, of_ranks, skewed
from tests.oracles import UNIFORM as SCHEMES
from tests.oracles import WITH, WITHOUT


def draws(items: int, m: int, scheme: str) -> np.ndarray:
    every = product(range(items), repeat=m) if scheme == WITH else combinations(range(items), m)
    return np.array(list(every))


def counted(above: Sequence[Sequence[int]], samples: np.ndarray) -> np.ndarray:
    """Sampled ranks of relevant items, given which irrelevant items are above each."""
    return np.array([np.isin(samples, x).sum(axis=1) + j for j, x in enumerate(above, start=1)]).T


def all_orders(ranks: list[int], n: int, samples: np.ndarray) -> Iterator[np.ndarray]:
    """Sampled ranks of the relevant items for every order of the irrelevant ones."""
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
        # Where tied, P has an order of its own; of Q all sets of items above.
        sets = [sd.RankSet("P", [first], n, ties=[tied]), sd.RankSet("Q", [second], n)]
        x = [fit(counted([range(first - 1 + t)], samples)[:, 0]) for t in range(tied + 1)]
        above = combinations(range(n - 1), second - 1)
        found = covariances(
            np.mean(x, axis=0), (fit(counted([some], samples)[:, 0]) for some in above)
        )
        low, high = bounds_of(sd.metric("recall", k=2), sets, m, options)
        assert low <= found.min() + 1e-12
        assert high >= found.max() - 1e-12
        if np.all(np.diff(fit.values) <= 0) and not tied:
            assert (low, high) == pytest.approx((found.min(), found.max()), abs=1e-12)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("metric", ["AP", "Recall@1", "NDCG@2"])
@pytest.mark.parametrize("rows", [[(2, 4)], [(2, 4), (5, 3)], [(1, 2), (4, 5)], [(5, 1), (2, 4)]])
def test_few_instances_contain_every_truth(rows, metric, scheme):
    n, m = 6, 2
    sets = of_ranks(n, *zip(*rows, strict=True))
    table = probability_if_shared(metric, sets, m, scheme=scheme)
    if np.isnan(table.low[0]):
        assert sd.mean(metric, sets[0]) == pytest.approx(sd.mean(metric, sets[1]), abs=1e-12)
        return
    sign, score = (-1 if table.better[0] == "Q" else 1), sd.parse_metric(metric)
    samples = draws(n - 1, m, scheme)
    laws = []  # per instance: all differences that an overlap can lead to
    for a, b in rows:
        mine = score(counted([range(a - 1)], samples)[:, 0], m + 1)
        every = (counted([above], samples) for above in combinations(range(n - 1), b - 1))
        found = {tuple(np.round(sign * (mine - score(y[:, 0], m + 1)), 12)) for y in every}
        laws.append([np.array(x) for x in found])
    for chosen in product(*laws):
        sums = reduce(np.add.outer, chosen)
        truth = np.mean(sums > 1e-9)
        assert table.low[0] - 1e-12 <= truth <= table.high[0] + 1e-12


def test_popularity_and_full_samples() -> None:
    sets = skewed(np.random.default_rng(3), 90, 50, (1.6, 1.5))
    table = probability_if_shared("NDCG@5", sets, 20, scheme="popularity", odds=2.0)
    alone = sd.probability_of_order("NDCG@5", sets, 20, scheme="popularity", odds=2.0)
    assert table.low[0] <= alone.probability[0] <= table.high[0]
    full = probability_if_shared("NDCG@5", sets, 89, scheme=WITHOUT)
    assert full[["low", "high"]].to_numpy().tolist() == [[1.0, 1.0]]


def test_rows_may_come_in_any_order() -> None:
    draw = np.random.default_rng(8)
    relevant = draw.integers(1, 3, 40)
    labels = np.repeat(np.arange(40), relevant)
    first, second = (
        np.concatenate([draw.choice(50, r, replace=False) + 1 for r in relevant]) for _ in range(2)
    )
    options, ends = {"weighting": "relevant-items", "scheme": WITHOUT}, []
    for at in (np.arange(len(labels)), draw.permutation(len(labels))):
        p = sd.RankSet("P", first, 50, instances=labels)
        q = sd.RankSet("Q", second[at], 50, instances=labels[at])
        ends.append(probability_if_shared("AP", [p, q], 8, **options)[["low", "high"]].to_numpy())
    assert ends[0] == pytest.approx(ends[1], abs=1e-12)
    assert ends[0][0, 0] < ends[0][0, 1]


def test_equal_weights_change_nothing() -> None:
    draw, labels = np.random.default_rng(2), np.repeat(np.arange(40), 2)
    ranks = [
        np.concatenate([draw.choice(50, 2, replace=False) + 1 for _ in range(40)]) for _ in "PQ"
    ]
    sets = of_ranks(50, *ranks, instances=labels)
    plain, weighted = (
        probability_if_shared("AP", sets, 8, weighting=weighting)[["low", "high"]].to_numpy()
        for weighting in ("instances", "relevant-items")
    )
    assert weighted == pytest.approx(plain, abs=1e-12)
    assert 0.01 < plain[0, 0] < plain[0, 1] < 0.99


@pytest.mark.parametrize(
    ("metric", "n", "m", "first", "second"),
    [("Recall@2", 18, 6, [16, 2, 15], [17, 5, 4]), ("Recall@2", 5, 2, [2, 5, 1], [3, 2, 3]),
     ("Recall@2", 16, 6, [14, 11], [2, 13]), ("Recall@2", 16, 4, [1], [5]),
     ("AP", 9, 3, [3, 1], [8, 9])],
)  # fmt: skip
def test_low_is_never_above_high(metric, n, m, first, second):
    # Bounds that meet, but for rounding.
    found = probability_if_shared(metric, of_ranks(n, first, second), m, scheme=WITHOUT)
    assert found.low[0] <= found.high[0] <= 1
    assert found.low[0] == pytest.approx(found.high[0], abs=1e-15)


@pytest.mark.parametrize("seed", range(12))
def test_means_of_few_values_against_simulated_runs(seed: int) -> None:
    assert off_shared(Pair.of(seed)) <= 4


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("overlap", [0.0, 1.0])
def test_extreme_lists_come_near_the_ends(scheme: str, overlap: float) -> None:
    # But for the room left to ties and skewness.
    u = np.random.default_rng(5).random(60)  # both rank alike, the one a little better
    ranks = np.array([np.ceil(80 * u**p).astype(int) for p in (1.5, 1.4)])
    case = Pair("AP", "uncorrected", scheme, 80, 12, ranks, overlap)
    row = probability_if_shared("AP", case.sets, 12, scheme=scheme).iloc[0]
    share, error = share_ahead(case.shared(4000), row.better)
    alone = sd.probability_of_order("AP", case.sets, 12, scheme=scheme).probability[0]
    assert row.low <= alone <= row.high
    assert off_shared(case) <= 4
    # The more both have in common the surer is the order.
    end = row.high if overlap == (alone > 0.5) else row.low
    assert abs(share - end) <= 0.15 + 4 * error
