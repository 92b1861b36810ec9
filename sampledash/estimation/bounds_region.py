r"""Which values of a metric the sampled ranks do not contradict, sampling error included.

For each value v of the metric, the misfit

.. math:: f(v) = \min_\pi d^T C^{-1} d, \quad \pi \cdot M = v

over all rank distributions (:mod:`sampledash.estimation.bounds_fit`) is convex in v: zero slope
where the sampled ranks cannot tell, steep outside. The interval holds the v with
:math:`f(v) \le \min f + z^2`. So only the error of the one functional that matters for this metric
is paid for, not that of m + 1 cumulative shares at once.

z is the normal quantile of the confidence, 1.96 for 95 %, where the sampled ranks determine the
metric: it may lie beyond either end. Where they leave a range open that is wide against the
sampling error it can lie beyond one end only, and 1.645 is enough; in between

.. math:: \Phi(z + \Delta/\sigma) - \Phi(-z) = 0.95,

:math:`\Delta` the width of the open range and :math:`\sigma` the standard error of its ends, both
read off the two intervals of 1.645 and 1.96.

Notes
-----
These are the "one-at-a-time strict bounds" of the literature on inverse problems. Their coverage is
that of a chi-square with one degree of freedom where no constraint binds; with binding constraints
it has no general proof and known, contrived exceptions. Simulated for the rank distributions at the
very ends of what a sample allows, the worst case, 95 % intervals missed the metric in 0 to 6 % of
runs, in 1 % on average; for recommenders and smooth distributions hardly ever. They are about as
narrow as an interval of that coverage can be: see ``tests/benchmarks/bounds_floor.py``.

References
----------
Rust & Burrus, Mathematical Programming and the Numerical Solution of Linear Equations, 1972;
Stanley, Patil & Kuusela, Uncertainty quantification for wide-bin unfolding, JINST 2022; Imbens &
Manski, Confidence intervals for partially identified parameters, Econometrica 2004, eq. 6-7.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from sampledash.estimation.bounds_fit import Fitted, nonnegative

Floats = NDArray[np.float64]
Profile = Callable[[float], tuple[float, float]]

_EXACT = 1e-6  # standard error below which the metric of the instances counts as known
_CLOSE = 1e-5  # of the misfit's root, at the ends of the interval
_STEPS = 60
_NEAR = 0.005  # two quantiles that count as one


def region(parts: list[Fitted], signs: list[float], confidence: float) -> tuple[float, float]:
    """Range of a signed sum of metrics that holds its exact value with a confidence.

    Parameters
    ----------
    parts
        One system, or the two of a difference; they are independent samples.
    signs
        1 or -1 for each.
    confidence
        In 0..1, above 0.
    """
    two, one = float(ndtri((1 + confidence) / 2)), float(ndtri(max(confidence, 0.5)))
    wide = np.array(within(parts, signs, two**2))
    narrow = np.array(within(parts, signs, max(one**2, _EXACT)))
    errors = np.abs(wide - narrow) / (two - one)
    error, left = float(errors.max()), float(np.ptp(narrow) - one * errors.sum())
    if error == 0.0:
        return float(wide[0]), float(wide[1])

    def excess(z: float) -> float:
        return float(ndtr(z + max(left, 0.0) / error) - ndtr(-z)) - confidence

    z = one if excess(one) >= 0 else float(brentq(excess, one, two + _EXACT))
    low, high = narrow if z - one < _NEAR else within(parts, signs, z**2)
    return float(low), float(high)


def within(parts: list[Fitted], signs: list[float], squared: float) -> tuple[float, float]:
    """Ends of the values of a signed sum of metrics whose misfit exceeds the least by ``squared``.

    Parameters
    ----------
    parts
        One system, or the two of a difference; they are independent samples.
    signs
        1 or -1 for each.
    squared
        z².
    """
    sizes = [len(part.values) for part in parts]
    rows = np.zeros((sum(len(p.observed) for p in parts), sum(sizes)))
    totals = np.zeros((len(parts), sum(sizes)))
    row = column = 0
    for i, part in enumerate(parts):
        here = slice(column, column + sizes[i])
        rows[row : row + len(part.observed), here] = part.rows
        totals[i, here] = 1.0
        row, column = row + len(part.observed), column + sizes[i]
    observed = np.concatenate([part.observed for part in parts])
    values = np.concatenate([s * part.values for s, part in zip(signs, parts, strict=True)])
    offset = sum(s * part.offset for s, part in zip(signs, parts, strict=True))
    start = np.concatenate([part.weights for part in parts])
    goal = float(np.sqrt(sum(part.misfit for part in parts) + squared))
    firm = max(sum(part.scatter for part in parts), _EXACT**2) ** -0.5

    def profile(value: float) -> tuple[float, float]:
        """Root of the misfit of a value, and its slope."""
        weights = nonnegative(
            np.vstack([rows, firm * values]), np.append(observed, firm * (value - offset)), totals
        )
        off = value - offset - float(values @ weights)
        root = float(np.hypot(np.linalg.norm(rows @ weights - observed), firm * off))
        return root, firm**2 * off / max(root, 1e-300)

    ends = [sorted(s * end for end in p.extremes) for s, p in zip(signs, parts, strict=True)]
    inside = offset + float(values @ start)
    low, high = (_crossing(profile, goal, inside, float(end)) for end in np.sum(ends, axis=0))
    return low, high


def _crossing(profile: Profile, goal: float, inside: float, outside: float) -> float:
    """Where the convex root of the misfit reaches ``goal``, between a value inside and an end."""
    if profile(outside)[0] <= goal:
        return outside
    tried = (inside + outside) / 2
    for _ in range(_STEPS):
        root, slope = profile(tried)
        if abs(root - goal) <= _CLOSE * goal or abs(outside - inside) <= _EXACT / 100:
            return tried
        if root > goal:
            outside = tried
        else:
            inside = tried
        # Newton's step from outside does not overshoot, as the root is convex.
        tried = tried - (root - goal) / slope if slope else np.inf
        if not min(inside, outside) < tried < max(inside, outside):
            tried = (inside + outside) / 2
    return outside
