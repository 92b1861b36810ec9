"""How an evaluation samples and corrects: the options that all comparison functions share.

And what follows for each relevant item: its weights, its vector and the law of its sampled count.
An item with ``above`` certain items above and ``tied`` more beside it stands, with equal chance,
below above, above + 1, ..., above + tied of them. Sums over that range cost no loop over it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, TypedDict, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array

from sampledash import checks, rank_sets
from sampledash.correction import Correction, as_correction, vector
from sampledash.metrics import Metric
from sampledash.quadrature import SIZE, mean_nodes, reach
from sampledash.rank_sets import RankCounts, RankSet, Ties
from sampledash.sampled_rank_sets import MOST_PLACES
from sampledash.sampling import Sampling, item_weights, modes, pmf, pmf_chunks
from sampledash.schemes import SCHEMES, Design, Scheme, check_odds
from sampledash.types import Floats

Weighting = Literal["instances", "relevant-items"]

_CHUNK = 1 << 20  # entries of a block of laws
_CANCELS = 1e3  # largest factor on a difference of two cumulative laws


class Options(TypedDict, total=False):
    """Keyword options of the comparison functions.

    ``scheme`` is how negatives are drawn, ``"without-replacement"`` unless given; ``odds`` belongs
    to ``"popularity"``, where a set has no ``mass_above`` of its own; ``correction`` is what is
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
        scheme = options.get("scheme", Sampling.scheme)
        fitted = options.get("fit_scheme")
        fit_scheme = scheme if fitted is None else fitted
        checks.choice("scheme", scheme, SCHEMES)
        checks.choice("fit_scheme", fit_scheme, SCHEMES)
        odds = checks.real("odds", options.get("odds", 1.0), low=0, above=True)
        check_odds(odds, scheme, fit_scheme)
        ties, weighting = options.get("ties", "expected"), options.get("weighting", "instances")
        checks.choice("ties", ties, get_args(Ties))
        checks.choice("weighting", weighting, get_args(Weighting))
        recipe = as_correction(options.get("correction"))
        return cls(scheme, odds, recipe, fit_scheme, ties, weighting)

    @property
    def design(self) -> Design:
        """How the negatives are drawn."""
        return SCHEMES[self.scheme]

    @property
    def anew(self) -> bool:
        """Whether every m is computed anew: for a fit of its own, or since its draws vary."""
        return self.correction.kind.fitted or self.design.varies

    def check(self, ranks: RankSet, m: int) -> None:
        """Refuse what cannot be sampled or corrected."""
        rank_sets.require_ranks(ranks)
        ranks.require_known()
        checks.integer("m", m, low=1, high=MOST_PLACES)
        negatives = ranks.counted().negatives
        if self.design.distinct and m > negatives[0] and np.all(negatives == negatives[0]):
            raise ValueError(
                f"m = {m} is too large without replacement: system {ranks.system!r} has "
                f"{negatives[0]} negatives; take m <= {negatives[0]} or sample with replacement"
            )
        prior = self.correction.prior
        if prior is not None:
            first = ranks.counted()[ranks.counted().position == 1]
            n = rank_sets.rounded_mean(first.negatives + first.relevant, first.count)
            if len(prior) != n:
                raise ValueError(
                    f"prior has {len(prior)} weights, but system {ranks.system!r} has n = {n} "
                    f"candidates (the mean, rounded): give one weight for each rank 1..{n}"
                )
        self.check_mass(ranks)
        if self.design.weighted and ranks.mass_above is not None:
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

    def check_mass(self, ranks: RankSet) -> None:
        """Refuse sampling weights that a uniform scheme would leave aside without a word."""
        if not self.design.weighted and ranks.mass_above is not None:
            raise checks.Refusal(
                f"system {ranks.system!r} has mass_above, which scheme {self.scheme!r} does not "
                "read: draw by popularity, or leave it out",
                checks.Remedy("ranks.without_mass()"),
            )

    def require_fixed(self, system: str) -> None:
        """Refuse what depends on how several items are drawn together, where m varies."""
        if self.design.varies and system:
            raise ValueError(
                f"system {system!r}: how several items of an instance are sampled together is not "
                f"available for negatives drawn {self.design.words}; take another scheme, or one "
                "relevant item per instance"
            )

    def weights(self, counts: RankCounts, above: ArrayLike | None = None) -> tuple[Floats, Floats]:
        """Sampling weight above and below each item; ``above`` in place of their own."""
        if self.design.weighted and counts.mass is not None:
            return counts.mass, 1 - counts.mass
        a = np.asarray(counts.above if above is None else above, dtype=np.float64)
        high, low = item_weights(self.scheme, a, counts.negatives - a, self.odds)
        # As shares, which compare between the relevant items of one instance: what is drawn from
        # above the first is above the second too, and each keeps the chance its odds give.
        whole = high + low if self.design.weighted else 1.0
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

    def laws(self, counts: RankCounts, m: int) -> Iterator[tuple[NDArray[np.intp], Floats]]:
        """Yield blocks (indices of items, law of the sampled count above over 0..m).

        All items must have at least m negatives when sampling is without replacement.
        """
        plain = np.flatnonzero(counts.tied == 0)
        above, below = self.weights(counts[plain])
        order = np.argsort(modes(self.scheme, m, above, below), kind="stable")
        for rows, p in pmf_chunks(self.scheme, m, above[order], below[order]):
            yield plain[order[rows]], p
        tied = np.flatnonzero(counts.tied)
        factor = (counts.negatives[tied] + 1) / ((m + 1) * (counts.tied[tied] + 1.0))
        closed = self.design.distinct & (counts.tied[tied] >= SIZE) & (factor <= _CANCELS)
        step = max(1, _CHUNK // (m + 2))
        for at in _blocks(tied[closed], step):
            yield at, _tied_hypergeometric(m, counts[at])
        for at in _blocks(tied[~closed], max(1, step // 64)):  # with some ten to hundred nodes each
            owner, above, below, weights = self.tied_nodes(counts[at], m)
            share = csc_array((weights, (owner, np.arange(len(owner)))))
            parts = pmf_chunks(self.scheme, m, above, below)
            yield at, np.sum([share[:, rows] @ p for rows, p in parts], axis=0)

    def tied_nodes(
        self, counts: RankCounts, m: int
    ) -> tuple[NDArray[np.intp], Floats, Floats, Floats]:
        """Nodes for the laws of tied items: index of the item, weight above, below, of the node."""
        whole = np.column_stack([counts.above, counts.tied, counts.negatives]).astype(np.int64)
        nodes = [self._nodes(m, *block) for block in whole.tolist()]
        above, weights = (np.concatenate(each) for each in zip(*nodes, strict=True))
        owner = np.repeat(np.arange(len(counts)), [len(each) for each, _ in nodes])
        return owner, *self.weights(counts[owner], above), weights

    def _nodes(self, m: int, above: int, tied: int, total: int) -> tuple[Floats, Floats]:
        """Nodes and weights for the mean of a law over a tied range, in which it is smooth."""
        last = above + tied

        def end_of(first: int) -> int:
            end = min(last, max(first + SIZE - 1, reach(first, total, 1 / np.sqrt(m), self.odds)))
            if self.design.once and (first < m or end > total - m):
                end = min(last, first + SIZE - 1)  # near the ends the law is no polynomial between
            # Few different lengths: each needs a Gauss rule of its own.
            drop = max((end - first + 1).bit_length() - 4, 0)
            return first - 1 + ((end - first + 1) >> drop << drop)

        return mean_nodes(above, last, end_of)

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
        return counts.mass is None, *((j, self._fitted(counts, m, j)) for j in counts.positions)

    def note(self, metric: Metric, ranks: RankSet, m: int) -> str | None:
        """What to beware of in the correction of these ranks, or None."""
        return self._vector(metric, ranks.counted(), m, 1)[1]

    def _vector(
        self, metric: Metric, counts: RankCounts, m: int, position: int
    ) -> tuple[Floats, str | None]:
        return vector(self.correction, metric, self._fitted(counts, m, position), position)

    def _fitted(self, counts: RankCounts, m: int, position: int) -> Sampling:
        """One sampling for all instances: the population at its rounded mean."""
        n = counts.populations[position]
        fitted = SCHEMES[self.fit_scheme]
        n = max(n, m + 1) if fitted.distinct else n
        return Sampling(n, m, self.fit_scheme, fitted.odds(self.odds))


def _blocks(items: NDArray[np.intp], step: int) -> Iterator[NDArray[np.intp]]:
    return (items[start : start + step] for start in range(0, len(items), step))


def _tied_hypergeometric(m: int, counts: RankCounts) -> Floats:
    """Hypergeometric laws averaged over a range of counts above, in closed form.

    Summed over K <= x, C(K, s) C(N-K, m-s) counts the (m+1)-subsets of N+1 places whose (s+1)-th
    smallest is at most x: a tail of one more hypergeometric law.
    """
    places = counts.negatives + 1

    def tail(x: NDArray[np.int64]) -> Floats:
        p = pmf("without-replacement", m + 1, x, places - x)
        return np.cumsum(p[:, :0:-1], axis=1)[:, ::-1]

    factor = places / ((m + 1) * (counts.tied + 1.0))
    difference = tail(counts.above + counts.tied + 1) - tail(counts.above)
    return np.maximum(difference * factor[:, None], 0.0)


def as_ranked_by(metric: Metric, counts: RankCounts) -> RankCounts:
    """The relevant items as the metric ranks them: TOPK and ATOP each on its own."""
    return rank_sets.one_item_per_instance(counts) if metric.of_others else counts


def group_by_candidate_set(metrics: Sequence[Metric]) -> list[list[int]]:
    """Indices of metrics that rank alike: among the irrelevant items, or among all others."""
    groups: dict[bool, list[int]] = {}
    for i, metric in enumerate(metrics):
        groups.setdefault(metric.of_others, []).append(i)
    return list(groups.values())
