"""Sections 3 to 5 of Krichene & Rendle (KDD 2020), Figures 1, 3 and 4: what needs no ranks."""

from __future__ import annotations

from itertools import pairwise
from typing import cast

import numpy as np

from sampledash.correction import correction
from sampledash.expectation import expected, posterior
from sampledash.metrics import parse_metric
from sampledash.papers.findings import Finding
from sampledash.sampling import SCHEMES, Sampling, Scheme
from sampledash.types import Floats

_N = 10_000  # candidates in Figures 1, 3 and 4
_TOP_HEAVY = ("AP", "NDCG", "Recall@10")
_ALL = (*_TOP_HEAVY, "AUC")


def check() -> list[Finding]:
    """Every statement of sections 3-5 that a computation can decide, in the order of the text."""
    return [*_metrics(), *_sampled(), *_single_negative(), *_corrections(), *_sizes()]


def _metrics() -> list[Finding]:
    ndcg, ap, auc = (parse_metric(name) for name in ("NDCG", "AP", "AUC"))
    twice = float(ap(1, _N) / ap(2, _N))
    gain = float(ndcg(1, _N) / ndcg(2, _N))
    tail = max(float(np.ptp(parse_metric(x)([_N // 2, _N], _N))) for x in _TOP_HEAVY)
    first, step = (float(auc(r, _N) - auc(r + 1, _N)) for r in (1, 100))
    pairs = (("RR", "AP"), ("HitRate@10", "Recall@10"))
    ranks = np.arange(1, 101)
    equal = max(
        float(np.max(np.abs(parse_metric(a)(ranks, 100) - parse_metric(b)(ranks, 100))))
        for a, b in pairs
    )
    return [
        Finding(
            "section 3.1", "Reciprocal Rank is equivalent to Average Precision, Hit Ratio to "
            "Recall (|R| = 1)", equal, "largest difference over 100 ranks", equal == 0,
        ),
        Finding(
            "Figure 1", "rank 1 is twice as valuable as rank 2 (Average Precision)",
            twice, "AP at rank 1 over AP at rank 2", twice == 2,
        ),
        Finding(
            "Figure 1", "for NDCG, rank 1 is 1.58 more valuable",
            gain, "NDCG at rank 1 over NDCG at rank 2", round(gain, 2) == 1.58,
        ),
        Finding(
            "Figure 1", "pushing an item from position 101 to 100 is as valuable as from 2 to 1 "
            "(AUC)", step - first, "difference of the two gains", abs(step - first) < 1e-12,
        ),
        Finding(
            "Figure 1", "all metrics besides AUC almost completely ignore the tail", tail,
            "most that AP, NDCG or Recall@10 lose from rank 5,000 to 10,000", tail < 0.01,
            "AUC loses 0.5 there",
        ),
    ]  # fmt: skip


def _sampled() -> list[Finding]:
    """Figure 3, zoomed into the top 1,000 ranks as printed."""
    ranks = np.arange(1, 1001)
    exact = parse_metric("AUC")(ranks, _N)
    unchanged = 0.0
    for m in (1, 10, 100, 1000):
        seen = parse_metric("AUC")(np.arange(1, m + 2), m + 1)
        for scheme in SCHEMES[:2]:  # by the law, not by the closed form that assumes it
            mean = Sampling(_N, m, cast(Scheme, scheme)).pmf(ranks) @ seen
            unchanged = max(unchanged, float(np.max(np.abs(mean - exact))))
    bias = max_bias("AP", 1000)
    sharp = expected("Recall@10", ranks, Sampling(_N, 1000))
    jump = float(np.max(-np.diff(sharp)))
    return [
        Finding(
            "section 4.4.1", "AUC measurements created by sampling are unbiased, also for uniform "
            "sampling without replacement", unchanged,
            "largest bias over ranks 1..1,000, m = 1..1,000, both schemes", unchanged < 1e-12,
        ),
        Finding(
            "Figure 3", "even large sampling sizes (m = 1000 of n = 10000) show large bias", bias,
            "largest bias of AP at m = 1,000", bias > 0.1,
        ),
        Finding(
            "section 4.3", "even sharp metrics such as recall become smooth", jump,
            "largest fall of expected Recall@10 from one rank to the next, m = 1,000", jump < 0.02,
            "exact Recall@10 falls by 1 from rank 10 to 11",
        ),
    ]  # fmt: skip


def max_bias(metric: str, m: int) -> float:
    """Largest difference of the expected sampled metric from the exact one in Figure 3."""
    ranks = np.arange(1, 1001)
    exact = parse_metric(metric)(ranks, _N)
    return float(np.max(np.abs(expected(metric, ranks, Sampling(_N, m)) - exact)))


def _single_negative() -> list[Finding]:
    """Section 4.4.4: m = 1."""
    ranks, one = np.arange(1, _N + 1), Sampling(_N, 1)
    bend = max(
        float(np.max(np.abs(np.diff(expected(x, ranks, one), 2))))
        for x in ("AUC", "AP", "NDCG", "Recall@1")
    )
    flat = float(np.ptp(expected("Recall@2", ranks, one)))
    near = max(float(np.max(np.abs(_by_straight_line(expected(x, ranks, one))))) for x in _ALL[:2])
    return [
        Finding(
            "section 4.4.4", "for m = 1 a linear function of the true rank, regardless of the "
            "metric", bend, "largest second difference over ranks 1..10,000", bend < 1e-12,
        ),
        Finding(
            "Figure 3", "all metrics converge to a linear function in the small sample limit, "
            "similar to AUC", near, "largest distance of AP and NDCG at m = 1 from a multiple of "
            "AUC plus a constant", near < 1e-12,
        ),
        Finding(
            "section 4.4.4", "precision and recall at k ≥ 2: the sampled metric is always constant",
            flat, "range of expected Recall@2 at m = 1", flat == 0,
        ),
    ]  # fmt: skip


def _by_straight_line(values: Floats) -> Floats:
    """What is left of the values after the straight line through their ends."""
    return values - np.linspace(values[0], values[-1], len(values))


def _corrections() -> list[Finding]:
    """Section 5.1 to 5.4; AP, n = 10,000 and m = 100 as in Figure 4."""
    sampling = Sampling(_N, 100)
    over = float(sampling.pmf(2)[2:].sum())
    ranks = np.arange(1, _N + 1)
    below = float(np.max((1 + sampling.m * sampling.share_above(ranks)) - ranks))
    fits = {
        gamma: correction("bias-variance", gamma=gamma).fit("AP", sampling)
        for gamma in (1.0, 0.1, 0.01, 0.001)
    }
    monotone = correction("monotone").fit("AP", sampling)
    exact = parse_metric("AP")(ranks, _N)
    worst = max(
        float(np.sqrt(np.mean((fit.expected(ranks) - exact) ** 2)))
        for fit in (*fits.values(), monotone)
    )
    raw = float(np.sqrt(np.mean((expected("AP", ranks, sampling) - exact) ** 2)))
    mean = [float(posterior(t, sampling) @ exact) for t in (1, 2, 51, 101)]
    eq26 = float(np.max(np.abs(fits[1.0]([1, 2, 51, 101]) - mean)))
    turns = {gamma: _turns(fit.values) for gamma, fit in fits.items()}
    steps = np.diff(monotone.values)
    rising, falling = float(np.max(steps)), float(np.min(steps))
    return [
        Finding(
            "section 5.1", "the sampled rank always under-estimates the true rank", over,
            "chance that the sampled rank of the item at rank 2 is above 2", over == 0,
            "with replacement an item above may be drawn twice; without replacement it holds",
        ),
        Finding(
            "section 5.1", "the sampled rank under-estimates the true rank (in expectation)", below,
            "largest expected sampled rank minus the true rank", below <= 1e-9,
        ),
        Finding(
            "section 5.2", "the problem is under-determined when m + 1 < n", float(_N - 101),
            "equations (n) minus unknowns (m + 1), n = 10,000 and m = 100", sampling.m + 1 > _N,
            "over-determined: there are more ranks than values to choose",
        ),
        Finding(
            "section 5.2", "monotone non-increasing: the value of the next sampled rank ≥ that of "
            "this one", -falling, "largest fall of the fitted vector", falling >= 0,
            "printed the wrong way round; section 6.3 has it right",
        ),
        Finding(
            "section 6.3", "constraint: the value of a sampled rank ≥ that of the next one",
            rising, "largest rise of the fitted vector", rising <= 1e-12,
        ),
        Finding(
            "section 5.3", "when γ = 1 the solution is the posterior mean of the metric (eq. 26)",
            eq26, "largest difference at sampled ranks 1, 2, 51 and 101", eq26 < 1e-9,
        ),
        Finding(
            "Figure 4", "lower values of γ give oscillating solutions", float(turns[0.001]),
            f"turns of the vector at γ = 0.001; {turns[0.1]} at 0.1 and {turns[1.0]} at 1",
            turns[0.001] > turns[0.1] > turns[1.0],
        ),
        Finding(
            "Figure 4", "all corrected sampled metrics are closer, in expectation, to the true "
            "metric", worst, "largest root mean squared bias of CLS and the four BV; uncorrected "
            f"{raw:.4f}", worst < raw,
        ),
        Finding(
            "Figure 4", "measuring the metric on the full item set of m = 10,000", float(_N),
            "n of the figure: m is 100", False, "the caption means n = 10,000",
        ),
    ]  # fmt: skip


def _turns(values: Floats) -> int:
    """How often a vector turns from falling to rising or back."""
    steps = np.diff(values)
    steps = steps[np.abs(steps) > 1e-12]
    return int(np.sum(steps[1:] * steps[:-1] < 0))


def _sizes() -> list[Finding]:
    """Section 5.5: the squared bias of eq. 21's minimum over m and n."""
    by_m = [_least_bias(1000, m) for m in (2, 4, 8, 16)]
    by_n = [_least_bias(n, 8) for n in (250, 500, 1000, 2000)]
    raw = [max_bias("AP", m) for m in (10, 100, 1000)]
    return [
        Finding(
            "section 5.5", "increasing the sample size m reduces the bias of the sampled metrics",
            raw[-1] / raw[0], "largest bias of AP at m = 1,000 over that at m = 10",
            raw[0] > raw[1] > raw[2],
        ),
        Finding(
            "section 5.5", "... as well as the corrected metrics: (21) has a lower value in a "
            "higher dimension", by_m[-1] / by_m[0],
            "least squared bias of AP at m = 16 over that at m = 2, n = 1,000",
            all(a > b for a, b in pairwise(by_m)),
        ),
        Finding(
            "section 5.5", "increasing the size of the item set, n, has the opposite effect",
            by_n[-1] / by_n[0], "least squared bias of AP, relative to its mean square, at "
            "n = 2,000 over that at n = 250, m = 8",
            all(a < b for a, b in pairwise(by_n)),
            "relative: divided by n, the absolute one falls, as AP itself does",
        ),
    ]  # fmt: skip


def _least_bias(n: int, m: int) -> float:
    """Least mean squared bias of AP over ranks 1..n, relative to its mean square."""
    exact = parse_metric("AP")(np.arange(1, n + 1), n)
    bias, _ = correction("least-squares").fit("AP", Sampling(n, m)).risk()
    return bias / float(np.mean(exact**2))
