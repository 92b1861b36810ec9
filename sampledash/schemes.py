"""How negatives are drawn: a row for each way, with its words and what follows for the numbers.

With ``a`` irrelevant items above the relevant one and ``b`` below it, the number of drawn items
above is hypergeometric where the negatives are distinct, and binomial where they are not. Outside
this module no code asks for a way by its name: the code asks what its row says.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, cast

import numpy as np

from sampledash.types import Ints

Scheme = Literal["with-replacement", "without-replacement", "popularity"]
#: How negatives are drawn unless a call says otherwise: as evaluations draw them.
DEFAULT_SCHEME: Scheme = "without-replacement"


@dataclass(frozen=True)
class Design:
    """A way of drawing negatives."""

    label: str  # in a chooser, and in a link
    words: str  # after the word "drawn"
    paper: str  # after the word "sampled", in a paper
    distinct: bool = False  # no item is drawn twice, so m is at most the number of negatives
    weighted: bool = False  # items have weights: odds, or the mass above the relevant item

    def drawn(self, m: int, negatives: Ints) -> Ints:
        """How many of so many negatives m draws take: all where there are fewer."""
        return np.minimum(m, negatives) if self.distinct else np.full(negatives.shape, m)

    def odds(self, odds: float) -> float:
        """The odds as this design reads them."""
        return odds if self.weighted else 1.0


SCHEMES: dict[str, Design] = {
    "with-replacement": Design(
        label="with replacement", words="with replacement", paper="uniformly with replacement",
    ),
    "without-replacement": Design(
        label="without replacement", words="without replacement",
        paper="uniformly without replacement", distinct=True,
    ),
    "popularity": Design(
        label="popularity", words="by popularity", paper="with replacement by popularity",
        weighted=True,
    ),
}  # fmt: skip


def usual_first() -> list[Scheme]:
    """All names, that of the default first."""
    return sorted(cast(list[Scheme], list(SCHEMES)), key=DEFAULT_SCHEME.__ne__)


def uniform() -> tuple[str, ...]:
    """Names of the designs in which all items are drawn equally often."""
    return tuple(name for name, design in SCHEMES.items() if not design.weighted)


def check_odds(odds: float, *schemes: str) -> None:
    """Refuse odds that no scheme reads."""
    if odds != 1 and not any(SCHEMES[scheme].weighted for scheme in schemes):
        names = " or ".join(repr(name) for name, design in SCHEMES.items() if design.weighted)
        raise ValueError(f"odds = {odds:g} applies to scheme {names} only")
