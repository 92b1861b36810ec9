r"""Weighted sums, over relevant items, of the distributions of their sampled ranks.

A sum over a million relevant items does not need a million distributions. A few made-up items give
the same sum to the last digit, because the distribution is a smooth function of the share of items
above the relevant item, and of the number of negatives.
"""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import csc_array

from sampledash.sampling import (
    CHUNK,
    POINTS,
    SIGMAS,
    Sizes,
    chebyshev,
    interpolated,
    lagrange,
    over_sizes,
    pmf,
    pmf_chunks,
    pmf_window,
)
from sampledash.schemes import DEFAULT_SCHEME, SCHEMES
from sampledash.types import Floats, blocks

#: Three arrays with an entry for each relevant item: the sampling weight of all items above it, the
#: sampling weight of all items below it, and its weight in a sum over relevant items.
Weighted = tuple[Floats, Floats, Floats]
_SIZES = 12  # largest number of interpolation points over 1/N; N is the number of negatives
#: Without replacement, instances are grouped by the number N of negatives before interpolation. In
#: a group, log(1 - m/N) differs by at most this.
_BAND = 0.25
#: Without replacement, a relevant item is not replaced by interpolation points if fewer items than
#: this are above it, or fewer than this are below it.
_END = 64


def merge_laws(scheme: str, m: int, parts: Sequence[Weighted]) -> list[Weighted]:
    """Replace many relevant items by few made-up items, with the same weighted sums.

    These are sums of the distributions of the items' sampled ranks (:func:`pmf`).

    Each of the ``parts`` is replaced separately, and keeps its sum. The new items are Chebyshev
    points, and the distribution of each old item can be interpolated between them. Lagrange's
    formula divides the weight of each old item among these points; the weights of the points may be
    negative.

    Let p be the share of items above the relevant item, and t = arcsin(sqrt(p)). As a function of
    t, a Binomial(m, p) probability is a bell-shaped curve of width 1/(2 sqrt(m)). In an interval
    (panel) of t that is twice as wide, 24 points interpolate the curve to the last digit. For draws
    without replacement from N items, the curve is narrower by the factor sqrt(1 - m/N), and smooth
    in 1/N. So items with similar factors are interpolated over 1/N too, with up to 12 points.

    Items are not replaced if they are few. For draws without replacement, an item is also kept if a
    sample may hold all candidates above it, or all below it.
    """
    if SCHEMES[scheme].varies:
        return list(parts)
    if not SCHEMES[scheme].distinct:
        return [_merge(part, np.sqrt(m), 0.0, 0.0, 0.0, 1) for part in parts]
    # ``drawn`` is, for each relevant item, the share of its negatives that are drawn. A band is a
    # group of items with similar shares. The last band holds all shares above 1 - 1e-4, because the
    # probabilities are not smooth functions of such shares.
    drawn = [np.minimum(m / (above + below), 1.0) for above, below, _ in parts]
    bands = [(-np.log(np.maximum(1 - x, 1e-4)) / _BAND).astype(np.int64) for x in drawn]
    merged: list[list[Weighted]] = [[(np.empty(0), np.empty(0), np.empty(0))] for _ in parts]
    for band in np.flatnonzero(np.bincount(np.concatenate(bands))):
        members = [numbers == band for numbers in bands]
        shares = np.concatenate([x[at] for x, at in zip(drawn, members, strict=True)])
        low, high = float(shares.min()), float(shares.max())
        # Keep a relevant item if fewer than h items are above it, or fewer than h below it, because
        # a sample may hold all of these items. If a sample holds a share ``high`` of N items, it
        # holds h given items with probability about high^h. Choose h, at least _END, so that this
        # probability is at most 1e-18. ``end`` is the share h / N.
        end = max(_END, np.log(1e-18) / np.log(min(high, 0.9999))) * high / m
        # Within the band, the number N of negatives varies. The logarithm of every non-negligible
        # probability therefore varies by at most 4 * x. Interpolation over 1/N with k points has an
        # error far below x^k / k!. ``sizes`` is the largest k, up to _SIZES, for which x^k / k! is
        # not below 1e-16.
        x = 4.5 * (high - low) / (1 - high) if high < 1 else 1.0
        powers = np.cumprod(x / np.arange(1, _SIZES + 1))
        sizes = int(np.argmax(np.append(powers < 1e-16, True)))
        width = np.sqrt(m / max(1 - high, 1e-4))
        for (above, below, weight), at, result in zip(parts, members, merged, strict=True):
            some = above[at], below[at], weight[at]
            result.append(_merge(some, width, end, low / m, high / m, max(sizes, 1)))
    return [
        (np.concatenate(above), np.concatenate(below), np.concatenate(weight))
        for above, below, weight in (zip(*pieces, strict=True) for pieces in merged)
    ]


def _merge(
    part: Weighted, width: float, end: float, low: float, high: float, sizes: int
) -> Weighted:
    """Replace relevant items as in :func:`merge_laws` if p, the share of items above, is moderate.

    Moderate means ``end`` <= p <= 1 - ``end``. The items are interpolated separately in intervals
    (panels) of arcsin(sqrt(p)); there are ``width`` panels per radian. ``sizes`` is the number of
    interpolation points over 1/N, where N is the number of negatives. 1/N lies between ``low`` and
    ``high``. Both are 0 if the probabilities do not depend on N.
    """
    above, below, weight = part
    first = np.arcsin(np.sqrt(min(end, 0.5)))
    whole = np.pi / 2 - 2 * first
    panels, most = int(np.ceil(whole * width)), POINTS * sizes
    if not panels or len(weight) <= most:
        return part
    angle = (np.arctan2(np.sqrt(above), np.sqrt(below)) - first) * (panels / whole)
    panel = np.minimum(angle.astype(np.int64), panels - 1)
    panel[(angle < 0) | (angle > panels)] = panels  # p is not in end..1 - end: not replaced
    count = np.bincount(panel, minlength=panels + 1)
    count[panels] = 0
    used = np.flatnonzero(count > most)
    if not len(used):
        return part
    sums = np.zeros((len(used), POINTS, sizes))
    order = np.argsort(panel, kind="stable")
    starts = np.searchsorted(panel[order], used)
    for i, (start, rows) in enumerate(zip(starts.tolist(), count[used].tolist(), strict=True)):
        for begin in range(start, start + rows, CHUNK // POINTS):
            at = order[begin : min(begin + CHUNK // POINTS, start + rows)]
            across = lagrange(2 * (angle[at] - used[i]) - 1, POINTS)
            along = np.ones((len(at), 1))
            if sizes > 1:
                size = 1 / (above[at] + below[at])
                along = lagrange((2 * size - low - high) / (high - low), sizes)
            sums[i] += across.T @ (along * weight[at, None])
    points = (used[:, None] + (1 + chebyshev(POINTS)) / 2) * (whole / panels) + first
    total = 1 / ((low + high) / 2 + (high - low) / 2 * chebyshev(sizes)) if high else np.ones(1)
    left = ~np.isin(panel, used)
    return (
        np.r_[above[left], np.multiply.outer(np.sin(points) ** 2, total).ravel()],
        np.r_[below[left], np.multiply.outer(np.cos(points) ** 2, total).ravel()],
        np.r_[weight[left], sums.ravel()],
    )


def weighted_pmf_sums(scheme: str, m: int, parts: Sequence[Weighted]) -> Floats:
    """Return weighted sums of distributions of sampled ranks: shape (parts, m + 1).

    Each of the ``parts`` holds arrays (above, below, weight) over relevant items, and gives one
    sum. A pair (above, below) that occurs in several parts is evaluated once.
    """
    if (sizes := SCHEMES[scheme].sizes) is not None:
        return _mixed_sums(sizes, m, parts)
    parts = merge_laws(scheme, m, parts)
    both = np.concatenate([above + 1j * below for above, below, _ in parts])
    distinct, row = np.unique(both, return_inverse=True)
    owner = np.repeat(np.arange(len(parts)), [len(weight) for *_, weight in parts])
    weight = np.concatenate([weight for *_, weight in parts])
    shares = csc_array((weight, (owner, row)), shape=(len(parts), len(distinct)))
    total = np.zeros((len(parts), m + 1))
    width = 2 * int(SIGMAS * np.sqrt(m * 0.25) + 3 * SIGMAS)
    for rows in blocks(len(distinct), CHUNK, m + 1):
        above, below = distinct[rows].real, distinct[rows].imag
        if width > m / 2:
            p = pmf(scheme, m, above, below)
        else:
            first, window = pmf_window(scheme, m, above, below, width)
            p = np.zeros((len(above), m + 1))
            np.put_along_axis(p, first[:, None] + np.arange(width), window, axis=1)
        total += shares[:, rows] @ p
    return total


def _mixed_sums(sizes: Sizes, m: int, parts: Sequence[Weighted]) -> Floats:
    """Return :func:`weighted_pmf_sums` if the number of different drawn items varies.

    The distribution of this number is a smooth function of the number N of negatives. To save time,
    it is computed only for a few N (Chebyshev points), and interpolated for other N.
    """
    total = np.zeros((len(parts), m + 1))
    pools = [np.rint(above + below).astype(np.int64) for above, below, _ in parts]
    for top in np.unique(np.minimum(np.concatenate(pools), m)).tolist():
        some = [np.flatnonzero(np.minimum(pool, m) == top) for pool in pools]
        numbers = np.unique(np.concatenate([x[at] for x, at in zip(pools, some, strict=True)]))
        left, vectors = interpolated(sizes, m, numbers)
        for row, ((above, below, weight), pool, at) in enumerate(
            zip(parts, pools, some, strict=True)
        ):
            shares = weight[at, None] * left[np.searchsorted(numbers, pool[at])]
            chunks = pmf_chunks(DEFAULT_SCHEME, top, above[at], below[at])
            if laws := [shares[x].T @ p for x, p in chunks]:
                total[row, : top + 1] += over_sizes(np.sum(laws, axis=0), vectors).sum(axis=0)
    return total
