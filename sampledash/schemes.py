"""How negatives are drawn: a row for each way, with its words and what follows for the numbers.

With ``a`` irrelevant items above the relevant one and ``b`` below it, the number of drawn items
above is hypergeometric where the negatives are distinct, and binomial where they are not. Where the
number of different items varies, every set of as many items is equally likely, and the number above
is a mixture of hypergeometric ones. Outside this module no code asks for a way by its name: the
code asks what its row says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np

from sampledash.types import Floats, Ints

Scheme = Literal["with-replacement", "without-replacement", "popularity"]
#: How negatives are drawn unless a call says otherwise: as evaluations draw them.
DEFAULT_SCHEME: Scheme = "without-replacement"


@dataclass(frozen=True)
class Design:
    """A way of drawing negatives."""

    label: str  # in a chooser, and in a link
    words: str  # after the word "drawn"
    paper: str  # after the word "sampled", in a paper
    law: str  # of the number above, in TeX; in Jinja2, as formula.tex.jinja
    distinct: bool = False  # no item is drawn twice, so m is at most the number of negatives
    weighted: bool = False  # items have weights: odds, or the mass above the relevant item
    #: Where the number of different items varies: its distribution over 0..m, (m + 1,), from m and
    #: the number of negatives.
    sizes: Callable[[int, int], Floats] | None = None

    @property
    def varies(self) -> bool:
        """Whether the number of different items varies."""
        return self.sizes is not None

    @property
    def once(self) -> bool:
        """Whether an item counts once at most, so that few are left where most are drawn."""
        return self.distinct or self.varies

    @property
    def by_degree(self) -> bool:
        """Whether the law has a component for each degree (:mod:`sampledash.spectral`)."""
        return not (self.weighted or self.varies)

    def drawn(self, m: int, negatives: Ints) -> Ints:
        """How many of so many negatives m draws take: all where there are fewer."""
        return np.minimum(m, negatives) if self.distinct else np.full(negatives.shape, m)

    def odds(self, odds: float) -> float:
        """The odds as this design reads them."""
        return odds if self.weighted else 1.0


_BINOMIAL = r"\mathrm{Binomial}({{ m | tex_count }},\, {{ share | tex_number }})"
_HYPERGEOMETRIC = (
    r"\mathrm{Hypergeometric}({{ (n - 1) | tex_count }},\, {{ (rank - 1) | tex_count }},\, "
    r"{{ m | tex_count }})"
)

#: Every way of drawing negatives; a new one is a row here.
SCHEMES: dict[str, Design] = {
    "with-replacement": Design(
        label="with replacement", words="with replacement", paper="uniformly with replacement",
        law=_BINOMIAL,
    ),
    "without-replacement": Design(
        label="without replacement", words="without replacement",
        paper="uniformly without replacement", law=_HYPERGEOMETRIC, distinct=True,
    ),
    "popularity": Design(
        label="popularity", words="by popularity", paper="with replacement by popularity",
        law=_BINOMIAL, weighted=True,
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
