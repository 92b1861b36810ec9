"""Find what a column holds (its role: rank, system, ...) by its header, and parse its cells."""

from __future__ import annotations

import csv
import io
import itertools
import json
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
from numpy.typing import ArrayLike, NDArray
from pyarrow import compute

from sampledash.checks import MOST_INSTANCES, TOO_LARGE, first, is_numeral, not_a_number, shown
from sampledash.readers import upload_limits as limits
from sampledash.readers.upload_limits import ReadError
from sampledash.types import Flags, Floats, Ints

SAMPLED = "sampled_rank"  # name of a column of ranks among sampled negatives
#: Headers, in the form that :func:`bare` returns, of columns that never hold sampled ranks.
TRUE = ("truerank", "bestrank", "worstrank")
TYPED_RANKS = "typed ranks"
QUOTING: dict[bool, Literal[0, 3]] = {True: csv.QUOTE_MINIMAL, False: csv.QUOTE_NONE}
_YES = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
#: Names of columns of items and of times, in the form that :func:`bare` returns.
ITEMS = (
    "item itemid iid movieid movie productid product parentasin asin trackid track songid song "
    "artistid artist bookid book isbn businessid newsid articleid docid sku"
)
TIMES = "timestamp time ts unixtimestamp unixreviewtime datetime date"
# Roles of columns that take little memory. None is the role of unknown columns, which are not read.
_CHEAP = (None, "system", "rank", "n_candidates", "count")
_SHORT = 2**30  # the sum of two whole numbers below this limit fits in 32 bits


def bare(name: str) -> str:
    """Return a header in the form in which headers are compared.

    This form is in lower case. It has no spaces, no invisible characters such as a byte order mark,
    and none of the characters ``_-"'`#[]`` (NumPy writes # before the headers).
    """
    letters = filter(str.isprintable, unicodedata.normalize("NFKC", name))
    return re.sub(r"[\s_\-\"'`#[\]]", "", "".join(letters)).lower()


def role_of(header: str) -> str | None:
    """Return what a column holds, such as "rank", a key of :data:`ROLES`; None if unknown."""
    return _ROLE_OF.get(bare(header))


@dataclass(frozen=True)
class Layout:
    """The name of a file, its headers, and the role of each column, such as "rank" or "system".

    The role is None if the header is unknown.

    ``kind`` names the format. ``data`` is the text, in which lines are counted for messages; None
    if the file is not text (Parquet, arrays). For ranks that a user typed, the headers are the
    names of the systems. ``headed``: whether the first record holds the headers. ``quoted``:
    whether cells may be in quotation marks. ``index``: headers of columns that Parquet's metadata
    declare to be a row index.
    """

    name: str
    kind: str = ""
    headers: tuple[str, ...] = ()
    roles: tuple[str | None, ...] = ()
    data: bytes | None = None
    delimiter: str = ","
    headed: bool = True
    quoted: bool = True
    index: Container[str] = ()

    def find(self, role: str) -> int | None:
        """Return the index of the first column with a role such as "rank"; None if none has it."""
        return next((i for i, x in enumerate(self.roles) if x == role), None)

    @property
    def sampled(self) -> bool:
        """Whether the header of the rank column says that ranks are among sampled negatives."""
        rank = self.find("rank")
        return rank is not None and bare(self.headers[rank]) == bare(SAMPLED)

    def place(self, record: int, column: int | None = None) -> str:
        """Return where a cell is, for messages: ``ranks.csv, line 7, column 'rank'``."""
        header = "" if column is None else repr(self.headers[column])
        if self.kind == TYPED_RANKS:
            return f"{self.name}, system {header}, value {record + 1}"
        return f"{self.name}, {self.line(record)}{f', column {header}' if header else ''}"

    def line(self, record: int) -> str:
        """Return where a record is, such as ``line 7``, or ``row 3`` if the file is not text."""
        if self.data is None:
            return f"row {record + 1}"
        # The fast parser stores no line numbers. Lines are counted only when a message needs them.
        place = record + self.headed
        rest = itertools.islice(records(self.data, self.delimiter, self.quoted), place, None)
        return f"line {next(rest, (place + 1, []))[0]}"

    def check_rows(self, rows: int) -> None:
        """Refuse a table of ranks with too many rows, if it has columns that take much memory."""
        pairs = zip(self.headers, self.roles, strict=True)
        costly = next((header for header, role in pairs if role not in _CHEAP), None)
        if costly is not None and "rank" in self.roles:
            limits.LABELLED.check(rows, f"{self.name}, column {costly!r},")


def refuse_repeated(headers: Sequence[str], where: str) -> None:
    """Refuse two columns with the same header, because it is unclear which one is meant."""
    repeated = [header for header, times in Counter(headers).items() if times > 1 and header]
    if repeated:
        raise ReadError(f"{where}: the column {repeated[0]!r} appears twice; rename one")


def source_of(
    name: str, kind: str, headers: Sequence[str], line: int | None = None, **text: Any
) -> Layout:
    """Return the layout of a table; refuse repeated headers, or numbers in place of headers."""
    headers = [header.strip() for header in headers]
    where = name if line is None else f"{name}, line {line}"
    limits.COLUMNS.check(len(headers), where)
    for header in headers:
        limits.check_name(header, where)
    refuse_repeated(headers, where)
    roles = [role_of(header) for header in headers]
    if roles.count("system") > 1:
        # A column "run" beside another column of systems holds repetitions, not systems.
        runs = [bare(header) == "run" for header in headers]
        roles = ["repetition" if run else role for run, role in zip(runs, roles, strict=True)]
    for role, column in ROLES.items():
        same = [header for header, x in zip(headers, roles, strict=True) if x == role]
        if len(same) > 1 and role != "repetition":
            means = f"{same[0]!r} and {same[1]!r} both mean {column.names[0]!r}"
            raise ReadError(f"{where}: the columns {means}; keep one")
    number = next(filter(is_numeral, headers), None)
    if not any(roles) and number is not None:
        raise ReadError(
            f"{where}: the first line holds the number {number}; add a header line such as "
            f"system,instance,rank,n_candidates, or system,{SAMPLED}"
        )
    return Layout(name, kind, tuple(headers), tuple(roles), **text)


def stream(data: bytes) -> io.TextIOWrapper:
    """Return a text stream of UTF-8 bytes without a byte order mark, without copying the bytes."""
    return io.TextIOWrapper(io.BytesIO(data), encoding="utf-8-sig", newline="")


def records(data: bytes, delimiter: str, quoted: bool = True) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the cells of each record; skip blank lines, as pandas does.

    If a cell of a record exceeds the length limit of the csv module, yield an empty list of cells.
    """
    reader = csv.reader(stream(data), delimiter=delimiter, quoting=QUOTING[quoted])
    line = 1
    while True:
        try:
            cells = next(reader, None)
            if cells is None:
                return
            if len(cells) > 1 or (cells and cells[0].strip()):
                yield line, cells
        except csv.Error:
            yield line, []
        line = reader.line_num + 1


Place = Callable[[int], str]  # maps a record's number to text such as "a.csv, line 7, column 'm'"


def compact(pieces: Sequence[NDArray[Any]]) -> NDArray[Any]:
    """Join pieces of a numeric column into an array that takes little memory.

    A column of equal numbers is stored as one number. Other whole numbers take 32 bits each if the
    sum of any two of them fits in 32 bits.
    """
    filled = [piece for piece in pieces if piece.size]
    if not filled:
        return pieces[0]
    low, high = min(p.min() for p in filled), max(p.max() for p in filled)
    kind = filled[0].dtype
    if kind.kind in "iu" and high < TOO_LARGE:
        kind = np.dtype(np.int32 if low >= -_SHORT and high < _SHORT else np.int64)
    if low == high:
        return np.broadcast_to(np.asarray(low, dtype=kind), sum(p.size for p in filled))
    if len(filled) == 1:
        return filled[0].astype(kind, copy=False)
    return np.concatenate(filled, dtype=kind, casting="unsafe")


def numbers(cells: pd.Series[Any], place: Place, what: str) -> NDArray[Any]:
    """Return cells as integers or floats; the error for a blank or text cell says where it is."""
    values = cells.to_numpy() if cells.dtype.kind in "iu" else parsed(cells)
    if values.dtype.kind == "f" and (i := first(~np.isfinite(values))) is not None:
        cell = cells.iloc[i]
        blank = pd.isna(cell) or (isinstance(cell, str) and not cell.strip())
        got = "the cell is blank" if blank else not_a_number(cell)
        raise ReadError(f"{place(cells.index[i])}: {got}; write {what}")
    return values


def parsed(cells: pd.Series[Any]) -> Floats:
    """Return cells as floats; blanks, booleans, and text such as "x", "nan" or "inf" become NaN."""
    if pd.api.types.is_bool_dtype(cells.dtype):
        return np.full(len(cells), np.nan)
    if pd.api.types.is_numeric_dtype(cells.dtype):
        return cells.to_numpy(dtype=np.float64, na_value=np.nan)
    codes, distinct = pd.factorize(cells)
    known = [float(x) if is_numeral(x) else np.nan for x in map(str, distinct.tolist())]
    # The code of a blank cell is -1, which selects the last value, NaN.
    return np.append(known, np.nan)[codes]


def whole(cells: pd.Series[Any], place: Place, what: str) -> Ints:
    """Return cells as integers; refuse fractions, and numbers beyond ±2^62 (sums may overflow)."""
    array = numbers(cells, place, what)
    small = (array > -TOO_LARGE) & (array < TOO_LARGE)
    bad = ~small if array.dtype.kind in "iu" else ~(small & (array == np.floor(array)))
    if (i := first(bad)) is not None:
        fraction = f"{shown(array[i])} is not a whole number"
        wrong = fraction if small[i] else f"{array[i]:.3g} is too large"
        raise ReadError(f"{place(cells.index[i])}: {wrong}; write {what}")
    return compact([array if array.dtype.kind in "iu" else array.astype(np.int64)])


def beyond(cells: pd.Series[Any]) -> Flags:
    """Return which cells are written like >10 (a rank that is larger than 10)."""
    if pd.api.types.is_numeric_dtype(cells.dtype):
        return np.broadcast_to(np.False_, len(cells))
    return cells.astype(str).str.strip().str.startswith(">").to_numpy(dtype=bool)


def places(cells: pd.Series[Any], place: Place, what: str) -> Ints:
    """Return ranks as integers; a rank written >10 becomes 11, the smallest rank beyond 10."""
    if not (flags := beyond(cells)).any():
        return whole(cells, place, what)
    bare = cells.astype(str).str.strip().str.removeprefix(">").str.strip()
    return whole(cells.astype(object).mask(flags, bare), place, what) + flags


def labels(cells: pd.Series[Any], place: Place, what: str) -> pd.Categorical:
    """Return a column of labels as categories in order of appearance; refuse blank cells.

    Categories are integers if all labels are plain integers; otherwise they are stripped text, so
    that 007 and 7 remain two different labels.
    """
    codes, distinct = pd.factorize(cells)
    if distinct.dtype.kind in "iuf" and codes.min() >= 0:
        values = np.asarray(distinct)
        small = np.all((values > -TOO_LARGE) & (values < TOO_LARGE))
        if small and (values.dtype.kind != "f" or np.all(values == np.floor(values))):
            return categories(codes, values.astype(np.int64))
    limits.LABELS.check(len(distinct), place(cells.index[0]))
    text = np.array([str(label).strip() for label in distinct.tolist()], dtype=object)
    if (i := first([len(label) > limits.LONGEST_NAME for label in text])) is not None:
        limits.check_name(text[i], place(cells.index[int(np.argmax(codes == i))]))
    # The code of a missing cell is -1, which selects the last flag, True.
    blank = np.append(text == "", True)
    if (i := first(blank[codes])) is not None:
        raise ReadError(f"{place(cells.index[i])}: the cell is blank; write {what}")
    return categories(codes, text)


def texts(cells: pd.Series[Any], place: Place, what: str) -> pd.Categorical:
    """Return texts as written; a blank cell becomes an empty text."""
    return pd.Categorical(cells.astype(object).where(cells.notna(), ""))


def counts(cells: pd.Series[Any], place: Place, what: str) -> Floats | None:
    """Return the number of instances that each row represents; None if it is 1 for all rows."""
    values = compact([numbers(cells, place, what)]).astype(np.float64, copy=False)
    if (i := first(~((values >= 0) & (values <= MOST_INSTANCES)))) is not None:
        wrong = "is below 0" if values[i] < 0 else "is too large"
        raise ReadError(f"{place(cells.index[i])}: {shown(values[i])} {wrong}; write {what}")
    return None if np.all(values == 1) else values


def classes(cells: pd.Series[Any], place: Place, what: str) -> NDArray[Any]:
    """Parse texts such as ``[[3,0.5],0,[50,9950],[50,Infinity]]`` to arrays of shape (4, classes).

    Return these arrays in an array of objects. The function :func:`classes_text` writes such texts.
    A class is a group of negatives with equal sampling weights, or a group from which a fixed
    number is drawn (a stratum). Its four numbers are: the negatives above the relevant item, those
    tied with it, all negatives of the group, and the weight or, for a stratum, the number that is
    drawn (see :class:`~sampledash.RankSet`). Cells with fewer classes than others get classes
    without items.
    """
    arrays = _from_json(cells, place, what, _classes)
    most = max(array.shape[1] for array in arrays)
    arrays[:] = [np.pad(array, ((0, 0), (0, most - array.shape[1]))) for array in arrays]
    return arrays


def _from_json(
    cells: pd.Series[Any], place: Place, what: str, parse: Callable[[object], Any]
) -> NDArray[Any]:
    """Return parsed cells as an array of objects; refuse cells for which ``parse`` gives None."""
    codes, texts = pd.factorize(cells)
    parsed = [*map(parse, texts), None]  # a blank cell has the code -1
    result = np.empty(len(cells), dtype=object)
    result[:] = [parsed[code] for code in codes.tolist()]
    if (i := first([x is None for x in result])) is not None:
        cell = cells.iloc[i]
        got = "the cell is blank" if codes[i] < 0 else f"{shown(str(cell)[:40])} is not understood"
        raise ReadError(f"{place(cells.index[i])}: {got}; write {what}")
    return result


def _classes(text: object) -> Any:
    """Parse a text such as ``[[3,0.5],0,50,1]``, as :func:`classes` does; None if invalid."""
    try:
        parts = json.loads(str(text))
        array = np.array(np.broadcast_arrays(*(np.atleast_1d(np.float64(x)) for x in parts)))
    except (ValueError, TypeError, OverflowError, RecursionError):
        return None
    return array if isinstance(parts, list) and array.ndim == 2 and len(array) == 4 else None


def _overlaps(text: object) -> dict[str, list[list[int]]] | None:
    """Parse a text such as ``{"B":3}`` or ``{"B":[[3,0],[1,0]]}``; return None if invalid.

    Such a text says how many items both the system of the row and the system B rank above the
    relevant item. Four numbers in place of one also count tied items, as ``overlaps`` of
    :class:`~sampledash.RankSet` does. The function :func:`overlaps_text` writes such texts.
    """
    try:
        numbers = json.loads(str(text)).items()
        inner = {other: x if isinstance(x, list) else [[x, 0], [0, 0]] for other, x in numbers}
        return inner if all(np.shape(x) == (2, 2) for x in inner.values()) else None
    except (ValueError, AttributeError, RecursionError):
        return None


def overlaps_text(overlaps: Mapping[str, Ints]) -> str:
    """Return as JSON how many items a system and another system both rank above a relevant item.

    The keys name the other systems. Four numbers in place of one also count the items that are tied
    with the relevant item.

    Examples
    --------
    >>> overlaps_text({"B": np.array([[3, 0], [0, 0]]), "C": np.array([[3, 0], [1, 0]])})
    '{"B":3,"C":[[3,0],[1,0]]}'
    """
    numbers = {k: int(x[0, 0]) if x.sum() == x[0, 0] else x.tolist() for k, x in overlaps.items()}
    return json.dumps(numbers, separators=(",", ":"))


def classes_text(classes: Floats) -> str:
    """Return an array of shape (4, classes) as JSON.

    One number stands for a row of equal numbers, except in the last row.

    A class is a group of negatives with equal sampling weights, or a group from which a fixed
    number is drawn (a stratum). The four rows of the array are, for each class: the negatives above
    the relevant item; those tied with it; all negatives; and the weight or, for a stratum, the
    number drawn.

    Examples
    --------
    >>> classes_text(np.array([[3, 0.5], [0, 0], [50, 9950], [50, np.inf]]))
    '[[3,0.5],0,[50,9950],[50,Infinity]]'
    """
    *counts, last = classes.tolist()
    short = [x if len(set(x)) > 1 else x[0] for x in counts]
    return json.dumps([*short, last], separators=(",", ":")).replace(".0,", ",").replace(".0]", "]")


def yes_or_no(cells: pd.Series[Any], place: Place, what: str) -> NDArray[np.bool_]:
    """Return cells such as yes, no, true or 0 as booleans."""
    words = labels(cells, place, what)
    meant = [_YES.get(str(word).strip().lower()) for word in words.categories]
    if None in meant:
        odd = meant.index(None)
        where = place(cells.index[int(np.argmax(words.codes == odd))])
        raise ReadError(f"{where}: {shown(str(words.categories[odd]))} is not {what}")
    return np.asarray(np.asarray(meant, dtype=bool)[words.codes])


def categories(codes: NDArray[Any], names: ArrayLike) -> pd.Categorical:
    """Return a categorical array with values ``names[codes]``; equal names become one category."""
    merged, distinct = pd.factorize(np.asarray(names))
    unique = plain_integers(pa.array(distinct)) if distinct.dtype == object else None
    unique = distinct if unique is None else unique.astype(np.int64)
    return pd.Categorical.from_codes(merged[codes], pd.Index(unique, dtype=unique.dtype))


def plain_integers(text: Any) -> NDArray[Any] | None:
    """Return labels as integers, or None if a label is not a plain integer, such as x or 007."""
    try:
        compute.cast(text[:1], pa.int64())  # if the first label is text, do not try the others
        integers = compute.cast(text, pa.int64())
    except pa.ArrowException:
        return None
    same = compute.all(compute.equal(compute.cast(integers, pa.string()), text)).as_py()
    return compact([integers.to_numpy()]) if same else None


_LISTS = "the lists [[above],[tied],[all],[last]] of numbers of items by class; last is the"
#: What a column holds: whole or real numbers; text with few or many different values; or (if its
#: header is unknown) text of unknown meaning.
Holds = Literal["whole", "real", "few", "many", "unknown"]


class Role(NamedTuple):
    """What a column is for, such as ``"rank"``: how its cells are parsed, and what they mean."""

    read: Callable[..., Any]
    holds: Holds
    means: str
    write: str  # what error messages ask users to write in a cell
    written: str  # accepted headers, separated by spaces; sampledash writes the first header

    @property
    def names(self) -> list[str]:
        """The accepted headers of the column; :func:`role_of` also accepts other spellings."""
        return self.written.split()


# What a column may hold -> how it is parsed. Columns are parsed in this order, and the first error
# in this order is reported.
ROLES: dict[str, Role] = {
    "system": Role(labels, "few", "system", "the name of the system",
                   "system model run tag recommender algorithm method"),
    "instance": Role(labels, "many", "instance", "the label of the user or query",
                     "instance instance_id user user_id uid query query_id qid session session_id"),
    "rank": Role(places, "whole", "rank", "a whole number from 1",
                 "rank ranks position true_rank best_rank sampled_rank"),
    "mass_above": Role(numbers, "real", "sampling weight above it", "a share in 0..1",
                       "mass_above"),
    "n_candidates": Role(whole, "whole", "n", "the number of candidates, a whole number from 2",
                         "n_candidates n n_items candidates num_candidates num_items"),
    "ties": Role(whole, "whole", "others tied with it", "how many others are tied, 0 for none",
                 "ties n_tied_others tied"),
    "count": Role(counts, "real", "instances that the row stands for",
                  "how many instances the row stands for, a number from 0",
                  "count counts frequency freq"),
    "repetition": Role(labels, "few", "repetition", "which {header} the row belongs to",
                       "repetition repeat run_id fold seed split"),
    "negatives": Role(whole, "whole", "sampled negatives", "the number of negatives, from 1",
                      "m n_negatives negatives num_negatives n_sampled"),
    "adaptive": Role(yes_or_no, "few", "whether the draw decided m",
                     "yes or no, whether what was drawn for a row decided its m", "adaptive"),
    "classes": Role(classes, "few", "items by class of weight", f"{_LISTS} weight", "classes"),
    "strata": Role(classes, "few", "items by stratum", f"{_LISTS} number drawn", "strata"),
    "overlaps": Role(partial(_from_json, parse=_overlaps), "many", "items above it in two systems",
                     'the items above it in both systems, as in {{"B": 3}}', "overlaps"),
    "provenance": Role(texts, "few", "where the ranks come from", "where the ranks come from",
                       "provenance"),
}  # fmt: skip
_ROLE_OF = {bare(name): role for role, column in ROLES.items() for name in column.names}
