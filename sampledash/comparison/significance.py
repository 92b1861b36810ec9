"""Is there anything to order? Tests and intervals for the exact difference of two systems.

All of it is about the choice of the instances: negatives are not sampled here at all.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from sampledash import checks
from sampledash.comparison.instances import (
    instance_counts,
    instance_values,
    instance_weights,
    paired_groups,
)
from sampledash.comparison.means import exact_means
from sampledash.comparison.order import TIED, as_table, check_sets, true_pairs
from sampledash.comparison.resampling import (
    Group,
    flip_test,
    flipped_sums,
    resampled_means,
    swap_test,
)
from sampledash.counts import Ties
from sampledash.metrics import Metric, as_metric
from sampledash.protocol import Protocol, Weighting
from sampledash.ranksets import RankSet
from sampledash.types import Floats, Progress


class Interval(NamedTuple):
    """Percentile interval of a difference."""

    low: float
    high: float


def significance(
    metric: Metric | str,
    sets: Sequence[RankSet],
    rng: np.random.Generator,
    *,
    resamples: int = 10_000,
    confidence: float = 0.95,
    progress: Progress | None = None,
    ties: Ties = "expected",
    weighting: Weighting = "instances",
) -> pd.DataFrame:
    """Whether the exact difference of each pair is larger than chance over the instances.

    Parameters
    ----------
    metric
        A metric or its text.
    sets
        At least two rank sets, one per system; counts must be whole numbers.
    rng
        Source of randomness; the same state gives the same table.
    resamples
        Random permutations and bootstrap resamples, at least 100.
    confidence
        Level of the interval, strictly between 0 and 1.
    progress
        Called with the share of the work that is done.
    ties, weighting
        As in :func:`~sampledash.mean`.

    Returns
    -------
    DataFrame with one row per pair: ``better``, ``worse`` (by the exact metric; a tied pair comes
    in the order of ``sets``), ``difference`` (exact, better - worse), ``interval`` (an
    :class:`Interval`), ``p`` (two-sided), ``p_holm`` (Holm's adjustment over all pairs) and
    ``paired``.

    Raises
    ------
    ValueError
        If counts are fractions, or a parameter is out of its range.

    Notes
    -----
    Paired systems, which rank the same instances: the randomisation test swaps the two systems in
    random instances. Up to 20 instances with a difference it counts every swap; where all
    differences have one size, as with Recall of one item, it is the exact binomial (sign) test;
    otherwise p = (1 + hits) / (1 + resamples), never 0. The interval resamples instances, the same
    for all systems. Systems that cannot be paired: instances are permuted between the two, and
    resampled apart; from 5,000 instances and 65 distinct values on, the permutation law is taken
    as the normal law it approaches.

    A small p says that other users of the same kind would probably show this order too. It does not
    say that a sampled metric shows it.

    References
    ----------
    Smucker, Allan & Carterette, A comparison of statistical significance tests for information
    retrieval evaluation, CIKM 2007. Holm, A simple sequentially rejective multiple test procedure,
    1979.
    """
    check_sets(sets)
    checks.generator(rng)
    metric, protocol = as_metric(metric), Protocol.of({"ties": ties, "weighting": weighting})
    resamples = checks.integer("resamples", resamples, low=100)
    confidence = checks.real("confidence", confidence, low=0, above=True)
    if confidence >= 1:
        raise ValueError(f"confidence must be below 1, got {confidence:g}")
    groups = [_group(metric, sets, members, protocol) for members in paired_groups(sets, protocol)]
    home = {i: (g, row) for g, group in enumerate(groups) for row, i in enumerate(group.members)}
    pairs = true_pairs(exact_means([metric], sets, protocol)[:, 0])
    report = _Steps(progress, len(groups) * 2 + 1)
    exact = exact_means([metric], sets, protocol)[:, 0]
    resampled = [
        resampled_means(group, resamples, rng, report.step(i)) for i, group in enumerate(groups)
    ]
    shuffled = [
        _flips(group, resamples, rng, report.step(len(groups) + i))
        for i, group in enumerate(groups)
    ]
    rows: list[tuple[str, str, float, Interval, float, bool]] = []
    tail = (1 - confidence) / 2
    for done, (i, j, truth) in enumerate(pairs):
        (g, first), (h, second) = home[i], home[j]
        draws = resampled[g][:, first]
        if g == h:
            draws = draws - resampled[g][:, second]
            p = shuffled[g](first, second)
        else:
            # Resamples of two groups are independent of each other.
            draws = draws - resampled[h][:, second]
            p = swap_test(groups[g], first, groups[h], second, resamples, rng)
        low, high = np.quantile(draws, [tail, 1 - tail])
        difference = float(exact[i] - exact[j]) if truth else 0.0
        interval = Interval(float(low), float(high))
        names = sets[i].system, sets[j].system
        rows.append((*names, difference, interval, p, g == h))
        report.step(len(groups) * 2)((done + 1) / len(pairs))
    better, worse, differences, intervals, p_values, paired = zip(*rows, strict=True)
    table = as_table(
        {
            "better": list(better),
            "worse": list(worse),
            "difference": list(differences),
            "interval": list(intervals),
            "p": list(p_values),
            "p_holm": list(holm(np.array(p_values))),
            "paired": list(paired),
        }
    )
    return table.astype({"difference": float, "p": float, "p_holm": float, "paired": bool})


def holm(p: Floats) -> Floats:
    """Holm's adjusted p-values: shape of ``p``, at most 1."""
    order = np.argsort(p, kind="stable")
    adjusted = np.empty(len(p))
    adjusted[order] = np.maximum.accumulate((len(p) - np.arange(len(p))) * p[order])
    return np.minimum(adjusted, 1.0)


class _Steps:
    """Progress of several pieces of work that count the same."""

    def __init__(self, progress: Progress | None, steps: int) -> None:
        self._progress, self._steps = progress, steps

    def step(self, number: int) -> Progress:
        def report(part: float) -> None:
            if self._progress is not None:
                self._progress((number + part) / self._steps)

        return report


def _group(
    metric: Metric, sets: Sequence[RankSet], members: Sequence[tuple[int, NDArray[np.int64]]],
    protocol: Protocol,
) -> Group:  # fmt: skip
    """Values of the systems that pair up, in a common order of their instances."""
    first = sets[members[0][0]]
    for i, _ in members:
        bad = sets[i].counts[sets[i].counts != np.floor(sets[i].counts)]
        if len(bad):
            raise ValueError(
                f"counts of system {sets[i].system!r} must be whole numbers to test over "
                f"instances, got {bad[0]:g}: round them or leave them out"
            )
    values = [instance_values([metric], sets[i], protocol.ties)[0, at] for i, at in members]
    return Group(
        [i for i, _ in members],
        np.array(values),
        instance_weights(first, protocol),
        instance_counts(first).astype(np.int64),
    )


def _flips(
    group: Group, resamples: int, rng: np.random.Generator, report: Progress
) -> Callable[[int, int], float]:
    """p-value of each pair of one group."""
    exact = {pair: flip_test(group, *pair) for pair in combinations(range(len(group.members)), 2)}
    open_pairs = [pair for pair, p in exact.items() if p is None]
    found: dict[tuple[int, int], float] = {pair: p for pair, p in exact.items() if p is not None}
    if open_pairs:
        sums = flipped_sums(group, resamples, rng, report)
        weighted = group.weighted @ group.counts
        for i, j in open_pairs:
            observed = abs(float(weighted[i] - weighted[j]))
            slack = TIED * float(group.counts @ group.weights)
            hits = np.count_nonzero(np.abs(sums[:, i] - sums[:, j]) >= observed - slack)
            found[i, j] = (1 + hits) / (1 + resamples)
    report(1.0)
    return lambda i, j: found[min(i, j), max(i, j)]
