"""Where the order of two systems flips as m grows, and from which m it is right."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple, Unpack

import pandas as pd

from sampledash.comparison.order import as_table, check_sets, largest_m, orders, true_order
from sampledash.metrics import Metric, as_metric
from sampledash.protocol import Options, Protocol
from sampledash.ranksets import RankSet
from sampledash.types import Progress


class Flip(NamedTuple):
    """The order of two systems becomes the opposite at m."""

    first: str
    second: str
    m: int


def flips(
    metric: Metric | str,
    sets: Sequence[RankSet],
    m_max: int | None = None,
    *,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> list[Flip]:
    """Every m at which the expected order of a pair becomes the opposite.

    Parameters
    ----------
    metric
        A metric or its text.
    sets
        At least two rank sets, one per system.
    m_max
        Largest m looked at; ``None`` is the largest n - 1, capped at 20,000.
    progress
        Called with the share of the work that is done.
    **options
        See :class:`~sampledash.Options`.

    Returns
    -------
    One :class:`Flip` per pair and m, pairs in the order of ``sets``, m increasing. Differences up
    to 1e-12 are ties; leaving a tie is no flip.
    """
    check_sets(sets)
    protocol = Protocol.of(options)
    found = orders([as_metric(metric)], sets, largest_m(sets, m_max, protocol), protocol, progress)
    return [
        Flip(sets[i].system, sets[j].system, m)
        for i, j in combinations(range(len(sets)), 2)
        for m in found.flips(i, j, 0)
    ]


def right_from(
    metric: Metric | str,
    sets: Sequence[RankSet],
    m_max: int | None = None,
    *,
    progress: Progress | None = None,
    **options: Unpack[Options],
) -> pd.DataFrame:
    """Smallest m from which the expected order of each pair stays right.

    Same parameters as :func:`flips`.

    Returns
    -------
    DataFrame with columns ``better``, ``worse`` (by the exact metric) and ``m``; ``<NA>`` where
    the order is not right at the largest m, or where the exact metric ties the pair.
    """
    check_sets(sets)
    metric, protocol = as_metric(metric), Protocol.of(options)
    found = orders([metric], sets, largest_m(sets, m_max, protocol), protocol, progress)
    pairs = true_order(metric, sets, protocol)
    return as_table(
        {
            "better": [sets[i].system for i, _, _ in pairs],
            "worse": [sets[j].system for _, j, _ in pairs],
            "m": [found.right_from(i, j, 0, 1) if truth else None for i, j, truth in pairs],
        }
    )
