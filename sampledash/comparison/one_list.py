r"""One list of negatives for all instances, as in OGB's Hits@K: the distribution of the result.

All relevant items are ranked among the same N negatives, each of which has one score for all
instances, as an edge has in OGB. Of these, m different negatives are drawn, only once. A relevant
item hits if it is above the K-th best drawn negative. Let T be the position of this negative among
all N negatives. The sampled Recall@K is then Recall@T on all negatives, and

.. math:: P(T = t) = \binom{t-1}{K-1} \binom{N-t}{m-K} \Big/ \binom{N}{m}.

All instances share the same random T, so that more instances do not make the distribution narrower.
If i < K negatives of the list are above an item, and d are tied with it, the item hits in
min(K - i, d + 1) of the d + 1 places that it can have.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import gammaln

from sampledash import checks
from sampledash.comparison.order import TIED
from sampledash.comparison.shared import makarov
from sampledash.metrics import Metric, as_metric
from sampledash.rank_sets import RankSet, Ties, require_ranks
from sampledash.types import Floats, Ints

_MOST = 10_000_000  # largest number of candidates


@dataclass(frozen=True, eq=False)
class OneList:
    """Distribution of a metric if all instances share one list of negatives.

    Attributes
    ----------
    values
        The values that the metric can take, increasing.
    probabilities
        The probability of each value, summing to 1.
    """

    values: Floats
    probabilities: Floats

    @property
    def mean(self) -> float:
        """Expected value of the metric over draws of the list."""
        return float(self.values @ self.probabilities)

    @property
    def std(self) -> float:
        """Standard deviation of the metric over draws of the list."""
        return float(np.sqrt((self.values - self.mean) ** 2 @ self.probabilities))

    def interval(self, confidence: float = 0.95) -> tuple[float, float]:
        """Return two quantiles between which the metric lies with probability ``confidence``."""
        share = checks.real("confidence", confidence, low=0, high=1)
        ends = (1 - share) / 2 + np.array([TIED, share - TIED])
        at = np.searchsorted(np.cumsum(self.probabilities), ends)
        low, high = self.values[np.minimum(at, len(self.values) - 1)].tolist()
        return low, high

    def ahead_of(self, other: "OneList") -> tuple[float, float, float]:
        """Return the chance that this metric is larger than ``other``, and bounds on the chance.

        The chance is exact if a list of negatives is drawn for each system. If both systems have
        the same list, the chance depends on how both order the negatives. The lower and the upper
        bound hold for any order (Makarov).
        """
        checks.of_kind("other", other, OneList, "OneList", "make one with sampledash.one_list")
        below = np.r_[0.0, np.cumsum(other.probabilities)]
        chance = self.probabilities @ below[np.searchsorted(other.values, self.values - TIED)]
        laws = ((x.values, x.probabilities) for x in (self, other))
        return float(min(chance, 1.0)), *makarov(*laws)


def one_list(metric: Metric | str, ranks: RankSet, m: int, *, ties: Ties = "expected") -> OneList:
    """Return the distribution of Recall@K if all instances share one list of m negatives.

    A negative must have the same score for all instances, as an edge has in OGB. The scores
    differ if users share a list of items that each user orders differently. The distribution is
    then narrower, and cannot be computed from ranks.

    Parameters
    ----------
    metric
        Recall@K (Hits@K), or HitRate@K, or TOPK; K at most m.
    ranks
        Ranks of one relevant item per instance; all instances have the same number of negatives.
    m
        Number of negatives in the list, which are drawn without replacement.
    ties
        ``"expected"``: the metric of a list is its mean over the orders of tied items.

    Raises
    ------
    ValueError
        If the metric or the ranks do not meet these conditions.

    References
    ----------
    Hu et al., Open Graph Benchmark, NeurIPS 2020 (Hits@K of ogbl-ppa, -collab, -ddi). Steck, KDD
    2010 (sampled Recall@K is Recall@T on all negatives, with a random T).

    Examples
    --------
    >>> from sampledash import RankSet
    >>> few, many = ([20, 60, 200] * x for x in (1, 1_000))
    >>> [round(one_list("Recall@10", RankSet("X", x, 1_000), 100).std, 3) for x in (few, many)]
    [0.081, 0.081]
    """
    metric, m = as_metric(metric), checks.integer("m", m, low=1)
    require_ranks(ranks)
    ranks.require_known()
    k, total = metric.cut(m) or m, checks.integer("n", int(ranks.n.max()), low=2, high=_MOST) - 1
    if not metric.on_lattice or metric.scale(1) != 1 or k > m:
        raise ValueError(f"one list of {m} negatives needs Recall@k with k <= {m}, got {metric}")
    if ranks.max_relevant > 1 or np.ptp(ranks.n) or m > total:
        needed = "all instances need one relevant item and the same n, above m"
        what = f"system {ranks.system!r} cannot be ranked among one list of {m} negatives"
        raise ValueError(f"{what}: {needed}")
    t = np.arange(k, total - m + k + 1)
    chances = [_chances(total, m, (t - 1, k - 1), (total - t, m - k))]
    atoms = ranks.counted(ties)
    share, last = atoms.count / atoms.count.sum(), atoms.above + atoms.tied
    hits = np.cumsum(np.bincount(last, share, total + 1))  # hits[t - 1]: share that hits if T = t
    values, single = [hits[t - 1]], np.ones(total + 1, dtype=bool)
    tied = atoms.tied > 0
    blocks, block = np.unique(np.stack([atoms.above, last])[:, tied], axis=1, return_inverse=True)
    for (above, end), part in zip(blocks.T.tolist(), np.bincount(block, share[tied]), strict=True):
        # The negatives at positions ``above`` + 1 to ``end`` are tied with a relevant item.
        if not np.all(single[above + 1 : end + 1]):
            wrong = f"system {ranks.system!r}: the ties at rank {above + 1} and at another overlap"
            raise ValueError(f"{wrong}, but negatives with one score each cannot do so")
        single[above + 1 : end + 1] = False
        i, j = np.indices((min(k - 1, above) + 1, min(end - above, m) + 1)).reshape(2, -1)
        i, j = (x[(i + j >= k) & (i + j <= m) & (m - i - j <= total - end)] for x in (i, j))
        # Of the drawn negatives, i are above the item and j tied with it, including the K-th best.
        parts = (above, i), (end - above, j), (total - end, m - i - j)
        chances.append(_chances(total, m, *parts))
        values.append(hits[above] + part * (k - i) / (j + 1))
    values[0], chances[0] = values[0][single[t]], chances[0][single[t]]
    value, p = np.concatenate(values), np.concatenate(chances)
    value, p = value[order := np.argsort(value)], p[order]
    starts = np.flatnonzero(np.diff(value, prepend=-1.0) > TIED)
    return OneList(np.asarray(value[starts], np.float64), np.add.reduceat(p, starts) / p.sum())


def _chances(total: int, m: int, *parts: tuple[Ints | int, Ints | int]) -> Floats:
    """Return the probability that m drawn items contain given numbers of items of each part.

    The items are drawn from ``total`` items. A part is (number of its items, number of them drawn).
    If the parts have only ``total`` - 1 items together, the remaining item is drawn too.
    """
    logs = (_log_binomial(*part) for part in parts)
    return np.asarray(np.exp(sum(logs) - _log_binomial(total, m)))


def _log_binomial(n: Ints | int, k: Ints | int) -> Floats:
    return np.asarray(gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1))
