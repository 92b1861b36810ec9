"""Checks of the numbers and formulas of Steck (KDD 2010) that can be checked without ratings.

In the paper, rank N of N items is the best rank. In this package, rank 1 is the best. TOPK and ATOP
are metrics (:class:`sampledash.Metric`). They are functions of x = (r - 1) / (N - 1), the share of
the other items that are above an item of rank r.

Of the N - 1 other items, m are sampled. (The paper writes Ñ for m + 1.) An item of rank r is a hit
of TOPK(j/m) if at most j sampled items are above it. Let T be the position of the (j+1)-th best
sampled item among the N - 1 other items. Then the item of rank r is a hit if r <= T. So sampled
TOPK is Recall@T with a random cutoff T, whose mean is E[T] = (j + 1) N / (m + 1).

References
----------
Harald Steck. Training and Testing of Recommender Systems on Data Missing Not at Random. KDD 2010.
"""

from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from sampledash.comparison.means import expected_mean, mean
from sampledash.expectation import expected
from sampledash.metrics import parse_metric
from sampledash.papers.krichene import MOVIELENS, Load, Values, statements
from sampledash.rank_sets import RankSet
from sampledash.sampling import Sampling
from sampledash.schemes import Scheme
from sampledash.types import Floats

WITHOUT: Scheme = "without-replacement"
#: Table 3 of Steck (2010), on Netflix, from 1,000 sampled items. The numbers are TOPK in percent:
#: the share of relevant items in the best 0 % (first rank), 0.2 % and 2 % of all items. They are
#: not recomputed, because that needs ratings and trained models.
TABLE_3 = {"integrated model": (6.7, 15.7, 43.0), "AllRank-Regression": (9.3, 23.3, 64.8)}


#: Table 2 of Steck (2010), on MovieLens 1M. Columns: training objective, name and description of
#: our recommender, and the printed ATOP on the two halves (validation, test) of held-out ratings.
TABLE_2 = pd.read_csv(Path(__file__).with_suffix(".csv"))

#: Allowed difference between ATOP as printed in Table 2 of Steck (2010) and as we compute it: the
#: rounding error (0.0005) plus twice 0.005. Steck states that the standard deviations of these
#: values of ATOP are below 0.005.
ALLOWED = 0.0005 + 2 * 0.005


def match_table_2(load: Load) -> pd.DataFrame:
    """Compare ATOP in Steck's Table 2, on test ratings, with ATOP of the bundled ranks.

    ``load`` returns the bundled rank sets by name: :func:`sampledash.example`.

    Returns
    -------
    A row for each recommender: its training ``objective``; ``recommender``, its description; ATOP
    in Steck's table on the ``validation`` half and on the test half (``printed``); our ATOP on the
    test half, ``ours``; and ``matched``, whether ``ours`` differs from ``printed`` by at most
    :data:`ALLOWED`.
    """
    sets = {ranks.system: ranks for ranks in load("movielens-steck")}
    table = TABLE_2.rename(columns={"test": "printed"})
    table["ours"] = [mean("ATOP", sets[system]) for system in table.pop("system")]
    return table.assign(matched=(table["ours"] - table["printed"]).abs() <= ALLOWED)


def observed_means(
    values: Floats, chance: ArrayLike, repeats: int, rng: np.random.Generator
) -> Floats:
    """Return the mean metrics of a user's observed relevant items, in ``repeats`` simulations.

    ``values`` are the metrics of all relevant items, shape (metrics, relevant items). ``chance`` is
    the probability that an item is observed: one number, or one per item. The result has shape
    (repeats, metrics). A row is NaN if no item is observed: the user is then not in the test set.

    Whether irrelevant items are observed does not matter, because items are ranked among all items.
    Steck's second assumption, about irrelevant items, is therefore not needed.
    """
    seen = (rng.random((repeats, values.shape[1])) < np.asarray(chance)).astype(np.float64)
    number = seen.sum(axis=1, keepdims=True)
    return np.asarray(seen @ values.T / np.where(number > 0, number, np.nan))


def theorem(times: float, rng: np.random.Generator, *, repeats: int = 4000) -> pd.DataFrame:
    """Simulate a user to check eq. 6-7 of Steck, and the bias if ratings are not missing at random.

    If relevant ratings are missing at random, the metrics of the observed relevant items, ranked
    among *all* items, estimate the metrics of all relevant items without bias. The user's relevant
    items have the ranks 1, 3, 7, 13, ... of 1,000. On average a third of these items is observed.
    The best-ranked item is observed ``times`` as often as the worst-ranked item, with even steps in
    between. If ``times`` = 1, ratings are missing at random.

    Returns
    -------
    A row for each of the metrics TOPK and ATOP: ``measure``, the name; ``complete``, the mean over
    all relevant items; ``observed``, the mean over the observed items, averaged over the
    repetitions; ``off``, ``observed`` minus ``complete``, in standard errors of ``observed``.
    """
    ranks, measures = [1 + i + i**2 for i in range(20)], ["TOPK@0.05", "ATOP"]
    worst = 2 / 3 / (1 + times)
    chance = np.linspace(times * worst, worst, len(ranks))
    values = np.array([parse_metric(name)(ranks, 1000) for name in measures])
    means = pd.DataFrame(observed_means(values, chance, repeats, rng)).dropna()
    table = pd.DataFrame({"measure": measures, "complete": values.mean(axis=1)})
    table["observed"] = means.mean()
    return table.assign(off=(means.mean() - table["complete"]) / means.sem())


def check_steck(load: Load) -> pd.DataFrame:
    """Check statements of Steck (2010); return a table of them, with our numbers.

    ``load`` returns the bundled rank sets by name.
    """
    x = next(ranks for ranks in load(MOVIELENS) if ranks.system == "X")
    values = {**_measures(), **_missing(), **_sampled(x), **_areas(), **_numbers()}
    return statements("steck", values)


def _measures() -> Values:
    # Table 1 of Steck (2010) has four horror and four romance movies. The four movies of the kind
    # that a user likes are relevant, and have the same score.
    taste = RankSet("oracle", [1] * 4, 8, ties=3)
    n, ranks = 30, [2, 5, 6, 19]
    above = (np.array(ranks) - 1) / (n - 1)
    # TOPK is the share of the relevant items that are in the first part of a list of n items. The
    # length of this part is a share (0 to 1) of the list. TOPK is constant between the lengths 0,
    # 1/(n-1), 2/(n-1), ... The area under its curve is therefore the mean of these constants.
    topk = [np.mean(above <= step - 1e-9) for step in np.arange(1, n) / (n - 1)]
    metrics = [parse_metric(name) for name in ("ATOP", "Recall@10", "Precision@10")]
    atop, recall, precision = (metric.of_set(ranks, n) for metric in metrics)
    best = metrics[0].of_set([1, 2, 3, 4], n)
    return {
        "useless": (x := mean("ATOP", RankSet("constant", [1] * 4, 8, ties=7)), x == 0.5),
        "genre": f"{mean('ATOP', taste):.2f}",
        "proportional": (x := recall / precision, abs(x - 10 / 4) < 1e-12),
        "area": (x := float(np.mean(topk)) - atop, abs(x) < 1e-12),
        "highest": (best, abs(best - (1 - 3 / 29 / 2)) < 1e-12),
    }


def _missing() -> Values:
    tables = (theorem(times, np.random.default_rng(2010)) for times in (1, 9))
    fair, unfair = (table["off"].abs().tolist() for table in tables)
    return {"fair": (max(fair), max(fair) < 4), "unfair": (min(unfair), min(unfair) > 10)}


def _sampled(x: RankSet) -> Values:
    """Check the statements in section 2.3 of Steck (2010) on sampled TOPK and ATOP.

    Some are checked with ``x``, the bundled ranks of recommender X.
    """
    exact = mean("TOPK@0", x)
    few, many = (expected_mean("TOPK@0", x, m, scheme=WITHOUT) for m in (100, 1000))
    n, atop = 30, parse_metric("ATOP")
    ranks = np.arange(1, n + 1)
    # Compute the expected ATOP as a sum over the sampled ranks. Its closed form presupposes what is
    # tested here: that ATOP has no bias.
    off = [
        Sampling(n, m, WITHOUT).pmf(ranks) @ atop(np.arange(1, m + 2), m + 1) - atop(ranks, n)
        for m in range(1, n)
    ]
    n, m, topk = 1001, 100, parse_metric("TOPK@0.02")
    # Let 2 of m sampled items be above the relevant item. ``at`` is then its estimated rank among
    # all n items, by eq. 20 of Krichene & Rendle.
    at = 1 + 2 * (n - 1) // m
    bias = float(expected(topk, at, Sampling(n, m, WITHOUT)) - topk(at, n))
    return {
        "unbiased": (y := np.max(np.abs(off)), y < 1e-12),
        "small": (many / exact, many / exact < 1.1),
        "exact": f"{exact:.4f}",
        "few": f"{few / exact:.0f}",
        "positive": (bias, bias > 0),
        "at": at,
    }


def _areas() -> Values:
    """Check two formulas of Steck (2010) for AUC, eq. 8 and eq. 9.

    If 4 relevant items have the 4 best ranks, AUC by eq. 8 must be 1.
    """
    n = 30
    his, pairs = sum(n + 1 - r for r in (1, 2, 3, 4)), 4 * 26
    printed, right = (his + 10) / pairs, (his - 10) / pairs
    auc = float(parse_metric("AUC")(7, n))
    # Steck's eq. 9 computes AUC from ATOP. With one relevant item, ATOP is the same as AUC, so the
    # printed formula with ``auc`` in place of ATOP must give ``auc`` again.
    printed_9 = auc + 4 / (2 * (n - 1))
    # Steck's eq. 9, corrected, is AUC = (1 + (N⁺ - 1)/N⁻) ATOP - (N⁺ - 1)/(2N⁻). N⁺ is the number
    # of relevant items, N⁻ that of irrelevant items.
    extra = 2 / 3_880
    little = extra * 0.9 - extra / 2
    return {
        "eq_8": (printed, printed <= 1),
        "perfect": f"{right:g}",
        "eq_9": (printed_9, printed_9 == auc),
        "one": f"{auc:.4f}",
        "negligible": (little, abs(little) < 0.001),
    }


def _numbers() -> Values:
    """Return our numbers for statements in section 6 of Steck (2010), and whether each holds.

    Our numbers are computed from numbers that the paper prints, such as those of its Table 3.
    """
    # In Steck's test, a relevant item is a hit if at most j of m sampled items are above it. This
    # is Recall@T on all N items with a random cutoff T, whose mean is (j + 1) N / (m + 1). Compute
    # this mean for j = 0, 2 and 20, with N = 17,770 and m = 1,000.
    t0, t2, t20 = ((j + 1) * 17_770 / 1_001 for j in (0, 2, 20))
    best, rival = TABLE_3["AllRank-Regression"], TABLE_3["integrated model"]
    top, few, two = (100 * (b / r - 1) for b, r in zip(best, rival, strict=True))
    # The printed TOPK of the integrated model in the best 2 % of items, 43 %, may be rounded from
    # 43.5 %. The gain of AllRank-Regression over the integrated model is then only ``low`` %.
    low = 100 * (best[2] / 43.5 - 1)
    netflix, movielens = 0.01, 1e6 / (3_900 * 6_040)
    weight = 0.05 * (1 - movielens) / movielens
    half = netflix / (0.005 * (1 - netflix))
    return {
        "first_place": (t0, t0 < 1.5),
        "place_2": f"{t2:.1f}",
        "place_20": f"{t20:.1f}",
        "top": (top, round(top) == 39),
        "top_few": (few, round(few) == 48),
        "top_2": (two, low <= 50 <= two + 0.5),
        "low": f"{low:.0f}",
        "observed": (100 * movielens, round(100 * movielens) == 4),
        "weight": (weight, 0.8 < weight < 1.25),
        "half_weight": (half, round(half) == 2),
    }
