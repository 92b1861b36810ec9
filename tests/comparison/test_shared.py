"""Shared negatives: every pair of item sets and every draw, enumerated."""

from __future__ import annotations

from itertools import combinations, permutations, product

import numpy as np
import pytest

import sampledash as sd
from sampledash.comparison import probability_if_shared
from sampledash.comparison.run_distribution import Run
from sampledash.comparison.shared import covariance_bounds
from sampledash.protocol import Protocol
from tests.benchmarks.redrawn import Case, off_shared, share_ahead
from tests.oracles import METRICS, WITH, WITHOUT, by_definition

SCHEMES = (WITH, WITHOUT)


def draws(items: int, m: int, scheme: str) -> list[tuple[int, ...]]:
    """Equally likely samples of the irrelevant items 0..items - 1."""
    if scheme == WITH:
        return list(product(range(items), repeat=m))
    return list(combinations(range(items), m))


def positions(order: tuple[int, ...], size: int, sample: tuple[int, ...]) -> list[int]:
    """Sampled ranks of the relevant items (negative entries) in a ranked list of all items."""
    found, above = [], 0
    for item in order:
        if item < 0:
            found.append(1 + above + len(found))
        else:
            above += sample.count(item)
    assert len(found) == size
    return found


def ranked(ranks: list[int], others: list[int], n: int) -> tuple[int, ...]:
    """A list of n with relevant items at the given ranks and the others, in order, elsewhere."""
    rest = iter(others)
    return tuple(-1 if place in ranks else next(rest) for place in range(1, n + 1))


def all_covariances(
    name: str, k: int | None, first: list[int], second: list[int], n: int, m: int, scheme: str
) -> np.ndarray:
    """Covariance of the two sampled values for every order of the irrelevant items."""
    size, items = len(first), n - len(first)
    samples = draws(items, m, scheme)
    total = m + size
    mine = ranked(first, list(range(items)), n)
    x = np.array([by_definition(name, k, positions(mine, size, s), total) for s in samples])
    found = []
    for other in permutations(range(items)):
        theirs = ranked(second, list(other), n)
        y = np.array([by_definition(name, k, positions(theirs, size, s), total) for s in samples])
        found.append(np.mean(x * y) - x.mean() * y.mean())
    return np.array(found)


def bounds_of(
    metric: sd.Metric, sets: list[sd.RankSet], m: int, options: sd.Options
) -> tuple[np.ndarray, np.ndarray]:
    return covariance_bounds(*(Run(metric, rs, m, Protocol.of(options)) for rs in sets))


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("first", "second", "n", "m"),
    [
        ([3], [4], 6, 2),
        ([1], [5], 6, 2),
        ([5], [5], 6, 3),
        ([2, 4], [3, 6], 7, 2),
        ([1, 6], [2, 3], 6, 2),
    ],
)
def test_covariances_lie_between_attained_ends(
    first: list[int], second: list[int], n: int, m: int, scheme: str
) -> None:
    sets = [sd.RankSet(x, r, n, instances=["u"] * len(r)) for x, r in (("P", first), ("Q", second))]
    for name, k in METRICS:
        found = all_covariances(name, k, first, second, n, m, scheme)
        low, high = bounds_of(sd.metric(name, k=k), sets, m, {"scheme": scheme})
        assert low[0] == pytest.approx(found.min(), abs=1e-12)
        assert high[0] == pytest.approx(found.max(), abs=1e-12)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("correction", ["BV 0.01", "CLS", "rank estimate"])
def test_corrected_values(correction: str, scheme: str) -> None:
    n, m = 8, 3
    options = {"scheme": scheme, "correction": correction}
    fit = sd.parse_correction(correction).fit("Recall@2", sd.Sampling(n, m, scheme))
    samples = np.array(draws(n - 1, m, scheme))
    for first, second in ((3, 4), (2, 7), (6, 6)):
        sets = [sd.RankSet("P", [first], n), sd.RankSet("Q", [second], n)]
        low, high = bounds_of(sd.metric("recall", k=2), sets, m, options)
        x = fit((samples < first - 1).sum(axis=1) + 1)
        found = []
        for above in combinations(range(n - 1), second - 1):
            y = fit(np.isin(samples, above).sum(axis=1) + 1)
            found.append(np.mean(x * y) - x.mean() * y.mean())
        assert low[0] <= min(found) + 1e-12
        assert high[0] >= max(found) - 1e-12
        if np.all(np.diff(fit.values) <= 0):
            assert [low[0], high[0]] == pytest.approx([min(found), max(found)], abs=1e-12)


def test_ties_are_bounded() -> None:
    # P stands at 2, 3 or 4, in an order of its own; Q at 3. All sets of two items above Q.
    n, m = 7, 2
    sets = [sd.RankSet("P", [2], n, ties=[2]), sd.RankSet("Q", [3], n)]
    low, high = bounds_of(sd.metric("ap"), sets, m, {"scheme": WITHOUT})
    samples = np.array(draws(n - 1, m, WITHOUT))
    found = []
    for above in combinations(range(n - 1), 2):
        y = 1 / (np.isin(samples, above).sum(axis=1) + 1)
        x = np.mean([1 / ((samples < 1 + t).sum(axis=1) + 1) for t in range(3)], axis=0)
        found.append(np.mean(x * y) - x.mean() * y.mean())
    assert low[0] <= min(found)
    assert high[0] >= max(found)


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("metric", ["AP", "Recall@1", "NDCG@2"])
@pytest.mark.parametrize(
    "rows",
    [[(2, 4)], [(2, 4), (5, 3)], [(1, 2), (4, 5)], [(5, 1), (2, 4)]],
)
def test_few_instances_contain_every_truth(
    rows: list[tuple[int, int]], metric: str, scheme: str
) -> None:
    n, m = 6, 2
    sets = [sd.RankSet(x, [row[i] for row in rows], n) for i, x in enumerate("PQ")]
    table = probability_if_shared(metric, sets, m, scheme=scheme)
    if np.isnan(table.low[0]):
        assert sd.mean(metric, sets[0]) == pytest.approx(sd.mean(metric, sets[1]), abs=1e-12)
        return
    flip = table.better[0] == "Q"
    samples = np.array(draws(n - 1, m, scheme))
    score = sd.parse_metric(metric)
    laws = []  # per instance: all differences that an overlap can lead to
    for a, b in rows:
        mine = score((samples < a - 1).sum(axis=1) + 1, m + 1)
        options = set()
        for above in combinations(range(n - 1), b - 1):
            theirs = score(np.isin(samples, above).sum(axis=1) + 1, m + 1)
            options.add(tuple(np.round((theirs - mine) if flip else (mine - theirs), 12)))
        laws.append([np.array(x) for x in options])
    for chosen in product(*laws):
        sums = chosen[0]
        for one in chosen[1:]:
            sums = np.add.outer(sums, one).ravel()
        truth = np.mean(sums > 1e-9)
        assert table.low[0] - 1e-12 <= truth <= table.high[0] + 1e-12


def test_popularity_and_full_samples() -> None:
    draw = np.random.default_rng(3)
    ranks = [np.ceil(90 * draw.random(50) ** p).astype(int) for p in (1.6, 1.5)]
    sets = [sd.RankSet(x, r, 90) for x, r in zip("PQ", ranks, strict=True)]
    table = probability_if_shared("NDCG@5", sets, 20, scheme="popularity", odds=2.0)
    alone = sd.probability_of_order("NDCG@5", sets, 20, scheme="popularity", odds=2.0)
    assert table.low[0] <= alone.probability[0] <= table.high[0]
    full = probability_if_shared("NDCG@5", sets, 89, scheme=WITHOUT)
    assert full[["low", "high"]].to_numpy().tolist() == [[1.0, 1.0]]


def test_labels_weights_and_order() -> None:
    # The same instances in another order of rows give the same bounds.
    draw = np.random.default_rng(8)
    relevant = draw.integers(1, 3, 40)
    labels = np.repeat(np.arange(40), relevant)
    ranks = [
        np.concatenate([draw.choice(50, r, replace=False) + 1 for r in relevant]) for _ in range(2)
    ]
    options = {"weighting": "relevant-items", "scheme": WITHOUT}
    first = sd.RankSet("P", ranks[0], 50, instances=labels)
    shuffled = draw.permutation(len(labels))
    tables = [
        probability_if_shared(
            "AP", [first, sd.RankSet("Q", ranks[1][at], 50, instances=labels[at])], 8, **options
        )
        for at in (np.arange(len(labels)), shuffled)
    ]
    assert tables[0].low[0] == pytest.approx(tables[1].low[0], abs=1e-12)
    assert tables[0].high[0] == pytest.approx(tables[1].high[0], abs=1e-12)
    assert tables[0].low[0] < tables[0].high[0]


def test_frame_and_refusals(xyz: list[sd.RankSet]) -> None:
    table = probability_if_shared("NDCG@10", xyz, 30, scheme=WITHOUT)
    assert table.columns.tolist() == ["better", "worse", "low", "high"]
    assert np.all(table.low <= table.high)
    same = [sd.RankSet(x, [3, 4], 9) for x in "PQ"]
    assert np.isnan(probability_if_shared("AP", same, 3)[["low", "high"]].to_numpy()).all()
    apart = [
        sd.RankSet("P", [3, 4], 9, instances=["a", "b"]),
        sd.RankSet("Q", [3, 5], 9, instances=["a", "c"]),
    ]
    with pytest.raises(ValueError, match="'P' and 'Q' cannot share negatives"):
        probability_if_shared("AP", apart, 3)
    unequal = [sd.RankSet("A", [1, 2, 5], n=10), sd.RankSet("B", [1, 2], n=10)]
    with pytest.raises(ValueError, match=r"^systems 'B' and 'A' cannot share negatives: they do"):
        probability_if_shared("AP", unequal, 3)
    with pytest.raises(ValueError, match="equally many negatives"):
        probability_if_shared("AP", [sd.RankSet("P", [3], 9), sd.RankSet("Q", [3], 10)], 3)


@pytest.mark.parametrize(
    ("metric", "n", "m", "first", "second"),
    [
        ("Recall@2", 18, 6, [16, 2, 15], [17, 5, 4]),
        ("Recall@2", 5, 2, [2, 5, 1], [3, 2, 3]),
        ("Recall@2", 16, 6, [14, 11], [2, 13]),
        ("Recall@2", 16, 4, [1], [5]),
        ("AP", 9, 3, [3, 1], [8, 9]),
    ],
)
def test_low_is_never_above_high(
    metric: str, n: int, m: int, first: list[int], second: list[int]
) -> None:
    # Bounds that meet, but for rounding.
    sets = [sd.RankSet("A", first, n), sd.RankSet("B", second, n)]
    found = probability_if_shared(metric, sets, m, scheme=WITHOUT)
    assert found.low[0] <= found.high[0] <= 1
    assert found.low[0] == pytest.approx(found.high[0], abs=1e-15)


@pytest.mark.parametrize("seed", range(12))
def test_means_of_few_values_against_simulated_runs(seed: int) -> None:
    assert off_shared(Case.of(seed)) <= 4


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("overlap", [0.0, 1.0])
def test_extreme_lists_come_near_the_ends(scheme: str, overlap: float) -> None:
    # But for the room left to ties and skewness.
    u = np.random.default_rng(5).random(60)  # both rank alike, the one a little better
    ranks = np.array([np.ceil(80 * u**p).astype(int) for p in (1.5, 1.4)])
    case = Case("AP", "uncorrected", scheme, 80, 12, ranks, overlap)
    row = probability_if_shared("AP", case.sets, 12, scheme=scheme).iloc[0]
    share, error = share_ahead(case.shared(4000), row.better)
    alone = sd.probability_of_order("AP", case.sets, 12, scheme=scheme).probability[0]
    assert row.low <= alone <= row.high
    assert off_shared(case) <= 4
    # The more both have in common the surer is the order.
    end = row.high if overlap == (alone > 0.5) else row.low
    assert abs(share - end) <= 0.15 + 4 * error
