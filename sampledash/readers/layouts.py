"""The two ways to write ranks down: one row per rank (long), or one column per system (wide)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampledash.readers.cells import Floats, Ints, Place, has_numbers, labels, numbers, whole
from sampledash.readers.columns import ALIASES, Role
from sampledash.readers.errors import ReadError
from sampledash.readers.tables import Table

_RANK = "a whole number from 1"
_WIDE_RANK = (
    f"{_RANK} (no column is named rank, so each is read as a system: "
    "name it rank, or remove the column)"
)
_N = "the number of candidates, a whole number from 2"


@dataclass(frozen=True, eq=False)
class Rows:
    """Ranks of all systems, one entry per rank, and where each was found.

    Attributes
    ----------
    name
        How messages call the source.
    systems, system
        Names, and the code of each entry's system.
    labels, label
        Distinct instance labels, and the code of each entry's.
    labelled
        Whether the source identifies instances; otherwise they are numbered within each system.
    rank, n, ties, mass
        As in :class:`sampledash.RankSet`, not yet checked for range.
    place
        Entry and column -> its place in the source.
    how_to_give_n
        Remedy when the source does not say n.
    """

    name: str
    systems: list[str]
    system: Ints
    labels: NDArray[Any]
    label: Ints
    labelled: bool
    rank: Ints
    n: Ints | None
    ties: Ints | None
    mass: Floats | None
    place: Callable[[int, Role], str]
    how_to_give_n: str = "add a column n_candidates"


def rows_of(table: Table) -> Rows:
    """Read a table as long if it has a rank column, otherwise as wide."""
    columns = table.columns
    rank = columns.find("rank")
    if rank is not None:
        return _long(table, rank)
    if columns.find("system") is not None:
        raise _no_rank(table, "a file with a system column needs one")
    for role in ("ties", "mass_above"):
        if role in columns.roles:
            raise _no_rank(table, f"a file with {role!r} needs one, and one row per rank")
    return _wide(table)


def _no_rank(table: Table, why: str) -> ReadError:
    return ReadError(
        f"{table.name} has no rank column: found {table.columns.found()}; {why}. "
        f"Accepted names: {', '.join(ALIASES['rank'])}; or one column of ranks per system, "
        "separated by commas, semicolons or tabs"
    )


def _cell(table: Table, column: int) -> Place:
    return lambda row: table.place(row, column)


def _column(
    table: Table, role: Role, read: Callable[[pd.Series[Any], Place, str], Any], what: str
) -> Any:
    i = table.columns.find(role)
    if i is None:
        return None
    return read(table.frame[i], _cell(table, i), what)


def _long(table: Table, rank_column: int) -> Rows:
    systems = _column(table, "system", labels, "the name of the system")
    instance = _column(table, "instance", labels, "the label of the user or query")
    rank = whole(table.frame[rank_column], _cell(table, rank_column), _RANK)
    if systems is None:
        systems = np.zeros(len(rank), dtype=np.int64), np.array([Path(table.name).stem])
    labelled = instance is not None
    if instance is None:
        label = pd.Series(systems[0]).groupby(systems[0]).cumcount().to_numpy()
        instance = label, np.arange(1, int(label.max()) + 2)
    mass = _column(table, "mass_above", numbers, "a share in 0..1")
    return Rows(
        name=table.name,
        systems=[str(name) for name in systems[1]],
        system=systems[0],
        labels=instance[1],
        label=instance[0],
        labelled=labelled,
        rank=rank,
        n=_column(table, "n_candidates", whole, _N),
        ties=_column(table, "ties", whole, "how many others are tied, 0 for none"),
        mass=None if mass is None else mass.astype(np.float64),
        place=lambda row, role: table.place(row, table.columns.find(role)),
    )


def _wide(table: Table) -> Rows:
    columns = [i for i in table.columns.others if has_numbers(table.frame[i])]
    if not columns:
        raise _no_rank(table, "no column holds ranks")
    instance = _column(table, "instance", labels, "the label of the user or query")
    if instance is None:
        instance = np.arange(len(table.frame)), np.arange(1, len(table.frame) + 1)
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

    def place(row: int, role: Role) -> str:
        column = columns[int(system[row])] if role == "rank" else table.columns.find(role)
        return table.place(int(source[row]), column)

    return Rows(
        name=table.name,
        systems=[table.columns.headers[i] for i in columns],
        system=system,
        labels=instance[1],
        label=instance[0][source],
        labelled=True,
        rank=np.concatenate(ranks),
        n=None if n is None else n[source],
        ties=None,
        mass=None,
        place=place,
        how_to_give_n="read as one column per system; add a column n_candidates",
    )


def _blank(series: pd.Series[Any]) -> NDArray[np.bool_]:
    blank = series.isna().to_numpy()
    if pd.api.types.is_numeric_dtype(series.dtype):
        return blank
    spaces = series.map(lambda cell: isinstance(cell, str) and not cell.strip())
    return np.asarray(blank | spaces.to_numpy(dtype=bool))


def _placed(table: Table, column: int, source: NDArray[np.intp]) -> Place:
    return lambda row: table.place(int(source[row]), column)
