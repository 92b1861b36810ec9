"""Decide whether columns with unknown headers hold a row index, ranks or system names."""

from __future__ import annotations

import re
from typing import Any
from unicodedata import normalize

import numpy as np
import pandas as pd

from sampledash.readers.columns import ITEMS, TIMES, Layout, bare, parsed
from sampledash.readers.upload_limits import ReadError

# Headers that programs give to a row index, in lower case and without spaces. An empty header also
# matches.
_INDEX = re.compile(
    r"|(unnamed:|level_|__index_level_|\.\.\.)\d+_*|index|idx|#|id|rows?[_.]?(id|names?|number)?"
)
_MANY = 10  # in a table of 10 or more rows, a column 1, 2, 3, ... is refused: maybe a row index
# Text that is meant as a number, with other characters around or between its digits, such as 5%,
# #5, 5th or 1,234.
_MEANT_AS_NUMBER = re.compile(r"\W*\d[\d\W_]*[^\W\d_]{0,2}[\d\W_]*")
_DATE = re.compile(r"\s*(\d{4}-\d\d?-\d\d?|\d\d?([./-])\d\d?\2\d{2,4}|\d\d?:\d\d)(?!\d)")
NO_SYSTEMS = {*ITEMS.split(), *TIMES.split()}  # headers of columns that never hold system names


def is_text(cells: pd.Series[Any]) -> bool:
    """Return whether some cells of a column are filled and no filled cell is a number."""
    numeric = pd.api.types.is_numeric_dtype(cells.dtype)
    return not numeric and bool(cells.notna().any() and np.isnan(parsed(cells)).all())


def holds_numbers(cells: pd.Series[Any]) -> bool:
    """Return whether some cell is a number, or text such as 5% that is meant as one; not a date."""
    if not is_text(cells):
        return not np.isnan(parsed(cells)).all()
    some = (normalize("NFKC", str(x)) for x in cells.dropna().unique().tolist())
    return any(_MEANT_AS_NUMBER.fullmatch(x) and not _DATE.match(x) for x in some)


def is_index(source: Layout, i: int, cells: pd.Series[Any]) -> bool:
    """Return whether the numeric column ``i`` is a row index; raise an error if this is unclear."""
    header, values = source.headers[i], parsed(cells)
    steps = np.diff(values)
    running = values[0] in (0, 1) and bool(np.all(steps == 1))
    named = _INDEX.fullmatch(header.lower().replace(" ", "")) or header in source.index
    if named and np.all(steps > 0):
        return True
    if named or (running and len(values) >= _MANY):
        index = "an index of the rows is no system"
        advice = "remove it, or name it instance, or as the system"
        raise ReadError(f"{source.name}, column {header!r}: {index}; {advice}")
    return False


def refuse_merged(source: Layout, cells: pd.DataFrame, instance: pd.Categorical | None) -> None:
    """Refuse a column of text that may name systems, in a file without a column of systems.

    Without this check, all systems would be read as one system. A column may name systems if it has
    several values, some value repeats, and some instance has several rows.
    """
    if instance is not None and len(instance.categories) == len(instance):
        return
    for i, (header, role) in enumerate(zip(source.headers, source.roles, strict=True)):
        if role is None and i in cells and bare(header) not in NO_SYSTEMS and is_text(cells[i]):
            code, names = pd.factorize(cells[i])
            if 1 < len(names) < np.count_nonzero(code >= 0):
                raise merged(source.name, header)


def merged(name: str, header: str) -> ReadError:
    """Return the error for the column ``header`` of the file ``name``: it may name systems.

    No other column of the file names systems, so all systems would be read as one system.
    """
    unclear = "it may name systems, which would be read as one"
    advice = "name it system or instance, or remove it"
    return ReadError(f"{name}, column {header!r}: {unclear}; {advice}")
