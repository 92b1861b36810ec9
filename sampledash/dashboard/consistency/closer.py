"""The systems and pairs that the tabs of the Consistency page look at more closely."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from sampledash.dashboard import cache
from sampledash.dashboard.consistency.result import Scene
from sampledash.metrics import Metric
from sampledash.ranksets import RankSet
from sampledash.report.numbers import count

MOST_SYSTEMS = 5  # whose pairs are all looked at


@dataclass(frozen=True)
class Part:
    """The systems that are looked at here: all, or those of the marked and the worst pairs."""

    scene: Scene
    x: int
    pair: int
    systems: tuple[int, ...]

    @classmethod
    def of(cls, scene: Scene, x: int, pair: int) -> Part:
        systems = list(range(len(scene.systems)))
        if len(systems) > MOST_SYSTEMS:
            worst = [pair, scene.worst_pair(x), *scene.worst_pairs(MOST_SYSTEMS)]
            both = [int(end[p]) for p in worst for end in scene.ends]
            systems = sorted(list(dict.fromkeys(both))[:MOST_SYSTEMS])
        return cls(scene, x, pair, tuple(systems))

    @property
    def sets(self) -> list[RankSet]:
        return [self.scene.asked.sets[i] for i in self.systems]

    @property
    def metric(self) -> Metric:
        return self.scene.asked.metrics[self.x]

    @property
    def pairs(self) -> list[int]:
        """Numbers of the pairs: the marked one, then those least likely to be shown."""
        systems = self.systems
        every = [
            self.scene.pair_of(i, j) for at, i in enumerate(systems) for j in systems[at + 1 :]
        ]
        chances = np.nan_to_num(self.scene.chances[self.x], nan=1.0)
        return sorted(every, key=lambda p: (p != self.pair, chances[p]))

    def label(self, pair: int, name: Callable[[str], str] = str) -> str:
        """``better > worse``, or ``one = other``."""
        i, j, truth = self.scene.pair(self.x, pair)
        sign = ">" if truth else "="
        return f"{name(self.scene.systems[i])} {sign} {name(self.scene.systems[j])}"

    def get(self, *kind: Hashable, make: Callable[[], Any]) -> Any:
        """A result about these systems, cached."""
        asked = self.scene.asked
        key = *kind, asked.key, asked.m, self.systems
        return cache.cached(key, make, shared=asked.source.bundled)

    def row(self, table: pd.DataFrame, pair: int) -> pd.Series:
        """The row of a table with columns better and worse that is about this pair."""
        names = {self.scene.systems[end[pair]] for end in self.scene.ends}
        places = table["better"].isin(names) & table["worse"].isin(names)
        return table[places].iloc[0]

    @property
    def note(self) -> str:
        """Which systems these are, if not all."""
        total = len(self.scene.systems)
        if len(self.systems) == total:
            return ""
        return (
            f"{len(self.systems)} of {count(total)} systems: those of the marked and the worst "
            "pairs."
        )
