"""The papers' experiments on small data, the sweeps point by point, and Table 1."""

from dataclasses import replace

import numpy as np
import pytest

import sampledash as sd
from sampledash.lab.experiments import EXPERIMENTS, Experiment, sweep, toy
from sampledash.lab.interactions import Interactions
from sampledash.lab.models import finish
from sampledash.lab.recommenders import parse_recommender, recommender
from sampledash.lab.splits import split
from sampledash.papers.steck import TABLE_2
from tests.lab.test_factors import run_through


def rated(seed=0):
    """Popular and unpopular items, rated from 1 to 5."""
    rng = np.random.default_rng(seed)
    user, item = np.nonzero(rng.random((60, 30)) < rng.random(30))
    order = rng.permutation(len(user))
    stars = rng.integers(1, 6, len(user))
    return Interactions(np.arange(60), np.arange(30), user[order], item[order], stars)


def test_an_experiment_ranks_each_recommender():
    texts = {"A": "bestsellers-count", "B": "iALS d=2 reg=0.1"}
    told, (one, two) = run_through(Experiment("last 1", texts).run(rated()))
    shares = [progress.share for progress in told]
    assert shares == sorted(shares)
    assert (one.system, two.system) == ("A", "B")
    assert "recommender: iALS d=2 alpha=0.2 reg=0.1 sweeps=5" in two.provenance
    # By hand: a seen item is no candidate; the rank by the counts in training.
    parts = split(rated(), "last 1")
    taken = parts.training.matrix.toarray() > 0
    user, item = parts.test.user[0], parts.test.item[0]
    counts = np.where(taken[user], -1, taken.sum(axis=0))
    at = one.instances.tolist().index(user)
    assert one.ranks[at] == 1 + np.sum(counts > counts[item])
    assert one.n[at] == np.sum(counts >= 0)


def test_in_stecks_means_every_relevant_pair_weighs_the_same():
    steck = replace(EXPERIMENTS["steck"], recommenders={"Best": "bestsellers-count"})
    (ranks,) = finish(steck.run(rated()))
    parts = split(rated(), steck.split)
    best = parts.test.rating == 5
    counts = np.bincount(parts.training.item, minlength=30)
    own = counts[parts.test.item[best], None]
    above = np.sum(counts > own, axis=1) + (np.sum(counts == own, axis=1) - 1) / 2
    assert sd.mean("ATOP", ranks) == pytest.approx(np.mean(1 - above / 29), abs=0.01)
    assert len(ranks.ranks) == np.count_nonzero(best)
    assert set(ranks.n.tolist()) == {30}


def test_table_2_can_be_trained():
    assert len(TABLE_2) == 9
    for row in TABLE_2:
        assert str(parse_recommender(row.recommender)) == row.recommender


@pytest.mark.parametrize(("knob", "values"), [("wm", (0.0, 0.1, 1.0)), ("rm", (0.0, 2.0, 3.5))])
def test_a_sweep_trains_every_value(knob, values):
    parts = split(rated(1), "last 5 halved seen=kept")
    knobs = {"d": 3, "reg": 0.05, "sweeps": 8}
    told, points = run_through(sweep(parts, knob, values, knobs=knobs))
    shares = [progress.share for progress in told]
    assert shares == sorted(shares)
    assert told[-1].points == points
    assert [point.value for point in points] == list(values)
    assert {len(progress.points) for progress in told} == {0, 1, 2, 3}
    for number, point in enumerate(points):
        mine = recommender("AllRank-Regression", **{**knobs, knob: point.value})
        assert str(mine) in point.ranks.provenance
        if knob == "rm" and number:  # not from the start: two sweeps more
            continue
        scores = finish(mine.train(parts.training)).scores(0, 60)
        predicted = scores[parts.test.user, parts.test.item] + mine.knobs["rm"]
        error = np.sqrt(np.mean((predicted - parts.test.rating) ** 2))
        assert point.rmse == pytest.approx(error, rel=1e-4)
        best = parts.test.rating == 5
        chosen = scores[parts.test.user[best]]
        own = scores[parts.test.user[best], parts.test.item[best], None]
        atop = 1 - np.sum(chosen > own, axis=1) / 29
        assert sd.mean("ATOP", point.ranks) == pytest.approx(np.mean(atop), abs=0.005)


def test_a_sweep_needs_ratings():
    data = rated()
    parts = split(Interactions(data.users, data.items, data.user, data.item), "last 1")
    with pytest.raises(ValueError, match="learns from ratings"):
        next(sweep(parts, "wm"))


def test_rmse_cannot_tell_a_constant_from_an_oracle():
    # Section 1 on Table 1; three of seven others tied with a liked movie: 1 - 1.5 / 7.
    toys = [toy(known) for known in range(9)]
    assert {t.rmse_observed for t in toys} == {0}
    assert toys[0].atop == 0.5
    assert toys[8].atop == pytest.approx(1 - 1.5 / 7)
    assert toys[8].rmse_all == 0
    assert toys[0].rmse_all == pytest.approx(np.sqrt(16 / 2))
    assert np.all(np.diff([t.atop for t in toys]) > 0)
    assert np.count_nonzero(toys[3].ratings == 5) == 24
    assert np.nanmin(toys[3].ratings) == 5
