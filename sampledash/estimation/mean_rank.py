r"""What the mean sampled rank tells: AUC and ATOP, up to sampling error.

They are linear in the number of items above, so that the sampled share of items above is unbiased
(section 4.4.1 of Krichene & Rendle) and no shape of the rank distribution adds to it. The true
ranks are fixed and only the negatives are drawn, so an instance with share x adds the variance
:math:`x(1-x)\,c/m`, c = 1 with replacement and (n-1-m)/(n-2) without; x(1-x) is estimated without
bias by :math:`s(m-s) / (m(m-c))`, s the drawn items above.

The interval is Wilson's, for as many draws as would give that variance if all instances were alike;
for a difference the ends are combined as Newcombe does.

References
----------
Wilson, JASA 1927; Newcombe, Interval estimation for the difference between independent proportions,
Statistics in Medicine 1998, method 10.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri

from sampledash.sampledranks import Draws, SampledRankSet


def interval_of_mean(sets: list[SampledRankSet], confidence: float) -> tuple[float, float]:
    """Interval of AUC of one set, or of the difference of two.

    Parameters
    ----------
    sets
        One or two systems, independent samples.
    confidence
        In 0..1, above 0.
    """
    z = float(ndtri((1 + confidence) / 2))
    found = [_wilson(*_share(one), z) for one in sets]
    if len(found) == 1:
        low, _, high = found[0]
        return low, high
    (low, here, high), (least, there, most) = found
    below, above = np.hypot(here - low, most - there), np.hypot(high - here, there - least)
    return float(here - there - below), float(here - there + above)


def _share(srs: SampledRankSet) -> tuple[float, float]:
    """Mean share of drawn items below the relevant one, and one over the draws it is worth."""
    total = sum(float(draws.counts.sum()) for draws in srs.draws)
    below = [float(d.counts @ (1 - np.arange(d.m + 1) / d.m)) for d in srs.draws]
    share = sum(below) / total
    found, alike = np.sum([_scatter(srs, draws) for draws in srs.draws], axis=0)
    size = total / srs.repetition
    # One instance more that might be at the middle: a sample without scatter is still a sample.
    found += 0.25 * alike / size
    # Instances that differ scatter less than if all had the mean share.
    spread = share * (1 - share)
    inverse = min(alike, found / spread) if spread > 0 else alike
    return share, float(inverse / total / size)


def _scatter(srs: SampledRankSet, draws: Draws) -> tuple[float, float]:
    """Summed variance of the sampled shares of instances with one number of negatives.

    And what it would be, in units of share (1 - share), if all were alike.
    """
    m, s, left = draws.m, np.arange(draws.m + 1), srs.sampling(draws.m).n - 1
    part = 1.0
    if srs.scheme == "without-replacement":
        part = (left - m) / max(left - 1, 1)
    size = float(draws.counts.sum())
    if m == part:  # one draw of an instance does not tell its share
        return size * 0.25, size
    seen = float(draws.counts @ (s * (m - s))) / (m * (m - part))
    return part / m * seen, part / m * size


def _wilson(share: float, inverse: float, z: float) -> tuple[float, float, float]:
    """Low end, share and high end; ``inverse`` is one over the number of draws."""
    much = z**2 * inverse
    middle = (share + much / 2) / (1 + much)
    reach = float(np.sqrt(much * share * (1 - share) + much**2 / 4)) / (1 + much)
    return max(middle - reach, 0.0), share, min(middle + reach, 1.0)
