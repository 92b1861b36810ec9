"""The protocol of a sampled evaluation: the options that all comparison functions share.

The options determine the sampling weights, the corrected values and, for each relevant item, the
distribution of the sampled rank. Tied items are in random order: the number of tied items above a
relevant item is 0, 1, ... or all with equal probability. Means over this number are computed by
quadrature or by a closed form.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, TypedDict, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csc_array

from sampledash import by_weight, checks, rank_counts, rank_sets, sampling
from sampledash.correction import Correction, as_correction, vector
from sampledash.metrics import Metric
from sampledash.quadrature import SIZE, mean_nodes, reach
from sampledash.rank_counts import RankCounts
from sampledash.rank_sets import RankSet, Ties
from sampledash.sampled_rank_sets import MOST_PLACES, population_of
from sampledash.sampling import TOO_MANY, Sampling, item_weights, modes, pmf, pmf_chunks
from sampledash.schemes import DEFAULT_SCHEME, SCHEMES, HasScheme, Scheme, check_odds
from sampledash.types import Floats, Ints, blocks, frozen

Weighting = Literal["instances", "relevant-items"]

_CHUNK = 1 << 20  # largest number of probabilities in a block of distributions
#: The closed form of the distribution of a tied item's sampled rank multiplies a difference of two
#: cumulative probabilities, and thus its rounding error, by a factor. If the factor is above this
#: limit, quadrature is used.
_CANCELS = 1e3


class Options(TypedDict, total=False):
    """Keyword options of the comparison functions.

    ``scheme``: how negatives are drawn, ``"without-replacement"`` by default. ``odds``: for
    ``"popularity"`` if ranks have neither ``mass_above`` nor ``classes``, the sampling weight of an
    item above the relevant item; an item below has weight 1. ``correction``: how sampled ranks are
    corrected, or None. ``fit_scheme``: the scheme that the correction is fitted to; None is
    ``scheme``. ``ties``: the order of tied items, ``"expected"`` (random, drawn anew in each run),
    ``"optimistic"`` (relevant item first) or ``"pessimistic"``. ``weighting``: the weight of an
    instance, 1 (``"instances"``) or its number of relevant items (``"relevant-items"``).
    """

    scheme: Scheme
    odds: float
    correction: Correction | str | None
    fit_scheme: Scheme | None
    ties: Ties
    weighting: Weighting


@dataclass(frozen=True)
class Protocol(HasScheme):
    """Validated options of a sampled evaluation, with defaults filled in."""

    scheme: Scheme
    odds: float
    correction: Correction
    fit_scheme: Scheme
    ties: Ties
    weighting: Weighting = "instances"

    @classmethod
    def of(cls, options: Options) -> Protocol:
        """Return the protocol for these options: fill in the defaults and check every value."""
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
    def anew(self) -> bool:
        """Whether each m needs its own computation, such as a fit of the correction."""
        return self.correction.kind.fitted or self.design.anew

    def check(self, ranks: RankSet, m: int) -> None:
        """Raise ValueError if these ranks cannot be sampled or corrected with these options."""
        rank_sets.require_ranks(ranks)
        ranks.require_known()
        checks.integer("m", m, low=1, high=MOST_PLACES)
        negatives, who = ranks.counted().negatives, f"system {ranks.system!r}"
        if self.design.distinct and m > (most := negatives[0]) and np.all(negatives == most):
            raise ValueError(TOO_MANY.format(m, f"{who} has {most} negatives", most))
        prior = self.correction.prior
        if prior is not None:
            first = ranks.counted()[ranks.counted().position == 1]
            n = rank_counts.rounded_mean(first.negatives + first.relevant, first.count)
            if len(prior) != n:
                sizes = f"{len(prior)} weights, but {who} has n = {n} (the mean, rounded)"
                raise ValueError(f"prior has {sizes}: give one weight for each rank 1..{n}")
        self.check_mass(ranks)
        if self.design.by_class is not None:
            self._check_classes(ranks, m)
        known = ranks.classes is not None or ranks.mass_above is not None
        if self.design.weighted and known and self.correction.by_rank:
            advice = "take 'uncorrected', or leave these out to assume one odds for all"
            what = f"correction {self.correction} of {who} is not defined"
            raise ValueError(f"{what}: with mass_above or classes a rank does not fix it; {advice}")
        tied = ranks.has_ties and self.ties != "optimistic"
        if self.design.weighted and ranks.mass_above is not None and tied:
            advice = "read them as ties='optimistic'"
            raise ValueError(f"ties of {who} need the weight of the tied items: {advice}")

    def _check_classes(self, ranks: RankSet, m: int) -> None:
        """Raise ValueError if a scheme that draws by weight or stratum cannot sample the ranks."""
        who, least = f"system {ranks.system!r}", int(ranks.counted().negatives.min())
        if getattr(ranks, self.design.needs) is None:
            missing = f"{who} has no {self.design.needs}, which scheme {self.scheme!r} needs"
            raise ValueError(f"{missing}: rank from scores (rank --negatives, ranks_from_scores)")
        if self.correction.by_rank:
            what = f"correction {self.correction} of {who} is not defined"
            raise ValueError(f"{what}, drawn {self.design.words}: take 'uncorrected'")
        if ranks.max_relevant > 1:
            raise ValueError(f"{who} has several relevant items in an instance: take one")
        if m > least:
            raise ValueError(f"m = {m} exceeds {least}, the fewest negatives of {who}: take less")

    def check_mass(self, ranks: RankSet) -> None:
        """Raise ValueError if ranks have ``mass_above`` and the scheme does not use it."""
        if not self.design.weighted and ranks.mass_above is not None:
            unread = f"mass_above, which scheme {self.scheme!r} does not read"
            what = f"system {ranks.system!r} has {unread}: draw by popularity, or leave it out"
            raise checks.Refusal(what, checks.Remedy("ranks.without_mass()"))

    def require_fixed(self, system: str) -> None:
        """Raise ValueError if the joint distribution of two sampled ranks is not available.

        These are the ranks of two relevant items of an instance, or of an item under two systems,
        among the same negatives. An empty ``system`` means that the caller does not need the joint
        distribution: then no error is raised.
        """
        if self.design.by_class is not None and system:
            unknown = f"their {self.design.needs} do not tell which items are above both"
            shared = f"negatives drawn {self.design.words} and shared by two systems"
            raise ValueError(f"{shared}: {unknown}; take another scheme")
        if self.design.anew and system:
            what = "how several items of an instance are sampled together is not available"
            drawn = f"system {system!r}: for negatives drawn {self.design.words} {what}"
            raise ValueError(f"{drawn}; take another scheme, or one item each")

    def weights(self, counts: RankCounts, above: ArrayLike | None = None) -> tuple[Floats, Floats]:
        """Return the sampling weights of the negatives above and below each relevant item.

        If ``above`` is given, it replaces ``counts.above``: how many negatives are above each item.
        """
        if self.design.weighted and counts.mass is not None:
            return counts.mass, 1 - counts.mass
        if self.design.weighted and counts.classes is not None:
            # Add 1e-200, so that negatives are equally likely if all of them have weight 0.
            weight = counts.classes[:, by_weight.WEIGHT] + 1e-200
            sums = (counts.classes[:, : by_weight.WEIGHT] * weight[:, None]).sum(axis=2)
            high, tied, whole = sums.T  # total weights of the negatives above, tied and in all
            beyond = np.asarray(counts.above if above is None else above) - counts.above
            part = (high + beyond / np.maximum(counts.tied, 1) * tied) / whole
            share = np.clip(part, 0, 1)  # rounding errors may put ``part`` slightly outside 0..1
            return share, 1 - share
        a = np.asarray(counts.above if above is None else above, dtype=np.float64)
        high, low = item_weights(self.scheme, a, counts.negatives - a, self.odds)
        # If the scheme is ``weighted``, return shares of the total weight. Callers subtract the
        # shares above two relevant items, to get the share between these two items.
        whole = high + low if self.design.weighted else 1.0
        return high / whole, low / whole

    def instance_weights(self, counts: RankCounts) -> Floats:
        """Return each item's instance weight: 1, or the instance's number of relevant items."""
        if self.weighting == "relevant-items":
            return counts.relevant.astype(np.float64)
        return np.ones(len(counts))

    def shares(self, counts: RankCounts) -> Floats:
        """Return each relevant item's instance weight, divided by the sum over all instances."""
        weights, first = self.instance_weights(counts), counts.position == 1
        return np.asarray(weights / (weights[first] @ counts.count[first]))

    def laws(self, counts: RankCounts, m: int) -> Iterator[tuple[NDArray[np.intp], Floats]]:
        """Yield blocks: (indices of relevant items, distributions of their sampled ranks).

        A distribution holds the probabilities of 0..m sampled items above the relevant item.
        Without replacement, all items must have at least m negatives.
        """
        if self.design.by_class is not None:
            make = partial(self.design.by_class, getattr(counts, self.design.needs), m)
            p = counts.cached((self.scheme, m), len(counts) * m, lambda: frozen(make()))
            yield np.arange(len(counts)), p
            return
        if (sizes := self.design.sizes) is not None:
            most = np.minimum(m, counts.negatives)
            for size in np.unique(most).tolist():
                at = np.flatnonzero(most == size)
                for some, law in replace(self, scheme=DEFAULT_SCHEME).laws(counts[at], size):
                    p = sampling.over_sizes_of(sizes, m, law, counts.negatives[at[some]])
                    yield at[some], np.pad(p, ((0, 0), (0, m - size)))
            return
        plain = np.flatnonzero(counts.tied == 0)
        above, below = self.weights(counts[plain])
        order = np.argsort(modes(self.scheme, m, above, below), kind="stable")
        for rows, p in pmf_chunks(self.scheme, m, above[order], below[order]):
            yield plain[order[rows]], p
        tied = np.flatnonzero(counts.tied)
        factor = (counts.negatives[tied] + 1) / ((m + 1) * (counts.tied[tied] + 1.0))
        closed = self.design.distinct & (counts.tied[tied] >= SIZE) & (factor <= _CANCELS)
        for at in _blocks(tied[closed], m + 2):
            yield at, _tied_hypergeometric(m, counts[at])
        # Use fewer items per block, because each item with ties needs 10 to 100 distributions: one
        # for each quadrature node.
        for at in _blocks(tied[~closed], 64 * (m + 2)):
            owner, above, below, weights = self.tied_nodes(counts[at], m)
            share = csc_array((weights, (owner, np.arange(len(owner)))))
            parts = pmf_chunks(self.scheme, m, above, below)
            yield at, np.sum([share[:, rows] @ p for rows, p in parts], axis=0)

    def tied_nodes(
        self, counts: RankCounts, m: int
    ) -> tuple[NDArray[np.intp], Floats, Floats, Floats]:
        """Return quadrature nodes for means over the number of tied items above a relevant item.

        Return four arrays with an entry per node: the index of the relevant item, the sampling
        weights above and below this item, and the weight of the node in the item's mean.
        """
        least, total = counts.above.astype(np.int64), counts.negatives.astype(np.int64)
        last, width = least + counts.tied, 1 / np.sqrt(m)

        def end_of(index: Ints, first: Ints) -> Ints:
            single = first + SIZE - 1
            end = np.maximum(single, reach(first, total[index], width, self.odds))
            end = np.minimum(end, last[index])
            if self.design.once:
                # Near both ends of the list, the distribution of the sampled rank is not smooth in
                # the true rank, so true ranks are summed one by one.
                end = np.where((first < m) | (end > total[index] - m), single, end)
            # A panel is a range of numbers that share one Gauss rule. Round its length down to one
            # of few lengths, because the rule is computed (and cached) for every length.
            drop = np.maximum(np.frexp(end - first + 1)[1] - 4, 0)
            return np.asarray(first - 1 + ((end - first + 1) >> drop << drop))

        owner, above, weights = mean_nodes(least, last, end_of)
        return owner, *self.weights(counts[owner], above), weights

    def vector(self, metric: Metric, counts: RankCounts, m: int, position: int) -> Floats:
        """Return the corrected values for 0..m sampled items above the relevant item.

        The relevant item is at ``position`` in its instance (1 is the best). The values are not yet
        multiplied by ``metric.scale``.
        """
        if metric.of_others and len(counts.positions) > 1:
            advice = "take AUC or Recall, or give each item an instance of its own"
            raise ValueError(f"{metric} is not available here for several relevant items: {advice}")
        sampling.check_metric(metric, self.scheme)
        return vector(self.correction, metric, self._fitted(counts, m, position), position)[0]

    def law_key(self, counts: RankCounts, m: int) -> Hashable:
        """Return a key that is equal for rank sets that can share computations.

        If two rank sets have equal keys, relevant items with equal :attr:`RankCounts.columns` have
        equal distributions of the sampled rank and equal corrected values in both.
        """
        fits = counts.positions if self.correction.by_rank else ()
        group: object = self.design.uniform or counts.mass is None
        if not self.design.uniform and (counts.classes is not None or counts.strata is not None):
            group = counts  # items of two systems are hardly ever equal in all classes or strata
        return group, *((j, self._fitted(counts, m, j)) for j in fits)

    def note(self, metric: Metric, ranks: RankSet, m: int) -> str | None:
        """Return the warning about the corrected values for these ranks, or None."""
        return vector(self.correction, metric, self._fitted(ranks.counted(), m, 1), 1)[1]

    def _fitted(self, counts: RankCounts, m: int, position: int) -> Sampling:
        """Return the ``Sampling`` for which corrected values are computed.

        The values are for the relevant items at ``position`` in their instances (1 is the best).
        The number of candidates of the ``Sampling`` is the rounded mean over these items.
        """
        # Uncorrected values (``by_rank`` is false) are the same for all schemes. Compute them for
        # the default scheme, so that all schemes share them in the cache.
        scheme = self.fit_scheme if self.correction.by_rank else DEFAULT_SCHEME
        n = population_of(scheme, counts.populations[position], m)
        return Sampling(n, m, scheme, SCHEMES[scheme].odds(self.odds))


def _blocks(items: NDArray[np.intp], width: int) -> Iterator[NDArray[np.intp]]:
    return (items[rows] for rows in blocks(len(items), _CHUNK, width))


def _tied_hypergeometric(m: int, counts: RankCounts) -> Floats:
    """Return the distribution of the number of drawn items above each relevant item: (items, m+1).

    It is averaged over the order of tied items. If K of N negatives are above the relevant item, s
    of the m drawn negatives are above it in C(K, s) C(N-K, m-s) of the C(N, m) samples. The sum of
    this product over K <= x is the number of (m+1)-subsets of 0..N whose (s+1)-th smallest element
    is at most x. The sum is therefore a tail of another hypergeometric distribution. The random
    order of ties makes consecutive K equally likely, so the result is a difference of two such
    tails.
    """
    places = counts.negatives + 1

    def tail(x: NDArray[np.int64]) -> Floats:
        p = pmf("without-replacement", m + 1, x, places - x)
        return np.cumsum(p[:, :0:-1], axis=1)[:, ::-1]

    factor = places / ((m + 1) * (counts.tied + 1.0))
    difference = tail(counts.above + counts.tied + 1) - tail(counts.above)
    return np.maximum(difference * factor[:, None], 0.0)


def as_ranked_by(metric: Metric, counts: RankCounts) -> RankCounts:
    """Return ``counts``; for TOPK and ATOP, each relevant item becomes an instance of its own."""
    return rank_counts.one_item_per_instance(counts) if metric.of_others else counts


def group_by_candidate_set(metrics: Sequence[Metric]) -> list[list[int]]:
    """Return the indices of TOPK and ATOP in one list, and those of all other metrics in another.

    TOPK and ATOP rank a relevant item among all other items, other metrics among irrelevant items.
    The list with the first metric is first. An empty list is left out.
    """
    groups: dict[bool, list[int]] = {}
    for i, metric in enumerate(metrics):
        groups.setdefault(metric.of_others, []).append(i)
    return list(groups.values())
