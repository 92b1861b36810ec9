r"""How far an estimate scatters over instances, from its derivatives: no resampling.

An estimate is a smooth function :math:`\theta` of the shares of the sampled ranks. With slope
:math:`\psi_s = \partial \theta / \partial \hat p_s` its variance over |D| instances is, to first
order, that of :math:`\psi` over the observed shares, divided by |D| (the delta method). The slope
of the learned vectors passes through their prior, that of the prior through every iteration.
"""

from __future__ import annotations

from typing import cast

import numpy as np

from sampledash.correction import Correction
from sampledash.estimation import distribution, em, nodes, vectors
from sampledash.estimation.distribution import DistributionMethod
from sampledash.estimation.entropy import ETA, maximum_entropy
from sampledash.estimation.nodes import Support
from sampledash.estimation.points import as_method
from sampledash.estimation.sample import Sample
from sampledash.estimation.steps import Steps
from sampledash.estimation.vectors import VectorMethod
from sampledash.metrics import Metric, as_metric
from sampledash.types import Floats


def standard_error(metric: Metric | str, sample: Sample, method: Correction | str) -> float:
    """Standard deviation of :func:`~sampledash.estimation.point` over the choice of instances.

    Parameters
    ----------
    metric
        A metric or its text.
    sample
        Counts of one run; the instances with each number of negatives are a sample of their own,
        unless what was drawn decided it.
    method
        As for :func:`~sampledash.estimation.point`.

    Notes
    -----
    It says how far the estimate of another sample would be from this one, not from the truth: what
    the sampled ranks cannot tell is the larger part for metrics of the first few ranks.
    """
    slope = slopes(as_metric(metric), sample, method)
    total, start, variance = float(sample.total), 0, 0.0
    # Where what was drawn decided m, how many instances have which m scatters too.
    groups = (np.concatenate(sample.counts),) if sample.adaptive else sample.counts
    for counts in groups:
        here = slope[start : start + len(counts)]
        if size := float(counts.sum()):
            mean = float(counts @ here) / size
            variance += float(counts @ (here - mean) ** 2) / total**2
        start += len(counts)
    return float(np.sqrt(variance))


def slopes(metric: Metric, sample: Sample, method: Correction | str) -> Floats:
    """Derivatives of the estimate in the shares that occur: shape (outcomes,).

    Up to one number for each m, which the shares of its instances, always 1 together, leave open.
    """
    plan = as_method(method)
    if isinstance(plan, Correction):
        fits = [plan.fit(metric, sample.sampling(m)).values for m in sample.m]
        return np.concatenate(fits)
    prior = _Prior(metric, sample, plan)
    target = metric.of_above(prior.support.above, sample.n - 1) * metric.scale(1)
    if plan in distribution.METHODS:
        return prior.slopes(target)
    return _through_vectors(prior, target, cast(VectorMethod, plan))


class _Prior:
    """An estimated distribution at nodes that resolve the metric, and its derivatives."""

    def __init__(self, metric: Metric, sample: Sample, plan: str) -> None:
        learned = cast(VectorMethod, plan)
        self.method: DistributionMethod = (
            cast(DistributionMethod, plan)
            if plan in distribution.METHODS
            else vectors.prior_method(learned)
        )
        self.sample = sample
        cut = metric.cut(sample.n - 1)
        cut = cut if cut is not None and cut < sample.n else None
        shaped = self.method == "monotone-mle"
        self.support: Support = nodes.support(
            sample.n, sample.m[-1], sample.scheme, steps=shaped, cut=cut
        )
        self.laws = [self.support.law(m) for m in sample.m]
        if self.method == "mes":
            self.rows = np.concatenate(self.laws, axis=1)
            shares, weights = sample.squared_errors()
            self.mass = maximum_entropy(self.rows, self.support.ranks, shares, weights)
            return
        if shaped:
            steps = Steps.of(sample)
            self.steps = Steps(self.support, steps.ends, steps.rows)
            self.rows, self.iterations = steps.rows, em.SHAPED_ITERATIONS
            self.start = np.full(len(steps.ends), 1 / len(steps.ends))
        else:
            self.rows, self.iterations = np.concatenate(self.laws, axis=1), em.ITERATIONS
            self.start = self.support.ranks / sample.n
        found = em.most_likely(self.rows, sample.shares, self.start, self.iterations)
        self.mass = self.steps.mass(found) if shaped else found

    def slopes(self, value: Floats) -> Floats:
        """Derivatives in the shares of a number whose slope in the mass is ``value``, (nodes,)."""
        if self.method == "mes":
            return self._of_entropy(value)
        if self.method == "monotone-mle":
            value = self.steps.mean(value)
        return em.slopes(self.rows, self.sample.shares, self.start, self.iterations, value)

    def _of_entropy(self, value: Floats) -> Floats:
        """By the conditions of the minimum, which hold on after a small change of the shares."""
        shares, weights = self.sample.squared_errors()
        used = weights > 0
        root = np.sqrt(weights[used])
        scaled = self.rows[:, used] * root
        centred = self.mass[:, None] * (scaled - self.mass @ scaled)
        matrix = scaled.T @ centred
        matrix.flat[:: len(matrix) + 1] += ETA / 2
        at = np.linalg.solve(matrix, value @ centred) / root
        misfit = 2 * shares[used] - self.mass @ self.rows[:, used]
        places = np.repeat([m + 1.0 for m in self.sample.m], [m + 1 for m in self.sample.m])
        result = np.zeros(len(shares))
        result[used] = at * places[used] * misfit
        return result


def _through_vectors(prior: _Prior, target: Floats, method: VectorMethod) -> Floats:
    """Derivatives of a learned vector's mean: those of the shares, and through its prior."""
    gamma, sample = vectors.gamma_of(method, None, 1), prior.sample
    instances = float(sample.total)
    start, direct, slope = 0, [], np.zeros(len(target))
    for m, law in zip(sample.m, prior.laws, strict=True):
        share = sample.shares[start : start + m + 1]
        start += m + 1
        noise = prior.support.ranks / instances if gamma is None else gamma * prior.mass
        solve = vectors.solver(law, prior.mass, noise)
        values = solve((prior.mass * target) @ law)
        adjoint = solve(share)
        off = law @ adjoint
        if gamma is None:
            slope += off * (target - law @ values)
        else:
            slope += off * (target - (1 - gamma) * (law @ values)) - gamma * (
                law @ (adjoint * values)
            )
        direct.append(values)
    return np.concatenate(direct) + prior.slopes(slope)
