"""Distinct relevant items of a rank set with their counts: what every computation runs on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from sampledash.types import Floats, Ints

Ties = Literal["expected", "optimistic", "pessimistic"]


@dataclass(frozen=True)
class RankCounts:
    """Distinct relevant items of a rank set and how often each occurs; one array entry per atom.

    A relevant item that is the ``position``-th of ``relevant`` ones has ``above`` of ``negatives``
    irrelevant items certainly above it and ``tied`` more tied with it.
    """

    above: Ints
    negatives: Ints
    tied: Ints
    position: Ints
    relevant: Ints
    mass: Floats | None
    count: Floats

    def __len__(self) -> int:
        return len(self.count)

    @property
    def instances(self) -> float:
        """How many instances these are."""
        return float(self.count[self.position == 1].sum())

    @property
    def positions(self) -> list[int]:
        """The positions that occur, 1 first."""
        return [int(j) for j in np.unique(self.position)]

    @property
    def columns(self) -> list[NDArray[Any]]:
        """What tells one atom from another."""
        columns: list[NDArray[Any]] = [self.position, self.relevant, self.tied]
        columns += [self.negatives, self.above]
        return columns if self.mass is None else [*columns, self.mass]

    def __getitem__(self, keep: NDArray[Any]) -> RankCounts:
        size = int(np.count_nonzero(keep)) if keep.dtype == bool else len(keep)

        def kept(column: NDArray[Any]) -> NDArray[Any]:
            # One value for all rows needs no room of its own.
            if not len(column) or column.strides != (0,):
                return np.asarray(column[keep])
            return column[:size] if size <= len(column) else np.broadcast_to(column[0], size)

        fields: dict[str, Any] = {x: v if v is None else kept(v) for x, v in vars(self).items()}
        return RankCounts(**fields)


def codes_of(labels: NDArray[Any]) -> tuple[Ints, int]:
    """Number the labels 0, 1, 2 ... in the order of first appearance."""
    if labels.dtype.kind in "iu":
        if np.all(labels[1:] > labels[:-1]):  # as a numbering is: nothing to look for
            return np.arange(len(labels)), len(labels)
        _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
        order = np.empty(len(first), dtype=np.int64)
        order[np.argsort(first)] = np.arange(len(first))
        return order[inverse], len(first)
    table: dict[Any, int] = {}
    listed = labels.tolist()
    codes = np.fromiter((table.setdefault(x, len(table)) for x in listed), np.int64, len(listed))
    return codes, len(table)


def unique_rows(columns: Sequence[NDArray[Any]]) -> tuple[Ints, Ints]:
    """Distinct rows of a table: index of the first row of each, and which of them every row is.

    Numbers are at least 0, and the distinct rows in increasing order.
    """
    key = np.zeros(len(columns[0]), dtype=np.int64)
    size = 1
    for column in columns if len(key) else ():
        as_int = column.view(np.int64) if column.dtype == np.float64 else column
        low, high = int(as_int.min()), int(as_int.max())
        if low == high:
            continue
        if high - low >= 2**31:
            as_int, low = np.unique(as_int, return_inverse=True)[1], 0
            high = int(as_int.max())
        if size * (high - low + 1) >= 2**62:
            key = np.unique(key, return_inverse=True)[1]
            size = int(key.max()) + 1
        key = key * (high - low + 1) + (as_int - low)
        size *= high - low + 1
    if size > 4 * len(key):
        _, first, inverse = np.unique(key, return_index=True, return_inverse=True)
        return first.astype(np.int64), inverse.astype(np.int64)
    place = np.full(size, -1)  # dense: no need to sort
    place[key[::-1]] = np.arange(len(key))[::-1]  # the last one written is the first row
    first = place[place >= 0]
    place[key[first]] = np.arange(len(first))
    return first, place[key]


def distinct_over_systems(parts: Sequence[RankCounts]) -> tuple[RankCounts, list[Ints]]:
    """Atoms that have a law of their own among those of several rank sets, and where they are.

    Their counts are summed; ``relevant`` means nothing.
    """
    fields: dict[str, Any] = {}
    for name, column in vars(parts[0]).items():
        every = [getattr(part, name) for part in parts]
        fields[name] = None if column is None else np.concatenate(every)
    whole = RankCounts(**fields)
    first, inverse = unique_rows([x for x in whole.columns if x is not whole.relevant])
    count = np.bincount(inverse, whole.count, len(first)).astype(np.float64)
    ends = np.cumsum([len(part) for part in parts])[:-1]
    return replace(whole[first], count=count), np.split(inverse, ends)


def resolve_ties(atoms: RankCounts, ties: Ties) -> RankCounts:
    """Keep the tied blocks ("expected"), or put the relevant item first or last in them."""
    if ties == "expected":
        return atoms
    above = atoms.above + atoms.tied if ties == "pessimistic" else atoms.above
    return replace(atoms, above=above, tied=np.zeros_like(atoms.tied))


def one_item_per_instance(atoms: RankCounts) -> RankCounts:
    """Every relevant item as an instance of its own, the other relevant ones among its negatives.

    So TOPK and ATOP are defined, and so Steck draws: from all other items.
    """
    alone = np.ones_like(atoms.position)
    return replace(
        atoms,
        above=atoms.above + atoms.position - 1,
        negatives=atoms.negatives + atoms.relevant - 1,
        position=alone,
        relevant=alone,
    )


def counted(rows: RankCounts) -> RankCounts:
    """Join equal rows, adding their counts."""
    first, inverse = unique_rows(rows.columns)
    return replace(rows[first], count=np.bincount(inverse, rows.count).astype(np.float64))


def repeat_by_count(rows: RankCounts) -> RankCounts:
    """Repeat each instance as often as its count; ``rows`` are sorted by instance and position."""
    starts = np.flatnonzero(rows.position == 1)
    times = rows.count[starts].astype(np.int64)
    first, length = np.repeat(starts, times), np.repeat(rows.relevant[starts], times)
    before = np.r_[0, np.cumsum(length)[:-1]]
    repeated = rows[np.repeat(first - before, length) + np.arange(length.sum())]
    return replace(repeated, count=np.ones(len(repeated)))
