"""Trained models, which score all items for a block of users, and the progress of training."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from sampledash import checks
from sampledash.types import Floats

#: Array of scores or factors, in single or double precision.
Scores = NDArray[Any]
S = TypeVar("S")
T = TypeVar("T")
U = TypeVar("U")


class TrainingProgress(NamedTuple):
    """Progress of a training: the share done (0 to 1), and the loss, or None if not known yet."""

    share: float
    loss: float | None = None


class Model(Protocol):
    """A trained recommender."""

    def scores(self, start: int, stop: int) -> Scores:
        """Return scores of all items for users start..stop - 1: (stop - start, n_items)."""


#: A generator that returns the result of a computation. It yields progress every few hundredths of
#: a second, so that the caller can abandon the computation.
Part = Generator[TrainingProgress, None, T]
Training = Part[Model]


def finish(part: Part[T]) -> T:
    """Run a generator of training or ranking to its end and return its result."""
    remedy = "give what rank or the train of a recommender returned"
    checks.of_kind("part", part, Generator, "generator", remedy)
    while True:
        try:
            next(part)
        except StopIteration as end:
            result: T = end.value
            return result


def shown_as(part: Generator[S, None, T], show: Callable[[S], U]) -> Generator[U, None, T]:
    """Run the computation ``part``, and yield its reports of progress, converted by ``show``."""
    while True:
        try:
            progress = next(part)
        except StopIteration as end:
            result: T = end.value
            return result
        yield show(progress)


def within(part: Part[T], low: float, high: float, loss: float | None = None) -> Part[T]:
    """Run ``part`` as a stage of a longer computation.

    In this stage, the progress of the longer computation goes from ``low`` to ``high``. ``loss`` is
    reported as long as ``part`` reports no loss.
    """

    def mapped(at: TrainingProgress) -> TrainingProgress:
        return TrainingProgress(low + (high - low) * at.share, loss if at.loss is None else at.loss)

    return shown_as(part, mapped)


@dataclass(frozen=True, eq=False)
class Factors:
    """Model whose scores are inner products of user factors and item factors (vectors)."""

    users: Scores
    items: Scores

    def scores(self, start: int, stop: int) -> Scores:
        """Return scores of all items for users start..stop - 1: (stop - start, n_items)."""
        return np.asarray(self.users[start:stop] @ self.items.T)


@dataclass(frozen=True, eq=False)
class ItemWeights:
    """Model in which each item that the user took adds a weight to the score of a candidate.

    ``history`` is the matrix of users × items (CSR). The matrix of weights, items × candidates, is
    split into consecutive ``blocks`` of columns, dense or sparse.
    """

    history: Any
    blocks: Sequence[Any]

    def scores(self, start: int, stop: int) -> Scores:
        """Return scores of all items for users start..stop - 1: (stop - start, n_items)."""
        history = self.history[start:stop]
        parts = [history @ block for block in self.blocks]
        dense = [part if isinstance(part, np.ndarray) else part.toarray() for part in parts]
        return dense[0] if len(dense) == 1 else np.concatenate(dense, axis=1)


@dataclass(frozen=True, eq=False)
class OneList:
    """Model with the same scores (n_items,) for every user."""

    values: Floats

    def scores(self, start: int, stop: int) -> Scores:
        """Return scores of all items for users start..stop - 1: (stop - start, n_items)."""
        return np.broadcast_to(self.values, (stop - start, len(self.values)))


@dataclass(frozen=True)
class Chance:
    """Model with uniform random scores, which depend only on the seed and the user's index."""

    n_items: int
    seed: int

    def scores(self, start: int, stop: int) -> Scores:
        """Return scores of all items for users start..stop - 1: (stop - start, n_items)."""
        rngs = (np.random.default_rng((self.seed, user)) for user in range(start, stop))
        return np.array([rng.random(self.n_items) for rng in rngs])
