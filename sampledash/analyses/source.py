"""Rank sets to analyse, with the Python expression by which a script reads them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

from sampledash.analyses.memory import digests
from sampledash.rank_sets import RankSet
from sampledash.readers.assemble import Opened
from sampledash.schemes import SCHEMES, Scheme

# Option of the rank reader -> its default, in the order in which a script writes the options.
OPTIONS = {x.name: x.default for x in list(signature(Opened.read).parameters.values())[1:]}


@dataclass(frozen=True)
class Source:
    """Rank sets to analyse, their name, and how a script reads them."""

    sets: tuple[RankSet, ...]
    name: str
    bundled: bool  # whether the ranks are part of the package, so that all users share results
    python: str = ""  # expression that reads the ranks: sd.read_rank_sets("ranks.csv", n=3706)
    averaged: bool = False  # several rankings of an instance, such as seeds, count as instances
    uniform: bool = False  # whether sampling weights of the ranks were left out

    @property
    def key(self) -> tuple[str, ...]:
        """Key that is equal only for equal ranks."""
        return digests(self.sets)

    def drawn_by(self, scheme: Scheme) -> Source:
        """The ranks for this scheme, without sampling weights if the scheme is uniform."""
        if SCHEMES[scheme].weighted or all(ranks.mass_above is None for ranks in self.sets):
            return self
        python = f"[ranks.without_mass() for ranks in {self.python}]"
        sets = tuple(ranks.without_mass() for ranks in self.sets)
        return replace(self, sets=sets, python=python, uniform=True)

    @property
    def largest_cutoff(self) -> int | None:
        """Largest cutoff at which metrics are exact, None where every rank is known."""
        ends = (ranks.largest_cutoff for ranks in self.sets)
        return min((end for end in ends if end is not None), default=None)


def expression(call: str, argument: str, options: Mapping[str, Any]) -> str:
    """Python expression that reads ranks, such as ``sd.read_rank_sets("ranks.csv", n=3706)``."""
    given = {
        key: options[key]
        for key, unsaid in OPTIONS.items()
        if options.get(key) not in (None, unsaid)
    }
    return f"sd.{call}({', '.join([argument, *(f'{key}={x!r}' for key, x in given.items())])})"
