"""``negatives_needed`` against a search over all m; ``instances_needed`` against its formula."""

from collections.abc import Sequence
from itertools import product
from statistics import NormalDist
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import hypergeom

import sampledash as sd
from sampledash.comparison.planning import first_shown, instances_needed, negatives_needed
from tests.comparison.made import of_ranks, skewed
from tests.oracles import WITHOUT


def systems(seed: int, size: int, n: Any, powers: Sequence[float]) -> list[sd.RankSet]:
    return skewed(np.random.default_rng(seed), n, size, powers)


def one_by_one(chances: np.ndarray, probability: float) -> list[int | None]:
    found = []
    for column in chances.T:
        low = np.flatnonzero(~(column >= probability))
        last = low[-1] + 1 if len(low) else 0
        found.append(None if last == len(column) else int(last) + 1)
    return found


def listed(table: pd.DataFrame, name: str) -> list[int | None]:
    return [None if pd.isna(v) else int(v) for v in table[name]]


def chances_of(metric: str, sets: list[sd.RankSet], m_max: int, **options: object) -> np.ndarray:
    tables = (sd.probability_of_order(metric, sets, m, **options) for m in range(1, m_max + 1))
    return np.array([table.probability for table in tables])


FEW = systems(8, 12, 60, (3.0, 1.2))  # for 12 instances, chances are exact
PLAIN = systems(1, 150, 26, (2.2, 1.9, 1.6))
# Users have different n: as m grows, users with a small n are the first with all negatives drawn.
OWN_N = systems(12, 100, np.random.default_rng(12).integers(20, 46, 100), (2.4, 2.2))
# As m grows, chances may fall: that of DIP below 0.7 at m = 10..17, of DIPS below 0.95 at 15..18.
DIP = systems(14, 60, 22, (2.3, 1.6))
DIPS = of_ranks(21, [9, 7, 17, 9, 4, 2, 8, 12, 21, 7], [7, 13, 20, 18, 13, 21, 13, 21, 2, 16])


def test_negatives_at_every_m() -> None:
    for metric, sets, m_max, options in (
        ("AP", PLAIN, 25, {}),
        ("NDCG@10", PLAIN, 25, {"scheme": WITHOUT}),
        ("Recall@5", PLAIN, 25, {"scheme": WITHOUT}),
        ("AUC", PLAIN, 25, {"scheme": "popularity", "odds": 1.5}),
        ("Recall@3", FEW, 59, {}),
        ("Recall@3", DIP, 21, {"scheme": WITHOUT}),
        ("AP", DIPS, 20, {"scheme": WITHOUT}),
        ("AP", OWN_N, 44, {"scheme": WITHOUT}),
    ):
        chances = chances_of(metric, sets, m_max, **options)
        for probability in (0.7, 0.95):
            seen: list[float] = []
            table = negatives_needed(metric, sets, probability, progress=seen.append, **options)
            assert listed(table, "m") == one_by_one(chances, probability)
            assert seen == sorted(seen)
            assert seen[-1] == 1


@pytest.mark.parametrize("correction", ["BV 0.1", "rank estimate", "CLS"])
def test_corrected_negatives(correction: str) -> None:
    # Corrected means jump between neighbouring m, so a smaller m than the one found may suffice.
    sets = systems(3, 250, 61, (2.4, 2.1))
    options = {"correction": correction, "scheme": WITHOUT}
    chances = chances_of("NDCG@5", sets, 60, **options)
    table = negatives_needed("NDCG@5", sets, 0.9, **options)
    true, found = one_by_one(chances, 0.9)[0], listed(table, "m")[0]
    assert None not in (true, found)
    assert chances[found - 1, 0] >= 0.9
    assert found == 1 or chances[found - 2, 0] < 0.9
    assert abs(found - true) <= max(2, 0.1 * true)


def test_a_boundary_is_found_from_any_guess() -> None:
    top = 40
    for least, guess in product(range(1, top + 1), range(1, top + 1)):
        assert first_shown(lambda m, least=least: m >= least, guess, top) == least


def test_not_reachable() -> None:
    sets, same = systems(4, 200, 81, (2.0, 1.95)), of_ranks(9, [3, 5], [3, 5])
    wrong = of_ranks(1000, [10, 1000], [11, 11])  # exact Recall@10 prefers P, sampled Recall@10 Q
    tied = of_ranks(12, [1, 3], [1, 12])  # Recall@2 is equal, but sampled Recall@2 differs
    near = of_ranks(10**9, [500_000_000], [500_000_001])  # AUC differs by 1e-9: needs 10^17 users
    for needed, some, metric, how in (
        (negatives_needed, sets, "AP", {"probability": 0.999, "m_max": 2}),
        (negatives_needed, same, "AP", {}),
        (instances_needed, same, "AP", {"m": 3}),
        (instances_needed, sets, "Recall@10", {"m": 5}),  # with 5 negatives, Recall@10 is always 1
        (instances_needed, wrong, "Recall@10", {"m": 20}),
        (instances_needed, tied, "Recall@2", {"m": 5}),
        (instances_needed, near, "AUC", {"m": 10}),
    ):
        assert needed(metric, some, **how).iloc[0, 2] is pd.NA


@pytest.mark.parametrize("metric", ["AP", "Recall@5"])
@pytest.mark.parametrize("redraw", ["negatives", "both", "both apart"])
def test_instances_by_hand(metric: str, redraw: str) -> None:
    sets, m, seen = systems(5, 200, 400, (2.8, 1.7, 1.9)), 60, []
    if redraw == "both apart":
        sets = [
            sd.RankSet(x.system, x.ranks, 400, instances=[f"{x}{i}" for i in range(200)])
            for x in sets
        ]
    alone = {r: sd.RankSet("S", [r], 400) for rs in sets for r in rs.ranks.tolist()}
    mean, std = (
        {r: f(metric, x, m) for r, x in alone.items()} for f in (sd.expected_mean, sd.std_of_mean)
    )
    values = {x.system: np.array([mean[r] for r in x.ranks.tolist()]) for x in sets}
    spread = {x.system: np.mean([std[r] ** 2 for r in x.ranks.tolist()]) for x in sets}
    step = 0.5 if metric == "Recall@5" else 0.0  # continuity correction: half a hit
    for probability in (0.7, 0.95, 0.999):
        more = {"redraw": redraw.split()[0], "progress": seen.append}
        table, needed = instances_needed(metric, sets, m, probability, **more), []
        for better, worse in zip(table.better, table.worse, strict=True):
            gain, variance = values[better] - values[worse], spread[better] + spread[worse]
            if redraw == "both":
                variance += gain.var()
            elif redraw == "both apart":
                variance += values[better].var() + values[worse].var()
            size = np.arange(1, 10**5)
            shown = (gain.mean() - step / size) * np.sqrt(size / variance)
            reached = shown >= NormalDist().inv_cdf(probability) - 1e-12
            needed.append(int(size[reached][0]) if gain.mean() > 0 else None)
        assert listed(table, "instances") == needed
    assert seen == pytest.approx([1 / 3, 2 / 3, 1] * 3)


def test_one_instance_is_enough_where_nothing_scatters() -> None:
    sets = of_ranks(9, [1, 4], [3, 5])
    assert instances_needed("AP", sets, 8, scheme=WITHOUT).instances.tolist() == [1]
    chances = chances_of("AP", sets, 8, scheme=WITHOUT)
    for probability in (1.0, 0.5):
        table = negatives_needed("AP", sets, probability, scheme=WITHOUT)
        assert listed(table, "m") == one_by_one(chances, probability)
    for needed in (negatives_needed, lambda *given: instances_needed(*given[:2], 8, given[2])):
        with pytest.raises(ValueError, match="probability must be above 0 and at most 1, got 0"):
            needed("AP", sets, 0)


def test_the_given_instances_are_enough_if_their_chance_is() -> None:
    # The chance is that of 9 instances, each a hit or a miss, by counting: 97.45 %.
    sets = [
        sd.RankSet("A", [17, 3, 63, 33, 82, 139, 2, 38, 5], 1_000),
        sd.RankSet("B", [92, 4, 37, 57, 129, 43, 160, 23, 13], 1_000),
    ]
    laws = []
    for ranks in sets:
        hits = hypergeom(999, ranks.ranks - 1, 600).cdf(9)
        laws.append(np.poly1d([1.0]))
        for p in hits:
            laws[-1] *= np.poly1d([p, 1 - p])
    a, b = (np.pad(law.coeffs[::-1], (0, 10 - len(law.coeffs))) for law in laws)
    chance = sum(a[i] * b[:i].sum() for i in range(10))
    assert chance == pytest.approx(0.97452, abs=1e-5)
    for probability, most in ((chance - 1e-6, 9), (chance + 1e-6, np.inf)):
        [needed] = instances_needed("Recall@10", sets, 600, probability)["instances"]
        assert (needed <= 9) == (most == 9)
