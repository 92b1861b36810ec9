"""Simulated runs against exact moments, within four standard errors."""

from itertools import product

import numpy as np
import pytest

import sampledash as sd
from sampledash.protocol import Protocol
from sampledash.simulation import batches
from tests.oracles import POPULARITY, UNIFORM, WITH, WITHOUT

REPEATS, M = 4000, 15

PLAIN = sd.RankSet("S", [1, 7, 30, 200, 3, 55], 200)
OWN_N = sd.RankSet("S", [1, 7, 3, 90], [5, 12, 60, 200], counts=[1, 3, 2, 1])
TIED = sd.RankSet("S", [1, 5, 40], [100, 90, 120], ties=[30, 0, 70])
USERS = [0, 0, 0, 1, 1, 2, 2, 2]
SEVERAL_N, COUNTS = np.array([120, 110, 6])[USERS], np.array([2, 1, 1])[USERS]
SEVERAL = sd.RankSet("S", [2, 9, 40, 1, 100, 3, 4, 5], SEVERAL_N, instances=USERS, counts=COUNTS)
SEVERAL_TIED = sd.RankSet("S", [2, 9, 40, 1], 60, instances=[0, 0, 0, 1], ties=[5, 0, 10, 3])
MASS = sd.RankSet("S", [2, 9, 40], 60, instances=[0, 0, 1], mass_above=[0.05, 0.7, 0.4])

CASES = {
    "with": (PLAIN, WITH, {}), "popularity": (PLAIN, POPULARITY, {"odds": 3.0}),
    "own n": (OWN_N, WITHOUT, {}), "ties": (TIED, WITHOUT, {}), "ties with": (TIED, WITH, {}),
    "pessimistic": (TIED, WITHOUT, {"ties": "pessimistic"}), "several": (SEVERAL, WITHOUT, {}),
    "several with": (SEVERAL, WITH, {}),
    "several popularity": (SEVERAL, POPULARITY, {"odds": 0.4}),
    "several tied": (SEVERAL_TIED, WITHOUT, {}), "mass": (MASS, POPULARITY, {}),
    "corrected": (PLAIN, WITHOUT, {"fit_scheme": WITH, "correction": "BV 0.1"}),
    "corrected own n": (OWN_N, WITHOUT, {"correction": "rank estimate"}),
    "corrected several": (SEVERAL, WITH, {"correction": "BV 0.5"}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("metric", ["AUC", "Recall@3", "AP", "NDCG@5", "RR"])
def test_moments(case: str, metric: str) -> None:
    rs, scheme, more = CASES[case]
    options = {"scheme": scheme, **more}
    runs = sd.simulate(metric, rs, M, REPEATS, np.random.default_rng(11), **options)
    assert runs.shape == (REPEATS,)
    mean, deviation = runs.mean(), runs.std(ddof=1)
    exact = sd.expected_mean(metric, rs, M, **options)
    assert abs(mean - exact) <= 4 * deviation / np.sqrt(REPEATS) + 1e-12
    if case == "several tied" and metric != "RR":
        return  # its exact scatter is not available
    spread, fourth = sd.std_of_mean(metric, rs, M, **options), np.mean((runs - mean) ** 4)
    error = np.sqrt(max(fourth - deviation**4, 0) / REPEATS)
    assert abs(deviation**2 - spread**2) <= 4 * error + 1e-12


def test_complete_samples_do_not_vary_and_of_others_the_generator_decides() -> None:
    for metric, rs in product(["AUC", "AP", "Recall@3"], [OWN_N, SEVERAL]):
        runs = sd.simulate(metric, rs, 500, 5, np.random.default_rng(0), scheme=WITHOUT)
        assert runs == pytest.approx(np.full(5, sd.mean(metric, rs)), rel=1e-14)
    # One instance, m = 3: the sampled AP can only be 1, 1/2, 1/3 or 1/4.
    five, seeded = sd.RankSet("S", [5], 9), map(np.random.default_rng, (0, 0, 1))
    one, same, other = (sd.simulate("AP", five, 3, 500, rng) for rng in seeded)
    assert set(np.round(1 / one, 9)) == {1.0, 2.0, 3.0, 4.0}
    assert np.array_equal(one, same)
    assert not np.array_equal(one, other)


def test_batches_are_the_runs_in_pieces_with_all_metrics_of_one_draw() -> None:
    rs = sd.RankSet("S", np.random.default_rng(0).integers(1, 2000, 3000), 2000)
    protocol = Protocol.of({"scheme": WITHOUT})
    metrics = [sd.parse_metric(name) for name in ("Recall@10", "Precision@10", "AP")]
    blocks = list(batches(metrics, rs, 50, 100, np.random.default_rng(4), protocol))
    assert len(blocks) > 1  # a page can stop between
    together = np.concatenate(blocks)
    assert together.shape == (100, 3)
    alone = sd.simulate("AP", rs, 50, 100, np.random.default_rng(4), scheme=WITHOUT)
    np.testing.assert_allclose(together[:, 2], alone, rtol=1e-14)
    # With one relevant item Precision@10 is Recall@10 / 10 (eq. 8, 9): so of the same draw.
    np.testing.assert_allclose(together[:, 1], together[:, 0] / 10, rtol=1e-14)


@pytest.mark.parametrize("scheme", UNIFORM)
def test_one_run_of_sampled_ranks_follows_the_law(scheme: str) -> None:
    # Sampled AUC is unbiased (section 4.4.1): mean of 1 - (sampled rank - 1) / m is the exact AUC.
    rng = np.random.default_rng(8)
    rs = sd.RankSet("S", rng.integers(1, 101, 4000), rng.integers(100, 300, 4000))
    run = sd.sample_ranks(rs, 30, rng, scheme=scheme)
    mean, spread = sd.mean("AUC", rs), sd.std_of_mean("AUC", rs, 30, scheme=scheme)
    assert abs(np.mean(1 - (run.sampled_ranks - 1) / 30) - mean) < 4 * spread
    assert np.array_equal(run.n, rs.n)
    assert set(run.m) == {30}


def test_a_run_takes_no_more_negatives_than_there_are_and_puts_ties_in_any_order() -> None:
    rs = sd.RankSet("S", [3] * 3000, 10, ties=[4] * 3000, counts=[2.0] * 3000)
    run = sd.sample_ranks(rs, 50, np.random.default_rng(9))
    assert set(run.m) == {9}
    assert len(run) == 6000  # every instance that a row stands for
    found = np.bincount(run.sampled_ranks, minlength=8)[3:8] / 6000  # all drawn: the true rank
    assert np.all(np.abs(found - 0.2) < 4 * np.sqrt(0.2 * 0.8 / 6000))
