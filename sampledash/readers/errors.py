"""What can be wrong with a file: one sentence, and the facts a page needs to offer a way out."""

from __future__ import annotations

from collections.abc import Mapping


class ReadError(ValueError):
    """The ranks cannot be used as they are. The message names file, row, column and remedy."""


class MissingCandidates(ReadError):
    """The number of candidates n is neither in the file nor given.

    Attributes
    ----------
    largest_rank
        Largest rank found: n must be at least this.
    """

    def __init__(self, message: str, largest_rank: int = 1) -> None:
        super().__init__(message)
        self.largest_rank = largest_rank


class NoRankColumn(ReadError):
    """No column is named as one of ranks.

    Attributes
    ----------
    sampled
        The same sentence for who reads sampled ranks.
    """

    def __init__(self, message: str, sampled: str = "") -> None:
        super().__init__(message)
        self.sampled = sampled or message


class MissingNegatives(ReadError):
    """The number of sampled negatives m is neither in the file nor given."""


class ZeroBasedRanks(ReadError):
    """The smallest rank is 0 and none is negative: the ranks seem to count from 0."""


class CensoredItems(ReadError):
    """A truncated run does not list all relevant items: their rank is only known to be beyond it.

    Attributes
    ----------
    censored, relevant
        Relevant items that are missing, and all of them, over all systems.
    instances, queries
        Queries in which at least one system misses one, and those with relevant items.
    """

    def __init__(
        self,
        message: str,
        censored: int = 0,
        relevant: int = 0,
        instances: int = 0,
        queries: int = 0,
    ) -> None:
        super().__init__(message)
        self.censored = censored
        self.relevant = relevant
        self.instances = instances
        self.queries = queries


class DifferentInstances(ReadError):
    """The systems do not cover the same instances.

    Attributes
    ----------
    shared
        How many instances all systems share; 0 if they cannot be matched.
    missing
        For each system that lacks some: up to three labels it lacks, as text.
    """

    def __init__(
        self, message: str, shared: int = 0, missing: Mapping[str, tuple[str, ...]] | None = None
    ) -> None:
        super().__init__(message)
        self.shared = shared
        self.missing: dict[str, tuple[str, ...]] = dict(missing or {})
