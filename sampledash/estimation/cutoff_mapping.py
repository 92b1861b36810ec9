"""Which full cutoff a sampled Recall@k stands for.

References
----------
Li, Jin, Gao & Liu, On Sampling Top-K Recommendation Evaluation, KDD 2020.
"""

from __future__ import annotations

import numpy as np

from sampledash import checks
from sampledash.comparison import expected_mean
from sampledash.metrics import Metric
from sampledash.ranksets import RankSet
from sampledash.sampling import Scheme


def full_cutoff(k: int, n: int, m: int, *, beta: float | None = None) -> float:
    r"""Map a cutoff of a sampled list to one of the full list.

    Parameters
    ----------
    k
        Cutoff in the list of the relevant item and m negatives, in 1..m+1.
    n, m
        Candidates and negatives.
    beta
        ``None`` is the linear mapping ⌊(k-1)(n-1)/m⌋ + 1. Else the mapping that is right if the
        share of items above is distributed as Beta(a, 1), a = ``beta`` above 0: 1 is uniform,
        smaller is nearer to the top.

    Returns
    -------
    Cutoff in 1..n; a whole number for the linear mapping.

    Notes
    -----
    The law of the sampled rank is that with replacement. With density :math:`a p^{a-1}` the chance
    of a sampled rank up to k is a sum of beta functions that telescopes to
    :math:`\prod_{j=k}^m j / (j + a)`, and :math:`p^a` is the chance of a share up to p. A mapping
    that suits one system does not suit another: see :func:`matching_cutoff`.
    """
    m = checks.integer("m", m, low=1)
    n = checks.integer("n", n, low=2)
    k = checks.integer("k", k, low=1, high=m + 1)
    if beta is None:
        return float((k - 1) * (n - 1) // m + 1)
    a = checks.real("beta", beta, low=0, above=True)
    log_chance = -np.log1p(a / np.arange(k, m + 1)).sum()
    return float(1 + (n - 1) * np.exp(log_chance / a))


def matching_cutoff(k: int, ranks: RankSet, m: int, *, scheme: Scheme = "with-replacement") -> int:
    """Find the full cutoff whose exact Recall equals the expected sampled Recall@k of a system.

    Parameters
    ----------
    k
        Cutoff in the sampled list, in 1..m+1.
    ranks
        True ranks, one relevant item per instance and no ties.
    m
        Negatives. Without replacement, instances with fewer have all theirs drawn.
    scheme
        ``"with-replacement"`` or ``"without-replacement"``.

    Returns
    -------
    Smallest K whose exact Recall@K is at least the expected sampled Recall@k.

    Raises
    ------
    ValueError
        If the set has ties or several relevant items, or a number is out of range.

    Notes
    -----
    Systems have different K for the same k: that is why sampled metrics can change their order.
    """
    m = checks.integer("m", m, low=1)
    k = checks.integer("k", k, low=1, high=m + 1)
    checks.choice("scheme", scheme, ("with-replacement", "without-replacement"))
    if ranks.has_ties or ranks.max_relevant > 1:
        raise ValueError(
            f"ranks of system {ranks.system!r} has ties or several relevant items: give one "
            "relevant item per instance, with ties broken"
        )
    drawn = min(m, ranks.max_negatives) if scheme == "without-replacement" else m
    sampled = expected_mean(Metric("recall", k), ranks, drawn, scheme=scheme)
    rank, place = np.unique(ranks.ranks, return_inverse=True)
    recall = np.cumsum(np.bincount(place, ranks.counts)) / ranks.counts.sum()
    return int(rank[min(int(np.searchsorted(recall, sampled - 1e-12)), len(rank) - 1)])
