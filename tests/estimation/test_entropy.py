"""Maximum entropy: conditions of the minimum, and a general optimiser as a second way."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import minimize

import sampledash as sd
from sampledash.estimation import distribution
from sampledash.estimation.entropy import ETA, maximum_entropy
from sampledash.sampledranks import SampledRankSet
from tests.oracles import UNIFORM, WITH, dense_law


def slope(law: np.ndarray, share: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Gradient in x of (m+1) sum_s p_s ((xA)_s - p_s)^2 - eta H(x), as the note prints it."""
    return 2 * len(share) * law @ (share * (x @ law - share)) + ETA * (
        1 + np.log(np.maximum(x, 1e-300))
    )


@pytest.mark.parametrize("scheme", UNIFORM)
def test_the_gradient_is_the_same_at_every_rank(scheme: str) -> None:
    # On the simplex a convex function is at its minimum where all partial derivatives agree.
    rng = np.random.default_rng(4)
    for n, m, size in ((3541, 100, 6040), (50, 3, 10), (200, 60, 1)):
        ranks = np.minimum(1 + (n * rng.beta(0.4, 2, size)).astype(int), n)
        srs = SampledRankSet("S", sd.Sampling(n, m, scheme).draw(ranks, rng), n, m, scheme=scheme)
        x = distribution.rank_distribution(srs, "mes")
        g = slope(dense_law(n, m, scheme), srs.draws[0].counts / size, x)
        # Near the end of the scale of floats log(x) is lost: only ranks with weight count.
        assert np.ptp(g[x > 1e-200]) <= 1e-9 * np.abs(g).max()


def test_against_a_general_optimiser() -> None:
    n, m = 12, 4
    law = dense_law(n, m, WITH)
    share = np.array([0.5, 0.2, 0.0, 0.1, 0.2])

    def loss(x: np.ndarray) -> float:
        x = np.maximum(x, 1e-300)
        return float((m + 1) * share @ (x @ law - share) ** 2 + ETA * x @ np.log(x))

    best = minimize(
        loss, np.full(n, 1 / n), method="SLSQP", bounds=[(1e-12, 1)] * n,
        constraints={"type": "eq", "fun": lambda x: x.sum() - 1},
        options={"ftol": 1e-15, "maxiter": 2000},
    )  # fmt: skip
    ours = maximum_entropy(law, np.ones(n), share, (m + 1) * share)
    assert loss(ours) <= best.fun + 1e-12
    np.testing.assert_allclose(ours, best.x, atol=2e-4)


def test_groups_add_their_errors() -> None:
    # Two numbers of negatives: the objective is the mean over the instances of each group's.
    n = 80
    srs = SampledRankSet(
        "S", [1, 1, 4, 2, 9, 1], n, [5, 5, 5, 12, 12, 12], counts=[1, 1, 1, 2, 1, 1]
    )
    x = distribution.rank_distribution(srs, "mes")
    g = ETA * (1 + np.log(np.maximum(x, 1e-300)))
    for d in srs.draws:
        law, share = dense_law(n, d.m, WITH), d.counts / d.counts.sum()
        part = d.counts.sum() / srs.n_instances
        g += part * 2 * (d.m + 1) * law @ (share * (x @ law - share))
    assert np.ptp(g) <= 1e-10 * np.abs(g).max()


def test_less_weight_on_entropy_fits_closer() -> None:
    n, m = 300, 20
    law = dense_law(n, m, WITH)
    share = np.random.default_rng(0).dirichlet(np.ones(m + 1))
    fits = [maximum_entropy(law, np.ones(n), share, (m + 1) * share, eta=e) for e in (1, 0.1, 0.01)]
    errors = [share @ (x @ law - share) ** 2 for x in fits]
    entropies = [-x @ np.log(np.maximum(x, 1e-300)) for x in fits]
    assert np.all(np.diff(errors) < 0)
    assert np.all(np.diff(entropies) < 0)
