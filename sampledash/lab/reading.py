"""Reading of interactions from files: MovieLens, NCF, RecBole, or any table of users and items."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampledash import checks
from sampledash.checks import counted, first
from sampledash.lab.interactions import LARGEST_RATING, Interactions
from sampledash.readers import columns as cells_of
from sampledash.readers import tables
from sampledash.readers import upload_limits as limits
from sampledash.readers.columns import ITEMS, TIMES, Place
from sampledash.readers.frame import Facts, by_names, facts_of, parsed_cells
from sampledash.readers.upload_limits import ReadError
from sampledash.types import Flags, Ints

Duplicates = Literal["last", "first", "all"]
Role = Literal["user", "item", "rating", "time"]
#: Header of the column of each role; None stands for the usual headers, and "" for no column.
Chosen = dict[Role, str | None]


_HEADLESS = ("user", "item", "rating", "timestamp")  # column names for a file without a header
# A column name in a RecBole file ends with the type of the column, as in user_id:token.
_TYPE = re.compile(r"(?<=.):(?:token|float|token_seq|float_seq)$")
_FROM = 1e8  # a number of at least this size is a time in seconds, or smaller units, since 1970
_BYTES = limits.Limit(limits.BYTES.most, "bytes", "pack it as Parquet, or keep some of its users")


@dataclass(frozen=True, eq=False)
class OpenedInteractions:
    """A parsed file, from which interactions can be selected with different options.

    Parsing takes most of the time, so a page of the dashboard keeps this object while its user
    changes the options.
    """

    facts: Facts
    columns: tuple[str, ...]  # names of all columns of the file
    chosen: Mapping[Role, str]  # names of the columns that were read, by role
    interactions: Interactions  # all interactions of the file

    def read(
        self,
        *,
        duplicates: Duplicates = "last",
        implicit: bool = False,
        least_rating: float | None = None,
        per_user: int = 1,
        per_item: int = 1,
    ) -> tuple[Interactions, Facts]:
        """Return the interactions that the options select, and facts about the selection.

        The options are those of :func:`read_interactions`.
        """
        checks.choice("duplicates", duplicates, get_args(Duplicates))
        chosen, notes = self.interactions, []
        again = _repeats(chosen, keep_first=duplicates == "first")
        if repeats := int(again.sum()):
            what = f"{counted(repeats, 'interaction')} with the same user and item as another"
            order = "the file" if chosen.time is None else "time"
            which = f" left out: the {duplicates} in {order} counts"
            notes.append(f"{what}{': all count' if duplicates == 'all' else which}.")
            chosen = chosen if duplicates == "all" else chosen.take(~again)
        if least_rating is not None:
            if chosen.rating is None:
                raise ReadError(f"{self.facts.file} has no ratings: leave out least_rating")
            least = checks.real("least_rating", least_rating, low=-np.inf)
            liked = chosen.take(chosen.rating >= least)
            low_rated = counted(chosen.size - liked.size, "interaction")
            notes.append(f"{low_rated} rated below {least:g} left out.")
            chosen = liked
        if checks.flag("implicit", implicit) and chosen.rating is not None:
            chosen = replace(chosen, rating=None)
            note = "Ratings are not looked at: that an interaction took place is what counts."
            notes.append(note)
        fewest = {"per_user": per_user, "per_item": per_item}
        low = [checks.integer(name, number, low=1) for name, number in fewest.items()]
        core = chosen.take(_core(chosen, *low))
        if gone := chosen.size - core.size:
            fewer = f"of users with fewer than {low[0]} and items with fewer than {low[1]}"
            notes.append(f"{counted(gone, 'interaction')} left out, over and over, {fewer}.")
        chosen = _occurring(core)
        most = int(np.bincount(chosen.user).max()) if chosen.size else 0
        if most < 2:
            why = "every user has one interaction only" if most else "nothing is left"
            check = f"is {self.chosen['user']!r} the column of users, and is enough kept?"
            lost = f"{why}, so that no one's taste can be learned and tested"
            raise ReadError(f"{self.facts.file}: {lost}; {check}")
        return chosen, replace(self.facts, notes=(*self.facts.notes, *notes))


def read_interactions(
    source: limits.PathOrBuffer,
    *,
    name: str | None = None,
    user: str | None = None,
    item: str | None = None,
    rating: str | None = None,
    time: str | None = None,
    duplicates: Duplicates = "last",
    implicit: bool = False,
    least_rating: float | None = None,
    per_user: int = 1,
    per_item: int = 1,
) -> Interactions:
    """Read interactions of users with items from a file.

    Parameters
    ----------
    source
        Path or binary buffer of a file: MovieLens (``.dat``, ``u.data``, ``ratings.csv``), NCF
        (``.rating``), RecBole (``.inter``), or any CSV, TSV, semicolon-separated or Parquet table
        with a row for each interaction. Text must be in UTF-8 and may be compressed with gzip. At
        most 256 MiB uncompressed and ten million rows.
    name
        What messages call the file; by default the file's own name.
    user, item, rating, time
        Names of the columns; by default their usual names. ``""`` means that there is no such
        column. In a file without a header line, the columns are called user, item, rating and
        timestamp, in the order that MovieLens uses.
    duplicates
        Which interactions to use if a user has several interactions with one item: the ``"last"``
        or the ``"first"`` in time (in the order of the file if there are no times), or ``"all"``.
    implicit
        If true, ratings are ignored: only the fact of an interaction counts.
    least_rating
        Lowest rating of the interactions to use; others are left out.
    per_user, per_item
        Least number of interactions of a user, and of an item. Users and items with fewer
        interactions are left out, repeatedly, until no such user or item remains (k-core).

    Returns
    -------
    Interactions in the order of the file. Labels are integers if all labels are whole numbers.

    Raises
    ------
    ReadError
        A ``ValueError`` whose message names file, row, column, value and remedy in one sentence.
    """
    opened = open_interactions(source, name=name, user=user, item=item, rating=rating, time=time)
    chosen: Any = {"duplicates": duplicates, "implicit": implicit, "least_rating": least_rating}
    chosen |= {"per_user": per_user, "per_item": per_item}
    return opened.read(**chosen)[0]


def open_interactions(
    source: limits.PathOrBuffer, name: str | None = None, **columns: str | None
) -> OpenedInteractions:
    """Parse a file without selecting interactions; arguments as in :func:`read_interactions`."""
    data, called = limits.load(source, name, _BYTES)
    chosen: Any = {x: y if y is None else checks.text(x, y) for x, y in columns.items()}
    kind = limits.kind_of(data, called)
    if kind == "array":
        raise ReadError(f"{called} is a numpy array, which names no columns; save a CSV or Parquet")
    find = partial(by_names, roles=_ROLES, chosen=chosen)
    if kind == "text":
        limits.check_lines(data, called)
        start = next((line for line in cells_of.stream(data) if line.strip()), "")
        delimiter = ":" if "::" in start else tables.delimiter_of(data)
        delimiter = delimiter if delimiter in start else " "
        form: Any = {"quoted": delimiter in ",;", "heading": partial(_header, chosen=chosen)}
        table, cells = tables.text_table(data, called, find, delimiter, **form)
    else:
        table, cells = tables.parquet_table(data, called, find)
    values = parsed_cells(table, cells, _ROLES)
    note = "There is no header line: columns are told by their place and first values."
    facts = facts_of(table, _ROLES, [note] * (not table.headed))
    who, what = values["user"], values["item"]
    labels = np.asarray(who.categories), np.asarray(what.categories)
    optional = values.get("rating"), values.get("time")
    interactions = Interactions(*labels, who.codes, what.codes, *optional)
    columns_read = tuple(filter(None, table.headers))
    pairs = zip(table.roles, table.headers, strict=True)
    used: dict[Any, str] = {role: header for role, header in pairs if role is not None}
    return OpenedInteractions(facts, columns_read, used, interactions)


def _header(cells: list[str], chosen: Chosen) -> tuple[list[str], bool]:
    """Return the names of the columns, and whether the first line is a header line.

    The first line is a header line if no cell is a number, or if a cell is one of the names in
    ``chosen``. Without a header line, the columns are user, item, rating and timestamp in this
    order. Exception: the first column from the third on whose first cell is a number of at least
    1e8 is the timestamp.
    """
    cells = [cell.strip() for cell in cells]
    numeric = [checks.is_numeral(cell) for cell in cells]
    if not any(numeric) or any(name in cells for name in chosen.values() if name):
        return [_TYPE.sub("", cell) for cell in cells], True
    names, left = [], list(_HEADLESS)
    for place, (cell, number) in enumerate(zip(cells, numeric, strict=True)):
        late = number and float(cell) >= _FROM and place > 1
        name = "timestamp" if late else next((x for x in left if x != "timestamp"), "timestamp")
        names.append(name if cell and name in left else f"column {place + 1}" if cell else "")
        if names[-1] in left:
            left.remove(name)
    return names, False


def _times(cells: pd.Series[Any], place: Place, what: str) -> Ints:
    """Convert times (numbers or dates) to whole numbers."""
    numeric = pd.api.types.is_numeric_dtype(cells.dtype)
    if not numeric and len(cells) and np.isnan(cells_of.parsed(cells)).all():
        codes, distinct = pd.factorize(cells)
        texts = pd.Series(distinct.astype(object))
        dates = pd.to_datetime(texts, format="ISO8601", errors="coerce", utc=True)
        if (i := first(np.append(dates.isna(), True)[codes])) is not None:
            wrong = f"{checks.shown(cells.iloc[i])} is no date such as 2026-01-31"
            raise ReadError(f"{place(cells.index[i])}: {wrong}; write {what}")
        return dates.to_numpy("datetime64[ns]").astype(np.int64)[codes]
    times = cells_of.numbers(cells, place, what)
    if times.dtype.kind == "f" and np.any(times != np.floor(times)):
        times = np.round(times * 1e6)  # fractional times become whole numbers of millionths
    if (i := first(np.abs(times) >= checks.TOO_LARGE)) is not None:
        raise ReadError(f"{place(cells.index[i])}: {times[i]:.3g} is too large; write {what}")
    return times.astype(np.int64)


def _ratings(cells: pd.Series[Any], place: Place, what: str) -> NDArray[Any]:
    ratings = cells_of.numbers(cells, place, what)
    if (i := first(np.abs(ratings) > LARGEST_RATING)) is not None:
        raise ReadError(f"{place(cells.index[i])}: {ratings[i]:.3g} is too large; write {what}")
    return ratings


_ROLES: dict[Role, cells_of.Role] = {
    "user": cells_of.Role(cells_of.labels, "many", "user", "the label of the user",
                          "user userid uid customerid customer reviewerid reviewer "
                          "visitorid memberid queryid query sessionid session instance"),
    "item": cells_of.Role(cells_of.labels, "many", "item", "the label of the item", ITEMS),
    "rating": cells_of.Role(_ratings, "real", "rating", "a number, or leave the column out",
                            "rating ratings score stars starrating overall preference value"),
    "time": cells_of.Role(_times, "whole", "place in time",
                          "a whole number or a date, in every row, or leave the column out", TIMES),
}  # fmt: skip


def _repeats(interactions: Interactions, *, keep_first: bool) -> Flags:
    """Return a mask of repeated interactions of a user with an item.

    The mask omits one interaction of each user with each item: the first in time if ``keep_first``,
    otherwise the last.
    """
    order = interactions.in_time if keep_first else interactions.in_time[::-1]
    pair = interactions.user.astype(np.int64) * interactions.n_items + interactions.item
    counts = np.zeros(interactions.size, dtype=bool)
    counts[order[np.unique(pair[order], return_index=True)[1]]] = True
    return ~counts


def _core(interactions: Interactions, per_user: int, per_item: int) -> Flags:
    """Return a mask of the k-core: remove users and items with few interactions, repeatedly."""
    current = np.ones(interactions.size, dtype=bool)
    while True:
        users = np.bincount(interactions.user[current], minlength=interactions.n_users) >= per_user
        items = np.bincount(interactions.item[current], minlength=interactions.n_items) >= per_item
        left = current & users[interactions.user] & items[interactions.item]
        if left.sum() == current.sum():
            return left
        current = left


def _occurring(interactions: Interactions) -> Interactions:
    """Return the interactions without the labels of users and items that have no interaction."""
    if not interactions.size:
        return interactions

    users, user = np.unique(interactions.user, return_inverse=True)
    items, item = np.unique(interactions.item, return_inverse=True)
    labels = interactions.users[users], interactions.items[items]
    return Interactions(*labels, user, item, interactions.rating, interactions.time)
