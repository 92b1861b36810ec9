"""Laws of means: characteristic functions against convolutions, and hits against enumeration."""

from __future__ import annotations

from fractions import Fraction
from itertools import product
from typing import Any

import numpy as np
import pytest
from scipy.stats import norm

import sampledash as sd
from sampledash.comparison.run_distribution import Run, chances_above, law_of_mean
from sampledash.protocol import Protocol
from tests.oracles import SCHEMES, WITH, WITHOUT, by_definition, dense_law, samples


def pair(size: int, n: int, powers: tuple[float, float], seed: int) -> list[sd.RankSet]:
    rng = np.random.default_rng(seed)
    return [
        sd.RankSet(name, 1 + (n * rng.random(size) ** p).astype(int), n)
        for name, p in zip("PQ", powers, strict=True)
    ]


def inverted(metric: str, sets: list[sd.RankSet], m: int, protocol: Protocol) -> float:
    """P(first > second) by inversion, whatever else there would be."""
    options: dict[str, Any] = {"scheme": protocol.scheme, "correction": protocol.correction}
    options["odds"] = protocol.odds
    mean = [sd.expected_mean(metric, rs, m, **options) for rs in sets]
    std = [sd.std_of_mean(metric, rs, m, **options) for rs in sets]
    runs = [Run(sd.parse_metric(metric), rs, m, protocol) for rs in sets]
    difference, deviation = np.array([mean[0] - mean[1]]), np.array([np.hypot(*std)])
    one, other = np.array([0]), np.array([1])
    return float(chances_above(runs, one, other, difference, deviation, np.zeros(1))[0])


@pytest.mark.parametrize("correction", ["uncorrected", "rank estimate"])
@pytest.mark.parametrize(("size", "n"), [(30, 400), (30, 20_000), (100, 400), (100, 20_000)])
def test_inversion_finds_the_convolved_chance_of_hits(size: int, n: int, correction: str) -> None:
    # A lattice with many ties: the hardest for it.
    sets, m = pair(size, n, (2.0, 2.1), size + n), 50
    protocol = Protocol.of({"scheme": WITHOUT, "correction": correction})
    fit = sd.parse_correction(correction).fit("Recall@10", sd.Sampling(n, m, WITHOUT))
    hit = dense_law(n, m, WITHOUT)[np.concatenate([rs.ranks for rs in sets]) - 1] @ fit.values
    laws = []
    for chances in np.split(hit, 2):
        law = np.ones(1)
        for p in chances:
            law = np.convolve(law, [1 - p, p])
        laws.append(law)
    true = sum(laws[0][i] * laws[1][:i].sum() for i in range(size + 1))
    assert inverted("Recall@10", sets, m, protocol) == pytest.approx(true, abs=1e-6)


@pytest.mark.parametrize("metric", ["NDCG@3", "AP", "RR", "AUC"])
@pytest.mark.parametrize("size", [3, 6])
def test_inversion_of_a_handful_of_instances(metric: str, size: int) -> None:
    # Every outcome, one by one: laws of some hundred points, not smooth at all.
    n, m = 30, 4
    sets = pair(size, n, (1.6, 1.5), size)
    law, values = dense_law(n, m, WITH), sd.parse_metric(metric)(np.arange(1, m + 2), m + 1)
    found = []
    for rs in sets:
        total = {0.0: 1.0}
        for r in rs.ranks:
            new: dict[float, float] = {}
            for (a, p), (v, q) in product(total.items(), zip(values, law[r - 1], strict=True)):
                new[round(a + v, 10)] = new.get(round(a + v, 10), 0.0) + p * q
            total = new
        found.append((np.array(list(total)), np.array(list(total.values()))))
    (a, p), (b, q) = found
    true = float(p @ (a[:, None] - b > 1e-9) @ q)
    ours = inverted(metric, sets, m, Protocol.of({}))
    # Values nearer to each other than the last frequency resolves count by half.
    near = float(p @ ((np.abs(a[:, None] - b) > 1e-9) & (np.abs(a[:, None] - b) < 1e-3)) @ q)
    assert ours == pytest.approx(true, abs=2e-3 + near / 2)


def test_a_rare_large_value_does_not_drown_the_rest() -> None:
    # A hit is worth 0.23, which few instances ever have; where both systems have equally many, the
    # rest decides, which differs by some 0.0001: two scales.
    n, m, size = 3000, 50, 40
    rng = np.random.default_rng(1)
    u = rng.random(size)
    sets = [
        sd.RankSet(name, 1 + (n * u**power).astype(int), n)
        for name, power in (("P", 1.15), ("Q", 1.0))
    ]
    options: dict[str, Any] = {"scheme": SCHEMES[2], "odds": 2.0, "correction": "CLS"}
    protocol = Protocol.of(options)
    runs = [
        sd.simulate("AP", rs, m, 20_000, np.random.default_rng(i), **options)
        for i, rs in enumerate(sets)
    ]
    share = np.mean(runs[0] - runs[1] > 1e-12)
    ours = inverted("AP", sets, m, protocol)
    assert abs(ours - share) <= 4 * np.sqrt(0.25 / 20_000)
    z = (runs[0].mean() - runs[1].mean()) / np.hypot(runs[0].std(), runs[1].std())
    assert abs(norm.cdf(z) - share) > 0.02  # what the normal law would miss


def test_many_alike_instances_are_near_normal() -> None:
    sets = pair(3000, 500, (2.0, 2.02), 5)
    mean = [sd.expected_mean("NDCG", rs, 30) for rs in sets]
    std = [sd.std_of_mean("NDCG", rs, 30) for rs in sets]
    z = (mean[0] - mean[1]) / np.hypot(*std)
    ours = inverted("NDCG", sets, 30, Protocol.of({}))
    assert ours == pytest.approx(norm.cdf(z), abs=0.003)


@pytest.mark.parametrize("weighting", ["instances", "relevant-items"])
@pytest.mark.parametrize("metric", ["Recall@2", "Precision@3", "HitRate@2"])
@pytest.mark.parametrize("scheme", [WITH, WITHOUT])
def test_law_of_hits_by_enumeration(metric: str, scheme: str, weighting: str) -> None:
    rows = [(6, [2, 4]), (7, [3]), (6, [1, 3, 5]), (8, [2])]
    m, name = 3, sd.parse_metric(metric)
    total = {Fraction(0): 1.0}
    weights = [len(r) if weighting == "relevant-items" else 1 for _, r in rows]
    for (n, ranks), w in zip(rows, weights, strict=True):
        new: dict[Fraction, float] = {}
        for a, p in total.items():
            for q, places in samples(ranks, n, m, scheme):
                value = by_definition(name.name, name.k, places, m + len(places))
                v = a + Fraction(value).limit_denominator(100) * w / sum(weights)
                new[v] = new.get(v, 0.0) + p * float(q)
        total = new
    rs = sd.RankSet(
        "S",
        [r for _, each in rows for r in each],
        [n for n, each in rows for _ in each],
        instances=[i for i, (_, each) in enumerate(rows) for _ in each],
    )
    protocol = Protocol.of({"scheme": scheme, "weighting": weighting})
    run = Run(name, rs, m, protocol)
    found = run.law_of_hits()
    assert found is not None
    assert np.all(np.diff(found[0]) > 0)
    likely = found[1] > 1e-15
    true = sorted((float(v), p) for v, p in total.items() if p > 1e-15)
    assert found[0][likely] == pytest.approx([v for v, _ in true], abs=1e-9)
    assert found[1][likely] == pytest.approx([p for _, p in true], abs=1e-13)
    # Values of the lattice lie a multiple of its step apart.
    places = np.diff(found[0]) / (2 * run.half_unit)
    assert places == pytest.approx(np.round(places), abs=1e-9)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_the_law_of_any_mean_has_its_mean_and_scatter(scheme: str) -> None:
    # Values too many to keep apart: put on a grid.
    rs = pair(25, 3000, (3.0, 1.0), 8)[0]
    options: dict[str, Any] = {"scheme": scheme} | ({"odds": 2.0} if scheme == SCHEMES[2] else {})
    for metric in ("AP", "NDCG", "AUC", "NDCG@10"):
        law = law_of_mean(Run(sd.parse_metric(metric), rs, 200, Protocol.of(options)))
        assert law is not None
        values, mass = law
        assert mass.sum() == pytest.approx(1, abs=1e-12)
        mean = sd.expected_mean(metric, rs, 200, **options)
        assert values @ mass == pytest.approx(mean, abs=1e-10)
        spread = np.sqrt((values - mean) ** 2 @ mass)
        assert spread == pytest.approx(sd.std_of_mean(metric, rs, 200, **options), rel=1e-3)
