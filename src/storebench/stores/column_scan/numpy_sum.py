"""How NumPy adds up doubles."""

from __future__ import annotations

import math

BUFFER_VALUES = 8_192  # where the values are not aligned, as in packed rows, it copies so many at a time
BLOCK_VALUES = 128  # below this it adds with eight accumulators; above, it halves


def additions(rows: int) -> int:
    """How many of them a value goes through at the most: pairwise in a buffer or in all values, and from buffer to buffer."""
    pairwise = math.ceil(math.log2(max(2, rows)))
    return math.ceil(rows / BUFFER_VALUES) + pairwise + BLOCK_VALUES // 8 + 3
