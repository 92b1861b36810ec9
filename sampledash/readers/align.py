"""Whether the systems can be compared: do they cover the same instances?"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sampledash.readers.errors import DifferentInstances
from sampledash.readers.rows import Rows

Instances = Literal["same", "shared", "any"]
Index = NDArray[np.intp]


def aligned(rows: Rows, groups: list[Index], instances: Instances) -> list[Index]:
    """Return the groups if they cover the same instances; or, if wanted, their shared part.

    Parameters
    ----------
    rows
        All entries.
    groups
        Entries of each system.
    instances
        ``"same"`` refuses what differs, ``"shared"`` keeps the instances that all systems have,
        ``"any"`` keeps everything.
    """
    if instances == "any" or len(groups) < 2:
        return groups
    if rows.label is None or rows.labels is None or rows.count is not None:
        # Nothing says which belong together; the rows of a histogram need not even be as many.
        _check_totals(rows, groups)
        return groups
    width = len(rows.labels)
    fewest = most = np.bincount(rows.label[groups[0]], minlength=width)
    for index in groups[1:]:
        items = np.bincount(rows.label[index], minlength=width)
        fewest, most = np.minimum(fewest, items), np.maximum(most, items)
    if np.array_equal(fewest, most):
        return groups
    shared = (fewest == most) & (fewest > 0)
    if instances == "same" or not shared.any():
        raise _different(rows, groups, int(shared.sum()))
    return [index[shared[rows.label[index]]] for index in groups]


def _check_totals(rows: Rows, groups: list[Index]) -> None:
    """Without labels nothing says which ranks belong together, so at least count them."""
    if rows.count is None:
        sizes = [float(len(index)) for index in groups]
        what, remedy = "ranks", "give each one rank per instance, add an instance column"
    else:
        sizes = [_total(rows, index) for index in groups]
        what, remedy = "instances by its counts", "complete the counts"
    odd = next((i for i, s in enumerate(sizes) if abs(s - sizes[0]) > 1e-9 * sizes[0]), None)
    if odd is not None:
        raise DifferentInstances(
            f"{rows.name}: system {rows.systems[0]!r} has {_number(sizes[0])} {what} and "
            f"{rows.systems[odd]!r} has {_number(sizes[odd])}; {remedy}, "
            'or compare them as they are (in Python: instances="any")'
        )


def _total(rows: Rows, index: Index) -> float:
    """Instances a system's rows stand for."""
    assert rows.count is not None
    count = rows.count[index]
    if rows.label is not None:  # rows of one label are relevant items of the same instances
        _, first = np.unique(rows.label[index], return_index=True)
        count = count[first]
    return float(count.sum())


def _number(value: float) -> str:
    return f"{value:,.0f}" if value == np.floor(value) else f"{value:,.10g}"


def _named(rows: Rows, code: int) -> str:
    assert rows.labels is not None
    return repr(str(rows.labels[code]))


def _different(rows: Rows, groups: list[Index], shared: int) -> DifferentInstances:
    assert rows.label is not None
    assert rows.labels is not None
    label, labels = rows.label, rows.labels
    width = len(labels)
    # A row that is blank for every system is nobody's lack.
    occurs = np.zeros(width, dtype=bool)
    for index in groups:
        occurs[label[index]] = True
    missing: dict[str, tuple[str, ...]] = {}
    parts: list[str] = []
    for name, index in zip(rows.systems, groups, strict=True):
        lacking = np.flatnonzero(occurs & (np.bincount(label[index], minlength=width) == 0))
        if len(lacking):
            few = tuple(str(labels[code]) for code in lacking[:3])
            missing[name] = few
            more = f" and {len(lacking) - 3:,} more" if len(lacking) > 3 else ""
            parts.append(f"{name!r} lacks {', '.join(map(repr, few))}{more}")
    if parts:
        rest = f"; {len(parts) - 2} more lack some" if len(parts) > 2 else ""
        what = f"the systems cover different instances: {'; '.join(parts[:2])}{rest}"
    else:
        what = _unequal(rows, groups)
    remedy = (
        f"All share {shared:,} of {occurs.sum():,} instances: compare those "
        '(in Python: instances="shared"), or complete the file'
        if shared
        else "They share none: complete the file, or compare them as they are "
        '(in Python: instances="any")'
    )
    return DifferentInstances(f"{rows.name}: {what}. {remedy}", shared, missing)


def _unequal(rows: Rows, groups: list[Index]) -> str:
    assert rows.label is not None
    width = 0 if rows.labels is None else len(rows.labels)
    counts = [np.bincount(rows.label[index], minlength=width) for index in groups]
    other = next(i for i, items in enumerate(counts) if not np.array_equal(items, counts[0]))
    code = int(np.argmax(counts[other] != counts[0]))
    return (
        f"instance {_named(rows, code)} has {counts[0][code]} relevant items in "
        f"{rows.systems[0]!r} and {counts[other][code]} in {rows.systems[other]!r}"
    )
