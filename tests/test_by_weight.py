"""Negatives drawn by weight without replacement: against enumeration of all draws, and simulation.

"Successive draws": each negative is drawn with a probability proportional to its weight, among
those that are left, as ``numpy.random.choice(p=..., replace=False)`` and BERT4Rec's evaluation do.
"""

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

import sampledash as sd
from sampledash.by_weight import classes_of, law

WITHOUT, WITH = "popularity-without-replacement", "popularity"


def enumerated(above, tied, below, weights, m):
    """Return the distribution of the number above of m successive draws; ties in random order."""
    counts, weight = np.ravel([above, tied, below]), np.tile(weights, 3).tolist()
    chances = {(0,) * len(weight): 1.0}  # by the numbers drawn of each side and weight
    for _ in range(min(m, counts.sum())):
        before, chances = chances, Counter()
        for drawn, chance in before.items():
            left = [w * (count - d) for w, count, d in zip(weight, counts, drawn, strict=True)]
            for i in np.flatnonzero(left):
                one_more = (*drawn[:i], drawn[i] + 1, *drawn[i + 1 :])
                chances[one_more] += chance * left[i] / sum(left)
    result = np.zeros(m + 1)
    for drawn, chance in chances.items():
        high, ties, _ = np.reshape(drawn, (3, -1)).sum(axis=1)
        result[high : high + ties + 1] += chance / (ties + 1)
    return result


@pytest.mark.parametrize("weights", [(1,), (2, 7), (0.5, 3, 40)])
def test_a_distribution_is_that_of_all_successive_draws(weights):
    rng = np.random.default_rng(len(weights))
    sides = np.array([[1], [0], [1]]) + rng.integers(0, 2, (6, 3, len(weights)))
    above, tied, _ = np.moveaxis(sides, 1, 0)
    every = np.broadcast_to(np.array(weights, dtype=float), above.shape)
    classes = np.stack([above, tied, sides.sum(axis=1), every], axis=1)
    for m in range(1, 6):
        expected = [enumerated(*each, weights, m) for each in sides]
        np.testing.assert_allclose(law(classes, m), expected, atol=1e-12)


@pytest.mark.parametrize("decades", [2, 6, 12, 40])
def test_a_distribution_is_that_of_all_successive_draws_however_far_the_weights_are_apart(decades):
    rng = np.random.default_rng(decades)
    for _ in range(3):
        weights = 10 ** rng.uniform(0, decades, 4)
        sides = rng.multinomial(1, [0.4, 0.2, 0.4], 4).T + rng.multinomial(1, [1 / 3] * 3, 4).T
        classes = np.array([[*sides[:2], sides.sum(axis=0), weights]])
        for m in range(1, 7):
            expected = [enumerated(*sides, weights, m)]
            np.testing.assert_allclose(law(classes, m), expected, atol=1e-12)
            np.testing.assert_allclose(law(classes, m, small=0), expected, atol=3e-6)


def test_items_of_weight_0_are_drawn_only_after_all_others():
    # 100,000 items of weight 0 above the relevant item, 500 others below it: all that are drawn.
    classes = [[[100_000, 0], [0, 0], [100_000, 500], [0, 1]]]
    ranks = sd.RankSet("A", [100_001], 100_501, classes=classes)
    for m in (20, 400, 500):
        mean = sd.expected_mean("Recall@1", ranks, m, scheme=WITHOUT)
        assert mean == pytest.approx(1, abs=1e-14)
    # With 540 drawn, 40 are of weight 0: all of them above.
    assert law(np.array(classes, dtype=float), 540)[0, 40] == pytest.approx(1, abs=1e-12)


@pytest.mark.parametrize(("above", "tied"), [(0, 6), (1, 1), (1, 4), (2, 3)])
def test_ties_of_items_of_weight_0_that_are_drawn_last(above, tied):
    # One item of positive weight, below the relevant item, is drawn first; then the others.
    others = [*["above"] * above, *["tied"] * tied]
    size = [1, len(others)]
    ranks = sd.RankSet(
        "A", [above + 1], [len(others) + 2], ties=[tied],
        classes=[[[0, above], [0, tied], size, [1, 0]]],
    )  # fmt: skip
    for m in range(1, len(others) + 2):
        samples = list(combinations(others, m - 1))
        first = [0 if "above" in x else 1 / (x.count("tied") + 1) for x in samples]
        mean = sd.expected_mean("Recall@1", ranks, m, scheme=WITHOUT)
        assert mean == pytest.approx(np.mean(first), abs=1e-12)


def test_if_all_negatives_are_drawn_the_sampled_rank_is_the_true_rank():
    # 150 negatives above, 2,500 tied, 350 below, of two weights: 2,501 ranks are equally likely.
    classes = np.array([[[100, 50], [2_300, 200], [2_500, 500], [1.0, 3]]])
    expected = np.r_[np.zeros(150), np.full(2_501, 1 / 2_501), np.zeros(350)]
    np.testing.assert_allclose(law(classes, 3_000)[0], expected, rtol=1e-14)


def some_sets():
    """Return three rank sets with classes, and the classes of their 25 instances of 200 items."""
    rng = np.random.default_rng(3)
    weights, everyone = np.array([1.0, 4, 30]), np.array([125, 50, 25])
    for name, pull in (("A", 9), ("B", 3), ("C", 1)):
        above = rng.binomial([60, 30, 10], rng.beta(1, pull, (25, 1)))
        tied = rng.binomial(everyone - above, 0.02)
        sizes = np.broadcast_to(everyone, above.shape)
        classes = np.stack([above, tied, sizes, np.broadcast_to(weights, above.shape)], axis=1)
        ranks, ties = above.sum(axis=1) + 1, tied.sum(axis=1)
        yield sd.RankSet(name, ranks, 201, ties=ties, classes=classes), classes


@pytest.mark.parametrize("scheme", [WITH, WITHOUT])
def test_means_deviations_and_chances_are_those_of_simulated_draws_of_items(scheme):
    sets, classes = zip(*some_sets(), strict=True)
    rng, m, runs = np.random.default_rng(11), 20, 4_000
    values = np.zeros((3, runs))
    for i, every in enumerate(classes):
        for above, tied, total, weight in every.astype(int):
            sides = np.repeat([0, 1, 2], [above.sum(), tied.sum(), (total - above - tied).sum()])
            each = np.concatenate(
                [np.repeat(weight, x) for x in (above, tied, total - above - tied)]
            )
            order = rng.random((runs, len(each)))
            if scheme == WITH:
                drawn = rng.choice(len(each), (runs, m), p=each / each.sum())
            else:
                drawn = np.argpartition(rng.exponential(size=order.shape) / each, m)[:, :m]
            first = np.where(sides == 1, order < rng.random((runs, 1)), sides == 0)
            values[i] += np.take_along_axis(first, drawn, axis=1).sum(axis=1) < 5
    values /= 25
    options = {"scheme": scheme}
    for ranks, simulated in zip(sets, values, strict=True):
        std = sd.std_of_mean("Recall@5", ranks, m, **options)
        mean = sd.expected_mean("Recall@5", ranks, m, **options)
        assert simulated.mean() == pytest.approx(mean, abs=4 * std / runs**0.5)
        assert simulated.std() == pytest.approx(std, rel=4 / (2 * runs) ** 0.5)
        again = sd.simulate("Recall@5", ranks, m, 2_000, rng, **options)
        assert again.mean() == pytest.approx(mean, abs=4 * std / 2_000**0.5)
    for row in sd.probability_of_order("Recall@5", sets, m, **options).itertuples():
        better, worse = (values["ABC".index(x)] for x in (row.better, row.worse))
        seen = np.mean(better > worse + 1e-9)
        error = 4 * max(row.probability * (1 - row.probability) / runs, 1e-5) ** 0.5
        assert seen == pytest.approx(row.probability, abs=error)


def test_one_weight_is_uniform_and_a_verdict_has_the_same_numbers():
    ranks, n, m = [3, 16, 9], 24, 8
    above = np.array(ranks)[:, None] - 1
    one = [np.stack([above, 0 * above, 0 * above + n - 1, 0 * above + 7], axis=1), None]
    sets = [sd.RankSet(x, ranks, n, classes=c) for x, c in zip("PQ", one, strict=True)]
    for metric in ("Recall@3", "AP", "AUC"):
        by_weight = sd.expected_mean(metric, sets[0], m, scheme=WITHOUT)
        assert by_weight == pytest.approx(sd.expected_mean(metric, sets[1], m), abs=1e-12)
    other = sd.RankSet("R", [1, 2, 3], n, classes=one[0] * 0 + [[[0], [0], [23], [7]]] + [
        [[x], [0], [0], [0]] for x in range(3)
    ])  # fmt: skip
    row = sd.verdict(["AP"], [sets[0], other], m, scheme=WITHOUT).iloc[0]
    uniform = sd.verdict(["AP"], [sets[1], sd.RankSet("R", [1, 2, 3], n)], m).iloc[0]
    assert (row.better, row.state) == ("R", "right")
    assert row.sampled == pytest.approx(uniform.sampled, abs=1e-12)
    assert row.probability == pytest.approx(uniform.probability, abs=1e-9)


def test_classes_have_the_weight_of_their_items():
    parts, weights = classes_of([3, 0, 3, 8])
    np.testing.assert_allclose(parts @ weights, [3, 0, 3, 8], rtol=1e-14)
    assert np.all((parts == 0) | (parts == 1))
    many = 1e4 / np.arange(1, 3_001)
    parts, weights = classes_of(many)
    assert len(weights) <= 65
    np.testing.assert_allclose(parts @ weights, many, atol=1e-4 * many.max())
    exact, m = np.eye(300), 30
    above = np.arange(300) < 20
    for some in (many[:300], np.r_[many[:290], np.zeros(10)]):
        laws = []
        for parts, weights in (classes_of(some), (exact, some)):
            every = parts.sum(axis=0)
            classes = np.stack([above @ parts, 0 * every, every, weights])[None]
            laws.append(law(classes, m)[0])
        np.testing.assert_allclose(*laws, atol=5e-5)


@pytest.mark.parametrize(("power", "error"), [(0.75, 1e-7), (1, 2e-6), (2, 1e-3), (3, 0.02)])
def test_interpolated_classes_change_little(power, error):
    """Against a class for each weight: 3,706 items with a Zipf curve, 6 relevant items."""
    rng = np.random.default_rng(0)
    times = np.maximum(1, 3400 * np.arange(1, 3707) ** -0.9 * rng.uniform(0.6, 1.4, 3706)).round()
    above = rng.random((6, 3706)) < np.array([[0.0005], [0.001], [0.003], [0.01], [0.03], [0.1]])
    parts, weight = classes_of(times**power)
    every, place = np.unique(times**power, return_inverse=True)
    for m in (5, 20, 100):
        laws = []
        for membership, weights in ((parts, weight), (np.eye(len(every))[place], every)):
            negatives = np.broadcast_to(membership.sum(axis=0), (6, len(weights)))
            each = [above @ membership, 0 * negatives, negatives, 0 * negatives + weights]
            laws.append(law(np.stack(each, axis=1), m))
        assert len(weight) <= 64 < len(every)
        assert np.abs(laws[0] - laws[1]).max() < error


def test_negatives_are_equally_likely_if_all_have_weight_0():
    # The relevant item has all the weight. One and two of three negatives are above it.
    ranks = sd.ranks_from_scores([[2.0, 3, 1, 0], [1, 2, 5, 0]], [0, 0], weights=[1, 0, 0, 0])
    for scheme in ("popularity", "popularity-without-replacement"):
        assert abs(sd.expected_mean("Recall@1", ranks, 1, scheme=scheme) - 0.5) < 1e-5
