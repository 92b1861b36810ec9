"""The two ways to write ranks down: one row per rank (long), or one column per system (wide)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampledash.checks import MOST_INSTANCES, shown
from sampledash.readers.arrays import stem_of
from sampledash.readers.cells import Place, compact, has_numbers, labels, numbers, whole
from sampledash.readers.columns import ALIASES, SAMPLED, Role, is_true_rank
from sampledash.readers.errors import NoRankColumn, ReadError
from sampledash.readers.limits import (
    check_ranks,
    check_repetitions,
    check_systems,
    check_text_labels,
)
from sampledash.readers.rows import Facts, Repetition, Rows, counted_within, several
from sampledash.readers.tables import Table
from sampledash.types import Floats, Ints

_RANK = "a whole number from 1"
_WIDE_RANK = (
    f"{_RANK} (no column is named rank, so each is read as a system: "
    "name it rank, or remove the column)"
)
_N = "the number of candidates, a whole number from 2"
_MEANING: dict[Role, str] = {
    "system": "system", "instance": "instance", "rank": "rank", "n_candidates": "n",
    "negatives": "sampled negatives", "adaptive": "whether the draw decided m",
    "ties": "others tied with it",
    "mass_above": "sampling weight above it", "count": "instances that the row stands for",
    "repetition": "repetition",
}  # fmt: skip


def rows_of(table: Table) -> Rows:
    """Read a table as long if it has a rank column, otherwise as wide."""
    columns = table.columns
    rank = columns.find("rank")
    if rank is not None:
        return _long(table, rank)
    if columns.find("system") is not None:
        raise _no_rank(table, "a file with a system column needs one")
    for role in ("ties", "mass_above", "count"):
        i = columns.find(role)
        if i is not None:
            header = columns.headers[i]
            raise _no_rank(table, f"a file with {header!r} needs one, and one row per rank")
    return _wide(table)


def _no_rank(table: Table, why: str) -> NoRankColumn:
    found = f"found {table.columns.found()}; {why}"
    names = [name for name in ALIASES["rank"] if name != SAMPLED]
    also = [name for name in names if not is_true_rank(name)]
    wide = "per system, separated by commas, semicolons or tabs"
    return NoRankColumn(
        f"{table.name} has no rank column: {found}. Accepted names: {', '.join(names)}, and for "
        f"ranks among sampled negatives {SAMPLED}; or one column of ranks {wide}",
        f"{table.name} has no column of sampled ranks: {found}. Write columns system,{SAMPLED} "
        f"(accepted too: {', '.join(also)}), or one column of sampled ranks {wide}",
    )


def _cell(table: Table, column: int) -> Place:
    return lambda row: table.where.place(row, column)


def _column(
    table: Table, role: Role, read: Callable[[pd.Series[Any], Place, str], Any], what: str
) -> Any:
    i = table.columns.find(role)
    if i is None:
        return None
    return read(table.frame[i], _cell(table, i), what)


def _long(table: Table, rank_column: int) -> Rows:
    where, columns = table.where, table.columns
    systems = _column(table, "system", labels, "the name of the system")
    check_systems(0 if systems is None else len(systems[1]), table.name)
    named = columns.find("instance")
    if named is not None and not pd.api.types.is_numeric_dtype(table.frame[named].dtype):
        check_text_labels(len(table.frame), f"{table.name}, column {columns.headers[named]!r}")
    instance = _column(table, "instance", labels, "the label of the user or query")
    rank = whole(table.frame[rank_column], _cell(table, rank_column), _RANK)
    if systems is None:
        systems = np.zeros(len(rank), dtype=np.int64), np.array([stem_of(table.name)])
    mass = _column(table, "mass_above", numbers, "a share in 0..1")
    rows = Rows(
        name=table.name,
        systems=[str(name) for name in systems[1]],
        system=systems[0].astype(np.int16),  # there are few
        labels=None if instance is None else instance[1],
        label=None if instance is None else instance[0],
        rank=rank,
        n=_column(table, "n_candidates", whole, _N),
        ties=_column(table, "ties", whole, "how many others are tied, 0 for none"),
        mass=None if mass is None else mass.astype(np.float64),
        count=_counts(table),
        repetition=_repetition(table),
        negatives=_column(table, "negatives", whole, "the number of negatives, from 1"),
        adaptive=_adaptive(table),
        sampled=columns.sampled,
        place=lambda row, role: where.place(row, columns.find(role)),
        facts=_facts(table, [i for i, role in enumerate(columns.roles) if role is None]),
    )
    return _without_zeros(rows)


def _adaptive(table: Table) -> NDArray[np.bool_] | None:
    """Whether what was drawn decided m; of sampled ranks alone."""
    what = "yes or no, whether what was drawn for a row decided its m"
    if not table.columns.sampled and table.columns.find("negatives") is None:
        return None
    found = _column(table, "adaptive", labels, what)
    if found is None:
        return None
    meant = {"yes": True, "true": True, "1": True, "no": False, "false": False, "0": False}
    said = [meant.get(str(each).strip().lower()) for each in found[1]]
    if None in said:
        i = int(np.argmax(found[0] == said.index(None)))
        place = table.where.place(i, table.columns.find("adaptive"))
        raise ReadError(f"{place}: {shown(str(found[1][said.index(None)]))} is not {what}")
    return np.asarray(np.array(said, dtype=bool)[found[0]])


def _counts(table: Table) -> Floats | None:
    """How many instances each row stands for: not negative, fractions allowed."""
    what = "how many instances the row stands for, a number from 0"
    count = _column(table, "count", numbers, what)
    if count is None:
        return None
    found: Floats = compact([count]).astype(np.float64, copy=False)
    bad = ~((found >= 0) & (found <= MOST_INSTANCES))
    if bad.any():
        i = int(np.argmax(bad))
        said = "is below 0" if found[i] < 0 else "is too large"
        place = table.where.place(i, table.columns.find("count"))
        raise ReadError(f"{place}: {shown(found[i])} {said}; write {what}")
    return None if np.all(found == 1) else found


def _without_zeros(rows: Rows) -> Rows:
    """Rows that stand for nothing say nothing."""
    if rows.count is None or rows.count.all():
        return rows
    some = rows.take(rows.count > 0)
    if not len(some):
        raise ReadError(f"{rows.name} counts no instance: every count is 0")
    gone = len(rows) - len(some)
    verbs = ("says", "was") if gone == 1 else ("say", "were")
    note = f"{several(gone, 'row')} with count 0 {verbs[0]} nothing and {verbs[1]} left out."
    present = np.bincount(some.system, minlength=len(rows.systems)) > 0
    code: NDArray[Any] = np.cumsum(present, dtype=np.int16) - 1
    return replace(
        some,
        systems=[name for name, there in zip(rows.systems, present, strict=True) if there],
        system=code[some.system],
        facts=rows.facts.noted(note),
    )


def _repetition(table: Table) -> Repetition | None:
    """The repetition of each row, by one or several columns; None if all are the same."""
    code: Ints | None = None
    headers: list[str] = []
    names: list[str] = [""]
    for i in table.columns.all("repetition"):
        header = table.columns.headers[i]
        own, distinct = labels(
            table.frame[i], _cell(table, i), f"which {header} the row belongs to"
        )
        if len(distinct) < 2:
            continue
        headers.append(header)
        joint = own if code is None else code * len(distinct) + own
        code, found = pd.factorize(joint)
        check_repetitions(len(found), table.where.place(0, i))
        names = [
            f"{names[c // len(distinct)]}, {header} {distinct[c % len(distinct)]}".lstrip(", ")
            for c in found.tolist()
        ]
    if code is None:
        return None
    return Repetition(" and ".join(headers), names, code.astype(np.int64))


def _facts(table: Table, unused: list[int], systems: list[int] | None = None) -> Facts:
    headers, roles = table.columns.headers, table.columns.roles
    used = [(header, _MEANING[role]) for header, role in zip(headers, roles, strict=True) if role]
    used += [(headers[i], "ranks of this system") for i in systems or ()]
    ignored = tuple(headers[i] or "(no name)" for i in unused)
    notes = []
    for i in table.columns.all("repetition"):
        if table.frame[i].nunique() < 2:
            notes.append(f"{headers[i]} is the same everywhere and says nothing.")
    return Facts(table.name, table.kind, tuple(used), ignored, tuple(notes))


def _wide(table: Table) -> Rows:
    columns = [i for i in table.columns.others if i in table.frame and has_numbers(table.frame[i])]
    if not columns:
        raise _no_rank(table, "no column holds ranks")
    check_systems(len(columns), table.name)
    check_ranks(len(columns) * len(table.frame), table.name)
    again = _repetition(table)
    instance = _column(table, "instance", labels, "the label of the user or query")
    if instance is None:  # rows are numbered, anew in each repetition
        size = len(table.frame)
        number = np.arange(size) if again is None else counted_within(again.code)
        instance = number, np.arange(1, size + 1)
    n = _column(table, "n_candidates", whole, _N)
    ranks: list[Ints] = []
    sources: list[NDArray[np.intp]] = []
    for i in columns:
        # A blank cell says that this system has no rank for this instance.
        filled = np.flatnonzero(~_blank(table.frame[i]))
        sources.append(filled)
        ranks.append(whole(table.frame[i].iloc[filled], _placed(table, i, filled), _WIDE_RANK))
    source = np.concatenate(sources)
    system = np.repeat(np.arange(len(columns)), [len(s) for s in sources])
    where, known = table.where, table.columns

    def place(row: int, role: Role) -> str:
        column = columns[int(system[row])] if role == "rank" else known.find(role)
        return where.place(int(source[row]), column)

    unused = [i for i, r in enumerate(known.roles) if r is None and i not in columns]
    return Rows(
        name=table.name,
        systems=[known.headers[i] for i in columns],
        system=system,
        labels=instance[1],
        label=instance[0][source],
        rank=np.concatenate(ranks),
        n=None if n is None else n[source],
        ties=None,
        mass=None,
        count=None,
        repetition=None if again is None else replace(again, code=again.code[source]),
        place=place,
        facts=_facts(table, unused, columns),
        how_to_give_n="read as one column per system; add a column n_candidates",
    )


def _blank(series: pd.Series[Any]) -> NDArray[np.bool_]:
    blank = series.isna().to_numpy()
    if pd.api.types.is_numeric_dtype(series.dtype):
        return blank
    spaces = series.map(lambda cell: isinstance(cell, str) and not cell.strip())
    return np.asarray(blank | spaces.to_numpy(dtype=bool))


def _placed(table: Table, column: int, source: NDArray[np.intp]) -> Place:
    return lambda row: table.where.place(int(source[row]), column)
