"""The monotone correction is optimal: conditions of Karush, Kuhn and Tucker, and rivals."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sampledash as sd
from tests.oracles import POPULARITY, WITH, WITHOUT, dense_law, dense_target, item_scale


def kkt_residual(
    law: np.ndarray, target: np.ndarray, values: np.ndarray, nonnegative: bool
) -> float:
    """Largest violation of optimality, relative to max|A'M|.

    A non-increasing vector is sum_i step_i 1[t <= i] with steps >= 0 for i < m; the last step is
    the level, free or >= 0. At the minimum the gradient in each step is >= 0, and 0 where the
    step is positive (always for a free level); no step is negative.
    """
    n = len(target)
    gradient = law.T @ (law @ values - target) / n
    along_steps = np.cumsum(gradient)
    steps = np.append(values[:-1] - values[1:], values[-1])
    size = np.abs(law.T @ target / n).max()
    free = np.zeros(len(steps), dtype=bool)
    free[-1] = not nonnegative
    dual = np.where(free, np.abs(along_steps), np.maximum(-along_steps, 0))
    slack = np.where(free, 0, np.minimum(np.abs(steps), np.abs(along_steps)))
    primal = np.where(free, 0, np.maximum(-steps, 0))
    return float(max(dual.max(), slack.max(), primal.max()) / size)


@pytest.mark.parametrize("nonnegative", [True, False])
@pytest.mark.parametrize(("scheme", "odds"), [(WITH, 1.0), (WITHOUT, 1.0), (POPULARITY, 5.0)])
@pytest.mark.parametrize(("n", "m"), [(10_000, 100), (3706, 20), (60, 30)])
def test_kkt(scheme: str, odds: float, n: int, m: int, nonnegative: bool) -> None:
    law = dense_law(n, m, scheme, odds)
    for name, k in (
        ("recall", 10),
        ("precision", 10),
        ("ndcg", 10),
        ("ap", None),
        ("ndcg", None),
        ("auc", None),
    ):
        target = dense_target(name, k, n) * item_scale(name, k, 1)
        recipe = sd.correction("monotone", nonnegative=nonnegative)
        values = recipe.fit(sd.metric(name, k=k), sd.Sampling(n, m, scheme, odds)).values
        assert kkt_residual(law, target, values, nonnegative) <= 1e-9
        assert np.all(np.diff(values) <= 0)
        if nonnegative:
            assert values[-1] >= 0


def test_the_residual_notices_a_wrong_vector() -> None:
    n, m = 500, 20
    law, target = dense_law(n, m, WITH), dense_target("ap", None, n)
    right = sd.correction("CLS").fit("AP", sd.Sampling(n, m)).values
    assert kkt_residual(law, target, right, True) <= 1e-9
    assert kkt_residual(law, target, right * 1.001, True) > 1e-5
    assert kkt_residual(law, target, right[::-1].copy(), True) > 1e-2


@given(st.integers(2, 25), st.data())
def test_small_cases(n: int, data: st.DataObject) -> None:
    scheme = data.draw(st.sampled_from([WITH, WITHOUT]))
    m = data.draw(st.integers(1, n - 1))
    nonnegative = data.draw(st.booleans())
    weights = data.draw(st.lists(st.integers(1, 5), min_size=n, max_size=n))
    text = data.draw(st.sampled_from(["AP", "NDCG@2", "Recall@1", "Recall@5", "AUC"]))
    recipe = sd.correction("CLS", nonnegative=nonnegative, prior=weights)
    values = recipe.fit(text, sd.Sampling(n, m, scheme)).values
    root = np.sqrt(np.array(weights) / sum(weights) * n)
    law = dense_law(n, m, scheme) * root[:, None]
    target = sd.parse_metric(text)(np.arange(1, n + 1), n) * root
    assert kkt_residual(law, target, values, nonnegative) <= 1e-9


def test_auc_needs_no_correction() -> None:
    # Section 4.4.1: sampled AUC is unbiased, monotone and non-negative.
    for scheme in (WITH, WITHOUT):
        values = sd.correction("CLS").fit("AUC", sd.Sampling(5000, 40, scheme)).values
        assert values == pytest.approx(1 - np.arange(41) / 40, abs=1e-12)


def test_sampled_ranks_that_cannot_occur_lie_between_their_neighbours():
    # n = 2 with replacement: all draws are the one other item, so 2 of 3 is never seen. At rank 1
    # and 2 the metric is then known exactly.
    for gamma in (1.0, 0.1):
        fit = sd.correction("BV", gamma=gamma).fit("AP", sd.Sampling(2, 2))
        np.testing.assert_allclose(fit.values, [1.0, 0.75, 0.5], rtol=0, atol=1e-15)
    assert np.all(np.isfinite(sd.correction("BV").fit("AP", sd.Sampling(3, 1_100)).values))
