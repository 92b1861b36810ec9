"""Chance that one sampled run shows the true order of two systems."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import Unpack

import numpy as np
import pandas as pd
from scipy.special import ndtr

from sampledash import checks, simulation
from sampledash.comparison.curves import expected_means
from sampledash.comparison.means import moments_of_sets, variances_of_means
from sampledash.comparison.order import TIED, check_sets, pair_table, true_order
from sampledash.comparison.run_distribution import (
    Law,
    chances_above,
    half_unit,
    is_sum_of_items,
    item_laws,
    item_weights,
    largest_term,
    law_of_hits,
)
from sampledash.metrics import Metric, as_metric
from sampledash.protocol import Options, Protocol, as_ranked_by
from sampledash.ranksets import RankSet
from sampledash.types import Floats, Ints

_FEW = 30  # below this many instances no normal approximation
_SUPPORT = 5_000  # values of a sum kept apart in a convolution
_ROOM = 500_000  # and before equal ones are joined
_NOTHING = 1e-18  # probabilities up to this are left out of a convolution
_RUNS = 20_000  # simulated runs where neither applies
_DRAWS = 4_000_000  # that many draws take half a second; with twice as many, fewer runs
ROUGH = 0.08  # where no term is larger, in deviations, the normal law is good to 0.005
_TOGETHER = 1 << 24  # entries of a table of (systems, values)
_CELLS = 1 << 15  # cells of a law whose values are too many to keep apart


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
    skewness disturbs, or for so many instances that there is none left, the normal law. Several
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
    moments = moments_of_sets(metrics, sets, m, protocol)
    exact = [
        _exact_laws(metrics, ranks, m, protocol, i, moments[i][0]) for i, ranks in enumerate(sets)
    ]
    unknown = [x for x in range(len(metrics)) if any(laws[x] is None for laws in exact)]
    deviations = np.zeros(means.shape)
    if unknown:
        chosen = [metrics[x] for x in unknown]
        known = [each[:, unknown] for each in moments]
        deviations[:, unknown] = np.sqrt(variances_of_means(chosen, sets, m, protocol, known))
    chances = []
    for x, metric in enumerate(metrics):
        i, j, truth = np.array(pairs[x]).T
        found = _chances_among([laws[x] for laws in exact])[i, j]
        left = np.flatnonzero(np.isnan(found) & (truth != 0))
        if len(left):
            found[left] = _chances_of_sums(
                metric, sets, m, protocol, i[left], j[left], means[:, x], deviations[:, x]
            )
        chances.append(np.where(truth == 0, np.nan, found).tolist())
    return chances


def _chances_of_sums(
    metric: Metric,
    sets: Sequence[RankSet],
    m: int,
    protocol: Protocol,
    first: Ints,
    second: Ints,
    means: Floats,
    deviations: Floats,
) -> Floats:
    """P(mean of first > mean of second): by inversion, or the normal law where that is as good."""
    difference = means[first] - means[second]
    deviation = np.hypot(deviations[first], deviations[second])
    units = np.array([half_unit(metric, ranks, protocol, m) for ranks in sets])
    same = np.abs(units[first] - units[second]) <= 1e-9 * units[first]
    step = np.where(same, units[first], 0.0)
    found = normal_chances(difference, deviation, step)
    # No skewness is larger than the largest term over the deviation.
    terms = np.array([largest_term(metric, ranks, m, protocol) for ranks in sets])
    rough = np.maximum(terms[first], terms[second]) > ROUGH * deviation
    at = np.flatnonzero(rough & (deviation > 0) & ~np.isnan(terms[first] + terms[second]))
    if len(at):
        some = first[at], second[at], (difference - step)[at], deviation[at], step[at]
        found[at] = chances_above(metric, sets, m, protocol, *some)
    return found


def normal_chances(difference: Floats, deviation: Floats, step: Floats | float = 0.0) -> Floats:
    """P(difference of two means > 0) under the normal law, half a lattice step away from a tie."""
    certain = deviation == 0
    z = (difference - step) / np.where(certain, 1.0, deviation)
    return np.asarray(np.where(certain, difference > TIED, ndtr(z)))


def continuity_correction(
    metric: Metric, sets: Sequence[RankSet], protocol: Protocol, m: int | None = None
) -> float:
    """Half the lattice step of the difference of two means, else 0; of hits at any m."""
    first, second = (half_unit(metric, ranks, protocol, m) for ranks in sets)
    # Two lattices of different steps have next to no ties.
    return first if abs(first - second) <= 1e-9 * first else 0.0


def law_of_mean(
    metric: Metric, ranks: RankSet, m: int, protocol: Protocol, stream: int = 0
) -> Law | None:
    """Values of the mean of one run, increasing, and their probabilities; None: take a normal.

    ``stream`` numbers the seeded runs that stand for a law, so that those of two systems differ.
    """
    law = _exact_laws([metric], ranks, m, protocol, stream)[0]
    if law is None and ranks.n_instances < _FEW and is_sum_of_items(metric, ranks):
        return _on_grid(_single_laws(metric, ranks, m, protocol))
    return law


def _exact_laws(
    metrics: Sequence[Metric],
    ranks: RankSet,
    m: int,
    protocol: Protocol,
    stream: int,
    means: Floats | None = None,
) -> list[Law | None]:
    """:func:`law_of_mean` where values can be kept apart, or the law of seeded runs.

    ``means``: those of the metrics' atoms, if they are known.
    """
    each = [None] * len(metrics) if means is None else means
    laws = [law_of_hits(x, ranks, m, protocol, mean) for x, mean in zip(metrics, each, strict=True)]
    if np.any(ranks.counts != np.floor(ranks.counts)):
        return laws
    left = [x for x, law in enumerate(laws) if law is None]
    if ranks.n_instances < _FEW:
        for x in left:
            if is_sum_of_items(metrics[x], ranks):
                laws[x] = _convolved(metrics[x], ranks, m, protocol)
    left = [x for x in left if not is_sum_of_items(metrics[x], ranks)]
    rows = float(np.sum(ranks.counts))
    if left and (ranks.n_instances < _FEW or rows * _RUNS <= _DRAWS):
        rng = np.random.default_rng([0, stream])
        chosen = [metrics[x] for x in left]
        number = int(np.clip(2 * _DRAWS / rows, _RUNS // 10, _RUNS))
        runs = np.concatenate(list(simulation.batches(chosen, ranks, m, number, rng, protocol)))
        for column, x in zip(runs.T, left, strict=True):
            laws[x] = _merged(column, np.full(number, 1 / number))
    return laws


def _convolved(metric: Metric, ranks: RankSet, m: int, protocol: Protocol) -> Law | None:
    """Law of a mean that takes few values."""
    parts = _single_laws(metric, ranks, m, protocol)
    # Values of one lattice join; of others the sums differ but for the order of the terms.
    steps = np.diff(np.unique(np.concatenate([each for each, _, _ in parts])))
    most, terms = max(len(each) for each, _, _ in parts), int(ranks.n_instances)
    if len(steps) and np.ptp(steps) > 1e-9 * steps.max() and comb(most + terms - 1, terms) > _ROOM:
        return None
    values, mass = np.zeros(1), np.ones(1)
    for each, p, times in parts:
        for _ in range(times):
            if len(values) > _SUPPORT or len(values) * len(each) > _ROOM:
                return None
            values, mass = _merged(
                np.add.outer(values, each).ravel(), np.multiply.outer(mass, p).ravel()
            )
    return values, mass


def _single_laws(
    metric: Metric, ranks: RankSet, m: int, protocol: Protocol
) -> list[tuple[Floats, Floats, int]]:
    """Values, probabilities and count of what the first relevant items contribute to the mean."""
    everyone = ranks.atoms(protocol.ties)
    ranked = as_ranked_by(metric, everyone)
    first = ranked.position == 1
    atoms, worth = ranked[first], item_weights(metric, everyone, protocol)[first]
    vector = protocol.vector(metric, ranked, m, 1)
    return [
        (values[p > _NOTHING] * worth[i], p[p > _NOTHING], int(atoms.count[i]))
        for some, values, laws in item_laws(metric, atoms, vector, m, protocol)
        for i, p in zip(some, laws, strict=True)
    ]


def _merged(values: Floats, mass: Floats) -> Law:
    """Sort, drop what weighs nothing and join values that are equal."""
    keep = mass > _NOTHING
    values, mass = values[keep], mass[keep]
    order = np.argsort(values)
    values, mass = values[order], mass[order]
    width = TIED * max(1.0, float(np.abs(values).max()))
    group = np.r_[0, np.cumsum(np.diff(values) > width)]
    total = np.asarray(np.bincount(group, weights=mass), dtype=np.float64)
    return np.bincount(group, weights=mass * values) / total, total


def _on_grid(parts: Sequence[tuple[Floats, Floats, int]]) -> Law:
    """Law of a sum whose values are too many to keep apart: each is split between two cells."""
    low = sum(times * float(each.min()) for each, _, times in parts)
    high = sum(times * float(each.max()) for each, _, times in parts)
    step = (high - low) / (_CELLS - 1)
    product = np.ones(_CELLS + 1, dtype=np.complex128)
    for each, p, times in parts:
        place = (each - each.min()) / step
        cell = np.minimum(place.astype(np.int64), _CELLS - 1)
        split = np.bincount(cell, p * (cell + 1 - place), 2 * _CELLS)
        split += np.bincount(cell + 1, p * (place - cell), 2 * _CELLS)
        product *= np.fft.rfft(split) ** times
    mass = np.fft.irfft(product)[:_CELLS]
    kept = mass > 1e-15  # what a Fourier transform can tell from nothing
    values = np.asarray(low + step * np.arange(_CELLS))
    return values[kept], np.asarray(mass[kept] / mass[kept].sum())


def _chances_among(laws: Sequence[Law | None]) -> Floats:
    """P(a draw of system i exceeds an independent draw of system j), NaN where a law is missing."""
    size = len(laws)
    chances = np.full((size, size), np.nan)
    known = [(i, law) for i, law in enumerate(laws) if law is not None]
    if not known:
        return chances
    values = np.sort(np.concatenate([law[0] for _, law in known]))
    values = values[np.r_[True, np.diff(values) > TIED]]
    if len(values) * len(known) <= _TOGETHER:
        mass = np.zeros((len(known), len(values)))
        for row, (_, law) in zip(mass, known, strict=True):
            np.add.at(row, np.searchsorted(values, law[0] - TIED), law[1])
        at = [i for i, _ in known]
        below = np.cumsum(mass, axis=1) - mass
        chances[np.ix_(at, at)] = mass @ below.T
    else:
        for i, first in known:
            for j, second in known:
                below = np.r_[0.0, np.cumsum(second[1])]
                place = np.searchsorted(second[0], first[0] - TIED, side="left")
                chances[i, j] = first[1] @ below[place]
    return np.asarray(np.clip(chances, 0.0, 1.0))
