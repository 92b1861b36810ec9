"""What the text and the figures of a paper state, each held against the core."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from string import Template

import pandas as pd

#: Of each statement our number and whether it holds; other numbers are for the text, as written.
Values = Mapping[str, tuple[float, bool] | str]


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


def statements(text: str, values: Values) -> list[Finding]:
    """Put our numbers to the statements of a text.

    Parameters
    ----------
    text
        ``[name] where: quote``, then what our number is after ``ours:``, then perhaps ``note:``;
        wrapped lines are indented, and ``$x`` stands for the number x.
    values
        By the names of the statements and of the numbers in the text.
    """
    said = {name: value for name, value in values.items() if isinstance(value, str)}
    numbers = {name: value for name, value in values.items() if not isinstance(value, str)}
    found = []
    for block in re.split(r"\n(?=\[)", text.strip()):
        line = Template(re.sub(r"\n +", " ", block)).substitute(said)
        head, _, rest = line.partition(" ours: ")
        name, where, quote = re.split(r"\] |: ", head[1:], maxsplit=2)
        what, _, note = rest.partition(" note: ")
        ours, holds = numbers[name]
        found.append(Finding(where, quote, float(ours), what, bool(holds), note))
    return found


def findings_as_table(found: Sequence[Finding]) -> pd.DataFrame:
    """Statements as a table, one column per attribute of :class:`Finding`."""
    columns = ("where", "quote", "ours", "what", "holds", "note")
    return pd.DataFrame({name: [getattr(f, name) for f in found] for name in columns})
