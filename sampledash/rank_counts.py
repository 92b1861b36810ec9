"""Relevant items as arrays, in which items with equal values share one entry and are counted."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np
from numpy.typing import NDArray

from sampledash.types import Floats, Ints

T = TypeVar("T")
_KEPT = 1 << 22  # largest number of numbers that a RankCounts object caches


@dataclass(frozen=True, eq=False)
class RankCounts:
    """Relevant items as arrays, in which one entry can stand for several equal items.

    ``count`` holds the number of relevant items that each entry stands for. These items are equal
    in all other arrays.

    Such an item is the ``position``-th best of the ``relevant`` relevant items of its instance. Of
    the instance's ``negatives`` irrelevant items, ``above`` are strictly above the item, and
    ``tied`` are tied with it. ``mass`` is the share of the sampling weight above the item, or None.
    ``classes`` and ``strata`` are as in :class:`~sampledash.RankSet`.
    """

    above: Ints
    negatives: Ints
    tied: Ints
    position: Ints
    relevant: Ints
    mass: Floats | None
    count: Floats
    classes: Floats | None = None
    strata: Floats | None = None

    def __len__(self) -> int:
        return len(self.count)

    @property
    def instances(self) -> float:
        """Number of instances."""
        return float(self.count[self.position == 1].sum())

    @property
    def positions(self) -> list[int]:
        """The positions (1 for the best relevant item) that occur, in increasing order."""
        return np.flatnonzero(np.bincount(self.position)).tolist()

    @property
    def columns(self) -> list[NDArray[Any]]:
        """All arrays except ``count``: items that are equal in all of them may share an entry."""
        mass = [] if self.mass is None else [self.mass]
        groups = [x.reshape(len(self), -1) for x in (self.classes, self.strata) if x is not None]
        columns = [self.position, self.relevant, self.tied, self.negatives, self.above]
        return [*columns, *mass, *(column for x in groups for column in x.T)]

    @property
    def arrays(self) -> list[NDArray[Any] | None]:
        """All fields in their order."""
        return [getattr(self, field.name) for field in fields(self)]

    @cached_property
    def populations(self) -> dict[int, int]:
        """Rounded mean number of candidates of the best (1), second best (2), ... relevant items.

        The candidates of a relevant item are the item itself and its instance's irrelevant items.
        """
        sizes = {}
        for j in self.positions:
            at_position = self.position == j
            sizes[j] = rounded_mean(self.negatives[at_position], self.count[at_position]) + 1
        return sizes

    @cached_property
    def _results(self) -> dict[Hashable, tuple[int, Any]]:
        return {}

    def cached(self, key: Hashable, size: int, make: Callable[[], T]) -> T:
        """Return the result cached under ``key``, or call ``make`` and cache its result.

        The result holds about ``size`` numbers. The cache is emptied before it exceeds _KEPT.
        """
        # Several threads may use the cache at the same time, so look up the entry only once.
        if (entry := self._results.get(key)) is None:
            if size + sum(x for x, _ in [*self._results.values()]) > _KEPT:
                self._results.clear()
            entry = self._results[key] = size, make()
        return cast(T, entry[1])

    def __getitem__(self, keep: NDArray[Any]) -> RankCounts:
        if keep.dtype == bool and np.all(keep):  # usually all items are selected
            return self
        columns: list[Any] = [None if x is None else x[keep] for x in self.arrays]
        return RankCounts(*columns)


def codes_of(labels: NDArray[Any]) -> tuple[Ints, int]:
    """Give each distinct label a number: 0, 1, ... by first appearance.

    Return the number of each label in ``labels``, and how many distinct labels there are.
    """
    if labels.dtype.kind in "iu" and np.all(labels[1:] > labels[:-1]):
        # The labels are increasing, so all differ, and the i-th label gets the number i.
        return np.arange(len(labels)), len(labels)
    listed = labels.tolist()
    distinct = dict.fromkeys(listed)
    if len(distinct) == len(listed):
        return np.arange(len(listed)), len(listed)
    number = dict(zip(distinct, range(len(distinct)), strict=True))
    return np.fromiter(map(number.__getitem__, listed), np.int64, len(listed)), len(distinct)


def rounded_mean(values: Ints | list[int], weights: Floats | list[float]) -> int:
    """Return the weighted mean, rounded to the nearest whole number; a half is rounded up."""
    return int(np.floor(np.average(values, weights=weights) + 0.5))


def _numbered(values: NDArray[Any]) -> tuple[Ints, int]:
    """Map values to whole numbers from 0, so that a larger value gets a larger number.

    Also return the largest of these numbers plus 1, which is below 2^31.
    """
    if values.dtype.kind == "f" or np.ptp(values) >= 2**31 - 1:
        values = np.unique(values, return_inverse=True)[1]
    low = int(values.min())
    return values - low, int(values.max()) - low + 1


def unique_rows(columns: Sequence[NDArray[Any]]) -> tuple[Ints, Ints]:
    """Group equal rows of a table given by its columns; groups are in lexicographic order.

    Return the index of the first row of each group, and the number of each row's group.
    """
    key, size = np.zeros(len(columns[0]), dtype=np.int64), 1
    for column in columns:
        if np.any(column != column[:1]):  # skip constant columns, which have no effect
            code, among = _numbered(column)
            if size >= 2**31:
                key, size = _numbered(key)
            key, size = key * among + code, size * among
    if size > 4 * len(key):
        return np.unique(key, return_index=True, return_inverse=True)[1:]
    # Equal rows have equal keys. The keys are below ``size``, which is small, so a table of keys is
    # faster than sorting. The table is filled backwards, so that the first row of each key remains.
    first = np.full(size, -1)
    first[key[::-1]] = np.arange(len(key))[::-1]
    occurs = first >= 0
    return first[occurs], (np.cumsum(occurs) - 1)[key]


def all_of(parts: Sequence[RankCounts]) -> RankCounts:
    """Concatenate the relevant items of several systems."""
    several = zip(*(part.arrays for part in parts), strict=True)
    columns: list[Any] = [None if x[0] is None else np.concatenate(x) for x in several]
    return RankCounts(*columns)


def distinct_over_systems(
    parts: Sequence[RankCounts], uniform: bool = False
) -> tuple[RankCounts, list[Ints]]:
    """Return the distinct relevant items of all systems, and the index of each system's items.

    Items are joined into one if they are equal in all arrays except ``count`` and ``relevant``. The
    counts of joined items are added. ``relevant`` has no meaning in the result, because no
    distribution of sampled ranks needs it. There is an array for each system: it holds, for each
    item of the system, the index of this item in the result.

    ``uniform`` says that all candidates are drawn with equal probability. Arrays that only matter
    otherwise (``mass``, ``classes`` and ``strata``) are then left out.
    """
    if uniform:
        parts = [replace(part, mass=None, classes=None, strata=None) for part in parts]
    whole = all_of(parts)
    first, inverse = unique_rows([x for x in whole.columns if x is not whole.relevant])
    count = np.bincount(inverse, whole.count, len(first)).astype(np.float64)
    ends = np.cumsum([len(part) for part in parts])[:-1]
    return replace(whole[first], count=count), np.split(inverse, ends)


def one_item_per_instance(counts: RankCounts) -> RankCounts:
    """Make each relevant item an instance with all other items as negatives.

    The metrics TOPK and ATOP rank a relevant item among all other items, relevant ones included.
    """
    alone = np.ones_like(counts.position)
    above = counts.above + counts.position - 1
    negatives = counts.negatives + counts.relevant - 1
    return replace(counts, above=above, negatives=negatives, position=alone, relevant=alone)
