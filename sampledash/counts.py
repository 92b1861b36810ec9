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
    """Distinct relevant items of a rank set and how often each occurs; one array entry for each.

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
        """What tells one from another."""
        columns: list[NDArray[Any]] = [self.position, self.relevant, self.tied]
        columns += [self.negatives, self.above]
        return columns if self.mass is None else [*columns, self.mass]

    def __getitem__(self, keep: NDArray[Any]) -> RankCounts:
        columns: dict[str, Any] = {x: v if v is None else v[keep] for x, v in vars(self).items()}
        return RankCounts(**columns)


def codes_of(labels: NDArray[Any]) -> tuple[Ints, int]:
    """Number the labels 0, 1, 2 ... in the order of first appearance."""
    if labels.dtype.kind in "iu" and np.all(labels[1:] > labels[:-1]):  # nothing to look for
        return np.arange(len(labels)), len(labels)
    table: dict[Any, int] = {}
    listed = labels.tolist()
    codes = np.fromiter((table.setdefault(x, len(table)) for x in listed), np.int64, len(listed))
    return codes, len(table)


def rounded_mean(values: Ints | list[int], weights: Floats | list[float]) -> int:
    """The whole number next to a weighted mean, the larger of two."""
    return int(np.floor(np.average(values, weights=weights) + 0.5))


def unique_rows(columns: Sequence[NDArray[Any]]) -> tuple[Ints, Ints]:
    """Distinct rows of a table, increasing: the first of each kind, and the kind of every row."""
    order = np.lexsort(columns[::-1])
    new = np.arange(len(order)) == 0
    for column in columns:
        ordered = column[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    inverse = np.empty(len(order), dtype=np.int64)
    inverse[order] = np.cumsum(new) - 1
    return order[new], inverse


def distinct_over_systems(parts: Sequence[RankCounts]) -> tuple[RankCounts, list[Ints]]:
    """Items that have a law of their own among those of several rank sets, and where they are.

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


def one_item_per_instance(counts: RankCounts) -> RankCounts:
    """Every relevant item alone, the others among its negatives: so TOPK and ATOP are defined."""
    alone = np.ones_like(counts.position)
    return replace(
        counts,
        above=counts.above + counts.position - 1,
        negatives=counts.negatives + counts.relevant - 1,
        position=alone,
        relevant=alone,
    )
