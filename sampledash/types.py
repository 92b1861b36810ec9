"""Types for annotations, blocks of rows, read-only arrays, and objects with a digest."""

import hashlib
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Complex = NDArray[np.complex128]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]
#: A number, or an array of numbers.
Reals = Floats | float

#: A function that reports progress; its argument is the share of the work done so far, 0 to 1.
Progress = Callable[[float], None]
A = TypeVar("A", bound=NDArray[Any])


def frozen(array: A) -> A:
    """Make an array read-only and return it, so that no caller can change a shared array."""
    array.setflags(write=False)
    return array


def blocks(count: int, room: int, width: int) -> Iterator[slice]:
    """Yield slices that divide the rows 0..``count`` - 1, of ``width`` entries each, into blocks.

    A block has at most ``room`` entries, or is a single row.
    """
    step = max(1, room // width)
    return (slice(start, min(start + step, count)) for start in range(0, count, step))


@dataclass(frozen=True, eq=False)
class ByDigest:
    """Base class of objects that are equal if the ``digest`` of their contents is equal."""

    def _hold(self, *values: object) -> None:
        """Set the fields to ``values``, in the order of the fields, and make arrays read-only."""
        for field, value in zip(fields(self), values, strict=False):
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, field.name, value)

    @property
    @abstractmethod
    def digest(self) -> str:
        """SHA-256 of the contents as hexadecimal text, which caches use as a key."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)


def digest_of(
    head: str, columns: Iterable[NDArray[Any] | None], labels: NDArray[Any] | None
) -> str:
    """Return a SHA-256 of the text ``head``, numeric columns of equal length, and labels."""
    state = hashlib.sha256(head.encode())
    whole = None
    if labels is not None and labels.dtype.kind in "iu" and labels.max() < 2**63:
        # These integers fit into int64. All other labels are hashed as text at the end.
        whole = labels.astype(np.int64, copy=False)
    for array in (*columns, whole):
        if array is None:
            state.update(b"|")
        elif np.all(array == array[0]):  # for a constant column, hashing one entry is enough
            state.update(b"=" + array[0].tobytes())
        else:
            state.update(b"#")
            state.update(np.ascontiguousarray(array).data)
    if labels is not None and whole is None:
        state.update(repr(labels.tolist()).encode())
    return state.hexdigest()
