"""Candidates of a test as a sample of a larger corpus: estimates for the whole corpus."""

from itertools import permutations

import numpy as np
import pytest

import sampledash as sd


def test_ties_of_a_test_corpus_are_read_in_every_order():
    ties = sd.RankSet("A", [1, 3, 2], n=[5, 5, 7], ties=[2, 1, 0], counts=[2, 1, 3])
    sample = sd.as_sample(ties, 100)
    counts = dict.fromkeys(permutations(range(1, 8), 2), 0.0)
    for rank, n, tied, count in zip(ties.ranks, ties.n, ties.ties, ties.counts, strict=True):
        for place in range(rank, rank + tied + 1):
            counts[int(place), int(n) - 1] = counts.get((int(place), int(n) - 1), 0.0) + count / (
                tied + 1
            )
    by_m = zip(sample.outcomes.m, sample.outcomes.counts, strict=True)
    seen = {(place, m): count for m, at in by_m for place, count in enumerate(at, 1) if count}
    assert seen == pytest.approx({key: count for key, count in counts.items() if count})
    assert (sample.population, sample.scheme) == (100, "without-replacement")


@pytest.mark.parametrize("n", [5_000, 10**6, 10**9])
def test_estimates_hold_for_the_corpus_that_the_candidates_of_a_test_are_drawn_from(n):
    rng = np.random.default_rng(n)
    # Ranks in the whole corpus, log-logistic: half of them are up to n / 200.
    share = rng.random(3_000)
    true = np.clip(np.ceil(n / 200 * (share / (1 - share)) ** 1.2), 1, n).astype(np.int64)
    # The candidates of the test above the relevant item: a draw of 999 from the n - 1 others.
    above = rng.hypergeometric(true - 1, n - true, 999)
    sample = sd.as_sample(sd.RankSet("A", above + 1, n=1_000), n)
    for metric in (f"Recall@{n // 100}", f"NDCG@{n // 20}", "AUC"):
        exact = sd.mean(metric, sd.RankSet("A", true, n=n))
        estimate = sd.estimate(metric, sample, "monotone-mle")
        assert estimate.low <= exact <= estimate.high
        assert estimate.value == pytest.approx(exact, abs=0.03)
