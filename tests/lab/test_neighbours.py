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
    seen = np.random.default_rng(seed).random(shape) < (0.1 if seed % 2 else 0.25)
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


def test_items_taken_together_are_counted_by_as_many_rows_as_fit(monkeypatch):
    # 4,096 items: 512 rows of counts hold as many numbers as fit; four users who took all of them
    # make 2^14 pairs of interactions of each item.
    for users, many in ((1, 512), (4, 255)):
        assert next(neighbours.cooccurrence(csr_array(np.ones((users, 4096)))))[0].stop == many
    for pairs, block in [(2**22, 2**21), (1, 2**21), (60, 2**21), (10**6, 14 * 3), (10**6, 5)]:
        monkeypatch.setattr(neighbours, "PAIRS", pairs)
        monkeypatch.setattr(neighbours, "BLOCK", block)
        seen = histories()[1].astype(int)
        work, begin = seen.T @ seen.sum(axis=1), 0
        for rows, counts, share in neighbours.cooccurrence(csr_array(1.0 * seen)):
            ends = range(begin + 2, min(14, begin + block // 14) + 1)
            fits = [end for end in ends if work[begin:end].sum() < pairs]
            assert rows == slice(begin, max(fits, default=begin + 1))
            assert counts.toarray().tolist() == (seen.T @ seen)[rows].tolist()
            assert share == rows.stop / 14
            begin = rows.stop
        assert begin == 14


@pytest.mark.parametrize(("q", "k"), [(1, None), (3, None), (1, 2), (2, 5), (1, 99)])
@pytest.mark.parametrize("largest", [2**30, 32 * 14**2, 32 * 14**2 - 1])
def test_item_cosine_is_the_loops(q, k, largest, monkeypatch):
    monkeypatch.setattr(neighbours, "LARGEST", largest)
    if largest < 2**30:
        monkeypatch.setattr(neighbours, "BLOCK", 30)
        monkeypatch.setattr(neighbours, "WIDTH", 5)
    dense = k is None and largest >= 32 * 14**2
    for seed in range(4):
        history, seen = histories(seed)
        work = item_cosine(history, q=q, k=np.inf if k is None else k)
        steps, model = run_through(work)
        shares = np.arange(2, 15, 2) / 14 if largest < 2**30 else [1]
        assert [step.share for step in steps] == pytest.approx(np.array(shares))
        scores = np.vstack([model.scores(0, 10), model.scores(10, 31)])
        exact = by_loops(seen, q, k)
        assert scores == pytest.approx(exact, abs=1e-12 if dense or k else 1e-6)
        assert [isinstance(x, np.ndarray) for x in model.blocks[:1]] == [dense]
        assert len(model.blocks) == (3 if dense and largest < 2**30 else 1)


@pytest.mark.parametrize(("stripe", "width", "short"), [(1024, 512, False), (50, 60, True)])
def test_ease_is_its_closed_form(stripe, width, short, monkeypatch):
    monkeypatch.setattr(neighbours, "LARGEST", 32 * 290**2 - short)
    monkeypatch.setattr(neighbours, "STRIPE", stripe)
    monkeypatch.setattr(neighbours, "WIDTH", width)
    # A small ridge: inverted in single precision, for want of room, scores are off by 9e-5.
    history, seen = histories(4, (300, 290))
    x = seen.astype(np.float64)
    inverse = np.linalg.inv(x.T @ x + 0.05 * np.eye(290))
    weights = -inverse / np.diag(inverse)
    np.fill_diagonal(weights, 0)
    steps, model = run_through(ease(history, ridge=0.05))
    tops, ends = np.arange(0, 290, stripe), np.minimum(np.arange(width, 290 + width, width), 290)
    inverted = [a + b * top / 290 for a, b in ((0, 128), (128, 128), (256, 34)) for top in tops]
    shares = [0.4, *(0.4 + 0.55 * np.array(inverted) / 290), *(0.95 + 0.05 * ends / 290)]
    assert [step.share for step in steps] == pytest.approx(shares)
    error = np.abs(model.scores(7, 60) - (x @ weights)[7:60]).max()
    assert (5e-6 if short else 0) < error < (1e-3 if short else 5e-6)
    assert [block.shape[1] for block in model.blocks] == np.diff([0, *ends]).tolist()


def test_weights_that_do_not_fit_are_refused(monkeypatch):
    many = csr_array(np.ones((1, 16_385)))  # of 4 bytes, in single precision
    facts = "16,385 items take more than 1,024 MiB: keep only items with more interactions"
    refused(lambda: next(ease(many, ridge=1)), f"between {facts}", ValueError)
    history = histories()[0]
    limited = {"q": 1, "k": 3}
    whole = 4 * 14**2, 8 * finish(item_cosine(history, **limited)).blocks[0].nnz
    monkeypatch.setattr(neighbours, "BLOCK", 30)
    works = (lambda: ease(history, ridge=1)), (lambda: item_cosine(history, **limited))
    for work, size, remedy in zip(works, whole, ("k", "l"), strict=True):
        monkeypatch.setattr(neighbours, "LARGEST", size)
        finish(work())
        monkeypatch.setattr(neighbours, "LARGEST", size - 1)
        begin = f"14 items take more than 0 MiB: {remedy}"
        refused(lambda work=work: finish(work()), f"{begin} … with more interactions", ValueError)
