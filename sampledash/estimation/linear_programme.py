"""Smallest and largest mean over a family of rank distributions, by linear programming.

Every rank distribution is a mixture of point masses; every non-increasing one is a mixture of
uniform distributions on 1..j. Each component has a *place*, the rank or j, and is a column of the
programme: its means of some functions of the sampled rank, and of the exact metric.

Only few places carry weight in a solution, and its dual values tell which place would improve it.
So the programme begins with the places of a grid and adds every place that would improve the
solution, until there is none (column generation). The result is the optimum over all places.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
import scipy

from sampledash.metrics import Metric
from sampledash.quadrature import panels
from sampledash.sampling import Sampling
from sampledash.types import Floats, Ints

Shape = Literal["non-increasing"]

_ROOM = 1 << 22  # with at most this many probabilities, every place is checked
_HEAD = 64  # this many best places are always on the grid
_RATIO = 1.03  # largest ratio of neighbouring places, counted from either end
_STEP = 0.1  # largest step in arcsin(sqrt(p)) between neighbouring places, times sqrt(m)
_FINER = 4  # the grid of checked places is this many times finer
_SPLIT = 8  # the search for a minimum cuts the ranks between two places into this many pieces
#: Tolerance of the dual constraints: the error of the result is not larger.
_ENOUGH = 1e-9
_ROUNDS = 60
#: Solvers and tolerances in the order of use: the later ones are for failures of the simplex steps.
_ATTEMPTS = (("highs", 1e-10), ("highs-ipm", 1e-10), ("highs", 1e-7))


@dataclass(frozen=True, eq=False)
class Columns:
    """Point masses, or uniform distributions on 1..j; a row holds the means under one component."""

    samplings: tuple[Sampling, ...]
    #: For each sampling, (m + 1, functions of the sampled rank); None: each rank's probability.
    readings: tuple[Floats | None, ...]
    metric: Metric  # its exact mean is the last entry of a row
    shape: Shape | None
    joint: bool = False  # whether rows hold means of function * metric and of metric² too

    @property
    def n(self) -> int:
        """Candidates: places are 1..n."""
        return self.samplings[0].n

    @cached_property
    def grid(self) -> Ints:
        """Places of the first programme, which are also the ends of the panels of sums."""
        return self._grid(1)

    def _grid(self, finer: int) -> Ints:
        """Return places that resolve every sampled-rank distribution, the cutoff and cutoff + 1."""
        n, m, last = self.n, max(s.m for s in self.samplings), self.metric.cut(self.n - 1)
        ratio, step = _RATIO ** (1 / finer), _STEP / np.sqrt(m) / finer
        rising = np.round(np.geomspace(1, n, int(np.log(n) / np.log(ratio)) + 2))
        even = 1 + np.round((n - 1) * np.sin(np.arange(0, np.pi / 2, step)) ** 2)
        head = np.arange(1, min(_HEAD * finer, n) + 1)
        cut = [] if last is None else [last, last + 1]
        some = np.concatenate([head, rising, n + 1 - rising, even, cut])
        places = np.unique(some.astype(np.int64))
        return places[places <= n]

    @cached_property
    def every_place(self) -> bool:
        """Whether the rows of all n places fit into memory."""
        return self.n * sum(s.m + 1 for s in self.samplings) <= _ROOM

    def _rows(self, above: Floats) -> Floats:
        """Return rows of point masses; ``above`` may lie between the ranks."""
        parts = []
        for s, reading in zip(self.samplings, self.readings, strict=True):
            rows = [p if reading is None else p @ reading for _, p in s.laws(above)]
            parts.append(np.vstack(rows))
        exact = self.metric.of_one(above, self.n - 1)
        if self.joint:
            parts += [part * exact[:, None] for part in parts] + [exact[:, None] ** 2]
        return np.column_stack([*parts, exact])

    def _sums(self, first: Ints, last: Ints) -> Floats:
        """Return sums of rows over the ranks first + 1..last, where the metric must not jump."""
        above, weights, starts = panels(first, last)
        return np.asarray(np.add.reduceat(self._rows(above) * weights[:, None], starts))

    @cached_property
    def _sums_to_grid(self) -> Floats:
        return np.cumsum(self._sums(np.concatenate([[0], self.grid[:-1]]), self.grid), axis=0)

    def on_grid(self) -> Floats:
        """Rows of the places of ``grid``: shape (places, functions + 1)."""
        if self.shape is None:
            return self._rows((self.grid - 1).astype(np.float64))
        return self._sums_to_grid / self.grid[:, None]

    def at(self, places: Ints) -> Floats:
        """Rows of some places: shape (places, functions + 1)."""
        if self.every_place:
            return self._checked[1][places - 1]
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
        """Places that are checked for a minimum, and their rows."""
        if not self.every_place:
            places = self._grid(_FINER)
            return places, self.at(places)
        places, rows = np.arange(1, self.n + 1), self._rows(np.arange(self.n, dtype=np.float64))
        if self.shape is not None:
            np.cumsum(rows, axis=0, out=rows)
            rows /= places[:, None]
        return places, rows

    def price(self, combination: Floats, level: float) -> tuple[Ints, Floats]:
        """Return places and values of the local minima of ``rows @ combination`` below ``level``.

        Where not every place fits into memory, the search looks at a grid with 40 places per width
        of a sampled-rank distribution, and refines each minimum of the grid.
        """
        places, rows = self._checked
        values = rows @ combination
        left, right = np.r_[np.inf, values[:-1]], np.r_[values[1:], np.inf]
        lowest = np.flatnonzero((values <= left) & (values <= right))
        if self.every_place:
            lowest = lowest[values[lowest] < level]
            return places[lowest], values[lowest]
        # Between grid places the value may be lower by about its difference from its neighbours.
        depth = np.minimum(np.where(np.isinf(left), right, left), right) - values
        lowest = lowest[values[lowest] < level + np.abs(depth[lowest])]
        ends = np.r_[places[0], places, places[-1]]
        at, value = places[lowest], values[lowest]
        low, high = ends[lowest], ends[lowest + 2]
        index = np.arange(len(at))
        while len(at) and np.any(high - low > 2):
            step = np.maximum((high - low) // _SPLIT, 1)
            tried = np.minimum(low[:, None] + step[:, None] * np.arange(_SPLIT + 2), high[:, None])
            seen = (self.at(tried.ravel()) @ combination).reshape(tried.shape)
            best = np.argmin(seen, axis=1)
            at, value = tried[index, best], seen[index, best]
            low, high = np.maximum(at - step, low), np.minimum(at + step, high)
            done = step == 1
            low[done], high[done] = at[done], at[done]
        keep = value < level
        order, first = np.unique(at[keep], return_index=True)
        return order, value[keep][first]


class Programme:
    """All rank distributions under which the mean of each function is in ``low..high``."""

    def __init__(self, columns: Columns, low: Floats, high: Floats) -> None:
        self.columns, self.low, self.high = columns, low, high
        self._places = columns.grid
        self._rows = columns.at(columns.grid)

    def mean_range(self, entry: int = -1) -> tuple[float, float] | None:
        """Return the smallest and largest mean of one function, or of the metric (entry -1).

        Return ``None`` where no distribution is in range.
        """
        cost, ends = np.zeros(len(self.low) + 1), []
        for sign in (1.0, -1.0):
            cost[entry] = sign
            solution = self._column_generation(cost)
            if solution is None and np.all(self.nearest()[1] == 0):
                # The first places allow no solution; :meth:`nearest` has added places that do.
                solution = self._column_generation(cost)
            if solution is None:
                return None
            ends.append(sign * solution[0])
        metric, n = self.columns.metric, self.columns.n
        return clipped(*ends, *(metric.worst_and_best(n) if entry < 0 else (0, 1)))

    def nearest(self) -> tuple[Floats, Floats]:
        """Return the means of the distribution with the least sum of distances from the ranges.

        Return also each distance: negative below the range, positive above it.
        """
        solution = self._column_generation(np.zeros(len(self.low) + 1), relaxed=True)
        if solution is None:
            raise RuntimeError("the linear programme of the nearest distribution has no solution")
        x, size = solution[1].x, len(self._places)
        over, under = x[size + len(self.low) :].reshape(2, -1)
        missed = np.where(over + under > _ENOUGH, over - under, 0.0)
        return x[:size] @ self._rows[:, :-1], missed

    def _column_generation(
        self, cost: Floats, relaxed: bool = False
    ) -> tuple[float, scipy.optimize.OptimizeResult] | None:
        """Return a lower limit of the cost over all places, and the last programme's solution."""
        for round_ in range(_ROUNDS):
            result = self._solved(cost, relaxed)
            if result.status != 0:
                return None
            dual = result.eqlin.marginals
            # The reduced cost of a place is its row times ``beyond``, minus the dual of the sum 1.
            beyond = cost - np.append(dual[:-1], 0.0)
            places, values = self.columns.price(beyond, dual[-1] - _ENOUGH)
            new = np.setdiff1d(places, self._places)
            if len(new) == 0 or round_ == _ROUNDS - 1:
                break
            near = np.clip(np.concatenate([new - 1, new, new + 1]), 1, self.columns.n)
            near = np.setdiff1d(near, self._places)
            both = np.concatenate([self._places, near])
            order = np.argsort(both)
            self._rows = np.vstack([self._rows, self.columns.at(near)])[order]
            self._places = both[order]
        lacking = max(dual[-1] - values.min(), 0.0) if len(values) else 0.0
        return float(result.fun) - lacking, result

    def _solved(self, cost: Floats, relaxed: bool) -> scipy.optimize.OptimizeResult:
        """Find weights x of the places and means y: rows'x - y = 0, sum x = 1, low <= y <= high."""
        size, functions = len(self._places), len(self.low)
        columns = [self._rows[:, :-1].T, -np.eye(functions)]
        limits = [np.tile([0.0, np.inf], (size, 1)), np.column_stack([self.low, self.high])]
        price = [self._rows @ cost, np.zeros(functions)]
        if relaxed:
            columns += [-np.eye(functions), np.eye(functions)]
            limits.append(np.tile([0.0, np.inf], (2 * functions, 1)))
            price.append(np.ones(2 * functions))
        left = np.hstack(columns)
        total = np.concatenate([np.ones(size), np.zeros(left.shape[1] - size)])
        equal, to = np.vstack([left, total]), np.append(np.zeros(functions), 1.0)
        limit, prices = np.vstack(limits), np.concatenate(price)
        for method, tolerance in _ATTEMPTS:
            options = {f"{side}_feasibility_tolerance": tolerance for side in ("primal", "dual")}
            result = scipy.optimize.linprog(
                prices, None, None, equal, to, limit, method, options=options
            )
            if result.status in (0, 2):  # solved, or infeasible
                break
        return result


def clipped(low: float, high: float, worst: float, best: float) -> tuple[float, float]:
    """Return the range within worst..best and with ends in order, despite rounding errors."""
    low = min(max(low, worst), best)
    return low, min(max(high, low), best)
