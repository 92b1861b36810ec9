"""How many negatives, or how many instances, an evaluation needs to show the true order."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal, Unpack, get_args

import numpy as np
import pandas as pd
from scipy.special import ndtri

from sampledash import checks
from sampledash.comparison.chance import continuity_correction, normal_chances, pair_chances
from sampledash.comparison.curves import expected_means
from sampledash.comparison.means import variances_of_means
from sampledash.comparison.order import (
    TIED,
    check_sets,
    largest_m,
    pair_table,
    true_order,
)
from sampledash.comparison.run_distribution import is_sum_of_items
from sampledash.comparison.user_resampling import FEW, sampled_values, spread_if_redrawn
from sampledash.metrics import Metric, as_metric
from sampledash.protocol import Options, Protocol
from sampledash.ranksets import RankSet
from sampledash.types import Floats, Progress

Redraw = Literal["negatives", "both"]
_MOST_INSTANCES = 1e15  # more instances than that are no plan
_SMOOTH, _UNEVEN = 2.0, 1.2  # ratio of the values of m that are evaluated first, uncorrected or not
_REFINED = 6  # rounds in which it is evaluated where the answer seems to be
_NEAR = 0.02  # chances of hits by their exact law are nearer to the normal law than that
_CHECKED, _SIMULATED = 6_000, 600  # sum of the m above an answer that are all evaluated, in all
_SHORT = 400  # values of m of all pairs that are few enough to evaluate each
_MANY = 300  # instances from which chances do not fall for want of values that a mean can take
_CLOSE = 200  # an answer that moved by less than one part in so many is near enough


def negatives_needed(
    metric: Metric | str,
    sets: Sequence[RankSet],
    probability: float = 0.95,
    m_max: int | None = None,
    *,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> pd.DataFrame:
    """Negatives from which on one sampled run shows the true order with a given probability.

    Parameters
    ----------
    metric
        A metric or its text.
    sets
        At least two rank sets, one per system, each sampled independently.
    probability
        Chance of the true order that is asked for, above 0 and at most 1.
    m_max
        Largest m looked at; ``None`` as in :func:`~sampledash.flips`.
    progress
        Called with the share of the work that is done.
    **options
        See :class:`~sampledash.Options`.

    Returns
    -------
    DataFrame with columns ``better``, ``worse`` (by the exact metric) and ``m``: the smallest m
    from which on, up to ``m_max``, the chance of :func:`~sampledash.probability_of_order` stays at
    least ``probability``. ``<NA>`` where it is below that at ``m_max``, or the exact metric ties
    the pair.

    Notes
    -----
    Two values are evaluated in full: the m returned reaches the probability, m - 1 does not. That
    it stays reached beyond is judged by the normal law: from the expected difference at every m
    (for corrections that need a fit at values 20 % apart, and between them) and from the scatter at
    values a factor of 2 (with a correction 20 %) apart, and between them. The chance need not grow
    with m: a correction may show an order at m = 50, hide it at 300 and show it again. Below
    300 instances it is computed at every m beyond the answer if m_max times the number of pairs is
    at most 400; below 30, where no normal law holds, always at the next ones: about 100 after a
    small answer, fewer after a large one and where pairs share them or the chance is simulated.

    The chance is about the scatter of the negatives alone: see
    :func:`~sampledash.probability_if_redrawn` for that of the instances.
    """
    check_sets(sets)
    metric, protocol = as_metric(metric), Protocol.of(options)
    probability = checks.real("probability", probability, low=0, high=1, above=True)
    top = largest_m(sets, m_max, protocol)
    pairs = true_order(metric, sets, protocol)
    search = Search(metric, sets, protocol, top, probability, progress)
    live = search.shown_at_top([(i, j) for i, j, truth in pairs if truth])
    search.descend(live)
    found = search.crossings(live)
    search.report(1.0)
    return pair_table(sets, pairs, m=[found.get((i, j)) for i, j, _ in pairs])


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
    """Instances that one sampled run needs to show the true order with a given probability.

    Parameters
    ----------
    metric
        A metric or its text.
    sets
        At least two rank sets, one per system.
    m
        Sampled negatives per instance.
    probability
        Chance of the true order that is asked for, above 0 and at most 1.
    redraw
        ``"negatives"``: instances of the very mix that is given, so that only the negatives
        scatter, as in :func:`~sampledash.probability_of_order`; ``"both"``: instances drawn anew
        from the given ones, as in :func:`~sampledash.probability_if_redrawn`.
    progress
        Called with the share of the work that is done.
    **options
        See :class:`~sampledash.Options`.

    Returns
    -------
    DataFrame with columns ``better``, ``worse`` (by the exact metric) and ``instances``, the
    smallest number of instances of each system. ``<NA>`` where the expected sampled order at this
    m is wrong or a tie (more instances then only make the run surer of it), where the exact metric
    ties the pair, and beyond 10^15.

    Notes
    -----
    The normal law, with half a step for means of hits, at any number of instances: below 30 take
    it as a rough guide.
    """
    check_sets(sets)
    checks.choice("redraw", redraw, get_args(Redraw))
    metric, m, protocol = as_metric(metric), checks.integer("m", m, low=1), Protocol.of(options)
    probability = checks.real("probability", probability, low=0, high=1, above=True)
    pairs = true_order(metric, sets, protocol)
    means = expected_means([metric], sets, [m], protocol)[0, :, 0]
    sizes = np.array([ranks.n_instances for ranks in sets])
    values = None
    if redraw == "both":
        values = sampled_values(metric, sets, m, protocol)
    else:
        scatter = variances_of_means([metric], sets, m, protocol)[:, 0] * sizes
    needed: list[int | None] = []
    for done, (i, j, truth) in enumerate(pairs):
        if values is not None:
            one = spread_if_redrawn(values[i], values[j], one=True)
        else:
            one = float(scatter[i] + scatter[j])
        step = continuity_correction(metric, [sets[i], sets[j]], protocol) * float(
            max(sizes[i], sizes[j])
        )
        difference = float(means[i] - means[j]) if truth else 0.0
        needed.append(_instances(difference, one, step, probability))
        if progress is not None:
            progress((done + 1) / len(pairs))
    return pair_table(sets, pairs, instances=needed)


def _instances(difference: float, variance: float, step: float, probability: float) -> int | None:
    """Smallest N with P(Normal(difference - step / N, variance / N) > 0) >= probability."""
    if difference <= TIED:
        return None

    def reached(size: float) -> bool:
        deviation = np.array([np.sqrt(variance / size)])
        found = normal_chances(np.array([difference]), deviation, step / size)[0]
        return bool(found >= probability)

    if variance == 0:
        return 1
    # difference * N - step >= quantile * sqrt(variance * N), a quadratic in the root of N.
    wide = float(ndtri(probability)) * np.sqrt(variance)
    root = (wide + np.sqrt(wide**2 + 4 * difference * step)) / (2 * difference)
    if not root**2 < _MOST_INSTANCES:
        return None
    size = max(1, int(np.ceil(root**2)) - 1)
    while not reached(size):
        size += 1
    return size


class Search:
    """Expected means and scatters over m that all pairs share, evaluated as far as needed."""

    def __init__(
        self, metric: Metric, sets: Sequence[RankSet], protocol: Protocol, top: int,
        probability: float, progress: Progress | None,
    ) -> None:  # fmt: skip
        self.metric, self.sets, self.protocol, self.top = metric, sets, protocol, top
        self.probability, self.progress = probability, progress
        # TOPK jumps wherever its place on the sample does.
        smooth = protocol.correction.name == "uncorrected" and metric.share is None
        self.ratio = _SMOOTH if smooth else _UNEVEN
        self.every: Floats | None = None  # means at m = 1, 2, ..., where that is cheap
        if protocol.correction.name in ("uncorrected", "rank-estimate"):
            self.every = expected_means(
                [metric], sets, range(1, top + 1), protocol, lambda part: self.report(0.2 * part)
            )[:, :, 0]
        shares = [protocol.shares(ranks.atoms(protocol.ties)) for ranks in sets]
        self.largest_share = np.array([float(share.max()) for share in shares])
        self.knots: dict[int, tuple[Floats, Floats]] = {}  # m: means and variances

    def report(self, part: float) -> None:
        """Pass on the share of the work that is done."""
        if self.progress is not None:
            self.progress(part)

    def shown_at_top(self, pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
        """Pairs whose order the largest m shows."""
        unsure = {pair for pair in pairs if self.surely_from(*pair) > self.top}
        by_law = {pair for pair in unsure if self._few(*pair)}
        if normal := unsure - by_law:
            means, variances = self._evaluate(
                self.top, sorted({x for pair in normal for x in pair})
            )
            for i, j in normal:
                chance = self._normal(i, j, means[i] - means[j], variances[i] + variances[j])
                if abs(chance - self.probability) < _NEAR:
                    by_law.add((i, j))
                elif chance > self.probability:
                    unsure.remove((i, j))
        return [
            pair
            for pair in pairs
            if pair not in unsure or (pair in by_law and self.shown(*pair, self.top))
        ]

    def _few(self, i: int, j: int, size: int = FEW) -> bool:
        """Whether the normal law does not apply; or whether a system has less than ``size``."""
        return min(self.sets[x].n_instances for x in (i, j)) < size

    def shown(self, i: int, j: int, m: int) -> bool:
        """Whether a run at m shows that i is better with the probability asked for."""
        both = [self.sets[i], self.sets[j]]
        if self.every is not None:
            means = self.every[m - 1, [i, j]][:, None]
        else:
            means = expected_means([self.metric], both, [m], self.protocol)[0]
        chance = pair_chances([self.metric], both, m, [[(0, 1, 1)]], means, self.protocol)[0][0]
        return chance >= self.probability

    def surely_from(self, i: int, j: int) -> int:
        """An m from which on no scatter can hide the order; above the top if there is none.

        A value in 0..1 with mean e varies by at most e (1 - e), and the mean of that over the
        instances is at most the same function of their mean.
        """
        if self.every is None or self._few(i, j):
            return self.top + 1
        bound = np.maximum(self.every * (1 - self.every), 0.0) * self.largest_share
        difference = self.every[:, i] - self.every[:, j]
        unsure = self._normal(i, j, difference, bound[:, i] + bound[:, j]) < self.probability
        return int(np.flatnonzero(unsure).max(initial=-1)) + 2

    def descend(self, pairs: Sequence[tuple[int, int]]) -> None:
        """Evaluate a ladder down to where each pair has failed once, from where it can fail."""
        ends = {pair: min(self.top, self.surely_from(*pair)) for pair in pairs}
        top = max(ends.values(), default=1)
        size = max(2, int(np.ceil(np.log(top) / np.log(self.ratio))) + 1)
        ladder = np.unique(np.geomspace(1, top, size).round().astype(np.int64))[::-1]
        waiting = set(pairs)
        for step, m in enumerate(ladder.tolist()):
            here = [pair for pair in waiting if m < self.ratio * ends[pair] + 1]
            if not here:
                continue
            means, variances = self._evaluate(m, sorted({x for pair in here for x in pair}))
            for i, j in here:
                if self._normal(i, j, means[i] - means[j], variances[i] + variances[j]) < (
                    self.probability
                ):
                    waiting.remove((i, j))
            self.report(0.2 + 0.5 * (step + 1) / len(ladder))

    def _evaluate(self, m: int, used: Sequence[int]) -> tuple[Floats, Floats]:
        """Means and variances at m, kept; NaN for systems not asked for so far."""
        nothing = np.full(len(self.sets), np.nan)
        means, variances = self.knots.setdefault(m, (nothing, nothing.copy()))
        missing = [x for x in used if np.isnan(variances[x])]
        if missing:
            sets = [self.sets[x] for x in missing]
            variances[missing] = variances_of_means([self.metric], sets, m, self.protocol)[:, 0]
            if self.every is None:
                means[missing] = expected_means([self.metric], sets, [m], self.protocol)[0, :, 0]
            else:
                means[missing] = self.every[m - 1, missing]
        return means, variances

    def _normal(self, i: int, j: int, difference: Floats, variance: Floats) -> Floats:
        step = continuity_correction(self.metric, [self.sets[i], self.sets[j]], self.protocol)
        return normal_chances(difference, np.sqrt(variance), step)

    def crossings(self, pairs: Sequence[tuple[int, int]]) -> dict[tuple[int, int], int]:
        """Smallest m from which on the order of each pair is shown; all are shown at the top."""
        found = {}
        for done, (i, j) in enumerate(pairs):
            found[i, j] = self._crossing(i, j)
            short = self.top * len(pairs) <= _SHORT
            if self._few(i, j, _MANY if short else FEW):
                share = np.inf if short else 1 / len(pairs)
                found[i, j] = self._settled(i, j, found[i, j], share)
            self.report(0.7 + 0.3 * (done + 1) / len(pairs))
        return found

    def _settled(self, i: int, j: int, start: int, share: float) -> int:
        """The same, beyond every failure at one of the next values, evaluated one by one."""
        exact = all(is_sum_of_items(self.metric, self.sets[x]) for x in (i, j))
        budget = share * (_CHECKED if exact or self.metric.on_lattice else _SIMULATED)
        checked = start
        while True:  # the law of a mean takes time in proportion to m
            window = max(1.0, np.hypot(start, np.sqrt(2 * budget)) - start)
            end = int(min(start + window, self.top))
            failing = (m for m in range(end, checked, -1) if not self.shown(i, j, m))
            last = next(failing, None)
            if last is None:
                return start
            start, checked = last + 1, end

    def _crossing(self, i: int, j: int) -> int:
        """The same by the normal law, but for the answer itself."""
        guess = self._guess(i, j)
        for _ in range(_REFINED):  # what is interpolated becomes exact where it matters
            if guess in self.knots and not np.isnan(self.knots[guess][1][[i, j]]).any():
                break
            self._evaluate(guess, [i, j])
            before, guess = guess, self._guess(i, j)
            if abs(guess - before) <= 1 + guess // _CLOSE:
                break
        return first_shown(lambda m: self.shown(i, j, m), guess, self.top)

    def _guess(self, i: int, j: int) -> int:
        """The answer by the normal law, from the scatter at the values evaluated so far."""
        known = [
            (m, means[i] - means[j], variances[i] + variances[j])
            for m, (means, variances) in sorted(self.knots.items())
            if not np.isnan(variances[i] + variances[j])
        ]
        at, differences, variances = np.array(known).T
        m = np.arange(int(at[0]), min(self.top, max(int(at[-1]), self.surely_from(i, j))) + 1)
        # Scatter falls about as 1/m: what is left of it after that is interpolated.
        variance = np.interp(np.log(m), np.log(at), variances * at) / m
        if self.every is not None:
            difference = self.every[m - 1, i] - self.every[m - 1, j]
        else:
            difference = np.interp(np.log(m), np.log(at), differences)
        failing = np.flatnonzero(self._normal(i, j, difference, variance) < self.probability)
        return min(int(m[failing[-1]]) + 1 if len(failing) else int(at[0]), self.top)


def first_shown(shown: Callable[[int], bool], guess: int, top: int) -> int:
    """Boundary near ``guess`` between an m that fails and the next, which does not; at least 1."""
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
