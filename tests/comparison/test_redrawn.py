"""``probability_if_redrawn``, against enumeration and evaluations simulated from scratch."""

from collections import Counter
from functools import cache, partial, reduce
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import sampledash as sd
from sampledash.comparison.user_resampling import (
    probability_if_redrawn,
    sampled_values,
    spread_if_redrawn,
)
from sampledash.protocol import Protocol
from tests import oracles
from tests.benchmarks.chances import Pair, off_redrawn
from tests.comparison.made import READINGS, drawn, of_ranks, users
from tests.oracles import METRICS, POPULARITY, UNIFORM, WITH, WITHOUT


@pytest.mark.parametrize("paired", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_few_instances_by_enumeration(seed: int, paired: bool) -> None:
    (name, k), m = METRICS[(4, 5, 8, 9)[seed % 4]], 1 + seed % 3 % 2
    scheme = UNIFORM[seed // 2 % 2]
    reading, weighting = list(READINGS)[seed % 3], ("instances", "relevant-items")[seed // 4]
    rng = np.random.default_rng(seed)
    some = users(rng, 3, systems=2, relevant=2, most=2 if paired else 1, apart=not paired)
    options = {"scheme": scheme, "ties": reading, "weighting": weighting}
    row = probability_if_redrawn(sd.metric(name, k=k), some.sets, m, **options).iloc[0]
    both = some.rows if row.better == "P" else some.rows[::-1]
    every = np.repeat(range(3), some.counts).tolist()
    weights = some.weights(weighting)
    exact, value = some.values(name, k, reading), partial(oracles.by_definition, name, k)
    if abs((exact[0] - exact[1]) @ (weights * some.counts)) < 1e-9:
        assert np.isnan(row.probability)
        return
    every_draw = [[drawn(one, m, scheme, reading) for one in rows] for rows in both]
    laws = [[[(value(*what), p) for p, what in law] for law in rows] for rows in every_draw]

    @cache
    def law(system: int, picked: tuple[int, ...]) -> oracles.Law:
        share, own = weights / weights[list(picked)].sum(), laws[system]
        return oracles.law_of_sum([(v * share[u], p) for v, p in own[u]] for u in picked)

    picks = Counter(tuple(sorted(x)) for x in product(every, repeat=len(every)))
    pairs = [(x, x, c) for x, c in picks.items()]
    if not paired:
        pairs = [(x, y, c * d) for (x, c), (y, d) in product(picks.items(), picks.items())]
    chances = [oracles.chance_above(law(0, x), law(1, y)) for x, y, _ in pairs]
    true = np.average(chances, weights=[c for *_, c in pairs])
    assert abs(row.probability - true) <= 4 * np.sqrt(true * (1 - true) / 20_000)
    assert row.probability * 20_000 == pytest.approx(round(row.probability * 20_000), abs=1e-9)


def moments_of_each(rs: sd.RankSet, m: int, **options: Any) -> np.ndarray:
    """Return the mean and standard deviation of NDCG and the number of items, per instance."""
    found = []
    for at in (rs.instances == u for u in np.unique(rs.instances)):
        one = sd.RankSet("S", rs.ranks[at], rs.n[at], ties=rs.ties[at], instances=rs.instances[at])
        moments = [f("NDCG", one, m, **options) for f in (sd.expected_mean, sd.std_of_mean)]
        found.append([*moments, len(one)])
    return np.transpose(found)


@pytest.mark.parametrize("seed", range(12))
def test_means_of_few_values_against_simulated_runs(seed: int) -> None:
    # The systems tie in up to 40 % of the runs, and means are skewed. Benchmarks check 300 cases.
    assert off_redrawn(Pair.of(seed)) <= 4


@pytest.mark.parametrize(
    ("size", "weighting", "kind"),
    [(29, "instances", "drawn"), (30, "instances", "inverted"), (31, "relevant-items", "normal"),
     (2000, "instances", "inverted"), (2001, "instances", "normal")],
)  # fmt: skip
def test_which_method_tells_the_chance(size: int, weighting: str, kind: str) -> None:
    # Few users have hits; weighted by relevant items, the user with two of them counts twice.
    ranks = np.full((2, size), 60)
    ranks[0, : size // 6], ranks[1, -(size // 9) :] = 1, 2
    labels = np.r_[0, 0 : size - 1] if weighting == "relevant-items" else np.arange(size)
    ranks[:, 1] = 3 if weighting == "relevant-items" else ranks[:, 1]
    sets, options = of_ranks(60, *ranks, instances=labels), {"scheme": WITHOUT}
    options["weighting"] = weighting
    row = probability_if_redrawn("Recall@2", sets, 58, **options).iloc[0]
    counted = abs(row.probability * 20_000 - round(row.probability * 20_000)) < 1e-8
    assert counted == (kind == "drawn")
    values = sampled_values(sd.parse_metric("Recall@2"), sets, 58, Protocol.of(options))
    if row.better == "Q":
        values = values[::-1]
    gap, deviation = values[0].average - values[1].average, spread_if_redrawn(*values) ** 0.5
    # Chances by a normal distribution: without and with a correction of half a hit for ties.
    normal = norm.cdf((gap - np.array([0, 0.5]) / size) / deviation)
    assert (np.abs(normal - row.probability).min() < 1e-9) == (kind == "normal")


def test_a_rare_value_that_dwarfs_all_others() -> None:
    """Chances are right if a rare metric value is 1,000 times as large as all other values."""
    case, rng, runs = Pair.rare(33), np.random.default_rng(5), 20_000
    assert off_redrawn(case, runs) <= 4
    gap = case.redrawn(rng, runs, paired=False)  # P and Q draw instances independently
    labels = np.arange(case.ranks.shape[1])
    apart = [case.sets[0], sd.RankSet("Q", case.ranks[1], case.n, instances=labels + 1000)]
    options = {"scheme": case.scheme, "correction": case.correction}
    row = probability_if_redrawn(case.metric, apart, case.m, **options).iloc[0]
    gap = gap if row.better == "P" else -gap
    assert abs(np.mean(gap > 1e-12) - row.probability) <= 4 * np.sqrt(0.25 / runs)


@pytest.mark.parametrize(
    "options", [{"scheme": WITHOUT}, {"scheme": POPULARITY, "odds": 2.0, "ties": "pessimistic"}]
)
def test_many_instances_by_the_moments_of_each(options):
    # The variance of a redrawn instance's metric comes from its negatives, and from which instance
    # it is. With more than 200 relevant items a normal distribution is used, else simulated runs.
    size = {"systems": 2, "relevant": 3 - ("ties" in options), "most": 3}
    some = users(np.random.default_rng(6), 120, **size)
    each = {x.system: moments_of_each(x, 3, **options) for x in some.sets}
    counts = some.counts[np.argsort([f"{u}" for u in range(120)])]  # labels are sorted as text
    for paired, weighting in product((True, False), ("instances", "relevant-items")):
        some = users(np.random.default_rng(6), 120, apart=not paired, **size)
        more = {**options, "weighting": weighting}
        row = probability_if_redrawn("NDCG", some.sets, 3, **more).iloc[0]
        mean, std, items = np.stack([each[row.better], each[row.worse]], axis=1)
        weight = counts * (items if weighting == "relevant-items" else np.ones_like(items))
        average = (mean * weight).sum(axis=1) / weight.sum(axis=1)
        off = mean - average[:, None]
        spread = ((std**2).sum(axis=0) + (off[0] - off[1]) ** 2, std**2 + off**2)[not paired]
        spread = np.sum(weight**2 / counts * spread, axis=-1) / weight.sum(axis=1) ** 2
        z = (average[0] - average[1]) / np.sqrt(spread[0] if paired else spread.sum())
        assert row.probability == pytest.approx(norm.cdf(z), abs=1e-9)


def test_few_instances_against_a_million():
    # AP of P is 1. AP of Q is 1/6 in 4 of a million instances, else 1: its mean is nearly normal.
    p = sd.RankSet("P", [1, 1, 1], 20)
    q = sd.RankSet("Q", [1, 20], 20, counts=[10**6 - 4, 4])
    row = probability_if_redrawn("AP", [p, q], 5, scheme=WITHOUT).iloc[0]
    assert row.better == "P"
    chance = norm.cdf(2.0)  # Q's mean is 2 standard deviations below 1
    assert abs(row.probability - chance) <= 4 * np.sqrt(chance * (1 - chance) / 20_000)


def test_equal_systems_and_one_instance():
    assert np.isnan(probability_if_redrawn("AP", of_ranks(9, [1, 4], [4, 1]), 3).probability[0])
    assert probability_if_redrawn("AP", of_ranks(9, [1], [9]), 3).probability[0] == 1.0


@pytest.mark.parametrize("size", [12, 40])
def test_several_items_that_are_each_ranked_among_all_others(size: int) -> None:
    # TOPK draws new negatives for every relevant item, which is a hit if none ranks above it.
    n, m, runs = 60, 5, 20_000
    rng = np.random.default_rng(3)
    ranks = [np.c_[np.ones(size, dtype=int), rng.integers(2, 9, size)]]
    ranks.append(ranks[0] + rng.integers(0, 5, (size, 1)) * [0, 1])  # Q's second items: 0-4 lower
    sets = of_ranks(n, *(r.ravel() for r in ranks), instances=np.repeat(np.arange(size), 2))
    row = probability_if_redrawn("TOPK@0.05", sets, m, scheme=WITH).iloc[0]
    assert row.better == "P"
    drawn = rng.integers(0, size, (runs, size))
    means = [(rng.binomial(m, (r[drawn] - 1) / (n - 1)) == 0).mean(axis=(1, 2)) for r in ranks]
    share = float(np.mean(means[0] - means[1] > 1e-12))
    assert abs(share - row.probability) <= 4 * np.sqrt(0.25 / runs + 0.25 / 20_000)


@pytest.mark.parametrize("paired", [True, False])
def test_thirty_users_by_the_law_of_their_sum(paired: bool) -> None:
    for metric, relevant in [("Recall@3", 2), ("Precision@2", 2), ("AP", 1), ("HitRate@1", 3)]:
        # Metric values are multiples of 1/12; the distribution for one drawn user is convolved.
        rng, m, parsed = np.random.default_rng(len(metric)), 2, sd.parse_metric(metric)
        some = users(rng, 24, systems=2, relevant=relevant, most=4, apart=not paired)
        row = probability_if_redrawn(metric, some.sets, m, scheme=WITHOUT).iloc[0]
        laws = np.zeros((2, 24, 13))
        for system, rows in enumerate(some.rows if row.better == "P" else some.rows[::-1]):
            for u, each in enumerate(rows):
                for p, (ranks, size) in drawn(each, m, WITHOUT):
                    laws[system, u, round(12 * parsed.of_set(np.array(ranks), size))] += p
        share = some.counts / some.counts.sum()
        if paired:
            single = sum(s * np.convolve(x, y[::-1]) for s, x, y in zip(share, *laws, strict=True))
        else:
            single = np.convolve(share @ laws[0], (share @ laws[1])[::-1])
        law = reduce(np.convolve, [single] * int(some.counts.sum()))
        true = law[len(law) // 2 + 1 :].sum()
        assert 0.02 < true < 0.98
        assert row.probability == pytest.approx(true, abs=1e-3)


@pytest.mark.parametrize("instances", [200, 300, 400, 600, 1_000, 2_000])
def test_a_clear_order_is_shown_whatever_the_number_of_instances(instances: int) -> None:
    ranks = np.array([[3, 50], [10, 90]])  # of the systems, each for half of the instances
    sets = [
        sd.RankSet(x, np.repeat(r, instances // 2), 1_000) for x, r in zip("AB", ranks, strict=True)
    ]
    rng, runs, m = np.random.default_rng(instances), 400, 100
    half = rng.integers(0, 2, (runs, instances))
    above = [rng.hypergeometric(r[half] - 1, 1_000 - r[half], m).mean(axis=1) for r in ranks]
    share = float(np.mean(above[0] < above[1]))  # a higher AUC has fewer negatives above
    chance = probability_if_redrawn("AUC", sets, m)["probability"].item()
    assert share > 0.99
    assert abs(chance - share) <= 4 * np.sqrt(max(share * (1 - share), 1 / runs) / runs)


@pytest.mark.parametrize("metric", ["NDCG@10", "AP"])
def test_one_instance_of_many_decides(metric: str) -> None:
    # Of 120 instances with two relevant items, only the last differs, with a chance of 39.7 in
    # 1,000: 2 of 998 negatives are above its second item, and 20 of 998 are drawn.
    users, top = np.repeat(np.arange(120), 2), [1, 2] * 119
    sets = [sd.RankSet(x, [*top, 1, r], 1_000, instances=users) for x, r in (("A", 2), ("B", 4))]
    one = 1 - 978 * 977 / (998 * 997)
    row = sd.probability_of_order(metric, sets, 20).iloc[0]
    assert (row.better, row.probability) == ("A", pytest.approx(one, abs=0.006))
    row = probability_if_redrawn(metric, sets, 20).iloc[0]
    assert row.probability == pytest.approx(1 - (1 - one / 120) ** 120, abs=0.006)
    row = sd.probability_if_shared(metric, sets, 20).iloc[0]
    assert row.low <= one <= row.high


def test_bounds_allow_for_the_error_of_simulated_runs() -> None:
    # Each of B's two instances misses its second item with chance 1/2; A hits everything.
    sets = [sd.RankSet(x, [1, r, 1, r], 4, instances=[*"aabb"]) for x, r in (("A", 2), ("B", 3))]
    row = sd.probability_if_shared("AP", sets, 1).iloc[0]
    assert row.low <= 0.75 <= row.high < row.low + 0.05
