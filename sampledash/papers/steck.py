"""TOPK and ATOP: the measures of Steck (KDD 2010).

His rank N is the best one; here ranks count from 1, the best, as everywhere. What his measures
look at is the share x = (r - 1) / (N - 1) of the other items that are ranked above a relevant one.

These functions read a rank set directly, several relevant items of an instance included. For
sampling, corrections and comparisons TOPK and ATOP are metrics like the others,
:class:`sampledash.Metric`.

References
----------
Harald Steck. Training and Testing of Recommender Systems on Data Missing Not at Random. KDD 2010.
"""

from __future__ import annotations

from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike

from sampledash import checks
from sampledash.counts import RankCounts
from sampledash.protocol import Weighting
from sampledash.ranksets import RankSet
from sampledash.types import Floats

TiedAt = Literal["optimistic", "mid", "pessimistic"]

_TIED = {"optimistic": 0.0, "mid": 0.5, "pessimistic": 1.0}


def shares(rank: ArrayLike, n: ArrayLike) -> Floats:
    """Share of the other items ranked above, x = (r - 1) / (N - 1): his 1 - Nrank."""
    size = checks.integers("n", n, low=2)
    return np.asarray((checks.ranks("rank", rank, size) - 1) / (size - 1))


def topk(
    share: float,
    ranks: RankSet,
    *,
    ties: TiedAt = "mid",
    weighting: Weighting = "relevant-items",
) -> float:
    r"""Top-k hit rate: share of the relevant items within the top share of the list (eq. 1-2).

    .. math:: \mathrm{TOPK}(k) = \sum_u w^u \frac{1}{N_u^+} \sum_{i \in S_u^+} 1[x_{u,i} \le k]

    Parameters
    ----------
    share
        His normalised k, in 0..1.
    ranks
        True ranks among all items; rows with one instance label are one user's relevant items.
    ties
        Where a tied item stands in its block: first, in the middle, or last.
    weighting
        ``"relevant-items"``: every pair of user and item weighs the same, as in his experiments
        (section 2.3); ``"instances"``: every user does.
    """
    share = checks.real("share", share, low=0, high=1)
    rows, x = _rows(ranks, ties)
    return _average((x <= share).astype(np.float64), rows, weighting)


def atop(
    ranks: RankSet,
    *,
    within: float = 1.0,
    ties: TiedAt = "mid",
    weighting: Weighting = "relevant-items",
) -> float:
    r"""Area under the TOPK curve (eq. 3-5), or under its first part as a share of that part.

    .. math:: \mathrm{ATOP} = 1 - \sum w\,x, \qquad
              \mathrm{ATOP}(k_0) = \sum w \max(0, k_0 - x) / k_0

    Parameters
    ----------
    ranks, ties, weighting
        As for :func:`topk`.
    within
        Where the area ends, above 0 and up to 1.

    Notes
    -----
    A recommender that scores all items alike gets 1, 1/2 or 0 for optimistic, mid or pessimistic
    ties: say which was used.
    """
    within = checks.real("within", within, low=0, high=1, above=True)
    rows, x = _rows(ranks, ties)
    return _average(np.maximum(0.0, within - x) / within, rows, weighting)


def highest_atop(relevant: int, n: int) -> float:
    """ATOP of a perfect list, 1 - (N⁺ - 1) / (N - 1) / 2 (below eq. 4)."""
    n, relevant = _list_of(relevant, n)
    return 1 - (relevant - 1) / (n - 1) / 2


def auc_of_ranks(ranks: ArrayLike, n: int) -> float:
    """AUC of one list from the ranks of its relevant items: eq. 8 with its sign put right.

    With his ranks (N the best) AUC = [ΣRank⁺ - C(N⁺ + 1, 2)] / (N⁺ N⁻); printed is a plus, which
    puts a perfect list above 1.
    """
    n = checks.integer("n", n, low=2)
    places = checks.ranks("ranks", ranks, np.asarray(n)).ravel()
    n, relevant = _list_of(len(places), n)
    his = float(np.sum(n + 1 - places))
    return (his - relevant * (relevant + 1) / 2) / (relevant * (n - relevant))


def auc_of_atop(atop: float, relevant: int, n: int) -> float:
    """AUC of one list from its ATOP: eq. 9 as it follows from eq. 8 put right.

    AUC = (1 + (N⁺ - 1)/N⁻) ATOP - (N⁺ - 1)/(2N⁻); with one relevant item AUC = ATOP.
    """
    atop = checks.real("atop", atop, low=0, high=1)
    n, relevant = _list_of(relevant, n)
    extra = (relevant - 1) / (n - relevant)
    return (1 + extra) * atop - extra / 2


def _list_of(relevant: int, n: int) -> tuple[int, int]:
    n = checks.integer("n", n, low=2)
    return n, checks.integer("relevant", relevant, low=1, high=n - 1)


def _rows(ranks: RankSet, ties: TiedAt) -> tuple[RankCounts, Floats]:
    """Rows of the rank set and the share of the other items above each."""
    checks.choice("ties", ties, get_args(TiedAt))
    rows = ranks.rows()
    above = rows.above + rows.position - 1 + _TIED[ties] * rows.tied
    return rows, np.asarray(above / (rows.negatives + rows.relevant - 1))


def _average(values: Floats, rows: RankCounts, weighting: Weighting) -> float:
    """Mean over the pairs of user and item, or over the users' means."""
    checks.choice("weighting", weighting, get_args(Weighting))
    each = rows.count / rows.relevant if weighting == "instances" else rows.count
    return float(each @ values / each.sum())
