"""Item-based recommenders against explicit loops and closed forms."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from sampledash.lab import neighbours
from sampledash.lab.models import finish
from sampledash.lab.neighbours import ease, item_cosine
from tests.lab.test_factors import run_through
from tests.readers.reading import refused


def histories(seed=0, shape=(31, 14)):
    """Who took what, few enough that many neighbours are equally near; one item nobody took."""
    seen = np.random.default_rng(seed).random(shape) < 0.25
    seen[:, 5] = False
    return csr_array(3.0 * seen), seen


def by_loops(seen, q, k):
    """Eq. 27-30 as matched: no denominator; with k neighbours an item is not its own."""
    n, users = seen.shape[1], [set(np.flatnonzero(column)) for column in seen.T]
    s = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if both := len(users[i] & users[j]):
                s[i, j] = (both / (len(users[i]) * len(users[j])) ** 0.5) ** q
    if k is not None:
        for j in range(n):
            # The first item wins where two are equally near.
            near = [-Fraction(len(own & users[j]) ** 2, max(1, len(own))) for own in users]
            order = sorted((i for i in range(n) if i != j), key=near.__getitem__)
            s[[j, *order[k:]], j] = 0
    length = np.sqrt(np.sum(s**2, axis=1))
    s /= np.where(length > 0, length, 1)[:, None]
    return np.array([[sum(s[i, j] for j in np.flatnonzero(row)) for i in range(n)] for row in seen])


@pytest.mark.parametrize(("q", "k"), [(1, None), (3, None), (1, 2), (2, 5), (1, 99)])
@pytest.mark.parametrize("blocks", ["one", "many"])
def test_item_cosine_is_the_loops(q, k, blocks, monkeypatch):
    if blocks == "many":  # and sparse where all neighbours vote
        monkeypatch.setattr(neighbours, "BLOCK", 30)
        monkeypatch.setattr(neighbours, "LARGEST", 4 * 14 * 14 * 8 - 1)
    for seed in range(3):
        history, seen = histories(seed)
        model = finish(item_cosine(history, q=q, k=np.inf if k is None else k))
        scores = np.vstack([model.scores(0, 10), model.scores(10, 31)])
        exact = by_loops(seen, q, k)
        tolerance = 1e-12 if blocks == "one" or k else 1e-6
        assert scores == pytest.approx(exact, abs=tolerance)


@pytest.mark.parametrize("stripe", [1024, 5])
def test_ease_is_its_closed_form(stripe, monkeypatch):
    monkeypatch.setattr(neighbours, "STRIPE", stripe)
    # A small ridge: inverted in single precision, scores would be off by 9e-5.
    history, seen = histories(4, (300, 290))
    x = seen.astype(np.float64)
    inverse = np.linalg.inv(x.T @ x + 0.05 * np.eye(290))
    weights = -inverse / np.diag(inverse)
    np.fill_diagonal(weights, 0)
    told, model = run_through(ease(history, ridge=0.05))
    shares = [progress.share for progress in told]
    assert shares == sorted(shares)
    assert model.scores(7, 60) == pytest.approx((x @ weights)[7:60], abs=5e-6)


def test_weights_that_do_not_fit_are_refused(monkeypatch):
    monkeypatch.setattr(neighbours, "LARGEST", 100)
    history, _ = histories()
    wide = item_cosine(history, q=1, k=np.inf)
    refused(lambda: finish(wide), "14 items … MiB … k=100 … more interactions", ValueError)
    said = refused(lambda: finish(ease(history, ridge=1)), "14 items … MiB", ValueError)
    assert "k=" not in said
