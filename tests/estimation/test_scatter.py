"""Standard errors against differences of estimates and against resampling."""

from __future__ import annotations

import numpy as np
import pytest

import sampledash as sd
from sampledash.estimation.points import METHODS, points
from sampledash.estimation.sample import Sample
from sampledash.estimation.scatter import slopes, standard_error
from tests.oracles import UNIFORM, WITH


def observed(n: int, scheme: str, sizes: dict[int, int]) -> Sample:
    rng = np.random.default_rng(3)
    counts = []
    for m, size in sizes.items():
        ranks = np.minimum(1 + (n * rng.beta(0.4, 2, size)).astype(int), n)
        drawn = sd.Sampling(n, m, scheme).draw(ranks, rng)
        counts.append(np.bincount(drawn - 1, minlength=m + 1).astype(float))
    return Sample(n, scheme, tuple(sizes), tuple(counts))


def moved(sample: Sample, group: int, one: int, other: int, weight: float) -> Sample:
    """Weight taken from one outcome and given to another of the same group."""
    counts = [c.copy() for c in sample.counts]
    counts[group][one] += weight
    counts[group][other] -= weight
    return Sample(sample.n, sample.scheme, sample.m, tuple(counts))


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
    values = points("NDCG@10", Sample(200, WITH, (10, 16), again), method)
    # 400 runs know a standard deviation to 1 / sqrt(800) = 3.5 %: four of these.
    assert standard_error("NDCG@10", sample, method) == pytest.approx(np.std(values), rel=0.14)


def test_one_outcome_does_not_scatter() -> None:
    sample = Sample(100, WITH, (5,), (np.array([40.0, 0, 0, 0, 0, 0]),))
    for method in ("mle", "mes", "bv-mle", "BV 0.1"):
        assert standard_error("AP", sample, method) == pytest.approx(0, abs=1e-12)


def test_more_instances_scatter_less() -> None:
    sample = observed(500, WITH, {20: 700})
    tenfold = Sample(500, WITH, (20,), (sample.counts[0] * 10,))
    for method in ("mle", "monotone-mle", "CLS"):
        one, ten = (standard_error("Recall@10", s, method) for s in (sample, tenfold))
        assert ten == pytest.approx(one / np.sqrt(10), rel=1e-9)
