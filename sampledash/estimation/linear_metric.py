r"""Confidence intervals of AUC and ATOP, and of differences between two systems.

AUC and ATOP are linear in the number of items above the relevant item. Let x be the share of the
n - 1 negatives that are above the relevant item. The share of the m drawn negatives that are above
is an unbiased estimate of x (section 4.4.1 of Krichene & Rendle). Its variance is
:math:`x(1-x)\,c/m`, because the true ranks are fixed. The factor c is 1 with replacement, and
(n-1-m)/(n-2) without replacement. If s of the m drawn negatives are above,
:math:`s(m-s) / (m(m-c))` is an unbiased estimate of x(1-x). The interval is Wilson's, for the
number of draws that would give this variance if all instances had the same x. For a difference,
Newcombe's method combines the ends of the two intervals. The assumption that the rank distribution
is non-increasing would not narrow the interval.

References
----------
Wilson, JASA 1927; Newcombe, Interval estimation for the difference between independent proportions,
Statistics in Medicine 1998, method 10.
"""

from collections.abc import Sequence

import numpy as np
from scipy.special import ndtri

from sampledash.sampled_rank_sets import Outcomes
from sampledash.schemes import SCHEMES


def interval_of_mean(
    samples: Sequence[Sequence[Outcomes]], confidence: float
) -> tuple[float, float]:
    """Return the confidence interval of a system's mean AUC, or of the difference of two systems.

    ``samples`` holds the strata (instances of nearly equal n) of each system.
    """
    z = float(ndtri((1 + confidence) / 2))
    parts = [_wilson(strata, z) for strata in samples]
    if len(parts) == 1:
        low, _, high = parts[0]
        return low, high
    (low, mean, high), (least, there, most) = parts
    below, above = np.hypot(mean - low, most - there), np.hypot(high - mean, there - least)
    return float(mean - there - below), float(mean - there + above)


def _wilson(strata: Sequence[Outcomes], z: float) -> tuple[float, float, float]:
    """Return low end, mean and high end of Wilson's interval for the mean AUC."""
    total = float(sum(x.total for x in strata))
    every = [
        (x.at_extremes[-1].n, *pair) for x in strata for pair in zip(x.m, x.counts, strict=True)
    ]
    # Sum three quantities over the instances: the share p of sampled items that are below the
    # relevant item; an estimate of the variance of p; and ``part`` / m. If the exact AUC of an
    # instance is x, its p has the variance x (1 - x) * ``part`` / m.
    share = variance = alike = 0.0
    for n, m, counts in every:
        s, size, part = np.arange(m + 1), float(counts.sum()), 1.0
        if SCHEMES[strata[0].scheme].distinct:
            part = (n - 1 - m) / max(n - 2, 1)
        share += float(counts @ (1 - s / m))
        if m == part:  # the variance cannot be estimated if m = 1: use its maximum, 0.25
            variance, alike = variance + size * 0.25, alike + size
        else:
            seen = float(counts @ (s * (m - s))) / (m * (m - part))
            variance, alike = variance + part / m * seen, alike + part / m * size
    share, size = share / total, total / strata[0].design_effect
    # Add the variance that one more instance with exact AUC 1/2 would add. The variance is then
    # above 0 even if p is 0 in all instances, or 1 in all instances.
    variance += 0.25 * alike / size
    # The variance is largest if all instances have the same exact AUC. So take the smaller of this
    # variance and the variance estimated from the instances.
    spread = share * (1 - share)
    much = z**2 * (min(alike, variance / spread) if spread > 0 else alike) / total / size
    middle = (share + much / 2) / (1 + much)
    reach = float(np.sqrt(much * share * (1 - share) + much**2 / 4)) / (1 + much)
    return max(middle - reach, 0.0), share, min(middle + reach, 1.0)
