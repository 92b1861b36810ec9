r"""Number of candidates to score for an exact metric with a cutoff, if scoring stops early.

A metric with the cutoff k depends only on relevant items within the first k ranks. As soon as k
irrelevant candidates are known to be strictly above the best relevant item of an instance, all its
relevant items are beyond k. The metric is then decided: it is 0. Otherwise all candidates are
scored, and the ranks are known.

**The cost.** Let K of the N irrelevant candidates be strictly above the best relevant item. In
random order, let T be the number of candidates scored until k of these K are found. T has the
distribution of inverse sampling without replacement (negative hypergeometric). The K + 1 gaps
before, between and behind the K candidates are exchangeable, so each gap contains
(N - K)/(K + 1) of the other candidates on average. T counts k of the K candidates, and the
candidates in k gaps:

.. math::

    E[T] = k + k\,\frac{N - K}{K + 1} = k\,\frac{N + 1}{K + 1}, \qquad
    \operatorname{var}[T] = \frac{k\,(N + 1)(N - K)(K + 1 - k)}{(K + 1)^2 (K + 2)}
    \qquad (K \ge k),

and T = N where K < k. For one relevant item at rank r among n candidates, E[T] is k n / r if r > k,
otherwise n - 1. Candidates tied with a relevant item do not count as above it. So a decided metric
is 0 in every order of the ties; if it is not decided, all candidates are scored and the ties are
known. The metric is exact in any order of scoring. If candidates are scored in the order of a cheap
proxy's scores, k candidates above the relevant item are found earlier.

A metric without a cutoff is known exactly only if all candidates are scored. But it counts as
decided, up to a tolerance, as soon as it cannot exceed the tolerance. If A candidates are above the
best relevant item, AP, RR and NDCG are largest if all relevant items directly follow these A
candidates (:func:`deciding_cutoff`).

References
----------
Haldane, On a method of estimating frequencies, Biometrika 1945 (inverse sampling); Johnson, Kemp &
Kotz, Univariate Discrete Distributions, section 6.2.2 (negative hypergeometric distribution).
"""

from bisect import bisect_left
from functools import lru_cache
from typing import Any, Literal, NamedTuple, get_args

import numpy as np
from numpy.typing import ArrayLike

from sampledash import checks
from sampledash.metrics import Metric, as_metric
from sampledash.rank_counts import unique_rows
from sampledash.rank_sets import RankSet, first_items, require_ranks
from sampledash.types import Floats, Ints

Order = Literal["random", "best"]


class Cost(NamedTuple):
    """Mean and standard deviation of the number of irrelevant candidates that are scored."""

    mean: Any
    std: Any


def deciding_cutoff(
    metric: Metric | str, n: int, *, relevant: int = 1, tolerance: float = 0.0
) -> int | None:
    """Return how many candidates must be above the best relevant item to decide the metric.

    The metric of an instance is decided if it cannot exceed the tolerance.

    Parameters
    ----------
    metric
        A metric, or text such as ``"Recall@10"``. AP, RR and NDCG without a cutoff need a tolerance
        above 0.
    n
        Number of candidates, relevant items included.
    relevant
        Number of relevant items of the instance.
    tolerance
        Scoring may stop as soon as an instance's metric cannot exceed this value, in 0..1.

    Returns
    -------
    The number of irrelevant candidates, which is the cutoff k if the tolerance is 0. It is None if
    the metric is not decided even with all irrelevant candidates above the best relevant item.

    Raises
    ------
    ValueError
        If all candidates must be scored: AUC and ATOP, or no cutoff and tolerance 0.

    Examples
    --------
    >>> deciding_cutoff("NDCG@10", 1000), deciding_cutoff("RR", 1000, tolerance=0.02)
    (10, 49)
    """
    metric, n = as_metric(metric), checks.integer("n", n, low=2)
    relevant = checks.integer("relevant", relevant, low=1, high=n - 1)
    above = _deciding(metric, relevant, n - relevant, _tolerance(metric, tolerance))
    return None if above > n - relevant else above


def _tolerance(metric: Metric, tolerance: float) -> float:
    """Return the validated tolerance; raise ValueError if scoring can never stop early with it."""
    if metric.linear:
        advice = "estimate it from a few random negatives, without bias"
        raise ValueError(f"{metric} is never decided: every candidate counts in it; {advice}")
    if metric.k is None and metric.share is None and tolerance == 0:
        reason = f"{metric} has no cutoff, so that only the last candidate decides it"
        raise ValueError(f"{reason}: give one, such as {metric}@10, or a tolerance above 0")
    return checks.real("tolerance", tolerance, low=0, high=1)


@lru_cache(maxsize=1024)
def _deciding(metric: Metric, relevant: int, negatives: int, tolerance: float) -> int:
    """Return the result of :func:`deciding_cutoff`, with ``negatives`` + 1 in place of None."""
    n = negatives + relevant
    cut = metric.cut(n - 1)
    last = negatives + 1 if cut is None else min(cut, negatives + 1)
    if not tolerance:
        return last

    def small(above: int) -> bool:
        best = metric.of_set(np.arange(above + 1, above + relevant + 1), n)
        return best <= tolerance * (1 + 1e-12)  # rounding errors: 3 * (1 / 5) > 0.6

    return bisect_left(range(last), True, key=small)


def stopping_cost(
    metric: Metric | str,
    rank: ArrayLike,
    n: ArrayLike,
    *,
    relevant: int = 1,
    tolerance: float = 0.0,
) -> Cost:
    """Return how many candidates are scored, in random order, until an instance's metric is known.

    Parameters
    ----------
    metric
        A metric, or text such as ``"Recall@10"``, as in :func:`deciding_cutoff`.
    rank
        Rank of the best relevant item, or its best possible rank if it is tied: any shape.
    n
        Number of candidates, relevant items included: one number, or one per rank.
    relevant
        Number of relevant items of the instance. Of their ranks, only the best affects the cost.
    tolerance
        As in :func:`deciding_cutoff`.

    Returns
    -------
    Mean and standard deviation, over random orders, of the number of scored irrelevant candidates:
    arrays in the shape of ``rank``. The derivation is in :mod:`sampledash.stopping`.

    Examples
    --------
    >>> cost = stopping_cost("Recall@10", [3, 100], 1000)
    >>> cost.mean.tolist(), cost.std.round(2).tolist()
    ([999.0, 100.0], [0.0, 28.32])
    """
    metric, size = as_metric(metric), checks.candidates("n", n)
    checks.rows("n", size, "number of candidates")
    relevant = checks.integer("relevant", relevant, low=1, high=int(size.min()) - 1)
    last = size - relevant + 1
    ranks, last = np.broadcast_arrays(checks.ranks("rank", rank, last), last)
    repeated = np.full(ranks.size, relevant)
    mean, variance, _ = _moments(metric, ranks.ravel() - 1, last.ravel() - 1, repeated, tolerance)
    return Cost(mean.reshape(ranks.shape), np.sqrt(variance).reshape(ranks.shape))


def _moments(
    metric: Metric, above: Ints, negatives: Ints, relevant: Ints, tolerance: float
) -> tuple[Floats, Floats, Floats]:
    """Return mean, variance and minimum, over all orders, of the number of negatives scored.

    All arrays have an entry for each instance. ``above`` is the number of negatives above the best
    relevant item of the instance.
    """
    allowed = _tolerance(metric, tolerance)
    # Only the cutoff of the metric TOPK depends on the number of negatives.
    lists = negatives if metric.share is not None else np.full(len(above), negatives.max(initial=1))
    first, at = unique_rows([relevant, lists])
    pairs = zip(relevant[first].tolist(), lists[first].tolist(), strict=True)
    k = np.array([_deciding(metric, *pair, allowed) for pair in pairs], dtype=np.int64)[at]
    decided = above >= k
    stop, marked, total = (x.astype(np.float64) for x in (k, np.maximum(above, k), negatives))
    gap = (total + 1) / (marked + 1)
    spread = stop * gap * (total - marked) / (marked + 1) * (marked + 1 - stop) / (marked + 2)
    mean, variance = np.where(decided, stop * gap, total), np.where(decided, spread, 0.0)
    return mean, variance, np.where(decided, stop, total)


def mean_stopping_cost(
    metric: Metric | str, ranks: RankSet, *, tolerance: float = 0.0, order: Order = "random"
) -> Cost:
    """Return how many candidates are scored on average until an instance's metric is known.

    Parameters
    ----------
    metric, tolerance
        As in :func:`stopping_cost`.
    ranks
        True ranks.
    order
        ``"random"``, or ``"best"``: candidates above the best relevant item come first, which gives
        the smallest cost that a proxy can reach (for a given proxy, see :func:`proxy_cost`).

    Returns
    -------
    The expected mean cost per instance, and its standard deviation over independent random orders.
    For comparison, full ranking scores n - |R| candidates of an instance with |R| relevant items.

    Examples
    --------
    >>> from sampledash import example
    >>> [round(mean_stopping_cost("Recall@10", each).mean, 1) for each in example("movielens-xyz")]
    [683.6, 680.5, 714.1]
    """
    require_ranks(ranks)
    checks.choice("order", order, get_args(Order))
    ranks.require_known(what="the cost of stopping")
    first = first_items(ranks)
    items = first.above, first.negatives, first.relevant
    means, variances, least = _moments(as_metric(metric), *items, tolerance)
    size = first.count.sum()
    if order == "best":
        return Cost(float(least @ first.count / size), 0.0)
    return Cost(float(means @ first.count / size), float(np.sqrt(variances @ first.count) / size))


def proxy_cost(
    metric: Metric | str,
    scores: ArrayLike,
    proxy: ArrayLike,
    relevant: ArrayLike,
    *,
    tolerance: float = 0.0,
) -> int:
    """Return how many irrelevant candidates are scored until the metric of an instance is known.

    Parameters
    ----------
    metric, tolerance
        As in :func:`stopping_cost`.
    scores
        Score of the recommender for each candidate, higher is better: shape (n,).
    proxy
        Score of a cheaper recommender for each candidate. The recommender scores candidates from
        the highest proxy score to the lowest, and candidates with equal scores in the given order.
    relevant
        Index of the relevant item among the candidates, or several indices.

    Examples
    --------
    >>> proxy_cost("Recall@2", [5, 4, 3, 2, 1], [3, 9, 5, 1, 8], 3)
    3
    """
    values, order = (checks.numbers(name, x) for name, x in (("scores", scores), ("proxy", proxy)))
    checks.length("scores", values, values.size, "one number for each candidate")
    checks.length("proxy", order, len(values), "one number for each score")
    at = np.unique(checks.integers("relevant", relevant, low=0, high=len(values) - 1))
    k = deciding_cutoff(metric, len(values), relevant=len(at), tolerance=tolerance)
    looked = np.argsort(-order, kind="stable")
    others = looked[~np.isin(looked, at)]
    marked = np.flatnonzero(values[others] > values[at].max())
    return len(others) if k is None or len(marked) < k else int(np.r_[-1, marked][k]) + 1
