"""Where what was drawn decided m: what is right, what is refused, what covers."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import binom

import sampledash as sd
from sampledash.estimation import fitted_side_by_side, interval, point, standard_error
from sampledash.estimation.bounds_likelihood import likely
from sampledash.estimation.points import METHODS
from sampledash.estimation.sample import sample_of
from sampledash.sampledranks import SampledRankSet
from tests.estimation.adaptive_cases import adaptive

RULE = (20, 320, 1)
REFUSED = [m for m in METHODS if m not in ("mle", "monotone-mle")]
REFUSED += ["BV 0.1", "CLS", "rank estimate", "uncorrected"]


def sampled(ranks: sd.RankSet, rng: np.random.Generator, *rule: int) -> SampledRankSet:
    m, above = adaptive((ranks.ranks - 1) / (ranks.n - 1), rng, *rule)
    return SampledRankSet(ranks.system, above + 1, 3541, m)


@pytest.fixture(scope="module")
def runs(xyz) -> list[SampledRankSet]:
    """As Li et al., from fewer on: twice as many until one is above."""
    rng = np.random.default_rng(51)
    return [sampled(one, rng, *RULE) for one in xyz]


@pytest.mark.parametrize("method", ["mle", "monotone-mle"])
def test_the_likelihood_is_right(runs, xyz, method) -> None:
    for srs, ranks in zip(runs, xyz, strict=True):
        assert point("Recall@50", srs, method) == pytest.approx(
            sd.mean("Recall@50", ranks), rel=0.08
        )
        assert point("AUC", srs, method) == pytest.approx(
            sd.mean("AUC", ranks), abs=0.005 if method == "mle" else 0.01
        )


def test_side_by_side_is_right(runs, xyz) -> None:
    for found, ranks in zip(fitted_side_by_side(runs), xyz, strict=True):
        assert found.expected("Recall@50") == pytest.approx(sd.mean("Recall@50", ranks), rel=0.08)


@pytest.mark.parametrize("method", REFUSED)
def test_what_rests_on_the_law_at_each_m_is_wrong_and_refused(runs, xyz, method) -> None:
    x = runs[0]
    with pytest.raises(ValueError, match=r"not valid for system 'X'.*'mle'.*adaptive=False"):
        point("Recall@10", x, method)
    with pytest.raises(ValueError, match=r"not valid for system 'X'.*'mle'.*adaptive=False"):
        interval("Recall@10", x, method)
    # Said to be set beforehand it is not refused, and further off than the likelihood ever is.
    said = SampledRankSet("X", x.sampled_ranks, x.n, x.m, adaptive=False)
    values = {text: point(text, said, method) for text in ("Recall@50", "AUC")}
    exact = {text: sd.mean(text, xyz[0]) for text in values}
    off = [
        abs(values["Recall@50"] / exact["Recall@50"] - 1) / 0.08,
        abs(values["AUC"] - exact["AUC"]) / 0.005,
    ]
    assert max(off) > 1


def test_everything_else_is_refused_with_the_remedy(runs) -> None:
    x, y, _ = runs
    fixed = SampledRankSet("F", [1, 5, 9], 3541, 100)
    for call in (
        lambda: sd.rank_distribution(x, "mes"),
        lambda: sd.rank_distribution([fixed, x], "mes"),
        lambda: sd.fit_learned("bv-mle", "AP", x, m=100),
        lambda: sd.bounds("AP", x, shape="non-increasing"),
        lambda: sd.bounds("AP", fixed, x, shape="non-increasing"),
        lambda: sd.bounds("AP", x, tolerance=0.1),
        lambda: sd.compare("AP", x, y, shape="non-increasing"),
    ):
        with pytest.raises(ValueError, match=r"system 'X': what was drawn decided its m \(m set"):
            call()
    said = SampledRankSet("X", [1, 5], 100, 20, adaptive=True)
    with pytest.raises(ValueError, match=r"decided its m \(as adaptive says\).*leave shape out"):
        sd.bounds("AP", said, shape="non-increasing")


def test_what_the_samples_decide(runs, xyz) -> None:
    x, _, z = runs
    assert str(sd.compare("AUC", x, z)) == "X > Z"
    low, high = sd.bounds("Recall@10", x, z)
    assert low < sd.mean("Recall@10", xyz[0]) - sd.mean("Recall@10", xyz[2]) < high


@pytest.mark.parametrize("rule", [(50, 400, 1), (20, 320, 2)])
@pytest.mark.parametrize("kind", ["uniform", "exponential"])
def test_intervals_hold_the_metric_of_the_instances(kind, rule) -> None:
    n, size, runs = 1000, 200, 10
    rng, r = np.random.default_rng(52), np.arange(1, n + 1)
    mass = np.ones(n) if kind == "uniform" else np.exp(-r / (0.05 * n))
    held = {"Recall@10": 0, "AUC": 0}
    for _ in range(runs):
        ranks = sd.RankSet("A", rng.choice(r, size, p=mass / mass.sum()), n)
        m, above = adaptive((ranks.ranks - 1) / (n - 1), rng, *rule)
        srs = SampledRankSet("A", above + 1, n, m, adaptive=True)
        for text in held:
            low, high = interval(text, srs)
            held[text] += low - 1e-9 <= sd.mean(text, ranks) <= high + 1e-9
    assert min(held.values()) / runs >= 0.95 - 4 * np.sqrt(0.95 * 0.05 / runs)


def test_the_most_likely_distribution_against_a_general_solver() -> None:
    n, rng = 24, np.random.default_rng(53)
    share = (rng.integers(1, n + 1, 150) - 1) / (n - 1) * rng.random(150)
    m, above = adaptive(share, rng, 3, 12, 1)
    srs = SampledRankSet("A", above + 1, n, m, adaptive=True)
    law = binom.pmf(above[:, None], m[:, None], np.arange(n) / (n - 1))

    def loss(w):
        return -np.log(law @ np.abs(w) / np.abs(w).sum() + 1e-300).sum()

    found = likely(sd.parse_metric("Recall@3"), srs)
    best = min(
        (minimize(loss, start, method="L-BFGS-B", bounds=[(0, None)] * n).fun)
        for start in (np.ones(n), found.weights + 1e-6)
    )
    assert loss(found.weights) == pytest.approx(best, abs=2e-3)
    # Lost likelihood is a squared distance, to second order.
    other = 0.97 * found.weights + 0.03 / n
    squared = [np.sum((found.rows @ w - found.observed) ** 2) for w in (other, found.weights)]
    assert squared[0] - squared[1] == pytest.approx(
        2 * (loss(other) - loss(found.weights)), rel=0.1
    )


def test_how_many_have_which_m_scatters_too(xyz) -> None:
    rng = np.random.default_rng(54)
    some = sd.RankSet("Y", xyz[1].ranks[:800], xyz[1].n[:800])
    share = (some.ranks - 1) / (some.n - 1)
    m, above = adaptive(share, rng, 10, 80, 1)
    pool = SampledRankSet("Y", above + 1, 800, m, adaptive=True)
    values = []
    for _ in range(100):
        i = rng.integers(0, 800, 800)
        again = SampledRankSet("Y", pool.sampled_ranks[i], 800, pool.m[i], adaptive=True)
        values.append(point("Recall@50", again, "mle"))
    error = standard_error("Recall@50", sample_of((pool,)), "mle")
    # A standard deviation of 100 is known to 7 %.
    assert error == pytest.approx(np.std(values), rel=0.28)
    fixed = SampledRankSet("Y", pool.sampled_ranks, 800, pool.m, adaptive=False)
    assert standard_error("Recall@50", sample_of((fixed,)), "mle") < 0.9 * error
    low, high = interval("Recall@50", pool, "mle", rng=np.random.default_rng(1))
    assert low < point("Recall@50", pool, "mle") < high
