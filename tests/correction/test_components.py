"""Components that a list of n ranks does not have."""

from __future__ import annotations

import numpy as np
import pytest

import sampledash as sd


@pytest.mark.parametrize(("n", "m"), [(3, 6), (2, 5), (7, 7), (5, 40)])
def test_there_are_no_degrees_from_n_on(n: int, m: int) -> None:
    # The law is a matrix of n rows, of full rank: n eigenvalues above 0.
    values = sd.eigenvalues(sd.Sampling(n, m))
    assert np.all(values[:n] > 1e-12)
    assert np.array_equal(values[n:], np.zeros(m + 1 - n))
    assert sd.retained(sd.Sampling(n, m), 0).tolist() == [1.0] * n + [0.0] * (m + 1 - n)
    assert not sd.retained(sd.Sampling(n, m), 0.1)[n:].any()


def test_what_rounds_to_nothing_is_kept_by_no_gamma() -> None:
    # A law of 101 sampled ranks has rank 101, however small the last eigenvalues.
    assert np.array_equal(sd.retained(sd.Sampling(500, 100), 0), np.ones(101))
