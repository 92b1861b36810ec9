"""The verdict: is the order that sampling shows the order of the exact metric?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, Unpack

import numpy as np
import pandas as pd

from sampledash import checks
from sampledash.comparison.chance import pair_chances
from sampledash.comparison.means import exact_means, expected_means, step_of
from sampledash.comparison.order import (
    Orders,
    check_sets,
    largest_m,
    orders,
    sign,
    true_pairs,
)
from sampledash.correction import Correction, as_correction
from sampledash.metrics import Metric, as_metric
from sampledash.protocol import Options, Protocol
from sampledash.rank_sets import RankSet
from sampledash.types import Floats, Progress

State = Literal["right", "wrong", "undecided", "tied"]
CONFIDENT = 0.95  # a run that shows one order at least this often is decided


def state_of(truth: int, sampled: int, probability: float) -> State:
    """State of a pair: what one sampled run says about its true order.

    ``tied`` when the exact metric ties it; ``right`` when the expected sampled order is the true
    one and a run shows it with a chance of at least 95 %; ``wrong`` when it is the opposite one and
    a run shows the true order with at most 5 %; else ``undecided``, also where most runs are ties.
    """
    if truth == 0:
        return "tied"
    if sampled > 0 and probability >= CONFIDENT:
        return "right"
    if sampled < 0 and probability <= 1 - CONFIDENT + 1e-15:  # 1 - 0.95 is not quite 0.05
        return "wrong"
    return "undecided"


def verdict_at_m(
    found: Orders,
    metrics: Sequence[Metric],
    sets: Sequence[RankSet],
    m: int,
    protocol: Protocol,
    exact: Floats | None = None,
) -> dict[str, list[Any]]:
    """Verdict at one m, from orders that were found over all m before; see :func:`verdict`.

    ``exact``: the exact means, if they are known. The columns of the table, ``right_from`` None
    where there is no such m.
    """
    sampled = found.at(m)
    if sampled is None:
        sampled = expected_means(metrics, sets, [m], protocol)[0]
    if exact is None:
        exact = exact_means(metrics, sets, protocol)
    pairs = [true_pairs(exact[:, x]) for x in range(len(metrics))]
    chances = pair_chances(metrics, sets, m, pairs, sampled, protocol)
    names = np.array([ranks.system for ranks in sets], dtype=object)
    i, j, truth = np.array(pairs).transpose(2, 0, 1)  # (metrics, pairs) each
    x = np.arange(len(metrics))[:, None]
    difference, probability = sampled[i, x] - sampled[j, x], np.array(chances)
    right = np.array([found.all_right_from(i[y], j[y], y) for y in range(len(metrics))])
    states = map(
        state_of, truth.ravel().tolist(), sign(difference).ravel().tolist(), probability.ravel()
    )
    known = (right > 0) & (truth != 0)
    return {
        "metric": [str(metric) for metric in metrics for _ in range(i.shape[1])],
        "correction": [str(protocol.correction)] * i.size,
        "better": names[i.ravel()].tolist(),
        "worse": names[j.ravel()].tolist(),
        "exact": (exact[i, x] - exact[j, x]).ravel().tolist(),
        "sampled": difference.ravel().tolist(),
        "state": list(states),
        "right_from": [
            m if k else None for m, k in zip(right.ravel().tolist(), known.ravel(), strict=True)
        ],
        "probability": probability.ravel().tolist(),
    }


def as_frame(columns: dict[str, list[Any]]) -> pd.DataFrame:
    """The table of :func:`verdict` from its columns."""
    numbers = {"exact": "float64", "sampled": "float64", "probability": "float64"}
    kinds = dict.fromkeys(columns, "str") | numbers | {"right_from": "Int64"}
    return pd.DataFrame(columns).astype(kinds)


def verdict(
    metrics: Sequence[Metric | str],
    sets: Sequence[RankSet],
    m: int,
    corrections: Sequence[Correction | str] = ("uncorrected",),
    *,
    m_max: int | None = None,
    m_values: Sequence[int] | None = None,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> pd.DataFrame:
    """Compare the sampled order of every pair with the exact one.

    Parameters
    ----------
    metrics
        Metrics or their texts.
    sets
        At least two rank sets, one per system.
    m
        Sampled negatives per instance.
    corrections
        Corrections or their texts.
    m_max
        Largest m looked at for ``right_from``; ``None`` as in :func:`flips`.
    m_values
        Where corrections are evaluated, with bisection wherever the order of a pair changes
        between; their ``right_from`` then speaks of these values only. ``None`` as in
        :func:`flips`; for a quick look, :func:`quick_ladder`.
    progress
        Called with the share of the work that is done.
    **options
        See :class:`~sampledash.Options`; ``correction`` is given by ``corrections``.

    Returns
    -------
    DataFrame with one row per metric, correction and pair: ``metric``, ``correction``, ``better``,
    ``worse`` (by the exact metric), ``exact`` and ``sampled`` (difference better - worse),
    ``state`` (see :func:`state_of`), ``right_from`` (``<NA>``: not by the largest m) and
    ``probability`` that one run shows the true order.
    """
    check_sets(sets)
    if "correction" in options:
        raise TypeError("verdict takes corrections=(...), not correction=")
    chosen = [as_metric(x) for x in checks.several("metrics", metrics, "metric")]
    m = checks.integer("m", m, low=1)
    values = None
    if m_values is not None:
        listed = checks.several("m_values", m_values, "m")
        values = [checks.integer("m_values", value, low=1) for value in listed]
    tables = []
    recipes = [as_correction(x) for x in checks.several("corrections", corrections, "correction")]
    for step, recipe in enumerate(recipes):
        protocol = Protocol.of({**options, "correction": recipe})
        report = step_of(progress, step, len(recipes))
        top = largest_m(sets, m_max, protocol)
        found = orders(chosen, sets, top, protocol, report, values)
        tables.append(as_frame(verdict_at_m(found, chosen, sets, m, protocol)))
    return pd.concat(tables, ignore_index=True)
