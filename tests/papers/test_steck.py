"""The theorem of Steck (KDD 2010), by simulation and enumeration, and statements of his paper."""

from itertools import combinations, product

import numpy as np
import pytest

import sampledash as sd
from sampledash.papers.steck import check_steck, observed_means
from tests.oracles import WITHOUT

RANKS, N, SHARE = np.array([1, 4, 5, 9, 30]), 41, 0.1  # at rank 5, exactly 0.1 of others are above
MEASURES = np.array([(RANKS - 1) / (N - 1) <= SHARE, 1 - (RANKS - 1) / (N - 1)], dtype=float)


def by_subsets(chance: list[float]) -> np.ndarray:
    """Return mean TOPK and ATOP over non-empty sets of RANKS, each observed with its chance."""
    seen = np.array(list(product([0, 1], repeat=len(RANKS))))[1:]
    weight = np.prod(np.where(seen, chance, 1 - np.array(chance)), axis=1)
    return MEASURES @ (seen / seen.sum(axis=1, keepdims=True)).T @ weight / weight.sum()


@pytest.mark.parametrize("chance", [[0.3] * 5, [0.9, 0.5, 0.4, 0.2, 0.1]])
def test_simulation_is_the_enumeration(chance: list[float]) -> None:
    rng, runs = np.random.default_rng(6), 20_000
    measures = np.array([sd.parse_metric(name)(RANKS, N) for name in (f"TOPK@{SHARE}", "ATOP")])
    assert measures == pytest.approx(MEASURES)
    found = observed_means(measures, chance, runs, rng)
    error = np.nanstd(found, axis=0, ddof=1) / np.sqrt(np.sum(~np.isnan(found), axis=0))
    assert np.all(np.abs(np.nanmean(found, axis=0) - by_subsets(chance)) <= 4 * error)
    nothing, share = np.prod(1 - np.array(chance)), np.isnan(found[:, 0]).mean()
    assert abs(share - nothing) <= 4 * np.sqrt(nothing * (1 - nothing) / runs) + 1e-12


@pytest.mark.parametrize("n", range(2, 11))
def test_sampled_measures_by_enumeration(n: int) -> None:
    """``expected`` TOPK and ATOP are means over all samples, at all ranks, shares j/m and 0.35."""
    ranks = np.arange(1, n + 1)
    for m in range(1, n):
        sampling = sd.Sampling(n, m, WITHOUT)
        samples = np.array(list(combinations(range(1, n), m)))  # drawn items, by rank among others
        above = (samples[:, None, :] < ranks[:, None]).sum(axis=2)
        for share in [j / m for j in range(m + 1)] + [0.35]:
            ours = sd.expected(sd.metric("topk", k=share), ranks, sampling)
            assert ours == pytest.approx(np.mean(above / m <= share, axis=0), abs=1e-12)
        ours = sd.expected("ATOP", ranks, sampling)
        assert ours == pytest.approx(np.mean(1 - above / m, axis=0))


#: The statements of the paper that do not hold, in order: where they are, and a part of the quote.
#: The notes of ``check_steck`` give the reasons.
WRONG = [("section 2.3", "(small)"), ("section 2.3", "(positive)"), ("eq. 8", "+ C(N⁺ + 1, 2)")]
WRONG += [("eq. 9", "(N⁺ + 3)/(2N⁻)"), ("Table 3", "TOPK(0%)")]


def test_what_the_text_states(xyz: list[sd.RankSet]) -> None:
    findings = list(check_steck(sd.example).itertuples())
    assert len(findings) == 19
    wrong = [f for f in findings if not f.holds]
    for finding, (where, part) in zip(wrong, WRONG, strict=True):
        assert finding.where == where
        assert part in finding.quote
        assert finding.note
    by = {(f.where, f.quote[:12]): f.ours for f in findings}
    # The oracle of Table 1 ties a relevant item with 3 of 7 others, so its ATOP is 1 - 1.5 / 7.
    assert f"{1 - 1.5 / 7:.2f}" in findings[0].note
    more = {"39% more rel": 9.3 / 6.7, "48% more rel": 23.3 / 15.7, "and 50% more": 64.8 / 43}
    for quote, ratio in more.items():
        assert by["section 6.2", quote] == pytest.approx(100 * (ratio - 1))
    assert round(by["Table 3", "TOPK(0%): no"], 1) == 17.8
    # Expected ratio: mean P(none of 1,000 sampled items is above) / share of ranks that are 1.
    x = xyz[0]
    s, below = np.arange(1000), (x.n - x.ranks)[:, None]
    none = np.prod(np.maximum(below - s, 0) / (x.n[:, None] - 1 - s), axis=1)
    small = next(f for f in findings if "(small)" in f.quote)
    assert small.ours == pytest.approx(float(np.mean(none) / np.mean(x.ranks == 1)), rel=1e-9)
