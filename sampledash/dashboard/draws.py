"""Draws that can be drawn again: everything follows from a seed and a number of draws."""

from __future__ import annotations

import numpy as np

from sampledash.sampling import Sampling
from sampledash.types import Ints


def sampled_ranks(sampling: Sampling, rank: int, seed: int, draws: int) -> Ints:
    """Sampled ranks of the draws 1..draws; more draws keep the earlier ones."""
    return sampling.draw(np.full(draws, rank), np.random.default_rng(seed))


def negatives(sampling: Sampling, rank: int, sampled_rank: int, seed: int, draw: int) -> Ints:
    """True ranks of the negatives of one draw that gave this sampled rank.

    Given how many are above, those above are a uniform choice of the items above and those below
    one of the items below, under every scheme; with replacement an item may come twice.
    """
    rng = np.random.default_rng([seed, draw])
    above = sampled_rank - 1
    below = sampling.m - above
    if sampling.scheme == "without-replacement":
        up = rng.choice(rank - 1, above, replace=False) if above else np.empty(0)
        down = rng.choice(sampling.n - rank, below, replace=False) if below else np.empty(0)
    else:
        up = rng.integers(0, max(rank - 1, 1), above)
        down = rng.integers(0, max(sampling.n - rank, 1), below)
    return np.concatenate([np.asarray(up) + 1, np.asarray(down) + rank + 1]).astype(np.int64)
