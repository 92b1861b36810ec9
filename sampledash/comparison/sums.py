"""Distributions of sums of independent terms: exact, on a grid, or by characteristic functions."""

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from math import comb, gcd, lcm
from typing import NamedTuple

import numpy as np

from sampledash.comparison.order import TIED
from sampledash.types import Complex, Floats, Ints, blocks

Law = tuple[Floats, Floats]  # increasing values, and the probability of each value
# Indices of items, their possible values, and the probability of each value for each item.
ValueLaws = tuple[Ints, Floats, Floats]
NOTHING = 1e-18  # probabilities up to this are left out of a convolution
_TOGETHER = 64  # distributions up to this length are convolved in pairs, all pairs at once
_WEIGHTLESS = 1e-25  # smaller probabilities at the ends of a distribution are dropped
# ``convolved`` computes the distribution of a sum. It returns None if the sum has more than
# _SUPPORT distinct values, or more than _JOINED values before equal values are joined.
_SUPPORT = 5_000
_JOINED = 500_000
# If a sum has too many values for an exact convolution, its distribution is computed on a grid of
# this many points.
_CELLS = 1 << 15
_BLOCK = 1 << 21  # number of matrix entries in memory at a time
# Number of frequencies in a block. For values x and frequencies f, exp(i x f) is computed as the
# product of a factor for the block of f and a factor for the position of f in its block.
_STEPS = 64


class Counts(NamedTuple):
    """Distribution of an integer: ``mass[i]`` is the probability of ``first + i``."""

    first: int
    mass: Floats


def convolved(parts: Sequence[tuple[Floats, Floats, int]], terms: int) -> Law | None:
    """Return the distribution of a sum of independent terms; None if it has too many values.

    ``parts`` holds (values, probabilities, count) for each distinct term, and ``terms`` is the sum
    of all counts.
    """
    # If the values are not evenly spaced, hardly any two sums are equal. The number of distinct
    # sums is then about the number of multisets of ``terms`` elements out of ``most`` values.
    steps = np.diff(np.unique(np.concatenate([support for support, _, _ in parts])))
    most = max(len(support) for support, _, _ in parts)
    apart = len(steps) and np.ptp(steps) > 1e-9 * steps.max()
    if apart and comb(most + terms - 1, terms) > _JOINED:
        return None
    values, mass = np.zeros(1), np.ones(1)
    for support, p, times in parts:
        for _ in range(times):
            if len(values) > _SUPPORT or len(values) * len(support) > _JOINED:
                return None
            sums, chances = np.add.outer(values, support), np.multiply.outer(mass, p)
            values, mass = merged_values(sums.ravel(), chances.ravel())
    return values, mass


def merged_values(values: Floats, mass: Floats) -> Law:
    """Return a distribution with sorted values; join equal values, and drop improbable values."""
    keep = mass > NOTHING
    values, mass = values[keep], mass[keep]
    order = np.argsort(values)
    values, mass = values[order], mass[order]
    width = TIED * max(1.0, float(np.abs(values).max()))
    group = np.r_[0, np.cumsum(np.diff(values) > width)]
    total = np.asarray(np.bincount(group, weights=mass), dtype=np.float64)
    return np.bincount(group, weights=mass * values) / total, total


def on_grid(parts: Sequence[tuple[Floats, Floats, int]]) -> Law:
    """Return the distribution of a sum of independent terms on a grid, by Fourier transforms.

    ``parts`` holds (values, probabilities, count) for each distinct term. The probability of each
    value of a term is split between the two neighbouring grid points.
    """
    low = sum(times * float(support.min()) for support, _, times in parts)
    high = sum(times * float(support.max()) for support, _, times in parts)
    step = (high - low) / (_CELLS - 1)
    product = np.ones(_CELLS + 1, dtype=np.complex128)
    for support, p, times in parts:
        place = (support - support.min()) / step
        cell = np.minimum(place.astype(np.int64), _CELLS - 1)
        split = np.bincount(cell, p * (cell + 1 - place), 2 * _CELLS)
        split += np.bincount(cell + 1, p * (place - cell), 2 * _CELLS)
        product *= np.fft.rfft(split) ** times
    mass = np.fft.irfft(product)[:_CELLS]
    weighs = mass > 1e-15  # smaller probabilities are rounding errors of the Fourier transform
    values = np.asarray(low + step * np.arange(_CELLS))
    return values[weighs], np.asarray(mass[weighs] / mass[weighs].sum())


def lattice(worths: Sequence[Floats] | Floats) -> tuple[float, list[int]] | None:
    """Return the largest unit of which all numbers in ``worths`` are multiples, and the multiples.

    There is one multiple for each entry of ``worths``. The numbers of an entry should be equal,
    such as what the mean gains by the first, the second, ... hit of an instance. Return None if
    they are not equal, if only some entries are above 0, or if the ratio of an entry to the first
    entry is no fraction with a denominator up to 10,000.
    """
    ends = np.array([[worth.min(), worth.max()] for worth in worths])
    if np.any(np.ptp(ends, axis=1) > 1e-12 * ends.max()) or (ends.min() <= 0 < ends.max()):
        return None
    if ends.max() == 0:
        return 1.0, [0] * len(worths)
    ratios = [Fraction(value / ends[0, 0]).limit_denominator(10_000) for value in ends[:, 0]]
    if not np.allclose(ends[:, 0], [float(x) * ends[0, 0] for x in ratios], rtol=1e-12):
        return None
    common = lcm(*(x.denominator for x in ratios))
    steps = [int(x * common) for x in ratios]
    shared = gcd(*steps)
    return float(ends[0, 0]) / common * shared, [step // shared for step in steps]


def sum_of_counts(laws: Floats) -> Counts:
    """Return the distribution of a sum of independent counts, by pairwise convolution.

    A row of ``laws`` holds the probabilities of 0, 1, ... for one of these counts.

    Only positive terms are added, so that small probabilities stay accurate; with a Fourier
    transform, all probabilities would have errors of 1e-16.
    """
    laws = laws.T.copy()
    # While there are many short distributions, convolve all pairs of them at once.
    while len(laws) <= _TOGETHER < 2 * laws.shape[1]:
        if laws.shape[1] % 2:
            laws = np.column_stack([laws, np.eye(len(laws), 1)])
        a, b = np.split(laws, 2, axis=1)
        laws = np.zeros((2 * len(a) - 1, a.shape[1]))
        for i, p in enumerate(a):
            laws[i : i + len(b)] += p * b
    parts = [Counts(0, law) for law in laws.T]
    while len(parts) > 1:
        odd = [parts.pop()] if len(parts) % 2 else []
        parts = [
            _trimmed(a.first + b.first, np.convolve(a.mass, b.mass))
            for a, b in zip(parts[::2], parts[1::2], strict=True)
        ] + odd
    return parts[0]


def _trimmed(first: int, mass: Floats) -> Counts:
    """Return a distribution without negligible probabilities at both ends."""
    weighs = np.flatnonzero(mass > _WEIGHTLESS)
    return Counts(first + int(weighs[0]), mass[weighs[0] : weighs[-1] + 1])


def plus_multiple(total: Counts, law: Counts, step: int) -> Counts:
    """Return the distribution of X + ``step`` Y for independent counts X ~ total and Y ~ law."""
    reach = step * (len(law.mass) - 1) + 1
    mass = np.zeros(len(total.mass) + reach - 1)
    # Loop over the shorter of the two distributions, and add shifted copies of the longer one.
    if step and len(total.mass) < len(law.mass):
        for i, p in enumerate(total.mass.tolist()):
            mass[i : i + reach : step] += p * law.mass
    else:
        for i, p in enumerate(law.mass.tolist()):
            mass[i * step : i * step + len(total.mass)] += p * total.mass
    return Counts(total.first + step * law.first, mass)


def item_waves(laws: Iterable[ValueLaws], frequencies: Floats) -> Iterator[tuple[Ints, Complex]]:
    """Yield the characteristic functions of relevant items' sampled values, some items at a time.

    Each yielded tuple holds the indices of some items, and the characteristic functions of their
    values, (items, frequencies).
    """
    known, waves = None, np.empty(0)
    for some, values, p in laws:
        if values is not known:
            known, waves = values, waves_of(values, frequencies).view(np.float64)
        for rows in blocks(len(some), _BLOCK, 2 * len(frequencies)):
            yield some[rows], (p[rows] @ waves).view(np.complex128)


def waves_of(values: Floats, frequencies: Floats) -> Complex:
    """Return exp(i value frequency) for evenly spaced frequencies: (values, frequencies).

    Frequencies are divided into blocks of _STEPS. An entry is the product of a factor for the first
    frequency of the block and a factor for the distance from this first frequency.
    """
    within = frequencies[:_STEPS] - frequencies[0]
    starts = np.exp(1j * np.multiply.outer(values, frequencies[::_STEPS]))
    steps = np.exp(1j * np.multiply.outer(values, within))
    every = (starts[:, :, None] * steps[:, None, :]).reshape(len(values), -1)
    return np.ascontiguousarray(every[:, : len(frequencies)])
