"""Types of arrays and functions for annotations, and a function that makes arrays read-only."""

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Complex = NDArray[np.complex128]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

#: A function that reports progress; its argument is the share of the work done so far, 0 to 1.
Progress = Callable[[float], None]
A = TypeVar("A", bound=NDArray[Any])


def frozen(array: A) -> A:
    """Make an array read-only and return it, because several callers share a cached array."""
    array.setflags(write=False)
    return array
