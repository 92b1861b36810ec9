"""True ranks of one recommender: a :class:`RankSet` has one row per relevant item."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sampledash import checks
from sampledash.by_weight import ABOVE, TIED, WEIGHT, check_classes
from sampledash.metrics import Metric
from sampledash.rank_counts import RankCounts, codes_of, unique_rows
from sampledash.types import ByDigest, Flags, Floats, Ints, blocks, digest_of

Ties = Literal["expected", "optimistic", "pessimistic"]


@dataclass(frozen=True, eq=False, init=False)
class RankSet(ByDigest):
    """True ranks of one recommender over the instances of an evaluation.

    Parameters
    ----------
    system
        Name of the recommender.
    ranks
        Rank of each relevant item among its candidates: integers from 1. For a tied item, or where
        ``beyond`` is true, it is the best possible rank.
    n
        Number of candidates, including relevant items, at most 10^12: one number, or one number per
        row (equal within an instance).
    instances
        Label of the user or query of each row. Rows with the same label hold the relevant items of
        one instance. Without labels, every row is an instance of its own.
    ties
        Number of irrelevant items tied with the relevant item. Tied items are in random order, and
        ``ranks`` holds the best possible rank.
    mass_above
        Share of the irrelevant items' sampling weight that is above the relevant item, in 0..1: it
        is 0 if no irrelevant item is ranked above the relevant item, and 1 if all are. The
        scheme ``"popularity"`` uses it; other schemes raise an error, see :meth:`without_mass`.
    counts
        Number of instances that a row represents: positive, and equal within an instance.
    beyond
        Whether the true rank is unknown, except that it is at least the value in ``ranks``: for
        example 11 for an item that is missing from a list of the first 10.
    classes
        For schemes that draw by weight: irrelevant items by classes of equal sampling weight, shape
        (rows, 4, classes). For each row and class, the four numbers are the number of items above
        the relevant item, the number of items tied with it, the number of all items, and the weight
        of an item.
    strata
        For the scheme that draws a number of negatives from each stratum: irrelevant items by
        stratum, shape (rows, 4, strata). The first three numbers are those of ``classes``; the last
        is the number of items drawn from the stratum, or infinity if all its items are drawn.
    overlaps
        For negatives that systems share: a dictionary from the name of another system to the number
        of irrelevant items that both systems rank above the relevant item, shape (rows,). If items
        may be tied, the shape is (rows, 2, 2). Entry [row, i, j] counts the irrelevant items that
        are above the relevant item (i = 0) or tied with it (i = 1) in this ranking, and above it
        (j = 0) or tied with it (j = 1) in the ranking of the other system. Each instance must have
        one relevant item.
    provenance
        Text that says where the ranks come from: data, split, recommender, seed. Exports contain
        it; no computation uses it, and ``digest`` does not depend on it.

    Raises
    ------
    ValueError
        If a value is invalid; the message names the system, the column and the first such value.

    Notes
    -----
    Arrays are copied and read-only. Equality and hash use ``digest`` (SHA-256 of the contents).

    If several items of one instance lie beyond rank 10, their best possible ranks are 11, 12, ...,
    and ``ranks`` holds these values. A metric whose cutoff is before all of these ranks is exact.
    Functions that need the ranks themselves, such as sampling, raise an error. For a metric that is
    not exact, :func:`~sampledash.mean_range` returns the range of its mean.
    """

    system: str
    ranks: Ints
    n: Ints
    instances: NDArray[Any]
    ties: Ints
    mass_above: Floats | None
    counts: Floats
    beyond: Flags
    provenance: str
    classes: Floats | None
    strata: Floats | None
    overlaps: dict[str, Ints]
    _order: tuple[Ints | slice, Ints, Ints] = field(init=False)

    def __init__(
        self,
        system: str,
        ranks: ArrayLike,
        n: ArrayLike,
        *,
        instances: ArrayLike | None = None,
        ties: ArrayLike | None = None,
        mass_above: ArrayLike | None = None,
        counts: ArrayLike | None = None,
        beyond: ArrayLike | None = None,
        provenance: str = "",
        classes: ArrayLike | None = None,
        strata: ArrayLike | None = None,
        overlaps: Mapping[str, ArrayLike] | None = None,
    ) -> None:
        name = checks.text("system", system)
        where = f"of system {name!r}"
        rows = checks.rows(f"ranks {where}", ranks, "rank")

        def column(name: str, values: ArrayLike, check: Callable[..., NDArray[Any]]) -> Any:
            needed = f"one value for each of the {rows} ranks"
            return checks.column(f"{name} {where}", values, check, rows, needed)

        size = column("n", n, checks.candidates)
        rank = column("ranks", ranks, lambda _, values: checks.ranks(f"rank {where}", values, size))
        tied = column("ties", 0 if ties is None else ties, partial(checks.integers, low=0))
        if (i := checks.first(rank + tied > size)) is not None:
            block = f"rank {rank[i]} with {tied[i]} others tied reaches beyond n = {size[i]}"
            raise ValueError(f"ties {where}: {block}; `ranks` is the best rank of the tied block")
        given = np.arange(rows) if instances is None else instances
        labels = column("instances", given, checks.labels)
        count = column("counts", 1.0 if counts is None else counts, checks.numbers)
        if np.any(count <= 0):
            raise ValueError(f"counts {where} must be above 0, got {count[count <= 0][0]:g}")
        checks.total(f"counts {where}", count)
        mass = None
        if mass_above is not None:
            mass = column("mass_above", mass_above, checks.numbers)
            if np.any((mass < 0) | (mass > 1)):
                bad = mass[(mass < 0) | (mass > 1)][0]
                raise ValueError(f"mass_above {where} must be a share in 0..1, got {bad:g}")
        open_ended = column("beyond", False if beyond is None else beyond, checks.flags)
        if (i := checks.first(open_ended & (tied > 0))) is not None:
            hidden = f"an item whose rank is only known to lie beyond {rank[i] - 1}"
            raise ValueError(f"ties {where}: {tied[i]} others tied with {hidden}; give 0 there")
        columns = rank, size, labels, tied, mass, count, open_ended
        self._hold(name, *columns, provenance, None, None, {})
        object.__setattr__(self, "_order", self._sorted_rows())
        order, position, relevant = self._order
        numbers = np.empty((3, rows), dtype=np.int64)
        numbers[:, order] = rank[order] - position, tied[order], size[order] - relevant
        for what, values, whole in (("classes", classes, False), ("strata", strata, True)):
            if values is not None:
                array = check_classes(f"{what} {where}", values, numbers, whole=whole)
                object.__setattr__(self, what, array)
        named = f"overlaps {where}"
        needed = "give numbers of items by the name of the other system"
        checks.of_kind(named, overlaps, Mapping | None, "dictionary", needed)
        for other, inner in (overlaps or {}).items():
            self.overlaps[checks.text(named, other)] = self._overlap(f"{named}, {other!r}", inner)
        if mass is not None:
            self._check_mass(where, mass)

    def _overlap(self, what: str, given: ArrayLike) -> Ints:
        """Return one entry of ``overlaps`` in shape (rows, 2, 2); raise ValueError if invalid."""
        inner, rows = checks.array_of(what, given), len(self)
        if inner.shape == (rows,):
            inner = np.pad(inner[:, None, None], ((0, 0), (0, 1), (0, 1)))
        if inner.shape != (rows, 2, 2) or inner.dtype.kind not in "iu":
            fault = "give a whole number for each rank, or an array (ranks, 2, 2) of them"
        elif self.max_relevant > 1:
            fault = "an instance has several relevant items: leave the overlaps out"
        else:
            most = np.stack([self.ranks - 1, self.ties], axis=1)
            fits = np.all(inner >= 0, axis=(1, 2)) & np.all(inner.sum(axis=2) <= most, axis=1)
            if np.all(fits):
                return inner.astype(np.int64)
            i = int(np.argmin(fits))
            numbers = f"{most[i, 0]} items above and {most[i, 1]} tied"
            fault = f"{inner[i].tolist()} does not fit rank {self.ranks[i]}, with {numbers}"
        raise ValueError(f"{what}: {fault}")

    def _check_mass(self, where: str, mass: Floats) -> None:
        """Raise ValueError unless ``mass`` is 0 at the best rank and 1 at the worst rank.

        ``mass`` is the share of the sampling weight that is above each relevant item.
        """
        order, position, relevant = self._order
        above, known = self.ranks[order] - position, ~self.beyond[order]
        for end, share, who in ((0 * relevant, 0, "no"), (self.n[order] - relevant, 1, "every")):
            wrong = known & (above == end) & (np.abs(mass[order] - share) > _ROUNDED)
            if (i := checks.first(wrong)) is not None:
                given = f"{mass[order][i]:g} at rank {self.ranks[order][i]}"
                rule = f"{who} irrelevant item is ranked above: it is {share} there"
                raise ValueError(f"mass_above {where} is {given}, but {rule}")

    def _sorted_rows(self) -> tuple[Ints | slice, Ints, Ints]:
        """Return the order of the rows by instance and rank.

        Also return, in this order, each row's position among the relevant items of its instance,
        and the number of these items. Unknown ranks in ``self.ranks`` are set to their best
        possible values.
        """
        rows = len(self.ranks)
        codes, distinct = codes_of(self.instances)
        if distinct == rows:
            ones = np.broadcast_to(1, rows)
            return slice(None), ones, ones
        order = np.lexsort((self.beyond, self.ranks, codes))
        code = codes[order]
        starts = np.flatnonzero(np.r_[True, code[1:] != code[:-1]])
        sizes = np.diff(np.r_[starts, rows])
        position = np.arange(rows) - np.repeat(starts, sizes) + 1
        relevant = np.repeat(sizes, sizes)
        if self.beyond.any():
            # An item of unknown rank is below the relevant items before it in ``order``, and below
            # the items tied with them.
            least = self.ranks[order] - position + self.ties[order]
            above, at = np.unique(least, return_inverse=True)
            most = np.maximum.accumulate(code * len(above) + at) % len(above)
            ranks = np.array(self.ranks)
            ranks[order] = np.where(self.beyond[order], above[most] + position, ranks[order])
            ranks.setflags(write=False)
            object.__setattr__(self, "ranks", ranks)
        self._check_instances(order, code, relevant)
        return order, position, relevant

    def _check_instances(self, order: Ints, code: Ints, relevant: Ints) -> None:
        """Raise ValueError if the rows of an instance cannot all belong to one ranked list."""
        same = code[1:] == code[:-1]
        columns = (self.ranks, self.ties, self.n, self.counts)
        rank, tied, n, count = (column[order] for column in columns)
        block = "has two relevant items in one block of ties (rank {rank}): break that tie"
        twice = "holds rank {rank} twice: relevant items have distinct ranks; remove the repeat"
        faults = [
            (same & (rank[1:] == rank[:-1]), twice),
            (same & (rank[1:] <= rank[:-1] + tied[:-1]), block),
            (same & (n[1:] != n[:-1]), "has two values of n, {n} and {other}: give one"),
            (same & (count[1:] != count[:-1]), "has different counts in its rows: give one"),
            (relevant >= n, "has as many relevant items as candidates, n = {n}"),
            (self.beyond[order] & (rank > n), "has more items beyond its list than n = {n} allows"),
            (
                same & self.beyond[order][:-1] & ~self.beyond[order][1:],
                "has a known rank after one that lies beyond {before}: give it as beyond too",
            ),
        ]
        if self.mass_above is not None:
            mass = self.mass_above[order]
            falls = "has a mass_above that falls as the rank grows (rank {rank})"
            faults.append((same & (mass[1:] < mass[:-1]), falls))
        for bad, sentence in faults:
            if (i := checks.first(bad)) is not None:
                other = n[min(i + 1, len(n) - 1)]
                fault = sentence.format(rank=rank[i], before=rank[i] - 1, n=n[i], other=other)
                name = str(self.instances[order[i]])
                raise ValueError(f"instance {name!r} of system {self.system!r} {fault}")

    def __len__(self) -> int:
        return len(self.ranks)

    def __repr__(self) -> str:
        low, high = int(self.n.min()), int(self.n.max())
        n = f"{low}" if low == high else f"{low}..{high}"
        end = f", ranks beyond {self.largest_cutoff} unknown" * bool(self.beyond.any())
        return f"RankSet({self.system!r}, {self.n_instances:g} instances, n = {n}{end})"

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the contents as hexadecimal text, which caches use as a key."""
        columns: list[NDArray[Any] | None]
        columns = [self.ranks, self.n, self.ties, self.counts, self.mass_above]
        columns += [self.beyond] * bool(self.beyond.any())
        columns += [] if self.classes is None else [self.classes]
        columns += [] if self.strata is None else [None, self.strata]
        columns += self.overlaps.values()
        names = "".join(f" {other!r}" for other in self.overlaps)
        return digest_of(f"{self.system!r} {len(self)}{names}", columns, self.instances)

    @cached_property
    def n_instances(self) -> float:
        """Number of instances |D|: the sum of their counts."""
        order, position, _ = self._order
        return float(self.counts[order][position == 1].sum())

    @cached_property
    def max_relevant(self) -> int:
        """Largest number of relevant items of an instance."""
        return int(self._order[2].max())

    @cached_property
    def has_ties(self) -> bool:
        """Whether some relevant item is tied with an irrelevant one."""
        return bool(np.any(self.ties > 0))

    @property
    def max_negatives(self) -> int:
        """Largest number of irrelevant candidates of an instance: n minus its relevant items."""
        return int((self.n[self._order[0]] - self._order[2]).max())

    @cached_property
    def largest_cutoff(self) -> int | None:
        """Largest cutoff at which metrics are exact; None if every rank is known."""
        return int(self.ranks[self.beyond].min()) - 1 if self.beyond.any() else None

    def completed(self, best: bool) -> RankSet:
        """Return a copy in which unknown ranks have their best or, if not ``best``, worst values.

        The copy has no ``mass_above`` and no ``overlaps``, which depend on the true ranks.
        """
        ranks = np.array(self.ranks)
        if not best:
            order, position, relevant = self._order
            last = self.n[order] - relevant + position
            ranks[order] = np.where(self.beyond[order], last, ranks[order])
        known = np.zeros_like(self.beyond)
        return replace(self, ranks=ranks, beyond=known, mass_above=None, overlaps={})

    def without_mass(self) -> RankSet:
        """Return the rank set without ``mass_above``, which only the popularity scheme uses."""
        return self if self.mass_above is None else replace(self, mass_above=None)

    @cached_property
    def without_classes(self) -> RankSet:
        """The rank set without ``classes`` and ``strata``, for computations by rank alone."""
        plain = self.classes is None and self.strata is None
        return self if plain else replace(self, classes=None, strata=None)

    def with_power(self, power: float) -> RankSet:
        """Return the rank set with the sampling weights in its ``classes`` raised to this power."""
        if self.classes is None:
            lacks = f"system {self.system!r} has no classes, which hold the weights of items"
            raise ValueError(f"{lacks}: rank from scores (ranks_from_scores, weights=)")
        classes = self.classes.copy()
        classes[:, WEIGHT] **= power
        return replace(self, classes=classes)

    def with_overlaps(self, overlaps: Mapping[str, ArrayLike]) -> RankSet:
        """Return the rank set with this dictionary ``overlaps`` (see :class:`RankSet`)."""
        given: Any = overlaps
        return replace(self, overlaps=given)

    def require_known(self, metric: Metric | None = None, what: str = "sampling") -> None:
        """Raise ValueError if ranks are unknown, unless they are all beyond the metric's cutoff.

        If ``metric`` is None, ``what`` names the computation that needs every rank.
        """
        if (largest := self.largest_cutoff) is None:
            return
        if metric is None:
            what = f"{what} needs every rank"
        else:
            rank, n = self.ranks[self.beyond], self.n[self.beyond]
            sizes, at = np.unique(n, return_inverse=True)
            last = [metric.cut(size - 1) or size for size in sizes.tolist()]
            if np.all(np.array(last)[at] < rank):
                return
            what = f"{metric} needs ranks beyond"
        hidden = f"system {self.system!r} has ranks that are only known to lie beyond {largest}"
        advice = f"take a metric of all items with a cutoff, k = {largest} at most"
        raise ValueError(f"{hidden}, and {what}: {advice}, or rank more items")

    def counted(self, ties: Ties = "expected") -> RankCounts:
        """Return :class:`RankCounts` in which equal relevant items share one entry.

        Two items are equal if all arrays except ``count`` agree: the number of negatives above the
        item, the number tied with it, the number of all negatives, and so on.

        ``"expected"`` keeps items tied, ``"optimistic"`` ranks the relevant item before the
        irrelevant items tied with it, ``"pessimistic"`` after them.
        """
        checks.choice("ties", ties, get_args(Ties))
        tie_rule = ties if self.has_ties else "expected"
        if tie_rule not in self._counts:
            rows = self.rows(tie_rule)
            first, inverse = unique_rows(rows.columns)
            count = np.bincount(inverse, rows.count).astype(np.float64)
            self._counts[tie_rule] = replace(rows[first], count=count)
        return self._counts[tie_rule]

    @cached_property
    def _counts(self) -> dict[str, RankCounts]:
        return {}

    def rows(self, ties: Ties = "expected") -> RankCounts:
        """Return :class:`RankCounts` with one entry per row of the rank set.

        Entries are sorted by instance, and within an instance by rank.
        """
        order, position, relevant = self._order
        above, negatives = self.ranks[order] - position, self.n[order] - relevant
        tied, mass = self.ties[order], None if self.mass_above is None else self.mass_above[order]
        both = (None if x is None else x[order].copy() for x in (self.classes, self.strata))
        classes, strata = both
        if ties != "expected":
            above, tied = above + tied * (ties == "pessimistic"), np.zeros_like(tied)
            for groups in (classes, strata):
                if groups is not None:
                    groups[:, ABOVE] += groups[:, TIED] * (ties == "pessimistic")
                    groups[:, TIED] = 0
        numbers = above, negatives, tied, position, relevant, mass, self.counts[order]
        return RankCounts(*numbers, classes, strata)


_TABLE = 1 << 22  # approximate largest number of entries of a matrix in memory
_ROUNDED = 1e-6  # largest allowed rounding error of a ``mass_above`` that must be 0 or 1
_SEED = 0  # seed for drawing the order of tied items, so that repeated calls give the same ranks


def draw_shared_ties(lists: Ints, ranks: Ints, ties: Ints) -> tuple[Ints, Ints]:
    """Return ranks and ties after drawing an order for relevant items tied with each other.

    For each relevant item, ``lists`` says which ranked list it belongs to (equal numbers mean the
    same list), and ``ties`` is the number of all other items tied with it. Ranks change only for
    relevant items that are tied with each other; the ties of these items become 0.
    """
    order = np.lexsort((ranks, lists))
    fresh = (np.diff(lists[order]) != 0) | (np.diff(ranks[order]) != 0)
    starts = np.flatnonzero(np.r_[True, fresh])
    sizes = np.diff(np.r_[starts, len(order)])
    rng = np.random.default_rng(_SEED)
    ranks, ties = ranks.copy(), ties.copy()
    for start, size in zip(starts[sizes > 1], sizes[sizes > 1], strict=True):
        shared = order[start : start + size]
        ranks[shared] += rng.choice(ties[shared[0]] + 1, size, replace=False)
        ties[shared] = 0
    return ranks, ties


def first_items(ranks: RankSet) -> RankCounts:
    """Return the best relevant item of each instance, in the order of :meth:`RankSet.rows`."""
    rows = ranks.rows()
    return rows[rows.position == 1]


def require_ranks(value: object) -> None:
    """Raise ValueError if the value is not a rank set."""
    made = "make one with sampledash.RankSet(system, ranks, n)"
    checks.of_kind("ranks", value, RankSet, "RankSet", made)


def require_several(value: object) -> None:
    """Raise ValueError if the value is not a list of rank sets whose systems differ in name."""
    if isinstance(value, RankSet | Iterator):
        raise ValueError(f"sets must be a list of rank sets, got {checks.shown(value)}")
    names: set[str] = set()
    for rank_set in checks.several("sets", value, "rank set"):
        require_ranks(rank_set)
        name = rank_set.system
        if name in names:
            raise ValueError(f"system {name!r} occurs twice: give each rank set its own name")
        names.add(name)


def rank_distribution_at(ranks: RankSet, places: ArrayLike, *, ties: Ties = "expected") -> Floats:
    """Return, for each rank r in ``places``, the share of relevant items with true rank up to r.

    A tied item contributes the probability that a random order of the ties ranks it up to r.
    """
    at = np.floor(np.asarray(places, dtype=np.float64))
    atoms = ranks.counted(ties)
    total = np.zeros(len(at))
    for rows in blocks(len(atoms), _TABLE, len(at) + 1):
        some = atoms[np.arange(rows.start, rows.stop)]
        within = at - (some.above + some.position - 1)[:, None]
        total += (some.count / (some.tied + 1)) @ np.clip(within, 0, (some.tied + 1)[:, None])
    return np.asarray(total / atoms.count.sum())
