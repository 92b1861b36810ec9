"""TOPK and ATOP against Steck's definitions, and against Recall and AUC."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sampledash as sd
from sampledash.metrics import places_within, share_of
from tests.oracles import SCHEMES, WITHOUT, dense_law
from tests.test_metrics import relevant_sets


@given(relevant_sets(), st.integers(0, 1000))
def test_of_set_is_the_definition(case: tuple[int, list[int]], thousandths: int) -> None:
    # Eq. 1-2 and 5 of Steck use the share of all N - 1 others that is above an item.
    n, ranks = case
    x = [Fraction(r - 1, n - 1) for r in ranks]
    topk = Fraction(sum(one <= Fraction(thousandths, 1000) for one in x), len(ranks))
    ours = sd.metric("topk", k=thousandths / 1000).of_set(ranks, n)
    assert ours == pytest.approx(float(topk), abs=1e-14)
    atop = 1 - sum(x) / len(ranks)
    assert sd.parse_metric("ATOP").of_set(ranks, n) == pytest.approx(float(atop), abs=1e-14)


@given(st.floats(0, 1), st.integers(2, 10**9), st.integers(1, 10**9))
def test_a_share_survives_its_text_and_leads_back_to_its_place(share, n, place) -> None:
    assert sd.parse_metric(str(sd.metric("topk", k=share))).share == share
    short = share_of(place, n)
    assert int(places_within(short, n - 1)) == min(place, n)
    assert len(str(sd.metric("topk", k=short))) <= len("TOPK@") + 2 + len(str(n))


@given(st.integers(1, 2000), st.integers(0, 1000))
@example(100, 290)  # 0.29 * 100 < 29 in floating point
def test_the_place_of_a_share_is_exact(others: int, thousandths: int) -> None:
    share = Fraction(thousandths, 1000)
    expected = 1 + max(a for a in range(others + 1) if Fraction(a, others) <= share)
    assert places_within(thousandths / 1000, [others, others]).tolist() == [expected] * 2


@given(st.integers(0, 10_000), st.sampled_from([0.0, 0.05, 0.25, 0.5, 1.0]))
def test_means_are_those_of_the_measures(seed: int, share: float) -> None:
    """``mean`` follows eq. 1, 2 and 4 of Steck; an item is first, middle or last of its ties."""
    rng, rows = np.random.default_rng(seed), []
    for user in range(int(rng.integers(1, 5))):
        n = int(rng.integers(3, 10))
        places = np.sort(rng.permutation(n)[: rng.integers(1, n)]) + 1
        tied = int(rng.integers(0, n - places[0] + 1)) if len(places) == 1 else 0
        rows += [(user, int(r), tied, n) for r in places]
    labels, ranks, ties, n = (np.array(column) for column in zip(*rows, strict=True))
    ranked = sd.RankSet("S", ranks, n, instances=labels, ties=ties)
    for how, part in (("optimistic", 0.0), ("expected", 0.5), ("pessimistic", 1.0)):
        x = (ranks - 1 + part * ties) / (n - 1)
        measures = {"ATOP": 1 - x}
        if how != "expected":  # "expected" TOPK averages over the ties
            measures[f"TOPK@{share}"] = x <= share + 1e-12
        for name, values in measures.items():
            of_users = np.mean([values[labels == user].mean() for user in set(labels)])
            for weighting, mean in (("relevant-items", values.mean()), ("instances", of_users)):
                ours = sd.mean(name, ranked, ties=how, weighting=weighting)
                assert ours == pytest.approx(mean)


CORRECTED = [*product(SCHEMES, (None, "rank-estimate", "bv:0.1")), (WITHOUT, "cls")]


@pytest.mark.parametrize(("scheme", "correction"), CORRECTED)
def test_at_every_m_topk_is_the_recall_of_its_place(scheme, correction) -> None:
    rng = np.random.default_rng(4)
    ranks = sd.RankSet("A", rng.integers(1, 297, 80), 300, ties=rng.integers(0, 4, 80))
    options = {"scheme": scheme, "correction": correction}
    options |= {"odds": 2.0} if scheme == "popularity" else {}
    m_values = [1, 7, 19, 20, 100, 299]
    names = ("TOPK@0.05", "ATOP", "AUC")
    topk, atop, auc = (sd.curve(x, [ranks], m_values, **options)["A"] for x in names)
    assert atop.tolist() == pytest.approx(auc.tolist())
    for m in m_values:
        # TOPK counts the first 1 + floor(0.05 m) ranks of the sampled list. A correction estimates
        # exact TOPK, which counts the first 15 of 300 ranks.
        others = m if correction is None else 299
        recall = f"Recall@{1 + int(np.floor(0.05 * others + 1e-9))}"
        assert topk[m] == pytest.approx(sd.expected_mean(recall, ranks, m, **options), abs=1e-12)
        if m < 299:
            one, other = (sd.std_of_mean(x, ranks, m, **options) for x in ("TOPK@0.05", recall))
            assert one == pytest.approx(other, abs=1e-12)


@pytest.mark.parametrize("method", ["mle", "mes", "monotone-mle", "bv-mle", "bv:0.1"])
def test_estimates_and_bounds_are_those_of_recall(method) -> None:
    t = 1 + np.random.default_rng(8).binomial(50, np.linspace(0, 1, 400) ** 3)
    srs = sd.SampledRankSet("A", t, 1000, 50, scheme="with-replacement")
    one, other = (sd.estimate(name, srs, method) for name in ("TOPK@0.02", "Recall@20"))
    assert (one.value, one.low, one.high) == pytest.approx((other.value, other.low, other.high))
    assert sd.bounds("TOPK@0.02", srs) == pytest.approx(sd.bounds("Recall@20", srs))
    assert sd.bounds("ATOP", srs) == pytest.approx(sd.bounds("AUC", srs))


def several() -> sd.RankSet:
    rng, rows = np.random.default_rng(3), []
    for user in range(60):
        n = int(rng.integers(40, 90))
        places = rng.choice(n - 2, rng.integers(1, 5), replace=False) + 1
        rows += [(user, int(r), n) for r in places]
    labels, ranks, n = zip(*rows, strict=True)
    return sd.RankSet("A", ranks, n, instances=labels)


@pytest.mark.parametrize("name", ["TOPK@0.1", "ATOP"])
@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize("correction", [None, "bv:0.1"])
def test_relevant_items_are_drawn_for_one_by_one(name, scheme, correction) -> None:
    # Section 2.3 of Steck draws from all items, also relevant items, so each relevant item is like
    # a separate instance among all other items.
    ranks = several()
    single = sd.RankSet("A", ranks.ranks, ranks.n)
    options = {"scheme": scheme, "correction": correction}
    options |= {"odds": 2.0} if scheme == "popularity" else {}
    for m, f in product((1, 10, 30, 200), (sd.expected_mean, sd.std_of_mean)):
        ours = f(name, ranks, m, weighting="relevant-items", **options)
        assert ours == pytest.approx(f(name, single, m, **options), abs=1e-12)


def test_users_weigh_alike_and_ties_are_averaged() -> None:
    ranks, m = several(), 20
    pairs = zip(ranks.ranks.tolist(), ranks.n.tolist(), strict=True)
    laws = np.array([dense_law(size, m, WITHOUT)[rank - 1] for rank, size in pairs])
    weights = 1 / np.bincount(ranks.instances)[ranks.instances] / 60
    hit, atop = laws[:, :3].sum(axis=1), laws @ (1 - np.arange(m + 1) / m)
    for name, values in (("TOPK@0.1", hit), ("ATOP", atop)):
        ours = sd.expected_mean(name, ranks, m, scheme=WITHOUT)
        assert ours == pytest.approx(values @ weights, abs=1e-12)
    std = np.sqrt((hit * (1 - hit)) @ weights**2)
    assert sd.std_of_mean("TOPK@0.1", ranks, m, scheme=WITHOUT) == pytest.approx(std, abs=1e-12)
    # Ranks 9..14 of 21 are equally likely; in 3 of 6 (up to 11), at most half of others are above.
    tied = sd.RankSet("A", [9], 21, ties=[5])
    assert sd.mean("TOPK@0.5", tied) == pytest.approx(3 / 6)
    assert sd.mean("ATOP", tied) == pytest.approx(1 - (10.5) / 20)


@pytest.mark.parametrize("name", ["ATOP", "TOPK@0"])  # with m = 1, both metrics are 1 or both are 0
def test_few_instances_have_their_exact_law(name) -> None:
    # Two systems rank two items of each of two users, each with one negative: 2^8 outcomes.
    ranks = sd.RankSet("A", [1, 3, 2, 4], 5, instances=[0, 0, 1, 1])
    worse = sd.RankSet("B", [2, 4, 3, 5], 5, instances=[0, 0, 1, 1])
    below = (5 - np.concatenate([ranks.ranks, worse.ranks])) / 4
    hits = np.array(list(product([0, 1], repeat=8)))
    p = np.prod(np.where(hits, below, 1 - below), axis=1)
    chance = p @ (hits[:, :4].sum(axis=1) > hits[:, 4:].sum(axis=1))
    found = sd.probability_of_order(name, [ranks, worse], 1, scheme=WITHOUT)
    assert found["probability"].iloc[0] == pytest.approx(chance, abs=1e-9)
