"""Sums of a function over all true ranks, at a cost that does not depend on n.

The ranks are divided into panels on which the summed function is smooth. On each panel, a Gauss
rule for *sums over integers* (from the discrete Chebyshev polynomials) with k nodes is exact for
polynomials up to degree 2k - 1. A Gauss-Legendre rule, which is for integrals, would have errors in
the third digit.

Let p be the share of the items that are above the relevant item. As a function of arcsin(sqrt(p)),
the probability of a sampled rank is a bell-shaped curve of width 1/(2 sqrt(m)). For sums of such
probabilities, or of products of two of them, long panels need at least three nodes on this width. A
prior learned from sampled ranks can be steeper than this curve. Means over such a prior have errors
up to 1e-7 with three nodes on this width, and below 1e-14 with four times as many.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh_tridiagonal

from sampledash.sampling import Sampling
from sampledash.types import Floats, Ints

SIZE = 16  # default number of nodes of a panel (range of ranks); shorter panels use every rank
HEAD = 64  # this many top ranks are summed one by one, because metrics are steepest there
_DIRECT = 1_000  # largest number of candidates for which all ranks are summed one by one


@dataclass(frozen=True)
class Rule:
    """Limits on the length and number of nodes of the panels (ranges of ranks) of a quadrature."""

    size: int  # largest number of nodes of a panel
    #: Within a panel, arcsin(sqrt(p)) grows by at most ``width`` / sqrt(m), where p is the share of
    #: the items that are above the relevant item.
    width: float
    steep: int  # largest ratio of the last rank of a panel to its first rank
    #: Whether panels at the end of the list must be as short as panels at the top.
    mirrored: bool = False


LAW = Rule(36, 6.0, 12)  # for sums of P(sampled rank | true rank) under a uniform scheme
ODDS = Rule(SIZE, 1.0, 2)  # for sums of P(sampled rank | true rank) under the popularity scheme
DENSITY = Rule(SIZE, 0.5, 2, mirrored=True)  # for estimating a distribution of true ranks


def off_diagonal(length: int, size: int) -> Floats:
    """Return the off-diagonal of the Jacobi matrix of discrete Chebyshev polynomials.

    The polynomials are orthogonal on ``length`` integers. The matrix has ``size`` rows, and its
    eigenvalues are the nodes of the Gauss rule.
    """
    k = np.arange(1.0, size)
    return k * np.sqrt((float(length) ** 2 - k**2) / (4 * (4 * k**2 - 1)))


@lru_cache(maxsize=4096)
def _gauss(length: int, size: int) -> tuple[Floats, Floats]:
    """Return nodes and weights of the Gauss rule on ``length`` integers centred at 0."""
    nodes, vectors = eigh_tridiagonal(np.zeros(size), off_diagonal(length, size))
    return nodes, length * vectors[0] ** 2


def panels(first: ArrayLike, end: ArrayLike, size: int = SIZE) -> tuple[Floats, Floats, Ints]:
    """Return nodes and weights for sums of a smooth function over each panel first..end - 1.

    A panel has at most ``size`` nodes. The third array holds the index of each panel's first node.
    """
    first, length = np.asarray(first, dtype=np.int64), np.subtract(end, first)
    count = np.minimum(length, size)
    start = np.cumsum(count) - count
    nodes = np.repeat(first - start, count) + np.arange(count.sum(), dtype=np.float64)
    weights = np.ones(len(nodes))
    for i in np.flatnonzero(length > size).tolist():
        panel = slice(start[i], start[i] + size)
        about, weights[panel] = _gauss(int(length[i]), size)
        nodes[panel] = about + (2 * int(first[i]) + int(length[i]) - 1) / 2
    return nodes, weights, start


def mean_nodes(
    first: Ints, last: Ints, end_of: Callable[[Ints, Ints], Ints]
) -> tuple[Ints, Floats, Floats]:
    """Return quadrature nodes for the means of a function over the integers first[i]..last[i].

    The integers of each mean are divided into panels, each with its own Gauss rule. ``end_of`` gets
    two arrays with an entry per panel: the index i of the mean, and the panel's first integer. For
    each panel, it returns the last integer that the panel may contain.

    Return three arrays with an entry per node: the index i of the mean, the node, and the weight of
    the node. The weights of a mean sum to 1.
    """
    parts, index, start = [], np.arange(len(first)), first
    while len(index):
        end = np.minimum(end_of(index, start), last[index]) + 1
        parts.append((index, start, end))
        more = end <= last[index]
        index, start = index[more], end[more]
    index, start, end = map(np.concatenate, zip(*parts, strict=True))
    nodes, weights, at = panels(start, end)
    owner = np.repeat(index, np.diff(at, append=len(nodes)))
    return owner, nodes, weights / (last - first + 1)[owner]


def reach(first: ArrayLike, total: ArrayLike, width: float, odds: float = 1.0) -> Ints:
    """Return the last number of the quadrature panel (range of numbers) that begins at ``first``.

    The numbers count the items above a relevant item. Within the panel, arcsin(sqrt(p)) grows by at
    most ``width``, where p is the share of the sampling weight above the relevant item. Of the
    ``total`` items, each item above the relevant item has weight ``odds``, each other item 1.
    """
    # Compute arcsin(sqrt(p)) by arctan2, because a rounding error may make p larger than 1.
    angle = np.arctan2(np.sqrt(np.multiply(odds, first)), np.sqrt(np.subtract(total, first)))
    q = np.sin(np.minimum(angle + width, np.pi / 2)) ** 2
    return np.asarray(total * q / (odds * (1 - q) + q)).astype(np.int64)


def panel_ends(sampling: Sampling, rule: Rule, stops: Iterable[int] = ()) -> list[int]:
    """Divide the true ranks 1..n into panels for quadrature; return the last rank of each panel.

    A panel also ends at each rank in ``stops``, because the summed function may jump there.
    """
    n, m = sampling.n, sampling.m
    head = whole = HEAD
    width = rule.width / np.sqrt(m)
    if sampling.design.once:
        # Near both ends of the list, the distribution of the sampled rank is not smooth, because a
        # sample may contain all items above (or below) the relevant item. A sample contains all of
        # h items with probability about share^h, which is 1e-18 for h = ``whole``. Therefore,
        # ``whole`` ranks at each end are summed one by one.
        share = min(m / (n - 1), 1.0)
        whole = n if share >= 1 else min(n, int(np.ceil(np.log(1e-18) / np.log(share))))
        head = max(HEAD, whole)
        if not rule.mirrored:
            # Without replacement, the standard deviation of the sampled rank is smaller by the
            # factor sqrt(1 - share), and panels must be shorter by the same factor.
            width *= np.sqrt(1 - share)
    if rule.mirrored:
        tail = max(head, n - head)
    else:
        tail = max(head, n - whole) if sampling.design.once else n
    ends: list[int] = []
    first = 0
    for stop in sorted({*stops, min(head, n), min(tail, n), n}):
        if stop <= head or first >= tail:
            ends.extend(range(first + 1, stop + 1))
            first = stop
        while first < stop:
            further = max(first, int(reach(first, n - 1, width, sampling.odds))) + 1
            if rule.mirrored:
                further = min(further, max(first + 1, (first + n) // 2))
            first = min(stop, rule.steep * first + 1, further)
            ends.append(first)
    return ends


def law_nodes(sampling: Sampling, cut: int | None = None) -> tuple[Floats, Floats]:
    """Return nodes and weights for sums over the number of items above the relevant item, 0..n - 1.

    The summed function is a product of a metric and of probabilities of sampled ranks. It may jump
    between ``cut - 1`` and ``cut`` items above. Up to n = 1,000, all of 0..n - 1 are nodes.
    """
    n = sampling.n
    if n <= _DIRECT:
        return np.arange(n, dtype=np.float64), np.ones(n)
    rule = ODDS if sampling.design.weighted else LAW
    ends = panel_ends(sampling, rule, [cut] if cut and cut < n else [])
    nodes, weights, _ = panels([0, *ends[:-1]], ends, rule.size)
    return nodes, weights
