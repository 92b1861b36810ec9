"""What Steck (KDD 2010) states in numbers and formulas, as far as it needs no ratings."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sampledash.metrics import parse_metric
from sampledash.papers import steck, steck_missing, steck_sampling
from sampledash.papers import steck_printed as printed
from sampledash.papers.findings import Finding
from sampledash.papers.printed import MOVIELENS
from sampledash.papers.tables import Load
from sampledash.ranksets import RankSet


def check_steck(load: Load) -> list[Finding]:
    """Check the statements about the measures, their sampling and the missing ratings.

    ``load`` gives the bundled rank sets by name: :func:`sampledash.example`.
    """
    x = next(ranks for ranks in load(MOVIELENS) if ranks.system == "X")
    return [*_measures(), *_missing(), *_sampled(x), *_areas(), *_numbers()]


def _user(ranks: Sequence[int], n: int) -> RankSet:
    return RankSet("user", ranks, n, instances=np.zeros(len(ranks), dtype=np.int64))


def _measures() -> list[Finding]:
    # Table 1: four horror and four romance movies; a user's four relevant ones tie.
    taste = RankSet("oracle", [1] * 4, 8, ties=3)
    constant = RankSet("constant", [1] * 4, 8, ties=7)
    n, ranks = 30, [2, 5, 6, 19]
    some = _user(ranks, n)
    steps = np.arange(1, n) / (n - 1)  # TOPK is constant up to each of these shares
    area = float(np.mean([steck.topk(step - 1e-9, some) for step in steps]))
    perfect = _user([1, 2, 3, 4], n)
    ratio = float(
        parse_metric("Recall@10").of_set(ranks, n) / parse_metric("Precision@10").of_set(ranks, n)
    )
    return [
        Finding(
            "Table 1", "a (useless) recommender predicts 5 stars for all movies and users",
            steck.atop(constant), "its ATOP, ties in the middle; its RMSE is 0",
            steck.atop(constant) == 0.5,
            "1 with optimistic and 0 with pessimistic ties; one that knows the genre gets "
            f"{steck.atop(taste):.2f}, with the same RMSE",
        ),
        Finding(
            "section 2.1", "precision and recall are proportional, with factor k'/N⁺", ratio,
            "Recall@10 over Precision@10 for 4 relevant items", abs(ratio - 10 / 4) < 1e-12,
        ),
        Finding(
            "eq. 3-4", "the area under the TOPK curve is the average normalized rank",
            area - steck.atop(some), "area minus average, for ranks 2, 5, 6, 19 of 30",
            abs(area - steck.atop(some)) < 1e-12,
        ),
        Finding(
            "section 2.1", "the maximum value of ATOP is 1 - (N⁺ - 1)/(N - 1)/2",
            steck.atop(perfect), "ATOP of a perfect list, 4 relevant of 30",
            abs(steck.atop(perfect) - steck.highest_atop(4, n)) < 1e-12,
        ),
    ]  # fmt: skip


def _missing() -> list[Finding]:
    fair, unfair = (
        [abs(found.off) for found in steck_missing.theorem(times, np.random.default_rng(2010))]
        for times in (1, 9)
    )
    return [
        Finding(
            "theorem", "measures from the observed MNAR data provide unbiased estimates",
            max(fair), "standard errors off, the larger of TOPK and ATOP, 4,000 runs",
            max(fair) < 4,
            "the second assumption is not needed: ranks are among all items",
        ),
        Finding(
            "section 2.2", "we assume that the relevant rating values are missing at random",
            min(unfair),
            "standard errors off, the smaller of TOPK and ATOP, the best item observed 9 times as "
            "often as the worst",
            min(unfair) > 10, "without it the theorem fails: the estimates are too high",
        ),
    ]  # fmt: skip


def _sampled(x: RankSet) -> list[Finding]:
    """Section 2.3, with the ranks of recommender X where it takes some."""
    ranks, n = x.ranks, x.n
    exact = float(np.mean(steck.shares(ranks, n) <= 0))
    few, many = (float(np.mean(steck_sampling.expected_topk(0, ranks, n, m))) for m in (100, 1000))
    unbiased = max(
        float(np.max(np.abs(steck_sampling.expected_atop(np.arange(1, 31), 30, m)
                            - (1 - steck.shares(np.arange(1, 31), 30)))))
        for m in range(1, 30)
    )  # fmt: skip
    m, j = 100, 2
    at = int(steck_sampling.naive_threshold(j, 1001, m))
    below = float(steck_sampling.topk_bias(j / m, at, 1001, m))
    return [
        Finding(
            "section 2.3", "a random subsample allows efficient estimation of ATOP", unbiased,
            "largest bias of sampled ATOP, N = 30, every Ñ", unbiased < 1e-12,
            "none at any size of the subsample",
        ),
        Finding(
            "section 2.3", "this may result in a small positive bias, especially for TOPK at small "
            "k (small)", many / exact, "expected TOPK(0 %) of X with Ñ = 1001 over the exact one "
            f"({exact:.4f}); {few / exact:.0f} times with Ñ = 101", many / exact < 1.1,
            "another measure, not a small bias",
        ),
        Finding(
            "section 2.3", "this may result in a small positive bias, especially for TOPK at small "
            "k (positive)", below, f"bias of TOPK(2 %) of an item at rank {at} of 1,001, Ñ = 101",
            below > 0, "its sign depends on the ranks",
        ),
    ]  # fmt: skip


def _areas() -> list[Finding]:
    """Eq. 8 and 9."""
    n, ranks = 30, [1, 2, 3, 4]
    his = np.sum(n + 1 - np.asarray(ranks))
    as_printed = float((his + 10) / (4 * 26))
    right = steck.auc_of_ranks(ranks, n)
    one = float(parse_metric("AUC")(7, n))
    printed_9 = steck.atop(_user([7], n)) + 4 / (2 * (n - 1))
    return [
        Finding(
            "eq. 8", "AUC = [ΣRank⁺ + C(N⁺ + 1, 2)] / (N⁺N⁻)", as_printed,
            "AUC of a perfect list, 4 relevant of 30", as_printed <= 1,
            f"the sign before the binomial is a minus: {right:g}",
        ),
        Finding(
            "eq. 9", "AUC = (1 + (N⁺ - 1)/N⁻) ATOP + (N⁺ + 3)/(2N⁻)", printed_9,
            f"AUC of one relevant item at rank 7 of 30; it is {one:.4f}", printed_9 == one,
            "follows from eq. 8: the last term is -(N⁺ - 1)/(2N⁻), and AUC = ATOP for one item",
        ),
        Finding(
            "eq. 9", "the difference between AUC and ATOP becomes negligible if N⁺ ≪ N",
            steck.auc_of_atop(0.9, 3, 3_883) - 0.9, "difference at ATOP 0.9, 3 relevant of 3,883",
            abs(steck.auc_of_atop(0.9, 3, 3_883) - 0.9) < 0.001,
        ),
    ]  # fmt: skip


def _numbers() -> list[Finding]:
    """Section 6: what follows from printed numbers."""
    size, drawn = printed.NETFLIX_ITEMS, printed.NETFLIX_SAMPLED
    t0, t2, t20 = (steck_sampling.mean_threshold(j, size, drawn) for j in (0, 2, 20))
    best = printed.STECK_TABLE_3["AllRank-Regression"]
    rival = printed.STECK_TABLE_3["integrated model"]
    gains = [100 * ((b or 0) / (r or 1) - 1) for b, r in zip(best[2:], rival[2:], strict=True)]
    low = 100 * ((best[4] or 0) / 43.5 - 1)  # 43 % is printed without decimals
    netflix, movielens = 0.01, 1e6 / (printed.MOVIELENS_ITEMS * printed.MOVIELENS_USERS)
    return [
        Finding(
            "Table 3", "TOPK(0%): none of the 1000 other, randomly chosen items ranks higher", t0,
            "place that TOPK(0 %) looks at on average, of 17,770; TOPK(0.2 %) at "
            f"{t2:.1f}, TOPK(2 %) at {t20:.1f}", t0 < 1.5, "by name it is the first place alone",
        ),
        Finding(
            "section 6.2", "39% more relevant items are ranked at the very top", gains[0],
            "gain in % from the printed TOPK(0 %)", round(gains[0]) == 39,
        ),
        Finding(
            "section 6.2", "48% more relevant items are ranked in the top 0.2%", gains[1],
            "gain in % from the printed TOPK(0.2 %)", round(gains[1]) == 48,
        ),
        Finding(
            "section 6.2", "and 50% more in the top 2%", gains[2],
            "gain in % from the printed TOPK(2 %)", low <= 50 <= gains[2] + 0.5,
            f"43 % is rounded: from {low:.0f} % up",
        ),
        Finding(
            "section 6.1", "about 4% of all possible ratings are observed", 100 * movielens,
            "1 million of 3,900 × 6,040 in %", round(100 * movielens) == 4,
        ),
        Finding(
            "section 6.1", "with w_m ≈ 0.05 all the missing ratings together have about the same "
            "weight as all the observed ones", 0.05 * (1 - movielens) / movielens,
            "weight of the missing over that of the observed",
            0.8 < 0.05 * (1 - movielens) / movielens < 1.25,
        ),
        Finding(
            "section 6.2", "at w_m ≈ 0.005 all the observed ratings together have twice the weight "
            "of the unobserved ones", netflix / (0.005 * (1 - netflix)),
            "weight of the observed over that of the missing, 1 % observed",
            round(netflix / (0.005 * (1 - netflix))) == 2,
        ),
    ]  # fmt: skip
