"""The small world: as skewed as MovieLens 1M, and a place where 100 negatives mislead."""

import numpy as np
import pytest

import sampledash as sd
from sampledash.lab.recommenders import OF_THE_PAPERS, parse_recommender


@pytest.fixture(scope="module")
def world():
    return sd.synthetic()


def test_it_is_skewed_as_movielens(world):
    """Of MovieLens 1M the most popular tenth of 3,706 movies has 44.4 % of the ratings, which are
    5.6, 10.8, 26.1, 34.9 and 22.6 % of 1 to 5 stars (counted in its ratings.dat)."""
    counts = np.sort(np.bincount(world.item, minlength=world.n_items))[::-1]
    assert counts[: len(counts) // 10].sum() / world.size == pytest.approx(0.444, abs=0.04)
    stars = np.bincount(world.rating.astype(int), minlength=6)[1:] / world.size
    np.testing.assert_allclose(stars, [0.056, 0.108, 0.261, 0.349, 0.226], atol=0.06)
    assert world.matrix.nnz == world.size  # nobody takes an item twice
    assert world == sd.synthetic(0)


def test_a_hundred_negatives_mislead_about_two_pairs(world):
    parts = sd.split(world, "last 1")
    sets = {}
    for name, text in OF_THE_PAPERS.items():
        model = sd.finish(parse_recommender(text).train(parts.training))
        sets[name] = sd.finish(sd.rank(model.scores, parts, system=name))
    exact = {name: sd.mean("Recall@10", ranks) for name, ranks in sets.items()}
    sampled = {name: sd.expected_mean("Recall@10", ranks, 100) for name, ranks in sets.items()}
    assert min(exact["Y"], exact["Z"]) > exact["X"]
    assert max(sampled["Y"], sampled["Z"]) < sampled["X"]
