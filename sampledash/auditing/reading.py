"""Lists of negatives in files: NCF's ``.test.negative``, or a table of instances and items."""

from __future__ import annotations

import io
import re
from collections.abc import Sequence
from itertools import chain
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sampledash.auditing.audit import Audit, audit
from sampledash.checks import shown
from sampledash.lab.reading import open_interactions
from sampledash.readers import upload_limits as limits
from sampledash.readers.columns import bare, plain_integers
from sampledash.readers.tables import headers_of
from sampledash.readers.upload_limits import PathOrBuffer, ReadError

_PAIR = re.compile(r"\(\s*([^,()]+?)\s*,\s*([^()]+?)\s*\)\s+(\S.*)")
NAMES = ("negatives", "positives", "instances", "places")


def audit_files(
    lists: tuple[PathOrBuffer, str], train: tuple[PathOrBuffer, str] | None = None
) -> Audit:
    """Return the audit of a file with lists of negatives; ``train`` is a file of interactions."""
    given, opened = read_lists(*lists), train and open_interactions(train[0], name=train[1])
    return audit(**given, interactions=opened and opened.interactions)


def read_lists(source: PathOrBuffer, name: str | None = None) -> dict[str, Any]:
    """Return a file's lists as the arguments of :func:`~sampledash.auditing.audit.audit`.

    A table has a row for each instance and item and, if it holds relevant items too, a column
    ``relevant`` (1 or 0). An instance with several relevant items has a list for each.

    Raises
    ------
    ReadError
        A ``ValueError`` whose message names file, line, value and remedy in one sentence.
    """
    data, called = limits.load(source, name)
    kind = limits.kind_of(data, called)
    if kind == "text" and data.lstrip().startswith(b"("):
        limits.check_utf8(data, called)
        return _of_pairs(data.decode(), called)
    column = next((header for header in headers_of(data, kind) if bare(header) == "relevant"), "")
    opened = open_interactions(io.BytesIO(data), name=called, rating=column, time="")
    table, order = opened.interactions, np.argsort(opened.interactions.user, kind="stable")
    marks = np.zeros(table.size) if table.rating is None else table.rating
    if (odd := marks[(marks != 0) & (marks != 1)]).size:
        raise ReadError(f"{called}: a cell of {column!r} is {odd[0]:g}; write 1 or 0")
    rows: list[tuple[Any, ...]] = []
    for user, part in enumerate(np.split(order, np.cumsum(np.bincount(table.user))[:-1])):
        labels, there, label = table.items[table.item[part]], marks[part] == 1, table.users[user]
        if not column:
            rows.append((labels, None, label, None))
            continue
        if there.all() or not there.any():
            lacks = "negative" if there.all() else "relevant item"
            raise ReadError(f"{called}: instance {shown(label)} has no {lacks}; add one")
        # Other relevant items of the instance do not count in the place of a relevant item.
        places = np.cumsum(~there) + 1
        rows += [(labels[~there], labels[x], label, places[x]) for x in np.flatnonzero(there)]
    columns = map(list, zip(*rows, strict=True))
    return {x: y if y[0] is not None else None for x, y in zip(NAMES, columns, strict=True)}


def _of_pairs(text: str, name: str) -> dict[str, Any]:
    """Return the lists of a file with a line ``(user,item)``, then negatives, for each list."""
    matches = []
    for line, row in enumerate(text.splitlines(), 1):
        if row.strip():
            matches.append(_PAIR.fullmatch(row.strip()))
            if matches[-1] is None:
                raise ReadError(
                    f"{name}, line {line}: {shown(row[:30])} is no list; write (user,item), then "
                    "its negatives, with tabs between them"
                )
    users, items, rest = zip(*(match.groups() for match in matches if match), strict=True)
    negatives = [part.split() for part in rest]
    flat = np.split(_labels([*chain(*negatives)]), np.cumsum(list(map(len, negatives)))[:-1])
    return dict(zip(NAMES, (flat, _labels(items), _labels(users), None), strict=True))


def _labels(written: Sequence[str]) -> NDArray[Any]:
    """Return labels as whole numbers if all of them are written so, else as text."""
    numbers = plain_integers(pa.array(written))
    return np.array(written) if numbers is None else numbers
