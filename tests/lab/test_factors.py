"""Matrix factorisations agree with dense solutions, losses over all pairs, and NumPy's SVD."""

import numpy as np
import pytest
from scipy import optimize
from scipy.sparse import csr_array

from sampledash.lab import factors
from sampledash.lab.factors import LogisticLoss, WeightedLoss, dense_svd, logistic, weighted_als
from sampledash.lab.models import TrainingProgress, finish
from tests.readers.reading import refused

LOSSES = [
    WeightedLoss(1.2, 0.2, 3.0, per_pair=False),  # iALS
    WeightedLoss(1.0, 0.05, 0.05, per_pair=True),  # Steck's AllRank-Regression
    WeightedLoss(1.0, 0.0, 0.06, per_pair=True),  # observed ratings only
    WeightedLoss(1.0, 1.0, 0.03, per_pair=True),  # dense SVD
]


def ratings(seed=0, shape=(23, 17), share=0.3, dtype=np.float64):
    """Return random ratings, sparse and dense, and the mask of rated pairs; some ratings are 0."""
    rng = np.random.default_rng(seed)
    seen = rng.random(shape) < share
    seen[4], seen[:, 7], seen[2, :6] = False, False, True
    dense = np.where(seen, rng.integers(-1, 4, shape), 0).astype(dtype)
    rows, columns = np.nonzero(seen)
    sparse = csr_array((dense[seen], (rows, columns)), shape=shape)
    assert np.any(sparse.data == 0)
    return sparse, dense, seen


def run_through(work):
    """Run a generator; return its progress steps, whose shares must rise to 1, and its result."""
    steps = []
    while True:
        try:
            steps.append(next(work))
        except StopIteration as end:
            shares = [step.share for step in steps]
            assert 0 < shares[0] <= shares[-1] == pytest.approx(1, abs=1e-15)
            assert shares == sorted(shares)
            return steps, end.value


def dense_half_step(dense, seen, fixed, loss):
    solved = np.zeros((len(dense), fixed.shape[1]))
    weight = np.where(seen, loss.observed, loss.missing)
    for u in np.flatnonzero(seen.any(axis=1)):
        ridge = loss.ridge * (weight[u].sum() if loss.per_pair else 1)
        system = fixed.T @ np.diag(weight[u]) @ fixed + ridge * np.eye(fixed.shape[1])
        solved[u] = np.linalg.solve(system, fixed.T @ (weight[u] * dense[u]))
    return solved


def dense_als(dense, seen, loss, items, sweeps):
    """Alternate dense solves; return the factors of users and items, and the loss of each solve."""
    losses = []
    for _ in range(sweeps):
        users = dense_half_step(dense, seen, items, loss)
        losses.append(full_loss(dense, seen, users, items, loss))
        items = dense_half_step(dense.T, seen.T, users, loss)
        losses.append(full_loss(dense, seen, users, items, loss))
    return users, items, losses


def full_loss(dense, seen, users, items, loss):
    """Return the loss of eq. 13 (Steck 2010); if not ``per_pair``, each norm counts once."""
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
    _, (users, value) = run_through(factors.half_step(sparse, fixed, loss))
    assert users == pytest.approx(dense_half_step(dense, seen, fixed, loss), abs=1e-10)
    columns = np.where(seen, loss.observed, loss.missing).sum(axis=0)
    ridges = loss.ridge * (columns if loss.per_pair else np.ones(17)) @ np.sum(fixed**2, axis=1)
    assert value + ridges == pytest.approx(full_loss(dense, seen, users, fixed, loss), rel=1e-12)
    # If all factors are 0, the loss is a sum of squares that single precision cannot represent.
    sparse.data[:] = 4097
    _, (_, value) = run_through(factors.half_step(sparse.astype(np.float32), 0 * fixed, LOSSES[0]))
    assert value == pytest.approx(1.2 * sparse.nnz * 4097**2, rel=1e-12)
    lost = WeightedLoss(1, 0, 1e-30, per_pair=False)
    alike = np.ones((17, 5))
    refused(lambda: finish(factors.half_step(sparse, alike, lost)), "reg = 1e-30 is", ValueError)


@pytest.mark.parametrize("block", [1, 60, 100, 10**9])
def test_rows_of_like_length_are_solved_together_as_many_as_fit(block, monkeypatch):
    lengths = np.random.default_rng(2).integers(0, 9, 100)
    assert {len(rows) for rows in factors._blocks(np.ones(2**15, int), 8)} == {2**13}
    monkeypatch.setattr(factors, "BLOCK", block)
    order = sorted(np.flatnonzero(lengths), key=lengths.__getitem__)
    for rows in factors._blocks(lengths, 4):
        sizes = [2**x for x in range(8) if 2**x < len(order)] + [len(order)]
        numbers = [size * 4 * max(4, lengths[order[size - 1]]) for size in sizes]
        fits = [size for size, many in zip(sizes, numbers, strict=True) if many <= block]
        assert rows.tolist() == order[: max(fits, default=1)]
        order = order[len(rows) :]
    assert not order


@pytest.mark.parametrize("loss", LOSSES)
def test_sweeps_are_dense_solves_of_users_then_items(loss):
    sparse, dense, seen = ratings(2)
    items = np.random.default_rng(6).normal(0, 0.1, (17, 3))
    users, items, losses = dense_als(dense, seen, loss, items, 4)
    options = {"d": 3, "sweeps": 4, "seed": 6, "dtype": np.float64}
    steps, model = run_through(weighted_als(sparse, loss, **options))
    assert [step.share for step in steps] == [*np.arange(1, 9) / 8, 1]
    assert [step.loss for step in steps] == [None, *map(pytest.approx, [*losses[:7], losses[7]])]
    assert model.users == pytest.approx(users, rel=1e-6, abs=1e-9)
    assert model.items == pytest.approx(items, rel=1e-6, abs=1e-9)
    *_, losses = dense_als(dense, seen, loss, items, 4)
    steps, _ = run_through(weighted_als(sparse, loss, start=model, **options))
    assert [step.loss for step in steps[1:]] == pytest.approx(losses)
    single = finish(weighted_als(sparse, loss, d=3, sweeps=1, seed=0))
    assert {single.users.dtype, single.items.dtype} == {np.dtype(np.float32)}


@pytest.mark.parametrize(("shape", "block"), [((60, 40), factors.BLOCK), ((40, 60), 200)])
def test_dense_svd_is_the_soft_thresholded_svd(shape, block, monkeypatch):
    monkeypatch.setattr(factors, "BLOCK", block)  # matrix products in one or several parts
    sparse, dense, seen = ratings(3, shape, dtype=np.float32)
    loss = LOSSES[3]
    u, sigma, v = np.linalg.svd(dense.astype(np.float64), full_matrices=False)
    lowered = np.maximum(sigma - loss.ridge * np.sqrt(60 * 40), 0)
    assert 3 < np.count_nonzero(lowered) < 40
    for d in (3, 40):
        steps, model = run_through(dense_svd(sparse, ridge=loss.ridge, d=d, seed=1))
        exact = u[:, :d] * lowered[:d] @ v[:d]
        assert model.scores(10, 30) == pytest.approx(exact[10:30], abs=2e-4 if d == 40 else 0.02)
        least = full_loss(dense, seen, model.users, model.items, loss)
        assert steps[-1].loss == pytest.approx(least, rel=1e-5)
        assert {round(step.share, 9) for step in steps} >= {step / 10 for step in range(1, 11)}
        assert (len(steps) == 11) == (block > 200)
        assert {model.users.dtype, model.items.dtype} == {np.dtype(np.float32)}
        other = finish(dense_svd(sparse, ridge=loss.ridge, d=d, seed=0))
        assert np.any(other.users != model.users)
    # Alternating least squares converges to the loss of the thresholded SVD.
    slow = finish(weighted_als(sparse, loss, d=40, sweeps=60, seed=0, dtype=np.float64))
    assert full_loss(dense, seen, slow.users, slow.items, loss) == pytest.approx(least, rel=1e-4)


@pytest.mark.parametrize(("block", "parts"), [(1, 124), (20, 7), (10**6, 1)])
def test_a_product_is_worked_out_in_parts(block, parts, monkeypatch):
    monkeypatch.setattr(factors, "BLOCK", block)
    sparse = ratings(3)[0]
    sparse = csr_array(np.vstack([sparse.toarray(), np.zeros((2, 17))]))
    right = np.random.default_rng(0).normal(size=(17, 25))
    steps, product = run_through(factors._product(sparse, right))
    assert product == pytest.approx(sparse.toarray() @ right)
    assert [step.share for step in steps] == pytest.approx(np.arange(1, parts + 1) / parts)


@pytest.mark.parametrize("block", [factors.BLOCK, 40, 1])
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

    steps, (value, gradient) = run_through(loss.value_and_gradient(at))
    ends = {factors.BLOCK: [23], 40: [*range(2, 24, 2), 23], 1: range(1, 24)}[block]
    assert [step.share for step in steps] == pytest.approx(np.array(ends) / 23)
    assert value == pytest.approx(by_definition(at), rel=1e-12)
    step = 1e-5 * np.eye(len(at))
    differences = [(by_definition(at + h) - by_definition(at - h)) / 2e-5 for h in step]
    assert gradient == pytest.approx(np.array(differences), abs=1e-6)


def by_dense_matrices(evaluate, x, steps):
    """Run L-BFGS with dense matrices; return the progress reports (share, loss) and the last x."""
    (value, gradient), pairs, eye = evaluate(x), [], np.eye(len(x))
    reports = [(share / (steps + 1), None) for share in (0.5, 1)]
    for step in range(1, steps + 1):
        inverse = 0.1 * np.linalg.norm(x) / np.linalg.norm(gradient) * eye
        for number, (moved, change) in enumerate(pairs[-10:]):
            if not number:
                last, turn = pairs[-1]
                inverse = (last @ turn) / (turn @ turn) * eye
            project = eye - np.outer(change, moved) / (moved @ change)
            inverse = project.T @ inverse @ project + np.outer(moved, moved) / (moved @ change)
        move, first = -inverse @ gradient, 0.5
        while True:
            reports += [((step + share) / (steps + 1), value) for share in (first, 1)]
            trial = evaluate(x + move)
            if trial[0] <= value + 1e-4 * (move @ gradient):
                break
            move, first = move / 2, 1
        if (trial[1] - gradient) @ move > 0:
            pairs.append((move, trial[1] - gradient))
        x, (value, gradient) = x + move, trial
    return [*reports, (1, value)], x


def test_l_bfgs_is_that_of_dense_matrices():
    def evaluate(x):
        for share in (0.5, 1.0):
            yield TrainingProgress(share)
        return optimize.rosen(x) + 1, optimize.rosen_der(x)

    start = np.random.default_rng(6).normal(0, 2, 12)
    for steps in (1, 2, 30):
        reports, x = by_dense_matrices(lambda x: finish(evaluate(x)), start, steps)
        yielded, end = run_through(factors.least_by_gradient(evaluate, start, steps=steps))
        assert end == pytest.approx(x, rel=1e-5)
        shares, losses = zip(*reports, strict=True)
        assert [step.share for step in yielded] == pytest.approx(shares)
        assert [step.loss for step in yielded[2:]] == pytest.approx(losses[2:])
        assert yielded[0].loss is yielded[1].loss is None
    end = finish(factors.least_by_gradient(evaluate, start, steps=1000))  # stops at the minimum
    assert end == pytest.approx(np.ones(12), abs=1e-3)


def test_logistic_factors_begin_with_two_sweeps_of_least_squares():
    _, _, seen = ratings(7, (60, 40))
    relevant, loss = csr_array(seen.astype(np.float32)), WeightedLoss(1.0, 0.2, 0.01, True)
    first = np.random.default_rng(3).normal(0, 0.1, (40, 3))
    users, items, losses = dense_als(1.0 * seen, seen, loss, first, 2)
    whole = LogisticLoss(relevant, 0.2, 0.01)
    start = np.concatenate([users.ravel(), items.ravel()])
    reports, x = by_dense_matrices(lambda x: finish(whole.value_and_gradient(x)), start, 4)
    steps, model = run_through(logistic(relevant, missing=0.2, ridge=0.01, d=3, steps=4, seed=3))
    assert [step.loss for step in steps[1:5]] == pytest.approx(losses, rel=1e-5)
    assert [step.share for step in steps[:5]] == pytest.approx([0.025, 0.05, 0.075, 0.1, 0.1])
    assert steps[5].share == pytest.approx(0.1 + 0.9 / 5)
    assert steps[-1].loss == pytest.approx(reports[-1][1], rel=1e-4)
    assert model.users.ravel() == pytest.approx(x[:180], abs=1e-3)
    assert model.items.ravel() == pytest.approx(x[180:], abs=1e-3)
