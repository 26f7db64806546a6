"""How a time grows with the rows: a fixed part and one for each row, as two numbers of rows tell it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Growth:
    """The parts of a time, seconds; neither is less than nothing. `low` and `high` are the numbers of rows that tell it."""

    fixed_s: float
    for_a_row_s: float
    low: int
    high: int

    def at(self, rows: int) -> float:
        return self.fixed_s + self.for_a_row_s * rows


def growth(seconds: Mapping[int, float], rows: int) -> Growth | None:
    """Return the growth between the two numbers of rows around `rows`, or else between the smallest and largest; None without two."""
    if len(seconds) < 2:
        return None
    below, above = (sorted(size for size in seconds if (size < rows) == side) for side in (True, False))
    low, high = (below[-1], above[0]) if below and above else (min(seconds), max(seconds))
    for_a_row_s = max(0.0, (seconds[high] - seconds[low]) / (high - low))
    fixed_s = seconds[low] - for_a_row_s * low
    if fixed_s < 0:  # it grows more than in proportion to the rows
        return Growth(0.0, seconds[high] / high, low, high)
    return Growth(fixed_s, for_a_row_s, low, high)
