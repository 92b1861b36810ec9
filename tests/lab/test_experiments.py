"""The experiments of Krichene & Rendle and of Steck on small data, sweeps, and Steck's Table 1."""

from dataclasses import replace

import numpy as np
import pytest

import sampledash as sd
from sampledash.lab import ranking
from sampledash.lab.experiments import EXPERIMENTS, GRIDS, Experiment, ranked, sweep, toy
from sampledash.lab.factors import WeightedLoss
from sampledash.lab.interactions import Interactions
from sampledash.lab.models import finish
from sampledash.lab.recommenders import parse_recommender, recommender
from sampledash.lab.splits import split
from sampledash.papers.steck import TABLE_2
from tests.lab.test_factors import dense_als, run_through
from tests.readers.reading import refused


def rated(seed=0):
    rng = np.random.default_rng(seed)
    user, item = np.nonzero(rng.random((60, 30)) < rng.random(30))
    order = rng.permutation(len(user))
    stars = rng.integers(1, 6, len(user))
    return Interactions(np.arange(100, 160), np.arange(30), user[order], item[order], stars)


@pytest.mark.parametrize(("rule", "least"), [("last 2", 2), ("last 5 halved seed=0 seen=kept", 5)])
def test_an_experiment_ranks_each_recommender(rule, least, monkeypatch):
    monkeypatch.setattr(ranking, "_users_at_once", lambda n_items: 30)
    texts = {"A": "bestsellers-count", "B": "iALS d=2 reg=0.1", "C": "random"}
    plain = Experiment(rule, texts, least_rating=2)
    made = plain if least == 2 else replace(EXPERIMENTS["steck"], recommenders=texts)
    steps, sets = run_through(made.run(rated(), seed=3))
    # A and C are trained in one step, B in ten half sweeps; each then ranks items in two steps.
    shares = [1, 1.5, 2, *np.arange(21, 30) / 10, 3, 3, 3.5, 4, 5, 5.5, 6]
    assert [step.share for step in steps] == pytest.approx(np.array(shares) / 6)
    parts = split(rated(), rule)
    taken = None if "kept" in rule else parts.training.matrix.toarray() > 0
    high = parts.test.take(parts.test.rating >= least).matrix.toarray() > 0
    for (name, text), ranks in zip(texts.items(), sets, strict=True):
        scores = finish(parse_recommender(text).train(parts.training, 3)).scores(0, 60)
        users = {"system": name, "instances": range(100, 160)}
        expected = sd.ranks_from_scores(scores, high, taken, **users)
        assert ranks.provenance == (
            f"data: {rated().digest[:16]}; split: {rule}; relevant: rated {least} or more; "
            f"recommender: {parse_recommender(text)}; seed: 3"
        )
        assert ranks.system == name
        for column in ("ranks", "ties", "n"):
            assert np.array_equal(getattr(ranks, column), getattr(expected, column))
        labels = expected.instances if least == 2 else range(high.sum())
        assert ranks.instances.tolist() == list(labels)


def test_the_seed_is_0_unless_another_is_given():
    parts = split(rated(), "last 1")
    first, again, other = (
        finish(ranked(parts, "A", "random", **seed)).ranks.tolist()
        for seed in ({}, {"seed": 0}, {"seed": 1})
    )
    assert first == again != other


def test_what_the_papers_train():
    assert len(TABLE_2) == 9
    for row in TABLE_2.itertuples():
        assert str(parse_recommender(row.recommender)) == row.recommender
    assert EXPERIMENTS["steck"].recommenders == TABLE_2.set_index("system")["recommender"].to_dict()
    assert EXPERIMENTS["krichene"].split == "last 1"
    decades = {a * 10.0**b for a in (1, 2, 5) for b in (-3, -2, -1)}
    assert GRIDS["wm"] == pytest.approx(sorted(decades | {0, 1}))
    assert list(GRIDS["rm"]) == sorted({*range(-2, 5), 1.5, 2.5, 3.5})
    (ranks,) = finish(Experiment("last 1", {"A": "random"}).run(rated()))
    assert ranks.provenance.endswith("recommender: random; seed: 0")
    assert "relevant" not in ranks.provenance


@pytest.mark.parametrize(
    ("knob", "values", "least"),
    [("wm", (0.0, 0.1, 1.0), None), ("rm", (0.0, 2.0, 3.5), None), ("wm", (), 4), ("rm", (), 2)],
)
def test_a_sweep_trains_every_value(knob, values, least, monkeypatch):
    monkeypatch.setattr(ranking, "_users_at_once", lambda n_items: 30)
    parts = split(rated(1), "last 5 halved seen=kept")
    knobs = {"d": 3, "reg": 0.05, "sweeps": 8, "rm": 1, "wm": 0.2}
    more = {"knobs": knobs, "least_rating": least, "seed": 4}
    steps, points = run_through(sweep(parts, knob, values, **more))
    values = values or GRIDS[knob]
    assert [point.value for point in points] == list(values)
    training, test = parts.training, parts.test
    seen = training.matrix.toarray() > 0
    relevant = test.rating >= (least or 5)
    items, expected = np.random.default_rng(4).normal(0, 0.1, (30, 3)), []
    for number, (value, point) in enumerate(zip(values, points, strict=True)):
        mine = recommender("AllRank-Regression", **{**knobs, knob: value})
        # If rm varies, each fit after the first continues from the previous factors for two sweeps.
        sweeps = 2 if knob == "rm" and number else 8
        halves = [*np.arange(1, 2 * sweeps + 1) / (2 * sweeps), 1]
        expected += [(number + 0.8 * half, number) for half in halves]
        expected += [(number + 0.9, number), (number + 1, number), (number + 1, number + 1)]
        dense = np.where(seen, training.matrix.toarray() - mine.knobs["rm"], 0)
        loss = WeightedLoss(1.0, mine.knobs["wm"], 0.05, per_pair=True)
        users, after, _ = dense_als(dense, seen, loss, items, sweeps)
        items = after if knob == "rm" else items
        scores = users @ after.T
        error = scores[test.user, test.item] + mine.knobs["rm"] - test.rating
        assert point.rmse == pytest.approx(np.sqrt(np.mean(error**2)), rel=1e-3)
        reached = scores[test.user, test.item, None][relevant]
        ranks = 1 + np.sum(scores[test.user[relevant]] > reached + 1e-6, axis=1)
        assert sorted(point.ranks.ranks) == pytest.approx(sorted(ranks), abs=1)
        assert point.ranks.system == f"{knob}={value:g}"
        ending = f"relevant: rated {least or 5} or more; recommender: {mine}; seed: 4"
        assert point.ranks.provenance.endswith(ending)
    assert [len(step.points) for step in steps] == [many for _, many in expected]
    shares = np.array([share for share, _ in expected]) / len(values)
    assert [step.share for step in steps] == pytest.approx(shares)
    assert steps[-1].points == points


def test_a_sweep_needs_ratings():
    data = rated()
    parts = split(Interactions(data.users, data.items, data.user, data.item), "last 1")
    refused(lambda: next(sweep(parts, "wm")), "learns from ratings", ValueError)
    rates = split(data, "last 1")
    first = next(sweep(rates, "wm", [0.5]))  # other knobs have Steck's values, with 6 sweeps
    assert (first.share, first.points) == (pytest.approx(0.8 / 12), ())


def test_rmse_cannot_tell_a_constant_from_an_oracle():
    # Steck, section 1 and Table 1: a liked movie tied with 3 of 7 others has the ATOP 1 - 1.5 / 7.
    of_four = [".555", "555.", "55.5", "5.55"]
    for known in range(9):
        made = toy(known)
        assert made.rmse_observed == 0
        assert made.atop == pytest.approx(0.5 + known / 8 * (0.5 - 1.5 / 7))
        assert made.rmse_all == pytest.approx(np.sqrt((8 - known) * 4 * 16 / 64))
        for user in range(8):
            blank, row = "." * 4, of_four[user % 4]
            stars = blank + row if user > 3 else row + blank
            wanted = [np.nan if x == "." else 5 for x in stars]
            np.testing.assert_array_equal(made.ratings[user], wanted)
            # Users who like genre 0 (0 to 3) and genre 1 (4 to 7) become known in turn.
            is_known = user in [0, 4, 1, 5, 2, 6, 3, 7][:known]
            liked = [5 if (movie > 3) == (user > 3) or not is_known else 1 for movie in range(8)]
            assert made.predicted[user].tolist() == liked
    refused(lambda: toy(9), "known must be at most 8, got 9", ValueError)
    refused(lambda: toy(-1), "known must be at least 0, got -1", ValueError)
