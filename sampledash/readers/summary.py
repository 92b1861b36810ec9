"""What was understood of a file, in one line."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from sampledash.ranksets import RankSet


@dataclass(frozen=True)
class Summary:
    """Facts about rank sets that were read together. Its text is one line for the screen."""

    systems: tuple[str, ...]
    rows: int
    instances: tuple[int, ...]  # of each system
    n_low: int
    n_high: int
    largest_rank: int
    max_relevant: int
    has_ties: bool
    has_mass: bool

    def __str__(self) -> str:
        shown = ", ".join(self.systems[:5]) + (", ..." if len(self.systems) > 5 else "")
        few, many = min(self.instances), max(self.instances)
        covered = f"{few:,}" if few == many else f"{few:,} to {many:,}"
        n = f"{self.n_low:,}" if self.n_low == self.n_high else f"{self.n_low:,} to {self.n_high:,}"
        parts = [
            f"{len(self.systems)} system{'s' * (len(self.systems) > 1)} ({shown})",
            f"{covered} instance{'s' * (many > 1)} each",
            f"n = {n}",
        ]
        if self.max_relevant > 1:
            parts.append(f"up to {self.max_relevant} relevant items")
        if self.has_ties:
            parts.append("with ties")
        if self.has_mass:
            parts.append("with sampling weights")
        return ", ".join(parts)


def describe(sets: Sequence[RankSet]) -> Summary:
    """Say what was understood, without reading anything again.

    Parameters
    ----------
    sets
        Rank sets, at least one.

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
        largest_rank=max(int(s.ranks.max()) for s in sets),
        max_relevant=max(s.max_relevant for s in sets),
        has_ties=any(s.has_ties for s in sets),
        has_mass=any(s.mass_above is not None for s in sets),
    )
