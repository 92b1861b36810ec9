"""What was understood of a file: in one line, and in detail for the reader to check."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sampledash.ranksets import RankSet
from sampledash.readers.frame import Facts, several

_FEW = 20  # instances, below which chance alone can make all ranks small
_SAMPLE = 1010  # ranks of usual samples of up to 1,000 negatives lie below
_MANY = 5  # times as many candidates as the largest rank are suspicious
_PILE = 0.2  # share of the rows at the largest rank that looks like a cut


@dataclass(frozen=True)
class Summary:
    """Facts about rank sets that were read together. Its text is one line for the screen.

    Attributes
    ----------
    systems
        Names.
    rows
        Ranks that were read.
    instances
        Of each system, counts included.
    n_low, n_high
        Fewest and most candidates.
    smallest_rank, largest_rank
        As used, counted from 1.
    max_relevant
        Most relevant items of an instance.
    has_ties, has_mass, has_counts
        Whether there are ties, sampling weights, rows that stand for several instances.
    zero_based
        Whether 1 was added to each rank.
    censored, relevant
        Relevant items that TREC runs miss, of all they should hold.
    files
        What was understood of each file.
    doubts
        Sentences about what may be wrong: worth the reader's look.
    """

    systems: tuple[str, ...]
    rows: int
    instances: tuple[int, ...]
    n_low: int
    n_high: int
    smallest_rank: int
    largest_rank: int
    max_relevant: int
    has_ties: bool
    has_mass: bool
    has_counts: bool = False
    zero_based: bool = False
    censored: int = 0
    relevant: int = 0
    files: tuple[Facts, ...] = ()
    doubts: tuple[str, ...] = ()

    def __str__(self) -> str:
        shown = ", ".join(self.systems[:5]) + (", ..." if len(self.systems) > 5 else "")
        many = max(self.instances)
        more = {
            f"up to {self.max_relevant} relevant items": self.max_relevant > 1,
            "counted": self.has_counts,
            "with ties": self.has_ties,
            "with sampling weights": self.has_mass,
            f"{self.censored:,} of {self.relevant:,} relevant items not ranked": self.censored > 0,
        }
        parts = [
            f"{several(len(self.systems), 'system')} ({shown})",
            f"{_span(min(self.instances), many)} instance{'s' * (many > 1)} each",
            f"n = {_span(self.n_low, self.n_high)}",
            *(text for text, told in more.items() if told),
        ]
        return ", ".join(parts)


def _span(low: int, high: int) -> str:
    return f"{low:,}" if low == high else f"{low:,} to {high:,}"


def describe(sets: Sequence[RankSet], files: Sequence[Facts] = (), **read: Any) -> Summary:
    """Say what was understood, without reading anything again.

    Parameters
    ----------
    sets
        Rank sets, at least one.
    files
        What was understood of the files they come from.
    read
        Other attributes that the sets do not tell.

    Raises
    ------
    ValueError
        If there is none.
    """
    if not sets:
        raise ValueError("sets is empty: give at least one rank set")
    return Summary(
        systems=tuple(s.system for s in sets),
        rows=sum(map(len, sets)),
        instances=tuple(round(s.n_instances) for s in sets),
        n_low=min(int(s.n.min()) for s in sets),
        n_high=max(int(s.n.max()) for s in sets),
        smallest_rank=min(int(s.ranks.min()) for s in sets),
        largest_rank=max(int(s.ranks.max()) for s in sets),
        max_relevant=max(s.max_relevant for s in sets),
        has_ties=any(s.has_ties for s in sets),
        has_mass=any(s.mass_above is not None for s in sets),
        has_counts=any(bool(np.any(s.counts != 1)) for s in sets),
        files=tuple(files),
        doubts=(*(doubt for file in files for doubt in file.doubts), *_doubts(sets)),
        **read,
    )


def _doubts(sets: Sequence[RankSet]) -> tuple[str, ...]:
    """What looks as if the ranks were not the true ones."""
    largest = max(int((s.ranks + s.ties).max()) for s in sets)
    n = min(int(s.n.min()) for s in sets)
    if min(s.n_instances for s in sets) < _FEW or n < _MANY * largest:
        return ()
    shares = {s.system: s.counts[s.ranks + s.ties == largest].sum() / s.counts.sum() for s in sets}
    worst = max(shares, key=shares.__getitem__)
    if largest > 10 and shares[worst] >= _PILE:
        return (
            f"Rank {largest:,} holds {100 * shares[worst]:.0f} % of {worst}: is it where the list "
            "was cut? Items beyond the end of a list have no known rank.",
        )
    return (
        f"The largest rank is {largest:,} of n = {n:,}: are these ranks among sampled negatives? "
        "Only true ranks, among all candidates, can be checked here.",
    ) * (largest <= _SAMPLE)
