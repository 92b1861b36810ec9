"""TOPK and ATOP as metrics: against Steck's definitions, and against Recall and AUC."""

from __future__ import annotations

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sampledash as sd
from sampledash.metrics import places_within, share_of
from tests.oracles import SCHEMES, WITH, WITHOUT, dense_law
from tests.test_metrics import relevant_sets

WEIGHTINGS = ("relevant-items", "instances")


@given(relevant_sets(), st.integers(0, 1000))
def test_of_set_is_the_definition(case: tuple[int, list[int]], thousandths: int) -> None:
    # Eq. 1-2 and 5 of Steck: the position of an item as a share of all N - 1 others.
    n, ranks = case
    x = [Fraction(r - 1, n - 1) for r in ranks]
    share = thousandths / 1000
    topk = Fraction(sum(one <= Fraction(thousandths, 1000) for one in x), len(ranks))
    assert sd.metric("topk", k=share).of_set(ranks, n) == pytest.approx(float(topk), abs=1e-14)
    atop = 1 - sum(x) / len(ranks)
    assert sd.parse_metric("ATOP").of_set(ranks, n) == pytest.approx(float(atop), abs=1e-14)


@pytest.mark.parametrize(
    ("text", "shown", "share"),
    [
        ("TOPK@0.02", "TOPK@0.02", 0.02),
        ("topk@2%", "TOPK@0.02", 0.02),
        ("TOPK at .5", "TOPK@0.5", 0.5),
        ("TOPK@0", "TOPK@0", 0.0),
        ("TOPK@1e-3", "TOPK@0.001", 0.001),
        ("TOPK@100 %", "TOPK@1", 1.0),
        ("TOPK@0.7%", "TOPK@0.007", 0.007),
        ("TOPK@1e-9%", "TOPK@1e-11", 1e-11),
    ],
)
def test_a_share_is_read_and_written(text: str, shown: str, share: float) -> None:
    found = sd.parse_metric(text)
    assert (str(found), found.share, found.k) == (shown, share, None)
    assert sd.parse_metric(str(found)) == found


@given(st.floats(0, 1))
def test_every_share_survives_its_text(share: float) -> None:
    assert sd.parse_metric(str(sd.metric("topk", k=share))).share == share


@given(st.integers(2, 10**9), st.integers(1, 10**9))
def test_the_share_of_a_place_leads_back_to_it(n: int, place: int) -> None:
    share = share_of(place, n)
    assert int(places_within(share, n - 1)) == min(place, n)
    assert len(str(sd.metric("topk", k=share))) <= len("TOPK@") + 2 + len(str(n))


def test_shares_are_short() -> None:
    cases = {(10, 10_000): 0.001, (10, 3706): 0.0025, (1, 5): 0.0, (5, 5): 1.0, (20, 100): 0.2}
    assert {case: share_of(*case) for case in cases} == cases
    with pytest.raises(ValueError, match="k must be at least 1, got 0"):
        share_of(0, 10)


def _sets() -> sd.RankSet:
    """Several relevant items, own n, ties."""
    rng = np.random.default_rng(3)
    labels = np.repeat(np.arange(60), rng.integers(1, 5, 60))
    n = np.repeat(rng.integers(40, 90, 60), np.bincount(labels))
    ranks = np.concatenate(
        [
            rng.choice(int(n[labels == i][0]) - 2, np.sum(labels == i), replace=False) + 1
            for i in range(60)
        ]
    )
    return sd.RankSet("A", ranks, n, instances=labels)


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.05, 0.25, 0.5, 1.0]))
def test_means_are_those_of_the_measures(seed: int, share: float) -> None:
    """Eq. 1, 2 and 4 pair by pair, each among all other items; ties first, in the middle, last."""
    rng, rows, users = np.random.default_rng(seed), [], []
    for user in range(int(rng.integers(1, 5))):
        n = int(rng.integers(3, 10))
        size = int(rng.integers(1, n))
        places = np.sort(rng.permutation(n)[:size]) + 1
        tied = int(rng.integers(0, n - places[0] + 1)) if size == 1 else 0
        rows += [(user, int(r), tied, n) for r in places]
        users.append([(int(r), tied, n) for r in places])
    labels, ranks, ties, sizes = zip(*rows, strict=True)
    ranked = sd.RankSet("S", ranks, sizes, instances=labels, ties=ties)
    for how, part in (("optimistic", 0.0), ("expected", 0.5), ("pessimistic", 1.0)):
        x = [[(r - 1 + part * tied) / (n - 1) for r, tied, n in one] for one in users]
        measures = {"ATOP": [[1 - v for v in one] for one in x]}
        if how != "expected":  # TOPK is averaged over the order of the ties
            measures[f"TOPK@{share}"] = [[v <= share + 1e-12 for v in one] for one in x]
        for name, values in measures.items():
            pairs = np.mean([v for one in values for v in one])
            mean = np.mean([np.mean(one) for one in values])
            ours = (sd.mean(name, ranked, ties=how, weighting=w) for w in WEIGHTINGS)
            assert tuple(ours) == pytest.approx((pairs, mean))


def test_ties_are_averaged_over_their_order() -> None:
    # Rank 9..14 of 21, equally likely: places up to 11 count at 0.5, so 3 of 6.
    tied = sd.RankSet("A", [9], 21, ties=[5])
    assert sd.mean("TOPK@0.5", tied) == pytest.approx(3 / 6)
    assert sd.mean("ATOP", tied) == pytest.approx(1 - (10.5) / 20)


@given(st.integers(1, 2000), st.integers(0, 1000))
def test_the_place_of_a_share_is_exact(others: int, thousandths: int) -> None:
    share = Fraction(thousandths, 1000)
    expected = 1 + max(a for a in range(others + 1) if Fraction(a, others) <= share)
    assert places_within(thousandths / 1000, others) == expected


def test_the_place_of_a_share_where_the_product_rounds() -> None:
    assert 0.29 * 100 < 29  # in floating point
    assert places_within(0.29, 100) == 30
    assert places_within(0.0, [1, 50]).tolist() == [1, 1]
    assert places_within(1.0, 50) == 51


@pytest.mark.parametrize(
    ("scheme", "correction"),
    [(scheme, recipe) for scheme in SCHEMES for recipe in (None, "rank-estimate", "bv:0.1")]
    + [(WITHOUT, "cls")],
)
def test_at_every_m_topk_is_the_recall_of_its_place(scheme, correction) -> None:
    rng = np.random.default_rng(4)
    sets = [
        sd.RankSet(name, rng.integers(1, 297, 80), 300, ties=rng.integers(0, 4, 80))
        for name in "AB"
    ]
    options = {"scheme": scheme, "correction": correction}
    if scheme == "popularity":
        options["odds"] = 2.0
    share, m_values = 0.05, [1, 7, 19, 20, 100, 299]
    got = sd.curve(f"TOPK@{share}", sets, m_values, **options)
    auc = sd.curve("AUC", sets, m_values, **options)
    assert sd.curve("ATOP", sets, m_values, **options).to_numpy() == pytest.approx(auc.to_numpy())
    for m in m_values:
        if correction is None:
            # What the reader of the sampled list sees: the first 1 + floor(0.05 m) places.
            recall = f"Recall@{1 + int(np.floor(share * m + 1e-9))}"
        else:  # corrected is the exact metric, of the first 15 places of 300
            recall = f"Recall@{1 + int(np.floor(share * 299))}"
        for ranks in sets:
            expected = sd.expected_mean(recall, ranks, m, **options)
            assert got.loc[m, ranks.system] == pytest.approx(expected, abs=1e-12)
            if m < 299:
                std = sd.std_of_mean(recall, ranks, m, **options)
                ours = sd.std_of_mean(f"TOPK@{share}", ranks, m, **options)
                assert ours == pytest.approx(std, abs=1e-12)


def test_own_n_each_instance_has_its_own_place() -> None:
    rng = np.random.default_rng(5)
    n = rng.integers(50, 200, 40)
    ranks = 1 + (rng.random(40) * n).astype(int)
    own = sd.RankSet("A", ranks, n)
    for m in (10, 120, 250):
        total = 0.0
        for r, size in zip(ranks.tolist(), n.tolist(), strict=True):
            if size - 1 <= m:
                total += (r - 1) / (size - 1) <= 0.3
            else:
                p = dense_law(size, m, WITHOUT)[r - 1]
                total += p[: int(places_within(0.3, m))].sum()
        found = sd.expected_mean("TOPK@0.3", own, m, scheme=WITHOUT)
        assert found == pytest.approx(total / 40, abs=1e-12)


def test_a_normalised_cutoff_is_the_rank_estimate() -> None:
    # Eq. 20 without the floor: rank 1 + (n-1)(r~-1)/m is in the first places exactly where
    # (r~-1)/m is at most their share.
    n, m = 1001, 100
    share = 25 / (n - 1)
    sampled = sd.parse_metric(f"TOPK@{share}")(np.arange(1, m + 2), m + 1)
    estimate = sd.parse_correction("rank-estimate").fit(
        sd.metric("recall", k=26), sd.Sampling(n, m, WITH)
    )
    assert np.array_equal(sampled, estimate.values)


@pytest.mark.parametrize("method", ["mle", "mes", "monotone-mle", "bv-mle", "bv:0.1"])
def test_estimates_and_bounds_are_those_of_recall(method) -> None:
    t = 1 + np.random.default_rng(8).binomial(50, np.linspace(0, 1, 400) ** 3)
    srs = sd.SampledRankSet("A", t, 1000, 50)
    one, other = (sd.estimate(name, srs, method) for name in ("TOPK@0.02", "Recall@20"))
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))
    assert sd.bounds("TOPK@0.02", srs) == pytest.approx(sd.bounds("Recall@20", srs))
    assert sd.bounds("ATOP", srs) == pytest.approx(sd.bounds("AUC", srs))


def _apart(ranks: sd.RankSet) -> sd.RankSet:
    """The same relevant items, each an instance of its own among all other items."""
    return sd.RankSet(ranks.system, ranks.ranks, ranks.n)


@pytest.mark.parametrize("name", ["TOPK@0.1", "ATOP"])
@pytest.mark.parametrize("scheme", [WITH, WITHOUT, "popularity"])
@pytest.mark.parametrize("correction", [None, "bv:0.1"])
def test_relevant_items_are_drawn_for_one_by_one(name, scheme, correction) -> None:
    # Section 2.3 of Steck: others are drawn from all items, relevant ones too.
    ranks, single = _sets(), _apart(_sets())
    options = {"scheme": scheme, "correction": correction, "odds": 2.0}
    if scheme != "popularity":
        del options["odds"]
    for m in (1, 10, 30, 200):
        for f in (sd.expected_mean, sd.std_of_mean):
            ours = f(name, ranks, m, weighting="relevant-items", **options)
            assert ours == pytest.approx(f(name, single, m, **options), abs=1e-12)


def test_users_weigh_alike_however_many_relevant_items_they_have() -> None:
    ranks, m = _sets(), 20
    pairs = zip(ranks.ranks.tolist(), ranks.n.tolist(), strict=True)
    laws = np.array([dense_law(size, m, WITHOUT)[rank - 1] for rank, size in pairs])
    each = {"TOPK@0.1": laws[:, :3].sum(axis=1), "ATOP": laws @ (1 - np.arange(m + 1) / m)}
    _, user, times = np.unique(ranks.instances, return_inverse=True, return_counts=True)
    for name, values in each.items():
        expected = float(np.sum(values / times[user])) / len(times)
        ours = sd.expected_mean(name, ranks, m, scheme=WITHOUT)
        assert ours == pytest.approx(expected, abs=1e-12)
    variance = each["TOPK@0.1"] * (1 - each["TOPK@0.1"])  # it hits or misses
    std = np.sqrt(np.sum(variance / times[user] ** 2)) / len(times)
    assert sd.std_of_mean("TOPK@0.1", ranks, m, scheme=WITHOUT) == pytest.approx(std, abs=1e-12)


@pytest.mark.parametrize("name", ["TOPK@0.1", "ATOP"])
def test_several_relevant_items_everywhere_else(name) -> None:
    ranks, m = _sets(), 20
    lower = np.minimum(ranks.ranks + 2, ranks.n)
    other = sd.RankSet("B", lower, ranks.n, instances=ranks.instances)
    runs = sd.simulate(name, ranks, m, 2000, np.random.default_rng(9), scheme=WITHOUT)
    mean, std = (f(name, ranks, m, scheme=WITHOUT) for f in (sd.expected_mean, sd.std_of_mean))
    assert abs(runs.mean() - mean) < 4 * std / np.sqrt(2000)
    assert abs(runs.std() - std) < 4 * std / np.sqrt(4000)
    found = sd.probability_of_order(name, [ranks, other], m, scheme=WITHOUT)
    chance = found["probability"].iloc[0]
    others = sd.simulate(name, other, m, 2000, np.random.default_rng(10), scheme=WITHOUT)
    share = np.mean(runs > others)
    assert abs(share - chance) < 4 * np.sqrt(chance * (1 - chance) / 2000) + 1e-3
    found = sd.significance(name, [ranks, other], np.random.default_rng(11)).iloc[0]
    assert found["difference"] == pytest.approx(sd.mean(name, ranks) - sd.mean(name, other))
    with pytest.raises(ValueError, match="not available here for several relevant items"):
        sd.probability_if_shared(name, [ranks, other], m, scheme=WITHOUT)


def test_few_instances_have_their_exact_law() -> None:
    # Two users with two relevant items each, one negative for each item: all outcomes.
    ranks = sd.RankSet("A", [1, 3, 2, 4], 5, instances=[0, 0, 1, 1])
    worse = sd.RankSet("B", [2, 4, 3, 5], 5, instances=[0, 0, 1, 1])
    below = [(5 - r) / 4 for r in (1, 3, 2, 4)], [(5 - r) / 4 for r in (2, 4, 3, 5)]
    chance = 0.0
    for hits in product([0, 1], repeat=8):
        p = np.prod([q if h else 1 - q for h, q in zip(hits, [*below[0], *below[1]], strict=True)])
        chance += p * (sum(hits[:4]) > sum(hits[4:]))
    for name in ("ATOP", "TOPK@0"):  # of one negative both say whether it is below
        found = sd.probability_of_order(name, [ranks, worse], 1, scheme=WITHOUT)
        assert found["probability"].iloc[0] == pytest.approx(chance, abs=1e-9)
