"""Names for types used in annotations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
BoolArray = NDArray[np.bool_]
IntArray = NDArray[np.intp]

Progress = Callable[[int, int], object]
"""Called with how much is done, and of how much."""
