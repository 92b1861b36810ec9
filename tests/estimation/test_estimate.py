"""Point estimates by definition and their accuracy; intervals and what they decide; scatter."""

from __future__ import annotations

import numpy as np
import pytest

import sampledash as sd
from sampledash.estimation import (
    bounds,
    compare,
    estimate,
    fit_learned,
    fitted_side_by_side,
    interval,
    point,
)
from sampledash.estimation.estimate import METHODS, points, slopes, standard_error
from sampledash.estimation.rank_distribution import pooled
from sampledash.sampledranks import Outcomes, SampledRankSet
from tests.benchmarks.estimators import SHARED, SIDE_BY_SIDE, drawn, quality, values_of
from tests.estimation.cases import beta_drawn, own_n_drawn
from tests.oracles import UNIFORM, WITH, WITHOUT


@pytest.mark.parametrize("scheme", UNIFORM)
@pytest.mark.parametrize("text", ["Recall@10", "NDCG", "AP", "AUC", "Precision@3"])
def test_by_definition(scheme: str, text: str) -> None:
    srs = beta_drawn(500, 20, scheme)
    metric, rank = sd.parse_metric(text), np.arange(1, 501)
    for method in ("mle", "mes", "monotone-mle"):
        p = sd.rank_distribution(srs, method)
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
    entries = list(zip([1, 3, 2, 7], [5, 5, 12, 12], strict=True))
    for method in ("BV 0.1", "CLS", "bv-mle", "mn"):
        if method in METHODS:
            values = [fit_learned(method, "AP", srs, m=m)(t) for t, m in entries]
        else:
            recipe = sd.parse_correction(method)
            values = [recipe.fit("AP", sd.Sampling(90, m))(t) for t, m in entries]
        mean = np.average(values, weights=[1, 1, 1, 0.5])
        assert point("AP", srs, method) == pytest.approx(mean, rel=1e-10)


@pytest.mark.parametrize("method", [*METHODS, "BV 0.1"])
def test_runs_together_are_runs_alone(method: str) -> None:
    rng = np.random.default_rng(0)
    small = (rng.poisson(3, (3, 6)).astype(float), rng.poisson(2, (3, 10)).astype(float))
    runs = Outcomes(150, WITH, (5, 9), small)
    together = points("NDCG@10", runs, method)
    for i in range(3):
        alone = points("NDCG@10", Outcomes(150, WITH, (5, 9), tuple(c[i] for c in small)), method)
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
    srs = beta_drawn(500, 20, WITH)
    found = estimate("NDCG@10", srs, method)
    assert found.value == point("NDCG@10", srs, method)
    assert found.low <= found.value <= found.high
    assert (found.low, found.high) == interval("NDCG@10", srs, method, 0.95)
    assert found == estimate("NDCG@10", srs, method)  # no generator: the same every time
    surer = estimate("NDCG@10", srs, method, confidence=0.99, rng=np.random.default_rng(1))
    assert surer.low <= found.low
    assert surer.high > found.high


def test_names() -> None:
    srs = beta_drawn(500, 20, WITH)
    assert point("AP", srs, " Monotone_MLE ") == point("AP", srs, "monotone-mle")
    assert point("AP", srs, "BV") == point("AP", srs, sd.correction("BV", gamma=0.1))
    for refused in (point, interval):
        with pytest.raises(ValueError, match=r"method 'best' is not understood: use mle, mes"):
            refused("AP", srs, "best")
    with pytest.raises(ValueError, match="sampled_rank 2 cannot occur with n = 2 and m = 2"):
        point("AP", SampledRankSet("S", [2], 2, 2), "bv-mle")


@pytest.fixture(scope="module")
def runs() -> list[Outcomes]:
    return drawn(100, 100, np.random.default_rng(7))


@pytest.mark.parametrize("method", ["mle", "mes", "bv-mle", "bv-mes", "mn"])
def test_recall_at_1_to_50_within_nine_percent(method: str, runs: list[Outcomes]) -> None:
    few = [Outcomes(run.n, WITH, run.m, (run.counts[0][:15],)) for run in runs]
    values = values_of(method, few)
    assert 100 * quality(values)[0].mean() <= 9
    for text, place in (("Recall@10", 0), ("Recall@50", -1)):
        assert points(text, few[1], method) == pytest.approx(values[1, :, place], rel=1e-8)


@pytest.mark.parametrize(
    ("method", "error", "cell"),
    # Seeded; a share of 83 % over 100 runs has a standard error of 4.
    [("monotone-mle", 3, 0), (SHARED[0], 8, 78), (SHARED[1], 5, 74), (SIDE_BY_SIDE, 3, 80)],
)
def test_mean_of_an_estimate_and_order_of_pairs(
    method: str, error: float, cell: float, runs: list[Outcomes]
) -> None:
    _, mean, cells = quality(values_of(method, runs))
    assert 100 * mean.mean() <= error
    assert cells.min() >= cell


def test_side_by_side_of_sets(xyz: list[sd.RankSet], runs: list[Outcomes]) -> None:
    one = [Outcomes(run.n, WITH, run.m, (run.counts[0][:1],)) for run in runs]
    values = values_of(SIDE_BY_SIDE, one)
    sets = [
        SampledRankSet(rs.system, np.arange(1, 102), 3541, 100, counts=run.counts[0][0])
        for rs, run in zip(xyz, one, strict=True)
    ]
    for i, found in enumerate(fitted_side_by_side(sets)):
        assert found.expected("AP") == pytest.approx(values[i, 0, 2], rel=1e-9)
    assert pooled(tuple(sets)).total == pytest.approx(3 * len(xyz[0]))


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


@pytest.fixture(scope="module")
def samples(xyz) -> dict[str, SampledRankSet]:
    rng = np.random.default_rng(11)
    return {one.system: own_n_drawn(one, 3541, 100, rng) for one in xyz}


def test_without_an_estimator_it_is_what_sampling_error_leaves_open(samples) -> None:
    for shape in (None, "non-increasing"):
        found = interval("Recall@10", samples["Y"], shape=shape)
        assert found == bounds("Recall@10", samples["Y"], shape=shape)
    wide, narrow = (interval("AUC", samples["Y"], confidence=c) for c in (0.99, 0.8))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_with_an_estimator_it_spans_its_scatter_too(samples) -> None:
    # A mean of a vector scatters by the vector's standard deviation over the root of |D|.
    y = samples["Y"]
    low, high = interval("AUC", y, "uncorrected")
    inner = interval("AUC", y)
    above = y.sampled_ranks - 1
    value, error = 1 - above.mean() / 100, above.std() / 100 / np.sqrt(len(y))
    assert low == pytest.approx(min(inner[0], value - 1.96 * error), abs=0.25 * error)
    assert high == pytest.approx(max(inner[1], value + 1.96 * error), abs=0.25 * error)


def test_the_bootstrap_is_reproducible_and_agrees_with_the_derivatives(samples) -> None:
    def drawn(seed: int) -> tuple[float, float]:
        return interval("AUC", samples["X"], "uncorrected", rng=np.random.default_rng(seed))

    assert drawn(0) == drawn(0) != drawn(1)
    low, high = interval("AUC", samples["X"], "uncorrected")
    # 200 samples know a standard deviation to 5 %: 4 standard errors.
    assert np.ptp(drawn(0)) == pytest.approx(high - low, rel=0.2)


def test_what_a_sample_decides(samples, xyz) -> None:
    exact = {one.system: sd.mean("AUC", one) for one in xyz}
    assert exact["X"] > exact["Y"] > exact["Z"]
    found = compare("AUC", samples["Y"], samples["X"])
    assert found.low <= exact["Y"] - exact["X"] <= found.high < 0
    assert (found.better, str(found)) == ("X", "X > Y")
    other = compare("AUC", samples["X"], samples["Y"])
    assert str(other) == "X > Y"
    assert (other.low, other.high) == pytest.approx((-found.high, -found.low), abs=1e-6)


def test_what_a_sample_leaves_open(samples, xyz) -> None:
    # Sampled Recall@10 has the order X, Y, Z; the exact one Z, Y, X: neither may be claimed.
    found = compare("Recall@10", samples["X"], samples["Z"])
    exact = sd.mean("Recall@10", xyz[0]) - sd.mean("Recall@10", xyz[2])
    assert found.low < exact < 0 < found.high
    assert (found.better, str(found)) == (None, "undecided")
    shaped = compare("Recall@10", samples["X"], samples["Z"], shape="non-increasing")
    assert found.low < shaped.low < exact < shaped.high < found.high


def test_two_numbers_of_negatives_and_a_learned_estimator() -> None:
    rng = np.random.default_rng(12)
    m = np.repeat([20, 50], 300)
    srs = SampledRankSet("A", 1 + rng.binomial(m, rng.random(600) ** 3), 300, m)
    low, high = interval("NDCG@10", srs, "mle")
    inner = interval("NDCG@10", srs)
    assert low <= inner[0] < inner[1] <= high


@pytest.mark.parametrize(
    ("options", "words"),
    [({"confidence": x}, "confidence must be") for x in (0, 1, -0.5, 2, float("nan"), "high")]
    + [({"shape": "flat"}, "shape must be one of")],
)
def test_refusals(samples, options, words) -> None:
    with pytest.raises(ValueError, match=words):
        interval("AUC", samples["X"], **options)
    with pytest.raises(ValueError, match=words):
        compare("AUC", samples["X"], samples["Y"], **options)


def observed(n: int, scheme: str, sizes: dict[int, int]) -> Outcomes:
    rng = np.random.default_rng(3)
    counts = []
    for m, size in sizes.items():
        ranks = np.minimum(1 + (n * rng.beta(0.4, 2, size)).astype(int), n)
        drawn = sd.Sampling(n, m, scheme).draw(ranks, rng)
        counts.append(np.bincount(drawn - 1, minlength=m + 1).astype(float))
    return Outcomes(n, scheme, tuple(sizes), tuple(counts))


def moved(sample: Outcomes, group: int, one: int, other: int, weight: float) -> Outcomes:
    """Weight taken from one outcome and given to another of the same group."""
    counts = [c.copy() for c in sample.counts]
    counts[group][one] += weight
    counts[group][other] -= weight
    return Outcomes(sample.n, sample.scheme, sample.m, tuple(counts))


@pytest.mark.parametrize("scheme", UNIFORM)
@pytest.mark.parametrize("method", [*METHODS, "BV 0.1"])
def test_slopes_by_differences(method: str, scheme: str) -> None:
    for sample, text in (
        (observed(300, scheme, {20: 700}), "NDCG@10"),
        (observed(300, scheme, {8: 300, 15: 500}), "AP"),
        (observed(9_000, scheme, {30: 2000}), "Recall@700"),
    ):
        metric, total, start = sd.parse_metric(text), float(sample.total), 0
        found = slopes(metric, sample, method)
        for group, counts in enumerate(sample.counts):
            first, second = np.argsort(-counts)[:2]
            step = 1e-4 * total
            up, down = (
                float(points(metric, moved(sample, group, first, second, w), method))
                for w in (step, -step)
            )
            difference = (up - down) / (2 * step) * total
            ours = found[start + first] - found[start + second]
            assert ours == pytest.approx(difference, rel=1e-5), (text, group)
            start += len(counts)


@pytest.mark.parametrize("method", ["mle", "mes", "monotone-mle", "bv-mle", "mn", "BV 0.1"])
def test_against_resampling(method: str) -> None:
    sample = observed(200, WITH, {10: 2000, 16: 1000})
    rng = np.random.default_rng(0)
    again = tuple(
        rng.multinomial(int(c.sum()), c / c.sum(), 400).astype(float) for c in sample.counts
    )
    values = points("NDCG@10", Outcomes(200, WITH, (10, 16), again), method)
    # 400 runs know a standard deviation to 1 / sqrt(800) = 3.5 %: four of these.
    assert standard_error("NDCG@10", sample, method) == pytest.approx(np.std(values), rel=0.14)


def test_one_outcome_does_not_scatter() -> None:
    sample = Outcomes(100, WITH, (5,), (np.array([40.0, 0, 0, 0, 0, 0]),))
    for method in ("mle", "mes", "bv-mle", "BV 0.1"):
        assert standard_error("AP", sample, method) == pytest.approx(0, abs=1e-12)


def test_more_instances_scatter_less() -> None:
    sample = observed(500, WITH, {20: 700})
    tenfold = Outcomes(500, WITH, (20,), (sample.counts[0] * 10,))
    for method in ("mle", "monotone-mle", "CLS"):
        one, ten = (standard_error("Recall@10", s, method) for s in (sample, tenfold))
        assert ten == pytest.approx(one / np.sqrt(10), rel=1e-9)
