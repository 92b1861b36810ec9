r"""A catalogue whose items differ in popularity: negatives are drawn by popularity.

Of n - 1 negatives, the j-th most popular negative has the sampling weight :math:`j^{-s}` (Zipf).
Let :math:`a` be the number of negatives above the relevant item, and b a parameter in 0..1. These
a negatives are the t most popular negatives of the catalogue, where t = b a, and a - t random
negatives of the others. If b a is not a whole number, t is one of the two whole numbers around it,
at random, so that the mean of t is b a. If b = 0, the ranking ignores popularity; if b = 1, it is
the bestseller list.

For draws with replacement, a drawn item is above with the probability
:math:`q = Q + (1 - Q)(a - t)/(n-1-t)`, where Q is the share of the sampling weight of the t most
popular items. The number of drawn items above is Binomial(m, q). Here, the weight of the random
negatives is replaced by its mean.

For draws without replacement, the distribution is exact. Let T of the m drawn items be among the t
most popular items; :mod:`sampledash.by_weight` gives the distribution of T. All sets of a - t less
popular items are equally likely to be above. Therefore, of the m - T drawn less popular items,
Hypergeometric(n - 1 - t, a - t, m - T) are above, whatever their weights.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import boxcox

from sampledash import by_weight, checks
from sampledash.sampling import Sampling, over_sizes, pmf
from sampledash.schemes import DEFAULT_SCHEME, HasScheme, Scheme
from sampledash.types import Floats, Ints

_FIRST = 64  # the weights of this many most popular items are added one by one
# Each of the _SINGLE most popular items keeps its own sampling weight. The other items are divided
# into about _NODES classes of similar popularity, whose items get the mean weight of the class.
_SINGLE, _NODES = 32, 64
# If at most this many probabilities are needed, their error is below 1e-12. For more, a faster
# computation is used, whose error is below 1e-4.
_SMALL = 16
_REPEATED: Scheme = "with-replacement"
_ROWS = 32  # about this many ranks are computed together
# Let d be the number of drawn items that are not among the most popular items. Sums over d end at
# the last d whose probability exceeds this.
_NOTHING = 1e-14


@dataclass(frozen=True)
class Catalogue(HasScheme):
    """How negatives are drawn from a catalogue whose items differ in popularity.

    Attributes
    ----------
    n, m, scheme
        As in :class:`~sampledash.Sampling`; the scheme draws items by weight.
    zipf
        Exponent s of the sampling weight of the j-th most popular negative; 0 is uniform.
    bestsellers
        Share b of the items above the relevant item that are the catalogue's most popular items.
    """

    n: int
    m: int
    scheme: Scheme
    zipf: float
    bestsellers: float

    def __post_init__(self) -> None:
        checks.real("Zipf exponent", self.zipf, low=0, high=2)
        checks.real("bestsellers", self.bestsellers, low=0, high=1)
        _ = self.uniform  # checks n and m

    @property
    def uniform(self) -> Sampling:
        """The sampling of m negatives from n - 1 items that are all equally likely to be drawn."""
        return Sampling(self.n, self.m, DEFAULT_SCHEME if self.design.distinct else _REPEATED)

    @property
    def drawn(self) -> float:
        """Number of negatives among which the relevant item is ranked."""
        return self.m

    def __str__(self) -> str:
        which = f"Zipf exponent = {self.zipf:g}, bestsellers = {self.bestsellers:g}"
        return f"n = {self.n}, m = {self.m}, {self.scheme}, {which}"

    def share(self, items: ArrayLike) -> Floats:
        """Return the share of the total sampling weight that the most popular items have.

        ``items`` is the number of these most popular items.
        """
        return np.asarray(self._weight(items) / self._weight(self.n - 1))

    def weights(self, rank: ArrayLike) -> tuple[Floats, Floats]:
        """Return the shares of the total sampling weight: of negatives above and below each rank.

        ``rank`` holds true ranks of relevant items, in 1..n.
        """
        above = checks.ranks("rank", rank, np.asarray(self.n)) - 1
        high, low = np.zeros((2, *above.shape))
        for part, top in self._popular(above):
            left = (1 - self.share(top)) / np.maximum(self.n - 1 - top, 1)
            high += part * (self.share(top) + left * (above - top))
            low += part * left * (self.n - 1 - above)
        return high, low

    def _popular(self, above: Floats | Ints) -> list[tuple[Floats, Floats]]:
        """Return the numbers t of most popular items above a relevant item, with probabilities.

        ``above`` is the number of all negatives above the relevant item. t is ``bestsellers`` times
        ``above``, rounded down or up at random. The first tuple holds the probability of rounding
        down, and t rounded down. The second tuple holds the same for rounding up.
        """
        most = np.asarray(above, dtype=np.float64)
        top = self.bestsellers * most
        low = np.floor(top)
        return [(1 - top + low, low), (top - low, np.minimum(low + 1, most))]

    def share_above(self, rank: int) -> float:
        """Return the expected share of drawn items that are above a relevant item of this rank."""
        ((_, p),) = self.laws(np.array([rank - 1]))
        return float(p[0] @ np.arange(self.m + 1)) / self.m

    def laws(self, above: Floats | Ints) -> Iterator[tuple[slice, Floats]]:
        """Yield slices of ``above``, and the distributions of the sampled rank for these entries.

        Each entry of ``above`` is the number of negatives that are above a relevant item. The
        distributions have a row for each entry: the probabilities that 0..m drawn items are above
        the relevant item.
        """
        m, total, rows = self.m, self.n - 1, len(above)
        if not self.design.distinct:
            yield slice(0, None), pmf(self.scheme, m, *self.weights(above + 1))
            return
        part, top = np.hstack(self._popular(above))
        twice = np.tile(above, 2)
        tops, row = np.unique(top, return_inverse=True)
        # chances[:, d] is the probability that d drawn items are not among the most popular items.
        chances = by_weight.law(self._classes(tops), m, small=_SMALL)[row, ::-1]
        result, sizes = np.zeros((len(top), m + 1)), np.minimum(total - top, m)
        for size in np.unique(sizes).astype(np.int64).tolist():
            at = np.flatnonzero(sizes == size)
            for some in np.array_split(at, len(at) // _ROWS + 1):
                likely = np.any(chances[some, : size + 1] > _NOTHING, axis=0)
                most = int(np.flatnonzero(likely)[-1])
                drawn = pmf(DEFAULT_SCHEME, most, total - twice[some], twice[some] - top[some])
                result[some, m - most :] = over_sizes(drawn, chances[some, : most + 1])[:, ::-1]
        result *= (part / result.sum(axis=1))[:, None]
        yield slice(0, None), result[:rows] + result[rows:]

    def _weight(self, items: ArrayLike) -> Floats:
        """Return the sum of the sampling weights of the given number of most popular items."""
        s, number = self.zipf, np.asarray(items, dtype=np.float64)
        first = np.append(0.0, np.cumsum(np.arange(1.0, _FIRST + 1) ** -s))

        # By the Euler-Maclaurin formula, the sum of the weights i^-s over i = a + 1..b is nearly
        # primitive(b) - primitive(a). The three terms are the integral of the weight, half of the
        # weight, and a twelfth of its derivative.
        def primitive(x: Floats) -> Floats:
            return np.asarray(boxcox(x, 1 - s) + x**-s / 2 - s / 12 * x ** (-s - 1))

        rest = primitive(np.maximum(number, _FIRST)) - primitive(np.array(float(_FIRST)))
        return np.asarray(first[np.minimum(number, _FIRST).astype(np.int64)] + rest)

    def _classes(self, tops: Floats) -> Floats:
        """Return the argument ``classes`` of :func:`by_weight.law`: (len(tops), 4, classes).

        A class holds items of similar popularity, with the mean of their sampling weights. For an
        entry t of ``tops``, the items above the relevant item are the t most popular items.
        """
        total = float(self.n - 1)
        ends = np.r_[np.arange(_SINGLE), np.geomspace(_SINGLE, total, _NODES).round(), total, tops]
        ends = np.unique(np.minimum(ends, total))
        number, sums = np.diff(ends), np.diff(self._weight(ends))
        above = number * (ends[1:] <= tops[:, None])
        return np.stack(np.broadcast_arrays(above, 0.0, number, sums / number), axis=1)


Drawing = Sampling | Catalogue  # how the negatives of an instance with one relevant item are drawn
