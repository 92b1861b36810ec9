"""``designs`` against measured errors and exact chances; ``mean_of_sample`` against a formula."""

from collections import Counter
from itertools import combinations
from math import comb, lgamma

import numpy as np
import pytest
from scipy.stats import norm

import sampledash as sd
from sampledash.comparison.designs import FULL, STOPPED
from tests.comparison.made import case, of_ranks
from tests.oracles import WITH, by_definition

WITHOUT = {"scheme": "without-replacement"}
AS_IN_THE_PAPER = {"scheme": "without-replacement", "fit_scheme": "with-replacement"}
#: (metric, budget): errors (RMSE) of Y by each design, in %; instances used by FULL and STOPPED.
TABLE = {
    ("Recall@10", 100): ([47.7, 0.44, 1.88, 0.83, 2.14, 0.88], 171, 888),
    ("Recall@10", 200): ([34.4, 0.96, 0.88, 0.49, 1.49, 0.57], 341, 1775),
    ("Recall@1", 200): ([10.1, 0.31, 0.62, 0.51, 0.65, 0.0], 341, 6040),
    # With this budget, corrections take seconds, so they are left out.
    ("Recall@10", 1000): ([11.3, 0.58, 0.0], 1706, 6040),
}


@pytest.mark.parametrize(("asked", "row"), TABLE.items())
def test_the_measured_table(xyz: list[sd.RankSet], asked, row) -> None:
    expected, full, stopped = row
    corrections = ["uncorrected", "CLS", "BV 0.1", "BV 0.01"][: len(expected) - 2]
    y = next(ranks for ranks in xyz if ranks.system == "Y")
    found = sd.designs(asked[0], [y], asked[1], corrections=corrections, **AS_IN_THE_PAPER)
    table = found.errors
    assert table["design"].tolist() == [*corrections, FULL, STOPPED]
    # TABLE has values above 10 to one decimal, smaller values to two.
    digits = [0.05 if value > 10 else 0.02 for value in expected]
    assert np.all(np.abs(100 * table["rmse"] - expected) <= digits)
    assert table["instances"].tolist()[-2:] == [full, stopped]
    assert table["scores"].max() <= asked[1]
    assert found.orders.empty


@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize("seed", range(16))
def test_errors_and_chances_over_all_samples(seed: int, apart: bool) -> None:
    size = 4 if apart else 13 if seed == 8 else 6
    (name, k), options, some, values, weights = case(seed, size, apart=apart)
    total, rng = int(some.counts.sum()), np.random.default_rng(seed)
    budget = int(rng.integers(2, 8))
    options |= {"corrections": ["BV 0.5"], "scheme": WITH}
    found = sd.designs(sd.metric(name, k=k), some.sets, budget, **options)
    negatives = [row[0] - len(row[1]) for row in some.rows[0]]
    share = budget / np.average(negatives, weights=some.counts)
    means = np.average(values, weights=some.counts * weights, axis=1)
    off = np.repeat((values - means[:, None]) * weights, some.counts, axis=1)
    error = np.sqrt(off.var(axis=1, ddof=1) * (1 - share) / (share * total))
    rows = found.errors[found.errors["design"] == FULL]
    assert rows["system"].tolist() == list("PQR")
    assert rows["standard_error"].tolist() == pytest.approx(error, abs=1e-12)
    assert rows["rmse"].tolist() == rows["standard_error"].tolist()
    assert rows["instances"].tolist() == [round(share * total)] * 3
    assert rows["scores"].tolist() == pytest.approx([budget] * 3)
    drawn = np.array(list(combinations(range(total), round(share * total))))
    table = found.orders[found.orders["design"] == FULL]
    for row, (i, j) in zip(table.itertuples(), combinations(range(3), 2), strict=True):
        gap = means[i] - means[j]
        assert (row.better, row.worse) == ("PQR"[i], "PQR"[j])[:: 1 if gap > -1e-12 else -1]
        if abs(gap) <= 1e-12:
            assert np.isnan(row.probability)
            continue
        first, second = (np.sign(gap) * off[x][drawn].mean(axis=1) for x in (i, j))
        sums = np.subtract.outer(first, second) if apart else first - second
        if not apart:  # with the same users, average their weighted differences
            gains = np.repeat(np.sign(gap) * (values[i] - values[j]) * weights, some.counts)
            sums, gap = gains[drawn].mean(axis=1), 0.0
        shown = np.mean(sums + abs(gap) > 1e-12)
        error = 2e-3 if apart or len(drawn) > 20_000 else 1e-12
        assert row.probability == pytest.approx(shown, abs=error)


def chance_of_drawn(steps: np.ndarray, drawn: int) -> float:
    """Return P(sum > 0) of ``drawn`` steps, drawn without replacement, by counting all draws."""
    counts = Counter(steps.tolist())
    some, ways, none = sum(counts.values()) - counts[0], {(0, 0): 1}, counts.pop(0, 0)
    for step, count in counts.items():
        new: Counter[tuple[int, int]] = Counter()
        for (taken, total), way in ways.items():
            for more in range(min(count, drawn - taken) + 1):
                new[taken + more, total + more * step] += way * comb(count, more)
        ways = new

    def log(n: int, k: int) -> float:
        return lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)

    every = log(none + some, drawn)
    ahead = [(drawn - x, way) for (x, total), way in ways.items() if total > 0]
    return sum(way * np.exp(log(none, x) - every) for x, way in ahead if x <= none)


def test_chances_of_means_that_may_tie() -> None:
    for size, up, down, budget in (
        (18, 9, 6, 40),  # 7 of 18 instances are drawn (then 11): 31,824 samples
        (18, 9, 6, 60),
        (400, 60, 46, 3),
        (6040, 30, 26, 90),
        (5000, 9, 8, 50),  # 2,500 instances are drawn
        (5002, 9, 8, 50),  # 2,501 are drawn: a normal distribution is used
        (9000, 60, 50, 50),
    ):
        rng, ranks = np.random.default_rng(size + budget), np.full((2, size), 90)
        ranks[0, :up], ranks[1, size - down :] = rng.integers(1, 4, up), rng.integers(1, 4, down)
        values = np.where(ranks <= 3, 6 // ranks, 0)
        sets = of_ranks(101, *ranks)
        found = sd.designs("AP@3", sets, budget, corrections=["uncorrected"], **WITHOUT)
        row = found.orders[found.orders["design"] == FULL].iloc[0]
        steps = (values[0] - values[1]) * (1 if row["better"] == "P" else -1)
        drawn = round(size * budget / 100)
        true = chance_of_drawn(steps, drawn)
        assert 0.2 < true < 0.99
        normal = min(drawn, size - drawn) > 2500
        assert row["probability"] == pytest.approx(true, abs=4e-3 if normal else 1e-5)
        if normal:  # the continuity correction is half a step, 0.5 / drawn
            error = steps.std(ddof=1) * np.sqrt((1 - drawn / size) / drawn)
            z = (steps.mean() - 0.5 / drawn) / error
            assert row["probability"] == pytest.approx(norm.cdf(z), abs=1e-9)


def test_chance_of_hits_is_that_of_an_urn(xyz: list[sd.RankSet]) -> None:
    # Y is ahead if more of the drawn instances are hits of Y alone than hits of X alone.
    x, y = xyz[0], xyz[1]
    errors, orders = sd.designs("Recall@10", [x, y], 100, corrections=["uncorrected"])
    chance = orders.set_index("design").loc[STOPPED, "probability"]
    size = int(errors.loc[errors["design"] == STOPPED, "instances"].iloc[0])
    true = chance_of_drawn((y.ranks <= 10).astype(int) - (x.ranks <= 10), size)
    assert 0.5 < true < 0.9999
    assert chance == pytest.approx(true, abs=1e-6)


@pytest.mark.parametrize("recipe", ["uncorrected", "BV 0.1"])
@pytest.mark.parametrize("scheme", [WITH, WITHOUT["scheme"]])
@pytest.mark.parametrize("budget", [15, 30])
def test_each_system_spends_what_it_has_and_is_corrected_for_it(recipe, scheme, budget) -> None:
    # Without replacement, A is ranked among 15 or 20 negatives, B among all of its 10 or 12.
    a = sd.RankSet("A", [1, 9, 3, 14, 2, 20, 15, 4], 21)
    b = sd.RankSet("B", [1, 2, 8, 3, 8, 9, 7, 5], [11, 13] * 4)
    seen: list[float] = []
    asked = {"corrections": ["CLS", recipe], "progress": seen.append, "scheme": scheme}
    table, orders = sd.designs("AP", [a, b], budget, **asked)
    assert sorted({*seen}) == pytest.approx([1 / 3, 2 / 3, 1])
    assert table["design"].tolist() == ["CLS"] * 2 + [recipe] * 2 + [FULL] * 2
    assert [x.index.tolist() for x in (table, orders)] == [list(range(6)), list(range(3))]
    spent = min(budget, 20) if scheme != WITH else budget
    options, rows = {"scheme": scheme, "correction": recipe}, table[table["design"] == recipe]
    for ranks, row in zip((a, b), rows.itertuples(), strict=True):
        bias = sd.expected_mean("AP", ranks, spent, **options) - sd.mean("AP", ranks)
        error = sd.std_of_mean("AP", ranks, spent, **options)
        assert (row.system, row.instances, row.scores) == (ranks.system, 8, spent)
        exact = pytest.approx((bias, error, np.hypot(bias, error)), abs=1e-12)
        assert (row.bias, row.standard_error, row.rmse) == exact
    chance = sd.probability_of_order("AP", [a, b], spent, **options).probability[0]
    mine = orders.loc[orders["design"] == recipe, "probability"].item()
    assert mine == pytest.approx(chance, abs=1e-7)
    full = table[table["design"] == FULL]  # A has 20 negatives, B 10 or 12: 15.5 on average
    share = min(budget / 15.5, 1.0)
    assert full["scores"].tolist() == pytest.approx([20 * share, 11 * share])
    if share == 1:
        assert full["rmse"].tolist() == [0, 0]
        assert orders.loc[orders["design"] == FULL, "probability"].tolist() == [1]


def test_a_proxy_is_a_design_of_its_own(xyz: list[sd.RankSet]) -> None:
    proxies = {"popularity": [400, 390, 410], "age": 200}
    found = sd.designs("Recall@10", xyz, 100, corrections=["uncorrected"], proxies=proxies)
    for name, instances, scores in (("popularity", 1510, [100, 97.5, 102.5]), ("age", 3020, 100)):
        rows = found.errors[found.errors["design"] == f"{STOPPED}, {name}"]
        assert rows["instances"].tolist() == [instances] * 3
        assert rows["scores"].tolist() == pytest.approx(np.broadcast_to(scores, 3))
    assert len(found.orders) == 5 * 3
    for wrong in ([400, 390], [400, 0, 400], 0):
        with pytest.raises(ValueError, match="the mean cost of each of 3 systems, above 0, got"):
            sd.designs("Recall@10", xyz, 100, corrections=["uncorrected"], proxies={"p": wrong})


@pytest.mark.parametrize("metric", ["AUC", "AP", "ATOP", "RR@60", "TOPK@0.5"])
def test_what_is_never_decided_has_no_row_and_too_little_reaches_nobody(metric: str) -> None:
    sets = [sd.RankSet("A", [1, 50], 1000), sd.RankSet("B", [30, 2], 1000)]
    found = sd.designs(metric, sets, 1, corrections=["uncorrected"])
    decided = [STOPPED] if "@" in metric else []
    every = sd.designs(metric, sets[:1], 20).errors["design"].tolist()
    assert every == ["uncorrected", "rank estimate", "CLS", "BV 0.1", "BV 0.01", FULL, *decided]
    assert found.errors["design"].unique().tolist() == ["uncorrected", FULL, *decided]
    assert found.errors.loc[found.errors["design"] == FULL, ["rmse", "bias"]].isna().all(axis=None)
    assert found.orders.loc[found.orders["design"] == FULL, "probability"].isna().all()


@pytest.mark.parametrize("seed", range(28))
def test_interval_of_a_sample_is_that_of_an_enlarged_one(seed: int) -> None:
    """The interval adds z^2 instances, half at each end of the metric's range (Agresti & Coull)."""
    (name, k), options, some, values, weights = case(seed, (4, 1)[seed % 5 == 4], most=1 + seed % 3)
    size, level = int(some.counts.sum()), (0.95, 0.6)[seed % 2]
    instances = (np.inf, size, size + 1, 3.5 * size)[(seed + seed // 12) % 4]
    first, second = some.sets[:2]
    every = [by_definition(name, k, range(1, len(x) + 1), 99) for _, x, _ in some.rows[0]]
    for versus in (None, second, first):
        given = sd.metric(name, k=k), first, instances, versus
        found = sd.mean_of_sample(*given, confidence=level, **options)
        value = values[0] - (0 if versus is None else values[1] if versus is second else values[0])
        mean = np.average(value, weights=weights * some.counts)
        value = np.repeat(mean + (value - mean) * weights, some.counts)
        least, most = 0.0 if versus is None else -max(every), max(every)
        ends = [least, most]
        if versus is not None and np.any(np.abs(value) > 1e-12):
            ends = np.array([-1, 1]) * np.sum(value**2) / np.sum(np.abs(value))
        z, rest = norm.ppf((1 + level) / 2), 1 - size / instances
        large, weight = np.r_[value, ends], np.r_[np.ones(size), z**2 / 2, z**2 / 2]
        centre = np.average(large, weights=weight)
        variance = np.average((large - centre) ** 2, weights=weight)
        reach = z * np.sqrt(variance * rest * (rest / (size + z**2) + 1 / instances))
        middle = (1 - rest) * mean + rest * centre
        bounds = mean + rest * (np.array([least, most]) - mean)
        assert found.value == pytest.approx(mean, abs=1e-12)
        true = np.clip([middle - reach, middle + reach], *bounds)
        assert found.interval == pytest.approx(true, abs=1e-12)
        error = np.sqrt(value.var(ddof=1) / size * rest) if size > 1 else np.inf
        assert found.standard_error == pytest.approx(error if rest else 0.0, abs=1e-12)


@pytest.mark.parametrize("metric", ["Recall@10", "NDCG@10"])
def test_a_sample_may_leave_out_the_only_difference(metric: str) -> None:
    users = [f"u{i}" for i in range(60)]  # one differs, and 59 are drawn
    sets = [sd.RankSet(x, [r] + [1] * 59, 1_000, instances=users) for x, r in (("A", 1), ("B", 50))]
    orders = sd.designs(metric, sets, 990, corrections=["uncorrected"]).orders
    full = orders[orders.design.str.startswith("full")].iloc[0]
    assert (full.better, full.probability) == ("A", pytest.approx(59 / 60, abs=1e-9))
