"""The test whether m goes with the rank: its level, its power, and what the reader says."""

from collections.abc import Callable
from functools import partial
from itertools import permutations

import numpy as np
import pytest
from scipy.stats import chi2, rankdata

from sampledash.sampled_rank_sets import SampledRankSet, _follows
from sampledash.types import Floats, Ints
from tests.estimation.cases import adaptive
from tests.oracles import WITH

Rule = Callable[[np.random.Generator, Ints], Ints]

SET_BEFOREHAND: dict[str, tuple[int, Rule]] = {
    "one of two": (200, lambda rng, n: rng.choice([50, 100], len(n))),
    "few with less": (500, lambda rng, n: np.where(np.arange(len(n)) < 20, 30, 100)),
    "any up to 200": (300, lambda rng, n: rng.integers(1, 201, len(n))),
    "one or two": (300, lambda rng, n: rng.integers(1, 3, len(n))),
    "a part of n by chance": (600, lambda rng, n: (n * rng.uniform(0.02, 0.1, len(n))).astype(int)),
}


def chance(n: Ints, m: Ints, above: Ints, **more: object) -> float:
    return SampledRankSet("A", above + 1, n, m, scheme="with-replacement", **more).chance_if_set


def drawn(rng: np.random.Generator, size: int) -> tuple[Ints, Floats]:
    """Candidates of each instance and shares above that grow with them."""
    n = rng.integers(200, 3700, size)
    return n, rng.beta(0.4, 2, size) * n / 3700


@pytest.mark.parametrize("name", SET_BEFOREHAND)
def test_m_set_beforehand_is_not_flagged_beyond_the_level(name: str) -> None:
    size, rule = SET_BEFOREHAND[name]
    rng, runs, found = np.random.default_rng(41), 300, []
    for _ in range(runs):
        n, share = drawn(rng, size)
        if name != "a part of n by chance":  # with one n for all nothing is held against n
            n[:] = 3706
        m = rule(rng, n)
        found.append(chance(n, m, rng.binomial(m, share)))
    for level in (0.05, 0.01):
        share_below = np.mean(np.array(found) < level)
        assert share_below <= level + 4 * np.sqrt(level * (1 - level) / runs)


def test_m_that_follows_n_is_not_flagged() -> None:
    n, share = drawn(np.random.default_rng(42), 2000)
    for m in (n - 1, np.minimum(100, n - 1), n // 10):
        assert chance(n, m, np.random.default_rng(42).binomial(m, share)) == 1.0
    for m, follows in (((5, 9, 20), True), ((20, 9, 5), True), ((5, 20, 9), False)):
        assert _follows(np.repeat([50, 100, 200], 2), np.repeat(m, 2)) == follows
    assert not _follows(np.repeat([50, 100, 200], 2), np.array([5, 6, 9, 9, 20, 20]))


@pytest.mark.parametrize("rule", [(100, 3200, 1), (20, 320, 2), (10, 80, 1), (1, 500, 1)])
@pytest.mark.parametrize("own_n", [False, True])
def test_m_that_was_decided_by_the_draw_is_found(xyz, rule, own_n) -> None:
    ranks, n = xyz[1].ranks[:300], xyz[1].n[:300]
    m, above = adaptive((ranks - 1) / (n - 1), np.random.default_rng(43), *rule)
    assert chance(n if own_n else 3541, m, above) < 1e-9


def test_few_instances_against_all_their_permutations_and_weights_count_as_instances() -> None:
    # All of its negatives above the item, or none: so it is among any two of them, and the score is
    # 1 or 0. Bernstein's inequality by Boucheron, Lugosi & Massart, section 2.8.
    m, score = np.array([2, 2, 3, 4, 6, 8]), np.array([1, 1, 1, 0, 1, 0])
    place = rankdata(m) - np.mean(rankdata(m))
    sums = np.array([np.dot(each, score) for each in permutations(place)])
    deviation = sums.std()
    z = abs(place @ score) / deviation
    largest = abs(place).max() * max(score.mean(), 1 - score.mean()) / deviation
    expected = chi2.sf(z**2 / (1 + z * largest / 3), 1)
    assert chance(100, m, m * score) == pytest.approx(expected, abs=1e-12)
    rng = np.random.default_rng(44)
    m, weight = rng.choice([50, 100], 80), rng.integers(1, 5, 80)
    above = rng.binomial(m, 0.2)
    alone = chance(1000, np.repeat(m, weight), np.repeat(above, weight))
    assert chance(1000, m, above, counts=weight) == pytest.approx(alone, rel=1e-9)
    assert chance(1000, m, above, counts=weight / 5.0) > alone


def test_where_nobody_says_why_m_goes_with_the_rank_both_readings_are_open() -> None:
    m, above = adaptive(np.linspace(0, 1, 300) ** 3, np.random.default_rng(45), 20, 320, 1)
    made = partial(SampledRankSet, "A", above + 1, 1000, m, scheme=WITH)
    tested, yes, no = (made(adaptive=said) for said in (None, True, False))
    assert tested.readings == (no, yes)
    assert (yes.readings, no.readings) == ((yes,), (no,))
    assert len({tested.digest, yes.digest, no.digest}) == 3
    plain = SampledRankSet("A", [1, 3], 100, 20, scheme=WITH)
    assert plain.readings == (plain,)
    # 300 entries of 10 instances are worth 10.
    few = chance(1000, m, above, instances=np.arange(300) // 30)
    assert few > tested.chance_if_set**0.1
    for drawn, written in (([5, 9, 7], "5 or 7 or 9"), ([5, 6, 7, 8], "mixed")):
        one = SampledRankSet("A", [1] * len(drawn), 50, drawn)
        assert repr(one).endswith(f"n = 50, m = {written})")
