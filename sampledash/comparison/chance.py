"""Chance that one sampled run shows the true order of two systems."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.special import ndtr

from sampledash import checks, simulation
from sampledash.atoms import Atoms
from sampledash.comparison import ties
from sampledash.comparison.curves import expected_means
from sampledash.comparison.means import atom_moments, variances_of_means
from sampledash.comparison.order import TIED, as_table, check_sets, true_order
from sampledash.metrics import Metric, as_metric
from sampledash.ranksets import RankSet
from sampledash.setting import Options, Setting

Floats = NDArray[np.float64]
Law = tuple[Floats, Floats]  # values, increasing, and their probabilities

_FEW = 30  # below this many instances no normal approximation
_EXACT_COUNTS = 20_000  # hits of up to this many instances are convolved exactly
_SUPPORT = 20_000  # values of a sum kept apart in a convolution
_NOTHING = 1e-18  # probabilities up to this are left out of a convolution
_RUNS = 20_000  # simulated runs where neither applies


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
    Metrics that can only hit or miss: the exact law of the two hit counts. Others: below 30
    instances the exact law of the mean (sums are told apart to 1/20,000 of their range), or 20,000
    seeded runs where instances have several relevant items; from 30 on the normal law with the
    exact mean and variance.
    """
    check_sets(sets)
    metric, m, setting = as_metric(metric), checks.integer("m", m, low=1), Setting.of(options)
    pairs = true_order(metric, sets, setting)
    means = expected_means([metric], sets, [m], setting)[0]
    return as_table(
        {
            "better": [sets[i].system for i, _, _ in pairs],
            "worse": [sets[j].system for _, j, _ in pairs],
            "probability": list(pair_chances([metric], sets, m, [pairs], means, setting)[0]),
        }
    )


def pair_chances(
    metrics: Sequence[Metric],
    sets: Sequence[RankSet],
    m: int,
    pairs: Sequence[Sequence[tuple[int, int, int]]],
    means: Floats,
    setting: Setting,
) -> list[list[float]]:
    """Chance of each (better, worse, truth) of each metric; NaN where truth is 0.

    ``means`` holds the expected means at m, shape (systems, metrics).
    """
    exact = [
        [law_of_mean(metric, ranks, m, setting, i) for i, ranks in enumerate(sets)]
        for metric in metrics
    ]
    normal = [x for x in range(len(metrics)) if any(law is None for law in exact[x])]
    deviations = np.zeros(means.shape)
    if normal:
        chosen = [metrics[x] for x in normal]
        deviations[:, normal] = np.sqrt(variances_of_means(chosen, sets, m, setting))
    chances = []
    for x, metric in enumerate(metrics):
        i, j, truth = np.array(pairs[x]).T
        steps = np.array([_step_of(metric, ranks, setting) for ranks in sets])
        found = normal_chances(
            means[i, x] - means[j, x],
            np.hypot(deviations[i, x], deviations[j, x]),
            np.minimum(steps[i], steps[j]),
        )
        among = _chances_among(exact[x])
        known = ~np.isnan(among[i, j])
        found[known] = among[i, j][known]
        chances.append(np.where(truth == 0, np.nan, found).tolist())
    return chances


def normal_chances(difference: Floats, deviation: Floats, step: Floats | float = 0.0) -> Floats:
    """P(difference of two means > 0) under the normal law, half a lattice step away from a tie."""
    certain = deviation == 0
    z = (difference - step) / np.where(certain, 1.0, deviation)
    return np.asarray(np.where(certain, difference > TIED, ndtr(z)))


def _step_of(metric: Metric, ranks: RankSet, setting: Setting) -> float:
    """Half the lattice step of a mean of hits, else 0."""
    recipe = setting.correction
    hits = not recipe.by_rank or (recipe.name == "rank-estimate" and recipe.rounding == "floor")
    if not (metric.on_lattice and hits) or ranks.max_relevant > 1:
        return 0.0
    return metric.scale(1) / (2 * ranks.n_instances)


def half_step(metric: Metric, first: RankSet, second: RankSet, setting: Setting) -> float:
    """Half the lattice step of the difference of two means of hits, else 0."""
    return min(_step_of(metric, first, setting), _step_of(metric, second, setting))


def law_of_mean(
    metric: Metric, ranks: RankSet, m: int, setting: Setting, stream: int = 0
) -> Law | None:
    """Values of the mean of one run, increasing, and their probabilities; None: take a normal.

    ``stream`` numbers the seeded runs that stand for a law, so that those of two systems differ.
    """
    size = ranks.n_instances
    if ranks.max_relevant > 1 and not (metric.first_only and setting.weighting == "instances"):
        if size >= _FEW:
            return None
        rng = np.random.default_rng([0, stream])
        runs = simulation.runs(metric, ranks, m, _RUNS, rng, setting)
        return _merged(runs, np.full(len(runs), 1 / len(runs)))
    if not np.all(ranks.counts == np.floor(ranks.counts)):
        return None
    atoms = ranks.atoms(setting.ties)
    first = atoms[atoms.position == 1]
    partly = setting.without and bool(np.any(first.negatives < m))
    if size <= _EXACT_COUNTS and not partly:
        vector = setting.vector(metric, atoms, m, 1)
        levels = np.unique(vector)
        if len(levels) <= 2:
            low, high = levels[0], levels[-1]
            chance = atom_moments([metric], first, m, setting)[0][0]
            chance = (chance - low) / (high - low) if high > low else np.zeros(len(first))
            hits = _count_law(np.repeat(np.clip(chance, 0, 1), first.count.astype(int)))
            return (low + (high - low) * np.arange(len(hits)) / size) * metric.scale(1), hits
    if size >= _FEW:
        return None
    values, mass = np.zeros(1), np.ones(1)
    for each, p, times in _single_laws(metric, atoms, first, m, setting):
        for _ in range(times):
            values, mass = _merged(
                np.add.outer(values, each).ravel(), np.multiply.outer(mass, p).ravel()
            )
    return values * metric.scale(1) / size, mass


def _single_laws(
    metric: Metric, atoms: Atoms, first: Atoms, m: int, setting: Setting
) -> Iterator[tuple[Floats, Floats, int]]:
    """Values, probabilities and count of each atom's contribution."""
    vector = setting.vector(metric, atoms, m, 1)
    for i in range(len(first)):
        one = first[np.array([i])]
        if setting.without and one.negatives[0] < m:
            if one.tied[0]:
                each = metric.of_above(
                    np.arange(one.above[0], one.above[0] + one.tied[0] + 1), one.negatives[0]
                )
                p = np.full(len(each), 1 / len(each))
            else:
                each, p = ties.exact_values(metric, one), np.ones(1)
        else:
            each, p = vector, next(ties.atom_laws(setting, m, one))[1][0]
        likely = p > _NOTHING
        yield each[likely], p[likely], int(one.count[0])


def _merged(values: Floats, mass: Floats) -> tuple[Floats, Floats]:
    """Sort, drop what weighs nothing and join values that are equal, or too many to keep apart."""
    keep = mass > _NOTHING
    values, mass = values[keep], mass[keep]
    order = np.argsort(values)
    values, mass = values[order], mass[order]
    width = TIED * max(1.0, float(np.abs(values).max()))
    group = np.r_[0, np.cumsum(np.diff(values) > width)]
    if group[-1] >= _SUPPORT:
        span = float(values[-1] - values[0])
        group = np.floor((values - values[0]) / span * _SUPPORT).astype(np.int64)
    total = np.asarray(np.bincount(group, weights=mass), dtype=np.float64)
    kept = total > 0
    return (np.bincount(group, weights=mass * values)[kept] / total[kept]), total[kept]


def _count_law(chances: Floats) -> Floats:
    """Law of a sum of independent hits with their own chances, by pairwise convolution.

    Direct sums of positive terms: a Fourier transform would drown small probabilities in 1e-16.
    """
    laws = [np.array([1 - p, p]) for p in chances.tolist()] or [np.ones(1)]
    while len(laws) > 1:
        odd = [laws.pop()] if len(laws) % 2 else []
        laws = [np.convolve(a, b) for a, b in zip(laws[::2], laws[1::2], strict=True)] + odd
    return np.asarray(laws[0])


def _chances_among(laws: Sequence[Law | None]) -> Floats:
    """P(a draw of system i exceeds an independent draw of system j), NaN where a law is missing."""
    size = len(laws)
    chances = np.full((size, size), np.nan)
    known = [(i, law) for i, law in enumerate(laws) if law is not None]
    if not known:
        return chances
    values = known[0][1][0]
    at = [i for i, _ in known]
    if all(len(law[0]) == len(values) and np.all(law[0] == values) for _, law in known):
        # Hit counts of equally many instances: one product for all pairs.
        mass = np.array([law[1] for _, law in known])
        below = np.cumsum(mass, axis=1) - mass
        chances[np.ix_(at, at)] = mass @ below.T
    else:
        for i, first in known:
            for j, second in known:
                below = np.r_[0.0, np.cumsum(second[1])]
                place = np.searchsorted(second[0], first[0] - TIED, side="left")
                chances[i, j] = first[1] @ below[place]
    return np.asarray(np.clip(chances, 0.0, 1.0))
