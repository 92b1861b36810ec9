"""Turn every format into a common form: a data frame with one row per rank.

Files hold ranks in one of two forms: one row per rank (long), or one column per system (wide).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampledash import checks
from sampledash.checks import counted
from sampledash.readers import columns as parsing
from sampledash.readers import unknown_columns as unknown
from sampledash.readers import upload_limits as limits
from sampledash.readers.columns import ROLES, SAMPLED, TYPED_RANKS, Layout, Role, bare
from sampledash.readers.upload_limits import ReadError, stem_of
from sampledash.types import Flags

Runs = Literal["averaged", "apart"]

_TOTALS = {"total", "totals", "grandtotal", "sum", "mean", "average"}
_WIDE_RANK = (
    f"{ROLES['rank'].write} (no column is named rank, so each is read as a system: "
    "name it rank, or remove the column)"
)


@dataclass(frozen=True)
class Facts:
    """How one file was read, which a page shows for a user to check."""

    file: str
    kind: str  # "CSV", "Parquet", "a TREC run" ...
    columns: tuple[tuple[str, str], ...] = ()  # header and meaning of each used column
    ignored: tuple[str, ...] = ()  # headers of the columns that were not used
    notes: tuple[str, ...] = ()  # sentences about how the file was read
    doubts: tuple[str, ...] = ()  # sentences about what may be wrong in the file


@dataclass(frozen=True, eq=False)
class Ranks:
    """Ranks of all systems of one file, before it is checked that ranks are at most n.

    ``frame`` has one row per rank. The index of a row is the number of its record in the file.
    Columns are named by what they hold: ``system``, ``rank`` and others. Systems, instances
    and repetitions are categories; for wide files without instance labels, instances are numbered.
    For a wide file, ``column`` is the index of the file's column that a rank comes from.
    """

    source: Layout
    frame: pd.DataFrame
    facts: Facts
    shifts: bool = True  # whether ranks may count from 0; False for ranks computed from scores

    @property
    def name(self) -> str:
        """Name of the file, for error messages."""
        return self.source.name

    @property
    def systems(self) -> list[str]:
        """Names of the systems, in order of appearance."""
        return [str(name) for name in self.frame["system"].cat.categories]

    def values(self, role: str) -> Any:
        """Return the column for ``role``, such as "rank", as an array; None if there is none."""
        return self.frame[role].to_numpy() if role in self.frame else None

    def with_columns(self, **columns: Any) -> Ranks:
        """Return the ranks with new columns; a number fills all rows, None removes a column."""
        size = len(self.frame)
        table = {
            name: values if np.ndim(values) else np.broadcast_to(values, size)
            for name, values in {**self.frame, **columns}.items()
            if values is not None
        }
        return replace(self, frame=pd.DataFrame(table, index=self.frame.index, copy=False))

    def only(self, keep: Flags) -> Ranks:
        """Return the rows where ``keep`` is true; constant columns stay stored as one value."""
        frame, size = self.frame, int(np.count_nonzero(keep))
        table = {
            role: column.array[keep]
            if isinstance(column.dtype, pd.CategoricalDtype) or column.to_numpy().strides[0]
            else np.broadcast_to(column.to_numpy()[:1], size)
            for role, column in frame.items()
        }
        places = frame.index
        if isinstance(places, pd.RangeIndex):
            places = pd.Index(np.arange(len(frame), dtype=np.int32))
        return replace(self, frame=pd.DataFrame(table, index=places[keep], copy=False))

    def noted(self, *notes: str, doubts: Sequence[str] = ()) -> Ranks:
        """Return the ranks with further ``notes`` and ``doubts`` in their :class:`Facts`."""
        before = self.facts
        facts = replace(before, notes=(*before.notes, *notes), doubts=(*before.doubts, *doubts))
        return replace(self, facts=facts)

    def place(self, row: int, role: str) -> str:
        """Return where a cell of the file is, such as ``ranks.csv, line 7, column 'rank'``.

        ``role`` says what the cell's column holds, such as "rank".
        """
        column = self.source.find(role)
        if "column" in self.frame and (role == "rank" or self.source.kind == TYPED_RANKS):
            column = int(self.frame["column"].iloc[row])
        return self.source.place(int(self.frame.index[row]), column)

    def with_number(self, role: str, given: int | None, *, agree: bool = False) -> Ranks:
        """Return the ranks with a number in every row: as in the file, otherwise ``given``.

        ``role`` names the number: n (candidates) or m (sampled negatives). If ``agree`` is true, a
        file with a number other than ``given`` is refused.
        """
        (symbol, _, low, high), values = limits.NUMBERS[role], self.values(role)
        if given is not None:
            given = checks.integer(symbol, given, low=low, high=high)
        if values is None:
            return self if given is None else self.with_columns(**{role: given})
        for bad, bound in ((values < low, f"least {low:,}"), (values > high, f"most {high:,}")):
            if (i := checks.first(bad)) is not None:
                got = f"{symbol} must be at {bound}, got {values[i]:,}"
                raise ReadError(f"{self.place(i, role)}: {got}; correct it or remove the row")
        if agree and given is not None and (i := checks.first(values != given)) is not None:
            said = f"the column says {symbol} = {values[i]:,}, but {symbol} = {given:,} is given"
            raise ReadError(f"{self.place(i, role)}: {said}; leave one of them out")
        return self


def ranks_of(source: Layout, cells: pd.DataFrame) -> Ranks:
    """Return the ranks of a long table (with a rank column) or a wide one (a column per system)."""
    ranks = _long(source, cells) if "rank" in source.roles else _wide(source, cells)
    frame = ranks.frame
    # Refuse a last row that is labelled as a sum, such as "Total".
    label = str(frame["instance"].iloc[-1]) if "instance" in frame else ""
    if bare(label).rstrip(":") in _TOTALS:
        place = ranks.place(len(frame) - 1, "instance")
        raise ReadError(f"{place}: {label!r} seems to be no instance but a sum; remove the row")
    return ranks


def _no_rank(source: Layout) -> ReadError:
    return ReadError(
        f"{source.name} has no rank column: found {_listed(source.headers)}. Name it rank, or "
        f"{SAMPLED} for ranks among sampled negatives; or write a column of ranks per system, "
        "separated by commas"
    )


def _column(source: Layout, cells: pd.DataFrame, role: str, i: int | None = None) -> Any:
    """Return the parsed column with index ``i``; if None, the first column with this ``role``.

    Return None if no column has the role.
    """
    i = source.find(role) if i is None else i
    if i is None:
        return None
    what = ROLES[role].write.format(header=source.headers[i])
    return ROLES[role].read(cells[i], partial(source.place, column=i), what)


def _long(source: Layout, cells: pd.DataFrame) -> Ranks:
    i = source.find("instance")
    if i is not None and not pd.api.types.is_numeric_dtype(cells[i].dtype):
        limits.TEXTS.check(len(cells), f"{source.name}, column {source.headers[i]!r}")
    table: dict[str, Any] = {}
    for role in ROLES:
        read = _repetition(source, cells) if role == "repetition" else _column(source, cells, role)
        if role == "system":
            if read is None:
                read = parsing.categories(np.zeros(len(cells), np.int8), [stem_of(source.name)])
            limits.SYSTEMS.check(len(read.categories), source.name)
        if read is not None:
            table[role] = read
    if "system" not in source.roles:
        unknown.refuse_merged(source, cells, table.get("instance"))
    if (late := parsing.beyond(cells[source.roles.index("rank")])).any():
        table["beyond"] = late
    return _without_zeros(Ranks(source, pd.DataFrame(table, copy=False), facts_of(source, ROLES)))


def _without_zeros(ranks: Ranks) -> Ranks:
    """Return the ranks without the rows with count 0, which stand for no instance."""
    count = ranks.values("count")
    if count is None or count.all():
        return ranks
    some = ranks.only(count > 0)
    system = ranks.frame["system"]
    if (i := checks.first(~system.isin(some.frame["system"]))) is not None:
        zero = f"every count of system {system.iloc[i]!r} is 0; correct one or remove the system"
        raise ReadError(f"{ranks.place(i, 'count')}: {zero}")
    return some.noted(f"{counted(len(count) - len(some.frame), 'row')} with count 0 left out.")


def _repetition(source: Layout, cells: pd.DataFrame) -> pd.Categorical | None:
    """Return each row's repetition, such as "fold 2, seed 1"; None if all rows have the same."""
    joint: pd.Categorical | None = None
    for i, role in enumerate(source.roles):
        if role != "repetition":
            continue
        column = _column(source, cells, role, i)
        if len(column.categories) > 1:
            names = [f"{source.headers[i]} {x}" for x in column.categories]
            column = column.rename_categories(names)
            joint = column if joint is None else _pairs(joint, column, "{}, {}")
            limits.REPETITIONS.check(len(joint.categories), source.place(0, i))
    return joint


def _pairs(column: pd.Categorical, other: pd.Categorical, form: str) -> pd.Categorical:
    """Join the labels of two columns, row by row, as ``form.format(label, other)``."""
    size = len(other.categories)
    code, distinct = pd.factorize(column.codes.astype(np.int64) * size + other.codes)
    pairs = (divmod(pair, size) for pair in distinct.tolist())
    ones, others = column.categories.tolist(), other.categories.tolist()
    return parsing.categories(code, [form.format(ones[a], others[b]) for a, b in pairs])


def facts_of(
    source: Layout, roles: Mapping[Any, Role], notes: Iterable[str] = (), ranks: Sequence[int] = ()
) -> Facts:
    """Return how a table was read; ``ranks`` are the indices of its columns of ranks."""
    pairs = list(zip(source.headers, source.roles, strict=True))
    used = [(header, roles[role].means) for header, role in pairs if role is not None]
    used += [(source.headers[i], "ranks of this system") for i in ranks]
    unused = [x for i, (x, role) in enumerate(pairs) if x and role is None and i not in ranks]
    return Facts(source.name, source.kind, tuple(used), tuple(unused), tuple(notes))


def parsed_cells(source: Layout, cells: Any, roles: Mapping[Any, Role]) -> dict[Any, Any]:
    """Return the parsed column of each role, such as "user"; remove the columns from ``cells``."""
    pairs = ((role, source.find(role)) for role in roles)
    return {
        role: roles[role].read(cells.pop(i), partial(source.place, column=i), roles[role].write)
        for role, i in pairs
        if i is not None
    }


def by_names(
    name: str,
    kind: str,
    headers: Sequence[str],
    line: int | None = None,
    *,
    roles: Mapping[Any, Role],
    chosen: Mapping[Any, str | None] = MappingProxyType({}),
    **text: Any,
) -> Layout:
    """Return the layout of a table: for each role, the chosen column or one with a usual name.

    ``roles`` holds the roles, such as "user", with their usual names. ``chosen`` maps roles to
    headers; the header ``""`` means that there is no such column.
    """
    headers = [header.strip() for header in headers]
    parsing.refuse_repeated(headers, name)
    known = [bare(header) for header in headers]
    matched: list[Any] = [None] * len(headers)
    for role, usual_role in roles.items():
        wanted = chosen.get(role)
        if wanted is None:
            usual = (known.index(n) for n in map(bare, usual_role.names) if n in known)
            column = next((i for i in usual if matched[i] is None), None)
        elif wanted == "":
            column = None
        elif wanted in headers:
            column = headers.index(wanted)
        else:
            lacks = f"no column {checks.shown(wanted)} to be read as {role}"
            raise ReadError(f"{name} has {lacks}: found {_listed(headers)}")
        if column is not None:
            if matched[column] is not None:
                both = f"cannot be both {matched[column]} and {role}; choose one"
                raise ReadError(f"{name}: the column {headers[column]!r} {both}")
            matched[column] = role
    for role in ("user", "item"):
        if role not in matched:
            raise ReadError(
                f"{name} has no column of {role}s: found {_listed(headers)}; name one {role}_id",
                checks.Remedy(role, ...),
            )
    return Layout(name, kind, tuple(headers), tuple(matched), **text)


def _listed(headers: Sequence[str]) -> str:
    return few([checks.shown(header) for header in headers if header], 8)


def _wide(source: Layout, cells: pd.DataFrame) -> Ranks:
    if {*source.roles} - {None, "instance", "n_candidates", "repetition"}:
        raise _no_rank(source)
    others = [i for i, role in enumerate(source.roles) if role is None and i in cells]
    numeric = [i for i in others if unknown.holds_numbers(cells[i])]
    index = [i for i in numeric if unknown.is_index(source, i, cells[i])]
    columns = [i for i in numeric if i not in index]
    if not columns:
        raise _no_rank(source)
    blank = next((i for i in others if source.headers[i] and _blank(cells[i]).all()), None)
    if blank is not None:
        advice = "write ranks, or remove the column"
        raise ReadError(f"{source.place(0, blank)}: the column is blank; {advice}")
    limits.SYSTEMS.check(len(columns), source.name)
    limits.RANKS.check(len(columns) * len(cells), source.name)
    repetition = _repetition(source, cells)
    by_role = {role: _column(source, cells, role) for role in ("instance", "n_candidates")}
    unknown.refuse_merged(source, cells, by_role["instance"])
    if by_role["instance"] is None:
        # Without instance labels, the rows of each repetition are numbered from 1.
        codes = np.zeros(len(cells)) if repetition is None else repetition.codes
        number = pd.Series(codes).groupby(codes).cumcount()
        by_role["instance"] = parsing.categories(number.to_numpy(), np.arange(1, len(cells) + 1))
    # A blank cell means that the system has no rank for the instance.
    filled = [cells[i][~_blank(cells[i])] for i in columns]
    record = np.concatenate([x.index.to_numpy() for x in filled])
    system = np.repeat(np.arange(len(columns)), [len(x) for x in filled])
    ranks = [
        parsing.places(rank_cells, partial(source.place, column=i), _WIDE_RANK)
        for i, rank_cells in zip(columns, filled, strict=True)
    ]
    table = {
        "system": parsing.categories(system, [source.headers[i] for i in columns]),
        "column": np.asarray(columns)[system],
        "rank": np.concatenate(ranks),
    }
    if (late := np.concatenate([parsing.beyond(x) for x in filled])).any():
        table["beyond"] = late
    for role, values in (by_role | {"repetition": repetition}).items():
        if values is not None:
            table[role] = values[record]
    names = [source.headers[i] or "(no name)" for i in index]
    facts = facts_of(source, ROLES, ranks=columns)
    read = Ranks(source, pd.DataFrame(table, index=record), facts)
    return read.noted(*(f"{name} numbers the rows, and is left out." for name in names))


def _blank(cells: pd.Series[Any]) -> NDArray[np.bool_]:
    blank = cells.isna()
    if not pd.api.types.is_numeric_dtype(cells.dtype):
        blank |= cells.astype(str).str.strip() == ""
    return blank.to_numpy(dtype=bool)


def resolve_repetitions(ranks: Ranks, runs: Runs) -> Ranks:
    """Treat repetitions (folds, seeds) as further instances ("averaged") or as systems ("apart").

    If averaged instances have neither labels nor counts, they are numbered within each system and
    repetition.
    """
    checks.choice("runs", runs, ("averaged", "apart"))
    frame = ranks.frame
    if "repetition" not in frame:
        return ranks
    system, again = (frame[role].array for role in ("system", "repetition"))
    many = f"{len(again.categories):,} repetitions ({few(again.categories)})"
    if runs == "apart":
        both = _pairs(system, again, "{} ({})")
        limits.SYSTEMS.check(len(both.categories), ranks.name)
        # Order the new systems so that the repetitions of a system are next to each other.
        order = pd.Series(system.codes).groupby(both.codes).first().to_numpy()
        names = both.categories[np.argsort(order, kind="stable")]
        ranks = ranks.with_columns(system=both.reorder_categories(names))
        note = f"{many} are kept apart: each is a system."
    else:
        instance = frame["instance"].array if "instance" in frame else None
        if instance is None and "count" not in frame:
            number = frame.groupby(["system", "repetition"], observed=True).cumcount().to_numpy()
            instance = parsing.categories(number, np.arange(1, int(number.max()) + 2))
        if instance is not None:
            ranks = ranks.with_columns(instance=_pairs(instance, again, "{} ({})"))
        note = f"{many} are averaged: every instance of every repetition counts as one instance."
    return ranks.with_columns(repetition=None).noted(note)


def few(items: Iterable[str], most: int = 5) -> str:
    """Return the first ``most`` names and the number of the others: ``a, b and 3 more``."""
    names = list(items)
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")
