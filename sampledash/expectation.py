"""Mean and variance of a sampled metric given the true rank; the posterior of the true rank.

Equations 16-19 and 26 are those of Krichene & Rendle, KDD 2020. All results depend on the true rank
only through the total sampling weights of the candidates above and below the relevant item.
"""

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from sampledash import checks
from sampledash.metrics import Metric, as_metric
from sampledash.sampling import Sampling, check_metric, mean_and_variance, outward, require_sampling
from sampledash.types import Floats

#: Error message for a prior under which a sampled rank cannot occur.
NO_WEIGHT = "prior gives sampled rank {} no probability: put weight on ranks that can produce it"


def expected(metric: Metric | str, rank: ArrayLike, sampling: Sampling) -> Floats:
    """Return the expected sampled metric at each true rank (Krichene & Rendle, eq. 16).

    Parameters
    ----------
    metric
        A metric, or text such as ``"Recall@10"``.
    rank
        True ranks, integers in 1..n, any shape.
    sampling
        How the negatives are drawn.

    Returns
    -------
    Array of the shape of ``rank``.

    Notes
    -----
    Except for AUC and ATOP under a uniform scheme, the expected value in general differs from the
    exact ``metric(rank, n)`` by an amount that depends on the rank. So the order of two systems by
    the expected sampled mean can be the opposite of their order by the exact mean.
    """
    metric = as_metric(metric)
    require_sampling(sampling)
    check_metric(metric, sampling.scheme)
    above, below = sampling.weights(rank)
    m, cut = sampling.m, metric.cut(sampling.m)
    if metric.linear:
        return below / (above + below)  # Krichene & Rendle, eq. 17: linear in the sampled rank
    if cut is None or cut > m:
        if metric.on_lattice:
            return np.full(above.shape, metric.scale(1))
        if metric.reciprocal and not sampling.design.once:
            share = above / (above + below)
            # The mean of 1 / sampled rank is eq. 19 of Krichene & Rendle. At true rank 1 this
            # formula is 0 / 0, and its result is replaced by 1 below.
            with np.errstate(divide="ignore", invalid="ignore"):
                value = -np.expm1((m + 1) * np.log1p(-share)) / (share * (m + 1))
            return np.where(share == 0, 1.0, value)
    return mean_and_variance(metric.of_one(np.arange(m + 1), m), sampling, above, below)[0]


def variance(metric: Metric | str, rank: ArrayLike, sampling: Sampling) -> Floats:
    """Return the variance of the sampled metric over the draw of negatives, at each true rank.

    The parameters, the shape of the result and the errors are those of :func:`expected`.

    Notes
    -----
    A small variance means that repeated runs agree, not that they are close to the exact metric.
    """
    metric = as_metric(metric)
    require_sampling(sampling)
    check_metric(metric, sampling.scheme)
    above, below = sampling.weights(rank)
    if metric.linear:
        spread = (above / (above + below)) * (below / (above + below)) / sampling.m
        if sampling.design.distinct:
            spread = spread * ((sampling.n - 1 - sampling.m) / max(sampling.n - 2, 1))
        return np.asarray(spread)
    values = metric.of_one(np.arange(sampling.m + 1), sampling.m)
    return mean_and_variance(values, sampling, above, below)[1]


def posterior(sampled_rank: int, sampling: Sampling, prior: ArrayLike | None = None) -> Floats:
    """Return the probability of each true rank given a sampled rank (Krichene & Rendle, eq. 26).

    Parameters
    ----------
    sampled_rank
        Integer in 1..m+1.
    sampling
        How the negatives are drawn.
    prior
        Non-negative weights of the ranks 1..n. If None, all ranks have the same weight.

    Returns
    -------
    Array of shape (n,) with sum 1.

    Raises
    ------
    ValueError
        If the prior does not have n entries, has negative entries, or excludes this sampled rank.
    """
    require_sampling(sampling)
    s = checks.integer("sampled_rank", sampled_rank, low=1, high=sampling.m + 1) - 1
    n, m = sampling.n, sampling.m
    if sampling.design.distinct:
        a = np.arange(n - 1, dtype=np.float64)
        up = (a + 1) * (n - 1 - a - (m - s))
        likelihood = outward(up, (a + 1 - s) * (n - 1 - a), a >= min(s * n // m, n - 1))
    elif sampling.design.varies:
        rows = sampling.laws(np.arange(n, dtype=np.float64))
        likelihood = np.concatenate([p[:, s] for _, p in rows])
    else:
        above, below = sampling.weights(np.arange(1, n + 1))
        total = above + below
        log_p = xlogy(s, above / total) + xlogy(m - s, below / total)
        # If no true rank can produce this sampled rank, all log_p are -inf. Then subtract a finite
        # number, because -inf - -inf is NaN.
        likelihood = np.exp(log_p - max(log_p.max(), np.finfo(float).min))
    weighted = likelihood if prior is None else likelihood * prior_weights(prior, n)
    mass = weighted.sum()
    if not mass > 0:
        raise ValueError(NO_WEIGHT.format(sampled_rank))
    return np.asarray(weighted / mass)


def prior_weights(prior: ArrayLike, n: int | None = None) -> Floats:
    """Check a prior over the ranks 1..n, and return it normalised to sum 1.

    If ``n`` is None, the prior may have any length.
    """
    try:
        array = np.asarray(prior, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise ValueError(f"prior must hold numbers, got {checks.shown(prior)}") from None
    if array.size == 0:
        raise ValueError("prior is empty: give one weight for each rank 1..n")
    if array.ndim != 1 or n not in (None, len(array)):
        needed = f"give one weight for each rank 1..{n or 'n'}"
        raise ValueError(f"prior has shape {array.shape}: {needed}")
    if (i := checks.first(~(np.isfinite(array) & (array >= 0)))) is not None:
        wrong = f"prior of rank {i + 1} is {array[i]}"
        raise ValueError(f"{wrong}: weights are finite and not negative")
    largest = float(array.max())
    if largest == 0:
        raise ValueError("prior is zero at every rank: put weight on at least one")
    # A normalised prior is returned unchanged, because another division would round its weights.
    if largest <= 1 and abs(float(array.sum()) - 1) <= 1e-14:
        return array
    # Divide by a power of 2 first, which is exact, so that the sum of large weights stays finite.
    array = np.ldexp(array, -int(np.frexp(largest)[1]))
    return np.asarray(array / array.sum())


def resize_prior(prior: Floats, n: int) -> Floats:
    """Convert a prior over N = len(prior) ranks to a prior over ``n`` ranks, shape (n,).

    Rank r of N stands for the part (r-1)/N..r/N of the list, and its weight is spread evenly over
    this part. So a uniform prior stays uniform. For n = N - 1, the result is the distribution of
    the relevant item's rank after one of the other candidates is dropped at random.
    """
    size = len(prior)
    # Every old rank and every new rank is an interval of the list. Cut the list at the ends of all
    # these intervals; ``edges`` holds the cuts in units of 1/(size n) of the list. Each piece
    # between two cuts belongs to one old rank and one new rank.
    edges = np.union1d(np.arange(size + 1) * n, np.arange(n + 1) * size)
    share = prior[edges[:-1] // n] * (np.diff(edges) / n)
    return np.asarray(np.bincount(edges[:-1] // size, share, n), dtype=np.float64)
