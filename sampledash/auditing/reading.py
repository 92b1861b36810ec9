"""Read lists of negatives from tables, or from ``.test.negative`` files of He et al. (2017)."""

import codecs
import io
import re
from typing import Any

import numpy as np

from sampledash.auditing.audit import Audit, audit
from sampledash.checks import first, shown
from sampledash.lab.reading import open_interactions
from sampledash.readers import upload_limits as limits
from sampledash.readers.columns import bare
from sampledash.readers.tables import headers_of
from sampledash.readers.upload_limits import PathOrBuffer, ReadError

_File = tuple[PathOrBuffer, str]  # a file and its name in messages
_LIST = re.compile(r"\s*\(\s*([^,()]+?)\s*,\s*([^()]+?)\s*\)\s+(\S.*)")


def audit_files(lists: _File, train: _File | None = None) -> Audit:
    """Return the audit of a file with lists of negatives; ``train`` is a file of interactions.

    In a ``.test.negative`` file, each line is a list: ``(user,item)``, where the item is relevant,
    and then the negatives, separated by white space. A table has a row for each instance and item.
    A table that holds relevant items too has a column ``relevant`` (1 or 0). If an instance has
    several relevant items, the audit has a list for each of these items.

    Raises
    ------
    ReadError
        A ``ValueError`` whose message names file, line, value and remedy in one sentence.
    """
    data, name = limits.load(*lists)
    data = data.removeprefix(codecs.BOM_UTF8)
    text = limits.kind_of(data, name) == "text" and data.lstrip().startswith(b"(")
    rows = zip(*(_of_text if text else _of_table)(data, name), strict=True)
    instances, positives, places, negatives = (x if x[0] is not None else None for x in rows)
    opened = train and open_interactions(*train)
    table: Any = opened and opened.interactions
    return audit(negatives, positives, table, instances=instances, places=places)


def _of_text(data: bytes, name: str) -> list[tuple[Any, ...]]:
    """Return a tuple (instance, relevant item, None, negatives) for each line of the file.

    None stands for the relevant item's position in the list, which the file does not say.
    """
    limits.check_utf8(data, name)
    rows = []
    for line, row in enumerate(data.decode().splitlines(), 1):
        if (match := _LIST.fullmatch(row)) is not None:
            rows.append((match[1], match[2], None, match[3].split()))
        elif row.strip():
            odd = f"{shown(row[:30])} is no list; write (user,item) negatives"
            raise ReadError(f"{name}, line {line}: {odd}")
    return rows


def _of_table(data: bytes, name: str) -> list[tuple[Any, ...]]:
    """Return a tuple (instance, relevant item, the item's position, negatives) for each list."""
    headers = headers_of(data, limits.kind_of(data, name))
    column = next((header for header in headers if bare(header) == "relevant"), "")
    table = open_interactions(io.BytesIO(data), name=name, rating=column, time="").interactions
    marks = np.zeros(table.size) if table.rating is None else table.rating
    if (i := first((marks != 0) & (marks != 1))) is not None:
        raise ReadError(f"{name}, row {i + 1}, column {column!r}: {marks[i]:g}; write 1 or 0")
    rows: list[tuple[Any, ...]] = []
    ends, order = np.cumsum(np.bincount(table.user))[:-1], np.argsort(table.user, kind="stable")
    for instance, part in zip(table.users, np.split(order, ends), strict=True):
        labels, there = table.items[table.item[part]], marks[part] == 1
        lacks = "negative" if there.all() else "relevant item" if not there.any() else ""
        if column and lacks:
            raise ReadError(f"{name}: instance {shown(instance)} has no {lacks}; add one")
        # Position, from 1, of each relevant item: 1 + the negatives before it in the file.
        places = np.cumsum(~there) + 1
        rows += [(instance, labels[x], places[x], labels[~there]) for x in np.flatnonzero(there)]
        rows += [] if column else [(instance, None, None, labels)]
    return rows
