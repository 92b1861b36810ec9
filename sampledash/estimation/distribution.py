"""Distribution of the true rank estimated from sampled ranks."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Literal, get_args

import numpy as np

from sampledash import checks
from sampledash.estimation import em, nodes
from sampledash.estimation.distributed import RankDistribution, require_writable
from sampledash.estimation.entropy import maximum_entropy
from sampledash.estimation.nodes import Support
from sampledash.estimation.sample import Sample, sample_of, together
from sampledash.estimation.steps import Steps
from sampledash.sampledranks import SampledRankSet
from sampledash.types import Floats

DistributionMethod = Literal["mle", "mes", "monotone-mle"]
METHODS: tuple[str, ...] = get_args(DistributionMethod)
#: Those in which a rule that stops by what was drawn cancels.
LIKELIHOOD = ("mle", "monotone-mle")


def rank_distribution(
    sets: SampledRankSet | Sequence[SampledRankSet],
    method: DistributionMethod = "mle",
    *,
    iterations: int | None = None,
) -> Floats:
    """Estimate the distribution of the true rank.

    Parameters
    ----------
    sets
        Sampled ranks of one system, or of several whose instances are pooled.
    method
        ``"mle"``: most likely, by expectation maximisation; ``"mes"``: maximum entropy with squared
        error; ``"monotone-mle"``: most likely among the non-increasing ones.
    iterations
        Of ``"mle"`` (default 100) and ``"monotone-mle"`` (default 50): they are what keeps the
        estimate smooth. ``"mes"`` is solved exactly and takes none.

    Returns
    -------
    Probability of each rank 1..n, shape (n,), read-only; n is the set's ``population``.

    Raises
    ------
    ValueError
        If n is above 10,000,000, a sampled rank is impossible, or the sets do not fit together; for
        ``"mes"`` where what was drawn decided m.

    Notes
    -----
    The sampled ranks settle m + 1 averages of this distribution, not its shape: two estimates can
    differ widely at the first few ranks and fit equally well. Metrics of it are better known than
    its entries; see :func:`~sampledash.bounds` for how well.

    References
    ----------
    Jin et al., On Estimating Recommendation Evaluation Metrics under Sampling, AAAI 2021.
    """
    require_writable(sample_of(together(sets)).n)
    found = fitted(sets, method, iterations=iterations).probabilities()
    found.setflags(write=False)
    return found


def fitted(
    sets: SampledRankSet | Sequence[SampledRankSet],
    method: DistributionMethod,
    *,
    iterations: int | None = None,
) -> RankDistribution:
    """Estimate as :func:`rank_distribution` does, held at nodes: any n."""
    checks.choice("method", method, METHODS)
    if iterations is not None:
        if method == "mes":
            raise ValueError(
                f"iterations = {checks.shown(iterations)} has no effect on 'mes', which is solved "
                "exactly: leave it out"
            )
        iterations = checks.integer("iterations", iterations, low=1)
    every = together(sets)
    require_valid(every, method)
    return _fitted(every, method, iterations)


def require_valid(sets: Sequence[SampledRankSet], method: object) -> None:
    """Refuse an estimator that is wrong where what was drawn decided m."""
    if method not in LIKELIHOOD:
        for one in sets:
            one.require_set(f"{str(method)!r}", "use 'mle' or 'monotone-mle', where it cancels")


@lru_cache(maxsize=32)
def _fitted(
    sets: tuple[SampledRankSet, ...], method: DistributionMethod, iterations: int | None
) -> RankDistribution:
    return estimate_distribution(sample_of(sets), method, iterations)


def estimate_distribution(
    sample: Sample, method: DistributionMethod, iterations: int | None = None
) -> RankDistribution:
    """Estimate from counts; one distribution per run where they have runs."""
    if method == "monotone-mle":
        steps = Steps.of(sample)
        weights = steps.weights(sample, iterations or em.SHAPED_ITERATIONS)
        return _read_only(steps.support, steps.mass(weights))
    support = nodes.support(sample.n, sample.m[-1], sample.scheme)
    rows = np.concatenate([support.law(m) for m in sample.m], axis=1)
    sample.require_possible(rows.max(axis=0))
    if method == "mle":
        start = support.ranks / sample.n
        mass = em.most_likely(rows, sample.shares, start, iterations or em.ITERATIONS)
    else:
        shares, weights = sample.squared_errors()
        found = [
            maximum_entropy(rows, support.ranks, p, c)
            for p, c in zip(np.atleast_2d(shares), np.atleast_2d(weights), strict=True)
        ]
        mass = np.reshape(found, (*shares.shape[:-1], len(support.ranks)))
    return _read_only(support, mass)


def _read_only(support: Support, mass: Floats) -> RankDistribution:
    mass.setflags(write=False)
    return RankDistribution(support, mass)


def fitted_side_by_side(
    sets: Sequence[SampledRankSet],
) -> tuple[RankDistribution, ...]:
    """Estimate systems that are compared, each non-increasing and begun from their common one.

    Parameters
    ----------
    sets
        Sampled ranks of the systems.

    Returns
    -------
    One distribution per system.

    Notes
    -----
    The systems share what the sample cannot tell: their common distribution is learned first (50
    iterations), and 10 more on the system's own sampled ranks tell it apart. A system is drawn
    towards those it is compared with. On movielens-xyz at m = 100 the pair and metric that are most
    often in the wrong order are right in 88 % of the runs, against 80 % with one corrected vector
    for all and 61 % with distributions of their own; Recall@1..50 is off by 2.8 %, against 3.2 and
    3.1 %.
    """
    every = together(sets)
    pooled = sample_of(every)
    return side_by_side(pooled, [sample_of((one,), pooled) for one in every])


def side_by_side(pooled: Sample, samples: Sequence[Sample]) -> tuple[RankDistribution, ...]:
    """Estimate as :func:`fitted_side_by_side` does, from counts."""
    steps = Steps.of(pooled)
    common = steps.weights(pooled, em.SHAPED_ITERATIONS)
    return tuple(
        _read_only(steps.support, steps.mass(steps.weights(one, em.OWN_ITERATIONS, common)))
        for one in samples
    )
