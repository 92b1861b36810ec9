"""Search for the m from which on one run shows the true order of a pair often enough."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from sampledash.comparison import inversion
from sampledash.comparison.chance import continuity_correction, normal_chances, pair_chances
from sampledash.comparison.curves import expected_means
from sampledash.comparison.means import variances_of_means
from sampledash.comparison.redrawn import FEW
from sampledash.metrics import Metric
from sampledash.protocol import Protocol
from sampledash.ranksets import RankSet
from sampledash.types import Floats, Progress

_SMOOTH, _UNEVEN = 2.0, 1.2  # ratio of the values of m that are evaluated first, uncorrected or not
_REFINED = 6  # rounds in which it is evaluated where the answer seems to be
_NEAR = 0.02  # chances of hits by their exact law are nearer to the normal law than that
_CHECKED, _SIMULATED = 6_000, 600  # sum of the m above an answer that are all evaluated, in all
_SHORT = 400  # values of m of all pairs that are few enough to evaluate each
_MANY = 300  # instances from which chances do not fall for want of values that a mean can take
_CLOSE = 200  # an answer that moved by less than one part in so many is near enough


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
        step = continuity_correction(self.metric, self.sets[i], self.sets[j], self.protocol)
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
        exact = all(inversion.applies(self.metric, self.sets[x]) for x in (i, j))
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
