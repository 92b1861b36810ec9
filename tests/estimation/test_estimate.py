"""Point estimates by definition, and their accuracy where the exact metrics are known."""

from __future__ import annotations

import numpy as np
import pytest

import sampledash as sd
from sampledash.estimation import (
    distribution,
    estimate,
    fit_learned,
    fitted_side_by_side,
    point,
)
from sampledash.estimation.distribution import side_by_side
from sampledash.estimation.intervals import interval
from sampledash.estimation.points import METHODS, points
from sampledash.estimation.sample import Sample, sample_of
from sampledash.estimation.vectors import prior_method, weighed
from sampledash.sampledranks import SampledRankSet
from tests.oracles import UNIFORM, WITH, WITHOUT

METRICS = ("Recall@10", "NDCG@10", "AP")
N, M, RUNS = 3541, 100, 100


def drawn(scheme: str, n: int = 500, m: int = 20) -> SampledRankSet:
    rng = np.random.default_rng(9)
    ranks = np.minimum(1 + (n * rng.beta(0.4, 2, 700)).astype(int), n)
    return SampledRankSet("S", sd.Sampling(n, m, scheme).draw(ranks, rng), n, m, scheme=scheme)


@pytest.mark.parametrize("scheme", UNIFORM)
@pytest.mark.parametrize("text", ["Recall@10", "NDCG", "AP", "AUC", "Precision@3"])
def test_by_definition(scheme: str, text: str) -> None:
    srs = drawn(scheme)
    metric, rank = sd.parse_metric(text), np.arange(1, 501)
    for method in ("mle", "mes", "monotone-mle"):
        p = distribution.rank_distribution(srs, method)
        assert point(text, srs, method) == pytest.approx(p @ metric(rank, 500), rel=1e-12)
    for method in ("bv-mle", "bv-mes", "bv-monotone-mle", "mn"):
        mean = np.mean(fit_learned(method, text, srs)(srs.sampled_ranks))
        assert point(text, srs, method) == pytest.approx(mean, rel=1e-10)
    for recipe in ("BV 0.1", "CLS", "rank estimate", "uncorrected", sd.correction("BV", gamma=0.3)):
        found = sd.parse_correction(recipe) if isinstance(recipe, str) else recipe
        fit = found.fit(metric, sd.Sampling(500, 20, scheme))
        assert point(text, srs, recipe) == pytest.approx(np.mean(fit(srs.sampled_ranks)), rel=1e-12)


def test_groups_of_negatives_are_averaged_by_weight() -> None:
    srs = SampledRankSet("S", [1, 3, 2, 7], 90, [5, 5, 12, 12], counts=[1, 1, 1, 0.5])
    for recipe in ("BV 0.1", "CLS"):
        values = [
            sd.parse_correction(recipe).fit("AP", sd.Sampling(90, m))(t)
            for t, m in zip([1, 3, 2, 7], [5, 5, 12, 12], strict=True)
        ]
        mean = np.average(values, weights=[1, 1, 1, 0.5])
        assert point("AP", srs, recipe) == pytest.approx(mean, rel=1e-12)
    for method in ("bv-mle", "mn"):
        values = [
            fit_learned(method, "AP", srs, m=m)(t)
            for t, m in zip([1, 3, 2, 7], [5, 5, 12, 12], strict=True)
        ]
        mean = np.average(values, weights=[1, 1, 1, 0.5])
        assert point("AP", srs, method) == pytest.approx(mean, rel=1e-10)


@pytest.mark.parametrize("method", [*METHODS, "BV 0.1"])
def test_runs_together_are_runs_alone(method: str) -> None:
    rng = np.random.default_rng(0)
    small = (rng.poisson(3, (3, 6)).astype(float), rng.poisson(2, (3, 10)).astype(float))
    runs = Sample(150, WITH, (5, 9), small)
    together = points("NDCG@10", runs, method)
    for i in range(3):
        alone = points("NDCG@10", Sample(150, WITH, (5, 9), tuple(c[i] for c in small)), method)
        assert together[i] == pytest.approx(float(alone), rel=1e-9)


@pytest.mark.parametrize("method", [*METHODS, "BV 0.1", "CLS"])
def test_any_n(method: str) -> None:
    # The share of ranks in the upper half of 1,000,000,000 is no guesswork.
    n, rng = 10**9, np.random.default_rng(2)
    ranks = rng.integers(1, n + 1, 4000)
    srs = SampledRankSet("S", sd.Sampling(n, 50).draw(ranks, rng), n, 50)
    assert point(f"Recall@{n // 2}", srs, method) == pytest.approx(0.5, abs=0.03)
    assert point("AUC", srs, method) == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize("method", ["monotone-mle", "BV 0.1"])
def test_estimate_holds_the_point_in_its_interval(method: str) -> None:
    srs = drawn(WITH)
    found = estimate("NDCG@10", srs, method)
    assert found.value == point("NDCG@10", srs, method)
    assert found.low <= found.value <= found.high
    assert (found.low, found.high) == interval("NDCG@10", srs, method, 0.95)
    assert found == estimate("NDCG@10", srs, method)  # no generator: the same every time
    surer = estimate("NDCG@10", srs, method, confidence=0.99, rng=np.random.default_rng(1))
    assert surer.low <= found.low
    assert surer.high > found.high


def test_names() -> None:
    srs = drawn(WITH)
    assert point("AP", srs, " Monotone_MLE ") == point("AP", srs, "monotone-mle")
    assert point("AP", srs, "BV") == point("AP", srs, sd.correction("BV", gamma=0.1))
    with pytest.raises(ValueError, match=r"method 'best' is not understood: use mle, mes"):
        point("AP", srs, "best")
    with pytest.raises(ValueError, match="sampled_rank 2 cannot occur with n = 2 and m = 2"):
        point("AP", SampledRankSet("S", [2], 2, 2), "bv-mle")


@pytest.fixture(scope="module")
def runs(xyz: list[sd.RankSet]) -> list[Sample]:
    """Histograms of X, Y, Z over many runs: drawn at the user's own n, fitted with one n."""
    rng = np.random.default_rng(7)
    found = []
    for rs in xyz:
        above, below = rs.ranks - 1, rs.n - rs.ranks
        counts = np.zeros((RUNS, M + 1))
        for run in range(RUNS):
            counts[run] = np.bincount(rng.hypergeometric(above, below, M), minlength=M + 1)
        found.append(Sample(N, WITH, (M,), (counts,)))
    return found


def exact(xyz: list[sd.RankSet], texts: tuple[str, ...]) -> np.ndarray:
    return np.array([[sd.mean(text, rs) for text in texts] for rs in xyz])


def error_of_the_mean(values: np.ndarray, truth: np.ndarray) -> float:
    """Relative error of the mean over runs, averaged over systems and metrics, in %."""
    return float(100 * np.mean(np.abs(values.mean(axis=1) - truth) / truth))


def worst_cell(values: np.ndarray, truth: np.ndarray) -> float:
    """Smallest share of runs with a pair in its true order (a cell of Table 4), in %."""
    shares = []
    for a, b in ((0, 1), (0, 2), (1, 2)):
        shown = np.sign(values[a] - values[b])
        shares.append(100 * np.mean(shown == np.sign(truth[a] - truth[b]), axis=0))
    return float(np.min(shares))


def of_distributions(found: list[distribution.RankDistribution]) -> np.ndarray:
    """(systems, runs, metrics)."""
    return np.stack([[d.expected(text) for text in METRICS] for d in found]).transpose(0, 2, 1)


def test_monotone_is_within_three_percent(xyz: list[sd.RankSet], runs: list[Sample]) -> None:
    found = [distribution.estimate_distribution(run, "monotone-mle") for run in runs]
    assert error_of_the_mean(of_distributions(found), exact(xyz, METRICS)) <= 3


def recalls(method: str, run: Sample) -> np.ndarray:
    """Recall@1..50 of each run: shape (runs, 50)."""
    if method in distribution.METHODS:
        return np.cumsum(distribution.estimate_distribution(run, method).mass[:, :50], axis=1)
    prior = distribution.estimate_distribution(run, prior_method(method))
    law, target = prior.support.law(M), (np.arange(N)[:, None] <= np.arange(50)).astype(float)
    values = []
    for pi, counts in zip(prior.mass, run.counts[0], strict=True):
        variance = np.full(N, 1 / counts.sum()) if method == "mn" else 0.01 * pi
        values.append(counts @ weighed(law, pi, variance, target) / counts.sum())
    return np.array(values)


@pytest.mark.parametrize("method", ["mle", "mes", "bv-mle", "bv-mes", "mn"])
def test_recall_at_1_to_50_within_nine_percent(
    method: str, xyz: list[sd.RankSet], runs: list[Sample]
) -> None:
    truth = exact(xyz, tuple(f"Recall@{k}" for k in range(1, 51)))
    few = [Sample(N, WITH, (M,), (run.counts[0][:25],)) for run in runs]
    errors = [
        np.abs(recalls(method, run) / t - 1).mean() for run, t in zip(few, truth, strict=True)
    ]
    assert 100 * np.mean(errors) <= 9
    for text, k in (("Recall@10", 9), ("Recall@50", 49)):
        one = Sample(N, WITH, (M,), (few[1].counts[0][:1],))
        assert points(text, one, method) == pytest.approx(recalls(method, one)[:, k], rel=1e-8)


@pytest.mark.parametrize(("method", "error", "cell"), [("mle", 8, 78), ("monotone-mle", 5, 74)])
def test_one_learned_vector_for_all(
    method: str, error: float, cell: float, xyz: list[sd.RankSet], runs: list[Sample]
) -> None:
    pooled = sum(run.counts[0] for run in runs)
    prior = distribution.estimate_distribution(Sample(N, WITH, (M,), (pooled,)), method)
    rank = np.arange(1, N + 1)
    exact_ = np.stack([sd.parse_metric(text)(rank, N) for text in METRICS], axis=1)
    law = prior.support.law(M)
    values = np.zeros((3, RUNS, 3))
    for i, pi in enumerate(prior.mass):
        vectors = weighed(law, pi, 0.1 * pi, exact_)
        for s, run in enumerate(runs):
            values[s, i] = run.counts[0][i] @ vectors / run.counts[0][i].sum()
    truth = exact(xyz, METRICS)
    assert error_of_the_mean(values, truth) <= error
    # Seeded; a share of 83 % over 100 runs has a standard error of 4.
    assert worst_cell(values, truth) >= cell


def test_side_by_side_is_nearer_and_in_better_order(
    xyz: list[sd.RankSet], runs: list[Sample]
) -> None:
    pooled = Sample(N, WITH, (M,), (sum(run.counts[0] for run in runs),))
    values = of_distributions(list(side_by_side(pooled, runs)))
    truth = exact(xyz, METRICS)
    assert error_of_the_mean(values, truth) <= 3
    assert worst_cell(values, truth) >= 80
    sets = [
        SampledRankSet(rs.system, np.arange(1, M + 2), N, M, counts=run.counts[0][0])
        for rs, run in zip(xyz, runs, strict=True)
    ]
    for i, found in enumerate(fitted_side_by_side(sets)):
        assert found.expected("AP") == pytest.approx(values[i, 0, 2], rel=1e-9)
    assert sample_of(tuple(sets)).total == pytest.approx(3 * len(xyz[0]))


def test_without_replacement_law_is_used(xyz: list[sd.RankSet]) -> None:
    # n = m + 1: nothing is unknown, and every estimate but the entropy's is the exact metric.
    ranks = np.random.default_rng(0).integers(1, 31, 500)
    srs = SampledRankSet("S", ranks, 30, 29, scheme=WITHOUT)
    truth = sd.mean("NDCG@10", sd.RankSet("S", ranks, 30))
    for method in ("mle", "bv-mle", "mn", "BV 0.1"):
        assert point("NDCG@10", srs, method) == pytest.approx(truth, rel=1e-9)


def test_an_estimate_outside_0_to_1_says_why() -> None:
    # CLS does not decrease the sampled rank's worth of 1, which is above 1 to make up for others.
    first = SampledRankSet("A", [1] * 40 + [2] * 10, 1000, 20)
    above, below, inside = (
        estimate(metric, srs, method)
        for metric, srs, method in (
            ("Recall@100", first, "CLS"),
            ("Recall@10", SampledRankSet("A", [3] * 20 + [4] * 20, 1000, 20), "BV 0.1"),
            ("Recall@100", first, "mle"),
        )
    )
    assert above.value > 1
    assert str(above).endswith(f"({above.reason})")
    assert above.reason.startswith("above 100 %, as no metric is: entries of a corrected vector")
    assert below.value < 0
    assert below.reason.startswith("below 0 %")
    assert (inside.reason, str(inside)[-1]) == ("", "%")
