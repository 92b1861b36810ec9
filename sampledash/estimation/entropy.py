r"""The rank distribution of largest entropy that nearly reproduces what was sampled.

.. math:: \min_x \sum_s c_s ((x^T A)_s - \hat p_s)^2 - \eta H(x)

over all distributions x of the true rank, :math:`c_s = (m + 1) \hat p_s` and
:math:`\eta = 0.01`.

Notes
-----
The minimum has the form :math:`x \propto \exp(A v)`, with one unknown for each sampled rank that
occurs. In them the problem is smooth and strictly concave, and Newton's method ends after about six
steps at the exact minimum. Mirror descent over the ranks is far from it after 400 steps, and its
answer then depends on when it is stopped.

References
----------
Jin et al., On Estimating Recommendation Evaluation Metrics under Sampling, AAAI 2021.
"""

from __future__ import annotations

import numpy as np

from sampledash.types import Floats

ETA = 0.01
_STEPS = 200
_CLOSE = 1e-12  # Newton decrement after which one more step is exact


def maximum_entropy(
    rows: Floats, ranks: Floats, shares: Floats, weights: Floats, *, eta: float = ETA
) -> Floats:
    """Find the distribution.

    Parameters
    ----------
    rows
        Law of the sampled ranks at each node, shape (nodes, outcomes).
    ranks
        How many ranks a node stands for, shape (nodes,).
    shares
        Observed share of each outcome: shape (outcomes,).
    weights
        Weight of each squared error, shape (outcomes,); outcomes of weight 0 do not count.
    eta
        Weight of the entropy, above 0.

    Returns
    -------
    Mass of each node, shape (nodes,); sums to 1.
    """
    used = weights > 0
    root = np.sqrt(weights[used])
    # Unknowns z = v / root: the Hessian's eigenvalues are then at least eta / 2.
    scaled = rows[:, used] * root
    goal = shares[used] * root
    z = np.zeros(len(root))
    mass, level = _gibbs(scaled, ranks, z)
    for _ in range(_STEPS):
        mean = mass @ scaled
        slope = goal - mean - eta / 2 * z
        hessian = (scaled * mass[:, None]).T @ scaled - np.outer(mean, mean)
        hessian.flat[:: len(z) + 1] += eta / 2
        step = np.linalg.solve(hessian, slope)
        decrement = float(slope @ step)
        if decrement < _CLOSE:
            return _gibbs(scaled, ranks, z + step)[0]
        value = z @ goal - level - eta / 4 * (z @ z)
        length = 1.0
        while True:
            trial = z + length * step
            mass, level = _gibbs(scaled, ranks, trial)
            gain = trial @ goal - level - eta / 4 * (trial @ trial) - value
            if gain >= length * decrement / 4 or length < _CLOSE:
                break
            length /= 2
        z = trial
    return mass


def _gibbs(scaled: Floats, ranks: Floats, z: Floats) -> tuple[Floats, float]:
    """Mass proportional to ranks · exp(scaled z), and the logarithm of what it was divided by."""
    power = scaled @ z
    top = float(power.max())
    mass = ranks * np.exp(power - top)
    total = float(mass.sum())
    return mass / total, top + float(np.log(total))
