"""Bias² and variance averaged over the prior, against the sum over every rank."""

import numpy as np
import pytest

import sampledash as sd
from tests.oracles import POPULARITY, SCHEMES, WITHOUT, dense_law

RECIPES = ("uncorrected", "rank estimate", "CLS", "BV 0.1", "BV 0.001")


def summed(fit: sd.Fit, law: np.ndarray, prior: np.ndarray | None = None) -> tuple[float, float]:
    n = fit.sampling.n
    weights = np.full(n, 1 / n) if prior is None else prior / prior.sum()
    mean = law @ fit.values
    spread = (law * (fit.values - mean[:, None]) ** 2).sum(axis=1)
    bias = mean - fit.metric(np.arange(1, n + 1), n)
    return float(weights @ bias**2), float(weights @ spread)


@pytest.mark.parametrize("scheme", SCHEMES)
def test_risk_is_the_average_over_every_rank_with_few_nodes(scheme: str) -> None:
    sampling = sd.Sampling(5_000, 40, scheme, 2.0 if scheme == POPULARITY else 1.0)
    law = dense_law(5_000, 40, scheme, sampling.odds)
    for text in ("Recall@10", "Precision@7", "NDCG@10", "AP", "AUC"):
        for recipe in RECIPES:
            fit = sd.parse_correction(recipe).fit(text, sampling)
            assert fit.risk() == pytest.approx(summed(fit, law), rel=1e-9, abs=1e-15)


@pytest.mark.parametrize(
    ("n", "m"), [(1501, 1000), (1501, 1300), (1501, 1490), (1501, 1499), (3541, 300), (3541, 2000)]
)
def test_large_samples(n: int, m: int) -> None:
    """Nearly all items above, or all below, may be in the sample: no smooth law to interpolate."""
    law, sampling = dense_law(n, m, WITHOUT), sd.Sampling(n, m, WITHOUT)
    for text, recipe in (("NDCG", "BV 0.1"), ("AUC", "BV 1"), ("Recall@10", "uncorrected")):
        fit = sd.parse_correction(recipe).fit(text, sampling)
        assert fit.risk() == pytest.approx(summed(fit, law), rel=1e-9, abs=1e-15)


def test_risk_uses_the_prior_of_the_correction() -> None:
    prior, law = 1.0 / np.arange(1, 301), dense_law(300, 20, "with-replacement")
    own, uniform = (
        sd.correction("BV", prior=p).fit("NDCG", sd.Sampling(300, 20, "with-replacement"))
        for p in (prior, None)
    )
    assert own.risk() == pytest.approx(summed(own, law, prior), rel=1e-12)
    assert uniform.risk(prior) == pytest.approx(summed(uniform, law, prior), rel=1e-12)
    assert own.risk() != pytest.approx(uniform.risk(), rel=0.1)
