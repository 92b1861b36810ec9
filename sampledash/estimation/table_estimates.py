r"""Estimates of an exact metric from a printed table, by distributions with two parameters.

In every family the logarithm of the rank r has a standard distribution G, shifted and scaled: with
negatives drawn as m of n, the share of instances with ranks up to r is proportional to

.. math:: G(a + b \log((r + 1/2) m / n)), \qquad r = 1..n.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
from scipy.optimize import least_squares
from scipy.special import expit, ndtr

from sampledash.estimation.bounds import (
    ERRORS,
    bounds_from_table,
    printed_error,
    printed_values,
    table_protocol,
    unless_contradicted,
)
from sampledash.estimation.linear_programme import Shape
from sampledash.estimation.support import support_of
from sampledash.metrics import Metric, as_metric
from sampledash.sampling import Sampling
from sampledash.schemes import DEFAULT_SCHEME, Scheme
from sampledash.types import Floats

#: Weight of the distance from a = 0, b = ``slope`` beside the residuals. It decides only what the
#: printed values leave open: b for a single value, and how far from 0 a is if all values are 1.
_PENALTY = 1e-6
_FEWEST = 2_500  # a misfit that fewer instances can have by chance is no contradiction
_SHAPE: Shape = "non-increasing"
_FAR = 30.0  # smaller arguments of G, and log b further from 0, change no printed digit
_STEP = 1e-5  # step of a and of log b in numerical derivatives


@dataclass(frozen=True)
class Family:
    """A family of rank distributions with two parameters a and b."""

    name: str
    below: Callable[[Floats], Floats]  # the distribution function G
    slope: float  # b, if a single printed value leaves it open


#: The estimate is the mean over these families. With both slopes, the logarithm of the rank has the
#: same standard deviation, pi / sqrt(3), if the end of the list is far away.
FAMILIES = (
    Family("log-logistic", expit, 1.0),
    Family("log-normal", ndtr, float(np.sqrt(3) / np.pi)),
)


@dataclass(frozen=True, eq=False)
class _Ranks:
    """Nodes for sums over the ranks 1..n, with the means of each metric at each node."""

    weights: Floats  # number of ranks that each node stands for
    log_before: Floats  # log((r - 1/2) m / n) of each node's rank r; -1e300 for r = 1
    log_up_to: Floats  # log((r + 1/2) m / n)
    last: float  # log((n + 1/2) m / n)
    means: Floats  # expected printed metrics and the exact metric, (nodes, printed + 1)
    products: Floats  # expected products of each two of them, (nodes, printed + 1, printed + 1)

    def probabilities(self, family: Family, parameters: Floats) -> Floats:
        """Return the probability of the ranks that each node stands for."""
        a, b = parameters[0], np.exp(np.clip(parameters[1], -_FAR, _FAR))
        ends = self.log_before, self.log_up_to, self.last
        before, up_to, all_ranks = (family.below(np.maximum(a + b * x, -_FAR)) for x in ends)
        return np.asarray(self.weights * (up_to - before) / all_ranks)

    def expected(self, family: Family, parameters: Floats) -> Floats:
        return np.asarray(self.probabilities(family, parameters) @ self.means)


@lru_cache(maxsize=8)
def _ranks(sampling: Sampling, metrics: tuple[Metric, ...], exact: Metric) -> _Ranks:
    n, m, size = sampling.n, sampling.m, len(metrics)
    nodes = support_of(n, m, sampling.scheme, steps=False, cut=exact.cut(n - 1))
    shown = np.column_stack([metric.of_one(np.arange(m + 1), m) for metric in metrics])
    pairs = (shown[:, :, None] * shown[:, None]).reshape(m + 1, -1)
    sampled = np.vstack([p @ np.hstack([shown, pairs]) for _, p in sampling.laws(nodes.above)])
    means = np.column_stack([sampled[:, :size], exact.of_one(nodes.above, n - 1)])
    products = means[:, :, None] * means[:, None]
    products[:, :size, :size] = sampled[:, size:].reshape(-1, size, size)
    up_to = np.log((nodes.above + 1.5) * m / n)
    before = np.where(nodes.above == 0, -1e300, np.log((nodes.above + 0.5) * m / n))
    last = float(np.log((n + 0.5) * m / n))
    return _Ranks(nodes.ranks, before, up_to, last, means, products)


@dataclass(frozen=True)
class TableEstimate:
    """An estimate of an exact metric from a printed table: see :func:`estimate_from_table`.

    Attributes
    ----------
    value
        The estimate: the mean over the families of rank distributions.
    low, high
        What the families give if the printed values are off by their rounding and, if the number
        of instances was given, by two standard errors.
    family
        The families of rank distributions.
    contradiction
        A sentence that says which printed values no distribution of the families can give; None if
        the printed values do not contradict the families. If they do, do not use the estimate.
    """

    value: float
    low: float
    high: float
    family: str
    contradiction: str | None

    def __str__(self) -> str:
        value, low, high = (f"{100 * x:.2f}" for x in (self.value, self.low, self.high))
        text = f"{value} %, between {low} and {high} %"
        return f"{text} ({self.contradiction})" if self.contradiction else text


def fit(
    family: Family, ranks: _Ranks, values: Floats, weights: Floats
) -> tuple[Floats, Floats, float]:
    """Fit a family by least squares of the weighted differences from the printed values.

    Return the expected printed metrics and the exact metric of the fitted distribution, the
    derivatives of the exact metric with respect to the printed values, and the variance between
    instances of the exact metric minus the printed metrics times these derivatives.
    """
    start = np.array([0.0, np.log(family.slope)])

    def missed(parameters: Floats) -> Floats:
        off = ranks.expected(family, parameters)[:-1] - values
        return np.append(weights * off, _PENALTY * (parameters - start))

    # With ``slope`` fixed first, b moves only as far as the printed values demand.
    shift = least_squares(lambda a: missed(np.append(a, start[1])), start[:1], method="lm").x
    best = least_squares(missed, np.append(shift, start[1]), method="lm").x
    ends = [[ranks.expected(family, best + x) for x in (step, -step)] for step in _STEP * np.eye(2)]
    jacobian = np.array([after - before for after, before in ends]).T / (2 * _STEP)
    left = np.vstack([weights[:, None] * jacobian[:-1], _PENALTY * np.eye(2)])
    slopes = jacobian[-1] @ np.linalg.pinv(left)[:, :-2] * weights
    error, mass = np.append(-slopes, 1.0), ranks.probabilities(family, best)
    means = mass @ ranks.means
    variance = error @ np.tensordot(mass, ranks.products, 1) @ error - (error @ means) ** 2
    return means, slopes, max(float(variance), 0.0)


def estimate_from_table(
    metric: Metric | str,
    observed: Mapping[str, float],
    n: int,
    m: int,
    decimals: int | Mapping[str, int],
    scheme: Scheme = DEFAULT_SCHEME,
    *,
    instances: float | None = None,
) -> TableEstimate:
    r"""Estimate the exact metric of a system for which a table prints sampled metrics only.

    Parameters
    ----------
    metric, observed, n, m, decimals, scheme, instances
        As in :func:`~sampledash.bounds_from_table`.

    Returns
    -------
    TableEstimate
        ``.value``, ``.low``, ``.high``, in 0..1, and ``.contradiction``.

    Raises
    ------
    ValueError
        As :func:`~sampledash.bounds_from_table` does without a shape.

    Notes
    -----
    A table leaves most of the rank distribution open, so an estimate is an assumption: the ranks
    have a log-logistic or log-normal distribution, cut off at rank n. With the negatives drawn as m
    of n, the share of instances with ranks up to r is proportional to
    :math:`G(a + b \log((r + 1/2) m / n))`, where G is the logistic or the normal distribution
    function. For each family, a and b minimise the sum of squares of the differences between
    expected and printed metrics, each divided by the sum of the metric over all sampled ranks: the
    fit treats Recall@10 as Precision@10, because small cutoffs tell most about the first true
    ranks. A single printed value determines only a; b is then 1 (log-logistic) or 0.55
    (log-normal). The estimate is the mean over both families, limited to the range that
    :func:`~sampledash.bounds_from_table` gives if ranks fall off (or, if the table contradicts
    this, to the range without a shape).

    The interval covers the rounding of all printed values at once. With ``instances``, it also
    covers two standard errors of the metric of these instances, from the draw of negatives and the
    choice of instances. It spans the intervals of both families, but does not cover the error of
    the assumption, which is often larger.

    The printed values contradict a family if a value differs from its expectation by more than its
    rounding and two standard errors. These are at least the standard errors of 2,500 instances (two
    points at 50 %), because the families are approximations.
    """
    sampling, over = table_protocol(n, m, scheme, instances)
    metrics, values, half = printed_values("observed", observed, decimals)
    exact = as_metric(metric)
    ranks = _ranks(sampling, tuple(metrics), exact)
    gains = np.array([x.of_one(np.arange(sampling.m + 1), sampling.m).sum() for x in metrics])
    fits = [fit(family, ranks, values, gains.min() / gains) for family in FAMILIES]
    points = np.array([means[-1] for means, *_ in fits])
    errors = np.array([abs(d) @ half + ERRORS * np.sqrt(var / over) for _, d, var in fits])
    allow = partial(bounds_from_table, exact, observed, n, m, decimals, None)
    options: Any = {"scheme": scheme, "instances": instances}
    falling = unless_contradicted(_SHAPE, lambda: allow(_SHAPE, **options))
    span = allow(**options) if falling is None else falling
    summary = points.mean(), (points - errors).min(), (points + errors).max()
    value, low, high = np.clip(summary, *span).tolist()
    allowed = half + printed_error(values, min(over, _FEWEST))
    expected = [means[:-1] for means, *_ in fits]
    nearest = min(expected, key=lambda x: float(np.max(np.abs(x - values) / allowed)))
    names = " or ".join(family.name for family in FAMILIES)
    off = " and ".join(
        f"{name!r} = {nearest[i]:.4f} for {values[i]:g} (allowed are {allowed[i]:.4f} more or less)"
        for i, name in enumerate(observed)
        if abs(nearest[i] - values[i]) > allowed[i]
    )
    against = f"no {names} distribution gives the printed values: the nearest has {off}"
    return TableEstimate(value, low, high, names, against if off else None)
