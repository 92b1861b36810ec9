"""Ranking metrics: the table of all metrics, a class for a metric with its cutoff, and a parser.

Every metric here is a sum over the relevant items of a list (eq. 2-6 of Krichene & Rendle,
KDD 2020). If ``a`` irrelevant items are ranked above the j-th relevant item, its rank is ``j + a``.
So one function of ``(a, j)`` gives both the exact metric, where ``a`` counts all irrelevant items
above, and the sampled metric, where ``a`` counts only drawn items above. Steck's measures TOPK and
ATOP rank each relevant item among all other items, relevant ones included, and depend on the share
of the other items that is above the relevant item. All other items then count as irrelevant.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from decimal import Decimal
from functools import partial
from typing import Literal, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sampledash import checks
from sampledash.checks import shown
from sampledash.types import Floats, Ints

MetricName = Literal["auc", "precision", "recall", "ap", "ndcg", "rr", "hit_rate", "topk", "atop"]


@dataclass(frozen=True)
class Kind:
    """Properties of a metric: a row of :data:`KINDS`."""

    label: str
    cutoff: Literal["never", "optional", "always", "share"]
    aliases: tuple[str, ...]
    tex: str  # TeX of the metric of one relevant item at rank r, without the cutoff
    about: str
    # A metric is a sum over relevant items, times scale(relevant, k); ``relevant`` is the number of
    # relevant items. The j-th relevant item, at rank ``position``, adds gain(position, j) if its
    # rank is within the cutoff k. If ``first_only``, only the first relevant item counts. AUC and
    # ATOP do not use ``gain``.
    gain: Callable[[Floats, int], Floats] = lambda position, j: np.ones_like(position)
    scale: Callable[[int, float], float] = lambda relevant, k: 1 / relevant
    # The next five properties are described at the attributes of :class:`Metric`.
    on_lattice: bool = False
    linear: bool = False
    of_others: bool = False
    first_only: bool = False
    reciprocal: bool = False
    # Colour of the metric in the dashboard, and its entries in the dashboard's menu of metrics. In
    # an entry, "k" stands for the chosen cutoff.
    color: str = "muted"
    chips: tuple[str, ...] = ()


#: The properties of every metric by name. Dashboard pages list the metrics in this order.
KINDS: dict[str, Kind] = {
    "recall": Kind(
        "Recall", "always", ("r", "rec"), "1",
        "share of the relevant items found in the first k places", on_lattice=True,
        color="vermillion", chips=("Recall@k",),
    ),
    "ndcg": Kind(
        "NDCG", "optional", ("normalizeddiscountedcumulativegain",), r"\frac{1}{\log_2(r+1)}",
        "discounted gain: rank 1 is worth 1.58 times rank 2",
        lambda position, j: 1 / np.log2(position + 1),
        lambda relevant, k: 1 / float(np.sum(1 / np.log2(np.arange(2, min(relevant, k) + 2)))),
        color="blue", chips=("NDCG@k", "NDCG"),
    ),
    "ap": Kind(
        "AP", "optional", ("map", "averageprecision", "meanaverageprecision"), r"\frac{1}{r}",
        "average precision: rank 1 is worth twice rank 2",
        lambda position, j: j / position, lambda relevant, k: 1 / min(relevant, k),
        reciprocal=True, color="green", chips=("AP@k", "AP"),
    ),
    "precision": Kind(
        "Precision", "always", ("p", "prec"), r"\frac{1}{k}",
        "share of the first k places that hold relevant items", scale=lambda relevant, k: 1 / k,
        on_lattice=True, color="orange", chips=("Precision@k",),
    ),
    "auc": Kind(
        "AUC", "never", ("auroc", "rocauc"), r"\frac{n-r}{n-1}",
        "chance that the relevant item is ranked above a random irrelevant one", linear=True,
        color="purple", chips=("AUC",),
    ),
    "topk": Kind(
        "TOPK", "share", (), "1",
        "share of the relevant items found in the first part of the list",
        on_lattice=True, of_others=True, color="orange", chips=("TOPK",),
    ),
    "atop": Kind(
        "ATOP", "never", (), r"\frac{n-r}{n-1}",
        "area under the TOPK curve: AUC, where an instance has one relevant item",
        linear=True, of_others=True, color="purple", chips=("ATOP",),
    ),
    "rr": Kind(
        "RR", "optional", ("mrr", "reciprocalrank", "meanreciprocalrank"), r"\frac{1}{r}",
        "one over the rank of the first relevant item",
        lambda position, j: 1 / position, lambda relevant, k: 1.0, first_only=True,
        reciprocal=True, color="green",
    ),
    "hit_rate": Kind(
        "HitRate", "always", ("hr", "hit", "hits", "hitratio"), "1",
        "whether the first k places hold a relevant item",
        scale=lambda relevant, k: 1.0, on_lattice=True, first_only=True, color="vermillion",
    ),
}  # fmt: skip


def places_within(share: float, others: ArrayLike) -> Ints:
    """Return the cutoff k for which TOPK@share equals Recall@k.

    TOPK counts a relevant item if at most this ``share`` (0..1) of the other items is above it.
    ``others`` is an array of any shape. It holds numbers of other items: n - 1 in the full list, m
    in a sample.

    Examples
    --------
    >>> places_within(0.02, [1000, 17769]).tolist()
    [21, 356]
    """
    share = checks.real("share", share, low=0, high=1)
    total = checks.integers("others", others, low=1)
    above = np.floor(share * total).astype(np.int64)
    # Correct rounding errors, so that ``above`` is the largest a with a / total <= share.
    above = np.where((above + 1) / total <= share, above + 1, above)
    return np.asarray(np.where(above / total > share, above - 1, above) + 1)


def share_of(place: int, n: int) -> float:
    """Return the shortest decimal x for which TOPK@x on n candidates equals Recall@``place``.

    TOPK@x counts a relevant item if at most the share x of the other items is above it.

    Examples
    --------
    >>> share_of(10, 10_000)
    0.001
    """
    n = int(checks.candidates("n", n, scalar=True))
    place = checks.integer("k", place, low=1)  # error messages call the cutoff k, as users do
    if place >= n:
        return 1.0
    for power in (int(10**digits) for digits in range(17)):
        share = -((1 - place) * power // (n - 1)) / power
        if places_within(share, n - 1) == place:
            return share
    return (place - 1) / (n - 1)


@dataclass(frozen=True)
class Metric:
    """A ranking metric: a name and a cutoff, made by :func:`metric` or :func:`parse_metric`.

    Attributes
    ----------
    name
        One of ``"auc" "precision" "recall" "ap" "ndcg" "rr" "hit_rate" "topk" "atop"``.
    k
        Cutoff, at least 1; it may exceed the length of a list. If None, there is no cutoff.
    share
        Cutoff of TOPK, in 0..1: a relevant item counts if at most this share of the other items is
        above it. It is None for every other metric.

    Notes
    -----
    Precision, Recall and HitRate need a cutoff, AUC takes none. RR and HitRate depend on the first
    relevant item only: they equal AP and Recall for one relevant item, not for several. A metric on
    a sample has the name of the exact metric, but in general another expected value.

    The cutoff of TOPK is a share x: on a sample of m negatives, TOPK@x is Recall with the cutoff
    ``places_within(x, m)``. For one relevant item, ATOP is equal to AUC. For several relevant
    items, TOPK and ATOP rank each of them among all other items, from which negatives are drawn
    (Steck).

    References
    ----------
    Krichene & Rendle, On Sampled Metrics for Item Recommendation, KDD 2020, eq. 2-13; Steck,
    Training and Testing of Recommender Systems on Data Missing Not at Random, KDD 2010, eq. 1-5.
    """

    name: MetricName
    k: int | None = None
    share: float | None = None

    #: Usual name in the literature, without the cutoff.
    label: str = field(init=False, repr=False, compare=False)
    #: What the metric measures, in a few words.
    about: str = field(init=False, repr=False, compare=False)
    #: Whether all ranks up to the cutoff contribute the same, and ranks beyond the cutoff nothing
    #: (Recall, Precision, HitRate, TOPK).
    on_lattice: bool = field(init=False, repr=False, compare=False)
    #: Whether the value falls by the same amount with each additional item above (AUC, ATOP).
    linear: bool = field(init=False, repr=False, compare=False)
    #: Whether a relevant item is ranked among all other items, including relevant ones (TOPK,
    #: ATOP). Computations then turn each relevant item into an instance with one relevant item:
    #: :func:`sampledash.rank_counts.one_item_per_instance`.
    of_others: bool = field(init=False, repr=False, compare=False)
    #: Whether only the first of several relevant items counts (RR, HitRate).
    first_only: bool = field(init=False, repr=False, compare=False)
    #: Whether the value for a single relevant item is 1 / rank (AP, RR).
    reciprocal: bool = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or self.name not in KINDS:
            raise ValueError(f"unknown metric {shown(self.name)}: known are {', '.join(KINDS)}")
        kind, set_ = KINDS[self.name], partial(object.__setattr__, self)
        for column in fields(self):
            if not column.init:
                set_(column.name, getattr(kind, column.name))
        if kind.cutoff == "share":
            if self.k is not None or self.share is None:
                given = "none" if self.k is None else f"k = {shown(self.k)}"
                needed = f"{self.label} needs a share of the list, such as {self.label}@0.02"
                raise ValueError(f"{needed}; got {given}")
            set_("share", checks.real("share", self.share, low=0, high=1))
            return
        if kind.cutoff == "always" and self.k is None:
            raise ValueError(f"{self.label} needs a cutoff k, for example {self.label}@10")
        if kind.cutoff == "never" and self.k is not None:
            raise ValueError(f"{self.label} takes no cutoff, got k = {shown(self.k)}")
        if self.share is not None:
            raise ValueError(f"{self.label} takes no share, got {shown(self.share)}: give k")
        if self.k is not None:
            set_("k", checks.integer("k", self.k, low=1))

    def __str__(self) -> str:
        cutoff = self.k if self.share is None else checks.exact(self.share)
        return self.label if cutoff is None else f"{self.label}@{cutoff}"

    @property
    def tex(self) -> str:
        """TeX formula of the metric of one relevant item at true rank r."""
        body = KINDS[self.name].tex
        if self.share is not None:
            return rf"\delta\left(\tfrac{{r-1}}{{n-1}} \le {self.share:g}\right)"
        if self.k is None:
            return body
        body = "" if body == "1" else r"\," + body.replace("{k}", f"{{{self.k}}}")
        return rf"\delta(r \le {self.k})" + body

    @property
    def sums_items(self) -> bool:
        """Whether the metric adds contributions of several relevant items of one list."""
        return not (self.first_only or self.of_others)

    def cut(self, others: int) -> int | None:
        """Return the cutoff as a rank in a list of ``others`` + 1 items; None if there is none."""
        return self.k if self.share is None else int(places_within(self.share, others))

    def of_above(self, above: ArrayLike, negatives: ArrayLike, position: int = 1) -> Floats:
        """Return one relevant item's contribution to the metric, not multiplied by :meth:`scale`.

        ``position`` is 1 for the first relevant item of the list. ``negatives`` is the number of
        irrelevant items, and ``above`` is how many of them are ranked above the relevant item. Both
        are arrays of any shape, and may hold fractions.
        """
        a, total = np.broadcast_arrays(np.asarray(above), np.asarray(negatives))
        precision = np.result_type(a, np.float64)  # longdouble if ``above`` is longdouble
        a, total = a.astype(precision, copy=False), total.astype(precision, copy=False)
        if self.linear:
            return np.asarray((total - a) / total)
        if self.first_only and position > 1:
            return np.zeros_like(a)
        place = a + position
        value = KINDS[self.name].gain(place, position)
        cut: int | Ints | None = self.k
        if self.share is not None:
            cut = places_within(self.share, np.rint(total).astype(np.int64))
        return value if cut is None else np.where(place <= cut, value, 0.0)

    def of_one(self, above: ArrayLike, others: ArrayLike) -> Floats:
        """Return the metric of one relevant item, if ``above`` of ``others`` items are above it."""
        return self.of_above(above, others) * self.scale(1)

    def worst_and_best(self, n: int) -> tuple[float, float]:
        """Return the exact metric of a single relevant item at rank n and at rank 1."""
        worst, best = self.of_one([n - 1, 0], n - 1).tolist()
        return worst, best

    def scale(self, relevant: int) -> float:
        """Return the factor that turns the sum over ``relevant`` relevant items into the metric."""
        return KINDS[self.name].scale(relevant, np.inf if self.k is None else self.k)

    def scales(self, relevant: NDArray[np.int64]) -> Floats:
        """Return :meth:`scale` for each number of relevant items in an array."""
        occur = np.bincount(relevant) > 0
        return np.array([self.scale(r) if x else 0.0 for r, x in enumerate(occur)])[relevant]

    def __call__(self, rank: ArrayLike, n: ArrayLike) -> Floats:
        """Return the exact metric of one relevant item at each rank (Krichene & Rendle, eq. 7-13).

        The metric lies in 0..1.

        ``rank`` holds integers in 1..n, any shape; ``n`` is the number of candidates including the
        relevant item, at most 10^12: one number, or one number per rank.
        """
        n_array = checks.candidates("n", n)
        return self.of_one(checks.ranks("rank", rank, n_array) - 1, n_array - 1)

    def of_set(self, ranks: ArrayLike, n: int) -> float:
        """Return the exact metric of one instance that may have several relevant items.

        The ``ranks`` of the relevant items are distinct, in any order. At least one item of the
        ``n`` candidates must be irrelevant.
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
        terms = [self.of_above(r - j, n - size, j) for j, r in enumerate(places.tolist(), start=1)]
        return float(sum(terms)) * self.scale(size)


def _plain(text: str) -> str:
    return re.sub(r"[\s_\-]", "", text).lower()


def _name_of(text: str) -> str:
    """Return the name of a metric from a text without a cutoff, or "" if the text is unknown."""
    plain = _plain(text)
    rows = ((name, _plain(name), _plain(kind.label), *kind.aliases) for name, kind in KINDS.items())
    return next((name for name, *aliases in rows if plain in aliases), "")


def _known() -> str:
    """Return one text with the spelling of every metric: Recall@k, NDCG, NDCG@k, ..."""
    ends = {"never": [""], "optional": ["", "@k"], "always": ["@k"], "share": ["@x"]}
    return ", ".join(kind.label + end for kind in KINDS.values() for end in ends[kind.cutoff])


def metric(name: str, *, k: float | None = None) -> Metric:
    """Make a metric from its name and cutoff.

    Parameters
    ----------
    name
        One of ``"auc" "precision" "recall" "ap" "ndcg" "rr" "hit_rate" "topk" "atop"``, or an alias
        such as ``"hr"`` or ``"mrr"``.
    k
        Cutoff; for TOPK a share of the list, in 0..1. If None, the metric has no cutoff.

    Examples
    --------
    >>> str(metric("ndcg", k=10))
    'NDCG@10'
    >>> str(metric("topk", k=0.02))
    'TOPK@0.02'
    """
    known = _name_of(checks.text("metric", name))
    if not known:
        raise ValueError(f"unknown metric {name!r}: known are {_known()}")
    if KINDS[known].cutoff == "share":
        return Metric(cast(MetricName, known), share=k)
    return Metric(cast(MetricName, known), cast(int | None, k))


def _meant(name: str) -> str | None:
    """Return a hint if only the @ before the cutoff is missing, as in "Recall10"; else None."""
    match = re.fullmatch(r"(.*?[^\d\s_-])[\s_-]*(\d+)", name)
    kind = KINDS.get(_name_of(match[1])) if match else None
    if match is None or kind is None or kind.cutoff not in ("always", "optional"):
        return None
    return f"write {kind.label}@{match[2]}"


def _share(text: str, given: str) -> float:
    """Read a share of the list, such as 0.02 or 2%."""
    match = re.fullmatch(r"([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)\s*(%?)", given)
    # Use decimal arithmetic, because in floating point 0.7 / 100 differs from 0.007.
    share = float(Decimal(match[1]) / (100 if match[2] else 1)) if match else -1.0
    if not 0 <= share <= 1:
        cutoff = f"cutoff of {text!r} is {given!r}"
        raise ValueError(f"{cutoff}: TOPK takes a share of the list, TOPK@0.02 or TOPK@2%")
    return share


def parse_metric(text: str) -> Metric:
    """Read a metric from its text, as ``str`` gives it; other common spellings are accepted.

    Parameters
    ----------
    text
        For example ``"NDCG@10"``, ``"HR@10"``, ``"MRR"``, ``"MAP@5"``, ``"recall_at_20"``,
        ``"TOPK@2%"``.

    Raises
    ------
    ValueError
        If the name is unknown, or the cutoff is missing, or it is not a whole number (for TOPK, not
        a share).

    Examples
    --------
    >>> str(parse_metric("HR@10")), parse_metric("MRR").name
    ('HitRate@10', 'rr')
    """
    text = checks.text("metric", text)
    match = re.fullmatch(r"(.+?)(?:\s*(?:@|_at_|\bat\b)\s*(.*)|[_\s]+(\d+))?", text.strip())
    name, k = (match[1], match[2] if match[2] is not None else match[3]) if match else ("", None)
    known = _name_of(name)
    if not known and name.lower() not in ("acc", "accuracy"):
        raise ValueError(f"unknown metric {shown(text)}: {_meant(name) or f'known are {_known()}'}")
    if known and KINDS[known].cutoff == "share":
        return metric(name, k=None if k is None else _share(text, k))
    if k is not None and not re.fullmatch("[+-]?[0-9]{1,18}", k):
        raise ValueError(f"cutoff of {text!r} is {k!r}: write a whole number, such as {name}@10")
    if not known:
        # Accuracy is Recall at cutoff 1 (Krichene & Rendle, section 3.1).
        name, k = "recall", k or "1"
    return metric(name, k=None if k is None else int(k))


def as_metric(value: Metric | str) -> Metric:
    """Return a metric unchanged; convert a text such as "NDCG@10" to a metric."""
    return value if isinstance(value, Metric) else parse_metric(value)
