"""Sampled rank sets against plain loops, and the test of whether m depends on the rank."""

import re
from collections import Counter
from collections.abc import Callable
from math import comb, inf
from typing import Any

import numpy as np
import pytest
from scipy.stats import chi2

from sampledash.sampled_rank_sets import Outcomes, SampledRankSet
from sampledash.sampling import Sampling
from sampledash.types import Floats, Ints
from tests.estimation.cases import adaptive
from tests.oracles import UNIFORM, WITH, WITHOUT
from tests.test_rank_sets import nearest

Case = tuple[int, int, int, float]  # n, m, number of items above, weight


def columns(rng: np.random.Generator) -> dict[str, object]:
    """Return columns of a small random sample with one or several n and m, sometimes invalid."""
    size = int(rng.integers(1, (4, 30, 30)[rng.integers(3)]))

    def pick(*kinds: object) -> Any:
        return kinds[rng.integers(len(kinds))]

    n = pick([30], [30, 45, 46], range(20, 90), [20, 30, 79, 80, 81, 9000], [2, 10])
    n = rng.choice(n, size)
    m = pick([5], [1, 4, 9], range(1, 19), [4, 6, 9, 2])
    drawn = rng.choice(m, size), n // 10 + 1, 100 // n + 1, np.minimum(n - 1, 60)
    m = pick(drawn[0], *drawn)
    share = pick(rng.beta(0.4, 2, size), m < 5, m > np.median(m), n < 5)
    counts = rng.choice(pick([1.0], [0.0, 0.5, 2.0], [1.0, 20, 50]), size)
    given = {"sampled_ranks": rng.binomial(m, share) + 1, "n": n, "m": m, "counts": counts}
    if rng.integers(4) == 0:
        name = pick(*given)
        cells = [-1, 0, 3] if name == "counts" else [2, 3, 10, 29, 30]
        given[name][rng.integers(size)] = pick(*cells)
    how = {"scheme": pick(*UNIFORM), "adaptive": pick(None, True, False)}
    return given | how | {"instances": pick(None, None, rng.integers(0, size, size))}


def refusal(sampled_ranks: Ints, n: Ints, m: Ints, counts: Floats, scheme: str) -> str:
    """Return the error message expected for the first fault of the columns; "" if none."""
    rows, where = list(zip(sampled_ranks, n, m, strict=True)), "of system 'S' is"
    rules = [
        *((t > drawn + 1, f"sampled_rank {where} {t}, but with m = {drawn} negatives it is at most "
           f"{drawn + 1}: if these are true ranks") for t, _, drawn in rows),
        *((size == 2 and t not in (1, drawn + 1), f"sampled_rank {where} {t}, which cannot occur "
           f"with n = 2 and m = {drawn}: it is 1 or {drawn + 1};") for t, size, drawn in rows),
        *((scheme == WITHOUT and drawn >= size, f"m {where} {drawn}, but without replacement n = "
           f"{size} leaves {size - 1} negatives:") for _, size, drawn in rows),
        *((w < 0, f"counts of system 'S' must be at least 0, got {w:g}:")
          for w in counts),
        (not any(counts), "counts of system 'S' are all 0: give at least one instance"),
    ]  # fmt: skip
    return next((sentence for wrong, sentence in rules if wrong), "")


def dropped(s: int, m: int, least: int) -> list[float]:
    """Return P(t above), t = 0..least, for ``least`` negatives chosen from m with s above."""
    return [comb(s, t) * comb(m - s, least - t) / comb(m, least) for t in range(least + 1)]


def chance_of(cases: list[Case]) -> float:
    """Return ``chance_if_set`` by loops: the Cochran-Mantel-Haenszel p-value of rank against m."""
    by_n = {n: {m for other, m, *_ in cases if other == n} for n, *_ in sorted(cases)}
    steps = np.diff([min(some) for some in by_n.values()])
    if all(len(some) == 1 for some in by_n.values()) and (all(steps >= 0) or all(steps <= 0)):
        return 1.0
    strata: dict[int, list[tuple[int, int, float]]] = {}
    before, total, spread, parts = 0.0, np.zeros(2), np.zeros((2, 2)), []
    for n in by_n:
        strata.setdefault(int(before // 50), []).extend(x[1:] for x in cases if x[0] == n)
        before += sum(w for other, *_, w in cases if other == n)
    for some in strata.values():
        least, size = min(m for m, *_ in some), sum(w for *_, w in some)
        if size <= 1:
            continue
        laws, weights = (np.array(x) for x in zip(*((dropped(s, m, least), w / size)
                                                    for m, s, w in some), strict=True))  # fmt: skip
        place = [sum(w * ((x < m) + (x == m) / 2) for x, _, w in some) / size for m, *_ in some]
        place -= weights @ place
        values = np.array([[t / least, t == 0] for t in range(least + 1)])
        means, centre = laws @ values, weights @ laws @ values
        second = np.einsum("i,it,ta,tb->ab", weights, laws, values, values)
        total += size * (weights * place) @ means
        spread += size**2 / (size - 1) * (weights @ place**2) * (second - np.outer(centre, centre))
        ends = [[min(s, least) / least, 0] for _, s, _ in some] + [[1 / least, 0], [0, 1]]
        parts.append((abs(place).max(), np.array(ends) - centre))
    if not spread.any():
        return 1.0
    direction = np.linalg.pinv(spread, rcond=1e-9, hermitian=True) @ total
    freedom = np.linalg.matrix_rank(spread, tol=1e-9 * np.linalg.norm(spread, 2))
    # ``largest / 3`` is the term in Bernstein's inequality (Boucheron, Lugosi & Massart, 2.8).
    largest = max(most * abs(ends @ direction).max() for most, ends in parts)
    return float(chi2.sf(direction @ total / (1 + largest / 3), freedom))


def outcomes(cases: list[Case], most: float, scheme: str) -> tuple[Any, ...]:
    """Return mean n, {m: instances with 0..m items above} and range of n; m is cut to ``most``."""
    counts: dict[int, Floats] = {}
    for _, m, s, w in cases:
        least = min(m, most)
        counts[least] = counts.get(least, 0) + w * np.array(dropped(s, m, least))
    n, weights = [case[0] for case in cases], [case[3] for case in cases]
    sizes = [nearest(n, weights), min(n), max(n)]
    mean, *ends = (max(x, max(counts) + 1) if scheme == WITHOUT else x for x in sizes)
    return mean, counts, () if ends[0] == ends[1] else tuple(ends)


def grouped(cases: list[Case], size_of: Callable[[Case], float], far: float) -> list[list[Case]]:
    """Group cases by size. A group with 50 instances has sizes up to 1.5 times its smallest size,
    a group with fewer instances up to ``far`` times."""
    groups: list[list[Case]] = []
    for size in sorted({size_of(case) for case in cases}):
        ratio = size / size_of(groups[-1][0]) * (1 - 1e-10) if groups else 0.0
        if not groups or ratio > far or (ratio > 1.5 and sum(x[3] for x in groups[-1]) >= 50):
            groups.append([])
        groups[-1] += [case for case in cases if size_of(case) == size]
    return groups


def test_samples_are_refused_by_rule_or_counted_as_loops_count_them() -> None:
    rng, refused, chances = np.random.default_rng(3), Counter[str](), []
    for _ in range(350):
        given = columns(rng)
        names = ("sampled_ranks", "n", "m", "counts", "scheme")
        if sentence := refusal(*(given[name] for name in names)):
            refused[re.sub(r"\d+", "", sentence)] += 1
            with pytest.raises(ValueError, match=f"^{re.escape(sentence)}"):
                SampledRankSet("S", **given)
            continue
        srs, scheme, weights = SampledRankSet("S", **given), given["scheme"], given["counts"]
        cells = srs.n, srs.m, srs.sampled_ranks - 1, weights
        cases = [case for case in zip(*(x.tolist() for x in cells), strict=True) if case[3]]
        assert srs.adaptive is given["adaptive"]
        effect = 1.0
        if given["instances"] is not None:
            squares = np.bincount(given["instances"], weights) ** 2
            effect = max(1.0, squares.sum() / weights.sum())
        chances.append(chance_of([(*case[:3], case[3] / effect) for case in cases]))
        assert srs.chance_if_set == pytest.approx(chances[-1], rel=1e-6, abs=1e-12)
        both = srs.adaptive is None and chances[-1] < 1e-3
        assert [x.adaptive for x in srs.readings] == ([False, True] if both else [srs.adaptive])
        apart = not srs.adaptive and chances[-1] < (1e-3 if srs.adaptive is None else 0.05)
        parts = [(cases, inf, srs.outcomes)]
        strata, least = iter(srs.strata), inf
        for some in grouped(cases, lambda case: case[0], 4.0):
            for part in grouped(some, lambda case: 1 / case[1], inf) if apart else [some]:
                least = min(case[1] for case in part) if apart else inf
                if scheme == WITHOUT and not srs.adaptive:
                    least = min(least, min(case[0] for case in part) - 1)
                parts.append((part, least, next(strata)))
        assert not [*strata]
        for part, most, ours in parts:
            n, counts, ends = outcomes(part, most, scheme)
            assert (ours.n, ours.m, ours.extremes) == (n, tuple(sorted(counts)), ends)
            assert (ours.adaptive, ours.design_effect) == (bool(srs.adaptive or both), effect)
            for m, seen in zip(ours.m, ours.counts, strict=True):
                assert seen == pytest.approx(counts[m], rel=1e-12, abs=1e-14)
                assert not seen.flags.writeable
            assert ours.samplings == tuple(Sampling(n, m, scheme) for m in ours.m)
            assert [(x.n, x.extremes) for x in ours.at_extremes] == [(x, ()) for x in ends or (n,)]
        m, n = srs.outcomes.m, nearest(given["n"].tolist(), weights.tolist())
        assert (srs.n_instances, srs.population, len(srs)) == (weights.sum(), n, len(weights))
        shown = f"SampledRankSet('S', {weights.sum():g} instances, n = {n}, m = "
        assert repr(srs) == shown + (" or ".join(map(str, m)) if len(m) < 4 else "mixed") + ")"
    assert (len(refused), len(chances) > 250) == (5, True)
    assert min(sum(p < 1e-3 for p in chances), sum(1e-3 < p < 0.05 for p in chances)) > 5


def test_outcomes_of_several_runs_and_what_cannot_occur() -> None:
    counts = np.array([[3.0, 1], [2, 2]]), np.array([[1.0, 0, 3], [0, 4, 0]])
    both = Outcomes(3, WITHOUT, (1, 2), counts)
    assert both.total.tolist() == [8, 8]
    assert both.shares.tolist() == [[3 / 8, 1 / 8, 1 / 8, 0, 3 / 8], [2 / 8, 2 / 8, 0, 4 / 8, 0]]
    assert [x.tolist() for x in both.by_m(both.shares[0])] == [[3 / 8, 1 / 8], [1 / 8, 0, 3 / 8]]
    both.require_possible(np.array([1, 1, 1e-9, 1, 1]))
    sentence = "sampled_rank 2 cannot occur with n = 3 and m = 2, without-replacement: check n, m"
    with pytest.raises(ValueError, match=sentence):
        both.require_possible(np.array([1, 1, 1, 0, 0]))


def test_at_most_ten_million_places_are_counted() -> None:
    for m, places in (([9_999_999], 0), ([10**7], 10_000_001), ([5 * 10**6, 4_999_998], 0),
                      ([5 * 10**6, 4_999_999], 10_000_001)):  # fmt: skip
        if not places:
            assert len(SampledRankSet("S", [1] * len(m), 10**8, m)) == len(m)
            continue
        text = f"up to {max(m)}: .* each of {places} places.* 10000000"
        with pytest.raises(ValueError, match=text):
            SampledRankSet("S", [1] * len(m), 10**8, m)


def chance(n: Ints, m: Ints, above: Ints) -> float:
    return SampledRankSet("A", above + 1, n, m, scheme=WITH).chance_if_set


@pytest.mark.parametrize("rule", [(100, 3200, 1), (20, 320, 2), (10, 80, 1), (1, 500, 1)])
@pytest.mark.parametrize("own_n", [False, True])
def test_m_that_was_decided_by_the_draw_is_found(xyz, rule, own_n) -> None:
    ranks, n = xyz[1].ranks[:300], xyz[1].n[:300]
    m, above = adaptive((ranks - 1) / (n - 1), np.random.default_rng(43), *rule)
    assert chance(n if own_n else 3541, m, above) < 1e-9
