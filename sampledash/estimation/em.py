r"""Most likely rank distribution of what was sampled, by expectation maximisation.

.. math:: \pi_r \leftarrow \pi_r \sum_s A_{rs} \, \hat p_s / (\pi^T A)_s

with :math:`\hat p_s` the observed share of sampled rank s + 1 and A its law. Instances with another
number of negatives only add columns to A.

Notes
-----
There are far more ranks than sampled ranks, so the likelihood does not settle the distribution: run
to convergence it collapses to a few atoms. The number of iterations is what keeps it smooth. Also
a non-increasing distribution, a mixture of uniforms on 1..j, is nearer to the truth after 50 than
after 200 iterations; begun from that of all compared systems together, 10 suffice.

References
----------
Jin et al., On Estimating Recommendation Evaluation Metrics under Sampling, AAAI 2021; Li et al.,
Towards Reliable Item Sampling for Recommendation Evaluation, AAAI 2023.
"""

from __future__ import annotations

import numpy as np

from sampledash.types import Floats

ITERATIONS = 100
SHAPED_ITERATIONS = 50
OWN_ITERATIONS = 10
_TINY = np.finfo(float).tiny


def most_likely(rows: Floats, shares: Floats, start: Floats, iterations: int) -> Floats:
    """Weights of the rows after so many iterations.

    Parameters
    ----------
    rows
        Law of what is observed under each hypothesis, shape (hypotheses, outcomes).
    shares
        Observed share of each outcome, sums to 1: shape (outcomes,), or (runs, outcomes).
    start
        Weights to begin with, sum to 1: shape (hypotheses,), or (runs, hypotheses).
    iterations
        At least 0.

    Returns
    -------
    Shape (hypotheses,) or (runs, hypotheses); sums to 1.
    """
    many = np.atleast_2d(shares)
    used = np.any(many > 0, axis=0)
    seen = np.ascontiguousarray(rows[:, used])
    many = many[:, used]
    weights = np.array(np.broadcast_to(start, (len(many), len(rows))))
    for _ in range(iterations):
        # The smallest float keeps an outcome that has become impossible from dividing by 0.
        weights *= (many / np.maximum(weights @ seen, _TINY)) @ seen.T
        weights /= weights.sum(axis=1, keepdims=True)
    return weights if np.ndim(shares) == 2 else weights[0]


def slopes(rows: Floats, shares: Floats, start: Floats, iterations: int, value: Floats) -> Floats:
    """Derivatives of ``value @ most_likely(...)`` in the shares, back through the iterations.

    Parameters
    ----------
    rows, shares, start, iterations
        As for :func:`most_likely`, one run.
    value
        Value of each hypothesis, shape (hypotheses,).

    Returns
    -------
    Shape (outcomes,); 0 for outcomes that do not occur.
    """
    used = shares > 0
    seen, share = np.ascontiguousarray(rows[:, used]), shares[used]
    trail = [start]
    for _ in range(iterations):
        chance = np.maximum(trail[-1] @ seen, _TINY)
        trail.append(trail[-1] * (seen @ (share / chance)))
    slope = np.zeros(len(share))
    for weights in trail[-2::-1]:
        chance = np.maximum(weights @ seen, _TINY)
        part = (value * weights) @ seen / chance
        slope += part
        value = value * (seen @ (share / chance)) - seen @ (share / chance * part)
    result = np.zeros(len(shares))
    result[used] = slope
    return result
