"""Instances that differ in n, or in m by what goes with the rank: ranges, estimates, refusals."""

from functools import partial

import numpy as np
import pytest

import sampledash as sd
from sampledash.command_line import main
from sampledash.estimation.bounds import bounds
from sampledash.estimation.estimate import compare
from sampledash.estimation.vectors import fit_learned
from sampledash.metrics import as_metric
from sampledash.sampled_rank_sets import LEVEL, READINGS, SampledRankSet, chance_if_set
from tests.benchmarks.bounds import misses
from tests.benchmarks.unlike import CASES
from tests.estimation.cases import least_held
from tests.oracles import WITH, WITHOUT


@pytest.mark.parametrize(
    ("case", "name"),
    [("m of a platform, 6,000 users", "AUC"), ("n = 200 or 20,000", "Recall@10"),
     ("m doubled by the draw", "Recall@10"), ("40 users, three n", "AUC")],
)  # fmt: skip
def test_ranges_hold_the_metric_of_instances_that_differ(case: str, name: str) -> None:
    metric, rng = as_metric(name), np.random.default_rng(61)

    def draw() -> tuple[SampledRankSet, float]:
        found = CASES[case](rng)
        return found.srs, float(metric(found.ranks, found.n).mean())

    found = misses(10, draw, partial(bounds, metric))
    assert found.seen == 10
    assert 1 - found.shares[0] >= least_held(10)


@pytest.mark.parametrize("m", [(20, 500), (500, 20)])
def test_few_users_with_another_m_are_flagged_as_seldom_as_stated(m: tuple[int, int]) -> None:
    rng, runs = np.random.default_rng(62), 3000
    flagged = 0
    for _ in range(runs):
        drawn = rng.choice(m, 30, p=[0.95, 0.05])
        above = rng.binomial(drawn, rng.beta(0.4, 20, 30))
        flagged += chance_if_set(np.full(30, 3706), drawn, above, np.ones(30)) < LEVEL
    assert flagged <= runs * LEVEL + 4 * np.sqrt(runs * LEVEL)


def parts(found, key):
    """The sample apart for each value of a column, and how many instances each has."""
    srs = found.srs
    for value in np.unique(key):
        here = key == value
        more = {"scheme": srs.scheme, "adaptive": srs.adaptive}
        yield (
            np.sum(here),
            SampledRankSet("A", srs.sampled_ranks[here], srs.n[here], srs.m[here], **more),
        )


@pytest.mark.parametrize("method", ["mle", "monotone-mle", "BV 0.1", "bv-mes", "uncorrected"])
def test_instances_of_each_n_are_estimated_by_themselves(method: str) -> None:
    found = CASES["n = 200 or 20,000"](np.random.default_rng(63))
    sizes, values = zip(
        *((size, sd.estimate("NDCG@10", one, method).value) for size, one in parts(found, found.n)),
        strict=True,
    )
    ours = sd.estimate("NDCG@10", found.srs, method)
    assert ours.value == pytest.approx(np.average(values, weights=sizes), rel=1e-9)
    assert ours.low <= ours.value <= ours.high


def test_estimates_are_given_for_both_explanations_of_m() -> None:
    found = CASES["m of a platform, 20 and 200"](np.random.default_rng(64))
    srs = found.srs
    assert [one.adaptive for one in srs.readings] == [False, True]
    ours = sd.estimate("Recall@10", srs, "mle")
    sizes, values = zip(
        *((size, sd.estimate("Recall@10", x, "mle").value) for size, x in parts(found, srs.m)),
        strict=True,
    )
    # Set beforehand: a plain sample for each m. Decided by the draw: one distribution for all.
    assert ours.readings[0] == pytest.approx(np.average(values, weights=sizes), rel=1e-9)
    assert ours.readings[1] == sd.estimate("Recall@10", srs.readings[1], "mle").value
    assert ours.value == pytest.approx(np.mean(ours.readings))
    for value, why in zip(ours.readings, READINGS, strict=True):
        assert f"{100 * value:.2f} % if {why}" in str(ours)
    for one in srs.readings:
        said = sd.estimate("Recall@10", one, "mle")
        assert said.readings == ()
        assert ours.low <= said.low <= said.high <= ours.high
    with pytest.raises(ValueError, match=r"either m was set beforehand .*, or what was drawn"):
        sd.rank_distribution(srs)
    either = compare("AUC", srs, srs.readings[0])
    low, high = zip(*(bounds("AUC", one, srs.readings[0]) for one in srs.readings), strict=True)
    assert (either.low, either.high) == (min(low), max(high))


def test_a_distribution_over_ranks_is_of_about_one_n() -> None:
    found = CASES["n = 200 or 20,000"](np.random.default_rng(65))
    mixed = sd.rank_distribution(found.srs, "mle")
    expected = np.zeros(20_000)
    for size, one in parts(found, found.n):
        expected[: one.population] += size / len(found.n) * sd.rank_distribution(one, "mle")
    assert mixed == pytest.approx(expected, abs=1e-12)
    for call in (
        lambda: sd.rank_distribution([found.srs, found.srs], "mle"),
        lambda: fit_learned("bv-mle", "AP", found.srs, m=99),
    ):
        with pytest.raises(ValueError, match=r"n is 200 to 20000, .*: give a set for each n"):
            call()


def test_the_command_line_tells_both_explanations(tmp_path, capsys) -> None:
    srs = CASES["m of a platform, 20 and 200"](np.random.default_rng(66)).srs
    rows = zip(srs.sampled_ranks, srs.n, srs.m, strict=True)
    lines = ["system,sampled_rank,n,m", *(f"A,{t},{n},{m}" for t, n, m in rows)]
    path = tmp_path / "ranks.csv"
    path.write_text("\n".join(lines))
    main(["correct", str(path), "--metric", "AUC", "--scheme", WITH])
    told = capsys.readouterr().out
    parts = ["m goes with the rank", "Either m was set beforehand", "or what was drawn decided m"]
    values = zip(sd.estimate("AUC", srs, "monotone-mle").readings, READINGS, strict=True)
    parts += ["column adaptive", *(f"{100 * value:.2f} % if {why}" for value, why in values)]
    assert [part for part in parts if part not in told] == []
    assert "contradict" not in told


def test_without_replacement_m_may_reach_n() -> None:
    """Some candidates are few, and all of them are drawn; others are many."""
    rng = np.random.default_rng(67)
    n = rng.choice([40, 60, 3000], 300)
    m = np.minimum(n - 1, 100)
    ranks = rng.integers(1, n + 1)
    above = rng.hypergeometric(ranks - 1, n - ranks, m)
    srs = SampledRankSet("A", above + 1, n, m, scheme=WITHOUT)
    low, high = bounds("Recall@10", srs)
    assert low <= np.mean(ranks <= 10) <= high
