"""Non-increasing rank distributions: a system worth using puts the item nearer to the top."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from sampledash.estimation import em, nodes
from sampledash.estimation.nodes import Support
from sampledash.estimation.sample import Sample
from sampledash.sampling import Scheme
from sampledash.types import Floats


@dataclass(frozen=True, eq=False)
class Steps:
    """Non-increasing distributions: mixtures of uniforms on the first ranks.

    Attributes
    ----------
    support
        Nodes with a panel ending at each step.
    ends
        Where the distribution may step down: shape (steps,).
    rows
        Law of the outcomes under each uniform: shape (steps, outcomes).
    """

    support: Support
    ends: NDArray[np.int64]
    rows: Floats

    @staticmethod
    def of(sample: Sample) -> Steps:
        """The mixtures that suit a sample."""
        return _steps(sample.n, sample.m, sample.scheme)

    def weights(self, sample: Sample, iterations: int, start: Floats | None = None) -> Floats:
        """Most likely weights of the uniforms: shape (..., steps)."""
        sample.require_possible(self.rows.max(axis=0))
        first = np.full(len(self.ends), 1 / len(self.ends)) if start is None else start
        return em.most_likely(self.rows, sample.shares, first, iterations)

    def mass(self, weights: Floats) -> Floats:
        """Probability of the ranks each node stands for: shape (..., nodes)."""
        density = np.cumsum((weights / self.ends)[..., ::-1], axis=-1)[..., ::-1]
        step = np.searchsorted(self.ends, self.support.above, side="right")
        return np.asarray(density[..., step] * self.support.ranks)

    def mean(self, value: Floats) -> Floats:
        """Mean of ``value``, given at the nodes, under each uniform: shape (steps,)."""
        step = np.searchsorted(self.ends, self.support.above, side="right")
        sums = np.bincount(step, self.support.ranks * value, minlength=len(self.ends))
        return np.asarray(np.cumsum(sums) / self.ends)


@lru_cache(maxsize=4)
def _steps(n: int, m: tuple[int, ...], scheme: Scheme) -> Steps:
    support = nodes.support(n, m[-1], scheme, steps=True)
    ends = nodes.step_ends(n)
    rows = np.concatenate([support.sums_to(x, ends) for x in m], axis=1) / ends[:, None]
    rows.setflags(write=False)
    return Steps(support, ends, rows)
