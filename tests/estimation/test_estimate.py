"""Estimates and intervals against their definitions, the better system, and equivalent cutoffs."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.stats import binom, norm

import sampledash as sd
from sampledash.estimation import estimate as estimates
from sampledash.estimation.estimate import METHODS, Compared, Estimate, interval, point, points
from sampledash.estimation.rank_distribution import fitted
from sampledash.estimation.vectors import default_gamma, fit_learned, gamma_table, solver
from sampledash.sampled_rank_sets import Outcomes, SampledRankSet
from tests.estimation.cases import adaptive, beta_drawn
from tests.oracles import METRICS, UNIFORM, WITH, WITHOUT, dense_law, exact_metric

CASES = {"two m": SampledRankSet("S", [1, 3, 2, 7], 90, [5, 5, 12, 12], counts=[1, 1, 1, 0.5])}
CASES |= {scheme: beta_drawn(500, 20, scheme) for scheme in UNIFORM}
CASES["panels"] = beta_drawn(9_000, 30, WITHOUT)


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("text", ["Recall@10", "NDCG", "AP", "AUC", "Precision@3"])
def test_by_definition(name: str, text: str) -> None:
    srs, metric = CASES[name], sd.parse_metric(text)
    n = srs.population

    def mean_of(values) -> float:
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


@pytest.mark.parametrize("method", ["mle", "bv-mle", "mn", "BV 0.1"])
@pytest.mark.parametrize("rank", [1, 2, 3])
def test_all_negatives_drawn_leave_nothing_unknown(method: str, rank: int) -> None:
    # The equations of the method MN have many solutions here; each must give the exact metric.
    alone = SampledRankSet("A", [rank], 3, 2, scheme=WITHOUT)
    assert point("AUC", alone, method) == pytest.approx((3 - rank) / 2)


SAYS = "as no metric is: entries of a corrected vector lie outside 0 to 100 % where that lessens "
SAYS += "its bias, and then so may their mean"


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.25, "25.00 %, between 10.00 and 100.00 %"),
     (1 + 1e-9, "100.00 %, between 10.00 and 100.00 %"),
     (-1e-9, "-0.00 %, between 10.00 and 100.00 %"),
     (-2e-9, f"-0.00 %, between 10.00 and 100.00 % (below 0 %, {SAYS})"),
     (1.004, f"100.40 %, between 10.00 and 100.00 % (above 100 %, {SAYS})")],
)  # fmt: skip
def test_how_an_estimate_reads(value: float, text: str) -> None:
    found = Estimate(value, 0.1, 1.0)
    assert (str(found), found.reason) == (text, text.partition("(")[2].removesuffix(")"))
    both = str(Estimate(0.3, 0.1, 1.0, (0.25, 0.35)))
    values = "25.00 % if m was set beforehand, 35.00 % if what was drawn decided m; middle 30.00 %"
    assert both == f"m goes with the rank: {values}, between 10.00 and 100.00 %"


@pytest.mark.parametrize(
    ("low", "high", "better", "text"),
    [(0.1, 0.2, "A", "A > B"), (-0.2, -0.1, "B", "B > A"), (0.0, 0.2, None, "undecided"),
     (-0.2, 0.0, None, "undecided"), (-0.1, 0.1, None, "undecided")],
)  # fmt: skip
def test_which_system_is_better(low: float, high: float, better: str | None, text: str) -> None:
    found = Compared("A", "B", low, high)
    assert (found.better, str(found)) == (better, text)


def test_names_of_estimators() -> None:
    for name, row in METHODS.items():
        for text in (name, f" {name.upper().replace('-', '_')} ", row.label or name):
            assert estimates.as_method(text) == name
    assert estimates.as_method("bv 0.5") == sd.correction("BV", gamma=0.5)
    with pytest.raises(ValueError, match=r"method '' is not understood: use mle, mes, .*, or a"):
        estimates.as_method("")


SPLIT = adaptive(np.linspace(0, 1, 240) ** 3, np.random.default_rng(3), 10, 80, 1)
UNLIKE = beta_drawn(60, 8, WITHOUT, 70), beta_drawn(900, 8, WITHOUT, 90, seed=4)
SAMPLES = {
    "three m": SampledRankSet("S", 1 + SPLIT[1], 800, SPLIT[0], scheme=WITH, adaptive=True),
    "two readings": SampledRankSet("S", 1 + SPLIT[1], 800, SPLIT[0], scheme=WITH),
    "two n": SampledRankSet(
        "S", np.concatenate([x.sampled_ranks for x in UNLIKE]), np.repeat([60, 900], [70, 90]), 8,
        counts=np.linspace(0.5, 1.5, 160), scheme=WITHOUT,
    ),
    "m at random": SampledRankSet(
        "S", 1 + np.random.default_rng(5).binomial(9, 0.2, 90), 90, [9, 12, 15] * 30, scheme=WITH
    ),
    "all drawn": SampledRankSet(
        "S", np.arange(90) % 18 + 1, [20, 60, 20] * 30, [19, 59, 19] * 30,
        counts=np.linspace(0.01, 0.3, 90), scheme=WITHOUT,
    ),
}  # fmt: skip
SAMPLES["all drawn, adaptive"] = replace(SAMPLES["all drawn"], adaptive=True)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("text", ["NDCG@10", "AUC"])
def test_interval_by_definition(name: str, text: str) -> None:
    """An estimate's interval joins ``interval`` with value ± z standard errors, in worst..best."""
    srs, metric = SAMPLES[name], sd.parse_metric(text)
    ends = [[metric.worst_and_best(n) for n in x.extremes or (x.n,)] for x in srs.strata]
    shares = [float(x.total) / srs.n_instances for x in srs.strata]
    worst, best = np.dot(shares, [np.mean(x, axis=0) for x in ends])
    for method, confidence in (("mle", 0.5), ("mn", 0.99), ("uncorrected", 0.7)):
        if srs.readings[-1].adaptive and method != "mle":
            continue
        low, high = interval(text, srs, confidence=confidence)
        values, z = [], norm.isf((1 - confidence) / 2)
        for one in srs.readings:
            variance = 0.0
            for x in one.strata:
                slope = estimates.slopes(metric, x, method)
                parts = [(np.concatenate(x.counts), slope)]
                if not x.adaptive:  # each m is a sample of its own
                    parts = list(zip(x.counts, x.by_m(slope), strict=True))
                for counts, here in parts:
                    off = here - np.average(here, weights=counts)
                    variance += counts @ off**2 / one.n_instances**2
            values.append(point(text, one, method))
            low = max(min(low, values[-1] - z * variance**0.5), worst)
            high = min(max(high, values[-1] + z * variance**0.5), best)
        found = estimates.estimate(text, srs, method, confidence)
        assert (found.low, found.high) == pytest.approx((low, high), abs=1e-9)
        assert found.value == pytest.approx(np.mean(values), abs=1e-12)
        assert found.readings == (tuple(values) if len(values) > 1 else ())
        # 200 resamples give a standard deviation to 5 %: 4 standard errors are allowed.
        again = estimates.estimate(text, srs, method, confidence, np.random.default_rng(1))
        ours, reach = np.subtract([(again.low, again.high), (low, high)], found.value)
        assert ours == pytest.approx(reach, rel=0.2)
        assert name[:3] != "all" or again != found


def observed(n: int, scheme: str, sizes: dict[int, int]) -> Outcomes:
    sets = (beta_drawn(n, m, scheme, size, seed=3) for m, size in sizes.items())
    return Outcomes(n, scheme, tuple(sizes), tuple(x.outcomes.counts[0] for x in sets))


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
            most = start + np.argsort(-counts)[:2]  # move weight between the two largest counts

            def moved(by: float, most=most, sample=sample) -> Outcomes:
                every = np.concatenate(sample.counts)
                every[most] += by, -by
                return Outcomes(sample.n, sample.scheme, sample.m, tuple(sample.by_m(every)))

            up, down = (float(points(metric, moved(by), method)) for by in (step, -step))
            difference = found[most[0]] - found[most[1]]
            assert difference == pytest.approx((up - down) / 2e-4, rel=1e-5), (text, group)
            start += len(counts)


def test_linear_cutoffs() -> None:
    # Without ``beta``, k = m + 1 (the whole sampled list) corresponds to n (the whole list).
    for n, m in ((3706, 100), (10, 9), (2, 1), (7, 20)):
        exact = [1 + math.floor(Fraction((k - 1) * (n - 1), m)) for k in range(1, m + 2)]
        assert [estimates.full_cutoff(k, n, m) for k in range(1, m + 2)] == exact


@pytest.mark.parametrize("a", [0.2, 0.5, 1.0, 2.5])
def test_cutoffs_of_beta_ranks_by_integration(a: float) -> None:
    # If the share p of items above has density a p^(a-1), u = p^a is uniform: integrate over u.
    n, m = 5000, 20
    for k in (1, 5, 20):
        how = {"epsabs": 1e-13, "limit": 200}
        total, _ = quad(lambda u, k=k: binom.cdf(k - 1, m, u ** (1 / a)), 0, 1, **how)
        by_hand = 1 + (n - 1) * total ** (1 / a)
        assert estimates.full_cutoff(k, n, m, beta=a) == pytest.approx(by_hand, rel=1e-8)
    assert estimates.full_cutoff(m + 1, n, m, beta=a) == n


@pytest.mark.parametrize("scheme", UNIFORM)
def test_matching_cutoffs_by_counting(scheme: str) -> None:
    """``matching_cutoff`` is the smallest K at which Recall@K reaches the sampled Recall@k."""
    rng = np.random.default_rng(0)
    for n in (np.full(60, 50), rng.integers(12, 50, 60)):
        ranks, counts = rng.integers(1, np.maximum(n // 2, 2)), rng.integers(1, 4, 60)
        rs = sd.RankSet("S", ranks, n, counts=counts)
        for k, m in ((1, 15), (3, 15), (10, 15), (16, 15), (1, 1), (2, 1), (20, 60)):
            drawn = np.minimum(m, n - 1) if scheme == WITHOUT else np.full(60, m)
            rows = zip(n.tolist(), drawn.tolist(), ranks - 1, strict=True)
            within = [dense_law(size, x, scheme)[above, :k].sum() for size, x, above in rows]
            expected = np.average(within, weights=counts) - 1e-9
            recall = [np.average(ranks <= K, weights=counts) for K in range(1, 51)]
            by_hand = 1 + next(i for i, share in enumerate(recall) if share >= expected)
            assert estimates.matching_cutoff(k, rs, m, scheme=scheme) == by_hand


SIZE = (400, 15)
OTHER = SampledRankSet("T", [1, 1, 4, 16], *SIZE, scheme=WITH)
LARGE = [("recall", 700), ("ndcg", 2500), ("ap", None)]  # cutoffs between nodes of the quadrature


@pytest.mark.parametrize(
    ("sets", "method", "gammas", "metrics"),
    [([beta_drawn(*SIZE, scheme, 900)], method, (None, 0.1), METRICS)
     for scheme in UNIFORM for method in ("bv-mle", "bv-mes", "bv-monotone-mle")]
    + [([beta_drawn(*SIZE, WITH, 900), OTHER], "bv-monotone-mle", (None,), METRICS),
       ([beta_drawn(9_000, 30, WITHOUT, 900)], "bv-mle", (0.1,), LARGE)],
)  # fmt: skip
def test_learned_prior_is_that_of_the_correction(sets, method, gammas, metrics) -> None:
    prior = sd.rank_distribution(sets, method.removeprefix("bv-"))
    one = sets if len(sets) > 1 else sets[0]
    (sampling,) = sets[0].outcomes.samplings
    for name, k in metrics:
        for gamma in gammas:
            fit = fit_learned(method, sd.metric(name, k=k), one, gamma=gamma)
            used = gamma or (0.01 if len(sets) == 1 else 0.1)  # default γ of one or more sets
            again = sd.correction("BV", gamma=used, prior=prior).fit(fit.metric, sampling)
            close = 1e-9 * np.abs(again.values).max()
            np.testing.assert_allclose(fit.values, again.values, atol=close, rtol=0)
            assert fit.method == method
            assert not fit.values.flags.writeable
            if sampling.n == 400:
                assert fit.correction == again.correction
                assert fit.risk() == pytest.approx(again.risk(), rel=1e-6)


@pytest.mark.parametrize("scheme", UNIFORM)
def test_mn_is_the_printed_matrix(scheme: str) -> None:
    """The correction vector MN solves its published equations, at the mean number of instances."""
    first, other = beta_drawn(*SIZE, scheme, 900), beta_drawn(400, 9, scheme, 300, seed=2)
    for sets, size in (([first], 900), ([first, other], 600)):
        pi = sd.rank_distribution(sets)
        for m in {15, 15 if len(sets) == 1 else 9}:
            law = dense_law(400, m, scheme)
            d = law * pi[:, None]
            left = law.T @ d - law.T @ law / size + np.diag(law.sum(axis=0)) / size
            for name, k in METRICS:
                printed = np.linalg.solve(left, d.T @ exact_metric(name, k, 400))
                fit = fit_learned("mn", sd.metric(name, k=k), sets, m=m)
                close = 1e-8 * np.abs(printed).max()
                np.testing.assert_allclose(fit.values, printed, rtol=0, atol=close)
                assert fit.correction.gamma == pytest.approx(1 / size)
                assert fit.sampling == sd.Sampling(400, m, scheme)
    half = SampledRankSet("A", [1], *SIZE, counts=[0.5], scheme=scheme)  # γ = 1 / 0.5, cut to 1
    assert fit_learned("mn", "AP", half).correction.gamma == 1


def test_sampled_ranks_that_cannot_occur_lie_between_their_neighbours() -> None:
    # At both true ranks none or all of 3 draws are above, so sampled ranks 2 and 3 cannot occur.
    rows, mass = np.array([[1.0, 0, 0, 0], [0, 0, 0, 1.0]]), np.array([0.25, 0.75])
    solve = solver(rows, mass, 0.1 * mass)
    moment = rows.T @ (mass[:, None] * [[1.0, 4.0], [0.4, 1.0]])
    assert solve(moment) == pytest.approx(np.linspace([1.0, 4.0], [0.4, 1.0], 4))
    assert solve(moment[:, 0]) == pytest.approx(np.linspace(1.0, 0.4, 4))
    gammas = [default_gamma(x, size) for x in ("bv-mes", "mn") for size in (1, 2)]
    assert gammas == [0.01, 0.1, None, None]


@pytest.mark.parametrize("scheme", UNIFORM)
def test_every_column_of_the_gamma_table_by_definition(scheme: str) -> None:
    n, m, size = 300, 12, 500.0
    sampling, truth = sd.Sampling(n, m, scheme), fitted(beta_drawn(n, m, scheme), "monotone-mle")
    pi, law = truth.probabilities(), dense_law(n, m, scheme)
    table = gamma_table("NDCG@10", sampling, size, truth, gammas=(0.5, 0.01, 1e-5))
    every = gamma_table("NDCG@10", sampling, size, pi, gammas=(0.5, 0.01, 1e-5))
    pd.testing.assert_frame_equal(table, every, rtol=1e-10)
    assert table.gamma.tolist() == [1 / size, 0.5, 0.01, 1e-5]
    usual = gamma_table("NDCG@10", sampling, 0.5, truth).gamma  # the first γ is 1 / 0.5, cut to 1
    assert usual.tolist() == [1.0, *(10 ** (-e / 4) for e in range(25))]
    scaled = law / np.sqrt(law.sum(axis=0))
    for row in table.itertuples():
        values = sd.correction("BV", gamma=row.gamma).fit("NDCG@10", sampling).values
        mean = law @ values
        bias = pi @ (mean - exact_metric("ndcg", 10, n))
        variance = pi @ (law * (values - mean[:, None]) ** 2).sum(axis=1) / size
        matrix = (1 - row.gamma) * scaled.T @ scaled + row.gamma * np.eye(m + 1)
        found = row.bias, row.variance, row.mse, row.largest, row.condition
        exact = bias, variance, bias**2 + variance, np.abs(values).max(), np.linalg.cond(matrix)
        assert found == pytest.approx(exact, rel=1e-6, abs=1e-12)
