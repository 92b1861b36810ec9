r"""Covariance of two relevant items of one list, either of them tied with irrelevant ones.

Let W of the m drawn items be among those certainly above the lower of the two. Given W, what is
drawn above the upper one and what is drawn of the lower one's tied block are independent:

.. math:: \operatorname{cov}(f, g) = \operatorname{cov}_W\bigl(E[f \mid W],\, E[g \mid W]\bigr).

Both expectations are needed at every W, from laws of every number of draws: one law, thinned.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sampledash import laws
from sampledash.atoms import Atoms
from sampledash.comparison import ties
from sampledash.setting import Setting

Floats = NDArray[np.float64]

_CHUNK = 1 << 20  # entries of conditional expectations held at a time


def tied_covariances(
    setting: Setting, m: int, upper: Atoms, lower: Atoms, first: Floats, second: Floats
) -> Floats:
    """Covariances of the contributions of pairs of relevant items, the order of ties random.

    Parameters
    ----------
    setting, m
        A uniform scheme, and the number of draws; without replacement no more than negatives.
    upper, lower
        The better and the worse ranked item of each pair.
    first, second
        Values of the counts 0..m above the upper and the lower item: shape (m + 1, c) each.

    Returns
    -------
    Array of shape (pairs, c).
    """
    result = np.zeros((len(upper), first.shape[1]))
    step = max(1, _CHUNK // ((m + 1) * first.shape[1]))
    for start in range(0, len(upper), step):
        rows = np.arange(start, min(start + step, len(upper)))
        high, low = upper[rows], lower[rows]
        within = replace(high, negatives=high.above + high.tied)
        f = _conditional(setting, m, within, np.broadcast_to(first, (len(rows), *first.shape)))
        certain = replace(
            low, above=within.negatives, negatives=low.above, tied=np.zeros_like(low.tied)
        )
        f = _conditional(setting, m, certain, f)
        rest = replace(low, above=np.zeros_like(low.above), negatives=low.negatives - low.above)
        g = _conditional(setting, m, rest, np.broadcast_to(second, (len(rows), *second.shape)),
                         beyond=True)  # fmt: skip
        p = laws.law(setting.scheme, m, low.above, low.negatives - low.above)
        f -= np.einsum("pw,pwc->pc", p, f)[:, None]
        g -= np.einsum("pw,pwc->pc", p, g)[:, None]
        result[rows] = np.einsum("pw,pwc,pwc->pc", p, f, g)
    return result


def _conditional(
    setting: Setting, m: int, atoms: Atoms, values: Floats, *, beyond: bool = False
) -> Floats:
    """Expected value of the count above, given that t of the atoms' items are drawn: (p, m+1, c).

    Entry t is that of t draws; or, with ``beyond``, of m - t draws, which count from t on.
    """
    result = np.zeros(values.shape)
    law = np.zeros((len(atoms), m + 1))
    sampled = atoms.negatives >= (m if setting.without else 1)
    at = np.flatnonzero(sampled)
    for picked, p in ties.atom_laws(setting, m, atoms[at]):
        law[at[picked]] = p
    law[atoms.negatives == 0, 0] = 1.0
    late: dict[int, list[int]] = {}
    for row in np.flatnonzero(~sampled & (atoms.negatives > 0)).tolist():
        late.setdefault(int(atoms.negatives[row]), []).append(row)
    for t in range(m, -1, -1):
        for row in late.get(t, ()):  # all are drawn: only the order of the ties is left open
            above, tied = int(atoms.above[row]), int(atoms.tied[row])
            law[row, above : above + tied + 1] = 1 / (tied + 1)
        if beyond:
            here = values[:, m - t :]
            result[:, m - t] = np.einsum("ps,psc->pc", law[:, : t + 1], here)
        else:
            result[:, t] = np.einsum("ps,psc->pc", law[:, : t + 1], values[:, : t + 1])
        s = np.arange(t)
        law[:, :t] = law[:, :t] * ((t - s) / t if t else 1.0) + law[:, 1 : t + 1] * (
            (s + 1) / t if t else 1.0
        )
        law[:, t] = 0.0
    return result
