"""A ranking metric as data: a name, a cutoff and one function of a position.

Every metric here is a sum over the relevant items of a list (eq. 2-6 of Krichene & Rendle,
KDD 2020). The j-th of them stands at position ``j + a`` when ``a`` irrelevant items are ranked
above it, so a single function of ``(a, j)`` gives the exact metric (``a`` out of all irrelevant
items), the sampled metric (``a`` out of the m drawn ones) and the metric of several relevant items.
The measures of Steck, TOPK and ATOP, rank each relevant item among all other items, and look at the
share of them above it: there every relevant item is the only one of a list of its own.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sampledash import checks
from sampledash.metrics.kinds import KINDS, MetricName
from sampledash.types import Floats, Ints


def places_within(share: float, others: ArrayLike) -> Ints:
    """Lowest place that counts: TOPK(share) among ``others`` items is Recall at this place.

    Parameters
    ----------
    share
        Part of the list, in 0..1.
    others
        Number of other items, n - 1 in the full list and m on a sample; any shape.

    Examples
    --------
    >>> places_within(0.02, [1000, 17769]).tolist()
    [21, 356]
    """
    share = checks.real("share", share, low=0, high=1)
    total = checks.integers("others", others, low=1)
    above = np.floor(share * total).astype(np.int64)
    # The product may round across a whole number; a / total <= share is what is meant.
    above = np.where((above + 1) / total <= share, above + 1, above)
    return np.asarray(np.where(above / total > share, above - 1, above) + 1)


def share_of(place: int, n: int) -> float:
    """Shortest decimal share x for which TOPK(x) of n candidates looks at 1..place.

    Examples
    --------
    >>> share_of(10, 10_000)
    0.001
    """
    n = int(checks.candidates("n", n, scalar=True))
    place = checks.integer("k", place, low=1)  # the cutoff it is made from
    if place >= n:
        return 1.0
    for power in (int(10**digits) for digits in range(17)):
        share = -((1 - place) * power // (n - 1)) / power
        if places_within(share, n - 1) == place:
            return share
    return (place - 1) / (n - 1)


@dataclass(frozen=True)
class Metric:
    """A ranking metric: a name and a cutoff. Make one with :func:`metric` or :func:`parse_metric`.

    Attributes
    ----------
    name
        ``"auc" "precision" "recall" "ap" "ndcg" "rr" "hit_rate" "topk" "atop"``.
    k
        Cutoff, at least 1; ``None`` means untruncated. May exceed the length of a list.
    share
        Cutoff of TOPK: the largest share of the other items above a relevant one that counts, in
        0..1. ``None`` for every other metric.

    Notes
    -----
    Precision, Recall and HitRate need a cutoff, AUC takes none. RR and HitRate look at the first
    relevant item only: they equal AP and Recall for one relevant item, not for several. A sampled
    metric keeps the name of the exact one but not its meaning: that is what this package is about.

    TOPK's cutoff is a share and so moves with the length of the list: on a sample of m negatives it
    is that of Recall at ``places_within(x, m)``. For one relevant item ATOP is AUC; each of several
    is ranked among all other items, and its negatives are drawn from them, as Steck does.

    References
    ----------
    Krichene & Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, eq. 2-13; Steck,
    Training and Testing of Recommender Systems on Data Missing Not at Random, KDD 2010, eq. 1-5.
    """

    name: MetricName
    k: int | None = None
    share: float | None = None

    def __post_init__(self) -> None:
        if self.name not in KINDS:
            raise ValueError(f"unknown metric {self.name!r}: known are {', '.join(KINDS)}")
        cutoff = KINDS[self.name].cutoff
        if cutoff == "always" and self.k is None:
            raise ValueError(f"{self.label} needs a cutoff k, for example {self.label}@10")
        if cutoff == "never" and self.k is not None:
            raise ValueError(f"{self.label} takes no cutoff, got k = {self.k}")
        if cutoff == "share":
            self._check_share()
        elif self.share is not None:
            raise ValueError(f"{self.label} takes no share, got {self.share}: only TOPK does")
        if self.k is not None:
            object.__setattr__(self, "k", checks.integer("k", self.k, low=1))

    def _check_share(self) -> None:
        if self.k is not None or self.share is None:
            given = "none" if self.k is None else f"k = {self.k}"
            raise ValueError(
                f"{self.label} needs a share of the list, such as {self.label}@0.02; got {given}"
            )
        share = checks.real("share", self.share, low=0, high=1)
        object.__setattr__(self, "share", share)

    def __str__(self) -> str:
        cutoff = self.k if self.share is None else f"{self.share:.17g}"
        if self.share is not None and float(f"{self.share:.15g}") == self.share:
            cutoff = f"{self.share:.15g}"
        return self.label if cutoff is None else f"{self.label}@{cutoff}"

    @property
    def label(self) -> str:
        """Name as the field writes it, without the cutoff."""
        return KINDS[self.name].label

    @property
    def tex(self) -> str:
        """Value at true rank r as TeX, for one relevant item (eq. 7-13)."""
        body = KINDS[self.name].tex
        if self.share is not None:
            return rf"\delta\left(\tfrac{{r-1}}{{n-1}} \le {self.share:g}\right)"
        if self.k is None:
            return body
        body = "" if body == "1" else r"\," + body.replace("{k}", f"{{{self.k}}}")
        return rf"\delta(r \le {self.k})" + body

    @property
    def about(self) -> str:
        """What it measures, in a few words."""
        return KINDS[self.name].about

    @property
    def on_lattice(self) -> bool:
        """Whether one relevant item can only hit or miss (Recall, Precision, HitRate, TOPK)."""
        return KINDS[self.name].cutoff in ("always", "share")

    @property
    def linear(self) -> bool:
        """Whether the value falls by the same amount with every item above (AUC, ATOP)."""
        return self.name in ("auc", "atop")

    @property
    def of_others(self) -> bool:
        """Whether a relevant item is ranked among all other items, relevant ones too.

        Each is then an instance of its own, see :func:`sampledash.counts.one_item_per_instance`.
        """
        return self.name in ("atop", "topk")

    @property
    def first_only(self) -> bool:
        """Whether only the first of several relevant items counts (RR, HitRate)."""
        return KINDS[self.name].first_only

    @property
    def sums_items(self) -> bool:
        """Whether several relevant items of one list count together."""
        return not (self.first_only or self.of_others)

    def cut(self, others: int) -> int | None:
        """Lowest place that counts in a list with so many other items; ``None`` untruncated."""
        return self.k if self.share is None else int(places_within(self.share, others))

    def of_above(self, above: ArrayLike, negatives: ArrayLike, position: int = 1) -> Floats:
        """Contribution of one relevant item, before :meth:`scale`.

        Parameters
        ----------
        above
            How many of the ``negatives`` irrelevant items are ranked above it: any shape, may be
            fractional (the smooth functions are then evaluated between the ranks).
        negatives
            Number of irrelevant items in the list, broadcast against ``above``.
        position
            1 for the first relevant item of the list, 2 for the second, and so on.
        """
        a, total = np.broadcast_arrays(np.asarray(above), np.asarray(negatives))
        precision = np.result_type(a, np.float64)  # extended, if asked for in extended
        a, total = a.astype(precision, copy=False), total.astype(precision, copy=False)
        kind = KINDS[self.name]
        if self.linear:
            return np.asarray((total - a) / total)
        if kind.first_only and position > 1:
            return np.zeros_like(a)
        place = a + position
        if self.share is not None:
            cut = places_within(self.share, np.rint(total).astype(np.int64))
            return np.where(place <= cut, 1.0, 0.0)
        value = kind.gain(place, position)
        return value if self.k is None else np.where(place <= self.k, value, 0.0)

    def scale(self, relevant: int) -> float:
        """Factor that turns the sum over ``relevant`` relevant items into the metric."""
        return KINDS[self.name].scale(relevant, np.inf if self.k is None else self.k)

    def scales(self, relevant: NDArray[np.int64]) -> Floats:
        """:meth:`scale` of each of many instances."""
        sizes, inverse = np.unique(relevant, return_inverse=True)
        return np.array([self.scale(int(size)) for size in sizes])[inverse]

    def __call__(self, rank: ArrayLike, n: ArrayLike) -> Floats:
        """Exact value for one relevant item at each rank (eq. 7-13).

        Parameters
        ----------
        rank
            True ranks, integers in 1..n, any shape.
        n
            Number of candidates including the relevant item, at most 10^12: one number or one per
            rank.

        Returns
        -------
        Array of the broadcast shape, in 0..1.

        Raises
        ------
        ValueError
            If a rank is not an integer in 1..n, or n not one in 2..10^12.
        """
        n_array = checks.candidates("n", n)
        ranks = checks.ranks("rank", rank, n_array)
        return self.of_above(ranks - 1, n_array - 1) * self.scale(1)

    def of_set(self, ranks: ArrayLike, n: int) -> float:
        """Exact value of one instance with several relevant items (eq. 2-6).

        Parameters
        ----------
        ranks
            Distinct ranks of the relevant items, in any order.
        n
            Number of candidates, relevant ones included; must exceed the number of ranks.
        """
        n = int(checks.candidates("n", n, scalar=True))
        places = np.sort(checks.ranks("ranks", ranks, np.asarray(n)).ravel())
        size = len(places)
        if size == 0:
            raise ValueError("ranks is empty: an instance needs at least one relevant item")
        if np.any(np.diff(places) == 0):
            twice = places[:-1][np.diff(places) == 0][0]
            raise ValueError(f"ranks holds {twice} twice: relevant items have distinct ranks")
        if size >= n:
            raise ValueError(f"ranks fills all {n} candidates: there is no irrelevant item left")
        if self.of_others:
            return float(np.sum(self.of_above(places - 1, n - 1))) * self.scale(size)
        terms = (
            float(self.of_above(r - j, n - size, j)) for j, r in enumerate(places.tolist(), start=1)
        )
        return sum(terms) * self.scale(size)
