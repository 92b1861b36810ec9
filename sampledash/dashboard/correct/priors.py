"""Priors over the true ranks that a correction can be fitted to, by name."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sampledash.correction import Correction
from sampledash.readers import example
from sampledash.types import Floats

UNIFORM, REAL, OWN = "uniform", "as X, Y, Z rank", "own weights"
POWERS = {"1/√rank": 0.5, "1/rank": 1.0}
PRIORS = (UNIFORM, *POWERS, REAL, OWN)
MOST_N = 100_000  # another prior than the uniform one takes every rank
TAKE_ONE = ("monotone", "bias-variance", "least-squares")  # corrections that depend on it
TEX = {
    UNIFORM: r"\propto 1", "1/√rank": r"\propto 1/\sqrt{r}", "1/rank": r"\propto 1/r",
    REAL: r"\text{ as X, Y, Z rank}", OWN: r"\text{ as given}",
}  # fmt: skip


@lru_cache(maxsize=8)
def weights(name: str, n: int) -> Floats | None:
    """Read-only weights of the ranks 1..n, None for the uniform prior; not for own weights."""
    if name == UNIFORM:
        return None
    if name == REAL:
        found = stretched([(x.ranks, x.n) for x in example("movielens-xyz")], n)
    else:
        found = np.arange(1, n + 1.0) ** -POWERS[name]
    found.setflags(write=False)
    return found


def stretched(ranks: Iterable[tuple[NDArray[Any], NDArray[Any]]], n: int) -> Floats:
    """Histogram of ranks, stretched from their own n to this one: shape (n,).

    ``ranks``: pairs of ranks and their n. Each rank is spread evenly over its part of 0..1.
    """
    ends, total = np.arange(n + 1) / n, np.zeros(n)
    for rank, size in ranks:
        # Cumulative shares are sums of ramps, each from (rank - 1) / size to rank / size.
        for edge, sign in (((rank - 1) / size, 1), (rank / size, -1)):
            order = np.argsort(edge)
            slope = np.r_[0.0, np.cumsum(size[order])]
            offset = np.r_[0.0, np.cumsum((edge * size)[order])]
            at = np.searchsorted(edge[order], ends, "right")
            total += sign * np.diff(slope[at] * ends - offset[at])
    return np.maximum(total, 0.0)


def resized(own: Floats, n: int) -> Floats:
    """Weights given for some n, stretched to another: read-only, shape (n,)."""
    edges = np.arange(n + 1) * (len(own) / n)
    below = np.concatenate([[0.0], np.cumsum(own)])
    found = own.copy() if n == len(own) else np.diff(np.interp(edges, np.arange(len(below)), below))
    found.setflags(write=False)
    return found


def fitted_to(recipe: Correction, name: str, n: int) -> Correction:
    """The correction with a prior of this name, if it takes one."""
    return with_weights(recipe, weights(name, n))


def with_weights(recipe: Correction, prior: Floats | None) -> Correction:
    """The correction with these weights of the ranks, if it takes any."""
    if prior is None or recipe.name not in TAKE_ONE:
        return recipe
    return replace(recipe, prior=prior)
