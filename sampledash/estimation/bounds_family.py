"""The rank distributions that bounds range over, as rows of what each of them would show.

Every rank distribution is a mixture of point masses, every non-increasing one a mixture of uniform
distributions on 1..j. Each of these has its *place*, the rank or j, and is seen as one row: means
of some functions of the sampled rank, and of the exact metric.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from sampledash import laws
from sampledash.metrics import Metric
from sampledash.quadrature import panels
from sampledash.sampling import Sampling
from sampledash.types import Floats, Ints

Shape = Literal["non-increasing"]

_ROOM = 1 << 22  # entries of laws up to which every place is looked at
_HEAD = 64  # places at the top that are always on the grid
_RATIO = 1.03  # between neighbouring places, seen from either end
_STEP = 0.1  # between neighbouring places in arcsin(sqrt(p)), times sqrt(m)
_FINER = 4  # how much finer the grid is on which certificates are checked
_SPLIT = 8  # pieces into which a stretch between two places is cut in search of a minimum


def grid(n: int, m: int, cuts: tuple[int, ...], finer: int = 1) -> Ints:
    """Places so dense that every law is resolved; ``cuts`` and their successors are among them."""
    ratio, step = _RATIO ** (1 / finer), _STEP / np.sqrt(m) / finer
    rising = np.geomspace(1, n, int(np.log(n) / np.log(ratio)) + 2)
    angles = np.arange(0, np.pi / 2, step)
    some = [
        np.arange(1, min(_HEAD * finer, n) + 1), np.round(rising), n + 1 - np.round(rising),
        1 + np.round((n - 1) * np.sin(angles) ** 2), [1, n], cuts, np.add(cuts, 1),
    ]  # fmt: skip
    places = np.unique(np.concatenate([np.asarray(p, dtype=np.int64) for p in some]))
    return places[(places >= 1) & (places <= n)]


@dataclass(frozen=True, eq=False)
class Family:
    """Point masses, or uniform distributions on 1..j, and what they show.

    Attributes
    ----------
    samplings
        How the negatives were drawn: one population, one entry per number of negatives.
    readings
        Functions of the sampled rank, for each sampling: shape (m + 1, functions); ``None`` stands
        for the law itself.
    metric
        Its exact mean is the last column of a row.
    shape
        ``None`` for point masses.
    joint
        Whether rows also hold the means of each function times the metric, and of its square:
        between the functions and the metric.
    """

    samplings: tuple[Sampling, ...]
    readings: tuple[Floats | None, ...]
    metric: Metric
    shape: Shape | None
    joint: bool = False

    @property
    def n(self) -> int:
        """Candidates: places are 1..n."""
        return self.samplings[0].n

    @cached_property
    def grid(self) -> Ints:
        """Where to begin: places of the first programme, and ends of the panels of sums."""
        return self._grid(1)

    def _grid(self, finer: int) -> Ints:
        last = self.metric.cut(self.n - 1)
        cut = () if last is None else (last,)
        return grid(self.n, max(s.m for s in self.samplings), cut, finer)

    @cached_property
    def every_place(self) -> bool:
        """Whether there is room for the rows of all n places."""
        return self.n * sum(s.m + 1 for s in self.samplings) <= _ROOM

    def _rows(self, above: Floats) -> Floats:
        """Rows of point masses; ``above`` may lie between the ranks."""
        parts = []
        for s, reading in zip(self.samplings, self.readings, strict=True):
            chunks = laws.pmf_chunks(s.scheme, s.m, above, s.n - 1 - above)
            parts.append(np.vstack([p if reading is None else p @ reading for _, p in chunks]))
        exact = self.metric.of_above(above, self.n - 1) * self.metric.scale(1)
        if self.joint:
            parts += [part * exact[:, None] for part in parts] + [exact[:, None] ** 2]
        return np.column_stack([*parts, exact])

    def _sums(self, first: Ints, last: Ints) -> Floats:
        """Sums of rows over stretches of ranks, ``first`` exclusive; no metric jumps within."""
        above, weights, starts = panels(first, last)
        return np.asarray(np.add.reduceat(self._rows(above) * weights[:, None], starts))

    @cached_property
    def _sums_to_grid(self) -> Floats:
        return np.cumsum(self._sums(np.concatenate([[0], self.grid[:-1]]), self.grid), axis=0)

    @cached_property
    def _every(self) -> Floats:
        rows = self._rows(np.arange(self.n, dtype=np.float64))
        if self.shape is not None:
            np.cumsum(rows, axis=0, out=rows)
            rows /= np.arange(1, self.n + 1)[:, None]
        return rows

    def on_grid(self) -> Floats:
        """Rows of the places of ``grid``: shape (places, functions + 1)."""
        if self.shape is None:
            return self._rows((self.grid - 1).astype(np.float64))
        return self._sums_to_grid / self.grid[:, None]

    def at(self, places: Ints) -> Floats:
        """Rows of some places: shape (places, functions + 1)."""
        if self.every_place:
            return self._every[places - 1]
        if self.shape is None:
            return self._rows((places - 1).astype(np.float64))
        before = np.searchsorted(self.grid, places, side="right") - 1
        rows = self._sums_to_grid[before]
        inside = self.grid[before] < places
        if np.any(inside):
            rows[inside] += self._sums(self.grid[before[inside]], places[inside])
        return np.asarray(rows / places[:, None])

    @cached_property
    def _checked(self) -> tuple[Ints, Floats]:
        places = np.arange(1, self.n + 1) if self.every_place else self._grid(_FINER)
        return places, self.at(places)

    def lowest(self, combination: Floats, level: float) -> tuple[Ints, Floats]:
        """Places where a combination of the columns of a row has a local minimum below ``level``.

        Parameters
        ----------
        combination
            Weight of each column, shape (functions + 1,).
        level
            Above it a minimum is of no interest.

        Returns
        -------
        Places, increasing, and the values there.

        Notes
        -----
        Every place is looked at where there is room for it. Else those of a grid with 40 places to
        the width of a law, and from its minima on ever nearer places.
        """
        places, rows = self._checked
        values = rows @ combination
        left, right = np.r_[np.inf, values[:-1]], np.r_[values[1:], np.inf]
        found = np.flatnonzero((values <= left) & (values <= right))
        if self.every_place:
            found = found[values[found] < level]
            return places[found], values[found]
        # Between two places the value may still fall by about what it differs from its neighbours.
        depth = np.minimum(np.where(np.isinf(left), right, left), right) - values
        found = found[values[found] < level + np.abs(depth[found])]
        ends = np.r_[places[0], places, places[-1]]
        at, value = places[found], values[found]
        low, high = ends[found], ends[found + 2]
        while len(at) and np.any(high - low > 2):
            step = np.maximum((high - low) // _SPLIT, 1)
            tried = np.clip(
                low[:, None] + step[:, None] * np.arange(_SPLIT + 2), None, high[:, None]
            )
            seen = (self.at(tried.ravel()) @ combination).reshape(tried.shape)
            best = np.argmin(seen, axis=1)
            rows_ = np.arange(len(at))
            at, value = tried[rows_, best], seen[rows_, best]
            low, high = np.maximum(at - step, low), np.minimum(at + step, high)
            done = step == 1
            low[done], high[done] = at[done], at[done]
        keep = value < level
        order, first = np.unique(at[keep], return_index=True)
        return order, value[keep][first]
