r"""Sampled ranks in units of their sampling error, beside what each rank distribution would show.

With :math:`\hat p_s` the share of instances of sampled rank s and A the law, the *misfit* of a
rank distribution is :math:`d^T C^{-1} d`, :math:`d = \hat p - \pi^T A`, C the covariance of
:math:`\hat p`.

Without a shape, :math:`\pi` is the distribution of the instances' own ranks. These are fixed, so
that only the draw of the negatives scatters, instance by instance:

.. math:: C = \frac{1}{U} \sum_r \pi_r (\mathrm{diag}(A_r) - A_r A_r^T),

which is less than the multinomial covariance :math:`(\mathrm{diag}(q) - q q^T)/U`, about half of
it at the top ranks. Where instances differ in their number of negatives, those of one number have
ranks of their own that scatter about the common :math:`\pi`; this is added.

A shape is an assumption about the distribution that ranks come from, which the ranks of some
hundred instances do not show themselves. There C is multinomial, and the metric of the instances at
hand scatters about that of the distribution. Of that scatter their sampled ranks tell a part,
:math:`\sum_s \beta_s (\hat p_s - q_s)` with :math:`\beta_s` the mean metric of instances of
sampled rank s; the rest enters the misfit as one more squared error.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from scipy.linalg import cholesky, solve_triangular
from scipy.optimize import nnls
from scipy.special import chdtri

from sampledash.estimation.bounds_cells import Part, parts_of
from sampledash.estimation.bounds_family import Family, Shape
from sampledash.metrics import Metric
from sampledash.sampledranks import SampledRankSet
from sampledash.sampling import Sampling
from sampledash.types import Floats

_STIFF = 1e2  # weight of the equation of the probabilities, in largest entries of the others
_SMOOTHING = 30
_ROUNDING = 1e-10  # added to a variance that vanishes, where negatives are all other items
_ABSURD = 1e-6  # chance below which a shape counts as contradicted


@dataclass(frozen=True, eq=False)
class Fitted:
    """Standardised shares of what was observed, and what the places of a grid would show.

    Attributes
    ----------
    rows
        Shares in standard errors, one column per place: shape (cells, places).
    observed
        The same for the sample, shape (cells,).
    values, offset
        Exact metric of the instances: the mean of ``values``, (places,), plus ``offset``.
    extremes
        Smallest and largest value of the metric: with a shape the ranks of the instances at hand
        may have one that no distribution of that shape has.
    weights
        Rank distribution that fits best, shape (places,).
    scatter
        Variance of the instances' exact metric about that; 0 where the distribution may be their
        own.
    likelihood
        Whether distances are losses of it, which count from ``observed`` and less that of the best
        fit; else they count from the best fit.
    """

    rows: Floats
    observed: Floats
    values: Floats
    offset: float
    extremes: tuple[float, float]
    weights: Floats
    scatter: float
    likelihood: bool = False

    @property
    def misfit(self) -> float:
        """Squared distance of the best fit."""
        return float(np.sum((self.rows @ self.weights - self.observed) ** 2))


@lru_cache(maxsize=16)
def _grid_rows(samplings: tuple[Sampling, ...], metric: Metric, shape: Shape | None) -> Floats:
    joint = shape is not None
    rows = Family(samplings, (None,) * len(samplings), metric, shape, joint).on_grid()
    rows.setflags(write=False)
    return rows


def fitted(metric: Metric, srs: SampledRankSet, shape: Shape | None) -> Fitted:
    """Fit the rank distribution with the smallest misfit."""
    samplings, parts = _samplings(srs), parts_of(srs)
    table = _grid_rows(samplings, metric, shape)
    n = samplings[0].n
    worst, best = metric(np.array([n, 1]), n).tolist()
    if shape is None:
        return _of_instances(parts, table, (worst, best), _lengths(samplings, metric))
    return _of_distribution(parts, table, (worst, best))


def _samplings(srs: SampledRankSet) -> tuple[Sampling, ...]:
    return tuple(srs.sampling(draws.m) for draws in srs.draws)


def _of_instances(
    parts: list[Part], table: Floats, extremes: tuple[float, float], start: Floats
) -> Fitted:
    """Misfit of the distribution of the instances' own ranks."""
    law, share = np.hstack([part.joined(table) for part in parts]), _stacked(parts)
    size = np.concatenate([np.full(len(part.share), part.size) for part in parts])
    # The best fit has few atoms, too few to tell how much of the scatter is between ranks.
    near = _smooth(law.T, share * size, start)
    q = near @ law
    between = (law.T * near) @ law - np.outer(q, q)
    scatter = np.diag((q + _ROUNDING) / size) - between / sum(part.size for part in parts)
    # Drawn from few items a rare rank may be certain: the floor in proportion to what is drawn.
    left = (q - np.diag(between)) / (q + _ROUNDING)
    own = np.diag_indices(len(q))
    scatter[own] = np.maximum(scatter[own], _floors(parts) * left)
    root = cholesky(scatter, lower=True)
    shown = solve_triangular(root, law.T, lower=True)
    seen = solve_triangular(root, share, lower=True)
    values = table[:, -1]
    weights = nonnegative(shown, seen, np.ones((1, len(values))))
    return Fitted(shown, seen, values, 0.0, extremes, weights, 0.0)


def _of_distribution(parts: list[Part], table: Floats, extremes: tuple[float, float]) -> Fitted:
    """Misfit of the distribution that the instances' ranks come from."""
    law = np.hstack([part.joined(table) for part in parts]).T
    rows, observed, weights, chance = _independent(parts, law)
    column = sum(part.width for part in parts)
    joint = np.hstack([part.joined(table[:, column:]) for part in parts])
    instances = sum(part.size for part in parts)
    # Told by sampled rank s: the mean metric of its instances, weighted by the instances of its m.
    of = np.concatenate([np.full(len(p.share), p.size / instances) for p in parts])
    told = of * (weights @ joint) / chance
    left = float(weights @ table[:, -2]) - float(told @ (weights @ joint))
    return Fitted(
        rows,
        observed,
        table[:, -1] - told @ law,
        float(told @ _stacked(parts)),
        extremes,
        weights,
        max(left, 0.0) / instances,
    )


def _stacked(parts: list[Part]) -> Floats:
    return np.concatenate([part.share for part in parts])


def _floors(parts: list[Part]) -> Floats:
    return np.concatenate([part.floor for part in parts])


def _independent(parts: list[Part], law: Floats) -> tuple[Floats, Floats, Floats, Floats]:
    """Rows and shares in multinomial standard errors of the fit; its weights and chances."""
    share = _stacked(parts)
    size = np.concatenate([np.full(len(part.share), part.size) for part in parts])
    least = _floors(parts) * size
    chance = np.maximum(share, 1 / size)
    for _ in range(3):
        scale = np.sqrt(size / np.maximum(chance, least))
        rows, observed = law * scale[:, None], share * scale
        weights = nonnegative(rows, observed, np.ones((1, law.shape[1])))
        chance = np.maximum(law @ weights, 0.1 / size)
    return rows, observed, weights, chance


@lru_cache(maxsize=16)
def _lengths(samplings: tuple[Sampling, ...], metric: Metric) -> Floats:
    """Share of all ranks that each place of the grid stands for."""
    places = Family(samplings, (None,) * len(samplings), metric, None).grid
    ends = np.concatenate([[0.5], (places[1:] + places[:-1]) / 2, [places[-1] + 0.5]])
    return np.asarray(np.diff(ends) / (places[-1] - places[0] + 1))


def _smooth(law: Floats, counts: Floats, start: Floats) -> Floats:
    """Place weights after some steps of expectation maximisation: what is near is alike."""
    weights = start
    for _ in range(_SMOOTHING):
        weights = weights * ((counts / np.maximum(law @ weights, 1e-300)) @ law)
        weights = weights / weights.sum()
    return np.asarray(weights)


def nonnegative(rows: Floats, observed: Floats, totals: Floats) -> Floats:
    """Non-negative weights of least squared distance; each of some totals of them is 1."""
    stiff = _STIFF * max(float(np.abs(rows).max()), 1.0)
    left = np.vstack([rows, stiff * totals])
    right = np.append(observed, np.full(len(totals), stiff))
    weights, _ = nnls(left, right, maxiter=30 * left.shape[1])
    return np.asarray(weights)


def refuse_contradicted(metric: Metric, srs: SampledRankSet, fit: Fitted) -> None:
    """Refuse a shape that the sampled ranks contradict: its bounds would be narrow and wrong."""
    parts, table = parts_of(srs), _grid_rows(_samplings(srs), metric, None)
    law = np.hstack([part.joined(table) for part in parts]).T
    rows, observed, weights, _ = _independent(parts, law)
    bends = int(np.count_nonzero(weights))
    excess = fit.misfit - float(np.sum((rows @ weights - observed) ** 2))
    if excess > chdtri(bends, _ABSURD):
        raise ValueError(
            f"shape 'non-increasing' contradicts the sampled ranks of system {srs.system!r} "
            f"(chi-square {excess:.0f} for at most {bends} bends): leave shape out"
        )
