"""Count the additions of NumPy's sum of doubles."""

from __future__ import annotations

import math

BUFFER_VALUES = (
    8_192  # number of values that NumPy copies at a time if they are not aligned, as in packed rows
)
BLOCK_VALUES = 128  # fewer values are added with eight accumulators; more are halved recursively


def additions(rows: int) -> int:
    """Return the largest number of additions of a value: pairwise within a buffer or all values, and between buffers."""
    pairwise = math.ceil(math.log2(max(2, rows)))
    return math.ceil(rows / BUFFER_VALUES) + pairwise + BLOCK_VALUES // 8 + 3
