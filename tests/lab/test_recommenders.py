"""Recommenders as text, what each learns from, and the same model from the same seed."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from sampledash.lab.experiments import EXPERIMENTS
from sampledash.lab.factors import WeightedLoss, logistic
from sampledash.lab.interactions import Interactions
from sampledash.lab.models import finish
from sampledash.lab.recommenders import FAMILIES, parse_recommender, recommender
from tests.lab.test_factors import dense_als, run_through
from tests.readers.reading import refused

#: User, item, rating; item 4 has none.
ROWS = np.array(
    [(0, 0, 5), (0, 1, 3), (1, 0, 4), (1, 2, 5), (2, 0, 2), (2, 3, 5), (3, 3, 5), (3, 1, 1)]
)
SMALL = Interactions(list("abcd"), list("vwxyz"), *ROWS.T)
IMPLICIT = Interactions(list("abcd"), list("vwxyz"), *ROWS.T[:2])


#: Every recommender with the values of Krichene & Rendle, section 9, and Steck, Table 2.
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
    begun.close()  # left midway


def test_bestsellers_by_hand():
    lists = {"mean": [11 / 3, 2, 5, 5, 0], "count": [3, 2, 1, 2, 0], "top": [1, 0, 1, 2, 0]}
    for name, values in lists.items():
        scores = finish(recommender(f"bestsellers-{name}").train(SMALL)).scores(1, 3)
        assert scores[0] == pytest.approx(scores[1])
        assert scores[0, :4] == pytest.approx(values[:4])
        assert scores[0, 4] <= min(scores[0, :4])
        assert name == "top" or scores[0, 4] < min(scores[0, :4])  # nobody took it
    # What nobody rated comes last also where ratings are below 0.
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
        assert len(np.unique(zero, axis=0)) == (3 if "Binary" in text else 4)  # c and d like one
    refused(lambda: mine.train(SMALL, -1), "seed must be at least 0, got -1", ValueError)


def test_what_is_trained_is_the_printed_loss():
    for text, loss, value in (
        # Steck 2010, eq. 13 and Table 2; Krichene & Rendle 2020, section 9, as one square.
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
