"""Sampled ranks of one recommender: what is left of an evaluation on sampled negatives."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sampledash import checks
from sampledash.adaptivity import LEVEL, chance_if_set
from sampledash.counts import rounded_mean
from sampledash.identity import ByDigest, digest_of
from sampledash.sampling import SCHEMES, Sampling, Scheme
from sampledash.types import Floats, Ints

#: Most places 1..m+1 that are counted, for each m that occurs.
MOST_PLACES = 10_000_000


@dataclass(frozen=True, eq=False)
class Outcomes:
    """How often each sampled rank occurred: all that an estimate depends on.

    Attributes
    ----------
    n, scheme
        Population and how negatives were drawn.
    m
        Numbers of negatives, increasing.
    counts
        For each m the weight of the instances with 0..m negatives above the relevant item, shape
        (m + 1,); or (runs, m + 1) for one sample per run.
    adaptive
        Whether what was drawn decided m, so that the numbers of instances per m are an outcome too.
    design_effect
        How many instances are worth one, at worst.
    """

    n: int
    scheme: Scheme
    m: tuple[int, ...]
    counts: tuple[Floats, ...]
    adaptive: bool = False
    design_effect: float = 1.0

    @property
    def samplings(self) -> tuple[Sampling, ...]:
        """How the negatives of the instances with each m were drawn."""
        return tuple(Sampling(self.n, m, self.scheme) for m in self.m)

    @property
    def total(self) -> Floats:
        """Instances: a number, or one per run."""
        return np.asarray(sum(c.sum(axis=-1) for c in self.counts))

    @property
    def shares(self) -> Floats:
        """Share of each outcome, side by side for all m: shape (..., outcomes)."""
        return np.concatenate(self.counts, axis=-1) / self.total[..., None]

    def by_m(self, values: Floats) -> list[Floats]:
        """A value of each outcome, apart for each m."""
        return np.split(values, np.cumsum([m + 1 for m in self.m])[:-1], axis=-1)


@dataclass(frozen=True, eq=False, init=False)
class SampledRankSet(ByDigest):
    """Sampled ranks of one recommender over the instances of an evaluation.

    Parameters
    ----------
    system
        Name of the recommender.
    sampled_ranks
        Rank of the relevant item among itself and its m sampled negatives: integers in 1..m+1.
    n
        Candidates the negatives were drawn from, the relevant item included, at most 10^12: one
        number, or one per entry.
    m
        Sampled negatives: one number, or one per entry; at most 10^7, and the different ones
        together.
    scheme
        How they were drawn, ``"with-replacement"`` or ``"without-replacement"``.
    instances
        Label of the user or query of each entry; without labels every entry is its own.
    counts
        Weight of each entry, at least 0: how many instances it stands for; also fractional.
    adaptive
        Whether what was drawn for an instance decided how many negatives it got, as where more are
        drawn until one ranks above the item. ``False``: m was set beforehand, though it may differ
        between instances. ``None``: not known, and tested (:mod:`sampledash.adaptivity`).

    Raises
    ------
    ValueError
        Naming the system, the column and the first offending value.

    Notes
    -----
    Arrays are copied and read-only. Equality and hash go by ``digest`` (SHA-256 of the contents).
    Sampled ranks alone do not tell the true ones: see :func:`~sampledash.bounds`.
    """

    system: str
    sampled_ranks: Ints
    n: Ints
    m: Ints
    instances: NDArray[Any] | None
    counts: Floats
    scheme: Scheme
    adaptive: bool | None

    def __init__(
        self,
        system: str,
        sampled_ranks: ArrayLike,
        n: ArrayLike,
        m: ArrayLike,
        *,
        scheme: Scheme = "with-replacement",
        instances: ArrayLike | None = None,
        counts: ArrayLike | None = None,
        adaptive: bool | None = None,
    ) -> None:
        where = f"of system {str(system)!r}"
        rows = checks.array_of(f"sampled_ranks {where}", sampled_ranks).size
        if rows == 0:
            raise ValueError(f"sampled_ranks {where} is empty: give at least one sampled rank")
        checks.choice("scheme", scheme, SCHEMES)
        if scheme == "popularity":
            raise ValueError(
                f"scheme {where} is 'popularity': what is above the relevant item decides how "
                "often it is drawn, and the sampled rank does not tell what that is; only "
                "uniformly drawn negatives can be corrected"
            )

        def column(name: str, array: Ints) -> Ints:
            if array.ndim:
                one_each = f"one number, or one for each of the {rows} sampled ranks"
                checks.length(f"{name} {where}", array, rows, one_each)
            return np.broadcast_to(array, rows)

        size = column("n", checks.candidates(f"n {where}", n))
        drawn = column("m", checks.integers(f"m {where}", m, low=1))
        places = int((np.unique(drawn) + 1).sum(dtype=np.float64))
        if places > MOST_PLACES:
            raise ValueError(
                f"m {where} is up to {drawn.max()}: estimates count the instances at each of "
                f"{places} places, for each m, and at most {MOST_PLACES} are possible; sample fewer"
            )
        rank = checks.integers(f"sampled_rank {where}", np.ravel(sampled_ranks), low=1)
        beyond = rank > drawn + 1
        if np.any(beyond):
            i = int(np.argmax(beyond))
            raise ValueError(
                f"sampled_rank {where} is {rank[i]}, but with m = {drawn[i]} negatives it is at "
                f"most {drawn[i] + 1}: if these are true ranks, they need no estimate, use a "
                "RankSet; else give the m that was used"
            )
        if scheme == "without-replacement" and np.any(drawn > size - 1):
            i = int(np.argmax(drawn > size - 1))
            raise ValueError(
                f"m {where} is {drawn[i]}, but without replacement n = {size[i]} leaves "
                f"{size[i] - 1} negatives: give a smaller m, a larger n or the other scheme"
            )
        weight = np.ones(rows) if counts is None else _weights(where, counts, rows)
        labels = None if instances is None else checks.labels(f"instances {where}", instances)
        if labels is not None:
            each = f"one label for each of the {rows} sampled ranks"
            checks.length(f"instances {where}", labels, rows, each)
        if adaptive is not None and not isinstance(adaptive, bool | np.bool_):
            raise ValueError(
                f"adaptive {where} must be True, False or None, got {checks.shown(adaptive)}"
            )
        said = None if adaptive is None else bool(adaptive)
        self._hold(str(system), rank, size, drawn, labels, weight, scheme, said)

    def __len__(self) -> int:
        return len(self.sampled_ranks)

    def __repr__(self) -> str:
        drawn = self.outcomes.m
        m = " or ".join(map(str, drawn)) if len(drawn) < 4 else "mixed"
        return (
            f"SampledRankSet({self.system!r}, {self.n_instances:g} instances, "
            f"n = {self.population}, m = {m})"
        )

    @cached_property
    def digest(self) -> str:
        """SHA-256 over the contents, as hexadecimal text: the key of every cache."""
        columns = (self.sampled_ranks, self.n, self.m, self.counts)
        head = f"{self.system!r} {self.scheme} {len(self)} {self.adaptive}"
        return digest_of(head, columns, self.instances)

    @cached_property
    def is_adaptive(self) -> bool:
        """Whether m depends on what was drawn: as said, else by a test that flags 1 in 1,000."""
        return self.chance_if_set < LEVEL if self.adaptive is None else self.adaptive

    def require_set(self, what: str, instead: str) -> None:
        """Refuse what is valid only where m was set beforehand.

        Raises
        ------
        ValueError
            With the reason, and what to do ``instead``.
        """
        if self.is_adaptive:
            told = "as adaptive says"
            if self.adaptive is None:
                told = f"m set beforehand shows this with a chance of {self.chance_if_set:.0e}"
            raise ValueError(
                f"{what} is not valid for system {self.system!r}: what was drawn decided its m "
                f"({told}), which changes the law of the sampled rank at each m; {instead}, or "
                "give adaptive=False if m was set beforehand"
            )

    @cached_property
    def chance_if_set(self) -> float:
        """Chance of such a dependence of the sampled ranks on m if m was set beforehand."""
        used = self.counts > 0
        weight = self.counts[used] / self.design_effect
        return chance_if_set(self.n[used], self.m[used], self.sampled_ranks[used] - 1, weight)

    @cached_property
    def design_effect(self) -> float:
        """How many entries are worth one instance, where several carry its label: at worst.

        Entries of one instance may be alike. If they are copies of each other, the sample is as
        good as one of (sum of weights)² / (sum of squared weights of the labels) instances.
        """
        if self.instances is None:
            return 1.0
        _, label = np.unique(self.instances, return_inverse=True)
        weights = np.bincount(label, weights=self.counts)
        return max(1.0, float(np.sum(weights**2) / np.sum(weights)))

    @property
    def n_instances(self) -> float:
        """Number of instances |D|, counts included."""
        return float(self.counts.sum())

    @cached_property
    def population(self) -> int:
        """Candidates of one instance: n, or its mean over instances, rounded."""
        return rounded_mean(self.n, self.counts)

    @cached_property
    def outcomes(self) -> Outcomes:
        """How often each sampled rank occurred, for each m from the fewest on."""
        drawn, counts = np.unique(self.m[self.counts > 0]).tolist(), []
        for m in drawn:
            here = self.m == m
            found = np.bincount(self.sampled_ranks[here] - 1, self.counts[here], m + 1)
            counts.append(found.astype(np.float64))
            counts[-1].setflags(write=False)
        return Outcomes(
            population_of(self.scheme, self.population, drawn[-1]),
            self.scheme,
            tuple(drawn),
            tuple(counts),
            self.is_adaptive,
            self.design_effect,
        )


def population_of(scheme: Scheme, mean: int, m: int) -> int:
    """Candidates that stand for instances of a ``mean`` number, up to ``m`` of them drawn."""
    return max(mean, m + 1) if scheme == "without-replacement" else mean


def _weights(where: str, counts: ArrayLike, rows: int) -> Floats:
    array = checks.numbers(f"counts {where}", counts)
    each = f"one weight for each of the {rows} sampled ranks"
    checks.length(f"counts {where}", array, rows, each)
    if np.any(array < 0):
        raise ValueError(
            f"counts {where} must be finite and at least 0, got {array[array < 0][0]:g}: "
            "a count is how many instances have this sampled rank"
        )
    if not array.any():
        raise ValueError(f"counts {where} are all 0: give at least one instance")
    checks.total(f"counts {where}", array)
    return array
