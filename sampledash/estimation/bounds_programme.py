"""Smallest and largest mean over a family of rank distributions, by linear programming.

Only few places carry weight in a solution, and its dual values tell which place would improve it.
So the programme begins with the places of a grid and takes in whatever place its dual values ask
for, until none does: the result is that of the programme over all places.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import OptimizeResult, linprog

from sampledash.estimation.bounds_family import Family
from sampledash.types import Floats, Ints, Progress

#: How far a dual value may ask for more: the error of the result is not larger.
_ENOUGH = 1e-9
_ROUNDS = 60
#: The solver's finest tolerance, and what to fall back on where simplex steps break down.
_ATTEMPTS = (("highs", 1e-10), ("highs-ipm", 1e-10), ("highs", 1e-7))


@dataclass(frozen=True, eq=False)
class Solution:
    """What a programme found.

    Attributes
    ----------
    value
        Its smallest value; not above that over all places.
    shown
        What the solution shows for each function, shape (functions,).
    missed
        By how much it leaves each function's range: below 0 under it, above 0 over it.
    """

    value: float
    shown: Floats
    missed: Floats


class Programme:
    """Rank distributions of a family with the means of some functions in given ranges.

    Parameters
    ----------
    family
        The distributions.
    low, high
        Range of the mean of each function, shape (functions,).
    """

    def __init__(self, family: Family, low: Floats, high: Floats) -> None:
        self.family, self.low, self.high = family, low, high
        self._places = family.grid
        self._rows = family.at(family.grid)

    def smallest(self, cost: Floats, progress: Progress | None = None) -> Solution | None:
        """Minimise a combination of the columns; ``None`` where no distribution is in range."""
        found = self._generated(cost, relaxed=False, progress=progress)
        if found is None and np.all(self.nearest().missed == 0):
            # The first places could not do it, those that came nearest can.
            found = self._generated(cost, relaxed=False, progress=progress)
        return found

    def nearest(self) -> Solution:
        """The distribution that leaves the ranges least, in the sum of the distances."""
        found = self._generated(np.zeros(len(self.low) + 1), relaxed=True, progress=None)
        if found is None:
            raise RuntimeError("the linear programme of the nearest distribution has no solution")
        return found

    def _generated(self, cost: Floats, relaxed: bool, progress: Progress | None) -> Solution | None:
        for round_ in range(_ROUNDS):
            result = self._solved(cost, relaxed)
            if result is None:
                return None
            if progress is not None:
                progress(1 - 0.5 ** (round_ + 1))
            dual = result.eqlin.marginals
            # What a place costs beyond what the dual values pay for it.
            beyond = cost - np.append(dual[:-1], 0.0)
            places, values = self.family.lowest(beyond, dual[-1] - _ENOUGH)
            new = np.setdiff1d(places, self._places)
            if len(new) == 0:
                break
            near = np.clip(np.concatenate([new - 1, new, new + 1]), 1, self.family.n)
            self._add(np.setdiff1d(near, self._places))
        lacking = dual[-1] - values.min() if len(values) else 0.0
        return self._read(result, cost, max(lacking, 0.0))

    def _add(self, places: Ints) -> None:
        both = np.concatenate([self._places, places])
        order = np.argsort(both)
        self._rows = np.vstack([self._rows, self.family.at(places)])[order]
        self._places = both[order]

    def _solved(self, cost: Floats, relaxed: bool) -> OptimizeResult | None:
        """Weights x of the places and shown y with rows'x - y = 0, sum x = 1, low <= y <= high."""
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
        for method, tolerance in _ATTEMPTS:
            result = linprog(
                np.concatenate(price),
                A_eq=np.vstack([left, total]),
                b_eq=np.append(np.zeros(functions), 1.0),
                bounds=np.vstack(limits),
                method=method,
                options={
                    "primal_feasibility_tolerance": tolerance,
                    "dual_feasibility_tolerance": tolerance,
                },
            )
            if result.status in (0, 2):
                return result if result.status == 0 else None
        return None

    def _read(self, result: OptimizeResult, cost: Floats, lacking: float) -> Solution:
        weights = result.x[: len(self._places)]
        shown = weights @ self._rows[:, :-1]
        missed = np.zeros(len(self.low))
        extra = result.x[len(self._places) + len(self.low) :]
        if len(extra):
            over, under = extra.reshape(2, -1)
            missed = np.where(over + under > _ENOUGH, over - under, 0.0)
        return Solution(float(result.fun) - lacking, shown, missed)
