"""Sampling schemes: one row of :data:`SCHEMES` for each way of drawing negatives.

With ``a`` irrelevant items above the relevant item and ``b`` below it, the number of drawn items
above it is binomial if items may repeat, and hypergeometric if all sets of m items are equally
likely. If the number of different drawn items varies, all sets of the same size are equally likely,
and the number of drawn items above has a mixture of hypergeometric distributions. Code outside this
module does not compare names of schemes; it reads the properties of the scheme's row.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np

from sampledash import by_weight, strata
from sampledash.types import Floats, Ints

Scheme = Literal[
    "with-replacement",
    "without-replacement",
    "collapsed",
    "popularity",
    "popularity-without-replacement",
    "strata",
]
#: Default scheme of every function; most published evaluations use this scheme.
DEFAULT_SCHEME: Scheme = "without-replacement"


@dataclass(frozen=True)
class Design:
    """Properties of a sampling scheme: a row of :data:`SCHEMES`."""

    label: str  # name of the scheme in menus and links
    words: str  # words that follow "drawn" in sentences on pages, such as "with replacement"
    paper: str  # words that follow "sampled" in the paragraph that users copy into their paper
    #: TeX of the distribution of the number of drawn items above the relevant item. It is a Jinja2
    #: template, which formula.tex.jinja includes.
    law: str
    distinct: bool = False  # whether no item is drawn twice; m is then at most n - 1
    #: Whether items are drawn with replacement, with probabilities proportional to their sampling
    #: weights. The weights are given by ``Sampling.odds``, or by an attribute of the rank set,
    #: ``mass_above`` or ``classes``.
    weighted: bool = False
    #: If the number of different drawn items varies, a function that returns the distribution of
    #: this number over 0..m, otherwise None. The arguments are m and an array of numbers of
    #: negatives, which may be fractions; the result has shape (len(array), m + 1).
    sizes: Callable[[int, Floats], Floats] | None = None
    #: A function that returns the distribution of the number of drawn items above each relevant
    #: item, (items, m + 1). It is None if this distribution depends only on the numbers, or total
    #: sampling weights, of the items above and below. The first argument of the function counts
    #: these items by class of equal weight or by stratum; the second argument is m.
    by_class: Callable[[Floats, int], Floats] | None = None
    #: Name of the rank set's attribute that is the first argument of ``by_class``; "" for none.
    needs: Literal["classes", "strata", ""] = ""

    @property
    def varies(self) -> bool:
        """Whether the sample is a set of different items whose number varies."""
        return self.sizes is not None

    @property
    def once(self) -> bool:
        """Whether an item counts at most once in a sample, as in sampling without replacement."""
        return self.distinct or self.varies

    @property
    def by_degree(self) -> bool:
        """Whether :mod:`sampledash.spectral` can decompose metrics into polynomials."""
        return self.uniform and not self.varies

    @property
    def uniform(self) -> bool:
        """Whether all items are equally likely to be drawn."""
        return not self.weighted and self.by_class is None

    @property
    def anew(self) -> bool:
        """Whether the distribution of the sampled rank must be computed for each m separately.

        For other schemes, the distribution for m - 1 negatives follows from that for m negatives by
        dropping a random negative.
        """
        return self.varies or self.by_class is not None

    def drawn(self, m: int, negatives: Ints) -> Ints:
        """Return each instance's sample size: m, but at most its ``negatives`` if ``distinct``."""
        return np.minimum(m, negatives) if self.distinct else np.full(negatives.shape, m)

    def odds(self, odds: float) -> float:
        """Return the weight of an item above the relevant item, if an item below has weight 1.

        It is ``odds`` if the scheme draws items by weight (``weighted``), otherwise 1.
        """
        return odds if self.weighted else 1.0


def _different(m: int, negatives: Floats) -> Floats:
    """Return the distributions of the number of different items in m draws with replacement.

    There is one distribution over 0..m for each number of negatives.
    """
    chances = np.zeros((len(negatives), m + 1))
    chances[:, 0] = 1.0
    for draws in range(m):
        # With probability d / negatives, the next item is one of the d different items drawn so
        # far.
        part = chances[:, : draws + 2]
        seen = np.minimum(np.arange(draws + 2) / negatives[:, None], 1)
        new = part * (1 - seen)
        part *= seen
        part[:, 1:] += new[:, :-1]
        part[part < 1e-25] = 0.0  # subnormal numbers are slow
    return chances


_BINOMIAL = r"\mathrm{Binomial}({{ m | tex_count }},\, {{ share | tex_number }})"
_HYPERGEOMETRIC = (
    r"\mathrm{Hypergeometric}({{ (n - 1) | tex_count }},\, {{ (rank - 1) | tex_count }},\, "
    r"{{ m | tex_count }})"
)

#: The properties of every sampling scheme by name; to add a scheme, add a row.
SCHEMES: dict[str, Design] = {
    "with-replacement": Design(
        label="with replacement", words="with replacement", paper="uniformly with replacement",
        law=_BINOMIAL,
    ),
    "without-replacement": Design(
        label="without replacement", words="without replacement",
        paper="uniformly without replacement", law=_HYPERGEOMETRIC, distinct=True,
    ),
    "collapsed": Design(
        label="duplicates collapsed", words="with replacement, duplicates collapsed,",
        paper="uniformly with replacement, duplicates collapsed", sizes=_different,
        law=_HYPERGEOMETRIC.replace("{{ m | tex_count }}", "D") + r",\quad D = \text{number of "
        r"different items in } {{ m | tex_count }} \text{ draws}",
    ),
    "popularity": Design(
        label="popularity", words="by popularity", paper="with replacement by popularity",
        law=_BINOMIAL, weighted=True,
    ),
    "popularity-without-replacement": Design(
        label="popularity, without replacement", words="by popularity without replacement",
        paper="without replacement by popularity", distinct=True, by_class=by_weight.law,
        law=r"T + \mathrm{Hypergeometric}(n - 1 - t,\, r - 1 - t,\, m - T)", needs="classes",
    ),
    "strata": Design(
        label="strata", words="from strata", paper="without replacement from strata", law="",
        distinct=True, by_class=strata.law, needs="strata",
    ),
}  # fmt: skip


class HasScheme:
    """Base class of objects with a sampling scheme."""

    scheme: Scheme

    @property
    def design(self) -> Design:
        """Properties of the sampling scheme."""
        return SCHEMES[self.scheme]


def usual_first() -> list[Scheme]:
    """Return the names of all schemes, with the default scheme first."""
    return sorted(cast(list[Scheme], list(SCHEMES)), key=DEFAULT_SCHEME.__ne__)


def possible(sets: Sequence[object]) -> list[Scheme]:
    """Return the names of the sampling schemes that can be used with all of these rank sets.

    Without rank sets, return the uniform schemes and those that can use ``odds`` as weights.
    """

    def can(design: Design) -> bool:
        names = ("mass_above", "classes") if design.weighted else (design.needs,)
        has = (any(getattr(x, name) is not None for name in names) for x in sets)
        return design.uniform or (all(has) if sets else design.weighted)

    return [name for name in usual_first() if can(SCHEMES[name])]


def check_weights(scheme: Scheme, sets: Sequence[object]) -> None:
    """Raise ValueError if a scheme is ``weighted``, but some of the rank sets have no weights."""
    if scheme in SCHEMES and SCHEMES[scheme].weighted and scheme not in possible(sets):
        advice = "rank from scores with weights, give mass_above, or take another scheme"
        lacks = f"scheme {scheme!r} needs the weights of items, which some of these ranks lack"
        raise ValueError(f"{lacks}: {advice}")


def uniform() -> tuple[str, ...]:
    """Return the names of the schemes in which all items are equally likely to be drawn."""
    return tuple(name for name, design in SCHEMES.items() if design.uniform)


def check_odds(odds: float, *schemes: str) -> None:
    """Raise ValueError if odds are given but none of the schemes uses them."""
    if odds != 1 and not any(SCHEMES[scheme].weighted for scheme in schemes):
        names = " or ".join(repr(name) for name, design in SCHEMES.items() if design.weighted)
        raise ValueError(f"odds = {odds:g} applies to scheme {names} only")
