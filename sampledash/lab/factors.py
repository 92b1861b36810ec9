"""Matrix factorisations over all pairs of a user and an item, including unobserved pairs.

One solver of weighted least squares trains three kinds of models: iALS, Steck's AllRank, and models
of observed ratings only. If all weights are equal, the minimum of the loss has a closed form (an
SVD). L-BFGS minimises the logistic loss.

References
----------
Harald Steck. Training and Testing of Recommender Systems on Data Missing Not at Random. KDD 2010.
Yifan Hu, Yehuda Koren, Chris Volinsky. Collaborative Filtering for Implicit Feedback Datasets.
ICDM 2008.
"""

import itertools
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import get_lapack_funcs

from sampledash.lab.models import Factors, Part, Scores, TrainingProgress, within
from sampledash.types import Floats, blocks

#: Largest number of array elements in a block of rows (users or items). Such a block takes a few
#: MiB of memory and a few hundredths of a second.
BLOCK = 2**19
#: Standard deviation of the random initial factors.
INITIAL = 0.1


@dataclass(frozen=True)
class WeightedLoss:
    r"""Weighted squared error over all pairs, with a ridge (Steck, eq. 13).

    .. math:: \sum_{u,i} W_{ui} (R_{ui} - p_u \cdot q_i)^2 + \sum_u \rho_u |p_u|^2
              + \sum_i \rho_i |q_i|^2

    p_u and q_i are the factors of user u and item i. R is the value of an observed pair, and 0 for
    any other pair. The weight W is ``observed`` for an observed pair, otherwise ``missing``. The
    ridge ρ is λ = ``ridge``. With ``per_pair``, ρ is λ times the sum of the weights W of the user
    or item, because in Steck's loss λ applies to every pair (eq. 15 and 19).
    """

    observed: float
    missing: float
    ridge: float
    per_pair: bool

    def ridges(self, observed: Any, columns: int) -> Floats:
        """Return the ridge ρ of each row (user, or item) of a matrix with ``columns`` columns.

        ``observed`` is the number of observed pairs of each row.
        """
        weight = self.missing * columns + (self.observed - self.missing) * observed
        return self.ridge * (weight if self.per_pair else np.ones(len(observed)))


def _blocks(lengths: Any, d: int) -> Iterator[Any]:
    """Yield the indices of rows with similar numbers of observed pairs, a block at a time.

    ``lengths`` holds these numbers, and ``d`` is the length of the factors. Blocks of similar rows
    need little padding. Empty rows are left out.
    """
    order = np.argsort(lengths, kind="stable")
    order = order[lengths[order] > 0]
    while len(order):
        size = 1
        while size < len(order):  # double the number of rows until the block would exceed BLOCK
            more = min(2 * size, len(order))
            if more * d * max(d, lengths[order[more - 1]]) > BLOCK:
                break
            size = more
        yield order[:size]
        order = order[size:]


def half_step(rows: Any, fixed: Scores, loss: WeightedLoss) -> Part[tuple[Scores, float]]:
    r"""Minimise the loss over the factors of one side; the other side is fixed (Steck, eq. 15-19).

    Parameters
    ----------
    rows
        Observed values, CSR (n, m): users × items or items × users.
    fixed
        Fixed factors (m, d) of the columns. Their floating-point type is that of the solution.
    loss
        The loss to minimise.

    Yields
    ------
    The progress, every few hundredths of a second.

    Returns
    -------
    Factors (n, d) of the rows, and the minimum of the loss without the ridge term of ``fixed``:
    :math:`\sum W R^2 - \sum_u b_u \cdot p_u`, where W are the weights, R the observed values, p_u
    the solution for row u, and b_u the right-hand side of its linear equations. A row without
    observations has the factors 0, even if weights of 0 make its equations singular.
    """
    (n, m), d, kind = rows.shape, fixed.shape[1], fixed.dtype
    lengths = np.diff(rows.indptr)
    ridges = loss.ridges(lengths, m).astype(kind)
    everywhere = loss.missing * (fixed.T @ fixed)
    # The rows of a block are padded to the same number of columns with the column index m, whose
    # factors are all 0.
    padded = np.vstack([fixed, np.zeros((1, d), kind)])
    solved = np.zeros((n, d), kind)
    value = loss.observed * float(np.square(rows.data, dtype=np.float64).sum())
    # Calling LAPACK's solver for each row is faster than NumPy's solver for a whole block.
    (solve,), done = get_lapack_funcs(("posv",), (fixed,)), 0
    for block in _blocks(lengths, d):
        place = np.arange(lengths[block[-1]])
        filled = place < lengths[block, None]
        at = np.minimum(rows.indptr[block, None] + place, rows.nnz - 1)
        factors = padded.take(np.where(filled, rows.indices[at], m), axis=0)
        values = rows.data[at].astype(kind)  # padded values have no effect: their factors are 0
        system = factors.transpose(0, 2, 1) @ factors
        system *= loss.observed - loss.missing
        system += everywhere
        system[:, np.arange(d), np.arange(d)] += ridges[block, None]
        right = loss.observed * (values[:, None] @ factors)[:, 0]
        for row, a, b in zip(block, system, right, strict=True):
            _, solved[row], failed = solve(a, b)
            if failed:
                raise ValueError(f"reg = {loss.ridge:g} is too small to solve for: give a larger")
        value -= float(np.vdot(right.astype(np.float64), solved[block]))
        done += int(lengths[block].sum())
        yield TrainingProgress(done / rows.nnz)
    return solved, value


def weighted_als(
    values: Any,
    loss: WeightedLoss,
    *,
    d: int,
    sweeps: int,
    seed: int,
    start: Factors | None = None,
    dtype: Any = np.float32,
) -> Part[Factors]:
    """Minimise the loss by alternating least squares, between the factors of users and of items.

    Parameters
    ----------
    values
        Observed values, CSR of users × items.
    loss
        The loss to minimise. It does not increase in any :func:`half_step`.
    d
        Length of the factors.
    sweeps
        How often the factors of both users and items are computed.
    seed
        Seed of the random initial factors of items.
    start
        Model whose item factors are the initial factors. If None, these are random.
    dtype
        Precision of the factors.
    """
    sides, steps = (values, values.T.tocsr()), 2 * sweeps
    first = np.random.default_rng(seed).normal(0, INITIAL, (values.shape[1], d))
    factors: list[Any] = [None, (first if start is None else start.items).astype(dtype)]
    value = None
    for step in range(steps):
        side, other = step % 2, 1 - step % 2
        fixed = factors[other]
        part = half_step(sides[side], fixed, loss)
        factors[side], least = yield from within(part, step / steps, (step + 1) / steps, value)
        ridges = loss.ridges(np.diff(sides[other].indptr), sides[side].shape[0])
        value = least + float(ridges @ np.square(fixed, dtype=np.float64).sum(axis=1))
    yield TrainingProgress(1.0, value)
    return Factors(*factors)


def _product(matrix: Any, dense: Scores) -> Part[Scores]:
    """Return the product of a sparse matrix (CSR) and a dense matrix, computed block by block."""
    product = np.zeros((matrix.shape[0], dense.shape[1]), dense.dtype)
    parts = 1 + matrix.nnz * dense.shape[1] // (16 * BLOCK)
    cuts = np.searchsorted(matrix.indptr, np.linspace(0, matrix.nnz, parts + 1)).tolist()
    for part, (start, stop) in enumerate(itertools.pairwise(cuts), start=1):
        product[start:stop] = matrix[start:stop] @ dense
        yield TrainingProgress(part / parts)
    return product


def dense_svd(values: Any, *, ridge: float, d: int, seed: int) -> Part[Factors]:
    r"""Return the factors that minimise the loss if every pair has weight 1, from an SVD.

    The loss of the factors p_u of user u and q_i of item i is
    :math:`\sum_{u,i} \{(R_{ui} - p_u \cdot q_i)^2 + \lambda (|p_u|^2 + |q_i|^2)\}` over U users and
    N items. R is ``values`` (0 for unobserved pairs), and λ is ``ridge``. The product of the
    optimal factors has the singular vectors of R, but the singular values σ are lowered to
    :math:`\max(0, \sigma - \lambda \sqrt{U N})`.

    Notes
    -----
    A randomised range finder with 20 extra columns and 4 power steps (Halko, Martinsson & Tropp,
    SIAM Review 2011) finds the d largest singular values. It is used in place of SciPy's ``svds``,
    because it can be interrupted.
    """
    n_users, n_items = values.shape
    sides, steps = (values, values.T.tocsr()), 10
    width = min(d + 20, n_users, n_items)
    basis = np.random.default_rng(seed).standard_normal((n_items, width)).astype(np.float32)
    for step in range(steps):
        if step:
            basis = np.linalg.qr(basis)[0]
        left, part = basis, _product(sides[step % 2], basis)
        basis = yield from within(part, step / steps, (step + 1) / steps)
    # Let R = ``values``, Q = ``left`` and ``basis`` = Rᵀ Q. If the SVD of ``basis`` is V Σ W, the
    # SVD of R is approximately (Q Wᵀ) Σ Vᵀ. V is ``right`` and W is ``turn``.
    right, sigma, turn = np.linalg.svd(basis, full_matrices=False)
    lowered = np.maximum(sigma[:d].astype(np.float64) - ridge * np.sqrt(n_users * n_items), 0)
    total = float(np.square(values.data, dtype=np.float64).sum())
    yield TrainingProgress(1.0, total - float(lowered @ lowered))
    balance = (n_users / n_items) ** 0.25  # makes the ridge terms of users and items equal
    root = np.sqrt(lowered)
    users = (left @ turn.T)[:, :d] * (root * balance)
    return Factors(users.astype(np.float32), (right[:, :d] * (root / balance)).astype(np.float32))


@dataclass(frozen=True)
class LogisticLoss:
    r"""Negative log likelihood over all pairs, with a ridge (Steck, eq. 10).

    .. math:: \sum_{u,i} W_{ui} \{\log(1 + e^{z_{ui}}) - Y_{ui} z_{ui}
              + \tfrac{\lambda}{2} (|p_u|^2 + |q_i|^2)\}, \qquad z_{ui} = p_u \cdot q_i

    Y and W are 1 for a pair in ``relevant`` (CSR, users × items); for other pairs Y is 0 and W is
    ``missing``. λ is ``ridge``; the printed equation omits λ.
    """

    relevant: Any
    missing: float
    ridge: float

    def split(self, parameters: Scores) -> tuple[Scores, Scores]:
        """Return the factors of users and of items, as views of the vector of all parameters."""
        n_users, n_items = self.relevant.shape
        rows = parameters.reshape(n_users + n_items, -1)
        return rows[:n_users], rows[n_users:]

    def value_and_gradient(self, parameters: Scores) -> Part[tuple[float, Scores]]:
        """Return the loss and its gradient, which has the shape and type of ``parameters``."""
        n_users, n_items = self.relevant.shape
        gradient = np.zeros_like(parameters)
        (users, items), (by_user, by_item) = self.split(parameters), self.split(gradient)
        value = 0.0
        for block in blocks(n_users, BLOCK, n_items):
            relevant = self.relevant[block].tocoo().coords
            z = users[block] @ items.T
            small = np.exp(-np.abs(z))
            whole = small + 1
            softplus = np.log(whole)  # np.log1p(small) would be slower: it is not vectorised
            softplus += np.maximum(z, 0)
            slope = np.where(z < 0, small, 1)
            slope /= whole  # slope is now the predicted probability that a pair is relevant
            relevant_loss = (1 - self.missing) * softplus[relevant] - z[relevant]
            value += self.missing * float(softplus.sum(axis=1).sum(dtype=np.float64))
            value += float(relevant_loss.sum(dtype=np.float64))
            rest = slope[relevant] - 1
            slope *= self.missing
            slope[relevant] = rest
            by_user[block] = slope @ items
            by_item += slope.T @ users[block]
            yield TrainingProgress(block.stop / n_users)
        ridge = WeightedLoss(1.0, self.missing, self.ridge, per_pair=True)
        sides = (users, by_user, n_items), (items, by_item, n_users)
        for axis, (factors, slopes, others) in enumerate(sides):
            observed = self.relevant.sum(axis=1 - axis)
            shrink = ridge.ridges(observed, others).astype(factors.dtype)[:, None] * factors
            slopes += shrink
            value += float(np.vdot(shrink, factors)) / 2
        return value, gradient


def least_by_gradient(
    evaluate: Callable[[Scores], Part[tuple[float, Scores]]], start: Scores, *, steps: int
) -> Part[Scores]:
    """Minimise a loss by L-BFGS with ten stored steps, from ``start``.

    ``evaluate`` returns the loss and its gradient. A step is halved until the loss decreases
    enough.
    """
    x, pairs = start, deque[tuple[Scores, Scores]](maxlen=10)
    value, gradient = yield from within(evaluate(x), 0.0, 1 / (steps + 1))
    for step in range(1, steps + 1):
        direction = -_times_inverse(pairs, gradient)
        if not pairs:  # no step is stored: try a step of 0.1 times the length of the vector x
            direction *= 0.1 * np.linalg.norm(x) / np.linalg.norm(gradient)
        slope, low, high = float(direction @ gradient), step / (steps + 1), (step + 1) / (steps + 1)
        while True:
            trial = yield from within(evaluate(x + direction), low, high, value)
            if trial[0] <= value + 1e-4 * slope:
                break
            if -slope <= 1e-9 * abs(value):  # a further decrease would be a rounding error: stop
                return x
            direction, slope, low = direction / 2, slope / 2, high
        change = trial[1] - gradient
        if float(change @ direction) > 0:
            pairs.append((direction, change))
        x, (value, gradient) = x + direction, trial
    yield TrainingProgress(1.0, value)
    return x


def _times_inverse(pairs: Sequence[tuple[Scores, Scores]], gradient: Scores) -> Scores:
    """Return the gradient times the inverse Hessian that L-BFGS estimates from stored steps.

    Each of ``pairs`` holds a step and the change of the gradient in this step.
    """
    product, weights = gradient.copy(), []
    for step, change in reversed(pairs):
        weights.append((step @ product) / (step @ change))
        product -= weights[-1] * change
    if pairs:
        step, change = pairs[-1]
        product *= (step @ change) / (change @ change)
    for (step, change), weight in zip(pairs, reversed(weights), strict=True):
        product += (weight - (change @ product) / (step @ change)) * step
    return product


def logistic(
    relevant: Any, *, missing: float, ridge: float, d: int, steps: int, seed: int
) -> Part[Factors]:
    """Minimise :class:`LogisticLoss`, starting from two iterations of weighted ALS."""
    loss = LogisticLoss(relevant, missing, ridge)
    squares = WeightedLoss(1.0, missing, ridge, per_pair=True)
    first = yield from within(weighted_als(relevant, squares, d=d, sweeps=2, seed=seed), 0.0, 0.1)
    start = np.concatenate([first.users.ravel(), first.items.ravel()])
    work = least_by_gradient(loss.value_and_gradient, start, steps=steps)
    return Factors(*loss.split((yield from within(work, 0.1, 1.0))))
