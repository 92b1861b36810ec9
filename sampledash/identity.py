"""Values that are equal where their contents are: one digest, the key of every cache."""

from __future__ import annotations

import hashlib
from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True, eq=False)
class ByDigest:
    """Equality and hash by a ``digest`` of the contents."""

    def _hold(self, *values: object) -> None:
        """Set the fields in their order; arrays are read-only from here on."""
        for field, value in zip(fields(self), values, strict=False):
            if isinstance(value, np.ndarray):
                value.setflags(write=False)
            object.__setattr__(self, field.name, value)

    @property
    @abstractmethod
    def digest(self) -> str:
        """SHA-256 over the contents, as hexadecimal text: the key of every cache."""

    def __eq__(self, other: object) -> bool:
        return isinstance(other, type(self)) and self.digest == other.digest

    def __hash__(self) -> int:
        return hash(self.digest)


def digest_of(
    head: str, columns: Iterable[NDArray[Any] | None], labels: NDArray[Any] | None
) -> str:
    """SHA-256 of a text, of number columns of one length, and of labels."""
    state = hashlib.sha256(head.encode())
    # Of larger ones, which 64 bits with a sign do not hold, the text counts.
    whole = labels is not None and (
        labels.dtype.kind == "i" or (labels.dtype.kind == "u" and labels.max() < 2**63)
    )
    last = labels.astype(np.int64, copy=False) if labels is not None and whole else None
    for array in (*columns, last):
        if array is None:
            state.update(b"|")
        elif np.all(array == array[0]):  # most columns, most of the time
            state.update(b"=" + array[:1].tobytes())
        else:
            state.update(b"#")
            state.update(np.ascontiguousarray(array).data)
    if labels is not None and not whole:
        state.update(repr(labels.tolist()).encode())
    return state.hexdigest()
