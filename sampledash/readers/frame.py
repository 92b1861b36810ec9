"""What all formats are turned into: a frame with a row for each rank, which knows its records.

Ranks are written in two ways: one row per rank (long), or one column per system (wide).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampledash import checks
from sampledash.readers.columns import (
    ALIASES,
    SAMPLED,
    Role,
    Source,
    categories,
    compact,
    first,
    is_true_rank,
    labels,
    numbers,
    parsed,
    whole,
)
from sampledash.readers.contents import stem_of
from sampledash.readers.errors import NoRankColumn, ReadError
from sampledash.readers.limits import RANKS, REPETITIONS, SYSTEMS, TEXTS
from sampledash.readers.tables import Table
from sampledash.types import Ints

Runs = Literal["averaged", "apart"]

_RANK = "a whole number from 1"
_WIDE_RANK = (
    f"{_RANK} (no column is named rank, so each is read as a system: "
    "name it rank, or remove the column)"
)
_COUNT = "how many instances the row stands for, a number from 0"
_ADAPTIVE = "yes or no, whether what was drawn for a row decided its m"
_YES = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
# How each column is read, what to write into it, and what it means; in the order of complaints.
_COLUMNS: dict[Role, tuple[Callable[..., Any], str, str]] = {
    "system": (labels, "the name of the system", "system"),
    "instance": (labels, "the label of the user or query", "instance"),
    "rank": (whole, _RANK, "rank"),
    "mass_above": (numbers, "a share in 0..1", "sampling weight above it"),
    "n_candidates": (whole, "the number of candidates, a whole number from 2", "n"),
    "ties": (whole, "how many others are tied, 0 for none", "others tied with it"),
    "count": (numbers, _COUNT, "instances that the row stands for"),
    "repetition": (labels, "which {header} the row belongs to", "repetition"),
    "negatives": (whole, "the number of negatives, from 1", "sampled negatives"),
    "adaptive": (labels, _ADAPTIVE, "whether the draw decided m"),
}


@dataclass(frozen=True)
class Facts:
    """What was understood of one file, for the reader to check.

    Attributes
    ----------
    file
        Its name.
    kind
        What it is: "CSV", "Parquet", "a TREC run" ...
    columns
        Header and meaning of each column that was used.
    ignored
        Headers of those that were not.
    notes
        Sentences about how it was read.
    doubts
        Sentences about what may be wrong.
    """

    file: str
    kind: str
    columns: tuple[tuple[str, str], ...] = ()
    ignored: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()
    doubts: tuple[str, ...] = ()


@dataclass(frozen=True, eq=False)
class Ranks:
    """Ranks of all systems of one file, not yet checked for range.

    Attributes
    ----------
    source
        Where they were found.
    frame
        A row for each rank, whose index is its record in the source. Columns are called by their
        role: ``system``, ``rank``, and what else the source says. Systems, instances and
        repetitions are categories; without instances they are numbered within each system. In a
        wide file ``column`` is the one that the rank stands in.
    facts
        What was understood.
    how_to_give_n
        Remedy when the source does not say n.
    shifts
        Whether ranks may be written from 0; those we counted ourselves are not.
    """

    source: Source
    frame: pd.DataFrame
    facts: Facts
    how_to_give_n: str = "add a column n_candidates"
    shifts: bool = True

    @property
    def name(self) -> str:
        """How messages call the source."""
        return self.source.name

    @property
    def systems(self) -> list[str]:
        """Names, in order of appearance."""
        return [str(name) for name in self.frame["system"].cat.categories]

    def values(self, role: str) -> Any:
        """A column as an array, None where the source has none."""
        return self.frame[role].to_numpy() if role in self.frame else None

    def with_columns(self, **columns: Any) -> Ranks:
        """With other columns in place of those that are there; None removes one."""
        kept = {name: values for name, values in self.frame.items()}
        found = {name: values for name, values in (kept | columns).items() if values is not None}
        return replace(self, frame=pd.DataFrame(found, index=self.frame.index, copy=False))

    def noted(self, *sentences: str) -> Ranks:
        """With further notes."""
        return replace(self, facts=replace(self.facts, notes=(*self.facts.notes, *sentences)))

    def doubted(self, *sentences: str) -> Ranks:
        """With further doubts."""
        return replace(self, facts=replace(self.facts, doubts=(*self.facts.doubts, *sentences)))

    def place(self, row: int, role: Role) -> str:
        """Where the cell of a row is in the source."""
        column = self.source.find(role)
        if "column" in self.frame and (role == "rank" or self.source.typed):
            column = int(self.frame["column"].iloc[row])
        return self.source.place(int(self.frame.index[row]), column)

    def check(self, role: Role, symbol: str, *, low: int, high: int | None = None) -> None:
        """Refuse the first number of a column that is below ``low`` or above ``high``."""
        values = self.values(role)
        for bad, bound in (
            (values < low, f"at least {low:,}"),
            (values > (np.inf if high is None else high), f"at most {high or 0:,}"),
        ):
            if (i := first(bad)) is not None:
                raise ReadError(
                    f"{self.place(i, role)}: {symbol} must be {bound}, got {values[i]:,}; correct "
                    "it or remove the row"
                )


def ranks_of(table: Table) -> Ranks:
    """Read a table as long if it has a rank column, otherwise as wide."""
    source = table.source
    if "rank" in source.roles:
        return _long(table)
    if "system" in source.roles:
        raise _no_rank(source, "a file with a system column needs one")
    for role in ("ties", "mass_above", "count"):
        if (i := source.find(role)) is not None:
            header = source.headers[i]
            raise _no_rank(source, f"a file with {header!r} needs one, and one row per rank")
    return _wide(table)


def _no_rank(source: Source, why: str) -> NoRankColumn:
    headers = [header if len(header) <= 40 else header[:37] + "..." for header in source.headers]
    found = f"found {listed(map(repr, headers), 12)}; {why}"
    names = [name for name in ALIASES["rank"] if name != SAMPLED]
    also = [name for name in names if not is_true_rank(name)]
    wide = "per system, separated by commas, semicolons or tabs"
    return NoRankColumn(
        f"{source.name} has no rank column: {found}. Accepted names: {', '.join(names)}, and for "
        f"ranks among sampled negatives {SAMPLED}; or one column of ranks {wide}",
        f"{source.name} has no column of sampled ranks: {found}. Write columns system,{SAMPLED} "
        f"(accepted too: {', '.join(also)}), or one column of sampled ranks {wide}",
    )


def _column(table: Table, role: Role, i: int | None) -> Any:
    """A column, read and checked; None if the file has none."""
    if i is None:
        return None
    read, what, _ = _COLUMNS[role]
    what = what.format(header=table.source.headers[i])
    return read(table.frame[i], partial(table.source.place, column=i), what)


def _long(table: Table) -> Ranks:
    source, size = table.source, len(table.frame)
    found: dict[str, Any] = {}
    for role in _COLUMNS:
        i = source.find(role)
        if role == "instance" and i is not None and not _is_numeric(table.frame[i]):
            TEXTS.check(size, f"{source.name}, column {source.headers[i]!r}")
        if role == "adaptive" and not source.sampled and "negatives" not in found:
            continue
        values: Any = _repetition(table) if role == "repetition" else _column(table, role, i)
        if role == "system":
            if values is None:
                values = categories(np.zeros(size, np.int8), [stem_of(source.name)])
            SYSTEMS.check(len(values.categories), source.name)
        elif values is not None and role == "count":
            values = _counts(source, values)
        elif values is not None and role == "adaptive":
            values = _adaptive(source, values)
        if values is not None:
            found[role] = values
    facts = _facts(table, [i for i, role in enumerate(source.roles) if role is None])
    return _without_zeros(Ranks(source, pd.DataFrame(found, copy=False), facts))


def _adaptive(source: Source, said: pd.Categorical) -> NDArray[np.bool_]:
    """Whether what was drawn decided m; of sampled ranks alone."""
    meant = [_YES.get(str(each).strip().lower()) for each in said.categories]
    if None in meant:
        odd = meant.index(None)
        place = source.place(int(np.argmax(said.codes == odd)), source.find("adaptive"))
        raise ReadError(f"{place}: {checks.shown(str(said.categories[odd]))} is not {_ADAPTIVE}")
    return np.asarray(np.array(meant, dtype=bool)[said.codes])


def _counts(source: Source, values: NDArray[Any]) -> NDArray[Any] | None:
    """How many instances each row stands for: not negative, fractions allowed."""
    count = compact([values]).astype(np.float64, copy=False)
    if (i := first(~((count >= 0) & (count <= checks.MOST_INSTANCES)))) is not None:
        said = "is below 0" if count[i] < 0 else "is too large"
        place = source.place(i, source.find("count"))
        raise ReadError(f"{place}: {checks.shown(count[i])} {said}; write {_COUNT}")
    return None if np.all(count == 1) else count


def _without_zeros(ranks: Ranks) -> Ranks:
    """Rows that stand for nothing say nothing."""
    count = ranks.values("count")
    if count is None or count.all():
        return ranks
    some = ranks.frame[count > 0]
    if not len(some):
        raise ReadError(f"{ranks.name} counts no instance: every count is 0")
    gone = len(count) - len(some)
    verbs = ("says", "was") if gone == 1 else ("say", "were")
    some["system"] = some["system"].cat.remove_unused_categories()
    return replace(ranks, frame=some).noted(
        f"{several(gone, 'row')} with count 0 {verbs[0]} nothing and {verbs[1]} left out."
    )


def _repetition(table: Table) -> pd.Categorical | None:
    """The repetition of each row, by one or several columns; None if all are the same."""
    code: Ints | None = None
    names = [""]
    for i, role in enumerate(table.source.roles):
        if role != "repetition":
            continue
        own = _column(table, role, i)
        if len(own.categories) < 2:
            continue
        joint = own.codes if code is None else code * len(own.categories) + own.codes
        code, found = pd.factorize(joint.astype(np.int64))
        REPETITIONS.check(len(found), table.source.place(0, i))
        before, after = np.divmod(found, len(own.categories))
        header = table.source.headers[i]
        names = [
            f"{names[b]}, {header} {own.categories[a]}".lstrip(", ")
            for b, a in zip(before.tolist(), after.tolist(), strict=True)
        ]
    return None if code is None else categories(code, names)


def _facts(table: Table, unused: list[int], systems: list[int] | None = None) -> Facts:
    headers, roles = table.source.headers, table.source.roles
    pairs = list(zip(headers, roles, strict=True))
    used = [(header, _COLUMNS[role][2]) for header, role in pairs if role is not None]
    used += [(headers[i], "ranks of this system") for i in systems or ()]
    notes = [
        f"{header} is the same everywhere and says nothing."
        for i, (header, role) in enumerate(pairs)
        if role == "repetition" and table.frame[i].nunique() < 2
    ]
    ignored = tuple(headers[i] or "(no name)" for i in unused)
    return Facts(table.source.name, table.kind, tuple(used), ignored, tuple(notes))


def _wide(table: Table) -> Ranks:
    source, cells = table.source, table.frame
    columns = [
        i
        for i, (header, role) in enumerate(zip(source.headers, source.roles, strict=True))
        if role is None and header and i in cells and not np.isnan(parsed(cells[i])).all()
    ]
    if not columns:
        raise _no_rank(source, "no column holds ranks")
    SYSTEMS.check(len(columns), source.name)
    RANKS.check(len(columns) * len(cells), source.name)
    repetition = _repetition(table)
    instance = _column(table, "instance", source.find("instance"))
    if instance is None:  # rows are numbered, anew in each repetition
        size = len(cells)
        number = np.arange(size) if repetition is None else counted_within(repetition.codes)
        instance = categories(number, np.arange(1, size + 1))
    n = _column(table, "n_candidates", source.find("n_candidates"))
    # A blank cell says that this system has no rank for this instance.
    filled = [cells[i][~_blank(cells[i])] for i in columns]
    ranks = [
        whole(own, partial(source.place, column=i), _WIDE_RANK)
        for i, own in zip(columns, filled, strict=True)
    ]
    sizes = [len(own) for own in filled]
    record = np.concatenate([own.index.to_numpy() for own in filled])
    names = [source.headers[i] for i in columns]
    found = {
        "system": categories(np.repeat(np.arange(len(columns)), sizes), names),
        "column": np.repeat(columns, sizes),
        "rank": np.concatenate(ranks),
        "instance": instance[record],
    }
    if n is not None:
        found["n_candidates"] = n[record]
    if repetition is not None:
        found["repetition"] = repetition[record]
    unused = [i for i, r in enumerate(source.roles) if r is None and i not in columns]
    return Ranks(
        source,
        pd.DataFrame(found, index=record),
        _facts(table, unused, columns),
        "read as one column per system; add a column n_candidates",
    )


def _is_numeric(cells: pd.Series[Any]) -> bool:
    return pd.api.types.is_numeric_dtype(cells.dtype)


def _blank(cells: pd.Series[Any]) -> NDArray[np.bool_]:
    blank = cells.isna()
    if not _is_numeric(cells):
        blank |= cells.astype(str).str.strip() == ""
    return blank.to_numpy(dtype=bool)


def resolve_repetitions(ranks: Ranks, runs: Runs) -> Ranks:
    """Turn repetitions into instances of their own ("averaged") or systems of their own ("apart").

    Without instance labels, entries are numbered within each system and repetition.
    """
    checks.choice("runs", runs, ("averaged", "apart"))
    frame = ranks.frame
    if "repetition" not in frame:
        return ranks
    again = frame["repetition"].cat.categories
    many = f"{len(again):,} repetitions ({listed(again)})"
    both = _pairs(frame["system"], frame["repetition"])
    if runs == "apart":
        SYSTEMS.check(len(both.categories), ranks.name)
        # A system's repetitions stand together, in the order of the file.
        order = sorted(both.categories, key=lambda pair: pair // len(again))
        system = _named(both.reorder_categories(order), frame["system"], again)
        return ranks.with_columns(system=system, repetition=None).noted(
            f"{many} are kept apart: each is a system."
        )
    note = f"{many} are averaged: every instance of every repetition counts as one instance."
    instance = None
    if "instance" in frame:
        numbered = frame["instance"]
    elif "count" not in frame:
        number = counted_within(both.codes)
        numbered = pd.Series(categories(number, np.arange(1, int(number.max()) + 2)))
    else:
        return ranks.with_columns(repetition=None).noted(note)
    pairs = _pairs(numbered, frame["repetition"])
    instance = _named(pairs, numbered, again)
    return ranks.with_columns(instance=instance, repetition=None).noted(note)


def _pairs(one: pd.Series[Any], again: pd.Series[Any]) -> pd.Categorical:
    """Pairs of codes as numbers, in order of appearance."""
    joint = (
        one.cat.codes.to_numpy(np.int64) * len(again.cat.categories) + again.cat.codes.to_numpy()
    )
    code, found = pd.factorize(joint)
    return categories(code, found)


def _named(pairs: pd.Categorical, one: pd.Series[Any], again: pd.Index[Any]) -> pd.Categorical:
    """With a text for each pair: "X (seed 1)"."""
    size, names = len(again), one.cat.categories
    text = [f"{names[p // size]} ({again[p % size]})" for p in pairs.categories.tolist()]
    return categories(pairs.codes, text)


def counted_within(codes: NDArray[Any]) -> Ints:
    """How often each code occurred before: 0, 1, 2 ... within each of them."""
    return np.asarray(pd.Series(codes).groupby(codes).cumcount(), dtype=np.int64)


def listed(items: Iterable[str], most: int = 5) -> str:
    """A few names for a sentence."""
    names = list(items)
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def several(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: "1 query", "3 queries"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
