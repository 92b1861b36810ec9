"""At the most candidates, 10^12, corrections are those of the limit, known in closed form.

With p the share of candidates above, sums over ranks become integrals over p, up to 1/n:
the sum of p(s|r) p(t|r) is n C(m, s) C(m, t) B(s + t + 1, 2m - s - t + 1), that of p(s|r) is
n / (m + 1), and that of p(s|r) over p <= q is n / (m + 1) times P(Binomial(m + 1, q) > s).
"""

from fractions import Fraction
from math import comb, factorial

import numpy as np
import pytest

import sampledash as sd
from sampledash.checks import LARGEST_N as N
from tests.oracles import UNIFORM

M = 50


def beta(a: int, b: int) -> Fraction:
    return Fraction(factorial(a - 1) * factorial(b - 1), factorial(a + b - 1))


def limit() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A'A and A'b of Recall at a quarter of the list, and c, each over n."""
    counts, q = range(M + 1), Fraction(1, 4)
    betas = [[beta(s + t + 1, 2 * M - s - t + 1) for t in counts] for s in counts]
    ways = np.array([comb(M, s) for s in counts], dtype=object)
    gram = np.outer(ways, ways) * betas
    law = [comb(M + 1, i) * q**i * (1 - q) ** (M + 1 - i) for i in range(M + 2)]
    moment = [sum(law[s + 1 :]) / (M + 1) for s in counts]
    return gram.astype(float), np.array(moment, float), np.full(M + 1, 1 / (M + 1))


RECALL = sd.metric("recall", k=N // 4)


@pytest.mark.parametrize("scheme", UNIFORM)
def test_bias_variance(scheme: str) -> None:
    gram, moment, marginal = limit()
    expected = np.linalg.solve(0.9 * gram + 0.1 * np.diag(marginal), moment)
    found = sd.correction("BV", gamma=0.1).fit(RECALL, sd.Sampling(N, M, scheme)).values
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("scheme", UNIFORM)
def test_monotone(scheme: str) -> None:
    # Karush, Kuhn and Tucker: see test_least_squares.
    gram, moment, _ = limit()
    values = sd.correction("CLS").fit(RECALL, sd.Sampling(N, M, scheme)).values
    along_steps = np.cumsum(gram @ values - moment)
    steps = np.append(values[:-1] - values[1:], values[-1])
    assert steps.min() >= 0
    assert along_steps.min() >= -1e-10
    assert np.abs(along_steps[steps > 1e-9]).max() <= 1e-10


@pytest.mark.parametrize("scheme", UNIFORM)
def test_reciprocal_rank_at_full_weight_of_the_variance(scheme: str) -> None:
    # Eq. 26: the mean of 1/r given the sampled rank, B(s, m-s+1) / (n B(s+1, m-s+1)); for s = 0 the
    # sum of (1 - p)^m / r is ln n + Euler's constant - H_m.
    values = sd.correction("BV", gamma=1).fit("AP", sd.Sampling(N, M, scheme)).values
    s = np.arange(1, M + 1)
    np.testing.assert_allclose(values[1:], (M + 1) / (s * N), rtol=1e-8)
    harmonic = sum(1 / i for i in range(1, M + 1))
    first = (M + 1) * (np.log(N) + 0.5772156649015329 - harmonic) / N
    assert values[0] == pytest.approx(first, rel=1e-9)
