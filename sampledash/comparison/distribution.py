"""Distribution of the true ranks of a system (Figure 5)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from sampledash.counts import Ties
from sampledash.ranksets import RankSet
from sampledash.types import Floats

_BLOCK = 1 << 22


def rank_distribution_at(ranks: RankSet, places: ArrayLike, *, ties: Ties = "expected") -> Floats:
    """Share of relevant items with a true rank of at most each place.

    Parameters
    ----------
    ranks
        True ranks; a tied item counts with the share of its orders that put it there.
    places
        Ranks, any numbers, shape (p,).
    ties
        How tied items are read.

    Returns
    -------
    Array of shape (p,), increasing with the place, in 0..1.
    """
    at = np.asarray(places, dtype=np.float64)
    atoms = ranks.atoms(ties)
    first = atoms.above + atoms.position
    total = np.zeros(len(at))
    step = max(1, _BLOCK // max(len(at), 1))
    for start in range(0, len(atoms), step):
        rows = slice(start, start + step)
        inside = (at - first[rows, None] + 1) / (atoms.tied[rows, None] + 1)
        whole = np.floor(np.clip(inside, 0, 1) * (atoms.tied[rows, None] + 1) + 1e-9)
        total += atoms.count[rows] @ (whole / (atoms.tied[rows, None] + 1))
    return np.asarray(total / atoms.count.sum())
