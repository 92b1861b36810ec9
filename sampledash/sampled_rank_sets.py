"""Sampled ranks of one recommender, which are the result of an evaluation on sampled negatives."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtrc, gammaln

from sampledash import checks
from sampledash.pmf_sums import weighted_pmf_sums
from sampledash.rank_counts import rounded_mean
from sampledash.rank_sets import RankSet, require_ranks
from sampledash.sampling import Sampling
from sampledash.schemes import DEFAULT_SCHEME, SCHEMES, Scheme
from sampledash.types import ByDigest, Flags, Floats, Ints, digest_of, frozen

#: Significance level of the test of whether m correlates with the rank (:func:`chance_if_set`).
LEVEL = 1e-3
#: The two possible explanations of a correlation between m and the rank. An example of the second:
#: negatives were drawn until one of them ranked above the relevant item.
READINGS = ("m was set beforehand", "what was drawn decided m")
#: How tied scores are treated; see :meth:`SampledRankSet.with_ties`.
TieRule = Literal["expected", "optimistic", "pessimistic", "mean-rank"]
#: If the p-value of :func:`chance_if_set` is below this, confidence intervals that assume no shape
#: of the rank distribution are made so wide that they hold for both explanations in READINGS.
DOUBTFUL = 0.05
#: The test of whether m correlates with the rank compares only instances of similar n. A group of
#: similar n (stratum) has about this many instances.
_STRATUM = 50.0
# Estimates divide the instances into strata of similar n (``SampledRankSet.strata``).
_ENOUGH = 50.0  # a stratum has at least this many instances, if possible
#: Limit for the ratio of the largest to the smallest n in a stratum, and for the same ratio of m.
#: A stratum may exceed the limit only to reach _ENOUGH instances.
_NEAR = 1.5
#: No stratum exceeds this ratio of the largest to the smallest n. There is no such strict limit for
#: m, because a larger m can be reduced by dropping negatives.
_FAR = 4.0
_FAINT = 1e-9  # a total weight of instances that is below this is only a rounding error
#: Largest number of possible sampled ranks: the sum of m + 1 over all different m of a rank set.
MOST_PLACES = 10_000_000


@dataclass(frozen=True, eq=False)
class Outcomes:
    """How often each sampled rank occurred at each m: all that an estimate needs of a sample."""

    n: int
    scheme: Scheme
    m: tuple[int, ...]  # the different numbers of sampled negatives, in increasing order
    #: Per m, the number of instances with 0, ..., m sampled negatives above the relevant item:
    #: shape (m + 1,), or (runs, m + 1) for several samples of instances (runs).
    counts: tuple[Floats, ...]
    #: Whether m depended on the drawn negatives, so that the number of instances with each m is
    #: random.
    adaptive: bool = False
    #: In the worst case, this many instances carry as much information as one independent instance.
    design_effect: float = 1.0
    #: Smallest and largest n of the instances, if they differ; ``n`` is then the mean.
    extremes: tuple[int, ...] = ()

    @property
    def at_extremes(self) -> tuple[Outcomes, ...]:
        """Copies of this object whose ``n`` is the smallest, and the largest, n of an instance."""
        return tuple(replace(self, n=n, extremes=()) for n in self.extremes or (self.n,))

    @property
    def samplings(self) -> tuple[Sampling, ...]:
        """One :class:`Sampling` for each m."""
        return tuple(Sampling(self.n, m, self.scheme) for m in self.m)

    @property
    def total(self) -> Floats:
        """Number of instances: one number, or one number per run (sample of instances)."""
        return np.asarray(sum(c.sum(axis=-1) for c in self.counts))

    @property
    def shares(self) -> Floats:
        """Share of instances with each outcome (m and sampled rank): shape (..., outcomes)."""
        return np.concatenate(self.counts, axis=-1) / self.total[..., None]

    def by_m(self, values: Floats) -> list[Floats]:
        """Split an array with a value for each outcome (m and sampled rank) into an array per m."""
        return np.split(values, np.cumsum([m + 1 for m in self.m])[:-1], axis=-1)

    def require_possible(self, chance: Floats) -> None:
        """Raise ValueError if an outcome (m and sampled rank) occurred that is impossible.

        ``chance``, shape (outcomes,), is 0 for outcomes that have probability 0 at every true rank.
        """
        for m, counts, chances in zip(self.m, self.counts, self.by_m(chance), strict=True):
            bad = np.any(np.atleast_2d(counts) > 0, axis=0) & (chances <= 0)
            if (i := checks.first(bad)) is not None:
                drawn = f"n = {self.n} and m = {m}, {self.scheme}: check n, m and the scheme"
                raise ValueError(f"sampled_rank {i + 1} cannot occur with {drawn}")


@dataclass(frozen=True, eq=False, init=False)
class SampledRankSet(ByDigest):
    """Sampled ranks of one recommender over the instances of an evaluation.

    Parameters
    ----------
    system
        Name of the recommender.
    sampled_ranks
        Rank of the relevant item among itself and its m sampled negatives: integers in 1..m+1;
        with ties, the best rank of the tied items.
    n
        Number of candidates: the items that negatives were drawn from, plus the relevant item. Give
        one number, or one number per entry, of at most 10^12.
    m
        Number of sampled negatives: one number, or one number per entry. The sum of m + 1 over the
        different values is at most 10^7.
    scheme
        How the negatives were drawn, ``"without-replacement"`` or ``"with-replacement"``.
    instances
        Label of the user or query of each entry. Without labels, every entry is an instance.
    counts
        Weight of each entry, at least 0: the number of instances that it represents; may be
        fractional.
    adaptive
        Whether the m of an instance depended on its drawn negatives, for example because negatives
        were drawn until one of them ranked above the relevant item. If False, m was set beforehand;
        m may still differ between instances and correlate with the rank. If None, it is unknown how
        m was set. Then a test with at most 1 false positive in 1,000 samples
        (:func:`chance_if_set`) decides whether m correlates with the rank. If so, estimates are
        made for both cases (:attr:`readings`), and ranges hold for both cases.
    ties
        Number of sampled negatives that are tied with the relevant item: one number, or one per
        entry. Tied items are in random order: each entry counts in equal parts at every rank that
        the relevant item can have among the tied items, and remains one instance.
    mean_rank
        How the uncorrected metric treats ties. If True, it is computed from the mean of the best
        and the worst rank, as OGB, TGB and PyKEEN publish it. If False, it is the mean over all
        orders of the tied items. All other results assume a random order, because the mean rank of
        a sample does not have the distribution of a sampled rank.

    Raises
    ------
    ValueError
        If a value is invalid; the message names the system, the column and the first such value.

    Notes
    -----
    Arrays are copied and read-only. Equality and hash use ``digest`` (SHA-256 of the contents).
    Sampled ranks alone do not determine the true ranks: see :func:`~sampledash.bounds`.
    """

    system: str
    sampled_ranks: Ints
    n: Ints
    m: Ints
    instances: NDArray[Any] | None
    counts: Floats
    scheme: Scheme
    adaptive: bool | None
    ties: Ints
    mean_rank: bool

    def __init__(
        self,
        system: str,
        sampled_ranks: ArrayLike,
        n: ArrayLike,
        m: ArrayLike,
        *,
        scheme: Scheme = DEFAULT_SCHEME,
        instances: ArrayLike | None = None,
        counts: ArrayLike | None = None,
        adaptive: bool | None = None,
        ties: ArrayLike = 0,
        mean_rank: bool = False,
    ) -> None:
        name = checks.text("system", system)
        where = f"of system {name!r}"
        rows = checks.rows(f"sampled_ranks {where}", sampled_ranks, "sampled rank")
        checks.choice("scheme", scheme, SCHEMES)
        if not SCHEMES[scheme].uniform:
            rule = "what is above counts too; only uniformly drawn negatives can be corrected"
            raise ValueError(f"scheme {where} is {scheme!r}: {rule}")
        if SCHEMES[scheme].varies:
            advice = "give the number of different negatives of each instance as its m"
            raise ValueError(f"scheme {where} is {scheme!r}: {advice}, with {DEFAULT_SCHEME!r}")

        needed = f"one value, or one for each of the {rows} sampled ranks"
        size = checks.column(f"n {where}", n, checks.candidates, rows, needed)
        drawn = checks.column(f"m {where}", m, partial(checks.integers, low=1), rows, needed)
        places = int((_distinct(drawn) + 1).sum(dtype=np.float64))
        if places > MOST_PLACES:
            most = f"each of {places} places, at most {MOST_PLACES}; sample fewer"
            raise ValueError(f"m {where} is up to {drawn.max()}: estimates count ranks at {most}")
        rank = checks.integers(f"sampled_rank {where}", np.ravel(sampled_ranks), low=1)
        tied = checks.column(f"ties {where}", ties, partial(checks.integers, low=0), rows, needed)
        if (i := checks.first(tied > drawn)) is not None:
            most = f"only m = {drawn[i]} negatives are drawn: count those tied with the item"
            raise ValueError(f"ties {where} is {tied[i]}, but {most}")
        if (i := checks.first(rank + tied > drawn + 1)) is not None:
            block = f"{rank[i]} with {tied[i]} others tied" if tied[i] else rank[i]
            most = f"with m = {drawn[i]} negatives it is at most {drawn[i] + 1 - tied[i]}"
            advice = "if these are true ranks, use a RankSet; else give the m that was used"
            raise ValueError(f"sampled_rank {where} is {block}, but {most}: {advice}")
        if size.min() == 2 and np.any(odd := (size == 2) & (rank > 1) & (rank <= drawn)):
            # With n = 2, all m draws give the only negative: the sampled rank is 1 or m + 1.
            i = int(np.argmax(odd))
            possible = f"with n = 2 and m = {drawn[i]}: it is 1 or {drawn[i] + 1}; check n and m"
            raise ValueError(f"sampled_rank {where} is {rank[i]}, which cannot occur {possible}")
        if SCHEMES[scheme].distinct and (i := checks.first(drawn > size - 1)) is not None:
            most = f"without replacement n = {size[i]} leaves {size[i] - 1} negatives"
            raise ValueError(f"m {where} is {drawn[i]}, but {most}: check m, n and the scheme")
        given = 1.0 if counts is None else counts
        weight = checks.column(f"counts {where}", given, checks.numbers, rows, needed)
        if np.any(weight < 0):
            first = weight[weight < 0][0]
            raise ValueError(f"counts {where} must be at least 0, got {first:g}: give numbers")
        if not weight.any():
            raise ValueError(f"counts {where} are all 0: give at least one instance")
        checks.total(f"counts {where}", weight)
        labels = instances
        if instances is not None:
            labels = checks.column(f"instances {where}", instances, checks.labels, rows, needed)
        decided = None if adaptive is None else checks.flag(f"adaptive {where}", adaptive)
        at_mean = checks.flag(f"mean_rank {where}", mean_rank)
        self._hold(name, rank, size, drawn, labels, weight, scheme, decided, tied, at_mean)

    def __len__(self) -> int:
        return len(self.sampled_ranks)

    def __repr__(self) -> str:
        drawn = self.outcomes.m
        m = " or ".join(map(str, drawn)) if len(drawn) < 4 else "mixed"
        sizes = f"{self.n_instances:g} instances, n = {self.population}, m = {m}"
        return f"SampledRankSet({self.system!r}, {sizes})"

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the contents as hexadecimal text, which caches use as a key."""
        columns = (self.sampled_ranks, self.n, self.m, self.counts, self.ties)
        head = f"{self.system!r} {self.scheme} {len(self)} {self.adaptive} {self.mean_rank}"
        return digest_of(head, columns, self.instances)

    def with_ties(self, rule: TieRule) -> SampledRankSet:
        """Return a copy in which tied items are treated according to ``rule``.

        ``"expected"``: in random order; ``"optimistic"`` and ``"pessimistic"``: the relevant item
        is the first, or the last, of the tied items; ``"mean-rank"``: see ``mean_rank``.
        """
        checks.choice("ties", rule, get_args(TieRule))
        if rule in ("expected", "mean-rank"):
            return replace(self, mean_rank=rule == "mean-rank")
        ranks = self.sampled_ranks + (self.ties if rule == "pessimistic" else 0)
        return replace(self, sampled_ranks=ranks, ties=0 * self.ties, mean_rank=False)

    @property
    def readings(self) -> tuple[SampledRankSet, ...]:
        """Copies of this rank set with each possible value of ``adaptive``; usually the set itself.

        There are two copies if ``adaptive`` is None and m correlates with the rank. In the first
        (False), m was set beforehand by something that correlates with the rank. In the second
        (True), m depended on the drawn negatives. No sample can show which of them is true.
        """
        return self.read_at(LEVEL)

    def read_at(self, level: float) -> tuple[SampledRankSet, ...]:
        """Return :attr:`readings`, but test at this level whether m correlates with the rank."""
        if self.adaptive is not None or self.chance_if_set >= level:
            return (self,)
        return replace(self, adaptive=False), replace(self, adaptive=True)

    def require_set(self, what: str, instead: str) -> None:
        """Raise ValueError if m may depend on the drawn negatives, which makes ``what`` invalid.

        The error message advises ``instead``.
        """
        if self.readings[-1].adaptive:
            reason = "what was drawn decided its m (as adaptive says)"
            if self.adaptive is None:
                reason = "its m goes with the rank, so that what was drawn may have decided m"
            advice = f"{instead}, or give adaptive=False if m was set beforehand"
            reason += f", which changes the distribution of the sampled rank; {advice}"
            raise ValueError(f"{what} is not valid for system {self.system!r}: {reason}")

    @cached_property
    def chance_if_set(self) -> float:
        """p-value of the test that m is independent of the rank (:func:`chance_if_set`)."""
        used = self.counts > 0
        weight = self.counts[used] / self.design_effect
        # If the relevant item is tied, assume that it is in the middle of the tied items.
        above = self.sampled_ranks[used] - 1 + self.ties[used] // 2
        return chance_if_set(self.n[used], self.m[used], above, weight)

    @cached_property
    def design_effect(self) -> float:
        """How many instances, at worst, carry as much information as one independent instance.

        Entries with the same label may be alike. If they are copies of each other, the sample is
        worth (sum of weights)² / (sum of squared weights) independent instances, where the weight
        of a label is the sum of the ``counts`` of its entries.
        """
        if self.instances is None:
            return 1.0
        _, label = np.unique(self.instances, return_inverse=True)
        weights = np.bincount(label, weights=self.counts)
        return max(1.0, float(np.sum(weights**2) / np.sum(weights)))

    @property
    def n_instances(self) -> float:
        """Number of instances: the sum of ``counts``."""
        return float(self.counts.sum())

    @cached_property
    def population(self) -> int:
        """Number of candidates: n, or its rounded mean over instances."""
        return rounded_mean(self.n, self.counts)

    @cached_property
    def outcomes(self) -> Outcomes:
        """How often each sampled rank occurred, for each m in increasing order."""
        return self._outcomes(self.counts > 0)

    def _outcomes(self, instances: Flags | Ints, most: int | None = None) -> Outcomes:
        """Count each sampled rank of ``instances``, at each m.

        If instances have more than ``most`` negatives, return averages over all ways to drop the
        excess negatives.
        """
        n, m, weight = self.n[instances], self.m[instances], self.counts[instances]
        above, ties, counts = self.sampled_ranks[instances] - 1, self.ties[instances], []
        of_n = int(n.min()), rounded_mean(n, weight), int(n.max())
        if ties.any():
            above, m, weight = _split(above, ties, m, weight)
        drawn = m if most is None else np.minimum(m, most)
        sizes = tuple(_distinct(drawn).tolist())
        for size in sizes:
            whole, part = m == size, (drawn == size) & (m > size)
            seen = np.bincount(above[whole], weight[whole], size + 1).astype(np.float64)
            if np.any(part):
                # Some instances have more than ``size`` negatives: average over all ways to drop
                # the excess negatives.
                every = [(above[part], (m - above)[part], weight[part])]
                seen += weighted_pmf_sums("without-replacement", size, every)[0]
            counts.append(frozen(seen))
        least, mean, largest = (population_of(self.scheme, x, sizes[-1]) for x in of_n)
        adaptive, ends = bool(self.readings[-1].adaptive), (least, largest) * (least < largest)
        per_m = sizes, tuple(counts)
        return Outcomes(mean, self.scheme, *per_m, adaptive, self.design_effect, ends)

    @cached_property
    def strata(self) -> tuple[Outcomes, ...]:
        """How often each sampled rank occurred in each stratum, a group of instances of similar n.

        Estimates give each stratum its own distribution of true ranks. If m was set beforehand and
        may correlate with the rank, the instances of a stratum have similar m, too. Negatives in
        excess of the smallest m of the stratum are dropped; the result is the average over all ways
        to drop them.
        """
        used = np.flatnonzero(self.counts > 0)
        level = LEVEL if self.adaptive is None else DOUBTFUL
        apart = not self.adaptive and self.chance_if_set < level
        strata = []
        for group in _groups(used, self.n, self.counts, _FAR):
            # Form groups from the largest m down, so that few instances with small m do not reduce
            # the m of many other instances.
            parts = _groups(group, 1 / self.m, self.counts, np.inf) if apart else [group]
            for part in parts:
                most = int(self.m[part].min()) if apart else None
                if SCHEMES[self.scheme].distinct and not self.adaptive:
                    most = min(most or MOST_PLACES, int(self.n[part].min()) - 1)
                strata.append(self._outcomes(part, most))
        return tuple(strata)


def _split(above: Ints, ties: Ints, m: Ints, weight: Floats) -> tuple[Ints, Ints, Floats]:
    """Divide the weight of each relevant item equally over its possible sampled ranks.

    ``ties`` negatives are tied with the item, so ``above`` to ``above + ties`` negatives may be
    above it. Return three arrays over the distinct pairs (number above, m): the number above, m,
    and the total weight of the items with this pair.
    """
    places, drawn, counts = list[Ints](), list[Ints](), list[Floats]()
    for size in _distinct(m):
        here = m == size
        first, last = above[here], above[here] + ties[here] + 1
        share = weight[here] / (last - first)
        # Ties leave an item several possible numbers of negatives above: ``first`` to ``last`` - 1.
        # Each number gets the part ``share`` of the item's weight. Add ``share`` at ``first`` and
        # subtract it at ``last``: the cumulative sum is then the total weight at each number.
        begins, ceases = (np.bincount(x, share, size + 2)[:-1] for x in (first, last))
        at_place = np.cumsum(begins - ceases, dtype=np.float64)
        held = np.flatnonzero(at_place > _FAINT)
        places.append(held)
        drawn.append(np.full(len(held), size))
        counts.append(at_place[held])
    return np.concatenate(places), np.concatenate(drawn), np.concatenate(counts)


def _groups(instances: Ints, sizes: ArrayLike, weights: Floats, far: float) -> list[Ints]:
    """Divide ``instances`` into groups of similar ``sizes`` (n or 1/m), by increasing size.

    A group contains sizes up to _NEAR times its smallest size. To reach _ENOUGH instances, it may
    contain larger sizes, but none above ``far`` times its smallest size.
    """
    logs, place = np.unique(np.log(np.asarray(sizes)[instances]), return_inverse=True)
    totals = np.bincount(place, weights[instances])
    before, starts = np.cumsum(totals) - totals, [0]
    while starts[-1] < len(logs):
        first, start = logs[starts[-1]] + 1e-9, starts[-1]
        near, distant = np.searchsorted(logs, [first + np.log(_NEAR), first + np.log(far)])
        enough = np.searchsorted(before, before[start] + _ENOUGH)
        starts.append(int(min(max(near, enough), distant)))
    group = np.searchsorted(starts, place, side="right")
    return [instances[group == i] for i in range(1, len(starts))]


def _distinct(values: Ints) -> Ints:
    """Return the distinct values in increasing order, without sorting if all are equal."""
    return values[:1] if values.min() == values.max() else np.unique(values)


def population_of(scheme: Scheme, mean: int, m: int) -> int:
    """Return the ``mean`` n of instances, but at least m + 1 if the m negatives are distinct."""
    return max(mean, m + 1) if SCHEMES[scheme].distinct else mean


def chance_if_set(n: Ints, m: Ints, above: Ints, weight: Floats) -> float:
    """Return the p-value of the test that m is independent of the rank; 1 if the test has no power.

    Each entry of the arrays stands for ``weight`` instances with n candidates and m negatives, of
    which ``above`` are above the relevant item.

    The test drops negatives at random until all instances of similar n have equally many, namely
    the smallest m among them. If m is independent of the rank, the number of remaining negatives
    above the relevant item is independent of the original m. If an evaluation draws more negatives
    as long as none ranks above the item, this number is smaller for large m. If m was set
    beforehand by something that correlates with the rank, it is smaller or larger for large m.

    The test is that of Cochran, Mantel & Haenszel. An instance has two scores: the share of the
    remaining negatives that is above the item, and whether this share is 0. The correlations of the
    scores with the midrank of m among instances of similar n are compared with the correlations for
    all permutations of m. The scores are averaged over all ways to drop negatives, so that the
    result is reproducible. But the variance is that of scores for one random way, which is larger
    than that of the averages. Therefore, the error rate is not above the stated level. If n
    determines m (all candidates, or a share of them), the p-value is 1.

    If nearly all instances have the same m, the test statistic is not normal. Its tail is therefore
    bounded by Bernstein's inequality with the largest contribution of an instance; if all
    contributions are small, this bound is close to the normal tail.

    References
    ----------
    Landis, Heyman & Koch, Average partial association in three-way contingency tables,
    International Statistical Review 1978 (correlation with several mean scores); Boucheron, Lugosi
    & Massart, Concentration Inequalities, 2013, section 2.8 (Bernstein).
    """
    if np.ptp(m) == 0 or _follows(n, m):
        return 1.0
    stratum = _strata(n, weight)
    order = np.lexsort((m, stratum))
    stratum, m, s, w = stratum[order], m[order], above[order], weight[order]
    first = np.flatnonzero(np.r_[True, np.diff(stratum) > 0])
    fewest = m[first][stratum]
    size = np.bincount(stratum, w)
    several = size > 1
    place = _midranks(stratum, m, w)

    def mean(values: Floats) -> Floats:
        return np.asarray(np.bincount(stratum, w * values) / size)

    # A stratum holds instances of similar n. Drop negatives of each instance at random until
    # ``fewest`` remain, the smallest m in its stratum. ``share`` is the expected share of the
    # remaining negatives that is above the relevant item, and ``square`` is the second moment of
    # this share. ``none`` is the probability that no remaining negative is above. If fewer than
    # ``fewest`` negatives are below the relevant item, ``left`` is -inf, so that ``none`` is 0.
    share = s / m
    square = share / fewest
    square += (1 - 1 / fewest) * share * (s - 1) / np.maximum(m - 1, 1)
    left = gammaln(m - s + 1.0) - gammaln(m - s - fewest + 1.0)
    none = np.exp(left - gammaln(m + 1.0) + gammaln(m - fewest + 1.0))
    place = place - mean(place)[stratum]
    total = np.array([np.sum((w * place * y)[several[stratum]]) for y in (share, none)])
    a, b = mean(share), mean(none)
    apart = mean(place**2) * size**2 / np.where(several, size - 1, 1)
    covariance = [[mean(square) - a**2, -a * b], [-a * b, b - b**2]]
    spread = np.array([[np.sum((apart * c)[several]) for c in row] for row in covariance])
    # Leave out eigenvalues of 0 of the covariance matrix. They occur, for example, if ``fewest`` is
    # 1, because ``none`` is then 1 - ``share``.
    values, vectors = np.linalg.eigh(spread)
    matters = values > 1e-9 * values.max()
    if not np.any(matters):
        return 1.0
    vectors = vectors[:, matters]
    direction = vectors @ (vectors.T @ total / values[matters])
    # Bernstein's inequality needs the largest contribution of an instance to the test statistic:
    # the largest midrank of m times the most extreme score, both minus their means. The scores are
    # the share of the remaining negatives above the relevant item, and whether it is 0. The scores
    # are most extreme if none, one, or as many as possible of these negatives are above the item.
    scores = [np.minimum(s, fewest) / fewest, 1 / fewest]
    ends = np.stack([*(direction[0] * x for x in scores), np.full(len(s), direction[1])])
    off = np.abs(ends - (direction @ np.stack([a, b]))[stratum]).max(axis=0)
    largest = np.maximum.reduceat(np.abs(place), first) * np.maximum.reduceat(off, first)
    squared = direction @ total / (1 + largest[several].max() / 3)
    return float(chdtrc(int(matters.sum()), squared))


def _follows(n: Ints, m: Ints) -> bool:
    """Return whether m is a monotone function of n."""
    pairs = np.unique(np.stack([n, m]), axis=1)
    steps = np.diff(pairs[1])
    return bool(np.all(np.diff(pairs[0]) > 0)) and bool(np.all(steps >= 0) or np.all(steps <= 0))


def _strata(n: Ints, weight: Floats) -> Ints:
    """Return the number of each instance's stratum, a group of instances with similar n.

    Instances of equal n are in one stratum. A stratum has about 50 instances.
    """
    _, place = np.unique(n, return_inverse=True)
    sizes = np.bincount(place, weight)
    before = np.cumsum(sizes) - sizes
    _, block = np.unique((before / _STRATUM).astype(np.int64), return_inverse=True)
    return np.asarray(block[place])


def _midranks(stratum: Ints, m: Ints, weight: Floats) -> Floats:
    """Return the midrank of m of each instance within its stratum, plus a constant per stratum.

    The midrank is the share of the stratum with a smaller m, plus half the share with an equal m.
    The caller removes the constant. Instances must be sorted by stratum and m.
    """
    group = np.r_[0, np.cumsum((np.diff(stratum) > 0) | (np.diff(m) > 0))]
    sizes = np.bincount(group, weight)
    middle = np.cumsum(sizes) - sizes / 2
    return np.asarray(middle[group] / np.bincount(stratum, weight)[stratum])


def as_sample(ranks: RankSet, n: int) -> SampledRankSet:
    """Treat the candidates of a test as a uniform sample of a larger corpus.

    The test ranked only some items of the corpus, for example 1,000 of 5,000 images. Estimates from
    the result say what a metric would be if every item were ranked.

    Parameters
    ----------
    ranks
        True ranks among the candidates of the test, one relevant item per instance. A tied item
        counts in equal parts at each rank that it can have.
    n
        Number of candidates of the whole corpus, the relevant item included; at most 10^12.

    Returns
    -------
    Sampled ranks without replacement, with m = (candidates of the test) - 1 for each instance.

    Raises
    ------
    ValueError
        If an instance has several relevant items or an unknown rank, or if n is smaller than the
        number of candidates that were ranked.

    Notes
    -----
    Estimates then assume that the irrelevant candidates of the test were drawn uniformly from the
    irrelevant items of the corpus. Candidates that a search engine or a person picked are harder.

    Examples
    --------
    >>> as_sample(RankSet("A", [1, 3, 1], n=1000), 1_000_000)
    SampledRankSet('A', 3 instances, n = 1000000, m = 999)
    """
    require_ranks(ranks)
    ranks.require_known(what="reading the candidates as a sample")
    size, who = int(checks.candidates("n", n, scalar=True)), f"system {ranks.system!r}"
    if ranks.max_relevant > 1:
        advice = "give the rank of one, such as the best"
        raise ValueError(f"{who} has instances with several relevant items: {advice}")
    if size < ranks.n.max():
        ranked = f"the {ranks.n.max()} candidates that {who} ranked"
        raise ValueError(f"n = {size} is smaller than {ranked}: give the size of the whole corpus")
    given = ranks.system, ranks.ranks, size, ranks.n - 1
    return SampledRankSet(*given, counts=ranks.counts, adaptive=False, ties=ranks.ties)
