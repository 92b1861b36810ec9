"""Ranking metrics as data: a name, a cutoff and one function of a position.

Every metric here is a sum over the relevant items of a list (eq. 2-6 of Krichene & Rendle,
KDD 2020). The j-th of them stands at position ``j + a`` when ``a`` irrelevant items are ranked
above it, so a single function of ``(a, j)`` gives the exact metric (``a`` out of all irrelevant
items), the sampled metric (``a`` out of the m drawn ones) and the metric of several relevant items.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sampledash import checks

Floats = NDArray[np.float64]
MetricName = Literal["auc", "precision", "recall", "ap", "ndcg", "rr", "hit_rate"]


@dataclass(frozen=True)
class _Kind:
    """What distinguishes one metric from another."""

    label: str
    cutoff: Literal["never", "optional", "always"]
    aliases: tuple[str, ...]
    tex: str  # value of one relevant item at rank r, before the cutoff
    about: str
    gain: Callable[[Floats, int], Floats]  # value at a position, of the j-th relevant item
    scale: Callable[[int, float], float]  # factor for |R| relevant items and cutoff k
    first_only: bool = False


def _ideal_dcg(relevant: int, k: float) -> float:
    return float(np.sum(1 / np.log2(np.arange(2, min(relevant, k) + 2))))


_KINDS: dict[str, _Kind] = {
    "auc": _Kind(
        "AUC", "never", ("auroc", "rocauc"), r"\frac{n-r}{n-1}",
        "chance that the relevant item is ranked above a random irrelevant one",
        lambda position, j: position, lambda relevant, k: 1 / relevant,
    ),
    "precision": _Kind(
        "Precision", "always", ("p", "prec"), r"\frac{1}{k}",
        "share of the first k places that hold relevant items",
        lambda position, j: np.ones_like(position), lambda relevant, k: 1 / k,
    ),
    "recall": _Kind(
        "Recall", "always", ("r", "rec"), "1",
        "share of the relevant items found in the first k places",
        lambda position, j: np.ones_like(position), lambda relevant, k: 1 / relevant,
    ),
    "ap": _Kind(
        "AP", "optional", ("map", "averageprecision", "meanaverageprecision"), r"\frac{1}{r}",
        "average precision: rank 1 is worth twice rank 2",
        lambda position, j: j / position, lambda relevant, k: 1 / min(relevant, k),
    ),
    "ndcg": _Kind(
        "NDCG", "optional", ("normalizeddiscountedcumulativegain",), r"\frac{1}{\log_2(r+1)}",
        "discounted gain: rank 1 is worth 1.58 times rank 2",
        lambda position, j: 1 / np.log2(position + 1),
        lambda relevant, k: 1 / _ideal_dcg(relevant, k),
    ),
    "rr": _Kind(
        "RR", "optional", ("mrr", "reciprocalrank", "meanreciprocalrank"), r"\frac{1}{r}",
        "one over the rank of the first relevant item",
        lambda position, j: 1 / position, lambda relevant, k: 1.0, first_only=True,
    ),
    "hit_rate": _Kind(
        "HitRate", "always", ("hr", "hit", "hits", "hitratio"), "1",
        "whether the first k places hold a relevant item",
        lambda position, j: np.ones_like(position), lambda relevant, k: 1.0, first_only=True,
    ),
}  # fmt: skip


def _plain(text: str) -> str:
    return re.sub(r"[\s_\-]", "", text).lower()


_BY_ALIAS = {
    alias: name
    for name, kind in _KINDS.items()
    for alias in (_plain(name), _plain(kind.label), *kind.aliases)
}
_KNOWN = "AUC, Precision@k, Recall@k, AP, AP@k, NDCG, NDCG@k, RR, RR@k, HitRate@k"


@dataclass(frozen=True)
class Metric:
    """A ranking metric: a name and a cutoff. Make one with :func:`metric` or :func:`parse_metric`.

    Attributes
    ----------
    name
        ``"auc" "precision" "recall" "ap" "ndcg" "rr" "hit_rate"``.
    k
        Cutoff, at least 1; ``None`` means untruncated. May exceed the length of a list.

    Notes
    -----
    Precision, Recall and HitRate need a cutoff, AUC takes none. RR and HitRate look at the first
    relevant item only: they equal AP and Recall for one relevant item, not for several. A sampled
    metric keeps the name of the exact one but not its meaning: that is what this package is about.

    References
    ----------
    Krichene & Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, eq. 2-13.
    """

    name: MetricName
    k: int | None = None

    def __post_init__(self) -> None:
        if self.name not in _KINDS:
            raise ValueError(f"unknown metric {self.name!r}: known are {', '.join(_KINDS)}")
        cutoff = _KINDS[self.name].cutoff
        if cutoff == "always" and self.k is None:
            raise ValueError(f"{self.label} needs a cutoff k, for example {self.label}@10")
        if cutoff == "never" and self.k is not None:
            raise ValueError(f"{self.label} takes no cutoff, got k = {self.k}")
        if self.k is not None:
            object.__setattr__(self, "k", checks.integer("k", self.k, low=1))

    def __str__(self) -> str:
        return self.label if self.k is None else f"{self.label}@{self.k}"

    @property
    def label(self) -> str:
        """Name as the field writes it, without the cutoff."""
        return _KINDS[self.name].label

    @property
    def tex(self) -> str:
        """Value at true rank r as TeX, for one relevant item (eq. 7-13)."""
        body = _KINDS[self.name].tex
        if self.k is None:
            return body
        return rf"\delta(r \le {self.k})\," + body.replace("{k}", f"{{{self.k}}}")

    @property
    def about(self) -> str:
        """What it measures, in a few words."""
        return _KINDS[self.name].about

    @property
    def on_lattice(self) -> bool:
        """Whether one relevant item can only hit or miss (Recall, Precision, HitRate)."""
        return _KINDS[self.name].cutoff == "always"

    @property
    def first_only(self) -> bool:
        """Whether only the first of several relevant items counts (RR, HitRate)."""
        return _KINDS[self.name].first_only

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
        a, total = np.broadcast_arrays(
            np.asarray(above, dtype=np.float64), np.asarray(negatives, dtype=np.float64)
        )
        kind = _KINDS[self.name]
        if self.name == "auc":
            return np.asarray((total - a) / total)
        if kind.first_only and position > 1:
            return np.zeros_like(a)
        place = a + position
        value = kind.gain(place, position)
        return value if self.k is None else np.where(place <= self.k, value, 0.0)

    def scale(self, relevant: int) -> float:
        """Factor that turns the sum over ``relevant`` relevant items into the metric."""
        return _KINDS[self.name].scale(relevant, np.inf if self.k is None else self.k)

    def __call__(self, rank: ArrayLike, n: ArrayLike) -> Floats:
        """Exact value for one relevant item at each rank (eq. 7-13).

        Parameters
        ----------
        rank
            True ranks, integers in 1..n, any shape.
        n
            Number of candidates including the relevant item, one number or one per rank.

        Returns
        -------
        Array of the broadcast shape, in 0..1.

        Raises
        ------
        ValueError
            If a rank is not an integer in 1..n or n is below 2.
        """
        n_array = checks.integers("n", n, low=2)
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
        n = checks.integer("n", n, low=2)
        places = np.sort(checks.ranks("ranks", ranks, np.asarray(n)).ravel())
        size = len(places)
        if size == 0:
            raise ValueError("ranks is empty: an instance needs at least one relevant item")
        if np.any(np.diff(places) == 0):
            twice = places[:-1][np.diff(places) == 0][0]
            raise ValueError(f"ranks holds {twice} twice: relevant items have distinct ranks")
        if size >= n:
            raise ValueError(f"ranks fills all {n} candidates: there is no irrelevant item left")
        terms = (
            float(self.of_above(r - j, n - size, j)) for j, r in enumerate(places.tolist(), start=1)
        )
        return sum(terms) * self.scale(size)


def metric(name: str, *, k: int | None = None) -> Metric:
    """Make a metric from its name and cutoff.

    Parameters
    ----------
    name
        One of ``"auc" "precision" "recall" "ap" "ndcg" "rr" "hit_rate"``, or an alias such as
        ``"hr"`` or ``"mrr"``.
    k
        Cutoff; ``None`` for the untruncated metric.

    Examples
    --------
    >>> str(metric("ndcg", k=10))
    'NDCG@10'
    """
    known = _BY_ALIAS.get(_plain(str(name)))
    if known is None:
        raise ValueError(f"unknown metric {name!r}: known are {_KNOWN}")
    return Metric(cast(MetricName, known), k)


@lru_cache(maxsize=256)
def _parse(text: str) -> Metric:
    match = re.fullmatch(r"(.+?)(?:\s*(?:@|_at_|\bat\b)\s*(.*)|[_\s]+(\d+))?", text.strip())
    name, k = (match[1], match[2] if match[2] is not None else match[3]) if match else ("", None)
    known = _plain(name) in _BY_ALIAS or name.lower() in ("acc", "accuracy")
    if not known:
        raise ValueError(f"unknown metric {text!r}: known are {_KNOWN}")
    if k is not None and not re.fullmatch(r"[+-]?\d+", k):
        raise ValueError(f"cutoff of {text!r} is {k!r}: write a whole number, such as {name}@10")
    if name.lower() in ("acc", "accuracy"):
        name, k = "recall", k or "1"  # section 3.1: accuracy is Recall at 1
    return metric(name, k=None if k is None else int(k))


def parse_metric(text: str) -> Metric:
    """Read a metric from its text: the inverse of ``str``, and the field's other spellings.

    Parameters
    ----------
    text
        For example ``"NDCG@10"``, ``"HR@10"``, ``"MRR"``, ``"MAP@5"``, ``"recall_at_20"``.

    Raises
    ------
    ValueError
        If the name is unknown or the cutoff is missing or not a whole number.

    Examples
    --------
    >>> parse_metric("HR@10")
    Metric(name='hit_rate', k=10)
    """
    return _parse(str(text))


def as_metric(value: Metric | str) -> Metric:
    """Let public functions take a metric or its text."""
    return value if isinstance(value, Metric) else parse_metric(value)
