"""Sampling schemes: one row of :data:`SCHEMES` for each way of drawing negatives.

With ``a`` irrelevant items above the relevant one and ``b`` below it, the number of drawn items
above is hypergeometric if the negatives are distinct, and binomial if they are not. If the number
of different items varies, all sets of the same size are equally likely, and the number above has a
mixture of hypergeometric distributions. Code outside this module does not test the name of a
scheme: it reads the properties of its row.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np

from sampledash.types import Floats, Ints

Scheme = Literal["with-replacement", "without-replacement", "popularity"]
#: Default scheme of every call, and the usual one in evaluations.
DEFAULT_SCHEME: Scheme = "without-replacement"


@dataclass(frozen=True)
class Design:
    """A way of drawing negatives."""

    label: str  # name in menus and links
    words: str  # text that follows the word "drawn"
    paper: str  # text that follows the word "sampled" in a paper
    law: str  # distribution of the number above, a TeX template in Jinja2 (formula.tex.jinja)
    distinct: bool = False  # no item is drawn twice, so m is at most the number of negatives
    weighted: bool = False  # items have weights: odds, or the mass above the relevant item
    #: For schemes whose number of different items varies: its distribution over 0..m, shape
    #: (m + 1,), as a function of m and the number of negatives.
    sizes: Callable[[int, int], Floats] | None = None

    @property
    def varies(self) -> bool:
        """Whether the number of different items varies."""
        return self.sizes is not None

    @property
    def once(self) -> bool:
        """Whether a drawn item counts at most once, as in sampling without replacement."""
        return self.distinct or self.varies

    @property
    def by_degree(self) -> bool:
        """Whether the distribution has polynomial components (:mod:`sampledash.spectral`)."""
        return not (self.weighted or self.varies)

    def drawn(self, m: int, negatives: Ints) -> Ints:
        """Return the number of negatives from m draws: without repeats, at most all there are."""
        return np.minimum(m, negatives) if self.distinct else np.full(negatives.shape, m)

    def odds(self, odds: float) -> float:
        """Return the odds that apply: 1 unless items have weights."""
        return odds if self.weighted else 1.0


_BINOMIAL = r"\mathrm{Binomial}({{ m | tex_count }},\, {{ share | tex_number }})"
_HYPERGEOMETRIC = (
    r"\mathrm{Hypergeometric}({{ (n - 1) | tex_count }},\, {{ (rank - 1) | tex_count }},\, "
    r"{{ m | tex_count }})"
)

#: Every way of drawing negatives; to add one, add a row.
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
    """Return the names of all schemes, the default first."""
    return sorted(cast(list[Scheme], list(SCHEMES)), key=DEFAULT_SCHEME.__ne__)


def uniform() -> tuple[str, ...]:
    """Return the names of the schemes in which all items are drawn equally often."""
    return tuple(name for name, design in SCHEMES.items() if not design.weighted)


def check_odds(odds: float, *schemes: str) -> None:
    """Raise ValueError if odds are given but none of the schemes uses them."""
    if odds != 1 and not any(SCHEMES[scheme].weighted for scheme in schemes):
        names = " or ".join(repr(name) for name, design in SCHEMES.items() if design.weighted)
        raise ValueError(f"odds = {odds:g} applies to scheme {names} only")
