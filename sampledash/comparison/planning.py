"""Planning: how many negatives, or instances, an evaluation needs to show the true order."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import Literal, Unpack, get_args

import numpy as np
import pandas as pd
from scipy.special import ndtri

from sampledash import checks
from sampledash.comparison.chance import common_step, normal_chances, pair_chances
from sampledash.comparison.means import expected_means, step_of
from sampledash.comparison.order import TIED, check_sets, largest_m, pair_table, true_order
from sampledash.comparison.run_distribution import FEW, Run
from sampledash.comparison.scatter import moments_of_means
from sampledash.comparison.user_resampling import sampled_values, spread_if_redrawn
from sampledash.metrics import Metric, as_metric
from sampledash.protocol import Options, Protocol
from sampledash.rank_sets import RankSet
from sampledash.types import Floats, Progress, Reals

Redraw = Literal["negatives", "both"]
_MOST_INSTANCES = 1e15  # largest number of instances that is reported
# Ratio of neighbouring m in a search: _UNEVEN for metrics that are not smooth functions of m (TOPK,
# corrected metrics), _SMOOTH for others.
_SMOOTH, _UNEVEN = 2.0, 1.2
_NEAR = 0.02  # the normal approximation of a chance is assumed to have a smaller error than this
# With few instances, the chance of the true order may be high enough at some m, but too low at a
# larger m. Larger m are therefore checked too, until the sum of the checked m reaches _CHECKED
# (_SIMULATED if runs are simulated). The time of all checks is proportional to this sum.
_CHECKED, _SIMULATED = 6_000, 600
# Below _MANY instances, all m above the smallest m that suffices are checked, if m_max times the
# number of pairs is at most _SHORT.
_SHORT = 400
_MANY = 300


def negatives_needed(
    metric: Metric | str,
    sets: Sequence[RankSet],
    probability: float = 0.95,
    m_max: int | None = None,
    *,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> pd.DataFrame:
    """Return how many negatives a run needs to show the true order with a given probability.

    Parameters
    ----------
    metric
        A metric, or text such as ``"Recall@10"``.
    sets
        At least two rank sets, one per system, each sampled independently.
    probability
        Required chance of the true order, above 0 and at most 1.
    m_max
        Largest m that is evaluated. If None, it is the default of :func:`~sampledash.flips`.
    progress
        Called with the share of the work that is done.
    **options
        See :class:`~sampledash.Options`.

    Returns
    -------
    DataFrame with columns ``better``, ``worse`` (by the exact metric) and ``m``: the smallest m
    from which on, up to ``m_max``, the chance of :func:`~sampledash.probability_of_order` stays at
    least ``probability``. ``<NA>`` where the chance at ``m_max`` is below ``probability``, or where
    the exact metric ties the pair.

    Notes
    -----
    The returned m reaches the probability, and m - 1 does not reach it: these two chances are
    computed in full. The chance need not grow with m: with a correction, a run may show an order at
    m = 50, hide it at 300 and show it again. Larger m are therefore checked by the normal
    approximation. It uses the expected difference at every m, and a variance interpolated between m
    that differ by a factor of 2 (for TOPK or corrections, by 20 %). If each m needs a computation
    of its own, such as a fit, the expected difference is interpolated in the same way. Below 300
    instances, the chance is computed in full at every larger m if m_max times the number of pairs
    is at most 400. Below 30 instances, the normal approximation fails, so the chance is always
    computed in full at some larger m. These are about 100 values of m, or fewer if the returned m
    is large, if there are several pairs, or if runs are simulated.

    The chance is about the draw of the negatives only. For the choice of the instances, see
    :func:`~sampledash.probability_if_redrawn`.
    """
    check_sets(sets)
    metric, protocol = as_metric(metric), Protocol.of(options)
    probability = checks.real("probability", probability, low=0, high=1, above=True)
    top = largest_m(sets, m_max, protocol)
    pairs = true_order(metric, sets, protocol)
    search = _Search(metric, sets, protocol, top, probability, step_of(progress, 0, 1))
    needed = search.crossings([(i, j) for i, j, truth in pairs if truth])
    search.report(1.0)
    return pair_table(sets, pairs, m=[needed.get((i, j)) for i, j, _ in pairs])


def instances_needed(
    metric: Metric | str,
    sets: Sequence[RankSet],
    m: int,
    probability: float = 0.95,
    *,
    redraw: Redraw = "negatives",
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> pd.DataFrame:
    """Return how many instances a run needs to show the true order with a given probability.

    The parameters are those of :func:`negatives_needed`, with ``m`` (sampled negatives per
    instance) in place of ``m_max``. With ``redraw="negatives"``, each rank keeps its share of the
    instances, and only the negatives are random, as in :func:`~sampledash.probability_of_order`.
    With ``"both"``, instances are also drawn at random from the given instances, as in
    :func:`~sampledash.probability_if_redrawn`.

    Returns
    -------
    DataFrame with columns ``better``, ``worse`` (by the exact metric) and ``instances``, the
    smallest number of instances of each system. ``<NA>`` where the expected sampled order at this m
    is wrong or a tie (more instances then only confirm the wrong order), where the exact metric
    ties the pair, and where the number would exceed 10^15.

    Notes
    -----
    The chance is computed by a normal distribution, with a continuity correction if relevant items
    only hit or miss. A result below 30 instances is therefore only a rough guide. With
    ``redraw="negatives"``, if both systems have equally many instances,
    :func:`~sampledash.probability_of_order` decides whether this number of instances is enough.
    """
    check_sets(sets)
    checks.choice("redraw", redraw, get_args(Redraw))
    metric, m, protocol = as_metric(metric), checks.integer("m", m, low=1), Protocol.of(options)
    probability = checks.real("probability", probability, low=0, high=1, above=True)
    pairs = true_order(metric, sets, protocol)
    sizes, chances = [ranks.n_instances for ranks in sets], [np.nan] * len(pairs)
    if redraw == "both":
        values = sampled_values(metric, sets, m, protocol)
        means = np.array([x.average for x in values])
    else:
        means, scatter = (x[:, 0] for x in moments_of_means([metric], sets, m, protocol))
        scatter = scatter * sizes
        # Chances for the given numbers of instances. Unlike ``_instances``, their computation does
        # not always use the normal distribution.
        chances = pair_chances([metric], sets, m, [pairs], protocol)[0]
    units = [Run(metric, ranks, m, protocol).hit_unit for ranks in sets]
    needed: list[int | None] = []
    for done, ((i, j, truth), chance) in enumerate(zip(pairs, chances, strict=True)):
        if redraw == "both":
            variance = spread_if_redrawn(values[i], values[j], single=True)
        else:
            variance = float(scatter[i] + scatter[j])
        step = float(common_step(units[i], units[j])) * max(sizes[i], sizes[j])
        difference = float(means[i] - means[j]) if truth else 0.0
        number = _instances(difference, variance, step, probability)
        if number and not np.isnan(chance) and sizes[i] == sizes[j]:
            given = int(sizes[i])
            number = min(number, given) if chance >= probability else max(number, given + 1)
        needed.append(number)
        step_of(progress, 0, 1)((done + 1) / len(pairs))
    return pair_table(sets, pairs, instances=needed)


def _instances(difference: float, variance: float, step: float, probability: float) -> int | None:
    """Return the smallest number N of instances for a given chance that the better system leads.

    The condition is P(Normal(difference - step/N, variance/N) > 0) >= probability. Return None if
    no N fulfils it, or if N would be too large.
    """
    if difference <= TIED:
        return None

    def reached(size: int) -> bool:
        chance = normal_chances(difference, np.sqrt(variance / size), step / size)
        return bool(chance >= probability)

    if variance == 0:
        return 1
    # N instances suffice if difference * N - step >= quantile * sqrt(variance * N), which is a
    # quadratic inequality for sqrt(N).
    wide = float(ndtri(probability)) * np.sqrt(variance)
    root = (wide + np.sqrt(wide**2 + 4 * difference * step)) / (2 * difference)
    if not root**2 < _MOST_INSTANCES:
        return None
    size = max(1, int(np.ceil(root**2)) - 1)
    while not reached(size):
        size += 1
    return size


@dataclass(eq=False)
class _Search:
    """Search for the m that a run needs to show each pair's true order.

    Means and variances are computed once for all pairs.
    """

    metric: Metric
    sets: Sequence[RankSet]
    protocol: Protocol
    top: int
    probability: float
    report: Progress
    #: Map from (system, m) to the expected mean and the variance of the mean.
    knots: dict[tuple[int, int], tuple[float, float]] = field(default_factory=dict)

    @cached_property
    def every(self) -> Floats | None:
        """Expected sampled means at m = 1, 2, ..., ``top``: shape (top, systems).

        None if each m needs its own computation, which takes long.
        """
        if self.protocol.anew:
            return None
        report = step_of(self.report, 0, 5)
        values = range(1, self.top + 1)
        return expected_means([self.metric], self.sets, values, self.protocol, report)[:, :, 0]

    @cached_property
    def runs(self) -> list[Run]:
        """A run of each system at m = 1; only properties that do not depend on m are used."""
        return [Run(self.metric, ranks, 1, self.protocol) for ranks in self.sets]

    def _evaluate(self, m: int, pairs: Iterable[tuple[int, int]]) -> None:
        """Compute and store the expected sampled mean at m, and its variance over runs.

        This is done for all systems in ``pairs``.
        """
        missing = sorted({x for pair in pairs for x in pair if (x, m) not in self.knots})
        if missing:
            sets = [self.sets[x] for x in missing]
            both = moments_of_means([self.metric], sets, m, self.protocol)
            for x, mean, variance in zip(missing, *(y[:, 0].tolist() for y in both), strict=True):
                self.knots[x, m] = mean, variance

    def _gap(self, i: int, j: int, m: int) -> tuple[float, float]:
        """Return the expected difference of systems i and j at an evaluated m, and its variance."""
        (first, scatter), (second, other) = self.knots[i, m], self.knots[j, m]
        return first - second, scatter + other

    def _normal(self, i: int, j: int, difference: Reals, variance: Reals) -> Floats:
        step = common_step(self.runs[i].hit_unit, self.runs[j].hit_unit)
        return normal_chances(difference, np.sqrt(variance), step)

    def _few(self, i: int, j: int, size: int = FEW) -> bool:
        """Whether a system has fewer than ``size`` instances, too few for a normal distribution."""
        return min(self.sets[x].n_instances for x in (i, j)) < size

    def shown(self, i: int, j: int, m: int) -> bool:
        """Return whether a run ranks system i ahead of system j with the required probability."""
        both = [self.sets[i], self.sets[j]]
        ((chance,),) = pair_chances([self.metric], both, m, [[(0, 1, 1)]], self.protocol)
        return chance >= self.probability

    def surely_from(self, i: int, j: int) -> int:
        """Return an m from which on :meth:`shown` holds for i and j, by a bound on the variance.

        Return ``top`` + 1 if there is no such m. A sampled value in 0..1 with expected value e has
        a variance of at most e (1 - e). This bound is a concave function of e, so its mean over the
        instances is at most its value at the mean of e.
        """
        if self.every is None or self._few(i, j):
            return self.top + 1
        means = self.every[:, [i, j]]
        shares = (self.protocol.shares(self.sets[x].counted(self.protocol.ties)) for x in (i, j))
        largest = [float(share.max()) for share in shares]
        bound = np.maximum(means * (1 - means), 0.0) @ largest
        unsure = self._normal(i, j, means[:, 0] - means[:, 1], bound) < self.probability
        return int(np.flatnonzero(unsure).max(initial=-1)) + 2

    def shown_at_top(self, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Return the pairs whose true order has the required probability at the largest m."""
        unsure = {pair for pair in pairs if self.surely_from(*pair) > self.top}
        self._evaluate(self.top, [pair for pair in unsure if not self._few(*pair)])

        def at_top(i: int, j: int) -> bool:
            if not self._few(i, j):
                chance = float(self._normal(i, j, *self._gap(i, j, self.top)))
                if abs(chance - self.probability) >= _NEAR:
                    return chance > self.probability
            return self.shown(i, j, self.top)

        return [pair for pair in pairs if pair not in unsure or at_top(*pair)]

    def descend(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Evaluate ever smaller m for each pair, until the chance of its true order is too low."""
        # The mean of TOPK is no smooth function of m, because the cutoff in the sampled list is a
        # whole number. Its variance must therefore be computed at m that are closer together.
        smooth = not self.protocol.correction.by_rank and self.metric.share is None
        ratio = _SMOOTH if smooth else _UNEVEN
        waiting = {pair: min(self.top, self.surely_from(*pair)) for pair in pairs}
        top = max(waiting.values(), default=1)
        size = max(2, int(np.ceil(np.log(top) / np.log(ratio))) + 1)
        ladder = np.unique(np.geomspace(1, top, size).round().astype(np.int64))[::-1]
        for step, m in enumerate(ladder.tolist()):
            due = [pair for pair, end in waiting.items() if m < ratio * end + 1]
            self._evaluate(m, due)
            for pair in due:
                if self._normal(*pair, *self._gap(*pair, m)) < self.probability:
                    del waiting[pair]
            self.report(0.2 + 0.5 * (step + 1) / len(ladder))

    def crossings(self, pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
        """Return the m from which on a run shows each pair's order with the required probability.

        A pair is left out if its chance is below the required probability at the largest m.
        """
        least, pairs = {}, self.shown_at_top(pairs)
        self.descend(pairs)
        short = self.top * len(pairs) <= _SHORT
        for done, (i, j) in enumerate(pairs):
            least[i, j] = first_shown(partial(self.shown, i, j), self._guess(i, j), self.top)
            if self._few(i, j, _MANY if short else FEW):
                least[i, j] = self._settled(i, j, least[i, j], np.inf if short else 1 / len(pairs))
            self.report(0.7 + 0.3 * (done + 1) / len(pairs))
        return least

    def _settled(self, i: int, j: int, start: int, share: float) -> int:
        """Return ``start`` if :meth:`shown` holds for i and j at all checked m above ``start``.

        Otherwise, return the m after the last checked m at which it does not hold. ``share`` is the
        share of the time for checks that this pair gets; if infinite, all larger m are checked.
        """
        exact = self.metric.on_lattice or (self.runs[i].is_sum and self.runs[j].is_sum)
        budget = share * (_CHECKED if exact else _SIMULATED)
        checked = start
        # Check all m from ``start`` to ``end``. If the chance is too low at some of these m,
        # restart after the last of them. The time for a check is proportional to m, so ``end`` is
        # chosen such that the sum of these m is about ``budget``.
        while True:
            window = max(1.0, np.hypot(start, np.sqrt(2 * budget)) - start)
            end = int(min(start + window, self.top))
            last = next((m for m in range(end, checked, -1) if not self.shown(i, j, m)), None)
            if last is None:
                return start
            start, checked = last + 1, end

    def _guess(self, i: int, j: int) -> int:
        """Guess from which m on :meth:`shown` holds for i and j, by the normal distribution.

        The variances are interpolated between the evaluated m.
        """
        at = np.array(sorted(m for x, m in self.knots if x == i and (j, m) in self.knots))
        differences, variances = np.array([self._gap(i, j, m) for m in at.tolist()]).T
        m = np.arange(int(at[0]), min(self.top, max(int(at[-1]), self.surely_from(i, j))) + 1)
        # The variance falls about as 1/m, so the product of variance and m is interpolated.
        variance = np.interp(np.log(m), np.log(at), variances * at) / m
        if self.every is not None:
            difference = self.every[m - 1, i] - self.every[m - 1, j]
        else:
            difference = np.interp(np.log(m), np.log(at), differences)
        failing = np.flatnonzero(self._normal(i, j, difference, variance) < self.probability)
        return min(int(m[failing[-1]]) + 1 if len(failing) else int(at[0]), self.top)


def first_shown(shown: Callable[[int], bool], guess: int, top: int) -> int:
    """Return an m in 1..``top`` near ``guess`` with ``shown(m)`` true, ``shown(m - 1)`` false.

    ``shown`` says whether a run with m negatives is likely enough to show the true order.
    """
    if guess >= top or shown(guess):
        low, high, step = guess - 1, guess, 1
        while low >= 1 and shown(low):
            low, high, step = low - 2 * step, low, 2 * step
        low = max(low, 0)
    else:
        low, high, step = guess, guess + 1, 1
        while high < top and not shown(high):
            low, high, step = high, min(high + 2 * step, top), 2 * step
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if shown(middle) else (middle, high)
    return high
