"""Recommenders as text, what each learns from, and the same model from the same seed."""

import numpy as np
import pytest

from sampledash.lab.experiments import EXPERIMENTS
from sampledash.lab.factors import WeightedLoss
from sampledash.lab.interactions import Interactions
from sampledash.lab.models import finish
from sampledash.lab.recommenders import FAMILIES, parse_recommender, recommender
from tests.lab.test_factors import full_loss
from tests.readers.reading import refused

#: User, item, rating; item 4 has none.
ROWS = np.array(
    [(0, 0, 5), (0, 1, 3), (1, 0, 4), (1, 2, 5), (2, 0, 2), (2, 3, 5), (3, 3, 5), (3, 1, 1)]
)
SMALL = Interactions(list("abcd"), list("vwxyz"), *ROWS.T)
IMPLICIT = Interactions(list("abcd"), list("vwxyz"), *ROWS.T[:2])


@pytest.mark.parametrize("name", FAMILIES)
def test_text_parses_back(name):
    plain = parse_recommender(name)
    assert plain == recommender(name.upper())
    assert parse_recommender(str(plain)) == plain
    other = plain
    for knob in plain.kind.knobs:
        other = recommender(name, **{**other.knobs, knob.name: 3 if knob.name != "wm" else 0.25})
    assert parse_recommender(str(other)) == other
    assert (other == plain) == (not plain.kind.knobs)
    assert plain.kind.about
    assert len({plain, other, parse_recommender(str(other))}) == 1 + (other != plain)


def test_the_papers_values():
    # Krichene & Rendle, section 9; Steck, Table 2.
    x, y, z = (parse_recommender(text) for text in EXPERIMENTS["krichene"].recommenders.values())
    assert x == parse_recommender("iALS")
    assert str(x) == "iALS d=16 alpha=0.2 reg=10 sweeps=5"
    assert (y.knobs, z.knobs) == ({"q": 3, "k": np.inf}, {"q": 1, "k": 10})
    table = {"AllRank-Regression": (0.05, 2, 0.05), "dense-SVD": (None, 2, 0.03)}
    table |= {"AllRank-Binary-Logistic": (0.02, None, 0.02)}
    table |= {"AllRank-Binary-Regression": (0.01, None, 0.03), "observed-only": (None, 0, 0.06)}
    for name, values in table.items():
        knobs = recommender(name).knobs
        assert (knobs.get("wm"), knobs.get("rm"), knobs["reg"]) == values
        assert knobs["d"] == 50


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("", "unknown recommender '' … known are iALS, itemCF"),
        ("SVD++", "'SVD++' … dense-SVD"),
        ("iALS e=3", "unknown knob 'e' … d, alpha, reg, sweeps"),
        ("random d=3", "unknown knob 'd' … random has no knobs"),
        ("iALS d", "cannot read 'd' … iALS d=16 alpha=0.2"),
        ("iALS d=3 d=4", "'d' is given twice"),
        ("iALS d=0", "d must be at least 1 and at most 1000, got 0"),
        ("AllRank-Regression d=1001", "d must be at least 1 and at most 1000, got 1001"),
        ("iALS d=2.5", "d must be a whole number, got 2.5"),
        ("iALS d=all", "d must be a number, got 'all'"),
        ("iALS reg=-1", "reg must be at least"),
        ("AllRank-Regression wm=2", "wm must be at least 0 and at most 1, got 2"),
        ("itemCF k=ten", "k must be a number, got 'ten'"),
    ],
)
def test_what_is_no_recommender_is_refused(text, facts):
    refused(lambda: parse_recommender(text), facts, ValueError)


@pytest.mark.parametrize("name", FAMILIES)
def test_every_kind_scores_everything_and_again_the_same(name):
    small = {"d": 2, "sweeps": 3, "steps": 3}
    kind = FAMILIES[name]
    mine = recommender(name, **{k.name: small[k.name] for k in kind.knobs if k.name in small})
    if kind.rated:
        refused(lambda: mine.train(IMPLICIT), f"{name} learns from ratings … itemCF", ValueError)
    for data in (SMALL,) if kind.rated else (SMALL, IMPLICIT):
        told = list(mine.train(data, 7))
        assert told[-1].share == pytest.approx(1, abs=0.06)
        first, second = (finish(mine.train(data, 7)) for _ in range(2))
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
    for text in ("iALS reg=0.1", "random", "AllRank-Binary-Logistic"):
        mine = parse_recommender(text)
        one, two = (finish(mine.train(SMALL, seed)).scores(0, 4) for seed in (1, 2))
        assert np.abs(one - two).max() > 1e-4


def test_observed_only_is_weight_zero_for_what_is_missing():
    one = recommender("observed-only", d=2, rm=1, reg=0.1, sweeps=4)
    two = recommender("AllRank-Regression", d=2, wm=0, rm=1, reg=0.1, sweeps=4)
    scores = [finish(r.train(SMALL, 3)).scores(0, 4) for r in (one, two)]
    assert np.array_equal(*scores)


def dense_of(rows, value):
    dense, seen = np.zeros((4, 5)), np.zeros((4, 5), bool)
    for user, item, rating in rows:
        dense[user, item], seen[user, item] = value(rating), True
    return dense, seen


@pytest.mark.parametrize(
    ("text", "observed", "value"),
    [
        # Steck 2013, eq. 13 and Table 2; Krichene & Rendle 2020, section 9, as one square.
        ("AllRank-Regression d=2 wm=0.3 rm=1 reg=0.05 sweeps=400", 1.0, lambda x: x - 1),
        ("AllRank-Binary-Regression d=2 wm=0.3 reg=0.05 sweeps=400", 1.0, lambda x: float(x == 5)),
        ("iALS d=2 alpha=0.3 reg=0.05 sweeps=400", 1.3, lambda x: 1 / 1.3),
    ],
)
def test_what_is_trained_is_at_a_minimum_of_the_printed_loss(text, observed, value):
    mine = parse_recommender(text)
    data = Interactions(SMALL.users, SMALL.items, *(ROWS.T if "AllRank" in text else ROWS.T[:2]))
    rows = [row for row in ROWS if "Binary" not in text or row[2] == 5]
    dense, seen = dense_of(rows, value)
    model = finish(mine.train(data, 3))
    loss = WeightedLoss(observed, 0.3, 0.05, per_pair="AllRank" in text)

    def at(users, items):
        return full_loss(dense, seen, users, items, loss)

    users, items = model.users.astype(float), model.items.astype(float)
    for place in np.ndindex(users.shape):
        step = np.zeros_like(users)
        step[place] = 1e-3
        assert at(users + step, items) == pytest.approx(at(users - step, items), rel=2e-6)
