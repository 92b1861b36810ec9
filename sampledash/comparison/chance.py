"""Chance that one sampled run shows the true order of two systems."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Unpack

import numpy as np
import pandas as pd
from scipy.special import ndtr

from sampledash import checks
from sampledash.comparison.inversion import Law
from sampledash.comparison.means import expected_means
from sampledash.comparison.order import TIED, check_sets, pair_table, true_order
from sampledash.comparison.run_distribution import Run, chances_above, exact_laws
from sampledash.comparison.scatter import moments_of_systems, variances_of_means
from sampledash.metrics import Metric, as_metric
from sampledash.protocol import Options, Protocol
from sampledash.rank_sets import RankSet
from sampledash.types import Floats, Ints

ROUGH = 0.08  # where no term is larger, in deviations, the normal law is good to 0.005


def probability_of_order(
    metric: Metric | str, sets: Sequence[RankSet], m: int, **options: Unpack[Options]
) -> pd.DataFrame:
    """Chance that one sampled run shows the true order of each pair (Table 4).

    Parameters
    ----------
    metric
        A metric or its text.
    sets
        At least two rank sets; each is sampled independently of the others, as in the paper.
    m
        Sampled negatives per instance.
    **options
        See :class:`~sampledash.Options`.

    Returns
    -------
    DataFrame with columns ``better``, ``worse`` (by the exact metric) and ``probability`` in 0..1,
    NaN where the exact metric ties the pair. A tie in the run does not show the order.

    Notes
    -----
    Metrics whose items can only hit or miss: the exact law of the hit counts of up to 20,000
    instances. One relevant item per instance, or a metric that looks at the first: the exact law of
    the mean where it has few values, else the inversion of its characteristic function, which no
    skewness disturbs (and where one rare value dwarfs all others, apart from how often each run has
    it), or for so many instances that there is none left, the normal law. Several
    relevant items: 20,000 seeded runs below 30 instances or up to 200 relevant items (fewer runs
    where one takes long), then the normal law with the exact mean and variance.
    """
    check_sets(sets)
    metric, m, protocol = as_metric(metric), checks.integer("m", m, low=1), Protocol.of(options)
    pairs = true_order(metric, sets, protocol)
    means = expected_means([metric], sets, [m], protocol)[0]
    chances = pair_chances([metric], sets, m, [pairs], means, protocol)[0]
    return pair_table(sets, pairs, probability=chances)


def pair_chances(
    metrics: Sequence[Metric],
    sets: Sequence[RankSet],
    m: int,
    pairs: Sequence[Sequence[tuple[int, int, int]]],
    means: Floats,
    protocol: Protocol,
) -> list[list[float]]:
    """Chance of each (better, worse, truth) of each metric; NaN where truth is 0.

    ``means`` holds the expected means at m, shape (systems, metrics).
    """
    runs = [[Run(metric, ranks, m, protocol) for metric in metrics] for ranks in sets]
    known = None
    if any(run.counts_items for each in runs for run in each):  # then in one pass for all metrics
        everyone = [ranks.counted(protocol.ties) for ranks in sets]
        known = moments_of_systems(metrics, everyone, m, protocol)
        runs = [
            [replace(run, means=mean) for run, mean in zip(each, items, strict=True)]
            for each, (items, _) in zip(runs, known, strict=True)
        ]
    exact = [exact_laws(each, i) for i, each in enumerate(runs)]
    unknown = [x for x in range(len(metrics)) if any(laws[x] is None for laws in exact)]
    deviations = np.zeros(means.shape)
    if unknown:
        chosen = [metrics[x] for x in unknown]
        known = known and [each[:, unknown] for each in known]
        deviations[:, unknown] = np.sqrt(variances_of_means(chosen, sets, m, protocol, known))
    chances = []
    for x in range(len(metrics)):
        i, j, truth = np.array(pairs[x]).T
        found = _chances_among([laws[x] for laws in exact])[i, j]
        left = np.flatnonzero(np.isnan(found) & (truth != 0))
        if len(left):
            found[left] = _chances_of_sums(
                [each[x] for each in runs], i[left], j[left], means[:, x], deviations[:, x]
            )
        chances.append(np.where(truth == 0, np.nan, found).tolist())
    return chances


def _chances_of_sums(
    runs: Sequence[Run], first: Ints, second: Ints, means: Floats, deviations: Floats
) -> Floats:
    """P(mean of first > mean of second): by inversion, or the normal law where that is as good."""
    difference = means[first] - means[second]
    deviation = np.hypot(deviations[first], deviations[second])
    units = np.array([run.half_unit for run in runs])
    step = common_step(units[first], units[second])
    found = normal_chances(difference, deviation, step)
    # No skewness is larger than the largest term over the deviation.
    terms = np.array([run.largest_term() for run in runs])
    rough = np.maximum(terms[first], terms[second]) > ROUGH * deviation
    at = np.flatnonzero(rough & (deviation > 0) & ~np.isnan(terms[first] + terms[second]))
    if len(at):
        some = first[at], second[at], (difference - step)[at], deviation[at], step[at]
        found[at] = chances_above(runs, *some)
    return found


def normal_chances(
    difference: Floats | float, deviation: Floats | float, step: Floats | float = 0.0
) -> Floats:
    """P(difference of two means > 0) under the normal law, half a lattice step away from a tie."""
    certain = np.equal(deviation, 0)
    z = (difference - step) / np.where(certain, 1.0, deviation)
    return np.asarray(np.where(certain, difference > TIED, ndtr(z)))


def common_step(first: Floats | float, second: Floats | float) -> Floats:
    """Half the lattice step of the difference of two means, from those of the means; else 0."""
    # Two lattices of different steps have next to no ties.
    return np.where(np.abs(np.subtract(first, second)) <= 1e-9 * np.asarray(first), first, 0.0)


def _chances_among(laws: Sequence[Law | None]) -> Floats:
    """P(a draw of system i exceeds an independent draw of system j), NaN where a law is missing."""
    chances = np.full((len(laws), len(laws)), np.nan)
    known = {i: law for i, law in enumerate(laws) if law is not None}
    if not known:
        return chances
    values, mass = (np.concatenate(each) for each in zip(*known.values(), strict=True))
    starts = np.cumsum([0, *(len(law[0]) for law in known.values())])[:-1]
    for j, (others, shares) in known.items():
        below = np.r_[0.0, np.cumsum(shares)][np.searchsorted(others, values - TIED)]
        chances[list(known), j] = np.add.reduceat(mass * below, starts)
    return np.asarray(np.clip(chances, 0.0, 1.0))
