"""What was observed: sampled ranks of one system, or of several pooled, as counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sampledash import checks
from sampledash.sampledranks import SampledRankSet
from sampledash.sampling import Sampling, Scheme
from sampledash.types import Floats


def together(sets: SampledRankSet | Sequence[SampledRankSet]) -> tuple[SampledRankSet, ...]:
    """One or several sets as a tuple, refusing what cannot be pooled."""
    if isinstance(sets, SampledRankSet) or not isinstance(sets, Sequence):
        sets = (sets,)
    every = tuple(sets)
    if not every:
        raise ValueError("sets is empty: give at least one SampledRankSet")
    for one in every:
        if not isinstance(one, SampledRankSet):
            raise ValueError(
                f"sets holds {checks.shown(one)}: give SampledRankSets; true ranks need no estimate"
            )
        if one.scheme != every[0].scheme:
            raise ValueError(
                f"scheme of system {one.system!r} is {one.scheme!r}, of {every[0].system!r} "
                f"{every[0].scheme!r}: pool sets drawn in the same way"
            )
    return every


@dataclass(frozen=True)
class Sample:
    """What was observed: outcomes are the sampled ranks for each number of negatives.

    Attributes
    ----------
    n, scheme
        Population and how negatives were drawn.
    m
        Numbers of negatives, increasing.
    counts
        For each m the weight of the instances with 0..m negatives above: (m + 1,), or (runs, m + 1)
        for one sample per run.
    adaptive
        Whether what was drawn decided m, so that the numbers of instances per m are an outcome too.
    """

    n: int
    scheme: Scheme
    m: tuple[int, ...]
    counts: tuple[Floats, ...]
    adaptive: bool = False

    def sampling(self, m: int) -> Sampling:
        """How the negatives of the instances with ``m`` of them were drawn."""
        return Sampling(self.n, m, self.scheme)

    @property
    def total(self) -> Floats:
        """Instances: a number, or one per run."""
        return np.asarray(sum(c.sum(axis=-1) for c in self.counts))

    @property
    def shares(self) -> Floats:
        """Share of each outcome, side by side for all m: shape (..., outcomes)."""
        return np.concatenate(self.counts, axis=-1) / self.total[..., None]

    def squared_errors(self) -> tuple[Floats, Floats]:
        """Shares within each m, and the weight of their squared errors: shapes (..., outcomes)."""
        shares, weights = [], []
        for m, counts in zip(self.m, self.counts, strict=True):
            size = counts.sum(axis=-1, keepdims=True)
            share = np.divide(counts, size, out=np.zeros(counts.shape), where=size > 0)
            shares.append(share)
            weights.append(share * (m + 1) * (size / self.total[..., None]))
        return np.concatenate(shares, axis=-1), np.concatenate(weights, axis=-1)

    def require_possible(self, chance: Floats) -> None:
        """Refuse what was observed although no true rank gives it a ``chance``, (outcomes,)."""
        start = 0
        for m, counts in zip(self.m, self.counts, strict=True):
            seen = np.any(np.atleast_2d(counts) > 0, axis=0)
            bad = seen & (chance[start : start + m + 1] <= 0)
            if np.any(bad):
                raise ValueError(
                    f"sampled_rank {int(np.argmax(bad)) + 1} cannot occur with n = {self.n} and "
                    f"m = {m}, {self.scheme}: check n, m and the scheme"
                )
            start += m + 1


def sample_of(sets: tuple[SampledRankSet, ...], like: Sample | None = None) -> Sample:
    """Add up what several sets observed, in a population of their mean size.

    ``like`` gives the population and the numbers of negatives where others are compared too.
    """
    counts: dict[int, Floats] = {} if like is None else {m: np.zeros(m + 1) for m in like.m}
    for one in sets:
        for draws in one.draws:
            counts[draws.m] = counts.get(draws.m, 0.0) + draws.counts
    m = tuple(sorted(counts))
    if like is not None:
        return Sample(like.n, like.scheme, m, tuple(counts[x] for x in m), like.adaptive)
    sizes = [one.n_instances for one in sets]
    n = int(np.floor(np.average([one.population for one in sets], weights=sizes) + 0.5))
    if sets[0].scheme == "without-replacement":
        n = max(n, m[-1] + 1)
    adaptive = any(one.is_adaptive for one in sets)
    return Sample(n, sets[0].scheme, m, tuple(counts[x] for x in m), adaptive)
