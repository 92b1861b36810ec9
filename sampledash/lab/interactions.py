"""Interactions of users with items: an immutable object for splits, recommenders and ranking.

:func:`synthetic` draws a small random data set for trials.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from sampledash import checks
from sampledash.rank_counts import codes_of
from sampledash.types import ByDigest, digest_of

Codes = NDArray[np.int32]
Ratings = NDArray[np.float32]
Times = NDArray[np.int64]

LARGEST_RATING = 10**9  # ratings are at most this large, so that sums of squares do not overflow

# Sizes of the synthetic data set: numbers of users, items, dimensions of taste, and series. A
# series is a group of items that users often take together.
_USERS, _ITEMS, _TASTES, _SERIES = 1500, 1200, 8, 150
# A user has _FEWEST interactions plus a random number with mean _MORE, but at most _MOST in all.
_FEWEST, _MORE, _MOST = 10, 40, 300
_SKEW = 1.7  # standard deviation of the logarithm of an item's popularity
# The log-probability that a user takes an item is a sum. These are the weights of three terms: the
# user's taste, the change of the taste over time, and whether the user has begun the item's series
# (items that users often take together).
_TASTE, _DRIFT, _BEGUN = 0.55, 0.2, 5.0
# Share of items that become more probable for a user who has taken another item of their series.
_IN_SERIES = 0.4
_STAGES = 6  # number of periods of time; tastes are constant within a period


@dataclass(frozen=True, eq=False, init=False)
class Interactions(ByDigest):
    """Interactions of users with items, in the order of their file.

    Parameters
    ----------
    users, items
        Distinct labels, text or whole numbers, of shape (n_users,) and (n_items,). Labels without
        an interaction are allowed: an item that nobody took is still a candidate.
    user, item
        Index of the user and of the item of each interaction, shape (size,).
    rating
        Rating of each interaction, a finite number. If None, the data are implicit feedback: only
        the fact of an interaction is known.
    time
        Time of each interaction, a whole number in any unit; interactions at equal times keep the
        order of the file. If None, only the order of the file is known.

    Raises
    ------
    ValueError
        The message names the column and the first invalid value.

    Notes
    -----
    Arrays are copied and read-only. Objects with the same ``digest`` (SHA-256 of the contents) are
    equal.
    """

    users: NDArray[Any]
    items: NDArray[Any]
    user: Codes
    item: Codes
    rating: Ratings | None
    time: Times | None

    def __init__(
        self,
        users: ArrayLike,
        items: ArrayLike,
        user: ArrayLike,
        item: ArrayLike,
        rating: ArrayLike | None = None,
        time: ArrayLike | None = None,
    ) -> None:
        tables = [_table(name, labels) for name, labels in (("users", users), ("items", items))]
        size = checks.rows("user", user, "interaction")
        needed = f"one value for each of the {size:,} interactions"
        codes = []
        for name, values, table in zip(("user", "item"), (user, item), tables, strict=True):
            code = checks.integers(name, values, low=0, high=len(table) - 1)
            checks.length(name, code, size, needed)
            codes.append(code.astype(np.int32))
        stars = None if rating is None else checks.numbers("rating", rating).astype(np.float32)
        if stars is not None and (largest := np.abs(stars).max(initial=0.0)) > LARGEST_RATING:
            most = f"at most {LARGEST_RATING:,} in size"
            raise ValueError(f"rating must be {most}, got {largest:.3g}: rescale it")
        when = None if time is None else checks.integers("time", time, low=-checks.TOO_LARGE)
        for name, column in (("rating", stars), ("time", when)):
            if column is not None:
                checks.length(name, column, size, needed)
        self._hold(*tables, *codes, stars, when)

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        kind = "implicit" if self.rating is None else "rated"
        return f"Interactions({self.size:,} {kind}, {self.n_users:,} users, {self.n_items:,} items)"

    @property
    def size(self) -> int:
        """Number of interactions."""
        return len(self.user)

    @property
    def n_users(self) -> int:
        """Number of users, including users without an interaction."""
        return len(self.users)

    @property
    def n_items(self) -> int:
        """Number of items, including items without an interaction."""
        return len(self.items)

    @cached_property
    def matrix(self) -> csr_array:
        """Matrix users × items (CSR, float32) of ratings, or of ones if there are no ratings.

        Values of a repeated pair of a user and an item are added.
        """
        data = np.ones(self.size, np.float32) if self.rating is None else self.rating
        matrix = csr_array((data, (self.user, self.item)), shape=(self.n_users, self.n_items))
        matrix.sum_duplicates()
        return matrix

    @cached_property
    def digest(self) -> str:
        """SHA-256 of the contents as hexadecimal text; caches use this digest as a key."""
        columns = (self.user, self.item, self.rating, self.time)
        tables = (digest_of("", (), labels) for labels in (self.users, self.items))
        return digest_of(f"{self.size} {' '.join(tables)}", columns, None)

    def take(self, which: ArrayLike) -> Interactions:
        """Return the interactions that a mask or indices select, with all labels unchanged."""
        taken = object.__new__(Interactions)
        columns = (self.user, self.item, self.rating, self.time)
        at = checks.array_of("which", which)
        size = self.size if at.dtype == bool else at.size
        checks.length("which", at, size, "indices, or True or False for each interaction")
        if at.dtype != bool:
            at = checks.integers("which", at, low=0, high=self.size - 1)
        parts = (None if column is None else column[at] for column in columns)
        taken._hold(self.users, self.items, *parts)
        return taken

    @cached_property
    def in_time(self) -> NDArray[np.int64]:
        """Indices that sort the interactions by time; equal times keep the order of the file."""
        return np.arange(self.size) if self.time is None else np.argsort(self.time, kind="stable")


def require_interactions(value: object) -> None:
    """Raise a ValueError if the value is not an :class:`Interactions`."""
    made = "read them with sampledash.read_interactions(file)"
    checks.of_kind("interactions", value, Interactions, "Interactions", made)


def numbered(labels: NDArray[Any]) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """Return the distinct labels in order of first appearance, and each label's index in them."""
    code, many = codes_of(labels)
    table = np.empty(many, labels.dtype)
    table[code[::-1]] = labels[::-1]
    return table, code


def _table(name: str, labels: ArrayLike) -> NDArray[Any]:
    """Return the labels as an array; raise a ValueError if they are invalid or repeated."""
    names = checks.labels(name, labels)
    if names.ndim != 1:
        raise ValueError(f"{name} must be a list of labels, got {checks.shown(labels)}")
    checks.rows(name, names, "label")
    code, many = codes_of(names)
    if many < len(names):
        first = int(np.argmax(np.bincount(code) > 1))
        twice = names[int(np.argmax(code == first))]
        raise ValueError(f"{name} names {checks.shown(twice)} twice: give each label once")
    return names


def synthetic(seed: int = 0) -> Interactions:
    """Draw about 75,000 random ratings with times, by 1,500 users for 1,200 items.

    Parameters
    ----------
    seed
        Seed of the random numbers: the same seed gives the same data.

    Raises
    ------
    ValueError
        If the seed is not a whole number of at least 0.

    Notes
    -----
    A tenth of the items have nearly half of the interactions, as in MovieLens 1M. The items that a
    user takes depend on popularity, on taste, which changes over time, and on the series that the
    user has begun. Factor models learn the tastes; neighbour models learn the series.
    """
    rng = np.random.default_rng(checks.integer("seed", seed, low=0))
    popularity = rng.normal(scale=_SKEW, size=_ITEMS)
    kind = rng.normal(size=(_ITEMS, _TASTES))
    series = rng.integers(0, _SERIES, _ITEMS)
    # Items of ``part`` become more probable once the user has taken any item of their series.
    part = rng.random(_ITEMS) < _IN_SERIES
    taste, drift = rng.normal(size=(2, _USERS, _TASTES))
    sizes = np.minimum(_FEWEST + rng.exponential(_MORE, _USERS).astype(int), _MOST)
    begun, taken = (np.zeros((_USERS, many), dtype=bool) for many in (_SERIES, _ITEMS))
    parts = []
    for stage in range(_STAGES):
        fit = (_TASTE * taste + _DRIFT * drift * stage / (_STAGES - 1)) @ kind.T
        chance = popularity + fit + _BEGUN * part * begun[:, series]
        # With Gumbel noise added, the items with the largest sums are a sample without replacement
        # by the weights exp(chance).
        chance += rng.gumbel(size=chance.shape)
        chance[taken] = -np.inf
        many = (sizes * (stage + 1)) // _STAGES - (sizes * stage) // _STAGES
        order = np.argsort(-chance)[:, : many.max()]
        user, place = np.nonzero(np.arange(many.max()) < many[:, None])
        item = order[user, place]
        taken[user, item] = begun[user, series[item]] = True
        liked = fit[user, item] + rng.normal(size=len(user))
        when = stage * _MOST + place
        parts.append(np.stack([user, item, np.clip(np.round(2.9 + 0.6 * liked), 1, 5), when]))
    labels = np.arange(1, _USERS + 1), np.arange(1, _ITEMS + 1)
    return Interactions(*labels, *np.concatenate(parts, axis=1))
