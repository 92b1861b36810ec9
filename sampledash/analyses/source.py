"""Rank sets to look at, with what a script reads them by."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any

from sampledash.analyses.memory import digests
from sampledash.rank_sets import RankSet
from sampledash.readers.assemble import Opened
from sampledash.schemes import SCHEMES, Scheme

# Options of the reader in the order in which a script writes them, with what they are unsaid.
OPTIONS = {x.name: x.default for x in list(signature(Opened.read).parameters.values())[1:]}


@dataclass(frozen=True)
class Source:
    """Rank sets to look at, what to call them, and how a script reads them."""

    sets: tuple[RankSet, ...]
    name: str
    bundled: bool  # with the package: computations may be shared by all users
    python: str = ""  # the expression that reads them: sd.read_rank_sets("ranks.csv", n=3706)
    averaged: bool = False  # several rankings of an instance, such as seeds, count as instances
    uniform: bool = False  # the ranks carry sampling weights, which are left out

    @property
    def key(self) -> tuple[str, ...]:
        """The same only for the same ranks."""
        return digests(self.sets)

    def drawn_by(self, scheme: Scheme) -> Source:
        """The ranks as a scheme reads them: a uniform one has no use for sampling weights."""
        if SCHEMES[scheme].weighted or all(each.mass_above is None for each in self.sets):
            return self
        python = f"[ranks.without_mass() for ranks in {self.python}]"
        sets = tuple(each.without_mass() for each in self.sets)
        return replace(self, sets=sets, python=python, uniform=True)

    @property
    def largest_cutoff(self) -> int | None:
        """Largest cutoff at which metrics are exact, None where every rank is known."""
        ends = (ranks.largest_cutoff for ranks in self.sets)
        return min((end for end in ends if end is not None), default=None)


def expression(call: str, argument: str, how: Mapping[str, Any]) -> str:
    """The Python expression that reads the same: ``sd.read_rank_sets("ranks.csv", n=3706)``."""
    given = {key: how[key] for key, unsaid in OPTIONS.items() if how.get(key) not in (None, unsaid)}
    return f"sd.{call}({', '.join([argument, *(f'{key}={x!r}' for key, x in given.items())])})"
