"""Smallest and largest mean metric over a family of rank distributions, by linear programming.

Every rank distribution is a mixture of point masses, and every non-increasing rank distribution is
a mixture of uniform distributions on 1..j. The *place* of a component of the mixture is the rank of
the point mass, or the j of the uniform distribution. Each component is a column of the linear
programme. The column holds the means, under this component, of some functions of the sampled rank
and of the exact metric.

In a solution, only a few components have a weight above 0 in the mixture, and the dual values show
which other components would improve the solution. So the programme begins with the components whose
places are on a grid, and adds components that would improve the solution until there are none
(column generation). The result is the optimum over all components.
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

_ROOM = 1 << 22  # a table with a row for each of n ranks is stored up to this number of entries
# The linear programme begins with a grid of *places*: ranks or, if distributions must be
# non-increasing, the j of uniform distributions on the ranks 1..j.
_HEAD = 64  # the places 1.._HEAD are always on the grid
# Largest ratio of neighbouring places r of the grid, and of the numbers n + 1 - r of these places.
_RATIO = 1.03
# Largest difference of arcsin(sqrt(p)) between neighbouring places of the grid, in units of
# 1 / sqrt(m), with p the share of items above a relevant item whose rank is the place.
_STEP = 0.1
_FINER = 4  # places to add to the programme are searched for on a grid this many times finer
_SPLIT = 8  # the search for a minimum divides the ranks between two places into this many parts
#: Tolerance of the constraints of the dual programme. It limits the error of a computed mean.
_ENOUGH = 1e-9
_ROUNDS = 60  # largest number of times that the programme is solved, with ever more places
#: Solvers and their tolerances. A later attempt is made only if the earlier attempts fail.
_ATTEMPTS = (("highs", 1e-10), ("highs-ipm", 1e-10), ("highs", 1e-7))


@dataclass(frozen=True, eq=False)
class Columns:
    """The columns of the linear programme: one for each component of a mixture.

    The components are point masses at ranks or, if the mixture must be non-increasing (``shape``),
    uniform distributions on the ranks 1..j. Methods return the columns as rows of an array. A row
    holds the means, under a component, of some functions of the sampled rank (``readings``) and of
    the exact metric.
    """

    samplings: tuple[Sampling, ...]
    #: For each sampling, the values of functions of the sampled rank: (m + 1, functions). If None,
    #: each sampled rank has a function that is 1 at this rank and 0 at other ranks; the mean of the
    #: function is the probability of this sampled rank.
    readings: tuple[Floats | None, ...]
    metric: Metric  # exact metric, whose mean is the last entry of a row
    shape: Shape | None
    joint: bool = False  # whether a row also holds the means of function * metric and of metric²

    @property
    def n(self) -> int:
        """Number of candidates; the places (ranks, or ends j of 1..j) are 1..n."""
        return self.samplings[0].n

    @cached_property
    def grid(self) -> Ints:
        """Places (ranks, or ends j of 1..j) with which the linear programme begins."""
        return self._grid(1)

    def _grid(self, finer: int) -> Ints:
        """Return a grid of places in 1..n; the metric's cutoff k and k + 1 are among the places.

        Between neighbouring places, the distribution of the sampled rank changes little. With a
        larger ``finer``, neighbouring places are closer together.
        """
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
        """Whether the rows of all n places are few enough to be stored."""
        return self.n * sum(s.m + 1 for s in self.samplings) <= _ROOM

    def _rows(self, above: Floats) -> Floats:
        """Return a row for a point mass at each rank ``above`` + 1; ranks may be fractions."""
        parts = []
        for s, reading in zip(self.samplings, self.readings, strict=True):
            rows = [p if reading is None else p @ reading for _, p in s.laws(above)]
            parts.append(np.vstack(rows))
        exact = self.metric.of_one(above, self.n - 1)
        if self.joint:
            parts += [part * exact[:, None] for part in parts] + [exact[:, None] ** 2]
        return np.column_stack([*parts, exact])

    def _sums(self, first: Ints, last: Ints) -> Floats:
        """Return the sums of the rows of the ranks first + 1..last, one sum for each ``first``.

        The metric must be smooth on these ranks, because the sums are computed by quadrature.
        """
        above, weights, starts = panels(first, last)
        return np.asarray(np.add.reduceat(self._rows(above) * weights[:, None], starts))

    @cached_property
    def _sums_to_grid(self) -> Floats:
        return np.cumsum(self._sums(np.concatenate([[0], self.grid[:-1]]), self.grid), axis=0)

    def on_grid(self) -> Floats:
        """Return the row of each place in :attr:`grid`: shape (places, functions + 1)."""
        if self.shape is None:
            return self._rows((self.grid - 1).astype(np.float64))
        return self._sums_to_grid / self.grid[:, None]

    def at(self, places: Ints) -> Floats:
        """Return the rows of the given places: shape (places, functions + 1)."""
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
        """The places among which :meth:`price` searches for minima, and the row of each place."""
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

        ``rows`` has a row for each place 1..n. If n rows are too many to be stored, the search uses
        a grid of places that is four times finer than :attr:`grid`, and then searches between the
        two neighbours of each minimum on this grid.
        """
        places, rows = self._checked
        values = rows @ combination
        left, right = np.r_[np.inf, values[:-1]], np.r_[values[1:], np.inf]
        lowest = np.flatnonzero((values <= left) & (values <= right))
        if self.every_place:
            lowest = lowest[values[lowest] < level]
            return places[lowest], values[lowest]
        # Between two places of the grid, the value may be lower than at both places, by about the
        # difference between the values at neighbouring places. So also search around minima that
        # are above ``level`` by at most this difference.
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
    """The linear programme over all mixtures of ``columns`` with means in low..high.

    ``low`` and ``high`` hold the range of the mean of each function of the sampled rank.
    """

    def __init__(self, columns: Columns, low: Floats, high: Floats) -> None:
        self.columns, self.low, self.high = columns, low, high
        self._places = columns.grid
        self._rows = columns.at(columns.grid)

    def mean_range(self, entry: int = -1) -> tuple[float, float] | None:
        """Return the smallest and largest mean of one function, or of the metric (``entry`` = -1).

        Return None if no rank distribution has the means of all functions in low..high.
        """
        cost, ends = np.zeros(len(self.low) + 1), []
        for sign in (1.0, -1.0):
            cost[entry] = sign
            solution = self._column_generation(cost)
            if solution is None and np.all(self.nearest()[1] == 0):
                # There was no solution with the places of the grid, but :meth:`nearest` has added
                # places with which there is a solution: try again.
                solution = self._column_generation(cost)
            if solution is None:
                return None
            ends.append(sign * solution[0])
        metric, n = self.columns.metric, self.columns.n
        return clipped(*ends, *(metric.worst_and_best(n) if entry < 0 else (0, 1)))

    def nearest(self) -> tuple[Floats, Floats]:
        """Return the means of the functions of the sampled rank that are nearest to low..high.

        They are the means under the rank distribution that minimises the sum of the distances of
        the means from their ranges low..high. Also return the distance of each mean from its range:
        0 inside the range, negative below, positive above.
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
        """Minimise a weighted sum of the mixture's means, with weights ``cost``, over all mixtures.

        Return a lower limit of the minimum, and the solution for the places that are now in the
        programme. Return None if the programme has no solution. For ``relaxed`` see
        :meth:`_solved`.
        """
        for round_ in range(_ROUNDS):
            result = self._solved(cost, relaxed)
            if result.status != 0:
                return None
            dual = result.eqlin.marginals
            # A place improves the solution if its reduced cost is negative: the place's row times
            # ``beyond``, minus the dual value of the constraint that the weights sum to 1.
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
        """Minimise the cost over weights x and means y: rows'x = y, sum x = 1, low <= y <= high.

        ``relaxed`` also allows means outside low..high; the distances from low..high are then added
        to the cost.
        """
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
            if result.status in (0, 2):  # solved, or shown to have no solution
                break
        return result


def clipped(low: float, high: float, worst: float, best: float) -> tuple[float, float]:
    """Return low..high limited to worst..best; if rounding errors made high < low, raise high."""
    low = min(max(low, worst), best)
    return low, min(max(high, low), best)
