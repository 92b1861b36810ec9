"""What can be wrong with a file: one sentence, and the facts a page needs to offer a way out."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any


class ReadError(ValueError):
    """The ranks cannot be used as they are. The message names file, row, column and remedy.

    A page offers its ``ways`` out: what a button says, and the options to read with.
    """

    ways: Mapping[str, Mapping[str, Any]] = MappingProxyType({})

    def __init__(self, message: str, **facts: Any) -> None:
        super().__init__(message)
        vars(self).update(facts)


class MissingCandidates(ReadError):
    """The number of candidates n is neither in the file nor given."""


class MissingNegatives(ReadError):
    """The number of sampled negatives m is neither in the file nor given."""


class ZeroBasedRanks(ReadError):
    """The smallest rank is 0 and none is negative: the ranks seem to count from 0."""


class CensoredItems(ReadError):
    """A truncated run lacks relevant items: their rank is only known to be beyond it."""

    censored: int  # relevant items that are missing, over all systems


class DifferentInstances(ReadError):
    """The systems do not cover the same instances."""
