r"""Covariance of two relevant items of one list, either of them tied with irrelevant ones.

Let W of the m drawn items be among those certainly above the lower of the two. Given W, what is
drawn above the upper one and what is drawn of the lower one's tied block are independent:

.. math:: \operatorname{cov}(f, g) = \operatorname{cov}_W\bigl(E[f \mid W],\, E[g \mid W]\bigr).

Both expectations are needed at every W, from laws of every number of draws: one law, thinned.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sampledash import laws
from sampledash.comparison import ties
from sampledash.comparison.chains import Late, thinned
from sampledash.counts import RankCounts
from sampledash.protocol import Protocol
from sampledash.types import Floats

_CHUNK = 1 << 20  # entries of conditional expectations held at a time


def tied_covariances(
    protocol: Protocol, m: int, upper: RankCounts, lower: RankCounts, vectors: Floats
) -> Floats:
    """Covariances of the contributions of pairs of relevant items, the order of ties random.

    Parameters
    ----------
    protocol, m
        A uniform scheme, and the number of draws; without replacement no more than negatives.
    upper, lower
        The better and the worse ranked item of each pair.
    vectors
        Values of the counts 0..m above the first, second, ... item: shape (items, m + 1, c).

    Returns
    -------
    Array of shape (pairs, c).
    """
    result = np.zeros((len(upper), vectors.shape[2]))
    step = max(1, _CHUNK // vectors[0].size)
    for start in range(0, len(upper), step):
        rows = np.arange(start, min(start + step, len(upper)))
        high, low = upper[rows], lower[rows]
        within = replace(high, negatives=high.above + high.tied)
        f = _conditional(protocol, m, within, vectors[high.position - 1])
        certain = replace(
            low, above=within.negatives, negatives=low.above, tied=np.zeros_like(low.tied)
        )
        f = _conditional(protocol, m, certain, f)
        rest = replace(low, above=np.zeros_like(low.above), negatives=low.negatives - low.above)
        g = _conditional(protocol, m, rest, vectors[low.position - 1], beyond=True)
        p = laws.pmf(protocol.scheme, m, low.above, low.negatives - low.above)
        f -= np.einsum("pw,pwc->pc", p, f)[:, None]
        g -= np.einsum("pw,pwc->pc", p, g)[:, None]
        result[rows] = np.einsum("pw,pwc,pwc->pc", p, f, g)
    return result


def _conditional(
    protocol: Protocol, m: int, atoms: RankCounts, values: Floats, *, beyond: bool = False
) -> Floats:
    """Expected value of the count above, given that t of the atoms' items are drawn: (p, m+1, c).

    Entry t is that of t draws; or, with ``beyond``, of m - t draws, which count from t on.
    """
    law = np.zeros((len(atoms), m + 1))
    now = atoms.negatives >= (m if protocol.without else 1)
    at = np.flatnonzero(now)
    for picked, p in ties.atom_laws(protocol, m, atoms[at]):
        law[at[picked]] = p
    late: Late = {m: [(row, 0, 0) for row in np.flatnonzero(atoms.negatives == 0).tolist()]}
    for row in np.flatnonzero(~now & (atoms.negatives > 0)).tolist():
        above, tied = int(atoms.above[row]), int(atoms.tied[row])
        # All are drawn: only the order of the ties is left open.
        late.setdefault(int(atoms.negatives[row]), []).append((row, above, above + tied))
    return thinned(law, late, values, beyond=beyond)
