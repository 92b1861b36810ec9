"""Everything that the text of Krichene & Rendle (KDD 2020) states and a computation can decide."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np
import pandas as pd

from sampledash.comparison.curves import expected_means
from sampledash.comparison.means import exact_means
from sampledash.comparison.order import right_from
from sampledash.correction import correction
from sampledash.expectation import expected, posterior
from sampledash.metrics import parse_metric
from sampledash.papers.printed import CORRECTIONS, METRICS_12, MOVIELENS, Values, statements
from sampledash.papers.tables import RERUN, Load, match
from sampledash.protocol import Protocol
from sampledash.ranksets import RankSet
from sampledash.sampling import Sampling, Scheme
from sampledash.types import Floats, Progress

TEXT = """
[equal] section 3.1: Reciprocal Rank is equivalent to Average Precision, Hit Ratio to Recall (|R| =
    1)
    ours: largest difference over 100 ranks
[twice] Figure 1: rank 1 is twice as valuable as rank 2 (Average Precision)
    ours: AP at rank 1 over AP at rank 2
[gain] Figure 1: for NDCG, rank 1 is 1.58 more valuable
    ours: NDCG at rank 1 over NDCG at rank 2
[step] Figure 1: pushing an item from position 101 to 100 is as valuable as from 2 to 1 (AUC)
    ours: difference of the two gains
[tail] Figure 1: all metrics besides AUC almost completely ignore the tail
    ours: most that AP, NDCG or Recall@10 lose from rank 5,000 to 10,000
    note: AUC loses 0.5 there
[unchanged] section 4.4.1: AUC measurements created by sampling are unbiased, also for uniform
    sampling without replacement
    ours: largest bias over ranks 1..1,000, m = 1..1,000, both schemes
[large_bias] Figure 3: even large sampling sizes (m = 1000 of n = 10000) show large bias
    ours: largest bias of AP at m = 1,000
[jump] section 4.3: even sharp metrics such as recall become smooth
    ours: largest fall of expected Recall@10 from one rank to the next, m = 1,000
    note: exact Recall@10 falls by 1 from rank 10 to 11
[bend] section 4.4.4: for m = 1 a linear function of the true rank, regardless of the metric
    ours: largest second difference over ranks 1..10,000
[near] Figure 3: all metrics converge to a linear function in the small sample limit, similar to AUC
    ours: largest distance of AP and NDCG at m = 1 from a multiple of AUC plus a constant
[flat] section 4.4.4: precision and recall at k ≥ 2: the sampled metric is always constant
    ours: range of expected Recall@2 at m = 1
[over] section 5.1: the sampled rank always under-estimates the true rank
    ours: chance that the sampled rank of the item at rank 2 is above 2
    note: with replacement an item above may be drawn twice; without replacement it holds
[below] section 5.1: the sampled rank under-estimates the true rank (in expectation)
    ours: largest expected sampled rank minus the true rank
[under_determined] section 5.2: the problem is under-determined when m + 1 < n
    ours: equations (n) minus unknowns (m + 1), n = 10,000 and m = 100
    note: over-determined: there are more ranks than values to choose
[falling] section 5.2: monotone non-increasing: the value of the next sampled rank ≥ that of this
    one
    ours: largest fall of the fitted vector
    note: printed the wrong way round; section 6.3 has it right
[rising] section 6.3: constraint: the value of a sampled rank ≥ that of the next one
    ours: largest rise of the fitted vector
[eq_26] section 5.3: when γ = 1 the solution is the posterior mean of the metric (eq. 26)
    ours: largest difference at sampled ranks 1, 2, 51 and 101
[turns] Figure 4: lower values of γ give oscillating solutions
    ours: turns of the vector at γ = 0.001; $turns_some at 0.1 and $turns_few at 1
[worst] Figure 4: all corrected sampled metrics are closer, in expectation, to the true metric
    ours: largest root mean squared bias of CLS and the four BV; uncorrected $raw_error
[caption] Figure 4: measuring the metric on the full item set of m = 10,000
    ours: n of the figure: m is 100
    note: the caption means n = 10,000
[raw] section 5.5: increasing the sample size m reduces the bias of the sampled metrics
    ours: largest bias of AP at m = 1,000 over that at m = 10
[by_m] section 5.5: ... as well as the corrected metrics: (21) has a lower value in a higher
    dimension
    ours: least squared bias of AP at m = 16 over that at m = 2, n = 1,000
[by_n] section 5.5: increasing the size of the item set, n, has the opposite effect
    ours: least squared bias of AP, relative to its mean square, at n = 2,000 over that at n = 250,
        m = 8
    note: relative: divided by n, the absolute one falls, as AP itself does
[ten_times] section 4.2: C is clearly the best with a 10x higher average precision than B and A
    ours: exact AP of C over the better of A and B
[lowest] section 4.2: C has the lowest average precision when sampled measurements are used
    ours: expected AP of C at m = 99 minus the lower of A and B
[alike] section 4.2: A and B perform the same on the exact metrics (average precision)
    ours: difference of their exact AP
    note: to three decimals, and on AP and Recall@10 only: AUC and NDCG differ
[two_times] section 4.2: A has a 2x better average precision on the sampled metrics
    ours: expected AP of A over that of B, m = 99
[shift] section 4.2: only AUC is consistent between sampled and exact computation
    ours: largest change of a mean AUC at m = 99; of AP, NDCG and Recall@10 $kept keep their order
[first] Figure 2: A better than C better than B (for sample size < 50)
    ours: smallest m where the order of AP is another
[at_200] Figure 2: A better than B better than C (for sample size ≈ 200)
    ours: m at which AP orders them $order_200
[at_500] Figure 2: C better than A better than B (for sample size ≈ 500)
    ours: m at which AP orders them $order_500
[at_end] Figure 2: finally C better than A equal B (for large sample sizes)
    ours: difference of the expected AP of A and B at m = 9,999
[changes] section 4.2: the relative ordering changes as we change the sample size
    ours: changes of the order of AP over m = 1..9,999
[ndcg] section 4.2: similar observations can be made for NDCG
    ours: different orders of NDCG over m = 1..9,999
[recall] section 4.2: Recall takes about m = 5,000 samples out of n = 10,000 to become consistent
    ours: m from which Recall@10 has C ahead and A and B within 0.005
    note: C is ahead for good from m = 2,479
[constant] section 4.2: only AUC is consistent for all m, and the expected metric is independent of
    sample size
    ours: largest range of a mean AUC over m = 1..9,999
[one_negative] section 4.4.4: for m = 1 all metrics give the same qualitative result, which
    coincides with exhaustive AUC
    ours: different orders by AUC, AP and NDCG at m = 1
[users] section 6.1: in total we get 6040 ranks
    ours: ranks of each recommender
[z_first] Figure 5: Z is the best in the top 10
    ours: Recall@10 of Z in %
[z_worst] Figure 5: Z puts the relevant items of over 1600 users in the worst bucket
    ours: users of Z whose item is in the last hundredth of the list
    note: with ties read pessimistically: 2,623 users have them; in random order $drawn are expected
        even in the last tenth
[x_top] Figure 5: 2310 items [of X] are in the top 100
    ours: items of X in the top 100
    note: $rerun
[x_bottom] Figure 5: and less than 300 are in the bottom half
    ours: items of X in the bottom half
[y_overall] Figure 5: Y has a better top 10 performance than X, but tends to put the relevant item
    at a worse rank overall
    ours: AUC of Y minus that of X in %; Recall@10 $y_first
[true_order] section 6.2: for Recall, NDCG and AP, Z is better than Y better than X on the exact
    metric
    ours: of the three metrics
[reversed] section 6.2: for sampled Recall the order is reversed: X much better than Y, which is
    better than Z
    ours: X minus Y in %, m = 100
[x_first] section 6.2: also for NDCG and AP the worst recommender (X) appears to be the best; the
    order of the two better ones is correct
    ours: of the two metrics
[auc_order] section 6.2: for AUC, all sampled results are consistent with the exact metrics
    ours: whether the orders agree
[bias] section 6.2: all the measures have low standard deviation: the issue is the bias
    ours: smallest bias over the largest standard deviation, Recall, NDCG, AP
[list_end] section 6.3: γ ∈ {1.0, 0.1, 0.01, 0.01}
    ours: printed Recall@10 of X in the last column minus that before, in %
    note: the list ends in 0.001, as the head of Table 3 does
[closer] section 6.3: all methods are closer to the exact results than sampling without correction
    (Recall, NDCG, AP)
    ours: cells of Table 3, of $top_cells
[closer_auc] section 6.3: all methods are closer to the exact results than sampling without
    correction (AUC)
    ours: cells of Table 3, of $auc_cells
    note: uncorrected AUC is unbiased already: a correction can only move it away
[z_best] section 6.3: all of them place recommender Z as the best for Recall, NDCG and AP
    ours: columns and metrics with Z first, of 18
[low_gamma] section 6.3: BV with low γ also gets the order of X and Y right
    ours: of γ = 0.1, 0.01 and 0.001 order all three right on Recall, NDCG and AP
[identical] section 6.3: under the rank estimate, Recall@10 and NDCG@10 are identical
    ours: largest difference of the two vectors, n = 3,541 and m = 100
[more_than] section 6.3: the uncorrected metric needs more than m = 1000 samples to order X and Y
    ours: m from which expected Recall@10 orders X and Y right
    note: close to it; $rerun
[needs] Figure 6: the uncorrected metric needs m = 1000 samples to order X and Y
    ours: m from which expected Recall@10 orders X and Y right
[share] section 6.3: m = 1000 is equivalent to 1/3rd sampling rate
    ours: 1,000 over the mean number of candidates
    note: nearer to 1/4, of the 3,706 movies as well
[fixed] Figure 6: BV 0.1 already has the correct ordering with less than m = 60 samples
    ours: m from which expected Recall@10 orders X and Y right, BV 0.1, m up to 200
[likely] section 6.3: BV 0.1 gets the correct order on all but one comparison with > 90 % chance
    ours: comparisons above 90 %, of 12
[better] section 6.3: rank estimate is strictly better than the uncorrected metric in all
    comparisons of Table 4
    ours: comparisons strictly better, of 12
    note: $printed_better by the print: the others show 100 in both columns
"""
_WITH: Scheme = "with-replacement"
_WITHOUT: Scheme = "without-replacement"
_N = 10_000  # candidates in Figures 1, 3 and 4
_TOP_HEAVY = ["Recall@10", "NDCG@10", "AP"]
_DRAWN = 99  # negatives in section 4.2
_CLOSE = 0.005  # what a reader of Figure 2 cannot tell apart


def check_text(
    load: Load,
    tables: Mapping[int, pd.DataFrame] | None = None,
    progress: Progress | None = None,
) -> pd.DataFrame:
    """Check the statements about the figures, the toy example and the experiment.

    Parameters
    ----------
    load
        Gives the bundled rank sets by name: :func:`sampledash.example`.
    tables
        Tables 3 and 4 from :func:`~sampledash.papers.match` where they are at hand; the others are
        computed.
    progress
        Called with the share of the work that is done, in 0..1.

    Returns
    -------
    The frame of :func:`~sampledash.papers.printed.statements`.
    """
    report = progress or (lambda share: None)
    known = dict(tables or {})
    for done, table in enumerate((3, 4), start=1):
        if table not in known:
            known[table] = match(table, load)
        report(0.4 * done)
    values = {**_metrics(), **_sampled(), **_one_negative(), **_corrections(), **_sizes()}
    values |= _toy(load("paper-abc"))
    report(0.9)
    by = {ranks.system: ranks for ranks in load(MOVIELENS)}
    values |= {**_ranks(by, _by_column(known[3])["exact"]), **_experiment(known[3])}
    values |= {**_figure_6(by), **_table_4(known[4]), "rerun": RERUN}
    report(1.0)
    return statements(TEXT, values)


def _most(values: Floats) -> float:
    return float(np.max(np.abs(values)))


def _metrics() -> Values:
    """Section 3.1 and Figure 1."""
    metrics = {name: parse_metric(name) for name in ("NDCG", "AP", "AUC", "Recall@10")}
    twice, gain = (float(metrics[x](1, _N) / metrics[x](2, _N)) for x in ("AP", "NDCG"))
    tail = max(float(np.ptp(metrics[x]([_N // 2, _N], _N))) for x in ("AP", "NDCG", "Recall@10"))
    first, step = (float(np.ptp(metrics["AUC"]([r, r + 1], _N))) for r in (1, 100))
    ranks = np.arange(1, 101)
    equal = max(
        _most(parse_metric(a)(ranks, 100) - parse_metric(b)(ranks, 100))
        for a, b in (("RR", "AP"), ("HitRate@10", "Recall@10"))
    )
    return {
        "equal": (equal, equal == 0),
        "twice": (twice, twice == 2),
        "gain": (gain, round(gain, 2) == 1.58),
        "step": (step - first, abs(step - first) < 1e-12),
        "tail": (tail, tail < 0.01),
    }


def _sampled() -> Values:
    """Figure 3, zoomed into the top 1,000 ranks as printed."""
    ranks, auc = np.arange(1, 1001), parse_metric("AUC")
    unchanged = 0.0
    for m in (1, 10, 100, 1000):
        seen = auc(np.arange(1, m + 2), m + 1)
        for scheme in (_WITH, _WITHOUT):  # by the law, not by the closed form that assumes it
            mean = Sampling(_N, m, scheme).pmf(ranks) @ seen
            unchanged = max(unchanged, _most(mean - auc(ranks, _N)))
    large, jump = _largest_bias(1000), expected("Recall@10", ranks, Sampling(_N, 1000))
    fall = float(np.max(-np.diff(jump)))
    return {
        "unchanged": (unchanged, unchanged < 1e-12),
        "large_bias": (large, large > 0.1),
        "jump": (fall, fall < 0.02),
    }


def _largest_bias(m: int) -> float:
    """Largest difference of expected sampled from exact AP in Figure 3."""
    ranks = np.arange(1, 1001)
    return _most(expected("AP", ranks, Sampling(_N, m)) - parse_metric("AP")(ranks, _N))


def _one_negative() -> Values:
    """Section 4.4.4: m = 1."""
    ranks, one = np.arange(1, _N + 1), Sampling(_N, 1)
    lines = [expected(x, ranks, one) for x in ("AP", "NDCG", "AUC", "Recall@1")]
    bend = max(_most(np.diff(values, 2)) for values in lines)
    # What is left after the straight line through the ends.
    near = max(_most(y - np.linspace(y[0], y[-1], len(y))) for y in lines[:2])
    flat = float(np.ptp(expected("Recall@2", ranks, one)))
    return {"bend": (bend, bend < 1e-12), "near": (near, near < 1e-12), "flat": (flat, flat == 0)}


def _corrections() -> Values:
    """Section 5.1 to 5.4; AP, n = 10,000 and m = 100 as in Figure 4."""
    sampling, ranks = Sampling(_N, 100), np.arange(1, _N + 1)
    over = float(sampling.pmf(2)[2:].sum())
    below = float(np.max((1 + sampling.m * sampling.share_above(ranks)) - ranks))
    fits = {
        gamma: correction("bias-variance", gamma=gamma).fit("AP", sampling)
        for gamma in (1.0, 0.1, 0.01, 0.001)
    }
    monotone = correction("monotone").fit("AP", sampling)
    exact = parse_metric("AP")(ranks, _N)

    def error(values: Floats) -> float:
        return float(np.sqrt(np.mean((values - exact) ** 2)))

    worst = max(error(fit.expected(ranks)) for fit in (*fits.values(), monotone))
    raw = error(expected("AP", ranks, sampling))
    some = [1, 2, 51, 101]
    eq_26 = _most(fits[1.0](some) - [float(posterior(t, sampling) @ exact) for t in some])
    turns = {gamma: _turns(fit.values) for gamma, fit in fits.items()}
    rising, falling = (float(f(np.diff(monotone.values))) for f in (np.max, np.min))
    return {
        "over": (over, over == 0),
        "below": (below, below <= 1e-9),
        "under_determined": (_N - 101, sampling.m + 1 > _N),
        "falling": (-falling, falling >= 0),
        "rising": (rising, rising <= 1e-12),
        "eq_26": (eq_26, eq_26 < 1e-9),
        "turns": (turns[0.001], turns[0.001] > turns[0.1] > turns[1.0]),
        "turns_some": turns[0.1],
        "turns_few": turns[1.0],
        "worst": (worst, worst < raw),
        "raw_error": f"{raw:.4f}",
        "caption": (_N, False),
    }


def _turns(values: Floats) -> int:
    """How often a vector turns from falling to rising or back."""
    steps = np.diff(values)
    steps = steps[np.abs(steps) > 1e-12]
    return int(np.sum(steps[1:] * steps[:-1] < 0))


def _sizes() -> Values:
    """Section 5.5: the squared bias of eq. 21's minimum over m and n."""
    by_m = [_least_bias(1000, m) for m in (2, 4, 8, 16)]
    by_n = [_least_bias(n, 8) for n in (250, 500, 1000, 2000)]
    raw = [_largest_bias(m) for m in (10, 100, 1000)]
    return {
        "raw": (raw[-1] / raw[0], raw[0] > raw[1] > raw[2]),
        "by_m": (by_m[-1] / by_m[0], all(a > b for a, b in pairwise(by_m))),
        "by_n": (by_n[-1] / by_n[0], all(a < b for a, b in pairwise(by_n))),
    }


def _least_bias(n: int, m: int) -> float:
    """Least mean squared bias of AP over ranks 1..n, relative to its mean square."""
    exact = parse_metric("AP")(np.arange(1, n + 1), n)
    bias, _ = correction("least-squares").fit("AP", Sampling(n, m)).risk()
    return bias / float(np.mean(exact**2))


def _toy(abc: Sequence[RankSet]) -> Values:
    """Section 4.2 and Figure 2: recommenders A, B and C."""
    metrics, protocol = [parse_metric(name) for name in METRICS_12], Protocol.of({})
    exact = exact_means(metrics, abc, protocol)
    means = expected_means(metrics, abc, list(range(1, 10_000)), protocol)
    auc, ap, ndcg, recall = (METRICS_12.index(x) for x in ("AUC", "AP", "NDCG", "Recall@10"))

    def order(values: Floats) -> str:
        return "".join("ABC"[i] for i in np.argsort(-values, kind="stable"))

    a, b, c = exact[:, ap].tolist()
    sampled = means[_DRAWN - 1]
    low = float(sampled[2, ap] - min(sampled[:2, ap]))
    two = float(sampled[0, ap] / sampled[1, ap])
    kept = sum(order(sampled[:, x]) == order(exact[:, x]) for x in (ap, ndcg, recall))
    shift = _most(sampled[:, auc] - exact[:, auc])
    orders = [order(row) for row in means[:, :, ap]]
    first = next(m for m, seen in enumerate(orders, start=1) if seen != "ACB")
    last = means[-1, :, ap]
    alike = float(abs(last[0] - last[1]))
    turns = sum(x != y for x, y in pairwise(orders))
    ndcg_orders = {order(row) for row in means[:, :, ndcg]}
    lines = means[:, :, recall]
    # C ahead, and A and B, which the exact metric ties, no longer to be told apart.
    apart = np.abs(lines[:, 0] - lines[:, 1]) >= _CLOSE
    wrong = (lines[:, 2] <= lines[:, :2].max(axis=1)) | apart
    settled = int(np.flatnonzero(wrong)[-1]) + 2
    constant = float(np.max(np.ptp(means[:, :, auc], axis=0)))
    same = {order(means[0, :, x]) for x in (auc, ap, ndcg)}
    return {
        "ten_times": (min(c / a, c / b), round(min(c / a, c / b)) == 10),
        "lowest": (low, low < 0),
        "alike": (abs(a - b), abs(a - b) < 0.0005),
        "two_times": (two, round(two) == 2),
        "shift": (shift, shift < 1e-12 and kept == 0),
        "kept": kept,
        "first": (first, first >= 50),
        "at_200": (200, orders[199] == "ABC"),
        "order_200": " > ".join(orders[199]),
        "at_500": (500, orders[499] == "CAB"),
        "order_500": " > ".join(orders[499]),
        "at_end": (alike, alike < 0.0005 and last[2] > last[:2].max()),
        "changes": (turns, turns > 1),
        "ndcg": (len(ndcg_orders), len(ndcg_orders) > 1),
        "recall": (settled, 4000 < settled < 6000),
        "constant": (constant, constant < 1e-9),
        "one_negative": (len(same), same == {order(exact[:, auc])}),
    }


def _by_column(table: pd.DataFrame, what: str = "ours") -> pd.DataFrame:
    return table.pivot(index=["metric", "row"], columns="column", values=what)


def _ranks(by: Mapping[str, RankSet], exact: pd.Series[float]) -> Values:
    """Section 6.1 and Figure 5."""
    x, z = by["X"], by["Z"]
    top, bottom = int(np.sum(x.ranks <= 100)), int(np.sum(2 * x.ranks > x.n))
    # The worst of ten, twenty or a hundred buckets: with ties read pessimistically the same.
    worst = int(np.sum(z.ranks + z.ties > 0.99 * z.n))
    drawn = float(np.sum(np.clip(z.ranks + z.ties - 0.9 * z.n, 0, z.ties + 1) / (z.ties + 1)))
    sizes = [ranks.n_instances for ranks in by.values()]
    y_first, y_overall = (exact[name, "Y"] - exact[name, "X"] for name in ("Recall@10", "AUC"))
    first = exact["Recall@10", "Z"]
    return {
        "users": (min(sizes), set(sizes) == {6040}),
        "z_first": (first, first == max(exact["Recall@10", x] for x in "XYZ")),
        "z_worst": (worst, worst > 1600),
        "drawn": f"{drawn:.0f}",
        "x_top": (top, top == 2310),
        "x_bottom": (bottom, bottom < 300),
        "y_overall": (y_overall, y_first > 0 > y_overall),
        "y_first": f"{y_first:+.2f}",
    }


def _best_first(means: pd.Series[float]) -> str:
    return "".join(system for _, system in means.sort_values(ascending=False).index)


def _experiment(table: pd.DataFrame) -> Values:
    """Sections 6.2 and 6.3 up to Figure 6."""
    ours, printed = _by_column(table), _by_column(table, "printed")
    exact, raw, fitted = ours["exact"], ours["uncorrected"], list(CORRECTIONS[1:])
    orders = ours.groupby("metric").agg(_best_first)
    true, sampled = orders["exact"], orders["uncorrected"]
    right = (true[_TOP_HEAVY] == "ZYX").sum()
    worst_first = (sampled[["NDCG@10", "AP"]] == "XZY").sum()
    bias = (raw - exact)[_TOP_HEAVY].min()
    spread = _by_column(table, "our_std")["uncorrected"][_TOP_HEAVY].max()
    off = ours.sub(exact, axis=0).abs()
    closer = off[fitted].lt(off["uncorrected"], axis=0)
    top, auc = closer.loc[_TOP_HEAVY].to_numpy(), closer.loc[["AUC"]].to_numpy()
    corrected = orders.loc[_TOP_HEAVY, fitted]
    z_first = corrected.isin(["ZXY", "ZYX"]).to_numpy().sum()
    low = (corrected[fitted[-3:]] == "ZYX").all().sum()
    sampling, estimate = Sampling(3_541, 100), correction("rank-estimate")
    recall, ndcg = (estimate.fit(name, sampling).values for name in ("Recall@10", "NDCG@10"))
    apart = _most(recall - ndcg)
    before, end = (printed[name]["Recall@10", "X"] for name in CORRECTIONS[-2:])
    return {
        "true_order": (right, right == 3),
        "reversed": (raw["Recall@10", "X"] - raw["Recall@10", "Y"], sampled["Recall@10"] == "XYZ"),
        "x_first": (worst_first, worst_first == 2),
        "auc_order": (sampled["AUC"] == true["AUC"], sampled["AUC"] == true["AUC"] == "XYZ"),
        "bias": (bias / spread, bias > 10 * spread),
        "list_end": (end - before, end == before),
        "closer": (top.sum(), top.all()),
        "top_cells": top.size,
        "closer_auc": (auc.sum(), auc.all()),
        "auc_cells": auc.size,
        "z_best": (z_first, z_first == 18),
        "low_gamma": (low, low == 3),
        "identical": (apart, apart == 0),
    }


def _figure_6(by: Mapping[str, RankSet]) -> Values:
    pair = [by["X"], by["Y"]]
    raw = int(right_from("Recall@10", pair, scheme=_WITHOUT).m[0])
    corrected = right_from(
        "Recall@10", pair, 200, scheme=_WITHOUT, fit_scheme=_WITH, correction="BV 0.1"
    )
    fixed = int(corrected.m[0])
    share = 1000 / float(np.mean(by["X"].n))
    return {
        "more_than": (raw, raw > 1000),
        "needs": (raw, 900 < raw <= 1000),
        "share": (share, round(1 / share) == 3),
        "fixed": (fixed, fixed < 60),
    }


def _table_4(table: pd.DataFrame) -> Values:
    printed, chances = _by_column(table, "printed"), _by_column(table)
    likely = (chances["BV 0.1"] > 90).sum()
    better = (chances["rank estimate"] > chances["uncorrected"] + 0.5).sum()
    return {
        "likely": (likely, likely == 11),
        "better": (better, better == 12),
        "printed_better": (printed["rank estimate"] > printed["uncorrected"]).sum(),
    }
