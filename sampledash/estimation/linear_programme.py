"""Smallest and largest mean metric over a family of rank distributions, by linear programming.

Every rank distribution is a mixture of point masses, and every non-increasing rank distribution is
a mixture of uniform distributions on 1..j. The words of this module are:

* *component*: a point mass at one rank, or (with a shape) a uniform distribution on the ranks 1..j;
* *place*: the number that names a component: the rank of a point mass, or the end j of 1..j;
* *functions*: given functions of the sampled rank, for example the metrics of a printed table, or
  for each t whether the sampled rank is at most t. Their means must lie in the limits low..high;
* *row* of a place: the means of all functions, and of the exact metric, under the component. A row
  is stored as a row of an array, and is a column of the linear programme;
* *weights*: the unknowns of the programme, which are the shares of the components in the mixture;
* *cost*: the quantity that the programme minimises, such as the mean metric or its negative.

In a solution, few components have a weight above 0, and the dual values show which other components
would improve the solution. So the programme begins with few components, and adds components until
none improves the solution (column generation). The result is the optimum over all components.
"""

from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Literal

import numpy as np
import scipy

from sampledash.metrics import Metric
from sampledash.quadrature import panels
from sampledash.sampling import Sampling
from sampledash.types import Floats, Ints, blocks, frozen

Shape = Literal["non-increasing"]

# The linear programme has a column for each rank 1..n. All columns are stored under two conditions:
# n is at most _EVERY, and the matrix of P(sampled rank | true rank) has at most _ROOM entries.
_EVERY, _ROOM = 1 << 15, 5 << 20
_SHARED = 1 << 18  # an array with more entries is not cached for use by other linear programmes
_BLOCK = 1 << 21  # sums over ranks compute this many array entries at a time, to limit the memory
# The grid of ranks is ``Columns.grid``.
_HEAD = 64  # the grid of ranks contains all ranks from 1 to _HEAD
# Largest ratio of two neighbouring ranks r of Columns.grid, and of their distances n + 1 - r from
# the end of the list.
_RATIO = 1.03
# Largest difference of arcsin(sqrt(p)) between neighbouring ranks of Columns.grid, times sqrt(m).
# Here, p is the share of the candidates that are above the relevant item.
_STEP = 0.1
# A linear programme begins with a grid of ranks 1/8 as fine as Columns.grid, or with a finer
# grid if n is below 512.
_FIRST = 1 / 8
# A programme begins with the ranks in ``Columns.first``. The ranks of a solution are added to
# this dict if the dict has fewer than _MOST ranks.
_MOST = 300
# Largest number of ranks that are added to a linear programme at a time, in addition to the local
# minima of the reduced cost (see ``Columns.price``).
_MORE = 20
_FINER = 4  # a programme adds ranks of a grid that is this many times as fine as Columns.grid
# To find a local minimum of the reduced cost, Columns.price divides an interval of ranks into this
# many parts.
_SPLIT = 8
#: Tolerance of the constraints of the dual programme. It limits the error of a computed mean.
_ENOUGH = 1e-9
_ROUNDS = 60  # largest number of times that a programme is solved, each time with more ranks
#: Solvers and their tolerances. A later attempt is made only if the earlier attempts fail.
_ATTEMPTS = (("highs", 1e-10), ("highs-ipm", 1e-10), ("highs", 1e-7))


@dataclass(frozen=True, eq=False)
class Columns:
    """Components: the rank distributions whose mixtures a linear programme searches.

    These are point masses at the ranks 1..n. If no rank may be more probable than a better rank
    (``shape``), they are the uniform distributions on 1..j. A component is a column of the linear
    programme. Methods return a component as a row of an array: the means of functions of the
    sampled rank (such as the metrics that a table prints), and the mean of the exact metric.
    """

    samplings: tuple[Sampling, ...]
    #: For each of ``samplings``, the values of functions (such as printed metrics) at each sampled
    #: rank: (m + 1, functions). None stands for one function per sampled rank, whose mean is the
    #: probability of this sampled rank.
    readings: tuple[Floats | None, ...]
    metric: Metric  # the exact metric, whose mean is the last entry of a component's row
    shape: Shape | None
    joint: bool = False  # whether a row also holds means of function * metric and of metric²

    @property
    def n(self) -> int:
        """Number of candidates; there is a component for each rank 1..n."""
        return self.samplings[0].n

    @cached_property
    def grid(self) -> Ints:
        """Ranks at such distances that neighbours have similar distributions of the sampled rank.

        With a shape, a rank j of this grid stands for the uniform distribution on 1..j.
        """
        return self._grid(1)

    @cached_property
    def first(self) -> dict[int, Floats]:
        """The true ranks with which a linear programme begins, each with its result of :meth:`at`.

        A programme adds the ranks of its solution to this dict. The programme of another system of
        the same table begins with these ranks, too, and is solved faster.
        """
        places = self._grid(min(max(_FIRST, _HEAD / self.n), 1.0))
        return dict(zip(places.tolist(), self.at(places), strict=True))

    def _grid(self, finer: float) -> Ints:
        """Return a grid of ranks in 1..n: :attr:`grid` if ``finer`` = 1, twice as fine if it is 2.

        The grid contains the last rank within the metric's cutoff and the next rank.
        """
        n, m, last = self.n, max(s.m for s in self.samplings), self.metric.cut(self.n - 1)
        ratio, step = _RATIO ** (1 / finer), _STEP / np.sqrt(m) / finer
        rising = np.round(np.geomspace(1, n, int(np.log(n) / np.log(ratio)) + 2))
        even = 1 + np.round((n - 1) * np.sin(np.arange(0, np.pi / 2, step)) ** 2)
        head = np.arange(1, min(int(_HEAD * finer), n) + 1)
        cut = [] if last is None else [last, last + 1]
        some = np.concatenate([head, rising, n + 1 - rising, even, cut])
        places = np.unique(some.astype(np.int64))
        return places[places <= n]

    @cached_property
    def every_place(self) -> bool:
        """Whether n and m are so small that an array with a row per rank 1..n can be stored."""
        return self.n <= _EVERY and self.n * sum(s.m + 1 for s in self.samplings) <= _ROOM

    def _rows(self, above: Floats, every: bool = False) -> Floats:
        """Return a row for each true rank ``above`` + 1, which may be a fraction.

        A row holds the means of the functions in ``readings``; with ``joint``, also each mean times
        the exact metric, and the squared metric. The last entry is the exact metric. ``every`` says
        that the true ranks are 1..n.
        """
        parts = []
        for s, reading in zip(self.samplings, self.readings, strict=True):
            if every and reading is not None and s.n * reading.shape[1] <= _SHARED:
                parts.append(_at_every_rank(s, reading.tobytes()))
            else:
                parts.append(_means(s, reading, above))
        exact = self.metric.of_one(above, self.n - 1)
        if self.joint:
            parts += [part * exact[:, None] for part in parts] + [exact[:, None] ** 2]
        return np.column_stack([*parts, exact])

    def _sums(self, first: Ints, last: Ints) -> Floats:
        """Return, for each i, the sum of :meth:`_rows` over the ranks first[i] + 1 to last[i].

        The sums are computed by Gauss quadrature from few ranks, the nodes. The metric must be
        smooth from rank first[i] + 1 to rank last[i].
        """
        # If less than half of the candidates are drawn, neighbouring ranks of the grid are so close
        # that 8 quadrature nodes between them are enough, instead of the usual 16.
        size = 8 if all(2 * s.m < s.n for s in self.samplings) else 16
        sums = []
        for some in blocks(len(first), _BLOCK, size * sum(s.m + 1 for s in self.samplings)):
            above, weights, starts = panels(first[some], last[some], size)
            sums.append(np.add.reduceat(self._rows(above) * weights[:, None], starts))
        return np.vstack(sums)

    @cached_property
    def _sums_to_grid(self) -> Floats:
        """Sums of :meth:`_rows` over the ranks 1..j: a row for each j in :attr:`grid`."""
        return np.cumsum(self._sums(np.concatenate([[0], self.grid[:-1]]), self.grid), axis=0)

    def on_grid(self) -> Floats:
        """Return the result of :meth:`at` for all ranks in :attr:`grid`."""
        if self.shape is None:
            return self._rows((self.grid - 1).astype(np.float64))
        return self._sums_to_grid / self.grid[:, None]

    def at(self, places: Ints) -> Floats:
        """Return the means of functions of the sampled rank, and the exact metric, at true ranks.

        ``places`` holds these true ranks. With a ``shape`` ("non-increasing"), return the averages
        over the ranks 1..j, for each j in ``places``.
        """
        if self.every_place:
            return self.stored[1][places - 1]
        if self.shape is None:
            return self._rows((places - 1).astype(np.float64))
        before = np.searchsorted(self.grid, places, side="right") - 1
        rows = self._sums_to_grid[before]
        inside = self.grid[before] < places
        if np.any(inside):
            rows[inside] += self._sums(self.grid[before[inside]], places[inside])
        return np.asarray(rows / places[:, None])

    @cached_property
    def stored(self) -> tuple[Ints, Floats]:
        """Ranks that :meth:`price` tries first, and the result of :meth:`at` for these ranks."""
        if self.every_place:
            places, above = np.arange(1, self.n + 1), np.arange(self.n, dtype=np.float64)
            rows = self._rows(above, every=True)
            if self.shape is not None:
                np.cumsum(rows, axis=0, out=rows)
                rows /= places[:, None]
        else:
            places = self._grid(_FINER)
            rows = self.at(places)
        return places, frozen(rows)

    def price(self, combination: Floats, level: float) -> tuple[Ints, float]:
        """Return true ranks that would improve a linear programme's solution.

        The cost of a rank is a product, ``row @ combination``. The row holds the means of given
        functions of the sampled rank, such as printed metrics, and the exact metric at this true
        rank. The rank improves the solution if its cost is below ``level``. Return the local minima
        of the cost, their neighbours, and up to _MORE other ranks. Also return the lowest cost, or
        ``level`` if no cost is lower.

        If n is large, rows are stored for some ranks only. If the cost is not below ``level`` at
        any of these ranks, the ranks between them are searched around each local minimum.
        """
        places, rows = self.stored
        values = rows @ combination
        left, right = np.r_[np.inf, values[:-1]], np.r_[values[1:], np.inf]
        lowest, below = (values <= left) & (values <= right), values < level
        if self.every_place or np.any(below):
            minima, others = np.flatnonzero(lowest & below), np.flatnonzero(below)
            some = [minima - 1, minima, minima + 1, others[:: 1 + len(others) // _MORE]]
            at = np.unique(np.clip(np.concatenate(some), 0, len(places) - 1))
            return places[at], min(float(values.min()), level)
        # ``values`` holds the costs at the true ranks ``places`` only. The cost of a rank between
        # two of these can be lower than every stored cost. If three neighbouring ranks are at equal
        # distances, the parabola through their costs falls below the lowest of the three costs by
        # at most 1/8 of the difference between the highest and the lowest of them. Here, distances
        # differ, so allow for 1/4.
        highest = scipy.ndimage.maximum_filter1d(values, 5)
        lowest = np.flatnonzero(lowest & (values - level < (highest - values) / 4))
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
        at = at[value < level]
        near = np.clip(np.concatenate([at - 1, at, at + 1]), 1, self.n)
        return np.unique(near), float(value.min(initial=level))


def _means(sampling: Sampling, reading: Floats | None, above: Floats) -> Floats:
    """Return the means of functions of the sampled rank, given the true rank ``above`` + 1.

    ``reading`` holds the functions' values at each sampled rank. If ``reading`` is None, return the
    probabilities of the sampled ranks. The result has a row for each number in ``above``.
    """
    return np.vstack([p if reading is None else p @ reading for _, p in sampling.laws(above)])


@lru_cache(maxsize=8)
def _at_every_rank(sampling: Sampling, reading: bytes) -> Floats:
    """Return the means of functions of the sampled rank at each true rank 1..n (read-only).

    The result is cached for all metrics, shapes and systems. ``reading`` holds the functions'
    values, (m + 1, functions), as bytes, because the keys of a cache must be hashable.
    """
    table = np.frombuffer(reading).reshape(sampling.m + 1, -1)
    return frozen(_means(sampling, table, np.arange(sampling.n, dtype=np.float64)))


class Programme:
    """Linear programme over all mixtures of the rank distributions in ``columns``.

    ``columns`` also holds functions of the sampled rank, such as printed metrics. The mean of each
    function must lie in its limits low..high.
    """

    def __init__(self, columns: Columns, low: Floats, high: Floats) -> None:
        self.columns, self.low, self.high = columns, low, high
        places, rows = zip(*list(columns.first.items()), strict=True)
        self._places, self._rows = np.array(places), np.array(rows)

    def mean_range(self, entry: int = -1) -> tuple[float, float] | None:
        """Return the smallest and largest mean of a function of the sampled rank, or of the metric.

        ``entry`` is the index of the function; -1 stands for the exact metric. Return None if no
        rank distribution gives every function a mean within its limits low..high.
        """
        costs = np.zeros((2, len(self.low) + 1))
        costs[:, entry] = 1.0, -1.0
        solution = self._column_generation(costs)
        if solution is None and np.all(self.nearest()[1] == 0):
            # :meth:`nearest` may have added rank distributions (columns) with which there is a
            # solution: try again.
            solution = self._column_generation(costs)
        if solution is None:
            return None
        low, high = solution[0]
        metric, n = self.columns.metric, self.columns.n
        return clipped(low, -high, *(metric.worst_and_best(n) if entry < 0 else (0, 1)))

    def nearest(self) -> tuple[Floats, Floats]:
        """Return the means of the functions under the distribution that fits low..high best.

        Also return the distance of each mean from its limits: 0 inside, negative below, positive
        above. The sum of the absolute distances is minimal over all mixtures.
        """
        solution = self._column_generation(np.zeros((1, len(self.low) + 1)), relaxed=True)
        if solution is None:
            raise RuntimeError("the linear programme of the nearest distribution has no solution")
        x, size = solution[1][0], len(self._places)
        over, under = x[size + len(self.low) :].reshape(2, -1)
        return x[:size] @ self._rows[:, :-1], np.where(over + under > _ENOUGH, over - under, 0.0)

    def _column_generation(
        self, costs: Floats, relaxed: bool = False
    ) -> tuple[list[float], Floats] | None:
        """Minimise each cost over all mixtures of the rank distributions, by column generation.

        A cost is a weighted sum of the means of the functions and of the metric. ``costs`` holds
        these weights, in a row for each cost. ``relaxed`` allows means outside their limits, at an
        additional cost (see :meth:`_solved`).

        Return a lower bound of each minimum, correct up to _ENOUGH, and an array with a row for
        each cost: the weights of the mixture, then the means of the functions. Return None if the
        solver finds no solution.
        """
        for round_ in range(_ROUNDS):
            result = self._solved(costs, relaxed)
            if result.status != 0:
                return None
            limits, improving = [], []
            duals = result.eqlin.marginals.reshape(len(costs), -1)
            for cost, dual in zip(costs, duals, strict=True):
                # A rank improves the solution if its reduced cost is negative. The reduced cost is
                # (the rank's row of means) @ (``cost`` - dual values of the means) - dual[-1]. Here
                # dual[-1] is the dual value of the equation that the weights add up to 1.
                level = dual[-1] - _ENOUGH
                places, least = self.columns.price(cost - np.append(dual[:-1], 0.0), level)
                improving.append(places)
                limits.append(level - least)
            new = np.setdiff1d(np.concatenate(improving), self._places)
            if len(new) == 0 or round_ == _ROUNDS - 1:
                break
            self._places = np.append(self._places, new)
            self._rows = np.vstack([self._rows, self.columns.at(new)])
        values = (result.x * result.prices).reshape(len(costs), -1)
        x = result.x.reshape(values.shape)
        if len(self.columns.first) < _MOST:
            used = np.flatnonzero(np.any(x[:, : len(self._places)] > 0, axis=0))
            rows = zip(self._places[used].tolist(), self._rows[used], strict=True)
            self.columns.first.update(rows)
        return (values.sum(axis=1) - limits).tolist(), x

    def _solved(self, costs: Floats, relaxed: bool) -> "scipy.optimize.OptimizeResult":
        """Minimise each cost over the weights x of the mixture and the means y of the functions.

        The constraints are y = R'x, sum x = 1 and low <= y <= high, where R holds the means of the
        functions at each rank. ``relaxed`` allows means outside low..high; their distances from
        low..high are then added to the cost. All costs are minimised by one programme, because each
        call of the solver takes long, even for a small programme.
        """
        size, functions, number = len(self._places), len(self.low), len(costs)
        columns = [self._rows[:, :-1].T, -np.eye(functions)]
        limits = [np.tile([0.0, np.inf], (size, 1)), np.column_stack([self.low, self.high])]
        prices = [costs @ self._rows.T, np.zeros((number, functions))]
        if relaxed:
            columns += [-np.eye(functions), np.eye(functions)]
            limits.append(np.tile([0.0, np.inf], (2 * functions, 1)))
            prices.append(np.ones((number, 2 * functions)))
        left = np.hstack(columns)
        total = np.concatenate([np.ones(size), np.zeros(left.shape[1] - size)])
        equal, to = np.vstack([left, total]), np.append(np.zeros(functions), 1.0)
        every, price = np.kron(np.eye(number), equal), np.hstack(prices).ravel()
        limit, ends = np.tile(np.vstack(limits), (number, 1)), np.tile(to, number)
        for method, tolerance in _ATTEMPTS:
            options = {f"{side}_feasibility_tolerance": tolerance for side in ("primal", "dual")}
            about = price, None, None, every, ends, limit, method
            result = scipy.optimize.linprog(*about, options=options)
            if result.status in (0, 2):  # solved, or shown to have no solution
                break
        result.prices = price
        return result


def clipped(low: float, high: float, worst: float, best: float) -> tuple[float, float]:
    """Return low..high limited to worst..best; both ends are low if rounding made high < low."""
    low = min(max(low, worst), best)
    return low, min(max(high, low), best)
