r"""Sampled ranks if negatives are drawn by weight without replacement, one after the other.

Each draw takes one of the items left, with a probability proportional to its weight. Give each item
a clock that rings once, after an exponential time whose rate is the item's weight :math:`w_i`. The
clocks are independent. The first m items whose clocks ring are distributed as m such draws. By time
t, the clock of item i has rung with probability :math:`1 - e^{-w_i t}`.

Of the items whose clocks have rung by time t, A are above the relevant item, D are tied with it,
and B are below it. R is the total weight of the items whose clocks have not rung yet, and thus the
rate of the next ring. Of the m drawn items, :math:`A_m` are above the relevant item, and
:math:`D_m` are tied with it. If there are more than m items, ring m + 1 comes exactly once. If m
clocks have rung by time t, it comes between t and t + dt with probability R dt, and the m drawn
items are those counted by A, D and B. Therefore

.. math:: P(A_m = a, D_m = d) = \int_0^\infty E[R;\, A = a, D = d, B = m - a - d]\, dt.

Here, E[R; ...] is the mean of R, where R counts as 0 unless the three equations hold. At a fixed t,
A, D and B are independent. Each of them is a sum of binomial numbers, one for each class of items
of equal weight. The distribution of such a sum is computed from its characteristic function, and
the integral by the trapezoidal rule over log t.
"""

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import ArrayLike

from sampledash import checks, strata
from sampledash.types import Floats, Ints

#: Indices on the second axis of the array ``classes`` of :func:`law`. The array describes sets of
#: negatives of equal sampling weight. For each relevant item and each set, it holds the number of
#: negatives above the item, the number tied with it, the size of the set, and the weight.
ABOVE, TIED, NEGATIVES, WEIGHT = range(4)
_RATIO = 8  # largest ratio of two weights above 0 in the coordinates of the interpolation
_NODES = 64  # largest number of classes of items by weight; items of weight 0 are an extra class
_NOTHING = 1e-17  # smaller probabilities are rounding errors of the Fourier transforms
_SMALL = 500  # largest number of probabilities that are computed with an error below 1e-12
# Settings of the integral over log t (module docstring): _FINE for few probabilities, _COARSE for
# many, with an error of about 1e-6. A setting has three numbers: the distance of neighbouring
# nodes, in standard deviations; times are left out if the m-th clock rings earlier, or later, with
# a probability below exp(-limit), ``limit`` being the second number; and the largest distance, in
# standard deviations, of the number of items whose clocks have rung by time t from its mean.
_FINE, _COARSE = (0.25, 36.0, 9.0), (1.4, 10.0, 6.5)
_SEARCHES, _TIMES = 3, 32  # searches for these times, each among so many times
_GAP = 0.3  # largest distance of nodes: the integral for a single item has an error of 1e-14
_TINY = 1e-250  # least expected number of clocks; its logarithm is defined
_NARROW = 0.02  # smallest standard deviation of the log time of the m-th ring, times sqrt(m)
_ROWS = 512  # largest number of instances that are computed together
_SPREAD = 1e-100  # smallest ratio of two weights above 0
_ROUNDED = 1e-4  # allowed relative error of sums, because given numbers may have single precision


def parts_of(weights: ArrayLike) -> tuple[Ints, Floats, Floats]:
    """Divide items into classes by sampling weight.

    If there are up to 64 different weights above 0, each weight is a class, and an item belongs to
    one class. If there are more weights, the weights of up to 64 items are the classes. Cubic
    interpolation then divides each other item over the four classes around its weight: the four
    parts of the item add up to 1, and may be negative. This changes Recall@10 with negatives drawn
    by popularity on MovieLens 1M by less than 0.00001, because the distribution of a sampled rank
    depends smoothly on the weights. On 3,706 items with a Zipf curve, probabilities change by less
    than 0.000002 with popularity^1, by 0.0005 with ^2, and by 0.02 with ^3. Items of weight 0 have
    their own class, the last.

    Returns
    -------
    Three arrays: the index of each item's first class, (items,); the parts of each item; and the
    weights of the classes. The parts have shape (items, 1), or (items, 4) if items are divided over
    four classes: these are the item's first class and the three after it.
    """
    weight = checks.numbers("weights", weights)
    if (i := checks.first(weight < 0)) is not None or not weight.any():
        wrong = "are all 0" if i is None else f"hold {weight[i]:g} for item {i}"
        raise ValueError(f"weights {wrong}: give each item a weight of at least 0")
    positive = weight > 0
    by_class = np.unique(weight[positive])
    # The largest x = weight**power is at most _RATIO times the smallest x above 0.
    power = min(0.25, np.log(_RATIO) / max(np.log(by_class[-1]) - np.log(by_class[0]), 1.0))
    x, nodes, parts = weight**power, by_class**power, np.ones((len(weight), 1))
    if interpolated := len(nodes) > _NODES:
        # Nodes are weights of items, so that an item without near neighbours is not divided. The
        # grid of which the nearest weights are chosen is as fine as the number of nodes allows.
        for size in range(4 * _NODES, 0, -4):
            grid = np.linspace(nodes[0], nodes[-1], size)
            chosen = np.unique(np.abs(nodes - grid[:, None]).argmin(axis=1))
            if len(chosen) <= _NODES:
                break
        # The weights have 8 digits, so that they are short in the files that store ranks.
        by_class = np.array([float(f"{x:.8g}") for x in by_class[chosen]])
        nodes = nodes[chosen]
    first = np.clip(np.searchsorted(nodes, x, side="right") - 1, 0, len(nodes) - 1)
    if interpolated:
        first = np.clip(first - 1, 0, len(nodes) - 4)
        near = [nodes[first + i] for i in range(4)]
        factors = [
            [(x - near[i]) / (near[j] - near[i]) for i in range(4) if i != j] for j in range(4)
        ]
        parts = np.prod(factors, axis=1).T
    if np.all(positive):
        return first, parts, by_class
    first[~positive], parts[~positive] = len(nodes), np.eye(1, parts.shape[1])
    return first, parts, np.r_[by_class, 0.0]


def classes_of(weights: ArrayLike) -> tuple[Floats, Floats]:
    """Return which part of each item is in each class of sampling weight, (items, classes).

    Also return the weights of the classes. :func:`parts_of` may divide an item over classes.
    """
    first, parts, weight = parts_of(weights)
    classes = np.zeros((len(first), len(weight) + parts.shape[1]))
    classes[np.arange(len(first))[:, None], first[:, None] + np.arange(parts.shape[1])] = parts
    return classes[:, : len(weight)], weight


def check_classes(what: str, given: ArrayLike, sums: Ints, *, whole: bool) -> Floats:
    """Return ``given`` as the array ``classes`` of :func:`law`; raise ValueError if it is wrong.

    A class is a stratum, or a set of negatives of equal sampling weight. For each relevant item,
    ``sums`` holds three numbers of negatives: above it, tied with it and in all, shape (3, rows).
    The numbers of the classes must add up to these. With ``whole``, all numbers must be whole
    numbers or infinite.
    """
    classes, rows = checks.array_of(what, given), sums.shape[1]
    if classes.ndim != 3 or classes.shape[:2] != (rows, 4) or classes.dtype.kind not in "iuf":
        parts = "above, tied, in all, and the weight of each class or the number drawn"
        needed = f"give numbers ({rows}, 4, classes), {parts}, a row per relevant item"
        raise ValueError(f"{what} has shape {classes.shape}: {needed}")
    array = classes.astype(np.float64)
    for part, (name, number) in enumerate(zip(("above", "tied", "in all"), sums, strict=True)):
        counts = array[:, part]
        near = np.abs(counts.sum(axis=1) - number) <= _ROUNDED * (1 + number)
        if not np.all(near):
            row = int(np.argmin(near))
            total = f"the numbers {name} of row {row} add up to {counts[row].sum():g}"
            raise ValueError(f"{what}: {total}, but its rank, ties and n say {number[row]}")
    # Parts of items that are divided over classes (:func:`parts_of`) may be below 0.
    counts = array[:, :WEIGHT]
    below = counts[:, NEGATIVES] - counts[:, ABOVE] - counts[:, TIED]
    low = np.minimum(counts.min(axis=(1, 2)), below.min(axis=1))
    if (i := checks.first((low < 0) & (counts == np.rint(counts)).all(axis=(1, 2)))) is not None:
        raise ValueError(f"{what}: row {i}: give above + tied <= in all, and none below 0")
    last = array[:, WEIGHT]
    if (i := checks.first(~((last >= 0).all(axis=1) & last.any(axis=1)))) is not None:
        needed = "give numbers of at least 0, and one above 0"
        raise ValueError(f"{what}: the last part of row {i} holds {last[i].min():g}: {needed}")
    low, high = last[last > 0].min(), last.max()
    if not whole and low < high * _SPREAD:
        needed = f"give weights of which none is below {_SPREAD:g} of the largest, or 0"
        raise ValueError(f"{what}: the weights {low:g} and {high:g} are too far apart: {needed}")
    if whole and np.any(odd := array != np.rint(array)):
        needed = "give whole numbers of items, and inf where a stratum is drawn whole"
        raise ValueError(f"{what} hold {array[odd][0]:g}: {needed}")
    array.setflags(write=False)
    return array


def law(classes: Floats, m: int, *, small: int = _SMALL) -> Floats:
    """Return the distribution of the number of sampled negatives above the relevant item.

    The result has shape (instances, m + 1).

    Parameters
    ----------
    classes
        For each instance and class of negatives of equal weight, four numbers: the number of
        negatives above the relevant item, the number tied with it, the number of all negatives, and
        the weight: (instances, 4, classes). Tied items are in random order. Items of weight 0 are
        drawn after all others.
    m
        Number of sampled negatives. If an instance has fewer negatives, all of them are drawn.
    small
        If the result has at most this many entries, they are computed slowly, with errors below
        1e-12. Otherwise the errors are about 1e-6.
    """
    weight, positive = classes[:, WEIGHT], classes[:, WEIGHT] > 0
    first, last = (classes[:, :WEIGHT] * x[:, None] for x in (positive, ~positive))
    count, rows = np.rint(first[:, NEGATIVES].sum(axis=1)), np.zeros((len(classes), m + 1))
    every, s = np.rint(classes[:, NEGATIVES].sum(axis=1)) <= m, np.arange(m + 1)
    low, high = (np.rint(classes[every, :parts].sum(axis=(1, 2)))[:, None] for parts in (1, 2))
    rows[every] = ((s >= low) & (s <= high)) / (high - low + 1)
    # Items of weight 0 are drawn, uniformly, only after all items of positive weight. There are
    # then two strata, and all items of the first stratum are drawn.
    if np.any(whole := (count <= m) & ~every):
        parts = np.rint(np.stack([x[whole].sum(axis=2) for x in (first, last)], axis=2))
        drawn = np.stack([count, m - count], axis=1)[whole, None]
        rows[whole] = strata.law(np.concatenate([parts, drawn], axis=1), m)
    above, tied, negatives = first.transpose(1, 0, 2)
    # Instances whose negatives have the same set of weights are computed together, at the same
    # nodes of the integral. Instances with ties are computed separately: they take most of the
    # time.
    has_ties = np.rint(tied.sum(axis=1)) > 0
    kinds: dict[tuple[bytes, bool], list[int]] = {}
    for i in np.flatnonzero(count > m).tolist():
        kinds.setdefault((weight[i].tobytes(), bool(has_ties[i])), []).append(i)
    for (_, ties), some in kinds.items():
        used = weight[some[0]] > 0
        parts = [above[some], *[tied[some]] * ties, (negatives - above - tied)[some]]
        scaled = weight[some[0]][used] / weight[some[0]][used].min()
        grid = _FINE if rows.size <= small else _COARSE
        rows[some] = _laws([x[:, used] for x in parts], scaled, m, grid)
    return rows


def _laws(
    parts: Sequence[Floats], weight: Floats, m: int, grid: tuple[float, float, float]
) -> Floats:
    """Return :func:`law` for instances with more than m negatives and the same set of weights.

    ``parts`` holds two or three arrays, (instances, weights): the number of negatives of each
    weight that are above the relevant item, tied with it (only if there are ties) and below it.
    ``grid`` is _FINE or _COARSE.
    """
    step, limit, wide = grid
    first, middle, last, width = _times(np.sum(parts, axis=0), weight, m, limit)
    # Sort the instances by the expected number of drawn items above the relevant item. Similar
    # instances are then in one block, and need only short Fourier transforms.
    order = np.argsort((parts[0] * -np.expm1(-weight * np.exp(middle)[:, None])).sum(axis=1))
    first, last, parts = first[order], last[order], [x[order] for x in parts]
    rows, gap = np.zeros((len(middle), m + 1)), min(step * width, _GAP)
    for node in gap * np.arange(first.min() // gap, last.max() // gap + 2):
        near = np.flatnonzero((node >= first) & (node <= last))
        for start in range(0, len(near), _ROWS):
            at = near[start : start + _ROWS]
            rung = [_rung(x[at], weight, np.exp(node), m, wide) for x in parts]
            for left in range(len(rung)):
                # Each item has a clock that rings after a random time. The integrand contains R,
                # the total weight of the items whose clocks have not rung. R is a sum of up to
                # three terms: the weights of such items above, tied and below. Each step of this
                # loop adds one term.
                above, *tied, below = (x[int(i == left)] for i, x in enumerate(rung))
                both = _with_ties(above, tied[0], below) if tied else above * below[:, ::-1]
                rows[at] += np.exp(node) * both
    np.maximum(rows, 0, out=rows)  # rounding and interpolation can give probabilities below 0
    rows /= rows.sum(axis=1, keepdims=True)
    return np.asarray(rows[np.argsort(order)])


def _times(
    negatives: Floats, weight: Floats, m: int, limit: float
) -> tuple[Floats, Floats, Floats, float]:
    r"""Return the times, as logarithms, by which the m-th of the items' clocks may have rung.

    Each item has a clock that rings after an exponential time, whose rate is the item's weight. By
    time t, the clocks of a items are expected to have rung, and the clocks of b items have not. The
    probability that the m-th clock rings much earlier or later is at most :math:`e^{-D}`, with
    :math:`D = m \log(m / a) + (N - m) \log((N - m) / b)` and :math:`N = a + b` (Hoeffding 1956).
    If the bound of Bernstein (1924) is closer, D is the exponent of this bound.
    Three arrays give for each instance the first time at which D is below ``limit``, the time of
    the smallest D, and the last time. A number gives the smallest standard deviation, in log time,
    of the m-th ring.
    """
    total = np.rint(negatives.sum(axis=1))[:, None]
    first, last = -limit - np.log((negatives @ weight).max()), np.log(limit + np.log(total.max()))
    last -= np.log(weight.min())
    for _ in range(_SEARCHES):
        times = np.linspace(first, last, _TIMES)
        rates = np.exp(times) * weight[:, None]
        p, q = -np.expm1(-rates), np.exp(-rates)
        rung, left = (np.maximum(negatives @ x, _TINY) for x in (p, q))
        variance, away = np.maximum(negatives @ (p * q), 0), np.abs(rung - m)
        distance = m * np.log(m / rung) + (total - m) * np.log((total - m) / left)
        distance = np.maximum(distance, away**2 / (variance + away / 3 + _TINY) / 2)
        closest = distance.argmin(axis=1)
        near = distance < limit
        near[np.arange(len(near)), closest] = True
        low = np.maximum(near.argmax(axis=1) - 1, 0)
        high = np.minimum(_TIMES - near[:, ::-1].argmax(axis=1), _TIMES - 1)
        first, last = times[low.min()], times[high.max()]
    # The tails may be narrower, but are negligible. If items are divided over classes, by
    # ``parts_of``, the variance of so few clocks can be below 0.
    near = (near & (distance < limit / 4)) | (np.arange(_TIMES) == closest[:, None])
    near &= variance > 0
    width = np.sqrt(variance[near]) / np.abs((negatives @ (rates * q))[near])
    narrow = max(float(width.min(initial=1.0)), _NARROW / np.sqrt(m))
    return times[low], times[closest], times[high], narrow


def _rung(
    counts: Floats, weight: Floats, time: float, m: int, wide: float
) -> tuple[Floats, Floats]:
    """Return the probability that the clocks of s items have rung by ``time``, for s = 0..m.

    Each item has a clock that rings after an exponential time, whose rate is the item's weight.
    Also return the mean of the total weight of the items whose clocks have not rung. In this mean,
    the weight counts as 0 unless exactly s clocks have rung. Both results have shape (rows, m + 1).
    ``counts`` is the number of items of each weight, (rows, weights).
    """
    p, q = -np.expm1(-weight * time), np.exp(-weight * time)
    # It is very improbable that the number of items whose clocks have rung is outside low..most:
    # such numbers are left out. The characteristic function at ``size`` points determines the
    # probabilities of the numbers low..most. At angle x, the function is at most
    # exp(-variance (1 - cos x)): angles at which it is negligible are left out too.
    mean, variance = counts @ p, np.maximum(counts @ (p * q), 0)
    reach = wide * np.sqrt(variance + 1)
    low = min(max(int(np.min(mean - reach)), 0), m)
    most = min(int(np.max(mean + reach)), int(np.rint(counts.sum(axis=1)).max()))
    size = scipy.fft.next_fast_len(max(most - low, 0) + 1, real=True)
    angles = 2 * np.pi * np.arange(size // 2 + 1) / size
    angles = angles[np.min(variance) * (1 - np.cos(angles)) <= wide**2 / 2]
    factors = q[:, None] + p[:, None] * np.exp(-1j * angles)
    factors += 1e-300  # because the logarithm of 0 is not defined
    # A matrix product with real and imaginary parts as separate columns is three times as fast.
    # Real functions are several times as fast as complex logarithms and exponentials.
    logs = (np.log(np.abs(factors)) + 1j * np.angle(factors)).view(np.float64)
    sums = ((weight * q)[:, None] / factors).view(np.float64)
    # Here exp(x + iy) is computed as exp(x) (1 + it) / (1 - it) with t = tan(y / 2). The added term
    # i low angles shifts the numbers low..most to 0..most - low.
    exponents = (counts @ logs).view(np.complex128) + 1j * low * angles
    half = 1 + 1j * np.tan(exponents.imag / 2)
    waves = np.exp(exponents.real) * half / half.conj()
    rest = waves * (counts @ sums).view(np.complex128)
    result = np.zeros((2, len(counts), m + 1))
    for x, transform in zip(result, (waves, rest), strict=True):
        x[:, low : low + size] = scipy.fft.irfft(transform, size)[:, : m + 1 - low]
    return result[0], result[1]


def _with_ties(above: Floats, tied: Floats, below: Floats) -> Floats:
    """Return the distribution of the number of drawn items that come above the relevant item.

    The arguments are distributions on 0..m of the numbers of drawn items that are ranked above the
    relevant item, tied with it and below it; the three numbers add up to m. Tied items are put in
    random order, so that 0, 1, ... or all of them come above, with equal probability.
    """
    # A row for each number of drawn items: slices are then contiguous, and sums faster.
    above, tied, below = above.T.copy(), tied.T.copy(), below[:, ::-1].T.copy()
    places = len(above)
    changes = np.zeros((places + 1, above.shape[1]))
    for d in np.flatnonzero(np.any(tied > _NOTHING, axis=1)).tolist():
        part = above[: places - d] * below[d:]
        part *= tied[d] / (d + 1)
        changes[: places - d] += part
        changes[d + 1 :] -= part
    return np.cumsum(changes[:-1], axis=0).T
