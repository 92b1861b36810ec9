"""What a choice of γ costs and brings: the mean over all instances against γ."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from sampledash import checks
from sampledash.correction import correction
from sampledash.correction.spectral import eigenvalues
from sampledash.estimation.nodes import exact_at
from sampledash.estimation.rank_distribution import RankDistribution
from sampledash.expectation import mean_and_variance, prior_weights
from sampledash.metrics import Metric, as_metric
from sampledash.sampling import Sampling
from sampledash.types import Floats

GAMMAS = tuple(10.0 ** (-e / 4) for e in range(25))


def gamma_table(
    metric: Metric | str,
    sampling: Sampling,
    instances: float,
    ranks: ArrayLike | RankDistribution,
    *,
    gammas: Sequence[float] = GAMMAS,
) -> pd.DataFrame:
    """Bias and variance of a bias-variance correction for many γ, on given ranks.

    Parameters
    ----------
    metric
        A metric or its text.
    sampling
        A uniform scheme.
    instances
        Number of instances |D| that the corrected metric is averaged over, above 0.
    ranks
        Distribution of the true rank that the system is believed to have: n weights, as
        :func:`~sampledash.rank_distribution` gives them. The vectors themselves are fitted to the
        uniform prior.
    gammas
        Values in 0..1, above 0.

    Returns
    -------
    One row per γ, in the order given, with γ = 1/|D| added in front: ``gamma``; ``bias``, what the
    mean over the instances is off by in expectation; ``variance`` of that mean over the draw of
    negatives; ``mse``, bias² + variance; ``largest`` entry of the vector; ``condition`` of the
    matrix that is solved.

    Raises
    ------
    ValueError
        For popularity-weighted samples, or an argument out of range.

    Notes
    -----
    The best γ is that of the row with the smallest ``mse``. For ranks distributed as the prior
    assumes, the mean is unbiased at every γ: what decides is how far the ranks are from uniform.
    """
    metric = as_metric(metric)
    size = checks.real("instances", instances, low=0, above=True)
    n = sampling.n
    above, mass = _nodes(metric, ranks, n)
    exact = exact_at(metric, above, n)
    smallest = eigenvalues(sampling)[-1]
    rows = []
    for value in (min(1.0, 1 / size), *gammas):
        gamma = checks.real("gamma", value, low=0, high=1, above=True)
        fit = correction("bias-variance", gamma=gamma).fit(metric, sampling)
        means, spread = mean_and_variance(fit.values, sampling, above, n - 1 - above)
        bias, variance = float(mass @ (means - exact)), float(mass @ spread) / size
        largest = float(np.abs(fit.values).max())
        condition = 1 / ((1 - gamma) * smallest + gamma)
        rows.append((gamma, bias, variance, bias**2 + variance, largest, condition))
    return pd.DataFrame(rows, columns=["gamma", "bias", "variance", "mse", "largest", "condition"])


def _nodes(metric: Metric, ranks: ArrayLike | RankDistribution, n: int) -> tuple[Floats, Floats]:
    """Items above and mass of every rank, or of the nodes that stand for them."""
    if not isinstance(ranks, RankDistribution):
        if np.shape(ranks) != (n,):
            raise ValueError(
                f"ranks has shape {np.shape(ranks)}: give one weight for each rank 1..{n}, as "
                "rank_distribution does"
            )
        return np.arange(n, dtype=np.float64), prior_weights(ranks, n)
    if ranks.support.n != n:
        raise ValueError(
            f"ranks is a distribution over {ranks.support.n} ranks, but sampling has n = {n}: "
            "estimate it in the same population"
        )
    above, _, mass = ranks.at(metric)
    return above, mass
