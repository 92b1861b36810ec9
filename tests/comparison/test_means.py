"""Mean metrics of rank sets and their standard deviations, against loops and exact sums."""

from fractions import Fraction
from functools import lru_cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

import sampledash as sd
from sampledash.comparison import means
from sampledash.expectation import resize_prior
from sampledash.types import Floats, Ints
from tests import oracles
from tests.comparison.made import options_of
from tests.oracles import SCHEMES, UNIFORM, WITHOUT, dense_law, exact_law

METRIC = ["AUC", "Recall@10", "Precision@10", "NDCG@10", "NDCG", "AP", "AP@20", "RR", "HitRate@5"]
law_of = lru_cache(maxsize=2)(dense_law)


def by_rows(metric, rs, m, scheme, odds=1.0):
    """Return the mean metric and its standard deviation by a loop; all instances share one n."""
    law = law_of(int(rs.n[0]), m, scheme, odds)
    values = sd.parse_metric(metric)(np.arange(1, m + 2), m + 1)
    mean = spread = 0.0
    for r, t, w in zip(rs.ranks, rs.ties, rs.counts, strict=True):
        p = law[r - 1 : r + t].mean(axis=0)
        e = p @ values
        mean += w * e
        spread += w * (p @ (values - e) ** 2)
    return mean / rs.counts.sum(), np.sqrt(spread) / rs.counts.sum()


# Each rank in AT is tied with as many others as TIES says: few or all, at the top, middle or end.
AT = [1, 1, 3, 900, 5000, 1, 2999, 5990, 6000, 17, 17]
TIES = [0, 5999, 2500, 4000, 1000, 20, 2, 10, 0, 0, 30]
BLOCKS = sd.RankSet("S", AT, 6000, ties=TIES, counts=[1, 2, 1, 1, 3, 1, 1, 1, 1, 2, 1])
SMALL = sd.RankSet("S", [2, 1, 5], 8, ties=[3, 7, 0])
LARGE = sd.RankSet("S", [1, 40, 1500, 2990, 7], 3000, ties=[2999, 2500, 60, 10, 0])
TIED = [(BLOCKS, x, m, scheme) for m in (1, 9, 60) for scheme in SCHEMES for x in METRIC]
SOME = ("AUC", "Recall@10", "NDCG", "AP")
TIED += [(LARGE, x, m, scheme) for m in (500, 2999) for scheme in UNIFORM for x in SOME]


@pytest.mark.parametrize(("rs", "metric", "m", "scheme"), TIED)
def test_large_blocks_of_ties(rs: sd.RankSet, metric: str, m: int, scheme: str) -> None:
    n, options = int(rs.n[0]), options_of(scheme, 2.5)
    mean, std = by_rows(metric, rs, m, scheme, options.get("odds", 1.0))
    assert sd.expected_mean(metric, rs, m, **options) == pytest.approx(mean, rel=1e-9)
    assert sd.std_of_mean(metric, rs, m, **options) == pytest.approx(std, rel=1e-8, abs=1e-12)
    rows, parsed = zip(rs.ranks, rs.ties, strict=True), sd.parse_metric(metric)
    exact = [np.mean(parsed(np.arange(r, r + t + 1), n)) for r, t in rows]
    assert sd.mean(metric, rs) == pytest.approx(np.average(exact, weights=rs.counts), rel=1e-12)


@pytest.mark.parametrize(("rs", "m"), [(BLOCKS, 9), (SMALL, 3), (SMALL, 20)])
def test_ties_among_negatives_whose_duplicates_are_collapsed(rs: sd.RankSet, m: int) -> None:
    n = int(rs.n[0])
    different = [Fraction(1)]  # probabilities of 0, 1, ... different items after some draws
    for _ in range(m):
        seen = [p * Fraction(d, n - 1) for d, p in enumerate(different)]
        new = [p - again for p, again in zip(different, seen, strict=True)]
        different = [a + b for a, b in zip([*seen, Fraction(0)], [Fraction(0), *new], strict=True)]
    law = np.zeros((n, m + 1))
    for d, p in enumerate(different[:n]):
        law[:, : d + 1] += float(p) * (dense_law(n, d, WITHOUT) if d else 1.0)
    values = sd.parse_metric("NDCG@3")(np.arange(1, m + 2), m + 1)
    rows = [law[r - 1 : r + t].mean(axis=0) for r, t in zip(rs.ranks, rs.ties, strict=True)]
    means = np.array(rows) @ values
    variances = np.array(rows) @ values**2 - means**2
    options = options_of("collapsed", 1.0)
    total = rs.counts.sum()
    mean, variance = rs.counts @ means / total, rs.counts @ variances / total**2
    assert sd.expected_mean("NDCG@3", rs, m, **options) == pytest.approx(mean, rel=1e-12)
    assert sd.std_of_mean("NDCG@3", rs, m, **options) == pytest.approx(np.sqrt(variance), rel=1e-10)


@pytest.mark.parametrize("metric", ["NDCG", "AP", "NDCG@2000", "Recall@50000"])
def test_a_block_of_ties_longer_than_any_table(metric: str, monkeypatch) -> None:
    monkeypatch.setattr(means, "_TABLE", 1_000_000)  # as 12,000,000 are with a table of ten million
    rank, tied, n = 1_000, 1_200_000, 2_000_000
    rs = sd.RankSet("S", [rank, 3], n, ties=[tied, 0])
    block = sd.parse_metric(metric)(np.arange(rank, rank + tied + 1), n)
    exact = (np.mean(block) + sd.parse_metric(metric)(np.array([3]), n)[0]) / 2
    assert sd.mean(metric, rs) == pytest.approx(exact, rel=1e-11)


def test_more_negatives_than_there_are_change_nothing() -> None:
    # Sets in which only some instances have fewer than m negatives are in test_enumeration.
    rs = sd.RankSet("S", [2, 3, 30], [5, 9, 100])
    for m in (99, 5000):
        ours = sd.expected_mean("AP", rs, m, scheme=WITHOUT, correction="BV 0.1")
        assert ours == pytest.approx(sd.mean("AP", rs), rel=1e-14)
        assert sd.std_of_mean("AP", rs, m, scheme=WITHOUT) == 0.0


@pytest.mark.parametrize("scheme", SCHEMES)
def test_many_negatives_and_many_ranks(scheme: str) -> None:
    # With so many ranks, the library skips tiny probabilities or computes only some distributions.
    n, m, options = 4000, 950, options_of(scheme, 0.5)
    rng = np.random.default_rng(5)
    ranks = np.r_[1, 2, n, np.ceil(n * rng.random(8000) ** 1.5).astype(int)]
    distinct, counts = np.unique(ranks, return_counts=True)
    assert len(distinct) > 2500
    p = counts @ dense_law(n, m, scheme, options.get("odds", 1.0))[distinct - 1] / len(ranks)
    for metric in ("AUC", "Recall@10", "Recall@400", "NDCG@100", "AP"):
        true = p @ sd.parse_metric(metric)(np.arange(1, m + 2), m + 1)
        ours = sd.expected_mean(metric, sd.RankSet("S", ranks, n), m, **options)
        assert ours == pytest.approx(true, rel=1e-11)


def ways(size: Ints, m: int) -> Floats:
    """Return binomial coefficients C(s, 0..m) for s in ``size``, to 18 digits: (sizes, m + 1)."""
    i = np.arange(m, dtype=np.longdouble)
    return np.cumprod(np.c_[np.ones(len(size)), (size[:, None] - i) / (i + 1)], axis=1)


@pytest.mark.parametrize("scheme", UNIFORM)
@pytest.mark.parametrize("vary", [0, 300])
def test_many_ranks_among_different_numbers_of_candidates(scheme: str, vary: int) -> None:
    # For so many pairs of rank and n, the library computes only some distributions.
    rng, m = np.random.default_rng(6), 30
    n = 3_000 + rng.integers(0, vary + 1, 30_000)
    above = np.floor(n * rng.random(len(n)) ** 2).astype(int)
    if scheme == WITHOUT:  # scipy's hypergeometric distribution takes ten times as long
        p = ways(above, m) * ways(n - 1 - above, m)[:, ::-1] / ways(n - 1, m)[:, -1:]
    else:
        p = stats.binom.pmf(np.arange(m + 1), m, above[:, None] / (n - 1)[:, None])
    tied = sd.RankSet("S", np.r_[above + 1, 1], np.r_[n, 3_000], ties=np.r_[0 * n, 9])
    rest = dense_law(3_000, m, scheme)[:10].mean(axis=0)
    for metric in ("AUC", "Recall@10", "NDCG@10", "AP"):
        values = sd.parse_metric(metric)(np.arange(1, m + 2), m + 1)
        for rs, laws in ((sd.RankSet("S", above + 1, n), p), (tied, np.vstack([p, rest]))):
            mean = laws @ values
            variance = laws @ values**2 - mean**2
            ours = sd.expected_mean(metric, rs, m, scheme=scheme)
            assert ours == pytest.approx(mean.mean(), rel=1e-12)
            ours = sd.std_of_mean(metric, rs, m, scheme=scheme)
            assert ours == pytest.approx(np.sqrt(variance.sum()) / len(laws), rel=1e-11)


@pytest.mark.parametrize("m", [1, 20])
def test_few_ties_among_very_many_candidates(m: int) -> None:
    # To average over ties by subtracting cumulative probabilities would lose eight digits here.
    n = 10**8
    blocks = [(1, 20), (7, 300), (40_000_000, 1000), (n - 200, 150)]
    rs = sd.RankSet("S", [r for r, _ in blocks], n, ties=[t for _, t in blocks])
    law = []
    for r, t in blocks:
        rows = [exact_law(n, rank, m, WITHOUT) for rank in range(r, r + t + 1)]
        law.append([float(sum(column) / (t + 1)) for column in zip(*rows, strict=True)])
    p = np.mean(law, axis=0)
    for metric in ("AP", "NDCG", "Recall@1", "AUC"):
        values = sd.parse_metric(metric)(np.arange(1, m + 2), m + 1)
        spread = np.mean([x @ (values - x @ values) ** 2 for x in np.array(law)]) / len(blocks)
        ours = sd.expected_mean(metric, rs, m, scheme=WITHOUT)
        assert ours == pytest.approx(p @ values, rel=1e-13)
        std = sd.std_of_mean(metric, rs, m, scheme=WITHOUT)
        assert std == pytest.approx(np.sqrt(spread), rel=1e-10)
    # 1 - Recall@1 of the first block is checked separately: it is too small to show in the mean.
    top = sd.RankSet("T", [1], n, ties=[20])
    missed = 1 - sd.expected_mean("Recall@1", top, m, scheme=WITHOUT)
    assert missed == pytest.approx(sum(law[0][1:]), rel=1e-7)


MIXED = sd.RankSet("M", [3, 5, 9], n=20, instances=["a", "a", "b"])
RISING = np.arange(1.0, 21.0)


@given(st.lists(st.integers(0, 5), min_size=2, max_size=9).filter(any), st.integers(2, 12))
def test_weight_is_spread_over_parts_of_the_list(prior: list[int], n: int) -> None:
    size = len(prior)

    def common(i: int, r: int) -> Fraction:
        low, high = max(Fraction(i, n), Fraction(r, size)), Fraction(i + 1, n)
        return max(min(high, Fraction(r + 1, size)) - low, Fraction(0)) * size

    true = [float(sum(p * common(i, r) for r, p in enumerate(prior))) for i in range(n)]
    found = resize_prior(np.array(prior, dtype=float), n)
    np.testing.assert_allclose(found, true, rtol=1e-14)
    assert found.sum() == pytest.approx(sum(prior))


def one_dropped(prior: np.ndarray) -> np.ndarray:
    """Return the rank distribution of an item after one other candidate is removed at random."""
    n = len(prior)
    above = np.arange(n - 1)
    return prior[:-1] * (n - 1 - above) / (n - 1) + prior[1:] * (above + 1) / (n - 1)


@pytest.mark.parametrize("scheme", UNIFORM)
def test_several_relevant_items(scheme: str) -> None:
    # Corrected values are fitted at n = 20 for first items, and at n = 19 for second items.
    m, gamma, vectors = 4, 0.1, []
    for j, size, prior in ((1, 20, RISING), (2, 19, one_dropped(RISING))):
        law, target = dense_law(size, m, scheme), oracles.dense_target("ap", None, size, j)
        vectors.append(oracles.dense_bias_variance(law, target, gamma, prior))
    items = (2, 19, 0), (3, 19, 1), (8, 20, 0)  # (items above, negatives + 1, index in vectors)
    first, second, alone = (dense_law(n, m, scheme)[above] @ vectors[j] for above, n, j in items)
    recipe = sd.correction("BV", gamma=gamma, prior=RISING)
    found = sd.expected_mean("AP", MIXED, m, correction=recipe, scheme=scheme)
    assert found == pytest.approx(((first + second) / 2 + alone) / 2, rel=1e-12)


# The first items have a mean n of 60, but the second item is ranked among 99 candidates.
LONGER = sd.RankSet("L", [3, 5, 9], n=[100, 100, 20], instances=["a", "a", "b"])


@pytest.mark.parametrize(("rs", "n"), [(MIXED, 20), (LONGER, 60)])
@pytest.mark.parametrize("metric", ["AP", "Recall@3", "ATOP"])
def test_a_uniform_prior_is_none(metric: str, rs: sd.RankSet, n: int) -> None:
    for recipe in ("BV", "CLS"):
        own = sd.expected_mean(metric, rs, 4, correction=sd.correction(recipe, prior=[1] * n))
        assert own == pytest.approx(sd.expected_mean(metric, rs, 4, correction=recipe), rel=1e-9)
