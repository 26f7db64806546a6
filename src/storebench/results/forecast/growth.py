"""Split a time into a fixed part and a part per row, from measurements with two numbers of rows."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Growth:
    """The parts of a time in seconds, never negative. `low`, `high`: the measured numbers of rows."""

    fixed_s: float
    for_a_row_s: float
    low: int
    high: int

    def at(self, rows: int) -> float:
        """Return the seconds for a number of rows."""
        return self.fixed_s + self.for_a_row_s * rows


def growth(seconds: Mapping[int, float], rows: int) -> Growth | None:
    """Return the growth of a time, from the two numbers of rows around `rows`, or else the smallest and largest; None without two."""
    if len(seconds) < 2:
        return None
    below, above = (sorted(size for size in seconds if (size < rows) == side) for side in (True, False))
    low, high = (below[-1], above[0]) if below and above else (min(seconds), max(seconds))
    for_a_row_s = max(0.0, (seconds[high] - seconds[low]) / (high - low))
    fixed_s = seconds[low] - for_a_row_s * low
    if fixed_s < 0:  # the time grows faster than the rows
        return Growth(0.0, seconds[high] / high, low, high)
    return Growth(fixed_s, for_a_row_s, low, high)
