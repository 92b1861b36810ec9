"""Least squares: free, of minimum norm over all ranks; monotone, by Karush, Kuhn and Tucker."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sampledash as sd
from tests.oracles import POPULARITY, UNIFORM, WITH, WITHOUT, dense_law, exact_metric


def kkt_residual(law, target, values, nonnegative=True):
    """Largest violation of optimality, relative to max|A'M|.

    A non-increasing vector is sum_i step_i 1[t <= i] with steps >= 0 for i < m; the last step is
    the level, free or >= 0. At the minimum the gradient in each step is >= 0, and 0 where the
    step is positive (always for a free level); no step is negative.
    """
    along_steps = np.cumsum(law.T @ (law @ values - target))
    steps = np.append(values[:-1] - values[1:], values[-1])
    slack = np.minimum(np.abs(steps), np.abs(along_steps))
    wrong = np.max([-along_steps, slack, -steps], axis=0)
    if not nonnegative:
        wrong[-1] = abs(along_steps[-1])
    return float(wrong.max() / np.abs(law.T @ target).max())


WITH_ODDS = [(WITH, 1.0), (POPULARITY, 5.0)]
SIZES = [(10_000, 100), (1_500, 500), (900, 850), (60, 30)]
DRAWN = [(*size, *scheme) for size in SIZES for scheme in ((WITHOUT, 1.0), *WITH_ODDS)]
MORE = [(38, 57), (37, 300), (5, 9), (2, 4)]  # negatives than candidates
DRAWN += [(*size, *scheme) for size in MORE for scheme in WITH_ODDS]


@pytest.mark.parametrize("nonnegative", [True, False])
@pytest.mark.parametrize(("n", "m", "scheme", "odds"), DRAWN)
def test_kkt(n: int, m: int, scheme: str, odds: float, nonnegative: bool) -> None:
    law, recipe = dense_law(n, m, scheme, odds), sd.correction("monotone", nonnegative=nonnegative)
    for name in ("recall", "precision", "ndcg", "ap", "auc"):
        k = None if name in ("ap", "auc") else 10 if n > 40 else 1
        values = recipe.fit(sd.metric(name, k=k), sd.Sampling(n, m, scheme, odds)).values
        assert kkt_residual(law, exact_metric(name, k, n), values, nonnegative) <= 1e-9
        assert np.all(np.diff(values) <= 0)
        assert not nonnegative or values[-1] >= 0


@given(st.integers(2, 25), st.data())
def test_small_cases(n: int, data: st.DataObject) -> None:
    scheme = data.draw(st.sampled_from(UNIFORM))
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


@pytest.mark.parametrize("scheme", UNIFORM)
@pytest.mark.parametrize("n", [900, 1_500, 12_000])
def test_minimum_norm_over_all_ranks(scheme: str, n: int) -> None:
    law, target = dense_law(n, 100, scheme), exact_metric("recall", 10, n)
    left, sizes, right = np.linalg.svd(law, full_matrices=False)
    kept = sizes > 1e-10 * sizes[0]
    wanted = right[kept].T @ ((left[:, kept].T @ target) / sizes[kept])
    fit = sd.correction("LS").fit("Recall@10", sd.Sampling(n, 100, scheme))
    assert f"{kept.sum()} of 101 directions" in str(fit.note)
    assert np.abs(fit.values - wanted).max() <= 1e-4 * np.abs(wanted).max()
    assert np.abs(law @ (fit.values - wanted)).max() <= 1e-6
