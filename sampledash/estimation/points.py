"""One number from sampled ranks: what each estimator takes the exact metric for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

import numpy as np

from sampledash import checks
from sampledash.correction import Correction, as_correction
from sampledash.estimation import distribution, vectors
from sampledash.estimation.bounds import require_sampled
from sampledash.estimation.distributed import RankDistribution
from sampledash.estimation.distribution import (
    DistributionMethod,
    estimate_distribution,
    fitted,
    require_valid,
)
from sampledash.estimation.sample import Sample, sample_of
from sampledash.estimation.vectors import VectorMethod
from sampledash.metrics import Metric, as_metric
from sampledash.sampledranks import SampledRankSet
from sampledash.types import Floats

Method = DistributionMethod | VectorMethod
METHODS = (*distribution.METHODS, *vectors.METHODS)


def as_method(method: Correction | str) -> Correction | Method:
    """The name of an estimator, or a correction.

    Raises
    ------
    ValueError
        If a text is neither.
    """
    if not isinstance(method, str):
        return as_correction(method)
    plain = method.strip().lower().replace("_", "-")
    if plain in METHODS:
        return cast(Method, plain)
    try:
        return as_correction(method)
    except ValueError:
        raise ValueError(
            f"method {checks.shown(method)} is not understood: use {', '.join(METHODS)}, or a "
            "correction such as 'BV 0.1' or 'CLS'"
        ) from None


def point(metric: Metric | str, srs: SampledRankSet, method: Correction | str) -> float:
    """Estimate the exact metric, without an interval.

    Parameters
    ----------
    metric
        A metric or its text.
    srs
        Sampled ranks of one system.
    method
        A correction or its text, or ``"mle" "mes" "monotone-mle"`` (the mean over that rank
        distribution), ``"bv-mle" "bv-mes" "bv-monotone-mle" "mn"`` (a vector learned from it).

    Raises
    ------
    ValueError
        If the method is not understood, a sampled rank is impossible, or what was drawn decided m
        and the method is no likelihood.

    Notes
    -----
    Where an instance has another number of negatives, distributions use all instances together;
    vectors are fitted for each number and averaged by weight. Where what was drawn decided that
    number, only ``"mle"`` and ``"monotone-mle"`` are right: the rule cancels in the likelihood,
    while the law at each m, which all others rest on, is no longer that of the sampled rank.
    """
    require_sampled("srs", srs)
    require_valid([srs], as_method(method))
    return float(_estimated(metric, sample_of((srs,)), method, lambda prior: fitted(srs, prior)))


def points(metric: Metric | str, sample: Sample, method: Correction | str) -> Floats:
    """Estimate the exact metric as :func:`point` does, for each run of a sample: shape (runs,)."""
    return _estimated(metric, sample, method, lambda prior: estimate_distribution(sample, prior))


def _estimated(
    metric: Metric | str,
    sample: Sample,
    method: Correction | str,
    learn: Callable[[DistributionMethod], RankDistribution],
) -> Floats:
    metric, plan = as_metric(metric), as_method(method)
    if isinstance(plan, Correction):
        return _averaged(sample, [plan.fit(metric, sample.sampling(m)).values for m in sample.m])
    if plan in distribution.METHODS:
        return learn(cast(DistributionMethod, plan)).expected(metric)
    learned = cast(VectorMethod, plan)
    found = learn(vectors.prior_method(learned))
    gamma = vectors.gamma_of(learned, None, 1)

    def vector(mass: Floats, instances: float) -> list[Floats]:
        one = RankDistribution(found.support, mass)
        return [vectors.learned_values(learned, metric, one, m, gamma, instances) for m in sample.m]

    if found.mass.ndim == 1:
        return _averaged(sample, vector(found.mass, float(sample.total)))
    each = [vector(*of) for of in zip(found.mass, sample.total.tolist(), strict=True)]
    return _averaged(sample, [np.stack(of_m) for of_m in zip(*each, strict=True)])


def _averaged(sample: Sample, values: Sequence[Floats]) -> Floats:
    """Mean over the instances of a vector per m: shape (m + 1,), or one for each run."""
    sums = [np.sum(c * v, axis=-1) for c, v in zip(sample.counts, values, strict=True)]
    return np.asarray(np.sum(sums, axis=0) / sample.total)
