r"""Sampling of negatives: the class :class:`Sampling`, and the distribution of the sampled rank.

Let ``a`` irrelevant items be above the relevant item, and ``b`` below it. The number of drawn items
above the relevant item is the sampled rank minus one. This number has the distribution

* with replacement: Binomial(m, a/(a+b)) (eq. 15 of Krichene & Rendle 2020);
* without replacement: Hypergeometric(a+b, a, m);
* by popularity, with replacement: Binomial(m, q), where q is the share of the sampling weight that
  is above the relevant item;
* if the number D of different drawn items varies: Hypergeometric(a+b, a, D), averaged over D.

Notes
-----
Probabilities are evaluated from the mode outward: ratios p(s+1)/p(s) are multiplied, and the result
is divided by its sum. This is exact to a few units in the last place at any n, whereas formulas
with log-gamma functions lose more digits the larger n is.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sampledash import checks
from sampledash.metrics import Metric
from sampledash.schemes import DEFAULT_SCHEME, SCHEMES, HasScheme, Scheme, check_odds
from sampledash.types import Flags, Floats, Ints, blocks

#: Function of m and an array of numbers of negatives. For each of these numbers, it returns the
#: distribution of the number of different drawn items.
Sizes = Callable[[int, Floats], Floats]

#: Error message with placeholders for m, a text that says how many negatives there are, and the
#: number of negatives, which is the largest m.
TOO_MANY = "m = {} is too large without replacement: {}; take m <= {} or sample with replacement"
CHUNK = 1 << 20  # number of probabilities computed at a time: a few MiB, which fit the CPU cache
#: Numbers of sampled items above the relevant item are left out if they are more than this many
#: standard deviations from the most likely number. Their total probability is below 1e-30.
SIGMAS = 12
_CACHE = 1 << 15  # number of probabilities that are processed together in the CPU cache
POINTS = 24  # interpolation points in each interval of p, the share of items above the relevant one
_NUMPY_URN = 10**9  # numpy's hypergeometric generator requires fewer items than this
#: If there are at least this many relevant items, all with the same m, ``pmf`` calls ``_by_count``,
#: which is then faster than ``_outward``.
_MANY = 400
_NO_WEIGHT = 1e-18  # sample sizes (numbers of different items) with smaller probability are ignored
_TINY = 1e-290  # smaller probabilities are skipped: subnormal numbers are a hundred times slower


@dataclass(frozen=True)
class Sampling(HasScheme):
    """How the negatives of one instance with one relevant item are drawn.

    Attributes
    ----------
    n
        Number of candidates, including the relevant item; 2 to 10^12.
    m
        Number of sampled negatives; at least 1, without replacement at most n - 1.
    scheme
        ``"without-replacement"`` (usual in evaluations), ``"with-replacement"`` (assumed by the
        equations of the paper), ``"collapsed"`` (with replacement, duplicates removed), or
        ``"popularity"`` (with replacement, not uniform).
    odds
        For the scheme ``"popularity"``: how many times as often an item above the relevant item is
        drawn as an item below it. 1 is uniform.

    Notes
    -----
    The odds are a simplified model: real popularity-weighted sampling depends on which items are
    above the relevant item, and the rank alone does not determine these items. If the share of the
    sampling weight above the relevant item is known, give it to a :class:`~sampledash.RankSet` as
    ``mass_above``.

    References
    ----------
    Krichene & Rendle, KDD 2020, section 4.3.
    """

    n: int
    m: int
    scheme: Scheme = DEFAULT_SCHEME
    odds: float = 1.0

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        set_(self, "n", int(checks.candidates("n", self.n, scalar=True)))
        set_(self, "m", checks.integer("m", self.m, low=1))
        checks.choice("scheme", self.scheme, SCHEMES)
        if self.design.by_class is not None:
            needed = f"the {self.design.needs} of a rank set, as ranks_from_scores returns it"
            raise ValueError(f"scheme {self.scheme!r} needs more than a rank: give {needed}")
        set_(self, "odds", checks.real("odds", self.odds, low=0, above=True))
        if self.design.distinct and self.m > self.n - 1:
            least = f"n = {self.n} leaves {self.n - 1} negatives"
            raise ValueError(TOO_MANY.format(self.m, least, self.n - 1))
        check_odds(self.odds, self.scheme)

    def __str__(self) -> str:
        odds = f", odds = {self.odds!r}" if self.design.weighted else ""
        return f"n = {self.n}, m = {self.m}, {self.scheme}{odds}"

    @property
    def drawn(self) -> float:
        """Expected number of ranked negatives: m, or fewer if duplicates are removed."""
        return float(sum(size * chance for size, chance in _sizes(self.scheme, self.m, self.n - 1)))

    def weights(self, rank: ArrayLike) -> tuple[Floats, Floats]:
        """Return the total sampling weights of the items above and below each true rank in 1..n."""
        return self._weights(checks.ranks("rank", rank, np.asarray(self.n)) - 1)

    def _weights(self, above: ArrayLike) -> tuple[Floats, Floats]:
        return item_weights(self.scheme, above, self.n - 1 - np.asarray(above), self.odds)

    def laws(self, above: Floats | Ints) -> Iterator[tuple[slice, Floats]]:
        """Yield, in blocks, the distribution of the sampled rank for each entry of ``above``.

        ``above`` holds numbers of items above the relevant item, which may be fractions.
        """
        return pmf_chunks(self.scheme, self.m, *self._weights(above))

    def share_above(self, rank: ArrayLike) -> Floats:
        """Return, for each rank, the probability that a drawn item is above it.

        This is the argument p of the binomial distribution in eq. 15 of Krichene & Rendle.
        """
        above, below = self.weights(rank)
        return np.asarray(above / (above + below))

    def pmf(self, rank: ArrayLike) -> Floats:
        """Return the distribution of the sampled rank for each true rank, an integer in 1..n.

        ``rank`` has any shape (...). The result has shape (..., m + 1): column t holds
        P(sampled rank = t + 1 | rank).
        """
        above, below = self.weights(rank)
        rows = pmf(self.scheme, self.m, above.ravel(), below.ravel())
        return rows.reshape(*above.shape, self.m + 1)

    def draw_size(self, rank: int, above: int, rng: np.random.Generator) -> int:
        """Draw the sample size, given how many sampled negatives are above the relevant item.

        This number is ``above``; ``rank`` is the true rank of the relevant item. If the sample size
        does not vary, return m.
        """
        if not self.design.varies:
            return self.m
        sizes = [x for x in _sizes(self.scheme, self.m, self.n - 1) if x[0] >= above]
        laws = (pmf(DEFAULT_SCHEME, d, rank - 1, self.n - rank)[0] for d, _ in sizes)
        weight = np.array([p[above] * x for p, (_, x) in zip(laws, sizes, strict=True)])
        return int(rng.choice([d for d, _ in sizes], p=weight / weight.sum()))

    def draw(self, rank: ArrayLike, rng: np.random.Generator) -> Ints:
        """Draw one sampled rank in 1..m+1 for each true rank, in the shape of ``rank``."""
        checks.generator(rng)
        return draw_above(self.scheme, self.m, *self.weights(rank), rng) + 1


def require_sampling(value: object) -> None:
    """Raise ValueError if the value is not a :class:`Sampling`."""
    checks.of_kind("sampling", value, Sampling, "Sampling", "make one with Sampling(n, m)")


def parse_sampling(text: str) -> Sampling:
    """Read a sampling from its text: the inverse of ``str``.

    Examples
    --------
    >>> parse_sampling("n = 10000, m = 99, without-replacement").m
    99
    """
    plain = re.sub(r"\s*([=,])\s*", r"\1", checks.text("sampling", text).strip())
    match = re.fullmatch(r"n=([0-9]+),m=([0-9]+),([a-z-]+)(?:,odds=(\S+))?", plain)
    if match is None:
        example = Sampling(10_000, 99)
        raise ValueError(f"sampling {checks.shown(text)} is not understood: write '{example}'")
    n, m, scheme, odds = match.groups()
    weight = 1.0 if odds is None else checks.written("odds", odds, low=0, above=True)
    return Sampling(int(n), int(m), cast(Scheme, scheme), weight)


def pmf(scheme: str, m: ArrayLike, above: ArrayLike, below: ArrayLike) -> Floats:
    """Return the probabilities that 0..max(m) sampled items are above the relevant item.

    ``above`` and ``below`` describe the items above and below each relevant item: without
    replacement their number, otherwise their total sampling weight; fractions are allowed. The
    result has shape (relevant items, max(m) + 1); rows sum to 1.
    """
    a, b, draws = _columns(m, above, below)
    if (sizes := SCHEMES[scheme].sizes) is not None:
        return _mixed(sizes, draws, a, b)
    mode = modes(scheme, draws, a, b)
    if len(a) >= _MANY and draws.size == 1:
        return _by_count(scheme, int(draws[0, 0]), a[:, 0], b[:, 0], mode[:, 0].astype(np.int64))
    return _outward(scheme, draws, a, b, np.arange(int(draws.max()), dtype=np.float64), mode)


def _mixed(sizes: Sizes, draws: Floats, a: Floats, b: Floats) -> Floats:
    """Return :func:`pmf` for a scheme in which the number of different drawn items varies."""
    result = np.zeros((len(a), int(draws.max()) + 1))
    both = np.column_stack(np.broadcast_arrays(draws, np.rint(a + b))).astype(np.int64)
    for m, top in np.unique(np.column_stack([both[:, 0], both.min(axis=1)]), axis=0).tolist():
        at = np.flatnonzero((both[:, 0] == m) & (both.min(axis=1) == top))
        law = pmf(DEFAULT_SCHEME, top, a[at, 0], b[at, 0])
        result[at, : top + 1] = over_sizes_of(sizes, m, law, both[at, 1])
    return result


def over_sizes_of(sizes: Sizes, m: int, law: Floats, negatives: Ints) -> Floats:
    """Return :func:`over_sizes` for m draws from each number of negatives."""
    totals, place = np.unique(negatives, return_inverse=True)
    left, vectors = interpolated(sizes, m, totals)
    result, chances = np.empty_like(law), (left @ vectors)[place]
    for rows in blocks(len(law), _CACHE, law.shape[1]):  # so few that they fit the CPU cache
        result[rows] = over_sizes(law[rows], chances[rows])
    return result


def over_sizes(law: Floats, chances: Floats) -> Floats:
    """Return the distribution of the sampled rank if the sample size d is random.

    Row i of ``law`` is this distribution for instance i and the largest d. Row i of ``chances``
    holds the probabilities of d = 0, 1, ... The distribution for d - 1 follows from that for d: one
    of the d drawn items is dropped at random.
    """
    top = law.shape[1] - 1
    # A row for each s: the slices ``law[:d]`` are then contiguous, which is almost twice as fast.
    law, chances, s = law.T.copy(), chances.T.copy(), np.arange(top + 1.0)[:, None]
    total, drop = chances[top] * law, np.empty_like(law)
    possible = np.max(np.abs(chances), axis=1) > _NO_WEIGHT
    for d in range(top, int(np.argmax(possible)), -1):
        np.multiply(law[1 : d + 1], s[1 : d + 1] / d, out=drop[:d])
        law[:d] *= 1 - s[:d] / d
        law[:d] += drop[:d]
        if possible[d - 1]:
            total[:d] += np.multiply(law[:d], chances[d - 1], out=drop[:d])
    return np.asarray(total.T)


def _sizes(scheme: str, m: int, total: int) -> list[tuple[int, float]]:
    """Return possible sample sizes (numbers of different items) with their probabilities."""
    sizes = SCHEMES[scheme].sizes
    chances = np.eye(m + 1)[m] if sizes is None else sizes(m, np.array([float(total)]))[0]
    return [(int(d), float(chances[d])) for d in np.flatnonzero(chances > _NO_WEIGHT)]


def draw_sizes(scheme: str, m: int, negatives: Ints, rng: np.random.Generator) -> Ints:
    """Draw, for each instance, the number of its negatives that are in the sample."""
    result = SCHEMES[scheme].drawn(m, negatives)
    for total in np.unique(negatives).tolist() if SCHEMES[scheme].varies else ():
        at, (sizes, chances) = negatives == total, zip(*_sizes(scheme, m, total), strict=True)
        share = np.array(chances) / sum(chances)
        result[at] = rng.choice(np.array(sizes), size=int(at.sum()), p=share)
    return result


def check_metric(metric: Metric, scheme: str) -> None:
    """Raise ValueError if a metric needs the number of ranked negatives, but this number varies."""
    if SCHEMES[scheme].varies and (metric.linear or metric.share is not None):
        varies = f"if drawn {SCHEMES[scheme].words} they vary in number: take Recall@10 or NDCG"
        raise ValueError(f"{metric} depends on how many negatives are ranked; {varies}")


def pmf_window(
    scheme: str, m: int, above: ArrayLike, below: ArrayLike, width: int
) -> tuple[Ints, Floats]:
    """Return probabilities for ``width`` numbers of sampled items above each relevant item.

    The numbers are consecutive and lie around the mode. ``width`` must be so large that all other
    numbers have negligible probability. Return, for each relevant item, the first of the numbers,
    shape (items,), and their probabilities as in :func:`pmf`, shape (items, width).
    """
    a, b, draws = _columns(m, above, below)
    mode = modes(scheme, draws, a, b)
    first = np.clip(mode - width // 2, 0, m - width + 1)
    s = first + np.arange(width - 1, dtype=np.float64)
    return first[:, 0].astype(np.int64), _outward(scheme, draws, a, b, s, mode)


def chebyshev(count: int) -> Floats:
    """Return ``count`` Chebyshev interpolation points in -1..1."""
    return np.cos(np.pi * (np.arange(count) + 0.5) / count)


def lagrange(x: Floats, count: int) -> Floats:
    """Return the weights of ``count`` Chebyshev points in Lagrange interpolation at each x.

    ``x`` is in -1..1; the shape of the result is (len(x), count).
    """
    k = np.arange(count)
    gap = x[:, None] - chebyshev(count)
    gap[gap == 0] = 1e-300
    parts = (-1.0) ** k * np.sin(np.pi * (k + 0.5) / count) / gap
    parts /= parts.sum(axis=1, keepdims=True)
    return parts


def interpolated(sizes: Sizes, m: int, numbers: Ints) -> tuple[Floats, Floats]:
    """Return two matrices whose product is ``sizes(m, numbers)``, interpolated in 1 / number.

    ``sizes`` gives the distribution of the number of different drawn items for each of the
    ``numbers`` of negatives. The second matrix holds this distribution at the interpolation points.
    The first matrix holds the weights of these points for each of the ``numbers``.
    """
    if len(numbers) <= (count := POINTS + int(5 * np.sqrt(m))):
        return np.eye(len(numbers)), sizes(m, numbers.astype(np.float64))
    low, high = 1 / float(numbers[-1]), 1 / float(numbers[0])
    points = 2 / ((high + low) + (high - low) * chebyshev(count))
    return lagrange((2 / numbers - low - high) / (high - low), count), sizes(m, points)


def _columns(m: ArrayLike, above: ArrayLike, below: ArrayLike) -> tuple[Floats, Floats, Floats]:
    a, b = (np.atleast_1d(np.asarray(x, dtype=np.float64))[:, None] for x in (above, below))
    return a, b, np.asarray(m, dtype=np.float64).reshape(-1, 1)


def modes(scheme: str, draws: Floats | int, a: Floats, b: Floats) -> Floats:
    """Return the most likely number of sampled items above each relevant item.

    ``a`` and ``b`` are as ``above`` and ``below`` in :func:`pmf`. That function is fastest if the
    relevant items are sorted by these most likely numbers.
    """
    if SCHEMES[scheme].distinct:
        return np.minimum(np.floor((draws + 1) * (a + 1) / (a + b + 2)), np.floor(a))
    return np.minimum(np.floor((draws + 1) * (a / (a + b))), draws)


def _outward(scheme: str, draws: Floats, a: Floats, b: Floats, s: Floats, mode: Floats) -> Floats:
    """Return the probabilities that s[0], ..., s[-1] and s[-1] + 1 sampled items are above an item.

    There is one row for each relevant item, scaled to the sum 1.
    """
    if SCHEMES[scheme].distinct:
        # If a or b is fractional, factors for impossible s can be negative: replace these by 0.
        up = (draws - s) * np.maximum(a - s, 0)
        down = (s + 1) * np.maximum(b - draws + s + 1, 0)
    else:
        up = (draws - s) * a
        down = (s + 1) * b
    p = outward(up, down, s >= mode)
    p /= p.sum(axis=1, keepdims=True)
    return p


def outward(up: Floats, down: Floats, rising: Flags) -> Floats:
    """Return the probabilities p(s) of s sampled items above an item, up to a common factor.

    p is 1 at the mode, and p(s+1)/p(s) = ``up``/``down``. ``rising`` is true where s is the mode or
    a larger number.
    """
    numerator, denominator = np.where(rising, up, down), np.where(rising, down, up)
    ratio = np.divide(numerator, denominator, out=np.zeros_like(numerator), where=denominator != 0)
    p = np.ones((*ratio.shape[:-1], ratio.shape[-1] + 1))
    np.cumprod(np.where(rising, 1.0, ratio)[..., ::-1], axis=-1, out=p[..., -2::-1])
    p[..., 1:] *= np.cumprod(np.where(rising, ratio, 1.0), axis=-1)
    return p


def _by_count(scheme: str, m: int, a: Floats, b: Floats, mode: Ints) -> Floats:
    """Return :func:`pmf` for many relevant items.

    If ``mode`` is sorted, the transpose of the result is contiguous.

    To be fast, loop over the number of sampled items above. Each step computes the probability of
    one number for all relevant items.
    """
    # Sort the rows (relevant items) by their modes, so that each step below changes a contiguous
    # range of rows.
    if np.any(mode[1:] < mode[:-1]):
        order = np.argsort(mode, kind="stable")
        return _by_count(scheme, m, a[order], b[order], mode[order]).T[:, np.argsort(order)].T
    p = np.zeros((m + 1, len(a)))
    p[mode, np.arange(len(a))] = 1.0
    taken = 1 if SCHEMES[scheme].distinct else 0
    # First compute the probabilities of all numbers above the mode, one after the other. Then
    # compute those of all numbers below the mode, in the same way with a and b exchanged.
    for q, x, y, start in ((p, a, b, mode), (p[::-1, ::-1], b[::-1], a[::-1], m - mode[::-1])):
        # ``ends[s]`` is the number of rows (relevant items) whose ``start`` is at most s.
        ends = np.searchsorted(start, np.arange(1, m + 1)).tolist()
        rest, low = y - taken * (m - 1), 0
        for s, end in enumerate(ends):
            if s % 8 == 0:  # leave out rows whose probabilities have become negligible
                low += int(np.argmax(np.append(q[s, low:end] > _TINY, True)))
            if low < end:
                step = np.maximum(x[low:end] - taken * s, 0) * (m - s)
                step /= (rest[low:end] + taken * s) * (s + 1)
                step *= q[s, low:end]
                q[s + 1, low:end] += step
    # Normalise. Add the probabilities in blocks of 32, because one long sum would lose a digit.
    p /= np.add.reduceat(p, np.arange(0, m + 1, 32), axis=0).sum(axis=0)
    return p.T


def pmf_chunks(scheme: str, m: int, above: Floats, below: Floats) -> Iterator[tuple[slice, Floats]]:
    """Yield :func:`pmf` in blocks of rows, which limits the memory: (slice of the rows, block)."""
    for rows in blocks(len(above), CHUNK, m + 1):
        yield rows, pmf(scheme, m, above[rows], below[rows])


def item_weights(
    scheme: str, above: ArrayLike, below: ArrayLike, odds: float
) -> tuple[Floats, Floats]:
    """Return the total sampling weights of the items above and below the relevant item.

    Each item has weight 1, but items above have weight ``odds`` if the scheme is ``weighted``.
    """
    a, b = np.asarray(above, dtype=np.float64), np.asarray(below, dtype=np.float64)
    return a * SCHEMES[scheme].odds(odds), b


def draw_above(
    scheme: str, m: ArrayLike, above: ArrayLike, below: ArrayLike, rng: np.random.Generator
) -> Ints:
    """Draw the number of sampled items above each relevant item.

    ``m``, ``above`` and ``below`` are broadcast.
    """
    draws, a, b = np.broadcast_arrays(m, above, below)
    if SCHEMES[scheme].varies:
        every, total = np.unique(draws), np.rint(a + b).astype(np.int64)
        draws = draws.copy()
        for size in every.tolist():
            draws[draws == size] = draw_sizes(scheme, size, total[draws == size], rng)
    elif not SCHEMES[scheme].distinct:
        return np.asarray(rng.binomial(draws, a / (a + b)), dtype=np.int64)
    a, b = a.astype(np.int64), b.astype(np.int64)
    if np.max(a + b, initial=0) < _NUMPY_URN:
        return np.asarray(rng.hypergeometric(a, b, draws), dtype=np.int64)
    # NumPy cannot draw from this many items: invert the exact distribution function row by row.
    result = np.empty(a.shape, dtype=np.int64)
    for i in np.ndindex(a.shape):
        steps = np.cumsum(pmf(scheme, draws[i], a[i], b[i])[0])
        result[i] = np.minimum(np.searchsorted(steps, rng.random(), side="right"), draws[i])
    return result


def pmf_longdouble(scheme: str, m: int, above: Floats, below: Floats) -> NDArray[np.longdouble]:
    """Return :func:`pmf` in extended precision, shape (relevant items, m + 1).

    The distribution is updated after each of the m draws, which takes m² steps per item. Only
    positive terms are added, so every probability keeps all its digits, however small.
    """
    if SCHEMES[scheme].varies:
        total = round(float(above[0] + below[0]))
        result = np.zeros((len(above), m + 1), dtype=np.longdouble)
        for size, chance in _sizes(scheme, m, total):
            result[:, : size + 1] += chance * pmf_longdouble(DEFAULT_SCHEME, size, above, below)
        return result
    a, b = (np.asarray(x, dtype=np.longdouble)[:, None] for x in (above, below))
    taken = 1 if SCHEMES[scheme].distinct else 0
    p = np.zeros((len(a), m + 1), dtype=np.longdouble)
    p[:, 0] = 1
    for drawn in range(m):
        s = np.arange(drawn + 1)
        left = a + b - taken * drawn
        up = p[:, : drawn + 1] * np.maximum(a - taken * s, 0) / left
        p[:, : drawn + 1] *= np.maximum(b - taken * (drawn - s), 0) / left
        p[:, 1 : drawn + 2] += up
    return p


def moments(p: Floats, vector: Floats) -> tuple[Floats, Floats]:
    """Return the mean and variance of a sampled metric for each relevant item.

    A row of ``p`` holds the probabilities of 0..m sampled items above one relevant item. ``vector``
    (m + 1,) holds the metric's value for each of these numbers.
    """
    # The values of a metric beyond its cutoff are 0, so only the columns up to there are needed.
    last = 1 + int(np.max(np.flatnonzero(vector), initial=-1))
    head, values = p[:, :last], vector[:last]
    mean = head @ values
    # Subtract the mean first, because E[v^2] - E[v]^2 would lose digits. ``empty_like`` gives
    # ``square`` the same memory order as ``head``, so that ``einsum`` multiplies the two fast.
    square = np.subtract(values, mean[:, None], out=np.empty_like(head))
    square *= square
    variance = np.einsum("rs,rs->r", head, square)
    return mean, variance + mean**2 * p[:, last:].sum(axis=1)


def mean_and_variance(
    vector: Floats, sampling: Sampling, above: Floats, below: Floats
) -> tuple[Floats, Floats]:
    """Return the mean and variance of a metric whose value at sampled rank t is ``vector[t - 1]``.

    ``above`` and ``below`` are the sampling weights of the items above and below each relevant
    item; the results have their shape.
    """
    both = np.empty((2, above.size))
    for rows, p in pmf_chunks(sampling.scheme, sampling.m, above.ravel(), below.ravel()):
        both[:, rows] = moments(p, vector)
    mean, variance = both.reshape(2, *above.shape)
    return mean, variance
