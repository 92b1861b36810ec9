"""How many negatives, or how many instances, an evaluation needs to show the true order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Unpack, get_args

import numpy as np
import pandas as pd
from scipy.special import ndtri

from sampledash import checks
from sampledash.comparison.chance import continuity_correction, normal_chances
from sampledash.comparison.crossing import Search
from sampledash.comparison.curves import expected_means
from sampledash.comparison.means import variances_of_means
from sampledash.comparison.order import TIED, as_table, check_sets, largest_m, true_order
from sampledash.comparison.redrawn import sampled_values, spread_if_redrawn
from sampledash.metrics import Metric, as_metric
from sampledash.protocol import Options, Protocol
from sampledash.ranksets import RankSet
from sampledash.types import Progress

Redraw = Literal["negatives", "both"]

_MOST = 1e15  # more instances than that are no plan


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
    return as_table(
        {
            "better": [sets[i].system for i, _, _ in pairs],
            "worse": [sets[j].system for _, j, _ in pairs],
            "m": [found.get((i, j)) for i, j, _ in pairs],
        }
    )


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
        step = continuity_correction(metric, sets[i], sets[j], protocol) * float(
            max(sizes[i], sizes[j])
        )
        difference = float(means[i] - means[j]) if truth else 0.0
        needed.append(_instances(difference, one, step, probability))
        if progress is not None:
            progress((done + 1) / len(pairs))
    table = as_table(
        {
            "better": [sets[i].system for i, _, _ in pairs],
            "worse": [sets[j].system for _, j, _ in pairs],
        }
    )
    table["instances"] = pd.array([pd.NA if v is None else v for v in needed], dtype="Int64")
    return table


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
    if not root**2 < _MOST:
        return None
    size = max(1, int(np.ceil(root**2)) - 1)
    while not reached(size):
        size += 1
    return size
