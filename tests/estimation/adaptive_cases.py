"""Sampling that draws on where an item stands high."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def adaptive(
    share: NDArray[np.float64], rng: np.random.Generator, start: int, cap: int, stop: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """m and how many are above: twice as many until ``stop`` are above, or ``cap`` are drawn."""
    m = np.full(len(share), start)
    above = rng.binomial(start, share)
    while np.any(more := (above < stop) & (m < cap)):
        added = np.minimum(m[more], cap - m[more])
        above[more] += rng.binomial(added, share[more])
        m[more] += added
    return m, above
