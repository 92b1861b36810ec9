"""A catalogue drawn by popularity, beside all orders of draws and all random parts of the items."""

from fractions import Fraction
from itertools import combinations, permutations
from math import ceil, comb, floor

import numpy as np
import pytest

from sampledash import by_weight
from sampledash.catalogue import Catalogue

WITH, WITHOUT = "popularity", "popularity-without-replacement"


def law_of(sampling, *ranks):
    ((_, p),) = sampling.laws(np.array(ranks) - 1)
    return p


def enumerated(n, m, zipf, top, above):
    """Return for both designs the distribution of the number above, averaged over random parts.

    With replacement this is the probability of a draw above. ``top`` may be between two numbers.
    """
    weights = [Fraction(float(j) ** -zipf) for j in range(1, n)]
    law, q = [Fraction(0)] * (m + 1), Fraction(0)
    for whole, share in ((floor(top), 1 - top % 1), (ceil(top), top % 1)):
        rest = combinations(range(whole, n - 1), above - whole) if share else ()
        parts = [{*range(whole), *more} for more in rest]
        q += sum(share * weights[item] / len(parts) for part in parts for item in part)
        for order in permutations(range(n - 1), m):
            chance, left = share / max(len(parts), 1), sum(weights)
            for item in order:
                chance, left = chance * weights[item] / left, left - weights[item]
            for part in parts:
                law[len(part.intersection(order))] += chance
    q /= sum(weights)
    return [comb(m, s) * q**s * (1 - q) ** (m - s) for s in range(m + 1)], law


@pytest.mark.parametrize(("n", "m", "zipf"), [(8, 3, 1.0), (7, 4, 0.5), (7, 6, 2.0)])
@pytest.mark.parametrize("bestsellers", [0.0, 0.4, 1.0])
def test_distributions_are_those_of_all_draws_from_a_small_catalogue(n, m, zipf, bestsellers):
    for above in range(n):
        expected = enumerated(n, m, zipf, Fraction(str(bestsellers)) * above, above)
        for scheme, law in zip((WITH, WITHOUT), expected, strict=True):
            sampling = Catalogue(n, m, scheme, zipf=zipf, bestsellers=bestsellers)
            np.testing.assert_allclose(
                law_of(sampling, above + 1), [np.array(law, float)], atol=1e-12
            )
            mean = float(sum(s * p for s, p in enumerate(law))) / m
            assert sampling.share_above(above + 1) == pytest.approx(mean, abs=1e-12)


def test_a_large_catalogue_is_as_its_items_drawn_by_exponential_clocks():
    n, m, zipf, rank, runs = 3_000, 100, 1.0, 81, 4_000
    rng, above = np.random.default_rng(5), np.zeros(runs)
    rates = np.arange(1, n) ** -zipf
    for run in range(runs):
        drawn = np.argpartition(rng.exponential(size=n - 1) / rates, m)[:m]
        more = rng.choice(np.arange(40, n - 1), 40, replace=False)
        above[run] = np.sum(drawn < 40) + len(np.intersect1d(drawn, more))
    (law,) = law_of(Catalogue(n, m, WITHOUT, zipf, 0.5), rank)
    expected = float(law @ np.arange(m + 1))
    assert abs(above.mean() - expected) < 4 * above.std() / runs**0.5
    for k in (25, 30):
        share, chance = float(np.mean(above < k)), float(law[:k].sum())
        assert abs(share - chance) < 4 * (chance * (1 - chance) / runs) ** 0.5


@pytest.mark.parametrize("zipf", [0.3, 1.0, 1.5])
def test_classes_keep_what_single_items_give(zipf):
    sampling = Catalogue(700, 30, WITHOUT, zipf=zipf, bestsellers=1.0)
    share = np.cumsum(np.arange(1, 700) ** -zipf)
    items = np.array([1, 64, 65, 400, 699])
    np.testing.assert_allclose(sampling.share(items), share[items - 1] / share[-1], rtol=1e-9)
    above = (np.arange(699) < np.array([[30], [200]])).astype(float)
    ones, weights = np.ones((2, 699)), np.tile(np.arange(1, 700) ** -zipf, (2, 1))
    exact = by_weight.law(np.stack([above, 0 * above, ones, weights], axis=1), 30)
    np.testing.assert_allclose(law_of(sampling, 31, 201), exact, atol=1e-4)


@pytest.mark.parametrize(("zipf", "bestsellers"), [(0.0, 0.7), (1.3, 0.0)])
def test_without_a_relation_or_with_equal_weights_draws_are_uniform(zipf, bestsellers):
    for scheme in (WITH, WITHOUT):
        sampling, ranks = Catalogue(1_000, 30, scheme, zipf, bestsellers), (1, 2, 50, 999, 1_000)
        uniform = sampling.uniform.pmf(ranks)
        np.testing.assert_allclose(law_of(sampling, *ranks), uniform, atol=1e-6)
