r"""Corrected metrics whose prior is learned from the sampled ranks themselves.

A corrected metric is a vector with one value for each sampled rank; the mean of these values over
the instances estimates the exact metric. The vector minimises

.. math:: \sum_r w_r \, \mathrm{bias}_r^2 + \sum_r v_r \, \mathrm{variance}_r,

over the true ranks r. Bias and variance are those of the corrected metric of an instance with the
true rank r, and w is the learned distribution :math:`\pi` of the true rank. The bias-variance
correction (eq. 25 of Krichene & Rendle) takes :math:`v = \gamma \pi` with a chosen number
:math:`\gamma`. The correction MN takes :math:`v = 1 / |D|`, where |D| is the number of instances.

References
----------
Jin et al., On Estimating Recommendation Evaluation Metrics under Sampling, AAAI 2021; Li et al.,
Towards Reliable Item Sampling for Recommendation Evaluation, AAAI 2023.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from sampledash import checks
from sampledash.correction import Fit, correction
from sampledash.estimation import rank_distribution
from sampledash.estimation.rank_distribution import DistributionMethod, RankDistribution
from sampledash.expectation import prior_weights
from sampledash.metrics import Metric, as_metric
from sampledash.sampled_rank_sets import SampledRankSet
from sampledash.sampling import Sampling, mean_and_variance, pmf, require_sampling
from sampledash.spectral import eigenvalues
from sampledash.types import Floats, frozen

VectorMethod = Literal["bv-mle", "bv-mes", "bv-monotone-mle", "mn"]
GAMMAS = tuple(10.0 ** (-e / 4) for e in range(25))
_TINY = np.finfo(float).tiny


@dataclass(frozen=True)
class Vector:
    """An estimator: how a corrected metric is computed from a learned rank distribution."""

    label: str  # name on the dashboard pages and in links; empty if no page offers the estimator
    prior: DistributionMethod
    #: Default γ of a correction that is learned from one system, and from several systems: γ times
    #: the prior is the weight of the variance at a true rank. If None, this weight is
    #: 1 / (number of instances) at every true rank.
    gammas: tuple[float, float] | None = (0.01, 0.1)


#: Every corrected metric with a learned prior, by its name in :data:`VectorMethod`.
VECTORS: dict[str, Vector] = {
    "bv-mle": Vector("BV-MLE", "mle"),
    "bv-mes": Vector("BV-MES", "mes"),
    "bv-monotone-mle": Vector("", "monotone-mle"),
    "mn": Vector("MN", "mle", gammas=None),
}


@dataclass(frozen=True, eq=False)
class LearnedFit(Fit):
    """A corrected metric with a learned prior: one value for each sampled rank.

    ``correction`` holds the prior and γ. The weight of the variance at a true rank is γ times the
    prior probability of this rank. For the method ``"mn"``, the weight is γ at every true rank.
    """

    method: VectorMethod = "bv-mle"


def fit_learned(
    method: VectorMethod,
    metric: Metric | str,
    sets: SampledRankSet | Sequence[SampledRankSet],
    *,
    gamma: float | None = None,
    m: int | None = None,
) -> LearnedFit:
    """Learn one corrected metric, with a value for each sampled rank, from all sets together.

    Parameters
    ----------
    method
        The learned prior of the true rank has maximum likelihood (``"bv-mle"``, ``"mn"``), maximum
        entropy (``"bv-mes"``), or maximum likelihood among non-increasing priors
        (``"bv-monotone-mle"``).
    metric
        A metric, or text such as ``"Recall@10"``.
    sets
        Sampled ranks of one system, or of all compared systems.
    gamma
        Weight of the variance, above 0 and at most 1; by default 0.01 for one set and 0.1 for
        several. Not allowed for ``"mn"``, whose weight is one over the number of instances.
    m
        Number of sampled negatives for which corrected values are computed. It may be left out if
        all instances have the same number of sampled negatives.

    Raises
    ------
    ValueError
        If n is above 10,000,000, an argument is out of range, or m depends on the drawn negatives,
        as with a stopping rule.

    Notes
    -----
    A corrected metric learned from one system has less bias. But two systems are compared more
    reliably with one corrected metric for both: shared errors cancel in the difference.
    """
    checks.choice("method", method, VECTORS)
    metric, every = as_metric(metric), rank_distribution.together(sets)
    rank_distribution.require_valid(every, method)
    outcomes = rank_distribution.pooled(every)
    if m is None and len(outcomes.m) > 1:
        sizes = f"the sets have {len(outcomes.m)} different numbers of negatives"
        raise ValueError(f"m is not given, but {sizes}: say which one the vector is for")
    m = outcomes.m[0] if m is None else checks.integer("m", m, low=1)
    if m not in outcomes.m:
        known = ", ".join(map(str, outcomes.m))
        raise ValueError(f"m = {checks.shown(m)} is not among those of the sets: {known}")
    if VECTORS[method].gammas is None and gamma is not None:
        weighs = "which weighs the variance by the number of instances: leave it out"
        raise ValueError(f"gamma = {checks.shown(gamma)} does not apply to {method!r}, {weighs}")
    if gamma is not None:
        gamma = checks.real("gamma", gamma, low=0, high=1, above=True)
    else:
        gamma = default_gamma(method, len(every))
    learned = rank_distribution.fitted(every, VECTORS[method].prior)
    prior = learned.probabilities()
    instances = float(outcomes.total) / len(every)
    values = frozen(learned_values(metric, learned, m, gamma, instances))
    recipe = correction("bias-variance", gamma=gamma or 1 / max(instances, 1.0), prior=prior)
    sampling = outcomes.samplings[outcomes.m.index(m)]
    return LearnedFit(recipe, metric, sampling, values, method=method)


def default_gamma(method: str, sets: int = 1) -> float | None:
    """Return the default weight γ of the variance for a number of rank sets; None for ``"mn"``."""
    gammas = VECTORS[method].gammas
    return gammas and gammas[sets > 1]


def learned_values(
    metric: Metric, prior: RankDistribution, m: int, gamma: float | None, instances: float
) -> Floats:
    """Return the corrected value of each sampled rank, (m + 1,).

    The weight of the variance at a true rank is ``gamma`` times the prior probability of this rank.
    If ``gamma`` is None (correction MN), this weight is 1 / ``instances``.
    """
    above, ranks, mass = prior.at(metric)
    s = prior.support
    rows = s.law(m) if above is s.above else pmf(s.scheme, m, above, s.n - 1 - above)
    variance = ranks / instances if gamma is None else gamma * mass
    return solver(rows, mass, variance)(rows.T @ (mass * metric.of_one(above, s.n - 1)))


def solver(rows: Floats, bias: Floats, variance: Floats) -> Callable[[Floats], Floats]:
    """Return a function that solves the normal equations of a corrected metric.

    Its argument, the right side, has the shape (m + 1,), or (m + 1, k) for k right sides. Let the
    exact metric at each node (true rank) be ``target``. For the right side
    ``rows.T @ (bias * target)``, the solution is the corrected metric with the smallest weighted
    sum of bias² and variance. The arguments ``bias`` and ``variance`` hold the weights of these two
    at each node. ``rows`` holds P(sampled rank) at each node, (nodes, m + 1). The corrected values
    of impossible sampled ranks are interpolated.
    """
    noise = variance @ rows
    seen = noise > _TINY
    scale = 1 / np.sqrt(noise[seen])
    # Scale the unknown corrected values so that all have the same weight in the variance.
    some = rows[:, seen] * scale
    matrix = some.T @ ((bias - variance)[:, None] * some)
    matrix.flat[:: len(matrix) + 1] += 1
    places = np.arange(len(seen))

    def solve(moment: Floats) -> Floats:
        columns = moment[seen].reshape(len(scale), -1) * scale[:, None]
        try:
            solution = np.linalg.solve(matrix, columns)
        except np.linalg.LinAlgError:  # if all negatives are drawn, the solution is not unique
            solution = np.linalg.pinv(matrix, hermitian=True) @ columns
        every = [np.interp(places, places[seen], scale * column) for column in solution.T]
        return np.stack(every, axis=1).reshape(moment.shape)

    return solve


def gamma_table(
    metric: Metric | str,
    sampling: Sampling,
    instances: float,
    ranks: ArrayLike | RankDistribution,
    *,
    gammas: Sequence[float] = GAMMAS,
) -> pd.DataFrame:
    """Return bias and variance of bias-variance corrections, for given true ranks.

    A correction minimises bias² plus γ times the variance; there is a row for each of several γ.

    Parameters
    ----------
    metric
        A metric, or text such as ``"Recall@10"``.
    sampling
        How negatives are drawn, with a uniform scheme.
    instances
        Number of instances |D| that the corrected metric is averaged over, above 0.
    ranks
        Assumed distribution of the true rank: n weights, as :func:`~sampledash.rank_distribution`
        returns them. The corrections are fitted to the uniform prior, not to this distribution.
    gammas
        Values of γ, above 0 and at most 1.

    Returns
    -------
    One row per γ, in the given order, after a row for γ = 1/|D|: ``gamma``; ``bias``, the expected
    error of the mean over the instances; ``variance`` of this mean over the draw of negatives;
    ``mse``, bias² + variance; ``largest``, the largest absolute corrected value; ``condition``, the
    condition number of the matrix that is solved.

    Raises
    ------
    ValueError
        For samples by popularity or with duplicates removed, or an argument out of range.

    Notes
    -----
    The best γ is that of the row with the smallest ``mse``. If the ranks are uniform, as the prior
    assumes, the mean is unbiased at every γ: the bias depends on how far ranks are from uniform.
    """
    metric = as_metric(metric)
    require_sampling(sampling)
    size = checks.real("instances", instances, low=0, above=True)
    n = sampling.n
    above, mass = _nodes(metric, ranks, n)
    exact = metric.of_one(above, n - 1)
    smallest = eigenvalues(sampling)[-1]
    rows = []
    for value in (min(1.0, 1 / size), *checks.several("gammas", gammas, "gamma")):
        gamma = checks.real("gamma", value, low=0, high=1, above=True)
        fit = correction("bias-variance", gamma=gamma).fit(metric, sampling)
        means, spread = mean_and_variance(fit.values, sampling, above, n - 1 - above)
        bias, variance = float(mass @ (means - exact)), float(mass @ spread) / size
        largest = float(np.abs(fit.values).max())
        condition = 1 / ((1 - gamma) * smallest + gamma)
        rows.append((gamma, bias, variance, bias**2 + variance, largest, condition))
    return pd.DataFrame(rows, columns=["gamma", "bias", "variance", "mse", "largest", "condition"])


def _nodes(metric: Metric, ranks: ArrayLike | RankDistribution, n: int) -> tuple[Floats, Floats]:
    """Return two arrays over the true ranks, or over few nodes that represent them.

    They hold the number of items above the relevant item, and the probability.
    """
    if not isinstance(ranks, RankDistribution):
        if (shape := checks.array_of("ranks", ranks).shape) != (n,):
            needed = f"give one weight for each rank 1..{n}, as rank_distribution does"
            raise ValueError(f"ranks has shape {shape}: {needed}")
        return np.arange(n, dtype=np.float64), prior_weights(ranks, n)
    if ranks.support.n != n:
        sizes = f"ranks is a distribution over {ranks.support.n} ranks, but sampling has n = {n}"
        raise ValueError(f"{sizes}: estimate it in the same population")
    above, _, mass = ranks.at(metric)
    return above, mass
