r"""Confidence intervals of a metric: the values that the sampled ranks do not contradict.

Let :math:`\hat p_s` be the share of instances with sampled rank s (among m negatives),
:math:`A_{rs}` its probability at true rank r (among n candidates), C the covariance matrix of
:math:`\hat p`, and :math:`M_r` the metric at rank r. The *misfit* of a distribution :math:`\pi` of
the true rank is :math:`d^T C^{-1} d` with :math:`d = \hat p - \pi^T A`. The interval holds the mean
metric of every :math:`\pi` near :math:`\hat\pi`, the distribution with the smallest misfit:

.. math:: \pi \cdot M, \quad (\pi - \hat\pi)^T A C^{-1} A^T (\pi - \hat\pi) \le z^2,

with z = 1.96 for 95 %. The left side of the inequality is the *squared distance* of :math:`\pi`
from the best fit. The smallest distance at a given mean metric is a convex function of this mean:
flat where the sampled ranks cannot distinguish values, and steep outside. The notes below show that
the width is that of an interval for a single weighted sum of the shares, whose weights are chosen
for the metric.

Without an assumed shape, :math:`\pi` is the distribution of the instances' true ranks. These ranks
are fixed, so only the draw of the negatives is random, independently for each of the U instances:

.. math:: C = \frac{1}{U} \sum_r \pi_r (\mathrm{diag}(A_r) - A_r A_r^T),

with :math:`A_r` the row of A for rank r. This C is smaller than the multinomial covariance
:math:`(\mathrm{diag}(q) - q q^T)/U` of the expected shares :math:`q = \pi^T A`, by about half at
the top ranks. Where m differs between instances, the ranks of the instances with a given m differ
at random from the common :math:`\pi`; this adds to C.

Instances whose n differs, or whose m correlates with the rank, have no common :math:`\pi`. They are
divided into strata of nearly equal n (and of nearly equal m). Choose a :math:`\pi` for each
stratum, such that the squared distances add up to at most :math:`z^2`. The interval holds every
weighted sum of the strata's mean metrics that such a choice can give. Within a stratum, for a given
share of items above the relevant item, A and the metric lie between their values at the smallest n
and at the largest n. Therefore mixtures of the values at these two n represent any n in between.

A shape ("non-increasing") is an assumption about the distribution that ranks are drawn from; the
ranks of some hundred instances do not have it themselves. With a shape, C is therefore multinomial,
and the mean metric of the instances differs at random from that of the distribution. The sampled
ranks predict a part of this difference, :math:`\sum_s \beta_s (\hat p_s - q_s)` with
:math:`\beta_s` the mean metric at sampled rank s. The square of the rest, divided by its variance,
is one more term of the misfit.

Let m depend on the drawn negatives, by a stopping rule that uses nothing but the drawn items. Then
the probability of m and sampled rank s is
:math:`P(m, s \mid r) = h(m, s) \, A^{(m)}_{rs}`, with a factor h that is equal for all true ranks.
Unless h is known, the shares of sampled ranks *at one m* give no information about :math:`\pi`. The
likelihood gives information, because h cancels in ratios of likelihoods: with
:math:`\ell(\pi) = \sum_u \log (\pi^T A^{(m_u)})_{s_u}` the interval holds the mean metric of every
:math:`\pi` with :math:`2 (\ell(\hat\pi) - \ell(\pi)) \le z^2`. Here, :math:`\ell` is expanded to
second order about its maximum.

Notes
-----
By duality, the upper end is the smallest sum of an estimate :math:`\hat\pi^T A b` and z times its
standard error, over the vectors b with :math:`A b \ge M` at every rank. As b is chosen after the
sample is seen, the coverage is not proven. It was simulated (``tests/benchmarks/bounds.py``). For
recommenders and smooth distributions, 95 % intervals hardly ever missed the metric. For the
distributions that are hardest to distinguish from those of recommenders, intervals missed the
metric in 2 % of runs on average and in 12 % at worst. With distances from the sample instead of the
best fit, intervals would be a few percent shorter and miss in up to 23 % of runs. No valid interval
can be much narrower.

Where m depended on the drawn negatives, the same benchmark simulates two stopping rules. Intervals
missed the metric of the instances in up to 7 % of runs if the true ranks were the hardest ones to
tell from other ranks, and hardly ever otherwise. A shape is refused if m depended on the
drawn negatives: with ranks that are equally likely up to some rank, 8 to 36 % of the intervals with
a shape missed. The best fit then lies on the boundary of the set of non-increasing distributions,
where the normal approximation behind z fails; and the difference between the mean metric of the
instances and of the distribution depends on the stopping rule.

References
----------
Donoho, Statistical estimation and optimal recovery, Annals of Statistics 1994; Batlle, Stanley,
Patil, Kuusela & Owhadi, Optimization-based frequentist confidence intervals for functionals in
constrained inverse problems, 2023; Kim, Carbonetto, Stephens & Anitescu, A fast algorithm for
maximum likelihood estimation of mixture proportions, JCGS 2020.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property, lru_cache

import numpy as np
import scipy
from scipy.linalg import cholesky, solve_triangular
from scipy.special import chdtri, ndtri, rel_entr

from sampledash.estimation.linear_programme import Columns, Shape
from sampledash.metrics import Metric
from sampledash.sampled_rank_sets import Outcomes, SampledRankSet
from sampledash.sampling import Sampling
from sampledash.types import Floats, Ints, frozen

# A cell is a group of neighbouring sampled ranks that are joined into one: see ``Cells``.
_LEAST = 5.0  # fewest instances in a cell, so that chi-square is a good approximation
_CELLS = 200  # largest number of cells for each number of negatives m
_ALL_CELLS = 4000  # approximate largest number of cells, summed over all m
_RARE = 0.025  # one-sided error probability of the upper limit of a Poisson count below _LEAST
_STIFF = 1e2  # weight of the equation "weights sum to 1" in a fit, relative to other equations
_FAINT = 1e-3  # largest coefficient of the equation that ``pulled`` adds; its square is negligible
_USUAL = 0.05  # first guess of a metric's standard error, as a share of the metric's range
_SMOOTHING = 30  # iterations of expectation maximisation, for a smooth rank distribution
_VANISHING = 1e-10  # keeps the variances of shares above 0 if all negatives are drawn
_ABSURD = 1e-6  # below this p-value of a chi-square test, sampled ranks contradict an assumed shape
_NEARLY = 1e-3  # tolerance of the search for the maximum log-likelihood
_ROUNDING = 1e-9
_EXACT = 1e-6  # if the best and worst possible metrics differ by less, the interval is one value
_CLOSE = 1e-5  # relative tolerance of the search for the ends of the interval
_STEPS = 60  # largest number of steps of an iteration or search


@dataclass(frozen=True, eq=False)
class Cells:
    """Shares of instances in cells, which are groups of neighbouring sampled ranks at one m.

    A cell is so wide that the error of its share is nearly normal. An *outcome* is a pair of an m
    and a sampled rank. Outcomes and cells are sorted by m, then by sampled rank. The *design
    effect* is the number of instances that carry as much information as one independent instance.
    """

    # A cell is a group of neighbouring sampled ranks at one m.
    starts: Ints  # index of the first outcome (m and sampled rank) of each cell
    share: Floats  # of the instances with the cell's m, the share whose sampled rank is in the cell
    size: Floats  # number of instances with the cell's m, divided by the design effect
    outcomes: int  # number of outcomes: the sum of m + 1 over all m
    instances: float  # number of all instances, divided by the design effect

    @staticmethod
    def of(observed: Outcomes) -> Cells:
        """Join neighbouring sampled ranks into groups (cells), for each number of negatives m."""
        starts, shares, sizes, width = [], [], [], 0
        room, worth = _ALL_CELLS / len(observed.m), 1 / observed.design_effect
        for counts in observed.counts:
            total = float(counts.sum())
            first = joined_starts(counts, _LEAST if room >= _CELLS else max(_LEAST, total / room))
            starts.append(first + width)
            shares.append(np.add.reduceat(counts, first) / total)
            sizes.append(np.full(len(first), total * worth))
            width += len(counts)
        share, size = np.concatenate(shares), np.concatenate(sizes)
        return Cells(np.concatenate(starts), share, size, width, float(observed.total) * worth)

    @property
    def floor(self) -> Floats:
        """Smallest variance to use for the share of instances in each cell: (cells,).

        The variance is 0 if the number of instances in the cell (group of sampled ranks), divided
        by the design effect, is at least 5.
        """
        # The normal approximation is poor if a cell has under 5 instances. Choose a variance such
        # that the share plus 1.96 standard errors is the upper limit of a Poisson count / ``size``.
        seen = self.share * self.size
        error = (chdtri(2 * seen + 2, _RARE) / 2 - seen) / ndtri(1 - _RARE)
        return np.where(seen < _LEAST, (error / self.size) ** 2, 0.0)

    def joined(self, table: Floats) -> Floats:
        """Return sums of ``table`` over the sampled ranks of each cell: (rows, cells).

        A row of ``table`` belongs to one true rank, or to a uniform distribution of the true rank.
        Only its first ``outcomes`` values are used, such as the probability of each outcome (m and
        sampled rank).
        """
        return np.asarray(np.add.reduceat(table[:, : self.outcomes], self.starts, axis=1))


def joined_starts(counts: Floats, least: float = _LEAST) -> Ints:
    """Join neighbouring sampled ranks into cells; return the index of the first rank of each cell.

    ``counts`` holds the number of instances with each sampled rank. A cell holds at least ``least``
    instances, or none: sampled ranks that never occur are evidence against some true ranks. Cells
    make intervals slightly wider than single sampled ranks would.
    """
    finest = np.arange(len(counts))
    # First form at most _CELLS cells, with widths in proportion to sqrt(p (1 - p)), where p is the
    # sampled rank divided by m.
    if len(counts) > _CELLS:
        wide = len(counts) * np.sin(np.linspace(0, np.pi / 2, _CELLS + 1)[:-1]) ** 2
        finest = np.unique(wide.astype(np.int64))
    totals = np.add.reduceat(counts, finest)
    starts, held = [0], 0.0
    for start, before, total in zip(finest[1:], totals, totals[1:], strict=False):
        held += before
        if held >= least or (held == 0.0 and total > 0):
            starts.append(int(start))
            held = 0.0
    held += totals[-1]
    if 0.0 < held < least and len(starts) > 1:
        starts.pop()
    return np.array(starts)


def all_alike(observed: Outcomes) -> bool:
    """Return whether, for each m, all instances are in one cell of neighbouring sampled ranks."""
    return bool(np.count_nonzero(Cells.of(observed).share) == len(observed.m))


@dataclass(frozen=True, eq=False)
class ChiSquareFit:
    """Rank distribution fitted to the shares of instances in cells (groups of sampled ranks).

    The distribution is a mixture. Its components are point masses at true ranks or, with the shape
    "non-increasing", uniform distributions on the ranks 1..j. The fit solves equations by least
    squares. An equation says that an observed share of instances in a group of sampled ranks, or a
    weighted sum of such shares, is equal to its prediction. The equation is scaled so that the
    error of the observed side has a variance near 1.
    """

    rows: Floats  # what each component of the mixture predicts: (equations, components)
    observed: Floats  # what the sample shows, to compare with ``rows @ weights``: (equations,)
    #: Mean metric of each component of the mixture: (components,). If a shape is assumed, the
    #: expected sum of beta_s times the share of sampled rank s is subtracted (beta_s is the mean
    #: metric at sampled rank s), and ``offset`` is the same sum with the observed shares.
    values: Floats
    offset: float  # the mean metric of the instances is values @ weights + offset
    extremes: tuple[float, float]  # smallest and largest metric that a rank can have
    weights: Floats  # weight of each component in the mixture that fits best: (components,)
    #: Variance of the difference between the mean metric of the instances and the mean metric of
    #: the fitted distribution, given the sampled ranks. It is 0 if no shape is assumed.
    scatter: float = 0.0
    #: If true, the squared distance of a distribution from the best fit approximates twice the
    #: difference of their log-likelihoods. Otherwise the squared distance is a sum of squared,
    #: scaled differences of shares.
    likelihood: bool = False
    weight: float = 1.0  # factor of this fit's mean metric in a sum over several fits

    @cached_property
    def aim(self) -> Floats:
        """Point from which the squared distance of a prediction is measured: (equations,).

        It is what the sample shows if ``likelihood`` is true, otherwise what the best fit predicts.
        """
        return self.observed if self.likelihood else self.rows @ self.weights

    @cached_property
    def least(self) -> float:
        """Squared distance from ``aim`` to the best fit's prediction; 0 without ``likelihood``."""
        return float(np.sum((self.rows @ self.weights - self.aim) ** 2))

    def pulled(self, pull: float) -> tuple[float, float]:
        """Return mean metric and squared distance of the rank distribution that ``pull`` selects.

        The rank distribution minimises squared distance / 2 - ``pull`` * mean metric: a larger
        ``pull`` gives a larger mean metric. The distance is measured from the best fit.
        """
        # Add an equation to the least-squares problem: ``reach`` * metric = ``pull`` / ``reach``.
        # The equation adds -pull * metric to half the squared error. It also adds a constant, and a
        # term in ``reach``², which is negligible because ``reach`` is small.
        reach = _FAINT / max(float(np.abs(self.values).max()), 1e-300)
        rows = np.vstack([self.rows, reach * self.values])
        weights = nonnegative(rows, np.append(self.aim, pull / reach))
        weights /= weights.sum()
        squared = float(np.sum((self.rows @ weights - self.aim) ** 2)) - self.least
        # The mean metric of the instances is that of the rank distribution plus a random x with
        # variance ``scatter``. This x adds x² / ``scatter`` to the squared distance. So squared
        # distance / 2 - ``pull`` * mean metric (see the docstring) is smallest at the value
        # x = ``pull`` * ``scatter``.
        value = self.offset + float(self.values @ weights) + pull * self.scatter
        return value, max(squared, 0.0) + pull**2 * self.scatter


@lru_cache(maxsize=32)
def best_fits(
    metric: Metric, srs: SampledRankSet, shape: Shape | None
) -> tuple[ChiSquareFit | None, ...]:
    """Fit a rank distribution to each stratum (instances of nearly equal n).

    The fit is the most likely distribution if m depended on the drawn negatives, otherwise the
    distribution with the smallest chi-square. The fit is None if nearly all sampled ranks of the
    stratum are equal, because the chi-square approximation then fails. Raise a ValueError if the
    sampled ranks contradict the shape: the interval would be narrow and wrong.
    """
    fits: list[ChiSquareFit | None] = []
    for observed in srs.strata:
        share = float(observed.total) / srs.n_instances
        if observed.adaptive:
            fit = maximum_likelihood(metric, observed)
        elif all_alike(observed):
            fits.append(None)
            continue
        else:
            fit = least_misfit(metric, observed, shape)
            if shape is not None:
                _require_shape(metric, srs.system, observed, fit, shape)
        fits.append(replace(fit, weight=share))
    return tuple(fits)


def _require_shape(
    metric: Metric, system: str, observed: Outcomes, fit: ChiSquareFit, shape: Shape
) -> None:
    cells = Cells.of(observed)
    # Compare the chi-square of ``fit`` with that of the best fit without a shape. The number of
    # degrees of freedom for this test is the number of ranks that have a weight above 0 in the best
    # fit without a shape.
    law = cells.joined(_grid_rows(observed, metric, None)[0]).T
    rows, shares, weights, _ = _multinomial(cells, law)
    bends = int(np.count_nonzero(weights))
    misfit = float(np.sum((fit.rows @ fit.weights - fit.observed) ** 2))
    excess = misfit - float(np.sum((rows @ weights - shares) ** 2))
    if excess > chdtri(bends, _ABSURD):
        test = f"(chi-square {excess:.0f} for at most {bends} bends)"
        against = f"contradicts the sampled ranks of system {system!r} {test}"
        raise ValueError(f"shape {shape!r} {against}: leave shape out")


def least_misfit(metric: Metric, observed: Outcomes, shape: Shape | None) -> ChiSquareFit:
    """Fit the rank distribution whose predicted shares of sampled ranks are nearest to the sample.

    The distance is a chi-square: a sum of squared differences, in standard errors.
    """
    cells, extremes = Cells.of(observed), worst_and_best(metric, observed)
    table, lengths = _grid_rows(observed, metric, shape)
    observed.require_possible(table[:, : cells.outcomes].max(axis=0))
    if shape is None:
        return _of_instances(cells, table, lengths, extremes)
    return _of_distribution(cells, table, extremes)


def worst_and_best(metric: Metric, observed: Outcomes) -> tuple[float, float]:
    """Return the smallest and largest exact metric that any of the instances can have."""
    ends = np.array([metric.worst_and_best(outcomes.n) for outcomes in observed.at_extremes])
    return float(ends.min()), float(ends.max())


def _grid_rows(observed: Outcomes, metric: Metric, shape: Shape | None) -> tuple[Floats, Floats]:
    """Return an array with a row for each rank of a grid of true ranks, and a weight for each rank.

    A row holds the probabilities of the sampled ranks, and last the metric. With a shape, a rank j
    stands for the uniform distribution on 1..j. A row then also holds, for each sampled rank, the
    mean of (its probability * metric), and the mean of metric². The weight of a rank is the share
    of the ranks 1..n that are nearest to this rank. If n differs between instances, there is a grid
    for the smallest n and a grid for the largest n. Mixtures of their rows represent any n in
    between.
    """
    parts = [_places(outcomes.samplings, metric, shape) for outcomes in observed.at_extremes]
    rows, lengths = (np.concatenate(both) for both in zip(*parts, strict=True))
    return rows, lengths / len(parts)


@lru_cache(maxsize=8)
def _places(
    samplings: tuple[Sampling, ...], metric: Metric, shape: Shape | None
) -> tuple[Floats, Floats]:
    readings, joint = (None,) * len(samplings), shape is not None
    columns = Columns(samplings, readings, metric, shape, joint)
    rows, places = columns.on_grid(), columns.grid
    ends = np.concatenate([[0.5], (places[1:] + places[:-1]) / 2, [columns.n + 0.5]])
    return frozen(rows), np.asarray(np.diff(ends) / columns.n)


def _of_instances(
    cells: Cells, table: Floats, lengths: Floats, extremes: tuple[float, float]
) -> ChiSquareFit:
    """Fit the distribution of the instances' true ranks, without assuming a shape."""
    law = cells.joined(table)
    # The covariance of the observed shares depends on how the probability of a cell (group of
    # sampled ranks) varies over the true ranks. The best fit cannot show this, because few ranks
    # have a weight above 0 in it. Therefore use ``near``, a smooth distribution: it is the result
    # of a few iterations of expectation maximisation.
    seen = cells.share * cells.size
    near = lengths
    for _ in range(_SMOOTHING):
        near = near * ((seen / np.maximum(law.T @ near, 1e-300)) @ law.T)
        near = near / near.sum()
    q = near @ law
    between = (law.T * near) @ law - np.outer(q, q)
    scatter = np.diag((q + _VANISHING) / cells.size) - between / cells.instances
    # If most negatives are drawn, the true rank nearly determines the sampled rank: variances are
    # small. So multiply ``floor``, the smallest variance of a share, by ``left``, the fraction of
    # the variance that is due to the draw of the negatives.
    left = (q - np.diag(between)) / (q + _VANISHING)
    diagonal = np.diag_indices(len(q))
    scatter[diagonal] = np.maximum(scatter[diagonal], cells.floor * left)
    root = cholesky(scatter, lower=True)
    shown = solve_triangular(root, law.T, lower=True)
    observed = solve_triangular(root, cells.share, lower=True)
    return ChiSquareFit(shown, observed, table[:, -1], 0.0, extremes, nonnegative(shown, observed))


def _of_distribution(cells: Cells, table: Floats, extremes: tuple[float, float]) -> ChiSquareFit:
    """Fit a distribution of the assumed shape, from which the instances' true ranks are drawn."""
    law = cells.joined(table).T
    rows, observed, weights, chance = _multinomial(cells, law)
    joint = weights @ cells.joined(table[:, cells.outcomes :])
    # Mean metric of the instances in each cell (group of sampled ranks at one m), times the share
    # of the instances that have this m.
    metric_of = cells.size / cells.instances * joint / chance
    left = float(weights @ table[:, -2]) - float(metric_of @ joint)
    values, offset = table[:, -1] - metric_of @ law, float(metric_of @ cells.share)
    scatter = max(left, 0.0) / cells.instances
    return ChiSquareFit(rows, observed, values, offset, extremes, weights, scatter)


def _multinomial(cells: Cells, law: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Fit a mixture of rank distributions to the shares of instances in cells of sampled ranks.

    The shares have multinomial errors. ``law`` holds the probability of each cell under each
    component of the mixture, (cells, components). Return the predicted shares under each component
    and the observed shares, both in standard errors; the weights of the components; and the shares
    that the fitted mixture predicts.
    """
    least = cells.floor * cells.size
    chance = np.maximum(cells.share, 1 / cells.size)
    for _ in range(3):
        scale = np.sqrt(cells.size / np.maximum(chance, least))
        rows, observed = law * scale[:, None], cells.share * scale
        weights = nonnegative(rows, observed)
        chance = np.maximum(law @ weights, 0.1 / cells.size)
    return rows, observed, weights, chance


def nonnegative(rows: Floats, observed: Floats) -> Floats:
    """Return weights >= 0 with sum 1 that minimise the norm of ``rows @ weights - observed``."""
    stiff = _STIFF * max(float(np.abs(rows).max()), 1.0)
    left = np.vstack([rows, np.full(rows.shape[1], stiff)])
    weights, _ = scipy.optimize.nnls(left, np.append(observed, stiff), maxiter=30 * left.shape[1])
    return np.asarray(weights)


def maximum_likelihood(metric: Metric, outcomes: Outcomes) -> ChiSquareFit:
    """Fit the rank distribution under which the observed sampled ranks are most likely."""
    seen = [np.flatnonzero(counts) for counts in outcomes.counts]
    counts = np.concatenate([c[s] for c, s in zip(outcomes.counts, seen, strict=True)])
    readings = tuple(np.eye(m + 1)[:, s] for m, s in zip(outcomes.m, seen, strict=True))
    ends = outcomes.at_extremes
    table = np.vstack([Columns(x.samplings, readings, metric, None).on_grid() for x in ends])
    law, values = table[:, :-1], table[:, -1]
    size = float(counts.sum()) / outcomes.design_effect
    weights = _most_likely_exactly(law, counts / counts.sum(), size)
    chance = weights @ law
    root = np.sqrt(size * counts / counts.sum())
    # Neighbouring ranks predict nearly equal shares, so few singular vectors represent all ranks.
    turned, scale, rows = np.linalg.svd(root[:, None] * (law / chance).T, full_matrices=False)
    large = scale > _ROUNDING * scale[0]
    shown, observed = scale[large, None] * rows[large], 2 * root @ turned[:, large]
    extremes = float(values.min()), float(values.max())
    return ChiSquareFit(shown, observed, values, 0.0, extremes, weights, likelihood=True)


def _most_likely_exactly(law: Floats, share: Floats, size: float) -> Floats:
    """Return the most likely weights of a mixture's components, by Newton's method.

    Each Newton step is a least-squares fit. ``law`` holds the probability of each observed outcome
    (m and sampled rank) under each component, (components, outcomes); ``share`` is the share of
    instances with each outcome, and ``size`` the number of instances divided by the design effect.
    """
    root = np.sqrt(share)
    weights = np.full(len(law), 1 / len(law))
    for _ in range(_STEPS):
        chance = weights @ law
        # The left side of this inequality is an upper limit of how far the log-likelihood is below
        # its maximum.
        if size * (float((law @ (share / chance)).max()) - 1) <= _NEARLY:
            break
        aim = nonnegative(root[:, None] * (law / chance).T, 2 * root)
        aim /= aim.sum()
        # Begin with 0.9 of the full Newton step, because the full step can give an observed outcome
        # (m and sampled rank) a probability near 0.
        length, reached = 0.9, float(share @ np.log(chance))
        while length > _ROUNDING:
            tried = (1 - length) * weights + length * aim
            if float(share @ np.log(tried @ law)) > reached:
                break
            length /= 2
        weights = tried
    return weights


def profile_interval(fits: Sequence[ChiSquareFit], confidence: float) -> tuple[float, float]:
    """Return the confidence interval of a weighted sum of mean metrics.

    ``fits`` holds the best fit of each independent sample, with its weight in the sum. For a
    difference of two systems, weights of the second are negative. ``confidence`` is in 0..1.

    Notes
    -----
    For a sample, let D(x) be the smallest squared distance between the best fit and a rank
    distribution with the mean metric x. At an end of the interval, the derivative of D(x) / 2 is
    ``pull`` times the weight of the sample, with the same number ``pull`` (a Lagrange multiplier)
    for all samples. So the search is over ``pull`` only. For a given ``pull``, the least-squares
    problem of each sample is solved separately.
    """
    goal = max(float(ndtri((1 + confidence) / 2)), _EXACT)
    extent = sum(abs(fit.weight) * float(np.ptp(fit.extremes)) for fit in fits)
    if extent <= _EXACT:  # the metric is equal for all ranks, as with a cutoff of n
        value = sum(fit.weight * float(fit.extremes[0]) for fit in fits)
        return value, value

    @cache
    def at(pull: float) -> tuple[float, float]:
        """Return the weighted sum of mean metrics at ``pull``, and the distance from the best fits.

        This distance is the root of the sum of the squared distances of all samples.
        """
        value = squared = 0.0
        for fit in fits:
            metric_value, part = fit.pulled(fit.weight * pull)
            value, squared = value + fit.weight * metric_value, squared + part
        return value, squared**0.5

    def end(sign: float) -> float:
        farthest = sum(max(sign * fit.weight * x for x in fit.extremes) for fit in fits)
        pull = goal / (_USUAL * extent)
        for _ in range(_STEPS):
            value, distance = at(sign * pull)
            if distance >= goal or sign * value >= farthest - _EXACT * extent:
                break
            # The distance from the best fits grows nearly in proportion to ``pull``: aim a little
            # beyond ``goal``, the distance at the ends of the interval.
            pull *= min(4.0, 1.1 * goal / max(distance, _ROUNDING))
        if distance > goal:
            pull = scipy.optimize.brentq(
                lambda x: at(sign * x)[1] - goal, 0.0, pull, xtol=_CLOSE * pull, rtol=_CLOSE
            )
            value = at(sign * pull)[0]
        return sign * min(sign * value, farthest)

    return end(-1.0), end(1.0)


def mean_of_some(
    metric: Metric, observed: Outcomes, low: float, high: float, confidence: float
) -> tuple[float, float]:
    """Return lower and upper confidence limits of the mean metric of the instances.

    The true ranks of the instances are drawn from a distribution. The expected metric under this
    distribution is in ``low``..``high``.
    """
    # Use the Chernoff-Hoeffding inequality, which holds for any metric in ``worst``..``best``.
    worst, best = worst_and_best(metric, observed)
    reach = float(np.log(2 / (1 - confidence))) * observed.design_effect / float(observed.total)

    def beyond(expected: float, end: float) -> float:
        def room(x: float) -> float:
            return float(rel_entr(x, expected) + rel_entr(1 - x, 1 - expected)) - reach

        return end if room(end) <= 0 else float(scipy.optimize.brentq(room, expected, end))

    width = best - worst or 1.0  # best = worst if the cutoff is the number of candidates
    lowest, highest = np.clip((np.array([low, high]) - worst) / width, 0, 1).tolist()
    return worst + beyond(lowest, 0.0) * width, worst + beyond(highest, 1.0) * width
