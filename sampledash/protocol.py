"""How an evaluation samples and corrects: the options that all comparison functions share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal, TypedDict, get_args

import numpy as np
from numpy.typing import ArrayLike

from sampledash import checks
from sampledash.correction import Correction, as_correction, vector
from sampledash.metrics import Metric
from sampledash.ranksets import (
    RankCounts,
    RankSet,
    Ties,
    one_item_per_instance,
    require_ranks,
    rounded_mean,
)
from sampledash.sampling import SCHEMES, Sampling, Scheme, item_weights
from sampledash.types import Floats

Weighting = Literal["instances", "relevant-items"]


class Options(TypedDict, total=False):
    """Keyword options of the comparison functions.

    ``scheme`` is how negatives are drawn, ``"with-replacement"`` unless given; ``odds`` belongs to
    ``"popularity"``, where a set has no ``mass_above`` of its own; ``correction`` is what is
    applied to each sampled rank (``None``: uncorrected); ``fit_scheme`` is the law the correction
    is fitted to (``None``: ``scheme``);
    ``ties`` reads tied items as ``"expected"`` (random order, redrawn in each run),
    ``"optimistic"`` or ``"pessimistic"``; ``weighting`` lets every instance weigh the same in the
    mean (``"instances"``, eq. 1), or as much as it has relevant items (``"relevant-items"``).
    """

    scheme: Scheme
    odds: float
    correction: Correction | str | None
    fit_scheme: Scheme | None
    ties: Ties
    weighting: Weighting


@dataclass(frozen=True)
class Protocol:
    """Validated options."""

    scheme: Scheme
    odds: float
    correction: Correction
    fit_scheme: Scheme
    ties: Ties
    weighting: Weighting = "instances"

    @classmethod
    def of(cls, options: Options) -> Protocol:
        """Fill in the defaults and check every value."""
        unknown = set(options) - set(Options.__annotations__)
        if unknown:
            known = ", ".join(Options.__annotations__)
            raise TypeError(f"unknown option {min(unknown)!r}; known are {known}")
        scheme = options.get("scheme", "with-replacement")
        fit_scheme = options.get("fit_scheme") or scheme
        checks.choice("scheme", scheme, SCHEMES)
        checks.choice("fit_scheme", fit_scheme, SCHEMES)
        odds = checks.real("odds", options.get("odds", 1.0), low=0, above=True)
        if odds != 1 and "popularity" not in (scheme, fit_scheme):
            raise ValueError(f"odds = {odds:g} applies to scheme 'popularity' only")
        ties, weighting = options.get("ties", "expected"), options.get("weighting", "instances")
        checks.choice("ties", ties, get_args(Ties))
        checks.choice("weighting", weighting, get_args(Weighting))
        recipe = as_correction(options.get("correction"))
        return cls(scheme, odds, recipe, fit_scheme, ties, weighting)

    @property
    def without(self) -> bool:
        """Whether negatives are distinct."""
        return self.scheme == "without-replacement"

    def check(self, ranks: RankSet, m: int) -> None:
        """Refuse what cannot be sampled or corrected."""
        require_ranks(ranks)
        checks.integer("m", m, low=1)
        negatives = ranks.counted().negatives
        if self.without and m > negatives[0] and np.all(negatives == negatives[0]):
            raise ValueError(
                f"m = {m} is too large without replacement: system {ranks.system!r} has "
                f"{negatives[0]} negatives; take m <= {negatives[0]} or sample with replacement"
            )
        prior = self.correction.prior
        if prior is not None:
            first = ranks.counted()[ranks.counted().position == 1]
            n = rounded_mean(first.negatives + first.relevant, first.count)
            if len(prior) != n:
                raise ValueError(
                    f"prior has {len(prior)} weights, but system {ranks.system!r} has n = {n} "
                    f"candidates (the mean, rounded): give one weight for each rank 1..{n}"
                )
        if self.scheme == "popularity" and ranks.mass_above is not None:
            if self.correction.by_rank:
                raise ValueError(
                    f"correction {self.correction} of system {ranks.system!r} is not defined: with "
                    "mass_above the rank does not determine the law of the sampled rank; use "
                    "'uncorrected', or leave mass_above out to assume one odds for all"
                )
            if ranks.has_ties and self.ties != "optimistic":
                raise ValueError(
                    f"ties of system {ranks.system!r} need the weight of the tied items, which "
                    "mass_above does not give; read them as ties='optimistic'"
                )

    def weights(self, counts: RankCounts, above: ArrayLike | None = None) -> tuple[Floats, Floats]:
        """Sampling weight above and below each item; ``above`` in place of their own."""
        if self.scheme == "popularity" and counts.mass is not None:
            return counts.mass, 1 - counts.mass
        a = np.asarray(counts.above if above is None else above, dtype=np.float64)
        high, low = item_weights(self.scheme, a, counts.negatives - a, self.odds)
        # As shares, which compare between the relevant items of one instance: what is drawn from
        # above the first is above the second too, and each keeps the chance its odds give.
        whole = high + low if self.scheme == "popularity" else 1.0
        return high / whole, low / whole

    def instance_weights(self, counts: RankCounts) -> Floats:
        """Weight in the mean of the instance that each item belongs to: 1, or its |R|."""
        if self.weighting == "relevant-items":
            return counts.relevant.astype(np.float64)
        return np.ones(len(counts))

    def shares(self, counts: RankCounts) -> Floats:
        """Share in the mean of one instance of each item."""
        weights, first = self.instance_weights(counts), counts.position == 1
        return np.asarray(weights / (weights[first] @ counts.count[first]))

    def vector(self, metric: Metric, counts: RankCounts, m: int, position: int) -> Floats:
        """Value of each sampled count above, shape (m + 1,), before ``metric.scale``."""
        if metric.of_others and len(counts.positions) > 1:
            raise ValueError(
                f"{metric} is not available here for several relevant items of one instance: take "
                "AUC or Recall, or give each relevant item an instance of its own"
            )
        return self._vector(metric, counts, m, position)[0]

    def law_key(self, counts: RankCounts, m: int) -> object:
        """Equal for counts of which equal items have the same law and vector."""
        if not self.correction.by_rank:
            return counts.mass is None
        fitted = {j: self._fitted(counts, m, j) for j in counts.positions}
        return counts.mass is None, tuple(fitted.items())

    def note(self, metric: Metric, ranks: RankSet, m: int) -> str | None:
        """What to beware of in the correction of these ranks, or None."""
        return self._vector(metric, ranks.counted(), m, 1)[1]

    def _vector(
        self, metric: Metric, counts: RankCounts, m: int, position: int
    ) -> tuple[Floats, str | None]:
        return vector(self.correction, metric, self._fitted(counts, m, position), position)

    def _fitted(self, counts: RankCounts, m: int, position: int) -> Sampling:
        """One sampling for all instances: the population at its rounded mean."""
        n = _population(counts, position)
        if self.fit_scheme == "without-replacement":
            n = max(n, m + 1)
        return Sampling(
            n, m, self.fit_scheme, self.odds if self.fit_scheme == "popularity" else 1.0
        )


@lru_cache(maxsize=32)  # fits at many m ask for it
def _population(counts: RankCounts, position: int) -> int:
    here = counts.position == position
    return rounded_mean(counts.negatives[here], counts.count[here]) + 1


def as_ranked_by(metric: Metric, counts: RankCounts) -> RankCounts:
    """The relevant items as the metric ranks them: TOPK and ATOP each on its own."""
    return one_item_per_instance(counts) if metric.of_others else counts


def group_by_candidate_set(metrics: Sequence[Metric]) -> list[list[int]]:
    """Indices of metrics that rank alike: among the irrelevant items, or among all others."""
    groups: dict[bool, list[int]] = {}
    for i, metric in enumerate(metrics):
        groups.setdefault(metric.of_others, []).append(i)
    return list(groups.values())
