r"""Tests of how items were drawn, by the numbers of draws from tenths of the items.

Items are drawn with given weights w. With replacement, the m draws of a list are multinomial. Draws
without replacement are equivalent to a race (see :mod:`sampledash.auditing.weights`): each
candidate has a clock that rings after an exponential time with the rate w, and the list holds the m
candidates whose clocks ring first. Let t be the time before which m rings are expected, and
:math:`p = 1 - e^{-w t}` the probability that a clock rings before t. The number of rings before t
has the variance :math:`V = \sum p (1 - p)`, and the rate of rings at t is
:math:`\lambda = \sum w e^{-w t}`. If k rings are missing at t, the m-th ring is later than t by
about k / λ. An expansion of p at the time of the m-th ring of the other clocks, to the second
order, gives the probability that the list holds an item:

.. math:: \pi = 1 - e^{-w t}\,(1 - w p / \lambda + w^2 V / (2 \lambda^2) - w \delta),

where δ makes the sum of π equal to m. To the first order, the number of draws from a tenth differs
from its expectation by a sum over clocks of ([rung before t] - p) · ([in the tenth] - share).
Brackets are 1 if their condition holds and 0 otherwise, and the share is the part of λ that the
tenth has. The covariance of the numbers follows from this sum. If all weights are equal, π and the
covariance are exact, provided that the covariance is multiplied by n / (n - 1) for n candidates.
"""

import numpy as np
import pandas as pd
from scipy.sparse import csr_array
from scipy.special import chdtrc

from sampledash.auditing.weights import Draws
from sampledash.types import Floats, Ints, blocks

# Newton's method for t (docstring above): most steps, allowed error of log(n - m).
_STEPS, _NEAR = 100, 1e-12
# Blocks of lists × weights have at most this number of cells.
_CELLS = 2**17
# Tenths with fewer expected draws than this are tested together: a χ² test of such small numbers
# would raise false alarms.
_FEW = 1.0


def tenths(
    draws: Draws, popularity: Floats, once: bool, models: dict[str, Floats]
) -> tuple[pd.DataFrame, list[float]]:
    """Compare the draws from each tenth of the items with their expected number by given weights.

    Parameters
    ----------
    draws
        The drawn items; their popularity is above 0.
    popularity
        Popularity of each item. The items with popularity above 0, sorted by popularity, are
        divided into tenths, or into fewer parts if there are few draws.
    once
        Whether a list holds each item at most once.
    models
        Weights of items by name. Items of the same popularity have the same weight.

    Returns
    -------
    The table :attr:`Audit.deciles`, with the columns ``name`` and ``name_std`` for each model, and
    the p-value of a χ² test for each model.
    """
    order = np.argsort(popularity, kind="stable")[(popularity == 0).sum() :]
    bins = np.array_split(order, int(np.clip(min(len(draws.row) // 5, len(order)), 1, 10)))
    times = np.bincount(draws.item, minlength=len(popularity))
    drawn = np.array([times[x].sum() for x in bins])
    rows = [(*popularity[x[[0, -1]]].astype(int), len(x)) for x in bins]
    table = pd.DataFrame(rows, columns=["popularity_low", "popularity_high", "items"])
    table["drawn"], chances = drawn, []
    for name, weights in models.items():
        expected, covariance = expected_counts(draws, weights, bins, once)
        table[name], table[f"{name}_std"] = expected, np.sqrt(np.diag(covariance).clip(0))
        chances.append(_chance(drawn - expected, expected, covariance))
    return table, chances


def _chance(off: Floats, expected: Floats, covariance: Floats) -> float:
    """Return the p-value of a χ² test of the differences ``off`` from ``expected`` numbers."""
    # Put together all small numbers, and larger ones until the sum is no longer small.
    sums = np.cumsum(np.sort(expected))[np.argsort(np.argsort(expected))]
    few = (expected < _FEW) | (sums - expected < _FEW)
    cells = np.vstack([few, np.eye(len(few))[~few]])
    variances, axes = np.linalg.eigh(cells @ covariance @ cells.T)
    # The sum of all numbers is fixed, so one variance is 0, but for rounding errors.
    free = variances > 1e-12 * variances[-1]
    squares = (cells @ off @ axes)[free] ** 2 / variances[free]
    return float(chdtrc(len(squares), squares.sum())) if len(squares) else np.nan


def expected_counts(
    draws: Draws, weights: Floats, bins: list[Ints], once: bool
) -> tuple[Floats, Floats]:
    """Return the expected number of draws from each bin, and the covariance of these numbers.

    ``bins`` are indices of items. ``once`` says whether a list holds each item at most once.
    """
    order, part = np.concatenate(bins), np.repeat(np.arange(len(bins)), [len(x) for x in bins])
    # Items of the same bin and weight are of one kind. For each list, only the number of candidates
    # of each kind matters.
    new = np.append(True, (np.diff(weights[order]) != 0) | (np.diff(part) != 0))
    w, kind, first = weights[order][new], np.cumsum(new) - 1, np.unique(part[new], True)[1]
    member = csr_array((np.ones(len(order)), (order, kind)), shape=(len(weights), len(w)))
    excluded, m, sums = draws.excluded @ member, draws.lengths[:, None], []
    for rows in blocks(draws.size, _CELLS, len(w)):
        # A list may have no candidates: a number near 0 avoids a division by 0.
        counts = np.bincount(kind) - excluded[rows].toarray() + 1e-300
        of_kinds = (_distinct if once else _repeated)(counts, w, m[rows])
        sums.append(np.add.reduceat(of_kinds, first, axis=2))
    chance, spread, share = np.concatenate(sums, axis=1)
    cross = spread.T @ share
    covariance = share.T @ (share * spread.sum(axis=1, keepdims=True)) - cross - cross.T
    return chance.sum(axis=0), covariance + np.diag(spread.sum(axis=0))


def _repeated(counts: Floats, w: Floats, m: Floats) -> Floats:
    """Return what :func:`_distinct` returns, for draws with replacement."""
    share = counts * w / (counts @ w)[:, None]
    return np.array([m * share, m * share, share])


def _distinct(counts: Floats, w: Floats, m: Floats) -> Floats:
    """Return three sums over the items of each list and kind, for draws without replacement.

    The sums are those of the probability π that the list holds the item, of the variance of
    [rung before t], and of the item's part of λ: see the module docstring. ``counts``, of shape
    (lists, kinds), is the number of candidates of each kind, ``w`` the weight of each kind, and
    ``m``, of shape (lists, 1), the number of draws.
    """
    n = counts.sum(axis=1, keepdims=True)
    # If a list holds all its candidates, t is the time before which almost all clocks ring.
    goal, t = np.log(np.maximum(n - m, 1e-9 * n)), np.zeros_like(n)
    # Newton's method for the time t at which n - m clocks are expected to be left. The log of their
    # number is convex in t. Steps from 0 therefore never go beyond the solution.
    for _ in range(_STEPS):
        quiet = np.exp(-w * t)
        left = counts * quiet
        number, rate = left.sum(axis=1, keepdims=True), (left @ w)[:, None]
        over = np.log(number) - goal
        if over.max() < _NEAR:
            break
        t = t + over * number / rate
    p, share = 1 - quiet, w / rate
    spread = left * p
    bend = left * share * (share * spread.sum(axis=1, keepdims=True) / 2 - p)
    chance = counts * p - bend + left * share * bend.sum(axis=1, keepdims=True)
    exact = (m < n) * n / np.maximum(n - 1, 1)
    return np.array([chance.clip(0, counts), exact * spread, left * share])
