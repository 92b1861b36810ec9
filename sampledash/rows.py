"""Live views of registries: a row that is added while the program runs is visible at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

Key = TypeVar("Key")
Row = TypeVar("Row")


class Live(Mapping[Key, Row]):
    """A mapping that calls ``make`` for its contents at every access."""

    def __init__(self, make: Callable[[], Mapping[Key, Row]]) -> None:
        self._make = make

    def __getitem__(self, key: Key) -> Row:
        return self._make()[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._make())

    def __len__(self) -> int:
        return len(self._make())
