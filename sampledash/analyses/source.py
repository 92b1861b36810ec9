"""Rank sets that a page analyses, with the Python expression that reads them in a script."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

from sampledash.analyses.memory import digests
from sampledash.rank_sets import RankSet
from sampledash.readers.assemble import Opened
from sampledash.schemes import SCHEMES, Scheme

# Options of ``Opened.read``, which makes rank sets from a file, and their defaults. Scripts that
# the dashboard writes for users give the options in this order.
OPTIONS = {x.name: x.default for x in list(signature(Opened.read).parameters.values())[1:]}


@dataclass(frozen=True)
class Source:
    """Rank sets that a page analyses, their name, and how a script reads them."""

    sets: tuple[RankSet, ...]
    name: str
    bundled: bool  # whether the ranks are part of the package, so that all users share results
    python: str = ""  # expression such as sd.read_rank_sets("ranks.csv", n=3706)
    # Whether the file repeats instances, such as in folds. Then every repetition of an instance
    # counts as another instance.
    averaged: bool = False
    uniform: bool = False  # whether the ranks' sampling weights (``mass_above``) were removed

    @property
    def key(self) -> tuple[str, ...]:
        """Cache key: two sources have the same key only if they hold the same ranks."""
        return digests(self.sets)

    def drawn_by(self, scheme: Scheme) -> Source:
        """Return these ranks, without sampling weights of items if the scheme uses no weights."""
        sets, design = self.sets, SCHEMES[scheme]
        if design.uniform:
            sets = tuple(ranks.without_classes for ranks in sets)
        if design.weighted or all(ranks.mass_above is None for ranks in sets):
            return replace(self, sets=sets)
        python = f"[ranks.without_mass() for ranks in {self.python}]"
        sets = tuple(ranks.without_mass() for ranks in sets)
        return replace(self, sets=sets, python=python, uniform=True)

    @property
    def largest_cutoff(self) -> int | None:
        """Largest cutoff k at which metrics are exact if ranks beyond the end of lists are unknown.

        None if all ranks are known.
        """
        ends = (ranks.largest_cutoff for ranks in self.sets)
        return min((end for end in ends if end is not None), default=None)


def expression(call: str, argument: str, options: Mapping[str, Any]) -> str:
    """Return a call such as ``sd.read_rank_sets("ranks.csv", n=3706)``; omit default options."""
    given = ((key, options.get(key), unsaid) for key, unsaid in OPTIONS.items())
    changed = (f"{key}={x!r}" for key, x, unsaid in given if x not in (None, unsaid))
    return f"sd.{call}({', '.join([argument, *changed])})"
