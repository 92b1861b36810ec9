"""What Steck (KDD 2010) states in numbers and formulas, as far as it needs no ratings.

His rank N is the best one; here ranks count from 1, the best, as everywhere. What his measures
look at is the share x = (r - 1) / (N - 1) of the other items that are ranked above a relevant one:
TOPK and ATOP are metrics like the others, :class:`sampledash.Metric`.

Ranked among m = Ñ - 1 sampled others an item counts in TOPK(j/m) when at most j of them are above
it, which is when T, the (j+1)-th smallest of m positions drawn from 1..N-1, is at least r: it is
Recall@T, with E[T] = (j + 1) N / Ñ.

References
----------
Harald Steck. Training and Testing of Recommender Systems on Data Missing Not at Random. KDD 2010.
"""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

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
#: Table 3, models of Netflix: TOPK at 0 %, 0.2 % and 2 % (in %), from 1,000 sampled others. It
#: takes ratings and trained models: no cell is recomputed.
TABLE_3 = {"integrated model": (6.7, 15.7, 43.0), "AllRank-Regression": (9.3, 23.3, 64.8)}


class Trained(NamedTuple):
    """A row of Table 2: what was trained, by what text here, and the printed ATOP of each half."""

    objective: str
    system: str
    recommender: str
    validation: float
    test: float


#: Table 2, MovieLens 1M: ATOP on the two halves of what is held out. Its λ tuned for RMSE is 0.06.
TABLE_2 = tuple(
    Trained(*row)
    for row in pd.read_csv(Path(__file__).with_suffix(".csv")).itertuples(index=False, name=None)
)

#: A cell of Table 2 matches within its rounding and two of its standard deviations, below 0.005.
ALLOWED = 0.0005 + 2 * 0.005


def match_table_2(load: Load) -> pd.DataFrame:
    """ATOP on the test half, as printed and of the bundled ranks.

    Returns
    -------
    A row for each training: ``objective``, ``recommender`` (its text), ``validation`` and
    ``printed`` of the two halves, ``ours``, and whether it ``matched`` within :data:`ALLOWED`.
    """
    sets = {ranks.system: ranks for ranks in load("movielens-steck")}
    table = pd.DataFrame(TABLE_2).rename(columns={"test": "printed"})
    table["ours"] = [mean("ATOP", sets[system]) for system in table.pop("system")]
    return table.assign(matched=(table["ours"] - table["printed"]).abs() <= ALLOWED)


def observed_means(
    values: Floats, chance: ArrayLike, repeats: int, rng: np.random.Generator
) -> Floats:
    """Means of a user's measures over the relevant items that happen to be observed.

    ``values`` are those of each relevant item, shape (measures, items), whose rating is observed
    with a ``chance`` above 0. The means have shape (repeats, measures), NaN where nothing was
    observed: such a user is not in the test set.

    Whether irrelevant ratings are observed plays no part: ranks are among all items. So his second
    assumption, that they go missing more often, is not needed for the theorem.
    """
    seen = (rng.random((repeats, values.shape[1])) < np.asarray(chance)).astype(np.float64)
    number = seen.sum(axis=1, keepdims=True)
    return np.asarray(seen @ values.T / np.where(number > 0, number, np.nan))


def theorem(times: float, rng: np.random.Generator, *, repeats: int = 4000) -> pd.DataFrame:
    """A small world in which eq. 6-7 can be watched, or their assumption be violated.

    If the relevant ratings are missing at random, the measures of the observed relevant items,
    ranked among *all* items, estimate those of all relevant items without bias. A user's relevant
    items stand at the ranks 1, 3, 7, 13, ... of 1,000; on average a third is observed, the
    best-ranked one so many ``times`` as often as the worst, in between evenly; 1 is at random.

    Returns
    -------
    A row for TOPK and one for ATOP: ``measure``, its ``complete`` mean over all relevant items, the
    ``observed`` one over the repetitions, and how many standard errors that is ``off``.
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
    """Check the statements; ``load`` is as for :func:`~sampledash.papers.krichene.match`."""
    x = next(ranks for ranks in load(MOVIELENS) if ranks.system == "X")
    values = {**_measures(), **_missing(), **_sampled(x), **_areas(), **_numbers()}
    return statements("steck", values)


def _measures() -> Values:
    # Table 1: four horror and four romance movies; a user's four relevant ones tie.
    taste = RankSet("oracle", [1] * 4, 8, ties=3)
    n, ranks = 30, [2, 5, 6, 19]
    above = (np.array(ranks) - 1) / (n - 1)
    # TOPK is constant up to each of the shares 1/(N-1), 2/(N-1), ...
    topk = [np.mean(above <= step - 1e-9) for step in np.arange(1, n) / (n - 1)]
    atop, recall, precision = (
        parse_metric(name).of_set(ranks, n) for name in ("ATOP", "Recall@10", "Precision@10")
    )
    return {
        "useless": (x := mean("ATOP", RankSet("constant", [1] * 4, 8, ties=7)), x == 0.5),
        "genre": f"{mean('ATOP', taste):.2f}",
        "proportional": (x := recall / precision, abs(x - 10 / 4) < 1e-12),
        "area": (x := float(np.mean(topk)) - atop, abs(x) < 1e-12),
        "highest": (
            x := parse_metric("ATOP").of_set([1, 2, 3, 4], n),
            abs(x - (1 - 3 / 29 / 2)) < 1e-12,
        ),
    }


def _missing() -> Values:
    fair, unfair = (
        theorem(times, np.random.default_rng(2010))["off"].abs().tolist() for times in (1, 9)
    )
    return {"fair": (max(fair), max(fair) < 4), "unfair": (min(unfair), min(unfair) > 10)}


def _sampled(x: RankSet) -> Values:
    """Section 2.3, with the ranks of recommender X where it takes some."""
    exact = mean("TOPK@0", x)
    few, many = (expected_mean("TOPK@0", x, m, scheme=WITHOUT) for m in (100, 1000))
    n, atop = 30, parse_metric("ATOP")
    ranks = np.arange(1, n + 1)
    off = [  # by the law, not by the closed form that assumes it
        Sampling(n, m, WITHOUT).pmf(ranks) @ atop(np.arange(1, m + 2), m + 1) - atop(ranks, n)
        for m in range(1, n)
    ]
    n, m, topk = 1001, 100, parse_metric("TOPK@0.02")
    at = 1 + 2 * (n - 1) // m  # where two of the sampled others seem to stand: eq. 20
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
    """Eq. 8 and 9: his ranks are n + 1 - r, and a perfect list of 4 relevant items has AUC 1."""
    n = 30
    his, pairs = sum(n + 1 - r for r in (1, 2, 3, 4)), 4 * 26
    printed, right = (his + 10) / pairs, (his - 10) / pairs
    one = float(parse_metric("AUC")(7, n))
    printed_9 = one + 4 / (2 * (n - 1))  # of one relevant item: its ATOP is its AUC
    # Put right, AUC = (1 + (N⁺ - 1)/N⁻) ATOP - (N⁺ - 1)/(2N⁻).
    extra = 2 / 3_880
    little = extra * 0.9 - extra / 2
    return {
        "eq_8": (printed, printed <= 1),
        "perfect": f"{right:g}",
        "eq_9": (printed_9, printed_9 == one),
        "one": f"{one:.4f}",
        "negligible": (little, abs(little) < 0.001),
    }


def _numbers() -> Values:
    """Section 6: what follows from printed numbers."""
    t0, t2, t20 = ((j + 1) * 17_770 / 1_001 for j in (0, 2, 20))  # Netflix: all items, sampled
    best, rival = TABLE_3["AllRank-Regression"], TABLE_3["integrated model"]
    top, few, two = (100 * (b / r - 1) for b, r in zip(best, rival, strict=True))
    low = 100 * (best[2] / 43.5 - 1)  # 43 % is printed without decimals
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
