"""Lists of negatives as numbers: items and instances are numbered in the order of their labels."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sampledash import checks
from sampledash.lab.interactions import Interactions
from sampledash.readers.columns import plain_integers
from sampledash.types import Floats, Ints


class Lists(NamedTuple):
    """Lists of negatives, numbered from 0 in the order of the input.

    ``lengths`` holds the number of negatives of each list. ``row`` and ``item`` have an entry for
    each negative of each list, sorted by list and item.
    """

    lengths: Ints
    row: Ints  # for each negative, the index of its list
    item: Ints
    instance: Ints  # for each list, the index of its instance
    positive: csr_array  # lists × items: 1 for the relevant item, if it is known
    places: Ints | None  # position (from 1) of the relevant item among its negatives, if known
    items: NDArray[Any]  # labels of all items
    popularity: Floats | None  # number of interactions of each item
    seen: csr_array  # lists × items: 1 for training items (history) of the list's instance


def lists_of(negatives: Any, positives: Any, train: Any, instances: Any, places: Any) -> Lists:
    """Check the arguments of :func:`audit`, and return them as :class:`Lists`.

    ``train`` holds the training data, the argument ``interactions`` of :func:`audit`.
    """
    # A loop over a dict or a table would give its keys, not its lists.
    if isinstance(negatives, dict) or hasattr(negatives, "columns"):
        raise ValueError("negatives must be a list of lists, got a dict or table: give its values")
    given = checks.several("negatives", negatives, "list of items")
    relevant = None if positives is None else _labels("positives", positives)
    parts = [checks.labels("negatives", part) for part in given]
    if not any(part.ndim for part in parts):  # all instances share a single list
        parts = [np.array(given)] * (1 if relevant is None else len(relevant))
    flat = _labels("negatives", np.concatenate([part.ravel() for part in parts]))
    lengths, rows = np.array([part.size for part in parts]), np.arange(len(parts))
    if not lengths.all():
        raise ValueError(f"list {lengths.argmin() + 1} of negatives is empty: leave it out")
    named = rows if instances is None else _labels("instances", instances)
    places = None if places is None else checks.integers("places", places, low=1)
    for name, array in (("positives", relevant), ("instances", named), ("places", places)):
        if array is not None:
            checks.length(name, array, len(rows), f"one for each of the {len(rows):,} lists")
    if places is not None and np.any(beyond := places > lengths + 1):
        wrong = f"the place {places[beyond][0]} of list {beyond.argmax() + 1} is beyond its end"
        raise ValueError(f"{wrong}: count the negatives and the relevant item")
    users, taken = [flat[:0]] * 2 if train is None else _pairs(train)
    for what, mine, theirs in (("instance", named, users), ("negative", flat, taken)):
        if len(theirs) and not np.isin(mine, theirs).any():
            other = f"no {what} of the lists, but {checks.shown(theirs[0])} where the lists have"
            needed = f"{checks.shown(mine[0])}: write the same labels in both"
            raise ValueError(f"interactions hold {other} {needed}")
    known = flat[:0] if relevant is None else relevant
    items, item, positive, taken = _numbered(flat, known, taken)
    names, instance, user = _numbered(named, users)
    row = np.repeat(rows, lengths)
    return Lists(
        *(lengths, row, item[np.lexsort((item, row))], instance),
        *(_marks(rows[: len(known)], positive, (len(rows), len(items))), places, items),
        None if train is None else np.bincount(taken, minlength=len(items)).astype(float),
        _marks(user, taken, (len(names), len(items)))[instance],
    )


def _marks(row: Ints, column: Ints, shape: tuple[int, int]) -> csr_array:
    """Return a sparse matrix with 1 at the given rows and columns, and 0 elsewhere."""
    marks = csr_array((np.ones(len(row)), (row, column)), shape=shape)
    marks.sum_duplicates()
    marks.data[:] = 1
    return marks


def _labels(name: str, values: Any) -> NDArray[Any]:
    """Return labels as whole numbers if all labels are whole numbers, otherwise as text."""
    array = checks.labels(name, values)
    if array.ndim != 1 or not array.size:
        raise ValueError(f"{name} must be a list of labels, got {checks.shown(values)}")
    if array.dtype.kind in "iuf":
        return checks.integers(name, array, low=-checks.TOO_LARGE)
    text = [checks.text(name, label) for label in array.tolist()]
    numbers = plain_integers(pa.array(text))
    return np.array(text) if numbers is None else numbers


def _pairs(interactions: Any) -> list[NDArray[Any]]:
    """Return the labels of the instance and of the item of each interaction."""
    if isinstance(interactions, Interactions):
        x = interactions
        return [_labels("users", x.users)[x.user], _labels("items", x.items)[x.item]]
    table = checks.labels("interactions", interactions)
    if table.ndim != 2 or table.shape[1] != 2:
        got = f"got shape {table.shape}: give 2 columns"
        raise ValueError(f"interactions must be pairs (instance, item), {got}")
    return [_labels("interactions", column) for column in table.T]


def _numbered(*columns: NDArray[Any]) -> list[Any]:
    """Return the sorted distinct labels of all columns, and each column as indices of labels."""
    filled = [column for column in columns if len(column)]
    if len({column.dtype.kind for column in filled}) > 1:
        filled = [column.astype(str) for column in filled]
    labels, codes = np.unique(np.concatenate(filled), return_inverse=True)
    return [labels, *np.split(codes, np.cumsum([len(column) for column in columns])[:-1])]
