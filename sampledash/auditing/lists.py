"""Lists of negatives as numbers: items and instances are numbered in the order of their labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from sampledash import checks
from sampledash.lab.interactions import Interactions
from sampledash.types import Floats, Ints

Negatives = ArrayLike | Sequence[ArrayLike]


@dataclass(frozen=True, eq=False)
class Lists:
    """Lists of negatives, a row each. Draws are sorted by row and, within a row, by item."""

    lengths: Ints
    row: Ints  # of each draw
    item: Ints
    instances: Ints  # instance of each row
    positive: Ints  # relevant item of each row; -1 if unknown
    places: Ints | None  # place of the relevant item in the list that holds it too, from 1
    items: NDArray[Any]  # labels of the catalogue
    popularity: Floats | None  # interactions of each item
    seen: csr_array  # rows × items: 1 for what the instance has interacted with

    @property
    def keys(self) -> Ints:
        """A number for each draw that is the same for equal items of a row only."""
        return self.row * len(self.items) + self.item


def lists_of(
    negatives: Negatives, positives: Any, interactions: Any, instances: Any, places: Any
) -> Lists:
    """Return checked and numbered lists; the arguments are those of :func:`audit`."""
    right = None if positives is None else _labels("positives", positives)
    parts = _parts(negatives, 1 if right is None else len(right))
    flat, lengths = np.concatenate(parts), np.array([len(part) for part in parts])
    rows = len(parts)
    checks.rows("negatives", flat, "item")
    named = np.arange(rows) if instances is None else _labels("instances", instances)
    for name, array in (("positives", right), ("instances", named)):
        if array is not None:
            checks.length(name, array, rows, f"a label for each of the {rows:,} lists")
    if places is not None:
        places = checks.integers("places", places, low=1)
        checks.length("places", places, rows, f"a place for each of the {rows:,} lists")
    users, taken = (flat[:0], flat[:0]) if interactions is None else _pairs(interactions)
    known = flat[:0] if right is None else right
    items, (item, positive, taken) = _numbered(flat, known, taken)
    users_named, (instance, user) = _numbered(named, users)
    if interactions is not None:
        for name, codes, others, labels in (
            ("instance", instance, user, users_named),
            ("negative", item, taken, items),
        ):
            if not np.isin(codes, others).any():
                mine, theirs = (checks.shown(labels[x[0]]) for x in (codes, others))
                raise ValueError(
                    f"interactions hold no {name} of the lists, such as {mine}, but {theirs}: give "
                    "both the same labels"
                )
    shape = len(users_named), len(items)
    seen = csr_array((np.ones(len(user)), (user, taken)), shape=shape)
    seen.sum_duplicates()
    seen.data[:] = 1.0
    row = np.repeat(np.arange(rows), lengths)
    order = np.lexsort((item, row))
    popularity = np.bincount(taken, minlength=len(items)).astype(np.float64)
    return Lists(
        lengths,
        row,
        item[order],
        instance,
        np.full(rows, -1) if right is None else positive,
        places,
        items,
        None if interactions is None else popularity,
        seen[instance],
    )


def _parts(negatives: Any, rows: int) -> list[NDArray[Any]]:
    """Return the labels of each list; one list for all is repeated ``rows`` times."""
    if isinstance(negatives, np.ndarray) and negatives.ndim == 2:
        flat = _labels("negatives", negatives.ravel())
        return list(flat.reshape(negatives.shape))
    given = checks.several("negatives", negatives, "list of items")
    if not any(isinstance(part, Sequence | np.ndarray) and not isinstance(part, str)
               for part in given):  # fmt: skip
        return [_labels("negatives", given)] * rows
    sizes = [checks.array_of("negatives", part).size for part in given]
    whole = [np.atleast_1d(part) for part in given if len(np.atleast_1d(part))]
    flat = _labels("negatives", np.concatenate(whole) if whole else [])
    return np.split(flat, np.cumsum(sizes)[:-1])


def _labels(name: str, values: Any) -> NDArray[Any]:
    """Return labels as whole numbers if all of them are, else as text."""
    array = checks.labels(name, values)
    if array.ndim != 1:
        raise ValueError(f"{name} must be a list of labels, got {checks.shown(values)}")
    if array.dtype.kind in "iuf":
        return checks.integers(name, array, low=-checks.TOO_LARGE)
    return np.array([checks.text(name, label) for label in array.tolist()], dtype=str)


def _pairs(interactions: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the labels of the instance and of the item of each interaction."""
    if isinstance(interactions, Interactions):
        x = interactions
        return _labels("users", x.users)[x.user], _labels("items", x.items)[x.item]
    table = checks.labels("interactions", interactions)
    if table.ndim != 2 or table.shape[1] != 2 or not len(table):
        raise ValueError(
            f"interactions must be pairs (instance, item), got shape {table.shape}: give two "
            "columns, or read a file with sampledash.read_interactions"
        )
    return _labels("interactions", table[:, 0]), _labels("interactions", table[:, 1])


def _numbered(*columns: NDArray[Any]) -> tuple[NDArray[Any], list[Ints]]:
    """Return the distinct labels of all columns in order, and the index of each label in them."""
    if len({column.dtype.kind for column in columns if len(column)}) > 1:
        columns = tuple(column.astype(str) for column in columns)
    whole = np.concatenate([column for column in columns if len(column)] or [columns[0]])
    labels, codes = np.unique(whole, return_inverse=True)
    return labels, np.split(codes, np.cumsum([len(column) for column in columns])[:-1])
