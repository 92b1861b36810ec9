"""What all formats are turned into: a frame with a row for each rank, which knows its records.

Ranks are written in two ways: one row per rank (long), or one column per system (wide).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampledash import checks
from sampledash.checks import counted
from sampledash.readers import unknown_columns as unknown
from sampledash.readers import upload_limits as limits
from sampledash.readers.columns import (
    ROLES,
    SAMPLED,
    TYPED_RANKS,
    Layout,
    bare,
    beyond,
    categories,
    first,
    places,
)
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
    """What was understood of one file, for the reader to check."""

    file: str
    kind: str  # "CSV", "Parquet", "a TREC run" ...
    columns: tuple[tuple[str, str], ...] = ()  # header and meaning of each that was used
    ignored: tuple[str, ...] = ()  # headers of those that were not
    notes: tuple[str, ...] = ()  # sentences about how it was read
    doubts: tuple[str, ...] = ()  # sentences about what may be wrong


@dataclass(frozen=True, eq=False)
class Ranks:
    """Ranks of all systems of one file, not yet checked for range.

    The frame has a row for each rank, whose index is its record in the source. Columns are called
    by their role: ``system``, ``rank``, and what else the source says. Systems, instances and
    repetitions are categories; without instances they are numbered within each system. In a wide
    file ``column`` is the one that the rank stands in.
    """

    source: Layout
    frame: pd.DataFrame
    facts: Facts
    shifts: bool = True  # ranks may be written from 0; those we counted ourselves are not

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
        """With other columns, one number standing for all rows; None removes one."""
        size = len(self.frame)
        table = {
            name: values if np.ndim(values) else np.broadcast_to(values, size)
            for name, values in {**self.frame, **columns}.items()
            if values is not None
        }
        return replace(self, frame=pd.DataFrame(table, index=self.frame.index, copy=False))

    def only(self, keep: Flags) -> Ranks:
        """Some of the rows. What stands for all is kept once: a file has millions of them."""
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
        """With further notes and doubts."""
        before = self.facts
        facts = replace(before, notes=(*before.notes, *notes), doubts=(*before.doubts, *doubts))
        return replace(self, facts=facts)

    def place(self, row: int, role: str) -> str:
        """Where the cell of a row is in the source."""
        column = self.source.find(role)
        if "column" in self.frame and (role == "rank" or self.source.kind == TYPED_RANKS):
            column = int(self.frame["column"].iloc[row])
        return self.source.place(int(self.frame.index[row]), column)

    def with_number(self, role: str, given: int | None, *, agree: bool = False) -> Ranks:
        """One n or m for each row: that of the source, else the one given.

        ``agree``: a source that says another one than is given is refused.
        """
        (symbol, _, low, high), values = limits.NUMBERS[role], self.values(role)
        if given is not None:
            given = checks.integer(symbol, given, low=low, high=high)
        if values is None:
            return self if given is None else self.with_columns(**{role: given})
        for bad, bound in ((values < low, f"least {low:,}"), (values > high, f"most {high:,}")):
            if (i := first(bad)) is not None:
                raise ReadError(
                    f"{self.place(i, role)}: {symbol} must be at {bound}, got {values[i]:,}; "
                    "correct it or remove the row"
                )
        if agree and given is not None and (i := first(values != given)) is not None:
            raise ReadError(
                f"{self.place(i, role)}: the column says {symbol} = {values[i]:,}, but {symbol} = "
                f"{given:,} is given; leave one of them out"
            )
        return self


def ranks_of(source: Layout, cells: pd.DataFrame) -> Ranks:
    """Read a table as long if it has a rank column, otherwise as wide."""
    if "rank" in source.roles:
        return _without_total(_long(source, cells))
    if "system" in source.roles:
        raise _no_rank(source, "a file with a system column needs one")
    for role in ("ties", "mass_above", "count"):
        if (i := source.find(role)) is not None:
            header = source.headers[i]
            raise _no_rank(source, f"a file with {header!r} needs one, and one row per rank")
    return _without_total(_wide(source, cells))


def _without_total(ranks: Ranks) -> Ranks:
    """The ranks, where their last row is not by its label the sum or the mean of all others."""
    frame = ranks.frame
    for role in {"system", "instance"} & {*frame}:
        label = frame[role].iloc[-1]
        if bare(str(label)).rstrip(":") in _TOTALS:
            sizes = frame["system"].value_counts()
            if role == "instance" or sizes[label] == 1 < sizes.max():
                raise ReadError(
                    f"{ranks.place(len(frame) - 1, role)}: {label!r} seems to be no {role} but the "
                    "sum or mean of the rows above; remove the row, or name it otherwise"
                )
    return ranks


def _no_rank(source: Layout, why: str) -> ReadError:
    headers = [header if len(header) <= 40 else header[:37] + "..." for header in source.headers]
    return ReadError(
        f"{source.name} has no rank column: found {few(map(repr, headers), 12)}; {why}. Name it "
        f"rank, or {SAMPLED} for ranks among sampled negatives; or write one column of ranks per "
        "system, separated by commas, semicolons or tabs"
    )


def _column(source: Layout, cells: pd.DataFrame, role: str, i: int | None = None) -> Any:
    """A column, by default the first with its role, read and checked; None if there is none."""
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
                read = categories(np.zeros(len(cells), np.int8), [stem_of(source.name)])
            limits.SYSTEMS.check(len(read.categories), source.name)
        if read is not None:
            table[role] = read
    if "system" not in source.roles:
        unknown.refuse_merged(source, cells, table.get("instance"))
    if (flags := beyond(cells[source.roles.index("rank")])) is not None:
        table["beyond"] = flags
    return _without_zeros(Ranks(source, pd.DataFrame(table, copy=False), _facts(source, cells)))


def _without_zeros(ranks: Ranks) -> Ranks:
    """Rows that stand for nothing say nothing."""
    count = ranks.values("count")
    if count is None or count.all():
        return ranks
    some = ranks.only(count > 0)
    if not len(some.frame):
        raise ReadError(f"{ranks.name} counts no instance: every count is 0")
    gone = len(count) - len(some.frame)
    verbs = ("says", "was") if gone == 1 else ("say", "were")
    system = some.frame["system"].array
    if len(np.unique(system.codes)) < len(system.categories):
        some = some.with_columns(system=system.remove_unused_categories())
    return some.noted(
        f"{counted(gone, 'row')} with count 0 {verbs[0]} nothing and {verbs[1]} left out."
    )


def _repetition(source: Layout, cells: pd.DataFrame) -> pd.Categorical | None:
    """The repetition of each row, by one or several columns; None if all are the same."""
    joint: pd.Categorical | None = None
    for i, role in enumerate(source.roles):
        if role != "repetition":
            continue
        own = _column(source, cells, role, i)
        limits.REPETITIONS.check(len(own.categories), source.place(0, i))
        if len(own.categories) > 1:
            own = own.rename_categories([f"{source.headers[i]} {x}" for x in own.categories])
            joint = own if joint is None else _pairs(joint, own, "{}, {}")
            limits.REPETITIONS.check(len(joint.categories), source.place(0, i))
    return joint


def _pairs(one: pd.Categorical, other: pd.Categorical, form: str) -> pd.Categorical:
    """A label for each pair that occurs, in order of appearance."""
    size = len(other.categories)
    code, distinct = pd.factorize(one.codes.astype(np.int64) * size + other.codes)
    pairs = (divmod(pair, size) for pair in distinct.tolist())
    ones, others = one.categories.tolist(), other.categories.tolist()
    return categories(code, [form.format(ones[a], others[b]) for a, b in pairs])


def _facts(source: Layout, cells: pd.DataFrame, systems: Sequence[int] = ()) -> Facts:
    headers = source.headers
    pairs = list(zip(headers, source.roles, strict=True))
    used = [(header, ROLES[role].means) for header, role in pairs if role is not None]
    used += [(headers[i], "ranks of this system") for i in systems]
    notes = [
        f"{header} is the same everywhere and says nothing."
        for i, (header, role) in enumerate(pairs)
        if role == "repetition" and cells[i].nunique() < 2
    ]
    unused = [x for i, (x, role) in enumerate(pairs) if role is None and i not in systems]
    ignored = tuple(header or "(no name)" for header in unused)
    return Facts(source.name, source.kind, tuple(used), ignored, tuple(notes))


def _wide(source: Layout, cells: pd.DataFrame) -> Ranks:
    others = [i for i, role in enumerate(source.roles) if role is None and i in cells]
    numeric = [i for i in others if unknown.holds_numbers(cells[i])]
    index = [i for i in numeric if unknown.is_index(source, i, cells[i])]
    columns = [i for i in numeric if i not in index]
    if not columns:
        raise _no_rank(source, "no column holds ranks")
    if unknown.holds_no_ranks(source, cells, columns):
        raise _no_rank(source, "nothing says that these are ranks")
    blank = next((i for i in others if source.headers[i] and _blank(cells[i]).all()), None)
    if blank is not None:
        raise ReadError(
            f"{source.place(0, blank)}: the column is blank; write ranks, or remove the column"
        )
    limits.SYSTEMS.check(len(columns), source.name)
    limits.RANKS.check(len(columns) * len(cells), source.name)
    repetition = _repetition(source, cells)
    own = {role: _column(source, cells, role) for role in ("instance", "n_candidates")}
    unknown.refuse_merged(source, cells, own["instance"])
    if own["instance"] is None:  # rows are numbered, anew in each repetition
        codes = np.zeros(len(cells)) if repetition is None else repetition.codes
        number = pd.Series(codes).groupby(codes).cumcount()
        own["instance"] = categories(number.to_numpy(), np.arange(1, len(cells) + 1))
    # A blank cell says that this system has no rank for this instance.
    filled = [cells[i][~_blank(cells[i])] for i in columns]
    record = np.concatenate([each.index.to_numpy() for each in filled])
    system = np.repeat(np.arange(len(columns)), [len(each) for each in filled])
    ranks = [
        places(each, partial(source.place, column=i), _WIDE_RANK)
        for i, each in zip(columns, filled, strict=True)
    ]
    table = {
        "system": categories(system, [source.headers[i] for i in columns]),
        "column": np.asarray(columns)[system],
        "rank": np.concatenate(ranks),
    }
    flags = [beyond(each) for each in filled]
    if any(each is not None for each in flags):
        none = [np.zeros(len(each), dtype=bool) for each in filled]
        table["beyond"] = np.concatenate(
            [some if each is None else each for each, some in zip(flags, none, strict=True)]
        )
    for role, values in (own | {"repetition": repetition}).items():
        if values is not None:
            table[role] = values[record]
    names = [source.headers[i] or "(no name)" for i in index]
    read = Ranks(source, pd.DataFrame(table, index=record), _facts(source, cells, columns))
    return read.noted(*(f"{name} numbers the rows, and is left out." for name in names))


def _blank(cells: pd.Series[Any]) -> NDArray[np.bool_]:
    blank = cells.isna()
    if not pd.api.types.is_numeric_dtype(cells.dtype):
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
    system, again = (frame[role].array for role in ("system", "repetition"))
    many = f"{len(again.categories):,} repetitions ({few(again.categories)})"
    if runs == "apart":
        both = _pairs(system, again, "{} ({})")
        limits.SYSTEMS.check(len(both.categories), ranks.name)
        # A system's repetitions stand together, in the order of the file.
        order = pd.Series(system.codes).groupby(both.codes).first().to_numpy()
        names = both.categories[np.argsort(order, kind="stable")]
        ranks = ranks.with_columns(system=both.reorder_categories(names))
        note = f"{many} are kept apart: each is a system."
    else:
        instance = frame["instance"].array if "instance" in frame else None
        if instance is None and "count" not in frame:
            number = frame.groupby(["system", "repetition"], observed=True).cumcount().to_numpy()
            instance = categories(number, np.arange(1, int(number.max()) + 2))
        if instance is not None:
            ranks = ranks.with_columns(instance=_pairs(instance, again, "{} ({})"))
        note = f"{many} are averaged: every instance of every repetition counts as one instance."
    return ranks.with_columns(repetition=None).noted(note)


def few(items: Iterable[str], most: int = 5) -> str:
    """The first names for a sentence, and how many more there are."""
    names = list(items)
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")
