"""What all formats are turned into: one entry per rank, and where each was found."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampledash.readers.columns import Role
from sampledash.readers.errors import ReadError
from sampledash.readers.limits import check_name, check_systems
from sampledash.types import Floats, Ints


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

    def noted(self, *sentences: str) -> Facts:
        """With further notes."""
        return replace(self, notes=(*self.notes, *sentences))

    def doubted(self, *sentences: str) -> Facts:
        """With further doubts."""
        return replace(self, doubts=(*self.doubts, *sentences))


@dataclass(frozen=True, eq=False)
class Repetition:
    """Which repetition of the evaluation each entry belongs to.

    Attributes
    ----------
    header
        What repetitions are called: "seed", or "fold and seed".
    names
        The distinct ones, as a system's name shows them: "seed 1".
    code
        Of each entry.
    """

    header: str
    names: list[str]
    code: Ints


@dataclass(frozen=True, eq=False)
class Rows:
    """Ranks of all systems of one file, one entry per rank, and where each was found.

    Attributes
    ----------
    name
        How messages call the source.
    systems, system
        Names, and the code of each entry's system.
    labels, label
        Distinct instance labels, and the code of each entry's; ``None`` when the source does not
        identify instances: they are then numbered within each system.
    rank, n, ties, mass, count
        As in :class:`sampledash.RankSet`, not yet checked for range.
    repetition
        The repetition of each entry, ``None`` if there is only one.
    negatives
        How many were sampled for each entry, where a column says so.
    adaptive
        Whether what was drawn decided how many, for each entry, where a column says so.
    sampled
        Whether the source itself calls its ranks sampled.
    place
        Entry and column -> its place in the source.
    facts
        What was understood.
    how_to_give_n
        Remedy when the source does not say n.
    shifts
        Whether ranks may be written from 0; those we counted ourselves are not.
    """

    name: str
    systems: list[str]
    system: Ints
    labels: NDArray[Any] | None
    label: Ints | None
    rank: Ints
    n: Ints | None
    ties: Ints | None
    mass: Floats | None
    count: Floats | None
    repetition: Repetition | None
    place: Callable[[int, Role], str]
    facts: Facts
    negatives: Ints | None = None
    adaptive: NDArray[np.bool_] | None = None
    sampled: bool = False
    how_to_give_n: str = "add a column n_candidates"
    shifts: bool = True

    def __post_init__(self) -> None:
        check_systems(len(self.systems), self.name)
        for system in self.systems:
            check_name(system, self.name)

    def __len__(self) -> int:
        return len(self.rank)

    @property
    def labelled(self) -> bool:
        """Whether the source identifies instances."""
        return self.label is not None

    def take(self, keep: NDArray[np.bool_]) -> Rows:
        """Only some entries, which still know their places."""
        size = int(np.count_nonzero(keep))

        def part(values: Any) -> Any:
            if values is None:
                return None
            # One value for all entries needs no room of its own.
            return np.broadcast_to(values[0], size) if values.strides == (0,) else values[keep]

        again, place = self.repetition, self.place
        return replace(
            self,
            system=part(self.system),
            label=part(self.label),
            rank=part(self.rank),
            n=part(self.n),
            negatives=part(self.negatives),
            adaptive=part(self.adaptive),
            ties=part(self.ties),
            mass=part(self.mass),
            count=part(self.count),
            repetition=None if again is None else replace(again, code=part(again.code)),
            place=lambda row, role: place(int(np.flatnonzero(keep)[row]), role),
        )

    def check(
        self, values: Ints, role: Role, symbol: str, *, low: int, high: int | None = None
    ) -> None:
        """Refuse the first number of a column that is below ``low`` or above ``high``."""
        for bad, bound in (
            (values < low, f"at least {low:,}"),
            (values > (np.inf if high is None else high), f"at most {high or 0:,}"),
        ):
            if bad.any():
                i = int(np.argmax(bad))
                raise ReadError(
                    f"{self.place(i, role)}: {symbol} must be {bound}, got {values[i]:,}; correct "
                    "it or remove the row"
                )

    def groups(self) -> list[NDArray[np.intp]]:
        """Entries of each system, in the order of the file."""
        # 16-bit keys are sorted by radix: a tenth of the time for a million rows.
        narrow = np.int16 if len(self.systems) < 2**15 else np.int64
        sizes = np.bincount(self.system, minlength=len(self.systems))
        if np.all(self.system[1:] >= self.system[:-1]):
            order = np.arange(len(self))
        else:
            order = np.argsort(self.system.astype(narrow), kind="stable")
        return np.split(order, np.cumsum(sizes)[:-1])


def counted_within(codes: Ints) -> Ints:
    """How often each code occurred before: 0, 1, 2 ... within each of them."""
    order = np.argsort(codes, kind="stable")
    sizes = np.bincount(codes)
    starts = np.cumsum(sizes) - sizes
    place = np.empty(len(codes), dtype=np.int64)
    place[order] = np.arange(len(codes)) - np.repeat(starts, sizes)
    return place


def listed(items: Iterable[str], most: int = 5) -> str:
    """A few names for a sentence."""
    names = list(items)
    rest = len(names) - most
    return ", ".join(names[:most]) + (f" and {rest:,} more" if rest > 0 else "")


def several(number: int, one: str, many: str | None = None) -> str:
    """A number with its noun: "1 query", "3 queries"."""
    return f"{number:,} {one if number == 1 else many or one + 's'}"
