r"""Estimates of an exact metric from a printed table, by distributions with two parameters.

The odds of a rank r are r / (n + 1 - r). There are two families of rank distributions. In a family,
a linear function of the logarithm of the odds has the distribution function G, logistic or normal.
For m negatives and parameters a and b, the share of instances with ranks up to r is proportional to

.. math:: G\left(a + b \log\frac{(r + 1/2) m}{n + 1/2 - r}\right), \qquad r = 1..n,

and the share is 1 at r = n. At the top of the list, this distribution hardly differs from a
log-logistic or log-normal distribution of the rank. At the end of the list, it fits real systems
better.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any

import numpy as np
import scipy
from scipy.special import expit, ndtr

from sampledash.estimation import bounds
from sampledash.estimation.linear_programme import Shape
from sampledash.estimation.support import support_of
from sampledash.metrics import Metric, as_metric, parse_metric
from sampledash.sampling import Sampling
from sampledash.schemes import DEFAULT_SCHEME, Scheme
from sampledash.types import Floats

#: Each family of rank distributions has a parameter b, which scales the logarithm of a rank's odds.
#: This is the weight of a penalty that keeps b near ``Family.slope``. It is so small that the
#: penalty has an effect only if the printed values do not determine b.
_PENALTY = 1e-6
#: A printed value contradicts a fitted distribution only if two standard errors of a mean over this
#: many instances cannot explain the difference. This holds even if the table has more instances.
_FEWEST = 1_000
_SHAPE: Shape = "non-increasing"
#: The argument of a distribution function is at least -_FAR. The logarithm of the parameter b, a
#: factor in this argument, is in -_FAR.._FAR. Values beyond these limits would change no printed
#: digit.
_FAR = 30.0
#: Steps for numerical derivatives with respect to the two parameters of a rank distribution: a
#: step of the parameter a (row 0), and a step of the logarithm of the parameter b (row 1).
_STEPS = 1e-5 * np.eye(2)


@dataclass(frozen=True)
class Family:
    """A family of rank distributions with two parameters.

    The parameter a shifts, and b scales, the logarithm of the odds of a rank. The result is the
    argument of a distribution function.
    """

    name: str
    below: Callable[[Floats], Floats]  # the distribution function G, symmetric around 0
    slope: float  # value of b if a table prints a single value, which determines only a


#: An estimate is the mean over these families of rank distributions. Choosing a family, or weights
#: for a weighted mean, by cross-validation on the printed values gave larger errors on tables with
#: known exact metrics. The third argument is b: with these two values, the logarithm of the odds of
#: the rank has the same standard deviation, pi / sqrt(3), in both families.
FAMILIES = (
    Family("log-logistic", expit, 1.0),
    Family("log-normal", ndtr, float(np.sqrt(3) / np.pi)),
)


@dataclass(frozen=True, eq=False)
class Nodes:
    """Nodes for sums over the true ranks 1..n, with the expected metrics at each node.

    A node stands for one rank or several neighbouring ranks. The rank of a node may lie between two
    whole ranks.
    """

    weights: Floats  # number of ranks that each node stands for
    #: log(m x / (n + 1 - x)) at x = rank of each node - 1/2, for m negatives of n candidates. At
    #: rank 1, the entry is instead -1e300, which stands for minus infinity: no rank is better, and
    #: the probability of better ranks must be 0.
    before: Floats
    up_to: Floats  # log(m x / (n + 1 - x)) at x = rank of each node + 1/2
    last: float  # log(m x / (n + 1 - x)) at x = n + 1/2
    #: Expected values of the printed metrics, and the exact metric: (nodes, printed metrics + 1).
    means: Floats
    #: Expected product of every two metrics of ``means``, at each node, for variances:
    #: (nodes, printed metrics + 1, printed metrics + 1).
    products: Floats

    def probabilities(self, family: Family, parameters: Floats) -> Floats:
        """Return the probability of the ranks that each node stands for.

        ``parameters`` are a and log b. In a family of rank distributions, a shifts and b scales the
        logarithm of the odds of a rank (formula in the module's docstring).
        """
        a, b = parameters[0], np.exp(np.clip(parameters[1], -_FAR, _FAR))
        ends = self.before, self.up_to, self.last
        before, up_to, last = (np.maximum(a + b * x, -_FAR) for x in ends)
        # Where the distribution function G (``family.below``) is near 1, a difference of two values
        # would have few correct digits. Use G(y) - G(x) = G(-x) - G(-y) there.
        sign = np.where(before > 0, -1.0, 1.0)
        share = sign * (family.below(sign * up_to) - family.below(sign * before))
        return np.asarray(self.weights * share / family.below(last))

    def expected(self, family: Family, parameters: Floats) -> Floats:
        """Return the expected printed metrics and exact metric under a rank distribution.

        ``family`` and ``parameters`` (a and log b) determine the distribution.
        """
        return self.probabilities(family, parameters) @ self.means

    def changes(self, family: Family, parameters: Floats) -> Floats:
        """Return the derivatives of :meth:`expected` with respect to the parameters a and log b.

        The shape is (printed metrics + 1, 2).
        """
        ends = [[self.expected(family, parameters + x) for x in (d, -d)] for d in _STEPS]
        rows = np.array([after - before for after, before in ends]) / (2 * _STEPS.max())
        return np.asarray(rows.T)


@lru_cache(maxsize=8)
def nodes_of(sampling: Sampling, printed: tuple[Metric, ...], exact: Metric) -> Nodes:
    """Return quadrature nodes over the true ranks, with the expected metrics at each node."""
    n, m, size = sampling.n, sampling.m, len(printed)
    support = support_of(n, m, sampling.scheme, steps=False, cut=exact.cut(n - 1))
    shown = np.column_stack([metric.of_one(np.arange(m + 1), m) for metric in printed])
    pairs = (shown[:, :, None] * shown[:, None]).reshape(m + 1, -1)
    sampled = np.vstack([p @ np.hstack([shown, pairs]) for _, p in sampling.laws(support.above)])
    means = np.column_stack([sampled[:, :size], exact.of_one(support.above, n - 1)])
    products = means[:, :, None] * means[:, None]
    products[:, :size, :size] = sampled[:, size:].reshape(-1, size, size)
    places = np.add(support.above, [[0.5], [1.5]])
    before, up_to = np.log(places * m / (n + 1 - places))
    before[support.above == 0] = -1e300
    return Nodes(support.ranks, before, up_to, float(np.log((2 * n + 1) * m)), means, products)


@dataclass(frozen=True)
class TableEstimate:
    """An estimate of an exact metric from a printed table: see :func:`estimate_from_table`.

    Attributes
    ----------
    value
        The estimate: the mean over the families of rank distributions.
    low, high
        Range of the estimates if each printed value is off by its rounding and, if the number of
        instances was given, by two standard errors. The error from assuming a family of rank
        distributions is not included.
    family
        The families of rank distributions.
    contradiction
        A sentence that says which printed values no distribution of the families produces; None if
        one of the distributions is near all printed values. If it is not None, show the range of
        :func:`~sampledash.bounds_from_table` instead of the estimate.
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


def weights_of(printed: Sequence[Metric], m: int) -> Floats:
    """Return each printed metric's weight in a fit: 1 / (sum of the metric over sampled ranks)."""
    return np.array([1 / metric.of_one(np.arange(m + 1), m).sum() for metric in printed])


def fitted(family: Family, nodes: Nodes, values: Floats, weights: Floats) -> tuple[Floats, Floats]:
    """Fit a family of rank distributions to printed values by weighted least squares.

    Return the parameters a and log b of the family, and their derivatives with respect to the
    printed values, (2, printed).
    """
    start, scaled = np.log(family.slope), weights / weights.max()

    def residuals(parameters: Floats) -> Floats:
        missed = nodes.expected(family, parameters)[:-1] - values
        return np.append(scaled * missed, _PENALTY * (parameters[1] - start))

    def slopes(parameters: Floats) -> Floats:
        rows = scaled[:, None] * nodes.changes(family, parameters)[:-1]
        return np.vstack([rows, [[0.0, _PENALTY]]])

    # First fit the parameter a alone, with b = ``family.slope``. The fit of both parameters starts
    # there, and changes b only as far as the printed values require.
    shift = scipy.optimize.least_squares(
        lambda a: residuals(np.append(a, start)),
        [0.0],
        lambda a: slopes(np.append(a, start))[:, :1],
        method="lm",
    ).x
    best = scipy.optimize.least_squares(residuals, np.append(shift, start), slopes, method="lm").x
    return best, np.linalg.pinv(slopes(best))[:, :-1] * scaled


@lru_cache(maxsize=1024)
def fitted_to(
    family: Family, sampling: Sampling, printed: tuple[Metric, ...], values: tuple[float, ...]
) -> tuple[Floats, Floats]:
    """Return the result of :func:`fitted` for a table, cached for estimates of other metrics."""
    nodes, weights = nodes_of(sampling, printed, printed[0]), weights_of(printed, sampling.m)
    return fitted(family, nodes, np.array(values), weights)


def fit(family: Family, nodes: Nodes, best: Floats, moves: Floats) -> tuple[Floats, Floats, float]:
    """Return the metrics of a fitted rank distribution, and data for the error of an estimate.

    ``best`` holds the fitted parameters, and ``moves`` their derivatives with respect to the
    printed values: see :func:`fitted`. Return three values:

    * the expected printed metrics and the exact metric of the distribution;
    * the derivatives of the exact metric with respect to the printed values;
    * the variance, between instances, of (exact metric - derivatives @ printed metrics).
    """
    derivatives = nodes.changes(family, best)[-1] @ moves
    error, mass = np.append(-derivatives, 1.0), nodes.probabilities(family, best)
    means = mass @ nodes.means
    variance = error @ np.tensordot(mass, nodes.products, 1) @ error - (error @ means) ** 2
    return means, derivatives, max(float(variance), 0.0)


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
        ``.value``, ``.low`` and ``.high``, in 0..1, and ``.contradiction``.

    Raises
    ------
    ValueError
        For all arguments that :func:`~sampledash.bounds_from_table` refuses without ``shape``.

    Notes
    -----
    A table does not determine the rank distribution, so an estimate needs an assumption: the odds
    of the rank, r to n + 1 - r, have a log-logistic or a log-normal distribution. The share of
    instances with ranks up to r is proportional to
    :math:`G(a + b \log((r + 1/2) m / (n + 1/2 - r)))`, where G is the logistic or the normal
    distribution function. In each family, a and b are fitted by least squares. Each difference
    between expected and printed metric is divided by the metric's sum over all sampled ranks, which
    is k for Recall@k. So metrics with small cutoffs, which tell most about the first true ranks,
    have the largest weights. A single printed value determines only a; b is then 1 (log-logistic)
    or 0.55 (log-normal). The estimate is the mean over both families. If this mean is outside the
    range of :func:`~sampledash.bounds_from_table`, the nearer end of the range is the estimate. The
    range is for non-increasing distributions or, if they contradict the table, for all
    distributions.

    The interval allows for the rounding of all printed values at once. With ``instances``, it also
    allows for two standard errors of a mean over these instances: other instances and other
    negatives could have been drawn. The interval spans the intervals of both families. The ranks
    may belong to neither family, and the error of this assumption is often the largest error. If
    the mean over both families is outside the range, each end of the interval moves outwards, by
    twice the distance of this mean from the range. The interval never leaves the range.

    The printed values contradict a family if one of them differs from its expected value by more
    than its rounding and two standard errors. No family is exact: a difference that two standard
    errors of 1,000 instances explain (three points at 50 %) is no contradiction, even if the table
    has more instances.
    """
    sampling, over = bounds.table_protocol(n, m, scheme, instances)
    printed, values, half = bounds.printed_values("observed", observed, decimals)
    exact = as_metric(metric)
    nodes, table = nodes_of(sampling, tuple(printed), exact), (sampling, tuple(printed))
    fits = [fit(x, nodes, *fitted_to(x, *table, tuple(values.tolist()))) for x in FAMILIES]
    points = np.array([means[-1] for means, *_ in fits])
    errors = np.array([abs(d) @ half + bounds.ERRORS * np.sqrt(var / over) for _, d, var in fits])
    allow = partial(bounds.bounds_from_table, exact, observed, n, m, decimals, None)
    options: Any = {"scheme": scheme, "instances": instances}
    falling = bounds.unless_contradicted(_SHAPE, lambda: allow(_SHAPE, **options))
    span = allow(**options) if falling is None else falling
    middle = points.mean()
    value = float(np.clip(middle, *span))
    errors += 2 * abs(middle - value)
    low, high = np.clip([(points - errors).min(), (points + errors).max()], *span).tolist()
    allowed = half + bounds.printed_error(values, min(over, _FEWEST))
    misses = [float(np.max(np.abs(means[:-1] - values) / allowed)) for means, *_ in fits]
    nearest = fits[int(np.argmin(misses))][0]
    names = " or ".join(family.name for family in FAMILIES)
    off = " and ".join(
        f"{name!r} {nearest[i]:.4f}, not {values[i]:g} ({allowed[i]:.4f} off is allowed)"
        for i, name in enumerate(observed)
        if abs(nearest[i] - values[i]) > allowed[i]
    )
    against = f"no {names} odds of the rank give the printed values: the nearest give {off}"
    return TableEstimate(value, low, high, names, against if off else None)


def foretell(
    observed: Mapping[str, float], sampling: Sampling, wanted: Sequence[str], larger: Sampling
) -> dict[str, float]:
    """Predict the metrics that another table would print for a system, from a printed table.

    Parameters
    ----------
    observed
        Metrics of the system as printed, in 0..1, by name.
    sampling
        How negatives were drawn for ``observed``.
    wanted
        Names of metrics.
    larger
        How negatives of the same candidates are drawn for the other table.

    Returns
    -------
    The expected value of each metric in ``wanted``, by name.
    """
    printed, asked = (tuple(map(parse_metric, names)) for names in (observed, wanted))
    other, means = nodes_of(larger, asked, asked[0]), []
    for family in FAMILIES:
        (a, log_b), _ = fitted_to(family, sampling, printed, tuple(observed.values()))
        # At each true rank r, a + b log(m r / (n + 1 - r)) must be the same for both numbers m of
        # negatives. Therefore add b times the logarithm of their ratio to a.
        moved = np.array([a + np.exp(log_b) * np.log(sampling.m / larger.m), log_b])
        means.append(other.expected(family, moved)[:-1])
    return dict(zip(wanted, np.mean(means, axis=0).tolist(), strict=True))
