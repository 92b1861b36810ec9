"""A mapping made from a table such as ``CORRECTIONS``; rows added to the table later appear too."""

from collections.abc import Callable, Iterator, Mapping
from typing import TypeVar

Key = TypeVar("Key")
Row = TypeVar("Row")


class Live(Mapping[Key, Row]):
    """A read-only mapping whose contents are computed by ``make()`` at every access."""

    def __init__(self, make: Callable[[], Mapping[Key, Row]]) -> None:
        self._make = make

    def __getitem__(self, key: Key) -> Row:
        return self._make()[key]

    def __iter__(self) -> Iterator[Key]:
        return iter(self._make())

    def __len__(self) -> int:
        return len(self._make())
