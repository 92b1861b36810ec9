"""What the Consistency page shows: the question and what was found, pair by pair."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampledash.comparison.order import TIED, Orders
from sampledash.comparison.verdict import as_frame
from sampledash.correction import Correction
from sampledash.dashboard.ranks import Source
from sampledash.dashboard.words import system_name
from sampledash.metrics import Metric
from sampledash.protocol import Options, Protocol
from sampledash.ranksets import RankSet
from sampledash.report.numbers import count
from sampledash.types import Floats, Ints

CODES = ("wrong", "undecided", "right", "tied")  # from the worst to the least telling


@dataclass(frozen=True)
class Asked:
    """Everything the page depends on, checked."""

    source: Source
    metrics: tuple[Metric, ...]
    m: int
    options: Options

    @property
    def sets(self) -> tuple[RankSet, ...]:
        """The rank sets compared."""
        return self.source.sets

    @property
    def protocol(self) -> Protocol:
        """The options, checked."""
        return Protocol.of(self.options)

    @property
    def recipe(self) -> Correction:
        """The correction of the page."""
        return self.protocol.correction

    @property
    def key(self) -> tuple[Hashable, ...]:
        """The same only for the same question, m apart."""
        return self.source.key, self.metrics, self.protocol

    def with_correction(self, recipe: Correction) -> Asked:
        """The same under another correction."""
        return replace(self, options={**self.options, "correction": recipe})


class Pair(NamedTuple):
    """Two systems by their places; truth is 1, or 0 where the exact metric ties them."""

    better: int
    worse: int
    truth: int


@dataclass(frozen=True)
class Scene:
    """What the page shows. Pairs are numbered as in ``first`` and ``second``, for all metrics."""

    asked: Asked
    found: Orders
    exact: Floats  # (systems, metrics)
    columns: dict[str, list[Any]]  # the verdict at m: metric by metric, pair by pair
    ladder: int = 0  # values of m looked at before those between them; 0: every m

    @cached_property
    def systems(self) -> list[str]:
        """Names in the order of the data."""
        return [ranks.system for ranks in self.asked.sets]

    @property
    def m_max(self) -> int:
        """Largest m looked at."""
        return int(self.found.m_values[-1])

    @property
    def capped(self) -> bool:
        """Whether larger m exist than are looked at."""
        return self.m_max < max(ranks.max_negatives for ranks in self.asked.sets)

    @cached_property
    def ends(self) -> tuple[Ints, Ints]:
        """The two systems of every pair, by their places in the data."""
        first, second = np.triu_indices(len(self.systems), 1)
        return first.astype(np.int64), second.astype(np.int64)

    @property
    def pairs(self) -> int:
        """Number of pairs."""
        return len(self.ends[0])

    def pair(self, x: int, pair: int) -> Pair:
        """A pair by the exact values of metric x."""
        i, j = int(self.ends[0][pair]), int(self.ends[1][pair])
        ahead = self.exact[i, x] - self.exact[j, x]
        return Pair(i, j, 0) if abs(ahead) <= TIED else Pair(*((i, j) if ahead > 0 else (j, i)), 1)

    def pair_of(self, one: int, other: int) -> int:
        """Number of the pair of two systems."""
        i, j = sorted((one, other))
        return i * len(self.systems) - i * (i + 1) // 2 + j - i - 1

    def label(self, pair: int, name: Callable[[str], str] = str) -> str:
        """The two names."""
        return ", ".join(name(self.systems[end[pair]]) for end in self.ends)

    def _by_metric(self, values: Any) -> NDArray[Any]:
        return np.asarray(values).reshape(len(self.asked.metrics), self.pairs)

    @cached_property
    def states(self) -> Ints:
        """Places in ``CODES``: (metrics, pairs)."""
        return self._by_metric([CODES.index(state) for state in self.columns["state"]])

    @cached_property
    def chances(self) -> Floats:
        """Chance that one run shows the true order, NaN where there is none: (metrics, pairs)."""
        return self._by_metric(self.columns["probability"])

    @cached_property
    def rights(self) -> Floats:
        """From which m a pair is right, infinite where it is not at the end: (metrics, pairs)."""
        late = self.columns["right_from"]
        return self._by_metric([np.inf if m is None else float(m) for m in late])

    @cached_property
    def ahead(self) -> Floats:
        """By how much the better system of a pair is ahead at m: (metrics, pairs)."""
        return self._by_metric(self.columns["sampled"])

    @cached_property
    def table(self) -> pd.DataFrame:
        """The whole verdict, to take away."""
        return as_frame(self.columns)

    def rows(self, x: int, pairs: Sequence[int] | None = None) -> list[dict[str, Any]]:
        """The verdict on metric x: one row per pair, of all or of some."""
        places = range(self.pairs) if pairs is None else pairs
        return [
            {name: column[x * self.pairs + pair] for name, column in self.columns.items()}
            for pair in places
        ]

    def right_from(self, x: int, pair: int) -> int | None:
        """From which m the pair is right."""
        value = self.rights[x, pair]
        return int(value) if np.isfinite(value) else None

    @cached_property
    def worst_metric(self) -> int:
        """The metric with most wrong pairs, then most undecided ones, then right last."""
        ordered = self.states != CODES.index("tied")
        late = np.where(ordered, self.rights, 0.0).max(axis=1)
        wrong, open_ = ((self.states == code).sum(axis=1) for code in (0, 1))
        return int(np.lexsort((-late, -open_, -wrong))[0])

    def worst_pair(self, x: int) -> int:
        """The pair of metric x in the worst state, right last, least likely to be system_name."""
        return int(self._worst_first(self.states[x], self.rights[x], self.chances[x])[0])

    def worst_pairs(self, most: int) -> list[int]:
        """The worst pairs over all metrics, that of the worst metric first."""
        state = self.states.min(axis=0)
        many = (self.states == state).sum(axis=0)
        late = np.where(self.states == state, self.rights, 0.0).max(axis=0)
        low = np.nan_to_num(self.chances, nan=1.0).min(axis=0)
        order = np.lexsort((low, -late, -many, state))
        first = self.worst_pair(self.worst_metric)
        return list(dict.fromkeys([first, *order[:most].tolist()]))[:most]

    @staticmethod
    def _worst_first(state: Ints, right: Floats, chance: Floats) -> Ints:
        order = np.lexsort((np.nan_to_num(chance, nan=1.0), -right, state))
        return np.asarray(order, dtype=np.int64)

    def sampled(self) -> Floats:
        """Expected means at m: (systems, metrics)."""
        # Without replacement more negatives than there are change nothing.
        return np.asarray(self.found.means[min(self.at(self.asked.m), len(self.found.means) - 1)])

    def at(self, m: int) -> int:
        """Row of m in the means."""
        return int(np.searchsorted(self.found.m_values, m))

    def note(self) -> str:
        """What the reader may not expect in the data at this m."""
        sets = self.asked.sets
        for other in sets[1:]:
            if np.array_equal(other.instances, sets[0].instances):
                differs = np.flatnonzero(other.n != sets[0].n)
                if len(differs):
                    i = int(differs[0])
                    one, two = system_name(sets[0].system), system_name(other.system)
                    return (
                        f"{one} and {two} ranked different candidates: "
                        f"instance {system_name(str(other.instances[i]))} has "
                        f"n = {count(sets[0].n[i])} and {count(other.n[i])}."
                    )
        atoms = sets[0].atoms()
        first = atoms.position == 1
        short = float(atoms.count[first & (atoms.negatives < self.asked.m)].sum())
        if self.asked.protocol.without and short:
            return (
                f"{count(short)} of {count(atoms.instances)} instances have fewer than "
                f"{count(self.asked.m)} negatives: they are ranked among all of theirs."
            )
        return ""
