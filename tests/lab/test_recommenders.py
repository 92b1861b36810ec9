"""Recommenders: their text, the loss that they minimise, and equal models for equal seeds."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.sparse import csr_array

from sampledash.lab import neighbours
from sampledash.lab.experiments import EXPERIMENTS
from sampledash.lab.factors import WeightedLoss, logistic
from sampledash.lab.interactions import Interactions
from sampledash.lab.models import finish
from sampledash.lab.neighbours import ease, item_cosine
from sampledash.lab.recommenders import FAMILIES, parse_recommender, recommender
from tests.lab.test_factors import dense_als, run_through
from tests.readers.reading import refused

#: Rows of (user, item, rating); item 4 has no ratings.
ROWS = np.array(
    [(0, 0, 5), (0, 1, 3), (1, 0, 4), (1, 2, 5), (2, 0, 2), (2, 3, 5), (3, 3, 5), (3, 1, 1)]
)
SMALL = Interactions(list("abcd"), list("vwxyz"), *ROWS.T)
IMPLICIT = Interactions(list("abcd"), list("vwxyz"), *ROWS.T[:2])


#: All recommenders with default values, from Krichene & Rendle, section 9, and Steck, Table 2.
TEXTS = """
iALS d=16 alpha=0.2 reg=10 sweeps=5
itemCF q=1 k=all
AllRank-Regression d=50 wm=0.05 rm=2 reg=0.05 sweeps=6
AllRank-Binary-Logistic d=50 wm=0.02 reg=0.02 steps=20
AllRank-Binary-Regression d=50 wm=0.01 reg=0.03 sweeps=15
dense-SVD d=50 rm=2 reg=0.03
observed-only d=50 rm=0 reg=0.06 sweeps=12
bestsellers-mean
bestsellers-count
bestsellers-top
EASE reg=500
random
""".strip().splitlines()
BOUNDS = {
    "d": (1, 1000), "sweeps": (1, 1000), "steps": (1, 1000), "k": (1, 1e6), "wm": (0, 1),
    "rm": (-1e6, 1e6), "reg": (1e-9, 1e6), "alpha": (1e-6, 1e6), "q": (0.01, 100),
}  # fmt: skip


@pytest.mark.parametrize("text", TEXTS)
def test_text_parses_back(text):
    name = text.split()[0]
    plain = parse_recommender(name)
    assert str(plain) == text
    assert plain == recommender(f" {name.upper()} ") == parse_recommender(text.replace("=", " = "))
    assert plain.kind.about


@pytest.mark.parametrize(
    ("name", "knob"),
    [(text.split()[0], x.split("=")[0]) for text in TEXTS for x in text.split()[1:]],
)
def test_a_knob_is_taken_within_its_bounds_alone(name, knob):
    plain, (low, high) = recommender(name), BOUNDS[knob]
    whole = knob in ("d", "sweeps", "steps", "k")
    for value in (low, high, 3 if whole else 0.3):
        other = recommender(name, **{knob: value})
        assert other.knobs == plain.knobs | {knob: value}
        assert parse_recommender(str(other)) == other
    bound = f"{knob} must be at least {low:g} and at most {high:g}, got"
    for value in (np.nextafter(low, -np.inf), np.nextafter(high, np.inf)):
        refused(lambda x=value: recommender(name, **{knob: x}), bound, ValueError)
    refused(lambda: parse_recommender(f"{name} {knob}=ten"), "number, got 'ten'", ValueError)
    if whole:
        refused(lambda: recommender(name, **{knob: 1.5}), "whole number, got 1.5", ValueError)
    if knob == "k":
        without_end = parse_recommender("itemCF k=all"), parse_recommender("itemCF k=ALL")
        assert {*without_end, recommender("itemCF", k=np.inf)} == {plain}
    else:
        refused(lambda: parse_recommender(f"{name} {knob}=all"), "got 'all'", ValueError)
        refused(lambda: recommender(name, **{knob: np.inf}), "got inf", ValueError)


def test_the_papers_values():
    assert [text.split()[0] for text in TEXTS] == list(FAMILIES)
    x, y, z = (parse_recommender(text) for text in EXPERIMENTS["krichene"].recommenders.values())
    assert x == parse_recommender("iALS")
    assert (y.knobs, z.knobs) == ({"q": 3, "k": np.inf}, {"q": 1, "k": 10})
    rated = {"AllRank-Regression", "dense-SVD", "observed-only", "bestsellers-mean"}
    assert {name for name, kind in FAMILIES.items() if kind.rated} == rated


def test_what_is_no_recommender_is_refused():
    for text, facts in (
        ("", "unknown recommender '' … known are iALS, itemCF"),
        ("SVD++", "'SVD++' … dense-SVD"),
        ("iALS e=3", "unknown knob 'e' … d, alpha, reg, sweeps"),
        ("random d=3", "unknown knob 'd' … random has no knobs"),
        ("iALS d", "cannot read 'd' … iALS d=16 alpha=0.2"),
        ("iALS d=3 d=4", "'d' is given twice"),
        ("iALS d=", "cannot read 'd='"),
    ):
        refused(lambda x=text: parse_recommender(x), facts, ValueError)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_kind_scores_everything_and_again_the_same(name):
    small = {"d": 2, "sweeps": 3, "steps": 3}
    kind = FAMILIES[name]
    mine = recommender(name, **{k.name: small[k.name] for k in kind.knobs if k.name in small})
    if kind.rated:
        refused(lambda: mine.train(IMPLICIT), f"{name} learns from ratings … itemCF", ValueError)
    for data in (SMALL,) if kind.rated else (SMALL, IMPLICIT):
        (_, first), second = run_through(mine.train(data, 7)), finish(mine.train(data, 7))
        scores = first.scores(0, 4)
        assert scores.shape == (4, 5)
        assert np.all(np.isfinite(scores))
        assert np.array_equal(scores, second.scores(0, 4))
        parts = np.vstack([second.scores(0, 1), second.scores(1, 4)])
        assert parts == pytest.approx(scores, abs=1e-5)
    begun = mine.train(SMALL, 7)
    next(begun)
    begun.close()  # training can be stopped midway


def test_bestsellers_by_hand():
    lists = {"mean": [11 / 3, 2, 5, 5, 0], "count": [3, 2, 1, 2, 0], "top": [1, 0, 1, 2, 0]}
    for name, values in lists.items():
        scores = finish(recommender(f"bestsellers-{name}").train(SMALL)).scores(1, 3)
        assert scores[0] == pytest.approx(scores[1])
        assert scores[0, :4] == pytest.approx(values[:4])
        assert scores[0, 4] <= min(scores[0, :4])
        assert name == "top" or scores[0, 4] < min(scores[0, :4])  # item 4 has no ratings
    # An unrated item has the lowest score, even if all ratings are negative.
    low = Interactions(list("abcd"), list("vwxyz"), *(ROWS - [0, 0, 9]).T)
    scores = finish(recommender("bestsellers-mean").train(low)).scores(0, 1)[0]
    assert scores[:4].tolist() == pytest.approx([11 / 3 - 9, -7, -4, -4])
    assert scores[4] < -7
    plain = finish(recommender("bestsellers-top").train(IMPLICIT)).scores(0, 1)
    assert plain[0].tolist() == lists["count"]


def test_seeds_differ():
    for text in ("iALS reg=0.1", "random", "AllRank-Binary-Logistic", "dense-SVD d=2"):
        mine = parse_recommender(text)
        zero, *others = (finish(mine.train(SMALL, *x)).scores(0, 4) for x in ([], [0], [1], [2]))
        assert [np.array_equal(zero, other) for other in others] == [True, False, False]
        # Users c and d gave 5 stars only to item 3, so binary recommenders give them equal scores.
        assert len(np.unique(zero, axis=0)) == (3 if "Binary" in text else 4)
    refused(lambda: mine.train(SMALL, -1), "seed must be at least 0, got -1", ValueError)


def test_what_is_trained_is_the_printed_loss():
    for text, loss, value in (
        # Steck 2010, eq. 13 and Table 2. The loss of iALS (Krichene & Rendle 2020, section 9),
        # (x - 1)² + αx², is (1 + α)(x - 1 / (1 + α))² plus a constant.
        ("AllRank-Regression wm=0.3 rm=1", WeightedLoss(1, 0.3, 0.05, True), lambda x: x - 1),
        ("observed-only rm=1", WeightedLoss(1, 0, 0.05, True), lambda x: x - 1),
        ("AllRank-Binary-Regression wm=0.3", WeightedLoss(1, 0.3, 0.05, True), lambda x: x == 5),
        ("iALS alpha=0.3", WeightedLoss(1.3, 0.3, 0.05, False), lambda x: 1 / 1.3),
        ("dense-SVD rm=1", None, lambda x: x - 1),
        ("AllRank-Binary-Logistic wm=0.3", None, lambda x: x == 5),
    ):
        last = {"A": " steps=4", "d": ""}[text[0]] if loss is None else " sweeps=3"
        mine = parse_recommender(f"{text} d=2 reg=0.05{last}")
        scores = finish(mine.train(SMALL, 3)).scores(0, 4)
        dense, seen = np.zeros((4, 5)), np.zeros((4, 5), bool)
        for user, item, rating in ROWS:
            dense[user, item] = value(rating)
            seen[user, item] = rating == 5 or "Binary" not in text
        if loss is not None:
            first = np.random.default_rng(3).normal(0, 0.1, (5, 2))
            users, items, _ = dense_als(dense, seen, loss, first, 3)
            expected = users @ items.T
        elif "SVD" in text:
            u, sigma, v = np.linalg.svd(dense)
            expected = u[:, :2] * (sigma[:2] - 0.05 * 20**0.5) @ v[:2]
        else:
            knobs = {"missing": 0.3, "ridge": 0.05, "d": 2, "steps": 4, "seed": 3}
            expected = finish(logistic(csr_array(seen.astype(np.float32)), **knobs)).scores(0, 4)
        assert scores == pytest.approx(expected, abs=1e-4)


def histories(seed=0, shape=(31, 14)):
    """Return the items that random users took, sparse and as a mask; nobody took item 5."""
    seen = np.random.default_rng(seed).random(shape) < (0.1 if seed % 2 else 0.25)
    seen[:, 5] = False
    return csr_array(3.0 * seen), seen


def by_loops(seen, q, k):
    """Return the scores of :func:`item_cosine` by loops; k is the number of neighbours or None."""
    n, users = seen.shape[1], [set(np.flatnonzero(column)) for column in seen.T]
    s = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            if both := len(users[i] & users[j]):
                s[i, j] = (both / (len(users[i]) * len(users[j])) ** 0.5) ** q
    if k is not None:
        for j in range(n):
            # Of two equally near items, the one with the smaller index is the neighbour.
            near = [-Fraction(len(own & users[j]) ** 2, max(1, len(own))) for own in users]
            order = sorted((i for i in range(n) if i != j), key=near.__getitem__)
            s[[j, *order[k:]], j] = 0
    length = np.sqrt(np.sum(s**2, axis=1))
    s /= np.where(length > 0, length, 1)[:, None]
    return np.array([[sum(s[i, j] for j in np.flatnonzero(row)) for i in range(n)] for row in seen])


def test_items_taken_together_are_counted_by_as_many_rows_as_fit(monkeypatch):
    # A block of the co-occurrence matrix has at most 2^21 counts (512 rows of 4,096 items), fewer
    # than 2^22 pairs of interactions: 2^14 per row if four users took all items, so 255 rows fit.
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
    # If memory is short, the inverse is in single precision, which changes scores by up to 9e-5.
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
    many = csr_array(np.ones((1, 16_385)))  # 16,385² weights of 4 bytes
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
