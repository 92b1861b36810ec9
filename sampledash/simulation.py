"""Monte Carlo: repeat a sampled evaluation with an explicit random generator."""

from __future__ import annotations

from typing import Unpack

import numpy as np
from numpy.typing import NDArray

from sampledash import checks
from sampledash.atoms import Atoms, expanded, read_ties
from sampledash.laws import draw_above
from sampledash.metrics import Metric, as_metric
from sampledash.ranksets import RankSet
from sampledash.setting import Options, Setting

Floats = NDArray[np.float64]

_BLOCK = 1 << 21  # draws held at a time


def simulate(
    metric: Metric | str,
    ranks: RankSet,
    m: int,
    repeats: int,
    rng: np.random.Generator,
    **options: Unpack[Options],
) -> Floats:
    """Mean of the sampled, possibly corrected, metric in repeated runs.

    Parameters
    ----------
    metric
        A metric or its text.
    ranks
        True ranks; counts must be whole numbers.
    m
        Sampled negatives per instance.
    repeats
        Number of runs, at least 1.
    rng
        Source of randomness; the same state gives the same runs.
    **options
        See :class:`~sampledash.Options`. Ties read as "expected" are redrawn in each
        run.

    Returns
    -------
    Array of shape (repeats,).
    """
    m = checks.integer("m", m, low=1)
    repeats = checks.integer("repeats", repeats, low=1)
    return runs(as_metric(metric), ranks, m, repeats, rng, Setting.of(options))


def runs(
    metric: Metric,
    ranks: RankSet,
    m: int,
    repeats: int,
    rng: np.random.Generator,
    setting: Setting,
) -> Floats:
    """:func:`simulate` with validated options."""
    setting.check(ranks, m)
    if np.any(ranks.counts != np.floor(ranks.counts)):
        raise ValueError(f"counts of system {ranks.system!r} must be whole numbers to simulate")
    atoms = ranks.atoms(setting.ties)
    rows = expanded(read_ties(ranks.rows(), setting.ties))
    last = 1 if metric.first_only else ranks.max_relevant
    vectors = [setting.vector(metric, atoms, m, j) for j in range(1, last + 1)]
    total = np.empty(repeats)
    step = max(1, _BLOCK // len(rows))
    for start in range(0, repeats, step):
        some = min(step, repeats - start)
        total[start : start + some] = _sums(metric, rows, vectors, m, some, setting, rng)
    return total / rows.instances


def _sums(
    metric: Metric,
    rows: Atoms,
    vectors: list[Floats],
    m: int,
    runs: int,
    setting: Setting,
    rng: np.random.Generator,
) -> Floats:
    """Sum over instances in each run; rows are sorted by instance and position."""
    above = np.broadcast_to(rows.above, (runs, len(rows)))
    if np.any(rows.tied):
        above = above + rng.integers(0, rows.tied + 1, size=(runs, len(rows)))
    scale = np.array([0.0, *(metric.scale(int(r)) for r in range(1, int(rows.relevant.max()) + 1))])
    drawn = np.minimum(m, rows.negatives) if setting.without else np.full(len(rows), m)
    total = np.zeros(runs)
    sampled = np.zeros((runs, len(rows)), dtype=np.int64)
    # From the last relevant item of an instance to its first: given how many drawn items lie above
    # the next one, those above this one are a draw from them.
    for j in range(int(rows.position.max()), 0, -1):
        at = np.flatnonzero(rows.position == j)
        here = rows[at]
        a, b = setting.weights(here, above[:, at])
        is_last = here.relevant == j
        count = np.empty((runs, len(at)), dtype=np.int64)
        a, b = np.broadcast_to(a, count.shape), np.broadcast_to(b, count.shape)
        count[:, is_last] = draw_above(
            setting.scheme, drawn[at[is_last]], a[:, is_last], b[:, is_last], rng
        )
        inner = at[~is_last]
        if len(inner):
            below_next = rows[inner + 1]
            next_a, _ = setting.weights(below_next, above[:, inner + 1])
            between = np.maximum(np.broadcast_to(next_a, (runs, len(inner))) - a[:, ~is_last], 0)
            empty = (between == 0) & (a[:, ~is_last] == 0)
            count[:, ~is_last] = draw_above(
                setting.scheme, sampled[:, inner + 1], a[:, ~is_last], between + empty, rng
            )
        sampled[:, at] = count
        if j > len(vectors):
            continue
        values = vectors[j - 1][count]
        if setting.without and np.any(here.negatives < m):
            full = here.negatives < m
            values[:, full] = metric.of_above(above[:, at[full]], here.negatives[full], j)
        total += values @ scale[here.relevant]
    return total
