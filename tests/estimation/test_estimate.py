"""Point estimates by definition, accuracy, intervals, what they decide, scatter; cutoffs read."""

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom

import sampledash as sd
from sampledash.estimation import estimate as estimates
from sampledash.estimation.bounds import bounds
from sampledash.estimation.estimate import METHODS, compare, estimate, interval, point, points
from sampledash.estimation.vectors import fit_learned
from sampledash.sampled_rank_sets import Outcomes, SampledRankSet
from tests.benchmarks.estimators import SHARED, SIDE_BY_SIDE, drawn, quality, values_of
from tests.estimation.cases import beta_drawn, own_n_drawn
from tests.oracles import UNIFORM, WITH, WITHOUT, dense_law

FEW = SampledRankSet("S", [1, 3, 2, 7], 90, [5, 5, 12, 12], counts=[1, 1, 1, 0.5])
CASES = {
    "with": beta_drawn(500, 20, WITH),
    "without": beta_drawn(500, 20, WITHOUT),
    "panels": beta_drawn(9_000, 30, WITHOUT),
    "two m": FEW,
}


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("text", ["Recall@10", "NDCG", "AP", "AUC", "Precision@3"])
def test_by_definition(name: str, text: str) -> None:
    srs, metric = CASES[name], sd.parse_metric(text)
    n = srs.population

    def mean_of(values) -> float:
        """Of a vector for each number of negatives."""
        fits = {m: values(m) for m in srs.outcomes.m}
        each = [fits[m](t) for t, m in zip(srs.sampled_ranks, srs.m, strict=True)]
        return float(np.average(each, weights=srs.counts))

    for method in ("mle", "mes", "monotone-mle"):
        exact = sd.rank_distribution(srs, method) @ metric(np.arange(1, n + 1), n)
        assert point(text, srs, method) == pytest.approx(exact, rel=1e-12)
    for method in ("bv-mle", "bv-mes", "bv-monotone-mle", "mn"):
        exact = mean_of(lambda m, method=method: fit_learned(method, text, srs, m=m))
        assert point(text, srs, method) == pytest.approx(exact, rel=1e-10)
    for recipe in ("BV 0.1", "CLS", "rank estimate", sd.correction("BV", gamma=0.3)):
        fit = sd.parse_correction(str(recipe)).fit
        exact = mean_of(lambda m, fit=fit: fit(metric, sd.Sampling(n, m, srs.scheme)))
        assert point(text, srs, recipe) == pytest.approx(exact, rel=1e-10)


@pytest.mark.parametrize("method", [*METHODS, "BV 0.1"])
def test_runs_together_are_runs_alone(method: str) -> None:
    rng = np.random.default_rng(0)
    small = (rng.poisson(3, (3, 6)).astype(float), rng.poisson(2, (3, 10)).astype(float))
    together = points("NDCG@10", Outcomes(150, WITH, (5, 9), small), method)
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
    srs = CASES["with"]
    found = estimate("NDCG@10", srs, method)
    assert found.value == point("NDCG@10", srs, f" {method.upper().replace('-', '_')} ")
    assert found.low <= found.value <= found.high
    assert (found.low, found.high) == interval("NDCG@10", srs, method, 0.95)
    assert found == estimate("NDCG@10", srs, method)  # no generator: the same every time
    surer = estimate("NDCG@10", srs, method, confidence=0.99, rng=np.random.default_rng(1))
    assert surer.low <= found.low
    assert surer.high > found.high


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
def test_mean_of_an_estimate_and_order_of_pairs(method, error, cell, runs):
    _, mean, cells = quality(values_of(method, runs))
    assert 100 * mean.mean() <= error
    assert cells.min() >= cell


@pytest.mark.parametrize("method", ["mle", "bv-mle", "mn", "BV 0.1"])
def test_all_negatives_drawn_leave_nothing_unknown(method: str) -> None:
    ranks = np.random.default_rng(0).integers(1, 31, 500)
    srs = SampledRankSet("S", ranks, 30, 29, scheme=WITHOUT)
    truth = sd.mean("NDCG@10", sd.RankSet("S", ranks, 30))
    assert point("NDCG@10", srs, method) == pytest.approx(truth, rel=1e-9)
    for rank in (1, 2, 3):  # of MN the equations then have many solutions
        alone = SampledRankSet("A", [rank], 3, 2, scheme=WITHOUT)
        assert point("AUC", alone, method) == pytest.approx((3 - rank) / 2)


def test_an_estimate_outside_0_to_1_says_why() -> None:
    # CLS does not decrease the sampled rank's worth of 1, which is above 1 to make up for others.
    first = SampledRankSet("A", [1] * 40 + [2] * 10, 1000, 20)
    above, inside = (estimate("Recall@100", first, method) for method in ("CLS", "mle"))
    below = estimate("Recall@10", SampledRankSet("A", [3] * 20 + [4] * 20, 1000, 20), "BV 0.1")
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
    y = samples["Y"]
    for shape in (None, "non-increasing"):
        assert interval("Recall@10", y, shape=shape) == bounds("Recall@10", y, shape=shape)
    wide, narrow = (interval("AUC", y, confidence=c) for c in (0.99, 0.8))
    assert wide[0] < narrow[0] < narrow[1] < wide[1]


def test_with_an_estimator_it_spans_its_scatter_too(samples) -> None:
    # A mean of a vector scatters by the vector's standard deviation over the root of |D|.
    y = samples["Y"]
    low, high = interval("AUC", y, "uncorrected")
    inner, above = interval("AUC", y), y.sampled_ranks - 1
    value, error = 1 - above.mean() / 100, above.std() / 100 / np.sqrt(len(y))
    assert low == pytest.approx(min(inner[0], value - 1.96 * error), abs=0.25 * error)
    assert high == pytest.approx(max(inner[1], value + 1.96 * error), abs=0.25 * error)

    def bootstrap(seed: int) -> tuple[float, float]:
        return interval("AUC", y, "uncorrected", rng=np.random.default_rng(seed))

    assert bootstrap(0) == bootstrap(0) != bootstrap(1)
    # 200 samples know a standard deviation to 5 %: 4 standard errors.
    assert np.ptp(bootstrap(0)) == pytest.approx(high - low, rel=0.2)


def test_what_a_sample_decides_and_leaves_open(samples, xyz) -> None:
    x, y, z = samples.values()
    auc, recall = ([sd.mean(text, rs) for rs in xyz] for text in ("AUC", "Recall@10"))
    found = compare("AUC", y, x)
    assert found.low <= auc[1] - auc[0] <= found.high < 0
    assert (found.better, str(found)) == ("X", "X > Y")
    other = compare("AUC", x, y)
    assert str(other) == "X > Y"
    assert (other.low, other.high) == pytest.approx((-found.high, -found.low), abs=1e-6)
    # Sampled Recall@10 has the order X, Y, Z; the exact one Z, Y, X: neither may be claimed.
    found, exact = compare("Recall@10", x, z), recall[0] - recall[2]
    assert found.low < exact < 0 < found.high
    assert (found.better, str(found)) == (None, "undecided")
    shaped = compare("Recall@10", x, z, shape="non-increasing")
    assert found.low < shaped.low < exact < shaped.high < found.high


def observed(n: int, scheme: str, sizes: dict[int, int]) -> Outcomes:
    counts = [
        beta_drawn(n, m, scheme, size, seed=3).outcomes.counts[0] for m, size in sizes.items()
    ]
    return Outcomes(n, scheme, tuple(sizes), tuple(counts))


@pytest.mark.parametrize("scheme", UNIFORM)
@pytest.mark.parametrize("method", [*METHODS, "BV 0.1"])
def test_slopes_by_differences(method: str, scheme: str) -> None:
    for n, sizes, text in (
        (300, {20: 700}, "NDCG@10"),
        (30, {8: 300}, "AUC"),
        (300, {8: 300, 15: 500}, "AP"),
        (9_000, {30: 2000}, "Recall@700"),
    ):
        sample, metric, start = observed(n, scheme, sizes), sd.parse_metric(text), 0
        found, step = estimates.slopes(metric, sample, method), 1e-4 * float(sample.total)
        for group, counts in enumerate(sample.counts):
            most = start + np.argsort(-counts)[:2]  # weight goes from the one to the other

            def moved(by: float, most=most, sample=sample) -> Outcomes:
                every = np.concatenate(sample.counts)
                every[most] += by, -by
                return Outcomes(sample.n, sample.scheme, sample.m, tuple(sample.by_m(every)))

            up, down = (float(points(metric, moved(by), method)) for by in (step, -step))
            difference = found[most[0]] - found[most[1]]
            assert difference == pytest.approx((up - down) / 2e-4, rel=1e-5), (text, group)
            start += len(counts)


@pytest.mark.parametrize("method", ["mle", "mes", "monotone-mle", "bv-mle", "mn", "BV 0.1"])
def test_against_resampling(method: str) -> None:
    sample, rng = observed(200, WITH, {10: 2000, 16: 1000}), np.random.default_rng(0)
    again = tuple(
        rng.multinomial(int(c.sum()), c / c.sum(), 400).astype(float) for c in sample.counts
    )
    values = points("NDCG@10", Outcomes(200, WITH, (10, 16), again), method)
    # 400 runs know a standard deviation to 1 / sqrt(800) = 3.5 %: four of these.
    error = estimates.standard_error("NDCG@10", sample, method)
    assert error == pytest.approx(np.std(values), rel=0.14)
    # Ten times as many instances scatter less, a single outcome not at all.
    tenfold = Outcomes(200, WITH, (10, 16), tuple(10 * c for c in sample.counts))
    if method not in ("mes", "mn"):
        less = estimates.standard_error("NDCG@10", tenfold, method)
        assert less == pytest.approx(error / np.sqrt(10), rel=1e-9)
    alike = Outcomes(100, WITH, (5,), (np.array([40.0, 0, 0, 0, 0, 0]),))
    assert estimates.standard_error("AP", alike, method) == pytest.approx(0, abs=1e-12)


def test_linear_cutoffs() -> None:
    # The end of the sampled list is near that of the full one.
    assert [estimates.full_cutoff(k, 3706, 100) for k in (1, 2, 10, 101)] == [1, 38, 334, 3706]
    assert [estimates.full_cutoff(k, 10, 9) for k in (1, 4)] == [1, 4]


@pytest.mark.parametrize("a", [0.2, 0.5, 1.0, 2.5])
def test_cutoffs_of_beta_ranks_by_integration(a: float) -> None:
    # Chance of a sampled rank up to k if the share above has density a p^(a-1): u = p^a is uniform.
    n, m = 5000, 20
    for k in (1, 5, 20):
        total = quad(
            lambda u, k=k: binom.cdf(k - 1, m, u ** (1 / a)), 0, 1, epsabs=1e-13, limit=200
        )
        by_hand = 1 + (n - 1) * total[0] ** (1 / a)
        assert estimates.full_cutoff(k, n, m, beta=a) == pytest.approx(by_hand, rel=1e-8)
    assert estimates.full_cutoff(m + 1, n, m, beta=a) == n


@pytest.mark.parametrize("scheme", UNIFORM)
def test_matching_cutoffs_by_counting(scheme: str) -> None:
    n, rng = 120, np.random.default_rng(0)
    ranks = np.minimum(1 + (n * rng.beta(0.5, 2, 200)).astype(int), n)
    rs = sd.RankSet("S", ranks, n)
    for k, m in ((1, 15), (3, 15), (10, 15), (16, 15), (1, 1), (2, 1)):
        law = dense_law(n, m, scheme)[ranks - 1]
        expected = law[:, :k].sum(axis=1).mean()
        by_hand = next(K for K in range(1, n + 1) if np.mean(ranks <= K) >= expected - 1e-12)
        assert estimates.matching_cutoff(k, rs, m, scheme=scheme) == by_hand
    # More negatives than there are: all are drawn, and ranks are what they are.
    assert estimates.matching_cutoff(100, rs, 5_000, scheme=WITHOUT) == ranks[ranks <= 100].max()


def test_matching_cutoffs_of_own_n_and_few_negatives(xyz: list[sd.RankSet]) -> None:
    # The public mean, at the cutoff found and one below.
    for rs in xyz:
        for m in (100, 2_000):
            k = estimates.matching_cutoff(10, rs, m, scheme=WITHOUT)
            sampled = sd.expected_mean("Recall@10", rs, m, scheme=WITHOUT)
            assert sd.mean(f"Recall@{k}", rs) >= sampled - 1e-9
            assert k == 1 or sd.mean(f"Recall@{k - 1}", rs) < sampled
    assert len({estimates.matching_cutoff(10, rs, 100) for rs in xyz}) == 3  # one for each system
