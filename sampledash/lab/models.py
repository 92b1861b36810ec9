"""What training gives: models that score every item for a block of users, and its progress."""

from __future__ import annotations

from collections.abc import Generator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from sampledash import checks
from sampledash.types import Floats

#: Scores in single or double precision.
Scores = NDArray[Any]
T = TypeVar("T")


class TrainingProgress(NamedTuple):
    """How far a training is: the share done, 0 to 1, and the loss where one is minimised."""

    share: float
    loss: float | None = None


class Model(Protocol):
    """A trained recommender."""

    def scores(self, start: int, stop: int) -> Scores:
        """Scores (stop - start, n_items) of all items for the users ``start`` to ``stop``."""


#: Work under way: it can be left at any step, a few hundredths of a second each, and returns
#: its result at the end.
Part = Generator[TrainingProgress, None, T]
Training = Part[Model]


def finish(part: Part[T]) -> T:
    """Do all of a work at once and return its result."""
    remedy = "give what rank or the train of a recommender returned"
    checks.of_kind("part", part, Generator, "generator", remedy)
    while True:
        try:
            next(part)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


def within(part: Part[T], low: float, high: float, loss: float | None = None) -> Part[T]:
    """A part whose shares go from ``low`` to ``high`` of the whole; ``loss`` is the last known."""
    while True:
        try:
            share, own = next(part)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        yield TrainingProgress(low + (high - low) * share, loss if own is None else own)


@dataclass(frozen=True, eq=False)
class Factors:
    """Scores are inner products of factors of users (n_users, d) and of items (n_items, d)."""

    users: Scores
    items: Scores

    def scores(self, start: int, stop: int) -> Scores:
        """Scores (stop - start, n_items) of all items for the users ``start`` to ``stop``."""
        return np.asarray(self.users[start:stop] @ self.items.T)


@dataclass(frozen=True, eq=False)
class ItemWeights:
    """A score is the sum, over the items a user took, of their weights for the candidate.

    ``history`` is the matrix of users × items (CSR); of the weights, items × candidates, the
    ``blocks`` hold some columns each, dense or sparse, in their order.
    """

    history: Any
    blocks: Sequence[Any]

    def scores(self, start: int, stop: int) -> Scores:
        """Scores (stop - start, n_items) of all items for the users ``start`` to ``stop``."""
        history = self.history[start:stop]
        parts = [history @ block for block in self.blocks]
        dense = [part if isinstance(part, np.ndarray) else part.toarray() for part in parts]
        return dense[0] if len(dense) == 1 else np.concatenate(dense, axis=1)


@dataclass(frozen=True, eq=False)
class OneList:
    """The same scores (n_items,) for every user."""

    values: Floats

    def scores(self, start: int, stop: int) -> Scores:
        """Scores (stop - start, n_items) of all items for the users ``start`` to ``stop``."""
        return np.broadcast_to(self.values, (stop - start, len(self.values)))


@dataclass(frozen=True)
class Chance:
    """Uniform random scores of ``n_items``, a user's the same in every block."""

    n_items: int
    seed: int

    def scores(self, start: int, stop: int) -> Scores:
        """Scores (stop - start, n_items) of all items for the users ``start`` to ``stop``."""
        rngs = (np.random.default_rng((self.seed, user)) for user in range(start, stop))
        return np.array([rng.random(self.n_items) for rng in rngs])
