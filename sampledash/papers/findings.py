"""What the text and the figures of a paper state, each held against the core."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import pandas as pd


@dataclass(frozen=True)
class Finding:
    """One statement and what becomes of it.

    Attributes
    ----------
    where
        Section, figure or equation.
    quote
        The statement, in a few of its own words.
    ours
        Our number.
    what
        What that number is.
    holds
        Whether the statement holds.
    note
        Under which reading it holds, or why it does not.
    """

    where: str
    quote: str
    ours: float
    what: str
    holds: bool
    note: str = ""


def count_holding(found: Sequence[Finding]) -> tuple[int, int]:
    """How many statements hold, of how many."""
    return sum(finding.holds for finding in found), len(found)


def findings_as_table(found: Sequence[Finding]) -> pd.DataFrame:
    """Statements as a table, one column per attribute of :class:`Finding`."""
    columns = ("where", "quote", "ours", "what", "holds", "note")
    return pd.DataFrame({name: [getattr(f, name) for f in found] for name in columns})
