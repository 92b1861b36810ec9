"""Factorisations against dense matrices: one solve a row, the full loss, the SVD, differences."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from sampledash.lab import factors
from sampledash.lab.factors import LogisticLoss, WeightedLoss, dense_svd, logistic, weighted_als
from sampledash.lab.models import TrainingProgress, finish

LOSSES = [
    WeightedLoss(1.2, 0.2, 3.0, per_pair=False),  # iALS
    WeightedLoss(1.0, 0.05, 0.05, per_pair=True),  # AllRank
    WeightedLoss(1.0, 0.0, 0.06, per_pair=True),  # observed ratings only
    WeightedLoss(1.0, 1.0, 0.03, per_pair=True),  # dense SVD
]


def ratings(seed=0, shape=(23, 17), share=0.3, dtype=np.float64):
    """Values with zeros among the observed ones, a user and an item without any; and where."""
    rng = np.random.default_rng(seed)
    seen = rng.random(shape) < share
    seen[4], seen[:, 7], seen[2, :6] = False, False, True
    dense = np.where(seen, rng.integers(-1, 4, shape), 0).astype(dtype)
    rows, columns = np.nonzero(seen)
    sparse = csr_array((dense[seen], (rows, columns)), shape=shape)
    assert np.any(sparse.data == 0)
    return sparse, dense, seen


def run_through(work):
    """What is yielded, and what is returned."""
    told = []
    while True:
        try:
            told.append(next(work))
        except StopIteration as end:
            return told, end.value


def full_loss(dense, seen, users, items, loss):
    """Steck's eq. 13 pair by pair, or with one λ for each row."""
    weight = np.where(seen, loss.observed, loss.missing)
    norms = np.sum(users**2, axis=1)[:, None] + np.sum(items**2, axis=1)
    squares = np.sum(weight * (dense - users @ items.T) ** 2)
    whole = np.sum(users**2) + np.sum(items**2)
    return squares + loss.ridge * (np.sum(weight * norms) if loss.per_pair else whole)


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("block", [factors.BLOCK, 60])
def test_a_half_step_is_a_dense_solve(loss, block, monkeypatch):
    monkeypatch.setattr(factors, "BLOCK", block)
    sparse, dense, seen = ratings()
    fixed = np.random.default_rng(1).normal(size=(17, 5))
    found, value = finish(factors.half_step(sparse, fixed, loss))
    weight = np.where(seen, loss.observed, loss.missing)
    exact = np.zeros_like(found)
    for u in range(len(dense)):
        ridge = loss.ridge * (weight[u].sum() if loss.per_pair else 1)
        if ridge:
            system = fixed.T @ np.diag(weight[u]) @ fixed + ridge * np.eye(5)
            exact[u] = np.linalg.solve(system, fixed.T @ (weight[u] * dense[u]))
    assert found == pytest.approx(exact, abs=1e-10)
    columns = weight.sum(axis=0) if loss.per_pair else np.ones(17)
    own = loss.ridge * float(columns @ np.sum(fixed**2, axis=1))
    assert value + own == pytest.approx(full_loss(dense, seen, found, fixed, loss), rel=1e-12)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_loss_never_rises(loss):
    sparse, dense, seen = ratings(2)
    told, model = run_through(weighted_als(sparse, loss, d=3, sweeps=15, dtype=np.float64))
    shares, losses = [p.share for p in told], [p.loss for p in told if p.loss is not None]
    assert shares == sorted(shares)
    assert shares[-1] == 1
    assert np.all(np.diff(losses) <= 1e-12 * losses[0])
    assert losses[-1] == pytest.approx(full_loss(dense, seen, model.users, model.items, loss))
    again = finish(weighted_als(sparse, loss, d=3, sweeps=1, start=model, dtype=np.float64))
    assert again.users == pytest.approx(model.users, abs=0.2)  # goes on from there


def test_dense_svd_is_the_soft_thresholded_svd():
    sparse, dense, seen = ratings(3, (60, 40), dtype=np.float32)
    loss = LOSSES[3]
    u, sigma, v = np.linalg.svd(dense.astype(np.float64), full_matrices=False)
    lowered = np.maximum(sigma - loss.ridge * np.sqrt(60 * 40), 0)
    assert 3 < np.count_nonzero(lowered) < 40
    for d in (3, 40):
        told, model = run_through(dense_svd(sparse, ridge=loss.ridge, d=d))
        exact = u[:, :d] * lowered[:d] @ v[:d]
        assert model.scores(10, 30) == pytest.approx(exact[10:30], abs=2e-4 if d == 40 else 0.02)
        least = full_loss(dense, seen, model.users, model.items, loss)
        assert told[-1].loss == pytest.approx(least, rel=1e-5)
        assert [p.share for p in told] == sorted(p.share for p in told)
    # What alternating least squares comes to, and no less.
    slow = finish(weighted_als(sparse, loss, d=40, sweeps=60, dtype=np.float64))
    assert full_loss(dense, seen, slow.users, slow.items, loss) == pytest.approx(least, rel=1e-4)


@pytest.mark.parametrize("block", [factors.BLOCK, 40])
def test_the_logistic_loss_and_its_gradient(block, monkeypatch):
    monkeypatch.setattr(factors, "BLOCK", block)
    _, _, seen = ratings(4)
    loss = LogisticLoss(csr_array(seen.astype(np.float64)), 0.3, 0.07)
    at = np.random.default_rng(5).normal(0, 2, (23 + 17) * 3)

    def by_definition(x):
        users, items = x[: 23 * 3].reshape(23, 3), x[23 * 3 :].reshape(17, 3)
        z, weight = users @ items.T, np.where(seen, 1, 0.3)
        norms = np.sum(users**2, axis=1)[:, None] + np.sum(items**2, axis=1)
        return float(np.sum(weight * (np.log1p(np.exp(z)) - seen * z + 0.07 / 2 * norms)))

    value, gradient = finish(loss.value_and_gradient(at))
    assert value == pytest.approx(by_definition(at), rel=1e-12)
    step = 1e-5 * np.eye(len(at))
    differences = [(by_definition(at + h) - by_definition(at - h)) / 2e-5 for h in step]
    assert gradient == pytest.approx(np.array(differences), abs=1e-6)


def test_l_bfgs_finds_the_minimum_of_a_quadratic():
    rng = np.random.default_rng(6)
    root = rng.normal(size=(30, 12))
    matrix, right = root.T @ root + np.eye(12), rng.normal(size=12)

    def evaluate(x):
        yield TrainingProgress(1.0)
        return float(x @ matrix @ x / 2 - right @ x), matrix @ x - right

    found = finish(factors.least_by_gradient(evaluate, rng.normal(size=12), steps=100))
    assert found == pytest.approx(np.linalg.solve(matrix, right), abs=1e-3)


def test_logistic_factors_lower_the_loss_at_each_step():
    _, _, seen = ratings(7, (60, 40))
    relevant = csr_array(seen.astype(np.float32))
    told, model = run_through(logistic(relevant, missing=0.2, ridge=0.01, d=3, steps=60))
    losses = [p.loss for p in told if p.loss is not None and p.share > 0.1]
    assert np.all(np.diff(losses) <= 0)
    loss = LogisticLoss(relevant, 0.2, 0.01)
    x = np.concatenate([model.users.ravel(), model.items.ravel()])
    gradient = finish(loss.value_and_gradient(x))[1]
    start = finish(loss.value_and_gradient(0.1 * np.ones_like(x)))[1]
    assert np.linalg.norm(gradient) < 0.02 * np.linalg.norm(start)
