"""Types of arrays and callables, for use in signatures."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]

#: A function that is called with the share of the work that is done, 0 to 1.
Progress = Callable[[float], None]
