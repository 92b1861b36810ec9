"""Bias² and variance averaged over the prior, against the sum over every rank."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pytest

import sampledash as sd
from tests.oracles import POPULARITY, SCHEMES, dense_law

RECIPES = ("uncorrected", "rank estimate", "CLS", "BV 0.1", "BV 0.001")


law_of = lru_cache(maxsize=1)(dense_law)


def summed(fit: sd.Fit, prior: np.ndarray | None = None) -> tuple[float, float]:
    """The two sums of eq. 24 as printed."""
    n = fit.sampling.n
    weights = np.full(n, 1 / n) if prior is None else prior / prior.sum()
    law = law_of(n, fit.sampling.m, fit.sampling.scheme, fit.sampling.odds)
    mean = law @ fit.values
    spread = (law * (fit.values - mean[:, None]) ** 2).sum(axis=1)
    bias = mean - fit.metric(np.arange(1, n + 1), n)
    return float(weights @ bias**2), float(weights @ spread)


@pytest.mark.parametrize("recipe", RECIPES)
@pytest.mark.parametrize("metric", ["Recall@10", "Precision@7", "NDCG@10", "AP", "AUC"])
@pytest.mark.parametrize("scheme", SCHEMES)
def test_risk_is_the_average_over_every_rank_with_few_nodes(metric, scheme, recipe):
    sampling = sd.Sampling(5_000, 40, scheme, 2.0 if scheme == POPULARITY else 1.0)
    fit = sd.parse_correction(recipe).fit(metric, sampling)
    assert fit.risk() == pytest.approx(summed(fit), rel=1e-9, abs=1e-15)


def test_risk_uses_the_prior_of_the_correction():
    prior = 1.0 / np.arange(1, 301)
    fit = sd.correction("BV", gamma=0.1, prior=prior).fit("NDCG", sd.Sampling(300, 20))
    assert fit.risk() == pytest.approx(summed(fit, prior), rel=1e-12)
    uniform = sd.correction("BV", gamma=0.1).fit("NDCG", sd.Sampling(300, 20))
    assert fit.risk() != pytest.approx(uniform.risk(), rel=0.1)


def test_bias_variance_minimises_what_it_says():
    sampling = sd.Sampling(10_000, 100, "without-replacement")
    for gamma in (1.0, 0.1, 0.001):
        best = sd.correction("BV", gamma=gamma).fit("Recall@10", sampling).risk()
        for rival in RECIPES:
            bias2, variance = sd.parse_correction(rival).fit("Recall@10", sampling).risk()
            assert best[0] + gamma * best[1] <= bias2 + gamma * variance + 1e-15


def test_smaller_gamma_trades_variance_for_bias():
    sampling = sd.Sampling(10**9, 200)
    found = [
        sd.correction("BV", gamma=g).fit("NDCG", sampling).risk() for g in (1.0, 0.1, 0.01, 1e-4)
    ]
    assert np.all(np.diff([b for b, _ in found]) < 0)
    assert np.all(np.diff([v for _, v in found]) > 0)
